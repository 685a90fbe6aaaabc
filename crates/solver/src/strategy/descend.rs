//! From the best known time downwards: is there anything faster? The last answer is the proof.

use super::entry::Entry;
use crate::error::SolveError;
use crate::task::FormulaSearch;

pub(super) const ENTRY: Entry = Entry { rank: Some(2), ..Entry::on_formula(run) };

pub(super) fn run(asked: &dyn FormulaSearch) -> Result<(), SolveError> {
    let mut solver = asked.solver()?;
    while !asked.bracket().done() {
        solver.learn()?;
        let ticks = asked.bracket().bounds().upper().saturating_sub(1);
        if !solver.ask(ticks)? {
            break;
        }
    }
    Ok(())
}
