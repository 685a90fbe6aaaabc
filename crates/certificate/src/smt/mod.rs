//! What is to be proved as questions in SMT-LIB 2, for solvers that others have written.
//!
//! - [`question`]: that nothing finishes earlier, by the sum;
//! - [`induction`]: the same step by step, without the sum;
//! - [`terms`]: expressions over the parameters.

pub mod induction;
pub mod question;
pub mod terms;
