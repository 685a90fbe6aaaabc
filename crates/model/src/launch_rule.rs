//! What keeps a configuration from being launched, as plain data.

use std::fmt;

use tickbound_expr::{EvalError, Expr};

/// Why a configuration that satisfies the constraints cannot be launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaunchLimit {
    /// The global size is not a multiple of the local size, in some dimension.
    Multiple,
    /// A group has more items than the platform allows.
    GroupSize,
    /// A group is not made of whole rounds of warps (profile `published-2021`).
    WarpRounds,
    /// A group takes more local memory than a unit has.
    LocalMemory,
    /// The source has `reqd_work_group_size` of another group (OpenCL C 3.0, section 6.7.2).
    RequiredGroup,
    /// An expression has no value: a division by zero, or an overflow.
    NoValue,
}

impl LaunchLimit {
    /// All of them.
    pub const ALL: [LaunchLimit; 6] = [
        LaunchLimit::Multiple,
        LaunchLimit::GroupSize,
        LaunchLimit::WarpRounds,
        LaunchLimit::LocalMemory,
        LaunchLimit::RequiredGroup,
        LaunchLimit::NoValue,
    ];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LaunchLimit::Multiple => "multiple",
            LaunchLimit::GroupSize => "max_group_size",
            LaunchLimit::WarpRounds => "warp_rounds",
            LaunchLimit::LocalMemory => "local_memory",
            LaunchLimit::RequiredGroup => "reqd_work_group_size",
            LaunchLimit::NoValue => "no_value",
        }
    }
}

impl fmt::Display for LaunchLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LaunchLimit::Multiple => "the global size is not a multiple of the local size",
            LaunchLimit::GroupSize => "a group exceeds max_group_size",
            LaunchLimit::WarpRounds => "a group is no multiple of warp width times dispatchers",
            LaunchLimit::LocalMemory => "a group exceeds local_memory",
            LaunchLimit::RequiredGroup => "reqd_work_group_size asks for another group",
            LaunchLimit::NoValue => {
                "an expression has no value (a division by zero, or an overflow)"
            }
        })
    }
}

/// What a group needs beside its items, as the source states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupNeeds {
    /// The group that `reqd_work_group_size` requires: items in three dimensions.
    pub required: Option<[Expr; 3]>,
    /// Bytes of local arrays.
    pub local_bytes: Option<Expr>,
}

/// Something that the kernel, its arguments or its source ask of a launch: an expression over
/// parameters that must be true, or, for [`LaunchLimit::NoValue`], that must have a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaunchRule {
    /// Where it comes from.
    pub at: String,
    /// The reason that it is for.
    pub limit: LaunchLimit,
    /// The expression, without definitions.
    pub expr: Expr,
}

impl LaunchRule {
    pub fn new(at: &str, limit: LaunchLimit, expr: Expr) -> LaunchRule {
        LaunchRule { at: at.to_owned(), limit, expr }
    }

    /// Whether the values in `env` break the rule; with the fault, where a value is missing.
    pub fn broken(&self, env: &[i64]) -> Option<Option<EvalError>> {
        match (self.expr.eval(env), self.limit) {
            (Err(fault), LaunchLimit::NoValue) => Some(Some(fault)),
            (Ok(0), limit) if limit != LaunchLimit::NoValue => Some(None),
            _ => None,
        }
    }
}
