//! Sizes of types, and places of their parts.

use super::walk::Walk;
use crate::ast::{Type, alignment, scalar_bytes, vector_bytes};
use crate::proof::terms::TermId;

impl<'a> Walk<'a> {
    /// Where a field of a structure begins.
    pub fn field(&mut self, ty: &Type, member: &str) -> Option<TermId> {
        let (Type::Struct(_, fields) | Type::Union(_, fields)) = ty else { return None };
        let union = matches!(ty, Type::Union(..));
        let mut offset = self.terms.int(0);
        for (name, field) in fields.iter() {
            if !union {
                offset = self.aligned(offset, alignment(field));
            }
            if name == member {
                return Some(offset);
            }
            if name.is_empty()
                && let Some(inside) = self.field(field, member)
            {
                return Some(self.terms.add(offset, inside));
            }
            if !union {
                let size = self.bytes(field);
                offset = self.terms.add(offset, size);
            }
        }
        None
    }

    fn aligned(&mut self, offset: TermId, alignment: i64) -> TermId {
        let by = self.terms.int(i128::from(alignment.max(1)));
        let raised = self.terms.shifted(offset, i128::from(alignment.max(1) - 1));
        let count = self.terms.quotient(raised, by);
        self.terms.mul(count, by)
    }

    pub fn bytes(&mut self, ty: &'_ Type) -> TermId {
        match ty {
            Type::Other(name) if name == "event_t" => self.terms.int(8),
            Type::Void | Type::Other(_) => self.terms.int(1),
            Type::Scalar(scalar) => self.terms.int(scalar_bytes(*scalar).into()),
            Type::Vector(scalar, width) => self.terms.int(vector_bytes(*scalar, *width).into()),
            Type::Pointer(..) => self.terms.int(8),
            Type::Array(element, length) => {
                let size = self.bytes(element);
                let length = match length {
                    Some(length) => self.constant(length),
                    None => self.terms.int(1),
                };
                self.terms.mul(size, length)
            }
            Type::Struct(_, fields) | Type::Union(_, fields) => {
                let mut size = self.terms.int(0);
                for (_, field) in fields.iter() {
                    let bytes = self.bytes(field);
                    size = match ty {
                        Type::Union(..) => self.terms.greatest(size, bytes),
                        _ => {
                            let start = self.aligned(size, alignment(field));
                            self.terms.add(start, bytes)
                        }
                    };
                }
                self.aligned(size, alignment(ty))
            }
        }
    }
}
