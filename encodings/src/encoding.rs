//! The register of encodings: one line each.

use crate::encoded::{EncodeError, Encoded};
use crate::plan::Plan;
use crate::{event, summary, tick};

tickbound_input::named! {
    /// A way to make a bounded transition system out of a plan.
    #[derive(Default)]
    pub enum Encoding: Entry {
        /// One step a tick.
        Tick = "tick" => Entry { encode: |plan| Ok(tick::encode(plan)?.into()), closes: false },
        /// One step to the next event.
        Event = "event" => Entry { encode: |plan| Ok(event::encode(plan)?.into()), closes: false },
        /// Loops and lockstep phases closed in max-plus arithmetic.
        #[default]
        Summary = "summary" => Entry { encode: summary::encode, closes: true },
    }
}

/// What a name represents.
pub(crate) struct Entry {
    encode: fn(&Plan) -> Result<Encoded, EncodeError>,
    /// It can close a whole program; see [`Encoded::is_closed`].
    closes: bool,
}

impl Encoding {
    /// The transition system of a plan.
    ///
    /// # Errors
    /// A group of a queue without ticks, or a fault of this program.
    pub fn encode(self, plan: &Plan) -> Result<Encoded, EncodeError> {
        (self.entry().encode)(plan)
    }

    /// True if the whole program may be closed; see [`Encoded::is_closed`].
    pub fn closes(self) -> bool {
        self.entry().closes
    }
}
