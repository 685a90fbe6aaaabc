//! Several strategies at once, each with its own solver, on one bracket.
//!
//! Each profits from the bounds of the others; the first that closes the bracket stops the rest.
//! Which one that is may differ from run to run, the result does not.

use std::sync::atomic::{AtomicBool, Ordering};

use super::entry::{Entry, OnFormula, OnStructure, Run};
use crate::error::SolveError;
use crate::formula::SmtFormula;
use crate::instance::interruptible;
use crate::proof::Proof;
use crate::search::Search;
use crate::task::Task;

pub(super) const ENTRY: Entry = Entry::with(Run::Together(run));

fn run(task: &Task<'_>, _: SmtFormula<'_>, racers: &[OnFormula]) -> Result<(), SolveError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let failed = AtomicBool::new(false);
    let results: Vec<Result<(), SolveError>> = std::thread::scope(|scope| {
        // As many as there are processors.
        let runners: Vec<_> = racers
            .iter()
            .take(processors)
            .map(|run| {
                let failed = &failed;
                scope.spawn(move || {
                    let result = interruptible(task.bracket, || run(task));
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    result
                })
            })
            .collect();
        runners.into_iter().map(|r| r.join().unwrap_or(Err(SolveError::Panicked))).collect()
    });
    // One closed bracket is enough; an error counts only if none was closed.
    if task.bracket.closed() && !failed.load(Ordering::Relaxed) {
        return Ok(());
    }
    results.into_iter().find(Result::is_err).unwrap_or(Ok(()))
}

/// Elimination and branch and bound at once on one bracket.
pub(super) fn symbolic(search: &Search<'_>) -> Result<Option<Proof>, SolveError> {
    let runners: [OnStructure; 2] = [super::eliminate::run, super::branch::run];
    let results: Vec<Result<Option<Proof>, SolveError>> = std::thread::scope(|scope| {
        let all = runners.map(|run| scope.spawn(move || run(search)));
        all.into_iter().map(|r| r.join().unwrap_or(Err(SolveError::Panicked))).collect()
    });
    let (found, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    match failed.into_iter().next() {
        Some(failed) => failed,
        None => Ok(found.into_iter().flatten().flatten().next()),
    }
}
