//! What goes in: the source, and what is known about its macros and arguments.

use std::path::PathBuf;

use indexmap::IndexMap;
use tickbound_model::source::{Side, Standard};

use crate::steps::Number;

/// A kernel to be read.
#[derive(Debug, Clone)]
pub struct Request {
    /// The source file.
    pub path: PathBuf,
    /// As messages name it.
    pub name: String,
    /// The kernel function.
    pub entry: String,
    /// The language's version.
    pub standard: Standard,
    /// Macros whose value differs between configurations, in order.
    pub symbols: IndexMap<String, Symbol>,
    /// Macros that are the same for all configurations, with their text.
    pub texts: IndexMap<String, String>,
    /// For each argument of the kernel, in order, what is passed, if that is known.
    pub arguments: Vec<Passed>,
    /// Dimensions of the launch, 1 to 3.
    pub dimensions: usize,
    /// For each dimension the items of a group over symbols, if that can be said.
    pub local: Vec<Option<Number>>,
    /// For the line of a loop that cannot be read: a name that stands for its most iterations.
    pub bounds: IndexMap<u32, Symbol>,
    /// For the line of a branch that depends on data: which side counts.
    pub branches: IndexMap<u32, Side>,
}

/// A number whose value is kept open: what it is between which bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// Its least value over all configurations.
    pub least: i64,
    /// Its greatest value over all configurations.
    pub greatest: i64,
}

/// What is passed for a parameter of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// A buffer or local memory.
    Memory,
    /// A whole number, between these bounds.
    Number(Symbol),
    /// A real number.
    Real,
}
