//! A direct form as the graph that is handed to the script.
//!
//! A parameter is one truth value for each of its values, a table over several parameters one for
//! each row, so that sums of tables are linear (`solve.py`). A linear relaxation of this is much
//! tighter than one of the expressions.

use tickbound_elimination::direct::{AccumulatorOp, DirectForm, FORBIDDEN, FormTable, Sense};

use super::model::{Entry, Model, Rows, product, small};

/// The graph of a form.
///
/// # Errors
/// The bits of a value that may be too large.
pub(super) fn model(form: &DirectForm) -> Result<Model, u32> {
    let mut graph = Graph { nodes: Vec::new() };
    let mut values = Vec::new();
    for (number, accumulator) in form.accumulators.iter().enumerate() {
        let mut value = graph.number(accumulator.start)?;
        for table in form.tables.iter().filter(|t| t.accumulator == number) {
            let entries = graph.table(form, table)?;
            value = graph.with(accumulator.operation, value, entries)?;
        }
        values.push(value);
    }
    let mut goals = Vec::new();
    for limit in &form.limits {
        let (value, bound) = (values[limit.accumulator], graph.number(limit.bound)?);
        goals.push(match limit.sense {
            Sense::AtMost => graph.push(Entry::truth("le", vec![value, bound])),
            Sense::AtLeast => graph.push(Entry::truth("le", vec![bound, value])),
            Sense::Equal => graph.push(Entry::truth("eq", vec![value, bound])),
        });
    }
    let mut cost = values[0];
    for part in &form.parts {
        let mut greatest = values[part.max];
        for s in &part.sums {
            greatest = graph.with(AccumulatorOp::Max, greatest, values[*s])?;
        }
        let price = graph.number(part.price)?;
        let mut own = graph.with(AccumulatorOp::Product, price, greatest)?;
        if let Some(factor) = part.product {
            own = graph.with(AccumulatorOp::Product, own, values[factor])?;
        }
        cost = graph.with(AccumulatorOp::Sum, cost, own)?;
    }
    let goal = graph.push(Entry::truth("and", goals));
    let (parameters, nodes) = (form.sizes.clone(), graph.nodes);
    Ok(Model { parameters, configurations: Vec::new(), direct: true, nodes, goal, cost })
}

struct Graph {
    nodes: Vec<Entry>,
}

impl Graph {
    fn push(&mut self, node: Entry) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn number(&mut self, n: i64) -> Result<usize, u32> {
        let n = small(n.into())?;
        Ok(self.push(Entry { value: Some(n), ..Entry::integer("int", Vec::new(), (n, n)) }))
    }

    fn table(&mut self, form: &DirectForm, table: &FormTable) -> Result<usize, u32> {
        let mut rows = Vec::new();
        for (place, entry) in table.entries.iter().enumerate().filter(|(_, e)| **e != FORBIDDEN) {
            rows.push((form.combination(&table.variables, place), small((*entry).into())?));
        }
        let low = rows.iter().map(|(_, v)| *v).min().unwrap_or(0);
        let high = rows.iter().map(|(_, v)| *v).max().unwrap_or(0);
        let rows = Rows { support: table.variables.clone(), rows };
        let table = Entry { table: Some(rows), ..Entry::integer("table", Vec::new(), (low, high)) };
        Ok(self.push(table))
    }

    fn with(&mut self, operation: AccumulatorOp, a: usize, b: usize) -> Result<usize, u32> {
        let of = |i: usize| {
            let (low, high) = self.nodes[i].bounds.unwrap_or((0, 1));
            (i128::from(low), i128::from(high))
        };
        let ((a_low, a_high), (b_low, b_high)) = (of(a), of(b));
        let (op, (low, high)) = match operation {
            AccumulatorOp::Sum => ("add", (a_low + b_low, a_high + b_high)),
            AccumulatorOp::Product => ("mul", product(of(a), of(b))),
            AccumulatorOp::Max => ("max", (a_low.max(b_low), a_high.max(b_high))),
        };
        Ok(self.push(Entry::integer(op, vec![a, b], (small(low)?, small(high)?))))
    }
}
