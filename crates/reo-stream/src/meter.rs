//! How far a job is, for whom it concerns.

use std::any::Any;
use std::time::{Duration, Instant};

use tickbound_input::message::grouped;
use tickbound_reo::product::dense::{CellTally, DenseStream};

/// Who follows a job. It is called from several threads.
pub trait StreamObserver: Sync {
    /// How far the job is, as a sentence, now and then.
    fn say(&self, text: String);

    /// Something is written as a whole: the process should not end before the result is dropped.
    fn writing(&self) -> Box<dyn Any + Send>;
}

/// How far a product is, how fast, and, if its size is known, for how long still.
pub(crate) struct Meter<'a> {
    observer: &'a dyn StreamObserver,
    began: Instant,
    shown: Instant,
    /// Blocks and states of the product.
    size: Option<(usize, u64)>,
    before: CellTally,
}

impl<'a> Meter<'a> {
    pub fn new(
        observer: &'a dyn StreamObserver,
        stream: Option<&DenseStream>,
        before: CellTally,
    ) -> Meter<'a> {
        let now = Instant::now();
        let size = stream.map(|stream| (stream.len(), stream.plan().sizes.states() as u64));
        Meter { observer, began: now, shown: now, size, before }
    }

    /// Shows that `done` blocks are there, which come to `tally`.
    pub fn show(&mut self, done: usize, tally: CellTally) {
        if self.shown.elapsed() < Duration::from_millis(100) {
            return;
        }
        self.shown = Instant::now();
        let seconds = self.began.elapsed().as_secs_f64();
        let steps = (tally.checksum.steps - self.before.checksum.steps) as f64;
        let transitions = grouped(tally.checksum.steps);
        let speed =
            format!("{transitions} transitions, {:.0} million a second", steps / seconds / 1e6);
        self.observer.say(match self.size {
            None => format!("{} states, {speed}", grouped(tally.states)),
            Some((blocks, states)) => {
                let made = (tally.states - self.before.states).max(1) as f64;
                let left = seconds * (states - tally.states) as f64 / made;
                format!("{done} of {blocks} blocks, {speed}, {left:.0} s left")
            }
        });
    }
}
