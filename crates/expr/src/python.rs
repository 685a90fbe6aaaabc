//! Numbers and functions of Python as expressions, in which `/` is exact.

use super::expr::{BinaryOp, Expr, Function};

/// A whole number, which may be hexadecimal, octal or binary.
pub(crate) fn whole(text: &str) -> Option<i64> {
    let plain = text.replace('_', "").to_lowercase();
    let radix = [("0x", 16), ("0o", 8), ("0b", 2)];
    let radix =
        radix.iter().find_map(|(prefix, radix)| Some((plain.strip_prefix(prefix)?, *radix)));
    let (digits, radix) = radix.unwrap_or((&plain, 10));
    i64::from_str_radix(digits, radix).ok()
}

/// `whole.part` times ten to the power of `exponent`, as the fraction that it is.
pub(crate) fn decimal(whole: &str, part: &str, exponent: &str) -> Option<Expr<String>> {
    let above = format!("{whole}{part}").parse::<i64>().ok()?;
    let scale = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(part.len()).ok()?)?;
    let power = 10_i64.checked_pow(scale.unsigned_abs())?;
    match scale {
        0.. => above.checked_mul(power).map(Expr::Int),
        _ => Some(Expr::binary(BinaryOp::Div, Expr::Int(above), Expr::Int(power))),
    }
}

/// What a function makes of the elements of a list.
pub(crate) fn folded(function: &str, elements: Vec<Expr<String>>) -> Option<Expr<String>> {
    let (op, none) = match function {
        "len" => return Some(Expr::Int(i64::try_from(elements.len()).ok()?)),
        "min" | "max" if !elements.is_empty() => {
            return Some(Expr::Call(Function::by_name(function)?, elements));
        }
        "sum" => (BinaryOp::Add, 0),
        "any" => (BinaryOp::Or, 0),
        "all" => (BinaryOp::And, 1),
        _ => return None,
    };
    let all = elements.into_iter().reduce(|all, e| Expr::binary(op, all, e));
    let all = all.unwrap_or(Expr::Int(none));
    Some(if op == BinaryOp::Add { all } else { truth(all) })
}

/// 1 where `of` is true, otherwise 0.
fn truth(of: Expr<String>) -> Expr<String> {
    Expr::Not(Box::new(Expr::Not(Box::new(of))))
}

/// What functions of one number make of it.
pub(crate) fn rounded(function: &str, of: Expr<String>) -> Option<Expr<String>> {
    let floor = |of| Expr::binary(BinaryOp::FloorDiv, of, Expr::Int(1));
    Some(match function {
        "float" => of,
        "bool" => truth(of),
        "math.floor" => floor(of),
        "math.ceil" => Expr::Call(Function::CeilDiv, vec![of, Expr::Int(1)]),
        "int" => {
            let positive = Expr::binary(BinaryOp::Ge, of.clone(), Expr::Int(0));
            let negative = Expr::Neg(Box::new(floor(Expr::Neg(Box::new(of.clone())))));
            Expr::conditional(positive, floor(of), negative)
        }
        _ => return None,
    })
}
