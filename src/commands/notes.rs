//! What is said beside the answer, on standard error: notes and progress, which `--quiet` leaves
//! out, and errors.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on nothing is said beside the answer, but for errors.
pub(super) fn hush() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Nothing is to be said beside the answer.
pub(super) fn are_hushed() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a line to standard error, with no line break out of a name and nothing else in it that a
/// terminal would obey. It may be closed or full: nothing that is said there is worth ending for,
/// as the macro `eprintln` of the standard library does.
pub(super) fn line(text: &str) {
    lines(&tickbound_input::message::one_line(text));
}

/// As [`line`], for several.
pub(super) fn lines(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", tickbound_input::message::printable(text));
}
