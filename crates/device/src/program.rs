//! Programs in OpenCL C, their kernels, and launches of these.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr;

use opencl3::command_queue::enqueue_nd_range_kernel;
use opencl3::kernel::{
    CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_NUM_ARGS, CL_KERNEL_WORK_GROUP_SIZE, create_kernel,
    get_kernel_arg_data, get_kernel_data, get_kernel_work_group_data, release_kernel,
    set_kernel_arg,
};
use opencl3::program::{
    CL_PROGRAM_BINARIES, CL_PROGRAM_BUILD_LOG, build_program, create_program_with_binary,
    create_program_with_source, get_program_build_data, get_program_info, release_program,
};
use opencl3::types::{cl_device_id, cl_event, cl_kernel, cl_program};

use super::DeviceError;
use super::cuda::{Compiled, CudaKernel, CudaProgram, compile, compile_opencl};
use super::image::{Image, ImageSampler};
use super::raw::Owned;
use super::session::{Buffer, Driver, Element, Session};
use super::timing::Timing;

/// A program that was built for the device of a session.
#[derive(Debug)]
pub struct DeviceProgram<'s> {
    program: Program,
    session: &'s Session,
}

#[derive(Debug)]
enum Program {
    OpenCl(Owned<cl_program>, cl_device_id),
    Cuda(CudaProgram),
}

impl<'s> DeviceProgram<'s> {
    /// Builds a program from its source in OpenCL C with the compiler's options, such as `-DN=4`.
    /// For a CUDA device it has one kernel, and only what `cuda/opencl.cuh` translates.
    ///
    /// # Errors
    /// [`DeviceError::Build`] with the compiler's words if it does not build.
    pub fn build(
        session: &'s Session,
        source: &str,
        options: &str,
    ) -> Result<DeviceProgram<'s>, DeviceError> {
        let own = match &session.driver {
            Driver::OpenCl(own) => own,
            Driver::Cuda(own) => {
                let name = &session.device().name;
                let compiled = compile_opencl(name, own.capability, source, options)?;
                let program = Program::Cuda(own.load(compiled)?);
                return Ok(DeviceProgram { program, session });
            }
        };
        let program = create_program_with_source(own.context.get(), &[source])
            .map_err(session.fail("clCreateProgramWithSource"))?;
        DeviceProgram::built(session, program, options)
    }

    /// Builds a program in CUDA C++ for a CUDA device. Each line of `options` is one for NVRTC, and
    /// `kernel` names its kernel with the arguments of its template: `tile<16, float>`.
    ///
    /// # Errors
    /// [`DeviceError::Build`] with the compiler's words if it does not build; the device is none of
    /// CUDA.
    pub fn build_cuda(
        session: &'s Session,
        source: &str,
        options: &str,
        kernel: &str,
    ) -> Result<DeviceProgram<'s>, DeviceError> {
        let Driver::Cuda(own) = &session.driver else { return Err(session.foreign()) };
        let (name, options) = (&session.device().name, options.lines().collect::<Vec<_>>());
        let compiled = compile(name, own.capability, source, &options, Some(kernel))?;
        Ok(DeviceProgram { program: Program::Cuda(own.load(compiled)?), session })
    }

    /// Builds a program from a [binary](DeviceProgram::binary) that the same driver has made for an
    /// equal device.
    ///
    /// # Errors
    /// The driver refuses it: it is another one's, or drivers of this kind take none.
    pub fn load(
        session: &'s Session,
        binary: &[u8],
        options: &str,
    ) -> Result<DeviceProgram<'s>, DeviceError> {
        let (context, device) = match &session.driver {
            Driver::OpenCl(own) => (own.context.get(), own.id),
            Driver::Cuda(own) => {
                let compiled = Compiled::from_bytes(binary).ok_or_else(|| session.foreign())?;
                let program = Program::Cuda(own.load(compiled)?);
                return Ok(DeviceProgram { program, session });
            }
        };
        // SAFETY: the context is valid and was made for this device; the bytes are read alone, and
        // the driver checks them, as OpenCL demands (clCreateProgramWithBinary).
        let program = unsafe { create_program_with_binary(context, &[device], &[binary]) };
        let program = program.map_err(session.fail("clCreateProgramWithBinary"))?;
        DeviceProgram::built(session, program, options)
    }

    /// Builds a program that has just been created.
    fn built(
        session: &'s Session,
        program: cl_program,
        options: &str,
    ) -> Result<DeviceProgram<'s>, DeviceError> {
        // SAFETY: the program is new, and nothing else releases it.
        let program = unsafe { Owned::new(program, release_program) };
        let options = CString::new(options).map_err(|_| DeviceError::Zero("options"))?;
        let device = session.opencl()?.id;
        build_program(program.get(), &[device], &options, None, ptr::null_mut()).map_err(
            |code| {
                let log = get_program_build_data(program.get(), device, CL_PROGRAM_BUILD_LOG);
                let log = String::from_utf8_lossy(&log.unwrap_or_default()).into_owned();
                let log = log.trim_matches(['\0', '\n', ' ']).to_owned();
                match log.is_empty() {
                    true => session.fail("clBuildProgram")(code),
                    false => DeviceError::Build { device: session.device().name.clone(), log },
                }
            },
        )?;
        Ok(DeviceProgram { program: Program::OpenCl(program, device), session })
    }

    /// What the driver has made of it, for [`DeviceProgram::load`]; nothing where a driver gives
    /// none.
    ///
    /// # Errors
    /// The driver fails.
    pub fn binary(&self) -> Result<Option<Vec<u8>>, DeviceError> {
        let program = match &self.program {
            Program::OpenCl(program, _) => program.get(),
            Program::Cuda(program) => return Ok(Some(program.compiled.to_bytes())),
        };
        let made = get_program_info(program, CL_PROGRAM_BINARIES);
        let made = made.map_err(self.session.fail("clGetProgramInfo"))?;
        Ok(made.to_vec_vec_uchar().into_iter().find(|binary| !binary.is_empty()))
    }

    /// One of its kernels; in CUDA it has one, under any name.
    ///
    /// # Errors
    /// It has none of this name.
    pub fn kernel(&self, name: &str) -> Result<DeviceKernel, DeviceError> {
        let (program, device) = match (&self.program, &self.session.driver) {
            (Program::OpenCl(program, device), _) => (program.get(), *device),
            (Program::Cuda(program), Driver::Cuda(own)) => {
                let (kernel, max_group) = (own.kernel(program)?, self.session.device().max_group);
                let arguments = kernel.sizes.len() as u32;
                return Ok(DeviceKernel { kernel: Kernel::Cuda(kernel), max_group, arguments });
            }
            _ => return Err(self.session.foreign()),
        };
        let name = CString::new(name).map_err(|_| DeviceError::Zero("kernel's name"))?;
        let kernel = create_kernel(program, &name);
        let kernel = kernel.map_err(self.session.fail("clCreateKernel"))?;
        // SAFETY: the kernel is new, and nothing else releases it.
        let kernel = unsafe { Owned::new(kernel, release_kernel) };
        let most = get_kernel_work_group_data(kernel.get(), device, CL_KERNEL_WORK_GROUP_SIZE);
        let most = most.map_err(self.session.fail("clGetKernelWorkGroupInfo"))?;
        let max_group = most.first_chunk().copied().map_or(1, usize::from_ne_bytes).max(1);
        let arguments = get_kernel_data(kernel.get(), CL_KERNEL_NUM_ARGS);
        let arguments = arguments.map_err(self.session.fail("clGetKernelInfo"))?;
        let arguments = arguments.first_chunk().copied().map_or(0, u32::from_ne_bytes);
        Ok(DeviceKernel { kernel: Kernel::OpenCl(kernel), max_group, arguments })
    }
}

/// A kernel.
#[derive(Debug)]
pub struct DeviceKernel {
    kernel: Kernel,
    max_group: usize,
    arguments: u32,
}

#[derive(Debug)]
enum Kernel {
    OpenCl(Owned<cl_kernel>),
    Cuda(CudaKernel),
}

impl DeviceKernel {
    /// Items of the largest workgroup that the device can run it with, at least 1.
    pub fn max_group(&self) -> usize {
        self.max_group
    }

    /// How many arguments it takes; in CUDA local memory is none, but a part of the launch.
    pub fn arguments(&self) -> usize {
        self.arguments as usize
    }

    /// The type of a parameter as the source has it; `None` where the driver keeps no types, as
    /// without the option `-cl-kernel-arg-info`.
    pub fn argument_type(&self, place: usize) -> Option<String> {
        let Kernel::OpenCl(kernel) = &self.kernel else { return None };
        let place = u32::try_from(place).ok()?;
        let name = get_kernel_arg_data(kernel.get(), place, CL_KERNEL_ARG_TYPE_NAME).ok()?;
        Some(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
    }
}

/// An argument of a kernel. Its size must be the parameter's: that is checked.
#[derive(Debug, Clone, Copy)]
pub enum Arg<'a> {
    /// See [`Arg::buffer`], [`Arg::image`] and [`Arg::sampler`].
    Object(ObjectArg<'a>),
    /// `int`
    I32(i32),
    /// `uint`
    U32(u32),
    /// `long`
    I64(i64),
    /// `ulong`
    U64(u64),
    /// `float`
    F32(f32),
    /// `double`
    F64(f64),
    /// Local memory of this many bytes.
    Local(usize),
    /// A value of any other type, as the bytes that it has on this machine.
    Bytes(&'a [u8]),
}

/// A buffer, an image or a sampler that lives as long as it is an argument.
#[derive(Debug, Clone, Copy)]
pub struct ObjectArg<'a> {
    handle: *mut c_void,
    object: PhantomData<&'a ()>,
}

impl<'a> Arg<'a> {
    /// A buffer as an argument.
    pub fn buffer<T: Element>(buffer: &'a Buffer<T>) -> Arg<'a> {
        Arg::Object(ObjectArg { handle: buffer.memory.handle(), object: PhantomData })
    }

    /// An image as an argument.
    pub fn image(image: &'a Image) -> Arg<'a> {
        Arg::Object(ObjectArg { handle: image.memory.get(), object: PhantomData })
    }

    /// A sampler as an argument.
    pub fn sampler(ImageSampler(sampler): &'a ImageSampler) -> Arg<'a> {
        Arg::Object(ObjectArg { handle: sampler.get(), object: PhantomData })
    }

    /// Bytes of local memory together, and the values of all others.
    fn apart(arguments: &[Arg<'_>]) -> (usize, Vec<(usize, *const c_void)>) {
        let is_local = |argument: &&Arg<'_>| matches!(argument, Arg::Local(_));
        let (local, others): (Vec<&Arg<'_>>, Vec<_>) = arguments.iter().partition(is_local);
        let bytes = local.iter().fold(0, |all: usize, a| all.saturating_add(a.value().0));
        (bytes, others.iter().map(|argument| argument.value()).collect())
    }

    /// The value's size and a pointer to it.
    fn value(&self) -> (usize, *const c_void) {
        fn of<T>(value: &T) -> (usize, *const c_void) {
            (size_of::<T>(), ptr::from_ref(value).cast())
        }
        match self {
            Arg::Object(object) => of(&object.handle),
            Arg::I32(value) => of(value),
            Arg::U32(value) => of(value),
            Arg::I64(value) => of(value),
            Arg::U64(value) => of(value),
            Arg::F32(value) => of(value),
            Arg::F64(value) => of(value),
            Arg::Local(bytes) => (*bytes, ptr::null()),
            Arg::Bytes(bytes) => (bytes.len(), bytes.as_ptr().cast()),
        }
    }
}

/// A launch that is on its way. Dropping it waits, too.
#[derive(Debug)]
#[must_use = "a launch that nobody waits for may have failed"]
pub struct KernelLaunch<'a> {
    session: &'a Session,
    event: Option<Event>,
}

#[derive(Debug)]
enum Event {
    OpenCl(Owned<cl_event>),
    /// It has ended.
    Cuda(Result<Timing, DeviceError>),
}

impl Event {
    fn wait(self, session: &Session) -> Result<Timing, DeviceError> {
        match self {
            Event::OpenCl(event) => session.wait(&event),
            Event::Cuda(result) => result,
        }
    }
}

impl KernelLaunch<'_> {
    /// Waits until it is done.
    ///
    /// # Errors
    /// It failed.
    pub fn wait(mut self) -> Result<Timing, DeviceError> {
        // There is an event until this takes it.
        self.event.take().map_or(Ok(Timing::default()), |event| event.wait(self.session))
    }
}

impl Drop for KernelLaunch<'_> {
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            // The launch was given up; only its end matters, so that its buffers may go.
            let _ = event.wait(self.session);
        }
    }
}

impl Session {
    /// Puts a launch into the queue: `global` items in 1 to 3 dimensions, in groups of `local`,
    /// which the driver chooses if none is given.
    ///
    /// # Errors
    /// Sizes or arguments that OpenCL refuses, or the device failed.
    ///
    /// # Safety
    /// Buffers must be of this session. With these arguments and sizes the kernel must touch no
    /// memory outside its buffers and its local memory: on a device of kind CPU they lie in this
    /// process. The [`KernelLaunch`] must not be forgotten (`mem::forget`), as its buffers are in
    /// use until it ends.
    pub unsafe fn enqueue<'a>(
        &'a self,
        kernel: &'a DeviceKernel,
        arguments: &[Arg<'a>],
        global: &[usize],
        local: Option<&[usize]>,
    ) -> Result<KernelLaunch<'a>, DeviceError> {
        let sizes = local.map_or(global.len(), <[usize]>::len);
        if !(1..=3).contains(&global.len()) || sizes != global.len() {
            return Err(DeviceError::Dimensions { global: global.len(), local: sizes });
        }
        let (own, kernel) = match (&self.driver, &kernel.kernel) {
            (Driver::OpenCl(own), Kernel::OpenCl(kernel)) => (own, kernel),
            (Driver::Cuda(own), Kernel::Cuda(kernel)) => {
                let (local_memory, values) = Arg::apart(arguments);
                // SAFETY: the arguments outlive the call, and the caller answers for the kernel.
                let done = unsafe { own.launch(kernel, &values, local_memory, (global, local))? };
                return Ok(KernelLaunch { session: self, event: Some(Event::Cuda(done)) });
            }
            _ => return Err(self.foreign()),
        };
        for (index, argument) in (0..).zip(arguments) {
            let (size, value) = argument.value();
            // SAFETY: the kernel is valid and, as it is not Sync, used by this thread alone; the
            // value has this size and is copied by the call.
            let set = unsafe { set_kernel_arg(kernel.get(), index, size, value) };
            set.map_err(|code| DeviceError::Argument {
                device: self.device().name.clone(),
                index,
                bytes: size,
                code,
            })?;
        }
        // SAFETY: the handles are valid, the sizes have `global.len()` dimensions, and what the
        // kernel does with its arguments is for the caller to answer.
        let event = unsafe {
            enqueue_nd_range_kernel(
                own.queue.get(),
                kernel.get(),
                global.len() as u32,
                ptr::null(),
                global.as_ptr(),
                local.map_or(ptr::null(), <[usize]>::as_ptr),
                0,
                ptr::null(),
            )
        };
        let event = self.event(event.map_err(self.fail("clEnqueueNDRangeKernel"))?);
        Ok(KernelLaunch { session: self, event: Some(Event::OpenCl(event)) })
    }
}
