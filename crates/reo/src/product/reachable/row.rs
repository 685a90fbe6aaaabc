//! One state of the product: which steps leave it.
//!
//! [`Row::prepare`] finds the groups: it strikes out names that cannot fire here, because a part
//! that has them has no step left that fires them, and with them the steps that fire them, until
//! nothing changes; parts that still have steps and share a name that is left are of one group.
//! [`Row::walk`] finds the steps of one group, depth first.

use std::ops::Range;

use super::allowed::{Guard, allows};
use super::layout::Layout;
use super::plan::Plan;
use crate::limits::{Limits, Stopped};

/// The state in work, with its memory, which is used again for the next one.
pub(super) struct Row<'a, S> {
    plan: &'a Plan,
    limits: &'a Limits<'a>,
    layout: S,
    /// For each part, in search order, its state, as numbered in the plan.
    at: Vec<usize>,
    /// Names that may fire.
    can: Vec<u64>,
    next: Vec<u64>,
    /// Options that are left, part by part.
    live: Vec<u32>,
    /// The parts that have some left.
    active: Vec<Active>,
    /// The names that fire in the live options of each active part.
    masks: Vec<u64>,
    /// The names of each group while groups are made; none if it has become part of another.
    group_masks: Vec<u64>,
    /// For each group how many of its parts are before the tail and in it.
    sizes: Vec<(usize, usize)>,
    /// What the search does one after the other, group by group.
    acts: Vec<Act>,
    /// Where each group begins in `acts`, and the end of the last.
    groups: Vec<usize>,
    /// Words of a set of acts of one group.
    sets: usize,
    /// For each group its acts that are free.
    free: Vec<u64>,
    /// For each name the acts of its group, in whose parts it is decided when they come.
    wakes: Vec<u64>,
    path: Path,
    guard: Guard,
}

/// A part that has options in this state.
#[derive(Debug, Clone, Copy)]
struct Active {
    part: usize,
    live: (usize, usize),
    group: usize,
}

/// One stage of the search: a part chooses, or is asked whether it has a choice.
#[derive(Debug, Clone, Copy)]
struct Act {
    active: usize,
    only_ask: bool,
    /// Whether the part has a choice even if none of its decided names fires.
    free: bool,
}

/// Where the search stands: for each choice its stage, the vectors and names before it, and what is
/// still to be chosen.
#[derive(Default)]
struct Path {
    at: Vec<usize>,
    sums: Vec<u64>,
    fired: Vec<u64>,
    /// The acts that may do anything but nothing.
    awake: Vec<u64>,
    rest: Vec<Rest>,
}

/// Choices at a depth that are still to be taken: to do nothing, and live options.
#[derive(Debug, Clone, Copy, Default)]
struct Rest {
    nothing: bool,
    live: (usize, usize),
}

/// What is left when everything that has to be done is done.
enum Settled {
    /// Some part does not agree.
    Not,
    /// Nothing.
    Whole,
    /// A stage that has a choice.
    Open(usize, Rest),
}

/// What is done with the steps of a group.
pub(super) trait Visit {
    /// Steps that have `sum` in common: with `nothing` the sum itself, and the sum with each of
    /// `options`. The very first sum, of a group's first call, is to do nothing at all. Returns
    /// whether to go on.
    fn visit(&mut self, sum: &[u64], nothing: bool, options: &[u32]) -> Result<bool, Stopped>;
}

/// So many stages of a search between two looks at the stop flag, less one.
const POLL: usize = (1 << 16) - 1;

impl<'a, S: Layout> Row<'a, S> {
    pub fn new(plan: &'a Plan, layout: S, limits: &'a Limits<'a>) -> Self {
        Row {
            plan,
            limits,
            layout,
            at: vec![0; plan.parts.len()],
            can: vec![0; layout.label()],
            next: vec![0; layout.label()],
            live: Vec::new(),
            active: Vec::new(),
            masks: Vec::new(),
            group_masks: Vec::new(),
            sizes: Vec::new(),
            acts: Vec::new(),
            groups: Vec::new(),
            sets: 1,
            free: Vec::new(),
            wakes: Vec::new(),
            path: Path::default(),
            guard: Guard::default(),
        }
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups.len() - 1
    }

    /// Finds the groups of a state.
    pub fn prepare(&mut self, key: &[u64]) {
        let (plan, at, words) = (self.plan, &mut self.at, self.layout.label());
        self.can.fill(u64::MAX);
        plan.states.unpack(key, |given, state| {
            let part = plan.parts[given];
            let state = part.base + state as usize;
            at[part.place] = state;
            let allowed = &plan.allowed[state * words..][..words];
            self.can.iter_mut().zip(allowed).for_each(|(c, a)| *c &= a);
        });
        while self.strike() {}
        self.find_groups();
        self.schedule();
    }

    /// Takes away options that fire a name which cannot fire, and then names that no option of a
    /// part which has them fires any more. Whether there were such names.
    fn strike(&mut self) -> bool {
        let (plan, words) = (self.plan, self.layout.label());
        self.live.clear();
        self.active.clear();
        self.masks.clear();
        self.next.copy_from_slice(&self.can);
        for (part, &at) in self.at.iter().enumerate() {
            let options = plan.options[at]..plan.options[at + 1];
            if options.is_empty() {
                // Its names were struck out to begin with.
                continue;
            }
            let (from, base) = (self.live.len(), self.masks.len());
            let foreign = &plan.foreign[part * words..][..words];
            let allowed = &plan.allowed[at * words..][..words];
            let known = allowed.iter().zip(foreign).map(|(a, f)| a & !f);
            if known.clone().zip(&self.can).all(|(m, c)| m & !c == 0) {
                // All of them; what they do not fire was struck out to begin with.
                self.masks.extend(known);
                self.live.extend(options);
                self.active.push(Active { part, live: (from, self.live.len()), group: 0 });
                continue;
            }
            self.masks.resize(base + words, 0);
            for option in options {
                let label = &plan.labels[option as usize * words..][..words];
                if label.iter().zip(&self.can).all(|(l, c)| l & !c == 0) {
                    self.live.push(option);
                    self.masks[base..].iter_mut().zip(label).for_each(|(m, l)| *m |= l);
                }
            }
            let mask = self.masks[base..].iter().zip(foreign);
            self.next.iter_mut().zip(mask).for_each(|(n, (m, f))| *n &= m | f);
            if self.live.len() == from {
                self.masks.truncate(base);
            } else {
                self.active.push(Active { part, live: (from, self.live.len()), group: 0 });
            }
        }
        let struck = self.next != self.can;
        std::mem::swap(&mut self.next, &mut self.can);
        struck
    }

    /// Puts active parts that share a name into one group.
    fn find_groups(&mut self) {
        let words = self.layout.label();
        self.group_masks.clear();
        for new in 0..self.active.len() {
            let mut mine = None;
            for group in 0..self.group_masks.len() / words {
                let mask = &self.masks[new * words..][..words];
                let names = &self.group_masks[group * words..][..words];
                if mask.iter().zip(names).any(|(m, n)| m & n != 0) {
                    match mine {
                        None => mine = Some(group),
                        Some(first) => self.merge(group, first, new),
                    }
                }
            }
            let mine = mine.unwrap_or_else(|| {
                self.group_masks.resize(self.group_masks.len() + words, 0);
                self.group_masks.len() / words - 1
            });
            self.active[new].group = mine;
            let mask = &self.masks[new * words..][..words];
            let names = &mut self.group_masks[mine * words..][..words];
            names.iter_mut().zip(mask).for_each(|(n, m)| *n |= m);
        }
    }

    /// Makes group `from` part of group `into`, among the first `many` active parts.
    fn merge(&mut self, from: usize, into: usize, many: usize) {
        let words = self.layout.label();
        for word in 0..words {
            let names = std::mem::take(&mut self.group_masks[from * words + word]);
            self.group_masks[into * words + word] |= names;
        }
        for active in &mut self.active[..many] {
            if active.group == from {
                active.group = into;
            }
        }
    }

    /// Lays down the stages of each group: parts in search order, and before the tail, if two or
    /// more of it are there, the question to each whether it agrees with what is decided.
    fn schedule(&mut self) {
        self.sizes.clear();
        self.sizes.resize(self.group_masks.len() / self.layout.label(), (0, 0));
        for active in &self.active {
            let (core, tail) = &mut self.sizes[active.group];
            *(if active.part < self.plan.tail { core } else { tail }) += 1;
        }
        self.groups.clear();
        self.groups.push(0);
        let mut end = 0;
        for (core, tail) in &mut self.sizes {
            let asked = if *tail > 1 { *tail } else { 0 };
            let (first, from) = (end, end + *core);
            end = from + asked + *tail;
            if end > first {
                self.groups.push(end);
            }
            // From now on: where the next stage of the group's core and of its tail goes.
            (*core, *tail) = (first, from + asked);
        }
        self.acts.clear();
        self.acts.resize(end, Act { active: 0, only_ask: true, free: false });
        let words = self.layout.label();
        for (number, active) in self.active.iter().enumerate() {
            let (core, tail) = &mut self.sizes[active.group];
            let at = if active.part < self.plan.tail { core } else { tail };
            // Options lie in the order of the decided names that they fire: those with none first.
            let first = self.live[active.live.0] as usize * words;
            let decided = &self.plan.decided[active.part * words..][..words];
            let label = &self.plan.labels[first..][..words];
            let free = label.iter().zip(decided).all(|(l, d)| l & d == 0);
            self.acts[*at] = Act { active: number, only_ask: false, free };
            *at += 1;
        }
        self.ask();
        self.wake();
    }

    /// Enters which acts are free, and which a name wakes.
    fn wake(&mut self) {
        let words = self.layout.label();
        let longest = self.groups.windows(2).map(|group| group[1] - group[0]).max();
        self.sets = longest.unwrap_or(0).div_ceil(64).max(1);
        let sets = self.sets;
        self.free.clear();
        self.free.resize(self.groups() * sets, 0);
        self.wakes.clear();
        self.wakes.resize(words * 64 * sets, 0);
        for (group, free) in self.free.chunks_exact_mut(sets).enumerate() {
            let acts = &self.acts[self.groups[group]..self.groups[group + 1]];
            for (at, act) in acts.iter().enumerate() {
                let (word, bit) = (at / 64, 1 << (at % 64));
                if act.free {
                    free[word] |= bit;
                }
                let decided = &self.plan.decided[self.active[act.active].part * words..][..words];
                for (from, (decided, can)) in decided.iter().zip(&self.can).enumerate() {
                    each(decided & can, |name| {
                        self.wakes[(from * 64 + name) * sets + word] |= bit;
                    });
                }
            }
        }
    }

    /// Enters the questions, which stand before the tail that they ask.
    fn ask(&mut self) {
        for group in 0..self.groups() {
            let acts = &mut self.acts[self.groups[group]..self.groups[group + 1]];
            let in_tail =
                |act: &&Act| !act.only_ask && self.active[act.active].part >= self.plan.tail;
            let tail = acts.iter().rev().take_while(in_tail).count();
            if tail > 1 {
                let (asks, last) = acts.split_at_mut(acts.len() - tail);
                let asks = asks.iter_mut().rev().zip(last.iter().rev());
                let question = |active| Act { active, only_ask: true, free: false };
                asks.for_each(|(ask, act)| *ask = question(act.active));
            }
        }
    }

    /// Finds all steps of a group, and to do nothing first of all. Returns whether it came to the
    /// end, and not to a visitor that did not go on.
    pub fn walk(&mut self, group: usize, visitor: &mut impl Visit) -> Result<bool, Stopped> {
        let acts: Range<usize> = self.groups[group]..self.groups[group + 1];
        let (all, words, deep) = (self.layout.all(), self.layout.label(), acts.len());
        let mut path = std::mem::take(&mut self.path);
        // Each depth is written before it is read, but for the vector and the names to begin with.
        if path.at.len() < deep {
            path.at.resize(deep, 0);
            path.sums.resize((deep + 1) * all, 0);
            path.fired.resize((deep + 1) * words, 0);
            path.rest.resize(deep, Rest::default());
        }
        let sets = self.sets;
        if path.awake.len() < (deep + 1) * sets {
            path.awake.resize((deep + 1) * sets, 0);
        }
        path.sums[..all].fill(0);
        path.fired[..words].fill(0);
        path.awake[..sets].copy_from_slice(&self.free[group * sets..][..sets]);
        let mut guard = std::mem::take(&mut self.guard);
        let done = self.search(acts, &mut path, &mut guard, visitor);
        self.path = path;
        self.guard = guard;
        done
    }

    fn search(
        &self,
        acts: Range<usize>,
        path: &mut Path,
        guard: &mut Guard,
        visitor: &mut impl Visit,
    ) -> Result<bool, Stopped> {
        let (all, last) = (self.layout.all(), acts.len() - 1);
        let acts = &self.acts[acts];
        let (plan, layout) = (self.plan, self.layout);
        let guarded = !plan.guards.is_empty();
        let (mut depth, mut next) = (0, 0);
        for iteration in 1_usize.. {
            if iteration & POLL == 0 {
                self.limits.go_on()?;
            }
            let found = self.settle(acts, next, path, depth);
            let sum = &path.sums[depth * all..][..all];
            match found {
                Settled::Not => {}
                _ if guarded && !allows(plan, layout, sum) => {}
                Settled::Whole => {
                    if !visitor.visit(sum, true, &[])? {
                        return Ok(false);
                    }
                }
                Settled::Open(at, rest) if at == last => {
                    let mut options = &self.live[rest.live.0..rest.live.1];
                    if guarded {
                        options = guard.among(plan, layout, sum, options);
                    }
                    let some = rest.nothing || !options.is_empty();
                    if some && !visitor.visit(sum, rest.nothing, options)? {
                        return Ok(false);
                    }
                }
                Settled::Open(at, rest) => {
                    path.at[depth] = at;
                    path.rest[depth] = rest;
                    depth += 1;
                }
            }
            while depth > 0 && !self.descend(path, depth - 1) {
                depth -= 1;
            }
            if depth == 0 {
                break;
            }
            next = path.at[depth - 1] + 1;
        }
        Ok(true)
    }

    /// Takes what the stages from `from` on have to do, up to one that has a choice.
    #[inline]
    fn settle(&self, acts: &[Act], mut from: usize, path: &mut Path, depth: usize) -> Settled {
        let (all, words, sets) = (self.layout.all(), self.layout.label(), self.sets);
        let sum = &mut path.sums[depth * all..][..all];
        let fired = &mut path.fired[depth * words..][..words];
        let awake = &mut path.awake[depth * sets..][..sets];
        while let Some(at) = stage(acts, awake, from) {
            let rest = self.choices(acts[at], fired);
            match (rest.nothing, rest.live.1 - rest.live.0) {
                (true, 0) => {}
                (false, 1) => {
                    let option = self.live[rest.live.0] as usize;
                    let vector = &self.plan.vectors[option * all..][..all];
                    (0..all).for_each(|w| sum[w] = sum[w].wrapping_add(vector[w]));
                    self.fire(option, fired, awake);
                }
                (false, 0) => return Settled::Not,
                _ => return Settled::Open(at, rest),
            }
            from = at + 1;
        }
        Settled::Whole
    }

    /// Lets the names of an option fire.
    #[inline]
    fn fire(&self, option: usize, fired: &mut [u64], awake: &mut [u64]) {
        let (words, sets) = (self.layout.label(), self.sets);
        let label = &self.plan.labels[option * words..][..words];
        for word in 0..words {
            each(label[word] & !fired[word], |name| {
                let woken = &self.wakes[(word * 64 + name) * sets..][..sets];
                awake.iter_mut().zip(woken).for_each(|(a, w)| *a |= w);
            });
            fired[word] |= label[word];
        }
    }

    /// What a stage may choose when the names `fired` fire.
    #[inline]
    fn choices(&self, act: Act, fired: &[u64]) -> Rest {
        let words = self.layout.label();
        let Active { part, live: (from, to), .. } = self.active[act.active];
        let shared = &self.plan.decided[part * words..][..words];
        let label = |option: &u32| &self.plan.labels[*option as usize * words..][..words];
        let compare = |option: &u32| {
            let both = label(option).iter().zip(fired).zip(shared);
            both.map(|((l, f), s)| (l & s).cmp(&(f & s))).find(|c| c.is_ne())
        };
        let nothing = fired.iter().zip(shared).all(|(f, s)| f & s == 0);
        // Options lie in the order of the shared names that they fire.
        let options = &self.live[from..to];
        let (low, high) = if options.len() == 1 {
            let same = compare(&options[0]).is_none();
            (0, usize::from(same))
        } else {
            let low = options.partition_point(|o| compare(o).is_some_and(|c| c.is_lt()));
            let same = options[low..].partition_point(|o| compare(o).is_none());
            (low, low + same)
        };
        if act.only_ask {
            return Rest { nothing: nothing || low < high, live: (to, to) };
        }
        Rest { nothing, live: (from + low, from + high) }
    }

    /// Takes the next choice at a depth, if there is one.
    #[inline]
    fn descend(&self, path: &mut Path, depth: usize) -> bool {
        let (all, words, sets) = (self.layout.all(), self.layout.label(), self.sets);
        let rest = &mut path.rest[depth];
        if !rest.nothing && rest.live.0 == rest.live.1 {
            return false;
        }
        let (sums, next) = path.sums[depth * all..][..2 * all].split_at_mut(all);
        let (fired, then) = path.fired[depth * words..][..2 * words].split_at_mut(words);
        let (awake, woken) = path.awake[depth * sets..][..2 * sets].split_at_mut(sets);
        (0..words).for_each(|w| then[w] = fired[w]);
        (0..sets).for_each(|w| woken[w] = awake[w]);
        if rest.nothing {
            rest.nothing = false;
            (0..all).for_each(|w| next[w] = sums[w]);
            return true;
        }
        let option = self.live[rest.live.0] as usize;
        rest.live.0 += 1;
        let vector = &self.plan.vectors[option * all..][..all];
        (0..all).for_each(|w| next[w] = sums[w].wrapping_add(vector[w]));
        self.fire(option, then, woken);
        true
    }

    /// The vectors of the silent steps that leave the state, one after the other.
    pub fn silent(&self) -> impl Iterator<Item = &'a [u64]> {
        let (plan, all) = (self.plan, self.layout.all());
        let at = plan.silent_parts.iter().map(|given| self.at[plan.parts[*given].place]);
        let range =
            move |at: usize| plan.silent[at] as usize * all..plan.silent[at + 1] as usize * all;
        at.flat_map(move |at| plan.silent_vectors[range(at)].chunks_exact(all))
    }
}

/// The first stage from `from` on that may do anything but nothing: its part may act by itself, or
/// one of its decided names fires.
#[inline]
fn stage(acts: &[Act], awake: &[u64], from: usize) -> Option<usize> {
    let at = first(awake, from)?;
    // A question to the part that chooses next is answered by its choice.
    let answered = |later: &usize| acts[*later].active == acts[at].active;
    let choice = if acts[at].only_ask { first(awake, at + 1).filter(answered) } else { None };
    choice.or(Some(at))
}

/// The first of a set from `from` on.
#[inline]
fn first(set: &[u64], from: usize) -> Option<usize> {
    let word = from / 64;
    let here = set.get(word)? & (u64::MAX << (from % 64));
    if here != 0 {
        return Some(word * 64 + here.trailing_zeros() as usize);
    }
    let later = (word + 1..set.len()).find(|word| set[*word] != 0)?;
    Some(later * 64 + set[later].trailing_zeros() as usize)
}

/// Does something with each of the ones of a word.
#[inline(always)]
fn each(mut word: u64, mut with: impl FnMut(usize)) {
    while word != 0 {
        with(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}
