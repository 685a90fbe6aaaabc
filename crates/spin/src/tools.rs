//! Finding SPIN and a C compiler.
//!
//! `spin` is the program named by the variable `SPIN`, else the one on `PATH`; the compiler is the
//! one named by `CC`, which may have arguments, else the first of `cc`, `gcc` and `clang` on
//! `PATH`. Both are asked for their version at once, so that what is missing or too old is said
//! before anything is written.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tickbound_os::process::{ProcessLimits, program};

use crate::error::SpinError;
pub use crate::version::{OLDEST, Version};

/// How long a program may take to say its version.
const ASKING: Duration = Duration::from_secs(60);

/// The two programs that a run needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpinTools {
    /// SPIN.
    pub spin: PathBuf,
    /// Its version.
    pub version: Version,
    /// The C compiler.
    pub compiler: PathBuf,
    /// Its first arguments, as in `CC="ccache gcc"`.
    pub compiler_args: Vec<String>,
    /// What the compiler states of itself, in one line.
    pub compiler_version: String,
}

impl SpinTools {
    /// The tools of this process's environment.
    ///
    /// # Errors
    /// If one is missing, or SPIN is older than [`OLDEST`].
    pub fn find() -> Result<SpinTools, SpinError> {
        SpinTools::find_in(&|name| std::env::var_os(name))
    }

    /// The tools of an environment, given as a function from the name of a variable to its value.
    pub fn find_in(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<SpinTools, SpinError> {
        let path = variable("PATH").unwrap_or_default();
        let named = |name: &str| variable(name).filter(|value| !value.is_empty());
        let (name, tried) = match named("SPIN") {
            Some(given) => (given.clone(), format!("SPIN={}", given.display())),
            None => ("spin".into(), "`spin` on PATH".to_owned()),
        };
        let spin = program(&name, &path).ok_or_else(|| {
            SpinError::Unusable(format!(
                "SPIN was not found ({tried}); install it, for example with `apt-get install spin \
                 gcc` or from https://spinroot.com, or set SPIN to the program"
            ))
        })?;
        let message = first_line(&spin, "-V");
        let refused = |why| Err(SpinError::Unusable(format!("{}: {why}", spin.display())));
        let Some(version) = Version::parse(&message) else {
            return refused(format!(
                "`-V` prints `{message}`, which is no version of SPIN; set SPIN to the model \
                 checker of https://spinroot.com"
            ));
        };
        if version < OLDEST {
            return refused(format!(
                "SPIN {version} is too old, {OLDEST} is needed; install a newer one from \
                 https://spinroot.com, or set SPIN to it"
            ));
        }
        let (compiler, compiler_args) = compiler(named("CC"), &path)?;
        let compiler_version = first_line(&compiler, "--version");
        Ok(SpinTools { spin, version, compiler, compiler_args, compiler_version })
    }
}

/// The compiler and its first arguments.
fn compiler(given: Option<OsString>, path: &OsStr) -> Result<(PathBuf, Vec<String>), SpinError> {
    let missing = |tried: String| {
        SpinError::Unusable(format!(
            "no C compiler was found ({tried}), and SPIN's verifiers are C programs; install one, \
             for example with `apt-get install gcc`, or set CC to the program"
        ))
    };
    let Some(given) = given else {
        let known = ["cc", "gcc", "clang"].iter().find_map(|name| program(OsStr::new(name), path));
        let known = known.ok_or_else(|| missing("`cc`, `gcc` and `clang` on PATH".into()))?;
        return Ok((known, Vec::new()));
    };
    if let Some(program) = program(&given, path) {
        return Ok((program, Vec::new()));
    }
    let text = given.to_string_lossy();
    let mut words = text.split_whitespace();
    let program = words.next().and_then(|name| program(OsStr::new(name), path));
    let program = program.ok_or_else(|| missing(format!("CC={text}")))?;
    Ok((program, words.map(str::to_owned).collect()))
}

/// The first line that a program prints for one option; empty if it cannot be run.
fn first_line(program: &Path, option: &str) -> String {
    let limits = ProcessLimits { time: Some(ASKING), ..ProcessLimits::default() };
    let finished = tickbound_os::process::run(Command::new(program).arg(option), "", limits);
    let Ok(finished) = finished else { return String::new() };
    let text = if finished.stdout.is_empty() { finished.stderr } else { finished.stdout };
    text.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let none = SpinTools::find_in(&|_| None).unwrap_err().to_string();
        assert!(none.contains("`spin` on PATH") && none.contains("spinroot.com"), "{none}");
        let named = |name: &str| (name == "SPIN").then(|| OsString::from("/no/such/spin"));
        let error = SpinTools::find_in(&named).unwrap_err().to_string();
        assert!(error.contains("SPIN=/no/such/spin"), "{error}");
    }
}
