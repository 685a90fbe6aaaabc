//! Expressions as C writes them, in one way.
//!
//! There are no macros, single spaces and no needless parentheses. Answers in problem files name
//! conditions so.

use itertools::Itertools;

use crate::ast::{CBinaryOp, CExpr, ExprKind, ScalarType, Type, UnaryOp};

/// Binds closer than any operator.
const CLOSEST: u8 = 16;

/// The text of an expression.
pub fn written(e: &CExpr) -> String {
    text(e, 0)
}

/// The text, in parentheses if it binds less closely than asked.
fn text(e: &CExpr, asked: u8) -> String {
    let (text, binds) = of(e);
    if binds < asked { format!("({text})") } else { text }
}

fn list(parts: &[CExpr]) -> String {
    parts.iter().map(|part| text(part, 2)).join(", ")
}

/// The text, and how closely it binds.
fn of(e: &CExpr) -> (String, u8) {
    match &e.kind {
        ExprKind::Int(value) | ExprKind::SizeOf(value) => (value.to_string(), CLOSEST),
        ExprKind::Real(text) => (text.clone(), CLOSEST),
        ExprKind::Text => ("\"\"".into(), CLOSEST),
        ExprKind::Variable(_, name) | ExprKind::Symbol(name) => (name.clone(), CLOSEST),
        ExprKind::Unread(what) => (what.clone(), CLOSEST),
        ExprKind::Unary(op, a) => unary(*op, a),
        ExprKind::Binary(op, a, b) => {
            let (sign, binds) = binary(*op);
            (format!("{} {sign} {}", text(a, binds), text(b, binds + 1)), binds)
        }
        ExprKind::Assign(op, a, b) => {
            let sign = op.map_or("", |op| binary(op).0);
            (format!("{} {sign}= {}", text(a, 15), text(b, 2)), 2)
        }
        ExprKind::Conditional(c, a, b) => {
            (format!("{} ? {} : {}", text(c, 4), text(a, 2), text(b, 3)), 3)
        }
        ExprKind::Call(name, arguments) => (format!("{name}({})", list(arguments)), CLOSEST),
        ExprKind::Index(base, index) => {
            (format!("{}[{}]", text(base, CLOSEST), text(index, 0)), CLOSEST)
        }
        ExprKind::Member { base, member, arrow } => {
            let sign = if *arrow { "->" } else { "." };
            (format!("{}{sign}{member}", text(base, CLOSEST)), CLOSEST)
        }
        ExprKind::Cast(a) => (format!("({}){}", type_name(&e.ty), text(a, 15)), 15),
        ExprKind::List(parts) => match &e.ty {
            Type::Vector(..) => (format!("({})({})", type_name(&e.ty), list(parts)), 15),
            _ => (format!("{{{}}}", list(parts)), CLOSEST),
        },
    }
}

fn unary(op: UnaryOp, a: &CExpr) -> (String, u8) {
    match op {
        UnaryOp::PostIncrement => (format!("{}++", text(a, CLOSEST)), CLOSEST),
        UnaryOp::PostDecrement => (format!("{}--", text(a, CLOSEST)), CLOSEST),
        _ => {
            let sign = PREFIX.iter().find(|(own, _)| *own == op).map_or("", |(_, sign)| sign);
            (format!("{sign}{}", text(a, 15)), 15)
        }
    }
}

/// The sign of an operator, and how closely it binds.
fn binary(op: CBinaryOp) -> (&'static str, u8) {
    let entry = BINARY.iter().find(|(own, ..)| *own == op);
    entry.map_or((",", 1), |(_, sign, binds)| (*sign, *binds))
}

/// Operators in front of an operand; none begins with one behind it.
pub(crate) const PREFIX: [(UnaryOp, &str); 8] = [
    (UnaryOp::PreIncrement, "++"),
    (UnaryOp::PreDecrement, "--"),
    (UnaryOp::Plus, "+"),
    (UnaryOp::Minus, "-"),
    (UnaryOp::Not, "!"),
    (UnaryOp::Complement, "~"),
    (UnaryOp::Deref, "*"),
    (UnaryOp::Address, "&"),
];

/// Operators between two operands, with how closely they bind.
pub(crate) const BINARY: [(CBinaryOp, &str, u8); 19] = [
    (CBinaryOp::Comma, ",", 1),
    (CBinaryOp::Or, "||", 4),
    (CBinaryOp::And, "&&", 5),
    (CBinaryOp::BitOr, "|", 6),
    (CBinaryOp::BitXor, "^", 7),
    (CBinaryOp::BitAnd, "&", 8),
    (CBinaryOp::Eq, "==", 9),
    (CBinaryOp::Ne, "!=", 9),
    (CBinaryOp::Lt, "<", 10),
    (CBinaryOp::Le, "<=", 10),
    (CBinaryOp::Gt, ">", 10),
    (CBinaryOp::Ge, ">=", 10),
    (CBinaryOp::Shl, "<<", 11),
    (CBinaryOp::Shr, ">>", 11),
    (CBinaryOp::Add, "+", 12),
    (CBinaryOp::Sub, "-", 12),
    (CBinaryOp::Mul, "*", 13),
    (CBinaryOp::Div, "/", 13),
    (CBinaryOp::Rem, "%", 13),
];

pub(crate) fn type_name(ty: &Type) -> String {
    match ty {
        Type::Void => "void".into(),
        Type::Scalar(scalar) => scalar_name(*scalar).into(),
        Type::Vector(scalar, width) => format!("{}{width}", scalar_name(*scalar)),
        Type::Pointer(space, to) => format!("{} {} *", space.name(), type_name(to)),
        Type::Array(element, _) => format!("{}[]", type_name(element)),
        Type::Struct(name, _) | Type::Union(name, _) | Type::Other(name) => name.clone(),
    }
}

/// The name of a scalar type, as OpenCL C has it.
pub(crate) fn scalar_name(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::Bool => "bool",
        ScalarType::Int { bytes: 1, signed: true } => "char",
        ScalarType::Int { bytes: 1, signed: false } => "uchar",
        ScalarType::Int { bytes: 2, signed: true } => "short",
        ScalarType::Int { bytes: 2, signed: false } => "ushort",
        ScalarType::Int { bytes: 8, signed: true } => "long",
        ScalarType::Int { bytes: 8, signed: false } => "ulong",
        ScalarType::Int { signed: true, .. } => "int",
        ScalarType::Int { signed: false, .. } => "uint",
        ScalarType::Real { bytes: 2 } => "half",
        ScalarType::Real { bytes: 8 } => "double",
        ScalarType::Real { .. } => "float",
    }
}
