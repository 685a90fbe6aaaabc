//! Choices that no data fulfil, cut off while steps are searched (see `guard.rs`).

use super::layout::{Layout, add};
use super::plan::Plan;
use crate::constraint::DataConstraint;
use crate::constraint::simplify::is_possible;

#[derive(Default)]
pub(super) struct Guard {
    sum: Vec<u64>,
    allowed: Vec<u32>,
}

impl Guard {
    /// Those of `options` that data allow after choices with the sum `sum`.
    pub fn among<S: Layout>(
        &mut self,
        plan: &Plan,
        layout: S,
        sum: &[u64],
        options: &[u32],
    ) -> &[u32] {
        self.allowed.clear();
        for option in options {
            self.sum.clear();
            self.sum.extend_from_slice(sum);
            add(&mut self.sum, plan.vector_of(layout, *option));
            if allows(plan, layout, &self.sum) {
                self.allowed.push(*option);
            }
        }
        &self.allowed
    }
}

/// Whether data allow the choices whose vectors have the sum `sum`.
pub(super) fn allows(plan: &Plan, layout: impl Layout, sum: &[u64]) -> bool {
    let key = &sum[layout.label() + layout.state()..];
    plan.known.find(key, || {
        let mut whole = DataConstraint::default();
        plan.conditions.unpack(key, |part, number| {
            whole = whole.and(&plan.guards[part][number as usize]);
        });
        is_possible(&whole)
    })
}
