//! Real numbers as formulas over what is loaded, for counts that no compiler can go below.
//!
//! # What is promised
//!
//! Two operations with different formulas compute different functions of the memory, as a compiler
//! without unsafe mathematics sees them: it may compute equal formulas once, leave out what adds 0
//! or multiplies with 1, and change signs, but not the order of operations. What is not known is
//! [`Formula::Unknown`], which may be equal to anything.
//!
//! # Loops
//!
//! A variable that an iteration changes is [`Formula::Carried`] in it. If the formula at the end of
//! an iteration contains the one at its beginning, both differ in each iteration. Other formulas
//! differ where the places differ from which they are loaded.

mod arrays;
mod formula;
mod iterations;
mod keys;
mod needed;
mod offsets;
mod table;
mod ways;

pub use formula::{Formula, FormulaId, RealOperation};
pub use keys::{ArraySpan, Compared, apart_classes};
pub use table::{Covered, Formulas};
pub use ways::{Guard, Needs, SOME_ITEM, StoredValue, number};
