//! Which elements of a unit, and which groups, behave alike in one configuration.

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;

use super::program::PlanError;
use super::walk::{Signature, Walker};
use tickbound_model::kernel::has_until;
use tickbound_model::platform::Warps;
use tickbound_model::{Bound, LaunchSize, Problem, Profile};

/// Most work items that are sorted into classes, over all configurations.
const MAX_ITEMS_WALKED: u64 = 20_000_000;
/// Most threads of a plan.
const MAX_THREADS: usize = 64;
/// Most items of one thread, or rounds of different warps.
const MAX_ITEMS: usize = 64;
/// Most work items that are sorted into classes where groups differ, as all are examined.
const MAX_ITEMS_OF_GROUPS: u64 = 2_000_000;
/// Most stretches of equal groups in one configuration.
const MAX_STRETCHES: usize = 256;

/// Equal items that follow each other: their common signature, and how many there are.
pub(super) type Batch = (Signature, i64);

/// The elements of one group that differ, the one with item 0 first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    /// For each thread what it runs, in order. Under `published-2021` all have as many rounds.
    pub threads: Vec<Vec<Batch>>,
}

/// Sorts elements into classes, configuration after configuration.
pub(super) struct Classifier<'a> {
    pub walker: Walker<'a>,
    /// Some expression of the kernel mentions a value that differs between items.
    pub items_differ: bool,
    /// The group that is examined; 0 where all are alike.
    group: i64,
    walked: u64,
    limit: u64,
}

/// Groups in the order in which units take them: the layout, and how many in a row have it.
pub(super) type Stretches = Vec<(usize, i64)>;

impl<'a> Classifier<'a> {
    pub fn new(walker: Walker<'a>, items_differ: bool) -> Self {
        Classifier { walker, items_differ, group: 0, walked: 0, limit: MAX_ITEMS_WALKED }
    }

    fn problem(&self) -> &'a Problem {
        self.walker.problem
    }

    /// The groups of one configuration that differ, and in which order units take them: which of
    /// these, and how many like it follow each other.
    pub fn groups(&mut self, bound: &Bound) -> Result<(IndexSet<Layout>, Stretches), PlanError> {
        self.limit = MAX_ITEMS_OF_GROUPS;
        let (mut layouts, mut order) = (IndexSet::new(), Stretches::new());
        for group in 0..groups(bound) {
            self.group = group;
            let (layout, _) = layouts.insert_full(self.layout(bound)?);
            match order.last_mut() {
                Some((last, count)) if *last == layout => *count += 1,
                _ => order.push((layout, 1)),
            }
            few("stretches of equal groups", order.len(), MAX_STRETCHES)?;
        }
        Ok((layouts, order))
    }

    /// The layout of a group in one configuration.
    pub fn layout(&mut self, bound: &Bound) -> Result<Layout, PlanError> {
        let elements = self.problem().platform.elements_per_unit();
        let local = bound.launch.local();
        let threads = match (self.problem().profile, self.problem().platform.warps()) {
            (Profile::Published2021, Some(warps)) => self.rounds(bound, local, warps)?,
            (Profile::Published2023, _) => {
                let first = self.signatures(bound, local.min(elements))?;
                first.into_iter().map(|s| vec![(s, 1)]).collect()
            }
            _ => self.phases(bound, local, elements)?,
        };
        let threads = without_dominated(threads);
        let items = threads.iter().map(Vec::len).max().unwrap_or(0);
        few("different elements of a unit", threads.len(), MAX_THREADS)?;
        few("items an element runs in a phase", items, MAX_ITEMS)?;
        Ok(Layout { threads })
    }

    /// Signatures of items 0 to `count - 1`; just one if items do not differ.
    fn signatures(&mut self, bound: &Bound, count: i64) -> Result<Vec<Signature>, PlanError> {
        let count = if self.items_differ { count } else { 1 };
        self.budget(count)?;
        let signatures: Vec<Signature> = (0..count)
            .map(|lid| self.walker.signature(&[self.item(bound, lid)]))
            .collect::<Result<_, _>>()?;
        self.walker.check_agreement(&signatures.iter().collect_vec())?;
        Ok(signatures)
    }

    fn budget(&mut self, items: i64) -> Result<(), PlanError> {
        self.walked = self.walked.saturating_add(items.unsigned_abs());
        if self.walked > self.limit {
            return Err(PlanError::TooManyItems(self.limit));
        }
        Ok(())
    }

    /// All values an item sees.
    fn item(&self, bound: &Bound, lid: i64) -> Vec<i64> {
        let mut env = bound.env.clone();
        let slot = self.problem().first_item_slot();
        let gid = self.group * bound.launch.local() + lid;
        (env[slot], env[slot + 1], env[slot + 2]) = (lid, gid, self.group);
        env
    }

    /// `opencl`: element `e` runs items `e`, `e + elements`, ... in each phase.
    fn phases(
        &mut self,
        bound: &Bound,
        local: i64,
        elements: i64,
    ) -> Result<Vec<Vec<Batch>>, PlanError> {
        let mark_free = !has_until(&self.problem().kernel);
        if !self.items_differ {
            // Element 0 has as many items as any other; the rest is dominated by it.
            let signature = self.signatures(bound, 1)?.remove(0);
            let count = (local - 1) / elements + 1;
            return Ok(vec![if mark_free {
                vec![(signature, count)]
            } else {
                let count = usize::try_from(count).unwrap_or(usize::MAX).min(MAX_ITEMS + 1);
                vec![(signature, 1); count]
            }]);
        }
        let signatures = self.signatures(bound, local)?;
        let step = usize::try_from(elements).unwrap_or(usize::MAX);
        Ok((0..signatures.len().min(step))
            .map(|e| {
                let items = signatures.iter().skip(e).step_by(step).cloned();
                if mark_free { counted(items) } else { items.map(|s| (s, 1)).collect() }
            })
            .unique()
            .collect())
    }

    /// `published-2021`: dispatcher `d` runs warps `d`, `d + dispatchers`, ... in sequence.
    fn rounds(
        &mut self,
        bound: &Bound,
        local: i64,
        warps: Warps,
    ) -> Result<Vec<Vec<Batch>>, PlanError> {
        let rounds = local / (warps.width * warps.dispatchers);
        if !self.items_differ {
            let signature = self.signatures(bound, 1)?.remove(0);
            return Ok(vec![vec![(signature, rounds)]]);
        }
        self.budget(local)?;
        let warp = |w: i64| {
            let items: Vec<Vec<i64>> =
                (w * warps.width..(w + 1) * warps.width).map(|lid| self.item(bound, lid)).collect();
            self.walker.signature(&items)
        };
        let mut threads: Vec<Vec<Batch>> = vec![Vec::new(); warps.dispatchers as usize];
        let mut last: Option<Vec<Signature>> = None;
        for round in 0..rounds {
            let now: Vec<Signature> = (0..warps.dispatchers)
                .map(|d| warp(round * warps.dispatchers + d))
                .collect::<Result<_, _>>()?;
            self.walker.check_agreement(&now.iter().collect_vec())?;
            let repeats = last.as_ref() == Some(&now);
            for (thread, signature) in threads.iter_mut().zip(&now) {
                match thread.last_mut() {
                    Some((_, count)) if repeats => *count += 1,
                    _ => thread.push((signature.clone(), 1)),
                }
            }
            last = Some(now);
        }
        Ok(threads)
    }
}

/// Refuses more than the encodings hold.
pub(super) fn few(what: &'static str, count: usize, limit: usize) -> Result<(), PlanError> {
    if count > limit {
        return Err(PlanError::TooManyClasses { what, count, limit });
    }
    Ok(())
}

/// Items as a bag: each different one with its number, in order of first appearance.
fn counted(items: impl Iterator<Item = Signature>) -> Vec<Batch> {
    let mut bag: IndexMap<Signature, i64> = IndexMap::new();
    for s in items {
        *bag.entry(s).or_default() += 1;
    }
    bag.into_iter().collect()
}

/// Drops every thread whose batches are the beginning of another's, or the same with lower counts:
/// it reaches every barrier no later than that one. Thread 0 is kept in front.
fn without_dominated(threads: Vec<Vec<Batch>>) -> Vec<Vec<Batch>> {
    let dominated = |a: &[Batch], b: &[Batch]| {
        a.len() <= b.len() && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && x.1 <= y.1)
    };
    let mut kept: Vec<Vec<Batch>> = Vec::new();
    for thread in threads {
        if kept.iter().any(|k| dominated(&thread, k)) {
            continue;
        }
        let first = kept.first().is_some_and(|k| dominated(k, &thread));
        kept.retain(|k| !dominated(k, &thread));
        if first { kept.insert(0, thread) } else { kept.push(thread) }
    }
    kept
}

/// How many groups, or activations, a launch has.
fn groups(bound: &Bound) -> i64 {
    match bound.launch {
        LaunchSize::Activations { activations, .. } => activations,
        LaunchSize::Range { global, local } => global / local,
    }
}

/// How often a unit runs a whole group (or an activation) in one configuration.
pub(super) fn waves(problem: &Problem, bound: &Bound) -> i64 {
    match bound.launch {
        LaunchSize::Activations { activations, .. } => activations,
        LaunchSize::Range { .. } => (groups(bound) - 1) / problem.platform.units() + 1,
    }
}

/// How often an element runs the whole program in one activation (seed 000, section 4).
pub(super) fn runs(problem: &Problem, bound: &Bound) -> i64 {
    (bound.launch.local() / problem.platform.elements_per_unit()).max(1)
}
