//! `tickbound reo check`.

use serde_json::json;
use tickbound_reo::check::{Formula, Run, deadlock, violation};
use tickbound_reo::connector::Connector;
use tickbound_reo::product::stepwise;
use tickbound_reo::symbol::Name;

use super::load::{self, notes, parts};
use super::shared::{DEFAULT_MEMORY, within};
use crate::cli::exit::{CliError, Exit, input};
use crate::cli::load::Size;
use crate::cli::output::{say, say_json};

/// Arguments of `reo check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Connector: a .treo, .cat or .json file
    file: String,
    #[command(flatten)]
    choice: load::ConnectorArgs,
    /// A condition on the names that fire, to hold in every step, such as 'a -> !b'; without any,
    /// deadlocks are looked for
    #[arg(long, value_name = "FORMULA")]
    invariant: Vec<String>,
    /// Most memory for the product
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MEMORY)]
    memory: Size,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let connector = load::connector(&args.file, &args.choice)?;
    notes(&connector);
    // Deadlocks and names do not depend on data unless a constraint cannot be fulfilled, and the
    // product has no such steps.
    let whole = within("composing", args.memory, |limits| {
        let options = stepwise::Options::default();
        let composed = stepwise::compose(&parts(&connector), &options, limits).map_err(input)?;
        Ok(composed.automaton.without_data())
    })?;
    if args.invariant.is_empty() {
        return answer(args, &connector, "no deadlock", "a deadlock after", deadlock(&whole));
    }
    for text in &args.invariant {
        let formula = Formula::parse(text, whole.alphabet(), &connector.symbols)
            .map_err(|e| input(format!("--invariant: {e}")))?;
        if let Some(run) = violation(&whole, &formula) {
            let broken = format!("`{text}` is broken by the last step of");
            return answer(args, &connector, "", &broken, Some(run));
        }
    }
    answer(args, &connector, "every invariant holds", "", None)
}

fn answer(
    args: &Args,
    connector: &Connector,
    good: &str,
    bad: &str,
    run: Option<Run>,
) -> Result<Exit, CliError> {
    let steps = run.as_ref().map(|run| steps(connector, run));
    let outcome = Exit::found(run.is_none());
    if args.json {
        let holds = run.is_none();
        say_json(&json!({ "holds": holds, "run": steps }))?;
        return Ok(outcome);
    }
    match steps {
        None => say(&format!("{}: {good}\n", connector.name))?,
        Some(steps) => {
            let list: Vec<String> =
                steps.iter().enumerate().map(|(k, s)| format!("  {}. {s}\n", k + 1)).collect();
            say(&format!("{}: {bad} {} steps\n{}", connector.name, steps.len(), list.concat()))?;
        }
    }
    Ok(outcome)
}

/// Each step of a run as text: the names of the interface that fire in it, or all of them where it
/// is a step inside.
fn steps(connector: &Connector, run: &Run) -> Vec<String> {
    let seen = |names: &[Name]| -> Vec<Name> {
        names.iter().copied().filter(|n| connector.interface.contains(n)).collect()
    };
    let text = |names: &Vec<Name>, constraint| match &seen(names)[..] {
        [] => format!("inside: {}", step(connector, names, constraint)),
        some => step(connector, some, constraint),
    };
    run.steps.iter().map(|(names, constraint)| text(names, constraint)).collect()
}

/// A step as text: the names that fire, and under which constraint.
pub(super) fn step(
    connector: &Connector,
    names: &[Name],
    constraint: &tickbound_reo::constraint::Constraint,
) -> String {
    let words: Vec<&str> = names.iter().map(|n| connector.symbols.word(n.0)).collect();
    let text = format!("{{{}}}", words.join(", "));
    if constraint.is_true() {
        text
    } else {
        format!("{text} {}", constraint.text(&connector.symbols))
    }
}
