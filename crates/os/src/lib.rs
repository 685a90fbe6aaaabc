//! The operating system: files of results, whole or absent, and child processes within limits. For
//! Unix.

pub mod output;
pub mod process;
