//! The register of encodings: one line each.

use crate::plan::Plan;
use crate::summary::Report;
use crate::system::System;
use crate::{event, summary, tick};

tickbound_model::named! {
    /// A way to make a bounded transition system out of a plan.
    pub enum Encoding: fn(&Plan) -> Encoded {
        /// One step a tick.
        Tick = "tick" => |plan| tick::encode(plan).into(),
        /// One step to the next event.
        Event = "event" => |plan| event::encode(plan).into(),
        /// Loops and lockstep phases closed in max-plus arithmetic.
        Summary = "summary" => summary::encode,
    }
}

impl Encoding {
    /// The transition system of a plan.
    #[must_use]
    pub fn encode(self, plan: &Plan) -> Encoded {
        self.entry()(plan)
    }
}

/// A transition system, and what is known of how it was made.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The system.
    pub system: System,
    /// What became of the program, where the encoding closes pieces of it.
    pub report: Option<Report>,
}

impl Encoded {
    /// True if the whole program was closed: every configuration then ends within
    /// [`CLOSED_STEPS`](crate::summary::CLOSED_STEPS) steps.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.report.is_some_and(|report| report.open == 0)
    }
}

impl From<System> for Encoded {
    fn from(system: System) -> Encoded {
        Encoded { system, report: None }
    }
}
