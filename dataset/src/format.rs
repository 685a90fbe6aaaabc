//! What the format is called.

/// The name of the manifest's file.
pub const MANIFEST: &str = "manifest.json";
/// What a dataset calls itself.
pub const FORMAT: &str = "tickbound product";
/// The version of the format: another one where a reader of this would go wrong.
pub const VERSION: u64 = 2;

/// The name of a block's file.
pub(crate) fn name(number: usize) -> String {
    format!("block-{number:06}.parquet")
}
