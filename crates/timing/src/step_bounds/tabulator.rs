//! From a chain to its steps with tables in them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tickbound_expr::Expr;
use tickbound_expr::staged::Staged;
use tickbound_model::Problem;
use tickbound_model::space::Condition;

use super::rows::Rows;
use super::table::{Context, Projection, StepTable};
use crate::chain::Chain;

/// Most combinations of one table.
const MAX_ROWS: usize = 1 << 14;

/// The steps of a chain, and whether one below 0 is a fault; `None` where tables alone use it.
pub(super) type Steps = Vec<Option<(Expr, bool)>>;

pub(super) struct Tabulated {
    /// The parameters in the order in which boxes are divided.
    pub order: Vec<usize>,
    pub tables: Vec<StepTable>,
    pub steps: Steps,
}

/// Tabulates a chain over parameters with these values.
pub(super) fn tabulated(
    problem: &Problem,
    values: &[Vec<i64>],
    conditions: &[Condition],
    chain: &Chain,
) -> Tabulated {
    let mut tabulator = Tabulator::new(problem, values, chain);
    tabulator.conditions(conditions);
    let steps = tabulator.steps();
    Tabulated { order: tabulator.order, tables: tabulator.tables, steps }
}

struct Tabulator<'a> {
    problem: &'a Problem,
    values: &'a [Vec<i64>],
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
    projected: HashMap<(usize, Vec<usize>, Context), Option<Arc<Projection>>>,
}

impl<'a> Tabulator<'a> {
    fn new(problem: &'a Problem, values: &'a [Vec<i64>], chain: &'a Chain) -> Tabulator<'a> {
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
    fn conditions(&mut self, all: &[Condition]) {
        for condition in all {
            let scope = self.sorted(condition.parameters.clone());
            if self.is_small(&scope) {
                let table = self.table(scope, &Expr::Int(0), Some(condition));
                self.tables.extend(table);
                self.conditional = self.tables.len();
            }
        }
    }

    /// What conditions say of some parameters, also those that mention others.
    fn projections(&mut self, scope: &[usize]) -> Vec<Arc<Projection>> {
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
                    let made = self.tables[table].onto(&key.1, &key.2, self.values).map(Arc::new);
                    self.projected.insert(key, made.clone());
                    made
                }
            };
            all.extend(projection);
        }
        all
    }

    /// The steps with tables in them; what only tables use is left out.
    fn steps(&mut self) -> Steps {
        let mut steps = Steps::new();
        for step in self.chain.steps() {
            let expr = self.tabulated(&step.of.expr);
            let tables = self.chain.first() + self.chain.steps().len();
            let table = match &expr {
                Expr::Name(slot) => slot.checked_sub(tables),
                _ => None,
            };
            let negative = |table: &usize| {
                step.amount && self.tables[*table].least().is_some_and(|least| least < 0)
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
        // How many parameters have to be decided for those of a table.
        let needed = |parameters: &[usize]| {
            let place = |p: &usize| scope.iter().position(|q| q == p).map_or(0, |place| place + 1);
            parameters.iter().map(place).max().unwrap_or(0)
        };
        let mut steps = BTreeSet::new();
        expr.names(&mut |slot| steps.extend(slot.checked_sub(self.chain.first())));
        let mut uses = vec![Vec::new(); scope.len() + 1];
        for step in steps {
            let table = self.by_step[step]?;
            uses[needed(&self.tables[table].parameters)].push((step, table));
        }
        let staged = Staged::new(expr, uses.len(), |slot| {
            let step = slot.checked_sub(self.chain.first());
            let is_used = |of: &Vec<(usize, usize)>| of.iter().any(|(used, _)| Some(*used) == step);
            let parameter = slot.checked_sub(self.problem.first_parameter());
            uses.iter().position(is_used).or_else(|| Some(needed(&[parameter?]))).unwrap_or(0)
        });
        let mut env = self.problem.base_env();
        env.resize(self.chain.first() + self.scopes.len(), 0);
        let rows = Rows {
            problem: self.problem,
            all: self.values,
            context: &self.context,
            tables: &self.tables,
            first_step: self.chain.first(),
            scope: &scope,
            condition,
            projections: &projections,
            uses: &uses,
            staged,
            indices: vec![0; self.values.len()],
            env,
            values: Vec::new(),
        };
        let values = rows.filled()?;
        Some(StepTable::new(scope, values, self.values, !self.context.is_empty()))
    }
}

/// The parameters that an expression depends on, also through steps, by their places.
fn scope(problem: &Problem, chain: &Chain, of: &[Vec<usize>], expr: &Expr) -> Vec<usize> {
    let mut scope = BTreeSet::from_iter(problem.parameters_of([expr]));
    expr.names(&mut |slot| {
        let step = slot.checked_sub(chain.first());
        scope.extend(step.and_then(|step| of.get(step)).into_iter().flatten());
    });
    scope.into_iter().collect()
}
