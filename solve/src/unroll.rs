//! Unrolling a transition system into a formula over integers for Z3.
//!
//! Each tuning parameter is one-hot: one truth value per value, the same at every step. A table is a
//! choice over these; whatever depends on few parameters is tabulated before the solver sees it, and
//! a product is split over its smaller factor, so the formula stays linear. State variables get one
//! constant per step, unless their value is already a constant or another constant. Choices are fresh
//! truth values at every step.

use std::collections::BTreeMap;
use std::collections::HashMap;

use tickbound_encodings::system::{Ex, Node, Sort, System, TableId};
use z3::ast::{Bool, Int};

/// Rows of a table: value indices of its parameters, and the value.
type Rows = BTreeMap<Vec<u32>, i64>;

/// A composite of tables is tabulated anew if it has no more rows than this.
const MAX_ROWS: usize = 128;
/// Composites are tabulated only if the space has no more configurations than this.
const MAX_TABULATED: usize = 20_000;

/// A system unrolled for some steps, which can be extended. Facts to assert collect in
/// [`Unrolled::facts`] until someone takes them.
pub struct Unrolled<'s> {
    system: &'s System,
    live: Vec<Ex>,
    /// For each parameter and each of its values: it is chosen.
    pub chosen: Vec<Vec<Bool>>,
    tables: HashMap<TableId, Value>,
    /// Values of nodes that depend on the parameters alone.
    frozen: Vec<Option<Value>>,
    states: Vec<Value>,
    steps: Vec<Step>,
    facts: Vec<Bool>,
    size: usize,
}

/// What is kept of a step that has been taken.
struct Step {
    cost: Int,
    choices: Vec<Bool>,
}

/// A value of either sort, constant where it is known.
#[derive(Debug, Clone)]
enum Value {
    Number(i128),
    Truth(bool),
    Int(Int),
    Bool(Bool),
}

impl Value {
    fn int(&self) -> Int {
        match self {
            Value::Number(v) => number(*v),
            Value::Int(i) => i.clone(),
            Value::Truth(_) | Value::Bool(_) => number(0),
        }
    }

    fn bool(&self) -> Bool {
        match self {
            Value::Truth(v) => Bool::from_bool(*v),
            Value::Bool(b) => b.clone(),
            Value::Number(_) | Value::Int(_) => Bool::from_bool(false),
        }
    }
}

fn number(v: i128) -> Int {
    i64::try_from(v).map_or_else(|_| Int::from_i128(v), Int::from_i64)
}

fn at(values: &[Option<Value>], e: Ex) -> &Value {
    values[e.index()].as_ref().unwrap_or(&Value::Truth(false))
}

impl<'s> Unrolled<'s> {
    /// The choice of a valid configuration and the first states.
    #[must_use]
    pub fn new(system: &'s System) -> Self {
        let chosen = system
            .parameters
            .iter()
            .map(|p| p.values.iter().map(|v| Bool::new_const(format!("{}={v}", p.name))).collect())
            .collect();
        let mut unrolled = Unrolled {
            system,
            live: system.live(),
            chosen,
            tables: HashMap::new(),
            frozen: vec![None; system.nodes().len()],
            states: Vec::new(),
            steps: Vec::new(),
            facts: Vec::new(),
            size: 0,
        };
        unrolled.choose();
        unrolled.freeze();
        for state in &system.states {
            let value = unrolled.frozen[state.init.index()].clone();
            unrolled.states.push(value.unwrap_or(Value::Number(0)));
        }
        unrolled
    }

    /// Takes one more step.
    pub fn extend(&mut self) {
        let step = self.steps.len() + 1;
        let choices: Vec<Bool> = self
            .system
            .choices
            .iter()
            .map(|name| Bool::new_const(format!("{name}@{}", step - 1)))
            .collect();
        self.size += choices.len();
        let values = self.values(&choices);
        match at(&values, self.system.constraint) {
            Value::Truth(true) => {}
            constraint => {
                let fact = constraint.bool();
                self.assert(&fact);
            }
        }
        let cost = at(&values, self.system.cost).int();
        self.states = (0..self.system.states.len()).map(|s| self.name(s, step, &values)).collect();
        self.steps.push(Step { cost, choices });
    }

    /// Goal and cost after the last step.
    #[must_use]
    pub fn end(&self) -> (Bool, Int) {
        let values = self.values(&[]);
        (at(&values, self.system.goal).bool(), at(&values, self.system.cost).int())
    }

    /// Number of steps taken.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// For each step the cost before it and the choices it picks.
    pub fn picks(&self) -> impl Iterator<Item = (&Int, &[Bool])> {
        self.steps.iter().map(|s| (&s.cost, s.choices.as_slice()))
    }

    /// Constants and assertions made so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Takes the facts that have not been taken yet.
    pub fn facts(&mut self) -> Vec<Bool> {
        std::mem::take(&mut self.facts)
    }

    fn assert(&mut self, fact: &Bool) {
        self.size += 1;
        self.facts.push(fact.clone());
    }

    /// Exactly one value of each parameter, and together a valid configuration.
    fn choose(&mut self) {
        for p in 0..self.chosen.len() {
            let values = self.chosen[p].clone();
            self.size += values.len();
            self.assert(&Bool::or(&values));
            let weighted: Vec<(&Bool, i32)> = values.iter().map(|b| (b, 1)).collect();
            self.assert(&Bool::pb_le(&weighted, 1));
        }
        // For every beginning of a valid configuration: the values that may not follow it.
        let all: Vec<&Vec<u32>> = self.system.configurations.iter().collect();
        self.forbid(&all, 0, &mut Vec::new());
    }

    fn forbid(&mut self, members: &[&Vec<u32>], depth: usize, beginning: &mut Vec<Bool>) {
        if depth == self.chosen.len() {
            return;
        }
        let mut next: BTreeMap<u32, Vec<&Vec<u32>>> = BTreeMap::new();
        for m in members {
            next.entry(m[depth]).or_default().push(m);
        }
        for value in 0..self.chosen[depth].len() as u32 {
            let here = self.chosen[depth][value as usize].clone();
            if let Some(members) = next.remove(&value) {
                beginning.push(here);
                self.forbid(&members, depth + 1, beginning);
                beginning.pop();
            } else {
                let mut all = beginning.clone();
                all.push(here);
                let fact = Bool::and(&all).not();
                self.assert(&fact);
            }
        }
    }

    /// Translates every node that depends on the parameters alone.
    fn freeze(&mut self) {
        let live = self.live.clone();
        let system = self.system;
        let tabulate = system.configurations.len() <= MAX_TABULATED;
        let mut values: Vec<Option<Vec<i128>>> = vec![None; system.nodes().len()];
        for e in &live {
            let Some(point_by_point) = self.point_by_point(*e, &values, tabulate) else { continue };
            let small: Option<Vec<Option<i64>>> =
                point_by_point.iter().map(|v| i64::try_from(*v).ok().map(Some)).collect();
            let rows = small
                .map(|v| system.rows(&v))
                .filter(|(support, rows)| support.len() <= 1 || rows.len() <= MAX_ROWS);
            let value = match (system.node(*e), rows) {
                (Node::Table(t), _) => self.table(*t),
                (Node::Int(v), _) => Value::Number(i128::from(*v)),
                (Node::Bool(v), _) => Value::Truth(*v),
                (_, Some((support, rows))) => self.choice(&support, &rows, is_truth(system, *e)),
                (node, None) => self.composite(node, &values),
            };
            self.frozen[e.index()] = Some(value);
            values[e.index()] = Some(point_by_point);
        }
        if !tabulate {
            for e in &live {
                let node = system.node(*e);
                let known = |e: &Ex| self.frozen[e.index()].is_some();
                let mut all = true;
                tickbound_encodings::system::operands(node, &mut |o| all &= known(&o));
                if !matches!(node, Node::State(_) | Node::Choice(_))
                    && all
                    && self.frozen[e.index()].is_none()
                {
                    let value = match node {
                        Node::Table(t) => self.table(*t),
                        node => self.node(node, &self.frozen, &[], &[]),
                    };
                    self.frozen[e.index()] = Some(value);
                }
            }
        }
    }

    /// A frozen node's value in every configuration; `None` if it is not frozen, or too large.
    fn point_by_point(
        &self,
        e: Ex,
        values: &[Option<Vec<i128>>],
        tabulate: bool,
    ) -> Option<Vec<i128>> {
        if !tabulate {
            return None;
        }
        let width = self.system.configurations.len();
        let of = |e: &Ex| values[e.index()].as_ref();
        let two = |a: &Ex, b: &Ex, op: fn(i128, i128) -> Option<i128>| {
            of(a)?.iter().zip(of(b)?).map(|(x, y)| op(*x, *y)).collect()
        };
        match self.system.node(e) {
            Node::Int(v) => Some(vec![i128::from(*v); width]),
            Node::Bool(v) => Some(vec![i128::from(*v); width]),
            Node::State(_) | Node::Choice(_) => None,
            Node::Table(t) => {
                let table = &self.system.tables[t.index()];
                let value = |c: &Vec<u32>| i128::from(table.value(c).unwrap_or(0));
                Some(self.system.configurations.iter().map(value).collect())
            }
            Node::Add(a, b) => two(a, b, i128::checked_add),
            Node::Mul(a, b) => two(a, b, i128::checked_mul),
            Node::Max(a, b) => two(a, b, |x, y| Some(x.max(y))),
            Node::Eq(a, b) => two(a, b, |x, y| Some(i128::from(x == y))),
            Node::Le(a, b) => two(a, b, |x, y| Some(i128::from(x <= y))),
            Node::Not(a) => Some(of(a)?.iter().map(|x| 1 - x).collect()),
            Node::And(items) => self.fold(items, values, |x, y| x.min(y)),
            Node::Or(items) => self.fold(items, values, |x, y| x.max(y)),
            Node::Ite(c, a, b) => {
                let branches = of(a)?.iter().zip(of(b)?);
                Some(
                    of(c)?
                        .iter()
                        .zip(branches)
                        .map(|(c, (x, y))| if *c != 0 { *x } else { *y })
                        .collect(),
                )
            }
        }
    }

    fn fold(
        &self,
        items: &[Ex],
        values: &[Option<Vec<i128>>],
        op: fn(i128, i128) -> i128,
    ) -> Option<Vec<i128>> {
        let mut items = items.iter().map(|e| values[e.index()].as_ref());
        let first = items.next()??.clone();
        items.try_fold(first, |all, next| {
            Some(all.into_iter().zip(next?).map(|(x, y)| op(x, *y)).collect())
        })
    }

    /// A frozen node over too many parameters for one table: a product is split over the factor
    /// with fewer rows.
    fn composite(&self, node: &Node, values: &[Option<Vec<i128>>]) -> Value {
        let Node::Mul(a, b) = node else { return self.node(node, &self.frozen, &[], &[]) };
        let rows = |e: &Ex| {
            let small: Option<Vec<Option<i64>>> = values[e.index()]
                .as_ref()?
                .iter()
                .map(|v| i64::try_from(*v).ok().map(Some))
                .collect();
            Some(self.system.rows(&small?))
        };
        let (left, right) = (rows(a), rows(b));
        let count =
            |r: &Option<(Vec<usize>, Rows)>| r.as_ref().map_or(usize::MAX, |(_, rows)| rows.len());
        let (few, other) = if count(&left) <= count(&right) { (left, b) } else { (right, a) };
        let other = at(&self.frozen, *other).int();
        match few {
            Some((support, rows)) => Value::Int(
                self.choose_int(&support, &rows, &|factor| Int::from_i64(factor) * &other),
            ),
            None => self.node(node, &self.frozen, &[], &[]),
        }
    }

    fn table(&mut self, id: TableId) -> Value {
        if let Some(value) = self.tables.get(&id) {
            return value.clone();
        }
        let table = &self.system.tables[id.index()];
        let value = self.choice(&table.support, &table.rows, false);
        self.tables.insert(id, value.clone());
        value
    }

    fn choice(&self, support: &[usize], rows: &Rows, truth: bool) -> Value {
        let mut distinct = rows.values();
        let first = distinct.next().copied().unwrap_or(0);
        if distinct.all(|v| *v == first) {
            return if truth { Value::Truth(first != 0) } else { Value::Number(i128::from(first)) };
        }
        if truth {
            let yes: Vec<Bool> = rows
                .iter()
                .filter(|(_, v)| **v != 0)
                .map(|(key, _)| self.chosen_key(support, key))
                .collect();
            return Value::Bool(Bool::or(&yes));
        }
        Value::Int(self.choose_int(support, rows, &Int::from_i64))
    }

    fn chosen_key(&self, support: &[usize], key: &[u32]) -> Bool {
        let parts: Vec<Bool> =
            support.iter().zip(key).map(|(p, v)| self.chosen[*p][*v as usize].clone()).collect();
        Bool::and(&parts)
    }

    /// A choice between the rows, nested parameter by parameter.
    fn choose_int(&self, support: &[usize], rows: &Rows, term: &dyn Fn(i64) -> Int) -> Int {
        let Some((first, rest)) = support.split_first() else {
            return term(rows.values().next().copied().unwrap_or(0));
        };
        let mut by_value: BTreeMap<u32, Rows> = BTreeMap::new();
        for (key, value) in rows {
            by_value.entry(key[0]).or_default().insert(key[1..].to_vec(), *value);
        }
        let mut cases = by_value.iter().rev();
        let Some((_, last)) = cases.next() else { return term(0) };
        cases.fold(self.choose_int(rest, last, term), |other, (value, rows)| {
            let here = self.choose_int(rest, rows, term);
            self.chosen[*first][*value as usize].ite(&here, &other)
        })
    }

    /// The value of every live node in the present states; choices that are not given are false.
    fn values(&self, choices: &[Bool]) -> Vec<Option<Value>> {
        let mut values = self.frozen.clone();
        for e in &self.live {
            if values[e.index()].is_none() {
                let node = self.system.node(*e);
                values[e.index()] = Some(self.node(node, &values, &self.states, choices));
            }
        }
        values
    }

    fn node(
        &self,
        node: &Node,
        values: &[Option<Value>],
        states: &[Value],
        choices: &[Bool],
    ) -> Value {
        let of = |e: &Ex| at(values, *e);
        match node {
            Node::Int(v) => Value::Number(i128::from(*v)),
            Node::Bool(v) => Value::Truth(*v),
            Node::State(s) => states[s.index()].clone(),
            Node::Table(t) => self.tables.get(t).cloned().unwrap_or(Value::Number(0)),
            Node::Choice(c) => {
                choices.get(c.index()).map_or(Value::Truth(false), |b| Value::Bool(b.clone()))
            }
            Node::Add(a, b) => add(of(a), of(b)),
            Node::Mul(a, b) => match (of(a), of(b)) {
                (Value::Number(x), Value::Number(y)) => Value::Number(x.saturating_mul(*y)),
                (a, b) => Value::Int(a.int() * b.int()),
            },
            Node::Max(a, b) => match (of(a), of(b)) {
                (Value::Number(x), Value::Number(y)) => Value::Number(*x.max(y)),
                (a, b) => Value::Int(a.int().ge(b.int()).ite(&a.int(), &b.int())),
            },
            Node::Eq(a, b) => match (of(a), of(b)) {
                (Value::Number(x), Value::Number(y)) => Value::Truth(x == y),
                (a, b) => Value::Bool(a.int().eq(b.int())),
            },
            Node::Le(a, b) => match (of(a), of(b)) {
                (Value::Number(x), Value::Number(y)) => Value::Truth(x <= y),
                (a, b) => Value::Bool(a.int().le(b.int())),
            },
            Node::Not(a) => match of(a) {
                Value::Truth(v) => Value::Truth(!v),
                other => Value::Bool(other.bool().not()),
            },
            Node::And(items) => junction(items.iter().map(of), true),
            Node::Or(items) => junction(items.iter().map(of), false),
            Node::Ite(c, a, b) => choose(of(c), of(a), of(b)),
        }
    }

    /// A state's value at a step, under a name of its own unless it is simple already.
    fn name(&mut self, state: usize, step: usize, values: &[Option<Value>]) -> Value {
        let declared = &self.system.states[state];
        let value = at(values, declared.next).clone();
        let name = format!("{}@{step}", declared.name);
        match (declared.sort, value) {
            (_, known @ (Value::Number(_) | Value::Truth(_))) => known,
            (Sort::Int, Value::Int(i)) if is_plain(&i) => Value::Int(i),
            (Sort::Bool, Value::Bool(b)) if is_plain(&b) => Value::Bool(b),
            (_, Value::Int(i)) => {
                let named = Int::new_const(name);
                self.size += 1;
                self.assert(&named.eq(&i));
                Value::Int(named)
            }
            (_, Value::Bool(b)) => {
                let named = Bool::new_const(name);
                self.size += 1;
                self.assert(&named.iff(&b));
                Value::Bool(named)
            }
        }
    }
}

/// True for a constant symbol: it needs no further name.
fn is_plain<A: z3::ast::Ast>(ast: &A) -> bool {
    ast.num_children() == 0
}

fn is_truth(system: &System, e: Ex) -> bool {
    match system.node(e) {
        Node::Bool(_) | Node::Eq(..) | Node::Le(..) | Node::Not(_) | Node::And(_) | Node::Or(_) => {
            true
        }
        Node::Ite(_, a, _) => is_truth(system, *a),
        _ => false,
    }
}

fn add(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => Value::Number(x.saturating_add(*y)),
        (Value::Number(0), other) | (other, Value::Number(0)) => other.clone(),
        (a, b) => Value::Int(a.int() + b.int()),
    }
}

fn junction<'v>(items: impl Iterator<Item = &'v Value>, conjunction: bool) -> Value {
    let mut left = Vec::new();
    for item in items {
        match item {
            Value::Truth(v) if *v == conjunction => {}
            Value::Truth(_) => return Value::Truth(!conjunction),
            other => left.push(other.bool()),
        }
    }
    match left.as_slice() {
        [] => Value::Truth(conjunction),
        [one] => Value::Bool(one.clone()),
        _ if conjunction => Value::Bool(Bool::and(&left)),
        _ => Value::Bool(Bool::or(&left)),
    }
}

fn choose(c: &Value, a: &Value, b: &Value) -> Value {
    match (c, a, b) {
        (Value::Truth(true), a, _) => a.clone(),
        (Value::Truth(false), _, b) => b.clone(),
        (_, Value::Number(x), Value::Number(y)) if x == y => a.clone(),
        (_, Value::Truth(x), Value::Truth(y)) if x == y => a.clone(),
        (c, Value::Truth(_) | Value::Bool(_), _) => Value::Bool(c.bool().ite(&a.bool(), &b.bool())),
        (c, a, b) => Value::Int(c.bool().ite(&a.int(), &b.int())),
    }
}
