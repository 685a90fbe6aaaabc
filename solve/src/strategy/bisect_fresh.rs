//! The papers' bisection (seed 000, section 2, Fig. 1): every bound is a new run from nothing.
//!
//! It starts from 0 and the time of one simulated configuration, and unrolls the formula anew for a
//! new solver at every bound, as SPIN is started anew there. It exists to show what a live solver
//! and good bounds save.

use super::entry::Entry;
use crate::error::SolveError;
use crate::formula::Formula;
use crate::task::Task;

pub(super) const ENTRY: Entry = Entry { from_nothing: true, ..Entry::on_formula(run) };

fn run(task: &Task<'_>, formula: Formula<'_>) -> Result<(), SolveError> {
    while !task.bracket.done() {
        let mut instance = task.questions(formula)?;
        if !task.ask(instance.as_mut(), task.bracket.bounds().middle())? {
            break;
        }
    }
    Ok(())
}
