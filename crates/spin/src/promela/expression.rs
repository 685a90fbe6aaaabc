//! Expressions of a problem as Promela expressions.
//!
//! Promela computes as C does, in 32 bits, and its division rounds towards zero. So the text of an
//! expression is carried over only if C gets the value of the model for *every* configuration and
//! work item that occurs; [`c_value`] is that arithmetic, with every intermediate result watched.

use tickbound_expr::{BinaryOp, Expr, Function};

/// `expr` in Promela, with `name` for its slots; `None` if Promela has no such operator.
pub(crate) fn text(expr: &Expr, name: &dyn Fn(usize) -> String) -> Option<String> {
    Some(match expr {
        Expr::Int(v) if *v < 0 => format!("({v})"),
        Expr::Int(v) => v.to_string(),
        Expr::Name(slot) => name(*slot),
        Expr::Neg(a) => format!("(-{})", inner(a, name)?),
        Expr::Not(a) => format!("!{}", inner(a, name)?),
        Expr::Conditional(c, a, b) => {
            format!("({} -> {} : {})", text(c, name)?, inner(a, name)?, inner(b, name)?)
        }
        Expr::Binary(BinaryOp::Pow, a, b) => {
            // Only powers of two: `1 << b`.
            matches!(**a, Expr::Int(2)).then_some(())?;
            format!("(1 << {})", inner(b, name)?)
        }
        Expr::Binary(op, a, b) => {
            format!("{} {} {}", inner(a, name)?, symbol(*op)?, inner(b, name)?)
        }
        Expr::Call(f, args) => call(*f, args, name)?,
    })
}

/// As [`text`], in parentheses if it is more than a word.
pub(crate) fn inner(expr: &Expr, name: &dyn Fn(usize) -> String) -> Option<String> {
    let text = text(expr, name)?;
    Some(if matches!(expr, Expr::Binary(op, ..) if *op != BinaryOp::Pow) {
        format!("({text})")
    } else {
        text
    })
}

fn symbol(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Div | BinaryOp::FloorDiv => "/",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::Pow => return None,
        other => other.symbol(),
    })
}

fn call(f: Function, args: &[Expr], name: &dyn Fn(usize) -> String) -> Option<String> {
    let args: Vec<String> = args.iter().map(|a| inner(a, name)).collect::<Option<_>>()?;
    let (first, rest) = args.split_first()?;
    let fold = |sign: &str| {
        let step = |a: String, b: &String| format!("({a} {sign} {b} -> {a} : {b})");
        // Every step doubles the text, so longer lists are left to tables.
        (rest.len() <= 3).then(|| rest.iter().fold(first.clone(), step))
    };
    match f {
        Function::Min => fold("<"),
        Function::Max => fold(">"),
        Function::Abs => Some(format!("({first} < 0 -> -{first} : {first})")),
        Function::CeilDiv => {
            let by = rest.first()?;
            Some(format!("(({first} + {by} - 1) / {by})"))
        }
    }
}

/// What C gets for [`text`] in 32 bits; `None` if it divides by zero or leaves 32 bits on the way.
pub(crate) fn c_value(expr: &Expr, env: &[i64]) -> Option<i64> {
    Some(match expr {
        Expr::Int(v) => within(*v)?,
        Expr::Name(slot) => within(*env.get(*slot)?)?,
        Expr::Neg(a) => within(-c_value(a, env)?)?,
        Expr::Not(a) => i64::from(c_value(a, env)? == 0),
        Expr::Conditional(c, a, b) => {
            let chosen = if c_value(c, env)? != 0 { a } else { b };
            c_value(chosen, env)?
        }
        Expr::Binary(BinaryOp::And, a, b) => {
            i64::from(c_value(a, env)? != 0 && c_value(b, env)? != 0)
        }
        Expr::Binary(BinaryOp::Or, a, b) => {
            i64::from(c_value(a, env)? != 0 || c_value(b, env)? != 0)
        }
        Expr::Binary(op, a, b) => c_binary(*op, c_value(a, env)?, c_value(b, env)?)?,
        Expr::Call(f, args) => {
            let values = args.iter().map(|a| c_value(a, env)).collect::<Option<Vec<_>>>()?;
            c_call(*f, &values)?
        }
    })
}

fn within(value: i64) -> Option<i64> {
    i32::try_from(value).is_ok().then_some(value)
}

// Operands have 32 bits, so no operation here leaves 64.
fn c_binary(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    within(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::FloorDiv => a.checked_div(b)?,
        BinaryOp::Rem => a.checked_rem(b)?,
        BinaryOp::Pow => {
            let shift = u32::try_from(b).ok().filter(|b| *b < 31)?;
            if a == 2 { 1 << shift } else { return None }
        }
        BinaryOp::Eq => i64::from(a == b),
        BinaryOp::Ne => i64::from(a != b),
        BinaryOp::Lt => i64::from(a < b),
        BinaryOp::Le => i64::from(a <= b),
        BinaryOp::Gt => i64::from(a > b),
        BinaryOp::Ge => i64::from(a >= b),
        BinaryOp::And | BinaryOp::Or => return None,
    })
}

fn c_call(f: Function, values: &[i64]) -> Option<i64> {
    within(match f {
        Function::Min => *values.iter().min()?,
        Function::Max => *values.iter().max()?,
        Function::Abs => values.first()?.abs(),
        Function::CeilDiv => {
            let (a, b) = (*values.first()?, *values.get(1)?);
            within(within(a + b)? - 1)?.checked_div(b)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickbound_expr::parse::parse;

    fn read(source: &str) -> Expr {
        parse(source).unwrap().resolve(&mut |n| ["a", "b"].iter().position(|x| x == n)).unwrap()
    }

    #[test]
    fn the_text_of_each_operator() {
        let cases = [
            ("a + b * 2", Some("a + (b * 2)")),
            ("a // b - a % b", Some("(a / b) - (a % b)")),
            ("-a < 3 and not b", Some("((-a) < 3) && !b")),
            ("1 if a == b else b", Some("(a == b -> 1 : b)")),
            ("min(a, b)", Some("(a < b -> a : b)")),
            ("ceil_div(a, b)", Some("((a + b - 1) / b)")),
            ("2 ** a", Some("(1 << a)")),
            ("3 ** a", None),
            ("min(a, b, a, b, a, b)", None),
        ];
        for (source, expected) in cases {
            let name = |slot: usize| ["a", "b"][slot].to_owned();
            assert_eq!(text(&read(source), &name).as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn c_differs_where_it_should() {
        let cases = [
            ("a / b", [7, 2], Some(3)),
            ("a / b", [-7, 2], Some(-3)), // the model says -4
            ("a / b", [7, 0], None),
            ("a * b", [65536, 65536], None),
            ("a", [1 << 40, 0], None),
            ("ceil_div(a, b)", [2147483647, 2], None),
            ("2 ** a", [31, 0], None),
            ("a and b", [2, 3], Some(1)),
        ];
        for (source, env, expected) in cases {
            assert_eq!(c_value(&read(source), &env), expected, "{source} {env:?}");
        }
    }
}
