//! What a choice of parameters must satisfy, as conditions over a few parameters each.
//!
//! The domains, the constraints and the launch of a problem come to the same kind of thing: an
//! expression over a few parameters, definitions substituted, that a valid configuration must
//! satisfy. A conjunction is several conditions, each over as few parameters as possible.

use std::collections::BTreeSet;

use crate::error::ModelError;
use crate::launch_rule::{LaunchLimit, LaunchRule};
use crate::problem::{Launch, Problem, Profile};
use tickbound_expr::domain::Domain;
use tickbound_expr::interval::Interval;
use tickbound_expr::{BinaryOp, Expr};

/// Most nodes of an expression with its definitions substituted.
const MAX_NODES: usize = 20_000;

/// A condition on a choice of parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The parameters it depends on, by their place in the problem.
    pub parameters: Vec<usize>,
    /// Where it is written.
    pub at: String,
    pub(super) kind: Kind,
    /// The limit of a launch that it states; `None` for what the problem itself asks.
    limit: Option<LaunchLimit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A constraint, with exact division.
    Holds(Expr),
    /// A condition of the launch, with floor division.
    IsTrue(Expr),
    /// An expression that must have a value.
    HasValue(Expr),
    /// A constraint that must have a value, with exact division.
    IsDecided(Expr),
    /// A size: the problem is at fault if it is below 1.
    IsPositive(Expr),
    /// The parameter in this place is in its domain, which depends on others.
    InDomain(usize),
}

/// How a condition comes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// It holds.
    Yes,
    /// It does not: the choice is not valid.
    No,
    /// The problem is at fault, unless another condition excludes the choice.
    Fault(ConditionFault),
}

/// How the problem is at fault for a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionFault {
    /// An expression has no value, or a domain no values.
    NoValue(String),
    /// A size that is below 1.
    BelowOne(i64),
}

impl ConditionFault {
    fn no_value(why: &dyn std::fmt::Display) -> ConditionFault {
        ConditionFault::NoValue(why.to_string())
    }

    /// The error, for the values in `env`; `at` is where the expression is written.
    pub(super) fn error(&self, problem: &Problem, at: &str, env: &[i64]) -> ModelError {
        match self {
            ConditionFault::NoValue(what) => problem.fault(at, what, env),
            ConditionFault::BelowOne(size) => ModelError::new(
                at,
                format!("is {size} for {}", problem.describe(env)),
                "make it at least 1, or exclude these values by a constraint",
            ),
        }
    }
}

/// The value of a size, at least 1.
pub(super) fn size(e: &Expr, env: &[i64]) -> Result<i64, ConditionFault> {
    match e.eval(env) {
        Ok(size) if size < 1 => Err(ConditionFault::BelowOne(size)),
        Ok(size) => Ok(size),
        Err(e) => Err(ConditionFault::no_value(&e)),
    }
}

impl Condition {
    fn of_rule(problem: &Problem, rule: &LaunchRule) -> Condition {
        let kind = match rule.limit {
            LaunchLimit::NoValue => Kind::HasValue(rule.expr.clone()),
            _ => Kind::IsTrue(rule.expr.clone()),
        };
        Condition::new(problem, &rule.at, kind, Some(rule.limit))
    }

    fn new(problem: &Problem, at: &str, kind: Kind, limit: Option<LaunchLimit>) -> Condition {
        let parameters = match &kind {
            Kind::Holds(e)
            | Kind::IsTrue(e)
            | Kind::HasValue(e)
            | Kind::IsDecided(e)
            | Kind::IsPositive(e) => problem.parameters_of([e]),
            Kind::InDomain(place) => {
                let domain = &problem.parameters[*place].domain;
                let mut parameters = problem.parameters_of(domain.expressions());
                parameters.push(*place);
                parameters
            }
        };
        Condition { parameters, at: at.to_owned(), kind, limit }
    }

    /// The limit of a launch that it states; `None` for what the problem itself asks.
    pub fn limited_by(&self) -> Option<LaunchLimit> {
        self.limit
    }

    /// How it comes out for the values in `env`, those of its parameters set. Where an expression
    /// has no value, the condition that it must have one fails, and no other.
    pub fn outcome(&self, problem: &Problem, env: &[i64]) -> Holds {
        match (self.holds(problem, env), &self.kind) {
            (Ok(true), _) => Holds::Yes,
            (Ok(false), _) | (Err(_), Kind::HasValue(_) | Kind::IsDecided(_)) => Holds::No,
            (Err(fault @ ConditionFault::BelowOne(_)), _) => Holds::Fault(fault),
            (Err(fault), Kind::InDomain(_)) => Holds::Fault(fault),
            (Err(ConditionFault::NoValue(_)), _) => Holds::Yes,
        }
    }

    /// What has no value, if this is a condition that an expression has one and it fails.
    pub(super) fn without_value(&self, problem: &Problem, env: &[i64]) -> Option<String> {
        match (self.holds(problem, env), &self.kind) {
            (Err(ConditionFault::NoValue(why)), Kind::HasValue(_) | Kind::IsDecided(_)) => {
                Some(format!("{} ({why} at {})", problem.describe(env), self.at))
            }
            _ => None,
        }
    }

    fn holds(&self, problem: &Problem, env: &[i64]) -> Result<bool, ConditionFault> {
        match &self.kind {
            Kind::Holds(e) => e.holds(env).map_err(|e| ConditionFault::no_value(&e)),
            Kind::IsTrue(e) => {
                e.eval(env).map(|v| v != 0).map_err(|e| ConditionFault::no_value(&e))
            }
            Kind::HasValue(e) => {
                e.eval(env).map(|_| true).map_err(|e| ConditionFault::no_value(&e))
            }
            Kind::IsDecided(e) => {
                e.holds(env).map(|_| true).map_err(|e| ConditionFault::no_value(&e))
            }
            Kind::IsPositive(e) => size(e, env).map(|_| true),
            Kind::InDomain(place) => {
                let values = problem.parameters[*place].domain.values(env);
                let value = env[problem.first_parameter() + place];
                values.map(|v| v.contains(&value)).map_err(|e| ConditionFault::no_value(&e))
            }
        }
    }

    /// True if it holds everywhere in these intervals.
    pub fn surely_holds(&self, of: &[Interval]) -> bool {
        let never_fails = |e: &Expr| Some(e.range(of)).filter(|r| !r.may_fail)?.values;
        match &self.kind {
            Kind::Holds(e) => e.verdict(of).surely_holds(),
            Kind::IsTrue(e) => e.truth(of).surely_holds(),
            Kind::HasValue(e) => never_fails(e).is_some(),
            Kind::IsDecided(e) => !e.verdict(of).may_fail,
            Kind::IsPositive(e) => never_fails(e).is_some_and(|v| v.low > 0),
            Kind::InDomain(_) => false,
        }
    }

    /// True if no choice in these intervals satisfies it or lacks a value; exact for one.
    pub fn surely_fails(&self, problem: &Problem, of: &[Interval]) -> bool {
        let slot = |p: usize| of[problem.first_parameter() + p];
        match &self.kind {
            Kind::Holds(e) => e.verdict(of).surely_fails(),
            Kind::IsTrue(e) => e.truth(of).surely_fails(),
            Kind::IsPositive(_) => false,
            Kind::HasValue(_) | Kind::IsDecided(_) => {
                let single = self.parameters.iter().all(|p| slot(*p).low == slot(*p).high);
                let env = || of.iter().map(|v| v.low).collect::<Vec<i64>>();
                single && self.outcome(problem, &env()) == Holds::No
            }
            Kind::InDomain(place) => {
                // The domain is known once the parameters are that it depends on.
                let mut others = self.parameters.iter().filter(|p| *p != place);
                if others.any(|p| slot(*p).low != slot(*p).high) {
                    return false;
                }
                let env: Vec<i64> = of.iter().map(|v| v.low).collect();
                let within = |v: &i64| (slot(*place).low..=slot(*place).high).contains(v);
                let values = problem.parameters[*place].domain.values(&env);
                values.is_ok_and(|values| !values.iter().any(within))
            }
        }
    }

    /// The two parameters that it requires to differ; `None` if it is another condition.
    pub fn differ(&self, problem: &Problem) -> Option<[usize; 2]> {
        let Expr::Binary(BinaryOp::Ne, a, b) = self.truth()? else { return None };
        let place = |e: &Expr| match e {
            Expr::Name(slot) => slot.checked_sub(problem.first_parameter()),
            _ => None,
        };
        Some([place(a)?, place(b)?]).filter(|pair| pair.iter().all(|p| self.parameters.contains(p)))
    }

    /// The expression that must not be 0, its divisions rounded down; `None` for other conditions.
    pub fn truth(&self) -> Option<&Expr> {
        match &self.kind {
            Kind::Holds(e) if !e.divides() => Some(e),
            Kind::IsTrue(e) => Some(e),
            _ => None,
        }
    }
}

impl Problem {
    /// The expression with every definition substituted, so that it mentions no definition any
    /// more. A definition's `/` becomes `//`, since it rounds down even where the definition is
    /// used in a constraint.
    ///
    /// # Errors
    /// It becomes too large.
    pub fn inlined(&self, at: &str, expr: &Expr) -> Result<Expr, ModelError> {
        let first = self.first_definition();
        let mut nodes = 0usize;
        self.put_in(expr, first, false, &mut nodes).ok_or_else(|| {
            ModelError::new(
                at,
                format!("more than {MAX_NODES} operations with its definitions put in"),
                "use fewer definitions within definitions",
            )
        })
    }

    fn put_in(&self, expr: &Expr, first: usize, defined: bool, nodes: &mut usize) -> Option<Expr> {
        *nodes += 1;
        if *nodes > MAX_NODES {
            return None;
        }
        match expr {
            Expr::Name(slot) if *slot >= first && *slot < self.first_item_slot() => {
                let (_, definition) = self.definitions.get(slot - first)?;
                self.put_in(definition, first, true, nodes)
            }
            Expr::Binary(BinaryOp::Div, a, b) if defined => Some(Expr::binary(
                BinaryOp::FloorDiv,
                self.put_in(a, first, true, nodes)?,
                self.put_in(b, first, true, nodes)?,
            )),
            _ => expr.with_parts(|part| self.put_in(part, first, defined, nodes)),
        }
    }

    /// The parameters that an expression without definitions depends on, by their place.
    pub fn parameters_of<'e>(&self, expressions: impl IntoIterator<Item = &'e Expr>) -> Vec<usize> {
        let range = self.first_parameter()..self.first_definition();
        let mut places = BTreeSet::new();
        for expr in expressions {
            expr.names(&mut |slot| {
                if range.contains(slot) {
                    places.insert(slot - range.start);
                }
            });
        }
        places.into_iter().collect()
    }

    /// Everything that a valid configuration satisfies: a choice is valid if no condition is false;
    /// if then one has no value, the problem is at fault.
    ///
    /// # Errors
    /// An expression that becomes too large with its definitions substituted.
    pub fn conditions(&self) -> Result<Vec<Condition>, ModelError> {
        let of = self.parameter_intervals();
        let mut all = Conditions { problem: self, of, list: Vec::new() };
        for (place, parameter) in self.parameters.iter().enumerate() {
            all.domain(place, &parameter.name, &parameter.domain);
        }
        for (i, constraint) in self.constraints.iter().enumerate() {
            let at = format!("constraints[{i}]");
            let expr = self.inlined(&at, &constraint.expr)?;
            if expr.verdict(&all.of).may_fail {
                all.add_limit(&at, Kind::IsDecided(expr.clone()), LaunchLimit::NoValue);
            }
            all.conjunction(&at, expr);
        }
        let mut of = all.of.clone();
        for (i, (name, definition)) in self.definitions.iter().enumerate() {
            let range = definition.range(&of);
            if let Some(values) = range.values {
                of[self.first_definition() + i] = values;
            }
            // Definitions within definitions are long, and few of them may have no value.
            if range.may_fail {
                let at = format!("definitions.{name}");
                all.has_value(&at, &self.inlined(&at, definition)?);
            }
        }
        all.launch()?;
        all.list.extend(self.launch_rules.iter().map(|rule| Condition::of_rule(self, rule)));
        Ok(all.list)
    }
}

struct Conditions<'p> {
    problem: &'p Problem,
    /// Where the values of each slot lie.
    of: Vec<Interval>,
    list: Vec<Condition>,
}

impl Conditions<'_> {
    fn add(&mut self, at: &str, kind: Kind) {
        self.list.push(Condition::new(self.problem, at, kind, None));
    }

    fn add_limit(&mut self, at: &str, kind: Kind, limit: LaunchLimit) {
        self.list.push(Condition::new(self.problem, at, kind, Some(limit)));
    }

    /// The expression has a value, if that is not certain.
    fn has_value(&mut self, at: &str, e: &Expr) {
        if e.range(&self.of).may_fail {
            self.add_limit(at, Kind::HasValue(e.clone()), LaunchLimit::NoValue);
        }
    }

    fn domain(&mut self, place: usize, name: &str, domain: &Domain) {
        if !self.problem.parameters_of(domain.expressions()).is_empty() {
            self.add(&format!("parameters.{name}"), Kind::InDomain(place));
        }
    }

    fn conjunction(&mut self, at: &str, expr: Expr) {
        match expr {
            // The right side is examined only if the left one holds; a choice for which it does
            // not is not valid anyway.
            Expr::Binary(BinaryOp::And, a, b) => {
                self.conjunction(at, *a);
                self.conjunction(at, *b);
            }
            e => self.add(at, Kind::Holds(e)),
        }
    }

    /// A size has a value, which is at least 1.
    fn size(&mut self, at: &str, e: &Expr) {
        self.has_value(at, e);
        self.add(at, Kind::IsPositive(e.clone()));
    }

    fn limit(&mut self, e: Expr, limit: LaunchLimit) {
        self.add_limit("launch", Kind::IsTrue(e), limit);
    }

    fn launch(&mut self) -> Result<(), ModelError> {
        let problem = self.problem;
        let inlined = |field: &str, e: &Expr| problem.inlined(&format!("launch.{field}"), e);
        let local = match &problem.launch {
            Launch::Range { global_size, local_size } => {
                let global = inlined("global_size", global_size)?;
                let local = inlined("local_size", local_size)?;
                // What is no size comes before what divides by it.
                self.size("launch.local_size", &local);
                self.size("launch.global_size", &global);
                self.multiples(global, local.clone())?;
                local
            }
            Launch::Activations { local_size, activations } => {
                let activations = inlined("activations", activations)?;
                self.size("launch.activations", &activations);
                let local = inlined("local_size", local_size)?;
                self.size("launch.local_size", &local);
                local
            }
        };
        if let Some(most) = problem.platform.max_group_size() {
            let fits = Expr::binary(BinaryOp::Le, local.clone(), Expr::Int(most));
            self.limit(fits, LaunchLimit::GroupSize);
        }
        if let (Profile::Published2021, Some(w)) = (problem.profile, problem.platform.warps()) {
            let round = w.width.checked_mul(w.dispatchers).map_or(Expr::Int(0), Expr::Int);
            let whole = match round {
                // No group is so large.
                Expr::Int(0) => Expr::Int(0),
                round => divides(round, local),
            };
            self.limit(whole, LaunchLimit::WarpRounds);
        }
        Ok(())
    }

    /// The launch is a multiple of the group: in each dimension, or in all.
    fn multiples(&mut self, global: Expr, local: Expr) -> Result<(), ModelError> {
        let problem = self.problem;
        if problem.grid.len() < 2 {
            self.limit(divides(local, global), LaunchLimit::Multiple);
            return Ok(());
        }
        let mut sides = Vec::new();
        for side in &problem.grid {
            sides.push((
                problem.inlined("launch.global_size", &side.global)?,
                problem.inlined("launch.local_size", &side.local)?,
            ));
        }
        for (global, local) in sides {
            for side in [&global, &local] {
                self.has_value("launch", side);
                let positive = Expr::binary(BinaryOp::Ge, side.clone(), Expr::Int(1));
                self.limit(positive, LaunchLimit::Multiple);
            }
            // If every dimension divides, so does the product.
            self.limit(divides(local, global), LaunchLimit::Multiple);
        }
        Ok(())
    }
}

/// The expression that one number divides another.
fn divides(by: Expr, number: Expr) -> Expr {
    let rest = Expr::binary(BinaryOp::Rem, number, by);
    Expr::binary(BinaryOp::Eq, rest, Expr::Int(0))
}
