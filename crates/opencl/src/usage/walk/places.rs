//! Where accesses are.
//!
//! How far loops, lanes and groups move them, whether their rows stay in lines, and which bytes of
//! arrays in global memory a group and the launch touch.

use itertools::Itertools;
use tickbound_expr::{BinaryOp, Expr, Function};

use super::super::around::Loop;
use super::super::batch::is_from_data;
use super::super::footprint::{Addresses, Axis, addresses};
use super::super::lanes::Lane;
use super::super::number::{
    all, ceil_div, choice, is_zero, less, max, min, quotient, remainder, sizes,
};
use super::super::traffic::{Moved, Traffic, gap};
use super::{Site, Walk, product};
use crate::error::Read;
use crate::steps::{Digit, Stride, SymbolExpr};

impl Walk<'_> {
    /// 1 if all that moves the first lane moves it by whole lines, or, where a row of lanes with
    /// what lies between is a part of a line, by whole rows in one line. Loops that go over what
    /// lies between two lanes do not count. Also the bytes of such a row, or of a line.
    pub(super) fn aligned(
        &self,
        site: Site<'_>,
        loops: &[Axis],
        lanes: Option<&[Lane]>,
    ) -> Read<(Expr, Expr)> {
        let access = site.access;
        let line = Expr::Int(self.device.line);
        let (row, apart) = lanes.map_or((line.clone(), Expr::Int(0)), |lanes| self.row(lanes));
        let mut distances: Vec<Option<Expr>> = Vec::new();
        if let Some([first, others @ ..]) = lanes {
            // Where neighbours share an address, the row is of the next ones.
            let of_second = is_zero(&first.distance);
            for (i, lane) in others.iter().enumerate() {
                let moves = lane.distance.clone();
                let still = Expr::Int(0);
                let distance = if i == 0 { choice(&of_second, still, moves) } else { moves };
                distances.push(Some(distance));
            }
        }
        for stride in &access.groups {
            distances.push(self.distance(stride, site)?);
        }
        let fills = between(loops, access.bytes(), &apart);
        let whole = |distance: Option<Expr>| match distance {
            Some(distance) => is_zero(remainder(distance, &row)),
            None => Expr::Int(0),
        };
        let of_loop = |axis: &Axis| match &axis.distance {
            Some(distance) => {
                let inside = choice(less(distance, &apart), &fills, 0);
                choice(inside, 1, whole(Some(distance.clone())))
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
            let none = is_zero(&apart);
            let own = distance * min(&left, extent);
            length = choice(&none, own, length);
            apart = choice(none, distance, apart);
            left = max(1, quotient(left, extent));
        }
        let length = choice(is_zero(&length), &line, length);
        let part = is_zero(remainder(&line, &length));
        let row = self.device.known.narrowed(choice(part, length, line));
        (row, self.device.known.narrowed(apart))
    }

    /// The loops around an access, inner ones first, as repetitions of its address.
    pub(super) fn loop_axes(&self, site: Site<'_>) -> Read<Vec<Axis>> {
        let mut strides = site.access.iterations.iter();
        let axis = |l: &Loop| {
            let distance = match strides.next() {
                Some(stride) => self.distance(stride, site)?,
                None => None,
            };
            // Where a loop has no iteration, nothing in it is done.
            Ok(Axis { distance, extent: self.at_least(1, l.trips.clone()) })
        };
        site.around.loops.iter().rev().map(axis).collect()
    }

    /// Bytes, not negative.
    fn distance(&self, stride: &Stride, site: Site<'_>) -> Read<Option<Expr>> {
        match stride {
            Stride::Elements(n) | Stride::Shifted(n) => self.bytes(n, site).map(Some),
            Stride::Irregular | Stride::Data => Ok(None),
        }
    }

    fn bytes(&self, elements: &SymbolExpr, site: Site<'_>) -> Read<Expr> {
        let elements = self.unsigned(self.names.put_in(elements, site.at)?.simplified());
        Ok(i64::from(site.access.element) * elements)
    }

    pub(super) fn lanes(&self, site: Site<'_>) -> Read<Option<Vec<Lane>>> {
        let Some(digits) = &site.access.digits else { return Ok(None) };
        let lane = |digit: &Digit| {
            let distance = self.bytes(&digit.stride, site)?;
            let extent = self.names.put_in(&digit.extent, site.at)?.simplified();
            Ok(Lane { distance, extent })
        };
        digits.iter().map(lane).collect::<Read<_>>().map(Some)
    }

    fn unsigned(&self, number: Expr) -> Expr {
        match number {
            Expr::Int(n) => Expr::Int(n.saturating_abs()),
            Expr::Neg(e) => self.unsigned(*e),
            Expr::Binary(BinaryOp::Mul, a, b) => self.unsigned(*a) * self.unsigned(*b),
            number if self.is_at_least(0, &number) => number,
            number => {
                let negated = 0 - &number;
                match self.is_at_least(0, &negated) {
                    true => negated,
                    false => Expr::Call(Function::Abs, vec![number]),
                }
            }
        }
    }

    /// Bytes that pieces of a sweep take more than they have, as caches move whole sectors: on
    /// average a sector but for one element; the rest of a sector where whole sectors, or whole
    /// rows that divide a line, move it. None takes more than what lies between it and the next
    /// one.
    fn margin<'x>(
        &self,
        bytes: i64,
        sweep: &'x [Axis],
        others: impl Iterator<Item = &'x Axis>,
        (by_rows, row): (Expr, Expr),
    ) -> Expr {
        let Addresses { count, pieces } = addresses(sweep, bytes, &self.device.known);
        let piece = bytes * ceil_div(count, pieces);
        let whole = |axis: &Axis, inside: bool| {
            let Some(distance) = axis.distance.clone() else { return Expr::Int(0) };
            let whole = is_zero(remainder(&distance, self.device.sector));
            // What is less than a piece makes it up.
            if inside { choice(less(distance, &piece), 1, whole) } else { whole }
        };
        let own = sweep.iter().map(|axis| whole(axis, true));
        let by_lines = all(own.chain(others.map(|axis| whole(axis, false))).unique());
        let sector = Expr::Int(self.device.sector);
        let gap = gap(sweep, &piece, self.device);
        let anywhere = min((self.device.sector - bytes).max(0), &gap);
        let short = |row| max(0, &sector - row);
        let in_row = max(short(row), min(gap, short(piece.clone())));
        choice(by_lines, short(piece), choice(by_rows, in_row, anywhere))
    }

    /// Adds the bytes that differ to those of the array.
    pub(super) fn touch(
        &mut self,
        site: Site<'_>,
        lanes: Option<Vec<Lane>>,
        loops: Vec<Axis>,
        (aligned, row): (Expr, Expr),
    ) -> Read<()> {
        let Site { access, at, around } = site;
        let mut sweep: Vec<Axis> = match lanes {
            Some(lanes) => lanes.iter().map(Axis::from).collect(),
            None => (sizes(self.names, "local", at)?.into_iter())
                .map(|extent| Axis { distance: None, extent })
                .collect(),
        };
        let outer = around.rolled_loops().saturating_sub(1);
        let mut axes = loops.into_iter();
        sweep.extend(axes.by_ref().take(around.loops.len() - outer));
        let outer: Vec<Axis> = axes.collect();
        let groups: Vec<Axis> = (access.groups.iter().zip(sizes(self.names, "groups", at)?))
            .map(|(stride, extent)| Ok(Axis { distance: self.distance(stride, site)?, extent }))
            .collect::<Read<_>>()?;
        let bytes = access.bytes();
        let others = outer.iter().chain(&groups);
        let margin = match is_from_data(access) {
            true => Expr::Int((self.device.sector - bytes).max(0)),
            false => self.margin(bytes, &sweep, others, (aligned, row)),
        };
        let digits = access.digits.as_ref().map_or(0, Vec::len);
        let loops = sweep.iter().skip(digits).map(|axis| axis.extent.clone());
        let of_rows = |items| loops.fold(items, |all, extent| all * extent);
        let most = self.items_in_rows(site)?.map(of_rows);
        let traffic = Traffic { device: self.device, bytes, margin, most, sweep, outer, groups };
        let held = if access.store { &Expr::Int(1) } else { &self.held };
        let Moved { group, launch, beyond_l2, l3 } = traffic.moved(&self.at_work, held);
        let taken = |bytes| &around.taken * bytes;
        if !access.store && !self.is_in_l2(&access.array) {
            self.add("beyond_l2_bytes", Some(at), &access.array, taken(beyond_l2));
            self.add("l3_bytes", Some(at), &access.array, taken(l3));
        }
        self.raise_touched(site, (taken(group), taken(launch)));
        Ok(())
    }

    /// Raises the bytes of an array that a group and the launch touch.
    fn raise_touched(&mut self, site: Site<'_>, (group, launch): (Expr, Expr)) {
        let Site { access, at, .. } = site;
        let key = (access.array.clone(), access.store);
        let known = match self.arrays.get(&key) {
            Some((least, most, first)) => (max(least, group), max(most, launch), first.clone()),
            None => (group, launch, at.clone()),
        };
        self.arrays.insert(key, known);
    }

    /// The items of a group, where the digits of places say more: the last row is not whole.
    pub(super) fn items_in_rows(&self, site: Site<'_>) -> Read<Option<Expr>> {
        let is_local = |name: &str| name.starts_with("$local_");
        let plain = |d: &Digit| matches!(&d.extent, SymbolExpr::Name(name) if is_local(name));
        let digits = site.access.digits.as_deref().unwrap_or_default();
        match digits.iter().all(plain) {
            true => Ok(None),
            false => product(self.names, "local", site.at).map(Some),
        }
    }

    /// Whether a whole array is in L2 once it was read, for any values of parameters.
    fn is_in_l2(&self, array: &str) -> bool {
        let bytes = self.names.bytes_of(array).and_then(|bytes| self.known(bytes));
        bytes.zip(self.device.l2).is_some_and(|(bytes, l2)| bytes <= l2)
    }
}

/// 1 if loops that move an access by less than the lanes' distance go over no more than that.
fn between(loops: &[Axis], bytes: i64, apart: &Expr) -> Expr {
    let reach = |axis: &Axis| match &axis.distance {
        Some(distance) => {
            let far = distance * (&axis.extent - 1);
            choice(less(distance, apart), far, 0)
        }
        None => Expr::Int(0),
    };
    let all = loops.iter().map(reach).fold(Expr::Int(bytes), |all, far| all + far);
    less(all, apart + 1)
}
