//! An OpenCL layer that records what a program launches.
//!
//! `OPENCL_LAYERS=libtickbound_capture.so TICKBOUND_CAPTURE=DIR program` writes for each process a
//! folder `DIR/process<n>`: sources, and the file `capture.jsonl` (`docs/capture.md` has the
//! format). A distinct launch is written when it is first made, and how often it was made whenever
//! the number of launches has doubled, and at the end; so a killed program leaves a capture.
//!
//! All calls are passed on unchanged. What cannot be written is reported once on standard error,
//! and the program goes on. No lock is held while another library is called.

mod files;
mod functions;
mod queries;
mod state;

use std::ffi::{c_int, c_void};

use functions::LayerFunction;

/// `CL_INVALID_VALUE`.
const INVALID_VALUE: i32 = -30;

unsafe extern "C" {
    safe fn atexit(function: extern "C" fn()) -> c_int;
}

extern "C" fn finish() {
    state::guarded(state::State::finish);
}

/// The version of the interface that the layer has (`CL_LAYER_API_VERSION`), or its name.
///
/// # Safety
/// `value` is null or has `size` bytes, `size_ret` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetLayerInfo(
    what: u32,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> i32 {
    let version = 100_u32.to_ne_bytes();
    let bytes: &[u8] = match what {
        0x4240 => &version,
        0x4241 => b"tickbound capture\0",
        _ => return INVALID_VALUE,
    };
    if !value.is_null() && size < bytes.len() {
        return INVALID_VALUE;
    }
    // SAFETY: each is null or may be written to, `value` with enough bytes that are its own.
    unsafe {
        if !value.is_null() {
            value.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        size_ret.as_mut().into_iter().for_each(|size| *size = bytes.len());
    }
    0
}

/// Begins; called by ocl-icd, and by Khronos's loader until 2025.
///
/// # Safety
/// `target` has `entries` functions in the order of `cl_icd_dispatch`; the others may be written
/// to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clInitLayer(
    entries: u32,
    target: *const LayerFunction,
    entries_ret: *mut u32,
    own: *mut *const LayerFunction,
) -> i32 {
    if target.is_null() || entries_ret.is_null() || own.is_null() {
        return INVALID_VALUE;
    }
    let entries = entries.min(functions::ENTRIES as u32);
    // SAFETY: as the caller promises; what is written points to a static.
    unsafe {
        let target = std::slice::from_raw_parts(target, entries as usize);
        own.write(functions::layer(target).as_ptr());
        entries_ret.write(entries);
    }
    state::guarded(state::State::begin);
    atexit(finish);
    0
}

/// Begins; called by Khronos's loader since 2026.
///
/// # Safety
/// As for [`clInitLayer`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clInitLayerWithProperties(
    entries: u32,
    target: *const LayerFunction,
    entries_ret: *mut u32,
    own: *mut *const LayerFunction,
    _properties: *const c_void,
) -> i32 {
    // SAFETY: the promise of the caller is the same.
    unsafe { clInitLayer(entries, target, entries_ret, own) }
}

/// Ends; called by the loader that has called [`clInitLayerWithProperties`].
#[unsafe(no_mangle)]
pub extern "C" fn clDeinitLayer() -> i32 {
    finish();
    0
}
