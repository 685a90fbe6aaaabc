//! What is asked of OpenCL about its objects. Numbers are those of `cl.h`.

use std::ptr;

use crate::functions::target;

/// A handle of an object.
pub type Handle = *mut std::ffi::c_void;

/// Places in the table of functions that tell about an object.
const DEVICE: usize = 3;
const QUEUE: usize = 12;
const MEMORY: usize = 20;
const IMAGE: usize = 21;
const SAMPLER: usize = 25;
const PROGRAM: usize = 32;
const BUILD: usize = 33;
const KERNEL: usize = 39;

/// All bytes of an answer, without zeros at the end; empty if the query fails.
fn bytes(ask: impl Fn(usize, Handle, *mut usize) -> i32) -> Vec<u8> {
    let mut size = 0;
    let known = ask(0, ptr::null_mut(), &mut size) == 0;
    let mut bytes = vec![0_u8; if known { size } else { 0 }];
    if size == 0 || ask(bytes.len(), bytes.as_mut_ptr().cast(), ptr::null_mut()) != 0 {
        return Vec::new();
    }
    bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
    bytes
}

/// What an object has under a number.
fn info(at: usize, object: Handle, what: u32) -> Vec<u8> {
    type GetInfo = unsafe extern "C" fn(Handle, u32, usize, Handle, *mut usize) -> i32;
    // SAFETY: the places above but BUILD are those of functions of this type.
    let Some(get) = (unsafe { target::<GetInfo>(at) }) else { return Vec::new() };
    // SAFETY: the program is using the object; the buffer is as large as stated.
    bytes(|size, value, needed| unsafe { get(object, what, size, value, needed) })
}

/// A number of at most 8 bytes, the first of several; 0 where there is none.
fn number(at: usize, object: Handle, what: u32) -> u64 {
    let mut bytes = info(at, object, what);
    bytes.resize(8, 0);
    bytes.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

fn handle(at: usize, object: Handle, what: u32) -> Handle {
    ptr::with_exposed_provenance_mut(number(at, object, what) as usize)
}

/// A memory object as an argument: what follows its number.
pub fn memory(object: Handle) -> String {
    let (bytes, kind) = (number(MEMORY, object, 0x1102), number(MEMORY, object, 0x1100));
    if kind == 0x10f0 {
        return format!("\"bytes\": {bytes}}}");
    }
    // Order of the channels, and their type.
    let format = number(IMAGE, object, 0x1110);
    let format = [format & 0xffff_ffff, format >> 32];
    // Width, height, depth, and the length of an array.
    let sizes = [0x1114, 0x1115, 0x1116, 0x1117].map(|what| number(IMAGE, object, what));
    let image = format!("{{\"kind\": {kind}, \"format\": {format:?}, \"sizes\": {sizes:?}}}");
    format!("\"bytes\": {bytes}, \"image\": {image}}}")
}

/// A sampler as an argument: normalised coordinates, addressing and filter.
pub fn sampler(object: Handle) -> String {
    let numbers = [0x1152, 0x1153, 0x1154].map(|what| number(SAMPLER, object, what));
    format!("{{\"sampler\": {numbers:?}}}")
}

/// The name of a kernel, its program, and the device of a queue.
pub fn kernel(queue: Handle, kernel: Handle) -> (Vec<u8>, Handle, Handle) {
    let program = handle(KERNEL, kernel, 0x1194);
    (info(KERNEL, kernel, 0x1190), program, handle(QUEUE, queue, 0x1091))
}

/// What a program was made of.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ProgramText {
    /// Its source; empty if it was made of something else.
    pub source: Vec<u8>,
    /// The options that it was compiled with.
    pub options: Vec<u8>,
    /// The name of the device.
    pub device: Vec<u8>,
    /// It was made of intermediate language.
    pub il: bool,
}

/// What a program was made of, for a device or for its first one.
pub fn program(program: Handle, device: Option<Handle>) -> ProgramText {
    type GetBuildInfo = unsafe extern "C" fn(Handle, Handle, u32, usize, Handle, *mut usize) -> i32;
    let device = device.unwrap_or_else(|| handle(PROGRAM, program, 0x1163));
    // SAFETY: the place is that of a function of this type.
    let options = unsafe { target::<GetBuildInfo>(BUILD) }.map(|get| {
        // SAFETY: the program is using both objects; the buffer is as large as stated.
        bytes(|size, value, needed| unsafe { get(program, device, 0x1182, size, value, needed) })
    });
    let source = info(PROGRAM, program, 0x1164);
    let il = source.is_empty() && !info(PROGRAM, program, 0x1169).is_empty();
    let (options, device) = (options.unwrap_or_default(), info(DEVICE, device, 0x102b));
    ProgramText { source, options, device, il }
}
