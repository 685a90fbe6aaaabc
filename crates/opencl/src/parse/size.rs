//! `sizeof`, which may depend on symbols, and whether types and expressions do.

use clang::{Entity, EntityKind};

use super::state::Tree;
use super::types::ULONG;
use crate::ast::{CBinaryOp, CExpr, ExprKind, SourcePlace, Type};
use crate::lines::is_word;

/// Bytes of a pointer.
const POINTER: i64 = 8;

impl<'tu> Tree<'_, 'tu> {
    /// `sizeof` and its kind.
    pub(super) fn size_of(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> CExpr {
        let text = self.text.of(entity);
        if !text.starts_with("sizeof") {
            let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(0);
            return self.unread(entity, &text[..end]);
        }
        let at = self.at(entity);
        let size = match operands {
            [operand] if !self.is_length(entity, operand) => {
                let ty = self.expression(operand).ty;
                operand.get_type().and_then(|known| size(&ty, known, &at))
            }
            lengths => self.size_of_name(entity, lengths, &at),
        };
        let size = size.or_else(|| self.size_by_libclang(entity, &at));
        size.unwrap_or_else(|| self.unread(entity, format!("the size in {text}")))
    }

    /// The number that libclang knows, where no open name is in it.
    fn size_by_libclang(&self, entity: &Entity<'tu>, at: &SourcePlace) -> Option<CExpr> {
        use clang::EvaluationResult::{SignedInteger, UnsignedInteger};
        let words: Vec<&str> = self.text.of(entity).split(|c| !is_word(c)).collect();
        let open = self.open.iter().any(|name| words.contains(&name.as_str()));
        match entity.evaluate().filter(|_| self.cuda.on && !open)? {
            SignedInteger(bytes) => Some(known(bytes, at)),
            UnsignedInteger(bytes) => Some(known(i64::try_from(bytes).ok()?, at)),
            _ => None,
        }
    }

    /// `sizeof(type)`: libclang does not tell the type, but the names in it.
    fn size_of_name(
        &mut self,
        entity: &Entity<'tu>,
        lengths: &[Entity<'tu>],
        at: &SourcePlace,
    ) -> Option<CExpr> {
        let text = self.text.of(entity).strip_prefix("sizeof")?;
        let (name, rest) = text.split_at(text.find(['*', '[']).unwrap_or(text.len()));
        let mut total = if rest.starts_with('*') {
            if name.trim_end().len() > 1 && name.trim_end().ends_with('(') {
                // A pointer to an array.
                return Some(known(POINTER, at));
            }
            known(POINTER, at)
        } else {
            self.base_size(entity, name, at)?
        };
        let mut lengths = lengths.to_vec();
        lengths.sort_by_key(|length| self.text.span(length).start);
        for length in lengths.iter().rev() {
            total = times(self.expression(length), total, at);
        }
        Some(total)
    }

    fn base_size(&mut self, entity: &Entity<'tu>, name: &str, at: &SourcePlace) -> Option<CExpr> {
        let named = entity.get_children().into_iter().find(|c| c.get_kind() == EntityKind::TypeRef);
        if let Some(declaration) = named.and_then(|named| named.get_reference()) {
            let known = declaration.get_type()?;
            let ty = self.type_of(known);
            return size(&ty, known, at);
        }
        let words = name.split(|c: char| !c.is_alphanumeric());
        let mut bytes = None;
        for word in words {
            bytes = match word {
                "bool" | "char" => Some(1),
                "short" | "half" => Some(2),
                "float" => Some(4),
                "long" | "double" => Some(8),
                "int" | "unsigned" | "signed" => bytes.or(Some(4)),
                _ => bytes,
            };
        }
        bytes.map(|bytes| known(bytes, at))
    }
}

/// The size of a type: libclang's number, where no symbol is in it.
fn size(ty: &Type, known_type: clang::Type<'_>, at: &SourcePlace) -> Option<CExpr> {
    match ty {
        Type::Array(element, length) if ty.has_symbol() => {
            let canonical = known_type.get_canonical_type();
            let inner = size(element, canonical.get_element_type()?, at)?;
            Some(times((**length.as_ref()?).clone(), inner, at))
        }
        ty if ty.has_symbol() => None,
        _ => Some(known(i64::try_from(known_type.get_sizeof().ok()?).ok()?, at)),
    }
}

fn known(bytes: i64, at: &SourcePlace) -> CExpr {
    CExpr { kind: ExprKind::SizeOf(bytes), ty: ULONG, at: at.clone() }
}

fn times(length: CExpr, size: CExpr, at: &SourcePlace) -> CExpr {
    if let (ExprKind::Int(length), ExprKind::SizeOf(size)) = (&length.kind, &size.kind)
        && let Some(bytes) = length.checked_mul(*size)
    {
        return known(bytes, at);
    }
    let kind = ExprKind::Binary(CBinaryOp::Mul, Box::new(length), Box::new(size));
    CExpr { kind, ty: ULONG, at: at.clone() }
}

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
