//! Shapes and where they are. Lengths are pixels, y grows downwards.

/// A place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PicturePoint {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

/// One part of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Piece {
    /// Straight to a place.
    Line(PicturePoint),
    /// A cubic Bézier curve: two control points and the end.
    Curve(PicturePoint, PicturePoint, PicturePoint),
}

/// Something drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A line: its start and its pieces.
    Path {
        /// Where it starts.
        start: PicturePoint,
        /// How it goes on.
        pieces: Vec<Piece>,
        /// Whether it is dashed.
        dashed: bool,
    },
    /// A filled polygon.
    Area(Vec<PicturePoint>),
    /// A circle: centre, radius, whether it is filled.
    Circle(PicturePoint, f64, bool),
    /// A box: upper left corner, width, height.
    Box(PicturePoint, f64, f64),
    /// A shaded box without a border.
    Shade(PicturePoint, f64, f64),
    /// Centred text, lines from the top.
    Text {
        /// The centre of the text.
        centre: PicturePoint,
        /// Its lines.
        lines: Vec<String>,
    },
}

/// What is highlighted as one, with the words that a pointer over it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureItem {
    /// Which one: `n` and the number of a node, `c` of a channel, `s` of a state, `t` of a step.
    pub key: String,
    /// For people.
    pub title: String,
    pub shapes: Vec<Shape>,
}

/// A drawing: all of it lies within its width and height.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphPicture {
    /// In pixels.
    pub width: f64,
    /// In pixels.
    pub height: f64,
    /// What is on it, from the back to the front.
    pub items: Vec<PictureItem>,
}

impl PicturePoint {
    /// This place, moved.
    #[must_use]
    pub fn by(self, x: f64, y: f64) -> PicturePoint {
        PicturePoint { x: self.x + x, y: self.y + y }
    }
}

pub(super) fn at(x: f64, y: f64) -> PicturePoint {
    PicturePoint { x, y }
}

/// A line of straight pieces.
pub(super) fn line(points: &[PicturePoint], dashed: bool) -> Option<Shape> {
    let (start, rest) = points.split_first()?;
    let pieces = rest.iter().copied().map(Piece::Line).collect();
    Some(Shape::Path { start: *start, pieces, dashed })
}

/// Length and half the width of a line's head.
const HEAD: (f64, f64) = (9.0, 3.6);

/// The head of a line that comes from `from` and ends at `to`.
pub(super) fn head(from: PicturePoint, to: PicturePoint) -> Shape {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / length, dy / length);
    let back = to.by(-ux * HEAD.0, -uy * HEAD.0);
    let side = |s: f64| back.by(-uy * HEAD.1 * s, ux * HEAD.1 * s);
    Shape::Area(vec![to, side(1.0), side(-1.0)])
}

/// A text around a place.
pub(super) fn text(centre: PicturePoint, lines: &[String]) -> Shape {
    Shape::Text { centre, lines: lines.to_vec() }
}
