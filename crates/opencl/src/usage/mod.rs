//! What a kernel uses of a device, counted from its steps.
//!
//! What goes in: the [steps](crate::steps) of each variant, what their names are in the problem,
//! and which loops the source requests to be unrolled. What comes out: the problem's [`Usage`],
//! which the time profile `resources` turns into a run time. What is promised: the numbers follow
//! from the rules in `docs/opencl.md`, for any kernel; they are a compiler's likely choices and no
//! counts of the abstract machine, so nothing that is proved about other profiles rests on them.

mod active;
mod around;
mod arrays;
mod batch;
mod footprint;
mod kept;
pub(crate) mod known;
mod lanes;
pub(crate) mod number;
mod repeated;
mod traffic;
mod unroll;
mod vectors;
mod walk;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use itertools::Itertools;
use rayon::prelude::*;
use tickbound_expr::Expr;
use tickbound_model::{Configurations, LineUsage, Part, Problem, Usage};

use crate::error::Read;
use crate::extract::{Extracted, Variant};
use crate::lower::{Names, numbers};
pub(crate) use around::unclamped;
pub(crate) use footprint::{Axis, MAX_CONDITIONS, by_sides, multiple};
use known::Known;
pub(crate) use known::Occurring;
use vectors::Vectors;

/// Registers of an item for addresses, counters and temporaries: what the resource model that this
/// follows takes for compiled matrix multiplications.
const PLAIN_REGISTERS: i64 = 20;

/// Most parts of a sum that has no inner sums: expressions may nest a few hundred levels only.
const MAX_SUM: usize = 64;

/// Instructions of a real division, beside one on the special lanes: compilers make sequences.
const REAL_DIVISION: i64 = 8;

/// What of the device decides how requests are served, and what the problem's inputs are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Device<'c> {
    /// Items of a warp.
    pub warp: i64,
    /// Banks of 4 bytes in local memory and L1.
    pub banks: i64,
    /// Bytes of a cache line.
    pub line: i64,
    /// Bytes of a part of a line that caches move by itself.
    pub sector: i64,
    /// Bytes of L1, where known.
    pub l1: Option<i64>,
    /// Bytes of local memory that L1 may have where no group takes them, as both are one memory.
    pub local_in_l1: i64,
    /// Bytes of L2, where known.
    pub l2: Option<i64>,
    /// Bytes of L3; 0 if there is none.
    pub l3: i64,
    /// Units of all devices.
    pub units: i64,
    /// Most warps and groups of a unit, where known.
    pub warps_per_unit: Option<i64>,
    pub groups_per_unit: Option<i64>,
    /// Registers of a unit, and most of an item, where known.
    pub registers_per_unit: Option<i64>,
    pub registers_per_item: Option<i64>,
    /// Registers of an item are given out in multiples of this.
    pub register_granule: i64,
    /// Whether its compiler leaves loads in the order of the source.
    pub source_order: bool,
    /// The vectors of its items.
    pub vectors: Vectors,
    /// Instructions of a division of real numbers, beside one on the special lanes.
    pub real_division: i64,
    /// Whether the rate of its tensor cores is known.
    pub tensor_cores: bool,
    /// Whether a request may bring neighbours from any address.
    pub loads_unaligned: bool,
    /// Rules that the problem leaves out.
    pub without: Vec<Part>,
    pub known: Known<'c>,
}

impl Device<'_> {
    /// The problem's device; what its platform does not say is as on most devices.
    pub fn of(problem: &Problem, configurations: &Configurations<'_>) -> Device<'static> {
        let resources = problem.platform.resources();
        Device {
            warp: resources.warp_width.unwrap_or(32),
            banks: resources.banks.unwrap_or(32),
            line: resources.line_bytes.unwrap_or(128),
            sector: resources.sector_bytes.unwrap_or(32),
            l1: resources.l1_size,
            local_in_l1: match resources.one_pipe {
                Some(1) => problem.platform.local_memory().unwrap_or(0),
                _ => 0,
            },
            l2: resources.l2_size,
            l3: resources.l3_size.unwrap_or(0),
            units: problem.platform.units(),
            warps_per_unit: resources.warps_per_unit,
            groups_per_unit: resources.groups_per_unit,
            registers_per_unit: resources.registers_per_unit,
            registers_per_item: resources.registers_per_item,
            register_granule: resources.register_granule.unwrap_or(1),
            source_order: resources.source_order == Some(1),
            tensor_cores: resources.tensor_lanes.is_some(),
            loads_unaligned: resources.loads_unaligned == Some(1),
            real_division: resources.real_division.unwrap_or(REAL_DIVISION),
            vectors: Vectors::of(resources.vector_bytes),
            without: problem.without.clone(),
            known: Known::of(problem, configurations),
        }
    }

    pub fn has(&self, rule: Part) -> bool {
        !self.without.contains(&rule)
    }

    /// Whether a rule counts that is known of compilers that move loads: of NVIDIA's.
    pub fn moves_loads_by(&self, rule: Part) -> bool {
        self.has(rule) && !self.source_order && !self.vectors.are_wide()
    }
}

/// What a kernel with this source uses, in all and by lines.
pub(crate) fn usage(
    extracted: &Extracted,
    names: &Names,
    device: &Device<'_>,
    configurations: &Configurations<'_>,
    go_on: &(dyn Fn() -> Read<()> + Sync),
) -> Read<(Usage, Vec<LineUsage>)> {
    let symbols = names.symbols(extracted)?;
    let occurring = Occurring::new(configurations, &symbols);
    let of = |variant: &Variant| {
        go_on()?;
        let names = names.of_parameters(&variant.parameters);
        let known = device.known.narrowed_to(&occurring, &variant.values);
        let device = Device { known, ..device.clone() };
        let mut parts = walk::parts(&variant.steps, &names, &device, &variant.unroll)?;
        for part in parts.values_mut() {
            go_on()?;
            *part = device.known.narrowed(std::mem::take(part));
        }
        Ok((variant.values.clone(), parts))
    };
    // The first fault, independent of threads.
    let all: Vec<Read<_>> = extracted.variants.par_iter().map(of).collect();
    let all = all.into_iter().collect::<Read<Vec<_>>>()?;
    // Part by part: each depends on few of the symbols.
    let origins: Vec<&walk::Origin> =
        all.iter().flat_map(|(_, parts)| parts.keys()).unique().collect();
    let merged = |origin: &&walk::Origin| {
        go_on()?;
        let part = |parts: &IndexMap<walk::Origin, Expr>| {
            vec![parts.get(*origin).cloned().unwrap_or_default()]
        };
        let alternatives = all.iter().map(|(values, parts)| (values.clone(), part(parts)));
        Ok(numbers(&symbols, alternatives.collect()))
    };
    let merged: Vec<Read<Vec<Expr>>> = origins.par_iter().map(merged).collect();
    let merged = merged.into_iter().collect::<Read<Vec<_>>>()?;
    Ok(summed(origins.into_iter().zip(merged)))
}

/// The sums of parts, in all and by lines.
fn summed<'o>(
    parts: impl Iterator<Item = (&'o walk::Origin, Vec<Expr>)>,
) -> (Usage, Vec<LineUsage>) {
    let mut whole: IndexMap<&str, Vec<Expr>> = IndexMap::new();
    let mut lines: BTreeMap<walk::Line, Usage> = BTreeMap::new();
    for ((what, line, _), own) in parts {
        for part in own {
            if let Some(line) = line {
                add_to(lines.entry(line.clone()).or_default(), what, part.clone());
            }
            whole.entry(what).or_default().push(part);
        }
    }
    let mut sums = Usage::default();
    for (what, parts) in whole {
        add_to(&mut sums, what, parts.chunks(MAX_SUM).map(|some| some.iter().sum::<Expr>()).sum());
    }
    let line = |((file, line), usage): (walk::Line, Usage)| LineUsage {
        file: file.to_string(),
        line,
        usage,
    };
    (sums, lines.into_iter().map(line).collect())
}

fn add_to(usage: &mut Usage, what: &str, more: Expr) {
    if let Some((_, sum)) = usage.entries_mut().find(|(name, _)| *name == what) {
        *sum += more;
    }
}
