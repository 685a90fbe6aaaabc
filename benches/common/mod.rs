//! What the benchmarks share: problems, encodings and the formulas that a search asks about.

#![allow(dead_code, reason = "each benchmark uses a part of it")]

use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use indexmap::IndexMap;
use tickbound_encodings::bounds::lower_bounds;
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::System;
use tickbound_encodings::system::run::run;
use tickbound_model::{Problem, Space, platforms};
use tickbound_simulator::simulate;
use tickbound_solver::bracket::Bracket;
use tickbound_solver::formula::SmtFormula;
use tickbound_solver::instance::{SmtInstance, SolverReply};
use tickbound_solver::prepare::MAX_STEPS;
use tickbound_solver::{Encoding, SearchOptions, SolveError, Strategy, TuneResult, tune};

/// All encodings, the largest formulas first.
pub const ENCODINGS: [Encoding; 3] = [Encoding::Tick, Encoding::Event, Encoding::Summary];

/// A problem of examples/problems with inputs replaced.
pub fn problem(file: &str, inputs: &[(&str, i64)]) -> Problem {
    let path = format!("{}/examples/problems/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
    let inputs: IndexMap<String, i64> = inputs.iter().map(|(n, v)| ((*n).into(), *v)).collect();
    Problem::from_json(&text, &inputs, &platforms::find).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// A kernel whose odd and even items take turns, so that each waits for the other. Lower bounds
/// know nothing of waiting, so here the search has to close a gap.
pub fn two_halves(size: i64) -> Problem {
    let text = r#"{ "name": "two halves", "inputs": { "size": 64 },
      "platform": { "units_per_device": 3, "elements_per_unit": 4, "global_access": 20,
                    "group_start": 15, "barrier": 2 },
      "parameters": { "WG": "powers_of_two(2, min(16, size))",
                      "tile": "powers_of_two(2, min(16, size))" },
      "launch": { "global_size": "size", "local_size": "WG" },
      "kernel": [ { "repeat": "size / tile", "body": [
        { "global": "ceil_div(tile, WG)" }, "barrier",
        { "if": "lid % 2 == 1", "then": [ { "compute": "tile" } ] }, "barrier",
        { "if": "lid % 2 == 0", "then": [ { "compute": "tile + 1" } ] }, "barrier" ] } ] }"#;
    let inputs = IndexMap::from([("size".to_owned(), size)]);
    Problem::from_json(text, &inputs, &platforms::find).unwrap_or_else(|e| panic!("{e}"))
}

/// The name of an encoding on the command line.
pub fn name(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Tick => "tick",
        Encoding::Event => "event",
        Encoding::Summary => "summary",
    }
}

/// Options for one encoding and strategy.
pub fn with(encoding: Encoding, strategy: Strategy) -> SearchOptions {
    SearchOptions { encoding: Some(encoding), strategy, ..SearchOptions::default() }
}

/// A search that nobody interrupts.
pub fn search(problem: &Problem, options: &SearchOptions) -> Result<TuneResult, SolveError> {
    tune(problem, options, &AtomicBool::new(false), &|_| {})
}

/// A problem up to the point where it is encoded.
pub struct Prepared {
    /// The valid configurations.
    pub space: Space,
    /// The program for all of them.
    pub plan: Plan,
    /// A lower bound for each.
    pub lower: Vec<i64>,
    /// The least time, by the simulator.
    pub least: i64,
}

impl Prepared {
    /// Lists the space, works out the plan and simulates configurations until the bounds say that
    /// nothing is better.
    pub fn new(problem: &Problem) -> Prepared {
        let space = problem.space().unwrap_or_else(|e| panic!("{e}"));
        let plan = Plan::new(problem, &space).unwrap_or_else(|e| panic!("{e}"));
        let lower = lower_bounds(&plan);
        let mut order: Vec<usize> = (0..lower.len()).collect();
        order.sort_by_key(|c| lower[*c]);
        let mut least = i64::MAX;
        for c in order {
            if lower[c] < least {
                let run = simulate(
                    problem,
                    &space.bound[c],
                    &tickbound_simulator::SimulateOptions::default(),
                );
                least = least.min(run.unwrap_or_else(|e| panic!("{e}")).time);
            }
        }
        Prepared { space, plan, lower, least }
    }

    /// The transition system of an encoding.
    pub fn encode(&self, encoding: Encoding) -> System {
        encoding.encode(&self.plan).unwrap_or_else(|e| panic!("{e}")).system
    }

    /// True if the lower bound prunes a configuration.
    pub fn pruned(&self, configuration: usize) -> bool {
        self.lower[configuration] > self.least
    }

    /// Steps after which every configuration that the bounds leave over has ended; `None` if there
    /// are more than a search would unroll.
    pub fn steps(&self, system: &System) -> Option<usize> {
        let left_over = (0..self.lower.len()).filter(|c| !self.pruned(*c));
        left_over.map(|c| run(system, c, MAX_STEPS).ok().map(|r| r.steps)).max().flatten()
    }

    /// Unrolls a system and asks a plain solver for one tick less than the least time, which must
    /// not exist.
    pub fn refute(&self, system: &System, steps: usize) {
        let answer = self.instance(system, steps, |instance| instance.at_most(self.least - 1));
        assert_eq!(answer, SolverReply::No, "the least time is refuted");
    }

    /// Constants and assertions of the formula.
    pub fn variables(&self, system: &System, steps: usize) -> usize {
        self.instance(system, steps, |instance| instance.size())
    }

    fn instance<T>(
        &self,
        system: &System,
        steps: usize,
        work: impl FnOnce(&SmtInstance<'_>) -> T,
    ) -> T {
        let never = AtomicBool::new(false);
        let bracket = Bracket::new(None, &never, &|_| {});
        let pruned = |c: usize| self.pruned(c);
        let formula = SmtFormula { system, steps, pruned: &pruned };
        work(&SmtInstance::new(formula, &bracket).unwrap_or_else(|e| panic!("{e}")))
    }
}

/// Today's date from the clock, UTC (days to civil date, after Howard Hinnant's `civil_from_days`).
pub fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let days = i64::try_from(now.as_secs() / 86_400).unwrap_or(0) + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}
