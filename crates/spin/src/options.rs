//! What is searched, how, within which limits, and who is told of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tickbound_model::verdict::TimedConfiguration;
use tickbound_model::{Problem, Space};

use crate::error::SpinError;
use crate::output::ProgressLine;
use crate::promela::Model;

tickbound_input::named! {
    /// How to search.
    #[derive(Default)]
    pub enum Search {
        /// Take the least simulated time T; refute `OverTime` at T and prove it at T - 1
        Exhaustive = "exhaustive",
        /// Halve the interval of possible times, one verifier run for each bound
        Bisect = "bisect",
        /// One run that prunes what is no better than the best so far
        #[default]
        BranchAndBound = "branch-and-bound",
        /// Bitstate runs with different seeds on all cores; upper bounds only
        Swarm = "swarm",
    }
}

/// Least memory that a search can be given, in bytes.
pub const LEAST_MEMORY: u64 = 64 << 20;
/// Greatest depth limit, in steps: the verifier reads it as a C `int`.
pub const MAX_DEPTH: u64 = 2_000_000_000;

/// Limits of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SpinOptions {
    /// The search.
    pub search: Search,
    /// Most bytes of memory for verifiers that run at the same time, together.
    pub memory: u64,
    /// Stop after this time.
    pub timeout: Option<Duration>,
    /// When that time began; `None`: with the search.
    pub since: Option<Instant>,
    /// How many workers a swarm has; `None` takes one for each core.
    pub workers: Option<usize>,
    /// The depth limit in steps; `None` starts low and raises it as far as memory allows.
    pub depth: Option<u64>,
    /// Keep models, verifiers, trails and logs in this folder, which is made or must be empty.
    pub keep: Option<PathBuf>,
}

impl Default for SpinOptions {
    fn default() -> Self {
        SpinOptions {
            search: Search::default(),
            memory: 4 << 30,
            timeout: None,
            since: None,
            workers: None,
            depth: None,
            keep: None,
        }
    }
}

/// What happens during a search.
#[derive(Debug, Clone, PartialEq)]
pub enum SpinEvent {
    /// The least time lies in this interval, in ticks; `upper` is `None` before the first trail.
    Bounds {
        /// No configuration takes fewer.
        lower: i64,
        /// The best found.
        upper: Option<i64>,
        /// Who takes this long.
        best: Option<TimedConfiguration>,
    },
    /// A run begins, or a verifier is made for it.
    Started {
        /// What is run, as in [`crate::result::RunLog::what`].
        what: &'static str,
        /// The bound `T`.
        bound: Option<i64>,
    },
    /// A run goes on. Short runs say nothing.
    Running(ProgressLine),
}

/// Is told what happens; several workers may call it at once.
pub type SpinObserver<'a> = &'a (dyn Fn(&SpinEvent) + Sync);

/// What is searched.
#[derive(Debug, Clone, Copy)]
pub struct SpinSubject<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Its space, which the model covers.
    pub space: &'a Space,
    /// The space in Promela.
    pub model: &'a Model,
}

impl SpinOptions {
    /// Refuses limits that make no sense.
    pub(crate) fn check(&self) -> Result<(), SpinError> {
        let (memory, depth) = (self.memory, self.depth.unwrap_or(1));
        let what = if memory < LEAST_MEMORY {
            format!("a memory limit of {memory} bytes is too small; give at least 64M")
        } else if self.workers == Some(0) {
            "a swarm of 0 workers; give at least 1".to_owned()
        } else if depth == 0 || depth > MAX_DEPTH {
            format!("a depth limit of {depth} steps; give 1 to 2000000000 steps, or leave it out")
        } else {
            return Ok(());
        };
        Err(SpinError::Unusable(what))
    }
}
