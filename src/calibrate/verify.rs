//! What kernels have computed on a device, against the host.

use super::expect::{self, LINE};
use super::opencl::{FILLING, OpenCl, STEP};
use super::run::{Fault, Run, Runner, Times, Work};

/// Iterations of a load beyond which only some items are computed again.
const MANY_ITERATIONS: u32 = 64;

impl Runner for OpenCl<'_> {
    fn most_items(&mut self, work: Work) -> Result<usize, Fault> {
        self.most_of(work)
    }

    fn run(&mut self, run: &Run) -> Result<Times, Fault> {
        self.launch(run, run.groups.saturating_sub(1))
    }

    fn verify(&mut self, run: &Run) -> Result<(), Fault> {
        self.prepare(run)?;
        self.reset(run.work)?;
        self.launch(run, 0)?;
        let operations = u64::from(run.iterations) * run.work.operations();
        match run.work {
            Work::Chain | Work::OneBarrier | Work::Barriers => {
                let starts = run.items().min(16);
                let expected: Vec<u32> =
                    (0..starts).map(|id| expect::chain(id, operations).to_bits()).collect();
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
    fn reset(&mut self, work: Work) -> Result<(), Fault> {
        self.session.fill(&self.out, FILLING)?;
        self.session.write(&self.place, 0, &[0])?;
        if let Work::Atomic | Work::AtomicShared = work {
            self.session.fill(&self.counters, 0u32)?;
        }
        Ok(())
    }

    fn place(&self) -> Result<u32, Fault> {
        let mut place = [0];
        self.session.read(&self.place, 0, &mut place)?;
        Ok(place[0])
    }

    /// Compares those results for which something is expected.
    fn compare_out(&self, run: &Run, expected: impl Fn(usize) -> Option<u32>) -> Result<(), Fault> {
        let out = self.out(run.items())?;
        let known = |(i, got)| expected(i).map(|expected| (i, got, expected));
        self.compare(run, (0..).zip(out).filter_map(known))
    }

    fn verify_loads(&self, run: &Run) -> Result<(), Fault> {
        let some = if run.iterations > MANY_ITERATIONS { 37 } else { 1 };
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
        let expected: Vec<Option<u32>> =
            (0..run.group).map(|lid| (lid % some == 0).then(|| of(lid))).collect();
        self.compare_out(run, |i| expected[i % run.group])
    }

    /// The counters have counted, and each value was seen by one item only: then their sum is right.
    fn verify_atomics(&self, run: &Run, operations: u64) -> Result<(), Fault> {
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
    fn verify_sums(&self, run: &Run, operations: u64) -> Result<(), Fault> {
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
    use crate::device::{self, Session};

    /// Kernels that leave something out, or do it twice, are found out.
    #[test]
    fn wrong_kernels_are_found() {
        let Some(device) = device::list().devices.into_iter().next() else {
            return eprintln!("skipped: no OpenCL device");
        };
        let session = Session::open(&device).unwrap();
        let bytes = 1 << 16;
        let table = [
            (Work::Chain, 4, "        ITERATION ITERATION\n", "        ITERATION\n"),
            (Work::Chain, 4, "out[get_global_id(0)] = x", "out[0] = x"),
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
            (Work::Start, 4, "group >= from", "group > from"),
        ];
        for (work, groups, right, wrong) in table {
            assert!(SOURCE.contains(right), "{right}");
            let mut runner = OpenCl::with_source(&session, &SOURCE.replace(right, wrong)).unwrap();
            let run = Run::new(work, groups, if groups == 1 { 1 } else { 16 }).iterations(7);
            let fault = runner.verify(&run).unwrap_err();
            assert!(matches!(fault, Fault::Wrong { .. }), "{wrong}: {fault}");
        }
    }
}
