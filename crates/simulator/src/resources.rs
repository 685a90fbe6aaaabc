//! The profile `resources`: a run time from what a kernel uses of a device's resources.
//!
//! This is the oracle of the cost of that profile (`docs/semantics.md` has the same in prose). All
//! is in whole numbers. Times inside are in parts of a clock, [`PARTS`] to one; only the end is
//! rounded to clocks. Every number on the way has at most 63 bits; one that would have more is an
//! error.

use std::ops::{Add, Mul, Sub};

use tickbound_expr::EvalError;
use tickbound_expr::Expr;
use tickbound_model::usage::{LineUsage, Usage};
use tickbound_model::{Bound, LaunchSize, ModelError, Part, Problem, Profile, Resources};

use super::engine::Engine;
use super::{Options, SimulateError, launch};

/// Parts of a clock that times inside the profile are counted in.
pub const PARTS: i64 = 64;

tickbound_input::named! {
    /// What a group keeps busy, or waits for.
    pub enum Resource {
        /// Lanes for real and whole numbers, and the issue of instructions.
        Arithmetic = "arithmetic",
        /// Lanes for conversions.
        Conversions = "conversions",
        /// Lanes for special functions.
        Special = "special functions",
        /// Local memory.
        Local = "local memory",
        /// L1.
        L1 = "L1",
        /// L2.
        L2 = "L2",
        /// The cache between L2 and the device's memory.
        L3 = "L3",
        /// Waiting for memory and barriers.
        Latency = "latency",
    }
}

tickbound_input::named! {
    /// What bounds the time of a launch, beside the resources of a unit.
    pub enum Bottleneck {
        /// The resources of a unit.
        Unit = "unit",
        /// What one group waits for, one step after another.
        Chain = "chain",
        /// The device's memory.
        Dram = "dram",
        /// Atomic operations on one address, one after the other.
        Contention = "contention",
    }
}

tickbound_input::named! {
    /// What limits how many groups a unit holds at once.
    pub enum OccupancyLimit {
        /// The places for groups.
        Groups = "groups",
        /// The barriers of the unit.
        Barriers = "barriers",
        /// The places for warps.
        Warps = "warps",
        /// Local memory.
        LocalMemory = "local memory",
        /// Registers.
        Registers = "registers",
        /// There are no more groups.
        Launch = "launch",
    }
}

/// What the profile `resources` comes to for one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceTime {
    /// Clocks of the launch and of what comes after it.
    pub time: i64,
    /// Clocks of the program `finish`, which one element runs after the launch.
    pub finish: i64,
    /// Parts of a clock, [`PARTS`] to one, that one group takes of each resource.
    pub group: Vec<(Resource, i64)>,
    /// What bounds the time.
    pub bottleneck: Bottleneck,
    /// Registers of an item, as they are given out.
    pub registers: i64,
    /// Live registers of an item for which there is no place.
    pub spilled: i64,
    /// Groups that a unit holds at once.
    pub groups: i64,
    /// Warps that a unit holds at once.
    pub warps: i64,
    /// What limits their number.
    pub limit: OccupancyLimit,
}

impl ResourceTime {
    /// The resource of which a group takes most; the first of several.
    pub fn busiest(&self) -> Option<Resource> {
        let most = self.group.iter().map(|(_, parts)| *parts).max()?;
        self.group.iter().find(|(_, parts)| *parts == most).map(|(resource, _)| *resource)
    }
}

/// The time of a configuration.
///
/// # Errors
/// A usage without a value or below 0, or a number beyond 63 bits.
pub fn resource_time(problem: &Problem, bound: &Bound) -> Result<ResourceTime, SimulateError> {
    problem.usage().is_counted()?;
    let model = Model::new(problem, bound, Values::new(problem, problem.usage(), &bound.env)?)?;
    let launch = model.run().ok_or_else(|| overflow(problem, bound))?;
    let finish = finish(problem, bound)?;
    let time = launch.time.checked_add(finish).ok_or_else(|| overflow(problem, bound))?;
    Ok(ResourceTime { time, finish, ..launch })
}

/// Clocks of the program `finish`: as under `opencl`, at the prices of single accesses.
fn finish(problem: &Problem, bound: &Bound) -> Result<i64, SimulateError> {
    if problem.finish.is_empty() {
        return Ok(0);
    }
    let options = Options::default();
    launch::finish(&mut Engine::new(problem, bound, &options)?, 0)
}

fn overflow(problem: &Problem, bound: &Bound) -> SimulateError {
    problem.fault("profile resources", &EvalError::Overflow, &bound.env).into()
}

/// How much each line of the source asks for of what bounds the time of a configuration, in the
/// order of [`Problem::usage_lines`]: parts of a clock that a group would take of the busiest
/// resource if it ran the line alone, bytes of the device's memory, or atomic operations on one
/// address. They tell lines from each other; their sum is not the time. Memory operations for
/// spilled registers are no line's.
pub fn of_lines(
    problem: &Problem,
    bound: &Bound,
    time: &ResourceTime,
) -> Result<Vec<i64>, SimulateError> {
    let of_launch = match time.bottleneck {
        Bottleneck::Dram => Some("dram_bytes"),
        Bottleneck::Contention => Some("shared_atomics"),
        Bottleneck::Unit | Bottleneck::Chain => None,
    };
    let resource = match time.bottleneck {
        Bottleneck::Chain => Some(Resource::Latency),
        _ => time.busiest(),
    };
    let of = |LineUsage { usage, .. }: &LineUsage| {
        let whole = problem.usage();
        let alone = Usage {
            registers: whole.registers.clone(),
            local_bytes: whole.local_bytes.clone(),
            spill_uses: Expr::Int(0),
            ..usage.clone()
        };
        let values = Values::new(problem, &alone, &bound.env)?;
        if let Some(name) = of_launch {
            return values.get(name).0.ok_or_else(|| overflow(problem, bound));
        }
        let alone = Model::new(problem, bound, values)?.run();
        let group = alone.ok_or_else(|| overflow(problem, bound))?.group;
        Ok(group.iter().find(|(r, _)| Some(*r) == resource).map_or(0, |(_, parts)| *parts))
    };
    problem.usage_lines().iter().map(of).collect()
}

/// A number of at most 63 bits, or none after an overflow or a division by 0.
#[derive(Debug, Clone, Copy)]
struct Int(Option<i64>);

impl Int {
    fn of(n: i64) -> Int {
        Int(Some(n))
    }

    fn with(self, other: Int, of: impl Fn(i64, i64) -> Option<i64>) -> Int {
        Int(self.0.zip(other.0).and_then(|(a, b)| of(a, b)))
    }

    fn floor(self, by: Int) -> Int {
        self.with(by, i64::checked_div_euclid)
    }

    fn ceil(self, by: Int) -> Int {
        self.with(by, |a, b| Some(a.checked_div(b)? + i64::from(a % b != 0)))
    }

    fn min(self, other: Int) -> Int {
        self.with(other, |a, b| Some(a.min(b)))
    }

    fn max(self, other: Int) -> Int {
        self.with(other, |a, b| Some(a.max(b)))
    }
}

impl Add for Int {
    type Output = Int;
    fn add(self, other: Int) -> Int {
        self.with(other, i64::checked_add)
    }
}

impl Sub for Int {
    type Output = Int;
    fn sub(self, other: Int) -> Int {
        self.with(other, i64::checked_sub)
    }
}

impl Mul for Int {
    type Output = Int;
    fn mul(self, other: Int) -> Int {
        self.with(other, i64::checked_mul)
    }
}

/// What a configuration uses, in the order of [`Usage::NAMES`].
///
/// # Errors
/// A usage without a value or below 0.
pub fn used(problem: &Problem, bound: &Bound) -> Result<Vec<i64>, SimulateError> {
    used_of(problem, problem.usage(), bound)
}

/// The same of another usage of the problem's, such as that of one of its lines.
pub fn used_of(problem: &Problem, usage: &Usage, bound: &Bound) -> Result<Vec<i64>, SimulateError> {
    let Values(values) = Values::new(problem, usage, &bound.env)?;
    Ok(values.into_iter().filter_map(|(_, value)| value.0).collect())
}

/// What tells the program of a configuration from those of others under the profile `resources`:
/// what it uses, the sizes of its launch, and the clocks of `finish`. `None` under other profiles,
/// where every configuration counts as a program of its own.
///
/// # Errors
/// A usage without a value or below 0.
pub fn program(problem: &Problem, bound: &Bound) -> Result<Option<Vec<i64>>, SimulateError> {
    if problem.profile != Profile::Resources {
        return Ok(None);
    }
    let mut program = used(problem, bound)?;
    program.extend(problem.grid_sizes(&bound.env)?.into_iter().flatten());
    program.push(finish(problem, bound)?);
    Ok(Some(program))
}

/// The values of a usage.
struct Values(Vec<(&'static str, Int)>);

impl Values {
    fn new(problem: &Problem, usage: &Usage, env: &[i64]) -> Result<Values, SimulateError> {
        let fault = |name: &str, what: String| -> SimulateError {
            let at = format!("usage.{name}");
            match problem.counts_usage(name) {
                true => SimulateError::Counts { at, what, configuration: problem.describe(env) },
                false => problem.fault(&at, &what, env).into(),
            }
        };
        let value = |(name, expr): (&'static str, &Expr)| match expr.eval(env) {
            Err(e) => Err(fault(name, e.to_string())),
            Ok(n) if n < 0 => Err(fault(name, format!("{n} is negative"))),
            Ok(n) => Ok((name, Int::of(n))),
        };
        usage.entries().map(value).collect::<Result<_, _>>().map(Values)
    }

    fn get(&self, name: &str) -> Int {
        self.0.iter().find(|(n, _)| *n == name).map_or(Int(None), |(_, value)| *value)
    }
}

/// One configuration on one platform.
struct Model<'p> {
    r: Resources,
    units: Int,
    local_memory: Option<i64>,
    clock: Option<i64>,
    without: &'p [Part],
    u: Values,
    /// Of a group.
    items: Int,
    /// Of the launch.
    groups: Int,
}

/// Registers of an item.
struct Registers {
    given: Int,
    spilled: Int,
}

impl<'p> Model<'p> {
    fn new(problem: &'p Problem, bound: &Bound, u: Values) -> Result<Model<'p>, ModelError> {
        let LaunchSize::Range { global, local } = bound.launch else {
            let fix = "give global_size and local_size";
            return Err(ModelError::new("launch", "does not fit the profile", fix));
        };
        Ok(Model {
            r: problem.platform.resources(),
            units: Int::of(problem.platform.units()),
            local_memory: problem.platform.local_memory(),
            clock: problem.platform.clock_mhz(),
            without: &problem.without,
            u,
            items: Int::of(local),
            groups: Int::of(global / local),
        })
    }

    fn has(&self, part: Part) -> bool {
        !self.without.contains(&part)
    }

    fn width(&self) -> Int {
        Int::of(self.r.warp_width.unwrap_or(1))
    }

    /// Warps of a group.
    fn warps(&self) -> Int {
        self.items.ceil(self.width())
    }

    /// What all warps of a group do together.
    fn of_group(&self, name: &str) -> Int {
        self.u.get(name) * self.warps()
    }

    fn run(&self) -> Option<ResourceTime> {
        let registers = self.registers();
        let (groups, limit) = self.occupancy(&registers)?;
        let spills = self.spills(&registers);
        let chain = match self.has(Part::Latency) {
            true => Some(self.chain(&registers, groups, spills)),
            false => None,
        };
        let mut group = self.compute(spills);
        group.extend(self.memory(spills));
        if let (true, Some(_)) = (self.has(Part::L2), self.r.l2_bytes_per_clock) {
            let bytes = self.l2_bytes(spills) * self.units * Int::of(PARTS);
            group.push((Resource::L2, bytes.ceil(Int::of(self.r.l2_bytes_per_clock?))));
        }
        if let (true, Some(rate)) = (self.has(Part::L3), self.r.l3_bytes_per_clock) {
            let dram = self.dram_bytes(&registers, groups, spills);
            let bytes = self.u.get("l3_bytes").max(dram).ceil(self.groups);
            let parts = bytes * self.units * Int::of(PARTS);
            group.push((Resource::L3, parts.ceil(Int::of(rate))));
        }
        if let Some(chain) = chain {
            group.push((Resource::Latency, chain.ceil(groups)));
        }
        let of_units = self.of_units(self.mixed(&group, groups));
        let chain = chain.unwrap_or(Int::of(0));
        let dram = self.dram(&registers, groups, spills);
        let contention = self.contention();
        let longest = of_units.max(chain).max(dram).max(contention);
        let time = (longest + self.launch()).ceil(Int::of(PARTS));
        let bottleneck = match longest.0? {
            t if t == of_units.0? => Bottleneck::Unit,
            t if t == chain.0? => Bottleneck::Chain,
            t if t == dram.0? => Bottleneck::Dram,
            _ => Bottleneck::Contention,
        };
        Some(ResourceTime {
            time: time.0?,
            finish: 0,
            group: group.into_iter().map(|(r, t)| Some((r, t.0?))).collect::<Option<_>>()?,
            bottleneck,
            registers: registers.given.0?,
            spilled: registers.spilled.0?,
            groups: groups.0?,
            warps: (groups * self.warps()).0?,
            limit,
        })
    }

    /// One group must fit a unit; what the compiler cannot place is spilled.
    fn registers(&self) -> Registers {
        let r = &self.r;
        let granule = Int::of(r.register_granule.unwrap_or(1));
        let share = |items: Int| {
            r.registers_per_unit.map(|all| Int::of(all).floor(items).floor(granule) * granule)
        };
        let bounds = [
            r.registers_per_item.map(Int::of),
            share(self.warps() * self.width()),
            r.assumed_group_items.and_then(|items| share(Int::of(items))),
        ];
        let live = self.u.get("registers");
        let wanted = (live.ceil(granule) * granule).max(granule);
        let Some(cap) = bounds.into_iter().flatten().reduce(Int::min).map(|c| c.max(granule))
        else {
            return Registers { given: wanted, spilled: Int::of(0) };
        };
        let spilled = if self.has(Part::Spill) { (live - cap).max(Int::of(0)) } else { Int::of(0) };
        Registers { given: wanted.min(cap), spilled }
    }

    /// Memory operations of an item, and requests of a warp, for registers that are spilled.
    fn spills(&self, registers: &Registers) -> Int {
        registers.spilled * self.u.get("spill_uses")
    }

    /// How many groups a unit holds at once, and what limits it; the first of several.
    fn occupancy(&self, registers: &Registers) -> Option<(Int, OccupancyLimit)> {
        let r = &self.r;
        let all = self.has(Part::Occupancy);
        let mut bounds = vec![
            (OccupancyLimit::Launch, Some(self.groups.ceil(self.units))),
            (OccupancyLimit::Warps, r.warps_per_unit.map(|n| Int::of(n).floor(self.warps()))),
        ];
        if all {
            let room = registers.given * self.warps() * self.width();
            let barriers = r.barriers_per_unit.filter(|_| self.warps().0.is_none_or(|n| n > 1));
            bounds.extend([
                (OccupancyLimit::Groups, r.groups_per_unit.map(Int::of)),
                (OccupancyLimit::Barriers, barriers.map(Int::of)),
                (OccupancyLimit::Registers, r.registers_per_unit.map(|n| Int::of(n).floor(room))),
            ]);
            let bytes = self.u.get("local_bytes");
            if bytes.0? > 0 {
                let granule = Int::of(r.local_granule.unwrap_or(1));
                let room = bytes.ceil(granule) * granule;
                let most = self.local_memory.map(|n| Int::of(n).floor(room));
                bounds.push((OccupancyLimit::LocalMemory, most));
            }
        }
        let mut least = (Int::of(i64::MAX), OccupancyLimit::Launch);
        for (limit, most) in bounds {
            if let Some(most) = most
                && most.0? < least.0.0?
            {
                least = (most, limit);
            }
        }
        Some((least.0.max(Int::of(1)), least.1))
    }

    /// What a group takes of so many lanes for instructions of its warps.
    fn lanes(&self, instructions: Int, lanes: Option<i64>) -> Int {
        let Some(lanes) = lanes else { return Int::of(0) };
        (instructions * self.width() * Int::of(PARTS)).ceil(Int::of(lanes))
    }

    fn compute(&self, spills: Int) -> Vec<(Resource, Int)> {
        let r = &self.r;
        let special = self.has(Part::Special);
        let own_lanes = r.convert_lanes.is_some();
        let (real, convert) = (self.of_group("real"), self.of_group("convert"));
        let mut integer = self.of_group("integer");
        if !own_lanes {
            integer = integer + convert;
        }
        let shared = if r.integer_shares_real == Some(1) { real + integer } else { real };
        let mut arithmetic =
            self.lanes(shared, r.real_lanes).max(self.lanes(integer, r.integer_lanes));
        if let Some(rate) = r.issue_rate {
            let names = ["real", "integer", "convert", "special", "branches"];
            let requests = ["local_requests", "global_requests"];
            let each = names.into_iter().chain(requests).map(|name| self.u.get(name));
            let issued = each.fold(spills, Int::add) * self.warps() * Int::of(PARTS);
            arithmetic = arithmetic.max(issued.ceil(Int::of(rate)));
        }
        let mut busy = vec![(Resource::Arithmetic, arithmetic)];
        if own_lanes && special {
            busy.push((Resource::Conversions, self.lanes(convert, r.convert_lanes)));
        }
        if special {
            let lanes = self.lanes(self.of_group("special"), r.special_lanes);
            busy.push((Resource::Special, lanes));
        }
        busy
    }

    /// What the addresses of so many requests take.
    fn addresses(&self, requests: Int) -> Int {
        let lanes = self.r.load_store_lanes.filter(|_| self.has(Part::Addresses));
        self.lanes(requests, lanes.or(self.r.warp_width))
    }

    /// What so many passes take; each moves 4 bytes for every item of a warp.
    fn passes(&self, passes: Int, bytes_per_clock: Option<i64>) -> Int {
        self.lanes(passes * Int::of(4), bytes_per_clock)
    }

    fn memory(&self, spills: Int) -> Vec<(Resource, Int)> {
        let r = &self.r;
        let passes_of = |wavefronts, requests| {
            self.of_group(if self.has(Part::Wavefronts) { wavefronts } else { requests })
        };
        let passes = passes_of("local_wavefronts", "local_requests");
        let local = self.addresses(self.of_group("local_requests"));
        let local = local.max(self.passes(passes, r.local_bytes_per_clock));

        let passes = passes_of("global_wavefronts", "global_requests");
        let mut l1 = self.addresses(self.of_group("global_requests"));
        l1 = l1.max(self.passes(passes, r.l1_bytes_per_clock));
        if let Some(rate) = r.l1_lines_per_clock.filter(|_| self.has(Part::Lines)) {
            let lines = self.of_group("global_lines") * Int::of(PARTS);
            l1 = l1.max(lines.ceil(Int::of(rate)));
        }
        if let Some(percent) = r.read_only_percent.filter(|_| self.has(Part::ReadOnly)) {
            let longer = self.addresses(self.of_group("read_only_requests")) * Int::of(percent);
            l1 = l1 + longer.ceil(Int::of(100));
        }
        let spills = spills * self.warps();
        let spilled = self.addresses(spills).max(self.passes(spills, r.l1_bytes_per_clock));
        if r.one_pipe == Some(1) && self.has(Part::Pipe) {
            // The look-up of tags takes a tenth more than a request to local memory.
            let l1 = (l1 * Int::of(11)).ceil(Int::of(10));
            return vec![(Resource::L1, local + l1 + spilled)];
        }
        vec![(Resource::Local, local), (Resource::L1, l1 + spilled)]
    }

    /// Bytes of a group between L1 and L2.
    fn l2_bytes(&self, spills: Int) -> Int {
        self.u.get("l2_bytes") + self.spill_bytes(spills)
    }

    fn spill_bytes(&self, spills: Int) -> Int {
        spills * self.items * Int::of(4)
    }

    /// Bytes of the launch between the last cache and the device's memory: what is counted, and
    /// what of the spilled registers of all resident groups has no place in the caches.
    fn dram_bytes(&self, registers: &Registers, groups: Int, spills: Int) -> Int {
        let resident = (groups * self.units).min(self.groups) * self.items;
        let place = Int::of(4) * registers.spilled * resident;
        let caches = Int::of(self.r.l2_size.unwrap_or(0)) + Int::of(self.r.l3_size.unwrap_or(0));
        let beyond = (place - caches).max(Int::of(0));
        let all = self.spill_bytes(spills) * self.groups;
        // Scaled down before the product, so that it stays small.
        let share = (beyond * Int::of(PARTS)).floor(place.max(Int::of(1)));
        self.u.get("dram_bytes") + (all * share).floor(Int::of(PARTS))
    }

    /// What one group waits for, one step after another.
    fn chain(&self, registers: &Registers, groups: Int, spills: Int) -> Int {
        let r = &self.r;
        let clocks = |latency: Option<i64>| Int::of(latency.unwrap_or(0));
        // New lines come from L2 or, as far as they are not there, from what is behind it.
        let moved = self.l2_bytes(spills) * self.groups;
        let beyond = self.u.get("beyond_l2_bytes");
        let beyond = beyond.max(self.dram_bytes(registers, groups, spills)).min(moved);
        let behind = r.l3_latency.or(r.dram_latency);
        let further = (clocks(behind) - clocks(r.l2_latency)).max(Int::of(0));
        let share = (beyond * Int::of(PARTS)).floor(moved.max(Int::of(1)));
        let far = clocks(r.l2_latency) * Int::of(PARTS) + further * share;
        let near = [
            ("near_steps", r.l1_latency),
            ("local_steps", r.local_latency),
            ("barriers", r.barrier_latency),
        ];
        let near = near
            .into_iter()
            .map(|(steps, latency)| self.u.get(steps) * clocks(latency) * Int::of(PARTS));
        near.fold(self.u.get("far_steps") * far, Int::add)
    }

    /// What a group takes of a unit: the most of any resource and, as warps come to the others at
    /// the wrong time, a part of the rest: half of it with many warps, all of it with as many as
    /// there are schedulers.
    fn mixed(&self, group: &[(Resource, Int)], groups: Int) -> Int {
        let most = group.iter().map(|(_, t)| *t).fold(Int::of(0), Int::max);
        if !self.has(Part::Mixing) {
            return most;
        }
        let rest = group.iter().map(|(_, t)| *t).fold(Int::of(0), Int::add) - most;
        let schedulers = Int::of(self.r.schedulers.unwrap_or(1));
        let twice = Int::of(2) * (groups * self.warps()).max(schedulers);
        let part = (twice.floor(Int::of(2)) + Int::of(2) * schedulers).min(twice);
        most + (rest * part).floor(twice)
    }

    /// All groups, one wave after another.
    fn of_units(&self, group: Int) -> Int {
        match self.has(Part::Tail) {
            true => self.groups.ceil(self.units) * group,
            false => (self.groups * group).ceil(self.units),
        }
    }

    /// What the device's memory takes to move the launch's bytes.
    fn dram(&self, registers: &Registers, groups: Int, spills: Int) -> Int {
        match (self.r.dram_megabytes_per_second, self.clock) {
            (Some(rate), Some(clock)) if self.has(Part::Dram) => {
                let bytes = self.dram_bytes(registers, groups, spills);
                (bytes * Int::of(clock) * Int::of(PARTS)).ceil(Int::of(rate))
            }
            _ => Int::of(0),
        }
    }

    /// What L2 takes for the launch's atomic operations on one address.
    fn contention(&self) -> Int {
        let clocks = self.r.shared_atomic_clocks.filter(|_| self.has(Part::Contention));
        self.u.get("shared_atomics") * Int::of(clocks.unwrap_or(0)) * Int::of(PARTS)
    }

    fn launch(&self) -> Int {
        match (self.r.launch_nanoseconds, self.clock) {
            (Some(nanoseconds), Some(clock)) if self.has(Part::Launch) => {
                (Int::of(nanoseconds) * Int::of(clock) * Int::of(PARTS)).ceil(Int::of(1000))
            }
            _ => Int::of(0),
        }
    }
}
