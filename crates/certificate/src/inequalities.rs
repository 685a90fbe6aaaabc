//! The proof by local inequalities: its form in a file, and its checker.
//!
//! A [`InequalityProof`] is a list of [`Cluster`]s. Each takes some parts of the run time and some
//! *messages* of earlier clusters, and gives its own message: a table over a few parameters.
//! It claims one inequality for every choice of its parameters: the sum of the parts and messages
//! that it takes is at least the value of its message. A choice without a row is claimed to belong
//! to no valid configuration. Every part and message is taken once.
//!
//! If all these hold, then for every valid configuration the sum of the parts is at least the sum
//! of the messages that no cluster takes. What these come to, for each choice of the parameters
//! that they and the waves are over, must not be below the time claimed; then no configuration
//! takes fewer ticks. (R. Dechter, *Bucket elimination: a unifying framework for reasoning*,
//! Artificial Intelligence 113, 1999: the messages are costs to go.)

use std::collections::HashMap;

use itertools::Itertools;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::walk::Walk;
use tickbound_timing::obligation::{Obligation, Time, TimePart};

/// A proof that no configuration takes fewer ticks than claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InequalityProof {
    /// True if the parts are those of a group, and its time is multiplied by the waves at the end;
    /// otherwise the waves are a factor of each part, and the end of the program is a part too.
    pub by_group: bool,
    /// The clusters, in an order in which each takes messages of earlier ones.
    pub clusters: Vec<Cluster>,
}

/// Some parts and messages, and what they come to at least.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// The parameters of its choices.
    pub over: Vec<String>,
    /// The parts that it takes, by number.
    pub parts: Vec<usize>,
    /// The messages that it takes, by the number of their cluster.
    pub messages: Vec<usize>,
    /// The parameters of its message: some of `over`.
    pub to: Vec<String>,
    /// The message: values of the parameters `to`, and what the sum is at least.
    pub rows: Vec<(Vec<i64>, i64)>,
}

/// What was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckedInequality {
    /// Clusters.
    pub clusters: usize,
    /// Rows of their messages.
    pub rows: usize,
    /// Inequalities.
    pub inequalities: u64,
}

/// The parts of a time, as a proof takes them: those of a group, or those of the whole launch.
pub fn parts(obligation: &Obligation<'_>, by_group: bool) -> Vec<TimePart> {
    let Time { group, .. } = &obligation.time;
    match by_group {
        true => group.clone(),
        false => obligation.time.of_launch(obligation.problem),
    }
}

/// The parameters of what is examined in the end.
pub fn at_the_end(obligation: &Obligation<'_>, by_group: bool) -> Vec<usize> {
    if !by_group {
        return Vec::new();
    }
    let Time { waves, finish, .. } = &obligation.time;
    let of_waves = obligation.problem.parameters_of([waves]);
    of_waves.into_iter().chain(finish.parameters.iter().copied()).sorted().dedup().collect()
}

/// Checks that a proof proves: no valid configuration takes fewer than `time` ticks.
///
/// # Errors
/// The first inequality that does not hold, a part that is missing or taken twice, a stop.
pub fn check(
    obligation: &Obligation<'_>,
    proof: &InequalityProof,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<CheckedInequality, Refusal> {
    let parts = parts(obligation, proof.by_group);
    let mut left = Taken { parts: vec![false; parts.len()], messages: Vec::new() };
    let mut messages: Vec<Message> = Vec::new();
    let mut checked =
        CheckedInequality { clusters: proof.clusters.len(), ..CheckedInequality::default() };
    for (number, cluster) in proof.clusters.iter().enumerate() {
        let at = |what: String| Refusal::wrong(format!("clusters[{number}]: {what}"));
        left.take(cluster).map_err(at)?;
        let message = Message::read(obligation, cluster).map_err(at)?;
        let over = scope(obligation, &cluster.over).map_err(at)?;
        let within = |of: &[usize]| of.iter().all(|p| over.contains(p));
        let taken = cluster.parts.iter().map(|p| &parts[*p].parameters);
        let all = taken.chain(cluster.messages.iter().map(|m| &messages[*m].to));
        if !all.chain([&message.to]).all(|of| within(of)) {
            return Err(at("takes or gives something over other parameters".into()));
        }
        let of_parts: Vec<&TimePart> = cluster.parts.iter().map(|p| &parts[*p]).collect();
        let of_messages: Vec<&Message> = cluster.messages.iter().map(|m| &messages[*m]).collect();
        Walk::new(obligation, &over, stop).all(&mut |env, indices| {
            checked.inequalities += 1;
            let Some(sum) = sum(&of_parts, &of_messages, env, indices)? else { return Ok(()) };
            match message.at(indices) {
                Some(least) if sum >= i128::from(least) => Ok(()),
                least => Err(at(unproved(obligation, &over, env, sum, least))),
            }
        })?;
        checked.rows += cluster.rows.len();
        messages.push(message);
    }
    checked.inequalities += the_end(obligation, proof, (&parts, &messages, &left), time, stop)?;
    Ok(checked)
}

/// Checks what is left: each choice of its parameters takes `time` ticks or more. Returns how many
/// there are.
fn the_end(
    obligation: &Obligation<'_>,
    proof: &InequalityProof,
    (parts, messages, left): (&[TimePart], &[Message], &Taken),
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<u64, Refusal> {
    let over = at_the_end(obligation, proof.by_group);
    let rest = |taken: &[bool]| taken.iter().positions(|taken| !taken).collect::<Vec<usize>>();
    let of_parts: Vec<&TimePart> = rest(&left.parts).into_iter().map(|p| &parts[p]).collect();
    let of_messages: Vec<&Message> =
        rest(&left.messages).into_iter().map(|m| &messages[m]).collect();
    let all = of_parts.iter().map(|p| &p.parameters).chain(of_messages.iter().map(|m| &m.to));
    if let Some(p) = all.flatten().find(|p| !over.contains(p)) {
        let name = &obligation.problem.parameters[*p].name;
        return Err(Refusal::wrong(format!("what is left at the end depends on {name}")));
    }
    let mut choices = 0u64;
    Walk::new(obligation, &over, stop).all(&mut |env, indices| {
        choices += 1;
        let Some(sum) = sum(&of_parts, &of_messages, env, indices)? else { return Ok(()) };
        let ticks = match proof.by_group {
            true => obligation.time.of_group(sum, env)?,
            false => sum,
        };
        match ticks >= i128::from(time) {
            true => Ok(()),
            false => Err(Refusal::wrong(format!(
                "at the end: {ticks} ticks are not excluded{}, but {time} are claimed",
                choice(obligation, &over, env)
            ))),
        }
    })?;
    Ok(choices)
}

/// The sum of parts and messages; `None` if a message excludes the configuration.
fn sum(
    parts: &[&TimePart],
    messages: &[&Message],
    env: &[i64],
    indices: &[u32],
) -> Result<Option<i128>, Refusal> {
    let mut sum = 0i128;
    let beyond = || Refusal::wrong("a sum beyond 127 bits");
    for message in messages {
        let Some(least) = message.at(indices) else { return Ok(None) };
        sum = sum.checked_add(i128::from(least)).ok_or_else(beyond)?;
    }
    for part in parts {
        sum = sum.checked_add(part.value(env)?).ok_or_else(beyond)?;
    }
    Ok(Some(sum))
}

fn unproved(
    obligation: &Obligation<'_>,
    over: &[usize],
    env: &[i64],
    sum: i128,
    least: Option<i64>,
) -> String {
    let choice = choice(obligation, over, env);
    match least {
        Some(least) => format!("{sum} is not at least {least}{choice}"),
        None => format!("no row says what {sum} is at least{choice}"),
    }
}

/// The choice in words, for messages.
fn choice(obligation: &Obligation<'_>, over: &[usize], env: &[i64]) -> String {
    let problem = obligation.problem;
    let value = |p: &usize| env[problem.first_parameter() + p];
    let all = over.iter().map(|p| format!("{}={}", problem.parameters[*p].name, value(p)));
    match over.is_empty() {
        true => String::new(),
        false => format!(" for {}", all.format(", ")),
    }
}

/// Which parts and messages some cluster takes.
struct Taken {
    parts: Vec<bool>,
    messages: Vec<bool>,
}

impl Taken {
    fn take(&mut self, cluster: &Cluster) -> Result<(), String> {
        let once = |taken: Option<&mut bool>, what: &str, number: usize| match taken {
            None => Err(format!("there is no {what} {number}")),
            Some(true) => Err(format!("{what} {number} is taken twice")),
            Some(taken) => {
                *taken = true;
                Ok(())
            }
        };
        for p in &cluster.parts {
            once(self.parts.get_mut(*p), "part", *p)?;
        }
        for m in &cluster.messages {
            once(self.messages.get_mut(*m), "earlier message", *m)?;
        }
        self.messages.push(false);
        Ok(())
    }
}

/// A message with numbers for names and values.
struct Message {
    to: Vec<usize>,
    rows: HashMap<Vec<u32>, i64>,
}

impl Message {
    fn read(obligation: &Obligation<'_>, cluster: &Cluster) -> Result<Message, String> {
        let to = scope(obligation, &cluster.to)?;
        let mut rows = HashMap::with_capacity(cluster.rows.len());
        for (values, least) in &cluster.rows {
            if values.len() != to.len() {
                return Err(format!(
                    "a row of {} values for {} parameters",
                    values.len(),
                    to.len()
                ));
            }
            let indices = to.iter().zip(values).map(|(p, v)| {
                let name = &obligation.problem.parameters[*p].name;
                obligation.index(*p, *v).ok_or_else(|| format!("{name} is never {v}"))
            });
            if rows.insert(indices.collect::<Result<Vec<u32>, String>>()?, *least).is_some() {
                return Err(format!("two rows for {values:?}"));
            }
        }
        Ok(Message { to, rows })
    }

    fn at(&self, indices: &[u32]) -> Option<i64> {
        let key: Vec<u32> = self.to.iter().map(|p| indices[*p]).collect();
        self.rows.get(&key).copied()
    }
}

/// The parameters of these names, which must be in the order of the problem.
fn scope(obligation: &Obligation<'_>, names: &[String]) -> Result<Vec<usize>, String> {
    let (problem, first) = (obligation.problem, obligation.problem.first_parameter());
    let place = |name: &String| {
        let place = problem.scope.slot(name).and_then(|slot| slot.checked_sub(first));
        let place = place.filter(|p| *p < problem.parameters.len());
        place.ok_or_else(|| format!("there is no parameter {name}"))
    };
    let places = names.iter().map(place).collect::<Result<Vec<usize>, String>>()?;
    match places.is_sorted_by(|a, b| a < b) {
        true => Ok(places),
        false => Err("parameters are not in the order of the problem".into()),
    }
}
