//! What the plots have in common: text, marks, colours and axes, on their own SVG.
//!
//! Nothing is drawn behind a plot, and its colours are the few of [`Ink`]: a page gives them other
//! values for dark screens by selecting `[fill="..."]` and `[stroke="..."]`.

use std::path::Path;

use plotters::prelude::{Circle, PathElement, Polygon};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor, ShapeStyle};

use crate::error::ReportError;
use crate::picture::{self, Area, Drawn, Picture, Sheet, line_colour};

/// Text size of names and ticks.
pub(super) const TEXT: i32 = 16;
/// A text of this many characters is at most this wide, in pixels.
pub(super) fn width(characters: usize) -> i32 {
    (characters as f64 * f64::from(TEXT) * 0.5).ceil() as i32
}

/// The colours of a plot. They represent what they say; dark screens show others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// Text.
    Text,
    /// Text that matters less.
    Faint,
    /// Lines behind the data.
    Grid,
    /// What is proved.
    Proved,
    /// What is not proved.
    Open,
    /// One of several lines.
    Line(usize),
}

impl Ink {
    fn colour(self) -> RGBColor {
        match self {
            Ink::Text => RGBColor(27, 27, 27),
            Ink::Faint => RGBColor(95, 95, 95),
            Ink::Grid => RGBColor(217, 217, 217),
            Ink::Proved => RGBColor(11, 98, 168),
            Ink::Open => RGBColor(179, 89, 0),
            Ink::Line(n) => line_colour(n),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
}

impl Mark {
    /// One of the marks.
    pub fn number(n: usize) -> Mark {
        [Mark::Circle, Mark::Square, Mark::Up, Mark::Diamond, Mark::Down][n % 5]
    }

    fn corners(self, (x, y): (i32, i32), r: i32) -> Vec<(i32, i32)> {
        match self {
            Mark::Circle => Vec::new(),
            Mark::Square => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
            Mark::Up => vec![(x, y - r - 1), (x + r + 1, y + r), (x - r - 1, y + r)],
            Mark::Down => vec![(x, y + r + 1), (x + r + 1, y - r), (x - r - 1, y - r)],
            Mark::Diamond => vec![(x, y - r - 2), (x + r + 2, y), (x, y + r + 2), (x - r - 2, y)],
        }
    }
}

pub(super) struct Canvas<'a, 'b> {
    area: &'a Area<'b>,
}

/// A plot: its size in pixels, and what is drawn.
pub(super) trait Plot {
    fn size(&self) -> (i32, i32);
    fn draw(&self, canvas: &Canvas<'_, '_>) -> Drawn;
}

/// A plot on its own canvas.
struct Framed<'p, P>(&'p P);

impl<P: Plot> Picture for Framed<'_, P> {
    fn size(&self) -> (u32, u32) {
        let (width, height) = self.0.size();
        (width.unsigned_abs(), height.unsigned_abs())
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        self.0.draw(&Canvas { area })
    }
}

pub(super) fn svg(plot: &impl Plot) -> Result<String, ReportError> {
    picture::svg(&Framed(plot), Path::new("the plot"))
}

impl Canvas<'_, '_> {
    /// A line of text whose middle line is at `y`; `h` states which end of it is at `x`.
    pub fn text(&self, text: &str, at: (i32, i32), h: HPos, ink: Ink) -> Drawn {
        Sheet { area: self.area }.text(text, TEXT, at, h, ink.colour())
    }

    /// A straight line or several.
    pub fn line(&self, points: &[(i32, i32)], ink: Ink, thick: u32) -> Drawn {
        self.area.draw(&PathElement::new(points.to_vec(), ink.colour().stroke_width(thick)))
    }

    /// A mark; hollow ones are for what is not proved.
    pub fn mark(&self, mark: Mark, at: (i32, i32), ink: Ink, hollow: bool) -> Drawn {
        const RADIUS: i32 = 5;
        let colour = ink.colour();
        let style: ShapeStyle = if hollow { colour.stroke_width(2) } else { colour.filled() };
        let corners = mark.corners(at, RADIUS);
        match corners.first() {
            None => self.area.draw(&Circle::new(at, RADIUS, style)),
            Some(first) if hollow => {
                // A closed line: the backend does not stroke polygons.
                let around: Vec<_> = corners.iter().chain([first]).copied().collect();
                self.area.draw(&PathElement::new(around, style))
            }
            Some(_) => self.area.draw(&Polygon::new(corners, style)),
        }
    }
}

/// A scale from values to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// Least and greatest value, as positions before and after the logarithm alike.
    from: (f64, f64),
    to: (i32, i32),
    logarithmic: bool,
    /// All values are the same.
    single: bool,
}

impl Scale {
    /// From one power of ten to another, around the values; they are positive.
    pub fn decades(values: impl Iterator<Item = f64>, to: (i32, i32)) -> Scale {
        let (least, greatest) = extent(values).unwrap_or((1.0, 10.0));
        let (low, high) = (least.log10().floor(), greatest.log10().ceil());
        let from = (low, if high > low { high } else { low + 1.0 });
        Scale { from, to, logarithmic: true, single: false }
    }

    /// Around the values, with some room on both sides.
    pub fn around(values: impl Iterator<Item = f64>, to: (i32, i32)) -> Scale {
        let (least, greatest) = extent(values).unwrap_or((0.0, 1.0));
        let single = greatest <= least;
        let room = if single { 1.0 } else { (greatest - least) * 0.12 };
        Scale { from: (least - room, greatest + room), to, logarithmic: false, single }
    }

    /// The pixel of a value; values outside are at the edge.
    pub fn at(&self, value: f64) -> i32 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = ((value - self.from.0) / (self.from.1 - self.from.0)).clamp(0.0, 1.0);
        self.to.0 + (share * f64::from(self.to.1 - self.to.0)).round() as i32
    }

    /// Values that are labelled, each with the label, at least `apart` pixels apart.
    pub fn ticks(&self, apart: i32) -> Vec<(f64, String)> {
        let pixels = f64::from((self.to.1 - self.to.0).abs());
        if self.logarithmic {
            let count = (self.from.1 - self.from.0) as i32;
            let every = (f64::from(apart) * f64::from(count) / pixels).ceil().max(1.0) as usize;
            let powers = (0..=count).step_by(every).map(|i| self.from.0 + f64::from(i));
            return powers.map(|p| (10f64.powf(p), decimal(p as i32))).collect();
        }
        if self.single {
            let middle = f64::midpoint(self.from.0, self.from.1);
            return vec![(middle, format!("{middle:.0}"))];
        }
        let span = self.from.1 - self.from.0;
        let step = nice(span * f64::from(apart) / pixels);
        let first = (self.from.0 / step).ceil();
        let count = ((self.from.1 / step).floor() - first).max(0.0) as i32;
        (0..=count).map(|i| (first + f64::from(i)) * step).map(|v| (v, format!("{v:.0}"))).collect()
    }
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |all, v| Some(all.map_or((v, v), |(l, g): (f64, f64)| (l.min(v), g.max(v)))))
}

fn decimal(power: i32) -> String {
    match power {
        0..=5 => format!("1{}", "0".repeat(power.unsigned_abs() as usize)),
        -5..=-1 => format!("0.{}1", "0".repeat(power.unsigned_abs() as usize - 1)),
        _ => format!("1e{power}"),
    }
}

/// The least 1, 2, 2.5 or 5 times a power of ten that is not below and a whole number.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1.0).log10().floor());
    let whole = |n: &f64| *n >= step && n.fract() == 0.0;
    [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|n| n * power).find(whole).unwrap_or(step.ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten() {
        let scale = Scale::decades([0.02, 54.0].into_iter(), (0, 400));
        let labels: Vec<String> = scale.ticks(60).into_iter().map(|(_, l)| l).collect();
        assert_eq!(labels, ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(
            (scale.at(0.01), scale.at(1.0), scale.at(100.0), scale.at(0.0)),
            (0, 200, 400, 0)
        );
        assert_eq!(scale.ticks(150).len(), 3);
        // One value only.
        assert_eq!(Scale::decades([1.0].into_iter(), (0, 10)).ticks(5).len(), 2);
        assert_eq!(Scale::decades(std::iter::empty(), (0, 10)).ticks(5).len(), 2);
    }

    #[test]
    fn whole_numbers() {
        let labels = |values: &[f64], apart| {
            let scale = Scale::around(values.iter().copied(), (0, 300));
            scale.ticks(apart).into_iter().map(|(_, l)| l).collect::<Vec<_>>()
        };
        assert_eq!(labels(&[44.0], 100), ["44"]);
        assert_eq!(labels(&[100.0, 200.0], 60), ["100", "125", "150", "175", "200"]);
        assert_eq!(labels(&[8672.0, 9344.0], 80), ["8750", "9000", "9250"]);
    }
}
