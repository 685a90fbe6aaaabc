//! The formula of a direct form, whose accumulators are sums of truth values.
//!
//! A table over one parameter takes the truth values of the parameter's values, one over several
//! has a truth value for each row that is allowed. A limit is an inequality. The maximum of a
//! [`CostPart`] is a number in binary that is at least each of its sums; its price is positive, so
//! the least objective has their greatest there. So the least objective is the least run time, and
//! every solution is a valid configuration whose run time is at most the objective.

use itertools::Itertools;
use tickbound_elimination::direct::{
    AccumulatorLimit, AccumulatorOp, CostPart, DirectForm, FORBIDDEN, FormTable, Sense,
};

use super::formula::{BooleanVariable, Equation, PseudoBooleanFormula};
use crate::refusal::Refusal;

/// A sum of truth values with coefficients.
type BooleanSum = Vec<(i64, BooleanVariable)>;

impl PseudoBooleanFormula {
    /// The formula of a form.
    ///
    /// # Errors
    /// The tables have more than `most_rows` rows, or the form has products or limits of maxima.
    pub fn from_form(form: &DirectForm, most_rows: usize) -> Result<PseudoBooleanFormula, Refusal> {
        if form.tables.iter().map(|t| t.entries.len()).sum::<usize>() > most_rows {
            return Err(Refusal::TooLarge("too many rows of tables"));
        }
        let mut formula = PseudoBooleanFormula::default();
        formula.equation(Equation::One, vec![(1, BooleanVariable::One)], 1);
        for (p, size) in form.sizes.iter().enumerate() {
            let values = (0..*size as u32).map(|v| (1, BooleanVariable::Value(p, v)));
            formula.equation(Equation::OneValue(p), values.collect(), 1);
        }
        for (t, table) in form.tables.iter().enumerate() {
            formula.add_rows(form, t, table);
        }
        for limit in &form.limits {
            formula.limit(form, limit)?;
        }
        let mut objective = sum(form, 0)?;
        for (number, part) in form.parts.iter().enumerate() {
            objective.extend(formula.greatest(form, number, part)?);
        }
        formula.objective = formula.numbered(objective);
        Ok(formula)
    }

    /// Ties a table's rows to the parameters, and forbids what it forbids.
    fn add_rows(&mut self, form: &DirectForm, t: usize, table: &FormTable) {
        for place in (0..table.entries.len()).filter(|place| table.entries[*place] == FORBIDDEN) {
            if table.variables.len() < 2 {
                self.require(vec![(-1, row(form, t, table, place))], 0);
            }
        }
        for (i, p) in table.variables.iter().enumerate().filter(|_| table.variables.len() > 1) {
            let own = |(place, _)| {
                let value = form.combination(&table.variables, place)[i];
                (value, (1, row(form, t, table, place)))
            };
            let mut by_value = allowed(table).map(own).into_group_map();
            for v in 0..form.sizes[*p] as u32 {
                let mut all = by_value.remove(&v).unwrap_or_default();
                all.push((-1, BooleanVariable::Value(*p, v)));
                self.equation(Equation::Rows(t, *p, v), all, 0);
            }
        }
    }

    fn limit(&mut self, form: &DirectForm, limit: &AccumulatorLimit) -> Result<(), Refusal> {
        let value = sum(form, limit.accumulator)?;
        if limit.sense != Sense::AtMost {
            self.require(value.clone(), limit.bound);
        }
        if limit.sense != Sense::AtLeast {
            self.require(times(-1, value), -limit.bound);
        }
        Ok(())
    }

    /// What a part adds to the objective.
    fn greatest(
        &mut self,
        form: &DirectForm,
        number: usize,
        part: &CostPart,
    ) -> Result<BooleanSum, Refusal> {
        if part.product.is_some() {
            return Err(Refusal::TooLarge(PRODUCT));
        }
        let ranges = part.sums.iter().chain([&part.max]).map(|a| form.range(*a));
        let ranges: Option<Vec<_>> = ranges.collect();
        let ranges = ranges.ok_or(Refusal::TooLarge("a sum of ticks beyond 48 bits"))?;
        let low = ranges.iter().map(|r| *r.start()).max().unwrap_or(0);
        let high = ranges.iter().map(|r| *r.end()).max().unwrap_or(0);
        let bits = i64::BITS - (high - low).leading_zeros();
        let bit = |b| (1i64 << b, BooleanVariable::Bit(number, b));
        let value: BooleanSum = (0..bits).map(bit).chain([(low, BooleanVariable::One)]).collect();
        let start = form.accumulators[part.max].start;
        let mut sums = vec![vec![(start, BooleanVariable::One)]];
        for (t, table) in form.tables.iter().enumerate().filter(|(_, t)| t.accumulator == part.max)
        {
            sums.push(entries(form, t, table).collect());
        }
        for s in &part.sums {
            sums.push(sum(form, *s)?);
        }
        for sum in sums {
            self.require(value.iter().cloned().chain(times(-1, sum)).collect(), 0);
        }
        Ok(times(part.price, value))
    }

    fn require(&mut self, terms: BooleanSum, right: i64) {
        let terms = self.numbered(terms);
        self.inequalities.push((terms, right));
    }
}

/// Why a product is not written.
const PRODUCT: &str = "a product of tables over many parameters is not linear";

/// An accumulator that is a sum.
fn sum(form: &DirectForm, accumulator: usize) -> Result<BooleanSum, Refusal> {
    let of = form.accumulators[accumulator];
    match of.operation {
        AccumulatorOp::Sum => {}
        AccumulatorOp::Product => return Err(Refusal::TooLarge(PRODUCT)),
        AccumulatorOp::Max => return Err(Refusal::TooLarge("a limit of a maximum is not written")),
    }
    let tables = form.tables.iter().enumerate().filter(|(_, t)| t.accumulator == accumulator);
    let terms = tables.flat_map(|(t, table)| entries(form, t, table));
    Ok(terms.chain([(of.start, BooleanVariable::One)]).collect())
}

fn times(factor: i64, sum: BooleanSum) -> BooleanSum {
    sum.into_iter().map(|(n, variable)| (factor * n, variable)).collect()
}

/// The places and entries of the rows that a table allows.
fn allowed(table: &FormTable) -> impl Iterator<Item = (usize, i64)> {
    table.entries.iter().copied().enumerate().filter(|(_, entry)| *entry != FORBIDDEN)
}

/// A table's entry as a sum.
fn entries(
    form: &DirectForm,
    t: usize,
    table: &FormTable,
) -> impl Iterator<Item = (i64, BooleanVariable)> {
    allowed(table).map(move |(place, entry)| (entry, row(form, t, table, place)))
}

/// The truth value that holds where a table's row is taken.
fn row(form: &DirectForm, t: usize, table: &FormTable, place: usize) -> BooleanVariable {
    match (&table.variables[..], &form.combination(&table.variables, place)[..]) {
        ([], _) => BooleanVariable::One,
        ([p], [v]) => BooleanVariable::Value(*p, *v),
        _ => BooleanVariable::Row(t, place),
    }
}
