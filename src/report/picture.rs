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

/// The picture as a PNG; a failure names `path`.
fn png(picture: &impl Picture, path: &Path) -> Result<Vec<u8>, ReportError> {
    register(path)?;
    // The drawing library encodes into files only.
    let file = tempfile::Builder::new().suffix(".png").tempfile();
    let file = file.map_err(ReportError::write(path))?;
    {
        let area = BitMapBackend::new(file.path(), picture.size()).into_drawing_area();
        let drawn = picture.draw(&area, PNG_TEXT_DROP).and_then(|()| area.present());
        drawn.map_err(|e| ReportError::draw(path, &e))?;
    }
    std::fs::read(file.path()).map_err(ReportError::write(path))
}

fn is(file: &Path, end: &str) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case(end))
}

/// The files of a picture: that of `path`, if its extension names a format (`.svg` or `.png`), otherwise `PATH.svg` and `PATH.png`.
#[must_use]
pub fn files(path: &Path) -> Vec<PathBuf> {
    // Appended, not replaced: `plot.v2` becomes `plot.v2.svg`.
    let with = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    match is(path, "svg") || is(path, "png") {
        true => vec![path.to_owned()],
        false => vec![with(".svg"), with(".png")],
    }
}

/// Writes the picture into its [`files`], in the formats that their extensions name. Returns them.
///
/// # Errors
/// A failure of the drawing library, or a file that cannot be written.
pub fn write(picture: &impl Picture, path: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let files = files(path);
    for file in &files {
        let drawn = match is(file, "png") {
            true => png(picture, file)?,
            false => svg(picture, file)?.into_bytes(),
        };
        tickbound_output::write(file, &drawn).map_err(ReportError::write(file))?;
    }
    Ok(files)
}
