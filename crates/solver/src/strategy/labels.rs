//! Elimination with labels on the direct form of the cost, where parameters share something.
//!
//! The form states conditions and cost a second time, so what it gives for a configuration is
//! compared with the simulator, for each that it proposes.

use tickbound_elimination::direct::{DirectForm, Known};
use tickbound_timing::direct_form;

use super::entry::{Entry, Run};
use crate::error::SolveError;
use crate::proof::Proof;
use crate::search::Search;

pub(super) const ENTRY: Entry = Entry::with(Run::Symbolic(run));

fn run(search: &Search<'_>) -> Result<Option<Proof>, SolveError> {
    let form = direct_form(search.configurations, search.cost);
    let proof = form.map(|form| on(search, &form)).transpose()?.flatten();
    if proof.is_none() && !search.bracket.done() {
        search.bracket.give_up("labels: the cost is not a sum of small tables, or too many".into());
    }
    Ok(proof.filter(|_| search.bracket.closed()))
}

/// Closes the bracket on a form of the same space and cost; without a best, none is valid.
pub(crate) fn on(search: &Search<'_>, form: &DirectForm) -> Result<Option<Proof>, SolveError> {
    let bracket = search.bracket;
    let mut offered = Ok(());
    let mut report = |known: Known<'_>| {
        if let (Some((assignment, cost)), Ok(())) = (known.best, &offered) {
            let configuration = search.configurations.configuration(assignment);
            offered = search.offer(configuration.clone(), Some(cost)).map(|time| {
                if time.is_none() {
                    search.too_large(&configuration, cost);
                }
            });
        }
        bracket.raise_rest(known.lower);
    };
    let solved = form.least(&|| bracket.done(), &mut report);
    offered?;
    let proof = solved.filter(|solved| solved.proved || bracket.closed());
    Ok(proof.map(|solved| Proof::Labels { labels: solved.steps }))
}
