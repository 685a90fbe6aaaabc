//! Which formulas differ in each iteration of a loop.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::symbolic::{Leaf, Poly, PolyTerms};
use super::table::{Formula, FormulaId, Formulas, MAX_VISITED, RealOperation, apart};
use crate::ast::AddressSpace;
use crate::steps::Differs;

/// A part of a variable.
#[derive(Debug, Clone, Copy)]
enum Cell<'p> {
    Whole,
    Component(u8),
    /// What stands at an offset, or a component of it.
    Element(&'p Poly, Option<u8>),
}

impl Formulas {
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
            Formula::Computed(RealOperation::Extreme, _) => false,
            Formula::Computed(_, operands) => operands.iter().any(part),
            Formula::Vector(parts) => !parts.is_empty() && parts.iter().all(part),
            Formula::WithComponent(base, _, value) => part(base) && part(value),
            Formula::After(_, base) => part(base),
            Formula::Carried(..) => self.advances(terms, id, of, Cell::Whole),
            Formula::Component(base, lane) => match self.get(*base) {
                Formula::Carried(..) => self.advances(terms, *base, of, Cell::Component(*lane)),
                Formula::Element(base, offset) => {
                    let cell = Cell::Element(offset, Some(*lane));
                    !terms.mentions(offset, of) && self.advances(terms, *base, of, cell)
                }
                _ => part(base),
            },
            Formula::Element(base, offset) if !terms.mentions(offset, of) => {
                self.advances(terms, *base, of, Cell::Element(offset, None))
            }
            Formula::Place { space: AddressSpace::Local, array, .. } => {
                renewed && self.is_renewed(terms, array, of)
            }
            _ => false,
        };
        known.insert(id, differs);
        differs
    }

    /// Whether a part of a variable differs at the beginning of each iteration.
    fn advances(&self, terms: &PolyTerms, carried: FormulaId, of: Leaf, cell: Cell<'_>) -> bool {
        let Formula::Carried(leaf, variable, start) = self.get(carried) else { return false };
        let end = self.ends.get(leaf).and_then(|ends| ends.get(variable));
        let Some(end) = end.copied() else { return false };
        if *leaf == of {
            return self.grown(terms, end, carried, cell);
        }
        // A loop inside: its first iteration begins with what differs, and the others contain it.
        let kept = matches!(cell, Cell::Element(..)) || self.grown(terms, end, carried, cell);
        kept && self.advances(terms, *start, of, cell)
    }

    /// Whether a part of a variable at the end of an iteration contains what it was before.
    fn grown(&self, terms: &PolyTerms, end: FormulaId, carried: FormulaId, cell: Cell<'_>) -> bool {
        match (self.get(end), cell) {
            (Formula::After(_, inner), _) => self.grown(terms, *inner, carried, cell),
            (Formula::Carried(_, _, start), _) if end != carried => {
                self.grown(terms, *start, carried, cell)
            }
            (Formula::Stored(_, at, value), Cell::Element(offset, lane)) if at == offset => {
                self.contains(self.lane_of(*value, lane), carried, cell)
            }
            (Formula::Stored(base, at, value), Cell::Element(offset, lane)) => {
                let harmless = apart(terms, at, offset)
                    || self.contains(self.lane_of(*value, lane), carried, Cell::Element(at, lane));
                harmless && self.grown(terms, *base, carried, cell)
            }
            (Formula::WithComponent(_, own, value), Cell::Component(lane)) if *own == lane => {
                self.contains(*value, carried, cell)
            }
            (Formula::WithComponent(base, ..), Cell::Component(_)) => {
                self.grown(terms, *base, carried, cell)
            }
            (Formula::Computed(..), Cell::Whole | Cell::Component(_)) => {
                self.contains(end, carried, cell)
            }
            _ => false,
        }
    }

    /// Whether the result of an operation contains a part of what a variable was.
    fn contains(&self, id: FormulaId, carried: FormulaId, cell: Cell<'_>) -> bool {
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
                Formula::Computed(RealOperation::Extreme, _) => {}
                Formula::Computed(_, parts) => left.extend(parts),
                Formula::After(_, base) | Formula::Component(base, _) => left.push(*base),
                _ => {}
            }
        }
        false
    }

    /// Whether a formula is a part of a variable, or another part of it; `None` if neither.
    fn is_cell(&self, id: FormulaId, carried: FormulaId, cell: Cell<'_>) -> Option<bool> {
        match (self.get(id), cell) {
            (Formula::Component(base, lane), Cell::Element(_, Some(own)))
                if *lane != own && matches!(self.get(*base), Formula::Element(..)) =>
            {
                Some(false)
            }
            (Formula::Component(base, lane), Cell::Component(own)) => {
                self.begins(*base, carried).then_some(*lane == own)
            }
            (Formula::Element(base, at), Cell::Element(offset, _)) => {
                Some(at == offset && self.begins(*base, carried))
            }
            (Formula::Carried(..), Cell::Whole | Cell::Component(_)) => {
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
    fn begins(&self, id: FormulaId, carried: FormulaId) -> bool {
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
