//! Operators on values of any kind, what they cost, and conversions between types.

use std::rc::Rc;

use super::symbolic::{FAR, Poly};
use super::types::{INT, Integer, SIZE, is_real, width};
use super::value::{Pointer, ReadValue};
use super::{Read, Reader, types};
use crate::ast::{CBinaryOp, SourcePlace, Type, UnaryOp};
use crate::steps::{Arithmetic, Dependence};

impl<'a> Reader<'a> {
    /// A unary operator on an integer of a type; increments are binary.
    pub fn integer_unary(&mut self, op: UnaryOp, a: &Poly, ty: Integer) -> Poly {
        if op == UnaryOp::Not {
            let exact = ty.exact(&mut self.terms, a);
            return self.terms.zero(&exact);
        }
        let a = ty.convert(ty.promoted(), &mut self.terms, a);
        match op {
            UnaryOp::Minus => self.terms.neg(&a),
            UnaryOp::Complement => self.terms.complement(&a),
            _ => a,
        }
    }

    /// A binary operator on integers of two types; the result is of [`result`]'s type.
    pub fn integer_binary(
        &mut self,
        op: CBinaryOp,
        (a, ta): (&Poly, Integer),
        (b, tb): (&Poly, Integer),
    ) -> Poly {
        if let CBinaryOp::Shl | CBinaryOp::Shr = op {
            return self.shift(op, (a, ta), (b, tb));
        }
        let ty = ta.common(tb);
        let a = ta.convert(ty, &mut self.terms, a);
        let b = tb.convert(ty, &mut self.terms, b);
        match op {
            CBinaryOp::Add | CBinaryOp::Sub | CBinaryOp::Mul => self.ring(op, &a, &b, ty),
            CBinaryOp::Div | CBinaryOp::Rem => {
                let (a, b) = self.exact(ty, &a, &b);
                match op {
                    CBinaryOp::Div => self.terms.truncated_quotient(&a, &b),
                    _ => self.terms.truncated_remainder(&a, &b),
                }
            }
            CBinaryOp::BitAnd | CBinaryOp::BitOr | CBinaryOp::BitXor => self.bits(op, &a, &b, ty),
            CBinaryOp::And | CBinaryOp::Or => {
                let (a, b) = (self.terms.truth(&a), self.terms.truth(&b));
                if op == CBinaryOp::And { self.terms.and(&a, &b) } else { self.terms.or(&a, &b) }
            }
            CBinaryOp::Comma => b,
            _ => self.compare(op, &a, &b, ty),
        }
    }

    fn ring(&mut self, op: CBinaryOp, a: &Poly, b: &Poly, ty: Integer) -> Poly {
        let result = match op {
            CBinaryOp::Add => self.terms.add(a, b),
            CBinaryOp::Sub => self.terms.sub(a, b),
            _ => self.terms.mul(a, b),
        };
        // Hashes multiply again and again; keep them within what can be multiplied.
        let range = self.terms.interval(&result);
        let wide = range.greatest > FAR.min(1 << 62) || range.least < -(1 << 62);
        if wide && !ty.signed && !ty.holds(&self.terms, &result) {
            return ty.exact(&mut self.terms, &result);
        }
        result
    }

    fn bits(&mut self, op: CBinaryOp, a: &Poly, b: &Poly, ty: Integer) -> Poly {
        let constant = a.constant().is_some() || b.constant().is_some();
        let (a, b) = if constant { (a.clone(), b.clone()) } else { self.exact(ty, a, b) };
        match op {
            CBinaryOp::BitAnd => self.terms.bit_and(&a, &b),
            CBinaryOp::BitOr => self.terms.bit_or(&a, &b),
            _ => self.terms.bit_xor(&a, &b),
        }
    }

    fn shift(
        &mut self,
        op: CBinaryOp,
        (a, ta): (&Poly, Integer),
        (s, ts): (&Poly, Integer),
    ) -> Poly {
        let ty = ta.promoted();
        let a = ta.convert(ty, &mut self.terms, a);
        let s = ts.exact(&mut self.terms, s);
        // OpenCL takes the shift modulo the bits.
        let s = self.terms.remainder(&s, &Poly::int(i64::from(ty.bits)));
        if op == CBinaryOp::Shl {
            return self.terms.shift_left(&a, &s);
        }
        let a = ty.exact(&mut self.terms, &a);
        self.terms.shift_right(&a, &s)
    }

    pub fn compare(&mut self, op: CBinaryOp, a: &Poly, b: &Poly, ty: Integer) -> Poly {
        if let CBinaryOp::Eq | CBinaryOp::Ne = op {
            let equal = if ty == SIZE {
                self.terms.equal(a, b)
            } else {
                let (a, b) = self.exact(ty, a, b);
                self.terms.equal(&a, &b)
            };
            return if op == CBinaryOp::Eq { equal } else { self.terms.not(&equal) };
        }
        let (a, b) = if let CBinaryOp::Gt | CBinaryOp::Le = op { (b, a) } else { (a, b) };
        let less = self.less(a, b, ty);
        if let CBinaryOp::Lt | CBinaryOp::Gt = op { less } else { self.terms.not(&less) }
    }

    /// Both numbers of a type, as they are.
    fn exact(&mut self, ty: Integer, a: &Poly, b: &Poly) -> (Poly, Poly) {
        (ty.exact(&mut self.terms, a), ty.exact(&mut self.terms, b))
    }

    fn less(&mut self, a: &Poly, b: &Poly, ty: Integer) -> Poly {
        if ty != SIZE {
            let (a, b) = self.exact(ty, a, b);
            return self.terms.less(&a, &b);
        }
        // 64 bits have no room for what wraps around: below zero is above all else.
        match (ty.holds(&self.terms, a), ty.holds(&self.terms, b)) {
            (true, true) => self.terms.less(a, b),
            (false, true) if self.small(a) => {
                let negative = self.terms.negative(a);
                let not_negative = self.terms.not(&negative);
                let less = self.terms.less(a, b);
                self.terms.and(&not_negative, &less)
            }
            (true, false) if self.small(b) => {
                let negative = self.terms.negative(b);
                let less = self.terms.less(a, b);
                self.terms.or(&negative, &less)
            }
            _ => {
                let depends = self.terms.depends(a).max(self.terms.depends(b));
                self.terms.unknown_truth(depends)
            }
        }
    }

    /// Whether a value of 64 bits is one that cannot be mistaken for another.
    fn small(&self, a: &Poly) -> bool {
        let range = self.terms.likely(a);
        range.least > -(1 << 62) && range.greatest < 1 << 62
    }

    /// Counts a binary operation.
    pub fn price(&mut self, op: CBinaryOp, ty: &Type, at: &SourcePlace) {
        let lone = std::mem::take(&mut self.lone);
        let by_root = std::mem::take(&mut self.by_root);
        let kind = match (op, is_real(ty)) {
            (CBinaryOp::Mul, false) => Arithmetic::IntegerMultiply,
            (CBinaryOp::Div | CBinaryOp::Rem, false) => Arithmetic::IntegerDivide,
            (_, false) => Arithmetic::Integer,
            (CBinaryOp::Mul, true) if !lone => Arithmetic::RealMultiply,
            (CBinaryOp::Div, true) if by_root => Arithmetic::DivideByRoot,
            (CBinaryOp::Div | CBinaryOp::Rem, true) => Arithmetic::RealDivide,
            (_, true) => Arithmetic::Real,
        };
        self.compute(kind, width(ty), at);
    }

    /// A binary operator on two values; the result's type is that of the computation.
    pub fn arithmetic(
        &mut self,
        op: CBinaryOp,
        (a, ta): Typed,
        (b, tb): Typed,
        result: &Type,
        at: &SourcePlace,
    ) -> Read<(ReadValue, Type)> {
        match (a, b, Integer::for_number(ta), Integer::for_number(tb)) {
            (ReadValue::Int(x), ReadValue::Int(y), Some(tx), Some(ty)) => {
                let value = self.integer_binary(op, (&x, tx), (&y, ty));
                self.price(op, ta, at);
                Ok((ReadValue::Int(value), result_type(op, tx, ty)))
            }
            (ReadValue::Pointer(p), ReadValue::Int(y), _, Some(ty)) => {
                let y = ty.distance(&mut self.terms, &y);
                self.moved_pointer(op, p, &y, ta, at)
            }
            (ReadValue::Int(x), ReadValue::Pointer(p), Some(tx), _) => {
                let x = tx.distance(&mut self.terms, &x);
                self.moved_pointer(op, p, &x, tb, at)
            }
            (ReadValue::Pointer(p), ReadValue::Pointer(q), ..) => {
                self.between(op, p, q, ta, result, at)
            }
            (a, b, ..) => {
                self.price(op, operand_type(ta, tb), at);
                if let Some(truth) = compared(op, a.as_real(), b.as_real()) {
                    return Ok((ReadValue::Int(Poly::int(i64::from(truth))), INT.ast()));
                }
                let depends = a.depends(&self.terms).max(b.depends(&self.terms));
                let product = match op {
                    CBinaryOp::Mul if width(result) == 1 => ReadValue::product(depends, &a, &b),
                    // A number that is added moves all multiples alike.
                    CBinaryOp::Add if a.as_real().or(b.as_real()).is_some() => {
                        ReadValue::product(depends, &a, &b)
                    }
                    _ => None,
                };
                let formula = self.binary_formula(op, (&a, &b), result, at);
                let value = product.unwrap_or_else(|| self.unknown(result, depends));
                Ok((self.with_formula(value, formula), result.clone()))
            }
        }
    }

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
            _ => return Ok((ReadValue::other(Dependence::Data), ty.clone())),
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
        if let (CBinaryOp::Eq | CBinaryOp::Ne, true) = (op, p.target.is_apart(&q.target)) {
            let differs = Poly::int(i64::from(op == CBinaryOp::Ne));
            return Ok((ReadValue::Int(differs), INT.ast()));
        }
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
            (ReadValue::Int(number), ..)
                if matches!(to, Type::Pointer(..)) && number == Poly::int(0) =>
            {
                ReadValue::Int(number)
            }
            (value, ..) => {
                let changes = is_real(from) != is_real(to);
                let formula = if changes && !matches!(to, Type::Void | Type::Pointer(..)) {
                    let width = width(to).max(width(from));
                    self.compute(Arithmetic::Convert, width, at);
                    self.converted(&value, width, at)
                } else {
                    self.spread(&value, from, to)
                };
                match (ReadValue::real(value.as_real(), to), value) {
                    (Some(real), _) => real,
                    (None, ReadValue::Int(number)) if changes && width(to) == 1 => {
                        ReadValue::Scaled(self.terms.depends(&number), Rc::new(number), formula)
                    }
                    (None, ReadValue::Scaled(depends, number, _)) => match Integer::of(to) {
                        Some(to) => {
                            let value = self.terms.scaled(to.range(), depends, &number);
                            self.with_formula(ReadValue::Int(value), formula)
                        }
                        None => ReadValue::Scaled(depends, number, formula),
                    },
                    (None, value) => self.made(to, value.depends(&self.terms), formula),
                }
            }
        }
    }
}

/// The result of a comparison of two known real numbers.
pub fn compared(op: CBinaryOp, a: Option<f64>, b: Option<f64>) -> Option<bool> {
    let (a, b) = (a?, b?);
    Some(match op {
        CBinaryOp::Eq => a == b,
        CBinaryOp::Ne => a != b,
        CBinaryOp::Lt => a < b,
        CBinaryOp::Le => a <= b,
        CBinaryOp::Gt => a > b,
        CBinaryOp::Ge => a >= b,
        _ => return None,
    })
}

/// The type that an operator on two types is computed in.
pub fn operand_type<'t>(a: &'t Type, b: &'t Type) -> &'t Type {
    match (types::is_real(a), types::is_real(b)) {
        (true, false) if width(b) == 1 => a,
        (false, true) if width(a) == 1 => b,
        _ if width(b) > width(a) => b,
        _ => a,
    }
}

/// The type of an operation's result on integers of two types.
pub fn result_type(op: CBinaryOp, a: Integer, b: Integer) -> Type {
    match op {
        CBinaryOp::Shl | CBinaryOp::Shr => a.promoted().ast(),
        op if op.is_truth() => INT.ast(),
        _ => a.common(b).ast(),
    }
}

pub type Typed<'t> = (ReadValue, &'t Type);
