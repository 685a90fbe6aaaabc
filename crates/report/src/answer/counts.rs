//! What a launch does, as counts.

use indexmap::IndexMap;
use tickbound_model::Access;
use tickbound_model::count;

use super::data::Tally;

/// Kinds of access, in the order in which counts show them.
pub const COUNTED: [Access; 8] = [
    Access::Global,
    Access::Local,
    Access::Constant,
    Access::Atomic,
    Access::LocalAtomic,
    Access::SharedAtomic,
    Access::SharedLocalAtomic,
    Access::Compute,
];

/// Counts of a launch by name: accesses of each kind, and barriers.
pub type Counts = IndexMap<String, Tally>;

/// The counts of a launch by name.
pub fn counts(counts: &count::Counts) -> Counts {
    let accesses = COUNTED.iter().map(|a| (a.name(), counts.of(*a)));
    let all = accesses.chain([("barrier", counts.barriers)]);
    all.map(|(name, n)| (name.to_owned(), Tally::from(n))).collect()
}
