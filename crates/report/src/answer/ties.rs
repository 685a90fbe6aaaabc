//! The configurations that take the least time beside the first one, in few words.
//!
//! Those with which the first one ties are described by the parameters in which they differ. A
//! parameter that each optimum may have with any of its values among the optima is listed once
//! instead of in every tie: the optima are the product of its values and what the others have. That
//! is listed only where all optima are known.

use std::collections::BTreeSet;

use tickbound_input::message::grouped;
use tickbound_model::Problem;
use tickbound_solver::TuneResult;

use super::words::{AnswerLine, named};

/// Ties, and values of a parameter, that are named.
const NAMED: usize = 7;

pub(super) fn line(problem: &Problem, r: &TuneResult) -> Option<AnswerLine> {
    let optima = r.optima.iter().filter(|f| Some(f.time) == r.upper);
    let optima: Vec<&[i64]> = optima.map(|f| f.configuration.0.as_slice()).collect();
    let count = r.optima_count.as_ref();
    let whole = !r.more_optima && count.is_none_or(|n| *n == optima.len().into());
    let Ties { free, other } = ties(&optima, whole)?;
    let name = |p: usize| problem.parameters.get(p).map_or("", |p| p.name.as_str()).to_owned();
    let mut said: Vec<String> = other
        .iter()
        .take(NAMED)
        .map(|tie| named(&tie.iter().map(|(p, value)| (name(*p), *value)).collect()))
        .collect();
    if !free.is_empty() {
        let all = free.iter().map(|(p, values)| format!("{} ({})", name(*p), several(values)));
        let verb = if free.len() == 1 { "does" } else { "do" };
        said.insert(0, format!("{} {verb} not matter here", all.collect::<Vec<_>>().join(", ")));
    }
    match other.len().saturating_sub(NAMED) {
        _ if !whole && count.is_some() => {
            said.extend(count.map(|n| format!("{} optimal configurations in all", grouped(n))));
        }
        n if !whole => said.push(format!("and more than {n} others")),
        0 => {}
        n => said.push(format!("and {n} more")),
    }
    Some(("ties:", said.join("; ")))
}

fn several(values: &[i64]) -> String {
    let text: Vec<String> = values.iter().map(i64::to_string).collect();
    match text.as_slice() {
        [first, .., last] if text.len() > NAMED => {
            format!("{} values from {first} to {last}", text.len())
        }
        _ => text.join(", "),
    }
}

#[derive(Debug, PartialEq)]
struct Ties {
    /// Parameters by their places, and their values, of which each optimum may have any.
    free: Vec<(usize, Vec<i64>)>,
    /// What the others have in which optima differ, where it is not what the first one has.
    other: Vec<Vec<(usize, i64)>>,
}

/// The ties of optima; `whole` if these are all. `None` for less than two.
fn ties(optima: &[&[i64]], whole: bool) -> Option<Ties> {
    let (best, others) = optima.split_first().filter(|(_, others)| !others.is_empty())?;
    let values =
        |p: usize| optima.iter().filter_map(|o| o.get(p).copied()).collect::<BTreeSet<_>>();
    let differing: Vec<(usize, BTreeSet<i64>)> =
        (0..best.len()).map(|p| (p, values(p))).filter(|(_, values)| values.len() > 1).collect();
    let is_free = |(p, values): &(usize, BTreeSet<i64>)| {
        let rest = |o: &&[i64]| (o[..*p].to_vec(), o[p + 1..].to_vec());
        let rest: BTreeSet<_> = optima.iter().map(rest).collect();
        whole && differing.len() > 1 && rest.len() * values.len() == optima.len()
    };
    let (free, bound): (Vec<_>, Vec<_>) = differing.iter().cloned().partition(is_free);
    let has = |o: &[i64]| bound.iter().map(|(p, _)| (*p, o[*p])).collect::<Vec<_>>();
    let mut seen = BTreeSet::from([has(best)]);
    let other = others.iter().map(|o| has(o)).filter(|tie| seen.insert(tie.clone())).collect();
    let listed = |(p, values): (usize, BTreeSet<i64>)| (p, values.into_iter().collect());
    Some(Ties { free: free.into_iter().map(listed).collect(), other })
}

#[cfg(test)]
mod tests {
    use super::{Ties, several, ties};

    #[test]
    fn what_does_not_matter_is_told_once() {
        let optima: [&[i64]; 4] = [&[0, 4, 32, 1], &[0, 8, 16, 1], &[1, 4, 32, 1], &[1, 8, 16, 1]];
        let free = vec![(0, vec![0, 1])];
        let expected = Ties { free, other: vec![vec![(1, 8), (2, 16)]] };
        assert_eq!(ties(&optima, true), Some(expected));
        // A product: nothing is left to tell.
        let optima: [&[i64]; 4] = [&[0, 4], &[0, 8], &[1, 4], &[1, 8]];
        let free = vec![(0, vec![0, 1]), (1, vec![4, 8])];
        assert_eq!(ties(&optima, true), Some(Ties { free, other: vec![] }));
        // Where some are missing, or one parameter differs, all are ties.
        let other = vec![vec![(0, 0), (1, 8)], vec![(0, 1), (1, 4)], vec![(0, 1), (1, 8)]];
        assert_eq!(ties(&optima, false), Some(Ties { free: vec![], other }));
        let other = vec![vec![(0, 2)], vec![(0, 3)]];
        assert_eq!(ties(&[&[1], &[2], &[3]], true), Some(Ties { free: vec![], other }));
        assert_eq!(ties(&[&[1]], true), None);
        assert_eq!(ties(&[], true), None);
    }

    #[test]
    fn many_values_are_counted() {
        assert_eq!(several(&[1, 2, 4]), "1, 2, 4");
        assert_eq!(several(&[1, 2, 3, 4, 5, 6, 7, 8]), "8 values from 1 to 8");
    }
}
