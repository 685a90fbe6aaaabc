//! The measurements.

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::primitive::{BufferContent, fifo1};
use tickbound_reo::product::dense::{
    BatchPlan, CellData, DenseError, DensePlan, EMPTY, Matrix, batch, fold, product,
};
use tickbound_reo::symbol::Symbols;

use super::{
    Bandwidth, BenchError, BenchOptions, BenchPoint, BenchReport, DeviceReport, Mode, Series,
};
use tickbound_device::Device;
use tickbound_reo_opencl::{Multiplier, MultiplierError};
use tickbound_report::machine::Machine;

/// Buffers of the largest product that is measured: 2^14 states, 2 GiB.
const MAX_BUFFERS: u32 = 14;

/// Runs the experiment on the processors and on each of `devices`. `progress` is called with what
/// comes next, a line each; `limits` stops it and bounds its memory.
///
/// # Errors
/// No runs to keep, or no memory for two squares. A device that fails is in the report.
pub fn run(
    options: &BenchOptions,
    devices: &[Device],
    limits: &ProductLimits,
    progress: &dyn Fn(&str),
) -> Result<BenchReport, BenchError> {
    if options.kept == 0 {
        return Err(BenchError::Runs);
    }
    let bench = Bench { options, limits, progress, parts: buffers(limits)? };
    let mut report = BenchReport {
        machine: Machine::this(),
        dropped: options.dropped,
        devices: vec![bench.processors()],
        interrupted: false,
    };
    for device in devices {
        if limits.go_on().is_err() {
            break;
        }
        report.devices.push(bench.device(device));
    }
    report.interrupted = limits.go_on().is_err();
    Ok(report)
}

/// The buffers of the experiment and of the large product: none shares a name with another.
fn buffers(limits: &ProductLimits) -> Result<Vec<Matrix>, DenseError> {
    let mut symbols = Symbols::new();
    let mut buffer = |i: u32| {
        let (a, b) = (symbols.name(&format!("a{i}")), symbols.name(&format!("b{i}")));
        let automaton: Automaton =
            fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty);
        Matrix::new(&automaton, CellData::Ignore, limits)
    };
    (0..MAX_BUFFERS).map(&mut buffer).collect()
}

struct Bench<'a> {
    options: &'a BenchOptions,
    limits: &'a ProductLimits<'a>,
    progress: &'a dyn Fn(&str),
    parts: Vec<Matrix>,
}

/// Seconds of one run: by this machine's clock, and of its kernels by the device's.
type Run = (f64, Option<f64>);
/// Makes the products of all pairs in one mode.
type Products<'a> = &'a dyn Fn(Mode, &[(&Matrix, &Matrix)]) -> Result<Run, MultiplierError>;
/// Seconds of fills and of products, for this many runs.
type AgainstFill<'a> = &'a dyn Fn(&DensePlan, usize) -> Result<Vec<[f64; 2]>, MultiplierError>;

impl Bench<'_> {
    fn processors(&self) -> DeviceReport {
        let machine = Machine::this();
        let mut report = DeviceReport {
            name: machine.processor,
            driver: None,
            units: rayon::current_num_threads() as u64,
            series: Vec::new(),
            bandwidth: None,
            error: None,
        };
        let done = self.fill(&mut report, &|mode, pairs| {
            let start = Instant::now();
            match mode {
                Mode::OneByOne => {
                    for (left, right) in pairs {
                        black_box(product(left, right, self.limits)?);
                    }
                }
                Mode::Batched => _ = black_box(batch(pairs, self.limits)?),
            }
            Ok((start.elapsed().as_secs_f64(), None))
        });
        let done = done.and_then(|()| {
            report.bandwidth = self
                .bandwidth(self.options.bytes, &|plan, runs| Ok(self.against_fill(plan, runs)?))?;
            Ok(())
        });
        report.error = done.err().and_then(failure);
        report
    }

    fn device(&self, device: &Device) -> DeviceReport {
        let mut report = DeviceReport {
            name: device.name.clone(),
            driver: Some(format!("{} {}", device.platform, device.driver)),
            units: u64::from(device.units),
            series: Vec::new(),
            bandwidth: None,
            error: None,
        };
        report.error = self.on_device(device, &mut report).err().and_then(failure);
        report
    }

    fn on_device(&self, device: &Device, report: &mut DeviceReport) -> Result<(), MultiplierError> {
        let engine = Multiplier::new(device)?;
        self.fill(report, &|mode, pairs| {
            let start = Instant::now();
            let plan = BatchPlan::new(pairs, self.limits)?;
            let planned = start.elapsed().as_secs_f64();
            let (cells, times) = match mode {
                Mode::OneByOne => engine.one_by_one(&plan, self.limits)?,
                Mode::Batched => engine.batch_cells(&plan, self.limits)?,
            };
            black_box(cells);
            Ok((planned + times.total, Some(times.kernels)))
        })?;
        let bytes = self.options.bytes.min(device.max_alloc);
        report.bandwidth = self.bandwidth(bytes, &|plan, runs| engine.against_fill(plan, runs))?;
        Ok(())
    }

    /// All series of a device, made by `run`.
    fn fill(&self, report: &mut DeviceReport, run: Products) -> Result<(), MultiplierError> {
        let squares = [fold(&self.parts[..2], self.limits)?, fold(&self.parts[2..4], self.limits)?];
        for mode in [Mode::OneByOne, Mode::Batched] {
            (self.progress)(&format!("{}: {}", report.name, mode.text()));
            report.series.push(Series { mode, points: Vec::new() });
            for products in &self.options.products {
                let pairs = vec![(&squares[0], &squares[1]); *products];
                let mut point = BenchPoint { products: *products, total: vec![], kernels: vec![] };
                for at in 0..self.options.dropped + self.options.kept {
                    self.limits.go_on()?;
                    let (total, kernels) = run(mode, &pairs)?;
                    if at >= self.options.dropped {
                        point.total.push(total * 1e3);
                        point.kernels.extend(kernels.map(|seconds| seconds * 1e3));
                    }
                }
                // The series is there: it was pushed above.
                if let Some(series) = report.series.last_mut() {
                    series.points.push(point);
                }
            }
        }
        (self.progress)(&format!("{}: a large product", report.name));
        Ok(())
    }

    /// The largest product of buffers that has at most `bytes`, measured by `run`.
    fn bandwidth(
        &self,
        bytes: u64,
        run: AgainstFill,
    ) -> Result<Option<Bandwidth>, MultiplierError> {
        let bytes = bytes.min(self.limits.memory / 2);
        // 2^n states have 4^n cells of 8 bytes.
        let Some(n) = (2..=MAX_BUFFERS).rev().find(|n| 8 << (2 * n) <= bytes) else {
            return Ok(None);
        };
        let (left, right) = self.parts[..n as usize].split_at(n as usize / 2);
        let plan = DensePlan::new(&fold(left, self.limits)?, &fold(right, self.limits)?)?;
        let runs = run(&plan, self.options.dropped + self.options.kept)?;
        let kept = &runs[self.options.dropped.min(runs.len())..];
        Ok(Some(Bandwidth {
            bytes: 8 << (2 * n),
            fill: kept.iter().map(|times| times[0]).collect(),
            product: kept.iter().map(|times| times[1]).collect(),
        }))
    }

    /// Seconds of a parallel fill and of the product, in turns, in memory that was touched before.
    fn against_fill(&self, plan: &DensePlan, runs: usize) -> Result<Vec<[f64; 2]>, DenseError> {
        let mut cells = plan.allocate(self.limits)?;
        let mut times = Vec::new();
        plan.fill(&mut cells, self.limits)?;
        for _ in 0..runs {
            let start = Instant::now();
            cells.par_chunks_mut(1 << 16).for_each(|block| block.fill(black_box(EMPTY)));
            let fill = start.elapsed().as_secs_f64();
            let start = Instant::now();
            plan.fill(&mut cells, self.limits)?;
            times.push([fill, start.elapsed().as_secs_f64()]);
        }
        Ok(times)
    }
}

/// An error as text; who has stopped the run needs none.
fn failure(error: MultiplierError) -> Option<String> {
    let stopped = MultiplierError::Dense(DenseError::Stopped(Stopped::Interrupted));
    (error != stopped).then(|| error.to_string())
}
