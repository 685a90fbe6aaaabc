//! Atoms, built-in components and foreign code, which are left at the end, and their wiring.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;
use tickbound_input::message::suggest;

use super::expander::{Done, Expander, Frame, Key, Leaf, Make, listed};
use super::scope::{Component, Scope, Unresolved};
use crate::catalog::{CatalogError, MAX_ENDS, Primitive, TICK};
use crate::connector::{ChannelEnd, Connector, Wiring};
use crate::syntax::{Source, Spot};
use crate::treo::ast::{Direction, Meaning, PrimitiveUse, TreoVariable};
use crate::treo::atom::{self, Template, Words};
use crate::treo::error::{MAX_PARTS, MAX_SIZE, TreoFault, TreoResult};

impl Expander<'_> {
    pub fn atom(&mut self, f: &mut Frame, scope: &Scope, all: &[Meaning]) -> Done {
        let foreign = all.iter().any(|m| matches!(m, Meaning::Foreign(..)));
        let says = |m: &&Meaning| match m {
            Meaning::Foreign(..) => false,
            // Beside foreign code it lists the nodes of the code, and has no other meaning.
            Meaning::Primitive(it) => !(foreign && it.word.eq_ignore_ascii_case("identity")),
            Meaning::Rules(_) | Meaning::States(_) => true,
        };
        let known = all.iter().find(says);
        let kind = f.definition().name.clone();
        if f.ports.len() > MAX_ENDS {
            return Err(f.fault(f.spot, TreoFault::limit("nodes of one atom", MAX_ENDS)));
        }
        let names: Vec<String> = f.ports.iter().map(|(name, _)| name.clone()).collect();
        if foreign {
            self.foreign_note(f, all, known.is_none());
        }
        let make = match known {
            Some(Meaning::Primitive(primitive)) => {
                return self.primitive(f, scope, primitive, foreign);
            }
            None | Some(Meaning::Foreign(..)) => Make::Foreign,
            Some(meaning) => Make::Template(self.template(f, scope, meaning, &names)?),
        };
        let ends = self.ends(f, matches!(make, Make::Foreign));
        let (prefix, open) = (f.prefix.clone(), foreign.then_some(names));
        let parameters = f.definition().parameters.iter();
        let arguments = parameters.filter_map(|p| scope.get(&p.name.word)?.scalar()).collect();
        self.leaf(f, f.spot, Leaf { kind, arguments, prefix, ends, make, open })
    }

    fn template(
        &mut self,
        f: &Frame,
        scope: &Scope,
        meaning: &Meaning,
        ports: &[String],
    ) -> TreoResult<Arc<Template>> {
        let values = scope.own().iter().filter_map(|(w, v)| Some((w.clone(), v.scalar()?)));
        let key: Key = (f.file, f.definition, values.collect(), ports.len());
        if let Some(known) = self.templates.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut words = AtomWords { x: self, f, scope };
        let template = match meaning {
            Meaning::Rules(rules) => atom::of_rules(rules, ports, &mut words)?,
            Meaning::States(states) => atom::of_states(states, ports, &mut words)?,
            _ => Template::default(),
        };
        let template = Arc::new(template);
        self.templates.insert(key, Arc::clone(&template));
        Ok(template)
    }

    /// The ends of an atom. Nodes without a mark are inputs, or outputs if all marks are `?`.
    fn ends(&mut self, f: &Frame, foreign: bool) -> Vec<ChannelEnd> {
        let marks = || f.ports.iter().filter_map(|(_, direction)| *direction);
        let unmarked: Vec<&str> =
            f.ports.iter().filter(|(_, d)| d.is_none()).map(|(n, _)| n.as_str()).collect();
        let writes = marks().count() > 0 && marks().all(|d| d == Direction::In);
        if !unmarked.is_empty() && !foreign {
            let way = if writes { "outputs" } else { "inputs" };
            let nodes = listed(unmarked.iter());
            self.notes.add(format!(
                "the nodes {nodes} of `{}` are neither ? nor !; they are taken as {way}",
                f.definition().name
            ));
        }
        let end = |(name, direction): &(String, Option<Direction>)| {
            let writes = direction.map_or(writes, |d| d == Direction::Out);
            ChannelEnd { node: f.node(name), writes }
        };
        f.ports.iter().map(end).collect()
    }

    fn foreign_note(&mut self, f: &Frame, all: &[Meaning], alone: bool) {
        let mut tags = all.iter().filter_map(|m| match m {
            Meaning::Foreign(tag, _) => Some(format!("#{tag}")),
            _ => None,
        });
        let nodes = listed(f.ports.iter().map(|(name, _)| f.node(name)));
        let (is, more) = if alone { ("is", "") } else { ("has", " more") };
        self.notes.add(format!(
            "`{}` {is} foreign code ({}); what it does{more} at {nodes} is left to the environment",
            f.definition().name,
            tags.join(", ")
        ));
    }

    /// `#PR`: a built-in component at some of the atom's nodes.
    fn primitive(
        &mut self,
        f: &Frame,
        scope: &Scope,
        primitive: &PrimitiveUse,
        foreign: bool,
    ) -> Done {
        let spot = primitive.spot;
        let catalog = |error: CatalogError| f.fault(spot, error.into());
        let mut arguments = Vec::new();
        for argument in &primitive.arguments {
            let value = self.value(f, scope, argument).map_err(|t| f.unset(scope, t))?;
            arguments.push(self.scalar(f, spot, &value)?);
        }
        let texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let found = match Primitive::find(&primitive.word, &texts) {
            // `Sync[1]` and the like give the number of data that flow at once.
            Err(CatalogError::Arguments { .. }) => Primitive::find(&primitive.word, &[]),
            found => found,
        };
        let found = found.map_err(catalog)?;
        let (mut nodes, mut ports) = (Vec::new(), Vec::new());
        for variable in &primitive.nodes {
            for name in self.names(f, scope, variable).map_err(|t| f.unset(scope, t))? {
                if !f.ports.iter().any(|(port, _)| *port == name) {
                    let fix = suggest(&name, f.ports.iter().map(|(p, _)| p.as_str()));
                    let fault = TreoFault::Unknown { word: name, what: "node of the atom", fix };
                    return Err(f.fault(variable.spot, fault));
                }
                nodes.push(f.node(&name));
                ports.push(name);
            }
        }
        let mut leaf = self.catalogued(f, spot, &f.definition().name, &found, &nodes, &f.prefix)?;
        leaf.open = foreign.then_some(ports);
        self.leaf(f, spot, leaf)
    }

    pub fn built_in(
        &mut self,
        f: &Frame,
        spot: Spot,
        component: &Component,
        nodes: &[String],
        prefix: &str,
    ) -> Done {
        let arguments = component.arguments.iter().map(|a| self.scalar(f, spot, a));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let found = Primitive::find(&component.word, &arguments);
        let found = found.map_err(|error| f.fault(spot, error.into()))?;
        let leaf = self.catalogued(f, spot, &component.word, &found, nodes, prefix)?;
        self.leaf(f, spot, leaf)
    }

    fn catalogued(
        &mut self,
        f: &Frame,
        spot: Spot,
        kind: &str,
        primitive: &Primitive,
        nodes: &[String],
        prefix: &str,
    ) -> TreoResult<Leaf> {
        let mut nodes = nodes.to_vec();
        if matches!(primitive, Primitive::Timer(_)) && nodes.len() == 2 {
            self.notes.add(format!("timers share the node `{TICK}`, which fires when time passes"));
            nodes.push(TICK.to_owned());
        }
        let writes = primitive.ends(nodes.len()).map_err(|error| f.fault(spot, error.into()))?;
        let ends = nodes.into_iter().zip(writes).map(|(node, writes)| ChannelEnd { node, writes });
        let (ends, make) = (ends.collect(), Make::Primitive(primitive.clone()));
        let (kind, prefix, open) = (kind.to_owned(), prefix.to_owned(), None);
        let arguments = primitive.argument().into_iter().collect();
        Ok(Leaf { kind, arguments, prefix, ends, make, open })
    }

    fn leaf(&mut self, f: &Frame, spot: Spot, leaf: Leaf) -> Done {
        self.size += match &leaf.make {
            Make::Primitive(primitive) => primitive.size(leaf.ends.len()),
            Make::Template(template) => template.size(),
            Make::Foreign => 1,
        };
        self.leaves.push(leaf);
        for (count, limit, what) in [
            (self.leaves.len(), MAX_PARTS, "parts"),
            (self.size, MAX_SIZE, "words of 64 bits for all parts"),
        ] {
            if count > limit {
                return Err(f.fault(spot, TreoFault::limit(what, limit)));
            }
        }
        Ok(())
    }

    /// The connector, with nodes made of the leaves' ends.
    pub fn wire(self, f: &Frame) -> TreoResult<Connector> {
        let mut writers: IndexMap<String, usize> = IndexMap::new();
        for end in self.leaves.iter().flat_map(|l| &l.ends).filter(|e| e.writes) {
            *writers.entry(end.node.clone()).or_default() += 1;
        }
        if writers.values().any(|count| *count > MAX_ENDS) {
            return Err(f.fault(f.spot, TreoFault::limit("ends that write to one node", MAX_ENDS)));
        }
        let mut wiring = Wiring::new(&f.definition().name);
        let mut visible: IndexSet<String> = f.ports.iter().map(|(name, _)| f.node(name)).collect();
        for leaf in self.leaves {
            let Leaf { kind, arguments, prefix, mut ends, make, open } = leaf;
            // Of a part of a part the prefix is `token.1/fifo1.2/`.
            let path = prefix.trim_end_matches('/').split_once('/');
            wiring.enter(path.map_or("", |(component, _)| component));
            if matches!(make, Make::Foreign) {
                wiring.show(&kind, &ends);
            }
            // The environment sees the nodes at which foreign code takes part. An end that is not
            // the only one to write to its node gets its own node, with a channel to the node.
            if let Some(ports) = open {
                for (end, port) in ends.iter_mut().zip(ports) {
                    if end.writes && writers[&end.node] > 1 {
                        wiring.set_apart(end, format!("{prefix}{port}"));
                    }
                    visible.insert(end.node.clone());
                }
            }
            match make {
                Make::Foreign => {}
                Make::Primitive(primitive) => {
                    visible.extend(ends.iter().find(|e| e.node == TICK).map(|e| e.node.clone()));
                    wiring.add_with(&kind, &arguments, &ends, move |names, symbols| {
                        primitive.automaton(names, &prefix, symbols)
                    });
                }
                Make::Template(template) => {
                    wiring.add_with(&kind, &arguments, &ends, move |names, symbols| {
                        template.automaton(names, &prefix, symbols)
                    });
                }
            }
        }
        self.notes.0.into_iter().for_each(|note| wiring.note(note));
        if let Some(note) = unwritten(&wiring, &visible) {
            wiring.note(note);
        }
        Ok(wiring.finish(&visible.iter().map(String::as_str).collect::<Vec<_>>()))
    }
}

/// A note about inner nodes that nothing writes to.
fn unwritten(wiring: &Wiring, visible: &IndexSet<String>) -> Option<String> {
    let nodes = wiring.nodes();
    let mut dry = nodes.iter().filter(|(node, (written, _))| !written && !visible.contains(**node));
    let first = dry.by_ref().take(5).map(|(node, _)| node).collect::<Vec<_>>();
    let more = if dry.next().is_some() { " and others" } else { "" };
    (!first.is_empty()).then(|| {
        let nodes = listed(first.iter());
        format!("nothing writes to {nodes}{more}; what comes there is left open")
    })
}

struct AtomWords<'a, 'l> {
    x: &'a mut Expander<'l>,
    f: &'a Frame,
    scope: &'a Scope<'a>,
}

impl Words for AtomWords<'_, '_> {
    fn parameter(&mut self, word: &str) -> TreoResult<Option<String>> {
        let f = self.f;
        if let Some(value) = self.scope.get(word) {
            return self.x.scalar(f, f.spot, value).map(Some);
        }
        if !f.definition().parameters.iter().any(|p| p.name.word == word) {
            return Ok(None);
        }
        let missing = Unresolved::Missing(f.spot, word.to_owned());
        Err(f.unset(self.scope, missing))
    }

    fn names(&mut self, variable: &TreoVariable) -> TreoResult<Vec<String>> {
        let (f, scope) = (self.f, self.scope);
        self.x.names(f, scope, variable).map_err(|t| f.unset(scope, t))
    }

    fn note(&mut self, note: String) {
        self.x.notes.add(note);
    }

    fn source(&self) -> &Source {
        &self.f.loaded.source
    }

    fn atom(&self) -> &str {
        &self.f.definition().name
    }
}
