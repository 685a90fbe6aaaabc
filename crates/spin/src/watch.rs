//! When a search, or a part of it, is to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tickbound_os::process::{ProcessLimits, ProcessStop};

/// When programs are to be stopped, and the search with them.
#[derive(Debug, Clone, Copy)]
pub struct Watch<'a> {
    /// Set by the user.
    pub interrupt: &'a AtomicBool,
    /// When the time began.
    started: Instant,
    /// How long it may take from then on.
    timeout: Option<Duration>,
    /// Set when a round of a swarm ends: what its workers look for is found, or their time is up.
    pub settled: Option<&'a AtomicBool>,
}

impl<'a> Watch<'a> {
    /// Until `interrupt` is set, or this time has passed since a moment, or since now.
    pub fn new(
        interrupt: &'a AtomicBool,
        timeout: Option<Duration>,
        since: Option<Instant>,
    ) -> Watch<'a> {
        let started = since.unwrap_or_else(Instant::now);
        Watch { interrupt, started, timeout, settled: None }
    }

    /// The same, or until `settled` is set.
    pub fn or_settled<'b>(self, settled: &'b AtomicBool) -> Watch<'b>
    where
        'a: 'b,
    {
        Watch { settled: Some(settled), ..self }
    }

    pub fn stop(&self) -> Option<ProcessStop> {
        let set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        // The clock first: it may also have set the flag.
        if let Some(timeout) = self.timeout.filter(|t| self.started.elapsed() >= *t) {
            Some(ProcessStop::Time(timeout))
        } else if set(self.interrupt) {
            Some(ProcessStop::Interrupted)
        } else {
            self.settled.is_some_and(set).then_some(ProcessStop::Unneeded)
        }
    }

    /// The limits of a program that is started now.
    pub fn limits(&self) -> ProcessLimits<'a> {
        let time = self.timeout.map(|t| t.saturating_sub(self.started.elapsed()));
        ProcessLimits {
            time,
            interrupt: self.interrupt,
            unneeded: self.settled,
            ..ProcessLimits::default()
        }
    }
}
