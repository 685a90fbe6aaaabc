//! The machine's C compiler, as a preprocessor.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tickbound_model::source::Standard;
use tickbound_os::process::{Ended, Finished, ProcessLimits, ProcessStop};

use crate::cuda;
use crate::error::{Read, ReadError};
use crate::libclang::HEADER;

/// How long it may take: an `#include` of a pipe would wait for ever.
const TIME: Duration = Duration::from_secs(60);
/// Bytes of memory that it may take, and bytes that it may print.
const MEMORY: u64 = 2 << 30;
const OUTPUT: u64 = 48 << 20;

/// What it may use.
pub(super) fn limits() -> ProcessLimits<'static> {
    let (time, memory, output) = (Some(TIME), Some(MEMORY), Some(OUTPUT));
    ProcessLimits { time, memory, output, grace: Duration::ZERO, ..ProcessLimits::default() }
}

/// What the preprocessor made of a source.
pub(super) struct Preprocessed {
    pub(super) text: String,
    /// Its warnings and errors.
    pub(super) messages: String,
    pub(super) success: bool,
}

/// Options that make it a preprocessor of OpenCL C: nothing of the host is defined or found.
const OPTIONS: [&str; 6] = ["-E", "-x", "c", "-undef", "-Wundef", "-nostdinc"];

/// Macros that OpenCL compilers define in both versions, without C's and those of extensions.
const PREDEFINED: &str = "\
    CL_VERSION_1_0=100 CL_VERSION_1_1=110 CL_VERSION_1_2=120 CL_VERSION_2_0=200 CL_VERSION_3_0=300 \
    __ENDIAN_LITTLE__=1 __IMAGE_SUPPORT__=1 cl_khr_fp64=1 cl_khr_byte_addressable_store=1 \
    cl_khr_global_int32_base_atomics=1 cl_khr_global_int32_extended_atomics=1 \
    cl_khr_local_int32_base_atomics=1 cl_khr_local_int32_extended_atomics=1 \
    __has_extension(name)=0 __has_feature(name)=0";

/// Those of OpenCL C 1.2.
const CL12: &str = "__OPENCL_C_VERSION__=120 __OPENCL_VERSION__=120";

/// Those of OpenCL C 3.0, with optional features that devices commonly have.
const CL30: &str = "\
    __OPENCL_C_VERSION__=300 __OPENCL_VERSION__=300 __opencl_c_int64=1 __opencl_c_fp64=1 \
    __opencl_c_images=1 __opencl_c_generic_address_space=1 \
    __opencl_c_program_scope_global_variables=1 __opencl_c_atomic_order_acq_rel=1 \
    __opencl_c_atomic_order_seq_cst=1 __opencl_c_atomic_scope_device=1 \
    __opencl_c_work_group_collective_functions=1";

/// Expands `source`, whose includes lie in `folder` or in one of the others.
pub(super) fn run(
    source: &str,
    (folder, include): (&Path, &[PathBuf]),
    headers: &Path,
    (standard, defines): (Standard, &[String]),
    limits: ProcessLimits<'_>,
) -> Read<Preprocessed> {
    let mut arguments: Vec<OsString> = OPTIONS.map(Into::into).to_vec();
    if standard.is_cuda() {
        let known = cuda::predefined(standard).into_iter();
        let defines = known.chain(defines.iter().map(String::as_str));
        arguments.extend(defines.map(|define| format!("-D{define}").into()));
        arguments.push("-".into());
        let source = format!("{}\n{source}", cuda::shim(standard));
        return start(&arguments, folder, &source, limits);
    }
    arguments.extend(["-iquote", ".", "-I", "."].map(Into::into));
    for folder in include {
        arguments.extend(["-I".into(), folder.clone().into_os_string()]);
    }
    let version = match standard {
        Standard::Cl30 => CL30,
        _ => CL12,
    };
    let known = [version, PREDEFINED].into_iter().flat_map(str::split_whitespace);
    let defines = known.chain(defines.iter().map(String::as_str));
    arguments.extend(defines.map(|define| format!("-D{define}").into()));
    arguments.extend(["-imacros".into(), headers.join(HEADER).into_os_string(), "-".into()]);
    start(&arguments, folder, source, limits)
}

/// Runs the first compiler that is there.
fn start(
    arguments: &[OsString],
    folder: &Path,
    source: &str,
    limits: ProcessLimits<'_>,
) -> Read<Preprocessed> {
    let wanted = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty());
    let candidates: Vec<&str> = match &wanted {
        Some(cc) => vec![cc.as_str()],
        None => vec!["cc", "gcc", "clang"],
    };
    for candidate in candidates {
        let mut words = candidate.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(arguments).current_dir(folder).env("LC_ALL", "C");
        let fault = |what: String, fix| Err(ReadError::file(candidate, what, fix));
        return match tickbound_os::process::run(&mut command, source, limits) {
            Ok(Finished { ended: Ended::Stopped(ProcessStop::Interrupted), .. }) => {
                Err(ReadError::Stopped { name: candidate.to_owned() })
            }
            Ok(Finished { ended: Ended::Stopped(why), .. }) => {
                let fix = "check the source's #include lines, its macros, and CC";
                fault(format!("stopped by its {why} while it expanded macros"), fix)
            }
            Ok(finished) => Ok(Preprocessed {
                success: finished.ended == Ended::Exit(0),
                text: finished.stdout,
                messages: finished.stderr,
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => fault(error.to_string(), "set CC to another"),
        };
    }
    Err(ReadError::file(
        wanted.as_deref().unwrap_or("cc"),
        "this machine has no C compiler of that name, which expands the kernel's macros",
        "install gcc or clang, or set CC",
    ))
}
