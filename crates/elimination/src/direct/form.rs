//! The direct form: tables, accumulators, and what they add up to.

use std::ops::RangeInclusive;

/// The entry of a table for a combination that is not allowed.
pub const FORBIDDEN: i64 = i64::MAX;

/// Costs and accumulators beyond this are not handled: times the scale of prices they fit into 63
/// bits.
pub(super) const MAX_COST: i64 = 1 << 48;

/// How an accumulator combines its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccumulatorOp {
    /// The sum.
    Sum,
    /// The product, of numbers that are not negative; what is beyond 2^48 counts as that.
    Product,
    /// The greatest.
    Max,
}

impl AccumulatorOp {
    /// What an accumulator has after one more number.
    pub(super) fn with(self, value: i64, more: i64) -> i64 {
        match self {
            AccumulatorOp::Sum => value + more,
            AccumulatorOp::Product => value.saturating_mul(more).min(MAX_COST),
            AccumulatorOp::Max => value.max(more),
        }
    }

    /// The number that changes nothing; for a maximum, of numbers within the bounds of a form.
    pub(super) fn neutral(self) -> i64 {
        match self {
            AccumulatorOp::Sum => 0,
            AccumulatorOp::Product => 1,
            AccumulatorOp::Max => -MAX_COST,
        }
    }
}

/// A number that tables add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accumulator {
    /// How the tables are combined.
    pub operation: AccumulatorOp,
    /// What it has without any table.
    pub start: i64,
}

/// A table over a few variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormTable {
    /// The accumulator that its entries go into.
    pub accumulator: usize,
    /// Its variables, in increasing order.
    pub variables: Vec<usize>,
    /// An entry for each combination of their values, the last variable's running fastest;
    /// [`FORBIDDEN`] where the combination is not allowed.
    pub entries: Vec<i64>,
}

/// How an accumulator is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// It is at most the bound.
    AtMost,
    /// It is at least the bound.
    AtLeast,
    /// It is the bound.
    Equal,
}

/// A bound on an accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccumulatorLimit {
    /// The accumulator, of which this is the only use.
    pub accumulator: usize,
    /// How it is limited.
    pub sense: Sense,
    /// The bound.
    pub bound: i64,
}

impl AccumulatorLimit {
    /// By how much a value is beyond the limit; 0 if it is within.
    pub(super) fn excess(&self, value: i64) -> i64 {
        match self.sense {
            Sense::AtMost => (value - self.bound).max(0),
            Sense::AtLeast => (self.bound - value).max(0),
            Sense::Equal => (value - self.bound).abs(),
        }
    }
}

/// A summand of the cost that is not a sum of tables: `price * product * max(max, sums...)`. Its
/// accumulators have no other use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostPart {
    /// The price, positive.
    pub price: i64,
    /// An accumulator of kind [`AccumulatorOp::Product`]; 1 if there is none. With one the maximum
    /// is never negative.
    pub product: Option<usize>,
    /// An accumulator of kind [`AccumulatorOp::Max`].
    pub max: usize,
    /// Accumulators of kind [`AccumulatorOp::Sum`].
    pub sums: Vec<usize>,
}

impl CostPart {
    /// All its accumulators.
    pub fn accumulators(&self) -> impl Iterator<Item = usize> {
        self.product.into_iter().chain([self.max]).chain(self.sums.iter().copied())
    }

    /// What it costs when all its accumulators are complete.
    pub(super) fn cost(&self, values: &[i64]) -> i64 {
        let greatest = self.sums.iter().map(|s| values[*s]).fold(values[self.max], i64::max);
        self.price * self.product.map_or(1, |p| values[p]) * greatest
    }
}

/// Variables, and a cost that is a sum of tables and of parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectForm {
    /// How many values each variable has.
    pub sizes: Vec<usize>,
    /// The accumulators; the first one is a sum, and is the cost without the parts.
    pub accumulators: Vec<Accumulator>,
    /// The tables.
    pub tables: Vec<FormTable>,
    /// What an assignment must satisfy besides.
    pub limits: Vec<AccumulatorLimit>,
    /// The other summands of the cost.
    pub parts: Vec<CostPart>,
}

impl DirectForm {
    /// A form that costs nothing.
    pub fn new(sizes: Vec<usize>) -> DirectForm {
        let cost = Accumulator { operation: AccumulatorOp::Sum, start: 0 };
        let (accumulators, tables) = (vec![cost], Vec::new());
        DirectForm { sizes, accumulators, tables, limits: Vec::new(), parts: Vec::new() }
    }

    /// Adds an accumulator; its number.
    pub fn accumulator(&mut self, operation: AccumulatorOp, start: i64) -> usize {
        self.accumulators.push(Accumulator { operation, start });
        self.accumulators.len() - 1
    }

    /// True if the cost is a sum of tables, and nothing else is asked of an assignment.
    pub fn is_plain(&self) -> bool {
        self.limits.is_empty() && self.parts.is_empty()
    }

    /// The place of a combination in a table's entries, given a value for every variable.
    pub(super) fn place(&self, table: &FormTable, assignment: &[u32]) -> usize {
        let next = |place, v: &usize| place * self.sizes[*v] + assignment[*v] as usize;
        table.variables.iter().fold(0, next)
    }

    /// A table's entry, given a value for every variable.
    pub(super) fn entry(&self, table: &FormTable, assignment: &[u32]) -> i64 {
        table.entries[self.place(table, assignment)]
    }

    /// The values of some variables in a combination with this number, the last one's running
    /// fastest.
    pub fn combination(&self, variables: &[usize], mut number: usize) -> Vec<u32> {
        let mut values = vec![0; variables.len()];
        for (value, v) in values.iter_mut().zip(variables).rev() {
            *value = (number % self.sizes[*v]) as u32;
            number /= self.sizes[*v];
        }
        values
    }

    /// What the accumulators have for an assignment; `None` if a table forbids it.
    pub(super) fn values(&self, assignment: &[u32]) -> Option<Vec<i64>> {
        let mut values: Vec<i64> = self.accumulators.iter().map(|a| a.start).collect();
        for table in &self.tables {
            let more = self.entry(table, assignment);
            if more == FORBIDDEN {
                return None;
            }
            let value = &mut values[table.accumulator];
            *value = self.accumulators[table.accumulator].operation.with(*value, more);
        }
        Some(values)
    }

    /// The cost where the accumulators have these values.
    pub(super) fn total(&self, values: &[i64]) -> i64 {
        values[0] + self.parts.iter().map(|part| part.cost(values)).sum::<i64>()
    }

    /// The cost of an assignment, a value for every variable; `None` if it is not allowed.
    pub fn cost(&self, assignment: &[u32]) -> Option<i64> {
        let values = self.values(assignment)?;
        let allowed = self.limits.iter().all(|limit| limit.excess(values[limit.accumulator]) == 0);
        allowed.then(|| self.total(&values))
    }

    /// Where an accumulator's value lies for every assignment; `None` if it may leave the numbers
    /// that are handled.
    pub fn range(&self, accumulator: usize) -> Option<RangeInclusive<i64>> {
        let Accumulator { operation, start } = self.accumulators[accumulator];
        let (mut low, mut high) = (i128::from(start), i128::from(start));
        for table in self.tables.iter().filter(|t| t.accumulator == accumulator) {
            let entries = || table.entries.iter().filter(|e| **e != FORBIDDEN);
            let least = i128::from(*entries().min()?);
            let greatest = i128::from(*entries().max()?);
            (low, high) = match operation {
                AccumulatorOp::Sum => (low + least, high + greatest),
                AccumulatorOp::Product => (low * least, (high * greatest).min(MAX_COST.into())),
                AccumulatorOp::Max => (low.max(least), high.max(greatest)),
            };
        }
        let within = |n: i128| i64::try_from(n).ok().filter(|n| n.abs() <= MAX_COST);
        Some(within(low)?..=within(high)?)
    }

    /// True if all costs and accumulators stay within the numbers that are handled.
    pub fn is_small(&self) -> bool {
        let greatest = |a: usize| self.range(a).map(|r| r.start().abs().max(r.end().abs()));
        let whole = |part: &CostPart| {
            let most = part
                .sums
                .iter()
                .map(|s| greatest(*s))
                .fold(greatest(part.max), |a, b| Some(a?.max(b?)))?;
            let product = part.product.map_or(Some(1), greatest)?;
            Some(i128::from(part.price) * i128::from(product) * i128::from(most))
        };
        let parts: Option<i128> = self.parts.iter().map(whole).sum();
        let all = (0..self.accumulators.len()).all(|a| greatest(a).is_some())
            && self.limits.iter().all(|limit| limit.bound.abs() < MAX_COST);
        let total = |parts: i128| parts + greatest(0).map_or(i128::MAX / 2, i128::from);
        all && parts.is_some_and(|parts| total(parts) <= MAX_COST.into())
    }
}
