//! The heat map of time over two parameters.

use super::exit::CliError;
use std::path::PathBuf;

use tickbound_model::simulate::{Options, simulate};
use tickbound_model::{Problem, Space};

use crate::report::{Axis, HeatMap};

/// Most configurations that are simulated for a picture.
pub(super) const MAX_CONFIGURATIONS: usize = 20_000;

/// Draws the time over the two parameters with most values; other parameters are at their best.
/// Configurations that are too large to simulate stay empty.
///
/// # Errors
/// If there is no parameter, the space is too large, or the picture cannot be written.
pub fn write(problem: &Problem, path: &str) -> Result<Vec<PathBuf>, CliError> {
    let space = problem.space()?;
    if problem.parameters.is_empty() || space.bound.is_empty() {
        return Err(CliError::Input("--plot: there are no configurations to draw".into()));
    }
    if space.bound.len() > MAX_CONFIGURATIONS {
        return Err(CliError::Input(format!(
            "--plot: {} configurations, at most {MAX_CONFIGURATIONS} can be drawn; fix parameters with --set",
            space.bound.len()
        )));
    }
    Ok(heat_map(problem, &space).write(path)?)
}

fn heat_map(problem: &Problem, space: &Space) -> HeatMap {
    let values: Vec<Vec<i64>> = (0..problem.parameters.len())
        .map(|p| {
            let mut values: Vec<i64> = space.bound.iter().map(|b| b.configuration.0[p]).collect();
            values.sort_unstable();
            values.dedup();
            values
        })
        .collect();
    let mut widest: Vec<usize> = (0..values.len()).collect();
    widest.sort_by_key(|p| std::cmp::Reverse(values[*p].len()));
    widest.truncate(2);
    widest.sort_unstable();
    let (x, y) = (widest[0], widest.get(1).copied());
    let rows = y.map_or_else(|| vec![0], |y| values[y].clone());
    let mut cells = vec![vec![None; values[x].len()]; rows.len()];
    for bound in &space.bound {
        let Ok(run) = simulate(problem, bound, &Options::default()) else { continue };
        let place = |p: usize, all: &[i64]| all.binary_search(&bound.configuration.0[p]).ok();
        let Some(i) = place(x, &values[x]) else { continue };
        let Some(j) = y.map_or(Some(0), |y| place(y, &rows)) else { continue };
        let cell: &mut Option<i64> = &mut cells[j][i];
        *cell = Some(cell.map_or(run.time, |t| t.min(run.time)));
    }
    let least = cells.iter().flatten().flatten().min().copied();
    let optimum = (0..rows.len())
        .flat_map(|j| (0..values[x].len()).map(move |i| (i, j)))
        .filter(|(i, j)| cells[*j][*i].is_some() && cells[*j][*i] == least)
        .collect();
    HeatMap {
        title: title(problem),
        x: Axis { name: problem.parameters[x].name.clone(), values: values[x].clone() },
        y: Axis {
            name: y.map_or_else(String::new, |y| problem.parameters[y].name.clone()),
            values: rows,
        },
        cells,
        optimum,
    }
}

fn title(problem: &Problem) -> String {
    let inputs: Vec<String> = problem.inputs.iter().map(|(n, v)| format!("{n}={v}")).collect();
    if inputs.is_empty() {
        problem.name.clone()
    } else {
        format!("{}, {}", problem.name, inputs.join(", "))
    }
}
