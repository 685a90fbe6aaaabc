//! Numbers of the profile `resources`: at most 63 bits, or none.

use tickbound_model::quantity::{Quantity, QuantityOp};

/// A number of at most 63 bits, or none after an overflow or a division by 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Int(pub Option<i64>);

impl From<i64> for Int {
    fn from(n: i64) -> Int {
        Int(Some(n))
    }
}

impl Quantity for Int {
    fn combine(&self, op: QuantityOp, other: &Int) -> Int {
        Int(self.0.zip(other.0).and_then(|(a, b)| match op {
            QuantityOp::Plus => a.checked_add(b),
            QuantityOp::Minus => a.checked_sub(b),
            QuantityOp::Times => a.checked_mul(b),
            QuantityOp::Floor => a.checked_div_euclid(b),
            QuantityOp::Ceil => Some(a.checked_div(b)? + i64::from(a % b != 0)),
            QuantityOp::Min => Some(a.min(b)),
            QuantityOp::Max => Some(a.max(b)),
        }))
    }

    fn if_at_most(&self, limit: i64, then: &Int, otherwise: &Int) -> Int {
        match self.0 {
            Some(n) if n <= limit => *then,
            Some(_) => *otherwise,
            None => Int(None),
        }
    }

    fn is_zero(&self) -> bool {
        self.0 == Some(0)
    }
}
