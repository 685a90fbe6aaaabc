//! What has been read so far: steps whose numbers are still symbolic.

use std::rc::Rc;

use itertools::Itertools;

use super::formulas::FormulaId;
use super::symbolic::{Leaf, Poly, PolyTerms};
use crate::ast::{AddressSpace, SourcePlace};
use crate::steps::{Arithmetic, Differs, Lanes, Stride};

#[derive(Debug, Clone, PartialEq)]
pub struct KernelNode {
    pub kind: NodeKind,
    pub at: SourcePlace,
}

pub type Nodes = Vec<KernelNode>;

/// What a node is; see [`StepKind`](crate::steps::KernelStepKind).
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    Access(Reach),
    /// An atomic operation; `shared`: on one address of all items that share the memory.
    Atomic {
        shared: bool,
        reach: Reach,
    },
    Compute {
        kind: Arithmetic,
        amount: u32,
        width: u8,
    },
    /// A result that each correct compilation computes.
    Value(Value),
    Barrier,
    /// A loop; `whole`: the iterations of the one that it was cut from.
    Repeat {
        count: Poly,
        whole: Option<Poly>,
        body: Nodes,
    },
    If {
        condition: Poly,
        then: Nodes,
        otherwise: Nodes,
    },
}

/// A result of an operation on real numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    pub formula: FormulaId,
    pub lanes: Lanes,
    /// Components that differ.
    pub width: u8,
    /// From where it is loaded, each with the distances between iterations.
    pub places: Vec<Reach>,
    /// Whether it differs in each iteration of the loops around that have been left, inner ones
    /// first, at any places; with each loop's counter.
    pub differs: Vec<(Leaf, Differs)>,
    /// Numbers of the guards around.
    pub path: Vec<u32>,
}

/// A load, a store or an atomic operation whose address is as exact as possible.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    pub space: AddressSpace,
    pub store: bool,
    pub array: Rc<str>,
    /// Bytes of one component.
    pub element: u8,
    /// Components at once.
    pub width: u8,
    /// How many bytes behind the array's beginning.
    pub offset: Poly,
    /// Between iterations of the loops that have been left, inner ones first, by their counters.
    pub iterations: Vec<(Leaf, Stride)>,
    /// Whether data decide if it is done, or where.
    pub maybe: bool,
    /// As that of an access in the steps.
    pub apart: [u32; 2],
    /// From where summands of the offset are loaded that are not known.
    pub unknown: Vec<Reach>,
    pub formula: FormulaId,
    /// Numbers of the guards around.
    pub path: Vec<u32>,
}

impl Reach {
    /// A load, or a store, of which nothing else is known.
    pub fn new(
        store: bool,
        (space, array, offset): (AddressSpace, &Rc<str>, &Poly),
        (element, width): (u8, u8),
    ) -> Reach {
        Reach {
            space,
            store,
            array: array.clone(),
            element,
            width,
            offset: offset.clone(),
            iterations: Vec::new(),
            maybe: false,
            apart: [0; 2],
            unknown: Vec::new(),
            formula: FormulaId::UNKNOWN,
            path: Vec::new(),
        }
    }

    pub fn at(&self, offset: Poly) -> Reach {
        Reach { offset, ..self.clone() }
    }

    pub fn mapped(&self, number: &mut dyn FnMut(&Poly) -> Poly) -> Reach {
        let unknown = self.unknown.iter().map(|place| place.mapped(number)).collect();
        Reach { offset: number(&self.offset), unknown, ..self.clone() }
    }
}

impl NodeKind {
    /// Whether two do the same to memory, apart from their addresses.
    fn same_effect(&self, other: &NodeKind) -> bool {
        match (self, other) {
            (NodeKind::Access(a), NodeKind::Access(b)) => {
                (a.space, a.store, a.element, a.width) == (b.space, b.store, b.element, b.width)
            }
            (
                NodeKind::Atomic { shared: a, reach: x },
                NodeKind::Atomic { shared: b, reach: y },
            ) => (a, x.space) == (b, y.space),
            (NodeKind::Barrier, NodeKind::Barrier) => true,
            (
                NodeKind::Repeat { count: a, body: x, .. },
                NodeKind::Repeat { count: b, body: y, .. },
            ) => a == b && same_effect(x, y),
            (
                NodeKind::If { condition: a, then: x, otherwise: v },
                NodeKind::If { condition: b, then: y, otherwise: w },
            ) => a == b && same_effect(x, y) && same_effect(v, w),
            _ => false,
        }
    }

    /// Whether it is more than arithmetic.
    fn matters(&self) -> bool {
        match self {
            NodeKind::Access(reach) => reach.space != AddressSpace::Private,
            NodeKind::Atomic { .. } | NodeKind::Barrier => true,
            _ => self.bodies().any(matter),
        }
    }

    /// The steps inside it: the body of a loop, or both sides of a branch.
    pub fn bodies(&self) -> impl Iterator<Item = &[KernelNode]> {
        let (first, second) = match self {
            NodeKind::Repeat { body, .. } => (Some(body), None),
            NodeKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            _ => (None, None),
        };
        first.into_iter().chain(second).map(Vec::as_slice)
    }

    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Nodes> {
        let (first, second) = match self {
            NodeKind::Repeat { body, .. } => (Some(body), None),
            NodeKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Its own numbers: of a loop, its counts; of a branch, its condition.
    fn numbers(&self) -> impl Iterator<Item = &Poly> {
        let (first, second) = match self {
            NodeKind::Repeat { count, whole, .. } => (Some(count), whole.as_ref()),
            NodeKind::If { condition, .. } => (Some(condition), None),
            _ => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Whether there is more than arithmetic.
pub fn matter(nodes: &[KernelNode]) -> bool {
    nodes.iter().any(|node| node.kind.matters())
}

/// Whether both have the same accesses, atomics and barriers in the same order.
pub fn same_effect(a: &[KernelNode], b: &[KernelNode]) -> bool {
    let [a, b] = [a, b].map(|nodes| nodes.iter().filter(|node| node.kind.matters()));
    a.zip_longest(b).all(|pair| pair.both().is_some_and(|(x, y)| x.kind.same_effect(&y.kind)))
}

/// One for both of two lists with the same effect: what matters once, the arithmetic of both.
/// Accesses to different addresses keep none of them.
pub fn joined(terms: &mut PolyTerms, mut then: Nodes, mut otherwise: Nodes) -> Nodes {
    [&mut then, &mut otherwise].into_iter().for_each(drop_results);
    let (matters, arithmetic): (Nodes, Nodes) =
        otherwise.into_iter().partition(|node| node.kind.matters());
    let mut others = matters.into_iter();
    let own = |node: KernelNode| match node.kind.matters() {
        true => join(terms, node, others.next()),
        false => node,
    };
    then.into_iter().map(own).chain(arithmetic).collect()
}

/// Leaves out results: data decide whether they are needed.
fn drop_results(nodes: &mut Nodes) {
    nodes.retain(|node| !matches!(node.kind, NodeKind::Value(_)));
}

/// Notes of steps that data decide whether they are done.
pub fn make_uncertain(nodes: &mut Nodes) {
    drop_results(nodes);
    for node in nodes {
        if let NodeKind::Access(reach) = &mut node.kind {
            reach.maybe = true;
        }
        node.kind.bodies_mut().for_each(make_uncertain);
    }
}

fn join(terms: &mut PolyTerms, node: KernelNode, other: Option<KernelNode>) -> KernelNode {
    let Some(other) = other else { return node };
    let kind = match (node.kind, other.kind) {
        (NodeKind::Access(a), NodeKind::Access(b)) if a != b => {
            let depends = terms.depends(&a.offset).max(terms.depends(&b.offset));
            let depends = depends.max(crate::steps::Dependence::Item);
            let offset = terms.unknown(depends);
            let array = match a.array == b.array {
                true => a.array,
                false => format!("{} or {}", a.array, b.array).into(),
            };
            NodeKind::Access(Reach { offset, array, maybe: true, ..a })
        }
        (NodeKind::Repeat { count, whole, body: x }, NodeKind::Repeat { body: y, .. }) => {
            NodeKind::Repeat { count, whole, body: joined(terms, x, y) }
        }
        (
            NodeKind::If { condition, then: x, otherwise: v },
            NodeKind::If { then: y, otherwise: w, .. },
        ) => NodeKind::If { condition, then: joined(terms, x, y), otherwise: joined(terms, v, w) },
        (kind, _) => kind,
    };
    KernelNode { kind, at: node.at }
}

/// Whether a count or a condition mentions the leaf.
pub fn mention(terms: &PolyTerms, nodes: &[KernelNode], leaf: Leaf) -> bool {
    first_mention(terms, nodes, leaf).is_some()
}

/// Where a count or a condition (then also `true`) first mentions the leaf.
pub fn first_mention<'n>(
    terms: &PolyTerms,
    nodes: &'n [KernelNode],
    leaf: Leaf,
) -> Option<(&'n SourcePlace, bool)> {
    nodes.iter().find_map(|node| match node.kind.numbers().next() {
        Some(number) if terms.mentions(number, leaf) => {
            Some((&node.at, matches!(node.kind, NodeKind::If { .. })))
        }
        _ => node.kind.bodies().find_map(|body| first_mention(terms, body, leaf)),
    })
}

/// All counts and conditions, outer ones first.
pub fn numbers(nodes: &[KernelNode]) -> Vec<&Poly> {
    let kinds = nodes.iter().map(|node| &node.kind);
    kinds.flat_map(|kind| kind.numbers().chain(kind.bodies().flat_map(numbers))).collect()
}

/// The steps with other numbers; a branch that is decided gives way to its side.
pub fn mapped(nodes: &[KernelNode], number: &mut dyn FnMut(&Poly) -> Poly) -> Nodes {
    let mut all = Vec::new();
    for KernelNode { kind, at } in nodes {
        let kind = match kind {
            NodeKind::Access(reach) => NodeKind::Access(reach.mapped(number)),
            NodeKind::Atomic { shared, reach } => {
                NodeKind::Atomic { shared: *shared, reach: reach.at(number(&reach.offset)) }
            }
            NodeKind::Value(value) => {
                let places = value.places.iter();
                let places = places.map(|place| place.mapped(number)).collect();
                NodeKind::Value(Value { places, ..value.clone() })
            }
            NodeKind::Repeat { count, whole, body } => {
                let count = number(count);
                if count.constant().is_some_and(|count| count <= 0) {
                    continue;
                }
                let whole = whole.as_ref().map(&mut *number);
                NodeKind::Repeat { count, whole, body: mapped(body, number) }
            }
            NodeKind::If { condition, then, otherwise } => {
                let condition = number(condition);
                if let Some(value) = condition.constant() {
                    let side = if value == 0 { otherwise } else { then };
                    mapped(side, number).into_iter().for_each(|node| push(&mut all, node));
                    continue;
                }
                let (then, otherwise) = (mapped(then, number), mapped(otherwise, number));
                NodeKind::If { condition, then, otherwise }
            }
            kind => kind.clone(),
        };
        push(&mut all, KernelNode { kind, at: at.clone() });
    }
    all
}

/// How many steps there are, results left aside.
pub fn size(nodes: &[KernelNode]) -> usize {
    let own = |node: &KernelNode| usize::from(!matches!(node.kind, NodeKind::Value(_)));
    nodes.iter().map(|node| own(node) + node.kind.bodies().map(size).sum::<usize>()).sum()
}

/// Moves nodes to another place in the source.
pub fn put_at(nodes: &mut Nodes, at: &SourcePlace) {
    for node in nodes {
        node.at = at.clone();
        node.kind.bodies_mut().for_each(|body| put_at(body, at));
    }
}

pub fn has_barrier(nodes: &[KernelNode]) -> bool {
    let barrier =
        |node: &KernelNode| node.kind == NodeKind::Barrier || node.kind.bodies().any(has_barrier);
    nodes.iter().any(barrier)
}

/// Appends a node; arithmetic of one kind, width and line is joined, across private accesses too.
pub fn push(nodes: &mut Nodes, node: KernelNode) {
    if let NodeKind::Compute { kind, amount, width } = &node.kind
        && let Some(KernelNode { kind: NodeKind::Compute { kind: k, amount: sum, width: w }, at }) =
            nodes.iter_mut().rev().find(|node| !has_no_price(node))
        && (*k, *w) == (*kind, *width)
        && (at.line, &at.file) == (node.at.line, &node.at.file)
    {
        *sum = sum.saturating_add(*amount);
        return;
    }
    nodes.push(node);
}

/// Whether it is an access of a private array or a result.
fn has_no_price(node: &KernelNode) -> bool {
    match &node.kind {
        NodeKind::Access(reach) => reach.space == AddressSpace::Private,
        kind => matches!(kind, NodeKind::Value(_)),
    }
}
