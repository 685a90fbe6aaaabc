//! `tickbound check`.

mod safety;

use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use tickbound_certificate::check::{CheckReport, check};
use tickbound_certificate::tools::ProofTools;
use tickbound_certificate::{Certificate, Refusal};
use tickbound_input::message::grouped;
use tickbound_model::{Problem, platforms};

use crate::commands::exit::{CliError, Exit};
use crate::commands::load::{Chosen, Setting, positive_seconds};
use crate::commands::output::{say_answer, say_json};
use crate::commands::progress::Progress;
use crate::commands::stop::{self, Stops};
use crate::commands::values::Seconds;
use tickbound_report::answer::{About, Checked, named};

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The folder of the certificate
    folder: String,
    /// The problem file that it must be about
    #[arg(long = "problem", alias = "of", value_name = "PROBLEM")]
    of: Option<String>,
    /// Replace an input or a platform number of that problem file
    #[arg(long = "input", value_name = "NAME=VALUE", requires = "of")]
    input: Vec<Setting>,
    /// Run no other program: cvc5, z3, yices-smt2, veripb
    #[arg(long)]
    no_tools: bool,
    /// Most time for each other program and file
    #[arg(
        long = "tool-timeout",
        alias = "tool-time",
        value_name = "SECONDS",
        default_value_t = Seconds(10.0)
    )]
    tool_time: Seconds,
    #[command(flatten)]
    stops: Stops,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CheckArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let tool_time = positive_seconds("--tool-timeout", args.tool_time)?;
    let folder = Path::new(&args.folder);
    if !folder.is_dir() {
        let why = "there is no such folder; name one that `tune --certificate` or `verify --certificate` has written";
        return Err(CliError::Input(format!("{}: {why}", args.folder)));
    }
    let asked = args.of.as_ref().map(|path| Chosen::new(path, &args.input).model()).transpose()?;
    let mut answer = Checked::default();
    let asked = asked.map(|problem| problem.json());
    let checked = match folder.join(tickbound_safety::certificate::CLAIMS).exists() {
        true => safety::checked(args, tool_time, asked.as_ref(), &mut answer),
        false => looked_at(args, tool_time, asked.as_ref(), &mut answer),
    };
    match checked {
        Ok(()) => answer.holds = true,
        Err(Refusal::Stopped) => answer.stopped = true,
        Err(why) => answer.rejected = Some(why.to_string()),
    }
    match args.json {
        true => say_json(&answer)?,
        false => say_answer(&words(&answer))?,
    }
    Ok(Exit::found(answer.holds))
}

/// Checks the certificate in a folder, and that it is about the given problem.
fn looked_at(
    args: &CheckArgs,
    tool_time: Duration,
    asked: Option<&serde_json::Value>,
    answer: &mut Checked,
) -> Result<(), Refusal> {
    let certificate = Certificate::read(Path::new(&args.folder))?;
    answer.time = Some(certificate.claim.time);
    answer.configuration.clone_from(&certificate.claim.configuration);
    answer.about = about(&certificate);
    if let Some(asked) = asked {
        if *asked != certificate.problem {
            return Err(Refusal::Wrong("problem.json: is another problem than --of".into()));
        }
        answer.checked.push("the problem is the one of --of".into());
    }
    let mut report = CheckReport::default();
    let end = with_tools(args, tool_time, &mut |tools| {
        check(&certificate, tools, &stop::is_due, &mut report)
    });
    answer.checked.extend(report.checked);
    answer.not_checked = report.not_checked;
    answer.trusted = report.trusted;
    end
}

/// Calls with the programs of others, unless they are not wanted.
fn with_tools(
    args: &CheckArgs,
    time: Duration,
    call: &mut dyn FnMut(Option<&ProofTools<'_>>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let progress = Progress::new("checking");
    let show = |what: &str| progress.about(what);
    let tools = ProofTools { path: &path, time, interrupt: stop::flag(), show: &show };
    call(Some(&tools).filter(|_| !args.no_tools))
}

/// What the certificate is about, if its problem can be read.
fn about(certificate: &Certificate) -> Option<About> {
    let problem = Problem::from_value(&certificate.problem, &IndexMap::new(), &platforms::find);
    problem.ok().as_ref().map(About::of)
}

fn words(answer: &Checked) -> String {
    let mut lines = Vec::new();
    if let Some(time) = answer.time {
        let at = named(&answer.configuration);
        lines.push(format!("claimed:    {} ticks at {at}; nothing is faster", grouped(time)));
    }
    lines.extend(answer.checked.iter().map(|what| format!("checked:    {what}")));
    lines.extend(answer.not_checked.iter().map(|what| format!("not checked: {what}")));
    lines.extend(answer.trusted.iter().map(|what| format!("trusted:    {what}")));
    lines.push(match &answer.rejected {
        Some(why) => format!("rejected:   {why}"),
        None if answer.stopped => "stopped before all was checked".to_owned(),
        None => "holds".to_owned(),
    });
    lines.join("\n") + "\n"
}
