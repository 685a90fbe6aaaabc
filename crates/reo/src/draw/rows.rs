//! A long picture in several rows.
//!
//! It is cut between columns. A line that is cut leaves its row on the right, runs back between the
//! rows, and enters the next one on the left at its height. The higher it is, the farther out it
//! runs on the right, the lower between the rows, and the nearer on the left: so such lines never
//! cross.

use super::columns::{Placed, PlacedColumn};
use super::picture::{GraphPicture, PictureItem, PicturePoint, Piece, Shape, at};

/// Pixels between lines that run back; twice that beside a row.
const LANE: f64 = 8.0;
/// Pixels above and below what is in a row.
const MARGIN: f64 = 10.0;

/// One row of a picture.
struct Row {
    /// The part of the picture that it is, on both axes.
    x: (f64, f64),
    y: (f64, f64),
    /// Heights of the lines that go on in the next row, from the top.
    lines: Vec<f64>,
    /// Where its upper left corner goes.
    corner: PicturePoint,
}

/// A picture of what was `placed`; in rows if it is wider than `width` pixels. A row of several
/// columns is not.
pub(super) fn picture(
    items: Vec<PictureItem>,
    placed: &Placed,
    width: Option<f64>,
) -> GraphPicture {
    let Some(width) = width.filter(|width| *width < placed.width) else {
        return GraphPicture { width: placed.width, height: placed.height, items };
    };
    let rows = rows(placed.width, &placed.columns, width);
    let items = items.iter().map(|item| in_rows(item, &rows)).collect();
    let right = |row: &Row| row.corner.x + row.x.1 - row.x.0 + lanes(&row.lines);
    let width = rows.iter().map(right).fold(0.0, f64::max);
    GraphPicture { width, height: rows.last().map_or(0.0, Row::bottom), items }
}

/// Two pictures as one, the second below the first.
pub fn stacked(upper: &GraphPicture, lower: &GraphPicture) -> GraphPicture {
    let corner = at(0.0, upper.height + 4.0 * MARGIN);
    let whole = Row { x: (0.0, lower.width), y: (0.0, lower.height), lines: Vec::new(), corner };
    let (width, height) = (upper.width.max(lower.width), whole.bottom());
    let rows = [whole];
    let below = lower.items.iter().map(|item| in_rows(item, &rows));
    GraphPicture { width, height, items: upper.items.iter().cloned().chain(below).collect() }
}

/// The room that lines take beside and below a row.
fn lanes(lines: &[f64]) -> f64 {
    if lines.is_empty() { 0.0 } else { (lines.len() as f64 + 2.0) * LANE }
}

/// Rows from the left, with as many columns as there is room for.
fn rows(end: f64, columns: &[PlacedColumn], width: f64) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut first = 0;
    while first < columns.len() {
        let left = rows.last().map_or(0.0, |row| row.x.1);
        let cut = rows.last().map_or(Vec::new(), |row| row.lines.clone());
        let corner = at(lanes(&cut), rows.last().map_or(0.0, |row| row.bottom() + lanes(&cut)));
        let right = |k: usize| if k + 1 == columns.len() { end } else { columns[k].right };
        let fits = |k: &usize| corner.x + right(*k) - left + lanes(&columns[*k].lines) <= width;
        let last = (first..columns.len()).rfind(fits).unwrap_or(first);
        let heights = || columns[first..=last].iter().map(|column| column.y);
        let low = heights().map(|y| y.0).chain(cut.iter().copied()).fold(f64::INFINITY, f64::min);
        let high = heights().map(|y| y.1).chain(cut).fold(0.0, f64::max);
        // A column may be empty.
        let (x, y) = ((left, right(last)), (low.min(high) - MARGIN, high + MARGIN));
        rows.push(Row { x, y, lines: columns[last].lines.clone(), corner });
        first = last + 1;
    }
    rows
}

impl Row {
    fn bottom(&self) -> f64 {
        self.corner.y + self.y.1 - self.y.0
    }

    /// Where a place of the picture that is in this row goes.
    fn place(&self, point: PicturePoint) -> PicturePoint {
        point.by(self.corner.x - self.x.0, self.corner.y - self.y.0)
    }

    /// The way of a line that is cut at `point`, from this row to the next one.
    fn way(&self, next: &Row, point: PicturePoint) -> [PicturePoint; 5] {
        let above = self.lines.iter().filter(|height| **height < point.y).count() as f64;
        let below = self.lines.len() as f64 - above;
        let (from, to) = (self.place(point), next.place(point));
        let (right, left) = (from.x + (below + 1.0) * LANE, to.x - (above + 2.0) * LANE);
        let between = self.bottom() + below * LANE;
        [at(right, from.y), at(right, between), at(left, between), at(left, to.y), to]
    }
}

/// The number of the row in which a place is.
fn row(rows: &[Row], x: f64) -> usize {
    rows.iter().position(|row| x <= row.x.1).unwrap_or(rows.len() - 1)
}

fn in_rows(item: &PictureItem, rows: &[Row]) -> PictureItem {
    let shapes = item.shapes.iter().map(|shape| moved(shape, rows)).collect();
    PictureItem { shapes, ..item.clone() }
}

fn moved(shape: &Shape, rows: &[Row]) -> Shape {
    let place = |x: f64, point: PicturePoint| rows[row(rows, x)].place(point);
    match shape {
        Shape::Path { start, pieces, dashed } => path(*start, pieces, *dashed, rows),
        // The tip of a head comes first, and is where its line ends.
        Shape::Area(points) => {
            let tip = points.first().map_or(0.0, |tip| tip.x);
            Shape::Area(points.iter().map(|point| place(tip, *point)).collect())
        }
        Shape::Circle(centre, radius, filled) => {
            Shape::Circle(place(centre.x, *centre), *radius, *filled)
        }
        Shape::Box(corner, w, h) => Shape::Box(place(corner.x + w / 2.0, *corner), *w, *h),
        Shape::Shade(corner, w, h) => Shape::Shade(place(corner.x + w / 2.0, *corner), *w, *h),
        Shape::Text { centre, lines } => {
            Shape::Text { centre: place(centre.x, *centre), lines: lines.clone() }
        }
    }
}

/// A line, with the ways between rows where it is cut. No piece of it passes a cut.
fn path(start: PicturePoint, pieces: &[Piece], dashed: bool, rows: &[Row]) -> Shape {
    let mut here = start;
    let mut current = None;
    let mut made = Vec::new();
    for piece in pieces {
        let (Piece::Line(end) | Piece::Curve(_, _, end)) = *piece;
        let next = row(rows, here.x.max(end.x));
        // Rows before and behind a cut are neighbours.
        match *current.get_or_insert(next) {
            at if at < next => made.extend(rows[at].way(&rows[next], here).map(Piece::Line)),
            at if at > next => {
                let way = rows[next].way(&rows[at], here);
                made.extend(way[..4].iter().rev().copied().map(Piece::Line));
                made.push(Piece::Line(rows[next].place(here)));
            }
            _ => {}
        }
        let place = |point| rows[next].place(point);
        made.push(match *piece {
            Piece::Line(end) => Piece::Line(place(end)),
            Piece::Curve(a, b, end) => Piece::Curve(place(a), place(b), place(end)),
        });
        (here, current) = (end, Some(next));
    }
    let first = pieces.first().map_or(start, |piece| match piece {
        Piece::Line(end) | Piece::Curve(_, _, end) => *end,
    });
    let start = rows[row(rows, start.x.max(first.x))].place(start);
    Shape::Path { start, pieces: made, dashed }
}
