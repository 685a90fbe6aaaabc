//! What kernels have computed on a device, against the host.

use super::expect::{self, LINE};
use super::opencl::{FILLING, OpenCl, STEP};
use super::run::{CalibrateError, CalibrationRun, RunTimes, Runner, Work};

/// Iterations of a load beyond which only some items are computed again.
const MANY_ITERATIONS: u32 = 64;
/// Cells beyond which only some items of a sweep are computed again.
const MANY_CELLS: usize = 1 << 21;
/// Chains of an item in the kernels `throughput`.
const CHAINS: usize = 12;

impl Runner for OpenCl<'_> {
    fn most_items(&mut self, work: Work) -> Result<usize, CalibrateError> {
        self.most_of(work)
    }

    fn run(&mut self, run: &CalibrationRun) -> Result<RunTimes, CalibrateError> {
        self.launch(run, run.groups.saturating_sub(1))
    }

    fn verify(&mut self, run: &CalibrationRun) -> Result<(), CalibrateError> {
        self.prepare(run)?;
        self.reset(run.work)?;
        self.launch(run, 0)?;
        let operations = u64::from(run.iterations) * run.work.operations();
        match run.work {
            Work::Chain | Work::Hold { .. } | Work::OneBarrier | Work::Barriers => {
                let starts = run.items().min(16);
                let expected: Vec<u32> =
                    (0..starts).map(|id| expect::chain(id as f32, operations).to_bits()).collect();
                self.compare_out(run, |i| Some(expected[i % starts]))
            }
            Work::Chase { .. } => {
                let order = self.cells.as_ref().map_or(&[][..], |cells| &cells.order);
                let expected = expect::follow(order, operations).wrapping_mul(LINE as u32);
                self.compare(run, [(0, self.place()?, expected)])
            }
            Work::ChaseLocal | Work::ChaseConstant => {
                let expected = expect::follow(&self.table.0, operations);
                self.compare(run, [(0, self.place()?, expected)])
            }
            Work::Stream { .. } => {
                let order = self.cells.as_ref().map_or(&[][..], |cells| &cells.order);
                self.compare_out(run, |i| Some(expect::stream(order, run.group, i)))
            }
            Work::LoadLocal | Work::LoadConstant => self.verify_loads(run),
            Work::Reals | Work::Integers | Work::Mixed | Work::Specials => self.verify_chains(run),
            Work::Clock => {
                let expected = expect::steps(0, 16 * u64::from(run.iterations));
                self.compare_out(run, |i| (i == 0).then_some(expected))
            }
            Work::LoadNear { .. } | Work::LoadBanks { .. } => self.verify_pairs(run),
            Work::Sweep { bytes, apart } => self.verify_sweep(run, bytes, apart),
            Work::Atomic | Work::AtomicShared => self.verify_atomics(run, operations),
            Work::LocalAtomic => self.compare_out(run, |_| Some(below(operations))),
            Work::LocalAtomicShared => self.verify_sums(run, operations),
            Work::Start => {
                let out = self.out(run.groups)?;
                self.compare(run, (0..).zip(out).map(|(i, got)| (i, got, expect::mark(i))))
            }
            Work::Fill { .. } => {
                let Some(cells) = &self.cells else { return Ok(()) };
                let (mut ends, last) = ([0; 2], cells.buffer.len() - 1);
                let [first, second] = &mut ends;
                self.session.read(&cells.buffer, 0, std::slice::from_mut(first))?;
                self.session.read(&cells.buffer, last, std::slice::from_mut(second))?;
                self.compare(run, [(0, ends[0], FILLING), (last, ends[1], FILLING)])
            }
        }
    }
}

impl OpenCl<'_> {
    /// Puts away what launches before have left.
    fn reset(&mut self, work: Work) -> Result<(), CalibrateError> {
        self.session.fill(&self.out, FILLING)?;
        self.session.write(&self.place, 0, &[0])?;
        if let Work::Atomic | Work::AtomicShared = work {
            self.session.fill(&self.counters, 0u32)?;
        }
        Ok(())
    }

    fn place(&self) -> Result<u32, CalibrateError> {
        let mut place = [0];
        self.session.read(&self.place, 0, &mut place)?;
        Ok(place[0])
    }

    /// Compares those results for which something is expected.
    fn compare_out(
        &self,
        run: &CalibrationRun,
        expected: impl Fn(usize) -> Option<u32>,
    ) -> Result<(), CalibrateError> {
        let out = self.out(run.items())?;
        let known = |(i, got)| expected(i).map(|expected| (i, got, expected));
        self.compare(run, (0..).zip(out).filter_map(known))
    }

    /// Compares the results of loads, alike in all groups, by the item's place; of long ones some.
    fn compare_group(
        &self,
        run: &CalibrationRun,
        of: impl Fn(usize) -> u32,
    ) -> Result<(), CalibrateError> {
        let some = if run.iterations > MANY_ITERATIONS { 37 } else { 1 };
        let expected: Vec<Option<u32>> =
            (0..run.group).map(|lid| (lid % some == 0).then(|| of(lid))).collect();
        self.compare_out(run, |i| expected[i % run.group])
    }

    fn verify_loads(&self, run: &CalibrationRun) -> Result<(), CalibrateError> {
        let table = &self.table.0;
        let of = |lid: usize| match run.work {
            Work::LoadLocal => {
                let within = |at| at < run.group;
                expect::walk(table, lid as u32, lid, STEP, run.iterations, within)
            }
            _ => {
                let within = |at| at + 16 <= table.len();
                expect::walk(table, lid as u32, 0, STEP, run.iterations, within)
            }
        };
        self.compare_group(run, of)
    }

    fn verify_chains(&self, run: &CalibrationRun) -> Result<(), CalibrateError> {
        let rounds = u64::from(run.iterations);
        let starts = &self.table.0[..CHAINS * self.vector];
        // All starts are below 31: each chain is computed once.
        let each = |end: &dyn Fn(u32) -> u32| (0..31).map(end).collect::<Vec<u32>>();
        let reals = each(&|x| expect::chain(x as f32, 8 * rounds).to_bits());
        let integers = each(&|y| expect::steps(y, 4 * rounds));
        let of_reals = |part, id| expect::ends(part, id, |x| reals[x as usize]);
        let of_integers = |part, id| expect::ends(part, id, |y| integers[y as usize]);
        let half = &starts[..starts.len() / 2];
        let sum = |id: usize| match run.work {
            Work::Reals => of_reals(starts, id),
            Work::Integers => of_integers(starts, id),
            _ => of_reals(half, id).wrapping_add(of_integers(half, id)),
        };
        let root = |id: usize| {
            let starts = starts.iter().map(|cell| ((cell & 15) + (id & 15) as u32) as f32);
            starts.map(|x| expect::roots(x, 2 * rounds)).sum::<f32>()
        };
        let out = self.out(run.items())?;
        let pairs = (0..).zip(out).map(|(id, got)| match run.work {
            // A hundredth is more than roundings make, and less than a root that is left out.
            Work::Specials if (f32::from_bits(got) / root(id) - 1.0).abs() < 0.01 => (id, got, got),
            Work::Specials => (id, got, root(id).to_bits()),
            _ => (id, got, sum(id)),
        });
        self.compare(run, pairs)
    }

    fn verify_pairs(&self, run: &CalibrationRun) -> Result<(), CalibrateError> {
        let (table, [vector, wide, apart]) = match run.work {
            Work::LoadNear { apart } => (&self.near.0, [self.vector, self.wide(apart), apart]),
            Work::LoadBanks { apart } => (&self.table.0, [1, usize::MAX, apart]),
            _ => return Err(self.refused(run, "it makes no pairs of loads")),
        };
        let of = |lid: usize| {
            let lanes = (0..vector).map(|lane| {
                let first = lid % wide * apart * vector + lane;
                expect::pairs(table, lid as u32, first, vector, run.iterations)
            });
            lanes.fold(0, u32::wrapping_add)
        };
        self.compare_group(run, of)
    }

    fn verify_sweep(
        &self,
        run: &CalibrationRun,
        bytes: usize,
        apart: usize,
    ) -> Result<(), CalibrateError> {
        let order = self.cells.as_ref().map_or(&[][..], |cells| &cells.order);
        let vectors = bytes / 4 / self.vector;
        let cells = run.items() * run.iterations as usize * 8 * self.vector;
        let some = cells.div_ceil(MANY_CELLS) | 1;
        self.compare_out(run, |i| {
            let first = i / run.group * (apart / 4 / self.vector) + i % run.group;
            let of =
                || expect::sweep(order, first, run.group, self.vector, vectors, run.iterations);
            i.is_multiple_of(some).then(of)
        })
    }

    /// The counters have counted, and one item saw each value: then their sum is right.
    fn verify_atomics(&self, run: &CalibrationRun, operations: u64) -> Result<(), CalibrateError> {
        let (items, shared) = (run.items() as u64, run.work == Work::AtomicShared);
        let mut counters = vec![0; if shared { 1 } else { run.items() }];
        self.session.read(&self.counters, 0, &mut counters)?;
        let counted = if shared { items * operations } else { operations };
        self.compare(run, (0..).zip(counters).map(|(i, got)| (i, got, counted as u32)))?;
        if !shared {
            return self.compare_out(run, |_| Some(below(operations)));
        }
        let sum = sum(&self.out(run.items())?);
        self.compare(run, [(0, sum, below(counted))])
    }

    /// Each value of a group's counter was seen by one of its items.
    fn verify_sums(&self, run: &CalibrationRun, operations: u64) -> Result<(), CalibrateError> {
        let expected = below(run.group as u64 * operations);
        let out = self.out(run.items())?;
        let groups = out.chunks(run.group).enumerate();
        self.compare(run, groups.map(|(i, group)| (i * run.group, sum(group), expected)))
    }
}

/// The sum of the numbers below `n`, in 32 bits, as the kernel's.
fn below(n: u64) -> u32 {
    (u128::from(n) * u128::from(n.saturating_sub(1)) / 2) as u32
}

fn sum(numbers: &[u32]) -> u32 {
    numbers.iter().fold(0, |sum, x| sum.wrapping_add(*x))
}

#[cfg(test)]
mod tests {
    use super::super::opencl::SOURCE;
    use super::*;
    use tickbound_device::{self, Session};

    /// Kernels that leave something out, or do it twice, are found out.
    #[test]
    fn wrong_kernels_are_found() {
        let Some(device) = tickbound_device::list().devices.into_iter().next() else {
            return eprintln!("skipped: no OpenCL device");
        };
        let session = Session::open(&device).unwrap();
        let bytes = 1 << 16;
        let table = [
            (Work::Chain, 4, "        ITERATION ITERATION\n", "        ITERATION\n"),
            (Work::Chain, 4, "out[get_global_id(0)] = x", "out[0] = x"),
            (
                Work::Hold { local: 64 },
                4,
                "    float x = tile[get_local_id(0)];",
                "    float x = 0;",
            ),
            (Work::OneBarrier, 4, "R4(FIRST SECOND) WAIT", "R2(FIRST SECOND) WAIT"),
            (Work::Barriers, 4, "R4(FIRST WAIT SECOND WAIT)", "R4(FIRST WAIT) WAIT"),
            (Work::Chase { bytes }, 1, "R16(x = next[x];)", "R8(x = next[x];)"),
            (Work::ChaseConstant, 1, "R16(x = next[x];)", "R8(x = next[x];)"),
            (Work::ChaseLocal, 1, "R16(x = tile[x];)", "R8(x = tile[x];)"),
            (Work::Stream { bytes }, 4, "mine[n * 7]", "mine[n * 6]"),
            (Work::LoadLocal, 4, "TAKE(12) TAKE(14)", "TAKE(12)"),
            (Work::LoadLocal, 4, "at = at < n ? at : 0", "at = 0"),
            (Work::LoadConstant, 4, "TAKE(12) TAKE(14)", "TAKE(12)"),
            (Work::LoadConstant, 4, "at = at + 16 <= cells ? at : 0", "at = 0"),
            (Work::Atomic, 4, "atomic_add(mine, 1u)", "*mine"),
            (Work::AtomicShared, 4, "get_global_id(0) * apart", "get_global_id(0)"),
            (Work::LocalAtomic, 4, "atomic_add(own, 1u)", "*own"),
            (Work::LocalAtomicShared, 4, "get_local_id(0) * apart", "get_local_id(0)"),
            (Work::Reals, 4, "R4(EACH(MULTIPLY) EACH(DIVIDE))", "R2(EACH(MULTIPLY) EACH(DIVIDE))"),
            (Work::Reals, 4, "EACH(SUM_REAL)", "HALF(SUM_REAL)"),
            (Work::Integers, 4, "R4(EACH(STEP))", "R4(HALF(STEP))"),
            (Work::Mixed, 4, "HALF(STEP) HALF(DIVIDE)", "HALF(DIVIDE)"),
            (Work::Specials, 4, "R2(EACH(ROOT))", "EACH(ROOT)"),
            (Work::Specials, 4, "native_sqrt", ""),
            (Work::Clock, 1, "R16(y =", "R8(y ="),
            (Work::LoadNear { apart: 1 }, 4, "PAIR(12, s2) PAIR(14, s3)", "PAIR(14, s3)"),
            (Work::LoadNear { apart: 1 }, 4, "at < turns ? at : 0", "0"),
            (Work::LoadNear { apart: 33 }, 4, "lid % wide * apart", "lid % wide"),
            (Work::LoadBanks { apart: 3 }, 4, "lid * apart + at", "lid + at"),
            (Work::Sweep { bytes, apart: 4096 }, 4, "at + 5 * n", "at + 4 * n"),
            (Work::Sweep { bytes, apart: 4096 }, 4, "at += 8 * n", "at += 0"),
            (Work::Sweep { bytes, apart: 4096 }, 4, "get_group_id(0) * apart", "get_group_id(0)"),
            (Work::Start, 4, "group >= from", "group > from"),
        ];
        for (work, groups, right, wrong) in table {
            assert!(SOURCE.contains(right), "{right}");
            let mut runner = OpenCl::with_source(&session, &SOURCE.replace(right, wrong)).unwrap();
            let run =
                CalibrationRun::new(work, groups, if groups == 1 { 1 } else { 16 }).iterations(7);
            let fault = runner.verify(&run).unwrap_err();
            assert!(matches!(fault, CalibrateError::Wrong { .. }), "{wrong}: {fault}");
        }
    }
}
