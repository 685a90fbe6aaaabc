//! `tickbound study`.

use std::collections::HashMap;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::{Value, json};
use tickbound_elimination::TableLimits;
use tickbound_measure::study::Study;
use tickbound_model::{Configuration, Problem};
use tickbound_report::answer::{About, values};

use super::exit::{CliError, Exit};
use super::load::Question;
use super::output::say;
use super::stop;

/// Arguments of `study`.
#[derive(Debug, clap::Args)]
pub struct StudyArgs {
    #[command(flatten)]
    question: Question,
    /// What the random choice depends on
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
}

/// A line of standard input.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Message {
    /// Choose from these alone: values of the parameters in the order of the problem.
    Among(Vec<Vec<i64>>),
    /// Which configuration is to be measured next?
    Ask,
    /// A configuration took this many seconds; null: it failed.
    Tell { configuration: HashMap<String, i64>, seconds: Option<f64> },
}

pub(super) fn run(args: &StudyArgs) -> Result<Exit, CliError> {
    let problem = args.question.problem()?;
    let mut study: Option<Study<'_>> = None;
    say(&format!("{}\n", json!({ "about": About::of(&problem), "parameters": names(&problem) })))?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| CliError::Input(format!("standard input: {e}")))?;
        let reply = match serde_json::from_str(&line) {
            Ok(message) => answered(&problem, args.seed, &mut study, message)?,
            Err(error) => json!({ "error": format!("{line}: {error}; see docs/python.md") }),
        };
        say(&format!("{reply}\n"))?;
    }
    Ok(Exit::found(study.is_some_and(|study| study.best().is_some())))
}

fn names(problem: &Problem) -> Vec<&str> {
    problem.parameters.iter().map(|p| p.name.as_str()).collect()
}

fn answered<'p>(
    problem: &'p Problem,
    seed: u64,
    study: &mut Option<Study<'p>>,
    message: Message,
) -> Result<Value, CliError> {
    if let Message::Among(configurations) = &message {
        let all: Vec<_> = configurations.iter().cloned().map(Configuration).collect();
        *study = Some(Study::among(problem, &all, seed, stop::flag())?);
    } else if study.is_none() {
        let configurations = problem.configurations(&TableLimits::default())?;
        *study = Some(Study::new(&configurations, seed, stop::flag())?);
    }
    let Some(study) = study else { return Ok(Value::Null) };
    let named = |configuration: &Configuration| values(problem, configuration);
    Ok(match message {
        Message::Among(_) => json!({ "candidates": study.candidates() }),
        Message::Ask => {
            let asked = study.ask().map(|(c, ticks)| (named(c), ticks)).unzip();
            json!({ "configuration": asked.0, "ticks": asked.1, "settled": study.is_settled() })
        }
        Message::Tell { configuration, seconds } => match study.tell(&configuration, seconds) {
            Err(error) => json!({ "error": error }),
            Ok(()) => {
                let best = study.best().map(|(c, seconds)| (named(c), seconds)).unzip();
                json!({ "best": best.0, "seconds": best.1 })
            }
        },
    })
}
