//! What all pictures have in common: files, the font, and the colours of lines.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use plotters::coord::Shift;
use plotters::prelude::{
    DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, Rectangle, SVGBackend,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, IntoFont, RGBColor, register_font};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;

use super::error::ReportError;

/// An area to draw on.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What comes of drawing.
pub type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The one font, as pictures name it.
pub(super) const FONT: &str = "sans-serif";

/// How far the drawing library sets "vertically centred" text too high, in parts of its size: it
/// centres a box that is not the one around digits.
pub(super) const TEXT_DROP: f64 = 0.08;

/// Pixels of a PNG for each of the picture.
const PNG_SCALE: f32 = 2.0;

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

/// A drawing area for rectangles and texts at whole pixels.
pub(super) struct Sheet<'a, 'b> {
    pub area: &'a Area<'b>,
}

impl Sheet<'_, '_> {
    /// A filled rectangle.
    pub fn fill(&self, (x, y): (i32, i32), (width, height): (i32, i32), colour: RGBColor) -> Drawn {
        self.area.draw(&Rectangle::new([(x, y), (x + width, y + height)], colour.filled()))
    }

    /// A frame of `thickness` pixels along the inside of the rectangle. Filled bars, not strokes:
    /// a stroke at whole coordinates lies between pixels and is blurred where SVG is smoothed.
    pub fn frame(
        &self,
        (x, y): (i32, i32),
        (width, height): (i32, i32),
        thickness: i32,
        colour: RGBColor,
    ) -> Drawn {
        self.fill((x, y), (width, thickness), colour)?;
        self.fill((x, y + height - thickness), (width, thickness), colour)?;
        self.fill((x, y), (thickness, height), colour)?;
        self.fill((x + width - thickness, y), (thickness, height), colour)
    }

    /// One line of text whose middle line is at `y`; `h` states which end of it is at `x`.
    pub fn text(&self, text: &str, size: i32, (x, y): (i32, i32), h: HPos, ink: RGBColor) -> Drawn {
        let drop = (f64::from(size) * TEXT_DROP).round() as i32;
        let font = (FONT, size).into_font().color(&ink).pos(Pos::new(h, VPos::Center));
        self.area.draw_text(text, &font, (x, y + drop))
    }

    /// One line of text that reads upwards, centred at the point.
    pub fn text_upwards(&self, text: &str, size: i32, (x, y): (i32, i32), ink: RGBColor) -> Drawn {
        let drop = (f64::from(size) * TEXT_DROP).round() as i32;
        let font = (FONT, size).into_font().transform(FontTransform::Rotate270);
        let font = font.color(&ink).pos(Pos::new(HPos::Center, VPos::Center));
        self.area.draw_text(text, &font, (x + drop, y))
    }
}

/// The colour of a line: one of seven, then the same ones darker.
pub fn line_colour(number: usize) -> RGBColor {
    let RGBColor(r, g, b) = LINES[number % LINES.len()];
    let darker = |c: u8| if number % (2 * LINES.len()) < LINES.len() { c } else { c / 2 };
    RGBColor(darker(r), darker(g), darker(b))
}

/// Something that can be drawn, in any file format.
pub trait Picture {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws it.
    ///
    /// # Errors
    /// A failure of the drawing library.
    fn draw(&self, area: &Area<'_>) -> Drawn;
}

/// The picture as SVG text; a failure names `path`.
pub(super) fn svg(picture: &impl Picture, path: &Path) -> Result<String, ReportError> {
    // The drawing library measures text with it.
    register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| ReportError::draw(path, &"the built-in font cannot be read"))?;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, picture.size()).into_drawing_area();
        let drawn = picture.draw(&area).and_then(|()| area.present());
        drawn.map_err(|e| ReportError::draw(path, &e))?;
    }
    Ok(text)
}

/// A picture as SVG text as a PNG, always with the built-in font; a failure names `path`.
fn png(svg: &str, path: &Path) -> Result<Vec<u8>, ReportError> {
    let fault = |why: String| ReportError::draw(path, &why);
    let mut options = usvg::Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    let font = usvg::fontdb::Source::Binary(Arc::new(epaint_default_fonts::UBUNTU_LIGHT));
    let family = fonts
        .load_font_source(font)
        .first()
        .and_then(|id| fonts.face(*id))
        .and_then(|face| face.families.first());
    let family = family.map(|(name, _)| name.clone());
    fonts.set_sans_serif_family(
        family.ok_or_else(|| fault("the built-in font cannot be read".into()))?,
    );
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| fault(e.to_string()))?;
    let size = tree.size().to_int_size().scale_by(PNG_SCALE);
    let pixels = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut pixels = pixels.ok_or_else(|| fault("it is too large".into()))?;
    resvg::render(&tree, Transform::from_scale(PNG_SCALE, PNG_SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| fault(e.to_string()))
}

fn is(file: &Path, end: &str) -> bool {
    file.extension().is_some_and(|e| e.eq_ignore_ascii_case(end))
}

/// Whether the extension of a file's name is that of a picture.
pub fn is_picture(path: &Path) -> bool {
    is(path, "svg") || is(path, "png")
}

/// The files of a picture: that of `path`, if its extension names a format (`.svg` or `.png`),
/// `PATH.svg` and `PATH.png` if it has no extension.
///
/// # Errors
/// Another extension.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, ReportError> {
    match path.extension() {
        None => Ok(vec![path.with_extension("svg"), path.with_extension("png")]),
        Some(_) if is_picture(path) => Ok(vec![path.to_owned()]),
        Some(_) => {
            let (svg, png) = (path.with_extension("svg"), path.with_extension("png"));
            let why = format!(
                "pictures are .svg or .png; name it {} or {}",
                svg.display(),
                png.display()
            );
            Err(ReportError::data(path.display().to_string(), why))
        }
    }
}

/// Writes the picture into its [`files`], in the formats that their extensions name. Returns them.
///
/// # Errors
/// Another extension, a failure of the drawing library, or a file that cannot be written.
pub fn write(picture: &impl Picture, path: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let files = files(path)?;
    for file in &files {
        let svg = svg(picture, file)?;
        let drawn = if is(file, "png") { png(&svg, file)? } else { svg.into_bytes() };
        tickbound_os::output::write(file, &drawn).map_err(ReportError::write(file))?;
    }
    Ok(files)
}
