//! Tables 1 and 3 of N. Garanina, S. Staroletov, S. Gorlatch: *Auto-Tuning High-Performance
//! Programs Using Model Checking in Promela* (2023), beside what our engines find on the same
//! problems.
//!
//! [`run`] lets the engines loose on every size of both tables, in a [`SideBySide`] with its
//! limits; [`tables`] then puts the paper's rows beside the answers. A row that differs is
//! explained where that can be computed: the simulator runs what the paper's own
//! configuration takes, and, where that differs too, what it takes with the columns interchanged or
//! on other platforms. [`page`] writes both down.

mod files;
mod page;

use indexmap::IndexMap;
use serde_json::{Value, json};
use thiserror::Error;
use tickbound_model::{ModelError, Problem, platforms};
use tickbound_simulator::{SimulateError, simulate};

pub use files::write;
pub use page::page;
use tickbound_compare::engine::{self, Engine};
use tickbound_compare::{Input, SideBySide};
use tickbound_report::answer::comparison::{Case, Comparison, Row, RowStatus};
use tickbound_spin::Search;

/// The problem of Table 1, from the root of the repository.
pub const ABSTRACT: &str = "examples/problems/abstract.json";
/// The problem of Table 3.
pub const MINIMUM: &str = "examples/problems/minimum.json";

/// The engines that are compared, the papers' searches among them.
pub const ENGINES: &str = "smt,smt:event,smt-fresh:event,enumerate,cp-sat,cp-sat:event,\
    spin:processes:bisect,spin:processes:exhaustive,spin:lockstep:exhaustive,\
    spin:lockstep:branch-and-bound,spin:processes:swarm,spin:lockstep:swarm";

/// One row of a table, as published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Number of the row.
    pub row: usize,
    /// Processing elements of the unit.
    pub elements: i64,
    /// Data size.
    pub size: i64,
    /// Workgroup size.
    pub wg: i64,
    /// Tile size.
    pub ts: i64,
    /// Model time in ticks.
    pub time: i64,
    /// Steps of SPIN's simulation.
    pub steps: u64,
    /// Memory in exhaustive mode; Table 1 only.
    pub exhaustive: &'static str,
    /// Memory in swarm mode; Table 1 only.
    pub swarm: &'static str,
    /// Verification time; Table 1 only.
    pub verification: &'static str,
}

/// Shorthand for the two tables: row, elements, size, WG, TS, time and steps.
const fn published(numbers: [i64; 7], cost: [&'static str; 3]) -> Published {
    let [row, elements, size, wg, ts, time, steps] = numbers;
    let [exhaustive, swarm, verification] = cost;
    let (row, steps) = (row as usize, steps as u64);
    Published { row, elements, size, wg, ts, time, steps, exhaustive, swarm, verification }
}

/// Table 1: the abstract kernel.
pub const TABLE_1: [Published; 8] = [
    published([1, 4, 8, 4, 4, 44, 1658], ["0.280 GB", "-", "2 s"]),
    published([2, 4, 16, 8, 4, 156, 5673], ["2.081 GB", "-", "25 s"]),
    published([3, 4, 32, 16, 4, 584, 21_011], ["14.767 GB", "115 MB", "25 min / 1 h"]),
    published([4, 4, 64, 32, 8, 2224, 71_495], ["-", "128 MB", "1 h"]),
    published([5, 4, 128, 64, 64, 9344, 267_119], ["-", "172 MB", "1 h"]),
    published([6, 4, 256, 4, 4, 36_234, 1_300_634], ["-", "1.145 GB", "2 h"]),
    published([7, 4, 512, 4, 4, 142_090, 5_099_397], ["-", "2.367 GB", "2 h"]),
    published([8, 4, 1024, 16, 32, 549_912, 15_973_533], ["-", "16 GB", "4 h"]),
];

/// Table 3: the Minimum kernel.
pub const TABLE_3: [Published; 12] = [
    published([1, 4, 16, 8, 2, 20, 1347], [""; 3]),
    published([2, 4, 16, 4, 4, 24, 1229], [""; 3]),
    published([3, 4, 16, 2, 4, 25, 1365], [""; 3]),
    published([4, 64, 64, 16, 4, 36, 4398], [""; 3]),
    published([5, 64, 64, 8, 8, 44, 4101], [""; 3]),
    published([6, 64, 64, 4, 4, 75, 4101], [""; 3]),
    published([7, 64, 128, 8, 16, 76, 7303], [""; 3]),
    published([8, 64, 128, 4, 16, 137, 7493], [""; 3]),
    published([9, 64, 128, 4, 8, 139, 7781], [""; 3]),
    published([10, 64, 256, 4, 8, 271, 15_024], [""; 3]),
    published([11, 64, 256, 4, 4, 279, 16_151], [""; 3]),
    published([12, 64, 256, 2, 4, 295, 18_491], [""; 3]),
];

/// Why the tables cannot be made.
#[derive(Debug, Error)]
pub enum PaperError {
    /// A problem file is not there.
    #[error(
        "{path}: {error}; run this from the root of the repository, as `cargo xtask paper \
         docs/results` does"
    )]
    Read {
        /// The file.
        path: &'static str,
        /// Why.
        error: std::io::Error,
    },
    /// A problem file is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The simulator refuses a configuration of the paper.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// The engines' names are at fault.
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
}

struct Problems {
    tables: [(&'static str, Value, &'static [Published]); 2],
}

impl Problems {
    fn read() -> Result<Problems, PaperError> {
        let read = |path: &'static str| {
            let text = tickbound_input::text(crate::project::root().join(path))
                .map_err(|error| PaperError::Read { path, error })?;
            serde_json::from_str(&text).map_err(|e| {
                PaperError::Model(ModelError::new(path, format!("not JSON: {e}"), "fix the file"))
            })
        };
        Ok(Problems {
            tables: [(ABSTRACT, read(ABSTRACT)?, &TABLE_1), (MINIMUM, read(MINIMUM)?, &TABLE_3)],
        })
    }
}

/// Inputs that make a row's problem of the file.
fn inputs(row: &Published) -> IndexMap<String, i64> {
    IndexMap::from([("size".to_owned(), row.size), ("elements_per_unit".to_owned(), row.elements)])
}

/// Runs the engines on every problem of both tables. An engine that did not end on a smaller size
/// of a table is not tried on larger ones.
///
/// # Errors
/// Problem files that are missing or at fault.
pub fn run(session: &mut SideBySide<'_>, about: &dyn Fn(&str)) -> Result<(), PaperError> {
    let engines = engine::parse(ENGINES)?;
    for (file, value, rows) in &Problems::read()?.tables {
        let mut given_up: Vec<(Engine, i64)> = Vec::new();
        let mut seen = Vec::new();
        for row in rows.iter() {
            if seen.contains(&inputs(row)) {
                continue;
            }
            seen.push(inputs(row));
            let problem = Problem::from_value(value, &inputs(row), &platforms::find)?;
            about(&format!("{}, size {}", problem.name, row.size));
            let input =
                Input { problem: &problem, file: (*file).to_owned(), replaced: inputs(row) };
            let case =
                session.run(&input, &engines, &|engine, so_far| skip(engine, so_far, &given_up));
            for (engine, result) in engines.iter().zip(&case.rows) {
                if is_over(*engine, result) {
                    given_up.push((*engine, row.size));
                }
            }
        }
    }
    Ok(())
}

/// An engine that should have ended and did not.
fn is_over(engine: Engine, row: &Row) -> bool {
    let swarm = matches!(engine, Engine::Spin { search: Search::Swarm, .. });
    !swarm && matches!(row.status, RowStatus::Bounded | RowStatus::Refused | RowStatus::Failed)
}

fn skip(engine: Engine, so_far: &[Row], given_up: &[(Engine, i64)]) -> Option<String> {
    if let Some((_, size)) = given_up.iter().find(|(e, _)| *e == engine) {
        return Some(format!("did not end at size {size}"));
    }
    let Engine::Spin { style, search: Search::Swarm } = engine else { return None };
    // As in the paper: a swarm is for what an exhaustive search does not reach.
    let exhaustive = Engine::Spin { style, search: Search::Exhaustive }.to_string();
    let ended = so_far.iter().any(|r| r.engine == exhaustive && r.proved());
    ended.then(|| "the exhaustive search ended".to_owned())
}

/// One row of a table beside our answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside<'a> {
    /// As published.
    pub published: Published,
    /// Ticks of the published configuration in our simulator.
    pub simulated: i64,
    /// What the engines say of the problem.
    pub case: Option<&'a Case>,
    /// Why the row differs from our answers, if it does.
    pub reason: Option<String>,
}

/// Both tables beside the comparison that [`run`] has made.
///
/// # Errors
/// Problem files that are missing or at fault.
pub fn tables(comparison: &Comparison) -> Result<[Vec<Beside<'_>>; 2], PaperError> {
    let problems = Problems::read()?;
    let mut both = [Vec::new(), Vec::new()];
    for ((file, value, rows), beside) in problems.tables.iter().zip(&mut both) {
        for published in rows.iter() {
            let is_it = |case: &&Case| {
                case.file == *file
                    && inputs(published).iter().all(|(n, v)| case.inputs.get(n) == Some(v))
            };
            let case = comparison.cases.iter().find(is_it);
            let simulated = model_time(value, published)?;
            // The best row of a size is compared with the least time; the others are examples.
            let alike = rows.iter().filter(|r| inputs(r) == inputs(published));
            let times = alike.filter(|r| model_time(value, r).is_ok_and(|t| t == r.time));
            let is_best = times.map(|r| r.time).min() == Some(published.time);
            let reason = reason(value, published, simulated, case.filter(|_| is_best));
            beside.push(Beside { published: *published, simulated, case, reason });
        }
    }
    Ok(both)
}

/// Ticks of a row's configuration in the simulator, whether it is in the problem's space or not.
fn model_time(value: &Value, row: &Published) -> Result<i64, PaperError> {
    let mut value = value.clone();
    value["parameters"] = json!({ "WG": [row.wg], "TS": [row.ts] });
    let problem = Problem::from_value(&value, &inputs(row), &platforms::find)?;
    let values = IndexMap::from([("WG".to_owned(), row.wg), ("TS".to_owned(), row.ts)]);
    let bound = problem.bind(&values)?;
    Ok(simulate(&problem, &bound, &tickbound_simulator::SimulateOptions::default())?.time)
}

/// Why a row differs from the simulator or, where a case is given, from what the engines say of it;
/// `None` if it does not.
fn reason(value: &Value, row: &Published, simulated: i64, case: Option<&Case>) -> Option<String> {
    let Published { wg, ts, time, .. } = *row;
    if simulated != time {
        let other = other_reading(value, row);
        let other = other.unwrap_or_else(|| "no other reading was found that gives it".to_owned());
        return Some(format!(
            "at WG={wg}, TS={ts} the model takes {simulated} ticks, not {time}; {other}"
        ));
    }
    let best = case?.rows.iter().find(|r| r.proved())?;
    let least = best.time.filter(|least| *least < time)?;
    let above = (time - least) as f64 * 100.0 / least as f64;
    let swarm = if row.exhaustive == "-" { ", which a swarm search found" } else { "" };
    Some(format!(
        "the model takes {time} ticks at WG={wg}, TS={ts}{swarm}; but the least time is {least}, \
         at {}: the published time is {above:.1} % above it",
        best.named()
    ))
}

/// A reading of a row under which the model takes as long as published.
fn other_reading(value: &Value, row: &Published) -> Option<String> {
    let fits = |other: Published| model_time(value, &other).is_ok_and(|time| time == row.time);
    let (wg, ts) = (row.ts, row.wg);
    if fits(Published { wg, ts, ..*row }) {
        return Some(format!(
            "it takes {} at WG={wg}, TS={ts}, so the row seems to have these two interchanged",
            row.time
        ));
    }
    let elements = (1..8).map(|n| 1 << n).find(|n| fits(Published { elements: *n, ..*row }))?;
    Some(format!(
        "it takes {} with {elements} processing elements instead of {}",
        row.time, row.elements
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickbound_report::machine::Machine;

    /// A comparison in which Z3 has proved the least times of both tables.
    pub(super) fn proved() -> Comparison {
        let case = |(file, size, elements, wg, ts, time): (&str, i64, i64, i64, i64, i64)| {
            let configuration = IndexMap::from([("WG".to_owned(), wg), ("TS".to_owned(), ts)]);
            let row = Row {
                time: Some(time),
                lower: Some(time),
                configuration: Some(configuration),
                process_seconds: Some(0.02),
                memory: Some(37_000_000),
                ..Row::empty("smt".to_owned(), RowStatus::Optimal, None)
            };
            let late = Row {
                time: Some(time + 1),
                process_seconds: Some(60.1),
                ..Row::empty(
                    "smt:event".to_owned(),
                    RowStatus::Bounded,
                    Some("time-out".to_owned()),
                )
            };
            Case {
                about: None,
                problem: "some kernel".to_owned(),
                file: file.to_owned(),
                inputs: inputs(&Published { size, elements, ..TABLE_1[0] }),
                configurations: Some(2),
                disagreements: Vec::new(),
                rows: vec![row, late],
            }
        };
        let least = [
            (ABSTRACT, 8, 4, 4, 2, 44),
            (ABSTRACT, 16, 4, 8, 4, 156),
            (ABSTRACT, 32, 4, 16, 4, 584),
            (ABSTRACT, 64, 4, 32, 8, 2224),
            (ABSTRACT, 128, 4, 64, 8, 8672),
            (ABSTRACT, 256, 4, 128, 16, 33_984),
            (ABSTRACT, 512, 4, 256, 16, 134_528),
            (ABSTRACT, 1024, 4, 512, 32, 533_248),
            (MINIMUM, 16, 4, 4, 2, 24),
            (MINIMUM, 64, 64, 16, 2, 36),
            (MINIMUM, 128, 64, 32, 2, 52),
            (MINIMUM, 256, 64, 32, 2, 68),
        ];
        Comparison {
            format: tickbound_report::answer::comparison::FORMAT.to_owned(),
            tickbound: "0".to_owned(),
            machine: Machine {
                processor: "a processor".to_owned(),
                cores: 2,
                memory: None,
                system: "linux".to_owned(),
            },
            timeout: 60.0,
            memory_limit: None,
            interrupted: false,
            agree: true,
            seconds: 1.0,
            cases: least.into_iter().map(case).collect(),
        }
    }

    #[test]
    fn rows_that_differ_are_explained() {
        let comparison = proved();
        let [first, third] = tables(&comparison).unwrap();
        let reasons = |rows: &[Beside<'_>]| -> Vec<usize> {
            rows.iter().filter(|r| r.reason.is_some()).map(|r| r.published.row).collect()
        };
        assert_eq!(reasons(&first), [5, 6, 7, 8]);
        // The simulator takes as long as published for each row of Table 1.
        assert!(first.iter().all(|r| r.simulated == r.published.time));
        let reason = first[4].reason.as_deref().unwrap();
        assert!(reason.contains("a swarm search found") && reason.contains("8672, at WG=64, TS=8"));
        assert_eq!(reasons(&third), [1, 3, 7, 10, 12]);
        let differ: Vec<(usize, i64, i64)> = third
            .iter()
            .filter(|r| r.simulated != r.published.time)
            .map(|r| (r.published.row, r.published.time, r.simulated))
            .collect();
        assert_eq!(differ, [(1, 20, 25), (3, 25, 39), (12, 295, 549)]);
        let reason = |row: usize| third[row - 1].reason.clone().unwrap();
        assert!(reason(1).ends_with("it takes 20 with 8 processing elements instead of 4"));
        assert!(reason(3).contains("it takes 25 at WG=4, TS=2"));
        assert!(reason(12).contains("it takes 295 at WG=4, TS=2"));
    }

    #[test]
    fn who_is_not_tried() {
        let engine = |name: &str| engine::parse(name).unwrap()[0];
        let row = |name: &str, status| Row::empty(engine(name).to_string(), status, None);
        let given_up = [(engine("smt:event"), 32)];
        assert_eq!(skip(engine("smt:event"), &[], &given_up).unwrap(), "did not end at size 32");
        assert_eq!(skip(engine("smt"), &[], &given_up), None);
        let ended = [row("spin:processes:exhaustive", RowStatus::Optimal)];
        assert!(skip(engine("spin:processes:swarm"), &ended, &[]).is_some());
        assert_eq!(skip(engine("spin:lockstep:swarm"), &ended, &[]), None);
        let not_ended = [row("spin:processes:exhaustive", RowStatus::Bounded)];
        assert_eq!(skip(engine("spin:processes:swarm"), &not_ended, &[]), None);
        assert!(is_over(engine("smt"), &row("smt", RowStatus::Bounded)));
        assert!(!is_over(engine("swarm"), &row("swarm", RowStatus::Bounded)));
        assert!(!is_over(engine("cp-sat"), &row("cp-sat", RowStatus::NotInstalled)));
    }
}
