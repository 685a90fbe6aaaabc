//! A search of one's own, with the pure part of the library alone: no solver.
//!
//! One learns: what a space, a plan and a transition system are, how the lower bound of each
//! configuration compares with its time, and how a system is run. The search itself is the simplest
//! one that is exact: configurations in order of their lower bounds, until the next bound is no
//! better than the best time.
//!
//! ```text
//! cargo run -p tickbound-solver --example custom_search
//! cargo run -p tickbound-solver --example custom_search -- examples/problems/minimum-opencl.json
//! ```

use std::error::Error;

use indexmap::IndexMap;
use tickbound_encodings::bounds::lower_bounds;
use tickbound_encodings::event;
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::run::run;
use tickbound_model::{Problem, platforms};

/// Odd and even items take turns, so each waits for the other at a barrier. A lower bound knows
/// nothing of waiting: it is the time of the busier half alone.
const TWO_HALVES: &str = r#"{
  "name": "two halves",
  "inputs": { "size": 64 },
  "platform": { "units_per_device": 3, "elements_per_unit": 4, "global_access": 20,
                "group_start": 15, "barrier": 2 },
  "parameters": { "WG": "powers_of_two(2, 16)", "tile": "powers_of_two(2, 16)" },
  "launch": { "global_size": "size", "local_size": "WG" },
  "kernel": [ { "repeat": "size / tile", "body": [
    { "global": "ceil_div(tile, WG)" }, "barrier",
    { "if": "lid % 2 == 1", "then": [ { "compute": "tile" } ] }, "barrier",
    { "if": "lid % 2 == 0", "then": [ { "compute": "tile + 1" } ] }, "barrier" ] } ]
}"#;

/// Steps after which a run is given up.
const MAX_STEPS: usize = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let text = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => TWO_HALVES.to_owned(),
    };
    let problem = Problem::from_json(&text, &IndexMap::new(), &platforms::find)?;
    // Every valid configuration; and one program for all of them, in which equal elements are one.
    let space = problem.space()?;
    let plan = Plan::new(&problem, &space)?;
    let bounds = lower_bounds(&plan);
    // A step of this system takes every thread to its next event.
    let system = event::encode(&plan)?;

    let mut order: Vec<usize> = (0..space.bound.len()).collect();
    order.sort_by_key(|c| bounds[*c]);
    let mut best: Option<i64> = None;
    println!("{}: {} threads, {} states", problem.name, plan.threads, system.states.len());
    for c in order {
        let name = problem.name_values(&space.bound[c].configuration).to_string();
        if best.is_some_and(|time| bounds[c] >= time) {
            println!("{name}: at least {} ticks, pruned", bounds[c]);
            continue;
        }
        let run = run(&system, c, MAX_STEPS)?;
        let better = best.is_none_or(|time| run.cost < time);
        best = Some(best.map_or(run.cost, |time| time.min(run.cost)));
        let note = if better { ", best so far" } else { "" };
        let (bound, ticks, steps) = (bounds[c], run.cost, run.steps);
        println!("{name}: at least {bound}, {ticks} ticks in {steps} steps{note}");
    }
    match best {
        Some(time) => println!("least time: {time} ticks"),
        None => println!("no configuration is valid"),
    }
    Ok(())
}
