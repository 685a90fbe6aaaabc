//! `tickbound measure --rule`: the configurations of a rule, timed at some of its sizes.

use serde::Deserialize;
use tickbound_measure::{MeasureError, MeasurePlan, MeasureReport, measure};
use tickbound_model::random::SplitMix64;
use tickbound_model::{Bound, Configuration, Problem};
use tickbound_report::answer::{About, MeasuredSize, RuleMeasurement, Values, values};
use tickbound_rules::RuleSizes;

use super::args::MeasureArgs;
use super::predicted::ticks;
use super::progress::MeasureProgress;
use crate::commands::exit::{CliError, Exit};
use crate::commands::load::Question;
use crate::commands::output::{say_answer, say_json, width};
use crate::commands::progress::Progress;
use crate::commands::stop;

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

/// What was measured at a size; `None` if no configuration is valid there.
fn at_size(
    problem: &Problem,
    size: String,
    (bounds, report): (&[Bound], &MeasureReport),
) -> Option<MeasuredSize> {
    let predicted = bounds.iter().filter_map(|b| Some((ticks(problem, b, &|| false)?, b)));
    let (_, picked) = predicted.min_by_key(|(ticks, _)| *ticks)?;
    let seconds = |bound: &Bound| {
        let found = report.results.iter().find(|m| m.bound.configuration == bound.configuration)?;
        let timed = found.record.outcome.timed()?;
        Some(timed.seconds_in_turns().unwrap_or(timed.seconds()))
    };
    let ranked = report.ranked();
    let fastest = ranked.first().map(|m| &m.bound);
    Some(MeasuredSize {
        size,
        timed: ranked.len(),
        picked: values(problem, &picked.configuration),
        picked_seconds: seconds(picked),
        fastest: fastest.map(|bound| values(problem, &bound.configuration)),
        fastest_seconds: fastest.and_then(seconds),
    })
}

/// Times configurations, with progress on standard error.
fn timed(
    args: &MeasureArgs,
    problem: &Problem,
    (name, bounds): (&str, &[Bound]),
) -> Result<MeasureReport, CliError> {
    let options = args.options(problem)?;
    let progress = Progress::new(&format!("{} at {name}", problem.name));
    let cache = options.cache.as_ref().map(|c| c.display().to_string());
    let mut announced = MeasureProgress::new(problem, &progress, cache.as_deref());
    let (plan, folder) = (MeasurePlan::Listed(bounds), args.question.chosen.folder());
    Ok(measure(problem, &folder, plan, &options, stop::flag(), &mut |e| announced.tell(&e))?)
}

/// Times the configurations of a rule at some of its sizes.
pub(super) fn run(args: &MeasureArgs, path: &str) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let (file, sizes) = RuleFile::read(path)?;
    let most = if args.all { sizes.count() } else { args.sample.unwrap_or(SIZES) };
    let mut found: Option<RuleMeasurement> = None;
    for size in chosen(sizes.count(), most, args.seed) {
        let name = sizes.name(size);
        let problem = problem_at(args, &sizes, size)?;
        let bounds = valid(&problem, &file)?;
        if bounds.is_empty() {
            note!("tickbound: {name}: none of the rule's configurations is valid");
            continue;
        }
        let report = timed(args, &problem, (&name, &bounds))?;
        let found = found.get_or_insert_with(|| RuleMeasurement {
            about: About::of(&problem),
            rule: path.to_owned(),
            over: file.over.clone(),
            device: report.device.name.clone(),
            sizes: Vec::new(),
            stopped_by: None,
            seconds: 0.0,
        });
        found.sizes.extend(at_size(&problem, name, (&bounds, &report)));
        found.stopped_by = report.stopped.as_ref().map(ToString::to_string);
        if found.stopped_by.is_some() {
            break;
        }
    }
    let nothing = || CliError::Input(format!("--rule {path}: nothing to measure at its sizes"));
    let mut found = found.ok_or_else(nothing)?;
    found.about.inputs.retain(|name, _| sizes.names().all(|size| size != name));
    found.seconds = stop::began().elapsed().as_secs_f64();
    if args.json { say_json(&found) } else { say_answer(&found.words(width())) }?;
    Ok(Exit::found(found.is_whole()))
}
