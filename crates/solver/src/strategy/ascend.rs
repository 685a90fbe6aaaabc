//! From the lower bound upwards.
//!
//! The first question is the lower bound itself: where it is tight one call settles all. After a
//! refusal the stride doubles, so that a loose bound costs a logarithm of calls and not a call per
//! tick; after a find it starts again at the (then higher) lower bound.

use super::entry::Entry;
use crate::error::SolveError;
use crate::task::FormulaSearch;

pub(super) const ENTRY: Entry = Entry { rank: Some(1), ..Entry::on_formula(run) };

fn run(asked: &dyn FormulaSearch) -> Result<(), SolveError> {
    let mut solver = asked.solver()?;
    let mut stride = 0i64;
    while !asked.bracket().done() {
        solver.learn()?;
        let bounds = asked.bracket().bounds();
        let ticks = bounds.lower.saturating_add(stride).min(bounds.upper().saturating_sub(1));
        if !solver.ask(ticks)? {
            break;
        }
        let refused = asked.bracket().bounds().lower > ticks;
        stride = if refused { (stride * 2).max(1) } else { 0 };
    }
    Ok(())
}
