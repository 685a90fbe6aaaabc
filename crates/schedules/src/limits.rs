//! How much an exploration may do, and what it did not have to do.

/// How much work an exploration may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleLimits {
    /// Most different states, without places in the program. One takes about 300 bytes.
    pub max_states: usize,
    /// Most visits of a state with its places in the program; some ten million fit in a second.
    pub max_visits: u64,
    /// Most visits with both ends at once, if that is less than a quarter of all. After them each
    /// end is looked for by itself, with half of all visits, among the runs that may come to it;
    /// then again both.
    pub max_together: u64,
    /// Longest period, in groups, of a queue that repeats itself; with 0 every group is examined.
    pub max_period: usize,
    /// Most visits and starts of segments for which schedules are recorded; 100 bytes each.
    pub max_recorded: u64,
}

impl Default for ScheduleLimits {
    fn default() -> Self {
        ScheduleLimits {
            max_states: 4_000_000,
            max_visits: 2_000_000_000,
            max_together: 64_000_000,
            max_period: 8,
            max_recorded: 5_000_000,
        }
    }
}

/// Groups that were passed because the schedule of those before repeats itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// After this many groups everything is as before, but later.
    pub period: u64,
    /// This many groups were passed.
    pub groups: u64,
    /// Ticks that a period takes under the best schedules.
    pub least: i64,
    /// Ticks that a period takes under the worst schedules.
    pub greatest: i64,
}
