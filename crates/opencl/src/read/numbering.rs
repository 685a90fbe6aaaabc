//! Results and accesses with numbers by which those are known that always differ.

use std::collections::HashSet;
use std::rc::Rc;

use super::formulas::{FormulaId, Formulas};
use super::nodes::{KernelNode, NodeKind, Nodes, Reach};
use super::symbolic::{Leaf, PolyTerms};
use crate::ast::AddressSpace;

/// Visits all accesses that are not private.
pub fn each_access(nodes: &mut [KernelNode], visit: &mut dyn FnMut(&mut Reach)) {
    for node in nodes {
        match &mut node.kind {
            NodeKind::Access(reach) if reach.space != AddressSpace::Private => visit(reach),
            NodeKind::Repeat { body, .. } => each_access(body, visit),
            NodeKind::If { then, otherwise, .. } => {
                each_access(then, visit);
                each_access(otherwise, visit);
            }
            _ => {}
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

/// The steps with some of the results, and without places that are written.
pub fn kept(nodes: Nodes, keeps: &dyn Fn(FormulaId) -> bool, stored: &HashSet<Rc<str>>) -> Nodes {
    let part = |KernelNode { kind, at }| {
        let kind = match kind {
            NodeKind::Value(value) if !keeps(value.formula) => return None,
            NodeKind::Value(mut value) => {
                value.places.retain(|place| !stored.contains(&place.array));
                NodeKind::Value(value)
            }
            NodeKind::Repeat { count, whole, body } => {
                NodeKind::Repeat { count, whole, body: kept(body, keeps, stored) }
            }
            NodeKind::If { condition, then, otherwise } => NodeKind::If {
                condition,
                then: kept(then, keeps, stored),
                otherwise: kept(otherwise, keeps, stored),
            },
            kind => kind,
        };
        Some(KernelNode { kind, at })
    };
    nodes.into_iter().filter_map(part).collect()
}

/// Notes of operations whether they differ in each iteration of a loop around.
pub fn set_differing(
    formulas: &Formulas,
    terms: &PolyTerms,
    nodes: &mut [KernelNode],
    iteration: Leaf,
) {
    for node in nodes {
        match &mut node.kind {
            NodeKind::Value(value) => {
                let differs = formulas.differs(terms, value.formula, iteration);
                value.differs.push((iteration, differs));
            }
            NodeKind::Repeat { body, .. } => set_differing(formulas, terms, body, iteration),
            NodeKind::If { then, otherwise, .. } => {
                set_differing(formulas, terms, then, iteration);
                set_differing(formulas, terms, otherwise, iteration);
            }
            _ => {}
        }
    }
}
