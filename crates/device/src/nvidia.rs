//! NVIDIA's driver and its compiler NVRTC as libraries, looked for when the program runs.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;

use libloading::Library;

/// A handle: of a context, a module, a function, an event, a program of NVRTC.
pub(crate) type Handle = *mut c_void;

/// CUDA_ERROR_NOT_INITIALIZED.
pub(crate) const NOT_INITIALIZED: c_int = 3;

/// A table of functions of a library, each by its name there.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident($($argument:ty),*) -> $result:ty;)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case)]
        pub(crate) struct $table {
            $(pub $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl $table {
            fn of(library: &'static Library) -> Result<$table, libloading::Error> {
                // SAFETY: the library is never closed, and each function has these arguments in all
                // versions that have this name (cuda.h, nvrtc.h).
                Ok(unsafe { $table { $($name: *library.get(stringify!($name).as_bytes())?,)* } })
            }
        }
    };
}

functions! {
    /// The driver (cuda.h). Addresses of a device are `u64`; results are 0 or an error.
    Driver {
        cuInit(c_uint) -> c_int;
        cuDriverGetVersion(*mut c_int) -> c_int;
        cuDeviceGetCount(*mut c_int) -> c_int;
        cuDeviceGet(*mut c_int, c_int) -> c_int;
        cuDeviceGetName(*mut c_char, c_int, c_int) -> c_int;
        cuDeviceTotalMem_v2(*mut usize, c_int) -> c_int;
        cuDeviceGetAttribute(*mut c_int, c_int, c_int) -> c_int;
        cuDevicePrimaryCtxRetain(*mut Handle, c_int) -> c_int;
        cuCtxSetCurrent(Handle) -> c_int;
        cuMemAlloc_v2(*mut u64, usize) -> c_int;
        cuMemFree_v2(u64) -> c_int;
        cuMemcpyHtoD_v2(u64, *const c_void, usize) -> c_int;
        cuMemcpyDtoH_v2(*mut c_void, u64, usize) -> c_int;
        cuMemcpyDtoD_v2(u64, u64, usize) -> c_int;
        cuMemsetD8_v2(u64, u8, usize) -> c_int;
        cuModuleLoadData(*mut Handle, *const c_void) -> c_int;
        cuModuleUnload(Handle) -> c_int;
        cuModuleGetFunction(*mut Handle, Handle, *const c_char) -> c_int;
        cuFuncSetAttribute(Handle, c_int, c_int) -> c_int;
        cuLaunchKernel(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle,
            *mut *mut c_void, *mut *mut c_void) -> c_int;
        cuEventCreate(*mut Handle, c_uint) -> c_int;
        cuEventDestroy_v2(Handle) -> c_int;
        cuEventRecord(Handle, Handle) -> c_int;
        cuEventSynchronize(Handle) -> c_int;
        cuEventElapsedTime(*mut f32, Handle, Handle) -> c_int;
        cuGetErrorString(c_int, *mut *const c_char) -> c_int;
    }
}

functions! {
    /// The compiler (nvrtc.h). Results are 0 or an error.
    Compiler {
        nvrtcGetNumSupportedArchs(*mut c_int) -> c_int;
        nvrtcGetSupportedArchs(*mut c_int) -> c_int;
        nvrtcCreateProgram(*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char,
            *const *const c_char) -> c_int;
        nvrtcAddNameExpression(Handle, *const c_char) -> c_int;
        nvrtcCompileProgram(Handle, c_int, *const *const c_char) -> c_int;
        nvrtcGetProgramLogSize(Handle, *mut usize) -> c_int;
        nvrtcGetProgramLog(Handle, *mut c_char) -> c_int;
        nvrtcGetLoweredName(Handle, *const c_char, *mut *const c_char) -> c_int;
        nvrtcGetPTXSize(Handle, *mut usize) -> c_int;
        nvrtcGetPTX(Handle, *mut c_char) -> c_int;
        nvrtcGetCUBINSize(Handle, *mut usize) -> c_int;
        nvrtcGetCUBIN(Handle, *mut c_char) -> c_int;
        nvrtcDestroyProgram(*mut Handle) -> c_int;
        nvrtcGetErrorString(c_int) -> *const c_char;
    }
}

/// The folders of CUDA toolkits.
fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os);
    named.map(PathBuf::from).chain([PathBuf::from("/usr/local/cuda")]).collect()
}

/// Folders with headers of the toolkit, such as `cuda_fp16.h`, which the compiler comes without;
/// from CUDA 13 on those that cooperative groups include lie in a folder of their own.
pub fn cuda_headers() -> Vec<PathBuf> {
    let folders = toolkits().into_iter().map(|folder| folder.join("include"));
    folders.flat_map(|folder| [folder.join("cccl"), folder]).filter(|f| f.is_dir()).collect()
}

/// The first of these libraries that can be opened; it stays open.
fn open(names: &[&str]) -> Option<&'static Library> {
    let folders = toolkits().into_iter().map(|folder| folder.join("lib64"));
    // An empty folder: where the system looks for libraries.
    let mut paths = std::iter::once(PathBuf::new())
        .chain(folders)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>());
    // SAFETY: NVIDIA's libraries may be opened at any time by any thread.
    let library = paths.find_map(|path| unsafe { Library::new(path) }.ok())?;
    Some(Box::leak(Box::new(library)))
}

/// The driver, or why it cannot be used.
pub(crate) fn driver() -> Result<&'static Driver, &'static str> {
    static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
    let load = || {
        let library = open(&["libcuda.so.1", "nvcuda.dll"])
            .ok_or("libcuda.so.1 is not there; install NVIDIA's driver")?;
        let driver = Driver::of(library)
            .map_err(|e| format!("NVIDIA's driver is too old: {e}; install a newer one"))?;
        // SAFETY: the function takes a number that must be 0.
        match unsafe { (driver.cuInit)(0) } {
            0 => Ok(driver),
            code => Err(format!("NVIDIA's driver does not start: error {code} of cuInit")),
        }
    };
    DRIVER.get_or_init(load).as_ref().map_err(String::as_str)
}

/// The compiler, or why it cannot be used.
pub(crate) fn compiler() -> Result<&'static Compiler, &'static str> {
    static COMPILER: OnceLock<Result<Compiler, String>> = OnceLock::new();
    let load = || {
        let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];
        let library = open(&names).ok_or(
            "libnvrtc is not there; install the CUDA toolkit, or set LD_LIBRARY_PATH to its \
             folder",
        )?;
        Compiler::of(library).map_err(|e| format!("libnvrtc is too old: {e}; install CUDA 11.2"))
    };
    COMPILER.get_or_init(load).as_ref().map_err(String::as_str)
}

/// What an error of the driver or of NVRTC means, in their words.
pub(crate) fn text(call: &str, code: c_int) -> String {
    let mut text = ptr::null();
    // SAFETY: both functions give a constant text that ends with a zero, or none.
    unsafe {
        if let (true, Ok(compiler)) = (call.starts_with("nvrtc"), compiler()) {
            text = (compiler.nvrtcGetErrorString)(code);
        } else if let Ok(driver) = driver() {
            (driver.cuGetErrorString)(code, &mut text);
        }
        match text.is_null() {
            true => "an error".to_owned(),
            false => CStr::from_ptr(text).to_string_lossy().into_owned(),
        }
    }
}
