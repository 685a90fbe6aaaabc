//! What a launch does, as counts.

use serde_json::{Value, json};
use tickbound_model::Access;
use tickbound_model::count::Counts;

/// Kinds of access, in the order in which counts show them.
pub const COUNTED: [Access; 6] = [
    Access::Global,
    Access::Local,
    Access::Constant,
    Access::Atomic,
    Access::LocalAtomic,
    Access::Compute,
];

/// Counts of a launch by name: accesses of each kind, and barriers. One that fits into no number is text.
#[must_use]
pub fn counts(counts: &Counts) -> Value {
    let number = |n: i128| i64::try_from(n).map_or_else(|_| json!(n.to_string()), Value::from);
    let accesses = COUNTED.iter().map(|a| (a.name().to_owned(), number(counts.of(*a))));
    Value::Object(accesses.chain([("barrier".to_owned(), number(counts.barriers))]).collect())
}
