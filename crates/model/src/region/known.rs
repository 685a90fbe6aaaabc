//! What is known of an expression over a region.

use super::form::LinearForm;

/// Why an expression has no form over a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It has one, or comes closer, on both sides of a cut; the second side begins at `at`.
    Cut {
        /// The axis.
        axis: usize,
        /// First number of the second side.
        at: i64,
    },
    /// Some item may have no value, or one beyond 64 bits.
    Fault,
}

/// Least and greatest value.
pub(super) type Bounds = (i128, i128);

/// What is known of an expression over a region: its form, or why it has none.
pub(super) type Known = Result<LinearForm, Wide>;

/// An expression without a form over a region.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wide {
    /// Where the region has to be cut, or a fault.
    pub stop: Stop,
    /// Bounds of its value; `None` if there may be a fault or none are known.
    pub bounds: Option<Bounds>,
}

impl From<Stop> for Wide {
    fn from(stop: Stop) -> Wide {
        Wide { stop, bounds: None }
    }
}
