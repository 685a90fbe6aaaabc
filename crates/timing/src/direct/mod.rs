//! A cost and the conditions of a space as a [`DirectForm`].
//!
//! What depends on at most three parameters becomes a table. Sums are taken apart
//! into their summands, so that an expression over many parameters is several tables. A maximum or
//! a product over many parameters is a part of the cost, a comparison of sums or products over many
//! a limit. Conditions that parameters differ in pairs become one limit for each value: it occurs
//! at most once.
//!
//! The form is exact or there is none: everything that may have no value is in a table, whose rows
//! are all examined.

mod node;

use std::collections::BTreeSet;

use itertools::{Itertools, MinMaxResult};
use tickbound_elimination::direct::{
    AccumulatorLimit, AccumulatorOp, CostPart, DirectForm, FORBIDDEN, FormTable, Sense,
};
use tickbound_expr::interval::Interval;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::Problem;
use tickbound_model::space::{Condition, Configurations, Holds};

use self::node::{Node, Summand, View};
use crate::cost::Cost;
use crate::obligation::Obligation;

/// Most parameters of a table.
const MAX_PARAMETERS: usize = 3;
/// Most combinations of a table.
const MAX_ROWS: usize = 1 << 16;
/// Parameters that differ in pairs, from which on this is a limit for each value.
const MANY: usize = 4;

/// The direct form of an exact cost. Variable p is parameter p, its values are those that the
/// configurations have. `None` if some expression over many parameters cannot be taken apart, or
/// some expression may have no value.
pub fn direct_form(configurations: &Configurations<'_>, cost: &Cost) -> Option<DirectForm> {
    let (problem, values) = (configurations.problem(), configurations.values());
    let mut builder = Builder::new(problem, values, configurations.conditions());
    builder.add(0, Node::Term(cost.term()), 1)?;
    builder.conditions()?;
    Some(builder.form).filter(|form| cost.is_exact() && form.is_small())
}

impl Obligation<'_> {
    /// The same of the time as it was derived for certificates; the values of a variable are those
    /// of [`Obligation::values`].
    pub fn direct_form(&self) -> Option<DirectForm> {
        let parts = self.time.of_launch(self.problem);
        let mut builder = Builder::new(self.problem, &self.values, &self.conditions);
        for product in parts.iter().flat_map(|part| &part.products) {
            builder.product(0, product.factors.iter().map(Node::Factor).collect(), 1)?;
        }
        builder.conditions()?;
        Some(builder.form).filter(DirectForm::is_small)
    }
}

/// A product. What follows a 0 need not have a value.
fn multiplied(price: i64, factors: &[Node<'_>], env: &[i64]) -> Option<i64> {
    let mut product = price;
    for node in factors {
        product = product.checked_mul(node.value(env)?)?;
        if product == 0 {
            break;
        }
    }
    Some(product)
}

struct Builder<'b, 'p> {
    problem: &'p Problem,
    values: &'b [Vec<i64>],
    of: Vec<Interval>,
    /// The conditions that do not hold everywhere.
    conditions: Vec<&'b Condition>,
    form: DirectForm,
}

impl<'b, 'p> Builder<'b, 'p> {
    fn new(
        problem: &'p Problem,
        values: &'b [Vec<i64>],
        conditions: &'b [Condition],
    ) -> Builder<'b, 'p> {
        let mut of: Vec<Interval> = problem.base_env().into_iter().map(Interval::point).collect();
        for (slot, values) in of[problem.first_parameter()..].iter_mut().zip(values) {
            if let MinMaxResult::MinMax(low, high) = values.iter().minmax() {
                *slot = Interval { low: *low, high: *high };
            } else if let Some(only) = values.first() {
                *slot = Interval::point(*only);
            }
        }
        let conditions = conditions.iter().filter(|c| !c.surely_holds(&of)).collect();
        let form = DirectForm::new(values.iter().map(Vec::len).collect());
        Builder { problem, values, of, conditions, form }
    }

    /// Adds a node, times a factor, to an accumulator that is a sum.
    fn add(&mut self, accumulator: usize, node: Node<'_>, factor: i64) -> Option<()> {
        let (parameters, view) = (node.parameters(self.problem), node.view(&self.of));
        let is_less = |n: &Node<'_>| n.parameters(self.problem).len() < parameters.len();
        // Tables over few parameters are better than one over all of them.
        let divides = matches!(&view, View::Sum(parts) if parts.iter().all(|(_, n)| is_less(n)));
        if self.is_small(&parameters) && !divides {
            let value = |env: &[i64]| node.value(env)?.checked_mul(factor);
            return self.table(accumulator, parameters, &value);
        }
        match view {
            View::Whole => None,
            View::Sum(parts) => parts.into_iter().try_for_each(|(sign, part)| {
                self.add(accumulator, part, factor.checked_mul(sign)?)
            }),
            View::Max(parts) if accumulator == 0 && factor > 0 => {
                self.part(factor, Vec::new(), parts)
            }
            View::Max(_) => None,
            View::Product(factors) => self.product(accumulator, factors, factor),
        }
    }

    /// Adds a product over many parameters.
    fn product(&mut self, to: usize, factors: Vec<Node<'_>>, mut price: i64) -> Option<()> {
        let mut rest: Vec<Node<'_>> = Vec::new();
        for node in self.factors(factors) {
            match node.parameters(self.problem).is_empty() {
                true => price = price.checked_mul(node.value(&self.problem.base_env())?)?,
                false => rest.push(node),
            }
        }
        if let [one] = rest[..] {
            return self.add(to, one, price);
        }
        if price == 0 {
            // Nothing, if the others have a value.
            let is_sure = |n: &Node<'_>| matches!(n, Node::Expr(e) if !e.range(&self.of).may_fail);
            return rest.iter().all(is_sure).then_some(());
        }
        let all = self.parameters(&rest);
        if self.is_small(&all) {
            return self.table(to, all, &|env| multiplied(price, &rest, env));
        }
        if self.distributes(&rest) {
            return self.distribute(to, &rest, price);
        }
        if to != 0 || price < 0 {
            return None;
        }
        let small = |node: &Node<'_>| self.is_small(&node.parameters(self.problem));
        let (tables, mut large): (Vec<_>, Vec<_>) = rest.into_iter().partition(small);
        let greatest = match (large.pop(), large.is_empty()) {
            (_, false) => return None,
            (None, _) => vec![Node::Number(1)],
            (Some(one), _) => match one.view(&self.of) {
                View::Max(parts) => parts,
                _ => vec![one],
            },
        };
        self.part(price, tables, greatest)
    }

    /// The factors of a product and of the products in it.
    fn factors<'n>(&self, of: Vec<Node<'n>>) -> Vec<Node<'n>> {
        of.into_iter()
            .flat_map(|node| match node.view(&self.of) {
                View::Product(factors) => self.factors(factors),
                _ => vec![node],
            })
            .collect()
    }

    /// True if the product of each summand of one factor with the other factors is a table.
    fn distributes(&self, factors: &[Node<'_>]) -> bool {
        self.sum_in(factors).is_some_and(|(others, parts)| {
            let with = |part: &Node<'_>| self.parameters(&[others.as_slice(), &[*part]].concat());
            parts.iter().all(|(_, part)| self.is_small(&with(part)))
        })
    }

    fn distribute(&mut self, to: usize, factors: &[Node<'_>], price: i64) -> Option<()> {
        let (others, parts) = self.sum_in(factors)?;
        parts.into_iter().try_for_each(|(sign, part)| {
            let all = [others.as_slice(), &[part]].concat();
            let price = price.checked_mul(sign)?;
            self.table(to, self.parameters(&all), &|env| multiplied(price, &all, env))
        })
    }

    /// The parameters of some nodes, in increasing order.
    fn parameters(&self, of: &[Node<'_>]) -> Vec<usize> {
        of.iter().flat_map(|n| n.parameters(self.problem)).sorted_unstable().dedup().collect()
    }

    /// The only factor that is a sum over many parameters, as its summands, and the others.
    fn sum_in<'n>(&self, factors: &[Node<'n>]) -> Option<(Vec<Node<'n>>, Vec<Summand<'n>>)> {
        let sums = factors.iter().positions(|n| matches!(n.view(&self.of), View::Sum(_)));
        let (mut others, sum) = (factors.to_vec(), sums.exactly_one().ok()?);
        let sum = others.remove(sum);
        Some((others, self.summands(sum, 1)))
    }

    fn summands<'n>(&self, node: Node<'n>, factor: i64) -> Vec<Summand<'n>> {
        match node.view(&self.of) {
            View::Sum(parts) => parts
                .into_iter()
                .flat_map(|(sign, part)| self.summands(part, factor * sign))
                .collect(),
            _ => vec![(factor, node)],
        }
    }

    /// Adds a price times a product of tables times a maximum to the cost.
    fn part(&mut self, price: i64, product: Vec<Node<'_>>, parts: Vec<Node<'_>>) -> Option<()> {
        let with_product = !product.is_empty();
        let accumulator = self.form.accumulator(AccumulatorOp::Product, 1);
        product.into_iter().try_for_each(|node| self.factor(accumulator, node))?;
        let product = with_product.then_some(accumulator);
        let max = self.form.accumulator(AccumulatorOp::Max, i64::MIN);
        let (mut sums, mut tables, mut least) = (Vec::new(), Vec::new(), i64::MIN);
        for node in self.greatest(parts) {
            let parameters = node.parameters(self.problem);
            if parameters.is_empty() {
                least = least.max(node.value(&self.problem.base_env())?);
            } else if self.is_small(&parameters) {
                tables.push(node);
            } else {
                let sum = self.form.accumulator(AccumulatorOp::Sum, 0);
                self.add(sum, node, 1)?;
                least = least.max(*self.form.range(sum)?.start());
                sums.push(sum);
            }
        }
        for node in tables {
            self.table(max, node.parameters(self.problem), &|env| node.value(env))?;
        }
        let tables = self.form.tables.iter().filter(|t| t.accumulator == max);
        let entries = |t: &FormTable| t.entries.iter().copied().filter(|e| *e != FORBIDDEN).min();
        let start = tables.filter_map(entries).fold(least, i64::max);
        self.form.accumulators[max].start = start;
        self.form.parts.push(CostPart { price, product, max, sums });
        (start >= 0 || product.is_none()).then_some(())
    }

    /// The arguments of a maximum and of the maxima in it.
    fn greatest<'n>(&self, of: Vec<Node<'n>>) -> Vec<Node<'n>> {
        of.into_iter()
            .flat_map(|node| match node.view(&self.of) {
                View::Max(parts) => self.greatest(parts),
                _ => vec![node],
            })
            .collect()
    }

    /// Multiplies a product by a table of numbers that are not negative.
    fn factor(&mut self, accumulator: usize, node: Node<'_>) -> Option<()> {
        let parameters = node.parameters(self.problem);
        let value = |env: &[i64]| node.value(env).filter(|v| *v >= 0);
        self.is_small(&parameters).then_some(())?;
        self.table(accumulator, parameters, &value)
    }

    fn is_small(&self, parameters: &[usize]) -> bool {
        let rows =
            parameters.iter().try_fold(1usize, |all, p| all.checked_mul(self.form.sizes[*p]));
        parameters.len() <= MAX_PARAMETERS && rows.is_some_and(|rows| rows <= MAX_ROWS)
    }

    /// Adds a table. A row without a value must be excluded by the conditions on its parameters.
    fn table(
        &mut self,
        accumulator: usize,
        variables: Vec<usize>,
        value: &dyn Fn(&[i64]) -> Option<i64>,
    ) -> Option<()> {
        let own = |c: &&&Condition| c.parameters.iter().all(|p| variables.contains(p));
        let conditions: Vec<&Condition> = self.conditions.iter().filter(own).copied().collect();
        let excluded =
            |env: &[i64]| conditions.iter().any(|c| c.outcome(self.problem, env) == Holds::No);
        let entry = |env: &[i64]| match value(env) {
            None if excluded(env) => Some(FORBIDDEN),
            value => value.filter(|v| *v != FORBIDDEN),
        };
        let entries = self.rows(&variables, &entry)?;
        if variables.is_empty() {
            let known = &mut self.form.accumulators[accumulator];
            known.start = known.start.checked_add(entries[0])?;
            return Some(());
        }
        self.push(FormTable { accumulator, variables, entries })
    }

    /// A number for each combination of the values of some parameters.
    fn rows(
        &self,
        parameters: &[usize],
        entry: &dyn Fn(&[i64]) -> Option<i64>,
    ) -> Option<Vec<i64>> {
        let first = self.problem.first_parameter();
        let mut env = self.problem.base_env();
        let values = parameters.iter().map(|p| self.values[*p].iter().copied());
        let all: Vec<Vec<i64>> = match parameters.is_empty() {
            true => vec![Vec::new()],
            false => values.multi_cartesian_product().collect(),
        };
        let at = |combination: &Vec<i64>| {
            parameters.iter().zip(combination).for_each(|(p, v)| env[first + p] = *v);
            entry(&env)
        };
        all.iter().map(at).collect()
    }

    /// Adds a table, in one with what the accumulator has over the same parameters.
    fn push(&mut self, table: FormTable) -> Option<()> {
        let operation = self.form.accumulators[table.accumulator].operation;
        let same = |t: &&mut FormTable| {
            t.accumulator == table.accumulator && t.variables == table.variables
        };
        let Some(known) = self.form.tables.iter_mut().find(same) else {
            self.form.tables.push(table);
            return Some(());
        };
        for (known, more) in known.entries.iter_mut().zip(table.entries) {
            *known = match (operation, *known, more) {
                (_, FORBIDDEN, _) | (_, _, FORBIDDEN) => FORBIDDEN,
                (AccumulatorOp::Sum, a, b) => a.checked_add(b)?,
                (AccumulatorOp::Product, a, b) => a.checked_mul(b)?,
                (AccumulatorOp::Max, a, b) => a.max(b),
            };
        }
        Some(())
    }

    fn conditions(&mut self) -> Option<()> {
        let different = self.different();
        let conditions = self.conditions.clone();
        for condition in conditions {
            let pair = condition.differ(self.problem);
            if pair.is_some_and(|pair| pair.iter().all(|p| different.contains(p))) {
                continue;
            }
            if self.is_small(&condition.parameters) {
                let value = |env: &[i64]| match condition.outcome(self.problem, env) {
                    Holds::Yes => Some(0),
                    Holds::No => Some(FORBIDDEN),
                    Holds::Fault(_) => None,
                };
                let entries = self.rows(&condition.parameters, &value)?;
                let variables = condition.parameters.clone();
                if !variables.is_empty() {
                    self.push(FormTable { accumulator: 0, variables, entries })?;
                } else if entries[0] == FORBIDDEN {
                    return None;
                }
            } else {
                self.comparison(condition.truth()?)?;
            }
        }
        self.all_different(&different)
    }

    /// The most parameters that were found that all differ, if they are many.
    fn different(&self) -> Vec<usize> {
        let pairs: Vec<[usize; 2]> =
            self.conditions.iter().filter_map(|c| c.differ(self.problem)).collect();
        let differ = |p: usize, q: usize| pairs.contains(&[p, q]) || pairs.contains(&[q, p]);
        let all: BTreeSet<usize> = pairs.iter().flatten().copied().collect();
        let grown = all.iter().map(|first| {
            let mut group = vec![*first];
            for p in &all {
                if group.iter().all(|q| differ(*p, *q)) {
                    group.push(*p);
                }
            }
            group
        });
        grown.max_by_key(Vec::len).filter(|group| group.len() >= MANY).unwrap_or_default()
    }

    /// Each value occurs at most once, or once if there are as many values as parameters.
    fn all_different(&mut self, parameters: &[usize]) -> Option<()> {
        let values = self.values;
        let all: BTreeSet<i64> = parameters.iter().flat_map(|p| &values[*p]).copied().collect();
        let sense = if all.len() == parameters.len() { Sense::Equal } else { Sense::AtMost };
        for value in all {
            let accumulator = self.form.accumulator(AccumulatorOp::Sum, 0);
            self.form.limits.push(AccumulatorLimit { accumulator, sense, bound: 1 });
            for p in parameters {
                let entries = values[*p].iter().map(|v| i64::from(*v == value)).collect();
                self.push(FormTable { accumulator, variables: vec![*p], entries })?;
            }
        }
        Some(())
    }

    /// A comparison over many parameters as limits.
    fn comparison(&mut self, truth: &Expr) -> Option<()> {
        let Expr::Binary(op, a, b) = truth else { return None };
        let (a, b) = (Node::Expr(a), Node::Expr(b));
        match op {
            BinaryOp::Le => self.at_most(a, b, 0),
            BinaryOp::Lt => self.at_most(a, b, -1),
            BinaryOp::Ge => self.at_most(b, a, 0),
            BinaryOp::Gt => self.at_most(b, a, -1),
            BinaryOp::Eq => self.limit(a, b, Sense::Equal, 0),
            _ => None,
        }
    }

    /// `a <= b + more`; a maximum that is at most something is so in all its arguments.
    fn at_most(&mut self, a: Node<'_>, b: Node<'_>, more: i64) -> Option<()> {
        let parts = self.greatest(vec![a]);
        parts.into_iter().try_for_each(|a| match b.parameters(self.problem).is_empty() {
            true => self.limit(a, b, Sense::AtMost, more),
            false => self.limit(b, a, Sense::AtLeast, -more),
        })
    }

    /// Compares a with b + more.
    fn limit(&mut self, a: Node<'_>, b: Node<'_>, sense: Sense, more: i64) -> Option<()> {
        if let Some((factors, bound)) = self.limited_product(a, b, sense, more) {
            let accumulator = self.form.accumulator(AccumulatorOp::Product, 1);
            self.form.limits.push(AccumulatorLimit { accumulator, sense, bound });
            return factors.into_iter().try_for_each(|node| self.factor(accumulator, node));
        }
        let accumulator = self.form.accumulator(AccumulatorOp::Sum, 0);
        self.form.limits.push(AccumulatorLimit { accumulator, sense, bound: more });
        self.add(accumulator, a, 1)?;
        self.add(accumulator, b, -1)
    }

    /// The factors of a product that a number limits, each a table, and the number.
    fn limited_product<'n>(
        &self,
        a: Node<'n>,
        b: Node<'_>,
        sense: Sense,
        more: i64,
    ) -> Option<(Vec<Node<'n>>, i64)> {
        let View::Product(factors) = a.view(&self.of) else { return None };
        let (constant, rest): (Vec<_>, Vec<_>) =
            self.factors(factors).into_iter().partition(|n| n.parameters(self.problem).is_empty());
        let env = self.problem.base_env();
        let bound = b.parameters(self.problem).is_empty().then(|| b.value(&env)).flatten()?;
        let bound = bound.checked_add(more)?;
        let scale = constant.iter().try_fold(1i64, |all, n| all.checked_mul(n.value(&env)?))?;
        let is_table = |n: &Node<'_>| self.is_small(&n.parameters(self.problem));
        if scale < 1 || rest.len() < 2 || !rest.iter().all(is_table) {
            return None;
        }
        let bound = match sense {
            Sense::AtMost => bound.div_euclid(scale),
            Sense::AtLeast => bound.div_euclid(scale) + i64::from(bound.rem_euclid(scale) > 0),
            Sense::Equal => bound.checked_div_euclid(scale).filter(|q| q * scale == bound)?,
        };
        Some((rest, bound))
    }
}
