//! What is known of a problem's names: which are inputs, between which values they are, and which
//! values occur together.

use std::collections::BTreeSet;

use itertools::Itertools;
use tickbound_expr::interval::Interval;
use tickbound_expr::{Expr, Slot};
use tickbound_model::{Configurations, Problem};

use super::occurring::{Narrow, Occurring};

/// What is known of the names of a problem. By default, nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known<'c> {
    /// Which of them are inputs.
    pub inputs: Inputs,
    /// Between which values each name is that items do not decide.
    ranges: Vec<Interval>,
    /// The configurations that are looked at.
    narrow: Narrow<'c>,
}

impl Known<'_> {
    /// Of a problem, whatever its structural symbols are.
    pub fn of(problem: &Problem, configurations: &Configurations<'_>) -> Known<'static> {
        Known {
            inputs: Inputs::of(problem),
            ranges: ranges(problem, configurations),
            narrow: Narrow::default(),
        }
    }

    /// That these slots are inputs.
    #[cfg(test)]
    pub fn inputs(slots: &[Slot]) -> Known<'static> {
        let inputs = Inputs { slots: slots.iter().copied().collect() };
        Known { inputs, ..Known::default() }
    }

    /// The same where the structural symbols have these values.
    pub fn narrowed_to<'c>(&self, occurring: &'c Occurring<'c>, values: &'c [i64]) -> Known<'c> {
        Known {
            inputs: self.inputs.clone(),
            ranges: self.ranges.clone(),
            narrow: Narrow::to(occurring, values),
        }
    }

    /// A number without what the configurations that are looked at do not need.
    pub fn narrowed(&self, number: Expr) -> Expr {
        self.narrow.number(number)
    }

    /// What a number is, between two values; `None` where that is not known.
    pub fn range(&self, number: &Expr) -> Option<Interval> {
        if number.mentions(|slot| slot >= self.ranges.len()) {
            return None;
        }
        number.range(&self.ranges).values
    }
}

/// Between which values the names of a problem are, definitions included, as far as each can be
/// known by itself.
fn ranges(problem: &Problem, configurations: &Configurations<'_>) -> Vec<Interval> {
    let inputs = problem.inputs.values().copied();
    let numbers = problem.platform.numbers().map(|(_, value)| value);
    let mut all: Vec<Interval> = inputs.chain(numbers).map(Interval::point).collect();
    let anything = Interval { low: i64::MIN, high: i64::MAX };
    for values in configurations.values() {
        let ends = values.iter().minmax().into_option();
        all.push(ends.map_or(anything, |(low, high)| Interval { low: *low, high: *high }));
    }
    for (_, definition) in &problem.definitions {
        all.push(definition.range(&all).values.unwrap_or(anything));
    }
    all
}

/// Names that stand for inputs of a problem, or for what is computed from them: they are large
/// beside tuning parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs {
    slots: BTreeSet<Slot>,
}

impl Inputs {
    /// Those of a problem, definitions included.
    pub fn of(problem: &Problem) -> Inputs {
        let mut inputs = Inputs { slots: (0..problem.first_parameter()).collect() };
        for (slot, (_, definition)) in (problem.first_definition()..).zip(&problem.definitions) {
            if inputs.decide(definition) {
                inputs.slots.insert(slot);
            }
        }
        inputs
    }

    /// Whether one of them is in a number.
    pub fn decide(&self, number: &Expr) -> bool {
        number.mentions(|slot| self.slots.contains(&slot))
    }
}
