//! Results in the T4 format: what auto-tuners of the FAIR toolset write and read.
//!
//! One object with `schema_version`, `metadata` and `results`, as Kernel Tuner 1.5 writes it. The
//! published schema names the time of compiling `compilation_time`, Kernel Tuner's own files
//! `compilation`: both are there. Times are milliseconds.

use serde_json::{Map, Value, json};
use tickbound_model::Problem;

use super::cache::CacheRecord;
use super::cache::entry::milliseconds;
use super::outcome::{FailureKind, Outcome};
use super::report::MeasureReport;

/// The version of the format.
pub const VERSION: &str = "1.0.0";

/// A report in this format.
pub fn results(problem: &Problem, report: &MeasureReport) -> Value {
    let device = &report.device;
    json!({
        "schema_version": VERSION,
        "metadata": {
            "timeunit": "milliseconds",
            "kernel": problem.source.as_ref().map(|s| &s.entry),
            "problem": problem.name,
            "inputs": problem.inputs,
            "device": device.name,
            "platform": device.platform,
            "driver": device.driver,
            "opencl": device.version,
            "tuner": concat!("tickbound ", env!("CARGO_PKG_VERSION")),
        },
        "results": report.results.iter().map(|m| result(problem, &m.record)).collect::<Vec<_>>(),
    })
}

fn result(problem: &Problem, record: &CacheRecord) -> Value {
    let parameters = problem.parameters.iter().map(|p| p.name.clone());
    let configuration: Map<String, Value> =
        parameters.zip(record.values.iter().map(|v| json!(v))).collect();
    let timed = record.outcome.timed();
    let runs: Vec<f64> =
        timed.iter().flat_map(|t| &t.runs).map(|seconds| milliseconds(*seconds)).collect();
    let mut measurements = Vec::new();
    let mut measured = |name: &str, value: f64, unit: &str| {
        measurements.push(json!({ "name": name, "value": value, "unit": unit }));
    };
    if let Some(timed) = timed {
        measured("time", milliseconds(timed.seconds()), "ms");
        record.rates.iter().for_each(|(name, rate)| measured(name, *rate, name));
    }
    let compile = milliseconds(record.stages.compile);
    json!({
        "timestamp": record.timestamp,
        "configuration": configuration,
        "times": {
            "compilation_time": compile,
            "compilation": compile,
            "benchmark": milliseconds(record.stages.run),
            "framework": milliseconds(record.stages.other),
            "search_algorithm": 0,
            "validation": milliseconds(record.stages.verify),
            "runtimes": runs,
        },
        "invalidity": invalidity(&record.outcome),
        "correctness": i32::from(timed.is_some()),
        "measurements": measurements,
        "objectives": ["time"],
    })
}

fn invalidity(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Timed(_) => "correct",
        Outcome::Failed(failure) => match failure.kind {
            // What a device cannot launch is outside the constraints of that device.
            FailureKind::Launch => "constraints",
            kind => kind.name(),
        },
    }
}
