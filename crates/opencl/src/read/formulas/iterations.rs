//! Which formulas differ in each iteration of a loop.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::symbolic::{Leaf, Poly, PolyTerms};
use super::formula::{Formula, FormulaId, RealOperation};
use super::offsets::apart;
use super::table::{Covered, Formulas, MAX_VISITED};
use crate::ast::AddressSpace;
use crate::steps::Differs;

/// A part of a variable or of a formula.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Whole,
    Component(u8),
    /// What stands at an offset, or a component of it.
    Element(Poly, Option<u8>),
}

impl Formulas {
    /// A loop in whose first iteration a result may be known to the compiler, or be one of its
    /// operands: what is made of no more than constants then, or adds to 0, or multiplies 1.
    pub fn known_first(&self, id: FormulaId, soon: bool) -> Option<Leaf> {
        let Formula::Computed(op, parts) = self.get(id) else { return None };
        let may =
            [RealOperation::Add, RealOperation::Subtract, RealOperation::Multiply].contains(op);
        let (mut seen, mut left) =
            (HashSet::new(), if may || !soon { parts.clone() } else { Vec::new() });
        while let Some(id) = left.pop() {
            if seen.len() >= MAX_VISITED || !seen.insert(id) {
                continue;
            }
            match self.get(id) {
                Formula::Carried(leaf, _, start) => match self.get(*start) {
                    Formula::Carried(..) => left.push(*start),
                    _ if !soon || self.neutral(*start, 1, *op) > 0 => return Some(*leaf),
                    _ => {}
                },
                Formula::Component(base, _) | Formula::Element(base, _) => left.push(*base),
                Formula::Computed(_, parts) | Formula::Vector(parts) if !soon => left.extend(parts),
                Formula::Vector(parts) => left.extend(parts),
                Formula::WithComponent(a, _, b)
                | Formula::Stored(a, _, b)
                | Formula::Either([(_, a), (_, b)]) => left.extend([a, b]),
                Formula::After(_, base) if !soon => left.push(*base),
                _ => {}
            }
        }
        None
    }

    /// Whether an operation may be superfluous in all iterations: one operand is a constant in
    /// each, or a condition decides whether it ever changes, which is a constant such as 0 before
    /// the loop, or the components of a vector in an array are constants.
    pub fn may_be_none(&self, terms: &PolyTerms, id: FormulaId) -> bool {
        let Formula::Computed(op, parts) = self.get(id) else { return false };
        parts.iter().any(|part| match self.get(*part) {
            _ if self.constant_throughout(*part) => true,
            Formula::Carried(leaf, variable, start) => {
                let end = self.end_of(*leaf, *variable).map(|end| self.get(end));
                let Some(Formula::Either(sides)) = end else { return false };
                let stays = sides.iter().any(|(_, side)| self.begins(*side, *part));
                stays && self.neutral(*start, 1, *op) > 0
            }
            Formula::Element(..) => matches!(self.covering.get(part),
                Some((Covered::Vector(vector), _)) if self.holds_constant(terms, *vector)),
            _ => false,
        })
    }

    /// Whether a formula that loops change is one of constants in each iteration.
    fn constant_throughout(&self, id: FormulaId) -> bool {
        let (mut seen, mut left) = (HashSet::new(), vec![id]);
        let mut changes = false;
        while let Some(id) = left.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.get(id) {
                Formula::Constant(_) => {}
                Formula::Computed(_, parts) | Formula::Vector(parts) => left.extend(parts),
                Formula::Component(base, _) | Formula::After(_, base) => left.push(*base),
                Formula::Carried(leaf, variable, start) => {
                    let Some(end) = self.end_of(*leaf, *variable) else { return false };
                    left.extend([*start, end]);
                    changes = true;
                }
                _ => return false,
            }
        }
        changes
    }

    /// Whether what stands at an offset in an array may be a constant.
    fn holds_constant(&self, terms: &PolyTerms, element: FormulaId) -> bool {
        let Formula::Element(array, offset) = self.get(element) else { return false };
        let (mut left, mut seen) = (vec![*array], HashSet::new());
        while let Some(id) = left.pop() {
            if seen.len() >= MAX_VISITED || !seen.insert(id) {
                continue;
            }
            match self.get(id) {
                Formula::Stored(_, at, value) if at == offset && self.may_be_constant(*value) => {
                    return true;
                }
                Formula::Stored(before, at, _) if apart(terms, at, offset) => left.push(*before),
                Formula::After(_, base) => left.push(*base),
                Formula::Carried(_, _, start) => left.push(*start),
                Formula::Either(sides) => left.extend(sides.iter().map(|(_, side)| *side)),
                _ => {}
            }
        }
        false
    }

    /// Whether a formula differs in each iteration of a loop, as it contains what the iterations
    /// before have computed, or what was put anew into local memory.
    pub fn differs(&self, terms: &PolyTerms, id: FormulaId, of: Leaf) -> Differs {
        let ways = [(Differs::InTurn, false), (Differs::Renewed, true)];
        let found = ways.into_iter().find(|(_, renewed)| {
            self.differs_within(terms, id, (of, *renewed), &mut HashMap::new())
        });
        found.map_or(Differs::ByPlace, |(differs, _)| differs)
    }

    fn differs_within(
        &self,
        terms: &PolyTerms,
        id: FormulaId,
        (of, renewed): (Leaf, bool),
        known: &mut HashMap<FormulaId, bool>,
    ) -> bool {
        if let Some(differs) = known.get(&id) {
            return *differs;
        }
        // For what contains itself; no formula does.
        known.insert(id, false);
        let mut part = |id: &FormulaId| self.differs_within(terms, *id, (of, renewed), known);
        let differs = match self.get(id) {
            Formula::Computed(RealOperation::Extreme | RealOperation::Whole, _) => false,
            Formula::Computed(_, operands) => operands.iter().any(part),
            Formula::Vector(parts) => !parts.is_empty() && parts.iter().all(part),
            Formula::WithComponent(base, _, value) => part(base) && part(value),
            Formula::After(_, base) => part(base),
            Formula::Carried(..) => self.advances(terms, id, of, (&Part::Whole, false)),
            Formula::Component(base, lane) => match self.get(*base) {
                Formula::Carried(..) => {
                    self.advances(terms, *base, of, (&Part::Component(*lane), false))
                }
                Formula::Element(base, offset) => {
                    let cell = Part::Element(offset.clone(), Some(*lane));
                    !terms.mentions(offset, of) && self.advances(terms, *base, of, (&cell, false))
                }
                _ => part(base),
            },
            Formula::Element(base, offset) if !terms.mentions(offset, of) => {
                self.advances(terms, *base, of, (&Part::Element(offset.clone(), None), false))
            }
            Formula::Place { space: AddressSpace::Local, array, .. } => {
                renewed && self.is_renewed(terms, array, of)
            }
            _ => false,
        };
        known.insert(id, differs);
        differs
    }

    /// Whether a part of a variable differs at the beginning of each iteration; `chosen`: or
    /// depends on all before, also by a choice.
    pub(super) fn advances(
        &self,
        terms: &PolyTerms,
        carried: FormulaId,
        of: Leaf,
        (cell, chosen): (&Part, bool),
    ) -> bool {
        let Formula::Carried(leaf, variable, start) = self.get(carried) else { return false };
        let Some(end) = self.end_of(*leaf, *variable) else { return false };
        if *leaf == of {
            return self.grown(terms, end, carried, (cell, chosen));
        }
        // A loop inside: its first iteration begins with what differs, and the others contain it.
        let kept =
            matches!(cell, Part::Element(..)) || self.grown(terms, end, carried, (cell, chosen));
        kept && self.advances(terms, *start, of, (cell, chosen))
    }

    /// Whether a part of a variable at the end of an iteration contains what it was before.
    fn grown(
        &self,
        terms: &PolyTerms,
        end: FormulaId,
        carried: FormulaId,
        (cell, chosen): (&Part, bool),
    ) -> bool {
        let part = (cell, chosen);
        match (self.get(end), cell) {
            (Formula::After(_, inner), _) => self.grown(terms, *inner, carried, part),
            (Formula::Either(sides), _) if chosen => sides.iter().all(|(_, side)| {
                self.begins(*side, carried) || self.grown(terms, *side, carried, part)
            }),
            (Formula::Carried(_, _, start), _) if end != carried => {
                self.grown(terms, *start, carried, part)
            }
            (Formula::Stored(_, at, value), Part::Element(offset, lane)) if at == offset => {
                self.contains(self.lane_of(*value, *lane), carried, part)
            }
            (Formula::Stored(base, at, value), Part::Element(offset, lane)) => {
                let harmless = apart(terms, at, offset)
                    || self.contains(
                        self.lane_of(*value, *lane),
                        carried,
                        (&Part::Element(at.clone(), *lane), chosen),
                    );
                harmless && self.grown(terms, *base, carried, part)
            }
            (Formula::WithComponent(_, own, value), Part::Component(lane)) if own == lane => {
                self.contains(*value, carried, part)
            }
            (Formula::WithComponent(base, ..), Part::Component(_)) => {
                self.grown(terms, *base, carried, part)
            }
            (Formula::Computed(..), Part::Whole | Part::Component(_)) => {
                self.contains(end, carried, part)
            }
            _ => false,
        }
    }

    /// Whether the result of an operation contains a part of what a variable was.
    fn contains(&self, id: FormulaId, carried: FormulaId, (cell, chosen): (&Part, bool)) -> bool {
        if !matches!(self.get(id), Formula::Computed(..)) {
            return false;
        }
        let (mut seen, mut left) = (HashSet::new(), vec![id]);
        while let Some(id) = left.pop() {
            if seen.len() >= MAX_VISITED || !seen.insert(id) {
                continue;
            }
            match self.is_cell(id, carried, cell) {
                Some(true) => return true,
                Some(false) => continue,
                None => {}
            }
            match self.get(id) {
                Formula::Computed(RealOperation::Extreme | RealOperation::Whole, _) if !chosen => {}
                Formula::Computed(_, parts) => left.extend(parts),
                Formula::After(_, base) | Formula::Component(base, _) => left.push(*base),
                _ => {}
            }
        }
        false
    }

    /// Whether a formula is a part of a variable, or another part of it; `None` if neither.
    fn is_cell(&self, id: FormulaId, carried: FormulaId, cell: &Part) -> Option<bool> {
        match (self.get(id), cell) {
            (Formula::Component(base, lane), Part::Element(_, Some(own)))
                if lane != own && matches!(self.get(*base), Formula::Element(..)) =>
            {
                Some(false)
            }
            (Formula::Component(base, lane), Part::Component(own)) => {
                self.begins(*base, carried).then_some(lane == own)
            }
            (Formula::Element(base, at), Part::Element(offset, _)) => {
                Some(at == offset && self.begins(*base, carried))
            }
            (Formula::Carried(..), Part::Whole | Part::Component(_)) => {
                Some(self.begins(id, carried))
            }
            _ => None,
        }
    }

    /// A component of what was stored, or all of it.
    fn lane_of(&self, id: FormulaId, lane: Option<u8>) -> FormulaId {
        match (self.get(id), lane) {
            (Formula::WithComponent(_, own, value), Some(lane)) if *own == lane => *value,
            (Formula::WithComponent(base, ..), Some(_)) => self.lane_of(*base, lane),
            _ => id,
        }
    }

    /// Whether a variable is, or begins with, what is carried, by way of loops inside.
    pub(super) fn begins(&self, id: FormulaId, carried: FormulaId) -> bool {
        match self.get(id) {
            _ if id == carried => true,
            Formula::Carried(_, _, start) => self.begins(*start, carried),
            _ => false,
        }
    }

    /// Whether all that an iteration puts into a local array differs from iteration to iteration.
    fn is_renewed(&self, terms: &PolyTerms, array: &Rc<str>, of: Leaf) -> bool {
        let mut inside =
            self.stores.iter().filter(|(to, _, loops)| to == array && loops.contains(&of));
        let moves = |value: FormulaId| {
            let mut found = false;
            self.visit(terms, value, &mut |_, formula| {
                if let Formula::Place { space, offset, .. } = formula {
                    let global = !matches!(space, AddressSpace::Local);
                    found |= global && terms.mentions(offset, of);
                }
                !found
            });
            found
        };
        let first = inside.next();
        first.is_some_and(|(_, value, _)| moves(*value))
            && inside.all(|(_, value, _)| moves(*value))
    }
}
