//! `tickbound init`.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;

use indexmap::IndexMap;
use tickbound_input::message::one_line;
use tickbound_input::named::Named as _;
use tickbound_model::platforms;
use tickbound_model::source::Standard;
use tickbound_propose::capture::CapturedKernel;
use tickbound_propose::host::HostSources;
use tickbound_propose::{InitRequest, Proposal, print, propose, reference};

use super::exit::{CliError, Exit};
use super::load::{Setting, by_name};
use super::output::{Outputs, save, say, say_folded};
use super::progress::Progress;
use super::reader::setup;
use super::stop::Stops;
use tickbound_device::platform::shipped;

/// The platform of a proposal where no device is present that a shipped platform describes.
pub(super) const DEFAULT_PLATFORM: &str = "h200";

/// Arguments of `init`.
#[derive(Debug, Clone, clap::Args)]
pub struct InitArgs {
    /// The kernel's source in OpenCL C, CUDA or HIP
    #[arg(required_unless_present = "from_capture")]
    pub(super) source: Option<PathBuf>,
    /// Write a problem file for each kernel of a capture instead: of `tickbound capture`, or
    /// `Replay` of Intel's Intercept Layer
    #[arg(long, value_name = "DIR", conflicts_with_all = ["source", "entry", "before", "host"])]
    #[arg(conflicts_with = "reference")]
    pub(super) from_capture: Option<PathBuf>,
    /// Only the kernels of this name of a capture
    #[arg(long, value_name = "NAME", requires = "from_capture")]
    pub(super) kernel: Option<String>,
    /// What was captured of the kernel
    #[arg(skip)]
    pub(super) captured: Option<CapturedKernel>,
    /// The kernel function; needed if the source has several
    #[arg(long, value_name = "NAME")]
    pub(super) entry: Option<String>,
    /// The language: opencl, cuda or hip [default: by the source's name, else by its text]
    #[arg(long, value_name = "NAME", value_parser = language)]
    language: Option<Standard>,
    /// What a parameter of the kernel's template is, in CUDA: T=float
    #[arg(long, value_name = "NAME=TEXT")]
    template: Vec<Named>,
    /// A source file that stands before the kernel's own, as a host puts it there; may be given
    /// many times
    #[arg(long, value_name = "FILE")]
    before: Vec<PathBuf>,
    /// A folder for `#include`; may be given many times
    #[arg(long, value_name = "DIR")]
    include: Vec<PathBuf>,
    /// A folder with the sources of the host program: the macros that it defines, their values and
    /// texts are taken from there; may be given many times
    #[arg(long, value_name = "DIR")]
    host: Vec<PathBuf>,
    /// The value of an input: a size that the kernel is given, or a macro that is one
    #[arg(long = "input", value_name = "NAME=VALUE")]
    input: Vec<Setting>,
    /// A macro is a tuning parameter with this domain: 'WG=[32, 64]', 'WG=powers_of_two(8, 64)',
    /// 'WG=divisors(n)'
    #[arg(long = "parameter", value_name = "P=DOMAIN")]
    parameter: Vec<Named>,
    /// A macro is no parameter, but this text
    #[arg(long = "define", value_name = "NAME=TEXT")]
    define: Vec<Named>,
    /// Work items in each dimension: expressions, separated by commas
    #[arg(long, value_name = "EXPRESSIONS", default_value = "", hide_default_value = true)]
    global_size: String,
    /// Work items of a group in each dimension: expressions, separated by commas
    #[arg(long, value_name = "EXPRESSIONS", default_value = "", hide_default_value = true)]
    local_size: String,
    /// The platform: the name of a shipped one, or the path of a file
    /// [default: the shipped one of an OpenCL device that is present, otherwise h200]
    #[arg(long, value_name = "NAME")]
    pub(super) platform: Option<String>,
    /// Also write a host reference to be filled in, which says what is right
    #[arg(long)]
    reference: bool,
    /// Write to this file instead of one beside the source, or - to standard output; with
    /// --from-capture to this folder instead of `problems` in the capture
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    pub(super) force: bool,
    #[command(flatten)]
    stops: Stops,
}

impl InitArgs {
    fn source(&self) -> &Path {
        self.source.as_deref().unwrap_or(Path::new(""))
    }
}

/// A `NAME=TEXT` option.
#[derive(Debug, Clone)]
struct Named(String, String);

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Named, String> {
        let parts = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        let (name, rest) = parts.ok_or("write NAME=TEXT, such as 'WG=[32, 64]'")?;
        Ok(Named(name.trim().to_owned(), rest.trim().to_owned()))
    }
}

/// The language of this name; OpenCL C's version follows from the source.
fn language(name: &str) -> Result<Standard, String> {
    match (name, Standard::find(name)) {
        ("opencl", _) => Ok(Standard::Cl12),
        (_, Some(language)) if language.is_cuda() => Ok(language),
        _ => Err("write opencl, cuda or hip".to_owned()),
    }
}

fn by_text(all: &[Named]) -> IndexMap<String, String> {
    all.iter().map(|Named(name, text)| (name.clone(), text.clone())).collect()
}

/// Expressions between commas that stand in no brackets.
fn expressions(text: &str) -> Vec<String> {
    let mut depth = 0_i64;
    let mut all = vec![String::new()];
    for c in text.chars() {
        depth += i64::from(matches!(c, '(' | '[')) - i64::from(matches!(c, ')' | ']'));
        match all.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => all.push(String::new()),
        }
    }
    let all: Vec<String> = all.iter().map(|text| text.trim().to_owned()).collect();
    if text.trim().is_empty() { Vec::new() } else { all }
}

/// A path as the problem file names it: it counts from its own folder, which is that of the source.
fn beside(args: &InitArgs, path: &Path) -> String {
    let all = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (path, source) = (all(path), all(args.source()));
    let inside = source.parent().and_then(|folder| path.strip_prefix(folder).ok());
    let inside = inside.filter(|rest| !rest.as_os_str().is_empty());
    match (inside, source.parent() == Some(&path)) {
        (Some(rest), _) => rest.display().to_string(),
        (None, true) => ".".to_owned(),
        (None, false) => path.display().to_string(),
    }
}

/// The platform as the problem file names it: its paths count from its own folder.
fn platform(args: &InitArgs, name: &str) -> String {
    let file = Path::new(name);
    let beside = args.source().parent().is_none_or(|folder| folder.as_os_str().is_empty());
    let shipped = platforms::names().any(|shipped| shipped == name);
    if shipped || beside || !file.is_file() {
        return name.to_owned();
    }
    std::path::absolute(file).map_or_else(|_| name.to_owned(), |path| path.display().to_string())
}

/// The platform that is named, else the shipped one of a device that is present, else the default
/// one; and a note that says why.
fn present(args: &InitArgs) -> (&str, Option<String>) {
    if let Some(name) = &args.platform {
        return (name, None);
    }
    let present =
        tickbound_device::list().devices.into_iter().find_map(|d| Some((shipped(&d.name)?, d)));
    match present {
        Some((platform, device)) => {
            (platform, Some(format!("platform: {platform}, for the device `{}`", device.name)))
        }
        None => {
            let why = "no device is present that a shipped platform describes";
            let fix = "--platform names another, `tickbound calibrate` makes one";
            (DEFAULT_PLATFORM, Some(format!("platform: {DEFAULT_PLATFORM}, as {why}; {fix}")))
        }
    }
}

pub(super) fn run(args: &InitArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let problem = args.output.clone().unwrap_or_else(|| args.source().with_extension("json"));
    let reference_file = args.source().with_extension("ref.c");
    check(args, &problem, &reference_file)?;
    let (default, why) = present(args);
    let progress = Progress::new(&format!("reading {}", args.source().display()));
    let mut host = HostSources::default();
    let setup = setup()?;
    args.host.iter().try_for_each(|folder| host.add(folder, &setup))?;
    let request = InitRequest {
        entry: args.entry.clone(),
        before: args.before.iter().map(|path| beside(args, path)).collect(),
        include: args.include.iter().map(|path| beside(args, path)).collect(),
        inputs: by_name("--input", &args.input)?,
        parameters: by_text(&args.parameter),
        defines: by_text(&args.define).into_iter().chain(by_text(&args.template)).collect(),
        language: args.language,
        global: expressions(&args.global_size),
        local: expressions(&args.local_size),
        platform: platform(args, default),
        host: Rc::new(host),
        captured: args.captured.clone(),
    };
    let mut proposal = propose(args.source(), &request, &platforms::find, &setup)?;
    drop(progress);
    proposal.notes.extend(why);
    write(args, &mut proposal, &problem, &reference_file)?;
    Ok(Exit::found(proposal.fault.is_none()))
}

/// Writes the problem file and, if requested, a host reference, and prints what was chosen.
fn write(
    args: &InitArgs,
    proposal: &mut Proposal,
    problem: &Path,
    reference_file: &PathBuf,
) -> Result<(), CliError> {
    // A reference is for what `measure` can run.
    let measured =
        proposal.problem["kernel"].get("arguments").is_some() && proposal.fault.is_none();
    let referenced = args.reference && measured;
    if referenced {
        let name = reference_file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        proposal.problem["kernel"]["reference"] = name.into();
    }
    let printed = is_printed(args);
    match printed {
        true => say(&print(&proposal.problem))?,
        false => save(problem, &print(&proposal.problem))?,
    }
    if referenced {
        save(reference_file, &reference(&proposal.kernel, &proposal.outputs))?;
    } else if args.reference {
        note!(
            "tickbound: no reference is written, as the kernel cannot be measured with this file"
        );
    }
    let said = said(args, proposal, problem, referenced.then_some(reference_file));
    match printed {
        true => said.lines().for_each(|line| note!("{line}")),
        false => say_folded(&said)?,
    }
    Ok(())
}

/// Whether the problem is printed instead of saved, for a program that reads it.
fn is_printed(args: &InitArgs) -> bool {
    args.output.as_deref() == Some(Path::new("-"))
}

/// Refuses a problem file as the source, and outputs that would replace a file.
fn check(args: &InitArgs, problem: &Path, reference: &Path) -> Result<(), CliError> {
    let source = args.source().display();
    if args.source().extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        let why =
            format!("is no source of a kernel; `tickbound tune {source}` takes problem files");
        return Err(CliError::Input(format!("{source}: {why}")));
    }
    let folder = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    };
    let problem = Some(problem).filter(|_| !is_printed(args));
    if let Some(problem) = problem.filter(|path| folder(path) != folder(args.source())) {
        let why =
            "the problem file names the source beside it; choose a name in the source's folder";
        return Err(CliError::Input(format!("--output {}: {why}", problem.display())));
    }
    let reference = args.reference.then_some(reference);
    let there = [problem, reference].into_iter().flatten().find(|path| path.exists());
    if let (Some(path), false) = (there, args.force) {
        let why = "it exists; add --force to replace it, or choose another name with --output";
        return Err(CliError::Input(format!("{}: {why}", path.display())));
    }
    let outputs = Outputs::default().file("--output", problem).file("--reference", reference);
    outputs.check(&[args.source().to_owned()])
}

/// What was chosen, and what comes next.
fn said(
    args: &InitArgs,
    proposal: &Proposal,
    problem: &Path,
    reference: Option<&PathBuf>,
) -> String {
    let mut lines = vec![format!("{}: kernel `{}`", args.source().display(), proposal.kernel.name)];
    lines.extend(proposal.notes.iter().map(|note| format!("  {note}")));
    let file = problem.display();
    lines.extend((!is_printed(args)).then(|| format!("written: {file}")));
    let filled = |path: &PathBuf| format!("written: {}, to be filled in", path.display());
    lines.extend(reference.map(filled));
    lines.extend(proposal.fault.iter().map(|fault| format!("missing: {fault}")));
    lines.push(match &proposal.fault {
        None => {
            let mix = if proposal.problem.get("weights").is_some() { " --mix" } else { "" };
            format!("next:    look at its domains, then `tickbound tune {file}{mix}`")
        }
        Some(_) => format!("next:    `tickbound explain {file}`"),
    });
    lines.iter().map(|line| one_line(line) + "\n").collect()
}
