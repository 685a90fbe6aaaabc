//! Reading problem files, and the values of options that several commands have.

use std::time::Duration;

use indexmap::IndexMap;
use tickbound_encodings::model::expr::{BinaryOp, Expr};
use tickbound_encodings::model::problem::Constraint;
use tickbound_encodings::model::{ModelError, Problem};

use super::CliError;
use crate::platforms;

/// A `NAME=VALUE` option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name.
    pub name: String,
    /// The value.
    pub value: i64,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mend = "write NAME=VALUE with a whole number, such as size=1024";
        let (name, value) = text.split_once('=').ok_or(mend)?;
        let value = value.trim().replace('_', "").parse().map_err(|_| mend)?;
        Ok(Setting { name: name.trim().to_owned(), value })
    }
}

/// A number of bytes, written with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl std::str::FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mend = "write a number of bytes with a unit, such as 512M or 8G";
        let plain = text.trim().to_ascii_uppercase();
        let plain = plain.strip_suffix('B').unwrap_or(&plain);
        let unit = plain.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let factor = match unit.strip_suffix('I').unwrap_or(unit) {
            "" => 1.0,
            "K" => 1024.0,
            "M" => 1024.0 * 1024.0,
            "G" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(mend),
        };
        let number: f64 = plain[..plain.len() - unit.len()].parse().map_err(|_| mend)?;
        let bytes = number * factor;
        if (1.0..=9e18).contains(&bytes) { Ok(Size(bytes as u64)) } else { Err(mend) }
    }
}

/// The time given by `--timeout`.
///
/// # Errors
/// If it is no length of time.
pub fn timeout(seconds: Option<f64>) -> Result<Option<Duration>, CliError> {
    let read = |s: f64| {
        Duration::try_from_secs_f64(s).map_err(|_| {
            CliError::Input(format!("--timeout {s}: write a positive number of seconds"))
        })
    };
    seconds.map(read).transpose()
}

/// Settings by name.
///
/// # Errors
/// If one name is set twice.
pub fn by_name(option: &str, settings: &[Setting]) -> Result<IndexMap<String, i64>, CliError> {
    let mut map = IndexMap::new();
    for s in settings {
        if map.insert(s.name.clone(), s.value).is_some() {
            return Err(CliError::Input(format!(
                "{option} {}: given twice; keep one of them",
                s.name
            )));
        }
    }
    Ok(map)
}

/// Reads a problem file with inputs replaced. Platforms that the file names are looked up among the
/// shipped ones, then as paths from the file's own folder.
///
/// # Errors
/// If the file cannot be read or is no valid problem.
pub fn problem(path: &str, inputs: &[Setting]) -> Result<Problem, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CliError::Read { path: path.to_owned(), error })?;
    let inputs = by_name("--input", inputs)?;
    let folder = std::path::Path::new(path).parent().map(std::path::Path::to_path_buf);
    let find = |name: &str| {
        let beside = folder.as_ref().map(|f| f.join(name)).filter(|p| p.is_file());
        match beside {
            Some(p) if name.ends_with(".json") => platforms::find(&p.to_string_lossy()),
            _ => platforms::find(name),
        }
    };
    Problem::from_json(&text, &inputs, &find).map_err(|mut e| {
        if !e.at.starts_with("--input") {
            e.at = format!("{path}: {}", e.at);
        }
        e.into()
    })
}

/// Fixes parameters by constraints.
///
/// # Errors
/// If there is no such parameter, or one is fixed twice.
pub fn fix(problem: &mut Problem, settings: &[Setting]) -> Result<(), CliError> {
    for (name, value) in by_name("--set", settings)? {
        let Some(p) = problem.parameters.iter().position(|p| p.name == name) else {
            let known: Vec<&str> = problem.parameters.iter().map(|p| p.name.as_str()).collect();
            return Err(ModelError::new(
                format!("--set {name}"),
                "no parameter has this name",
                format!("known here: {}", known.join(", ")),
            )
            .into());
        };
        let slot = Expr::Name(problem.first_parameter() + p);
        let expr = Expr::Binary(BinaryOp::Eq, Box::new(slot), Box::new(Expr::Int(value)));
        problem.constraints.push(Constraint { text: format!("{name} == {value}"), expr });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("1", 1), ("512M", 512 << 20), ("8G", 8 << 30), ("8GiB", 8 << 30)] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        assert_eq!("1.5k".parse(), Ok(Size(1536)));
        for text in ["", "G", "8X", "-1", "0", "1e9", "many"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
