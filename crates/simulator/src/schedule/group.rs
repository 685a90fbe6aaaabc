//! The groups and warps of a unit under an open schedule, from one decision to the next.

use tickbound_model::{Stmt, Warps};

use super::rules::{Rules, Segment, index};
use crate::engine::{Engine, Place};
use crate::error::SimulateError;
use crate::group::common_stop;
use crate::launch::start_items;
use crate::strand::{Share, Step, Strand};
use crate::trace::SpanKind;

#[derive(Clone)]
pub(super) struct Group<'p> {
    pub place: Place,
    pub begins: i64,
    /// Empty until the group begins.
    pub warps: Vec<Warp<'p>>,
}

#[derive(Clone)]
pub(super) struct Warp<'p> {
    pub strand: Strand<'p>,
    pub state: State<'p>,
}

#[derive(Clone)]
pub(super) enum State<'p> {
    /// Stands before a segment, with nothing else to wait for.
    Ready {
        segment: Segment<'p>,
        since: i64,
    },
    /// Goes on at this time; holds a memory slot up to then.
    Asleep {
        until: i64,
        slot: bool,
    },
    /// Waits for the other warps of its group.
    Arrived {
        barrier: &'p Stmt,
        since: i64,
    },
    Ended,
}

impl<'p> Group<'p> {
    /// Lets everything happen that takes no time; true if the group has finished.
    pub fn settle(
        &mut self,
        engine: &mut Engine<'p>,
        rules: &Rules,
        now: i64,
        slots_taken: &mut i64,
    ) -> Result<bool, SimulateError> {
        if self.warps.is_empty() {
            if self.begins > now {
                return Ok(false);
            }
            self.begin(engine, rules, now)?;
        }
        loop {
            for warp in &mut self.warps {
                warp.go_on(engine, rules, now, slots_taken)?;
            }
            let stops: Option<Vec<_>> = self.warps.iter().map(Warp::stop).collect();
            let Some(stops) = stops else { return Ok(false) };
            if common_stop(engine, &stops)?.is_none() {
                return Ok(true);
            }
            let until = engine.later("platform.barrier", now, rules.barrier, 1)?;
            for warp in &mut self.warps {
                if let State::Arrived { since, .. } = warp.state {
                    warp.strand.record_warp(engine, SpanKind::Barrier, (since, until));
                }
                warp.strand.next_phase(until);
                warp.state = State::Asleep { until, slot: false };
            }
            if until > now {
                return Ok(false);
            }
        }
    }

    /// The last warp may be partly filled.
    fn begin(
        &mut self,
        engine: &mut Engine<'p>,
        rules: &Rules,
        now: i64,
    ) -> Result<(), SimulateError> {
        start_items(engine, rules.local)?;
        let Warps { width, dispatchers, .. } = rules.warps;
        let program = engine.problem.kernel.as_slice();
        let firsts = (0..rules.local).step_by(index(width));
        let warps = firsts.zip(0..).map(|(first_lid, number)| {
            let width = width.min(rules.local - first_lid);
            let share = Share { first_lid, width, runs: 1, stride: 0, alike: true };
            let place = Place { element: number % dispatchers, ..self.place };
            let strand = Strand::competing(program, place, share, now);
            Warp { strand, state: State::Asleep { until: now, slot: false } }
        });
        self.warps = warps.collect();
        Ok(())
    }

    pub fn fingerprint(&self, rules: &Rules, now: i64) -> Vec<i64> {
        let serial = if rules.groups_alike { 0 } else { self.place.serial };
        let begins = if self.warps.is_empty() { self.begins - now } else { -1 };
        let dispatchers = index(rules.warps.dispatchers);
        let warps = self.warps.iter().enumerate();
        let mut warps: Vec<Vec<i64>> = warps
            .map(|(number, warp)| warp.fingerprint(rules, now, number % dispatchers))
            .collect();
        if rules.warps_alike {
            warps.sort_unstable();
        }
        let mut all = vec![serial, begins];
        warps.iter().for_each(|warp| all.extend(warp));
        all
    }
}

impl<'p> Warp<'p> {
    /// Goes on as long as that takes no time.
    fn go_on(
        &mut self,
        engine: &mut Engine<'p>,
        rules: &Rules,
        now: i64,
        slots_taken: &mut i64,
    ) -> Result<(), SimulateError> {
        while let State::Asleep { until, slot } = self.state
            && until <= now
        {
            *slots_taken -= i64::from(slot);
            let mut unchanged = now;
            self.state = match self.strand.step(engine, &mut unchanged)? {
                Step::Access { stmt, access, amount } => {
                    let segment = rules.segment(engine, stmt, access, amount)?;
                    match segment.occupies {
                        0 => State::Asleep { until: now, slot: false },
                        _ => State::Ready { segment, since: now },
                    }
                }
                Step::Until { end, .. } => {
                    self.strand.record_warp(engine, SpanKind::Until, (now, end));
                    State::Asleep { until: end, slot: false }
                }
                Step::Barrier(barrier) => State::Arrived { barrier, since: now },
                Step::End => State::Ended,
            };
        }
        Ok(())
    }

    /// The barrier where it has arrived, or that it has ended, if one of these is so.
    fn stop(&self) -> Option<(i64, Option<&'p Stmt>)> {
        match self.state {
            State::Arrived { barrier, .. } => Some((self.strand.lid(), Some(barrier))),
            State::Ended => Some((self.strand.lid(), None)),
            State::Ready { .. } | State::Asleep { .. } => None,
        }
    }

    fn fingerprint(&self, rules: &Rules, now: i64, dispatcher: usize) -> Vec<i64> {
        let (kind, ticks) = match self.state {
            State::Ready { .. } => (0, 0),
            State::Asleep { until, slot: false } => (1, until - now),
            State::Asleep { until, slot: true } => (2, until - now),
            State::Arrived { .. } => (3, 0),
            State::Ended => return vec![dispatcher as i64, 4],
        };
        let mut all = vec![dispatcher as i64, kind, ticks];
        self.strand.fingerprint(now, rules.marks_count, &mut all);
        all
    }
}
