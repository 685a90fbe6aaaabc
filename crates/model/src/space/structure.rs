//! The valid configurations as a structure: counted, drawn from and looked up without being listed.
//!
//! In goes a problem, out come [`Configurations`]: for each parameter the values that it may have,
//! and relations over a few parameters each that say which combinations the domains, the
//! constraints and the launch allow. Eliminating the parameters in sequence gives the exact
//! number of valid configurations, the k-th of them, and which values any few parameters take
//! together, in time that depends on how the conditions hang together and not on how many
//! configurations there are.
//!
//! A choice for which no condition is false, but some has no value, is a fault of the problem.
//!
//! A condition over too many parameters or too large domains, whose combinations cannot be
//! tabulated is kept apart ([`Configurations::is_complete`]): then the structure contains what may
//! be valid, not what is.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use itertools::Itertools;
use num_bigint::BigUint;
use rayon::prelude::*;
use tickbound_elimination::{Least, Network, Relation, SolutionCount, TableLimits, TooWide, Tree};

use super::conditions::{Condition, Holds};
use super::list::{Bound, Configuration};
use crate::error::ModelError;
use crate::launch_rule::LaunchLimit;
use crate::problem::Problem;
use tickbound_expr::Slot;
use tickbound_expr::interval::Interval;

/// Most combinations that are examined for one relation.
pub(super) const MAX_VISITS: u64 = 20_000_000;

/// Rows whose costs one thread computes.
const CHUNK: usize = 256;
/// Rows whose costs are computed together.
const BATCH: usize = 16 * CHUNK;

/// Most choices that are drawn for one configuration where they cannot be counted.
const MAX_DRAWS: usize = 100;

/// The valid configurations of a problem.
#[derive(Debug, Clone)]
pub struct Configurations<'p> {
    pub(super) problem: &'p Problem,
    /// For each parameter its values that conditions on it alone allow.
    pub(super) values: Vec<Vec<i64>>,
    pub(super) network: Network,
    pub(super) conditions: Vec<Condition>,
    /// Conditions that are no relation of the network.
    pub(super) wide: Vec<usize>,
    /// Conditions that exclude something which those before them allow.
    pub(super) excluding: BTreeSet<usize>,
    pub(super) counted: Option<Tree<SolutionCount>>,
    pub(super) projections: Arc<Mutex<Projections>>,
}

/// What a scope's combinations are filtered by while they are enumerated.
type Filters = Vec<Vec<Arc<Relation>>>;

/// Relations of the network, by number, onto some of their parameters.
type Projections = HashMap<(usize, Vec<usize>), Arc<Relation>>;

impl<'p> Configurations<'p> {
    /// One of the structure's first configurations without a value, and what has none.
    pub(super) fn without_value(&self) -> Option<String> {
        let conditions = self.problem.conditions().ok()?;
        let limits = TableLimits::default();
        conditions.iter().filter(|c| c.limited_by() == Some(LaunchLimit::NoValue)).find_map(|c| {
            self.representatives(&c.parameters, &limits)?.iter().find_map(|configuration| {
                let mut env = self.problem.base_env();
                let first = self.problem.first_parameter();
                env[first..first + configuration.0.len()].copy_from_slice(&configuration.0);
                c.without_value(self.problem, &env)
            })
        })
    }

    /// The problem.
    pub fn problem(&self) -> &'p Problem {
        self.problem
    }

    /// For each parameter the values that conditions on it alone allow; solutions index these.
    pub fn values(&self) -> &[Vec<i64>] {
        &self.values
    }

    /// The same in increasing order.
    pub fn sorted_values(&self) -> Vec<Vec<i64>> {
        let mut all = self.values.clone();
        all.iter_mut().for_each(|values| values.sort_unstable());
        all
    }

    /// The conditions as relations over the parameters.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// All conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// True if every condition is a relation of the network.
    pub fn is_complete(&self) -> bool {
        self.wide.is_empty()
    }

    /// How many valid configurations there are; `None` if conditions share too much to be counted.
    pub fn count(&self) -> Option<BigUint> {
        let tree = self.counted.as_ref()?;
        Some(tree.total().map_or_else(BigUint::default, BigUint::from))
    }

    /// The valid configuration with this number, in an order that the problem fixes; `None` if
    /// there are not this many, or they cannot be counted.
    pub fn nth(&self, number: &BigUint) -> Option<Configuration> {
        self.counted.as_ref()?.solution(number).map(|indices| self.configuration(&indices))
    }

    /// The first valid configuration in the order of the domains, the first parameter's counting
    /// most; `None` if there is none, or the conditions hang together too widely.
    pub fn first(&self) -> Option<Configuration> {
        let limits = TableLimits::default();
        let mut network = self.network.clone();
        let mut indices = Vec::new();
        for place in 0..self.values.len() {
            let row = network.eliminated::<Least>(&[place], &limits).ok()?.root(&limits).ok()?;
            let value = row.sorted().first()?.0[0];
            let mut fixed = Relation::new(network.scope(&[place]).ok()?);
            fixed.insert(u128::from(value), 0);
            network.add(fixed);
            indices.push(value);
        }
        Some(self.configuration(&indices)).filter(|_| self.is_complete())
    }

    /// A configuration that is as likely as any other, chosen by random 32-bit numbers; `None` if
    /// there are none, or they cannot be counted and few choices are valid.
    pub fn random(&self, random: &mut dyn FnMut() -> u32) -> Option<Configuration> {
        if self.counted.is_none() {
            return (0..MAX_DRAWS).find_map(|_| self.drawn(random));
        }
        let count = self.count().filter(|n| *n > BigUint::default())?;
        // 64 bits more than needed: the remainder favours no number by more than 2^-64.
        let digits = count.bits().div_ceil(32) + 2;
        let number = BigUint::new((0..digits).map(|_| random()).collect()) % count;
        self.nth(&number)
    }

    /// A choice of a value for each parameter by itself, if it is valid.
    fn drawn(&self, random: &mut dyn FnMut() -> u32) -> Option<Configuration> {
        let mut index = |values: &Vec<i64>| random().checked_rem(values.len() as u32);
        let indices: Vec<u32> = self.values.iter().map(&mut index).collect::<Option<_>>()?;
        let is_row = self.network.relations().iter().all(|r| r.at(&indices).is_some());
        (is_row && self.allows(&indices)).then(|| self.configuration(&indices))
    }

    /// The configuration that a solution of the network represents.
    pub fn configuration(&self, indices: &[u32]) -> Configuration {
        let values = indices.iter().zip(&self.values);
        Configuration(values.map(|(i, values)| values[*i as usize]).collect())
    }

    /// The values of all slots for a configuration, and its launch.
    ///
    /// # Errors
    /// It is not valid.
    pub fn bind(&self, configuration: &Configuration) -> Result<Bound, ModelError> {
        self.problem.bind_configuration(configuration)
    }

    /// True if the conditions that are no relation hold for a solution of the network.
    pub fn allows(&self, indices: &[u32]) -> bool {
        let mut env = self.problem.base_env();
        self.put(indices, &mut env);
        let holds = |c: &usize| self.conditions[*c].outcome(self.problem, &env) != Holds::No;
        self.wide.iter().all(holds)
    }

    /// True if no choice whose slots lie in `of` is valid.
    pub fn excludes(&self, of: &[Interval]) -> bool {
        self.conditions.iter().any(|c| c.surely_fails(self.problem, of))
    }

    /// Writes the values of a solution into their slots.
    pub fn put(&self, indices: &[u32], env: &mut [i64]) {
        let first = self.problem.first_parameter();
        for (place, index) in indices.iter().enumerate() {
            env[first + place] =
                self.values[place].get(*index as usize).copied().unwrap_or_default();
        }
    }

    /// Which values some parameters take together in valid configurations.
    ///
    /// # Errors
    /// There are too many combinations, here or on the way.
    pub fn projected(
        &self,
        parameters: &[usize],
        limits: &TableLimits<'_>,
    ) -> Result<Relation<Least>, TooWide> {
        self.network.eliminated::<Least>(parameters, limits)?.root(limits)
    }

    /// For each combination of some parameters' values in valid configurations one configuration
    /// that has it, in the order of the domains; `None` if there are too many, at a stop, or if the
    /// structure is not [complete](Configurations::is_complete).
    pub fn representatives(
        &self,
        parameters: &[usize],
        limits: &TableLimits<'_>,
    ) -> Option<Vec<Configuration>> {
        self.representatives_in(&self.network, parameters, limits)
    }

    /// The same of those configurations in which the parameters `of` have one of the combinations
    /// of values `allowed`; without parameters there is one combination, the empty one.
    pub fn representatives_among(
        &self,
        (of, allowed): (&[usize], &BTreeSet<Vec<i64>>),
        parameters: &[usize],
        limits: &TableLimits<'_>,
    ) -> Option<Vec<Configuration>> {
        let first = self.problem.first_parameter();
        let own = |env: &[i64]| of.iter().map(|p| env[first + p]).collect::<Vec<i64>>();
        let relation =
            self.relation(of, limits, || |_, env| allowed.contains(&own(env)).then_some(0));
        let relation = relation.ok()?;
        if relation.is_empty() {
            return Some(Vec::new());
        }
        if of.is_empty() {
            return self.representatives(parameters, limits);
        }
        let mut network = self.network.clone();
        network.add(relation);
        self.representatives_in(&network, parameters, limits)
    }

    fn representatives_in(
        &self,
        network: &Network,
        parameters: &[usize],
        limits: &TableLimits<'_>,
    ) -> Option<Vec<Configuration>> {
        if !self.is_complete() {
            return None;
        }
        let tree = network.eliminated::<Least>(parameters, limits).ok()?;
        let root = tree.root(limits).ok()?;
        let mut all = Vec::with_capacity(root.len());
        for (row, _) in root.sorted() {
            let mut indices = vec![0; self.values.len()];
            root.scope().variables().iter().zip(row).for_each(|(p, index)| indices[*p] = index);
            // An exact tree completes all that its root has.
            let is_stopped = all.len().is_multiple_of(4096) && (limits.stop)();
            if is_stopped || !tree.complete(&mut indices) {
                return None;
            }
            all.push(self.configuration(&indices));
        }
        Some(all)
    }

    /// The number of combinations of those of some parameters that no condition mentions: a
    /// relation over them has at least as many rows, if there is any configuration.
    pub fn free_combinations(&self, parameters: &[usize]) -> usize {
        let relations = self.network.relations();
        let is_free = |p: &&usize| !relations.iter().any(|r| r.scope().has(**p));
        let sizes = parameters.iter().filter(is_free).map(|p| self.values[*p].len());
        sizes.fold(1, usize::saturating_mul)
    }

    /// A relation over some parameters: of the combinations that the conditions allow, where
    /// these parameters decide, those to which `cost()` gives a cost, given their indices and the
    /// values of all slots. Each thread has its own `cost()`; in a thread pool there is one.
    ///
    /// # Errors
    /// There are too many combinations.
    pub fn relation<C>(
        &self,
        parameters: &[usize],
        limits: &TableLimits<'_>,
        cost: impl Fn() -> C + Sync,
    ) -> Result<Relation, TooWide>
    where
        C: FnMut(&[u32], &[i64]) -> Option<i64>,
    {
        let filters = self.filters(parameters)?;
        let mut relation = Relation::new(self.network.scope(parameters)?);
        let mut batch: Vec<(Vec<u32>, Vec<i64>)> = Vec::new();
        let mut insert = |batch: &mut Vec<(Vec<u32>, Vec<i64>)>| {
            let of_rows = |rows: &[(Vec<u32>, Vec<i64>)]| {
                let mut cost = cost();
                rows.iter().map(|(indices, env)| cost(indices, env)).collect::<Vec<_>>()
            };
            // A thread of the pool that waits for others takes up other work of its caller, and
            // that may in turn wait for this relation.
            let alone = batch.len() <= CHUNK || rayon::current_thread_index().is_some();
            let costs: Vec<Option<i64>> = match alone {
                true => of_rows(batch),
                false => batch.par_chunks(CHUNK).flat_map_iter(of_rows).collect(),
            };
            for ((indices, _), cost) in batch.drain(..).zip(costs) {
                if let Some(cost) = cost {
                    relation.insert(relation.scope().key(&indices), cost);
                }
            }
            relation.len() <= limits.rows && !(limits.stop)()
        };
        let walked = self.enumerate(parameters, &filters, &mut |indices, env| {
            batch.push((indices.to_vec(), env.to_vec()));
            batch.len() < BATCH || insert(&mut batch)
        });
        if walked.is_ok() && insert(&mut batch) {
            return Ok(relation);
        }
        Err(if (limits.stop)() { TooWide::Stopped } else { TooWide::Rows(limits.rows) })
    }

    /// The relations of the network that restrict a few parameters, by the last that each mentions.
    pub(super) fn filters(&self, parameters: &[usize]) -> Result<Filters, TooWide> {
        let mut filters: Filters = vec![Vec::new(); parameters.len()];
        for (number, relation) in self.network.relations().iter().enumerate() {
            let scope = relation.scope();
            let shared: Vec<usize> = parameters.iter().copied().filter(|p| scope.has(*p)).collect();
            let Some(last) = shared.last() else { continue };
            let at = parameters.iter().position(|p| p == last).unwrap_or_default();
            let all = shared.len() == scope.variables().len();
            filters[at].push(if all { relation.clone() } else { self.projection(number, shared)? });
        }
        Ok(filters)
    }

    fn projection(&self, number: usize, onto: Vec<usize>) -> Result<Arc<Relation>, TooWide> {
        let scope = self.network.scope(&onto)?;
        let mut known = self.projections.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(self.network.relations()[number].onto(&scope));
        Ok(known.entry((number, onto)).or_insert_with(make).clone())
    }

    /// Two relations as one over the parameters of both: the combinations that the conditions
    /// allow, where these parameters decide, with the costs that `with` makes of theirs.
    ///
    /// # Errors
    /// There are too many combinations.
    pub fn combined(
        &self,
        [a, b]: [&Relation; 2],
        with: impl Fn(i64, i64) -> i64,
        limits: &TableLimits<'_>,
    ) -> Result<Relation, TooWide> {
        let both = a.scope().variables().iter().chain(b.scope().variables()).copied();
        let parameters: Vec<usize> = both.sorted_unstable().dedup().collect();
        let mut filters: Vec<Arc<Relation>> = self.filters(&parameters)?.concat();
        // What one of the two decides it has decided.
        filters.retain(|f| !a.scope().covers(f.scope()) && !b.scope().covers(f.scope()));
        self.network.combined([a, b], &filters, with, limits)
    }

    /// Calls `each` with combinations that pass the filters, as indices and slots, until false.
    pub(super) fn enumerate(
        &self,
        parameters: &[usize],
        filters: &Filters,
        each: &mut dyn FnMut(&[u32], &[i64]) -> bool,
    ) -> Result<(), ()> {
        let mut walk = Walk {
            all: self,
            parameters,
            filters,
            indices: vec![0; self.values.len()],
            env: self.problem.base_env(),
            visits: 0,
        };
        walk.go(0, each)
    }

    /// The least and the greatest value of each slot.
    pub fn intervals(&self) -> Vec<Interval> {
        let point = |v: &i64| Interval { low: *v, high: *v };
        let mut all: Vec<Interval> = self.problem.base_env().iter().map(point).collect();
        let first: Slot = self.problem.first_parameter();
        for (place, values) in self.values.iter().enumerate() {
            if let (Some(low), Some(high)) = (values.iter().min(), values.iter().max()) {
                all[first + place] = Interval { low: *low, high: *high };
            }
        }
        all
    }
}

/// Enumerates the combinations of a few parameters.
struct Walk<'a, 'p> {
    all: &'a Configurations<'p>,
    parameters: &'a [usize],
    filters: &'a Filters,
    indices: Vec<u32>,
    env: Vec<i64>,
    visits: u64,
}

impl Walk<'_, '_> {
    fn go(&mut self, depth: usize, each: &mut dyn FnMut(&[u32], &[i64]) -> bool) -> Result<(), ()> {
        let Some(place) = self.parameters.get(depth).copied() else {
            return if each(&self.indices, &self.env) { Ok(()) } else { Err(()) };
        };
        let slot = self.all.problem.first_parameter() + place;
        for (index, value) in self.all.values[place].iter().enumerate() {
            self.visits += 1;
            if self.visits > MAX_VISITS {
                return Err(());
            }
            self.indices[place] = index as u32;
            self.env[slot] = *value;
            if self.filters[depth].iter().all(|r| r.at(&self.indices).is_some()) {
                self.go(depth + 1, each)?;
            }
        }
        Ok(())
    }
}
