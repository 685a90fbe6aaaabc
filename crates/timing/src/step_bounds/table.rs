//! Tables of an expression or a condition over a few parameters.

use std::collections::BTreeMap;

use tickbound_expr::interval::Interval;

use crate::parameter_box::ParameterBox;

/// In place of a value where the conditions allow none.
pub(super) const NOT_ALLOWED: i64 = i64::MIN;

/// The interval of no number.
const EMPTY: Interval = Interval { low: i64::MAX, high: i64::MIN };

/// For parameters with a restriction, which of their values it allows.
pub(super) type Context = BTreeMap<usize, Vec<bool>>;

/// Values of an expression over a few parameters.
#[derive(Debug)]
pub(super) struct StepTable {
    /// The parameters, in the order in which boxes are divided.
    pub parameters: Vec<usize>,
    /// A value for each combination, or [`NOT_ALLOWED`].
    rows: Vec<i64>,
    /// For each number of parameters that are decided, but for all of them, and each combination of
    /// their values, the least and the greatest value; [`EMPTY`] if nothing is allowed.
    levels: Vec<Vec<Interval>>,
    /// It is a side of a conditional, with the combinations for which that is taken.
    pub guarded: bool,
}

impl StepTable {
    /// A table with these values, those of the last parameter side by side.
    pub fn new(
        parameters: Vec<usize>,
        rows: Vec<i64>,
        values: &[Vec<i64>],
        guarded: bool,
    ) -> StepTable {
        let mut levels: Vec<Vec<Interval>> = Vec::new();
        for p in parameters.iter().rev() {
            let size = values[*p].len().max(1);
            levels.push(match levels.last() {
                None => rows.chunks(size).map(range).collect(),
                Some(finer) => finer.chunks(size).map(hull).collect(),
            });
        }
        levels.reverse();
        StepTable { parameters, rows, levels, guarded }
    }

    /// The least and the greatest value in a box; `None` if nothing is allowed. What is decided
    /// behind a parameter that is not is left out of account.
    pub fn range(&self, of: &ParameterBox, values: &[Vec<i64>]) -> Option<Interval> {
        let (mut level, mut place) = (0, 0);
        for p in &self.parameters {
            let ((low, high), size) = (of[*p], values[*p].len());
            level += 1;
            place = place * size + low as usize;
            if low < high {
                let some = place..=place + (high - low) as usize;
                return found(match self.levels.get(level) {
                    Some(level) => hull(&level[some]),
                    None => range(&self.rows[some]),
                });
            }
        }
        found(range(&self.rows[place..=place]))
    }

    /// Which combinations of some of its parameters it allows; `None` if all.
    pub fn onto(
        &self,
        parameters: &[usize],
        context: &Context,
        values: &[Vec<i64>],
    ) -> Option<Projection> {
        let size = parameters.iter().map(|p| values[*p].len()).product();
        let mut projection =
            Projection { parameters: parameters.to_vec(), allowed: vec![false; size] };
        let mut indices = vec![0; values.len()];
        for (place, value) in self.rows.iter().enumerate() {
            if *value != NOT_ALLOWED {
                let mut rest = place;
                for p in self.parameters.iter().rev() {
                    (indices[*p], rest) =
                        ((rest % values[*p].len()) as u32, rest / values[*p].len());
                }
                let place = place_of(parameters, &indices, values);
                let is_in = context.iter().all(|(p, allowed)| allowed[indices[*p] as usize]);
                projection.allowed[place] |= is_in;
            }
        }
        projection.allowed.contains(&false).then_some(projection)
    }

    /// The least of all values.
    pub fn least(&self) -> Option<i64> {
        let whole = self.levels.first().map_or_else(|| range(&self.rows), |whole| hull(whole));
        found(whole).map(|all| all.low)
    }

    /// The value where all parameters are decided.
    pub fn value(&self, indices: &[u32], values: &[Vec<i64>]) -> Option<i64> {
        let place = place_of(&self.parameters, indices, values);
        self.rows.get(place).copied().filter(|value| *value != NOT_ALLOWED)
    }
}

/// Which combinations of a few parameters' values a condition allows.
#[derive(Debug)]
pub(super) struct Projection {
    pub parameters: Vec<usize>,
    pub allowed: Vec<bool>,
}

/// The number of a combination of some parameters' values, the last parameter's counting least.
pub(super) fn place_of(parameters: &[usize], indices: &[u32], values: &[Vec<i64>]) -> usize {
    parameters.iter().fold(0, |place, p| place * values[*p].len() + indices[*p] as usize)
}

/// The interval, unless it is empty.
fn found(interval: Interval) -> Option<Interval> {
    Some(interval).filter(|i| i.low <= i.high)
}

/// The least interval that contains these.
fn hull(all: &[Interval]) -> Interval {
    let both =
        |a: Interval, b: &Interval| Interval { low: a.low.min(b.low), high: a.high.max(b.high) };
    all.iter().fold(EMPTY, both)
}

/// The least interval that contains the values that are allowed.
fn range(rows: &[i64]) -> Interval {
    let allowed = rows.iter().filter(|value| **value != NOT_ALLOWED);
    allowed
        .fold(EMPTY, |all, value| Interval { low: all.low.min(*value), high: all.high.max(*value) })
}
