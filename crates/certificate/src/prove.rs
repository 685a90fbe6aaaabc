//! Finding a proof by local inequalities: eliminating the parameters from the obligation.
//!
//! Each part of the run time becomes a relation over its parameters, and so does each condition.
//! What elimination leaves, its messages, is the proof. Nothing here need be right:
//! [`crate::inequalities`] checks what comes out.

use std::collections::HashMap;

use tickbound_elimination::{Least, Network, Relation, TableLimits, TooWide, Tree};

use crate::inequalities::{Cluster, InequalityProof, at_the_end, parts};
use crate::refusal::Refusal;
use crate::walk::Walk;
use tickbound_timing::obligation::{Obligation, TimePart};

/// Most rows of one relation or message.
pub const MAX_ROWS: usize = 1 << 21;

/// A proof of the least time; `by_group` is its form
/// ([`InequalityProof::by_group`]). No relation and no message has more than `rows` rows.
///
/// # Errors
/// Relations that are too large, an expression without a value for some choice of a few parameters,
/// a stop.
pub fn prove(
    obligation: &Obligation<'_>,
    by_group: bool,
    rows: usize,
    stop: &dyn Fn() -> bool,
) -> Result<InequalityProof, Refusal> {
    let parts = parts(obligation, by_group);
    let sizes = obligation.values.iter().map(|v| u32::try_from(v.len()).unwrap_or(u32::MAX));
    let mut network = Network::new(sizes.collect());
    for part in &parts {
        network.add(relation(obligation, &network, &part.parameters, Some(part), rows, stop)?);
    }
    for condition in &obligation.conditions {
        let mut over = condition.parameters.clone();
        over.sort_unstable();
        over.dedup();
        network.add(relation(obligation, &network, &over, None, rows, stop)?);
    }
    let kept = at_the_end(obligation, by_group);
    let limits = TableLimits { rows, divide: false, stop };
    let tree: Tree<Least> = network.eliminated(&kept, &limits).map_err(too_wide)?;
    Ok(InequalityProof { by_group, clusters: clusters(obligation, parts.len(), &tree) })
}

/// What a part costs, or 0, for each choice of some parameters that no condition excludes.
fn relation(
    obligation: &Obligation<'_>,
    network: &Network,
    over: &[usize],
    part: Option<&TimePart>,
    rows: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Relation, Refusal> {
    let mut relation = Relation::new(network.scope(over).map_err(too_wide)?);
    Walk::new(obligation, over, stop).all(&mut |env, indices| {
        let cost = part.map_or(Ok(0), |part| part.value(env))?;
        let cost = i64::try_from(cost).map_err(|_| Refusal::TooLarge("a part beyond 63 bits"))?;
        relation.insert(relation.scope().key(indices), cost);
        match relation.len() > rows {
            true => Err(Refusal::TooLarge("a part or a condition over too many choices")),
            false => Ok(()),
        }
    })?;
    Ok(relation)
}

/// The joins of an elimination as clusters. Conditions have no part in them: they hold for every
/// choice anyway.
fn clusters(obligation: &Obligation<'_>, parts: usize, tree: &Tree<Least>) -> Vec<Cluster> {
    let name = |p: &usize| obligation.problem.parameters[*p].name.clone();
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut all = Vec::new();
    for (joined, made) in tree.joins() {
        let Some(message) = tree.relation(made) else { continue };
        let relations = joined.iter().filter_map(|r| tree.relation(*r));
        let mut over: Vec<usize> = relations.flat_map(|r| r.scope().variables()).copied().collect();
        over.sort_unstable();
        over.dedup();
        let to = message.scope().variables();
        let values = |row: Vec<u32>| {
            to.iter().zip(row).map(|(p, i)| obligation.values[*p][i as usize]).collect()
        };
        all.push(Cluster {
            over: over.iter().map(name).collect(),
            parts: joined.iter().copied().filter(|r| *r < parts).collect(),
            messages: joined.iter().filter_map(|r| numbers.get(r)).copied().collect(),
            to: to.iter().map(name).collect(),
            rows: message.sorted().into_iter().map(|(row, w)| (values(row), w.0)).collect(),
        });
        numbers.insert(made, all.len() - 1);
    }
    all
}

fn too_wide(why: TooWide) -> Refusal {
    match why {
        TooWide::Stopped => Refusal::Stopped,
        TooWide::Key(_) => Refusal::TooLarge("a message over too many parameters"),
        TooWide::Rows(_) => Refusal::TooLarge("a message of too many rows"),
    }
}
