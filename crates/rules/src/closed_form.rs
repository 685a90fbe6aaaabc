//! The time of one configuration as expressions over the sizes, to be written as code.

use std::collections::HashMap;
use std::convert::Infallible;

use tickbound_expr::domain::Domain;
use tickbound_expr::interval::Interval;
use tickbound_expr::{BinaryOp, Expr, Function, Slot};
use tickbound_model::Problem;
use tickbound_model::space::Condition;
use tickbound_timing::{Cost, Term};

use crate::sizes::RuleSizes;

/// An expression over names.
pub type SizeExpr = Expr<String>;

/// The time of a configuration over the sizes, in steps that build on each other.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedForm {
    /// What must hold for the configuration to be valid: each is not 0.
    pub conditions: Vec<SizeExpr>,
    /// Names and what they are, over sizes and the names before.
    pub steps: Vec<(String, SizeExpr)>,
    /// The time in ticks, over sizes and names of steps.
    pub ticks: SizeExpr,
}

impl ClosedForm {
    /// The closed form for a problem in which all parameters but the sizes have one value.
    /// Conditions that hold at each of the sizes are left out.
    ///
    /// # Errors
    /// Why it cannot be written as code.
    pub fn new(problem: &Problem, sizes: &RuleSizes) -> Result<ClosedForm, String> {
        let cost =
            Cost::new(problem).map_err(|why| format!("the time has no closed form: {why}"))?;
        if !cost.is_exact() {
            return Err("the time has no closed form, but a lower bound".into());
        }
        let mut steps = Steps::new(problem, sizes);
        let ticks = steps.term(cost.term())?;
        let ticks = steps.named(&ticks)?;
        let conditions = conditions(problem, sizes, &steps)?;
        let steps = steps.used(&ticks)?;
        Ok(ClosedForm { conditions, steps, ticks })
    }

    /// The time at some sizes, by their numbers; `None` where the configuration is not valid.
    ///
    /// # Errors
    /// An expression that has no value at a size where the configuration is valid.
    pub fn times(&self, sizes: &RuleSizes, of: &[usize]) -> Result<Vec<Option<i64>>, String> {
        let mut names: Vec<&str> = sizes.arguments();
        names.extend(self.steps.iter().map(|(name, _)| name.as_str()));
        let slots = |expr: &SizeExpr| {
            expr.resolve(&mut |name| names.iter().position(|known| known == name))
                .map_err(|name| format!("`{name}` is no size and no step"))
        };
        let all = |exprs: &mut dyn Iterator<Item = &SizeExpr>| -> Result<Vec<Expr>, String> {
            exprs.map(slots).collect()
        };
        let conditions = all(&mut self.conditions.iter())?;
        let steps = all(&mut self.steps.iter().map(|(_, step)| step))?;
        let ticks = slots(&self.ticks)?;
        let time = |size: &usize| {
            let mut env = sizes.arguments_at(*size);
            let value = |expr: &Expr, env: &[i64]| {
                expr.eval(env).map_err(|why| format!("{why} at {}", sizes.name(*size)))
            };
            for condition in &conditions {
                if value(condition, &env)? == 0 {
                    return Ok(None);
                }
            }
            for step in &steps {
                let next = value(step, &env)?;
                env.push(next);
            }
            value(&ticks, &env).map(Some)
        };
        of.iter().map(time).collect()
    }
}

/// The places of the parameters that are not sizes, and the one value that each has.
fn fixed(problem: &Problem, sizes: &RuleSizes) -> impl Iterator<Item = (usize, i64)> {
    let parameters = problem.parameters.iter().enumerate().skip(sizes.names().count());
    parameters.filter_map(|(place, parameter)| match &parameter.domain {
        Domain::List(values) => match values[..] {
            [Expr::Int(value)] => Some((place, value)),
            _ => None,
        },
        _ => None,
    })
}

/// The conditions of a problem that do not hold at each size.
fn conditions(
    problem: &Problem,
    sizes: &RuleSizes,
    steps: &Steps<'_>,
) -> Result<Vec<SizeExpr>, String> {
    let mut env = problem.base_env();
    let first = problem.first_parameter();
    fixed(problem, sizes).for_each(|(place, value)| env[first + place] = value);
    let mut holds = |condition: &Condition| {
        (0..sizes.count()).all(|size| {
            let values = sizes.values(size);
            env[first..first + values.len()].copy_from_slice(&values);
            condition.outcome(problem, &env) == tickbound_model::space::Holds::Yes
        })
    };
    let all = problem.conditions().map_err(|error| error.to_string())?;
    let open = all.into_iter().filter(|condition| !holds(condition));
    let mut all: Vec<SizeExpr> = Vec::new();
    for condition in open {
        let Some(expr) = condition.truth() else {
            return Err(format!("{} has no form in code", condition.at));
        };
        let written = steps.named(&steps.put_in(expr))?;
        if !all.contains(&written) {
            all.push(written);
        }
    }
    Ok(all)
}

/// The name of a step, which no input has that is a macro of a kernel.
fn step_name(place: usize) -> String {
    format!("step_{place}")
}

/// Steps of a closed form, over slots of the problem and, behind them, their own.
struct Steps<'p> {
    sizes: &'p RuleSizes,
    first_parameter: Slot,
    /// What each slot behind the problem's is: a number, or a slot that has a name.
    known: HashMap<Slot, Expr>,
    first: Slot,
    steps: Vec<Expr>,
    /// Where the values of slots lie, those of steps behind those of the problem.
    of: Vec<Interval>,
}

impl<'p> Steps<'p> {
    fn new(problem: &'p Problem, sizes: &'p RuleSizes) -> Steps<'p> {
        let (first, first_parameter) = (problem.scope.len(), problem.first_parameter());
        let mut of: Vec<Interval> = problem.base_env().into_iter().map(Interval::point).collect();
        let arguments: Vec<&str> = sizes.arguments();
        for place in 0..sizes.names().count() {
            let argument = arguments.iter().position(|name| *name == sizes.argument(place));
            let ranges = argument.and_then(|argument| sizes.ranges().nth(argument));
            let ends = || ranges.into_iter().flatten();
            let (low, high) = (ends().map(|r| r.0).min(), ends().map(|r| r.1).max());
            let (low, high) = (low.unwrap_or(i64::MIN), high.unwrap_or(i64::MAX));
            of[first_parameter + place] = Interval { low, high };
        }
        // What a kernel was found to use names inputs and numbers of the platform.
        let numbers = problem.base_env().into_iter().take(first_parameter).enumerate();
        let mut known: HashMap<Slot, Expr> = numbers.map(|(s, n)| (s, Expr::Int(n))).collect();
        for (place, value) in fixed(problem, sizes) {
            known.insert(first_parameter + place, Expr::Int(value));
        }
        Steps { sizes, first_parameter, known, first, steps: Vec::new(), of }
    }

    fn put_in(&self, expr: &Expr) -> Expr {
        let Ok(expr) = expr.replace(&mut |slot| {
            Ok::<_, Infallible>(self.known.get(slot).cloned().unwrap_or(Expr::Name(*slot)))
        });
        expr.special(&[], 0).simplified()
    }

    /// The same value as a number or a name.
    fn step(&mut self, expr: Expr) -> Expr {
        if matches!(expr, Expr::Int(_) | Expr::Name(_)) {
            return expr;
        }
        let slot = match self.steps.iter().position(|step| *step == expr) {
            Some(place) => self.first + place,
            None => {
                let anything = Interval { low: i64::MIN, high: i64::MAX };
                self.of.push(expr.range(&self.of).values.unwrap_or(anything));
                self.steps.push(expr);
                self.first + self.steps.len() - 1
            }
        };
        Expr::Name(slot)
    }

    fn term(&mut self, term: &Term) -> Result<Expr, String> {
        let call = |function, a, b| Expr::Call(function, vec![a, b]);
        let value = match term {
            Term::Number(n) => Expr::Int(*n),
            Term::Work(work) => self.put_in(&work.expr),
            Term::Count(count) => {
                let count = self.put_in(&count.expr);
                match count.range(&self.of).values {
                    Some(values) if values.low >= 0 => count,
                    _ => call(Function::Max, count, Expr::Int(0)),
                }
            }
            Term::Guard { condition, holds } => {
                let op = if *holds { BinaryOp::Ne } else { BinaryOp::Eq };
                Expr::binary(op, self.put_in(&condition.expr), Expr::Int(0))
            }
            Term::Sum(parts) => {
                self.folded(parts, Expr::Int(0), |a, b| Expr::binary(BinaryOp::Add, a, b))?
            }
            Term::Max(parts) => {
                self.folded(parts, Expr::Int(0), |a, b| call(Function::Max, a, b))?
            }
            // A factor of 0 ends a product, here not: what follows must have a value, which
            // `times` finds out.
            Term::Product(factors) => {
                self.folded(factors, Expr::Int(1), |a, b| Expr::binary(BinaryOp::Mul, a, b))?
            }
            Term::Chain(chain) => {
                let mut last = Expr::Int(0);
                for (place, step) in chain.steps().iter().enumerate() {
                    let expr = self.put_in(&step.of.expr);
                    last = self.step(expr);
                    self.known.insert(chain.first() + place, last.clone());
                }
                last
            }
            Term::Rounds(_) | Term::Items(_) | Term::Run { .. } => {
                return Err("items or groups differ, which has no form in code".into());
            }
        };
        Ok(value.special(&[], 0).simplified())
    }

    fn folded(
        &mut self,
        parts: &[Term],
        from: Expr,
        with: impl Fn(Expr, Expr) -> Expr,
    ) -> Result<Expr, String> {
        parts.iter().try_fold(from, |all, part| {
            let part = self.term(part)?;
            let all = with(all, part).special(&[], 0).simplified();
            Ok(self.step(all))
        })
    }

    /// The expression over the names of sizes and steps.
    fn named(&self, expr: &Expr) -> Result<SizeExpr, String> {
        let names: Vec<&str> = self.sizes.names().collect();
        expr.resolve(&mut |slot| match slot.checked_sub(self.first) {
            Some(place) if place < self.steps.len() => Some(step_name(place)),
            _ => {
                let place = slot.checked_sub(self.first_parameter)?;
                names.get(place).map(|_| self.sizes.argument(place).to_owned())
            }
        })
        .map_err(|slot| format!("it depends on slot {slot}, which is no size"))
    }

    fn used(&self, last: &SizeExpr) -> Result<Vec<(String, SizeExpr)>, String> {
        let mut needed: Vec<String> = Vec::new();
        last.names(&mut |name: &String| needed.push(name.clone()));
        let mut used = Vec::new();
        for (place, step) in self.steps.iter().enumerate().rev() {
            let name = step_name(place);
            if needed.contains(&name) {
                let written = self.named(step)?;
                written.names(&mut |name: &String| needed.push(name.clone()));
                used.push((name, written));
            }
        }
        used.reverse();
        Ok(used)
    }
}
