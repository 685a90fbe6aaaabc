//! Elimination with labels: along the sequence, the Pareto front of each node.

use std::cmp::Ordering;

use super::form::{AccumulatorLimit, AccumulatorOp, Sense};
use super::path::{Arc, Stage};
use super::relax::{NEVER, Relaxation, SCALE};

/// Most numbers in the labels of a place: some hundred megabytes.
const MAX_NUMBERS: usize = 1 << 26;
/// Labels of a front that a new one is compared with.
const MAX_COMPARED: usize = 1000;
/// Labels between two looks at the clock.
const LOOK: usize = 1 << 10;

/// How labels are compared by an accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    Less,
    More,
    Same,
}

/// The labels of a place. Label i has the accumulators' values from `i * width` on.
#[derive(Default)]
struct Layer {
    nodes: Vec<u32>,
    /// The label of the place before, and the arc's value from there.
    parents: Vec<u32>,
    chosen: Vec<u32>,
    bounds: Vec<i64>,
    values: Vec<i64>,
}

impl Layer {
    /// The one label before the first place.
    fn first(relaxation: &Relaxation<'_>) -> Layer {
        let (nodes, parents, chosen, bounds) = (vec![0], vec![0], vec![0], vec![0]);
        Layer { nodes, parents, chosen, bounds, values: relaxation.start() }
    }

    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn values(&self, label: u32, width: usize) -> &[i64] {
        &self.values[label as usize * width..][..width]
    }

    fn take(&self, labels: &[u32], width: usize) -> Layer {
        let pick = |from: &[u32]| labels.iter().map(|l| from[*l as usize]).collect();
        Layer {
            nodes: pick(&self.nodes),
            parents: pick(&self.parents),
            chosen: pick(&self.chosen),
            bounds: labels.iter().map(|l| self.bounds[*l as usize]).collect(),
            values: labels.iter().flat_map(|l| self.values(*l, width)).copied().collect(),
        }
    }
}

/// What a pass has found.
pub(super) struct Passed {
    /// The best assignment whose cost is below what was known, if there is one.
    pub best: Option<Vec<u32>>,
    /// No label was cut: nothing else is better.
    pub whole: bool,
    /// How many labels there were.
    pub labels: u64,
}

/// A node, and the values of the accumulators.
pub(super) type NodeLabel = (usize, Vec<i64>);

/// For each place but the first the labels of which one is no worse than any assignment that
/// may cost less than `known`. `None` if there are more than `most` at a place.
pub(super) fn front(
    relaxation: &Relaxation<'_>,
    known: i64,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Vec<NodeLabel>>> {
    let pass = Pass::new(relaxation, known);
    let mut labels = Vec::new();
    let mut layer = Layer::first(relaxation);
    for at in 0..relaxation.stages.len() {
        let next = pass.next(at, &layer, stop)?;
        layer = next.take(&pass.front(&next), pass.width);
        let values = |l: usize| layer.values(l as u32, pass.width).to_vec();
        let label = |l: usize| (layer.nodes[l] as usize, values(l));
        labels.push((0..layer.len()).map(label).collect());
        if layer.len() > most {
            return None;
        }
    }
    Some(labels)
}

/// All assignments that cost at most `most`, if there are at most `count` labels at each place,
/// and else some, of at most `few` labels; whether these are all.
pub(super) fn within(
    relaxation: &Relaxation<'_>,
    most: i64,
    (count, few): (usize, usize),
    stop: &dyn Fn() -> bool,
) -> Option<(Vec<Vec<u32>>, bool)> {
    let pass = Pass::new(relaxation, most.saturating_add(1));
    let all = |layer: &Layer| (0..layer.len() as u32).collect();
    let (layers, whole, _) = pass.layers((count, few), stop, &all)?;
    let ends = layers.last().map_or(0, Layer::len);
    Some(((0..ends).map(|end| pass.assignment(&layers, end)).collect(), whole))
}

/// One pass over all places, with at most `most` labels at each, those with the least bounds.
/// Looks for what costs less than `known`.
pub(super) fn pass(
    relaxation: &Relaxation<'_>,
    known: i64,
    most: usize,
    stop: &dyn Fn() -> bool,
) -> Option<Passed> {
    let pass = Pass::new(relaxation, known);
    let (layers, whole, labels) = pass.layers((most, most), stop, &|layer| pass.front(layer))?;
    let ends = layers.last()?;
    let best = (0..ends.len()).min_by_key(|l| ends.bounds[*l]);
    let best = best.map(|end| pass.assignment(&layers, end));
    Some(Passed { best, whole, labels })
}

struct Pass<'r, 'f> {
    relaxation: &'r Relaxation<'f>,
    /// The greatest bound that a label may have.
    most: i64,
    width: usize,
    better: Vec<Better>,
}

impl<'r, 'f> Pass<'r, 'f> {
    fn new(relaxation: &'r Relaxation<'f>, known: i64) -> Pass<'r, 'f> {
        let mut better = vec![Better::Less; relaxation.form.accumulators.len()];
        for limit in &relaxation.form.limits {
            better[limit.accumulator] = match limit.sense {
                Sense::AtMost => Better::Less,
                Sense::AtLeast => Better::More,
                Sense::Equal => Better::Same,
            };
        }
        let most = if known < NEVER / SCALE { SCALE * (known - 1) } else { NEVER - 1 };
        Pass { relaxation, most, width: better.len(), better }
    }

    /// The labels of all places, of which `keep` picks some and at most `most` stay, those with the
    /// least bounds; and `few` from the first place on at which there are more. Whether none was
    /// cut, and how many there were.
    fn layers(
        &self,
        (mut most, few): (usize, usize),
        stop: &dyn Fn() -> bool,
        keep: &dyn Fn(&Layer) -> Vec<u32>,
    ) -> Option<(Vec<Layer>, bool, u64)> {
        let mut layers = vec![Layer::first(self.relaxation)];
        let (mut whole, mut labels) = (true, 0);
        for at in 0..self.relaxation.stages.len() {
            let next = self.next(at, &layers[at], stop)?;
            labels += next.len() as u64;
            let mut kept = keep(&next);
            if kept.len() > most {
                most = few;
                kept.select_nth_unstable_by_key(most, |l| (next.bounds[*l as usize], *l));
                kept.truncate(most);
                whole = false;
            }
            layers.push(next.take(&kept, self.width));
            // What is not needed to find the way back.
            layers[at].values = Vec::new();
        }
        Some((layers, whole, labels))
    }

    /// The labels of the next place; `None` at a stop, or if there are too many.
    fn next(&self, at: usize, layer: &Layer, stop: &dyn Fn() -> bool) -> Option<Layer> {
        let stage = &self.relaxation.stages[at];
        let starts = stage.starts();
        let mut next = Layer::default();
        for label in 0..layer.len() {
            if label % LOOK == 0 && stop() || next.values.len() > MAX_NUMBERS {
                return None;
            }
            let node = layer.nodes[label] as usize;
            for arc in &stage.arcs[starts[node]..starts[node + 1]] {
                let values = layer.values(label as u32, self.width);
                let begin = next.values.len();
                next.values.extend_from_slice(values);
                match self.moved(at, stage, arc, &mut next.values[begin..]) {
                    Some(bound) => {
                        next.nodes.push(arc.to);
                        next.parents.push(label as u32);
                        next.chosen.push(arc.value);
                        next.bounds.push(bound);
                    }
                    None => next.values.truncate(begin),
                }
            }
        }
        Some(next)
    }

    /// Takes an arc of place `at`; the bound, or `None` if nothing below the best is left.
    fn moved(&self, at: usize, stage: &Stage, arc: &Arc, values: &mut [i64]) -> Option<i64> {
        let relaxation = self.relaxation;
        for (a, more) in stage.gains(arc) {
            let operation = relaxation.form.accumulators[*a].operation;
            values[*a] = operation.with(values[*a], *more);
        }
        let (least, most) = (&relaxation.least[at + 1], &relaxation.most[at + 1]);
        self.limit(at, values, least, most)?;
        self.fold(at, values, least, most);
        let bound = relaxation.bound(at + 1, arc.to as usize, values);
        (bound <= self.most).then_some(bound)
    }

    /// Examines the limits. A value that can no longer break its limit is set to the worst one that
    /// cannot either, so that labels differ in nothing that does not matter.
    fn limit(&self, at: usize, values: &mut [i64], least: &[i64], most: &[i64]) -> Option<()> {
        let relaxation = self.relaxation;
        let open = |limit: &&AccumulatorLimit| relaxation.last[limit.accumulator] >= at;
        for limit in relaxation.form.limits.iter().filter(open) {
            let a = limit.accumulator;
            let accumulator = relaxation.form.accumulators[a];
            let (value, bound) = (values[a], limit.bound);
            let low = accumulator.operation.with(value, least[a]);
            let high = accumulator.operation.with(value, most[a]);
            let fails = match limit.sense {
                Sense::AtMost => low > bound,
                Sense::AtLeast => high < bound,
                Sense::Equal => low > bound || high < bound,
            };
            if fails {
                return None;
            }
            if relaxation.last[a] <= at {
                values[a] = accumulator.start;
                continue;
            }
            let is_product = accumulator.operation == AccumulatorOp::Product;
            match (limit.sense, accumulator.operation) {
                (Sense::AtMost, AccumulatorOp::Sum) => values[a] = value.max(bound - most[a]),
                (Sense::AtLeast, AccumulatorOp::Sum) => values[a] = value.min(bound - least[a]),
                (Sense::AtMost, AccumulatorOp::Product) => {
                    values[a] = value.max(bound / most[a].max(1))
                }
                // The rest of a product divides what is left of it.
                (Sense::Equal, _) if is_product && value != 0 && bound % value != 0 => return None,
                _ => {}
            }
        }
        Some(())
    }

    /// Puts sums that are complete into their maxima, and parts that are complete into the cost.
    /// What cannot matter any more is the same in all labels, as for limits.
    fn fold(&self, at: usize, values: &mut [i64], least: &[i64], most: &[i64]) {
        let relaxation = self.relaxation;
        for (part, end) in relaxation.form.parts.iter().zip(&relaxation.ends) {
            if *end < at {
                continue;
            }
            let sums = part.sums.iter().map(|s| values[*s] + least[*s]);
            let greatest = sums.fold(values[part.max].max(least[part.max]), i64::max);
            values[part.max] = greatest;
            for s in &part.sums {
                values[*s] = match relaxation.last[*s] <= at {
                    true => greatest,
                    false => values[*s].max(greatest - most[*s]),
                };
            }
            if *end == at {
                values[0] += part.cost(values);
                for a in part.accumulators() {
                    values[a] = relaxation.form.accumulators[a].start;
                }
            }
        }
    }

    /// The labels that none of those that they were compared with beats in everything.
    fn front(&self, layer: &Layer) -> Vec<u32> {
        let all = self.ordered(layer);
        let mut front: Vec<u32> = Vec::with_capacity(all.len() / 4);
        for group in all.chunk_by(|x, y| self.comparable(layer, *x, *y)) {
            let first = layer.values(group[0], self.width);
            let differs = |a: &usize| {
                self.better[*a] != Better::Same
                    && group.iter().any(|l| layer.values(*l, self.width)[*a] != first[*a])
            };
            let differing: Vec<usize> = (1..self.width).filter(differs).collect();
            let begin = front.len();
            // What differs of the labels of the front, the less the better.
            let mut known = Vec::new();
            for label in group {
                let values = layer.values(*label, self.width);
                let sign = |a: &usize| if self.better[*a] == Better::More { -1 } else { 1 };
                let own = known.len();
                known.extend(differing.iter().map(|a| sign(a) * values[*a]));
                let (before, own) = known.split_at(own);
                let beaten = if own.is_empty() { front.len() > begin } else { beaten(before, own) };
                match beaten {
                    true => known.truncate(before.len()),
                    false => front.push(*label),
                }
            }
        }
        front
    }

    /// True if one label may beat another.
    fn comparable(&self, layer: &Layer, x: u32, y: u32) -> bool {
        let (a, b) = (layer.values(x, self.width), layer.values(y, self.width));
        let same = |i: &usize| self.better[*i] == Better::Same;
        layer.nodes[x as usize] == layer.nodes[y as usize]
            && (0..self.width).filter(same).all(|i| a[i] == b[i])
    }

    /// All labels, those that are comparable beside each other, of these the least cost first, then
    /// what is better in the sum of its accumulators.
    fn ordered(&self, layer: &Layer) -> Vec<u32> {
        let weight = |v: &[i64]| -> i64 {
            let signed =
                (1..self.width).map(|i| if self.better[i] == Better::More { -v[i] } else { v[i] });
            signed.fold(0, i64::saturating_add)
        };
        let key = |label: u32| {
            let values = layer.values(label, self.width);
            (layer.nodes[label as usize], values[0], weight(values), label)
        };
        let mut keys: Vec<(u32, i64, i64, u32)> = (0..layer.len() as u32).map(key).collect();
        let exact: Vec<usize> =
            (0..self.width).filter(|i| self.better[*i] == Better::Same).collect();
        let by_exact = |x: u32, y: u32| {
            let (a, b) = (layer.values(x, self.width), layer.values(y, self.width));
            exact.iter().map(|i| a[*i].cmp(&b[*i])).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        };
        match exact.is_empty() {
            true => keys.sort_unstable(),
            false => keys.sort_unstable_by(|x, y| {
                x.0.cmp(&y.0).then_with(|| by_exact(x.3, y.3)).then_with(|| x.cmp(y))
            }),
        }
        keys.into_iter().map(|(_, _, _, label)| label).collect()
    }

    /// The way back from a label of the end.
    fn assignment(&self, layers: &[Layer], end: usize) -> Vec<u32> {
        let mut assignment = vec![0; self.relaxation.form.sizes.len()];
        let mut label = end;
        for (at, stage) in self.relaxation.stages.iter().enumerate().rev() {
            assignment[stage.variable] = layers[at + 1].chosen[label];
            label = layers[at + 1].parents[label] as usize;
        }
        assignment
    }
}

/// Whether one of the labels before, as many numbers each as `own`, is nowhere greater than `own`.
fn beaten(before: &[i64], own: &[i64]) -> bool {
    match own.len() {
        // The latest have the most of what is expensive: with one dimension they decide.
        1 => before.last().is_some_and(|last| *last <= own[0]),
        2 => beaten_in::<2>(before, own),
        3 => beaten_in::<3>(before, own),
        4 => beaten_in::<4>(before, own),
        5 => beaten_in::<5>(before, own),
        6 => beaten_in::<6>(before, own),
        7 => beaten_in::<7>(before, own),
        8 => beaten_in::<8>(before, own),
        dimensions => {
            let beats = |other: &[i64]| other.iter().zip(own).all(|(a, b)| a <= b);
            before.chunks_exact(dimensions).take(MAX_COMPARED).any(beats)
        }
    }
}

/// The same in a number of dimensions that is known when this is compiled, without a branch for
/// each.
fn beaten_in<const N: usize>(before: &[i64], own: &[i64]) -> bool {
    let beats = |other: &[i64; N]| other.iter().zip(own).fold(true, |all, (a, b)| all & (a <= b));
    before.as_chunks::<N>().0.iter().take(MAX_COMPARED).any(beats)
}
