//! Between which numbers an expression lies over a region, where it is no linear form.
//!
//! What goes in: what is known of the parts of an expression. What comes out: bounds that hold for
//! every item, if no item can have a fault. A minimum, a maximum or a comparison is often decided
//! by them, so that the region need not be cut where a quotient passes the ends of a clamp.

use super::form::LinearForm;
use super::known::{Bounds, Known, Stop, Wide};
use super::value::Over;
use tickbound_expr::{BinaryOp, Expr, Function};

impl Over<'_> {
    /// Bounds of a value; `None` if it may have a fault or none are known.
    pub(super) fn bounds(&self, known: &Known) -> Option<Bounds> {
        match known {
            Ok(form) => self.range(form).ok(),
            Err(wide) => wide.bounds,
        }
    }

    pub(super) fn sum_bounds(&self, a: &Known, times: i128, b: &Known) -> Option<Bounds> {
        let ((low, high), (least, most)) = (self.bounds(a)?, self.bounds(b)?);
        let (x, y) = (least.checked_mul(times)?, most.checked_mul(times)?);
        Some((low.checked_add(x.min(y))?, high.checked_add(x.max(y))?))
    }

    /// Bounds of a quotient rounded down, by a divisor that is positive and the same everywhere.
    pub(super) fn quotient_bounds(&self, a: &Known, by: &LinearForm) -> Option<Bounds> {
        let (low, high) = self.bounds(a)?;
        let by = self.constant(by).ok().filter(|by| *by > 0)?;
        Some((low.div_euclid(by), high.div_euclid(by)))
    }

    /// Bounds of the rest of such a quotient.
    pub(super) fn remainder_bounds(&self, a: &Known, by: &LinearForm) -> Option<Bounds> {
        let by = self.constant(by).ok().filter(|by| *by > 0)?;
        self.bounds(a).map(|_| (0, by - 1))
    }

    /// The least of some values, or with `greatest` the greatest, without excluded ones.
    pub(super) fn extreme(&self, greatest: bool, parts: &[Expr]) -> Known {
        let values: Vec<Known> = parts.iter().map(|part| self.value(part)).collect();
        let bounds: Option<Vec<Bounds>> = values.iter().map(|known| self.bounds(known)).collect();
        let Some(bounds) = bounds else {
            let stop = values.iter().find_map(|v| v.err()).map_or(Stop::Fault, |wide| wide.stop);
            return Err(stop.into());
        };
        let lows = bounds.iter().map(|(low, _)| *low);
        let highs = bounds.iter().map(|(_, high)| *high);
        let ends = if greatest { lows.max().zip(highs.max()) } else { lows.min().zip(highs.min()) };
        let ends = ends.ok_or(Stop::Fault)?;
        // What the best of them reaches everywhere.
        let sure = if greatest { ends.0 } else { ends.1 };
        let chance = |(low, high): &Bounds| match greatest {
            true => *high > sure || *low == sure,
            false => *low < sure || *high == sure,
        };
        let undecided = |stop| Wide { stop, bounds: Some(ends) };
        let mut best: Option<Known> = None;
        for ((part, next), bounds) in parts.iter().zip(values).zip(&bounds) {
            if !chance(bounds) {
                continue;
            }
            if let Err(wide) = next {
                let stop = self.crossing(part, sure + i128::from(greatest), wide.stop);
                return Err(undecided(stop));
            }
            best = Some(match best {
                None => next,
                Some(best) => {
                    let above = self.reaches(&self.sum(&best, -1, &next), 0);
                    let above = above.map_err(|wide| undecided(wide.stop))?;
                    if above == greatest { best } else { next }
                }
            });
        }
        best.unwrap_or(Err(Stop::Fault.into()))
    }

    /// Where to cut the region at a bound of an expression; `stop` is why it has no form.
    fn crossing(&self, e: &Expr, bound: i128, stop: Stop) -> Stop {
        let Some((part, bound)) = self.within(e, bound) else { return stop };
        match self.value(part) {
            Ok(form) => self.cut(&form, bound),
            Err(wide) => self.crossing(part, bound, wide.stop),
        }
    }

    /// The part of an expression, and the bound of that part, by which the expression reaches a
    /// bound or, where it falls as the part rises, does not.
    fn within<'e>(&self, e: &'e Expr, bound: i128) -> Option<(&'e Expr, i128)> {
        let known = |e: &Expr| self.value(e).ok().and_then(|form| self.constant(&form).ok());
        match e {
            Expr::Neg(a) => Some((a, 1 - bound)),
            Expr::Binary(op, a, b) => match (op, known(a), known(b)) {
                (BinaryOp::Add, None, Some(n)) => Some((a, bound - n)),
                (BinaryOp::Add, Some(n), None) => Some((b, bound - n)),
                (BinaryOp::Sub, None, Some(n)) => Some((a, bound + n)),
                (BinaryOp::Sub, Some(n), None) => Some((b, n - bound + 1)),
                (BinaryOp::Div | BinaryOp::FloorDiv, None, Some(n)) if n > 0 => {
                    bound.checked_mul(n).map(|bound| (&**a, bound))
                }
                _ => None,
            },
            Expr::Call(Function::CeilDiv, parts) => {
                let [a, by] = parts.as_slice() else { return None };
                let by = known(by).filter(|n| *n > 0)?;
                Some((a, (bound - 1).checked_mul(by)?.checked_add(1)?))
            }
            _ => None,
        }
    }
}
