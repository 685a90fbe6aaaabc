//! `tickbound reo check`.

use std::collections::BTreeSet;

use serde_json::json;
use tickbound_device::DeviceChoice;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::check::{Lasso, Ltl, LtlFormula, counterexample, deadlock, violation};
use tickbound_reo::connector::Connector;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::stepwise;
use tickbound_reo::symbol::NameId;

use super::load::{self, notes, parts};
use super::shared::{DEFAULT_MEMORY, device, within};
use super::shortest::Searched;
use super::steps::{Steps, listed, steps};
use crate::commands::exit::{CliError, Exit, input};
use crate::commands::output::{say_folded, say_json};
use crate::commands::values::ByteSize;

/// Arguments of `reo check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Connector: a .treo, .cat, .reo, .ea, .aut or .json file
    file: String,
    #[command(flatten)]
    choice: load::ConnectorArgs,
    /// A condition on the names that fire, to hold in every step, such as 'a -> !b'; without any,
    /// deadlocks are looked for
    #[arg(long, value_name = "FORMULA")]
    invariant: Vec<String>,
    /// A condition on every infinite run, such as 'G (in -> F out)': X next, F at some time, G
    /// always, U until, R releases. In a run that is stuck nothing fires for ever; nothing has to
    /// happen only because it can: 'G F a -> G F b' says so where it is meant
    #[arg(long, value_name = "FORMULA")]
    ltl: Vec<String>,
    /// Where deadlocks and broken invariants are looked for: cpu, opencl or opencl:N. A device
    /// explores level by level up to the first that has one, and makes no product
    #[arg(long, value_name = "DEVICE", default_value = "cpu", conflicts_with = "ltl")]
    device: DeviceChoice,
    /// Most memory for the product
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MEMORY)]
    memory: ByteSize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let connector = load::connector(&args.file, &args.choice)?;
    notes(&connector);
    match device(args.device)? {
        Some(device) => {
            let searched = within("exploring", args.memory, |limits| {
                Searched::new(&connector, &args.invariant, &device, limits)
            })?;
            match searched {
                Searched::Deadlock(run) => stuck(args, &connector, run.as_deref()),
                Searched::Holds => answer(args, &connector, HOLDS, "", None),
                Searched::Broken { invariant, run, names } => {
                    violated(args, &connector, &invariant, &run, names)
                }
            }
        }
        None => on_processors(args, &connector),
    }
}

const HOLDS: &str = "every invariant holds";

fn on_processors(args: &Args, connector: &Connector) -> Result<Exit, CliError> {
    // Names depend on data only where a constraint cannot be fulfilled: such steps are gone.
    let (whole, lasso) = within("composing", args.memory, |limits| {
        let options = stepwise::StepwiseOptions::default();
        let composed = stepwise::compose(&parts(connector), &options, limits).map_err(input)?;
        let whole = composed.automaton.without_data();
        let lasso = unending(args, connector, &whole, limits)?;
        Ok((whole, lasso))
    })?;
    if args.invariant.is_empty() && args.ltl.is_empty() {
        return stuck(args, connector, deadlock(&whole).map(|run| run.steps).as_deref());
    }
    for text in &args.invariant {
        let formula = LtlFormula::parse(text, whole.alphabet(), &connector.symbols)
            .map_err(|e| input(format!("--invariant: {e}")))?;
        if let Some(run) = violation(&whole, &formula) {
            let mut names = BTreeSet::new();
            formula.names(&mut names);
            return violated(args, connector, text, &run.steps, names);
        }
    }
    if let Some((text, lasso, names)) = lasso {
        return broken(args, connector, text, &lasso, &names);
    }
    let good = if args.ltl.is_empty() { HOLDS } else { "every formula holds" };
    answer(args, connector, good, "", None)
}

fn stuck(args: &Args, connector: &Connector, run: Option<&Steps>) -> Result<Exit, CliError> {
    let found = run.map(|run| (run, BTreeSet::new()));
    answer(args, connector, "no deadlock", "a deadlock after", found)
}

fn violated(
    args: &Args,
    connector: &Connector,
    text: &str,
    run: &Steps,
    names: BTreeSet<NameId>,
) -> Result<Exit, CliError> {
    let broken = format!("`{text}` is broken by the last step of");
    answer(args, connector, "", &broken, Some((run, names)))
}

/// A formula, an infinite run that breaks it, and the names of the formula.
type Broken<'a> = (&'a str, Lasso, BTreeSet<NameId>);

/// The first formula that some infinite run breaks.
fn unending<'a>(
    args: &'a Args,
    connector: &Connector,
    whole: &Automaton,
    limits: &ProductLimits,
) -> Result<Option<Broken<'a>>, CliError> {
    for text in &args.ltl {
        let formula = Ltl::parse(text, whole.alphabet(), &connector.symbols)
            .map_err(|e| input(format!("--ltl: {e}")))?;
        if let Some(lasso) = counterexample(whole, &formula, limits).map_err(input)? {
            let mut names = BTreeSet::new();
            formula.names(&mut names);
            return Ok(Some((text, lasso, names)));
        }
    }
    Ok(None)
}

/// Shows a run without end that breaks a formula.
fn broken(
    args: &Args,
    connector: &Connector,
    text: &str,
    lasso: &Lasso,
    names: &BTreeSet<NameId>,
) -> Result<Exit, CliError> {
    let run = steps(connector, &lasso.run.steps, names);
    let cycle = steps(connector, &lasso.cycle, names);
    if args.json {
        say_json(&json!({ "holds": false, "run": run, "cycle": cycle }))?;
        return Ok(Exit::Nothing);
    }
    let end = if cycle.is_empty() {
        "  then no step is possible\n".to_owned()
    } else {
        format!("  then for ever\n{}", listed(&cycle, run.len()))
    };
    let list = listed(&run, 0);
    say_folded(&format!("{}: `{text}` is broken by\n{list}{end}", connector.name))?;
    Ok(Exit::Nothing)
}

fn answer(
    args: &Args,
    connector: &Connector,
    good: &str,
    bad: &str,
    run: Option<(&Steps, BTreeSet<NameId>)>,
) -> Result<Exit, CliError> {
    let steps = run.as_ref().map(|(run, names)| steps(connector, run, names));
    let outcome = Exit::found(run.is_none());
    if args.json {
        let holds = run.is_none();
        say_json(&json!({ "holds": holds, "run": steps }))?;
        return Ok(outcome);
    }
    match steps {
        None => say_folded(&format!("{}: {good}\n", connector.name))?,
        Some(steps) => {
            let list = listed(&steps, 0);
            say_folded(&format!("{}: {bad} {} steps\n{list}", connector.name, steps.len()))?;
        }
    }
    Ok(outcome)
}
