//! `tickbound tune`.

use tickbound_model::Problem;

use super::exit::{CliError, Exit};
use super::load::{Question, timeout};
use super::output::{Outputs, ranking, say, say_json, written};
use super::progress::{Progress, interrupt_flag};
use super::values::{OrAuto, named, or_auto};
use super::{plot, timeline};
use crate::answer;
use tickbound_solve::{Encoding, Objective, Options, Programs, Strategy, TuneResult, tune};

/// Arguments of `tune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// How time is encoded; auto takes summary
    #[arg(long, value_parser = or_auto::<Encoding>(), default_value = "auto")]
    encoding: OrAuto<Encoding>,
    /// How the least time is searched for
    #[arg(long, value_parser = named::<Strategy>(), default_value = "race")]
    strategy: Strategy,
    /// What is best where schedules are open
    #[arg(long, value_parser = named::<Objective>(), default_value = "best")]
    objective: Objective,
    /// Show at least this many of the best configurations; under the profile resources, this many of the best programs
    #[arg(long, value_name = "K", default_value_t = 0)]
    top: usize,
    /// Stop after this many seconds and report the bracket reached
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    /// What the random choice of configurations depends on that are simulated as a check
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Write the timeline of the best run (Trace Event JSON, for Perfetto) to this file
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    /// Draw time over two parameters (.svg or .png; both without an extension)
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    fn options(&self) -> Result<Options, CliError> {
        Ok(Options {
            encoding: self.encoding,
            strategy: self.strategy,
            objective: self.objective,
            top: self.top,
            timeout: timeout(self.timeout)?,
            seed: self.seed,
            ..Options::default()
        })
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    let problem = args.question.problem()?;
    timeline::check(&problem, args.trace.as_ref())?;
    let options = args.options()?;
    let outputs = Outputs::default().file("--trace", args.trace.as_ref());
    outputs.picture("--plot", args.plot.as_ref()).check(&args.question.chosen.files())?;
    let interrupt = interrupt_flag()?;
    let result = {
        let progress = Progress::new(&problem.name);
        tune(&problem, &options, &interrupt, &|bounds| progress.show(bounds))?
    };
    let answer = answer::tune::answer(&problem, &result);
    write_files(args, &problem, &result)?;
    if args.json {
        say_json(&answer.json())?;
    } else {
        say(&answer::tune::words(&problem, &result))?;
        if args.top > 0 {
            say(&listing(&problem, &result))?;
        }
    }
    Ok(Exit::of(&answer))
}

/// The best programs, or the best configurations where nothing tells programs.
fn listing(problem: &Problem, result: &TuneResult) -> String {
    let Programs { list, whole } = &result.programs;
    if list.is_empty() {
        let best = result.optima.iter().map(|f| (vec![f.time.to_string()], f));
        return format!("\n{}\n", ranking(problem, &["ticks"], best));
    }
    let rows = list.iter().map(|p| {
        let cells =
            vec![p.first.time.to_string(), p.configurations.to_string(), p.differ.join(" ")];
        (cells, &p.first)
    });
    let table = ranking(problem, &["ticks", "stands for", "differ in"], rows);
    let among = match whole {
        true => "",
        false => " (of those that the search came by; there may be more)",
    };
    format!(
        "\n{table}\nConfigurations that use the same of the device are one program: the first of them, how many it stands for{among}, \
         and the parameters in which they differ.\n"
    )
}

fn write_files(args: &Args, problem: &Problem, result: &TuneResult) -> Result<(), CliError> {
    if let (Some(path), Some(best)) = (&args.trace, &result.best) {
        let values =
            problem.parameters.iter().map(|p| p.name.clone()).zip(best.configuration.0.clone());
        let bound = problem.bind(&values.collect())?;
        let script = result.schedule.as_ref().map(|s| s.script.clone()).unwrap_or_default();
        let (spans, truncated) = timeline::write(problem, &bound, &script, path)?;
        let note = if truncated { ", the first of many" } else { "" };
        eprintln!("tickbound: {path}: {spans} spans{note}; open it in Perfetto");
    }
    if let Some(path) = &args.plot {
        written(&plot::write(problem, path)?);
    }
    Ok(())
}
