//! How the run time is divided among tables over a few parameters.
//!
//! In goes an obligation and the clusters of an elimination, out come their tables: for each choice
//! of a cluster's parameters that no condition excludes, what the parts of the run time come to
//! that it takes. Every part is in one table, and every condition within one, so the tables
//! together state the problem. Any clusters for which this holds will do: which ones they
//! are need not be trusted.

use itertools::Itertools;
use serde::{Deserialize, Serialize};

use crate::inequalities::{self, InequalityProof};
use crate::refusal::Refusal;
use crate::walk::Walk;
use tickbound_timing::obligation::{Obligation, TimePart};

/// Most rows of all tables together.
pub const MAX_FORMULA_ROWS: usize = 20_000;

/// One cluster, by the numbers of parameters, parts and clusters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterShape {
    /// Its parameters, in increasing order.
    pub over: Vec<usize>,
    /// The parts of the run time that it takes.
    pub parts: Vec<usize>,
    /// The earlier clusters that it agrees with, each on that one's `to`.
    pub messages: Vec<usize>,
    /// The parameters on which a later cluster agrees with it.
    pub to: Vec<usize>,
}

/// The shapes of a proof's clusters.
///
/// # Errors
/// The proof is of a group, or names a parameter that there is not.
pub fn shapes(
    obligation: &Obligation<'_>,
    proof: &InequalityProof,
) -> Result<Vec<ClusterShape>, Refusal> {
    if proof.by_group {
        return Err(Refusal::wrong("the clusters of a group do not make up the launch"));
    }
    let problem = obligation.problem;
    let place = |name: &String| {
        let place = problem.parameters.iter().position(|p| p.name == *name);
        place.ok_or_else(|| Refusal::wrong(format!("there is no parameter {name}")))
    };
    let places = |names: &[String]| names.iter().map(place).collect::<Result<Vec<usize>, _>>();
    let shape = |c: &inequalities::Cluster| {
        let (parts, messages) = (c.parts.clone(), c.messages.clone());
        Ok(ClusterShape { over: places(&c.over)?, parts, messages, to: places(&c.to)? })
    };
    proof.clusters.iter().map(shape).collect()
}

/// The tables of some clusters.
#[derive(Debug, Clone)]
pub struct ClusterTables {
    /// The clusters.
    pub shapes: Vec<ClusterShape>,
    /// For each cluster its rows: the numbers of the values of its parameters, and ticks.
    pub rows: Vec<Vec<(Vec<u32>, i64)>>,
    /// Ticks that depend on nothing.
    pub constant: i64,
}

impl ClusterTables {
    /// The tables of an obligation, with at most `limit` rows.
    ///
    /// # Errors
    /// The clusters leave out a part or a condition, a table is too large, a part has no value, or
    /// a stop.
    pub fn new(
        obligation: &Obligation<'_>,
        shapes: Vec<ClusterShape>,
        limit: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<ClusterTables, Refusal> {
        let parts = inequalities::parts(obligation, false);
        complete(obligation, &parts, &shapes)?;
        let mut count = 0;
        let mut rows = Vec::new();
        for shape in &shapes {
            let mut own = Vec::new();
            Walk::new(obligation, &shape.over, stop).all(&mut |env, indices| {
                let taken = shape.parts.iter().map(|p| &parts[*p]);
                let choice = shape.over.iter().map(|p| indices[*p]).collect();
                own.push((choice, ticks(taken, env)?));
                count += 1;
                match count > limit {
                    true => Err(Refusal::TooLarge("tables of too many rows for a formula")),
                    false => Ok(()),
                }
            })?;
            rows.push(own);
        }
        let taken: Vec<usize> = shapes.iter().flat_map(|s| &s.parts).copied().collect();
        let rest = parts.iter().enumerate().filter(|(i, _)| !taken.contains(i)).map(|(_, p)| p);
        let constant = ticks(rest, &obligation.problem.base_env())?;
        Ok(ClusterTables { shapes, rows, constant })
    }

    /// The choice of some of a cluster's parameters, in a row of it.
    pub fn choice(&self, cluster: usize, row: &[u32], of: &[usize]) -> Vec<u32> {
        let over = self.shapes[cluster].over.iter().zip(row);
        over.filter(|(p, _)| of.contains(p)).map(|(_, index)| *index).collect()
    }

    /// The choices of its `to` that a cluster, or one that agrees with it, has a row for; none if
    /// it agrees with no other.
    pub fn agreed(&self, cluster: usize) -> Vec<Vec<u32>> {
        let Some(other) = self.later(cluster) else { return Vec::new() };
        let to = &self.shapes[cluster].to;
        let of = |c: usize| self.rows[c].iter().map(move |(row, _)| self.choice(c, row, to));
        of(cluster).chain(of(other)).sorted().dedup().collect()
    }

    /// The later cluster that agrees with one on its `to`, unless that is nothing.
    pub fn later(&self, cluster: usize) -> Option<usize> {
        let other = self.shapes.iter().position(|s| s.messages.contains(&cluster));
        other.filter(|_| !self.shapes[cluster].to.is_empty())
    }
}

/// What parts come to.
fn ticks<'a>(parts: impl Iterator<Item = &'a TimePart>, env: &[i64]) -> Result<i64, Refusal> {
    let mut sum = 0i128;
    for part in parts {
        sum = sum.saturating_add(part.value(env)?);
    }
    i64::try_from(sum).map_err(|_| Refusal::TooLarge("a part beyond 63 bits"))
}

/// That clusters take every part once, and every condition is within one.
fn complete(
    obligation: &Obligation<'_>,
    parts: &[TimePart],
    shapes: &[ClusterShape],
) -> Result<(), Refusal> {
    let wrong = |what: String| Err(Refusal::wrong(format!("clusters: {what}")));
    let mut taken = vec![false; parts.len()];
    for (number, shape) in shapes.iter().enumerate() {
        let known = |p: &usize| *p < obligation.values.len();
        if !shape.over.iter().all(known) || !shape.over.is_sorted_by(|a, b| a < b) {
            return wrong(format!(
                "the parameters of {number} are not in the order of the problem"
            ));
        }
        if !shape.to.iter().all(|p| shape.over.contains(p)) || !shape.to.is_sorted_by(|a, b| a < b)
        {
            return wrong(format!("{number} agrees on parameters that it does not have"));
        }
        for p in &shape.parts {
            match parts.get(*p) {
                Some(part) if part.parameters.iter().all(|p| shape.over.contains(p)) => {}
                _ => return wrong(format!("{number} takes part {p}, which it cannot")),
            }
            if std::mem::replace(&mut taken[*p], true) {
                return wrong(format!("part {p} is taken twice"));
            }
        }
        for m in &shape.messages {
            let earlier = shapes[..number].get(*m);
            if earlier.is_none_or(|e| !e.to.iter().all(|p| shape.over.contains(p))) {
                return wrong(format!("{number} cannot agree with {m}"));
            }
        }
    }
    if !shapes.iter().flat_map(|s| &s.messages).all_unique() {
        return wrong("two agree with the same one".into());
    }
    let left = |(p, taken): (&TimePart, &bool)| !taken && !p.parameters.is_empty();
    if let Some(p) = parts.iter().zip(&taken).position(left) {
        return wrong(format!("no cluster takes part {p}"));
    }
    let within = |of: &[usize]| shapes.iter().any(|s| of.iter().all(|p| s.over.contains(p)));
    match obligation.conditions.iter().find(|c| !c.parameters.is_empty() && !within(&c.parameters))
    {
        Some(condition) => wrong(format!("no cluster has {}", condition.at)),
        None => Ok(()),
    }
}
