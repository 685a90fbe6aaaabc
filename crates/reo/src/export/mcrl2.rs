//! An mCRL2 specification: one process for each state, with the memory cells as parameters.
//!
//! A step is a multi-action of the names that fire, each with its datum, summed over the data, the
//! changed cells and the values without a name. Of the sort `Data` only the constants are known;
//! functions and predicates are declared and not defined. Cells begin with their contents, or with
//! `nothing`.

use std::fmt::Write;

use itertools::Itertools;

use super::subject::ExportSubject;
use super::words::Identifiers;
use crate::automaton::Transition;
use crate::constraint::simplify::written;
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::symbol::SymbolId;

const RESERVED: [&str; 40] = [
    "act", "allow", "block", "comm", "cons", "delay", "div", "else", "end", "eqn", "exists",
    "forall", "glob", "hide", "if", "in", "init", "lambda", "map", "mod", "mu", "nu", "pbes",
    "proc", "rename", "sort", "struct", "sum", "tau", "true", "false", "val", "var", "whr",
    "yaled", "Data", "nothing", "delta", "nil", "dist",
];

pub(super) fn write(subject: ExportSubject) -> String {
    let mut writer =
        Writer { subject, words: Identifiers::new(RESERVED), plain: subject.automaton.is_plain() };
    let processes = writer.processes();
    let init = writer.init();
    format!("% {}\n{}{processes}\n{init}", subject.name.replace('\n', " "), writer.declarations())
}

struct Writer<'a> {
    subject: ExportSubject<'a>,
    words: Identifiers,
    plain: bool,
}

impl Writer<'_> {
    fn word(&mut self, prefix: &str, symbol: SymbolId) -> String {
        self.words.of(prefix, self.subject.symbols.word(symbol))
    }

    fn declarations(&mut self) -> String {
        let automaton = self.subject.automaton;
        let mut out = String::new();
        if !self.plain {
            let (mut constants, mut maps) = (Vec::new(), Vec::new());
            for literal in automaton.constraints().iter().flat_map(|c| c.literals()) {
                self.declare(literal, &mut constants, &mut maps);
            }
            constants.extend(automaton.contents().iter().map(|(_, c)| self.word("c_", *c)));
            constants.extend(["nothing".to_owned(), "something".to_owned()]);
            let constants = constants.into_iter().sorted().dedup().join(" | ");
            let maps = maps.into_iter().sorted().dedup().join(";\n    ");
            _ = writeln!(out, "sort Data = struct {constants};");
            if !maps.is_empty() {
                _ = writeln!(out, "map {maps};");
            }
        }
        let names: Vec<String> = automaton.alphabet().iter().map(|n| self.word("", n.0)).collect();
        if !names.is_empty() {
            let sort = if self.plain { "" } else { ": Data" };
            _ = writeln!(out, "act {}{sort};", names.join(", "));
        }
        out
    }

    fn declare(&mut self, literal: &Literal, constants: &mut Vec<String>, maps: &mut Vec<String>) {
        if let Literal::Predicate(_, p, terms) = literal {
            maps.push(self.map("p_", *p, terms.len(), "Bool"));
        }
        let mut terms: Vec<&DataTerm> = literal.terms().collect();
        while let Some(term) = terms.pop() {
            match term {
                DataTerm::Constant(c) => constants.push(self.word("c_", *c)),
                DataTerm::Call(f, arguments) => {
                    maps.push(self.map("f_", *f, arguments.len(), "Data"));
                    terms.extend(&arguments[..]);
                }
                _ => {}
            }
        }
    }

    fn map(&mut self, prefix: &str, symbol: SymbolId, n: usize, to: &str) -> String {
        let word = self.word(&format!("{prefix}{n}_"), symbol);
        let from = vec!["Data"; n].join(" # ");
        if n == 0 { format!("{word}: {to}") } else { format!("{word}: {from} -> {to}") }
    }

    fn processes(&mut self) -> String {
        let automaton = self.subject.automaton;
        let cells = if self.plain { &[] } else { automaton.cells() };
        let head = list(cells.iter().map(|c| format!("{}: Data", self.word("m_", c.0))).collect());
        let mut out = String::new();
        for state in 0..automaton.states() as u32 {
            let steps: Vec<String> = automaton.steps(state).map(|s| self.step(&s)).collect();
            let body = if steps.is_empty() { "delta".into() } else { steps.join("\n  + ") };
            _ = writeln!(out, "proc P{state}{head} =\n    {body};");
        }
        out
    }

    fn step(&mut self, step: &Transition) -> String {
        let automaton = self.subject.automaton;
        let constraint = automaton.constraint(step);
        let fire: Vec<_> = automaton.fires(step).collect();
        let mut summed: Vec<String> = Vec::new();
        let mut actions = Vec::new();
        for name in fire {
            let action = self.word("", name.0);
            if self.plain {
                actions.push(action);
            } else {
                let datum = self.word("d_", name.0);
                actions.push(format!("{action}({datum})"));
                summed.push(datum);
            }
        }
        let action = if actions.is_empty() { "tau".into() } else { actions.join("|") };
        if self.plain {
            return format!("{action} . P{}", step.to);
        }
        let changed = written(constraint);
        summed.extend(changed.iter().map(|c| self.word("after_", c.0)));
        constraint.visit(|t| {
            if let DataTerm::Some(k) = t
                && !summed.contains(&format!("some_{k}"))
            {
                summed.push(format!("some_{k}"));
            }
        });
        let prefix = |c| if changed.contains(c) { "after_" } else { "m_" };
        let next = list(automaton.cells().iter().map(|c| self.word(prefix(c), c.0)).collect());
        let sum = match &summed[..] {
            [] => String::new(),
            all => format!("sum {}: Data . ", all.join(", ")),
        };
        format!("{sum}({}) -> {action} . P{}{next}", self.condition(constraint), step.to)
    }

    fn condition(&mut self, constraint: &DataConstraint) -> String {
        let text = |literal: &Literal| match literal {
            Literal::Equal(a, b) => format!("{} == {}", self.term(a), self.term(b)),
            Literal::Different(a, b) => format!("{} != {}", self.term(a), self.term(b)),
            Literal::Predicate(holds, p, terms) => {
                let sign = if *holds { "" } else { "!" };
                format!("{sign}{}", self.call("p_", *p, terms))
            }
        };
        let all: Vec<String> = constraint.literals().iter().map(text).collect();
        if all.is_empty() { "true".into() } else { all.join(" && ") }
    }

    fn call(&mut self, prefix: &str, symbol: SymbolId, terms: &[DataTerm]) -> String {
        let word = self.word(&format!("{prefix}{}_", terms.len()), symbol);
        word + &list(terms.iter().map(|t| self.term(t)).collect())
    }

    fn term(&mut self, term: &DataTerm) -> String {
        match term {
            DataTerm::Constant(c) => self.word("c_", *c),
            DataTerm::Datum(name) => self.word("d_", name.0),
            DataTerm::Before(cell) => self.word("m_", cell.0),
            DataTerm::After(cell) => self.word("after_", cell.0),
            DataTerm::Some(k) => format!("some_{k}"),
            DataTerm::Call(f, terms) => self.call("f_", *f, terms),
        }
    }

    fn init(&mut self) -> String {
        let automaton = self.subject.automaton;
        let cells = if self.plain { &[] } else { automaton.cells() };
        let value = |cell| match automaton.contents().iter().find(|(c, _)| c == cell) {
            Some((_, constant)) => self.word("c_", *constant),
            None => "nothing".to_owned(),
        };
        let with = list(cells.iter().map(value).collect());
        let starts: Vec<String> =
            automaton.initial().iter().map(|s| format!("P{s}{with}")).collect();
        let body = match &starts[..] {
            [] => "delta".to_owned(),
            [one] => one.clone(),
            several => several.iter().map(|s| format!("tau . {s}")).join(" + "),
        };
        format!("init {body};\n")
    }
}

/// In brackets, if there is anything.
fn list(all: Vec<String>) -> String {
    if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
}
