//! The profile `resources`: a run time from what a kernel uses of a device's resources.
//!
//! The formulas are those of [`tickbound_model::resource_profile`], in numbers. Every number on the
//! way has at most 63 bits; one that would have more is an error.

mod model;
mod number;
mod result;
mod usage;

use tickbound_expr::{EvalError, Expr};
use tickbound_model::usage::{LineUsage, Usage};
use tickbound_model::{Bound, Problem, Profile};

pub use self::result::{Bottleneck, OccupancyLimit, PARTS, Resource, ResourceTime};
use self::usage::Values;
pub use self::usage::{used, used_of};
use super::engine::Engine;
use super::{SimulateError, SimulateOptions, launch};

/// The time of a configuration.
///
/// # Errors
/// A usage without a value or below 0, or a number beyond 63 bits.
pub fn resource_time(problem: &Problem, bound: &Bound) -> Result<ResourceTime, SimulateError> {
    problem.usage().is_counted()?;
    let used = Values::new(problem, problem.usage(), &bound.env)?;
    let launch = model::launch(problem, bound, used)?.ok_or_else(|| overflow(problem, bound))?;
    let finish = finish(problem, bound)?;
    let time = launch.time.checked_add(finish).ok_or_else(|| overflow(problem, bound))?;
    Ok(ResourceTime { time, finish, ..launch })
}

/// Clocks of the program `finish`: as under `opencl`, at the prices of single accesses.
fn finish(problem: &Problem, bound: &Bound) -> Result<i64, SimulateError> {
    if problem.finish.is_empty() {
        return Ok(0);
    }
    let options = SimulateOptions::default();
    launch::finish(&mut Engine::new(problem, bound, &options)?, 0)
}

fn overflow(problem: &Problem, bound: &Bound) -> SimulateError {
    problem.fault("profile resources", &EvalError::Overflow, &bound.env).into()
}

/// How much each line of the source asks for of what bounds the time of a configuration, in the
/// order of [`Problem::usage_lines`]: parts of a clock that a group would take of the busiest
/// resource if it ran the line alone, bytes of the device's memory, or atomic operations on one
/// address. They tell lines from each other; their sum is not the time. Memory operations for
/// spilled registers are no line's.
pub fn of_lines(
    problem: &Problem,
    bound: &Bound,
    time: &ResourceTime,
) -> Result<Vec<i64>, SimulateError> {
    let of_launch = match time.bottleneck {
        Bottleneck::Dram => Some("dram_bytes"),
        Bottleneck::Contention => Some("shared_atomics"),
        Bottleneck::Unit | Bottleneck::Chain | Bottleneck::Dispatch => None,
    };
    let resource = match time.bottleneck {
        Bottleneck::Chain => Some(Resource::Latency),
        _ => time.busiest(),
    };
    let of = |LineUsage { usage, .. }: &LineUsage| {
        let whole = problem.usage();
        let alone = Usage {
            registers: whole.registers.clone(),
            local_bytes: whole.local_bytes.clone(),
            spill_uses: Expr::Int(0),
            ..usage.clone()
        };
        let values = Values::new(problem, &alone, &bound.env)?;
        if let Some(name) = of_launch {
            return values.get(name).0.ok_or_else(|| overflow(problem, bound));
        }
        let alone = model::launch(problem, bound, values)?;
        let group = alone.ok_or_else(|| overflow(problem, bound))?.group;
        Ok(group.iter().find(|(r, _)| Some(*r) == resource).map_or(0, |(_, parts)| *parts))
    };
    problem.usage_lines().iter().map(of).collect()
}

/// What distinguishes the program of a configuration from others under the profile `resources`:
/// what it uses, the sizes of its launch, and the clocks of `finish`. `None` under other profiles,
/// where every configuration counts as its own program.
///
/// # Errors
/// A usage without a value or below 0.
pub fn program(problem: &Problem, bound: &Bound) -> Result<Option<Vec<i64>>, SimulateError> {
    if problem.profile != Profile::Resources {
        return Ok(None);
    }
    let mut program = used(problem, bound)?;
    program.extend(problem.grid_sizes(&bound.env)?.into_iter().flatten());
    program.push(finish(problem, bound)?);
    Ok(Some(program))
}
