//! Expressions without what only other values of their names would need.

use super::eval::{integer_binary, integer_call};
use super::expr::{BinaryOp, Expr, Function};

/// The values of an expression in some environments; `None`: it has no value there.
type Values = Vec<Option<i64>>;

impl Expr {
    /// The expression as far as these environments need it, each with the values of all
    /// slots: an operation that is one number in all of them is that number, and sides that
    /// none of them takes are left out.
    ///
    /// In each of them it has the same value, or none if the expression has none. Without an
    /// environment it stays as it is.
    ///
    /// ```
    /// use tickbound_expr::parse::parse;
    /// let names = ["a", "b"];
    /// let over = |text: &str, values: &[[i64; 2]]| {
    ///     let slot = |n: &String| names.iter().position(|m| m == n);
    ///     let read = parse(text).unwrap().resolve(&mut |n| slot(n));
    ///     let envs: Vec<&[i64]> = values.iter().map(|env| &env[..]).collect();
    ///     let simple = read.unwrap().over(&envs).simplified();
    ///     let shown = simple.resolve(&mut |slot| names.get(*slot));
    ///     shown.unwrap().to_string()
    /// };
    /// let values = [[32, 2], [64, 2], [96, 4]];
    /// assert_eq!(over("a // b if a % 32 == 0 else b", &values), "a // b");
    /// assert_eq!(over("max(a, b) + b // 5", &values), "a");
    /// ```
    ///
    /// # Panics
    /// Never for an expression resolved against the scope that made the environments.
    pub fn over(&self, envs: &[&[i64]]) -> Expr {
        if envs.is_empty() { self.clone() } else { of(self, envs).0 }
    }
}

/// The expression over at least one environment, and its values.
fn of(e: &Expr, envs: &[&[i64]]) -> (Expr, Values) {
    let (e, values) = match e {
        Expr::Int(n) => return (e.clone(), vec![Some(*n); envs.len()]),
        Expr::Name(slot) => {
            return (e.clone(), envs.iter().map(|env| Some(env[*slot])).collect());
        }
        Expr::Conditional(c, a, b) => of_sides((c, a, b), envs),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => of_truths(*op, (a, b), envs),
        Expr::Neg(_) | Expr::Not(_) | Expr::Binary(..) | Expr::Call(..) => of_parts(e, envs),
    };
    match values.first() {
        Some(Some(first)) if values.iter().all(|v| *v == Some(*first)) => {
            (Expr::Int(*first), values)
        }
        _ => (e, values),
    }
}

fn of_sides((c, a, b): (&Expr, &Expr, &Expr), envs: &[&[i64]]) -> (Expr, Values) {
    let (condition, holds) = of(c, envs);
    if holds.contains(&None) {
        // There the whole has no value either; elsewhere it may have.
        let [c, a, b] = [c, a, b].map(|part| Box::new(part.clone()));
        return as_it_is(Expr::Conditional(c, a, b), envs);
    }
    let (taken, others) = (where_it_is(true, &holds, envs), where_it_is(false, &holds, envs));
    if others.is_empty() {
        return of(a, envs);
    }
    if taken.is_empty() {
        return of(b, envs);
    }
    let ((then, left), (otherwise, right)) = (of(a, &taken), of(b, &others));
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let value = |v: &Option<i64>| if *v == Some(0) { right.next() } else { left.next() };
    let values = holds.iter().map(value).map(Option::flatten).collect();
    (Expr::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)), values)
}

/// Both true, or one: the second is not examined where the first decides.
fn of_truths(op: BinaryOp, (a, b): (&Expr, &Expr), envs: &[&[i64]]) -> (Expr, Values) {
    let (first, holds) = of(a, envs);
    if holds.contains(&None) {
        return as_it_is(Expr::binary(op, a.clone(), b.clone()), envs);
    }
    let decisive = i64::from(op == BinaryOp::Or);
    let open = where_it_is(op == BinaryOp::And, &holds, envs);
    if open.is_empty() {
        return (Expr::Int(decisive), vec![Some(decisive); envs.len()]);
    }
    let (second, values) = of(b, &open);
    let mut values = values.into_iter().map(|v| v.map(|v| i64::from(v != 0)));
    let decided = |v: &Option<i64>| i64::from(*v != Some(0)) == decisive;
    let value = |v: &Option<i64>| if decided(v) { Some(decisive) } else { values.next().flatten() };
    let values = holds.iter().map(value).collect();
    let alone = open.len() == envs.len() && is_truth(&second);
    (if alone { second } else { Expr::binary(op, first, second) }, values)
}

/// An expression of which no part is left out.
fn as_it_is(e: Expr, envs: &[&[i64]]) -> (Expr, Values) {
    let values = envs.iter().map(|env| e.eval(env).ok()).collect();
    (e, values)
}

/// The environments in which a condition with these values holds, or does not.
fn where_it_is<'e>(taken: bool, holds: &[Option<i64>], envs: &[&'e [i64]]) -> Vec<&'e [i64]> {
    let those = envs.iter().zip(holds).filter(|(_, v)| (**v != Some(0)) == taken);
    those.map(|(env, _)| *env).collect()
}

/// Whether it is 0 or 1 for any values.
fn is_truth(e: &Expr) -> bool {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    match e {
        Expr::Not(_) => true,
        Expr::Binary(op, ..) => matches!(op, And | Or | Eq | Ne | Lt | Le | Gt | Ge),
        _ => false,
    }
}

fn of_parts(e: &Expr, envs: &[&[i64]]) -> (Expr, Values) {
    let mut parts: Vec<(Expr, Values)> = e.parts().map(|part| of(part, envs)).collect();
    let row = |i: usize| parts.iter().map(|(_, values)| values[i]).collect::<Option<Vec<i64>>>();
    let values: Values = (0..envs.len()).map(|i| row(i).and_then(|row| value(e, &row))).collect();
    if let Expr::Call(Function::Min | Function::Max, _) = e
        && let Some(decides) = parts.iter().position(|(_, own)| *own == values)
    {
        return (parts.swap_remove(decides).0, values);
    }
    let mut own = parts.into_iter().map(|(part, _)| part);
    (e.with_parts(|_| own.next()).unwrap_or_else(|| e.clone()), values)
}

/// The values of an operation, given those of its parts.
fn value(e: &Expr, parts: &[i64]) -> Option<i64> {
    match (e, parts) {
        (Expr::Neg(_), [a]) => a.checked_neg(),
        (Expr::Not(_), [a]) => Some(i64::from(*a == 0)),
        (Expr::Binary(op, ..), [a, b]) => integer_binary(*op, *a, *b).ok(),
        (Expr::Call(f, _), parts) => integer_call(*f, parts).ok(),
        _ => None,
    }
}
