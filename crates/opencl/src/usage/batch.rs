//! Loads that are waited for together: those of one body between two loops that are not unrolled.

use tickbound_expr::Expr;

use super::footprint::Axis;
use super::number::{ceil_div, max, min};
use crate::ast::AddressSpace;
use crate::steps::{MemoryAccess, Stride};

/// Loads that are waited for together, at most.
const IN_FLIGHT: i64 = 16;

/// The loads of a body, and what else it is.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Whether there are loads from global memory, and how far these are from those of the
    /// iteration before: the greatest distance in bytes; `None`: anywhere.
    global: Option<Option<Expr>>,
    /// Requests to global and to local memory in each iteration.
    requests: (Expr, Expr),
    /// Requests for private arrays that live in memory, in each iteration.
    arrays: Expr,
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
    /// For local memory.
    pub local: Expr,
}

impl Batch {
    /// Adds requests of a load; `axis` is the repetition of the innermost loop around it
    /// that is not unrolled.
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

    /// Adds requests of a load from a private array in memory: what is its own the item has
    /// stored, and L1 has it.
    pub fn load_own(&mut self, requests: Expr) {
        self.arrays += requests;
    }

    /// What is waited for in a loop of `iterations` iterations, in `pieces` pieces, with lines of
    /// `line` bytes.
    pub fn waits(self, line: i64, iterations: Expr, pieces: Expr) -> Waits {
        let local = &pieces * together(self.requests.1);
        let all = &pieces * together(self.requests.0 + self.arrays);
        let Some(distance) = self.global else {
            return Waits { far: Expr::Int(0), near: all, local };
        };
        let new = match distance {
            Some(distance) => min(&pieces, ceil_div(iterations * distance, line)),
            None => pieces.clone(),
        };
        let far = min(&all, new);
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
