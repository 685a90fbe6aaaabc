//! Products of several matrices.

use std::borrow::Cow;

use super::matrix::{DenseError, DenseResult, Matrix};
use super::plan::{DensePlan, product};
use super::sparse::SparseForm;
use crate::automaton::Automaton;
use crate::limits::{ProductLimits, Stopped};

/// Bytes of the cells of a product of matrices; [`u128::MAX`] if that many cannot be counted.
pub fn need(parts: &[Matrix]) -> u128 {
    let of = |part: &Matrix| (part.states as u128).pow(2).checked_mul(part.slots as u128);
    let product = parts.iter().try_fold(8, |bytes: u128, part| bytes.checked_mul(of(part)?));
    product.unwrap_or(u128::MAX)
}

/// The product of any number of matrices; without any, one state that only idles.
///
/// Neighbours are multiplied first, then their products, and so on, as the thesis does; the last
/// product costs more than all before it together, and the order does not change the cells.
///
/// # Errors
/// More memory than allowed, seen before any is taken, or than there is; more than
/// [`super::MAX_NAMES`] names together; or it was stopped.
pub fn fold(parts: &[Matrix], limits: &ProductLimits) -> DenseResult<Matrix> {
    limits.fits("the dense product", need(parts))?;
    Ok(folded(parts, limits)?.into_owned())
}

/// As [`fold`], with the result as sparse rows: only the halves are dense.
pub fn compose(
    parts: &[Matrix],
    form: SparseForm,
    limits: &ProductLimits,
) -> DenseResult<Automaton> {
    let (plan, halves) = (plan(parts, limits)?, need_of_halves(parts));
    // What the halves take is gone from what the rows may take; checked above.
    let rest = limits.memory.saturating_sub(u64::try_from(halves).unwrap_or(u64::MAX));
    let made = plan.automaton(form, &ProductLimits { memory: rest, ..*limits });
    made.map_err(|error| match error {
        // Both sides of the message again as the caller knows them.
        DenseError::Stopped(Stopped::Memory { what, needed, .. }) => {
            let needed = needed.saturating_add(halves);
            Stopped::Memory { what, needed, limit: limits.memory }.into()
        }
        other => other,
    })
}

/// The product of any number of matrices, not yet made: only its halves are.
pub fn plan(parts: &[Matrix], limits: &ProductLimits) -> DenseResult<DensePlan> {
    limits.fits("the halves of the dense product", need_of_halves(parts))?;
    let (left, right) = halves(parts);
    DensePlan::new(&*folded(left, limits)?, &*folded(right, limits)?)
}

/// Bytes of the cells of both halves of a product; [`u128::MAX`] if that many cannot be counted.
pub fn need_of_halves(parts: &[Matrix]) -> u128 {
    let (left, right) = halves(parts);
    need(left).saturating_add(need(right))
}

fn halves(parts: &[Matrix]) -> (&[Matrix], &[Matrix]) {
    parts.split_at(parts.len().div_ceil(2))
}

fn folded<'a>(parts: &'a [Matrix], limits: &ProductLimits) -> DenseResult<Cow<'a, Matrix>> {
    match parts {
        [] => Ok(Cow::Owned(unit())),
        [only] => Ok(Cow::Borrowed(only)),
        _ => {
            let (left, right) = halves(parts);
            let (left, right) = (folded(left, limits)?, folded(right, limits)?);
            Ok(Cow::Owned(product(&left, &right, limits)?))
        }
    }
}

/// One state, no names, idle.
fn unit() -> Matrix {
    Matrix { alphabet: Vec::new(), initial: vec![0], states: 1, slots: 1, cells: vec![0] }
}
