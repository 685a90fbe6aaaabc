//! Whether the tools that tests with SPIN need are here; in CI they must be.

use std::process::Command;

/// True if SPIN and a C compiler are here.
pub fn here() -> bool {
    let here = runs("spin", "-V") && runs("cc", "--version");
    if !here {
        assert!(std::env::var_os("CI").is_none(), "spin and cc must be installed in CI");
        eprintln!("skipped: spin or cc is not installed (make test installs them)");
    }
    here
}

/// The compiler for verifiers that are made in hundreds and need not be fast.
pub fn compiler() -> &'static str {
    if runs("tcc", "-v") { "tcc" } else { "cc" }
}

fn runs(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok()
}
