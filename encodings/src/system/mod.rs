//! Bounded transition systems with frozen parameters.
//!
//! A [`System`] is plain data: the tuning parameters as *frozen* symbols (chosen once, never
//! changed), state variables with their first value and their next one, a goal, and a cost that is
//! read when the goal is reached. Without *choices* it is deterministic once the parameters are
//! chosen; with choices, every step picks their truth values such that the system's `constraint`
//! holds. Whoever reads it - the unrolling for Z3, the interpreter in [`run`], an export - learns
//! nothing about kernels.
//!
//! Whatever depends on the parameters alone is a [`Table`]: its values over the parameters it
//! really depends on (its *support*). Tables are how products of parameters stay linear for a
//! solver: each factor is a table, and a product is split over the smaller one.
//!
//! Expressions are hash-consed and folded while they are built, so that equal expressions are one
//! node and constants never travel.
//!
//! ```
//! use tickbound_encodings::system::{Parameter, Sort, System};
//! let mut s = System::new(vec![Parameter { name: "n".into(), values: vec![3, 5] }],
//!                         vec![vec![0], vec![1]]);
//! let n = s.table("n", &[Some(3), Some(5)]);
//! let i = s.state("i", Sort::Int);
//! let (zero, one, at) = (s.int(0), s.int(1), s.state_expr(i));
//! let end = s.eq(at, n);
//! let more = s.add(at, one);
//! let next = s.ite(end, at, more);
//! s.define(i, zero, next);
//! s.goal = end;
//! s.cost = at;
//! let run = tickbound_encodings::system::run::run(&s, 1, 100).unwrap();
//! assert_eq!((run.steps, run.cost), (5, 5));
//! ```

mod build;
pub mod run;
pub mod table;

use std::collections::HashMap;

pub use table::Table;

/// An expression of a [`System`]: an index into its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ex(pub(crate) u32);

impl Ex {
    /// Position in [`System::nodes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a state variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub(crate) u32);

impl StateId {
    /// Position in [`System::states`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChoiceId(pub(crate) u32);

impl ChoiceId {
    /// Position in [`System::choices`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub(crate) u32);

impl TableId {
    /// Position in [`System::tables`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Sort of a state variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Truth value.
    Bool,
    /// Unbounded integer; every value met within the bound fits into 63 bits.
    Int,
}

/// A node of the expression graph; operands come before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// An integer constant.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// The present value of a state variable.
    State(StateId),
    /// The value of a table for the chosen parameters.
    Table(TableId),
    /// The truth value that this step picks for a choice.
    Choice(ChoiceId),
    /// Integer sum.
    Add(Ex, Ex),
    /// Integer product; at least one operand depends on parameters alone.
    Mul(Ex, Ex),
    /// Greater of two integers.
    Max(Ex, Ex),
    /// Equality of integers.
    Eq(Ex, Ex),
    /// `a <= b` on integers.
    Le(Ex, Ex),
    /// Negation.
    Not(Ex),
    /// Conjunction of at least two operands.
    And(Vec<Ex>),
    /// Disjunction of at least two operands.
    Or(Vec<Ex>),
    /// `if c then a else b`, both of one sort.
    Ite(Ex, Ex, Ex),
}

/// A frozen symbol: a tuning parameter with the values it takes in some valid configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its values, in the order of its domain.
    pub values: Vec<i64>,
}

/// A state variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Its name, unique in the system.
    pub name: String,
    /// Its sort.
    pub sort: Sort,
    /// Value at step 0, over the parameters alone.
    pub init: Ex,
    /// Value at the next step.
    pub next: Ex,
}

/// A bounded transition system.
#[derive(Debug, Clone)]
pub struct System {
    /// The frozen symbols.
    pub parameters: Vec<Parameter>,
    /// The valid configurations: for each parameter an index into its values.
    pub configurations: Vec<Vec<u32>>,
    /// Values that depend on the parameters alone.
    pub tables: Vec<Table>,
    /// The state variables.
    pub states: Vec<State>,
    /// Names of the choices: truth values that every step picks anew.
    pub choices: Vec<String>,
    /// What the choices of a step must satisfy, given its states; there is always a way to.
    pub constraint: Ex,
    /// True when the run has ended; from then on no state changes.
    pub goal: Ex,
    /// Time of the run in ticks, where the goal holds.
    pub cost: Ex,
    nodes: Vec<Node>,
    known: HashMap<Node, Ex>,
}

impl System {
    /// The expression nodes, operands before the nodes that use them.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of an expression.
    #[must_use]
    pub fn node(&self, e: Ex) -> &Node {
        &self.nodes[e.index()]
    }

    /// Every expression that the goal, the cost, the constraint and the states are made of, operands
    /// first.
    #[must_use]
    pub fn live(&self) -> Vec<Ex> {
        let mut live = vec![false; self.nodes.len()];
        for root in self.roots() {
            live[root.index()] = true;
        }
        for i in (0..self.nodes.len()).rev().filter(|i| live[*i]).collect::<Vec<_>>() {
            mark_operands(&self.nodes, i, &mut live);
        }
        (0..self.nodes.len()).filter(|i| live[*i]).map(|i| Ex(i as u32)).collect()
    }

    fn roots(&self) -> impl Iterator<Item = Ex> + '_ {
        self.states.iter().flat_map(|s| [s.init, s.next]).chain([
            self.goal,
            self.cost,
            self.constraint,
        ])
    }
}

/// Marks what node `i` is made of, down to the leaves.
fn mark_operands(nodes: &[Node], i: usize, live: &mut [bool]) {
    let mut open = vec![i];
    while let Some(at) = open.pop() {
        operands(&nodes[at], &mut |e| {
            if !std::mem::replace(&mut live[e.index()], true) {
                open.push(e.index());
            }
        });
    }
}

/// Calls `visit` for each operand of a node.
pub fn operands(node: &Node, visit: &mut impl FnMut(Ex)) {
    match node {
        Node::Int(_) | Node::Bool(_) | Node::State(_) | Node::Table(_) | Node::Choice(_) => {}
        Node::Not(a) => visit(*a),
        Node::Add(a, b) | Node::Mul(a, b) | Node::Max(a, b) | Node::Eq(a, b) | Node::Le(a, b) => {
            visit(*a);
            visit(*b);
        }
        Node::And(items) | Node::Or(items) => items.iter().copied().for_each(visit),
        Node::Ite(c, a, b) => {
            visit(*c);
            visit(*a);
            visit(*b);
        }
    }
}
