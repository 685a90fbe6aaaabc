//! Private arrays that live in memory.
//!
//! Registers have no index. An array stays in them if each of its accesses has, in the body where it stands, a place that the compiler
//! knows; one place that it does not know puts the array into memory, with all that is done to it. There the elements of the
//! lanes of a warp lie side by side, so that a word of each lane is a pass and lines of its own.

use indexmap::IndexMap;
use tickbound_model::Expr;

use super::Device;
use super::footprint::{Axis, addresses};
use super::number::{add, ceil_div, choice, is_zero, less, max, min, mul, sub};
use super::traffic::{part_beyond, part_of};
use super::walk::WIDEST;
use crate::ast::At;
use crate::steps::{Access, Stride};

/// What is done to private arrays, by their names.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    all: IndexMap<String, Array>,
}

/// An array, and its accesses.
#[derive(Debug)]
pub(super) struct Array {
    /// 1 if it lives in memory, else 0.
    pub in_memory: Expr,
    /// All of them.
    pub accesses: Vec<Own>,
}

/// One access, if its array lives in memory.
#[derive(Debug, Clone)]
pub(super) struct Own {
    /// Where it stands.
    pub at: At,
    /// Whether it is a store.
    pub store: bool,
    /// Its requests.
    pub requests: Expr,
    /// Words of 4 bytes that they move for each lane.
    pub words: Expr,
    /// Addresses that are computed for it.
    pub addresses: Expr,
}

impl Arrays {
    /// Adds an access; `indexed`: 1 if its place is not known in its body.
    pub fn add(&mut self, array: &str, indexed: Expr, own: Own) {
        let known = self.all.entry(array.to_owned());
        let known = known.or_insert(Array { in_memory: Expr::Int(0), accesses: Vec::new() });
        known.in_memory = either(known.in_memory.clone(), indexed);
        known.accesses.push(own);
    }

    /// The array of this name, if something is done to it.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.all.get(name)
    }
}

/// 1 if one of two is, else 0.
fn either(a: Expr, b: Expr) -> Expr {
    match a == b {
        true => a,
        false => choice(a, Expr::Int(1), b),
    }
}

/// 1 if the place of an access is not known in one body of the loops around, of which `rolled` stay loops.
pub(super) fn indexed(access: &Access, rolled: &[Axis]) -> Expr {
    if access.items != Stride::Elements(crate::steps::Number::Int(0)) {
        return Expr::Int(1);
    }
    let moves = |axis: &Axis| {
        let again = less(Expr::Int(1), axis.extent.clone());
        match &axis.distance {
            Some(distance) => choice(is_zero(distance.clone()), Expr::Int(0), again),
            None => again,
        }
    };
    rolled.iter().map(moves).fold(Expr::Int(0), either)
}

/// Requests and words of an access of `bytes` bytes in one body. Neighbouring elements move together, up to the widest access: a
/// compiler lays out arrays that are its own as it wants them.
pub(super) fn in_body(bytes: i64, unrolled: &[Axis], device: &Device) -> (Expr, Expr) {
    let all = addresses(unrolled, bytes, &device.inputs);
    let together = Expr::Int((WIDEST / bytes.max(1)).max(1));
    let piece = ceil_div(all.count.clone(), all.pieces.clone());
    let requests = mul(all.pieces, ceil_div(piece, together));
    let requests = mul(Expr::Int((bytes + WIDEST - 1) / WIDEST), requests);
    (requests, mul(Expr::Int((bytes + 3) / 4), all.count))
}

/// The memory that arrays of so many bytes take for each item.
#[derive(Debug)]
pub(super) struct Room<'d> {
    pub device: &'d Device,
    /// Bytes of an item, of all arrays.
    pub bytes: Expr,
    /// Lanes of a group's warps.
    pub lanes: Expr,
    /// Groups of a unit, and of the device, that are at work at once.
    pub held: Expr,
    pub at_work: Expr,
    /// Bytes of local memory of a group.
    pub local: Expr,
}

impl Room<'_> {
    /// Bytes that a group moves to and from L2: all that it stores, as L1 writes through, and of what it loads the part that
    /// L1 has no room for.
    pub fn moved(&self, loaded: Expr, stored: Expr) -> Expr {
        let Some(l1) = self.device.l1 else { return Expr::Int(0) };
        let shared = Expr::Int(self.device.local_in_l1);
        let taken = min(shared.clone(), mul(self.held.clone(), self.local.clone()));
        let room = add(Expr::Int(l1), sub(shared, taken));
        let share = part_beyond(self.of(self.held.clone()), room);
        let bytes = |words| mul(mul(Expr::Int(4), self.lanes.clone()), words);
        add(bytes(stored), part_of(bytes(loaded), share))
    }

    /// Of so many bytes that all groups move, those that L2 and L3 have no room for.
    pub fn beyond_l2(&self, moved: Expr) -> Expr {
        let Some(l2) = self.device.l2 else { return Expr::Int(0) };
        let room = Expr::Int(l2.saturating_add(self.device.l3));
        part_of(moved, part_beyond(self.of(self.at_work.clone()), room))
    }

    fn of(&self, groups: Expr) -> Expr {
        mul(mul(groups, self.lanes.clone()), max(Expr::Int(0), self.bytes.clone()))
    }
}
