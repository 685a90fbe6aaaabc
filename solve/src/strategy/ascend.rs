//! From the lower bound upwards.
//!
//! The first question is the lower bound itself: where it is tight one call settles all. After a
//! refusal the stride doubles, so that a loose bound costs a logarithm of calls and not a call per
//! tick; after a find it starts again at the (then higher) lower bound.

use super::entry::Entry;
use crate::error::SolveError;
use crate::formula::Formula;
use crate::task::Task;

pub(super) const ENTRY: Entry = Entry { rank: Some(1), ..Entry::on_formula(run) };

fn run(task: &Task<'_>, formula: Formula<'_>) -> Result<(), SolveError> {
    let mut instance = task.questions(formula)?;
    let mut stride = 0i64;
    while !task.bracket.done() {
        instance.learn()?;
        let bounds = task.bracket.bounds();
        let ticks = bounds.lower.saturating_add(stride).min(bounds.upper().saturating_sub(1));
        if !task.ask(instance.as_mut(), ticks)? {
            break;
        }
        let refused = task.bracket.bounds().lower > ticks;
        stride = if refused { (stride * 2).max(1) } else { 0 };
    }
    Ok(())
}
