//! Answers to what the reader asks.

use serde_json::Value;
use tickbound_opencl_c::ReadError;
use tickbound_opencl_c::outline::Outline;

use crate::draft::Draft;
use crate::macros;

/// Answers what the reader asks. False if it asks nothing, or again.
pub(crate) fn answer(draft: &mut Draft, error: &ReadError, outline: &Outline) -> bool {
    match error {
        ReadError::Unbounded { at, key } if !draft.bounds.contains_key(key) => {
            let bound = draft.inputs.keys().next().map_or(Value::from(16), |n| n.clone().into());
            let line = at.line;
            draft.note(format!(
                "bounds: the loop in line {line} has at most {bound} iterations, a guess"
            ));
            draft.bounds.insert(key.clone(), bound);
            true
        }
        ReadError::Unsided { at, key, .. } if !draft.branches.contains_key(key) => {
            let line = at.line;
            draft.note(format!(
                "branches: both sides of the branch in line {line} count, as it depends on data"
            ));
            draft.branches.insert(key.clone(), "both".into());
            true
        }
        ReadError::Undeclared { values, types, .. } => {
            macros::declare(draft, outline, (values, types))
        }
        ReadError::ManyReadings { structural, .. } => macros::narrow(draft, structural),
        _ => false,
    }
}
