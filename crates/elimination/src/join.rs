//! Joining relations, and summing variables out of the join.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::TooWide;
use crate::limits::TableLimits;
use crate::relation::{Relation, Rows};
use crate::scope::{Moves, VariableScope};
use crate::weight::Weight;

/// How many rows pass between two looks at whether to stop.
const PATIENCE: usize = 1 << 16;

/// Groups of rows of the first relation, equal in what they bring to the result, from which a join
/// is estimated.
const SAMPLE: usize = 128;

/// The join of `relations`, of which there is at least one, with all variables summed out that are
/// not in `to`.
///
/// # Errors
/// More rows than allowed, on the way or at the end, with an estimate how many; or a stop.
pub(crate) fn joined<W: Weight>(
    sizes: &[u32],
    relations: &[&Relation<W>],
    to: &VariableScope,
    limits: &TableLimits<'_>,
) -> Result<Relation<W>, TooWide> {
    let order = ordered(relations);
    let (first, others) = (relations[order[0]], &order[1..]);
    let mut scope = first.scope.clone();
    let mut middle = Vec::new();
    let mut last = None;
    for (n, next) in others.iter().map(|r| relations[*r]).enumerate() {
        let all = scope.variables().iter().chain(next.scope.variables()).copied().collect();
        if n + 1 == others.len() {
            last = Some(Matching::new(&scope, next, to));
        } else {
            let after = VariableScope::new(sizes, all)?;
            middle.push((scope.moves(&after), Matching::new(&scope, next, &after)));
            scope = after;
        }
    }
    let join = Join { middle, last, kept: scope.moves(to), limits };
    if !others.is_empty() {
        let size = join.estimated(first, &first.scope.moves(to))?;
        if size > limits.rows {
            return Err(TooWide::Rows(size));
        }
    }
    let rows = first.rows.iter().map(|(key, weight)| (*key, weight.clone())).collect();
    Ok(Relation { scope: to.clone(), rows: join.run(rows)?.0 })
}

/// How a few relations are joined to another.
struct Join<'r, W> {
    /// Those joined first, each with how a key becomes that of the join so far.
    middle: Vec<(Moves, Matching<'r, W>)>,
    /// The one joined last, if there is one.
    last: Option<Matching<'r, W>>,
    /// How a key of the join becomes that of the result.
    kept: Moves,
    limits: &'r TableLimits<'r>,
}

impl<W: Weight> Join<'_, W> {
    /// About the largest number of rows on the way, from a sample of the first relation; 0 if that
    /// is small.
    fn estimated(&self, first: &Relation<W>, moves: &Moves) -> Result<usize, TooWide> {
        let mut groups: Vec<u128> = first.rows.keys().map(|key| moves.apply(*key)).collect();
        groups.sort_unstable_by_key(|group| (FxBuildHasher.hash_one(group), *group));
        groups.dedup();
        let share = groups.len() / SAMPLE;
        if share < 4 {
            return Ok(0);
        }
        // Rows that agree on the result are all there: so sums are as many as in that share.
        let sample: HashSet<u128, FxBuildHasher> = groups.into_iter().take(SAMPLE).collect();
        let rows = first.rows.iter().filter(|(key, _)| sample.contains(&moves.apply(**key)));
        match self.run(rows.map(|(key, weight)| (*key, weight.clone())).collect()) {
            Ok((_, size)) | Err(TooWide::Rows(size)) => Ok(size.saturating_mul(share)),
            Err(why) => Err(why),
        }
    }

    /// What rows of the first relation become, and the largest number of rows on the way.
    fn run(&self, mut rows: Vec<(u128, W)>) -> Result<(Rows<W>, usize), TooWide> {
        let mut largest = rows.len();
        for (kept, matching) in &self.middle {
            let mut passed = Passed::new(rows.len(), self.limits);
            let mut longer = Vec::new();
            for (key, weight) in &rows {
                let kept = kept.apply(*key);
                matching.each(*key, |brought, other| {
                    longer.push((kept | brought, weight.times(other)));
                    passed.one(longer.len())
                })?;
                passed.done += 1;
            }
            rows = longer;
            largest = largest.max(rows.len());
        }
        let (sums, passed) = self.summed(rows)?;
        Ok((sums, largest.max(passed)))
    }

    /// The last step, and its number of rows. Rows that agree on the result come one after another,
    /// so that what they add up to is small enough for a processor's cache.
    fn summed(&self, rows: Vec<(u128, W)>) -> Result<(Rows<W>, usize), TooWide> {
        let mut rows: Vec<(u128, u128, W)> =
            rows.into_iter().map(|(key, weight)| (self.kept.apply(key), key, weight)).collect();
        rows.sort_unstable_by_key(|(kept, ..)| *kept);
        let mut passed = Passed::new(rows.len(), self.limits);
        let (mut sums, mut group) = (Rows::default(), Rows::default());
        for alike in rows.chunk_by(|(a, ..), (b, ..)| a == b) {
            let mut add = |brought: u128, weight: W| {
                group.entry(brought).and_modify(|sum: &mut W| sum.plus(&weight)).or_insert(weight);
                passed.one(sums.len() + group.len())
            };
            for (_, key, weight) in alike {
                match &self.last {
                    None => add(0, weight.clone())?,
                    Some(last) => {
                        last.each(*key, |brought, other| add(brought, weight.times(other)))?;
                    }
                }
            }
            passed.done += alike.len();
            let empty = Rows::with_capacity_and_hasher(group.len(), FxBuildHasher);
            let group = std::mem::replace(&mut group, empty);
            sums.extend(group.into_iter().map(|(brought, sum)| (alike[0].0 | brought, sum)));
        }
        let size = passed.weighed(sums.len());
        Ok((sums, size))
    }
}

/// How many rows a step of a join passes, beside what is allowed.
struct Passed<'l> {
    limits: &'l TableLimits<'l>,
    rows: usize,
    /// Rows that the step has to extend: all, and those that it has.
    all: usize,
    done: usize,
}

impl<'l> Passed<'l> {
    fn new(all: usize, limits: &'l TableLimits<'l>) -> Passed<'l> {
        Passed { limits, rows: 0, all, done: 0 }
    }

    /// One more row, of which `kept` are kept.
    fn one(&mut self, kept: usize) -> Result<(), TooWide> {
        self.rows += 1;
        if self.rows.is_multiple_of(PATIENCE) && (self.limits.stop)() {
            return Err(TooWide::Stopped);
        }
        let size = self.weighed(kept);
        match size > self.limits.rows {
            true => Err(TooWide::Rows(size.saturating_mul(self.all) / (self.done + 1))),
            false => Ok(()),
        }
    }

    /// What is only passed through costs time; what is kept, memory.
    fn weighed(&self, kept: usize) -> usize {
        kept.max(self.rows / 8)
    }
}

/// The join of two relations over `scope`, the variables of both, with the costs that `with` makes
/// of theirs, where `filters` allow it.
pub(crate) fn combined(
    [a, b]: [&Relation; 2],
    filters: &[Arc<Relation>],
    scope: VariableScope,
    with: impl Fn(i64, i64) -> i64,
    limits: &TableLimits<'_>,
) -> Result<Relation, TooWide> {
    let matching = Matching::new(&a.scope, b, &scope);
    let kept = a.scope.moves(&scope);
    let filters: Vec<(Moves, &Relation)> =
        filters.iter().map(|filter| (scope.moves(&filter.scope), &**filter)).collect();
    let mut passed = Passed::new(a.len(), limits);
    let mut rows = Rows::default();
    for (key, cost) in &a.rows {
        let kept = kept.apply(*key);
        matching.each(*key, |brought, other| {
            let key = kept | brought;
            if filters.iter().all(|(moves, of)| of.rows.contains_key(&moves.apply(key))) {
                rows.insert(key, with(*cost, *other));
            }
            passed.one(rows.len())
        })?;
        passed.done += 1;
    }
    Ok(Relation { scope, rows })
}

/// The rows of a relation that a row of another one goes with.
struct Matching<'r, W> {
    relation: &'r Relation<W>,
    /// The key of the other scope as one of the relation.
    across: Moves,
    /// The rows by the variables that both have, unless all are shared.
    index: Option<(u128, Index<'r, W>)>,
}

impl<'r, W> Matching<'r, W> {
    /// Rows of `next` for rows over `scope`, whose own variables become part of a key of `to`.
    fn new(scope: &VariableScope, next: &'r Relation<W>, to: &VariableScope) -> Matching<'r, W> {
        let across = scope.moves(&next.scope);
        let index = (!scope.covers(&next.scope)).then(|| {
            let shared = across.apply(u128::MAX);
            (shared, indexed(next, shared, &next.scope.moves(to)))
        });
        Matching { relation: next, across, index }
    }

    /// Passes what each row that goes with `key` brings to the key of the join, and its weight.
    fn each(
        &self,
        key: u128,
        mut sink: impl FnMut(u128, &W) -> Result<(), TooWide>,
    ) -> Result<(), TooWide> {
        let key = self.across.apply(key);
        let Some((shared, index)) = &self.index else {
            return self.relation.rows.get(&key).map_or(Ok(()), |weight| sink(0, weight));
        };
        let rows = index.get(&(key & shared)).map_or(&[][..], Vec::as_slice);
        rows.iter().try_for_each(|(brought, weight)| sink(*brought, weight))
    }
}

type Index<'r, W> = HashMap<u128, Vec<(u128, &'r W)>, FxBuildHasher>;

/// The rows of a relation, moved, by the bits `shared` of their keys.
fn indexed<'r, W>(relation: &'r Relation<W>, shared: u128, moves: &Moves) -> Index<'r, W> {
    let mut index: Index<'_, W> = HashMap::default();
    for (key, weight) in &relation.rows {
        index.entry(key & shared).or_default().push((moves.apply(*key), weight));
    }
    index
}

/// The order in which to join: the fewest rows first, then what only filters, then what is expected
/// to add the fewest rows.
fn ordered<W>(relations: &[&Relation<W>]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..relations.len()).collect();
    left.sort_by_key(|r| relations[*r].len());
    let mut order = vec![left.remove(0)];
    let mut known: Vec<usize> = relations[order[0]].scope.variables().to_vec();
    while !left.is_empty() {
        let growth = |r: &usize| {
            let scope = &relations[*r].scope;
            let shared =
                scope.variables().iter().zip(scope.sizes()).filter(|(v, _)| known.contains(v));
            let factor: f64 = shared.clone().map(|(_, size)| f64::from(*size)).product();
            let filters = shared.count() == scope.variables().len();
            (!filters, relations[*r].len() as f64 / factor)
        };
        let by_growth = |a: &usize, b: &usize| {
            let (a, b) = (growth(a), growth(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        };
        let best = left.iter().copied().min_by(by_growth).unwrap_or(left[0]);
        left.retain(|r| *r != best);
        known.extend(relations[best].scope.variables());
        order.push(best);
    }
    order
}
