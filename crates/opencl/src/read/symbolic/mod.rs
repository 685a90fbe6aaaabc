//! Symbolic integers in canonical form.
//!
//! A value is a [polynomial](Poly) with integer coefficients over *atoms*: names (ids, sizes,
//! macros, scalar arguments), *leaves* (values that have no name outside: the iteration of a loop,
//! something that was loaded), and terms that are no polynomials, such as quotients and
//! comparisons, over polynomials again. Equal values have equal polynomials wherever the rules know
//! it, and a value that does not depend on something does not mention it.
//!
//! Each atom knows an [interval](WideInterval) that holds its value, and, where there are any,
//! polynomials that bound it (`$lid_0 <= $local_0 - 1`). Together with the *facts* of the path
//! (conditions of the branches around) they decide comparisons: what always holds is 1.
//!
//! Where a result does not fit (overflow, or too large a term), it is a new leaf, of which nothing
//! is known but what it depends on.

mod division;
mod facts;
mod interval;
mod operations;
mod poly;
mod print;
mod substitute;
mod terms;
#[cfg(test)]
mod tests;

pub use interval::{FAR, WideInterval};
pub use poly::{Atom, Monomial, Poly, gcd};
pub use terms::{AtomKind, Leaf, PolyTerms};
