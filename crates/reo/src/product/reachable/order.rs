//! The search order of the parts: greedy, so that little is guessed before much is decided.
//!
//! First come parts that have no choice once the names so far are decided, then the part with the
//! fewest bits of choice for each name that it decides for others. Parts whose choice concerns no
//! other part come last, the *tail*; whether they refuse is asked before the first of them chooses.

use std::cmp::Ordering;

use itertools::Itertools;

use super::part_steps::{Move, PartSteps};
use crate::label;

pub(super) struct Order {
    /// Numbers of the parts, as given.
    pub parts: Vec<usize>,
    /// From this place on parts decide nothing for others.
    pub tail: usize,
}

/// The bits of a label on the names of a mask, word by word.
pub(super) fn on<'a>(label: &'a [u64], mask: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    label.iter().zip(mask).map(|(l, m)| l & m)
}

/// The cost of a part that decides nothing for others.
const LAST: u64 = u64::MAX;

/// The order for these parts; of equally good parts the first comes first.
pub(super) fn search_order(prepared: &[PartSteps], names: usize) -> Order {
    let mut owners: Vec<Vec<usize>> = vec![Vec::new(); names];
    for (part, part_steps) in prepared.iter().enumerate() {
        label::bits(&part_steps.names).for_each(|name| owners[name].push(part));
    }
    let mut decided = vec![0; label::words_for(names)];
    let mut waiting = vec![true; prepared.len()];
    let others = |part: usize, name: usize, waiting: &[bool]| {
        owners[name].iter().any(|other| *other != part && waiting[*other])
    };
    let cost = |part: usize, decided: &[u64], waiting: &[bool]| {
        let names = label::bits(&prepared[part].names).filter(|n| !label::has(decided, *n));
        let fresh = names.filter(|name| others(part, *name, waiting)).count() as u64;
        match (bits(choices(&prepared[part], decided)), fresh) {
            (0, _) => 0,
            (_, 0) => LAST,
            (bits, fresh) => (bits << 16) / fresh,
        }
    };
    let mut costs: Vec<u64> = (0..prepared.len()).map(|p| cost(p, &decided, &waiting)).collect();
    let mut order = Order { parts: Vec::with_capacity(prepared.len()), tail: 0 };
    while let Some(next) = (0..prepared.len()).filter(|p| waiting[*p]).min_by_key(|p| costs[*p]) {
        if costs[next] != LAST {
            order.tail = order.parts.len() + 1;
        }
        order.parts.push(next);
        waiting[next] = false;
        let mine: Vec<usize> = label::bits(&prepared[next].names).collect();
        mine.iter().for_each(|name| label::set(&mut decided, *name));
        let near: Vec<usize> =
            mine.iter().flat_map(|n| &owners[*n]).copied().sorted_unstable().dedup().collect();
        for part in near.into_iter().filter(|p| waiting[*p]) {
            costs[part] = cost(part, &decided, &waiting);
        }
    }
    order
}

/// The most choices that a part has in a state when it is known which decided names fire.
fn choices(part_steps: &PartSteps, decided: &[u64]) -> usize {
    let compare = |a: &&Vec<u64>, b: &&Vec<u64>| on(a, decided).cmp(on(b, decided));
    let most = |row: &Vec<Move>| {
        let mut labels: Vec<&Vec<u64>> = row.iter().map(|step| &step.label).collect();
        labels.sort_unstable_by(compare);
        let same = labels.chunk_by(|a, b| compare(a, b) == Ordering::Equal);
        // To do nothing is a choice too, where no decided name fires.
        let size = |group: &[&Vec<u64>]| {
            group.len() + usize::from(on(group[0], decided).all(|word| word == 0))
        };
        same.map(size).max().unwrap_or(1)
    };
    part_steps.rows.iter().map(most).max().unwrap_or(1)
}

/// log2, in sixteenths, nearly; 0 for 1.
fn bits(choices: usize) -> u64 {
    let whole = choices.max(1).ilog2();
    let rest = ((choices as u128) << 4 >> whole) as u64 & 15;
    u64::from(whole) * 16 + rest
}
