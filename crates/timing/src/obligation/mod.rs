//! What is to be proved: that no valid configuration takes fewer ticks.
//!
//! In goes a problem, out comes its [`Obligation`]: for each parameter the values it may have, the
//! conditions of a valid configuration, and the run time as a sum of products over the parameters:
//!
//! ```text
//! time  = launch + waves * (start + group) + finish
//! group = sum over what an element does in a group: (how often) * (ticks)
//! ```
//!
//! - [`path`]: from a problem to what one element does, a step after another;
//! - [`step`]: what a step is;
//! - [`phase`]: what the element that is last does between two barriers, where items differ;
//! - [`sum`]: from that to the run time as a sum of [`product`]s.
//!
//! It is derived from `docs/semantics.md` on its own: neither the encodings, nor the searches, nor
//! the simulator have a part in it. So it is what certificates are checked against, and what
//! searches hold their own derivation of the time against.

pub mod path;
pub mod phase;
mod phases;
pub mod product;
pub mod step;
pub mod sum;

use itertools::Itertools;
use tickbound_expr::Expr;
use tickbound_model::Problem;
use tickbound_model::space::Condition;

use crate::chain::Chain;
use crate::obligation::path::Path;
use crate::obligation::product::{Factor, ObligationError, TimeProduct, uncovered};
use crate::obligation::sum::products;
use crate::step_bounds::StepBounds;
use crate::term::Term;

/// Most values that all domains of one parameter may have together.
const MAX_VALUES: usize = 1 << 16;
/// Most choices of the parameters that a domain depends on.
const MAX_CHOICES: usize = 1 << 20;

/// What is to be proved of a problem.
#[derive(Debug, Clone)]
pub struct Obligation<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// For each parameter its values, over all choices of those that its domain depends on.
    pub values: Vec<Vec<i64>>,
    /// What a valid configuration satisfies.
    pub conditions: Vec<Condition>,
    /// Its run time.
    pub time: Time,
}

/// A run time: `launch + waves * (start + group) + finish`, in ticks.
#[derive(Debug, Clone)]
pub struct Time {
    /// Before the first group starts.
    pub launch: i64,
    /// How many groups the busiest unit runs, in sequence.
    pub waves: Expr,
    /// To start a group.
    pub start: i64,
    /// Of a group, once it has started: one part for each set of parameters.
    pub group: Vec<TimePart>,
    /// After the last group.
    pub finish: TimePart,
}

/// A sum of products over the same parameters.
#[derive(Debug, Clone, Default)]
pub struct TimePart {
    /// The parameters, by their place in the problem, in increasing order.
    pub parameters: Vec<usize>,
    /// The products.
    pub products: Vec<TimeProduct>,
}

impl<'p> Obligation<'p> {
    /// Derives the obligation of a problem.
    ///
    /// # Errors
    /// The problem is at fault, or not covered.
    pub fn new(problem: &'p Problem) -> Result<Obligation<'p>, ObligationError> {
        let time = Time::new(problem)?;
        Ok(Obligation {
            problem,
            values: values(problem)?,
            conditions: problem.conditions()?,
            time,
        })
    }

    /// True if the time is a chain of steps, but for its end: that of the profile `resources`.
    pub fn is_chain(&self) -> bool {
        self.chain().is_some()
    }

    fn chain(&self) -> Option<&Chain> {
        match &self.time.group.first()?.products.first()?.factors[..] {
            [Factor::Chain(chain)] => Some(chain),
            _ => None,
        }
    }

    /// Bounds of the time but for its end, where that is a chain of steps.
    pub fn step_bounds(&self) -> Option<StepBounds> {
        let term = Term::Chain(Box::new(self.chain()?.clone()));
        StepBounds::new(self.problem, self.values.clone(), &self.conditions, &term)
    }

    /// The number of a parameter's value; `None` if it is no value of its domains.
    pub fn index(&self, parameter: usize, value: i64) -> Option<u32> {
        let place = self.values[parameter].binary_search(&value).ok()?;
        u32::try_from(place).ok()
    }
}

/// For each parameter its values in increasing order.
fn values(problem: &Problem) -> Result<Vec<Vec<i64>>, ObligationError> {
    let mut all: Vec<Vec<i64>> = Vec::new();
    for parameter in &problem.parameters {
        let on = problem.parameters_of(parameter.domain.expressions());
        let mut values: Vec<i64> = Vec::new();
        let mut env = problem.base_env();
        let choices = on.iter().fold(1usize, |n, p| n.saturating_mul(all[*p].len()));
        if choices > MAX_CHOICES {
            return uncovered(&format!("parameters.{}", parameter.name), "too many choices");
        }
        for chosen in chosen(&all, &on) {
            on.iter().zip(chosen).for_each(|(p, v)| env[problem.first_parameter() + p] = v);
            // A choice for which the domain has no values belongs to no configuration.
            values.extend(parameter.domain.values(&env).unwrap_or_default());
            if values.len() > MAX_VALUES {
                values = values.into_iter().sorted_unstable().dedup().collect();
            }
            if values.len() > MAX_VALUES {
                return uncovered(&format!("parameters.{}", parameter.name), "too many values");
            }
        }
        all.push(values.into_iter().sorted_unstable().dedup().collect());
    }
    Ok(all)
}

/// Every choice of values for some parameters; one empty choice for none.
fn chosen<'v>(all: &'v [Vec<i64>], of: &'v [usize]) -> Box<dyn Iterator<Item = Vec<i64>> + 'v> {
    match of.is_empty() {
        true => Box::new(std::iter::once(Vec::new())),
        false => Box::new(of.iter().map(|p| all[*p].iter().copied()).multi_cartesian_product()),
    }
}

impl Time {
    /// Derives the run time of a problem.
    pub fn new(problem: &Problem) -> Result<Time, ObligationError> {
        let Path { launch, waves, start, group, finish } = Path::new(problem)?;
        let group = parts(problem, products(&group)?);
        let finish = TimePart::new(problem, products(&finish)?);
        Ok(Time { launch, waves, start, group, finish })
    }
}

/// Products by their parameters.
fn parts(problem: &Problem, products: Vec<TimeProduct>) -> Vec<TimePart> {
    let mut all: Vec<TimePart> = Vec::new();
    for product in products {
        let part = TimePart::new(problem, vec![product]);
        match all.iter_mut().find(|known| known.parameters == part.parameters) {
            Some(known) => known.products.extend(part.products),
            None => all.push(part),
        }
    }
    all
}

impl TimePart {
    fn new(problem: &Problem, products: Vec<TimeProduct>) -> TimePart {
        let factors = products.iter().flat_map(|p| &p.factors);
        let parameters = problem.parameters_of(factors.flat_map(Factor::expressions));
        TimePart { parameters, products }
    }

    /// Its ticks for the values in `env`.
    ///
    /// # Errors
    /// An expression without a value, or a sum beyond 127 bits.
    pub fn value(&self, env: &[i64]) -> Result<i128, ObligationError> {
        let mut sum = 0i128;
        for product in &self.products {
            let more = product.value(env)?;
            sum = sum.checked_add(more).ok_or_else(|| product.no_value("beyond 127 bits"))?;
        }
        Ok(sum)
    }
}

impl Time {
    /// The ticks for the values in `env`, given those of a group once it has started.
    pub fn of_group(&self, group: i128, env: &[i64]) -> Result<i128, ObligationError> {
        let no_value =
            |what: &dyn ToString| ObligationError::NoValue("launch".to_owned(), what.to_string());
        let waves = i128::from(self.waves.eval(env).map_err(|e| no_value(&e))?.max(0));
        let finish = self.finish.value(env)?;
        let all = group.checked_add(i128::from(self.start)).and_then(|g| g.checked_mul(waves));
        let all = all.and_then(|g| g.checked_add(finish)?.checked_add(i128::from(self.launch)));
        all.ok_or_else(|| no_value(&"beyond 127 bits"))
    }

    /// The parts of the launch: those of a group times the waves, and what surrounds them.
    pub fn of_launch(&self, problem: &Problem) -> Vec<TimePart> {
        let waves = Factor::Count(self.waves.clone());
        let number = |n: i64| Factor::Count(Expr::Int(n));
        let product = |at: &str, factors| TimeProduct { at: at.to_owned(), factors };
        let mut all = vec![
            product("platform.kernel_launch", vec![number(self.launch)]),
            product("platform.group_start", vec![waves.clone(), number(self.start)]),
        ];
        let group = self.group.iter().flat_map(|part| &part.products);
        all.extend(group.map(|p| {
            product(&p.at, [std::slice::from_ref(&waves), p.factors.as_slice()].concat())
        }));
        all.extend(self.finish.products.iter().cloned());
        parts(problem, all)
    }

    /// The ticks for the values in `env`.
    pub fn value(&self, env: &[i64]) -> Result<i128, ObligationError> {
        let mut group = 0i128;
        for part in &self.group {
            group = group.saturating_add(part.value(env)?);
        }
        self.of_group(group, env)
    }
}
