//! An automaton over the words of an interface.

use std::collections::HashMap;

use crate::automaton::{Automaton, AutomatonBuilder};
use crate::constraint::{DataConstraint, DataTerm};
use crate::label;
use crate::symbol::{Cell, NameId, Symbols};
use crate::syntax::Source;
use crate::syntax::condition::GuardClaim;
use crate::treo::ast::TreoVariable;
use crate::treo::error::TreoResult;

/// An automaton over words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Template {
    pub ports: Vec<String>,
    pub cells: Vec<String>,
    pub states: usize,
    pub initial: Vec<u32>,
    pub contents: Vec<(String, String)>,
    pub steps: Vec<TemplateStep>,
}

/// A step: from, the ports that fire by number, what holds, to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateStep {
    pub from: u32,
    pub fire: Vec<usize>,
    pub claims: Vec<GuardClaim>,
    pub to: u32,
}

/// The words of one use of an atom.
pub(crate) trait Words {
    /// The value of a parameter, if there is one called so.
    fn parameter(&mut self, word: &str) -> TreoResult<Option<String>>;
    /// The words of a variable with its indices.
    fn names(&mut self, variable: &TreoVariable) -> TreoResult<Vec<String>>;
    /// Adds a note about how the text was read.
    fn note(&mut self, note: String);
    fn source(&self) -> &Source;
    /// The name of the atom.
    fn atom(&self) -> &str;
}

impl Template {
    /// About how many 64-bit words its automaton takes.
    pub fn size(&self) -> usize {
        let claims: usize = self.steps.iter().map(|s| s.claims.len()).sum();
        self.states + self.steps.len() * (3 + label::words_for(self.ports.len())) + 8 * claims
    }

    /// The automaton over `names`, one for each port; cells are called `prefix` and their word.
    pub fn automaton(&self, names: &[NameId], prefix: &str, symbols: &mut Symbols) -> Automaton {
        let cells =
            self.cells.iter().map(|c| (c.as_str(), symbols.fresh_cell(&format!("{prefix}{c}"))));
        let cells: HashMap<&str, Cell> = cells.collect();
        let ports: HashMap<&str, NameId> =
            self.ports.iter().map(String::as_str).zip(names.iter().copied()).collect();
        let contents =
            self.contents.iter().map(|(c, held)| (cells[c.as_str()], symbols.intern(held)));
        let mut builder =
            AutomatonBuilder::over(names.iter().copied(), self.states, self.initial.clone());
        builder.contents(contents.collect::<Vec<_>>());
        let word = |word: &str, symbols: &mut Symbols| match ports.get(word) {
            Some(name) => DataTerm::Datum(*name),
            None => DataTerm::Constant(symbols.intern(word)),
        };
        let cell = |word: &str, _: &mut Symbols| cells[word];
        for step in &self.steps {
            let fire: Vec<NameId> = step.fire.iter().map(|at| names[*at]).collect();
            let literals = step.claims.iter().map(|c| c.literal(symbols, &word, &cell));
            builder.step(step.from, &fire, DataConstraint::new(literals), step.to);
        }
        builder.done()
    }
}
