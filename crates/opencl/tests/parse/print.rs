//! Trees as short texts.

use std::fmt::Write as _;

use itertools::Itertools;
use tickbound_opencl::ast::{
    AddressSpace, CBinaryOp, CExpr, CFunction, CStmt, CStmtKind, CVariable, ExprKind, Label,
    ScalarType, Type, UnaryOp, Unit,
};

/// A unit, one function or variable a line, then statements with their lines.
pub fn print(unit: &Unit) -> String {
    let mut text = String::new();
    for global in &unit.globals {
        writeln!(text, "{}: {}", global.at.line, variable(global)).expect("a string grows");
    }
    for function in unit.functions.values() {
        text += &print_function(function);
    }
    text
}

fn print_function(function: &CFunction) -> String {
    let kernel = if function.kernel { "kernel " } else { "" };
    let parameters = function.parameters.iter().map(variable).join(", ");
    let mut text = format!(
        "{}: {kernel}{} {}({parameters})\n",
        function.at.line,
        ty(&function.result),
        function.name
    );
    for line in function.body.iter().map(|s| stmt(s, true)) {
        writeln!(text, "  {line}").expect("a string grows");
    }
    text
}

fn variable(variable: &CVariable) -> String {
    let space = match variable.space {
        AddressSpace::Private => String::new(),
        other => format!("{} ", other.name()),
    };
    let init = variable.init.as_ref().map(|init| format!(" = {}", expr(init))).unwrap_or_default();
    format!("{space}{}#{}: {}{init}", variable.name, variable.id.0, ty(&variable.ty))
}

fn ty(of: &Type) -> String {
    match of {
        Type::Void => "void".into(),
        Type::Scalar(of) => scalar(*of).into(),
        Type::Vector(of, width) => format!("{}{width}", scalar(*of)),
        Type::Pointer(to, of) => format!("*{} {}", to.name(), ty(of)),
        Type::Array(of, length) => {
            let length = length.as_ref().map(|l| expr(l)).unwrap_or_default();
            format!("[{length}]{}", ty(of))
        }
        Type::Struct(name, fields) | Type::Union(name, fields) => {
            format!(
                "{name}{{{}}}",
                fields.iter().map(|(n, f)| format!("{n}: {}", ty(f))).join(", ")
            )
        }
        Type::Other(name) => format!("other {name}"),
    }
}

fn scalar(of: ScalarType) -> &'static str {
    match of {
        ScalarType::Bool => "bool",
        ScalarType::Int { bytes: 1, signed: true } => "char",
        ScalarType::Int { bytes: 1, signed: false } => "uchar",
        ScalarType::Int { bytes: 2, signed: true } => "short",
        ScalarType::Int { bytes: 2, signed: false } => "ushort",
        ScalarType::Int { bytes: 4, signed: true } => "int",
        ScalarType::Int { bytes: 4, signed: false } => "uint",
        ScalarType::Int { signed: true, .. } => "long",
        ScalarType::Int { signed: false, .. } => "ulong",
        ScalarType::Real { bytes: 2 } => "half",
        ScalarType::Real { bytes: 4 } => "float",
        ScalarType::Real { .. } => "double",
    }
}

fn block(body: &[CStmt], lines: bool) -> String {
    format!("{{{}}}", body.iter().map(|s| stmt(s, lines)).join(" "))
}

/// A statement, with its line in front or not.
pub fn stmt(of: &CStmt, lines: bool) -> String {
    let text = match &of.kind {
        CStmtKind::Block(body) => block(body, lines),
        CStmtKind::Declare(variables) => {
            format!("let {};", variables.iter().map(variable).join(", "))
        }
        CStmtKind::Expr(e) => format!("{};", expr(e)),
        CStmtKind::If(condition, then, otherwise) if otherwise.is_empty() => {
            format!("if {} {}", expr(condition), block(then, lines))
        }
        CStmtKind::If(condition, then, otherwise) => {
            format!(
                "if {} {} else {}",
                expr(condition),
                block(then, lines),
                block(otherwise, lines)
            )
        }
        CStmtKind::For { init, condition, step, body } => format!(
            "for ({} | {} | {}) {}",
            init.iter().map(|s| stmt(s, false)).join(" "),
            condition.as_ref().map(expr).unwrap_or_default(),
            step.as_ref().map(expr).unwrap_or_default(),
            block(body, lines)
        ),
        CStmtKind::While(condition, body) => {
            format!("while {} {}", expr(condition), block(body, lines))
        }
        CStmtKind::DoWhile(body, condition) => {
            format!("do {} while {}", block(body, lines), expr(condition))
        }
        CStmtKind::Switch(value, labels, body) => {
            let of = |l: &Label| l.value.as_ref().map_or_else(|| "default".into(), expr);
            let labels = labels.iter().map(|l| format!("{}: {}", of(l), l.place)).join(", ");
            format!("switch {} [{labels}] {}", expr(value), block(body, lines))
        }
        CStmtKind::Return(None) => "return;".into(),
        CStmtKind::Return(Some(value)) => format!("return {};", expr(value)),
        CStmtKind::Break => "break;".into(),
        CStmtKind::Continue => "continue;".into(),
        CStmtKind::Empty => ";".into(),
        CStmtKind::Unread(what) => format!("<{what}>"),
    };
    if lines { format!("{}: {text}", of.at.line) } else { text }
}

/// An expression with all its parentheses.
fn expr(of: &CExpr) -> String {
    match &of.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Real(text) => text.clone(),
        ExprKind::Text => "TEXT".into(),
        ExprKind::Variable(_, name) => name.clone(),
        ExprKind::Symbol(name) => format!("${name}"),
        ExprKind::Unary(op @ (UnaryOp::PostIncrement | UnaryOp::PostDecrement), a) => {
            format!("({}{})", expr(a), unary(*op))
        }
        ExprKind::Unary(op, a) => format!("({}{})", unary(*op), expr(a)),
        ExprKind::Binary(op, a, b) => format!("({} {} {})", expr(a), binary(*op), expr(b)),
        ExprKind::Assign(op, a, b) => {
            format!("({} {}= {})", expr(a), op.map(binary).unwrap_or_default(), expr(b))
        }
        ExprKind::Conditional(c, a, b) => format!("({} ? {} : {})", expr(c), expr(a), expr(b)),
        ExprKind::Call(name, parts) => format!("{name}({})", parts.iter().map(expr).join(", ")),
        ExprKind::Index(base, index) => format!("{}[{}]", expr(base), expr(index)),
        ExprKind::Member { base, member, arrow } => {
            format!("{}{}{member}", expr(base), if *arrow { "->" } else { "." })
        }
        ExprKind::Cast(a) => format!("({} as {})", expr(a), ty(&of.ty)),
        ExprKind::List(parts) => format!("{}{{{}}}", ty(&of.ty), parts.iter().map(expr).join(", ")),
        ExprKind::SizeOf(bytes) => format!("sizeof:{bytes}"),
        ExprKind::Unread(what) => format!("<{what}>"),
    }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Plus => "+",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "!",
        UnaryOp::Complement => "~",
        UnaryOp::Deref => "*",
        UnaryOp::Address => "&",
        UnaryOp::PreIncrement | UnaryOp::PostIncrement => "++",
        UnaryOp::PreDecrement | UnaryOp::PostDecrement => "--",
    }
}

fn binary(op: CBinaryOp) -> &'static str {
    match op {
        CBinaryOp::Add => "+",
        CBinaryOp::Sub => "-",
        CBinaryOp::Mul => "*",
        CBinaryOp::Div => "/",
        CBinaryOp::Rem => "%",
        CBinaryOp::Shl => "<<",
        CBinaryOp::Shr => ">>",
        CBinaryOp::BitAnd => "&",
        CBinaryOp::BitOr => "|",
        CBinaryOp::BitXor => "^",
        CBinaryOp::And => "&&",
        CBinaryOp::Or => "||",
        CBinaryOp::Eq => "==",
        CBinaryOp::Ne => "!=",
        CBinaryOp::Lt => "<",
        CBinaryOp::Le => "<=",
        CBinaryOp::Gt => ">",
        CBinaryOp::Ge => ">=",
        CBinaryOp::Comma => ",",
    }
}
