//! Our expressions in Python's notation, with everything but parameters substituted.

use crate::scope::NameKind;
use crate::{ModelError, Problem};
use tickbound_expr::{BinaryOp, Expr, Function};

/// Words that are no names in Python, and the functions that conditions call.
const WORDS: [&str; 38] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield", "min", "max", "abs",
];

/// Whether a parameter can have this name where Python evaluates conditions.
///
/// # Errors
/// It cannot.
pub(super) fn check_name(name: &str) -> Result<(), ModelError> {
    match WORDS.contains(&name) {
        false => Ok(()),
        true => Err(ModelError::new(
            format!("parameters.{name}"),
            format!("`{name}` cannot be a name in a T1 file, whose conditions are in Python"),
            "rename the parameter",
        )),
    }
}

/// What `/` means in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Division {
    /// As in Python: in constraints.
    Exact,
    /// Rounded down: everywhere else.
    Floor,
}

/// `expr` over parameters alone: inputs and platform numbers become their values, definitions what
/// they are defined as, and functions that Python lacks what they mean.
pub(super) fn over_parameters(problem: &Problem, expr: &Expr, division: Division) -> Expr<String> {
    let truth = division == Division::Exact;
    let expr = Python { division }.expr(expr, truth);
    let Ok(replaced) = expr.replace(&mut |slot: &usize| {
        Ok::<_, std::convert::Infallible>(match problem.scope.kind(*slot) {
            Some(NameKind::Definition) => {
                let (_, meaning) = &problem.definitions[*slot - problem.first_definition()];
                over_parameters(problem, meaning, Division::Floor)
            }
            Some(NameKind::Input | NameKind::Platform) => Expr::Int(known(problem, *slot)),
            _ => Expr::Name(problem.scope.name(*slot).to_owned()),
        })
    });
    replaced
}

/// The value of an input or a platform number.
fn known(problem: &Problem, slot: usize) -> i64 {
    let inputs = problem.inputs.values().copied();
    inputs.chain(problem.platform.numbers().map(|(_, n)| n)).nth(slot).unwrap_or_default()
}

/// Writes expressions so that Python makes the same of them.
struct Python {
    division: Division,
}

impl Python {
    /// `truth`: only truth matters. Else `a or b` is an operand in Python, but 0 or 1 here.
    fn expr(&self, expr: &Expr, truth: bool) -> Expr {
        let of = |e: &Expr| Box::new(self.expr(e, false));
        match expr {
            Expr::Int(_) | Expr::Name(_) => expr.clone(),
            Expr::Neg(a) => Expr::Neg(of(a)),
            Expr::Not(a) => Expr::Not(Box::new(self.expr(a, true))),
            Expr::Binary(BinaryOp::Div, a, b) if self.division == Division::Floor => {
                Expr::Binary(BinaryOp::FloorDiv, of(a), of(b))
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let [a, b] = [a, b].map(|e| Box::new(self.expr(e, true)));
                let whole = Expr::Binary(*op, a, b);
                match truth {
                    true => whole,
                    false => Expr::Conditional(
                        Box::new(whole),
                        Box::new(Expr::Int(1)),
                        Box::new(Expr::Int(0)),
                    ),
                }
            }
            Expr::Binary(op, a, b) => Expr::Binary(*op, of(a), of(b)),
            Expr::Conditional(c, a, b) => Expr::Conditional(
                Box::new(self.expr(c, true)),
                Box::new(self.expr(a, truth)),
                Box::new(self.expr(b, truth)),
            ),
            Expr::Call(f, args) => self.call(*f, args),
        }
    }

    fn call(&self, function: Function, args: &[Expr]) -> Expr {
        let args: Vec<Expr> = args.iter().map(|a| self.expr(a, false)).collect();
        match (function, &args[..]) {
            // ceil(a / b) = -((-a) // b)
            (Function::CeilDiv, [a, b]) => {
                let a = Box::new(Expr::Neg(Box::new(a.clone())));
                let b = Box::new(b.clone());
                Expr::Neg(Box::new(Expr::Binary(BinaryOp::FloorDiv, a, b)))
            }
            // Python's take one argument for a list.
            (Function::Min | Function::Max, [a]) => a.clone(),
            _ => Expr::Call(function, args),
        }
    }
}

/// A condition in Python as one of ours: `a or b` whose value matters is one of its operands.
pub(super) fn from_python(expr: &Expr<String>, truth: bool) -> Expr<String> {
    let of = |e: &Expr<String>| Box::new(from_python(e, false));
    let true_of = |e: &Expr<String>| Box::new(from_python(e, true));
    match expr {
        Expr::Int(_) | Expr::Name(_) => expr.clone(),
        Expr::Neg(a) => Expr::Neg(of(a)),
        Expr::Not(a) => Expr::Not(true_of(a)),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if truth => {
            Expr::Binary(*op, true_of(a), true_of(b))
        }
        Expr::Binary(BinaryOp::Or, a, b) => Expr::Conditional(true_of(a), of(a), of(b)),
        Expr::Binary(BinaryOp::And, a, b) => Expr::Conditional(true_of(a), of(b), of(a)),
        Expr::Binary(op, a, b) => Expr::Binary(*op, of(a), of(b)),
        Expr::Conditional(c, a, b) => Expr::Conditional(
            true_of(c),
            Box::new(from_python(a, truth)),
            Box::new(from_python(b, truth)),
        ),
        Expr::Call(f, args) => Expr::Call(*f, args.iter().map(|a| from_python(a, false)).collect()),
    }
}
