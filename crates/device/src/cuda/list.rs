//! Which CUDA devices there are.

use std::ffi::c_int;

use crate::list::{Device, DeviceKind, Id, Interface, Listing};
use crate::nvidia::{NOT_INITIALIZED, compiler, driver, text};

/// Numbers of a device (CUdevice_attribute in cuda.h): items of a group, bytes of shared memory,
/// multiprocessors, bytes of the L2 cache, and the two parts of the compute capability.
const MAX_THREADS: c_int = 1;
const SHARED: c_int = 97;
const UNITS: c_int = 16;
pub(crate) const L2: c_int = 38;
pub(super) const MAJOR: c_int = 75;
pub(super) const MINOR: c_int = 76;

/// The CUDA devices of this machine. There are none without NVRTC, which compiles for them.
pub fn list_cuda() -> Listing {
    let mut listing =
        Listing { interface: Interface::Cuda, devices: Vec::new(), notes: Vec::new() };
    let count = driver().and_then(|driver| {
        let mut count = 0;
        // SAFETY: the number has a place.
        let code = unsafe { (driver.cuDeviceGetCount)(&mut count) };
        if code != 0 {
            listing.notes.push(format!("cuDeviceGetCount failed: {} ({code})", text("", code)));
        }
        compiler().map(|_| count)
    });
    for index in 0..count.unwrap_or(0) {
        match describe(index) {
            Ok(device) => listing.devices.push(device),
            Err(code) => {
                let why = text("", code);
                listing.notes.push(format!("device {index} cannot be described: {why}"));
            }
        }
    }
    if listing.devices.is_empty() && listing.notes.is_empty() {
        listing.notes.push(count.err().unwrap_or("the driver has none").to_owned());
    }
    listing
}

/// A number of a device; the error is the driver's.
pub(crate) fn attribute(device: c_int, what: c_int) -> Result<c_int, i32> {
    let driver = driver().map_err(|_| NOT_INITIALIZED)?;
    let mut value = 0;
    // SAFETY: the number has a place; the driver checks the others.
    match unsafe { (driver.cuDeviceGetAttribute)(&mut value, what, device) } {
        0 => Ok(value),
        code => Err(code),
    }
}

fn describe(index: c_int) -> Result<Device, i32> {
    let driver = driver().map_err(|_| NOT_INITIALIZED)?;
    let (mut number, mut version, mut memory, mut name) = (0, 0, 0_usize, [0_u8; 256]);
    let bytes = name.len() as c_int;
    // SAFETY: each result has a place, the name one of as many bytes as stated.
    let codes = unsafe {
        [
            (driver.cuDeviceGet)(&mut number, index),
            (driver.cuDriverGetVersion)(&mut version),
            (driver.cuDeviceTotalMem_v2)(&mut memory, number),
            (driver.cuDeviceGetName)(name.as_mut_ptr().cast(), bytes, number),
        ]
    };
    if let Some(code) = codes.into_iter().find(|code| *code != 0) {
        return Err(code);
    }
    let own = |what| attribute(number, what);
    let size = |what| own(what).map(|n| u64::try_from(n).unwrap_or(0));
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(Device {
        interface: Interface::Cuda,
        index: index as usize,
        kind: DeviceKind::Gpu,
        platform: "CUDA".to_owned(),
        name: String::from_utf8_lossy(name).trim().to_owned(),
        driver: format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
        version: format!("sm_{}{}", own(MAJOR)?, own(MINOR)?),
        units: size(UNITS)? as u32,
        memory: memory as u64,
        max_alloc: memory as u64,
        local_memory: size(SHARED)?,
        max_group: size(MAX_THREADS)? as usize,
        id: Id::Cuda(number),
    })
}
