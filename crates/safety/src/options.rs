//! How a kernel is verified.

use std::time::Duration;

use tickbound_model::Configuration;

/// Whether the work is to end.
pub type StopCheck<'a> = &'a (dyn Fn() -> bool + Sync);

/// How to verify.
pub struct VerifyOptions<'a> {
    /// How long a question to the solver may take.
    pub question: Duration,
    /// Ends it when it becomes true.
    pub stop: StopCheck<'a>,
    /// Called now and then with how many obligations are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// The configurations that are verified; `None`: all of the space.
    pub among: Option<&'a [Configuration]>,
    /// Whether all refuted configurations are found, not only the first one of each claim.
    pub all_refuted: bool,
    /// Whether a certificate of what is proved is wanted.
    pub certificate: bool,
}
