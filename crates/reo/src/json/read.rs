//! Data as automata and connectors.

use indexmap::{IndexMap, IndexSet};
use tickbound_input::message::{excerpt, suggest};

use super::data::{AutomatonData, ConnectorData, JsonFault, Made, PartData, StepData, other};
use crate::automaton::{Automaton, AutomatonBuilder};
use crate::catalog::{MAX_ENDS, Primitive};
use crate::connector::{ChannelEnd, Connector, ConnectorPart, Wiring};
use crate::constraint::DataConstraint;
use crate::label;
use crate::symbol::{NameId, Symbols};
use crate::syntax::{MAX_LABELS, MAX_STATES, WithPlace, condition};

const MAX_PARTS: usize = 100_000;

/// What all automata of a file take.
#[derive(Default)]
pub(super) struct Sizes {
    states: usize,
    labels: usize,
}

impl Sizes {
    fn add(&mut self, data: &AutomatonData) -> Made<()> {
        let labels = data.steps.len().saturating_mul(label::words_for(data.names.len()));
        self.labels = self.labels.saturating_add(labels);
        self.states = self.states.saturating_add(data.states);
        self.check()
    }

    fn check(&self) -> Made<()> {
        let counts = [
            (self.states, MAX_STATES, "states"),
            (self.labels, MAX_LABELS, "words of 64 bits for all labels"),
        ];
        let passed = counts.into_iter().find(|(count, limit, _)| count > limit);
        passed.map_or(Ok(()), |(_, limit, what)| Err(JsonFault::Limit { what, limit }))
    }
}

/// The automaton of `data`; `place` names it in errors.
pub(super) fn automaton(
    data: &AutomatonData,
    place: &str,
    symbols: &mut Symbols,
    sizes: &mut Sizes,
) -> Made<Automaton> {
    sizes.add(data)?;
    let known: IndexSet<&str> = data.names.iter().map(String::as_str).collect();
    let names: Vec<_> = data.names.iter().map(|n| symbols.name(n)).collect();
    let mut builder = AutomatonBuilder::over(names, data.states, data.initial.clone());
    let contents = data.contents.iter().map(|(c, held)| (symbols.cell(c), symbols.intern(held)));
    builder.contents(contents.collect::<Vec<_>>());
    for (at, step) in data.steps.iter().enumerate() {
        let place = || format!("{place}, step {at}");
        let mut fire = Vec::with_capacity(step.fire.len());
        for name in &step.fire {
            if !known.contains(name.as_str()) {
                return Err(unknown(place(), name, &known));
            }
            fire.push(symbols.name(name));
        }
        for constraint in cases(step, &place, &known, symbols)? {
            builder.step(step.from, &fire, constraint, step.to);
        }
    }
    builder.finish().map_err(|error| JsonFault::Automaton { place: place.to_owned(), error })
}

/// The cases of the condition of a step, about names of the automaton.
fn cases(
    step: &StepData,
    place: &dyn Fn() -> String,
    known: &IndexSet<&str>,
    symbols: &mut Symbols,
) -> Made<Vec<DataConstraint>> {
    let Some(when) = &step.when else { return Ok(vec![DataConstraint::default()]) };
    let cases = condition::parse(when).map_err(|WithPlace { place: at, fault }| {
        let when = excerpt(when);
        JsonFault::Condition { place: place(), when, column: at.column, fault: *fault }
    })?;
    let mut words = cases.iter().flatten().flat_map(|(_, claim)| claim.words());
    match words.rfind(|word| !known.contains(word)) {
        None => Ok(cases.iter().map(|claims| condition::constraint(claims, symbols)).collect()),
        Some(name) => Err(unknown(place(), name, known)),
    }
}

/// A part, before nodes are made.
enum Ready {
    Automaton(Box<Automaton>),
    Primitive(Primitive, Vec<ChannelEnd>),
}

/// A single automaton, as a connector.
pub(super) fn alone(data: AutomatonData, words: &[String]) -> Made<Connector> {
    let interface = Some(data.names.clone());
    let (name, automaton) = ("automaton".to_owned(), Some(data));
    let parts = vec![PartData { kind: name.clone(), automaton, ..PartData::default() }];
    connector(ConnectorData { name, parts, interface, ..ConnectorData::default() }, words)
}

pub(super) fn connector(data: ConnectorData, words: &[String]) -> Made<Connector> {
    let mut symbols = Symbols::new();
    words.iter().for_each(|w| _ = symbols.intern(w));
    if data.parts.len() > MAX_PARTS {
        return Err(JsonFault::Limit { what: "parts", limit: MAX_PARTS });
    }
    let mut sizes = Sizes::default();
    let mut parts = Vec::with_capacity(data.parts.len());
    for (at, part) in data.parts.iter().enumerate() {
        let place = format!("part {at} (`{}`)", excerpt(&part.kind));
        parts.push(match (&part.automaton, &part.ends) {
            (Some(data), None) if part.arguments.is_empty() => {
                Ready::Automaton(Box::new(automaton(data, &place, &mut symbols, &mut sizes)?))
            }
            (None, Some(ends)) => component(part, ends, &place, &mut sizes)?,
            _ => {
                let expected = "either `automaton`, or `ends` and perhaps `arguments`";
                return Err(other("a part", &format!("{place} with neither or both"), expected));
            }
        });
    }
    let interface = seen(&data, &parts, &symbols)?;
    if parts.iter().all(|p| matches!(p, Ready::Automaton(_))) {
        let parts = data.parts.into_iter().zip(parts).filter_map(|(part, ready)| match ready {
            Ready::Automaton(automaton) => {
                Some(ConnectorPart { kind: part.kind, automaton: *automaton })
            }
            Ready::Primitive(..) => None,
        });
        let parts = parts.collect();
        let interface = interface.iter().map(|n| symbols.name(n)).collect();
        let written = data.written.iter().map(|n| symbols.name(n)).collect();
        let (name, notes) = (data.name, data.notes);
        let circuit = Vec::new();
        return Ok(Connector { name, symbols, parts, interface, written, notes, circuit });
    }
    wired(data, parts, symbols, &interface)
}

fn component(part: &PartData, ends: &[String], place: &str, sizes: &mut Sizes) -> Made<Ready> {
    let fault = |error| JsonFault::Component { place: place.to_owned(), error };
    let arguments: Vec<&str> = part.arguments.iter().map(String::as_str).collect();
    let primitive = Primitive::find(&part.kind, &arguments).map_err(fault)?;
    let writes = primitive.ends(ends.len()).map_err(fault)?;
    sizes.labels = sizes.labels.saturating_add(primitive.size(ends.len()));
    sizes.check()?;
    let ends = ends.iter().cloned().zip(writes).map(|(node, writes)| ChannelEnd { node, writes });
    Ok(Ready::Primitive(primitive, ends.collect()))
}

/// The names that the environment sees.
fn seen(data: &ConnectorData, parts: &[Ready], symbols: &Symbols) -> Made<Vec<String>> {
    let mut all: IndexSet<&str> = IndexSet::new();
    for part in parts {
        match part {
            Ready::Automaton(automaton) => {
                all.extend(automaton.alphabet().iter().map(|n| symbols.word(n.0)));
            }
            Ready::Primitive(_, ends) => all.extend(ends.iter().map(|e| e.node.as_str())),
        }
    }
    let hide = match (&data.interface, &data.hide) {
        (Some(interface), None) => {
            // Automata alone are what is written here, for any names.
            if parts.iter().any(|part| matches!(part, Ready::Primitive(..))) {
                known(interface, "`interface`", &all)?;
            }
            let once: IndexSet<&String> = interface.iter().collect();
            return Ok(once.into_iter().cloned().collect());
        }
        (Some(_), Some(_)) => {
            return Err(other("the interface", "given by `interface` and `hide`", "one of them"));
        }
        (None, hide) => hide.as_deref().unwrap_or_default(),
    };
    known(hide, "`hide`", &all)?;
    let hide: IndexSet<&str> = hide.iter().map(String::as_str).collect();
    Ok(all.into_iter().filter(|n| !hide.contains(n)).map(str::to_owned).collect())
}

/// Refuses a name of a list that no part has.
fn known(list: &[String], place: &str, all: &IndexSet<&str>) -> Made<()> {
    let lost = list.iter().find(|name| !all.contains(name.as_str()));
    lost.map_or(Ok(()), |name| Err(unknown(place.into(), name, all)))
}

fn unknown(place: String, name: &str, known: &IndexSet<&str>) -> JsonFault {
    let fix = suggest(name, known.iter().copied());
    JsonFault::Name { place, name: excerpt(name), fix }
}

/// The connector, with nodes made of the ends of its components.
fn wired(
    data: ConnectorData,
    parts: Vec<Ready>,
    symbols: Symbols,
    interface: &[String],
) -> Made<Connector> {
    let mut wiring = Wiring::new(&data.name);
    let mut writers: IndexMap<String, usize> = IndexMap::new();
    let limit = |what| JsonFault::Limit { what, limit: MAX_ENDS };
    for (at, (part, ready)) in data.parts.iter().zip(parts).enumerate() {
        match ready {
            Ready::Automaton(automaton) => {
                if automaton.alphabet().len() > MAX_ENDS {
                    return Err(limit("names of an automaton beside components"));
                }
                let names = automaton.alphabet().iter();
                let ends: Vec<ChannelEnd> =
                    names.map(|n| ChannelEnd::reads(symbols.word(n.0))).collect();
                wiring.add(&part.kind, &ends, |_, _| *automaton);
            }
            Ready::Primitive(primitive, ends) => {
                for end in ends.iter().filter(|e| e.writes) {
                    let count = writers.entry(end.node.clone()).or_default();
                    *count += 1;
                    if *count > MAX_ENDS {
                        return Err(limit("ends that write to one node"));
                    }
                }
                let prefix = format!("{}.{at}/", primitive.word());
                wiring.add_with(&part.kind, &part.arguments, &ends, move |names, symbols| {
                    primitive.automaton(names, &prefix, symbols)
                });
            }
        }
    }
    *wiring.symbols() = symbols;
    data.notes.into_iter().for_each(|note| wiring.note(note));
    let mut made = wiring.finish(&interface.iter().map(String::as_str).collect::<Vec<_>>());
    let written: Vec<NameId> = data.written.iter().map(|n| made.symbols.name(n)).collect();
    let all: IndexSet<NameId> = made.written.iter().copied().chain(written).collect();
    made.written = all.into_iter().collect();
    Ok(made)
}
