//! Bytes of arrays in global memory that a group and the launch touch.

use itertools::Itertools;
use tickbound_model::Expr;

use super::super::around::Around;
use super::super::batch::is_from_data;
use super::super::footprint::{Addresses, Axis, addresses};
use super::super::lanes::Lane;
use super::super::number::{all, ceil_div, choice, is_zero, less, max, mul, remainder, sub};
use super::super::traffic::{Moved, Traffic};
use super::{Walk, sizes};
use crate::ast::At;
use crate::error::ReadError;
use crate::steps::Access;

impl Walk<'_> {
    /// Bytes that pieces of a sweep take more than they have, as caches move whole sectors: one that begins and ends in the midst of a
    /// sector, on average, a sector but for one element; one that is moved by whole sectors, or by whole rows that divide a line, the
    /// rest of a sector.
    fn margin<'x>(
        &self,
        bytes: i64,
        sweep: &'x [Axis],
        others: impl Iterator<Item = &'x Axis>,
        (by_rows, row): (Expr, Expr),
    ) -> Expr {
        let Addresses { count, pieces } = addresses(sweep, bytes, &self.device.known);
        let piece = mul(Expr::Int(bytes), ceil_div(count, pieces));
        let whole = |axis: &Axis, inside: bool| {
            let Some(distance) = axis.distance.clone() else { return Expr::Int(0) };
            let whole = is_zero(remainder(distance.clone(), Expr::Int(self.device.sector)));
            // What is less than a piece makes it up.
            if inside { choice(less(distance, piece.clone()), Expr::Int(1), whole) } else { whole }
        };
        let own = sweep.iter().map(|axis| whole(axis, true));
        let by_lines = all(own.chain(others.map(|axis| whole(axis, false))).unique());
        let anywhere = Expr::Int((self.device.sector - bytes).max(0));
        let short = |row| max(Expr::Int(0), sub(Expr::Int(self.device.sector), row));
        choice(by_lines, short(piece), choice(by_rows, short(row), anywhere))
    }

    /// Adds the bytes that differ to those of the array.
    pub(super) fn touch(
        &mut self,
        (access, at, around): (&Access, &At, &Around),
        lanes: Option<Vec<Lane>>,
        loops: Vec<Axis>,
        (aligned, row): (Expr, Expr),
    ) -> Result<(), ReadError> {
        let mut sweep: Vec<Axis> = match lanes {
            Some(lanes) => (lanes.into_iter())
                .map(|Lane { distance, extent }| Axis { distance: Some(distance), extent })
                .collect(),
            None => (sizes(self.names, "local", at)?.into_iter())
                .map(|extent| Axis { distance: None, extent })
                .collect(),
        };
        let outer = around.rolled_loops().saturating_sub(1);
        let mut axes = loops.into_iter();
        sweep.extend(axes.by_ref().take(around.loops.len() - outer));
        let outer: Vec<Axis> = axes.collect();
        let groups: Vec<Axis> = (access.groups.iter().zip(sizes(self.names, "groups", at)?))
            .map(|(stride, extent)| {
                Ok(Axis { distance: self.distance(stride, access, at)?, extent })
            })
            .collect::<Result<_, ReadError>>()?;
        let bytes = access.bytes();
        let others = outer.iter().chain(&groups);
        let margin = match is_from_data(access) {
            true => Expr::Int((self.device.sector - bytes).max(0)),
            false => self.margin(bytes, &sweep, others, (aligned, row)),
        };
        let traffic = Traffic { device: self.device, bytes, margin, sweep, outer, groups };
        let held = if access.store { &Expr::Int(1) } else { &self.held };
        let Moved { group, launch, beyond_l2, l3 } = traffic.moved(&self.at_work, held);
        let taken = |bytes| mul(around.taken.clone(), bytes);
        if !access.store && !self.is_in_l2(&access.array) {
            self.add("beyond_l2_bytes", Some(at), &access.array, taken(beyond_l2));
            self.add("l3_bytes", Some(at), &access.array, taken(l3));
        }
        let (group, launch) = (taken(group), taken(launch));
        let key = (access.array.clone(), access.store);
        let known = match self.arrays.get(&key) {
            Some((least, most, first)) => {
                (max(least.clone(), group), max(most.clone(), launch), first.clone())
            }
            None => (group, launch, at.clone()),
        };
        self.arrays.insert(key, known);
        Ok(())
    }

    /// Whether a whole array is in L2 once it was read, for any values of parameters.
    fn is_in_l2(&self, array: &str) -> bool {
        let bytes = self.names.bytes_of(array).and_then(|bytes| self.known(bytes));
        bytes.zip(self.device.l2).is_some_and(|(bytes, l2)| bytes <= l2)
    }
}
