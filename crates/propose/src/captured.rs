//! A draft whose launch, lengths and numbers are those of a captured kernel.
//!
//! The most frequent launch gives the values of inputs. Launches of other sizes are named sizes.
//! What is the same in all of them and is no argument is written as a number.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::source::Standard;
use tickbound_model::t1::CompilerOptions;
use tickbound_opencl::reading::{By, KernelParameter, KernelSignature};

use crate::capture::{CapturedArgument, CapturedKernel, CapturedLaunch};
use crate::draft::{Argument, Draft, element, lanes};
use crate::error::ProposeError;
use crate::launch::AXES;

/// Most named sizes: those of the most frequent launches.
const MAX_SIZES: usize = 32;

/// A launch as numbers by their names, and texts of arguments that are no whole numbers.
#[derive(Clone, PartialEq, Eq)]
struct Numbers {
    whole: IndexMap<String, i64>,
    texts: IndexMap<String, String>,
    count: u64,
    local_given: bool,
}

fn refused(kernel: &CapturedKernel, what: String) -> ProposeError {
    ProposeError::Captured { kernel: kernel.name.clone(), what }
}

/// Takes the macros, the folders and the language's version of the compiler's options. What the
/// user decides stays.
pub(crate) fn options(draft: &mut Draft, kernel: &CapturedKernel) -> Result<(), ProposeError> {
    let read = CompilerOptions::from_text(&kernel.options, "build options")?;
    if read.standard.is_some_and(|version| !version.starts_with("CL1.")) {
        draft.standard = Standard::Cl30;
    }
    for (name, text) in read.defines {
        if !draft.knows(&name) {
            draft.define(&name, &text);
        }
    }
    let folders =
        read.include.iter().map(|folder| kernel.folder.join(folder).display().to_string());
    draft.wishes.include.extend(folders);
    if !read.others.is_empty() {
        let text = read.others.join(" ");
        draft.note(format!(
            "options: {text} of the program are not in this file, nor measured with"
        ));
    }
    Ok(())
}

/// Takes launches: inputs, arguments, sizes and the launch.
pub(crate) fn take(
    draft: &mut Draft,
    signature: &KernelSignature,
    kernel: &CapturedKernel,
) -> Result<(), ProposeError> {
    draft.entry.clone_from(&signature.name);
    let dimensions = kernel.launches.iter().map(|launch| launch.global.len()).max().unwrap_or(1);
    (draft.dimensions, draft.asked) = (dimensions, dimensions);
    let read = |launch| numbers(signature, launch, dimensions);
    let (read, left): (Vec<Numbers>, Vec<String>) =
        kernel.launches.iter().map(read).partition_result();
    let Some(first) = read.first().cloned() else {
        let what = left.first().cloned().unwrap_or_else(|| "no launch of it is known".to_owned());
        return Err(refused(kernel, what));
    };
    if let Some(why) = left.first() {
        draft.note(format!("captured: {} distinct launches left out: {why}", left.len()));
    }
    let total: u64 = read.iter().map(|launch| launch.count).sum();
    draft.note(format!("captured: {total} launches; {} of them are the default size", first.count));
    if kernel.others > 0 {
        draft.note(format!("captured: of {} more launches the sizes are not known", kernel.others));
    }
    let differ: Vec<&String> = first
        .texts
        .keys()
        .filter(|name| !read.iter().map(|l| &l.texts[*name]).all_equal())
        .collect();
    if !differ.is_empty() {
        let names = differ.into_iter().join(", ");
        draft.note(format!("captured: {names} differ between launches; of the most frequent one"));
    }
    let given = read.iter().filter(|launch| launch.local_given).count();
    let fixed = given == read.len();
    // Where the driver chose once, the kernel runs with any group.
    let counts = |name: &&String| fixed || !name.starts_with("local_size_");
    let names: Vec<String> = first.whole.keys().filter(counts).cloned().collect();
    let mut texts = first.texts.clone();
    for name in names {
        let scalar = |p: &KernelParameter| p.name == name && p.ty.by == Some(By::Value);
        let same = read.iter().map(|launch| launch.whole[&name]).all_equal();
        let value = first.whole[&name];
        if same && !signature.parameters.iter().any(scalar) {
            texts.insert(name, value.to_string());
        } else {
            draft.inputs.entry(name.clone()).or_insert(value);
            draft.wishes.inputs.entry(name.clone()).or_insert(value);
            texts.insert(name.clone(), name);
        }
    }
    sizes(draft, &read);
    launch(draft, signature, dimensions, &texts, fixed);
    for parameter in &signature.parameters {
        let (Some(by), Some(element)) = (parameter.ty.by, element(&parameter.ty)) else { continue };
        let key = if by == By::Value { parameter.name.clone() } else { length(parameter) };
        let value = texts.get(&key).cloned().unwrap_or_default();
        let (name, lanes) = (parameter.name.clone(), lanes(&parameter.ty));
        draft.arguments.push(Argument { name, element, by, lanes, value });
        if by == By::Whole {
            draft.guess(format!("what is in {}", parameter.name));
        }
    }
    shared_buffers(draft, &kernel.launches[0]);
    Ok(())
}

/// The name of an argument's length.
fn length(parameter: &KernelParameter) -> String {
    format!("length_{}", parameter.name)
}

/// Names the sizes of launches that differ, by their global sizes.
fn sizes(draft: &mut Draft, read: &[Numbers]) {
    let mut named: IndexMap<String, IndexMap<String, i64>> = IndexMap::new();
    let mut counts: Vec<u64> = Vec::new();
    for launch in read {
        let own = |name: &String| Some((name.clone(), *launch.whole.get(name)?));
        let inputs: IndexMap<String, i64> = draft.inputs.keys().filter_map(own).collect();
        if let Some(known) = named.values().position(|other| *other == inputs) {
            counts[known] += launch.count;
            continue;
        }
        let global = launch.whole.iter().filter(|(name, _)| name.starts_with("global_size_"));
        let name = global.map(|(_, size)| size).join("x");
        let taken = named.keys().filter(|n| n.split('_').next() == Some(name.as_str())).count();
        named.insert(if taken == 0 { name } else { format!("{name}_{}", taken + 1) }, inputs);
        counts.push(launch.count);
    }
    if named.len() > 1 {
        let left = named.len().saturating_sub(MAX_SIZES);
        named.truncate(MAX_SIZES);
        let mut each = named.keys().zip(&counts).map(|(name, count)| format!("{name} ({count})"));
        draft.note(format!("sizes, with how often each was launched: {}", each.join(", ")));
        if left > 0 {
            draft.note(format!("sizes: {left} more, which were less frequent, are left out"));
        }
        draft.sizes = named;
    }
}

/// The launch; groups that the driver chose are parameters.
fn launch(
    draft: &mut Draft,
    signature: &KernelSignature,
    dimensions: usize,
    texts: &IndexMap<String, String>,
    fixed: bool,
) {
    let of = |what: &str, d: usize| texts[&format!("{what}_size_{}", AXES[d])].clone();
    if draft.wishes.global.is_empty() {
        draft.wishes.global = (0..dimensions).map(|d| of("global", d)).collect();
    }
    let required = draft.required.get(&signature.name).cloned();
    if !draft.wishes.local.is_empty() || (required.is_some() && !fixed) {
        return;
    }
    for d in 0..dimensions {
        let global = of("global", d);
        let local = if fixed {
            of("local", d)
        } else if global == "1" {
            "1".to_owned()
        } else {
            let name = match dimensions {
                1 => "LOCAL_SIZE".to_owned(),
                _ => format!("LOCAL_SIZE_{}", AXES[d].to_uppercase()),
            };
            draft.note(format!("parameters.{name}: a group's size, which the driver chose"));
            draft.parameters.insert(name.clone(), format!("divisors({global})").into());
            name
        };
        draft.wishes.local.push(local);
    }
}

/// Notes which arguments are one buffer.
fn shared_buffers(draft: &mut Draft, launch: &CapturedLaunch) {
    for (place, argument) in launch.arguments.iter().enumerate() {
        if let CapturedArgument::Memory { object, .. } = argument
            && let (true, Some(one)) = (*object < place, draft.arguments.get(*object))
            && let Some(other) = draft.arguments.get(place)
        {
            let (one, other) = (one.name.clone(), other.name.clone());
            draft.note(format!(
                "arguments: {one} and {other} are one buffer in the program, here two"
            ));
        }
    }
}

/// The numbers of a launch, or why a problem file cannot have it.
fn numbers(
    signature: &KernelSignature,
    launch: &CapturedLaunch,
    dimensions: usize,
) -> Result<Numbers, String> {
    if launch.offset.iter().flatten().any(|offset| *offset != 0) {
        return Err(format!(
            "{}: it begins at an offset, which this format does not have",
            launch.at
        ));
    }
    let mut all = Numbers {
        whole: IndexMap::new(),
        texts: IndexMap::new(),
        count: launch.count,
        local_given: launch.local.is_some(),
    };
    for d in 0..dimensions {
        let global = launch.global.get(d).copied().unwrap_or(1);
        all.whole.insert(format!("global_size_{}", AXES[d]), global);
        if let Some(local) = &launch.local {
            let local = local.get(d).copied().unwrap_or(1);
            if local < 1 || global % local != 0 {
                let what = format!("{global} work items are no whole groups of {local}");
                return Err(format!("{}: {what}, which this format does not have", launch.at));
            }
            all.whole.insert(format!("local_size_{}", AXES[d]), local);
        }
    }
    if launch.arguments.len() > signature.parameters.len() {
        let (set, taken) = (launch.arguments.len(), signature.parameters.len());
        return Err(format!("{}: {set} arguments are set, the kernel takes {taken}", launch.at));
    }
    for (place, parameter) in signature.parameters.iter().enumerate() {
        let unset = CapturedArgument::Other("not set");
        let set = launch.arguments.get(place).unwrap_or(&unset);
        put(parameter, set, &mut all)
            .map_err(|why| format!("{}: argument `{}` {why}", launch.at, parameter.name))?;
    }
    Ok(all)
}

/// Adds what an argument was set to.
fn put(
    parameter: &KernelParameter,
    set: &CapturedArgument,
    all: &mut Numbers,
) -> Result<(), String> {
    let ty = &parameter.ty;
    let (Some(by), Some(element)) = (ty.by, element(ty)) else {
        return Err(format!("is {}, which this format does not have", ty.text));
    };
    let width = i64::try_from(element.bytes()).unwrap_or(1);
    match (by, set) {
        (By::Buffer, CapturedArgument::Memory { bytes, .. }) => {
            all.whole.insert(length(parameter), bytes / width);
        }
        (By::Local, CapturedArgument::Local(bytes)) => {
            all.whole.insert(length(parameter), bytes / width);
        }
        // Drivers take a null pointer for a null object, too.
        (By::Buffer, CapturedArgument::Local(8)) => {
            return Err("is a null pointer, which this format does not have".to_owned());
        }
        (By::Buffer, CapturedArgument::Value(bytes)) if bytes.iter().all(|byte| *byte == 0) => {
            return Err("is a null pointer, which this format does not have".to_owned());
        }
        (By::Value, CapturedArgument::Value(bytes)) => {
            let what = || format!("has {} bytes, {} has {width}", bytes.len(), ty.text);
            if i64::try_from(bytes.len()) != Ok(width) {
                return Err(what());
            }
            if element.is_real() {
                let text = real(bytes).ok_or("is not a finite number, which this format needs")?;
                all.texts.insert(parameter.name.clone(), text);
            } else {
                let signed = !element.name().starts_with('u');
                let value = whole(bytes, signed).ok_or("is above 2^63, which no input may be")?;
                all.whole.insert(parameter.name.clone(), value);
            }
        }
        (By::Whole, CapturedArgument::Value(bytes)) => {
            let count = i64::try_from(bytes.len()).unwrap_or(0) / width;
            all.whole.insert(length(parameter), count);
        }
        (_, CapturedArgument::Other(what)) => return Err(format!("is {what}")),
        _ => return Err(format!("is no {}", ty.text)),
    }
    Ok(())
}

/// A real number of 4 or 8 bytes as text.
fn real(bytes: &[u8]) -> Option<String> {
    let single = bytes.try_into().ok().map(f32::from_le_bytes);
    let double = bytes.try_into().ok().map(f64::from_le_bytes);
    let text = |finite: bool, text: String| finite.then_some(text);
    single
        .and_then(|n| text(n.is_finite(), n.to_string()))
        .or_else(|| double.and_then(|n| text(n.is_finite(), n.to_string())))
}

/// A whole number of at most 8 bytes.
fn whole(bytes: &[u8], signed: bool) -> Option<i64> {
    let negative = signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let value = i64::from_le_bytes(wide);
    (signed || value >= 0).then_some(value)
}
