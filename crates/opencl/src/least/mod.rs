//! What no compilation of a kernel can go below, counted from its steps.
//!
//! What goes in: the [steps](crate::steps) of each variant, as for [usage](crate::usage). What
//! comes out: the problem's [`LeastUsage`]. What is promised: for every configuration, each count
//! is at most what the compiled kernel does on any device, as long as its compiler keeps the order
//! of operations on real numbers. What cannot be counted is 0, never an error. `docs/floors.md` has
//! the rules with their arguments.

mod accesses;
mod around;
mod conditions;
mod distinct;
mod values;
mod walk;

use itertools::Itertools;
use rayon::prelude::*;
use tickbound_expr::Expr;
use tickbound_model::{Configurations, LeastUsage};

use around::{Counts, Which};

use crate::error::Read;
use crate::extract::{Extracted, Variant};
use crate::lower::{Names, numbers};
use crate::usage::{Device, Occurring};

/// What a kernel with this source uses at least.
pub(crate) fn least(
    extracted: &Extracted,
    names: &Names,
    device: &Device<'_>,
    configurations: &Configurations<'_>,
) -> Read<LeastUsage> {
    let symbols = names.symbols(extracted)?;
    let occurring = Occurring::new(configurations, &symbols);
    let typical = occurring.typical();
    let of = |variant: &Variant| {
        let names = names.of_parameters(&variant.parameters);
        let mut known = device.known.narrowed_to(&occurring, &variant.values);
        known.typical = typical.get(&variant.values).cloned().unwrap_or_default();
        let device = Device { known, ..device.clone() };
        let counts = walk::counts(&variant.steps, &names, &device);
        let narrowed = |(which, count): (Which, Expr)| (which, count.simplified());
        (variant.values.clone(), counts.into_iter().map(narrowed).collect::<Counts>())
    };
    let all: Vec<(Vec<i64>, Counts)> = extracted.variants.par_iter().map(of).collect();
    let mut least = LeastUsage::default();
    for which in all.iter().flat_map(|(_, counts)| counts.keys().copied()).unique() {
        let own = |counts: &Counts| vec![counts.get(&which).cloned().unwrap_or_default()];
        let each = all.iter().map(|(values, counts)| (values.clone(), own(counts)));
        let of = if which.0 { &mut least.each } else { &mut least.some };
        of.extend(numbers(&symbols, each.collect()).pop().map(|number| (which.1, number)));
    }
    Ok(least)
}
