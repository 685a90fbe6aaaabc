//! Results of the profile `resources`: the time of a launch, and what bounds it.

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
