//! What `verify` answers, as data.

use serde::{Deserialize, Serialize};
use tickbound_safety::answer::Safety;

use super::about::About;

/// The object that `verify` prints with `--json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verified {
    /// What it is about.
    pub about: About,
    /// What holds for all configurations, and what does not.
    #[serde(flatten)]
    pub safety: Safety,
}
