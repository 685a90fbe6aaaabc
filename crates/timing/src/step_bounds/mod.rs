//! Bounds of a chain over boxes of parameter values: intervals whose leaves are tables.
//!
//! Intervals of quotients say little while several of their parameters are undecided. So each
//! subexpression over few combinations of values becomes a table: its value for each combination
//! that the conditions over the same parameters allow, and for each beginning of one the least and
//! the greatest value. Interval arithmetic combines the tables. Conditions over few combinations
//! are tables too, which say where nothing is valid.

mod rows;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use tickbound_expr::interval::Interval;
use tickbound_expr::{Expr, Slot};
use tickbound_model::Problem;
use tickbound_model::space::Condition;

use crate::chain::Chain;
use crate::term::Term;
use rows::Rows;

/// Most combinations of one table.
const MAX_ROWS: usize = 1 << 14;

/// For each parameter the numbers of the first and of the last of its values, in increasing order.
pub type ParameterBox = Vec<(u32, u32)>;

/// Bounds of a chain, and of the terms that are added to it.
#[derive(Debug)]
pub struct StepBounds {
    order: Vec<usize>,
    /// For each parameter its values in increasing order.
    values: Vec<Vec<i64>>,
    /// What each slot of the problem may be; the parameters' are set for each box.
    slots: Vec<Interval>,
    first_parameter: Slot,
    tables: Vec<StepTable>,
    /// The steps over slots of the problem, steps and tables, and whether one below 0 is a fault;
    /// `None` where tables alone use it.
    steps: Vec<Option<(Expr, bool)>>,
    others: Vec<Term>,
}

/// Values of an expression over a few parameters.
#[derive(Debug)]
struct StepTable {
    /// The parameters, in the order in which boxes are divided.
    parameters: Vec<usize>,
    /// For each number of parameters that are decided, and each combination of their values, the
    /// least and the greatest value; `None` if nothing is allowed.
    levels: Vec<Vec<Option<Interval>>>,
    /// It is a side of a conditional, with the combinations for which that is taken.
    guarded: bool,
}

impl StepBounds {
    /// Tabulates a cost over the parameters with these `values`, in increasing order; `None` if it
    /// is no chain.
    pub fn new(
        problem: &Problem,
        values: Vec<Vec<i64>>,
        conditions: &[Condition],
        cost: &Term,
    ) -> Option<StepBounds> {
        let parts =
            if let Term::Sum(parts) = cost { &parts[..] } else { std::slice::from_ref(cost) };
        let chains = parts.iter().filter_map(Term::as_chain).collect::<Vec<&Chain>>();
        let [chain] = chains[..] else { return None };
        let others = parts.iter().filter(|part| part.as_chain().is_none()).cloned().collect();
        let slots: Vec<Interval> = problem.base_env().into_iter().map(Interval::point).collect();
        let mut tabulator = Tabulator::new(problem, &values, conditions, chain);
        tabulator.conditions();
        let steps = tabulator.steps();
        let Tabulator { order, tables, .. } = tabulator;
        let first_parameter = problem.first_parameter();
        Some(StepBounds { order, values, slots, first_parameter, tables, steps, others })
    }

    /// The parameters in the order in which boxes are to be divided along them.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Ticks that no configuration in a box undercuts, `i64::MIN` if something in it may have no
    /// value; `None` if none is valid.
    pub fn least(&self, of: &ParameterBox) -> Option<i64> {
        let mut slots = self.slots.clone();
        for (p, (low, high)) in of.iter().enumerate() {
            let values = &self.values[p];
            slots[self.first_parameter + p] =
                Interval { low: values[*low as usize], high: values[*high as usize] };
        }
        let steps = slots.len();
        slots.resize(steps + self.steps.len(), Interval::point(0));
        for table in &self.tables {
            let range = table.range(of, &self.values);
            // A side of a conditional that is not taken can have any value.
            slots.push(range.or(table.guarded.then_some(Interval::point(1)))?);
        }
        Some(self.combined(&mut slots, steps).unwrap_or(i64::MIN))
    }

    /// The least ticks, given what the slots of the problem and those of the tables may be.
    fn combined(&self, slots: &mut [Interval], first: Slot) -> Option<i64> {
        for (place, step) in self.steps.iter().enumerate() {
            let Some((expr, amount)) = step else { continue };
            let range = expr.range(slots);
            slots[first + place] =
                range.values.filter(|v| !range.may_fail && (!amount || v.low >= 0))?;
        }
        let last = self.steps.len().checked_sub(1).map_or(0, |last| slots[first + last].low.max(0));
        let mut others = self.others.iter();
        others.try_fold(last, |sum, term| Some(sum.saturating_add(term.least(slots)?)))
    }
}

impl StepTable {
    /// The least and the greatest value in a box; `None` if nothing is allowed. What is decided
    /// behind a parameter that is not is left out of account.
    fn range(&self, of: &ParameterBox, values: &[Vec<i64>]) -> Option<Interval> {
        let (mut level, mut place) = (0, 0);
        for p in &self.parameters {
            let ((low, high), size) = (of[*p], values[*p].len());
            level += 1;
            place = place * size + low as usize;
            if low < high {
                let some = &self.levels[level][place..=place + (high - low) as usize];
                return some.iter().flatten().copied().reduce(hull);
            }
        }
        self.levels[level][place]
    }

    /// Which combinations of some of its parameters it allows; `None` if all.
    fn onto(
        &self,
        parameters: &[usize],
        context: &Context,
        values: &[Vec<i64>],
    ) -> Option<Projection> {
        let size = parameters.iter().map(|p| values[*p].len()).product();
        let mut projection =
            Projection { parameters: parameters.to_vec(), allowed: vec![false; size] };
        let mut indices = vec![0; values.len()];
        for (place, value) in self.levels.last().into_iter().flatten().enumerate() {
            if value.is_some() {
                let mut rest = place;
                for p in self.parameters.iter().rev() {
                    (indices[*p], rest) =
                        ((rest % values[*p].len()) as u32, rest / values[*p].len());
                }
                let place = place_of(parameters, &indices, values);
                let is_in = context.iter().all(|(p, allowed)| allowed[indices[*p] as usize]);
                projection.allowed[place] |= is_in;
            }
        }
        projection.allowed.contains(&false).then_some(projection)
    }

    /// The value where all parameters are decided.
    fn value(&self, indices: &[u32], values: &[Vec<i64>]) -> Option<i64> {
        let place = place_of(&self.parameters, indices, values);
        self.levels.last()?.get(place).copied().flatten().map(|value| value.low)
    }
}

/// Which combinations of a few parameters' values a condition allows.
#[derive(Debug)]
struct Projection {
    parameters: Vec<usize>,
    allowed: Vec<bool>,
}

/// The number of a combination of some parameters' values, the last parameter's counting least.
fn place_of(parameters: &[usize], indices: &[u32], values: &[Vec<i64>]) -> usize {
    parameters.iter().fold(0, |place, p| place * values[*p].len() + indices[*p] as usize)
}

/// The least interval that contains both.
fn hull(a: Interval, b: Interval) -> Interval {
    Interval { low: a.low.min(b.low), high: a.high.max(b.high) }
}

/// For parameters with a restriction, which of their values it allows.
type Context = BTreeMap<usize, Vec<bool>>;

/// Makes the tables of a chain.
struct Tabulator<'a> {
    problem: &'a Problem,
    values: &'a [Vec<i64>],
    conditions: &'a [Condition],
    chain: &'a Chain,
    /// The parameters in the order in which boxes are divided, and the place of each in it.
    order: Vec<usize>,
    ranks: Vec<usize>,
    /// For each step the parameters that it depends on.
    scopes: Vec<Vec<usize>>,
    /// For each step its table, if it has one.
    by_step: Vec<Option<usize>>,
    tables: Vec<StepTable>,
    known: HashMap<(Expr, Context), usize>,
    /// The values of parameters for which the present side of conditionals is taken.
    context: Context,
    /// How many tables are of conditions; they come first.
    conditional: usize,
    /// For tables of conditions and some of their parameters, what these may be together.
    projected: HashMap<(usize, Vec<usize>, Context), Option<Rc<Projection>>>,
}

impl<'a> Tabulator<'a> {
    fn new(
        problem: &'a Problem,
        values: &'a [Vec<i64>],
        conditions: &'a [Condition],
        chain: &'a Chain,
    ) -> Tabulator<'a> {
        let mut scopes: Vec<Vec<usize>> = Vec::new();
        let mut weights = vec![0usize; values.len()];
        for step in chain.steps() {
            let scope = scope(problem, chain, &scopes, &step.of.expr);
            scope.iter().for_each(|p| weights[*p] += 1);
            scopes.push(scope);
        }
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|p| std::cmp::Reverse(weights[*p]));
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, p)| ranks[*p] = rank);
        let (tables, known, projected) = (Vec::new(), HashMap::new(), HashMap::new());
        let (by_step, conditional) = (Vec::new(), 0);
        Tabulator {
            problem,
            values,
            conditions,
            chain,
            order,
            ranks,
            scopes,
            by_step,
            tables,
            known,
            context: Context::new(),
            conditional,
            projected,
        }
    }

    /// Makes tables of conditions.
    fn conditions(&mut self) {
        for condition in self.conditions {
            let scope = self.sorted(condition.parameters.clone());
            if self.is_small(&scope) {
                let table = self.table(scope, &Expr::Int(0), Some(condition));
                self.tables.extend(table);
                self.conditional = self.tables.len();
            }
        }
    }

    /// What conditions say of some parameters, also those that mention others.
    fn projections(&mut self, scope: &[usize]) -> Vec<Rc<Projection>> {
        let mut all = Vec::new();
        for table in 0..self.conditional {
            let parameters = &self.tables[table].parameters;
            let onto = parameters.iter().filter(|p| scope.contains(p)).copied().collect::<Vec<_>>();
            let others = self.context.iter().filter(|(p, _)| parameters.contains(p));
            let context = others.map(|(p, values)| (*p, values.clone())).collect::<Context>();
            if onto.is_empty() {
                continue;
            }
            let key = (table, onto, context);
            let projection = match self.projected.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let made = self.tables[table].onto(&key.1, &key.2, self.values).map(Rc::new);
                    self.projected.insert(key, made.clone());
                    made
                }
            };
            all.extend(projection);
        }
        all
    }

    /// The steps with tables in them; what only tables use is left out.
    fn steps(&mut self) -> Vec<Option<(Expr, bool)>> {
        let mut steps: Vec<Option<(Expr, bool)>> = Vec::new();
        for step in self.chain.steps() {
            let expr = self.tabulated(&step.of.expr);
            let tables = self.chain.first() + self.chain.steps().len();
            let table = match &expr {
                Expr::Name(slot) => slot.checked_sub(tables),
                _ => None,
            };
            let negative = |table: &usize| {
                let all = self.tables[*table].levels[0].first().copied().flatten();
                all.is_some_and(|all| step.amount && all.low < 0)
            };
            self.by_step.push(table.filter(|table| !negative(table)));
            steps.push(Some((expr, step.amount)));
        }
        // One that may have no value is a fault of the problem, even if nothing uses it.
        let mut used: Vec<bool> = self.by_step.iter().map(Option::is_none).collect();
        if let Some(last) = used.last_mut() {
            *last = true;
        }
        for place in (0..steps.len()).rev() {
            match &steps[place] {
                Some((expr, _)) if used[place] => expr.names(&mut |slot| {
                    let step = slot.checked_sub(self.chain.first());
                    if let Some(used) = step.and_then(|step| used.get_mut(step)) {
                        *used = true;
                    }
                }),
                _ => steps[place] = None,
            }
        }
        steps
    }

    /// The expression with tables in place of what is over few combinations.
    fn tabulated(&mut self, expr: &Expr) -> Expr {
        let tables = self.chain.first() + self.chain.steps().len();
        match expr {
            Expr::Int(_) => return expr.clone(),
            Expr::Name(slot) => {
                let step = slot.checked_sub(self.chain.first());
                let table = step.and_then(|step| self.by_step.get(step).copied().flatten());
                return Expr::Name(table.map_or(*slot, |table| tables + table));
            }
            _ => {}
        }
        let key = (expr.clone(), self.context.clone());
        if let Some(table) = self.known.get(&key) {
            return Expr::Name(tables + table);
        }
        let scope = scope(self.problem, self.chain, &self.scopes, expr);
        let scope = self.sorted(scope);
        if self.is_small(&scope)
            && let Some(table) = self.table(scope, expr, None)
        {
            self.known.insert(key, self.tables.len());
            self.tables.push(table);
            return Expr::Name(tables + self.tables.len() - 1);
        }
        let Expr::Conditional(c, a, b) = expr else {
            let whole = expr.with_parts(|part| Some(self.tabulated(part)));
            return whole.unwrap_or_else(|| expr.clone());
        };
        let condition = Box::new(self.tabulated(c));
        let [a, b] = [(a, true), (b, false)].map(|(side, holds)| {
            let outer = self.context.clone();
            self.restrict(c, holds);
            let side = Box::new(self.tabulated(side));
            self.context = outer;
            side
        });
        Expr::Conditional(condition, a, b)
    }

    /// Restricts the context to where a condition on one parameter comes out so.
    fn restrict(&mut self, condition: &Expr, holds: bool) {
        let scope = scope(self.problem, self.chain, &self.scopes, condition);
        let names_steps = condition.mentions(|slot| slot >= self.chain.first());
        let [p] = scope[..] else { return };
        if names_steps {
            return;
        }
        let mut env = self.problem.base_env();
        let slot = self.problem.first_parameter() + p;
        let mut comes_out = |value: &i64| {
            env[slot] = *value;
            // Where the condition has no value, neither side is taken.
            condition.eval(&env).is_ok_and(|value| (value != 0) == holds)
        };
        let allowed: Vec<bool> = self.values[p].iter().map(&mut comes_out).collect();
        let known = self.context.entry(p).or_insert_with(|| vec![true; allowed.len()]);
        known.iter_mut().zip(allowed).for_each(|(known, allowed)| *known &= allowed);
    }

    fn sorted(&self, mut scope: Vec<usize>) -> Vec<usize> {
        scope.sort_unstable_by_key(|p| self.ranks[*p]);
        scope.dedup();
        scope
    }

    fn is_small(&self, scope: &[usize]) -> bool {
        let sizes = scope.iter().map(|p| self.values[*p].len());
        sizes.fold(1, usize::saturating_mul) <= MAX_ROWS
    }

    /// An expression over some parameters as a table; `None` if it has no value for a combination
    /// that the conditions over the same parameters allow.
    fn table(
        &mut self,
        scope: Vec<usize>,
        expr: &Expr,
        condition: Option<&Condition>,
    ) -> Option<StepTable> {
        let mut projections = vec![Vec::new(); scope.len()];
        for projection in self.projections(&scope) {
            let places = projection.parameters.iter();
            let last = places.filter_map(|p| scope.iter().position(|q| q == p)).max();
            projections[last.unwrap_or_default()].push(projection);
        }
        let mut uses = Vec::new();
        expr.names(&mut |slot| uses.extend(slot.checked_sub(self.chain.first())));
        uses.sort_unstable();
        uses.dedup();
        let uses = uses.into_iter().map(|step| Some((step, self.by_step[step]?)));
        let uses: Vec<(usize, usize)> = uses.collect::<Option<_>>()?;
        let mut rows = Rows {
            of: self,
            scope: &scope,
            condition,
            projections: &projections,
            uses: &uses,
            expr,
            indices: vec![0; self.values.len()],
            env: self.problem.base_env(),
            values: Vec::new(),
        };
        rows.env.resize(self.chain.first() + self.scopes.len(), 0);
        rows.fill(0).then_some(())?;
        let mut levels = vec![rows.values];
        for p in scope.iter().rev() {
            let size = self.values[*p].len();
            let finer = &levels[levels.len() - 1];
            let part = |some: &[Option<Interval>]| some.iter().flatten().copied().reduce(hull);
            let coarser = finer.chunks(size.max(1)).map(part).collect();
            levels.push(coarser);
        }
        levels.reverse();
        Some(StepTable { parameters: scope, levels, guarded: !self.context.is_empty() })
    }
}

/// The parameters that an expression depends on, by way of steps too, by their place in the
/// problem.
fn scope(problem: &Problem, chain: &Chain, of: &[Vec<usize>], expr: &Expr) -> Vec<usize> {
    let mut scope = problem.parameters_of([expr]);
    expr.names(&mut |slot| {
        let step = slot.checked_sub(chain.first());
        scope.extend(step.and_then(|step| of.get(step)).into_iter().flatten());
    });
    scope.sort_unstable();
    scope.dedup();
    scope
}
