//! What the format is called.

/// The name of the manifest's file.
pub const MANIFEST: &str = "manifest.json";
/// What a dataset calls itself.
pub const FORMAT: &str = "tickbound product";
/// The version of the format: another one where a reader of this would go wrong.
pub const VERSION: u64 = 2;

const PREFIX: &str = "block-";
const SUFFIX: &str = ".parquet";

pub(crate) fn name(number: usize) -> String {
    format!("{PREFIX}{number:06}{SUFFIX}")
}

/// The name of the block's file of which a file that is half written may be a draft, by its name.
pub(crate) fn block_of_draft(draft: &str) -> Option<&str> {
    let end = draft.find(SUFFIX)? + SUFFIX.len();
    (draft.starts_with(PREFIX) && draft.len() > end).then(|| &draft[..end])
}
