//! The page of `tune`: what is simulated for it.

use std::sync::atomic::Ordering;

use rayon::prelude::*;
use tickbound_elimination::TableLimits;
use tickbound_model::count::count;
use tickbound_model::verdict::Status;
use tickbound_model::{Bound, Problem};
use tickbound_simulator::{SimulateError, SimulateOptions, simulate};
use tickbound_solver::{SolveError, TuneResult};

use super::exit::CliError;
use super::floor::SpaceFloor;
use super::plot::MAX_CONFIGURATIONS;
use super::{explain, stop, timeline};
use tickbound_measure::select::{Selection, select, total};
use tickbound_report::answer;
use tickbound_report::answer::resources::{Resources, SourceLine};
use tickbound_report::answer::{About, Answer, FloorAnswer, Units};
use tickbound_report::html::{
    Best, ConfigurationTable, FigureNumber, LaneChart, Measure, Page, RowFloors, SheetRow,
    SpentChart, SpentPart, Stripe, numbers_grouped,
};

/// Configurations drawn at random where there are too many to simulate them all.
const DRAWN: usize = 2_000;
/// Most events that are simulated for all of them together, which takes a minute at most.
const MAX_EVENTS: u64 = 1_000_000_000;

/// The page of a result, with the floors that were found; `seed` is what the choice of
/// configurations depends on.
///
/// # Errors
/// A configuration that was found cannot be simulated, or the space cannot be drawn from.
pub fn of(
    problem: &Problem,
    result: &TuneResult,
    floors: Option<(&SpaceFloor, &FloorAnswer)>,
    seed: u64,
) -> Result<Page, CliError> {
    let answer = answer::tune::answer(problem, result);
    let (figure, meaning) = told(&About::of(problem).units, result, &answer);
    // The bars of the terminal are a table of the page.
    let lines = answer::tune::facts(problem, result, &answer);
    let lines = lines.into_iter().map(|(name, text)| (name.trim_end_matches(':').to_owned(), text));
    let mut page = Page {
        title: answer::tune::heading(problem, result),
        figure,
        meaning,
        at: answer.configuration.iter().flatten().map(|(n, v)| (n.clone(), *v)).collect(),
        facts: lines.collect(),
        ..Page::default()
    };
    page.facts.insert(0, ("model".into(), About::of(problem).model().1));
    let words = floors.map(|(_, space)| space.words(problem, result.upper));
    page.facts.extend(words.map(|words| ("floor".to_owned(), words)));
    page.facts.extend(answer.seconds.map(|s| ("in".into(), format!("{s:.3} s"))));
    if let Some(best) = &result.best {
        let bound = problem.bind_configuration(&best.configuration)?;
        add_run(&mut page, problem, result, &answer, &bound)?;
    }
    if answer.status != Status::Infeasible && !problem.parameters.is_empty() {
        page.configurations =
            Some(configurations(problem, result, floors.map(|(of, _)| of), seed)?);
    }
    Ok(page)
}

/// The number that was requested, and what it is.
fn told(units: &Units, result: &TuneResult, answer: &Answer) -> (String, String) {
    let sought = answer::tune::sought(result);
    let lower = answer.lower;
    match (answer.status, answer.time) {
        (Status::Infeasible, _) => ("No configuration".into(), "satisfies the constraints".into()),
        (Status::Optimal, Some(time)) => {
            (units.time(time), format!("{sought}, proved in the model"))
        }
        (_, Some(time)) => {
            let range = units.range(lower, time);
            (units.time(time), format!("best so far; not proved: the {sought} is between {range}"))
        }
        (_, None) => (
            format!("At least {}", units.time(lower)),
            "nothing found, and nothing proved beyond that".into(),
        ),
    }
}

/// What the best configuration does: its timelines and where its time goes, if the profile
/// tells.
fn add_run(
    page: &mut Page,
    problem: &Problem,
    result: &TuneResult,
    answer: &Answer,
    bound: &Bound,
) -> Result<(), CliError> {
    if let Some(resources) = &answer.resources {
        page.spent = of_resources(resources);
        return Ok(());
    }
    let counts = count(problem, bound).ok().map(|counts| explain::listed(&counts));
    let counts = counts.filter(|counts| counts != "nothing");
    page.facts.extend(counts.map(|counts| ("one launch".into(), counts)));
    for (name, script) in timeline::shown(result) {
        let run = match timeline::of(problem, bound, &script) {
            Err(CliError::Solve(SolveError::Simulate(e))) if e.is_too_large() => return Ok(()),
            run => run?,
        };
        page.spent =
            page.spent.take().or_else(|| SpentChart::of(&run.spans, run.time, run.truncated));
        let heading = match name {
            None => "Timeline".to_owned(),
            Some(name) => numbers_grouped(&format!("{name}: {} ticks", run.time)),
        };
        let lanes = LaneChart::new(&run.spans, run.time, run.truncated);
        page.timelines.extend(lanes.map(|lanes| (heading, lanes)));
    }
    Ok(())
}

/// The clocks of a group under the profile `resources`.
fn of_resources(resources: &Resources) -> Option<SpentChart> {
    let most = resources.group.values().copied().fold(0.0, f64::max);
    let mut used: Vec<(&String, &f64)> =
        resources.group.iter().filter(|(_, n)| **n > 0.0).collect();
    used.sort_by(|a, b| b.1.total_cmp(a.1));
    let line = |(name, n): (&String, &f64)| {
        let kind = if *name == resources.bound_by { "global" } else { "local" };
        Stripe::new(name, kind, *n, most, 1)
    };
    let lines: Vec<Stripe> = used.into_iter().map(line).collect();
    let mut parts = vec![SpentPart { head: "resource", lines }];
    parts.extend(of_source_lines(resources));
    (most > 0.0).then(|| SpentChart {
        about: "Clocks that one group takes of each resource of a unit, for the best \
            configuration; they pass side by side, and \
                shares are of the greatest. Lines of the source: by what a group would take of the \
                resource that bounds the time \
                if it ran the line alone."
            .into(),
        unit: "clocks",
        parts,
    })
}

/// The clocks of the resource that bounds the time, by lines of the source.
fn of_source_lines(resources: &Resources) -> Option<SpentPart> {
    let clocks = *resources.group.get(&resources.bound_by)?;
    let stripe = |line: &SourceLine| {
        let name = format!("{}:{}", line.file, line.line);
        Stripe::new(&name, "global", line.share * clocks, clocks, 1)
    };
    let lines: Vec<Stripe> = resources.source_lines.iter().map(stripe).collect();
    (!lines.is_empty()).then_some(SpentPart { head: "line of the source", lines })
}

/// The configurations that are simulated for the page, and which these are.
fn shown(
    problem: &Problem,
    space: &tickbound_model::Configurations<'_>,
    result: &TuneResult,
    seed: u64,
) -> Result<(Vec<Bound>, String), CliError> {
    let interrupt = stop::flag();
    if total(space) <= MAX_CONFIGURATIONS {
        let chosen = select(problem, space, Selection::All, interrupt)?;
        let among = format!("All {} configurations, simulated.", chosen.len());
        return Ok((chosen, among));
    }
    let named = result.optima.iter().map(|found| space.bind(&found.configuration));
    let mut chosen = named.collect::<Result<Vec<_>, _>>()?;
    let known = chosen.len();
    let sample = Selection::Sample { count: DRAWN, seed };
    // A space that can neither be counted nor listed has none to draw: that spoils no answer.
    let drawn = select(problem, space, sample, interrupt).unwrap_or_default();
    let new = |b: &Bound| !chosen.iter().any(|c| c.configuration == b.configuration);
    let drawn: Vec<Bound> = drawn.into_iter().filter(new).collect();
    let of = space.count().map_or_else(
        || "Of more configurations than could be counted".to_owned(),
        |n| format!("Of {n} configurations"),
    );
    let others = match drawn.len() {
        0 => "; no others could be drawn".to_owned(),
        n => format!(" and {n} others drawn at random (--seed {seed})"),
    };
    let among = format!(
        "{of}, the {known} best that the search names (--top says how many){others}, \
         simulated. Charts show these only."
    );
    chosen.extend(drawn);
    Ok((chosen, among))
}

/// All configurations with their ticks, or those that the search names and some drawn at random.
fn configurations(
    problem: &Problem,
    result: &TuneResult,
    floors: Option<&SpaceFloor>,
    seed: u64,
) -> Result<ConfigurationTable, CliError> {
    let space = problem.configurations(&TableLimits::default())?;
    let all = total(&space);
    let (chosen, among) = shown(problem, &space, result, seed)?;
    let each = MAX_EVENTS / (chosen.len() as u64).max(1);
    let options = SimulateOptions::default();
    let options = SimulateOptions { max_events: options.max_events.min(each), ..options };
    let run = |bound: &Bound| {
        let stopped = stop::flag().load(Ordering::Relaxed);
        (!stopped).then(|| simulate(problem, bound, &options).map(|run| run.time))
    };
    let ticks: Vec<Option<Result<i64, SimulateError>>> = chosen.par_iter().map(run).collect();
    let stopped = ticks.iter().filter(|t| t.is_none()).count();
    let failed = ticks.iter().filter(|t| matches!(t, Some(Err(_)))).count();
    let simulated = chosen.iter().zip(ticks).filter_map(|(bound, ticks)| Some((bound, ticks?)));
    let (chosen, ticks): (Vec<&Bound>, Vec<_>) = simulated.unzip();
    let cut = match stopped {
        0 => String::new(),
        n => format!(" {n} of them were not, as the command was stopped."),
    };
    let without = match failed {
        0 => String::new(),
        n => format!(" {n} of them have no time; the table says why."),
    };
    let open = match problem.has_open_schedule() {
        true => " Where schedules are open, warps are started first come first served.",
        false => "",
    };
    let indifferent = result.indifferent.iter();
    let place = |name: &String| problem.parameters.iter().position(|p| p.name == *name);
    let mut table = ConfigurationTable {
        drawn: all > MAX_CONFIGURATIONS,
        indifferent: indifferent.filter_map(place).collect(),
        among: numbers_grouped(&format!("{among}{cut}{without}{open}")),
        parameters: problem.parameters.iter().map(|p| p.name.clone()).collect(),
        measures: vec![Measure { name: "ticks".into(), best: Some(Best::Least) }],
        rows: chosen.iter().zip(ticks).map(|(bound, ticks)| row(bound, ticks)).collect(),
        ..ConfigurationTable::default()
    };
    if let Some(floors) = floors {
        table.add_floors(&row_floors(problem, floors, &chosen));
    }
    table.sort();
    Ok(table)
}

/// The floors of configurations, whose ticks are the first column.
fn row_floors(problem: &Problem, floors: &SpaceFloor, chosen: &[&Bound]) -> RowFloors {
    RowFloors {
        each: chosen.iter().map(|bound| floors.at(bound)).collect(),
        space: floors.seconds(),
        ticks: About::of(problem).units.tick_microseconds.map(|length| (0, length)),
        ..RowFloors::default()
    }
}

fn row(bound: &Bound, ticks: Result<i64, SimulateError>) -> SheetRow {
    let (ticks, note) = match ticks {
        Ok(ticks) => (Some(FigureNumber::Whole(ticks)), None),
        Err(why) => (None, Some(why.to_string())),
    };
    let values = bound.configuration.0.clone();
    SheetRow { values, numbers: vec![ticks], note, ..SheetRow::default() }
}
