//! How a kernel is verified.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How to verify.
pub struct Manner<'a> {
    /// How long a question to the solver may take.
    pub question: Duration,
    /// Ends it when it becomes true.
    pub stop: &'a AtomicBool,
    /// Called now and then with how many obligations are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Whether conditions are wanted that leave out what is refuted.
    pub keep_safe: bool,
}
