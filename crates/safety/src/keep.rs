//! The configurations that are refuted, and conditions on parameters that leave them out.
//!
//! All cases of a refuted obligation are decided, not only those up to the first fault. A condition
//! of a few simple forms that holds for exactly the other ones is more than a list, as it may be
//! the rule that was forgotten: `MWG % (MDIMA * VWM) == 0`. Where none does, each combination of
//! values is left out by itself.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;
use rayon::prelude::*;
use tickbound_expr::Expr;

use crate::answer::{Judgement, RefutedValues};
use crate::classes::Classes;
use crate::options::VerifyOptions;
use crate::prove::{ProofOutcome, Prover};
use crate::work::{ReadObligation, kinds};

/// Most combinations of values that are left out one by one.
const MAX_LISTED: usize = 1000;
/// Most parameters of a combination, unless all are needed.
const MAX_CHOSEN: usize = 4;

/// Whether some values of parameters are refuted, and whether that needs certain data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Refuted {
    #[default]
    No,
    /// For some contents of buffers.
    ForData,
    /// For all contents.
    Always,
}

/// Values of some parameters.
struct Row {
    values: Vec<i64>,
    refuted: bool,
    always: bool,
}

/// How a claim about one place came out for all configurations.
pub struct DecidedRows {
    names: Vec<String>,
    parameters: Vec<usize>,
    rows: Vec<Row>,
}

/// Decides a claim about one place for all configurations: its obligations in all readings, with
/// how these came out.
///
/// # Errors
/// Too many combinations, what has no value, or it was stopped.
pub fn decided_rows(
    found: &[(&ReadObligation<'_>, &ProofOutcome)],
    classes: &Classes<'_>,
    options: &VerifyOptions<'_>,
) -> Result<DecidedRows, String> {
    let mut parameters: BTreeSet<usize> = classes.text_parameters()?.iter().copied().collect();
    for (work, _) in found {
        parameters.extend(classes.parameters(&numbers(work))?);
    }
    let parameters: Vec<usize> = parameters.into_iter().collect();
    let mut rows = Vec::new();
    for (i, (work, outcome)) in found.iter().enumerate() {
        let refuted = outcome.judgement == Judgement::Refuted;
        for (key, members) in classes.by_numbers(work.variant, &parameters, &numbers(work))? {
            let open = refuted.then_some((i, key));
            rows.extend(members.into_iter().map(|values| (open.clone(), values)));
        }
    }
    let rows: Vec<Row> = decided(found, rows, options)?;
    let names: Vec<String> = parameters.iter().map(|p| classes.name(*p)).collect();
    Ok(DecidedRows { names, parameters, rows })
}

impl DecidedRows {
    /// Conditions that leave out what is refuted.
    ///
    /// # Errors
    /// Everything is, or too many combinations of values.
    pub fn conditions(&self) -> Result<Vec<String>, String> {
        if self.rows.iter().all(|row| row.refuted) {
            return Err("every configuration is refuted".to_owned());
        }
        match condition(&self.names, &self.rows) {
            Some(condition) => Ok(vec![condition]),
            None => listed(&self.names, &self.rows),
        }
    }

    /// The values that are refuted for all contents of buffers.
    pub fn refuted(self) -> RefutedValues {
        let always = self.rows.into_iter().filter(|row| row.always);
        let values = always.map(|row| row.values).collect();
        RefutedValues { parameters: self.parameters, values }
    }
}

fn numbers<'w>(work: &'w ReadObligation<'_>) -> Vec<&'w Expr> {
    work.numbers_of(&kinds(work, &work.obligation))
}

/// Values of parameters; for an obligation that is refuted, which it is, and their case of it.
type OpenRow = (Option<(usize, Vec<i64>)>, Vec<i64>);

/// Decides the cases of all rows.
fn decided(
    found: &[(&ReadObligation<'_>, &ProofOutcome)],
    rows: Vec<OpenRow>,
    options: &VerifyOptions<'_>,
) -> Result<Vec<Row>, String> {
    let cases: IndexSet<(usize, Vec<i64>)> =
        rows.iter().filter_map(|(open, _)| open.clone()).collect();
    let all: Vec<&(usize, Vec<i64>)> = cases.iter().collect();
    let refuted: Vec<Refuted> = all
        .par_iter()
        .map(|(i, key)| {
            let work = found[*i].0;
            let (kernel, time, stop) = (work.kernel, options.question, options.stop);
            let prover = Prover { kernel, time, stop, only_proofs: false, smallest: false };
            let kinds = kinds(work, &work.obligation);
            let (mut terms, case) = (work.terms.clone(), std::iter::once(key));
            let outcome = prover.prove(&mut terms, &work.obligation, &kinds, case).0;
            match outcome.witness.filter(|_| outcome.judgement == Judgement::Refuted) {
                None => Refuted::No,
                Some(witness) if witness.contents.is_empty() => Refuted::Always,
                Some(_) => Refuted::ForData,
            }
        })
        .collect();
    if (options.stop)() {
        return Err("it was stopped before all configurations were decided".to_owned());
    }
    let mut by_values = IndexMap::<Vec<i64>, Refuted>::new();
    for (open, values) in rows {
        let place = open.and_then(|case| cases.get_index_of(&case));
        let known = by_values.entry(values).or_default();
        *known = place.map_or(*known, |place| refuted[place].max(*known));
    }
    let row = |(values, refuted)| {
        let always = refuted == Refuted::Always;
        Row { values, refuted: refuted != Refuted::No, always }
    };
    let mut decided: Vec<Row> = by_values.into_iter().map(row).collect();
    // Conditions are tried on these first.
    decided.sort_by_key(|row| !row.refuted);
    Ok(decided)
}

/// A condition that holds for all rows but those that are refuted.
fn condition(names: &[String], rows: &[Row]) -> Option<String> {
    let divides = |a: i64, b: i64| (b != 0).then(|| a % b == 0);
    let fits = |holds: &dyn Fn(&[i64]) -> Option<bool>| {
        rows.iter().all(|row| holds(&row.values) == Some(!row.refuted))
    };
    let all = 0..names.len();
    for a in all.clone() {
        for value in rows.iter().map(|row| row.values[a]).sorted().dedup() {
            if fits(&|v| Some(v[a] <= value)) {
                return Some(format!("{} <= {value}", names[a]));
            }
            if fits(&|v| Some(v[a] >= value)) {
                return Some(format!("{} >= {value}", names[a]));
            }
        }
    }
    for (a, b) in all.clone().permutations(2).filter_map(|p| p.into_iter().collect_tuple()) {
        if fits(&|v| divides(v[a], v[b])) {
            return Some(format!("{} % {} == 0", names[a], names[b]));
        }
        if fits(&|v| Some(v[a] <= v[b])) {
            return Some(format!("{} <= {}", names[a], names[b]));
        }
    }
    for (a, b, c) in all.permutations(3).filter_map(|p| p.into_iter().collect_tuple()) {
        let (a_name, b_name, c_name) = (&names[a], &names[b], &names[c]);
        if b < c && fits(&|v| divides(v[a], v[b].checked_mul(v[c])?)) {
            return Some(format!("{a_name} % ({b_name} * {c_name}) == 0"));
        }
        if b < c && fits(&|v| divides(v[b].checked_mul(v[c])?, v[a])) {
            return Some(format!("{b_name} * {c_name} % {a_name} == 0"));
        }
        if b < c && fits(&|v| Some(v[a] <= v[b].checked_mul(v[c])?)) {
            return Some(format!("{a_name} <= {b_name} * {c_name}"));
        }
        if b < c && fits(&|v| Some(v[b].checked_mul(v[c])? <= v[a])) {
            return Some(format!("{b_name} * {c_name} <= {a_name}"));
        }
    }
    None
}

/// Conditions that leave out each refuted combination of the fewest parameters that tell them from
/// the others.
fn listed(names: &[String], rows: &[Row]) -> Result<Vec<String>, String> {
    let refuted = |chosen: &[usize]| -> Option<BTreeSet<Vec<i64>>> {
        let own = |row: &Row| chosen.iter().map(|i| row.values[*i]).collect::<Vec<i64>>();
        let out: BTreeSet<Vec<i64>> = rows.iter().filter(|row| row.refuted).map(own).collect();
        let kept = |row: &Row| row.refuted || !out.contains(&own(row));
        rows.iter().all(kept).then_some(out)
    };
    let few = (1..=MAX_CHOSEN.min(names.len())).flat_map(|n| (0..names.len()).combinations(n));
    let chosen = few.chain([(0..names.len()).collect()]);
    let mut told = chosen.filter_map(|chosen| Some((refuted(&chosen)?, chosen)));
    let (out, chosen) = told.next().ok_or("no parameters tell which configurations are refuted")?;
    if out.len() > MAX_LISTED {
        return Err(format!("more than {MAX_LISTED} combinations of values are refuted"));
    }
    let one = |values: &Vec<i64>| {
        let differs = |(i, value): (&usize, &i64)| format!("{} != {value}", names[*i]);
        chosen.iter().zip(values).map(differs).join(" or ")
    };
    Ok(out.iter().map(one).collect())
}
