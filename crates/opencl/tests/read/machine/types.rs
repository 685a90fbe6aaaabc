//! C's integer types.

use tickbound_opencl::ast::{ScalarType, Type};

use super::{Run, Undefined, Value};

/// Bits and sign after promotion.
pub fn promoted(ty: &Type) -> (u32, bool) {
    match ty {
        Type::Scalar(ScalarType::Int { bytes, signed }) if *bytes >= 4 => {
            (8 * u32::from(*bytes), *signed)
        }
        _ => (32, true),
    }
}

pub fn common(a: &Type, b: &Type) -> (u32, bool) {
    let (a, b) = (promoted(a), promoted(b));
    match a.0.cmp(&b.0) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Equal => (a.0, a.1 && b.1),
    }
}

/// The value in a type; 64 bits without a sign are kept as the same bits with one.
pub fn wrapped(value: i64, (bits, signed): (u32, bool)) -> Run<i64> {
    if bits >= 64 {
        return Ok(value);
    }
    let rest = value & ((1 << bits) - 1);
    if !signed {
        return Ok(rest);
    }
    let half = 1 << (bits - 1);
    if (-half..half).contains(&value) { Ok(value) } else { Err(Undefined::Overflow) }
}

pub fn convert(value: Value, ty: &Type) -> Run<Value> {
    let Value::Int(v) = value else { return Ok(value) };
    Ok(match ty {
        Type::Scalar(ScalarType::Bool) => Value::Int(i64::from(v != 0)),
        Type::Scalar(ScalarType::Int { bytes, signed }) => {
            let bits = 8 * u32::from(*bytes);
            let rest = if bits >= 64 { v } else { v & ((1 << bits) - 1) };
            let negative = *signed && bits < 64 && rest >= 1 << (bits - 1);
            Value::Int(if negative { rest - (1 << bits) } else { rest })
        }
        Type::Pointer(..) => value,
        _ => Value::Other,
    })
}
