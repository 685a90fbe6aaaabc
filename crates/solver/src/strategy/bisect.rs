//! Halving the bracket on one live solver, which keeps what it has learned between questions.

use super::entry::Entry;
use crate::error::SolveError;
use crate::task::FormulaSearch;

pub(super) const ENTRY: Entry = Entry { rank: Some(3), ..Entry::on_formula(run) };

fn run(asked: &dyn FormulaSearch) -> Result<(), SolveError> {
    let mut solver = asked.solver()?;
    while !asked.bracket().done() {
        solver.learn()?;
        if !solver.ask(asked.bracket().bounds().middle())? {
            break;
        }
    }
    Ok(())
}
