//! The program of a whole problem against those of its configurations.

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::count::count;
use tickbound_model::{Bound, Problem};
use tickbound_opencl::{ReaderSetup, attach, attach_with};
use tickbound_simulator::{SimulateOptions, simulate};

use super::phases::of_all_items;
use super::writer::{Case, Writer};

/// What was tried.
#[derive(Debug, Default, Clone)]
pub struct Verdict {
    /// Problems that were read and compared.
    pub problems: u32,
    /// Their configurations.
    pub configurations: u32,
    /// Structural symbols of all of them.
    pub structural: u32,
    /// Conditions among these.
    pub conditions: u32,
    /// Launches with barriers that were simulated on both sides.
    pub simulated: u32,
    /// Problems that are not readable as a whole.
    pub refused: u32,
    /// Of those, the ones with all configurations readable by themselves.
    pub refused_as_a_whole: u32,
    /// Configurations that are refused by themselves though the whole is readable.
    pub refused_alone: u32,
}

impl Verdict {
    pub fn add(&mut self, other: &Verdict) {
        self.problems += other.problems;
        self.configurations += other.configurations;
        self.structural += other.structural;
        self.conditions += other.conditions;
        self.simulated += other.simulated;
        self.refused += other.refused;
        self.refused_as_a_whole += other.refused_as_a_whole;
        self.refused_alone += other.refused_alone;
    }
}

pub fn problem(value: &Value) -> Result<Problem, String> {
    let none = |_: &str| unreachable!("the platform is written out");
    Problem::from_value(value, &IndexMap::new(), &none).map_err(|e| e.to_string())
}

/// The problem with one configuration only: macros are texts, or parameters have one value.
fn single(case: &Case, whole: &Problem, bound: &Bound, as_text: bool) -> Result<Problem, String> {
    let mut value = case.problem.clone();
    for (parameter, number) in whole.parameters.iter().zip(&bound.configuration.0) {
        value["parameters"][&parameter.name] = json!([number]);
    }
    if as_text {
        let defines = value["kernel"]["defines"].as_object_mut().expect("defines");
        for define in defines.values_mut() {
            let text = define.as_str().expect("an expression");
            let expr = tickbound_expr::parse::parse(text).map_err(|e| e.to_string())?;
            let expr = expr.resolve(&mut |n| whole.scope.slot(n)).map_err(|n| n.clone())?;
            let number = expr.eval(&bound.env).map_err(|e| e.to_string())?;
            *define = json!({ "text": number.to_string() });
        }
    }
    problem(&value)
}

/// Compares all that two programs do for a configuration; `Ok(true)` if both were simulated.
pub fn compare(a: (&Problem, &Bound), b: (&Problem, &Bound)) -> Result<bool, String> {
    let (one, other) = (of_all_items(a.0, a.1), of_all_items(b.0, b.1));
    if one != other {
        let text = |o: &Result<Vec<_>, String>| match o {
            Ok(items) => format!("{} items", items.len()),
            Err(e) => e.clone(),
        };
        let place = match (&one, &other) {
            (Ok(x), Ok(y)) => x
                .iter()
                .zip(y)
                .position(|(x, y)| x != y)
                .map(|i| format!("gid {i}:\n  whole {:?}\n  alone {:?}", x[i], y[i])),
            _ => None,
        };
        let place = place.unwrap_or_else(|| format!("{} and {}", text(&one), text(&other)));
        return Err(format!("items differ: {place}"));
    }
    let (one, other) = (count(a.0, a.1), count(b.0, b.1));
    let same = match (&one, &other) {
        // The order of kinds is no matter.
        (Ok(x), Ok(y)) => {
            let kinds = x.accesses.keys().chain(y.accesses.keys());
            let mut kinds = kinds.filter(|k| a.0.platform.price(**k) > 0);
            x.barriers == y.barriers && kinds.all(|k| x.of(*k) == y.of(*k))
        }
        _ => one.is_err() && other.is_err(),
    };
    if !same {
        return Err(format!("counts differ:\n  whole {one:?}\n  alone {other:?}"));
    }
    let options = SimulateOptions { max_events: 2_000_000, ..SimulateOptions::default() };
    let (one, other) = (simulate(a.0, a.1, &options), simulate(b.0, b.1, &options));
    match (one, other) {
        (Ok(x), Ok(y)) if x.time == y.time => Ok(true),
        (Err(_), Err(_)) => Ok(false),
        (x, y) => Err(format!(
            "simulated times differ: {:?} and {:?}",
            x.map(|r| r.time).map_err(|e| e.to_string()),
            y.map(|r| r.time).map_err(|e| e.to_string())
        )),
    }
}

/// Reads a case as a whole and configuration by configuration.
pub fn oracle(case: &Case, as_text: bool) -> Result<Verdict, String> {
    oracle_with(case, as_text, &ReaderSetup::default())
}

/// The same; the whole is read in the way of `setup`.
fn oracle_with(case: &Case, as_text: bool, setup: &ReaderSetup<'_>) -> Result<Verdict, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    std::fs::write(folder.path().join("k.cl"), &case.source).map_err(|e| e.to_string())?;
    let shown = |fault: String| format!("{fault}\n{}\n{}", case.problem, case.source);
    let mut whole = problem(&case.problem).map_err(shown)?;
    let space = whole.space().map_err(|e| shown(e.to_string()))?.bound;
    if space.is_empty() {
        return Ok(Verdict::default());
    }
    let read = attach_with(&mut whole, folder.path(), setup);
    let alone = |bound: &Bound| -> Result<Result<Problem, String>, String> {
        let mut alone = single(case, &whole, bound, as_text)?;
        Ok(match attach(&mut alone, folder.path()) {
            Ok(_) => Ok(alone),
            Err(e) => Err(one_line(&e.to_string())?),
        })
    };
    let reading = match read {
        Ok(reading) => reading.expect("a source and configurations"),
        Err(error) => {
            let error = one_line(&error.to_string()).map_err(shown)?;
            // A few suffice to see whether configurations could be read by themselves.
            let mut all = true;
            for bound in space.iter().take(3) {
                all &= alone(bound).map_err(shown)?.is_ok();
            }
            if std::env::var_os("SHOW").is_some() {
                println!("refused (alone: {all}): {error}\n{}", case.source);
            }
            let refused_as_a_whole = u32::from(all);
            return Ok(Verdict { refused: 1, refused_as_a_whole, ..Verdict::default() });
        }
    };
    let structural = reading.extracted.structural.len() as u32;
    let conditions = reading.extracted.conditions.len() as u32;
    let mut verdict = Verdict { problems: 1, structural, conditions, ..Verdict::default() };
    for bound in &space {
        let values = whole.name_values(&bound.configuration).to_string();
        let alone = match alone(bound).map_err(shown)? {
            Ok(alone) => alone,
            Err(error) => {
                verdict.refused_alone += 1;
                if std::env::var_os("SHOW").is_some() {
                    println!("refused alone, {values}: {error}\n{}", case.source);
                }
                continue;
            }
        };
        let of_alone = alone.space().map_err(|e| shown(e.to_string()))?.bound.remove(0);
        let simulated = compare((&whole, bound), (&alone, &of_alone)).map_err(|fault| {
            shown(format!(
                "{values}: {fault}\nwhole: {}\nalone: {}",
                whole.kernel_json(),
                alone.kernel_json()
            ))
        })?;
        verdict.configurations += 1;
        verdict.simulated += u32::from(simulated);
    }
    Ok(verdict)
}

fn one_line(message: &str) -> Result<String, String> {
    match message.lines().count() {
        1 => Ok(message.to_owned()),
        n => Err(format!("a message of {n} lines: {message}")),
    }
}

/// The case with arithmetic for nothing, which is then not compared.
pub fn without_arithmetic(mut case: Case) -> Case {
    case.problem["platform"]["compute_op"] = 0.into();
    case
}

#[test]
fn whole_problems_do_what_their_configurations_do() {
    let sum = super::check_all("sources", 60, |seed| {
        oracle(&without_arithmetic(Writer::new(seed).case()), seed % 4 < 2)
    });
    assert!(sum.problems > sum.refused, "most sources have to be readable");
    assert!(sum.simulated > sum.configurations / 2, "most launches have to be simulated");
}

#[test]
fn whole_problems_do_the_arithmetic_of_their_configurations() {
    super::check_all("arithmetic", 60, |seed| oracle(&Writer::new(seed).case(), seed % 4 < 2));
}

#[test]
fn conditions_are_as_good_as_values() {
    let setup = ReaderSetup { max_by_value: 0, ..ReaderSetup::default() };
    let sum = super::check_all("conditions", 60, |seed| {
        oracle_with(&without_arithmetic(Writer::new(seed).case()), seed % 4 < 2, &setup)
    });
    assert!(sum.problems > sum.refused, "most sources have to be readable");
    assert!(sum.conditions > sum.problems / 12, "conditions have to be structural");
}
