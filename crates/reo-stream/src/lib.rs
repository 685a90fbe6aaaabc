//! The steps of a product as a folder of files that other tools open, written block by block.
//!
//! A dataset is a folder with one Parquet file for each block of a dense or reachable product,
//! `block-000000.parquet` and so on, and `manifest.json`, which describes them. Each row of a
//! file is a step, in the order of the product; of a dense one idle loops are among them:
//!
//! | column | type | meaning |
//! | --- | --- | --- |
//! | `source` | 32 bits, unsigned | the state that it leaves |
//! | `target` | 32 bits, unsigned | the state that it reaches |
//! | `label` | 64 bits, never negative | the names that fire: bit i is `names[i]` of the manifest |
//!
//! The values are plain, neither compressed nor in dictionaries, so that writing them costs little
//! more than copying. The manifest has the format's name and version, the connector, the product's
//! sizes and sum - as its factors say, or once all is made -, and for each block that is there its
//! rows and sums, and its file's length and CRC-32.
//!
//! **Whole or absent.** A block's file is written under another name, synced and renamed, and then
//! the manifest is renewed in the same way. So at every moment the blocks of which the manifest
//! knows are whole, and a run that was killed goes on with the others ([`Dataset::open`]); what it
//! leaves in the end is, byte for byte, what one run leaves. One process at a time holds a folder;
//! others may write files of blocks for it ([`BlockFiles`]). [`verify`] checks whether a dataset is
//! what was written.
//!
//! Files are touched through [`tickbound_os::output`] alone.
//!
//! A [`StreamJob`] makes a product in blocks, by threads, devices or several processes, counts,
//! checks and sums them, and writes them if it is to. A [`StreamObserver`] receives the progress.

mod error;
mod file;
mod files;
mod folder;
mod format;
mod job;
mod manifest;
mod meter;
mod ranks;
mod request;
mod search;
mod writer;

pub use error::{DatasetError, DatasetResult, JobResult, StreamJobError};
pub use file::{COLUMNS, Written};
pub use files::BlockFiles;
pub use folder::{Dataset, verify};
pub use format::{FORMAT, MANIFEST, VERSION};
pub use manifest::{BlockRecord, Manifest, ManifestHead, StreamedProduct};
pub use meter::StreamObserver;
pub use ranks::Ranks;
pub use request::{StreamExtent, StreamJob, Streamed};
