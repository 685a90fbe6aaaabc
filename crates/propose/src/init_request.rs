//! What the user knows already.

use std::rc::Rc;

use indexmap::IndexMap;
use tickbound_model::source::Standard;

use crate::capture::CapturedKernel;
use crate::host::HostSources;

/// What the user knows already.
#[derive(Debug, Clone, Default)]
pub struct InitRequest {
    /// The kernel function; needed if the source has several.
    pub entry: Option<String>,
    /// The language; by the source's name and text if it is absent.
    pub language: Option<Standard>,
    /// Source files that stand before the kernel's own, by their names in the problem file.
    pub before: Vec<String>,
    /// Folders for `#include`, the same way.
    pub include: Vec<String>,
    /// Inputs and their values.
    pub inputs: IndexMap<String, i64>,
    /// Tuning parameters and their domains, as in a problem file: `[1, 2, 4]` or `powers_of_two(1,
    /// 8)`.
    pub parameters: IndexMap<String, String>,
    /// Macros that are no parameters, and their text.
    pub defines: IndexMap<String, String>,
    /// Work items in each dimension, as expressions.
    pub global: Vec<String>,
    /// Work items of a group in each dimension, as expressions.
    pub local: Vec<String>,
    /// The platform.
    pub platform: String,
    /// The sources of the host program, which state macros.
    pub host: Rc<HostSources>,
    /// What a program launched of the kernel: then nothing of the launch is a guess.
    pub captured: Option<CapturedKernel>,
}
