//! Vectors of an item: numbers on which one instruction works together.
//!
//! Processors have them; a lane of a graphics processor has one number of 4 bytes. Where there are
//! vectors, compilers also pack what unrolled iterations do to numbers that are neighbours (LLVM's
//! Auto-Vectorization, "The SLP Vectorizer").

use tickbound_expr::Expr;

use super::footprint::Axis;
use super::number::{all, ceil_div, choice, is_zero, less};

/// Most bytes that one request moves for a lane without vectors.
const WIDEST: i64 = 16;

/// Fewest bytes that compilers pack: LLVM, SLPVectorizer.cpp, slp-min-reg-size, 128 bits.
const LEAST_PACKED: i64 = 16;

/// Bytes of a number that vectors are counted in.
pub(super) const WORD: i64 = 4;

/// The vectors of a device's items.
#[derive(Debug, Clone)]
pub(crate) struct Vectors {
    bytes: i64,
}

/// An access of one number or vector in unrolled loops.
pub(super) struct Unrolled {
    pub store: bool,
    /// Bytes that it takes.
    pub bytes: i64,
    /// Unrolled loops around it, inner ones first.
    pub axes: Vec<Axis>,
}

impl Default for Vectors {
    fn default() -> Vectors {
        Vectors::of(None)
    }
}

impl Vectors {
    /// Vectors of this size; `None`: of one word.
    pub fn of(bytes: Option<i64>) -> Vectors {
        Vectors { bytes: bytes.unwrap_or(WORD).max(WORD) }
    }

    /// Whether they hold more than one number.
    pub fn are_wide(&self) -> bool {
        self.bytes > WORD
    }

    /// Instructions for some bytes of an item.
    pub fn instructions(&self, bytes: i64) -> i64 {
        (bytes.max(1) + self.bytes - 1) / self.bytes
    }

    /// Most bytes that one request moves for a lane.
    pub fn widest(&self) -> i64 {
        WIDEST.max(self.bytes)
    }

    /// Requests for some bytes of a lane.
    pub fn requests(&self, bytes: i64) -> i64 {
        (bytes + self.widest() - 1) / self.widest()
    }

    /// Registers for an array with elements of `element` bytes; those of a word lie side by side.
    pub fn registers(&self, bytes: Expr, element: i64) -> Expr {
        let element = if element <= WORD { self.bytes } else { element };
        ceil_div(bytes, element) * self.instructions(element)
    }

    /// What remains of the executions of a block with these accesses if iterations are packed:
    /// those of a loop in which neighbours are stored, and neighbours or the same are loaded.
    pub(super) fn packed(&self, executed: Expr, accesses: &[Unrolled]) -> Expr {
        let words = accesses.iter().all(|access| access.bytes == WORD);
        let stores = accesses.iter().any(|access| access.store);
        let Some(first) = accesses.first().filter(|_| self.are_wide() && words && stores) else {
            return executed;
        };
        let neighbours = first.axes.iter().enumerate().map(|(i, axis)| (axis, packs(accesses, i)));
        let Some((axis, packs)) = neighbours.into_iter().find(|(_, packs)| *packs != Expr::Int(0))
        else {
            return executed;
        };
        let bodies = ceil_div(&axis.extent, self.bytes / WORD);
        let fewer = ceil_div(&executed * bodies, &axis.extent);
        let enough = less(LEAST_PACKED / WORD - 1, &axis.extent);
        choice(enough, choice(packs, fewer, &executed), executed)
    }
}

/// 1 if all accesses go on by their size in this loop, or do not move and load, else 0.
fn packs(accesses: &[Unrolled], axis: usize) -> Expr {
    let fits = |access: &Unrolled| {
        let distance = access.axes.get(axis).and_then(|axis| axis.distance.clone());
        let Some(distance) = distance else { return Expr::Int(0) };
        let next = is_zero(&distance - access.bytes);
        if access.store { next } else { choice(is_zero(distance), 1, next) }
    };
    all(accesses.iter().map(fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(store: bool, axes: &[(i64, i64)]) -> Unrolled {
        let axis = |(distance, extent): &(i64, i64)| Axis {
            distance: Some(Expr::Int(*distance)),
            extent: Expr::Int(*extent),
        };
        Unrolled { store, bytes: 4, axes: axes.iter().map(axis).collect() }
    }

    fn value(expr: &Expr) -> i64 {
        expr.eval(&[]).unwrap()
    }

    #[test]
    fn sums_of_neighbours_are_packed() {
        // sum[i] += a[i] * b, 5 times over all i.
        let packed = |vector, extent| {
            let accesses = [
                access(false, &[(4, extent), (0, 5)]),
                access(false, &[(0, extent), (4, 5)]),
                access(true, &[(4, extent), (0, 5)]),
            ];
            value(&Vectors::of(vector).packed(Expr::Int(5 * extent), &accesses))
        };
        assert_eq!([packed(None, 16), packed(Some(16), 16), packed(Some(64), 16)], [80, 20, 5]);
        // A part of a vector is one; fewer than 16 bytes are not packed.
        assert_eq!([packed(Some(64), 4), packed(Some(64), 18), packed(Some(64), 3)], [5, 10, 15]);
    }

    #[test]
    fn other_sums_are_not() {
        let vectors = Vectors::of(Some(64));
        let packed = |accesses: &[Unrolled]| value(&vectors.packed(Expr::Int(32), accesses));
        let sum = || access(true, &[(4, 32)]);
        assert_eq!(packed(&[access(false, &[(4, 32)]), sum()]), 2);
        // One sum of all; loads that are apart; nothing that is stored; vectors of the source.
        assert_eq!(packed(&[access(false, &[(4, 32)]), access(true, &[(0, 32)])]), 32);
        assert_eq!(packed(&[access(false, &[(8, 32)]), sum()]), 32);
        assert_eq!(packed(&[access(false, &[(4, 32)])]), 32);
        assert_eq!(packed(&[Unrolled { bytes: 8, ..access(true, &[(8, 32)]) }]), 32);
    }

    #[test]
    fn arrays_in_registers() {
        let registers = |vector, bytes, element| {
            value(&Vectors::of(vector).registers(Expr::Int(bytes), element))
        };
        // 12 numbers; 6 vectors of 8; 3 bytes.
        assert_eq!([registers(None, 48, 4), registers(Some(32), 48, 4)], [12, 2]);
        assert_eq!([registers(None, 192, 32), registers(Some(64), 192, 32)], [48, 6]);
        assert_eq!([registers(None, 3, 1), registers(Some(64), 3, 1)], [1, 1]);
    }
}
