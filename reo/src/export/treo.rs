//! Treo: a component with one automaton in it.
//!
//! Without data it is a work automaton (`#WA`), with its states. With data it is rule based (`#RBA`):
//! the state is a memory cell with constants, every name is signed in every rule.

use std::fmt::Write;

use itertools::Itertools;

use super::subject::{ExportError, Subject};
use super::words::Identifiers;
use crate::automaton::Step;
use crate::constraint::simplify::written;
use crate::constraint::{Constraint, Literal, Term};
use crate::hide::live;
use crate::label;
use crate::symbol::Cell;

pub(super) fn write(subject: Subject<'_>) -> Result<String, ExportError> {
    if subject.automaton.all_steps().any(|s| label::is_silent(s.label)) {
        return Err(ExportError::Silent);
    }
    let initial = subject.initial("Treo")?;
    let mut words = Identifiers::new(&["section", "import", "true", "false", "null"]);
    let names = interface(subject, &mut words);
    let mut out = format!("{}({names}) {{\n", words.of("", subject.name));
    if subject.automaton.is_plain() {
        out.push_str("  #WA\n");
        for state in 0..subject.automaton.states() as u32 {
            let mark = if state == initial { "*" } else { "" };
            for step in subject.automaton.steps(state) {
                let fire = fires(subject, &step, &mut words).join(", ");
                _ = writeln!(out, "  q{state}{mark} -> q{} : {{{fire}}}, true, {{}}", step.to);
            }
        }
    } else {
        rules(subject, initial, &mut words, &mut out)?;
    }
    out.push_str("}\n");
    Ok(out)
}

fn interface(subject: Subject<'_>, words: &mut Identifiers) -> String {
    let end = |name: &crate::symbol::Name| {
        let mark = if subject.inputs.contains(name) { '?' } else { '!' };
        format!("{}{mark}", words.of("", subject.symbols.word(name.0)))
    };
    subject.automaton.alphabet().iter().map(end).join(", ")
}

fn fires(subject: Subject<'_>, step: &Step<'_>, words: &mut Identifiers) -> Vec<String> {
    subject.fires(step).into_iter().map(|w| words.of("", w)).collect()
}

fn rules(
    subject: Subject<'_>,
    initial: u32,
    words: &mut Identifiers,
    out: &mut String,
) -> Result<(), ExportError> {
    let automaton = subject.automaton;
    _ = writeln!(out, "  #RBA\n  $state = \"q{initial}\";");
    for (cell, constant) in automaton.contents() {
        let cell = words.of("", subject.symbols.word(cell.0));
        _ = writeln!(out, "  ${cell} = {:?};", subject.symbols.word(*constant));
    }
    let live = live::cells(automaton);
    for step in automaton.all_steps() {
        let signed = |(bit, name): (usize, &crate::symbol::Name)| {
            let sign = if label::has(step.label, bit) { "" } else { "~" };
            format!("{sign}{}", words.of("", subject.symbols.word(name.0)))
        };
        let names: Vec<String> = automaton.alphabet().iter().enumerate().map(signed).collect();
        let moves = format!("$state = \"q{}\", $state' = \"q{}\"", step.from, step.to);
        let mut condition = literals(subject, automaton.constraint(&step), words)?;
        // A reader that tells empty cells from full ones must not find states that differ in
        // nothing else: what nobody will read is empty.
        let written = written(automaton.constraint(&step));
        for cell in automaton.cells() {
            if !written.contains(cell) && !live.is_live(*cell, step.to) {
                let cell = words.of("", subject.symbols.word(cell.0));
                _ = write!(condition, ", ${cell}' = null");
            }
        }
        _ = writeln!(out, "  {{{}}} {moves}{condition}", names.join(", "));
    }
    Ok(())
}

fn literals(
    subject: Subject<'_>,
    constraint: &Constraint,
    words: &mut Identifiers,
) -> Result<String, ExportError> {
    let mut out = String::new();
    for literal in constraint.literals() {
        let text = match literal {
            Literal::Equal(a, b) => {
                format!("{} = {}", term(subject, a, words)?, term(subject, b, words)?)
            }
            Literal::Different(a, b) => {
                format!("{} != {}", term(subject, a, words)?, term(subject, b, words)?)
            }
            Literal::Predicate(holds, p, terms) => {
                let sign = if *holds { "" } else { "!" };
                format!("{sign}{}({})", subject.symbols.word(*p), list(subject, terms, words)?)
            }
        };
        _ = write!(out, ", {text}");
    }
    Ok(out)
}

fn term(subject: Subject<'_>, term: &Term, words: &mut Identifiers) -> Result<String, ExportError> {
    let mut cell = |c: &Cell| words.of("", subject.symbols.word(c.0));
    Ok(match term {
        Term::Constant(_) => term.text(subject.symbols),
        Term::Datum(name) => words.of("", subject.symbols.word(name.0)),
        Term::Before(c) => format!("${}", cell(c)),
        Term::After(c) => format!("${}'", cell(c)),
        Term::Some(_) => return Err(ExportError::Nameless),
        Term::Call(f, terms) => {
            format!("{}({})", subject.symbols.word(*f), list(subject, terms, words)?)
        }
    })
}

fn list(
    subject: Subject<'_>,
    terms: &[Term],
    words: &mut Identifiers,
) -> Result<String, ExportError> {
    let all: Result<Vec<String>, _> = terms.iter().map(|t| term(subject, t, words)).collect();
    Ok(all?.join(", "))
}
