//! Building expressions: hash-consing and folding.

use std::collections::{BTreeMap, HashMap};

use super::table::minimal_support;
use super::{ChoiceId, Ex, Node, Parameter, Sort, State, StateId, System, Table, TableId};

impl System {
    /// A system without states over the given parameters and valid configurations; its goal is
    /// true and its cost 0 until they are set.
    #[must_use]
    pub fn new(parameters: Vec<Parameter>, configurations: Vec<Vec<u32>>) -> System {
        let mut system = System {
            parameters,
            configurations,
            tables: Vec::new(),
            states: Vec::new(),
            choices: Vec::new(),
            constraint: Ex(0),
            goal: Ex(0),
            cost: Ex(0),
            nodes: Vec::new(),
            known: HashMap::new(),
        };
        system.goal = system.bool(true);
        system.constraint = system.goal;
        system.cost = system.int(0);
        system
    }

    fn intern(&mut self, node: Node) -> Ex {
        if let Some(e) = self.known.get(&node) {
            return *e;
        }
        let e = Ex(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node.clone());
        self.known.insert(node, e);
        e
    }

    /// An integer constant.
    pub fn int(&mut self, value: i64) -> Ex {
        self.intern(Node::Int(value))
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) -> Ex {
        self.intern(Node::Bool(value))
    }

    /// Adds a state variable; [`System::define`] gives it its values.
    pub fn state(&mut self, name: impl Into<String>, sort: Sort) -> StateId {
        let nothing = match sort {
            Sort::Bool => self.bool(false),
            Sort::Int => self.int(0),
        };
        let id = StateId(u32::try_from(self.states.len()).unwrap_or(u32::MAX));
        self.states.push(State { name: name.into(), sort, init: nothing, next: nothing });
        id
    }

    /// Sets the first and the next value of a state variable.
    pub fn define(&mut self, id: StateId, init: Ex, next: Ex) {
        let state = &mut self.states[id.index()];
        state.init = init;
        state.next = next;
    }

    /// The present value of a state variable.
    pub fn state_expr(&mut self, id: StateId) -> Ex {
        self.intern(Node::State(id))
    }

    /// Adds a choice.
    pub fn choice(&mut self, name: impl Into<String>) -> ChoiceId {
        self.choices.push(name.into());
        ChoiceId(u32::try_from(self.choices.len() - 1).unwrap_or(u32::MAX))
    }

    /// What this step picks for a choice.
    pub fn choice_expr(&mut self, id: ChoiceId) -> Ex {
        self.intern(Node::Choice(id))
    }

    /// A value per configuration, as a constant if it is the same for all and as a table over its
    /// least support otherwise. `None`: never read for this configuration.
    pub fn table(&mut self, name: &str, values: &[Option<i64>]) -> Ex {
        let mut some = values.iter().flatten();
        let first = some.next().copied().unwrap_or(0);
        if some.all(|v| *v == first) {
            return self.int(first);
        }
        let (support, rows) = self.rows(values);
        let same = self.tables.iter().position(|t| t.support == support && t.rows == rows);
        let index = same.unwrap_or_else(|| {
            self.tables.push(Table { name: name.to_owned(), support, rows });
            self.tables.len() - 1
        });
        self.intern(Node::Table(TableId(u32::try_from(index).unwrap_or(u32::MAX))))
    }

    /// Values per configuration as rows over their least support; see [`Table::rows`].
    #[must_use]
    pub fn rows(&self, values: &[Option<i64>]) -> (Vec<usize>, BTreeMap<Vec<u32>, i64>) {
        minimal_support(&self.configurations, self.parameters.len(), values)
    }

    fn as_int(&self, e: Ex) -> Option<i64> {
        match self.node(e) {
            Node::Int(v) => Some(*v),
            _ => None,
        }
    }

    fn as_bool(&self, e: Ex) -> Option<bool> {
        match self.node(e) {
            Node::Bool(v) => Some(*v),
            _ => None,
        }
    }

    /// Sum.
    pub fn add(&mut self, a: Ex, b: Ex) -> Ex {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) if x.checked_add(y).is_some() => self.int(x + y),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => self.intern(Node::Add(a.min(b), a.max(b))),
        }
    }

    /// Product.
    pub fn mul(&mut self, a: Ex, b: Ex) -> Ex {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) if x.checked_mul(y).is_some() => self.int(x * y),
            (Some(0), _) | (_, Some(0)) => self.int(0),
            (Some(1), _) => b,
            (_, Some(1)) => a,
            _ => self.intern(Node::Mul(a.min(b), a.max(b))),
        }
    }

    /// Greater of two.
    pub fn max(&mut self, a: Ex, b: Ex) -> Ex {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) => self.int(x.max(y)),
            _ if a == b => a,
            _ => self.intern(Node::Max(a.min(b), a.max(b))),
        }
    }

    /// Equality of integers.
    pub fn eq(&mut self, a: Ex, b: Ex) -> Ex {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) => self.bool(x == y),
            _ if a == b => self.bool(true),
            _ => self.intern(Node::Eq(a.min(b), a.max(b))),
        }
    }

    /// `a <= b`.
    pub fn le(&mut self, a: Ex, b: Ex) -> Ex {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) => self.bool(x <= y),
            _ if a == b => self.bool(true),
            _ => self.intern(Node::Le(a, b)),
        }
    }

    /// Negation.
    pub fn not(&mut self, a: Ex) -> Ex {
        match self.node(a) {
            Node::Bool(v) => {
                let v = !*v;
                self.bool(v)
            }
            Node::Not(inner) => *inner,
            _ => self.intern(Node::Not(a)),
        }
    }

    /// Conjunction.
    pub fn and(&mut self, items: &[Ex]) -> Ex {
        self.junction(items, true)
    }

    /// Disjunction.
    pub fn or(&mut self, items: &[Ex]) -> Ex {
        self.junction(items, false)
    }

    fn junction(&mut self, items: &[Ex], conjunction: bool) -> Ex {
        let mut left = Vec::with_capacity(items.len());
        for &e in items {
            match self.as_bool(e) {
                Some(v) if v == conjunction => {}
                Some(_) => return self.bool(!conjunction),
                None => left.push(e),
            }
        }
        left.sort_unstable();
        left.dedup();
        match left.as_slice() {
            [] => self.bool(conjunction),
            [one] => *one,
            _ if conjunction => self.intern(Node::And(left)),
            _ => self.intern(Node::Or(left)),
        }
    }

    /// `if c then a else b`.
    pub fn ite(&mut self, c: Ex, a: Ex, b: Ex) -> Ex {
        if a == b {
            return a;
        }
        match (self.as_bool(c), self.as_bool(a), self.as_bool(b)) {
            (Some(true), ..) => a,
            (Some(false), ..) => b,
            (_, Some(true), Some(false)) => c,
            (_, Some(false), Some(true)) => self.not(c),
            (_, Some(false), _) => {
                let n = self.not(c);
                self.and(&[n, b])
            }
            (_, _, Some(false)) => self.and(&[c, a]),
            (_, Some(true), _) => self.or(&[c, b]),
            (_, _, Some(true)) => {
                let n = self.not(c);
                self.or(&[n, a])
            }
            _ => self.intern(Node::Ite(c, a, b)),
        }
    }
}
