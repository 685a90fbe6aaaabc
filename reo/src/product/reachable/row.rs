//! One state of the product: which steps leave it.
//!
//! [`Row::prepare`] finds the groups: it strikes out names that cannot fire here, because a part
//! that has them has no step left that fires them, and with them the steps that fire them, until
//! nothing changes; parts that still have steps and share a name that is left are of one group.
//! [`Row::walk`] finds the steps of one group, depth first.

use std::ops::Range;

use super::allowed::{Guard, allows};
use super::layout::{Layout, add};
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
    /// For each act the names decided before it that its part has, side by side.
    wakes: Vec<u64>,
    /// Where each group begins in `acts`, and the end of the last.
    groups: Vec<usize>,
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

/// Where the search stands: stage, vectors, names and choices at each depth.
#[derive(Default)]
struct Path {
    at: Vec<usize>,
    sums: Vec<u64>,
    fired: Vec<u64>,
    rest: Vec<Rest>,
}

/// Choices at a depth that are still to be taken: to do nothing, and live options.
#[derive(Debug, Clone, Copy, Default)]
struct Rest {
    nothing: bool,
    live: (usize, usize),
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
            wakes: Vec::new(),
            groups: Vec::new(),
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
        for (part, at) in self.at.iter().enumerate() {
            let options = plan.options[*at]..plan.options[*at + 1];
            if options.is_empty() {
                // Its names were struck out to begin with.
                continue;
            }
            let (from, base) = (self.live.len(), self.masks.len());
            self.masks.resize(base + words, 0);
            for option in options {
                let label = &plan.labels[option as usize * words..][..words];
                if label.iter().zip(&self.can).all(|(l, c)| l & !c == 0) {
                    self.live.push(option);
                    self.masks[base..].iter_mut().zip(label).for_each(|(m, l)| *m |= l);
                }
            }
            let foreign = &plan.foreign[part * words..][..words];
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
        self.wakes.clear();
        for act in &self.acts {
            let part = self.active[act.active].part;
            self.wakes.extend_from_slice(&self.plan.decided[part * words..][..words]);
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
        path.at.clear();
        path.at.resize(deep, 0);
        path.sums.clear();
        path.sums.resize((deep + 1) * all, 0);
        path.fired.clear();
        path.fired.resize((deep + 1) * words, 0);
        path.rest.clear();
        path.rest.resize(deep, Rest::default());
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
        let words = self.layout.label();
        let wakes = &self.wakes[acts.start * words..acts.end * words];
        let acts = &self.acts[acts];
        let (all, last) = (self.layout.all(), acts.len() - 1);
        let (plan, layout) = (self.plan, self.layout);
        let guarded = !plan.guards.is_empty();
        // Each stage that has to do nothing is passed over.
        let Some(first) = self.stage(acts, wakes, 0, &path.fired) else {
            return visitor.visit(&path.sums[..all], true, &[]);
        };
        path.at[0] = first;
        let (mut depth, mut enter) = (0, true);
        for iteration in 1_usize.. {
            if iteration & POLL == 0 {
                self.limits.go_on()?;
            }
            let at = path.at[depth];
            if enter {
                path.rest[depth] = self.choices(acts[at], path, depth);
                if at == last {
                    let rest = std::mem::take(&mut path.rest[depth]);
                    let mut options = &self.live[rest.live.0..rest.live.1];
                    let sum = &path.sums[depth * all..][..all];
                    if guarded {
                        options = guard.among(plan, layout, sum, options);
                    }
                    let some = rest.nothing || !options.is_empty();
                    if some && !visitor.visit(sum, rest.nothing, options)? {
                        return Ok(false);
                    }
                }
            }
            enter = false;
            if !self.descend(path, depth) {
                if depth == 0 {
                    break;
                }
                depth -= 1;
                continue;
            }
            let sum = &path.sums[(depth + 1) * all..][..all];
            if guarded && !allows(plan, layout, sum) {
                continue;
            }
            match self.stage(acts, wakes, at + 1, &path.fired[(depth + 1) * words..]) {
                Some(next) => {
                    depth += 1;
                    path.at[depth] = next;
                    enter = true;
                }
                None if !visitor.visit(sum, true, &[])? => return Ok(false),
                None => {}
            }
        }
        Ok(true)
    }

    /// The first stage from `from` on that may do anything but nothing, when the names `fired` fire:
    /// its part may act by itself, or one of its decided names fires.
    #[inline]
    fn stage(&self, acts: &[Act], wakes: &[u64], from: usize, fired: &[u64]) -> Option<usize> {
        let words = self.layout.label();
        let fired = &fired[..words];
        let matters = |at: &usize| {
            let wakes = &wakes[at * words..][..words];
            acts[*at].free || wakes.iter().zip(fired).any(|(w, f)| w & f != 0)
        };
        let next = |from: usize| (from..acts.len()).find(matters);
        let at = next(from)?;
        // A question to the part that chooses next is answered by its choice.
        let answered = |later: &usize| acts[*later].active == acts[at].active;
        let choice = if acts[at].only_ask { next(at + 1).filter(answered) } else { None };
        choice.or(Some(at))
    }

    /// What a stage may choose, as far as the search has decided.
    #[inline]
    fn choices(&self, act: Act, path: &Path, depth: usize) -> Rest {
        let words = self.layout.label();
        let Active { part, live: (from, to), .. } = self.active[act.active];
        let shared = &self.plan.decided[part * words..][..words];
        let fired = &path.fired[depth * words..][..words];
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
        let (all, words) = (self.layout.all(), self.layout.label());
        let rest = &mut path.rest[depth];
        if !rest.nothing && rest.live.0 == rest.live.1 {
            return false;
        }
        path.sums.copy_within(depth * all..(depth + 1) * all, (depth + 1) * all);
        path.fired.copy_within(depth * words..(depth + 1) * words, (depth + 1) * words);
        if rest.nothing {
            rest.nothing = false;
            return true;
        }
        let option = self.live[rest.live.0] as usize;
        rest.live.0 += 1;
        add(&mut path.sums[(depth + 1) * all..], &self.plan.vectors[option * all..][..all]);
        let label = &self.plan.labels[option * words..][..words];
        path.fired[(depth + 1) * words..].iter_mut().zip(label).for_each(|(f, l)| *f |= l);
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
