//! What the steps of a kernel say about its launch: how many elements a group has in each
//! dimension.
//!
//! Neighbouring groups access what is some elements apart. In dimension 0 these are the elements of
//! a group; in a higher one they are its rows times the length of a row, which is an input.

use itertools::Itertools;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_opencl::KernelReading;
use tickbound_opencl::extract::Variant;
use tickbound_opencl::steps::{AddressSpace, SymbolExpr, has_name};

use crate::divisions::{divisions, divisors};
use crate::draft::Draft;
use crate::found::{Found, in_problem};
use crate::launch::{AXES, items, rounded, sizes};
use crate::lengths::stride;
use crate::share::{Samples, Share, in_brackets, product};
use crate::tie;

/// The least length of a row that is written as a number.
const ROW: i64 = 128;

/// Rows of fewer elements are those of a filter.
const SHORT: i64 = 32;

/// Draws conclusions from what was read.
pub(crate) fn conclude(draft: &mut Draft, reading: &KernelReading, constrained: bool) {
    let variants = &reading.extracted.variants;
    let all = variants.iter().map(Found::of).collect_vec();
    outputs(draft, &all);
    if all.iter().any(|found| found.atomics) {
        draft.note(
            "arguments: what only atomic operations change is not known to be an output; \
            add \"output\": true",
        );
    }
    let structural = reading.extracted.macros();
    let samples = Samples::new(draft, structural);
    for d in 0..draft.asked {
        tie::tie(draft, (&samples, structural), variants, &all, d);
    }
    let own = own_sizes(draft, &all);
    let samples = Samples::new(draft, structural);
    for d in draft.request.global.len()..draft.asked {
        let known = variants.iter().zip(&all).filter_map(|(variant, found)| {
            let share = samples.share(draft, found, (d, &variant.values))?;
            Some((variant.values.as_slice(), share))
        });
        let share = Share::together(structural, &known.collect_vec());
        let guards = variants.iter().zip(&all).filter_map(|(variant, found)| {
            let (_, id) = guard(draft, d, found)?;
            Some((variant.values.as_slice(), samples.step(draft, &id, (d, &variant.values))?))
        });
        // The bound of an id states the items of a group, even if each loads more than one element.
        let guarded = Share::together(structural, &guards.collect_vec());
        let share = match (share, guarded) {
            (Some(share), Some(guarded)) => Some(Share { row: share.row, ..guarded }),
            (share, guarded) => share.or(guarded),
        };
        // Groups that are a row apart have one each.
        let share = share.map(|share| match d == 0 && share.is_one() && share.row.is_some() {
            true => Share::of_group(),
            false => share,
        });
        let share = share.filter(|share| !share.is_one() || !tie::of_groups(draft, &all, d));
        let share = share.or_else(|| tie::of_groups(draft, &all, d).then(Share::of_group));
        launch(draft, (d, own.get(d).and_then(Option::as_ref)), share, (&samples, variants, &all));
    }
    let found = variants.iter().map(|v| v.values.as_slice()).zip(&all).collect_vec();
    if constrained {
        divisions(draft, structural, &found);
    }
    divisors(draft, &all);
}

/// The buffers that the kernel stores to.
fn outputs(draft: &mut Draft, all: &[Found<'_>]) {
    let accesses = all.iter().flat_map(|found| &found.accesses).map(|seen| &seen.access);
    for stored in accesses.filter(|a| a.store && a.space == AddressSpace::Global) {
        let is_argument = draft.arguments.iter().any(|a| a.name == stored.array);
        if is_argument && !draft.outputs.contains(&stored.array) {
            draft.outputs.push(stored.array.clone());
        }
    }
}

/// The launch in a dimension.
fn launch(
    draft: &mut Draft,
    (d, own): (usize, Option<&String>),
    share: Option<Share>,
    (samples, variants, all): (&Samples, &[Variant], &[Found<'_>]),
) {
    let axis = AXES[d.min(2)];
    let Some(mut share) = share.filter(|share| !share.is_one() || share.of_group) else {
        draft.launch_is_guess = true;
        draft.guess(format!("an item for each element in {axis} (else give --global-size)"));
        return;
    };
    if d > 0 && share.row.is_none() && share.constant >= ROW {
        take_source_row(draft, &mut share);
    }
    let rows = || {
        let mut all = variants.iter().zip(all);
        let higher =
            all.clone().find_map(|(v, found)| samples.share(draft, found, (1, &v.values))?.row);
        higher.or_else(|| all.find_map(|(v, found)| samples.row(draft, found, &v.values)))
    };
    let limit = if own.is_none() { compared(draft, d, all) } else { None };
    let Elements { guarded, guessed, input: elements } = match (own, limit) {
        (Some(input), _) => Elements { guarded: false, guessed: false, input: input.clone() },
        (None, Some(input)) => Elements { guarded: true, guessed: false, input },
        (None, None) => {
            let each = variants.iter().zip(all);
            let each = each.flat_map(|(v, found)| found.accesses.iter().map(move |seen| (v, seen)));
            let rows_of = each.flat_map(|(v, seen)| samples.inputs(draft, seen, (d, &v.values)));
            let taken = share.row.iter().cloned().chain(rows_of).collect_vec();
            let is_long = |row: &String| draft.inputs.get(row).is_none_or(|n| *n >= SHORT);
            let row = if d == 0 { rows().filter(is_long) } else { None };
            elements(draft, d, row, &taken)
        }
    };
    let covered = share.text();
    draft.globals[d] = global(draft, d, &share, (&elements, guarded));
    if !guarded && covered != "1" && !draft.globals[d].contains("ceil_div") {
        draft.constraints.push(format!("{elements} % {} == 0", in_brackets(&covered)));
    }
    let mut which = String::new();
    if guessed {
        which = format!("; that there are {elements} is a guess");
        draft.guess(format!("{elements} elements in {axis}"));
    }
    draft.note(format!(
        "launch: in {axis} a group has {covered} of {elements} elements, by how far groups are \
         apart{which}"
    ));
}

/// Takes the length of a row in the source, if no input is a size.
fn take_source_row(draft: &mut Draft, share: &mut Share) {
    if !sizes(draft).iter().all(|n| n.starts_with("items_")) {
        return;
    }
    let (row, length) = (format!("items_{}", AXES[0]), share.constant);
    let items = draft.inputs.iter_mut().filter(|(name, _)| name.starts_with("items_"));
    items.for_each(|(_, size)| *size = length);
    draft.note(format!(
        "inputs: {row} = {length}, the length of a row in the source; as many in other dimensions"
    ));
    share.constant = 1;
    share.row = Some(row);
}

/// The global size in a dimension: as many groups as cover the elements.
fn global(draft: &Draft, d: usize, share: &Share, (elements, guarded): (&str, bool)) -> String {
    let (local, covered) = (draft.locals[d].clone(), share.text());
    // Whole groups would leave no configuration.
    let uneven = |n: &i64| share.constant > 1 && n % share.constant != 0;
    let none = draft.inputs.get(elements).is_some_and(uneven);
    if share.of_group {
        product(1, &[elements.to_owned(), local].map(|text| in_brackets(&text)))
    } else if share.divisor > 1 {
        let whole = product(share.constant, &share.factors);
        format!("ceil_div({elements} * {}, {whole}) * {}", share.divisor, in_brackets(&local))
    } else if covered == local {
        let whole = local.parse().ok().zip(draft.inputs.get(elements));
        let divides = whole.is_none_or(|(local, n): (i64, &i64)| n % local == 0);
        if guarded || !divides { rounded(elements, &local) } else { elements.to_owned() }
    } else if guarded || none {
        format!("ceil_div({elements}, {covered}) * {}", in_brackets(&local))
    } else {
        format!("{elements} / {} * {}", in_brackets(&covered), in_brackets(&local))
    }
}

/// How many elements there are in a dimension.
struct Elements {
    /// The kernel compares ids with the input.
    guarded: bool,
    /// The input was chosen for its place among the others.
    guessed: bool,
    /// The input that states how many, or a number.
    input: String,
}

/// The input that states how many elements there are in a dimension: a row is as long as rows are
/// apart, and what multiplies an id is the length of its rows and not their number.
fn elements(draft: &mut Draft, d: usize, row: Option<String>, taken: &[String]) -> Elements {
    let all = sizes(draft);
    let rest = all.iter().filter(|name| !taken.contains(name)).cloned().collect_vec();
    let row = row.filter(|row| !taken.contains(row));
    let guessed = row.is_none() && rest.len() > 1;
    let found = row.or_else(|| rest.get(d.saturating_sub(1)).or(rest.last()).cloned());
    let input = found.unwrap_or_else(|| match all.as_slice() {
        [] => "1".to_owned(),
        [square] => square.clone(),
        _ => items(draft, d),
    });
    Elements { guarded: false, guessed, input }
}

/// The input that the kernel compares ids of a dimension with.
fn compared(draft: &Draft, d: usize, found: &[Found<'_>]) -> Option<String> {
    found.iter().find_map(|found| guard(draft, d, found)).map(|(input, _)| input)
}

/// The first comparison of ids of a dimension with an input, else with a product, else with a
/// number as long as a row: the limit, and the ids.
fn guard(draft: &Draft, d: usize, found: &Found<'_>) -> Option<(String, SymbolExpr)> {
    let mut all = Vec::new();
    for condition in &found.conditions {
        comparisons(condition, &mut |a, b| {
            for (id, limit) in [(a, b), (b, a)] {
                if has_name(id, |name| name == format!("$group_{d}"))
                    && let Some(limit) = in_problem(limit, draft)
                {
                    all.push(undivided(draft, id, limit));
                }
            }
        });
    }
    let input = |number: &SymbolExpr| draft.inputs.contains_key(&number.to_string());
    let first = all.iter().find(|(_, limit)| input(limit));
    let first = first.or_else(|| all.iter().find(|(_, limit)| is_product(limit, &input)));
    let long = |limit: &SymbolExpr| matches!(limit, Expr::Int(n) if *n >= ROW);
    let first = first.or_else(|| all.iter().find(|(_, limit)| long(limit)));
    first.map(|(id, limit)| (limit.to_string(), id.clone()))
}

/// `id / width < height` as `id < height * width`.
fn undivided(draft: &Draft, id: &SymbolExpr, limit: SymbolExpr) -> (SymbolExpr, SymbolExpr) {
    if let Expr::Binary(BinaryOp::FloorDiv, whole, width) = id
        && let Some(width) = in_problem(width, draft)
    {
        return undivided(draft, whole, Expr::binary(BinaryOp::Mul, limit, width));
    }
    (id.clone(), limit)
}

/// Whether a number is a product of inputs, and of numbers.
fn is_product(number: &SymbolExpr, input: &impl Fn(&SymbolExpr) -> bool) -> bool {
    match number {
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let (a, b) = (&**a, &**b);
            let factor = |n: &SymbolExpr| matches!(n, Expr::Int(_)) || is_product(n, input);
            is_product(a, input) && factor(b) || factor(a) && is_product(b, input)
        }
        number => input(number),
    }
}

/// Where rows are as long as the launch is wide (`i + j * get_global_size(0)`), the launch states
/// how many elements there are, and no input does: for each dimension a new one that represents it.
fn own_sizes(draft: &mut Draft, found: &[Found<'_>]) -> Vec<Option<String>> {
    let accesses = found.iter().flat_map(|found| &found.accesses);
    let mut strides =
        accesses.flat_map(|seen| seen.access.groups.iter().skip(1)).filter_map(stride);
    let rows = strides.any(|n| has_name(n, |name| name.starts_with("$global_")));
    if !rows || !draft.request.global.is_empty() {
        return Vec::new();
    }
    let unsaid = |d: usize| compared(draft, d, found).is_none();
    let open = (0..draft.dimensions).map(unsaid).collect_vec();
    let own = |(d, open): (usize, bool)| {
        open.then(|| {
            let name = items(draft, d);
            draft.globals[d] = rounded(&name, &draft.locals[d]);
            name
        })
    };
    open.into_iter().enumerate().map(own).collect()
}

fn comparisons<'e>(number: &'e SymbolExpr, visit: &mut impl FnMut(&'e SymbolExpr, &'e SymbolExpr)) {
    if let Expr::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, a, b) = number {
        visit(a, b);
    }
    number.parts().for_each(|part| comparisons(part, visit));
}
