//! How to simulate, and what a simulation returns.

use crate::trace::{MAX_SPANS, Trace, WarpTicks};

/// Most work items, or warps' items, that one unit may hold at once in a simulation.
pub const MAX_ITEMS: i64 = 1 << 20;

/// Most units with warps.
pub const MAX_UNITS: i64 = 1 << 16;

/// How to simulate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulateOptions {
    /// Records what each element does when.
    pub trace: bool,
    /// Most spans the trace may have; what comes later is left out, and the trace is marked.
    pub max_spans: usize,
    /// Most events: statements that an item or a warp executes, iterations of its loops, and items
    /// that are started.
    pub max_events: u64,
    /// Computes the time of iterations that are alike instead of running each of them. The result
    /// is the same, see the module's documentation.
    pub skip_repetition: bool,
}

impl Default for SimulateOptions {
    fn default() -> Self {
        SimulateOptions {
            trace: false,
            max_spans: MAX_SPANS,
            max_events: 50_000_000,
            skip_repetition: true,
        }
    }
}

/// What a simulation has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedRun {
    /// The tick at which everything has finished.
    pub time: i64,
    /// What each element did when, if that was requested.
    pub trace: Option<Trace>,
    /// How many events were simulated one by one.
    pub events: u64,
    /// What the warps spent their time on; `None` where the schedule is not open.
    pub warps: Option<WarpTicks>,
}
