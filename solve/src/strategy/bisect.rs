//! Halving the bracket on one live solver, which keeps what it has learned between questions.

use super::{Formula, SolveError, Task, middle};

pub(super) fn run(task: &Task<'_>, encoded: Formula<'_>) -> Result<(), SolveError> {
    let mut instance = task.questions(encoded);
    while !task.bracket.done() {
        instance.learn();
        if !task.ask(instance.as_mut(), middle(task.bracket.bounds()))? {
            break;
        }
    }
    Ok(())
}
