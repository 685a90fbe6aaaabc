//! What variables hold while the reader walks, and how two paths come together.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::formulas::FormulaId;
use super::symbolic::{Atom, Leaf, Poly, PolyTerms};
use super::types::Integer;
use crate::ast::{AddressSpace, ScalarType, Type, VariableId};
use crate::steps::Dependence;

/// What an expression or a variable is worth.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadValue {
    /// A whole number. Of a signed type: the number; of an unsigned one: a number that leaves the
    /// same remainder by two to the power of the type's bits.
    Int(Poly),
    Pointer(Pointer),
    /// A real number that is known; finite.
    Real(f64),
    /// A real number that is this whole number times one of which only the dependence is known.
    Scaled(Dependence, Rc<Poly>, FormulaId),
    /// Anything else: real numbers, vectors, structures, contents of arrays; by how it is made.
    Other(Dependence, FormulaId),
    /// The same with some parts that are known whole numbers; there is at least one.
    Parts(Dependence, Rc<VectorParts>),
}

/// Whole numbers in a vector, a structure or an array: for the byte where one begins its type and
/// its value, as in [`ReadValue::Int`]. They do not overlap.
pub type VectorParts = BTreeMap<i64, (Integer, Poly)>;

pub type VariableIds = BTreeSet<VariableId>;

#[derive(Debug, Clone, PartialEq)]
pub struct Pointer {
    pub target: Target,
    /// How many bytes behind its beginning.
    pub offset: Poly,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// An array or a parameter in memory that counts.
    Memory(AddressSpace, Rc<str>),
    /// One of these private variables.
    Private(Rc<VariableIds>),
}

/// The number of an element, in what is known of an array of pointers.
#[derive(Debug, Clone, Copy)]
pub struct ElementNumber {
    pub atom: Atom,
    /// What is newer than the array.
    pub newer: Leaf,
    /// Iterations of a loop store different functions of it.
    pub mixed: bool,
}

/// Whether a type is an array of pointers: it points to anything that an element points to.
pub fn holds_pointers(ty: &Type) -> bool {
    match ty {
        Type::Array(element, _) => {
            matches!(**element, Type::Pointer(..)) || holds_pointers(element)
        }
        _ => false,
    }
}

/// The values of all variables on a path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadState {
    /// By variable; those that are missing have not been given a value.
    pub values: BTreeMap<VariableId, ReadValue>,
    pub returned: Option<ReadValue>,
    /// Whether a loop that has just been walked has ended the function; absent: it has not.
    pub left: Option<Poly>,
}

impl ReadValue {
    /// The whole number that it is, or the offset of a pointer.
    pub fn number(&self) -> Option<&Poly> {
        match self {
            ReadValue::Int(poly) | ReadValue::Pointer(Pointer { offset: poly, .. }) => Some(poly),
            _ => None,
        }
    }

    /// A whole number, or a pointer to what this one points to.
    pub fn with_number(&self, number: Poly) -> ReadValue {
        match self {
            ReadValue::Pointer(Pointer { target, .. }) => {
                ReadValue::Pointer(Pointer { target: target.clone(), offset: number })
            }
            _ => ReadValue::Int(number),
        }
    }

    pub fn depends(&self, terms: &PolyTerms) -> Dependence {
        match self {
            ReadValue::Int(poly) => terms.depends(poly),
            ReadValue::Pointer(pointer) => terms.depends(&pointer.offset),
            ReadValue::Real(_) => Dependence::Uniform,
            ReadValue::Scaled(depends, ..)
            | ReadValue::Other(depends, _)
            | ReadValue::Parts(depends, _) => *depends,
        }
    }

    /// A real number of a type, if it is one and the number is known.
    pub fn real(number: Option<f64>, ty: &Type) -> Option<ReadValue> {
        let rounded = match (number?, ty) {
            (number, Type::Scalar(ScalarType::Real { bytes: 8 })) => number,
            (number, Type::Scalar(ScalarType::Real { bytes: 4 })) => f64::from(number as f32),
            _ => return None,
        };
        rounded.is_finite().then_some(ReadValue::Real(rounded))
    }

    /// The number, if known and exact as a real one. A negative one may have wrapped around.
    pub fn as_real(&self) -> Option<f64> {
        match self {
            ReadValue::Real(number) => Some(*number),
            ReadValue::Int(poly) => {
                poly.constant().filter(|n| (0..1 << 24).contains(n)).map(|n| n as f64)
            }
            _ => None,
        }
    }

    /// The product of two real numbers, if one of them is a multiple of a whole number.
    pub fn product(depends: Dependence, a: &ReadValue, b: &ReadValue) -> Option<ReadValue> {
        match (a, b) {
            (ReadValue::Scaled(_, number, _), _) | (_, ReadValue::Scaled(_, number, _)) => {
                Some(ReadValue::Scaled(depends, number.clone(), FormulaId::UNKNOWN))
            }
            // C converts it, and libclang does not show that.
            (ReadValue::Int(number), _) | (_, ReadValue::Int(number)) => {
                Some(ReadValue::Scaled(depends, Rc::new(number.clone()), FormulaId::UNKNOWN))
            }
            _ => None,
        }
    }

    /// One or the other, chosen by a truth value.
    pub fn choice(terms: &mut PolyTerms, c: &Poly, a: &ReadValue, b: &ReadValue) -> ReadValue {
        if a == b {
            return a.clone();
        }
        match (a, b) {
            (ReadValue::Other(x, _), ReadValue::Other(y, _)) if x == y => ReadValue::other(*x),
            (ReadValue::Scaled(x, m, _), ReadValue::Scaled(y, n, _)) if (x, m) == (y, n) => {
                ReadValue::Scaled(*x, m.clone(), FormulaId::UNKNOWN)
            }
            (ReadValue::Int(a), ReadValue::Int(b)) => ReadValue::Int(terms.choice(c, a, b)),
            (ReadValue::Pointer(a), ReadValue::Pointer(b)) => {
                let Some(target) = Target::either(&a.target, &b.target) else {
                    return ReadValue::other(Dependence::Data);
                };
                let offset = terms.choice(c, &a.offset, &b.offset);
                ReadValue::Pointer(Pointer { target, offset })
            }
            _ => {
                let both = a.depends(terms).max(b.depends(terms)).max(terms.depends(c));
                ReadValue::with_parts(both, ReadValue::parts_of_choice(terms, c, a, b))
            }
        }
    }

    /// A value of which nothing is known but what it depends on.
    pub fn other(depends: Dependence) -> ReadValue {
        ReadValue::Other(depends, FormulaId::UNKNOWN)
    }

    /// A value of which nothing is known but what it depends on and these parts.
    pub fn with_parts(depends: Dependence, parts: VectorParts) -> ReadValue {
        match parts.is_empty() {
            true => ReadValue::other(depends),
            false => ReadValue::Parts(depends, Rc::new(parts)),
        }
    }

    pub fn parts(&self) -> Option<&VectorParts> {
        match self {
            ReadValue::Parts(_, parts) => Some(parts),
            _ => None,
        }
    }

    /// The part of a type that begins at a byte, if it is known.
    pub fn part(&self, offset: i64, ty: Integer) -> Option<Poly> {
        let (known, value) = self.parts()?.get(&offset)?;
        (*known == ty).then(|| value.clone())
    }

    /// Parts that are known on both paths.
    fn parts_of_choice(
        terms: &mut PolyTerms,
        c: &Poly,
        a: &ReadValue,
        b: &ReadValue,
    ) -> VectorParts {
        let (Some(a), Some(b)) = (a.parts(), b.parts()) else { return VectorParts::new() };
        let both = a.iter().filter_map(|(at, (ty, x))| {
            let (other, y) = b.get(at)?;
            (ty == other).then(|| (*at, (*ty, terms.choice(c, x, y))))
        });
        both.collect()
    }
}

impl Target {
    /// Whether they are different arrays.
    pub fn is_apart(&self, other: &Target) -> bool {
        match (self, other) {
            (Target::Memory(s, x), Target::Memory(t, y)) => {
                s != t || x.split(" or ").all(|name| y.split(" or ").all(|other| name != other))
            }
            (Target::Private(x), Target::Private(y)) => x.is_disjoint(y),
            _ => true,
        }
    }

    /// What points to one or the other; `None` if they lie in different memories.
    pub fn either(a: &Target, b: &Target) -> Option<Target> {
        match (a, b) {
            _ if a == b => Some(a.clone()),
            (Target::Memory(s, x), Target::Memory(t, y)) if s == t => {
                let mut names: BTreeSet<&str> = x.split(" or ").collect();
                names.extend(y.split(" or "));
                let names: Vec<&str> = names.into_iter().collect();
                Some(Target::Memory(*s, names.join(" or ").into()))
            }
            (Target::Private(x), Target::Private(y)) => {
                Some(Target::Private(Rc::new(x.union(y).copied().collect())))
            }
            _ => None,
        }
    }
}

impl ReadState {
    /// The value of a variable, if it is a known whole number.
    pub fn int(&self, id: VariableId) -> Option<&Poly> {
        match self.values.get(&id)? {
            ReadValue::Int(number) => Some(number),
            _ => None,
        }
    }

    /// What holds after two paths have come together; variables that only one knows are gone.
    pub fn merge(terms: &mut PolyTerms, c: &Poly, a: &ReadState, b: &ReadState) -> ReadState {
        let both = a.values.iter().filter_map(|(id, x)| Some((*id, x, b.values.get(id)?)));
        let values = both.map(|(id, x, y)| (id, ReadValue::choice(terms, c, x, y))).collect();
        let returned = match (&a.returned, &b.returned) {
            (Some(x), Some(y)) => Some(ReadValue::choice(terms, c, x, y)),
            (Some(x), None) | (None, Some(x)) => Some(x.clone()),
            (None, None) => None,
        };
        let left = (a.left.is_some() || b.left.is_some()).then(|| {
            let of = |state: &ReadState| state.left.clone().unwrap_or_else(|| Poly::int(0));
            terms.choice(c, &of(a), &of(b))
        });
        ReadState { values, returned, left }
    }
}
