//! `cargo xtask`: the tasks of developers.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tickbound_reo::limits::ProductLimits;
use tickbound_xtask::{paper, reo_bench, scripts, table1};

/// Tasks of developers
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Tables 1 and 3 of the 2023 paper beside ours: comparison.md, .json, .html and .svg
    Paper {
        /// The folder that is written to
        folder: PathBuf,
        /// Seconds for each engine
        #[arg(long, default_value_t = 60.0)]
        timeout: f64,
        /// GiB of memory for each engine
        #[arg(long, default_value_t = 12)]
        memory: u64,
        /// Run nothing: write the pages again from comparison.json
        #[arg(long)]
        redraw: bool,
    },
    /// Tune the paper's abstract kernel for every size of its Table 1, beside the paper's figures
    Table1,
    /// The experiment of the thesis: the product on the processors and on each OpenCL device
    ReoBench {
        /// Draw the times beside those of the thesis (.svg or .png; both without an extension)
        #[arg(long)]
        plot: Option<PathBuf>,
        /// Runs of which the average is taken; 5 before them do not count
        #[arg(long, default_value_t = 10)]
        runs: usize,
        /// Print one JSON object instead of tables
        #[arg(long)]
        json: bool,
    },
    /// A script: `cargo xtask run` lists them
    Run {
        /// Its name
        name: Option<String>,
        /// What it is given
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<ExitCode, Box<dyn Error>> {
    match task {
        Task::Paper { folder, timeout, memory, redraw } => {
            paper::write(&folder, timeout, memory << 30, redraw)?;
        }
        Task::Table1 => print!("{}", table1::table1()?),
        Task::ReoBench { plot, runs, json } => experiment(plot.as_deref(), runs, json)?,
        Task::Run { name: None, .. } => print!("{}", scripts::list()),
        Task::Run { name: Some(name), arguments } => return scripts::run(&name, &arguments),
    }
    Ok(ExitCode::SUCCESS)
}

fn experiment(plot: Option<&Path>, runs: usize, json: bool) -> Result<(), Box<dyn Error>> {
    let listing = tickbound_device::list();
    listing.notes.iter().for_each(|note| eprintln!("xtask: {note}"));
    if let Some(why) = listing.absent() {
        eprintln!("xtask: {why}; using the CPU");
    }
    let options = reo_bench::BenchOptions { kept: runs, ..<_>::default() };
    let say = |next: &str| eprintln!("xtask: {next}");
    let report = reo_bench::run(&options, &listing.devices, &ProductLimits::memory(4 << 30), &say)?;
    if let Some(path) = plot {
        report.plot(path)?;
    }
    match json {
        true => println!("{}", serde_json::to_string(&report)?),
        false => print!("{}", report.markdown()),
    }
    Ok(())
}
