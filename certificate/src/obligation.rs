//! What is to be proved: that no valid configuration takes fewer ticks.
//!
//! In goes a problem, out comes its [`Obligation`]: for each parameter the values it may have, the conditions of a valid
//! configuration, and the run time as a sum of products over the parameters. It is derived from `docs/semantics.md` on its
//! own: neither the encodings, nor the searches, nor the simulator have a part in it, so that each checks the others.
//!
//! It covers items that are alike: under `opencl` without warps, and under `published-2023`, kernels in which no expression
//! differs between items and nobody waits for a mark. Then every element of a unit is as busy as the one with the most
//! items, and every group takes as long as the first:
//!
//! ```text
//! time  = launch + waves * (start + group) + finish
//! group = sum over accesses of (items of an element) * (how often) * (ticks)
//!       + sum over barriers of (how often) * (ticks)
//! ```

use itertools::Itertools;
use tickbound_model::expr::{BinaryOp, Function};
use tickbound_model::kernel::{expressions, has_until};
use tickbound_model::space::Condition;
use tickbound_model::{Expr, Launch, ModelError, Problem, Profile, Stmt, StmtKind};

/// Most values that all domains of one parameter may have together.
const MAX_VALUES: usize = 1 << 16;
/// Most choices of the parameters that a domain depends on.
const MAX_CHOICES: usize = 1 << 20;
/// Most products of a sum.
const MAX_PRODUCTS: usize = 20_000;

/// What is to be proved of a problem.
#[derive(Debug, Clone)]
pub struct Obligation<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// For each parameter its values, over all choices of the parameters that its domain depends on.
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
    /// How many groups the busiest unit runs, one after another.
    pub waves: Expr,
    /// To start a group.
    pub start: i64,
    /// Of a group, once it has started: one part for each set of parameters.
    pub group: Vec<Part>,
    /// After the last group.
    pub finish: Part,
}

/// A sum of products over the same parameters.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// The parameters, by their place in the problem, in increasing order.
    pub parameters: Vec<usize>,
    /// The products.
    pub products: Vec<Product>,
}

/// Factors in the order in which an item comes to them: what follows a 0 need not have a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The statement, for messages.
    pub at: String,
    /// The factors.
    pub factors: Vec<Factor>,
}

/// One factor of a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Factor {
    /// How often something is repeated; below 0 is not at all.
    Count(Expr),
    /// 1 where the condition comes out so, else 0.
    Guard(Expr, bool),
    /// An amount; below 0 is a fault of the problem.
    Amount(Expr),
}

/// Why there is no obligation, or a part of it has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObligationError {
    /// The problem is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The time of this problem is not such a sum.
    #[error("{at}: {what}")]
    Uncovered {
        /// Where.
        at: String,
        /// What stands there.
        what: &'static str,
    },
    /// An expression has no value for some choice, or one beyond 127 bits.
    #[error("{at}: {what}")]
    NoValue {
        /// The statement.
        at: String,
        /// Why.
        what: String,
    },
}

fn uncovered<T>(at: &str, what: &'static str) -> Result<T, ObligationError> {
    Err(ObligationError::Uncovered { at: at.to_owned(), what })
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

    /// The number of a parameter's value; `None` if it is no value of its domains.
    #[must_use]
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
    fn new(problem: &Problem) -> Result<Time, ObligationError> {
        let items = problem.first_item_slot();
        for (program, at) in [(&problem.kernel, "kernel"), (&problem.finish, "finish")] {
            if has_until(program) {
                return uncovered(at, "waits for a mark");
            }
            let mut differing = None;
            expressions(program, &mut |stmt, e| {
                if e.mentions(|slot| slot >= items) {
                    differing.get_or_insert_with(|| stmt.at.clone());
                }
            });
            if let Some(at) = differing {
                return uncovered(&at, "differs between items");
            }
        }
        let inlined = |at: &str, e: &Expr| problem.inlined(at, e);
        let elements = Expr::Int(problem.platform.elements_per_unit());
        let p = &problem.platform;
        let local = inlined("launch.local_size", problem.launch.local_size())?;
        let (waves, runs, prices) = match (&problem.launch, problem.profile, p.warps()) {
            (Launch::Range { global_size, .. }, Profile::OpenCl, None) => {
                let global = inlined("launch.global_size", global_size)?;
                let groups = Expr::binary(BinaryOp::FloorDiv, global, local.clone());
                let waves = Expr::Call(Function::CeilDiv, vec![groups, Expr::Int(p.units())]);
                let runs = Expr::Call(Function::CeilDiv, vec![local, elements]);
                (waves, runs, [p.kernel_launch(), p.group_start(), p.barrier()])
            }
            // [2023], Section 5 and Listing 6: one unit, whose elements run the program again until all items have run.
            (Launch::Activations { activations, .. }, Profile::Published2023, None) => {
                let share = Expr::binary(BinaryOp::FloorDiv, local, elements);
                let runs = Expr::Call(Function::Max, vec![Expr::Int(1), share]);
                (inlined("launch.activations", activations)?, runs, [0; 3])
            }
            _ => return uncovered("profile", "what it does is no sum over the parameters"),
        };
        let [launch, start, barrier] = prices;
        let mut sum = Sum { problem, barrier, products: Vec::new() };
        sum.program(&problem.kernel, &[], Some(&Factor::Count(runs)))?;
        let group = parts(problem, std::mem::take(&mut sum.products));
        sum.program(&problem.finish, &[], None)?;
        let finish = Part::new(problem, sum.products);
        Ok(Time { launch, waves, start, group, finish })
    }
}

/// The products of a program.
struct Sum<'p> {
    problem: &'p Problem,
    /// Ticks of a barrier.
    barrier: i64,
    products: Vec<Product>,
}

impl Sum<'_> {
    /// Adds a program's products, under the loops and branches around it; `runs` is how many items an element runs, if
    /// that is not one.
    fn program(
        &mut self,
        program: &[Stmt],
        around: &[Factor],
        runs: Option<&Factor>,
    ) -> Result<(), ObligationError> {
        for stmt in program {
            let of = |e: &Expr| self.problem.inlined(&stmt.at, e);
            let within = |own: Factor| [around, &[own]].concat();
            match &stmt.kind {
                StmtKind::Access { access, amount } => {
                    let price = Factor::Count(Expr::Int(self.problem.platform.price(*access)));
                    // The amount comes first: a price of 0 does not excuse one below 0.
                    let mut factors = within(Factor::Amount(of(amount)?));
                    factors.push(price);
                    factors.extend(runs.cloned());
                    self.add(stmt, factors)?;
                }
                StmtKind::Barrier => {
                    let price = Factor::Count(Expr::Int(self.barrier));
                    self.add(stmt, within(price))?;
                }
                StmtKind::Repeat { count, body } => {
                    self.program(body, &within(Factor::Count(of(count)?)), runs)?;
                }
                StmtKind::If { condition, then, otherwise } => {
                    let condition = of(condition)?;
                    self.program(then, &within(Factor::Guard(condition.clone(), true)), runs)?;
                    self.program(otherwise, &within(Factor::Guard(condition, false)), runs)?;
                }
                StmtKind::Mark => {}
                StmtKind::Until(_) => return uncovered(&stmt.at, "waits for a mark"),
            }
        }
        Ok(())
    }

    fn add(&mut self, stmt: &Stmt, factors: Vec<Factor>) -> Result<(), ObligationError> {
        self.products.push(Product { at: stmt.at.clone(), factors });
        match self.products.len() > MAX_PRODUCTS {
            true => uncovered(&stmt.at, "too many statements"),
            false => Ok(()),
        }
    }
}

/// Products by their parameters.
fn parts(problem: &Problem, products: Vec<Product>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for product in products {
        let part = Part::new(problem, vec![product]);
        match all.iter_mut().find(|known| known.parameters == part.parameters) {
            Some(known) => known.products.extend(part.products),
            None => all.push(part),
        }
    }
    all
}

impl Part {
    fn new(problem: &Problem, products: Vec<Product>) -> Part {
        let factors = products.iter().flat_map(|p| &p.factors);
        let parameters = problem.parameters_of(factors.map(Factor::expression));
        Part { parameters, products }
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

impl Product {
    fn no_value(&self, what: impl ToString) -> ObligationError {
        ObligationError::NoValue { at: self.at.clone(), what: what.to_string() }
    }

    fn value(&self, env: &[i64]) -> Result<i128, ObligationError> {
        let mut product = 1i128;
        for factor in &self.factors {
            let value = factor.expression().eval(env).map_err(|e| self.no_value(e))?;
            let value = match factor {
                Factor::Count(_) => value.max(0),
                Factor::Guard(_, holds) => i64::from((value != 0) == *holds),
                Factor::Amount(_) if value < 0 => return Err(self.no_value("an amount below 0")),
                Factor::Amount(_) => value,
            };
            product = product
                .checked_mul(i128::from(value))
                .ok_or_else(|| self.no_value("beyond 127 bits"))?;
            if product == 0 {
                break;
            }
        }
        Ok(product)
    }
}

impl Factor {
    fn expression(&self) -> &Expr {
        match self {
            Factor::Count(e) | Factor::Guard(e, _) | Factor::Amount(e) => e,
        }
    }
}

impl Time {
    /// The ticks for the values in `env`, given those of a group once it has started.
    ///
    /// # Errors
    /// As for [`Part::value`].
    pub fn of_group(&self, group: i128, env: &[i64]) -> Result<i128, ObligationError> {
        let no_value = |what: &dyn ToString| ObligationError::NoValue {
            at: "launch".to_owned(),
            what: what.to_string(),
        };
        let waves = i128::from(self.waves.eval(env).map_err(|e| no_value(&e))?.max(0));
        let finish = self.finish.value(env)?;
        let all = group.checked_add(i128::from(self.start)).and_then(|g| g.checked_mul(waves));
        let all = all.and_then(|g| g.checked_add(finish)?.checked_add(i128::from(self.launch)));
        all.ok_or_else(|| no_value(&"beyond 127 bits"))
    }

    /// The parts of the whole launch: those of a group times the waves, and what comes before and after.
    #[must_use]
    pub fn of_launch(&self, problem: &Problem) -> Vec<Part> {
        let waves = Factor::Count(self.waves.clone());
        let number = |n: i64| Factor::Count(Expr::Int(n));
        let product = |at: &str, factors| Product { at: at.to_owned(), factors };
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
    ///
    /// # Errors
    /// As for [`Part::value`].
    pub fn value(&self, env: &[i64]) -> Result<i128, ObligationError> {
        let mut group = 0i128;
        for part in &self.group {
            group = group.saturating_add(part.value(env)?);
        }
        self.of_group(group, env)
    }
}
