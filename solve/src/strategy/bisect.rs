//! Halving the bracket on one live solver, which keeps what it has learned between questions.

use super::{Entry, Formula, SolveError, Task, middle};

pub(super) const ENTRY: Entry = Entry { rank: Some(3), ..Entry::on_formula(run) };

fn run(task: &Task<'_>, formula: Formula<'_>) -> Result<(), SolveError> {
    let mut instance = task.questions(formula)?;
    while !task.bracket.done() {
        instance.learn()?;
        if !task.ask(instance.as_mut(), middle(task.bracket.bounds()))? {
            break;
        }
    }
    Ok(())
}
