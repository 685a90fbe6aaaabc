//! The search against published times, closed formulas and the simulator.
//!
//! What is checked throughout: every strategy on every encoding gives the same least time and the
//! same set of optimal configurations as simulating all of them.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indexmap::IndexMap;
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_encodings::summary;
use tickbound_encodings::system::run::run;
use tickbound_model::platforms;
use tickbound_model::verdict::Status;
use tickbound_model::{Configuration, Problem};
use tickbound_simulator::{program, simulate};
use tickbound_solver::{
    Encoding, ProgramClass, SearchOptions, SolveError, StopReason, Strategy, TuneResult, tune,
};

use crate::problems::Random;

const ENCODINGS: [Encoding; 3] = [Encoding::Tick, Encoding::Event, Encoding::Summary];
const STRATEGIES: [Strategy; 7] = [
    Strategy::Optimize,
    Strategy::Descend,
    Strategy::Ascend,
    Strategy::Bisect,
    Strategy::BisectFresh,
    Strategy::Enumerate,
    Strategy::Race,
];

fn parsed(text: &str, inputs: &[(&str, i64)]) -> Problem {
    let inputs: IndexMap<String, i64> = inputs.iter().map(|(n, v)| ((*n).into(), *v)).collect();
    Problem::from_json(text, &inputs, &platforms::find).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn shipped(file: &str, inputs: &[(&str, i64)]) -> Problem {
    let path = format!("{}/../../examples/problems/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    parsed(&text, inputs)
}

fn tuned(problem: &Problem, options: &SearchOptions) -> TuneResult {
    tune(problem, options, &AtomicBool::new(false), &|_| {})
        .unwrap_or_else(|e| panic!("{}, {options:?}: {e}", problem.name))
}

/// Configurations with their times, the best first, of equal ones the earlier in the space.
type Ranking = Vec<(i64, Vec<i64>)>;

/// Every configuration, simulated.
fn simulated(problem: &Problem) -> Ranking {
    let space = problem.space().unwrap_or_else(|e| panic!("{}: {e}", problem.name));
    let mut all: Ranking = Vec::new();
    for bound in &space.bound {
        let run = simulate(problem, bound, &tickbound_simulator::SimulateOptions::default());
        let run = run.unwrap_or_else(|e| panic!("{}: {e}", problem.name));
        all.push((run.time, bound.configuration.0.clone()));
    }
    // Stable: equal times keep the order of the space.
    all.sort_by_key(|(time, _)| *time);
    all
}

fn optima(ranking: &Ranking) -> Ranking {
    let least = ranking.first().map(|(t, _)| *t);
    ranking.iter().filter(|(t, _)| Some(*t) == least).cloned().collect()
}

fn found(result: &TuneResult) -> Ranking {
    result.optima.iter().map(|f| (f.time, f.configuration.0.clone())).collect()
}

/// The result is a proved optimum, and it is what simulating everything gives.
fn assert_optimal(result: &TuneResult, expected: &Ranking, about: &str) {
    assert_eq!(result.status, Status::Optimal, "{about}: {result:?}");
    let least = expected[0].0;
    assert_eq!((result.lower, result.upper), (least, Some(least)), "{about}");
    assert_eq!(found(result), optima(expected), "{about}");
    let best = result.best.as_ref().unwrap_or_else(|| panic!("{about}: no best"));
    assert_eq!((best.time, &best.configuration.0), (least, &expected[0].1), "{about}");
    assert!(result.replayed && !result.more_optima && result.stopped_by.is_none(), "{about}");
}

fn with(encoding: Encoding, strategy: Strategy) -> SearchOptions {
    SearchOptions { encoding: Some(encoding), strategy, ..SearchOptions::default() }
}

// Published times.

/// T of the published abstract kernel (docs/semantics.md); NP = 4, GMT = 4.
fn abstract_time(size: i64, wg: i64, ts: i64) -> i64 {
    let per_unit = (size / wg) / 2 + (size / wg) % 2;
    let activations = if per_unit == 1 { 1 } else { per_unit + 1 };
    activations * (wg / 4).max(1) * ((size / ts) * (4 * ts + 1) + (ts + 1) + 5)
}

#[test]
fn abstract_kernel_of_every_published_size() {
    let table: [(i64, i64, &[[i64; 2]]); 8] = [
        (8, 44, &[[4, 2], [4, 4]]),
        (16, 156, &[[8, 4]]),
        (32, 584, &[[16, 4], [16, 8]]),
        (64, 2224, &[[32, 8]]),
        (128, 8672, &[[64, 8], [64, 16]]),
        (256, 33_984, &[[128, 16]]),
        (512, 134_528, &[[256, 16], [256, 32]]),
        (1024, 533_248, &[[512, 32]]),
    ];
    for (size, time, best) in table {
        let options = SearchOptions { strategy: Strategy::Descend, ..SearchOptions::default() };
        let result = tuned(&shipped("abstract.json", &[("size", size)]), &options);
        let expected: Ranking = best.iter().map(|c| (time, c.to_vec())).collect();
        assert_optimal(&result, &expected, &format!("size {size}"));
        assert!(result.confirmed_uncut, "size {size}: {result:?}");
        assert_eq!(result.size.steps, 2, "one step to begin and one jump, whatever the size");
    }
}

#[test]
fn abstract_kernel_of_a_size_nobody_can_enumerate_by_ticks() {
    let size = 1 << 30;
    let problem = shipped("abstract.json", &[("size", size)]);
    let space = problem.space().expect("a space");
    let mut expected: Ranking = Vec::new();
    for bound in &space.bound {
        let c = &bound.configuration.0;
        expected.push((abstract_time(size, c[0], c[1]), c.clone()));
    }
    expected.sort_by_key(|(t, _)| *t);
    let result =
        tuned(&problem, &SearchOptions { strategy: Strategy::Descend, ..SearchOptions::default() });
    assert_optimal(&result, &expected, "size 2^30");
    assert!(result.confirmed_uncut);
    let result = tuned(&problem, &SearchOptions::default());
    assert_optimal(&result, &expected, "size 2^30");
    assert!(!result.proofs.is_empty());
}

#[test]
fn minimum_as_published() {
    let result = tuned(&shipped("minimum.json", &[]), &SearchOptions::default());
    assert_optimal(&result, &vec![(24, vec![4, 4]), (24, vec![4, 8])], "size 16, 4 elements");
    for (size, time) in [(64, 36), (128, 52), (256, 68), (1024, 132)] {
        let problem = shipped("minimum.json", &[("size", size), ("elements_per_unit", 64)]);
        let expected = simulated(&problem);
        assert_eq!(expected[0].0, time, "size {size}");
        assert_optimal(
            &tuned(&problem, &SearchOptions::default()),
            &expected,
            &format!("size {size}"),
        );
    }
}

/// Seed 001: ceil(WGs/NM) * WG/(WR*ND) * T_warp, with 16 multiprocessors and 2 dispatchers of
/// warps of 16, and a global access of 100 ticks.
fn fermi_time(size: i64, wg: i64, warp: i64) -> i64 {
    (size / wg + 15) / 16 * (wg / 32) * warp
}

#[test]
fn fermi_as_listed_and_as_described() {
    for size in [256, 1024, 4096] {
        for (file, warp) in [
            ("fermi-listed.json", (|s, ts| 2 * 101 + 2 * (s / ts + 1)) as fn(i64, i64) -> i64),
            ("fermi.json", |s, ts| s / ts * 102 + 100),
        ] {
            let problem = shipped(file, &[("size", size)]);
            let about = format!("{file}, size {size}");
            let expected = simulated(&problem);
            for (time, c) in &expected {
                assert_eq!(*time, fermi_time(size, c[0], warp(size, c[1])), "{about} at {c:?}");
            }
            assert_optimal(&tuned(&problem, &SearchOptions::default()), &expected, &about);
        }
    }
}

#[test]
fn other_shipped_problems() {
    for (file, inputs) in [
        ("matmul.json", &[][..]),
        ("matmul.json", &[("n", 192)]),
        ("reduction-h200.json", &[]),
        ("abstract-opencl.json", &[]),
        ("minimum-opencl.json", &[]),
    ] {
        let problem = shipped(file, inputs);
        let about = format!("{file} {inputs:?}");
        assert_optimal(&tuned(&problem, &SearchOptions::default()), &simulated(&problem), &about);
    }
}

// Every way to the same answer.

/// Small problems by hand: what they are for, and their text.
const BY_HAND: [(&str, &str); 5] = [
    (
        "items that share an element, and prices of everything",
        r#"{ "platform": { "units_per_device": 2, "elements_per_unit": 2, "global_access": 3,
               "barrier": 1, "group_start": 2, "kernel_launch": 1 },
             "parameters": { "WG": [1, 2, 4, 8], "N": [1, 2] },
             "launch": { "global_size": 8, "local_size": "WG" },
             "kernel": [ { "global": "N" }, "barrier", { "compute": "WG / N" } ] }"#,
    ),
    (
        "branches on lid, and a loop with a barrier",
        r#"{ "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 2 },
             "parameters": { "WG": [2, 4], "R": [1, 2, 3] },
             "constraints": [ "WG * R != 4" ],
             "launch": { "global_size": 4, "local_size": "WG" },
             "kernel": [ { "repeat": "4 - R", "body": [
               { "if": "lid % 2 == 1", "then": [ { "work": "2 * R" } ],
                   "else": [ { "local": 1 } ] },
               "barrier" ] }, { "work": "R" } ] }"#,
    ),
    (
        "a part that stays open: each item waits for its own mark across a barrier",
        r#"{ "platform": { "units_per_device": 1, "elements_per_unit": 2, "global_access": 2 },
             "parameters": { "A": [1, 2, 3], "B": [0, 4] },
             "launch": { "global_size": 4, "local_size": 4 },
             "kernel": [ { "work": "lid * A" }, "mark", { "repeat": 2, "body": [
               { "if": "lid == 1", "then": [ "mark" ] }, "barrier",
               { "until": "B + lid" } ] } ] }"#,
    ),
    (
        "activations and runs as published, marks that are not reset",
        r#"{ "profile": "published-2023",
             "platform": { "units_per_device": 1, "elements_per_unit": 2, "global_access": 2 },
             "parameters": { "WG": [2, 4], "T": [1, 2, 4] },
             "launch": { "local_size": "WG", "activations": "4 / WG" },
             "kernel": [ { "repeat": "4 / T", "body": [ { "until": "2 * T" }, "barrier" ] },
               "mark", { "until": 1 } ],
             "finish": [ { "work": "WG - 1" } ] }"#,
    ),
    (
        "a single configuration without parameters",
        r#"{ "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 2 },
             "launch": { "global_size": 2, "local_size": 1 },
             "kernel": [ { "global": 2 } ] }"#,
    ),
];

#[test]
fn the_profile_resources_on_every_strategy() {
    let problem = shipped("coulomb-resources.json", &[("grid", 64)]);
    let expected = simulated(&problem);
    for strategy in STRATEGIES.into_iter().chain([Strategy::Eliminate, Strategy::Branch]) {
        let result = tuned(&problem, &SearchOptions { strategy, ..SearchOptions::default() });
        assert_optimal(&result, &expected, strategy.name());
    }
    let asked = SearchOptions { encoding: Some(Encoding::Event), ..SearchOptions::default() };
    let refused = tune(&problem, &asked, &AtomicBool::new(false), &|_| {}).unwrap_err();
    assert!(matches!(refused, SolveError::Plan(PlanError::Resources)), "{refused}");
}

/// Distinct programs, folded by a search without a list and where all is simulated, beside folding
/// everything by hand.
#[test]
fn programs_are_folded_whole() {
    let problem = parsed(
        r#"{ "profile": "resources",
             "platform": { "units_per_device": 4, "elements_per_unit": 32, "global_access": 9,
                 "resources": { "warp_width": 32, "real_lanes": 16 } },
             "parameters": { "WG": [32, 64, 128], "SA": [0, 1], "MD": [1, 2, 3], "V": [1, 2, 4] },
             "launch": { "global_size": 4096, "local_size": "WG" }, "kernel": [],
             "finish": [{ "compute": "MD % 2" }],
             "usage": { "real": "400 + SA * MD * 8 + V // 2", "registers": 8 } }"#,
        &[],
    );
    let mut by_hand: IndexMap<Vec<i64>, (i64, Vec<Configuration>)> = IndexMap::new();
    for bound in problem.space().expect("a space").bound {
        let own = program(&problem, &bound).expect("a usage").expect("a program");
        let time = simulate(&problem, &bound, &tickbound_simulator::SimulateOptions::default())
            .expect("a time")
            .time;
        by_hand.entry(own).or_insert((time, Vec::new())).1.push(bound.configuration);
    }
    // Without SA only what comes after the launch tells one MD from another: 1 and 3 are alike.
    assert_eq!(by_hand.len(), 3 * (2 + 3) * 3);
    let mut expected: Vec<(i64, Configuration, usize)> = by_hand
        .into_values()
        .map(|(time, all)| (time, all.iter().min().expect("one").clone(), all.len()))
        .collect();
    expected.sort();
    for top in [1, 5, 100] {
        for strategy in [Strategy::Race, Strategy::Eliminate, Strategy::Branch] {
            let result =
                tuned(&problem, &SearchOptions { strategy, top, ..SearchOptions::default() });
            let list = result.programs.list.iter();
            let found: Vec<(i64, Configuration, usize)> = list
                .map(|p| (p.first.time, p.first.configuration.clone(), p.configurations))
                .collect();
            assert!(result.programs.whole, "{strategy:?}, {top}");
            assert_eq!(found, expected[..top.min(expected.len())], "{strategy:?}, {top}");
            let is_alike = |p: &&ProgramClass| p.first.configuration.0[1..3] == [0, 1];
            let alike = result.programs.list.iter().find(is_alike);
            assert!(alike.is_none_or(|p| p.differ == ["MD"]), "{alike:?}");
        }
    }
    // Nobody asked for a ranking.
    assert!(tuned(&problem, &SearchOptions::default()).programs.list.is_empty());
}

#[test]
fn every_strategy_on_every_encoding() {
    let by_hand = BY_HAND.iter().map(|(about, text)| ((*about).to_owned(), parsed(text, &[])));
    let published = ("abstract, size 8".to_owned(), shipped("abstract.json", &[("size", 8)]));
    for (about, problem) in by_hand.chain([published]) {
        let expected = simulated(&problem);
        for encoding in ENCODINGS {
            for strategy in STRATEGIES {
                let about = format!("{about}, {encoding:?}, {strategy:?}");
                let options = with(encoding, strategy);
                assert_optimal(&tuned(&problem, &options), &expected, &about);
                if encoding != Encoding::Tick {
                    let blind = SearchOptions { bounds: false, ..options };
                    assert_optimal(&tuned(&problem, &blind), &expected, &about);
                }
            }
        }
    }
}

#[test]
fn the_open_part_is_open() {
    let problem = parsed(BY_HAND[2].1, &[]);
    let plan = Plan::new(&problem, &problem.space().expect("a space")).expect("a plan");
    let report = summary::encode(&plan).unwrap().report.expect("a summary reports");
    assert!(report.open > 0, "{report:?}");
}

#[test]
fn shrinking_changes_no_time() {
    for problem in [shipped("abstract.json", &[("size", 64)]), shipped("reduction-h200.json", &[])]
    {
        let plan = Plan::new(&problem, &problem.space().expect("a space")).expect("a plan");
        let encoded =
            |shrink| summary::encode_with(&plan, summary::SummaryOptions { shrink }).unwrap();
        let (small, large) = (encoded(true), encoded(false));
        let [report, other] = [&small, &large].map(|e| e.report.expect("a summary reports"));
        let (small, large) = (small.system, large.system);
        assert_eq!((report.closed, report.open), (other.closed, other.open), "{}", problem.name);
        assert!(report.nodes_out <= other.nodes_out, "{report:?} {other:?}");
        for c in 0..small.configurations.len() {
            assert_eq!(run(&small, c, 10), run(&large, c, 10), "{}", problem.name);
        }
    }
}

#[test]
fn racing_twice_gives_the_same_result() {
    for problem in [shipped("abstract.json", &[("size", 32)]), shipped("matmul.json", &[])] {
        let once = tuned(&problem, &SearchOptions::default());
        for _ in 0..3 {
            let mut again = tuned(&problem, &SearchOptions::default());
            // What a race may differ in.
            (again.seconds, again.solver_calls) = (once.seconds, once.solver_calls);
            assert_eq!(again, once);
        }
    }
}

#[test]
fn top_ranks_like_the_simulator() {
    for (problem, about) in [
        (shipped("abstract.json", &[("size", 64)]), "abstract"),
        (shipped("minimum.json", &[("size", 256)]), "minimum"),
        (shipped("matmul.json", &[("n", 64)]), "matmul"),
        (parsed(BY_HAND[1].1, &[]), BY_HAND[1].0),
    ] {
        let expected = simulated(&problem);
        let optimal = optima(&expected).len();
        for top in [1, 2, 5, 10_000] {
            for encoding in [Encoding::Summary, Encoding::Event] {
                if encoding == Encoding::Event && expected.len() > 6 {
                    continue;
                }
                let options = SearchOptions { top, ..with(encoding, Strategy::Race) };
                let result = tuned(&problem, &options);
                let kept = top.max(optimal).min(expected.len());
                assert_eq!(found(&result), expected[..kept], "{about}, top {top}");
            }
        }
    }
}

// Searches that end otherwise.

#[test]
fn an_interrupt_or_no_time_leaves_a_bracket() {
    let problem = shipped("abstract.json", &[("size", 32)]);
    for encoding in [Encoding::Event, Encoding::Summary] {
        for strategy in STRATEGIES {
            let about = format!("{encoding:?}, {strategy:?}");
            let options = with(encoding, strategy);
            let interrupted = tune(&problem, &options, &AtomicBool::new(true), &|_| {});
            let interrupted = interrupted.unwrap_or_else(|e| panic!("{about}: {e}"));
            assert_eq!(interrupted.stopped_by, Some(StopReason::Interrupted), "{about}");
            let late = tuned(&problem, &SearchOptions { timeout: Some(Duration::ZERO), ..options });
            assert_eq!(late.stopped_by, Some(StopReason::TimeOut(0.0)), "{about}");
            for result in [interrupted, late] {
                assert_eq!(result.status, Status::Bounded, "{about}");
                assert!(result.lower <= 584, "{about}: {result:?}");
                assert!(result.upper.is_none_or(|u| u >= 584), "{about}: {result:?}");
                assert_eq!(result.upper, result.best.as_ref().map(|b| b.time), "{about}");
                assert!(result.optima.is_empty(), "{about}");
            }
        }
    }
}

/// Once, a stop in the moment in which the bounds met was taken for a proof.
#[test]
fn bounds_that_meet_are_no_proof_by_a_solver() {
    let problem = shipped("abstract.json", &[("size", 32)]);
    let stop = AtomicBool::new(false);
    let stop_when_bounds_meet = |known: &tickbound_solver::bracket::Incumbent| {
        let bounds = known.bounds;
        let met = bounds.best.is_some() && bounds.lower >= bounds.upper();
        stop.fetch_or(met, std::sync::atomic::Ordering::SeqCst);
    };
    let options = SearchOptions { strategy: Strategy::Descend, ..SearchOptions::default() };
    let result =
        tune(&problem, &options, &stop, &stop_when_bounds_meet).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((result.lower, result.upper), (584, Some(584)));
    assert_eq!((result.status, result.solver_calls), (Status::Bounded, 0));
    assert_eq!(result.stopped_by, Some(StopReason::Interrupted));
}

#[test]
fn constraints_that_contradict_each_other() {
    let text = BY_HAND[0].1.replace(
        r#""launch": {"#,
        r#""constraints": [ "WG > 4", "N > 2 or WG < 4" ], "launch": {"#,
    );
    let problem = parsed(&text, &[]);
    for strategy in STRATEGIES {
        let result = tuned(&problem, &SearchOptions { strategy, ..SearchOptions::default() });
        assert_eq!((result.status, result.upper, result.best), (Status::Infeasible, None, None));
        assert!(result.optima.is_empty() && result.stopped_by.is_none());
    }
}

/// Groups take different times: units that are free first take the next ones.
#[test]
fn groups_that_differ_are_encoded() {
    let text = r#"{ "platform": { "units_per_device": 2, "elements_per_unit": 2,
        "global_access": 3 },
      "parameters": { "WG": [1, 2, 4], "N": [1, 2] },
      "launch": { "global_size": 8, "local_size": "WG" },
      "kernel": [ { "compute": "N * (gid % 3)" }, "barrier", { "global": "3 - N" } ],
      "finish": [ { "compute": "WG" } ] }"#;
    let problem = parsed(text, &[]);
    let all = simulated(&problem);
    assert_optimal(&tuned(&problem, &SearchOptions::default()), &all, "gid");
    for encoding in ENCODINGS {
        for strategy in [Strategy::Race, Strategy::Descend, Strategy::Ascend] {
            let result = tuned(&problem, &with(encoding, strategy));
            assert_eq!(result.encoding, Some(encoding), "{strategy:?}");
            assert_optimal(&result, &all, "gid");
            assert_eq!(result.checked, Some(6));
        }
    }
}

/// Seven groups of 2^61 ticks on two units, and one of none: the rounds leave 63 bits.
#[test]
fn groups_whose_ticks_leave_63_bits() {
    let text = r#"{ "platform": { "units_per_device": 1, "elements_per_unit": 1,
        "global_access": 1 },
      "parameters": { "N": [60, 61] }, "launch": { "global_size": 8, "local_size": 1 },
      "kernel": [ { "if": "gid < 7", "then": [ { "work": "2 ** N" } ] } ] }"#;
    let problem = parsed(text, &[]);
    let never = AtomicBool::new(false);
    let options = with(Encoding::Event, Strategy::Bisect);
    let refused = tune(&problem, &SearchOptions { bounds: false, ..options }, &never, &|_| {});
    let refused = refused.expect_err("seven times 2^61").to_string();
    assert!(refused.contains("N=61") && refused.contains("63 bits"), "{refused}");
    let options = SearchOptions { strategy: Strategy::Bisect, ..SearchOptions::default() };
    assert_eq!(tuned(&problem, &options).upper, Some(7 << 60));
}

/// With more different groups than an encoding holds, each configuration is simulated.
#[test]
fn too_many_groups_that_differ_are_simulated() {
    let text = r#"{ "platform": { "units_per_device": 2, "elements_per_unit": 2,
        "global_access": 3 },
      "parameters": { "WG": [1, 2] }, "launch": { "global_size": 1000, "local_size": "WG" },
      "kernel": [ { "repeat": "gid", "body": [ { "compute": 1 } ] } ] }"#;
    let problem = parsed(text, &[]);
    let options = SearchOptions { strategy: Strategy::Bisect, ..SearchOptions::default() };
    let result = tuned(&problem, &options);
    assert_eq!(result.encoding, None);
    assert_optimal(&result, &simulated(&problem), "gid");
    for encoding in ENCODINGS {
        let never = AtomicBool::new(false);
        let refused = tune(&problem, &with(encoding, Strategy::Race), &never, &|_| {});
        let refused = refused.expect_err("more stretches than an encoding holds").to_string();
        assert_eq!(
            refused,
            "stretches of equal groups: 257 of them, the encodings hold 256; use --strategy \
             enumerate"
        );
    }
}

/// As docs/semantics.md says: one configuration whose time leaves 63 bits does not end a search.
#[test]
fn what_has_no_time_is_slower_than_what_has_one() {
    let text = r#"{
        "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1 },
        "parameters": { "N": [1, 0] }, "launch": { "global_size": 1, "local_size": 1 },
        "kernel": [ { "work": "2 ** 62" },
            { "if": "N == 1", "then": [ { "work": "2 ** 62" } ] } ] }"#;
    let problem = parsed(text, &[]);
    for strategy in [Strategy::Race, Strategy::Eliminate, Strategy::Branch, Strategy::Enumerate] {
        let options = SearchOptions { strategy, ..SearchOptions::default() };
        let result = tuned(&problem, &options);
        assert_eq!((result.status, result.upper), (Status::Optimal, Some(1 << 62)), "{strategy:?}");
        let best: Vec<i64> = result.optima.iter().map(|found| found.configuration.0[0]).collect();
        assert_eq!(best, [0], "{strategy:?}");
    }
}

// Random problems.

/// A small problem with parameters A and B, of any profile but Fermi's.
fn random_problem(seed: u64) -> String {
    let mut r = Random(seed);
    let published = r.below(3) == 0;
    let (units, elements, global) = (1 + r.below(3), 1 + r.below(4), 1 + r.below(4));
    let prices = if published {
        String::new()
    } else {
        let (barrier, start, launch) = (r.below(3), r.below(3), r.below(4));
        format!(r#", "barrier": {barrier}, "group_start": {start}, "kernel_launch": {launch}"#)
    };
    let a = r.one_of(&["[1, 2, 4]", "[2, 4]", "\"divisors(4)\""]);
    let b = r.one_of(&["[1, 2, 3]", "\"range(1, A)\"", "[3, 1]"]);
    let constraint = r.one_of(&["True", "A + B <= 5", "A * B != 4", "A % B == 0 or B == 3"]);
    let (profile, launch) = if published {
        ("published-2023", r#""local_size": "A", "activations": "1 + B % 2""#.to_owned())
    } else {
        let groups = r.one_of(&["4", "8", "4 * B", "2 * A"]);
        (
            "opencl",
            format!(r#""global_size": "{groups} if {groups} % A == 0 else A", "local_size": "A""#),
        )
    };
    let kernel = block(&mut r, 2, true);
    let finish = r.one_of(&["", r#"{ "compute": "A" }"#, r#"{ "work": 1 }, { "global": 1 }"#]);
    format!(
        r#"{{ "name": "seed {seed}", "profile": "{profile}",
  "platform": {{ "units_per_device": {units}, "elements_per_unit": {elements},
      "global_access": {global}{prices} }},
  "parameters": {{ "A": {a}, "B": {b} }}, "constraints": [ "{constraint}" ],
  "launch": {{ {launch} }}, "kernel": [ {kernel} ], "finish": [ {finish} ] }}"#
    )
}

/// Up to three statements; barriers only where all items come by.
fn block(r: &mut Random, depth: u32, barriers: bool) -> String {
    let count = 1 + r.below(3);
    (0..count).map(|_| statement(r, depth, barriers)).collect::<Vec<_>>().join(", ")
}

fn statement(r: &mut Random, depth: u32, barriers: bool) -> String {
    let amount =
        |r: &mut Random| r.one_of(&["0", "1", "2", "A", "B", "lid", "lid % 2 + B", "4 - B"]);
    match r.below(if depth == 0 { 7 } else { 11 }) {
        0 => format!(r#"{{ "global": "{}" }}"#, amount(r)),
        1 => format!(r#"{{ "compute": "{}" }}"#, amount(r)),
        2 => format!(r#"{{ "work": "{}" }}"#, amount(r)),
        3 => r#""mark""#.to_owned(),
        4 => format!(r#"{{ "until": "{}" }}"#, amount(r)),
        5 | 6 if barriers => r#""barrier""#.to_owned(),
        5 | 6 => r#"{ "local": 1 }"#.to_owned(),
        7 | 8 => {
            let (count, body) =
                (r.one_of(&["1", "2", "B", "3 - B", "A - 1"]), block(r, depth - 1, barriers));
            format!(r#"{{ "repeat": "{count}", "body": [ {body} ] }}"#)
        }
        9 => {
            let condition = r.one_of(&["B == 1", "A > 2", "A == B"]);
            let (then, other) = (block(r, depth - 1, barriers), block(r, depth - 1, barriers));
            format!(r#"{{ "if": "{condition}", "then": [ {then} ], "else": [ {other} ] }}"#)
        }
        _ => {
            let condition = r.one_of(&["lid % 2 == 1", "lid == 0", "lid < B"]);
            let (then, other) = (block(r, depth - 1, false), block(r, depth - 1, false));
            format!(r#"{{ "if": "{condition}", "then": [ {then} ], "else": [ {other} ] }}"#)
        }
    }
}

/// Most steps of an encoding that a random problem is given to Z3 with.
const SMALL_STEPS: usize = 40;

/// True if every configuration ends within few steps.
fn is_small(problem: &Problem, encoding: Encoding) -> bool {
    let plan = Plan::new(problem, &problem.space().expect("a space")).expect("a plan");
    if encoding == Encoding::Summary {
        return true;
    }
    let system = encoding.encode(&plan).unwrap().system;
    (0..system.configurations.len()).all(|c| run(&system, c, SMALL_STEPS).is_ok())
}

#[test]
fn random_problems() {
    const PROBLEMS: u64 = 150;
    let mut compared = IndexMap::from(ENCODINGS.map(|e| (e, 0)));
    for seed in 0..PROBLEMS {
        let text = random_problem(seed);
        let problem = parsed(&text, &[]);
        if problem.space().is_ok_and(|s| s.bound.is_empty()) {
            continue;
        }
        let expected = simulated(&problem);
        let mut r = Random(!seed);
        for encoding in ENCODINGS {
            if !is_small(&problem, encoding) {
                continue;
            }
            let strategy = r.one_of(&[
                Strategy::Ascend,
                Strategy::Descend,
                Strategy::Bisect,
                Strategy::Optimize,
            ]);
            let bounds = r.below(4) > 0;
            let options = SearchOptions { bounds, ..with(encoding, strategy) };
            let about = format!("seed {seed}, {encoding:?}, {strategy:?}, bounds {bounds}\n{text}");
            let result = tune(&problem, &options, &AtomicBool::new(false), &|_| {});
            let result = result.unwrap_or_else(|e| panic!("{e}\n{about}"));
            assert_optimal(&result, &expected, &about);
            compared[&encoding] += 1;
        }
    }
    println!("problems compared with the simulator: {compared:?}");
    assert!(compared[&Encoding::Summary] >= 120, "{compared:?}");
    assert!(compared[&Encoding::Event] >= 100, "{compared:?}");
    assert!(compared[&Encoding::Tick] >= 50, "{compared:?}");
}
