//! What can go wrong on a device.

use opencl3::error_codes::error_text;
use thiserror::Error;

use super::nvidia;

/// Why a device did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// A call of a driver or of NVRTC failed.
    #[error("{device}: {call} failed: {} ({code}){}", text(call, *code), fix(*code))]
    Call {
        /// The device's name.
        device: String,
        /// The function.
        call: &'static str,
        /// What it returned: below 0 from OpenCL, above 0 from CUDA.
        code: i32,
    },
    /// A program was not accepted.
    #[error("{device}: the program does not build:\n{log}")]
    Build {
        /// The device's name.
        device: String,
        /// The device compiler's messages.
        log: String,
    },
    /// A buffer larger than the device allows.
    #[error("{device}: a buffer of {bytes} bytes; at most {most} are allowed at once")]
    TooLarge {
        /// The device's name.
        device: String,
        /// Bytes requested.
        bytes: u128,
        /// Bytes of the largest buffer that it allows.
        most: u64,
    },
    /// An argument that the kernel does not take.
    #[error("{device}: argument {index} of {bytes} bytes is refused: {} \
        ({code})", text("", *code))]
    Argument {
        /// The device's name.
        device: String,
        /// The argument, from 0.
        index: u32,
        /// Its size: a scalar's, a handle's, or that of local memory.
        bytes: usize,
        /// What clSetKernelArg returned, below 0; in CUDA 1.
        code: i32,
    },
    /// Elements outside a buffer.
    #[error("elements {offset} to {end} of a buffer of {len}")]
    Range {
        /// The first.
        offset: usize,
        /// The one after the last; [`usize::MAX`] if it cannot be counted.
        end: usize,
        /// How many there are.
        len: usize,
    },
    /// An image that no parameter takes.
    #[error("`{type_name}` is no image of {given} dimensions")]
    Image {
        /// The type of the kernel's parameter.
        type_name: String,
        /// How many sizes were given.
        given: usize,
    },
    /// What only devices of the other interface can use.
    #[error("{device}: OpenCL and CUDA have each their own buffers, programs and images")]
    Foreign {
        /// The device's name.
        device: String,
    },
    /// A text with a zero byte, which a driver cannot be given.
    #[error("the {0} contains a zero byte")]
    Zero(&'static str),
    /// A launch without or with more than three dimensions, or whose local size has others.
    #[error(
        "a launch of {global} dimensions in groups of {local}; 1 to 3 and as many are possible"
    )]
    Dimensions {
        /// Dimensions of the global size.
        global: usize,
        /// Dimensions of the local size.
        local: usize,
    },
}

/// What NVIDIA's OpenCL returns for a kernel that accessed memory out of bounds.
const OUTSIDE: i32 = -9999;

fn text(call: &str, code: i32) -> String {
    if code > 0 { nvidia::text(call, code) } else { error_text(code).to_owned() }
}

/// What some codes mean, or what to try after them.
fn fix(code: i32) -> &'static str {
    match code {
        -6..=-4 | 2 => "; it is out of memory: make less at a time",
        -3 => "; the driver has no compiler",
        OUTSIDE => "; the kernel accessed memory outside its buffers",
        -2 => "; another program may be using it",
        _ => "",
    }
}
