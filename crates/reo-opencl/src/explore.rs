//! The reachable product counted on a device: breadth first, without a step kept.
//!
//! The halves of the product are copied to the device once. Its states stay there: in a list, by
//! levels, and in a table of those that are known. A launch explores a level, or part of a large
//! one; 56 bytes return. Where the list or the table has no room, both are made larger, the
//! table is filled anew from the list, and the launch repeated: it adds keys that belong there.

use std::ops::Range;

use tickbound_device::{
    Arg, Buffer, Device, DeviceError, DeviceKernel, DeviceKind, DeviceProgram, Session,
};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::halves::{HalfRows, Halves};

use super::multiplier::{GROUP, MultiplierResult};
use super::tally::Clause;

/// The kernels that devices are given.
pub const EXPLORE_KERNELS: &str = concat!(include_str!("clauses.cl"), include_str!("explore.cl"));

/// Words that return of each launch.
const TOTALS: usize = 7;
const MAX_GROUPS: usize = 1 << 14;
/// Keys for which there is room at first.
const ROOM: usize = 1 << 16;
/// Places of the table for each key that there is room for.
const PLACES: usize = 2;

/// How large a reachable product is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExploredProduct {
    /// States that can be reached.
    pub states: u64,
    /// Steps that leave them, without idle loops.
    pub transitions: u64,
    /// States that no step leaves.
    pub stuck: u64,
    /// Steps that fulfil none of the clauses.
    pub broken: u64,
    /// Levels: sets of states equally many steps away from the nearest initial one.
    pub levels: u64,
    /// Whether all levels were explored; if not, the numbers are of the states explored.
    pub complete: bool,
}

/// How much memory is taken at first, and how work is divided.
#[derive(Debug, Clone, Copy)]
pub struct ExploreSizes {
    /// Items of a workgroup; without it as many as suit the device.
    pub group: Option<usize>,
    /// Keys that the list has room for at first, at least 1.
    pub room: usize,
    /// Places of the table at first, at least 1.
    pub places: usize,
    /// The part of the table, in percent, above which it is made larger before it is full.
    pub load: u32,
    /// States that a launch explores at most, at least 1; an interrupt waits for its end.
    pub part: usize,
}

impl Default for ExploreSizes {
    fn default() -> Self {
        ExploreSizes { group: None, room: ROOM, places: PLACES * ROOM, load: 50, part: 1 << 16 }
    }
}

/// What a search for one state ends at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// A state that no step leaves.
    Stuck,
    /// A state that a step leaves which fulfils none of the clauses.
    Broken,
}

/// A device that explores products.
#[derive(Debug)]
pub struct Explorer {
    clear: DeviceKernel,
    fill: DeviceKernel,
    explore: DeviceKernel,
    pub(super) among: DeviceKernel,
    pub(super) session: Session,
}

/// A product on its way.
pub(super) struct Work<'a> {
    pub engine: &'a Explorer,
    pub halves: &'a Halves,
    limits: &'a ProductLimits<'a>,
    factors: [(Buffer<u32>, Buffer<u64>, Buffer<u32>); 2],
    clauses: (Buffer<u64>, usize, bool),
    group: usize,
    /// The states that are known, level by level.
    pub keys: Buffer<u64>,
    /// Where each level ends in the list.
    pub ends: Vec<usize>,
    table: Buffer<u64>,
    totals: Buffer<u64>,
    sizes: ExploreSizes,
}

impl Explorer {
    /// Opens a device and builds the kernels for it.
    ///
    /// # Errors
    /// The device fails, or has no atomic operations on 64 bits.
    pub fn new(device: &Device) -> Result<Explorer, DeviceError> {
        Explorer::with_kernels(device, EXPLORE_KERNELS)
    }

    /// As [`Explorer::new`], with other kernels in the place of [`EXPLORE_KERNELS`].
    pub fn with_kernels(device: &Device, source: &str) -> Result<Explorer, DeviceError> {
        let session = Session::open(device)?;
        let program = DeviceProgram::build(&session, source, "")?;
        let kernel = |name| program.kernel(name);
        let (clear, fill, explore) = (kernel("clear")?, kernel("fill")?, kernel("explore")?);
        let among = kernel("among")?;
        drop(program);
        Ok(Explorer { clear, fill, explore, among, session })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.session.device()
    }

    /// Counts the states that can be reached, and the steps that leave them. With `clauses`, steps
    /// that fulfil none of them are broken.
    ///
    /// # Errors
    /// The device fails or has too little memory, or a limit.
    pub fn explore(
        &self,
        halves: &Halves,
        clauses: Option<&[Clause]>,
        sizes: ExploreSizes,
        limits: &ProductLimits,
    ) -> MultiplierResult<ExploredProduct> {
        Ok(Work::new(self, (halves, clauses), sizes, limits)?.run(None)?.0)
    }
}

impl<'a> Work<'a> {
    pub fn new(
        engine: &'a Explorer,
        (halves, clauses): (&'a Halves, Option<&[Clause]>),
        sizes: ExploreSizes,
        limits: &'a ProductLimits<'a>,
    ) -> MultiplierResult<Work<'a>> {
        let session = &engine.session;
        let factor = |half: &HalfRows| -> Result<_, DeviceError> {
            let (rows, labels) = (session.upload(&half.rows)?, session.upload(&half.labels)?);
            Ok((rows, labels, session.upload(&half.targets)?))
        };
        let pairs = clauses.unwrap_or_default();
        let words: Vec<u64> = pairs.iter().flat_map(|(must, not)| [*must, *not]).collect();
        // One subgroup for each state; processors have one item.
        let usual = if engine.device().kind == DeviceKind::Cpu { 1 } else { 32 };
        let mut work = Work {
            engine,
            halves,
            limits,
            factors: [factor(&halves.left)?, factor(&halves.right)?],
            clauses: (session.upload(&words)?, pairs.len(), clauses.is_some()),
            group: sizes.group.unwrap_or(usual).clamp(1, engine.explore.max_group()),
            keys: session.upload(&halves.initial)?,
            ends: vec![halves.initial.len()],
            table: session.buffer(1)?,
            totals: session.buffer(TOTALS)?,
            sizes,
        };
        work.resize((sizes.room.max(halves.initial.len()), sizes.places), halves.initial.len())?;
        Ok(work)
    }

    /// Explores level by level, to the end or until a level has a state of `goal`. What was
    /// counted, and the least key of these states.
    pub fn run(&mut self, goal: Option<Goal>) -> MultiplierResult<(ExploredProduct, Option<u64>)> {
        let (mut all, mut known) = (ExploredProduct::default(), self.halves.initial.len());
        let (mut from, mut end, mut least) = (0, known, u64::MAX);
        while from < known {
            if let Err(stopped) = self.limits.go_on_from(None, all.states, all.transitions) {
                let kept = ExploredProduct { states: from as u64, ..all };
                let is_result = from > 0 && goal.is_none();
                return if is_result { Ok((kept, None)) } else { Err(stopped.into()) };
            }
            let to = end.min(from + self.sizes.part.max(1));
            let [now, steps, stuck, broken, full, first_stuck, first_broken] =
                self.part(from..to, known)?;
            let (room, places) = (self.keys.len(), self.table.len());
            if full != 0 {
                self.resize((2 * room, 2 * places), known)?;
                continue;
            }
            (from, known) = (to, now as usize);
            all.states = now;
            all.transitions += steps;
            all.stuck += stuck;
            all.broken += broken;
            least = least.min(match goal {
                Some(Goal::Stuck) => first_stuck,
                Some(Goal::Broken) => first_broken,
                None => u64::MAX,
            });
            if from == end {
                (end, all.levels) = (known, all.levels + 1);
                if least < u64::MAX {
                    return Ok((all, Some(least)));
                }
                self.ends.push(end);
            }
            if known as u128 * 100 > places as u128 * u128::from(self.sizes.load) {
                self.resize((room, 2 * places), known)?;
            }
        }
        Ok((ExploredProduct { complete: true, ..all }, None))
    }

    /// Makes a list with room for `room` keys, of which the first `known` are kept, and a table of
    /// `places` places with these in it.
    fn resize(&mut self, (room, places): (usize, usize), known: usize) -> MultiplierResult<()> {
        let (session, engine) = (&self.engine.session, self.engine);
        let words = (room as u128).saturating_add(places as u128);
        self.limits.fits("the states on the device", words.saturating_mul(8))?;
        if room > self.keys.len() {
            let keys = session.buffer(room)?;
            session.copy(&self.keys, &keys)?;
            self.keys = keys;
        }
        // The old one makes room first.
        self.table = session.buffer(1)?;
        self.table = session.buffer(places.max(1))?;
        let places = Arg::U64(self.table.len() as u64);
        let global = [self.table.len().clamp(1, MAX_GROUPS * GROUP)];
        // SAFETY: items write as many words as the table has.
        let launch = unsafe {
            session.enqueue(&engine.clear, &[Arg::buffer(&self.table), places], &global, None)?
        };
        launch.wait()?;
        session.write(&self.totals, 0, &[0; TOTALS])?;
        let arguments = [
            Arg::buffer(&self.keys),
            Arg::U64(known as u64),
            Arg::buffer(&self.table),
            places,
            Arg::buffer(&self.totals),
        ];
        let global = [known.clamp(1, MAX_GROUPS * GROUP)];
        // SAFETY: items read the first `known` keys, which are there, and write to places of the
        // table and to the totals, by atomic operations.
        let launch = unsafe { session.enqueue(&engine.fill, &arguments, &global, None)? };
        launch.wait()?;
        Ok(())
    }

    /// Explores these of the `known` states of the list; the totals.
    fn part(&self, states: Range<usize>, known: usize) -> MultiplierResult<[u64; TOTALS]> {
        let (session, engine) = (&self.engine.session, self.engine);
        let mut totals = [known as u64, 0, 0, 0, 0, u64::MAX, u64::MAX];
        session.write(&self.totals, 0, &totals)?;
        let [left, right] = &self.factors;
        let (clauses, count, checked) = &self.clauses;
        let arguments = [
            Arg::buffer(&self.keys),
            Arg::U64(states.start as u64),
            Arg::U64(states.end as u64),
            Arg::U64(self.keys.len() as u64),
            Arg::buffer(&self.table),
            Arg::U64(self.table.len() as u64),
            Arg::buffer(&self.totals),
            Arg::buffer(&left.0),
            Arg::buffer(&left.1),
            Arg::buffer(&left.2),
            Arg::buffer(&right.0),
            Arg::buffer(&right.1),
            Arg::buffer(&right.2),
            Arg::U64(self.halves.right.states() as u64),
            Arg::U64(self.halves.shared),
            Arg::buffer(clauses),
            Arg::U32(*count as u32),
            Arg::U32(u32::from(*checked)),
        ];
        let groups = states.len().min(MAX_GROUPS);
        // SAFETY: groups read the keys of the list, all of which are states of the halves, and
        // steps in the rows of these; keys are written where the list has room, and the table and
        // the totals by atomic operations.
        let launch = unsafe {
            let local = [self.group];
            session.enqueue(&engine.explore, &arguments, &[groups * self.group], Some(&local))?
        };
        launch.wait()?;
        session.read(&self.totals, 0, &mut totals)?;
        Ok(totals)
    }
}
