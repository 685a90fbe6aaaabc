//! One expression for many combinations of its names' values.

use super::eval::{integer_binary, integer_call};
use super::expr::{BinaryOp, Expr, Slot};
use super::operations::{Operation, Operations, Part};

/// An expression whose names get their values in stages: each part is computed in the stage in
/// which the last of its names gets one, and stays while the values of later stages change.
///
/// ```
/// use tickbound_expr::{parse::parse, staged::Staged};
///
/// let slot = |name: &String| ["a", "b"].iter().position(|n| n == name);
/// let expr = parse("a * a % 7 + b").unwrap().resolve(&mut |name| slot(name)).unwrap();
/// let mut staged = Staged::new(&expr, 2, |slot| slot);
/// let mut sum = 0;
/// for a in 0..3 {
///     staged.advance(0, |_| a);
///     for b in 0..4 {
///         staged.advance(1, |_| b);
///         sum += staged.value().unwrap();
///     }
/// }
/// assert_eq!(sum, 4 * (0 + 1 + 4) + 3 * (0 + 1 + 2 + 3));
/// ```
#[derive(Debug, Clone)]
pub struct Staged {
    /// For each stage its operations, those first that others need.
    stages: Vec<Vec<(Part, Operation)>>,
    /// The values of all operations; `None` where one has none.
    values: Vec<Option<i64>>,
}

impl Staged {
    /// An expression in this number of stages, at least one, where each name gets its value in
    /// stage `stage(slot)`, below that number. Numbers are known in stage 0.
    pub fn new(expr: &Expr, stages: usize, stage: impl Fn(Slot) -> usize) -> Staged {
        let mut operations = Operations::default();
        operations.add_all(expr);
        let mut known: Vec<usize> = Vec::with_capacity(operations.all.len());
        let mut by_stage: Vec<Vec<(Part, Operation)>> = vec![Vec::new(); stages];
        for (part, operation) in (0..).zip(operations.all) {
            let last = match &operation {
                Operation::Int(_) => 0,
                Operation::Name(slot) => stage(*slot),
                Operation::Neg(a) | Operation::Not(a) => known[*a as usize],
                Operation::Binary(_, a, b) => known[*a as usize].max(known[*b as usize]),
                Operation::Conditional(c, a, b) => {
                    [c, a, b].into_iter().fold(0, |last, part| last.max(known[*part as usize]))
                }
                Operation::Call(_, all) => {
                    all.iter().fold(0, |last, part| last.max(known[*part as usize]))
                }
            };
            known.push(last);
            by_stage[last].push((part, operation));
        }
        Staged { stages: by_stage, values: vec![None; known.len()] }
    }

    /// Computes the parts of a stage, given the values of the names that get one in it.
    pub fn advance(&mut self, stage: usize, name: impl Fn(Slot) -> i64) {
        for (part, operation) in &self.stages[stage] {
            self.values[*part as usize] = match operation {
                Operation::Name(slot) => Some(name(*slot)),
                operation => self.computed(operation),
            };
        }
    }

    /// The value, once all stages are done; `None` where [`Expr::eval`] has an error.
    pub fn value(&self) -> Option<i64> {
        self.values.last().copied().flatten()
    }

    fn computed(&self, operation: &Operation) -> Option<i64> {
        let value = |part: &Part| self.values[*part as usize];
        match operation {
            Operation::Int(n) => Some(*n),
            Operation::Name(_) => None,
            Operation::Neg(a) => value(a)?.checked_neg(),
            Operation::Not(a) => Some(i64::from(value(a)? == 0)),
            Operation::Conditional(c, a, b) => value(if value(c)? != 0 { a } else { b }),
            Operation::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let first = value(a)? != 0;
                let decides = first == (*op == BinaryOp::Or);
                Some(i64::from(if decides { first } else { value(b)? != 0 }))
            }
            Operation::Binary(op, a, b) => integer_binary(*op, value(a)?, value(b)?).ok(),
            Operation::Call(f, all) => match all.as_slice() {
                [a] => integer_call(*f, &[value(a)?]).ok(),
                [a, b] => integer_call(*f, &[value(a)?, value(b)?]).ok(),
                all => integer_call(*f, &all.iter().map(value).collect::<Option<Vec<_>>>()?).ok(),
            },
        }
    }
}
