//! What a launch does, as counts.

use indexmap::IndexMap;
use tickbound_model::{AccessKind, count};

use super::data::Tally;

/// Kinds of access, in the order in which counts show them.
pub const COUNTED: [AccessKind; 8] = [
    AccessKind::Global,
    AccessKind::Local,
    AccessKind::Constant,
    AccessKind::Atomic,
    AccessKind::LocalAtomic,
    AccessKind::SharedAtomic,
    AccessKind::SharedLocalAtomic,
    AccessKind::Compute,
];

/// Counts of a launch by name: accesses of each kind, and barriers.
pub type Counts = IndexMap<String, Tally>;

/// The counts of a launch by name.
pub fn counts(counts: &count::LaunchCounts) -> Counts {
    let accesses = COUNTED.iter().map(|a| (a.name(), counts.of(*a)));
    let all = accesses.chain([("barrier", counts.barriers)]);
    all.map(|(name, n)| (name.to_owned(), Tally::from(n))).collect()
}
