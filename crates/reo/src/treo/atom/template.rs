//! An automaton over the words of an interface; `#WA` and `#SCA`: automata given by their steps.

use std::collections::HashMap;

use indexmap::IndexSet;
use tickbound_input::message::{excerpt, suggest};

use crate::automaton::{Automaton, AutomatonBuilder};
use crate::constraint::{DataConstraint, DataTerm};
use crate::label;
use crate::symbol::{Cell, NameId, Symbols};
use crate::syntax::condition::GuardClaim;
use crate::syntax::{Source, Spot};
use crate::treo::ast::{StateStep, States, TreoVariable};
use crate::treo::error::{MAX_ATOM_STATES, MAX_ATOM_STEPS, TreoFault, TreoResult};

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
    fn note(&mut self, note: String);
    fn source(&self) -> &Source;
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

/// The template of an automaton over `ports`. States are numbered in the order of the text.
pub(crate) fn of_states(
    automaton: &States,
    ports: &[String],
    words: &mut dyn Words,
) -> TreoResult<Template> {
    let first = automaton.steps.first().map_or(Spot(0), |s| s.spot);
    let steps = automaton.steps.iter().flat_map(|s| [s.from.as_str(), &s.to]);
    let marked = automaton.initial.iter().map(|(_, s)| s.as_str());
    let states: IndexSet<&str> = steps.chain(marked).collect();
    for (count, limit, what) in [
        (states.len(), MAX_ATOM_STATES, "states of one atom"),
        (automaton.steps.len(), MAX_ATOM_STEPS, "steps of one atom"),
    ] {
        if count > limit {
            return Err(words.source().fault(first, TreoFault::limit(what, limit)));
        }
    }
    let number = |state: &str| states.get_index_of(state).unwrap_or_default() as u32;
    let initial: Vec<u32> = automaton.initial.iter().map(|(_, s)| number(s)).collect();
    if initial.is_empty() && !states.is_empty() {
        let what = format!("`{}` has no initial state", words.atom());
        let fix = "mark one: `q*` in #WA, `q : initial` in #SCA";
        return Err(words.source().fault(first, TreoFault::Rule { what, fix }));
    }
    // Without any step it is an automaton that does nothing.
    let (count, initial) = if states.is_empty() { (1, vec![0]) } else { (states.len(), initial) };
    let mut template =
        Template { ports: ports.to_vec(), states: count, initial, ..Template::default() };
    for step in &automaton.steps {
        let fire = fire(automaton, step, ports, words)?;
        let (from, to) = (number(&step.from), number(&step.to));
        if from != to || !fire.is_empty() {
            template.steps.push(TemplateStep { from, fire, claims: Vec::new(), to });
        }
    }
    Ok(template)
}

fn fire(
    automaton: &States,
    step: &StateStep,
    ports: &[String],
    words: &mut dyn Words,
) -> TreoResult<Vec<usize>> {
    let tag = &automaton.tag;
    let guard = step.guard.as_ref().map(|g| format!("the guard `{}` of #{tag}", excerpt(g)));
    let jobs = || step.jobs.as_ref().map(|j| format!("the jobs `{{{}}}` of #{tag}", excerpt(j)));
    if let Some(what) = guard.or_else(jobs) {
        let fault = TreoFault::Outside { what, fix: "write the atom with #RBA" };
        return Err(words.source().fault(step.spot, fault));
    }
    let mut fire = Vec::new();
    for node in &step.nodes {
        for name in words.names(node)? {
            match ports.iter().position(|p| *p == name) {
                Some(at) => fire.push(at),
                None => {
                    let fix = suggest(&name, ports.iter().map(String::as_str));
                    let fault = TreoFault::Unknown { word: name, what: "node of the atom", fix };
                    return Err(words.source().fault(node.spot, fault));
                }
            }
        }
    }
    Ok(fire)
}
