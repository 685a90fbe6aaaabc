//! Macros: which are tuning parameters, which are inputs, and what values they may have.

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use serde_json::{Value, json};
use tickbound_model::source::Standard;
use tickbound_opencl_c::outline::{Macro, Outline};
use tickbound_opencl_c::reading::Kernel;
use tickbound_opencl_c::{ReadError, Request, Setup, Symbol, extract};

use crate::draft::Draft;
use crate::error::ProposeError;
use crate::names::{Role, role, small};
use crate::scale::said;

/// Most rounds of compiling and naming what is missing.
const MOST_ROUNDS: usize = 16;

/// Most names in a message.
const MOST_NAMES: usize = 4;

/// Decides the macros that directives mention and the source does not define itself.
pub(crate) fn of_directives(draft: &mut Draft, outline: &Outline) {
    let mut left = Vec::new();
    let mut asked = Vec::new();
    for (name, m) in &outline.macros {
        let reserved = name.starts_with("__") || name.starts_with("cl_") || name.starts_with("CL_");
        if m.defined || reserved || draft.knows(name) {
            continue;
        }
        let required =
            outline.groups.iter().find_map(|(_, group)| group.iter().position(|size| size == name));
        let role = required.map(Role::Group).or_else(|| role(name));
        match m.default.as_ref().map(|text| text.parse::<i64>()) {
            Some(Ok(value)) => match role {
                // A switch that has a default is for a device that needs it.
                None | Some(Role::Flag) => left.push(format!("{name}={value}")),
                // So small a number is no size.
                Some(Role::Size) if value < 8 => left.push(format!("{name}={value}")),
                role => add(draft, name, m, role, Some(value)),
            },
            Some(Err(_)) => {}
            None if m.valued && name.contains("PRECISION") => {
                draft.note(format!("defines.{name}: 32, by its name"));
                draft.defines.insert(name.clone(), 32.into());
            }
            None if m.valued => add(draft, name, m, role, None),
            None => asked.push(name.clone()),
        }
    }
    if !left.is_empty() {
        let text = left.join(", ");
        draft.note(format!("macros: the source's own {text}; --parameter NAME=[...] opens one"));
    }
    if !asked.is_empty() {
        let text = asked.join(", ");
        draft.note(format!("macros: {text} not defined, as the source only asks whether they are"));
    }
}

/// Adds a macro as a parameter, or as an input if it is a size.
fn add(draft: &mut Draft, name: &str, m: &Macro, role: Option<Role>, default: Option<i64>) {
    if role == Some(Role::Size) {
        draft.inputs.insert(name.to_owned(), default.unwrap_or(0));
        return;
    }
    let (domain, why) = domain(draft.dimensions, m, role, default);
    draft.note(format!("parameters.{name}: {why}"));
    draft.parameters.insert(name.to_owned(), domain);
}

/// The values of a macro, and why these.
fn domain(
    dimensions: usize,
    m: &Macro,
    role: Option<Role>,
    default: Option<i64>,
) -> (Value, String) {
    let compared: Vec<i64> = m.compared.iter().copied().filter(|v| *v >= 0).collect();
    let within = |low: i64, high: i64, why: &str| {
        let power = |d: &i64| u64::try_from(*d).is_ok_and(u64::is_power_of_two);
        match default.filter(|d| *d > 0) {
            Some(own) if !power(&own) => {
                let powers = (0..63).map(|bit| 1_i64 << bit).filter(|p| (low..=high).contains(p));
                let all: BTreeSet<i64> = powers.chain([own]).collect();
                (json!(all), why.to_owned())
            }
            own => {
                let (low, high) =
                    (own.map_or(low, |d| low.min(d)), own.map_or(high, |d| high.max(d)));
                (Value::from(format!("powers_of_two({low}, {high})")), why.to_owned())
            }
        }
    };
    if !m.ordered && compared.len() > 1 && compared != [0, 1] {
        return (json!(compared), "the values that #if compares it with".to_owned());
    }
    if role == Some(Role::Flag)
        || (role.is_none() && !compared.is_empty() && compared.iter().all(|v| *v <= 1))
    {
        return (json!([0, 1]), "a switch".to_owned());
    }
    match role {
        Some(Role::Unroll) if compared.contains(&0) => {
            (json!([0, 1, 2, 4]), "an unrolling factor; 0 is asked for".to_owned())
        }
        Some(Role::Unroll) => within(1, 8, "an unrolling factor, by its name"),
        Some(Role::Group(_)) if dimensions == 1 => within(32, 256, "a group's size, by its name"),
        Some(Role::Group(_)) => within(4, 32, "a group's size, by its name"),
        Some(Role::Groups) => within(64, 1024, "groups of a launch, by its name"),
        Some(Role::Tile) => within(8, 64, "a tile's size, by its name"),
        Some(Role::PerItem) => within(1, 8, "elements of an item, by its name"),
        Some(Role::Vector) => within(1, 8, "components of a vector, by its name"),
        Some(Role::Flag | Role::Size) | None => within(1, 16, "a guess"),
    }
}

/// Compiles, and makes macros of names that nobody declares, until nothing is missing. Gives back the kernels.
pub(crate) fn until_it_compiles(
    draft: &mut Draft,
    path: &Path,
    outline: &Outline,
    setup: &Setup<'_>,
) -> Result<Vec<Kernel>, ProposeError> {
    let mut rounds = 0;
    loop {
        rounds += 1;
        let (asked, values) = request(draft, path, outline);
        let error = match extract::kernels(&asked, &values, setup) {
            Ok(kernels) => return Ok(kernels),
            Err(error) => error,
        };
        let ReadError::Undeclared { at, values, types, .. } = &error else {
            return Err(error.into());
        };
        let called = values.iter().filter(|name| outline.calls(name)).cloned().collect_vec();
        if !called.is_empty() && draft.standard == Standard::Cl12 {
            // A later version may have them.
            let later = Draft { standard: Standard::Cl30, ..draft.clone() };
            let (asked, values) = request(&later, path, outline);
            let missing = |name: &String| match extract::kernels(&asked, &values, setup) {
                Err(ReadError::Undeclared { values, .. }) => values.contains(name),
                _ => false,
            };
            if !called.iter().any(missing) {
                draft.standard = Standard::Cl30;
                draft.note(format!("standard: CL3.0, which has `{}`", called.join("`, `")));
                continue;
            }
        }
        if !called.is_empty() {
            let (file, line) = (at.file.to_string(), at.line);
            return Err(ProposeError::Undefined { file, line, names: few(&called) });
        }
        if rounds == MOST_ROUNDS || !declare(draft, outline, (values, types)) {
            return Err(error.into());
        }
    }
}

/// Makes macros of names that nobody declares. False if nothing is new.
pub(crate) fn declare(
    draft: &mut Draft,
    outline: &Outline,
    (values, types): (&[String], &[String]),
) -> bool {
    let known = |draft: &Draft| draft.parameters.len() + draft.inputs.len() + draft.defines.len();
    let before = known(draft);
    for name in types {
        of_type(draft, name);
    }
    // No number is called.
    let values = values.iter().filter(|name| !draft.knows(name) && !outline.calls(name));
    for name in values.cloned().collect_vec() {
        let m = outline.macros.get(&name).cloned().unwrap_or_default();
        add(draft, &name, &m, role(&name), None);
    }
    sizes(draft);
    known(draft) > before
}

/// Leaves the two least values above 0 of proposed domains, the largest first, of macros that the text depends on.
pub(crate) fn narrow(draft: &mut Draft, structural: &[String]) -> bool {
    let wide = structural.iter().filter(|name| !draft.wishes.parameters.contains_key(*name));
    let sized = wide.filter_map(|name| Some((count(draft.parameters.get(name)?)?, name.clone())));
    let Some((_, name)) = sized.filter(|(n, _)| *n > 2).max_by_key(|(n, _)| *n) else {
        return false;
    };
    let domain = &draft.parameters[&name];
    let few = match domain {
        Value::Array(values) => values.iter().take(2).cloned().collect(),
        _ => vec![json!(one_of(domain)), json!(one_of(domain).saturating_mul(2))],
    };
    draft.note(format!(
        "parameters.{name}: two values only, as the source's text depends on it; add more"
    ));
    draft.parameters.insert(name, few.into());
    true
}

/// How many values a proposed domain has.
fn count(domain: &Value) -> Option<usize> {
    match domain {
        Value::Array(values) => Some(values.len()),
        Value::String(text) => {
            let numbers = text.split(['(', ',', ')']).filter_map(|n| n.trim().parse::<u64>().ok());
            let (low, high) = numbers.collect_tuple()?;
            Some((high / low.max(1)).checked_ilog2()? as usize + 1)
        }
        _ => Some(1),
    }
}

/// A type that nobody declares: `float##VW`, of which the macro is missing, or a macro itself.
fn of_type(draft: &mut Draft, name: &str) {
    const TYPES: [&str; 10] =
        ["uchar", "ushort", "uint", "ulong", "char", "short", "int", "long", "float", "double"];
    if draft.knows(name) {
        return;
    }
    let pasted = TYPES.iter().find_map(|ty| name.strip_prefix(ty)).filter(|rest| !rest.is_empty());
    match pasted.filter(|rest| {
        rest.starts_with(|c: char| c.is_alphabetic() || c == '_') && !draft.knows(rest)
    }) {
        Some(width) => {
            draft.note(format!("parameters.{width}: components of a vector type"));
            draft.parameters.insert(width.to_owned(), json!([2, 4, 8]));
        }
        None => {
            draft.note(format!("defines.{name}: float, as it stands for a type"));
            draft.defines.insert(name.to_owned(), json!({ "text": "float" }));
        }
    }
}

/// Some names, the first ones of many.
fn few(names: &[String]) -> String {
    let first = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).join(", ");
    if names.len() > MOST_NAMES { format!("{first} and others") } else { first }
}

/// What compiles the source: each macro has one value.
fn request(draft: &Draft, path: &Path, outline: &Outline) -> (Request, IndexMap<String, i64>) {
    let mut values = IndexMap::new();
    for (name, domain) in &draft.parameters {
        values.insert(name.clone(), one_of(domain));
    }
    let is_macro = |name: &&String| outline.uses(name) && !outline.declares(name);
    for (name, value) in draft.inputs.iter().filter(|(name, _)| is_macro(name)) {
        values.insert(name.clone(), (*value).max(1));
    }
    let mut texts = IndexMap::new();
    for (name, value) in &draft.defines {
        match value.get("text").and_then(Value::as_str) {
            Some(text) => _ = texts.insert(name.clone(), text.to_owned()),
            None => _ = values.insert(name.clone(), value.as_i64().unwrap_or(1)),
        }
    }
    let symbols = values.iter().map(|(name, v)| (name.clone(), Symbol { least: *v, greatest: *v }));
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = draft.files();
    let (first, more) = files.split_first().unwrap_or((&draft.file, &[]));
    let includes = &draft.wishes.include;
    let request = Request {
        launch: Vec::new(),
        path: folder.join(first),
        name: first.clone(),
        more: more.iter().map(|name| (name.clone(), folder.join(name))).collect(),
        include: includes.iter().map(|name| (name.clone(), folder.join(name))).collect(),
        entry: String::new(),
        standard: draft.standard,
        symbols: symbols.collect(),
        texts,
        arguments: Vec::new(),
        dimensions: draft.dimensions,
        local: Vec::new(),
        bounds: Vec::new(),
        branches: Vec::new(),
    };
    (request, values)
}

/// A value of a domain for which most sources compile.
fn one_of(domain: &Value) -> i64 {
    match domain {
        Value::Array(values) => {
            let values = values.iter().filter_map(Value::as_i64).collect_vec();
            values.iter().copied().find(|v| *v > 0).or(values.first().copied()).unwrap_or(1)
        }
        Value::Number(value) => value.as_i64().unwrap_or(1),
        text => {
            let text = text.as_str().unwrap_or_default();
            let first = text.split(['(', ',', ')']).nth(1).and_then(|n| n.trim().parse().ok());
            first.unwrap_or(8)
        }
    }
}

/// Inputs that nobody has given a value get one, as large as is common for a launch of so many dimensions.
pub(crate) fn sizes(draft: &mut Draft) {
    let open = draft.inputs.iter().filter(|(_, value)| **value == 0);
    let open = open
        .map(|(name, _)| name.clone())
        .filter(|name| !draft.wishes.inputs.contains_key(name))
        .collect_vec();
    if open.is_empty() {
        return;
    }
    let size = if draft.dimensions == 1 && draft.inputs.len() == 1 { 1 << 20 } else { 1024 };
    for name in &open {
        draft.inputs.insert(name.clone(), small(name).filter(|n| *n > 0).unwrap_or(size));
    }
    draft.guessed = open;
    let said = said(draft);
    draft.note(said);
}
