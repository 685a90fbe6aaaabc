//! Types of C: sizes, conversions, and what a value of a type can be.

use super::symbolic::{Poly, PolyTerms, WideInterval};
use crate::ast::{ScalarType, Type};
pub(super) use crate::ast::{alignment, scalar_bytes, vector_bytes};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    /// 1 for `bool`, otherwise 8, 16, 32 or 64.
    pub bits: u32,
    pub signed: bool,
}

pub const INT: Integer = Integer { bits: 32, signed: true };
/// `size_t`, and the type in which pointers are compared.
pub const SIZE: Integer = Integer { bits: 64, signed: false };

impl Integer {
    pub fn of(ty: &Type) -> Option<Integer> {
        match ty {
            Type::Scalar(ScalarType::Bool) => Some(Integer { bits: 1, signed: false }),
            Type::Scalar(ScalarType::Int { bytes, signed }) => {
                Some(Integer { bits: 8 * u32::from(*bytes), signed: *signed })
            }
            _ => None,
        }
    }

    /// The same, and for a pointer the integer that it is: null is 0.
    pub fn for_number(ty: &Type) -> Option<Integer> {
        if matches!(ty, Type::Pointer(..)) { Some(SIZE) } else { Integer::of(ty) }
    }

    pub fn bytes(self) -> i64 {
        i64::from(self.bits / 8).max(1)
    }

    /// The type as the tree has it.
    pub fn ast(self) -> Type {
        let bytes = u8::try_from(self.bits / 8).unwrap_or(8).max(1);
        Type::Scalar(match self.bits {
            1 => ScalarType::Bool,
            _ => ScalarType::Int { bytes, signed: self.signed },
        })
    }

    pub fn range(self) -> WideInterval {
        if self.signed {
            WideInterval::new(-(1i128 << (self.bits - 1)), (1i128 << (self.bits - 1)) - 1)
        } else {
            WideInterval::new(0, (1i128 << self.bits) - 1)
        }
    }

    /// The type that arithmetic is done in: at least `int`.
    pub fn promoted(self) -> Integer {
        if self.bits < 32 { INT } else { self }
    }

    /// The type that two operands are brought to.
    pub fn common(self, other: Integer) -> Integer {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bits.cmp(&b.bits) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal => Integer { bits: a.bits, signed: a.signed && b.signed },
        }
    }

    /// The number itself, where the value of an unsigned type is only known up to wrapping around.
    pub fn exact(self, terms: &mut PolyTerms, value: &Poly) -> Poly {
        if self.signed || self.bits == 1 || self.holds(terms, value) {
            return value.clone();
        }
        if self.bits < 64 {
            return terms.remainder(value, &Poly::int(1 << self.bits));
        }
        let depends = terms.depends(value);
        terms.leaf(self.range(), depends)
    }

    /// What a pointer moves by. Addresses themselves wrap around by 64 bits.
    pub fn distance(self, terms: &mut PolyTerms, value: &Poly) -> Poly {
        if self.bits < 64 { self.exact(terms, value) } else { value.clone() }
    }

    /// Whether a value of an unsigned type has not wrapped around. That it does not so upwards is
    /// taken for granted if it could not in a launch of 2^16 items.
    pub fn holds(self, terms: &PolyTerms, value: &Poly) -> bool {
        let likely = terms.likely(value).greatest <= self.range().greatest;
        likely && terms.never_negative(value)
    }

    /// The value after a conversion from this type. Signed types of at least 32 bits hold what is
    /// put into them, unless the launch is known to be so large that they cannot.
    pub fn convert(self, to: Integer, terms: &mut PolyTerms, value: &Poly) -> Poly {
        if to.bits == 1 {
            let exact = self.exact(terms, value);
            return terms.truth(&exact);
        }
        let widens = to.bits > self.bits || to.bits == self.bits && self.signed == to.signed;
        if widens || !to.signed {
            // What leaves the same remainder by a greater power does so by a lesser one.
            return if to.bits > self.bits { self.exact(terms, value) } else { value.clone() };
        }
        to.fit(terms, value)
    }

    /// The value of this signed type that leaves the same remainder.
    fn fit(self, terms: &mut PolyTerms, value: &Poly) -> Poly {
        let range = self.range();
        if range.covers(terms.interval(value)) {
            return value.clone();
        }
        let wraps = |terms: &PolyTerms| {
            let bounds = &terms.launch;
            !bounds.is_empty() && !range.covers(terms.in_launch(value, bounds))
        };
        if self.bits >= 32 && range.covers(terms.likely(value)) && !wraps(terms) {
            return value.clone();
        }
        if self.bits == 64 {
            return value.clone();
        }
        let half = Poly::int(1 << (self.bits - 1));
        let raised = terms.add(value, &half);
        let rest = terms.remainder(&raised, &Poly::int(1 << self.bits));
        terms.sub(&rest, &half)
    }
}

/// The scalars that an access moves: bytes of one, and how many; of a structure the first.
pub fn parts(ty: &Type) -> (u8, u8) {
    match ty {
        Type::Scalar(scalar) => (scalar_bytes(*scalar), 1),
        Type::Vector(scalar, width) => (scalar_bytes(*scalar), *width),
        Type::Array(element, _) => parts(element),
        Type::Struct(_, fields) | Type::Union(_, fields) => {
            fields.first().map_or((1, 1), |(_, ty)| parts(ty))
        }
        Type::Pointer(..) => (8, 1),
        Type::Void | Type::Other(_) => (1, 1),
    }
}

/// Whether the type, or what it consists of, is real.
pub fn is_real(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(ScalarType::Real { .. }) | Type::Vector(ScalarType::Real { .. }, _))
}

/// Components of a vector; 1 of anything else.
pub fn width(ty: &Type) -> u8 {
    if let Type::Vector(_, width) = ty { *width } else { 1 }
}
