//! Expressions as lists of operations, in which equal parts are one.

use rustc_hash::FxHashMap as HashMap;

use super::expr::{BinaryOp, Expr, Function, Slot};

/// The number of a part of an expression, of which equal parts have one.
pub(crate) type Part = u32;

/// An operation with numbers for its parts, which are less than its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Int(i64),
    Name(Slot),
    Neg(Part),
    Not(Part),
    Binary(BinaryOp, Part, Part),
    /// Condition, and the value if it holds and if not.
    Conditional(Part, Part, Part),
    Call(Function, Vec<Part>),
}

/// The operations of some expressions.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    pub all: Vec<Operation>,
    numbers: HashMap<Operation, Part>,
}

impl Operations {
    /// The number of an operation, which is added if it is not there.
    pub fn add(&mut self, operation: Operation) -> Part {
        if let Some(number) = self.numbers.get(&operation) {
            return *number;
        }
        self.all.push(operation.clone());
        let number = (self.all.len() - 1) as Part;
        self.numbers.insert(operation, number);
        number
    }

    /// The number of an expression, all of whose parts are added.
    pub fn add_all(&mut self, e: &Expr) -> Part {
        let operation = match e {
            Expr::Int(n) => Operation::Int(*n),
            Expr::Name(slot) => Operation::Name(*slot),
            Expr::Neg(a) => Operation::Neg(self.add_all(a)),
            Expr::Not(a) => Operation::Not(self.add_all(a)),
            Expr::Binary(op, a, b) => Operation::Binary(*op, self.add_all(a), self.add_all(b)),
            Expr::Conditional(c, a, b) => {
                Operation::Conditional(self.add_all(c), self.add_all(a), self.add_all(b))
            }
            Expr::Call(f, all) => {
                Operation::Call(*f, all.iter().map(|e| self.add_all(e)).collect())
            }
        };
        self.add(operation)
    }

    /// The expression with this number.
    pub fn whole(&self, part: Part) -> Expr {
        let boxed = |part: &Part| Box::new(self.whole(*part));
        match &self.all[part as usize] {
            Operation::Int(n) => Expr::Int(*n),
            Operation::Name(slot) => Expr::Name(*slot),
            Operation::Neg(a) => Expr::Neg(boxed(a)),
            Operation::Not(a) => Expr::Not(boxed(a)),
            Operation::Binary(op, a, b) => Expr::Binary(*op, boxed(a), boxed(b)),
            Operation::Conditional(c, a, b) => Expr::Conditional(boxed(c), boxed(a), boxed(b)),
            Operation::Call(f, all) => {
                Expr::Call(*f, all.iter().map(|part| self.whole(*part)).collect())
            }
        }
    }

    /// Whether it is 0 or 1 for any values.
    pub fn is_truth(&self, part: Part) -> bool {
        use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        match &self.all[part as usize] {
            Operation::Not(_) => true,
            Operation::Binary(op, ..) => matches!(op, And | Or | Eq | Ne | Lt | Le | Gt | Ge),
            _ => false,
        }
    }
}
