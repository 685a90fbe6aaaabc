//! One work item, or one warp, from one barrier to the next.
//!
//! A strand is a coroutine with an explicit stack of frames, one per program it is inside of. A
//! plain work item is a warp of one: then the greatest amount over the items is its amount, and at
//! an `if` one side is not taken by anybody.

use std::rc::Rc;

use super::SimulateError;
use super::engine::{Engine, Place};
use super::trace::SpanKind;
use tickbound_expr::Expr;
use tickbound_model::{AccessKind, Stmt, StmtKind};

/// Some items, by `lid`.
type Items = Rc<[i64]>;

/// A sequence of statements that a strand is inside of.
#[derive(Clone)]
struct Frame<'p> {
    program: &'p [Stmt],
    /// Index of the statement that comes next.
    next: usize,
    /// How often the program is run again after this time: more than 0 only in a loop body.
    remaining: i64,
    active: Items,
    /// The state when the present iteration began.
    head: Moment,
}

/// The state of a strand at one moment, without what its frames have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Number of the phase, that is of barriers passed.
    phase: u64,
    now: i64,
    mark_age: i64,
    /// How often `mark` was executed or an `until` has waited.
    mark_uses: u64,
}

impl Moment {
    /// True if the mark is in the same state at both moments; the module `simulate` argues why.
    pub fn same_mark(&self, later: &Moment) -> bool {
        self.mark_age == later.mark_age || self.mark_uses == later.mark_uses
    }
}

/// Which items a strand runs, and how often.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// First item of the first run.
    pub first_lid: i64,
    /// Items in lockstep: 1 for a work item, the width for a warp.
    pub width: i64,
    /// How often the program is run, at least 1; each run sets the mark.
    pub runs: i64,
    /// How far the items move on from one run to the next.
    pub stride: i64,
    /// True if runs of different items are alike.
    pub alike: bool,
}

/// What a strand does next, that may take time.
pub(super) enum Step<'p> {
    /// An access or work, of an amount that may be 0.
    Access {
        stmt: &'p Stmt,
        access: AccessKind,
        amount: i64,
    },
    /// It goes on at this time, which may be the present one.
    Until {
        stmt: &'p Stmt,
        end: i64,
    },
    Barrier(&'p Stmt),
    End,
}

#[derive(Clone)]
pub(super) struct Strand<'p> {
    place: Place,
    share: Share,
    /// True if nothing else decides how long it takes from one barrier to the next.
    alone: bool,
    /// First item of the present run.
    first_lid: i64,
    frames: Vec<Frame<'p>>,
    mark: i64,
    mark_uses: u64,
    phase: u64,
    /// When it arrived at the barrier where it stands, or ended.
    arrived: i64,
}

impl<'p> Strand<'p> {
    pub fn new(program: &'p [Stmt], place: Place, share: Share) -> Self {
        let mut strand = Strand {
            place,
            share,
            alone: true,
            first_lid: share.first_lid,
            frames: Vec::new(),
            mark: 0,
            mark_uses: 0,
            phase: 0,
            arrived: 0,
        };
        let items = strand.items();
        strand.push(program, share.runs - 1, items, 0);
        strand
    }

    /// A strand that competes with others, begun at `now`: it moves on by [`Strand::step`].
    pub fn competing(program: &'p [Stmt], place: Place, share: Share, now: i64) -> Self {
        let mut strand = Strand { alone: false, ..Strand::new(program, place, share) };
        strand.next_phase(now);
        strand
    }

    /// Runs until the next barrier, which is returned, or to the end; with the time of arrival.
    pub fn advance(
        &mut self,
        engine: &mut Engine<'p>,
        mut now: i64,
    ) -> Result<(i64, Option<&'p Stmt>), SimulateError> {
        self.next_phase(now);
        loop {
            let (stmt, kind, end) = match self.step(engine, &mut now)? {
                Step::Access { stmt, access, amount } => {
                    let price = engine.problem.platform.price(access);
                    let end = engine.later(&stmt.at, now, price, amount)?;
                    (stmt, SpanKind::Access(access), end)
                }
                Step::Until { stmt, end } => (stmt, SpanKind::Until, end),
                Step::Barrier(stmt) => {
                    self.arrived = now;
                    return Ok((now, Some(stmt)));
                }
                Step::End => {
                    self.arrived = now;
                    return Ok((now, None));
                }
            };
            self.record(engine, stmt, kind, (now, end));
            now = end;
        }
    }

    /// Begins, or goes on after a barrier.
    pub fn next_phase(&mut self, now: i64) {
        self.phase += 1;
        if self.phase == 1 {
            // The mark is set when the item begins: seed 000, Listing 8, line 14 (`start_time =
            // time` after `go`); seed 001, Listing 3, line 3.
            self.set_mark(now);
            self.frames[0].head = self.moment(now);
        }
    }

    /// Passes what takes no time, up to what may take some. The caller lets that time pass; `now`
    /// itself moves on only if iterations that are alike are left out.
    pub fn step(
        &mut self,
        engine: &mut Engine<'p>,
        now: &mut i64,
    ) -> Result<Step<'p>, SimulateError> {
        while let Some(frame) = self.frames.last_mut() {
            engine.count(frame.active.len() as u64)?;
            let Some(stmt) = frame.program.get(frame.next) else {
                *now = self.end_of_program(engine, *now)?;
                continue;
            };
            frame.next += 1;
            let active = Rc::clone(&frame.active);
            if let Some(step) = self.execute(engine, stmt, active, *now)? {
                return Ok(step);
            }
        }
        Ok(Step::End)
    }

    /// Executes one statement, or enters it; returns it if it may take time.
    fn execute(
        &mut self,
        engine: &mut Engine<'p>,
        stmt: &'p Stmt,
        active: Items,
        now: i64,
    ) -> Result<Option<Step<'p>>, SimulateError> {
        match &stmt.kind {
            StmtKind::Barrier => {
                self.check_whole_warp(engine, stmt, &active)?;
                return Ok(Some(Step::Barrier(stmt)));
            }
            StmtKind::Mark => self.set_mark(now),
            StmtKind::Access { access, amount } => {
                let amount = self.amount(engine, stmt, amount, &active)?;
                return Ok(Some(Step::Access { stmt, access: *access, amount }));
            }
            StmtKind::Until(ticks) => {
                let ticks = self.greatest(engine, stmt, ticks, &active)?;
                let end = self.until(engine, stmt, now, ticks)?;
                return Ok(Some(Step::Until { stmt, end }));
            }
            StmtKind::Repeat { count, body } => {
                let count = self.greatest(engine, stmt, count, &active)?;
                if count > 0 {
                    self.push(body, count - 1, active, now);
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                let (yes, no) = self.split(engine, stmt, condition, &active)?;
                // Seed 001, section 3: the items for which the condition does not hold follow in
                // later ticks. The last frame runs first.
                for (program, side) in [(otherwise, no), (then, yes)] {
                    if !side.is_empty() {
                        self.push(program, 0, side, now);
                    }
                }
            }
        }
        Ok(None)
    }

    /// The last statement is done: the next iteration begins, or the frame is left.
    fn end_of_program(
        &mut self,
        engine: &mut Engine<'p>,
        mut now: i64,
    ) -> Result<i64, SimulateError> {
        let level = self.frames.len() - 1;
        if self.frames[level].remaining == 0 {
            self.frames.pop();
            return Ok(now);
        }
        self.frames[level].remaining -= 1;
        self.frames[level].next = 0;
        if level == 0 {
            self.next_run(1);
            self.set_mark(now);
        }
        let (before, here) = (self.frames[level].head, self.moment(now));
        let ticks = now - before.now;
        // Both moments lie in one phase, so nothing else decided in between; nothing ever does in
        // what takes no time.
        if before.phase == here.phase
            && (self.alone || ticks == 0)
            && self.may_jump(level)
            && before.same_mark(&here)
            && engine.may_skip(ticks)
        {
            let times = self.frames[level].remaining;
            now = engine.later(&self.at(level), now, ticks, times)?;
            self.jump(level, times, ticks, &before);
            engine.skipped(ticks);
        }
        self.frames[level].head = self.moment(now);
        Ok(now)
    }

    /// Begins another program run, with the next warp if the strand is one.
    fn next_run(&mut self, runs: i64) {
        if self.share.stride != 0 {
            self.first_lid += self.share.stride * runs;
            let items = self.items();
            self.frames.iter_mut().for_each(|f| f.active = Rc::clone(&items));
        }
    }

    /// `until(d)` waits until the time is *greater* than mark + d: seed 000, Listing 8, line 3
    /// (`time > start_time + gt * tz`); seed 001, Listing 3, lines 7 and 24.
    fn until(
        &mut self,
        engine: &Engine<'p>,
        stmt: &Stmt,
        now: i64,
        ticks: i64,
    ) -> Result<i64, SimulateError> {
        let passed = self.mark.checked_add(ticks).and_then(|t| t.checked_add(1));
        let passed = passed.ok_or_else(|| engine.overflow(&stmt.at))?;
        if passed > now {
            self.mark_uses += 1;
        }
        Ok(now.max(passed))
    }

    /// The greatest value over the active items: a warp moves as slowly as its slowest item.
    fn greatest(
        &self,
        engine: &mut Engine<'p>,
        stmt: &Stmt,
        expr: &Expr,
        active: &[i64],
    ) -> Result<i64, SimulateError> {
        active.iter().try_fold(i64::MIN, |greatest, lid| {
            Ok(greatest.max(engine.value(stmt, expr, &self.place, *lid)?))
        })
    }

    /// As [`Strand::greatest`], of an amount, which may not be negative in any item.
    fn amount(
        &self,
        engine: &mut Engine<'p>,
        stmt: &Stmt,
        expr: &Expr,
        active: &[i64],
    ) -> Result<i64, SimulateError> {
        let mut greatest = 0;
        for lid in active {
            let amount = engine.value(stmt, expr, &self.place, *lid)?;
            if amount < 0 {
                return Err(SimulateError::Program(format!(
                    "{}: the amount {amount} in item {lid} is negative for {}; write max(0, ...) \
                     or exclude these values",
                    stmt.at,
                    engine.configuration()
                )));
            }
            greatest = greatest.max(amount);
        }
        Ok(greatest)
    }

    /// The items for which the condition is true, and the others.
    fn split(
        &self,
        engine: &mut Engine<'p>,
        stmt: &Stmt,
        condition: &Expr,
        active: &Items,
    ) -> Result<(Items, Items), SimulateError> {
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        for lid in active.iter() {
            let holds = engine.value(stmt, condition, &self.place, *lid)? != 0;
            if holds { &mut yes } else { &mut no }.push(*lid);
        }
        Ok(match (yes.is_empty(), no.is_empty()) {
            (_, true) => (Rc::clone(active), Rc::from([])),
            (true, _) => (Rc::from([]), Rc::clone(active)),
            _ => (yes.into(), no.into()),
        })
    }

    /// A barrier that only some items of a warp take would never be released.
    fn check_whole_warp(
        &self,
        engine: &Engine<'p>,
        barrier: &Stmt,
        active: &[i64],
    ) -> Result<(), SimulateError> {
        let all = &self.frames[0].active;
        if active.len() == all.len() {
            return Ok(());
        }
        let absent = all.iter().find(|lid| !active.contains(lid));
        let (Some(absent), Some(present)) = (absent, active.first()) else { return Ok(()) };
        let around = self.frames.iter().rev().find(|f| f.active.len() == all.len());
        let branch = around.and_then(|f| f.program.get(f.next.saturating_sub(1)));
        let side = &branch.unwrap_or(barrier).at;
        let second = format!("of the same warp took the other side of {side}");
        let first = format!("waits at {}", barrier.at);
        Err(engine.divergence((*present, &first), (*absent, &second)))
    }

    fn items(&self) -> Items {
        (self.first_lid..self.first_lid + self.share.width).collect()
    }

    fn push(&mut self, program: &'p [Stmt], remaining: i64, active: Items, now: i64) {
        let head = self.moment(now);
        self.frames.push(Frame { program, next: 0, remaining, active, head });
    }

    fn set_mark(&mut self, now: i64) {
        self.mark = now;
        self.mark_uses += 1;
    }

    pub fn record(&self, engine: &mut Engine<'p>, stmt: &Stmt, kind: SpanKind, time: (i64, i64)) {
        engine.record(stmt, kind, &self.place, self.first_lid, time);
    }

    /// Counts and records what a warp that competes for dispatchers does or waits for.
    pub fn record_warp(&self, engine: &mut Engine<'p>, kind: SpanKind, time: (i64, i64)) {
        engine.record_warp(kind, &self.place, self.first_lid, time);
    }

    /// Records the wait at a barrier that is released now.
    pub fn record_wait(&self, engine: &mut Engine<'p>, barrier: &Stmt, released: i64) {
        self.record(engine, barrier, SpanKind::Barrier, (self.arrived, released));
    }

    /// First item of the present run.
    pub fn lid(&self) -> i64 {
        self.first_lid
    }

    /// How many iterations each open loop has still to do, outermost first.
    pub fn counters(&self) -> impl Iterator<Item = i64> + '_ {
        self.frames.iter().map(|f| f.remaining)
    }

    /// Where it stands, and how old its mark is if that counts. As the values of expressions do not
    /// change, this decides all that it will do.
    pub fn fingerprint(&self, now: i64, with_mark: bool, out: &mut Vec<i64>) {
        out.push(self.frames.len() as i64);
        for frame in &self.frames {
            out.extend([frame.next as i64, frame.remaining]);
        }
        if with_mark {
            out.push(now - self.mark);
        }
    }

    /// Number of open frames.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Where the program of a frame stands, for errors.
    pub fn at(&self, level: usize) -> String {
        self.frames[level].program.first().map_or("kernel", |s| s.at.as_str()).to_owned()
    }

    pub fn moment(&self, now: i64) -> Moment {
        Moment { phase: self.phase, now, mark_age: now - self.mark, mark_uses: self.mark_uses }
    }

    /// True if iterations of the frame are alike for its items.
    pub fn may_jump(&self, level: usize) -> bool {
        level > 0 || self.share.stride == 0 || self.share.alike
    }

    /// Leaves out `times` iterations of `ticks` each, like the one since `before`.
    pub fn jump(&mut self, level: usize, times: i64, ticks: i64, before: &Moment) {
        self.frames[level].remaining -= times;
        if level == 0 {
            self.next_run(times);
        }
        if self.mark_uses != before.mark_uses {
            self.mark += ticks * times;
        }
    }
}
