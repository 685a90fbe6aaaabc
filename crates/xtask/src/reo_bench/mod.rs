//! The experiment of the thesis, on every device of this machine.
//!
//! Vilbergsson (2012, chapter 4) multiplies two automata of four states, each the product of two
//! FIFO1 buffers, a hundred to a thousand times, on a graphics card and on two processors. Here the
//! same products are made by this machine's threads and by each OpenCL device, one by one and all
//! in one call; and one large product beside a plain fill of as many bytes, which states what the
//! device's memory would take at best.
//!
//! The first runs do not count for the averages, as the thesis does for processors. Times are in
//! milliseconds, with everything that is needed for the products: for a device also copying the
//! factors there and the products back. A device that fails is reported with its error; what the
//! others gave stands.
//!
//! ```
//! use tickbound_xtask::reo_bench::{BenchOptions, run};
//! use tickbound_reo::limits::ProductLimits;
//!
//! let options = BenchOptions { products: vec![1, 2], kept: 2, dropped: 0, bytes: 1 << 12 };
//! let report = run(&options, &[], &ProductLimits::memory(1 << 20), &|_| {}).unwrap();
//! assert_eq!(report.devices.len(), 1); // the processors
//! assert!(report.markdown().contains("GTX570"));
//! ```

mod run;
pub mod thesis;
mod view;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tickbound_reo::product::dense::DenseError;

pub use run::run;

use tickbound_report::machine::Machine;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchOptions {
    /// How many products: one point of each series for each.
    pub products: Vec<usize>,
    /// Runs of which the average is taken, at least 1.
    pub kept: usize,
    /// Runs before them that do not count.
    pub dropped: usize,
    /// About how many bytes the large product has, at most what fits.
    pub bytes: u64,
}

impl Default for BenchOptions {
    /// As in the thesis: 100 to 1000 products, 15 runs, of which the first 5 do not count.
    fn default() -> Self {
        let products = (1..=10).map(|hundreds| hundreds * 100).collect();
        BenchOptions { products, kept: 10, dropped: 5, bytes: 128 << 20 }
    }
}

/// Why nothing was measured.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BenchError {
    /// There is nothing to take an average of.
    #[error("no runs are kept; keep 1 at least")]
    Runs,
    /// The factors could not be made, or it was stopped.
    #[error(transparent)]
    Dense(#[from] DenseError),
}

/// How products are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A call, or a launch, for each.
    OneByOne,
    /// One call, or one launch, for all.
    Batched,
}

impl Mode {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Mode::OneByOne => "one by one",
            Mode::Batched => "batched",
        }
    }
}

/// The runs of one number of products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchPoint {
    /// How many products each run made.
    pub products: usize,
    /// Milliseconds of each run that was kept, by this machine's clock.
    pub total: Vec<f64>,
    /// Milliseconds that the kernels of each run took, by the device's clock; none for processors.
    pub kernels: Vec<f64>,
}

/// Products made on one device in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// How they were made.
    pub mode: Mode,
    /// In the order of [`BenchOptions::products`].
    pub points: Vec<BenchPoint>,
}

/// One large product beside a plain fill of as many bytes, in turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// Bytes of the product.
    pub bytes: u64,
    /// Seconds of each fill that was kept.
    pub fill: Vec<f64>,
    /// Seconds of each product that was kept.
    pub product: Vec<f64>,
}

impl Bandwidth {
    /// The product's bandwidth as a part of the fill's, by the medians: 1 is as fast as can be.
    pub fn ratio(&self) -> f64 {
        median(&self.fill) / median(&self.product)
    }

    /// Bytes per second of the fill and of the product, by the medians.
    pub fn rates(&self) -> (f64, f64) {
        let bytes = self.bytes as f64;
        (bytes / median(&self.fill), bytes / median(&self.product))
    }
}

/// What was measured on a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// Its name.
    pub name: String,
    /// The OpenCL platform and the driver's version; none for the processors without OpenCL.
    pub driver: Option<String>,
    /// Threads, or compute units.
    pub units: u64,
    /// The experiment.
    pub series: Vec<Series>,
    /// The large product, if there was room for one.
    pub bandwidth: Option<Bandwidth>,
    /// Why there is no more, if the device failed.
    pub error: Option<String>,
}

/// The experiment on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchReport {
    /// The machine.
    pub machine: Machine,
    /// Runs before those that count.
    pub dropped: usize,
    /// Processors first, then each OpenCL device.
    pub devices: Vec<DeviceReport>,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

fn median(all: &[f64]) -> f64 {
    let mut all = all.to_vec();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}
