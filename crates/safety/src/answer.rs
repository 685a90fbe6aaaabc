//! The answer: for each thing that has to hold, whether it does.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_model::Configuration;
use tickbound_opencl::ast::SourcePlace;

/// What is claimed of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SafetyClaim {
    /// All items of a group reach a barrier, or none.
    Divergence,
    /// An access lies in its array.
    Bounds,
    /// Two accesses of items of one group do not meet between barriers.
    Race,
    /// Two accesses of different groups do not meet.
    RaceOfGroups,
    /// What is read of local memory, an item has written.
    Written,
    /// No number is divided by 0.
    Division,
    /// A signed number fits its type.
    Overflow,
}

impl SafetyClaim {
    /// What a violation is called.
    pub fn fault(self) -> &'static str {
        match self {
            SafetyClaim::Divergence => "barrier not reached by all items of a group",
            SafetyClaim::Bounds => "access out of bounds",
            SafetyClaim::Race => "race of two items of a group",
            SafetyClaim::RaceOfGroups => "race of two groups",
            SafetyClaim::Written => "read of local memory that no item has written",
            SafetyClaim::Division => "division by 0",
            SafetyClaim::Overflow => "overflow of a signed number",
        }
    }
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// It holds for all configurations, sizes, groups and items.
    Proved,
    /// It is not known.
    Undecided,
    /// It does not hold; there is a counterexample.
    Refuted,
}

impl Judgement {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Judgement; 3] = [Judgement::Proved, Judgement::Refuted, Judgement::Undecided];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Proved => "proved",
            Judgement::Undecided => "not decided",
            Judgement::Refuted => "refuted",
        }
    }
}

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodePlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl CodePlace {
    /// A place of a source that was read.
    pub fn new(at: &SourcePlace) -> CodePlace {
        CodePlace { file: at.file.to_string(), line: at.line }
    }
}

/// Values with which something goes wrong, checked by evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Witness {
    /// The whole configuration.
    pub configuration: IndexMap<String, i64>,
    /// Sizes and scalar arguments that matter.
    pub numbers: IndexMap<String, i64>,
    /// The items, one or two.
    pub items: Vec<WitnessItem>,
    /// Bytes of the array that are touched: from, and how many, for each access.
    pub bytes: Vec<(i64, u32)>,
    /// What the array has, if that is known.
    pub length: Option<i64>,
    /// Both store the same number.
    pub same_value: bool,
    /// What buffers hold in it: array, byte and number.
    pub contents: Vec<(String, i64, i64)>,
}

/// An item of a launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WitnessItem {
    /// Its place in its group, by dimension.
    pub local: Vec<i64>,
    /// The place of its group.
    pub group: Vec<i64>,
}

/// Something that has to hold, and whether it does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged {
    /// What is claimed.
    pub claim: SafetyClaim,
    /// The places that it is about.
    pub at: Vec<CodePlace>,
    /// The array.
    pub array: Option<String>,
    /// Whether it holds.
    pub judgement: Judgement,
    /// Why it is not decided.
    pub reason: Option<String>,
    /// What shows that it does not hold.
    pub witness: Option<Witness>,
    /// Different cases that all configurations make of it.
    pub cases: usize,
}

/// What is known of a kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Safety {
    /// What has to hold, in the order of the source.
    pub judged: Vec<Judged>,
    /// What is taken for granted.
    pub assumed: Vec<String>,
    /// Cases that were decided.
    pub cases: usize,
    /// Questions to the solver.
    pub questions: usize,
    /// What was not read: nothing is proved beside it.
    pub unread: Vec<String>,
    /// It was stopped before its end.
    pub stopped: bool,
    /// Conditions on parameters that leave out what is refuted, if they were wanted.
    pub kept: Vec<String>,
    /// Why there are no such conditions.
    pub not_kept: Option<String>,
    /// The configurations that are refuted, by claim, if all were wanted.
    #[serde(skip)]
    pub refuted: Vec<(usize, RefutedValues)>,
}

/// Values of some parameters with which a claim does not hold, for all contents of buffers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RefutedValues {
    /// The parameters, by their places in a configuration.
    pub parameters: Vec<usize>,
    /// Combinations of their values.
    pub values: HashSet<Vec<i64>>,
}

impl Safety {
    /// How many have this judgement.
    pub fn count(&self, judgement: Judgement) -> usize {
        self.judged.iter().filter(|judged| judged.judgement == judgement).count()
    }

    /// The first claim that does not hold for a configuration, for all contents of buffers.
    pub fn refutes(&self, configuration: &Configuration) -> Option<&Judged> {
        let has = |(_, refuted): &&(usize, RefutedValues)| {
            let own: Vec<i64> = refuted.parameters.iter().map(|p| configuration.0[*p]).collect();
            refuted.values.contains(&own)
        };
        self.judged.get(self.refuted.iter().find(has)?.0)
    }

    /// Whether everything is proved.
    pub fn is_proved(&self) -> bool {
        !self.stopped
            && self.unread.is_empty()
            && self.count(Judgement::Proved) == self.judged.len()
    }
}
