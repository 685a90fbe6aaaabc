//! Treo: a component with one automaton in it; where the automaton has names that the environment
//! does not see, a component that uses it and keeps them inside.
//!
//! Without data it is a work automaton (`#WA`), with its states. With data it is rule based
//! (`#RBA`): the state is a memory cell with constants, every name is signed in every rule.

use std::fmt::Write;

use super::subject::{ExportError, ExportSubject};
use super::words::Identifiers;
use crate::automaton::Transition;
use crate::constant::{LESS, OPERATORS, constant_text};
use crate::constraint::simplify::written;
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::hide::live;
use crate::label;
use crate::symbol::{Cell, NameId};

pub(super) fn write(subject: ExportSubject) -> Result<String, ExportError> {
    if subject.automaton.all_steps().any(|s| label::is_silent(s.label)) {
        return Err(ExportError::Silent);
    }
    let initial = subject.initial("Treo")?;
    let mut words = Identifiers::new(["section", "import", "true", "false", "null", "state"]);
    let all = subject.automaton.alphabet();
    let seen = |name: &&NameId| all.contains(*name);
    let seen: Vec<NameId> = subject.interface.iter().filter(seen).copied().collect();
    let rest = all.iter().filter(|name| !seen.contains(*name));
    // What the environment sees comes first, so that it keeps its names.
    let nodes: Vec<NameId> = seen.iter().chain(rest).copied().collect();
    let called: Vec<String> = nodes.iter().map(|n| words.node(subject.symbols.word(n.0))).collect();
    let end = |(name, word): (&NameId, &String)| {
        format!("{word}{}", if subject.inputs.contains(name) { '?' } else { '!' })
    };
    let ends: Vec<String> = nodes.iter().zip(&called).map(end).collect();
    let name = words.of("", subject.name);
    if seen.len() == nodes.len() {
        return Ok(format!(
            "{name}({}) {{\n{}}}\n",
            ends.join(", "),
            atom(subject, initial, &mut words)?
        ));
    }
    let steps = words.of("", &format!("{name}_steps"));
    let atom = atom(subject, initial, &mut words)?;
    let (ends, outer) = (ends.join(", "), ends[..seen.len()].join(", "));
    let used = called.join(", ");
    Ok(format!("{steps}({ends}) {{\n{atom}}}\n\n{name}({outer}) {{\n  {steps}({used})\n}}\n"))
}

/// What stands in the braces of the atom.
fn atom(
    subject: ExportSubject,
    initial: u32,
    words: &mut Identifiers,
) -> Result<String, ExportError> {
    if !subject.automaton.is_plain() {
        let mut out = String::new();
        return rules(subject, initial, words, &mut out).map(|()| out);
    }
    let mut out = String::from("  #WA\n");
    for state in 0..subject.automaton.states() as u32 {
        let mark = if state == initial { "*" } else { "" };
        for step in subject.automaton.steps(state) {
            let fire = fires(subject, &step, words).join(", ");
            _ = writeln!(out, "  q{state}{mark} -> q{} : {{{fire}}}, true, {{}}", step.to);
        }
    }
    Ok(out)
}

fn fires(subject: ExportSubject, step: &Transition, words: &mut Identifiers) -> Vec<String> {
    subject.fires(step).into_iter().map(|w| words.node(w)).collect()
}

fn rules(
    subject: ExportSubject,
    initial: u32,
    words: &mut Identifiers,
    out: &mut String,
) -> Result<(), ExportError> {
    let automaton = subject.automaton;
    _ = writeln!(out, "  #RBA\n  $state = \"q{initial}\";");
    for (cell, constant) in automaton.contents() {
        let cell = words.of("", subject.symbols.word(cell.0));
        _ = writeln!(out, "  ${cell} = {};", constant_text(subject.symbols.word(*constant)));
    }
    let live = live::cells(automaton);
    let held = |cell: &Cell| automaton.contents().iter().any(|(c, _)| c == cell);
    let unknown = |cell: &&Cell| live.is_live(**cell, initial) && !held(cell);
    // Without a word about it, a reader takes a cell to be empty.
    if let Some(cell) = automaton.cells().iter().find(unknown) {
        return Err(ExportError::Unknown(subject.symbols.word(cell.0).to_owned()));
    }
    for step in automaton.all_steps() {
        let signed = |(bit, name): (usize, &NameId)| {
            let sign = if label::has(step.label, bit) { "" } else { "~" };
            format!("{sign}{}", words.node(subject.symbols.word(name.0)))
        };
        let names: Vec<String> = automaton.alphabet().iter().enumerate().map(signed).collect();
        let moves = format!("$state = \"q{}\", $state' = \"q{}\"", step.from, step.to);
        let mut condition = literals(subject, automaton.constraint(&step), words)?;
        // A reader that tells empty cells from full ones must not find states that differ in
        // nothing else: what nobody will read is empty.
        let constraint = automaton.constraint(&step);
        let written = written(constraint);
        // What may be anything is not to be read as nothing.
        for cell in written.iter().filter(|cell| !is_given(constraint, **cell)) {
            let cell = words.of("", subject.symbols.word(cell.0));
            _ = write!(condition, ", ${cell}' != null");
        }
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

/// Whether an equation says what a cell holds after a step, and not only that two cells hold the
/// same.
fn is_given(constraint: &DataConstraint, cell: Cell) -> bool {
    constraint.literals().iter().any(|literal| match literal {
        Literal::Equal(DataTerm::After(_), DataTerm::After(_)) => false,
        Literal::Equal(a, b) => [a, b].contains(&&DataTerm::After(cell)),
        Literal::Different(..) | Literal::Predicate(..) => false,
    })
}

fn literals(
    subject: ExportSubject,
    constraint: &DataConstraint,
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
                let (p, all) = (subject.symbols.word(*p), list(subject, terms, words)?);
                match &all[..] {
                    [a, b] if p == LESS => format!("{a} {} {b}", if *holds { LESS } else { ">=" }),
                    _ => {
                        let sign = if *holds { "" } else { "!" };
                        format!("{sign}{}({})", words.function(p), all.join(", "))
                    }
                }
            }
        };
        _ = write!(out, ", {text}");
    }
    Ok(out)
}

fn term(
    subject: ExportSubject,
    term: &DataTerm,
    words: &mut Identifiers,
) -> Result<String, ExportError> {
    let mut cell = |c: &Cell| words.of("", subject.symbols.word(c.0));
    Ok(match term {
        DataTerm::Constant(_) => term.text(subject.symbols),
        DataTerm::Datum(name) => words.node(subject.symbols.word(name.0)),
        DataTerm::Before(c) => format!("${}", cell(c)),
        DataTerm::After(c) => format!("${}'", cell(c)),
        DataTerm::Some(_) => return Err(ExportError::Nameless),
        DataTerm::Call(f, terms) => {
            let (f, all) = (subject.symbols.word(*f), list(subject, terms, words)?);
            match &all[..] {
                [one] if f == "-" => format!("(-{one})"),
                [a, b] if OPERATORS.contains(&f) => format!("({a} {f} {b})"),
                _ => format!("{}({})", words.function(f), all.join(", ")),
            }
        }
    })
}

fn list(
    subject: ExportSubject,
    terms: &[DataTerm],
    words: &mut Identifiers,
) -> Result<Vec<String>, ExportError> {
    terms.iter().map(|t| term(subject, t, words)).collect()
}
