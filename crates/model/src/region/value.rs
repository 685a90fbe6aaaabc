//! The value of an expression over a region.

use super::axes::{Axes, Region};
use super::form::LinearForm;
use super::known::{Bounds, Known, Stop, Wide};
use tickbound_expr::{BinaryOp, Expr, Function};

/// The form of an expression over a region, for one configuration's values of all other names.
///
/// # Errors
/// Where to cut the region, or that some item may have no value.
pub fn value(e: &Expr, env: &[i64], axes: &Axes, region: &Region) -> Result<LinearForm, Stop> {
    Over { env, axes, region }.value(e).map_err(|wide| wide.stop)
}

/// The value of a condition everywhere in a region.
pub fn truth(e: &Expr, env: &[i64], axes: &Axes, region: &Region) -> Result<bool, Stop> {
    Over { env, axes, region }.truth(e).map_err(|wide| wide.stop)
}

/// Expressions over one region.
pub(super) struct Over<'r> {
    env: &'r [i64],
    axes: &'r Axes,
    region: &'r Region,
}

impl Over<'_> {
    pub(super) fn value(&self, e: &Expr) -> Known {
        let known = match e {
            Expr::Int(n) => return Ok(LinearForm::constant(i128::from(*n))),
            Expr::Name(slot) => match self.axes.name(*slot) {
                Some(form) => Ok(*form),
                None => return Ok(LinearForm::constant(i128::from(self.env[*slot]))),
            },
            Expr::Neg(a) => self.sum(&Ok(LinearForm::constant(0)), -1, &self.value(a)),
            Expr::Not(a) => Ok(number(!self.truth(a)?)),
            Expr::Conditional(c, a, b) => self.value(if self.truth(c)? { a } else { b }),
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Call(f, parts) => self.call(*f, parts),
        };
        self.in_64_bits(known)
    }

    fn in_64_bits(&self, known: Known) -> Known {
        let Some((low, high)) = self.bounds(&known) else { return known };
        let fits = low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX);
        match (fits, known) {
            (false, Ok(_)) => Err(Stop::Fault.into()),
            (false, Err(wide)) => Err(wide.stop.into()),
            (true, Err(_)) if low == high => Ok(LinearForm::constant(low)),
            (true, known) => known,
        }
    }

    pub(super) fn range(&self, form: &LinearForm) -> Result<Bounds, Stop> {
        self.region.range(form).ok_or(Stop::Fault)
    }

    fn truth(&self, e: &Expr) -> Result<bool, Wide> {
        self.is_not_zero(&self.value(e))
    }

    fn is_not_zero(&self, known: &Known) -> Result<bool, Wide> {
        if self.reaches(known, 0)? { self.reaches(known, 1) } else { Ok(true) }
    }

    /// Whether a value is at least `bound`, everywhere alike.
    pub(super) fn reaches(&self, known: &Known, bound: i128) -> Result<bool, Wide> {
        match (self.bounds(known), known) {
            (Some((low, _)), _) if low >= bound => Ok(true),
            (Some((_, high)), _) if high < bound => Ok(false),
            (_, Err(wide)) => Err(wide.stop.into()),
            (Some(_), Ok(form)) => Err(self.cut(form, bound).into()),
            (None, Ok(_)) => Err(Stop::Fault.into()),
        }
    }

    pub(super) fn sum(&self, a: &Known, times: i128, b: &Known) -> Known {
        match (a, b) {
            (Ok(a), Ok(b)) => Ok(a.plus(times, b).ok_or(Stop::Fault)?),
            (Err(wide), _) | (_, Err(wide)) => {
                Err(Wide { stop: wide.stop, bounds: self.sum_bounds(a, times, b) })
            }
        }
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Known {
        match op {
            BinaryOp::And => return Ok(number(self.truth(a)? && self.truth(b)?)),
            BinaryOp::Or => return Ok(number(self.truth(a)? || self.truth(b)?)),
            _ => {}
        }
        let (a, b) = (self.value(a), self.value(b));
        let less = || self.sum(&a, -1, &b);
        Ok(match op {
            BinaryOp::Add => return self.sum(&a, 1, &b),
            BinaryOp::Sub => return less(),
            BinaryOp::Mul => self.product(&formed(a)?, &formed(b)?)?,
            BinaryOp::Div | BinaryOp::FloorDiv => return self.quotient_of(a, &formed(b)?),
            BinaryOp::Rem => return self.remainder(&a, &formed(b)?),
            BinaryOp::Pow => {
                let of = |form| self.constant(form).map(|n| Expr::Int(n as i64));
                let power = Expr::binary(BinaryOp::Pow, of(&formed(a)?)?, of(&formed(b)?)?);
                LinearForm::constant(power.eval(&[]).map_err(|_| Stop::Fault)?.into())
            }
            BinaryOp::Eq => number(!self.is_not_zero(&less())?),
            BinaryOp::Ne => number(self.is_not_zero(&less())?),
            BinaryOp::Lt => number(!self.reaches(&less(), 0)?),
            BinaryOp::Ge => number(self.reaches(&less(), 0)?),
            BinaryOp::Le => number(!self.reaches(&less(), 1)?),
            BinaryOp::Gt => number(self.reaches(&less(), 1)?),
            // Returned above.
            BinaryOp::And | BinaryOp::Or => return Err(Stop::Fault.into()),
        })
    }

    fn call(&self, f: Function, parts: &[Expr]) -> Known {
        let negative = |known: &Known| self.sum(&Ok(LinearForm::constant(0)), -1, known);
        match (f, parts) {
            (Function::Abs, [a]) => {
                let a = self.value(a);
                if self.reaches(&a, 0)? { a } else { negative(&a) }
            }
            (Function::CeilDiv, [a, by]) => {
                let by = formed(self.value(by))?;
                negative(&self.quotient_of(negative(&self.value(a)), &by))
            }
            (Function::Min | Function::Max, _) => self.extreme(f == Function::Max, parts),
            (Function::Abs | Function::CeilDiv, _) => Err(Stop::Fault.into()),
        }
    }

    /// The quotient rounded down, or its bounds.
    fn quotient_of(&self, a: Known, by: &LinearForm) -> Known {
        let stop = match &a {
            Ok(a) => match self.quotient(a, by) {
                Ok(whole) => return Ok(whole),
                Err(stop) => stop,
            },
            Err(wide) => wide.stop,
        };
        Err(Wide { stop, bounds: self.quotient_bounds(&a, by) })
    }

    /// The rest of a quotient rounded down, or its bounds.
    fn remainder(&self, a: &Known, by: &LinearForm) -> Known {
        let whole = self.quotient_of(*a, by);
        let rest = self.sum(a, -self.constant(by)?, &whole);
        rest.map_err(|wide| Wide { bounds: self.remainder_bounds(a, by), ..wide })
    }

    fn product(&self, a: &LinearForm, b: &LinearForm) -> Result<LinearForm, Stop> {
        match (self.fixed(a), self.fixed(b)) {
            (Some(n), _) => b.times(n).ok_or(Stop::Fault),
            (_, Some(n)) => a.times(n).ok_or(Stop::Fault),
            // Where one of them depends on items alone, groups need not be distinguished.
            (None, None) => {
                let by_group =
                    |f: &LinearForm| f.slopes[..self.axes.of_groups].iter().any(|s| *s != 0);
                Err(self.halve(if by_group(a) { b } else { a }))
            }
        }
    }

    /// The quotient rounded down: multiples of the divisor, and a rest between two of them.
    fn quotient(&self, a: &LinearForm, by: &LinearForm) -> Result<LinearForm, Stop> {
        let by = self.constant(by)?;
        let (a, by) = match by {
            0 => return Err(Stop::Fault),
            n if n < 0 => (a.times(-1).ok_or(Stop::Fault)?, -n),
            n => (*a, n),
        };
        let (mut whole, mut rest) = (LinearForm::constant(0), a);
        for (axis, slope) in a.slopes.iter().enumerate().filter(|(_, s)| *s % by == 0) {
            whole.slopes[axis] = slope / by;
            rest.slopes[axis] = 0;
        }
        let (low, high) = self.range(&rest)?;
        match (low.div_euclid(by), high.div_euclid(by)) {
            (m, n) if m == n => {
                whole.constant = m;
                Ok(whole)
            }
            (m, _) => Err(self.cut(&rest, (m + 1) * by)),
        }
    }

    /// The value if it is the same in the whole region.
    fn fixed(&self, form: &LinearForm) -> Option<i128> {
        let (low, high) = self.region.range(form)?;
        (low == high).then_some(low)
    }

    pub(super) fn constant(&self, form: &LinearForm) -> Result<i128, Stop> {
        self.fixed(form).ok_or_else(|| self.halve(form))
    }

    /// Where a form that lies on both sides of a bound is to be cut: groups first, the slowest axis
    /// first, and there where one side is decided.
    pub(super) fn cut(&self, form: &LinearForm, bound: i128) -> Stop {
        let Ok((low, high)) = self.range(form) else { return Stop::Fault };
        for (axis, (first, last)) in self.region.sides.iter().copied().enumerate() {
            let slope = form.slopes[axis];
            if slope == 0 || first == last {
                continue;
            }
            // What the other axes contribute at least and at most.
            let own = slope.saturating_mul(i128::from(last - first)).abs();
            let [least, most] = [low, high - own].map(|rest| {
                let behind = bound - rest;
                // Steps on this axis until the bound is reached, or is no longer.
                match slope > 0 {
                    true => -(-behind).div_euclid(slope),
                    false => (rest + own - bound).div_euclid(-slope) + 1,
                }
            });
            let inside = |steps: &i128| (1..=i128::from(last - first)).contains(steps);
            if let Some(steps) = [least, most].iter().copied().filter(inside).min() {
                return Stop::Cut { axis, at: first + steps as i64 };
            }
        }
        self.halve(form)
    }

    /// Cuts the first axis on which the form depends in half.
    fn halve(&self, form: &LinearForm) -> Stop {
        let sides = self.region.sides.iter().zip(&form.slopes).enumerate();
        for (axis, ((first, last), slope)) in sides {
            if first < last && *slope != 0 {
                return Stop::Cut { axis, at: first + (last - first) / 2 + 1 };
            }
        }
        Stop::Fault
    }
}

/// The form, or why there is none: bounds of a part are none of the whole.
fn formed(known: Known) -> Result<LinearForm, Stop> {
    known.map_err(|wide| wide.stop)
}

fn number(truth: bool) -> LinearForm {
    LinearForm::constant(i128::from(truth))
}
