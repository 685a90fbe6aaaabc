//! Open schedules: the search against a formula, on small random launches.
//!
//! The search explores schedules of counted warps; the formula is made from the plan of the warps
//! and shares no code with it. They must agree on the best case, the worst case of its
//! configuration, and the least worst case; and the simulator follows every schedule that Z3
//! proposes.

use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_solver::{Encoding, Objective, SearchOptions, Strategy, tune};

use crate::schedule_formula::{self, ScheduleFormula};

/// A small generator: one number after another from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len() as u64) as usize]
    }
}

fn statement(r: &mut Random) -> String {
    match r.below(7) {
        0 | 1 => r#"{ "global": 1 }"#.into(),
        2 => format!(r#"{{ "compute": {} }}"#, 1 + r.below(4)),
        3 => {
            r#"{ "if": "lid % 2 == 0", "then": [ { "local": 2 } ], "else": [ { "compute": 1 } ] }"#
                .into()
        }
        4 => r#""barrier""#.into(),
        5 => format!(r#"{{ "repeat": {}, "body": [ {{ "local": "P" }} ] }}"#, r.below(3)),
        _ => r#"{ "if": "group == 0", "then": [ { "compute": 3 } ] }"#.into(),
    }
}

fn problem(seed: u64) -> String {
    let mut r = Random(seed);
    let body: Vec<String> = (0..2 + r.below(2)).map(|_| statement(&mut r)).collect();
    let slots = r.pick(&[r#", "memory_slots": 1"#, r#", "memory_slots": 2"#, ""]);
    let (units, dispatchers, places) = (1 + r.below(2), 1 + r.below(2), 1 + r.below(2));
    let (barrier, start, issue, latency) = (r.below(2), r.below(3), 1 + r.below(2), r.below(6));
    let size = r.pick(&["[2]", "[4]", "[2, 4]"]);
    let finish = r.pick(&["[]", r#"[ { "work": 3 } ]"#]);
    format!(
        r#"{{ "platform": {{ "units_per_device": {units}, "elements_per_unit": 2,
             "global_access": 3,
             "barrier": {barrier}, "group_start": {start}, "global_issue": {issue},
             "global_latency": {latency},
             "warps": {{ "width": 2, "dispatchers": {dispatchers},
                 "resident_groups": {places} {slots} }} }},
           "parameters": {{ "WG": {size}, "P": [1, 2] }},
           "launch": {{ "global_size": 4, "local_size": "WG" }},
           "kernel": [ {} ], "finish": {finish} }}"#,
        body.join(", ")
    )
}

fn agree(seed: u64) -> bool {
    let text = problem(seed);
    let problem = Problem::from_json(&text, &IndexMap::new(), &tickbound_model::platforms::find)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let explored = [Objective::Best, Objective::Worst, Objective::Robust].map(|objective| {
        let options = SearchOptions { objective, ..SearchOptions::default() };
        let found = tune(&problem, &options, &AtomicBool::new(false), &|_| {});
        let found = found.unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(found.status == Status::Optimal && found.replayed, "seed {seed}\n{text}");
        found
    });
    let space = problem.space().expect("a space");
    let schedule = schedule_formula::encode(&problem, &space);
    let formula = || ScheduleFormula::new(&problem, &space, &schedule);
    let (least, optima) = formula().best();
    let mut late = formula();
    let worst = late.worst(optima[0]);
    let robust = explored[2].upper.expect("a time");
    let at = format!("seed {seed}\n{text}");
    assert_eq!(
        explored.each_ref().map(|found| found.upper),
        [Some(least), Some(worst), Some(robust)],
        "{at}"
    );
    // Each configuration can take as long as the least worst case, and one no longer.
    let reach = |formula: &mut ScheduleFormula<'_>, ticks| {
        (0..space.bound.len()).filter(|c| formula.at_least(*c, ticks).is_some()).count()
    };
    assert_eq!(reach(&mut late, robust), space.bound.len(), "{at}");
    assert!(reach(&mut late, robust + 1) < space.bound.len(), "{at}");
    let optima: Vec<_> = optima.iter().map(|c| &space.bound[*c].configuration).collect();
    let listed: Vec<_> = explored[0].optima.iter().map(|found| &found.configuration).collect();
    assert_eq!(listed, optima, "{at}");
    explored.iter().any(|found| {
        let cases = found.schedule.as_ref().expect("an open schedule");
        cases.best_case != cases.worst_case
    })
}

#[test]
fn formula_and_search_agree() {
    let cases: u64 =
        std::env::var("TICKBOUND_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let differing = (0..cases).filter(|seed| agree(*seed)).count();
    // A test in which every schedule takes as long would show nothing.
    assert!(differing as u64 * 8 >= cases, "only {differing} of {cases} have open times");
}

/// Encodings and the strategies that ask a solver are refused, with what to leave out.
#[test]
fn open_schedules_are_not_encoded() {
    let problem =
        Problem::from_json(&problem(0), &IndexMap::new(), &tickbound_model::platforms::find)
            .expect("a problem");
    for (strategy, encoding) in [(Strategy::Race, Some(Encoding::Event)), (Strategy::Descend, None)]
    {
        let options = SearchOptions { strategy, encoding, ..SearchOptions::default() };
        let error =
            tune(&problem, &options, &AtomicBool::new(false), &|_| {}).expect_err("refused");
        assert!(error.to_string().contains("leave --encoding and --strategy out"), "{error}");
    }
}

#[test]
fn latency_example() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/problems/latency.json"
    ))
    .expect("the example");
    let problem = Problem::from_json(&text, &IndexMap::new(), &tickbound_model::platforms::find)
        .expect("a valid example");
    let run = |objective| {
        let options = SearchOptions { objective, ..SearchOptions::default() };
        tune(&problem, &options, &AtomicBool::new(false), &|_| {}).expect("a result")
    };
    let best = run(Objective::Best);
    assert_eq!((best.upper, best.status), (Some(54), Status::Optimal));
    let cases = best.schedule.expect("an open schedule");
    assert_eq!(
        (cases.best_case, cases.worst_case, cases.first_come),
        (Some(54), Some(61), Some(54))
    );
    assert_eq!(run(Objective::Worst).upper, Some(61));
    assert_eq!(run(Objective::Robust).upper, Some(61));
}

/// As many of the best as are asked for, each with the time that it has alone.
#[test]
fn the_best_few() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/problems/latency.json"
    ))
    .expect("the example");
    let problem = |more: &str| {
        let text = text.replacen("\"constraints\": [", &format!("\"constraints\": [{more}"), 1);
        let platforms = &tickbound_model::platforms::find;
        Problem::from_json(&text, &IndexMap::new(), platforms).expect("a valid example")
    };
    let all = problem("");
    for objective in [Objective::Best, Objective::Robust] {
        let run = |problem: &Problem, top| {
            let options = SearchOptions { objective, top, ..SearchOptions::default() };
            tune(problem, &options, &AtomicBool::new(false), &|_| {}).expect("a result")
        };
        let mut alone: Vec<i64> = all
            .space()
            .expect("a space")
            .bound
            .iter()
            .map(|bound| {
                let fixed = all.parameters.iter().zip(&bound.configuration.0);
                let fixed: Vec<String> =
                    fixed.map(|(p, v)| format!("\"{} == {v}\",", p.name)).collect();
                run(&problem(&fixed.join(" ")), 0).upper.expect("a time")
            })
            .collect();
        alone.sort_unstable();
        for top in [3, 5, 99] {
            let times: Vec<i64> = run(&all, top).optima.iter().map(|found| found.time).collect();
            assert!(times.len() >= top.min(alone.len()), "{times:?}");
            assert_eq!(times, alone[..times.len()], "{objective:?}");
        }
    }
}

/// Groups of 16 items have the best schedule, groups of 32 the best guarantee.
#[test]
fn the_robust_choice_is_another() {
    let inputs = IndexMap::from([("size".to_owned(), 64)]);
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/problems/latency.json"
    ))
    .expect("the example");
    let problem = Problem::from_json(&text, &inputs, &tickbound_model::platforms::find)
        .expect("a valid example");
    let run = |objective| {
        let options = SearchOptions { objective, ..SearchOptions::default() };
        tune(&problem, &options, &AtomicBool::new(false), &|_| {}).expect("a result")
    };
    let found = [Objective::Best, Objective::Worst, Objective::Robust].map(|objective| {
        let result = run(objective);
        assert!(result.status == Status::Optimal && result.replayed, "{objective:?}");
        let ends = result.schedule.expect("an open schedule");
        (result.best.expect("a configuration").configuration.0, ends.best_case, ends.worst_case)
    });
    let of = |wg, best, worst| (vec![wg, 2], Some(best), Some(worst));
    assert_eq!(found, [of(16, 88, 121), of(16, 88, 121), of(32, 97, 119)]);
}

/// The worst case is that of the configuration with the best case. While another one may have a
/// better best case, the answer is a bracket of the best case, with a schedule that takes it.
#[test]
fn the_worst_case_waits_for_the_best_one() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/problems/latency.json"
    ))
    .expect("the example");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // A phase of more ticks than exploring and its bounds have room for.
    value["parameters"] = serde_json::json!({ "WG": [8], "UNROLL": [2], "LONG": [0, 1] });
    let long = serde_json::json!({ "compute": "LONG * 2147483648" });
    value["kernel"].as_array_mut().expect("a program").push(long);
    let problem = Problem::from_value(&value, &IndexMap::new(), &tickbound_model::platforms::find)
        .expect("a valid problem");
    let options = SearchOptions { objective: Objective::Worst, ..SearchOptions::default() };
    let result = tune(&problem, &options, &AtomicBool::new(false), &|_| {}).expect("a result");
    assert_eq!((result.status, result.lower, result.upper), (Status::Bounded, 0, Some(54)));
    assert_eq!(result.best.expect("a configuration").configuration.0, [8, 2, 0]);
    let ends = result.schedule.expect("an open schedule");
    assert!(result.replayed && ends.warps.is_some());
    assert_eq!((ends.best_case, ends.worst_case), (Some(54), Some(61)));
}

/// A loop too long to be explored at first: the ratios of its cycles raise the bound from
/// 16,000,010. Then the search is interrupted.
#[test]
fn a_long_loop_is_bounded_by_the_cycles_of_its_states() {
    let text = r#"{ "platform": { "units_per_device": 1, "elements_per_unit": 1,
      "global_access": 12,
        "barrier": 1, "global_issue": 2, "global_latency": 10,
        "warps": { "width": 1, "dispatchers": 2, "resident_groups": 2, "memory_slots": 3 } },
      "launch": { "global_size": 4000, "local_size": 4 },
      "kernel": [ { "repeat": 1000,
          "body": [ { "global": 1 }, "barrier", { "compute": 4 }, "barrier" ] } ] }"#;
    let problem = Problem::from_json(text, &IndexMap::new(), &tickbound_model::platforms::find)
        .expect("a valid problem");
    let interrupt = AtomicBool::new(false);
    let stop = |known: &tickbound_solver::bracket::Incumbent| {
        interrupt.fetch_or(known.bounds.lower > 17_000_000, std::sync::atomic::Ordering::Relaxed);
    };
    let result = tune(&problem, &SearchOptions::default(), &interrupt, &stop).expect("a result");
    assert_eq!((result.status, result.lower), (Status::Bounded, 17_750_000));
    let [best, worst] = result.schedule.expect("an open schedule").bounds.expect("explored");
    assert_eq!((best.0, worst.1), (17_750_000, 27_007_000));
}

/// More configurations than are explored at once: those that win are those that win when each is
/// explored, and both ends have schedules.
#[test]
fn many_configurations() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/problems/latency.json"
    ))
    .expect("the example");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value["parameters"]["PAD"] = serde_json::json!((0..15).collect::<Vec<i64>>());
    let more = serde_json::json!({ "compute": "(PAD * 7 + UNROLL) % 5" });
    value["kernel"].as_array_mut().expect("a program").push(more);
    let problem = Problem::from_value(&value, &IndexMap::new(), &tickbound_model::platforms::find)
        .expect("a valid problem");
    let space = problem.space().expect("a space");
    assert_eq!(space.bound.len(), 105);
    let ends = |bound| {
        let launch = tickbound_schedules::WarpLaunch::new(&problem, bound).expect("a launch");
        let both = launch.explore(&Default::default(), &|| false).expect("both ends");
        (both.best, both.worst)
    };
    let ends: Vec<(i64, i64)> = space.bound.iter().map(ends).collect();
    let best = ends.iter().map(|(best, _)| *best).min();
    let robust = ends.iter().map(|(_, worst)| *worst).min();
    for (objective, least) in [(Objective::Best, best), (Objective::Robust, robust)] {
        let options = SearchOptions { objective, ..SearchOptions::default() };
        let result = tune(&problem, &options, &AtomicBool::new(false), &|_| {}).expect("a result");
        assert_eq!((result.status, result.upper), (Status::Optimal, least), "{objective:?}");
        let wins = |(_, (b, w)): &(_, &(i64, i64))| {
            Some(if objective == Objective::Best { *b } else { *w }) == least
        };
        let winners = space.bound.iter().zip(&ends).filter(wins);
        let winners: Vec<_> = winners.map(|(bound, _)| &bound.configuration).collect();
        assert_eq!(result.optima.iter().map(|o| &o.configuration).collect::<Vec<_>>(), winners);
        assert!(result.replayed && result.schedule.expect("an open schedule").ends.is_some());
    }
}
