//! Charts of measured numbers: lines or points, in colours that colour-blind readers can tell apart.
//!
//! Lines run over the values of a parameter, evenly spaced, whatever the values are; points lie on
//! two logarithmic axes.

use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::{
    BindKeyPoints, BitMapBackend, ChartBuilder, Circle, DrawingArea, DrawingAreaErrorKind,
    DrawingBackend, EmptyElement, IntoDrawingArea, IntoFont, IntoLogRange, IntoSegmentedCoord,
    LineSeries, PathElement, SVGBackend, SegmentValue, Text,
};
use plotters::style::{BLACK, Color, FontStyle, RGBColor, ShapeStyle, WHITE, register_font};

use super::ReportError;

/// Width and height of a picture.
const SIZE: (u32, u32) = (860, 520);
/// Most lines that can be told apart.
pub const MAX_LINES: usize = 12;

/// Colours after Okabe and Ito, then the same ones darker.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 148, 108),
    RGBColor(190, 92, 150),
    RGBColor(150, 118, 0),
    RGBColor(66, 150, 200),
    RGBColor(118, 118, 118),
];

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
    pub shape: Shape,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A line for each name; the vertical axis begins at 0.
    Lines {
        /// The values on the horizontal axis, in order.
        values: Vec<i64>,
        /// Names, and a number above 0 for each value where there is one.
        lines: Vec<(String, Vec<Option<f64>>)>,
    },
    /// Points with both numbers above 0, on logarithmic axes.
    Points(Vec<(f64, f64)>),
}

type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

impl Chart {
    /// Writes the picture in the format that the extension of `path` names (`.svg` or `.png`), or in
    /// both, as `PATH.svg` and `PATH.png`, if it names neither. Returns the files written.
    ///
    /// # Errors
    /// Nothing to draw, a failure of the drawing library, or a file that cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ReportError> {
        let path = path.as_ref();
        let is =
            |extension: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
        let with = |extension: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(extension);
            PathBuf::from(name)
        };
        let files = match (is("svg"), is("png")) {
            (false, false) => vec![with(".svg"), with(".png")],
            _ => vec![path.to_owned()],
        };
        for file in &files {
            self.write_one(file)?;
        }
        Ok(files)
    }

    fn write_one(&self, path: &Path) -> Result<(), ReportError> {
        self.check()?;
        register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
            .map_err(|_| ReportError::draw(path, &"the built-in font cannot be read"))?;
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
            // The drawing library reports a missing folder as a failed encoding; this says it plainly.
            std::fs::File::create(path).map_err(ReportError::write(path))?;
            let area = BitMapBackend::new(path, SIZE).into_drawing_area();
            return self.draw(&area).map_err(|e| ReportError::draw(path, &e));
        }
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            self.draw(&area).map_err(|e| ReportError::draw(path, &e))?;
        }
        std::fs::write(path, text).map_err(ReportError::write(path))
    }

    fn check(&self) -> Result<(), ReportError> {
        let fault = |why: &str| Err(ReportError::data(format!("chart {:?}", self.title), why));
        let numbers: Vec<f64> = match &self.shape {
            Shape::Lines { lines, values } => {
                if lines.len() > MAX_LINES || lines.iter().any(|(_, l)| l.len() != values.len()) {
                    return fault("more lines than can be told apart, or of other lengths");
                }
                if values.is_empty() {
                    return fault("there is nothing to draw");
                }
                lines.iter().flat_map(|(_, line)| line.iter().flatten().copied()).collect()
            }
            Shape::Points(points) => points.iter().flat_map(|(x, y)| [*x, *y]).collect(),
        };
        match numbers.is_empty() || numbers.iter().any(|n| !n.is_finite() || *n <= 0.0) {
            true => fault("there is nothing to draw, or numbers that are not above 0"),
            false => Ok(()),
        }
    }

    fn draw<DB: DrawingBackend>(&self, area: &DrawingArea<DB, Shift>) -> Drawn<DB> {
        area.fill(&WHITE)?;
        match &self.shape {
            Shape::Lines { values, lines } => self.draw_lines(area, values, lines)?,
            Shape::Points(points) => self.draw_points(area, points)?,
        }
        area.present()
    }

    fn draw_lines<DB: DrawingBackend>(
        &self,
        area: &DrawingArea<DB, Shift>,
        values: &[i64],
        lines: &[(String, Vec<Option<f64>>)],
    ) -> Drawn<DB> {
        let all = lines.iter().flat_map(|(_, line)| line.iter().flatten());
        let most = all.copied().fold(0.0, f64::max) * 1.08;
        let area = area.margin(10, 0, 0, 12).titled(&self.title, ("sans-serif", 20))?;
        let (area, legend) = Legend::beside(&area, lines);
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(76)
            .build_cartesian_2d((0..values.len() - 1).into_segmented(), 0.0..most)?;
        let name = |place: &SegmentValue<usize>| match place {
            SegmentValue::Exact(i) | SegmentValue::CenterOf(i) => {
                values.get(*i).map_or_else(String::new, i64::to_string)
            }
            SegmentValue::Last => String::new(),
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.15))
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_labels(values.len())
            .x_label_formatter(&name)
            .y_label_formatter(&|n| plain(*n))
            .label_style(("sans-serif", 15))
            .draw()?;
        for (number, (_, line)) in lines.iter().enumerate() {
            let style = colour(number);
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

    fn draw_points<DB: DrawingBackend>(
        &self,
        area: &DrawingArea<DB, Shift>,
        points: &[(f64, f64)],
    ) -> Drawn<DB> {
        let range = |of: fn(&(f64, f64)) -> f64| {
            let (least, most) = points
                .iter()
                .map(of)
                .fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), n| (a.min(n), b.max(n)));
            (least * 0.9, most * 1.1)
        };
        let (x, y) = (range(|p| p.0), range(|p| p.1));
        let area = area.margin(10, 0, 0, 12).titled(&self.title, ("sans-serif", 20))?;
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
            .label_style(("sans-serif", 15))
            .draw()?;
        let style = COLOURS[0].mix(0.55).filled();
        chart.draw_series(points.iter().map(|p| Circle::new(*p, 3, style)))?;
        Ok(())
    }
}

/// What the lines are called, to the right of them.
struct Legend<DB: DrawingBackend> {
    area: DrawingArea<DB, Shift>,
}

impl<DB: DrawingBackend> Legend<DB> {
    /// Cuts its place off an area.
    fn beside(
        area: &DrawingArea<DB, Shift>,
        lines: &[(String, Vec<Option<f64>>)],
    ) -> (DrawingArea<DB, Shift>, Legend<DB>) {
        let longest = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let (width, _) = area.dim_in_pixel();
        let wanted = 44 + longest as u32 * 8;
        let (left, right) = area.split_horizontally(width.saturating_sub(wanted.min(width / 2)));
        (left, Legend { area: right })
    }

    fn draw(&self, lines: &[(String, Vec<Option<f64>>)]) -> Drawn<DB> {
        for (number, (label, _)) in lines.iter().enumerate() {
            let (style, y) = (colour(number), 24 + 22 * number as i32);
            self.area.draw(&PathElement::new([(4, y), (24, y)], style))?;
            let text = ("sans-serif", 15).into_font().color(&BLACK);
            self.area.draw(&Text::new(label.clone(), (30, y - 8), text))?;
        }
        Ok(())
    }
}

fn colour(number: usize) -> ShapeStyle {
    let RGBColor(r, g, b) = COLOURS[number % COLOURS.len()];
    let darker = |c: u8| if number < COLOURS.len() { c } else { c / 2 };
    RGBColor(darker(r), darker(g), darker(b)).stroke_width(2)
}

/// The numbers that are written on a logarithmic axis: some to many, whatever it spans.
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
    fn what_cannot_be_drawn_is_an_error() {
        let chart = |shape| Chart { title: "t".into(), x: "x".into(), y: "y".into(), shape };
        let file = tempfile::NamedTempFile::new().unwrap();
        let shapes = [
            Shape::Points(vec![]),
            Shape::Points(vec![(0.0, 1.0)]),
            Shape::Points(vec![(1.0, f64::NAN)]),
            Shape::Lines { values: vec![], lines: vec![("a".into(), vec![])] },
            Shape::Lines { values: vec![1], lines: vec![("a".into(), vec![Some(1.0), None])] },
        ];
        for shape in shapes {
            assert!(chart(shape.clone()).write_one(file.path()).is_err(), "{shape:?}");
        }
        let one = Shape::Lines { values: vec![1], lines: vec![("a".into(), vec![Some(1.0)])] };
        assert!(chart(one).write_one(file.path()).is_ok());
        assert!(chart(Shape::Points(vec![(1.0, 1.0)])).write_one(file.path()).is_ok());
    }
}
