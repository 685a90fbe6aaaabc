//! Networks of relations, and the join tree that eliminating their variables makes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::TooWide;
use crate::join::{combined, joined};
use crate::limits::TableLimits;
use crate::relation::Relation;
use crate::scope::VariableScope;
use crate::weight::Weight;

/// Rows of a join up to which the next variable is the one with the smallest estimate.
const INITIAL_ROWS: usize = 1 << 18;

/// Variables and relations.
#[derive(Debug, Clone, Default)]
pub struct Network {
    sizes: Vec<u32>,
    relations: Vec<Arc<Relation>>,
}

impl Network {
    /// Variables with this many values each, at least 1, and no relation.
    pub fn new(sizes: Vec<u32>) -> Network {
        Network { sizes, relations: Vec::new() }
    }

    /// How many values each variable has.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The relations, in the order they were added.
    pub fn relations(&self) -> &[Arc<Relation>] {
        &self.relations
    }

    /// The scope of some of the variables.
    ///
    /// # Errors
    /// [`TooWide::Key`].
    pub fn scope(&self, variables: &[usize]) -> Result<VariableScope, TooWide> {
        VariableScope::new(&self.sizes, variables.to_vec())
    }

    /// Adds a relation over some of the variables.
    pub fn add(&mut self, relation: Relation) {
        self.relations.push(Arc::new(relation));
    }

    /// Adds a relation over no variables that allows nothing: the network has no solution.
    pub fn add_contradiction(&mut self) {
        self.add(Relation::new(VariableScope::empty()));
    }

    /// Drops the variables of a relation on which no cost depends. What its rows do not allow must
    /// be in other relations too.
    pub fn reduced(&self, mut relation: Relation) -> Relation {
        for v in relation.scope.variables().to_vec() {
            let rest = relation.scope.variables().iter().copied().filter(|w| *w != v).collect();
            if let Some(less) =
                VariableScope::new(&self.sizes, rest).ok().and_then(|s| relation.without(&s))
            {
                relation = less;
            }
        }
        relation
    }

    /// Two relations as one over the variables of both: the rows that `filters`, over some of these
    /// variables, allow, with the costs that `with` makes of both.
    ///
    /// # Errors
    /// More rows than allowed, or a stop.
    pub fn combined(
        &self,
        [a, b]: [&Relation; 2],
        filters: &[Arc<Relation>],
        with: impl Fn(i64, i64) -> i64,
        limits: &TableLimits<'_>,
    ) -> Result<Relation, TooWide> {
        let all = a.scope.variables().iter().chain(b.scope.variables()).copied().collect();
        combined([a, b], filters, VariableScope::new(&self.sizes, all)?, with, limits)
    }

    /// Eliminates every variable that is not in `kept`.
    ///
    /// # Errors
    /// A join that is too large and may not be divided, or a stop.
    pub fn eliminated<W: Weight>(
        &self,
        kept: &[usize],
        limits: &TableLimits<'_>,
    ) -> Result<Tree<W>, TooWide> {
        let mut relations: Vec<Relation<W>> = self.relations.iter().map(|r| r.weighted()).collect();
        // A variable that no relation mentions has all its values.
        for v in 0..self.sizes.len() {
            let scope = self.scope(&[v])?;
            let free = !self.relations.iter().any(|r| r.scope.has(v));
            if free {
                let mut all = Relation::new(scope);
                (0..self.sizes[v]).for_each(|value| all.insert(u128::from(value), W::of(0)));
                relations.push(all);
            }
        }
        let live = (0..relations.len()).collect();
        let buckets = Vec::new();
        let kept = kept.to_vec();
        let mut tree = Tree { sizes: self.sizes.clone(), relations, live, buckets, kept };
        tree.eliminate_all(limits)?;
        Ok(tree)
    }
}

/// The relations with one variable, at the moment it was eliminated.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    pub variable: usize,
    /// The relations that mention it; several groups where the join was divided.
    pub groups: Vec<Group>,
}

/// Relations that were joined, and the message that came of it.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub relations: Vec<usize>,
    pub message: usize,
}

/// What an elimination leaves: the relations of the network, the messages, and which made which.
#[derive(Debug, Clone)]
pub struct Tree<W> {
    pub(crate) sizes: Vec<u32>,
    /// Those of the network, then messages.
    pub(crate) relations: Vec<Relation<W>>,
    /// Relations that were joined with none yet: at the end those over kept variables alone.
    pub(crate) live: Vec<usize>,
    /// In the order of elimination.
    pub(crate) buckets: Vec<Bucket>,
    pub(crate) kept: Vec<usize>,
}

impl<W: Weight> Tree<W> {
    /// True if no join was divided: then sums are exact, else costs are lower bounds.
    pub fn is_exact(&self) -> bool {
        self.buckets.iter().all(|b| b.groups.len() == 1)
    }

    /// The joins in the order in which they were made: the relations that were joined, and the
    /// message that came of it, each by its number for [`Tree::relation`]. Relations of the network
    /// have the numbers that they have there; after them come those of variables that no relation
    /// mentions, and messages.
    pub fn joins(&self) -> impl Iterator<Item = (&[usize], usize)> {
        self.buckets.iter().flat_map(|b| &b.groups).map(|g| (g.relations.as_slice(), g.message))
    }

    /// A relation by its number.
    pub fn relation(&self, number: usize) -> Option<&Relation<W>> {
        self.relations.get(number)
    }

    /// The messages, in the order in which they were made. To change one is to break the tree,
    /// which tests do to what relies on it.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = &mut Relation<W>> {
        let groups = self.buckets.iter().flat_map(|b| &b.groups);
        let messages: Vec<usize> = groups.map(|g| g.message).collect();
        let relations = self.relations.iter_mut().enumerate();
        relations.filter(move |(r, _)| messages.contains(r)).map(|(_, relation)| relation)
    }

    /// Rows of all relations and messages.
    pub fn rows(&self) -> usize {
        self.relations.iter().map(Relation::len).sum()
    }

    /// The sum over all solutions, where no variable was kept; `None` if there is no solution.
    pub fn total(&self) -> Option<W> {
        let mut all = self.live.iter().map(|r| self.relations[*r].rows.get(&0));
        all.try_fold(W::of(0), |product, weight| Some(product.times(weight?)))
    }

    /// For each combination of the kept variables the sum over the solutions that have it.
    ///
    /// # Errors
    /// More rows than allowed.
    pub fn root(&self, limits: &TableLimits<'_>) -> Result<Relation<W>, TooWide> {
        let relations: Vec<&Relation<W>> = self.live.iter().map(|r| &self.relations[*r]).collect();
        let to = VariableScope::new(&self.sizes, self.kept.clone())?;
        match relations.is_empty() {
            // No variable at all: the empty assignment is the only solution.
            true => Ok(Relation { scope: to, rows: [(0, W::of(0))].into_iter().collect() }),
            false => joined(&self.sizes, &relations, &to, limits),
        }
    }

    /// Eliminates all variables but the kept ones. A join may be much larger than expected, and
    /// then than those of other variables: joins of few rows are made first.
    fn eliminate_all(&mut self, limits: &TableLimits<'_>) -> Result<(), TooWide> {
        let mut left: Vec<usize> =
            (0..self.sizes.len()).filter(|v| !self.kept.contains(v)).collect();
        let largest = self.relations.iter().map(Relation::len).max().unwrap_or_default();
        let mut rows = INITIAL_ROWS.max(2 * largest).min(limits.rows);
        // Variables whose joins are too large, with how large.
        let mut failed: BTreeMap<usize, usize> = BTreeMap::new();
        while !left.is_empty() {
            let fits = |v: &&usize| failed.get(v).is_none_or(|size| *size <= rows);
            let (next, last) = match self.cheapest(left.iter().filter(fits)) {
                Some(next) => (next, false),
                None if rows == limits.rows && !limits.divide => return Err(TooWide::Rows(rows)),
                None if rows == limits.rows => {
                    (self.cheapest(left.iter()).unwrap_or(left[0]), true)
                }
                None => {
                    let least = failed.values().min().map_or(rows, |size| *size);
                    rows = least.saturating_add(least / 4).max(2 * rows).min(limits.rows);
                    continue;
                }
            };
            let within = TableLimits { rows, divide: last, ..*limits };
            match self.eliminate(next, &within) {
                Ok(changed) => {
                    left.retain(|v| *v != next);
                    failed.retain(|v, _| !changed.contains(v) && *v != next);
                }
                Err(TooWide::Rows(size)) if !last => drop(failed.insert(next, size)),
                Err(TooWide::Key(_)) if !last => drop(failed.insert(next, usize::MAX)),
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// The variable whose relations are expected to have the smallest join.
    fn cheapest<'v>(&self, of: impl Iterator<Item = &'v usize>) -> Option<usize> {
        let costs = of.map(|v| (self.expected(&self.mentioning(*v)), *v));
        costs.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, v)| v)
    }

    fn mentioning(&self, v: usize) -> Vec<usize> {
        self.live.iter().copied().filter(|r| self.relations[*r].scope.has(v)).collect()
    }

    /// Logarithm of the number of rows expected of a join, as if values were independent of each
    /// other.
    fn expected(&self, relations: &[usize]) -> f64 {
        let mut rows = 0.0;
        let mut all = 0.0;
        let mut seen = vec![false; self.sizes.len()];
        for r in relations {
            let Relation { scope, rows: own } = &self.relations[*r];
            rows += (own.len().max(1) as f64).ln();
            for (v, size) in scope.variables().iter().zip(scope.sizes()) {
                let size = f64::from(*size).ln();
                if std::mem::replace(&mut seen[*v], true) { rows -= size } else { all += size }
            }
        }
        rows.min(all)
    }

    /// Eliminates a variable; the variables that were joined with it. After an error the tree is
    /// as before.
    fn eliminate(
        &mut self,
        variable: usize,
        limits: &TableLimits<'_>,
    ) -> Result<BTreeSet<usize>, TooWide> {
        let joined = self.mentioning(variable);
        let mut messages = Vec::new();
        let mut waiting = vec![joined.clone()];
        while let Some(relations) = waiting.pop() {
            match self.message(variable, &relations, limits) {
                Ok(message) => messages.push((relations, message)),
                Err(TooWide::Rows(_) | TooWide::Key(_)) if limits.divide && relations.len() > 1 => {
                    waiting.extend(self.halves(relations));
                }
                Err(why) => return Err(why),
            }
        }
        self.live.retain(|r| !joined.contains(r));
        let mut bucket = Bucket { variable, groups: Vec::new() };
        let mut changed = BTreeSet::new();
        for (relations, message) in messages {
            changed.extend(message.scope.variables());
            self.relations.push(message);
            let message = self.relations.len() - 1;
            self.live.push(message);
            bucket.groups.push(Group { relations, message });
        }
        self.buckets.push(bucket);
        Ok(changed)
    }

    fn message(
        &self,
        variable: usize,
        relations: &[usize],
        limits: &TableLimits<'_>,
    ) -> Result<Relation<W>, TooWide> {
        let relations: Vec<&Relation<W>> = relations.iter().map(|r| &self.relations[*r]).collect();
        let all = relations.iter().flat_map(|r| r.scope.variables()).copied();
        let to = VariableScope::new(&self.sizes, all.filter(|v| *v != variable).collect())?;
        joined(&self.sizes, &relations, &to, limits)
    }

    /// Two groups of about equal width, the relations that share most with the widest beside it.
    fn halves(&self, mut relations: Vec<usize>) -> [Vec<usize>; 2] {
        relations.sort_by_key(|r| std::cmp::Reverse(self.relations[*r].scope.variables().len()));
        let widest = self.relations[relations[0]].scope.clone();
        let strange = |r: &usize| {
            self.relations[*r].scope.variables().iter().filter(|v| !widest.has(**v)).count()
        };
        relations.sort_by_key(strange);
        let near = relations.iter().filter(|r| strange(r) == 0).count();
        let middle = if near < relations.len() && near > 0 {
            near.max(relations.len() / 2)
        } else {
            relations.len() / 2
        };
        let far = relations.split_off(middle.min(relations.len() - 1).max(1));
        [relations, far]
    }
}
