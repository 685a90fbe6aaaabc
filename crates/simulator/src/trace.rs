//! What happened when: the record behind timelines.

use tickbound_model::AccessKind;

/// Most spans of a trace, unless the options say otherwise.
pub const MAX_SPANS: usize = 1_000_000;

/// What an item did, in the order in which the simulator found out; not sorted by time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Everything that took time.
    pub spans: Vec<Span>,
    /// What competing warps waited for, between their `spans`; empty without open schedules.
    pub waits: Vec<Span>,
    /// True if some spans were left out because there were too many.
    pub truncated: bool,
}

/// What a span of time was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// An access or work.
    Access(AccessKind),
    /// Waiting in an `until`.
    Until,
    /// Waiting at a barrier, its own price included.
    Barrier,
    /// A warp waits for what it has loaded.
    Load,
    /// A warp could go on, but its dispatcher runs others: until this moment at least.
    Dispatcher,
    /// A warp could load, but all memory slots of the unit are taken: until this moment at least.
    Slot,
}

impl SpanKind {
    /// Its name: that of the access, `until`, `barrier`, or of what a warp waits for.
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Access(access) => access.name(),
            SpanKind::Until => "until",
            SpanKind::Barrier => "barrier",
            SpanKind::Load => "wait for a load",
            SpanKind::Dispatcher => "wait for a dispatcher",
            SpanKind::Slot => "wait for a memory slot",
        }
    }
}

/// What the warps of a launch with open schedules spend their time on, from the beginning of their
/// group to their own end: ticks, summed over all warps.
///
/// Between two segments a warp first waits for what it has loaded, then for a dispatcher or a slot.
/// Which of the two follows from what kept it last: its dispatcher, if that ran another warp up to
/// the moment at which this one was started, and a slot otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct WarpTicks {
    /// On their dispatchers.
    pub running: i64,
    /// Waiting for what was loaded, after the dispatcher was left.
    pub load: i64,
    /// Ready, waiting for the dispatcher.
    pub dispatcher: i64,
    /// Ready to load, waiting for a memory slot.
    pub slot: i64,
    /// Waiting in an `until`.
    pub until: i64,
    /// Waiting at a barrier, its own price included.
    pub barrier: i64,
}

impl WarpTicks {
    /// All that warps wait for, with what follows the word "wait".
    pub fn waits(&self) -> [(&'static str, i64); 5] {
        [
            ("for loads", self.load),
            ("for dispatchers", self.dispatcher),
            ("for memory slots", self.slot),
            ("in `until`", self.until),
            ("at barriers", self.barrier),
        ]
    }

    /// Counts a span of one warp. Sums beyond 63 bits stay at their greatest value.
    pub(super) fn add(&mut self, kind: SpanKind, ticks: i64) {
        let sum = match kind {
            SpanKind::Access(_) => &mut self.running,
            SpanKind::Until => &mut self.until,
            SpanKind::Barrier => &mut self.barrier,
            SpanKind::Load => &mut self.load,
            SpanKind::Dispatcher => &mut self.dispatcher,
            SpanKind::Slot => &mut self.slot,
        };
        *sum = sum.saturating_add(ticks);
    }
}

/// One statement of one item, or of one warp, that took at least one tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The unit, counted from 0 over all devices.
    pub unit: i64,
    /// The element of the unit; under `published-2021` its dispatcher.
    pub element: i64,
    /// The group; under `published-2023` the activation.
    pub group: i64,
    /// The item's index in its group; for a warp that of its first item.
    pub item: i64,
    /// What kind of statement it was.
    pub kind: SpanKind,
    /// The statement's label; `barrier` for a barrier without a name.
    pub label: String,
    /// First tick.
    pub start: i64,
    /// The tick at which it was over.
    pub end: i64,
}
