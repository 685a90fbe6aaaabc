//! When a command was where.

use serde::Serialize;

/// When a command was where, by the device's clock, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Timing {
    /// It was put into the queue.
    pub queued: u64,
    /// It was given to the device.
    pub submitted: u64,
    /// The device began with it.
    pub started: u64,
    /// The device was done with it.
    pub ended: u64,
}

impl Timing {
    /// Seconds that the device worked.
    pub fn seconds(&self) -> f64 {
        self.ended.saturating_sub(self.started) as f64 * 1e-9
    }
}
