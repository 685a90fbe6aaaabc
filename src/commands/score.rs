//! `tickbound score`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use tickbound_model::{Floor, FloorTerm, Problem, Profile};
use tickbound_simulator::{SimulateError, SimulateOptions, program, simulate};

use super::exit::{CliError, Exit};
use super::floor;
use super::load::Question;
use super::output::{Outputs, say_answer, say_json, written};
use super::progress::Progress;
use super::stop::Stops;
use tickbound_device::platform::mismatch;
use tickbound_measure::cache::usual_name;
use tickbound_measure::guided::{Candidate, MOST, Replay, points, replay};
use tickbound_measure::score::{
    FloorScore, Programs, Results, Score, floor_score, programs, score,
};
use tickbound_report::Table;
use tickbound_report::answer::{About, Other, Scored};
use tickbound_report::chart::{Chart, ChartData};
use tickbound_report::html::{
    Best, ConfigurationTable, FigureNumber, Measure, Page, RowFloors, SheetRow,
};
use tickbound_report::measured_page::correlation;

/// Arguments of `score`.
#[derive(Debug, clap::Args)]
pub struct ScoreArgs {
    #[command(flatten)]
    question: Question,
    /// Measured times: a cache of `measure` or of Kernel Tuner, a T4 file, or KTT's output in JSON;
    /// may be compressed (.gz) [default: the file in the current folder that `measure` writes]
    #[arg(long, value_name = "RESULTS")]
    against: Option<String>,
    /// Replay this many guided searches, each with another seed, on the measured times
    #[arg(long = "guided-seeds", alias = "guided", value_name = "SEEDS", default_value_t = 0)]
    guided: u64,
    /// Also say how good the best configuration of these results is here, such as those of another
    /// device
    #[arg(long, value_name = "RESULTS")]
    other: Vec<String>,
    /// The times are of runs with empty caches, as `measure --flush-cache` takes
    #[arg(long)]
    flush_cache: bool,
    /// Draw measured times over the model's (.svg or .png; both without an extension)
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
    /// Write a page with measured times over the model's, and a table to sort and filter
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    #[command(flatten)]
    stops: Stops,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ScoreArgs {
    /// The file with measured times.
    fn against(&self, problem: &Problem) -> Result<String, CliError> {
        let usual = || usual_name(problem, "opencl");
        let file = self.against.clone().unwrap_or_else(usual);
        if self.against.is_none() && !Path::new(&file).exists() {
            let path = &self.question.chosen.problem;
            return Err(CliError::Input(format!(
                "{file}: there are no measured times yet; run `tickbound measure {path}`, or name \
                 a file with --against"
            )));
        }
        Ok(file)
    }
}

/// The model's ticks beside measured milliseconds.
#[derive(Default)]
struct Compared {
    pairs: Vec<(i64, f64)>,
    /// Milliseconds of the fastest run of each pair, and its floor.
    floors: Vec<(f64, Option<(i64, FloorTerm)>)>,
    /// The configuration of each pair, and the identity of its program.
    configurations: Vec<Vec<i64>>,
    programs: Vec<Vec<i64>>,
    /// Results that are no configurations of the problem.
    outside: usize,
    /// Configurations that are too large to simulate.
    without_ticks: usize,
    /// Configurations that have no time for another reason, and why the first has none.
    faults: (usize, Option<SimulateError>),
}

fn compare(
    problem: &Problem,
    results: &Results,
    floor: Option<&Floor>,
    progress: &Progress,
) -> Compared {
    let mut compared = Compared::default();
    let entries = results.entries.iter().zip(&results.fastest);
    for (done, ((parameters, time), fastest)) in entries.enumerate() {
        if done % 64 == 0 {
            progress.say(format!("{done} of {} simulated", results.entries.len()));
        }
        let Ok(bound) = problem.bind(parameters) else {
            compared.outside += 1;
            continue;
        };
        match simulate(problem, &bound, &SimulateOptions::default()) {
            Ok(run) => {
                compared.pairs.push((run.time, *time));
                let floor = floor.and_then(|floor| floor.at(&bound.env));
                compared.floors.push((*fastest, floor));
                let own = program(problem, &bound).ok().flatten();
                compared.configurations.push(bound.configuration.0.clone());
                compared.programs.push(own.unwrap_or_else(|| bound.configuration.0.clone()));
            }
            Err(e) if e.is_too_large() => compared.without_ticks += 1,
            Err(e) => {
                compared.faults.0 += 1;
                compared.faults.1.get_or_insert(e);
            }
        }
    }
    compared
}

pub(super) fn run(args: &ScoreArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let (problem, reading) = args.question.with_reading()?;
    let problem = problem.kernel_alone();
    let floor = floor::floor(&problem, reading.as_ref(), floor::caches(args.flush_cache))?.ok();
    let mut inputs = args.question.chosen.files();
    let against = args.against(&problem)?;
    inputs.extend(args.other.iter().chain([&against]).map(PathBuf::from));
    let outputs = Outputs::default().picture("--plot", args.plot.as_ref())?;
    outputs.file("--html", args.html.as_ref()).check(&inputs)?;
    let results = results_of(&against, &problem)?;
    let compared = {
        let progress = Progress::new(&problem.name);
        compare(&problem, &results, floor.as_ref(), &progress)
    };
    let mismatch = results.device.as_ref().and_then(|d| mismatch(d, &problem.platform.name));
    if let Some(mismatch) = mismatch {
        note!("tickbound: {mismatch}");
    }
    let scored = score(&compared.pairs);
    let entries = compared.programs.iter().zip(&compared.pairs);
    let distinct = programs(entries.map(|(p, (ticks, time))| (p, *ticks, *time)).collect());
    let guided = (args.guided > 0).then(|| guided(&compared, args.guided)).flatten();
    let others = args.other.iter().map(|path| other(path, &problem, &compared));
    let others = others.collect::<Result<Vec<_>, CliError>>()?;
    let floor = floor.and_then(|floor| floor_score(&problem, &floor, &results));
    let found = Found { score: scored.as_ref(), distinct, guided, others, floor };
    if let Some(path) = &args.plot {
        written(&chart(&problem, &results, &compared).write(path)?);
    }
    if let Some(path) = &args.html {
        page(&problem, &results, &compared, &found).write(path)?;
        written(&[path.into()]);
    }
    match args.json {
        true => say_json(&object(&against, &problem, &results, &compared, found))?,
        false => say_answer(&words(&problem, &results, &compared, &found))?,
    }
    Ok(Exit::found(scored.is_some()))
}

/// Guided searches in words.
fn replayed(guided: &Replay) -> String {
    let number =
        |n: Option<usize>| n.map_or_else(|| format!("more than {MOST}"), |n| n.to_string());
    format!(
        "\n{} guided searches, in the median: {} measurements until one is within 5 % of the best; \
         they stop after {}, \
         where {} of it is reached\n",
        guided.seeds,
        number(guided.within_5_percent),
        number(guided.stopped_after),
        percent(guided.reached)
    )
}

/// The result of a comparison.
struct Found<'a> {
    score: Option<&'a Score>,
    distinct: Option<Programs>,
    guided: Option<Replay>,
    others: Vec<Other>,
    floor: Option<FloorScore>,
}

/// How measured times lie above floors, in words.
fn above_floor(floor: &FloorScore) -> Vec<String> {
    let below: usize = floor.violations.values().sum();
    let mut out = vec![format!(
        "{:.4} ms by {}; the best measured is {:.2} of it; {} of {} times are below the \
         floor of their configuration",
        floor.floor_milliseconds, floor.binds, floor.gap, below, floor.compared
    )];
    let violations = floor.violations.iter();
    out.extend(violations.map(|(term, n)| format!("{n} contradict the floor by {term}")));
    out
}

/// What the best configuration of other results is worth here, in words.
fn worth(other: &Other) -> String {
    let device = other.device.as_deref().unwrap_or(&other.results);
    match other.reached.map(percent) {
        Some(part) => {
            format!("\nthe best configuration of {device} reaches {part} of the best here\n")
        }
        None => format!("\nno configuration of {device} has a time here\n"),
    }
}

fn other(path: &str, problem: &Problem, compared: &Compared) -> Result<Other, CliError> {
    let mut results = results_of(path, problem)?;
    results.entries.sort_by(|a, b| a.1.total_cmp(&b.1));
    let pairs = compared.configurations.iter().zip(&compared.pairs);
    let here: HashMap<&[i64], f64> = pairs.map(|(c, (_, time))| (&c[..], *time)).collect();
    let best = here.values().copied().fold(f64::INFINITY, f64::min);
    let time = |parameters| {
        let bound = problem.bind(parameters).ok()?;
        here.get(&bound.configuration.0[..]).copied()
    };
    let found = results.entries.iter().enumerate().find_map(|(i, (p, _))| Some((i, time(p)?)));
    Ok(Other {
        results: path.to_owned(),
        device: results.device,
        reached: found.map(|(_, time)| best / time),
        place: found.map(|(i, _)| i + 1),
    })
}

/// Reads results, and leaves out parameters that the problem does not have.
fn results_of(path: &str, problem: &Problem) -> Result<Results, CliError> {
    let mut results = Results::read(Path::new(path))?;
    let names: Vec<&str> = problem.parameters.iter().map(|p| p.name.as_str()).collect();
    results.only(&names)?;
    Ok(results)
}

/// Measured times over the model's ticks.
fn chart(problem: &Problem, results: &Results, compared: &Compared) -> Chart {
    let pairs = compared.pairs.iter().filter(|(ticks, _)| *ticks > 0);
    Chart {
        title: format!("{} on {}", problem.name, results.device.as_deref().unwrap_or("a device")),
        x: format!("ticks of {}", problem.platform.name),
        y: "milliseconds measured".to_owned(),
        data: ChartData::Points(pairs.map(|(ticks, time)| (*ticks as f64, *time)).collect()),
    }
}

/// The page: how well the model ranks, and the configurations with both times.
fn page(problem: &Problem, results: &Results, compared: &Compared, found: &Found<'_>) -> Page {
    let (_, model) = About::of(problem).model();
    let facts = [("model", model)].into_iter().chain(facts(results, compared, found));
    let mut facts: Vec<(String, String)> =
        facts.map(|(name, text)| (name.to_owned(), text)).collect();
    facts.extend(found.score.iter().flat_map(|s| &s.reached).map(|reached| {
        let (trials, model, random) =
            (reached.trials, percent(reached.model), percent(reached.random));
        let name = if trials == 1 { "1 trial".to_owned() } else { format!("{trials} trials") };
        (name, format!("of the best time, the model's best reach {model}, random ones {random}"))
    }));
    let floor = found.floor.iter().map(|floor| above_floor(floor).join("; "));
    facts.extend(floor.map(|floor| ("floor".to_owned(), floor)));
    let rho = found.score.and_then(|s| s.spearman);
    let mut all = ConfigurationTable {
        among: "Configurations with a measured time that the model has a time for.".to_owned(),
        parameters: problem.parameters.iter().map(|p| p.name.clone()).collect(),
        measures: ["ms", "ticks"]
            .map(|name| Measure { name: name.to_owned(), best: Some(Best::Least) })
            .into(),
        over: Some((1, 0, correlation(rho, compared.pairs.len()))),
        rows: compared.configurations.iter().zip(&compared.pairs).map(row).collect(),
        ..ConfigurationTable::default()
    };
    all.add_floors(&RowFloors {
        each: compared.floors.iter().map(|(_, floor)| *floor).collect(),
        fastest: compared.floors.iter().map(|(fastest, _)| Some(*fastest)).collect(),
        ticks: About::of(problem).units.tick_microseconds.map(|length| (1, length)),
        space: None,
    });
    all.sort();
    Page {
        title: heading(problem, results),
        figure: rho.map_or_else(|| "No correlation".into(), |rho| format!("rho = {rho:.3}")),
        meaning: "Spearman's rank correlation of the model's times with measured ones".into(),
        facts,
        configurations: (!all.rows.is_empty()).then_some(all),
        ..Page::default()
    }
}

fn row((values, (ticks, time)): (&Vec<i64>, &(i64, f64))) -> SheetRow {
    let numbers = vec![Some(FigureNumber::Real(*time)), Some(FigureNumber::Whole(*ticks))];
    SheetRow { values: values.clone(), numbers, ..SheetRow::default() }
}

/// Guided searches among distinct programs, each with the parameters of its first configuration and
/// the mean of the times of all.
fn guided(compared: &Compared, seeds: u64) -> Option<Replay> {
    let mut programs: IndexMap<&[i64], (usize, Vec<f64>)> = IndexMap::new();
    for (number, (program, (_, time))) in compared.programs.iter().zip(&compared.pairs).enumerate()
    {
        programs.entry(program).or_insert((number, Vec::new())).1.push(*time);
    }
    let firsts = || programs.values().map(|(first, _)| *first);
    let values: Vec<&[i64]> = firsts().map(|c| &compared.configurations[c][..]).collect();
    let ticks = firsts().map(|c| compared.pairs[c].0);
    let candidates = points(&values).into_iter().zip(ticks);
    let candidates: Vec<Candidate> =
        candidates.map(|(point, ticks)| Candidate { point, ticks }).collect();
    let mean = |times: &Vec<f64>| times.iter().sum::<f64>() / times.len() as f64;
    let times: Vec<f64> = programs.values().map(|(_, times)| mean(times)).collect();
    replay(&candidates, &times, seeds)
}

/// The median of measured times over predicted ones, where ticks are clocks that the platform says
/// the length of.
fn over_predicted(compared: &Compared, problem: &Problem) -> Option<f64> {
    let clock = problem.platform.clock_mhz().filter(|_| problem.profile == Profile::Resources)?;
    let predicted = |ticks: i64| ticks as f64 / clock as f64 / 1e3;
    let pairs = compared.pairs.iter().filter(|(ticks, _)| *ticks > 0);
    let mut all: Vec<f64> = pairs.map(|(ticks, time)| time / predicted(*ticks)).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

fn object(
    against: &str,
    problem: &Problem,
    results: &Results,
    compared: &Compared,
    found: Found<'_>,
) -> Scored {
    let scored = found.score;
    Scored {
        about: About::of(problem),
        results: against.to_owned(),
        device: results.device.clone(),
        platform: problem.platform.name.clone(),
        entries: compared.pairs.len(),
        failed: results.failed,
        broken: results.broken,
        outside: compared.outside,
        not_simulated: compared.without_ticks,
        faults: compared.faults.0,
        measured_over_predicted: over_predicted(compared, problem),
        spearman: scored.and_then(|s| s.spearman),
        kendall: scored.and_then(|s| s.kendall),
        reached: scored.map(|s| s.reached.clone()),
        distinct: found.distinct,
        guided: found.guided,
        others: found.others,
        floor: found.floor,
    }
}

/// What was compared.
fn heading(problem: &Problem, results: &Results) -> String {
    let device = results.device.as_deref().unwrap_or("a device");
    format!("{} against times of {device}", problem.name)
}

/// What was used, and how well the model ranks: names and what they say.
fn facts(results: &Results, compared: &Compared, found: &Found<'_>) -> Vec<(&'static str, String)> {
    let mut used = vec![format!("{} of {} times", compared.pairs.len(), results.entries.len())];
    let also = [
        (compared.outside, "are no configurations of the problem"),
        (compared.without_ticks, "are too large to simulate"),
        (compared.faults.0, "have no time"),
        (results.failed, "configurations failed"),
        (results.broken, "lines are broken"),
    ];
    used.extend(also.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    let mut facts = vec![("used", used.join("; "))];
    facts.extend(compared.faults.1.as_ref().map(|why| ("no time", why.to_string())));
    let number = |n: Option<f64>| {
        n.map_or_else(|| "none, one side is all equal".into(), |n| format!("{n:.3}"))
    };
    facts.extend(found.score.iter().flat_map(|score| {
        [("Spearman", number(score.spearman)), ("Kendall (b)", number(score.kendall))]
    }));
    facts
}

fn words(problem: &Problem, results: &Results, compared: &Compared, found: &Found<'_>) -> String {
    let mut out = format!("{}\n", heading(problem, results));
    let (name, model) = About::of(problem).model();
    out += &format!("{name:<14}{model}\n");
    for (name, text) in facts(results, compared, found) {
        out += &format!("{:<14}{text}\n", format!("{name}:"));
    }
    let Some(score) = found.score else { return out };
    out.push('\n');
    let mut table = Table::new(["trials", "model's best reach", "random ones reach"]);
    for reached in &score.reached {
        table.push([reached.trials.to_string(), percent(reached.model), percent(reached.random)]);
    }
    out += &format!("{table}\nof the best time measured, on average.\n");
    if let Some(ratio) = over_predicted(compared, problem) {
        out += &format!("measured times are {ratio:.2} of the predicted ones in the median\n");
    }
    let floor = found.floor.as_ref().map(|floor| above_floor(floor).join("\n"));
    out += &floor.map_or_else(String::new, |floor| format!("floor: {floor}\n"));
    out += &found.others.iter().map(worth).collect::<String>();
    out += &found.guided.as_ref().map_or_else(String::new, replayed);
    let folded = found.distinct.as_ref().filter(|d| d.programs < compared.pairs.len());
    out + &folded.map_or_else(String::new, |distinct| of_programs(compared, distinct))
}

/// How well the model ranks distinct programs, in words.
fn of_programs(compared: &Compared, distinct: &Programs) -> String {
    let mut table = Table::new(["programs", "model's best reach"]);
    for reached in &distinct.reached {
        table.push([reached.trials.to_string(), percent(reached.model)]);
    }
    let (model, random) = (distinct.model_within_5_percent, distinct.random_within_5_percent);
    format!(
        "\n{} configurations are {} programs\n{table}\nmeasured until one is within 5 % of the \
         best: {model:.1} in \
         the model's order, {random:.1} at random\n",
        compared.pairs.len(),
        distinct.programs
    )
}

fn percent(part: f64) -> String {
    format!("{:.1}%", part * 100.0)
}
