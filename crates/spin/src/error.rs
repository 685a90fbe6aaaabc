//! Why a search with SPIN has no result.

use std::path::PathBuf;

use thiserror::Error;
use tickbound_simulator::SimulateError;

use crate::version::Version;

/// Why there is no result.
#[derive(Debug, Error)]
pub enum SpinError {
    /// No SPIN.
    #[error(
        "SPIN was not found ({tried}); install it, for example with `apt-get install spin gcc` or \
         from \
         https://spinroot.com, or set SPIN to the program"
    )]
    NoSpin {
        /// What was looked for.
        tried: String,
    },
    /// No C compiler.
    #[error(
        "no C compiler was found ({tried}), and SPIN's verifiers are C programs; install one, for \
         example \
         with `apt-get install gcc`, or set CC to the program"
    )]
    NoCompiler {
        /// What was looked for.
        tried: String,
    },
    /// A program called spin that is something else.
    #[error(
        "{program}: `-V` prints `{message}`, which is no version of SPIN; set SPIN to the model \
         checker of \
         https://spinroot.com", program = program.display()
    )]
    NotSpin {
        /// The program.
        program: PathBuf,
        /// What it prints.
        message: String,
    },
    /// An old SPIN.
    #[error(
        "{program}: SPIN {version} is too old, {oldest} is needed; install a newer one from \
         https://spinroot.com, or set SPIN to it", program = program.display()
    )]
    TooOld {
        /// The program.
        program: PathBuf,
        /// Its version.
        version: Version,
        /// The oldest that is used.
        oldest: Version,
    },
    /// A limit that makes no sense.
    #[error("{what}; {fix}")]
    Option {
        /// What it is.
        what: String,
        /// What to give instead.
        fix: &'static str,
    },
    /// A file or a folder could not be used.
    #[error("{}: {error}; give a folder that may be written to", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A program could not be run.
    #[error("{}: cannot be run: {error}; check that it may be executed", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// SPIN refuses the model.
    #[error(
        "SPIN refuses the model: {message}; this is a fault of tickbound, please report it with \
         the problem \
         file"
    )]
    Refused {
        /// Its first complaint.
        message: String,
    },
    /// The C compiler refuses the verifier.
    #[error(
        "{compiler} refuses the verifier that SPIN generated: {message}; try another compiler with \
         CC, and \
         report it with the problem file",
        compiler = compiler.display()
    )]
    Compile {
        /// The compiler.
        compiler: PathBuf,
        /// Its first complaint.
        message: String,
    },
    /// The verifier found a fault of the model itself.
    #[error(
        "{what}: the verifier reports `{message}`; this is a fault of tickbound, please report it \
         with the \
         problem file"
    )]
    Model {
        /// The run.
        what: String,
        /// What it says.
        message: String,
    },
    /// The verifier crashed or printed nothing that can be understood.
    #[error("{what}: the verifier's answer cannot be read: {why}; --keep DIR keeps its log")]
    Unreadable {
        /// The run.
        what: String,
        /// What is known.
        why: String,
    },
    /// A trail that does not fit the problem.
    #[error(
        "a trail of SPIN cannot be used: {why}; this is a fault of tickbound, please report it \
         with the \
         problem file (--keep DIR keeps the trail)"
    )]
    Trail {
        /// What is wrong.
        why: String,
    },
    /// SPIN and our simulator differ.
    #[error(
        "{configuration}: SPIN takes {spin} ticks, the simulator {simulator}; this is a fault of \
         tickbound, please report it with the problem file (--keep DIR keeps the trail)"
    )]
    Disagreement {
        /// The configuration.
        configuration: String,
        /// Ticks of SPIN's run.
        spin: i64,
        /// What our simulator makes of it.
        simulator: String,
    },
    /// SPIN has proved a bound and then found something below it, or our simulator has.
    #[error(
        "SPIN proves that nothing takes {proved} ticks or fewer, but {who} takes {found}; this is \
         a fault \
         of tickbound, please report it with the problem file"
    )]
    Contradiction {
        /// The bound for which `OverTime` was proved.
        proved: i64,
        /// Who found otherwise.
        who: String,
        /// Ticks found.
        found: i64,
    },
    /// The simulator refuses.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A worker panicked.
    #[error(
        "a worker failed; this is a fault of tickbound, please report it with the problem file"
    )]
    Panicked,
}

impl SpinError {
    /// The fault is in this program, not in what it was given or in what is installed.
    pub fn is_fault(&self) -> bool {
        use SpinError::{Contradiction, Disagreement, Model, Panicked, Refused, Trail};
        matches!(
            self,
            Refused { .. }
                | Model { .. }
                | Trail { .. }
                | Disagreement { .. }
                | Contradiction { .. }
                | Panicked
        )
    }
}
