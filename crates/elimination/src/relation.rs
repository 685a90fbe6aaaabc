//! Relations: the combinations of a few variables' values that are allowed, each with a weight.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::scope::VariableScope;
use crate::weight::Weight;

/// Rows by key.
pub(crate) type Rows<W> = HashMap<u128, W, FxBuildHasher>;

/// A relation; combinations without a row are not allowed.
#[derive(Debug, Clone)]
pub struct Relation<W = i64> {
    pub(crate) scope: VariableScope,
    pub(crate) rows: Rows<W>,
}

impl<W> Relation<W> {
    /// A relation without rows.
    pub fn new(scope: VariableScope) -> Relation<W> {
        Relation { scope, rows: Rows::default() }
    }

    /// Its variables.
    pub fn scope(&self) -> &VariableScope {
        &self.scope
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row, or replaces it.
    pub fn insert(&mut self, key: u128, weight: W) {
        self.rows.insert(key, weight);
    }

    /// The weight of what `assignment`, a value for every variable of the network, has for the
    /// scope.
    pub fn at(&self, assignment: &[u32]) -> Option<&W> {
        self.rows.get(&self.scope.key(assignment))
    }

    /// The rows, in no particular order.
    pub fn rows(&self) -> impl Iterator<Item = (u128, &W)> {
        self.rows.iter().map(|(key, weight)| (*key, weight))
    }

    /// The rows as a list, in increasing order of the first variable's value, then of the second's,
    /// and so on.
    pub fn sorted(&self) -> Vec<(Vec<u32>, &W)> {
        let values =
            |key: u128| (0..self.scope.variables().len()).map(move |i| self.scope.value(key, i));
        let mut rows: Vec<_> = self.rows.iter().map(|(k, w)| (values(*k).collect(), w)).collect();
        rows.sort_by(|a: &(Vec<u32>, _), b| a.0.cmp(&b.0));
        rows
    }
}

impl<W: PartialEq + Clone> Relation<W> {
    /// What is left without one variable; `None` if some weight depends on it. Which of its values
    /// are allowed is forgotten.
    pub(crate) fn without(&self, to: &VariableScope) -> Option<Relation<W>> {
        let (moves, mut rows) = (self.scope.moves(to), Rows::default());
        for (key, weight) in &self.rows {
            let known = rows.entry(moves.apply(*key)).or_insert_with(|| weight.clone());
            if known != weight {
                return None;
            }
        }
        Some(Relation { scope: to.clone(), rows })
    }
}

impl Relation {
    /// Which combinations of some of its variables have a row, with weight 0. All variables of `to`
    /// must be among them.
    pub fn onto(&self, to: &VariableScope) -> Relation {
        let moves = self.scope.moves(to);
        let rows = self.rows.keys().map(|key| (moves.apply(*key), 0)).collect();
        Relation { scope: to.clone(), rows }
    }

    /// The relation with a row for every combination of a scope to which `cost` gives one. Meant
    /// for examples and tests: every combination is examined.
    pub fn of(scope: &VariableScope, cost: impl Fn(&[u32]) -> Option<i64>) -> Relation {
        let mut relation = Relation::new(scope.clone());
        let variables = scope.variables();
        let sizes: Vec<u32> = scope.sizes().to_vec();
        let mut values = vec![0; variables.len()];
        let mut assignment = vec![0; variables.last().map_or(0, |v| v + 1)];
        loop {
            variables.iter().zip(&values).for_each(|(v, value)| assignment[*v] = *value);
            if let Some(cost) = cost(&values) {
                relation.insert(scope.key(&assignment), cost);
            }
            let Some(i) = (0..values.len()).rev().find(|i| values[*i] + 1 < sizes[*i]) else {
                return relation;
            };
            values[i] += 1;
            values[i + 1..].fill(0);
        }
    }

    /// The same rows with weights of another kind.
    pub(crate) fn weighted<W: Weight>(&self) -> Relation<W> {
        let rows = self.rows.iter().map(|(key, cost)| (*key, W::of(*cost))).collect();
        Relation { scope: self.scope.clone(), rows }
    }
}
