//! `tickbound measure --rule`: the configurations of a rule, timed at some of its sizes.

use serde::Deserialize;
use tickbound_measure::outcome::Timed;
use tickbound_measure::{MeasureError, MeasurePlan, MeasureReport};
use tickbound_model::random::SplitMix64;
use tickbound_model::{Bound, Configuration, Problem};
use tickbound_report::answer::{About, MeasuredSize, RuleMeasurement, Values, values};
use tickbound_rules::RuleSizes;

use super::args::MeasureArgs;
use super::predicted::ticks;
use super::progress::measured;
use crate::commands::exit::{CliError, Exit};
use crate::commands::load::Question;
use crate::commands::output::{say_answer, say_json, width};
use crate::commands::progress::Progress;
use crate::commands::stop;
use crate::commands::verify::screen::Screen;

/// Sizes that are measured by default.
const SIZES: usize = 5;

/// The part of a rule's file that is used here; `tune --over --json` and `--emit FILE.json` write
/// such files.
#[derive(Deserialize)]
struct RuleFile {
    over: String,
    variants: Vec<RuleFileVariant>,
}

#[derive(Deserialize)]
struct RuleFileVariant {
    configuration: Values,
}

impl RuleFile {
    fn read(path: &str) -> Result<(RuleFile, RuleSizes), CliError> {
        let fault = |why: String| {
            let fix = "`tickbound tune --over SIZES --emit FILE.json` writes such a file";
            CliError::Input(format!("--rule {path}: {why}; {fix}"))
        };
        let text = std::fs::read_to_string(path).map_err(|e| fault(e.to_string()))?;
        let file: RuleFile = serde_json::from_str(&text).map_err(|e| fault(e.to_string()))?;
        let sizes = file.over.parse().map_err(|_| fault("it has no sizes".to_owned()))?;
        match file.variants.is_empty() {
            true => Err(fault("it has no configuration".to_owned())),
            false => Ok((file, sizes)),
        }
    }
}

/// The first and the last size, and others drawn at random, in their order.
fn chosen(count: usize, most: usize, seed: u64) -> Vec<usize> {
    if most >= count {
        return (0..count).collect();
    }
    let mut random = SplitMix64(seed);
    let mut chosen: Vec<usize> = [0, count - 1].into_iter().take(most).collect();
    while chosen.len() < most {
        let next = random.draw() as usize % count;
        if !chosen.contains(&next) {
            chosen.push(next);
        }
    }
    chosen.sort_unstable();
    chosen
}

/// The problem at a size.
fn problem_at(args: &MeasureArgs, sizes: &RuleSizes, size: usize) -> Result<Problem, CliError> {
    let inputs = sizes.names().zip(sizes.values(size));
    let with = |question: Question, (name, value)| question.with_input(name, value);
    let problem = inputs.fold(args.question.clone(), with).problem()?;
    if problem.source.is_none() {
        return Err(MeasureError::NoSource.into());
    }
    Ok(problem.kernel_alone())
}

/// The configurations of the rule that are valid at a size.
fn valid(problem: &Problem, file: &RuleFile) -> Result<Vec<Bound>, CliError> {
    let mut bounds = Vec::new();
    for RuleFileVariant { configuration } in &file.variants {
        let value = |name: &String| {
            let missing = || format!("--rule: no configuration has a value of `{name}`");
            configuration.get(name).copied().ok_or_else(|| CliError::Input(missing()))
        };
        let values = problem.parameters.iter().map(|p| value(&p.name));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        bounds.extend(problem.bind_configuration(&Configuration(values)));
    }
    Ok(bounds)
}

/// The configuration that the rule picks: the first with the least predicted time; `None` if none
/// has one.
fn picked<'b>(problem: &Problem, bounds: &'b [Bound]) -> Option<&'b Bound> {
    let predicted = bounds.iter().filter_map(|b| Some((ticks(problem, b, &|| false)?, b)));
    predicted.min_by_key(|(ticks, _)| *ticks).map(|(_, bound)| bound)
}

/// What was measured at a size.
fn at_size(
    problem: &Problem,
    size: String,
    picked: &Bound,
    report: &MeasureReport,
) -> MeasuredSize {
    let of_picked = report.results.iter().find(|m| m.bound.configuration == picked.configuration);
    let timed_picked = of_picked.and_then(|m| m.record.outcome.timed());
    // Only times of the same kind are compared: those in turns, if what is picked has one.
    let in_turns = timed_picked.is_some_and(|timed| timed.seconds_in_turns().is_some());
    let seconds = |timed: &Timed| match in_turns {
        true => timed.seconds_in_turns(),
        false => Some(timed.seconds()),
    };
    let timed =
        report.results.iter().filter_map(|m| Some((seconds(m.record.outcome.timed()?)?, m)));
    let fastest = timed.min_by(|(a, _), (b, _)| a.total_cmp(b));
    MeasuredSize {
        size,
        timed: report.results.iter().filter(|m| m.record.outcome.timed().is_some()).count(),
        picked: values(problem, &picked.configuration),
        picked_seconds: timed_picked.and_then(seconds),
        fastest: fastest.map(|(_, m)| values(problem, &m.bound.configuration)),
        fastest_seconds: fastest.map(|(seconds, _)| seconds),
    }
}

/// Times the configurations of a rule at some of its sizes.
pub(super) fn run(args: &MeasureArgs, path: &str) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let (file, sizes) = RuleFile::read(path)?;
    let most = if args.all { sizes.count() } else { args.sample.unwrap_or(SIZES) };
    let (mut about, mut measured_sizes, mut stopped_by) = (None, Vec::new(), None);
    for size in chosen(sizes.count(), most, args.seed) {
        let name = sizes.name(size);
        let problem = problem_at(args, &sizes, size)?;
        let progress = Progress::new(&format!("{} at {name}", problem.name));
        let (folder, mut bounds) = (args.question.chosen.folder(), valid(&problem, &file)?);
        if !args.unverified {
            let among: Vec<_> = bounds.iter().map(|bound| bound.configuration.clone()).collect();
            Screen::new((&problem, &folder), &among, &progress).retain(&mut bounds, &progress);
        }
        let Some(picked) = picked(&problem, &bounds) else {
            progress.aside(&format!("tickbound: {name}: no configuration of the rule has a time"));
            continue;
        };
        let (plan, options) = (MeasurePlan::Listed(&bounds), args.options(&problem)?);
        let report = measured((&problem, &folder), plan, &options, &progress)?;
        stopped_by = stop::reason().map(|why| why.to_string());
        let Some(report) = report else { break };
        about.get_or_insert_with(|| (About::of(&problem), report.device.name.clone()));
        // A stop is not a failure of what was left.
        if report.stopped.is_none() || !report.ranked().is_empty() {
            measured_sizes.push(at_size(&problem, name, picked, &report));
        }
        if let Some(why) = report.stopped {
            stopped_by = Some(why.to_string());
            break;
        }
    }
    let Some((mut about, device)) = about else {
        let nothing = || format!("--rule {path}: nothing to measure at its sizes");
        return if stop::is_due() { Ok(Exit::Nothing) } else { Err(CliError::Input(nothing())) };
    };
    about.inputs.retain(|name, _| sizes.names().all(|size| size != name));
    let found = RuleMeasurement {
        about,
        rule: path.to_owned(),
        over: file.over,
        device,
        sizes: measured_sizes,
        stopped_by,
        seconds: stop::began().elapsed().as_secs_f64(),
    };
    if args.json { say_json(&found) } else { say_answer(&found.words(width())) }?;
    Ok(Exit::found(found.is_whole()))
}
