//! What a slot holds: the names that fire as bits of a word, or nothing.

/// A slot without a step: bit 63 alone, which is no name's.
pub const EMPTY: u64 = 1 << 63;

/// Most names of one matrix: the bits of a word but the one of [`EMPTY`].
pub const MAX_NAMES: usize = 63;
