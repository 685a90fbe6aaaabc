//! Certificates of what is proved: a folder that other programs can check.
//!
//! | file | what it is |
//! |---|---|
//! | `safety.json` | the problem, the claims that are proved, and the numbers of their cases |
//! | `000.smt2`, ... | the [questions](crate::question_text) of a proof: all are to be `unsat` |
//!
//! [`write`](mod@write) makes it, [`check`](mod@check) checks that the questions are there for all
//! configurations. Solvers decide the questions.

pub mod check;
pub mod format;
pub mod write;
