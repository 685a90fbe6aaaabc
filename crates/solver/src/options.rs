//! How to search.

use std::time::{Duration, Instant};

use tickbound_encodings::Encoding;

use crate::strategy::Strategy;

tickbound_input::named! {
    /// What is best.
    #[derive(Default)]
    pub enum Objective {
        /// The least time over configurations and schedules.
        #[default]
        Best = "best",
        /// The greatest time over schedules, for the configuration where the best case is least.
        Worst = "worst",
        /// The configuration whose worst case is least.
        Robust = "robust",
    }
}

/// How to search.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// The encoding; `None` chooses `summary`.
    pub encoding: Option<Encoding>,
    /// The strategy.
    pub strategy: Strategy,
    /// What is best. Without open schedules all objectives are the same.
    pub objective: Objective,
    /// List at least this many of the best configurations.
    pub top: usize,
    /// Stop after this time.
    pub timeout: Option<Duration>,
    /// When that time began; `None`: with the search.
    pub since: Option<Instant>,
    /// What the random choice of configurations depends on that are simulated as a check.
    pub seed: u64,
    /// Use lower bounds, probes and cuts. Without them the search starts from 0 and the time of the
    /// first configuration, as the papers do; `bisect-fresh` always does.
    pub bounds: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            encoding: None,
            strategy: Strategy::Race,
            objective: Objective::Best,
            top: 0,
            timeout: None,
            since: None,
            seed: 0,
            bounds: true,
        }
    }
}
