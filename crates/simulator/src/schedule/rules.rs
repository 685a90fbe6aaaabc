//! What an open schedule goes by: prices, limits, and the segments that are started.

use tickbound_model::{AccessKind, Stmt, Warps};

use crate::engine::Engine;
use crate::error::SimulateError;

/// What is the same at all times.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub warps: Warps,
    pub groups: i64,
    /// Items of a group.
    pub local: i64,
    pub barrier: i64,
    pub group_start: i64,
    /// True if groups do the same, so that their numbers do not count.
    pub groups_alike: bool,
    /// True if the warps of a group do the same.
    pub warps_alike: bool,
    /// True if the kernel looks at marks.
    pub marks_count: bool,
}

/// An access that takes time.
#[derive(Clone, Copy)]
pub(super) struct Segment<'p> {
    pub stmt: &'p Stmt,
    pub access: AccessKind,
    /// Ticks for which it occupies its dispatcher; at least 1.
    pub occupies: i64,
    /// Ticks from then until the warp goes on.
    pub latency: i64,
}

impl Rules {
    /// What an access takes. Only accesses to global memory have a latency.
    pub fn segment<'p>(
        &self,
        engine: &Engine<'p>,
        stmt: &'p Stmt,
        access: AccessKind,
        amount: i64,
    ) -> Result<Segment<'p>, SimulateError> {
        let (price, latency) = match access {
            AccessKind::Global => (self.warps.global_issue, self.warps.global_latency),
            other => (engine.problem.platform.price(other), 0),
        };
        let occupies = engine.later(&stmt.at, 0, price, amount)?;
        Ok(Segment { stmt, access, occupies, latency })
    }
}

impl Segment<'_> {
    pub fn needs_slot(&self) -> bool {
        self.access == AccessKind::Global
    }
}

/// Numbers of units, dispatchers and warps are never negative.
pub(super) fn index(number: i64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
