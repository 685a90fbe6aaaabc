//! Lvalues: the places that expressions name.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::symbolic::Poly;
use super::types::{self, Integer, alignment};
use super::value::{Pointer, ReadValue, Target, VariableIds};
use super::{Read, Reader, counts};
use crate::ast::{AddressSpace, CExpr, ExprKind, SourcePlace, Type, UnaryOp, VariableId};
use crate::error::ReadError;
use crate::steps::Dependence;

/// The place of an lvalue.
#[derive(Debug, Clone)]
pub enum ObjectPlace {
    /// A whole private variable.
    Variable(VariableId),
    /// Something in one of these private variables, at an offset in bytes.
    Part(Rc<VariableIds>, Poly),
    /// Something in memory that counts.
    Memory(AddressSpace, Rc<str>, Poly),
    /// Components of a vector of this type; which one, if it is one and that is known.
    Lane(Box<ObjectPlace>, Type, Option<u8>),
    /// Part of a value that has no place.
    Value(Dependence),
}

impl<'a> Reader<'a> {
    pub fn place(&mut self, e: &'a CExpr) -> Read<ObjectPlace> {
        self.tick(&e.at)?;
        match &e.kind {
            ExprKind::Variable(id, name) => Ok(self.place_of(*id, name)),
            ExprKind::Unary(UnaryOp::Deref, pointer) => {
                let value = self.value(pointer)?;
                self.pointee(value, &e.at)
            }
            ExprKind::Index(base, index) => self.element(base, index, e),
            ExprKind::Member { base, member, arrow } => {
                let (place, ty) = if *arrow {
                    let value = self.value(base)?;
                    let Type::Pointer(_, pointee) = &base.ty else {
                        return Err(unread_pointer(&e.at));
                    };
                    (self.pointee(value, &e.at)?, &**pointee)
                } else {
                    (self.place(base)?, &base.ty)
                };
                self.member(place, ty, member)
            }
            _ => {
                let value = self.value(e)?;
                Ok(ObjectPlace::Value(value.depends(&self.terms)))
            }
        }
    }

    fn place_of(&mut self, id: VariableId, name: &str) -> ObjectPlace {
        match self.variables.get(&id).map(|variable| variable.space) {
            Some(space) if counts(space) => ObjectPlace::Memory(space, name.into(), Poly::int(0)),
            _ => ObjectPlace::Variable(id),
        }
    }

    /// `base[index]`, or `index[base]`.
    fn element(&mut self, base: &'a CExpr, index: &'a CExpr, e: &'a CExpr) -> Read<ObjectPlace> {
        let (base, index) =
            if Integer::of(&base.ty).is_some() { (index, base) } else { (base, index) };
        if matches!(base.ty, Type::Vector(..)) {
            let place = self.place(base)?;
            let index = self.index(|r| r.whole(index))?;
            let lane = index.constant().and_then(|index| u8::try_from(index).ok());
            return Ok(ObjectPlace::Lane(Box::new(place), base.ty.clone(), lane));
        }
        let value = self.value(base)?;
        let index = self.index(|r| r.distance(index))?;
        let size = match value {
            ReadValue::Pointer(_) => self.bytes(&e.ty)?,
            _ => Poly::int(0),
        };
        self.pointee_at(value, (&index, &size), &e.at)
    }

    /// What a pointer points to, `index` times `size` behind it.
    pub fn pointee_at(
        &mut self,
        value: ReadValue,
        (index, size): (&Poly, &Poly),
        at: &SourcePlace,
    ) -> Read<ObjectPlace> {
        let ReadValue::Pointer(pointer) = value else { return self.pointee(value, at) };
        let distance = self.terms.mul(index, size);
        let offset = self.terms.add(&pointer.offset, &distance);
        self.pointee(ReadValue::Pointer(Pointer { offset, ..pointer }), at)
    }

    pub fn pointee(&mut self, value: ReadValue, at: &SourcePlace) -> Read<ObjectPlace> {
        let ReadValue::Pointer(pointer) = value else {
            if value == ReadValue::Int(Poly::int(0)) && self.probing == 0 {
                let fix = "give its buffer a length in kernel.arguments";
                return Err(ReadError::at(at, "this pointer is null", fix));
            }
            if self.probing > 0 {
                return Ok(ObjectPlace::Value(Dependence::Data));
            }
            return Err(unread_pointer(at));
        };
        match pointer.target {
            Target::Memory(space, name) if counts(space) => {
                Ok(ObjectPlace::Memory(space, name, pointer.offset))
            }
            Target::Memory(..) => Err(unread_pointer(at)),
            Target::Private(ids) => {
                let whole = ids.iter().next().filter(|id| {
                    let aggregate = self
                        .type_of(**id)
                        .is_none_or(|ty| !matches!(ty, Type::Scalar(_) | Type::Pointer(..)));
                    ids.len() == 1 && pointer.offset == Poly::int(0) && !aggregate
                });
                let offset = pointer.offset;
                Ok(whole.map_or(ObjectPlace::Part(ids.clone(), offset), |id| {
                    ObjectPlace::Variable(*id)
                }))
            }
        }
    }

    fn member(&mut self, place: ObjectPlace, ty: &Type, member: &str) -> Read<ObjectPlace> {
        if !matches!(ty, Type::Struct(..) | Type::Union(..)) {
            return Ok(match place {
                // Components of components are those of the vector in memory.
                ObjectPlace::Lane(whole, ty, _) => ObjectPlace::Lane(whole, ty, None),
                place => ObjectPlace::Lane(Box::new(place), ty.clone(), lane(member)),
            });
        }
        // Fields of a private union may have any part of it.
        let mut inside = || -> Read<Poly> {
            Ok(match self.field_offset(ty, member)? {
                Some((offset, false)) => offset,
                _ => self.terms.unknown(Dependence::Uniform),
            })
        };
        Ok(match place {
            ObjectPlace::Variable(id) => {
                ObjectPlace::Part(Rc::new(BTreeSet::from([id])), inside()?)
            }
            ObjectPlace::Part(ids, offset) => {
                let inside = inside()?;
                ObjectPlace::Part(ids, self.terms.add(&offset, &inside))
            }
            ObjectPlace::Memory(space, name, offset) => {
                let inside = self.field_offset(ty, member)?.map(|(offset, _)| offset);
                let inside = inside.unwrap_or_else(|| self.terms.unknown(Dependence::Uniform));
                ObjectPlace::Memory(space, name, self.terms.add(&offset, &inside))
            }
            other => other,
        })
    }

    /// Where a field begins, in bytes, and whether others may lie there; `None` without the field.
    pub fn field_offset(&mut self, ty: &Type, member: &str) -> Read<Option<(Poly, bool)>> {
        let (Type::Struct(_, fields) | Type::Union(_, fields)) = ty else { return Ok(None) };
        let overlaps = matches!(ty, Type::Union(..));
        let mut offset = Poly::int(0);
        for (name, field) in fields.iter() {
            if !overlaps {
                offset = self.aligned(&offset, alignment(field));
            }
            if name == member {
                return Ok(Some((offset, overlaps)));
            }
            if name.is_empty()
                && let Some((inside, inner)) = self.field_offset(field, member)?
            {
                return Ok(Some((self.terms.add(&offset, &inside), overlaps || inner)));
            }
            if !overlaps {
                let size = self.bytes(field)?;
                offset = self.terms.add(&offset, &size);
            }
        }
        Ok(None)
    }

    fn aligned(&mut self, offset: &Poly, alignment: i64) -> Poly {
        let raised = self.terms.add(offset, &Poly::int(alignment - 1));
        let count = self.terms.quotient(&raised, &Poly::int(alignment.max(1)));
        self.terms.mul(&count, &Poly::int(alignment.max(1)))
    }

    pub fn bytes(&mut self, ty: &Type) -> Read<Poly> {
        Ok(match ty {
            Type::Void | Type::Other(_) => Poly::int(1),
            Type::Scalar(scalar) => Poly::int(i64::from(types::scalar_bytes(*scalar))),
            Type::Vector(scalar, width) => Poly::int(types::vector_bytes(*scalar, *width)),
            Type::Pointer(..) => Poly::int(8),
            Type::Array(element, length) => {
                let size = self.bytes(element)?;
                let length = match length {
                    // It is of macros and constants, so walking it has no effects.
                    Some(length) => self.constant(length)?,
                    None => Poly::int(1),
                };
                self.terms.mul(&size, &length)
            }
            Type::Struct(_, fields) | Type::Union(_, fields) => {
                let mut size = Poly::int(0);
                for (_, field) in fields.iter() {
                    let bytes = self.bytes(field)?;
                    size = match ty {
                        Type::Union(..) => self.terms.max(&size, &bytes),
                        _ => {
                            size = self.aligned(&size, alignment(field));
                            self.terms.add(&size, &bytes)
                        }
                    };
                }
                self.aligned(&size, alignment(ty))
            }
        })
    }
}

/// The number of a component: `x` or `s0`. `None` for several.
fn lane(member: &str) -> Option<u8> {
    match (member.strip_prefix(['s', 'S']), member) {
        (Some(digit), _) if digit.len() == 1 => u8::from_str_radix(digit, 16).ok(),
        (_, "x") => Some(0),
        (_, "y") => Some(1),
        (_, "z") => Some(2),
        (_, "w") => Some(3),
        _ => None,
    }
}

fn unread_pointer(at: &SourcePlace) -> ReadError {
    ReadError::at(
        at,
        "where this pointer points to cannot be read",
        "index the array or the parameter itself",
    )
}
