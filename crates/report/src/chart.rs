//! Charts of measured numbers: lines or points.
//!
//! Lines run over evenly spaced values, on any scale; points lie on two logarithmic axes.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::{
    BindKeyPoints, ChartBuilder, Circle, EmptyElement, IntoFont, IntoLogRange, IntoSegmentedCoord,
    LineSeries, PathElement, SegmentValue, Text,
};
use plotters::style::colors::colormaps::{ColorMap, ViridisRGB};
use plotters::style::{BLACK, Color, ShapeStyle, WHITE};

use super::error::ReportError;
use super::picture::{self, Area, Drawn, FONT, Picture, line_colour};

/// Width and height of a picture.
const SIZE: (u32, u32) = (860, 520);
/// Most lines that can be distinguished.
pub const MAX_LINES: usize = 12;

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// One line above the picture.
    pub title: String,
    /// What the horizontal axis shows.
    pub x: String,
    /// What the vertical axis shows.
    pub y: String,
    /// What is drawn.
    pub data: ChartData,
}

/// A line's name, and a number above 0 for each value where there is one.
pub type ChartLine = (String, Vec<Option<f64>>);

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum ChartData {
    /// A line for each name.
    Lines {
        /// The values on the horizontal axis, in order.
        values: Vec<i64>,
        /// At most [`MAX_LINES`].
        lines: Vec<ChartLine>,
        /// Of the vertical axis, which otherwise begins at 0.
        logarithmic: bool,
    },
    /// Points with both numbers above 0, on logarithmic axes.
    Points(Vec<(f64, f64)>),
}

impl Chart {
    /// Writes the picture, see [`picture::write`].
    ///
    /// # Errors
    /// Nothing to draw, a failure of the drawing library, or a file that cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ReportError> {
        self.check()?;
        picture::write(self, path.as_ref())
    }

    fn check(&self) -> Result<(), ReportError> {
        let fault = |why: &str| Err(ReportError::data(format!("chart {:?}", self.title), why));
        let numbers: Vec<f64> = match &self.data {
            ChartData::Lines { lines, values, .. } => {
                if lines.len() > MAX_LINES || lines.iter().any(|(_, l)| l.len() != values.len()) {
                    return fault("more lines than can be told apart, or of other lengths");
                }
                if values.is_empty() {
                    return fault("there is nothing to draw");
                }
                lines.iter().flat_map(|(_, line)| line.iter().flatten().copied()).collect()
            }
            ChartData::Points(points) => points.iter().flat_map(|(x, y)| [*x, *y]).collect(),
        };
        match numbers.is_empty() || numbers.iter().any(|n| !n.is_finite() || *n <= 0.0) {
            true => fault("there is nothing to draw, or numbers that are not above 0"),
            false => Ok(()),
        }
    }

    fn draw_lines<Y: AsRangedCoord<Value = f64>>(
        &self,
        area: &Area<'_>,
        values: &[i64],
        lines: &[ChartLine],
        y: Y,
    ) -> Drawn
    where
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let area = area.margin(10, 0, 0, 12).titled(&self.title, (FONT, 20))?;
        let (area, legend) = Legend::beside(&area, lines);
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(76)
            .build_cartesian_2d((0..values.len() - 1).into_segmented(), y)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.15))
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_labels(values.len())
            .x_label_formatter(&|place| value_at(values, place))
            .y_label_formatter(&|n| plain(*n))
            .label_style((FONT, 15))
            .draw()?;
        for (number, (_, line)) in lines.iter().enumerate() {
            let style = stroke(number, lines.len());
            // A gap where there is no number.
            let pieces = line.iter().enumerate().collect::<Vec<_>>();
            for piece in pieces.chunk_by(|a, b| a.1.is_some() == b.1.is_some()) {
                let points =
                    piece.iter().filter_map(|(i, n)| Some((SegmentValue::CenterOf(*i), (**n)?)));
                let points: Vec<_> = points.collect();
                chart.draw_series(LineSeries::new(points.clone(), style))?;
                chart.draw_series(points.into_iter().map(|(x, y)| {
                    EmptyElement::at((x, y)) + Circle::new((0, 0), 3, style.filled())
                }))?;
            }
        }
        legend.draw(lines)
    }

    fn draw_points(&self, area: &Area<'_>, points: &[(f64, f64)]) -> Drawn {
        let range = |of: fn(&(f64, f64)) -> f64| {
            let (least, most) = extent(points.iter().map(of).collect::<Vec<_>>().iter());
            (least * 0.9, most * 1.1)
        };
        let (x, y) = (range(|p| p.0), range(|p| p.1));
        let area = area.margin(10, 0, 0, 12).titled(&self.title, (FONT, 20))?;
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .margin_right(24)
            .x_label_area_size(46)
            .y_label_area_size(76)
            .build_cartesian_2d(
                (x.0..x.1).log_scale().with_key_points(labelled(x)),
                (y.0..y.1).log_scale().with_key_points(labelled(y)),
            )?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.15))
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&|n| plain(*n))
            .y_label_formatter(&|n| plain(*n))
            .label_style((FONT, 15))
            .draw()?;
        let style = line_colour(0).mix(0.55).filled();
        chart.draw_series(spots(points, (x, y)).into_iter().map(|p| Circle::new(p, 3, style)))?;
        Ok(())
    }
}

fn value_at(values: &[i64], place: &SegmentValue<usize>) -> String {
    match place {
        SegmentValue::Exact(i) | SegmentValue::CenterOf(i) => {
            values.get(*i).map_or_else(String::new, i64::to_string)
        }
        SegmentValue::Last => String::new(),
    }
}

/// How many spots points are distinguished at, across and up, where there are more than [`FEW`].
const SPOTS: (f64, f64) = (80.0, 50.0);
/// Most points that are all drawn.
const FEW: usize = 2_000;

/// The first point of each spot, so that many points make no large file; all, if they are few.
fn spots(points: &[(f64, f64)], (x, y): ((f64, f64), (f64, f64))) -> Vec<(f64, f64)> {
    if points.len() <= FEW {
        return points.to_vec();
    }
    let place = |n: f64, (least, most): (f64, f64), of: f64| {
        ((n / least).ln() / (most / least).ln() * of).floor() as i64
    };
    let spot = |p: &(f64, f64)| (place(p.0, x, SPOTS.0), place(p.1, y, SPOTS.1));
    let mut seen = HashSet::new();
    points.iter().copied().filter(|p| seen.insert(spot(p))).collect()
}

impl Picture for Chart {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        area.fill(&WHITE)?;
        match &self.data {
            ChartData::Lines { values, lines, logarithmic } => {
                let (least, most) = extent(lines.iter().flat_map(|(_, l)| l.iter().flatten()));
                match logarithmic {
                    true => {
                        let range = (least * 0.7, most * 1.4);
                        let axis = (range.0..range.1).log_scale();
                        self.draw_lines(area, values, lines, axis.with_key_points(labelled(range)))
                    }
                    false => self.draw_lines(area, values, lines, 0.0..most * 1.08),
                }
            }
            ChartData::Points(points) => self.draw_points(area, points),
        }
    }
}

/// What the lines are called, to the right of them.
struct Legend<'b> {
    area: Area<'b>,
}

impl<'b> Legend<'b> {
    /// Cuts its place off an area.
    fn beside(area: &Area<'b>, lines: &[ChartLine]) -> (Area<'b>, Legend<'b>) {
        let longest = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let (width, _) = area.dim_in_pixel();
        let wanted = 44 + longest as u32 * 8;
        let (left, right) = area.split_horizontally(width.saturating_sub(wanted.min(width / 2)));
        (left, Legend { area: right })
    }

    fn draw(&self, lines: &[ChartLine]) -> Drawn {
        for (number, (label, _)) in lines.iter().enumerate() {
            let (style, y) = (stroke(number, lines.len()), 24 + 22 * number as i32);
            self.area.draw(&PathElement::new([(4, y), (24, y)], style))?;
            let text = (FONT, 15).into_font().color(&BLACK);
            self.area.draw(&Text::new(label.clone(), (30, y - 8), text))?;
        }
        Ok(())
    }
}

/// The stroke of one of this many lines. Lines represent the values of a parameter in order, and so
/// do their colours: viridis, less the end that is too light on white.
fn stroke(number: usize, of: usize) -> ShapeStyle {
    const LIGHTEST: f64 = 0.85;
    let place = number as f64 / of.saturating_sub(1).max(1) as f64;
    ViridisRGB.get_color(place * LIGHTEST).stroke_width(2)
}

/// The least and the greatest of some numbers above 0.
fn extent<'n>(numbers: impl Iterator<Item = &'n f64>) -> (f64, f64) {
    numbers.fold((f64::INFINITY, 0.0), |(a, b), n| (a.min(*n), b.max(*n)))
}

/// The numbers that are written on a logarithmic axis: a readable count for any range.
fn labelled((low, high): (f64, f64)) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let with = |digits: &[f64]| -> Vec<f64> {
        let all = decades.clone().flat_map(|d| digits.iter().map(move |n| n * 10f64.powi(d)));
        all.filter(|n| (low..=high).contains(n)).collect()
    };
    let choices: [&[f64]; 4] = [
        &[1.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        &[
            1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 2.8, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5,
            6.0, 6.5, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5,
        ],
    ];
    let labels = choices.into_iter().map(with).find(|labels| labels.len() >= 4);
    labels.unwrap_or_else(|| vec![low, (low * high).sqrt(), high])
}

/// A number as short as it can be read.
fn plain(number: f64) -> String {
    match number {
        0.0 => "0".to_owned(),
        n if n.abs() >= 1e6 || n.abs() < 1e-4 => format!("{n:.0e}"),
        n => {
            let text = format!("{n:.4}");
            let text = text.trim_end_matches('0').trim_end_matches('.');
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_logarithmic_axes() {
        assert_eq!(labelled((1.0, 20_000.0)), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(labelled((0.9, 12.0)), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(labelled((1.45, 4.1)), [1.5, 2.0, 3.0, 4.0]);
        assert_eq!(labelled((1.0, 1.01)).len(), 3);
        assert!((4..=12).contains(&labelled((0.020, 0.045)).len()));
    }

    #[test]
    fn many_points_are_drawn_as_spots() {
        let points: Vec<(f64, f64)> = (1..=FEW).map(|i| (i as f64, (i * i) as f64)).collect();
        let range = ((0.9, 1.1 * FEW as f64), (0.9, 1.1 * (FEW * FEW) as f64));
        assert_eq!(spots(&points, range), points);
        let twice = [points.clone(), points.clone()].concat();
        let drawn = spots(&twice, range);
        assert!((60..=150).contains(&drawn.len()), "{}", drawn.len());
        assert_eq!((drawn[0], drawn[1]), (points[0], points[1]));
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        let chart = |data| Chart { title: "t".into(), x: "x".into(), y: "y".into(), data };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chart.svg");
        let all = [
            ChartData::Points(vec![]),
            ChartData::Points(vec![(0.0, 1.0)]),
            ChartData::Points(vec![(1.0, f64::NAN)]),
            ChartData::Lines {
                values: vec![],
                lines: vec![("a".into(), vec![])],
                logarithmic: false,
            },
            ChartData::Lines {
                values: vec![1],
                lines: vec![("a".into(), vec![Some(1.0), None])],
                logarithmic: false,
            },
        ];
        for data in all {
            assert!(chart(data.clone()).write(&file).is_err(), "{data:?}");
        }
        let one = ChartData::Lines {
            values: vec![1],
            lines: vec![("a".into(), vec![Some(1.0)])],
            logarithmic: true,
        };
        assert!(chart(one).write(&file).is_ok());
        assert!(chart(ChartData::Points(vec![(1.0, 1.0)])).write(&file).is_ok());
    }
}
