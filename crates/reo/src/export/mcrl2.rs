//! An mCRL2 specification, of an automaton or of the parts of a connector.
//!
//! There is a process for each state, with the memory cells as parameters. A step is a
//! multi-action of the names that fire, each with its datum, summed over the data, changed cells
//! and the values without a name. Of the sort `Data` only the constants are known; functions and
//! predicates are declared and not defined. Cells begin with their contents, or with `nothing`.
//!
//! In a network each part has another action for a name that they share. Parts are added one by
//! one: once all that have a name are in, `comm` makes one action of theirs, and `block` forbids
//! every multi-action in which some of them are left over. So a name fires in all of its parts or
//! in none, and the multi-actions are those of the product; `allow` would have to list them.

use std::fmt::Write;

use indexmap::IndexMap;
use itertools::Itertools;

use super::subject::{ExportError, ExportSubject};
use super::words::Identifiers;
use crate::automaton::{Automaton, Transition};
use crate::connector::Connector;
use crate::constraint::simplify::written;
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::symbol::{NameId, SymbolId, Symbols};

const RESERVED: [&str; 40] = [
    "act", "allow", "block", "comm", "cons", "delay", "div", "else", "end", "eqn", "exists",
    "forall", "glob", "hide", "if", "in", "init", "lambda", "map", "mod", "mu", "nu", "pbes",
    "proc", "rename", "sort", "struct", "sum", "tau", "true", "false", "val", "var", "whr",
    "yaled", "Data", "nothing", "delta", "nil", "dist",
];

pub(super) fn write(subject: ExportSubject) -> String {
    let automaton = subject.automaton;
    let mut writer = Writer::new(subject.symbols, &[automaton]);
    writer.actions = automaton.alphabet().iter().map(|n| (*n, writer.action(*n))).collect();
    let processes = writer.processes(automaton, "P");
    let begin = writer.begin(automaton, "P");
    let actions: Vec<String> = writer.actions.values().cloned().collect();
    let declarations = writer.declarations(&[automaton], &actions);
    format!("{}{declarations}{processes}\ninit {begin};\n", title(subject.name))
}

/// The parts of a connector as mCRL2 processes that communicate, with `hidden` names hidden; no
/// product is made. A silent step of a part may happen together with a step of others.
///
/// # Errors
/// A part without exactly one initial state.
pub fn mcrl2_network(connector: &Connector, hidden: &[NameId]) -> Result<String, ExportError> {
    let parts: Vec<&Automaton> = connector.parts.iter().map(|part| &part.automaton).collect();
    if let Some(part) = parts.iter().find(|part| part.initial().len() != 1) {
        return Err(ExportError::Initial(part.initial().len(), "each part of a network"));
    }
    let mut writer = Writer::new(&connector.symbols, &parts);
    // For each name its action, how many parts have it, and the actions of those that are in.
    let mut names: IndexMap<NameId, (String, usize, Vec<String>)> = IndexMap::new();
    for name in parts.iter().flat_map(|part| part.alphabet()) {
        names.entry(*name).or_insert_with(|| (writer.action(*name), 0, Vec::new())).1 += 1;
    }
    let (mut processes, mut network) = (String::new(), String::new());
    let mut actions: Vec<String> = names.values().map(|(action, ..)| action.clone()).collect();
    for (k, part) in (1..).zip(&parts) {
        let mut complete = Vec::new();
        for name in part.alphabet() {
            let (action, parts, own) = &mut names[name];
            writer.actions.insert(*name, action.clone());
            if *parts > 1 {
                own.push(writer.words.fresh(&format!("{action}_"), &k.to_string()));
                actions.extend(own.last().cloned());
                writer.actions.insert(*name, own[own.len() - 1].clone());
                complete.extend((own.len() == *parts).then(|| (action.clone(), own.clone())));
            }
        }
        processes += &writer.processes(part, &format!("P{k}_"));
        let begin = writer.begin(part, &format!("P{k}_"));
        let body = if k == 1 { begin } else { format!("N{} || {begin}", k - 1) };
        let body = if complete.is_empty() { body } else { joined(&complete, &body) };
        _ = writeln!(network, "proc N{k} = {body};");
    }
    let whole = if parts.is_empty() { "delta".into() } else { format!("N{}", parts.len()) };
    let hidden = hidden.iter().filter_map(|n| names.get(n)).map(|(action, ..)| action).join(", ");
    let init = if hidden.is_empty() { whole } else { format!("hide({{{hidden}}}, {whole})") };
    let declarations = writer.declarations(&parts, &actions);
    Ok(format!("{}{declarations}{processes}\n{network}\ninit {init};\n", title(&connector.name)))
}

/// `body`, in which actions of parts communicate: for each name its action, and theirs.
fn joined(names: &[(String, Vec<String>)], body: &str) -> String {
    let own = names.iter().flat_map(|(_, own)| own).join(", ");
    let pairs = names.iter().map(|(name, own)| format!("{} -> {name}", own.join("|"))).join(", ");
    format!("block({{{own}}},\n    comm({{{pairs}}}, {body}))")
}

fn title(name: &str) -> String {
    format!("% {}\n", name.replace('\n', " "))
}

struct Writer<'a> {
    symbols: &'a Symbols,
    words: Identifiers,
    /// Whether no automaton has data.
    plain: bool,
    /// The action of each name.
    actions: IndexMap<NameId, String>,
}

impl<'a> Writer<'a> {
    fn new(symbols: &'a Symbols, automata: &[&Automaton]) -> Writer<'a> {
        let plain = automata.iter().all(|automaton| automaton.is_plain());
        let words = Identifiers::new(RESERVED);
        Writer { symbols, words, plain, actions: IndexMap::new() }
    }

    /// A new action for a name, unlike the names of processes.
    fn action(&mut self, name: NameId) -> String {
        let word = self.symbols.word(name.0);
        let plain = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let number = plain
            .strip_prefix(['P', 'N'])
            .is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
        self.words.of(if number { "n_" } else { "" }, word)
    }
}

impl Writer<'_> {
    fn word(&mut self, prefix: &str, symbol: SymbolId) -> String {
        self.words.of(prefix, self.symbols.word(symbol))
    }

    fn declarations(&mut self, automata: &[&Automaton], actions: &[String]) -> String {
        let mut out = String::new();
        if !self.plain {
            let (mut constants, mut maps) = (Vec::new(), Vec::new());
            for automaton in automata {
                for literal in automaton.constraints().iter().flat_map(|c| c.literals()) {
                    self.declare(literal, &mut constants, &mut maps);
                }
                constants.extend(automaton.contents().iter().map(|(_, c)| self.word("c_", *c)));
            }
            constants.extend(["nothing".to_owned(), "something".to_owned()]);
            let constants = constants.into_iter().sorted().dedup().join(" | ");
            let maps = maps.into_iter().sorted().dedup().join(";\n    ");
            _ = writeln!(out, "sort Data = struct {constants};");
            if !maps.is_empty() {
                _ = writeln!(out, "map {maps};");
            }
        }
        if !actions.is_empty() {
            let sort = if self.plain { "" } else { ": Data" };
            _ = writeln!(out, "act {}{sort};", actions.join(", "));
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

    /// A process for each state, called `prefix` and its number.
    fn processes(&mut self, automaton: &Automaton, prefix: &str) -> String {
        let cells = if self.plain { &[] } else { automaton.cells() };
        let head = list(cells.iter().map(|c| format!("{}: Data", self.word("m_", c.0))).collect());
        let mut out = String::new();
        for state in 0..automaton.states() as u32 {
            let steps: Vec<String> =
                automaton.steps(state).map(|s| self.step(automaton, &s, prefix)).collect();
            let body = if steps.is_empty() { "delta".into() } else { steps.join("\n  + ") };
            _ = writeln!(out, "proc {prefix}{state}{head} =\n    {body};");
        }
        out
    }

    fn step(&mut self, automaton: &Automaton, step: &Transition, process: &str) -> String {
        let constraint = automaton.constraint(step);
        let fire: Vec<_> = automaton.fires(step).collect();
        let mut summed: Vec<String> = Vec::new();
        let mut actions = Vec::new();
        for name in fire {
            let action = self.actions.get(&name).cloned().unwrap_or_default();
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
            return format!("{action} . {process}{}", step.to);
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
        format!("{sum}({}) -> {action} . {process}{}{next}", self.condition(constraint), step.to)
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

    /// The process with which an automaton begins.
    fn begin(&mut self, automaton: &Automaton, prefix: &str) -> String {
        let cells = if self.plain { &[] } else { automaton.cells() };
        let value = |cell| match automaton.contents().iter().find(|(c, _)| c == cell) {
            Some((_, constant)) => self.word("c_", *constant),
            None => "nothing".to_owned(),
        };
        let with = list(cells.iter().map(value).collect());
        let starts: Vec<String> =
            automaton.initial().iter().map(|s| format!("{prefix}{s}{with}")).collect();
        match &starts[..] {
            [] => "delta".to_owned(),
            [one] => one.clone(),
            several => several.iter().map(|s| format!("tau . {s}")).join(" + "),
        }
    }
}

/// In brackets, if there is anything.
fn list(all: Vec<String>) -> String {
    if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
}
