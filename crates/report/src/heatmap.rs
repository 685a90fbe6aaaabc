//! A heat map: the time of every configuration over two parameters.
//!
//! Colours run from dark (least time) to light (greatest) along viridis, which keeps its order in
//! greyscale and for colour-blind readers, on a logarithmic scale, because times of a tuning space
//! span several powers of ten. Cells without a valid configuration are grey; the optima are
//! outlined in white and black, which shows on every colour.
//!
//! ```
//! use tickbound_report::{Axis, HeatMap};
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

use super::error::ReportError;
use super::picture::{self, Area, Drawn, Picture};
use layout::Layout;

mod draw;
mod layout;
mod map;

pub use map::{Axis, HeatMap, MAX_VALUES};

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
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ReportError> {
        self.check()?;
        picture::write(&Drawing { map: self, layout: Layout::new(self) }, path.as_ref())
    }
}

struct Drawing<'a> {
    map: &'a HeatMap,
    layout: Layout,
}

impl Picture for Drawing<'_> {
    fn size(&self) -> (u32, u32) {
        self.layout.size
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        draw::draw(self.map, &self.layout, area)
    }
}
