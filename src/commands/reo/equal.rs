//! `tickbound reo equal`.

use serde_json::json;
use tickbound_reo::bisimulation::{BisimulationVerdict, Difference, Equivalence, Told, compare};
use tickbound_reo::connector::Connector;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::stepwise;

use super::load::{self, notes, parts};
use super::shared::{DEFAULT_MEMORY, within};
use super::steps::step;
use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{say_folded, say_json};
use crate::commands::values::{ByteSize, named};

/// Arguments of `reo equal`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The one connector
    left: String,
    /// The other; names are compared as they are written
    right: String,
    #[command(flatten)]
    choice: load::ConnectorArgs,
    /// As --set, for the other connector only
    #[arg(long, value_name = "NAME=VALUE")]
    set_right: Vec<String>,
    /// What counts as the same: weak compares up to inner steps; strong takes inner steps into the
    /// visible steps behind them, as the definition of hiding says, and compares what is left step
    /// by step
    #[arg(long, value_parser = named::<Equivalence>(), default_value = "weak")]
    kind: Equivalence,
    /// Compare data constraints as well, cells by their names
    #[arg(long, conflicts_with = "no_data")]
    data: bool,
    /// Most memory for each product
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MEMORY)]
    memory: ByteSize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let left = load::connector(&args.left, &args.choice)?;
    let right = if args.set_right.is_empty() {
        load::connector(&args.right, &args.choice)?
    } else {
        load::connector(&args.right, &args.choice.with(&args.set_right))?
    };
    let right = right.over(&left.symbols);
    notes(&left);
    notes(&right);
    let verdict = within("comparing", args.memory, |limits| {
        let (one, other) = (whole(args, &left, limits)?, whole(args, &right, limits)?);
        compare(&one, &other, args.kind, limits).map_err(input)
    })?;
    let how = match (args.data, args.kind) {
        (true, Equivalence::Weak) => "with data",
        (false, Equivalence::Weak) => "data left out",
        (true, Equivalence::Strong) => {
            "with data, step by step: inner steps are taken into the visible steps behind them"
        }
        (false, Equivalence::Strong) => {
            "data left out, step by step: inner steps are taken into the visible steps behind them"
        }
    };
    match verdict {
        BisimulationVerdict::Same { .. } => {
            if args.json {
                say_json(&json!({ "same": true, "run": null }))?;
            } else {
                say_folded(&format!("{} and {} do the same ({how})\n", left.name, right.name))?;
            }
            Ok(Exit::Done)
        }
        BisimulationVerdict::Different(difference) => {
            differ(args, &right, &difference, how)?;
            Ok(Exit::Nothing)
        }
    }
}

/// Prints how two connectors differ.
fn differ(
    args: &Args,
    right: &Connector,
    difference: &Difference,
    how: &str,
) -> Result<(), CliError> {
    let steps: Vec<String> = difference.trace.iter().map(|(n, c)| step(right, n, c)).collect();
    let (who, other) =
        if difference.left_only { (&args.left, &args.right) } else { (&args.right, &args.left) };
    if args.json {
        let only = (difference.told == Told::Run).then_some(who);
        say_json(&json!({ "same": false, "run": steps, "only": only }))?;
    } else {
        let what = match difference.told {
            Told::Run => format!("only {who} can take the last step of"),
            Told::Refusal => format!(
                "both can take the steps below, but behind all but the last of them \
                 {other} \
                 may be where it cannot take the last, and {who} never is"
            ),
            Told::Choice => format!(
                "both can take the steps below, and both may come to where they cannot \
                 take the last one, but {who} and {other} decide that in different steps"
            ),
        };
        let list: Vec<String> =
            steps.iter().enumerate().map(|(k, s)| format!("  {}. {s}\n", k + 1)).collect();
        say_folded(&format!("they differ ({how}): {what}\n{}", list.concat()))?;
    }
    Ok(())
}

/// A connector as one automaton over its interface.
fn whole(
    args: &Args,
    connector: &Connector,
    limits: &ProductLimits,
) -> Result<tickbound_reo::automaton::Automaton, CliError> {
    let (hidden, minimise) = (connector.inner(), Some(args.kind));
    let options = stepwise::StepwiseOptions { hidden, minimise };
    let with_data = parts(connector);
    if args.data {
        return Ok(stepwise::compose(&with_data, &options, limits).map_err(input)?.automaton);
    }
    let plain = stepwise::without_data(&with_data, limits).map_err(input)?;
    let all: Vec<_> = plain.iter().collect();
    Ok(stepwise::compose(&all, &options, limits).map_err(input)?.automaton)
}
