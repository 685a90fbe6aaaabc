//! The options of a search, which `tune` and `why` share.

use tickbound_solver::{Encoding, SearchOptions, Strategy};

use super::exit::CliError;
use super::stop::{self, Stops};
use super::values::{OrAuto, named, or_auto};

/// How the least time is searched for.
#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// How time is encoded; auto takes summary
    #[arg(
        long, value_parser = or_auto::<Encoding>(), default_value = "auto", help_heading = "Search"
    )]
    encoding: OrAuto<Encoding>,
    /// How the least time is searched for
    #[arg(
        long, value_parser = named::<Strategy>(), default_value = "race", help_heading = "Search"
    )]
    strategy: Strategy,
    #[command(flatten)]
    stops: Stops,
    /// What the random choice of configurations depends on that are simulated as a check
    #[arg(long, value_name = "SEED", default_value_t = 0, help_heading = "Search")]
    pub seed: u64,
}

impl SearchArgs {
    /// The options of the search; from now on time and memory are watched.
    ///
    /// # Errors
    /// The time is no length of time.
    pub fn options(&self) -> Result<SearchOptions, CliError> {
        Ok(SearchOptions {
            encoding: self.encoding,
            strategy: self.strategy,
            timeout: self.stops.watched()?,
            since: Some(stop::began()),
            seed: self.seed,
            ..SearchOptions::default()
        })
    }
}
