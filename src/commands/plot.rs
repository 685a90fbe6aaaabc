//! The heat map of time over two parameters.

use super::exit::CliError;
use std::path::PathBuf;

use itertools::Itertools;
use tickbound_elimination::TableLimits;
use tickbound_model::{Problem, Space};
use tickbound_simulator::{SimulateOptions, simulate};

use tickbound_report::heatmap::MAX_VALUES;
use tickbound_report::{Axis, HeatMap};

/// Most configurations that are simulated for a picture.
pub(super) const MAX_CONFIGURATIONS: usize = 20_000;

/// What is to be drawn: found before a search, so that it need not end with a picture that cannot
/// be.
#[derive(Debug)]
pub struct Drawing<'p> {
    problem: &'p Problem,
    space: Space,
    /// The parameter that runs from left to right, and its values.
    x: (usize, Vec<i64>),
    /// The one that runs upwards, if there are two.
    y: Option<(usize, Vec<i64>)>,
}

impl<'p> Drawing<'p> {
    /// Looks at the space: the two parameters with most values are drawn.
    ///
    /// # Errors
    /// There is no parameter or no configuration, or there are too many to draw.
    pub fn of(problem: &'p Problem) -> Result<Drawing<'p>, CliError> {
        let refused = |why: String| Err(CliError::Input(format!("--plot: {why}")));
        let too_many = |count: usize| {
            refused(format!(
                "{} configurations, at most {MAX_CONFIGURATIONS} can be drawn; fix parameters with \
                 --set, or take --html, \
                 which draws the best and a sample",
                count
            ))
        };
        let count = problem.configurations(&TableLimits::default())?.count();
        if let Some(count) =
            count.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > MAX_CONFIGURATIONS)
        {
            return too_many(count);
        }
        let space = problem.space()?;
        if problem.parameters.is_empty() || space.bound.is_empty() {
            return refused("there are no configurations to draw; leave it out".into());
        }
        if space.bound.len() > MAX_CONFIGURATIONS {
            return too_many(space.bound.len());
        }
        let values = |p: usize| {
            let all = space.bound.iter().map(|b| b.configuration.0[p]);
            (p, all.sorted_unstable().dedup().collect::<Vec<i64>>())
        };
        let mut widest: Vec<_> = (0..problem.parameters.len()).map(values).collect();
        widest.sort_by_key(|(_, values)| std::cmp::Reverse(values.len()));
        widest.truncate(2);
        widest.sort_unstable();
        if let Some((p, all)) = widest.iter().find(|(_, all)| all.len() > MAX_VALUES) {
            let (name, count) = (&problem.parameters[*p].name, all.len());
            return refused(format!(
                "{name} has {count} values, at most {MAX_VALUES} can be drawn; leave some out with \
                 --set, or take --html"
            ));
        }
        let mut axes = widest.into_iter();
        let Some(x) = axes.next() else { return refused("there is nothing to draw".into()) };
        Ok(Drawing { problem, x, y: axes.next(), space })
    }

    /// Draws the time, other parameters at their best. Configurations that are too large to
    /// simulate stay empty.
    ///
    /// # Errors
    /// The picture cannot be written.
    pub fn write(&self, path: &str) -> Result<Vec<PathBuf>, CliError> {
        Ok(self.heat_map().write(path)?)
    }

    /// What the picture does not show, in words.
    fn others(&self) -> String {
        let shown = |p: &usize| *p == self.x.0 || self.y.as_ref().is_some_and(|(y, _)| p == y);
        let others = (0..self.problem.parameters.len()).filter(|p| !shown(p));
        let mut varying = others.filter(|p| {
            let values = self.space.bound.iter().map(|b| b.configuration.0[*p]);
            values.unique().nth(1).is_some()
        });
        let names = varying.by_ref().take(4).map(|p| self.problem.parameters[p].name.as_str());
        let names = names.collect::<Vec<_>>();
        match (names.is_empty(), varying.count()) {
            (true, _) => String::new(),
            (_, 0) => format!("; least over {}", names.join(", ")),
            (_, more) => format!("; least over {} and {more} others", names.join(", ")),
        }
    }

    fn heat_map(&self) -> HeatMap {
        let (problem, (x, columns)) = (self.problem, &self.x);
        let rows = self.y.as_ref().map_or_else(|| vec![0], |(_, rows)| rows.clone());
        let mut cells = vec![vec![None; columns.len()]; rows.len()];
        for bound in &self.space.bound {
            let Ok(run) = simulate(problem, bound, &SimulateOptions::default()) else { continue };
            let place = |p: usize, all: &[i64]| all.binary_search(&bound.configuration.0[p]).ok();
            let Some(i) = place(*x, columns) else { continue };
            let Some(j) = self.y.as_ref().map_or(Some(0), |(y, all)| place(*y, all)) else {
                continue;
            };
            let cell: &mut Option<i64> = &mut cells[j][i];
            *cell = Some(cell.map_or(run.time, |t| t.min(run.time)));
        }
        let least = cells.iter().flatten().flatten().min().copied();
        let optimum = (0..rows.len())
            .flat_map(|j| (0..columns.len()).map(move |i| (i, j)))
            .filter(|(i, j)| cells[*j][*i].is_some() && cells[*j][*i] == least)
            .collect();
        let name = |p: usize| problem.parameters[p].name.clone();
        HeatMap {
            title: title(problem) + &self.others(),
            x: Axis { name: name(*x), values: columns.clone() },
            y: Axis {
                name: self.y.as_ref().map_or_else(String::new, |(y, _)| name(*y)),
                values: rows,
            },
            cells,
            optimum,
        }
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
