//! The encodings against the simulator, on random problems and on every configuration of each.
//!
//! The simulator is the oracle. Run one configuration of a failing problem by hand with
//! `tickbound simulate problem.json --set P=V...`: the failure prints all of it, and the seed.

use crate::common;

use std::cell::RefCell;
use std::ops::AddAssign;

use common::Written;
use indexmap::IndexMap;
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestCaseError, TestRunner};
use serde_json::{Value, json};
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_encodings::system::System;
use tickbound_encodings::system::run::{SystemRunError, run};
use tickbound_encodings::{EncodeError, Encoded, bounds, event, summary, tick};
use tickbound_model::{Problem, Profile, Space};
use tickbound_simulator::{SimulateOptions, simulate};

/// Times above this are not run tick by tick.
const TICKS: i64 = 2_000;
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
    /// With a queue of groups that differ.
    queues: usize,
    /// Some configuration has several stretches of equal groups.
    stretches: usize,
    shapes: usize,
    /// The summary left a piece open, or closed several.
    open: usize,
    pieces: usize,
    /// Configurations whose lower bound is their time.
    exact_bounds: usize,
    not_ticked: usize,
    /// With groups that take too many steps together.
    too_long: usize,
    profiles: [usize; Profile::ALL.len()],
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
        self.queues += o.queues;
        self.stretches += o.stretches;
        self.shapes += o.shapes;
        self.open += o.open;
        self.pieces += o.pieces;
        self.exact_bounds += o.exact_bounds;
        self.not_ticked += o.not_ticked;
        self.too_long += o.too_long;
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
        .map(|b| simulate(&problem, b, &SimulateOptions::default()).map(|run| run.time))
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
    let Encoded { system: summarised, report } = match summary::encode(plan) {
        // The groups of a queue together.
        Err(EncodeError::Group { error: SystemRunError::Steps(_), .. }) => {
            return Ok(Seen { problems: 1, too_long: 1, ..Seen::default() });
        }
        encoded => encoded.unwrap(),
    };
    let report = report.expect("a summary reports");
    let systems = [("event", event::encode(plan).unwrap()), ("summary", summarised)];
    let ticked = match tick::encode(plan) {
        Err(EncodeError::Group { error: SystemRunError::Steps(_), .. }) => None,
        ticked => Some(ticked.unwrap()),
    };
    let bounds = bounds::lower_bounds(plan);
    let mut seen = Seen { problems: 1, configurations: times.len(), ..Seen::default() };
    for (c, time) in times.iter().enumerate() {
        let place = || problem.name_values(&space.bound[c].configuration).to_string();
        for (name, system) in &systems {
            agree(name, system, c, *time).map_err(|e| format!("{}: {e}", place()))?;
        }
        match &ticked {
            Some(ticked) if *time <= TICKS => {
                agree("tick", ticked, c, *time).map_err(|e| format!("{}: {e}", place()))?;
            }
            _ => seen.not_ticked += 1,
        }
        if bounds[c] > *time {
            return Err(format!("{}: lower bound {}, but time {time}", place(), bounds[c]));
        }
        seen.exact_bounds += usize::from(bounds[c] == *time);
    }
    let uneven = plan.amounts.iter().any(|a| a.name == "rounds[1]");
    seen.choices = usize::from(times.len() > 1);
    let of_group = plan.queue.as_ref().map_or(plan, |queue| &queue.groups);
    seen.classes = usize::from(of_group.threads > 1);
    seen.items = usize::from(of_group.items > 1);
    seen.items_with_marks = usize::from(of_group.items > 1 && of_group.uses_marks);
    seen.uneven = usize::from(uneven);
    seen.queues = usize::from(plan.queue.is_some());
    let several = plan.queue.iter().flat_map(|q| &q.order).any(|order| order.len() > 1);
    seen.stretches = usize::from(several);
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

/// Compares random problems. The seed is the same every day, so that a change is compared by
/// itself; a long run takes a new one, and `PROPTEST_RNG_SEED` any.
fn compare_random(problems: BoxedStrategy<Written>, cases: u32, seed: RngSeed) -> Seen {
    let cases = std::env::var("TICKBOUND_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    let mut config = Config { cases, max_shrink_iters: 20_000, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = seed;
    }
    config.failure_persistence =
        Some(Box::new(FileFailurePersistence::Direct("proptest-regressions/differential.txt")));
    let all = RefCell::new(Seen::default());
    let result = TestRunner::new(config).run(&problems, |Written(value)| {
        *all.borrow_mut() += compare(&value).map_err(TestCaseError::fail)?;
        Ok(())
    });
    if let Err(e) = result {
        panic!("{e}");
    }
    let seen = all.into_inner();
    println!("{seen:#?}");
    assert!(seen.problems * 10 >= 9 * cases as usize, "too many problems were refused");
    assert!(seen.uncovered * 100 <= cases as usize, "the plan covers too little");
    assert!(seen.not_ticked * 20 <= seen.configurations, "too many long runs");
    assert!(seen.too_long * 20 <= seen.problems, "too many groups that are too long");
    seen
}

/// Fails unless at least `least` of a hundred problems are of this sort.
fn at_least(seen: &Seen, least: usize, sort: &str, number: usize) {
    assert!(number * 100 >= least * seen.problems, "only {number} problems with {sort}");
}

fn opencl_problems(cases: u32, seed: RngSeed) {
    let seen = compare_random(common::of_opencl(), cases, seed);
    at_least(&seen, 80, "a choice", seen.choices);
    at_least(&seen, 30, "different elements", seen.classes);
    at_least(&seen, 40, "several items for an element", seen.items);
    at_least(&seen, 20, "items that keep marks", seen.items_with_marks);
    at_least(&seen, 30, "several shapes", seen.shapes);
}

fn published_problems(cases: u32, seed: RngSeed) {
    let seen = compare_random(common::of_published(), cases, seed);
    at_least(&seen, 80, "a choice", seen.choices);
    at_least(&seen, 30, "different elements", seen.classes);
    at_least(&seen, 20, "rounds of different warps", seen.uneven);
    at_least(&seen, 30, "several shapes", seen.shapes);
    at_least(&seen, 10, "a program that stays open", seen.open);
    at_least(&seen, 5, "a program that closes in parts", seen.pieces);
    for (profile, number) in Profile::ALL.into_iter().zip(seen.profiles) {
        if matches!(profile, Profile::Published2023 | Profile::Published2021) {
            at_least(&seen, 40, "each published profile", number);
        }
    }
}

fn problems_of_groups(cases: u32, seed: RngSeed) {
    let seen = compare_random(common::of_groups(), cases, seed);
    at_least(&seen, 80, "a queue", seen.queues);
    at_least(&seen, 40, "several stretches", seen.stretches);
    at_least(&seen, 20, "different elements", seen.classes);
}

#[test]
fn encodings_agree_with_the_simulator_where_groups_differ() {
    problems_of_groups(300, RngSeed::Fixed(3));
}

#[test]
fn encodings_agree_with_the_simulator_under_opencl() {
    opencl_problems(1_500, RngSeed::Fixed(1));
}

#[test]
fn encodings_agree_with_the_simulator_as_published() {
    published_problems(1_500, RngSeed::Fixed(2));
}

// ---- what was once wrong ------------------------------------------------------------------------

/// Two elements run this kernel twice, each at once after its first run.
fn twice(kernel: Value) -> Value {
    json!({ "profile": "published-2023",
        "platform": { "units_per_device": 1, "elements_per_unit": 2, "global_access": 1 },
        "parameters": { "WG": [4] }, "launch": { "local_size": "WG", "activations": 1 },
        "kernel": kernel })
}

fn agrees(value: &Value) {
    let seen = compare(value).unwrap_or_else(|e| panic!("{e} in {value}"));
    assert_eq!(seen.problems, 1, "{value}");
}

/// The second run begins with a loop that ends at a barrier, so the loop around it was turned but
/// the loop itself was not: the summary let the threads meet before it, which cost one tick.
#[test]
fn a_loop_that_begins_where_threads_are_apart() {
    agrees(&twice(json!([
        { "repeat": 2, "body": [{ "work": "lid" }, "barrier"] }, { "work": "1 - lid" }])));
}

/// The summary took a loop for one that ends at a barrier although no iteration reaches it.
#[test]
fn a_loop_that_does_not_reach_its_barrier() {
    agrees(&twice(json!([
        { "repeat": 2, "body": [{ "work": "1 + lid" }, { "repeat": 0, "body": ["barrier"] }] },
        { "work": "2 - 2 * lid" }])));
}

/// In the second run the threads' marks differ, so equal waits bring them apart. The summary took
/// them to be together where the loop begins, and marks to be equal that were set after such waits.
#[test]
fn equal_waits_for_different_marks() {
    let looped = json!({ "repeat": 2, "body": [{ "work": "lid" }, "barrier"] });
    agrees(&twice(json!(["barrier", { "until": 0 }, looped, { "work": "1 - lid" }])));
    agrees(&twice(json!(["barrier", { "until": 1 }, "mark", "barrier", { "until": 1 }, looped,
        { "work": "1 - lid" }])));
}

/// The graph of points had an exit for every way from one point to the next: 2^40 of them here.
#[test]
fn many_branches_in_which_no_time_passes() {
    let odd = json!({ "if": "lid % 2", "then": ["mark"], "else": [] });
    let mut kernel = vec![json!({ "work": "lid" })];
    kernel.extend(std::iter::repeat_n(odd, 40));
    kernel.push(json!({ "until": 3 }));
    agrees(&twice(json!(kernel)));
}

#[test]
#[ignore = "takes many minutes"]
fn encodings_agree_with_the_simulator_for_long_under_opencl() {
    opencl_problems(50_000, RngSeed::Random);
}

#[test]
#[ignore = "takes many minutes"]
fn encodings_agree_with_the_simulator_for_long_where_groups_differ() {
    problems_of_groups(50_000, RngSeed::Random);
}

#[test]
#[ignore = "takes many minutes"]
fn encodings_agree_with_the_simulator_for_long_as_published() {
    published_problems(50_000, RngSeed::Random);
}
