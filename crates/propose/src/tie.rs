//! What the source states of the size of a group that it has no name for.
//!
//! Where the items of a group are next to each other and groups are TS elements apart, a group has
//! TS items: with fewer, elements are left out, with more, items are outside of their tile. Where
//! nothing differs between the items of a dimension, it has one.

use itertools::Itertools;
use tickbound_opencl::KernelReading;
use tickbound_opencl::extract::Variant;
use tickbound_opencl::steps::{AddressSpace, SymbolExpr, has_name};

use crate::draft::Draft;
use crate::found::{Found, Seen};
use crate::launch::AXES;
use crate::macros::GUESS;
use crate::share::{Pair, Samples, Share};

/// Gives a group the size in a dimension that follows from its accesses, if it has a parameter of
/// ours there.
pub(crate) fn tie(
    draft: &mut Draft,
    (samples, structural): (&Samples, &[String]),
    variants: &[Variant],
    all: &[Found<'_>],
    d: usize,
) {
    let own = draft.locals[d].clone();
    if !draft.is_own(&own) {
        return;
    }
    if is_idle(all, d) {
        return set(draft, d, "1", "nothing differs between its items");
    }
    let each = variants.iter().zip(all).map(|(variant, found)| {
        let stored = |store| {
            let some = found
                .accesses
                .iter()
                .filter(move |s| s.access.space == AddressSpace::Global && s.access.store == store);
            some.filter_map(|seen| size(draft, samples, (seen, d), &variant.values)).next()
        };
        // The width of a group that stores columns follows from the rows that it loads.
        let plain = |size: &Share| size.row.is_none() && size.divisor == 1;
        let size = stored(true).filter(plain).or_else(|| stored(false))?;
        Some((variant.values.as_slice(), size))
    });
    let each: Option<Vec<(&[i64], Share)>> = each.collect();
    let Some(size) = each.and_then(|each| Share::together(structural, &each)) else { return };
    if size.divisor == 1 && size.row.is_none() && !size.is_one() && !size.factors.contains(&own) {
        let text = size.text();
        set(draft, d, &text, "an item for each element that groups are apart");
    }
}

/// Gives groups as many items as `|` joins to the number of a group. False if none is so joined.
pub(crate) fn joined(draft: &mut Draft, reading: &KernelReading) -> bool {
    let steps = reading.extracted.variants.iter().map(|variant| &variant.steps);
    let own = |(d, _): &(usize, i64)| draft.locals.get(*d).is_some_and(|own| draft.is_own(own));
    let all = steps
        .flat_map(|steps| steps.joined.clone())
        .filter(own)
        .sorted()
        .dedup_by(|a, b| a.0 == b.0);
    let all = all.collect_vec();
    for (d, items) in &all {
        set(draft, *d, &items.to_string(), "local ids are joined to those of groups by `|`");
    }
    !all.is_empty()
}

fn set(draft: &mut Draft, d: usize, text: &str, why: &str) {
    let own = std::mem::replace(&mut draft.locals[d], text.to_owned());
    let domain = draft.parameters.shift_remove(&own);
    draft.notes.retain(|note| !note.starts_with(&format!("parameters.{own}:")));
    for size in &mut draft.globals {
        *size = size.replace(&own, text);
        let alone = size.strip_prefix("ceil_div(").and_then(|rest| rest.strip_suffix(", 1) * 1"));
        *size = alone.unwrap_or(size).to_owned();
    }
    let guess = format!("parameters.{text}: {GUESS}");
    let note = draft.notes.iter_mut().find(|note| **note == guess);
    if let (Some(note), Some(domain)) = (note, domain) {
        *note = format!("parameters.{text}: a group's size, by how far groups are apart");
        draft.parameters.insert(text.to_owned(), domain);
    }
    draft.note(format!("launch: groups of {text} in {}: {why}", AXES[d.min(2)]));
}

/// Whether neither an address nor a condition or a count differs between the items of a dimension.
fn is_idle(all: &[Found<'_>], d: usize) -> bool {
    let id = format!("$lid_{d}");
    let alike = |number: &SymbolExpr| !has_name(number, |name| name == id);
    all.iter().all(|found| {
        let mut numbers = found.conditions.iter().chain(&found.counts);
        let mut offsets = found.accesses.iter().map(|seen| &seen.access.offset);
        !found.accesses.is_empty()
            && !found.atomics
            && numbers.all(|number| alike(number))
            && offsets.all(|offset| offset.as_ref().is_some_and(alike))
    })
}

/// Whether the items of a group have one element of the outputs together: stores differ between
/// groups, by one, and not between items.
pub(crate) fn of_groups(draft: &Draft, all: &[Found<'_>], d: usize) -> bool {
    let has = |seen: &Seen<'_>, id: &str| {
        let id = format!("${id}_{d}");
        seen.access.offset.as_ref().map(|offset| has_name(offset, |name| name == id))
    };
    let stores = all.iter().flat_map(|found| &found.accesses);
    let mut stores =
        stores.filter(|s| s.access.store && s.access.space == AddressSpace::Global).peekable();
    draft.locals[d] != "1"
        && stores.peek().is_some()
        && stores.all(|s| has(s, "group") == Some(true) && has(s, "lid") == Some(false))
}

/// How many items a group has for this access, if they are next to each other: the least distance
/// above theirs, of groups or of iterations, over theirs.
fn size(
    draft: &Draft,
    samples: &Samples,
    (seen, d): (&Seen<'_>, usize),
    values: &[i64],
) -> Option<Share> {
    let offset = seen.access.offset.as_ref()?;
    let growth = |id: &str| samples.growth(draft, offset, id, values);
    let (item, group) = (growth(&format!("$lid_{d}"))?, growth(&format!("$group_{d}"))?);
    let turns = (0..seen.loops.len()).filter_map(|k| growth(&format!("$turn_{k}")));
    let own = |pair: &Pair| {
        samples.quotient(*pair, item).filter(|s| !s.is_one() && s.row.is_none() && s.divisor == 1)
    };
    let iterations = turns.filter_map(|pair| own(&pair)).collect_vec();
    let groups = samples.quotient(group, item)?;
    // A group that is as long as its iterations are apart, or longer, by their number.
    let inside = iterations
        .into_iter()
        .find(|step| step.factors.iter().all(|f| !groups.factors.contains(f)));
    Some(inside.unwrap_or(groups))
}
