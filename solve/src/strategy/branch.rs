//! Branch and bound over boxes of parameter values.
//!
//! A box is a range of values for each parameter. It is dropped if some condition holds nowhere in it, or if
//! no time in it can be below the best; otherwise it is halved along one parameter, and the half with the
//! lower bound is looked at first. Bounds come from interval arithmetic on the expressions as they are, so
//! that neither tables nor lists are needed, however large the domains.

use std::cell::RefCell;

use tickbound_model::Configuration;
use tickbound_model::interval::Interval;
use tickbound_model::verdict::Found;

use super::entry::{Entry, Run};
use crate::error::SolveError;
use crate::proof::Proof;
use crate::search::Search;
use crate::shortlist::Shortlist;

pub(super) const ENTRY: Entry = Entry::with(Run::Unlisted(run));

pub(super) fn run(search: &Search<'_>) -> Result<Option<Proof>, SolveError> {
    let mut walk = Walk::new(search, |walk| walk.search.bracket.done());
    let bracket = search.bracket;
    let mut open = i64::MAX;
    let complete =
        walk.walk(&|| bracket.bounds().upper().saturating_sub(1), &mut |walk, configuration| {
            let cost = walk.search.claimed(&configuration)?;
            let claimed = walk.search.cost.is_exact().then_some(cost);
            if walk.search.offer(configuration.clone(), claimed)?.is_none() {
                walk.search.too_large(&configuration, cost);
                open = open.min(cost);
            }
            Ok(true)
        })?;
    if complete {
        bracket.raise_rest(open);
        if open == i64::MAX {
            bracket.close();
        }
    }
    Ok((complete && bracket.closed()).then_some(Proof::Branching { boxes: walk.boxes }))
}

/// The configurations that take at most `least` ticks, up to `optima` of them, and the best of the others until
/// there are `top`; the second value says that no other takes `least`.
pub(crate) fn best(
    search: &Search<'_>,
    least: i64,
    (top, optima): (usize, usize),
) -> Result<(Vec<Found>, bool), SolveError> {
    let list = RefCell::new(Shortlist::new(top, least));
    let worst = || list.borrow().worst();
    let stop = |walk: &Walk<'_, '_>| walk.boxes > MOST_BOXES || walk.search.bracket.out_of_time();
    let complete = Walk::new(search, stop).walk(&worst, &mut |walk, configuration| {
        if walk.search.claimed(&configuration)? > worst() {
            return Ok(true);
        }
        let Some(time) = walk.search.offer(configuration.clone(), None)? else { return Ok(true) };
        let mut list = list.borrow_mut();
        list.add(Found { configuration, time });
        Ok(list.optimal() < optima.max(top))
    })?;
    Ok((list.into_inner().into_found(optima), complete))
}

/// Most boxes that are looked at to list the optima.
const MOST_BOXES: u64 = 100_000;

struct Walk<'s, 'a> {
    search: &'s Search<'a>,
    /// The values of each parameter in increasing order.
    values: Vec<Vec<i64>>,
    /// What each slot may be in the present box.
    slots: Vec<Interval>,
    first: usize,
    boxes: u64,
    /// Asked now and then whether to stop.
    stop: fn(&Walk<'s, 'a>) -> bool,
    /// The parameters in the order in which boxes are halved along them.
    order: Vec<usize>,
}

/// The parameters, those first that most factors of the cost depend on: while they are undecided, bounds say
/// little.
fn order(search: &Search<'_>) -> Vec<usize> {
    let weight = search.cost.term().mentions(search.problem());
    let mut order: Vec<usize> = (0..search.problem().parameters.len()).collect();
    order.sort_by_key(|p| std::cmp::Reverse(weight.get(p).copied().unwrap_or(0)));
    order
}

/// For each parameter the first and the last of its values.
type Box = Vec<(u32, u32)>;

type Each<'e, 's, 'a> = &'e mut dyn FnMut(&Walk<'s, 'a>, Configuration) -> Result<bool, SolveError>;

impl<'s, 'a> Walk<'s, 'a> {
    fn new(search: &'s Search<'a>, stop: fn(&Walk<'s, 'a>) -> bool) -> Walk<'s, 'a> {
        let mut values = search.configurations.values().to_vec();
        values.iter_mut().for_each(|v| v.sort_unstable());
        let slots = search.configurations.intervals();
        let first = search.problem().first_parameter();
        Walk { search, values, slots, first, boxes: 0, stop, order: order(search) }
    }

    /// Visits every configuration whose bound is at most `most()`, until `each` says false. True if none was left.
    fn walk(&mut self, most: &dyn Fn() -> i64, each: Each<'_, 's, 'a>) -> Result<bool, SolveError> {
        if self.values.iter().any(Vec::is_empty) {
            return Ok(true);
        }
        let whole: Box = self.values.iter().map(|v| (0, v.len() as u32 - 1)).collect();
        let mut stack = vec![(i64::MIN, whole)];
        while let Some((bound, of)) = stack.pop() {
            if bound > most() {
                continue;
            }
            if self.boxes.is_multiple_of(64) && (self.stop)(self) {
                return Ok(false);
            }
            let Some(split) = self.split(&of) else {
                if !each(self, self.only(&of))? {
                    return Ok(false);
                }
                continue;
            };
            let (low, high) = of[split];
            let middle = low + (high - low) / 2;
            let mut halves = Vec::with_capacity(2);
            for part in [(low, middle), (middle + 1, high)] {
                let mut half = of.clone();
                half[split] = part;
                halves.extend(self.bound(&half).map(|bound| (bound, half)));
            }
            halves.sort_by_key(|(bound, _)| std::cmp::Reverse(*bound));
            stack.extend(halves);
        }
        Ok(true)
    }

    /// The parameter along which a box is halved; `None` for a single configuration.
    fn split(&self, of: &Box) -> Option<usize> {
        self.order.iter().copied().find(|p| of[*p].0 < of[*p].1)
    }

    fn only(&self, of: &Box) -> Configuration {
        Configuration(self.values.iter().zip(of).map(|(v, (low, _))| v[*low as usize]).collect())
    }

    /// What no configuration in the box undercuts; `None` if none is valid. An expression that may lack a
    /// value says nothing.
    fn bound(&mut self, of: &Box) -> Option<i64> {
        self.boxes += 1;
        for (place, (low, high)) in of.iter().enumerate() {
            let values = &self.values[place];
            self.slots[self.first + place] =
                Interval { low: values[*low as usize], high: values[*high as usize] };
        }
        if self.search.configurations.excludes(&self.slots) {
            return None;
        }
        Some(self.search.cost.term().least(&self.slots).unwrap_or(i64::MIN))
    }
}
