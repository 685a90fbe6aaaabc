//! One configuration's result as an entry of a cache, and back.
//!
//! Kernel Tuner's fields: the parameters by name, `time` (milliseconds, or the name of an error),
//! `times`, `compile_time`, `verification_time`, `benchmark_time`, `strategy_time`,
//! `framework_time` (milliseconds of this machine's clock), `timestamp`, and rates. `time` is the
//! *median* of `times`; Kernel Tuner itself writes the mean. Ours, which its tools pass over:
//! `source` (see [`Job::fingerprint`](crate::measure::job::Job::fingerprint)), `failure` and
//! `message` of what failed, `verification` (`correct` or `unchecked`), `spread` and `steadiness`.

use serde_json::{Map, Value, json};
use tickbound_model::named::Named;

use crate::measure::outcome::{Failure, FailureKind, Outcome, Stages, Timed};

/// A configuration's result, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The parameters' values, in the problem's order.
    pub values: Vec<i64>,
    /// What came of it.
    pub outcome: Outcome,
    /// How long the parts of the work took.
    pub stages: Stages,
    /// When it was measured (UTC): `2025-04-06 18:00:36.120070+00:00`.
    pub timestamp: String,
    /// What was measured: [`Job::fingerprint`](crate::measure::job::Job::fingerprint).
    pub source: String,
    /// Rates, by the names that Kernel Tuner's users give them: `GB/s`, `GOP/s`.
    pub rates: Vec<(String, f64)>,
}

/// Seconds to milliseconds, to a tenth of a nanosecond, so that nothing is made up.
pub(crate) fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1e10).round() / 1e7
}

fn error_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Compile => "CompilationFailedConfig",
        FailureKind::Launch => "InvalidConfig",
        FailureKind::Runtime | FailureKind::Timeout | FailureKind::Wrong => "RuntimeFailedConfig",
    }
}

/// The kind of failure that an error of Kernel Tuner's stands for.
fn kind_of(error: &str, ours: Option<&str>) -> Option<FailureKind> {
    match (error, ours.and_then(FailureKind::find)) {
        (_, Some(kind)) => Some(kind),
        ("CompilationFailedConfig", _) => Some(FailureKind::Compile),
        ("InvalidConfig", _) => Some(FailureKind::Launch),
        ("RuntimeFailedConfig" | "ErrorConfig", _) => Some(FailureKind::Runtime),
        _ => None,
    }
}

impl Record {
    /// The entry's key: the values with commas between.
    #[must_use]
    pub fn key(&self) -> String {
        self.values.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
    }

    /// The entry.
    #[must_use]
    pub fn entry(&self, parameters: &[String]) -> Value {
        let mut entry = Map::new();
        for (name, value) in parameters.iter().zip(&self.values) {
            entry.insert(name.clone(), json!(value));
        }
        let mut put = |name: &str, value: Value| entry.insert(name.to_owned(), value);
        match &self.outcome {
            Outcome::Timed(timed) => {
                put("time", json!(milliseconds(timed.seconds())));
                let times: Vec<f64> = timed.runs.iter().map(|s| milliseconds(*s)).collect();
                put("times", json!(times));
            }
            Outcome::Failed(failure) => {
                put("time", json!(error_name(failure.kind)));
            }
        }
        put("compile_time", json!(milliseconds(self.stages.compile)));
        put("verification_time", json!(milliseconds(self.stages.verify)));
        put("benchmark_time", json!(milliseconds(self.stages.run)));
        self.rates.iter().for_each(|(name, rate)| {
            put(name, json!(rate));
        });
        put("strategy_time", json!(0));
        put("framework_time", json!(milliseconds(self.stages.other)));
        put("timestamp", json!(self.timestamp));
        match &self.outcome {
            Outcome::Timed(timed) => {
                if let Some(spread) = timed.spread() {
                    put("spread", json!((spread * 1e6).round() / 1e6));
                }
                put("steadiness", json!(if timed.steady { "steady" } else { "unsteady" }));
                put("verification", json!(if timed.checked { "correct" } else { "unchecked" }));
            }
            Outcome::Failed(failure) => {
                put("failure", json!(failure.kind.name()));
                put("message", json!(failure.message));
            }
        }
        put("source", json!(self.source));
        Value::Object(entry)
    }

    /// Reads an entry, of ours or of Kernel Tuner's; nothing if it is none. Times are finite and above 0.
    #[must_use]
    pub fn read(entry: &Value, parameters: &[String]) -> Option<Record> {
        let values =
            parameters.iter().map(|name| integer(entry.get(name)?)).collect::<Option<_>>()?;
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let seconds = |name: &str| entry.get(name).and_then(Value::as_f64).unwrap_or(0.0) / 1e3;
        let time = entry.get("time").or_else(|| entry.get("__error__"))?;
        let error = entry.get("__error__").and_then(Value::as_str).or_else(|| time.as_str());
        let outcome = match (time.as_f64(), error) {
            (_, Some(error)) => {
                let kind = kind_of(error, text("failure"))?;
                let message = text("message").unwrap_or("failed when it was measured").to_owned();
                Outcome::Failed(Failure { kind, message })
            }
            (Some(time), None) => {
                let times = entry.get("times").and_then(Value::as_array);
                let runs = times.into_iter().flatten().map(Value::as_f64);
                let mut runs: Vec<f64> = runs.collect::<Option<_>>()?;
                if runs.is_empty() {
                    runs.push(time);
                }
                if !runs.iter().chain([&time]).all(|t| t.is_finite() && *t > 0.0) {
                    return None;
                }
                runs.iter_mut().for_each(|run| *run /= 1e3);
                let steady = text("steadiness") != Some("unsteady");
                let checked = text("verification") == Some("correct");
                Outcome::Timed(Timed { runs, steady, checked })
            }
            (None, None) => return None,
        };
        let rates = ["GB/s", "GOP/s"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), entry.get(name)?.as_f64()?)));
        Some(Record {
            values,
            outcome,
            stages: Stages {
                compile: seconds("compile_time"),
                verify: seconds("verification_time"),
                run: seconds("benchmark_time"),
                other: seconds("framework_time"),
            },
            timestamp: text("timestamp").unwrap_or_default().to_owned(),
            source: text("source").unwrap_or_default().to_owned(),
            rates: rates.collect(),
        })
    }
}

/// The values that a key consists of, as we or Kernel Tuner write it.
pub(crate) fn key_values(key: &str) -> Option<Vec<i64>> {
    let value = |text: &str| match text.trim() {
        "True" => Some(1),
        "False" => Some(0),
        text => integer(&Value::from(text)).or_else(|| integer(&text.parse::<f64>().ok()?.into())),
    };
    match key {
        "" => Some(Vec::new()),
        key => key.split(',').map(value).collect(),
    }
}

/// A whole number, however it is written.
pub(crate) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Bool(truth) => Some(i64::from(*truth)),
        _ => value.as_i64().or_else(|| {
            let real = value.as_f64()?;
            (real.fract() == 0.0 && real.abs() < 9e15).then_some(real as i64)
        }),
    }
}
