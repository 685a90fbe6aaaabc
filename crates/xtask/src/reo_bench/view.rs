//! The report as words and as a picture.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::thesis::PLATFORMS;
use super::{BenchReport, DeviceReport, Series, mean};
use tickbound_report::chart::{Chart, ChartData, MAX_LINES};
use tickbound_report::{ReportError, Table};

impl BenchReport {
    /// The tables: milliseconds for each number of products, then bandwidths. In Markdown.
    pub fn markdown(&self) -> String {
        let mut out = self.times().to_markdown();
        let machine = &self.machine;
        let _ = writeln!(
            out,
            "\nMilliseconds for so many products of two 4-state squares (16 states, 256 algebraic \
             transitions each): averages of the runs after the first {}. On an OpenCL device in \
             all / its kernels alone. Measured on {}, {} cores, {}; the rows of 2012 are the \
             averages of Vilbergsson's tables 4.1 and 4.2.\n",
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
        let products = self.products();
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
    /// [`Chart::write`]. Returns the files written.
    ///
    /// # Errors
    /// The picture cannot be drawn or written.
    pub fn plot(&self, path: impl AsRef<Path>) -> Result<Vec<PathBuf>, ReportError> {
        let values = self.products();
        let of_series = |device: &DeviceReport, series: &Series| {
            let at = |n: &usize| series.points.iter().find(|p| p.products == *n);
            let times = values.iter().map(|n| at(n).map(|p| mean(&p.total))).collect();
            (format!("{}, {}", title(device), series.mode.text()), times)
        };
        let here = self.devices.iter().flat_map(|d| d.series.iter().map(move |s| (d, s)));
        let then = PLATFORMS.iter().map(|platform| {
            (platform.name.to_owned(), values.iter().map(|n| platform.at(*n)).collect())
        });
        let lines = here.map(|(d, s)| of_series(d, s)).chain(then).take(MAX_LINES).collect();
        let values = values.iter().map(|n| *n as i64).collect();
        let chart = Chart {
            title: "products of two 4-state squares".to_owned(),
            x: "products".to_owned(),
            y: "milliseconds (logarithmic)".to_owned(),
            data: ChartData::Lines { values, lines, logarithmic: true },
        };
        chart.write(path)
    }

    /// The numbers of products that were measured, in increasing order.
    fn products(&self) -> Vec<usize> {
        let series = self.devices.iter().flat_map(|device| &device.series);
        let all = series.flat_map(|series| &series.points).map(|point| point.products);
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// A device's name, and through what it was used.
fn title(device: &DeviceReport) -> String {
    let through = if device.driver.is_some() { "OpenCL" } else { "threads" };
    format!("{} ({through})", device.name)
}
