//! Runs a system for one configuration: the encodings' own interpreter.
//!
//! It serves the tests, which hold it against the simulator, and tells how many steps a
//! configuration needs, so that an unrolling is exactly as deep as it has to be. Systems with choices
//! are run with all choices false, which only says something where that satisfies the constraint.

use thiserror::Error;

use super::{Ex, Node, System};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Steps until the goal held.
    pub steps: usize,
    /// The cost there, in ticks.
    pub cost: i64,
}

/// Why a run has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RunError {
    /// A value left 64 bits.
    #[error("a value of the transition system left 64 bits")]
    Overflow,
    /// The goal was not reached.
    #[error("the goal was not reached within {0} steps")]
    Steps(usize),
}

/// Runs `system` for the configuration with the given index, for at most `limit` steps.
///
/// # Errors
/// If a value overflows or the limit is hit.
pub fn run(system: &System, configuration: usize, limit: usize) -> Result<Run, RunError> {
    let chosen = &system.configurations[configuration];
    let tables: Vec<i64> = system.tables.iter().map(|t| t.value(chosen).unwrap_or(0)).collect();
    let live = system.live();
    let mut values = vec![0i64; system.nodes().len()];
    let mut states = vec![0i64; system.states.len()];
    evaluate(system, &live, &tables, &states, &mut values)?;
    for (state, slot) in system.states.iter().zip(&mut states) {
        *slot = values[state.init.index()];
    }
    for steps in 0..=limit {
        evaluate(system, &live, &tables, &states, &mut values)?;
        if values[system.goal.index()] != 0 {
            return Ok(Run { steps, cost: values[system.cost.index()] });
        }
        for (state, slot) in system.states.iter().zip(&mut states) {
            *slot = values[state.next.index()];
        }
    }
    Err(RunError::Steps(limit))
}

/// Evaluates all live nodes; truth values are 0 and 1.
fn evaluate(
    system: &System,
    live: &[Ex],
    tables: &[i64],
    states: &[i64],
    values: &mut [i64],
) -> Result<(), RunError> {
    for e in live {
        let at = |e: &Ex| values[e.index()];
        let value = match system.node(*e) {
            Node::Int(v) => *v,
            Node::Bool(v) => i64::from(*v),
            Node::State(s) => states[s.index()],
            Node::Table(t) => tables[t.index()],
            Node::Choice(_) => 0,
            Node::Add(a, b) => at(a).checked_add(at(b)).ok_or(RunError::Overflow)?,
            Node::Mul(a, b) => at(a).checked_mul(at(b)).ok_or(RunError::Overflow)?,
            Node::Max(a, b) => at(a).max(at(b)),
            Node::Eq(a, b) => i64::from(at(a) == at(b)),
            Node::Le(a, b) => i64::from(at(a) <= at(b)),
            Node::Not(a) => i64::from(at(a) == 0),
            Node::And(items) => i64::from(items.iter().all(|e| at(e) != 0)),
            Node::Or(items) => i64::from(items.iter().any(|e| at(e) != 0)),
            Node::Ite(c, a, b) => {
                if at(c) != 0 {
                    at(a)
                } else {
                    at(b)
                }
            }
        };
        values[e.index()] = value;
    }
    Ok(())
}
