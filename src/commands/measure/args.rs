//! Arguments of `measure`.

use crate::commands::load::{Question, Setting};
use crate::commands::stop::Stops;
use crate::commands::values::{ByteSize, Seconds};

/// Arguments of `measure`.
#[derive(Debug, clap::Args)]
pub struct MeasureArgs {
    #[command(flatten)]
    pub(super) question: Question,
    /// The device: opencl, opencl:N, cuda or cuda:N as `tickbound devices` lists them; equal
    /// graphics processors measure side by side: opencl:0,opencl:1 [default: cuda for kernels in
    /// CUDA, else opencl]
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Option<String>,
    /// Measure the whole space
    #[arg(long, conflicts_with_all = ["top", "sample", "guided"])]
    pub(super) all: bool,
    /// Measure the K best configurations of the model; under the profile resources, its K best
    /// programs
    #[arg(long, value_name = "K", conflicts_with_all = ["sample", "guided"])]
    pub(super) top: Option<usize>,
    /// Measure N configurations chosen at random
    #[arg(long, value_name = "N", group = "drawn")]
    pub(super) sample: Option<usize>,
    /// Measure the model's five best programs, then what promises most from the times so far, until
    /// that is little
    #[arg(long, group = "drawn")]
    pub(super) guided: bool,
    /// Time the configurations of a rule over sizes at some of its sizes: what
    /// `tune --over --json` prints, or --emit FILE.json writes; at 5 sizes, or --sample N, or --all
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = ["top", "guided", "budget", "baseline", "cache", "t4", "plot", "html"]
    )]
    pub(super) rule: Option<String>,
    /// Measure for this long, such as 60s or 10min: guided by the model, or at random where there
    /// is none, unless another choice is given; the last tenth is for timing the best in turns
    #[arg(long, value_name = "TIME", conflicts_with = "top")]
    pub(super) budget: Option<Seconds>,
    /// Compare with your own configuration, all parameters of it, such as WG=64,TILE=4; it is the
    /// answer unless another one is faster, and then the exit status is 4
    #[arg(long, value_name = "P=V,...", value_delimiter = ',')]
    pub(super) baseline: Vec<Setting>,
    /// With --guided: end when the best takes at most this many times what nothing in the space can
    /// take less than on the device, such as 1.1
    #[arg(long, value_name = "RATIO", requires = "guided")]
    pub(super) gap: Option<f64>,
    /// What the random choice depends on
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(super) seed: u64,
    /// Processes that compile ahead; 0: the one that runs kernels compiles them [default: as many
    /// as cores are free, 8 at most]
    #[arg(long, value_name = "N")]
    pub(super) compilers: Option<usize>,
    /// Run a configuration once if its first run takes this many times the best so far
    #[arg(long, value_name = "FACTOR", default_value_t = 3.0)]
    pub(super) cutoff: f64,
    /// Empty the device's caches before each run, so that floors count all bytes that are read
    #[arg(long)]
    pub(super) flush_cache: bool,
    /// Run configurations without verifying them first; else those with an access out of bounds, a
    /// race or another fault that `tickbound verify` finds are left out
    #[arg(long)]
    pub(super) unverified: bool,
    /// Most seconds for compiling one configuration, and for running it
    #[arg(
        long = "run-timeout", alias = "limit", value_name = "SECONDS",
        default_value_t = Seconds(10.0)
    )]
    pub(super) limit: Seconds,
    /// Most seconds for one run of the host reference
    #[arg(
        long = "reference-timeout",
        alias = "reference-limit",
        value_name = "SECONDS",
        default_value_t = Seconds(600.0)
    )]
    pub(super) reference_limit: Seconds,
    /// Most memory of the host reference
    #[arg(long, value_name = "SIZE", default_value = "8G")]
    pub(super) reference_memory: ByteSize,
    /// Where results are kept; the same command goes on where this file ends
    /// [default: KERNEL-INPUTS-DEVICE.cache.json in the current folder]
    #[arg(long, value_name = "FILE")]
    pub(super) cache: Option<String>,
    /// Write the results in the T4 format of auto-tuning results
    #[arg(long, value_name = "FILE")]
    pub(super) t4: Option<String>,
    /// Draw the results (.svg or .png; both without an extension)
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<String>,
    /// Write a page with the results: charts, and a table to sort and filter
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<String>,
    #[command(flatten)]
    pub(super) stops: Stops,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}
