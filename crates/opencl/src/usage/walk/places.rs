//! Where accesses are: how far loops, lanes and groups move them, and whether their rows stay in
//! lines.

use itertools::Itertools;
use tickbound_expr::{BinaryOp, Expr, Function};

use super::super::around::{Around, Loop};
use super::super::footprint::Axis;
use super::super::lanes::Lane;
use super::super::number::{
    add, all, choice, is_zero, less, max, min, mul, quotient, remainder, sub,
};
use super::Walk;
use crate::ast::SourcePlace;
use crate::error::ReadError;
use crate::steps::{Digit, MemoryAccess, Stride, SymbolExpr};

impl Walk<'_> {
    /// 1 if all that moves the first lane of an access moves it by whole lines, or, where a row of
    /// lanes with what lies between them is a part of a line, by whole rows, which then lie in one
    /// line. Loops that go over what lies between two lanes move nothing into another line. Also
    /// the bytes of such a row, or of a line.
    pub(super) fn aligned(
        &self,
        access: &MemoryAccess,
        at: &SourcePlace,
        loops: &[Axis],
        lanes: Option<&[Lane]>,
    ) -> Result<(Expr, Expr), ReadError> {
        let line = Expr::Int(self.device.line);
        let (row, apart) = lanes.map_or((line.clone(), Expr::Int(0)), |lanes| self.row(lanes));
        let mut distances: Vec<Option<Expr>> = Vec::new();
        if let Some([first, others @ ..]) = lanes {
            // Where neighbours share an address, the row is of the next ones.
            let of_second = is_zero(first.distance.clone());
            for (i, lane) in others.iter().enumerate() {
                let moves = lane.distance.clone();
                let still = Expr::Int(0);
                let distance = if i == 0 { choice(of_second.clone(), still, moves) } else { moves };
                distances.push(Some(distance));
            }
        }
        for stride in &access.groups {
            distances.push(self.distance(stride, access, at)?);
        }
        let fills = between(loops, access.bytes(), &apart);
        let whole = |distance: Option<Expr>| match distance {
            Some(distance) => is_zero(remainder(distance, row.clone())),
            None => Expr::Int(0),
        };
        let of_loop = |axis: &Axis| match &axis.distance {
            Some(distance) => {
                let inside =
                    choice(less(distance.clone(), apart.clone()), fills.clone(), Expr::Int(0));
                choice(inside, Expr::Int(1), whole(Some(distance.clone())))
            }
            None => Expr::Int(0),
        };
        let of_loops = loops.iter().map(of_loop).unique();
        let aligned = all(of_loops.chain(distances.into_iter().unique().map(whole)));
        Ok((self.device.known.narrowed(aligned), row))
    }

    /// Bytes of a row of lanes of a warp, with what lies between them, where it is a part of a
    /// line, and else of a line; and how far its lanes are apart.
    fn row(&self, lanes: &[Lane]) -> (Expr, Expr) {
        let (line, warp) = (Expr::Int(self.device.line), Expr::Int(self.device.warp));
        let mut apart = Expr::Int(0);
        let mut length = Expr::Int(0);
        let mut left = warp;
        for Lane { distance, extent } in lanes.iter().take(2) {
            let none = is_zero(apart.clone());
            let own = mul(distance.clone(), min(left.clone(), extent.clone()));
            length = choice(none.clone(), own, length);
            apart = choice(none, distance.clone(), apart);
            left = max(Expr::Int(1), quotient(left, extent.clone()));
        }
        let length = choice(is_zero(length.clone()), line.clone(), length);
        let part = is_zero(remainder(line.clone(), length.clone()));
        let row = self.device.known.narrowed(choice(part, length, line));
        (row, self.device.known.narrowed(apart))
    }

    /// The loops around an access, inner ones first, as repetitions of its address.
    pub(super) fn loop_axes(
        &self,
        access: &MemoryAccess,
        at: &SourcePlace,
        around: &Around,
    ) -> Result<Vec<Axis>, ReadError> {
        let mut strides = access.iterations.iter();
        let axis = |l: &Loop| {
            let distance = match strides.next() {
                Some(stride) => self.distance(stride, access, at)?,
                None => None,
            };
            // Where a loop has no iteration, nothing in it is done.
            Ok(Axis { distance, extent: self.at_least(1, l.trips.clone()) })
        };
        around.loops.iter().rev().map(axis).collect()
    }

    /// Bytes, not negative.
    pub(super) fn distance(
        &self,
        stride: &Stride,
        access: &MemoryAccess,
        at: &SourcePlace,
    ) -> Result<Option<Expr>, ReadError> {
        match stride {
            Stride::Elements(n) | Stride::Shifted(n) => self.bytes(n, access, at).map(Some),
            Stride::Irregular | Stride::Data => Ok(None),
        }
    }

    pub(super) fn bytes(
        &self,
        elements: &SymbolExpr,
        access: &MemoryAccess,
        at: &SourcePlace,
    ) -> Result<Expr, ReadError> {
        let elements = self.unsigned(self.names.put_in(elements, at)?.simplified());
        Ok(mul(Expr::Int(i64::from(access.element)), elements))
    }

    pub(super) fn lanes(
        &self,
        access: &MemoryAccess,
        at: &SourcePlace,
    ) -> Result<Option<Vec<Lane>>, ReadError> {
        let Some(digits) = &access.digits else { return Ok(None) };
        let lane = |digit: &Digit| {
            let distance = self.bytes(&digit.stride, access, at)?;
            let extent = self.names.put_in(&digit.extent, at)?.simplified();
            Ok(Lane { distance, extent })
        };
        digits.iter().map(lane).collect::<Result<_, ReadError>>().map(Some)
    }
}

impl Walk<'_> {
    /// The number without its sign.
    fn unsigned(&self, number: Expr) -> Expr {
        match number {
            Expr::Int(n) => Expr::Int(n.saturating_abs()),
            Expr::Neg(e) => self.unsigned(*e),
            Expr::Binary(BinaryOp::Mul, a, b) => mul(self.unsigned(*a), self.unsigned(*b)),
            number if self.is_at_least(0, &number) => number,
            number => {
                let negated = sub(Expr::Int(0), number.clone());
                match self.is_at_least(0, &negated) {
                    true => negated,
                    false => Expr::Call(Function::Abs, vec![number]),
                }
            }
        }
    }
}

/// 1 if the loops that move an access of so many bytes by less than lanes are apart go over no more
/// than that.
fn between(loops: &[Axis], bytes: i64, apart: &Expr) -> Expr {
    let reach = |axis: &Axis| match &axis.distance {
        Some(distance) => {
            let far = mul(distance.clone(), sub(axis.extent.clone(), Expr::Int(1)));
            choice(less(distance.clone(), apart.clone()), far, Expr::Int(0))
        }
        None => Expr::Int(0),
    };
    let all = loops.iter().map(reach).fold(Expr::Int(bytes), add);
    less(all, add(apart.clone(), Expr::Int(1)))
}
