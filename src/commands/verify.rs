//! `tickbound verify`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tickbound_elimination::TableLimits;
use tickbound_opencl::for_proofs;
use tickbound_safety::answer::{Judged, Judgement, Safety, SafetyClaim, Witness};
use tickbound_safety::{Manner, verify};

use super::exit::{CliError, Exit};
use super::load::{Chosen, Question, positive_seconds, setup};
use super::output::{Outputs, save, say_answer, say_json};
use super::progress::Progress;
use super::stop::{self, Stops};
use super::values::Seconds;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    stops: Stops,
    /// Most time for each question to the solver
    #[arg(
        long = "question-timeout",
        value_name = "SECONDS",
        default_value_t = Seconds(5.0),
        help_heading = "Limits"
    )]
    question_time: Seconds,
    /// Write the problem with conditions that leave out the refuted configurations, to a file in the
    /// folder of the problem
    #[arg(long, value_name = "FILE")]
    keep_safe: Option<PathBuf>,
    /// Show what is proved, too
    #[arg(long)]
    all: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &VerifyArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let time = positive_seconds("--question-timeout", args.question_time)?;
    let problem = args.question.read()?;
    if let Some(file) = &args.keep_safe {
        if args.question.is_fixed() {
            let what = "--keep-safe: conditions are for all configurations; leave out --set";
            return Err(CliError::Input(what.to_owned()));
        }
        beside(file, &args.question.chosen)?;
        let outputs = Outputs::default().file("--keep-safe", Some(file));
        outputs.check(&args.question.chosen.files())?;
    }
    if problem.source.is_none() {
        let what = "the problem names no kernel in OpenCL C; add \"kernel\": { \"opencl\": ... }";
        return Err(CliError::Input(what.to_owned()));
    }
    let configurations = problem.configurations(&TableLimits::default())?;
    if configurations.first().is_none() {
        return Err(CliError::Input("no configuration is valid; see `tickbound explain`".into()));
    }
    let progress = Progress::new("verify");
    progress.say("reading the kernel".to_owned());
    let setup = setup()?;
    let folder = args.question.chosen.folder();
    let Some(extracted) = for_proofs(&problem, &configurations, &folder, &setup)? else {
        return Ok(Exit::Nothing);
    };
    stop::quiet();
    let told = |done: usize, total: usize| progress.say(format!("{done} of {total} obligations"));
    let (question, stop, keep_safe) = (time, stop::flag(), args.keep_safe.is_some());
    let manner = Manner { question, stop, progress: &told, keep_safe };
    let safety = verify(&problem, &configurations, &extracted, &manner).map_err(CliError::Input)?;
    drop(progress);
    if let Some(file) = &args.keep_safe {
        write_kept(file, &args.question.chosen, &safety)?;
    }
    if args.json {
        say_json(&safety)?;
    } else {
        let count = configurations.count().map_or_else(|| "uncounted".into(), |n| n.to_string());
        say_answer(&text(&safety, &count, args.all))?;
    }
    Ok(Exit::found(safety.is_proved()))
}

/// Paths of a problem file count from its folder, so another one has to be there, too.
fn beside(file: &Path, chosen: &Chosen) -> Result<(), CliError> {
    let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
    if chosen.problem == "-" || folder(file) != chosen.folder() {
        let name = file.file_name().map(PathBuf::from).unwrap_or_default();
        let right = chosen.folder().join(name);
        return Err(CliError::Input(format!(
            "--keep-safe {}: paths of the problem count from its folder; write {}",
            file.display(),
            right.display()
        )));
    }
    Ok(())
}

/// Writes the problem with the conditions that leave out what is refuted.
fn write_kept(file: &Path, chosen: &Chosen, safety: &Safety) -> Result<(), CliError> {
    if let Some(reason) = safety.not_kept.as_deref().or(safety.stopped.then_some("stopped")) {
        eprintln!("{}: not written: {reason}", file.display());
        return Ok(());
    }
    let mut problem = chosen.value()?;
    if !safety.kept.is_empty() {
        let constraints = problem
            .as_object_mut()
            .map(|fields| fields.entry("constraints").or_insert(Value::Array(Vec::new())));
        if let Some(Value::Array(constraints)) = constraints {
            constraints.extend(safety.kept.iter().cloned().map(Value::from));
        }
    }
    save(file, &tickbound_propose::print(&problem))?;
    eprintln!("{}: {} conditions added", file.display(), safety.kept.len());
    Ok(())
}

/// The answer as text: what is wrong first, then what is not known.
fn text(safety: &Safety, configurations: &str, all: bool) -> String {
    let counts = [Judgement::Proved, Judgement::Refuted, Judgement::Undecided]
        .map(|judgement| format!("{} {}", safety.count(judgement), judgement.name()));
    let what = match safety.is_proved() {
        true => "safe",
        false if safety.count(Judgement::Refuted) > 0 => "not safe",
        false => "not decided",
    };
    let mut text = format!("{what}: {configurations} configurations; {}\n", counts.join(", "));
    if safety.stopped {
        text += "stopped before the end\n";
    }
    for judgement in [Judgement::Refuted, Judgement::Undecided, Judgement::Proved] {
        let shown = judgement != Judgement::Proved || all;
        for judged in safety.judged.iter().filter(|j| shown && j.judgement == judgement) {
            text.push('\n');
            add_judged(&mut text, judged);
        }
    }
    for condition in &safety.kept {
        let _ = writeln!(text, "\nleft out unless {condition}");
    }
    for unread in &safety.unread {
        let _ = writeln!(text, "\nnot read: {unread}");
    }
    let _ = writeln!(
        text,
        "\n{} cases, {} questions to the solver\nassumed:",
        safety.cases, safety.questions
    );
    for assumed in &safety.assumed {
        let _ = writeln!(text, "  {assumed}");
    }
    text
}

fn add_judged(text: &mut String, judged: &Judged) {
    let places = judged.at.iter().map(|at| format!("{}:{}", at.file, at.line));
    let places: Vec<String> = places.collect();
    let array = judged.array.as_ref().map(|array| format!(" on {array}")).unwrap_or_default();
    let (name, fault) = (judged.judgement.name(), judged.claim.fault());
    let fault = if judged.judgement == Judgement::Proved {
        format!("no {fault}")
    } else {
        fault.to_owned()
    };
    let _ = writeln!(text, "{name}: {}: {fault}{array}", places.join(" and "));
    if let Some(reason) = &judged.reason {
        let _ = writeln!(text, "  {reason}");
    }
    if let Some(witness) = &judged.witness {
        add_witness(text, judged.claim, witness);
    }
}

fn add_witness(text: &mut String, claim: SafetyClaim, witness: &Witness) {
    let listed = |all: &mut dyn Iterator<Item = (&String, &i64)>| {
        let all: Vec<String> = all.map(|(name, value)| format!("{name}={value}")).collect();
        all.join(", ")
    };
    if !witness.configuration.is_empty() {
        let values = listed(&mut witness.configuration.iter());
        let _ = writeln!(text, "  configuration: {values}");
    }
    let others = |(name, _): &(&String, &i64)| !witness.configuration.contains_key(*name);
    let numbers = listed(&mut witness.numbers.iter().filter(others));
    if !numbers.is_empty() {
        let _ = writeln!(text, "  with: {numbers}");
    }
    for (i, item) in witness.items.iter().enumerate() {
        let bytes = witness.bytes.get(i).map_or_else(String::new, |(from, count)| {
            format!(": bytes {from} to {}", from + i64::from(*count) - 1)
        });
        let _ = writeln!(text, "  item {:?} of group {:?}{bytes}", item.local, item.group);
    }
    if let (Some(length), SafetyClaim::Bounds) = (witness.length, claim) {
        let _ = writeln!(text, "  the array has {length} bytes");
    }
    for (array, byte, value) in &witness.contents {
        let _ = writeln!(text, "  where byte {byte} of {array} begins {value}");
    }
    if witness.same_value {
        text.push_str("  both store the same number\n");
    }
}
