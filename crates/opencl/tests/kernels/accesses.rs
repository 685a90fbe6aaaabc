//! What the reader reads out of a kernel's source, held against what the kernel does.

use std::collections::BTreeMap;

use tickbound_model::count::count;
use tickbound_model::source::{ArgumentKind, Define};
use tickbound_model::{AccessKind, Bound, Problem};
use tickbound_opencl::ast::AddressSpace;
use tickbound_opencl::{KernelReading, attach};

use crate::kernels::example::Kernel;
use crate::kernels::instrumented::{Counts, Outcome};
use crate::steps;

/// A kernel as the reader reads it.
pub struct Read {
    problem: Problem,
    reading: KernelReading,
}

impl Read {
    pub fn of(kernel: &Kernel) -> Read {
        let mut problem = kernel.problem.clone();
        let reading = attach(&mut problem, &kernel.folder).unwrap_or_else(|e| panic!("{e}"));
        Read { problem, reading: reading.expect("a source") }
    }

    /// The program's accesses of all items together are those of the run; the steps' loads and
    /// stores are those of each of its items.
    pub fn assert_agrees(&self, bound: &Bound, outcome: &Outcome) {
        let with = self.problem.name_values(&bound.configuration);
        let program = count(&self.problem, bound).unwrap();
        let run = &outcome.counts;
        for (access, of_run) in [
            (AccessKind::Global, run.global_loads + run.global_stores),
            (AccessKind::Local, run.local_loads + run.local_stores),
            (AccessKind::Constant, run.constant_loads),
        ] {
            assert_eq!(program.of(access), i128::from(of_run), "{} with {with}", access.name());
        }
        let kinds = [
            AccessKind::Atomic,
            AccessKind::LocalAtomic,
            AccessKind::SharedAtomic,
            AccessKind::SharedLocalAtomic,
        ];
        let atomics: i128 = kinds.iter().map(|kind| program.of(*kind)).sum();
        assert_eq!(atomics, i128::from(run.atomics), "atomics with {with}");
        let grid = self.problem.grid_sizes(&bound.env).unwrap();
        let items: i64 = grid.iter().map(|[_, local]| local).product();
        // The first groups of a launch, up to some thousands of items.
        for (i, of_run) in outcome.items.iter().enumerate().take(4096) {
            let (group, lid) = (i as i64 / items, i as i64 % items);
            let item = self.item(bound, &grid, group, lid);
            assert_eq!(item, *of_run, "item {lid} of group {group} with {with}");
        }
    }

    /// What the steps say of one item.
    fn item(&self, bound: &Bound, grid: &[[i64; 2]], group: i64, lid: i64) -> Counts {
        let extracted = &self.reading.extracted;
        let symbol = |name: &str| self.define(name, bound);
        let values: Vec<i64> = extracted.structural.iter().map(|n| symbol(n).unwrap()).collect();
        let variant = extracted.variants.iter().find(|v| v.values == values).unwrap();
        let mut names = |name: &str| match name.strip_prefix('$') {
            None => symbol(name),
            Some(own) => place(own, grid, group, lid)
                .or_else(|| self.argument(own, &variant.parameters, bound)),
        };
        let counted = steps::count(&variant.steps, &mut names)
            .unwrap_or_else(|(number, e)| panic!("{number}: {e}"));
        of_item(&counted)
    }

    fn define(&self, name: &str, bound: &Bound) -> Option<i64> {
        let source = self.problem.source.as_ref()?;
        source.defines.iter().find_map(|(n, define)| match define {
            Define::Number(value) if n == name => value.eval(&bound.env).ok(),
            _ => None,
        })
    }

    /// The value of a scalar argument, by the parameter's name.
    fn argument(&self, parameter: &str, parameters: &[String], bound: &Bound) -> Option<i64> {
        let source = self.problem.source.as_ref()?;
        let place = parameters.iter().position(|p| p == parameter)?;
        match &source.arguments.get(place)?.kind {
            ArgumentKind::Scalar(value) => value.eval(&bound.env).ok(),
            _ => None,
        }
    }
}

/// An id or a size: `lid_0`, `groups_1`.
fn place(name: &str, grid: &[[i64; 2]], group: i64, lid: i64) -> Option<i64> {
    let (kind, dimension) = name.rsplit_once('_')?;
    let dimension: usize = dimension.parse().ok()?;
    let size = |d: usize, of: fn(&[i64; 2]) -> i64| grid.get(d).map_or(1, of);
    let along = |linear: i64, of: fn(&[i64; 2]) -> i64| {
        let below: i64 = (0..dimension).map(|d| size(d, of)).product();
        linear / below % size(dimension, of)
    };
    Some(match kind {
        "lid" => along(lid, |[_, local]| *local),
        "group" => along(group, |[global, local]| global / local),
        "local" => size(dimension, |[_, local]| *local),
        "global" => size(dimension, |[global, _]| *global),
        "groups" => size(dimension, |[global, local]| global / local),
        _ => return None,
    })
}

fn of_item(counts: &steps::StepCounts) -> Counts {
    let of =
        |map: &BTreeMap<AddressSpace, u64>, space| map.get(&space).copied().unwrap_or_default();
    Counts {
        global_loads: of(&counts.loads, AddressSpace::Global),
        global_stores: of(&counts.stores, AddressSpace::Global),
        local_loads: of(&counts.loads, AddressSpace::Local),
        local_stores: of(&counts.stores, AddressSpace::Local),
        constant_loads: of(&counts.loads, AddressSpace::Constant),
        atomics: counts.atomics.values().sum(),
        ..Counts::default()
    }
}
