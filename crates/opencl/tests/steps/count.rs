//! What one work item does, counted.

use std::collections::BTreeMap;

use tickbound_expr::EvalError;
use tickbound_opencl::steps::{
    AddressSpace, Arithmetic, KernelStep, KernelStepKind, KernelSteps, SymbolExpr,
};

/// How often an item does what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepCounts {
    /// Loads by address space.
    pub loads: BTreeMap<AddressSpace, u64>,
    /// Stores by address space.
    pub stores: BTreeMap<AddressSpace, u64>,
    /// Atomic operations by address space.
    pub atomics: BTreeMap<AddressSpace, u64>,
    /// Barriers.
    pub barriers: u64,
    /// Values that items of a sub-group exchange.
    pub shuffles: u64,
}

/// Counts what the item does for which names have the values that `names` gives them.
///
/// # Errors
/// The number that has no value, as it is written, and why.
pub fn count(
    steps: &KernelSteps,
    names: &mut dyn FnMut(&str) -> Option<i64>,
) -> Result<StepCounts, (String, EvalError)> {
    let mut counts = StepCounts::default();
    add(&steps.body, 1, names, &mut counts)?;
    Ok(counts)
}

fn add(
    steps: &[KernelStep],
    times: u64,
    names: &mut dyn FnMut(&str) -> Option<i64>,
    counts: &mut StepCounts,
) -> Result<(), (String, EvalError)> {
    if times == 0 {
        return Ok(());
    }
    for step in steps.iter().filter(|step| !step.is_private()) {
        match &step.kind {
            KernelStepKind::Access(access) => {
                let of = if access.store { &mut counts.stores } else { &mut counts.loads };
                more(of, access.space, times);
            }
            KernelStepKind::Atomic { space, .. } => more(&mut counts.atomics, *space, times),
            KernelStepKind::Barrier => counts.barriers = counts.barriers.saturating_add(times),
            KernelStepKind::Compute { kind: Arithmetic::Shuffle, amount, .. } => {
                counts.shuffles += times * u64::from(*amount);
            }
            KernelStepKind::Compute { .. } | KernelStepKind::Value(_) => {}
            KernelStepKind::Repeat { count, body, .. } => {
                let iterations = u64::try_from(evaluate(count, names)?).unwrap_or(0);
                add(body, times.saturating_mul(iterations), names, counts)?;
            }
            KernelStepKind::If { condition, then, otherwise, .. } => {
                let taken = if evaluate(condition, names)? != 0 { then } else { otherwise };
                add(taken, times, names, counts)?;
            }
        }
    }
    Ok(())
}

fn more(counts: &mut BTreeMap<AddressSpace, u64>, space: AddressSpace, times: u64) {
    let count = counts.entry(space).or_default();
    *count = count.saturating_add(times);
}

/// The value of a number; names that have none count as 0.
fn evaluate(
    number: &SymbolExpr,
    names: &mut dyn FnMut(&str) -> Option<i64>,
) -> Result<i64, (String, EvalError)> {
    let mut values = Vec::new();
    let resolved = number.resolve(&mut |name: &String| {
        values.push(names(name).unwrap_or(0));
        Some(values.len() - 1)
    });
    match resolved {
        Ok(resolved) => resolved.eval(&values).map_err(|error| (number.to_string(), error)),
        Err(_) => Ok(0),
    }
}
