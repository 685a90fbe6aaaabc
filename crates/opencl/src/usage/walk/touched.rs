//! Bytes of arrays in global memory that a group and the launch touch.

use itertools::Itertools;
use tickbound_expr::Expr;

use super::super::around::Around;
use super::super::batch::is_from_data;
use super::super::footprint::{Addresses, Axis, addresses};
use super::super::lanes::Lane;
use super::super::number::{all, ceil_div, choice, is_zero, less, max, min, mul, remainder, sub};
use super::super::traffic::{Moved, Traffic, gap};
use super::{Walk, product, sizes};
use crate::ast::SourcePlace;
use crate::error::ReadError;
use crate::steps::{Digit, MemoryAccess, SymbolExpr};

impl Walk<'_> {
    /// Bytes that pieces of a sweep take more than they have, as caches move whole sectors: one
    /// that begins and ends in the midst of a sector, on average, a sector but for one element; one
    /// that is moved by whole sectors, or by whole rows that divide a line, the rest of a sector.
    /// None takes more than what lies between it and the next one.
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
        let sector = Expr::Int(self.device.sector);
        let gap = gap(sweep, &piece, self.device);
        let anywhere = min(Expr::Int((self.device.sector - bytes).max(0)), gap.clone());
        let short = |row| max(Expr::Int(0), sub(sector.clone(), row));
        let in_row = max(short(row), min(gap, short(piece.clone())));
        choice(by_lines, short(piece), choice(by_rows, in_row, anywhere))
    }

    /// Adds the bytes that differ to those of the array.
    pub(super) fn touch(
        &mut self,
        (access, at, around): (&MemoryAccess, &SourcePlace, &Around),
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
        let digits = access.digits.as_ref().map_or(0, Vec::len);
        let loops = sweep.iter().skip(digits).map(|axis| axis.extent.clone());
        let most = self.items_in_rows(access, at)?.map(|items| loops.fold(items, mul));
        let traffic = Traffic { device: self.device, bytes, margin, most, sweep, outer, groups };
        let held = if access.store { &Expr::Int(1) } else { &self.held };
        let Moved { group, launch, beyond_l2, l3 } = traffic.moved(&self.at_work, held);
        let taken = |bytes| mul(around.taken.clone(), bytes);
        if !access.store && !self.is_in_l2(&access.array) {
            self.add("beyond_l2_bytes", Some(at), &access.array, taken(beyond_l2));
            self.add("l3_bytes", Some(at), &access.array, taken(l3));
        }
        self.raise_touched(access, at, (taken(group), taken(launch)));
        Ok(())
    }

    /// Raises the bytes of an array that a group and the launch touch.
    fn raise_touched(
        &mut self,
        access: &MemoryAccess,
        at: &SourcePlace,
        (group, launch): (Expr, Expr),
    ) {
        let key = (access.array.clone(), access.store);
        let known = match self.arrays.get(&key) {
            Some((least, most, first)) => {
                (max(least.clone(), group), max(most.clone(), launch), first.clone())
            }
            None => (group, launch, at.clone()),
        };
        self.arrays.insert(key, known);
    }

    /// The items of a group, where the digits of their places say more, as its last row is not
    /// whole.
    pub(super) fn items_in_rows(
        &self,
        access: &MemoryAccess,
        at: &SourcePlace,
    ) -> Result<Option<Expr>, ReadError> {
        let is_local = |name: &str| name.starts_with("$local_");
        let plain = |d: &Digit| matches!(&d.extent, SymbolExpr::Name(name) if is_local(name));
        let digits = access.digits.as_deref().unwrap_or_default();
        match digits.iter().all(plain) {
            true => Ok(None),
            false => product(self.names, "local", at).map(Some),
        }
    }

    /// Whether a whole array is in L2 once it was read, for any values of parameters.
    fn is_in_l2(&self, array: &str) -> bool {
        let bytes = self.names.bytes_of(array).and_then(|bytes| self.known(bytes));
        bytes.zip(self.device.l2).is_some_and(|(bytes, l2)| bytes <= l2)
    }
}
