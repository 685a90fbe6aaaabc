//! The valid configurations of a problem file: counted, listed and drawn, as one line of JSON.
//!
//! ```text
//! cargo run --release -p tickbound-model --example list_space -- examples/spaces/gemm.json 1000
//! ```

use std::error::Error;
use std::time::Instant;

use indexmap::IndexMap;
use serde_json::json;
use tickbound_elimination::TableLimits;
use tickbound_model::random::SplitMix64;
use tickbound_model::{Configuration, Problem, platforms};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(draws)) = (arguments.next(), arguments.next()) else {
        return Err("usage: list_space PROBLEM DRAWS".into());
    };
    let limits = TableLimits::default();
    let begin = Instant::now();
    let text = std::fs::read_to_string(path)?;
    let problem = Problem::from_json(&text, &IndexMap::new(), &platforms::find)?;
    let all = problem.configurations(&limits)?;
    let count = all.count().ok_or("the conditions share too much to be counted")?;
    let counted = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let places: Vec<usize> = (0..problem.parameters.len()).collect();
    let list = all.representatives(&places, &limits).ok_or("too many to be listed")?;
    let listed = begin.elapsed().as_secs_f64();

    let mut random = SplitMix64(1);
    let begin = Instant::now();
    let drawn: Option<Vec<Configuration>> =
        (0..draws.parse::<u64>()?).map(|_| all.random(&mut || random.draw())).collect();
    let drawn = drawn.ok_or("nothing is valid")?;
    let seconds = [counted, listed, begin.elapsed().as_secs_f64()];

    let values = |all: &[Configuration]| all.iter().map(|c| c.0.clone()).collect::<Vec<_>>();
    let points = problem.choices()?;
    let (list, drawn) = (values(&list), values(&drawn));
    println!(
        "{}",
        json!({ "points": points, "count": count.to_string(), "seconds": seconds,
                "list": list, "drawn": drawn })
    );
    Ok(())
}
