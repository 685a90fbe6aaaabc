//! `tickbound verify`, and what `measure` runs of it.

mod kept;
mod reproduce;
pub mod screen;
mod text;

use std::path::PathBuf;

use tickbound_elimination::TableLimits;
use tickbound_model::{Configurations, Problem};
use tickbound_opencl::for_proofs;
use tickbound_report::answer::{About, Verified};
use tickbound_report::sarif::sarif;
use tickbound_rules::RuleSizes;
use tickbound_safety::certificate::format::only_files;
use tickbound_safety::{Verification, VerifyOptions, verify};

use super::exit::{CliError, Exit};
use super::load::{Question, positive_seconds};
use super::measure::choice;
use super::output::{Outputs, save, say_answer, say_json, written};
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
    /// Verify for all these sizes: NAME=FIRST..LAST[:STEP] or NAME=VALUE,... for inputs, M=N=...
    /// for equal ones
    #[arg(long, value_name = "SIZES", conflicts_with = "size")]
    over: Option<RuleSizes>,
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
    /// Write the proofs into this folder, for `tickbound check`: questions in SMT-LIB 2 that are to
    /// be unsatisfiable
    #[arg(long, value_name = "DIR")]
    certificate: Option<PathBuf>,
    /// Write what is refuted or not decided as SARIF, for editors and code review
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write a page with all claims and the counterexamples
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Run the counterexamples of accesses out of bounds on a device, and state what is written
    /// next to a buffer
    #[arg(long, value_name = "DEVICE", num_args = 0..=1, default_missing_value = "opencl")]
    run: Option<String>,
    /// Show what is proved, too
    #[arg(long)]
    all: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl VerifyArgs {
    /// The question, with sizes as parameters where these are many.
    fn asked(&self) -> Question {
        let mut question = self.question.clone();
        question.chosen.over = self.over.clone();
        question
    }

    /// How many configurations there are, in words.
    fn counted(&self, configurations: &Configurations<'_>) -> String {
        let count = configurations.count().map_or_else(|| "uncounted".into(), |n| n.to_string());
        match &self.over {
            Some(sizes) => format!("{count} configurations at {} sizes", sizes.count()),
            None => format!("{count} configurations"),
        }
    }

    /// Refuses files that cannot be written, or that the problem is read from.
    fn check_outputs(&self) -> Result<(), CliError> {
        if let Some(file) = &self.keep_safe {
            if self.question.is_fixed() {
                let what = "--keep-safe: conditions are for all configurations; leave out --set";
                return Err(CliError::Input(what.to_owned()));
            }
            kept::check_folder(file, &self.question.chosen)?;
        }
        if let Some(folder) = &self.certificate {
            let fault = |why| CliError::Input(format!("--certificate {}: {why}", folder.display()));
            only_files(folder).map_err(fault)?;
        }
        let outputs = Outputs::default().file("--keep-safe", self.keep_safe.as_ref());
        let outputs = outputs.file("--html", self.html.as_ref());
        outputs.file("--sarif", self.sarif.as_ref()).check(&self.question.chosen.files())
    }

    fn write_files(
        &self,
        problem: &Problem,
        found: &Verification,
        count: &str,
    ) -> Result<(), CliError> {
        let safety = &found.safety;
        if let Some(file) = &self.keep_safe {
            kept::write(file, &self.question.chosen, safety)?;
        }
        if let Some(file) = &self.sarif {
            let findings = text::findings(safety, &self.question.chosen.folder());
            save(file, &format!("{:#}\n", sarif(&findings)))?;
        }
        if let Some(file) = &self.html {
            text::page(safety, &problem.name, count).write(file)?;
            written(std::slice::from_ref(file));
        }
        if let (Some(folder), Some(certificate)) = (&self.certificate, &found.certificate) {
            certificate.write(folder).map_err(CliError::Input)?;
            let shown = folder.display();
            note!("tickbound: {shown} written; `tickbound check {shown}` checks it");
        }
        Ok(())
    }
}

pub(super) fn run(args: &VerifyArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let time = positive_seconds("--question-timeout", args.question_time)?;
    let problem = args.asked().read()?;
    args.check_outputs()?;
    args.run.as_deref().map(choice).transpose()?;
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
    let folder = args.question.chosen.folder();
    let Some(extracted) = for_proofs(&problem, &configurations, &folder, &setup()?)? else {
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
    let found = verify(&problem, &configurations, &extracted, &options);
    let found = found.map_err(CliError::Input)?;
    let safety = &found.safety;
    let seen = args
        .run
        .as_ref()
        .map(|device| reproduce::lines((&problem, &folder), safety, device, &progress));
    drop(progress);
    let count = args.counted(&configurations);
    args.write_files(&problem, &found, &count)?;
    let proved = safety.is_proved();
    match args.json {
        true => say_json(&Verified { about: About::of(&problem), safety: safety.clone() })?,
        false => say_answer(&text::text(safety, &count, args.all))?,
    }
    seen.transpose()?.iter().flatten().for_each(|line| note!("tickbound: run: {line}"));
    Ok(Exit::found(proved))
}
