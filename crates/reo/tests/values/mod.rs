//! What constraints mean over a few values, by trying every combination.
//!
//! Functions and predicates are given some meaning each, different constants are different values.
//! Nothing here is shared with the code under test.

#![allow(dead_code)]

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::test_runner::Config;
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::symbol::{Cell, NameId, SymbolId};

/// So many random cases, or as many as `TICKBOUND_CASES` says.
pub fn cases(usual: u32) -> Config {
    let asked = std::env::var("TICKBOUND_CASES").ok().and_then(|n| n.parse().ok());
    Config::with_cases(asked.unwrap_or(usual))
}

/// What a value is: the first constant is 0, the second 1, and so on.
pub type Value = u8;

/// A meaning of constants, functions and predicates.
#[derive(Debug, Clone)]
pub struct Meaning {
    /// How many values there are, at least as many as constants.
    pub values: Value,
    /// The constants, each of them the value with its number.
    pub constants: Vec<SymbolId>,
    /// Chooses what functions and predicates do.
    pub seed: u64,
}

impl Meaning {
    fn chance(&self, word: SymbolId, arguments: &[Value], kind: u8) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.seed, word, arguments, kind).hash(&mut hasher);
        hasher.finish() >> 7
    }

    fn function(&self, f: SymbolId, arguments: &[Value]) -> Value {
        (self.chance(f, arguments, 0) % u64::from(self.values)) as Value
    }

    fn predicate(&self, p: SymbolId, arguments: &[Value]) -> bool {
        self.chance(p, arguments, 1).is_multiple_of(2)
    }

    /// The value of a constant.
    pub fn constant(&self, c: SymbolId) -> Value {
        self.constants.iter().position(|known| *known == c).expect("a known constant") as Value
    }

    fn term(&self, term: &DataTerm, leaves: &[DataTerm], values: &[Value]) -> Value {
        match term {
            DataTerm::Constant(c) => self.constant(*c),
            DataTerm::Call(f, terms) => self.function(*f, &self.terms(terms, leaves, values)),
            leaf => values[leaves.iter().position(|l| l == leaf).expect("every leaf has a value")],
        }
    }

    fn terms(&self, terms: &[DataTerm], leaves: &[DataTerm], values: &[Value]) -> Vec<Value> {
        terms.iter().map(|t| self.term(t, leaves, values)).collect()
    }

    fn literal(&self, literal: &Literal, leaves: &[DataTerm], values: &[Value]) -> bool {
        let term = |t| self.term(t, leaves, values);
        match literal {
            Literal::Equal(a, b) => term(a) == term(b),
            Literal::Different(a, b) => term(a) != term(b),
            Literal::Predicate(holds, p, terms) => {
                self.predicate(*p, &self.terms(terms, leaves, values)) == *holds
            }
        }
    }
}

/// What a step shows: the data at `names`, and `cells` before and after it.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Names whose data are seen.
    pub names: Vec<NameId>,
    /// Cells that are seen before the step.
    pub cells: Vec<Cell>,
    /// Those of them that nobody sees after the step.
    pub dead: Vec<Cell>,
}

/// Data, cells before and cells after (without the dead ones), in the order of a [`View`].
pub type Seen = (Vec<Value>, Vec<Value>, Vec<Value>);

/// All that can be seen of a step with `constraint`: whatever it mentions beyond the view may have
/// any value, and a cell that it does not mention in its after form keeps its value.
pub fn relation(constraint: &DataConstraint, view: &View, meaning: &Meaning) -> BTreeSet<Seen> {
    relation_from(constraint, view, meaning, None)
}

/// As [`relation`], for steps with these values in the cells before.
pub fn relation_from(
    constraint: &DataConstraint,
    view: &View,
    meaning: &Meaning,
    before: Option<&[Value]>,
) -> BTreeSet<Seen> {
    let cells = view.cells.len();
    let data = view.names.iter().copied().map(DataTerm::Datum);
    let mut leaves: Vec<DataTerm> =
        view.cells.iter().copied().map(DataTerm::Before).chain(data).collect();
    let names = cells..leaves.len();
    constraint.visit(|leaf| {
        if !matches!(leaf, DataTerm::Constant(_)) && !leaves.contains(leaf) {
            leaves.push(leaf.clone());
        }
    });
    let seen = |values: &[Value]| -> Seen {
        let alive = view.cells.iter().enumerate().filter(|(_, cell)| !view.dead.contains(cell));
        let after = alive.map(|(k, cell)| {
            let written = leaves.iter().position(|l| *l == DataTerm::After(*cell));
            values[written.unwrap_or(k)]
        });
        (values[names.clone()].to_vec(), values[..cells].to_vec(), after.collect())
    };
    let mut found = BTreeSet::new();
    let fixed = before.map_or(0, <[Value]>::len);
    let mut values = vec![0; leaves.len()];
    values[..fixed].copy_from_slice(before.unwrap_or_default());
    loop {
        if constraint.literals().iter().all(|l| meaning.literal(l, &leaves, &values)) {
            found.insert(seen(&values));
        }
        if !count_up(&mut values[fixed..], meaning.values) {
            return found;
        }
    }
}

/// The next combination, or `false` after the last.
pub fn count_up(values: &mut [Value], base: Value) -> bool {
    for value in values {
        *value += 1;
        if *value < base {
            return true;
        }
        *value = 0;
    }
    false
}

/// Every combination of `n` values.
pub fn combinations(n: usize, base: Value) -> Vec<Vec<Value>> {
    let mut values = vec![0; n];
    let mut all = vec![values.clone()];
    while count_up(&mut values, base) {
        all.push(values.clone());
    }
    all
}

/// One step after another: what is left in the cells after the first is there before the second.
pub fn one_after_another(first: &BTreeSet<Seen>, second: &BTreeSet<Seen>) -> BTreeSet<Seen> {
    let joined = |a: &Seen, b: &Seen| {
        let data = [&a.0[..], &b.0[..]].concat();
        (a.2 == b.1).then(|| (data, a.1.clone(), b.2.clone()))
    };
    first.iter().flat_map(|a| second.iter().filter_map(move |b| joined(a, b))).collect()
}
