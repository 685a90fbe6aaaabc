//! The papers' bisection (seed 000, section 2, Fig. 1): every bound is a new run from nothing.
//!
//! It starts from 0 and the time of one simulated configuration, and unrolls the formula anew for a
//! new solver at every bound, as SPIN is started anew there. It exists to show what a live solver
//! and good bounds save.

use super::entry::Entry;
use crate::error::SolveError;
use crate::task::FormulaSearch;

pub(super) const ENTRY: Entry = Entry { from_nothing: true, ..Entry::on_formula(run) };

fn run(asked: &dyn FormulaSearch) -> Result<(), SolveError> {
    while !asked.bracket().done() {
        let mut solver = asked.solver()?;
        if !solver.ask(asked.bracket().bounds().middle())? {
            break;
        }
    }
    Ok(())
}
