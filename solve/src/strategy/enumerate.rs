//! Simulating configurations one by one, those with the least lower bound first.
//!
//! As soon as the next lower bound reaches the best time, nothing that is left can be faster. Where one takes
//! milliseconds several are simulated at a time; their times count in the same order.

use std::time::{Duration, Instant};

use super::entry::Entry;
use crate::error::SolveError;
use crate::task::Task;

pub(super) const ENTRY: Entry = Entry::on_simulator(run);

/// A configuration that takes longer is worth a thread of its own.
const SLOW: Duration = Duration::from_millis(2);

pub(super) fn run(task: &Task<'_>) -> Result<(), SolveError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let order = task.most_promising();
    let (mut rest, mut slow) = (order.as_slice(), false);
    while let Some(first) = rest.first() {
        if task.bracket.done() {
            return Ok(());
        }
        task.bracket.raise_rest(task.lower[*first]);
        let (now, later) = rest.split_at(if slow { threads.min(rest.len()) } else { 1 });
        if !task.bracket.closed() {
            let started = Instant::now();
            task.times_at_once(now)?;
            slow = started.elapsed() > SLOW;
        }
        rest = later;
    }
    task.bracket.close();
    Ok(())
}
