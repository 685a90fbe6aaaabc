//! Graphviz: states as circles, an arrow into each initial one, steps with their names.

use std::fmt::Write;

use super::subject::ExportSubject;
use crate::label;

pub(super) fn write(subject: ExportSubject) -> String {
    let automaton = subject.automaton;
    let mut out = format!("digraph {} {{\n", quoted(subject.name));
    out.push_str("  rankdir=LR;\n  node [shape=circle];\n");
    for (k, state) in automaton.initial().iter().enumerate() {
        _ = writeln!(out, "  start{k} [shape=point, label=\"\"];\n  start{k} -> {state};");
    }
    for state in 0..automaton.states() {
        _ = writeln!(out, "  {state};");
    }
    for step in automaton.all_steps() {
        let label = quoted(&text(subject, &step));
        _ = writeln!(out, "  {} -> {} [label={label}];", step.from, step.to);
    }
    out.push_str("}\n");
    out
}

/// What stands at a step: the names in brackets, below it the constraint.
fn text(subject: ExportSubject, step: &crate::automaton::Transition) -> String {
    let mut text = if label::is_silent(step.label) {
        "τ".to_owned()
    } else {
        format!("{{{}}}", subject.automaton.words_of(step, subject.symbols).join(", "))
    };
    // A line for each literal: long lines would pull the states far apart.
    for line in subject.automaton.constraint(step).lines(subject.symbols) {
        _ = write!(text, "\n{line}");
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
