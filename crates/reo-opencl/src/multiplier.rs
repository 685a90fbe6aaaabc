//! The dense product on an OpenCL device.
//!
//! A product is one launch, or one for each slab of rows that fits a buffer; many small ones are
//! one launch, a workgroup each. The result must have the checksum that follows from the factors
//! ([`DensePlan::checksum`]), else it is an error.

mod measure;

use std::cell::RefCell;
use std::time::Instant;

use thiserror::Error;
use tickbound_reo::limits::{ProductLimits, ProductProgress, Stopped};
use tickbound_reo::product::dense::{
    Batch, BatchPart, BatchPlan, Checksum, DenseError, DensePlan, EMPTY, Matrix, Sizes,
};

use tickbound_device::{
    Arg, Buffer, Device, DeviceError, DeviceKernel, DeviceKind, DeviceProgram, KernelLaunch,
    Session,
};

/// Bytes of a slab, where the device allows as many in one buffer.
const SLAB: u64 = 256 << 20;
/// Rows that one work item of `product` fills.
const EACH: usize = 16;
/// Most items of a workgroup.
pub(super) const GROUP: usize = 256;

/// Why a device made no product.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MultiplierError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// There is no such product, on any device.
    #[error(transparent)]
    Dense(#[from] DenseError),
    /// The result is not the product, or one is too large for a device: which, and the fix.
    #[error("{0}")]
    Unusable(String),
}

impl From<Stopped> for MultiplierError {
    fn from(stopped: Stopped) -> Self {
        MultiplierError::Dense(stopped.into())
    }
}

/// A result that may be a [`MultiplierError`].
pub type MultiplierResult<T> = Result<T, MultiplierError>;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MultiplierTimes {
    /// Seconds by this machine's clock, with everything copied to the device and back.
    pub total: f64,
    /// Seconds that its kernels ran, by its own clock.
    pub kernels: f64,
}

/// A device that makes dense products.
#[derive(Debug)]
pub struct Multiplier {
    product: DeviceKernel,
    batch: DeviceKernel,
    plain: DeviceKernel,
    pub(super) tally: DeviceKernel,
    pub(super) total: DeviceKernel,
    /// What batches read, and what they make: kept, as small ones take less than new buffers do.
    arena: RefCell<[Buffer<u64>; 2]>,
    pub(super) session: Session,
}

/// The kernels that devices are given.
pub const KERNELS: &str = concat!(include_str!("clauses.cl"), include_str!("dense.cl"));

impl Multiplier {
    /// Opens a device and builds the kernels for it.
    pub fn new(device: &Device) -> Result<Multiplier, DeviceError> {
        Multiplier::with_kernels(device, KERNELS)
    }

    /// As [`Multiplier::new`], with other kernels in the place of [`KERNELS`].
    pub fn with_kernels(device: &Device, source: &str) -> Result<Multiplier, DeviceError> {
        let session = Session::open(device)?;
        let options = if device.kind == DeviceKind::Cpu { "-DEIGHTS" } else { "" };
        let program = DeviceProgram::build(&session, source, options)?;
        let kernel = |name| program.kernel(name);
        let (product, batch, plain) = (kernel("product")?, kernel("batch")?, kernel("plain")?);
        let (tally, total) = (kernel("tally")?, kernel("total")?);
        drop(program);
        let arena = RefCell::new([session.buffer(1)?, session.buffer(1)?]);
        Ok(Multiplier { product, batch, plain, tally, total, arena, session })
    }

    /// Bytes that were copied from the device so far.
    pub fn bytes_read(&self) -> u64 {
        self.session.bytes_read()
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.session.device()
    }

    /// A product whose rows the device will make, up to `words` words at a time.
    pub fn rows<'a>(&'a self, plan: &'a DensePlan, words: usize) -> MultiplierResult<RowsIn<'a>> {
        let sizes = plan.sizes;
        fits32("a row of the product", sizes.row() as u128)?;
        let most = (SLAB.min(self.device().max_alloc) / 8).min(words as u64);
        let rows = (most as usize / sizes.row().max(1)).clamp(1, sizes.states().max(1));
        let buffers = self.buffers(&plan.left, &plan.right, rows * sizes.row())?;
        Ok(RowsIn { engine: self, plan, buffers, rows })
    }

    /// Many small products in one launch.
    pub fn batch(
        &self,
        pairs: &[(&Matrix, &Matrix)],
        limits: &ProductLimits,
    ) -> MultiplierResult<Batch> {
        let plan = BatchPlan::new(pairs, limits)?;
        let (cells, _) = self.batch_cells(&plan, limits)?;
        Ok(plan.batch(cells)?)
    }

    /// The cells of a batch and the time taken: one launch for all products that fit a buffer.
    pub fn batch_cells(
        &self,
        plan: &BatchPlan,
        limits: &ProductLimits,
    ) -> MultiplierResult<(Vec<u64>, MultiplierTimes)> {
        let start = Instant::now();
        let mut times = MultiplierTimes::default();
        let mut cells = vec![EMPTY; plan.words];
        let mut rest = cells.as_mut_slice();
        for parts in self.slabs(plan)? {
            limits.go_on()?;
            let (here, after) = rest.split_at_mut(parts.iter().map(BatchPart::words).sum());
            times.kernels += self.batch_slab(plan, parts, here)?;
            rest = after;
        }
        times.total = start.elapsed().as_secs_f64();
        self.check_batch(plan, &cells)?;
        Ok((cells, times))
    }

    /// The products of a batch in runs whose cells fit into one buffer, as do their factors.
    fn slabs<'p>(&self, plan: &'p BatchPlan) -> MultiplierResult<Vec<&'p [BatchPart]>> {
        let most = SLAB.min(self.device().max_alloc) as usize / 8;
        let (mut slabs, mut begin, mut words) = (Vec::new(), 0, 0);
        let parts = &plan.parts;
        for (at, part) in parts.iter().enumerate() {
            fits32("a product of the batch", part.words() as u128)?;
            let (left, right) = factor_words(part.sizes);
            let here = part.words().max(left + right + 8);
            if words + here > most && at > begin {
                slabs.push(&parts[begin..at]);
                (begin, words) = (at, 0);
            }
            words += here;
        }
        slabs.push(&parts[begin..]);
        Ok(slabs)
    }

    fn batch_slab(
        &self,
        plan: &BatchPlan,
        parts: &[BatchPart],
        out: &mut [u64],
    ) -> MultiplierResult<f64> {
        let (Some(first), Some(last), false) = (parts.first(), parts.last(), out.is_empty()) else {
            return Ok(0.0);
        };
        // Factors and cells of the parts follow each other.
        let (left, right) = factor_words(last.sizes);
        let left = &plan.left[first.left..last.left + left];
        let right = &plan.right[first.right..last.right + right];
        let words = |part: &BatchPart| {
            let Sizes { left_states, left_slots, right_states, right_slots } = part.sizes;
            let sizes = [left_states, left_slots, right_states, right_slots];
            let right = left.len() + part.right - first.right;
            let places = [part.left - first.left, right, part.cells - first.cells];
            let places = places.map(|at| at as u64);
            sizes.map(|size| size as u64).into_iter().chain([part.mask]).chain(places)
        };
        let mut arena = [left, right].concat();
        let table = arena.len() as u64;
        arena.extend(parts.iter().flat_map(words));
        let mut buffers = self.arena.borrow_mut();
        for (buffer, needed) in buffers.iter_mut().zip([arena.len(), out.len()]) {
            if buffer.len() < needed {
                *buffer = self.session.buffer(needed)?;
            }
        }
        let [input, cells] = &*buffers;
        self.session.write(input, 0, &arena)?;
        let arguments = [Arg::buffer(input), Arg::U64(table), Arg::buffer(cells)];
        let group = GROUP.min(self.batch.max_group());
        // SAFETY: a workgroup for each part of the table; of it the items write the part's words
        // and read the cells of its factors. BatchPlan lays these out one part after another, and
        // the buffers hold them from the first part's to the end of the last one's.
        let launch = unsafe {
            self.session.enqueue(&self.batch, &arguments, &[parts.len() * group], Some(&[group]))?
        };
        let timing = launch.wait()?;
        self.session.read(cells, 0, out)?;
        Ok(timing.seconds())
    }

    /// Launches rows `first..first + rows` of a product, to be written from the part's place on.
    /// `buffers` must hold its factors, and room for these rows.
    fn launch<'a>(
        &'a self,
        buffers: &'a Buffers,
        part: &BatchPart,
        first: usize,
        rows: usize,
    ) -> MultiplierResult<KernelLaunch<'a>> {
        let Sizes { left_states, left_slots, right_states, right_slots } = part.sizes;
        let row = part.sizes.row();
        buffers.check(part, rows)?;
        let number = |n: usize| Arg::U32(n as u32);
        let place = |n: usize| Arg::U64(n as u64);
        let arguments = [
            Arg::buffer(&buffers.left),
            place(part.left),
            Arg::buffer(&buffers.right),
            place(part.right),
            Arg::buffer(&buffers.out),
            place(part.cells),
            number(left_states),
            number(left_slots),
            number(right_states),
            number(right_slots),
            Arg::U64(part.mask),
            number(first),
            number(rows),
            number(EACH),
        ];
        let (global, local) = grid(row, rows, self.product.max_group());
        // SAFETY: items outside a row do nothing; the others write words of `rows` rows from the
        // part's place on and read cells of its factors, all of which was checked to lie within
        // the buffers. Places within a row and numbers of rows fit 32 bits.
        Ok(unsafe { self.session.enqueue(&self.product, &arguments, &global, Some(&local))? })
    }

    /// Factors on the device, and room for `out` words.
    fn buffers(&self, left: &[u64], right: &[u64], out: usize) -> Result<Buffers, DeviceError> {
        let (left, right) = (self.session.upload(left)?, self.session.upload(right)?);
        Ok(Buffers { left, right, out: self.session.buffer(out)? })
    }

    fn check_batch(&self, plan: &BatchPlan, cells: &[u64]) -> MultiplierResult<()> {
        plan.parts.iter().try_for_each(|part| {
            let found = Checksum::of(&cells[part.cells..][..part.words()], 0);
            self.check(plan.checksum(part), found)
        })
    }

    fn check(&self, expected: Checksum, found: Checksum) -> MultiplierResult<()> {
        agree(&self.device().name, expected, found)
    }
}

/// A product whose factors are on a device, and a buffer there for some of its rows.
pub struct RowsIn<'a> {
    engine: &'a Multiplier,
    plan: &'a DensePlan,
    buffers: Buffers,
    rows: usize,
}

impl RowsIn<'_> {
    /// Fills `out`, whole rows of the product from row `first` on; progress counts rows as states.
    /// It is not checked that the device left nothing out: [`DensePlan::checksum`] is the sum of
    /// all rows.
    ///
    /// # Errors
    /// The device failed, it was stopped, or the product has no such rows.
    pub fn fill(
        &self,
        first: usize,
        out: &mut [u64],
        limits: &ProductLimits,
    ) -> MultiplierResult<()> {
        let sizes = self.plan.sizes;
        let row = sizes.row().max(1);
        let needed = sizes.states().saturating_sub(first).saturating_mul(row);
        if !out.len().is_multiple_of(row) || out.len() > needed {
            return Err(DenseError::Cells { found: out.len(), needed }.into());
        }
        let part = BatchPart { sizes, mask: self.plan.mask, left: 0, right: 0, cells: 0 };
        for (slab, out) in out.chunks_mut(self.rows * row).enumerate() {
            limits.go_on()?;
            let (first, here) = (first + slab * self.rows, out.len() / row);
            self.engine.launch(&self.buffers, &part, first, here)?.wait()?;
            self.engine.session.read(&self.buffers.out, 0, out)?;
            let states = (first + here) as u64;
            (limits.progress)(ProductProgress { states, ..ProductProgress::default() });
        }
        Ok(())
    }
}

struct Buffers {
    left: Buffer<u64>,
    right: Buffer<u64>,
    out: Buffer<u64>,
}

impl Buffers {
    fn check(&self, part: &BatchPart, rows: usize) -> Result<(), DeviceError> {
        let (left, right) = factor_words(part.sizes);
        let lie = |buffer: &Buffer<u64>, offset: usize, words: usize| {
            let (end, len) = (offset.saturating_add(words), buffer.len());
            if end <= len { Ok(()) } else { Err(DeviceError::Range { offset, end, len }) }
        };
        lie(&self.left, part.left, left)?;
        lie(&self.right, part.right, right)?;
        lie(&self.out, part.cells, rows.saturating_mul(part.sizes.row()))
    }
}

/// Whether what `device` has made is what follows from the factors.
pub fn agree(device: &str, expected: Checksum, found: Checksum) -> MultiplierResult<()> {
    if expected == found {
        return Ok(());
    }
    Err(MultiplierError::Unusable(format!(
        "{device} gave a wrong product ({} steps where there are {}) without reporting an error; \
         use another --device",
        found.steps, expected.steps
    )))
}

fn factor_words(sizes: Sizes) -> (usize, usize) {
    let words = |n: usize, k: usize| n.saturating_mul(n).saturating_mul(k);
    (words(sizes.left_states, sizes.left_slots), words(sizes.right_states, sizes.right_slots))
}

/// Items and groups for rows of some width.
fn grid(width: usize, rows: usize, max_group: usize) -> ([usize; 2], [usize; 2]) {
    let group = GROUP.min(max_group).min(width.next_power_of_two());
    ([width.next_multiple_of(group), rows.div_ceil(EACH)], [group, 1])
}

pub(super) fn fits32(what: &str, words: u128) -> MultiplierResult<()> {
    // A little less, so that rounding up to whole groups stays within 32 bits.
    let most = u128::from(u32::MAX) - GROUP as u128;
    if words <= most {
        return Ok(());
    }
    Err(MultiplierError::Unusable(format!(
        "{what} has {words} words; a device can make 4294967295 at most; use --device cpu"
    )))
}
