//! Data constraints: conditions of a step on data and memory, as conjunctions of literals.
//!
//! Conditions are on the data at names that fire, and on memory before and after (Baier et al.
//! 2006, section 3, with memory cells). Predicates and functions are uninterpreted; different
//! constants differ. A cell whose *after* form is not mentioned keeps its value.
//!
//! Literals are kept in a normal order, so that equal constraints are found by comparing;
//! [`simplify`](mod@simplify) makes equivalent ones equal.

mod flat;
pub mod simplify;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use indexmap::IndexSet;
use itertools::Itertools;
use rustc_hash::{FxBuildHasher, FxHasher};

use crate::constant::{LESS, OPERATORS, constant_text};
use crate::symbol::{Cell, NameId, SymbolId, Symbols};

/// Something that has a value in a step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataTerm {
    /// A constant; different constants differ.
    Constant(SymbolId),
    /// The datum at a name that fires.
    Datum(NameId),
    /// A cell before the step.
    Before(Cell),
    /// A cell after the step.
    After(Cell),
    /// Some value, the same wherever the number occurs in one constraint.
    Some(u32),
    /// A function, uninterpreted, of some terms.
    Call(SymbolId, Arc<[DataTerm]>),
}

/// One condition; by default on terms, with symbols for predicates.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Literal<T = DataTerm, W = SymbolId> {
    /// Both have the same value.
    Equal(T, T),
    /// They have different values.
    Different(T, T),
    /// A predicate, uninterpreted, holds (`true`) or fails (`false`) for some terms.
    Predicate(bool, W, Arc<[T]>),
}

impl<T, W> Literal<T, W> {
    /// What it is about: two sides, or the arguments of a predicate.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &T> {
        let (sides, arguments) = match self {
            Literal::Equal(a, b) | Literal::Different(a, b) => (Some([a, b]), &[][..]),
            Literal::Predicate(_, _, terms) => (None, &terms[..]),
        };
        sides.into_iter().flatten().chain(arguments)
    }

    pub(crate) fn negated(self) -> Literal<T, W> {
        match self {
            Literal::Equal(a, b) => Literal::Different(a, b),
            Literal::Different(a, b) => Literal::Equal(a, b),
            Literal::Predicate(holds, p, terms) => Literal::Predicate(!holds, p, terms),
        }
    }
}

/// A conjunction of literals in normal order; without any it is `true`.
///
/// Copies share their literals, and the hash is made once: constraints of long chains are compared
/// and looked up far more often than made.
#[derive(Debug, Clone)]
pub struct DataConstraint(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    hash: u64,
    literals: Box<[Literal]>,
}

impl Default for DataConstraint {
    fn default() -> Self {
        static TRUE: LazyLock<DataConstraint> =
            LazyLock::new(|| DataConstraint::in_order(Vec::new()));
        TRUE.clone()
    }
}

impl PartialEq for DataConstraint {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.hash == other.0.hash && self.0.literals == other.0.literals
    }
}

impl Eq for DataConstraint {}

impl Hash for DataConstraint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for DataConstraint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DataConstraint {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.0.literals.cmp(&other.0.literals)
    }
}

impl DataConstraint {
    /// The conjunction of `literals`: sides of equations in order, literals in order, none twice.
    pub fn new(literals: impl IntoIterator<Item = Literal>) -> DataConstraint {
        let mut all: Vec<Literal> = literals.into_iter().map(ordered).collect();
        all.sort_unstable();
        all.dedup();
        DataConstraint::in_order(all)
    }

    fn in_order(literals: Vec<Literal>) -> DataConstraint {
        let mut hasher = FxHasher::default();
        literals.hash(&mut hasher);
        DataConstraint(Arc::new(Shared { hash: hasher.finish(), literals: literals.into() }))
    }

    /// Whether it is the empty conjunction.
    pub fn is_true(&self) -> bool {
        self.0.literals.is_empty()
    }

    /// Its literals, in order.
    pub fn literals(&self) -> &[Literal] {
        &self.0.literals
    }

    /// Both. Values without a name of one are not those of the other.
    pub fn and(&self, other: &DataConstraint) -> DataConstraint {
        if self.is_true() {
            return other.clone();
        }
        if other.is_true() {
            return self.clone();
        }
        let used = self.nameless();
        let apart = |t: &DataTerm| match t {
            DataTerm::Some(k) => DataTerm::Some(k + used),
            other => other.clone(),
        };
        let same = used == 0 || other.nameless() == 0;
        let other = if same { other.clone() } else { other.map(apart) };
        DataConstraint::new(self.literals().iter().chain(other.literals()).cloned())
    }

    /// With every leaf of every term replaced: `replace` sees all terms that are no calls.
    pub fn map(&self, mut replace: impl FnMut(&DataTerm) -> DataTerm) -> DataConstraint {
        DataConstraint::new(self.literals().iter().map(|l| l.map(&mut replace)).collect::<Vec<_>>())
    }

    /// With other symbols for names, cells, constants, functions and predicates.
    pub fn renamed(&self, to: &dyn Fn(SymbolId) -> SymbolId) -> DataConstraint {
        let mut leaf = |leaf: &DataTerm| match leaf {
            DataTerm::Constant(c) => DataTerm::Constant(to(*c)),
            DataTerm::Datum(name) => DataTerm::Datum(NameId(to(name.0))),
            DataTerm::Before(cell) => DataTerm::Before(Cell(to(cell.0))),
            DataTerm::After(cell) => DataTerm::After(Cell(to(cell.0))),
            other => other.clone(),
        };
        let literal = |l: &Literal| l.with(to, |t| t.with(to, &mut leaf));
        DataConstraint::new(self.literals().iter().map(literal))
    }

    /// Calls `see` with every leaf of every term.
    pub fn visit(&self, mut see: impl FnMut(&DataTerm)) {
        self.literals().iter().for_each(|l| l.visit(&mut see));
    }

    /// How many terms there are in it, calls and what is in them counted each: its size.
    pub fn terms(&self) -> usize {
        self.literals().iter().flat_map(Literal::terms).map(DataTerm::size).sum()
    }

    /// One more than the greatest number of a value without a name.
    fn nameless(&self) -> u32 {
        let mut used = 0;
        self.visit(|term| {
            if let DataTerm::Some(k) = term {
                used = used.max(k + 1);
            }
        });
        used
    }

    /// The text of it: literals with ` & ` between, `true` if there are none. A cell before a step
    /// is `$m`, after it `$m'`; a value without a name is `_1`.
    pub fn text(&self, symbols: &Symbols) -> String {
        self.spelled(&Spelling { symbols, word: str::to_owned })
    }

    pub(crate) fn spelled(&self, spelling: &Spelling) -> String {
        if self.is_true() {
            return "true".into();
        }
        self.literals().iter().map(|l| spelling.literal(l)).join(" & ")
    }

    /// The text of each literal, in order.
    pub fn lines(&self, symbols: &Symbols) -> Vec<String> {
        let spelling = Spelling { symbols, word: str::to_owned };
        self.literals().iter().map(|l| spelling.literal(l)).collect()
    }
}

impl Literal {
    /// With every leaf of its terms replaced.
    pub fn map(&self, replace: &mut impl FnMut(&DataTerm) -> DataTerm) -> Literal {
        self.with(&|p| p, |t| t.map(replace))
    }

    /// With other words for predicates and other terms.
    pub(crate) fn with(
        &self,
        word: &dyn Fn(SymbolId) -> SymbolId,
        mut term: impl FnMut(&DataTerm) -> DataTerm,
    ) -> Literal {
        match self {
            Literal::Equal(a, b) => Literal::Equal(term(a), term(b)),
            Literal::Different(a, b) => Literal::Different(term(a), term(b)),
            Literal::Predicate(holds, p, terms) => {
                Literal::Predicate(*holds, word(*p), terms.iter().map(term).collect())
            }
        }
    }

    /// Calls `see` with every leaf of its terms.
    pub fn visit(&self, see: &mut impl FnMut(&DataTerm)) {
        self.terms().for_each(|t| t.visit(see));
    }

    pub(crate) fn leaf(&self, wanted: impl Fn(&DataTerm) -> bool) -> Option<&DataTerm> {
        self.terms().find_map(|term| term.leaf(&wanted))
    }

    pub(crate) fn has_leaf(&self, wanted: impl Fn(&DataTerm) -> bool) -> bool {
        self.leaf(wanted).is_some()
    }
}

fn ordered(literal: Literal) -> Literal {
    match literal {
        Literal::Equal(a, b) if b < a => Literal::Equal(b, a),
        Literal::Different(a, b) if b < a => Literal::Different(b, a),
        other => other,
    }
}

/// How constraints are written: `word` spells their words.
pub(crate) struct Spelling<'a> {
    pub symbols: &'a Symbols,
    pub word: fn(&str) -> String,
}

impl Spelling<'_> {
    pub(crate) fn literal(&self, literal: &Literal) -> String {
        match literal {
            Literal::Equal(a, b) => format!("{} = {}", self.term(a), self.term(b)),
            Literal::Different(a, b) => format!("{} != {}", self.term(a), self.term(b)),
            Literal::Predicate(holds, p, terms) => match &terms[..] {
                [a, b] if self.symbols.word(*p) == LESS => {
                    let sign = if *holds { LESS } else { ">=" };
                    format!("{} {sign} {}", self.term(a), self.term(b))
                }
                _ => format!("{}{}", if *holds { "" } else { "!" }, self.call(*p, terms)),
            },
        }
    }

    fn term(&self, term: &DataTerm) -> String {
        match term {
            DataTerm::Constant(c) => constant_text(self.symbols.word(*c)),
            DataTerm::Datum(name) => self.word(name.0),
            DataTerm::Before(cell) => format!("${}", self.word(cell.0)),
            DataTerm::After(cell) => format!("${}'", self.word(cell.0)),
            DataTerm::Some(k) => format!("_{k}"),
            // The signs of arithmetic stand between what they join.
            DataTerm::Call(f, terms) => match (self.symbols.word(*f), &terms[..]) {
                ("-", [one]) => format!("-{}", self.operand(one)),
                (sign, [a, b]) if OPERATORS.contains(&sign) => {
                    format!("{} {sign} {}", self.operand(a), self.operand(b))
                }
                _ => self.call(*f, terms),
            },
        }
    }

    fn operand(&self, term: &DataTerm) -> String {
        match term {
            DataTerm::Call(f, _) if OPERATORS.contains(&self.symbols.word(*f)) => {
                format!("({})", self.term(term))
            }
            _ => self.term(term),
        }
    }

    fn call(&self, word: SymbolId, terms: &[DataTerm]) -> String {
        format!("{}({})", self.word(word), terms.iter().map(|t| self.term(t)).join(", "))
    }

    fn word(&self, symbol: SymbolId) -> String {
        (self.word)(self.symbols.word(symbol))
    }
}

impl DataTerm {
    /// How many terms it is made of, itself among them.
    fn size(&self) -> usize {
        match self {
            DataTerm::Call(_, terms) => 1 + terms.iter().map(DataTerm::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// With every leaf replaced; a leaf is a term that is no call.
    pub fn map(&self, replace: &mut impl FnMut(&DataTerm) -> DataTerm) -> DataTerm {
        self.with(&|f| f, replace)
    }

    /// With other words for functions and other leaves.
    fn with(
        &self,
        word: &dyn Fn(SymbolId) -> SymbolId,
        leaf: &mut impl FnMut(&DataTerm) -> DataTerm,
    ) -> DataTerm {
        match self {
            DataTerm::Call(f, terms) => {
                DataTerm::Call(word(*f), terms.iter().map(|t| t.with(word, leaf)).collect())
            }
            term => leaf(term),
        }
    }

    /// Calls `see` with every leaf.
    pub fn visit(&self, see: &mut impl FnMut(&DataTerm)) {
        match self {
            DataTerm::Call(_, terms) => terms.iter().for_each(|t| t.visit(see)),
            leaf => see(leaf),
        }
    }

    pub(crate) fn leaf(&self, wanted: &impl Fn(&DataTerm) -> bool) -> Option<&DataTerm> {
        match self {
            DataTerm::Call(_, terms) => terms.iter().find_map(|t| t.leaf(wanted)),
            leaf => wanted(leaf).then_some(leaf),
        }
    }

    /// The text of it, see [`DataConstraint::text`]; constants that are not numbers have quotes.
    pub fn text(&self, symbols: &Symbols) -> String {
        Spelling { symbols, word: str::to_owned }.term(self)
    }
}

/// The constraints of one automaton, each once. Number 0 is always `true`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConstraintStore {
    all: IndexSet<DataConstraint, FxBuildHasher>,
}

impl Default for ConstraintStore {
    fn default() -> Self {
        ConstraintStore { all: std::iter::once(DataConstraint::default()).collect() }
    }
}

impl ConstraintStore {
    /// The number of `constraint`, new if need be.
    pub fn intern(&mut self, constraint: DataConstraint) -> u32 {
        self.all.insert_full(constraint).0 as u32
    }

    /// The constraint with a number.
    ///
    /// # Panics
    /// If there is none with it; numbers come from [`ConstraintStore::intern`] of the same table.
    pub fn get(&self, number: u32) -> &DataConstraint {
        &self.all[number as usize]
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &DataConstraint> {
        self.all.iter()
    }

    /// How many there are, `true` among them.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}
