//! What an atom does, as a [`Template`]: an automaton over the words of its own interface, from which
//! every use of the atom gets its copy.

mod rules;
mod search;
mod states;

use std::collections::HashMap;

use super::ast::{Rules, States, Variable};
use super::error::TreoError;
use crate::automaton::{Automaton, Builder};
use crate::constraint::{Constraint, Literal, Term};
use crate::label;
use crate::symbol::{Cell, Name, Symbols};
use crate::syntax::Source;
use crate::syntax::condition::{Claim, Value};

/// An automaton over words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Template {
    pub ports: Vec<String>,
    pub cells: Vec<String>,
    pub states: usize,
    pub initial: Vec<u32>,
    pub contents: Vec<(String, String)>,
    pub steps: Vec<TemplateStep>,
}

/// A step: from, the ports that fire by number, what holds, to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TemplateStep {
    pub from: u32,
    pub fire: Vec<usize>,
    pub claims: Vec<Claim>,
    pub to: u32,
}

/// What a use of an atom says about its words.
pub(super) trait Words {
    /// The value of a parameter, if there is one called so.
    fn parameter(&mut self, word: &str) -> Result<Option<String>, TreoError>;
    /// The words of a variable with its indices.
    fn names(&mut self, variable: &Variable) -> Result<Vec<String>, TreoError>;
    /// Where errors are.
    fn source(&self) -> &Source;
    /// The name of the atom.
    fn atom(&self) -> &str;
}

/// The template of rules over `ports`.
pub(super) fn of_rules(
    rules: &Rules,
    ports: &[String],
    words: &mut dyn Words,
) -> Result<Template, TreoError> {
    rules::template(rules, ports, words)
}

/// The template of an automaton over `ports`.
pub(super) fn of_states(
    states: &States,
    ports: &[String],
    words: &mut dyn Words,
) -> Result<Template, TreoError> {
    states::template(states, ports, words)
}

impl Template {
    /// About how many 64-bit words its automaton takes.
    pub fn size(&self) -> usize {
        let claims: usize = self.steps.iter().map(|s| s.claims.len()).sum();
        self.states + self.steps.len() * (3 + label::words_for(self.ports.len())) + 8 * claims
    }

    /// The automaton over `names`, one for each port; cells are called `prefix` and their word.
    pub fn automaton(&self, names: &[Name], prefix: &str, symbols: &mut Symbols) -> Automaton {
        let cells =
            self.cells.iter().map(|c| (c.as_str(), symbols.fresh_cell(&format!("{prefix}{c}"))));
        let cells: HashMap<&str, Cell> = cells.collect();
        let ports = self.ports.iter().map(String::as_str).zip(names.iter().copied()).collect();
        let contents =
            self.contents.iter().map(|(c, held)| (cells[c.as_str()], symbols.intern(held)));
        let mut builder = Builder::over(names.iter().copied(), self.states, self.initial.clone());
        builder.contents(contents.collect::<Vec<_>>());
        let mut copy = Copy { ports, cells, symbols };
        for step in &self.steps {
            let fire: Vec<Name> = step.fire.iter().map(|at| names[*at]).collect();
            let literals: Vec<Literal> = step.claims.iter().map(|c| copy.literal(c)).collect();
            builder.step(step.from, &fire, Constraint::new(literals), step.to);
        }
        builder.done()
    }
}

struct Copy<'t, 's> {
    ports: HashMap<&'t str, Name>,
    cells: HashMap<&'t str, Cell>,
    symbols: &'s mut Symbols,
}

impl Copy<'_, '_> {
    fn literal(&mut self, claim: &Claim) -> Literal {
        match claim {
            Claim::Equal(a, b) => Literal::Equal(self.term(a), self.term(b)),
            Claim::Different(a, b) => Literal::Different(self.term(a), self.term(b)),
            Claim::Predicate(holds, p, values) => {
                let p = self.symbols.intern(p);
                Literal::Predicate(*holds, p, values.iter().map(|v| self.term(v)).collect())
            }
        }
    }

    fn term(&mut self, value: &Value) -> Term {
        match value {
            Value::Word(word) => match self.ports.get(word.as_str()) {
                Some(name) => Term::Datum(*name),
                None => Term::Constant(self.symbols.intern(word)),
            },
            Value::Before(cell) => Term::Before(self.cells[cell.as_str()]),
            Value::After(cell) => Term::After(self.cells[cell.as_str()]),
            Value::Constant(word) => Term::Constant(self.symbols.intern(word)),
            Value::Null => Term::Constant(self.symbols.intern("null")),
            Value::Some(k) => Term::Some(*k),
            Value::Call(f, values) => {
                let f = self.symbols.intern(f);
                Term::Call(f, values.iter().map(|v| self.term(v)).collect())
            }
        }
    }
}
