//! Measuring: runs configurations of a kernel on an OpenCL device.
//!
//! In goes a problem whose kernel is a source file, and some of its configurations; out come a
//! [`Report`] with the time of each, or why it has none, and a [`cache`] that is written as they
//! come. What happens to one configuration:
//!
//! 1. it becomes a [`job::Job`]: macros, arguments and launch worked out;
//! 2. if the cache has a result for this very job, that is it;
//! 3. the host [`mod@reference`] says what the outputs should be;
//! 4. a worker process ([`worker`], kept and watched by [`lab`]) builds the program, runs the kernel
//!    once, compares, warms up, and repeats until the time is known well enough ([`mod@bench`],
//!    [`sample`]);
//! 5. the result goes into the cache.
//!
//! Nothing that a kernel does ends the measuring: one that does not compile, cannot be launched,
//! crashes, hangs or computes wrong numbers is a [`outcome::Failure`] with one line that says so. Only a
//! device that has vanished, the user, or the time does.
//!
//! [`score`] compares measured times with the model's ranking; [`t4`] writes results for other tools.
//!
//! To run kernels of one's own, without a problem file: open a [`lab::Lab`], and give it
//! [`job::Job`]s.

pub mod bench;
pub mod cache;
mod campaign;
pub mod check;
pub mod data;
pub mod files;
pub mod job;
pub mod lab;
pub mod log;
pub mod outcome;
pub mod reference;
pub mod sample;
pub mod score;
pub mod select;
pub mod t4;
pub mod trouble;
pub mod worker;

use std::path::PathBuf;
use std::time::Duration;

use tickbound_model::{Bound, ModelError};

use crate::device::Choice;
use bench::Stage;
use cache::{CacheError, Record};
pub use campaign::measure;
use lab::LabError;
use outcome::{FailureKind, Outcome};
use worker::Described;

/// How to measure.
#[derive(Debug, Clone)]
pub struct Options {
    /// The device.
    pub choice: Choice,
    /// How long compiling and running one configuration may take, together.
    pub limit: Duration,
    /// How long one run of the host reference may take.
    pub reference_limit: Duration,
    /// How long everything may take.
    pub timeout: Option<Duration>,
    /// The cache; none if nothing is to be kept.
    pub cache: Option<PathBuf>,
    /// The program with the worker: this one, as a rule.
    pub program: PathBuf,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The problem has nothing to run.
    #[error(
        "the problem names no kernel in OpenCL C, which is what is measured; write \"kernel\": {{ \"opencl\": ..., \"entry\": ... }}"
    )]
    NoSource,
    /// The problem is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A number of the problem is at fault.
    #[error("{at}: {why}; change it, or exclude this configuration by a constraint")]
    Number {
        /// The field.
        at: String,
        /// What is wrong.
        why: String,
    },
    /// A file of the problem cannot be read.
    #[error("{}: {error}; correct its path in the problem file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The host reference cannot be used.
    #[error("{at}: {why}")]
    Reference {
        /// File and line.
        at: String,
        /// What is wrong.
        why: String,
    },
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The device cannot be used.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The user interrupted before anything was measured.
    #[error("interrupted")]
    Interrupted,
}

impl MeasureError {
    /// Nothing is at fault; there was no time.
    #[must_use]
    pub fn is_only_stopped(&self) -> bool {
        matches!(self, MeasureError::Interrupted)
            || matches!(self, MeasureError::Lab(LabError::Interrupted | LabError::TimeUp))
    }
}

/// What is said while measuring.
#[derive(Debug)]
pub enum Event<'a> {
    /// Something a person should know.
    Note(String),
    /// The reference computes.
    Reference,
    /// A configuration is at this stage; how many are done, of how many.
    Stage(&'a Bound, Stage, usize, usize),
    /// A configuration has been measured.
    Measured(&'a Bound, &'a Record),
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The device.
    pub device: Described,
    /// The results, in the order of the configurations.
    pub results: Vec<Measured>,
    /// How many configurations were asked for.
    pub asked: usize,
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
    pub record: Record,
    /// It was in the cache.
    pub cached: bool,
}

impl Report {
    /// The results with a time, fastest first; of equal ones, in the order of configurations.
    #[must_use]
    pub fn ranked(&self) -> Vec<&Measured> {
        let time = |m: &Measured| m.record.outcome.timed().map(outcome::Timed::seconds);
        let mut timed: Vec<(f64, &Measured)> =
            self.results.iter().filter_map(|m| Some((time(m)?, m))).collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0));
        timed.into_iter().map(|(_, m)| m).collect()
    }

    /// How many results failed in this way.
    #[must_use]
    pub fn failed(&self, kind: FailureKind) -> usize {
        let of_kind =
            |m: &&Measured| matches!(&m.record.outcome, Outcome::Failed(f) if f.kind == kind);
        self.results.iter().filter(of_kind).count()
    }
}
