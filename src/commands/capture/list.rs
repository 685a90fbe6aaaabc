//! `tickbound capture --list`.

use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_device::platform::shipped;
use tickbound_model::{Problem, platforms};
use tickbound_opencl::{ReaderSetup, attach_with};
use tickbound_propose::capture::{self, CapturedKernel};
use tickbound_propose::{InitRequest, propose};
use tickbound_report::Table;
use tickbound_solver::{SearchOptions, tune};

use crate::commands::exit::{CliError, Exit, input};
use crate::commands::init::DEFAULT_PLATFORM;
use crate::commands::output::{say_folded, width};
use crate::commands::progress::Progress;
use crate::commands::reader::setup;
use crate::commands::stop;

/// Most time to look for the fastest group where the driver chose one.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most distinct launches of a kernel that are predicted one by one.
const MAX_PREDICTED: usize = 8;

/// Lists the kernels of a capture, those of the longest predicted time first.
pub(super) fn run(folder: &Path) -> Result<Exit, CliError> {
    stop::listen()?;
    let capture = capture::read(folder)?;
    capture.notes.iter().for_each(|note| note!("tickbound: {note}"));
    let setup = setup()?;
    let mut kernels = Vec::new();
    for kernel in &capture.kernels {
        let progress = Progress::new(&kernel.name);
        let time = match predicted(kernel, &setup) {
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
fn predicted(kernel: &CapturedKernel, setup: &ReaderSetup<'_>) -> Result<f64, CliError> {
    let folder = tempfile::tempdir().map_err(input)?;
    let path = folder.path().join("kernel.cl");
    std::fs::write(&path, kernel.text()?.as_bytes()).map_err(input)?;
    let by_items = kernel.launches.iter().sorted_by_key(|launch| Reverse(launch.items()));
    let (mut one, mut micros, mut items) = (kernel.clone(), 0.0, 0_u128);
    for launch in by_items.take(MAX_PREDICTED) {
        one.launches = vec![launch.clone()];
        items = items.saturating_add(launch.items());
        micros += launch.count as f64 * launch_time(&path, &one, setup)?;
    }
    Ok(micros * kernel.items() as f64 / items.max(1) as f64)
}

/// The predicted time of a kernel's one launch in microseconds.
fn launch_time(
    path: &Path,
    kernel: &CapturedKernel,
    setup: &ReaderSetup<'_>,
) -> Result<f64, CliError> {
    let request = InitRequest {
        entry: Some(kernel.name.clone()),
        platform: shipped(&kernel.device).unwrap_or(DEFAULT_PLATFORM).to_owned(),
        captured: Some(kernel.clone()),
        ..InitRequest::default()
    };
    let proposal = propose(path, &request, &platforms::find, setup)?;
    let mut problem = Problem::from_value(&proposal.problem, &IndexMap::new(), &platforms::find)?;
    attach_with(&mut problem, path.parent().unwrap_or(Path::new("")), setup)?;
    let options = SearchOptions { timeout: Some(PATIENCE), ..SearchOptions::default() };
    let result = tune(&problem, &options, stop::flag(), &|_| {})?;
    let no = |what: &str| CliError::Input(format!("{}: {what}", problem.name));
    let ticks = result.upper.ok_or_else(|| no("nothing can be launched"))?;
    let micros = problem.platform.tick_microseconds();
    Ok(ticks as f64 * micros.ok_or_else(|| no("the platform has no clock"))?)
}
