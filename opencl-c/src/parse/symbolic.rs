//! Whether symbols are in an expression or in a type.

use crate::ast::{Expr, ExprKind, Type};

impl Expr {
    /// Whether its value depends on an open symbol, its own variables aside.
    pub(super) fn has_symbol(&self) -> bool {
        match &self.kind {
            ExprKind::Symbol(_) => true,
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Member { base: a, .. } => {
                a.has_symbol()
            }
            ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => {
                a.has_symbol() || b.has_symbol()
            }
            ExprKind::Conditional(a, b, c) => [a, b, c].iter().any(|part| part.has_symbol()),
            ExprKind::Call(_, parts) | ExprKind::List(parts) => parts.iter().any(Expr::has_symbol),
            ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Text
            | ExprKind::Variable(..)
            | ExprKind::SizeOf(_)
            | ExprKind::Unread(_) => false,
        }
    }
}

impl Type {
    /// Whether its size depends on an open symbol, or on a length that is not known.
    pub(super) fn has_symbol(&self) -> bool {
        match self {
            Type::Array(element, length) => {
                element.has_symbol() || length.as_ref().is_none_or(|length| length.has_symbol())
            }
            Type::Struct(_, fields) => fields.iter().any(|(_, ty)| ty.has_symbol()),
            Type::Void
            | Type::Scalar(_)
            | Type::Vector(..)
            | Type::Pointer(..)
            | Type::Other(_) => false,
        }
    }
}
