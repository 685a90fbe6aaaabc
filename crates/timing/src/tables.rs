//! The factors of a cost over their parameters, as relations.
//!
//! A product that depends on few parameters becomes a relation: a row for each of their
//! combinations that the conditions of the space allow, where these parameters decide. A
//! parameter on which none of its rows depends is dropped. A product over too many combinations
//! stays out; its least value over the whole box represents it, and the tables are then a lower
//! bound ([`CostTables::is_exact`]).
//!
//! A configuration for which some expression has no value costs [`Least::FAILS`], which is below
//! everything, so that a search for the least cost meets it.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_elimination::{Least, Network, Relation, TableLimits, TooWide, Weight};
use tickbound_expr::interval::Interval;
use tickbound_model::Problem;
use tickbound_model::space::Configurations;

use super::factored::{FactorProduct, FactoredSum, ProductValues};
use crate::cost::Cost;
use crate::term::Term;

/// A cost in tables.
#[derive(Debug, Clone)]
pub struct CostTables {
    /// The conditions of the space, and the products of the sum as relations with costs.
    pub network: Network,
    /// How many relations of the network are conditions; the others carry costs.
    pub conditions: usize,
    /// The parameters of the scale and of the offset.
    pub kept: Vec<usize>,
    /// What does not depend on the parameters that are eliminated.
    pub normal: FactoredSum,
    /// Added to the sum: what the products are known to cost at least that are no relation.
    pub floor: i64,
    exact: bool,
}

impl CostTables {
    /// Tabulates one normal form of a cost.
    ///
    /// # Errors
    /// A scale over too many combinations, or that may be 0, or a stop.
    pub fn new(
        configurations: &Configurations<'_>,
        cost: &Cost,
        normal: FactoredSum,
        limits: &TableLimits<'_>,
    ) -> Result<CostTables, TooWide> {
        let problem = configurations.problem();
        let kept = normal.kept(problem);
        let network = configurations.network().clone();
        let conditions = network.relations().len();
        let exact = cost.is_exact() && configurations.is_complete();
        let mut tables = CostTables { network, conditions, kept, normal, floor: 0, exact };
        if !tables.scale_is_positive(configurations, limits)? {
            return Err(TooWide::Rows(limits.rows));
        }
        let mut relations: Vec<Relation> = Vec::new();
        for product in tables.merged(problem) {
            match tables.relation(configurations, &product, limits) {
                Ok(relation) if relation.scope().variables().is_empty() => {
                    let least = relation.rows().next().map_or(0, |(_, cost)| *cost);
                    tables.floor = added(tables.floor, least);
                }
                Ok(relation) => relations.push(relation),
                Err(why) if why == TooWide::Stopped || !limits.divide => return Err(why),
                Err(_) => {
                    tables.exact = false;
                    tables.floor = added(tables.floor, least(configurations, &product));
                }
            }
        }
        relations.into_iter().for_each(|r| tables.network.add(r));
        Ok(tables)
    }

    /// True if the tables say what each configuration costs; otherwise what it costs at least.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The ticks of a configuration, given the values of all slots and its sum without
    /// [`CostTables::floor`].
    pub fn ticks(&self, env: &[i64], sum: i64) -> i64 {
        if sum == Least::FAILS.0 || self.floor == Least::FAILS.0 {
            return Least::FAILS.0;
        }
        let mut ticks = match self.normal.scale.value(env) {
            Ok(scale) => scale.saturating_mul(sum.saturating_add(self.floor)),
            Err(_) => return Least::FAILS.0,
        };
        for product in &self.normal.offset {
            match product.value(env) {
                Ok(more) => ticks = ticks.saturating_add(more),
                Err(_) => return Least::FAILS.0,
            }
        }
        ticks
    }

    /// With a scale of 0 the sum would not matter, nor whether it has a value.
    fn scale_is_positive(
        &self,
        configurations: &Configurations<'_>,
        limits: &TableLimits<'_>,
    ) -> Result<bool, TooWide> {
        let scale = self.normal.scale.parameters(configurations.problem());
        let free = configurations.free_combinations(&scale);
        if free > limits.rows {
            return Err(TooWide::Rows(free));
        }
        let positive = configurations.relation(&scale, limits, || {
            |_, env| Some(i64::from(self.normal.scale.value(env).is_ok_and(|v| v > 0)))
        })?;
        Ok(positive.rows().all(|(_, positive)| *positive == 1))
    }

    /// The products of the sum, those over the same parameters together.
    fn merged(&self, problem: &Problem) -> Vec<Vec<FactorProduct>> {
        let mut all: IndexMap<Vec<usize>, Vec<FactorProduct>> = IndexMap::new();
        for product in &self.normal.sum {
            all.entry(product.parameters(problem)).or_default().push(product.clone());
        }
        let groups = all.into_iter().map(|(parameters, group)| {
            // Where a sum takes all parameters, products have smaller tables on the way.
            let narrow = |sum: &Term| sum.parameters(problem).len() < parameters.len();
            group.into_iter().coalesce(|a, b| joined(a, b, narrow)).collect()
        });
        groups.collect()
    }

    fn relation(
        &self,
        configurations: &Configurations<'_>,
        products: &[FactorProduct],
        limits: &TableLimits<'_>,
    ) -> Result<Relation, TooWide> {
        let problem = configurations.problem();
        let parameters = products.first().map_or(Vec::new(), |p| p.parameters(problem));
        let free = configurations.free_combinations(&parameters);
        if free > limits.rows {
            return Err(TooWide::Rows(free));
        }
        let mut factors = products.iter().flat_map(|p| &p.0);
        // Where one factor takes all parameters, all combinations are examined anyway: once, then.
        if factors.any(|factor| factor.parameters(problem).len() == parameters.len()) {
            let value = || {
                let mut values: Vec<_> = products.iter().map(ProductValues::new).collect();
                move |_: &[u32], env: &[i64]| {
                    let all = values.iter_mut().map(|own| own.value(env));
                    Some(all.map(|value| value.unwrap_or(Least::FAILS.0)).fold(0, added))
                }
            };
            return Ok(self.network.reduced(configurations.relation(
                &parameters,
                limits,
                value,
            )?));
        }
        let mut sum: Option<Relation> = None;
        for product in products {
            let own = self.product(configurations, product, limits)?;
            sum = Some(match sum {
                None => own,
                Some(sum) => self.combined(configurations, &sum, &own, added, limits)?,
            });
        }
        sum.map_or_else(|| Ok(Relation::new(self.network.scope(&[])?)), Ok)
    }

    /// A product as a relation, factor by factor: after each the parameters are dropped that no
    /// longer matter, so that seldom all of them are there at once.
    fn product(
        &self,
        configurations: &Configurations<'_>,
        product: &FactorProduct,
        limits: &TableLimits<'_>,
    ) -> Result<Relation, TooWide> {
        let problem = configurations.problem();
        let mut all = configurations.relation(&[], limits, || |_, _| Some(1))?;
        for factor in &product.0 {
            let parameters = factor.parameters(problem);
            let value =
                || |_: &[u32], env: &[i64]| Some(factor.value(env).unwrap_or(Least::FAILS.0));
            let own = self.network.reduced(configurations.relation(&parameters, limits, value)?);
            all = self.combined(configurations, &all, &own, multiplied, limits)?;
        }
        Ok(all)
    }

    /// Two relations as one over the parameters of both.
    fn combined(
        &self,
        configurations: &Configurations<'_>,
        a: &Relation,
        b: &Relation,
        with: fn(i64, i64) -> i64,
        limits: &TableLimits<'_>,
    ) -> Result<Relation, TooWide> {
        Ok(self.network.reduced(configurations.combined([a, b], with, limits)?))
    }
}

/// Most products that are joined to one.
const MAX_JOINED: usize = 64;

/// Two products that begin alike as one whose last factor is a sum, if that is `narrow`.
fn joined(
    mut a: FactorProduct,
    b: FactorProduct,
    narrow: impl Fn(&Term) -> bool,
) -> Result<FactorProduct, (FactorProduct, FactorProduct)> {
    let alike = a.0.iter().zip(&b.0).take_while(|(a, b)| a == b).count();
    let mut parts = match &a.0[alike..] {
        [Term::Sum(parts)] => parts.clone(),
        rest => vec![Term::Product(rest.to_vec())],
    };
    parts.push(Term::Product(b.0[alike..].to_vec()));
    let (parts, sum) = (parts.len(), Term::Sum(parts));
    if alike == 0 || parts > MAX_JOINED || !narrow(&sum) {
        return Err((a, b));
    }
    a.0.truncate(alike);
    a.0.push(sum);
    Ok(a)
}

/// What some products come to at least, over the whole box of values.
fn least(configurations: &Configurations<'_>, products: &[FactorProduct]) -> i64 {
    let of: Vec<Interval> = configurations.intervals();
    let one = |p: &FactorProduct| Term::Product(p.0.clone()).least(&of).unwrap_or(Least::FAILS.0);
    products.iter().map(one).fold(0, added)
}

/// A sum that stays without a value once it is, and beyond 63 bits once it is there.
fn added(a: i64, b: i64) -> i64 {
    Least(a).times(&Least(b)).0
}

/// A product that is 0 once it is, and without a value once it is that.
fn multiplied(a: i64, b: i64) -> i64 {
    match (a, b) {
        (0, _) => 0,
        (a, b) if a == Least::FAILS.0 || b == Least::FAILS.0 => Least::FAILS.0,
        (a, b) => a.saturating_mul(b),
    }
}
