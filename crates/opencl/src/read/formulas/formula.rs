//! What a formula is.

use std::rc::Rc;

use super::super::symbolic::{Leaf, Poly};
use crate::ast::{AddressSpace, VariableId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaId(pub(super) u32);

impl FormulaId {
    pub const UNKNOWN: FormulaId = FormulaId(0);
    /// Unknown, and not what it was: for walks that only look.
    pub const CHANGED: FormulaId = FormulaId(u32::MAX);
    /// A constant whose value is not known here.
    pub const CONSTANT: FormulaId = FormulaId(1);
}

/// How a real number, a vector or an array is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Formula {
    /// In a way that is not known.
    Unknown,
    /// A number that the compiler knows, as the bits of a `double`; absent: not known here.
    Constant(Option<u64>),
    /// Loaded, an argument, or a whole number made of ids and arguments.
    Place {
        space: AddressSpace,
        array: Rc<str>,
        /// Bytes behind the array's beginning.
        offset: Poly,
        /// Bytes of a component.
        element: u8,
        width: u8,
        /// For local memory, how many barriers there were before.
        barriers: u32,
    },
    Component(FormulaId, u8),
    WithComponent(FormulaId, u8, FormulaId),
    Vector(Vec<FormulaId>),
    Computed(RealOperation, Vec<FormulaId>),
    /// What a variable holds at the beginning of an iteration of a loop, and before the loop.
    Carried(Leaf, VariableId, FormulaId),
    /// An array or a structure in which something else stands at an offset.
    Stored(FormulaId, Poly, FormulaId),
    /// What stands at an offset in an array or a structure.
    Element(FormulaId, Poly),
    /// One or the other, as guards decide that no data do.
    Either([(u32, FormulaId); 2]),
    /// What an iteration made, after the last one.
    After(Leaf, FormulaId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RealOperation {
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    Negate,
    Reciprocal,
    Root,
    Convert,
    /// The lesser or the greater of two.
    Extreme,
    /// One on numbers of two bytes, of which two may be done at a time: they are not counted.
    Packed,
    /// A whole number that depends on these, or a choice that does.
    Whole,
    /// Another one, by the number of its name.
    Function(u16),
}
