//! What is asked of a measurement, and what comes of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tickbound_model::Bound;

use super::cache::CacheRecord;
use super::floors::{FloorReport, Floors};
use super::outcome::{FailureKind, Outcome};
use super::supervisor::SupervisorError;
use super::timing_run::Stage;
use super::versus::Versus;
use super::worker::Described;
use tickbound_device::DeviceChoice;

/// How to measure.
#[derive(Debug, Clone)]
pub struct MeasureOptions {
    /// The devices: one, or several that are equal.
    pub choices: Vec<DeviceChoice>,
    /// How long compiling one configuration may take, and how long running it.
    pub limit: Duration,
    /// Processes that compile ahead; 0: the one of kernels; `None`: one per core, 8 at most.
    pub compilers: Option<usize>,
    /// A configuration whose first run takes this many times the best so far runs once.
    pub cutoff: f64,
    /// Caches are emptied before each run.
    pub flush_cache: bool,
    /// After this time nothing else is begun, but the best are timed in turns.
    pub budget: Option<Duration>,
    /// The user's own configuration: measured first, and compared with the best.
    pub baseline: Option<Bound>,
    /// How long one run of the host reference may take.
    pub reference_limit: Duration,
    /// Most bytes of memory that the host reference, and its compiler, may take.
    pub reference_memory: u64,
    /// How long everything may take.
    pub timeout: Option<Duration>,
    /// When these times began; `None`: with the measuring.
    pub since: Option<Instant>,
    /// Floors, where the platform has them; they hold on its device only.
    pub floors: Option<Floors>,
    /// The cache; none if nothing is to be kept.
    pub cache: Option<PathBuf>,
    /// The program with the worker: this one, as a rule.
    pub program: PathBuf,
}

/// Progress of a measurement.
#[derive(Debug)]
pub enum MeasureEvent<'a> {
    /// Something a user should know.
    Note(String),
    /// The reference computes.
    Reference,
    /// A configuration is at this stage; how many are done, and of how many, if that is known.
    Stage(&'a Bound, Stage, usize, Option<usize>),
    /// As many of the best are timed in turns.
    Finals(usize),
    /// A configuration has been measured.
    Measured(&'a Bound, &'a CacheRecord),
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureReport {
    /// The device.
    pub device: Described,
    /// The results, in the order in which they were requested.
    pub results: Vec<Measured>,
    /// How many configurations were requested.
    pub asked: usize,
    /// How many there were to choose from, where a guide chose.
    pub candidates: Option<usize>,
    /// There is a reference that outputs were compared with.
    pub checked: bool,
    /// The best beside the user's own configuration, where there is one and both have times.
    pub versus: Option<Versus>,
    /// What came of floors, where they hold on the device.
    pub floor: Option<FloorReport>,
    /// The budget was spent before all of them were measured.
    pub spent: bool,
    /// Why it ended before all of them were measured.
    pub stopped: Option<SupervisorError>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// A configuration's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The configuration with its values.
    pub bound: Bound,
    /// What came of it.
    pub record: CacheRecord,
    /// It was in the cache.
    pub cached: bool,
}

impl MeasureReport {
    /// The results with a time, best first: those that ran in turns before the others, each by
    /// time; of equal ones, in the order of configurations. The user's own configuration comes
    /// first unless another one is [faster](Versus::is_faster).
    pub fn ranked(&self) -> Vec<&Measured> {
        let own = self.versus.filter(|versus| !versus.is_faster()).map(|versus| versus.baseline);
        let key = |(place, m): (usize, &Measured)| {
            let timed = m.record.outcome.timed()?;
            Some((Some(place) != own, timed.rounds.is_empty(), timed.best_known_seconds()))
        };
        let results = self.results.iter().enumerate();
        let mut timed: Vec<_> = results.filter_map(|of| Some((key(of)?, of.1))).collect();
        timed.sort_by(|((a, b, c), _), ((d, e, f), _)| (a, b).cmp(&(d, e)).then(c.total_cmp(f)));
        timed.into_iter().map(|(_, m)| m).collect()
    }

    /// How many results failed in this way.
    pub fn failed(&self, kind: FailureKind) -> usize {
        let of_kind =
            |m: &&Measured| matches!(&m.record.outcome, Outcome::Failed(f) if f.kind == kind);
        self.results.iter().filter(of_kind).count()
    }
}
