//! The time of the profile `resources`: its formulas, over numbers or over expressions.
//!
//! `docs/semantics.md` has the formulas in prose. All is in whole numbers. Times inside are in
//! parts of a clock, [`PARTS`] to one; only the end is rounded to clocks. The simulator fills the
//! formulas with numbers of one configuration, the closed form with expressions over parameters.

pub use crate::quantity::PARTS;
use crate::quantity::Quantity;
use crate::{Part, Problem, Resources};

tickbound_input::named! {
    /// What a group keeps busy, or waits for.
    pub enum Resource {
        /// Lanes for real and whole numbers, and the issue of instructions.
        Arithmetic = "arithmetic",
        /// Lanes for conversions.
        Conversions = "conversions",
        /// Lanes for special functions.
        Special = "special functions",
        /// Tensor cores.
        Tensor = "tensor cores",
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

/// What the formulas begin with.
#[derive(Debug, Clone)]
pub struct LaunchQuantities<Q> {
    /// Items of a group.
    pub items: Q,
    /// Groups of the launch.
    pub groups: Q,
    /// The usage, by [`crate::Usage::NAMES`].
    pub used: Vec<(&'static str, Q)>,
}

/// What the formulas give, in parts of a clock but for `clocks`.
#[derive(Debug, Clone)]
pub struct ResourceQuantities<Q> {
    /// Clocks of the launch.
    pub clocks: Q,
    /// What one group takes of each resource.
    pub group: Vec<(Resource, Q)>,
    /// What the units take for all groups.
    pub units: Q,
    /// What one group waits for, one step after another.
    pub chain: Q,
    /// What the device's memory takes to move the launch's bytes.
    pub dram: Q,
    /// What L2 takes for the launch's atomic operations on one address.
    pub contention: Q,
    /// What the device takes to start all groups.
    pub dispatch: Q,
    /// Registers that an item is given.
    pub registers: Q,
    /// Live registers of an item without a place.
    pub spilled: Q,
    /// Warps of a group.
    pub warps: Q,
    /// Groups that a unit holds at once.
    pub held: Q,
    /// What bounds `held`, the bound of the launch first.
    pub bounds: Vec<(OccupancyLimit, Q)>,
}

/// The time of a launch. `name` is called with each result that several formulas use, and returns
/// what represents it; `clocks` is the last.
pub fn resource_quantities<Q: Quantity>(
    problem: &Problem,
    launch: LaunchQuantities<Q>,
    name: &mut dyn FnMut(Q) -> Q,
) -> ResourceQuantities<Q> {
    let r = problem.platform.resources();
    let LaunchQuantities { items, groups, used } = launch;
    let warps = name(items.ceil(&r.warp_width.unwrap_or(1).into()));
    Formulas { problem, r, name, used, items, groups, warps }.time()
}

struct Formulas<'p, Q> {
    problem: &'p Problem,
    r: Resources,
    name: &'p mut dyn FnMut(Q) -> Q,
    used: Vec<(&'static str, Q)>,
    items: Q,
    groups: Q,
    warps: Q,
}

/// Bytes that move between L1 and L2 for a group, and between last cache and memory for the launch.
struct Moved<Q> {
    l2: Q,
    dram: Q,
}

impl<Q: Quantity> Formulas<'_, Q> {
    fn has(&self, part: Part) -> bool {
        !self.problem.without.contains(&part)
    }

    fn used(&self, name: &str) -> Q {
        self.used.iter().find(|(n, _)| *n == name).map_or(0.into(), |(_, value)| value.clone())
    }

    /// What all warps of a group do together.
    fn of_group(&self, name: &str) -> Q {
        self.used(name).times(&self.warps)
    }

    fn width(&self) -> i64 {
        self.r.warp_width.unwrap_or(1)
    }

    fn units(&self) -> Q {
        self.problem.platform.units().into()
    }

    fn time(mut self) -> ResourceQuantities<Q> {
        let (registers, spilled) = self.registers();
        let spills = spilled.times(&self.used("spill_uses"));
        let spills = (self.name)(spills);
        let bounds = self.occupancy(&registers);
        let least = bounds.iter().map(|(_, most)| most.clone()).reduce(|a, b| a.min(&b));
        let held = (self.name)(least.unwrap_or(1.into()).max(&1.into()));
        let latency = self.has(Part::Latency);
        let l2_rate = self.r.l2_bytes_per_clock.filter(|_| self.has(Part::L2));
        let l3_rate = self.r.l3_bytes_per_clock.filter(|_| self.has(Part::L3));
        let dram_rate = self.r.dram_megabytes_per_second.filter(|_| self.has(Part::Dram));
        let dram_rate = dram_rate.zip(self.problem.platform.clock_mhz());

        let behind = latency || l3_rate.is_some() || dram_rate.is_some();
        let moved = self.moved((&spilled, &spills), &held, behind, latency || l2_rate.is_some());
        let issued = self.issued(&spills);
        let chain = latency.then(|| self.chain(&moved, &issued));
        let mut group = self.compute(&issued);
        self.share_schedulers(&mut group, &held);
        group.extend(self.memory(&spills));
        group.extend(
            l2_rate.map(|rate| (Resource::L2, moved.l2.times(&self.units()).at_rate(rate))),
        );
        group.extend(l3_rate.map(|rate| {
            let bytes = self.used("l3_bytes").max(&moved.dram).ceil(&self.groups);
            (Resource::L3, bytes.times(&self.units()).at_rate(rate))
        }));
        group.extend(chain.as_ref().map(|chain| (Resource::Latency, chain.ceil(&held))));
        let units = self.of_units(&group, &held);
        let cold = self.beyond_caches(&moved.dram);
        let dram = dram_rate.map(|(rate, clock)| cold.by(clock).at_rate(rate));
        let (contention, dispatch) = (self.contention(), self.dispatch());
        let least = Some(self.used("least_clocks").by(PARTS)).filter(|parts| !parts.is_zero());
        let others = [&chain, &dram, &contention, &dispatch, &least].into_iter().flatten();
        let clocks = self.launch(others.fold(units.clone(), |longest, other| longest.max(other)));
        ResourceQuantities {
            clocks: (self.name)(clocks),
            group,
            units,
            chain: chain.unwrap_or(0.into()),
            dram: dram.unwrap_or(0.into()),
            contention: contention.unwrap_or(0.into()),
            dispatch: dispatch.unwrap_or(0.into()),
            registers,
            spilled,
            warps: self.warps,
            held,
            bounds,
        }
    }

    /// Clocks of the launch: `longest`, and its start.
    fn launch(&self, mut longest: Q) -> Q {
        let price = self.r.launch_nanoseconds.filter(|_| self.has(Part::Launch));
        if let Some((price, clock)) = price.zip(self.problem.platform.clock_mhz()) {
            longest = longest.plus(&Q::from(price).by(clock).at_rate(1000));
        }
        longest.ceil(&PARTS.into())
    }

    /// What L2 takes for atomic operations on one address, in sequence.
    fn contention(&self) -> Option<Q> {
        let clocks = self.r.shared_atomic_clocks.filter(|_| self.has(Part::Contention))?;
        Some(self.used("shared_atomics").by(clocks).by(PARTS))
    }

    /// What the device takes to start all groups, in sequence.
    fn dispatch(&self) -> Option<Q> {
        let price = self.r.group_picoseconds.filter(|_| self.has(Part::Dispatch))?;
        let clock = self.problem.platform.clock_mhz()?;
        Some(self.groups.by(price).by(clock).at_rate(1_000_000))
    }

    /// Registers of an item, and its live values that are spilled so that one group fits a unit.
    fn registers(&mut self) -> (Q, Q) {
        let granule = Q::from(self.r.register_granule.unwrap_or(1));
        let share = |items: &Q| {
            let all = Q::from(self.r.registers_per_unit?);
            Some(all.floor(items).floor(&granule).times(&granule))
        };
        let mut bounds = Vec::from_iter(self.r.registers_per_item.map(Q::from));
        bounds.extend(share(&self.warps.by(self.width())));
        bounds.extend(self.r.assumed_group_items.and_then(|items| share(&items.into())));
        let live = self.used("registers");
        let wanted = live.rounded_up(&granule).max(&granule);
        let Some(cap) = bounds.into_iter().reduce(|a, b| a.min(&b)) else {
            return ((self.name)(wanted), 0.into());
        };
        let cap = (self.name)(cap.max(&granule));
        let spilled = match self.has(Part::Spill) {
            true => (self.name)(live.minus(&cap).max(&0.into())),
            false => 0.into(),
        };
        ((self.name)(wanted.min(&cap)), spilled)
    }

    /// What bounds the groups that a unit holds at once; else the bound of the launch.
    fn occupancy(&self, registers: &Q) -> Vec<(OccupancyLimit, Q)> {
        let r = &self.r;
        let launch = self.groups.ceil(&self.units());
        let mut bounds = vec![(OccupancyLimit::Launch, launch.clone())];
        let mut bound = |limit, most: Option<Q>| bounds.extend(most.map(|most| (limit, most)));
        bound(OccupancyLimit::Warps, r.warps_per_unit.map(|n| Q::from(n).floor(&self.warps)));
        if self.has(Part::Occupancy) {
            bound(OccupancyLimit::Groups, r.groups_per_unit.map(Q::from));
            let barriers = |n: i64| self.warps.if_at_most(1, &launch, &n.into());
            bound(OccupancyLimit::Barriers, r.barriers_per_unit.map(barriers));
            let room = registers.times(&self.warps).by(self.width());
            let registers = r.registers_per_unit.map(|n| Q::from(n).floor(&room));
            bound(OccupancyLimit::Registers, registers);
            let bytes = self.used("local_bytes");
            let room = bytes.rounded_up(&r.local_granule.unwrap_or(1).into());
            let room = room.max(&1.into());
            let local = |n: i64| bytes.if_at_most(0, &launch, &Q::from(n).floor(&room));
            bound(OccupancyLimit::LocalMemory, self.problem.platform.local_memory().map(local));
        }
        bounds
    }

    /// What a group takes of this many lanes for instructions of its warps.
    fn lanes(&self, instructions: &Q, lanes: Option<i64>) -> Q {
        lanes.map_or(0.into(), |lanes| instructions.by(self.width()).at_rate(lanes))
    }

    /// Instructions of a warp.
    fn issued(&mut self, spills: &Q) -> Q {
        let names = ["real", "integer", "convert", "special", "branches"];
        let requests = ["local_requests", "global_requests"];
        let each = names.iter().chain(&requests).map(|name| self.used(name));
        let issued = each.fold(spills.clone(), |sum, n| sum.plus(&n));
        if self.r.issue_rate.is_some() { (self.name)(issued) } else { 0.into() }
    }

    /// A warp has the lanes of one scheduler: fewer warps than schedulers leave lanes idle.
    fn share_schedulers(&self, group: &mut [(Resource, Q)], held: &Q) {
        let several = self.r.schedulers.filter(|n| *n > 1 && self.has(Part::Schedulers));
        let Some(schedulers) = several.map(Q::from) else { return };
        let busy = held.times(&self.warps).min(&schedulers);
        for (_, parts) in group {
            *parts = parts.times(&schedulers).ceil(&busy);
        }
    }

    fn compute(&self, issued: &Q) -> Vec<(Resource, Q)> {
        let r = &self.r;
        let (real, convert) = (self.of_group("real"), self.of_group("convert"));
        let mut integer = self.of_group("integer");
        if r.convert_lanes.is_none() {
            integer = integer.plus(&convert);
        }
        let shared = if r.integer_shares_real == Some(1) { real.plus(&integer) } else { real };
        let mut arithmetic =
            self.lanes(&shared, r.real_lanes).max(&self.lanes(&integer, r.integer_lanes));
        if let Some(rate) = r.issue_rate {
            arithmetic = arithmetic.max(&issued.times(&self.warps).at_rate(rate));
        }
        let mut busy = vec![(Resource::Arithmetic, arithmetic)];
        if self.has(Part::Special) {
            let lanes = |lanes| (Resource::Conversions, self.lanes(&convert, Some(lanes)));
            busy.extend(r.convert_lanes.map(lanes));
            busy.push((Resource::Special, self.lanes(&self.of_group("special"), r.special_lanes)));
            busy.push((Resource::Tensor, self.lanes(&self.of_group("tensor"), r.tensor_lanes)));
        }
        busy
    }

    /// What the addresses of this many requests take.
    fn addresses(&self, requests: &Q) -> Q {
        let lanes = self.r.load_store_lanes.filter(|_| self.has(Part::Addresses));
        self.lanes(requests, lanes.or(self.r.warp_width))
    }

    /// What this many passes take; each moves 4 bytes for every item of a warp.
    fn passes(&self, passes: &Q, bytes_per_clock: Option<i64>) -> Q {
        self.lanes(&passes.by(4), bytes_per_clock)
    }

    fn memory(&self, spills: &Q) -> Vec<(Resource, Q)> {
        let r = &self.r;
        let conflicts = self.has(Part::Wavefronts);
        let of = |requests, wavefronts, rate| {
            let passes = self.of_group(if conflicts { wavefronts } else { requests });
            self.addresses(&self.of_group(requests)).max(&self.passes(&passes, rate))
        };
        let local = of("local_requests", "local_wavefronts", r.local_bytes_per_clock);
        let mut l1 = of("global_requests", "global_wavefronts", r.l1_bytes_per_clock);
        if let Some(rate) = r.l1_lines_per_clock.filter(|_| self.has(Part::Lines)) {
            l1 = l1.max(&self.of_group("global_lines").at_rate(rate));
        }
        if let Some(percent) = r.read_only_percent.filter(|_| self.has(Part::ReadOnly)) {
            let longer = self.addresses(&self.of_group("read_only_requests"));
            l1 = l1.plus(&longer.by(percent).ceil(&100.into()));
        }
        let spills = spills.times(&self.warps);
        let spilled = self.addresses(&spills).max(&self.passes(&spills, r.l1_bytes_per_clock));
        if r.one_pipe == Some(1) && self.has(Part::Pipe) {
            // The look-up of tags takes a tenth more than a request to local memory.
            let l1 = l1.by(11).ceil(&10.into());
            return vec![(Resource::L1, local.plus(&l1).plus(&spilled))];
        }
        vec![(Resource::Local, local), (Resource::L1, l1.plus(&spilled))]
    }

    /// Bytes that move: what is counted, and spilled registers. The device's memory moves what of
    /// those of all resident groups has no place in the caches. Only what some formula uses is
    /// named, as the rest need not have a value.
    fn moved(&mut self, (spilled, spills): (&Q, &Q), held: &Q, behind: bool, l2: bool) -> Moved<Q> {
        let name = |this: &mut Self, used, q| if used { (this.name)(q) } else { q };
        let spill_bytes = name(self, behind || l2, spills.times(&self.items).by(4));
        let of_l2 = name(self, l2, self.used("l2_bytes").plus(&spill_bytes));
        let resident = held.times(&self.units()).min(&self.groups).times(&self.items);
        let place = Q::from(4).times(spilled).times(&resident);
        let caches = Q::from(self.r.l2_size.unwrap_or(0)).plus(&self.r.l3_size.unwrap_or(0).into());
        let beyond = place.minus(&caches).max(&0.into());
        // Scaled down before the product, so that it stays small.
        let share = beyond.by(PARTS).floor(&place.max(&1.into()));
        let all = spill_bytes.times(&self.groups).times(&share).floor(&PARTS.into());
        let dram = name(self, behind, self.used("dram_bytes").plus(&all));
        Moved { l2: of_l2, dram }
    }

    /// Bytes that the device's memory moves for a repeated launch: none where caches hold all.
    fn beyond_caches(&self, dram: &Q) -> Q {
        let r = &self.r;
        match r.l2_size.filter(|_| self.has(Part::Warm)) {
            Some(l2) => dram.if_at_most(l2 + r.l3_size.unwrap_or(0), &0.into(), dram),
            None => dram.clone(),
        }
    }

    /// What one group waits for, one step after another: its own instructions and the data of its
    /// loads. New lines come from L2 or, where they are not there, from DRAM.
    fn chain(&mut self, Moved { l2, dram }: &Moved<Q>, issued: &Q) -> Q {
        let r = self.r;
        let clocks = |latency: Option<i64>| latency.unwrap_or(0);
        let moved = (self.name)(l2.times(&self.groups));
        let beyond = self.used("beyond_l2_bytes").max(dram).min(&moved);
        let share = beyond.by(PARTS).floor(&moved.max(&1.into()));
        let behind = clocks(r.l3_latency.or(r.dram_latency));
        let further = (behind - clocks(r.l2_latency)).max(0);
        let far = Q::from(clocks(r.l2_latency)).by(PARTS).plus(&Q::from(further).times(&share));
        let near = [
            ("near_steps", r.l1_latency),
            ("local_steps", r.local_latency),
            ("barriers", r.barrier_latency),
        ];
        let near = near.map(|(steps, latency)| self.used(steps).by(clocks(latency)).by(PARTS));
        let mut chain = self.used("far_steps").times(&far);
        if let Some(rate) = r.issue_rate.filter(|_| self.has(Part::Issue)) {
            // At the rate of one scheduler.
            chain = chain.plus(&issued.by(r.schedulers.unwrap_or(1)).at_rate(rate));
        }
        (self.name)(near.iter().fold(chain, |sum, steps| sum.plus(steps)))
    }

    /// All groups, in waves or as a share.
    fn of_units(&mut self, group: &[(Resource, Q)], held: &Q) -> Q {
        let group = self.mixed(group, held);
        match self.has(Part::Tail) {
            true => self.groups.ceil(&self.units()).times(&group),
            false => self.groups.times(&group).ceil(&self.units()),
        }
    }

    /// What a group takes of a unit: the most of any resource and, as warps do not use the
    /// others at the same time, a part of the rest: half of it with very many warps, all of it with
    /// as many as there are schedulers.
    fn mixed(&mut self, group: &[(Resource, Q)], held: &Q) -> Q {
        let busy = group.iter().filter(|(_, parts)| !parts.is_zero());
        let busy: Vec<Q> = busy.map(|(_, parts)| (self.name)(parts.clone())).collect();
        let most = (self.name)(busy.iter().fold(0.into(), |most: Q, parts| most.max(parts)));
        if !self.has(Part::Mixing) {
            return most;
        }
        let sum = busy.iter().fold(Q::from(0), |sum, parts| sum.plus(parts));
        let schedulers = Q::from(self.r.schedulers.unwrap_or(1));
        let warps = held.times(&self.warps).max(&schedulers);
        // This equals `most + rest * (warps + schedulers) // (2 * warps)`. Here `most` is mainly
        // added, so that intervals of the parts give a close bound.
        let rest = sum.minus(&most).max(&0.into());
        let share = rest.times(&schedulers).floor(&warps);
        sum.plus(&most).plus(&share).floor(&2.into())
    }
}
