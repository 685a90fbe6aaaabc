//! The encodings against the simulator, on random problems and on every configuration of each.
//!
//! The simulator is the judge. Run one configuration of a failing problem by hand with
//! `tickbound simulate problem.json --set P=V...`: the failure prints all of it, and the seed.

mod common;

use std::cell::RefCell;
use std::ops::AddAssign;

use common::Written;
use indexmap::IndexMap;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestCaseError, TestRunner};
use serde_json::Value;
use tickbound_encodings::model::{Problem, Profile, Space};
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_encodings::simulate::{Options, simulate};
use tickbound_encodings::system::System;
use tickbound_encodings::system::run::run;
use tickbound_encodings::{bounds, event, summary, tick};

/// Times above this are not run tick by tick.
const TICKS: i64 = 4_000;
/// Most steps of a run; far beyond what any of these problems needs.
const STEPS: usize = 1_000_000;

/// What sort of problems were looked at.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    problems: usize,
    configurations: usize,
    /// Refused by the model, the simulator or the plan, for a fault of the problem.
    faulty: usize,
    /// Refused by the plan although the simulator has a time for each configuration.
    uncovered: usize,
    /// With several configurations.
    choices: usize,
    classes: usize,
    items: usize,
    items_with_marks: usize,
    /// Several sorts of rounds under `published-2021`.
    uneven: usize,
    shapes: usize,
    /// The summary left a piece open, or closed several.
    open: usize,
    pieces: usize,
    /// Configurations whose lower bound is their time.
    exact_bounds: usize,
    not_ticked: usize,
    profiles: [usize; 3],
}

impl AddAssign for Seen {
    fn add_assign(&mut self, o: Seen) {
        self.problems += o.problems;
        self.configurations += o.configurations;
        self.faulty += o.faulty;
        self.uncovered += o.uncovered;
        self.choices += o.choices;
        self.classes += o.classes;
        self.items += o.items;
        self.items_with_marks += o.items_with_marks;
        self.uneven += o.uneven;
        self.shapes += o.shapes;
        self.open += o.open;
        self.pieces += o.pieces;
        self.exact_bounds += o.exact_bounds;
        self.not_ticked += o.not_ticked;
        self.profiles.iter_mut().zip(o.profiles).for_each(|(all, one)| *all += one);
    }
}

/// Runs everything on one problem; an error says what disagrees, where.
fn compare(value: &Value) -> Result<Seen, String> {
    let faulty = Seen { faulty: 1, ..Seen::default() };
    let nowhere = |name: &str| unreachable!("no platform is named, but {name} was asked for");
    let Ok(problem) = Problem::from_json(&value.to_string(), &IndexMap::new(), &nowhere) else {
        return Err("the problem is not well formed".into());
    };
    let Ok(space) = problem.space() else { return Ok(faulty) };
    if space.bound.is_empty() {
        return Ok(faulty);
    }
    let times: Result<Vec<i64>, _> = space
        .bound
        .iter()
        .map(|b| simulate(&problem, b, &Options::default()).map(|run| run.time))
        .collect();
    match (times, Plan::new(&problem, &space)) {
        (Ok(times), Ok(plan)) => compare_plan(&problem, &space, &plan, &times),
        (Err(_), Err(PlanError::Model(_))) => Ok(faulty),
        (Err(e), Ok(_)) => Err(format!("a plan where the simulator says: {e}")),
        (Ok(_), Err(PlanError::Model(e))) => Err(format!("times, but no plan: {e}")),
        (_, Err(_)) => Ok(Seen { uncovered: 1, ..Seen::default() }),
    }
}

fn compare_plan(
    problem: &Problem,
    space: &Space,
    plan: &Plan,
    times: &[i64],
) -> Result<Seen, String> {
    let (summarised, report) = summary::encode(plan);
    let systems = [("event", event::encode(plan)), ("summary", summarised)];
    let ticked = tick::encode(plan);
    let bounds = bounds::lower_bounds(plan);
    let mut seen = Seen { problems: 1, configurations: times.len(), ..Seen::default() };
    for (c, time) in times.iter().enumerate() {
        let place = || problem.name_values(&space.bound[c].configuration).to_string();
        for (name, system) in &systems {
            agree(name, system, c, *time).map_err(|e| format!("{}: {e}", place()))?;
        }
        if *time <= TICKS {
            agree("tick", &ticked, c, *time).map_err(|e| format!("{}: {e}", place()))?;
        } else {
            seen.not_ticked += 1;
        }
        if bounds[c] > *time {
            return Err(format!("{}: lower bound {}, but time {time}", place(), bounds[c]));
        }
        seen.exact_bounds += usize::from(bounds[c] == *time);
    }
    let uneven = plan.amounts.iter().any(|a| a.name == "rounds[1]");
    seen.choices = usize::from(times.len() > 1);
    seen.classes = usize::from(plan.threads > 1);
    seen.items = usize::from(plan.items > 1);
    seen.items_with_marks = usize::from(plan.items > 1 && plan.uses_marks);
    seen.uneven = usize::from(uneven);
    seen.shapes = usize::from(report.shapes > 1);
    seen.open = usize::from(report.open > 0);
    seen.pieces = usize::from(report.open > 0 && report.closed > 0);
    seen.profiles = Profile::ALL.map(|p| usize::from(p == problem.profile));
    Ok(seen)
}

fn agree(name: &str, system: &System, c: usize, time: i64) -> Result<(), String> {
    match run(system, c, STEPS) {
        Ok(run) if run.cost == time => Ok(()),
        Ok(run) => Err(format!("{name} takes {} ticks, the simulator {time}", run.cost)),
        Err(e) => Err(format!("{name}: {e}, the simulator takes {time} ticks")),
    }
}

/// Compares `cases` random problems; `seed` fixed for every day, none for a long run.
fn compare_random(cases: u32, seed: Option<u64>) -> Seen {
    let cases = std::env::var("TICKBOUND_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    let mut config = Config { cases, max_shrink_iters: 20_000, ..Config::default() };
    if let (Some(seed), RngSeed::Random) = (seed, config.rng_seed) {
        config.rng_seed = RngSeed::Fixed(seed);
    }
    config.failure_persistence =
        Some(Box::new(FileFailurePersistence::Direct("proptest-regressions/differential.txt")));
    config.source_file = Some(file!());
    let all = RefCell::new(Seen::default());
    let result = TestRunner::new(config).run(&common::problem(), |Written(value)| {
        *all.borrow_mut() += compare(&value).map_err(TestCaseError::fail)?;
        Ok(())
    });
    if let Err(e) = result {
        panic!("{e}");
    }
    all.into_inner()
}

#[test]
fn encodings_agree_with_the_simulator() {
    let seen = compare_random(3_000, Some(1));
    println!("{seen:#?}");
}
