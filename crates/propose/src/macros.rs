//! Macros: which are tuning parameters, which are inputs, and what values they may have.

use std::collections::BTreeSet;
use std::rc::Rc;

use itertools::Itertools;
use serde_json::{Value, json};
use tickbound_opencl::outline::{Macro, Outline, Parts, Stands};

use crate::domain;
use crate::draft::Draft;
use crate::host::HostMacro;
use crate::names::{Role, reserved, role, small};

/// Why a macro has the values it has, where neither its name nor the source states more.
pub(crate) const GUESS: &str = "a guess";

/// Decides the macros that directives mention and the source does not define itself.
pub(crate) fn of_directives(draft: &mut Draft, outline: &Outline) {
    let mut left = Vec::new();
    paths(draft, outline);
    for (name, m) in &outline.macros {
        if m.defined || reserved(name) || draft.knows(name) {
            continue;
        }
        let required =
            outline.groups.iter().find_map(|(_, group)| group.iter().position(|size| size == name));
        let role = required.map(Role::Group).or_else(|| role(name));
        let of_launch = matches!(role, Some(Role::Group(d)) if d < draft.dimensions);
        match m.default.as_ref().map(|text| text.parse::<i64>()) {
            // Its default is all that there is of it.
            Some(Ok(_)) if !m.valued && !of_launch && !outline.mentions(name) => {}
            Some(Ok(value)) => match role {
                // A switch that has a default is for a device that needs it.
                None | Some(Role::Flag) => left.push(format!("{name}={value}")),
                // So small a number is no size.
                Some(Role::Size) if value < 8 => left.push(format!("{name}={value}")),
                role => add(draft, outline, name, role, Some(value)),
            },
            Some(Err(_)) => {}
            None if m.valued && name.contains("PRECISION") => {
                draft.note(format!("defines.{name}: 32, by its name"));
                draft.defines.insert(name.clone(), 32.into());
            }
            None if m.valued => add(draft, outline, name, role, None),
            None => {}
        }
    }
    if !left.is_empty() {
        let text = left.join(", ");
        draft.note(format!("macros: the source's own {text}; --parameter NAME=[...] opens one"));
    }
}

/// Macros of `#include M2S(FOLDER/file.h)` as the host defines them. A folder that it computes is
/// one of those where files are looked for.
fn paths(draft: &mut Draft, outline: &Outline) {
    let host = Rc::clone(&draft.host);
    let bare = |name: &str| name.split('(').next().unwrap_or_default().to_owned();
    let included = |name: &str| outline.macros.get(name).is_some_and(|m| m.included && !m.defined);
    let mut open = host.keys().filter(|name| included(&bare(name))).cloned().collect_vec();
    while let Some(name) = open.pop() {
        let stated = &host[&name];
        match stated.texts.first() {
            _ if draft.knows(&name) => {}
            Some(text) => {
                stated_text(draft, outline, &name, stated);
                open.extend(host.keys().filter(|other| bare(other) == bare(text)).cloned());
            }
            None if stated.computed => draft.define(&name, "."),
            None => {}
        }
    }
}

/// Adds a macro as a parameter, or as an input if it is a size; what the host states of it comes
/// first.
fn add(draft: &mut Draft, outline: &Outline, name: &str, role: Option<Role>, default: Option<i64>) {
    let stated = draft.host.get(name).cloned().unwrap_or_default();
    let m = &outline.macros.get(name).cloned().unwrap_or_default();
    let role = role.filter(|role| *role != Role::Size || !chooses(m));
    let HostMacro { numbers, computed, place, .. } = &stated;
    let tuned = !matches!(role, None | Some(Role::Flag | Role::Size));
    match (numbers.len(), numbers.last()) {
        (1, Some(number)) if role == Some(Role::Size) => {
            draft.note(format!("inputs.{name}: as {place} has it"));
            draft.request.inputs.insert(name.to_owned(), *number);
            draft.inputs.insert(name.to_owned(), *number);
            return;
        }
        (1, Some(number)) if !tuned => {
            draft.note(format!("defines.{name}: {number}, as {place} has it"));
            draft.defines.insert(name.to_owned(), (*number).into());
            return;
        }
        (2.., _) if role != Some(Role::Size) => {
            draft.note(format!("parameters.{name}: the values that {place} gives it"));
            draft.parameters.insert(name.to_owned(), json!(numbers));
            return;
        }
        (0, _) if stated_text(draft, outline, name, &stated) => return,
        (0, _) if *computed => {
            of_type(draft, name, outline);
            return;
        }
        // A number that the host works out is not for tuning.
        (0, _) if !place.is_empty() && !tuned && (role != Some(Role::Size) || m.valued) => {
            let number = worked_out(m, role);
            draft.guess(format!("{name} = {number}"));
            draft.defines.insert(name.to_owned(), number.into());
            return;
        }
        _ => {}
    }
    let default = numbers.last().copied().or(default);
    if role == Some(Role::Size) {
        draft.inputs.insert(name.to_owned(), default.unwrap_or(0));
        return;
    }
    let (domain, why) = domain_of(draft.dimensions, m, role, default);
    draft.note(format!("parameters.{name}: {why}"));
    draft.parameters.insert(name.to_owned(), domain);
}

/// Whether a macro is compared with several numbers, and so chooses among ways.
fn chooses(m: &Macro) -> bool {
    !m.ordered && m.compared.len() > 1
}

/// A guess of a number that the host works out: 0 for switches, as the rest works without, a way
/// for what chooses among ways, else 1.
fn worked_out(m: &Macro, role: Option<Role>) -> i64 {
    let switch = role == Some(Role::Flag) || m.valued && m.compared.iter().all(|v| *v == 0);
    let way = m.compared.last().filter(|_| chooses(m) && !m.compared.contains(&1));
    way.copied().unwrap_or(i64::from(!switch))
}

/// Defines a macro by a text that the host gives it: `float` rather than other types. A text that
/// the host joins from calls of a macro of the source, as the names say, has one: `PARAM(0)` for
/// `PARAMS` or `PARAM_N`. False if there is none.
fn stated_text(draft: &mut Draft, outline: &Outline, name: &str, stated: &HostMacro) -> bool {
    let place = &stated.place;
    let is_float = |text: &&String| text.contains("float");
    if let Some(text) = stated.texts.iter().find(is_float).or(stated.texts.first()) {
        draft.note(format!("defines.{name}: `{text}`, as {place} has it"));
        draft.define(name, text);
        return true;
    }
    let called = outline.macros.iter().filter(|(_, m)| m.with_number);
    let called = called.map(|(called, _)| called);
    let called = called.filter(|called| name != called.as_str() && name.starts_with(*called));
    let Some(called) = called.max_by_key(|called| called.len()).filter(|_| stated.computed) else {
        return false;
    };
    draft.guess(format!("{name} = {called}(0)"));
    draft.define(name, &format!("{called}(0)"));
    true
}

/// Functions that are called and that the host defines as macros: by its text, or as nothing around
/// their argument where the host chooses a conversion. False if nothing is new.
pub(crate) fn hosted(draft: &mut Draft, outline: &Outline, called: &[String]) -> bool {
    let host = Rc::clone(&draft.host);
    let open = called.iter().filter(|name| !draft.knows(name)).collect_vec();
    let mut any = false;
    for (name, stated) in open.into_iter().filter_map(|name| host.get_key_value(name)) {
        let has_text = stated_text(draft, outline, name, stated);
        if !has_text && stated.computed {
            unchanged(draft, name);
        }
        any |= has_text || stated.computed;
    }
    any
}

/// Macros that the host joins from calls of a macro of the source, whose text the language needs to
/// see what else is missing. False if nothing is new.
pub(crate) fn joined(draft: &mut Draft, outline: &Outline) -> bool {
    let host = Rc::clone(&draft.host);
    let known = draft.defines.len();
    for (name, stated) in host.iter().filter(|(name, _)| outline.mentions(name)) {
        if !draft.knows(name) && stated.texts.is_empty() {
            stated_text(draft, outline, name, stated);
        }
    }
    draft.defines.len() > known
}

/// The values of a macro, and why these.
pub(crate) fn domain_of(
    dimensions: usize,
    m: &Macro,
    role: Option<Role>,
    default: Option<i64>,
) -> (Value, &'static str) {
    let compared: Vec<i64> = m.compared.iter().copied().filter(|v| *v >= 0).collect();
    let within = |low: i64, high: i64, why: &'static str| {
        let power = |d: &i64| u64::try_from(*d).is_ok_and(u64::is_power_of_two);
        match default.filter(|d| *d > 0) {
            Some(own) if !power(&own) => {
                let powers = (0..63).map(|bit| 1_i64 << bit).filter(|p| (low..=high).contains(p));
                let all: BTreeSet<i64> = powers.chain([own]).collect();
                (json!(all), why)
            }
            own => {
                let (low, high) =
                    (own.map_or(low, |d| low.min(d)), own.map_or(high, |d| high.max(d)));
                (Value::from(format!("powers_of_two({low}, {high})")), why)
            }
        }
    };
    if !m.ordered && compared.len() > 1 && compared != [0, 1] {
        return (json!(compared), "the values that #if compares it with");
    }
    if role == Some(Role::Flag)
        || (role.is_none() && !compared.is_empty() && compared.iter().all(|v| *v <= 1))
    {
        return (json!([0, 1]), "a switch");
    }
    match role {
        Some(Role::Unroll) if compared.contains(&0) => {
            (json!([0, 1, 2, 4]), "an unrolling factor; 0 is asked for")
        }
        Some(Role::Unroll) => within(1, 8, "an unrolling factor, by its name"),
        Some(Role::Group(_)) if dimensions == 1 => within(32, 256, "a group's size, by its name"),
        Some(Role::Group(_)) => within(4, 32, "a group's size, by its name"),
        Some(Role::Groups) => within(64, 1024, "groups of a launch, by its name"),
        Some(Role::Tile) => within(8, 64, "a tile's size, by its name"),
        Some(Role::PerItem) => within(1, 8, "elements of an item, by its name"),
        Some(Role::Vector) => within(1, 8, "components of a vector, by its name"),
        Some(Role::Flag | Role::Size) | None => within(1, 16, GUESS),
    }
}

/// `convert_T` and `convertToT` of a type macro are that of its type; other such names leave
/// their argument as it is. False if nothing is new.
pub(crate) fn conversions(draft: &mut Draft, called: &[String]) -> bool {
    let missing = |name: &&String| name.starts_with("convert") && !draft.knows(name);
    let missing = called.iter().filter(missing).cloned().collect_vec();
    for name in &missing {
        let of = name.strip_prefix("convert_").or(name.strip_prefix("convertTo"));
        let ty = of.and_then(|of| draft.defines.get(of)?.get("text")?.as_str());
        match ty.map(|ty| format!("convert_{ty}")) {
            Some(text) => draft.define(name, &text),
            None => unchanged(draft, name),
        }
    }
    !missing.is_empty()
}

/// Takes a function without a body for its argument.
fn unchanged(draft: &mut Draft, name: &str) {
    draft.guess(format!("{name} leaves its argument as it is"));
    draft.define(name, "");
}

/// How the error begins that a name in `#if` has no value, which counts as 0.
pub(crate) const DIVISION: &str = "division by zero in #if";

/// Macros that `#if` computes with and that nothing defines.
pub(crate) fn undefined(outline: &Outline) -> Vec<String> {
    let open = outline
        .macros
        .iter()
        .filter(|(name, m)| m.valued && !m.defined && m.default.is_none() && !reserved(name));
    open.map(|(name, _)| name.clone()).collect()
}

/// Makes macros of names without a declaration. False if nothing is new.
pub(crate) fn declare(
    draft: &mut Draft,
    outline: &Outline,
    (values, types): (&[String], &[String]),
) -> bool {
    let known = |draft: &Draft| draft.parameters.len() + draft.inputs.len() + draft.defines.len();
    let before = known(draft);
    let typed = |name: &&String| outline.stands(name) != Stands::Value;
    for name in types.iter().chain(values.iter().filter(typed)) {
        of_type(draft, name, outline);
    }
    if known(draft) > before {
        // Names without a meaning that are left may follow from these.
        return true;
    }
    // No number is called. What the source declares may have a meaning once the others have one.
    let values = values.iter().filter(|name| !draft.knows(name) && !outline.calls(name));
    let (declared, free): (Vec<_>, Vec<_>) = values.partition(|name| outline.declares(name));
    for name in if free.is_empty() { declared } else { free } {
        add(draft, outline, name, role(name), None);
        if draft.inputs.contains_key(name) && outline.declares(name) {
            // An input becomes a macro by itself only where no declaration may have its name.
            draft.defines.insert(name.clone(), name.clone().into());
        }
    }
    sizes(draft);
    known(draft) > before
}

/// Leaves the two least values above 0 of proposed domains, the largest first, of macros that the
/// text depends on.
pub(crate) fn narrow(draft: &mut Draft, structural: &[String]) -> bool {
    let wide = structural.iter().filter(|name| !draft.request.parameters.contains_key(*name));
    let sized = wide
        .filter_map(|name| Some((domain::values(draft.parameters.get(name)?).len(), name.clone())));
    let Some((_, name)) = sized.filter(|(n, _)| *n > 2).max_by_key(|(n, _)| *n) else {
        return false;
    };
    let few = domain::values(&draft.parameters[&name]).into_iter().take(2).collect_vec();
    draft.note(format!(
        "parameters.{name}: two values only, as the source's text depends on it; add more"
    ));
    draft.parameters.insert(name, few.into());
    true
}

/// An undeclared type: `float##VW`, of which the macro is missing, or a macro itself.
fn of_type(draft: &mut Draft, name: &str, outline: &Outline) {
    const TYPES: [&str; 10] =
        ["uchar", "ushort", "uint", "ulong", "char", "short", "int", "long", "float", "double"];
    if draft.knows(name) {
        return;
    }
    if let Some(stated) = draft.host.get(name).cloned()
        && stated_text(draft, outline, name, &stated)
    {
        return;
    }
    let pasted = TYPES.iter().find_map(|ty| name.strip_prefix(ty)).filter(|rest| !rest.is_empty());
    let macro_name = |rest: &&str| rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if let Some(width) = pasted.filter(macro_name) {
        if draft.knows(width) {
            return;
        }
        draft.note(format!("parameters.{width}: components of a vector type"));
        draft.parameters.insert(width.to_owned(), json!([2, 4, 8]));
        return;
    }
    if outline.stands(name) == Stands::Words {
        let upper = name.to_uppercase();
        let words = ["KERNEL", "GLOBAL", "LOCAL", "CONSTANT"];
        let word = words.into_iter().find(|word| upper.contains(word));
        let text = word.map_or(String::new(), |word| format!("__{}", word.to_lowercase()));
        draft.note(format!("defines.{name}: `{text}`, as it stands alone or before a type"));
        draft.defines.insert(name.to_owned(), json!({ "text": text }));
        return;
    }
    // `T4` beside `T`.
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let width = name[base.len()..].parse().ok().filter(|_| draft.types.iter().any(|t| t == base));
    let lower = name.to_lowercase();
    let whole = ["int", "dim", "idx", "index", "size", "offset"].iter().any(|w| lower.contains(w));
    let scalar = if whole { "int" } else { "float" };
    let text = vector(scalar, width.unwrap_or_else(|| outline.lanes(name)));
    draft.types.push(name.to_owned());
    draft.defines.insert(name.to_owned(), json!({ "text": text }));
}

/// The type of this many components.
pub(crate) fn vector(scalar: &str, lanes: usize) -> String {
    if lanes > 1 { format!("{scalar}{lanes}") } else { scalar.to_owned() }
}

/// Gives parameters that only other kernels of the source depend on one value.
pub(crate) fn settle(draft: &mut Draft, parts: &Parts, kernels: &[String]) {
    let Some(needed) = parts.needed_by(&draft.entry) else { return };
    let others = kernels.iter().filter(|name| **name != draft.entry);
    let others: BTreeSet<String> =
        others.filter_map(|name| parts.needed_by(name)).flatten().collect();
    let settled = |name: &String| {
        !needed.contains(name)
            && others.contains(name)
            && !draft.request.parameters.contains_key(name)
    };
    let names = draft.parameters.keys().filter(|name| settled(name)).cloned().collect_vec();
    if names.is_empty() {
        return;
    }
    draft.note(format!("defines.{}: one value, as the kernel needs none", names.join(", ")));
    draft.notes.retain(|note| !names.iter().any(|n| note.starts_with(&format!("parameters.{n}:"))));
    for name in names {
        if let Some(domain) = draft.parameters.shift_remove(&name) {
            draft.defines.insert(name, domain::one_of(&domain).into());
        }
    }
}

/// Inputs without a value get one, as large as is common for a launch of this many
/// dimensions.
pub(crate) fn sizes(draft: &mut Draft) {
    let open = draft.inputs.iter().filter(|(_, value)| **value == 0);
    let open = open
        .map(|(name, _)| name.clone())
        .filter(|name| !draft.request.inputs.contains_key(name))
        .collect_vec();
    if open.is_empty() {
        return;
    }
    let size = if draft.dimensions == 1 && draft.inputs.len() == 1 { 1 << 20 } else { 1024 };
    for name in &open {
        draft.inputs.insert(name.clone(), small(name).filter(|n| *n > 0).unwrap_or(size));
    }
    draft.guessed.extend(open);
}
