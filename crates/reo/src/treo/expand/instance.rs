//! Components that are used: which one is meant, and what it is made of.

use std::sync::Arc;

use indexmap::IndexMap;
use tickbound_input::message::suggest;

use super::arguments::Fit;
use super::expander::{Done, Expander, Frame, counted, listed};
use super::scope::{Component, Scope, Unresolved, Value};
use super::top::settable;
use crate::syntax::Spot;
use crate::treo::ast::{Body, ComponentInstance, Direction, TreoValue as Written, TreoVariable};
use crate::treo::error::{TreoFault, TreoResult};
use crate::treo::files::Target;

impl Expander<'_> {
    pub fn instance(&mut self, f: &mut Frame, scope: &Scope, instance: &ComponentInstance) -> Done {
        let spot = instance.component.spot;
        f.spot = spot;
        self.work(f, spot, 1)?;
        let mut component = self.component(f, scope, &instance.component)?;
        if !instance.arguments.is_empty() {
            let more = instance.arguments.iter().map(|a| self.value(f, scope, a));
            let more = more.collect::<Result<Vec<_>, _>>().map_err(|t| f.unset(scope, t))?;
            component.arguments = component.arguments.iter().cloned().chain(more).collect();
        }
        let mut groups: Vec<Vec<String>> = Vec::new();
        for node in &instance.nodes {
            let names = self.names(f, scope, node).map_err(|t| f.unset(scope, t))?;
            groups.push(names.iter().map(|n| f.node(n)).collect());
        }
        let prefix = f.next_use(&component.word);
        let mut first = None;
        loop {
            let misfit = match component.target {
                Target::BuiltIn(_) => {
                    let built = self.built_in(f, spot, &component, &groups.concat(), &prefix);
                    return built.map_err(|error| first.unwrap_or(error));
                }
                Target::Defined { file, definition, .. } => {
                    let meant = (file, definition);
                    match self.fitted(f, spot, meant, &component, &groups, &prefix) {
                        Ok((mut inner, scope)) => {
                            return self.deeper(f, |x, _| x.body(&mut inner, &scope));
                        }
                        Err(error) => first.unwrap_or(error),
                    }
                }
            };
            // Of several files that an import may mean, that one is meant that fits.
            match self.files.next(&component.target) {
                Some(next) => (component.target, first) = (next, Some(misfit)),
                None => return Err(misfit),
            }
        }
    }

    fn component(
        &mut self,
        f: &Frame,
        scope: &Scope,
        word: &TreoVariable,
    ) -> TreoResult<Component> {
        match self.value(f, scope, &Written::Variable(word.clone())) {
            Ok(Value::Component(component)) => Ok(component),
            Ok(other) => Err(f.kind(word.spot, &other, "a component")),
            Err(Unresolved::Missing(spot, missing)) if missing == word.word => {
                let known = self.files.words(f.file);
                let near = suggest(&missing, known.iter().map(String::as_str));
                let fix = format!("define or import it ({near})");
                Err(f.fault(spot, TreoFault::Unknown { word: missing, what: "component", fix }))
            }
            Err(unresolved) => Err(f.unset(scope, unresolved)),
        }
    }

    /// A component of a file, with its arguments and at the nodes `groups`, and its words.
    fn fitted(
        &mut self,
        caller: &Frame,
        spot: Spot,
        (file, definition): (usize, usize),
        component: &Component,
        groups: &[Vec<String>],
        prefix: &str,
    ) -> TreoResult<(Frame, Scope<'static>)> {
        let mut f = Frame::new(self.files.get(file), file, definition, prefix.to_owned());
        let mut scope = Scope::default();
        // Words of its signature are not those of the block around it.
        let own = settable(f.definition());
        let outer = component.words.iter().filter(|(word, _)| !own.contains(&word.as_str()));
        outer.for_each(|(word, value)| scope.set(word.clone(), value.clone()));
        let arguments = self.arguments(&f, &mut scope, &component.arguments);
        arguments.map_err(|fault| caller.fault(spot, fault))?;
        self.equations(&f, &mut scope);
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let fit = self.fit(&f, &mut scope, &f.formals(), &sizes);
        let given: usize = sizes.iter().sum();
        let ports = if fit == Fit::No { None } else { Some(self.interface(&mut f, &scope)?) };
        if ports != Some(given) {
            let has = match ports {
                Some(ports) => counted(ports, "node"),
                None => {
                    format!("the nodes ({})", listed(f.formals().iter().map(|v| v.to_string())))
                }
            };
            let (component, given) = (component.word.to_string(), format!("{given}"));
            let fix = "give each a node".to_owned();
            return Err(caller.fault(spot, TreoFault::Misfit { component, has, given, fix }));
        }
        let local = f.ports.iter().map(|(name, _)| name.clone());
        f.outer = local.zip(groups.iter().flatten().cloned()).collect();
        Ok((f, scope))
    }

    /// Lists the ports of a component; returns how many there are.
    pub fn interface(&mut self, f: &mut Frame, scope: &Scope) -> TreoResult<usize> {
        let (mut ports, mut types) = (Vec::new(), Vec::new());
        for node in &f.definition().nodes {
            let Some(variable) = &node.name else { continue };
            let names = self.names(f, scope, variable).map_err(|t| f.unset(scope, t))?;
            // A parameter may be any type.
            let is_open = |ty: &&String| {
                ty.contains('$') || f.definition().parameters.iter().any(|p| p.name.word == **ty)
            };
            if let Some(ty) = node.ty.as_ref().filter(|ty| !is_open(ty)) {
                types.extend(names.iter().map(|name| (name.clone(), ty.clone())));
            }
            ports.extend(names.into_iter().map(|name| (name, node.direction)));
        }
        let mut seen = std::collections::HashSet::new();
        if let Some((again, _)) = ports.iter().find(|(name, _)| !seen.insert(name.as_str())) {
            return Err(f.fault(f.spot, TreoFault::Twice(again.clone())));
        }
        (f.ports, f.types) = (ports, types);
        Ok(f.ports.len())
    }

    /// Notes nodes to which components give different types.
    fn compare_types(&mut self, f: &Frame) {
        let component = &f.definition().name;
        for (port, ty) in &f.types {
            let node = f.node(port);
            let Some((other, first)) = self.types.get(&node) else {
                self.types.insert(node, (ty.clone(), component.clone()));
                continue;
            };
            if !other.eq_ignore_ascii_case(ty) {
                let first = format!("`{node}` has data of type {other} in `{first}`");
                self.notes.add(format!("{first}, and of type {ty} in `{component}`"));
            }
        }
    }

    pub fn body(&mut self, f: &mut Frame, scope: &Scope) -> Done {
        self.compare_types(f);
        let loaded = Arc::clone(&f.loaded);
        let begin = self.leaves.len();
        match &loaded.all[f.definition].body {
            Body::Block(block) => self.block(f, scope, block)?,
            Body::Atom(meanings) => self.atom(f, scope, meanings)?,
        }
        // Once for each definition: there may be millions of uses.
        if self.compared.insert((f.file, f.definition)) { self.joined(f, begin) } else { Ok(()) }
    }

    /// Compares the interface of a component with what its body, the leaves from `begin` on, does
    /// at the nodes: of the connector itself each has to be joined, unless nothing is in it.
    fn joined(&mut self, f: &Frame, begin: usize) -> Done {
        let mut nodes: IndexMap<&str, [bool; 2]> = IndexMap::new();
        for end in self.leaves[begin..].iter().flat_map(|leaf| &leaf.ends) {
            nodes.entry(&end.node).or_default()[usize::from(end.writes)] = true;
        }
        let component = &f.definition().name;
        let (joined, apart): (Vec<_>, Vec<_>) =
            f.ports.iter().partition(|(port, _)| nodes.contains_key(f.node(port).as_str()));
        for (port, direction) in joined {
            let [reads, writes] = nodes[f.node(port).as_str()];
            let (mark, does) = match direction {
                Some(Direction::In) if !reads => ("?", "reads from"),
                Some(Direction::Out) if !writes => ("!", "writes to"),
                _ => continue,
            };
            self.notes.add(format!(
                "`{component}` has the node `{port}{mark}`, but nothing in it {does} `{port}`; \
                 its direction is taken from the body"
            ));
        }
        let Some((first, _)) = apart.first() else { return Ok(()) };
        let own = nodes.keys().copied().filter(|node| !node.contains('/'));
        let fix = suggest(first, own);
        let names = listed(apart.iter().map(|(port, _)| port));
        if f.top && !nodes.is_empty() {
            let fault = TreoFault::Unjoined { nodes: names, component: component.clone(), fix };
            return Err(f.fault(f.definition().spot, fault));
        }
        self.notes.add(format!("nothing in `{component}` joins its nodes {names}"));
        Ok(())
    }
}
