//! SPIN on open schedules: it must find the least and the greatest times that the explorer finds,
//! and print schedules that the simulator can follow.
//!
//! Without `spin` and `cc` nothing is checked but the texts; where `CI` is set they must be there.
//! `SPIN_CASES=300 cargo test --test promela_open` looks at more random problems.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::here::{compiler, here};
use indexmap::IndexMap;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tickbound_model::{Bound, ModelError, Problem, Space};
use tickbound_simulator::{
    self, Decision, ExploreLimits, Explored, Scripted, SimulateError, explore, simulate_with,
};
use tickbound_spin::promela::{Model, PromelaError, PromelaOptions, Style, export};

const LATENCY: &str = include_str!("../../../examples/problems/latency.json");

fn read(value: &Value) -> (Problem, Space) {
    let platform = |name: &str| -> Result<Value, ModelError> { unreachable!("{name}") };
    let problem = Problem::from_value(value, &IndexMap::new(), &platform);
    let problem = problem.unwrap_or_else(|e| panic!("{e}: {value}"));
    let space = problem.space().unwrap_or_else(|e| panic!("{e}: {value}"));
    (problem, space)
}

fn written(value: &Value, style: Style) -> Result<Model, PromelaError> {
    let (problem, space) = read(value);
    export(&problem, &space, &PromelaOptions { style })
}

fn model(value: &Value, style: Style) -> Model {
    written(value, style).unwrap_or_else(|e| panic!("{e}: {value}"))
}

fn latency() -> Value {
    serde_json::from_str(LATENCY).expect("JSON")
}

// ---- running SPIN
// --------------------------------------------------------------------------------

/// A model in a folder of its own, which is removed at the end.
struct Spin {
    folder: PathBuf,
    parameters: Vec<String>,
    vector_bytes: usize,
}

impl Drop for Spin {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Spin {
    fn new(model: &Model) -> Spin {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("promela-open-{}-{number}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("model.pml"), &model.text).expect("a file");
        let parameters = model.parameters.iter().map(|n| n.promela.clone()).collect();
        Spin { folder, parameters, vector_bytes: model.vector_bytes }
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(&self.folder).output();
        let output = output.unwrap_or_else(|e| panic!("{program}: {e}"));
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        text
    }

    /// Makes the verifier; `claim` if it is to check a property.
    fn verifier(&self, define: &str, claim: bool) {
        let said = self.run("spin", &[define, "-a", "model.pml"]);
        assert!(!said.contains("Error"), "{said}");
        let vector = format!("-DVECTORSZ={}", self.vector_bytes.max(1024));
        let mut flags = vec!["-w", "-O0", "-DSAFETY", vector.as_str()];
        if !claim {
            flags.push("-DNOCLAIM");
        }
        flags.extend(["-o", "pan", "pan.c"]);
        let said = self.run(compiler(), &flags);
        assert!(self.folder.join("pan").exists(), "{said}");
    }

    fn search(&self, arguments: &[&str]) -> String {
        let pan = self.folder.join("pan");
        self.run(pan.to_str().expect("UTF-8"), arguments)
    }

    /// Every time of every configuration.
    fn times(&self) -> BTreeMap<Vec<i64>, BTreeSet<i64>> {
        self.verifier("-DTIMES", false);
        let said = self.search(&["-m100000"]);
        assert!(said.contains("errors: 0"), "{said}");
        let mut times: BTreeMap<_, BTreeSet<i64>> = BTreeMap::new();
        for run in said.lines().filter(|l| l.starts_with("tickbound: time=")) {
            let (time, values) = self.found(run);
            times.entry(values).or_default().insert(time);
        }
        times
    }

    /// Time and configuration of the line that a run ends with.
    fn found(&self, line: &str) -> (i64, Vec<i64>) {
        let values = self.parameters.iter().map(|name| number(line, name));
        (number(line, "time"), values.collect())
    }

    /// A random run of SPIN's simulator.
    fn random_run(&self, seed: u32) -> Printed {
        let said = self.run("spin", &[&format!("-n{seed}"), "model.pml"]);
        let mut run = Printed::default();
        for line in said.lines().filter_map(|l| l.trim().strip_prefix("tickbound: ")) {
            match line.split_whitespace().next() {
                Some("start") => {
                    let of = |name| number(line, name);
                    run.starts.push((of("time"), of("group"), of("warp")));
                }
                Some("place") => {
                    assert_eq!(number(line, "group"), run.units.len() as i64, "{said}");
                    run.units.push(number(line, "unit"));
                }
                _ => run.end = Some(self.found(line)),
            }
        }
        assert!(run.end.is_some(), "{said}");
        run
    }
}

/// The schedule of a run.
#[derive(Debug, Default)]
struct Printed {
    starts: Vec<(i64, i64, i64)>,
    units: Vec<i64>,
    end: Option<(i64, Vec<i64>)>,
}

/// The number after `name=`.
fn number(line: &str, name: &str) -> i64 {
    let mut words = line.split_whitespace();
    let found = words.find_map(|w| w.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
    found.unwrap_or_else(|| panic!("{name} in {line}"))
}

// ---- what SPIN must find
// ----------------------------------------------------------------------------

type Expected = Vec<(Vec<i64>, Bound, Explored)>;

/// What the explorer finds, within this many states for all configurations together.
fn explored(problem: &Problem, space: &Space, states: u64) -> Result<Expected, SimulateError> {
    let mut left = states;
    let each = space.bound.iter().map(|bound| {
        let limits = ExploreLimits { max_states: left, max_events: 1_000 * states };
        let found = explore(problem, bound, &limits)?;
        left = left.saturating_sub(found.states);
        Ok((bound.configuration.0.clone(), bound.clone(), found))
    });
    each.collect()
}

/// Every time of one configuration, if there are not too many schedules.
fn brute_force(problem: &Problem, bound: &Bound, most: usize) -> Option<BTreeSet<i64>> {
    let (mut times, mut choices) = (BTreeSet::new(), Vec::<usize>::new());
    for _ in 0..most {
        let mut offered = Vec::new();
        let mut choose = |_: i64, options: &[Decision]| {
            offered.push(options.len());
            choices.get(offered.len() - 1).copied().unwrap_or(0)
        };
        let run = simulate_with(
            problem,
            bound,
            &tickbound_simulator::SimulateOptions::default(),
            &mut choose,
        );
        times.insert(run.unwrap_or_else(|e| panic!("{e}")).time);
        choices.resize(offered.len(), 0);
        while choices.last().is_some_and(|last| last + 1 == offered[choices.len() - 1]) {
            choices.pop();
        }
        match choices.last_mut() {
            Some(last) => *last += 1,
            None => return Some(times),
        }
    }
    None
}

/// SPIN finds what the explorer finds, and every time if there are few schedules.
fn check_times(problem: &Problem, expected: &Expected, spin: &Spin) {
    let times = spin.times();
    assert_eq!(times.len(), expected.len(), "configurations");
    for (values, bound, found) in expected {
        let here = &times[values];
        let range = (here.first().copied(), here.last().copied());
        assert_eq!(range, (Some(found.best), Some(found.worst)), "{values:?}: {here:?}");
        if let Some(all) = brute_force(problem, bound, 500) {
            assert_eq!(*here, all, "{values:?}");
        }
    }
}

/// The simulator can follow what random runs print.
fn check_runs(problem: &Problem, expected: &Expected, spin: &Spin, seeds: u32) {
    for seed in 1..=seeds {
        let run = spin.random_run(seed);
        let (time, values) = run.end.clone().expect("an end");
        let (_, bound, _) = expected.iter().find(|(v, ..)| *v == values).expect("a configuration");
        let mut script = Scripted::new(run.starts.clone(), run.units.clone());
        let options = tickbound_simulator::SimulateOptions::default();
        let again = simulate_with(problem, bound, &options, &mut script).expect("a run");
        assert!(script.followed(), "seed {seed}: {run:?}");
        assert_eq!(again.time, time, "seed {seed}: {run:?}");
    }
}

// ---- by hand
// ----------------------------------------------------------------------------------------

#[test]
fn snapshots() {
    insta::assert_snapshot!("latency-lockstep", model(&latency(), Style::Lockstep).text);
    insta::assert_snapshot!("latency-processes", model(&latency(), Style::Processes).text);
}

#[test]
fn latency_in_lockstep() {
    let model = model(&latency(), Style::Lockstep);
    assert!(model.open_schedule && model.configurations == 7 && model.max_time >= 154);
    if here() {
        let (problem, space) = read(&latency());
        let expected = explored(&problem, &space, 1_000_000).unwrap();
        let spin = Spin::new(&model);
        check_times(&problem, &expected, &spin);
        check_runs(&problem, &expected, &spin, 5);
    }
}

#[test]
fn latency_with_processes() {
    let mut value = latency();
    value["constraints"] = json!(["WG * UNROLL <= size", "WG <= 8 or WG * UNROLL == size"]);
    value["parameters"]["WG"] = json!([4, 8, 16]);
    let model = model(&value, Style::Processes);
    assert!(model.open_schedule && model.configurations == 5);
    if here() {
        let (problem, space) = read(&value);
        let expected = explored(&problem, &space, 1_000_000).unwrap();
        let spin = Spin::new(&model);
        check_times(&problem, &expected, &spin);
        check_runs(&problem, &expected, &spin, 5);
    }
}

#[test]
fn properties_and_branch_and_bound() {
    let mut value = latency();
    value["parameters"]["WG"] = json!([8, 16]);
    value["parameters"]["UNROLL"] = json!([2]);
    if !here() {
        return;
    }
    for style in [Style::Lockstep, Style::Processes] {
        let spin = Spin::new(&model(&value, style));
        for (bound, holds) in [("-DT=53", true), ("-DT=54", false)] {
            spin.verifier(bound, true);
            let said = spin.search(&["-m100000", "-N", "OverTime"]);
            assert_eq!(said.contains("errors: 0"), holds, "{style:?} {bound}: {said}");
        }
        let replayed = spin.search(&["-r", "-n", "-N", "OverTime"]);
        assert!(replayed.contains("tickbound: time=54 WG=8 UNROLL=2"), "{style:?}: {replayed}");
        spin.verifier("-DBEST", false);
        let said = spin.search(&["-m100000", "-E", "-e", "-c0"]);
        let best = said.lines().rfind(|l| l.starts_with("tickbound: time="));
        assert_eq!(best, Some("tickbound: time=54 WG=8 UNROLL=2"), "{style:?}: {said}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let with = |path: &str, new: Value| {
        let mut value = latency();
        *value.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = new;
        value
    };
    let cases = [
        (with("/platform/units_per_device", json!(40)), Style::Processes, "40 units with 2"),
        (with("/inputs/size", json!(8192)), Style::Lockstep, "2048 warps on a unit at once"),
        (
            with("/kernel/0", json!({ "repeat": 1 << 24, "body": [{ "local": 0 }] })),
            Style::Lockstep,
            "statements in one run",
        ),
        (with("/kernel/0", json!({ "work": 1_i64 << 31 })), Style::Lockstep, "32-bit int"),
        (
            with("/kernel/3/then", json!(["barrier"])),
            Style::Processes,
            "item 0 waits at kernel[3].then[0] but",
        ),
    ];
    for (mut value, style, message) in cases {
        if value["platform"]["units_per_device"] == 40 {
            value["inputs"]["size"] = json!(160);
        }
        let error = written(&value, style).unwrap_err().to_string();
        assert!(error.contains(message), "found: {error}\nexpected: {message}");
        assert!(!error.contains('\n'));
    }
}

// ---- random problems
// ----------------------------------------------------------------------------------

fn amount() -> BoxedStrategy<Value> {
    let texts = [
        "lid",
        "A",
        "A + lid % 2",
        "max(lid - A, 0)",
        "(gid + 1) % 3",
        "2 * (group % 2) + 1",
        "A if group == 1 else 1",
    ];
    prop_oneof![
        2 => (0..4_i64).prop_map(|n| json!(n)),
        3 => select(texts.to_vec()).prop_map(|t| json!(t)),
    ]
    .boxed()
}

/// A statement that holds no barrier; items may differ in it.
fn quiet() -> BoxedStrategy<Value> {
    let access = select(vec!["work", "global", "global", "local", "compute"]);
    let leaf = prop_oneof![
        6 => (access, amount()).prop_map(|(access, n)| json!({ access: n })),
        1 => Just(json!("mark")),
        1 => (-1..9_i64).prop_map(|n| json!({ "until": n })),
        1 => amount().prop_map(|n| json!({ "until": n })),
    ];
    leaf.prop_recursive(2, 5, 2, |inner| {
        let body = prop::collection::vec(inner, 0..3);
        let conditions = ["lid % 2 == 0", "lid < A", "group == 0", "A > 1", "gid == 3"];
        let condition = select(conditions.to_vec());
        let count = prop_oneof![3 => amount(), 1 => Just(json!("A - 1"))];
        prop_oneof![
            (count, body.clone()).prop_map(|(n, body)| json!({ "repeat": n, "body": body })),
            (condition, body.clone(), body)
                .prop_map(|(c, a, b)| json!({ "if": c, "then": a, "else": b })),
        ]
    })
    .boxed()
}

/// A statement that all items of a group take alike.
fn loud() -> BoxedStrategy<Value> {
    let body = prop::collection::vec(prop_oneof![2 => quiet(), 1 => Just(json!("barrier"))], 1..3);
    prop_oneof![
        4 => quiet(),
        1 => Just(json!("barrier")),
        1 => body.clone().prop_map(|body| json!({ "repeat": "A", "body": body })),
        1 => (body.clone(), body)
            .prop_map(|(a, b)| json!({ "if": "group % 2", "then": a, "else": b })),
    ]
    .boxed()
}

/// Kernels that tell neither warps nor groups apart, or only warps.
fn alike() -> BoxedStrategy<Vec<Value>> {
    let access = select(vec!["work", "global", "global"]);
    let n = select(vec![json!(1), json!("A"), json!("A + 1")]);
    let statement = prop_oneof![
        6 => (access, n).prop_map(|(access, n)| json!({ access: n })),
        1 => Just(json!("barrier")),
        1 => Just(json!({ "if": "lid < A", "then": [{ "work": 1 }] })),
        1 => Just(json!({ "until": 5 })),
    ];
    prop::collection::vec(statement, 1..5).boxed()
}

fn small_problem(units: std::ops::Range<i64>) -> impl Strategy<Value = Value> {
    let kernel = prop_oneof![2 => prop::collection::vec(loud(), 1..4), 1 => alike()];
    let finish = prop::collection::vec(quiet(), 0..3);
    let unit = (1..4_i64, 1..4_i64, 1..4_i64, 0..4_i64);
    let prices = (1..3_i64, 0..6_i64, 0..3_i64, 0..3_i64, 0..2_i64);
    let sizes = (prop::collection::btree_set(1..7_i64, 1..3), 1..5_i64);
    let a = prop::collection::btree_set(0..4_i64, 1..3);
    let devices = prop_oneof![5 => Just(1_i64), 1 => Just(2)];
    (kernel, finish, unit, prices, (sizes, a), (units, devices)).prop_map(
        |(kernel, finish, unit, prices, ((local, groups), a), (units, devices))| {
            let (width, dispatchers, places, slots) = unit;
            let (issue, latency, barrier, start, launch) = prices;
            let mut value = json!({
                "platform": { "devices": devices, "units_per_device": units,
                    "elements_per_unit": 1,
                    "global_access": 3, "global_issue": issue, "global_latency": latency,
                    "barrier": barrier, "group_start": start, "kernel_launch": launch,
                    "warps": { "width": width, "dispatchers": dispatchers,
                               "resident_groups": places } },
                "inputs": { "groups": groups },
                "parameters": { "WG": local, "A": a },
                "launch": { "global_size": "groups * WG", "local_size": "WG" },
                "kernel": kernel, "finish": finish });
            if slots > 0 {
                value["platform"]["warps"]["memory_slots"] = json!(slots);
            }
            value
        },
    )
}

/// Looks at random problems: small enough for the explorer, and some of them really open.
fn check_random(style: Style, cases: u32, states: u64, units: std::ops::Range<i64>) {
    if !here() {
        return;
    }
    let many = std::env::var("SPIN_CASES").ok().and_then(|n| n.parse().ok());
    let cases = many.unwrap_or(cases);
    let config = ProptestConfig {
        cases,
        max_global_rejects: 100 * cases,
        max_shrink_iters: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let result = TestRunner::new(config).run(&small_problem(units), |value| {
        let (problem, space) = read(&value);
        let expected = explored(&problem, &space, states);
        prop_assume!(expected.is_ok(), "too many states, or divergence");
        let expected = expected.unwrap();
        prop_assume!(expected.iter().any(|(.., found)| found.states > 2), "hardly open");
        let model = export(&problem, &space, &PromelaOptions { style });
        let model = model.unwrap_or_else(|e| panic!("{e}: {value}"));
        // SPIN does not know that units, places and warps are alike.
        prop_assume!(model.processes <= 24, "too many interleavings");
        let worst = expected.iter().map(|(.., found)| found.worst).max();
        prop_assert!(worst <= Some(model.max_time), "{:?} > {}", worst, model.max_time);
        let spin = Spin::new(&model);
        check_times(&problem, &expected, &spin);
        check_runs(&problem, &expected, &spin, 3);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn random_problems_in_lockstep() {
    check_random(Style::Lockstep, 20, 4000, 1..4);
}

#[test]
fn random_problems_with_processes() {
    check_random(Style::Processes, 8, 200, 1..3);
}
