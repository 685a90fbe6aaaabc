//! What the encodings share: where each thread is, which loop it is in, which item it runs.
//!
//! A [`Control`] is a transition system in the making. It holds the threads' positions (one truth
//! value per point), loop counters and items; an encoding adds its clocks and says when a thread
//! may leave a point. Everything that takes no time happens on the way from one point to the next.
//!
//! Threads that run several items (`opencl` with more items than elements) run a phase once for
//! each: on arrival at a barrier with items left, a thread goes back to where the phase began, with
//! the loop counters of that moment.

pub(crate) mod flow;

use flow::{Count, Exit, Flow, Guard, PointKind};

use crate::plan::{AmountId, Op, Plan};
use crate::plan::{Jump, Scalar};
use crate::system::{Ex, Sort, StateId, System};

/// State variables of one thread.
#[derive(Debug, Clone)]
struct Thread {
    /// Position: one per point.
    at: Vec<StateId>,
    counters: Vec<StateId>,
    /// The item it runs: one per item; empty if there is only one.
    item: Vec<StateId>,
    /// The barrier where this phase began, one per point, and the counters there.
    begun: Vec<StateId>,
    saved: Vec<StateId>,
}

/// One way that one thread may go in this step.
pub(crate) struct Move {
    /// True if it goes this way.
    pub taken: Ex,
    /// It passes a mark.
    pub mark: bool,
    /// The point it reaches.
    pub target: usize,
    counters: Vec<(usize, Ex)>,
}

/// What happens at barriers in this step.
pub(crate) struct Signals {
    /// All threads have arrived with their last item.
    pub release: Ex,
    /// For each thread: it has arrived with items left and begins the next.
    pub next_item: Vec<Ex>,
}

/// A transition system in the making.
pub(crate) struct Control<'p> {
    pub system: System,
    pub plan: &'p Plan,
    pub flow: Flow,
    /// Items that a thread runs in a phase, as far as this system tells them apart.
    pub items: usize,
    threads: Vec<Thread>,
}

/// Which item's numbers count.
#[derive(Clone, Copy)]
enum View {
    Present,
    First,
    Following,
}

impl<'p> Control<'p> {
    /// Positions, counters and items for `code`, which may be the plan's own program or a shorter
    /// one with the same effect. If `alike`, the program does the same in every thread and with all
    /// of its items at once, so one thread with one item stands for all.
    pub fn new(plan: &'p Plan, code: &[Op], alike: bool) -> Control<'p> {
        let (threads, items) = if alike { (1, 1) } else { (plan.threads, plan.items) };
        let mut system = System::new(plan.parameters.clone(), plan.configurations.clone());
        let flow = Flow::new(code);
        let several = items > 1;
        let mut many = |what: &str, t: usize, n: usize, sort| -> Vec<StateId> {
            (0..n).map(|i| system.state(format!("{what}[{t}][{i}]"), sort)).collect()
        };
        let (points, counters) = (flow.points.len(), flow.counters);
        let threads = (0..threads)
            .map(|t| Thread {
                at: many("at", t, points, Sort::Bool),
                counters: many("left", t, counters, Sort::Int),
                item: many("item", t, if several { items } else { 0 }, Sort::Bool),
                begun: many("begun", t, if several { points } else { 0 }, Sort::Bool),
                saved: many("saved", t, if several { counters } else { 0 }, Sort::Int),
            })
            .collect();
        Control { system, plan, flow, items, threads }
    }

    /// Lets thread `t` begin at the end, without doing anything, unless `active`.
    pub fn idle_unless(&mut self, t: usize, active: Ex) {
        let idle = self.system.not(active);
        let end = self.flow.end();
        let (first, last) = (self.threads[t].at[0], self.threads[t].at[end]);
        for (state, init) in [(first, active), (last, idle)] {
            let next = self.system.states[state.index()].next;
            self.system.define(state, init, next);
        }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// True if thread `t` is at a point.
    pub fn at(&mut self, t: usize, point: usize) -> Ex {
        self.system.state_expr(self.threads[t].at[point])
    }

    /// An amount for thread `t` and item `item`.
    pub fn amount_of(&mut self, id: AmountId, t: usize, item: usize) -> Ex {
        let plan = self.plan;
        let values: Vec<Option<i64>> =
            (0..plan.configurations.len()).map(|c| plan.value(id, c, t, item)).collect();
        let name = if plan.is_uniform(id) {
            plan.amount(id).name.clone()
        } else {
            format!("{}@{t}.{item}", plan.amount(id).name)
        };
        self.system.table(&name, &values)
    }

    /// An amount for the item that thread `t` runs now.
    pub fn amount(&mut self, id: AmountId, t: usize) -> Ex {
        self.amount_seen(id, t, View::Present)
    }

    fn amount_seen(&mut self, id: AmountId, t: usize, view: View) -> Ex {
        if self.plan.is_uniform(id) || self.items == 1 {
            return self.amount_of(id, t, 0);
        }
        let shift = match view {
            View::First => return self.amount_of(id, t, 0),
            View::Present => 0,
            View::Following => 1,
        };
        let last = self.items - 1;
        let mut value = self.amount_of(id, t, last);
        for item in (0..last.saturating_sub(shift)).rev() {
            let here = self.system.state_expr(self.threads[t].item[item]);
            let this = self.amount_of(id, t, item + shift);
            value = self.system.ite(here, this, value);
        }
        value
    }

    /// True if thread `t` will run item `item` after this step.
    pub fn will_run(&mut self, t: usize, item: usize, signals: &Signals) -> Ex {
        if self.items == 1 {
            return self.system.bool(true);
        }
        let present = self.system.state_expr(self.threads[t].item[item]);
        let before = match item {
            0 => self.system.bool(false),
            _ => self.system.state_expr(self.threads[t].item[item - 1]),
        };
        let moved = self.system.ite(signals.next_item[t], before, present);
        let first = self.system.bool(item == 0);
        self.system.ite(signals.release, first, moved)
    }

    /// True if thread `t` runs item `item` now.
    pub fn runs(&mut self, t: usize, item: usize) -> Ex {
        match self.threads[t].item.get(item) {
            None => self.system.bool(true),
            Some(state) => {
                let state = *state;
                self.system.state_expr(state)
            }
        }
    }

    /// Indices of the barrier points.
    pub fn barriers(&self) -> Vec<usize> {
        let is_barrier = |p: &usize| matches!(self.flow.points[*p].kind, PointKind::Barrier { .. });
        (0..self.flow.points.len()).filter(is_barrier).collect()
    }

    /// What happens at barriers, given `arrived`: for each thread, whether it counts as arrived
    /// where it stands at a barrier.
    pub fn signals(&mut self, arrived: &[Ex]) -> Signals {
        let mut ready = Vec::new();
        let mut next_item = Vec::new();
        for (t, here) in arrived.iter().enumerate() {
            let last = self.on_last_item(t);
            let more = self.system.not(last);
            ready.push(self.system.and(&[*here, last]));
            next_item.push(self.system.and(&[*here, more]));
        }
        Signals { release: self.system.and(&ready), next_item }
    }

    /// True if thread `t` stands at a barrier.
    pub fn at_barrier(&mut self, t: usize) -> Ex {
        let at: Vec<Ex> = self.barriers().into_iter().map(|p| self.at(t, p)).collect();
        self.system.or(&at)
    }

    fn on_last_item(&mut self, t: usize) -> Ex {
        if self.items == 1 {
            return self.system.bool(true);
        }
        let count = self.amount_of(self.plan.items_of, t, 0);
        let mut cases = Vec::new();
        for item in 0..self.items {
            let number = self.system.int(item as i64 + 1);
            let last = self.system.eq(count, number);
            let here = self.runs(t, item);
            cases.push(self.system.and(&[here, last]));
        }
        for p in self.barriers() {
            if matches!(self.flow.points[p].kind, PointKind::Barrier { solo: true, .. }) {
                cases.push(self.system.state_expr(self.threads[t].begun[p]));
            }
        }
        self.system.or(&cases)
    }

    /// The ways thread `t` may go; `leave[p]` says whether it leaves point `p`, which must imply
    /// that it is there. Barrier points follow the signals instead.
    pub fn moves(&mut self, t: usize, leave: &[Ex], signals: &Signals) -> Vec<Move> {
        let mut moves = Vec::new();
        for (p, left) in leave.iter().enumerate() {
            let exits = self.flow.points[p].exits.clone();
            let mut sources = Vec::new();
            if matches!(self.flow.points[p].kind, PointKind::Barrier { .. }) {
                let at = self.at(t, p);
                sources.push((self.system.and(&[at, signals.release]), View::First));
                if self.items > 1 {
                    let begun = self.system.state_expr(self.threads[t].begun[p]);
                    let next = self.system.and(&[begun, signals.next_item[t]]);
                    sources.push((next, View::Following));
                }
            } else {
                sources.push((*left, View::Present));
            }
            for (from, view) in sources {
                moves.extend(exits.iter().map(|exit| self.along(t, from, exit, view)));
            }
        }
        moves
    }

    fn along(&mut self, t: usize, from: Ex, exit: &Exit, view: View) -> Move {
        let mut conditions = vec![from];
        for guard in &exit.guards {
            let (holds, wanted) = match *guard {
                Guard::True(id, wanted) => {
                    let (value, zero) = (self.amount_seen(id, t, view), self.system.int(0));
                    let is_zero = self.system.eq(value, zero);
                    (self.system.not(is_zero), wanted)
                }
                Guard::Positive(id, wanted) => {
                    let (value, one) = (self.amount_seen(id, t, view), self.system.int(1));
                    (self.system.le(one, value), wanted)
                }
                Guard::More(counter, wanted) => {
                    let (value, two) = (self.counter(t, counter, view), self.system.int(2));
                    (self.system.le(two, value), wanted)
                }
            };
            conditions.push(if wanted { holds } else { self.system.not(holds) });
        }
        let mut counters = Vec::new();
        for (counter, change) in &exit.counters {
            let value = match change {
                Count::Begin(id) => self.amount_seen(*id, t, view),
                Count::Less => {
                    let (value, less) = (self.counter(t, *counter, view), self.system.int(-1));
                    self.system.add(value, less)
                }
            };
            counters.push((*counter, value));
        }
        Move { taken: self.system.and(&conditions), mark: exit.mark, target: exit.target, counters }
    }

    fn counter(&mut self, t: usize, counter: usize, view: View) -> Ex {
        let thread = &self.threads[t];
        let state = match view {
            View::Following => thread.saved[counter],
            View::Present | View::First => thread.counters[counter],
        };
        self.system.state_expr(state)
    }

    /// Defines positions, counters and items of thread `t` from its moves.
    pub fn define(&mut self, t: usize, moves: &[Move], leave: &[Ex], signals: &Signals) {
        let thread = self.threads[t].clone();
        let barrier_left = self.system.or(&[signals.release, signals.next_item[t]]);
        for (p, state) in thread.at.iter().enumerate() {
            let here = self.system.state_expr(*state);
            let barrier = matches!(self.flow.points[p].kind, PointKind::Barrier { .. });
            let left = if barrier { barrier_left } else { leave[p] };
            let stays = self.system.not(left);
            let mut cases = vec![self.system.and(&[here, stays])];
            cases.extend(moves.iter().filter(|m| m.target == p).map(|m| m.taken));
            let (init, next) = (self.system.bool(p == 0), self.system.or(&cases));
            self.system.define(*state, init, next);
        }
        for (c, state) in thread.counters.iter().enumerate() {
            let mut next = self.system.state_expr(*state);
            if let Some(saved) = thread.saved.get(c) {
                let saved = self.system.state_expr(*saved);
                next = self.system.ite(signals.next_item[t], saved, next);
            }
            for m in moves {
                if let Some((_, value)) = m.counters.iter().find(|(k, _)| *k == c) {
                    next = self.system.ite(m.taken, *value, next);
                }
            }
            let init = self.system.int(0);
            self.system.define(*state, init, next);
        }
        self.define_items(t, &thread, signals);
    }

    fn define_items(&mut self, t: usize, thread: &Thread, signals: &Signals) {
        for (item, state) in thread.item.iter().enumerate() {
            let next = self.will_run(t, item, signals);
            let init = self.system.bool(item == 0);
            self.system.define(*state, init, next);
        }
        let kept =
            thread.begun.iter().zip(&thread.at).chain(thread.saved.iter().zip(&thread.counters));
        for (i, (state, source)) in kept.enumerate() {
            let (old, new) = (self.system.state_expr(*state), self.system.state_expr(*source));
            let next = self.system.ite(signals.release, new, old);
            let init =
                if i < thread.begun.len() { self.system.bool(i == 0) } else { self.system.int(0) };
            self.system.define(*state, init, next);
        }
    }

    /// Ticks of a work point for the present item of thread `t`.
    pub fn work(&mut self, t: usize, amount: AmountId, times: Option<AmountId>) -> Ex {
        let amount = self.amount(amount, t);
        match times {
            None => amount,
            Some(times) => {
                let times = self.amount(times, t);
                self.system.mul(amount, times)
            }
        }
    }

    /// A closed number as an expression.
    pub fn scalar(&mut self, scalar: &Scalar) -> Option<Ex> {
        Some(match scalar {
            Scalar::Never => return None,
            Scalar::Int(v) => self.system.int(*v),
            Scalar::Amount { id, thread, item } => self.amount_of(*id, *thread, *item),
            Scalar::Add(a, b) => {
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                self.system.add(a, b)
            }
            Scalar::Mul(a, b) => {
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                self.system.mul(a, b)
            }
            Scalar::Max(a, b) => match (self.scalar(a), self.scalar(b)) {
                (Some(a), Some(b)) => self.system.max(a, b),
                (a, b) => return a.or(b),
            },
        })
    }

    /// Clock and mark after a jump from clock `now` and mark `mark`.
    pub fn jump(&mut self, jump: &Jump, now: Ex, mark: Ex) -> (Ex, Ex) {
        let mut shift = |from: Ex, by: &Scalar| {
            let by = self.scalar(by)?;
            Some(self.system.add(from, by))
        };
        let (first, second, tail) = match jump {
            Jump::Keep { now: a, mark: b } => (shift(now, a), shift(mark, b), None),
            Jump::Set { now: c, mark: d, after } => (shift(now, c), shift(mark, d), Some(after)),
        };
        let met = match (first, second) {
            (Some(a), Some(b)) => self.system.max(a, b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => now,
        };
        match tail {
            None => (met, mark),
            Some(after) => {
                let end = self.scalar(after).map_or(met, |e| self.system.add(met, e));
                (end, met)
            }
        }
    }
}
