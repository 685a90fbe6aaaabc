//! Runs the steps of a kernel for some work items, to see which elements they access.
//!
//! Of each dimension the first and the last items, groups and iterations are taken, and some
//! between: what is greatest and what is least is among them, unless a condition leaves these out.
//! A branch that cannot be decided takes both sides.

use std::cell::RefCell;
use std::collections::HashMap;

use indexmap::IndexMap;
use itertools::Itertools;
use serde_json::Value;
use tickbound_expr::{Expr, parse};
use tickbound_opencl::steps::{KernelStep, KernelStepKind, SymbolExpr};

use crate::draft::Draft;
use crate::found::named;

/// Places of names: items, groups, iterations of loops from the innermost one.
const GROUPS: usize = 3;
const TURNS: usize = 6;
/// Most loops inside each other, and most steps that are run.
const MAX_LOOPS: usize = 10;
/// Most numbers in conditions next to which items are taken.
const MAX_EDGES: usize = 4;
const MAX_STEPS: usize = 40_000;
/// Most steps where all items are run.
const MAX_WHOLE_STEPS: usize = 400_000;
/// As many as there are.
const ALL: i64 = i64::MAX;

/// What is reached of an array.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// Bytes up to the end of the last element.
    pub end: i64,
    /// Elements before the first one are accessed.
    pub before: bool,
    /// They are under any conditions on data.
    pub surely_before: bool,
    /// Some accesses are not known.
    pub open: bool,
}

/// What is reached of arrays.
pub(crate) type Arrays<'s> = IndexMap<&'s str, Reached>;

/// The bytes where numbers begin that are stored of arrays, with the bytes that each has; `None`
/// where some are not known.
pub(crate) type Stored<'s> = IndexMap<&'s str, Option<HashMap<i64, i64>>>;

/// The values of names, worked out once.
struct Names<'d> {
    draft: &'d Draft,
    values: &'d IndexMap<String, i64>,
    known: RefCell<HashMap<String, Result<i64, ()>>>,
}

impl Names<'_> {
    fn value(&self, name: &String) -> Result<i64, ()> {
        if let Some(value) = self.known.borrow().get(name) {
            return *value;
        }
        let expression = bound(self.draft, name).or_else(|| named(name, self.draft));
        let value = expression.ok_or(()).and_then(|expression| {
            let mut of = |n: &String| self.values.get(n).map(|v| Expr::Int(*v)).ok_or(());
            let known: Expr<usize> = expression.replace(&mut of)?;
            known.eval(&[]).map_err(|_| ())
        });
        self.known.borrow_mut().insert(name.clone(), value);
        value
    }

    fn put_in(&self, number: &SymbolExpr) -> Option<Expr<usize>> {
        let place = |name: &String| -> Result<Expr<usize>, ()> {
            let id = name.rsplit_once('_').and_then(|(w, d)| Some((w, d.parse::<usize>().ok()?)));
            let slot = match id {
                Some(("$lid", d)) => d,
                Some(("$group", d)) => GROUPS + d,
                Some(("$turn", k)) if k < MAX_LOOPS => TURNS + k,
                Some(("$turn", _)) => return Err(()),
                _ => return self.value(name).map(Expr::Int),
            };
            Ok(Expr::Name(slot))
        };
        Some(number.replace(&mut { place }).ok()?.simplified())
    }
}

/// A number with places for ids and iterations, and values for all other names.
pub(crate) fn with_ids(
    draft: &Draft,
    number: &SymbolExpr,
    values: &IndexMap<String, i64>,
) -> Option<Expr<usize>> {
    Names { draft, values, known: RefCell::default() }.put_in(number)
}

/// The most iterations that an answer gives.
fn bound(draft: &Draft, name: &str) -> Option<SymbolExpr> {
    let answer = match name.strip_prefix("$line_") {
        Some(line) => draft.bounds.get(&format!("line {line}")),
        None => draft.bounds.get_index(name.strip_prefix("$bound_")?.parse().ok()?).map(|(_, v)| v),
    };
    match answer? {
        Value::Number(number) => Some(Expr::Int(number.as_i64()?)),
        text => parse::parse(text.as_str()?).ok(),
    }
}

/// What the steps reach for these values of inputs and parameters; `None` if that takes too long,
/// or the launch is not known. With `last` only the last group of that dimension.
pub(crate) fn walk<'s>(
    draft: &Draft,
    steps: &'s [KernelStep],
    values: &IndexMap<String, i64>,
    last: Option<usize>,
) -> Option<Arrays<'s>> {
    let (names, counts) = launched(draft, values)?;
    let nodes = nodes(&names, steps);
    let fine = if counts.len() == 2 { 9 } else { 3 };
    // Where there is much to run, the first and the last ones are taken alone.
    let run = |some| Some(Walk::new(some, last).all(&nodes, &counts)?.arrays);
    [fine, 2].into_iter().find_map(run)
}

/// The elements that all items store together, on both sides of branches that cannot be decided;
/// `None` as for [`walk`].
pub(crate) fn stored<'s>(
    draft: &Draft,
    steps: &'s [KernelStep],
    values: &IndexMap<String, i64>,
) -> Option<Stored<'s>> {
    let (names, counts) = launched(draft, values)?;
    Some(Walk::new(ALL, None).all(&storing(nodes(&names, steps)), &counts)?.stored)
}

/// The names of a launch, and how many items a group has and how many groups there are.
fn launched<'d>(
    draft: &'d Draft,
    values: &'d IndexMap<String, i64>,
) -> Option<(Names<'d>, Vec<i64>)> {
    let size = |text: &String| {
        with_ids(draft, &parse::parse(text).ok()?, values)?.eval(&[]).ok().filter(|n| *n > 0)
    };
    let sizes = |all: &[String]| all.iter().map(size).collect::<Option<Vec<i64>>>();
    let (locals, globals) = (sizes(&draft.locals)?, sizes(&draft.globals)?);
    let counts = globals.iter().zip(&locals).map(|(global, local)| global / local);
    let counts = locals.iter().copied().chain(counts).collect_vec();
    Some((Names { draft, values, known: RefCell::default() }, counts))
}

/// Some of `0..n`: this many at most, with the first and the last.
fn sampled(n: i64, some: i64) -> Vec<i64> {
    if some >= n {
        return (0..n).collect();
    }
    let between = (1..some - 3).map(|k| n * k / (some - 3)).flat_map(|at| [at - 1, at]);
    let more = [1].into_iter().filter(|_| some > 3).chain([n - 2].into_iter().filter(|_| some > 2));
    let all = between.chain(more).chain([0, n - 1]);
    all.filter(|at| (0..n).contains(at)).sorted().dedup().collect()
}

/// A step with its numbers; `None` where one is not known.
enum Node<'s> {
    Access { array: &'s str, store: bool, offset: Option<Expr<usize>>, width: i64, bytes: i64 },
    Repeat { count: Option<Expr<usize>>, body: Vec<Node<'s>> },
    If { condition: Option<Expr<usize>>, then: Vec<Node<'s>>, otherwise: Vec<Node<'s>> },
}

fn nodes<'s>(names: &Names<'_>, steps: &'s [KernelStep]) -> Vec<Node<'s>> {
    let number = |number: &SymbolExpr| names.put_in(number);
    let inside = |steps: &'s [KernelStep]| nodes(names, steps);
    let node = |step: &'s KernelStep| {
        Some(match &step.kind {
            KernelStepKind::Access(a) => Node::Access {
                array: &a.array,
                store: a.store,
                offset: a.offset.as_ref().and_then(number),
                width: i64::from(a.width),
                bytes: i64::from(a.element),
            },
            KernelStepKind::Atomic { array, offset, .. } => {
                let offset = offset.as_ref().and_then(number);
                let argument = names.draft.arguments.iter().find(|a| a.name == *array);
                let bytes = argument.map_or(4, |a| i64::try_from(a.element.bytes()).unwrap_or(4));
                Node::Access { array, store: true, offset, width: 1, bytes }
            }
            KernelStepKind::Repeat { count, whole, body } => {
                Node::Repeat { count: number(whole.as_ref().unwrap_or(count)), body: inside(body) }
            }
            KernelStepKind::If { condition, then, otherwise, .. } => Node::If {
                condition: number(condition),
                then: inside(then),
                otherwise: inside(otherwise),
            },
            KernelStepKind::Compute { .. } | KernelStepKind::Value(_) | KernelStepKind::Barrier => {
                return None;
            }
        })
    };
    steps.iter().filter(|step| !step.is_private()).filter_map(node).collect()
}

/// The nodes without what stores nothing.
fn storing(all: Vec<Node<'_>>) -> Vec<Node<'_>> {
    let stores = |node| match node {
        Node::Access { store, .. } => store.then_some(node),
        Node::Repeat { count, body } => {
            let body = storing(body);
            (!body.is_empty()).then_some(Node::Repeat { count, body })
        }
        Node::If { condition, then, otherwise } => {
            let (then, otherwise) = (storing(then), storing(otherwise));
            let none = then.is_empty() && otherwise.is_empty();
            (!none).then_some(Node::If { condition, then, otherwise })
        }
    };
    all.into_iter().filter_map(stores).collect()
}

/// The numbers in conditions: what differs between items does so next to them.
fn limits(nodes: &[Node<'_>], found: &mut Vec<i64>) {
    fn numbers(e: &Expr<usize>, found: &mut Vec<i64>) {
        match e {
            Expr::Int(n) if *n > 1 && !found.contains(n) => found.push(*n),
            e => e.parts().for_each(|part| numbers(part, found)),
        }
    }
    for node in nodes {
        match node {
            Node::If { condition, then, otherwise } => {
                condition.iter().for_each(|c| numbers(c, found));
                limits(then, found);
                limits(otherwise, found);
            }
            Node::Repeat { body, .. } => limits(body, found),
            Node::Access { .. } => {}
        }
    }
}

#[derive(Default)]
struct Walk<'s> {
    /// How many of each dimension are taken.
    some: i64,
    /// The dimension of which the last group is taken alone.
    last: Option<usize>,
    /// Conditions around that are not known.
    unknown: usize,
    env: [i64; TURNS + MAX_LOOPS],
    /// Iterations of the loops around, outer ones first.
    turns: Vec<i64>,
    left: usize,
    arrays: Arrays<'s>,
    stored: Stored<'s>,
}

impl<'s> Walk<'s> {
    fn new(some: i64, last: Option<usize>) -> Walk<'s> {
        let left = if some == ALL { MAX_WHOLE_STEPS } else { MAX_STEPS };
        Walk { some, last, left, ..Walk::default() }
    }

    /// Runs the steps for items and groups, of which there are this many.
    fn all(mut self, nodes: &[Node<'s>], counts: &[i64]) -> Option<Walk<'s>> {
        let items = counts.iter().fold(1_i64, |all, n| all.saturating_mul(*n));
        if self.some == ALL && items > self.left as i64 {
            return None;
        }
        let mut edges = Vec::new();
        limits(nodes, &mut edges);
        edges.truncate(if self.some > 2 { MAX_EDGES } else { 0 });
        let dimensions = counts.len() / 2;
        let range = |(k, n): (usize, &i64)| {
            if let (Some(last), Some(group)) = (self.last, k.checked_sub(dimensions)) {
                return vec![if group == last { n - 1 } else { 0 }];
            }
            let own = edges.iter().flat_map(|v| match k < dimensions {
                true => [v - 1, *v, (v - 1).rem_euclid(*n)],
                false => [(v - 1) / counts[k - dimensions], v / counts[k - dimensions], 0],
            });
            let own = own.filter(|at| (0..*n).contains(at));
            sampled(*n, self.some).into_iter().chain(own).sorted().dedup().collect_vec()
        };
        let ranges = counts.iter().enumerate().map(range).collect_vec();
        for ids in ranges.iter().map(|r| r.iter().copied()).multi_cartesian_product() {
            let (items, groups) = ids.split_at(counts.len() / 2);
            self.env[..items.len()].copy_from_slice(items);
            self.env[GROUPS..GROUPS + groups.len()].copy_from_slice(groups);
            self.run(nodes)?;
        }
        Some(self)
    }

    fn run(&mut self, nodes: &[Node<'s>]) -> Option<()> {
        nodes.iter().try_for_each(|node| {
            self.left = self.left.checked_sub(1)?;
            match node {
                Node::Access { array, store, offset, width, bytes } => {
                    for (k, turn) in self.turns.iter().rev().take(MAX_LOOPS).enumerate() {
                        self.env[TURNS + k] = *turn;
                    }
                    let at = offset.as_ref().and_then(|offset| offset.eval(&self.env).ok());
                    let range = at.and_then(|at| Some((at, at.checked_add(*width)?)));
                    self.access(array, *store, range, *bytes);
                    Some(())
                }
                Node::Repeat { count, body } => self.repeat(count.as_ref(), body),
                Node::If { condition, then, otherwise } => {
                    let taken = condition.as_ref().and_then(|c| c.eval(&self.env).ok());
                    self.unknown += usize::from(taken.is_none());
                    if taken != Some(0) {
                        self.run(then)?;
                    }
                    if taken.is_none_or(|taken| taken == 0) {
                        self.run(otherwise)?;
                    }
                    self.unknown -= usize::from(taken.is_none());
                    Some(())
                }
            }
        })
    }

    /// Runs iterations of a loop; `None` if all are to be run and their number is not known.
    fn repeat(&mut self, count: Option<&Expr<usize>>, body: &[Node<'s>]) -> Option<()> {
        let value = |count: &Expr<usize>| count.eval(&self.env).ok();
        let (count, some) = match self.some {
            ALL => (count.and_then(value).filter(|count| *count <= self.left as i64)?, ALL),
            // One whose number is not known is run once.
            some => {
                let few = if self.turns.is_empty() && some > 3 { 5 } else { some.min(3) };
                (count.map_or(Some(1), value).unwrap_or(0), few)
            }
        };
        sampled(count, some).into_iter().try_for_each(|turn| {
            self.turns.push(turn);
            let done = self.run(body);
            self.turns.pop();
            done
        })
    }

    fn access(&mut self, array: &'s str, store: bool, range: Option<(i64, i64)>, bytes: i64) {
        let reached = self.arrays.entry(array).or_default();
        match range {
            Some((at, end)) => {
                reached.end = reached.end.max(end.saturating_mul(bytes));
                reached.before |= at < 0;
                reached.surely_before |= at < 0 && self.unknown == 0;
            }
            None => reached.open = true,
        }
        if store && self.some == ALL {
            let stored = self.stored.entry(array).or_insert_with(|| Some(HashMap::new()));
            match (range, stored) {
                (Some((at, end)), Some(stored)) => {
                    stored.extend((at..end).map(|n| (n.saturating_mul(bytes), bytes)));
                }
                (_, stored) => *stored = None,
            }
        }
    }
}
