//! A heat map as data.

use crate::error::ReportError;

/// Most values on one axis; more cells than this cannot be distinguished in a picture.
pub const MAX_VALUES: usize = 512;

/// One parameter and the values it was given, in the order they are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The parameter's name.
    pub name: String,
    /// Its values, at least one and at most [`MAX_VALUES`].
    pub values: Vec<i64>,
}

/// The time over two parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeatMap {
    /// One line above the picture.
    pub title: String,
    /// The parameter that runs from left to right.
    pub x: Axis,
    /// The parameter that runs from bottom to top.
    pub y: Axis,
    /// Times in ticks, at least 0: `cells[j][i]` belongs to `y.values[j]` and `x.values[i]`;
    /// `None` where there is no valid configuration.
    pub cells: Vec<Vec<Option<i64>>>,
    /// The cells to outline, as (index into `x.values`, index into `y.values`).
    pub optimum: Vec<(usize, usize)>,
}

impl HeatMap {
    /// Whether it can be drawn.
    pub(super) fn check(&self) -> Result<(), ReportError> {
        let fault = |why: String| Err(ReportError::data(format!("heat map {:?}", self.title), why));
        for axis in [&self.x, &self.y] {
            if !(1..=MAX_VALUES).contains(&axis.values.len()) {
                let count = axis.values.len();
                return fault(format!("`{}` has {count} values, not 1 to {MAX_VALUES}", axis.name));
            }
        }
        let (columns, rows) = (self.x.values.len(), self.y.values.len());
        if self.cells.len() != rows || self.cells.iter().any(|row| row.len() != columns) {
            return fault(format!("the cells are not {rows} rows of {columns}"));
        }
        if let Some(t) = self.cells.iter().flatten().flatten().find(|t| **t < 0) {
            return fault(format!("a time of {t} ticks"));
        }
        match self.optimum.iter().find(|(i, j)| *i >= columns || *j >= rows) {
            Some(cell) => fault(format!("the optimum {cell:?} is no cell")),
            None => Ok(()),
        }
    }

    /// Least and greatest time in the map, in ticks; `None` if no cell has one.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let times = || self.cells.iter().flatten().flatten().copied();
        times().min().zip(times().max())
    }
}
