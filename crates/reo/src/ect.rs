//! Connectors of the Extensible Coordination Tools: the `.reo` files of their editor, read; and
//! their `.ea` files ([`automata()`]).
//!
//! Such a file is XML as the Eclipse Modeling Framework writes it: a `reo:Module` with
//! `connectors`, each with `nodes` and `primitives`, whose `sourceEnds` and `sinkEnds` tell the
//! `node` that they join, by an `xmi:id` or by a path such as `//@connectors.0/@nodes.2`. The
//! diagram that may stand beside the module is passed over.
//!
//! | in the file | here |
//! |---|---|
//! | `channels:Sync`, `LossySync`, `SyncDrain`, `AsyncDrain` | the channel of this name |
//! | `channels:SyncSpout`, `AsyncSpout` | the channel of this name |
//! | `channels:FIFO`, with `full` and `initialValue` | `fifo1`, `fifofull` |
//! | `channels:LossyFIFO`, with `shift` | `overflowlossyfifo1`, `shiftlossyfifo1` |
//! | `channels:Filter`, `Transform` | the `expression` as the name of a predicate or function |
//! | `channels:Timer` | `timer`, with its `timeout` as ticks |
//! | any other type, `components` of the module | left to the environment, which sees their ends |
//! | node of type `REPLICATE` | merges and replicates |
//! | node of type `ROUTE`, `JOIN` | its outputs behind a `router`, its inputs before a `join` |
//!
//! The environment sees the nodes at which no channel ends, or none begins. Sub-connectors belong
//! to the connector around them. What is a channel follows from the namespace that the prefix
//! is declared as, `http://www.cwi.nl/reo/channels`.
//!
//! ```
//! use tickbound_reo::ect::connector;
//! use tickbound_reo::syntax::Source;
//!
//! let text = r#"<reo:Module xmlns:reo="http://www.cwi.nl/reo"
//!     xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><connectors name="one">
//!   <nodes name="a"/><nodes name="b"/>
//!   <primitives xmlns:c="http://www.cwi.nl/reo/channels" xsi:type="c:FIFO">
//!     <sourceEnds node="//@connectors.0/@nodes.0"/><sinkEnds node="//@connectors.0/@nodes.1"/>
//!   </primitives></connectors></reo:Module>"#;
//! let one = connector(&Source::new("one.reo", text), None)?;
//! assert_eq!((one.parts[0].kind.as_str(), one.interface.len()), ("fifo1", 2));
//! # Ok::<(), tickbound_reo::ect::EctError>(())
//! ```

mod automata;
mod xml;

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;
use tickbound_input::message::excerpt;

pub use self::automata::automata;
pub use self::xml::EctError;

use self::xml::{EctFault, Element, Made};
use crate::catalog::{MAX_ENDS, Primitive, TICK};
use crate::connector::{ChannelEnd, Connector, Wiring};
use crate::constant::constant_word;

use crate::syntax::{Source, Spot};

/// The connector of a `.reo` file: the one called `name`; without a name `main`, or the only one.
/// The second of two that are called `name` is `name.2`.
pub fn connector(source: &Source, name: Option<&str>) -> Result<Connector, EctError> {
    let document = xml::read(source)?;
    let roots = xml::roots(&document);
    let at = |element: Element<'_>, fault: EctFault| source.fault(element.spot(), fault);
    let all: Vec<Element<'_>> = roots.iter().flat_map(|root| root.named("connectors")).collect();
    let found = xml::called(&all, name);
    let is_main = |element: &&Element<'_>| name.is_none() && element.title() == "main";
    let main = all.iter().copied().filter(|element| is_main(&element)).collect_vec();
    let element = match (main.as_slice(), &found[..], all.is_empty()) {
        ([main], ..) => *main,
        (_, [one], _) => *one,

        (_, _, true) => return Err(source.fault(Spot(0), EctFault::Empty("connectors"))),
        _ => return Err(source.fault(Spot(0), xml::several("connectors", &xml::numbered(&all)))),
    };
    let mut drawn = Drawn { roots: &roots, nodes: IndexMap::new(), primitives: Vec::new() };
    drawn.collect(element);
    drawn.collect_components(element);
    drawn.connect().map_err(|(element, fault)| at(element, fault))?;
    drawn.wire(element.title()).map_err(|(element, fault)| at(element, fault))
}

/// A node: its name, what it does, and how many ends write to it and read from it.
struct Node {
    name: String,
    kind: NodeKind,
    writing: usize,
    reading: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeKind {
    Replicate,
    Route,
    Join,
}

/// What a connector is made of.
struct Drawn<'a> {
    roots: &'a [Element<'a>],
    /// Nodes by where their elements are in the text.
    nodes: IndexMap<usize, Node>,
    primitives: Vec<(Element<'a>, Vec<(usize, bool)>)>,
}

impl<'a> Drawn<'a> {
    /// Lists nodes and primitives, those of sub-connectors too.
    fn collect(&mut self, connector: Element<'a>) {
        for node in connector.named("nodes") {
            let taken = |name: &str| self.nodes.values().any(|other| other.name == name);
            let name = node.own_name("n", self.nodes.len(), taken);
            let kind = match node.value("type").unwrap_or_default().to_ascii_uppercase().as_str() {
                "ROUTE" => NodeKind::Route,
                "JOIN" => NodeKind::Join,
                _ => NodeKind::Replicate,
            };
            self.nodes.insert(node.spot().0, Node { name, kind, writing: 0, reading: 0 });
        }
        self.primitives.extend(connector.named("primitives").map(|element| (element, Vec::new())));
        connector.named("subConnectors").for_each(|inner| self.collect(inner));
    }

    /// Lists what else has ends at the connector's nodes: components of the module or of others.
    fn collect_components(&mut self, connector: Element<'a>) {
        let known = xml::identified(self.roots);
        let listed: HashSet<usize> = self.primitives.iter().map(|(e, _)| e.spot().0).collect();
        for element in self.roots.iter().flat_map(|root| root.with_ends(connector)) {
            let here = |(end, _): (Element<'a>, bool)| {
                let spot = xml::resolved(self.roots, &known, end.value("node")?);
                Some(spot.is_none_or(|spot| self.nodes.contains_key(&spot.0)))
            };
            if !listed.contains(&element.spot().0) && element.ends().filter_map(here).any(|is| is) {
                self.primitives.push((element, Vec::new()));
            }
        }
    }

    /// Finds the nodes that primitives join. Ends of components may be elsewhere.
    fn connect(&mut self) -> Made<'a, ()> {
        let known = xml::identified(self.roots);
        let listed = xml::listed_ends(self.roots, &known);
        for (element, ends) in &mut self.primitives {
            let component = !is_channel(*element).map_err(|fault| (*element, fault))?;
            for (end, writes) in element.ends() {
                let lost = |what: String| (*element, EctFault::End(what));
                let reference = end.value("node");
                let spot = match reference {
                    Some(reference) => xml::resolved(self.roots, &known, reference),
                    None => listed.get(&end.spot().0).copied(),
                };
                let joined = spot.and_then(|s| Some((s.0, self.nodes.get_mut(&s.0)?)));
                let Some((at, node)) = joined else {
                    if component && (spot.is_some() || reference.is_none()) {
                        continue;
                    }
                    return Err(lost(match (reference, spot) {
                        (None, None) => "no node".into(),
                        (given, _) => {
                            let given = excerpt(given.unwrap_or_default());
                            format!("`{given}`, which is no node here")
                        }
                    }));
                };
                *(if writes { &mut node.writing } else { &mut node.reading }) += 1;
                ends.push((at, writes));
            }
        }
        Ok(())
    }

    fn wire(self, name: &str) -> Made<'a, Connector> {
        let mut wiring = Wiring::new(name);
        let mut inner: IndexMap<(usize, bool), Vec<String>> = IndexMap::new();
        // What components join, and the clock.
        let mut open: IndexSet<String> = IndexSet::new();
        for (number, (element, joined)) in self.primitives.iter().enumerate() {
            let ends = joined.iter().map(|(at, writes)| ChannelEnd {
                node: self.place(*at, *writes, &mut inner),
                writes: *writes,
            });
            let mut ends: Vec<ChannelEnd> = ends.collect();
            if !is_channel(*element).map_err(|fault| (*element, fault))? {
                self.leave_open((number, *element), joined, &mut ends, &mut wiring);
                open.extend(ends.into_iter().map(|end| end.node));
                continue;
            }
            let found = channel(*element).map_err(|fault| (*element, fault))?;
            if matches!(found, Primitive::Timer(_)) {
                ends.push(ChannelEnd::reads(TICK));
                open.insert(TICK.to_owned());
            }
            let writes: Vec<bool> = ends.iter().map(|end| end.writes).collect();
            let expected = found.ends(ends.len()).map_err(|error| (*element, error.into()))?;
            if writes != expected {
                return Err((*element, EctFault::Value(DIRECTION)));
            }
            let (kind, arguments) = (found.word(), Vec::from_iter(found.argument()));
            let prefix = format!("{kind}.{}/", number + 1);
            wiring.add_with(kind, &arguments, &ends, move |names, symbols| {
                found.automaton(names, &prefix, symbols)
            });
        }
        self.joints(inner, &mut wiring).map_err(|fault| (self.primitives[0].0, fault))?;
        let border =
            |node: &&Node| node.writing == 0 || node.reading == 0 || open.contains(&node.name);
        let border = self.nodes.values().filter(border).map(|node| node.name.as_str());
        let visible: IndexSet<&str> = border.chain(open.iter().map(String::as_str)).collect();
        Ok(wiring.finish(&visible.into_iter().collect::<Vec<_>>()))
    }

    /// Leaves a component to the environment. An end that shares its node with other writers gets
    /// its own node, with a channel to it: so the environment competes with the others.
    fn leave_open(
        &self,
        (number, element): (usize, Element),
        joined: &[(usize, bool)],
        ends: &mut [ChannelEnd],
        wiring: &mut Wiring,
    ) {
        let kind = element.value("name").filter(|name| !name.is_empty());
        let kind = kind.unwrap_or_else(|| element.kind());
        wiring.show(kind, ends);
        for ((at, _), end) in joined.iter().zip(ends.iter_mut()) {
            let node = &self.nodes[at];
            if !end.writes || node.writing < 2 || node.kind == NodeKind::Join {
                continue;
            }
            let mut own = format!("{kind}.{}/{}", number + 1, node.name);
            while wiring.nodes().contains_key(own.as_str()) {
                own.push('_');
            }
            wiring.set_apart(end, own);
        }
        let at = ends.iter().map(|end| format!("`{}`", end.node)).join(", ");
        let what = format!("what it does at {at} is left to the environment");
        wiring.note(format!("`{kind}` is a component; {what}"));
    }

    /// Where an end joins: the node, or a separate node behind a router or before a join.
    fn place(
        &self,
        at: usize,
        writes: bool,
        inner: &mut IndexMap<(usize, bool), Vec<String>>,
    ) -> String {
        let Some(node) = self.nodes.get(&at) else { return String::new() };
        let apart = match node.kind {
            NodeKind::Replicate => false,
            NodeKind::Route => !writes && node.reading > 1,
            NodeKind::Join => writes && node.writing > 1,
        };
        if !apart {
            return node.name.clone();
        }
        let all = inner.entry((at, writes)).or_default();
        all.push(format!("{}/{}", node.name, all.len() + 1));
        all.last().cloned().unwrap_or_default()
    }

    fn joints(
        &self,
        inner: IndexMap<(usize, bool), Vec<String>>,
        wiring: &mut Wiring,
    ) -> Result<(), EctFault> {
        for ((at, writes), all) in inner {
            let Some(node) = self.nodes.get(&at) else { continue };
            let joint = if writes { Primitive::Join("tuple".into()) } else { Primitive::Router };
            let mut ends: Vec<ChannelEnd> =
                all.iter().map(|name| ChannelEnd { node: name.clone(), writes: !writes }).collect();
            let place = if writes { ends.len() } else { 0 };
            ends.insert(place, ChannelEnd { node: node.name.clone(), writes });
            if ends.len() > MAX_ENDS {
                return Err(EctFault::Value(CROWDED));
            }
            let prefix = format!("{}/", node.name);
            wiring.add(joint.word(), &ends, move |names, symbols| {
                joint.automaton(names, &prefix, symbols)
            });
        }
        Ok(())
    }
}

const DIRECTION: &str =
    "its ends point in other directions than those of the channel; draw it anew";
const CROWDED: &str = "a node has more ends than are read; split it";
const FULL: &str = "a lossy FIFO that is full at the start is not read; use a FIFO, or empty it";
const EXPRESSION: &str = "it has no `expression`; give it the name of a predicate or function";
const TIMEOUT: &str = "it has no `timeout`; give it a number of ticks";

/// Whether a primitive is a channel, not a component, by the namespace of its prefix,
/// `http://www.cwi.nl/reo/channels`; without a declaration by the prefix itself.
fn is_channel(element: Element) -> Result<bool, EctFault> {
    let namespace = element.type_namespace().unwrap_or_default();
    if namespace.trim_end_matches('/').rsplit(['/', '.', '#']).next() == Some("channels") {
        return Ok(true);
    }
    match channel(element) {
        Err(EctFault::Kind(_)) => Ok(false),
        _ => Err(EctFault::Namespace(excerpt(element.kind()), excerpt(namespace))),
    }
}

/// The built-in component that a channel is.
fn channel(element: Element) -> Result<Primitive, EctFault> {
    let is = |attribute: &str| element.value(attribute) == Some("true");
    let given = |attribute: &str| element.value(attribute).filter(|text| !text.trim().is_empty());
    let named = |word: &str| {
        let expression = given("expression").ok_or(EctFault::Value(EXPRESSION))?;
        Ok(Primitive::find(word, &[expression.trim()])?)
    };
    let plain = |word: &str| Ok(Primitive::find(word, &[])?);
    match element.kind() {
        "Sync" | "LossySync" | "SyncDrain" | "AsyncDrain" | "SyncSpout" | "AsyncSpout" => {
            plain(element.kind())
        }
        "FIFO" if is("full") => {
            let held = given("initialValue").map(|text| match text.parse::<i64>() {
                Ok(number) => number.to_string(),
                Err(_) => constant_word(text),
            });
            Ok(Primitive::FifoFull(held))
        }
        "FIFO" => plain("fifo1"),
        "LossyFIFO" if is("full") => Err(EctFault::Value(FULL)),
        "LossyFIFO" if is("shift") => plain("shiftlossyfifo1"),
        "LossyFIFO" => plain("overflowlossyfifo1"),
        "Filter" => named("filter"),
        "Transform" => named("transform"),
        "Timer" => {
            let ticks = given("timeout").ok_or(EctFault::Value(TIMEOUT))?;
            Ok(Primitive::find("timer", &[ticks])?)
        }
        other => Err(EctFault::Kind(excerpt(other))),
    }
}
