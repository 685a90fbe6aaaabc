//! What all pictures have in common: files, the font, and the colours of lines.

use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea, SVGBackend,
};
use plotters::style::{FontStyle, RGBColor, register_font};

use super::error::ReportError;

/// An area to draw on.
pub type Area<DB> = DrawingArea<DB, Shift>;
/// What comes of drawing.
pub type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// The one font.
pub(super) const FONT: &str = "sans-serif";

/// How far the SVG backend sets "vertically centred" text too high, in parts of its size: it centres
/// a box that is not the one around digits.
pub(super) const SVG_TEXT_DROP: f64 = 0.08;
/// The same for the PNG backend.
const PNG_TEXT_DROP: f64 = 0.21;

/// Colours of lines, after Okabe and Ito; they differ for colour-blind readers too.
const LINES: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 148, 108),
    RGBColor(190, 92, 150),
    RGBColor(150, 118, 0),
    RGBColor(66, 150, 200),
    RGBColor(118, 118, 118),
];

/// The colour of a line: one of seven, then the same ones darker.
#[must_use]
pub fn line_colour(number: usize) -> RGBColor {
    let RGBColor(r, g, b) = LINES[number % LINES.len()];
    let darker = |c: u8| if number % (2 * LINES.len()) < LINES.len() { c } else { c / 2 };
    RGBColor(darker(r), darker(g), darker(b))
}

/// Something that can be drawn, whatever the format of the file.
pub trait Picture {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws it. `drop` is how far vertically centred text comes out too high, in parts of its size.
    ///
    /// # Errors
    /// A failure of the drawing library.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, drop: f64) -> Drawn<DB>;
}

/// Makes the font known: the PNG backend has none of its own, and both measure text with one.
fn register(path: &Path) -> Result<(), ReportError> {
    register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| ReportError::draw(path, &"the built-in font cannot be read"))
}

/// The picture as SVG text; a failure names `path`.
pub(super) fn svg(picture: &impl Picture, path: &Path) -> Result<String, ReportError> {
    register(path)?;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, picture.size()).into_drawing_area();
        let drawn = picture.draw(&area, SVG_TEXT_DROP).and_then(|()| area.present());
        drawn.map_err(|e| ReportError::draw(path, &e))?;
    }
    Ok(text)
}

fn write_png(picture: &impl Picture, path: &Path) -> Result<(), ReportError> {
    register(path)?;
    // The drawing library reports a missing folder as a failed encoding; this says it plainly.
    std::fs::File::create(path).map_err(ReportError::write(path))?;
    let area = BitMapBackend::new(path, picture.size()).into_drawing_area();
    let drawn = picture.draw(&area, PNG_TEXT_DROP).and_then(|()| area.present());
    drawn.map_err(|e| ReportError::draw(path, &e))
}

/// Writes the picture in the format that the extension of `path` names (`.svg` or `.png`), or in
/// both, as `PATH.svg` and `PATH.png`, if it names neither. Returns the files written.
///
/// # Errors
/// A failure of the drawing library, or a file that cannot be written.
pub fn write(picture: &impl Picture, path: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let is = |file: &Path, end: &str| file.extension().is_some_and(|e| e.eq_ignore_ascii_case(end));
    // Appended, not replaced: `plot.v2` becomes `plot.v2.svg`.
    let with = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let files = match is(path, "svg") || is(path, "png") {
        true => vec![path.to_owned()],
        false => vec![with(".svg"), with(".png")],
    };
    for file in &files {
        match is(file, "png") {
            true => write_png(picture, file)?,
            false => {
                std::fs::write(file, svg(picture, file)?).map_err(ReportError::write(file))?;
            }
        }
    }
    Ok(files)
}
