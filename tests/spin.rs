//! Searching with SPIN, on small models written by hand: what is found, what is proved, and what
//! becomes of a search that is cut, stopped or faulty.
//!
//! SPIN and a C compiler are needed. Where they are missing these tests say so and do nothing,
//! except on CI, where that is a failure.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::verdict::Status;
use tickbound_model::{Problem, Space};
use tickbound_simulator::{Script, simulate};
use tickbound_spin::output::VerifierVerdict;
use tickbound_spin::promela::{self, Model, PromelaName, Style, export};
use tickbound_spin::result::{RunLog, SpinProof};
use tickbound_spin::times::times;
use tickbound_spin::tools::SpinTools;
use tickbound_spin::{
    Search, SpinError, SpinEvent, SpinOptions, SpinResult, SpinStop, SpinSubject, search,
};

/// The tools, if they are there.
fn tools() -> Option<SpinTools> {
    match SpinTools::find() {
        Ok(tools) => Some(tools),
        Err(e) if std::env::var_os("CI").is_none() => {
            eprintln!("skipped: {e}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

/// Times by hand: 8 / WG * (3 * TS + WG), the least is 14 at WG=4, TS=1.
const PROBLEM: &str = r#"{ "name": "by hand",
  "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1 },
  "parameters": { "WG": [1, 2, 4], "TS": [1, 3] },
  "launch": { "global_size": 8, "local_size": "WG" },
  "kernel": [ { "if": "lid == 0", "then": [ { "compute": "3 * TS + WG" } ] } ] }"#;

fn problem() -> (Problem, Space) {
    let problem = Problem::from_json(PROBLEM, &IndexMap::new(), &|_| unreachable!()).unwrap();
    let space = problem.space().unwrap();
    (problem, space)
}

/// A model of the problem. `more` is run before the kernel; `variables` are its variables.
fn model(variables: &str, more: &str) -> Model {
    let text = format!(
        r#"
#ifndef T
#define T 0
#endif
#ifdef BEST
c_decl {{ static int tb_best = BEST; }}
#endif
int time = 0;
bool FIN = false;
byte WG, TS;
{variables}
ltl NonTerm {{ [] !FIN }}
ltl OverTime {{ [] (FIN -> time > T) }}
active proctype kernel() {{
  byte k;
  if :: WG = 1 :: WG = 2 :: WG = 4 fi;
  if :: TS = 3 :: TS = 1 fi;
  {more}
  for (k : 1 .. 8 / WG) {{
#ifdef BEST
    c_expr {{ now.time + 3 * now.TS + now.WG < tb_best }};
#endif
    time = time + 3 * TS + WG
  }}
  atomic {{
    FIN = true;
    printf("tickbound: time=%d WG=%d TS=%d\n", time, WG, TS);
#ifdef BEST
    c_code {{ tb_best = now.time; }};
    assert(false)
#endif
  }}
}}
"#
    );
    let name = |n: &str| PromelaName { problem: n.into(), promela: n.into() };
    Model {
        text,
        style: Style::Lockstep,
        parameters: vec![name("WG"), name("TS")],
        processes: 2,
        vector_bytes: 100,
        max_time: 80,
        configurations: 6,
        open_schedule: false,
    }
}

/// Three counters that go up to `n` in any order: (n + 1)^3 states, a depth of 3n.
fn counters(n: u32) -> Model {
    let more = format!(
        "do :: a < {n} -> a++ :: b < {n} -> b++ :: c < {n} -> c++ \
         :: a == {n} && b == {n} && c == {n} -> break od;"
    );
    model("int a, b, c;", &more)
}

fn run(model: &Model, options: &SpinOptions) -> Result<SpinResult, SpinError> {
    let tools = SpinTools::find()?;
    run_with(model, options, &tools, &AtomicBool::new(false), &|_| {})
}

fn run_with(
    model: &Model,
    options: &SpinOptions,
    tools: &SpinTools,
    interrupt: &AtomicBool,
    observer: &(dyn Fn(&SpinEvent) + Sync),
) -> Result<SpinResult, SpinError> {
    let (problem, space) = problem();
    let subject = SpinSubject { problem: &problem, space: &space, model };
    search(subject, tools, options, interrupt, observer)
}

fn options(search: Search) -> SpinOptions {
    let timeout = Some(Duration::from_secs(60));
    SpinOptions { search, workers: Some(2), memory: 512 << 20, timeout, ..SpinOptions::default() }
}

#[test]
fn three_searches_prove_the_same_least_time() {
    let Some(_) = tools() else { return };
    for kind in [Search::Bisect, Search::Exhaustive, Search::BranchAndBound] {
        let result = run(&model("", ""), &options(kind)).unwrap();
        let about = kind.name();
        assert_eq!(result.status, Status::Optimal, "{about}");
        assert_eq!((result.lower, result.upper), (14, Some(14)), "{about}");
        assert_eq!(result.best.as_ref().unwrap().configuration.0, [4, 1], "{about}");
        assert_eq!(result.stopped_by, None, "{about}");
        let proof = match kind {
            Search::BranchAndBound => SpinProof::BranchAndBound,
            _ => SpinProof::OverTime,
        };
        assert_eq!(result.proof, Some(proof), "{about}");
        assert!(result.trails.iter().all(|t| t.confirmed), "{about}");
        assert!(result.trails.is_sorted_by_key(|t| t.found.time), "{about}");
        assert!(result.states() > 0 && result.depth() > 0 && result.memory_bytes() > 0, "{about}");
        if proof == SpinProof::OverTime {
            let last = result.runs.last().unwrap();
            assert_eq!((last.bound, &last.verdict), (Some(13), &VerifierVerdict::Holds), "{about}");
        }
        if kind == Search::Bisect {
            assert_eq!(result.runs[0].what, "simulation");
            let mut bounds: Vec<i64> = result.runs.iter().filter_map(|r| r.bound).collect();
            let asked = bounds.len();
            bounds.sort_unstable();
            bounds.dedup();
            assert_eq!(bounds.len(), asked, "every bound is asked once");
            assert!(asked <= 7, "the first time is at most 80: {bounds:?}");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_runs() {
    let Some(_) = tools() else { return };
    let plain = |r: &SpinResult| {
        let run = |l: &RunLog| (l.what, l.bound, l.states, l.verdict.clone());
        r.runs.iter().map(run).collect::<Vec<_>>()
    };
    let once = run(&model("", ""), &options(Search::BranchAndBound)).unwrap();
    let again = run(&model("", ""), &options(Search::BranchAndBound)).unwrap();
    assert_eq!(plain(&again), plain(&once));
    assert_eq!(again.trails, once.trails);
}

#[test]
fn a_swarm_finds_and_does_not_prove() {
    let Some(_) = tools() else { return };
    let result = run(&counters(6), &options(Search::Swarm)).unwrap();
    assert_eq!(result.status, Status::Bounded);
    assert_eq!((result.lower, result.upper), (0, Some(14)));
    assert_eq!((result.proof, &result.stopped_by), (None, &None));
    assert!(result.trails.iter().all(|t| t.confirmed && t.steps.is_some()));
    let ranks: Vec<_> = result.trails.iter().map(|t| (t.found.time, t.steps)).collect();
    assert!(ranks.is_sorted(), "{ranks:?}");
    assert!(result.runs.iter().all(|r| r.verdict != VerifierVerdict::Holds));
    let mut seeds: Vec<_> = result.runs.iter().map(|r| (r.seed, r.depth_limit)).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), result.runs.len(), "every run has a seed of its own");
}

#[test]
fn a_depth_limit_is_raised_or_reported() {
    let Some(_) = tools() else { return };
    let deep = model("int a;", "do :: a < 12000 -> a++ :: else -> break od;");
    for kind in [Search::Exhaustive, Search::BranchAndBound, Search::Swarm] {
        let raised = run(&deep, &options(kind)).unwrap();
        let about = format!("{}: {:?}", kind.name(), raised.runs);
        assert_eq!(raised.upper, Some(14), "{about}");
        assert_eq!(raised.status == Status::Optimal, kind != Search::Swarm, "{about}");
        assert!(raised.runs.iter().any(|r| r.verdict == VerifierVerdict::DepthLimit), "{about}");
        assert!(raised.trails.iter().any(|t| t.steps > Some(12_000)), "{about}");
    }
    for kind in [Search::Bisect, Search::BranchAndBound, Search::Swarm] {
        let fixed = SpinOptions { depth: Some(1_000), ..options(kind) };
        let cut = run(&deep, &fixed).unwrap();
        assert_eq!(cut.status, Status::Bounded, "{}", kind.name());
        assert_eq!(cut.stopped_by, Some(SpinStop::Depth(1_000)), "{}", kind.name());
        assert_eq!((cut.lower, cut.proof), (0, None), "{}", kind.name());
    }
}

#[test]
fn memory_that_runs_out_is_no_proof() {
    let Some(_) = tools() else { return };
    for kind in [Search::Exhaustive, Search::Bisect, Search::BranchAndBound] {
        let small = SpinOptions { memory: 64 << 20, ..options(kind) };
        let result = run(&counters(120), &small).unwrap();
        let about = format!("{}: {:?}", kind.name(), result.runs);
        assert_eq!(result.status, Status::Bounded, "{about}");
        assert_eq!(result.stopped_by, Some(SpinStop::Memory(64 << 20)), "{about}");
        assert_eq!((result.lower, result.proof), (0, None), "{about}");
        assert_eq!(result.upper.is_some(), kind != Search::Exhaustive, "{about}");
        let last = result.runs.last().unwrap();
        assert_eq!(last.verdict, VerifierVerdict::OutOfMemory, "{about}");
        assert!(last.memory_bytes <= 65 << 20 && last.states > 100_000, "{about}");
    }
}

/// Processes of a program in a folder under `keep` that still run.
fn left_over(keep: &Path) -> Vec<String> {
    let folder = keep.to_string_lossy().into_owned();
    // A system without /proc has nothing to look at.
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|p| std::fs::read(p.path().join("cmdline")).ok());
    let lines = lines.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    lines.filter(|line| line.contains(&folder)).collect()
}

#[test]
fn a_time_out_and_an_interrupt_leave_nothing_behind() {
    let Some(tools) = tools() else { return };
    let large = counters(400);
    for (kind, interrupts) in
        [(Search::Bisect, false), (Search::BranchAndBound, true), (Search::Swarm, true)]
    {
        let folder = tempfile::tempdir().unwrap();
        let timeout = Duration::from_secs(if interrupts { 60 } else { 3 });
        let keep = Some(folder.path().join("kept"));
        let options = SpinOptions { keep, timeout: Some(timeout), ..options(kind) };
        let interrupt = AtomicBool::new(false);
        let started = Instant::now();
        let observer = |event: &SpinEvent| {
            // The first million states.
            if interrupts && matches!(event, SpinEvent::Running(_)) {
                interrupt.store(true, Ordering::Relaxed);
            }
        };
        let result = run_with(&large, &options, &tools, &interrupt, &observer).unwrap();
        let about = format!("{} {interrupts} {:?}", kind.name(), result.runs);
        let reason = if interrupts { SpinStop::Interrupted } else { SpinStop::TimeOut(3.0) };
        assert_eq!(result.stopped_by, Some(reason), "{about}");
        assert_eq!(result.status, Status::Bounded, "{about}");
        assert_eq!(result.lower, 0, "{about}");
        assert!(result.upper.is_some(), "{about}");
        assert!(started.elapsed() < Duration::from_secs(30), "{about}");
        assert_eq!(left_over(folder.path()), Vec::<String>::new(), "{about}");
        // A verifier that is interrupted still says how far it came.
        let stopped = |r: &RunLog| matches!(r.verdict, VerifierVerdict::Stopped(_)) && r.states > 0;
        assert!(!interrupts || result.runs.iter().any(stopped), "{about}");
    }
}

/// A compiler whose verifiers write a file and wait where they are to replay a trail.
#[cfg(unix)]
fn slow_replays(folder: &Path, tools: &SpinTools) -> SpinTools {
    use std::os::unix::fs::PermissionsExt as _;
    let (begun, compiler) = (folder.join("begun"), folder.join("cc"));
    let wrapped = format!(
        r#"#!/bin/sh
{cc} "$@" || exit
test -x pan || exit 0
mv pan pan.compiled
printf '#!/bin/sh\nif [ "$1" = -r ]; then touch {begun}; exec sleep 60; fi\nexec %s "$@"\n' \
    "$PWD/pan.compiled" >pan
chmod +x pan
"#,
        cc = tools.compiler.display(),
        begun = begun.display()
    );
    std::fs::write(&compiler, wrapped).unwrap();
    std::fs::set_permissions(&compiler, std::fs::Permissions::from_mode(0o755)).unwrap();
    SpinTools { compiler, ..tools.clone() }
}

#[test]
#[cfg(unix)]
fn a_stop_before_the_best_trail_is_replayed_is_no_proof() {
    let Some(tools) = tools() else { return };
    for (kind, lower) in
        [(Search::BranchAndBound, 0), (Search::Exhaustive, 0), (Search::Bisect, 10)]
    {
        let folder = tempfile::tempdir().unwrap();
        let begun = folder.path().join("begun");
        let (interrupt, done) = (AtomicBool::new(false), AtomicBool::new(false));
        let slow = slow_replays(folder.path(), &tools);
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !begun.exists() && !done.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                interrupt.store(true, Ordering::Relaxed);
            });
            let result = run_with(&model("", ""), &options(kind), &slow, &interrupt, &|_| {});
            done.store(true, Ordering::Relaxed);
            result.unwrap()
        });
        let about = format!("{}: {:?}", kind.name(), result.runs);
        assert!(begun.exists(), "{about}");
        assert_eq!(result.stopped_by, Some(SpinStop::Interrupted), "{about}");
        assert_eq!((result.status, result.proof), (Status::Bounded, None), "{about}");
        assert_eq!(result.lower, lower, "{about}");
        // Else the first run of SPIN's simulator would have found the least time.
        assert!(result.upper.is_none_or(|upper| upper > 14), "{about}");
    }
}

/// Two warps and one dispatcher. Warp A computes for 3 ticks and reads memory, which takes 7; B
/// computes for 5. If A reads at once, B computes meanwhile.
const OPEN: &str = r#"{ "name": "two warps",
  "platform": { "units_per_device": 1, "elements_per_unit": 2, "global_access": 1,
    "global_issue": 1, "global_latency": 6,
    "warps": { "width": 2, "dispatchers": 1, "resident_groups": 2 } },
  "parameters": { "WG": [2] },
  "launch": { "global_size": 4, "local_size": "WG" },
  "kernel": [ { "if": "group == 0",
    "then": [ { "compute": 3 }, { "global": 1 } ], "else": [ { "compute": 5 } ] } ] }"#;

/// Its three schedules, written out: (time, group) of each start, and the time of the end.
fn open_model(schedules: &[(&[(i64, i64)], i64)]) -> Model {
    let branches: String = schedules
        .iter()
        .map(|(starts, end)| {
            let starts: String = starts
                .iter()
                .map(|(t, g)| format!(r#"printf("tickbound: start time={t} group={g} warp=0\n");"#))
                .collect();
            format!(":: atomic {{ {starts} time = {end} }}\n")
        })
        .collect();
    let text = format!(
        r#"
#ifndef T
#define T 0
#endif
#ifdef BEST
c_decl {{ static int tb_best = BEST; }}
#endif
int time = 0;
bool FIN = false;
byte WG = 2;
ltl NonTerm {{ [] !FIN }}
ltl OverTime {{ [] (FIN -> time > T) }}
active proctype unit() {{
  printf("tickbound: place group=0 unit=0\n");
  printf("tickbound: place group=1 unit=0\n");
  if
  {branches}
  fi;
#ifdef BEST
  c_expr {{ now.time < tb_best }};
#endif
  atomic {{
    FIN = true;
    printf("tickbound: time=%d WG=%d\n", time, WG);
#ifdef BEST
    c_code {{ tb_best = now.time; }};
    assert(false)
#endif
  }}
}}
"#
    );
    let parameters = vec![PromelaName { problem: "WG".into(), promela: "WG".into() }];
    Model { text, parameters, open_schedule: true, configurations: 1, ..model("", "") }
}

fn search_open(schedules: &[(&[(i64, i64)], i64)], kind: Search) -> Result<SpinResult, SpinError> {
    let problem = Problem::from_json(OPEN, &IndexMap::new(), &|_| unreachable!()).unwrap();
    let space = problem.space().unwrap();
    let model = open_model(schedules);
    let subject = SpinSubject { problem: &problem, space: &space, model: &model };
    search(subject, &SpinTools::find()?, &options(kind), &AtomicBool::new(false), &|_| {})
}

#[test]
fn the_schedule_of_a_trail_is_followed_decision_by_decision() {
    let Some(_) = tools() else { return };
    let slow: (&[(i64, i64)], i64) = (&[(0, 0), (3, 1), (8, 0)], 15);
    let late: (&[(i64, i64)], i64) = (&[(0, 1), (5, 0), (8, 0)], 15);
    let fast: (&[(i64, i64)], i64) = (&[(0, 0), (3, 0), (4, 1)], 10);
    for kind in [Search::Exhaustive, Search::BranchAndBound, Search::Swarm] {
        let result = search_open(&[slow, late, fast], kind).unwrap();
        let about = kind.name();
        assert_eq!(result.upper, Some(10), "{about}");
        assert_eq!(result.status == Status::Optimal, kind != Search::Swarm, "{about}");
        let starts = vec![(0, 0, 0), (3, 0, 0), (4, 1, 0)];
        let script = Script::Starts { starts, units: vec![0, 0] };
        assert_eq!(result.trails[0].script, script, "{about}");
        assert!(result.trails.iter().all(|t| t.confirmed), "{about}");
        if kind == Search::Exhaustive {
            // First come, first served, takes 15.
            let note = "15 ticks were not the least: SPIN found 10";
            assert!(result.notes.iter().any(|n| n == note), "{:?}", result.notes);
        }
    }
    // The same time by a schedule that does not exist, and a schedule that takes another time.
    let idle: (&[(i64, i64)], i64) = (&[(0, 0), (3, 0), (5, 1)], 10);
    let error = search_open(&[idle], Search::Bisect).unwrap_err().to_string();
    assert!(error.contains("SPIN takes 10 ticks, the simulator cannot follow"), "{error}");
    let early: (&[(i64, i64)], i64) = (&[(0, 0), (3, 0), (4, 1)], 9);
    let error = search_open(&[early], Search::Bisect).unwrap_err().to_string();
    assert!(error.contains("SPIN takes 9 ticks, the simulator 10 ticks"), "{error}");
}

/// The abstract kernel as exported; its least time for size 8 is 44, at WG=4 and TS=2 or 4.
const ABSTRACT: &str = include_str!("../examples/problems/abstract.json");

fn exported(size: i64, style: Style) -> (Problem, Space, Model) {
    let inputs = IndexMap::from([("size".to_owned(), size)]);
    let problem = Problem::from_json(ABSTRACT, &inputs, &|_| unreachable!()).unwrap();
    let space = problem.space().unwrap();
    let model = export(&problem, &space, &promela::PromelaOptions { style }).unwrap();
    (problem, space, model)
}

#[test]
fn the_exported_model_gives_the_least_time_of_table_1() {
    let Some(tools) = tools() else { return };
    let cases = [
        (Style::Lockstep, Search::Exhaustive),
        (Style::Lockstep, Search::BranchAndBound),
        (Style::Lockstep, Search::Swarm),
        (Style::Processes, Search::BranchAndBound),
    ];
    for (style, kind) in cases {
        let (problem, space, model) = exported(8, style);
        let subject = SpinSubject { problem: &problem, space: &space, model: &model };
        let never = AtomicBool::new(false);
        let result = search(subject, &tools, &options(kind), &never, &|_| {}).unwrap();
        let about = format!("{} {}", style.name(), kind.name());
        assert_eq!(result.upper, Some(44), "{about}");
        assert_eq!(result.status == Status::Optimal, kind != Search::Swarm, "{about}");
        let best = result.best.as_ref().unwrap().configuration.0.clone();
        assert!(best == [4, 2] || best == [4, 4], "{about}: {best:?}");
        assert!(result.replayed(), "{about}");
    }
}

#[test]
fn each_configuration_has_the_time_of_the_simulator_on_every_interleaving() {
    let Some(tools) = tools() else { return };
    for style in [Style::Lockstep, Style::Processes] {
        let (problem, space, model) = exported(8, style);
        let subject = SpinSubject { problem: &problem, space: &space, model: &model };
        let never = AtomicBool::new(false);
        let options = options(Search::Exhaustive);
        let listed = times(subject, &tools, &options, &never, &|_| {}).unwrap();
        assert_eq!(listed.stopped_by, None);
        let simulated = space.bound.iter().map(|bound| {
            let run = simulate(&problem, bound, &Default::default()).unwrap();
            BTreeSet::from([run.time])
        });
        assert_eq!(listed.times, simulated.collect::<Vec<_>>(), "{}", style.name());
    }
}

#[test]
fn faults_of_a_model_are_told_apart() {
    let Some(_) = tools() else { return };
    let message = |model: &Model| match run(model, &options(Search::Exhaustive)) {
        Ok(result) => panic!("{result:?}"),
        Err(e) => e.to_string(),
    };
    let cases: [(&str, Model, &[&str]); 6] = [
        ("syntax", model("", "nonsense;"), &["SPIN refuses the model", "undeclared variable"]),
        ("C", model("", "c_code { nonsense; };"), &["refuses the verifier", "nonsense"]),
        (
            "index",
            model("byte list[2]; byte i;", "for (i : 0 .. 2) { list[i] = 1 }"),
            &["invalid array index"],
        ),
        (
            "vector",
            model("int list[700]; byte i;", "list[i] = 1; list[i] == 1;"),
            &["1024 bytes", "VECTORSZ"],
        ),
        (
            "time",
            model("", "time = -1;"),
            &["SPIN takes 13 ticks", "the simulator 14 ticks", "WG=4, TS=1"],
        ),
        (
            "parameters",
            model("", "").tap(|m| m.parameters.swap(0, 1)),
            &["names the parameters `WG TS`"],
        ),
    ];
    for (about, model, parts) in cases {
        let said = message(&model);
        for part in parts {
            assert!(said.contains(part), "{about}: `{part}` is missing in: {said}");
        }
    }
}

trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Tap for Model {}

#[test]
fn what_spin_proves_is_compared_with_the_simulator() {
    let Some(_) = tools() else { return };
    // Every run of the model takes at least 100 ticks: no trail, and a proof that is wrong.
    let slow = model("", "time = 100;");
    let error = run(&slow, &options(Search::Exhaustive)).unwrap_err();
    assert!(matches!(error, SpinError::Contradiction { proved: 14, .. }), "{error}");
    // A model that never ends.
    let endless = model("bool stop;", "stop == true;");
    let error = run(&endless, &options(Search::Bisect)).unwrap_err().to_string();
    assert!(error.contains("no run of the model comes to an end"), "{error}");
}

#[test]
fn an_empty_space_is_an_answer() {
    let Some(tools) = tools() else { return };
    let (problem, space) = problem();
    let space = Space { bound: Vec::new(), ..space };
    let model = model("", "");
    let subject = SpinSubject { problem: &problem, space: &space, model: &model };
    let options = options(Search::Bisect);
    let result = search(subject, &tools, &options, &AtomicBool::new(false), &|_| {}).unwrap();
    assert_eq!((result.status, result.upper, result.runs.len()), (Status::Infeasible, None, 0));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let Some(_) = tools() else { return };
    let base = options(Search::Bisect);
    let cases = [
        (SpinOptions { memory: 1 << 20, ..base.clone() }, "at least 64M"),
        (SpinOptions { workers: Some(0), ..base.clone() }, "at least 1"),
        (SpinOptions { depth: Some(0), ..base.clone() }, "1 to 2000000000"),
        (SpinOptions { depth: Some(1 << 40), ..base.clone() }, "1 to 2000000000"),
    ];
    for (options, part) in cases {
        let said = run(&model("", ""), &options).unwrap_err().to_string();
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn everything_is_kept_where_that_is_asked_for() {
    let Some(_) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let keep = folder.path().join("kept with a space");
    let options = SpinOptions { keep: Some(keep.clone()), ..options(Search::Exhaustive) };
    run(&model("", ""), &options).unwrap();
    let at = |path: &str| keep.join(path);
    for file in [
        "01-OverTime-14/model.pml",
        "01-OverTime-14/pan.c",
        "01-OverTime-14/build.log",
        "01-OverTime-14/run-m10000/pan.log",
        "01-OverTime-14/run-m10000/model.pml.trail",
        "01-OverTime-14/run-m10000/replay.log",
        "02-OverTime-13/run-m10000/pan.log",
    ] {
        assert!(at(file).is_file(), "{file}");
    }
    let log = fs::read_to_string(at("01-OverTime-14/build.log")).unwrap();
    assert!(log.contains("-DT=14 -a model.pml"), "{log}");
    // A second search does not mix with the first.
    let said = run(&model("", ""), &options).unwrap_err().to_string();
    assert!(said.contains("is not empty; give a new one"), "{said}");
}

/// A program in a folder that prints one line.
fn fake(folder: &Path, name: &str, prints: &str) {
    use std::os::unix::fs::PermissionsExt;

    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\necho '{prints}'\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn tools_that_are_missing_or_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let find = |path: &Path| {
        let path = path.as_os_str().to_owned();
        SpinTools::find_in(&move |name| (name == "PATH").then(|| path.clone()))
    };
    let said = |error: Result<SpinTools, SpinError>| error.unwrap_err().to_string();
    assert!(said(find(folder.path())).contains("SPIN was not found"));
    fake(folder.path(), "spin", "Spin Version 6.4.9 -- 17 December 2018");
    let old = said(find(folder.path()));
    assert!(old.contains("SPIN 6.4.9 is too old, 6.5.0 is needed"), "{old}");
    fake(folder.path(), "spin", "Fermyon spin 2.0");
    assert!(said(find(folder.path())).contains("no version of SPIN"));
    fake(folder.path(), "spin", "Spin Version 6.5.2 -- 6 December 2019");
    assert!(said(find(folder.path())).contains("no C compiler was found"));
    fake(folder.path(), "clang", "clang version 99");
    let found = find(folder.path()).unwrap();
    assert_eq!(found.compiler_version, "clang version 99");
    assert_eq!(found.version.to_string(), "6.5.2");
}

/// The program, run in the repository.
fn tickbound() -> assert_cmd::Command {
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).timeout(Duration::from_secs(120));
    command
}

const FILE: &str = "examples/problems/abstract.json";

#[test]
fn the_command_prints_one_object() {
    let Some(_) = tools() else { return };
    let output = tickbound()
        .args(["spin", FILE, "--input", "size=8", "--set", "WG=4", "--json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({
        "time": 44, "status": "optimal", "lower": 44, "upper": 44, "search": "branch-and-bound",
        "style": "lockstep", "proof": "branch-and-bound", "replayed": true, "stopped_by": null
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&said[key], value, "{key}");
    }
    assert_eq!(said["configuration"]["WG"], 4);
    for key in ["states", "transitions", "memory_bytes", "depth", "seconds"] {
        assert!(said[key].as_f64().is_some_and(|n| n > 0.0), "{key}: {}", said[key]);
    }
    let last = said["runs"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["what"], &last["verdict"]), (&json!("branch and bound"), &json!("violated")));
    assert!(said["trails"].as_array().is_some_and(|t| t.iter().all(|t| t["confirmed"] == true)));
    assert!(said["spin"].is_string() && said["compiler"].is_string());
}

#[test]
fn the_command_refuses_in_one_line() {
    let refused = |args: &[&str], spin: Option<&str>, parts: &[&str]| {
        let mut command = tickbound();
        command.arg("spin").args(args);
        if let Some(spin) = spin {
            command.env("SPIN", spin);
        }
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(output.stdout.is_empty() && error.lines().count() == 1, "{error}");
        for part in parts {
            assert!(error.contains(part), "`{part}` is missing: {error}");
        }
    };
    refused(
        &[FILE],
        Some("/no/such/spin"),
        &["SPIN was not found", "SPIN=/no/such/spin", "install"],
    );
    refused(&["no.json"], None, &["no.json", "give the path"]);
    let Some(_) = tools() else { return };
    refused(&[FILE, "--set", "XY=3"], None, &["--set XY", "known here: WG, TS"]);
    refused(&[FILE, "--memory", "1M"], None, &["too small", "at least 64M"]);
    refused(&[FILE, "--workers", "0"], None, &["at least 1"]);
    refused(&[FILE, "--timeout=-1"], None, &["--timeout -1", "positive number"]);
}

#[test]
fn ctrl_c_ends_the_command_with_what_is_known() {
    let Some(_) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let keep = folder.path().join("kept");
    let mut child = Command::new(cargo_bin!("tickbound"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["spin", FILE, "--input", "size=64", "--style", "processes", "--search", "bisect"])
        .args(["--json", "--keep"])
        .arg(&keep)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let verifying = || left_over(folder.path()).iter().any(|l| l.contains("/pan "));
    // One verifier follows another, and between them there is none: it is enough to have seen one.
    while !verifying() {
        assert!(started.elapsed() < Duration::from_secs(300), "no verifier was started");
        std::thread::sleep(Duration::from_millis(50));
    }
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(said["stopped_by"], "interrupt", "{text}");
    assert_eq!((&said["status"], &said["lower"]), (&json!("bounded"), &json!(0)), "{text}");
    assert!(said["upper"].is_i64() && said["replayed"] == true, "{text}");
    assert_eq!(left_over(folder.path()), Vec::<String>::new());
}
