//! How many times as fast as exhaustive SPIN on the process model the optimiser is, on the
//! published abstract kernel of size 16: `cargo bench --bench spin` (a quarter of a minute).
//!
//! Both engines run as processes of their own and report their own clocks, in one
//! `tickbound compare`. A few milliseconds vary more than seconds do, so the optimiser also runs
//! alone, a new process each time, and the median is taken.

use std::process::Command;

use serde_json::Value;
use tickbound_report::Table;

const PROBLEM: [&str; 3] = ["examples/problems/abstract.json", "--input", "size=16"];
const ENGINES: &str = "smt,spin:processes:exhaustive";
/// How often the optimiser runs alone.
const REPEATS: usize = 21;
/// What the ratio has to reach.
const BAR: f64 = 1000.0;

fn main() {
    let compared = tickbound(&["compare", "--engines", ENGINES]);
    let [smt, spin] = [0, 1].map(|row| &compared["cases"][0]["rows"][row]);
    if spin["status"] != "optimal" {
        println!("spin: nothing compared: {}", spin["reason"]);
        return;
    }
    assert_eq!(compared["agree"], true, "both find the least time");
    let (smt, spin) = (seconds(smt), seconds(spin));
    let alone = alone();
    let mut table = Table::new(["abstract kernel, size 16", "seconds", "SPIN / optimiser"]);
    let mut row = |name: &str, taken: f64| {
        table.push([name.to_owned(), format!("{taken:.4}"), format!("{:.0}", spin / taken)]);
    };
    row("SPIN, processes, exhaustive", spin);
    row("optimiser, in the same comparison", smt);
    row(&format!("optimiser, median of {REPEATS} processes"), alone[REPEATS / 2]);
    row("optimiser, the slowest of them", alone[REPEATS - 1]);
    let reached = if spin / alone[REPEATS / 2] >= BAR { "reached" } else { "missed" };
    println!("{table}\nThe bar of {BAR} is {reached} by the median.");
}

/// Seconds of the optimiser in new processes, in order.
fn alone() -> Vec<f64> {
    let mut all: Vec<f64> = (0..REPEATS).map(|_| seconds(&tickbound(&["tune"]))).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn seconds(run: &Value) -> f64 {
    run["seconds"].as_f64().expect("a run that ended has seconds")
}

/// What this build of the program prints about the problem.
fn tickbound(args: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickbound"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args).args(PROBLEM).arg("--json");
    let output = command.output().expect("the program runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}
