//! Tunes a kernel from a program of one's own.
//!
//! One learns: how a problem is made from JSON text with inputs replaced, how a search is watched
//! and stopped, and how to read its result - the least time, every configuration that reaches it,
//! and what the proof is.
//!
//! ```text
//! cargo run -p tickbound-solver --example tune_kernel
//! cargo run -p tickbound-solver --example tune_kernel -- 4096
//! ```

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indexmap::IndexMap;
use tickbound_model::verdict::Status;
use tickbound_model::{Problem, platforms};
use tickbound_solver::{Proof, SearchOptions, tune};

/// Each item adds up `chunk` values, then item 0 of each group adds up its group's sums. The names
/// of the parameters are free; `lid` is an item's index in its group.
const KERNEL: &str = r#"{
  "name": "sums of chunks",
  "inputs": { "size": 1024 },
  "platform": "p104-100",
  "parameters": { "WG": "powers_of_two(16, 1024)", "chunk": "powers_of_two(1, 64)" },
  "constraints": [ "size % (WG * chunk) == 0" ],
  "launch": { "global_size": "size / chunk", "local_size": "WG" },
  "kernel": [
    { "repeat": "chunk", "body": [ { "global": 1 }, { "compute": 1 } ], "name": "own chunk" },
    { "local": 1, "name": "write sum" },
    "barrier",
    { "if": "lid == 0", "then": [
      { "local": "WG", "name": "read sums" },
      { "compute": "WG", "name": "add" },
      { "global": 1, "name": "write result" }
    ] }
  ]
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    // What `--input size=...` does on the command line.
    let mut inputs = IndexMap::new();
    if let Some(size) = std::env::args().nth(1) {
        inputs.insert("size".to_owned(), size.parse()?);
    }
    let problem = Problem::from_json(KERNEL, &inputs, &platforms::find)?;

    // Another thread may set `stop`; the search then returns the bracket it has reached.
    let stop = AtomicBool::new(false);
    let options =
        SearchOptions { timeout: Some(Duration::from_secs(10)), ..SearchOptions::default() };
    let result = tune(&problem, &options, &stop, &|known| match known.bounds.best {
        Some((_, time)) => {
            println!("the least time is between {} and {time} ticks", known.bounds.lower)
        }
        None => println!("the least time is at least {} ticks", known.bounds.lower),
    })?;

    if result.status == Status::Optimal {
        for found in &result.optima {
            println!("{} ticks at {}", found.time, problem.name_values(&found.configuration));
        }
        let provers: Vec<_> = result.proofs.iter().map(Proof::name).collect();
        println!("proved: nothing is faster, by {}", provers.join(" and "));
    }
    Ok(())
}
