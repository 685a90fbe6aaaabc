//! What is run on a device to find its prices, and who runs it.
//!
//! A [`CalibrationRun`] is plain data. A [`Runner`] times it: [`OpenCl`](super::OpenCl) on a
//! device; in the tests, the model's own simulator, whose prices must come out as they went in.

use thiserror::Error;

use tickbound_device::DeviceError;

/// One of the kernels in `kernels.cl`, with what an iteration of it does for each item. `Reals` to
/// `LoadNear` and `Sweep`, but for `Clock`, work on vectors of [`Facts::vector`] numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// 64 fused multiply-adds, each needing the result of the one before.
    Chain,
    /// The same by groups that each take local memory.
    Hold {
        /// Bytes of local memory of a group, at least 4 for each item.
        local: usize,
    },
    /// 8 of them and a barrier.
    OneBarrier,
    /// 8 of them with a barrier after each.
    Barriers,
    /// 16 loads from global memory by one item, each from the place that the one before read: a
    /// cycle in random order over this many bytes.
    Chase {
        /// Bytes that the cycle lies in.
        bytes: usize,
    },
    /// The same in local memory, in a table of 4 KiB.
    ChaseLocal,
    /// The same in constant memory, in a table of 4 KiB.
    ChaseConstant,
    /// 8 independent loads of 4 bytes from global memory, items in a row, no iterations.
    Stream {
        /// Bytes of the buffer, of which a launch of fewer items reads the beginning.
        bytes: usize,
    },
    /// 16 independent loads of 4 bytes from local memory, neighbouring items beside each other.
    LoadLocal,
    /// 16 loads of 4 bytes from constant memory, all items the same place.
    LoadConstant,
    /// 4 atomic additions to a counter of the item's own.
    Atomic,
    /// 4 atomic additions to one counter of all items.
    AtomicShared,
    /// 4 atomic additions to a counter of the item's own in local memory.
    LocalAtomic,
    /// 4 atomic additions to one counter of the group in local memory.
    LocalAtomicShared,
    /// 96 fused multiply-adds in 12 chains that do not wait for each other.
    Reals,
    /// 96 operations on whole numbers in 12 such chains.
    Integers,
    /// 48 of each by turns.
    Mixed,
    /// 24 square roots in 12 such chains, and as many multiply-adds.
    Specials,
    /// 32 operations on whole numbers, each needing the result of the one before; one item.
    Clock,
    /// 16 independent loads from a table of 8 KiB in global memory.
    LoadNear {
        /// Vectors from an item to its neighbour: 1 to 33.
        apart: usize,
    },
    /// 16 independent loads of 4 bytes from local memory by items this many cells from each other.
    LoadBanks {
        /// Cells from an item to its neighbour, at least 1.
        apart: usize,
    },
    /// 8 independent loads from a piece of global memory that all groups read repeatedly.
    Sweep {
        /// Bytes of the piece, a power of two, at least 4 KiB.
        bytes: usize,
        /// Bytes from the place where a group begins to that of the next group.
        apart: usize,
    },
    /// Nothing; there are no iterations.
    Start,
    /// The driver's own fill of this many bytes, in place of a kernel.
    Fill {
        /// Bytes that are written.
        bytes: usize,
    },
}

impl Work {
    /// Operations of one item in one iteration: what the price is of.
    pub fn operations(self) -> u64 {
        match self {
            Work::Chain | Work::Hold { .. } => 64,
            Work::OneBarrier | Work::Barriers | Work::Stream { .. } => 8,
            Work::Chase { .. } | Work::ChaseLocal | Work::ChaseConstant => 16,
            Work::LoadLocal | Work::LoadConstant => 16,
            Work::LoadNear { .. } | Work::LoadBanks { .. } => 16,
            Work::Reals | Work::Integers | Work::Mixed => 96,
            Work::Specials => 24,
            Work::Clock => 32,
            Work::Sweep { .. } => 8,
            Work::Atomic | Work::AtomicShared => 4,
            Work::LocalAtomic | Work::LocalAtomicShared => 4,
            Work::Start | Work::Fill { .. } => 1,
        }
    }

    /// The kernel's name.
    pub fn kernel(self) -> &'static str {
        match self {
            Work::Chain => "chain",
            Work::Hold { .. } => "hold",
            Work::OneBarrier => "one_barrier",
            Work::Barriers => "barriers",
            Work::Chase { .. } => "chase",
            Work::ChaseLocal => "chase_local",
            Work::ChaseConstant => "chase_constant",
            Work::Stream { .. } => "stream",
            Work::LoadLocal => "load_local",
            Work::LoadConstant => "load_constant",
            Work::Atomic | Work::AtomicShared => "atomics",
            Work::LocalAtomic | Work::LocalAtomicShared => "local_atomics",
            Work::Reals => "throughput_real",
            Work::Integers => "throughput_integer",
            Work::Mixed => "throughput_mixed",
            Work::Specials => "throughput_special",
            Work::Clock => "clock_rate",
            Work::LoadNear { .. } => "load_near",
            Work::LoadBanks { .. } => "load_banks",
            Work::Sweep { .. } => "sweep",
            Work::Start => "start",
            Work::Fill { .. } => "fill",
        }
    }
}

/// A launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalibrationRun {
    /// The kernel.
    pub work: Work,
    /// Groups, at least 1.
    pub groups: usize,
    /// Items in each, at least 1.
    pub group: usize,
    /// Iterations of the kernel.
    pub iterations: u32,
}

impl CalibrationRun {
    /// One iteration of some groups.
    pub fn new(work: Work, groups: usize, group: usize) -> CalibrationRun {
        CalibrationRun { work, groups, group, iterations: 1 }
    }

    /// With another number of iterations.
    #[must_use]
    pub fn iterations(self, iterations: u32) -> CalibrationRun {
        CalibrationRun { iterations, ..self }
    }

    /// Work items.
    pub fn items(&self) -> usize {
        self.groups.saturating_mul(self.group)
    }
}

/// How long a launch took, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTimes {
    /// From the moment when the device began with it.
    pub busy: f64,
    /// From the moment when it was put into the queue.
    pub queued: f64,
}

/// What runs launches and times them.
pub trait Runner {
    /// Items of the largest group that this kernel can be run in, at least 1.
    ///
    /// # Errors
    /// The device fails.
    fn most_items(&mut self, work: Work) -> Result<usize, CalibrateError>;

    /// Runs it.
    ///
    /// # Errors
    /// The device fails.
    fn run(&mut self, run: &CalibrationRun) -> Result<RunTimes, CalibrateError>;

    /// Runs it and compares what it computes with what the host computes.
    ///
    /// # Errors
    /// The device fails, or has computed something else.
    fn verify(&mut self, run: &CalibrationRun) -> Result<(), CalibrateError>;
}

/// What a device states of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// Its platform and its driver, for people.
    pub driver: String,
    /// Compute units.
    pub units: u32,
    /// Items of the largest group.
    pub max_group: usize,
    /// Bytes of local memory that a group can have.
    pub local_memory: u64,
    /// Bytes of the largest buffer.
    pub max_alloc: u64,
    /// Bytes of global memory.
    pub memory: u64,
    /// Bytes of the largest cache of global memory; 0 if unknown.
    pub cache: u64,
    /// The greatest clock rate in MHz; 0 if unknown.
    pub clock_mhz: u32,
    /// Items that move in lockstep (a warp, a wavefront), where the device reports it.
    pub lockstep: Option<u32>,
    /// Whether it is a processor: it runs one item after another.
    pub processor: bool,
    /// Numbers of a vector of one instruction: 1 but on processors; a power of two up to 16.
    pub vector: usize,
    /// Bytes of a cache line; 0 if unknown.
    pub line: u32,
    /// 32-bit registers that a group can have, where the device reports it.
    pub registers: Option<u32>,
}

/// Why a device cannot be calibrated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CalibrateError {
    /// The device or its driver failed.
    #[error("{0}; nothing was written")]
    Device(#[from] DeviceError),
    /// A kernel has computed something else than it should.
    #[error(
        "{device}: kernel `{kernel}` has computed {got} at {index}, expected {expected}: the \
         driver or the device is at fault; nothing was written"
    )]
    Wrong {
        /// The device's name.
        device: String,
        /// The kernel.
        kernel: &'static str,
        /// Place in the output.
        index: usize,
        /// What is there, as 32 bits.
        got: u32,
        /// What should be there.
        expected: u32,
    },
    /// A launch that this runner cannot make.
    #[error("{device}: kernel `{kernel}` cannot be run: {why}")]
    Refused {
        /// The device's name.
        device: String,
        /// The kernel.
        kernel: &'static str,
        /// Why.
        why: String,
    },
    /// Ctrl-C.
    #[error("interrupted; nothing was written")]
    Interrupted,
}
