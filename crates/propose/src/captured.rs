//! A draft whose launch, lengths and numbers are those of a captured kernel.
//!
//! The most frequent launch gives the inputs their values; launches of other sizes are named
//! sizes. What is the same in all launches is written as a number, unless it is an argument.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::source::{ElementType, Standard};
use tickbound_model::t1::CompilerOptions;
use tickbound_opencl::outline::Outline;
use tickbound_opencl::reading::{By, KernelParameter, KernelSignature};

use crate::capture::{CapturedArgument, CapturedImage, CapturedLaunch};
use crate::draft::{Argument, Draft, element};
use crate::error::ProposeError;
use crate::launch::AXES;
use crate::macros;
use crate::share::in_brackets;

/// Most named sizes: those of the most frequent launches.
const MAX_SIZES: usize = 32;

/// A number's value in each launch.
type Column = Vec<i64>;
/// Numbers as texts, by their names.
type Numbers = IndexMap<String, String>;

/// Takes macros, folders and the language's version out of the compiler's options; without a
/// capture the macros that directives mention. What the user has decided stays.
pub(crate) fn macros(draft: &mut Draft, outline: &Outline) -> Result<(), ProposeError> {
    let Some(kernel) = draft.request.captured.clone() else {
        macros::of_directives(draft, outline);
        return Ok(());
    };
    let read = CompilerOptions::from_text(&kernel.options, "options of the program")?;
    if read.standard.is_some_and(|version| !version.starts_with("CL1.")) {
        draft.standard = Standard::Cl30;
    }
    for (name, text) in read.defines {
        if !draft.knows(&name) {
            draft.define(&name, &text);
        }
    }
    let folders = read.include.iter().map(|name| kernel.folder.join(name).display().to_string());
    draft.request.include.extend(folders);
    if !read.others.is_empty() {
        let text = read.others.join(" ");
        draft.note(format!("options: without {text}, which a problem file has no place for"));
    }
    Ok(())
}

/// Takes the kernel, and its launches if they are captured.
pub(crate) fn take(draft: &mut Draft, signature: &KernelSignature) -> Result<(), ProposeError> {
    let Some(kernel) = draft.request.captured.clone() else {
        draft.take(signature);
        return Ok(());
    };
    draft.entry.clone_from(&signature.name);
    let dimensions = |launch: &CapturedLaunch| launch.range[0].as_ref().map_or(1, Vec::len);
    let dimensions = kernel.launches.iter().map(dimensions).max().unwrap_or(1).clamp(1, 3);
    (draft.dimensions, draft.asked) = (dimensions, dimensions);
    let read = |launch: &CapturedLaunch| numbers(signature, launch, dimensions);
    let (all, left): (Vec<(Numbers, u64)>, Vec<_>) =
        kernel.launches.iter().map(read).partition_result();
    let Some((first, _)) = all.first() else {
        let (at, what) = left.into_iter().next().unwrap_or_default();
        let what = format!("kernel `{}`: {what}", kernel.name);
        return Err(ProposeError::Captured { at, what });
    };
    if let Some((at, what)) = left.first() {
        draft.note(format!("captured: without {} distinct launches: {at}: {what}", left.len()));
    }
    let texts = texts(draft, signature, (first, &all));
    // Inputs of value 0 are not open.
    draft.request.inputs.clone_from(&draft.inputs);
    sizes(draft, &all);
    launch(draft, dimensions, &texts, all.iter().all(|(n, _)| n.contains_key("local_size_x")));
    let first = kernel.launches.iter().find(|launch| read(launch).is_ok());
    first.into_iter().for_each(|first| arguments(draft, signature, &texts, first));
    Ok(())
}

/// The numbers of the most frequent launch as texts. Those of a launch that differ follow from
/// arguments, or are inputs.
fn texts(
    draft: &mut Draft,
    signature: &KernelSignature,
    (first, all): (&Numbers, &[(Numbers, u64)]),
) -> Numbers {
    let is_value =
        |p: &KernelParameter| p.ty.by == Some(By::Value) && !p.ty.text.contains("sampler");
    let value =
        |name: &String| signature.parameters.iter().find(|p| p.name == *name && is_value(p));
    let (mut texts, mut differ) = (first.clone(), Vec::new());
    let column = |name: &String| {
        all.iter().map(|(numbers, _)| numbers.get(name)?.parse().ok()).collect::<Option<Column>>()
    };
    let whole = texts.keys().filter(|name| value(name).is_some());
    let mut known = whole.filter_map(|name| Some((name.clone(), column(name)?))).collect_vec();
    for (name, text) in &mut texts {
        let same = all.iter().all(|(other, _)| other.get(name) == Some(text));
        let is_real = |p: &KernelParameter| element(&p.ty).is_some_and(ElementType::is_real);
        if value(name).is_some_and(is_real) {
            differ.extend((!same).then_some(name.as_str()));
        } else if value(name).is_some()
            || !same && all.iter().all(|(other, _)| other.contains_key(name))
        {
            let local = name.strip_prefix("global").and_then(|d| column(&format!("local{d}")));
            let own = column(name).filter(|_| value(name).is_none());
            let number = text.parse().unwrap_or_default();
            let expression = own.as_ref().and_then(|own| expressed(own, &known, local.as_ref()));
            *text = expression.unwrap_or_else(|| {
                draft.inputs.entry(name.clone()).or_insert(number);
                name.clone()
            });
            known.extend(own.map(|own| (text.clone(), own)));
        }
    }
    if !differ.is_empty() {
        let differ = differ.join(", ");
        draft.note(format!("captured: launches differ in {differ}; this is the most frequent one"));
    }
    texts
}

/// What a number is in all launches, over others: one of them, that rounded up to whole groups, or
/// a product of two.
fn expressed(own: &Column, known: &[(String, Column)], local: Option<&Column>) -> Option<String> {
    let equal = |value: &dyn Fn(usize) -> Option<i64>| {
        (0..own.len()).all(|launch| value(launch) == Some(own[launch]))
    };
    let alone = known.iter().find(|(_, other)| equal(&|i| Some(other[i])));
    let rounded = || {
        let local = local.filter(|local| local.iter().all_equal())?;
        let whole = |n: i64, of: i64| n.checked_add(of - 1)?.div_euclid(of).checked_mul(of);
        let (name, _) = known.iter().find(|(_, other)| equal(&|i| whole(other[i], local[i])))?;
        Some(format!("ceil_div({name}, {0}) * {0}", local[0]))
    };
    let product = || {
        let mut pairs = known.iter().array_combinations();
        let both = pairs.find(|[(_, a), (_, b)]| equal(&|i| a[i].checked_mul(b[i])));
        both.map(|[(a, _), (b, _)]| format!("{} * {}", in_brackets(a), in_brackets(b)))
    };
    alone.map(|(name, _)| name.clone()).or_else(rounded).or_else(product)
}

/// The arguments, and which of them are one buffer.
fn arguments(
    draft: &mut Draft,
    signature: &KernelSignature,
    texts: &IndexMap<String, String>,
    first: &CapturedLaunch,
) {
    for (parameter, argument) in signature.parameters.iter().zip(&first.arguments) {
        let (Some(by), Some(element)) = (parameter.ty.by, element(&parameter.ty)) else { continue };
        let mut value = texts.get(&key(parameter)).cloned().unwrap_or_default();
        let mut element = element;
        if let CapturedArgument::Image(image) = argument {
            let sizes = keys_of_image(&parameter.name).take(image.sizes.len());
            value = sizes.filter_map(|key| texts.get(&key)).join(", ");
            element = image.element;
            if !image.is_whole {
                let (name, own) = (&parameter.name, element.name());
                let what = "another format of images in the program; here four components of";
                draft.note(format!("arguments.{name}: {what} {own}"));
            }
        }
        let (name, bytes) = (parameter.name.clone(), parameter.ty.bytes.unwrap_or(1));
        if by == By::Whole {
            draft.guess(format!("what is in {name}"));
        }
        draft.arguments.push(Argument { name, element, by, bytes, value });
    }
    let has_local = draft.arguments.iter().any(|argument| argument.by == By::Local);
    if has_local && !draft.request.parameters.is_empty() {
        draft.note(
            "arguments: local memory is as long as in the program, for all values of parameters",
        );
    }
    for (place, argument) in first.arguments.iter().enumerate() {
        if let CapturedArgument::Memory(object, _) = argument
            && let Some(one) = usize::try_from(*object).ok().filter(|one| *one < place)
            && let (Some(one), Some(other)) = (draft.arguments.get(one), draft.arguments.get(place))
        {
            let names = format!("{} and {}", one.name, other.name);
            draft.note(format!("arguments: {names} are one buffer in the program, here two"));
        }
    }
}

/// The name of the number that an argument is, or of its length.
fn key(parameter: &KernelParameter) -> String {
    let name = &parameter.name;
    if parameter.ty.by == Some(By::Value) { name.clone() } else { format!("length_{name}") }
}

/// Names the launches that differ in inputs by their global sizes.
fn sizes(draft: &mut Draft, all: &[(Numbers, u64)]) {
    let mut named: IndexMap<String, (IndexMap<String, i64>, u64)> = IndexMap::new();
    for (numbers, launches) in all {
        let own = |name: &String| Some((name.clone(), numbers.get(name)?.parse().ok()?));
        let inputs: IndexMap<String, i64> = draft.inputs.keys().filter_map(own).collect();
        if let Some((_, count)) = named.values_mut().find(|(other, _)| *other == inputs) {
            *count = count.saturating_add(*launches);
            continue;
        }
        let global = numbers.iter().filter(|(name, _)| name.starts_with("global_size_"));
        let global = global.map(|(_, size)| size).join("x");
        let same = |name: &&String| name.split('_').next() == Some(global.as_str());
        let name = match named.keys().filter(same).count() {
            0 => global,
            taken => format!("{global}_{}", taken + 1),
        };
        named.insert(name, (inputs, *launches));
    }
    let left = named.len().saturating_sub(MAX_SIZES);
    named.truncate(MAX_SIZES);
    let counts = named.iter().map(|(name, (_, count))| format!("{count} of {name}")).join(", ");
    let left = if left > 0 { format!("; without {left} rarer ones") } else { String::new() };
    draft.note(format!("captured: launches by size: {counts}{left}"));
    if named.len() > 1 {
        draft.weights = named.iter().map(|(name, (_, count))| (name.clone(), *count)).collect();
        draft.sizes = named.into_iter().map(|(name, (inputs, _))| (name, inputs)).collect();
    }
}

/// The launch. Where the driver chose a group once, the kernel runs with others, too: its sizes are
/// parameters then.
fn launch(draft: &mut Draft, dimensions: usize, texts: &IndexMap<String, String>, given: bool) {
    let size = |what: &str, d: usize| texts[&format!("{what}_size_{}", AXES[d])].clone();
    if draft.request.global.is_empty() {
        draft.request.global = (0..dimensions).map(|d| size("global", d)).collect();
    }
    if !draft.request.local.is_empty() || (draft.required.contains_key(&draft.entry) && !given) {
        return;
    }
    for (d, axis) in AXES.iter().enumerate().take(dimensions) {
        let global = size("global", d);
        let local = match given {
            true => size("local", d),
            false if global == "1" => global,
            false => {
                let axis = if dimensions > 1 {
                    format!("_{}", axis.to_uppercase())
                } else {
                    String::new()
                };
                let name = format!("LOCAL_SIZE{axis}");
                draft.note(format!("parameters.{name}: a group's size, which the driver chose"));
                draft.parameters.insert(name.clone(), format!("divisors({global})").into());
                name
            }
        };
        draft.request.local.push(local);
    }
}

/// Where a launch is written, and why a problem file cannot have it.
type Obstacle = (String, String);

/// The numbers of a launch.
fn numbers(
    signature: &KernelSignature,
    launch: &CapturedLaunch,
    dimensions: usize,
) -> Result<(Numbers, u64), Obstacle> {
    let refused = |what: String| Err((launch.at.clone(), what));
    let [global, local, offset] = &launch.range;
    if offset.iter().flatten().any(|offset| *offset != 0) {
        return refused("a problem file has no offset of the launch".to_owned());
    }
    let mut all = Numbers::new();
    for (d, axis) in AXES.iter().enumerate().take(dimensions) {
        let size = |sizes: &Vec<i64>| sizes.get(d).copied().unwrap_or(1);
        let global = global.as_ref().map_or(1, size);
        if global < 1 {
            return refused("it has no work items".to_owned());
        }
        all.insert(format!("global_size_{axis}"), global.to_string());
        if let Some(local) = local.as_ref().map(size) {
            if local < 1 || global % local != 0 {
                return refused(format!("{global} work items are no whole groups of {local}"));
            }
            all.insert(format!("local_size_{axis}"), local.to_string());
        }
    }
    let (set, taken) = (launch.arguments.len(), signature.parameters.len());
    if set != taken {
        return refused(format!("{set} arguments are set, the kernel takes {taken}"));
    }
    for (parameter, argument) in signature.parameters.iter().zip(&launch.arguments) {
        let known = match argument {
            CapturedArgument::Image(image) => sizes_of_image(parameter, image),
            _ => number(parameter, argument).map(|text| vec![(key(parameter), text)]),
        };
        match known {
            Ok(texts) => all.extend(texts),
            Err(why) => return refused(format!("argument `{}` {why}", parameter.name)),
        }
    }
    Ok((all, launch.count))
}

/// The texels of an image along each dimension.
fn sizes_of_image(
    parameter: &KernelParameter,
    image: &CapturedImage,
) -> Result<Vec<(String, String)>, String> {
    match parameter.ty.by {
        Some(By::Image(dimensions)) if dimensions == image.sizes.len() => {
            let sizes = keys_of_image(&parameter.name).zip(&image.sizes);
            Ok(sizes.map(|(key, size)| (key, size.to_string())).collect())
        }
        _ => Err(format!("is {}, but is set to another image", parameter.ty.text)),
    }
}

/// The names of the numbers of an image.
fn keys_of_image(name: &str) -> impl Iterator<Item = String> {
    ["width", "height", "depth"].into_iter().map(move |what| format!("{what}_{name}"))
}

/// What an argument was set to, or how long it is.
fn number(parameter: &KernelParameter, argument: &CapturedArgument) -> Result<String, String> {
    let ty = &parameter.ty;
    let (Some(by), Some(element)) = (ty.by, element(ty)) else {
        return Err(format!("is {}, which a problem file cannot have", ty.text));
    };
    let width = element.bytes();
    let elements = match (by, argument) {
        (By::Value, CapturedArgument::Value(bytes)) if bytes.len() != width => {
            return Err(format!("has {} bytes, {} has {width}", bytes.len(), ty.text));
        }
        (By::Value, CapturedArgument::Value(bytes)) if element.is_real() => {
            return Ok(real(bytes).ok_or("is not finite, which a problem file cannot have")?);
        }
        (By::Value, CapturedArgument::Value(bytes)) => {
            let signed = !element.name().starts_with('u');
            whole(bytes, signed).ok_or("is above 2^63, which a problem file cannot have")?
        }
        (By::Buffer, CapturedArgument::Memory(_, bytes))
        | (By::Local, CapturedArgument::Local(bytes)) => bytes / width as i64,
        (By::Whole, CapturedArgument::Value(bytes)) => (bytes.len() / width) as i64,
        // A null pointer; drivers take one for a null object, too.
        (By::Buffer, CapturedArgument::Local(8)) => 0,
        (By::Buffer, CapturedArgument::Value(bytes)) if bytes.iter().all(|byte| *byte == 0) => 0,
        (By::Value, CapturedArgument::Sampler(bits)) => *bits,
        (_, CapturedArgument::Other(what)) => return Err(format!("is {what}")),
        _ => return Err(format!("is {}, but is set to something else", ty.text)),
    };
    Ok(elements.to_string())
}

/// A real number of 4 or 8 bytes as text, if it is finite.
fn real(bytes: &[u8]) -> Option<String> {
    let single = bytes.try_into().ok().map(f32::from_le_bytes).filter(|n| n.is_finite());
    let double = bytes.try_into().ok().map(f64::from_le_bytes).filter(|n| n.is_finite());
    single.map(|n| n.to_string()).or_else(|| double.map(|n| n.to_string()))
}

/// A whole number of at most 8 bytes.
fn whole(bytes: &[u8], signed: bool) -> Option<i64> {
    let negative = signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(wide)).filter(|value| signed || *value >= 0)
}
