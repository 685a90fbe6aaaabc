//! Prices of limits and parts, by subgradient steps.

use super::descend::Descent;
use super::form::{AccumulatorLimit, AccumulatorOp, CostPart, MAX_COST, Sense};
use super::relax::{NEVER, Relaxation, SCALE};

/// Most steps.
const MAX_STEPS: usize = 300;
/// Steps without a better bound after which they become shorter.
const PATIENCE: usize = 8;
/// A descent begins at the relaxation's assignment once in this many steps.
const DESCEND: usize = 25;

/// The prices as real numbers, in units of the cost.
#[derive(Clone)]
struct Prices {
    /// Of each accumulator; those without a price have 0.
    of: Vec<f64>,
    /// What prices of a part's sums add up to at most.
    whole: Vec<f64>,
}

impl Prices {
    /// None for limits; each part divided equally among its sums and its maximum.
    fn new(relaxation: &Relaxation<'_>) -> Prices {
        let form = relaxation.form;
        let mut prices = Prices { of: vec![0.0; form.accumulators.len()], whole: Vec::new() };
        for part in &form.parts {
            let factor = part.product.map_or(1, |p| {
                AccumulatorOp::Product.with(form.accumulators[p].start, relaxation.least[0][p])
            });
            let whole = part.price as f64 * factor as f64;
            // Without a start the maximum is one of the sums.
            let others =
                usize::from(form.accumulators[part.max].start >= 0 && part.sums.len() == 1);
            let each = whole / (part.sums.len() + others).max(1) as f64;
            part.sums.iter().for_each(|s| prices.of[*s] = each);
            prices.whole.push(whole);
        }
        prices
    }

    /// Sets the prices of a relaxation, rounded to what is sound.
    fn set(&self, relaxation: &mut Relaxation<'_>, widths: &[i64]) {
        let form = relaxation.form;
        // The steps keep the signs.
        for AccumulatorLimit { accumulator: a, .. } in &form.limits {
            if form.accumulators[*a].operation == AccumulatorOp::Sum {
                let price = (self.of[*a] * SCALE as f64).round() as i64;
                relaxation.prices[*a] = price.clamp(-widths[*a], widths[*a]);
            }
        }
        for (part, whole) in form.parts.iter().zip(&self.whole) {
            let mut left = *whole as i64 * SCALE;
            for s in &part.sums {
                let price = ((self.of[*s] * SCALE as f64) as i64).clamp(0, left);
                left -= price;
                relaxation.prices[*s] = price;
            }
        }
        relaxation.update();
    }

    /// A step along the subgradient at an assignment's values; false if there is none.
    fn step(&mut self, relaxation: &Relaxation<'_>, values: &[i64], length: f64) -> bool {
        let form = relaxation.form;
        let mut gradient = vec![0.0; self.of.len()];
        for AccumulatorLimit { accumulator: a, bound, .. } in &form.limits {
            if form.accumulators[*a].operation == AccumulatorOp::Sum {
                gradient[*a] = (values[*a] - bound) as f64;
            }
        }
        for part in &form.parts {
            part.sums.iter().for_each(|s| gradient[*s] = self.slope(part, *s, values));
        }
        let norm: f64 = gradient.iter().map(|g| g * g).sum();
        if norm < 1e-9 {
            return false;
        }
        self.of.iter_mut().zip(&gradient).for_each(|(p, g)| *p += length * g / norm);
        for AccumulatorLimit { accumulator: a, sense, .. } in &form.limits {
            match sense {
                Sense::AtMost => self.of[*a] = self.of[*a].max(0.0),
                Sense::AtLeast => self.of[*a] = self.of[*a].min(0.0),
                Sense::Equal => {}
            }
        }
        for (part, whole) in form.parts.iter().zip(self.whole.clone()) {
            self.fit(part, whole);
        }
        true
    }

    /// How the bound of a part changes with the price of one of its sums.
    fn slope(&self, part: &CostPart, s: usize, values: &[i64]) -> f64 {
        let mean = match part.sums.len() {
            1 => values[part.max] as f64,
            n => part.sums.iter().map(|s| values[*s] as f64).sum::<f64>() / n as f64,
        };
        values[s] as f64 - mean
    }

    /// Makes the prices of a part's sums add up to what they may: several share all of it, as the
    /// maximum is one of them; a single one may leave some to the maximum beside it.
    fn fit(&mut self, part: &CostPart, whole: f64) {
        part.sums.iter().for_each(|s| self.of[*s] = self.of[*s].max(0.0));
        let sum: f64 = part.sums.iter().map(|s| self.of[*s]).sum();
        if sum > whole || part.sums.len() > 1 {
            part.sums.iter().for_each(|s| self.of[*s] *= whole / sum.max(1e-12));
        }
    }
}

/// The greatest price of each accumulator with which all bounds fit into 63 bits.
fn widths(relaxation: &Relaxation<'_>) -> Vec<i64> {
    let form = relaxation.form;
    let reach = |n: i64| n.abs().min(MAX_COST);
    let width = |a: usize| {
        let bound = form.limits.iter().find(|l| l.accumulator == a).map_or(0, |l| reach(l.bound));
        let tables = reach(relaxation.least[0][a]).max(reach(relaxation.most[0][a]));
        let all = tables + reach(form.accumulators[a].start) + bound + 1;
        (1i64 << 58) / all / form.accumulators.len() as i64
    };
    (0..form.accumulators.len()).map(width).collect()
}

/// Finds prices, and offers what the relaxation takes to a descent. The relaxation keeps the prices
/// with the greatest bound.
pub(super) fn find(
    relaxation: &mut Relaxation<'_>,
    descent: &mut Descent<'_>,
    stop: &dyn Fn() -> bool,
) {
    let widths = widths(relaxation);
    let mut prices = Prices::new(relaxation);
    let (mut top, mut best) = (i64::MIN, prices.clone());
    let (mut stalled, mut stretch) = (0, 1.0f64);
    for step in 0..MAX_STEPS {
        prices.set(relaxation, &widths);
        let (bound, Some(cheapest)) = (relaxation.root(), relaxation.cheapest()) else {
            // No path at all: nothing is allowed, at any price.
            return;
        };
        let mut at = prices.clone();
        if bound > top {
            (top, best, stalled) = (bound, prices.clone(), 0);
        } else {
            stalled += 1;
            if stalled > PATIENCE {
                (stretch, stalled, at) = (stretch * 0.7, 0, best.clone());
            }
        }
        descent.offer(&cheapest);
        if step % DESCEND == 0 {
            descent.from(cheapest.clone());
        }
        let known = descent.best.as_ref().map_or(NEVER / SCALE, |(cost, _)| *cost);
        if top > SCALE * (known - 1) || stop() {
            break;
        }
        let Some(values) = relaxation.form.values(&cheapest) else { break };
        let bound = bound as f64 / SCALE as f64;
        // Polyak's step: to where the bound would be what is known to be possible.
        let aim = if descent.best.is_some() { known as f64 } else { bound.abs() * 1.05 + 10.0 };
        if !at.step(relaxation, &values, stretch * (aim - bound).max(0.5)) {
            break;
        }
        prices = at;
    }
    best.set(relaxation, &widths);
}
