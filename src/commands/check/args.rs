//! Arguments of `check`.

use std::time::Duration;

use tickbound_certificate::Refusal;
use tickbound_certificate::tools::ProofTools;

use crate::commands::load::Setting;
use crate::commands::progress::Progress;
use crate::commands::stop::{self, Stops};
use crate::commands::values::Seconds;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The folder of the certificate
    pub(super) folder: String,
    /// The problem file that it must be about
    #[arg(long = "problem", alias = "of", value_name = "PROBLEM")]
    pub(super) of: Option<String>,
    /// Replace an input or a platform number of that problem file
    #[arg(long = "input", value_name = "NAME=VALUE", requires = "of")]
    pub(super) input: Vec<Setting>,
    /// Run no other program: cvc5, z3, yices-smt2, veripb
    #[arg(long)]
    pub(super) no_tools: bool,
    /// Most time for each other program and file
    #[arg(
        long = "tool-timeout",
        alias = "tool-time",
        value_name = "SECONDS",
        default_value_t = Seconds(10.0)
    )]
    pub(super) tool_time: Seconds,
    #[command(flatten)]
    pub(super) stops: Stops,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Calls with the programs of others, unless they are not wanted.
pub(super) fn with_tools(
    args: &CheckArgs,
    time: Duration,
    call: &mut dyn FnMut(Option<&ProofTools<'_>>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let progress = Progress::new("checking");
    let show = |what: &str| progress.about(what);
    let tools = ProofTools { path: &path, time, interrupt: stop::flag(), show: &show };
    call(Some(&tools).filter(|_| !args.no_tools))
}
