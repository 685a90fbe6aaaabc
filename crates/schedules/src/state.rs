//! The state of a launch at one instant, relative to now, with warps counted instead of named.
//!
//! A state is what the rest of the launch depends on, except for where in the program each group
//! stands: that is kept next to it, so that all iterations of a loop share their states. Two states
//! that differ only in what has no name (units, places, dispatchers and warps that are alike) or in
//! what is not used any more have one canonical form; see [`State::canonical`].

use smallvec::{SmallVec, smallvec};

use crate::launch::{Rest, Step, WarpLaunch};

// States are copied at every step, so small ones hold all that they have themselves.
/// The warps of a group, those that are alike as one.
pub(crate) type Listed = SmallVec<[Warps; 6]>;
/// One number for each dispatcher, or for each slot that is taken.
pub(crate) type Counters = SmallVec<[u32; 4]>;
/// The groups that have a place on a unit.
pub(crate) type Groups = SmallVec<[Group; 2]>;

/// Warps of a group that are in the same situation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Warps {
    pub dispatcher: u32,
    /// What they do from `ready` on.
    pub rest: u32,
    /// Ticks until they go on.
    pub ready: u32,
    /// Ticks since the mark was set; 0 if it is not used.
    pub age: i32,
    /// How many; at least 1.
    pub count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Group {
    pub phase: u32,
    /// Ticks until the last of the warps that are not listed reaches the end of the phase.
    pub pending: u32,
    pub warps: Listed,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Unit {
    /// Ticks until each dispatcher is free.
    pub busy: Counters,
    /// Ticks until each slot that is taken is free.
    pub slots: Counters,
    pub groups: Groups,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    pub units: SmallVec<[Unit; 1]>,
}

/// Positions in the program, one for each group that has a place.
pub(crate) type Positions = SmallVec<[u32; 4]>;

pub(crate) type Numbers = SmallVec<[usize; 4]>;

/// Where each group of a state was before: place `n` of the word (4 bits each) is the old number of
/// the group whose new number is `n`. Groups are counted over all units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Order(pub u64);

impl Order {
    /// Nothing has moved.
    pub const SAME: Order = Order(0xfedc_ba98_7654_3210);

    /// The old numbers of the groups, in sequence.
    pub fn of(old: impl Iterator<Item = usize>) -> Order {
        let mut word = Order::SAME.0;
        for (n, old) in old.enumerate() {
            word = word & !(0xf << (4 * n)) | (old as u64) << (4 * n);
        }
        Order(word)
    }

    /// First this, then `next`.
    pub fn then(self, next: Order) -> Order {
        Order::of((0..16).map(|n| self.old(next.old(n))))
    }

    /// The old number of group `n`.
    pub fn old(self, n: usize) -> usize {
        (self.0 >> (4 * n) & 0xf) as usize
    }
}

impl State {
    /// No group has a place.
    pub fn empty(launch: &WarpLaunch) -> State {
        let unit = Unit { busy: smallvec![0; launch.dispatchers], ..Unit::default() };
        State { units: smallvec![unit; launch.units] }
    }

    /// All groups, unit by unit.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.units.iter().flat_map(|unit| &unit.groups)
    }

    /// Unit, and number there, of group `n`.
    pub fn locate(&self, n: usize) -> Option<(usize, usize)> {
        let mut left = n;
        self.units.iter().enumerate().find_map(|(u, unit)| {
            let here = (left < unit.groups.len()).then_some((u, left));
            left = left.saturating_sub(unit.groups.len());
            here
        })
    }

    /// The first group that has reached the end of its phase.
    pub fn complete(&self, launch: &WarpLaunch) -> Option<usize> {
        self.groups().position(|group| group.complete(launch))
    }

    /// True if group `n` has reached the end of its phase.
    pub fn is_complete(&self, launch: &WarpLaunch, n: usize) -> bool {
        self.groups().nth(n).is_some_and(|group| group.complete(launch))
    }

    /// Group `n` leaves its place.
    pub fn remove(&mut self, n: usize) {
        if let Some((unit, at)) = self.locate(n) {
            self.units[unit].groups.remove(at);
        }
    }

    /// Begins a phase of group `n`, `wait` ticks from now.
    pub fn begin_phase(&mut self, launch: &WarpLaunch, n: usize, phase: u32, wait: u32) {
        let Some((unit, at)) = self.locate(n) else { return };
        let group = &mut self.units[unit].groups[at];
        let before = std::mem::replace(group, Group { phase, pending: wait, warps: Listed::new() });
        for begin in &launch.phases[phase as usize] {
            let rest = launch.rests[begin.rest as usize];
            let mut begin_as = |age: i32, count: u32| {
                let warps = Warps {
                    dispatcher: begin.dispatcher,
                    rest: begin.rest,
                    ready: wait,
                    age: rest.relevant(age),
                    count,
                };
                group.add(launch, warps);
            };
            if rest.longest.is_none() {
                begin_as(0, begin.count);
                continue;
            }
            // Its warps were listed when they arrived, each with the age of its mark.
            let of_class = |w: &&Warps| {
                let memory = launch.rests[w.rest as usize].memory;
                w.dispatcher == begin.dispatcher && memory.is_some_and(|m| m.class == begin.class)
            };
            before.warps.iter().filter(of_class).for_each(|w| begin_as(w.age, w.count));
        }
        group.tidy();
    }

    /// Places a group on a unit.
    pub fn place(&mut self, launch: &WarpLaunch, unit: usize, phase: u32) {
        let mut group = Group { phase, pending: launch.group_start, warps: Listed::new() };
        let age = -(launch.group_start as i32);
        for begin in &launch.phases[phase as usize] {
            let warps = Warps {
                dispatcher: begin.dispatcher,
                rest: begin.rest,
                ready: launch.group_start,
                age: launch.rests[begin.rest as usize].relevant(age),
                count: begin.count,
            };
            group.add(launch, warps);
        }
        group.tidy();
        self.units[unit].groups.push(group);
    }

    /// Ticks until something ends; `None` if nothing is under way.
    pub fn next_end(&self) -> Option<u32> {
        self.units.iter().filter_map(Unit::next_end).min()
    }

    /// Lets time pass, and then everything happen inside of phases that takes no time.
    pub fn pass(&mut self, launch: &WarpLaunch, ticks: u32) {
        for unit in &mut self.units {
            unit.busy.iter_mut().for_each(|busy| *busy = busy.saturating_sub(ticks));
            unit.slots.retain_mut(|slot| {
                *slot = slot.saturating_sub(ticks);
                *slot > 0
            });
            unit.groups.iter_mut().for_each(|group| group.pass(launch, ticks));
        }
    }

    /// The canonical form, and where its groups were.
    ///
    /// What is forgotten can never matter:
    ///
    /// * an arrival that is *pending* and not later than that of a warp which is still to come;
    /// * how long a dispatcher or a slot is *taken*, if no warp can need it before: warps that
    ///   are listed ask when they are ready, all others only after a group has reached the end of
    ///   its phase.
    ///
    /// Then dispatchers take the order, of those that change no phase, that makes the unit least,
    /// and groups and units are sorted.
    pub fn canonical(mut self, launch: &WarpLaunch) -> (State, Order) {
        let mut old: SmallVec<[(Unit, Numbers); 1]> = SmallVec::new();
        let mut first = 0;
        for unit in &mut self.units {
            unit.forget(launch);
            let groups = unit.groups.len();
            let (unit, order) = std::mem::take(unit).sorted(launch);
            old.push((unit, order.into_iter().map(|n| n + first).collect()));
            first += groups;
        }
        old.sort_unstable();
        let order = Order::of(old.iter().flat_map(|(_, order)| order).copied());
        (State { units: old.into_iter().map(|(unit, _)| unit).collect() }, order)
    }

    /// Segments and waits that the groups have still to begin in their phases.
    pub fn segments(&self, launch: &WarpLaunch) -> u32 {
        let of = |w: &Warps| launch.rests[w.rest as usize].segments * w.count;
        self.groups().flat_map(|group| &group.warps).map(of).sum()
    }
}

impl Unit {
    fn next_end(&self) -> Option<u32> {
        let warps = self.groups.iter().flat_map(|g| &g.warps).map(|w| w.ready);
        let pending = self.groups.iter().map(|g| g.pending);
        let all = self.busy.iter().chain(&self.slots).copied().chain(warps).chain(pending);
        all.filter(|ticks| *ticks > 0).min()
    }

    /// Forgets what is not used any more.
    fn forget(&mut self, launch: &WarpLaunch) {
        self.groups.iter_mut().for_each(|group| group.forget(launch));
        let rest = |w: &Warps| launch.rests[w.rest as usize];
        // When a group that is not listed may ask for something.
        let mut others = self.groups.iter().map(|g| g.least(launch)).min().unwrap_or(u32::MAX);
        if self.groups.len() < launch.places {
            others = others.min(launch.group_start);
        }
        for (dispatcher, busy) in self.busy.iter_mut().enumerate() {
            let here = self.groups.iter().flat_map(|g| &g.warps);
            let here = here.filter(|w| w.dispatcher as usize == dispatcher && rest(w).segments > 0);
            if *busy <= here.map(|w| w.ready).min().unwrap_or(u32::MAX).min(others) {
                *busy = 0;
            }
        }
        let warps = self.groups.iter().flat_map(|g| &g.warps);
        let asks = warps.filter_map(|w| rest(w).to_slot.map(|ticks| w.ready + ticks)).min();
        let asks = asks.unwrap_or(u32::MAX).min(others);
        self.slots.retain(|slot| *slot > asks);
        self.slots.sort_unstable();
    }

    /// The least form over the orders of the dispatchers, and where its groups were.
    fn sorted(self, launch: &WarpLaunch) -> (Unit, Numbers) {
        let others = launch.orders.iter().skip(1).map(|order| self.reordered(order)).min();
        let plain = self.in_order();
        match others {
            Some(other) if other < plain => other,
            _ => plain,
        }
    }

    /// With its dispatchers in another order and its groups sorted, and where these were.
    pub fn reordered(&self, order: &[u32]) -> (Unit, Numbers) {
        let mut unit = self.clone();
        for (old, new) in order.iter().enumerate() {
            unit.busy[*new as usize] = self.busy[old];
        }
        for group in &mut unit.groups {
            group.warps.iter_mut().for_each(|w| w.dispatcher = order[w.dispatcher as usize]);
            group.warps.sort_unstable();
        }
        unit.in_order()
    }

    /// The groups in ascending order, and where they were.
    fn in_order(mut self) -> (Unit, Numbers) {
        let mut groups: SmallVec<[(Group, usize); 2]> =
            std::mem::take(&mut self.groups).into_iter().zip(0..).collect();
        groups.sort_unstable();
        let mut old = Numbers::new();
        for (group, number) in groups {
            self.groups.push(group);
            old.push(number);
        }
        (self, old)
    }
}

impl Group {
    fn complete(&self, launch: &WarpLaunch) -> bool {
        let arrived = |w: &Warps| w.ready == 0 && launch.rests[w.rest as usize].first.is_none();
        self.pending == 0 && self.warps.iter().all(arrived)
    }

    /// Takes in warps, after what takes them no time. Those that have nothing left to do are listed
    /// only if a later phase asks for their marks.
    pub fn add(&mut self, launch: &WarpLaunch, mut warps: Warps) {
        if warps.ready == 0 {
            warps.go_on(launch);
        }
        let rest = launch.rests[warps.rest as usize];
        if rest.first.is_none() && rest.memory.is_none() {
            self.pending = self.pending.max(warps.ready);
        } else {
            warps.age = rest.relevant(warps.age);
            self.warps.push(warps);
        }
    }

    /// Joins warps that are alike.
    pub fn tidy(&mut self) {
        self.warps.sort_unstable();
        let key = |w: &Warps| (w.dispatcher, w.rest, w.ready, w.age);
        self.warps.dedup_by(|next, kept| {
            let same = key(next) == key(kept);
            kept.count += if same { next.count } else { 0 };
            same
        });
    }

    fn pass(&mut self, launch: &WarpLaunch, ticks: u32) {
        self.pending = self.pending.saturating_sub(ticks);
        for mut warps in std::mem::take(&mut self.warps) {
            let waited = warps.ready > 0;
            warps.ready = warps.ready.saturating_sub(ticks);
            if launch.rests[warps.rest as usize].longest.is_some() {
                warps.age = warps.age.saturating_add_unsigned(ticks);
            }
            if waited || warps.ready > 0 {
                self.add(launch, warps);
            } else {
                warps.age = launch.rests[warps.rest as usize].relevant(warps.age);
                self.warps.push(warps);
            }
        }
        self.tidy();
    }

    /// Least ticks until it reaches the end of its phase.
    fn least(&self, launch: &WarpLaunch) -> u32 {
        let of = |w: &Warps| w.ready + launch.rests[w.rest as usize].least;
        self.warps.iter().map(of).max().unwrap_or(0).max(self.pending)
    }

    fn forget(&mut self, launch: &WarpLaunch) {
        let of = |w: &Warps| w.ready + launch.rests[w.rest as usize].least;
        if self.warps.iter().map(of).max().is_some_and(|ticks| ticks >= self.pending) {
            self.pending = 0;
        }
    }
}

impl Warps {
    /// Passes what takes no time; they are ready.
    pub fn go_on(&mut self, launch: &WarpLaunch) {
        loop {
            let rest = &launch.rests[self.rest as usize];
            match rest.first {
                Some(Step::Until(d)) => {
                    let wait = i64::from(d) + 1 - i64::from(self.age);
                    self.rest = rest.next;
                    if let Ok(wait @ 1..) = u32::try_from(wait) {
                        self.ready = wait;
                        return;
                    }
                }
                Some(Step::Mark) => {
                    self.age = 0;
                    self.rest = rest.next;
                }
                Some(Step::Segment { .. }) | None => return,
            }
        }
    }
}

impl Rest {
    /// Ticks from the start of its first segment until the warp goes on.
    pub fn lasts(&self) -> u32 {
        match self.first {
            Some(Step::Segment { occupies, latency, .. }) => occupies + latency,
            Some(Step::Until(_) | Step::Mark) | None => 0,
        }
    }

    /// What counts of a mark's age: once it is older than every `until` asks, how old does not.
    pub fn relevant(&self, age: i32) -> i32 {
        self.longest.map_or(0, |longest| age.min(longest.saturating_add(1)))
    }
}
