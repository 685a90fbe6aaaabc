//! Published measurements: Kernel Tuner's caches, T4 files and KTT's output, plain or compressed with gzip.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::measure::cache::entry::{integer, key_values};
use crate::measure::cache::text;

/// Measured times by configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// The device, if the file says.
    pub device: Option<String>,
    /// Parameters by name, and milliseconds.
    pub entries: Vec<(IndexMap<String, i64>, f64)>,
    /// Configurations that failed.
    pub failed: usize,
    /// Lines of a cache that are no entries, and entries whose key is not their parameters' values.
    pub broken: usize,
}

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The file cannot be read.
    #[error("{}: {error}; give a cache of Kernel Tuner, a T4 file or KTT's output in JSON", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is something else.
    #[error(
        "{}: neither a cache of Kernel Tuner nor a T4 file nor KTT's output in JSON; give one of these",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// A parameter varies that the problem does not have.
    #[error(
        "`{0}` varies in the results, and the problem has no parameter of this name; add it to the problem"
    )]
    Unknown(String),
}

impl Results {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is something else.
    pub fn read(path: &Path) -> Result<Results, ResultsError> {
        let failed = |error| ResultsError::Read { path: path.to_owned(), error };
        let bytes = tickbound_input::bytes(path).map_err(failed)?;
        Results::of_bytes(bytes)
            .map_err(failed)?
            .ok_or_else(|| ResultsError::Format { path: path.to_owned() })
    }

    /// Reads a file's bytes; nothing if they are something else.
    ///
    /// # Errors
    /// They cannot be unpacked, or are too many then.
    pub fn of_bytes(bytes: Vec<u8>) -> io::Result<Option<Results>> {
        let unpacked = match bytes.starts_with(&[0x1f, 0x8b]) {
            true => tickbound_input::within(
                tickbound_input::MOST,
                flate2::read::MultiGzDecoder::new(&bytes[..]),
            ),
            false => Ok(bytes),
        };
        let content = text::decoded(&unpacked?);
        Ok(Results::of_cache(&content).or_else(|| {
            let value = serde_json::from_str(&content).ok()?;
            Results::of_t4(&value).or_else(|| Results::of_ktt(&value))
        }))
    }

    fn add(&mut self, parameters: Option<IndexMap<String, i64>>, time: Option<f64>) {
        match (parameters, time.filter(|t| t.is_finite() && *t > 0.0)) {
            (Some(parameters), Some(time)) => self.entries.push((parameters, time)),
            _ => self.failed += 1,
        }
    }

    fn of_cache(content: &str) -> Option<Results> {
        let parts = text::read(content)?;
        let names: Vec<&str> = parts
            .head
            .get("tune_params_keys")?
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let device = parts.head.get("device_name").and_then(Value::as_str).map(str::to_owned);
        let mut results = Results { device, broken: parts.broken.len(), ..Results::default() };
        // Of entries with one key the last counts, as in other readers of JSON.
        let entries: IndexMap<_, _> = parts.entries.into_iter().map(|e| (e.key, e.value)).collect();
        for (key, entry) in &entries {
            let value = |name: &&str| Some(((*name).to_owned(), integer(entry.get(*name)?)?));
            let values: Option<Vec<i64>> =
                names.iter().map(|name| value(name).map(|(_, v)| v)).collect();
            if values.is_some() && key_values(key).is_some_and(|of_key| Some(of_key) != values) {
                results.broken += 1;
                continue;
            }
            let time = entry.get("time").and_then(Value::as_f64);
            let time = time.filter(|_| entry.get("__error__").is_none());
            results.add(names.iter().map(value).collect(), time);
        }
        Some(results)
    }

    fn of_t4(value: &Value) -> Option<Results> {
        let unit = value.pointer("/metadata/timeunit").and_then(Value::as_str);
        let device = value.pointer("/metadata/device").and_then(Value::as_str).map(str::to_owned);
        let mut results = Results { device, ..Results::default() };
        for result in value.get("results")?.as_array()? {
            let pair = |(name, value): (&String, &Value)| Some((name.clone(), integer(value)?));
            let of =
                |c: &Map<String, Value>| c.iter().map(pair).collect::<Option<IndexMap<_, _>>>();
            let parameters = result.get("configuration").and_then(Value::as_object).and_then(of);
            let measurements = result.get("measurements").and_then(Value::as_array);
            let time = measurements.into_iter().flatten().find(|m| m["name"] == "time");
            let time = time.and_then(|m| {
                let own = m["unit"].as_str().filter(|unit| !unit.is_empty());
                Some(m["value"].as_f64()? * milliseconds(own.or(unit)))
            });
            results.add(parameters, time.filter(|_| result["invalidity"] == "correct"));
        }
        Some(results)
    }

    fn of_ktt(value: &Value) -> Option<Results> {
        let said = |key: &str| value.pointer(&format!("/Metadata/{key}")).and_then(Value::as_str);
        let mut results =
            Results { device: said("Device").map(str::to_owned), ..Results::default() };
        let unit = milliseconds(said("TimeUnit"));
        for result in value.get("Results")?.as_array()? {
            let pair = |p: &Value| Some((p["Name"].as_str()?.to_owned(), integer(&p["Value"])?));
            let parameters = result["Configuration"].as_array();
            let parameters = parameters.and_then(|list| list.iter().map(pair).collect());
            // A configuration may run several kernels.
            let kernels = result["ComputationResults"].as_array().into_iter().flatten();
            let time: Option<f64> = kernels.map(|kernel| kernel["Duration"].as_f64()).sum();
            results.add(parameters, time.map(|t| t * unit).filter(|_| result["Status"] == "Ok"));
        }
        Some(results)
    }

    /// Leaves out parameters that are none of `names`.
    ///
    /// # Errors
    /// One of them has several values, so that configurations would be mixed up.
    pub fn only(&mut self, names: &[&str]) -> Result<(), ResultsError> {
        let mut others: BTreeMap<&String, i64> = BTreeMap::new();
        for (parameters, _) in &self.entries {
            for (name, value) in parameters.iter().filter(|(n, _)| !names.contains(&n.as_str())) {
                if others.insert(name, *value).is_some_and(|before| before != *value) {
                    return Err(ResultsError::Unknown(name.clone()));
                }
            }
        }
        self.entries.iter_mut().for_each(|(p, _)| p.retain(|n, _| names.contains(&n.as_str())));
        Ok(())
    }
}

/// One of these units in milliseconds, which a unit that is not said is taken for. Its first letters tell, since
/// published files misspell the rest.
fn milliseconds(unit: Option<&str>) -> f64 {
    let unit = unit.unwrap_or_default().to_ascii_lowercase();
    match unit.as_str() {
        "s" => 1e3,
        "us" => 1e-3,
        "ns" => 1e-6,
        unit if unit.starts_with("sec") => 1e3,
        unit if unit.starts_with("mic") => 1e-3,
        unit if unit.starts_with("nano") => 1e-6,
        _ => 1.0,
    }
}
