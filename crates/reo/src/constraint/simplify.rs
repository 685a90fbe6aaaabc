//! Constraints in their simplest form, with hidden data eliminated.
//!
//! All terms go into an e-graph of [`egg`]: equations are unions, a predicate is a term that equals
//! *holds* or *fails*. What is to be eliminated (the datum of a hidden name, a value between two
//! steps, a cell that nothing reads again) may not occur in a representative; another term of its
//! class replaces it.
//!
//! **Promise.** The result holds for exactly the data and memory for which some values of what was
//! eliminated make the input hold, for any functions and predicates. The input is found
//! unsatisfiable if congruence alone shows it. The argument is in `docs/reo.md`.
//!
//! ```
//! use tickbound_reo::constraint::simplify::{Gone, simplify};
//! use tickbound_reo::constraint::{DataConstraint, Literal, DataTerm};
//! use tickbound_reo::symbol::Symbols;
//!
//! let mut words = Symbols::new();
//! let (a, x, b) = (words.name("a"), words.name("x"), words.name("b"));
//! let equal = |p, q| Literal::Equal(DataTerm::Datum(p), DataTerm::Datum(q));
//! let both = DataConstraint::new([equal(a, x), equal(x, b)]);
//! let hidden = simplify(&both, &Gone { names: &[x], cells: &[] }).unwrap();
//! assert_eq!(hidden, DataConstraint::new([equal(a, b)]));
//! ```

use std::collections::BTreeMap;

use egg::{EGraph, Id, Language};
use itertools::Itertools;

pub use super::flat::Gone;
use super::{DataConstraint, DataTerm, Literal, flat};
use crate::symbol::{Cell, SymbolId};

/// A term whose arguments are classes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Node {
    Holds,
    Fails,
    Leaf(DataTerm),
    Call(SymbolId, Vec<Id>),
    Predicate(SymbolId, Vec<Id>),
}

impl Language for Node {
    type Discriminant = std::mem::Discriminant<Node>;

    fn discriminant(&self) -> Self::Discriminant {
        std::mem::discriminant(self)
    }

    fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Node::Call(f, a), Node::Call(g, b))
            | (Node::Predicate(f, a), Node::Predicate(g, b)) => f == g && a.len() == b.len(),
            _ => self == other,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            Node::Call(_, arguments) | Node::Predicate(_, arguments) => arguments,
            Node::Holds | Node::Fails | Node::Leaf(_) => &[],
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Node::Call(_, arguments) | Node::Predicate(_, arguments) => arguments,
            Node::Holds | Node::Fails | Node::Leaf(_) => &mut [],
        }
    }
}

type Graph = EGraph<Node, ()>;

/// The constraint in its simplest form without what is `gone`, or `None` if nothing fulfils it.
///
/// Values of the input that have no name ([`DataTerm::Some`]) are taken out as well; the result has
/// new ones where a condition on them is left.
pub fn simplify(constraint: &DataConstraint, gone: &Gone) -> Option<DataConstraint> {
    conjunction(constraint.literals(), gone)
}

/// As [`simplify`], for literals in any order.
pub fn conjunction(literals: &[Literal], gone: &Gone) -> Option<DataConstraint> {
    if literals.is_empty() {
        return Some(DataConstraint::default());
    }
    flat::simplify(literals, gone)
        .unwrap_or_else(|| simplify_any(&DataConstraint::new(literals.iter().cloned()), gone))
}

/// As [`conjunction`], for literals most of which are in simplest form already and have nothing to
/// do with what goes: classes in which neither something gone nor a term of `touched` (sorted)
/// occurs stay as they are. What goes is still gone everywhere; the form is the simplest if it was
/// before.
pub fn around(literals: Vec<Literal>, gone: &Gone, touched: &[DataTerm]) -> Option<DataConstraint> {
    let moves = |t: &DataTerm| gone.takes(t) || touched.binary_search(t).is_ok();
    let mut moving: Vec<&DataTerm> = Vec::new();
    for literal in &literals {
        let Some((a, b)) = flat::sides(literal) else { return conjunction(&literals, gone) };
        moving.extend((moves(a) || moves(b)).then_some(a));
    }
    moving.sort_unstable();
    moving.dedup();
    let in_class = |l: &Literal| l.terms().take(1).any(|a| moving.binary_search(&a).is_ok());
    let active: Vec<Literal> = literals.iter().filter(|l| in_class(l)).cloned().collect();
    // In simplest form no leaf is in two classes. Where one is, such as a cell after the step, the
    // active literals alone may not say that it keeps its value.
    let mut leaves: Vec<&DataTerm> = active.iter().flat_map(Literal::terms).collect();
    leaves.sort_unstable();
    let meets = |l: &Literal| l.terms().any(|t| leaves.binary_search(&t).is_ok());
    if literals.iter().any(|l| !in_class(l) && meets(l)) {
        return conjunction(&literals, gone);
    }
    let settled = conjunction(&active, gone)?;
    let rest = literals.iter().filter(|l| !in_class(l));
    Some(DataConstraint::new(rest.chain(settled.literals()).cloned()))
}

/// As [`simplify`], always with the e-graph: what the short way for equations is compared with.
pub fn simplify_any(constraint: &DataConstraint, gone: &Gone) -> Option<DataConstraint> {
    let (graph, apart) = closure(constraint.literals())?;
    Some(Reading::new(&graph, gone).constraint(constraint, &apart))
}

/// Whether some data and memory fulfil a constraint for some functions and predicates: exactly when
/// [`simplify`] has a result, at a fraction of its cost.
pub fn is_possible(constraint: &DataConstraint) -> bool {
    let all = constraint.literals();
    if !may_conflict([constraint]) {
        return true;
    }
    let flat = flat::simplify(all, &Gone::default());
    flat.map_or_else(|| closure(all).is_some(), |settled| settled.is_some())
}

/// Whether the conjunction of some constraints could be one that nothing fulfils: without an
/// inequality, a predicate that holds and fails, or two constants there is always a model, in which
/// all that is equated has its own value.
pub fn may_conflict<'c>(constraints: impl IntoIterator<Item = &'c DataConstraint>) -> bool {
    let (mut constant, mut predicates) = (None, Vec::new());
    let mut conflict = false;
    for literal in constraints.into_iter().flat_map(DataConstraint::literals) {
        match literal {
            Literal::Equal(..) => {}
            Literal::Different(..) => return true,
            Literal::Predicate(holds, p, _) => {
                conflict |= predicates.contains(&(!holds, *p));
                if !predicates.contains(&(*holds, *p)) {
                    predicates.push((*holds, *p));
                }
            }
        }
        literal.visit(&mut |leaf| {
            if let DataTerm::Constant(c) = leaf {
                conflict |= constant.replace(*c).is_some_and(|known| known != *c);
            }
        });
        if conflict {
            return true;
        }
    }
    false
}

/// The classes of all terms, and the pairs that differ; `None` if nothing fulfils them.
fn closure(literals: &[Literal]) -> Option<(Graph, Vec<(Id, Id)>)> {
    let mut graph = Graph::default();
    let truth = [graph.add(Node::Fails), graph.add(Node::Holds)];
    let mut apart = Vec::new();
    for literal in literals {
        match literal {
            Literal::Equal(a, b) => {
                let (a, b) = (add(&mut graph, a), add(&mut graph, b));
                graph.union(a, b);
            }
            Literal::Different(a, b) => apart.push((add(&mut graph, a), add(&mut graph, b))),
            Literal::Predicate(holds, p, terms) => {
                let arguments = terms.iter().map(|t| add(&mut graph, t)).collect();
                let node = graph.add(Node::Predicate(*p, arguments));
                graph.union(node, truth[usize::from(*holds)]);
            }
        }
    }
    graph.rebuild();
    consistent(&graph, &apart).then_some((graph, apart))
}

fn add(graph: &mut Graph, term: &DataTerm) -> Id {
    match term {
        DataTerm::Call(f, terms) => {
            let arguments = terms.iter().map(|t| add(graph, t)).collect();
            graph.add(Node::Call(*f, arguments))
        }
        leaf => graph.add(Node::Leaf(leaf.clone())),
    }
}

/// Whether no class has two different values and nothing that differs has become equal.
fn consistent(graph: &Graph, apart: &[(Id, Id)]) -> bool {
    let is_value =
        |n: &&Node| matches!(n, Node::Holds | Node::Fails | Node::Leaf(DataTerm::Constant(_)));
    graph.classes().all(|class| class.nodes.iter().filter(is_value).count() <= 1)
        && apart.iter().all(|(a, b)| graph.find(*a) != graph.find(*b))
}

/// A term with its size; the least one of a class represents it.
type Best = (usize, DataTerm);

/// Size of a value without a name: more than any term of names and cells.
const NAMELESS: usize = 1 << 20;

/// Classes read back as terms.
struct Reading<'a> {
    graph: &'a Graph,
    gone: &'a Gone<'a>,
    best: BTreeMap<Id, Best>,
}

impl<'a> Reading<'a> {
    fn new(graph: &'a Graph, gone: &'a Gone<'a>) -> Self {
        let mut reading = Reading { graph, gone, best: BTreeMap::new() };
        reading.settle();
        // What is left has only terms that are gone: it gets values without names.
        let left = graph.classes().filter(|c| !reading.best.contains_key(&c.id));
        let left = left.map(|c| (leaves(&c.nodes), c.id)).filter(|(leaves, _)| !leaves.is_empty());
        for (k, (_, class)) in left.sorted().enumerate() {
            reading.best.insert(class, (NAMELESS, DataTerm::Some(k as u32)));
        }
        reading.settle();
        reading
    }

    /// Finds the least term of each class until none gets smaller.
    fn settle(&mut self) {
        loop {
            let mut changed = false;
            for class in self.graph.classes() {
                let Some(least) = class.nodes.iter().filter_map(|n| self.term(n)).min() else {
                    continue;
                };
                if self.best.get(&class.id).is_none_or(|known| least < *known) {
                    self.best.insert(class.id, least);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// The term of a node, if it needs nothing that is gone.
    fn term(&self, node: &Node) -> Option<Best> {
        match node {
            Node::Leaf(leaf) => (!self.gone.takes(leaf)).then(|| (1, leaf.clone())),
            Node::Call(f, arguments) => {
                let (size, terms) = self.terms(arguments)?;
                Some((size + 1, DataTerm::Call(*f, terms.into())))
            }
            Node::Holds | Node::Fails | Node::Predicate(..) => None,
        }
    }

    fn terms(&self, classes: &[Id]) -> Option<(usize, Vec<DataTerm>)> {
        let best = classes.iter().map(|class| self.best.get(&self.graph.find(*class)));
        let (sizes, terms): (Vec<usize>, _) =
            best.collect::<Option<Vec<_>>>()?.into_iter().cloned().unzip();
        Some((sizes.iter().sum(), terms))
    }

    fn constraint(&self, input: &DataConstraint, apart: &[(Id, Id)]) -> DataConstraint {
        let mut literals = Vec::new();
        for class in self.graph.classes() {
            self.equations(&class.nodes, class.id, &mut literals);
            self.predicates(&class.nodes, &mut literals);
        }
        for (a, b) in apart {
            if let Some((_, terms)) = self.terms(&[*a, *b])
                && !matches!(&terms[..], [DataTerm::Constant(_), DataTerm::Constant(_)])
            {
                literals.push(Literal::Different(terms[0].clone(), terms[1].clone()));
            }
        }
        self.keep_written(input, &mut literals);
        numbered(literals)
    }

    fn equations(&self, nodes: &[Node], class: Id, literals: &mut Vec<Literal>) {
        let Some((_, best)) = self.best.get(&class) else { return };
        let terms: Vec<DataTerm> = nodes.iter().filter_map(|n| Some(self.term(n)?.1)).collect();
        for term in terms.iter().filter(|t| *t != best) {
            // That a cell keeps its value is what holds without a word.
            let kept = matches!(term, DataTerm::After(c) if terms.contains(&DataTerm::Before(*c)));
            if !kept {
                literals.push(Literal::Equal(best.clone(), term.clone()));
            }
        }
    }

    fn predicates(&self, nodes: &[Node], literals: &mut Vec<Literal>) {
        let holds = nodes.contains(&Node::Holds);
        for node in nodes {
            if let Node::Predicate(p, arguments) = node
                && let Some((_, terms)) = self.terms(arguments)
            {
                literals.push(Literal::Predicate(holds, *p, terms.into()));
            }
        }
    }

    /// A cell that the input gives a value must not seem to keep its old one.
    fn keep_written(&self, input: &DataConstraint, literals: &mut Vec<Literal>) {
        for cell in written(input) {
            let after = DataTerm::After(cell);
            let lookup = self.graph.lookup(Node::Leaf(after.clone()));
            let Some(class) = lookup.map(|id| self.graph.find(id)) else { continue };
            let before = self.graph.lookup(Node::Leaf(DataTerm::Before(cell)));
            let kept = before.is_some_and(|id| self.graph.find(id) == class);
            if kept
                || self.gone.takes(&after)
                || literals.iter().any(|l| l.has_leaf(|t| *t == after))
            {
                continue;
            }
            literals.push(Literal::Equal(after, DataTerm::Some(u32::MAX - cell.0.0)));
        }
    }
}

/// The leaves among some nodes, in order: distinguishes classes that have no other name.
fn leaves(nodes: &[Node]) -> Vec<Node> {
    nodes.iter().filter(|n| matches!(n, Node::Leaf(_))).cloned().sorted().collect()
}

/// Cells that a constraint mentions as they are after the step, sorted.
pub fn written(constraint: &DataConstraint) -> Vec<Cell> {
    cells(constraint, |leaf| if let DataTerm::After(cell) = leaf { Some(*cell) } else { None })
}

/// Cells that a constraint mentions as they are before the step, sorted.
pub fn read(constraint: &DataConstraint) -> Vec<Cell> {
    cells(constraint, |leaf| if let DataTerm::Before(cell) = leaf { Some(*cell) } else { None })
}

fn cells(constraint: &DataConstraint, wanted: impl Fn(&DataTerm) -> Option<Cell>) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(constraint.literals().len());
    constraint.visit(|leaf| cells.extend(wanted(leaf)));
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// The literals in groups that share no value without a name, each group once and with such values
/// numbered from 0, sorted; and whether a group was there more than once.
pub(crate) fn components(constraint: &DataConstraint) -> (Vec<DataConstraint>, bool) {
    let mut groups: Vec<(Vec<u32>, Vec<Literal>)> = Vec::new();
    for literal in constraint.literals() {
        let mut values = Vec::new();
        literal.visit(&mut |leaf| {
            if let DataTerm::Some(k) = leaf {
                values.push(*k);
            }
        });
        let mut literals = vec![literal.clone()];
        let meets = |group: &(Vec<u32>, Vec<Literal>)| group.0.iter().any(|k| values.contains(k));
        let (meeting, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        groups = apart;
        for (more, others) in meeting {
            values.extend(more);
            literals.extend(others);
        }
        groups.push((values, literals));
    }
    let many = groups.len();
    let mut all: Vec<DataConstraint> =
        groups.into_iter().map(|(_, literals)| numbered(literals)).collect();
    all.sort_unstable();
    all.dedup();
    let repeats = all.len() < many;
    (all, repeats)
}

/// Most attempts at numbers that stay as they are.
const ATTEMPTS: usize = 16;

/// The literals with nameless values numbered as they occur. New numbers may change that order, and
/// so on around a cycle: the least constraint on it is taken, so that the result is stable.
fn numbered(literals: Vec<Literal>) -> DataConstraint {
    let (first, values) = renumbered(&literals);
    if values < 2 {
        return first;
    }
    let mut seen = vec![first];
    loop {
        let (next, _) = renumbered(seen[seen.len() - 1].literals());
        let cycle = seen.iter().position(|s| *s == next);
        if let Some(at) = cycle.or((seen.len() == ATTEMPTS).then_some(0)) {
            return seen.drain(at..).min().unwrap_or(next);
        }
        seen.push(next);
    }
}

/// One attempt, and how many values without a name there are.
fn renumbered(literals: &[Literal]) -> (DataConstraint, usize) {
    let mut literals = literals.to_vec();
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    let blind = |l: &Literal| {
        l.map(&mut |t| match t {
            DataTerm::Some(_) => DataTerm::Some(0),
            other => other.clone(),
        })
    };
    literals.sort_by_cached_key(|l| (blind(l), l.clone()));
    let mut number = |term: &DataTerm| match term {
        DataTerm::Some(k) => {
            let next = numbers.len() as u32;
            DataTerm::Some(*numbers.entry(*k).or_insert(next))
        }
        other => other.clone(),
    };
    let all: Vec<Literal> = literals.iter().map(|l| l.map(&mut number)).collect();
    (DataConstraint::new(all), numbers.len())
}
