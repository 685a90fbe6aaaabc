//! The signs of channels: which one a component has, and its shapes.

use super::picture::{PicturePoint, Shape, head, line};
use super::words;
use crate::catalog::Primitive;
use crate::connector::Channel;
use crate::constant::constant_text;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Its line alone, dashed where data may be lost.
    Line { dashed: bool },
    /// Heads that face each other; with bars between if never both.
    Facing { bars: bool },
    /// Heads at the ends; with bars in the middle if never both.
    Parting { bars: bool },
    /// A box; divided, with a dot, or with a dashed line into it.
    Buffer { places: bool, full: bool, lossy: bool },
    /// A zigzag.
    Filter,
    /// A triangle.
    Transformer,
    /// A ring in which lines meet, perhaps with a cross.
    Ring { cross: bool },
    /// A box with its name.
    Component,
}

/// Pixels: half a buffer's length and width, of a zigzag, a triangle, bars.
const BUFFER: (f64, f64) = (11.0, 7.0);
const ZIGZAG: (f64, f64) = (12.0, 6.0);
const TRIANGLE: (f64, f64) = (7.0, 8.0);
const BARS: (f64, f64) = (2.0, 7.0);
/// The radius of a ring.
pub(super) const RING: f64 = 7.0;
/// The radius of the dot in a full buffer.
const FULL: f64 = 3.2;

/// The sign of a channel, and the words beside it or in its box.
pub(super) fn of(channel: &Channel) -> (Sign, Vec<String>) {
    let words = |text: &str| words::label(vec![text.to_owned()]);
    let Some(primitive) = primitive(channel) else {
        return (Sign::Component, words(&channel.kind));
    };
    let given = channel.arguments.first();
    let label = given.map_or_else(Vec::new, |text| words(text));
    let content = given.map_or_else(Vec::new, |held| words(&constant_text(held)));
    let buffer = |full| Sign::Buffer { places: false, full, lossy: false };
    let empty = |places, lossy| Sign::Buffer { places, full: false, lossy };
    match primitive {
        Primitive::Sync => (Sign::Line { dashed: false }, Vec::new()),
        Primitive::LossySync => (Sign::Line { dashed: true }, Vec::new()),
        Primitive::SyncDrain => (Sign::Facing { bars: false }, Vec::new()),
        Primitive::AsyncDrain => (Sign::Facing { bars: true }, Vec::new()),
        Primitive::SyncSpout => (Sign::Parting { bars: false }, Vec::new()),
        Primitive::AsyncSpout => (Sign::Parting { bars: true }, Vec::new()),
        Primitive::Fifo1 => (buffer(false), Vec::new()),
        Primitive::FifoFull(_) => (buffer(true), content),
        Primitive::Fifo(n) => (empty(true, false), words(&format!("{n} places"))),
        Primitive::OverflowLossyFifo1 => (empty(false, true), words("overflow")),
        Primitive::ShiftLossyFifo1 => (buffer(false), words("shift")),
        Primitive::Variable(held) => (buffer(held.is_some()), words("variable")),
        Primitive::Filter(_) => (Sign::Filter, label),
        Primitive::Transform(_) => (Sign::Transformer, label),
        Primitive::Merger | Primitive::Replicator => (Sign::Ring { cross: false }, Vec::new()),
        Primitive::Router => (Sign::Ring { cross: true }, Vec::new()),
        Primitive::Join(_) | Primitive::Timer(_) => {
            let text = given.map_or_else(String::new, |text| format!(" {text}"));
            (Sign::Component, words(&format!("{}{text}", primitive.word())))
        }
    }
}

/// The built-in component that a channel is called as, if it has the ends of it.
fn primitive(channel: &Channel) -> Option<Primitive> {
    let given: Vec<&str> = channel.arguments.iter().map(String::as_str).collect();
    // Components of files may have other parameters than the built-in ones of their names.
    let tries: [&[&str]; 3] = [&given, &[], &["1"]];
    let found =
        tries.iter().find_map(|arguments| Primitive::find(&channel.kind, arguments).ok())?;
    let writes: Vec<bool> = channel.ends.iter().map(|end| end.writes).collect();
    (found.ends(writes.len()).ok()? == writes).then_some(found)
}

impl Sign {
    /// Whether it stands between two ends, on their line.
    pub fn is_inline(self) -> bool {
        !matches!(self, Sign::Ring { .. } | Sign::Component)
    }

    /// How far from its middle the lines end.
    pub fn reach(self) -> f64 {
        match self {
            Sign::Line { .. } | Sign::Parting { bars: false } => 0.0,
            Sign::Facing { bars: true } => BARS.0 + 2.0,
            Sign::Facing { bars: false } => 1.0,
            Sign::Parting { bars: true } => BARS.0,
            Sign::Buffer { .. } => BUFFER.0,
            Sign::Filter => ZIGZAG.0,
            Sign::Transformer => TRIANGLE.0,
            Sign::Ring { .. } => RING,
            Sign::Component => 0.0,
        }
    }

    /// Whether the line of its first or second end is dashed.
    pub fn dashed(self, end: usize) -> bool {
        match self {
            Sign::Line { dashed } => dashed,
            Sign::Buffer { lossy, .. } => lossy && end == 0,
            _ => false,
        }
    }

    /// Its shapes around `middle`, with data going in direction (x, y), a unit along an axis.
    pub fn shapes(self, middle: PicturePoint, (x, y): (f64, f64)) -> Vec<Shape> {
        let to =
            |along: f64, across: f64| middle.by(along * x - across * y, along * y + across * x);
        let bar = |along: f64, across: f64| line(&[to(along, -across), to(along, across)], false);
        let bars = |shown: bool| {
            let pair = [bar(-BARS.0, BARS.1), bar(BARS.0, BARS.1)];
            pair.into_iter().flatten().filter(move |_| shown)
        };
        match self {
            Sign::Line { .. } | Sign::Component => Vec::new(),
            Sign::Facing { bars: shown } => {
                let end = self.reach();
                let heads = [-end, end].map(|end| head(to(2.0 * end, 0.0), to(end, 0.0)));
                heads.into_iter().chain(bars(shown)).collect()
            }
            Sign::Parting { bars: shown } => bars(shown).collect(),
            Sign::Buffer { places, full, .. } => {
                let (long, wide) = BUFFER;
                let half = if x == 0.0 { (wide, long) } else { (long, wide) };
                let frame = Shape::Box(middle.by(-half.0, -half.1), 2.0 * half.0, 2.0 * half.1);
                let dot = full.then_some(Shape::Circle(middle, FULL, true));
                let inner = places.then(|| [bar(-long / 3.0, wide), bar(long / 3.0, wide)]);
                let inner = inner.into_iter().flatten().flatten();
                [frame].into_iter().chain(dot).chain(inner).collect()
            }
            Sign::Filter => {
                let (long, wide) = ZIGZAG;
                let across = [0.0, -wide, wide, -wide, 0.0];
                let turn = |k: usize| to(-long + long / 2.0 * k as f64, across[k]);
                line(&[0, 1, 2, 3, 4].map(turn), false).into_iter().collect()
            }
            Sign::Transformer => {
                let (long, wide) = TRIANGLE;
                let corners = [to(-long, -wide), to(long, 0.0), to(-long, wide), to(-long, -wide)];
                line(&corners, false).into_iter().collect()
            }
            Sign::Ring { cross } => {
                let d = RING * std::f64::consts::FRAC_1_SQRT_2;
                let stroke = |s: f64| line(&[middle.by(-d, -d * s), middle.by(d, d * s)], false);
                let strokes = [stroke(1.0), stroke(-1.0)].into_iter().flatten().filter(|_| cross);
                [Shape::Circle(middle, RING, false)].into_iter().chain(strokes).collect()
            }
        }
    }
}
