//! Listing the valid configurations, and putting one in.

use std::fmt;

use indexmap::IndexMap;
use tickbound_elimination::TableLimits;
use tickbound_input::message::suggest;

use super::conditions::{ConditionFault, size};
use crate::error::ModelError;
use crate::launch_rule::LaunchRule;
use crate::problem::{Launch, Problem};
use tickbound_expr::{EvalError, Expr};

/// Most choices that are examined while the space is listed, valid or not.
pub const MAX_CHOICES: u64 = 20_000_000;
/// Most configurations a space may have.
pub const MAX_CONFIGURATIONS: usize = 1_000_000;

/// One choice of parameters: a value for each, in the problem's order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Configuration(pub Vec<i64>);

/// The launch of one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaunchSize {
    /// `opencl` and `published-2021`; `global` is a multiple of `local`.
    Range {
        /// Work items in the launch.
        global: i64,
        /// Work items in a group.
        local: i64,
    },
    /// `published-2023`.
    Activations {
        /// Work items in a group.
        local: i64,
        /// How often the unit is activated.
        activations: i64,
    },
}

impl LaunchSize {
    /// Work items in a group.
    pub fn local(self) -> i64 {
        match self {
            LaunchSize::Range { local, .. } | LaunchSize::Activations { local, .. } => local,
        }
    }
}

/// A problem with a configuration substituted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The configuration.
    pub configuration: Configuration,
    /// Values of all slots; those of `lid`, `gid` and `group` are 0 until an item sets them.
    pub env: Vec<i64>,
    /// The launch.
    pub launch: LaunchSize,
}

/// The valid configurations of a problem, in lexicographic order of the domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// The valid configurations with all their values.
    pub bound: Vec<Bound>,
    /// Configurations that satisfy the constraints but cannot be launched, or for which an
    /// expression has no value; [`Problem::left_out`] counts these.
    pub unlaunchable: usize,
}

impl Problem {
    /// Lists every valid configuration; there may be none.
    ///
    /// # Errors
    /// A domain, definition, constraint or launch size without a value; an empty first domain;
    /// configurations none of which can be launched; a space too large to list.
    pub fn space(&self) -> Result<Space, ModelError> {
        let mut walk = Walk::new(self)?;
        let mut env = self.base_env();
        walk.choose(&mut env, 0)?;
        let space = walk.space;
        if space.bound.is_empty() && space.unlaunchable > 0 {
            let why = self.left_out(&TableLimits::default())?.unwrap_or_default();
            let count = space.unlaunchable;
            let what = format!("none of {count} configurations can be launched ({why})");
            return Err(ModelError::new("launch", what, why.fix()));
        }
        Ok(space)
    }

    /// The first valid configuration, if it is among this many choices.
    pub fn first_configuration(&self, most: u64) -> Option<Bound> {
        let mut walk = Walk { wanted: 1, most, ..Walk::new(self).ok()? };
        // Faults are reported where the whole space is examined.
        walk.choose(&mut self.base_env(), 0).ok()?;
        walk.space.bound.pop()
    }

    /// How many choices of parameters there are before any constraint: the product of the domains'
    /// sizes or, where domains depend on each other, the number of their combinations.
    ///
    /// # Errors
    /// A domain without values that can be counted, or more than 2^63 choices.
    pub fn choices(&self) -> Result<u64, ModelError> {
        self.count_choices(&mut self.base_env(), 0)
    }

    fn count_choices(&self, env: &mut Vec<i64>, depth: usize) -> Result<u64, ModelError> {
        let Some(parameter) = self.parameters.get(depth) else { return Ok(1) };
        let at = || format!("parameters.{}", parameter.name);
        let fix = "write a domain with a few finite values";
        let too_many = || ModelError::new(at(), "more than 2^63 choices", "narrow the domains");
        let values = parameter.domain.values(env);
        let values = values.map_err(|e| ModelError::new(at(), e.to_string(), fix))?;
        let slot = self.first_parameter() + depth;
        let needed = self.parameters[depth + 1..]
            .iter()
            .any(|later| later.domain.expressions().iter().any(|e| e.mentions(|s| s == slot)));
        if !needed {
            let rest = self.count_choices(env, depth + 1)?;
            return rest.checked_mul(values.len() as u64).ok_or_else(too_many);
        }
        let mut sum = 0u64;
        for value in values {
            env[slot] = value;
            let rest = self.count_choices(env, depth + 1)?;
            sum = sum.checked_add(rest).ok_or_else(too_many)?;
        }
        Ok(sum)
    }

    /// The values of the parameter in this place, whose domain depends on no other.
    pub(crate) fn independent_values(&self, place: usize) -> Result<Vec<i64>, ModelError> {
        let parameter = &self.parameters[place];
        parameter.domain.values(&self.base_env()).map_err(|e| {
            ModelError::new(format!("parameters.{}", parameter.name), e.to_string(), "")
        })
    }

    /// Refuses a value that the parameter in this place has with no choice of the others. A domain
    /// that depends on other parameters refuses nothing here.
    ///
    /// # Errors
    /// The value is not in the domain, or the domain has no values.
    pub fn check_value(&self, place: usize, value: i64) -> Result<(), ModelError> {
        let Some(parameter) = self.parameters.get(place) else { return Ok(()) };
        let first = self.first_parameter();
        if parameter.domain.expressions().iter().any(|e| e.mentions(|slot| slot >= first)) {
            return Ok(());
        }
        let domain = self.independent_values(place)?;
        in_domain(format!("parameters.{}", parameter.name), value, &domain)
    }

    /// Puts a configuration in, given by name.
    ///
    /// # Errors
    /// A missing or unknown parameter, a value outside its domain, a constraint that does not
    /// hold, or a launch that is impossible.
    pub fn bind(&self, values: &IndexMap<String, i64>) -> Result<Bound, ModelError> {
        let names = || self.parameters.iter().map(|p| p.name.as_str());
        if let Some(unknown) = values.keys().find(|k| !names().any(|n| n == k.as_str())) {
            return Err(ModelError::new(
                format!("configuration.{unknown}"),
                "no parameter has this name",
                suggest(unknown, names()),
            ));
        }
        let mut env = self.base_env();
        for (i, parameter) in self.parameters.iter().enumerate() {
            let at = format!("parameters.{}", parameter.name);
            let Some(value) = values.get(&parameter.name) else {
                return Err(ModelError::new(at, "has no value", "add it to the configuration"));
            };
            let domain = parameter.domain.values(&env).map_err(|e| self.fault(&at, &e, &env))?;
            in_domain(at, *value, &domain)?;
            env[self.first_parameter() + i] = *value;
        }
        self.define(&mut env)?;
        for constraint in &self.constraints {
            let holds = constraint.expr.holds(&env);
            if !holds.map_err(|e| self.fault("constraints", &e, &env))? {
                return Err(ModelError::new(
                    "constraints",
                    format!("`{}` does not hold for {}", constraint.text, self.describe(&env)),
                    "choose other values",
                ));
            }
        }
        let cannot = |why: String| ModelError::new("launch", why, "choose other values");
        let launch = self.launch_size(&env)?.map_err(cannot)?;
        match self.broken_rule(&env) {
            None => Ok(self.bound(&env, launch)),
            Some((rule, None)) => Err(cannot(rule.limit.to_string())),
            Some((rule, Some(fault))) => {
                let values = self.describe(&env);
                Err(cannot(format!("no value for {values} ({fault} at {})", rule.at)))
            }
        }
    }

    /// As [`Problem::bind`], given by the values of the parameters in order.
    ///
    /// # Errors
    /// As for [`Problem::bind`].
    pub fn bind_configuration(&self, configuration: &Configuration) -> Result<Bound, ModelError> {
        let names = self.parameters.iter().map(|p| p.name.clone());
        self.bind(&names.zip(configuration.0.iter().copied()).collect())
    }

    /// The first rule of kernel and source that a configuration breaks; the fault if without value.
    fn broken_rule(&self, env: &[i64]) -> Option<(&LaunchRule, Option<EvalError>)> {
        self.launch_rules.iter().find_map(|rule| Some((rule, rule.broken(env)?)))
    }

    /// `WG=4, TS=2` for a configuration.
    pub fn name_values<'a>(&'a self, c: &'a Configuration) -> impl fmt::Display + use<'a> {
        let pairs = self.parameters.iter().zip(&c.0).map(|(p, v)| format!("{}={v}", p.name));
        pairs.collect::<Vec<_>>().join(", ")
    }

    /// The values of all slots that no configuration changes; the others are 0.
    pub fn base_env(&self) -> Vec<i64> {
        let mut env: Vec<i64> = self.inputs.values().copied().collect();
        env.extend(self.platform.numbers().map(|(_, v)| v));
        env.resize(self.scope.len(), 0);
        env
    }

    /// Puts the values of a configuration that is known to be valid, and of the definitions, into
    /// their slots.
    ///
    /// # Errors
    /// A definition without a value.
    pub fn put(&self, valid: &Configuration, env: &mut [i64]) -> Result<(), ModelError> {
        let slots = env.iter_mut().skip(self.first_parameter());
        slots.zip(&valid.0).for_each(|(slot, value)| *slot = *value);
        self.define(env)
    }

    fn bound(&self, env: &[i64], launch: LaunchSize) -> Bound {
        let first = self.first_parameter();
        Bound {
            configuration: Configuration(env[first..self.first_definition()].to_vec()),
            env: env.to_vec(),
            launch,
        }
    }

    fn define(&self, env: &mut [i64]) -> Result<(), ModelError> {
        for (i, (name, expr)) in self.definitions.iter().enumerate() {
            let value = expr.eval(env);
            let value = value.map_err(|e| self.fault(&format!("definitions.{name}"), &e, env))?;
            env[self.first_definition() + i] = value;
        }
        Ok(())
    }

    /// The parameters with the values that an environment has for them.
    pub fn describe(&self, env: &[i64]) -> String {
        let first = self.first_parameter();
        let pairs = self.parameters.iter().zip(&env[first..]);
        let text = pairs.map(|(p, v)| format!("{}={v}", p.name)).collect::<Vec<_>>().join(", ");
        if text.is_empty() { "this problem".into() } else { text }
    }

    /// An evaluation error at `at`, with the values it happened for.
    pub fn fault(&self, at: &str, e: &impl fmt::Display, env: &[i64]) -> ModelError {
        ModelError::new(
            at,
            format!("{e} for {}", self.describe(env)),
            "guard it with `if ... else` or exclude these values",
        )
    }

    /// The launch, or (inside) why it is impossible on this platform.
    fn launch_size(&self, env: &[i64]) -> Result<Result<LaunchSize, String>, ModelError> {
        let positive = |field: &str, e: &Expr| match size(e, env) {
            Ok(size) => Ok(Ok(size)),
            Err(ConditionFault::NoValue(why)) => Ok(Err(format!("{why} in launch.{field}"))),
            Err(fault) => Err(fault.error(self, &format!("launch.{field}"), env)),
        };
        let (Launch::Range { local_size, .. } | Launch::Activations { local_size, .. }) =
            &self.launch;
        let (field, other) = match &self.launch {
            Launch::Range { global_size, .. } => ("global_size", global_size),
            Launch::Activations { activations, .. } => ("activations", activations),
        };
        let (local, other) = match (positive("local_size", local_size)?, positive(field, other)?) {
            (Ok(local), Ok(other)) => (local, other),
            (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
        };
        let size = match &self.launch {
            Launch::Range { .. } => LaunchSize::Range { global: other, local },
            Launch::Activations { .. } => LaunchSize::Activations { local, activations: other },
        };
        if let Some(why) = self.dimension_does_not_divide(env)? {
            return Ok(Err(why));
        }
        Ok(match (size, self.platform.max_group_size()) {
            (LaunchSize::Range { global, local }, _) if global % local != 0 => {
                Err(format!("global size {global} is not a multiple of local size {local}"))
            }
            (_, Some(most)) if size.local() > most => {
                Err(format!("a group of {} items exceeds the platform's {most}", size.local()))
            }
            _ if self.warps_do_not_divide(size) => Err(format!(
                "a group of {} items is no multiple of warp width times dispatchers",
                size.local()
            )),
            _ => Ok(size),
        })
    }

    /// Sizes of the launch by dimension, global and local, for a configuration of this problem.
    ///
    /// # Errors
    /// A size without a value.
    pub fn grid_sizes(&self, env: &[i64]) -> Result<Vec<[i64; 2]>, ModelError> {
        let sizes = self.grid.iter().map(|d| Ok([d.global.eval(env)?, d.local.eval(env)?]));
        sizes.collect::<Result<_, EvalError>>().map_err(|e| self.fault("launch", &e, env))
    }

    /// Why a dimension cannot be cut into groups, if there is one.
    fn dimension_does_not_divide(&self, env: &[i64]) -> Result<Option<String>, ModelError> {
        if self.grid.len() < 2 {
            return Ok(None);
        }
        let sizes = match self.grid_sizes(env) {
            Ok(sizes) => sizes,
            Err(without_value) => return Ok(Some(without_value.what)),
        };
        let wrong = sizes
            .iter()
            .enumerate()
            .find(|(_, [global, local])| *global < 1 || *local < 1 || global % local != 0);
        Ok(wrong.map(|(i, [global, local])| {
            format!("global size {global} of dimension {i} is not a multiple of local size {local}")
        }))
    }

    /// Seed 001 assumes that the dispatchers run a group in whole rounds of warps.
    fn warps_do_not_divide(&self, size: LaunchSize) -> bool {
        match (self.profile, self.platform.warps()) {
            (crate::problem::Profile::Published2021, Some(w)) => {
                w.width.checked_mul(w.dispatchers).is_none_or(|round| size.local() % round != 0)
            }
            _ => false,
        }
    }
}

/// Depth-first listing; a constraint is checked as soon as its parameters are chosen.
struct Walk<'p> {
    problem: &'p Problem,
    /// For each parameter, the constraints that can be checked once it is chosen.
    ready: Vec<Vec<usize>>,
    /// Constraints that mention definitions, hence wait for all parameters.
    last: Vec<usize>,
    looked_at: u64,
    /// Most choices that are examined.
    most: u64,
    /// Configurations after which the walk ends.
    wanted: usize,
    space: Space,
}

impl<'p> Walk<'p> {
    fn new(problem: &'p Problem) -> Result<Self, ModelError> {
        let (first, defined) = (problem.first_parameter(), problem.first_definition());
        let mut ready = vec![Vec::new(); problem.parameters.len()];
        let mut last = Vec::new();
        for (i, constraint) in problem.constraints.iter().enumerate() {
            let mut newest = None;
            constraint.expr.names(&mut |s| newest = newest.max(Some(*s)));
            match newest {
                Some(s) if s >= first && s < defined => ready[s - first].push(i),
                _ => last.push(i),
            }
        }
        let space = Space { bound: Vec::new(), unlaunchable: 0 };
        let (most, wanted) = (MAX_CHOICES, usize::MAX);
        Ok(Walk { problem, ready, last, looked_at: 0, most, wanted, space })
    }

    /// Whether constraints hold; one without a value does not.
    fn hold(&mut self, constraints: &[usize], env: &[i64]) -> bool {
        constraints.iter().all(|i| match self.problem.constraints[*i].expr.holds(env) {
            Ok(holds) => holds,
            Err(_) => {
                self.space.unlaunchable += 1;
                false
            }
        })
    }

    fn choose(&mut self, env: &mut Vec<i64>, depth: usize) -> Result<(), ModelError> {
        let p = self.problem;
        let Some(parameter) = p.parameters.get(depth) else {
            return self.complete(env);
        };
        let at = || format!("parameters.{}", parameter.name);
        let values = parameter.domain.values(env).map_err(|e| {
            ModelError::new(at(), e.to_string(), "write a domain with a few finite values")
        })?;
        if values.is_empty() && depth == 0 {
            return Err(ModelError::new(at(), "the domain is empty", "widen its bounds"));
        }
        for value in values {
            if self.space.bound.len() >= self.wanted {
                break;
            }
            env[p.first_parameter() + depth] = value;
            self.looked_at += 1;
            if self.looked_at > self.most {
                return Err(ModelError::new(
                    "parameters",
                    format!("more than {} choices", self.most),
                    "narrow the domains, or put constraints on the first parameters",
                ));
            }
            let ready = std::mem::take(&mut self.ready[depth]);
            let holds = self.hold(&ready, env);
            self.ready[depth] = ready;
            if holds {
                self.choose(env, depth + 1)?;
            }
        }
        env[p.first_parameter() + depth] = 0;
        Ok(())
    }

    fn complete(&mut self, env: &mut [i64]) -> Result<(), ModelError> {
        if self.problem.define(env).is_err() {
            self.space.unlaunchable += 1;
            return Ok(());
        }
        let last = std::mem::take(&mut self.last);
        let holds = self.hold(&last, env);
        self.last = last;
        if !holds {
            return Ok(());
        }
        match self.problem.launch_size(env)? {
            Ok(launch) if self.problem.broken_rule(env).is_none() => {
                self.space.bound.push(self.problem.bound(env, launch));
            }
            _ => self.space.unlaunchable += 1,
        }
        if self.space.bound.len() > MAX_CONFIGURATIONS {
            return Err(ModelError::new(
                "parameters",
                format!("more than {MAX_CONFIGURATIONS} configurations"),
                "narrow the domains or add constraints",
            ));
        }
        Ok(())
    }
}

/// Refuses a value that is not among those of a domain.
fn in_domain(at: String, value: i64, domain: &[i64]) -> Result<(), ModelError> {
    if domain.contains(&value) {
        return Ok(());
    }
    let some: Vec<String> = domain.iter().take(12).map(i64::to_string).collect();
    Err(ModelError::new(
        at,
        format!("{value} is not in its domain"),
        format!("choose one of {}", some.join(", ")),
    ))
}
