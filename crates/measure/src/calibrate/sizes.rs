//! How large groups and buffers are where all units are busy, and what is measured there.

use super::levels::Level;
use super::run::{CalibrateError, CalibrationRun, Facts, Work};
use super::sample::{Sample, Sampler};

/// Groups for each unit where all are to be busy: enough that the last ones matter little.
pub const GROUPS_PER_UNIT: usize = 64;
/// Items of a group where nothing else decides; fewer where the device allows fewer.
pub const USUAL_GROUP: usize = 256;
/// Items of a group where items are apart in local memory: whole warps, for which a unit has room.
const BANKS_GROUP: usize = 64;

/// An operation of all items together, in groups of this many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Busy {
    /// Items of a group.
    pub group: usize,
    /// One operation.
    pub sample: Sample,
}

/// (sqrt(5) - 1) / 2: multiples of it, modulo 1, are spread evenly, however many there are.
const GOLDEN_SECTION: f64 = 0.618_033_988_749_895;
/// Places where groups begin are multiples of this many bytes.
const PAGE: usize = 4 << 10;
/// How many times what the caches hold is read from global memory at least: then little of it is
/// still in a cache when it is read again, even where the cache does not drop the oldest first.
pub(super) const MIN_CACHES: u64 = 4;
/// Most bytes that global memory is measured over.
const MAX_FOOTPRINT: usize = 4 << 30;

/// Bytes that global memory is measured over: at least `least` and [`MIN_CACHES`] times the cache,
/// at most what a buffer can have and a quarter of the memory; a power of two. On a processor at
/// most 4 times `least`, as a pass over more takes too long.
fn footprint(facts: &Facts, least: usize, cache: u64) -> usize {
    let most = if facts.processor { 4 * least } else { MAX_FOOTPRINT };
    let wish = usize::try_from(cache.saturating_mul(MIN_CACHES)).unwrap_or(usize::MAX);
    let wish = wish.min(most).max(least).max(1 << 16).next_power_of_two();
    let room = usize::try_from(facts.max_alloc.min(facts.memory / 4)).unwrap_or(usize::MAX);
    let room = room.max(1 << 16);
    if wish <= room { wish } else { 1 << room.ilog2() }
}

pub(super) struct Sizes {
    pub units: usize,
    pub footprint: usize,
    max_group: usize,
    local_memory: usize,
    /// Items of a group that leaves no element idle.
    busy_group: usize,
}

impl Sizes {
    pub fn of(facts: &Facts, least: usize) -> Sizes {
        Sizes {
            units: facts.units.max(1) as usize,
            footprint: footprint(facts, least, facts.cache),
            max_group: facts.max_group.max(1),
            local_memory: usize::try_from(facts.local_memory).unwrap_or(usize::MAX),
            busy_group: USUAL_GROUP,
        }
    }

    /// Takes groups, where nothing else decides, that leave none of this many elements idle.
    pub fn fill(&mut self, elements: usize) {
        self.busy_group = elements.next_power_of_two().max(USUAL_GROUP);
    }

    /// Makes the footprint large enough for caches that were found.
    pub fn exceed(&mut self, facts: &Facts, least: usize, caches: &[Level]) {
        let found = caches.iter().map(|level| level.bytes as u64).max().unwrap_or(0);
        self.footprint = self.footprint.max(footprint(facts, least, found));
    }

    /// The largest group of at most `wish` items that a kernel can be run in.
    fn group(
        &self,
        sampler: &mut Sampler<'_>,
        work: Work,
        wish: usize,
    ) -> Result<usize, CalibrateError> {
        let most = sampler.runner.most_items(work)?.min(self.max_group).min(wish);
        let fits = match work {
            // Two cells an item and 16 more.
            Work::LoadLocal => (self.local_memory / 4).saturating_sub(16) / 2,
            Work::LocalAtomic | Work::LocalAtomicShared => self.local_memory / 4,
            // Some cells an item and 32 more.
            Work::LoadBanks { apart } => (self.local_memory / 4).saturating_sub(32) / apart.max(1),
            _ => most,
        };
        Ok(most.min(fits).max(1))
    }

    /// An operation where all units are busy.
    pub fn load(&self, sampler: &mut Sampler<'_>, work: Work) -> Result<Busy, CalibrateError> {
        let wish = if let Work::LoadBanks { .. } = work { BANKS_GROUP } else { self.busy_group };
        let group = self.group(sampler, work, wish)?;
        let sample =
            sampler.operation(CalibrationRun::new(work, GROUPS_PER_UNIT * self.units, group))?;
        Ok(Busy { group, sample })
    }

    /// The same over the footprint, read once; and launches that read and fill it by themselves.
    pub fn stream(&self, sampler: &mut Sampler<'_>) -> Result<(Busy, [Sample; 2]), CalibrateError> {
        let work = Work::Stream { bytes: self.footprint };
        let group = self.group(sampler, work, self.busy_group)?;
        let groups = self.footprint / 4 / 8 / group;
        let run = CalibrationRun::new(work, groups.max(1), group);
        let sample = sampler.group(run, false)?.times(1.0 / (8 * group) as f64);
        let [pass, _] = sampler.launch(run)?;
        let fill = Work::Fill { bytes: self.footprint };
        let [fill, _] = sampler.launch(CalibrationRun::new(fill, 1, 1))?;
        Ok((Busy { group, sample }, [pass, fill]))
    }

    /// A byte of a piece of memory through which all groups walk over and over.
    pub fn sweep(
        &self,
        sampler: &mut Sampler<'_>,
        bytes: usize,
        vector: usize,
    ) -> Result<Sample, CalibrateError> {
        // Far from the group before: requests for a neighbour's words may be merged before L2.
        let pages = ((bytes / PAGE) as f64 * GOLDEN_SECTION) as usize | 1;
        let apart = pages * PAGE;
        let Busy { sample, .. } = self.load(sampler, Work::Sweep { bytes, apart })?;
        Ok(sample.times(1.0 / (4 * vector.max(1)) as f64))
    }

    pub fn full(&self, sampler: &mut Sampler<'_>) -> Result<Vec<Busy>, CalibrateError> {
        let groups = GROUPS_PER_UNIT * self.units;
        let mut sizes = Vec::new();
        for wish in [64, USUAL_GROUP, usize::MAX] {
            sizes.push(self.group(sampler, Work::Chain, wish)?);
        }
        sizes.dedup();
        let each = |group| {
            let sample = sampler.operation(CalibrationRun::new(Work::Chain, groups, group))?;
            Ok(Busy { group, sample })
        };
        sizes.into_iter().map(each).collect()
    }

    pub fn barriers(
        &self,
        sampler: &mut Sampler<'_>,
    ) -> Result<Vec<(usize, Sample)>, CalibrateError> {
        let mut sizes = Vec::new();
        for wish in [64, usize::MAX] {
            let size = self.group(sampler, Work::Barriers, wish)?;
            sizes.push(size.min(self.group(sampler, Work::OneBarrier, wish)?));
        }
        sizes.dedup();
        let each = |group| {
            let of = |work| CalibrationRun::new(work, 1, group);
            let sample = sampler.difference(of(Work::Barriers), of(Work::OneBarrier))?;
            // One barrier after each of the operations, against one after the last.
            let more = Work::Barriers.operations() as f64 - 1.0;
            Ok((group, sample.times(1.0 / more)))
        };
        sizes.into_iter().map(each).collect()
    }
}
