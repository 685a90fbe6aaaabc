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

use plotters::prelude::{BitMapBackend, IntoDrawingArea, SVGBackend};
use plotters::style::{FontStyle, register_font};

use super::ReportError;
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
        self.svg_for(Path::new("the SVG picture"))
    }

    fn svg_for(&self, path: &Path) -> Result<String, ReportError> {
        let layout = self.prepare(path)?;
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, layout.size).into_drawing_area();
            draw::draw(self, &layout, &area, draw::SVG_TEXT_DROP)
                .map_err(|e| ReportError::draw(path, &e))?;
        }
        Ok(text)
    }

    /// Writes the picture as SVG, whatever the extension of `path`.
    ///
    /// # Errors
    /// As for [`HeatMap::svg`], or a file that cannot be written.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        std::fs::write(path, self.svg_for(path)?).map_err(ReportError::write(path))
    }

    /// Writes the picture as PNG. The name must end in `.png`.
    ///
    /// # Errors
    /// Cells that do not match the axes, another extension, a failure of the drawing library, or a
    /// file that cannot be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        if !has_extension(path, "png") {
            return Err(ReportError::draw(path, &"the name of a PNG picture must end in .png"));
        }
        let layout = self.prepare(path)?;
        // The drawing library reports a missing folder as a failed encoding; this says it plainly.
        std::fs::File::create(path).map_err(ReportError::write(path))?;
        let area = BitMapBackend::new(path, layout.size).into_drawing_area();
        draw::draw(self, &layout, &area, draw::BITMAP_TEXT_DROP)
            .map_err(|e| ReportError::draw(path, &e))
    }

    /// Writes the picture in the format that the extension of `path` names (`.svg` or `.png`), or
    /// in both, as `PATH.svg` and `PATH.png`, if it names neither. Returns the files written.
    ///
    /// # Errors
    /// As for [`HeatMap::write_svg`] and [`HeatMap::write_png`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ReportError> {
        let path = path.as_ref();
        if has_extension(path, "svg") {
            self.write_svg(path)?;
            return Ok(vec![path.to_owned()]);
        }
        if has_extension(path, "png") {
            self.write_png(path)?;
            return Ok(vec![path.to_owned()]);
        }
        // Appended, not replaced: `plot.v2` becomes `plot.v2.svg`.
        let with = |extension: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(extension);
            PathBuf::from(name)
        };
        let (svg, png) = (with(".svg"), with(".png"));
        self.write_svg(&svg)?;
        self.write_png(&png)?;
        Ok(vec![svg, png])
    }

    fn prepare(&self, path: &Path) -> Result<Layout, ReportError> {
        self.check()?;
        // The bitmap backend has no fonts of its own, and both backends measure text with one.
        register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
            .map_err(|_| ReportError::draw(path, &"the built-in font cannot be read"))?;
        Ok(Layout::new(self))
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

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}
