//! A question on its way to a result.

use tickbound_encodings::Encoding;
use tickbound_model::verdict::{Found, Status};
use tickbound_model::{Problem, Space};

use crate::bracket::Bracket;
use crate::options::Options;
use crate::proof::Proof;
use crate::result::{Size, TuneResult};

/// What is asked, and what is known so far.
pub(crate) struct Inquiry<'a> {
    pub problem: &'a Problem,
    pub space: &'a Space,
    pub options: &'a Options,
    pub bracket: &'a Bracket<'a>,
}

/// How a search ended, apart from what the bracket knows.
#[derive(Default)]
pub(crate) struct Ending {
    pub encoding: Option<Encoding>,
    /// The bracket is closed and the lower bound proved.
    pub finished: bool,
    pub optima: Vec<Found>,
    pub more_optima: bool,
    pub confirmed_uncut: bool,
    pub replayed: bool,
    pub proofs: Vec<Proof>,
    pub checked: Option<u64>,
    pub size: Size,
}

impl Inquiry<'_> {
    pub fn result(&self, ending: Ending) -> TuneResult {
        let bounds = self.bracket.bounds();
        let found = |(c, time): (usize, i64)| Found {
            configuration: self.space.bound[c].configuration.clone(),
            time,
        };
        TuneResult {
            status: if ending.finished { Status::Optimal } else { Status::Bounded },
            lower: bounds.lower,
            upper: bounds.best.map(|(_, time)| time),
            best: ending.optima.first().cloned().or_else(|| bounds.best.map(found)),
            optima: ending.optima,
            more_optima: ending.more_optima,
            optima_count: None,
            next: None,
            indifferent: Vec::new(),
            configurations: Some(self.space.bound.len().into()),
            proofs: ending.proofs,
            checked: ending.checked,
            encoding: ending.encoding,
            strategy: self.options.strategy,
            objective: self.options.objective,
            schedule: None,
            solver_calls: self.bracket.calls(),
            confirmed_uncut: ending.confirmed_uncut,
            replayed: ending.replayed,
            seconds: self.bracket.seconds(),
            stopped_by: if ending.finished { None } else { self.bracket.stopped_by() },
            size: ending.size,
        }
    }
}
