//! Operators, as they are written.

use crate::ast::{CBinaryOp, UnaryOp};

/// A binary operator, or an assignment with what it does besides.
pub(super) enum Binary {
    Plain(CBinaryOp),
    Assign(Option<CBinaryOp>),
}

/// The binary operator of this spelling.
pub(super) fn binary(text: &str) -> Option<Binary> {
    if let Some(op) = plain(text) {
        return Some(Binary::Plain(op));
    }
    match text.strip_suffix('=')? {
        "" => Some(Binary::Assign(None)),
        op => arithmetic(op).map(|op| Binary::Assign(Some(op))),
    }
}

fn plain(text: &str) -> Option<CBinaryOp> {
    Some(match text {
        "&&" => CBinaryOp::And,
        "||" => CBinaryOp::Or,
        "==" => CBinaryOp::Eq,
        "!=" => CBinaryOp::Ne,
        "<" => CBinaryOp::Lt,
        "<=" => CBinaryOp::Le,
        ">" => CBinaryOp::Gt,
        ">=" => CBinaryOp::Ge,
        "," => CBinaryOp::Comma,
        _ => arithmetic(text)?,
    })
}

/// Those that can stand before `=`.
fn arithmetic(text: &str) -> Option<CBinaryOp> {
    Some(match text {
        "+" => CBinaryOp::Add,
        "-" => CBinaryOp::Sub,
        "*" => CBinaryOp::Mul,
        "/" => CBinaryOp::Div,
        "%" => CBinaryOp::Rem,
        "<<" => CBinaryOp::Shl,
        ">>" => CBinaryOp::Shr,
        "&" => CBinaryOp::BitAnd,
        "|" => CBinaryOp::BitOr,
        "^" => CBinaryOp::BitXor,
        _ => return None,
    })
}

/// The operator with which a text begins.
pub(super) fn prefix(text: &str) -> Option<UnaryOp> {
    let operators = [
        ("++", UnaryOp::PreIncrement),
        ("--", UnaryOp::PreDecrement),
        ("+", UnaryOp::Plus),
        ("-", UnaryOp::Minus),
        ("!", UnaryOp::Not),
        ("~", UnaryOp::Complement),
        ("*", UnaryOp::Deref),
        ("&", UnaryOp::Address),
    ];
    operators.into_iter().find(|(spelling, _)| text.starts_with(spelling)).map(|(_, op)| op)
}

/// The operator that follows an operand.
pub(super) fn postfix(text: &str) -> Option<UnaryOp> {
    match text.get(..2)? {
        "++" => Some(UnaryOp::PostIncrement),
        "--" => Some(UnaryOp::PostDecrement),
        _ => None,
    }
}
