//! What is to be done with a product in blocks, and what came of it.

use std::path::Path;

use tickbound_reo::check::LtlFormula;
use tickbound_reo::connector::Connector;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::dense::{BlockColumns, CellTally};
use tickbound_reo::symbol::NameId;
use tickbound_reo_opencl::{Clause, clauses};

use crate::meter::StreamObserver;

/// What is to be done with the product of a connector's parts.
#[derive(Clone, Copy)]
pub struct StreamJob<'a> {
    /// The connector.
    pub connector: &'a Connector,
    /// Bytes of the cells that are made at once; of a reachable product, of the steps of a file.
    pub block: u64,
    /// Formulas on the names that fire in a step: steps that break one are counted.
    pub invariants: &'a [String],
    /// The folder to write to.
    pub dataset: Option<&'a Path>,
    /// A formula on the names of the steps that are written.
    pub filter: Option<&'a str>,
    /// Memory, and whether to go on.
    pub limits: &'a ProductLimits<'a>,
    /// Receives the progress.
    pub observer: &'a dyn StreamObserver,
}

/// What came of a product in blocks.
#[derive(Debug, Clone)]
pub struct Streamed {
    /// Of the blocks that were made, or were there.
    pub tally: CellTally,
    /// How many names the product has.
    pub names: usize,
    /// Whether each state's idle loop is among the steps.
    pub idle: bool,
    /// How much of it was made.
    pub extent: StreamExtent,
    /// The names that fire in the first step that breaks a condition.
    pub broken: Option<Vec<NameId>>,
    /// Whether there was a condition.
    pub conditional: bool,
}

/// How much of a product was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamExtent {
    /// All of a product of which that was not known before, or not.
    Search {
        /// Levels counted on a device; there, states are not numbered and have no checksum.
        levels: Option<u64>,
        /// Whether it is all.
        complete: bool,
    },
    /// Of blocks and states that are known before.
    Blocks {
        /// Blocks that are there.
        done: usize,
        /// Blocks of the product.
        blocks: usize,
        /// States of the product.
        states: usize,
    },
}

impl Streamed {
    /// Whether every block was made.
    pub fn is_complete(&self) -> bool {
        match self.extent {
            StreamExtent::Search { complete, .. } => complete,
            StreamExtent::Blocks { done, blocks, .. } => done == blocks,
        }
    }

    /// Whether nothing was found that should not be.
    pub fn is_good(&self) -> bool {
        self.is_complete() && self.tally.broken == 0
    }

    /// Transitions without idle loops, of which each state has one.
    pub fn transitions(&self) -> u64 {
        self.tally.checksum.steps - if self.idle { self.tally.states } else { 0 }
    }
}

/// The formulas of a job, over the alphabet of its product.
pub(crate) struct Conditions<'p> {
    pub(crate) alphabet: &'p [NameId],
    pub(crate) invariants: Vec<LtlFormula>,
    pub(crate) filter: Option<LtlFormula>,
}

impl Conditions<'_> {
    pub(crate) fn hold(&self, label: u64) -> bool {
        self.invariants.iter().all(|formula| self.holds(formula, label))
    }

    /// Clauses: a step keeps all invariants if it fulfils one; `None` for too many names.
    pub(crate) fn clauses(&self) -> Option<Vec<Clause>> {
        clauses(&self.invariants, self.alphabet)
    }

    pub(crate) fn is_some(&self) -> bool {
        !self.invariants.is_empty()
    }

    /// Keeps the steps that are written.
    pub(crate) fn keep(&self, columns: &mut BlockColumns) {
        if let Some(filter) = &self.filter {
            columns.keep(&|label| self.holds(filter, label));
        }
    }

    fn holds(&self, formula: &LtlFormula, label: u64) -> bool {
        let bit = |name| self.alphabet.binary_search(&name);
        formula.holds(&|name| bit(name).is_ok_and(|bit| label >> bit & 1 == 1))
    }
}
