//! Building the transition system of an open schedule; the module above tells its steps.

use super::Schedule;
use super::lanes::{WarpLanes, WarpOp};
use super::variables::{Encoder, IntState};
use crate::machine::flow::PointKind;
use crate::machine::{Move, Signals};
use crate::system::{Bool, Int, InternalError, SystemBuilder};

/// See [`super::encode`].
pub(super) fn encode(lanes: &WarpLanes) -> Result<Schedule, InternalError> {
    let build =
        SystemBuilder::new(lanes.plan.parameters.clone(), lanes.plan.configurations.clone());
    let mut e = Encoder::new(&build, lanes);
    let now = e.clock.now();
    let leave: Vec<Vec<Bool<'_>>> = (0..e.lane.len()).map(|l| e.leave(l, now)).collect();
    let signals: Vec<Signals<'_>> = (0..e.lane.len()).map(|l| e.signals(l, now)).collect();
    let finishing: Vec<Bool<'_>> = (0..e.group.len()).map(|g| e.finishing(g)).collect();
    let phase = e.phases(&leave, &signals, &finishing, now);
    let starts = e.starts(&phase, now);
    e.define_lanes(&leave, &signals, &starts, now);
    e.define_groups(&phase, &finishing, now);
    e.define_clock(&phase, now);
    e.close(now)
}

/// Which of the four steps this is.
struct Phase<'b> {
    placing: Bool<'b>,
    starting: Bool<'b>,
    waiting: Bool<'b>,
    /// For each group: it is the next to be placed.
    next: Vec<Bool<'b>>,
    /// For each lane: it could be started now.
    ready: Vec<Bool<'b>>,
}

/// True if the time in a state is later than now.
fn later<'b>(state: IntState<'b>, now: Int<'b>) -> Bool<'b> {
    !state.now().at_most(now)
}

impl<'b> Encoder<'b> {
    /// Ticks of the segment where lane `l` stands (0 elsewhere), and whether it is a global one.
    fn segment(&self, l: usize) -> (Int<'b>, Bool<'b>) {
        let (mut ticks, mut global) = (self.build.int(0), Vec::new());
        for (p, point) in self.control.flow.points.iter().enumerate() {
            let (amount, is_global) = match point.kind {
                PointKind::Work { amount, .. } => (amount, false),
                PointKind::Own(WarpOp::Global(amount)) => (amount, true),
                _ => continue,
            };
            let at = self.control.at(l, p);
            ticks = at.ite(self.control.amount(amount, l), ticks);
            if is_global {
                global.push(at);
            }
        }
        (ticks, self.build.any(global))
    }

    /// For each point whether lane `l` is there and done with it.
    fn leave(&self, l: usize, now: Int<'b>) -> Vec<Bool<'b>> {
        let done = !later(self.lane[l].done, now);
        let begun = self.lane[l].begun.now();
        let leave = |p: usize| {
            let at = self.control.at(l, p);
            match self.control.flow.points[p].kind {
                PointKind::Work { amount, .. } | PointKind::Own(WarpOp::Global(amount)) => {
                    let nothing = self.control.amount(amount, l).equals(self.build.int(0));
                    at & (nothing | (begun & done))
                }
                PointKind::Until(_) | PointKind::Own(WarpOp::Pause(_)) => at & done,
                PointKind::Nop => at,
                PointKind::Barrier { .. } | PointKind::End => self.build.bool(false),
            }
        };
        (0..self.control.flow.points.len()).map(leave).collect()
    }

    /// When lane `l` passes a barrier: the first one when its group starts, another when all warps
    /// of its group are at one.
    fn signals(&self, l: usize, now: Int<'b>) -> Signals<'b> {
        let started = self.build.any((0..self.group.len()).map(|g| {
            let in_time = !later(self.group[g].starts, now);
            self.build.all([self.in_group(l, g), self.placed(g), in_time])
        }));
        let others = (0..self.lane.len()).map(|m| !self.same_group(l, m) | self.waits(m));
        let all = self.build.all(others.chain([self.waits(l)]));
        let never = vec![self.build.bool(false); self.lane.len()];
        Signals { release: (self.control.at(l, 0) & started) | all, next_item: never }
    }

    /// Lane `l` waits at a barrier of the program.
    fn waits(&self, l: usize) -> Bool<'b> {
        let own = self.control.barriers().into_iter().filter(|p| *p != 0);
        self.build.any(own.map(|p| self.control.at(l, p)))
    }

    fn placed(&self, g: usize) -> Bool<'b> {
        self.build.any(self.group[g].place.iter().map(|k| k.now()))
    }

    /// Group `g` has ended in this moment.
    fn finishing(&self, g: usize) -> Bool<'b> {
        let end = self.control.flow.end();
        let ended = (0..self.lane.len()).map(|l| !self.in_group(l, g) | self.control.at(l, end));
        let here = [self.placed(g), !self.group[g].left.now()];
        self.build.all(here.into_iter().chain(ended))
    }

    fn free(&self, k: usize) -> Bool<'b> {
        self.build.all(self.group.iter().map(|g| !g.place[k].now() | g.left.now()))
    }

    fn phases(
        &mut self,
        leave: &[Vec<Bool<'b>>],
        signals: &[Signals<'b>],
        finishing: &[Bool<'b>],
        now: Int<'b>,
    ) -> Phase<'b> {
        let build = self.build;
        let leaving = leave.iter().flatten().copied();
        let released = signals.iter().map(|s| s.release);
        let still = !build.any(leaving.chain(released).chain(finishing.iter().copied()));
        let next = self.next_group();
        let free: Vec<Bool<'b>> = (0..self.place.len()).map(|k| self.free(k)).collect();
        let placing =
            build.all([still, build.any(next.iter().copied()), build.any(free.iter().copied())]);
        self.constrain_places(placing, &free);
        let ready: Vec<Bool<'b>> = (0..self.lane.len()).map(|l| self.ready(l, now)).collect();
        let any_ready = build.any(ready.iter().copied());
        let starting = build.all([still, !placing, any_ready]);
        let waiting = build.all([still, !placing, !any_ready, !self.over()]);
        Phase { placing, starting, waiting, next, ready }
    }

    fn next_group(&self) -> Vec<Bool<'b>> {
        let placed: Vec<Bool<'b>> = (0..self.group.len()).map(|g| self.placed(g)).collect();
        let next = |g: usize| {
            let before = g.checked_sub(1).map(|before| placed[before]);
            self.build.all([self.exists(g), !placed[g]].into_iter().chain(before))
        };
        (0..self.group.len()).map(next).collect()
    }

    /// Exactly one place is picked while placing: a free one, free for as long as any, and of equal
    /// ones in a unit the first.
    fn constrain_places(&mut self, placing: Bool<'b>, free: &[Bool<'b>]) {
        let each = self.places_per_unit();
        let picks: Vec<Bool<'b>> = self.place.iter().map(|p| p.choice.picked()).collect();
        self.constraints.push(!placing | self.build.any(picks.iter().copied()));
        for k in 0..self.place.len() {
            let since = self.place[k].since.now();
            let mut all = vec![placing, free[k]];
            for j in (0..self.place.len()).filter(|j| *j != k) {
                let other = self.place[j].since.now();
                let as_long = since.at_most(other);
                let longer = other.at_most(since);
                let behind = if j < k && j / each == k / each { !longer } else { as_long };
                all.push(!free[j] | behind);
                self.constraints.push(!(picks[k] & picks[j]));
            }
            self.constraints.push(!picks[k] | self.build.all(all));
        }
    }

    /// Lane `l` stands before a segment that a free dispatcher could start.
    fn ready(&self, l: usize, now: Int<'b>) -> Bool<'b> {
        let (ticks, global) = self.segment(l);
        let mut all = vec![self.build.int(1).at_most(ticks), !self.lane[l].begun.now()];
        for m in (0..self.lane.len()).filter(|m| *m != l) {
            let busy = later(self.lane[m].occupies, now);
            all.push(!(self.same_dispatcher(l, m) & busy));
        }
        if let Some(slots) = self.lanes.warps.memory_slots {
            let room = self.held(l, now).at_most(self.build.int(slots - 1));
            all.push(!global | room);
        }
        self.build.all(all)
    }

    /// Memory slots of lane `l`'s unit that are held now.
    fn held(&self, l: usize, now: Int<'b>) -> Int<'b> {
        self.count((0..self.lane.len()).map(|m| {
            let holds = later(self.lane[m].holds, now);
            self.same_unit(l, m) & holds
        }))
    }

    fn count(&self, facts: impl Iterator<Item = Bool<'b>>) -> Int<'b> {
        let (zero, one) = (self.build.int(0), self.build.int(1));
        facts.fold(zero, |sum, fact| sum + fact.ite(one, zero))
    }

    /// For each lane whether it is started in this step. Started lanes were ready and get in each
    /// other's way nowhere, and no ready lane is left that could be started too.
    fn starts(&mut self, phase: &Phase<'b>, now: Int<'b>) -> Vec<Bool<'b>> {
        let picks: Vec<Bool<'b>> = self.lane.iter().map(|l| l.start.picked()).collect();
        let global: Vec<Bool<'b>> = (0..self.lane.len()).map(|l| self.segment(l).1).collect();
        for l in 0..self.lane.len() {
            let allowed = phase.starting & phase.ready[l];
            self.constraints.push(!picks[l] | allowed);
            let mut excused = vec![picks[l]];
            for m in (0..self.lane.len()).filter(|m| *m != l) {
                let same = self.same_dispatcher(l, m);
                excused.push(same & picks[m]);
                if m < l {
                    self.constraints.push(!self.build.all([same, picks[l], picks[m]]));
                    // Warps are counted: of alike ones in the same state the first is started.
                    if let Some(alike) = self.alike(l, m) {
                        let named = [alike, picks[l], phase.ready[m], self.same_state(l, m)];
                        self.constraints.push(!self.build.all(named));
                    }
                }
            }
            if let Some(slots) = self.lanes.warps.memory_slots {
                let full = self.slots_full(l, slots, &picks, &global, now);
                excused.push(global[l] & full);
            }
            excused.push(!allowed);
            self.constraints.push(self.build.any(excused));
        }
        picks
    }

    /// After this step's starts all slots of lane `l`'s unit are held; no more than that ever are.
    fn slots_full(
        &mut self,
        l: usize,
        slots: i64,
        picks: &[Bool<'b>],
        global: &[Bool<'b>],
        now: Int<'b>,
    ) -> Bool<'b> {
        let new = self.count(
            (0..self.lane.len())
                .map(|m| self.build.all([self.same_unit(l, m), picks[m], global[m]])),
        );
        let (sum, limit) = (self.held(l, now) + new, self.build.int(slots));
        self.constraints.push(!(picks[l] & global[l]) | sum.at_most(limit));
        limit.at_most(sum)
    }

    fn define_lanes(
        &self,
        leave: &[Vec<Bool<'b>>],
        signals: &[Signals<'b>],
        starts: &[Bool<'b>],
        now: Int<'b>,
    ) {
        for l in 0..self.lane.len() {
            let moves = self.control.moves(l, &leave[l], &signals[l]);
            let active = self.build.any((0..self.group.len()).map(|g| self.in_group(l, g)));
            self.control.define(l, &moves, &leave[l], &signals[l], active);
            self.define_lane(l, &moves, starts[l], now);
        }
    }

    fn define_lane(&self, l: usize, moves: &[Move<'b>], start: Bool<'b>, now: Int<'b>) {
        let (ticks, global) = self.segment(l);
        let lane = &self.lane[l];
        let (no, zero) = (self.build.bool(false), self.build.int(0));
        let moved = self.build.any(moves.iter().map(|m| m.taken));
        lane.begun.define(no, moved.ite(no, lane.begun.now() | start));

        let free = now + ticks;
        let data = free + self.build.int(self.lanes.warps.global_latency);
        lane.occupies.define(zero, start.ite(free, lane.occupies.now()));
        lane.holds.define(zero, (start & global).ite(data, lane.holds.now()));

        let mut done = start.ite(global.ite(data, free), lane.done.now());
        for m in moves {
            if let Some(until) = self.arrival(l, m, now) {
                done = m.taken.ite(until, done);
            }
        }
        lane.done.define(zero, done);
        let marked = self.build.any(moves.iter().filter(|m| m.mark).map(|m| m.taken));
        lane.mark.define(zero, marked.ite(now, lane.mark.now()));
    }

    /// When a lane that arrives at a waiting point now is done with it.
    fn arrival(&self, l: usize, m: &Move<'b>, now: Int<'b>) -> Option<Int<'b>> {
        match self.control.flow.points[m.target].kind {
            PointKind::Until(amount) => {
                let mark = if m.mark { now } else { self.lane[l].mark.now() };
                let ticks = self.control.amount(amount, l) + self.build.int(1);
                Some(now.max(mark + ticks))
            }
            PointKind::Own(WarpOp::Pause(ticks)) => Some(now + self.build.int(ticks)),
            _ => None,
        }
    }

    fn define_groups(&self, phase: &Phase<'b>, finishing: &[Bool<'b>], now: Int<'b>) {
        let (no, zero) = (self.build.bool(false), self.build.int(0));
        let start = now + self.build.int(self.lanes.group_start);
        for (g, (group, finished)) in self.group.iter().zip(finishing).enumerate() {
            let taking = phase.placing & phase.next[g];
            for (state, place) in group.place.iter().zip(&self.place) {
                state.define(no, state.now() | (taking & place.choice.picked()));
            }
            group.starts.define(zero, taking.ite(start, group.starts.now()));
            group.left.define(no, group.left.now() | *finished);
        }
        let launch = self.build.int(self.lanes.kernel_launch);
        for (k, place) in self.place.iter().enumerate() {
            let in_place = self.group.iter().zip(finishing);
            let freed = self.build.any(in_place.map(|(g, ended)| g.place[k].now() & *ended));
            place.since.define(launch, freed.ite(now, place.since.now()));
        }
    }

    /// The clock goes to the next moment at which something ends.
    fn define_clock(&self, phase: &Phase<'b>, now: Int<'b>) {
        let of_lanes = self.lane.iter().flat_map(|lane| [lane.done, lane.occupies]);
        let moments = self.group.iter().map(|g| g.starts).chain(of_lanes);
        // `now` stands for "nothing yet".
        let next = moments.fold(now, |best, state| {
            let moment = state.now();
            let better = best.at_most(now) | moment.at_most(best);
            (later(state, now) & better).ite(moment, best)
        });
        let launch = self.build.int(self.lanes.kernel_launch);
        self.clock.define(launch, phase.waiting.ite(next, now));
    }

    /// All groups have ended.
    fn over(&self) -> Bool<'b> {
        let left = |g: usize| !self.exists(g) | self.group[g].left.now();
        self.build.all((0..self.group.len()).map(left))
    }

    fn close(mut self, now: Int<'b>) -> Result<Schedule, InternalError> {
        let goal = self.over();
        let constraint = self.build.all(std::mem::take(&mut self.constraints));
        let finish: Vec<Option<i64>> = self.lanes.finish.iter().copied().map(Some).collect();
        let cost = now + self.build.table("finish", &finish);
        Ok(Schedule {
            start: self.lane.iter().map(|l| l.start.id).collect(),
            place: self.place.iter().map(|p| p.choice.id).collect(),
            places_per_unit: self.places_per_unit(),
            finish: self.lanes.finish.clone(),
            warps_per_group: self.lanes.shape.iter().map(|(_, w)| *w).collect(),
            system: self.build.finish(goal, cost, constraint)?,
        })
    }
}
