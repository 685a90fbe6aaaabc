//! Timelines of runs as a picture: below each other, over the same ticks, for comparison.
//!
//! In go [`LaneChart`]s of pages, which say what is drawn coarsely or left out.

use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use plotters::style::text_anchor::HPos;
use plotters::style::{BLACK, RGBColor, WHITE};

use super::error::ReportError;
use super::html::{LaneChart, numbers_grouped};
use super::picture::{self, Area, Drawn, Picture, Sheet, line_colour};

/// Pixels: of the whole, of its margins, of the names of lanes.
const WIDTH: i32 = 1000;
const MARGIN: i32 = 16;
const NAMES: i32 = 210;
/// From lane to lane, and of the bar in it.
const PITCH: i32 = 20;
const BAR: i32 = 14;
/// Sizes of texts, and the heights of the lines that they stand on.
const TITLE: i32 = 18;
const HEADING: i32 = 15;
const TEXT: i32 = 12;
const LINE: i32 = 28;
const TICKS: i32 = 30;
/// A kind in the legend.
const KEY: i32 = 150;

const INK: RGBColor = RGBColor(40, 40, 40);
const EMPTY: RGBColor = RGBColor(240, 240, 240);

/// Colours of kinds of work, as on pages (after Okabe and Ito), and pale ones for waits of warps.
const KINDS: [(&str, RGBColor); 11] = [
    ("global", RGBColor(0, 114, 178)),
    ("local", RGBColor(0, 158, 115)),
    ("constant", RGBColor(86, 180, 233)),
    ("compute", RGBColor(230, 159, 0)),
    ("atomic", RGBColor(204, 121, 167)),
    ("until", RGBColor(123, 111, 196)),
    ("barrier", RGBColor(213, 94, 0)),
    ("idle", RGBColor(201, 204, 209)),
    ("wait for a load", RGBColor(168, 200, 222)),
    ("wait for a dispatcher", RGBColor(222, 205, 160)),
    ("wait for a memory slot", RGBColor(205, 188, 222)),
];

/// Runs to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// One line above the picture.
    pub title: String,
    /// Each with its heading.
    pub runs: Vec<(String, LaneChart)>,
}

impl Runs {
    /// Writes the picture, see [`picture::write`].
    ///
    /// # Errors
    /// Nothing to draw, a failure of the drawing library, or a file that cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ReportError> {
        if self.runs.is_empty() {
            return Err(ReportError::data(
                format!("timeline {:?}", self.title),
                "no run was recorded",
            ));
        }
        picture::write(self, path.as_ref())
    }

    /// The last tick of all.
    fn end(&self) -> i64 {
        self.runs.iter().map(|(_, lanes)| lanes.end).max().unwrap_or(1).max(1)
    }

    fn kinds(&self) -> IndexSet<&str> {
        self.runs.iter().flat_map(|(_, lanes)| lanes.kinds.iter().map(String::as_str)).collect()
    }

    fn keys_in_a_row() -> usize {
        usize::try_from((WIDTH - 2 * MARGIN) / KEY).unwrap_or(1).max(1)
    }
}

impl Picture for Runs {
    fn size(&self) -> (u32, u32) {
        let lanes: usize = self.runs.iter().map(|(_, lanes)| lanes.lanes.len()).sum();
        let rows = self.kinds().len().div_ceil(Runs::keys_in_a_row());
        let [lanes, runs, rows] =
            [lanes, self.runs.len(), rows].map(|n| i32::try_from(n).unwrap_or(i32::MAX / 1000));
        let height = 2 * MARGIN + LINE + runs * (LINE + TICKS) + lanes * PITCH + rows * PITCH;
        (WIDTH.unsigned_abs(), height.unsigned_abs())
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        area.fill(&WHITE)?;
        let sheet = Sheet { area };
        sheet.text(&self.title, TITLE, (MARGIN, MARGIN + LINE / 2), HPos::Left, BLACK)?;
        let mut top = MARGIN + LINE;
        for (heading, lanes) in &self.runs {
            sheet.text(heading, HEADING, (MARGIN, top + LINE / 2), HPos::Left, INK)?;
            top = drawn(&sheet, lanes, self.end(), top + LINE)?;
        }
        for (i, kind) in self.kinds().into_iter().enumerate() {
            let [row, column] = [i / Runs::keys_in_a_row(), i % Runs::keys_in_a_row()]
                .map(|n| i32::try_from(n).unwrap_or(0));
            let (x, y) = (MARGIN + column * KEY, top + row * PITCH);
            sheet.fill((x, y), (BAR, BAR), colour(kind))?;
            sheet.text(kind, TEXT, (x + BAR + 6, y + BAR / 2), HPos::Left, INK)?;
        }
        Ok(())
    }
}

/// Draws lanes from `top` on, over `end` ticks; where they end.
fn drawn(
    sheet: &Sheet<'_, '_>,
    lanes: &LaneChart,
    end: i64,
    mut top: i32,
) -> Result<i32, plotters::prelude::DrawingAreaErrorKind<std::io::Error>> {
    let (left, width) = (MARGIN + NAMES, WIDTH - 2 * MARGIN - NAMES);
    let x = |tick: i64| left + (tick as f64 / end as f64 * f64::from(width)).round() as i32;
    for lane in &lanes.lanes {
        sheet.text(&short(&lane.name), TEXT, (left - 8, top + BAR / 2), HPos::Right, INK)?;
        sheet.fill((left, top), (x(lanes.end) - left, BAR), EMPTY)?;
        for (start, last, kind, ..) in &lane.blocks {
            let kind = lanes.kinds.get(*kind).map_or("", String::as_str);
            // A line of paper between blocks that are wide enough.
            let (from, to) = (x(*start), x(*last));
            let gap = i32::from(to - from > 3);
            sheet.fill((from, top), ((to - from - gap).max(1), BAR), colour(kind))?;
        }
        top += PITCH;
    }
    let grouped = |tick: i64| numbers_grouped(&tick.to_string());
    for (tick, at) in [(0, HPos::Left), (end / 2, HPos::Center)] {
        sheet.text(&grouped(tick), TEXT, (x(tick), top + 4), at, INK)?;
    }
    let last = format!("{} ticks", grouped(end));
    sheet.text(&last, TEXT, (x(end), top + 4), HPos::Right, INK)?;
    Ok(top + TICKS)
}

/// A name that fits the column.
fn short(name: &str) -> String {
    const MOST: usize = 34;
    match name.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &name[..at]),
        None => name.to_owned(),
    }
}

fn colour(kind: &str) -> RGBColor {
    let kind = kind.trim_start_matches("shared_");
    let kind = if kind == "local_atomic" { "atomic" } else { kind };
    let known =
        KINDS.iter().find(|(name, _)| *name == kind || kind == "work" && *name == "compute");
    known.map_or_else(|| line_colour(6), |(_, colour)| *colour)
}

#[cfg(test)]
mod tests {
    use super::super::timeline::TimelineSpan;
    use super::*;

    fn run(spans: &[(i64, &str, i64, i64)]) -> LaneChart {
        let span = |(element, kind, start, end): &(i64, &str, i64, i64)| TimelineSpan {
            process: "unit 0".into(),
            thread: format!("dispatcher {element}"),
            name: "line 4".into(),
            category: (*kind).into(),
            start: *start,
            end: *end,
            args: Vec::new(),
        };
        let spans: Vec<_> = spans.iter().map(span).collect();
        let end = spans.iter().map(|s| s.end).max().unwrap_or(0);
        LaneChart::new(&spans, end, false).unwrap()
    }

    /// Runs share one scale: the shorter one's lanes end where its time does.
    #[test]
    fn runs_are_drawn_over_the_same_ticks() {
        let best = run(&[(0, "global", 0, 50), (1, "compute", 0, 25)]);
        let worst = run(&[(0, "global", 50, 100), (1, "barrier", 0, 100)]);
        let runs = [("best: 50 ticks".into(), best), ("worst: 100 ticks".into(), worst)];
        let runs = Runs { title: "two runs".into(), runs: runs.into() };
        assert_eq!(runs.size(), (1000, 32 + 28 + 2 * 58 + 4 * 20 + 20));
        let svg = picture::svg(&runs, Path::new("runs.svg")).unwrap();
        // 758 pixels for 100 ticks, from 226 on.
        for (x, width) in [(226, 378), (226, 189), (605, 378), (226, 757)] {
            let mark = format!("x=\"{x}\" ");
            assert!(
                svg.lines().any(|l| l.contains(&mark) && l.contains(&format!("width=\"{width}\""))),
                "{x} {width}: {svg}"
            );
        }
        for text in ["best: 50 ticks", "100 ticks", "unit 0, dispatcher 1", "barrier"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
