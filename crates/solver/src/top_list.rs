//! The best configurations found so far.

use tickbound_model::verdict::TimedConfiguration;

/// A certain number of configurations with the least times, and all that take the least time of
/// all; the least time first, of equal ones the one that was found first.
#[derive(Debug)]
pub(crate) struct TopList {
    top: usize,
    least: i64,
    found: Vec<TimedConfiguration>,
}

impl TopList {
    /// An empty list for `top` configurations, where `least` is the least time of all.
    pub fn new(top: usize, least: i64) -> TopList {
        TopList { top, least, found: Vec::new() }
    }

    /// What takes longer does not come onto the list.
    pub fn worst(&self) -> i64 {
        let Some(last) = self.top.checked_sub(1) else { return self.least };
        self.found.get(last).map_or(i64::MAX, |found| found.time.max(self.least))
    }

    /// How many on the list take the least time.
    pub fn optimal(&self) -> usize {
        self.found.partition_point(|found| found.time <= self.least)
    }

    /// Puts a configuration onto the list if it belongs there, and drops what does not any more.
    pub fn add(&mut self, found: TimedConfiguration) {
        let place = self.found.partition_point(|f| f.time <= found.time);
        self.found.insert(place, found);
        self.found.truncate(self.top.max(self.optimal()));
    }

    /// The list, of the optimal ones at most `optima` unless `top` allows more.
    pub fn into_found(mut self, optima: usize) -> Vec<TimedConfiguration> {
        self.found.truncate(self.top.max(optima));
        self.found
    }
}
