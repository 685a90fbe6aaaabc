//! The formulas of the profile `resources` for one configuration on one platform.

use std::ops::Add;

use tickbound_model::{Bound, LaunchSize, ModelError, Part, Problem, Resources};

use super::number::Int;
use super::result::{Bottleneck, OccupancyLimit, PARTS, Resource, ResourceTime};
use super::usage::Values;

/// One configuration on one platform.
pub(super) struct Model<'p> {
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
    pub fn new(problem: &'p Problem, bound: &Bound, u: Values) -> Result<Model<'p>, ModelError> {
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

    /// The time of the launch, without what comes after it; `None` beyond 63 bits.
    pub fn run(&self) -> Option<ResourceTime> {
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
