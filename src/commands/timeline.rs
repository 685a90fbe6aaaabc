//! The timelines of one configuration as a trace file: one run, or the best and the worst schedule
//! side by side.

use super::exit::CliError;
use super::output::written;
use std::collections::HashMap;
use std::path::Path;

use tickbound_input::message::grouped;
use tickbound_model::{Bound, ModelError, Problem, Profile};
use tickbound_simulator::{SimulateOptions, Span, SpanKind};

use tickbound_report::html::LaneChart;
use tickbound_report::picture::is_picture;
use tickbound_report::{Runs, TimelineSpan, write_timeline};
use tickbound_simulator::Script;
use tickbound_solver::{Objective, TuneResult};

/// Most spans of a timeline: about 25 MB of JSON, which Perfetto opens at once.
pub const MAX_SPANS: usize = 200_000;

/// Refuses `--trace` where a problem has no timeline, and a name that states something else than
/// what [`write`] would put there.
///
/// # Errors
/// It was given, and there is none; or the name's extension is of neither a picture nor a trace
/// file.
pub fn check(problem: &Problem, trace: Option<&String>) -> Result<(), CliError> {
    let Some(path) = trace.map(Path::new) else { return Ok(()) };
    let named = path.extension().is_some_and(|e| !e.eq_ignore_ascii_case("json"));
    if named && !is_picture(path) {
        let [svg, png, json] = ["svg", "png", "json"].map(|e| path.with_extension(e));
        let (path, svg, png, json) = (path.display(), svg.display(), png.display(), json.display());
        let why = format!("timelines are .svg, .png or .json; name it {svg}, {png} or {json}");
        return Err(CliError::Input(format!("--trace {path}: {why}")));
    }
    if problem.profile == Profile::Resources {
        let what = "the profile resources runs no items, so there is no timeline";
        return Err(ModelError::new("--trace", what, "leave it out").into());
    }
    Ok(())
}

/// What a run did.
#[derive(Debug)]
pub struct Timeline {
    /// What each element did when, or each dispatcher.
    pub spans: Vec<TimelineSpan>,
    /// What each warp did and waited for when; empty where the schedule is not open.
    pub warps: Vec<TimelineSpan>,
    /// There was more, which was left out.
    pub truncated: bool,
    /// When the run ends.
    pub time: i64,
}

/// A schedule to be shown, with its name if there are several.
pub type Shown = (Option<&'static str>, Script);

/// The schedules of a result that are shown: both ends where they are known, that of the answer
/// first.
pub fn shown(result: &TuneResult) -> Vec<Shown> {
    let Some(schedule) = &result.schedule else { return vec![(None, Script::default())] };
    let Some((best, worst)) = schedule.ends.clone() else {
        return vec![(None, schedule.script.clone())];
    };
    let mut runs = vec![(Some("Best schedule"), best), (Some("Worst schedule"), worst)];
    if result.objective != Objective::Best {
        runs.reverse();
    }
    runs
}

/// Simulates a configuration under a schedule.
///
/// # Errors
/// If the simulation fails.
pub fn of(problem: &Problem, bound: &Bound, script: &Script) -> Result<Timeline, CliError> {
    let options =
        SimulateOptions { trace: true, max_spans: MAX_SPANS, ..SimulateOptions::default() };
    let run = script.run(problem, bound, &options)?;
    let time = run.as_ref().map_or(0, |run| run.time);
    let trace = run.and_then(|run| run.trace).unwrap_or_default();
    let warps = problem.profile != Profile::Published2023 && problem.platform.warps().is_some();
    let lane = if warps { "dispatcher" } else { "element" };
    let spans = without_covered_waits(&trace.spans).map(|s| timeline_span(s, lane)).collect();
    let width = problem.platform.warps().map_or(1, |warps| warps.width);
    let open = if problem.has_open_schedule() { trace.spans.as_slice() } else { &[] };
    let warps = open.iter().chain(&trace.waits).map(|s| warp_span(s, width)).collect();
    Ok(Timeline { spans, warps, truncated: trace.truncated, time })
}

/// Simulates a configuration under the schedules and writes their timelines into one file, which a
/// line on standard error states: a picture if its name is one, else a trace file.
///
/// # Errors
/// If a simulation or the writing fails.
pub fn write(problem: &Problem, bound: &Bound, runs: &[Shown], path: &str) -> Result<(), CliError> {
    if is_picture(Path::new(path)) {
        written(&picture(problem, bound, runs)?.write(path)?);
        return Ok(());
    }
    let (spans, truncated) = trace(problem, bound, runs, path)?;
    let note = if truncated { ", the first of many" } else { "" };
    note!("tickbound: {path}: {spans} spans{note}; open it in Perfetto");
    Ok(())
}

/// The timelines, those of dispatchers or elements above those of warps.
fn picture(problem: &Problem, bound: &Bound, shown: &[Shown]) -> Result<Runs, CliError> {
    let mut runs = Vec::new();
    for (name, script) in shown {
        let run = of(problem, bound, script)?;
        let rest = if run.truncated { "; only the beginning is drawn" } else { "" };
        let ticks = format!("{} ticks{rest}", grouped(run.time));
        let heading = name.map_or_else(|| ticks.clone(), |name| format!("{name}: {ticks}"));
        let lanes = [&run.spans, &run.warps].map(|s| LaneChart::new(s, run.time, run.truncated));
        let headings = [heading, name.map_or("Warps".to_owned(), |name| format!("{name}, warps"))];
        runs.extend(headings.into_iter().zip(lanes).filter_map(|(of, lanes)| Some((of, lanes?))));
    }
    Ok(Runs { title: title(problem, bound), runs })
}

/// What is shown.
fn title(problem: &Problem, bound: &Bound) -> String {
    format!("{} ({})", problem.name, problem.name_values(&bound.configuration))
}

/// Writes a trace file. Returns the number of spans, and whether there were more.
fn trace(
    problem: &Problem,
    bound: &Bound,
    runs: &[Shown],
    path: &str,
) -> Result<(usize, bool), CliError> {
    let (mut spans, mut truncated) = (Vec::new(), false);
    for (name, script) in runs {
        let run = of(problem, bound, script)?;
        truncated |= run.truncated;
        let whose = name.map_or_else(String::new, |name| format!("{name}, "));
        spans.extend(run.spans.into_iter().chain(run.warps).map(|mut span| {
            span.process.insert_str(0, &whose);
            span
        }));
    }
    // At most some 100 MB, as few spans are kept.
    let mut text = Vec::new();
    let count = write_timeline(&mut text, &title(problem, bound), spans)?;
    tickbound_os::output::write(path, &text)
        .map_err(|error| CliError::Write { path: path.to_owned(), error })?;
    Ok((count, truncated))
}

/// Drops that an item waits at a barrier while its element still runs others, so that the spans
/// of a track follow one another: of the waits with one end, the last one to begin is the
/// element's.
fn without_covered_waits(spans: &[Span]) -> impl Iterator<Item = &Span> {
    let is_wait = |s: &Span| matches!(s.kind, SpanKind::Barrier);
    let release = |s: &Span| (s.unit, s.element, s.end);
    let mut own: HashMap<(i64, i64, i64), (i64, usize)> = HashMap::new();
    for (i, s) in spans.iter().enumerate().filter(|(_, s)| is_wait(s)) {
        let last = own.entry(release(s)).or_default();
        *last = (s.start, i).max(*last);
    }
    let kept = move |i: usize, s: &Span| !is_wait(s) || own.get(&release(s)) == Some(&(s.start, i));
    spans.iter().enumerate().filter(move |(i, s)| kept(*i, s)).map(|(_, s)| s)
}

fn timeline_span(span: &Span, lane: &str) -> TimelineSpan {
    TimelineSpan {
        process: format!("unit {}", span.unit),
        thread: format!("{lane} {}", span.element),
        name: span.label.clone(),
        category: span.kind.name().to_owned(),
        start: span.start,
        end: span.end,
        args: vec![("group".into(), span.group), ("item".into(), span.item)],
    }
}

/// On a track of the warp's own, beside those of the dispatchers.
fn warp_span(span: &Span, width: i64) -> TimelineSpan {
    TimelineSpan {
        process: format!("warps of unit {}", span.unit),
        thread: format!("warp {} of group {}", span.item / width, span.group),
        ..timeline_span(span, "dispatcher")
    }
}

#[cfg(test)]
mod tests {
    use super::{Problem, check};
    use indexmap::IndexMap;
    use tickbound_model::platforms;

    #[test]
    fn the_name_of_a_timeline_says_what_it_is() {
        let text = include_str!("../../examples/problems/abstract.json");
        let problem =
            Problem::from_json(text, &IndexMap::new(), &platforms::find).expect("a problem");
        let checked =
            |name: &str| check(&problem, Some(&name.to_owned())).map_err(|e| e.to_string());
        for name in ["run.svg", "run.PNG", "run.json", "run.JSON", "run", "/dev/stdout"] {
            assert_eq!(checked(name), Ok(()), "{name}");
        }
        for name in ["run.pdf", "run.v2", "run.json.gz"] {
            let said = checked(name).expect_err(name);
            let why = format!("--trace {name}: timelines are .svg, .png or .json; name it run");
            assert!(said.starts_with(&why), "{said}");
        }
    }
}
