//! Expressions in programming languages.
//!
//! Each language has the functions `tb_div`, `tb_mod`, `tb_min`, `tb_max`, `tb_abs` and
//! `tb_ceil_div` in its template, with the roundings of problem files.

use tickbound_expr::{BinaryOp, Expr, Function};

use crate::SizeExpr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// C and C++: truth values are numbers.
    C,
    /// Rust: truth values are a type.
    Rust,
    /// Python: truth values are numbers.
    Python,
}

/// An expression in a language, a number of 64 bits.
///
/// # Errors
/// A power whose value depends on a size.
pub(super) fn written(expr: &SizeExpr, language: Language) -> Result<String, String> {
    let part = |expr: &SizeExpr| written(expr, language);
    let truth = |text: String| match language {
        Language::C => format!("({text})"),
        Language::Rust => format!("i64::from({text})"),
        Language::Python => format!("int({text})"),
    };
    let is_true = |expr: &SizeExpr| {
        let text = part(expr)?;
        Ok::<_, String>(if language == Language::Rust { format!("{text} != 0") } else { text })
    };
    Ok(match expr {
        Expr::Int(i64::MIN) => format!("({} - 1)", i64::MIN + 1),
        Expr::Int(n) if *n < 0 => format!("({n})"),
        Expr::Int(n) => n.to_string(),
        Expr::Name(name) => name.clone(),
        Expr::Neg(a) => format!("(-{})", part(a)?),
        Expr::Not(a) => truth(format!("{} == 0", part(a)?)),
        Expr::Conditional(c, a, b) => {
            let (c, a, b) = (is_true(c)?, part(a)?, part(b)?);
            match language {
                Language::C => format!("({c} ? {a} : {b})"),
                Language::Rust => format!("(if {c} {{ {a} }} else {{ {b} }})"),
                Language::Python => format!("({a} if {c} else {b})"),
            }
        }
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            let (is_and, a, b) = (*op == BinaryOp::And, is_true(a)?, is_true(b)?);
            match language {
                Language::Python => {
                    format!("int(bool({a} {} {b}))", if is_and { "and" } else { "or" })
                }
                _ => truth(format!("{a} {} {b}", if is_and { "&&" } else { "||" })),
            }
        }
        Expr::Binary(op, a, b) => match operation(*op, &part(a)?, &part(b)?) {
            Some((text, true)) => truth(text),
            Some((text, false)) => text,
            None => return Err(format!("{expr} has no form in code")),
        },
        Expr::Call(function, arguments) => {
            let arguments = arguments.iter().map(part).collect::<Result<Vec<_>, _>>()?;
            call(*function, arguments)
        }
    })
}

/// An operation on two texts, and whether it is a comparison; `None` for a power.
fn operation(op: BinaryOp, a: &str, b: &str) -> Option<(String, bool)> {
    let number = |text: String| Some((text, false));
    let comparison = |sign: &str| Some((format!("{a} {sign} {b}"), true));
    match op {
        BinaryOp::Add => number(format!("({a} + {b})")),
        BinaryOp::Sub => number(format!("({a} - {b})")),
        BinaryOp::Mul => number(format!("({a} * {b})")),
        BinaryOp::Div | BinaryOp::FloorDiv => number(format!("tb_div({a}, {b})")),
        BinaryOp::Rem => number(format!("tb_mod({a}, {b})")),
        BinaryOp::Eq => comparison("=="),
        BinaryOp::Ne => comparison("!="),
        BinaryOp::Lt => comparison("<"),
        BinaryOp::Le => comparison("<="),
        BinaryOp::Gt => comparison(">"),
        BinaryOp::Ge => comparison(">="),
        BinaryOp::Pow | BinaryOp::And | BinaryOp::Or => None,
    }
}

/// The call of a function; those of two arguments are nested where there are more.
fn call(function: Function, mut arguments: Vec<String>) -> String {
    let name = match function {
        Function::Min => "tb_min",
        Function::Max => "tb_max",
        Function::Abs => "tb_abs",
        Function::CeilDiv => "tb_ceil_div",
    };
    while let (true, [.., a, b]) = (arguments.len() > 2, &arguments[..]) {
        let both = format!("{name}({a}, {b})");
        arguments.truncate(arguments.len() - 2);
        arguments.push(both);
    }
    match (function, &arguments[..]) {
        (Function::Min | Function::Max, [one]) => one.clone(),
        _ => format!("{name}({})", arguments.join(", ")),
    }
}
