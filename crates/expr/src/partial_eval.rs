//! Partial evaluation: an expression narrowed to the values of the names that are known.

use super::expr::{BinaryOp, Expr, Slot};

impl Expr {
    /// The expression where only slots from `open` on are still to be chosen; `env` has the values
    /// of those before.
    ///
    /// ```
    /// use tickbound_expr::parse::parse;
    /// // n = 6 and m = 2 are known, i is not.
    /// let names = ["n", "m", "i"];
    /// let special = |text: &str| {
    ///     let e = parse(text).unwrap();
    ///     let e = e.resolve(&mut |name| names.iter().position(|n| n == name)).unwrap();
    ///     e.special(&[6, 2, 0], 2).resolve(&mut |slot| Some(names[*slot])).unwrap().to_string()
    /// };
    /// assert_eq!(special("i * (n // m)"), "i * 3");
    /// assert_eq!(special("i if n > m else i // 0"), "i");
    /// assert_eq!(special("n < m and i < 3"), "0");
    /// // A fault stays where it is.
    /// assert_eq!(special("i + n // 0"), "i + 6 // 0");
    /// ```
    pub fn special(&self, env: &[i64], open: Slot) -> Expr {
        let part = |e: &Expr| e.special(env, open);
        let special = match self {
            Expr::Name(slot) if *slot < open => return Expr::Int(env[*slot]),
            Expr::Int(_) | Expr::Name(_) => return self.clone(),
            Expr::Conditional(c, a, b) => match part(c) {
                Expr::Int(0) => return part(b),
                Expr::Int(_) => return part(a),
                c => Expr::conditional(c, part(a), part(b)),
            },
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => match (op, part(a)) {
                (BinaryOp::And, Expr::Int(0)) => return Expr::Int(0),
                (BinaryOp::Or, Expr::Int(n)) if n != 0 => return Expr::Int(1),
                (_, a) => Expr::binary(*op, a, part(b)),
            },
            _ => self.with_parts(|e| Some(part(e))).unwrap_or_else(|| self.clone()),
        };
        let known = special.parts().all(|e| matches!(e, Expr::Int(_)));
        let value = known.then(|| special.eval(&[]).ok()).flatten();
        value.map_or(special, Expr::Int)
    }
}
