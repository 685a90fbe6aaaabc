//! Operators on values.

use tickbound_opencl::ast::{BinaryOp, Expr, Type, UnaryOp};

use super::types::{common, convert, promoted, wrapped};
use super::{Machine, Place, Run, Undefined, Value};

impl<'u> Machine<'u> {
    pub(super) fn unary(&mut self, op: UnaryOp, a: &'u Expr, e: &'u Expr) -> Run<Value> {
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
        op: BinaryOp,
        (a, ta): (Value, &Type),
        (b, tb): (Value, &Type),
        result: &Type,
    ) -> Run<Value> {
        let (x, y) = match (a, b) {
            (Value::Int(x), Value::Int(y)) => (x, y),
            (Value::Private(id, at), Value::Int(by)) => {
                let by = if op == BinaryOp::Sub { -by } else { by };
                return Ok(Value::Private(id, at + by));
            }
            (Value::Memory(space), _) | (_, Value::Memory(space))
                if matches!(op, BinaryOp::Add | BinaryOp::Sub) =>
            {
                return Ok(Value::Memory(space));
            }
            _ => return Ok(self.drawn(result)),
        };
        let common = common(ta, tb);
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let ty = if shift { promoted(ta) } else { common };
        let (bits, signed) = ty;
        let x = wrapped(x, ty)?;
        let y = if shift { y.rem_euclid(i64::from(bits)) } else { wrapped(y, ty)? };
        let unsigned = |v: i64| if bits == 64 { v as u64 } else { v as u64 & 0xFFFF_FFFF };
        let less = if signed { x < y } else { unsigned(x) < unsigned(y) };
        let value = match op {
            BinaryOp::Add => x.wrapping_add(y),
            BinaryOp::Sub => x.wrapping_sub(y),
            BinaryOp::Mul if signed => x.checked_mul(y).ok_or(Undefined::Overflow)?,
            BinaryOp::Mul => x.wrapping_mul(y),
            BinaryOp::Div | BinaryOp::Rem if y == 0 => return Err(Undefined::DivisionByZero),
            BinaryOp::Div if signed => x / y,
            BinaryOp::Rem if signed => x % y,
            BinaryOp::Div => (unsigned(x) / unsigned(y)) as i64,
            BinaryOp::Rem => (unsigned(x) % unsigned(y)) as i64,
            BinaryOp::Shl if signed => x.checked_mul(1 << y.min(62)).ok_or(Undefined::Shift)?,
            BinaryOp::Shl => x << y,
            BinaryOp::Shr if signed => x >> y,
            BinaryOp::Shr => (unsigned(x) >> y) as i64,
            BinaryOp::BitAnd => x & y,
            BinaryOp::BitOr => x | y,
            BinaryOp::BitXor => x ^ y,
            BinaryOp::Eq => i64::from(x == y),
            BinaryOp::Ne => i64::from(x != y),
            BinaryOp::Lt => i64::from(less),
            BinaryOp::Ge => i64::from(!less),
            BinaryOp::Gt => i64::from(!less && x != y),
            BinaryOp::Le => i64::from(less || x == y),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Comma => unreachable!(),
        };
        let compares = matches!(
            op,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
        );
        Ok(Value::Int(if compares { value } else { wrapped(value, ty)? }))
    }
}
