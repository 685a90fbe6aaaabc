//! The rows of a table of a step.

use std::sync::Arc;

use rayon::prelude::*;
use tickbound_expr::Slot;
use tickbound_expr::staged::Staged;
use tickbound_model::Problem;
use tickbound_model::space::{Condition, Holds};

use super::table::{Context, NOT_ALLOWED, Projection, StepTable, place_of};

/// Rows from which on threads share them, each with some values of the first parameter.
const SHARED: usize = 1 << 10;

/// The rows of one table while they are filled.
#[derive(Clone)]
pub(super) struct Rows<'r> {
    pub problem: &'r Problem,
    /// For each parameter its values.
    pub all: &'r [Vec<i64>],
    pub context: &'r Context,
    /// The tables of the steps.
    pub tables: &'r [StepTable],
    pub first_step: Slot,
    pub scope: &'r [usize],
    /// The condition, in a table of one; the expression is then a constant.
    pub condition: Option<&'r Condition>,
    /// What conditions say, by the last parameter that each mentions.
    pub projections: &'r [Vec<Arc<Projection>>],
    /// The steps that the expression names, with their tables, by how many parameters have to be
    /// decided for a value.
    pub uses: &'r [Vec<(usize, usize)>],
    /// The expression, in as many stages as there are parameters, and one before.
    pub staged: Staged,
    pub indices: Vec<u32>,
    pub env: Vec<i64>,
    /// A value for each combination, or [`NOT_ALLOWED`].
    pub values: Vec<i64>,
}

impl Rows<'_> {
    /// The values of all combinations; `None` if one has none.
    pub fn filled(mut self) -> Option<Vec<i64>> {
        let sizes = self.scope.iter().map(|p| self.all[*p].len());
        let (count, first) = (sizes.product::<usize>(), self.scope.first().copied());
        // In a pool other threads have work, and one that waits might take up what waits for this.
        let alone = count < SHARED || rayon::current_thread_index().is_some();
        let Some(p) = first.filter(|_| !alone) else {
            self.values.reserve_exact(count);
            return self.fill(0).then_some(self.values);
        };
        if !self.advance(0) {
            return Some(vec![NOT_ALLOWED; count]);
        }
        let own = |index| {
            let mut own = self.clone();
            own.decide(p, index);
            own.fill(1).then_some(own.values)
        };
        let parts: Option<Vec<Vec<i64>>> =
            (0..self.all[p].len()).into_par_iter().map(own).collect();
        parts.map(|parts| parts.concat())
    }

    fn decide(&mut self, p: usize, index: usize) {
        self.indices[p] = index as u32;
        self.env[self.problem.first_parameter() + p] = self.all[p][index];
    }

    /// Adds the values of all combinations behind those decided; false if one has none.
    fn fill(&mut self, decided: usize) -> bool {
        if !self.advance(decided) {
            let sizes = self.scope[decided..].iter().map(|p| self.all[*p].len());
            let behind = sizes.product::<usize>();
            self.values.extend(std::iter::repeat_n(NOT_ALLOWED, behind));
            return true;
        }
        let Some(p) = self.scope.get(decided).copied() else { return self.row() };
        (0..self.all[p].len()).all(|index| {
            self.decide(p, index);
            self.fill(decided + 1)
        })
    }

    /// Computes what these first parameters decide; false if nothing is there for their values.
    fn advance(&mut self, decided: usize) -> bool {
        if decided.checked_sub(1).is_some_and(|last| !self.is_allowed(last)) {
            return false;
        }
        for (step, table) in &self.uses[decided] {
            let Some(value) = self.tables[*table].value(&self.indices, self.all) else {
                return false;
            };
            self.env[self.first_step + step] = value;
        }
        self.staged.advance(decided, |slot| self.env[slot]);
        true
    }

    /// False if no condition allows what is decided, or a side of a conditional is not taken.
    fn is_allowed(&self, last: usize) -> bool {
        let p = self.scope[last];
        let in_context = self.context.get(&p).is_none_or(|of| of[self.indices[p] as usize]);
        let allows =
            |p: &Arc<Projection>| p.allowed[place_of(&p.parameters, &self.indices, self.all)];
        in_context && self.projections[last].iter().all(allows)
    }

    fn row(&mut self) -> bool {
        let excludes = |c: &Condition| c.outcome(self.problem, &self.env) == Holds::No;
        let value = match self.condition.is_some_and(excludes) {
            true => Some(NOT_ALLOWED),
            // The least number of all is the mark that nothing is allowed.
            false => self.staged.value().filter(|value| *value != NOT_ALLOWED),
        };
        self.values.extend(value);
        value.is_some()
    }
}
