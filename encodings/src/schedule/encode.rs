//! Building the transition system of an open schedule; the module above tells its steps.

use super::{Lanes, Schedule};
use crate::machine::flow::PointKind;
use crate::machine::{Control, Move, Signals};
use crate::system::{ChoiceId, Ex, Sort, StateId, System};

/// See [`super::encode`].
pub(super) fn encode(lanes: &Lanes) -> Schedule {
    let mut e = Encoder::new(lanes);
    let now = e.now();
    let leave: Vec<Vec<Ex>> = (0..e.lane.len()).map(|l| e.leave(l, now)).collect();
    let signals: Vec<Signals> = (0..e.lane.len()).map(|l| e.signals(l, now)).collect();
    let finishing: Vec<Ex> = (0..e.group.len()).map(|g| e.finishing(g)).collect();
    let phase = e.phases(&leave, &signals, &finishing, now);
    let starts = e.starts(&phase, now);
    e.define_lanes(&leave, &signals, &starts, now);
    e.define_groups(&phase, &finishing, now);
    e.define_clock(&phase, now);
    e.close(now)
}

/// State variables of one warp.
struct Lane {
    /// It has begun the segment where it stands.
    begun: StateId,
    /// When it is done with its point.
    done: StateId,
    /// Until when it occupies its dispatcher.
    occupies: StateId,
    /// Until when it holds a memory slot.
    holds: StateId,
    mark: StateId,
    start: ChoiceId,
}

/// State variables of one group.
struct Group {
    /// Which place it has taken: one per place.
    place: Vec<StateId>,
    /// When it starts.
    starts: StateId,
    /// It has ended and left its place.
    left: StateId,
}

/// Which of the four steps this is.
struct Phase {
    placing: Ex,
    starting: Ex,
    waiting: Ex,
    /// For each group: it is the next to be placed.
    next: Vec<Ex>,
    /// For each lane: it could be started now.
    ready: Vec<Ex>,
}

struct Encoder<'a> {
    lanes: &'a Lanes,
    control: Control<'a>,
    clock: StateId,
    lane: Vec<Lane>,
    group: Vec<Group>,
    /// Since when each place is free, and the choice of it.
    place: Vec<(StateId, ChoiceId)>,
    constraints: Vec<Ex>,
}

impl<'a> Encoder<'a> {
    fn new(lanes: &'a Lanes) -> Self {
        let mut control = Control::new(&lanes.plan, &lanes.plan.code, false);
        let system = &mut control.system;
        let clock = system.state("clock", Sort::Int);
        let lane = (0..lanes.plan.threads)
            .map(|l| {
                let mut int = |what: &str| system.state(format!("{what}[{l}]"), Sort::Int);
                let (done, occupies) = (int("done"), int("occupies"));
                let (holds, mark) = (int("holds"), int("mark"));
                let begun = system.state(format!("begun[{l}]"), Sort::Bool);
                let start = system.choice(format!("start[{l}]"));
                Lane { begun, done, occupies, holds, mark, start }
            })
            .collect();
        let groups = lanes.shape.iter().map(|(g, _)| *g).max().unwrap_or(0);
        let places = lanes.units * usize::try_from(lanes.warps.resident_groups).unwrap_or(1);
        // More places than groups are never told apart.
        let places = places.min(groups.saturating_mul(lanes.units)).max(1);
        let group = (0..groups)
            .map(|g| Group {
                place: (0..places)
                    .map(|k| system.state(format!("in_place[{g}][{k}]"), Sort::Bool))
                    .collect(),
                starts: system.state(format!("starts[{g}]"), Sort::Int),
                left: system.state(format!("left_place[{g}]"), Sort::Bool),
            })
            .collect();
        let place = (0..places)
            .map(|k| {
                let since = system.state(format!("free_since[{k}]"), Sort::Int);
                (since, system.choice(format!("place[{k}]")))
            })
            .collect();
        Encoder { lanes, control, clock, lane, group, place, constraints: Vec::new() }
    }

    fn system(&mut self) -> &mut System {
        &mut self.control.system
    }

    fn now(&mut self) -> Ex {
        let clock = self.clock;
        self.system().state_expr(clock)
    }

    fn int(&mut self, value: i64) -> Ex {
        self.system().int(value)
    }

    fn expr(&mut self, state: StateId) -> Ex {
        self.system().state_expr(state)
    }

    fn picks(&mut self, choice: ChoiceId) -> Ex {
        self.system().choice_expr(choice)
    }

    /// What this step picks for each place.
    fn place_picks(&mut self) -> Vec<Ex> {
        let places: Vec<ChoiceId> = self.place.iter().map(|p| p.1).collect();
        places.into_iter().map(|c| self.picks(c)).collect()
    }

    /// True if the time in a state is later than now.
    fn later(&mut self, state: StateId, now: Ex) -> Ex {
        let value = self.expr(state);
        let past = self.system().le(value, now);
        self.system().not(past)
    }

    /// A truth value of the configuration.
    fn frozen(&mut self, name: &str, holds: impl Fn(usize, usize) -> bool) -> Ex {
        let values: Vec<Option<i64>> =
            self.lanes.shape.iter().map(|(g, w)| Some(i64::from(holds(*g, *w)))).collect();
        let (table, one) = (self.system().table(name, &values), self.int(1));
        self.system().eq(table, one)
    }

    fn exists(&mut self, g: usize) -> Ex {
        self.frozen(&format!("group_{g}"), |groups, _| g < groups)
    }

    fn in_group(&mut self, l: usize, g: usize) -> Ex {
        let name = format!("warp_{l}_in_group_{g}");
        self.frozen(&name, |groups, warps| g < groups && l / warps == g)
    }

    fn same_group(&mut self, l: usize, m: usize) -> Ex {
        let name = format!("warps_{l}_{m}_in_one_group");
        self.frozen(&name, |groups, warps| l / warps == m / warps && l / warps < groups)
    }

    fn units(&self) -> usize {
        self.lanes.units.min(self.place.len())
    }

    fn places_per_unit(&self) -> usize {
        self.place.len() / self.units()
    }

    /// Lane `l` is on unit `u`.
    fn on_unit(&mut self, l: usize, u: usize) -> Ex {
        let each = self.places_per_unit();
        let mut cases = Vec::new();
        for g in 0..self.group.len() {
            let belongs = self.in_group(l, g);
            for k in u * each..(u + 1) * each {
                let place = self.group[g].place[k];
                let place = self.expr(place);
                cases.push(self.system().and(&[belongs, place]));
            }
        }
        self.system().or(&cases)
    }

    fn same_unit(&mut self, l: usize, m: usize) -> Ex {
        if self.units() == 1 {
            return self.system().bool(true);
        }
        let mut cases = vec![self.same_group(l, m)];
        for u in 0..self.units() {
            let both = [self.on_unit(l, u), self.on_unit(m, u)];
            cases.push(self.system().and(&both));
        }
        self.system().or(&cases)
    }

    fn same_dispatcher(&mut self, l: usize, m: usize) -> Ex {
        let dispatchers = usize::try_from(self.lanes.warps.dispatchers).unwrap_or(usize::MAX);
        let name = format!("warps_{l}_{m}_on_one_dispatcher");
        let same =
            self.frozen(&name, |_, warps| (l % warps) % dispatchers == (m % warps) % dispatchers);
        let unit = self.same_unit(l, m);
        self.system().and(&[same, unit])
    }

    /// Ticks of the segment where lane `l` stands (0 elsewhere), and whether it is a global one.
    fn segment(&mut self, l: usize) -> (Ex, Ex) {
        let (mut ticks, mut global) = (self.int(0), Vec::new());
        for p in 0..self.control.flow.points.len() {
            let (amount, is_global) = match self.control.flow.points[p].kind {
                PointKind::Work { amount, .. } => (amount, false),
                PointKind::Global(amount) => (amount, true),
                _ => continue,
            };
            let (at, amount) = (self.control.at(l, p), self.control.amount(amount, l));
            ticks = self.system().ite(at, amount, ticks);
            if is_global {
                global.push(at);
            }
        }
        (ticks, self.system().or(&global))
    }

    /// For each point whether lane `l` is there and done with it.
    fn leave(&mut self, l: usize, now: Ex) -> Vec<Ex> {
        let waiting = self.later(self.lane[l].done, now);
        let done = self.system().not(waiting);
        let begun = self.expr(self.lane[l].begun);
        let zero = self.int(0);
        (0..self.control.flow.points.len())
            .map(|p| {
                let at = self.control.at(l, p);
                match self.control.flow.points[p].kind.clone() {
                    PointKind::Work { amount, .. } | PointKind::Global(amount) => {
                        let amount = self.control.amount(amount, l);
                        let nothing = self.system().eq(amount, zero);
                        let over = self.system().and(&[begun, done]);
                        let over = self.system().or(&[nothing, over]);
                        self.system().and(&[at, over])
                    }
                    PointKind::Until(_) | PointKind::Pause(_) => self.system().and(&[at, done]),
                    PointKind::Nop => at,
                    PointKind::Barrier { .. } | PointKind::End | PointKind::Jump(_) => {
                        self.system().bool(false)
                    }
                }
            })
            .collect()
    }

    /// When lane `l` passes a barrier: the first one when its group starts, another when all warps
    /// of its group are at one.
    fn signals(&mut self, l: usize, now: Ex) -> Signals {
        let at_start = self.control.at(l, 0);
        let mut started = Vec::new();
        for g in 0..self.group.len() {
            let belongs = self.in_group(l, g);
            let placed = self.placed(g);
            let early = self.later(self.group[g].starts, now);
            let in_time = self.system().not(early);
            started.push(self.system().and(&[belongs, placed, in_time]));
        }
        let started = self.system().or(&started);
        let mut all = Vec::new();
        for m in 0..self.lane.len() {
            let (same, waits) = (self.same_group(l, m), self.waits(m));
            let other = self.system().not(same);
            all.push(self.system().or(&[other, waits]));
        }
        all.push(self.waits(l));
        let all = self.system().and(&all);
        let started = self.system().and(&[at_start, started]);
        let never = vec![self.system().bool(false); self.lane.len()];
        Signals { release: self.system().or(&[started, all]), next_item: never }
    }

    /// Lane `l` waits at a barrier of the program.
    fn waits(&mut self, l: usize) -> Ex {
        let at: Vec<Ex> = self
            .control
            .barriers()
            .into_iter()
            .filter(|p| *p != 0)
            .map(|p| self.control.at(l, p))
            .collect();
        self.system().or(&at)
    }

    fn placed(&mut self, g: usize) -> Ex {
        let places = self.group[g].place.clone();
        let places: Vec<Ex> = places.into_iter().map(|k| self.expr(k)).collect();
        self.system().or(&places)
    }

    /// Group `g` has ended in this moment.
    fn finishing(&mut self, g: usize) -> Ex {
        let left = self.expr(self.group[g].left);
        let mut all = vec![self.placed(g), self.system().not(left)];
        let end = self.control.flow.end();
        for l in 0..self.lane.len() {
            let belongs = self.in_group(l, g);
            let other = self.system().not(belongs);
            let ended = self.control.at(l, end);
            all.push(self.system().or(&[other, ended]));
        }
        self.system().and(&all)
    }

    fn free(&mut self, k: usize) -> Ex {
        let mut all = Vec::new();
        for g in 0..self.group.len() {
            let (here, left) = (self.group[g].place[k], self.group[g].left);
            let here = self.expr(here);
            let elsewhere = self.system().not(here);
            let left = self.expr(left);
            all.push(self.system().or(&[elsewhere, left]));
        }
        self.system().and(&all)
    }

    fn phases(
        &mut self,
        leave: &[Vec<Ex>],
        signals: &[Signals],
        finishing: &[Ex],
        now: Ex,
    ) -> Phase {
        let mut moving: Vec<Ex> = leave.iter().flatten().copied().collect();
        moving.extend(signals.iter().map(|s| s.release));
        moving.extend(finishing);
        let moving = self.system().or(&moving);
        let still = self.system().not(moving);
        let next = self.next_group();
        let free: Vec<Ex> = (0..self.place.len()).map(|k| self.free(k)).collect();
        let (any_next, any_free) = (self.system().or(&next), self.system().or(&free));
        let placing = self.system().and(&[still, any_next, any_free]);
        self.constrain_places(placing, &free);
        let ready: Vec<Ex> = (0..self.lane.len()).map(|l| self.ready(l, now)).collect();
        let any_ready = self.system().or(&ready);
        let unplaced = self.system().not(placing);
        let starting = self.system().and(&[still, unplaced, any_ready]);
        let unready = self.system().not(any_ready);
        let over = self.over();
        let open = self.system().not(over);
        let waiting = self.system().and(&[still, unplaced, unready, open]);
        Phase { placing, starting, waiting, next, ready }
    }

    fn next_group(&mut self) -> Vec<Ex> {
        let placed: Vec<Ex> = (0..self.group.len()).map(|g| self.placed(g)).collect();
        (0..self.group.len())
            .map(|g| {
                let mut all = vec![self.exists(g), self.system().not(placed[g])];
                if g > 0 {
                    all.push(placed[g - 1]);
                }
                self.system().and(&all)
            })
            .collect()
    }

    /// Exactly one place is picked while placing: a free one, free for as long as any, and of equal
    /// ones in a unit the first.
    fn constrain_places(&mut self, placing: Ex, free: &[Ex]) {
        let each = self.places_per_unit();
        let picks = self.place_picks();
        let some = self.system().or(&picks);
        let idle = self.system().not(placing);
        let some = self.system().or(&[idle, some]);
        self.constraints.push(some);
        for k in 0..self.place.len() {
            let since = self.expr(self.place[k].0);
            let mut all = vec![placing, free[k]];
            for j in (0..self.place.len()).filter(|j| *j != k) {
                let other = self.expr(self.place[j].0);
                let as_long = self.system().le(since, other);
                let longer = self.system().le(other, since);
                let behind =
                    if j < k && j / each == k / each { self.system().not(longer) } else { as_long };
                let taken = self.system().not(free[j]);
                all.push(self.system().or(&[taken, behind]));
                let both = self.system().and(&[picks[k], picks[j]]);
                let one = self.system().not(both);
                self.constraints.push(one);
            }
            let allowed = self.system().and(&all);
            let not = self.system().not(picks[k]);
            let fact = self.system().or(&[not, allowed]);
            self.constraints.push(fact);
        }
    }

    /// Lane `l` stands before a segment that a free dispatcher could start.
    fn ready(&mut self, l: usize, now: Ex) -> Ex {
        let (ticks, global) = self.segment(l);
        let begun = self.expr(self.lane[l].begun);
        let (one, fresh) = (self.int(1), self.system().not(begun));
        let mut all = vec![self.system().le(one, ticks), fresh];
        for m in (0..self.lane.len()).filter(|m| *m != l) {
            let same = self.same_dispatcher(l, m);
            let busy = self.later(self.lane[m].occupies, now);
            let blocks = self.system().and(&[same, busy]);
            all.push(self.system().not(blocks));
        }
        if let Some(slots) = self.lanes.warps.memory_slots {
            let held = self.held(l, now);
            let (slots, local) = (self.int(slots - 1), self.system().not(global));
            let room = self.system().le(held, slots);
            all.push(self.system().or(&[local, room]));
        }
        self.system().and(&all)
    }

    /// Memory slots of lane `l`'s unit that are held now.
    fn held(&mut self, l: usize, now: Ex) -> Ex {
        let held: Vec<Ex> = (0..self.lane.len())
            .map(|m| {
                let (same, holds) = (self.same_unit(l, m), self.later(self.lane[m].holds, now));
                self.system().and(&[same, holds])
            })
            .collect();
        self.count(&held)
    }

    fn count(&mut self, facts: &[Ex]) -> Ex {
        let (zero, one) = (self.int(0), self.int(1));
        facts.iter().fold(zero, |sum, fact| {
            let this = self.system().ite(*fact, one, zero);
            self.system().add(sum, this)
        })
    }

    /// For each lane whether it is started in this step. Started lanes were ready and get in each
    /// other's way nowhere, and no ready lane is left that could be started too.
    fn starts(&mut self, phase: &Phase, now: Ex) -> Vec<Ex> {
        let starts: Vec<ChoiceId> = self.lane.iter().map(|l| l.start).collect();
        let picks: Vec<Ex> = starts.into_iter().map(|c| self.picks(c)).collect();
        let global: Vec<Ex> = (0..self.lane.len()).map(|l| self.segment(l).1).collect();
        for l in 0..self.lane.len() {
            let allowed = self.system().and(&[phase.starting, phase.ready[l]]);
            let idle = self.system().not(picks[l]);
            let fact = self.system().or(&[idle, allowed]);
            self.constraints.push(fact);
            let mut excused = vec![picks[l]];
            for m in (0..self.lane.len()).filter(|m| *m != l) {
                let same = self.same_dispatcher(l, m);
                excused.push(self.system().and(&[same, picks[m]]));
                if m < l {
                    let clash = self.system().and(&[same, picks[l], picks[m]]);
                    let fact = self.system().not(clash);
                    self.constraints.push(fact);
                }
            }
            if let Some(slots) = self.lanes.warps.memory_slots {
                let full = self.slots_full(l, slots, &picks, &global, now);
                let needs = self.system().and(&[global[l], full]);
                excused.push(needs);
            }
            let idle = self.system().not(allowed);
            excused.push(idle);
            let fact = self.system().or(&excused);
            self.constraints.push(fact);
        }
        picks
    }

    /// After this step's starts all slots of lane `l`'s unit are held; no more than that ever are.
    fn slots_full(&mut self, l: usize, slots: i64, picks: &[Ex], global: &[Ex], now: Ex) -> Ex {
        let held = self.held(l, now);
        let new: Vec<Ex> = (0..self.lane.len())
            .map(|m| {
                let same = self.same_unit(l, m);
                self.system().and(&[same, picks[m], global[m]])
            })
            .collect();
        let new = self.count(&new);
        let sum = self.system().add(held, new);
        let limit = self.int(slots);
        let within = self.system().le(sum, limit);
        let own = self.system().and(&[picks[l], global[l]]);
        let other = self.system().not(own);
        let fact = self.system().or(&[other, within]);
        self.constraints.push(fact);
        self.system().le(limit, sum)
    }

    fn define_lanes(&mut self, leave: &[Vec<Ex>], signals: &[Signals], starts: &[Ex], now: Ex) {
        for l in 0..self.lane.len() {
            let moves = self.control.moves(l, &leave[l], &signals[l]);
            self.control.define(l, &moves, &leave[l], &signals[l]);
            let groups = self.group.len();
            let active: Vec<Ex> = (0..groups).map(|g| self.in_group(l, g)).collect();
            let active = self.system().or(&active);
            self.control.idle_unless(l, active);
            self.define_lane(l, &moves, starts[l], now);
        }
    }

    fn define_lane(&mut self, l: usize, moves: &[Move], start: Ex, now: Ex) {
        let (ticks, global) = self.segment(l);
        let moved: Vec<Ex> = moves.iter().map(|m| m.taken).collect();
        let moved = self.system().or(&moved);
        let (no, zero) = (self.system().bool(false), self.int(0));
        let begun = self.expr(self.lane[l].begun);
        let begun = self.system().or(&[begun, start]);
        let next = self.system().ite(moved, no, begun);
        let states = [self.lane[l].begun, self.lane[l].occupies, self.lane[l].holds];
        self.system().define(states[0], no, next);

        let free = self.system().add(now, ticks);
        let latency = self.int(self.lanes.warps.global_latency);
        let data = self.system().add(free, latency);
        let occupies = self.expr(states[1]);
        let next = self.system().ite(start, free, occupies);
        self.system().define(states[1], zero, next);
        let holds = self.expr(states[2]);
        let held = self.system().and(&[start, global]);
        let next = self.system().ite(held, data, holds);
        self.system().define(states[2], zero, next);

        let ready = self.system().ite(global, data, free);
        let (done, mark) = (self.lane[l].done, self.lane[l].mark);
        let old = self.expr(done);
        let mut next = self.system().ite(start, ready, old);
        let mut marked = Vec::new();
        for m in moves {
            if m.mark {
                marked.push(m.taken);
            }
            if let Some(until) = self.arrival(l, m, now) {
                next = self.system().ite(m.taken, until, next);
            }
        }
        self.system().define(done, zero, next);
        let marked = self.system().or(&marked);
        let old = self.expr(mark);
        let next = self.system().ite(marked, now, old);
        self.system().define(mark, zero, next);
    }

    /// When a lane that arrives at a waiting point now is done with it.
    fn arrival(&mut self, l: usize, m: &Move, now: Ex) -> Option<Ex> {
        match self.control.flow.points[m.target].kind.clone() {
            PointKind::Until(amount) => {
                let mark = if m.mark { now } else { self.expr(self.lane[l].mark) };
                let (ticks, one) = (self.control.amount(amount, l), self.int(1));
                let ticks = self.system().add(ticks, one);
                let until = self.system().add(mark, ticks);
                Some(self.system().max(now, until))
            }
            PointKind::Pause(ticks) => {
                let ticks = self.int(ticks);
                Some(self.system().add(now, ticks))
            }
            _ => None,
        }
    }

    fn define_groups(&mut self, phase: &Phase, finishing: &[Ex], now: Ex) {
        let (no, zero) = (self.system().bool(false), self.int(0));
        let start = self.int(self.lanes.group_start);
        let start = self.system().add(now, start);
        let picks = self.place_picks();
        for (g, finished) in finishing.iter().enumerate() {
            let taking = self.system().and(&[phase.placing, phase.next[g]]);
            for (k, pick) in picks.iter().enumerate() {
                let state = self.group[g].place[k];
                let old = self.expr(state);
                let new = self.system().and(&[taking, *pick]);
                let next = self.system().or(&[old, new]);
                self.system().define(state, no, next);
            }
            let (starts, left) = (self.group[g].starts, self.group[g].left);
            let old = self.expr(starts);
            let next = self.system().ite(taking, start, old);
            self.system().define(starts, zero, next);
            let old = self.expr(left);
            let next = self.system().or(&[old, *finished]);
            self.system().define(left, no, next);
        }
        let launch = self.int(self.lanes.kernel_launch);
        for k in 0..self.place.len() {
            let freed: Vec<Ex> = (0..self.group.len())
                .map(|g| {
                    let here = self.expr(self.group[g].place[k]);
                    self.system().and(&[here, finishing[g]])
                })
                .collect();
            let freed = self.system().or(&freed);
            let state = self.place[k].0;
            let old = self.expr(state);
            let next = self.system().ite(freed, now, old);
            self.system().define(state, launch, next);
        }
    }

    /// The clock goes to the next moment at which something ends.
    fn define_clock(&mut self, phase: &Phase, now: Ex) {
        let mut moments: Vec<StateId> = self.group.iter().map(|g| g.starts).collect();
        for lane in &self.lane {
            moments.extend([lane.done, lane.occupies]);
        }
        let mut next: Option<Ex> = None;
        for state in moments {
            let (moment, later) = (self.expr(state), self.later(state, now));
            next = Some(match next {
                None => self.system().ite(later, moment, now),
                Some(best) => {
                    // `now` stands for "nothing yet".
                    let none = self.system().le(best, now);
                    let sooner = self.system().le(moment, best);
                    let better = self.system().or(&[none, sooner]);
                    let take = self.system().and(&[later, better]);
                    self.system().ite(take, moment, best)
                }
            });
        }
        let next = next.unwrap_or(now);
        let next = self.system().ite(phase.waiting, next, now);
        let (clock, launch) = (self.clock, self.lanes.kernel_launch);
        let launch = self.int(launch);
        self.system().define(clock, launch, next);
    }

    /// All groups have ended.
    fn over(&mut self) -> Ex {
        let all: Vec<Ex> = (0..self.group.len())
            .map(|g| {
                let exists = self.exists(g);
                let absent = self.system().not(exists);
                let left = self.expr(self.group[g].left);
                self.system().or(&[absent, left])
            })
            .collect();
        self.system().and(&all)
    }

    fn close(mut self, now: Ex) -> Schedule {
        let goal = self.over();
        let constraints = std::mem::take(&mut self.constraints);
        let finish: Vec<Option<i64>> = self.lanes.finish.iter().copied().map(Some).collect();
        let finish = self.system().table("finish", &finish);
        let cost = self.system().add(now, finish);
        let constraint = self.system().and(&constraints);
        let places_per_unit = self.places_per_unit();
        let system = self.system();
        system.goal = goal;
        system.cost = cost;
        system.constraint = constraint;
        Schedule {
            start: self.lane.iter().map(|l| l.start).collect(),
            place: self.place.iter().map(|p| p.1).collect(),
            places_per_unit,
            finish: self.lanes.finish.clone(),
            warps_per_group: self.lanes.shape.iter().map(|(_, w)| *w).collect(),
            system: self.control.system,
        }
    }
}
