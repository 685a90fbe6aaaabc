//! The encodings against known times, configuration by configuration.

use indexmap::IndexMap;
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::run::run;
use tickbound_encodings::{Encoded, event, summary, tick};
use tickbound_model::Problem;

fn problem(file: &str, inputs: &[(&str, i64)]) -> Problem {
    let path = format!("{}/../examples/problems/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let inputs: IndexMap<String, i64> = inputs.iter().map(|(n, v)| ((*n).into(), *v)).collect();
    Problem::from_json(&text, &inputs, &|name| panic!("platform {name}"))
        .unwrap_or_else(|e| panic!("{e}"))
}

/// T of the published abstract kernel (design, section 3; checked against SPIN).
fn abstract_time(size: i64, wg: i64, ts: i64) -> i64 {
    let per_unit = (size / wg) / 2 + (size / wg) % 2;
    let activations = if per_unit == 1 { 1 } else { per_unit + 1 };
    activations * (wg / 4).max(1) * ((size / ts) * (4 * ts + 1) + (ts + 1) + 5)
}

#[test]
fn published_abstract_kernel_in_every_encoding() {
    for size in [8, 16, 32, 64] {
        let problem = problem("abstract.json", &[("size", size)]);
        let space = problem.space().expect("a space");
        let plan = Plan::new(&problem, &space).expect("a plan");
        let Encoded { system: summary, report } = summary::encode(&plan).unwrap();
        let report = report.expect("a summary reports");
        assert_eq!((report.closed, report.open), (report.shapes, 0), "{report:?}");
        let event = event::encode(&plan).unwrap();
        let tick = tick::encode(&plan).unwrap();
        for (c, bound) in space.bound.iter().enumerate() {
            let [wg, ts] = bound.configuration.0[..] else { panic!("two parameters") };
            let expected = abstract_time(size, wg, ts);
            let closed = run(&summary, c, 10).expect("a short run");
            assert_eq!(closed.cost, expected, "summary {size} {wg} {ts}");
            assert_eq!(closed.steps, 2, "one to begin and one jump");
            assert_eq!(
                run(&event, c, 100_000).expect("a run").cost,
                expected,
                "event {size} {wg} {ts}"
            );
            if size <= 16 {
                assert_eq!(
                    run(&tick, c, 100_000).expect("a run").cost,
                    expected,
                    "tick {size} {wg} {ts}"
                );
            }
        }
    }
}

#[test]
fn steps_of_a_summary_do_not_grow() {
    let problem = problem("abstract.json", &[("size", 1 << 30)]);
    let space = problem.space().expect("a space");
    let plan = Plan::new(&problem, &space).expect("a plan");
    let system = summary::encode(&plan).unwrap().system;
    let best = (0..space.bound.len()).map(|c| run(&system, c, 10).expect("a run").cost).min();
    let formula = space
        .bound
        .iter()
        .map(|b| abstract_time(1 << 30, b.configuration.0[0], b.configuration.0[1]))
        .min();
    assert_eq!(best, formula);
}
