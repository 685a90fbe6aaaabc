//! The files of the comparison with the paper.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tickbound_compare::{CompareEvent, CompareOptions, SideBySide};
use tickbound_report::answer::comparison::Comparison;
use tickbound_report::html;

use super::{page, run};
use crate::project::root;

/// Runs the engines on both tables, with limits for each in seconds and bytes, or takes what
/// comparison.json in the folder has, and writes comparison.json, .md, .html and two pictures.
///
/// # Errors
/// The optimised program is not built, the problem files are missing, or files cannot be written.
pub fn write(folder: &Path, seconds: f64, memory: u64, redraw: bool) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let figures = folder.join("comparison.json");
    let result = match redraw {
        true => tickbound_input::json(&tickbound_input::text(&figures)?)?,
        false => measured(seconds, memory)?,
    };
    let write = |name: &str, text: &str| {
        eprintln!("xtask: {} written", folder.join(name).display());
        fs::write(folder.join(name), text)
    };
    // Figures first: everything after that can be made again from them.
    write("comparison.json", &(serde_json::to_string(&result)? + "\n"))?;
    let names = ["comparison-abstract.svg", "comparison-minimum.svg"];
    for (svg, name) in html::series(&result.cases)?.iter().zip(names) {
        write(name, svg)?;
    }
    write("comparison.md", &page(&result, &names.map(str::to_owned))?)?;
    // Not kept in the repository: it can be drawn again from the figures.
    write("comparison.html", &html::page(&[html::PageSource::from(result)])?)?;
    Ok(())
}

fn measured(seconds: f64, memory: u64) -> Result<Comparison, Box<dyn Error>> {
    let program = root().join("target/release/tickbound");
    let timeout = Duration::try_from_secs_f64(seconds)?;
    let never = AtomicBool::new(false);
    let show = |event: CompareEvent<'_>| {
        if let CompareEvent::Start(engine) = event {
            eprintln!("xtask: {engine}");
        }
    };
    let options = CompareOptions { program, timeout, memory: Some(memory) };
    let mut session = SideBySide::new(options, &never, &show);
    run(&mut session, &|problem| eprintln!("xtask: {problem}"))?;
    Ok(session.finish())
}
