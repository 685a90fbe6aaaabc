//! CUDA C++ compiled by NVRTC: the machine code, and what its kernels take.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

use crate::DeviceError;
use crate::nvidia::{Compiler, Handle, compiler};

/// What our kernels in OpenCL C need to be CUDA C++.
const OPENCL: &str = include_str!("opencl.cuh");
/// The first word of a compiled program in a file.
const MAGIC: &str = "tickbound-cuda-1";

/// A compiled program with one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compiled {
    /// The kernel's name in the machine code.
    pub kernel: String,
    /// Bytes of each of its arguments.
    pub sizes: Vec<usize>,
    /// Machine code, or PTX that ends with a zero byte.
    pub image: Vec<u8>,
}

impl Compiled {
    /// As the bytes of a file: a line of words, and the image.
    pub fn to_bytes(&self) -> Vec<u8> {
        let sizes: String = self.sizes.iter().map(|size| format!(" {size}")).collect();
        [format!("{MAGIC} {}{sizes}\n", self.kernel).as_bytes(), &self.image].concat()
    }

    /// From the bytes of a file; `None` if they are none of ours.
    pub fn from_bytes(bytes: &[u8]) -> Option<Compiled> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let mut words = str::from_utf8(&bytes[..end]).ok()?.strip_prefix(MAGIC)?.split_whitespace();
        let kernel = words.next()?.to_owned();
        let sizes = words.map(|size| size.parse().ok()).collect::<Option<_>>()?;
        Some(Compiled { kernel, sizes, image: bytes[end + 1..].to_vec() })
    }
}

/// A program of NVRTC.
struct Program {
    compiler: &'static Compiler,
    handle: Handle,
    /// The device's name, for errors.
    device: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is valid until this, which comes once.
        unsafe { (self.compiler.nvrtcDestroyProgram)(&mut self.handle) };
    }
}

/// Compiles our own kernels, which are OpenCL C in the few words that [`OPENCL`] translates, with
/// options `-DNAME=TEXT`.
///
/// # Errors
/// As for [`compile`].
pub(crate) fn compile_opencl(
    device: &str,
    capability: c_int,
    source: &str,
    options: &str,
) -> Result<Compiled, DeviceError> {
    // As lines: headers of NVRTC, which options `-D` come before, have names such as `T`, too.
    let macros = options.split_whitespace().filter_map(|option| option.strip_prefix("-D"));
    let macros: String =
        macros.map(|text| format!("#define {}\n", text.replacen('=', " ", 1))).collect();
    // No macro: `__global__` is one in whose text this word is.
    let source = source.replace("global ", "");
    compile(device, capability, &format!("{OPENCL}{macros}#line 1\n{source}"), &[], None)
}

/// Compiles a program with one kernel for devices of a compute capability, such as 90: machine
/// code, or PTX where the compiler is older than the device. `kernel` is its name with arguments of
/// its template; without it the source has a single kernel.
///
/// # Errors
/// [`DeviceError::Build`] with the compiler's words if it does not compile.
pub(crate) fn compile(
    device: &str,
    capability: c_int,
    source: &str,
    options: &[&str],
    kernel: Option<&str>,
) -> Result<Compiled, DeviceError> {
    let refuse = |log: &str| DeviceError::Build { device: device.to_owned(), log: log.to_owned() };
    let compiler = compiler().map_err(refuse)?;
    let program = Program::new(compiler, device, source)?;
    let name = kernel.map(CString::new).transpose().map_err(|_| DeviceError::Zero("name"))?;
    if let Some(name) = &name {
        // SAFETY: the program is valid, and the text ends with a zero.
        let code = unsafe { (compiler.nvrtcAddNameExpression)(program.handle, name.as_ptr()) };
        program.done("nvrtcAddNameExpression", code)?;
    }
    let known = capabilities(compiler).into_iter().filter(|own| *own <= capability).max();
    let old = "NVRTC compiles for no device as old as this; install an older CUDA toolkit";
    let known = known.ok_or_else(|| refuse(old))?;
    let exact = known == capability;
    let target = if exact { "sm" } else { "compute" };
    let target = format!("--gpu-architecture={target}_{known}");
    program.compile(options.iter().copied().chain([target.as_str()]))?;
    let ptx = program.output("nvrtcGetPTX", compiler.nvrtcGetPTXSize, compiler.nvrtcGetPTX)?;
    let lowered = name.map(|name| program.lowered(&name)).transpose()?;
    let entry = entry(&String::from_utf8_lossy(&ptx), lowered.as_deref());
    let (kernel, sizes) = entry.ok_or_else(|| refuse("its PTX does not have the kernel"))?;
    let image = match exact {
        true => program.output("nvrtcGetCUBIN", compiler.nvrtcGetCUBINSize, compiler.nvrtcGetCUBIN),
        false => Ok(ptx),
    };
    Ok(Compiled { kernel, sizes, image: image? })
}

/// The compute capabilities that a compiler knows.
fn capabilities(compiler: &Compiler) -> Vec<c_int> {
    let mut count = 0;
    // SAFETY: the function writes one number.
    let code = unsafe { (compiler.nvrtcGetNumSupportedArchs)(&mut count) };
    let mut all = vec![0; usize::try_from(count).unwrap_or(0)];
    if code == 0 && !all.is_empty() {
        // SAFETY: there is room for as many numbers as the function has just stated.
        unsafe { (compiler.nvrtcGetSupportedArchs)(all.as_mut_ptr()) };
    }
    all
}

impl Program {
    fn new(
        compiler: &'static Compiler,
        device: &str,
        source: &str,
    ) -> Result<Program, DeviceError> {
        let source = CString::new(source).map_err(|_| DeviceError::Zero("source"))?;
        let mut program = Program { compiler, handle: ptr::null_mut(), device: device.to_owned() };
        let (text, name) = (source.as_ptr(), c"kernel.cu".as_ptr());
        // SAFETY: both texts end with a zero and are copied, there are no headers, and the handle
        // has a place.
        let code = unsafe {
            (compiler.nvrtcCreateProgram)(
                &mut program.handle,
                text,
                name,
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        program.done("nvrtcCreateProgram", code)?;
        Ok(program)
    }

    fn done(&self, call: &'static str, code: c_int) -> Result<(), DeviceError> {
        let fault = || DeviceError::Call { device: self.device.clone(), call, code };
        if code == 0 { Ok(()) } else { Err(fault()) }
    }

    fn compile<'o>(&self, options: impl Iterator<Item = &'o str>) -> Result<(), DeviceError> {
        let options = options.map(CString::new).collect::<Result<Vec<_>, _>>();
        let options = options.map_err(|_| DeviceError::Zero("options"))?;
        let all: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program is valid, and there are as many texts, which end with zeros.
        let code = unsafe {
            (self.compiler.nvrtcCompileProgram)(self.handle, all.len() as c_int, all.as_ptr())
        };
        if code == 0 {
            return Ok(());
        }
        let (size, get) = (self.compiler.nvrtcGetProgramLogSize, self.compiler.nvrtcGetProgramLog);
        let log = self.output("nvrtcGetProgramLog", size, get).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).trim_matches(['\0', '\n', ' ']).to_owned();
        match log.is_empty() {
            true => self.done("nvrtcCompileProgram", code),
            false => Err(DeviceError::Build { device: self.device.clone(), log }),
        }
    }

    /// What a pair of functions gives: its size, and its bytes.
    fn output(
        &self,
        call: &'static str,
        size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = 0;
        // SAFETY: the program is valid, and the function writes one number.
        self.done(call, unsafe { size(self.handle, &mut bytes) })?;
        let mut output = vec![0_u8; bytes];
        // SAFETY: there is room for as many bytes as the function before has stated.
        self.done(call, unsafe { get(self.handle, output.as_mut_ptr().cast()) })?;
        Ok(output)
    }

    /// The name that a kernel has in the machine code.
    fn lowered(&self, name: &CStr) -> Result<String, DeviceError> {
        let mut lowered = ptr::null();
        // SAFETY: the program is valid and compiled, and the text ends with a zero.
        let code = unsafe {
            (self.compiler.nvrtcGetLoweredName)(self.handle, name.as_ptr(), &mut lowered)
        };
        self.done("nvrtcGetLoweredName", code)?;
        // SAFETY: the call has succeeded; its text ends with a zero, and the program has it.
        Ok(unsafe { CStr::from_ptr(lowered) }.to_string_lossy().into_owned())
    }
}

/// The name of a kernel in PTX, the first one if none is given, and the bytes of its parameters:
/// `.entry NAME(.param .u64 NAME_param_0, .param .align 16 .b8 NAME_param_1[16])` (PTX ISA, section
/// 10.2.1).
fn entry(ptx: &str, name: Option<&str>) -> Option<(String, Vec<usize>)> {
    let bytes = |parameter: &str| {
        let mut words = parameter.split_whitespace();
        let bits = words.find_map(|word| match word.strip_prefix('.')?.split_at_checked(1)? {
            ("u" | "s" | "b" | "f", bits) => bits.parse::<usize>().ok(),
            _ => None,
        })?;
        let length = words.last()?.split_once('[').map_or("1", |(_, n)| n.trim_end_matches(']'));
        (bits / 8).checked_mul(length.parse().ok()?)
    };
    ptx.split(".entry ").skip(1).find_map(|rest| {
        let (own, rest) = rest.split_at(rest.find(|c: char| c == '(' || c.is_whitespace())?);
        let list =
            rest.trim_start().strip_prefix('(').map_or("", |r| r.split(')').next().unwrap_or(r));
        let parameters = list.split(',').filter(|parameter| !parameter.trim().is_empty());
        let sizes = parameters.map(bytes).collect::<Option<_>>()?;
        name.is_none_or(|name| name == own).then(|| (own.to_owned(), sizes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_ptx() {
        let ptx = ".visible .entry _Z1kP(\n\t.param .align 8 .b8 _Z1kP_param_0[24],\n\t.param .u64 \
                   .ptr .global .align 4 _Z1kP_param_1,\n\t.param .f32 p2,\n\t.param .u8 p3\n)\n{ \
                   ret; }\n.weak .entry none()\n{ }\n.entry bare\n{ }\n";
        for (name, sizes) in [("_Z1kP", vec![24, 8, 4, 1]), ("none", vec![]), ("bare", vec![])] {
            assert_eq!(entry(ptx, Some(name)), Some((name.to_owned(), sizes)));
        }
        assert_eq!(entry(ptx, None).map(|(name, _)| name), Some("_Z1kP".to_owned()));
        assert_eq!(entry(ptx, Some("k")), None);
        assert_eq!(entry(".entry broken(.param", None), None);
    }

    #[test]
    fn compiled_programs_are_read_again() {
        for sizes in [vec![8, 4], vec![]] {
            let compiled =
                Compiled { kernel: "_Z1k".into(), sizes, image: b"\n\n\x7fELF\0".to_vec() };
            assert_eq!(Compiled::from_bytes(&compiled.to_bytes()), Some(compiled));
        }
        for other in [b"".as_slice(), b"\x7fELF\n\n", b"tickbound-cuda-1 k -1\n"] {
            assert_eq!(Compiled::from_bytes(other), None);
        }
    }
}
