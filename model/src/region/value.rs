//! The value of an expression over a region.

use super::Region;
use super::axes::Axes;
use super::form::Form;
use crate::expr::{BinaryOp, Expr, Function};

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

/// The form of an expression over a region, for one configuration's values of all other names.
///
/// # Errors
/// Where to cut the region, or that some item may have no value.
pub fn value(e: &Expr, env: &[i64], axes: &Axes, region: &Region) -> Result<Form, Stop> {
    Over { env, axes, region }.value(e)
}

/// What a condition comes to, everywhere in a region.
///
/// # Errors
/// As for [`value`].
pub fn truth(e: &Expr, env: &[i64], axes: &Axes, region: &Region) -> Result<bool, Stop> {
    Over { env, axes, region }.truth(e)
}

struct Over<'r> {
    env: &'r [i64],
    axes: &'r Axes,
    region: &'r Region,
}

impl Over<'_> {
    fn value(&self, e: &Expr) -> Result<Form, Stop> {
        let form = match e {
            Expr::Int(n) => Form::constant(i128::from(*n)),
            Expr::Name(slot) => match self.axes.name(*slot) {
                Some(form) => *form,
                None => Form::constant(i128::from(self.env[*slot])),
            },
            Expr::Neg(a) => self.value(a)?.times(-1).ok_or(Stop::Fault)?,
            Expr::Not(a) => number(!self.truth(a)?),
            Expr::Conditional(c, a, b) => self.value(if self.truth(c)? { a } else { b })?,
            Expr::Binary(op, a, b) => self.binary(*op, a, b)?,
            Expr::Call(f, parts) => self.call(*f, parts)?,
        };
        self.in_64_bits(form)
    }

    fn in_64_bits(&self, form: Form) -> Result<Form, Stop> {
        let (low, high) = self.range(&form)?;
        match low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX) {
            true => Ok(form),
            false => Err(Stop::Fault),
        }
    }

    fn range(&self, form: &Form) -> Result<(i128, i128), Stop> {
        self.region.range(form).ok_or(Stop::Fault)
    }

    fn truth(&self, e: &Expr) -> Result<bool, Stop> {
        let value = self.value(e)?;
        self.is_not_zero(&value)
    }

    fn is_not_zero(&self, form: &Form) -> Result<bool, Stop> {
        match self.reaches(form, 0)? {
            true => self.reaches(form, 1),
            false => Ok(true),
        }
    }

    /// Whether the form is at least `bound`, everywhere alike.
    fn reaches(&self, form: &Form, bound: i128) -> Result<bool, Stop> {
        let (low, high) = self.range(form)?;
        match (low >= bound, high >= bound) {
            (true, _) => Ok(true),
            (_, false) => Ok(false),
            _ => Err(self.cut(form, bound)),
        }
    }

    fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Result<Form, Stop> {
        match op {
            BinaryOp::And => return Ok(number(self.truth(a)? && self.truth(b)?)),
            BinaryOp::Or => return Ok(number(self.truth(a)? || self.truth(b)?)),
            _ => {}
        }
        let (a, b) = (self.value(a)?, self.value(b)?);
        let less = || a.plus(-1, &b).ok_or(Stop::Fault);
        Ok(match op {
            BinaryOp::Add => a.plus(1, &b).ok_or(Stop::Fault)?,
            BinaryOp::Sub => less()?,
            BinaryOp::Mul => self.product(&a, &b)?,
            BinaryOp::Div | BinaryOp::FloorDiv => self.quotient(&a, &b)?,
            BinaryOp::Rem => {
                let by = self.constant(&b)?;
                a.plus(-by, &self.quotient(&a, &b)?).ok_or(Stop::Fault)?
            }
            BinaryOp::Pow => {
                let of = |form| self.constant(form).map(|n| Expr::Int(n as i64));
                let power = Expr::binary(BinaryOp::Pow, of(&a)?, of(&b)?);
                Form::constant(power.eval(&[]).map_err(|_| Stop::Fault)?.into())
            }
            BinaryOp::Eq => number(!self.is_not_zero(&less()?)?),
            BinaryOp::Ne => number(self.is_not_zero(&less()?)?),
            BinaryOp::Lt => number(!self.reaches(&less()?, 0)?),
            BinaryOp::Ge => number(self.reaches(&less()?, 0)?),
            BinaryOp::Le => number(!self.reaches(&less()?, 1)?),
            BinaryOp::Gt => number(self.reaches(&less()?, 1)?),
            // Returned above.
            BinaryOp::And | BinaryOp::Or => return Err(Stop::Fault),
        })
    }

    fn call(&self, f: Function, parts: &[Expr]) -> Result<Form, Stop> {
        let mut values = parts.iter().map(|part| self.value(part));
        let first = values.next().unwrap_or(Err(Stop::Fault))?;
        match f {
            Function::Abs => match self.reaches(&first, 0)? {
                true => Ok(first),
                false => first.times(-1).ok_or(Stop::Fault),
            },
            Function::CeilDiv => {
                let by = values.next().unwrap_or(Err(Stop::Fault))?;
                let negative = first.times(-1).ok_or(Stop::Fault)?;
                self.quotient(&negative, &by)?.times(-1).ok_or(Stop::Fault)
            }
            Function::Min | Function::Max => values.try_fold(first, |best, next| {
                let next = next?;
                let above = self.reaches(&best.plus(-1, &next).ok_or(Stop::Fault)?, 0)?;
                Ok(if above == (f == Function::Max) { best } else { next })
            }),
        }
    }

    fn product(&self, a: &Form, b: &Form) -> Result<Form, Stop> {
        match (self.fixed(a), self.fixed(b)) {
            (Some(n), _) => b.times(n).ok_or(Stop::Fault),
            (_, Some(n)) => a.times(n).ok_or(Stop::Fault),
            // Where one of them depends on items alone, groups need not be told apart.
            (None, None) => {
                let by_group = |f: &Form| f.slopes[..self.axes.of_groups].iter().any(|s| *s != 0);
                Err(self.halve(if by_group(a) { b } else { a }))
            }
        }
    }

    /// The quotient rounded down: what is a multiple of the divisor comes out, and the rest must lie between two
    /// neighbouring multiples.
    fn quotient(&self, a: &Form, by: &Form) -> Result<Form, Stop> {
        let by = self.constant(by)?;
        let (a, by) = match by {
            0 => return Err(Stop::Fault),
            n if n < 0 => (a.times(-1).ok_or(Stop::Fault)?, -n),
            n => (*a, n),
        };
        let (mut whole, mut rest) = (Form::constant(0), a);
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
    fn fixed(&self, form: &Form) -> Option<i128> {
        let (low, high) = self.region.range(form)?;
        (low == high).then_some(low)
    }

    fn constant(&self, form: &Form) -> Result<i128, Stop> {
        self.fixed(form).ok_or_else(|| self.halve(form))
    }

    /// Where a form that lies on both sides of a bound is to be cut: groups first, the slowest axis first, and
    /// there where one side is decided.
    fn cut(&self, form: &Form, bound: i128) -> Stop {
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
    fn halve(&self, form: &Form) -> Stop {
        let sides = self.region.sides.iter().zip(&form.slopes).enumerate();
        for (axis, ((first, last), slope)) in sides {
            if first < last && *slope != 0 {
                return Stop::Cut { axis, at: first + (last - first) / 2 + 1 };
            }
        }
        Stop::Fault
    }
}

fn number(truth: bool) -> Form {
    Form::constant(i128::from(truth))
}
