//! Computing the expressions of a system, over any kind of value.
//!
//! An [`Algebra`] says what values are - numbers, columns of numbers, terms of a solver,
//! expressions of another system - and how each operation makes one of others. [`evaluate`] walks
//! the nodes. It is the only place that does, so it is the only place where a value could be
//! missing or of the wrong sort, and there it is a [`Fault`] and never a value made up.

use super::{ChoiceId, Ex, Fault, Node, System, TableId};

/// What expressions are computed to.
pub trait Algebra {
    /// An integer.
    type Int: Clone;
    /// A truth value.
    type Bool: Clone;
    /// Why a value cannot be computed.
    type Error: From<Fault>;

    /// An integer constant.
    fn int(&mut self, value: i64) -> Self::Int;
    /// A constant truth value.
    fn bool(&mut self, value: bool) -> Self::Bool;
    /// An integer that no configuration reads.
    fn unread(&mut self) -> Self::Int;
    /// The value of a table for the chosen parameters.
    fn table(&mut self, table: TableId) -> Result<Self::Int, Self::Error>;
    /// What this step picks.
    fn choice(&mut self, choice: ChoiceId) -> Result<Self::Bool, Self::Error>;
    /// Sum.
    fn add(&mut self, a: &Self::Int, b: &Self::Int) -> Result<Self::Int, Self::Error>;
    /// Product.
    fn mul(&mut self, a: &Self::Int, b: &Self::Int) -> Result<Self::Int, Self::Error>;
    /// Greater of two.
    fn max(&mut self, a: &Self::Int, b: &Self::Int) -> Self::Int;
    /// Equality.
    fn equal(&mut self, a: &Self::Int, b: &Self::Int) -> Self::Bool;
    /// `a <= b`.
    fn at_most(&mut self, a: &Self::Int, b: &Self::Int) -> Self::Bool;
    /// Negation.
    fn not(&mut self, a: &Self::Bool) -> Self::Bool;
    /// Conjunction.
    fn all(
        &mut self,
        items: impl Iterator<Item = Result<Self::Bool, Fault>>,
    ) -> Result<Self::Bool, Self::Error>;
    /// Disjunction.
    fn any(
        &mut self,
        items: impl Iterator<Item = Result<Self::Bool, Fault>>,
    ) -> Result<Self::Bool, Self::Error>;
    /// `if c then a else b` of integers.
    fn ite_int(&mut self, c: &Self::Bool, a: &Self::Int, b: &Self::Int) -> Self::Int;
    /// `if c then a else b` of truth values.
    fn ite_bool(&mut self, c: &Self::Bool, a: &Self::Bool, b: &Self::Bool) -> Self::Bool;
}

/// A value of either sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<I, B> {
    /// An integer.
    Int(I),
    /// A truth value.
    Bool(B),
}

impl<I, B> Value<I, B> {
    /// The integer.
    ///
    /// # Errors
    /// A truth value.
    pub fn int(&self) -> Result<&I, Fault> {
        match self {
            Value::Int(value) => Ok(value),
            Value::Bool(_) => Err(Fault("a truth value stands for an integer".into())),
        }
    }

    /// The truth value.
    ///
    /// # Errors
    /// An integer.
    pub fn bool(&self) -> Result<&B, Fault> {
        match self {
            Value::Bool(value) => Ok(value),
            Value::Int(_) => Err(Fault("an integer stands for a truth value".into())),
        }
    }
}

/// The value of each node, as far as it has been computed.
#[derive(Debug, Clone)]
pub struct Values<I, B>(Vec<Option<Value<I, B>>>);

impl<I, B> Values<I, B> {
    /// No value for any node of `system`.
    pub fn none(system: &System) -> Self {
        Values(system.nodes().iter().map(|_| None).collect())
    }

    /// Sets the value of a node.
    pub fn set(&mut self, e: Ex, value: Value<I, B>) {
        self.0[e.index()] = Some(value);
    }

    /// True if the node has a value.
    pub fn has(&self, e: Ex) -> bool {
        self.0[e.index()].is_some()
    }

    /// The value of a node.
    ///
    /// # Errors
    /// It has not been computed.
    pub fn get(&self, e: Ex) -> Result<&Value<I, B>, Fault> {
        self.0[e.index()].as_ref().ok_or_else(|| Fault(format!("node {} has no value", e.index())))
    }

    /// The integer at a node.
    ///
    /// # Errors
    /// It has not been computed, or is a truth value.
    pub fn int(&self, e: Ex) -> Result<&I, Fault> {
        self.get(e)?.int()
    }

    /// The truth value at a node.
    ///
    /// # Errors
    /// It has not been computed, or is an integer.
    pub fn bool(&self, e: Ex) -> Result<&B, Fault> {
        self.get(e)?.bool()
    }
}

/// Computes the nodes of `order`, operands before what is made of them, with the given values of
/// the states.
///
/// # Errors
/// What the algebra refuses, or a fault: a state or an operand without a value, or one of the wrong
/// sort.
pub fn evaluate<A: Algebra>(
    system: &System,
    order: &[Ex],
    states: &[Value<A::Int, A::Bool>],
    algebra: &mut A,
    values: &mut Values<A::Int, A::Bool>,
) -> Result<(), A::Error> {
    for e in order {
        let value = node(system.node(*e), states, algebra, values)?;
        values.set(*e, value);
    }
    Ok(())
}

/// Computes one node.
pub fn node<A: Algebra>(
    node: &Node,
    states: &[Value<A::Int, A::Bool>],
    algebra: &mut A,
    values: &Values<A::Int, A::Bool>,
) -> Result<Value<A::Int, A::Bool>, A::Error> {
    let int = |e: &Ex| values.int(*e);
    let bool = |e: &Ex| values.bool(*e);
    Ok(match node {
        Node::Int(v) => Value::Int(algebra.int(*v)),
        Node::Bool(v) => Value::Bool(algebra.bool(*v)),
        Node::Unread => Value::Int(algebra.unread()),
        Node::State(s) => {
            let state = states.get(s.index());
            state.cloned().ok_or_else(|| Fault(format!("state {} has no value", s.index())))?
        }
        Node::Table(t) => Value::Int(algebra.table(*t)?),
        Node::Choice(c) => Value::Bool(algebra.choice(*c)?),
        Node::Add(a, b) => Value::Int(algebra.add(int(a)?, int(b)?)?),
        Node::Mul(a, b) => Value::Int(algebra.mul(int(a)?, int(b)?)?),
        Node::Max(a, b) => Value::Int(algebra.max(int(a)?, int(b)?)),
        Node::Eq(a, b) => Value::Bool(algebra.equal(int(a)?, int(b)?)),
        Node::Le(a, b) => Value::Bool(algebra.at_most(int(a)?, int(b)?)),
        Node::Not(a) => Value::Bool(algebra.not(bool(a)?)),
        Node::And(items) => {
            Value::Bool(algebra.all(items.iter().map(|e| values.bool(*e).cloned()))?)
        }
        Node::Or(items) => {
            Value::Bool(algebra.any(items.iter().map(|e| values.bool(*e).cloned()))?)
        }
        Node::Ite(c, a, b) => match (bool(c)?, values.get(*a)?, values.get(*b)?) {
            (c, Value::Int(a), Value::Int(b)) => Value::Int(algebra.ite_int(c, a, b)),
            (c, Value::Bool(a), Value::Bool(b)) => Value::Bool(algebra.ite_bool(c, a, b)),
            _ => return Err(Fault("a choice between two sorts".into()).into()),
        },
    })
}
