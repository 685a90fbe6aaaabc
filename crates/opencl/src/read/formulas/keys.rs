//! Products that sums take with them, and numbers by which formulas differ.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;

use super::super::symbolic::{AtomKind, Leaf, Poly, PolyTerms, gcd};
use super::formula::{Formula, FormulaId, RealOperation};
use super::table::{Formulas, MAX_VISITED};
use crate::ast::AddressSpace;

struct Found<'c> {
    /// Those of places.
    classes: &'c HashMap<FormulaId, u32>,
    shapes: IndexSet<Vec<u32>>,
    /// For each formula that of its shape, and the sign.
    known: HashMap<FormulaId, (u32, bool)>,
}

impl Formulas {
    /// The products that additions take with them, one for each at most, and these additions.
    pub fn absorbed(
        &self,
        terms: &PolyTerms,
        computed: &HashSet<FormulaId>,
    ) -> (HashSet<FormulaId>, HashSet<FormulaId>) {
        let (mut absorbed, mut taking) = (HashSet::new(), HashSet::new());
        let mut sums: Vec<FormulaId> = computed.iter().copied().collect();
        sums.sort();
        for sum in sums {
            let Formula::Computed(RealOperation::Add | RealOperation::Subtract, parts) =
                self.get(sum)
            else {
                continue;
            };
            let products: Vec<Vec<FormulaId>> =
                parts.iter().map(|part| self.products(*part)).collect();
            let scalar = products.iter().all(|products| products.len() <= 1);
            // What is not counted leaves its place to another one.
            let free = |absorbed: &HashSet<FormulaId>, product: &FormulaId| {
                computed.contains(product) && !absorbed.contains(product)
            };
            let mut all = products.concat();
            all.retain(|product| free(&absorbed, product));
            if all.is_empty() {
                all = parts.iter().flat_map(|part| self.products_behind(*part)).collect();
                all.retain(|product| free(&absorbed, product));
            } else if scalar {
                // Of two numbers one, the one that differs in more loops; of components one each,
                // from either side.
                if let [a, b] = all[..] {
                    let [in_a, in_b] = [a, b].map(|product| self.loops_of(terms, product));
                    // Both, if it is not known which.
                    if in_b.is_subset(&in_a) {
                        all.truncate(1);
                    } else if in_a.is_subset(&in_b) {
                        all.remove(0);
                    }
                }
            }
            taking.extend((!all.is_empty()).then_some(sum));
            absorbed.extend(all);
        }
        (absorbed, taking)
    }

    /// The products that a number, or its components, are but for their signs.
    fn products(&self, id: FormulaId) -> Vec<FormulaId> {
        match self.get(id) {
            Formula::Computed(RealOperation::Multiply, _) => vec![id],
            // Twice a number.
            Formula::Computed(RealOperation::Add, parts) if parts.iter().all_equal() => vec![id],
            Formula::Computed(RealOperation::Negate, parts) | Formula::Vector(parts) => {
                parts.iter().flat_map(|part| self.products(*part)).collect()
            }
            Formula::After(_, base) => self.products(*base),
            Formula::WithComponent(base, _, value) => {
                [self.products(*base), self.products(*value)].concat()
            }
            _ => Vec::new(),
        }
    }

    /// The loops around in whose iterations a formula may differ.
    fn loops_of(&self, terms: &PolyTerms, id: FormulaId) -> HashSet<Leaf> {
        let mut loops = HashSet::new();
        self.visit(terms, id, &mut |id, formula| {
            match formula {
                Formula::Place { space, offset, .. } => {
                    let around = self.around.get(&id).into_iter().flatten().copied();
                    let moves = |leaf: &Leaf| {
                        *space == AddressSpace::Local || terms.mentions(offset, *leaf)
                    };
                    loops.extend(around.filter(moves));
                }
                Formula::Carried(leaf, ..) => drop(loops.insert(*leaf)),
                Formula::Element(_, offset) => loops.extend(terms.leaves(offset)),
                _ => {}
            }
            true
        });
        loops
    }

    /// The products that a number may be in some iterations or on some paths.
    fn products_behind(&self, id: FormulaId) -> Vec<FormulaId> {
        let (mut seen, mut left, mut found) = (HashSet::new(), vec![id], Vec::new());
        while let Some(id) = left.pop() {
            if seen.len() >= MAX_VISITED || !seen.insert(id) {
                continue;
            }
            match self.get(id) {
                Formula::Component(base, _)
                | Formula::Element(base, _)
                | Formula::After(_, base) => left.push(*base),
                Formula::WithComponent(a, _, b)
                | Formula::Stored(a, _, b)
                | Formula::Either([(_, a), (_, b)]) => left.extend([a, b]),
                Formula::Carried(leaf, variable, start) => {
                    left.push(*start);
                    left.extend(self.end_of(*leaf, *variable));
                }
                _ => found.extend(self.products(id)),
            }
        }
        found
    }

    /// A number for each formula; different numbers are different functions in all iterations.
    pub fn keys(&self, terms: &PolyTerms, of: &[FormulaId]) -> HashMap<FormulaId, u32> {
        let classes = self.classes(terms, of);
        let mut found = Found { classes: &classes, shapes: IndexSet::new(), known: HashMap::new() };
        of.iter().map(|id| (*id, self.key(*id, &mut found).0)).collect()
    }

    /// The number of a formula without its sign, and the sign.
    fn key(&self, id: FormulaId, found: &mut Found<'_>) -> (u32, bool) {
        if let Some(known) = found.known.get(&id) {
            return *known;
        }
        let (shape, negative) = match self.get(id) {
            Formula::Computed(RealOperation::Negate, parts) => {
                let (key, sign) = parts.first().map_or((0, false), |part| self.key(*part, found));
                found.known.insert(id, (key, !sign));
                return (key, !sign);
            }
            Formula::Computed(op, parts) => self.shape(*op, parts, found),
            Formula::Component(base, lane) => {
                (vec![8, self.key(*base, found).0, u32::from(*lane)], false)
            }
            Formula::Place { .. } => (vec![9, found.classes.get(&id).copied().unwrap_or(0)], false),
            Formula::Constant(Some(bits)) => {
                (vec![10, (bits >> 32) as u32 & 0x7fff_ffff, *bits as u32], bits >> 63 == 1)
            }
            Formula::Vector(parts) => {
                let own = parts.iter().map(|part| self.key(*part, found).0);
                ([11].into_iter().chain(own).collect(), false)
            }
            Formula::After(_, base) => return self.key(*base, found),
            // What is carried may be equal to what another variable carries.
            _ => (vec![0], false),
        };
        let key = u32::try_from(found.shapes.insert_full(shape).0).unwrap_or(0);
        found.known.insert(id, (key, negative));
        (key, negative)
    }

    /// The shape of a result without its sign, and the sign.
    fn shape(
        &self,
        op: RealOperation,
        parts: &[FormulaId],
        found: &mut Found<'_>,
    ) -> (Vec<u32>, bool) {
        let mut own: Vec<(u32, bool)> = parts.iter().map(|part| self.key(*part, found)).collect();
        let number = match op {
            RealOperation::Add | RealOperation::Subtract => {
                if let (RealOperation::Subtract, [_, b]) = (op, own.as_mut_slice()) {
                    b.1 = !b.1;
                }
                own.sort_unstable();
                let negative = own.first().is_some_and(|first| first.1);
                let signed =
                    own.iter().flat_map(|(key, sign)| [*key, u32::from(*sign != negative)]);
                return ([1].into_iter().chain(signed).collect(), negative);
            }
            RealOperation::Multiply => {
                own.sort_unstable();
                let negative = own.iter().fold(false, |sign, own| sign != own.1);
                let shape = [2].into_iter().chain(own.iter().map(|own| own.0)).collect();
                return (shape, negative);
            }
            RealOperation::Function(name) => 64 + u32::from(name),
            RealOperation::MultiplyAdd => 3,
            RealOperation::Reciprocal => 4,
            RealOperation::Root => 5,
            RealOperation::Convert => 6,
            RealOperation::Negate
            | RealOperation::Extreme
            | RealOperation::Packed
            | RealOperation::Whole => 7,
        };
        // Without their signs, more are one.
        ([number].into_iter().chain(own.iter().map(|own| own.0)).collect(), false)
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
        let spans: Vec<ArraySpan<'_>> = (places.iter())
            .filter_map(|id| match self.get(*id) {
                Formula::Place { array, offset, element, width, .. } => {
                    let bytes = i64::from(*element) * i64::from(*width);
                    Some(ArraySpan { array, offset, bytes })
                }
                _ => None,
            })
            .collect();
        places.iter().copied().zip(apart_classes(terms, &spans, Compared::Functions)).collect()
    }
}

/// Bytes of an array.
#[derive(Debug, Clone, Copy)]
pub struct ArraySpan<'s> {
    pub array: &'s Rc<str>,
    pub offset: &'s Poly,
    pub bytes: i64,
}

/// What of spans is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// Their addresses, as functions of the ids.
    Functions,
    /// Those in one item.
    OneItem,
    /// Those in any two items.
    AnyItems,
}

/// Most spans in one array that are compared with each other.
const MAX_COMPARED: usize = 300;

/// Numbers for spans: those that may overlap in some iterations have the same.
pub fn apart_classes(terms: &PolyTerms, spans: &[ArraySpan<'_>], compared: Compared) -> Vec<u32> {
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
                let apart = few && never_overlap(terms, spans[*a], spans[*b], compared);
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
/// any: what they are apart is never made up for by multiples of what the counters move them by,
/// or it is another number in each group, so that no compiler takes them for the same.
fn never_overlap(
    terms: &PolyTerms,
    a: ArraySpan<'_>,
    b: ArraySpan<'_>,
    compared: Compared,
) -> bool {
    let is = |atom, ids: &[&str]| {
        matches!(terms.kind(atom), AtomKind::Name(name)
            if ids.iter().any(|id| name.starts_with(id)))
    };
    let moves = |atom| compared == Compared::AnyItems && is(atom, &["$lid_", "$group_"]);
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
    let Some(distance) = second.sub(&first) else { return false };
    let by_group = |(factor, _): (Poly, Poly)| {
        let range = terms.interval(&factor);
        range.least > 0 || range.greatest < 0
    };
    let mut groups = terms.names(&distance).into_iter().filter(|atom| is(*atom, &["$group_"]));
    if compared == Compared::Functions
        && groups.any(|atom| terms.linear(&distance, atom).is_some_and(by_group))
    {
        return true;
    }
    let step = gcd(gcd(step, other), distance.content());
    let n = distance.constant_term();
    match step {
        0 => n >= a.bytes || n.checked_neg().is_some_and(|n| n >= b.bytes),
        _ => n.rem_euclid(step) >= a.bytes && step - n.rem_euclid(step) >= b.bytes,
    }
}
