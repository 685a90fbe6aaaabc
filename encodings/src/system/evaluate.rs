//! Computing the expressions of a system, over any kind of value.
//!
//! An [`Algebra`] defines what values are - numbers, columns of numbers, terms of a solver,
//! expressions of another system - and how each operation makes one of others. [`evaluate`] walks
//! the nodes. It is the only place that does, so it is the only place where a value could be
//! missing or of the wrong sort, and there it is a [`InternalError`] and never a value made up.

use super::{ChoiceId, Ex, InternalError, System, SystemNode, TableId};

/// What expressions are computed to.
pub trait Algebra {
    /// An integer.
    type Int: Clone;
    /// A truth value.
    type Bool: Clone;
    /// Why a value cannot be computed.
    type Error: From<InternalError>;

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
    /// Conjunction, or else disjunction.
    fn junction(
        &mut self,
        items: impl Iterator<Item = Result<Self::Bool, InternalError>>,
        conjunction: bool,
    ) -> Result<Self::Bool, Self::Error>;
    /// `if c then a else b` of integers.
    fn ite_int(&mut self, c: &Self::Bool, a: &Self::Int, b: &Self::Int) -> Self::Int;
    /// `if c then a else b` of truth values.
    fn ite_bool(&mut self, c: &Self::Bool, a: &Self::Bool, b: &Self::Bool) -> Self::Bool;
}

/// A value of either sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemValue<I, B> {
    /// An integer.
    Int(I),
    /// A truth value.
    Bool(B),
}

/// The value of each node that has been computed.
#[derive(Debug, Clone)]
pub struct SystemValues<I, B>(Vec<Option<SystemValue<I, B>>>);

impl<I, B> SystemValues<I, B> {
    /// No value for any node of `system`.
    pub fn none(system: &System) -> Self {
        SystemValues(system.nodes().iter().map(|_| None).collect())
    }

    /// Sets the value of a node.
    #[inline]
    pub fn set(&mut self, e: Ex, value: SystemValue<I, B>) {
        self.0[e.index()] = Some(value);
    }

    /// Sets an integer. A call gets the number in registers; inlined, a number is written in two
    /// parts and copied as one, for which the processor waits: half of a run.
    #[inline(never)]
    fn set_int(&mut self, e: Ex, value: I) {
        self.set(e, SystemValue::Int(value));
    }

    /// True if the node has a value.
    pub fn has(&self, e: Ex) -> bool {
        self.0[e.index()].is_some()
    }

    /// The value of a node.
    ///
    /// # Errors
    /// It has not been computed.
    #[inline]
    pub fn get(&self, e: Ex) -> Result<&SystemValue<I, B>, InternalError> {
        self.0[e.index()].as_ref().ok_or_else(|| fault(e, None))
    }

    /// The integer at a node.
    ///
    /// # Errors
    /// It has not been computed, or is a truth value.
    #[inline]
    pub fn int(&self, e: Ex) -> Result<&I, InternalError> {
        match &self.0[e.index()] {
            Some(SystemValue::Int(value)) => Ok(value),
            Some(_) => Err(fault(e, Some("a truth value stands for an integer"))),
            None => Err(fault(e, None)),
        }
    }

    /// The truth value at a node.
    ///
    /// # Errors
    /// It has not been computed, or is an integer.
    #[inline]
    pub fn bool(&self, e: Ex) -> Result<&B, InternalError> {
        match &self.0[e.index()] {
            Some(SystemValue::Bool(value)) => Ok(value),
            Some(_) => Err(fault(e, Some("an integer stands for a truth value"))),
            None => Err(fault(e, None)),
        }
    }
}

/// Out of line, as reading an operand is most of what a step does.
#[cold]
#[inline(never)]
fn fault(e: Ex, sort: Option<&str>) -> InternalError {
    InternalError(sort.map_or_else(|| format!("node {} has no value", e.index()), Into::into))
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
    states: &[SystemValue<A::Int, A::Bool>],
    algebra: &mut A,
    values: &mut SystemValues<A::Int, A::Bool>,
) -> Result<(), A::Error> {
    for e in order {
        match node(system.node(*e), states, algebra, values)? {
            SystemValue::Int(value) => values.set_int(*e, value),
            SystemValue::Bool(value) => values.set(*e, SystemValue::Bool(value)),
        }
    }
    Ok(())
}

/// Computes one node.
pub fn node<A: Algebra>(
    node: &SystemNode,
    states: &[SystemValue<A::Int, A::Bool>],
    algebra: &mut A,
    values: &SystemValues<A::Int, A::Bool>,
) -> Result<SystemValue<A::Int, A::Bool>, A::Error> {
    let int = |e: &Ex| values.int(*e);
    let bool = |e: &Ex| values.bool(*e);
    Ok(match node {
        SystemNode::Int(v) => SystemValue::Int(algebra.int(*v)),
        SystemNode::Bool(v) => SystemValue::Bool(algebra.bool(*v)),
        SystemNode::Unread => SystemValue::Int(algebra.unread()),
        SystemNode::State(s) => {
            let state = states.get(s.index());
            state
                .cloned()
                .ok_or_else(|| InternalError(format!("state {} has no value", s.index())))?
        }
        SystemNode::Table(t) => SystemValue::Int(algebra.table(*t)?),
        SystemNode::Choice(c) => SystemValue::Bool(algebra.choice(*c)?),
        SystemNode::Add(a, b) => SystemValue::Int(algebra.add(int(a)?, int(b)?)?),
        SystemNode::Mul(a, b) => SystemValue::Int(algebra.mul(int(a)?, int(b)?)?),
        SystemNode::Max(a, b) => SystemValue::Int(algebra.max(int(a)?, int(b)?)),
        SystemNode::Eq(a, b) => SystemValue::Bool(algebra.equal(int(a)?, int(b)?)),
        SystemNode::Le(a, b) => SystemValue::Bool(algebra.at_most(int(a)?, int(b)?)),
        SystemNode::Not(a) => SystemValue::Bool(algebra.not(bool(a)?)),
        SystemNode::And(items) | SystemNode::Or(items) => {
            let items = items.iter().map(|e| values.bool(*e).cloned());
            let conjunction = matches!(node, SystemNode::And(_));
            SystemValue::Bool(algebra.junction(items, conjunction)?)
        }
        SystemNode::Ite(c, a, b) => match (bool(c)?, values.get(*a)?, values.get(*b)?) {
            (c, SystemValue::Int(a), SystemValue::Int(b)) => {
                SystemValue::Int(algebra.ite_int(c, a, b))
            }
            (c, SystemValue::Bool(a), SystemValue::Bool(b)) => {
                SystemValue::Bool(algebra.ite_bool(c, a, b))
            }
            _ => return Err(InternalError("a choice between two sorts".into()).into()),
        },
    })
}
