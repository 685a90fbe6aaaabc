//! The plot of one problem: for each engine the seconds it took and the time that it found.

use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Ink, Mark, Plot, Scale, TEXT, svg, width};
use super::series::seconds as took;
use crate::answer::comparison::{Case, Row};
use crate::comparison;
use crate::error::ReportError;
use crate::picture::Drawn;

const ROW: i32 = 28;
const TOP: i32 = 34;
const MARGIN: i32 = 12;
const LEFT_PANEL: i32 = 380;
const RIGHT_PANEL: i32 = 300;
/// Between the panels.
const GAP: i32 = 46;
/// Under the rows: ticks and the legend.
const BOTTOM: i32 = 70;

struct Layout {
    size: (i32, i32),
    names: i32,
    seconds: (i32, i32),
    times: (i32, i32),
    bottom: i32,
}

impl Layout {
    fn new(rows: &[Row]) -> Layout {
        let longest = rows.iter().map(|r| r.engine.chars().count()).max().unwrap_or(0);
        let names = MARGIN + width(longest.max(6));
        let seconds = (names + 14, names + 14 + LEFT_PANEL);
        let times = (seconds.1 + GAP, seconds.1 + GAP + RIGHT_PANEL);
        let bottom = TOP + ROW * i32::try_from(rows.len()).unwrap_or(0);
        // Labels at the right end are centred under the edge.
        let size = (times.1 + MARGIN + 50, bottom + BOTTOM);
        Layout { size, names, seconds, times, bottom }
    }

    fn y(&self, row: usize) -> i32 {
        TOP + ROW * i32::try_from(row).unwrap_or(0) + ROW / 2
    }
}

/// The plot as SVG text; `None` if no engine has run.
pub(super) fn plot(case: &Case) -> Option<Result<String, ReportError>> {
    let ran = case.rows.iter().any(|r| took(r).is_some());
    ran.then(|| svg(&Engines { case, layout: Layout::new(&case.rows) }))
}

struct Engines<'a> {
    case: &'a Case,
    layout: Layout,
}

impl Plot for Engines<'_> {
    fn size(&self) -> (i32, i32) {
        self.layout.size
    }

    fn draw(&self, canvas: &Canvas<'_, '_>) -> Drawn {
        draw(canvas, &self.layout, self.case)
    }
}

fn draw(canvas: &Canvas<'_, '_>, layout: &Layout, case: &Case) -> Drawn {
    let taken = case.rows.iter().filter_map(took);
    let seconds = Scale::decades(taken, layout.seconds);
    let found = case.rows.iter().filter_map(|r| r.time).map(|t| t as f64);
    let times = Scale::around(found, layout.times);
    panel(canvas, layout, &seconds, layout.seconds, "seconds, start to end of the process")?;
    if case.rows.iter().any(|r| r.time.is_some()) {
        panel(canvas, layout, &times, layout.times, "model time found, ticks")?;
    }
    for (i, row) in case.rows.iter().enumerate() {
        let y = layout.y(i);
        canvas.text(&row.engine, (layout.names, y), HPos::Right, Ink::Text)?;
        let ink = if row.proved() { Ink::Proved } else { Ink::Open };
        match took(row) {
            Some(s) => {
                let end = seconds.at(s) - if row.proved() { 0 } else { 7 };
                canvas.line(&[(layout.seconds.0, y), (end, y)], ink, 2)?;
                mark(canvas, row, (seconds.at(s), y))?;
            }
            None => {
                let why = comparison::status(row);
                canvas.text(why, (layout.seconds.0 + 8, y), HPos::Left, Ink::Faint)?;
            }
        }
        time(canvas, layout, &times, row, y)?;
    }
    legend(canvas, layout)
}

fn mark(canvas: &Canvas<'_, '_>, row: &Row, at: (i32, i32)) -> Drawn {
    if row.proved() {
        canvas.mark(Mark::Circle, at, Ink::Proved, false)
    } else {
        canvas.mark(Mark::Diamond, at, Ink::Open, true)
    }
}

/// The time that an engine found, with the bracket where it is open.
fn time(canvas: &Canvas<'_, '_>, layout: &Layout, scale: &Scale, row: &Row, y: i32) -> Drawn {
    let Some(time) = row.time else {
        return if took(row).is_some() {
            let why = comparison::status(row);
            canvas.text(why, (layout.times.0 + 8, y), HPos::Left, Ink::Faint)
        } else {
            Ok(())
        };
    };
    let x = scale.at(time as f64);
    if let Some(lower) = row.lower.filter(|lower| !row.proved() && *lower < time) {
        let from = scale.at(lower as f64);
        canvas.line(&[(from, y), (x - 7, y)], Ink::Open, 1)?;
        // A bound that lies outside the panel ends in an arrow.
        let reach = if from <= layout.times.0 { 5 } else { 0 };
        canvas.line(&[(from + reach, y - 4), (from, y), (from + reach, y + 4)], Ink::Open, 1)?;
    }
    mark(canvas, row, (x, y))
}

fn panel(
    canvas: &Canvas<'_, '_>,
    layout: &Layout,
    scale: &Scale,
    (left, right): (i32, i32),
    title: &str,
) -> Drawn {
    canvas.text(title, (left, TOP - 18), HPos::Left, Ink::Faint)?;
    let longest = scale.ticks(1000).iter().map(|(_, l)| l.len()).max().unwrap_or(4);
    for (value, label) in scale.ticks(width(longest + 2).max(50)) {
        let x = scale.at(value);
        canvas.line(&[(x, TOP - 4), (x, layout.bottom)], Ink::Grid, 1)?;
        canvas.text(&label, (x, layout.bottom + TEXT), HPos::Center, Ink::Faint)?;
    }
    canvas.line(&[(left, layout.bottom), (right, layout.bottom)], Ink::Faint, 1)
}

fn legend(canvas: &Canvas<'_, '_>, layout: &Layout) -> Drawn {
    let y = layout.bottom + BOTTOM - 16;
    let (proved, open) = (layout.seconds.0 + 6, layout.seconds.0 + 116);
    canvas.mark(Mark::Circle, (proved, y), Ink::Proved, false)?;
    canvas.text("proved", (proved + 14, y), HPos::Left, Ink::Text)?;
    canvas.mark(Mark::Diamond, (open, y), Ink::Open, true)?;
    let open_text = "not proved; a line reaches down to what is known to be impossible";
    canvas.text(open_text, (open + 16, y), HPos::Left, Ink::Text)
}
