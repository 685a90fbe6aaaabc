//! A problem in which some parameters are numbers.
//!
//! Where sizes are parameters, the problem at one size has numbers for them, and the problem of one
//! configuration has numbers for all others.

use std::convert::Infallible;

use tickbound_expr::Expr;
use tickbound_expr::domain::Domain;

use super::problem::{Dimension, Launch, Problem, SpaceConstraint};
use super::special::program_with;

impl Problem {
    /// The same problem with numbers for those parameters that have a value in `values`, and for
    /// inputs and the platform, in every expression. The parameters stay, with one value each; a
    /// constraint is true where that is in their domain. Configurations of the result are those of
    /// this problem that have the values.
    #[must_use]
    pub fn with_values(&self, values: &[Option<i64>]) -> Problem {
        let first = self.first_parameter();
        let constants = self.base_env().into_iter().take(first).map(Some);
        let known = Known { slots: constants.chain(values.iter().copied()).collect() };
        let mut fixed = self.clone();
        for constraint in &mut fixed.constraints {
            constraint.expr = known.constraint(&constraint.expr);
        }
        for (place, parameter) in fixed.parameters.iter_mut().enumerate() {
            let domain = known.domain(&parameter.domain);
            let Some(value) = values.get(place).copied().flatten() else {
                parameter.domain = domain;
                continue;
            };
            let expr = domain.membership(value).special(&[], 0);
            if !matches!(expr, Expr::Int(1..)) {
                let text = format!("{} == {value} is in its domain", parameter.name);
                fixed.constraints.push(SpaceConstraint { text, expr });
            }
            parameter.domain = Domain::List(vec![Expr::Int(value)]);
        }
        let definitions = fixed.definitions.iter_mut().map(|(_, definition)| definition);
        let launch = match &mut fixed.launch {
            Launch::Range { global_size, local_size } => [global_size, local_size],
            Launch::Activations { local_size, activations } => [local_size, activations],
        };
        let grid = fixed.grid.iter_mut().flat_map(|Dimension { global, local }| [global, local]);
        let lines = fixed.usage_lines.iter_mut().flat_map(|line| line.usage.entries_mut());
        let usage = fixed.usage.entries_mut().chain(lines).map(|(_, expr)| expr);
        let needs = fixed.group_needs.required.iter_mut().flatten();
        let needs = needs.chain(&mut fixed.group_needs.local_bytes);
        let rules = fixed.launch_rules.iter_mut().map(|rule| &mut rule.expr);
        let launch = launch.into_iter().chain(grid).chain(needs).chain(rules);
        definitions.chain(usage).chain(launch).for_each(|expr| *expr = known.expr(expr));
        fixed.kernel = program_with(&self.kernel, &|expr| known.expr(expr));
        fixed.finish = program_with(&self.finish, &|expr| known.expr(expr));
        fixed
    }
}

struct Known {
    slots: Vec<Option<i64>>,
}

impl Known {
    fn expr(&self, expr: &Expr) -> Expr {
        self.put_in(expr).special(&[], 0)
    }

    /// As [`Known::expr`], where division is exact: quotients stay.
    fn constraint(&self, expr: &Expr) -> Expr {
        if expr.divides() { self.put_in(expr) } else { self.expr(expr) }
    }

    fn put_in(&self, expr: &Expr) -> Expr {
        let Ok(expr) = expr.replace(&mut |slot| {
            let value = self.slots.get(*slot).copied().flatten();
            Ok::<_, Infallible>(value.map_or(Expr::Name(*slot), Expr::Int))
        });
        expr
    }

    fn domain(&self, domain: &Domain) -> Domain {
        match domain {
            Domain::List(items) => Domain::List(items.iter().map(|e| self.expr(e)).collect()),
            Domain::PowersOfTwo(a, b) => Domain::PowersOfTwo(self.expr(a), self.expr(b)),
            Domain::Range { first, last, step } => Domain::Range {
                first: self.expr(first),
                last: self.expr(last),
                step: self.expr(step),
            },
            Domain::Divisors(n) => Domain::Divisors(self.expr(n)),
        }
    }
}
