//! Which devices there are.

use std::sync::{Mutex, PoisonError};

use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, Device as Info};
use opencl3::error_codes::{ClError, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::platform::{Platform, get_platforms};
use opencl3::types::cl_device_id;
use serde::{Deserialize, Serialize};

/// CL_PLATFORM_NOT_FOUND_KHR: the loader is there and knows no driver.
const NO_PLATFORM: i32 = -1001;

/// Through which library a device is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    /// An OpenCL driver.
    OpenCl,
    /// NVIDIA's driver and NVRTC.
    Cuda,
}

impl Interface {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Interface::OpenCl => "OpenCL",
            Interface::Cuda => "CUDA",
        }
    }
}

/// The kind of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// Processors of this machine.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// Anything else.
    Other,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Device {
    /// What it is used through.
    pub interface: Interface,
    /// Its number among those with this interface, from 0, in the order in which the platforms list
    /// them.
    pub index: usize,
    /// What it is.
    pub kind: DeviceKind,
    /// Its platform's name, such as `Portable Computing Language`.
    pub platform: String,
    /// Its own name.
    pub name: String,
    /// The driver's version.
    pub driver: String,
    /// The version of OpenCL that it has, or its architecture for CUDA, such as `sm_90`.
    pub version: String,
    /// Compute units: multiprocessors.
    pub units: u32,
    /// Bytes of global memory.
    pub memory: u64,
    /// Bytes of the largest buffer.
    pub max_alloc: u64,
    /// Bytes of local memory of a workgroup.
    pub local_memory: u64,
    /// Items of the largest workgroup.
    pub max_group: usize,
    #[serde(skip)]
    pub(super) id: Id,
}

/// The library's name for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Id {
    OpenCl(cl_device_id),
    Cuda(i32),
}

// SAFETY: the pointer is only handed to calls of OpenCL, which may come from any thread; devices
// that are listed (in contrast to sub-devices) exist until the program ends.
unsafe impl Send for Id {}
// SAFETY: as above.
unsafe impl Sync for Id {}

/// The devices of this machine, and what was in the way of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// What was listed.
    #[serde(skip)]
    pub interface: Interface,
    /// Those that can be used.
    pub devices: Vec<Device>,
    /// Why others cannot, one line each.
    pub notes: Vec<String>,
}

impl Listing {
    /// Why there is no device, in one line; nothing if there is one.
    pub fn absent(&self) -> Option<String> {
        let (name, notes) = (self.interface.name(), self.notes.join("; "));
        self.devices.is_empty().then(|| format!("no {name} device ({notes})"))
    }
}

/// Held while devices are listed. Drivers start when they are first asked, and not all do so safely
/// when two threads ask at once: PoCL 3.1 then has devices without names and crashes.
static LISTING: Mutex<()> = Mutex::new(());

/// The OpenCL devices of this machine; drivers that fail are left out with a note.
pub fn list() -> Listing {
    let _one_at_a_time = LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut listing =
        Listing { interface: Interface::OpenCl, devices: Vec::new(), notes: Vec::new() };
    match get_platforms() {
        Ok(platforms) => platforms.iter().for_each(|p| of_platform(p, &mut listing)),
        Err(ClError(DLOPEN_RUNTIME_LOAD_FAILED)) => listing.notes.push(
            "libOpenCL is not there; install an OpenCL driver, or set OPENCL_DYLIB_PATH to it"
                .to_owned(),
        ),
        Err(ClError(NO_PLATFORM)) => {
            listing.notes.push("libOpenCL is there, but knows no driver".to_owned());
        }
        Err(e) => listing.notes.push(format!("the platforms cannot be listed: {e}")),
    }
    if listing.devices.is_empty() && listing.notes.is_empty() {
        listing.notes.push("no driver has one".to_owned());
    }
    listing
}

fn of_platform(platform: &Platform, listing: &mut Listing) {
    let name = platform.name().unwrap_or_else(|e| format!("a platform without a name ({e})"));
    let name = name.trim().to_owned();
    let ids = match platform.get_devices(CL_DEVICE_TYPE_ALL) {
        Ok(ids) => ids,
        Err(e) => {
            listing.notes.push(format!("{name}: its devices cannot be listed: {e}"));
            return;
        }
    };
    for id in ids {
        match describe(id, listing.devices.len(), &name) {
            Ok(Some(device)) => listing.devices.push(device),
            Ok(None) => {
                listing.notes.push(format!("{name}: a device is not available or has no compiler"));
            }
            Err(e) => listing.notes.push(format!("{name}: a device cannot be described: {e}")),
        }
    }
}

/// A device, if it can be used.
fn describe(id: cl_device_id, index: usize, platform: &str) -> Result<Option<Device>, ClError> {
    let info = Info::new(id);
    if !info.available()? || !info.compiler_available()? {
        return Ok(None);
    }
    let types = info.dev_type()?;
    let kind = match () {
        () if types & CL_DEVICE_TYPE_GPU != 0 => DeviceKind::Gpu,
        () if types & CL_DEVICE_TYPE_CPU != 0 => DeviceKind::Cpu,
        () => DeviceKind::Other,
    };
    let text = |text: String| text.trim_matches(['\0', ' ']).to_owned();
    Ok(Some(Device {
        interface: Interface::OpenCl,
        index,
        kind,
        platform: platform.to_owned(),
        name: text(info.name()?),
        driver: text(info.driver_version()?),
        version: text(info.version()?),
        units: info.max_compute_units()?,
        memory: info.global_mem_size()?,
        max_alloc: info.max_mem_alloc_size()?,
        local_memory: info.local_mem_size()?,
        max_group: info.max_work_group_size()?,
        id: Id::OpenCl(id),
    }))
}
