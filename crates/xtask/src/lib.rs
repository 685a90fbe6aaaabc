//! Tasks of developers, which are not installed.
//!
//! The paper's tables beside ours, the thesis's experiment, and scripts for figures and checks.

pub mod paper;
mod project;
pub mod reo_bench;
pub mod scripts;
pub mod table1;
