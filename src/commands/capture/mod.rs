//! `tickbound capture`.

mod list;
pub(super) mod problems;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use itertools::Itertools;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use tickbound_input::message::grouped;
use tickbound_os::process::run_in_front;
use tickbound_propose::capture::{self, CapturedKernel};

use super::exit::{CliError, Exit, input};

/// Environment variable that names the layer's file.
const LAYER: &str = "TICKBOUND_LAYER";
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
        (Some(folder), ..) => list::run(folder),
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
