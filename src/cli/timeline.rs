//! The timeline of one configuration as a trace file.

use std::fs::File;
use std::io::BufWriter;

use tickbound_encodings::model::{Bound, Problem, Profile};
use tickbound_encodings::simulate::{Options, Span, SpanKind, simulate};

use super::CliError;
use crate::report::{TimelineSpan, write_timeline};

/// Simulates a configuration and writes its timeline; returns the number of spans and whether some
/// were left out.
///
/// # Errors
/// If the simulation or the writing fails.
pub fn write(problem: &Problem, bound: &Bound, path: &str) -> Result<(usize, bool), CliError> {
    let run = simulate(problem, bound, &Options { trace: true, ..Options::default() })?;
    let trace = run.trace.unwrap_or_default();
    let lane = if problem.profile == Profile::Published2021 { "dispatcher" } else { "element" };
    let title = format!("{} ({})", problem.name, problem.name_values(&bound.configuration));
    let file = File::create(path)
        .map_err(|error| CliError::Write { path: path.to_owned(), error })?;
    let spans = trace.spans.iter().map(|s| timeline_span(s, lane));
    let count = write_timeline(BufWriter::new(file), &title, spans)?;
    Ok((count, trace.truncated))
}

fn timeline_span(span: &Span, lane: &str) -> TimelineSpan {
    let category = match span.kind {
        SpanKind::Access(access) => access.name(),
        SpanKind::Until => "until",
        SpanKind::Barrier => "barrier",
    };
    TimelineSpan {
        process: format!("unit {}", span.unit),
        thread: format!("{lane} {}", span.element),
        name: span.label.clone(),
        category: category.to_owned(),
        start: span.start,
        end: span.end,
        args: vec![("group".into(), span.group), ("item".into(), span.item)],
    }
}
