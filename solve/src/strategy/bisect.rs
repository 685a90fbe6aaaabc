//! Halving the bracket on one live solver, which keeps what it has learned between questions.

use super::entry::Entry;
use crate::error::SolveError;
use crate::formula::Formula;
use crate::task::Task;

pub(super) const ENTRY: Entry = Entry { rank: Some(3), ..Entry::on_formula(run) };

fn run(task: &Task<'_>, formula: Formula<'_>) -> Result<(), SolveError> {
    let mut instance = task.questions(formula)?;
    while !task.bracket.done() {
        instance.learn()?;
        if !task.ask(instance.as_mut(), task.bracket.bounds().middle())? {
            break;
        }
    }
    Ok(())
}
