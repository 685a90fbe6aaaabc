//! What a search with SPIN returns, whether it was finished or stopped.

use serde::{Deserialize, Serialize};
use tickbound_model::verdict::{Status, TimedConfiguration};

use crate::options::Search;
use crate::output::{Coverage, VerifierVerdict};
use crate::promela::Style;
use crate::tools::SpinTools;
use crate::trail::SpinTrail;

/// What ended a search before it was finished.
#[derive(Debug, Clone, PartialEq)]
pub enum SpinStop {
    /// The time given ran out; in seconds.
    TimeOut(f64),
    /// The user interrupted it.
    Interrupted,
    /// A run was cut at its depth limit; in steps.
    Depth(u64),
    /// A run needed more memory than it was given; in bytes.
    Memory(u64),
}

impl std::fmt::Display for SpinStop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpinStop::TimeOut(seconds) => write!(f, "time-out of {seconds} s"),
            SpinStop::Interrupted => f.write_str("interrupt"),
            SpinStop::Depth(steps) => write!(f, "depth limit of {steps} steps"),
            SpinStop::Memory(bytes) => write!(f, "memory limit of {} MiB", bytes >> 20),
        }
    }
}

/// What a least time rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpinProof {
    /// A complete, exhaustive run found `OverTime` to hold at one tick less.
    OverTime,
    /// A complete, exhaustive branch-and-bound run found nothing better.
    BranchAndBound,
}

/// One run of a program that SPIN generated, or of SPIN's own simulator.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunLog {
    /// What was run: `simulation`, `NonTerm`, `OverTime`, `branch and bound`.
    pub what: &'static str,
    /// The bound `T` in ticks, where there is one.
    pub bound: Option<i64>,
    /// The seed of a random run.
    pub seed: Option<u64>,
    /// What it came to.
    pub verdict: VerifierVerdict,
    /// How states were stored.
    pub coverage: Option<Coverage>,
    /// Bits of the hash array for each state, in a bitstate run.
    pub hash_factor: Option<f64>,
    /// States stored.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Greatest depth reached, in steps.
    pub depth: u64,
    /// The depth limit, in steps.
    pub depth_limit: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Wall-clock seconds of `spin -a`; 0 where an earlier verifier was used again.
    pub spin_seconds: f64,
    /// Wall-clock seconds of the C compiler; 0 where an earlier verifier was used again.
    pub compile_seconds: f64,
    /// Wall-clock seconds of the run itself.
    pub seconds: f64,
    /// Trails it wrote.
    pub trails: usize,
}

/// The result of [`crate::search`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpinResult {
    /// How much is known.
    pub status: Status,
    /// No configuration takes fewer ticks than this.
    pub lower: i64,
    /// Ticks of the best run found; `None` if none was.
    pub upper: Option<i64>,
    /// The best configuration found.
    pub best: Option<TimedConfiguration>,
    /// What the least time rests on; `None` unless the status is optimal.
    pub proof: Option<SpinProof>,
    /// The search.
    pub search: Search,
    /// How the model was written.
    pub style: Style,
    /// All runs, in the order in which they ended.
    pub runs: Vec<RunLog>,
    /// All trails, best first: by time, then by the number of their steps.
    pub trails: Vec<SpinTrail>,
    /// What a reader should know beside the figures.
    pub notes: Vec<String>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// What ended the search early.
    pub stopped_by: Option<SpinStop>,
    /// SPIN's version.
    pub spin: String,
    /// The C compiler's version.
    pub compiler: String,
}

impl SpinResult {
    /// The result for a space without configurations, for which there is nothing to run.
    pub fn infeasible(search: Search, style: Style, tools: &SpinTools) -> SpinResult {
        SpinResult {
            status: Status::Infeasible,
            search,
            style,
            spin: tools.version.to_string(),
            compiler: tools.compiler_version.clone(),
            ..SpinResult::default()
        }
    }

    /// What is known of a search that does not come back: none of its runs, only what they came to.
    pub fn cut(
        self,
        lower: i64,
        best: Option<TimedConfiguration>,
        seconds: f64,
        why: Option<SpinStop>,
    ) -> SpinResult {
        let upper = best.as_ref().map(|found| found.time);
        SpinResult { status: Status::Bounded, lower, upper, best, seconds, stopped_by: why, ..self }
    }

    /// True if there is a best configuration and our simulator has confirmed its time.
    pub fn replayed(&self) -> bool {
        self.trails.first().is_some_and(|t| t.confirmed)
    }

    /// States stored, over all runs.
    pub fn states(&self) -> u64 {
        self.runs.iter().fold(0, |sum, r| sum.saturating_add(r.states))
    }

    /// Transitions taken, over all runs.
    pub fn transitions(&self) -> u64 {
        self.runs.iter().fold(0, |sum, r| sum.saturating_add(r.transitions))
    }

    /// Bytes of the run that took most memory.
    pub fn memory_bytes(&self) -> u64 {
        self.runs.iter().map(|r| r.memory_bytes).max().unwrap_or(0)
    }

    /// Greatest depth that a run reached, in steps.
    pub fn depth(&self) -> u64 {
        self.runs.iter().map(|r| r.depth).max().unwrap_or(0)
    }
}
