//! A shortest run to a state, found on a device.
//!
//! The search explores level by level and ends with the first that has such a state. Steps that
//! lead to it are made here, from the halves, and the device finds one of them that leaves a state
//! of the level before; and so on back to an initial state. Each step follows from the halves: a
//! wrong answer of the device ends in an error, and not in a run that does not exist.

use std::ops::Range;

use tickbound_device::Arg;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::halves::{Halves, KeyedStep};

use super::explore::{ExploreSizes, Explorer, Goal, Work};
use super::multiplier::{MultiplierError, MultiplierResult};
use super::tally::Clause;

/// Items that look through a level.
const ITEMS: usize = 1 << 18;

impl Explorer {
    /// The labels of a shortest run to a state that no step leaves, or with `clauses` of one whose
    /// last step satisfies none of them; `None` if there is no such run. If there are several, the
    /// one with the least keys: the same on all devices.
    ///
    /// # Errors
    /// The device fails or has too little memory, or a limit.
    pub fn shortest(
        &self,
        halves: &Halves,
        clauses: Option<&[Clause]>,
        sizes: ExploreSizes,
        limits: &ProductLimits,
    ) -> MultiplierResult<Option<Vec<u64>>> {
        let goal = if clauses.is_some() { Goal::Broken } else { Goal::Stuck };
        let mut work = Work::new(self, (halves, clauses), sizes, limits)?;
        let (_, Some(end)) = work.run(Some(goal))? else { return Ok(None) };
        let last = halves.steps_from(end);
        let broken = last.iter().map(|(_, label)| *label).find(|label| !holds(*label, clauses));
        let is_goal = if goal == Goal::Stuck { last.is_empty() } else { broken.is_some() };
        if !is_goal {
            return Err(self.wrong("a state that is none of those sought"));
        }
        let mut labels = work.back(end)?;
        labels.extend(broken);
        Ok(Some(labels))
    }

    fn wrong(&self, what: &str) -> MultiplierError {
        let device = &self.device().name;
        MultiplierError::Unusable(format!(
            "{device} gave {what} without reporting an error; use another --device"
        ))
    }
}

/// Whether a label fulfils one of the clauses, if there are any.
fn holds(label: u64, clauses: Option<&[Clause]>) -> bool {
    let fulfils = |(must, not): &Clause| label & must == *must && label & not == 0;
    clauses.is_none_or(|clauses| clauses.iter().any(fulfils))
}

impl Work<'_> {
    /// The labels of a run from an initial state to `key`, a state of the last level.
    fn back(&self, mut key: u64) -> MultiplierResult<Vec<u64>> {
        let mut labels = Vec::new();
        for level in (0..self.ends.len() - 1).rev() {
            let begin = level.checked_sub(1).map_or(0, |before| self.ends[before]);
            let mut steps = self.halves.steps_to(key);
            // Of the steps that leave one state, that with the least label.
            steps.dedup_by_key(|(from, _)| *from);
            let first = self.first(begin..self.ends[level], &steps)?;
            let step = first.and_then(|first| steps.get(first));
            let unknown = || self.engine.wrong("a state that no step leads to");
            let (from, label) = step.ok_or_else(unknown)?;
            key = *from;
            labels.push(*label);
        }
        if !self.halves.initial.contains(&key) {
            return Err(self.engine.wrong("a run that begins in no initial state"));
        }
        labels.reverse();
        Ok(labels)
    }

    /// The first of `steps` that leaves a state of a part of the list.
    fn first(&self, states: Range<usize>, steps: &[KeyedStep]) -> MultiplierResult<Option<usize>> {
        let session = &self.engine.session;
        let keys: Vec<u64> = steps.iter().map(|(from, _)| *from).collect();
        let count = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        let (wanted, first) = (session.upload(&keys)?, session.upload(&[u32::MAX])?);
        let arguments = [
            Arg::buffer(&self.keys),
            Arg::U64(states.start as u64),
            Arg::U64(states.end as u64),
            Arg::buffer(&wanted),
            Arg::U32(count),
            Arg::buffer(&first),
        ];
        let global = [states.len().clamp(1, ITEMS)];
        // SAFETY: items read the keys of a part of the list, and the first `count` of `wanted`,
        // which has as many or more; the one word of `first` is written by an atomic operation.
        let launch = unsafe { session.enqueue(&self.engine.among, &arguments, &global, None)? };
        launch.wait()?;
        let mut found = [0];
        session.read(&first, 0, &mut found)?;
        Ok(usize::try_from(found[0]).ok().filter(|found| *found < keys.len()))
    }
}
