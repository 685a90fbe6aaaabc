//! Proposes a problem file for a kernel in OpenCL C.
//!
//! In goes a source file, and what its user already knows: the kernel, sizes of inputs, domains of
//! parameters. Out comes a problem file that `tickbound tune` takes as it is, with a note for each
//! choice that was made. A choice is made by what the source states (a `#if` that compares a macro
//! with 1, 2 and 4; `reqd_work_group_size`; how far apart the accesses of neighbouring groups are),
//! else by what a name means to those who write kernels, else by what is common. Nothing here
//! decides what is proved: the file is the user's, to be changed.
//!
//! It is done in these steps:
//!
//! 1. [`Outline`] lists what directives mention. [`names`] states what a macro is for.
//! 2. The source is compiled. Undeclared names are macros too; this is repeated until it
//!    compiles.
//! 3. It is read as a problem with a preliminary launch. Loops and branches that the reader asks
//!    about get an answer.
//! 4. From the steps that were read follow launch, lengths of buffers, outputs, and what must
//!    divide what.
//! 5. It is read again with these. What then fails is taken back and noted.
//! 6. Guessed sizes become smaller where the launch would take too long for a time.
//! 7. Accesses before the start of a buffer, groups without work and outputs that are not covered
//!    are reported, and two configurations are simulated as `tune` does it.

pub mod capture;
pub mod host;
pub mod names;
mod pitch;

mod answers;
mod captured;
mod check;
mod compile;
mod compiler;
mod cuda;
mod divisions;
mod domain;
mod draft;
mod error;
mod found;
mod headers;
mod init_request;
mod launch;
mod lengths;
mod macros;
mod print;
mod reference;
mod scale;
mod share;
mod steps;
mod switches;
mod tie;
mod walk;

use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use serde_json::Value;
use tickbound_model::{ModelError, Problem, Profile};
use tickbound_opencl::inputs::text_of;
use tickbound_opencl::outline::{Outline, Parts};
use tickbound_opencl::reading::KernelSignature;
use tickbound_opencl::{KernelReading, ReadError, ReaderSetup, attach_with, inputs_as_macros};

pub use draft::GUESSES;
pub use error::ProposeError;
pub use init_request::InitRequest;
pub use print::print;
pub use reference::reference;

use draft::Draft;

/// A proposed problem file.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The file.
    pub problem: Value,
    /// A line for each choice; they are in the file too.
    pub notes: Vec<String>,
    /// What still prevents a run time: why the source cannot be read with this file.
    pub fault: Option<String>,
    /// The kernel function.
    pub kernel: KernelSignature,
    /// The buffers that it writes.
    pub outputs: Vec<String>,
    /// Whether readings by the values of all macros may say more.
    by_conditions: bool,
}

/// Finds platforms by name.
pub type Platforms<'a> = &'a dyn Fn(&str) -> Result<Value, ModelError>;

/// The message where no configuration is valid.
const NOTHING_LEFT: &str =
    "no configuration is valid; widen the domains that --parameter gives, or change --input";

/// Most readings before it is given up.
const MAX_READINGS: usize = 64;

/// Rounds in which headers of headers are looked up.
const MAX_HEADER_ROUNDS: usize = 8;

/// Proposes a problem file for the source at `path`. It is to lie in the folder of the source.
///
/// # Errors
/// The source cannot be read or compiled, it has several kernels and none is named, or a wish does
/// not fit.
pub fn propose(
    path: &Path,
    request: &InitRequest,
    platforms: Platforms<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<Proposal, ProposeError> {
    let by_value = ReaderSetup { max_by_value: usize::MAX, ..setup.clone() };
    let tried = |path: &Path, request: &InitRequest, said: Vec<String>| {
        let first = propose_alone(path, request, said.clone(), platforms, setup)?;
        if !first.by_conditions {
            return Ok(first);
        }
        match propose_alone(path, request, said, platforms, &by_value) {
            Err(ProposeError::Read(stopped @ ReadError::Stopped { .. })) => Err(stopped.into()),
            Ok(second) if second.fault.is_none() => Ok(second),
            _ => Ok(first),
        }
    };
    let fits = |proposal: &Result<Proposal, ProposeError>| {
        proposal.as_ref().is_ok_and(|proposal| proposal.fault.is_none())
    };
    let (wider, said) = with_headers(path, request)?;
    let were_found = !said.is_empty();
    let first = tried(path, &wider, said);
    if fits(&first) {
        return first;
    }
    // In CUDA headers that are not found are empty, which may be enough.
    let without = were_found.then(|| tried(path, request, Vec::new()));
    if let Some(proposal) = without.filter(fits) {
        return proposal;
    }
    if !matches!(
        &first,
        Ok(_)
            | Err(ProposeError::Read(_)
                | ProposeError::Undefined { .. }
                | ProposeError::EntryNowhere { .. })
    ) {
        return first;
    }
    // What it needs may stand before the line that includes it.
    let Some(other) = headers::including(path) else { return first };
    let names = [path, &other].map(|path| path.file_name().unwrap_or_default().display());
    let note = format!("source: {}, which includes {}", names[1], names[0]);
    let (wider, mut said) = with_headers(&other, request)?;
    said.push(note);
    let second = tried(&other, &wider, said);
    if fits(&second) || first.is_err() && second.is_ok() { second } else { first }
}

/// The request with the folders of headers that lie elsewhere in the project, and notes of these.
fn with_headers(
    path: &Path,
    request: &InitRequest,
) -> Result<(InitRequest, Vec<String>), ProposeError> {
    let (mut request, mut said) = (request.clone(), Vec::new());
    let folder = path.parent().unwrap_or(Path::new(""));
    for _ in 0..MAX_HEADER_ROUNDS {
        let found = headers::add(path, &source_text(path, folder, &request)?, &mut request);
        if found.is_empty() {
            break;
        }
        said.extend(found);
    }
    Ok((request, said))
}

/// As [`propose`], for the source and the folders as they are.
fn propose_alone(
    path: &Path,
    request: &InitRequest,
    mut said: Vec<String>,
    platforms: Platforms<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<Proposal, ProposeError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let (mut request, before) = with_sources_before(path, folder, request);
    said.extend(before);
    let text = source_text(path, folder, &request)?;
    let outline = Outline::of(&text);
    let language = request.language.unwrap_or_else(|| cuda::language(path, &outline, &text));
    request.language = Some(language);
    let source = Source { path, folder, text, outline, said };
    if !language.is_cuda() {
        return proposed(&source, &request, None, platforms, setup);
    }
    let draft = Draft::new(path, &request, &source.outline)?;
    let kernels = cuda::kernels(&draft, path, &source.outline, setup)?;
    let kernel = chosen(path, &request, kernels)?;
    request.entry = Some(kernel.name.clone());
    let first = proposed(&source, &request, Some((&kernel, true)), platforms, setup);
    let fits = |proposal: &Proposal| proposal.fault.is_none();
    if first.as_ref().is_ok_and(fits) || kernel.launches.is_empty() {
        return first;
    }
    // The launch may not fit what is tuned.
    let second = proposed(&source, &request, Some((&kernel, false)), platforms, setup);
    if second.as_ref().is_ok_and(fits) { second } else { first }
}

/// A source that is being proposed for.
struct Source<'p> {
    path: &'p Path,
    folder: &'p Path,
    text: String,
    outline: Outline,
    /// Notes of the files before it, and of headers in other folders.
    said: Vec<String>,
}

/// A proposal; in CUDA with the kernel as its source has it, and whether its launch is taken.
fn proposed(
    Source { path, folder, text, outline, said }: &Source<'_>,
    request: &InitRequest,
    cuda: Option<(&KernelSignature, bool)>,
    platforms: Platforms<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<Proposal, ProposeError> {
    let mut draft = Draft::new(path, request, outline)?;
    said.iter().for_each(|said| draft.note(said.clone()));
    captured::macros(&mut draft, outline)?;
    if let Some((kernel, _)) = cuda {
        let own = Parts::new(text).dimensions_of(&kernel.name);
        draft.asked = own.map_or(draft.asked, |own| own.max(1));
        draft.dimensions = draft.asked;
        cuda::missing(&mut draft, path, text);
        cuda::decide(&mut draft, outline, kernel);
    }
    let kernels = compile::until_it_compiles(&mut draft, path, outline, setup);
    let kernels = kernels.map_err(|error| match &request.entry {
        Some(wanted)
            if matches!(error, ProposeError::Undefined { .. }) && !text.contains(wanted) =>
        {
            let (path, wanted) = (path.display().to_string(), wanted.clone());
            ProposeError::EntryNowhere { path, wanted, error: Box::new(error) }
        }
        _ => error,
    })?;
    let names = kernels.iter().map(|kernel| kernel.name.clone()).collect_vec();
    let kernel = chosen(path, request, kernels)?;
    captured::take(&mut draft, &kernel)?;
    match cuda {
        None => macros::settle(&mut draft, &Parts::new(text), &names),
        Some((kernel, true)) => cuda::launch(&mut draft, outline, kernel),
        Some(_) => {}
    }
    macros::sizes(&mut draft);
    let fault = launched(&mut draft, (folder, outline), platforms, setup)?;
    let outputs = draft.outputs.clone();
    let by_conditions = draft.by_conditions && (fault.is_some() || draft.launch_is_guess);
    let (problem, notes) = (draft.value(), draft.all_notes());
    Ok(Proposal { problem, notes, fault, kernel, outputs, by_conditions })
}

/// The most that a guess is where numbers become too large otherwise.
const SMALL_GUESS: i64 = 64;

/// Iterations of each loop on data where numbers become too large otherwise.
const SMALL_ITERATIONS: i64 = 4;

/// Decides the launch and what follows from it, with smaller guesses where numbers become too
/// large. Gives back why the draft cannot be read.
fn launched(
    draft: &mut Draft,
    source: (&Path, &Outline),
    platforms: Platforms<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<Option<String>, ProposeError> {
    let before = draft.clone();
    let mut fault = launched_as_guessed(draft, source, platforms, setup)?;
    let overflows = |fault: &Option<String>| fault.as_ref().is_some_and(|f| f.contains("overflow"));
    if !overflows(&fault) {
        return Ok(fault);
    }
    let mut smaller = before.clone();
    for name in &before.guessed {
        smaller.inputs.entry(name.clone()).and_modify(|size| *size = SMALL_GUESS.min(*size));
    }
    // The other cause: loops on data within others, each with an iteration for each item.
    let fewer = Draft { iterations: Some(SMALL_ITERATIONS), ..smaller.clone() };
    let sizes = (smaller.inputs != before.inputs).then_some(smaller);
    for mut other in sizes.into_iter().chain([fewer]) {
        let own = launched_as_guessed(&mut other, source, platforms, setup)?;
        if own.is_none() {
            *draft = other;
        }
        fault = fault.and(own);
        if !overflows(&fault) {
            break;
        }
    }
    Ok(fault)
}

fn launched_as_guessed(
    draft: &mut Draft,
    (folder, outline): (&Path, &Outline),
    platforms: Platforms<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<Option<String>, ProposeError> {
    let unlaunched = draft.clone();
    launch::preliminary(draft);
    let read = |draft: &Draft| attached(draft, folder, platforms, setup);
    let mut first = answered(draft, outline, &read)?;
    if let Ok((_, reading)) = &first
        && let Some(other) = relaunched(unlaunched, reading)
    {
        *draft = other;
        first = answered(draft, outline, &read)?;
    }
    Ok(match first {
        Ok((problem, reading)) => {
            draft.by_conditions = !reading.extracted.conditions.is_empty();
            let before = draft.clone();
            let concluded = concluded(&before, outline, (&problem, &reading), &read)?;
            let (mut concluded, (problem, reading)) = concluded.unwrap_or_else(|| {
                let mut draft = before;
                draft.launch_is_guess = true;
                draft.guess("an item for each element, as what the source says of it does not fit");
                (draft, (problem, reading))
            });
            if draft.request.captured.is_none() {
                check::launch(&mut concluded, &problem, &reading);
                concluded = scale::scaled(concluded, *problem, &read);
            }
            *draft = concluded;
            check::fault(&draft.value(), folder, platforms, setup)?
        }
        Err(fault) => Some(fault),
    })
}

/// The request with the sources beside the kernel's that a host puts before it, and a note of that.
fn with_sources_before(
    path: &Path,
    folder: &Path,
    request: &InitRequest,
) -> (InitRequest, Option<String>) {
    let mut request = request.clone();
    let host = request.host.clone();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some((names, place)) = host.before(&name) else { return (request, None) };
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let files = names.iter().map(|name| format!("{name}.{ending}"));
    let new = |file: &String| folder.join(file).is_file() && !request.before.contains(file);
    let files = files.filter(new).collect_vec();
    let note = format!("before: {}, as {place} has it", files.join(", "));
    let said = (!files.is_empty()).then_some(note);
    request.before.extend(files);
    (request, said)
}

/// The source, the files before it, and what they include.
fn source_text(path: &Path, folder: &Path, request: &InitRequest) -> Result<String, ProposeError> {
    let before = request.before.iter().map(|name| folder.join(name));
    let include: Vec<_> = request.include.iter().map(|name| folder.join(name)).collect();
    for file in before.clone().chain([path.to_owned()]) {
        tickbound_input::source(&file)
            .map_err(|error| ProposeError::Source { path: file.display().to_string(), error })?;
    }
    Ok(text_of(&mut before.chain([path.to_owned()]), &include).unwrap_or_default())
}

fn chosen(
    path: &Path,
    request: &InitRequest,
    kernels: Vec<KernelSignature>,
) -> Result<KernelSignature, ProposeError> {
    let names = kernels.iter().map(|k| k.name.clone()).collect_vec();
    let path = path.display().to_string();
    let wanted = match &request.entry {
        _ if names.is_empty() => return Err(ProposeError::NoKernel { path }),
        Some(entry) => entry.clone(),
        None => match names.as_slice() {
            [one] => one.clone(),
            _ => return Err(ProposeError::Several { path, names: names.join(" or --entry ") }),
        },
    };
    let known = names.join(" or ");
    let found = kernels.into_iter().find(|kernel| kernel.name == wanted);
    found.ok_or(ProposeError::UnknownKernel { path, wanted, known })
}

/// The problem of a draft, with its program.
fn attached(
    draft: &Draft,
    folder: &Path,
    platforms: Platforms<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<(Problem, Option<KernelReading>), ReadError> {
    let mut problem = Problem::from_value(&draft.value(), &IndexMap::new(), platforms)?;
    inputs_as_macros(&mut problem, folder);
    // What a configuration uses of a device takes long to count, and nothing here asks for it.
    problem.profile = Profile::OpenCl;
    let reading = attach_with(&mut problem, folder, setup)?;
    Ok((problem, reading))
}

/// The draft with another launch, if a reading has more of it than the source's words: fewer
/// dimensions, as other kernels of the file have more, groups as large as `|` has room for, or
/// strides that are the length of no row.
fn relaunched(mut draft: Draft, reading: &KernelReading) -> Option<Draft> {
    let asked = reading.extracted.variants.iter().map(|v| v.steps.dimensions).max()?;
    let fewer = asked < draft.asked;
    if fewer {
        draft.asked = asked;
        draft.dimensions = asked.max(draft.fixed_dimensions());
    }
    launch::preliminary(&mut draft);
    let changed = [tie::joined(&mut draft, reading), pitch::steps(&mut draft, reading), fewer];
    changed.contains(&true).then_some(draft)
}

/// Whether a part of the problem file is what the user wished.
fn wished(draft: &Draft, at: &str) -> bool {
    let request = &draft.request;
    let launch = (!request.global.is_empty() && at.starts_with("launch.global"))
        || (!request.local.is_empty() && at.starts_with("launch.local"));
    let named = |name: &&String| at.split(['.', '[', ':', ' ']).any(|part| part == name.as_str());
    launch
        || at.starts_with("platform")
        || (at.starts_with("parameters") && request.parameters.keys().any(|name| named(&name)))
        || (at.starts_with("inputs") && request.inputs.keys().any(|name| named(&name)))
}

/// A problem, and what was read of its kernel.
type Attached = (Box<Problem>, Box<KernelReading>);

/// What came of reading a draft: a problem, or what is in the way.
type Read = Result<Attached, String>;

/// The draft with launch, lengths and constraints from its steps, where it can be read
/// then.
fn concluded(
    before: &Draft,
    outline: &Outline,
    (problem, reading): (&Problem, &KernelReading),
    read: Reader<'_>,
) -> Result<Option<(Draft, Attached)>, ProposeError> {
    for constrained in [true, false] {
        let mut draft = before.clone();
        steps::conclude(&mut draft, reading, constrained);
        if draft.request.captured.is_none() {
            lengths::lengths(&mut draft, problem, reading);
            launch::remove_unused_items(&mut draft);
        }
        if let Ok(attached) = answered(&mut draft, outline, read)? {
            return Ok(Some((draft, attached)));
        }
    }
    Ok(None)
}

/// Reads a draft.
type Reader<'a> = &'a dyn Fn(&Draft) -> Result<(Problem, Option<KernelReading>), ReadError>;

/// What reading a draft gives, once what the reader asks is answered.
fn answered(draft: &mut Draft, outline: &Outline, read: Reader<'_>) -> Result<Read, ProposeError> {
    let mut readings = 0;
    loop {
        readings += 1;
        let error = match read(draft) {
            Ok((problem, Some(reading))) => {
                return Ok(Ok((Box::new(problem), Box::new(reading))));
            }
            Ok((_, None)) => return Ok(Err(NOTHING_LEFT.to_owned())),
            Err(stopped @ ReadError::Stopped { .. }) => return Err(stopped.into()),
            Err(ReadError::Model(error)) if wished(draft, &error.at) => return Err(error.into()),
            Err(error) => error,
        };
        if readings == MAX_READINGS || !answers::answer(draft, &error, outline) {
            return Ok(Err(error.to_string()));
        }
    }
}
