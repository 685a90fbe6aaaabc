//! Linear forms over the axes of a launch.

/// Most axes of a launch.
pub const MAX_AXES: usize = 8;

/// A number that is linear in the place on each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearForm {
    /// What it is at the origin.
    pub constant: i128,
    /// What one more on each axis adds.
    pub slopes: [i128; MAX_AXES],
}

impl LinearForm {
    /// The same number everywhere.
    pub fn constant(value: i128) -> LinearForm {
        LinearForm { constant: value, slopes: [0; MAX_AXES] }
    }

    /// The number, if it is the same everywhere.
    pub fn as_constant(&self) -> Option<i128> {
        self.slopes.iter().all(|s| *s == 0).then_some(self.constant)
    }

    /// The sum with a multiple of another; `None` beyond 127 bits.
    pub fn plus(&self, times: i128, other: &LinearForm) -> Option<LinearForm> {
        // Most slopes are 0, and a checked product of 128 bits is slow.
        let add = |a: i128, b: i128| match b {
            0 => Some(a),
            _ => a.checked_add(b.checked_mul(times)?),
        };
        let mut slopes = [0; MAX_AXES];
        for (i, slope) in slopes.iter_mut().enumerate() {
            *slope = add(self.slopes[i], other.slopes[i])?;
        }
        Some(LinearForm { constant: add(self.constant, other.constant)?, slopes })
    }

    /// A multiple; `None` beyond 127 bits.
    pub fn times(&self, factor: i128) -> Option<LinearForm> {
        LinearForm::constant(0).plus(factor, self)
    }
}
