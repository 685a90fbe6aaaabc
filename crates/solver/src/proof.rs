//! Who has proved that nothing is faster.

/// What has proved that nothing is faster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// The simulator has run every configuration.
    Simulation {
        /// How many there are.
        configurations: u64,
    },
    /// Every configuration was simulated or has a lower bound that is not below the least time.
    Bounds,
    /// Elimination over a join tree.
    Elimination {
        /// Rows of all relations and messages.
        rows: u64,
        /// The tables were exact; else they were lower bounds, and the rest was simulated.
        exact: bool,
    },
    /// Elimination with prices and labels.
    Labels {
        /// How many labels there were; 0 where prices alone were enough.
        labels: u64,
    },
    /// Branch and bound over boxes.
    Branching {
        /// How many boxes were examined.
        boxes: u64,
    },
    /// Elimination too, of the time as it was derived a second way.
    SecondDerivation {
        /// Rows of all relations and messages.
        rows: u64,
    },
    /// Z3 has refuted one tick less.
    Z3 {
        /// What the formula states: space and cost as they are, or a list of configurations.
        listed: bool,
        /// Constants and assertions.
        size: u64,
    },
}

impl Proof {
    /// The prover's name in answers.
    pub fn name(&self) -> &'static str {
        match self {
            Proof::Simulation { .. } => "simulation",
            Proof::Bounds => "bounds",
            Proof::Elimination { .. } => "elimination",
            Proof::Labels { .. } => "labels",
            Proof::Branching { .. } => "branching",
            Proof::SecondDerivation { .. } => "second-derivation",
            Proof::Z3 { .. } => "z3",
        }
    }
}
