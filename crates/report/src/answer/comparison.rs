//! The result of a comparison. This is what `tickbound compare --json` prints.
//!
//! Times of the model are in ticks, wall-clock times in seconds, memory in bytes. A field is `null`
//! where nothing is known.

use serde::{Deserialize, Serialize};
use tickbound_model::verdict;

use super::about::About;
use super::data::{Answer, Values};
use super::words::{listed, named};
use crate::machine::Machine;

/// The value of [`Comparison::format`].
pub const FORMAT: &str = "tickbound comparison 1";

/// Engines side by side on one or more problems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// [`FORMAT`].
    pub format: String,
    /// Version of the program.
    pub tickbound: String,
    /// Where it ran.
    pub machine: Machine,
    /// Seconds each engine was given.
    pub timeout: f64,
    /// Bytes of memory each engine was given, if that was limited.
    pub memory_limit: Option<u64>,
    /// The user ended it early.
    pub interrupted: bool,
    /// No two rows of a problem contradict each other.
    pub agree: bool,
    /// Wall-clock seconds of the whole comparison.
    pub seconds: f64,
    /// The problems.
    pub cases: Vec<Case>,
}

/// One problem and what the engines say of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Case {
    /// What it is about, without the numbers that were replaced; comparisons of older versions do
    /// not say.
    pub about: Option<About>,
    /// The problem's name.
    pub problem: String,
    /// Its file, as given.
    pub file: String,
    /// Values of its inputs, and platform numbers that were replaced.
    pub inputs: Values,
    /// Configurations in the space.
    pub configurations: Option<u64>,
    /// One for each engine.
    pub rows: Vec<Row>,
    /// Contradictions between rows, in words; none if they agree.
    pub disagreements: Vec<String>,
}

/// How an engine ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowStatus {
    /// It found the least time and proved it.
    Optimal,
    /// It knows a bracket, or nothing.
    Bounded,
    /// It proved that there is no valid configuration.
    Infeasible,
    /// It refuses the problem.
    Refused,
    /// The tool is not on this machine.
    NotInstalled,
    /// It ended without an answer, or was killed.
    Failed,
    /// It was not run.
    #[default]
    NotRun,
}

impl From<verdict::Status> for RowStatus {
    fn from(status: verdict::Status) -> RowStatus {
        match status {
            verdict::Status::Optimal => RowStatus::Optimal,
            verdict::Status::Bounded => RowStatus::Bounded,
            verdict::Status::Infeasible => RowStatus::Infeasible,
        }
    }
}

/// The answer of one engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    /// The engine, as `--engines` names it.
    pub engine: String,
    /// How it ended.
    pub status: RowStatus,
    /// Ticks of the best configuration found.
    pub time: Option<i64>,
    /// Ticks that no configuration undercuts, by the engine's proof.
    pub lower: Option<i64>,
    /// The best configuration found.
    pub configuration: Option<Values>,
    /// The simulator was run on it and took as many ticks.
    pub replayed: Option<bool>,
    /// Seconds, by the engine's own clock.
    pub seconds: Option<f64>,
    /// Seconds from the start of its process to its end.
    pub process_seconds: Option<f64>,
    /// Most bytes of memory its processes had resident at once.
    pub memory: Option<u64>,
    /// Of this, bytes that the tool itself counts for its search: SPIN's verifier without the
    /// compiler that has made it. For other engines there is no such figure.
    pub search_memory: Option<u64>,
    /// States that were stored, where states are.
    pub states: Option<u64>,
    /// Calls of a solver, where there is one.
    pub solver_calls: Option<u64>,
    /// The tool and its version.
    pub tool: Option<String>,
    /// What ended it early, or why there is no answer.
    pub reason: Option<String>,
    /// The command that was run.
    pub command: String,
}

impl Row {
    /// A row with nothing but how it ended.
    pub fn empty(engine: String, status: RowStatus, reason: Option<String>) -> Row {
        Row { engine, status, reason, ..Row::default() }
    }

    /// The row of an engine that has answered.
    pub fn answered(engine: String, answer: Answer) -> Row {
        Row {
            time: answer.time,
            lower: Some(answer.lower),
            configuration: answer.configuration,
            replayed: answer.replayed.filter(|_| answer.time.is_some()),
            seconds: answer.seconds,
            states: answer.states,
            search_memory: answer.memory_bytes,
            solver_calls: answer.solver_calls,
            tool: answer.tool,
            ..Row::empty(engine, answer.status.into(), answer.stopped_by)
        }
    }

    /// The least time is known and proved.
    pub fn proved(&self) -> bool {
        self.status == RowStatus::Optimal
    }

    /// The engine searched, with or without an answer: its time is meaningful.
    pub fn searched(&self) -> bool {
        matches!(self.status, RowStatus::Optimal | RowStatus::Bounded | RowStatus::Infeasible)
    }

    /// The configuration as `WG=4, TS=2`; empty if there is none.
    pub fn named(&self) -> String {
        self.configuration.as_ref().map(listed).unwrap_or_default()
    }
}

impl Case {
    /// The least time, if a row has proved it.
    pub fn least(&self) -> Option<i64> {
        self.rows.iter().find(|r| r.proved()).and_then(|r| r.time)
    }

    /// The inputs as `size = 8`; empty if there are none.
    pub fn settings(&self) -> String {
        let pairs = self.inputs.iter().map(|(name, v)| format!("{name} = {v}"));
        pairs.collect::<Vec<_>>().join(", ")
    }
}

/// Contradictions between rows: a configuration below what another row has proved to be impossible,
/// or a configuration where another row has proved that there is none.
pub fn disagreements(rows: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    for above in rows {
        let lower = match above.status {
            RowStatus::Optimal => above.time.max(above.lower),
            RowStatus::Bounded => above.lower,
            RowStatus::Infeasible => Some(i64::MAX),
            RowStatus::Refused
            | RowStatus::NotInstalled
            | RowStatus::Failed
            | RowStatus::NotRun => None,
        };
        let Some(lower) = lower else { continue };
        for below in rows {
            let Some(time) = below.time.filter(|t| *t < lower) else { continue };
            let claim = if above.status == RowStatus::Infeasible {
                "there is no valid configuration".to_owned()
            } else {
                format!("nothing takes less than {lower} ticks")
            };
            found.push(format!(
                "{} says that {claim}, but {} takes {time} at {}",
                above.engine,
                below.engine,
                below.configuration.as_ref().map_or_else(|| named(&Values::new()), named),
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, status: RowStatus, lower: Option<i64>, time: Option<i64>) -> Row {
        Row { time, lower, ..Row::empty(engine.to_owned(), status, None) }
    }

    #[test]
    fn who_contradicts_whom() {
        use RowStatus::{Bounded, Failed, Infeasible, Optimal};
        let proved = |t| row("a", Optimal, Some(t), Some(t));
        let bracket = |lower, upper| row("b", Bounded, lower, upper);
        for (rows, contradictions) in [
            (vec![], 0),
            (vec![proved(44), proved(44)], 0),
            (vec![proved(44), proved(45)], 1),
            (vec![proved(44), bracket(Some(0), Some(44))], 0),
            (vec![proved(44), bracket(Some(40), Some(60))], 0),
            // Found below what is proved.
            (vec![proved(44), bracket(Some(0), Some(43))], 1),
            // A lower bound above what was found.
            (vec![proved(44), bracket(Some(45), Some(60))], 1),
            (vec![proved(44), bracket(Some(45), None)], 1),
            (vec![bracket(Some(50), Some(60)), bracket(Some(0), Some(49))], 1),
            // A row that contradicts itself.
            (vec![bracket(Some(50), Some(49))], 1),
            (vec![bracket(None, None), proved(44)], 0),
            (vec![row("c", Infeasible, None, None), bracket(Some(0), None)], 0),
            (vec![row("c", Infeasible, None, None), bracket(Some(0), Some(9))], 1),
            // A failed engine states nothing.
            (vec![proved(44), row("d", Failed, Some(99), None)], 0),
        ] {
            assert_eq!(disagreements(&rows).len(), contradictions, "{rows:#?}");
        }
    }

    #[test]
    fn a_contradiction_names_both_sides() {
        let mut below = row("swarm", RowStatus::Bounded, None, Some(43));
        below.configuration = Some(Values::from([("WG".to_owned(), 4), ("TS".to_owned(), 2)]));
        let rows = [row("smt", RowStatus::Optimal, Some(44), Some(44)), below];
        assert_eq!(
            disagreements(&rows),
            ["smt says that nothing takes less than 44 ticks, but swarm takes 43 at WG=4, TS=2"]
        );
    }
}
