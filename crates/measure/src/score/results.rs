//! Published measurements: Kernel Tuner's caches, T4 files and KTT's output, plain or gzipped.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value;

use crate::cache::entry::{FAILED, integer, key_values};
use crate::cache::text;

/// Measured times by configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// The device, if the file reports it.
    pub device: Option<String>,
    /// Parameters by name, and milliseconds.
    pub entries: Vec<(IndexMap<String, i64>, f64)>,
    /// Milliseconds of the fastest run of each, where its runs are there; else its time.
    pub fastest: Vec<f64>,
    /// Configurations that failed.
    pub failed: usize,
    /// Lines of a cache that are no entries, entries whose key is not their parameters' values, and
    /// results without parameters or a time.
    pub broken: usize,
    /// Parameters whose values are texts or fractions, and these.
    others: BTreeMap<String, BTreeSet<String>>,
}

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file cannot be read, has something else, or has no times: why, and the fix.
    #[error("{0}: {1}")]
    File(PathBuf, String),
    /// A parameter varies that the problem does not have.
    #[error(
        "`{0}` varies in the results, and the problem has no parameter of this name; add it to the \
         problem"
    )]
    Unknown(String),
    /// The results do not have a parameter of the problem.
    #[error(
        "no result has a whole number for the parameter `{0}`; give results of this problem, or \
         remove the parameter from it"
    )]
    Absent(String),
}

enum Timeless {
    Unit(String),
    /// There is no time under any name; what there is instead.
    Objective(String),
}

impl Timeless {
    fn why(self) -> String {
        match self {
            Timeless::Unit(unit) => {
                format!("unknown unit `{unit}` of a time; write s, ms, us or ns")
            }
            Timeless::Objective(objective) => format!(
                "no result has a time: the objective is {objective}, which is none, and there are \
                 no run times; give results with times"
            ),
        }
    }
}

impl Results {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is something else.
    pub fn read(path: &Path) -> Result<Results, ResultsError> {
        Results::of_bytes(path, tickbound_input::bytes(path).map_err(|e| unread(path, &e))?)
    }

    /// Reads a file's bytes; `path` is for messages.
    ///
    /// # Errors
    /// They cannot be unpacked, are too many then, or are something else.
    pub fn of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Results, ResultsError> {
        let unpacked = match bytes.starts_with(&[0x1f, 0x8b]) {
            true => tickbound_input::within(
                tickbound_input::MOST,
                flate2::read::MultiGzDecoder::new(&bytes[..]),
            ),
            false => Ok(bytes),
        };
        let unpacked = unpacked.map_err(|e| unread(path, &e))?;
        let content = without_nan(&text::decoded(&unpacked));
        // A cache that is still open lacks its end.
        let open =
            || tickbound_input::json(&(content.trim_end().trim_end_matches(',').to_owned() + "}}"));
        let value = tickbound_input::json::<Value>(&content);
        let value = value.or_else(|e| if e.is_eof() { open() } else { Err(e) });
        let fault = |why| ResultsError::File(path.to_owned(), why);
        match value {
            Err(error) if error.is_data() => Err(fault(format!("{error}; remove one of the two"))),
            value => {
                let other =
                    |value: Value| Results::of_t4(&value).or_else(|| Results::of_ktt(&value));
                let found = Results::of_cache(&content).or_else(|| value.ok().and_then(other));
                let what = "neither a cache of Kernel Tuner nor a T4 file nor KTT's output in JSON";
                let found = found.ok_or_else(|| fault(format!("{what}; give one of these")))?;
                found.map_err(|timeless| fault(timeless.why()))
            }
        }
    }

    /// Adds a result; a time that is not above 0, or nearly infinite, represents a failure.
    fn add<'v>(
        &mut self,
        parameters: Option<impl IntoIterator<Item = (&'v str, &'v Value)>>,
        time: Option<f64>,
        fastest: Option<f64>,
    ) {
        let Some(parameters) = parameters else {
            self.broken += 1;
            return;
        };
        let Some(time) = time.filter(|t| *t > 0.0 && *t < FAILED) else {
            self.failed += 1;
            return;
        };
        let mut whole = IndexMap::new();
        for (name, value) in parameters {
            match integer(value) {
                Some(value) => {
                    whole.insert(name.to_owned(), value);
                }
                None => {
                    self.others.entry(name.to_owned()).or_default().insert(value.to_string());
                }
            }
        }
        self.entries.push((whole, time));
        self.fastest.push(fastest.map_or(time, |fastest| fastest.min(time)));
    }

    /// The results, unless there are some, and the first is known not to have a time.
    fn or_timeless(mut self, timeless: Vec<String>) -> Result<Results, Timeless> {
        let count = timeless.len();
        match timeless.into_iter().next() {
            Some(objective) if self.entries.is_empty() => Err(Timeless::Objective(objective)),
            _ => {
                self.broken += count;
                Ok(self)
            }
        }
    }

    fn of_cache(content: &str) -> Option<Result<Results, Timeless>> {
        let parts = text::read(content)?;
        let names: Vec<&str> = parts
            .head
            .get("tune_params_keys")?
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let text = |key: &str| parts.head.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut results = Results {
            device: text("device_name"),
            broken: parts.broken.len(),
            ..Results::default()
        };
        let mut timeless = Vec::new();
        // Of entries with one key the last counts, where the file is broken elsewhere.
        let entries: IndexMap<_, _> =
            parts.entries.iter().map(|e| (e.key.as_str(), &e.value)).collect();
        for (key, entry) in entries {
            let values = names.iter().map(|name| Some((*name, entry.get(*name)?)));
            let parameters: Option<Vec<(&str, &Value)>> = values.collect();
            let whole = |list: &Vec<(&str, &Value)>| {
                list.iter().map(|(_, v)| integer(v)).collect::<Option<Vec<i64>>>()
            };
            let values = parameters.as_ref().and_then(whole);
            if values.is_some() && key_values(key).is_some_and(|of_key| Some(of_key) != values) {
                results.broken += 1;
                continue;
            }
            let time = match (entry.get("__error__"), entry.get("time")) {
                (Some(_), _) => None,
                (None, Some(time)) => number(time),
                (None, None) => match entry.get("times").and_then(number) {
                    Some(time) => Some(time),
                    None => {
                        timeless.push(text("objective").unwrap_or_else(|| "not said".into()));
                        continue;
                    }
                },
            };
            results.add(parameters, time, fastest(entry.get("times")));
        }
        Some(results.or_timeless(timeless))
    }

    fn of_t4(value: &Value) -> Option<Result<Results, Timeless>> {
        let said = |key: &str| value.pointer(&format!("/metadata/{key}")).and_then(Value::as_str);
        let mut results =
            Results { device: said("device").map(str::to_owned), ..Results::default() };
        let mut timeless = Vec::new();
        for result in value.get("results")?.as_array()? {
            let parameters = result.get("configuration").and_then(Value::as_object);
            let parameters = parameters.map(|c| c.iter().map(|(name, v)| (name.as_str(), v)));
            let correct = result["invalidity"] == "correct";
            match correct.then(|| t4_time(result, said("timeunit"))).transpose() {
                Ok(time) => {
                    let fastest = fastest(result["times"].get("runtimes"));
                    let factor = milliseconds(said("timeunit")).ok();
                    let fastest = fastest.zip(factor).map(|(time, factor)| time * factor);
                    results.add(parameters, time.flatten(), fastest);
                }
                Err(Timeless::Objective(what)) => timeless.push(what),
                Err(unit) => return Some(Err(unit)),
            }
        }
        Some(results.or_timeless(timeless))
    }

    fn of_ktt(value: &Value) -> Option<Result<Results, Timeless>> {
        let said = |key: &str| value.pointer(&format!("/Metadata/{key}")).and_then(Value::as_str);
        let mut results =
            Results { device: said("Device").map(str::to_owned), ..Results::default() };
        let list = value.get("Results")?.as_array()?;
        let unit = match milliseconds(said("TimeUnit")) {
            Ok(unit) => unit,
            Err(unknown) => return Some(Err(unknown)),
        };
        for result in list {
            let pair = |p: &Value| Some((p["Name"].as_str()?.to_owned(), p["Value"].clone()));
            let parameters = result["Configuration"].as_array();
            let parameters: Option<Vec<(String, Value)>> =
                parameters.and_then(|list| list.iter().map(pair).collect());
            let parameters =
                parameters.as_ref().map(|list| list.iter().map(|(name, v)| (name.as_str(), v)));
            // A configuration may run several kernels.
            let kernels = result["ComputationResults"].as_array().into_iter().flatten();
            let time: Option<f64> = kernels.map(|kernel| kernel["Duration"].as_f64()).sum();
            let time = time.map(|t| t * unit).filter(|_| result["Status"] == "Ok");
            results.add(parameters, time, None);
        }
        Some(Ok(results))
    }

    /// Leaves out parameters that are none of `names`.
    ///
    /// # Errors
    /// One of them has several values, so that configurations would be mixed up; or no result has
    /// one of `names`.
    pub fn only(&mut self, names: &[&str]) -> Result<(), ResultsError> {
        let mut others: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let unknown = |name: &&String| !names.contains(&name.as_str());
        for (name, values) in self.others.iter().filter(|(name, _)| unknown(name)) {
            others.entry(name).or_default().extend(values.iter().cloned());
        }
        for (name, value) in self.entries.iter().flat_map(|(p, _)| p).filter(|(n, _)| unknown(n)) {
            let values = others.entry(name).or_default();
            if values.len() < 2 {
                values.insert(value.to_string());
            }
        }
        if let Some((name, _)) = others.iter().find(|(_, values)| values.len() > 1) {
            return Err(ResultsError::Unknown((*name).to_owned()));
        }
        self.entries.iter_mut().for_each(|(p, _)| p.retain(|n, _| names.contains(&n.as_str())));
        let absent = |name: &&&str| self.entries.iter().all(|(p, _)| !p.contains_key(**name));
        match names.iter().find(absent).filter(|_| !self.entries.is_empty()) {
            Some(name) => Err(ResultsError::Absent((*name).to_owned())),
            None => Ok(()),
        }
    }
}

fn unread(path: &Path, error: &io::Error) -> ResultsError {
    let fix = "give a cache of Kernel Tuner, a T4 file or KTT's output in JSON";
    ResultsError::File(path.to_owned(), format!("{error}; {fix}"))
}

/// The least of several run times that is above 0.
fn fastest(times: Option<&Value>) -> Option<f64> {
    let times = times?.as_array()?.iter().filter_map(Value::as_f64);
    times.filter(|time| *time > 0.0).reduce(f64::min)
}

/// The time of a T4 result in milliseconds: what is called `time`, else an objective that is a
/// time, else the median of its run times. `None` where that is not a number, as of failures.
fn t4_time(result: &Value, unit: Option<&str>) -> Result<Option<f64>, Timeless> {
    let objectives = result["objectives"].as_array().into_iter().flatten();
    let objectives: Vec<&str> = objectives.filter_map(Value::as_str).collect();
    let measured = |name: &str| {
        result["measurements"].as_array().into_iter().flatten().find(|m| m["name"] == name)
    };
    for name in ["time"].iter().chain(&objectives) {
        let Some(measured) = measured(name) else { continue };
        let own = measured["unit"].as_str().filter(|unit| !unit.is_empty());
        let lower = name.to_lowercase();
        let is_time = match own {
            _ if *name == "time" => true,
            Some(_) => milliseconds(own).is_ok(),
            None => lower.contains("time") || lower.contains("duration"),
        } && !OVERHEADS.iter().any(|other| lower.contains(other));
        if is_time {
            let factor = milliseconds(own.or(unit))?;
            return Ok(number(&measured["value"]).map(|value| value * factor));
        }
    }
    match result["times"].get("runtimes").and_then(number) {
        Some(time) => Ok(Some(time * milliseconds(unit)?)),
        None if objectives.is_empty() => Err(Timeless::Objective("not said".into())),
        None => Err(Timeless::Objective(format!("`{}`", objectives.join(", ")))),
    }
}

/// Parts of the names of times that are not the kernel's.
const OVERHEADS: [&str; 7] =
    ["compil", "verif", "valid", "framework", "strategy", "search", "benchmark"];

/// A number, also one that is a text, or the median of a list of numbers; nothing if there is none.
fn number(value: &Value) -> Option<f64> {
    let Some(list) = value.as_array() else {
        return value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    };
    let mut numbers: Vec<f64> = list.iter().map(Value::as_f64).collect::<Option<_>>()?;
    numbers.sort_by(f64::total_cmp);
    let (low, high) =
        (numbers.get(numbers.len().checked_sub(1)? / 2)?, numbers.get(numbers.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

/// One of these units in milliseconds, which is taken where none is given. The first
/// letters of long names tell, since published files misspell the rest.
fn milliseconds(unit: Option<&str>) -> Result<f64, Timeless> {
    let Some(said) = unit else { return Ok(1.0) };
    let unit = said.trim().to_lowercase();
    let short = ["secs", "sec", "s"].iter().find_map(|end| unit.strip_suffix(end));
    Ok(match (short, unit.get(..3)) {
        (Some(""), _) | (_, Some("sec")) => 1e3,
        (Some("m"), _) | (_, Some("mil")) => 1.0,
        // Both letters that look like mu: U+00B5 and U+03BC.
        (Some("u" | "\u{b5}" | "\u{3bc}"), _) | (_, Some("mic")) => 1e-3,
        (Some("n"), _) | (_, Some("nan")) => 1e-6,
        _ => return Err(Timeless::Unit(said.to_owned())),
    })
}

/// JSON as Python writes it, with `null` for `NaN` and `Infinity`, which JSON does not have.
fn without_nan(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut quoted) = (text, false);
    while let Some(c) = rest.chars().next() {
        let bare = ["NaN", "-Infinity", "Infinity"].into_iter();
        if let Some(word) = bare.filter(|_| !quoted).find(|word| rest.starts_with(word)) {
            out += "null";
            rest = &rest[word.len()..];
            continue;
        }
        // An escaped quote ends no text.
        let end = if quoted && c == '\\' {
            1 + rest[1..].chars().next().map_or(0, char::len_utf8)
        } else {
            c.len_utf8()
        };
        quoted ^= c == '"';
        out += &rest[..end];
        rest = &rest[end..];
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Results, String> {
        Results::of_bytes(Path::new("r"), text.as_bytes().to_vec()).map_err(|e| e.to_string())
    }

    fn t4(unit: &str, more: &Value) -> Value {
        let mut result = json!({ "configuration": { "WG": 4 }, "invalidity": "correct",
            "objectives": ["time"],
                "measurements": [{ "name": "time", "value": 2.0, "unit": unit }] });
        for (key, value) in more.as_object().unwrap() {
            result[key] = value.clone();
        }
        json!({ "results": [result] })
    }

    fn time(file: &Value) -> Result<f64, String> {
        read(&file.to_string()).map(|r| r.entries[0].1)
    }

    #[test]
    fn units_of_time() {
        for (factor, units) in [
            (1e3, vec!["s", "sec", "seconds", "Seconds"]),
            (1.0, vec!["ms", "msec", "milliseconds", "miliseconds", ""]),
            (
                1e-3,
                vec![
                    "us",
                    "usec",
                    "usecs",
                    "\u{b5}s",
                    "\u{3bc}s",
                    "\u{b5}sec",
                    "Microseconds",
                    "US",
                ],
            ),
            (1e-6, vec!["ns", "nsec", "nanoseconds"]),
        ] {
            for unit in units {
                let found = time(&t4(unit, &json!({}))).unwrap();
                assert!((found - 2.0 * factor).abs() < 1e-12, "{unit}: {found}");
            }
        }
        for unit in ["min", "ticks", "GFLOP/s", "s/op"] {
            let wanted = format!("r: unknown unit `{unit}` of a time; write s, ms, us or ns");
            assert_eq!(time(&t4(unit, &json!({}))), Err(wanted));
        }
        let ktt = json!({ "Metadata": { "TimeUnit": "fortnights" }, "Results": [] });
        assert!(read(&ktt.to_string()).unwrap_err().contains("unknown unit `fortnights`"));
    }

    #[test]
    fn objectives_other_than_the_time() {
        let measured = |name: &str, unit: &str| {
            json!({
                "objectives": [name], "measurements": [{ "name": name, "value": 3.0, "unit": unit }]
            })
        };
        assert_eq!(time(&t4("", &measured("TotalDuration", "Microseconds"))), Ok(0.003));
        assert_eq!(time(&t4("", &measured("kernel time", ""))), Ok(3.0));
        let other = measured("compile_time", "ms");
        assert!(time(&t4("", &other)).unwrap_err().contains("the objective is `compile_time`"));
        for value in [json!([3.0, 9.0, 1.0]), json!("3.0"), json!(" 3e0 ")] {
            let mut text = measured("time", "us");
            text["measurements"][0]["value"] = value;
            assert_eq!(time(&t4("", &text)), Ok(0.003), "{text}");
        }
        let mut rate = measured("GFLOP/s", "GFLOP/s");
        assert_eq!(
            time(&t4("", &rate)).unwrap_err(),
            "r: no result has a time: the objective is `GFLOP/s`, which is none, and there are no \
             run times; \
             give results with times"
        );
        rate["times"] = json!({ "runtimes": [5.0, 1.0, 4.0] });
        assert_eq!(time(&t4("", &rate)), Ok(4.0));
    }

    #[test]
    fn the_fastest_run() {
        let mut file = t4("", &json!({ "times": { "runtimes": [2.5, 1.5, 0, 2.0] } }));
        file["metadata"] = json!({ "timeunit": "microseconds" });
        let results = read(&file.to_string()).unwrap();
        assert_eq!((results.entries[0].1, &results.fastest[..]), (2e-3, &[1.5e-3][..]));
    }

    #[test]
    fn what_stands_for_a_failure() {
        for time in [
            "1e20",
            "NaN",
            "Infinity",
            "-Infinity",
            "null",
            "0",
            "-1.5",
            "\"InvalidConfig\"",
            "\"inf\"",
        ] {
            let cache = format!(
                r#"{{"tune_params_keys": ["A"], "cache": {{"1": {{"A": 1, "time": {time}}}, "2":
                    {{"A": 2, "time": 2}}"#
            );
            for end in ["}}", ","] {
                let results = read(&format!("{cache}{end}")).unwrap();
                let found = (results.entries.len(), results.failed, results.broken);
                assert_eq!(found, (1, 1, 0), "{time} {end}");
            }
        }
        assert_eq!(
            without_nan(r#"{"a NaN \" Infinity": NaN, "\\": -Infinity}"#),
            r#"{"a NaN \" Infinity": null, "\\": null}"#
        );
    }

    #[test]
    fn parameters_that_are_no_whole_numbers() {
        let cache = |second: &str| {
            format!(
                r#"{{"tune_params_keys": ["A", "x"], "cache": {{"1,h": {{"A": 1, "x": "h", "time":
                    1}},
                   "2,h": {{"A": 2, "x": {second}, "time": 2}}}}}}"#
            )
        };
        let mut same = read(&cache("\"h\"")).unwrap();
        same.only(&["A"]).unwrap();
        assert_eq!((same.entries.len(), same.failed, same.broken), (2, 0, 0));
        for other in ["\"v\"", "0.5", "7"] {
            let error = read(&cache(other)).unwrap().only(&["A"]).unwrap_err();
            assert!(error.to_string().starts_with("`x` varies"), "{error}");
        }
    }

    #[test]
    fn a_parameter_that_no_result_has() {
        let file = t4("ms", &json!({})).to_string();
        assert_eq!(
            read(&file).unwrap().only(&["WG", "TS"]).unwrap_err().to_string(),
            "no result has a whole number for the parameter `TS`; give results of this problem, \
             or remove the parameter from it"
        );
        assert_eq!(read(&file).unwrap().only(&["WG"]).map_err(|e| e.to_string()), Ok(()));
    }

    #[test]
    fn a_key_given_twice() {
        for text in [
            r#"{"tune_params_keys": ["A"], "cache": {"1": {"A": 1, "time": 1}, "1": {"A": 1,
                "time": 2}}}"#,
            r#"{"tune_params_keys": ["A"], "cache": {"1": {"A": 1, "time": 1}, "1": {"A": 1,
                "time": 2},"#,
            r#"{"results": [{"configuration": {"1": 1, "1": 2}}]}"#,
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains("r: the key \"1\" is there twice"), "{error}");
        }
    }
}
