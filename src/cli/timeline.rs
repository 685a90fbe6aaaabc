//! The timeline of one configuration as a trace file.

use super::exit::CliError;
use std::collections::HashMap;

use tickbound_model::simulate::{Options, Span, SpanKind};
use tickbound_model::{Bound, ModelError, Problem, Profile};

use crate::report::{TimelineSpan, write_timeline};
use tickbound_model::simulate::Script;

/// Most spans of a timeline: about 25 MB of JSON, which Perfetto opens at once.
pub const MAX_SPANS: usize = 200_000;

/// Refuses `--trace` where a problem has no timeline.
///
/// # Errors
/// It was given, and there is none.
pub fn check(problem: &Problem, trace: Option<&String>) -> Result<(), CliError> {
    if trace.is_some() && problem.profile == Profile::Resources {
        let what = "the profile resources runs no items, so there is no timeline";
        return Err(ModelError::new("--trace", what, "leave it out").into());
    }
    Ok(())
}

/// What a run did.
#[derive(Debug)]
pub struct Timeline {
    /// What each element did when.
    pub spans: Vec<TimelineSpan>,
    /// There was more, which was left out.
    pub truncated: bool,
    /// When the run ends.
    pub time: i64,
}

/// Simulates a configuration under a schedule.
///
/// # Errors
/// If the simulation fails.
pub fn of(problem: &Problem, bound: &Bound, script: &Script) -> Result<Timeline, CliError> {
    let options = Options { trace: true, max_spans: MAX_SPANS, ..Options::default() };
    let run = script.run(problem, bound, &options)?;
    let time = run.as_ref().map_or(0, |run| run.time);
    let trace = run.and_then(|run| run.trace).unwrap_or_default();
    let warps = problem.profile != Profile::Published2023 && problem.platform.warps().is_some();
    let lane = if warps { "dispatcher" } else { "element" };
    let spans = without_covered_waits(&trace.spans).map(|s| timeline_span(s, lane)).collect();
    Ok(Timeline { spans, truncated: trace.truncated, time })
}

/// Simulates a configuration under a schedule and writes its timeline. Returns the number of spans,
/// and whether there were more.
///
/// # Errors
/// If the simulation or the writing fails.
pub fn write(
    problem: &Problem,
    bound: &Bound,
    script: &Script,
    path: &str,
) -> Result<(usize, bool), CliError> {
    let run = of(problem, bound, script)?;
    let title = format!("{} ({})", problem.name, problem.name_values(&bound.configuration));
    // At most some 25 MB, as few spans are kept.
    let mut text = Vec::new();
    let count = write_timeline(&mut text, &title, run.spans)?;
    tickbound_output::write(path, &text)
        .map_err(|error| CliError::Write { path: path.to_owned(), error })?;
    Ok((count, run.truncated))
}

/// Drops that an item waits at a barrier while its element still runs others, so that the spans
/// of a track follow one another: of the waits with one end, the last one to begin is the element's.
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
