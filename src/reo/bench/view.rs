//! The report as words and as a picture.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use plotters::prelude::*;

use super::thesis::PLATFORMS;
use super::{DeviceReport, Mode, Report, mean};
use crate::report::picture::{self, Area, Drawn, Picture, line_colour};
use crate::report::{ReportError, Table};

/// Pixels of the picture.
const SIZE: (u32, u32) = (900, 560);

/// One line of the picture: what it is, and its points (products, milliseconds).
type Line = (String, Vec<(f64, f64)>);

impl Report {
    /// The tables: milliseconds for each number of products, then bandwidths. In Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = self.times().to_markdown();
        let machine = &self.machine;
        let _ = writeln!(
            out,
            "\nMilliseconds for so many products of two 4-state squares (16 states, 256 algebraic \
             transitions each): averages of the runs after the first {}. On an OpenCL device in all \
             / its kernels alone. Measured on {}, {} cores, {}; the rows of 2012 are the averages of \
             Vilbergsson's tables 4.1 and 4.2.\n",
            self.dropped, machine.processor, machine.cores, machine.system,
        );
        out.push_str(&self.bandwidths().to_markdown());
        out.push_str(
            "\nOne large product beside a plain fill of as many bytes, in turns; medians. A ratio \
             of 1 is as fast as the device's memory takes it.\n",
        );
        for device in &self.devices {
            if let Some(error) = &device.error {
                let _ = writeln!(out, "\n{} failed: {error}", device.name);
            }
        }
        if self.interrupted {
            out.push_str("\nInterrupted: the rest was not measured.\n");
        }
        out
    }

    /// Milliseconds, a column for each number of products.
    fn times(&self) -> Table {
        let mut products: Vec<usize> = Vec::new();
        for series in self.devices.iter().flat_map(|device| &device.series) {
            products.extend(series.points.iter().map(|point| point.products));
        }
        products.sort_unstable();
        products.dedup();
        let headers = ["device".to_owned(), "products".to_owned()].into_iter();
        let mut table = Table::new(headers.chain(products.iter().map(usize::to_string)));
        for device in &self.devices {
            for series in &device.series {
                let cell = |n: &usize| {
                    let point = series.points.iter().find(|point| point.products == *n)?;
                    let kernels = (!point.kernels.is_empty()).then(|| mean(&point.kernels));
                    let kernels = kernels.map_or_else(String::new, |k| format!(" / {k:.3}"));
                    Some(format!("{:.3}{kernels}", mean(&point.total)))
                };
                let cells = products.iter().map(|n| cell(n).unwrap_or_else(|| "-".to_owned()));
                let row = [title(device), series.mode.text().to_owned()];
                table.push(row.into_iter().chain(cells));
            }
        }
        for platform in &PLATFORMS {
            let row = [platform.name.to_owned(), "-".to_owned()].into_iter();
            let cell = |n: &usize| platform.at(*n).map_or("-".to_owned(), |ms| format!("{ms:.3}"));
            table.push(row.chain(products.iter().map(cell)));
        }
        table
    }

    fn bandwidths(&self) -> Table {
        let mut table =
            Table::new(["device", "driver", "units", "MiB", "fill GB/s", "product GB/s", "ratio"]);
        for device in &self.devices {
            let Some(bandwidth) = &device.bandwidth else { continue };
            let (fill, product) = bandwidth.rates();
            table.push([
                title(device),
                device.driver.clone().unwrap_or_else(|| "threads".to_owned()),
                device.units.to_string(),
                (bandwidth.bytes >> 20).to_string(),
                format!("{:.1}", fill / 1e9),
                format!("{:.1}", product / 1e9),
                format!("{:.2}", bandwidth.ratio()),
            ]);
        }
        table
    }

    /// Draws the times over the number of products, this machine's beside the thesis's; see
    /// [`picture::write`]. Returns the files written.
    ///
    /// # Errors
    /// The picture cannot be drawn or written.
    pub fn plot(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ReportError> {
        picture::write(self, path.as_ref())
    }

    /// This machine's lines.
    fn lines(&self) -> Vec<Line> {
        let of = |device: &DeviceReport| -> Vec<Line> {
            let line = |mode: Mode, points: &[super::Point]| {
                let at = |p: &super::Point| (p.products as f64, mean(&p.total));
                (format!("{}, {}", title(device), mode.text()), points.iter().map(at).collect())
            };
            device.series.iter().map(|series| line(series.mode, &series.points)).collect()
        };
        self.devices.iter().flat_map(of).collect()
    }
}

impl Picture for Report {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, _: f64) -> Drawn<DB> {
        let here = self.lines();
        let then: Vec<Line> = PLATFORMS.iter().map(thesis_line).collect();
        let all = || here.iter().chain(&then).flat_map(|(_, points)| points).copied();
        let least = all().map(|(_, ms)| ms).fold(f64::INFINITY, f64::min).max(1e-6);
        let most = all().map(|(_, ms)| ms).fold(0.0, f64::max).max(least * 10.0);
        let widest = all().map(|(products, _)| products).fold(1.0, f64::max);
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(area)
            .caption("products of two 4-state squares", ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..widest, (least * 0.7..most * 1.4).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("products")
            .y_desc("milliseconds (logarithmic)")
            .x_label_formatter(&|n| format!("{n:.0}"))
            .y_label_formatter(&|ms| format!("{ms}"))
            .light_line_style(WHITE)
            .draw()?;
        // This machine in colours with points, the thesis in greys without.
        for (at, (name, points)) in here.iter().enumerate() {
            let colour = line_colour(at);
            chart
                .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)).point_size(3))?
                .label(name.as_str())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
        }
        for (at, (name, points)) in then.iter().enumerate() {
            let grey = RGBColor(90 + 50 * at as u8, 90 + 50 * at as u8, 90 + 50 * at as u8);
            chart
                .draw_series(LineSeries::new(points.clone(), grey.stroke_width(1)))?
                .label(name.as_str())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], grey));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .label_font(("sans-serif", 13))
            .draw()
    }
}

fn thesis_line(platform: &super::thesis::Platform) -> Line {
    let points = (1..=10).zip(platform.milliseconds).map(|(n, ms)| (f64::from(n) * 100.0, ms));
    (platform.name.to_owned(), points.collect())
}

/// A device's name, and through what it was used.
fn title(device: &DeviceReport) -> String {
    let through = if device.driver.is_some() { "OpenCL" } else { "threads" };
    format!("{} ({through})", device.name)
}
