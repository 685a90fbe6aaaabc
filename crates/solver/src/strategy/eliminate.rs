//! Exact elimination over a join tree of the parameters, its messages as bounds.
//!
//! Configurations come in the order of what the tables say they cost, the least first. Where the
//! tables are exact, the first is the optimum. Where a join was divided, or a product stayed out of
//! the tables, the order is one of lower bounds, and what is still open is closed by simulating
//! until the next bound reaches the best time.

use tickbound_elimination::{Least, TooWide};

use super::entry::{Entry, Run};
use crate::error::SolveError;
use crate::proof::Proof;
use crate::search::{Eliminated, INITIAL_ROWS, Search, limits};

pub(super) const ENTRY: Entry = Entry::with(Run::Symbolic(run));

pub(super) fn run(search: &Search<'_>) -> Result<Option<Proof>, SolveError> {
    // Of several forms one may be exact in few rows; otherwise the smallest form has to do.
    if let Some(exact) = search.eliminated_within(search.rows().min(INITIAL_ROWS)) {
        return ascend(search, exact);
    }
    match search.bounding(&|| search.bracket.done()) {
        Ok(bounds) => ascend(search, bounds),
        Err(why) => Ok(gave_up(search, why)),
    }
}

fn gave_up(search: &Search<'_>, why: TooWide) -> Option<Proof> {
    if !search.bracket.done() {
        search.bracket.give_up(format!("elimination: {why}"));
    }
    None
}

fn ascend(search: &Search<'_>, found: &Eliminated) -> Result<Option<Proof>, SolveError> {
    let Eliminated { tables, tree, root } = found;
    let (bracket, exact) = (search.bracket, tables.is_exact());
    let ticks = |indices: &[u32], sum| tables.ticks(&search.env(indices), sum);
    let stop = || bracket.done();
    let all = tree.ascending_from(root, &limits(search.rows(), &stop), ticks);
    let proof = Proof::Elimination { rows: tree.rows() as u64, exact: exact && tree.is_exact() };
    // No time from this on is excluded: something that could not be simulated may take as long.
    let mut open = i64::MAX;
    for next in all {
        let (bound, indices) = match next {
            Ok(next) => next,
            Err(why) => return Ok(gave_up(search, why)),
        };
        let rest = bound.min(open);
        if bound > Least::FAILS.0 {
            bracket.raise_rest(rest);
        }
        if bracket.closed() {
            return Ok(Some(proof));
        }
        if !search.configurations.allows(&indices) {
            continue;
        }
        let configuration = search.configurations.configuration(&indices);
        // An expression without a value ends the search here.
        let cost = search.claimed(&configuration)?;
        let claimed = search.cost.is_exact().then_some(cost);
        if exact && cost != bound {
            return Err(search.disagreement(&configuration, bound, Some(cost)));
        }
        if bound < i64::MAX && search.offer(configuration.clone(), claimed)?.is_none() {
            search.too_large(&configuration, bound);
            open = open.min(bound);
        }
    }
    if open < i64::MAX {
        return Ok(None);
    }
    bracket.close();
    Ok(Some(proof))
}
