//! Runs the kernels of `kernels.cl` on an OpenCL device, and compares what they compute.

use std::collections::HashMap;

use super::expect::{self, ADDED, CELLS, LINE, MASK, NEAR_CELLS, TURNS};
use super::run::{CalibrateError, CalibrationRun, Facts, RunTimes, Work};
use tickbound_device::{
    Arg, Buffer, Device, DeviceKernel, DeviceKind, DeviceProgram, Session, Timing,
};

pub(super) const SOURCE: &str = include_str!("kernels.cl");
/// By how many cells the loads of local and constant memory move in each iteration.
pub(super) const STEP: usize = 5;
/// What the fill writes, and what results are before a launch that is verified.
pub(super) const FILLING: u32 = 0x5EED_5EED;

/// A device with the kernels and their buffers.
#[derive(Debug)]
pub struct OpenCl<'s> {
    pub(super) session: &'s Session,
    /// Numbers of a vector of the device.
    pub(super) vector: usize,
    program: DeviceProgram<'s>,
    kernels: HashMap<&'static str, DeviceKernel>,
    /// A cycle through 4 KiB, which is also a table of numbers.
    pub(super) table: (Vec<u32>, Buffer<u32>),
    /// A table of numbers that L1 serves.
    pub(super) near: (Vec<u32>, Buffer<u32>),
    /// Where a chase is, and which one that is.
    pub(super) place: Buffer<u32>,
    chased: Option<Work>,
    factors: [u8; 16],
    /// Results, one for each item or group.
    pub(super) out: Buffer<u32>,
    pub(super) counters: Buffer<u32>,
    /// What chases and streams read; made again for another footprint.
    pub(super) cells: Option<Cells>,
}

/// Cells of global memory with a cycle through the first of each line.
#[derive(Debug)]
pub(super) struct Cells {
    pub order: Vec<u32>,
    pub buffer: Buffer<u32>,
    /// A fill has gone over them.
    overwritten: bool,
}

impl<'s> OpenCl<'s> {
    /// Builds the kernels.
    ///
    /// # Errors
    /// The driver refuses them, or the device fails.
    pub fn new(session: &'s Session) -> Result<OpenCl<'s>, CalibrateError> {
        OpenCl::with_source(session, SOURCE)
    }

    pub(super) fn with_source(
        session: &'s Session,
        source: &str,
    ) -> Result<OpenCl<'s>, CalibrateError> {
        let vector = OpenCl::facts(session.device()).vector;
        let suffix = if vector > 1 { vector.to_string() } else { String::new() };
        let options = format!("-cl-std=CL1.2 -DSUFFIX={suffix}");
        let program = DeviceProgram::build(session, source, &options)?;
        let table = |cells| {
            let table = expect::cycle(cells);
            let buffer = session.upload(&table)?;
            Ok::<_, CalibrateError>((table, buffer))
        };
        Ok(OpenCl {
            program,
            kernels: HashMap::new(),
            table: table(CELLS)?,
            near: table(NEAR_CELLS)?,
            place: session.upload(&[0])?,
            chased: None,
            factors: expect::factor_bytes(),
            out: session.buffer(1)?,
            counters: session.buffer(1)?,
            cells: None,
            vector,
            session,
        })
    }

    /// What the device states of itself.
    pub fn facts(device: &Device) -> Facts {
        let details = device.details();
        let processor = device.kind == DeviceKind::Cpu;
        // Other devices make vectors of items.
        let vector = if processor { 1 << details.vector.clamp(1, 16).ilog2() } else { 1 };
        Facts {
            name: device.name.clone(),
            driver: format!("{}, driver {}", device.platform, device.driver),
            units: device.units,
            max_group: device.max_group,
            local_memory: device.local_memory,
            max_alloc: device.max_alloc,
            memory: device.memory,
            cache: details.cache,
            clock_mhz: details.clock_mhz,
            lockstep: details.lockstep,
            processor,
            vector,
            line: details.line,
            registers: details.registers,
        }
    }

    fn kernel(&mut self, name: &'static str) -> Result<(), CalibrateError> {
        if !self.kernels.contains_key(name) {
            let kernel = self.program.kernel(name)?;
            self.kernels.insert(name, kernel);
        }
        Ok(())
    }

    /// Items of the largest group that a kernel can be run in.
    pub(super) fn most_of(&mut self, work: Work) -> Result<usize, CalibrateError> {
        if let Work::Fill { .. } = work {
            return Ok(1);
        }
        self.kernel(work.kernel())?;
        Ok(self.kernels.get(work.kernel()).map_or(1, DeviceKernel::max_group))
    }

    pub(super) fn refused(&self, run: &CalibrationRun, why: impl Into<String>) -> CalibrateError {
        let device = self.session.device().name.clone();
        CalibrateError::Refused { device, kernel: run.work.kernel(), why: why.into() }
    }

    pub(super) fn prepare(&mut self, run: &CalibrationRun) -> Result<(), CalibrateError> {
        if run.items() == 0 || u32::try_from(run.items()).is_err() {
            return Err(self.refused(run, format!("{} items", run.items())));
        }
        if self.out.len() < run.items() {
            self.out = self.session.buffer(run.items())?;
            self.session.fill(&self.out, 0u32)?;
        }
        match run.work {
            Work::Atomic | Work::AtomicShared if self.counters.len() < run.items() => {
                self.counters = self.session.buffer(run.items())?;
                self.session.fill(&self.counters, 0u32)?;
            }
            Work::Chase { .. } | Work::ChaseLocal | Work::ChaseConstant if run.items() != 1 => {
                return Err(self.refused(run, "a chase is for one item"));
            }
            Work::Chase { bytes } | Work::Fill { bytes } => self.footprint(run, bytes)?,
            Work::Stream { bytes } => {
                if run.items() as u64 * 32 > bytes as u64 {
                    return Err(self.refused(run, "it would read more than there is"));
                }
                self.footprint(run, bytes)?;
            }
            Work::Sweep { bytes, .. } => {
                if !bytes.is_power_of_two() || bytes < 4 * CELLS {
                    return Err(self.refused(run, format!("a sweep through {bytes} bytes")));
                }
                self.footprint(run, bytes)?;
            }
            Work::LoadBanks { apart: 0 } => return Err(self.refused(run, "items 0 cells apart")),
            Work::LoadNear { apart } if apart == 0 || apart > LINE + 1 => {
                return Err(self.refused(run, format!("items {apart} vectors apart")));
            }
            Work::Hold { local } if local < 4 * run.group => {
                return Err(self.refused(run, format!("{local} bytes of local memory")));
            }
            _ => {}
        }
        if let Work::Chase { .. } | Work::ChaseLocal | Work::ChaseConstant = run.work
            && self.chased != Some(run.work)
        {
            self.session.write(&self.place, 0, &[0])?;
            self.chased = Some(run.work);
        }
        match run.work {
            Work::Fill { .. } => Ok(()),
            work => self.kernel(work.kernel()),
        }
    }

    /// Makes cells of this many bytes, unless they are there.
    fn footprint(&mut self, run: &CalibrationRun, bytes: usize) -> Result<(), CalibrateError> {
        let cells = bytes.div_ceil(4 * LINE) * LINE;
        if cells == 0 || u32::try_from(cells).is_err() {
            return Err(self.refused(run, format!("a footprint of {bytes} bytes")));
        }
        let filling = matches!(run.work, Work::Fill { .. });
        let fit = |c: &Cells| c.buffer.len() == cells && (filling || !c.overwritten);
        if self.cells.as_ref().is_some_and(fit) {
            return Ok(());
        }
        // Not both at a time.
        (self.cells, self.chased) = (None, None);
        let order = expect::cycle(cells / LINE);
        let (there, buffer) = (self.session.upload(&order)?, self.session.buffer(cells)?);
        let kernel = self.program.kernel("spread")?;
        let arguments = [Arg::buffer(&there), Arg::buffer(&buffer), Arg::U32(LINE as u32)];
        // SAFETY: item i, below `cells`, writes cell i of as many, and reads place i / LINE of an
        // order with cells / LINE places. The launch is waited for; the buffers live until then.
        unsafe { self.session.enqueue(&kernel, &arguments, &[cells], None)? }.wait()?;
        self.cells = Some(Cells { order, buffer, overwritten: false });
        Ok(())
    }

    /// How many items of `load_near`, `apart` vectors apart, load side by side within the table.
    pub(super) fn wide(&self, apart: usize) -> usize {
        (NEAR_CELLS / self.vector - 2 * TURNS) / apart + 1
    }

    fn arguments(&self, run: &CalibrationRun, from: usize) -> Option<Vec<Arg<'_>>> {
        let (out, place) = (Arg::buffer(&self.out), Arg::buffer(&self.place));
        let (table, iterations) = (Arg::buffer(&self.table.1), Arg::U32(run.iterations));
        let cells = self.cells.as_ref().filter(|c| !c.overwritten).map(|c| Arg::buffer(&c.buffer));
        let from = Arg::U32(u32::try_from(from).ok()?);
        let (many, step) = (Arg::U32(CELLS as u32), Arg::U32(STEP as u32));
        let factors = Arg::Bytes(&self.factors);
        Some(match run.work {
            Work::Chain | Work::OneBarrier | Work::Barriers => vec![out, factors, iterations],
            Work::Hold { local } => vec![out, Arg::Local(local), factors, iterations],
            Work::Chase { .. } => vec![cells?, place, iterations],
            Work::ChaseConstant => vec![table, place, iterations],
            Work::ChaseLocal => vec![table, place, Arg::Local(4 * CELLS), many, iterations],
            Work::Stream { .. } => vec![cells?, out, from, Arg::U32(FILLING)],
            Work::LoadLocal => {
                let (tile, mask) = (Arg::Local(4 * (2 * run.group + 16)), CELLS as u32 - 1);
                vec![table, out, tile, Arg::U32(mask), step, iterations]
            }
            Work::Reals | Work::Integers | Work::Mixed | Work::Specials => {
                vec![table, out, factors, Arg::U32(MASK), Arg::U32(ADDED), iterations]
            }
            Work::Clock => vec![out, Arg::U32(MASK), Arg::U32(ADDED), iterations],
            Work::LoadNear { apart } => {
                let [wide, apart] = [self.wide(apart), apart].map(|n| Arg::U32(n as u32));
                let table = Arg::buffer(&self.near.1);
                vec![table, out, wide, apart, Arg::U32(TURNS as u32), iterations]
            }
            Work::LoadBanks { apart } => {
                let tile = Arg::Local(4 * (run.group * apart + 2 * TURNS));
                let apart = Arg::U32(u32::try_from(apart).ok()?);
                vec![table, out, tile, Arg::U32(CELLS as u32 - 1), apart, iterations]
            }
            Work::Sweep { bytes, apart } => {
                let vectors = |bytes| u32::try_from(bytes / 4 / self.vector).ok();
                let last = Arg::U32(vectors(bytes)? - 1);
                vec![cells?, out, last, Arg::U32(vectors(apart)?), iterations]
            }
            Work::LoadConstant => vec![table, out, many, step, iterations],
            Work::Atomic => vec![Arg::buffer(&self.counters), out, Arg::U32(1), iterations],
            Work::AtomicShared => vec![Arg::buffer(&self.counters), out, Arg::U32(0), iterations],
            Work::LocalAtomic => vec![out, Arg::Local(4 * run.group), Arg::U32(1), iterations],
            Work::LocalAtomicShared => {
                vec![out, Arg::Local(4 * run.group), Arg::U32(0), iterations]
            }
            Work::Start => vec![out, from],
            Work::Fill { .. } => return None,
        })
    }

    /// Launches; `from` is the first group that writes in `start` and `stream`.
    pub(super) fn launch(
        &mut self,
        run: &CalibrationRun,
        from: usize,
    ) -> Result<RunTimes, CalibrateError> {
        self.prepare(run)?;
        if let (Work::Fill { .. }, Some(cells)) = (run.work, &mut self.cells) {
            cells.overwritten = true;
            return Ok(times(self.session.fill(&cells.buffer, FILLING)?));
        }
        let kernel = self.kernels.get(run.work.kernel());
        let Some((kernel, arguments)) = kernel.zip(self.arguments(run, from)) else {
            return Err(self.refused(run, "its buffers were not made"));
        };
        let (global, local) = ([run.items()], [run.group]);
        // SAFETY: `prepare` has seen to it that `out` and `counters` have an element for each item,
        // and that there are 8 cells for each item of `stream`. A chase stays on its cycle, which
        // lies within its cells or the table; it begins at a place of it, as `prepare` writes 0,
        // which is on every cycle, whenever another chase was there before. `load_local` reads up
        // to 2 * group + 14 cells of a tile that has 2 * group + 16, `local_atomics` works on one
        // counter an item, `hold` on one cell of as many, and `load_constant` stays in the table.
        // `load_near` reads up to 30 vectors beyond the item's place, which is at least 32 before
        // the table's end (`wide`, with vectors of at most 16 cells). `load_banks` reads up to 30
        // cells beyond an item's place in a tile that has 32 more. `sweep` masks its places by the
        // number of vectors less one, a power of two. The launch is waited for; the buffers live
        // until then.
        let launch = unsafe { self.session.enqueue(kernel, &arguments, &global, Some(&local))? };
        Ok(times(launch.wait()?))
    }

    pub(super) fn out(&self, len: usize) -> Result<Vec<u32>, CalibrateError> {
        let mut out = vec![0; len];
        self.session.read(&self.out, 0, &mut out)?;
        Ok(out)
    }

    pub(super) fn compare(
        &self,
        run: &CalibrationRun,
        pairs: impl IntoIterator<Item = (usize, u32, u32)>,
    ) -> Result<(), CalibrateError> {
        match pairs.into_iter().find(|(_, got, expected)| got != expected) {
            None => Ok(()),
            Some((index, got, expected)) => {
                let (device, kernel) = (self.session.device().name.clone(), run.work.kernel());
                Err(CalibrateError::Wrong { device, kernel, index, got, expected })
            }
        }
    }
}

fn times(timing: Timing) -> RunTimes {
    let queued = timing.ended.saturating_sub(timing.queued) as f64 * 1e-9;
    RunTimes { busy: timing.seconds(), queued }
}
