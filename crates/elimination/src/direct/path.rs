//! The variables of a form in a sequence, and the form as a layered graph.
//!
//! At each place of the sequence some earlier variables are *live*: a table joins them with one
//! that is still to come. A node is a place with values of its live variables, an arc a value of
//! the place's variable, with what the tables add that are complete there. Each path from the first
//! node to the last is an assignment that no table forbids.

use super::form::{AccumulatorOp, DirectForm, FORBIDDEN, FormTable};

/// Most arcs of a graph: some hundred megabytes.
const MAX_ARCS: usize = 1 << 21;

/// A value of a place's variable.
#[derive(Debug, Clone)]
pub(super) struct Arc {
    /// The node of this place where it begins, and that of the next place where it ends.
    pub from: u32,
    pub to: u32,
    /// The index of the value.
    pub value: u32,
    /// Which of the place's gains it has.
    first: u32,
    last: u32,
}

/// A place of the sequence.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub variable: usize,
    /// The live variables; a node's number has their values, the last one's running fastest.
    pub live: Vec<usize>,
    /// How many nodes it has.
    pub nodes: usize,
    /// The arcs, by the node where they begin.
    pub arcs: Vec<Arc>,
    /// An accumulator and what goes into it, unless that is neutral.
    gains: Vec<(usize, i64)>,
}

impl Stage {
    /// What an arc adds to accumulators, each named once.
    pub fn gains(&self, arc: &Arc) -> &[(usize, i64)] {
        &self.gains[arc.first as usize..arc.last as usize]
    }

    /// Where the arcs of each node begin in the list, and where the last one's end.
    pub fn starts(&self) -> Vec<usize> {
        let mut starts = vec![0; self.nodes + 1];
        self.arcs.iter().for_each(|arc| starts[arc.from as usize + 1] += 1);
        (0..self.nodes).for_each(|node| starts[node + 1] += starts[node]);
        starts
    }
}

/// The live variables of each place, before its own is decided.
struct Sequence {
    order: Vec<usize>,
    live: Vec<Vec<usize>>,
}

impl Sequence {
    fn new(form: &DirectForm, order: Vec<usize>) -> Sequence {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, v)| place[*v] = i);
        let mut last: Vec<usize> = place.clone();
        for table in &form.tables {
            let end = table.variables.iter().map(|v| place[*v]).max().unwrap_or_default();
            table.variables.iter().for_each(|v| last[*v] = last[*v].max(end));
        }
        let is_live = |v: &usize, at: usize| place[*v] < at && last[*v] >= at;
        let live = (0..=order.len())
            .map(|at| order.iter().copied().filter(|v| is_live(v, at)).collect())
            .collect();
        Sequence { order, live }
    }

    fn nodes(&self, form: &DirectForm, at: usize) -> usize {
        self.live[at].iter().fold(1, |all, v| all.saturating_mul(form.sizes[*v]))
    }

    fn arcs(&self, form: &DirectForm) -> usize {
        let at = |(i, v): (usize, &usize)| self.nodes(form, i).saturating_mul(form.sizes[*v]);
        self.order.iter().enumerate().map(at).fold(0, usize::saturating_add)
    }
}

/// Places that accumulators are open, summed over the accumulators.
fn open(form: &DirectForm, order: &[usize]) -> usize {
    let mut ends = vec![(usize::MAX, 0); form.accumulators.len()];
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, v)| place[*v] = i);
    for table in form.tables.iter().filter(|t| t.accumulator > 0) {
        let (first, last) = &mut ends[table.accumulator];
        for v in &table.variables {
            (*first, *last) = ((*first).min(place[*v]), (*last).max(place[*v]));
        }
    }
    ends.iter().map(|(first, last)| last.saturating_sub(*first)).sum()
}

/// A sequence for a form: of some that are made greedily and that of the variables' numbers the one
/// with the fewest arcs, and of these the one where accumulators are complete early.
fn sequence(form: &DirectForm) -> Sequence {
    let all = form.sizes.len();
    let mut joined = vec![Vec::new(); all];
    let mut shared = vec![Vec::new(); all];
    for table in &form.tables {
        for v in &table.variables {
            joined[*v].extend(table.variables.iter().copied().filter(|w| w != v));
            shared[*v].extend((table.accumulator > 0).then_some(table.accumulator));
        }
    }
    joined.iter_mut().chain(&mut shared).for_each(|of| {
        of.sort_unstable();
        of.dedup();
    });
    // A few first variables, spread over all.
    let firsts = (0..all).step_by(all.div_ceil(MAX_FIRST).max(1));
    let greedy = firsts.map(|first| greedy(form, first, &joined, &shared));
    let orders = greedy.chain([(0..all).collect()]);
    let cost = |s: &Sequence| (s.arcs(form), open(form, &s.order));
    let sequences = orders.map(|order| Sequence::new(form, order));
    sequences.min_by_key(cost).unwrap_or_else(|| Sequence::new(form, Vec::new()))
}

/// Most first variables that are tried.
const MAX_FIRST: usize = 16;

/// The variables from a first one on, next always one that leaves the fewest combinations of live
/// variables, then the fewest accumulators begun that are not complete.
fn greedy(
    form: &DirectForm,
    first: usize,
    joined: &[Vec<usize>],
    shared: &[Vec<usize>],
) -> Vec<usize> {
    let mut waiting: Vec<usize> = joined.iter().map(Vec::len).collect();
    let mut left = vec![0usize; form.accumulators.len()];
    shared.iter().flatten().for_each(|a| left[*a] += 1);
    let (mut begun, mut done) = (vec![false; left.len()], vec![false; form.sizes.len()]);
    let mut order = Vec::with_capacity(form.sizes.len());
    let mut next = Some(first);
    while let Some(v) = next {
        order.push(v);
        done[v] = true;
        joined[v].iter().for_each(|w| waiting[*w] -= 1);
        for a in &shared[v] {
            left[*a] -= 1;
            begun[*a] = true;
        }
        let cost = |w: &usize| {
            let own = if waiting[*w] > 0 { (form.sizes[*w] as f64).ln() } else { 0.0 };
            let closed = joined[*w].iter().filter(|u| done[**u] && waiting[**u] == 1);
            let rows = own - closed.map(|u| (form.sizes[*u] as f64).ln()).sum::<f64>();
            let opened = shared[*w].iter().filter(|a| !begun[**a]).count() as f64;
            let finished = shared[*w].iter().filter(|a| begun[**a] && left[**a] == 1).count();
            (rows, opened - finished as f64)
        };
        let left = (0..form.sizes.len()).filter(|w| !done[*w]);
        next =
            left.min_by(|a, b| cost(a).partial_cmp(&cost(b)).unwrap_or(std::cmp::Ordering::Equal));
    }
    order
}

/// The layered graph of a form; `None` if it would be too large.
pub(super) fn stages(form: &DirectForm) -> Option<Vec<Stage>> {
    let sequence = sequence(form);
    if sequence.arcs(form) > MAX_ARCS {
        return None;
    }
    let mut complete: Vec<Vec<&FormTable>> = vec![Vec::new(); sequence.order.len()];
    for table in &form.tables {
        let place = |v: &usize| sequence.order.iter().position(|w| w == v);
        let last = table.variables.iter().filter_map(place).max()?;
        complete[last].push(table);
    }
    let places = complete.iter().enumerate();
    Some(places.map(|(at, tables)| stage(form, &sequence, at, tables)).collect())
}

/// One place: all values of its variable from all combinations of the live ones.
fn stage(form: &DirectForm, sequence: &Sequence, at: usize, tables: &[&FormTable]) -> Stage {
    let (variable, nodes) = (sequence.order[at], sequence.nodes(form, at));
    let live = sequence.live[at].clone();
    let mut stage = Stage { variable, live, nodes, arcs: Vec::new(), gains: Vec::new() };
    let mut assignment = vec![0u32; form.sizes.len()];
    for from in 0..nodes {
        for (v, value) in stage.live.iter().zip(form.combination(&stage.live, from)) {
            assignment[*v] = value;
        }
        for value in 0..form.sizes[variable] {
            assignment[variable] = value as u32;
            let first = stage.gains.len();
            if !gain(form, tables, &assignment, &mut stage.gains) {
                stage.gains.truncate(first);
                continue;
            }
            let next = |node, v: &usize| node * form.sizes[*v] + assignment[*v] as usize;
            let to = sequence.live[at + 1].iter().fold(0, next) as u32;
            let (first, last) = (first as u32, stage.gains.len() as u32);
            stage.arcs.push(Arc { from: from as u32, to, value: value as u32, first, last });
        }
    }
    stage
}

/// Appends what tables add to accumulators; false if one forbids the assignment.
fn gain(
    form: &DirectForm,
    tables: &[&FormTable],
    assignment: &[u32],
    gains: &mut Vec<(usize, i64)>,
) -> bool {
    let first = gains.len();
    for table in tables {
        let entry = table.entries[form.place(table, assignment)];
        if entry == FORBIDDEN {
            return false;
        }
        let operation: AccumulatorOp = form.accumulators[table.accumulator].operation;
        match gains[first..].iter_mut().find(|(a, _)| *a == table.accumulator) {
            Some((_, known)) => *known = operation.with(*known, entry),
            None if entry == operation.neutral() => {}
            None => gains.push((table.accumulator, entry)),
        }
    }
    true
}
