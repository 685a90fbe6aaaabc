//! Treo: a component with one automaton in it; where the automaton has names that the environment
//! does not see, a component that uses it and keeps them inside.
//!
//! Without data it is a work automaton (`#WA`), with its states. With data it is rule based
//! (`#RBA`): the state is a memory cell with constants, every name is signed in every rule.

use std::fmt::Write;

use itertools::Itertools;

use super::subject::{ExportError, ExportSubject};
use super::words::Identifiers;
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
    let words = Identifiers::new(["section", "import", "true", "false", "null", "state"]);
    let mut writer = Writer { subject, words };
    let all = subject.automaton.alphabet();
    let seen = |name: &&NameId| all.contains(*name);
    let seen: Vec<NameId> = subject.interface.iter().filter(seen).copied().collect();
    let rest = all.iter().filter(|name| !seen.contains(*name));
    // What the environment sees comes first, so that it keeps its names.
    let nodes: Vec<NameId> = seen.iter().chain(rest).copied().collect();
    let called: Vec<String> = nodes.iter().map(|n| writer.node(*n)).collect();
    let end = |(name, word): (&NameId, &String)| {
        format!("{word}{}", if subject.inputs.contains(name) { '?' } else { '!' })
    };
    let ends: Vec<String> = nodes.iter().zip(&called).map(end).collect();
    let name = writer.words.of("", subject.name);
    if seen.len() == nodes.len() {
        return Ok(format!("{name}({}) {{\n{}}}\n", ends.join(", "), writer.atom(initial)?));
    }
    let steps = writer.words.of("", &format!("{name}_steps"));
    let atom = writer.atom(initial)?;
    let (ends, outer) = (ends.join(", "), ends[..seen.len()].join(", "));
    let used = called.join(", ");
    Ok(format!("{steps}({ends}) {{\n{atom}}}\n\n{name}({outer}) {{\n  {steps}({used})\n}}\n"))
}

struct Writer<'a> {
    subject: ExportSubject<'a>,
    words: Identifiers,
}

impl Writer<'_> {
    fn node(&mut self, name: NameId) -> String {
        self.words.node(self.subject.symbols.word(name.0))
    }

    fn cell(&mut self, cell: Cell) -> String {
        self.words.of("", self.subject.symbols.word(cell.0))
    }

    /// What is in the braces of the atom.
    fn atom(&mut self, initial: u32) -> Result<String, ExportError> {
        let automaton = self.subject.automaton;
        if !automaton.is_plain() {
            return self.rules(initial);
        }
        let mut out = String::from("  #WA\n");
        for state in 0..automaton.states() as u32 {
            let mark = if state == initial { "*" } else { "" };
            for step in automaton.steps(state) {
                let fires = automaton.fires(&step).map(|name| self.node(name)).join(", ");
                _ = writeln!(out, "  q{state}{mark} -> q{} : {{{fires}}}, true, {{}}", step.to);
            }
        }
        Ok(out)
    }

    fn rules(&mut self, initial: u32) -> Result<String, ExportError> {
        let (automaton, symbols) = (self.subject.automaton, self.subject.symbols);
        let mut out = format!("  #RBA\n  $state = \"q{initial}\";\n");
        for (cell, constant) in automaton.contents() {
            let constant = constant_text(symbols.word(*constant));
            _ = writeln!(out, "  ${} = {constant};", self.cell(*cell));
        }
        let live = live::cells(automaton);
        let held = |cell: &Cell| automaton.contents().iter().any(|(c, _)| c == cell);
        let unknown = |cell: &&Cell| live.is_live(**cell, initial) && !held(cell);
        // Without a word about it, a reader takes a cell to be empty.
        if let Some(cell) = automaton.cells().iter().find(unknown) {
            return Err(ExportError::Unknown(symbols.word(cell.0).to_owned()));
        }
        for step in automaton.all_steps() {
            let signed = |(bit, name): (usize, &NameId)| {
                let sign = if label::has(step.label, bit) { "" } else { "~" };
                format!("{sign}{}", self.node(*name))
            };
            let names = automaton.alphabet().iter().enumerate().map(signed).join(", ");
            let moves = format!("$state = \"q{}\", $state' = \"q{}\"", step.from, step.to);
            let constraint = automaton.constraint(&step);
            let mut condition = self.literals(constraint)?;
            // A reader that distinguishes empty cells must not find states that differ in
            // nothing else: what nothing will read is empty.
            let written = written(constraint);
            // What may be anything is not to be read as nothing.
            for cell in written.iter().filter(|cell| !is_given(constraint, **cell)) {
                _ = write!(condition, ", ${}' != null", self.cell(*cell));
            }
            for cell in automaton.cells() {
                if !written.contains(cell) && !live.is_live(*cell, step.to) {
                    _ = write!(condition, ", ${}' = null", self.cell(*cell));
                }
            }
            _ = writeln!(out, "  {{{names}}} {moves}{condition}");
        }
        Ok(out)
    }

    fn literals(&mut self, constraint: &DataConstraint) -> Result<String, ExportError> {
        let mut out = String::new();
        for literal in constraint.literals() {
            let text = match literal {
                Literal::Equal(a, b) => format!("{} = {}", self.term(a)?, self.term(b)?),
                Literal::Different(a, b) => format!("{} != {}", self.term(a)?, self.term(b)?),
                Literal::Predicate(holds, p, terms) => {
                    let (p, all) = (self.subject.symbols.word(*p), self.terms(terms)?);
                    let [less, sign] = if *holds { [LESS, ""] } else { [">=", "!"] };
                    match &all[..] {
                        [a, b] if p == LESS => format!("{a} {less} {b}"),
                        _ => format!("{sign}{}({})", self.words.function(p), all.join(", ")),
                    }
                }
            };
            _ = write!(out, ", {text}");
        }
        Ok(out)
    }

    fn term(&mut self, term: &DataTerm) -> Result<String, ExportError> {
        Ok(match term {
            DataTerm::Constant(_) => term.text(self.subject.symbols),
            DataTerm::Datum(name) => self.node(*name),
            DataTerm::Before(c) => format!("${}", self.cell(*c)),
            DataTerm::After(c) => format!("${}'", self.cell(*c)),
            DataTerm::Some(_) => return Err(ExportError::Nameless),
            DataTerm::Call(f, terms) => {
                let (f, all) = (self.subject.symbols.word(*f), self.terms(terms)?);
                match &all[..] {
                    [one] if f == "-" => format!("(-{one})"),
                    [a, b] if OPERATORS.contains(&f) => format!("({a} {f} {b})"),
                    _ => format!("{}({})", self.words.function(f), all.join(", ")),
                }
            }
        })
    }

    fn terms(&mut self, terms: &[DataTerm]) -> Result<Vec<String>, ExportError> {
        terms.iter().map(|t| self.term(t)).collect()
    }
}

/// Whether an equation gives what a cell holds after a step, other than another new content.
fn is_given(constraint: &DataConstraint, cell: Cell) -> bool {
    constraint.literals().iter().any(|literal| match literal {
        Literal::Equal(DataTerm::After(_), DataTerm::After(_)) => false,
        Literal::Equal(a, b) => [a, b].contains(&&DataTerm::After(cell)),
        Literal::Different(..) | Literal::Predicate(..) => false,
    })
}
