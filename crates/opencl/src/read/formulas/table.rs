//! The table of formulas: parts of vectors and arrays, and what formulas are made of.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexSet;

use super::super::symbolic::{Atom, Leaf, Poly, PolyTerms};
use super::formula::{Formula, FormulaId, RealOperation};
use super::offsets::{apart_inside, matched, moves_evenly};
use super::ways::{Guards, StoredValue};
use crate::ast::VariableId;

/// Of which formula one is a copy, with which numbers for its counters, and the loops that had
/// been left, each with what its last iteration made.
type Origin = (FormulaId, HashMap<Leaf, Poly>, Vec<(Leaf, FormulaId)>);

/// What iterations of loops find all parts of.
#[derive(Debug, Clone, Copy)]
pub enum Covered {
    /// Every `stride`-th part of an array, from the one with number `first` on, where a guard
    /// holds, if there is one.
    Array {
        array: FormulaId,
        stride: i64,
        first: i64,
        guard: Option<u32>,
    },
    Vector(FormulaId),
}

/// The formulas of one reading.
#[derive(Debug, Default)]
pub struct Formulas {
    table: IndexSet<Formula>,
    /// For each formula of the table whether its components are different functions.
    different: Vec<bool>,
    /// For each whether a compiler may know it, and whether it may in first iterations.
    constant: Vec<[bool; 2]>,
    /// For each loop what its variables hold at the end of an iteration.
    pub ends: HashMap<Leaf, BTreeMap<VariableId, FormulaId>>,
    /// What is stored in local arrays, and the loops around.
    pub stores: Vec<(Rc<str>, FormulaId, Vec<Leaf>)>,
    /// What is certainly stored in memory that the host sees, and not overwritten.
    pub(super) kept: Vec<StoredValue>,
    /// The same in local memory.
    pub(super) local: Vec<StoredValue>,
    /// What has to hold so that statements are executed.
    pub guards: Guards,
    /// The loops around the loads of places.
    pub(super) around: HashMap<FormulaId, Vec<Leaf>>,
    /// Formulas that are others with other counters.
    pub(super) origins: HashMap<FormulaId, Origin>,
    /// By what variables hold after loops that may have no iteration: what they carried in them,
    /// and held before.
    pub(super) before: HashMap<FormulaId, Vec<(FormulaId, FormulaId)>>,
    /// Parts that are all parts of something in the iterations of loops: that, and the loops.
    pub covering: HashMap<FormulaId, (Covered, Vec<Leaf>)>,
    /// Whole numbers that were loaded, or depend on what was.
    pub loaded: HashMap<Leaf, FormulaId>,
}

/// Most places of one formula: the fewer, the less counts.
const MAX_PLACES: usize = 6;
/// Most formulas that are visited for one question.
pub(super) const MAX_VISITED: usize = 4096;

impl Formulas {
    pub fn new() -> Formulas {
        let mut formulas = Formulas::default();
        formulas.add(Formula::Unknown);
        formulas.add(Formula::Constant(None));
        formulas
    }

    pub fn add(&mut self, formula: Formula) -> FormulaId {
        let (number, new) = self.table.insert_full(formula);
        let id = FormulaId(u32::try_from(number).unwrap_or(0));
        if new {
            self.different.push(self.differ(id));
            self.constant.push(self.constancy(id));
        }
        id
    }

    pub(super) fn find(&self, formula: &Formula) -> Option<FormulaId> {
        self.table.get_index_of(formula).and_then(|i| u32::try_from(i).ok()).map(FormulaId)
    }

    pub fn get(&self, id: FormulaId) -> &Formula {
        self.table.get_index(id.0 as usize).unwrap_or(&Formula::Unknown)
    }

    pub fn number(&mut self, value: f64) -> FormulaId {
        self.add(Formula::Constant(Some(value.to_bits())))
    }

    pub fn value(&self, id: FormulaId) -> Option<f64> {
        match self.get(id) {
            Formula::Constant(bits) => bits.map(f64::from_bits),
            _ => None,
        }
    }

    /// Whether the compiler knows the number.
    pub fn is_constant(&self, id: FormulaId) -> bool {
        match self.get(id) {
            Formula::Constant(_) => true,
            Formula::Vector(parts) => parts.iter().all(|part| self.is_constant(*part)),
            _ => false,
        }
    }

    /// In how many of `width` components a constant may stand with which an operation is none.
    pub fn neutral(&self, id: FormulaId, width: u8, op: RealOperation) -> u8 {
        match self.get(id) {
            Formula::Unknown | Formula::Constant(None) => width,
            Formula::Constant(Some(bits)) => match (f64::from_bits(*bits).abs(), op) {
                (1.0, RealOperation::Add | RealOperation::Subtract) => 0,
                (0.0 | 1.0, _) => width,
                _ => 0,
            },
            Formula::Vector(parts) if parts.len() == usize::from(width) => {
                parts.iter().map(|part| self.neutral(*part, 1, op)).sum()
            }
            Formula::Vector(parts) => parts.iter().map(|part| self.neutral(*part, width, op)).sum(),
            Formula::Either(sides) => {
                // On one of them nothing may have changed since before the loop.
                let start = |side: FormulaId| match self.get(side) {
                    Formula::Carried(_, _, start) => *start,
                    _ => side,
                };
                let all = sides.iter().map(|(_, side)| self.neutral(start(*side), width, op));
                all.max().unwrap_or(width)
            }
            // The loop may have no iteration.
            Formula::After(_, base) => {
                let before = self.before.get(&id).into_iter().flatten().map(|(_, start)| start);
                let all = before.chain([base]).map(|side| self.neutral(*side, width, op));
                let known = if self.may_be_constant(id) { width } else { 0 };
                all.max().unwrap_or(width).max(known)
            }
            Formula::Computed(..) if self.may_be_constant(id) => width,
            _ => 0,
        }
    }

    /// Whether a compiler may know a number, with some numbers of iterations.
    pub fn may_be_constant(&self, id: FormulaId) -> bool {
        self.constant.get(id.0 as usize).is_some_and(|[constant, _]| *constant)
    }

    /// The same of a new formula, whose parts are in the table; second: in first iterations.
    fn constancy(&self, id: FormulaId) -> [bool; 2] {
        let of = |id: &FormulaId| self.constant.get(id.0 as usize).copied().unwrap_or_default();
        let all = |parts: &[FormulaId]| {
            parts.iter().map(of).fold([true; 2], |[a, b], [c, d]| [a && c, b && d])
        };
        match self.get(id) {
            Formula::Constant(_) => [true; 2],
            Formula::Computed(_, parts) | Formula::Vector(parts) => all(parts),
            Formula::WithComponent(a, _, b) => all(&[*a, *b]),
            Formula::Component(base, _) => of(base),
            Formula::Either([(_, a), (_, b)]) => {
                let ([a, c], [b, d]) = (of(a), of(b));
                [a || b, c || d]
            }
            Formula::Carried(_, _, start) => [false, of(start)[1]],
            // Of a loop with one iteration.
            Formula::After(_, base) => [of(base)[1]; 2],
            _ => [false; 2],
        }
    }

    /// Notes what a variable carried in a loop that may have no iteration, and held before.
    pub fn note_before(&mut self, after: FormulaId, carried: FormulaId, start: FormulaId) {
        self.before.entry(after).or_default().push((carried, start));
        let start = self.constant.get(start.0 as usize).copied().unwrap_or_default();
        if let Some(own) = self.constant.get_mut(after.0 as usize) {
            *own = [own[0] || start[0], own[1] || start[1]];
        }
    }

    pub fn component(&mut self, of: FormulaId, lane: u8) -> FormulaId {
        match self.get(of) {
            Formula::WithComponent(_, own, value) if *own == lane => *value,
            Formula::WithComponent(base, ..) => self.component(*base, lane),
            Formula::Vector(parts) => match parts.as_slice() {
                [one] => *one,
                parts => parts.get(usize::from(lane)).copied().unwrap_or(FormulaId::UNKNOWN),
            },
            Formula::Unknown | Formula::Constant(_) => of,
            _ => self.add(Formula::Component(of, lane)),
        }
    }

    /// Whether the components of a vector are different functions.
    pub fn components_differ(&self, id: FormulaId) -> bool {
        self.different.get(id.0 as usize).is_some_and(|differ| *differ)
    }

    /// The same of a new formula, whose parts are in the table.
    fn differ(&self, id: FormulaId) -> bool {
        match self.get(id) {
            Formula::Place { width, .. } => *width > 1,
            Formula::Vector(parts) => {
                let different: HashSet<_> = parts.iter().collect();
                parts.len() > 1
                    && different.len() == parts.len()
                    && !parts.contains(&FormulaId::UNKNOWN)
            }
            Formula::Computed(_, operands) => operands.iter().any(|o| self.components_differ(*o)),
            Formula::WithComponent(base, ..) | Formula::After(_, base) => {
                self.components_differ(*base)
            }
            _ => false,
        }
    }

    pub fn element(&mut self, terms: &mut PolyTerms, of: FormulaId, offset: &Poly) -> FormulaId {
        let mut base = of;
        loop {
            match self.get(base).clone() {
                Formula::Stored(_, at, value) if at == *offset => return value,
                Formula::Stored(before, at, _) if apart_inside(terms, &at, offset) => base = before,
                Formula::After(..) => return self.after_loop(terms, base, offset),
                Formula::Unknown => return FormulaId::UNKNOWN,
                Formula::Constant(_) => return base,
                // Something of it.
                _ => return self.add(Formula::Element(base, offset.clone())),
            }
        }
    }

    /// What loops stored at an offset that other counters give.
    fn after_loop(&mut self, terms: &mut PolyTerms, of: FormulaId, offset: &Poly) -> FormulaId {
        let (mut left, mut base) = (Vec::new(), of);
        let mut starts = Vec::new();
        while let Formula::After(leaf, inner) = self.get(base) {
            left.push((*leaf, *inner));
            starts.extend(self.before.get(&base).cloned());
            base = *inner;
        }
        let leaves: Vec<Leaf> = left.iter().map(|(leaf, _)| *leaf).collect();
        while let Formula::Stored(before, at, value) = self.get(base).clone() {
            if let Some(by) = matched(terms, &leaves, &at, offset) {
                let mut done = HashMap::new();
                let new = self.substituted(terms, value, &by, &mut done);
                self.note_origins(terms, done, &by, &left);
                let last = self.last_of(terms, (value, new), &by, &left);
                if let (true, [start]) = (last != new, starts.as_slice()) {
                    for (carried, start) in start {
                        let carried = self.add(Formula::Element(*carried, offset.clone()));
                        let start = self.element(terms, *start, offset);
                        self.note_before(last, carried, start);
                    }
                }
                return last;
            }
            if !apart_inside(terms, &at, offset) {
                break;
            }
            base = before;
        }
        self.add(Formula::Element(of, offset.clone()))
    }

    /// What the last iterations of the loops have made whose counters an offset does not give: a
    /// value with other counters, or the value itself.
    fn last_of(
        &mut self,
        terms: &PolyTerms,
        (value, new): (FormulaId, FormulaId),
        by: &HashMap<Atom, Poly>,
        left: &[(Leaf, FormulaId)],
    ) -> FormulaId {
        let given = |leaf: &Leaf| terms.atom_of(*leaf).is_some_and(|atom| by.contains_key(&atom));
        let mut last = new;
        for (leaf, _) in left.iter().rev().filter(|(leaf, _)| !given(leaf)) {
            last = self.add(Formula::After(*leaf, last));
        }
        if last != new {
            let numbers = self.numbers(terms, by, left);
            self.origins.entry(last).or_insert_with(|| (value, numbers, left.to_vec()));
        }
        last
    }

    /// The numbers that counters are replaced by.
    fn numbers(
        &self,
        terms: &PolyTerms,
        by: &HashMap<Atom, Poly>,
        left: &[(Leaf, FormulaId)],
    ) -> HashMap<Leaf, Poly> {
        let number =
            |(leaf, _): &(Leaf, FormulaId)| Some((*leaf, by.get(&terms.atom_of(*leaf)?)?.clone()));
        left.iter().filter_map(number).collect()
    }

    /// Notes of which formulas these are, with other counters.
    fn note_origins(
        &mut self,
        terms: &PolyTerms,
        done: HashMap<FormulaId, FormulaId>,
        by: &HashMap<Atom, Poly>,
        left: &[(Leaf, FormulaId)],
    ) {
        let numbers = self.numbers(terms, by, left);
        for (origin, new) in done.into_iter().filter(|(origin, new)| origin != new) {
            self.origins.entry(new).or_insert_with(|| (origin, numbers.clone(), left.to_vec()));
        }
    }

    /// The formula with other counters.
    fn substituted(
        &mut self,
        terms: &mut PolyTerms,
        id: FormulaId,
        by: &HashMap<Atom, Poly>,
        done: &mut HashMap<FormulaId, FormulaId>,
    ) -> FormulaId {
        if let Some(known) = done.get(&id) {
            return *known;
        }
        let mut of = |f: &mut Self, terms: &mut PolyTerms, id| f.substituted(terms, id, by, done);
        let formula = match self.get(id).clone() {
            Formula::Place { space, array, offset, element, width, barriers } => {
                let offset = terms.substitute(&offset, by);
                Formula::Place { space, array, offset, element, width, barriers }
            }
            Formula::Component(base, lane) => Formula::Component(of(self, terms, base), lane),
            Formula::WithComponent(base, lane, value) => {
                let base = of(self, terms, base);
                Formula::WithComponent(base, lane, of(self, terms, value))
            }
            Formula::Vector(parts) => {
                Formula::Vector(parts.into_iter().map(|part| of(self, terms, part)).collect())
            }
            Formula::Computed(op, operands) => {
                let operands = operands.into_iter().map(|operand| of(self, terms, operand));
                Formula::Computed(op, operands.collect())
            }
            Formula::Element(mut base, at) => {
                // What each iteration finds at another place was there before the loop.
                while let Formula::Carried(leaf, _, start) = self.get(base)
                    && terms.atom_of(*leaf).is_some_and(|atom| by.contains_key(&atom))
                    && moves_evenly(terms, &at, *leaf)
                {
                    base = *start;
                }
                Formula::Element(base, terms.substitute(&at, by))
            }
            Formula::After(leaf, base) => Formula::After(leaf, of(self, terms, base)),
            other => other,
        };
        let new = self.add(formula);
        done.insert(id, new);
        new
    }

    /// What a variable holds at the end of an iteration.
    pub fn end_of(&self, of: Leaf, variable: VariableId) -> Option<FormulaId> {
        self.ends.get(&of)?.get(&variable).copied()
    }

    /// All formulas that are made of something that is loaded, or of ids or arguments; `first`:
    /// also in the first iterations of loops. Others a compiler can compute.
    pub fn at_run_time(&self, first: bool) -> HashSet<FormulaId> {
        let mut found: HashSet<FormulaId> = HashSet::new();
        loop {
            let before = found.len();
            for (number, formula) in self.table.iter().enumerate() {
                let id = FormulaId(u32::try_from(number).unwrap_or(0));
                let has = |id: &FormulaId| found.contains(id);
                let own = match formula {
                    Formula::Place { .. } => true,
                    Formula::Unknown | Formula::Constant(_) => false,
                    Formula::Computed(_, parts) | Formula::Vector(parts) => parts.iter().any(has),
                    Formula::Component(a, _) | Formula::Element(a, _) | Formula::After(_, a) => {
                        has(a)
                    }
                    Formula::WithComponent(a, _, b) | Formula::Stored(a, _, b) => has(a) || has(b),
                    Formula::Either([(_, a), (_, b)]) => has(a) && has(b),
                    Formula::Carried(leaf, variable, start) => {
                        let end = self.end_of(*leaf, *variable).filter(|_| !first);
                        has(start) || end.is_some_and(|end| has(&end))
                    }
                };
                if own {
                    found.insert(id);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// Notes the loops around the load of a place.
    pub fn load(&mut self, place: FormulaId, loops: &[Leaf]) {
        let around = self.around.entry(place).or_insert_with(|| loops.to_vec());
        around.retain(|leaf| loops.contains(leaf));
    }

    /// The places from which a formula is loaded, a few of them.
    pub fn places(&self, terms: &PolyTerms, of: FormulaId) -> Vec<FormulaId> {
        let mut found = Vec::new();
        self.visit(terms, of, &mut |id, formula| {
            found.extend(matches!(formula, Formula::Place { .. }).then_some(id));
            found.len() < MAX_PLACES
        });
        found
    }

    /// The places from which what is unknown in an offset is loaded.
    pub fn places_in(&self, terms: &PolyTerms, offset: &Poly) -> Vec<FormulaId> {
        let loaded = terms.leaves(offset).into_iter().filter_map(|leaf| self.loaded.get(&leaf));
        loaded.flat_map(|formula| self.places(terms, *formula)).collect()
    }

    /// Visits a formula and what it is made of, also by way of offsets; at most some of it.
    pub(super) fn visit(
        &self,
        terms: &PolyTerms,
        from: FormulaId,
        go_on: &mut dyn FnMut(FormulaId, &Formula) -> bool,
    ) {
        let (mut seen, mut left) = (HashSet::new(), vec![from]);
        while let Some(id) = left.pop() {
            if seen.len() >= MAX_VISITED || !seen.insert(id) {
                continue;
            }
            let formula = self.get(id);
            if !go_on(id, formula) {
                return;
            }
            match formula {
                Formula::Computed(_, parts) | Formula::Vector(parts) => left.extend(parts),
                Formula::Component(base, _) | Formula::After(_, base) => left.push(*base),
                Formula::WithComponent(base, _, value) => left.extend([base, value]),
                Formula::Place { offset, .. } => {
                    let leaves = terms.leaves(offset).into_iter();
                    left.extend(leaves.filter_map(|leaf| self.loaded.get(&leaf)));
                }
                _ => {}
            }
        }
    }
}
