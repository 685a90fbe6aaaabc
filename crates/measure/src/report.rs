//! What is asked of a measurement, and what comes of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tickbound_model::Bound;

use super::bench::Stage;
use super::cache::CacheRecord;
use super::lab::LabError;
use super::outcome::{FailureKind, Outcome, Timed};
use super::worker::Described;
use tickbound_device::DeviceChoice;

/// How to measure.
#[derive(Debug, Clone)]
pub struct MeasureOptions {
    /// The device.
    pub choice: DeviceChoice,
    /// How long compiling and running one configuration may take, together.
    pub limit: Duration,
    /// How long one run of the host reference may take.
    pub reference_limit: Duration,
    /// Most bytes of memory that the host reference, and its compiler, may take.
    pub reference_memory: u64,
    /// How long everything may take.
    pub timeout: Option<Duration>,
    /// When that time began; `None`: with the measuring.
    pub since: Option<Instant>,
    /// The cache; none if nothing is to be kept.
    pub cache: Option<PathBuf>,
    /// The program with the worker: this one, as a rule.
    pub program: PathBuf,
}

/// What is said while measuring.
#[derive(Debug)]
pub enum MeasureEvent<'a> {
    /// Something a user should know.
    Note(String),
    /// The reference computes.
    Reference,
    /// A configuration is at this stage; how many are done, and of how many, if that is known.
    Stage(&'a Bound, Stage, usize, Option<usize>),
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
    /// Why it ended before all of them were measured.
    pub stopped: Option<LabError>,
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
    /// The results with a time, fastest first; of equal ones, in the order of configurations.
    pub fn ranked(&self) -> Vec<&Measured> {
        let time = |m: &Measured| m.record.outcome.timed().map(Timed::seconds);
        let mut timed: Vec<(f64, &Measured)> =
            self.results.iter().filter_map(|m| Some((time(m)?, m))).collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0));
        timed.into_iter().map(|(_, m)| m).collect()
    }

    /// How many results failed in this way.
    pub fn failed(&self, kind: FailureKind) -> usize {
        let of_kind =
            |m: &&Measured| matches!(&m.record.outcome, Outcome::Failed(f) if f.kind == kind);
        self.results.iter().filter(of_kind).count()
    }
}
