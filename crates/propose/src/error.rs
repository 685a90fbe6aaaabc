//! Why nothing is proposed.

use tickbound_model::ModelError;
use tickbound_opencl::ReadError;

/// Why no problem file is proposed.
#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    /// The source cannot be read.
    #[error("{path}: {error}; give the path of a kernel's source")]
    Source {
        /// The source.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The source does not compile, or this machine lacks what reads it.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Functions are called that no file defines.
    #[error(
        "{file}:{line}: nothing defines {names}, which the source calls; add the file that does \
         with --before FILE, or a \
         macro's text with --define"
    )]
    Undefined {
        /// The file of the first call.
        file: String,
        /// Its line.
        line: u32,
        /// What is called.
        names: String,
    },
    /// A wish makes no problem.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is no kernel.
    #[error(
        "{path}: there is no kernel in it; declare one with __kernel, or define what its #if asks \
         for with --define"
    )]
    NoKernel {
        /// The source.
        path: String,
    },
    /// There are several kernels.
    #[error("{path}: it has several kernels; add --entry {names}")]
    Several {
        /// The source.
        path: String,
        /// Their names.
        names: String,
    },
    /// A capture cannot be read, or a captured kernel makes no problem.
    #[error("{at}: {what}")]
    Captured {
        /// The file, or the place in it.
        at: String,
        /// What is wrong.
        what: String,
    },
    /// There is no kernel of that name.
    #[error("{path}: there is no kernel `{wanted}`; --entry may be {known}")]
    UnknownKernel {
        /// The source.
        path: String,
        /// The name that was requested.
        wanted: String,
        /// Those that there are.
        known: String,
    },
    /// The kernel's name is not in the text of a source that does not compile.
    #[error("{path}: --entry {wanted} is not in its text; and {error}")]
    EntryNowhere {
        /// The source.
        path: String,
        /// The name that was requested.
        wanted: String,
        /// Why it does not compile.
        error: Box<ProposeError>,
    },
    /// A wish that is no file name, domain, or the like.
    #[error("{option} {text}: {what}")]
    Wish {
        /// The option.
        option: &'static str,
        /// What was given.
        text: String,
        /// What is wrong, and the fix.
        what: String,
    },
}
