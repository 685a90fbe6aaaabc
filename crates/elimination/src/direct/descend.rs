//! Good assignments before any proof: coordinate descent with penalties.

use super::answer::Known;
use super::form::{AccumulatorOp, DirectForm, FORBIDDEN};

/// Values of a variable that are tried at a time.
const MAX_VALUES: usize = 64;
/// Variables up to which pairs of them are tried.
const MAX_PAIRED: usize = 40;
/// What an assignment costs at least that a table forbids.
const FORBIDS: i64 = i64::MAX / 2;

/// What a unit beyond a limit costs.
const PENALTY: i64 = 1000;

/// An assignment with the values of its accumulators, which follow from move to move.
struct Position<'d> {
    descent: &'d Descent<'d>,
    assignment: Vec<u32>,
    /// The entry of each table.
    entries: Vec<i64>,
    /// How many of these are forbidden.
    forbidden: usize,
    /// The values of the accumulators, without forbidden entries.
    values: Vec<i64>,
}

impl<'d> Position<'d> {
    fn new(descent: &'d Descent<'d>, assignment: Vec<u32>) -> Position<'d> {
        let form = descent.form;
        let entries: Vec<i64> = form.tables.iter().map(|t| form.entry(t, &assignment)).collect();
        let forbidden = entries.iter().filter(|entry| **entry == FORBIDDEN).count();
        let mut new = Position { descent, assignment, entries, forbidden, values: Vec::new() };
        new.values = (0..form.accumulators.len()).map(|a| new.accumulated(a)).collect();
        new
    }

    /// The value of an accumulator from its tables.
    fn accumulated(&self, accumulator: usize) -> i64 {
        let of = &self.descent.form.accumulators[accumulator];
        let entries = self.descent.of_accumulator[accumulator].iter().map(|t| self.entries[*t]);
        let allowed = entries.filter(|entry| *entry != FORBIDDEN);
        allowed.fold(of.start, |value, entry| of.operation.with(value, entry))
    }

    /// Gives a variable a value.
    fn put(&mut self, variable: usize, value: u32) {
        let Descent { form, of_variable, .. } = self.descent;
        self.assignment[variable] = value;
        let allowed = |entry: i64| if entry == FORBIDDEN { 0 } else { entry };
        for t in &of_variable[variable] {
            let table = &form.tables[*t];
            let new = form.entry(table, &self.assignment);
            let old = std::mem::replace(&mut self.entries[*t], new);
            self.forbidden += usize::from(new == FORBIDDEN);
            self.forbidden -= usize::from(old == FORBIDDEN);
            match form.accumulators[table.accumulator].operation {
                AccumulatorOp::Sum => self.values[table.accumulator] += allowed(new) - allowed(old),
                _ => self.values[table.accumulator] = self.accumulated(table.accumulator),
            }
        }
    }

    /// The cost with what goes beyond limits.
    fn penalized(&self) -> i64 {
        if self.forbidden > 0 {
            return FORBIDS;
        }
        let form = self.descent.form;
        let excess = form.limits.iter().map(|limit| limit.excess(self.values[limit.accumulator]));
        let excess = excess.fold(0, i64::saturating_add);
        let penalty = excess.min(FORBIDS / PENALTY / 4) * PENALTY;
        form.total(&self.values).saturating_add(penalty)
    }

    /// Moves of two variables: they exchange their values, or one goes up and the other down.
    fn pairs(&mut self, cost: &mut i64) {
        let sizes = &self.descent.form.sizes;
        for v in 0..sizes.len() {
            for w in 0..sizes.len() {
                let (own, other) = (self.assignment[v], self.assignment[w]);
                if v < w && own != other && sizes[v] == sizes[w] {
                    self.attempt(cost, &[(v, other), (w, own)]);
                }
                let (own, other) = (self.assignment[v], self.assignment[w]);
                if v != w && (own as usize) + 1 < sizes[v] && other > 0 {
                    self.attempt(cost, &[(v, own + 1), (w, other - 1)]);
                }
            }
        }
    }

    /// Gives variables new values if that is better.
    fn attempt(&mut self, cost: &mut i64, to: &[(usize, u32)]) {
        let before: Vec<(usize, u32)> = to.iter().map(|(v, _)| (*v, self.assignment[*v])).collect();
        to.iter().for_each(|(v, value)| self.put(*v, *value));
        let after = self.penalized();
        if after < *cost {
            *cost = after;
        } else {
            before.iter().for_each(|(v, value)| self.put(*v, *value));
        }
    }
}

/// The best assignment so far.
pub(super) struct Descent<'f> {
    form: &'f DirectForm,
    /// The tables of each variable, and those of each accumulator.
    of_variable: Vec<Vec<usize>>,
    of_accumulator: Vec<Vec<usize>>,
    /// Its cost, and a value for every variable.
    pub best: Option<(i64, Vec<u32>)>,
}

impl<'f> Descent<'f> {
    /// Knows no assignment.
    pub fn new(form: &'f DirectForm) -> Descent<'f> {
        let mut of_variable = vec![Vec::new(); form.sizes.len()];
        let mut of_accumulator = vec![Vec::new(); form.accumulators.len()];
        for (number, table) in form.tables.iter().enumerate() {
            table.variables.iter().for_each(|v| of_variable[*v].push(number));
            of_accumulator[table.accumulator].push(number);
        }
        Descent { form, of_variable, of_accumulator, best: None }
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

    /// Descends from an assignment, and takes where it ends.
    pub fn from(&mut self, assignment: Vec<u32>) {
        let mut at = Position::new(self, assignment);
        let mut cost = at.penalized();
        loop {
            let before = cost;
            for v in 0..at.assignment.len() {
                let size = self.form.sizes[v];
                let values = (0..size as u32).step_by(size.div_ceil(MAX_VALUES).max(1));
                for value in values {
                    at.attempt(&mut cost, &[(v, value)]);
                }
                // The neighbours too, where not all values were tried.
                for value in [at.assignment[v].saturating_sub(1), at.assignment[v] + 1] {
                    if (value as usize) < size {
                        at.attempt(&mut cost, &[(v, value)]);
                    }
                }
            }
            if at.assignment.len() <= MAX_PAIRED {
                at.pairs(&mut cost);
            }
            if cost >= before {
                break;
            }
        }
        let end = at.assignment;
        self.offer(&end);
    }
}
