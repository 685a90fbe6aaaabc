//! Real numbers as formulas over what is loaded, for counts that no compiler can go below.
//!
//! # What is promised
//!
//! Two operations with different formulas compute different functions of the memory, as a compiler
//! without unsafe mathematics sees them: it may compute equal formulas once, leave out what adds 0
//! or multiplies with 1, and change signs, but not the order of operations. What is not known is
//! [`Formula::Unknown`], which may be equal to anything.
//!
//! # Loops
//!
//! A variable that an iteration changes is [`Formula::Carried`] in it. If the formula at the end of
//! an iteration contains the one at its beginning, both differ in each iteration, as each contains
//! all before it. Other formulas differ where the places differ from which they are loaded.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};

use super::nodes::{KernelNode, NodeKind, Reach};
use super::symbolic::{Atom, Leaf, Poly, PolyTerms, gcd};
use crate::ast::{AddressSpace, VariableId};
use crate::steps::Differs;

/// A formula in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaId(u32);

impl FormulaId {
    /// [`Formula::Unknown`].
    pub const UNKNOWN: FormulaId = FormulaId(0);
    /// A constant whose value is not known here.
    pub const CONSTANT: FormulaId = FormulaId(1);
}

/// How a real number, a vector or an array comes to be.
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
    Computed(Operation, Vec<FormulaId>),
    /// What a variable holds at the beginning of an iteration of a loop, and before the loop.
    Carried(Leaf, VariableId, FormulaId),
    /// An array or a structure in which something else stands at an offset.
    Stored(FormulaId, Poly, FormulaId),
    /// What stands at an offset in an array or a structure.
    Element(FormulaId, Poly),
    /// What an iteration made, after the last one.
    After(Leaf, FormulaId),
}

/// An operation on real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
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
    /// Another one, by the number of its name.
    Function(u16),
}

/// A part of a variable.
#[derive(Debug, Clone, Copy)]
enum Cell<'p> {
    Whole,
    Component(u8),
    /// What stands at an offset, or a component of it.
    Element(&'p Poly, Option<u8>),
}

/// The formulas of one reading.
#[derive(Debug, Default)]
pub struct Formulas {
    table: IndexSet<Formula>,
    /// For each loop what its variables hold at the end of an iteration.
    ends: HashMap<Leaf, BTreeMap<VariableId, FormulaId>>,
    /// What is stored in local arrays, and the loops around.
    stores: Vec<(Rc<str>, FormulaId, Vec<Leaf>)>,
    /// Whole numbers that were loaded.
    pub loaded: HashMap<Leaf, FormulaId>,
}

/// Most places of one formula that are looked at: the fewer, the less counts.
const MAX_PLACES: usize = 6;
/// Most formulas that are visited for one question.
const MAX_VISITED: usize = 4096;

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
                Formula::Stored(..) | Formula::Unknown => return FormulaId::UNKNOWN,
                Formula::Constant(_) => return base,
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
        FormulaId::UNKNOWN
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

    /// The places from which a formula is loaded, a few of them.
    pub fn places(&self, terms: &PolyTerms, of: FormulaId) -> Vec<Reach> {
        let mut found = Vec::new();
        self.visit(terms, of, &mut |formula| {
            if let Formula::Place { space, array, offset, element, width } = formula {
                let (array, offset) = (array.clone(), offset.clone());
                let (element, width) = (*element, *width);
                let iterations = Vec::new();
                let (space, store, maybe) = (*space, false, false);
                found.push(Reach {
                    space,
                    store,
                    array,
                    element,
                    width,
                    offset,
                    iterations,
                    maybe,
                    apart: [0; 2],
                    unknown: Vec::new(),
                });
            }
            found.len() < MAX_PLACES
        });
        found
    }

    /// The places from which what is unknown in an offset is loaded.
    pub fn places_in(&self, terms: &PolyTerms, offset: &Poly) -> Vec<Reach> {
        let loaded = terms.leaves(offset).into_iter().filter_map(|leaf| self.loaded.get(&leaf));
        loaded.flat_map(|formula| self.places(terms, *formula)).collect()
    }

    /// Visits a formula and what it is made of, as far as that goes, also by way of offsets.
    fn visit(&self, terms: &PolyTerms, from: FormulaId, go_on: &mut dyn FnMut(&Formula) -> bool) {
        let (mut seen, mut left) = (HashSet::new(), vec![from]);
        while let Some(id) = left.pop() {
            if seen.len() >= MAX_VISITED || !seen.insert(id) {
                continue;
            }
            let formula = self.get(id);
            if !go_on(formula) {
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
fn apart(terms: &PolyTerms, a: &Poly, b: &Poly) -> bool {
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
            Formula::Computed(Operation::Extreme, _) => false,
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
            match (self.get(id), cell) {
                (Formula::Computed(Operation::Extreme, _), _) => {}
                (Formula::Computed(_, parts), _) => left.extend(parts),
                (Formula::Element(base, at), Cell::Element(offset, _)) => {
                    if at == offset && self.begins(*base, carried) {
                        return true;
                    }
                }
                (Formula::Component(base, lane), Cell::Element(_, Some(own))) if *lane != own => {
                    // Another component of what is at the offset is another cell.
                    if !matches!(self.get(*base), Formula::Element(..)) {
                        left.push(*base);
                    }
                }
                (Formula::Component(base, lane), Cell::Component(own)) => {
                    if *lane == own && self.begins(*base, carried) {
                        return true;
                    }
                    left.push(*base);
                }
                (Formula::Carried(..), Cell::Whole | Cell::Component(_)) => {
                    if self.begins(id, carried) {
                        return true;
                    }
                }
                (Formula::After(_, base) | Formula::Component(base, _), _) => left.push(*base),
                _ => {}
            }
        }
        false
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
            self.visit(terms, value, &mut |formula| {
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

impl Formulas {
    /// The products that additions take with them: at most one for each addition.
    pub fn absorbed(&self, computed: &HashSet<FormulaId>) -> HashSet<FormulaId> {
        let mut absorbed = HashSet::new();
        let mut sums: Vec<FormulaId> = computed.iter().copied().collect();
        sums.sort();
        for sum in sums {
            let Formula::Computed(Operation::Add | Operation::Subtract, parts) = self.get(sum)
            else {
                continue;
            };
            let products: Vec<Vec<FormulaId>> =
                parts.iter().map(|part| self.products(*part)).collect();
            let scalar = products.iter().all(|products| products.len() <= 1);
            let all = products.concat();
            // Of two numbers one; of components one each, from either side.
            match scalar {
                true if all.iter().any(|product| absorbed.contains(product)) => {}
                true => absorbed.extend(all.first()),
                false => absorbed.extend(all),
            }
        }
        absorbed
    }

    /// The products that a number, or its components, are but for their signs.
    fn products(&self, id: FormulaId) -> Vec<FormulaId> {
        match self.get(id) {
            Formula::Computed(Operation::Multiply, _) => vec![id],
            Formula::Computed(Operation::Negate, parts) | Formula::Vector(parts) => {
                parts.iter().flat_map(|part| self.products(*part)).collect()
            }
            Formula::After(_, base) => self.products(*base),
            Formula::WithComponent(base, _, value) => {
                [self.products(*base), self.products(*value)].concat()
            }
            _ => Vec::new(),
        }
    }

    /// A number for each formula; formulas with different numbers are different functions, whatever
    /// the iterations of loops.
    pub fn keys(&self, terms: &PolyTerms, of: &[FormulaId]) -> HashMap<FormulaId, u32> {
        let classes = self.classes(terms, of);
        let mut shapes = IndexSet::new();
        let mut known = HashMap::new();
        of.iter().map(|id| (*id, self.key(*id, &classes, &mut shapes, &mut known).0)).collect()
    }

    /// The number of a formula without its sign, and the sign.
    fn key(
        &self,
        id: FormulaId,
        classes: &HashMap<FormulaId, u32>,
        shapes: &mut IndexSet<Vec<u32>>,
        known: &mut HashMap<FormulaId, (u32, bool)>,
    ) -> (u32, bool) {
        if let Some(found) = known.get(&id) {
            return *found;
        }
        let mut of =
            |id: &FormulaId, shapes: &mut IndexSet<Vec<u32>>| self.key(*id, classes, shapes, known);
        let (shape, negative) = match self.get(id) {
            Formula::Computed(Operation::Negate, parts) => {
                let inner = parts.first().map_or((0, false), |part| of(part, shapes));
                known.insert(id, (inner.0, !inner.1));
                return (inner.0, !inner.1);
            }
            Formula::Computed(op @ (Operation::Add | Operation::Subtract), parts) => {
                let mut own: Vec<(u32, bool)> = parts.iter().map(|p| of(p, shapes)).collect();
                if let (Operation::Subtract, [_, b]) = (op, own.as_mut_slice()) {
                    b.1 = !b.1;
                }
                own.sort_unstable();
                let negative = own.first().is_some_and(|first| first.1);
                let signed =
                    own.iter().flat_map(|(key, sign)| [*key, u32::from(*sign != negative)]);
                ([1].into_iter().chain(signed).collect(), negative)
            }
            Formula::Computed(Operation::Multiply, parts) => {
                let mut own: Vec<(u32, bool)> = parts.iter().map(|p| of(p, shapes)).collect();
                own.sort_unstable();
                let negative = own.iter().fold(false, |sign, own| sign != own.1);
                ([2].into_iter().chain(own.iter().map(|own| own.0)).collect(), negative)
            }
            Formula::Computed(op, parts) => {
                let number = match op {
                    Operation::Function(name) => 64 + u32::from(*name),
                    Operation::MultiplyAdd => 3,
                    Operation::Reciprocal => 4,
                    Operation::Root => 5,
                    Operation::Convert => 6,
                    _ => 7,
                };
                let own: Vec<u32> = parts.iter().map(|p| of(p, shapes).0).collect();
                ([number].into_iter().chain(own).collect(), false)
            }
            Formula::Component(base, lane) => {
                (vec![8, of(base, shapes).0, u32::from(*lane)], false)
            }
            Formula::Place { .. } => (vec![9, classes.get(&id).copied().unwrap_or(0)], false),
            Formula::Constant(Some(bits)) => {
                (vec![10, (bits >> 32) as u32 & 0x7fff_ffff, *bits as u32], bits >> 63 == 1)
            }
            Formula::Vector(parts) => {
                let own: Vec<u32> = parts.iter().map(|p| of(p, shapes).0).collect();
                ([11].into_iter().chain(own).collect(), false)
            }
            Formula::After(_, base) => return of(base, shapes),
            // What is carried may be equal to what another variable carries.
            _ => (vec![0], false),
        };
        let key = u32::try_from(shapes.insert_full(shape).0).unwrap_or(0);
        known.insert(id, (key, negative));
        (key, negative)
    }

    /// Places that may be equal in some iterations have one number.
    fn classes(&self, terms: &PolyTerms, of: &[FormulaId]) -> HashMap<FormulaId, u32> {
        let mut places: IndexSet<FormulaId> = IndexSet::new();
        for id in of {
            let mut left = vec![*id];
            let mut seen = HashSet::new();
            while let Some(id) = left.pop() {
                if !seen.insert(id) {
                    continue;
                }
                match self.get(id) {
                    Formula::Place { .. } => drop(places.insert(id)),
                    Formula::Computed(_, parts) | Formula::Vector(parts) => left.extend(parts),
                    Formula::Component(base, _) | Formula::After(_, base) => left.push(*base),
                    _ => {}
                }
            }
        }
        let spans: Vec<Span<'_>> = (places.iter())
            .filter_map(|id| match self.get(*id) {
                Formula::Place { array, offset, element, width, .. } => {
                    let bytes = i64::from(*element) * i64::from(*width);
                    Some(Span { array, offset, bytes })
                }
                _ => None,
            })
            .collect();
        places.iter().copied().zip(apart_classes(terms, &spans, &|_| false)).collect()
    }
}

/// Bytes of an array.
#[derive(Debug, Clone, Copy)]
pub struct Span<'s> {
    pub array: &'s Rc<str>,
    pub offset: &'s Poly,
    pub bytes: i64,
}

/// Most spans in one array that are compared with each other.
const MAX_COMPARED: usize = 300;

/// Numbers for spans: those that may overlap in some iterations have the same. The
/// names that `moves` picks may be different in both, too.
pub fn apart_classes(
    terms: &PolyTerms,
    spans: &[Span<'_>],
    moves: &dyn Fn(Atom) -> bool,
) -> Vec<u32> {
    let mut class: Vec<usize> = (0..spans.len()).collect();
    let mut arrays: IndexMap<&Rc<str>, Vec<usize>> = IndexMap::new();
    for (i, span) in spans.iter().enumerate() {
        arrays.entry(span.array).or_default().push(i);
    }
    for members in arrays.values() {
        let few = members.len() <= MAX_COMPARED;
        for (k, b) in members.iter().enumerate() {
            for a in &members[..k] {
                let (from, to) = (class[*b], class[*a]);
                let apart = few && never_overlap(terms, spans[*a], spans[*b], moves);
                if from != to && !apart {
                    members.iter().for_each(|m| {
                        if class[*m] == from {
                            class[*m] = to;
                        }
                    });
                }
            }
        }
    }
    class.into_iter().map(|class| u32::try_from(class).unwrap_or(0)).collect()
}

/// Whether two spans have no byte in common in all iterations of the loops around both, each in
/// any: what they are apart is never made up for by multiples of what the counters move them by.
fn never_overlap(
    terms: &PolyTerms,
    a: Span<'_>,
    b: Span<'_>,
    moves: &dyn Fn(Atom) -> bool,
) -> bool {
    let moving = |poly: &Poly| -> (i64, Poly) {
        poly.terms().iter().fold((0, Poly::int(0)), |(step, rest), (monomial, factor)| {
            let term = Poly::term(monomial.clone(), *factor);
            let named = terms.names(&term).into_iter().any(moves);
            match terms.sayable(&term) && !named {
                true => (step, rest.add(&term).unwrap_or(rest)),
                false => (gcd(step, *factor), rest),
            }
        })
    };
    let ((step, first), (other, second)) = (moving(a.offset), moving(b.offset));
    let step = gcd(step, other);
    let distance = second.sub(&first).and_then(|distance| distance.constant());
    distance.is_some_and(|n| match step {
        0 => n >= a.bytes || -n >= b.bytes,
        _ => n.rem_euclid(step) >= a.bytes && step - n.rem_euclid(step) >= b.bytes,
    })
}

/// Notes of operations whether they differ in each iteration of a loop around.
pub fn set_differing(
    formulas: &Formulas,
    terms: &PolyTerms,
    nodes: &mut [KernelNode],
    iteration: Leaf,
) {
    for node in nodes {
        match &mut node.kind {
            NodeKind::Value(value) => {
                let differs = formulas.differs(terms, value.formula, iteration);
                value.differs.push(differs);
            }
            NodeKind::Repeat { body, .. } => set_differing(formulas, terms, body, iteration),
            NodeKind::If { then, otherwise, .. } => {
                set_differing(formulas, terms, then, iteration);
                set_differing(formulas, terms, otherwise, iteration);
            }
            _ => {}
        }
    }
}
