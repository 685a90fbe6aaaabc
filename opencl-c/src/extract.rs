//! From a request to the steps of all its configurations.
//!
//! One reading keeps the symbols open, so it serves all configurations - unless the syntax itself
//! depends on a symbol: `#if VW == 4`, or `float##VW`. Such a symbol is *structural*. The source is
//! then read once for each combination of structural values that occurs; each reading is a
//! [`Variant`].

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};

use crate::error::ReadError;
use crate::preprocess::{Expanded, expand};
use crate::request::Request;
use crate::steps::Steps;
use crate::{parse, read};

/// Most readings of one source.
const MAX_VARIANTS: usize = 4096;

/// The steps of a kernel for all configurations.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The symbols that the syntax depends on.
    pub structural: Vec<String>,
    /// The steps for each combination of their values that occurs, in the order in which they
    /// occur; exactly one if there are no structural symbols.
    pub variants: Vec<Variant>,
}

/// The steps for one combination of structural values.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// A value for each structural symbol.
    pub values: Vec<i64>,
    /// The names of the kernel function's parameters.
    pub parameters: Vec<String>,
    /// What a work item does.
    pub steps: Steps,
}

/// For the symbols in some places of the request every combination of values that occurs, each with values of all
/// symbols that go with it.
pub type Occurring<'a> = &'a dyn Fn(&[usize]) -> Result<IndexMap<Vec<i64>, Vec<i64>>, ReadError>;

/// Reads a kernel for whatever values of its symbols occur.
///
/// # Errors
/// What cannot be read in the source, or what this machine lacks.
pub fn extract(request: &Request, occurring: Occurring<'_>) -> Result<Extracted, ReadError> {
    let mut structural: IndexSet<String> = IndexSet::new();
    loop {
        let combinations = combinations(request, occurring, &structural)?;
        let names: Vec<String> = structural.iter().cloned().collect();
        match read_all(request, &names, &combinations)? {
            Pass::Read(variants) => return Ok(Extracted { structural: names, variants }),
            Pass::Asked(more) => {
                let before = structural.len();
                structural.extend(more);
                if structural.len() == before {
                    return Err(ReadError::file(
                        &request.name,
                        "its macros could not be expanded",
                        "give the macros that `#if` asks for as numbers in kernel.defines",
                    ));
                }
            }
        }
    }
}

/// Structural values, and for each combination of them values of all symbols that go with it.
type Combinations = IndexMap<Vec<i64>, Vec<i64>>;

fn combinations(
    request: &Request,
    occurring: Occurring<'_>,
    structural: &IndexSet<String>,
) -> Result<Combinations, ReadError> {
    let places: Vec<usize> =
        structural.iter().filter_map(|name| request.symbols.get_index_of(name)).collect();
    let found = occurring(&places)?;
    if found.len() > MAX_VARIANTS {
        let names: Vec<&str> = structural.iter().map(String::as_str).collect();
        return Err(ReadError::file(
            &request.name,
            format!(
                "its syntax depends on {}, with more than {MAX_VARIANTS} combinations",
                names.join(", ")
            ),
            "use `if` instead of `#if` for some of them, or narrow their domains",
        ));
    }
    Ok(found)
}

/// What one pass over all combinations came to.
enum Pass {
    /// All were read.
    Read(Vec<Variant>),
    /// The syntax depends on more symbols.
    Asked(Vec<String>),
}

fn read_all(
    request: &Request,
    structural: &[String],
    combinations: &Combinations,
) -> Result<Pass, ReadError> {
    let mut expanded = Vec::with_capacity(combinations.len());
    for (values, configuration) in combinations {
        let all = request.symbols.keys().cloned().zip(configuration.iter().copied()).collect();
        let text = expand(request, structural, &all)?;
        if !text.asked.is_empty() {
            return Ok(Pass::Asked(text.asked));
        }
        expanded.push((values, text));
    }
    // Structural values that make no difference give the same text.
    let mut known: HashMap<String, (Vec<String>, Steps)> = HashMap::new();
    let mut variants = Vec::with_capacity(expanded.len());
    for (values, expanded) in expanded {
        let (parameters, steps) = match known.get(&expanded.text) {
            Some(read) => read.clone(),
            None => {
                let read = read_one(request, &expanded)?;
                known.insert(expanded.text, read.clone());
                read
            }
        };
        variants.push(Variant { values: values.clone(), parameters, steps });
    }
    Ok(Pass::Read(variants))
}

/// The parameters of the kernel function, and what it does.
fn read_one(request: &Request, text: &Expanded) -> Result<(Vec<String>, Steps), ReadError> {
    let unit = parse::parse(request, text)?;
    let steps = read::read(request, &unit)?;
    let kernel = unit.functions.get(&request.entry);
    let names = kernel.map(|k| k.parameters.iter().map(|p| p.name.clone()).collect());
    Ok((names.unwrap_or_default(), steps))
}
