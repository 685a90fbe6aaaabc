//! From the best known time downwards: is there anything faster? The last answer is the proof.

use super::entry::Entry;
use crate::error::SolveError;
use crate::formula::Formula;
use crate::task::Task;

pub(super) const ENTRY: Entry = Entry { rank: Some(2), ..Entry::on_formula(run) };

pub(super) fn run(task: &Task<'_>, formula: Formula<'_>) -> Result<(), SolveError> {
    let mut instance = task.questions(formula)?;
    while !task.bracket.done() {
        instance.learn()?;
        let ticks = task.bracket.bounds().upper().saturating_sub(1);
        if !task.ask(instance.as_mut(), ticks)? {
            break;
        }
    }
    Ok(())
}
