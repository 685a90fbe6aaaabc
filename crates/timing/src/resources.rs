//! The time of the profile `resources` as an expression: the formulas of `docs/semantics.md`, step
//! by step.
//!
//! What several formulas use is a step of its own, which later ones name. Written out in full the
//! expression would have some hundred thousand operations.

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::ops::{Add, Mul, Sub};

use tickbound_expr::{BinaryOp, Expr, Function, Slot};
use tickbound_model::error::ModelError;
use tickbound_model::{Launch, Part, Problem, Resources};

use super::chain::{Chain, ChainStep};
use super::term::{LocatedExpr, Term};
use super::uncovered::Uncovered;

/// Parts of a clock that times inside the profile are counted in.
const PARTS: i64 = 64;

/// The time of a problem with this profile.
pub(crate) fn time(problem: &Problem) -> Result<Term, Uncovered> {
    let Launch::Range { global_size, local_size } = &problem.launch else {
        let what = "activations belong to another profile";
        return Err(ModelError::new("launch", what, "give global_size and local_size").into());
    };
    problem.usage().is_counted()?;
    let mut steps = Steps { first: problem.scope.len(), steps: Vec::new() };
    let usage: Vec<(&'static str, &Expr)> = problem.usage().entries().collect();
    let used = usage.iter().map(|(_, expr)| *expr).chain([global_size, local_size]);
    let definitions = definitions(problem, used, &mut steps);
    let in_steps = |expr: &Expr| E(put_in(expr, &definitions));
    let items = steps.name(in_steps(local_size));
    let groups = steps.name(in_steps(global_size).floor(&items));
    let used = usage
        .into_iter()
        .map(|(name, expr)| (name, steps.amount(format!("usage.{name}"), in_steps(expr).0)));
    let used = used.collect();
    let r = problem.platform.resources();
    let warps = items.ceil(&r.warp_width.unwrap_or(1).into());
    let warps = steps.name(warps);
    let mut formulas = Formulas { problem, r, steps, items, groups, warps, used };
    formulas.time();
    let (first, parameters) = (problem.scope.len(), problem.first_parameter());
    Ok(Term::Chain(Box::new(Chain::new(first, parameters, formulas.steps.steps))))
}

/// The definitions that expressions use, as steps: the slot of each, and what it is now.
fn definitions<'e>(
    problem: &Problem,
    used: impl Iterator<Item = &'e Expr>,
    steps: &mut Steps,
) -> HashMap<Slot, Expr> {
    let first = problem.first_definition();
    let mut needed = BTreeSet::new();
    used.for_each(|expr| {
        expr.names(&mut |slot| {
            needed.insert(*slot);
        })
    });
    for (i, (_, definition)) in problem.definitions.iter().enumerate().rev() {
        if needed.contains(&(first + i)) {
            definition.names(&mut |slot| {
                needed.insert(*slot);
            });
        }
    }
    let mut known = HashMap::new();
    for (i, (name, definition)) in problem.definitions.iter().enumerate() {
        if needed.contains(&(first + i)) {
            let step = steps.push(format!("definitions.{name}"), put_in(definition, &known), false);
            known.insert(first + i, step.0);
        }
    }
    known
}

/// An expression with other names for definitions.
fn put_in(expr: &Expr, definitions: &HashMap<Slot, Expr>) -> Expr {
    let by = expr.replace(&mut |slot| {
        Ok::<_, Infallible>(definitions.get(slot).cloned().unwrap_or(Expr::Name(*slot)))
    });
    match by {
        Ok(expr) => expr,
        Err(never) => match never {},
    }
}

/// An expression that is easily combined.
#[derive(Debug, Clone)]
struct E(Expr);

impl From<i64> for E {
    fn from(n: i64) -> E {
        E(Expr::Int(n))
    }
}

impl E {
    fn is_zero(&self) -> bool {
        self.0 == Expr::Int(0)
    }

    fn binary(&self, op: BinaryOp, other: &E) -> E {
        E(Expr::binary(op, self.0.clone(), other.0.clone()))
    }

    fn call(&self, function: Function, other: &E) -> E {
        E(Expr::Call(function, vec![self.0.clone(), other.0.clone()]))
    }

    fn floor(&self, by: &E) -> E {
        self.binary(BinaryOp::FloorDiv, by)
    }

    fn ceil(&self, by: &E) -> E {
        self.call(Function::CeilDiv, by)
    }

    fn min(&self, other: &E) -> E {
        self.call(Function::Min, other)
    }

    fn max(&self, other: &E) -> E {
        self.call(Function::Max, other)
    }

    /// The least multiple of `granule` that is not below.
    fn rounded_up(&self, granule: &E) -> E {
        &self.ceil(granule) * granule
    }
}

impl Add for &E {
    type Output = E;
    fn add(self, other: &E) -> E {
        self.binary(BinaryOp::Add, other)
    }
}

impl Sub for &E {
    type Output = E;
    fn sub(self, other: &E) -> E {
        self.binary(BinaryOp::Sub, other)
    }
}

impl Mul for &E {
    type Output = E;
    fn mul(self, other: &E) -> E {
        self.binary(BinaryOp::Mul, other)
    }
}

struct Steps {
    first: usize,
    steps: Vec<ChainStep>,
}

impl Steps {
    fn push(&mut self, at: String, expr: Expr, amount: bool) -> E {
        self.steps.push(ChainStep { of: LocatedExpr { at, expr }, amount });
        E(Expr::Name(self.first + self.steps.len() - 1))
    }

    fn name(&mut self, e: E) -> E {
        self.push("profile resources".into(), e.0, false)
    }

    fn amount(&mut self, at: String, expr: Expr) -> E {
        self.push(at, expr, true)
    }
}

struct Formulas<'p> {
    problem: &'p Problem,
    r: Resources,
    steps: Steps,
    /// Items of a group, groups of the launch, warps of a group.
    items: E,
    groups: E,
    warps: E,
    used: Vec<(&'static str, E)>,
}

impl Formulas<'_> {
    fn has(&self, part: Part) -> bool {
        !self.problem.without.contains(&part)
    }

    fn used(&self, name: &str) -> E {
        self.used.iter().find(|(n, _)| *n == name).map_or(E(Expr::Int(0)), |(_, e)| e.clone())
    }

    fn of_group(&self, name: &str) -> E {
        &self.used(name) * &self.warps
    }

    fn width(&self) -> E {
        self.r.warp_width.unwrap_or(1).into()
    }

    fn units(&self) -> E {
        self.problem.platform.units().into()
    }

    /// The last step is the time.
    fn time(&mut self) {
        let (given, spilled) = self.registers();
        let spills = &spilled * &self.used("spill_uses");
        let spills = self.steps.name(spills);
        let held = self.held(&given);
        let held = self.steps.name(held);
        let latency = self.has(Part::Latency);
        let l2_rate = self.r.l2_bytes_per_clock.filter(|_| self.has(Part::L2));
        let l3_rate = self.r.l3_bytes_per_clock.filter(|_| self.has(Part::L3));
        let dram_rate = self.r.dram_megabytes_per_second.filter(|_| self.has(Part::Dram));
        let dram_rate = dram_rate.zip(self.problem.platform.clock_mhz());

        // What no formula uses is no step, as it need not have a value.
        let behind = latency || l3_rate.is_some() || dram_rate.is_some();
        let moved = behind || l2_rate.is_some();
        let spill_bytes = &(&spills * &self.items) * &4.into();
        let spill_bytes = if moved { self.steps.name(spill_bytes) } else { spill_bytes };
        let l2 = &self.used("l2_bytes") + &spill_bytes;
        let l2 = if latency || l2_rate.is_some() { self.steps.name(l2) } else { l2 };
        let dram = self.dram_bytes(&spilled, &spill_bytes, &held);
        let dram = if behind { self.steps.name(dram) } else { dram };
        let chain = latency.then(|| self.chain(&l2, &dram));

        let mut busy = self.compute(&spills);
        busy.extend(self.memory(&spills));
        busy.extend(
            l2_rate.map(|rate| (&(&l2 * &self.units()) * &PARTS.into()).ceil(&rate.into())),
        );
        busy.extend(l3_rate.map(|rate| {
            let bytes = self.used("l3_bytes").max(&dram).ceil(&self.groups);
            (&(&bytes * &self.units()) * &PARTS.into()).ceil(&rate.into())
        }));
        busy.extend(chain.as_ref().map(|chain| chain.ceil(&held)));
        let of_group = self.mixed(busy, &held);
        let of_units = match self.has(Part::Tail) {
            true => &self.groups.ceil(&self.units()) * &of_group,
            false => (&self.groups * &of_group).ceil(&self.units()),
        };
        let dram = dram_rate
            .map(|(rate, clock)| (&(&dram * &clock.into()) * &PARTS.into()).ceil(&rate.into()));
        let all = self.launch(of_units, [chain, dram]);
        self.steps.name(all);
    }

    /// Clocks of the launch: the longest of what its units, one group's steps, the device's memory
    /// and atomic operations take.
    fn launch(&self, of_units: E, others: [Option<E>; 2]) -> E {
        let mut longest = others.iter().flatten().fold(of_units, |longest, e| longest.max(e));
        if let Some(clocks) = self.r.shared_atomic_clocks.filter(|_| self.has(Part::Contention)) {
            let parts = &(&self.used("shared_atomics") * &clocks.into()) * &PARTS.into();
            longest = longest.max(&parts);
        }
        let price = self.r.launch_nanoseconds.filter(|_| self.has(Part::Launch));
        if let Some((price, clock)) = price.zip(self.problem.platform.clock_mhz()) {
            let parts = &(&E::from(price) * &clock.into()) * &PARTS.into();
            longest = &longest + &parts.ceil(&1000.into());
        }
        longest.ceil(&PARTS.into())
    }

    /// Registers that an item is given, and those for which there is no place.
    fn registers(&mut self) -> (E, E) {
        let granule = E::from(self.r.register_granule.unwrap_or(1));
        let share = |items: &E| {
            let all = E::from(self.r.registers_per_unit?);
            Some(&all.floor(items).floor(&granule) * &granule)
        };
        let mut bounds = Vec::from_iter(self.r.registers_per_item.map(E::from));
        bounds.extend(share(&(&self.warps * &self.width())));
        bounds.extend(self.r.assumed_group_items.and_then(|items| share(&items.into())));
        let live = self.used("registers");
        let wanted = live.rounded_up(&granule).max(&granule);
        let Some(cap) = bounds.into_iter().reduce(|a, b| a.min(&b)) else {
            return (self.steps.name(wanted), 0.into());
        };
        let cap = self.steps.name(cap.max(&granule));
        let spilled = match self.has(Part::Spill) {
            true => self.steps.name((&live - &cap).max(&0.into())),
            false => 0.into(),
        };
        (self.steps.name(wanted.min(&cap)), spilled)
    }

    /// Groups that a unit holds.
    fn held(&self, registers: &E) -> E {
        let r = &self.r;
        let mut most = self.groups.ceil(&self.units());
        if let Some(warps) = r.warps_per_unit {
            most = most.min(&E::from(warps).floor(&self.warps));
        }
        if self.has(Part::Occupancy) {
            if let Some(groups) = r.groups_per_unit {
                most = most.min(&groups.into());
            }
            if let Some(barriers) = r.barriers_per_unit {
                let one = self.warps.binary(BinaryOp::Le, &1.into());
                most = either(&one, &most, &most.min(&barriers.into()));
            }
            if let Some(all) = r.registers_per_unit {
                let room = &(registers * &self.warps) * &self.width();
                most = most.min(&E::from(all).floor(&room));
            }
            if let Some(all) = self.problem.platform.local_memory() {
                let bytes = self.used("local_bytes");
                let room = bytes.rounded_up(&r.local_granule.unwrap_or(1).into());
                let none = bytes.binary(BinaryOp::Eq, &0.into());
                most = either(&none, &most, &most.min(&E::from(all).floor(&room)));
            }
        }
        most.max(&1.into())
    }

    fn lanes(&self, instructions: &E, lanes: Option<i64>) -> E {
        match lanes {
            Some(lanes) => (&(instructions * &self.width()) * &PARTS.into()).ceil(&lanes.into()),
            None => 0.into(),
        }
    }

    fn compute(&self, spills: &E) -> Vec<E> {
        let r = &self.r;
        let (real, convert) = (self.of_group("real"), self.of_group("convert"));
        let integer = match r.convert_lanes {
            Some(_) => self.of_group("integer"),
            None => &self.of_group("integer") + &convert,
        };
        let shared = if r.integer_shares_real == Some(1) { &real + &integer } else { real };
        let mut arithmetic =
            self.lanes(&shared, r.real_lanes).max(&self.lanes(&integer, r.integer_lanes));
        if let Some(rate) = r.issue_rate {
            let mut issued = spills.clone();
            for name in [
                "real",
                "integer",
                "convert",
                "special",
                "branches",
                "local_requests",
                "global_requests",
            ] {
                issued = &issued + &self.used(name);
            }
            let parts = &(&issued * &self.warps) * &PARTS.into();
            arithmetic = arithmetic.max(&parts.ceil(&rate.into()));
        }
        let mut busy = vec![arithmetic];
        if self.has(Part::Special) {
            busy.extend(r.convert_lanes.map(|lanes| self.lanes(&convert, Some(lanes))));
            busy.push(self.lanes(&self.of_group("special"), r.special_lanes));
        }
        busy
    }

    fn addresses(&self, requests: &E) -> E {
        let lanes = self.r.load_store_lanes.filter(|_| self.has(Part::Addresses));
        self.lanes(requests, lanes.or(self.r.warp_width))
    }

    fn passes(&self, passes: &E, rate: Option<i64>) -> E {
        self.lanes(&(passes * &4.into()), rate)
    }

    fn memory(&self, spills: &E) -> Vec<E> {
        let r = &self.r;
        let conflicts = self.has(Part::Wavefronts);
        let of = |requests, wavefronts, rate| {
            let passes = self.of_group(if conflicts { wavefronts } else { requests });
            self.addresses(&self.of_group(requests)).max(&self.passes(&passes, rate))
        };
        let local = of("local_requests", "local_wavefronts", r.local_bytes_per_clock);
        let mut l1 = of("global_requests", "global_wavefronts", r.l1_bytes_per_clock);
        if let Some(rate) = r.l1_lines_per_clock.filter(|_| self.has(Part::Lines)) {
            l1 = l1.max(&(&self.of_group("global_lines") * &PARTS.into()).ceil(&rate.into()));
        }
        if let Some(percent) = r.read_only_percent.filter(|_| self.has(Part::ReadOnly)) {
            let longer = self.addresses(&self.of_group("read_only_requests"));
            l1 = &l1 + &(&longer * &percent.into()).ceil(&100.into());
        }
        let spills = spills * &self.warps;
        let spilled = self.addresses(&spills).max(&self.passes(&spills, r.l1_bytes_per_clock));
        if r.one_pipe == Some(1) && self.has(Part::Pipe) {
            let l1 = (&l1 * &11.into()).ceil(&10.into());
            return vec![&(&local + &l1) + &spilled];
        }
        vec![local, &l1 + &spilled]
    }

    fn dram_bytes(&self, spilled: &E, spill_bytes: &E, held: &E) -> E {
        let resident = &(held * &self.units()).min(&self.groups) * &self.items;
        let place = &(&E::from(4) * spilled) * &resident;
        let caches = &E::from(self.r.l2_size.unwrap_or(0)) + &self.r.l3_size.unwrap_or(0).into();
        let beyond = (&place - &caches).max(&0.into());
        let share = (&beyond * &PARTS.into()).floor(&place.max(&1.into()));
        let moved = &(&(spill_bytes * &self.groups) * &share).floor(&PARTS.into());
        &self.used("dram_bytes") + moved
    }

    fn chain(&mut self, l2: &E, dram: &E) -> E {
        let r = self.r;
        let clocks = |latency: Option<i64>| latency.unwrap_or(0);
        let moved = self.steps.name(l2 * &self.groups);
        let beyond = self.used("beyond_l2_bytes").max(dram).min(&moved);
        let share = (&beyond * &PARTS.into()).floor(&moved.max(&1.into()));
        let behind = clocks(r.l3_latency.or(r.dram_latency));
        let further = E::from((behind - clocks(r.l2_latency)).max(0));
        let far = &(&E::from(clocks(r.l2_latency)) * &PARTS.into()) + &(&further * &share);
        let mut chain = &self.used("far_steps") * &far;
        for (steps, latency) in [
            ("near_steps", r.l1_latency),
            ("local_steps", r.local_latency),
            ("barriers", r.barrier_latency),
        ] {
            let one = &(&self.used(steps) * &clocks(latency).into()) * &PARTS.into();
            chain = &chain + &one;
        }
        self.steps.name(chain)
    }

    fn mixed(&mut self, busy: Vec<E>, held: &E) -> E {
        let busy: Vec<E> = busy.into_iter().filter(|e| !e.is_zero()).collect();
        let busy: Vec<E> = busy.into_iter().map(|e| self.steps.name(e)).collect();
        let most = busy.iter().fold(E::from(0), |most, e| most.max(e));
        let most = self.steps.name(most);
        if !self.has(Part::Mixing) {
            return most;
        }
        let rest = &busy.iter().fold(E::from(0), |sum, e| &sum + e) - &most;
        let schedulers = E::from(self.r.schedulers.unwrap_or(1));
        let warps = (held * &self.warps).max(&schedulers);
        let warps = self.steps.name(warps);
        let twice = &E::from(2) * &warps;
        let part = (&warps + &(&E::from(2) * &schedulers)).min(&twice);
        &most + &(&rest * &part).floor(&twice)
    }
}

fn either(condition: &E, then: &E, otherwise: &E) -> E {
    let [c, a, b] = [condition, then, otherwise].map(|e| Box::new(e.0.clone()));
    E(Expr::Conditional(c, a, b))
}
