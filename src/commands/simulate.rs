//! `tickbound simulate`.

use tickbound_model::Profile;
use tickbound_model::count::count;
use tickbound_simulator::{Script, SimulateOptions, simulate};

use super::exit::{CliError, Exit};
use super::load::{Chosen, Setting, bound};
use super::output::{Outputs, say_folded, say_json};
use super::stop::Stops;
use super::timeline;
use tickbound_report::answer;
use tickbound_report::answer::resources::Resources;
use tickbound_report::answer::{About, Phase, Simulated, shown};

/// Arguments of `simulate`.
#[derive(Debug, clap::Args)]
pub struct SimulateArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// Value of a parameter; every parameter needs one
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<Setting>,
    /// Write the timeline to this file, a picture (.svg, .png) or Trace Event JSON for Perfetto
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,
    #[command(flatten)]
    stops: Stops,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SimulateArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let problem = args.chosen.model()?;
    timeline::check(&problem, args.trace.as_ref())?;
    Outputs::default().file("--trace", args.trace.as_ref()).check(&args.chosen.files())?;
    let bound = bound(&problem, "--set", &args.set)?;
    let traced = args.json && problem.profile != Profile::Resources;
    let options = SimulateOptions {
        trace: traced,
        max_spans: timeline::MAX_SPANS,
        ..SimulateOptions::default()
    };
    let run = simulate(&problem, &bound, &options)?;
    let counted = problem.profile == Profile::Resources;
    let resources = counted.then(|| Resources::of_bound(&problem, &bound).ok()).flatten();
    if let Some(path) = &args.trace {
        timeline::write(&problem, &bound, &[(None, Script::FirstCome)], path)?;
    }
    if args.json {
        say_json(&Simulated {
            about: About::of(&problem),
            time: run.time,
            configuration: answer::values(&problem, &bound.configuration),
            counts: count(&problem, &bound).ok().map(|counts| answer::counts(&counts)),
            phases: run.trace.as_ref().and_then(Phase::of),
            resources,
        })?;
    } else {
        let configuration = problem.name_values(&bound.configuration).to_string();
        let with =
            if configuration.is_empty() { String::new() } else { format!(" with {configuration}") };
        let about = About::of(&problem);
        let lines = resources.iter().flat_map(Resources::lines);
        let lines: String = [about.model()].into_iter().chain(lines).map(|l| shown(&l)).collect();
        let time = about.units.time(run.time);
        say_folded(&format!("{}: {time}{with}\n{lines}", problem.name))?;
    }
    Ok(Exit::Done)
}
