//! What a formula asks of one step, and what it leaves to the steps behind it.
//!
//! A set of formulas that are due is fulfilled by one of its *covers*: conditions on this step, and
//! formulas that are due at the next one. `a U b` asks for `b`, or for `a` now and itself again: it
//! is *postponed*. A run fulfils what is due exactly if covers can be chosen along it such that no
//! until is postponed for ever (Couvreur, *On-the-fly verification of linear temporal logic*, 1999;
//! after Gerth, Peled, Vardi, Wolper 1995).

use std::collections::BTreeSet;

use super::formula::{Ltl, LtlFormula};
use crate::limits::{Limited, ProductLimits};

pub(super) type Due<'f> = BTreeSet<&'f Ltl>;

/// One way to fulfil what is due.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cover<'f> {
    pub now: BTreeSet<&'f LtlFormula>,
    pub next: Due<'f>,
    /// Untils that the next step has to deal with.
    pub postponed: Due<'f>,
}

/// All ways to fulfil what is due, each once.
pub(super) fn covers<'f>(due: &Due<'f>, limits: &ProductLimits) -> Limited<Vec<Cover<'f>>> {
    let mut open = vec![Attempt { due: due.iter().copied().collect(), ..Attempt::default() }];
    let mut found = BTreeSet::new();
    while let Some(mut attempt) = open.pop() {
        limits.go_on()?;
        limits.fits("the formula", 512 * (open.len() + found.len()) as u128)?;
        let Some(formula) = attempt.due.pop() else {
            found.insert(attempt.cover);
            continue;
        };
        if attempt.done.insert(formula) {
            attempt.fulfil(formula, &mut open);
        } else {
            open.push(attempt);
        }
    }
    Ok(found.into_iter().collect())
}

/// A cover in the making.
#[derive(Clone, Default)]
struct Attempt<'f> {
    due: Vec<&'f Ltl>,
    /// What has been dealt with already: in one cover everything is dealt with in one way.
    done: Due<'f>,
    cover: Cover<'f>,
}

impl<'f> Attempt<'f> {
    fn fulfil(mut self, formula: &'f Ltl, open: &mut Vec<Attempt<'f>>) {
        let mut other = None;
        match formula {
            Ltl::Now(LtlFormula::False) => return,
            Ltl::Now(LtlFormula::True) => {}
            Ltl::Now(condition) => _ = self.cover.now.insert(condition),
            Ltl::And(a, b) => self.due.extend([&**a, b]),
            Ltl::Or(a, b) => {
                other = Some(self.clone().with(a));
                self.due.push(b);
            }
            Ltl::Next(a) => _ = self.cover.next.insert(a),
            Ltl::Until(a, b) => {
                other = Some(self.clone().with(b));
                self.due.push(a);
                self.cover.next.insert(formula);
                self.cover.postponed.insert(formula);
            }
            Ltl::Release(a, b) => {
                self.due.push(b);
                other = Some(self.clone().with(a));
                self.cover.next.insert(formula);
            }
        }
        open.push(self);
        open.extend(other);
    }

    fn with(mut self, formula: &'f Ltl) -> Self {
        self.due.push(formula);
        self
    }
}
