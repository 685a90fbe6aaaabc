//! The proof by prices and labels: its form in a file, and its checker.
//!
//! It is for what parameters share: a budget, a maximum, a product. The time is a
//! [`DirectForm`], tables over few parameters and accumulators, taken apart anew from the
//! obligation. The proof has the parameters in a sequence, a price for each accumulator, and after
//! each parameter some *labels*: values of the parameters that later tables mention, with values of
//! the accumulators. It claims that every partial configuration that may still become one faster
//! than claimed is covered by a label: one with the same values of these parameters, and
//! accumulators that are no worse. After the last parameter there is none, so nothing is faster.
//!
//! The checker takes each label one parameter further, with each of its values. What comes out must
//! break a limit with any completion, or have a lower bound that is not below the time claimed, or
//! be covered. The bounds are those of the prices (docs/certificates.md), computed here by
//! elimination along the sequence. By induction every faster configuration has a label at the end.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tickbound_elimination::direct::{
    Accumulator, AccumulatorLimit, AccumulatorOp, CostPart, DirectForm, FORBIDDEN, FormTable, Sense,
};
use tickbound_timing::obligation::Obligation;

use crate::refusal::Refusal;

/// Prices are in units of this part of a tick.
const SCALE: i128 = 1 << 10;
/// Products from this on are not distinguished; the bounds of a form are less.
const MAX_PRODUCT: i128 = 1 << 48;
/// Most labels after a parameter: a file of some megabytes.
const MAX_LABELS: usize = 1 << 15;
/// Most combinations that are examined for the bounds.
const MAX_STEPS: usize = 1 << 24;
/// How many labels pass between two looks at whether to stop.
const PATIENCE: usize = 1 << 8;

/// A proof that no configuration takes fewer ticks than claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelProof {
    /// All parameters.
    pub order: Vec<String>,
    /// The price of each accumulator in 1024ths of a tick.
    pub prices: Vec<i64>,
    /// After each parameter the labels: the values of those that later tables mention, in this
    /// order, and the values of the accumulators.
    pub labels: Vec<Vec<(Vec<i64>, Vec<i64>)>>,
}

/// What was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckedLabels {
    /// Labels.
    pub labels: usize,
    /// Successors of labels.
    pub successors: u64,
}

/// A proof that nothing takes fewer than `time` ticks.
///
/// # Errors
/// The time has no direct form with shared accumulators, or there are too many labels.
pub fn prove(
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<LabelProof, Refusal> {
    let form = form(obligation)?;
    let proof = form.proof(time, MAX_LABELS, stop).ok_or(match stop() {
        true => Refusal::Stopped,
        false => Refusal::TooLarge("too many labels"),
    })?;
    let value = |(p, index): (&usize, &u32)| obligation.values[*p][*index as usize];
    let labels = proof.labels.iter().enumerate().map(|(at, labels)| {
        let live = live(&form, &proof.order, at + 1);
        let values = |indices: &[u32]| live.iter().zip(indices).map(value).collect();
        labels.iter().map(|(indices, own)| (values(indices), own.clone())).collect()
    });
    Ok(LabelProof {
        order: proof.order.iter().map(|p| obligation.problem.parameters[*p].name.clone()).collect(),
        labels: labels.collect(),
        prices: proof.prices,
    })
}

fn form(obligation: &Obligation<'_>) -> Result<DirectForm, Refusal> {
    let form = obligation.direct_form().filter(|form| !form.is_plain());
    form.ok_or(Refusal::TooLarge("the time is no sum of tables and of what parameters share"))
}

/// The variables before a place of the sequence that a table joins with one from there on.
fn live(form: &DirectForm, order: &[usize], at: usize) -> Vec<usize> {
    let (before, after) = order.split_at(at);
    let joins = |v: &&usize| {
        let mut of_v = form.tables.iter().filter(|t| t.variables.contains(v));
        of_v.any(|t| t.variables.iter().any(|w| after.contains(w)))
    };
    before.iter().filter(joins).copied().collect()
}

/// Checks that a proof proves: no valid configuration takes fewer than `time` ticks.
///
/// # Errors
/// What does not follow, or a stop.
pub fn check(
    obligation: &Obligation<'_>,
    proof: &LabelProof,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<CheckedLabels, Refusal> {
    let form = form(obligation)?;
    let checker = Checker::new(obligation, &form, proof, time)?;
    let mut before: Vec<(Vec<u32>, Vec<i128>)> = vec![(Vec::new(), checker.start())];
    let mut checked = CheckedLabels::default();
    for at in 0..checker.places.len() {
        let after = checker.read(at, &proof.labels[at])?;
        for (number, (node, values)) in before.iter().enumerate() {
            if number % PATIENCE == 0 && stop() {
                return Err(Refusal::Stopped);
            }
            checked.successors += checker.succeed(at, node, values, &after)?;
        }
        checked.labels += proof.labels[at].len();
        before = after
            .into_iter()
            .flat_map(|(n, all)| all.into_iter().map(move |v| (n.clone(), v)))
            .collect();
    }
    match before.len() {
        0 => Ok(checked),
        n => Err(Refusal::wrong(format!("labels: {n} are left after the last parameter"))),
    }
}

/// Labels by the values of live variables.
type Labels = HashMap<Vec<u32>, Vec<Vec<i128>>>;

/// A place of the sequence.
struct Place<'f> {
    variable: usize,
    /// The live variables before its own is decided.
    live: Vec<usize>,
    /// The tables that are complete with it.
    tables: Vec<&'f FormTable>,
    /// What comes after it for each accumulator, at least and at most.
    after: Vec<Range>,
    /// The least priced sum after it, by the values of the variables that are live then.
    to_go: HashMap<Vec<u32>, i128>,
}

struct Checker<'c, 'f> {
    obligation: &'c Obligation<'c>,
    form: &'f DirectForm,
    prices: Vec<i128>,
    /// The greatest bound that is below the time.
    most: i128,
    places: Vec<Place<'f>>,
    /// For each accumulator the last place of one of its tables.
    last: Vec<usize>,
}

/// What is added to an accumulator at least and at most.
type Range = (i128, i128);

/// What changes no accumulator of a kind.
fn neutral(operation: AccumulatorOp) -> Range {
    match operation {
        AccumulatorOp::Sum => (0, 0),
        AccumulatorOp::Product => (1, 1),
        AccumulatorOp::Max => (i64::MIN.into(), i64::MIN.into()),
    }
}

/// What an accumulator has after one more number. Products beyond any bound are as good as equal.
fn with(operation: AccumulatorOp, value: i128, more: i128) -> i128 {
    match operation {
        AccumulatorOp::Sum => value + more,
        AccumulatorOp::Product => (value * more).min(MAX_PRODUCT),
        AccumulatorOp::Max => value.max(more),
    }
}

impl<'c, 'f> Checker<'c, 'f> {
    fn new(
        obligation: &'c Obligation<'c>,
        form: &'f DirectForm,
        proof: &LabelProof,
        time: i64,
    ) -> Result<Checker<'c, 'f>, Refusal> {
        let order = order(obligation, proof)?;
        let [n, prices, labels] = [order.len(), proof.prices.len(), proof.labels.len()];
        if prices != form.accumulators.len() || labels != n {
            let what = format!("{prices} prices and {labels} lists of labels");
            return Err(Refusal::wrong(format!("labels: {what} for {n} parameters")));
        }
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(at, v)| place[*v] = at);
        let end = |t: &FormTable| t.variables.iter().map(|v| place[*v]).max().unwrap_or_default();
        let mut last = vec![0; form.accumulators.len()];
        form.tables.iter().for_each(|t| last[t.accumulator] = last[t.accumulator].max(end(t)));
        let places = order.iter().enumerate().map(|(at, v)| Place {
            variable: *v,
            live: live(form, &order, at),
            tables: form.tables.iter().filter(|t| end(t) == at).collect(),
            after: Vec::new(),
            to_go: HashMap::new(),
        });
        let (places, most) = (places.collect(), SCALE * (i128::from(time) - 1));
        let prices = proof.prices.iter().map(|p| i128::from(*p)).collect();
        let mut checker = Checker { obligation, form, prices, most, places, last };
        checker.are_sound()?;
        checker.eliminate()?;
        Ok(checker)
    }

    fn start(&self) -> Vec<i128> {
        self.form.accumulators.iter().map(|a| a.start.into()).collect()
    }

    /// What an accumulator has at least after all tables.
    fn least(&self, a: usize) -> i128 {
        let Accumulator { operation, start } = self.form.accumulators[a];
        let tables = self.form.tables.iter().filter(|t| t.accumulator == a);
        let low = |t: &FormTable| t.entries.iter().filter(|e| **e != FORBIDDEN).min().copied();
        tables.fold(start.into(), |sum, t| with(operation, sum, low(t).unwrap_or(0).into()))
    }

    /// That each price is one for which the bound is one.
    fn are_sound(&self) -> Result<(), Refusal> {
        let (form, mut priced) = (self.form, vec![0]);
        let mut wrong = self.prices[0] != SCALE;
        for AccumulatorLimit { accumulator: a, sense, .. } in &form.limits {
            wrong |= match sense {
                Sense::AtMost => self.prices[*a] < 0,
                Sense::AtLeast => self.prices[*a] > 0,
                Sense::Equal => false,
            };
            priced.extend((form.accumulators[*a].operation == AccumulatorOp::Sum).then_some(*a));
        }
        for part in &form.parts {
            let sum: i128 = part.sums.iter().map(|s| self.prices[*s]).sum();
            wrong |= part.sums.iter().any(|s| self.prices[*s] < 0);
            let factor = part.product.map_or(1, |p| self.least(p));
            wrong |= sum > SCALE * i128::from(part.price) * factor;
            priced.extend(&part.sums);
        }
        wrong |= (0..self.prices.len()).any(|a| self.prices[a] != 0 && !priced.contains(&a));
        match wrong {
            true => Err(Refusal::wrong("labels: a price that gives no bound")),
            false => Ok(()),
        }
    }

    /// Finds what comes after each place, from the last one back: the least priced sums, and what
    /// is added to each accumulator at least and at most.
    fn eliminate(&mut self) -> Result<(), Refusal> {
        let (form, mut steps) = (self.form, 0usize);
        let mut next: HashMap<Vec<u32>, i128> = [(Vec::new(), 0)].into();
        let mut after: Vec<Range> =
            form.accumulators.iter().map(|a| neutral(a.operation)).collect();
        for at in (0..self.places.len()).rev() {
            let (mut here, mut own) = (HashMap::new(), vec![None; after.len()]);
            let place = &self.places[at];
            let values = 0..form.sizes[place.variable] as u32;
            for node in self.nodes(&place.live) {
                steps += values.len();
                if steps > MAX_STEPS {
                    return Err(Refusal::TooLarge("too many values that later tables mention"));
                }
                for value in values.clone() {
                    let Some((to, added)) = self.step(at, &node, value) else { continue };
                    let priced = (0..added.len()).map(|a| self.prices[a] * added[a].unwrap_or(0));
                    let Some(rest) = next.get(&to) else { continue };
                    let sum = rest + priced.sum::<i128>();
                    let least = here.entry(node.clone()).or_insert(sum);
                    *least = sum.min(*least);
                    for (a, added) in added.into_iter().enumerate() {
                        let added = added.unwrap_or(neutral(form.accumulators[a].operation).0);
                        let (low, high) = own[a].unwrap_or((added, added));
                        own[a] = Some((added.min(low), added.max(high)));
                    }
                }
            }
            self.places[at].to_go = std::mem::replace(&mut next, here);
            self.places[at].after.clone_from(&after);
            for (a, own) in own.into_iter().enumerate().filter_map(|(a, own)| Some((a, own?))) {
                let operation = form.accumulators[a].operation;
                after[a] = (with(operation, after[a].0, own.0), with(operation, after[a].1, own.1));
            }
        }
        Ok(())
    }

    /// All values of some variables.
    fn nodes(&self, live: &[usize]) -> Vec<Vec<u32>> {
        live.iter().fold(vec![Vec::new()], |all, v| {
            let more = |node: &Vec<u32>| {
                let value = |value| [node.as_slice(), &[value]].concat();
                (0..self.form.sizes[*v] as u32).map(value).collect::<Vec<_>>()
            };
            all.iter().flat_map(more).collect()
        })
    }

    /// The values of the variables that are live after a place, and what tables that are complete
    /// add to each accumulator; `None` if one forbids it.
    fn step(&self, at: usize, node: &[u32], value: u32) -> Option<(Vec<u32>, Vec<Option<i128>>)> {
        let place = &self.places[at];
        let of = |v: &usize| match place.live.iter().position(|w| w == v) {
            Some(i) => node[i],
            None => value,
        };
        let mut added = vec![None; self.prices.len()];
        for table in &place.tables {
            let next = |i, v: &usize| i * self.form.sizes[*v] + of(v) as usize;
            let entry = table.entries[table.variables.iter().fold(0, next)];
            if entry == FORBIDDEN {
                return None;
            }
            let operation = self.form.accumulators[table.accumulator].operation;
            let known: &mut Option<i128> = &mut added[table.accumulator];
            *known = Some(known.map_or(entry.into(), |k| with(operation, k, entry.into())));
        }
        let live: &[usize] = self.places.get(at + 1).map_or(&[], |next| &next.live);
        Some((live.iter().map(of).collect(), added))
    }

    /// Checks what comes of a label with each value of a place's variable; how many.
    fn succeed(
        &self,
        at: usize,
        node: &[u32],
        values: &[i128],
        after: &Labels,
    ) -> Result<u64, Refusal> {
        let place = &self.places[at];
        let size = self.form.sizes[place.variable] as u32;
        for value in 0..size {
            let Some((to, added)) = self.step(at, node, value) else { continue };
            let mut values = values.to_vec();
            for (a, more) in added.into_iter().enumerate() {
                let operation = self.form.accumulators[a].operation;
                values[a] = more.map_or(values[a], |more| with(operation, values[a], more));
            }
            if !self.settle(at, &mut values) || self.bound(at, &to, &values) > self.most {
                continue;
            }
            let covers = |label: &Vec<i128>| self.is_no_worse(label, &values);
            if !after.get(&to).is_some_and(|labels| labels.iter().any(covers)) {
                let parameter = &self.obligation.problem.parameters[place.variable].name;
                let own = self.obligation.values[place.variable][value as usize];
                let what = format!("labels: none covers what follows with {parameter}={own}");
                return Err(Refusal::wrong(what));
            }
        }
        Ok(size.into())
    }

    /// Puts what is complete where it counts, and what can no longer matter at its worst harmless
    /// value. False if a limit is broken with any completion.
    fn settle(&self, at: usize, values: &mut [i128]) -> bool {
        let (form, after) = (self.form, &self.places[at].after);
        for limit in form.limits.iter().filter(|l| self.last[l.accumulator] >= at) {
            let (a, bound) = (limit.accumulator, i128::from(limit.bound));
            let Accumulator { operation, start } = form.accumulators[a];
            let low = with(operation, values[a], after[a].0);
            let high = with(operation, values[a], after[a].1);
            let is_sum = operation == AccumulatorOp::Sum;
            let may = match limit.sense {
                Sense::AtMost => low <= bound,
                Sense::AtLeast => high >= bound,
                // The rest of a product divides what is left of it.
                Sense::Equal => {
                    let divides = is_sum || values[a] == 0 || bound % values[a] == 0;
                    low <= bound && high >= bound && divides
                }
            };
            if !may {
                return false;
            }
            values[a] = match limit.sense {
                _ if self.last[a] == at => start.into(),
                Sense::AtMost if is_sum => values[a].max(bound - after[a].1),
                Sense::AtLeast if is_sum => values[a].min(bound - after[a].0),
                Sense::AtMost => values[a].max(bound / after[a].1.max(1)),
                _ => values[a],
            };
        }
        for part in &form.parts {
            self.fold(at, part, values);
        }
        true
    }

    fn end(&self, part: &CostPart) -> usize {
        part.accumulators().map(|a| self.last[a]).max().unwrap_or_default()
    }

    /// The same for a part: its maximum is at least each of its sums, and a sum that stays below
    /// does not matter.
    fn fold(&self, at: usize, part: &CostPart, values: &mut [i128]) {
        let (after, end) = (&self.places[at].after, self.end(part));
        if end < at {
            return;
        }
        let sums = part.sums.iter().map(|s| values[*s] + after[*s].0);
        let greatest = sums.fold(values[part.max].max(after[part.max].0), i128::max);
        values[part.max] = greatest;
        for s in &part.sums {
            let harmless = if self.last[*s] <= at { greatest } else { greatest - after[*s].1 };
            values[*s] = values[*s].max(harmless);
        }
        if end == at {
            let product = part.product.map_or(1, |p| values[p]);
            values[0] += i128::from(part.price) * product * greatest;
            for a in part.accumulators() {
                values[a] = self.form.accumulators[a].start.into();
            }
        }
    }

    /// What nothing undercuts that begins like this, in 1024ths of a tick.
    fn bound(&self, at: usize, node: &[u32], values: &[i128]) -> i128 {
        let place = &self.places[at];
        let Some(to_go) = place.to_go.get(node) else { return i128::MAX };
        let mut bound = SCALE * values[0] + to_go;
        for AccumulatorLimit { accumulator: a, bound: limit, .. } in &self.form.limits {
            if self.last[*a] > at {
                bound += self.prices[*a] * (values[*a] - i128::from(*limit));
            }
        }
        for part in self.form.parts.iter().filter(|part| self.end(part) > at) {
            let mut greatest = values[part.max].max(place.after[part.max].0);
            let product = part.product.map_or(1, |p| values[p] * place.after[p].0);
            let mut rest = SCALE * i128::from(part.price) * product;
            for s in part.sums.iter().filter(|s| self.last[**s] > at) {
                greatest = greatest.max(values[*s] + place.after[*s].0);
                bound += self.prices[*s] * values[*s];
                rest -= self.prices[*s];
            }
            bound += rest * greatest;
        }
        bound
    }

    /// True if each completion is allowed after a label where it is after these values, and costs
    /// no more.
    fn is_no_worse(&self, label: &[i128], values: &[i128]) -> bool {
        let sense = |a: usize| {
            let limit = self.form.limits.iter().find(|limit| limit.accumulator == a);
            limit.map_or(Sense::AtMost, |limit| limit.sense)
        };
        (0..label.len()).all(|a| match sense(a) {
            Sense::AtMost => label[a] <= values[a],
            Sense::AtLeast => label[a] >= values[a],
            Sense::Equal => label[a] == values[a],
        })
    }

    /// The labels after a place, with numbers for values.
    fn read(&self, at: usize, labels: &[(Vec<i64>, Vec<i64>)]) -> Result<Labels, Refusal> {
        let live: &[usize] = self.places.get(at + 1).map_or(&[], |next| &next.live);
        let mut all = Labels::new();
        for (values, own) in labels {
            let index = |(p, v): (&usize, &i64)| self.obligation.index(*p, *v);
            let node: Option<Vec<u32>> = live.iter().zip(values).map(index).collect();
            let fits = values.len() == live.len() && own.len() == self.prices.len();
            let Some(node) = node.filter(|_| fits) else {
                return Err(Refusal::wrong("labels: values that no parameters have"));
            };
            all.entry(node).or_default().push(own.iter().map(|v| i128::from(*v)).collect());
        }
        Ok(all)
    }
}

/// The parameters in the proof's sequence, each once.
fn order(obligation: &Obligation<'_>, proof: &LabelProof) -> Result<Vec<usize>, Refusal> {
    let all = &obligation.problem.parameters;
    let place = |name: &String| all.iter().position(|p| p.name == *name);
    let order: Option<Vec<usize>> = proof.order.iter().map(place).collect();
    let mut sorted = order.clone().unwrap_or_default();
    sorted.sort_unstable();
    match (order, sorted.into_iter().eq(0..all.len())) {
        (Some(order), true) => Ok(order),
        _ => Err(Refusal::wrong("labels: the sequence does not have each parameter once")),
    }
}
