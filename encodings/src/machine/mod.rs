//! What the encodings share: where each thread is, which loop it is in, which item it runs.
//!
//! A [`Control`] is a transition system in the making. It holds the threads' positions (one truth
//! value per point), loop counters and items; an encoding adds its clocks and decides when a thread
//! may leave a point. Everything that takes no time happens on the path from one point to the next.
//!
//! Threads that run several items (`opencl` with more items than elements) run a phase once for
//! each: on arrival at a barrier with items left, a thread goes back to where the phase began, with
//! the loop counters of that moment.

pub(crate) mod flow;

use flow::{Count, Exit, Flow, Guard, PointKind};

use crate::plan::{AmountId, Plan};
use crate::system::{Bool, Int, StateVariable, SystemBuilder};

struct Thread<'b> {
    /// Position: one per point.
    at: Vec<StateVariable<'b, Bool<'b>>>,
    counters: Vec<StateVariable<'b, Int<'b>>>,
    /// The item it runs: one per item; empty if there is only one.
    item: Vec<StateVariable<'b, Bool<'b>>>,
    /// The barrier where this phase began, one per point, and the counters there.
    begun: Vec<StateVariable<'b, Bool<'b>>>,
    saved: Vec<StateVariable<'b, Int<'b>>>,
}

/// One path that one thread may take in this step.
pub(crate) struct Move<'b> {
    /// True if it takes this path.
    pub taken: Bool<'b>,
    /// It passes a mark.
    pub mark: bool,
    /// The point it reaches.
    pub target: usize,
    counters: Vec<(usize, Int<'b>)>,
}

/// What happens at barriers in this step.
pub(crate) struct Signals<'b> {
    /// All threads have arrived with their last item.
    pub release: Bool<'b>,
    /// For each thread: it has arrived with items left and begins the next.
    pub next_item: Vec<Bool<'b>>,
}

/// A transition system in the making, for a program with operations `X` of its encoding.
pub(crate) struct Control<'b, X> {
    pub build: &'b SystemBuilder,
    pub plan: &'b Plan<X>,
    pub flow: Flow<X>,
    /// Items that a thread runs in a phase, where this system distinguishes them.
    pub items: usize,
    threads: Vec<Thread<'b>>,
}

/// Which item's numbers count.
#[derive(Clone, Copy)]
enum View {
    Present,
    First,
    Following,
}

impl<'b, X: Clone> Control<'b, X> {
    /// Positions, counters and items for the plan's program. If `alike`, the program does the same
    /// in every thread and with all of its items at once, so one item represents all.
    pub fn new(build: &'b SystemBuilder, plan: &'b Plan<X>, alike: bool) -> Self {
        let (threads, items) = if alike { (1, 1) } else { (plan.threads, plan.items) };
        let flow = Flow::new(&plan.code);
        let several = items > 1;
        let (points, counters) = (flow.points.len(), flow.counters);
        let bools = |what: &str, t: usize, n: usize| {
            (0..n).map(|i| build.state(format!("{what}[{t}][{i}]"))).collect()
        };
        let ints = |what: &str, t: usize, n: usize| {
            (0..n).map(|i| build.state(format!("{what}[{t}][{i}]"))).collect()
        };
        let threads = (0..threads)
            .map(|t| Thread {
                at: bools("at", t, points),
                counters: ints("left", t, counters),
                item: bools("item", t, if several { items } else { 0 }),
                begun: bools("begun", t, if several { points } else { 0 }),
                saved: ints("saved", t, if several { counters } else { 0 }),
            })
            .collect();
        Control { build, plan, flow, items, threads }
    }

    /// Threads `t` and `u` have as many iterations left of each loop.
    #[cfg(feature = "oracle")]
    pub fn same_counters(&self, t: usize, u: usize) -> Bool<'b> {
        let counters = self.threads[t].counters.iter().zip(&self.threads[u].counters);
        self.build.all(counters.map(|(a, b)| a.now().equals(b.now())))
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// True if thread `t` is at a point.
    pub fn at(&self, t: usize, point: usize) -> Bool<'b> {
        self.threads[t].at[point].now()
    }

    /// An amount for thread `t` and item `item`.
    pub fn amount_of(&self, id: AmountId, t: usize, item: usize) -> Int<'b> {
        let plan = self.plan;
        let values: Vec<Option<i64>> =
            (0..plan.configurations.len()).map(|c| plan.value(id, c, t, item)).collect();
        let name = if plan.is_uniform(id) {
            plan.amount(id).name.clone()
        } else {
            format!("{}@{t}.{item}", plan.amount(id).name)
        };
        self.build.table(&name, &values)
    }

    /// An amount for the item that thread `t` runs now.
    pub fn amount(&self, id: AmountId, t: usize) -> Int<'b> {
        self.amount_seen(id, t, View::Present)
    }

    fn amount_seen(&self, id: AmountId, t: usize, view: View) -> Int<'b> {
        if self.plan.is_uniform(id) || self.items == 1 {
            return self.amount_of(id, t, 0);
        }
        let shift = match view {
            View::First => return self.amount_of(id, t, 0),
            View::Present => 0,
            View::Following => 1,
        };
        let last = self.items - 1;
        (0..last.saturating_sub(shift)).rev().fold(self.amount_of(id, t, last), |value, item| {
            self.threads[t].item[item].now().ite(self.amount_of(id, t, item + shift), value)
        })
    }

    /// True if thread `t` will run item `item` after this step.
    pub fn will_run(&self, t: usize, item: usize, signals: &Signals<'b>) -> Bool<'b> {
        if self.items == 1 {
            return self.build.bool(true);
        }
        let items = &self.threads[t].item;
        let before = match item {
            0 => self.build.bool(false),
            _ => items[item - 1].now(),
        };
        let moved = signals.next_item[t].ite(before, items[item].now());
        signals.release.ite(self.build.bool(item == 0), moved)
    }

    /// True if thread `t` runs item `item` now.
    pub fn runs(&self, t: usize, item: usize) -> Bool<'b> {
        match self.threads[t].item.get(item) {
            None => self.build.bool(true),
            Some(state) => state.now(),
        }
    }

    /// Indices of the barrier points.
    pub fn barriers(&self) -> Vec<usize> {
        (0..self.flow.points.len()).filter(|p| self.flow.points[*p].is_barrier()).collect()
    }

    /// What happens at barriers, given for each thread whether it counts as arrived at one.
    pub fn signals(&self, arrived: &[Bool<'b>]) -> Signals<'b> {
        let (mut ready, mut next_item) = (Vec::new(), Vec::new());
        for (t, here) in arrived.iter().enumerate() {
            let last = self.on_last_item(t);
            ready.push(*here & last);
            next_item.push(*here & !last);
        }
        Signals { release: self.build.all(ready), next_item }
    }

    /// True if thread `t` stands at a barrier.
    pub fn at_barrier(&self, t: usize) -> Bool<'b> {
        self.build.any(self.barriers().into_iter().map(|p| self.at(t, p)))
    }

    fn on_last_item(&self, t: usize) -> Bool<'b> {
        if self.items == 1 {
            return self.build.bool(true);
        }
        let plan = self.plan;
        let counts: Vec<Option<i64>> =
            (0..plan.configurations.len()).map(|c| Some(plan.items_of(c, t))).collect();
        let count = self.build.table(&format!("items@{t}"), &counts);
        let last = |item: usize| count.equals(self.build.int(item as i64 + 1)) & self.runs(t, item);
        let solo = self
            .barriers()
            .into_iter()
            .filter(|p| matches!(self.flow.points[*p].kind, PointKind::Barrier { solo: true, .. }));
        let alone = solo.map(|p| self.threads[t].begun[p].now());
        self.build.any((0..self.items).map(last).chain(alone))
    }

    /// The paths thread `t` may take; `leave[p]`: it leaves point `p`, which must imply
    /// that it is there. Barrier points follow the signals instead.
    pub fn moves(&self, t: usize, leave: &[Bool<'b>], signals: &Signals<'b>) -> Vec<Move<'b>> {
        let mut moves = Vec::new();
        for (p, left) in leave.iter().enumerate() {
            let point = &self.flow.points[p];
            let mut sources = Vec::new();
            if point.is_barrier() {
                sources.push((self.at(t, p) & signals.release, View::First));
                if self.items > 1 {
                    let begun = self.threads[t].begun[p].now();
                    sources.push((begun & signals.next_item[t], View::Following));
                }
            } else {
                sources.push((*left, View::Present));
            }
            for (from, view) in sources {
                moves.extend(point.exits.iter().map(|exit| self.along(t, from, exit, view)));
            }
        }
        moves
    }

    fn along(&self, t: usize, from: Bool<'b>, exit: &Exit, view: View) -> Move<'b> {
        let int = |value| self.build.int(value);
        let guards = exit.guards.iter().map(|guard| {
            let (holds, wanted) = match *guard {
                Guard::True(id, wanted) => (!self.amount_seen(id, t, view).equals(int(0)), wanted),
                Guard::Positive(id, wanted) => {
                    (int(1).at_most(self.amount_seen(id, t, view)), wanted)
                }
                Guard::More(counter, wanted) => {
                    (int(2).at_most(self.counter(t, counter, view)), wanted)
                }
            };
            if wanted { holds } else { !holds }
        });
        let taken = self.build.all(std::iter::once(from).chain(guards));
        let counters = exit.counters.iter().map(|(counter, change)| {
            let value = match change {
                Count::Begin(id) => self.amount_seen(*id, t, view),
                Count::Less => self.counter(t, *counter, view) + int(-1),
            };
            (*counter, value)
        });
        Move { taken, mark: exit.mark, target: exit.target, counters: counters.collect() }
    }

    fn counter(&self, t: usize, counter: usize, view: View) -> Int<'b> {
        let thread = &self.threads[t];
        match view {
            View::Following => thread.saved[counter].now(),
            View::Present | View::First => thread.counters[counter].now(),
        }
    }

    /// Defines positions, counters and items of thread `t` from its moves. Unless `active`, which
    /// the parameters decide, it begins at the end and does nothing.
    pub fn define(
        &self,
        t: usize,
        moves: &[Move<'b>],
        leave: &[Bool<'b>],
        signals: &Signals<'b>,
        active: Bool<'b>,
    ) {
        let thread = &self.threads[t];
        let barrier_left = signals.release | signals.next_item[t];
        let end = self.flow.end();
        // Lists for each point and counter: to look through all moves at each of them is quadratic.
        let mut arrivals = vec![Vec::new(); thread.at.len()];
        let mut settings = vec![Vec::new(); thread.counters.len()];
        for m in moves {
            arrivals[m.target].push(m.taken);
            // The first value of a counter counts.
            for (counter, value) in m.counters.iter().rev() {
                settings[*counter].push((m.taken, *value));
            }
        }
        for ((p, state), arrive) in thread.at.iter().enumerate().zip(arrivals) {
            let left = if self.flow.points[p].is_barrier() { barrier_left } else { leave[p] };
            let stays = state.now() & !left;
            let init = match p {
                0 => active,
                _ if p == end => !active,
                _ => self.build.bool(false),
            };
            state.define(init, self.build.any(std::iter::once(stays).chain(arrive)));
        }
        for ((c, state), settings) in thread.counters.iter().enumerate().zip(settings) {
            let mut next = state.now();
            if let Some(saved) = thread.saved.get(c) {
                next = signals.next_item[t].ite(saved.now(), next);
            }
            for (taken, value) in settings {
                next = taken.ite(value, next);
            }
            state.define(self.build.int(0), next);
        }
        self.define_items(t, signals);
    }

    fn define_items(&self, t: usize, signals: &Signals<'b>) {
        let thread = &self.threads[t];
        for (item, state) in thread.item.iter().enumerate() {
            state.define(self.build.bool(item == 0), self.will_run(t, item, signals));
        }
        for (i, (state, at)) in thread.begun.iter().zip(&thread.at).enumerate() {
            state.define(self.build.bool(i == 0), signals.release.ite(at.now(), state.now()));
        }
        for (state, counter) in thread.saved.iter().zip(&thread.counters) {
            state.define(self.build.int(0), signals.release.ite(counter.now(), state.now()));
        }
    }

    /// Ticks of a work point for the present item of thread `t`.
    pub fn work(&self, t: usize, amount: AmountId, times: Option<AmountId>) -> Int<'b> {
        let amount = self.amount(amount, t);
        times.map_or(amount, |times| amount * self.amount(times, t))
    }
}
