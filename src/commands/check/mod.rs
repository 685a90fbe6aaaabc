//! `tickbound check`.

mod args;
mod safety;

use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use tickbound_certificate::check::{CheckReport, check, problem};
use tickbound_certificate::{Certificate, Refusal};
use tickbound_input::message::grouped;
use tickbound_model::{Problem, platforms};

pub use args::CheckArgs;
use args::with_tools;

use crate::commands::exit::{CliError, Exit};
use crate::commands::load::{Chosen, positive_seconds};
use crate::commands::output::{say_answer, say_json};
use crate::commands::stop;
use tickbound_report::answer::{About, Checked, named};

pub(super) fn run(args: &CheckArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let tool_time = positive_seconds("--tool-timeout", args.tool_time)?;
    let folder = Path::new(&args.folder);
    if !folder.is_dir() {
        let why =
            "there is no such folder; name one that `--certificate` of tune or verify has written";
        return Err(CliError::Input(format!("{}: {why}", args.folder)));
    }
    let asked = args.of.as_ref().map(|path| Chosen::new(path, &args.input).model()).transpose()?;
    let mut answer = Checked::default();
    let asked = asked.map(|problem| problem.json());
    let checked = match folder.join(tickbound_safety::certificate::format::CLAIMS).exists() {
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
        // A file with parts of a usage in definitions is read without these.
        let whole = || Ok::<_, Refusal>(problem(&certificate.problem)?.with_whole_usage());
        if *asked != certificate.problem
            && whole()?.map(|whole| whole.json()).as_ref() != Some(asked)
        {
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
