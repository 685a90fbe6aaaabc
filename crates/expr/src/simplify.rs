//! Expressions without what changes nothing.

use super::expr::{BinaryOp, Expr};

impl<N> Expr<N> {
    /// The expression without ones and zeros that change nothing, and with constants put together.
    ///
    /// It has the same value wherever the expression has one; it may have a value where the
    /// expression has none, as `0 // n` for `n = 0`.
    ///
    /// ```
    /// use tickbound_expr::parse::parse;
    /// let simple = |text: &str| parse(text).unwrap().simplified().to_string();
    /// assert_eq!(simple("n // 1 * (2 + 2) + 0"), "n * 4");
    /// assert_eq!(simple("(K - 0 // A * A - 0 % A) // B"), "K // B");
    /// assert_eq!(simple("n if 1 < 2 else 0"), "n if 1 < 2 else 0");
    /// ```
    #[must_use]
    pub fn simplified(self) -> Expr<N> {
        let of = |e: Box<Expr<N>>| Box::new(e.simplified());
        let (op, a, b) = match self {
            Expr::Binary(op, a, b) => (op, a.simplified(), b.simplified()),
            Expr::Neg(a) => return Expr::Neg(of(a)),
            Expr::Not(a) => return Expr::Not(of(a)),
            Expr::Conditional(c, a, b) => return Expr::Conditional(of(c), of(a), of(b)),
            Expr::Call(f, args) => {
                return Expr::Call(f, args.into_iter().map(Expr::simplified).collect());
            }
            Expr::Int(_) | Expr::Name(_) => return self,
        };
        Expr::folded(op, a, b)
    }

    /// `a op b` for simplified operands, as [`Expr::simplified`] has it.
    pub fn folded(op: BinaryOp, a: Expr<N>, b: Expr<N>) -> Expr<N> {
        match (op, &a, &b) {
            (BinaryOp::Mul | BinaryOp::FloorDiv, _, Expr::Int(1))
            | (BinaryOp::Add | BinaryOp::Sub, _, Expr::Int(0)) => a,
            (BinaryOp::Mul, Expr::Int(1), _) | (BinaryOp::Add, Expr::Int(0), _) => b,
            (BinaryOp::Mul, _, Expr::Int(0))
            | (BinaryOp::Mul | BinaryOp::FloorDiv | BinaryOp::Rem, Expr::Int(0), _) => Expr::Int(0),
            (_, Expr::Int(x), Expr::Int(y)) => {
                constant(op, *x, *y).map_or_else(|| Expr::binary(op, a, b), Expr::Int)
            }
            _ => Expr::binary(op, a, b),
        }
    }
}

fn constant(op: BinaryOp, x: i64, y: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => x.checked_add(y),
        BinaryOp::Sub => x.checked_sub(y),
        BinaryOp::Mul => x.checked_mul(y),
        BinaryOp::FloorDiv if x >= 0 && y > 0 => Some(x / y),
        BinaryOp::Rem if x >= 0 && y > 0 => Some(x % y),
        _ => None,
    }
}
