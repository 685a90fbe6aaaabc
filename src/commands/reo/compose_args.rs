//! Arguments of `tickbound reo compose`.

use tickbound_device::DeviceChoice;
use tickbound_reo::bisimulation::Equivalence;
use tickbound_reo::export::Format;

use super::load;
use super::shared::DEFAULT_MEMORY;
use super::stream::StreamArgs;
use crate::commands::values::{ByteSize, named};

tickbound_input::named! {
    /// How the product is made.
    pub enum Mode {
        /// State by state from the initial states; equivalent states are merged on the way where
        /// names are hidden
        Reachable = "reachable",
        /// Every cell of the Kronecker product of the adjacency matrices
        Dense = "dense",
        /// Not at all: the factors are kept, and the full product's states and transitions counted
        Implicit = "implicit",
    }
}

/// Arguments of `reo compose`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Connector: a .treo, .cat, .reo, .ea, .aut or .json file
    pub file: String,
    #[command(flatten)]
    pub choice: load::ConnectorArgs,
    /// How the product is made
    #[arg(long, value_parser = named::<Mode>(), default_value = "reachable")]
    pub mode: Mode,
    /// Where a dense product is made, and with --stream a reachable one is counted: cpu, opencl or
    /// opencl:N; with --stream also opencl:all
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub device: DeviceChoice,
    #[command(flatten)]
    pub blocks: StreamArgs,
    /// Names to hide, with commas between
    #[arg(long, value_name = "NAMES")]
    pub hide: Option<String>,
    /// Hide every name that is not in the interface
    #[arg(long)]
    pub hide_inner: bool,
    /// Make states that do the same one
    #[arg(long, value_parser = named::<Equivalence>())]
    pub minimize: Option<Equivalence>,
    /// Most memory for the product
    #[arg(long, value_name = "SIZE", default_value = DEFAULT_MEMORY)]
    pub memory: ByteSize,
    /// Write the automaton
    #[arg(long, value_parser = named::<Format>())]
    pub to: Option<Format>,
    /// With --to mcrl2: write the parts as processes that communicate, and make no product
    #[arg(long, requires = "to", conflicts_with_all = ["minimize", "json", "stream"])]
    pub network: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", requires = "to")]
    pub output: Option<String>,
    /// Print one JSON object with the sizes
    #[arg(long)]
    pub json: bool,
}
