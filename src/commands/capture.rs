//! `tickbound capture`.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indexmap::IndexMap;
use itertools::Itertools;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use tickbound_device::platform::shipped;
use tickbound_input::message::grouped;
use tickbound_model::{Problem, platforms};
use tickbound_opencl::attach_with;
use tickbound_os::process::run_in_front;
use tickbound_propose::capture::{self, CapturedKernel, CapturedLaunch};
use tickbound_propose::{Wishes, propose};
use tickbound_report::Table;
use tickbound_solver::{SearchOptions, tune};

use super::exit::{CliError, Exit, input};
use super::init::DEFAULT_PLATFORM;
use super::load::setup;
use super::output::{say_folded, width};
use super::progress::Progress;
use super::stop;

/// Environment variable that names the layer's file.
const LAYER: &str = "TICKBOUND_LAYER";
/// Most time to look for the fastest group where the driver chose one.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most distinct launches of a kernel that are predicted one by one.
const MAX_PREDICTED: usize = 8;
/// The layer's file.
const FILE: &str = "libtickbound_capture.so";

/// Arguments of `capture`.
#[derive(Debug, clap::Args)]
pub struct CaptureArgs {
    /// The folder that the capture is written to
    #[arg(short, long, value_name = "DIR", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// List the kernels of a capture, those of the longest predicted time first
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "program"])]
    list: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM", required_unless_present = "list")]
    program: Vec<OsString>,
}

pub(super) fn run(args: &CaptureArgs) -> Result<Exit, CliError> {
    match (&args.list, &args.output, args.program.split_first()) {
        (Some(folder), ..) => list(folder),
        (None, Some(folder), Some((program, rest))) => captured(folder, program, rest),
        _ => Err(CliError::Input("capture: give -o DIR -- PROGRAM, or --list DIR".to_owned())),
    }
}

/// Runs a program with the layer, and ends as it does.
fn captured(folder: &Path, program: &OsString, rest: &[OsString]) -> Result<Exit, CliError> {
    if folder.join("process0").exists() {
        let why = "there is a capture in it; choose another folder";
        return Err(CliError::Input(format!("--output {}: {why}", folder.display())));
    }
    let mut all = std::env::var_os("OPENCL_LAYERS").unwrap_or_default();
    if !all.is_empty() {
        all.push(":");
    }
    all.push(layer()?);
    let mut command = Command::new(program);
    let folder = std::path::absolute(folder).map_err(input)?;
    command.args(rest).env("OPENCL_LAYERS", all).env("TICKBOUND_CAPTURE", &folder);
    let flag = |signal| {
        let flag = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal, flag.clone()).map(|_| flag)
    };
    // A terminal sends these to the program itself.
    for signal in [SIGINT, SIGQUIT] {
        flag(signal).map_err(input)?;
    }
    let (ends, hangs_up) = (flag(SIGTERM).map_err(input)?, flag(SIGHUP).map_err(input)?);
    let status = run_in_front(&mut command, &[(SIGTERM, &ends), (SIGHUP, &hangs_up)])
        .map_err(|e| CliError::Input(format!("{}: {e}; name a program", program.display())))?;
    note!("tickbound: {}", outcome(&folder));
    std::process::exit(status)
}

/// What came of it.
fn outcome(folder: &Path) -> String {
    let path = folder.display();
    if !folder.join("process0").exists() {
        return "nothing is captured: no process loaded the layer; OpenCL is not used, or through a \
                library without layers (ocl-icd has them from 2.3.0, Khronos's loader from 2021)"
            .to_owned();
    }
    match capture::read(folder) {
        Err(error) => format!("nothing is captured: {error}"),
        Ok(capture) => {
            let launches =
                capture.kernels.iter().map(CapturedKernel::count).fold(0, u64::saturating_add);
            let (kernels, launches) = (capture.kernels.len(), grouped(launches));
            format!(
                "{kernels} kernels, {launches} launches; `tickbound init --from-capture {path}`"
            )
        }
    }
}

/// The layer's file: where a variable has it, else beside this program or where it is installed.
fn layer() -> Result<PathBuf, CliError> {
    let program = std::env::current_exe().map_err(input)?;
    let beside = program.parent().unwrap_or(Path::new(""));
    let own = || vec![beside.join(FILE), beside.join("../lib/tickbound").join(FILE)];
    let places = std::env::var_os(LAYER).map_or_else(own, |named| vec![named.into()]);
    let found = places.iter().find(|path| path.is_file()).ok_or_else(|| {
        let places = places.iter().map(|path| path.display()).join(" or ");
        let fix = format!("`make install` installs it, and {LAYER} names another place");
        CliError::Input(format!("there is no layer {places}; {fix}"))
    })?;
    std::path::absolute(found).map_err(input)
}

/// Lists the kernels of a capture, those of the longest predicted time first.
fn list(folder: &Path) -> Result<Exit, CliError> {
    stop::listen()?;
    let capture = capture::read(folder)?;
    capture.notes.iter().for_each(|note| note!("tickbound: {note}"));
    let mut kernels = Vec::new();
    for kernel in &capture.kernels {
        let progress = Progress::new(&kernel.name);
        let time = match predicted(kernel) {
            Err(error) if stop::reason().is_some() => return Err(error),
            time => time,
        };
        drop(progress);
        if let Err(why) = &time {
            note!("tickbound: {}: not predicted: {why}", kernel.name);
        }
        kernels.push((kernel, time.ok()));
    }
    let rank =
        |(kernel, time): &(&CapturedKernel, Option<f64>)| (time.unwrap_or(0.0), kernel.items());
    kernels.sort_by(|a, b| {
        let ((a, some), (b, others)) = (rank(a), rank(b));
        b.total_cmp(&a).then(others.cmp(&some))
    });
    let mut table =
        Table::new(["kernel", "launches", "sizes", "work items", "predicted ms", "most frequent"]);
    for (kernel, time) in kernels {
        table.push([
            kernel.name.clone(),
            kernel.count().to_string(),
            kernel.launches.len().to_string(),
            kernel.items().to_string(),
            time.map_or("-".to_owned(), |micros| format!("{:.3}", micros / 1000.0)),
            kernel.launches.first().map(|launch| launch.size()).unwrap_or_default(),
        ]);
    }
    let text = "sizes: distinct launches; predicted: all launches by the profile resources";
    say_folded(&format!("{}\n{text}\n", table.fitted(width())))?;
    Ok(Exit::Done)
}

/// The predicted time of all launches in microseconds: of those with most work items each, and of
/// the others as long for each work item.
fn predicted(kernel: &CapturedKernel) -> Result<f64, CliError> {
    let folder = tempfile::tempdir().map_err(input)?;
    let path = folder.path().join("kernel.cl");
    std::fs::write(&path, kernel.text()?.as_bytes()).map_err(input)?;
    let one = |launch: &CapturedLaunch| CapturedKernel {
        launches: vec![launch.clone()],
        ..kernel.clone()
    };
    let by_items = kernel.launches.iter().map(one).sorted_by_key(|one| Reverse(one.items()));
    let (mut micros, mut items) = (0.0, 0);
    for launch in by_items.take(MAX_PREDICTED) {
        items += launch.items();
        micros += launch.count() as f64 * launch_time(&path, launch)?;
    }
    Ok(micros * kernel.items() as f64 / items.max(1) as f64)
}

/// The predicted time of a kernel's one launch in microseconds.
fn launch_time(path: &Path, kernel: CapturedKernel) -> Result<f64, CliError> {
    let wishes = Wishes {
        entry: Some(kernel.name.clone()),
        platform: shipped(&kernel.device).unwrap_or(DEFAULT_PLATFORM).to_owned(),
        captured: Some(kernel),
        ..Wishes::default()
    };
    let setup = setup()?;
    let proposal = propose(path, &wishes, &platforms::find, &setup)?;
    let mut problem = Problem::from_value(&proposal.problem, &IndexMap::new(), &platforms::find)?;
    attach_with(&mut problem, path.parent().unwrap_or(Path::new("")), &setup)?;
    let options = SearchOptions { timeout: Some(PATIENCE), ..SearchOptions::default() };
    let result = tune(&problem, &options, stop::flag(), &|_| {})?;
    let no = |what: &str| CliError::Input(format!("{}: {what}", problem.name));
    let ticks = result.upper.ok_or_else(|| no("nothing can be launched"))?;
    let micros = problem.platform.tick_microseconds();
    Ok(ticks as f64 * micros.ok_or_else(|| no("the platform has no clock"))?)
}
