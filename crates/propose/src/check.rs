//! The last check of a proposal: its first, middle and last configurations have a run time.
//!
//! Proposals are read under the profile `opencl`, which takes less. `tune` may take another
//! profile, which needs more of a kernel, so what is proposed is read once more as `tune` reads it.

use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use num_bigint::BigUint;
use serde_json::{Value, json};
use tickbound_elimination::TableLimits;
use tickbound_expr::parse;
use tickbound_model::{Configuration, Problem};
use tickbound_opencl::reading::By;
use tickbound_opencl::{KernelReading, ReadError, ReaderSetup, attach_with, inputs_as_macros};
use tickbound_simulator::{SimulateOptions, simulate};

use crate::Platforms;
use crate::draft::Draft;
use crate::launch::AXES;
use crate::lengths::{Point, fits, points};
use crate::walk::{Arrays, stored, walk, with_ids};

/// Events of the longest simulation; what takes more is not at fault.
const MAX_EVENTS: u64 = 1_000_000;

/// Why a configuration of the problem file has no run time, if one of those that are tried has
/// none.
///
/// # Errors
/// The user or the clock ended it.
pub(crate) fn fault(
    file: &Value,
    folder: &Path,
    platforms: Platforms<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<Option<String>, ReadError> {
    let Ok(problem) = Problem::from_value(file, &IndexMap::new(), platforms) else {
        return Ok(None);
    };
    let space = match problem.configurations(&TableLimits::default()) {
        Ok(space) => space,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let count = space.count().unwrap_or_default();
    let places = [&count / 2_u32, &count - count.clone().min(BigUint::from(1_u32))];
    let others = places.iter().filter_map(|place| space.nth(place));
    for configuration in space.first().into_iter().chain(others).unique() {
        let only = fixed(file, &problem, &configuration);
        match has_time(&only, folder, platforms, setup) {
            Err(stopped @ ReadError::Stopped { .. }) => return Err(stopped),
            Err(error) => return Ok(Some(error.to_string())),
            Ok(()) => {}
        }
    }
    Ok(None)
}

/// Inputs for which all items of a launch are run, in the order in which they are tried.
const SMALL_INPUTS: [i64; 3] = [1024, 256, 64];

/// Adds to the guesses what speaks against the launch: accesses before the start of a buffer, last
/// groups without work, and outputs of which the items leave out much.
pub(crate) fn launch(draft: &mut Draft, problem: &Problem, reading: &KernelReading) {
    let points = points(draft, problem, reading);
    let Some(first) = points.first() else { return };
    let mut doubts = Vec::new();
    for (argument, own) in draft.arguments.iter().zip(&first.variant.parameters) {
        let before =
            |arrays: &Arrays<'_>| arrays.get(own.as_str()).is_some_and(|r| r.surely_before);
        if argument.by == By::Buffer && points.iter().any(|point| before(&point.arrays)) {
            doubts.push(format!("that {} has elements before its first", argument.name));
        }
    }
    for (d, axis) in AXES.iter().enumerate().take(draft.globals.len()) {
        let is_idle = |p: &Point<'_>| {
            walk(draft, &p.variant.steps.body, &p.values, Some(d)).is_some_and(|all| all.is_empty())
        };
        if points.iter().all(is_idle) {
            doubts.push(format!("the global size in {axis}: its last group accesses nothing"));
        }
    }
    // With small inputs those of one configuration are often the same.
    let mut different = points.iter().unique_by(|point| small(draft, point, SMALL_INPUTS[0]));
    doubts.extend(different.find_map(|point| left_out(draft, point)));
    doubts.into_iter().for_each(|doubt| draft.guess(doubt));
}

/// An output of which a launch with small inputs leaves out a quarter or more; less may be a
/// border.
fn left_out(draft: &Draft, point: &Point<'_>) -> Option<String> {
    let (values, stored) = SMALL_INPUTS.into_iter().find_map(|most| {
        let values: IndexMap<String, i64> = small(draft, point, most).into_iter().collect();
        fits(draft, &values).then_some(())?;
        let stored = stored(draft, &point.variant.steps.body, &values)?;
        (!stored.is_empty()).then_some((values, stored))
    })?;
    let arguments = draft.arguments.iter().zip(&point.variant.parameters);
    let mut buffers = arguments.filter(|(argument, _)| argument.by == By::Buffer);
    buffers.find_map(|(argument, own)| {
        let elements = stored.get(own.as_str())?.as_ref()?;
        let length = with_ids(draft, &parse::parse(&argument.value).ok()?, &values)?;
        let length = length.eval(&[]).ok().and_then(|n| usize::try_from(n).ok())?;
        let stored = usize::try_from(elements.values().sum::<i64>()).ok()?;
        let missing = length.saturating_sub(stored / argument.element.bytes());
        (4 * missing >= length.max(1)).then(|| {
            let values = draft.parameters.keys().filter_map(|name| Some((name, values.get(name)?)));
            let values = values.map(|(name, value)| format!(", {name}={value}")).join("");
            let name = &argument.name;
            format!("that {missing} of {length} elements of {name} need no value{values}")
        })
    })
}

/// The values of a point, those of inputs at most this large.
fn small(draft: &Draft, point: &Point<'_>, most: i64) -> Vec<(String, i64)> {
    let most = |name| if draft.inputs.contains_key(name) { most } else { i64::MAX };
    point.values.iter().map(|(name, value)| (name.clone(), *value.min(&most(name)))).collect()
}

/// The problem file with constraints that leave one configuration.
fn fixed(file: &Value, problem: &Problem, configuration: &Configuration) -> Value {
    let mut file = file.clone();
    let names = problem.parameters.iter().map(|p| &p.name);
    let own = names.zip(&configuration.0).map(|(name, value)| json!(format!("{name} == {value}")));
    match file.get_mut("constraints").and_then(Value::as_array_mut) {
        Some(constraints) => constraints.extend(own),
        None => file["constraints"] = own.collect(),
    }
    file
}

/// Simulates the configuration of a problem that has no other.
fn has_time(
    file: &Value,
    folder: &Path,
    platforms: Platforms<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<(), ReadError> {
    let mut problem = Problem::from_value(file, &IndexMap::new(), platforms)?;
    inputs_as_macros(&mut problem, folder);
    attach_with(&mut problem, folder, setup)?;
    // One that cannot be launched is not a configuration.
    let Ok(space) = problem.configurations(&TableLimits::default()) else { return Ok(()) };
    let Some(configuration) = space.first() else { return Ok(()) };
    let bound = space.bind(&configuration)?;
    let options = SimulateOptions { max_events: MAX_EVENTS, ..SimulateOptions::default() };
    match simulate(&problem, &bound, &options) {
        Ok(_) => Ok(()),
        Err(error) if error.is_too_large() => Ok(()),
        Err(error) => {
            let fix = "change the sizes of inputs or the launch".to_owned();
            let (name, what) = ("a configuration".to_owned(), error.to_string());
            Err(ReadError::File { name, what, fix })
        }
    }
}
