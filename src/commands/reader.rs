//! How commands read kernels: libclang in its own process.

use std::path::PathBuf;

use tickbound_opencl::{Child, Kept, ReaderSetup};

use super::exit::{CliError, Exit, input};
use super::stop;

/// The subcommand of the process that reads kernels.
pub const READ_KERNEL: &str = "read-kernel";

/// The file of this program, which its other processes run.
///
/// # Errors
/// The system does not name it.
pub fn own_program() -> Result<PathBuf, CliError> {
    std::env::current_exe()
        .map_err(|e| CliError::Input(format!("this program's own file is not known: {e}")))
}

/// How commands read kernels: libclang in its own process.
///
/// # Errors
/// This program's own file is not known.
pub fn setup() -> Result<ReaderSetup<'static>, CliError> {
    let child = Child { program: own_program()?, arguments: vec![READ_KERNEL.to_owned()] };
    let (kept, interrupt) = (Kept::of_user(), stop::flag());
    Ok(ReaderSetup { kept, child: Some(child), interrupt, ..ReaderSetup::default() })
}

/// Reads kernels for another process.
///
/// # Errors
/// The pipes fail.
pub fn serve() -> Result<Exit, CliError> {
    tickbound_opencl::serve().map_err(input)?;
    Ok(Exit::Done)
}
