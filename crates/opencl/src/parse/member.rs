//! Members of structures, components of vectors, and what else libclang does not name.

use clang::Entity;

use crate::ast::{CExpr, ExprKind, Type};

use super::state::Tree;

impl<'tu> Tree<'_, 'tu> {
    /// `base.member` and `base->member`.
    pub(super) fn member(&mut self, entity: &Entity<'tu>, base: &Entity<'tu>) -> CExpr {
        let rest = self.text.between(self.text.span(base).end, self.text.span(entity).end);
        let arrow = rest.starts_with("->");
        let Some(member) = entity.get_name() else {
            return self.unread(entity, "a member without a name");
        };
        let base = self.expression(base);
        let ty = field(&base.ty, &member).cloned().unwrap_or_else(|| self.expression_type(entity));
        let kind = ExprKind::Member { base: Box::new(base), member, arrow };
        CExpr { kind, ty, at: self.at(entity) }
    }

    /// Expressions without a name of their own in libclang: implicit conversions, which are left
    /// out, components of vectors, and built-in operations.
    pub(super) fn unexposed(&mut self, entity: &Entity<'tu>, inner: &Entity<'tu>) -> CExpr {
        let (outer, operand) = (self.text.span(entity), self.text.span(inner));
        if outer.start < operand.start {
            return self.operation(entity, inner);
        }
        let rest = self.text.between(operand.end, outer.end);
        let (component, arrow) = match (rest.strip_prefix("->"), rest.strip_prefix('.')) {
            (Some(component), _) => (component, true),
            (_, Some(component)) => (component, false),
            _ => return self.expression(inner),
        };
        let member = if component.is_empty() {
            // White space after the point.
            self.text.slice(operand.end, outer.end).split_whitespace().last().unwrap_or("")
        } else {
            component
        };
        let base = self.expression(inner);
        let kind = ExprKind::Member { base: Box::new(base), member: member.to_owned(), arrow };
        self.expr(entity, kind)
    }

    /// `__builtin_astype(x, float)`, which is what `as_float(x)` expands to, and the like.
    fn operation(&mut self, entity: &Entity<'tu>, inner: &Entity<'tu>) -> CExpr {
        let text = self.text.of(entity);
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        match &text[..end] {
            "__builtin_astype" => {
                let ty = entity.get_type().map(|ty| ty.get_display_name()).unwrap_or_default();
                let argument = self.expression(inner);
                self.expr(entity, ExprKind::Call(format!("as_{ty}"), vec![argument]))
            }
            name if name.starts_with("__builtin_") => {
                let argument = self.expression(inner);
                self.expr(entity, ExprKind::Call(name.to_owned(), vec![argument]))
            }
            _ => self.unread(entity, nameless(text)),
        }
    }
}

/// What to call an expression that libclang has no name for, by its text.
pub(super) fn nameless(text: &str) -> &'static str {
    if text.starts_with(['.', '[']) {
        "a designated initial value"
    } else if text.contains("?:") {
        "a conditional expression without its second part"
    } else {
        "an expression of an unknown kind"
    }
}

/// The type of a structure's field, also through a pointer.
fn field<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    match ty {
        Type::Struct(_, fields) | Type::Union(_, fields) => {
            fields.iter().find(|(n, _)| n == name).map(|(_, ty)| ty)
        }
        Type::Pointer(_, inner) | Type::Array(inner, _) => field(inner, name),
        _ => None,
    }
}
