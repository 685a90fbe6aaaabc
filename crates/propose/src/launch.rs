//! The launch: groups and work items, in each dimension.

use itertools::Itertools;
use serde_json::Value;

use crate::draft::Draft;
use crate::names::{Role, role, small};
use crate::share::in_brackets;

/// Names of dimensions.
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

/// Decides the sizes of groups, and takes one work item for each element until the steps say more.
pub(crate) fn preliminary(draft: &mut Draft) {
    draft.locals = locals(draft);
    let inputs = sizes(draft);
    draft.globals = draft.request.global.clone();
    for d in draft.globals.len()..draft.dimensions {
        let elements = match inputs.get(d).or(inputs.last()) {
            _ if d >= draft.asked => draft.locals[d].clone(),
            Some(input) => input.clone(),
            None => items(draft, d),
        };
        let same = elements == draft.locals[d];
        draft.globals.push(if same { elements } else { rounded(&elements, &draft.locals[d]) });
    }
    let groups = draft.parameters.keys().find(|name| role(name) == Some(Role::Groups)).cloned();
    if let (1, Some(groups), true) = (draft.dimensions, groups, draft.request.global.is_empty()) {
        draft.note(format!("launch: {groups} groups, by its name"));
        draft.request.global = vec![format!("{groups} * {}", draft.locals[0])];
        draft.globals.clone_from(&draft.request.global);
    }
}

/// The inputs that may say how many elements there are.
pub(crate) fn sizes(draft: &Draft) -> Vec<String> {
    draft.inputs.keys().filter(|name| small(name).is_none()).cloned().collect()
}

/// `elements`, rounded up to whole groups.
pub(crate) fn rounded(elements: &str, local: &str) -> String {
    match local {
        "1" => elements.to_owned(),
        _ => format!("ceil_div({elements}, {local}) * {}", in_brackets(local)),
    }
}

/// An input for the work items of a dimension in which the kernel has no size.
pub(crate) fn items(draft: &mut Draft, d: usize) -> String {
    let (name, size) = match draft.asked {
        1 => ("items".to_owned(), 1 << 20),
        asked => (format!("items_{}", AXES[d]), if asked == 2 { 1 << 10 } else { 1 << 7 }),
    };
    if draft.inputs.insert(name.clone(), size).is_some() {
        return name;
    }
    draft.guessed.push(name.clone());
    name
}

/// Removes the inputs for work items that nothing takes, as the source has a number.
pub(crate) fn remove_unused_items(draft: &mut Draft) {
    let lengths = draft.arguments.iter().map(|argument| &argument.value);
    let texts = draft.globals.iter().chain(&draft.constraints).chain(lengths).cloned();
    let texts = texts.chain(draft.bounds.values().map(ToString::to_string)).collect_vec();
    let unused = |name: &String| {
        name.starts_with("items") && !texts.iter().any(|text| text.contains(name.as_str()))
    };
    let names = draft.guessed.iter().filter(|name| unused(name)).cloned().collect_vec();
    draft.guessed.retain(|name| !names.contains(name));
    draft.inputs.retain(|name, _| !names.contains(name));
}

fn locals(draft: &mut Draft) -> Vec<String> {
    let dimensions = draft.dimensions;
    if !draft.request.local.is_empty() {
        let given = draft.request.local.iter().cloned();
        return given.chain(std::iter::repeat("1".to_owned())).take(dimensions).collect();
    }
    if let Some(required) = draft.required.get(&draft.entry).cloned() {
        draft.note("launch: groups as reqd_work_group_size says");
        return required.into_iter().take(dimensions).collect();
    }
    let named = (0..dimensions).map(|d| draft.group(d).cloned()).collect_vec();
    match named.as_slice() {
        [Some(one), None] if dimensions == 2 => {
            draft.note(format!("launch: square groups of {one}, the only name of a group's size"));
            vec![one.clone(), one.clone()]
        }
        _ => named
            .into_iter()
            .enumerate()
            .map(|(d, name)| name.unwrap_or_else(|| own(draft, d)))
            .collect(),
    }
}

/// A parameter for a group's size that the source has no name for.
fn own(draft: &mut Draft, d: usize) -> String {
    let (name, domain) = match draft.asked {
        1 => ("LOCAL_SIZE".to_owned(), "powers_of_two(32, 256)"),
        _ => (format!("LOCAL_SIZE_{}", AXES[d].to_uppercase()), "powers_of_two(4, 32)"),
    };
    draft.parameters.insert(name.clone(), Value::from(domain));
    draft.note(format!("parameters.{name}: a group's size; the source has no name for it"));
    name
}
