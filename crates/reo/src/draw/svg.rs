//! Pictures as SVG.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::frames::Frame;
use super::picture::{GraphPicture, PicturePoint, Piece, Shape};
use super::words::{CELL, FONT, LINE, cells};

/// Pixels between pictures, above a caption, around everything.
const BETWEEN: f64 = 40.0;
const ABOVE: f64 = 28.0;
const MARGIN: f64 = 8.0;

/// Colours as on the program's other pages; what is lit is blue.
const STYLE: &str = "\
.l,.b,.o{fill:none;stroke:#1b1b1b;stroke-width:1.3}.b,.o{fill:#fff}.d{stroke-dasharray:5 4}\
.t{fill:#f3f4f6}\
.a{fill:#1b1b1b}text{fill:#1b1b1b;text-anchor:middle}.cap{text-anchor:start;font-weight:bold}\
.on .l,.on .b,.on .o{stroke:#0b62a8;stroke-width:2.6}.on .a,.on text{fill:#0b62a8}";

/// One drawing of rows: pictures side by side, below the caption of a step that is lit in them.
pub fn svg(title: &str, rows: &[(Vec<&GraphPicture>, Option<&Frame>)]) -> String {
    let mut body = String::new();
    let (mut width, mut y) = (0.0f64, MARGIN);
    for (pictures, frame) in rows {
        if let Some(frame) = frame {
            let letters = cells(&frame.caption) as f64 * CELL * 1.05;
            width = width.max(letters + 2.0 * MARGIN);
            let (middle, text) = (y + ABOVE / 2.0, escaped(&frame.caption));
            let place = format!("x=\"{MARGIN}\" y=\"{middle:.0}\"");
            _ = writeln!(body, "<text class=\"cap\" {place}>{text}</text>");
            y += ABOVE;
        }
        let mut x = MARGIN;
        for picture in pictures {
            _ = write!(body, "<g transform=\"translate({x:.0} {y:.0})\">\n{}</g>\n", {
                content(picture, frame.map(|f| &f.on))
            });
            x += picture.width + BETWEEN;
        }
        width = width.max(x - BETWEEN + MARGIN);
        y += pictures.iter().map(|p| p.height).fold(0.0, f64::max) + MARGIN;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{y:.0}\" \
         viewBox=\"0 0 {width:.0} {y:.0}\" \
         font-family=\"'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace\" \
         font-size=\"{FONT}\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"{width:.0}\" height=\"{y:.0}\" fill=\"#fff\"/>\n{body}</svg>\n",
        escaped(title)
    )
}

/// The items of a picture, those of `on` as lit; for pages with the style of the classes.
pub fn content(picture: &GraphPicture, on: Option<&BTreeSet<String>>) -> String {
    let mut out = String::new();
    for item in &picture.items {
        let lit = on.is_some_and(|on| on.contains(&item.key));
        let class = if lit { " class=\"on\"" } else { "" };
        let (key, title) = (&item.key, escaped(&item.title));
        _ = write!(out, "<g data-key=\"{key}\"{class}><title>{title}</title>");
        item.shapes.iter().for_each(|shape| draw(shape, &mut out));
        out.push_str("</g>\n");
    }
    out
}

fn draw(shape: &Shape, out: &mut String) {
    _ = match shape {
        Shape::Path { start, pieces, dashed } => {
            let way = way(*start, pieces);
            let dashes = if *dashed { " d" } else { "" };
            write!(out, "<path class=\"l{dashes}\" d=\"{way}\"/>")
        }
        Shape::Area(points) => {
            let corners: Vec<String> =
                points.iter().map(|p| format!("{:.1},{:.1}", p.x, p.y)).collect();
            write!(out, "<polygon class=\"a\" points=\"{}\"/>", corners.join(" "))
        }
        Shape::Circle(c, r, filled) => {
            let class = if *filled { "a" } else { "o" };
            let centre = format!("cx=\"{:.1}\" cy=\"{:.1}\"", c.x, c.y);
            write!(out, "<circle class=\"{class}\" {centre} r=\"{r:.1}\"/>")
        }
        Shape::Box(p, w, h) | Shape::Shade(p, w, h) => {
            let shade = matches!(shape, Shape::Shade(..));
            let (class, round) = if shade { ("t", " rx=\"4\"") } else { ("b", "") };
            let place = format!("x=\"{:.1}\" y=\"{:.1}\"", p.x, p.y);
            let size = format!("width=\"{w:.1}\" height=\"{h:.1}\"{round}");
            write!(out, "<rect class=\"{class}\" {place} {size}/>")
        }
        Shape::Text { centre, lines } => {
            let first = centre.y - LINE * (lines.len() as f64 - 1.0) / 2.0 + FONT / 3.0;
            for (k, line) in lines.iter().enumerate() {
                let y = first + LINE * k as f64;
                let text = escaped(line);
                _ = write!(out, "<text x=\"{:.1}\" y=\"{y:.1}\">{text}</text>", centre.x);
            }
            Ok(())
        }
    };
}

/// The data of a `path` element.
fn way(start: PicturePoint, pieces: &[Piece]) -> String {
    let mut way = format!("M{:.1} {:.1}", start.x, start.y);
    for piece in pieces {
        _ = match piece {
            Piece::Line(p) => write!(way, "L{:.1} {:.1}", p.x, p.y),
            Piece::Curve(a, b, p) => {
                write!(way, "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", a.x, a.y, b.x, b.y, p.x, p.y)
            }
        };
    }
    way
}

fn escaped(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
