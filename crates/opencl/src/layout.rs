//! How types lie in memory: sizes and alignments in bytes, as OpenCL has them.

use crate::ast::{ExprKind, ScalarType, Type};

/// Size of a scalar in bytes.
pub fn scalar_bytes(scalar: ScalarType) -> u8 {
    match scalar {
        ScalarType::Bool => 1,
        ScalarType::Int { bytes, .. } | ScalarType::Real { bytes } => bytes,
    }
}

/// Bytes of a vector in memory: three components take the room of four.
pub fn vector_bytes(scalar: ScalarType, width: u8) -> i64 {
    let width = if width == 3 { 4 } else { i64::from(width) };
    i64::from(scalar_bytes(scalar)) * width
}

/// Alignment in bytes.
pub fn alignment(ty: &Type) -> i64 {
    match ty {
        Type::Scalar(scalar) => i64::from(scalar_bytes(*scalar)),
        Type::Vector(scalar, width) => vector_bytes(*scalar, *width),
        Type::Array(element, _) => alignment(element),
        Type::Struct(_, fields) | Type::Union(_, fields) => {
            fields.iter().map(|(_, ty)| alignment(ty)).max().unwrap_or(1)
        }
        Type::Pointer(..) => 8,
        Type::Void | Type::Other(_) => 1,
    }
}

/// The size of a type in bytes, where no macro decides it.
pub fn bytes(ty: &Type) -> Option<i64> {
    match ty {
        Type::Scalar(scalar) => Some(i64::from(scalar_bytes(*scalar))),
        Type::Vector(scalar, width) => Some(vector_bytes(*scalar, *width)),
        Type::Array(element, Some(length)) => match length.kind {
            ExprKind::Int(length) => bytes(element)?.checked_mul(length),
            _ => None,
        },
        Type::Struct(_, fields) => {
            let up = |size: i64, to: i64| Some(size.checked_add(to - 1)? / to * to);
            let mut size = 0_i64;
            for (_, field) in fields.iter() {
                size = up(size, alignment(field))?.checked_add(bytes(field)?)?;
            }
            up(size, alignment(ty))
        }
        Type::Union(_, fields) => {
            let all: Option<Vec<i64>> = fields.iter().map(|(_, field)| bytes(field)).collect();
            let (size, to) = (all?.into_iter().max()?, alignment(ty));
            Some(size.checked_add(to - 1)? / to * to)
        }
        Type::Pointer(..) | Type::Array(..) | Type::Void | Type::Other(_) => None,
    }
}
