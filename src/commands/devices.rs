//! `tickbound devices`.

use super::exit::{CliError, Exit};
use super::output::{say_folded, say_json, width};
use tickbound_device;
use tickbound_report::Table;

/// Arguments of `devices`.
#[derive(Debug, clap::Args)]
pub struct DevicesArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &DevicesArgs) -> Result<Exit, CliError> {
    let listing = tickbound_device::list();
    if args.json {
        say_json(&listing)?;
        return Ok(Exit::found(!listing.devices.is_empty()));
    }
    if let Some(why) = listing.absent() {
        note!("tickbound: {why}");
        return Ok(Exit::Nothing);
    }
    listing.notes.iter().for_each(|note| note!("tickbound: {note}"));
    let mut table = Table::new(["device", "name", "platform", "driver", "units", "MiB"]);
    for device in &listing.devices {
        table.push([
            format!("opencl:{}", device.index),
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
