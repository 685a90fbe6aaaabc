//! What an export is asked for, and what it gives.

use super::facts::Facts;

tickbound_input::named! {
    /// How a model is written.
    #[derive(Default)]
    pub enum Style {
        /// The processes of the paper: host, device, unit, pex, barrier, clock
        Processes = "processes",
        /// One process, one atomic step from one moment to the next
        #[default]
        Lockstep = "lockstep",
    }
}

/// How to export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromelaOptions {
    /// The style.
    pub style: Style,
}

/// A name of the problem and the one that represents it in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromelaName {
    /// In the problem.
    pub problem: String,
    /// In the Promela text.
    pub promela: String,
}

/// A problem in Promela.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The text.
    pub text: String,
    /// How it is written.
    pub style: Style,
    /// The global variable of each tuning parameter, in the problem's order.
    pub parameters: Vec<PromelaName>,
    /// Most processes that are alive at once, the never claim included.
    pub processes: usize,
    /// At least as many bytes as a state has: the verifier needs `-DVECTORSZ` beyond 1024.
    pub vector_bytes: usize,
    /// No run takes more ticks.
    pub max_time: i64,
    /// Configurations.
    pub configurations: usize,
    /// A configuration can take different times, according to the schedule.
    pub open_schedule: bool,
}

impl Model {
    /// A model with closed schedules.
    pub(super) fn new(
        facts: &Facts<'_>,
        style: Style,
        text: String,
        processes: usize,
        vector_bytes: usize,
    ) -> Model {
        let names = facts.problem.parameters.iter().zip(facts.parameters());
        let parameters = names.map(|(p, promela)| PromelaName { problem: p.name.clone(), promela });
        Model {
            text,
            style,
            parameters: parameters.collect(),
            processes,
            vector_bytes,
            max_time: facts.max_time,
            configurations: facts.space.bound.len(),
            open_schedule: false,
        }
    }
}
