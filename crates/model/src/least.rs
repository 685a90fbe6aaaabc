//! What a kernel uses of a device at least, for all compilers.
//!
//! Counted from its source (`docs/floors.md` has the rules and their arguments). [`Usage`] has the
//! likely counts beside them, which may be above or below what a compiler makes.
//!
//! [`Usage`]: crate::Usage

use indexmap::IndexMap;
use tickbound_expr::Expr;

tickbound_input::named! {
    /// Something that is counted.
    pub enum LeastCount {
        /// Of one warp: operations on real numbers.
        Real = "real operations",
        /// Of one warp: roots and the like.
        Special = "special operations",
        /// Of one warp: conversions between kinds of numbers.
        Convert = "conversions",
        /// Of one warp: requests to global memory.
        GlobalRequests = "requests to global memory",
        /// Of one warp: requests to local memory.
        LocalRequests = "requests to local memory",
        /// Of one group: bytes of global memory for its warps, different ones once a warp.
        GlobalBytes = "bytes of global memory for warps",
        /// Of one group: bytes of local memory for its warps, different ones once a warp.
        LocalBytes = "bytes of local memory for warps",
        /// Of the launch: different bytes of global memory that it reads.
        ReadBytes = "bytes read",
        /// Of the launch: different bytes of global memory that it writes.
        WrittenBytes = "bytes written",
        /// Of one item: operations on real numbers that depend on each other.
        Chain = "dependent operations",
    }
}

/// What a kernel uses at least; what is missing is 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeastUsage {
    /// What all groups do.
    pub each: IndexMap<LeastCount, Expr>,
    /// Of the launch, what only some of its groups do: that of all their warps, or groups.
    pub some: IndexMap<LeastCount, Expr>,
}
