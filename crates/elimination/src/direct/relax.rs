//! Lower bounds along a path: limits and parts with prices.
//!
//! A limit `a <= b` with a price `p >= 0` adds `p (a - b)`, which is at most 0 where the limit
//! holds.
//! A part `price * P * max(m, s1, ...)` is at least `q1 s1 + q2 s2 + ... + (w - q1 - q2 - ...) M`
//! for prices `q >= 0` whose sum is at most `w`, where `w` is a lower bound of `price * P`, and `M`
//! one of the maximum. Both are sums of tables, so the least of everything is found node by node
//! from the last one back. All bounds are in units of a 1024th of the cost.

use super::form::{AccumulatorOp, DirectForm};
use super::path::{Arc, Stage};

/// Units of a bound in a unit of the cost.
pub(super) const SCALE: i64 = 1 << 10;
/// A bound of what is impossible.
pub(super) const NEVER: i64 = i64::MAX / 4;

/// The least cost that a bound allows.
pub(super) fn whole_cost(bound: i64) -> i64 {
    bound.div_euclid(SCALE) + i64::from(bound.rem_euclid(SCALE) > 0)
}

/// A layered graph with prices.
pub(super) struct Relaxation<'f> {
    pub form: &'f DirectForm,
    pub stages: Vec<Stage>,
    /// For each accumulator the last place where something goes into it.
    pub last: Vec<usize>,
    /// For each part the last place of one of its accumulators.
    pub ends: Vec<usize>,
    /// For each place, and then for the end, what is still to come for each accumulator at least
    /// and at most.
    pub least: Vec<Vec<i64>>,
    pub most: Vec<Vec<i64>>,
    /// Prices of the accumulators in units of a bound; that of the cost itself is [`SCALE`].
    pub prices: Vec<i64>,
    /// For each place and node the least priced sum from there to the end.
    pub to_go: Vec<Vec<i64>>,
}

impl<'f> Relaxation<'f> {
    /// With prices of 0.
    pub fn new(form: &'f DirectForm, stages: Vec<Stage>) -> Relaxation<'f> {
        let mut last = vec![0; form.accumulators.len()];
        for (at, stage) in stages.iter().enumerate() {
            for arc in &stage.arcs {
                stage.gains(arc).iter().for_each(|(a, _)| last[*a] = at);
            }
        }
        let end = |a: Vec<usize>| a.into_iter().map(|a| last[a]).max().unwrap_or_default();
        let ends = form.parts.iter().map(|part| end(part.accumulators().collect())).collect();
        let mut prices = vec![0; form.accumulators.len()];
        prices[0] = SCALE;
        let (least, most, to_go) = (Vec::new(), Vec::new(), Vec::new());
        let mut new = Relaxation { form, stages, last, ends, least, most, prices, to_go };
        new.update();
        new
    }

    /// Computes what is still to come, after prices or arcs have changed.
    pub fn update(&mut self) {
        let neutral: Vec<i64> =
            self.form.accumulators.iter().map(|a| a.operation.neutral()).collect();
        (self.least, self.most) = (vec![neutral.clone()], vec![neutral]);
        self.to_go = vec![vec![0]];
        for at in (0..self.stages.len()).rev() {
            let (low, high) = self.remaining(at);
            self.least.push(low);
            self.most.push(high);
            self.to_go.push(self.before(at));
        }
        self.least.reverse();
        self.most.reverse();
        self.to_go.reverse();
    }

    /// What is to come for each accumulator from a place on, given it from the next place on.
    fn remaining(&self, at: usize) -> (Vec<i64>, Vec<i64>) {
        let (stage, all) = (&self.stages[at], &self.form.accumulators);
        let mut range = vec![(i64::MAX, i64::MIN, 0usize); all.len()];
        for arc in &stage.arcs {
            for (a, more) in stage.gains(arc) {
                let (low, high, seen) = &mut range[*a];
                (*low, *high, *seen) = ((*low).min(*more), (*high).max(*more), *seen + 1);
            }
        }
        let next = |all: &[Vec<i64>]| all[all.len() - 1].clone();
        let (mut lows, mut highs) = (next(&self.least), next(&self.most));
        for (a, (mut low, mut high, seen)) in range.into_iter().enumerate() {
            if seen < stage.arcs.len() {
                let neutral = all[a].operation.neutral();
                (low, high) = (low.min(neutral), high.max(neutral));
            }
            if seen > 0 {
                lows[a] = all[a].operation.with(lows[a], low);
                highs[a] = all[a].operation.with(highs[a], high);
            }
        }
        (lows, highs)
    }

    /// What an arc adds to the priced sum.
    pub fn priced(&self, stage: &Stage, arc: &Arc) -> i64 {
        stage.gains(arc).iter().map(|(a, more)| self.prices[*a] * more).sum()
    }

    fn before(&self, at: usize) -> Vec<i64> {
        let (stage, next) = (&self.stages[at], &self.to_go[self.to_go.len() - 1]);
        let mut here = vec![NEVER; stage.nodes];
        for arc in &stage.arcs {
            let rest = next[arc.to as usize];
            if rest < NEVER {
                let from = &mut here[arc.from as usize];
                *from = (*from).min(rest + self.priced(stage, arc));
            }
        }
        here
    }

    /// The values of accumulators before anything goes into them.
    pub fn start(&self) -> Vec<i64> {
        self.form.accumulators.iter().map(|a| a.start).collect()
    }

    /// What no path undercuts that has reached a node of place `at` with these values of
    /// accumulators. What is complete by then is in the cost, `values[0]`.
    pub fn bound(&self, at: usize, node: usize, values: &[i64]) -> i64 {
        let to_go = self.to_go[at][node];
        if to_go >= NEVER {
            return NEVER;
        }
        let mut bound = SCALE * values[0] + to_go;
        for limit in &self.form.limits {
            if self.last[limit.accumulator] >= at {
                let a = limit.accumulator;
                bound += self.prices[a] * (values[a] - limit.bound);
            }
        }
        for (part, end) in self.form.parts.iter().zip(&self.ends) {
            if *end < at {
                continue;
            }
            let mut greatest = values[part.max].max(self.least[at][part.max]);
            let factor = part
                .product
                .map_or(1, |p| AccumulatorOp::Product.with(values[p], self.least[at][p]));
            let mut rest = SCALE * part.price * factor;
            for s in part.sums.iter().filter(|s| self.last[**s] >= at) {
                greatest = greatest.max(values[*s] + self.least[at][*s]);
                bound += self.prices[*s] * values[*s];
                rest -= self.prices[*s];
            }
            bound += rest * greatest;
        }
        bound
    }

    /// What no path undercuts at all.
    pub fn root(&self) -> i64 {
        self.bound(0, 0, &self.start())
    }

    /// The assignment with the least priced sum; `None` if no path is left.
    pub fn cheapest(&self) -> Option<Vec<u32>> {
        let mut assignment = vec![0; self.form.sizes.len()];
        let mut node = 0u32;
        for (at, stage) in self.stages.iter().enumerate() {
            let begin = stage.arcs.partition_point(|arc| arc.from < node);
            let own = stage.arcs[begin..].iter().take_while(|arc| arc.from == node);
            let rest = |arc: &&Arc| {
                let rest = self.to_go[at + 1][arc.to as usize];
                if rest >= NEVER { NEVER } else { rest + self.priced(stage, arc) }
            };
            let best = own.min_by_key(rest).filter(|arc| rest(arc) < NEVER)?;
            assignment[stage.variable] = best.value;
            node = best.to;
        }
        Some(assignment)
    }

    /// Removes the arcs that no path has that costs less than `best`.
    pub fn remove(&mut self, best: i64) {
        let most = SCALE * (best - 1);
        // With no path left, no sum is at most this.
        let aside = self.root().saturating_sub(self.to_go[0][0]);
        let mut so_far = vec![0i64];
        let mut stages = std::mem::take(&mut self.stages);
        for (at, stage) in stages.iter_mut().enumerate() {
            let next = &self.to_go[at + 1];
            let mut after = vec![NEVER; next.len()];
            let all = std::mem::take(&mut stage.arcs);
            for arc in all {
                let (from, rest) = (so_far[arc.from as usize], next[arc.to as usize]);
                if from >= NEVER || rest >= NEVER {
                    continue;
                }
                let sum = from + self.priced(stage, &arc);
                if sum + rest + aside <= most {
                    let to = &mut after[arc.to as usize];
                    *to = (*to).min(sum);
                    stage.arcs.push(arc);
                }
            }
            so_far = after;
        }
        self.stages = stages;
        self.update();
    }
}
