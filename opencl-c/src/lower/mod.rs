//! Steps to a kernel program of the problem format.
//!
//! What goes in: the [steps](crate::steps) of each variant, and for every name they use the expression
//! over the problem's own names. What comes out: one program for all configurations, as JSON that
//! [`Problem::set_kernel`](tickbound_model::Problem::set_kernel) reads. What it promises: for every
//! configuration and work item the program has as many accesses of each address space, atomics and
//! barriers as the steps of its variant.
//!
//! Prices: a load or store of global, local or constant memory is one `global`, `local` or `constant`,
//! however wide it is; an atomic is one `atomic`; arithmetic is one `compute` an operation, however
//! wide, except [`Arithmetic::Index`](crate::steps::Arithmetic::Index), which compilers fold into addresses and loop control.
//! Accesses to private memory are registers, without a price.

mod general;
mod merge;
mod names;
mod tree;

pub use names::Names;

use serde_json::Value;

use crate::FrontendError;
use crate::extract::Extracted;
use merge::Alternative;

/// One program for all variants.
///
/// # Errors
/// A step uses a name that the problem does not say anything about.
pub fn lower(extracted: &Extracted, names: &Names) -> Result<Value, FrontendError> {
    let alternatives = extracted
        .variants
        .iter()
        .map(|v| {
            let program = tree::program(&v.steps.body, &names.of_parameters(&v.parameters))?;
            Ok(Alternative { values: v.values.clone(), program })
        })
        .collect::<Result<Vec<_>, FrontendError>>()?;
    let symbols = extracted
        .structural
        .iter()
        .map(|name| names.symbol(name))
        .collect::<Result<Vec<_>, FrontendError>>()?;
    Ok(tree::json(&merge::merge(&symbols, alternatives)))
}
