//! Whole numbers as terms over variables: shared nodes, simplified as they are made.
//!
//! A term is exact: it is the number that C computes, also where a type wraps around
//! ([`Node::Wrap`]). Sums of products are kept in one normal form, so equal polynomials are the
//! same term. Truth values are 0 and 1.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

/// A term: its place among the nodes of its [`Terms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TermId(pub u32);

/// A variable: its place in [`Terms::variables`].
pub type VariableIndex = u32;

/// A product of terms that are no polynomials, in ascending order.
pub type Product = Vec<TermId>;

/// The least and the greatest value of a term. [`MOST`] and more mean no limit.
pub type TermRange = (i128, i128);

/// Numbers beyond this are not computed with.
pub const MOST: i128 = 1 << 100;

/// What a term is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Node {
    /// A constant.
    Int(i128),
    /// A variable.
    Variable(VariableIndex),
    /// A sum of products with factors that are not 0; not a constant nor a lone product by 1.
    Sum(Vec<(Product, i128)>),
    /// A quotient, rounded toward zero.
    Quotient(TermId, TermId),
    /// The remainder that goes with it: it has the sign of the dividend.
    Remainder(TermId, TermId),
    /// The lesser of two.
    Least(TermId, TermId),
    /// Whether a number is below 0.
    Negative(TermId),
    /// Whether a number is 0.
    Zero(TermId),
    /// Both of two truth values.
    And(TermId, TermId),
    /// One of two truth values, or both.
    Or(TermId, TermId),
    /// The opposite of a truth value.
    Not(TermId),
    /// The second if the first is true, else the third.
    Choice(TermId, TermId, TermId),
    /// The number with this many bits, signed or not, that leaves the same remainder.
    Wrap(u32, bool, TermId),
    /// An operation on the bits of two numbers.
    Bits(BitOp, TermId, TermId),
    /// The result of a function: equal arguments have equal results.
    Apply(u32, Vec<TermId>),
}

/// Operations on bits, of numbers in two's complement with as many bits as needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BitOp {
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `a << b`
    Left,
    /// `a >> b`, rounded down.
    Right,
}

/// What a variable is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum VariableKind {
    /// A macro, or a scalar argument as `$NAME`: the same for all items of a launch.
    Name(String),
    /// The items of a group in a dimension.
    LocalSize(u8),
    /// The groups of the launch in a dimension.
    Groups(u8),
    /// The place of the item in its group.
    LocalId(u8),
    /// The place of the group in the launch.
    GroupId(u8),
    /// The iteration of a loop, from 0.
    Counter,
    /// A value that was not read, another one for each item: any in its range, or some of them.
    Unknown,
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermVariable {
    /// What it is.
    pub kind: VariableKind,
    /// Its values.
    pub range: TermRange,
}

/// A function of [`Node::Apply`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermFunction {
    /// What it computes.
    pub kind: FunctionKind,
    /// Its results.
    pub range: TermRange,
}

/// What a function computes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FunctionKind {
    /// What an array that the kernel never writes holds at the byte that is its argument.
    Content(u32),
    /// A variable after as many iterations as the first argument; the others are `leaves`.
    Iterated {
        /// What the variables of the loop are called in `next`, and what they hold at first.
        start: Vec<(VariableIndex, TermId)>,
        /// What they hold after an iteration.
        next: Vec<TermId>,
        /// Which of them it is.
        place: usize,
        /// The variables that `start` and `next` are over.
        leaves: Vec<VariableIndex>,
    },
    /// Something else that is the same for the same arguments.
    Some,
}

/// Terms that share nodes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Terms {
    nodes: IndexSet<Node, FxBuildHasher>,
    #[serde(skip)]
    ranges: Vec<TermRange>,
    /// The variables.
    pub variables: Vec<TermVariable>,
    /// The functions.
    pub functions: Vec<TermFunction>,
}

impl PartialEq for Terms {
    fn eq(&self, other: &Terms) -> bool {
        self.nodes.iter().eq(&other.nodes)
            && (&self.variables, &self.functions) == (&other.variables, &other.functions)
    }
}

fn clamp(number: Option<i128>, up: bool) -> i128 {
    number.map_or(if up { MOST } else { -MOST }, |n| n.clamp(-MOST, MOST))
}

impl Terms {
    /// Makes terms that were stored ready for new ones.
    #[must_use]
    pub fn restored(mut self) -> Terms {
        for i in self.ranges.len()..self.nodes.len() {
            let range = self.range_of_node(&self.nodes[i]);
            self.ranges.push(range);
        }
        self
    }

    /// How many nodes there are.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// What a term is.
    pub fn node(&self, term: TermId) -> &Node {
        &self.nodes[term.0 as usize]
    }

    /// The values that a term may have.
    pub fn range(&self, term: TermId) -> TermRange {
        self.ranges[term.0 as usize]
    }

    /// The term of a node, if there is one.
    pub fn known(&self, node: &Node) -> Option<TermId> {
        self.nodes.get_index_of(node).map(|i| TermId(i as u32))
    }

    /// The term of a node that is in normal form.
    pub fn term(&mut self, node: Node) -> TermId {
        if let Some(term) = self.known(&node) {
            return term;
        }
        let range = self.range_of_node(&node);
        self.ranges.push(range);
        TermId(self.nodes.insert_full(node).0 as u32)
    }

    /// A constant.
    pub fn int(&mut self, value: i128) -> TermId {
        self.term(Node::Int(value))
    }

    /// The value of a constant.
    pub fn constant(&self, term: TermId) -> Option<i128> {
        if let Node::Int(value) = self.node(term) { Some(*value) } else { None }
    }

    /// A new variable.
    pub fn variable(&mut self, kind: VariableKind, range: TermRange) -> TermId {
        self.variables.push(TermVariable { kind, range });
        self.term(Node::Variable(self.variables.len() as u32 - 1))
    }

    /// The variable of a kind of which there is one.
    pub fn named(&mut self, kind: VariableKind, range: TermRange) -> TermId {
        match self.variables.iter().position(|v| v.kind == kind) {
            Some(i) => self.term(Node::Variable(i as u32)),
            None => self.variable(kind, range),
        }
    }

    /// A value of which only the range is known.
    pub fn unknown(&mut self, range: TermRange) -> TermId {
        self.variable(VariableKind::Unknown, range)
    }

    /// A new function.
    pub fn function(&mut self, kind: FunctionKind, range: TermRange) -> u32 {
        self.functions.push(TermFunction { kind, range });
        self.functions.len() as u32 - 1
    }

    /// A term as text, for messages of developers.
    pub fn text(&self, term: TermId) -> String {
        let parts: Vec<String> = self.parts(term).iter().map(|part| self.text(*part)).collect();
        match self.node(term) {
            Node::Int(value) => value.to_string(),
            Node::Variable(v) => match &self.variables[*v as usize].kind {
                VariableKind::Name(name) => name.clone(),
                kind => format!("{kind:?}_{v}"),
            },
            Node::Sum(sum) => {
                let one = |(product, factor): &(Product, i128)| {
                    let parts: Vec<String> = product.iter().map(|part| self.text(*part)).collect();
                    format!("{factor}*{}", parts.join("*"))
                };
                format!("({})", sum.iter().map(one).collect::<Vec<_>>().join(" + "))
            }
            node => {
                let name = format!("{node:?}");
                let name = name.split('(').next().unwrap_or_default().to_owned();
                format!("{name}({})", parts.join(", "))
            }
        }
    }

    /// The parts of a term.
    pub fn parts(&self, term: TermId) -> Vec<TermId> {
        match self.node(term) {
            Node::Int(_) | Node::Variable(_) => Vec::new(),
            Node::Sum(sum) => sum.iter().flat_map(|(product, _)| product.clone()).collect(),
            Node::Quotient(a, b)
            | Node::Remainder(a, b)
            | Node::Least(a, b)
            | Node::And(a, b)
            | Node::Or(a, b)
            | Node::Bits(_, a, b) => vec![*a, *b],
            Node::Negative(a) | Node::Zero(a) | Node::Not(a) | Node::Wrap(_, _, a) => vec![*a],
            Node::Choice(a, b, c) => vec![*a, *b, *c],
            Node::Apply(_, parts) => parts.clone(),
        }
    }

    /// All terms inside some terms, these included, each once.
    pub fn inside(&self, terms: &[TermId]) -> Vec<TermId> {
        let (mut left, mut seen) = (terms.to_vec(), vec![false; self.nodes.len()]);
        let mut all = Vec::new();
        while let Some(term) = left.pop() {
            if !std::mem::replace(&mut seen[term.0 as usize], true) {
                all.push(term);
                left.extend(self.parts(term));
            }
        }
        all.sort();
        all
    }

    /// The variables in some terms, in order.
    pub fn variables_in(&self, terms: &[TermId]) -> Vec<VariableIndex> {
        let of = |term: TermId| match self.node(term) {
            Node::Variable(v) => Some(*v),
            _ => None,
        };
        let mut all: Vec<VariableIndex> = self.inside(terms).into_iter().filter_map(of).collect();
        all.sort_unstable();
        all
    }

    /// A term as a sum of products.
    pub fn sum_of(&self, term: TermId) -> BTreeMap<Product, i128> {
        match self.node(term) {
            Node::Int(0) => BTreeMap::new(),
            Node::Int(value) => BTreeMap::from([(Vec::new(), *value)]),
            Node::Sum(sum) => sum.iter().cloned().collect(),
            _ => BTreeMap::from([(vec![term], 1)]),
        }
    }

    /// The term that a sum of products is.
    pub fn from_sum(&mut self, sum: BTreeMap<Product, i128>) -> TermId {
        let all: Vec<(Product, i128)> = sum.into_iter().filter(|(_, c)| *c != 0).collect();
        match all.as_slice() {
            [] => self.int(0),
            [(product, value)] if product.is_empty() => self.int(*value),
            [(product, 1)] if product.len() == 1 => product[0],
            _ => self.term(Node::Sum(all)),
        }
    }

    fn range_of_node(&self, node: &Node) -> TermRange {
        match node {
            Node::Int(value) => (*value, *value),
            Node::Variable(v) => self.variables[*v as usize].range,
            Node::Apply(f, _) => self.functions[*f as usize].range,
            Node::Sum(sum) => sum.iter().fold((0, 0), |(lo, hi), (product, factor)| {
                let whole = product
                    .iter()
                    .fold((*factor, *factor), |range, part| times(range, self.range(*part)));
                (clamp(lo.checked_add(whole.0), false), clamp(hi.checked_add(whole.1), true))
            }),
            Node::Quotient(a, b) => quotient_range(self.range(*a), self.range(*b)),
            Node::Remainder(a, b) => remainder_range(self.range(*a), self.range(*b)),
            Node::Least(a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                (a.0.min(b.0), a.1.min(b.1))
            }
            Node::Negative(_) | Node::Zero(_) | Node::And(..) | Node::Or(..) | Node::Not(_) => {
                (0, 1)
            }
            Node::Choice(_, a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Node::Wrap(bits, signed, _) => type_range(*bits, *signed),
            Node::Bits(op, a, b) => bits_range(*op, self.range(*a), self.range(*b)),
        }
    }
}

/// The values of an integer type.
pub fn type_range(bits: u32, signed: bool) -> TermRange {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn times(a: TermRange, b: TermRange) -> TermRange {
    let all = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
    let product = |(x, y): (i128, i128)| {
        x.checked_mul(y).unwrap_or(if (x < 0) == (y < 0) { MOST } else { -MOST })
    };
    let all = all.map(product).map(|n| n.clamp(-MOST, MOST));
    (all.into_iter().min().unwrap_or(-MOST), all.into_iter().max().unwrap_or(MOST))
}

fn quotient_range(a: TermRange, b: TermRange) -> TermRange {
    let most = a.0.abs().max(a.1.abs());
    match (a.0 >= 0, b.0 >= 1) {
        (true, true) => (a.0 / b.1, a.1 / b.0),
        // No quotient is farther from 0 than its dividend.
        _ => (-most, most),
    }
}

fn remainder_range(a: TermRange, b: TermRange) -> TermRange {
    let most = (b.0.abs().max(b.1.abs()) - 1).max(0);
    (if a.0 >= 0 { 0 } else { (-most).max(a.0) }, if a.1 <= 0 { 0 } else { most.min(a.1) })
}

fn bits_range(op: BitOp, a: TermRange, b: TermRange) -> TermRange {
    if a.0 < 0 || b.0 < 0 {
        return (-MOST, MOST);
    }
    match op {
        BitOp::And => (0, a.1.min(b.1)),
        // All bits up to the highest.
        BitOp::Or | BitOp::Xor => {
            let bits = 128 - (a.1 | b.1).leading_zeros();
            (0, if bits > 100 { MOST } else { (1 << bits) - 1 })
        }
        BitOp::Left => (0, MOST),
        BitOp::Right => (0, a.1),
    }
}
