//! Our expressions in Python's notation, with everything but parameters put in.

use crate::model::Problem;
use crate::model::expr::{BinaryOp, Expr, Function};
use crate::model::scope::NameKind;

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
    let expr = in_python(expr, division);
    let replaced = expr.replace(&mut |slot: &usize| {
        Ok::<_, std::convert::Infallible>(match problem.scope.kind(*slot) {
            Some(NameKind::Definition) => {
                let (_, meaning) = &problem.definitions[*slot - problem.first_definition()];
                over_parameters(problem, meaning, Division::Floor)
            }
            Some(NameKind::Input | NameKind::Platform) => Expr::Int(known(problem, *slot)),
            _ => Expr::Name(problem.scope.name(*slot).to_owned()),
        })
    });
    match replaced {
        Ok(expr) => expr,
        Err(never) => match never {},
    }
}

/// The value of an input or a platform number.
fn known(problem: &Problem, slot: usize) -> i64 {
    let inputs = problem.inputs.values().copied();
    inputs.chain(problem.platform.numbers().map(|(_, n)| n)).nth(slot).unwrap_or_default()
}

fn in_python(expr: &Expr, division: Division) -> Expr {
    let of = |e: &Expr| Box::new(in_python(e, division));
    match expr {
        Expr::Int(_) | Expr::Name(_) => expr.clone(),
        Expr::Neg(a) => Expr::Neg(of(a)),
        Expr::Not(a) => Expr::Not(of(a)),
        Expr::Binary(BinaryOp::Div, a, b) if division == Division::Floor => {
            Expr::Binary(BinaryOp::FloorDiv, of(a), of(b))
        }
        Expr::Binary(op, a, b) => Expr::Binary(*op, of(a), of(b)),
        Expr::Conditional(c, a, b) => Expr::Conditional(of(c), of(a), of(b)),
        // ceil(a / b) = -((-a) // b)
        Expr::Call(Function::CeilDiv, args) if args.len() == 2 => {
            let quotient =
                Expr::Binary(BinaryOp::FloorDiv, Box::new(Expr::Neg(of(&args[0]))), of(&args[1]));
            Expr::Neg(Box::new(quotient))
        }
        Expr::Call(f, args) => {
            Expr::Call(*f, args.iter().map(|a| in_python(a, division)).collect())
        }
    }
}
