//! Branch and bound over boxes of parameter values.
//!
//! A box is a range of values for each parameter. It is dropped if some condition holds nowhere in
//! it, or if no time in it can be below the best; otherwise it is halved along one parameter, and
//! the half with the lower bound is examined first. Bounds come from the messages of a small
//! elimination ([`BoxBounds`]), if any, and from interval arithmetic on the expressions,
//! which needs neither tables nor lists, however large the domains.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tickbound_elimination::TooWide;
use tickbound_expr::interval::Interval;
use tickbound_model::Configuration;
use tickbound_model::verdict::TimedConfiguration;
use tickbound_timing::parameter_box::{set_box, whole_box};
use tickbound_timing::{ParameterBox, StepBounds};

use super::entry::{Entry, Run};
use crate::box_bounds::BoxBounds;
use crate::error::SolveError;
use crate::proof::Proof;
use crate::search::Search;
use crate::top_list::TopList;

pub(super) const ENTRY: Entry = Entry::with(Run::Symbolic(run));

pub(super) fn run(search: &Search<'_>) -> Result<Option<Proof>, SolveError> {
    let mut walk = Walk::new(search, |walk| walk.search.bracket.done());
    let bracket = search.bracket;
    let open = Cell::new(i64::MAX);
    let most = || bracket.bounds().upper().saturating_sub(1);
    // A box that may have a configuration without a time has no bound.
    let raised = |bound: i64| bracket.raise_rest(bound.min(open.get()).max(0));
    let complete = walk.walk(&most, &raised, &mut |walk, configuration| {
        let cost = walk.search.claimed(&configuration)?;
        let claimed = walk.search.cost.is_exact().then_some(cost);
        if walk.search.offer(configuration.clone(), claimed)?.is_none() {
            walk.search.too_large(&configuration, cost);
            open.set(open.get().min(cost));
        }
        Ok(true)
    })?;
    if complete {
        bracket.raise_rest(open.get());
        if open.get() == i64::MAX {
            bracket.close();
        }
    }
    Ok((complete && bracket.closed()).then_some(Proof::Branching { boxes: walk.boxes }))
}

/// The configurations that take at most `least` ticks, up to `optima` of them, and the best of the
/// others until there are `top`; the second value states whether no other takes at most `least`.
pub(crate) fn best(
    search: &Search<'_>,
    least: i64,
    (top, optima): (usize, usize),
) -> Result<(Vec<TimedConfiguration>, bool), SolveError> {
    let list = RefCell::new(TopList::new(top, least));
    let left_out = Cell::new(false);
    let worst = || list.borrow().worst();
    let stop = |walk: &Walk<'_, '_>| walk.boxes > MAX_BOXES || walk.search.bracket.out_of_time();
    let complete = Walk::new(search, stop).walk(&worst, &|_| {}, &mut |walk, configuration| {
        if walk.search.claimed(&configuration)? > worst() {
            return Ok(true);
        }
        let Some(time) = walk.search.offer(configuration.clone(), None)? else {
            left_out.set(true);
            return Ok(true);
        };
        let mut list = list.borrow_mut();
        list.add(TimedConfiguration { configuration, time });
        Ok(list.optimal() < optima.max(top))
    })?;
    Ok((list.into_inner().into_found(optima), complete && !left_out.get()))
}

/// All configurations in the order of their times, which bound boxes of one configuration.
pub(crate) fn ascending<'s, 'a>(search: &'s Search<'a>) -> Ascending<'s, 'a> {
    let mut walk = Walk::new(search, |walk| walk.search.bracket.out_of_time());
    let whole = whole_box(&walk.values);
    let bound = whole.as_ref().and_then(|whole| walk.bound(whole));
    let waiting = bound.zip(whole).map(|(bound, whole)| Reverse((bound, 0, whole)));
    Ascending { walk, waiting: BinaryHeap::from_iter(waiting) }
}

/// What [`ascending`] returns: configurations with times; an error at the end if some are left.
pub(crate) struct Ascending<'s, 'a> {
    walk: Walk<'s, 'a>,
    waiting: BinaryHeap<Reverse<(i64, u64, ParameterBox)>>,
}

impl Iterator for Ascending<'_, '_> {
    type Item = Result<(i64, Configuration), TooWide>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(Reverse((bound, _, of))) = self.waiting.pop() {
            let walk = &mut self.walk;
            let Some(split) = walk.split(&of) else { return Some(Ok((bound, walk.only(&of)))) };
            let end = match self.waiting.len() >= MAX_WAITING {
                true => Some(TooWide::Rows(MAX_WAITING)),
                false if walk.boxes.is_multiple_of(64) && (walk.stop)(walk) => {
                    Some(TooWide::Stopped)
                }
                false => None,
            };
            if let Some(end) = end {
                self.waiting.clear();
                return Some(Err(end));
            }
            let halves = walk.halves(bound, &of, split);
            self.waiting.extend(halves.into_iter().map(|(b, half)| Reverse((b, walk.boxes, half))));
        }
        None
    }
}

/// Most boxes that are examined to list the optima.
const MAX_BOXES: u64 = 100_000;
/// Most boxes that wait: some hundred megabytes.
const MAX_WAITING: usize = 1 << 20;

struct Walk<'s, 'a> {
    search: &'s Search<'a>,
    /// The values of each parameter in increasing order.
    values: Vec<Vec<i64>>,
    /// What each slot may be in the present box.
    slots: Vec<Interval>,
    first: usize,
    boxes: u64,
    /// FormulaSearch now and then whether to stop.
    stop: fn(&Walk<'s, 'a>) -> bool,
    steps: Option<&'s StepBounds>,
    guide: Option<BoxBounds<'s, 'a>>,
    /// The parameters in the order in which boxes are halved along them.
    order: Vec<usize>,
}

/// The parameters, those of most factors of the cost first: until then bounds say little.
fn order(search: &Search<'_>) -> Vec<usize> {
    let weight = search.cost.term().mentions(search.problem());
    let mut order: Vec<usize> = (0..search.problem().parameters.len()).collect();
    order.sort_by_key(|p| Reverse(weight.get(p).copied().unwrap_or(0)));
    order
}

type Each<'e, 's, 'a> = &'e mut dyn FnMut(&Walk<'s, 'a>, Configuration) -> Result<bool, SolveError>;

impl<'s, 'a> Walk<'s, 'a> {
    fn new(search: &'s Search<'a>, stop: fn(&Walk<'s, 'a>) -> bool) -> Walk<'s, 'a> {
        let values = search.configurations.sorted_values();
        let slots = search.configurations.intervals();
        let first = search.problem().first_parameter();
        let steps = search.step_bounds();
        let guide = if steps.is_none() { BoxBounds::new(search) } else { None };
        let order = match (steps, &guide) {
            (Some(steps), _) => steps.order().to_vec(),
            (None, Some(guide)) => guide.order().to_vec(),
            (None, None) => order(search),
        };
        Walk { search, values, slots, first, boxes: 0, stop, steps, guide, order }
    }

    /// Visits every configuration whose bound is at most `most()`, until `each` returns false. True
    /// if none was left. `raised` gets a lower bound of all configurations still to be visited.
    ///
    /// The box with the least bound is taken next, and searched along the better halves down to a
    /// configuration; the others wait. Where too many wait, it is searched to the end.
    fn walk(
        &mut self,
        most: &dyn Fn() -> i64,
        raised: &dyn Fn(i64),
        each: Each<'_, 's, 'a>,
    ) -> Result<bool, SolveError> {
        let Some(whole) = whole_box(&self.values) else { return Ok(true) };
        let mut waiting = BinaryHeap::from([Reverse((i64::MIN, Reverse(0), whole))]);
        while let Some(Reverse((bound, _, of))) = waiting.pop() {
            if bound > most() {
                break;
            }
            raised(bound);
            let mut next = vec![(bound, of)];
            while let Some((bound, of)) = next.pop() {
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
                let mut halves = self.halves(bound, &of, split);
                let better = halves.pop();
                match waiting.len() < MAX_WAITING {
                    true => waiting.extend(
                        halves.into_iter().map(|(b, half)| Reverse((b, Reverse(self.boxes), half))),
                    ),
                    false => next.extend(halves),
                }
                next.extend(better);
            }
        }
        Ok(true)
    }

    /// The halves of a box that may be valid, with their bounds, the greater first.
    fn halves(&mut self, bound: i64, of: &ParameterBox, split: usize) -> Vec<(i64, ParameterBox)> {
        let (low, high) = of[split];
        let middle = low + (high - low) / 2;
        let mut halves = Vec::with_capacity(2);
        for part in [(low, middle), (middle + 1, high)] {
            let mut half = of.clone();
            half[split] = part;
            // What is true of a box is true of its halves.
            halves.extend(self.bound(&half).map(|own| (own.max(bound), half)));
        }
        halves.sort_by_key(|(bound, _)| Reverse(*bound));
        halves
    }

    /// The parameter along which a box is halved; `None` for a single configuration.
    fn split(&self, of: &ParameterBox) -> Option<usize> {
        self.order.iter().copied().find(|p| of[*p].0 < of[*p].1)
    }

    fn only(&self, of: &ParameterBox) -> Configuration {
        Configuration(self.values.iter().zip(of).map(|(v, (low, _))| v[*low as usize]).collect())
    }

    /// What no valid configuration in the box undercuts, if there is one; no bound without a value.
    fn bound(&mut self, of: &ParameterBox) -> Option<i64> {
        self.boxes += 1;
        if let Some(steps) = self.steps {
            let search = self.search;
            return search.bound_of_box(of, || self.is_open(of).then(|| steps.least(of)).flatten());
        }
        if !self.is_open(of) {
            return None;
        }
        let of_messages = match &self.guide {
            Some(guide) => guide.bound(of)?,
            None => i64::MIN,
        };
        Some(self.search.cost.term().least(&self.slots).unwrap_or(i64::MIN).max(of_messages))
    }

    /// Whether the conditions may hold somewhere in a box, whose intervals it sets.
    fn is_open(&mut self, of: &ParameterBox) -> bool {
        set_box(&mut self.slots[self.first..], of, &self.values);
        !self.search.configurations.excludes(&self.slots)
    }
}
