//! A product that several processes make together, as one of them sees it.

use super::finish::Whole;
use super::index::Budget;
use super::layout::with_layout;
use super::owners::{Exchange, Owners};
use super::plan::Plan;
use super::state_store::StreamError;
use super::supersteps::{StepRows, Supersteps};
use super::together::joined;
use crate::automaton::Automaton;
use crate::limits::ProductLimits;
use crate::product::dense::CellTally;

/// The rank that holds what is whole.
const FIRST: usize = 0;

/// The product of `parts` as [`super::compose`] gives it, made by several processes together, each
/// of which calls this; the first rank gets it. Half of the memory of each is for the search, and
/// the other half of the first one's for the result.
///
/// # Errors
/// It was stopped, there is too little memory, or others cannot be reached. What fails in one
/// process the others do not hear: all must be ended.
pub fn compose_shared(
    parts: &[&Automaton],
    limits: &ProductLimits,
    exchange: &mut (dyn Exchange + Send),
) -> Result<Option<Automaton>, StreamError> {
    let joined = joined(parts);
    let parts = &joined.iter().map(AsRef::as_ref).collect::<Vec<&Automaton>>()[..];
    let plan = Plan::new(parts, limits)?;
    let half = ProductLimits { memory: limits.memory / 2, ..*limits };
    let mut whole = Whole::new(&plan, &half, Budget::new(&half))?;
    let mut failed = None;
    let is_first = exchange.rank() == FIRST;
    share(&plan, &half, exchange, true, true, &mut |_, made| {
        failed = whole.add(made, plan.layout).err();
        failed.is_none()
    })?;
    failed.map_or(Ok(()), Err)?;
    Ok(is_first.then(|| whole.automaton(&plan, parts)).transpose()?)
}

/// The sum of what each rank has counted; the first rank gets it.
pub fn total(
    exchange: &mut dyn Exchange,
    tally: CellTally,
) -> Result<Option<CellTally>, StreamError> {
    let mut words = vec![Vec::new(); exchange.size()];
    words[FIRST] = tally.to_words().to_vec();
    let all = exchange.all_to_all(words).map_err(StreamError::Exchange)?;
    let all = all.iter().filter_map(|words| words.first_chunk::<11>());
    let sum = all.map(|words| CellTally::from_words(*words)).sum();
    Ok((exchange.rank() == FIRST).then_some(sum))
}

/// Makes a product with others; `take` returns whether to go on. With `first`, all steps are taken
/// by the first rank, else those of each by itself; with `keys` they have their conditions, packed.
/// The number of states.
pub(super) fn share(
    plan: &Plan,
    limits: &ProductLimits,
    exchange: &mut (dyn Exchange + Send),
    first: bool,
    keys: bool,
    take: &mut (dyn FnMut(usize, &StepRows) -> bool + Send),
) -> Result<u64, StreamError> {
    with_layout!(plan, layout => {
        // One half for the states that this rank owns, the other for the steps in work.
        let half = ProductLimits { memory: limits.memory / 2, ..*limits };
        let (rank, size) = (exchange.rank(), exchange.size());
        let owners = Owners::new(&plan.states, &half, exchange)?;
        let initial = if rank == FIRST { &plan.initial[..] } else { &[] };
        let supersteps = Supersteps::new(plan, layout, &half, keys, initial, owners)?;
        let (states, _) = supersteps.run(&mut |owners: &mut Owners<'_, '_>, handed| {
            let own = !first || rank == FIRST;
            let exchange = owners.exchange();
            let fail = StreamError::Exchange;
            match handed {
                Some((begin, made)) if own => Ok(take(begin, made)),
                Some((begin, made)) => {
                    exchange.send(FIRST, &pack(begin, made)).map_err(fail)?;
                    Ok(true)
                }
                // Nothing more of this rank.
                None if !own => exchange.send(FIRST, &[]).map_err(fail).map(|()| true),
                None if !first => Ok(true),
                None => {
                    let mut go_on = true;
                    for rank in (0..size).filter(|rank| *rank != FIRST) {
                        while go_on {
                            let words = exchange.receive(rank).map_err(fail)?;
                            let Some((begin, made)) = unpack(&words) else { break };
                            go_on = take(begin, &made);
                        }
                    }
                    Ok(go_on)
                }
            }
        })?;
        Ok(states)
    })
}

/// Steps as words: the number of the first state, how many states, steps, words of all labels and
/// of all conditions, then where rows end, targets two by two, labels, conditions.
fn pack(first: usize, made: &StepRows) -> Vec<u64> {
    let StepRows { ends, targets, labels, conditions } = made;
    let sizes = [first, ends.len(), targets.len(), labels.len(), conditions.len()];
    let mut words = Vec::with_capacity(5 + ends.len() + targets.len().div_ceil(2) + labels.len());
    words.extend(sizes.map(|size| size as u64));
    words.extend(ends.iter().map(|end| *end as u64));
    let two = |two: &[u32]| u64::from(two[0]) | u64::from(*two.get(1).unwrap_or(&0)) << 32;
    words.extend(targets.chunks(2).map(two));
    words.extend_from_slice(labels);
    words.extend_from_slice(conditions);
    words
}

/// The steps of words; none of no words.
fn unpack(words: &[u64]) -> Option<(usize, StepRows)> {
    let (sizes, rest) = words.split_first_chunk::<5>()?;
    let [first, rows, steps, labels, conditions] = sizes.map(|size| size as usize);
    let (ends, rest) = rest.split_at_checked(rows)?;
    let (targets, rest) = rest.split_at_checked(steps.div_ceil(2))?;
    let (labels, conditions) = rest.split_at_checked(labels).filter(|r| r.1.len() == conditions)?;
    let mut targets: Vec<u32> =
        targets.iter().flat_map(|two| [*two as u32, (two >> 32) as u32]).collect();
    targets.truncate(steps);
    let ends = ends.iter().map(|end| *end as usize).collect();
    Some((
        first,
        StepRows { ends, targets, labels: labels.to_vec(), conditions: conditions.to_vec() },
    ))
}
