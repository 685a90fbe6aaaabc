//! How the structure of the valid configurations is built: conditions become relations.

use std::collections::BTreeSet;
use std::sync::Arc;

use num_bigint::BigUint;
use tickbound_elimination::{Least, Network, Relation, TableLimits};

use super::conditions::{Condition, Holds};
use super::structure::{Configurations, MAX_VISITS};
use crate::error::ModelError;
use crate::problem::Problem;

/// Most combinations that one condition may allow; about 200 megabytes.
const MAX_ROWS: usize = 1 << 21;

impl Problem {
    /// The valid configurations as a structure; not counted after a stop.
    ///
    /// # Errors
    /// A domain, definition, constraint or launch size without a value for a choice that no
    /// condition excludes; an empty first domain; configurations none of which can be launched.
    pub fn configurations(
        &self,
        limits: &TableLimits<'_>,
    ) -> Result<Configurations<'_>, ModelError> {
        let all = self.structure(limits, usize::MAX, |_| true)?;
        if all.count() == Some(BigUint::default()) {
            let constrained = self.structure(limits, usize::MAX, |c| c.limited_by().is_none())?;
            if let Some(n) = constrained.count().filter(|n| *n > BigUint::default()) {
                let why = self.left_out(limits)?.unwrap_or_default();
                return Err(ModelError::new(
                    "launch",
                    format!("none of {n} configurations can be launched ({why})"),
                    why.fix(),
                ));
            }
        }
        Ok(all)
    }

    /// The choices that the conditions on single parameters allow. Conditions on several are kept
    /// apart.
    ///
    /// # Errors
    /// As [`Problem::configurations`], but for what only several parameters decide.
    pub fn loose_configurations(
        &self,
        limits: &TableLimits<'_>,
    ) -> Result<Configurations<'_>, ModelError> {
        self.structure(limits, 1, |_| true)
    }

    /// The configurations that conditions on at most `most` parameters allow, and the others.
    pub(super) fn structure(
        &self,
        limits: &TableLimits<'_>,
        most: usize,
        which: impl Fn(&Condition) -> bool,
    ) -> Result<Configurations<'_>, ModelError> {
        let (mut all, failing) = self.built(most, which)?;
        all.check(&failing, limits)?;
        if all.wide.is_empty() {
            let exact = TableLimits { divide: false, ..*limits };
            all.counted = all.network.eliminated(&[], &exact).ok();
        }
        Ok(all)
    }

    /// The structure before anything is counted, and what has no value.
    fn built(
        &self,
        most: usize,
        which: impl Fn(&Condition) -> bool,
    ) -> Result<(Configurations<'_>, Vec<(usize, Relation)>), ModelError> {
        let mut conditions = self.conditions()?;
        conditions.retain(which);
        conditions.sort_by_key(|c| c.parameters.len());
        let mut all = Configurations {
            problem: self,
            values: self.domains()?,
            network: Network::new(Vec::new()),
            conditions,
            wide: Vec::new(),
            excluding: BTreeSet::new(),
            counted: None,
            projections: Arc::default(),
        };
        let failing = all.build(most)?;
        Ok((all, failing))
    }

    /// True if limits of the launch exclude nothing that constraints allow.
    pub(super) fn all_launch(&self) -> Result<bool, ModelError> {
        let of = self.parameter_intervals();
        let surely = |c: &Condition| c.limited_by().is_none() || c.surely_holds(&of);
        // Tables of all conditions may take seconds.
        if self.conditions()?.iter().all(surely) {
            return Ok(true);
        }
        let (all, _) = self.built(usize::MAX, |_| true)?;
        let mut open = all.excluding.iter().chain(&all.wide);
        Ok(open.all(|c| all.conditions[*c].limited_by().is_none()))
    }

    /// For each parameter the values of its domain, or of all its domains if it depends on others.
    fn domains(&self) -> Result<Vec<Vec<i64>>, ModelError> {
        let mut all: Vec<Vec<i64>> = Vec::new();
        for (place, parameter) in self.parameters.iter().enumerate() {
            let at = || format!("parameters.{}", parameter.name);
            let depends = self.parameters_of(parameter.domain.expressions());
            let mut values: Vec<i64> = Vec::new();
            let mut seen = std::collections::HashSet::new();
            let mut env = self.base_env();
            let mut fault = None;
            let mut visits = 0;
            let complete = combinations(&all, &depends, &mut |chosen| {
                visits += 1;
                depends.iter().zip(chosen).for_each(|(p, v)| env[self.first_parameter() + p] = *v);
                match parameter.domain.values(&env) {
                    Ok(some) => values.extend(some.into_iter().filter(|v| seen.insert(*v))),
                    Err(e) => fault = Some(e.to_string()),
                }
                visits < MAX_VISITS && values.len() <= tickbound_expr::domain::MAX_VALUES
            });
            if !complete {
                return Err(ModelError::new(
                    at(),
                    "the domain depends on too many choices, or has too many values in all",
                    "let it depend on fewer parameters, and restrict it by constraints",
                ));
            }
            if let Some(e) = fault.filter(|_| values.is_empty()) {
                return Err(ModelError::new(at(), e, "write a domain with a few finite values"));
            }
            if values.is_empty() && place == 0 {
                return Err(ModelError::new(at(), "the domain is empty", "widen its bounds"));
            }
            if !depends.is_empty() {
                values.sort_unstable();
            }
            all.push(values);
        }
        Ok(all)
    }
}

/// Calls `each` with all combinations of some parameters until it returns false; true if never.
fn combinations(values: &[Vec<i64>], of: &[usize], each: &mut impl FnMut(&[i64]) -> bool) -> bool {
    fn go(
        values: &[Vec<i64>],
        of: &[usize],
        chosen: &mut Vec<i64>,
        each: &mut impl FnMut(&[i64]) -> bool,
    ) -> bool {
        let Some(place) = of.get(chosen.len()) else { return each(chosen) };
        values[*place].iter().all(|v| {
            chosen.push(*v);
            let on = go(values, of, chosen, each);
            chosen.pop();
            on
        })
    }
    go(values, of, &mut Vec::new(), each)
}

impl Configurations<'_> {
    /// Makes relations of conditions on at most `most` parameters; returns valueless ones.
    fn build(&mut self, most: usize) -> Result<Vec<(usize, Relation)>, ModelError> {
        let mut failing = Vec::new();
        self.restrict_values();
        let sizes = self.values.iter().map(|v| v.len() as u32).collect();
        self.network = Network::new(sizes);
        if self.values.iter().any(Vec::is_empty) {
            self.network.add_contradiction();
        }
        for c in 0..self.conditions.len() {
            let always = || self.conditions[c].surely_holds(&self.intervals());
            if self.conditions[c].parameters.is_empty() {
                self.check_constant(c)?;
            } else if !always() {
                let is_wide = self.conditions[c].parameters.len() > most;
                if is_wide || !self.tabulate(c, &mut failing) {
                    self.wide.push(c);
                }
            }
        }
        Ok(failing)
    }

    /// Drops the values that conditions on one parameter exclude.
    fn restrict_values(&mut self) {
        let first = self.problem.first_parameter();
        let mut env = self.problem.base_env();
        for (c, condition) in self.conditions.iter().enumerate() {
            let [place] = condition.parameters[..] else { continue };
            let before = self.values[place].len();
            self.values[place].retain(|v| {
                env[first + place] = *v;
                condition.outcome(self.problem, &env) != Holds::No
            });
            if self.values[place].len() < before {
                self.excluding.insert(c);
            }
        }
    }

    /// A condition on no parameter excludes everything or nothing.
    fn check_constant(&mut self, c: usize) -> Result<(), ModelError> {
        let condition = &self.conditions[c];
        let env = self.problem.base_env();
        match condition.outcome(self.problem, &env) {
            Holds::Yes => Ok(()),
            Holds::No => {
                self.network.add_contradiction();
                self.excluding.insert(c);
                Ok(())
            }
            // No parameter has a value yet.
            Holds::Fault(fault) => {
                let env = &env[..self.problem.first_parameter()];
                Err(fault.error(self.problem, &condition.at, env))
            }
        }
    }

    /// Adds a condition as a relation; false if it has too many combinations.
    fn tabulate(&mut self, c: usize, failing: &mut Vec<(usize, Relation)>) -> bool {
        let condition = &self.conditions[c];
        let parameters = condition.parameters.clone();
        let (Ok(scope), Ok(filters)) = (self.network.scope(&parameters), self.filters(&parameters))
        else {
            return false;
        };
        let (mut allowed, mut faults) = (Relation::new(scope.clone()), Relation::new(scope));
        let mut excluded = 0u64;
        let walked = self.enumerate(&parameters, &filters, &mut |indices, env| {
            match condition.outcome(self.problem, env) {
                Holds::Yes => allowed.insert(allowed.scope().key(indices), 0),
                Holds::No => excluded += 1,
                Holds::Fault(_) => {
                    allowed.insert(allowed.scope().key(indices), 0);
                    faults.insert(faults.scope().key(indices), 0);
                }
            }
            allowed.len() <= MAX_ROWS
        });
        if walked.is_err() {
            return false;
        }
        if !faults.is_empty() {
            failing.push((c, faults));
        }
        if excluded > 0 {
            self.excluding.insert(c);
            self.network.add(allowed);
        }
        true
    }

    /// The fault of the problem, if a choice that no condition excludes has one.
    fn check(
        &self,
        failing: &[(usize, Relation)],
        limits: &TableLimits<'_>,
    ) -> Result<(), ModelError> {
        for (c, faults) in failing {
            let mut network = self.network.clone();
            network.add(faults.clone());
            let Ok(tree) =
                network.eliminated::<Least>(&[], &TableLimits { divide: true, ..*limits })
            else {
                continue;
            };
            let found = tree.ascending(limits, |_, cost| cost).ok().and_then(|mut all| all.next());
            if let Some(Ok((_, indices))) = found {
                let condition = &self.conditions[*c];
                let mut env = self.problem.base_env();
                self.put(&indices, &mut env);
                if let Holds::Fault(fault) = condition.outcome(self.problem, &env) {
                    return Err(fault.error(self.problem, &condition.at, &env));
                }
            }
        }
        Ok(())
    }
}
