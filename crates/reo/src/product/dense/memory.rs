//! Large buffers whose failure is a value, and which are not written twice.

use std::alloc::{Layout, alloc_zeroed};

use super::error::{DenseError, DenseResult};

/// `len` zeros. The system gives fresh pages that are zero already, so that the threads that fill
/// them touch them first. Without memory it is an error, where `vec![0; len]` would abort.
pub(super) fn zeroed(what: &'static str, len: usize) -> DenseResult<Vec<u64>> {
    let fail = || DenseError::Allocation(what, len as u128 * 8);
    if len == 0 {
        return Ok(Vec::new());
    }
    let layout = Layout::array::<u64>(len).map_err(|_| fail())?;
    // SAFETY: the layout is not of size 0, as len > 0.
    let pointer = unsafe { alloc_zeroed(layout) }.cast::<u64>();
    if pointer.is_null() {
        return Err(fail());
    }
    // SAFETY: the pointer comes from the global allocator with the layout of an array of `len`
    // words, which is that of a vector with this capacity; all `len` words are initialised, to 0.
    Ok(unsafe { Vec::from_raw_parts(pointer, len, len) })
}
