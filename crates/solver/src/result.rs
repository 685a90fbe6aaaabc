//! What a search returns, whether it was finished or stopped.

use num_bigint::BigUint;
use serde::Serialize;
use tickbound_encodings::{Encoded, Encoding};
use tickbound_model::LeftOut;
use tickbound_model::verdict::{Status, StopReason, TimedConfiguration};
use tickbound_simulator::{Script, WarpTicks};

use crate::bracket::{Bounds, Bracket, Incumbent};
use crate::options::{Objective, SearchOptions};
use crate::program_classes::ProgramClasses;
use crate::proof::Proof;
use crate::strategy::Strategy;

/// Most optimal configurations that are listed, unless `top` is more.
pub const MAX_OPTIMA: usize = 64;

/// How large the formula was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct FormulaSize {
    /// Configurations in the space.
    pub configurations: usize,
    /// Of these, how many the lower bounds left to the solver.
    pub candidates: usize,
    /// State variables of the transition system.
    pub states: usize,
    /// Steps it was unrolled for.
    pub steps: usize,
    /// Constants and assertions given to the solver by one strategy.
    pub variables: usize,
    /// Nodes of terms given to egg, by the summary encoding.
    pub nodes_in: usize,
    /// Nodes of arithmetic that came out of egg.
    pub nodes_out: usize,
}

impl FormulaSize {
    pub(crate) fn note(&mut self, encoded: &Encoded) {
        self.states = encoded.system.states.len();
        if let Some(report) = encoded.report {
            (self.nodes_in, self.nodes_out) = (report.nodes_in, report.nodes_out);
        }
    }
}

/// What is known of the schedules of the best configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenSchedule {
    /// Ticks under the best schedule, if it was searched for.
    pub best_case: Option<i64>,
    /// Ticks under the worst schedule, if it was searched for.
    pub worst_case: Option<i64>,
    /// What both are at least and at most, if explored; the most is `i64::MAX` where it is unknown.
    pub bounds: Option<[(i64, i64); 2]>,
    /// Ticks if dispatchers start the warp ready longest; `None` if too large to be simulated.
    pub first_come: Option<i64>,
    /// The decisions that lead to the time found.
    pub script: Script,
    /// A best and a worst schedule, if both are known.
    pub ends: Option<(Script, Script)>,
    /// What warps spend their time on under the one and the other, if both were simulated.
    pub warps: Option<(WarpTicks, WarpTicks)>,
}

/// The result of [`super::tune`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TuneResult {
    /// How much is known.
    pub status: Status,
    /// No configuration takes fewer ticks than this.
    pub lower: i64,
    /// Ticks of the best configuration found; `None` if none was.
    pub upper: Option<i64>,
    /// The best configuration found; of several, the first in the space's order.
    pub best: Option<TimedConfiguration>,
    /// The best configurations, least time first: all optimal ones, or with `top` at least that
    /// many. Empty unless the search was finished.
    pub optima: Vec<TimedConfiguration>,
    /// The best distinct programs, if `top` asks for some and the profile is `resources`.
    pub programs: ProgramClasses,
    /// There are more optimal configurations than are listed.
    pub more_optima: bool,
    /// How many optimal configurations there are, if they were counted.
    pub optima_count: Option<BigUint>,
    /// Ticks of the best configuration that is not optimal, if that is known.
    pub next: Option<i64>,
    /// Parameters on which no run time depends, if that is known.
    pub indifferent: Vec<String>,
    /// Valid configurations, if they were counted.
    pub configurations: Option<BigUint>,
    /// Configurations that cannot be launched or have no value, if they were counted.
    pub left_out: Option<LeftOut>,
    /// Who has proved that nothing is faster.
    pub proofs: Vec<Proof>,
    /// Configurations, other than those found, that the simulator has run to check what was proved;
    /// `None` if all were run anyway.
    pub checked: Option<u64>,
    /// Why configurations were simulated one by one, where the problem leaves nothing else.
    pub simulated_because: Option<String>,
    /// Encoding used; `None` if configurations were simulated one by one.
    pub encoding: Option<Encoding>,
    /// The requested strategy.
    pub strategy: Strategy,
    /// What was requested.
    pub objective: Objective,
    /// Where schedules are open: the schedules that matter for `best`.
    pub schedule: Option<OpenSchedule>,
    /// Checks that solvers made, over all strategies.
    pub solver_calls: u64,
    /// The least time was confirmed by a plain solver over all configurations, without cuts.
    pub confirmed_uncut: bool,
    /// The simulator was run on `best` and took as many ticks.
    pub replayed: bool,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// What ended the search early.
    pub stopped_by: Option<StopReason>,
    /// How large the formula was.
    pub size: FormulaSize,
}

impl TuneResult {
    /// What is known of any search by its bracket's lower bound alone; nothing is found yet.
    pub(crate) fn begun(options: &SearchOptions, bracket: &Bracket<'_>) -> TuneResult {
        let bounds = Bounds { best: None, ..bracket.bounds() };
        let known = Incumbent { bounds, best: None };
        let begun = TuneResult::cut(options, known, bracket.seconds(), None);
        TuneResult { solver_calls: bracket.calls(), ..begun }
    }

    /// Nothing is valid.
    pub(crate) fn infeasible(options: &SearchOptions, bracket: &Bracket<'_>) -> TuneResult {
        TuneResult { status: Status::Infeasible, ..TuneResult::begun(options, bracket) }
    }

    /// The result with what was requested and what the bracket knows of the search.
    pub(crate) fn searched(self, options: &SearchOptions, bracket: &Bracket<'_>) -> TuneResult {
        let begun = TuneResult::begun(options, bracket);
        TuneResult {
            lower: begun.lower,
            strategy: begun.strategy,
            objective: begun.objective,
            solver_calls: begun.solver_calls,
            seconds: begun.seconds,
            stopped_by: bracket.stopped_by().filter(|_| self.status != Status::Optimal),
            ..self
        }
    }

    /// The result of a search that did not return, from its observer's last incumbent.
    pub fn cut(
        options: &SearchOptions,
        Incumbent { bounds, best }: Incumbent,
        seconds: f64,
        stopped_by: Option<StopReason>,
    ) -> TuneResult {
        TuneResult {
            status: Status::Bounded,
            lower: bounds.lower,
            upper: bounds.best.map(|(_, time)| time),
            best: bounds
                .best
                .zip(best)
                .map(|((_, time), configuration)| TimedConfiguration { configuration, time }),
            strategy: options.strategy,
            objective: options.objective,
            seconds,
            stopped_by,
            ..TuneResult::default()
        }
    }
}
