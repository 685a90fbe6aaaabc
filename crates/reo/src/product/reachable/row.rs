//! One state of the product, as a constraint problem: which steps leave it.
//!
//! [`Row::prepare`] eliminates names that cannot fire here, and the options that fire them, until
//! nothing changes. The options left are *candidates*; parts that have some and share a name form a
//! group. Each group gets *stages*, one for each part to choose or to be asked whether it has a
//! choice, and names get *watch lists* of stages. [`Row::walk`] solves one group (`walk.rs`).

use super::allowed::Guard;
use super::layout::Layout;
use super::plan::Plan;
use crate::label::ones;
use crate::limits::ProductLimits;

/// The state in work, with its memory, which is used again for the next one.
pub(super) struct Row<'a, S> {
    pub(super) plan: &'a Plan,
    pub(super) limits: &'a ProductLimits<'a>,
    pub(super) layout: S,
    /// For each part, in search order, its state, as numbered in the plan.
    at: Vec<usize>,
    /// Names that may fire.
    can: Vec<u64>,
    next: Vec<u64>,
    /// Options that are not eliminated, part by part.
    pub(super) candidates: Vec<u32>,
    /// The parts that have some left.
    pub(super) active: Vec<Active>,
    /// The names that fire in the candidates of each active part.
    masks: Vec<u64>,
    /// The names of each group while groups are made; none if it has become part of another.
    group_masks: Vec<u64>,
    /// For each group how many of its parts are before the tail and in it.
    sizes: Vec<(usize, usize)>,
    /// The stages of the search, group by group.
    pub(super) stages: Vec<Stage>,
    /// Where each group begins in `stages`, and the end of the last.
    pub(super) groups: Vec<usize>,
    /// Words of a set of stages of one group.
    pub(super) sets: usize,
    /// For each group its stages that are free.
    pub(super) free: Vec<u64>,
    /// For each name the stages of its group that have it decided before: firing makes them dirty.
    pub(super) watch_lists: Vec<u64>,
    pub(super) path: Path,
    pub(super) guard: Guard,
}

/// A part that has options in this state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Active {
    pub(super) part: usize,
    pub(super) candidates: (usize, usize),
    /// Not known to begin with.
    group: usize,
}

/// A part chooses, or is asked whether it has a choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    pub(super) active: usize,
    pub(super) only_ask: bool,
    /// Whether the part has a choice even if none of its decided names fires.
    free: bool,
}

/// The state of the search: for each choice its stage, vectors and names before it, and the rest.
#[derive(Default)]
pub(super) struct Path {
    pub(super) at: Vec<usize>,
    pub(super) sums: Vec<u64>,
    pub(super) fired: Vec<u64>,
    /// Stages that must be visited: free ones, and those a decided name of which fires.
    pub(super) dirty: Vec<u64>,
    pub(super) pending: Vec<Pending>,
}

/// Choices at a depth that are still to be taken: to do nothing, and candidates.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pending {
    pub(super) nothing: bool,
    pub(super) candidates: (usize, usize),
}

impl<'a, S: Layout> Row<'a, S> {
    pub fn new(plan: &'a Plan, layout: S, limits: &'a ProductLimits<'a>) -> Self {
        Row {
            plan,
            limits,
            layout,
            at: vec![0; plan.parts.len()],
            can: vec![0; layout.label()],
            next: vec![0; layout.label()],
            candidates: Vec::new(),
            active: Vec::new(),
            masks: Vec::new(),
            group_masks: Vec::new(),
            sizes: Vec::new(),
            stages: Vec::new(),
            groups: Vec::new(),
            sets: 1,
            free: Vec::new(),
            watch_lists: Vec::new(),
            path: Path::default(),
            guard: Guard::default(),
        }
    }

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
        while self.eliminate() {}
        self.find_groups();
        self.schedule();
    }

    /// Eliminates options that fire a name which cannot fire, and then names that no option of a
    /// part which has them fires any more. Whether there were such names.
    fn eliminate(&mut self) -> bool {
        let (plan, words) = (self.plan, self.layout.label());
        self.candidates.clear();
        self.active.clear();
        self.masks.clear();
        self.next.copy_from_slice(&self.can);
        for (part, &at) in self.at.iter().enumerate() {
            let options = plan.options[at]..plan.options[at + 1];
            if options.is_empty() {
                // Its names were eliminated to begin with.
                continue;
            }
            let (from, base) = (self.candidates.len(), self.masks.len());
            let foreign = &plan.foreign[part * words..][..words];
            let allowed = &plan.allowed[at * words..][..words];
            let known = allowed.iter().zip(foreign).map(|(a, f)| a & !f);
            if known.clone().zip(&self.can).all(|(m, c)| m & !c == 0) {
                // All of them; what they do not fire was eliminated to begin with.
                self.masks.extend(known);
                self.candidates.extend(options);
                let candidates = (from, self.candidates.len());
                self.active.push(Active { part, candidates, group: 0 });
                continue;
            }
            self.masks.resize(base + words, 0);
            for option in options {
                let label = &plan.labels[option as usize * words..][..words];
                if label.iter().zip(&self.can).all(|(l, c)| l & !c == 0) {
                    self.candidates.push(option);
                    self.masks[base..].iter_mut().zip(label).for_each(|(m, l)| *m |= l);
                }
            }
            let mask = self.masks[base..].iter().zip(foreign);
            self.next.iter_mut().zip(mask).for_each(|(n, (m, f))| *n &= m | f);
            if self.candidates.len() == from {
                self.masks.truncate(base);
            } else {
                let candidates = (from, self.candidates.len());
                self.active.push(Active { part, candidates, group: 0 });
            }
        }
        let eliminated = self.next != self.can;
        std::mem::swap(&mut self.next, &mut self.can);
        eliminated
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

    /// Makes the stages of each group: parts in search order, and before the tail, if two or
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
        self.stages.clear();
        self.stages.resize(end, Stage { active: 0, only_ask: true, free: false });
        let words = self.layout.label();
        for (number, active) in self.active.iter().enumerate() {
            let (core, tail) = &mut self.sizes[active.group];
            let at = if active.part < self.plan.tail { core } else { tail };
            // Options lie in the order of the decided names that they fire: those with none first.
            let first = self.candidates[active.candidates.0] as usize * words;
            let decided = &self.plan.decided[active.part * words..][..words];
            let label = &self.plan.labels[first..][..words];
            let free = label.iter().zip(decided).all(|(l, d)| l & d == 0);
            self.stages[*at] = Stage { active: number, only_ask: false, free };
            *at += 1;
        }
        self.ask();
        self.watch();
    }

    /// Enters which stages are free, and the watch lists.
    fn watch(&mut self) {
        let words = self.layout.label();
        let longest = self.groups.windows(2).map(|group| group[1] - group[0]).max();
        self.sets = longest.unwrap_or(0).div_ceil(64).max(1);
        let sets = self.sets;
        self.free.clear();
        self.free.resize(self.groups() * sets, 0);
        self.watch_lists.clear();
        self.watch_lists.resize(words * 64 * sets, 0);
        for (group, free) in self.free.chunks_exact_mut(sets).enumerate() {
            let stages = &self.stages[self.groups[group]..self.groups[group + 1]];
            for (at, stage) in stages.iter().enumerate() {
                let (word, bit) = (at / 64, 1 << (at % 64));
                if stage.free {
                    free[word] |= bit;
                }
                let decided = &self.plan.decided[self.active[stage.active].part * words..][..words];
                for (from, (decided, can)) in decided.iter().zip(&self.can).enumerate() {
                    for name in ones(decided & can) {
                        self.watch_lists[(from * 64 + name) * sets + word] |= bit;
                    }
                }
            }
        }
    }

    /// Enters the questions, which stand before the tail that they ask.
    fn ask(&mut self) {
        for group in 0..self.groups() {
            let stages = &mut self.stages[self.groups[group]..self.groups[group + 1]];
            let in_tail = |stage: &&Stage| {
                !stage.only_ask && self.active[stage.active].part >= self.plan.tail
            };
            let tail = stages.iter().rev().take_while(in_tail).count();
            if tail > 1 {
                let (asks, last) = stages.split_at_mut(stages.len() - tail);
                let asks = asks.iter_mut().rev().zip(last.iter().rev());
                let question = |active| Stage { active, only_ask: true, free: false };
                asks.for_each(|(ask, stage)| *ask = question(stage.active));
            }
        }
    }

    /// The vectors of the silent steps that leave the state.
    pub fn silent(&self) -> impl Iterator<Item = &'a [u64]> {
        let (plan, all) = (self.plan, self.layout.all());
        let at = plan.silent_parts.iter().map(|given| self.at[plan.parts[*given].place]);
        let range =
            move |at: usize| plan.silent[at] as usize * all..plan.silent[at + 1] as usize * all;
        at.flat_map(move |at| plan.silent_vectors[range(at)].chunks_exact(all))
    }
}
