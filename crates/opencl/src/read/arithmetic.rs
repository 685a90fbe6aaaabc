//! Operators on values of any kind, and conversions between types.

use std::rc::Rc;

use super::operators::{self, operand_type};
use super::symbolic::Poly;
use super::types::{INT, Integer, is_real, width};
use super::value::{Pointer, ReadValue};
use super::{Read, Reader};
use crate::ast::{CBinaryOp, SourcePlace, Type};
use crate::steps::{Arithmetic, Dependence};

/// A value with its type.
pub type Typed<'t> = (ReadValue, &'t Type);

impl<'a> Reader<'a> {
    /// A binary operator on two values. The result's type is that of the computation, not yet that
    /// of the expression.
    pub fn arithmetic(
        &mut self,
        op: CBinaryOp,
        (a, ta): Typed,
        (b, tb): Typed,
        result: &Type,
        at: &SourcePlace,
    ) -> Read<(ReadValue, Type)> {
        match (a, b, Integer::of(ta), Integer::of(tb)) {
            (ReadValue::Int(x), ReadValue::Int(y), Some(tx), Some(ty)) => {
                let value = self.integer_binary(op, (&x, tx), (&y, ty));
                self.price(op, ta, at);
                Ok((ReadValue::Int(value), operators::result_type(op, tx, ty)))
            }
            (ReadValue::Pointer(p), ReadValue::Int(y), _, Some(ty)) => {
                let y = ty.exact(&mut self.terms, &y);
                self.moved_pointer(op, p, &y, ta, at)
            }
            (ReadValue::Int(x), ReadValue::Pointer(p), Some(tx), _) => {
                let x = tx.exact(&mut self.terms, &x);
                self.moved_pointer(op, p, &x, tb, at)
            }
            (ReadValue::Pointer(p), ReadValue::Pointer(q), ..) => {
                self.between(op, p, q, ta, result, at)
            }
            (a, b, ..) => {
                self.price(op, operand_type(ta, tb), at);
                if let Some(truth) = operators::compared(op, a.as_real(), b.as_real()) {
                    return Ok((ReadValue::Int(Poly::int(i64::from(truth))), INT.ast()));
                }
                let depends = a.depends(&self.terms).max(b.depends(&self.terms));
                let product = match op {
                    CBinaryOp::Mul if width(result) == 1 => ReadValue::product(depends, &a, &b),
                    _ => None,
                };
                let value = product.unwrap_or_else(|| self.unknown(result, depends));
                Ok((value, result.clone()))
            }
        }
    }

    /// A pointer and a number.
    fn moved_pointer(
        &mut self,
        op: CBinaryOp,
        p: Pointer,
        by: &Poly,
        ty: &Type,
        at: &SourcePlace,
    ) -> Read<(ReadValue, Type)> {
        let element = ty.element().unwrap_or(ty);
        let size = self.bytes(element)?;
        let distance = self.terms.mul(by, &size);
        self.compute(Arithmetic::Index, 1, at);
        let offset = match op {
            CBinaryOp::Add => self.terms.add(&p.offset, &distance),
            CBinaryOp::Sub => self.terms.sub(&p.offset, &distance),
            // compared with NULL
            CBinaryOp::Eq => return Ok((ReadValue::Int(Poly::int(0)), INT.ast())),
            CBinaryOp::Ne => return Ok((ReadValue::Int(Poly::int(1)), INT.ast())),
            _ => return Ok((ReadValue::Other(Dependence::Data), ty.clone())),
        };
        Ok((ReadValue::Pointer(Pointer { offset, ..p }), ty.clone()))
    }

    /// Two pointers: their distance or their order.
    fn between(
        &mut self,
        op: CBinaryOp,
        p: Pointer,
        q: Pointer,
        ty: &Type,
        result: &Type,
        at: &SourcePlace,
    ) -> Read<(ReadValue, Type)> {
        self.compute(Arithmetic::Index, 1, at);
        if p.target != q.target {
            return Ok((self.unknown(result, Dependence::Data), result.clone()));
        }
        let element = ty.element().unwrap_or(ty);
        let value = match op {
            CBinaryOp::Sub => {
                let size = self.bytes(element)?;
                let distance = self.terms.sub(&p.offset, &q.offset);
                self.terms.truncated_quotient(&distance, &size)
            }
            _ => {
                let ty = Integer { bits: 64, signed: true };
                self.compare(op, &p.offset, &q.offset, ty)
            }
        };
        Ok((ReadValue::Int(value), result.clone()))
    }

    /// The value as one of another type.
    pub fn convert(
        &mut self,
        value: ReadValue,
        from: &Type,
        to: &Type,
        at: &SourcePlace,
    ) -> ReadValue {
        if from == to {
            return value;
        }
        match (value, Integer::of(from), Integer::of(to)) {
            (ReadValue::Int(poly), Some(a), Some(b)) => {
                ReadValue::Int(a.convert(b, &mut self.terms, &poly))
            }
            (ReadValue::Pointer(pointer), ..) if matches!(to, Type::Pointer(..)) => {
                ReadValue::Pointer(pointer)
            }
            (value, ..) => {
                let changes = is_real(from) != is_real(to);
                if changes && !matches!(to, Type::Void | Type::Pointer(..)) {
                    self.compute(Arithmetic::Convert, width(to).max(width(from)), at);
                }
                match (ReadValue::real(value.as_real(), to), value) {
                    (Some(real), _) => real,
                    (None, ReadValue::Int(number)) if changes && width(to) == 1 => {
                        ReadValue::Scaled(self.terms.depends(&number), Rc::new(number))
                    }
                    (None, ReadValue::Scaled(depends, number)) => match Integer::of(to) {
                        Some(to) => ReadValue::Int(self.terms.scaled(to.range(), depends, &number)),
                        None => ReadValue::Scaled(depends, number),
                    },
                    (None, value) => self.unknown_as(to, &value),
                }
            }
        }
    }
}
