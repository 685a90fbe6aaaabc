//! The time of the profile `resources` as an expression: its formulas over expressions.
//!
//! What several formulas use is its own step, which later ones name. Written out in full the
//! expression would have some hundred thousand operations.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;

use tickbound_expr::{BinaryOp, Expr, Function, Slot};
use tickbound_model::error::ModelError;
use tickbound_model::quantity::{Quantity, QuantityOp};
use tickbound_model::resource_profile::{LaunchQuantities, resource_quantities};
use tickbound_model::{Launch, Problem};

use super::chain::{Chain, ChainStep};
use super::term::LocatedExpr;

pub(crate) fn time(problem: &Problem) -> Result<Chain, ModelError> {
    let Launch::Range { global_size, local_size } = &problem.launch else {
        let what = "activations belong to another profile";
        return Err(ModelError::new("launch", what, "give global_size and local_size"));
    };
    problem.usage().is_counted()?;
    let mut steps = Steps { first: problem.scope.len(), steps: Vec::new() };
    let usage: Vec<(&'static str, &Expr)> = problem.usage().entries().collect();
    let used = usage.iter().map(|(_, expr)| *expr).chain([global_size, local_size]);
    let definitions = definitions(problem, used, &mut steps);
    let in_steps = |expr: &Expr| E(put_in(expr, &definitions));
    let items = steps.name(in_steps(local_size));
    let groups = steps.name(in_steps(global_size).floor(&items));
    let used = usage
        .into_iter()
        .map(|(name, expr)| (name, steps.amount(format!("usage.{name}"), in_steps(expr).0)));
    let launch = LaunchQuantities { used: used.collect(), items, groups };
    resource_quantities(problem, launch, &mut |quantity| steps.name(quantity));
    Ok(Chain::new(problem.scope.len(), steps.steps, &problem.parameter_intervals()))
}

/// The definitions that expressions use, as steps: the slot of each, and what it is now.
fn definitions<'e>(
    problem: &Problem,
    used: impl Iterator<Item = &'e Expr>,
    steps: &mut Steps,
) -> HashMap<Slot, Expr> {
    let first = problem.first_definition();
    let mut needed = BTreeSet::new();
    used.for_each(|expr| {
        expr.names(&mut |slot| {
            needed.insert(*slot);
        })
    });
    for (i, (_, definition)) in problem.definitions.iter().enumerate().rev() {
        if needed.contains(&(first + i)) {
            definition.names(&mut |slot| {
                needed.insert(*slot);
            });
        }
    }
    let mut known = HashMap::new();
    for (i, (name, definition)) in problem.definitions.iter().enumerate() {
        if needed.contains(&(first + i)) {
            let step = steps.push(format!("definitions.{name}"), put_in(definition, &known), false);
            known.insert(first + i, step.0);
        }
    }
    known
}

/// An expression with other names for definitions.
fn put_in(expr: &Expr, definitions: &HashMap<Slot, Expr>) -> Expr {
    let Ok(expr) = expr.replace(&mut |slot| {
        Ok::<_, Infallible>(definitions.get(slot).cloned().unwrap_or(Expr::Name(*slot)))
    });
    expr
}

/// An expression as a quantity of the formulas.
#[derive(Debug, Clone)]
struct E(Expr);

impl From<i64> for E {
    fn from(n: i64) -> E {
        E(Expr::Int(n))
    }
}

impl Quantity for E {
    fn combine(&self, op: QuantityOp, E(other): &E) -> E {
        let binary = |op| Expr::binary(op, self.0.clone(), other.clone());
        let call = |function| Expr::Call(function, vec![self.0.clone(), other.clone()]);
        E(match op {
            QuantityOp::Plus => binary(BinaryOp::Add),
            QuantityOp::Minus => binary(BinaryOp::Sub),
            QuantityOp::Times => binary(BinaryOp::Mul),
            QuantityOp::Floor => binary(BinaryOp::FloorDiv),
            QuantityOp::Ceil => call(Function::CeilDiv),
            QuantityOp::Min => call(Function::Min),
            QuantityOp::Max => call(Function::Max),
        })
    }

    fn if_at_most(&self, limit: i64, then: &E, otherwise: &E) -> E {
        let few = Expr::binary(BinaryOp::Le, self.0.clone(), Expr::Int(limit));
        let [few, then, otherwise] = [few, then.0.clone(), otherwise.0.clone()].map(Box::new);
        E(Expr::Conditional(few, then, otherwise))
    }

    fn is_zero(&self) -> bool {
        self.0 == Expr::Int(0)
    }
}

struct Steps {
    first: usize,
    steps: Vec<ChainStep>,
}

impl Steps {
    fn push(&mut self, at: String, expr: Expr, amount: bool) -> E {
        self.steps.push(ChainStep { of: LocatedExpr { at, expr }, amount, if_needed: false });
        E(Expr::Name(self.first + self.steps.len() - 1))
    }

    fn name(&mut self, e: E) -> E {
        self.push("profile resources".into(), e.0, false)
    }

    fn amount(&mut self, at: String, expr: Expr) -> E {
        self.push(at, expr, true)
    }
}
