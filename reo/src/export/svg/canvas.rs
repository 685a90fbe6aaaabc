//! What the layout draws on: shapes and texts as SVG, as large as what is on it.

use std::fmt::Write;

use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;

/// Pixels of one line of text, and about how wide a letter is.
const LINE: f64 = 15.0;
const LETTER: f64 = 8.0;
/// Pixels around everything.
const MARGIN: f64 = 8.0;

/// A drawing in the making.
pub(super) struct Canvas {
    content: String,
    low: (f64, f64),
    high: (f64, f64),
}

impl Canvas {
    pub(super) fn new() -> Canvas {
        Canvas { content: String::new(), low: (f64::MAX, f64::MAX), high: (f64::MIN, f64::MIN) }
    }

    /// The whole drawing.
    pub(super) fn finish(self) -> String {
        let (low, high) =
            if self.low.0 > self.high.0 { ((0., 0.), (1., 1.)) } else { (self.low, self.high) };
        let (width, height) = (high.0 - low.0 + 2. * MARGIN, high.1 - low.1 + 2. * MARGIN);
        let (x, y) = (low.0 - MARGIN, low.1 - MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"{x:.1} {y:.1} {width:.1} {height:.1}\" font-family=\"sans-serif\" \
             font-size=\"13\">\n\
             <defs><marker id=\"head\" markerWidth=\"10\" markerHeight=\"8\" refX=\"9\" refY=\"4\" \
             orient=\"auto\"><path d=\"M 0 0 L 10 4 L 0 8 z\"/></marker></defs>\n\
             <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"white\"/>\n\
             {}</svg>\n",
            self.content
        )
    }

    fn cover(&mut self, x: f64, y: f64) {
        self.low = (self.low.0.min(x), self.low.1.min(y));
        self.high = (self.high.0.max(x), self.high.1.max(y));
    }
}

impl RenderBackend for Canvas {
    fn draw_rect(
        &mut self,
        _: Point,
        _: Point,
        _: &StyleAttr,
        _: Option<String>,
        _: Option<ClipHandle>,
    ) {
        // States are circles; the layout draws no other boxes.
    }

    fn draw_line(&mut self, start: Point, stop: Point, _: &StyleAttr, _: Option<String>) {
        self.draw_arrow(
            &[(start, start), (stop, stop)],
            false,
            (false, false),
            &StyleAttr::simple(),
            None,
            "",
        );
    }

    fn draw_circle(&mut self, xy: Point, size: Point, look: &StyleAttr, _: Option<String>) {
        let (rx, ry) = (size.x / 2., size.y / 2.);
        self.cover(xy.x - rx, xy.y - ry);
        self.cover(xy.x + rx, xy.y + ry);
        _ = writeln!(
            self.content,
            "<ellipse cx=\"{:.1}\" cy=\"{:.1}\" rx=\"{rx:.1}\" ry=\"{ry:.1}\" fill=\"white\" stroke=\"black\" stroke-width=\"{}\"/>",
            xy.x, xy.y, look.line_width
        );
    }

    fn draw_text(&mut self, xy: Point, text: &str, _: &StyleAttr) {
        let lines: Vec<&str> = text.lines().collect();
        let widest = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64;
        let top = xy.y - LINE * (lines.len() as f64 - 1.) / 2.;
        self.cover(xy.x - widest * LETTER / 2., top - LINE / 2.);
        self.cover(xy.x + widest * LETTER / 2., top + LINE * (lines.len() as f64 - 0.5));
        for (k, line) in lines.iter().enumerate() {
            // The white border keeps letters readable where an arrow passes below them.
            _ = writeln!(
                self.content,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" dominant-baseline=\"middle\" \
                 paint-order=\"stroke\" stroke=\"white\" stroke-width=\"4\">{}</text>",
                xy.x,
                top + LINE * k as f64,
                escaped(line)
            );
        }
    }

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        head: (bool, bool),
        _: &StyleAttr,
        _: Option<String>,
        text: &str,
    ) {
        let [first, second, rest @ ..] = path else { return };
        for (a, b) in path {
            self.cover(a.x, a.y);
            self.cover(b.x, b.y);
        }
        let mut curve = format!(
            "M {:.1} {:.1} C {:.1} {:.1}, {:.1} {:.1}, {:.1} {:.1}",
            first.0.x,
            first.0.y,
            first.1.x,
            first.1.y,
            second.0.x,
            second.0.y,
            second.1.x,
            second.1.y
        );
        for (control, end) in rest {
            _ = write!(curve, " S {:.1} {:.1}, {:.1} {:.1}", control.x, control.y, end.x, end.y);
        }
        let marker = |is: bool, place| {
            if is { format!(" marker-{place}=\"url(#head)\"") } else { String::new() }
        };
        _ = writeln!(
            self.content,
            "<path d=\"{curve}\" fill=\"none\" stroke=\"black\"{}{}/>",
            marker(head.0, "start"),
            marker(head.1, "end")
        );
        if !text.is_empty() {
            let middle = path[path.len() / 2].1;
            self.draw_text(middle, text, &StyleAttr::simple());
        }
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
