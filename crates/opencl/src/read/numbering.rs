//! Results and accesses with numbers by which those are known that always differ.

use std::collections::HashSet;
use std::rc::Rc;

use super::Reader;
use super::formulas::{ArraySpan, FormulaId, Formulas, apart_classes};
use super::nodes::{KernelNode, NodeKind, Nodes, Reach};
use super::symbolic::{AtomKind, Leaf, PolyTerms};
use crate::ast::AddressSpace;

impl Reader<'_> {
    /// The steps without products that additions take with them, and with numbers for formulas.
    pub fn number_results(&mut self, nodes: Nodes) -> Nodes {
        let (mut all, mut stored) = (Vec::new(), HashSet::new());
        gather(&nodes, &mut all, &mut stored);
        let live = self.formulas.live(&self.terms);
        all.retain(|formula| live.contains(formula));
        let absorbed = self.formulas.absorbed(&all.iter().copied().collect());
        self.keys = self.formulas.keys(&self.terms, &all);
        let mut nodes = nodes;
        self.number_accesses(&mut nodes);
        kept(nodes, &|formula| live.contains(&formula) && !absorbed.contains(&formula), &stored)
    }
}

impl Reader<'_> {
    /// Numbers for accesses that never have one address.
    fn number_accesses(&self, nodes: &mut [KernelNode]) {
        let mut offsets = Vec::new();
        each_access(nodes, &mut |reach| {
            let bytes = i64::from(reach.element) * i64::from(reach.width);
            offsets.push((reach.array.clone(), reach.offset.clone(), bytes));
        });
        let spans =
            offsets.iter().map(|(array, offset, bytes)| ArraySpan { array, offset, bytes: *bytes });
        let spans: Vec<ArraySpan<'_>> = spans.collect();
        let of_items = |atom| {
            let ids = ["$lid_", "$group_"];
            matches!(self.terms.kind(atom), AtomKind::Name(name)
                if ids.iter().any(|id| name.starts_with(id)))
        };
        let of_one = apart_classes(&self.terms, &spans, &|_| false);
        let of_any = apart_classes(&self.terms, &spans, &of_items);
        let mut numbers = of_one.into_iter().zip(of_any);
        each_access(nodes, &mut |reach| {
            if let Some((one, any)) = numbers.next() {
                reach.apart = [one, any];
            }
        });
    }
}

/// Visits all accesses that are not private.
fn each_access(nodes: &mut [KernelNode], visit: &mut dyn FnMut(&mut Reach)) {
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
fn gather(nodes: &[KernelNode], all: &mut Vec<FormulaId>, stored: &mut HashSet<Rc<str>>) {
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
fn kept(nodes: Nodes, keeps: &dyn Fn(FormulaId) -> bool, stored: &HashSet<Rc<str>>) -> Nodes {
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
                value.differs.push(differs);
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
