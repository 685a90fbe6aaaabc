//! Unrolling a transition system into a formula over integers for Z3.
//!
//! Each tuning parameter is one-hot: one truth value per value, the same at every step. A table is
//! a choice over these; what depends on few parameters is tabulated before the solver sees it,
//! and a product is split over its smaller factor, so the formula stays linear. State variables get
//! one constant per step, unless their value is already a constant or another constant. Choices are
//! fresh truth values at every step.

mod terms;

use std::collections::BTreeMap;

use tickbound_encodings::system::columns::Columns;
use tickbound_encodings::system::evaluate::{SystemValues, evaluate, node};
use tickbound_encodings::system::{self, Ex, InternalError, System, SystemNode};
use z3::ast::{Bool, Int};

use self::terms::{Number, Rows, Terms, Truth, Value};

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
    frozen: SystemValues<Number, Truth>,
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

impl<'s> Unrolled<'s> {
    /// The choice of a valid configuration and the first states.
    ///
    /// # Errors
    /// The system is not one.
    pub fn new(system: &'s System) -> Result<Self, InternalError> {
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
        let (frozen, states, steps, facts) = (SystemValues::none(system), vec![], vec![], vec![]);
        let mut unrolled =
            Unrolled { system, moving, terms, frozen, states, steps, facts, size: 0 };
        unrolled.choose();
        unrolled.freeze(&frozen_nodes)?;
        let first = |state: &system::SystemState| unrolled.frozen.get(state.init).cloned();
        unrolled.states = system.states.iter().map(first).collect::<Result<_, _>>()?;
        Ok(unrolled)
    }

    /// Takes one more step.
    ///
    /// # Errors
    /// The system is not one.
    pub fn extend(&mut self) -> Result<(), InternalError> {
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
    pub fn end(&mut self) -> Result<(Bool, Int), InternalError> {
        // No further step is taken, so it picks nothing.
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
    fn freeze(&mut self, nodes: &[Ex]) -> Result<(), InternalError> {
        let system = self.system;
        let tabulated = system.configurations.len() <= MAX_TABULATED;
        let columns = if tabulated { Some(Columns::new(system, nodes)?) } else { None };
        for e in nodes.iter().copied() {
            let column = columns.as_ref().and_then(|columns| columns.values(e));
            let known = matches!(
                system.node(e),
                SystemNode::Table(_) | SystemNode::Int(_) | SystemNode::Bool(_)
            );
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

    fn composed(&mut self, e: Ex) -> Result<Value, InternalError> {
        node(self.system.node(e), &[], &mut self.terms, &self.frozen)
    }

    /// A frozen node over too many parameters for a table: a product splits at its smaller factor.
    fn composite(&mut self, e: Ex, columns: &Columns) -> Result<Value, InternalError> {
        let SystemNode::Mul(a, b) = self.system.node(e) else { return self.composed(e) };
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
    fn values(&mut self, choices: &[Bool]) -> Result<SystemValues<Number, Truth>, InternalError> {
        let mut values = self.frozen.clone();
        self.terms.choices = choices.to_vec();
        evaluate(self.system, &self.moving, &self.states, &mut self.terms, &mut values)?;
        Ok(values)
    }

    /// A state's value at a step, under its own name unless it is simple already.
    fn name(
        &mut self,
        state: usize,
        step: usize,
        values: &SystemValues<Number, Truth>,
    ) -> Result<Value, InternalError> {
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
