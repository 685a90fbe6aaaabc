//! Results of searches of direct forms.

/// What is known while a form is searched.
#[derive(Debug, Clone, Copy)]
pub struct Known<'k> {
    /// No assignment costs less.
    pub lower: i64,
    /// The best assignment so far, and its cost.
    pub best: Option<(&'k [u32], i64)>,
}

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solved {
    /// Nothing costs less than the best; if there is none, nothing is allowed.
    pub proved: bool,
    /// The best cost, and an assignment that has it.
    pub best: Option<(i64, Vec<u32>)>,
    /// Labels of all passes, or boxes of the search over pairs.
    pub steps: u64,
}

/// The assignments that cost little.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Near {
    /// Their costs and they, the least cost first.
    pub all: Vec<(i64, Vec<u32>)>,
    /// None was left out.
    pub whole: bool,
}

/// Why nothing costs less than some number: prices and labels, for a checker that computes the
/// bounds anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelCover {
    /// The variables in a sequence.
    pub order: Vec<usize>,
    /// The price of each accumulator, in units of a 1024th of the cost.
    pub prices: Vec<i64>,
    /// After each variable of the sequence the labels: the values of its live variables, in the
    /// order of the sequence, and those of the accumulators. What may cost less is covered by one.
    pub labels: Vec<Vec<(Vec<u32>, Vec<i64>)>>,
}
