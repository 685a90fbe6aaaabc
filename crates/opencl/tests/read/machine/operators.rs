//! Operators on values.

use tickbound_opencl::ast::{CBinaryOp, CExpr, Type, UnaryOp};

use super::types::{common, convert, promoted, wrapped};
use super::{Machine, Place, Run, Undefined, Value};

impl<'u> Machine<'u> {
    pub(super) fn unary(&mut self, op: UnaryOp, a: &'u CExpr, e: &'u CExpr) -> Run<Value> {
        let step = |delta: i64, before: bool, m: &mut Self| {
            let place = m.place(a)?;
            let old = m.load(&place, &a.ty);
            let new = match old {
                Value::Int(v) => convert(Value::Int(v + delta), &a.ty)?,
                Value::Private(id, at) => Value::Private(id, at + delta),
                other => other,
            };
            m.store(&place, new);
            Ok(if before { new } else { old })
        };
        match op {
            UnaryOp::PreIncrement => return step(1, true, self),
            UnaryOp::PostIncrement => return step(1, false, self),
            UnaryOp::PreDecrement => return step(-1, true, self),
            UnaryOp::PostDecrement => return step(-1, false, self),
            UnaryOp::Address => {
                return Ok(match self.place(a)? {
                    Place::Variable(id) => Value::Private(id, 0),
                    Place::Part(..) => Value::Other,
                    Place::Memory(space) | Place::Lane(space) => Value::Memory(space),
                });
            }
            UnaryOp::Deref => {
                let place = self.place(e)?;
                return Ok(self.load(&place, &e.ty));
            }
            _ => {}
        }
        let value = self.value(a)?;
        let Value::Int(v) = value else {
            return Ok(if op == UnaryOp::Not && matches!(value, Value::Other | Value::Whole(_)) {
                self.drawn(&e.ty)
            } else {
                Value::Other
            });
        };
        let v = match op {
            UnaryOp::Minus => -v,
            UnaryOp::Not => i64::from(v == 0),
            UnaryOp::Complement => !v,
            _ => v,
        };
        convert(Value::Int(v), &e.ty)
    }

    pub(super) fn binary(
        &mut self,
        op: CBinaryOp,
        (a, ta): (Value, &Type),
        (b, tb): (Value, &Type),
        result: &Type,
    ) -> Run<Value> {
        let (x, y) = match (a, b) {
            (Value::Int(x), Value::Int(y)) => (x, y),
            (Value::Private(id, at), Value::Int(by)) => {
                let by = if op == CBinaryOp::Sub { -by } else { by };
                return Ok(Value::Private(id, at + by));
            }
            (Value::Memory(space), _) | (_, Value::Memory(space))
                if matches!(op, CBinaryOp::Add | CBinaryOp::Sub) =>
            {
                return Ok(Value::Memory(space));
            }
            // Compared with null.
            (Value::Memory(_), Value::Int(0)) | (Value::Int(0), Value::Memory(_)) => {
                return Ok(Value::Int(i64::from(op == CBinaryOp::Ne)));
            }
            _ => return Ok(self.drawn(result)),
        };
        let common = common(ta, tb);
        let shift = matches!(op, CBinaryOp::Shl | CBinaryOp::Shr);
        let ty = if shift { promoted(ta) } else { common };
        let (bits, signed) = ty;
        let x = wrapped(x, ty)?;
        let y = if shift { y.rem_euclid(i64::from(bits)) } else { wrapped(y, ty)? };
        let unsigned = |v: i64| if bits == 64 { v as u64 } else { v as u64 & 0xFFFF_FFFF };
        let less = if signed { x < y } else { unsigned(x) < unsigned(y) };
        let value = match op {
            CBinaryOp::Add => x.wrapping_add(y),
            CBinaryOp::Sub => x.wrapping_sub(y),
            CBinaryOp::Mul if signed => x.checked_mul(y).ok_or(Undefined::Overflow)?,
            CBinaryOp::Mul => x.wrapping_mul(y),
            CBinaryOp::Div | CBinaryOp::Rem if y == 0 => return Err(Undefined::DivisionByZero),
            CBinaryOp::Div if signed => x / y,
            CBinaryOp::Rem if signed => x % y,
            CBinaryOp::Div => (unsigned(x) / unsigned(y)) as i64,
            CBinaryOp::Rem => (unsigned(x) % unsigned(y)) as i64,
            CBinaryOp::Shl if signed => x.checked_mul(1 << y.min(62)).ok_or(Undefined::Shift)?,
            CBinaryOp::Shl => x << y,
            CBinaryOp::Shr if signed => x >> y,
            CBinaryOp::Shr => (unsigned(x) >> y) as i64,
            CBinaryOp::BitAnd => x & y,
            CBinaryOp::BitOr => x | y,
            CBinaryOp::BitXor => x ^ y,
            CBinaryOp::Eq => i64::from(x == y),
            CBinaryOp::Ne => i64::from(x != y),
            CBinaryOp::Lt => i64::from(less),
            CBinaryOp::Ge => i64::from(!less),
            CBinaryOp::Gt => i64::from(!less && x != y),
            CBinaryOp::Le => i64::from(less || x == y),
            CBinaryOp::And | CBinaryOp::Or | CBinaryOp::Comma => unreachable!(),
        };
        let compares = matches!(
            op,
            CBinaryOp::Eq
                | CBinaryOp::Ne
                | CBinaryOp::Lt
                | CBinaryOp::Le
                | CBinaryOp::Gt
                | CBinaryOp::Ge
        );
        Ok(Value::Int(if compares { value } else { wrapped(value, ty)? }))
    }
}
