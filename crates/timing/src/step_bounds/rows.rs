//! The rows of a table of a step.

use std::rc::Rc;

use tickbound_expr::Expr;
use tickbound_expr::interval::Interval;
use tickbound_model::space::{Condition, Holds};

use super::{Projection, Tabulator, place_of};

/// The rows of one table while they are filled.
pub(super) struct Rows<'r> {
    pub(super) of: &'r Tabulator<'r>,
    pub(super) scope: &'r [usize],
    /// What it is a table of, if that is no expression.
    pub(super) condition: Option<&'r Condition>,
    /// What conditions say, by the last parameter that each mentions.
    pub(super) projections: &'r [Vec<Rc<Projection>>],
    /// The steps that the expression names, with their tables.
    pub(super) uses: &'r [(usize, usize)],
    pub(super) expr: &'r Expr,
    pub(super) indices: Vec<u32>,
    pub(super) env: Vec<i64>,
    pub(super) values: Vec<Option<Interval>>,
}

impl Rows<'_> {
    /// Adds the values of all combinations behind those decided; false if one has none.
    pub(super) fn fill(&mut self, decided: usize) -> bool {
        let Some(p) = self.scope.get(decided).copied() else { return self.row() };
        let slot = self.of.problem.first_parameter() + p;
        (0..self.of.values[p].len()).all(|index| {
            self.indices[p] = index as u32;
            self.env[slot] = self.of.values[p][index];
            if self.is_allowed(decided) {
                return self.fill(decided + 1);
            }
            let sizes = self.scope[decided + 1..].iter().map(|p| self.of.values[*p].len());
            let behind = sizes.product::<usize>();
            self.values.extend(std::iter::repeat_n(None, behind));
            true
        })
    }

    /// False if no condition allows what is decided, or a side of a conditional is not taken.
    fn is_allowed(&self, last: usize) -> bool {
        let p = self.scope[last];
        let in_context = self.of.context.get(&p).is_none_or(|of| of[self.indices[p] as usize]);
        let allows =
            |p: &Rc<Projection>| p.allowed[place_of(&p.parameters, &self.indices, self.of.values)];
        in_context && self.projections[last].iter().all(allows)
    }

    fn row(&mut self) -> bool {
        let excludes = |c: &Condition| c.outcome(self.of.problem, &self.env) == Holds::No;
        if self.condition.is_some_and(excludes) {
            self.values.push(None);
            return true;
        }
        for (step, table) in self.uses {
            let Some(value) = self.of.tables[*table].value(&self.indices, self.of.values) else {
                self.values.push(None);
                return true;
            };
            self.env[self.of.chain.first() + step] = value;
        }
        match self.expr.eval(&self.env) {
            Ok(value) => self.values.push(Some(Interval::point(value))),
            Err(_) => return false,
        }
        true
    }
}
