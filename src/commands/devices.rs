//! `tickbound devices`.

use super::exit::{CliError, Exit};
use super::output::{say_folded, say_json, width};
use tickbound_device::Listing;
use tickbound_report::Table;

/// Arguments of `devices`.
#[derive(Debug, clap::Args)]
pub struct DevicesArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &DevicesArgs) -> Result<Exit, CliError> {
    let mut listing = tickbound_device::list();
    let cuda = tickbound_device::list_cuda();
    let absent = [&listing, &cuda].map(Listing::absent);
    // Where OpenCL has a device, a missing driver of NVIDIA needs no note.
    if listing.devices.is_empty() || !cuda.devices.is_empty() {
        listing.notes.extend(cuda.notes);
    }
    listing.devices.extend(cuda.devices);
    if args.json {
        say_json(&listing)?;
        return Ok(Exit::found(!listing.devices.is_empty()));
    }
    if listing.devices.is_empty() {
        absent.iter().flatten().for_each(|why| note!("tickbound: {why}"));
        return Ok(Exit::Nothing);
    }
    listing.notes.iter().for_each(|note| note!("tickbound: {note}"));
    let mut table = Table::new(["device", "name", "platform", "driver", "units", "MiB"]);
    for device in &listing.devices {
        table.push([
            format!("{}:{}", device.interface.name().to_lowercase(), device.index),
            device.name.clone(),
            device.platform.clone(),
            device.driver.clone(),
            device.units.to_string(),
            (device.memory >> 20).to_string(),
        ]);
    }
    say_folded(&format!("{}\nunits: compute units; MiB: global memory\n", table.fitted(width())))?;
    Ok(Exit::Done)
}
