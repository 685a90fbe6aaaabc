//! What happened when: the record behind timelines.

use crate::Access;

/// Most spans of a trace, unless the options say otherwise.
pub const MAX_SPANS: usize = 1_000_000;

/// What an item did, in the order in which the simulator found out; not sorted by time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Everything that took time.
    pub spans: Vec<Span>,
    /// True if some spans were left out because there were too many.
    pub truncated: bool,
}

/// What a span of time was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpanKind {
    /// An access or work.
    Access(Access),
    /// Waiting in an `until`.
    Until,
    /// Waiting at a barrier, its own price included.
    Barrier,
}

impl SpanKind {
    /// Its name: that of the access, `until`, or `barrier`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Access(access) => access.name(),
            SpanKind::Until => "until",
            SpanKind::Barrier => "barrier",
        }
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
