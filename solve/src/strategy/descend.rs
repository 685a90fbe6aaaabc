//! From the best known time downwards: is there anything faster? The last answer is the proof.

use super::{Formula, SolveError, Task};

pub(super) fn run(task: &Task<'_>, encoded: Formula<'_>) -> Result<(), SolveError> {
    let mut instance = task.questions(encoded);
    while !task.bracket.done() {
        instance.learn();
        let ticks = task.bracket.bounds().upper().saturating_sub(1);
        if !task.ask(instance.as_mut(), ticks)? {
            break;
        }
    }
    Ok(())
}
