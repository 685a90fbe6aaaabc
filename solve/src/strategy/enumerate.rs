//! Simulating configurations one by one, those with the least lower bound first.
//!
//! As soon as the next lower bound reaches the best time, nothing that is left can be faster.

use super::entry::Entry;
use crate::error::SolveError;
use crate::task::Task;

pub(super) const ENTRY: Entry = Entry::on_simulator(run);

pub(super) fn run(task: &Task<'_>) -> Result<(), SolveError> {
    for c in task.most_promising() {
        if task.bracket.done() {
            return Ok(());
        }
        task.bracket.raise_rest(task.lower[c]);
        if !task.bracket.closed() {
            task.replay(c, None)?;
        }
    }
    task.bracket.close();
    Ok(())
}
