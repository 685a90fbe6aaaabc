//! Results of the profile `resources`: the time of a launch, and what bounds it.

pub use tickbound_model::resource_profile::{OccupancyLimit, PARTS, Resource};

tickbound_input::named! {
    /// What bounds the time of a launch, beside the resources of a unit.
    pub enum Bottleneck {
        /// The resources of a unit.
        Unit = "unit",
        /// What one group waits for, one step after another.
        Chain = "chain",
        /// The device's memory.
        Dram = "dram",
        /// Atomic operations on one address, in sequence.
        Contention = "contention",
        /// The start of the groups, in sequence.
        Dispatch = "dispatch",
    }
}

/// What the profile `resources` gives for one configuration.
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
