//! Loads that are waited for together: those of one body between two loops that are not unrolled.

use tickbound_expr::Expr;

use super::footprint::Axis;
use super::number::{SHARES, ceil_div, choice, less, max, min};
use crate::ast::AddressSpace;
use crate::steps::{MemoryAccess, Stride};

/// Loads that are waited for together, at most.
const IN_FLIGHT: i64 = 16;

/// Iterations of a short loop whose loads are waited for together.
pub(super) const SHORT_AT_ONCE: i64 = 4;

/// The loads of a body, and what else it is.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Whether there are loads from global memory, and how far these are from those of the
    /// iteration before: the greatest distance in bytes; `None`: anywhere.
    global: Option<Option<Expr>>,
    /// Requests to global and to local memory in each iteration, behind the last barrier.
    requests: (Expr, Expr),
    /// Waits before barriers, for global and for local memory, in each iteration.
    closed: (Expr, Expr),
    /// Words of 4 bytes of a lane that the loads of an iteration bring.
    pub words: Expr,
    /// Requests for sectors that are new, in 64ths, and all of which that is known.
    new: Option<(Expr, Expr)>,
    /// Requests of an iteration for private arrays in memory, which L1 has.
    pub arrays: Expr,
    /// Whether an address comes from data, which were waited for before.
    from_data: bool,
    /// Whether there is a loop inside.
    pub around_any: bool,
    /// Whether there is real arithmetic.
    pub real: bool,
    /// Whether a loop with real arithmetic that is not unrolled is inside.
    pub around_loop: bool,
}

/// How often loads are waited for, one after another.
#[derive(Debug)]
pub(super) struct Waits {
    /// For lines that are new.
    pub far: Expr,
    /// For lines that L1 has.
    pub near: Expr,
    pub local: Expr,
}

impl Batch {
    /// Adds requests of a load; `axis`: the repetition of the innermost loop that stays.
    pub fn load(&mut self, access: &MemoryAccess, axis: Option<&Axis>, requests: Expr) {
        let local = access.space == AddressSpace::Local;
        let sum = if local { &mut self.requests.1 } else { &mut self.requests.0 };
        *sum += requests;
        if local {
            return;
        }
        self.from_data |= is_from_data(access);
        let distance = axis.and_then(|axis| axis.distance.clone());
        self.global = Some(match (self.global.take(), distance) {
            (None, distance) => distance,
            (Some(Some(before)), Some(distance)) => Some(max(before, distance)),
            _ => None,
        });
    }

    /// Adds requests of which `share` 64ths are for sectors that are new.
    pub fn ask(&mut self, requests: &Expr, share: Expr) {
        let (new, all) = self.new.get_or_insert_with(Default::default);
        *new += requests * share;
        *all += requests;
    }

    /// What is loaded behind a barrier is waited for separately.
    pub fn barrier(&mut self) {
        let (global, local) = std::mem::take(&mut self.requests);
        self.closed.0 += together(global);
        self.closed.1 += together(local);
    }

    /// What is waited for in a loop of `iterations` iterations, in `pieces` pieces, with lines of
    /// `line` bytes and `room` registers for loads in flight.
    pub fn waits(self, line: i64, room: Option<&Expr>, iterations: Expr, pieces: Expr) -> Waits {
        let bodies = if pieces == iterations { 1 } else { SHORT_AT_ONCE };
        let (words, both) = (bodies * self.words, &self.requests.0 + &self.requests.1);
        let together = |loads: Expr| match room {
            Some(room) if loads != Expr::Int(0) => {
                let own = ceil_div(&words * &loads, max(1, &both));
                max(together(loads), ceil_div(own, room))
            }
            _ => together(loads),
        };
        let local = &pieces * (self.closed.1 + together(self.requests.1.clone()));
        let all = &pieces * (self.closed.0 + together(self.requests.0.clone() + self.arrays));
        let Some(distance) = self.global else {
            return Waits { far: Expr::Int(0), near: all, local };
        };
        // Iterations that are less than a line apart load from each new line once.
        let near = distance.as_ref().map_or(Expr::Int(0), |distance| less(distance, line));
        let new = match distance {
            Some(distance) => min(&pieces, ceil_div(iterations * distance, line)),
            None => pieces.clone(),
        };
        let far = match self.new {
            Some((of_sectors, asked)) => {
                let of_sectors = ceil_div(&all * of_sectors, max(1, SHARES * asked));
                max(of_sectors, choice(near, new, 0))
            }
            None => new,
        };
        let far = min(&all, far);
        let before = if self.from_data { pieces } else { Expr::Int(0) };
        let near = all - &far + before;
        Waits { far, near, local }
    }
}

/// How often `loads` loads of one body are waited for.
fn together(loads: Expr) -> Expr {
    ceil_div(loads, IN_FLIGHT)
}

/// Whether an address is computed from what was loaded before.
pub(super) fn is_from_data(access: &MemoryAccess) -> bool {
    let data = |stride: &Stride| matches!(stride, Stride::Data | Stride::Shifted(_));
    data(&access.items) || access.iterations.iter().any(data)
}
