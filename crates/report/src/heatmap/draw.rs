//! The strokes of a heat map.

use plotters::style::colors::colormaps::{ColorMap, ViridisRGB};
use plotters::style::text_anchor::HPos;
use plotters::style::{BLACK, RGBColor, WHITE};

use super::layout::{AXIS_TITLE, BAR_WIDTH, Layout, MARGIN, TICK, TITLE, position};
use super::map::HeatMap;
use crate::picture::{Area, Drawn, Sheet};

const INK: RGBColor = RGBColor(40, 40, 40);
/// A configuration that does not exist.
const NONE: RGBColor = RGBColor(226, 226, 226);

pub(super) fn draw(map: &HeatMap, layout: &Layout, area: &Area<'_>) -> Drawn {
    area.fill(&WHITE)?;
    let sheet = Sheet { area };
    cells(&sheet, map, layout)?;
    optima(&sheet, map, layout)?;
    axes(&sheet, map, layout)?;
    bar(&sheet, map, layout)?;
    legend(&sheet, map, layout)
}

fn colour(position: f64) -> RGBColor {
    ViridisRGB.get_color(position)
}

/// Black or white, whichever stands out from `background`.
fn contrast(RGBColor(r, g, b): RGBColor) -> RGBColor {
    let luminance = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
    if luminance > 140.0 { BLACK } else { WHITE }
}

fn cells(sheet: &Sheet<'_, '_>, map: &HeatMap, layout: &Layout) -> Drawn {
    let (least, greatest) = map.bounds().unwrap_or((0, 0));
    let (width, height) = layout.cell;
    // A hairline between cells, where they are large enough to spare it.
    let line = i32::from(width.min(height) >= 8);
    for (j, row) in map.cells.iter().enumerate() {
        for (i, cell) in row.iter().enumerate() {
            let (x, y) = layout.corner(i, j);
            let shade = cell.map_or(NONE, |t| colour(position(t, least, greatest)));
            sheet.fill((x, y), (width - line, height - line), shade)?;
            if let (Some(size), Some(time)) = (layout.cell_text, cell) {
                let middle = (x + width / 2, y + height / 2);
                sheet.text(&time.to_string(), size, middle, HPos::Center, contrast(shade))?;
            }
        }
    }
    Ok(())
}

fn optima(sheet: &Sheet<'_, '_>, map: &HeatMap, layout: &Layout) -> Drawn {
    for (i, j) in &map.optimum {
        outline(sheet, layout.corner(*i, *j), layout.cell)?;
    }
    Ok(())
}

/// Black around white: one of the two shows on every colour of the scale.
fn outline(sheet: &Sheet<'_, '_>, corner: (i32, i32), (width, height): (i32, i32)) -> Drawn {
    let thick = if width.min(height) >= 14 { 2 } else { 1 };
    sheet.frame((corner.0 - 1, corner.1 - 1), (width + 1, height + 1), thick, BLACK)?;
    let inside = thick - 1;
    let extent = (width + 1 - 2 * thick, height + 1 - 2 * thick);
    sheet.frame((corner.0 + inside, corner.1 + inside), extent, thick, WHITE)
}

fn axes(sheet: &Sheet<'_, '_>, map: &HeatMap, layout: &Layout) -> Drawn {
    let (width, height) = layout.cell;
    let bottom = layout.top + height * layout.rows;
    let right = layout.left + width * layout.columns;
    sheet.text(&map.title, TITLE, (MARGIN, MARGIN + TITLE / 2), HPos::Left, BLACK)?;
    for (i, value) in map.x.values.iter().enumerate().step_by(layout.every.0) {
        let at = (layout.corner(i, 0).0 + width / 2, bottom + TICK / 2 + 6);
        sheet.text(&value.to_string(), TICK, at, HPos::Center, INK)?;
    }
    for (j, value) in map.y.values.iter().enumerate().step_by(layout.every.1) {
        let at = (layout.left - 8, layout.corner(0, j).1 + height / 2);
        sheet.text(&value.to_string(), TICK, at, HPos::Right, INK)?;
    }
    let below = bottom + TICK + 8 + AXIS_TITLE / 2 + 6;
    let (middle_x, middle_y) = ((layout.left + right) / 2, (layout.top + bottom) / 2);
    sheet.text(&map.x.name, AXIS_TITLE, (middle_x, below), HPos::Center, BLACK)?;
    sheet.text_upwards(&map.y.name, AXIS_TITLE, (AXIS_TITLE, middle_y), BLACK)
}

fn bar(sheet: &Sheet<'_, '_>, map: &HeatMap, layout: &Layout) -> Drawn {
    let Some((least, greatest)) = map.bounds() else { return Ok(()) };
    let (x, height) = (layout.bar_left, layout.bar_height);
    for row in 0..height {
        let shade = colour(if least == greatest {
            0.0
        } else {
            1.0 - f64::from(row) / f64::from((height - 1).max(1))
        });
        sheet.fill((x, layout.top + row), (BAR_WIDTH, 1), shade)?;
    }
    sheet.text("time in ticks", TICK, (x, layout.top - TICK - 5), HPos::Left, INK)?;
    for time in &layout.bar_ticks {
        let up = if least == greatest { 0.5 } else { position(*time, least, greatest) };
        let y = layout.top + (f64::from(height - 1) * (1.0 - up)).round() as i32;
        sheet.fill((x + BAR_WIDTH, y), (5, 1), INK)?;
        sheet.text(&time.to_string(), TICK, (x + BAR_WIDTH + 9, y), HPos::Left, INK)?;
    }
    Ok(())
}

fn legend(sheet: &Sheet<'_, '_>, map: &HeatMap, layout: &Layout) -> Drawn {
    let (mut x, y) = (layout.left, layout.legend);
    let box_size = (16, 16);
    if let (Some((i, j)), Some((least, greatest))) = (map.optimum.first(), map.bounds()) {
        let time = map.cells[*j][*i];
        let shade = time.map_or(NONE, |t| colour(position(t, least, greatest)));
        sheet.fill((x, y - 8), box_size, shade)?;
        outline(sheet, (x, y - 8), (17, 17))?;
        let text = time.map_or("optimum".into(), |t| format!("optimum: {t} ticks"));
        sheet.text(&text, TICK, (x + 24, y), HPos::Left, INK)?;
        x += 24 + i32::try_from(text.len()).unwrap_or(0) * 8 + 20;
    }
    if map.cells.iter().flatten().any(Option::is_none) {
        sheet.fill((x, y - 8), box_size, NONE)?;
        sheet.text("no valid configuration", TICK, (x + 24, y), HPos::Left, INK)?;
    }
    Ok(())
}
