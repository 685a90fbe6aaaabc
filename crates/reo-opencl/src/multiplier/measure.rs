//! What only measurements need: a launch for each product, and plain fills.

use std::time::Instant;

use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::dense::{BatchPart, BatchPlan, Checksum, DensePlan, EMPTY};

use super::{EACH, Multiplier, MultiplierResult, MultiplierTimes, fits32, grid};
use tickbound_device::{Arg, Buffer};

/// Products that are put into the queue before the first is waited for.
const AHEAD: usize = 256;

impl Multiplier {
    /// The cells of a batch, a launch for each product, and how long that took.
    pub fn one_by_one(
        &self,
        plan: &BatchPlan,
        limits: &ProductLimits,
    ) -> MultiplierResult<(Vec<u64>, MultiplierTimes)> {
        let start = Instant::now();
        let mut times = MultiplierTimes::default();
        let buffers = self.buffers(&plan.left, &plan.right, plan.words)?;
        for parts in plan.parts.chunks(AHEAD) {
            limits.go_on()?;
            let mut launches = Vec::with_capacity(parts.len());
            for part in parts.iter().filter(|part| part.words() > 0) {
                fits32("a row of the product", part.sizes.row() as u128)?;
                launches.push(self.launch(&buffers, part, 0, part.sizes.states())?);
            }
            for launch in launches {
                times.kernels += launch.wait()?.seconds();
            }
        }
        let mut cells = vec![EMPTY; plan.words];
        self.session.read(&buffers.out, 0, &mut cells)?;
        times.total = start.elapsed().as_secs_f64();
        self.check_batch(plan, &cells)?;
        Ok((cells, times))
    }

    /// How long the kernel takes for a product of one slab, and how long one that only writes as
    /// many words, in seconds by the device's clock.
    pub fn against_fill(&self, plan: &DensePlan, runs: usize) -> MultiplierResult<Vec<[f64; 2]>> {
        let sizes = plan.sizes;
        fits32("a row of the product", sizes.row() as u128)?;
        let words = usize::try_from(sizes.words()).unwrap_or(usize::MAX);
        let buffers = self.buffers(&plan.left, &plan.right, words)?;
        let part = BatchPart { sizes, mask: plan.mask, left: 0, right: 0, cells: 0 };
        let rows = sizes.states();
        let mut times = Vec::new();
        for _ in 0..runs {
            let plain = self.plain(&buffers.out, sizes.row(), rows)?;
            let product = self.launch(&buffers, &part, 0, rows)?.wait()?;
            times.push([plain, product.seconds()]);
        }
        let mut cells = vec![EMPTY; words];
        self.session.read(&buffers.out, 0, &mut cells)?;
        self.check(plan.checksum(), Checksum::of(&cells, 0))?;
        Ok(times)
    }

    /// Seconds of a launch that writes `rows` rows of `width` words.
    fn plain(&self, out: &Buffer<u64>, width: usize, rows: usize) -> MultiplierResult<f64> {
        debug_assert!(out.len() >= width * rows);
        let number = |n: usize| Arg::U32(n as u32);
        let arguments = [Arg::buffer(out), Arg::U64(0), number(width), number(rows), number(EACH)];
        let (global, local) = grid(width, rows, self.plain.max_group());
        // SAFETY: items outside a row do nothing; the others write `rows * width` words, which the
        // only caller has made the buffer for.
        let launch =
            unsafe { self.session.enqueue(&self.plain, &arguments, &global, Some(&local))? };
        Ok(launch.wait()?.seconds())
    }
}
