//! How long buffers and local memory are: the least product of inputs, or what follows from the
//! launch, that all accesses fit into.
//!
//! The steps are [run](walk) for some configurations and sizes. A length is one of a few forms -
//! products of inputs for buffers, sizes of groups for local memory, numbers, what an access
//! reaches with the last item - that is long enough in all of them, and of these the shortest.
//! Inputs are given values that differ, so that products of them differ too.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_elimination::TableLimits;
use tickbound_expr::{BinaryOp, Expr, Function, parse};
use tickbound_model::Problem;
use tickbound_opencl::KernelReading;
use tickbound_opencl::extract::{Extracted, Variant};
use tickbound_opencl::reading::By;
use tickbound_opencl::steps::{Stride, SymbolExpr, has_name};

use crate::domain;
use crate::draft::Draft;
use crate::found::{Found, Seen, in_problem};
use crate::share::in_brackets;
use crate::walk::{Arrays, Reached, walk, with_ids};

/// Inputs are multiplied with these. Where there are more inputs, lengths are guesses.
const FACTORS: [i64; 16] = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59];
/// By how much more those that are the length of a row: its elements fit into it.
const LONGER: i64 = 64;
/// Most inputs that are multiplied for a length.
const MAX_FACTORS: usize = 3;
/// Most numbers for each of what there is.
const MAX_NUMBERS: i64 = 20;
/// Bytes of local memory that every device has.
const LOCAL: i64 = 32 << 10;
/// Bytes of a buffer that every device has room for.
const BUFFER: i64 = 1 << 30;
/// Most forms of a length that follow from accesses.
const MAX_CORNERS: usize = 4;
/// Configurations that are examined.
const CONFIGURATIONS: usize = 6;

/// Values of inputs and parameters, and what is reached with them.
pub(crate) struct Point<'s> {
    pub values: IndexMap<String, i64>,
    pub variant: &'s Variant,
    pub arrays: Arrays<'s>,
}

/// What is reached in some configurations, with inputs as they are and multiplied.
pub(crate) fn points<'s>(
    draft: &Draft,
    problem: &Problem,
    reading: &'s KernelReading,
) -> Vec<Point<'s>> {
    let Ok(configurations) = problem.configurations(&TableLimits::default()) else {
        return Vec::new();
    };
    let mut state = 1_u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let drawn = (0..2 * CONFIGURATIONS).filter_map(|_| configurations.random(&mut random));
    let some = configurations.first().into_iter().chain(drawn).unique_by(|c| c.0.clone());
    let extracted = &reading.extracted;
    let rows = rows(&extracted.variants);
    let mut points = Vec::new();
    for configuration in some.take(CONFIGURATIONS) {
        let names = problem.parameters.iter().map(|p| p.name.clone());
        let parameters: IndexMap<String, i64> = names.zip(configuration.0).collect();
        let all = draft.inputs.len().min(FACTORS.len());
        for factors in
            [vec![1; all], FACTORS[..all].to_vec(), FACTORS[..all].iter().rev().copied().collect()]
        {
            let inputs = draft.inputs.iter().zip(factors);
            let factor = |name: &String, factor| match factor > 1 && rows.contains(name) {
                true => factor + LONGER,
                false => factor,
            };
            let inputs =
                inputs.map(|((name, v), n)| (name.clone(), v.saturating_mul(factor(name, n))));
            let values: IndexMap<_, _> = inputs.chain(parameters.clone()).collect();
            let Some(variant) = variant(draft, extracted, &parameters, &values) else { continue };
            if fits(draft, &values)
                && let Some(arrays) = walk(draft, &variant.steps.body, &values, None)
            {
                points.push(Point { values, variant, arrays });
            }
        }
    }
    points
}

/// The reading for these values of parameters, and of all names.
fn variant<'r>(
    draft: &Draft,
    extracted: &'r Extracted,
    parameters: &IndexMap<String, i64>,
    values: &IndexMap<String, i64>,
) -> Option<&'r Variant> {
    let value = |name: &str| {
        // A text is for one value of an input.
        let known = match extracted.macros().iter().any(|fixed| fixed == name) {
            true => parameters.get(name).or_else(|| draft.inputs.get(name)),
            false => values.get(name),
        };
        known.copied().or_else(|| draft.defines.get(name)?.as_i64())
    };
    let key = extracted.choice(&value);
    extracted.variants.iter().find(|v| key.as_ref().is_none_or(|key| v.values == *key))
}

/// Components of a texel.
const TEXEL: i64 = 4;

/// The names that something is multiplied by in an address.
fn rows(variants: &[Variant]) -> BTreeSet<String> {
    fn factors(number: &SymbolExpr, all: &mut BTreeSet<String>) {
        if let Expr::Binary(BinaryOp::Mul, a, b) = number {
            let names = [a, b].into_iter().filter_map(|side| match &**side {
                Expr::Name(name) => Some(name.trim_start_matches('$').to_owned()),
                _ => None,
            });
            all.extend(names);
        }
        number.parts().for_each(|part| factors(part, all));
    }
    let mut all = BTreeSet::new();
    let found = variants.iter().map(Found::of).collect_vec();
    let accesses = found.iter().flat_map(|found| &found.accesses);
    accesses.filter_map(|s| s.access.offset.as_ref()).for_each(|n| factors(n, &mut all));
    all
}

/// Whether the constraints hold.
pub(crate) fn fits(draft: &Draft, values: &IndexMap<String, i64>) -> bool {
    let holds = |text: &String| {
        Some(with_ids(draft, &parse::parse(text).ok()?, values)?.holds(&[]) == Ok(true))
    };
    draft.constraints.iter().all(|text| holds(text).unwrap_or(true))
}

/// Decides the lengths of all buffers.
pub(crate) fn lengths(draft: &mut Draft, problem: &Problem, reading: &KernelReading) {
    let Some(variant) = reading.extracted.variants.first() else { return };
    let mut points = points(draft, problem, reading);
    let found = Found::of(variant);
    within(draft, &found, &mut points);
    let mut guessed = Vec::new();
    for i in 0..draft.arguments.len() {
        let argument = &draft.arguments[i];
        let (by, name) = (argument.by, argument.name.clone());
        let Some(own) = variant.parameters.get(i) else { return };
        if matches!(by, By::Value | By::Whole) || draft.shared.as_ref() == Some(&name) {
            continue;
        }
        if let By::Image(dimensions @ 2..) = by {
            draft.arguments[i].value = sizes(draft, dimensions).join(", ");
            guessed.push(name);
            continue;
        }
        let texel = if by == By::Image(1) { TEXEL } else { 1 };
        let bytes = i64::try_from(argument.element.bytes()).unwrap_or(1) * texel;
        let reached =
            |point: &Point<'_>| point.arrays.get(own.as_str()).copied().unwrap_or_default();
        let end = |r: Reached| r.end / bytes + i64::from(r.end % bytes > 0);
        let ends = points.iter().map(|p| (&p.values, end(reached(p)))).collect_vec();
        let known = !points.is_empty()
            && !points.iter().any(|p| reached(p).open)
            && ends.iter().all(|(_, end)| *end > 0);
        let accesses = found.accesses.iter().filter(|s| s.access.array == *own).collect_vec();
        let length = length(draft, by, &accesses, &ends);
        if !known {
            guessed.push(name);
        }
        let least = || ends.iter().map(|(_, end)| *end).max().unwrap_or(1).max(1).to_string();
        draft.arguments[i].value = length.unwrap_or_else(least);
    }
    fit(draft);
    if !guessed.is_empty() {
        draft.guess(format!("the lengths of {}", guessed.join(", ")));
    }
}

/// The texels of an image in each dimension: inputs that are called so, else as many as the launch
/// has items.
fn sizes(draft: &Draft, dimensions: usize) -> Vec<String> {
    let called = |d: usize| {
        let names: &[&str] = [&["width", "cols", "w"][..], &["height", "rows", "h"], &["depth"]][d];
        names.iter().find(|name| draft.inputs.contains_key(**name)).map(|name| (*name).to_owned())
    };
    let launch = |d: usize| draft.globals.get(d).cloned().unwrap_or_else(|| "1".to_owned());
    (0..dimensions.min(3)).map(|d| called(d).unwrap_or_else(|| launch(d))).collect()
}

/// The length of one buffer, of which these numbers of elements are reached.
fn length(
    draft: &Draft,
    by: By,
    accesses: &[&Seen<'_>],
    ends: &[(&IndexMap<String, i64>, i64)],
) -> Option<String> {
    let corners = corners(draft, accesses);
    let inside = |name: &&String| corners.iter().any(|text| mentions(text, name));
    let own = draft.inputs.keys().filter(inside).cloned().collect_vec();
    let inputs = draft.inputs.keys().cloned().collect_vec();
    let some = |names: &&Vec<String>| !names.is_empty() || draft.inputs.is_empty();
    // Others may fit by chance.
    let form = [own, inputs]
        .iter()
        .filter(some)
        .find_map(|names| shortest(draft, &forms(draft, names, by, ends), ends));
    // Of the launch, and what follows from accesses, which are less plain to read.
    let globals = if by == By::Buffer { factors(&draft.globals) } else { Vec::new() };
    let launch = (1..=globals.len()).map(|n| globals[..n].to_vec());
    let launch = shortest(draft, &multiples(draft, launch, ends), ends);
    let corner = shortest(draft, &corners, ends);
    // How many times as long a form may be that is better to read; there is little local memory.
    let halves = |other: &(i128, String), most: i128| match &form {
        Some(form) => form.0 * 2 / most > other.0,
        None => true,
    };
    let launch = launch.filter(|other| halves(other, 3));
    let corner = corner.filter(|other| halves(other, if by == By::Local { 2 } else { 4 }));
    let (_, length) = launch.into_iter().chain(corner).min().or(form)?;
    Some(length)
}

fn mentions(text: &str, name: &str) -> bool {
    parse::parse(text).is_ok_and(|number| has_name(&number, |own| own == name))
}

/// Groups are no larger than local arrays of the source allow.
fn within(draft: &mut Draft, found: &Found<'_>, points: &mut Vec<Point<'_>>) {
    let Some(variant) = points.first().map(|point| point.variant) else { return };
    for array in &variant.steps.locals {
        let seen = found.accesses.iter().filter(|s| s.access.array == array.name).collect_vec();
        let Some(bytes) = seen.first().map(|s| i64::from(s.access.element)) else { continue };
        let Some(size) = in_problem(&array.bytes, draft) else { continue };
        let beyond = |point: &Point<'_>| {
            let size = with_ids(draft, &size, &point.values).and_then(|n| n.eval(&[]).ok());
            let reached = point.arrays.get(array.name.as_str());
            reached.zip(size).is_some_and(|(r, size)| r.before || r.end > size)
        };
        let before = points.iter().filter(|point| beyond(point)).count();
        if before == 0 {
            continue;
        }
        let size = Expr::binary(BinaryOp::FloorDiv, size.clone(), Expr::Int(bytes));
        let size = size
            .resolve(&mut |_| None::<usize>)
            .ok()
            .and_then(|n| n.eval(&[]).ok())
            .map_or_else(|| size.to_string(), |n| n.to_string());
        let conditions =
            corners(draft, &seen).into_iter().map(|corner| format!("{corner} <= {size}"));
        let fits = |condition: &String, point: &Point<'_>| {
            let number = parse::parse(condition).ok()?;
            with_ids(draft, &number, &point.values)?.eval(&[]).ok().map(|holds| holds != 0)
        };
        let helps = |condition: &String| {
            let right = |point: &Point<'_>| fits(condition, point) == Some(!beyond(point));
            points.iter().all(right) && before < points.len()
        };
        match conditions.into_iter().find(helps) {
            Some(condition) => {
                points.retain(|point| fits(&condition, point) == Some(true));
                draft.note(format!("constraints: {condition}, as `{}` is no longer", array.name));
                draft.constraints.push(condition);
            }
            None => draft.guess(format!("that accesses stay inside of {}", array.name)),
        }
    }
}

/// Guessed sizes become smaller until there is memory for what is as long as they are.
fn fit(draft: &mut Draft) {
    let values = draft.inputs.clone();
    let lengths = draft.arguments.iter().filter_map(|a| {
        let most = match a.by {
            By::Local => LOCAL,
            By::Buffer => BUFFER,
            By::Value | By::Whole | By::Image(_) => return None,
        };
        Some((parse::parse(&a.value).ok()?, i64::try_from(a.element.bytes()).ok()?, most))
    });
    let lengths: Vec<(SymbolExpr, i64, i64)> = lengths.collect();
    for (length, bytes, most) in lengths {
        let names = draft.guessed.iter().filter(|guess| has_name(&length, |name| name == **guess));
        let names = names.cloned().collect_vec();
        let size = |draft: &Draft| {
            let all =
                draft.parameters.iter().map(|(n, domain)| (n.clone(), domain::one_of(domain)));
            let values = values.keys().map(|n| (n.clone(), draft.inputs[n])).chain(all).collect();
            with_ids(draft, &length, &values)?.eval(&[]).ok()?.checked_mul(bytes)
        };
        while size(draft).is_none_or(|size| size > most)
            && names.iter().any(|n| draft.inputs[n] > 1)
        {
            names.iter().for_each(|n| draft.inputs[n] = (draft.inputs[n] / 4).max(1));
        }
    }
}

/// The forms that a length may have.
fn forms(
    draft: &Draft,
    inputs: &[String],
    by: By,
    ends: &[(&IndexMap<String, i64>, i64)],
) -> Vec<String> {
    let locals = factors(&draft.locals);
    let number = ends.iter().map(|(_, end)| *end).all_equal_value().ok().filter(|end| *end > 0);
    let names = if by == By::Local { &locals } else { inputs };
    let products =
        (1..=MAX_FACTORS.min(names.len())).flat_map(|n| names.iter().cloned().combinations(n));
    let squares = names.iter().filter(|_| names.len() == 1).map(|name| vec![name.clone(); 2]);
    let scaled = inputs.iter().cartesian_product(draft.parameters.keys());
    let scaled = scaled.map(|(input, parameter)| vec![input.clone(), parameter.clone()]);
    let single = inputs.iter().map(|input| vec![input.clone()]);
    let others = if by == By::Local { single.collect_vec() } else { scaled.collect() };
    let sized = multiples(draft, products.chain(squares).chain(others), ends);
    let bordered = if by == By::Buffer { bordered(inputs, ends) } else { Vec::new() };
    sized.into_iter().chain(bordered).chain(number.map(|n| n.to_string())).collect()
}

/// Sizes as factors, without those that are 1.
fn factors(sizes: &[String]) -> Vec<String> {
    sizes.iter().filter(|n| *n != "1").map(|n| in_brackets(n)).collect()
}

/// Products with as many numbers for each as are reached anywhere.
fn multiples(
    draft: &Draft,
    products: impl Iterator<Item = Vec<String>>,
    ends: &[(&IndexMap<String, i64>, i64)],
) -> Vec<String> {
    let times = |names: &[String]| {
        let product = parse::parse(&names.join(" * ")).ok()?;
        let each = ends.iter().map(|(values, end)| {
            let product = with_ids(draft, &product, values)?.eval(&[]).ok().filter(|n| *n > 0)?;
            Some(end / product + i64::from(end % product > 0))
        });
        each.collect::<Option<Vec<i64>>>()?.into_iter().max().filter(|n| *n <= MAX_NUMBERS)
    };
    let sized = products.filter_map(|names| {
        let number = times(&names)?;
        Some((number > 1).then(|| number.to_string()).into_iter().chain(names).join(" * "))
    });
    sized.collect()
}

/// Products of inputs, with or without a row more, and as many elements more everywhere.
fn bordered(inputs: &[String], ends: &[(&IndexMap<String, i64>, i64)]) -> Vec<String> {
    let repeated = inputs.iter().flat_map(|name| [name, name]).collect_vec();
    let products = (1..=MAX_FACTORS.min(repeated.len()))
        .flat_map(|n| repeated.iter().copied().combinations(n))
        .unique();
    let rows = std::iter::once(None).chain(inputs.iter().map(Some));
    let form = |(names, row): (Vec<&String>, Option<&String>)| {
        let more = |(values, end): &(&IndexMap<String, i64>, i64)| {
            let mut factors = names.iter().map(|name| values.get(*name));
            let product = factors.try_fold(1_i64, |all, n| all.checked_mul(*n?))?;
            let row = row.map_or(Some(0), |name| values.get(name).copied())?;
            end.checked_sub(product)?.checked_sub(row)
        };
        let more = ends.iter().map(more).all_equal_value().ok().flatten().filter(|n| *n >= 0)?;
        let number = (more > 0).then(|| more.to_string());
        let product = names.iter().join(" * ");
        Some(std::iter::once(product).chain(row.cloned()).chain(number).join(" + "))
    };
    let known = ends.iter().map(|(values, _)| values).unique_by(|v| v.values().collect_vec());
    if known.count() < 3 {
        return Vec::new();
    }
    products.cartesian_product(rows.collect_vec()).filter_map(form).collect()
}

/// What accesses reach with the last item of the last group, in the last iterations.
fn corners(draft: &Draft, seen: &[&Seen<'_>]) -> Vec<String> {
    let less_one = |number: SymbolExpr| match number {
        Expr::Int(n) => Expr::Int(n - 1),
        number => Expr::binary(BinaryOp::Sub, number, Expr::Int(1)),
    };
    let corner = |seen: &&Seen<'_>| {
        let last = |name: &String| -> Result<SymbolExpr, ()> {
            let id =
                name.rsplit_once('_').and_then(|(what, d)| Some((what, d.parse::<usize>().ok()?)));
            let of = |name: String| in_problem(&Expr::Name(name), draft);
            let size = match id {
                Some(("$lid", d)) => of(format!("$local_{d}")),
                Some(("$group", d)) => of(format!("$groups_{d}")),
                Some(("$turn", k)) => seen.loops.get(k).and_then(|count| in_problem(count, draft)),
                _ => return of(name.clone()).ok_or(()),
            };
            size.map(less_one).ok_or(())
        };
        let at = seen.access.offset.as_ref()?.replace(&mut { last }).ok()?;
        let (rest, number) = constant(at.simplified());
        let number = number.checked_add(seen.access.width.into())?;
        let op = if number < 0 { BinaryOp::Sub } else { BinaryOp::Add };
        Some(Expr::folded(op, rest, Expr::Int(number.checked_abs()?)))
    };
    let all =
        seen.iter().filter_map(corner).unique_by(|e| e.to_string()).take(MAX_CORNERS).collect_vec();
    let greatest = (all.len() > 1).then(|| Expr::Call(Function::Max, all.clone()));
    all.iter().chain(&greatest).map(ToString::to_string).collect()
}

/// A sum without its numbers, and these.
fn constant(sum: SymbolExpr) -> (SymbolExpr, i64) {
    match sum {
        Expr::Int(n) => (Expr::Int(0), n),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
            let ((a, x), (b, y)) = (constant(*a), constant(*b));
            let y = if op == BinaryOp::Sub { y.saturating_neg() } else { y };
            (Expr::folded(op, a, b), x.saturating_add(y))
        }
        other => (other, 0),
    }
}

/// The form that is nowhere too short, and the shortest of these.
fn shortest(
    draft: &Draft,
    forms: &[String],
    ends: &[(&IndexMap<String, i64>, i64)],
) -> Option<(i128, String)> {
    let total = |form: &&String| {
        let number = parse::parse(form).ok()?;
        let mut sum = 0_i128;
        for (values, end) in ends {
            let length = with_ids(draft, &number, values)?.eval(&[]).ok()?;
            sum += (length >= (*end).max(1)).then_some(i128::from(length))?;
        }
        Some(sum)
    };
    let fit = forms.iter().filter_map(|form| Some((total(&form)?, form.len(), form)));
    fit.min().map(|(sum, _, form)| (sum, form.clone())).filter(|_| !ends.is_empty())
}

/// How far apart, if that is regular.
pub(crate) fn stride(stride: &Stride) -> Option<&SymbolExpr> {
    match stride {
        Stride::Elements(n) | Stride::Shifted(n) => Some(n),
        Stride::Irregular | Stride::Data => None,
    }
}
