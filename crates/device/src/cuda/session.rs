//! A CUDA device that is open: memory, programs, kernels and launches.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use super::compile::Compiled;
use super::list::{MAJOR, MINOR, attribute};
use crate::DeviceError;
use crate::nvidia::{Driver, Handle, NOT_INITIALIZED, driver};
use crate::timing::Timing;

/// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
const MAX_DYNAMIC_SHARED: c_int = 8;
/// CUDA_ERROR_INVALID_VALUE.
const INVALID_VALUE: c_int = 1;
/// Items of a group where none are stated.
const GROUP: usize = 256;

/// Something of the driver's that is given back once: memory, a module, or an event. As a number,
/// which any thread may have.
#[derive(Debug)]
struct Object(u64, fn(&Driver, u64));

impl Object {
    fn handle(&self) -> Handle {
        self.0 as Handle
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Ok(driver) = driver() {
            (self.1)(driver, self.0);
        }
    }
}

/// Memory of a device, or a part of it, which keeps the whole.
#[derive(Debug)]
pub(crate) struct CudaMemory {
    whole: Arc<Object>,
    pub address: u64,
    bytes: usize,
}

impl CudaMemory {
    /// `bytes` bytes from the byte `from` on, which are within the memory.
    pub fn part(&self, from: usize, bytes: usize) -> CudaMemory {
        CudaMemory { whole: self.whole.clone(), address: self.address + from as u64, bytes }
    }
}

/// A program in a device's memory.
#[derive(Debug)]
pub(crate) struct CudaProgram {
    module: Arc<Object>,
    pub compiled: Compiled,
}

/// The kernel of a program.
#[derive(Debug)]
pub(crate) struct CudaKernel {
    _module: Arc<Object>,
    function: u64,
    /// Bytes of each argument.
    pub sizes: Vec<usize>,
}

/// A device that is open. One thread uses it: the context is its current one. It is not given back,
/// as all users of a device in a process share it.
#[derive(Debug)]
pub(crate) struct CudaSession {
    device: String,
    /// The compute capability: 90 for 9.0.
    pub capability: c_int,
    /// Around a command.
    events: [Object; 2],
}

fn fault(device: &str, call: &'static str, code: c_int) -> DeviceError {
    DeviceError::Call { device: device.to_owned(), call, code }
}

impl CudaSession {
    pub fn open(number: c_int, name: &str) -> Result<CudaSession, DeviceError> {
        let driver = driver().map_err(|_| fault(name, "cuInit", NOT_INITIALIZED))?;
        let done = |call, code| if code == 0 { Ok(()) } else { Err(fault(name, call, code)) };
        let event = || {
            let mut event = ptr::null_mut();
            // SAFETY: the handle has a place; 0 is an event with a time.
            done("cuEventCreate", unsafe { (driver.cuEventCreate)(&mut event, 0) })?;
            // SAFETY: the event is new, and is given back once.
            Ok(Object(event as u64, |driver, raw| unsafe {
                (driver.cuEventDestroy_v2)(raw as Handle);
            }))
        };
        let mut context = ptr::null_mut();
        // SAFETY: the handle has a place, and the context stays; the driver checks the number.
        let code = unsafe { (driver.cuDevicePrimaryCtxRetain)(&mut context, number) };
        done("cuDevicePrimaryCtxRetain", code)?;
        // SAFETY: the context is valid.
        done("cuCtxSetCurrent", unsafe { (driver.cuCtxSetCurrent)(context) })?;
        let part =
            |what| attribute(number, what).map_err(|e| fault(name, "cuDeviceGetAttribute", e));
        let capability = 10 * part(MAJOR)? + part(MINOR)?;
        Ok(CudaSession { device: name.to_owned(), capability, events: [event()?, event()?] })
    }

    fn done(&self, call: &'static str, code: c_int) -> Result<(), DeviceError> {
        if code == 0 { Ok(()) } else { Err(fault(&self.device, call, code)) }
    }

    fn driver(&self) -> Result<&'static Driver, DeviceError> {
        driver().map_err(|_| fault(&self.device, "cuInit", NOT_INITIALIZED))
    }

    /// Memory for `bytes` bytes, at least 1.
    pub fn memory(&self, bytes: usize) -> Result<CudaMemory, DeviceError> {
        let mut address = 0;
        // SAFETY: the address has a place.
        let code = unsafe { (self.driver()?.cuMemAlloc_v2)(&mut address, bytes) };
        self.done("cuMemAlloc", code)?;
        // SAFETY: the memory is new, and is given back once.
        let whole = Object(address, |driver, raw| unsafe {
            (driver.cuMemFree_v2)(raw);
        });
        Ok(CudaMemory { whole: Arc::new(whole), address, bytes })
    }

    /// Puts a command into the queue, between the events.
    fn start(
        &self,
        call: &'static str,
        command: impl FnOnce(&Driver) -> c_int,
    ) -> Result<(), DeviceError> {
        let driver = self.driver()?;
        let record = |event: &Object| {
            // SAFETY: the event is valid, and no stream is the default one.
            let code = unsafe { (driver.cuEventRecord)(event.handle(), ptr::null_mut()) };
            self.done("cuEventRecord", code)
        };
        record(&self.events[0])?;
        self.done(call, command(driver))?;
        record(&self.events[1])
    }

    /// Waits for the command between the events.
    fn wait(&self) -> Result<Timing, DeviceError> {
        let (driver, [start, end]) = (self.driver()?, self.events.each_ref().map(Object::handle));
        // SAFETY: the event is valid.
        self.done("cuEventSynchronize", unsafe { (driver.cuEventSynchronize)(end) })?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are valid, and the number has a place.
        let code = unsafe { (driver.cuEventElapsedTime)(&mut milliseconds, start, end) };
        self.done("cuEventElapsedTime", code)?;
        let ended = (f64::from(milliseconds) * 1e6).round() as u64;
        Ok(Timing { ended, ..Timing::default() })
    }

    /// The address of bytes in memory.
    fn place(&self, memory: &CudaMemory, from: usize, bytes: usize) -> Result<u64, DeviceError> {
        let inside = from.checked_add(bytes).is_some_and(|end| end <= memory.bytes);
        self.done("a copy", if inside { 0 } else { INVALID_VALUE })?;
        Ok(memory.address + from as u64)
    }

    /// Copies bytes to a place in memory.
    pub fn write(
        &self,
        to: &CudaMemory,
        offset: usize,
        from: &[u8],
    ) -> Result<Timing, DeviceError> {
        let (to, bytes) = (self.place(to, offset, from.len())?, from.len());
        let from = from.as_ptr().cast();
        // SAFETY: as many bytes are at both places.
        self.start("cuMemcpyHtoD", |driver| unsafe { (driver.cuMemcpyHtoD_v2)(to, from, bytes) })?;
        self.wait()
    }

    /// Copies bytes from a place in memory.
    pub fn read(
        &self,
        from: &CudaMemory,
        offset: usize,
        into: &mut [u8],
    ) -> Result<Timing, DeviceError> {
        let (from, bytes) = (self.place(from, offset, into.len())?, into.len());
        let into = into.as_mut_ptr().cast();
        // SAFETY: as many bytes are at both places; the call ends when they are copied.
        self.start("cuMemcpyDtoH", |driver| unsafe {
            (driver.cuMemcpyDtoH_v2)(into, from, bytes)
        })?;
        self.wait()
    }

    /// Copies the first bytes of memory.
    pub fn copy(
        &self,
        from: &CudaMemory,
        to: &CudaMemory,
        bytes: usize,
    ) -> Result<Timing, DeviceError> {
        let (from, to) = (self.place(from, 0, bytes)?, self.place(to, 0, bytes)?);
        // SAFETY: as many bytes are at both places.
        self.start("cuMemcpyDtoD", |driver| unsafe { (driver.cuMemcpyDtoD_v2)(to, from, bytes) })?;
        self.wait()
    }

    /// Makes all bytes of memory `value`.
    pub fn fill(&self, to: &CudaMemory, value: u8) -> Result<Timing, DeviceError> {
        // SAFETY: as many bytes are there.
        self.start("cuMemsetD8", |driver| unsafe {
            (driver.cuMemsetD8_v2)(to.address, value, to.bytes)
        })?;
        self.wait()
    }

    /// Loads a program that is compiled for this device.
    pub fn load(&self, compiled: Compiled) -> Result<CudaProgram, DeviceError> {
        let (image, mut module) = (compiled.image.as_ptr().cast(), ptr::null_mut());
        // SAFETY: the image lives until the call ends; the driver checks it, and a text in PTX ends
        // with a zero.
        let code = unsafe { (self.driver()?.cuModuleLoadData)(&mut module, image) };
        self.done("cuModuleLoadData", code)?;
        // SAFETY: the module is new, and is given back once.
        let module = Object(module as u64, |driver, raw| unsafe {
            (driver.cuModuleUnload)(raw as Handle);
        });
        Ok(CudaProgram { module: Arc::new(module), compiled })
    }

    /// The kernel of a program.
    pub fn kernel(&self, program: &CudaProgram) -> Result<CudaKernel, DeviceError> {
        let name = CString::new(&*program.compiled.kernel);
        let name = name.map_err(|_| DeviceError::Zero("kernel's name"))?;
        let (module, mut function) = (program.module.handle(), ptr::null_mut());
        // SAFETY: the module is valid, the text ends with a zero, and the handle has a place.
        let code =
            unsafe { (self.driver()?.cuModuleGetFunction)(&mut function, module, name.as_ptr()) };
        self.done("cuModuleGetFunction", code)?;
        let sizes = program.compiled.sizes.clone();
        Ok(CudaKernel { _module: program.module.clone(), function: function as u64, sizes })
    }

    /// Runs a launch with `shared` bytes of shared memory; the inner result is that of the run.
    ///
    /// # Safety
    /// Each value is one of its size. As [`crate::Session::enqueue`].
    pub unsafe fn launch(
        &self,
        kernel: &CudaKernel,
        values: &[(usize, *const c_void)],
        shared: usize,
        sizes: (&[usize], Option<&[usize]>),
    ) -> Result<Result<Timing, DeviceError>, DeviceError> {
        let size = |i: usize| values.get(i).map(|(size, _)| *size);
        let count = kernel.sizes.len().max(values.len());
        if let Some(i) = (0..count).find(|i| kernel.sizes.get(*i).copied() != size(*i)) {
            let (device, bytes) = (self.device.clone(), size(i).unwrap_or(0));
            return Err(DeviceError::Argument {
                device,
                index: i as u32,
                bytes,
                code: INVALID_VALUE,
            });
        }
        let Some(([[x, a], [y, b], [z, c]], shared)) = blocks(sizes).zip(shared.try_into().ok())
        else {
            return Err(fault(&self.device, "cuLaunchKernel", INVALID_VALUE));
        };
        let mut values: Vec<*mut c_void> = values.iter().map(|(_, v)| v.cast_mut()).collect();
        let (values, function) = (values.as_mut_ptr(), kernel.function as Handle);
        if shared > 0 {
            let set = self.driver()?.cuFuncSetAttribute;
            // SAFETY: the function is valid as its module is.
            let code = unsafe { set(function, MAX_DYNAMIC_SHARED, shared) };
            self.done("cuFuncSetAttribute", code)?;
        }
        let (stream, extra, shared) = (ptr::null_mut(), ptr::null_mut(), shared as c_uint);
        // SAFETY: the function is valid as its module is, and there are as many values, each of its
        // size, as the kernel takes; they are copied. The caller answers for the rest.
        self.start("cuLaunchKernel", |driver| unsafe {
            (driver.cuLaunchKernel)(function, x, y, z, a, b, c, shared, stream, values, extra)
        })?;
        Ok(self.wait())
    }
}

/// Groups and items of a group in each dimension; `None` where groups do not divide the items.
fn blocks((global, local): (&[usize], Option<&[usize]>)) -> Option<[[c_uint; 2]; 3]> {
    let mut all = [[1; 2]; 3];
    for (d, items) in global.iter().enumerate() {
        // The largest that divides them.
        let usual = || match d {
            0 => (1..=GROUP.min(*items)).rev().find(|n| items.is_multiple_of(*n)),
            _ => Some(1),
        };
        let group = local.map_or_else(usual, |local| local.get(d).copied())?;
        let groups = items.checked_div(group).filter(|groups| groups * group == *items)?;
        *all.get_mut(d)? = [groups.try_into().ok()?, group.try_into().ok()?];
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_hand() {
        assert_eq!(blocks((&[256], None)), Some([[1, 256], [1, 1], [1, 1]]));
        assert_eq!(blocks((&[65_536, 3], None)), Some([[256, 256], [3, 1], [1, 1]]));
        assert_eq!(blocks((&[514], None)), Some([[257, 2], [1, 1], [1, 1]]));
        let local: &[usize] = &[32, 4, 2];
        assert_eq!(blocks((&[64, 4, 6], Some(local))), Some([[2, 32], [1, 4], [3, 2]]));
        for (global, local) in [([65], [32]), ([0], [0]), ([1 << 40], [1])] {
            assert_eq!(blocks((&global, Some(&local))), None, "{global:?}");
        }
    }
}
