//! What would make a line of a kernel cheaper, from what it was found to use.

use tickbound_model::Usage;

/// Lines of a cache for each request above which items of a warp are far apart: 32 items that read
/// 16 bytes each in sequence touch 4 lines of 128 bytes, in two rows that are not aligned 6.
const MAX_LINES: f64 = 8.0;
/// Passes of local memory for each request above which banks conflict: 32 items with 16 bytes each
/// take 4.
const MAX_PASSES: f64 = 4.0;

/// A hint for the author of a line that uses this much, where parameters have the values in `env`;
/// `None` if nothing in it is known to be avoidable.
pub(super) fn hint(usage: &Usage, env: &[i64]) -> Option<String> {
    let value = |name: &str| {
        let (_, expr) = usage.entries().find(|(known, _)| *known == name)?;
        expr.eval(env).ok().filter(|n| *n > 0).map(|n| n as f64)
    };
    let each = |many: &str, of: &str| Some(value(many)? / value(of)?);
    let mut hints = Vec::new();
    if let Some(lines) = each("global_lines", "global_requests").filter(|n| *n > MAX_LINES) {
        hints.push(format!(
            "{lines:.0} lines of the cache for each request of a warp: let neighbouring items \
             access neighbouring elements, or copy a tile to local memory"
        ));
    }
    if let Some(passes) = each("local_wavefronts", "local_requests").filter(|n| *n > MAX_PASSES) {
        hints.push(format!(
            "{passes:.1} passes of local memory for each request: banks conflict; pad the rows of \
             the array by one element"
        ));
    }
    if let Some(atomics) = value("shared_atomics") {
        hints.push(format!(
            "{atomics:.0} atomic operations on one address: combine them in a group first"
        ));
    }
    Some(hints.join("; ")).filter(|text| !text.is_empty())
}
