//! A load of local memory in one case: a group is tried, or all groups.

use indexmap::IndexMap;
use tickbound_opencl::proof::terms::{TermId, Terms};

use crate::answer::{Witness, WitnessItem};
use crate::group::{GroupOutcome, GroupRun};
use crate::memo::TermMemo;
use crate::obligations::SafetyObligation;
use crate::prove::{Found, Prover};

/// Most groups that are tried, where it matters which one it is.
const MAX_GROUPS: i128 = 256;

impl Prover<'_> {
    /// Tries a group, or all groups if it matters which one it is.
    pub fn tried(&self, terms: &Terms, memo: &mut TermMemo, case: &SafetyObligation) -> Found {
        let Some([local, group]) = case.items.first() else {
            return Found::Undecided("internal error: an item has no ids".to_owned());
        };
        let Ok(ids) = <[TermId; 3]>::try_from(local.as_slice()) else {
            return Found::Undecided("internal error: an item has other than three ids".to_owned());
        };
        let sizes = group.iter().map(|id| terms.range(*id).1 + 1);
        let groups = sizes.fold(1_i128, |all, size| all.saturating_mul(size));
        let mut outcome = GroupRun::outcome((terms, memo), &case.written, ids, &[], self.stop);
        if let GroupOutcome::Undecided(_) = &outcome
            && !group.is_empty()
            && groups <= MAX_GROUPS
        {
            for number in 0..groups {
                let place = place_of(terms, group, number);
                let run = (terms, &mut *memo);
                outcome = GroupRun::outcome(run, &case.written, ids, &place, self.stop);
                if outcome != GroupOutcome::Written {
                    break;
                }
            }
        }
        match outcome {
            GroupOutcome::Written => Found::Proved,
            GroupOutcome::Undecided(reason) => Found::Undecided(reason),
            GroupOutcome::Unwritten { .. } if self.only_proofs => {
                Found::Undecided("it is not proved".to_owned())
            }
            GroupOutcome::Unwritten { item, group: place, bytes } => {
                let whole = |number: &i128| i64::try_from(*number).unwrap_or(i64::MAX);
                let place = group.iter().map(|id| {
                    let value = place.iter().find(|(known, _)| known == id);
                    value.map_or(0, |(_, value)| whole(value))
                });
                let (local, group) = (item.iter().map(whole).collect(), place.collect());
                Found::Refuted(Box::new(Witness {
                    configuration: IndexMap::new(),
                    numbers: IndexMap::new(),
                    items: vec![WitnessItem { local, group }],
                    bytes: vec![(whole(&bytes.0), bytes.1)],
                    length: None,
                    same_value: false,
                    contents: Vec::new(),
                }))
            }
        }
    }
}

/// The ids of a group by its number, the first dimension the fastest.
fn place_of(terms: &Terms, ids: &[TermId], number: i128) -> Vec<(TermId, i128)> {
    let mut left = number;
    let place = ids.iter().map(|id| {
        let size = terms.range(*id).1 + 1;
        let own = left % size;
        left /= size;
        (*id, own)
    });
    place.collect()
}
