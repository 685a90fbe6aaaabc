//! Seconds over valid configurations, both logarithmic: a panel for each family that grows.

use plotters::prelude::{
    BindKeyPoints, ChartBuilder, Circle, DashedLineSeries, IntoFont, IntoLogRange, LineSeries,
    PathElement, Text,
};
use plotters::style::{BLACK, Color, ShapeStyle, WHITE};
use tickbound_report::picture::{Area, Drawn, Picture, line_colour};

use crate::Measured;
use crate::contenders::{CONTENDERS, LIMIT};

const FONT: &str = "sans-serif";
/// The seconds and the configurations that every panel shows.
const SECONDS: (f64, f64) = (2.5e-4, 20.0);
const CONFIGURATIONS: (f64, f64) = (5.0, 2.5e18);

/// The picture.
pub struct Panels<'m>(pub &'m [Measured]);

impl Picture for Panels<'_> {
    fn size(&self) -> (u32, u32) {
        (960, 1120)
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        area.fill(&WHITE)?;
        let (legend, below) = area.split_vertically(82);
        draw_legend(&legend)?;
        let growing = self.0.iter().filter(|m| m.is_growing());
        for (panel, measured) in below.split_evenly((3, 2)).iter().zip(growing) {
            draw_panel(panel, measured)?;
        }
        Ok(())
    }
}

fn stroke(contender: usize) -> ShapeStyle {
    // The race lies on elimination nearly everywhere: it is drawn broad, and below.
    line_colour(contender).stroke_width(if contender == 0 { 5 } else { 2 })
}

fn draw_legend(area: &Area<'_>) -> Drawn {
    let small = || (FONT, 15).into_font().color(&BLACK);
    let (mut x, mut y) = (24, 14);
    for (number, contender) in CONTENDERS.iter().enumerate() {
        let width = 62 + 9 * contender.name().len() as i32;
        if x + width > 960 {
            (x, y) = (24, y + 20);
        }
        area.draw(&PathElement::new([(x, y + 8), (x + 24, y + 8)], stroke(number)))?;
        area.draw(&Text::new(contender.name(), (x + 30, y), small()))?;
        x += width;
    }
    let note = format!(
        "hollow: not ended after {LIMIT} s; a line that stops elsewhere: refused, or not tried any \
         more"
    );
    area.draw(&Text::new(note, (24, y + 24), small()))
}

/// Powers of ten at which lines are drawn and labels stand: all, or every second one.
fn decades((from, to): (f64, f64), step: usize) -> Vec<f64> {
    let exponents = from.log10().ceil() as i32..=to.log10().floor() as i32;
    exponents.filter(|e| e.rem_euclid(step as i32) == 0).map(|e| 10f64.powi(e)).collect()
}

fn draw_panel(area: &Area<'_>, measured: &Measured) -> Drawn {
    let ((least, most), (from, to)) = (SECONDS, CONFIGURATIONS);
    let mut chart = ChartBuilder::on(area)
        .caption(measured.family.name, (FONT, 18))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(
            (from..to).log_scale().with_key_points(decades(CONFIGURATIONS, 3)),
            (least..most).log_scale().with_key_points(decades(SECONDS, 1)),
        )?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.12))
        .x_desc("valid configurations")
        .y_desc("seconds")
        .x_label_formatter(&|n| format!("10{}", superscript(n.log10().round() as u32)))
        .y_label_formatter(&|n| n.to_string())
        .label_style((FONT, 14))
        .draw()?;
    let given_up = LIMIT as f64;
    let line = [(from, given_up), (to, given_up)];
    chart.draw_series(DashedLineSeries::new(line, 4, 4, BLACK.mix(0.5).stroke_width(1)))?;
    for number in 0..CONTENDERS.len() {
        let style = stroke(number);
        let points = points(measured, number);
        chart.draw_series(LineSeries::new(points.iter().map(|p| p.0), style))?;
        let mark = |(at, ended): &((f64, f64), bool)| {
            let style = if *ended { style.filled() } else { style.stroke_width(2) };
            Circle::new(*at, if *ended { 3 } else { 4 }, style)
        };
        chart.draw_series(points.iter().map(mark))?;
    }
    Ok(())
}

/// Where a line passes, and whether the search ended there; it stops where one was given up first.
fn points(measured: &Measured, contender: usize) -> Vec<((f64, f64), bool)> {
    let mut points = Vec::new();
    for row in &measured.rows {
        let Some(configurations) = row.configurations else { continue };
        let x = configurations as f64;
        match &row.outcomes[contender] {
            outcome if outcome.seconds().is_some() => {
                let seconds = outcome.seconds().unwrap_or_default();
                points.push(((x, seconds.max(SECONDS.0)), true));
            }
            crate::contenders::Timing::TimedOut => points.push(((x, LIMIT as f64), false)),
            _ => {}
        }
    }
    points
}

fn superscript(number: u32) -> String {
    let digit = |c: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c as usize - '0' as usize).unwrap_or(c);
    number.to_string().chars().map(digit).collect()
}
