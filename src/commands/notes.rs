//! Notes and progress on standard error, beside the answer, which `--quiet` leaves
//! out, and errors.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on only the answer and errors are printed.
pub(super) fn hush() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Only the answer and errors are printed.
pub(super) fn are_hushed() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a line to standard error, with no line break out of a name and nothing else in it that a
/// terminal would obey. It may be closed or full: no note is worth ending for,
/// as the macro `eprintln` of the standard library does.
pub(super) fn line(text: &str) {
    lines(&tickbound_input::message::one_line(text));
}

/// As [`line`], for several.
pub(super) fn lines(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", tickbound_input::message::printable(text));
}
