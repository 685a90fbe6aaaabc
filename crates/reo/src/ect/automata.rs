//! Automata of the Extensible Coordination Tools: the `.ea` files of their editor, read.
//!
//! Such a file is a `Module` with `automata`, each with `states` and `transitions`. What these mean
//! stands in `extensions`, distinguished by the last word of their `id`:
//!
//! | extension | here |
//! |---|---|
//! | `automatonPortNames`: `values`, `inPorts`, `outPorts` | names; `inPorts`: `IN` of `.cat` |
//! | `startStates`: `value` | whether the state is initial |
//! | `stateMemory`: `values`, `initializations` | cells of the state, what they hold first |
//! | `transitionPortNames`: `values` | the names that fire |
//! | `constraints`: `Conjunction`, `Disjunction` | the condition, a step for each of its cases |
//! | `constraints`: `Equation`, `Predicate`, `Literal` | what has to hold in a case |
//! | `costAlgebras`, `costValues` | left out, with a note |
//!
//! Any other extension changes what the automaton does, and is refused. From there on all is as in
//! [`crate::cat`], into whose form an automaton is brought: claims about what is not there are left
//! out, and several automata are the parts of one connector.

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;
use tickbound_input::message::excerpt;

use super::xml::{self, EctError, EctFault, Element, Made};
use crate::cat::{File, State, Step, of_automata};
use crate::connector::{Connector, Notes};
use crate::constant::constant_word;
use crate::syntax::condition::{Cases, ClaimValue, GuardClaim, all_of};
use crate::syntax::{Source, Spot};

/// The connector of a `.ea` file: of the automata called `name`, or of all if they have one name.
pub fn automata(source: &Source, name: Option<&str>) -> Result<Connector, EctError> {
    let document = xml::read(source)?;
    let roots = xml::roots(&document);
    let all: Vec<Element<'_>> = roots.iter().flat_map(|root| root.named("automata")).collect();
    let found = xml::called(&all, name);
    if all.is_empty() {
        return Err(source.fault(Spot(0), EctFault::Empty("automata")));
    }
    let one_name = found.iter().map(|element| element.title()).all_equal();
    if found.is_empty() || !one_name {
        let names: Vec<&str> = all.iter().map(|element| element.title()).unique().collect();
        return Err(source.fault(Spot(0), xml::several("automata", &names)));
    }
    let (known, notes) = (xml::identified(&roots), Notes::default());
    let mut reader = Reader { known, roots: &roots, source, notes };
    let mut files = Vec::new();
    for element in found {
        let file = reader.automaton(element);
        files.push(file.map_err(|(element, fault)| source.fault(element.spot(), fault))?);
    }
    let mut connector = of_automata(source, &files).map_err(|e| e.map(EctFault::from))?;
    connector.notes.extend(reader.notes.0);
    Ok(connector)
}

struct Reader<'a> {
    roots: &'a [Element<'a>],
    known: std::collections::HashMap<&'a str, Spot>,
    source: &'a Source,
    notes: Notes,
}

/// The extensions of an element, with the last words of their `id`s.
fn extensions<'a>(element: Element<'a>) -> impl Iterator<Item = (&'a str, Element<'a>)> {
    element.named("extensions").map(|extension| {
        let id = extension.value("id").unwrap_or_default();
        (id.rsplit('.').next().unwrap_or(id), extension)
    })
}

/// The texts of the elements in an extension that are called so.
fn listed<'a>(extension: Element<'a>, what: &str) -> impl Iterator<Item = String> {
    extension.named(what).map(|value| value.text().trim().to_owned()).filter(|v| !v.is_empty())
}

impl<'a> Reader<'a> {
    fn automaton(&mut self, element: Element<'a>) -> Made<'a, File> {
        let (mut names, mut written) = (IndexSet::new(), Vec::new());
        for (kind, extension) in extensions(element) {
            if kind != "automatonPortNames" {
                self.outside(kind, extension)?;
                continue;
            }
            for what in ["values", "inPorts", "outPorts"] {
                names.extend(listed(extension, what));
            }
            written.extend(listed(extension, "inPorts"));
        }
        let name = element.title().to_owned();
        let (mut states, mut words) = (IndexMap::new(), IndexMap::new());
        for state in element.named("states") {
            let word = state.own_name("q", states.len(), |word| states.contains_key(word));
            words.insert(state.spot().0, word.clone());
            states.insert(word, self.state(state)?);
        }
        if !states.values().any(|state| state.initial) {
            return Err((element, EctFault::Start(excerpt(&name))));
        }
        for transition in element.named("transitions") {
            let from = self.end(transition, "source", &words)?;
            let to = self.end(transition, "target", &words)?;
            let (fire, cases) = self.transition(transition)?;
            let step =
                |claims| Step { fire: fire.clone(), claims, to: (transition.spot(), to.clone()) };
            if let Some(state) = states.get_mut(&from) {
                state.steps.extend(cases.into_iter().map(step));
            }
        }
        Ok(File { name, names, written, states })
    }

    fn state(&mut self, element: Element<'a>) -> Made<'a, State> {
        let mut state = State { spot: element.spot(), ..State::default() };
        for (kind, extension) in extensions(element) {
            match kind {
                "startStates" => state.initial |= extension.value("value") == Some("true"),
                "stateMemory" => {
                    state.cells.extend(listed(extension, "values"));
                    for entry in extension.named("initializations") {
                        let Some(cell) = entry.value("key") else { continue };
                        state.cells.insert(cell.to_owned());
                        if let Some(held) = entry.value("value").filter(|held| !held.is_empty()) {
                            state.contents.push((entry.spot(), cell.to_owned(), constant(held)));
                        }
                    }
                }
                _ => self.outside(kind, extension)?,
            }
        }
        Ok(state)
    }

    /// The names that fire, and the cases of the condition.
    fn transition(&mut self, element: Element<'a>) -> Made<'a, (Vec<(Spot, String)>, Cases)> {
        let (mut fire, mut cases) = (Vec::new(), vec![Vec::new()]);
        for (kind, extension) in extensions(element) {
            match kind {
                "transitionPortNames" => {
                    let spot = extension.spot();
                    fire.extend(listed(extension, "values").map(|name| (spot, name)));
                }
                "constraints" => cases = both(extension, &cases, &condition(extension)?)?,
                _ => self.outside(kind, extension)?,
            }
        }
        Ok((fire, cases))
    }

    /// What this reader does not know: refused, unless it changes no step.
    fn outside(&mut self, kind: &str, extension: Element<'a>) -> Made<'a, ()> {
        if ["costAlgebras", "costValues"].contains(&kind) {
            let place = self.source.place(extension.spot());
            self.notes.add(format!("{place}: costs are left out"));
            return Ok(());
        }
        let clocks = extension.value("id").unwrap_or_default().to_lowercase().contains("clock");
        let fault = if clocks { EctFault::Clocks } else { EctFault::Extension };
        Err((extension, fault(excerpt(kind))))
    }

    /// The state at an end of a transition.
    fn end(
        &self,
        transition: Element<'a>,
        what: &'static str,
        words: &IndexMap<usize, String>,
    ) -> Made<'a, String> {
        let reference = transition.value(what).unwrap_or_default();
        let spot = xml::resolved(self.roots, &self.known, reference);
        let word = spot.and_then(|spot| words.get(&spot.0)).cloned();
        word.ok_or_else(|| (transition, EctFault::State(what, excerpt(reference))))
    }
}

/// A constant as the editor keeps what a cell begins with: a text in its quotes, or a number.
fn constant(text: &str) -> String {
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) => constant_word(inner),
        None => text.to_owned(),
    }
}

fn both<'a>(at: Element<'a>, one: &Cases, other: &Cases) -> Made<'a, Cases> {
    all_of(one, other).ok_or((at, EctFault::Value(CASES)))
}

const CASES: &str = "a condition of more than 256 cases; draw several transitions";

fn condition(element: Element<'_>) -> Made<'_, Cases> {
    let claim = |claim| Ok(vec![vec![(element.spot(), claim)]]);
    match element.kind() {
        "Literal" if element.value("value") == Some("true") => Ok(vec![Vec::new()]),
        "Literal" => Ok(Vec::new()),
        "Conjunction" => element
            .named("members")
            .try_fold(vec![Vec::new()], |cases, member| both(element, &cases, &condition(member)?)),
        "Disjunction" => {
            let members = element.named("members").map(condition);
            let cases = members.collect::<Result<Vec<_>, _>>()?.concat();
            // Not more than in one case of a conjunction.
            both(element, &vec![Vec::new()], &cases)
        }
        "Equation" => claim(GuardClaim::Equal(side(element, "left")?, side(element, "right")?)),
        "Predicate" => {
            let (left, right) = (side(element, "left")?, side(element, "right")?);
            match element.value("type").unwrap_or("==") {
                "==" | "EQUAL" => claim(GuardClaim::Equal(left, right)),
                "!=" | "NOT_EQUAL" => claim(GuardClaim::Different(left, right)),
                sign @ ("<" | "<=" | ">" | ">=") => claim(GuardClaim::relation(sign, left, right)),
                other => Err((element, EctFault::Element(excerpt(other)))),
            }
        }
        other => Err((element, EctFault::Element(excerpt(other)))),
    }
}

fn side<'a>(element: Element<'a>, what: &str) -> Made<'a, ClaimValue> {
    let Some(side) = element.named(what).next() else {
        return Err((element, EctFault::Value(SIDE)));
    };
    value(side)
}

const SIDE: &str = "an equation has one side only; complete it in the editor";

fn value(element: Element<'_>) -> Made<'_, ClaimValue> {
    let word = || element.value("value").unwrap_or_default().to_owned();
    Ok(match (element.kind(), element.value("type").unwrap_or("IDENTIFIER")) {
        ("Literal", _) => ClaimValue::Constant((word() == "true").to_string()),
        ("Function", _) => {
            let values: Result<Vec<ClaimValue>, _> =
                element.named("parameters").map(value).collect();
            ClaimValue::Call(word(), values?)
        }
        ("Element", "IDENTIFIER") => ClaimValue::Word(word()),
        ("Element", "STRING") => ClaimValue::Constant(constant_word(&word())),
        ("Element", "INTEGER") => ClaimValue::Constant(word()),
        ("Element", "SOURCE_MEMORY") => ClaimValue::Before(word()),
        ("Element", "TARGET_MEMORY") => ClaimValue::After(word()),
        ("Element", "ARBITRARY") => ClaimValue::Some(element.spot().0 as u32),
        ("Element", other) | (other, _) => {
            return Err((element, EctFault::Element(excerpt(other))));
        }
    })
}
