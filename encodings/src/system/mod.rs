//! Bounded transition systems with frozen parameters.
//!
//! A [`System`] is plain data: the tuning parameters as *frozen* symbols (chosen once, never
//! changed), state variables with their first value and their next one, a goal, and a cost that is
//! read when the goal is reached. Without *choices* it is deterministic once the parameters are
//! chosen; with choices, every step picks their truth values such that the system's `constraint`
//! holds. What reads it - the unrolling for Z3, the interpreter in [`run`], an export - learns
//! nothing about kernels.
//!
//! What depends on the parameters alone is a [`SystemTable`]: its values over the parameters it
//! really depends on (its *support*). Tables are how products of parameters stay linear for a
//! solver: each factor is a table, and a product is split over the smaller one.
//!
//! Expressions are made by a [`SystemBuilder`], where sorts are types; they are hash-consed and
//! folded, so that equal expressions are one node and constants never travel.
//! [`evaluate`](mod@evaluate) computes them over any [`Algebra`].
//!
//! ```
//! use tickbound_encodings::system::{SystemBuilder, Int, SystemParameter, run::run};
//!
//! let n = SystemParameter { name: "n".into(), values: vec![3, 5] };
//! let b = SystemBuilder::new(vec![n], vec![vec![0], vec![1]]);
//! let n = b.table("n", &[Some(3), Some(5)]);
//! let i = b.state::<Int>("i");
//! let end = i.now().equals(n);
//! i.define(b.int(0), end.ite(i.now(), i.now() + b.int(1)));
//! let system = b.finish(end, i.now(), b.bool(true))?;
//! assert_eq!(run(&system, 1, 100)?.cost, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
pub mod columns;
pub mod evaluate;
pub mod run;
pub mod table;

use thiserror::Error;

pub use build::{Bool, Choice, Int, Sorted, StateVariable, SystemBuilder};
pub use evaluate::{Algebra, SystemValue, SystemValues};
pub use table::SystemTable;

/// What cannot be: a fault of this program. It ends any proof in which it is met.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}; this is a fault of tickbound, please report it with the problem file")]
pub struct InternalError(pub String);

/// An expression of a [`System`]: an index into its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ex(pub(crate) u32);

impl Ex {
    /// Position in [`System::nodes`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a state variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub(crate) u32);

impl StateId {
    /// Position in [`System::states`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChoiceId(pub(crate) u32);

impl ChoiceId {
    /// Position in [`System::choices`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub(crate) u32);

impl TableId {
    /// Position in [`System::tables`].
    #[inline]
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
pub enum SystemNode {
    /// An integer constant.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// The present value of a state variable.
    State(StateId),
    /// The value of a table for the chosen parameters.
    Table(TableId),
    /// An integer that no configuration reads; that none does is checked when a system is run.
    Unread,
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
pub struct SystemParameter {
    /// Its name.
    pub name: String,
    /// Its values, in the order of its domain.
    pub values: Vec<i64>,
}

/// A state variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemState {
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
    pub parameters: Vec<SystemParameter>,
    /// The valid configurations: for each parameter an index into its values.
    pub configurations: Vec<Vec<u32>>,
    /// Values that depend on the parameters alone.
    pub tables: Vec<SystemTable>,
    /// The state variables.
    pub states: Vec<SystemState>,
    /// Names of the choices: truth values that every step picks anew.
    pub choices: Vec<String>,
    /// What the choices of a step must satisfy, given its states; there is always a way to.
    pub constraint: Ex,
    /// True when the run has ended; from then on no state changes.
    pub goal: Ex,
    /// Time of the run in ticks, where the goal holds.
    pub cost: Ex,
    nodes: Vec<SystemNode>,
}

impl System {
    /// The expression nodes, operands before the nodes that use them.
    pub fn nodes(&self) -> &[SystemNode] {
        &self.nodes
    }

    /// The node of an expression.
    #[inline]
    pub fn node(&self, e: Ex) -> &SystemNode {
        &self.nodes[e.index()]
    }

    /// Every expression in the goal, the cost, the constraint and the states, operands first.
    pub fn live(&self) -> Vec<Ex> {
        let states = self.states.iter().flat_map(|s| [s.init, s.next]);
        self.below(states.chain([self.goal, self.cost, self.constraint]))
    }

    /// Every expression that the first values of the states are made of, operands first.
    pub fn first(&self) -> Vec<Ex> {
        self.below(self.states.iter().map(|s| s.init))
    }

    /// Every expression that `roots` are made of, operands first.
    fn below(&self, roots: impl Iterator<Item = Ex>) -> Vec<Ex> {
        let mut live = vec![false; self.nodes.len()];
        roots.for_each(|root| live[root.index()] = true);
        // Operands come before the nodes that use them, so one pass downwards meets all.
        for i in (0..self.nodes.len()).rev() {
            if live[i] {
                operands(&self.nodes[i], &mut |e| live[e.index()] = true);
            }
        }
        (0..self.nodes.len()).filter(|i| live[*i]).map(|i| Ex(i as u32)).collect()
    }

    /// For each node whether it depends on the parameters alone.
    pub fn frozen(&self) -> Vec<bool> {
        let mut frozen: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut all = !matches!(node, SystemNode::State(_) | SystemNode::Choice(_));
            operands(node, &mut |e| all &= frozen[e.index()]);
            frozen.push(all);
        }
        frozen
    }
}

/// Calls `visit` for each operand of a node.
pub fn operands(node: &SystemNode, visit: &mut impl FnMut(Ex)) {
    match node {
        SystemNode::Int(_)
        | SystemNode::Bool(_)
        | SystemNode::State(_)
        | SystemNode::Table(_)
        | SystemNode::Unread
        | SystemNode::Choice(_) => {}
        SystemNode::Not(a) => visit(*a),
        SystemNode::Add(a, b)
        | SystemNode::Mul(a, b)
        | SystemNode::Max(a, b)
        | SystemNode::Eq(a, b)
        | SystemNode::Le(a, b) => {
            visit(*a);
            visit(*b);
        }
        SystemNode::And(items) | SystemNode::Or(items) => items.iter().copied().for_each(visit),
        SystemNode::Ite(c, a, b) => {
            visit(*c);
            visit(*a);
            visit(*b);
        }
    }
}
