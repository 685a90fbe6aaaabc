//! The axes of a launch: work items and groups in as many dimensions as its expressions take them
//! apart; and regions, parts of a launch.

use tickbound_expr::{BinaryOp, Expr, Slot};

use super::form::{LinearForm, MAX_AXES};

/// One axis: whole numbers from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexAxis {
    /// How many numbers.
    pub length: i64,
    /// What one more on this axis adds to `group`, or to `lid`.
    pub stride: i64,
}

/// The axes of one configuration's launch. Where expressions have `group % r` and `group // r`,
/// `group` is `x + r * y`, so that both are numbers of an axis; the same goes for `lid`.
#[derive(Debug, Clone)]
pub struct Axes {
    /// Those of groups, the slowest first; then those of the items of a group, the same way.
    pub all: Vec<IndexAxis>,
    /// How many of them are of groups.
    pub of_groups: usize,
    /// Slot of `lid`; those of `gid` and `group` follow.
    first: Slot,
    /// `lid`, `gid` and `group` over the axes.
    names: [LinearForm; 3],
}

impl Axes {
    /// The axes of a launch that expressions take apart. `first`: slot of `lid`; `env`: values.
    pub fn new<'e>(
        first: Slot,
        env: &[i64],
        [global, local]: [i64; 2],
        expressions: impl IntoIterator<Item = &'e Expr>,
    ) -> Axes {
        let mut radices = Radices { first, local, env, lid: Vec::new(), group: Vec::new() };
        expressions.into_iter().for_each(|e| radices.collect(e));
        let Radices { lid, group, .. } = radices;
        let groups = chain(group, global / local, MAX_AXES / 2);
        let of_groups = groups.len();
        let all: Vec<IndexAxis> =
            groups.into_iter().chain(chain(lid, local, MAX_AXES / 2)).collect();
        let mut names = [LinearForm::constant(0); 3];
        for (axis, IndexAxis { stride, .. }) in all.iter().enumerate() {
            let stride = i128::from(*stride);
            match axis < of_groups {
                true => {
                    names[1].slopes[axis] = stride * i128::from(local);
                    names[2].slopes[axis] = stride;
                }
                false => {
                    names[0].slopes[axis] = stride;
                    names[1].slopes[axis] = stride;
                }
            }
        }
        Axes { all, of_groups, first, names }
    }

    /// What a slot represents over the axes; `None` if it is the same for all items.
    pub fn name(&self, slot: Slot) -> Option<&LinearForm> {
        slot.checked_sub(self.first).and_then(|n| self.names.get(n))
    }

    /// All items of the launch.
    pub fn whole(&self) -> Region {
        Region { sides: self.all.iter().map(|a| (0, a.length - 1)).collect() }
    }
}

/// An axis for each radix that divides the next, the slowest first.
fn chain(mut radices: Vec<i64>, size: i64, most: usize) -> Vec<IndexAxis> {
    radices.sort_unstable();
    radices.dedup();
    let mut strides = vec![1i64];
    for radix in radices {
        let last = strides[strides.len() - 1];
        if strides.len() < most
            && radix > last
            && radix < size
            && radix % last == 0
            && size % radix == 0
        {
            strides.push(radix);
        }
    }
    let ends = strides[1..].iter().copied().chain([size]);
    let axes = strides.iter().zip(ends).map(|(s, end)| IndexAxis { length: end / s, stride: *s });
    let mut axes: Vec<IndexAxis> = axes.collect();
    axes.reverse();
    axes
}

/// By how much expressions divide `lid` and `group`.
struct Radices<'e> {
    first: Slot,
    local: i64,
    env: &'e [i64],
    lid: Vec<i64>,
    group: Vec<i64>,
}

impl Radices<'_> {
    fn collect(&mut self, e: &Expr) {
        if let Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem, a, by) = e
            && let Some((slot, base)) = self.scaled(a)
            && let Some(radix) = self.number(by).and_then(|by| base.checked_mul(by))
        {
            self.put(slot, radix);
        }
        e.parts().for_each(|part| self.collect(part));
    }

    fn put(&mut self, slot: Slot, radix: i64) {
        if radix < 2 {
            return;
        }
        match slot - self.first {
            0 => self.lid.push(radix),
            2 => self.group.push(radix),
            _ if self.local % radix == 0 => self.lid.push(radix),
            _ if radix % self.local == 0 => self.group.push(radix / self.local),
            _ => {}
        }
    }

    /// An item's name and what it was divided by so far; what is added moves pieces alone.
    fn scaled(&self, e: &Expr) -> Option<(Slot, i64)> {
        match e {
            Expr::Name(slot) if (self.first..self.first + 3).contains(slot) => Some((*slot, 1)),
            Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv, a, by) => {
                let (slot, base) = self.scaled(a)?;
                Some((slot, base.checked_mul(self.number(by)?)?))
            }
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                self.scaled(a).filter(|_| self.number(b).is_some())
            }
            _ => None,
        }
    }

    /// The value of what is the same for all items.
    fn number(&self, e: &Expr) -> Option<i64> {
        if e.mentions(|s| s >= self.first) {
            return None;
        }
        e.eval(self.env).ok().filter(|n| *n > 0)
    }
}

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
