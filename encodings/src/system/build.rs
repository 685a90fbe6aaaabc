//! Building a system: expressions with their sorts as types, hash-consed and folded.
//!
//! [`Int`] and [`Bool`] are expressions of one [`SystemBuilder`]. They are made of each other by
//! operators and methods, so they nest as arithmetic does; what is equal becomes one node.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, Mul, Not};

use super::table::minimal_support;
use super::{
    ChoiceId, Ex, InternalError, Sort, StateId, System, SystemNode, SystemParameter, SystemState,
    SystemTable, TableId,
};

/// A system in the making.
pub struct SystemBuilder {
    parts: RefCell<Parts>,
}

struct Parts {
    system: System,
    /// The first and the next value of each state, once they are defined.
    defined: Vec<Option<(Ex, Ex)>>,
    known: HashMap<SystemNode, Ex>,
}

/// An integer expression of a builder.
#[derive(Clone, Copy)]
pub struct Int<'b> {
    builder: &'b SystemBuilder,
    ex: Ex,
}

/// A truth value of a builder.
#[derive(Clone, Copy)]
pub struct Bool<'b> {
    builder: &'b SystemBuilder,
    ex: Ex,
}

/// Expressions of one sort.
pub trait Sorted<'b>: Copy {
    /// The sort.
    const SORT: Sort;

    /// The expression at a node, which is of this sort.
    #[doc(hidden)]
    fn at(builder: &'b SystemBuilder, ex: Ex) -> Self;

    /// Its node.
    fn ex(self) -> Ex;
}

impl<'b> Sorted<'b> for Int<'b> {
    const SORT: Sort = Sort::Int;

    fn at(builder: &'b SystemBuilder, ex: Ex) -> Self {
        Int { builder, ex }
    }

    fn ex(self) -> Ex {
        self.ex
    }
}

impl<'b> Sorted<'b> for Bool<'b> {
    const SORT: Sort = Sort::Bool;

    fn at(builder: &'b SystemBuilder, ex: Ex) -> Self {
        Bool { builder, ex }
    }

    fn ex(self) -> Ex {
        self.ex
    }
}

/// A state variable of a builder.
#[derive(Clone, Copy)]
pub struct StateVariable<'b, T> {
    builder: &'b SystemBuilder,
    id: StateId,
    sort: PhantomData<T>,
}

impl<'b, T: Sorted<'b>> StateVariable<'b, T> {
    /// Its present value.
    pub fn now(self) -> T {
        self.builder.expression(SystemNode::State(self.id))
    }

    /// Sets its first value, over the parameters alone, and its value at the next step.
    pub fn define(self, init: T, next: T) {
        self.builder.parts.borrow_mut().defined[self.id.index()] = Some((init.ex(), next.ex()));
    }
}

/// A choice of a builder.
#[derive(Clone, Copy)]
pub struct Choice<'b> {
    builder: &'b SystemBuilder,
    /// Which one.
    pub id: ChoiceId,
}

impl<'b> Choice<'b> {
    /// What this step picks.
    pub fn picked(self) -> Bool<'b> {
        self.builder.expression(SystemNode::Choice(self.id))
    }
}

impl SystemBuilder {
    /// A system without states over the given parameters and valid configurations.
    pub fn new(parameters: Vec<SystemParameter>, configurations: Vec<Vec<u32>>) -> SystemBuilder {
        let system = System {
            parameters,
            configurations,
            tables: Vec::new(),
            states: Vec::new(),
            choices: Vec::new(),
            constraint: Ex(0),
            goal: Ex(0),
            cost: Ex(0),
            nodes: Vec::new(),
        };
        let parts = Parts { system, defined: Vec::new(), known: HashMap::new() };
        SystemBuilder { parts: RefCell::new(parts) }
    }

    /// The system with this goal, this cost and this constraint on choices. The builder is empty
    /// afterwards.
    ///
    /// # Errors
    /// A state variable that has not been defined.
    pub fn finish(
        &self,
        goal: Bool<'_>,
        cost: Int<'_>,
        constraint: Bool<'_>,
    ) -> Result<System, InternalError> {
        let mut parts = self.parts.borrow_mut();
        let defined = std::mem::take(&mut parts.defined);
        let empty = SystemBuilder::new(Vec::new(), Vec::new()).parts.into_inner().system;
        let mut system = std::mem::replace(&mut parts.system, empty);
        parts.known.clear();
        for (state, defined) in system.states.iter_mut().zip(defined) {
            let undefined = || InternalError(format!("state {} has no values", state.name));
            (state.init, state.next) = defined.ok_or_else(undefined)?;
        }
        (system.goal, system.cost, system.constraint) = (goal.ex, cost.ex, constraint.ex);
        Ok(system)
    }

    /// Number of nodes so far.
    pub fn size(&self) -> usize {
        self.parts.borrow().system.nodes.len()
    }

    fn intern(&self, node: SystemNode) -> Ex {
        let Parts { system, known, .. } = &mut *self.parts.borrow_mut();
        if let Some(e) = known.get(&node) {
            return *e;
        }
        let e = Ex(u32::try_from(system.nodes.len()).unwrap_or(u32::MAX));
        system.nodes.push(node.clone());
        known.insert(node, e);
        e
    }

    fn expression<'b, T: Sorted<'b>>(&'b self, node: SystemNode) -> T {
        T::at(self, self.intern(node))
    }

    /// An integer constant.
    pub fn int(&self, value: i64) -> Int<'_> {
        self.expression(SystemNode::Int(value))
    }

    /// An integer that no configuration reads.
    pub fn unread(&self) -> Int<'_> {
        self.expression(SystemNode::Unread)
    }

    /// A truth value.
    pub fn bool(&self, value: bool) -> Bool<'_> {
        self.expression(SystemNode::Bool(value))
    }

    /// Adds a state variable, which must be defined before the end.
    pub fn state<'b, T: Sorted<'b>>(&'b self, name: impl Into<String>) -> StateVariable<'b, T> {
        let Parts { system, defined, .. } = &mut *self.parts.borrow_mut();
        let id = StateId(u32::try_from(system.states.len()).unwrap_or(u32::MAX));
        // Represents the values until `finish` puts them in, or refuses.
        let nothing = Ex(u32::MAX);
        system.states.push(SystemState {
            name: name.into(),
            sort: T::SORT,
            init: nothing,
            next: nothing,
        });
        defined.push(None);
        StateVariable { builder: self, id, sort: PhantomData }
    }

    /// Adds a choice.
    pub fn choice(&self, name: impl Into<String>) -> Choice<'_> {
        let choices = &mut self.parts.borrow_mut().system.choices;
        choices.push(name.into());
        Choice { builder: self, id: ChoiceId(u32::try_from(choices.len() - 1).unwrap_or(u32::MAX)) }
    }

    /// A value per configuration, as a constant if it is the same for all and as a table over its
    /// least support otherwise. `None`: never read for this configuration.
    pub fn table(&self, name: &str, values: &[Option<i64>]) -> Int<'_> {
        let mut some = values.iter().flatten();
        let Some(first) = some.next() else { return self.unread() };
        if some.all(|v| v == first) {
            return self.int(*first);
        }
        let (support, rows) = self.parts.borrow().system.rows(values);
        self.table_of(name, support, rows)
    }

    fn table_of(&self, name: &str, support: Vec<usize>, rows: BTreeMap<Vec<u32>, i64>) -> Int<'_> {
        let index = {
            let tables = &mut self.parts.borrow_mut().system.tables;
            let same = tables.iter().position(|t| t.support == support && t.rows == rows);
            same.unwrap_or_else(|| {
                tables.push(SystemTable { name: name.to_owned(), support, rows });
                tables.len() - 1
            })
        };
        let id = TableId(u32::try_from(index).unwrap_or(u32::MAX));
        self.expression(SystemNode::Table(id))
    }

    /// Conjunction.
    pub fn all<'b>(&'b self, items: impl IntoIterator<Item = Bool<'b>>) -> Bool<'b> {
        self.junction(items, true)
    }

    /// Disjunction.
    pub fn any<'b>(&'b self, items: impl IntoIterator<Item = Bool<'b>>) -> Bool<'b> {
        self.junction(items, false)
    }

    /// Conjunction, or else disjunction.
    pub fn junction<'b>(
        &'b self,
        items: impl IntoIterator<Item = Bool<'b>>,
        conjunction: bool,
    ) -> Bool<'b> {
        let mut left = Vec::new();
        for item in items {
            match item.known() {
                Some(v) if v == conjunction => {}
                Some(_) => return self.bool(!conjunction),
                None => left.push(item.ex),
            }
        }
        left.sort_unstable();
        left.dedup();
        match left.as_slice() {
            [] => self.bool(conjunction),
            [one] => Bool::at(self, *one),
            _ if conjunction => self.expression(SystemNode::And(left)),
            _ => self.expression(SystemNode::Or(left)),
        }
    }
}

impl System {
    /// Values per configuration as rows over their least support; see [`SystemTable::rows`].
    pub fn rows(&self, values: &[Option<i64>]) -> (Vec<usize>, BTreeMap<Vec<u32>, i64>) {
        minimal_support(&self.configurations, self.parameters.len(), values)
    }
}

impl<'b> Int<'b> {
    fn known(self) -> Option<i64> {
        match self.builder.parts.borrow().system.node(self.ex) {
            SystemNode::Int(v) => Some(*v),
            _ => None,
        }
    }

    fn ordered(self, other: Int<'b>) -> (Ex, Ex) {
        (self.ex.min(other.ex), self.ex.max(other.ex))
    }

    /// Greater of two.
    #[must_use]
    pub fn max(self, other: Int<'b>) -> Int<'b> {
        match (self.known(), other.known()) {
            (Some(x), Some(y)) => self.builder.int(x.max(y)),
            _ if self.ex == other.ex => self,
            _ => {
                let (a, b) = self.ordered(other);
                self.builder.expression(SystemNode::Max(a, b))
            }
        }
    }

    /// Equality.
    pub fn equals(self, other: Int<'b>) -> Bool<'b> {
        match (self.known(), other.known()) {
            (Some(x), Some(y)) => self.builder.bool(x == y),
            _ if self.ex == other.ex => self.builder.bool(true),
            _ => {
                let (a, b) = self.ordered(other);
                self.builder.expression(SystemNode::Eq(a, b))
            }
        }
    }

    /// `self <= other`.
    pub fn at_most(self, other: Int<'b>) -> Bool<'b> {
        match (self.known(), other.known()) {
            (Some(x), Some(y)) => self.builder.bool(x <= y),
            _ if self.ex == other.ex => self.builder.bool(true),
            _ => self.builder.expression(SystemNode::Le(self.ex, other.ex)),
        }
    }
}

impl<'b> Add for Int<'b> {
    type Output = Int<'b>;

    fn add(self, other: Int<'b>) -> Int<'b> {
        match (self.known(), other.known()) {
            (Some(x), Some(y)) if x.checked_add(y).is_some() => self.builder.int(x + y),
            (Some(0), _) => other,
            (_, Some(0)) => self,
            _ => {
                let (a, b) = self.ordered(other);
                self.builder.expression(SystemNode::Add(a, b))
            }
        }
    }
}

impl<'b> Mul for Int<'b> {
    type Output = Int<'b>;

    fn mul(self, other: Int<'b>) -> Int<'b> {
        match (self.known(), other.known()) {
            (Some(x), Some(y)) if x.checked_mul(y).is_some() => self.builder.int(x * y),
            (Some(0), _) | (_, Some(0)) => self.builder.int(0),
            (Some(1), _) => other,
            (_, Some(1)) => self,
            _ => {
                let (a, b) = self.ordered(other);
                self.builder.expression(SystemNode::Mul(a, b))
            }
        }
    }
}

impl<'b> Bool<'b> {
    fn known(self) -> Option<bool> {
        match self.builder.parts.borrow().system.node(self.ex) {
            SystemNode::Bool(v) => Some(*v),
            _ => None,
        }
    }

    /// `if self then a else b`.
    pub fn ite<T: Sorted<'b>>(self, a: T, b: T) -> T {
        if a.ex() == b.ex() {
            return a;
        }
        match self.known() {
            Some(true) => return a,
            Some(false) => return b,
            None => {}
        }
        match T::SORT {
            Sort::Int => self.builder.expression(SystemNode::Ite(self.ex, a.ex(), b.ex())),
            Sort::Bool => {
                let [then, other] = [a, b].map(|e| Bool::at(self.builder, e.ex()));
                T::at(self.builder, self.between(then, other).ex)
            }
        }
    }

    fn between(self, a: Bool<'b>, b: Bool<'b>) -> Bool<'b> {
        match (a.known(), b.known()) {
            (Some(true), Some(false)) => self,
            (Some(false), Some(true)) => !self,
            (Some(false), _) => !self & b,
            (_, Some(false)) => self & a,
            (Some(true), _) => self | b,
            (_, Some(true)) => !self | a,
            _ => self.builder.expression(SystemNode::Ite(self.ex, a.ex, b.ex)),
        }
    }
}

impl<'b> Not for Bool<'b> {
    type Output = Bool<'b>;

    fn not(self) -> Bool<'b> {
        let node = self.builder.parts.borrow().system.node(self.ex).clone();
        match node {
            SystemNode::Bool(v) => self.builder.bool(!v),
            SystemNode::Not(inner) => Bool::at(self.builder, inner),
            _ => self.builder.expression(SystemNode::Not(self.ex)),
        }
    }
}

impl<'b> BitAnd for Bool<'b> {
    type Output = Bool<'b>;

    fn bitand(self, other: Bool<'b>) -> Bool<'b> {
        self.builder.all([self, other])
    }
}

impl<'b> BitOr for Bool<'b> {
    type Output = Bool<'b>;

    fn bitor(self, other: Bool<'b>) -> Bool<'b> {
        self.builder.any([self, other])
    }
}
