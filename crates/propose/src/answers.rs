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
        ReadError::Unbounded { at, key, .. } if !draft.bounds.contains_key(key) => {
            let (bound, line) = (first_input(draft), at.line);
            draft.note(format!("bounds: the loop in line {line} has at most {bound} iterations"));
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
        ReadError::Differing { line, branch, .. } => differing(draft, *line, *branch),
        ReadError::Undeclared { values, types, .. } => {
            macros::declare(draft, outline, (values, types))
        }
        ReadError::ManyReadings { structural, .. } => macros::narrow(draft, structural),
        _ => false,
    }
}

/// Answers what would have to be read for each iteration by itself.
fn differing(draft: &mut Draft, line: u32, branch: bool) -> bool {
    let key = format!("line {line}");
    let known = if branch { &draft.branches } else { &draft.bounds };
    if known.contains_key(&key) {
        return false;
    }
    if branch {
        draft.note(format!(
            "branches: both sides of the branch in line {line} count, as it differs between \
             iterations"
        ));
        draft.branches.insert(key, "both".into());
        return true;
    }
    let bound = first_input(draft);
    draft.note(format!(
        "bounds: the loop in line {line} has at most {bound} iterations; they differ with the loop \
         around"
    ));
    draft.bounds.insert(key, bound);
    true
}

/// The most iterations of a loop of which nothing is known.
fn first_input(draft: &Draft) -> Value {
    draft.inputs.keys().next().map_or(Value::from(16), |name| name.clone().into())
}
