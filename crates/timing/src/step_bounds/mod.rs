//! Bounds of a chain over boxes of parameter values: intervals whose leaves are tables.
//!
//! Intervals of quotients say little while several of their parameters are undecided. So each
//! subexpression over few combinations of values becomes a table: its value for each combination
//! that the conditions over the same parameters allow, and for each beginning of one the least and
//! the greatest value. Interval arithmetic combines the tables. Conditions over few combinations
//! are tables too, which say where nothing is valid.

mod rows;
mod table;
mod tabulator;

use tickbound_expr::Slot;
use tickbound_expr::interval::Interval;
use tickbound_model::Problem;
use tickbound_model::space::Condition;

use crate::chain::Chain;
use crate::parameter_box::{ParameterBox, set_box};
use crate::term::Term;
use table::StepTable;
use tabulator::{Steps, Tabulated, tabulated};

/// Bounds of a chain, and of the terms that are added to it.
#[derive(Debug)]
pub struct StepBounds {
    order: Vec<usize>,
    /// For each parameter its values in increasing order.
    values: Vec<Vec<i64>>,
    /// What each slot of the problem may be; the parameters' are set for each box.
    slots: Vec<Interval>,
    first_parameter: Slot,
    tables: Vec<StepTable>,
    steps: Steps,
    others: Vec<Term>,
}

impl StepBounds {
    /// Tabulates a cost over the parameters with these `values`, in increasing order; `None` if it
    /// contains no chain.
    pub fn new(
        problem: &Problem,
        values: Vec<Vec<i64>>,
        conditions: &[Condition],
        cost: &Term,
    ) -> Option<StepBounds> {
        let parts =
            if let Term::Sum(parts) = cost { &parts[..] } else { std::slice::from_ref(cost) };
        let chains = parts.iter().filter_map(Term::as_chain).collect::<Vec<&Chain>>();
        let [chain] = chains[..] else { return None };
        let others = parts.iter().filter(|part| part.as_chain().is_none()).cloned().collect();
        let slots: Vec<Interval> = problem.base_env().into_iter().map(Interval::point).collect();
        let Tabulated { order, tables, steps } = tabulated(problem, &values, conditions, chain);
        let first_parameter = problem.first_parameter();
        Some(StepBounds { order, values, slots, first_parameter, tables, steps, others })
    }

    /// The parameters in the order in which boxes are to be divided along them.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Ticks that no configuration in a box undercuts, `i64::MIN` if something in it may have no
    /// value; `None` if none is valid.
    pub fn least(&self, of: &ParameterBox) -> Option<i64> {
        let mut slots = self.slots.clone();
        set_box(&mut slots[self.first_parameter..], of, &self.values);
        let steps = slots.len();
        slots.resize(steps + self.steps.len(), Interval::point(0));
        for table in &self.tables {
            let range = table.range(of, &self.values);
            // A side of a conditional that is not taken can have any value.
            slots.push(range.or(table.guarded.then_some(Interval::point(1)))?);
        }
        Some(self.combined(&mut slots, steps).unwrap_or(i64::MIN))
    }

    /// The least ticks, given what the slots of the problem and those of the tables may be.
    fn combined(&self, slots: &mut [Interval], first: Slot) -> Option<i64> {
        for (place, step) in self.steps.iter().enumerate() {
            let Some((expr, amount)) = step else { continue };
            let range = expr.range(slots);
            slots[first + place] =
                range.values.filter(|v| !range.may_fail && (!amount || v.low >= 0))?;
        }
        let last = self.steps.len().checked_sub(1).map_or(0, |last| slots[first + last].low.max(0));
        let single = slots[..first].iter().all(|slot| slot.is_point());
        let env: Vec<i64> = slots[..first].iter().map(|slot| slot.low).collect();
        // Some terms have no bound but 0; in a box of one configuration they have their values.
        let least = |term: &Term| if single { term.value(&env).ok() } else { term.least(slots) };
        let mut others = self.others.iter();
        others.try_fold(last, |sum, term| Some(sum.saturating_add(least(term)?)))
    }
}
