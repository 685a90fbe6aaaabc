//! A question on its way to a result.

use tickbound_model::verdict::TimedConfiguration;
use tickbound_model::{Problem, Space};

use crate::bracket::Bracket;
use crate::options::SearchOptions;
use crate::result::TuneResult;

/// What is asked, and what is known so far.
pub(crate) struct ListedSearch<'a> {
    pub problem: &'a Problem,
    pub space: &'a Space,
    pub options: &'a SearchOptions,
    pub bracket: &'a Bracket<'a>,
}

impl ListedSearch<'_> {
    /// The result with what the space and the bracket know.
    pub fn result(&self, ending: TuneResult) -> TuneResult {
        let bounds = self.bracket.bounds();
        let found = |(c, time): (usize, i64)| TimedConfiguration {
            configuration: self.space.bound[c].configuration.clone(),
            time,
        };
        TuneResult {
            upper: bounds.best.map(|(_, time)| time),
            best: ending.optima.first().cloned().or_else(|| bounds.best.map(found)),
            configurations: Some(self.space.bound.len().into()),
            ..ending.searched(self.options, self.bracket)
        }
    }
}
