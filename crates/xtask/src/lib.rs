//! Tasks of developers, which are not installed.
//!
//! The paper's tables beside ours, the thesis's experiment, and the scripts that make figures,
//! distributions and long checks.

pub mod paper;
mod project;
pub mod reo_bench;
pub mod scripts;
pub mod table1;
