//! Whether symbols are in an expression or in a type.

use crate::ast::{CExpr, ExprKind, Type};

impl CExpr {
    /// Whether its value depends on an open symbol, its own variables aside.
    pub(super) fn has_symbol(&self) -> bool {
        matches!(self.kind, ExprKind::Symbol(_)) || self.parts().into_iter().any(CExpr::has_symbol)
    }
}

impl Type {
    /// Whether its size depends on an open symbol, or on a length that is not known.
    pub(super) fn has_symbol(&self) -> bool {
        match self {
            Type::Array(element, length) => {
                element.has_symbol() || length.as_ref().is_none_or(|length| length.has_symbol())
            }
            Type::Struct(_, fields) | Type::Union(_, fields) => {
                fields.iter().any(|(_, ty)| ty.has_symbol())
            }
            Type::Void
            | Type::Scalar(_)
            | Type::Vector(..)
            | Type::Pointer(..)
            | Type::Other(_) => false,
        }
    }
}
