//! What the steps of a kernel say about its launch: how many elements a group has in each dimension.
//!
//! Neighbouring groups access what is some elements apart. In dimension 0 these are the elements of a group; in a
//! higher one they are its rows times the length of a row, which is an input.

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;
use tickbound_model::expr::BinaryOp;
use tickbound_model::{Expr, parse};
use tickbound_opencl_c::Reading;
use tickbound_opencl_c::extract::Variant;
use tickbound_opencl_c::reading::By;
use tickbound_opencl_c::steps::{Access, Number, Space, Step, StepKind, Stride};

use crate::draft::Draft;
use crate::launch::{rounded, sizes};

/// An access, with how often each of the loops around it runs, inner ones first.
pub(crate) struct Seen<'s> {
    pub access: &'s Access,
    pub loops: Vec<&'s Number>,
}

/// What the steps of one reading have.
#[derive(Default)]
pub(crate) struct Found<'s> {
    pub accesses: Vec<Seen<'s>>,
    conditions: Vec<&'s Number>,
    /// There are atomic operations on global memory.
    atomics: bool,
    counts: Vec<&'s Number>,
}

impl<'s> Found<'s> {
    pub fn of(variant: &'s Variant) -> Found<'s> {
        let mut found = Found::default();
        found.walk(&variant.steps.body, &mut Vec::new());
        found.counts.extend(variant.steps.locals.iter().map(|array| &array.bytes));
        found
    }

    fn walk(&mut self, steps: &'s [Step], loops: &mut Vec<&'s Number>) {
        for step in steps {
            match &step.kind {
                StepKind::Access(access) => {
                    let loops = loops.iter().rev().copied().collect();
                    self.accesses.push(Seen { access, loops });
                }
                StepKind::Repeat { count, whole, body } => {
                    self.counts.push(count);
                    loops.push(whole.as_ref().unwrap_or(count));
                    self.walk(body, loops);
                    loops.pop();
                }
                StepKind::Atomic(Space::Global) => self.atomics = true,
                StepKind::If { condition, then, otherwise, .. } => {
                    self.conditions.push(condition);
                    self.walk(then, loops);
                    self.walk(otherwise, loops);
                }
                _ => {}
            }
        }
    }
}

/// Draws conclusions from what was read.
pub(crate) fn conclude(draft: &mut Draft, reading: &Reading, constrained: bool) {
    let variants = &reading.extracted.variants;
    let all = variants.iter().map(Found::of).collect_vec();
    for found in &all {
        let stores =
            found.accesses.iter().filter(|s| s.access.store && s.access.space == Space::Global);
        for seen in stores.filter(|s| draft.arguments.iter().any(|a| a.name == s.access.array)) {
            if !draft.outputs.contains(&seen.access.array) {
                draft.outputs.push(seen.access.array.clone());
            }
        }
    }
    if all.iter().any(|found| found.atomics) {
        draft.note("arguments: what only atomic operations change is not known to be an output; add \"output\": true");
    }
    let structural = &reading.extracted.structural;
    let samples = Samples::new(draft, structural);
    for d in draft.wishes.global.len()..draft.dimensions {
        let known = variants.iter().zip(&all).filter_map(|(variant, found)| {
            let share = samples.share(draft, found, (d, &variant.values))?;
            Some((variant.values.as_slice(), share))
        });
        let share = Share::together(structural, &known.collect_vec());
        launch(draft, d, share, (&samples, variants, &all));
    }
    let found = variants.iter().map(|v| v.values.as_slice()).zip(&all).collect_vec();
    if constrained {
        divisions(draft, structural, &found);
    }
}

/// A value for each name, with a prime factor of its own that no other number has.
struct Samples {
    structural: Vec<String>,
    names: IndexMap<String, (i64, i64)>,
}

/// What values are multiples of: so that quotients by small numbers are exact.
const EXACT: i64 = 5040;
/// The primes of names.
const PRIMES: [i64; 32] = [
    29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127,
    131, 137, 139, 149, 151, 157, 163, 167, 173, 179,
];

impl Samples {
    fn new(draft: &Draft, structural: &[String]) -> Samples {
        let open = draft.parameters.keys().filter(|name| !structural.contains(name));
        let names = draft.inputs.keys().chain(open).zip(PRIMES);
        let names = names.map(|(name, prime)| (name.clone(), (prime, EXACT * prime))).collect();
        Samples { structural: structural.to_vec(), names }
    }

    /// The value of a number, for these values of structural macros.
    fn value(&self, draft: &Draft, number: &Number, values: &[i64]) -> Option<i64> {
        let known: Result<Expr, ()> = in_problem(number, draft)?.replace(&mut |name: &String| {
            let of_text =
                self.structural.iter().position(|n| n == name).and_then(|i| values.get(i));
            let value = of_text.copied().or_else(|| self.names.get(name).map(|(_, value)| *value));
            value.map(Expr::Int).ok_or(())
        });
        known.ok()?.eval(&[]).ok()
    }

    /// How far neighbouring groups are apart in stores, else in loads.
    fn share(
        &self,
        draft: &Draft,
        found: &Found<'_>,
        (d, values): (usize, &[i64]),
    ) -> Option<Share> {
        let of = |store: bool| {
            let global = |s: &&Seen<'_>| matches!(s.access.space, Space::Global | Space::Constant);
            let some =
                found.accesses.iter().filter(global).filter(move |s| s.access.store == store);
            let distance = |s: &Seen<'_>| match s.access.groups.get(d) {
                Some(Stride::Elements(n) | Stride::Shifted(n)) => self.value(draft, n, values),
                _ => None,
            };
            some.filter_map(distance)
                .filter(|n| *n > 0)
                .map(|n| self.factors(draft, n))
                .collect_vec()
        };
        let more = |share: &Share| share.constant != 1 || !share.factors.is_empty();
        // A store of one element for each group, as reductions have it, says nothing of what the group reads.
        of(true)
            .into_iter()
            .find(more)
            .or_else(|| of(false).into_iter().find(more))
            .or_else(|| of(true).pop())
    }

    /// A number as a product of names.
    fn factors(&self, draft: &Draft, number: i64) -> Share {
        let mut share = Share { constant: number, factors: Vec::new(), row: None };
        for (name, (prime, value)) in &self.names {
            if number % prime != 0 || share.constant % value != 0 {
                continue;
            }
            share.constant /= value;
            match draft.inputs.contains_key(name) {
                true => share.row = Some(name.clone()),
                false => share.factors.push(name.clone()),
            }
        }
        // Rows may have a border.
        let near = |value: i64| (share.constant - value).abs() <= BORDER;
        let bordered =
            self.names.iter().find(|(name, (_, v))| draft.inputs.contains_key(*name) && near(*v));
        if let (None, Some((name, _))) = (&share.row, bordered) {
            share.row = Some(name.clone());
            share.constant = 1;
        }
        share
    }
}

/// Most elements around a row.
const BORDER: i64 = 64;
/// The least length of a row that is written as a number.
const ROW: i64 = 128;

/// How many elements a group has in a dimension: a product.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Share {
    constant: i64,
    factors: Vec<String>,
    /// The input that is the length of a row, for dimensions above 0.
    row: Option<String>,
}

impl Share {
    /// The share for all readings: where they differ, by values of macros that the text depends on.
    fn together(structural: &[String], shares: &[(&[i64], Share)]) -> Option<Share> {
        let (_, first) = shares.first()?;
        let alike = shares.iter().filter(|(_, share)| share.factors == first.factors).collect_vec();
        if alike.len() < shares.len() {
            return None;
        }
        let constants = alike.iter().map(|(values, share)| (*values, share.constant)).collect_vec();
        let (constant, names) = fit(structural, &constants)?;
        let mut share = first.clone();
        share.constant = constant;
        share.factors.extend(names);
        Some(share)
    }

    /// As an expression.
    fn text(&self) -> String {
        product(self.constant, &self.factors)
    }
}

fn product(constant: i64, factors: &[String]) -> String {
    let constant = (constant != 1 || factors.is_empty()).then(|| constant.to_string());
    constant.into_iter().chain(factors.iter().cloned()).join(" * ")
}

/// A constant, and names of macros that the text depends on, whose product is the number of each reading.
fn fit(structural: &[String], numbers: &[(&[i64], i64)]) -> Option<(i64, Vec<String>)> {
    // One that has the same value everywhere explains nothing.
    let differs = |i: &usize| !numbers.iter().map(|(values, _)| values.get(*i)).all_equal();
    let names = (0..structural.len()).filter(differs).collect_vec();
    let mut some = (0..=3).flat_map(|n| names.iter().copied().combinations(n));
    some.find_map(|some| {
        let rest = numbers.iter().map(|(values, number)| {
            let mut each = some.iter().map(|i| values.get(*i).copied().unwrap_or(1));
            let product = each.try_fold(1_i64, i64::checked_mul)?;
            (product > 0 && number % product == 0).then(|| number / product)
        });
        let constant = rest.collect::<Option<Vec<i64>>>()?.into_iter().all_equal_value().ok()?;
        Some((constant, some.iter().map(|i| structural[*i].clone()).collect()))
    })
}

/// A number of the steps over the problem's names; `None` if it takes ids.
pub(crate) fn in_problem(number: &Number, draft: &Draft) -> Option<Number> {
    number.replace(&mut |name: &String| named(name, draft).ok_or(())).ok()
}

fn named(name: &str, draft: &Draft) -> Option<Number> {
    let Some(plain) = name.strip_prefix('$') else { return Some(Expr::Name(name.to_owned())) };
    let expression = |text: &String| parse::parse(text).ok();
    if let Some((what, d)) = plain.rsplit_once('_')
        && let Ok(d) = d.parse::<usize>()
    {
        let (local, global) =
            (draft.locals.get(d).and_then(expression), draft.globals.get(d).and_then(expression));
        match what {
            "local" => return Some(local.unwrap_or(Expr::Int(1))),
            "global" => return Some(global.unwrap_or(Expr::Int(1))),
            "groups" => return Some(Expr::binary(BinaryOp::FloorDiv, global?, local?)),
            "lid" | "group" => return None,
            _ => {}
        }
    }
    let argument = draft.arguments.iter().find(|a| a.name == plain && a.by == By::Value)?;
    expression(&argument.value)
}

/// The launch in a dimension.
fn launch(
    draft: &mut Draft,
    d: usize,
    share: Option<Share>,
    (samples, variants, all): (&Samples, &[Variant], &[Found<'_>]),
) {
    let axis = ["x", "y", "z"][d.min(2)];
    let Some(mut share) = share.filter(|share| share.constant != 1 || !share.factors.is_empty())
    else {
        draft.note(format!("launch: in {axis} an item for each element, a guess"));
        return;
    };
    if d > 0
        && share.row.is_none()
        && share.constant >= ROW
        && sizes(draft).iter().all(|n| n.starts_with("items_"))
    {
        // The source has its sizes as numbers.
        let items = draft.inputs.iter_mut().filter(|(name, _)| name.starts_with("items_"));
        items.for_each(|(_, size)| *size = share.constant);
        draft.note(format!(
            "inputs: {} elements in each dimension, the length of a row in the source",
            share.constant
        ));
        share.constant = 1;
    }
    let local = draft.locals[d].clone();
    let rows = || {
        let mut all = variants.iter().zip(all);
        all.find_map(|(v, found)| samples.share(draft, found, (1, &v.values))?.row)
    };
    let Elements { guarded, guessed, input: elements } = elements(draft, (d, &share), all, &rows);
    let covered = share.text();
    draft.globals[d] = if covered == local {
        if guarded { rounded(&elements, &local) } else { elements.clone() }
    } else if guarded {
        format!("ceil_div({elements}, {covered}) * {local}")
    } else {
        format!("{elements} / {} * {local}", in_brackets(&covered))
    };
    if !guarded && covered != "1" {
        draft.constraints.push(format!("{elements} % {} == 0", in_brackets(&covered)));
    }
    let which =
        if guessed { format!("; that there are {elements} is a guess") } else { String::new() };
    draft.note(format!(
        "launch: in {axis} a group has {covered} of {elements} elements, by how far groups are apart{which}"
    ));
}

/// How many elements there are in a dimension.
struct Elements {
    /// The kernel compares ids with the input.
    guarded: bool,
    /// The input was chosen for its place among the others.
    guessed: bool,
    /// The input that says how many, or a number.
    input: String,
}

/// The input that says how many elements there are in a dimension.
fn elements(
    draft: &Draft,
    (d, share): (usize, &Share),
    found: &[Found<'_>],
    rows: &dyn Fn() -> Option<String>,
) -> Elements {
    let guards = found.iter().flat_map(|found| &found.conditions);
    let mut compared = IndexSet::new();
    for condition in guards {
        comparisons(condition, &mut |a, b| {
            for (id, limit) in [(a, b), (b, a)] {
                let mut of_group = false;
                id.names(&mut |name: &String| of_group |= *name == format!("$group_{d}"));
                if let (true, Some(text)) = (of_group, in_problem(limit, draft)) {
                    compared.extend(
                        draft.inputs.contains_key(&text.to_string()).then(|| text.to_string()),
                    );
                }
            }
        });
    }
    if let Some(input) = compared.into_iter().next() {
        return Elements { guarded: true, guessed: false, input };
    }
    let taken = share.row.iter().cloned().collect_vec();
    let all = sizes(draft);
    let rest = all.iter().filter(|name| !taken.contains(name)).cloned().collect_vec();
    let row = if d == 0 { rows() } else { None };
    let guessed = row.is_none() && rest.len() > 1;
    let found = row.or_else(|| rest.get(d.saturating_sub(1)).or(rest.last()).cloned());
    let input = found.or_else(|| all.first().cloned()).unwrap_or_else(|| "1".to_owned());
    Elements { guarded: false, guessed, input }
}

fn comparisons<'e>(number: &'e Number, visit: &mut impl FnMut(&'e Number, &'e Number)) {
    if let Expr::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, a, b) = number {
        visit(a, b);
    }
    number.parts().for_each(|part| comparisons(part, visit));
}

/// Quotients of macros that count iterations or elements are to be exact.
fn divisions(draft: &mut Draft, structural: &[String], all: &[(&[i64], &Found<'_>)]) {
    // For a dividend and the names of its divisor the constants of the readings.
    type Quotients<'v> = IndexMap<(String, Vec<String>), Vec<(&'v [i64], i64)>>;
    let mut exact = Quotients::new();
    for (values, found) in all {
        for count in &found.counts {
            quotients(count, &mut |a, b| {
                let mut macros = true;
                a.names(&mut |name: &String| {
                    let input = name.strip_prefix('$').unwrap_or(name);
                    macros &=
                        draft.parameters.contains_key(name) || draft.inputs.contains_key(input);
                });
                b.names(&mut |name: &String| macros &= draft.parameters.contains_key(name));
                let named = |number: &Number| {
                    let mut any = false;
                    number.names(&mut |_| any = true);
                    any
                };
                if macros && named(a) && named(b) {
                    // A quotient is a factor as a whole; in constraints `/` is exact.
                    let whole = || (1, vec![in_brackets(&b.to_string().replace("//", "/"))]);
                    let (constant, names) = factors(b).unwrap_or_else(whole);
                    let a = in_brackets(&a.to_string().replace("//", "/").replace('$', ""));
                    exact.entry((a, names)).or_default().push((values, constant));
                }
            });
        }
    }
    let before = draft.constraints.len();
    let all = exact.keys().cloned().collect_vec();
    for ((a, mut names), constants) in exact {
        // A multiple of what is a multiple already.
        let less = a.trim_matches(['(', ')']).split_once(" * ");
        let implied = |(n, rest): (&str, &str)| {
            n.parse::<i64>().is_ok() && all.iter().any(|(other, by)| other == rest && *by == names)
        };
        if less.is_some_and(implied) {
            continue;
        }
        if let Some((constant, more)) = fit(structural, &constants) {
            names.extend(more);
            let text = format!("{a} % {} == 0", in_brackets(&product(constant, &names)));
            if !draft.constraints.contains(&text) {
                draft.constraints.push(text);
            }
        }
    }
    if draft.constraints.len() > before {
        draft.note("constraints: what the source divides by macros is a multiple of them");
    }
}

fn in_brackets(text: &str) -> String {
    if text.contains(' ') { format!("({text})") } else { text.to_owned() }
}

/// A product of names and a number; `None` if it is none.
fn factors(number: &Number) -> Option<(i64, Vec<String>)> {
    match number {
        Expr::Int(n) => Some((*n, Vec::new())),
        Expr::Name(name) => Some((1, vec![name.clone()])),
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let ((a, mut names), (b, more)) = (factors(a)?, factors(b)?);
            names.extend(more);
            Some((a.checked_mul(b)?, names))
        }
        _ => None,
    }
}

fn quotients<'e>(number: &'e Number, visit: &mut impl FnMut(&'e Number, &'e Number)) {
    match number {
        Expr::Binary(BinaryOp::FloorDiv | BinaryOp::Div, a, b) => visit(a, b),
        Expr::Call(tickbound_model::expr::Function::CeilDiv, parts) => {
            if let [a, b] = parts.as_slice() {
                visit(a, b);
            }
        }
        _ => {}
    }
    number.parts().for_each(|part| quotients(part, visit));
}
