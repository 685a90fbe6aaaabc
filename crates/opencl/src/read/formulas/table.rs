//! The table of formulas: parts of vectors and arrays, and what formulas are made of.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexSet;

use super::super::symbolic::{Atom, Leaf, Poly, PolyTerms};
use crate::ast::{AddressSpace, VariableId};

/// A formula in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaId(u32);

impl FormulaId {
    /// [`Formula::Unknown`].
    pub const UNKNOWN: FormulaId = FormulaId(0);
    /// A constant whose value is not known here.
    pub const CONSTANT: FormulaId = FormulaId(1);
}

/// How a real number, a vector or an array is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Formula {
    /// In a way that is not known.
    Unknown,
    /// A number that the compiler knows, as the bits of a `double`; absent: which one is not known
    /// here.
    Constant(Option<u64>),
    /// Loaded, an argument, or a whole number made of ids and arguments.
    Place {
        space: AddressSpace,
        array: Rc<str>,
        /// Bytes behind the array's beginning.
        offset: Poly,
        /// Bytes of a component.
        element: u8,
        width: u8,
    },
    /// A component of a vector.
    Component(FormulaId, u8),
    /// A vector with another component.
    WithComponent(FormulaId, u8, FormulaId),
    /// A vector of these.
    Vector(Vec<FormulaId>),
    /// The result of an operation.
    Computed(RealOperation, Vec<FormulaId>),
    /// What a variable holds at the beginning of an iteration of a loop, and before the loop.
    Carried(Leaf, VariableId, FormulaId),
    /// An array or a structure in which something else stands at an offset.
    Stored(FormulaId, Poly, FormulaId),
    /// What stands at an offset in an array or a structure.
    Element(FormulaId, Poly),
    /// One or the other, as a condition decides that no data do.
    Either(FormulaId, FormulaId),
    /// What an iteration made, after the last one.
    After(Leaf, FormulaId),
}

/// An operation on real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RealOperation {
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    Negate,
    Reciprocal,
    Root,
    Convert,
    /// The lesser or the greater of two.
    Extreme,
    /// One on numbers of two bytes, of which two may be done at a time: they are not counted.
    Packed,
    /// Another one, by the number of its name.
    Function(u16),
}

/// The formulas of one reading.
#[derive(Debug, Default)]
pub struct Formulas {
    table: IndexSet<Formula>,
    /// For each loop what its variables hold at the end of an iteration.
    pub(super) ends: HashMap<Leaf, BTreeMap<VariableId, FormulaId>>,
    /// What is stored in local arrays, and the loops around.
    pub(super) stores: Vec<(Rc<str>, FormulaId, Vec<Leaf>)>,
    /// What is certainly stored, or decides where something is.
    needed: Vec<FormulaId>,
    /// Whole numbers that were loaded.
    pub loaded: HashMap<Leaf, FormulaId>,
}

/// Most places of one formula: the fewer, the less counts.
const MAX_PLACES: usize = 6;
/// Most formulas that are visited for one question.
pub(super) const MAX_VISITED: usize = 4096;

impl Formulas {
    /// A table of what is unknown and of constants.
    pub fn new() -> Formulas {
        let mut formulas = Formulas::default();
        formulas.table.insert(Formula::Unknown);
        formulas.table.insert(Formula::Constant(None));
        formulas
    }

    /// The formula in the table.
    pub fn add(&mut self, formula: Formula) -> FormulaId {
        FormulaId(u32::try_from(self.table.insert_full(formula).0).unwrap_or(0))
    }

    /// The formula itself.
    pub fn get(&self, id: FormulaId) -> &Formula {
        self.table.get_index(id.0 as usize).unwrap_or(&Formula::Unknown)
    }

    /// A known number.
    pub fn number(&mut self, value: f64) -> FormulaId {
        self.add(Formula::Constant(Some(value.to_bits())))
    }

    /// Its value, if it is a known number.
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

    /// In how many of its components, of `width`, a constant stands with which an operation may be
    /// none.
    pub fn neutral(&self, id: FormulaId, width: u8) -> u8 {
        match self.get(id) {
            Formula::Constant(None) => width,
            Formula::Constant(Some(bits)) => match f64::from_bits(*bits).abs() {
                0.0 | 1.0 => width,
                _ => 0,
            },
            Formula::Vector(parts) if parts.len() == usize::from(width) => {
                parts.iter().map(|part| self.neutral(*part, 1)).sum()
            }
            Formula::Vector(parts) => parts.iter().map(|part| self.neutral(*part, width)).sum(),
            _ => 0,
        }
    }

    /// A component of a vector.
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

    /// What stands at an offset.
    pub fn element(&mut self, terms: &mut PolyTerms, of: FormulaId, offset: &Poly) -> FormulaId {
        let mut base = of;
        loop {
            match self.get(base).clone() {
                Formula::Stored(_, at, value) if at == *offset => return value,
                Formula::Stored(before, at, _) if apart(terms, &at, offset) => base = before,
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
        let (mut leaves, mut base) = (Vec::new(), of);
        while let Formula::After(leaf, inner) = self.get(base) {
            leaves.push(*leaf);
            base = *inner;
        }
        while let Formula::Stored(before, at, value) = self.get(base).clone() {
            if let Some(by) = matched(terms, &leaves, &at, offset) {
                return self.substituted(terms, value, &by, &mut HashMap::new());
            }
            base = before;
        }
        self.add(Formula::Element(of, offset.clone()))
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
            Formula::Place { space, array, offset, element, width } => {
                let offset = terms.substitute(&offset, by);
                Formula::Place { space, array, offset, element, width }
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
            Formula::Element(base, at) => Formula::Element(base, terms.substitute(&at, by)),
            Formula::After(leaf, base) => Formula::After(leaf, of(self, terms, base)),
            other => other,
        };
        let new = self.add(formula);
        done.insert(id, new);
        new
    }

    /// Notes what variables hold at the end of an iteration.
    pub fn end(&mut self, of: Leaf, variables: BTreeMap<VariableId, FormulaId>) {
        self.ends.insert(of, variables);
    }

    /// Notes what is stored in a local array.
    pub fn store(&mut self, array: &Rc<str>, value: FormulaId, loops: &[Leaf]) {
        self.stores.push((array.clone(), value, loops.to_vec()));
    }

    /// Notes that something is certainly stored, at this offset.
    pub fn need(&mut self, terms: &PolyTerms, value: FormulaId, offset: &Poly) {
        self.needed.push(value);
        let leaves = terms.leaves(offset).into_iter();
        self.needed.extend(leaves.filter_map(|leaf| self.loaded.get(&leaf)));
    }

    /// What is needed for all that is certainly stored. A compiler leaves out other results, or
    /// moves them to where they are used.
    pub fn live(&self, terms: &PolyTerms) -> HashSet<FormulaId> {
        let (mut live, mut left) = (HashSet::new(), self.needed.clone());
        while let Some(id) = left.pop() {
            if !live.insert(id) {
                continue;
            }
            match self.get(id) {
                Formula::Computed(_, parts) | Formula::Vector(parts) => left.extend(parts),
                Formula::Component(base, _)
                | Formula::Element(base, _)
                | Formula::After(_, base) => left.push(*base),
                Formula::WithComponent(base, _, value)
                | Formula::Stored(base, _, value)
                | Formula::Either(base, value) => left.extend([base, value]),
                Formula::Carried(leaf, variable, start) => {
                    left.push(*start);
                    left.extend(self.ends.get(leaf).and_then(|ends| ends.get(variable)));
                }
                Formula::Place { offset, .. } => {
                    let leaves = terms.leaves(offset).into_iter();
                    left.extend(leaves.filter_map(|leaf| self.loaded.get(&leaf)));
                }
                Formula::Unknown | Formula::Constant(_) => {}
            }
        }
        live
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

/// Whether two offsets always differ.
pub(super) fn apart(terms: &PolyTerms, a: &Poly, b: &Poly) -> bool {
    a.sub(b).is_some_and(|difference| {
        let range = terms.interval(&difference);
        range.least > 0 || range.greatest < 0
    })
}

/// For counters of closed loops the values with which one offset is another: a counter is any that
/// grows it as much.
fn matched(
    terms: &mut PolyTerms,
    leaves: &[Leaf],
    at: &Poly,
    offset: &Poly,
) -> Option<HashMap<Atom, Poly>> {
    let mut by = HashMap::new();
    for leaf in leaves {
        let atom = terms.atom_of(*leaf)?;
        let (factor, _) = terms.linear(at, atom)?;
        if factor == Poly::int(0) {
            continue;
        }
        let counter = terms.leaves(offset).into_iter().find_map(|other| {
            let other = terms.atom_of(other)?;
            let (own, _) = terms.linear(offset, other)?;
            (own == factor && !by.values().any(|used| *used == Poly::atom(other)))
                .then(|| Poly::atom(other))
        });
        let value = match counter {
            Some(counter) => counter,
            // An offset without a counter: the iteration is what is left of it.
            None => {
                let (_, rest) = terms.linear(at, atom)?;
                let distance = terms.sub(offset, &rest);
                Poly::int(distance.constant()?.checked_div(factor.constant()?)?)
            }
        };
        by.insert(atom, value);
    }
    (terms.substitute(at, &by) == *offset).then_some(by)
}
