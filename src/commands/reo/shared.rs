//! What the commands about connectors share.

use tickbound_device::{self, Device, DeviceChoice, DeviceChoiceError, Picked};
use tickbound_reo::limits::{ProductLimits, ProductProgress as Sizes};

use crate::commands::exit::{CliError, input};
use crate::commands::progress::Progress;
use crate::commands::stop;
use crate::commands::values::ByteSize;

/// Bytes that a composition may take by default.
pub(super) const DEFAULT_MEMORY: &str = "4G";

/// Bytes that may be taken besides what is counted.
const BESIDE: u64 = 256 << 20;

/// Runs `work` within `memory`, stopped by Ctrl-C, with a line that shows how far it is.
pub(super) fn within<T>(
    what: &str,
    memory: ByteSize,
    work: impl FnOnce(&ProductLimits) -> Result<T, CliError>,
) -> Result<T, CliError> {
    within_line(what, memory, |limits, _| work(limits))
}

/// As [`within`], with the line itself, for work that shows more.
pub(super) fn within_line<T>(
    what: &str,
    memory: ByteSize,
    work: impl FnOnce(&ProductLimits, &Progress) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let stop = stop::flag();
    // What the engine does not count, such as the e-graph of constraints, has room besides.
    stop::watch_memory(
        memory.0.saturating_add(tickbound_os::process::memory()).saturating_add(BESIDE),
    );
    let line = Progress::new(what);
    let show = |sizes: Sizes| {
        line.say(match sizes.blocks {
            Some(blocks) => format!("minimising: {blocks} of {} states differ", sizes.states),
            None => format!("{} states, {} transitions", sizes.states, sizes.transitions),
        });
    };
    work(&ProductLimits { memory: memory.0, stop, progress: &show }, &line)
}

/// The devices that were chosen; none if it is the processors, also as there is no other.
pub(super) fn devices(choice: DeviceChoice) -> Result<Vec<Device>, CliError> {
    if choice == DeviceChoice::Cpu {
        return Ok(Vec::new());
    }
    let listing = tickbound_device::list();
    if choice == DeviceChoice::All && !listing.devices.is_empty() {
        return Ok(listing.devices);
    }
    // Of none at all the best is absent.
    let choice = if choice == DeviceChoice::All { DeviceChoice::OpenCl } else { choice };
    match listing.pick(choice).map_err(input)? {
        Picked::Device(device) => Ok(vec![device.clone()]),
        Picked::Absent(why) => {
            note!("tickbound: {why}; using the CPU");
            Ok(Vec::new())
        }
        Picked::Cpu => Ok(Vec::new()),
    }
}

/// The device that was chosen for what one makes alone.
pub(super) fn device(choice: DeviceChoice) -> Result<Option<Device>, CliError> {
    if choice == DeviceChoice::All {
        return Err(input(DeviceChoiceError::Several));
    }
    Ok(devices(choice)?.pop())
}
