//! The least ratio of ticks and work over all cycles of a graph (G. B. Dantzig, W. O. Blattner, M.
//! R. Rao: *Finding a cycle in a graph with minimum cost to time ratio*, 1966).
//!
//! Relaxing all steps finds cycles, until one closes or nothing changes; each lowers the ratio.

use std::ops::ControlFlow;

use crate::paths::Step;

/// Most ticks and work of a cycle, and work of a phase: sums of products stay in 127 bits.
pub(crate) const MOST: i128 = 1 << 32;

/// A fraction; what it divides by is positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ratio {
    pub ticks: i128,
    pub work: i128,
}

impl Ratio {
    fn is_large(self) -> bool {
        self.ticks.abs() > MOST || self.work > MOST
    }

    /// What work takes if a tick is this many units, at least.
    pub fn in_units(self, unit: i128) -> i128 {
        (self.ticks * unit).div_euclid(self.work)
    }
}

/// The least ratio over all cycles, which all do work; `Some(None)` without cycles, `None` if
/// `stop` returns true or a cycle is too long.
pub(crate) fn least_ratio(
    steps: &[Step],
    states: u32,
    stop: &dyn Fn() -> bool,
) -> Option<Option<Ratio>> {
    // Above every ratio.
    let all: i128 = steps.iter().map(|s| i128::from(s.ticks.abs())).sum();
    let mut ratio = Ratio { ticks: all + 1, work: 1 };
    let mut found = None;
    loop {
        match negative_cycle(steps, states, ratio, stop) {
            ControlFlow::Continue(()) => return Some(found),
            ControlFlow::Break(None) => return None,
            ControlFlow::Break(Some(cycle)) if cycle.is_large() => return None,
            ControlFlow::Break(Some(cycle)) => {
                ratio = cycle;
                found = Some(cycle);
            }
        }
    }
}

/// The ratio of a cycle with a lesser ratio, if there is any; `Break(None)` at a stop.
fn negative_cycle(
    steps: &[Step],
    states: u32,
    ratio: Ratio,
    stop: &dyn Fn() -> bool,
) -> ControlFlow<Option<Ratio>> {
    let length = |s: &Step| i128::from(s.ticks) * ratio.work - i128::from(s.work) * ratio.ticks;
    let mut at = vec![0_i128; states as usize];
    // By which step a state was reached.
    let mut by: Vec<Option<u32>> = vec![None; states as usize];
    loop {
        let mut changed = false;
        for (n, step) in (0..).zip(steps) {
            let reached = at[step.from as usize] + length(step);
            if reached < at[step.to as usize] {
                at[step.to as usize] = reached;
                by[step.to as usize] = Some(n);
                changed = true;
            }
        }
        if !changed {
            return ControlFlow::Continue(());
        }
        if stop() {
            return ControlFlow::Break(None);
        }
        if let Some(cycle) = closed(steps, &by) {
            return ControlFlow::Break(Some(cycle));
        }
    }
}

/// The ratio of a cycle of the steps by which states were reached.
fn closed(steps: &[Step], by: &[Option<u32>]) -> Option<Ratio> {
    let mut walk = vec![0_u32; by.len()];
    for (number, start) in (1..).zip(0..by.len()) {
        let mut node = start;
        while walk[node] == 0 {
            walk[node] = number;
            let Some(step) = by[node] else { break };
            node = steps[step as usize].from as usize;
        }
        if walk[node] != number || by[node].is_none() {
            continue;
        }
        let (mut ratio, first) = (Ratio { ticks: 0, work: 0 }, node);
        while let Some(step) = by[node] {
            let step = steps[step as usize];
            ratio.ticks += i128::from(step.ticks);
            ratio.work += i128::from(step.work);
            node = step.from as usize;
            if node == first {
                return Some(ratio);
            }
        }
    }
    None
}
