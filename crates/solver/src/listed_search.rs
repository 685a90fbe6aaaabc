//! A question on its way to a result.

use tickbound_encodings::Encoding;
use tickbound_model::verdict::{Status, TimedConfiguration};
use tickbound_model::{Problem, Space};

use crate::bracket::Bracket;
use crate::options::SearchOptions;
use crate::proof::Proof;
use crate::result::{FormulaSize, TuneResult};

/// What is asked, and what is known so far.
pub(crate) struct ListedSearch<'a> {
    pub problem: &'a Problem,
    pub space: &'a Space,
    pub options: &'a SearchOptions,
    pub bracket: &'a Bracket<'a>,
}

/// How a search ended, apart from what the bracket knows.
#[derive(Default)]
pub(crate) struct Outcome {
    pub encoding: Option<Encoding>,
    /// The bracket is closed and the lower bound proved.
    pub finished: bool,
    pub optima: Vec<TimedConfiguration>,
    pub more_optima: bool,
    pub confirmed_uncut: bool,
    pub replayed: bool,
    pub proofs: Vec<Proof>,
    pub checked: Option<u64>,
    pub size: FormulaSize,
}

impl ListedSearch<'_> {
    pub fn result(&self, ending: Outcome) -> TuneResult {
        let bounds = self.bracket.bounds();
        let found = |(c, time): (usize, i64)| TimedConfiguration {
            configuration: self.space.bound[c].configuration.clone(),
            time,
        };
        TuneResult {
            status: if ending.finished { Status::Optimal } else { Status::Bounded },
            upper: bounds.best.map(|(_, time)| time),
            best: ending.optima.first().cloned().or_else(|| bounds.best.map(found)),
            optima: ending.optima,
            more_optima: ending.more_optima,
            configurations: Some(self.space.bound.len().into()),
            proofs: ending.proofs,
            checked: ending.checked,
            encoding: ending.encoding,
            confirmed_uncut: ending.confirmed_uncut,
            replayed: ending.replayed,
            stopped_by: if ending.finished { None } else { self.bracket.stopped_by() },
            size: ending.size,
            ..TuneResult::begun(self.options, self.bracket)
        }
    }
}
