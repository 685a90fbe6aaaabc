//! One configuration's result as an entry of a cache, and back.
//!
//! Kernel Tuner's fields: the parameters by name, `time` (milliseconds, or the name of an error),
//! `times`, `compile_time`, `verification_time`, `benchmark_time`, `strategy_time`,
//! `framework_time` (milliseconds of this machine's clock), `timestamp`, and rates. `time` is the
//! *median* of `times`; Kernel Tuner itself writes the mean. Ours, which its tools pass over:
//! `source` (see [`Job::fingerprint`](crate::job::Job::fingerprint)), `failure` and
//! `message` of what failed, `verification` (`correct` or `unchecked`), `spread` and `steadiness`.

use serde_json::{Map, Value, json};
use tickbound_input::named::Named;

use crate::outcome::{Failure, FailureKind, Outcome, Stages, Timed};

/// A configuration's result, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheRecord {
    /// The parameters' values, in the problem's order.
    pub values: Vec<i64>,
    /// What came of it.
    pub outcome: Outcome,
    /// How long the parts of the work took.
    pub stages: Stages,
    /// When it was measured (UTC): `2025-04-06 18:00:36.120070+00:00`.
    pub timestamp: String,
    /// What was measured: [`Job::fingerprint`](crate::job::Job::fingerprint).
    pub source: String,
    /// Rates, by the names that Kernel Tuner's users give them: `GB/s`, `GOP/s`.
    pub rates: Vec<(String, f64)>,
}

/// Seconds to milliseconds, to a tenth of a nanosecond, so that nothing is made up.
pub(crate) fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1e10).round() / 1e7
}

/// Milliseconds from which a time represents a failure: Kernel Tuner wrote 1e20, in any unit.
pub(crate) const FAILED: f64 = 1e14;

/// The fields of an entry beside the parameters, which can have none of these names.
const FIELDS: [&str; 16] = [
    "time",
    "times",
    "times_in_turns",
    "compile_time",
    "verification_time",
    "benchmark_time",
    "strategy_time",
    "framework_time",
    "timestamp",
    "spread",
    "steadiness",
    "verification",
    "failure",
    "message",
    "source",
    "__error__",
];

/// The first parameter that has the name of a field.
pub(super) fn clash(parameters: &[String]) -> Option<&String> {
    parameters.iter().find(|name| FIELDS.contains(&name.as_str()))
}

fn error_name(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Compile => "CompilationFailedConfig",
        FailureKind::Launch => "InvalidConfig",
        FailureKind::Runtime | FailureKind::Timeout | FailureKind::Wrong => "RuntimeFailedConfig",
    }
}

/// The kind of failure that an error of Kernel Tuner's represents.
fn kind_of(error: &str, ours: Option<&str>) -> Option<FailureKind> {
    match (error, ours.and_then(FailureKind::find)) {
        (_, Some(kind)) => Some(kind),
        ("CompilationFailedConfig", _) => Some(FailureKind::Compile),
        ("InvalidConfig", _) => Some(FailureKind::Launch),
        ("RuntimeFailedConfig" | "ErrorConfig", _) => Some(FailureKind::Runtime),
        _ => None,
    }
}

impl CacheRecord {
    /// The entry's key: the values with commas between.
    pub fn key(&self) -> String {
        self.values.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
    }

    /// The entry.
    pub fn entry(&self, parameters: &[String]) -> Value {
        let mut entry = Map::new();
        for (name, value) in parameters.iter().zip(&self.values) {
            entry.insert(name.clone(), json!(value));
        }
        let mut put = |name: &str, value: Value| entry.insert(name.to_owned(), value);
        match &self.outcome {
            Outcome::Timed(timed) => {
                put("time", json!(milliseconds(timed.seconds())));
                let times =
                    |runs: &[f64]| runs.iter().map(|s| milliseconds(*s)).collect::<Vec<_>>();
                put("times", json!(times(&timed.runs)));
                if !timed.rounds.is_empty() {
                    put("times_in_turns", json!(times(&timed.rounds)));
                }
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

    /// Reads an entry, ours or Kernel Tuner's, if it is one. Times are finite and above 0.
    pub fn read(entry: &Value, parameters: &[String]) -> Option<CacheRecord> {
        let values =
            parameters.iter().map(|name| integer(entry.get(name)?)).collect::<Option<_>>()?;
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let seconds = |name: &str| entry.get(name).and_then(Value::as_f64).unwrap_or(0.0) / 1e3;
        let outcome = outcome(entry)?;
        let rates = ["GB/s", "GOP/s"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), entry.get(name)?.as_f64()?)));
        Some(CacheRecord {
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

/// The outcome that an entry states; `None` if it states none.
fn outcome(entry: &Value) -> Option<Outcome> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let time = entry.get("time").or_else(|| entry.get("__error__"))?;
    let error = entry.get("__error__").and_then(Value::as_str).or_else(|| time.as_str());
    Some(match (time.as_f64(), error) {
        (_, Some(error)) => {
            let kind = kind_of(error, text("failure"))?;
            let message = text("message").unwrap_or("failed when it was measured").to_owned();
            Outcome::Failed(Failure { kind, message })
        }
        (Some(time), None) if time >= FAILED => {
            Outcome::failed(FailureKind::Runtime, "failed when it was measured")
        }
        (Some(time), None) => {
            let times = |name| {
                let times = entry.get(name).and_then(Value::as_array);
                times.into_iter().flatten().map(Value::as_f64).collect::<Option<Vec<f64>>>()
            };
            let (mut runs, mut rounds) = (times("times")?, times("times_in_turns")?);
            if runs.is_empty() {
                runs.push(time);
            }
            let all = runs.iter().chain(&rounds).chain([&time]);
            if !all.into_iter().all(|t| t.is_finite() && *t > 0.0) {
                return None;
            }
            runs.iter_mut().chain(&mut rounds).for_each(|run| *run /= 1e3);
            let steady = text("steadiness") != Some("unsteady");
            let checked = text("verification") == Some("correct");
            Outcome::Timed(Timed { runs, rounds, steady, checked })
        }
        (None, None) => return None,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: [&str; 2] = ["A", "B"];

    fn parameters() -> Vec<String> {
        PARAMETERS.map(str::to_owned).to_vec()
    }

    fn record(outcome: Outcome) -> CacheRecord {
        CacheRecord {
            values: vec![-3, 16],
            outcome,
            stages: Stages { compile: 0.5, verify: 0.25, run: 0.125, other: 2.0 },
            timestamp: "2026-01-02 03:04:05.000006+00:00".into(),
            source: "abc".into(),
            rates: vec![("GB/s".into(), 1.5), ("GOP/s".into(), 2.5)],
        }
    }

    fn timed(runs: &[f64], steady: bool, checked: bool) -> Outcome {
        Outcome::Timed(Timed { runs: runs.to_vec(), rounds: Vec::new(), steady, checked })
    }

    #[test]
    fn every_field_of_a_time() {
        let record = record(timed(&[0.002, 0.001, 0.004, 0.003, 0.005, 0.007, 0.006], true, true));
        assert_eq!(record.key(), "-3,16");
        let entry = record.entry(&parameters());
        for (name, value) in [
            ("A", json!(-3)),
            ("B", json!(16)),
            // The median, in milliseconds.
            ("time", json!(4.0)),
            ("times", json!([2.0, 1.0, 4.0, 3.0, 5.0, 7.0, 6.0])),
            // All seven are in the interval of the median: half of 6 ms over 4 ms.
            ("spread", json!(0.75)),
            ("compile_time", json!(500.0)),
            ("verification_time", json!(250.0)),
            ("benchmark_time", json!(125.0)),
            ("framework_time", json!(2000.0)),
            ("strategy_time", json!(0)),
            ("GB/s", json!(1.5)),
            ("GOP/s", json!(2.5)),
            ("timestamp", json!("2026-01-02 03:04:05.000006+00:00")),
            ("steadiness", json!("steady")),
            ("verification", json!("correct")),
            ("source", json!("abc")),
        ] {
            assert_eq!(entry[name], value, "{name}");
        }
    }

    #[test]
    fn no_parameter_is_called_as_a_field() {
        let failed = record(Outcome::failed(FailureKind::Launch, "because"));
        for record in [record(timed(&[0.5], true, true)), failed] {
            let entry = record.entry(&[]);
            for field in entry.as_object().unwrap().keys().filter(|f| !f.contains('/')) {
                assert_eq!(clash(&["WG".into(), field.clone()]), Some(field));
            }
        }
        assert_eq!(clash(&parameters()), None);
    }

    #[test]
    fn what_is_written_is_read() {
        let kinds = FailureKind::ALL.map(|kind| Outcome::failed(kind, "because"));
        let times = [(true, true), (true, false), (false, true), (false, false)]
            .map(|(steady, checked)| timed(&[0.5, 0.25], steady, checked));
        for outcome in kinds.into_iter().chain(times) {
            let record = record(outcome);
            let entry = record.entry(&parameters());
            assert_eq!(CacheRecord::read(&entry, &parameters()).as_ref(), Some(&record), "{entry}");
        }
    }

    /// Errors under the names that Kernel Tuner knows, by which its users sort them out.
    #[test]
    fn names_of_errors() {
        for (kind, name) in [
            (FailureKind::Compile, "CompilationFailedConfig"),
            (FailureKind::Launch, "InvalidConfig"),
            (FailureKind::Runtime, "RuntimeFailedConfig"),
            (FailureKind::Timeout, "RuntimeFailedConfig"),
            (FailureKind::Wrong, "RuntimeFailedConfig"),
        ] {
            let entry = record(Outcome::failed(kind, "because")).entry(&parameters());
            assert_eq!((&entry["time"], &entry["message"]), (&json!(name), &json!("because")));
        }
    }

    fn read(entry: Value) -> Option<Outcome> {
        let mut whole = json!({ "A": 1, "B": 2 });
        whole.as_object_mut()?.extend(entry.as_object()?.clone());
        CacheRecord::read(&whole, &parameters()).map(|record| record.outcome)
    }

    #[test]
    fn entries_of_kernel_tuner() {
        // A time alone is one run; its output is unknown.
        assert_eq!(read(json!({ "time": 2.0 })), Some(timed(&[0.002], true, false)));
        let failed = |kind| Some(Outcome::failed(kind, "failed when it was measured"));
        for (error, kind) in [
            ("CompilationFailedConfig", FailureKind::Compile),
            ("InvalidConfig", FailureKind::Launch),
            ("RuntimeFailedConfig", FailureKind::Runtime),
            ("ErrorConfig", FailureKind::Runtime),
        ] {
            assert_eq!(read(json!({ "time": error })), failed(kind), "{error}");
            assert_eq!(read(json!({ "__error__": error, "time": 1.0 })), failed(kind), "{error}");
            assert_eq!(read(json!({ "__error__": error })), failed(kind), "{error}");
        }
        assert_eq!(read(json!({ "time": 1e20 })), failed(FailureKind::Runtime));
        let whole = json!({ "A": 1, "B": 2.0, "time": 2.0, "compile_time": 3.0 });
        let record = CacheRecord::read(&whole, &parameters()).unwrap();
        assert_eq!((record.values, record.stages.compile), (vec![1, 2], 0.003));
        assert_eq!((record.stages.run, record.rates.len(), &*record.source), (0.0, 0, ""));
    }

    #[test]
    fn what_is_no_result() {
        for entry in [
            json!({}),
            json!({ "time": null }),
            json!({ "time": "SomeOtherError" }),
            json!({ "time": 0.0 }),
            json!({ "time": -1.0 }),
            json!({ "time": 1.0, "times": [1.0, 0.0] }),
            json!({ "time": 1.0, "times": [1.0, "1"] }),
            json!({ "time": 0.0, "times": [1.0] }),
            json!({ "time": 1.0, "A": "x" }),
            json!({ "time": 1.0, "A": 1.5 }),
        ] {
            assert_eq!(read(entry.clone()), None, "{entry}");
        }
        assert_eq!(CacheRecord::read(&json!({ "A": 1, "time": 1.0 }), &parameters()), None);
    }

    #[test]
    fn keys_and_numbers() {
        for (key, values) in [
            ("", Some(vec![])),
            ("1", Some(vec![1])),
            ("1,-2", Some(vec![1, -2])),
            ("1, 2", Some(vec![1, 2])),
            ("True,False", Some(vec![1, 0])),
            ("2.0,1e3", Some(vec![2, 1000])),
            ("2.5", None),
            ("x", None),
            ("1,", None),
        ] {
            assert_eq!(key_values(key), values, "{key}");
        }
        for (value, number) in [
            (json!(7), Some(7)),
            (json!(i64::MIN), Some(i64::MIN)),
            (json!("-7"), Some(-7)),
            (json!("7.0"), None),
            (json!(true), Some(1)),
            (json!(false), Some(0)),
            (json!(7.0), Some(7)),
            (json!(-7.0), Some(-7)),
            (json!(7.5), None),
            (json!(8_999_999_999_999_999_u64 as f64), Some(8_999_999_999_999_999)),
            (json!(9e15), None),
            (json!(-9e15), None),
            (json!(null), None),
        ] {
            assert_eq!(integer(&value), number, "{value}");
        }
        for (seconds, shown) in [(1.0, 1000.0), (1.234_567_891_2e-3, 1.234_567_9), (0.0, 0.0)] {
            assert_eq!(milliseconds(seconds), shown, "{seconds}");
        }
    }
}
