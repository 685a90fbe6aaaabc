//! Promela: one process whose labels are the states; a bit for each name is set if it fired in
//! the last step, so that LTL can speak of names (`[] (a -> !b)`).
//!
//! A state without steps is an invalid end state, which SPIN reports as a deadlock. Data are left
//! out: a step is possible for any data, so what SPIN proves for all runs holds with data too.

use std::fmt::Write;

use itertools::Itertools;
use tickbound_input::names::promela;

use super::subject::ExportSubject;
use super::words::Identifiers;
use crate::label;
use crate::symbol::NameId;

pub(super) fn write(subject: ExportSubject) -> String {
    let automaton = subject.automaton;
    let mut words = Identifiers::new(promela().chain(["connector", "Pconnector"]));
    let name = |name: &NameId| {
        let word = subject.symbols.word(name.0);
        words.of(if is_label(word) { "n_" } else { "" }, word)
    };
    let names: Vec<String> = automaton.alphabet().iter().map(name).collect();
    let mut out = format!("/* {} */\n", subject.name.replace("*/", "* /").replace('\n', " "));
    if !automaton.is_plain() {
        out.push_str("/* Data constraints are left out. */\n");
    }
    for name in &names {
        _ = writeln!(out, "bit {name};");
    }
    out.push_str("\nactive proctype connector() {\n");
    let starts = automaton.initial().iter();
    // SPIN makes a C variable of each name that is never read: `malloc`, `exit`.
    let read = names.iter().map(|name| format!("{name} == 0")).join(" && ");
    let read = if read.is_empty() { "true".to_owned() } else { read };
    let starts: Vec<String> = starts.map(|s| format!("  :: {read} -> goto S{s}\n")).collect();
    _ = write!(out, "  if\n{}  fi;\n", starts.concat());
    for state in 0..automaton.states() as u32 {
        _ = writeln!(out, "S{state}:");
        if automaton.steps(state).len() == 0 {
            out.push_str("  false;\n");
            continue;
        }
        out.push_str("  if\n");
        for step in automaton.steps(state) {
            let set = |(bit, name): (usize, &String)| {
                format!("{name} = {}", u8::from(label::has(step.label, bit)))
            };
            let all: Vec<String> = names.iter().enumerate().map(set).collect();
            let all = if all.is_empty() { "skip".to_owned() } else { all.join("; ") };
            _ = writeln!(out, "  :: d_step {{ {all} }}; goto S{}", step.to);
        }
        out.push_str("  fi;\n");
    }
    out.push_str("}\n");
    out
}

/// Whether a word is the label of a state, or becomes one.
fn is_label(word: &str) -> bool {
    let number = word.trim_matches('_').strip_prefix('S');
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}
