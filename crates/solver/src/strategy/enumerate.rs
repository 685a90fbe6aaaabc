//! Simulating configurations one by one, those with the least lower bound first.
//!
//! As soon as the next lower bound reaches the best time, nothing that is left can be faster. Where
//! one takes milliseconds several are simulated at a time; their times count in the same order. One
//! that is too large to be simulated stays open: all others are examined, and the answer is a
//! bracket unless its lower bound excludes it.

use std::time::{Duration, Instant};

use super::entry::{Entry, Run};
use crate::error::SolveError;
use crate::task::{Task, TooLarge};

pub(super) const ENTRY: Entry = Entry::with(Run::OnSimulator(run));

/// A configuration that takes longer is worth its own thread.
const SLOW: Duration = Duration::from_millis(2);

pub(super) fn run(task: &Task<'_>) -> Result<(), SolveError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let order = task.most_promising();
    let (mut rest, mut slow) = (order.as_slice(), false);
    // The first one is the one with the least lower bound.
    let mut open: Option<TooLarge> = None;
    while let Some(first) = rest.first() {
        if task.bracket.done() {
            return Ok(());
        }
        let lower = open.as_ref().map_or(task.lower[*first], |(c, _)| task.lower[*c]);
        task.bracket.raise_rest(lower);
        let (now, later) = rest.split_at(if slow { threads.min(rest.len()) } else { 1 });
        let bounds = task.bracket.bounds();
        let excluded = bounds.best.is_some() && task.lower[*first] >= bounds.upper();
        if !excluded && !task.bracket.closed() {
            let started = Instant::now();
            let too_large = task.times_at_once(now)?;
            open = open.or(too_large.into_iter().next());
            slow = started.elapsed() > SLOW;
        }
        rest = later;
    }
    let upper = task.bracket.bounds().upper();
    match open.filter(|(c, _)| task.lower[*c] < upper) {
        Some((c, error)) => {
            let least = task.lower[c];
            task.bracket.give_up(format!("{error}; it takes {least} ticks or more"));
        }
        None => task.bracket.close(),
    }
    Ok(())
}
