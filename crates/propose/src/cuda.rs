//! Constants, arguments of templates and launches in a source in CUDA or HIP.
//!
//! Numbers that size groups and tiles are tuning parameters, others stay as they are. The launch is
//! that of the host's code, over arguments of the kernel and parameters; what only variables of the
//! host decide is an input, or a parameter where it is the size of a group.

use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use serde_json::{Value, json};
use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::source::Standard;
use tickbound_opencl::outline::Outline;
use tickbound_opencl::reading::{By, KernelSignature, SourceLaunch};
use tickbound_opencl::steps::{SymbolExpr, has_name};
use tickbound_opencl::{ReadError, ReaderSetup, Symbol, cuda, extract};

use crate::compiler::request;
use crate::draft::Draft;
use crate::macros::{DIVISION, domain_of, undefined};
use crate::names::{Role, role};
use crate::share::in_brackets;

/// Items of a group that no source and no launch states.
const GROUP_SIZES: [&str; 3] =
    ["powers_of_two(32, 256)", "powers_of_two(8, 32)", "powers_of_two(4, 16)"];
/// A number of a template's parameter of which nothing is known.
pub(crate) const UNKNOWN: i64 = 32;

/// The language of a source: by the end of its name, and by what is in it.
pub(crate) fn language(path: &Path, outline: &Outline, text: &str) -> Standard {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let named = matches!(ending, "cu" | "cuh" | "hip");
    let hip = ending == "hip"
        || text.contains("#include <hip/")
        || text.contains("#include \"hip/")
        || text.contains("hipLaunchKernelGGL")
        || text.contains("hipBlockIdx_x");
    match (named || outline.is_cuda(), hip) {
        (false, _) => Standard::Cl12,
        (true, false) => Standard::Cuda,
        (true, true) => Standard::Hip,
    }
}

/// The kernels of a source with their templates and launches, before anything is decided.
///
/// # Errors
/// libclang is missing or gives up.
pub(crate) fn kernels(
    draft: &Draft,
    path: &Path,
    outline: &Outline,
    setup: &ReaderSetup<'_>,
) -> Result<Vec<KernelSignature>, ReadError> {
    let (mut asked, mut values) = request(draft, path, outline, &IndexMap::new());
    asked.entry = String::new();
    for (name, number) in outline.named_numbers() {
        let symbol = Symbol { least: number, greatest: number };
        asked.symbols.entry(name.clone()).or_insert(symbol);
        values.entry(name).or_insert(number);
    }
    match extract::kernels(&asked, Vec::new(), &values, setup) {
        Err(ReadError::Source { what, .. }) if what.starts_with(DIVISION) => {
            for name in undefined(outline) {
                asked.symbols.entry(name.clone()).or_insert(Symbol { least: 1, greatest: 1 });
                values.entry(name).or_insert(1);
            }
            extract::kernels(&asked, Vec::new(), &values, setup)
        }
        kernels => kernels,
    }
}

/// Notes headers that no folder has.
pub(crate) fn missing(draft: &mut Draft, path: &Path, text: &str) {
    let folder = path.parent().unwrap_or(Path::new(""));
    let include = draft.request.include.iter().map(|name| folder.join(name));
    let folders = std::iter::once(folder.to_owned()).chain(include).collect_vec();
    let missing = cuda::missing(&path.to_string_lossy(), text, &folders);
    if !missing.is_empty() {
        draft.note(format!("includes: {} taken as empty, as no folder has it", missing.join(", ")));
    }
}

/// Makes parameters of constants that size groups and tiles, and decides the arguments of the
/// kernel's template. What the user has decided stays.
pub(crate) fn decide(draft: &mut Draft, outline: &Outline, kernel: &KernelSignature) {
    let launch = chosen(kernel);
    let numbers: IndexMap<String, i64> = outline.named_numbers().into_iter().collect();
    let in_block = |name: &str| {
        launch.iter().flat_map(|l| &l.block).flatten().any(|size| has_name(size, |n| n == name))
    };
    let mut left = Vec::new();
    for (name, number) in numbers.iter().filter(|(name, _)| outline.mentions(name)) {
        if draft.knows(name) || kernel.parameters.iter().any(|p| p.name == *name) {
            continue;
        }
        let own = match role(name) {
            Some(Role::Size | Role::Flag | Role::Groups) | None if !in_block(name) => None,
            Some(Role::Size | Role::Flag | Role::Groups) | None => Some(Role::Group(0)),
            role => role,
        };
        if own.is_some() && *number > 0 {
            tune(draft, outline, (name, own), &[*number]);
        } else if role(name).is_some() {
            left.push(format!("{name}={number}"));
        }
    }
    if !left.is_empty() {
        let text = left.join(", ");
        draft.note(format!("macros: the source's own {text}; --parameter NAME=[...] opens one"));
    }
    template(draft, outline, kernel);
}

/// A parameter with a domain around the values that occur.
fn tune(draft: &mut Draft, outline: &Outline, (name, role): (&str, Option<Role>), own: &[i64]) {
    let m = outline.macros.get(name).cloned().unwrap_or_default();
    let (domain, why) = match own {
        [] | [_] => domain_of(draft.dimensions, &m, role, own.first().copied()),
        all => (json!(all), "the values that the launches give it"),
    };
    draft.note(format!("parameters.{name}: {why}"));
    draft.parameters.insert(name.to_owned(), domain);
}

/// Arguments of the kernel's template: types as the launch has them, sizes as parameters.
fn template(draft: &mut Draft, outline: &Outline, kernel: &KernelSignature) {
    let launch = chosen(kernel);
    let tuned = |name: &String, values: &[i64]| {
        let sizes = !matches!(role(name), None | Some(Role::Flag | Role::Size | Role::Groups));
        (sizes || values.len() > 1) && values.iter().any(|v| *v > 1)
    };
    let (mut fixed, mut unnamed) = (Vec::new(), false);
    for (place, (name, is_type)) in kernel.template.iter().enumerate() {
        if draft.knows(name) || name.is_empty() {
            continue;
        }
        let instances = kernel.launches.iter().filter_map(|l| l.instance.get(place));
        let occurring = instances.filter_map(|text| text.parse().ok()).unique().sorted();
        let occurring: Vec<i64> = occurring.collect();
        let own = launch.and_then(|l| l.instance.get(place)).filter(|text| !text.is_empty());
        match (is_type, own) {
            (true, Some(text)) if text.contains('(') => unnamed = true,
            (true, Some(text)) => fixed.push((name.clone(), text.clone())),
            (true, None) => {
                draft.guess(format!("{name} = float, a type"));
                draft.define(name, "float");
            }
            (false, _) if tuned(name, &occurring) => {
                tune(draft, outline, (name, role(name)), &occurring);
            }
            (false, Some(text)) => fixed.push((name.clone(), text.clone())),
            (false, None) => {
                draft.guess(format!("{name} = {UNKNOWN}"));
                draft.defines.insert(name.clone(), UNKNOWN.into());
            }
        }
    }
    // A type without a name is that of the launch, and so are all arguments then.
    if unnamed && !kernel.template.iter().any(|(name, _)| draft.knows(name)) {
        return;
    }
    for (name, text) in fixed {
        draft.note(format!("defines.{name}: {text}, as the launch has it"));
        draft.define(&name, &text);
    }
}

/// The launch that is taken: the first one over arguments and constants alone, else the first.
fn chosen(kernel: &KernelSignature) -> Option<&SourceLaunch> {
    let known = |launch: &&SourceLaunch| {
        launch.grid.iter().chain(&launch.block).all(|size| size.is_some())
            && hosts(kernel, launch).is_empty()
    };
    kernel.launches.iter().find(known).or(kernel.launches.first())
}

/// Names in a launch that no argument of the kernel is.
fn hosts(kernel: &KernelSignature, launch: &SourceLaunch) -> Vec<String> {
    let constants = |name: &String| kernel.template.iter().any(|(own, _)| own == name);
    let mut found = Vec::new();
    for size in launch.grid.iter().chain(&launch.block).flatten() {
        let size = over_arguments(kernel, launch, size);
        names(&size, &mut |name| {
            let argument = kernel.parameters.iter().any(|p| p.name == *name);
            if !argument && !constants(name) && !found.contains(name) {
                found.push(name.clone());
            }
        });
    }
    found
}

fn names(number: &SymbolExpr, visit: &mut impl FnMut(&String)) {
    if let Expr::Name(name) = number {
        visit(name);
    }
    number.parts().for_each(|part| names(part, visit));
}

/// A number of a launch over the kernel's arguments, where these are passed parts of it.
fn over_arguments(
    kernel: &KernelSignature,
    launch: &SourceLaunch,
    number: &SymbolExpr,
) -> SymbolExpr {
    let whole = |p: &&(&tickbound_opencl::reading::KernelParameter, &Option<SymbolExpr>)| {
        p.0.ty.by == Some(By::Value) && p.0.ty.element.is_some_and(|element| !element.is_real())
    };
    let passed = kernel.parameters.iter().zip(&launch.arguments).collect_vec();
    let passed = passed.iter().filter(whole);
    let same = passed
        .filter_map(|(p, e)| Some((e.as_ref()?, p)))
        .find(|(e, _)| !matches!(e, Expr::Int(_)) && *e == number);
    if let Some((_, parameter)) = same {
        return Expr::Name(parameter.name.clone());
    }
    let integers = kernel.template.iter().filter(|(_, is_type)| !is_type);
    let written = integers.zip(&launch.template);
    let bound = written.filter_map(|((name, _), e)| Some((name, e.as_ref()?)));
    let bound = bound.into_iter().find(|(_, e)| !matches!(e, Expr::Int(_)) && *e == number);
    if let Some((name, _)) = bound {
        return Expr::Name(name.clone());
    }
    number
        .with_parts(|part| Some(over_arguments(kernel, launch, part)))
        .unwrap_or_else(|| number.clone())
}

/// Takes the launch of the source for the draft's, unless the user gives another one. The draft has
/// the kernel.
pub(crate) fn launch(draft: &mut Draft, outline: &Outline, kernel: &KernelSignature) {
    let Some(launch) = chosen(kernel) else { return };
    numbers_passed(draft, kernel, launch);
    if !draft.request.global.is_empty() || !draft.request.local.is_empty() {
        return;
    }
    let constants: IndexMap<String, i64> = outline.named_numbers().into_iter().collect();
    let size = |draft: &Draft, size: &Option<SymbolExpr>| {
        let size = over_arguments(kernel, launch, size.as_ref()?);
        let known = |name: &String| match constants.get(name) {
            Some(number) if !draft.knows(name) => Ok::<_, ()>(Expr::Int(*number)),
            _ => Ok(Expr::Name(name.clone())),
        };
        size.replace(&mut { known }).ok()
    };
    // A dimension that the kernel does not use is 1 where the host alone knows it.
    let unused = |draft: &Draft, d: usize, size: SymbolExpr| match &size {
        Expr::Name(name) if d >= draft.asked && !draft.knows(name) => Expr::Int(1),
        _ => size,
    };
    let sizes = |draft: &Draft, all: &[Option<SymbolExpr>]| {
        let sizes = all.iter().enumerate();
        sizes.map(|(d, s)| Some(unused(draft, d, size(draft, s)?))).collect_vec()
    };
    let [block, grid] = [&launch.block, &launch.grid].map(|all| sizes(draft, all));
    let Some(block) = block.into_iter().collect::<Option<Vec<_>>>() else { return };
    let one = |size: &Option<&SymbolExpr>| matches!(size, Some(Expr::Int(1)));
    let used = |d: &usize| !one(&block.get(*d)) || !one(&grid.get(*d).and_then(Option::as_ref));
    let dimensions = (0..3).rev().find(used).map_or(1, |d| d + 1).max(draft.asked);
    let sizes = block.iter().map(|size| (true, size));
    let sizes = sizes.chain(grid.iter().flatten().map(|size| (false, size))).collect_vec();
    for (is_block, size) in sizes {
        host_names(draft, kernel, size, is_block.then_some(dimensions));
    }
    let text = |size: &SymbolExpr| size.to_string();
    draft.request.local = block.iter().take(dimensions).map(text).collect();
    draft.dimensions = dimensions;
    for (d, groups) in grid.iter().take(dimensions).enumerate() {
        let Some(groups) = groups else { break };
        let local = &draft.request.local[d];
        draft.request.global.push(match local.as_str() {
            "1" => text(groups),
            local => format!("{} * {}", in_brackets(&text(groups)), in_brackets(local)),
        });
        whole_quotients(draft, groups);
    }
    block.iter().take(dimensions).for_each(|size| whole_quotients(draft, size));
    shared(draft, kernel, launch, &size);
    launch_said(draft, kernel, launch);
}

/// Notes which launch was taken.
fn launch_said(draft: &mut Draft, kernel: &KernelSignature, launch: &SourceLaunch) {
    let known = draft.request.global.len() == draft.dimensions;
    let others = kernel.launches.iter().filter(|other| *other != launch).map(|other| other.line);
    let others = others.unique().map(|line| line.to_string()).join(", ");
    let others = if others.is_empty() { others } else { format!("; others in lines {others}") };
    let part = if known { "" } else { "; groups are not read" };
    draft.note(format!("launch: that of line {}{part}{others}", launch.line));
}

/// Numbers that the launch passes are values of inputs.
fn numbers_passed(draft: &mut Draft, kernel: &KernelSignature, launch: &SourceLaunch) {
    for (parameter, passed) in kernel.parameters.iter().zip(&launch.arguments) {
        let user = draft.request.inputs.contains_key(&parameter.name);
        if let (Some(Expr::Int(number)), Some(input), false) =
            (passed, draft.inputs.get_mut(&parameter.name), user)
        {
            *input = *number;
        }
    }
}

/// Names of the host: of a group's size parameters, else inputs.
fn host_names(
    draft: &mut Draft,
    kernel: &KernelSignature,
    size: &SymbolExpr,
    dimensions_of_block: Option<usize>,
) {
    let mut found = Vec::new();
    names(size, &mut |name| found.push(name.clone()));
    for name in found {
        let argument = kernel.parameters.iter().any(|p| p.name == name);
        if argument || draft.knows(&name) {
            continue;
        }
        if let Some(dimensions) = dimensions_of_block {
            draft.note(format!("parameters.{name}: a group's size, which the host decides"));
            let sizes = GROUP_SIZES[dimensions.clamp(1, 3) - 1];
            draft.parameters.insert(name, Value::from(sizes));
        } else {
            draft.inputs.insert(name.clone(), 0);
            draft.note(format!("inputs.{name}: the host's; give it with --input {name}=VALUE"));
        }
    }
}

/// What is divided by a parameter, or a parameter that is divided, is divided without rest, unless
/// the quotient is rounded up.
fn whole_quotients(draft: &mut Draft, size: &SymbolExpr) {
    if let Expr::Binary(BinaryOp::Div, whole, part) = size {
        let rounds = matches!(**whole, Expr::Binary(BinaryOp::Sub, ..) | Expr::Call(..));
        let is_open = |e: &SymbolExpr| has_name(e, |name| draft.parameters.contains_key(name));
        let open = is_open(whole) || is_open(part);
        if open && !rounds {
            let [whole, part] = [whole, part].map(|e| in_brackets(&e.to_string()));
            draft.constraints.push(format!("{whole} % {part} == 0"));
        }
    }
    size.parts().for_each(|part| whole_quotients(draft, part));
}

/// The length of dynamic shared memory.
fn shared(
    draft: &mut Draft,
    kernel: &KernelSignature,
    launch: &SourceLaunch,
    size: &dyn Fn(&Draft, &Option<SymbolExpr>) -> Option<SymbolExpr>,
) {
    let Some(bytes) = size(draft, &launch.shared) else { return };
    if bytes == Expr::Int(0) {
        return;
    }
    host_names(draft, kernel, &bytes, Some(1));
    let Some(argument) = draft.arguments.iter_mut().find(|a| a.by == By::Local) else { return };
    let element = i64::try_from(argument.element.bytes()).unwrap_or(1).max(1);
    let length = match bytes {
        Expr::Binary(BinaryOp::Mul, count, by) if *by == Expr::Int(element) => count.to_string(),
        bytes if element == 1 => bytes.to_string(),
        bytes => format!("ceil_div({bytes}, {element})"),
    };
    let name = argument.name.clone();
    argument.value = length;
    draft.note(format!("arguments.{name}: the launch's shared memory"));
    draft.shared = Some(name);
}
