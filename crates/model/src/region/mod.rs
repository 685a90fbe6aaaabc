//! Boxes of work items that do the same.
//!
//! In go the expressions of a kernel and one configuration. The items of its launch are the points
//! of a box: its [`Axes`] are those of groups and those of items, in as many dimensions as the
//! expressions take `group` and `lid` apart. Over a part of this box, a [`Region`], an expression
//! is a linear [`LinearForm`] of the place, or the result is where the region has to be
//! [cut](Stop::Cut) so that both sides come closer to one.
//!
//! What it promises: the form has the expression's value at every item of the region, and no item
//! has a fault there. So a guard is decided by the corners of a region, and what a launch of 2^30
//! items does is known from a few regions.

mod axes;
mod bounds;
mod count;
mod form;
mod known;
mod value;

pub use axes::{Axes, IndexAxis};
pub use count::groups_where;
pub use form::{LinearForm, MAX_AXES};
pub use known::Stop;
pub use value::{truth, value};

/// A part of a launch: for each axis the first and the last number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// First and last number on each axis.
    pub sides: Vec<(i64, i64)>,
}

impl Region {
    /// The least and the greatest value of a form.
    pub fn range(&self, form: &LinearForm) -> Option<(i128, i128)> {
        let (mut low, mut high) = (form.constant, form.constant);
        let sloping = self.sides.iter().zip(&form.slopes).filter(|(_, slope)| **slope != 0);
        for ((first, last), slope) in sloping {
            let ends = [i128::from(*first), i128::from(*last)].map(|x| x.checked_mul(*slope));
            let (a, b) = (ends[0]?, ends[1]?);
            low = low.checked_add(a.min(b))?;
            high = high.checked_add(a.max(b))?;
        }
        Some((low, high))
    }

    /// The sum of a form over all points; `None` beyond 127 bits.
    pub fn sum(&self, form: &LinearForm) -> Option<i128> {
        let length = |(first, last): &(i64, i64)| i128::from(*last) - i128::from(*first) + 1;
        let points = self.sides.iter().map(length).try_fold(1i128, i128::checked_mul)?;
        let mut sum = form.constant.checked_mul(points)?;
        for (side, slope) in self.sides.iter().zip(&form.slopes).filter(|(_, slope)| **slope != 0) {
            let ends = i128::from(side.0) + i128::from(side.1);
            // Twice the mean of a side, for each line of points along it: a whole number.
            let along = (ends.checked_mul(length(side))? / 2).checked_mul(points / length(side))?;
            sum = sum.checked_add(slope.checked_mul(along)?)?;
        }
        Some(sum)
    }

    /// The region in two, the second beginning at `at` on the axis.
    pub fn cut(&self, axis: usize, at: i64) -> [Region; 2] {
        let (mut below, mut above) = (self.clone(), self.clone());
        below.sides[axis].1 = at - 1;
        above.sides[axis].0 = at;
        [below, above]
    }
}
