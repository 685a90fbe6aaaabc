//! Good assignments before any proof: coordinate descent with penalties.

use super::answer::Known;
use super::form::DirectForm;

/// Values of a variable that are tried at a time.
const MAX_VALUES: usize = 64;
/// Variables up to which pairs of them are tried.
const MAX_PAIRED: usize = 40;
/// What an assignment costs at least that a table forbids.
const FORBIDS: i64 = i64::MAX / 2;

/// What a unit beyond a limit costs.
const PENALTY: i64 = 1000;

/// The best assignment so far.
pub(super) struct Descent<'f> {
    form: &'f DirectForm,
    /// Its cost, and a value for every variable.
    pub best: Option<(i64, Vec<u32>)>,
}

impl<'f> Descent<'f> {
    /// Knows no assignment.
    pub fn new(form: &'f DirectForm) -> Descent<'f> {
        Descent { form, best: None }
    }

    /// What is known, given a lower bound.
    pub fn known(&self, lower: i64) -> Known<'_> {
        let best = self.best.as_ref().map(|(cost, a)| (a.as_slice(), *cost));
        Known { lower: best.map_or(lower, |(_, cost)| lower.min(cost)), best }
    }

    /// Takes an assignment if it is allowed, and better than the best.
    pub fn offer(&mut self, assignment: &[u32]) {
        let Some(cost) = self.form.cost(assignment) else { return };
        if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
            self.best = Some((cost, assignment.to_vec()));
        }
    }

    /// The cost with what goes beyond limits.
    fn penalized(&self, assignment: &[u32]) -> i64 {
        let Some(values) = self.form.values(assignment) else { return FORBIDS };
        let excess = self.form.limits.iter().map(|limit| limit.excess(values[limit.accumulator]));
        let excess = excess.fold(0, i64::saturating_add);
        let penalty = excess.min(FORBIDS / PENALTY / 4) * PENALTY;
        self.form.total(&values).saturating_add(penalty)
    }

    /// Descends from an assignment, and takes where it ends.
    pub fn from(&mut self, mut assignment: Vec<u32>) {
        let mut cost = self.penalized(&assignment);
        loop {
            let before = cost;
            for v in 0..assignment.len() {
                let size = self.form.sizes[v];
                let values = (0..size as u32).step_by(size.div_ceil(MAX_VALUES).max(1));
                for value in values {
                    self.attempt(&mut assignment, &mut cost, &[(v, value)]);
                }
                // The neighbours too, where not all values were tried.
                for value in [assignment[v].saturating_sub(1), assignment[v] + 1] {
                    if (value as usize) < size {
                        self.attempt(&mut assignment, &mut cost, &[(v, value)]);
                    }
                }
            }
            if assignment.len() <= MAX_PAIRED {
                self.pairs(&mut assignment, &mut cost);
            }
            if cost >= before {
                break;
            }
        }
        self.offer(&assignment);
    }

    /// Moves of two variables: they exchange their values, or one goes up and the other down.
    fn pairs(&self, assignment: &mut [u32], cost: &mut i64) {
        for v in 0..assignment.len() {
            for w in 0..assignment.len() {
                let (own, other) = (assignment[v], assignment[w]);
                if v < w && own != other && self.form.sizes[v] == self.form.sizes[w] {
                    self.attempt(assignment, cost, &[(v, other), (w, own)]);
                }
                let (own, other) = (assignment[v], assignment[w]);
                if v != w && (own as usize) + 1 < self.form.sizes[v] && other > 0 {
                    self.attempt(assignment, cost, &[(v, own + 1), (w, other - 1)]);
                }
            }
        }
    }

    /// Gives variables new values if that is better.
    fn attempt(&self, assignment: &mut [u32], cost: &mut i64, to: &[(usize, u32)]) {
        let before: Vec<u32> = to.iter().map(|(v, _)| assignment[*v]).collect();
        to.iter().for_each(|(v, value)| assignment[*v] = *value);
        let after = self.penalized(assignment);
        if after < *cost {
            *cost = after;
        } else {
            to.iter().zip(before).for_each(|((v, _), value)| assignment[*v] = value);
        }
    }
}
