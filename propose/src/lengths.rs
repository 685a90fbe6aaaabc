//! How long buffers are: at least as far as the accesses go, and a product of inputs if one fits.
//!
//! Inputs are given values that differ, so that products of them differ too.

use itertools::Itertools;
use tickbound_elimination::Limits;
use tickbound_model::{Expr, Problem};
use tickbound_opencl_c::Reading;
use tickbound_opencl_c::reading::By;
use tickbound_opencl_c::steps::{Number, Stride};

use crate::draft::Draft;
use crate::found::{Found, Seen, in_problem};

/// Inputs are multiplied with these. Where there are more inputs, lengths are guesses.
const FACTORS: [i64; 16] = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59];
/// Most inputs that are multiplied for a length.
const MOST_FACTORS: usize = 3;

/// Decides the lengths of all buffers.
pub(crate) fn lengths(draft: &mut Draft, problem: &Problem, reading: &Reading) {
    let Some(variant) = reading.extracted.variants.first() else { return };
    let Some(values) = values(draft, problem) else { return };
    let found = Found::of(variant);
    let mut guessed = Vec::new();
    for i in 0..draft.arguments.len() {
        let argument = &draft.arguments[i];
        let Some(name) = variant.parameters.get(i) else { return };
        let own = found.accesses.iter().filter(|s| s.access.array == *name);
        // Elements of structures are given as bytes.
        let bytes = i64::try_from(argument.element.bytes()).unwrap_or(1);
        let own = own.map(|seen| {
            let size = i64::from(seen.access.element).checked_div(bytes).unwrap_or(1).max(1);
            reach(draft, seen, &values)?.checked_mul(size)
        });
        let reach = own.collect_vec();
        let known = reach.iter().all(Option::is_some) && !reach.is_empty();
        let least = reach.into_iter().flatten().max().unwrap_or(1);
        let (by, name) = (argument.by, argument.name.clone());
        let length = match by {
            By::Value | By::Whole => continue,
            By::Buffer => fitting(&draft.inputs.keys().cloned().collect_vec(), least, &values),
            By::Local => {
                let group = draft.locals.iter().filter(|l| *l != "1").cloned().collect_vec();
                let group = if group.is_empty() { vec!["1".to_owned()] } else { group };
                Some(group.join(" * "))
            }
        };
        if !known || by == By::Local {
            guessed.push(name);
        }
        draft.arguments[i].value = length.unwrap_or_else(|| least.to_string());
    }
    if !guessed.is_empty() {
        draft.note(format!("arguments: the lengths of {} are guesses", guessed.join(", ")));
    }
}

/// Values of inputs and parameters for which products of inputs differ.
fn values(draft: &Draft, problem: &Problem) -> Option<Vec<(String, i64)>> {
    let configurations = problem.configurations(&Limits::default()).ok()?;
    let first = configurations.first()?;
    let parameters = problem.parameters.iter().zip(&first.0).map(|(p, v)| (p.name.clone(), *v));
    let inputs = draft.inputs.iter().zip(FACTORS);
    let inputs = inputs.map(|((name, value), factor)| (name.clone(), value.saturating_mul(factor)));
    Some(parameters.chain(inputs).collect())
}

/// One more than the greatest index of an access, leaving its offset aside; `None` if it is irregular.
fn reach(draft: &Draft, seen: &Seen<'_>, values: &[(String, i64)]) -> Option<i64> {
    let access = seen.access;
    let of = |number: &Number| value(draft, number, values);
    let mut last = i64::from(access.width) - 1;
    let mut add = |stride: i64, count: i64| {
        let steps = count.checked_sub(1)?.max(0);
        last = last.checked_add(stride.checked_abs()?.checked_mul(steps)?)?;
        Some(())
    };
    match &access.digits {
        Some(digits) => digits.iter().try_for_each(|d| add(of(&d.stride)?, of(&d.extent)?))?,
        None => add(stride(&access.items).and_then(of)?, of(&Expr::Name("$local_0".into()))?)?,
    }
    for (d, groups) in access.groups.iter().enumerate().take(draft.dimensions) {
        add(stride(groups).and_then(of)?, of(&Expr::Name(format!("$groups_{d}")))?)?;
    }
    for (iterations, count) in access.iterations.iter().zip(&seen.loops) {
        add(stride(iterations).and_then(of)?, of(count)?)?;
    }
    last.checked_add(1)
}

/// How far apart, if that is regular.
pub(crate) fn stride(stride: &Stride) -> Option<&Number> {
    match stride {
        Stride::Elements(n) | Stride::Shifted(n) => Some(n),
        Stride::Irregular | Stride::Data => None,
    }
}

fn value(draft: &Draft, number: &Number, values: &[(String, i64)]) -> Option<i64> {
    let known = in_problem(number, draft)?;
    let known: Result<Expr, ()> = known.replace(&mut |name: &String| {
        values.iter().find(|(n, _)| n == name).map(|(_, v)| Expr::Int(*v)).ok_or(())
    });
    known.ok()?.eval(&[]).ok()
}

/// The least product of inputs, once or a few times, that is as long.
fn fitting(inputs: &[String], least: i64, values: &[(String, i64)]) -> Option<String> {
    let of = |name: &String| values.iter().find(|(n, _)| n == name).map_or(1, |(_, v)| *v);
    let products = (1..=MOST_FACTORS).flat_map(|n| inputs.iter().combinations(n));
    let squares = inputs.iter().filter(|_| inputs.len() == 1).map(|name| vec![name, name]);
    let all = products.chain(squares).cartesian_product([1_i64, 2, 4]);
    let sized = all.filter_map(|(names, times)| {
        let product =
            names.iter().try_fold(times, |product, name| product.checked_mul(of(name)))?;
        Some((product, names, times))
    });
    let (_, names, times) = sized
        .filter(|(product, ..)| *product >= least)
        .min_by_key(|(p, names, _)| (*p, names.len()))?;
    let times = (times > 1).then(|| times.to_string());
    Some(times.into_iter().chain(names.into_iter().cloned()).join(" * "))
}
