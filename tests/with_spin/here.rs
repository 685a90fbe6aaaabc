//! Whether the tools that tests with SPIN need are here; in CI they must be.

use std::process::Command;

/// True if SPIN and a C compiler are here.
pub fn here() -> bool {
    let runs = |program: &str, argument| Command::new(program).arg(argument).output().is_ok();
    let here = runs("spin", "-V") && runs("cc", "--version");
    if !here {
        assert!(std::env::var_os("CI").is_none(), "spin and cc must be installed in CI");
        eprintln!("skipped: spin or cc is not installed (make test installs them)");
    }
    here
}
