//! The Promela models, run by the real SPIN, against the simulator and the optimiser.

use crate::common;
use crate::with_spin;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};
use tickbound_model::verdict::Status;
use tickbound_model::{Bound, LaunchSize, Problem, Space};
use tickbound_simulator::simulate;
use tickbound_solver::tune;
use tickbound_spin::promela::{PromelaError, PromelaOptions, Style, export};

const ABSTRACT: &str = include_str!("../examples/problems/abstract.json");
const MINIMUM: &str = include_str!("../examples/problems/minimum.json");

/// Every configuration has one time, whatever the interleaving, and it is the simulator's.
fn agree(problem: &Problem, space: &Space, style: Style, optimise: &str) -> Result<usize, String> {
    let options = PromelaOptions { style };
    let model = export(problem, space, &options).map_err(|e| format!("export: {e}"))?;
    let found = with_spin::times(&model, optimise);
    for bound in &space.bound {
        let time = simulate(problem, bound, &tickbound_simulator::SimulateOptions::default())
            .unwrap()
            .time;
        let spin = found.get(&bound.configuration.0);
        if spin != Some(&BTreeSet::from([time])) {
            let name = problem.name_values(&bound.configuration);
            return Err(format!("{name}: {time} ticks, SPIN finds {spin:?}\n{}", model.text));
        }
    }
    if found.len() != space.bound.len() {
        return Err(format!("{} configurations, {} in SPIN", space.bound.len(), found.len()));
    }
    Ok(found.len())
}

fn published(text: &str, size: i64, style: Style, configurations: usize) {
    if !with_spin::here() {
        return;
    }
    let problem = with_spin::problem(text, &[("size", size)]);
    let space = problem.space().unwrap();
    assert_eq!(agree(&problem, &space, style, "-O2"), Ok(configurations));
}

#[test]
fn abstract_kernel_as_processes() {
    published(ABSTRACT, 8, Style::Processes, 2);
    published(ABSTRACT, 16, Style::Processes, 6);
}

#[test]
fn abstract_kernel_in_lockstep() {
    published(ABSTRACT, 8, Style::Lockstep, 2);
    published(ABSTRACT, 16, Style::Lockstep, 6);
    published(ABSTRACT, 64, Style::Lockstep, 20);
}

#[test]
fn minimum_as_processes() {
    published(MINIMUM, 8, Style::Processes, 2);
    published(MINIMUM, 16, Style::Processes, 6);
}

#[test]
fn minimum_in_lockstep() {
    published(MINIMUM, 8, Style::Lockstep, 2);
    published(MINIMUM, 16, Style::Lockstep, 6);
}

/// A name, a problem and its inputs.
type Example = (&'static str, &'static str, &'static [(&'static str, i64)]);

/// The shipped examples, at sizes that SPIN can hold.
const EXAMPLES: &[Example] = &[
    (
        "abstract-opencl",
        include_str!("../examples/problems/abstract-opencl.json"),
        &[
            ("size", 8),
            ("elements_per_unit", 2),
            ("global_access", 4),
            ("group_start", 2),
            ("barrier", 1),
            ("kernel_launch", 3),
        ],
    ),
    (
        "minimum-opencl",
        include_str!("../examples/problems/minimum-opencl.json"),
        &[("size", 16), ("elements_per_unit", 4), ("global_access", 4), ("kernel_launch", 3)],
    ),
    (
        "fermi",
        include_str!("../examples/problems/fermi.json"),
        &[("size", 64), ("global_access", 3)],
    ),
    (
        "fermi-listed",
        include_str!("../examples/problems/fermi-listed.json"),
        &[("size", 64), ("global_access", 3)],
    ),
    ("matmul", include_str!("../examples/problems/matmul.json"), &[("n", 4), ("global_access", 9)]),
    (
        "reduction",
        include_str!("../examples/problems/reduction-h200.json"),
        &[("size", 64), ("global_access", 3)],
    ),
];

#[test]
fn shipped_examples_in_lockstep() {
    if !with_spin::here() {
        return;
    }
    for (name, text, inputs) in EXAMPLES {
        let problem = with_spin::problem(text, inputs);
        let space = problem.space().unwrap();
        let agreed = agree(&problem, &space, Style::Lockstep, "-O0");
        assert_eq!(agreed, Ok(space.bound.len()), "{name}");
    }
}

#[test]
fn shipped_examples_as_processes() {
    if !with_spin::here() {
        return;
    }
    for (name, text, inputs) in &EXAMPLES[..4] {
        let problem = with_spin::problem(text, inputs);
        let space = problem.space().unwrap();
        let agreed = agree(&problem, &space, Style::Processes, "-O1");
        assert_eq!(agreed, Ok(space.bound.len()), "{name}");
    }
}

/// What random problems have shown.
#[derive(Debug, Default)]
struct Seen {
    problems: usize,
    configurations: usize,
    groups_differ: usize,
    optimal: usize,
    too_large: usize,
}

/// Problems whose groups differ, too.
fn problems() -> BoxedStrategy<common::Written> {
    prop_oneof![
        2 => common::of_opencl(),
        2 => common::of_published(),
        1 => common::of_groups(),
    ]
    .boxed()
}

fn random(cases: u32, style: Style, seed: u64, most_items: i64) -> Seen {
    let asked = std::env::var("TICKBOUND_SPIN_CASES").ok().and_then(|n| n.parse().ok());
    let cases = asked.unwrap_or(cases);
    let mut config = Config { cases, max_shrink_iters: 60, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(seed);
    }
    config.failure_persistence =
        Some(Box::new(FileFailurePersistence::Direct("proptest-regressions/promela.txt")));
    let seen = RefCell::new(Seen::default());
    let result = TestRunner::new(config).run(&problems(), |written| {
        check(&written, style, most_items, &mut seen.borrow_mut()).map_err(TestCaseError::fail)
    });
    if let Err(e) = result {
        panic!("{e}");
    }
    seen.into_inner()
}

fn groups(bound: &Bound) -> i64 {
    match bound.launch {
        LaunchSize::Range { global, local } => global / local,
        LaunchSize::Activations { activations, .. } => activations,
    }
}

/// One problem: SPIN and the simulator agree on every configuration, SPIN and the optimiser on the
/// least time.
fn check(
    written: &common::Written,
    style: Style,
    most_items: i64,
    seen: &mut Seen,
) -> Result<(), String> {
    let text = written.0.to_string();
    let no_platform = |name: &str| panic!("{name} is no platform of the generator");
    let Ok(problem) = Problem::from_json(&text, &Default::default(), &no_platform) else {
        return Ok(());
    };
    let Ok(space) = problem.space() else { return Ok(()) };
    let options = tickbound_simulator::SimulateOptions::default();
    let runs = space.bound.iter().all(|b| simulate(&problem, b, &options).is_ok());
    if space.bound.is_empty() || !runs {
        return Ok(());
    }
    // Interleavings of several units, and of many items, are too many.
    let several = text.contains("group ") || text.contains("gid");
    let together = if several { problem.platform.units() } else { 1 };
    let many = several && style == Style::Processes;
    let too_large = |b: &Bound| {
        b.launch.local().saturating_mul(together) > most_items || (many && groups(b) > 3)
    };
    if space.bound.iter().any(too_large) {
        seen.too_large += 1;
        return Ok(());
    }
    seen.problems += 1;
    seen.groups_differ += usize::from(several);
    seen.configurations += agree(&problem, &space, style, "-O0")?;
    if style == Style::Lockstep {
        let times = space.bound.iter().map(|b| simulate(&problem, b, &options).unwrap().time);
        optimiser_agrees(&problem, times.min(), seen)?;
    }
    Ok(())
}

/// The optimiser's answer, or the bracket that it has after a few seconds.
fn optimiser_agrees(problem: &Problem, least: Option<i64>, seen: &mut Seen) -> Result<(), String> {
    let options = tickbound_solver::SearchOptions {
        timeout: Some(Duration::from_secs(2)),
        ..Default::default()
    };
    let result = tune(problem, &options, &AtomicBool::new(false), &|_| {});
    let result = result.map_err(|e| e.to_string())?;
    let optimal = result.status == Status::Optimal;
    seen.optimal += usize::from(optimal);
    if (optimal && result.upper != least) || result.upper < least || Some(result.lower) > least {
        return Err(format!("{least:?} ticks, the optimiser says {result:?}"));
    }
    Ok(())
}

/// Together these are over 300 problems on which SPIN and the optimiser agree; two, for two
/// processors.
fn lockstep(seed: u64) {
    if !with_spin::here() {
        return;
    }
    let seen = random(185, Style::Lockstep, seed, i64::MAX);
    println!("{seen:?}");
    assert!(seen.groups_differ >= 10, "{seen:?}");
    assert!(seen.optimal >= 152, "{seen:?}");
}

#[test]
fn random_problems_in_lockstep() {
    lockstep(2311);
}

#[test]
fn more_random_problems_in_lockstep() {
    lockstep(2313);
}

#[test]
fn random_problems_as_processes() {
    if !with_spin::here() {
        return;
    }
    let seen = random(320, Style::Processes, 2312, 4);
    println!("{seen:?}");
    assert!(seen.problems >= 25, "{seen:?}");
}

#[test]
fn what_promela_cannot_hold_is_said() {
    let of = |kernel: &str, size: i64, style| {
        let text = format!(
            r#"{{ "inputs": {{ "size": {size} }},
              "platform": {{ "units_per_device": 1, "elements_per_unit": 512, "global_access": 4 }},
              "parameters": {{ "WG": "powers_of_two(1, size)" }},
              "launch": {{ "global_size": "size", "local_size": "WG" }}, "kernel": {kernel} }}"#
        );
        let problem = with_spin::problem(&text, &[]);
        export(&problem, &problem.space().unwrap(), &PromelaOptions { style })
    };
    let simple = r#"[ { "global": 1 } ]"#;
    assert!(of(simple, 128, Style::Processes).is_ok());
    let error = of(simple, 512, Style::Processes).unwrap_err();
    assert!(
        matches!(error, PromelaError::TooManyProcesses { count: 518, limit: 255, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("make groups smaller"), "{error}");
    assert!(of(simple, 512, Style::Lockstep).is_ok());

    let long = r#"[ { "global": 1000000000 } ]"#;
    let error = of(long, 4, Style::Lockstep).unwrap_err();
    assert!(error.to_string().contains("make the inputs smaller (--input size=...)"), "{error}");

    // C rounds -7 / 2 towards zero, so these become tables ...
    let below = r#"[ { "work": "10 + (size - 3 * WG) // 3" } ]"#;
    let text = of(below, 8, Style::Lockstep).unwrap().text;
    assert!(text.contains("(WG == 1 -> 11 :"), "{text}");
    // ... unless they are too long.
    let longer = r#"[ { "work": "5000 + (0 - lid) // 3" } ]"#;
    assert!(of(longer, 8, Style::Lockstep).is_ok());
    let error = of(longer, 4096, Style::Lockstep).unwrap_err();
    assert!(matches!(error, PromelaError::TooMany { .. }), "{error}");
}

#[test]
fn names_that_promela_takes_for_itself_are_changed() {
    if !with_spin::here() {
        return;
    }
    let text = r#"{ "inputs": { "time": 1, "int": 4, "NP": 1, "_x": 1 },
      "platform": { "units_per_device": 2, "elements_per_unit": 2, "global_access": 1,
          "barrier": 1 },
      "parameters": { "byte": [2], "FIN": [0, 1], "k1": "range(0, byte)" },
      "definitions": { "T": "time + NP", "run": "T + k1 + FIN" },
      "launch": { "global_size": "int", "local_size": "byte" },
      "kernel": [ { "repeat": 1, "body": [ { "global": "run", "name": "*/ do {" }, "barrier" ] },
                  { "work": "_x + (lid + group) % 2" } ] }"#;
    let problem = with_spin::problem(text, &[]);
    let space = problem.space().unwrap();
    for style in [Style::Lockstep, Style::Processes] {
        assert_eq!(agree(&problem, &space, style, "-O1"), Ok(space.bound.len()));
    }
}
