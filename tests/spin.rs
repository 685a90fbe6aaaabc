//! Searching with SPIN, on small models written by hand: what is found, what is proved, and what becomes
//! of a search that is cut, stopped or faulty.
//!
//! SPIN and a C compiler are needed. Where they are missing these tests say so and do nothing, except
//! on CI, where that is a failure.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use tickbound::solve::result::Status;
use tickbound::spin::output::Verdict;
use tickbound::spin::result::Proof;
use tickbound::spin::tools::Tools;
use tickbound::spin::{
    Event, Options, Search, SpinError, SpinResult, StopReason, Subject, search,
};
use tickbound_encodings::model::{Problem, Space};
use tickbound_encodings::promela::{Model, Name, Style};

/// The tools, if they are there.
fn tools() -> Option<Tools> {
    match Tools::find() {
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
  d_step {{
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
    let name = |n: &str| Name { problem: n.into(), promela: n.into() };
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

fn run(model: &Model, options: &Options) -> Result<SpinResult, SpinError> {
    let tools = Tools::find()?;
    run_with(model, options, &tools, &AtomicBool::new(false), &|_| {})
}

fn run_with(
    model: &Model,
    options: &Options,
    tools: &Tools,
    interrupt: &AtomicBool,
    observer: &(dyn Fn(&Event) + Sync),
) -> Result<SpinResult, SpinError> {
    let (problem, space) = problem();
    let subject = Subject { problem: &problem, space: &space, model };
    search(subject, tools, options, interrupt, observer)
}

fn options(search: Search) -> Options {
    let timeout = Some(Duration::from_secs(60));
    Options { search, workers: Some(2), memory: 512 << 20, timeout, ..Options::default() }
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
            Search::BranchAndBound => Proof::BranchAndBound,
            _ => Proof::OverTime,
        };
        assert_eq!(result.proof, Some(proof), "{about}");
        assert!(result.trails.iter().all(|t| t.confirmed), "{about}");
        assert!(result.trails.is_sorted_by_key(|t| t.found.time), "{about}");
        assert!(result.states() > 0 && result.depth() > 0 && result.memory_bytes() > 0, "{about}");
        if proof == Proof::OverTime {
            let last = result.runs.last().unwrap();
            assert_eq!((last.bound, &last.verdict), (Some(13), &Verdict::Holds), "{about}");
        }
    }
}

#[test]
fn a_trail_may_jump_and_every_bound_is_asked_once() {
    let Some(_) = tools() else { return };
    let result = run(&model("", ""), &options(Search::Bisect)).unwrap();
    let mut bounds: Vec<i64> = result.runs.iter().filter_map(|r| r.bound).collect();
    let asked = bounds.len();
    bounds.sort_unstable();
    bounds.dedup();
    assert_eq!(bounds.len(), asked);
    assert!(asked <= 8, "the first time is at most 80: {bounds:?}");
    assert_eq!(result.runs[0].what, "simulation");
    let again = run(&model("", ""), &options(Search::Bisect)).unwrap();
    let plain = |r: &SpinResult| {
        let run = |l: &tickbound::spin::result::RunLog| (l.bound, l.states, l.verdict.clone());
        r.runs.iter().map(run).collect::<Vec<_>>()
    };
    assert_eq!(plain(&again), plain(&result));
    assert_eq!(again.trails, result.trails);
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
    assert!(result.runs.iter().all(|r| r.verdict != Verdict::Holds));
    let mut seeds: Vec<_> = result.runs.iter().map(|r| (r.seed, r.depth_limit)).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), result.runs.len(), "every run has a seed of its own");
}

#[test]
fn a_depth_limit_is_raised_or_reported() {
    let Some(_) = tools() else { return };
    let deep = "int a;";
    let deep = model(deep, "do :: a < 150000 -> a++ :: else -> break od;");
    for kind in [Search::Bisect, Search::BranchAndBound, Search::Swarm] {
        let raised = run(&deep, &options(kind)).unwrap();
        let about = format!("{}: {:?}", kind.name(), raised.runs);
        assert_eq!(raised.upper, Some(14), "{about}");
        assert_eq!(raised.status == Status::Optimal, kind != Search::Swarm, "{about}");
        assert!(raised.runs.iter().any(|r| r.verdict == Verdict::DepthLimit), "{about}");
        assert!(raised.trails.iter().any(|t| t.steps > Some(150_000)), "{about}");
    }
    for kind in [Search::Bisect, Search::Exhaustive, Search::BranchAndBound, Search::Swarm] {
        let fixed = Options { depth: Some(1_000), ..options(kind) };
        let cut = run(&deep, &fixed).unwrap();
        assert_eq!(cut.status, Status::Bounded, "{}", kind.name());
        assert_eq!(cut.stopped_by, Some(StopReason::Depth(1_000)), "{}", kind.name());
        assert_eq!((cut.lower, cut.proof), (0, None), "{}", kind.name());
    }
}

#[test]
fn memory_that_runs_out_is_no_proof() {
    let Some(_) = tools() else { return };
    let small = Options { memory: 64 << 20, ..options(Search::Exhaustive) };
    let result = run(&counters(120), &small).unwrap();
    assert_eq!(result.status, Status::Bounded);
    assert_eq!(result.stopped_by, Some(StopReason::Memory(64 << 20)));
    assert_eq!((result.lower, result.upper), (0, Some(14)));
    assert_eq!(result.runs.last().unwrap().verdict, Verdict::OutOfMemory);
}

/// Processes of a program in a folder under `keep` that still run.
fn left_over(keep: &Path) -> Vec<String> {
    let output = Command::new("ps").args(["-eo", "stat=,args="]).output().expect("ps runs");
    let all = String::from_utf8_lossy(&output.stdout).into_owned();
    let folder = keep.to_string_lossy().into_owned();
    all.lines().filter(|l| l.contains(&folder)).map(str::to_owned).collect()
}

#[test]
fn a_time_out_and_an_interrupt_leave_nothing_behind() {
    let Some(tools) = tools() else { return };
    let large = counters(400);
    for (kind, interrupts) in
        [(Search::Exhaustive, false), (Search::Exhaustive, true), (Search::Swarm, true)]
    {
        let folder = tempfile::tempdir().unwrap();
        let timeout = Duration::from_secs(if interrupts { 60 } else { 3 });
        let keep = Some(folder.path().join("kept"));
        let options = Options { keep, timeout: Some(timeout), ..options(kind) };
        let interrupt = AtomicBool::new(false);
        let started = Instant::now();
        let observer = |event: &Event| {
            // The first million states.
            if interrupts && matches!(event, Event::Running(_)) {
                interrupt.store(true, Ordering::Relaxed);
            }
        };
        let result = run_with(&large, &options, &tools, &interrupt, &observer).unwrap();
        let about = format!("{} {interrupts} {:?}", kind.name(), result.runs);
        let reason =
            if interrupts { StopReason::Interrupted } else { StopReason::TimeOut(3.0) };
        assert_eq!(result.stopped_by, Some(reason), "{about}");
        assert_eq!(result.status, Status::Bounded, "{about}");
        assert_eq!(result.lower, 0, "{about}");
        assert!(result.upper.is_some(), "{about}");
        assert!(started.elapsed() < Duration::from_secs(30), "{about}");
        assert_eq!(left_over(folder.path()), Vec::<String>::new(), "{about}");
        let stopped = result.runs.iter().find(|r| matches!(r.verdict, Verdict::Stopped(_)));
        assert!(stopped.is_some_and(|r| r.states > 0), "{about}");
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
        ("vector", model("int list[700]; byte i;", "list[i] = 1;"), &["1024 bytes", "VECTORSZ"]),
        (
            "time",
            model("", "time = 1;"),
            &["SPIN takes 15 ticks", "the simulator 14 ticks", "WG=4, TS=1"],
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
    let subject = Subject { problem: &problem, space: &space, model: &model };
    let options = options(Search::Bisect);
    let result = search(subject, &tools, &options, &AtomicBool::new(false), &|_| {}).unwrap();
    assert_eq!((result.status, result.upper, result.runs.len()), (Status::Infeasible, None, 0));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let Some(_) = tools() else { return };
    let base = options(Search::Bisect);
    let cases = [
        (Options { memory: 1 << 20, ..base.clone() }, "at least 64M"),
        (Options { workers: Some(0), ..base.clone() }, "at least 1"),
        (Options { depth: Some(0), ..base.clone() }, "1 to 2000000000"),
        (Options { depth: Some(1 << 40), ..base.clone() }, "1 to 2000000000"),
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
    let options = Options { keep: Some(keep.clone()), ..options(Search::Exhaustive) };
    run(&model("", ""), &options).unwrap();
    let at = |path: &str| keep.join(path);
    for file in [
        "01-OverTime-14/model.pml",
        "01-OverTime-14/pan.c",
        "01-OverTime-14/build.log",
        "01-OverTime-14/run-100000/pan.log",
        "01-OverTime-14/run-100000/model.pml.trail",
        "01-OverTime-14/run-100000/replay.log",
        "02-OverTime-13/run-100000/pan.log",
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
        Tools::find_in(&move |name| (name == "PATH").then(|| path.clone()))
    };
    let said = |error: Result<Tools, SpinError>| error.unwrap_err().to_string();
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
