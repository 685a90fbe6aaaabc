//! The least cost of a form: prices, then labels, beams first.

use super::descend::Descent;
use super::form::DirectForm;
use super::labels;
use super::pairs;
use super::path;
use super::prices;
use super::relax::{Relaxation, SCALE};

/// Labels of a place in each pass. Only the last pass cuts none.
const BEAMS: [usize; 4] = [200, 4_000, 80_000, usize::MAX];

/// What is known while a form is searched.
#[derive(Debug, Clone, Copy)]
pub struct Known<'k> {
    /// No assignment costs less.
    pub lower: i64,
    /// The best assignment so far, and its cost.
    pub best: Option<(&'k [u32], i64)>,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solved {
    /// Nothing costs less than the best; if there is none, nothing is allowed.
    pub proved: bool,
    /// The best cost, and an assignment that has it.
    pub best: Option<(i64, Vec<u32>)>,
    /// Labels of all passes, or boxes of the search over pairs.
    pub steps: u64,
}

impl DirectForm {
    /// The least cost; `None` if the form is too large for this. `told` gets what is known whenever
    /// that may have changed.
    pub fn least(
        &self,
        stop: &dyn Fn() -> bool,
        told: &mut dyn FnMut(Known<'_>),
    ) -> Option<Solved> {
        if !self.is_small() {
            return None;
        }
        match path::stages(self) {
            Some(stages) => Some(along_path(Relaxation::new(self, stages), stop, told)),
            None => pairs::least(self, stop, told),
        }
    }
}

impl DirectForm {
    /// The assignments that cost at most `most`, which is the least cost or more, in the order of
    /// their costs, and whether these are all: at most `count` partial ones are kept on the way.
    /// `None` at a stop, or where the form is too large.
    pub fn within(
        &self,
        most: i64,
        count: usize,
        stop: &dyn Fn() -> bool,
    ) -> Option<(Vec<(i64, Vec<u32>)>, bool)> {
        let mut relaxation = Relaxation::new(self, path::stages(self)?);
        prices::find(&mut relaxation, &mut Descent::new(self), stop);
        relaxation.remove(most.checked_add(1)?);
        let (all, whole) = labels::within(&relaxation, most, count, stop)?;
        let mut all: Vec<(i64, Vec<u32>)> =
            all.into_iter().filter_map(|a| Some((self.cost(&a)?, a))).collect();
        all.sort();
        Some((all, whole))
    }
}

fn along_path(
    mut relaxation: Relaxation<'_>,
    stop: &dyn Fn() -> bool,
    told: &mut dyn FnMut(Known<'_>),
) -> Solved {
    let mut descent = Descent::new(relaxation.form);
    prices::find(&mut relaxation, &mut descent, stop);
    let root = relaxation.root();
    let lower = root.div_euclid(SCALE) + i64::from(root.rem_euclid(SCALE) > 0);
    let mut steps = 0;
    let tell = |descent: &Descent<'_>, told: &mut dyn FnMut(Known<'_>)| {
        let best = descent.best.as_ref().map(|(cost, a)| (a.as_slice(), *cost));
        told(Known { lower: best.map_or(lower, |(_, cost)| lower.min(cost)), best });
    };
    tell(&descent, told);
    let cost = |descent: &Descent<'_>| descent.best.as_ref().map_or(i64::MAX, |(cost, _)| *cost);
    let mut proved = lower >= cost(&descent);
    for most in BEAMS {
        if proved || stop() {
            break;
        }
        if descent.best.is_some() {
            relaxation.remove(cost(&descent));
        }
        let Some(passed) = labels::pass(&relaxation, cost(&descent), most, stop) else { break };
        steps += passed.labels;
        proved = passed.whole;
        if let Some(better) = passed.best {
            descent.offer(&better);
            if !proved {
                descent.from(better);
            }
        }
        tell(&descent, told);
    }
    Solved { proved, best: descent.best, steps }
}
