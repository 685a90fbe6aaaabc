//! Steps to a kernel program of the problem format.
//!
//! What goes in: the [steps](crate::steps) of each variant, and for every name they use the
//! expression over the problem's own names. What comes out: one program for all configurations,
//! with as many accesses of each address space, atomics and barriers as the steps of its variant.
//!
//! Prices: a load or store of global, local or constant memory is one `global`, `local` or
//! `constant`, however wide it is; an atomic is one `atomic`, or one `local_atomic` where it works
//! on local memory; arithmetic is one `compute` an operation, however wide, except
//! [`Arithmetic::Index`](crate::steps::Arithmetic::Index), which compilers fold into addresses and
//! loop control. Accesses to private memory have no price.

mod general;
mod merge;
mod names;
mod tree;

pub(crate) use merge::numbers;
pub(crate) use names::Item;
pub use names::Names;

use tickbound_model::Program;

use crate::error::{Read, ReadError};
use crate::extract::{Extracted, Variant};

/// One program for all variants.
///
/// # Errors
/// A step uses a name that the problem does not say anything about.
pub fn lower(extracted: &Extracted, names: &Names) -> Result<Program, ReadError> {
    let alternative = |v: &Variant| {
        let names = names.of_parameters(&v.parameters);
        let program = tree::program(&v.steps.body, &names, false)?;
        Ok((v.values.clone(), program))
    };
    let alternatives = extracted.variants.iter().map(alternative);
    let alternatives = alternatives.collect::<Read<Vec<_>>>()?;
    let symbols = names.symbols(extracted)?;
    Ok(tree::statements(merge::merge(&symbols, alternatives)))
}
