//! What goes in: the source, and what is known about its macros and arguments.

use std::path::PathBuf;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_model::source::{QuestionKey, Side, Standard};

use crate::steps::SymbolExpr;

/// A kernel to be read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ReadRequest {
    /// The source file. A child that reads gets none of the paths: it gets expanded texts.
    #[serde(skip)]
    pub path: PathBuf,
    /// As messages name it.
    pub name: String,
    /// Further source files, which follow as if all were one file: names in messages, and paths.
    #[serde(skip)]
    pub more: Vec<(String, PathBuf)>,
    /// Folders for `#include` besides that of the source: names in messages, and paths.
    #[serde(skip)]
    pub include: Vec<(String, PathBuf)>,
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
    /// Bounds of the launch in each dimension; empty where its sizes are not known.
    pub launch: Vec<LaunchBound>,
    /// For each dimension the items of a group over symbols, if that is known.
    pub local: Vec<Option<SymbolExpr>>,
    /// Items of a warp, which are a sub-group where the kernel requires no other size; 0: 32.
    pub warp: i64,
    /// Parameters have values that no configuration has, as with `--set`.
    pub partial: bool,
    /// For loops that cannot be read: bounds of their most iterations, under a [name](bound_name).
    #[serde(with = "crate::codec::answers")]
    pub bounds: Vec<(QuestionKey, Symbol)>,
    /// For branches that depend on data: which side counts.
    #[serde(with = "crate::codec::answers")]
    pub branches: Vec<(QuestionKey, Side)>,
    /// Whether it is read for [proofs](crate::proof), and not for prices.
    pub for_proofs: bool,
}

/// The name in steps of the most iterations that an answer gives.
pub fn bound_name(index: usize, asked: &QuestionKey) -> String {
    match asked {
        QuestionKey::Line(line) => format!("$line_{line}"),
        QuestionKey::Function { .. } => format!("$bound_{index}"),
    }
}

/// A number whose value is kept open: what it is between which bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its least value over all configurations.
    pub least: i64,
    /// Its greatest value over all configurations.
    pub greatest: i64,
}

/// The greatest sizes of a launch in one dimension, over all configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchBound {
    /// Work items.
    pub items: i64,
    /// Groups.
    pub groups: i64,
    /// Work items of a group.
    pub local: i64,
}

/// What is passed for a parameter of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Passed {
    /// A buffer or local memory.
    Memory,
    /// No buffer: the pointer is null.
    Null,
    /// A whole number, between these bounds.
    Number(Symbol),
    /// A real number, if it is the same for all configurations.
    Real(Option<f64>),
}
