//! `tickbound verify`, and what `measure` runs of it.

pub mod screen;
mod text;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tickbound_elimination::TableLimits;
use tickbound_opencl::for_proofs;
use tickbound_report::answer::{About, Verified};
use tickbound_report::sarif::sarif;
use tickbound_safety::answer::Safety;
use tickbound_safety::certificate::only_files;
use tickbound_safety::{VerifyOptions, verify};

use super::exit::{CliError, Exit};
use super::load::{Chosen, Question, positive_seconds};
use super::output::{Outputs, save, say_answer, say_json};
use super::progress::Progress;
use super::reader::setup;
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
    /// Write the problem with conditions that leave out the refuted configurations, to a file in
    /// the folder of the problem
    #[arg(long, value_name = "FILE")]
    keep_safe: Option<PathBuf>,
    /// Write the proofs into this folder, for `tickbound check`: questions in SMT-LIB 2 that solvers
    /// are to find unsatisfiable
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
    /// Write what is refuted or not decided as SARIF, for editors and code review
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
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
    }
    if let Some(folder) = &args.certificate {
        let fault = |why| CliError::Input(format!("--certificate {}: {why}", folder.display()));
        only_files(folder).map_err(fault)?;
    }
    let outputs = Outputs::default().file("--keep-safe", args.keep_safe.as_ref());
    outputs.file("--sarif", args.sarif.as_ref()).check(&args.question.chosen.files())?;
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
    let options = VerifyOptions {
        question: time,
        stop: &stop::is_due,
        progress: &told,
        among: None,
        all_refuted: args.keep_safe.is_some(),
        certificate: args.certificate.is_some(),
    };
    let safety = verify(&problem, &configurations, &extracted, &options).map_err(CliError::Input)?;
    drop(progress);
    if let Some(file) = &args.keep_safe {
        write_kept(file, &args.question.chosen, &safety)?;
    }
    if let Some(file) = &args.sarif {
        save(file, &format!("{:#}\n", sarif(&text::findings(&safety, &folder))))?;
    }
    if let (Some(folder), Some(certificate)) = (&args.certificate, &safety.certificate) {
        certificate.write(folder).map_err(CliError::Input)?;
        let shown = folder.display();
        note!("tickbound: {shown} written; `tickbound check {shown}` checks it");
    }
    let proved = safety.is_proved();
    if args.json {
        say_json(&Verified { about: About::of(&problem), safety })?;
    } else {
        let count = configurations.count().map_or_else(|| "uncounted".into(), |n| n.to_string());
        say_answer(&text::text(&safety, &count, args.all))?;
    }
    Ok(Exit::found(proved))
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
