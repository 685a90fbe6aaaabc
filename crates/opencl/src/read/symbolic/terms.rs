//! The table of atoms.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::interval::{FAR, WideInterval};
use super::poly::{Atom, Poly};
use crate::request::LaunchBound;
use crate::steps::Dependence;

/// Something whose value has no name outside: unknown values and iterations of loops. They are
/// numbered as they come to be, so what came after another has a greater number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Leaf(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AtomKind {
    /// A name of the problem language.
    Name(Rc<str>),
    Leaf(Leaf),
    /// Quotient rounded down; the divisor is not negative.
    Quotient(Poly, Poly),
    Remainder(Poly, Poly),
    /// 1 if the polynomial is less than zero, 0 otherwise.
    Negative(Poly),
    /// 1 if the polynomial is zero, 0 otherwise.
    Zero(Poly),
    /// Both of two truth values; the second is evaluated only if the first holds.
    And(Poly, Poly),
    /// One of two truth values; the second is evaluated only if the first does not hold.
    Or(Poly, Poly),
    /// The second if the first, a truth value, holds; otherwise the third.
    Choice(Poly, Poly, Poly),
    Min(Poly, Poly),
    Max(Poly, Poly),
    /// A power of two; the exponent is not negative.
    Power(Poly),
}

/// What is known of an atom.
#[derive(Debug, Clone)]
pub struct Info {
    pub interval: WideInterval,
    /// The same under the assumption that launches are of 2^16 items.
    pub likely: WideInterval,
    /// Polynomials that it does not exceed.
    pub uppers: Vec<Poly>,
    pub depends: Dependence,
    /// Leaves in it, in order.
    pub leaves: Rc<[Leaf]>,
    pub names: Rc<[Atom]>,
    size: u32,
}

/// Largest term that is kept, in atoms.
const LARGEST: u32 = 3000;

/// Greatest number of items in a group and of groups (in a dimension) that decides whether unsigned
/// arithmetic is taken to wrap around: launches of 2^16 items.
const LIKELY: i128 = 1 << 8;

/// The table of atoms, with the facts that hold where the reader stands.
#[derive(Debug, Default)]
pub struct PolyTerms {
    kinds: IndexSet<AtomKind, FxBuildHasher>,
    infos: Vec<Info>,
    /// Values that are less than zero, each with a separate number.
    pub(super) facts: Vec<(Poly, u64)>,
    /// The number of the fact that was added last.
    pub(super) last_fact: u64,
    leaves: u32,
    /// Leaves that are multiples of whole numbers, by factors that are not known.
    multiples: HashMap<Atom, Poly>,
    /// Numbers of iterations that are sums over those of a loop around, each as a number that is
    /// not negative and what divides it without a rest.
    pub sums: HashMap<Poly, (Poly, i64)>,
    /// Bounds of the launch in each dimension; empty where its sizes are not known.
    pub launch: Vec<LaunchBound>,
    /// For dimensions whose local id is joined by `|`, the most items for which that is a sum.
    pub joined: BTreeMap<usize, i64>,
    /// For dimensions in which they are known, the items of a group.
    pub local_sizes: BTreeMap<usize, Poly>,
    /// Whether polynomials are below zero by the bounds of their atoms alone, for each depth. What
    /// is known of an atom never changes, so answers hold for good.
    pub(super) signs: RefCell<FxHashMap<Poly, Signs>>,
    /// Whether facts say that polynomials are below zero, each with the last fact then.
    pub(super) under_facts: RefCell<FxHashMap<Poly, (u64, bool)>>,
}

/// For each depth of bounds that are tried, whether a polynomial is below zero, if asked.
pub(super) type Signs = [Option<bool>; 1 + DEPTH];

/// How many bounds of atoms are tried one inside the other.
pub(super) const DEPTH: usize = 4;

impl PolyTerms {
    pub fn new() -> PolyTerms {
        PolyTerms::default()
    }

    pub fn count(&self) -> usize {
        self.infos.len()
    }

    pub fn info(&self, atom: Atom) -> &Info {
        &self.infos[atom.0 as usize]
    }

    pub fn kind(&self, atom: Atom) -> &AtomKind {
        &self.kinds[atom.0 as usize]
    }

    /// What the polynomial is, if it is a single atom.
    pub fn kind_of(&self, poly: &Poly) -> Option<&AtomKind> {
        poly.as_atom().map(|atom| self.kind(atom))
    }

    /// A name with what is known of it. The first mention counts.
    pub fn name(
        &mut self,
        name: &str,
        interval: WideInterval,
        depends: Dependence,
        uppers: Vec<Poly>,
    ) -> Poly {
        let kind = AtomKind::Name(name.into());
        if let Some(index) = self.kinds.get_index_of(&kind) {
            return Poly::atom(Atom(index as u32));
        }
        let atom = Atom(self.kinds.len() as u32);
        let launch = ["$lid_", "$local_", "$group_", "$groups_"];
        let launch = launch.iter().any(|start| name.starts_with(start));
        let likely = if launch { WideInterval::new(0, LIKELY) } else { interval };
        let (leaves, names, likely) = (Rc::from([]), Rc::from([atom]), interval.meet(likely));
        self.insert(kind, Info { interval, likely, uppers, depends, leaves, names, size: 1 })
    }

    /// A name without bounds that is the same for all items of a group.
    pub fn uniform(&mut self, name: &str, interval: WideInterval) -> Poly {
        self.name(name, interval, Dependence::Uniform, Vec::new())
    }

    /// The atom of an id or a size in a dimension, such as `$lid_0`, if it was made before.
    pub fn find(&self, what: &str, d: usize) -> Option<Atom> {
        self.known(&AtomKind::Name(format!("${what}_{d}").into()))
    }

    /// The items of a group in a dimension, if they are known or have a name.
    pub fn local_size(&self, d: usize) -> Option<Poly> {
        let named = || self.find("local", d).map(Poly::atom);
        self.local_sizes.get(&d).cloned().or_else(named)
    }

    /// The atom of a kind that was made before.
    pub fn known(&self, kind: &AtomKind) -> Option<Atom> {
        self.kinds.get_index_of(kind).map(|i| Atom(i as u32))
    }

    pub fn leaf(&mut self, interval: WideInterval, depends: Dependence) -> Poly {
        let leaf = Leaf(self.leaves);
        self.leaves += 1;
        let (leaves, names) = (Rc::from([leaf]), Rc::from([]));
        let (likely, uppers) = (interval, Vec::new());
        let info = Info { interval, likely, uppers, depends, leaves, names, size: 1 };
        self.insert(AtomKind::Leaf(leaf), info)
    }

    /// A whole multiple of a number by a real one of which only the dependence is known.
    pub fn scaled(&mut self, interval: WideInterval, depends: Dependence, number: &Poly) -> Poly {
        let leaf = self.leaf(interval, depends);
        self.multiples.extend(leaf.as_atom().map(|atom| (atom, number.clone())));
        leaf
    }

    /// The value with 1 for each of those factors.
    pub fn unscaled(&mut self, poly: &Poly) -> Poly {
        if !poly.atoms().any(|atom| self.multiples.contains_key(&atom)) {
            return poly.clone();
        }
        let multiples = self.multiples.clone();
        self.substitute(poly, &multiples)
    }

    /// A new leaf that counts; `likely` decides whether unsigned arithmetic may wrap around.
    pub fn counter(
        &mut self,
        interval: WideInterval,
        likely: WideInterval,
        uppers: Vec<Poly>,
    ) -> Poly {
        let leaf = self.leaf(interval, Dependence::Uniform);
        if let Some(info) = self.infos.last_mut() {
            (info.likely, info.uppers) = (likely, uppers);
        }
        leaf
    }

    pub fn atom_of(&self, leaf: Leaf) -> Option<Atom> {
        self.known(&AtomKind::Leaf(leaf))
    }

    /// The number of a loop's last iteration by its counter, if that is one number.
    pub fn last_iteration(&self, counter: Leaf) -> Option<Poly> {
        match self.info(self.atom_of(counter)?).uppers.as_slice() {
            [last] => Some(last.clone()),
            _ => None,
        }
    }

    /// Whether a loop may have no iteration.
    pub fn may_be_empty(&self, counter: Leaf) -> bool {
        self.last_iteration(counter).is_none_or(|last| self.interval(&last).least < 0)
    }

    pub fn next_leaf(&self) -> Leaf {
        Leaf(self.leaves)
    }

    pub fn unknown(&mut self, depends: Dependence) -> Poly {
        self.leaf(WideInterval::ALL, depends)
    }

    /// The atom of a kind that is neither a name nor a leaf.
    pub(super) fn composed(
        &mut self,
        kind: AtomKind,
        interval: WideInterval,
        likely: WideInterval,
    ) -> Poly {
        if let Some(index) = self.kinds.get_index_of(&kind) {
            return Poly::atom(Atom(index as u32));
        }
        let parts = parts(&kind);
        let depends = parts.iter().map(|p| self.depends(p)).max().unwrap_or(Dependence::Uniform);
        let size = parts.iter().fold(1u32, |sum, p| sum.saturating_add(self.size(p)));
        if size > LARGEST {
            return self.leaf(interval, depends);
        }
        let leaves = gather(parts.iter().flat_map(|p| self.leaves(p)));
        let names = gather(parts.iter().flat_map(|p| self.names(p)));
        let uppers = match &kind {
            AtomKind::Remainder(_, divisor) => divisor.sub(&Poly::int(1)).into_iter().collect(),
            AtomKind::Min(a, b) => vec![a.clone(), b.clone()],
            _ => Vec::new(),
        };
        self.insert(kind, Info { interval, likely, uppers, depends, leaves, names, size })
    }

    fn insert(&mut self, kind: AtomKind, info: Info) -> Poly {
        let atom = Atom(self.kinds.len() as u32);
        self.kinds.insert(kind);
        self.infos.push(info);
        Poly::atom(atom)
    }

    pub fn depends(&self, poly: &Poly) -> Dependence {
        poly.atoms().map(|a| self.info(a).depends).max().unwrap_or(Dependence::Uniform)
    }

    /// Whether data decide a value.
    pub fn on_data(&self, poly: &Poly) -> bool {
        self.depends(poly) == Dependence::Data
    }

    pub fn leaves(&self, poly: &Poly) -> Vec<Leaf> {
        gather(poly.atoms().flat_map(|a| self.info(a).leaves.iter().copied()))
    }

    /// Leaves that decide a number, those that decide it twice also twice. What one of several
    /// values chooses decides it; the values may not.
    pub fn deciding(&self, poly: &Poly, leaves: &mut Vec<Leaf>) {
        for atom in poly.atoms() {
            let kind = self.kind(atom);
            // Both sides of an extreme decide it, of all others their first part.
            let some = if matches!(kind, AtomKind::Min(..) | AtomKind::Max(..)) { 2 } else { 1 };
            match kind {
                AtomKind::Leaf(leaf) => leaves.push(*leaf),
                _ => parts(kind).into_iter().take(some).for_each(|p| self.deciding(p, leaves)),
            }
        }
    }

    pub fn names(&self, poly: &Poly) -> Vec<Atom> {
        gather(poly.atoms().flat_map(|a| self.info(a).names.iter().copied()))
    }

    pub fn mentions(&self, poly: &Poly, leaf: Leaf) -> bool {
        poly.atoms().any(|a| self.info(a).leaves.binary_search(&leaf).is_ok())
    }

    /// Whether a value mentions any leaf from this one on.
    pub fn mentions_since(&self, poly: &Poly, first: Leaf) -> bool {
        poly.atoms().any(|a| self.info(a).leaves.last().is_some_and(|leaf| *leaf >= first))
    }

    /// Whether the value consists of names.
    pub fn sayable(&self, poly: &Poly) -> bool {
        poly.atoms().all(|a| self.info(a).leaves.is_empty())
    }

    pub fn interval(&self, poly: &Poly) -> WideInterval {
        self.range(poly, |info| info.interval)
    }

    /// The value, if there is only one that it can have.
    pub fn only_value(&self, poly: &Poly) -> Option<i128> {
        let range = self.interval(poly);
        (range.least == range.greatest).then_some(range.least)
    }

    /// The value with numbers for the names that have only one.
    pub fn with_only_values(&mut self, poly: &Poly) -> Poly {
        let names = self.names(poly).into_iter();
        let known = names.filter_map(|atom| {
            let value = self.only_value(&Poly::atom(atom))?;
            Some((atom, Poly::int(i64::try_from(value).ok()?)))
        });
        let known: HashMap<Atom, Poly> = known.collect();
        self.substitute(poly, &known)
    }

    /// Where the value lies if launches are of 2^16 items.
    pub fn likely(&self, poly: &Poly) -> WideInterval {
        self.range(poly, |info| info.likely)
    }

    fn range(&self, poly: &Poly, of: impl Fn(&Info) -> WideInterval) -> WideInterval {
        poly.terms().iter().fold(WideInterval::point(0), |sum, (monomial, coefficient)| {
            let product = monomial
                .chunk_by(|a, b| a == b)
                .map(|power| {
                    let base = of(self.info(power[0]));
                    let product = power[1..].iter().fold(base, |p, _| p.mul(base));
                    let even = power.len() % 2 == 0;
                    if even { product.meet(WideInterval::new(0, FAR)) } else { product }
                })
                .fold(WideInterval::point(*coefficient), WideInterval::mul);
            sum.add(product)
        })
    }

    fn size(&self, poly: &Poly) -> u32 {
        poly.atoms().fold(1u32, |sum, a| sum.saturating_add(self.info(a).size))
    }
}

/// The values that an atom is made of, in order.
pub(super) fn parts(kind: &AtomKind) -> Vec<&Poly> {
    match kind {
        AtomKind::Name(_) | AtomKind::Leaf(_) => Vec::new(),
        AtomKind::Negative(a) | AtomKind::Zero(a) | AtomKind::Power(a) => vec![a],
        AtomKind::Quotient(a, b)
        | AtomKind::Remainder(a, b)
        | AtomKind::And(a, b)
        | AtomKind::Or(a, b)
        | AtomKind::Min(a, b)
        | AtomKind::Max(a, b) => vec![a, b],
        AtomKind::Choice(a, b, c) => vec![a, b, c],
    }
}

fn gather<T: Ord, C: FromIterator<T>>(items: impl Iterator<Item = T>) -> C {
    items.collect::<std::collections::BTreeSet<T>>().into_iter().collect()
}
