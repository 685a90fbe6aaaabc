//! Handles of OpenCL that are given back once.

use opencl3::types::cl_int;

/// A handle that is owned.
#[derive(Debug)]
pub(super) struct Owned<T: Copy> {
    raw: T,
    release: unsafe fn(T) -> Result<(), cl_int>,
}

// SAFETY: handles are pointers to objects of the OpenCL library, which may be used from any thread
// (OpenCL 3.0, section 5.18 appendix A.2: all calls are thread-safe but clSetKernelArg on one
// kernel from several threads at once). Owned is not Sync, so no handle is used by two at once.
unsafe impl<T: Copy> Send for Owned<T> {}

impl<T: Copy> Owned<T> {
    /// # Safety
    /// `raw` is a handle that `release` gives back, and nothing else does.
    pub unsafe fn new(raw: T, release: unsafe fn(T) -> Result<(), cl_int>) -> Owned<T> {
        Owned { raw, release }
    }

    pub fn get(&self) -> T {
        self.raw
    }
}

impl<T: Copy> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: by the condition of `new` the handle is valid until this, which comes once. A
        // driver that refuses has lost the device; no caller could do anything about it.
        let _ = unsafe { (self.release)(self.raw) };
    }
}
