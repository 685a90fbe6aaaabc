//! Results and accesses with numbers by which those are known that always differ.

use std::collections::HashSet;
use std::rc::Rc;

use super::formulas::{FormulaId, Formulas};
use super::nodes::{KernelNode, NodeKind, Nodes, Reach};
use super::strides::between_iterations;
use super::symbolic::{Leaf, PolyTerms};
use crate::ast::AddressSpace;
use crate::steps::Stride;

/// Visits all accesses that are not private.
pub fn each_access(nodes: &mut [KernelNode], visit: &mut dyn FnMut(&mut Reach)) {
    for node in nodes {
        match &mut node.kind {
            NodeKind::Access(reach) if reach.space != AddressSpace::Private => visit(reach),
            kind => kind.bodies_mut().for_each(|body| each_access(body, visit)),
        }
    }
}

/// All results, and the global arrays that are written.
pub fn gather(nodes: &[KernelNode], all: &mut Vec<FormulaId>, stored: &mut HashSet<Rc<str>>) {
    for node in nodes {
        match &node.kind {
            NodeKind::Value(value) => all.push(value.formula),
            NodeKind::Access(reach) if reach.store && reach.space != AddressSpace::Local => {
                stored.insert(reach.array.clone());
            }
            NodeKind::Atomic { reach, .. } => drop(stored.insert(reach.array.clone())),
            _ => {}
        }
        node.kind.bodies().for_each(|body| gather(body, all, stored));
    }
}

/// Leaves out some of the results, and places that are written.
pub fn keep(nodes: &mut Nodes, keeps: &dyn Fn(FormulaId) -> bool, stored: &HashSet<Rc<str>>) {
    nodes.retain_mut(|node| {
        node.kind.bodies_mut().for_each(|body| keep(body, keeps, stored));
        let NodeKind::Value(value) = &mut node.kind else { return true };
        value.places.retain(|place| !stored.contains(&place.array));
        keeps(value.formula)
    });
}

/// Notes how far apart iterations of steps are, and whether operations differ in each.
pub fn set_iterations(
    formulas: &Formulas,
    terms: &mut PolyTerms,
    nodes: &mut [KernelNode],
    iteration: Leaf,
) {
    for node in nodes {
        let mut set = |reach: &mut Reach| {
            let between = between_iterations(terms, reach, iteration);
            reach.iterations.push((iteration, between));
        };
        match &mut node.kind {
            NodeKind::Access(reach) => {
                set(reach);
                reach.unknown.iter_mut().for_each(set);
            }
            NodeKind::Value(value) => {
                value.places.iter_mut().for_each(set);
                let differs = formulas.differs(terms, value.formula, iteration);
                value.differs.push((iteration, differs));
            }
            NodeKind::Atomic { reach, .. } => reach.iterations.push((iteration, Stride::Irregular)),
            kind => {
                kind.bodies_mut().for_each(|body| set_iterations(formulas, terms, body, iteration));
            }
        }
    }
}
