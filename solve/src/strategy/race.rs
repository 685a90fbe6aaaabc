//! Several strategies at once, each with a solver of its own, on one bracket.
//!
//! Each profits from the bounds of the others; the first that closes the bracket stops the rest.
//! Which one that is may differ from run to run, the result does not.

use std::sync::atomic::{AtomicBool, Ordering};

use super::super::instance::interruptible;
use super::{Entry, Formula, SolveError, Strategy, Task, run as run_one};

/// Who takes part, the most promising first.
fn runners() -> Vec<Strategy> {
    let mut ranked: Vec<_> =
        Strategy::ALL.iter().filter_map(|s| s.entry().rank.map(|rank| (rank, *s))).collect();
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, strategy)| strategy).collect()
}

pub(super) const ENTRY: Entry = Entry { leaves_choice: true, ..Entry::on_formula(run) };

fn run(task: &Task<'_>, _: Formula<'_>) -> Result<(), SolveError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let failed = AtomicBool::new(false);
    let results: Vec<Result<(), SolveError>> = std::thread::scope(|scope| {
        // As many as there are processors.
        let runners: Vec<_> = runners()
            .into_iter()
            .take(processors)
            .map(|strategy| {
                let failed = &failed;
                scope.spawn(move || {
                    let result = interruptible(task.bracket, || run_one(strategy, task));
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    result
                })
            })
            .collect();
        runners.into_iter().map(|r| r.join().unwrap_or(Err(SolveError::Panicked))).collect()
    });
    // One closed bracket is enough; an error counts only if nobody got there.
    if task.bracket.closed() && !failed.load(Ordering::Relaxed) {
        return Ok(());
    }
    results.into_iter().find(Result::is_err).unwrap_or(Ok(()))
}
