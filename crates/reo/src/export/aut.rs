//! Aldebaran's `.aut`: a line with the initial state and the counts, then a line for each step.
//!
//! Labels are those that [`crate::aut`] reads; contents of cells at the start are left out.

use std::fmt::Write;

use super::subject::{ExportError, ExportSubject};
use crate::aut::label::text;

pub(super) fn write(subject: ExportSubject) -> Result<String, ExportError> {
    let automaton = subject.automaton;
    let initial = subject.initial("Aldebaran")?;
    let (steps, states) = (automaton.transitions(), automaton.states());
    let mut out = format!("des ({initial}, {steps}, {states})\n");
    for step in automaton.all_steps() {
        let label = text(automaton, &step, subject.symbols);
        _ = writeln!(out, "({}, \"{label}\", {})", step.from, step.to);
    }
    Ok(out)
}
