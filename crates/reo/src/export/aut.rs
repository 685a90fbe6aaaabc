//! Aldebaran's `.aut`: a line with the initial state and the counts, then a line for each step.
//!
//! A label is the names that fire with `|` between, as mCRL2 writes multi-actions, and the
//! constraint in brackets where there is one; a silent step is `tau`.

use std::fmt::Write;

use super::subject::{ExportError, ExportSubject};
use crate::label;

pub(super) fn write(subject: ExportSubject) -> Result<String, ExportError> {
    let automaton = subject.automaton;
    let initial = subject.initial("Aldebaran")?;
    let (steps, states) = (automaton.transitions(), automaton.states());
    let mut out = format!("des ({initial}, {steps}, {states})\n");
    for step in automaton.all_steps() {
        let mut text = automaton.words_of(&step, subject.symbols).join("|");
        if label::is_silent(step.label) {
            text.push_str("tau");
        }
        let constraint = automaton.constraint(&step);
        if !constraint.is_true() {
            _ = write!(text, " [{}]", constraint.text(subject.symbols));
        }
        _ = writeln!(out, "({}, \"{}\", {})", step.from, text.replace('"', "'"), step.to);
    }
    Ok(out)
}
