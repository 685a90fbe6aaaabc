//! Answers to what the reader asks.

use serde_json::Value;
use tickbound_opencl::ReadError;
use tickbound_opencl::outline::Outline;

use crate::draft::Draft;
use crate::macros;

/// Answers what the reader asks. False if it asks nothing, or again.
pub(crate) fn answer(draft: &mut Draft, error: &ReadError, outline: &Outline) -> bool {
    match error {
        ReadError::Questions(all) => {
            let answered = all.iter().filter(|question| answer(draft, question, outline));
            answered.count() > 0
        }
        ReadError::Unbounded { at, key, .. } => most_iterations(draft, key.clone(), at.line, ""),
        ReadError::Unsided { at, key, .. } => {
            both_sides(draft, key.clone(), at.line, "depends on data")
        }
        ReadError::Bodiless { name, .. } if !draft.bounds.contains_key(name) => {
            draft.note(format!("bounds: `{name}` has no body, and is taken for one operation"));
            draft.bounds.insert(name.clone(), 1.into());
            true
        }
        // What would have to be read for each iteration by itself.
        ReadError::Differing { inner, key, branch: true, .. } => {
            both_sides(draft, key.clone(), inner.line, "differs between iterations")
        }
        ReadError::Differing { inner, key, .. } => {
            let why = "; they differ with the loop around";
            most_iterations(draft, key.clone(), inner.line, why)
        }
        ReadError::Undeclared { values, types, .. } => {
            macros::declare(draft, outline, (values, types))
        }
        ReadError::ManyReadings { structural, .. } => macros::narrow(draft, structural),
        _ => false,
    }
}

/// Answers how many iterations a loop has of which nothing is known.
fn most_iterations(draft: &mut Draft, key: String, line: u32, why: &str) -> bool {
    if draft.bounds.contains_key(&key) {
        return false;
    }
    let first = || draft.inputs.keys().next().map_or(Value::from(16), |name| name.clone().into());
    let bound = draft.iterations.map_or_else(first, Value::from);
    draft.note(format!("bounds: the loop in line {line} has at most {bound} iterations{why}"));
    draft.bounds.insert(key, bound);
    true
}

/// Answers that both sides of a branch count.
fn both_sides(draft: &mut Draft, key: String, line: u32, why: &str) -> bool {
    if draft.branches.contains_key(&key) {
        return false;
    }
    draft.note(format!("branches: both sides of the branch in line {line} count, as it {why}"));
    draft.branches.insert(key, "both".into());
    true
}
