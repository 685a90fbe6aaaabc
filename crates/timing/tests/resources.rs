//! The profile `resources`: its cost is what the simulator says, for random usages and platforms.

use std::cell::RefCell;

use indexmap::IndexMap;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Map, Value, json};
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_expr::interval::Interval;
use tickbound_model::{Part, Problem, Resources, Usage};
use tickbound_simulator::{SimulateOptions, resource_time, simulate};
use tickbound_timing::Cost;

use crate::formulas;

/// Numbers of very different sizes, up to where products leave 63 bits.
fn number() -> BoxedStrategy<i64> {
    prop_oneof![
        40 => 0i64..200,
        40 => 0i64..100_000,
        1 => (0u32..40).prop_map(|bits| 1 << bits),
    ]
    .boxed()
}

fn amount() -> BoxedStrategy<Value> {
    prop_oneof![
        60 => number().prop_map(Value::from),
        60 => number().prop_map(|n| format!("A * {n}").into()),
        60 => number().prop_map(|n| format!("{n} // A + B").into()),
        // May be negative, or divide by 0.
        1 => number().prop_map(|n| format!("{n} - A").into()),
        1 => number().prop_map(|n| format!("{n} // (A - 3)").into()),
    ]
    .boxed()
}

/// An object with some of the names.
fn some(names: Vec<&'static str>, value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let each = names.into_iter().map(|name| {
        prop::option::weighted(0.8, value.clone()).prop_map(move |v| (name.to_owned(), v))
    });
    let present = |all: Vec<(String, Option<Value>)>| {
        let some = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Value::Object(some.collect::<Map<_, _>>())
    };
    each.collect::<Vec<_>>().prop_map(present).boxed()
}

fn resources() -> BoxedStrategy<Value> {
    let all = Resources::FIELDS.iter().map(|(name, least, _)| {
        let name = (*name).to_owned();
        let small = prop_oneof![60 => *least..300i64, 30 => 1024i64..200_000, 1 => 1i64..1 << 40];
        let numbers = match name.as_str() {
            "integer_shares_real" | "one_pipe" => (0i64..2).boxed(),
            _ => small.boxed(),
        };
        let numbers = match name.as_str() {
            "warp_width" => numbers.prop_map(Some).boxed(),
            _ => prop::option::weighted(0.8, numbers).boxed(),
        };
        numbers.prop_map(move |n| (name.clone(), n))
    });
    let present = |all: Vec<(String, Option<i64>)>| {
        all.into_iter().filter_map(|(name, n)| Some((name, n?.into()))).collect::<Map<_, _>>()
    };
    all.collect::<Vec<_>>().prop_map(move |all| Value::Object(present(all))).boxed()
}

/// What one element does after the launch: nothing, work, a loop that waits, or what may be
/// negative.
fn finish() -> BoxedStrategy<Value> {
    let wait = json!({ "repeat": "B", "body": ["mark", { "compute": 2 }, { "until": "3 * A" }] });
    prop_oneof![
        4 => Just(json!([])),
        2 => Just(json!([{ "global": "A * 3 + B" },
            { "repeat": "A", "body": [{ "compute": 5 }] }])),
        2 => Just(json!([wait])),
        1 => Just(json!([{ "global": "B - A" }])),
    ]
    .boxed()
}

fn problems() -> BoxedStrategy<Value> {
    let parts: Vec<&'static str> = Part::ALL.iter().map(|p| p.name()).collect();
    let without = prop_oneof![
        2 => Just(Vec::new()).boxed(),
        1 => prop::sample::subsequence(parts.clone(), 0..=parts.len()).boxed(),
    ];
    let numbers = (1i64..200, prop::option::of(1i64..200_000), prop::option::of(1i64..4000));
    let launch = (1i64..300, 1i64..2000);
    let device = (resources(), without);
    (some(Usage::NAMES.to_vec(), amount()), device, numbers, launch, finish())
        .prop_map(
            |(usage, (resources, without), (units, local, clock), (items, groups), finish)| {
                let mut platform = json!({
                    "units_per_device": units, "elements_per_unit": 32, "global_access": 7,
                    "resources": resources
                });
                local.into_iter().for_each(|n| platform["local_memory"] = n.into());
                clock.into_iter().for_each(|n| platform["clock_mhz"] = n.into());
                json!({
                    "profile": "resources", "without": without, "platform": platform,
                    "parameters": { "A": [1, 2, 3, 7], "B": [0, 5] },
                    "definitions": { "items": format!("{items} * A") },
                    "launch": { "global_size": format!("items * {groups}"), "local_size": "items" },
                    "kernel": [], "usage": usage, "finish": finish
                })
            },
        )
        .boxed()
}

#[derive(Debug, Default)]
struct Seen {
    times: usize,
    faults: usize,
    bounded: usize,
    /// Times of which a part is that of `finish`.
    finished: usize,
}

fn compare(value: &Value, seen: &mut Seen) -> Result<(), String> {
    let read = Problem::from_value(value, &IndexMap::new(), &|_| unreachable!());
    let problem = read.map_err(|e| e.to_string())?;
    let space = problem.space().map_err(|e| e.to_string())?;
    let cost = match Cost::new(&problem) {
        // Nothing is counted: there is no time on either side.
        Err(e) => {
            let run = simulate(&problem, &space.bound[0], &SimulateOptions::default());
            return if run.is_err() { Ok(()) } else { Err(e.to_string()) };
        }
        Ok(cost) => cost,
    };
    let mut slots: Vec<Interval> = problem.base_env().into_iter().map(Interval::point).collect();
    let first = problem.first_parameter();
    slots[first] = Interval { low: 1, high: 7 };
    slots[first + 1] = Interval { low: 0, high: 5 };
    let least = cost.term().least(&slots);
    seen.bounded += usize::from(least.is_some_and(|l| l > 0));
    for bound in &space.bound {
        let place = problem.name_values(&bound.configuration).to_string();
        let run = simulate(&problem, bound, &SimulateOptions::default());
        match (run, cost.term().value(&bound.env)) {
            (Ok(run), Ok(ticks)) if run.time == ticks => {
                seen.times += 1;
                let finish = resource_time(&problem, bound).unwrap().finish;
                seen.finished += usize::from(finish > 0);
                let own = formulas::clocks(&problem, bound);
                if own != Some(i128::from(ticks - finish)) {
                    return Err(format!("{place}: {ticks} with {finish}, the page has {own:?}"));
                }
            }
            (Err(_), Err(_)) => seen.faults += 1,
            (run, ticks) => return Err(format!("{place}: simulator {run:?}, cost {ticks:?}")),
        }
        let own: Vec<Interval> = bound.env.iter().copied().map(Interval::point).collect();
        let ticks = cost.term().value(&bound.env).ok();
        // What waits is bounded by its work.
        let waits = value["finish"].to_string().contains("until");
        if !waits && cost.term().least(&own) != ticks {
            return Err(format!("{place}: at a point the least is not the value {ticks:?}"));
        }
        if least > ticks {
            return Err(format!("{place}: no less than {least:?}, but {ticks:?}"));
        }
    }
    Ok(())
}

#[test]
fn the_cost_is_what_the_simulator_says() {
    let mut config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(14);
    }
    println!("{:?}; PROPTEST_RNG_SEED chooses another", config.rng_seed);
    let cases = config.cases as usize;
    let seen = RefCell::new(Seen::default());
    let result = TestRunner::new(config).run(&problems(), |value| {
        compare(&value, &mut seen.borrow_mut()).map_err(TestCaseError::fail)
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    let seen = seen.into_inner();
    println!("{seen:?}");
    assert!(seen.times > 3 * cases, "{seen:?}");
    assert!(seen.finished > cases / 2, "{seen:?}");
    assert!(seen.faults > cases / 10, "{seen:?}");
    assert!(seen.bounded > cases / 10, "{seen:?}");
}

#[test]
fn encodings_refuse() {
    let value = json!({
        "profile": "resources",
        "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1,
                      "resources": { "warp_width": 32 } },
        "launch": { "global_size": 8, "local_size": 4 }, "kernel": []
    });
    let problem = Problem::from_value(&value, &IndexMap::new(), &|_| unreachable!()).unwrap();
    let space = problem.space().unwrap();
    assert!(matches!(Plan::new(&problem, &space), Err(PlanError::Resources)));
}
