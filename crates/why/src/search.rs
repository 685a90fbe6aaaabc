//! What is asked, and one search on a changed problem.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use tickbound_input::message::one_line;
use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_solver::bracket::Incumbent;
use tickbound_solver::{Objective, SearchOptions, SolveError, TuneResult, tune};

use tickbound_report::answer::values;
use tickbound_report::answer::why::{Finding, Verdict, Why};

/// Reads the problem again, with a number of its platform replaced.
pub type Again<'a> = &'a dyn Fn(&str, i64) -> Result<Problem, String>;

/// Greatest number of searches at a time; each takes its own memory.
const MAX_AT_ONCE: usize = 4;

/// What is asked about.
pub struct WhyRequest<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// This many of its constraints, the last, are not asked about.
    pub fixed: usize,
    /// How the problem is read with another platform.
    pub again: Again<'a>,
    /// How all searches are made.
    pub searches: Searches<'a>,
}

/// How all searches are made, and when all of them end.
#[derive(Clone, Copy)]
pub struct Searches<'a> {
    /// How to search. The time is that of all searches together.
    pub options: &'a SearchOptions,
    /// When all of it began.
    pub since: Instant,
    /// Ends all of it when it becomes true.
    pub interrupt: &'a AtomicBool,
}

/// A problem that is changed in one place.
pub(super) struct Changed {
    /// The problem.
    pub problem: Problem,
    /// How it is changed, for people.
    pub how: String,
}

/// Receives progress.
pub struct WhyObserver<'a> {
    /// The bracket of the search that goes on.
    pub search: &'a (dyn Fn(SearchEvent<'_>) + Sync),
    /// What is known so far.
    pub why: &'a dyn Fn(&Why),
}

/// Progress of a search.
pub enum SearchEvent<'a> {
    /// A search begins on the problem changed so.
    Begins(&'a str),
    /// The search on the problem itself has come so far.
    First(&'a Incumbent),
    /// The search on a changed problem has come so far.
    Changed(&'a Incumbent),
}

impl Searches<'_> {
    /// Everything has to end.
    pub(super) fn is_over(&self) -> bool {
        let late = self.options.timeout.is_some_and(|time| self.since.elapsed() >= time);
        late || self.interrupt.load(Ordering::Relaxed)
    }

    fn options(&self) -> SearchOptions {
        SearchOptions {
            since: Some(self.since),
            top: 0,
            objective: Objective::Best,
            ..self.options.clone()
        }
    }

    /// The search on the problem itself.
    pub(super) fn first(
        &self,
        problem: &Problem,
        observer: &WhyObserver<'_>,
    ) -> Result<TuneResult, SolveError> {
        let observer = |now: &Incumbent| (observer.search)(SearchEvent::First(now));
        tune(problem, &self.options(), self.interrupt, &observer)
    }

    /// The search on a changed problem; `least` is the least time of the problem itself, if there
    /// is one.
    pub(super) fn changed(
        &self,
        Changed { problem, how }: &Changed,
        least: Option<i64>,
        heard: &(dyn Fn(SearchEvent<'_>) + Sync),
    ) -> Result<Finding, SolveError> {
        if self.is_over() {
            return Ok(Finding::default());
        }
        heard(SearchEvent::Begins(how));
        let observer = |now: &Incumbent| heard(SearchEvent::Changed(now));
        match tune(problem, &self.options(), self.interrupt, &observer) {
            Ok(result) => Ok(found(problem, &result, least)),
            Err(fault) if fault.is_fault() => Err(fault),
            // Where the time is up an error may be about that.
            Err(_) if self.is_over() => Ok(Finding::default()),
            Err(why) => Ok(refused(&why)),
        }
    }

    /// Searches on changed problems side by side; `take` gets each finding, with the place of its
    /// problem, when it is there.
    pub(super) fn all_changed(
        &self,
        all: &[Changed],
        least: Option<i64>,
        heard: &(dyn Fn(SearchEvent<'_>) + Sync),
        mut take: impl FnMut(usize, Finding),
    ) -> Result<(), SolveError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let (sender, findings) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..threads.min(MAX_AT_ONCE).min(all.len()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some((place, one)) = {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        all.get(place).map(|one| (place, one))
                    } {
                        // The receiver is gone after a fault.
                        if sender.send((place, self.changed(one, least, heard))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for (place, finding) in findings {
                take(place, finding?);
            }
            Ok(())
        })
    }
}

/// The finding that a changed problem has no time.
pub(super) fn refused(why: &impl ToString) -> Finding {
    let because = Some(one_line(&why.to_string()));
    Finding { status: Verdict::Refused, because, ..Finding::default() }
}

fn found(problem: &Problem, r: &TuneResult, least: Option<i64>) -> Finding {
    let status = match (r.status, r.upper) {
        (Status::Optimal, _) => Verdict::Optimal,
        (Status::Infeasible, _) => Verdict::Infeasible,
        (Status::Bounded, None) if r.lower <= 0 => Verdict::NotKnown,
        (Status::Bounded, _) => Verdict::Bounded,
    };
    let proved = status == Verdict::Optimal;
    Finding {
        status,
        time: r.upper,
        lower: Some(r.lower).filter(|_| status != Verdict::Infeasible),
        saves: least.zip(r.upper).filter(|_| proved).map(|(least, time)| least - time),
        configuration: r.best.as_ref().map(|best| values(problem, &best.configuration)),
        because: None,
    }
}
