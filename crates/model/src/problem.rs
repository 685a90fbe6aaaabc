//! A tuning problem: platform, parameters, constraints, launch and kernel program.
//!
//! [`Problem::from_json`] reads one.

use indexmap::IndexMap;
use serde_json::Value;

use super::error::ModelError;
use super::kernel::Program;
use super::launch_rule::{GroupNeeds, LaunchRule};
use super::platform::Platform;
use super::resources::Part;
use super::scope::Scope;
use super::source::KernelSource;
use super::usage::{LineUsage, Usage};
use tickbound_expr::Expr;
use tickbound_expr::domain::Domain;

/// The version of the problem format that this crate reads.
pub const FORMAT_VERSION: i64 = 1;

tickbound_input::named! {
    /// Which semantics the platform has; see `docs/semantics.md`.
    pub enum Profile {
        /// OpenCL: every group once, code between barriers is a phase.
        OpenCl = "opencl",
        /// Garanina, Staroletov, Gorlatch 2023 (seed 000): one unit, activated several times.
        Published2023 = "published-2023",
        /// Garanina, Gorlatch 2021 (seed 001): multiprocessors with dispatchers that run warps.
        Published2021 = "published-2021",
        /// What the kernel uses of a device's resources, instead of what its items do in sequence.
        Resources = "resources",
    }
}

/// A tuning parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The values it ranges over; may depend on inputs, the platform and earlier parameters.
    pub domain: Domain,
}

/// A constraint: an expression that must hold, with `/` exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceConstraint {
    /// As it was written.
    pub text: String,
    /// The expression.
    pub expr: Expr,
}

/// How the kernel is launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// All profiles but `published-2023`: an index space cut into groups.
    Range {
        /// Work items in the launch.
        global_size: Expr,
        /// Work items in a group.
        local_size: Expr,
    },
    /// `published-2023`: one unit, activated several times.
    Activations {
        /// Work items in a group.
        local_size: Expr,
        /// How often the unit is activated.
        activations: Expr,
    },
}

/// One dimension of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// Work items of the launch along it.
    pub global: Expr,
    /// Work items of a group along it.
    pub local: Expr,
}

/// A named set of input values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSize {
    /// Values of some of the inputs.
    pub inputs: IndexMap<String, i64>,
    /// How often the kernel is launched with them, at least 1.
    pub weight: i64,
}

impl Launch {
    /// Work items in a group.
    pub fn local_size(&self) -> &Expr {
        match self {
            Launch::Range { local_size, .. } | Launch::Activations { local_size, .. } => local_size,
        }
    }
}

/// A tuning problem that has passed all checks that need no configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What people call it.
    pub name: String,
    /// The semantics.
    pub profile: Profile,
    /// The platform.
    pub platform: Platform,
    /// All names.
    pub scope: Scope,
    /// Values of the inputs, in slot order.
    pub inputs: IndexMap<String, i64>,
    /// The parameters, in slot order.
    pub parameters: Vec<Parameter>,
    /// What must hold between them.
    pub constraints: Vec<SpaceConstraint>,
    /// Named expressions, each over the names before it.
    pub definitions: Vec<(String, Expr)>,
    /// How the kernel is launched.
    pub launch: Launch,
    /// Sizes of the launch by dimension, global and local, where it has more than the products in
    /// `launch`: one to three for `opencl`, none for the other profiles.
    pub grid: Vec<Dimension>,
    /// Named sets of input values.
    pub sizes: IndexMap<String, NamedSize>,
    /// The kernel in OpenCL C, if the file names one. Its `kernel` is empty until the reader
    /// the source calls [`Problem::set_kernel`].
    pub source: Option<KernelSource>,
    /// What each work item does.
    pub kernel: Program,
    /// What element 0 of one unit does once, after everything else.
    pub finish: Program,
    /// Parts of the profile `resources` that are left out.
    pub without: Vec<Part>,
    pub(crate) usage: Usage,
    /// What a group needs, as the source states it.
    pub(crate) group_needs: GroupNeeds,
    /// What the kernel, its arguments and its source ask of a launch.
    pub(crate) launch_rules: Vec<LaunchRule>,
    /// Names of the usage that the file states.
    pub(crate) stated_usage: Vec<&'static str>,
    /// The usage by lines of the source, where it was counted in one.
    pub(crate) usage_lines: Vec<LineUsage>,
}

/// Finds a platform that a problem names instead of writing out.
pub type PlatformLookup<'a> = &'a dyn Fn(&str) -> Result<Value, ModelError>;

/// Reads JSON text.
///
/// # Errors
/// Where it is not JSON.
pub fn parse_json(text: &str) -> Result<Value, ModelError> {
    tickbound_input::json(text).map_err(|e| {
        let at = format!("line {}, column {}", e.line(), e.column());
        let said = e.to_string();
        // A key that is there twice; any value is one.
        match said.rsplit_once(" at line ") {
            Some((twice, _)) if e.is_data() => ModelError::new(at, twice, "remove one of the two"),
            _ => ModelError::new(at, format!("not JSON: {said}"), "see docs/problem-format.md"),
        }
    })
}

impl Problem {
    /// The same problem without `finish`, what the host does after the launch: what a device times.
    #[must_use]
    pub fn kernel_alone(mut self) -> Problem {
        self.finish.clear();
        self
    }

    /// What the kernel uses of a device.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Whether a number of the usage was counted in the source, and not stated in the file.
    pub fn counts_usage(&self, name: &str) -> bool {
        self.source.is_some() && !self.stated_usage.contains(&name)
    }

    /// What each line of the source adds to the usage, where that was counted in one.
    pub fn usage_lines(&self) -> &[LineUsage] {
        &self.usage_lines
    }

    /// First slot of the parameters.
    pub fn first_parameter(&self) -> usize {
        self.inputs.len() + self.platform.numbers().len()
    }

    /// First slot of the definitions.
    pub fn first_definition(&self) -> usize {
        self.first_parameter() + self.parameters.len()
    }

    /// True if warps compete for dispatchers and memory, so that times depend on the schedule.
    pub fn has_open_schedule(&self) -> bool {
        self.profile == Profile::OpenCl && self.platform.warps().is_some()
    }

    /// First slot of `lid`, `gid` and `group`.
    pub fn first_item_slot(&self) -> usize {
        self.first_definition() + self.definitions.len()
    }
}
