//! A connector: parts that share names, and which names its environment sees.
//!
//! A [`Wiring`] is a circuit: channels and components whose ends meet at nodes. A node merges and
//! replicates (Arbab 2004, section 4): ends that read share the node's name, and so does a single
//! end that writes; several writing ends get own names and a merger.
//!
//! ```
//! use tickbound_reo::connector::{ChannelEnd, Wiring};
//! use tickbound_reo::primitive;
//!
//! let mut wiring = Wiring::new("two into one");
//! for source in ["a", "b"] {
//!     let ends = [ChannelEnd::reads(source), ChannelEnd::writes("c")];
//!     wiring.add("sync", &ends, |names, _| primitive::sync(names[0], names[1]));
//! }
//! let connector = wiring.finish(&["a", "b", "c"]);
//! assert_eq!(connector.parts.len(), 3); // two channels and the merger of node c
//! assert_eq!(connector.inner().len(), 2); // the ends that write to c
//! ```

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;

use crate::automaton::Automaton;
use crate::primitive;
use crate::symbol::{NameId, SymbolId, Symbols};

/// One automaton of a connector, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorPart {
    /// Its kind, such as `fifo1` or `merger`; for people.
    pub kind: String,
    /// What it does.
    pub automaton: Automaton,
}

/// A channel or component as the text has it: what a drawing shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channel {
    /// Its component, such as `fifo1`.
    pub kind: String,
    /// What it is made with, such as the predicate of a filter.
    pub arguments: Vec<String>,
    /// Where it ends.
    pub ends: Vec<ChannelEnd>,
    /// The name that fires at each end.
    pub names: Vec<NameId>,
    /// The component of the connector that it is in, such as `token.1`; empty if in none.
    pub within: String,
}

/// Automata over shared names. Two are equal if they do the same by the same names.
#[derive(Debug, Clone)]
pub struct Connector {
    /// For people.
    pub name: String,
    /// The words of all parts.
    pub symbols: Symbols,
    /// The automata, in the order of the text.
    pub parts: Vec<ConnectorPart>,
    /// Names that the environment sees, in the order of the interface.
    pub interface: Vec<NameId>,
    /// Names of nodes into which some part writes.
    pub written: Vec<NameId>,
    /// Things worth saying about how the text was read, one line each.
    pub notes: Vec<String>,
    /// Channels and components of the text, and foreign code; empty if it has only automata.
    pub circuit: Vec<Channel>,
}

impl PartialEq for Connector {
    fn eq(&self, other: &Connector) -> bool {
        let all = |c: &Connector| (c.name.clone(), c.interface.clone(), c.written.clone());
        all(self) == all(other)
            && self.symbols == other.symbols
            && self.parts == other.parts
            && self.notes == other.notes
    }
}

impl Eq for Connector {}

impl Connector {
    /// One automaton all of whose names the environment sees.
    pub(crate) fn alone(
        name: &str,
        automaton: Automaton,
        symbols: Symbols,
        notes: Notes,
    ) -> Connector {
        let kind = name.to_owned();
        Connector {
            name: kind.clone(),
            symbols,
            interface: automaton.alphabet().to_vec(),
            parts: vec![ConnectorPart { kind, automaton }],
            written: Vec::new(),
            notes: notes.0.into_iter().collect(),
            circuit: Vec::new(),
        }
    }

    /// Names of the parts that the environment does not see, sorted.
    pub fn inner(&self) -> Vec<NameId> {
        let all = self.parts.iter().flat_map(|p| p.automaton.alphabet());
        let seen: IndexSet<NameId> = self.interface.iter().copied().collect();
        all.filter(|n| !seen.contains(*n)).copied().sorted_unstable().dedup().collect()
    }

    /// Names of the interface to which no part writes: the environment does.
    pub fn inputs(&self) -> Vec<NameId> {
        let written: IndexSet<NameId> = self.written.iter().copied().collect();
        self.interface.iter().copied().filter(|name| !written.contains(name)).collect()
    }

    /// The same over a table of words that begins with those of `symbols`.
    pub fn over(&self, symbols: &Symbols) -> Connector {
        let mut all = symbols.clone();
        let old = (0..self.symbols.len() as u32).map(SymbolId);
        let new: Vec<SymbolId> = old.map(|k| all.intern(self.symbols.word(k))).collect();
        let to = |old: SymbolId| new.get(old.0 as usize).copied().unwrap_or(old);
        let names = |names: &[NameId]| names.iter().map(|n| NameId(to(n.0))).collect();
        let channel = |c: &Channel| Channel { names: names(&c.names), ..c.clone() };
        let parts = self.parts.iter().map(|part| ConnectorPart {
            kind: part.kind.clone(),
            automaton: part.automaton.renamed(&to),
        });
        Connector {
            parts: parts.collect(),
            interface: names(&self.interface),
            written: names(&self.written),
            circuit: self.circuit.iter().map(channel).collect(),
            symbols: all,
            ..self.clone()
        }
    }
}

/// Notes about how a text was read, each once, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Notes(pub IndexSet<String>);

const MAX_NOTES: usize = 20;

impl Notes {
    pub(crate) fn add(&mut self, note: String) {
        let more = self.0.len() >= MAX_NOTES;
        self.0.insert(if more { "there would be more notes".into() } else { note });
    }
}

/// One end of a channel at a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelEnd {
    /// The node.
    pub node: String,
    /// Whether data flow into the node (a sink end of the channel) or out of it (a source end).
    pub writes: bool,
}

impl ChannelEnd {
    /// A source end: takes data from `node`.
    pub fn reads(node: &str) -> ChannelEnd {
        ChannelEnd { node: node.into(), writes: false }
    }

    /// A sink end: puts data into `node`.
    pub fn writes(node: &str) -> ChannelEnd {
        ChannelEnd { node: node.into(), writes: true }
    }
}

type Make<'a> = Box<dyn FnOnce(&[NameId], &mut Symbols) -> Automaton + 'a>;

/// Channels and nodes, before the nodes have become automata.
pub struct Wiring<'a> {
    name: String,
    symbols: Symbols,
    /// Without names.
    channels: Vec<(Channel, Make<'a>)>,
    /// What has no automaton.
    foreign: Vec<Channel>,
    notes: Vec<String>,
    /// Where what is added next is.
    within: String,
}

impl<'a> Wiring<'a> {
    /// Nothing yet.
    pub fn new(name: &str) -> Self {
        let (symbols, channels, foreign, notes, within) = <_>::default();
        Wiring { name: name.into(), symbols, channels, foreign, notes, within }
    }

    /// The words of the connector.
    pub fn symbols(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// Adds a channel or component; `make` makes its automaton over a name for each end.
    pub fn add(
        &mut self,
        kind: &str,
        ends: &[ChannelEnd],
        make: impl FnOnce(&[NameId], &mut Symbols) -> Automaton + 'a,
    ) {
        self.add_with(kind, &[], ends, make);
    }

    /// As [`Wiring::add`], with what it is made with, for drawings.
    pub fn add_with(
        &mut self,
        kind: &str,
        arguments: &[String],
        ends: &[ChannelEnd],
        make: impl FnOnce(&[NameId], &mut Symbols) -> Automaton + 'a,
    ) {
        self.channels.push((self.channel(kind, arguments, ends), Box::new(make)));
    }

    fn channel(&self, kind: &str, arguments: &[String], ends: &[ChannelEnd]) -> Channel {
        let (kind, within) = (kind.to_owned(), self.within.clone());
        let (arguments, ends) = (arguments.to_vec(), ends.to_vec());
        Channel { kind, arguments, ends, names: Vec::new(), within }
    }

    /// What is added next is in this component of the connector; in none if it is empty.
    pub(crate) fn enter(&mut self, component: &str) {
        component.clone_into(&mut self.within);
    }

    /// Gives an end its own node, `own`, with a channel to the node where it was.
    pub(crate) fn set_apart(&mut self, end: &mut ChannelEnd, own: String) {
        let channel = [ChannelEnd::reads(&own), ChannelEnd::writes(&end.node)];
        self.add("sync", &channel, |names, _| primitive::sync(names[0], names[1]));
        end.node = own;
    }

    /// Adds a component of which nothing is known, for drawings.
    pub fn show(&mut self, kind: &str, ends: &[ChannelEnd]) {
        self.foreign.push(self.channel(kind, &[], ends));
    }

    /// Adds a line about how the text was read.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Nodes that only write ends meet or only read ends or both, in the order of the text: for
    /// each whether something writes to it and whether something reads from it.
    pub fn nodes(&self) -> IndexMap<&str, (bool, bool)> {
        let mut nodes: IndexMap<&str, (bool, bool)> = IndexMap::new();
        for end in self.channels.iter().flat_map(|(channel, _)| &channel.ends) {
            let node = nodes.entry(&end.node).or_default();
            node.0 |= end.writes;
            node.1 |= !end.writes;
        }
        nodes
    }

    /// The connector, with a merger for each node that several ends write to. Nodes of `interface`
    /// that no end touches become names without a part.
    ///
    /// A merger is right behind the last channel that writes to its node.
    pub fn finish(mut self, interface: &[&str]) -> Connector {
        let mut writers: IndexMap<String, usize> = IndexMap::new();
        for end in self.channels.iter().flat_map(|(channel, _)| &channel.ends).filter(|e| e.writes)
        {
            *writers.entry(end.node.clone()).or_default() += 1;
        }
        let mut parts = Vec::new();
        let mut merged: IndexMap<String, Vec<NameId>> = IndexMap::new();
        let mut circuit = Vec::new();
        for (mut channel, make) in std::mem::take(&mut self.channels) {
            let (names, extra) = self.names(&channel.ends, &writers, &mut merged);
            let automaton = make(&names, &mut self.symbols);
            channel.names = names;
            parts.push(ConnectorPart { kind: channel.kind.clone(), automaton });
            parts.extend(extra);
            for end in channel.ends.iter().filter(|e| e.writes) {
                let complete = merged.get(&end.node).is_some_and(|m| m.len() == writers[&end.node]);
                if complete && let Some(inputs) = merged.swap_remove(&end.node) {
                    let node = self.symbols.name(&end.node);
                    let automaton = primitive::merger(&inputs, node);
                    parts.push(ConnectorPart { kind: "merger".into(), automaton });
                }
            }
            circuit.push(channel);
        }
        let written = writers.keys().map(|node| self.symbols.name(node)).collect();
        let seen: IndexSet<NameId> = interface.iter().map(|n| self.symbols.name(n)).collect();
        for mut channel in std::mem::take(&mut self.foreign) {
            let name = |end: &ChannelEnd| self.symbols.name(&end.node);
            channel.names = channel.ends.iter().map(name).collect();
            circuit.push(channel);
        }
        Connector {
            name: self.name,
            symbols: self.symbols,
            parts,
            interface: seen.into_iter().collect(),
            written,
            notes: self.notes,
            circuit,
        }
    }

    /// Names for the ends of one channel. A channel that meets a node with several of its ends gets
    /// a name for each, and what joins them to the node.
    fn names(
        &mut self,
        ends: &[ChannelEnd],
        writers: &IndexMap<String, usize>,
        merged: &mut IndexMap<String, Vec<NameId>>,
    ) -> (Vec<NameId>, Vec<ConnectorPart>) {
        let (mut names, mut extra) = (Vec::new(), Vec::new());
        for (at, end) in ends.iter().enumerate() {
            let node = self.symbols.name(&end.node);
            let again = ends[..at].iter().any(|e| e.node == end.node);
            let shared = !again && (!end.writes || writers[&end.node] == 1);
            if shared {
                names.push(node);
                continue;
            }
            let own = self.symbols.fresh_name(&format!("{}~", end.node));
            names.push(own);
            if end.writes && writers[&end.node] > 1 {
                merged.entry(end.node.clone()).or_default().push(own);
            } else {
                let automaton = primitive::sync(own, node);
                extra.push(ConnectorPart { kind: "sync".into(), automaton });
            }
        }
        (names, extra)
    }
}
