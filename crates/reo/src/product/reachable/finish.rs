//! The whole product: rows as they come, then constraints, and steps that are alike as one.

use rayon::prelude::*;

use super::index::{Budget, Index};
use super::layout::Layout;
use super::plan::Plan;
use super::supersteps::StepRows;
use crate::automaton::{Automaton, AutomatonRows};
use crate::constraint::{ConstraintStore, DataConstraint, Literal};
use crate::limits::{Limited, ProductLimits, Stopped};

/// A product as it grows; its conditions are numbers of `conditions`.
pub(super) struct Whole<'a> {
    pub limits: &'a ProductLimits<'a>,
    pub budget: Budget<'a>,
    pub rows: AutomatonRows,
    pub conditions: Index,
}

impl<'a> Whole<'a> {
    /// Without rows; `budget` is what is taken so far.
    pub fn new(
        plan: &Plan,
        limits: &'a ProductLimits<'a>,
        mut budget: Budget<'a>,
    ) -> Limited<Self> {
        let what = "the conditions of the product";
        let mut conditions = Index::new(&plan.conditions, what, &mut budget)?;
        // Number 0 is `true`.
        conditions.number(&vec![0; plan.conditions.words], &mut budget)?;
        let rows = AutomatonRows { rows: vec![0], ..AutomatonRows::default() };
        Ok(Whole { limits, budget, rows, conditions })
    }

    /// Takes the memory for more rows, and enters where they end, counted from the steps so far.
    pub fn room(
        &mut self,
        ends: impl ExactSizeIterator<Item = usize>,
        steps: usize,
        layout: impl Layout,
    ) -> Limited<()> {
        let (what, budget) = ("the steps of the product", &mut self.budget);
        let AutomatonRows { rows, targets, labels, conditions } = &mut self.rows;
        budget.room("the rows of the product", rows, ends.len())?;
        budget.room(what, targets, steps)?;
        budget.room(what, labels, steps * layout.label())?;
        if layout.condition() > 0 {
            budget.room(what, conditions, steps)?;
        }
        let before = targets.len();
        rows.extend(ends.map(|end| before + end));
        Ok(())
    }

    /// Adds rows that were made with their conditions packed.
    pub fn add(&mut self, made: &StepRows, layout: impl Layout) -> Limited<()> {
        self.room(made.ends.iter().copied(), made.targets.len(), layout)?;
        self.rows.targets.extend_from_slice(&made.targets);
        self.rows.labels.extend_from_slice(&made.labels);
        for key in made.conditions.chunks_exact(layout.condition().max(1)) {
            self.rows.conditions.push(self.conditions.number(key, &mut self.budget)?);
        }
        Ok(())
    }

    /// The automaton: constraints are made, and steps that are alike become one.
    pub fn automaton(self, plan: &Plan, parts: &[&Automaton]) -> Limited<Automaton> {
        let Whole { limits, mut budget, mut rows, conditions } = self;
        let conditions = conditions.into_keys();
        let mut constraints = ConstraintStore::default();
        if plan.layout.condition > 0 {
            let made = conjunctions(&conditions, plan, parts, &mut budget, limits)?;
            // Different tuples may have the same conjunction.
            let number: Vec<u32> = made.into_iter().map(|c| constraints.intern(c)).collect();
            if constraints.len() < number.len() {
                rows.conditions.par_iter_mut().for_each(|c| *c = number[*c as usize]);
            }
        }
        if plan.twins {
            limits.go_on()?;
            budget.take("the steps that are alike", rows.targets.len() as u128 * 16)?;
            only_once(&mut rows, plan.layout.label);
        }
        let initial = (0..plan.initial.len() as u32).collect();
        let contents = parts.iter().flat_map(|p| p.contents()).copied().collect();
        let states = rows.rows.len() - 1;
        // The rows fit together; all that may be refused is the number of states.
        let whole =
            Automaton::from_rows(plan.alphabet.clone(), initial, rows, constraints, contents)
                .map_err(|_| Stopped::States(states as u128))?;
        if !plan.ground {
            return Ok(whole);
        }
        let possible = whole.possible();
        let all = possible.transitions() == whole.transitions();
        Ok(if all { whole } else { possible.reachable().0 })
    }
}

/// Conjunctions that one worker makes in a row.
const RUN: usize = 1024;

/// The conjunction for each key, in the order of the keys.
///
/// They are made in the order of their tuples, so that common prefixes are made once.
fn conjunctions(
    keys: &[u64],
    plan: &Plan,
    parts: &[&Automaton],
    budget: &mut Budget,
    limits: &ProductLimits,
) -> Limited<Vec<DataConstraint>> {
    let words = plan.conditions.words;
    let key = |number: u32| &keys[number as usize * words..][..words];
    let many = keys.len() / words;
    let size = |number: u32| {
        let mut literals = 0;
        plan.conditions.unpack(key(number), |part, value| {
            literals += constraint(plan, parts, part, value).literals().len();
        });
        // Beside the literals, two counters, and what tables keep: twice a pointer with length
        // and a hash, and three numbers.
        literals * size_of::<Literal>() + 16 + 2 * 24 + 12
    };
    let bytes: usize = (0..many as u32).into_par_iter().map(size).sum();
    budget.take("the constraints of the product", bytes as u128)?;
    let mut order: Vec<u32> = (0..many as u32).collect();
    order.par_sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
    let run = |numbers: &[u32]| {
        limits.go_on()?;
        let mut stack = Stack::new(plan, parts);
        let made = numbers.iter().map(|n| (*n, stack.conjunction(key(*n))));
        Ok(made.collect())
    };
    let made: Limited<Vec<Vec<(u32, DataConstraint)>>> = order.par_chunks(RUN).map(run).collect();
    let made = made?;
    let mut all = vec![DataConstraint::default(); many];
    for (number, constraint) in made.into_iter().flatten() {
        all[number as usize] = constraint;
    }
    Ok(all)
}

fn constraint<'a>(
    plan: &Plan,
    parts: &[&'a Automaton],
    part: usize,
    value: u64,
) -> &'a DataConstraint {
    parts[part].constraints().get(plan.used[part][value as usize])
}

/// Conjunctions of the first constraints of a tuple, the first, the first two and so on.
struct Stack<'a> {
    plan: &'a Plan,
    parts: &'a [&'a Automaton],
    tuple: Vec<u64>,
    next: Vec<u64>,
    fronts: Vec<DataConstraint>,
}

impl<'a> Stack<'a> {
    fn new(plan: &'a Plan, parts: &'a [&'a Automaton]) -> Self {
        let places = parts.len();
        let fronts = vec![DataConstraint::default(); places + 1];
        Stack { plan, parts, tuple: vec![0; places], next: vec![0; places], fronts }
    }

    fn conjunction(&mut self, key: &[u64]) -> DataConstraint {
        self.plan.conditions.unpack(key, |part, value| self.next[part] = value);
        let mut same = true;
        for (part, value) in self.next.iter().enumerate() {
            same &= self.tuple[part] == *value;
            if !same {
                let own = constraint(self.plan, self.parts, part, *value);
                self.fronts[part + 1] = self.fronts[part].and(own);
            }
        }
        self.tuple.copy_from_slice(&self.next);
        self.fronts[self.next.len()].clone()
    }
}

/// Takes away steps that a row has already, without a change of the order.
fn only_once(rows: &mut AutomatonRows, words: usize) {
    let AutomatonRows { rows: ends, targets, labels, conditions } = rows;
    let step = |at: usize| {
        let condition = conditions.get(at).copied().unwrap_or(0);
        (&labels[at * words..][..words], targets[at], condition)
    };
    // A step is to go if one before it in its row is alike.
    let again = |row: &[usize]| {
        let mut order: Vec<usize> = (row[0]..row[1]).collect();
        order.sort_unstable_by(|a, b| step(*a).cmp(&step(*b)).then(a.cmp(b)));
        let twice = order.windows(2).filter(|w| step(w[0]) == step(w[1]));
        let mut gone: Vec<usize> = twice.map(|w| w[1]).collect();
        gone.sort_unstable();
        gone
    };
    let gone: Vec<usize> = ends.par_windows(2).flat_map_iter(again).collect();
    if gone.is_empty() {
        return;
    }
    let goes = |at: usize| gone.binary_search(&at).is_ok();
    let before = std::mem::take(ends);
    *ends = before.iter().map(|end| end - gone.partition_point(|at| at < end)).collect();
    keep(targets, 1, &goes);
    keep(conditions, 1, &goes);
    keep(labels, words, &goes);
}

/// Keeps the items, of that many words each, that do not go.
fn keep<T>(items: &mut Vec<T>, words: usize, goes: &impl Fn(usize) -> bool) {
    let mut at = 0;
    items.retain(|_| {
        at += 1;
        !goes((at - 1) / words)
    });
}
