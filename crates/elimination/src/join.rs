//! Joining relations, and summing variables out of the join.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::TooWide;
use crate::limits::TableLimits;
use crate::relation::{Relation, Rows};
use crate::scope::VariableScope;
use crate::weight::Weight;

/// How many rows pass between two looks at whether to stop.
const PATIENCE: usize = 1 << 16;

/// The join of `relations`, of which there is at least one, with all variables summed out that are
/// not in `to`.
///
/// # Errors
/// More rows than allowed, on the way or at the end, or a stop.
pub(crate) fn joined<W: Weight>(
    sizes: &[u32],
    relations: &[&Relation<W>],
    to: &VariableScope,
    limits: &TableLimits<'_>,
) -> Result<Relation<W>, TooWide> {
    let order = ordered(relations);
    let mut sum = Relation { scope: to.clone(), rows: Rows::default() };
    let first = relations[order[0]];
    let mut part = Part { scope: first.scope.clone(), rows: Vec::new() };
    if order.len() == 1 {
        let moves = first.scope.moves(to);
        for (key, weight) in &first.rows {
            add(&mut sum.rows, moves.apply(*key), weight.clone());
        }
        return Ok(sum);
    }
    part.rows = first.rows.iter().map(|(key, weight)| (*key, weight.clone())).collect();
    for (n, r) in order.iter().enumerate().skip(1) {
        let next = relations[*r];
        let last = n + 1 == order.len();
        let all = part.scope.variables().iter().chain(next.scope.variables()).copied().collect();
        let scope = if last { to.clone() } else { VariableScope::new(sizes, all)? };
        let mut rows = Vec::new();
        let mut passed = 0usize;
        extended(&part, next, &scope, &mut |key, weight| {
            passed += 1;
            if passed.is_multiple_of(PATIENCE) && (limits.stop)() {
                return Err(TooWide::Stopped);
            }
            if last {
                add(&mut sum.rows, key, weight);
            } else {
                rows.push((key, weight));
            }
            // What is only passed through costs time; what is kept, memory.
            let kept = rows.len().max(sum.rows.len());
            if kept > limits.rows || passed > limits.rows.saturating_mul(8) {
                return Err(TooWide::Rows(limits.rows));
            }
            Ok(())
        })?;
        part = Part { scope, rows };
    }
    Ok(sum)
}

/// A join on its way.
struct Part<W> {
    scope: VariableScope,
    rows: Vec<(u128, W)>,
}

fn add<W: Weight>(rows: &mut Rows<W>, key: u128, weight: W) {
    rows.entry(key).and_modify(|known| known.plus(&weight)).or_insert(weight);
}

/// Passes every row of the join of `part` and `next`, as a key of `scope`, to `sink`.
fn extended<W: Weight>(
    part: &Part<W>,
    next: &Relation<W>,
    scope: &VariableScope,
    sink: &mut impl FnMut(u128, W) -> Result<(), TooWide>,
) -> Result<(), TooWide> {
    let (kept, across) = (part.scope.moves(scope), part.scope.moves(&next.scope));
    if part.scope.covers(&next.scope) {
        for (key, weight) in &part.rows {
            if let Some(other) = next.rows.get(&across.apply(*key)) {
                sink(kept.apply(*key), weight.times(other))?;
            }
        }
        return Ok(());
    }
    // The variables that both have, as bits of the second one's key.
    let shared = across.apply(u128::MAX);
    let (index, brought) = (indexed(next, shared), next.scope.moves(scope));
    for (key, weight) in &part.rows {
        let Some(others) = index.get(&(across.apply(*key) & shared)) else { continue };
        let kept = kept.apply(*key);
        for (other_key, other) in others {
            sink(kept | brought.apply(*other_key), weight.times(other))?;
        }
    }
    Ok(())
}

type Index<'r, W> = HashMap<u128, Vec<(u128, &'r W)>, FxBuildHasher>;

/// The rows of a relation by the bits `shared` of their keys.
fn indexed<W>(relation: &Relation<W>, shared: u128) -> Index<'_, W> {
    let mut index: Index<'_, W> = HashMap::default();
    for (key, weight) in &relation.rows {
        index.entry(key & shared).or_default().push((*key, weight));
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
