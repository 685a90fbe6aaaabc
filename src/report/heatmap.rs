//! A heat map: the time of every configuration over two parameters.
//!
//! Colours run from dark (least time) to light (greatest) along viridis, which keeps its order in
//! greyscale and for colour-blind readers, on a logarithmic scale, because times of a tuning space
//! span several powers of ten. Cells without a valid configuration are grey; the optima are
//! outlined in white and black, which shows on every colour.
//!
//! ```
//! use tickbound::report::{Axis, HeatMap};
//!
//! let map = HeatMap {
//!     title: "abstract kernel, size 8".into(),
//!     x: Axis { name: "WG".into(), values: vec![4] },
//!     y: Axis { name: "TS".into(), values: vec![2, 4] },
//!     cells: vec![vec![Some(44)], vec![Some(44)]],
//!     optimum: vec![(0, 0), (0, 1)],
//! };
//! assert!(map.svg().unwrap().starts_with("<svg"));
//! ```

use std::path::{Path, PathBuf};

use plotters::prelude::DrawingBackend;

use super::ReportError;
use super::picture::{self, Area, Drawn, Picture};
use layout::Layout;

mod draw;
mod layout;

/// Most values on one axis; more cells than this cannot be told apart in a picture.
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
    /// The picture as SVG text.
    ///
    /// # Errors
    /// Cells that do not match the axes, or a failure of the drawing library.
    pub fn svg(&self) -> Result<String, ReportError> {
        self.check()?;
        let drawing = Drawing { map: self, layout: Layout::new(self) };
        picture::svg(&drawing, Path::new("the SVG picture"))
    }

    /// Writes the picture, see [`picture::write`].
    ///
    /// # Errors
    /// As for [`HeatMap::svg`], or a file that cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ReportError> {
        self.check()?;
        picture::write(&Drawing { map: self, layout: Layout::new(self) }, path.as_ref())
    }

    fn check(&self) -> Result<(), ReportError> {
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
    #[must_use]
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let times = || self.cells.iter().flatten().flatten().copied();
        times().min().zip(times().max())
    }
}

/// A heat map and where everything in it goes.
struct Drawing<'a> {
    map: &'a HeatMap,
    layout: Layout,
}

impl Picture for Drawing<'_> {
    fn size(&self) -> (u32, u32) {
        self.layout.size
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, drop: f64) -> Drawn<DB> {
        draw::draw(self.map, &self.layout, area, drop)
    }
}
