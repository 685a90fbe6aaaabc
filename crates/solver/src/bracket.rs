//! The bracket around the least time, shared by everything that works on it.
//!
//! It only ever closes: lower bounds rise, upper bounds fall, and every upper bound comes with a
//! configuration that the simulator has run. Several strategies may share one bracket, so each
//! profits from what the others have proved. It is also where "stop" is decided: when the bracket
//! is closed, the time is out, or the user interrupts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tickbound_encodings::system::InternalError;
use tickbound_model::Configuration;
use tickbound_model::verdict::StopReason;

/// What is known at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// No configuration takes fewer ticks.
    pub lower: i64,
    /// Index of the best configuration in the space and its ticks.
    pub best: Option<(usize, i64)>,
}

impl Bounds {
    /// Ticks of the best configuration; the greatest number if there is none.
    pub fn upper(&self) -> i64 {
        self.best.map_or(i64::MAX, |(_, time)| time)
    }

    /// The middle, below the upper end; with no upper end, twice the lower one.
    pub fn middle(&self) -> i64 {
        match self.best {
            Some((_, upper)) => self.lower + (upper - 1 - self.lower) / 2,
            None => self.lower.saturating_mul(2).saturating_add(1),
        }
    }
}

/// The bounds, with the best configuration itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incumbent {
    /// What is known.
    pub bounds: Bounds,
    /// The configuration that `bounds.best` is about.
    pub best: Option<Configuration>,
}

impl Default for Incumbent {
    fn default() -> Incumbent {
        Incumbent { bounds: Bounds { lower: 0, best: None }, best: None }
    }
}

/// Called with what is known whenever that changes.
pub type Observer<'a> = &'a (dyn Fn(&Incumbent) + Sync);

/// The shared bracket.
pub struct Bracket<'a> {
    known: Mutex<Incumbent>,
    stopped: Mutex<Option<StopReason>>,
    /// A lower bound, and the time of a configuration below it.
    contradiction: Mutex<Option<(i64, i64)>>,
    calls: AtomicU64,
    refuted: AtomicI64,
    started: Instant,
    timeout: Option<Duration>,
    /// When the time that is limited began.
    since: Instant,
    interrupt: &'a AtomicBool,
    observer: Observer<'a>,
}

impl<'a> Bracket<'a> {
    /// A bracket that knows nothing yet. `interrupt` is examined, never set.
    pub fn new(
        timeout: Option<Duration>,
        interrupt: &'a AtomicBool,
        observer: Observer<'a>,
    ) -> Bracket<'a> {
        let now = Instant::now();
        Bracket {
            known: Mutex::default(),
            stopped: Mutex::new(None),
            contradiction: Mutex::new(None),
            calls: AtomicU64::new(0),
            refuted: AtomicI64::new(-1),
            started: now,
            timeout,
            since: now,
            interrupt,
            observer,
        }
    }

    /// The same, but the time that is limited began at this moment.
    #[must_use]
    pub fn since(self, moment: Option<Instant>) -> Bracket<'a> {
        Bracket { since: moment.unwrap_or(self.started), ..self }
    }

    /// What is known now.
    pub fn bounds(&self) -> Bounds {
        lock(&self.known).bounds
    }

    /// True if lower and upper bound have met.
    pub fn closed(&self) -> bool {
        let bounds = self.bounds();
        bounds.best.is_some() && bounds.lower >= bounds.upper()
    }

    /// No configuration takes fewer ticks than `lower`; a fault if one that was run did.
    pub fn raise(&self, lower: i64) {
        self.change(|known| {
            let b = &mut known.bounds;
            if lower > b.upper() {
                self.contradicted(lower, b.upper());
            }
            let higher = lower.min(b.upper());
            let better = higher > b.lower;
            b.lower = b.lower.max(higher);
            better
        });
    }

    /// No configuration takes fewer ticks than `lower`, but for those whose time was offered.
    pub fn raise_rest(&self, lower: i64) {
        self.raise(lower.min(self.bounds().upper()));
    }

    /// What has not been offered cannot take less time than the best.
    pub fn close(&self) {
        self.raise_rest(i64::MAX);
    }

    /// A time that was found elsewhere: below the lower bound it is a fault.
    ///
    /// # Errors
    /// The fault.
    pub fn check(&self, time: i64) -> Result<(), InternalError> {
        let lower = self.bounds().lower;
        if time < lower {
            self.contradicted(lower, time);
        }
        self.fault()
    }

    /// What cannot be: a lower bound above the time of a configuration that was run.
    fn contradicted(&self, lower: i64, time: i64) {
        lock(&self.contradiction).get_or_insert((lower, time));
    }

    /// The fault, if bounds and times have contradicted each other.
    ///
    /// # Errors
    /// The fault.
    pub fn fault(&self) -> Result<(), InternalError> {
        match *lock(&self.contradiction) {
            None => Ok(()),
            Some((lower, time)) => Err(InternalError(format!(
                "{lower} ticks were proved to be a lower bound, but a configuration takes {time}"
            ))),
        }
    }

    /// The simulator took `time` ticks for a configuration. Of equal times the earlier
    /// configuration is kept, so that the result does not depend on who found one first.
    pub fn offer(&self, index: usize, configuration: &Configuration, time: i64) {
        let lower = self.bounds().lower;
        if time < lower {
            self.contradicted(lower, time);
        }
        self.change(|known| match known.bounds.best {
            Some((c, t)) if (t, c) <= (time, index) => false,
            _ => {
                known.bounds.best = Some((index, time));
                known.best = Some(configuration.clone());
                true
            }
        });
    }

    /// Forgets the best configuration, whose number is one of the search that offered it, and gives
    /// it back for another search.
    pub fn take_best(&self) -> Option<Configuration> {
        let mut known = lock(&self.known);
        known.bounds.best = None;
        known.best.take()
    }

    fn change(&self, update: impl FnOnce(&mut Incumbent) -> bool) {
        let changed = {
            let mut known = lock(&self.known);
            update(&mut known).then(|| known.clone())
        };
        if let Some(known) = changed {
            (self.observer)(&known);
        }
    }

    /// A plain solver has refuted that anything takes at most `ticks`.
    pub fn refute(&self, ticks: i64) {
        self.refuted.fetch_max(ticks, Ordering::Relaxed);
        self.raise(ticks.saturating_add(1));
    }

    /// The greatest time that a plain solver has refuted; -1 if none.
    pub fn refuted(&self) -> i64 {
        self.refuted.load(Ordering::Relaxed)
    }

    /// Counts a solver call.
    pub fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Solver calls so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Seconds since the bracket was made.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// True if there is nothing left to do, or no time left to do it.
    pub fn done(&self) -> bool {
        self.closed() || self.out_of_time()
    }

    /// True if the user or the clock ended the search; remembers which.
    pub fn out_of_time(&self) -> bool {
        // The clock first: it may also have set the flag.
        let reason = if let Some(timeout) = self.timeout.filter(|t| self.since.elapsed() >= *t) {
            StopReason::TimeOut(timeout.as_secs_f64())
        } else if self.interrupt.load(Ordering::Relaxed) {
            StopReason::Interrupted
        } else {
            return false;
        };
        lock(&self.stopped).get_or_insert(reason);
        true
    }

    /// A solver gave up.
    pub fn give_up(&self, why: String) {
        lock(&self.stopped).get_or_insert(StopReason::Solver(why));
    }

    /// What ended the search, if something did before it was finished.
    pub fn stopped_by(&self) -> Option<StopReason> {
        lock(&self.stopped).clone()
    }

    /// A bracket that knows nothing, with the time that is left to this one.
    pub fn reopened(&self) -> Bracket<'a> {
        let left = self.timeout.map(|t| t.saturating_sub(self.since.elapsed()));
        Bracket::new(left, self.interrupt, &|_| {})
    }
}

/// Locks; a strategy that panicked elsewhere leaves the plain data here intact.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
