//! OpenCL and CUDA devices: found, opened, given programs and timed.
//!
//! libOpenCL is looked for when the program runs, so that nothing needs it to be built or to run
//! elsewhere: the name `libOpenCL.so.1` that every ICD loader brings (the plain `libOpenCL.so` is
//! there only for those who link; no set-up is needed), after the libraries of the variable
//! `OPENCL_DYLIB_PATH`, if it is set, with `;` between. Where there is no library, no driver or no
//! device, that is an answer, not an error: [`Listing::absent`] states it in one line.
//!
//! NVIDIA's driver and NVRTC, its compiler, are looked for in the same way ([`list_cuda`]). A
//! session with a CUDA device has the same functions but those for images, and its programs are in
//! CUDA C++ ([`DeviceProgram::build_cuda`]).
//!
//! What goes wrong on a device is an error that names the device, the call and the code, and every
//! call is checked. Handles are given back when they are dropped; a driver that refuses that is
//! not asked again. [`Session`] has one context and one queue, in order and with profiling on, so
//! that each command comes with a [`Timing`] by the device's own clock.
//!
//! ```
//! use tickbound_device::{Arg, DeviceProgram, Session};
//!
//! let listing = tickbound_device::list();
//! match listing.devices.first() {
//!     None => println!("{}; using the CPU", listing.absent().unwrap()),
//!     Some(device) => {
//!         let session = Session::open(device)?;
//!         let source = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }";
//!         let program = DeviceProgram::build(&session, source, "")?;
//!         let kernel = program.kernel("twice")?;
//!         let buffer = session.buffer::<i32>(4)?;
//!         session.write(&buffer, 0, &[1, 2, 3, 4])?;
//!         // SAFETY: four items, of which each touches its own of four elements.
//!         let launch = unsafe { session.enqueue(&kernel, &[Arg::buffer(&buffer)], &[4], None)? };
//!         let timing = launch.wait()?;
//!         assert!(timing.ended >= timing.started);
//!         let mut x = [0; 4];
//!         session.read(&buffer, 0, &mut x)?;
//!         assert_eq!(x, [2, 4, 6, 8]);
//!     }
//! }
//! # Ok::<(), tickbound_device::DeviceError>(())
//! ```

mod choice;
mod cuda;
mod details;
mod error;
mod image;
mod list;
mod nvidia;
pub mod platform;
mod program;
mod raw;
mod session;
mod timing;

pub use choice::{DeviceChoice, DeviceChoiceError, Picked};
pub use cuda::list_cuda;
pub use details::Details;
pub use error::DeviceError;
pub use image::{Component, Image, ImageSampler};
pub use list::{Device, DeviceKind, Interface, Listing, list};
pub use nvidia::cuda_headers;
pub use program::{Arg, DeviceKernel, DeviceProgram, KernelLaunch, ObjectArg};
pub use session::{Buffer, Element, Session};
pub use timing::Timing;
