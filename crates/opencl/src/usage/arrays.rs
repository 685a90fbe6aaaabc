//! Private arrays that live in memory.
//!
//! An array stays in registers, which have no index, if each of its accesses has a place that the
//! compiler knows, or one of a few, of which comparisons choose one; else it is in memory, with all
//! that is done to it. There the elements of the lanes of a warp lie side by side, so that a word
//! of each lane is a pass and separate lines.

use indexmap::IndexMap;
use tickbound_expr::Expr;

use super::Device;
use super::footprint::{Axis, addresses};
use super::number::{ceil_div, choice, is_zero, less, max, min, part_of};
use super::traffic::part_beyond;
use crate::ast::SourcePlace;
use crate::steps::{MemoryAccess, Stride, SymbolExpr};

/// Most places that comparisons choose from. Of the 150 kernels in the published Coulomb summations
/// whose loop stays one, NVIDIA's compiler reports the array in memory for none of 90 with 2 or 4
/// places, for 15 of 30 with 8, and for all 30 with more.
const FEW: i64 = 4;

/// Instructions for each of them and each word: a comparison, and a move that it decides.
const CHOICE: i64 = 2;

/// What is done to private arrays, by their names.
pub(super) type Arrays = IndexMap<String, Array>;

#[derive(Debug, Default)]
pub(super) struct Array {
    /// 1 if it lives in memory, else 0.
    pub in_memory: Expr,
    pub accesses: Vec<Own>,
}

/// One access.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub at: SourcePlace,
    pub store: bool,
    /// Bytes of an element.
    pub bytes: i64,
    /// Its requests, if its array lives in memory.
    pub requests: Expr,
    /// Words of 4 bytes that they move for each lane.
    pub words: Expr,
    /// Addresses that are computed for it then.
    pub addresses: Expr,
    /// Instructions that choose one of a few places, if the array lives in registers.
    pub choices: Expr,
}

impl Array {
    /// Adds an access; `indexed`: 1 if its place is not known in its body.
    pub fn add(&mut self, indexed: Expr, own: Own) {
        let before = std::mem::take(&mut self.in_memory);
        self.in_memory = if before == indexed { before } else { choice(before, 1, indexed) };
        self.accesses.push(own);
    }

    /// Bytes of an element: the most that one access takes.
    pub fn element(&self) -> i64 {
        self.accesses.iter().map(|own| own.bytes).max().unwrap_or(0)
    }
}

/// In how many places an access may be in one body; `rolled`: the loops that stay.
pub(super) fn places(rolled: &[Axis]) -> Expr {
    let of = |axis: &Axis| match &axis.distance {
        Some(distance) => choice(is_zero(distance), 1, &axis.extent),
        None => axis.extent.clone(),
    };
    rolled.iter().map(of).product()
}

/// 1 if the place of an access, one of `places`, is too uncertain for registers.
pub(super) fn indexed(access: &MemoryAccess, places: Expr, device: &Device<'_>) -> Expr {
    // Processors reach an array in memory by its index as cheaply as any other.
    let few = if device.vectors.are_wide() { 1 } else { FEW };
    match access.items == Stride::Elements(SymbolExpr::Int(0)) {
        true => less(few, places),
        false => Expr::Int(1),
    }
}

/// Instructions that choose one of `places` places for `words` words.
pub(super) fn choices(places: Expr, words: Expr) -> Expr {
    let all = CHOICE * &places * words;
    choice(less(1, places), all, 0)
}

/// Requests and words of an access of `bytes` bytes in one body. Neighbouring elements move
/// together, up to the widest access: a compiler lays out arrays that are its own as it wants them.
pub(super) fn in_body(bytes: i64, unrolled: &[Axis], device: &Device<'_>) -> (Expr, Expr) {
    let all = addresses(unrolled, bytes, &device.known);
    let together = Expr::Int((device.vectors.widest() / bytes.max(1)).max(1));
    let piece = ceil_div(&all.count, &all.pieces);
    let requests = all.pieces * ceil_div(piece, together);
    let requests = device.vectors.requests(bytes) * requests;
    (requests, ((bytes + 3) / 4) * all.count)
}

/// The memory that arrays take for each item.
#[derive(Debug)]
pub(super) struct Room<'d> {
    pub device: &'d Device<'d>,
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
    /// Bytes that a group moves to and from L2: all that it stores, as L1 writes through, and of
    /// what it loads the part that L1 has no room for.
    pub fn moved(&self, loaded: Expr, stored: Expr) -> Expr {
        let Some(l1) = self.device.l1 else { return Expr::Int(0) };
        let shared = Expr::Int(self.device.local_in_l1);
        let taken = min(&shared, &self.held * &self.local);
        let room = l1 + (shared - taken);
        let share = part_beyond(self.of(self.held.clone()), room);
        let bytes = |words| 4 * &self.lanes * words;
        bytes(stored) + part_of(bytes(loaded), share)
    }

    /// Of the bytes that all groups move, those that L2 and L3 have no room for.
    pub fn beyond_l2(&self, moved: Expr) -> Expr {
        let Some(l2) = self.device.l2 else { return Expr::Int(0) };
        let room = Expr::Int(l2.saturating_add(self.device.l3));
        part_of(moved, part_beyond(self.of(self.at_work.clone()), room))
    }

    fn of(&self, groups: Expr) -> Expr {
        groups * &self.lanes * max(0, &self.bytes)
    }
}
