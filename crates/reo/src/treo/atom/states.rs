//! `#WA` and `#SCA`: automata given by their steps.

use indexmap::IndexSet;
use tickbound_input::message::{excerpt, suggest};

use super::template::{Template, TemplateStep, Words};
use crate::syntax::Spot;
use crate::treo::ast::{StateStep, States};
use crate::treo::error::{MAX_ATOM_STATES, MAX_ATOM_STEPS, TreoFault, TreoResult};

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
