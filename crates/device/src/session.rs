//! A device that is open: its context, its queue, and buffers in its memory.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use opencl3::command_queue::{
    CL_QUEUE_PROFILING_ENABLE, create_command_queue, enqueue_copy_buffer, enqueue_fill_buffer,
    enqueue_read_buffer, enqueue_write_buffer, release_command_queue,
};
use opencl3::context::context::{create_context, release_context};
use opencl3::event::{
    CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START,
    CL_PROFILING_COMMAND_SUBMIT, get_event_profiling_data, release_event, wait_for_events,
};
use opencl3::memory::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_MEM_READ_WRITE, create_buffer, create_sub_buffer,
    release_mem_object,
};
use opencl3::types::{
    CL_TRUE, cl_buffer_region, cl_command_queue, cl_context, cl_device_id, cl_event, cl_mem,
};

use super::cuda::{CudaMemory, CudaSession};
use super::list::Id;
use super::raw::Owned;
use super::timing::Timing;
use super::{Device, DeviceError};

/// A number that buffers can hold.
///
/// # Safety
/// Any bytes of its size are a value of it, and all bytes of a value are initialised.
pub unsafe trait Element: Copy + 'static {}

// SAFETY: plain numbers without padding, for which all bits are values.
unsafe impl Element for u8 {}
// SAFETY: as above.
unsafe impl Element for i32 {}
// SAFETY: as above.
unsafe impl Element for u32 {}
// SAFETY: as above.
unsafe impl Element for i64 {}
// SAFETY: as above.
unsafe impl Element for u64 {}
// SAFETY: as above.
unsafe impl Element for f32 {}
// SAFETY: as above.
unsafe impl Element for f64 {}

/// Memory of a device.
#[derive(Debug)]
pub(super) enum Memory {
    OpenCl(Owned<cl_mem>),
    Cuda(CudaMemory),
}

impl Memory {
    /// What a kernel is given: OpenCL's handle, or an address.
    pub fn handle(&self) -> *mut c_void {
        match self {
            Memory::OpenCl(memory) => memory.get(),
            Memory::Cuda(memory) => memory.address as *mut c_void,
        }
    }
}

/// Memory of a device for `len` elements.
#[derive(Debug)]
pub struct Buffer<T> {
    pub(super) memory: Memory,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Buffer<T> {
    /// How many elements it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A device with a context and a queue that works in order.
#[derive(Debug)]
pub struct Session {
    device: Device,
    read: AtomicU64,
    pub(super) driver: Driver,
}

/// What a session is used through.
#[derive(Debug)]
pub(super) enum Driver {
    OpenCl(OpenClSession),
    Cuda(CudaSession),
}

#[derive(Debug)]
pub(super) struct OpenClSession {
    pub id: cl_device_id,
    // Given back in this order.
    pub queue: Owned<cl_command_queue>,
    pub context: Owned<cl_context>,
}

/// A session with memory of it.
enum Side<'a> {
    OpenCl(cl_command_queue, cl_mem),
    Cuda(&'a CudaSession, &'a CudaMemory),
}

impl Session {
    /// Opens a device.
    ///
    /// # Errors
    /// The driver refuses a context or a queue.
    pub fn open(device: &Device) -> Result<Session, DeviceError> {
        let (name, read) = (&device.name, AtomicU64::new(0));
        let id = match device.id {
            Id::OpenCl(id) => id,
            Id::Cuda(number) => {
                let driver = Driver::Cuda(CudaSession::open(number, name)?);
                return Ok(Session { device: device.clone(), read, driver });
            }
        };
        let fail = |call| error(device, call);
        let context = create_context(&[id], ptr::null(), None, ptr::null_mut())
            .map_err(fail("clCreateContext"))?;
        // SAFETY: the context is new, and nothing else releases it.
        let context = unsafe { Owned::new(context, release_context) };
        // SAFETY: the context is valid and was made for this device.
        let queue = unsafe { create_command_queue(context.get(), id, CL_QUEUE_PROFILING_ENABLE) };
        let queue = queue.map_err(fail("clCreateCommandQueue"))?;
        // SAFETY: the queue is new, and nothing else releases it.
        let queue = unsafe { Owned::new(queue, release_command_queue) };
        let driver = Driver::OpenCl(OpenClSession { id, queue, context });
        Ok(Session { device: device.clone(), read, driver })
    }

    /// The handles of OpenCL.
    pub(super) fn opencl(&self) -> Result<&OpenClSession, DeviceError> {
        match &self.driver {
            Driver::OpenCl(own) => Ok(own),
            Driver::Cuda(_) => Err(self.foreign()),
        }
    }

    pub(super) fn foreign(&self) -> DeviceError {
        DeviceError::Foreign { device: self.device.name.clone() }
    }

    /// This session and the memory of a buffer, if both are of one interface.
    fn side<'a>(&'a self, memory: &'a Memory) -> Result<Side<'a>, DeviceError> {
        match (&self.driver, memory) {
            (Driver::Cuda(own), Memory::Cuda(memory)) => Ok(Side::Cuda(own, memory)),
            (Driver::OpenCl(own), Memory::OpenCl(memory)) => {
                Ok(Side::OpenCl(own.queue.get(), memory.get()))
            }
            _ => Err(self.foreign()),
        }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Bytes that were copied from the device so far.
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// Memory for `len` elements, whose values are undefined.
    ///
    /// # Errors
    /// More than the device allows or has.
    pub fn buffer<T: Element>(&self, len: usize) -> Result<Buffer<T>, DeviceError> {
        let bytes = len as u128 * size_of::<T>() as u128;
        let most = self.device.max_alloc;
        if bytes > u128::from(most) {
            let device = self.device.name.clone();
            return Err(DeviceError::TooLarge { device, bytes, most });
        }
        // OpenCL has no buffers of size 0.
        let bytes = (bytes as usize).max(size_of::<T>());
        let context = match &self.driver {
            Driver::OpenCl(own) => own.context.get(),
            Driver::Cuda(own) => {
                let memory = Memory::Cuda(own.memory(bytes)?);
                return Ok(Buffer { memory, len, element: PhantomData });
            }
        };
        // SAFETY: the context is valid, and no memory of the host is named.
        let memory = unsafe { create_buffer(context, CL_MEM_READ_WRITE, bytes, ptr::null_mut()) };
        let memory = memory.map_err(self.fail("clCreateBuffer"))?;
        // SAFETY: the buffer is new, and nothing else releases it.
        let memory = Memory::OpenCl(unsafe { Owned::new(memory, release_mem_object) });
        Ok(Buffer { memory, len, element: PhantomData })
    }

    /// `len` elements of a buffer from index `from` on, as a buffer in the same memory. At least
    /// one element must be there, and they must begin at a multiple of [`Device::alignment`].
    ///
    /// # Errors
    /// They are not there, do not begin at such a place, or the driver refuses.
    pub fn part<T: Element>(
        &self,
        whole: &Buffer<T>,
        from: usize,
        len: usize,
    ) -> Result<Buffer<T>, DeviceError> {
        // OpenCL has no buffers of size 0.
        let Some((origin, size)) = range(whole, from, len.max(1))? else {
            return self.buffer(len);
        };
        let memory = match &whole.memory {
            Memory::OpenCl(memory) => memory.get(),
            Memory::Cuda(memory) => {
                let memory = Memory::Cuda(memory.part(origin, size));
                return Ok(Buffer { memory, len, element: PhantomData });
            }
        };
        let region = cl_buffer_region { origin, size };
        // SAFETY: the buffer is valid, the region lies within it as just checked, and is copied by
        // the call.
        let memory = unsafe {
            let region = ptr::from_ref(&region).cast::<c_void>();
            create_sub_buffer(memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, region)
        };
        let memory = memory.map_err(self.fail("clCreateSubBuffer"))?;
        // SAFETY: the buffer is new, and nothing else releases it. It keeps the memory of `whole`
        // for as long as it lives.
        let memory = Memory::OpenCl(unsafe { Owned::new(memory, release_mem_object) });
        Ok(Buffer { memory, len, element: PhantomData })
    }

    /// A buffer with these elements.
    pub fn upload<T: Element>(&self, elements: &[T]) -> Result<Buffer<T>, DeviceError> {
        let buffer = self.buffer(elements.len())?;
        self.write(&buffer, 0, elements)?;
        Ok(buffer)
    }

    /// Copies elements into a buffer from index `offset` on, and waits.
    ///
    /// # Errors
    /// They do not fit, or the device failed.
    pub fn write<T: Element>(
        &self,
        buffer: &Buffer<T>,
        offset: usize,
        from: &[T],
    ) -> Result<Timing, DeviceError> {
        let Some((start, bytes)) = range(buffer, offset, from.len())? else {
            return Ok(Timing::default());
        };
        let (queue, memory) = match self.side(&buffer.memory)? {
            Side::OpenCl(queue, memory) => (queue, memory),
            Side::Cuda(own, memory) => return own.write(memory, start, bytes_of(from)),
        };
        // SAFETY: the handles are valid, the range lies within the buffer as just checked, `from`
        // has as many initialised bytes, and the call blocks until they are copied.
        let event = unsafe {
            let from = from.as_ptr().cast::<c_void>();
            enqueue_write_buffer(queue, memory, CL_TRUE, start, bytes, from, 0, ptr::null())
        };
        self.wait(&self.event(event.map_err(self.fail("clEnqueueWriteBuffer"))?))
    }

    /// Copies elements of a buffer from index `offset` on, and waits.
    ///
    /// # Errors
    /// There are not as many, or the device failed: then some of `into` may have changed.
    pub fn read<T: Element>(
        &self,
        buffer: &Buffer<T>,
        offset: usize,
        into: &mut [T],
    ) -> Result<Timing, DeviceError> {
        let Some((start, bytes)) = range(buffer, offset, into.len())? else {
            return Ok(Timing::default());
        };
        self.read.fetch_add(bytes as u64, Relaxed);
        let (queue, memory) = match self.side(&buffer.memory)? {
            Side::OpenCl(queue, memory) => (queue, memory),
            Side::Cuda(own, memory) => {
                let place = into.as_mut_ptr().cast::<u8>();
                // SAFETY: `into` has as many bytes, and any bytes are values of T.
                let into = unsafe { std::slice::from_raw_parts_mut(place, bytes) };
                return own.read(memory, start, into);
            }
        };
        // SAFETY: the handles are valid, the range lies within the buffer as just checked, `into`
        // has as many bytes, any bytes are values of T, and the call blocks until they are copied.
        let event = unsafe {
            let into = into.as_mut_ptr().cast::<c_void>();
            enqueue_read_buffer(queue, memory, CL_TRUE, start, bytes, into, 0, ptr::null())
        };
        self.wait(&self.event(event.map_err(self.fail("clEnqueueReadBuffer"))?))
    }

    /// Copies all elements of a buffer to the beginning of another one, on the device, and waits.
    ///
    /// # Errors
    /// The other one is shorter, or the device failed.
    pub fn copy<T: Element>(
        &self,
        from: &Buffer<T>,
        to: &Buffer<T>,
    ) -> Result<Timing, DeviceError> {
        let Some((_, bytes)) = range(to, 0, from.len)? else {
            return Ok(Timing::default());
        };
        let (queue, from, to) = match (self.side(&from.memory)?, self.side(&to.memory)?) {
            (Side::OpenCl(queue, from), Side::OpenCl(_, to)) => (queue, from, to),
            (Side::Cuda(own, from), Side::Cuda(_, to)) => return own.copy(from, to, bytes),
            _ => return Err(self.foreign()),
        };
        // SAFETY: the handles are valid, both buffers have as many bytes, as just checked, and they
        // do not overlap: two buffers that are borrowed at once are two pieces of memory, or parts
        // of one, between which OpenCL refuses to copy where they overlap.
        let event = unsafe { enqueue_copy_buffer(queue, from, to, 0, 0, bytes, 0, ptr::null()) };
        self.wait(&self.event(event.map_err(self.fail("clEnqueueCopyBuffer"))?))
    }

    /// Makes all elements of a buffer `value`, and waits.
    ///
    /// # Errors
    /// The device failed.
    pub fn fill<T: Element>(&self, buffer: &Buffer<T>, value: T) -> Result<Timing, DeviceError> {
        let Some((_, bytes)) = range(buffer, 0, buffer.len)? else {
            return Ok(Timing::default());
        };
        let (queue, memory) = match (self.side(&buffer.memory)?, bytes_of(&[value])) {
            (Side::OpenCl(queue, memory), _) => (queue, memory),
            (Side::Cuda(own, memory), [byte, others @ ..]) if others.iter().all(|b| b == byte) => {
                return own.fill(memory, *byte);
            }
            (Side::Cuda(..), _) => return self.write(buffer, 0, &vec![value; buffer.len]),
        };
        // SAFETY: the handles are valid, the range is the whole buffer, and the pattern, a number
        // of 1, 4 or 8 bytes, is copied by the call.
        let event = unsafe {
            let pattern = ptr::from_ref(&value).cast::<c_void>();
            enqueue_fill_buffer(queue, memory, pattern, size_of::<T>(), 0, bytes, 0, ptr::null())
        };
        self.wait(&self.event(event.map_err(self.fail("clEnqueueFillBuffer"))?))
    }

    /// An event that a call of OpenCL has just made.
    pub(super) fn event(&self, event: cl_event) -> Owned<cl_event> {
        // SAFETY: the event is new, and nothing else releases it.
        unsafe { Owned::new(event, release_event) }
    }

    /// Waits for a command, and states when it was where.
    pub(super) fn wait(&self, event: &Owned<cl_event>) -> Result<Timing, DeviceError> {
        wait_for_events(&[event.get()]).map_err(self.fail("clWaitForEvents"))?;
        let time = |what| {
            let data = get_event_profiling_data(event.get(), what);
            let data = data.map_err(self.fail("clGetEventProfilingInfo"))?;
            let nanoseconds = data.first_chunk().copied().map(u64::from_ne_bytes);
            // CL_PROFILING_INFO_NOT_AVAILABLE
            nanoseconds.ok_or_else(|| self.fail("clGetEventProfilingInfo")(-7))
        };
        Ok(Timing {
            queued: time(CL_PROFILING_COMMAND_QUEUED)?,
            submitted: time(CL_PROFILING_COMMAND_SUBMIT)?,
            started: time(CL_PROFILING_COMMAND_START)?,
            ended: time(CL_PROFILING_COMMAND_END)?,
        })
    }

    /// The error of a call that returned a code.
    pub(super) fn fail(&self, call: &'static str) -> impl Fn(i32) -> DeviceError {
        error(&self.device, call)
    }
}

fn error(device: &Device, call: &'static str) -> impl Fn(i32) -> DeviceError {
    move |code| DeviceError::Call { device: device.name.clone(), call, code }
}

/// The bytes of elements.
fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: by the condition of Element all bytes are initialised, and there are as many.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// Offset and length in bytes of some elements of a buffer; nothing if there are none.
fn range<T>(
    buffer: &Buffer<T>,
    offset: usize,
    len: usize,
) -> Result<Option<(usize, usize)>, DeviceError> {
    let end = offset.saturating_add(len);
    if end > buffer.len {
        return Err(DeviceError::Range { offset, end, len: buffer.len });
    }
    Ok((len > 0).then_some((offset * size_of::<T>(), len * size_of::<T>())))
}
