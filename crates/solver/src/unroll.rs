//! Unrolling a transition system into a formula over integers for Z3.
//!
//! Each tuning parameter is one-hot: one truth value per value, the same at every step. A table is
//! a choice over these; whatever depends on few parameters is tabulated before the solver sees it,
//! and a product is split over its smaller factor, so the formula stays linear. State variables get
//! one constant per step, unless their value is already a constant or another constant. Choices are
//! fresh truth values at every step.

use std::collections::BTreeMap;

use tickbound_encodings::system::columns::Columns;
use tickbound_encodings::system::evaluate::{Algebra, Values, evaluate, node};
use tickbound_encodings::system::{self, ChoiceId, Ex, Fault, Node, System, TableId};
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
    /// What depends on more than the parameters, operands first.
    moving: Vec<Ex>,
    terms: Terms<'s>,
    /// Values of nodes that depend on the parameters alone.
    frozen: Values<Number, Truth>,
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

type Value = system::Value<Number, Truth>;

/// An integer, constant where it is known.
#[derive(Debug, Clone)]
enum Number {
    Known(i128),
    Term(Int),
}

/// A truth value, constant where it is known.
#[derive(Debug, Clone)]
enum Truth {
    Known(bool),
    Term(Bool),
}

impl Number {
    fn term(&self) -> Int {
        match self {
            Number::Known(v) => {
                i64::try_from(*v).map_or_else(|_| Int::from_i128(*v), Int::from_i64)
            }
            Number::Term(i) => i.clone(),
        }
    }
}

impl Truth {
    fn term(&self) -> Bool {
        match self {
            Truth::Known(v) => Bool::from_bool(*v),
            Truth::Term(b) => b.clone(),
        }
    }
}

impl<'s> Unrolled<'s> {
    /// The choice of a valid configuration and the first states.
    ///
    /// # Errors
    /// The system is not one.
    pub fn new(system: &'s System) -> Result<Self, Fault> {
        let chosen = system
            .parameters
            .iter()
            .map(|p| p.values.iter().map(|v| Bool::new_const(format!("{}={v}", p.name))).collect())
            .collect();
        let terms =
            Terms { system, chosen, tables: vec![None; system.tables.len()], choices: Vec::new() };
        let is_frozen = system.frozen();
        let (frozen_nodes, moving): (Vec<Ex>, Vec<Ex>) =
            system.live().into_iter().partition(|e| is_frozen[e.index()]);
        let (frozen, states, steps, facts) = (Values::none(system), vec![], vec![], vec![]);
        let mut unrolled =
            Unrolled { system, moving, terms, frozen, states, steps, facts, size: 0 };
        unrolled.choose();
        unrolled.freeze(&frozen_nodes)?;
        let first = |state: &system::State| unrolled.frozen.get(state.init).cloned();
        unrolled.states = system.states.iter().map(first).collect::<Result<_, _>>()?;
        Ok(unrolled)
    }

    /// Takes one more step.
    ///
    /// # Errors
    /// The system is not one.
    pub fn extend(&mut self) -> Result<(), Fault> {
        let step = self.steps.len() + 1;
        let choice = |name: &String| Bool::new_const(format!("{name}@{}", step - 1));
        let choices: Vec<Bool> = self.system.choices.iter().map(choice).collect();
        self.size += choices.len();
        let values = self.values(&choices)?;
        if let Truth::Term(constraint) = values.bool(self.system.constraint)? {
            self.assert(constraint);
        }
        let cost = values.int(self.system.cost)?.term();
        self.states = (0..self.system.states.len())
            .map(|s| self.name(s, step, &values))
            .collect::<Result<_, _>>()?;
        self.steps.push(Step { cost, choices });
        Ok(())
    }

    /// Goal and cost after the last step.
    ///
    /// # Errors
    /// The system is not one.
    pub fn end(&mut self) -> Result<(Bool, Int), Fault> {
        // No further step is taken, so whatever it would pick is nothing.
        let none = vec![Bool::from_bool(false); self.system.choices.len()];
        let values = self.values(&none)?;
        Ok((values.bool(self.system.goal)?.term(), values.int(self.system.cost)?.term()))
    }

    /// Number of steps taken.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// For each step the cost before it and the choices it picks.
    pub fn picks(&self) -> impl Iterator<Item = (&Int, &[Bool])> {
        self.steps.iter().map(|s| (&s.cost, s.choices.as_slice()))
    }

    /// For each parameter and each of its values: it is chosen.
    pub fn chosen(&self) -> &[Vec<Bool>] {
        &self.terms.chosen
    }

    /// Constants and assertions made so far.
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
        for p in 0..self.terms.chosen.len() {
            let values = self.terms.chosen[p].clone();
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
        if depth == self.terms.chosen.len() {
            return;
        }
        let mut next: BTreeMap<u32, Vec<&Vec<u32>>> = BTreeMap::new();
        for m in members {
            next.entry(m[depth]).or_default().push(m);
        }
        for value in 0..self.terms.chosen[depth].len() as u32 {
            let here = self.terms.chosen[depth][value as usize].clone();
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
    fn freeze(&mut self, nodes: &[Ex]) -> Result<(), Fault> {
        let system = self.system;
        let tabulated = system.configurations.len() <= MAX_TABULATED;
        let columns = if tabulated { Some(Columns::new(system, nodes)?) } else { None };
        for e in nodes.iter().copied() {
            let column = columns.as_ref().and_then(|columns| columns.values(e));
            let known = matches!(system.node(e), Node::Table(_) | Node::Int(_) | Node::Bool(_));
            let rows = column
                .filter(|_| !known)
                .map(|values| system.rows(&values))
                .filter(|(support, rows)| support.len() <= 1 || rows.len() <= MAX_ROWS);
            let value = match (rows, &columns) {
                (Some((support, rows)), _) => self.terms.tabulated(e, &support, &rows)?,
                (None, Some(columns)) => self.composite(e, columns)?,
                (None, None) => self.composed(e)?,
            };
            self.frozen.set(e, value);
        }
        Ok(())
    }

    fn composed(&mut self, e: Ex) -> Result<Value, Fault> {
        node(self.system.node(e), &[], &mut self.terms, &self.frozen)
    }

    /// A frozen node over too many parameters for one table: a product is split over the factor
    /// with fewer rows.
    fn composite(&mut self, e: Ex, columns: &Columns) -> Result<Value, Fault> {
        let Node::Mul(a, b) = self.system.node(e) else { return self.composed(e) };
        let rows = |e: &Ex| columns.values(*e).map(|values| self.system.rows(&values));
        let (left, right) = (rows(a), rows(b));
        let count =
            |r: &Option<(Vec<usize>, Rows)>| r.as_ref().map_or(usize::MAX, |(_, rows)| rows.len());
        let (few, other) = if count(&left) <= count(&right) { (left, b) } else { (right, a) };
        let Some((support, rows)) = few else { return self.composed(e) };
        let other = self.frozen.int(*other)?.term();
        let product = |factor| Int::from_i64(factor) * &other;
        Ok(Value::Int(Number::Term(self.terms.choose(&support, &rows, &product)?)))
    }

    /// The value of every live node in the present states.
    fn values(&mut self, choices: &[Bool]) -> Result<Values<Number, Truth>, Fault> {
        let mut values = self.frozen.clone();
        self.terms.choices = choices.to_vec();
        evaluate(self.system, &self.moving, &self.states, &mut self.terms, &mut values)?;
        Ok(values)
    }

    /// A state's value at a step, under a name of its own unless it is simple already.
    fn name(
        &mut self,
        state: usize,
        step: usize,
        values: &Values<Number, Truth>,
    ) -> Result<Value, Fault> {
        let declared = &self.system.states[state];
        let name = format!("{}@{step}", declared.name);
        Ok(match values.get(declared.next)? {
            Value::Int(Number::Term(i)) if !is_plain(i) => {
                let named = Int::new_const(name);
                self.size += 1;
                self.assert(&named.eq(i));
                Value::Int(Number::Term(named))
            }
            Value::Bool(Truth::Term(b)) if !is_plain(b) => {
                let named = Bool::new_const(name);
                self.size += 1;
                self.assert(&named.iff(b));
                Value::Bool(Truth::Term(named))
            }
            simple => simple.clone(),
        })
    }
}

/// True for a constant symbol: it needs no further name.
fn is_plain<A: z3::ast::Ast>(ast: &A) -> bool {
    ast.num_children() == 0
}

/// Terms of Z3, with constants computed as far as they are known.
struct Terms<'s> {
    system: &'s System,
    /// For each parameter and each of its values: it is chosen.
    chosen: Vec<Vec<Bool>>,
    /// The term of each table, once it has been asked for.
    tables: Vec<Option<Number>>,
    /// What the present step picks.
    choices: Vec<Bool>,
}

impl Terms<'_> {
    /// A node's value out of rows; truth values are 0 and 1 there.
    fn tabulated(&self, e: Ex, support: &[usize], rows: &Rows) -> Result<Value, Fault> {
        let mut distinct = rows.values();
        let first = distinct.next().copied();
        let same = first.filter(|first| distinct.all(|v| v == first));
        if !is_truth(self.system, e) {
            return Ok(Value::Int(self.number(support, rows)?));
        }
        Ok(Value::Bool(match same {
            Some(v) => Truth::Known(v != 0),
            None => {
                let yes = rows.iter().filter(|(_, v)| **v != 0);
                let yes: Vec<Bool> = yes.map(|(key, _)| self.chosen_key(support, key)).collect();
                Truth::Term(Bool::or(&yes))
            }
        }))
    }

    /// The number that rows say; any at all if there are none, because then nobody reads it.
    fn number(&self, support: &[usize], rows: &Rows) -> Result<Number, Fault> {
        let mut distinct = rows.values();
        Ok(match distinct.next() {
            None => unread(),
            Some(first) if distinct.all(|v| v == first) => Number::Known(i128::from(*first)),
            Some(_) => Number::Term(self.choose(support, rows, &Int::from_i64)?),
        })
    }

    fn chosen_key(&self, support: &[usize], key: &[u32]) -> Bool {
        let parts: Vec<Bool> =
            support.iter().zip(key).map(|(p, v)| self.chosen[*p][*v as usize].clone()).collect();
        Bool::and(&parts)
    }

    /// A choice between the rows, nested parameter by parameter. The last row also stands for
    /// combinations that no row has: those are of configurations that do not read it.
    fn choose(
        &self,
        support: &[usize],
        rows: &Rows,
        term: &dyn Fn(i64) -> Int,
    ) -> Result<Int, Fault> {
        let Some((first, rest)) = support.split_first() else {
            let value = rows.values().next();
            return value.map(|v| term(*v)).ok_or_else(|| Fault("a table without rows".into()));
        };
        let mut by_value: BTreeMap<u32, Rows> = BTreeMap::new();
        for (key, value) in rows {
            by_value.entry(key[0]).or_default().insert(key[1..].to_vec(), *value);
        }
        let mut cases = by_value.iter().rev();
        let last = cases.next().ok_or_else(|| Fault("a table without rows".into()))?;
        let last = self.choose(rest, last.1, term)?;
        cases.try_fold(last, |other, (value, rows)| {
            let here = self.choose(rest, rows, term)?;
            Ok(self.chosen[*first][*value as usize].ite(&here, &other))
        })
    }
}

/// A number that nobody reads: left open, so that no proof can rest on it.
fn unread() -> Number {
    Number::Term(Int::fresh_const("unread"))
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

impl Algebra for Terms<'_> {
    type Int = Number;
    type Bool = Truth;
    type Error = Fault;

    fn int(&mut self, value: i64) -> Number {
        Number::Known(i128::from(value))
    }

    fn bool(&mut self, value: bool) -> Truth {
        Truth::Known(value)
    }

    fn unread(&mut self) -> Number {
        unread()
    }

    fn table(&mut self, id: TableId) -> Result<Number, Fault> {
        if let Some(known) = &self.tables[id.index()] {
            return Ok(known.clone());
        }
        let table = &self.system.tables[id.index()];
        let number = self.number(&table.support, &table.rows)?;
        self.tables[id.index()] = Some(number.clone());
        Ok(number)
    }

    fn choice(&mut self, id: ChoiceId) -> Result<Truth, Fault> {
        let pick = self.choices.get(id.index());
        pick.cloned().map(Truth::Term).ok_or_else(|| Fault("a step without its choices".into()))
    }

    fn add(&mut self, a: &Number, b: &Number) -> Result<Number, Fault> {
        Ok(match (a, b) {
            (Number::Known(x), Number::Known(y)) => Number::Known(inside(x.checked_add(*y))?),
            (Number::Known(0), other) | (other, Number::Known(0)) => other.clone(),
            (a, b) => Number::Term(a.term() + b.term()),
        })
    }

    fn mul(&mut self, a: &Number, b: &Number) -> Result<Number, Fault> {
        Ok(match (a, b) {
            (Number::Known(x), Number::Known(y)) => Number::Known(inside(x.checked_mul(*y))?),
            (a, b) => Number::Term(a.term() * b.term()),
        })
    }

    fn max(&mut self, a: &Number, b: &Number) -> Number {
        match (a, b) {
            (Number::Known(x), Number::Known(y)) => Number::Known(*x.max(y)),
            (a, b) => {
                let (a, b) = (a.term(), b.term());
                Number::Term(a.ge(&b).ite(&a, &b))
            }
        }
    }

    fn equal(&mut self, a: &Number, b: &Number) -> Truth {
        match (a, b) {
            (Number::Known(x), Number::Known(y)) => Truth::Known(x == y),
            (a, b) => Truth::Term(a.term().eq(b.term())),
        }
    }

    fn at_most(&mut self, a: &Number, b: &Number) -> Truth {
        match (a, b) {
            (Number::Known(x), Number::Known(y)) => Truth::Known(x <= y),
            (a, b) => Truth::Term(a.term().le(b.term())),
        }
    }

    fn not(&mut self, a: &Truth) -> Truth {
        match a {
            Truth::Known(v) => Truth::Known(!v),
            Truth::Term(b) => Truth::Term(b.not()),
        }
    }

    fn all(&mut self, items: impl Iterator<Item = Result<Truth, Fault>>) -> Result<Truth, Fault> {
        junction(items, true)
    }

    fn any(&mut self, items: impl Iterator<Item = Result<Truth, Fault>>) -> Result<Truth, Fault> {
        junction(items, false)
    }

    fn ite_int(&mut self, c: &Truth, a: &Number, b: &Number) -> Number {
        match (c, a, b) {
            (Truth::Known(true), a, _) => a.clone(),
            (Truth::Known(false), _, b) => b.clone(),
            (_, Number::Known(x), Number::Known(y)) if x == y => a.clone(),
            (Truth::Term(c), a, b) => Number::Term(c.ite(&a.term(), &b.term())),
        }
    }

    fn ite_bool(&mut self, c: &Truth, a: &Truth, b: &Truth) -> Truth {
        match (c, a, b) {
            (Truth::Known(true), a, _) => a.clone(),
            (Truth::Known(false), _, b) => b.clone(),
            (_, Truth::Known(x), Truth::Known(y)) if x == y => a.clone(),
            (Truth::Term(c), a, b) => Truth::Term(c.ite(&a.term(), &b.term())),
        }
    }
}

/// What stays within 128 bits; times do by far.
fn inside(value: Option<i128>) -> Result<i128, Fault> {
    value.ok_or_else(|| Fault("a constant leaves 128 bits".into()))
}

fn junction(
    items: impl Iterator<Item = Result<Truth, Fault>>,
    conjunction: bool,
) -> Result<Truth, Fault> {
    let mut left = Vec::new();
    for item in items {
        match item? {
            Truth::Known(v) if v == conjunction => {}
            Truth::Known(_) => return Ok(Truth::Known(!conjunction)),
            Truth::Term(b) => left.push(b),
        }
    }
    Ok(match left.as_slice() {
        [] => Truth::Known(conjunction),
        [one] => Truth::Term(one.clone()),
        _ if conjunction => Truth::Term(Bool::and(&left)),
        _ => Truth::Term(Bool::or(&left)),
    })
}
