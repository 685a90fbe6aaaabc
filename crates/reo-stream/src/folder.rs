//! A dataset's folder: opened, gone on with, verified.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::Crc;
use tickbound_os::output::{Disk, Draft, Lock, leftovers};
use tickbound_reo::product::dense::{CellTally, RowBlock};

use crate::error::{DatasetError, DatasetResult};
use crate::files::BlockFiles;
use crate::format::{FORMAT, MANIFEST, block_of_draft};
use crate::manifest::{BlockRecord, Manifest, ManifestHead};

/// The file on which who writes to the folder has a lock.
const LOCK: &str = "lock";
/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;
/// Most bytes of a manifest that is read: some hundred for each of a million blocks.
const LONGEST: u64 = 1 << 30;

/// A dataset that is written to.
#[derive(Debug)]
pub struct Dataset {
    disk: Disk,
    folder: PathBuf,
    manifest: Manifest,
    _lock: Lock,
}

impl Dataset {
    /// The dataset in `folder`, which is made if it is missing. Blocks that are there are read:
    /// those that are not what was written are forgotten, to be written again. What a killed run
    /// has left half written is removed. `go_on` is asked now and then, with the number of a block,
    /// whether to go on.
    ///
    /// # Errors
    /// The folder has something else than a dataset with this head, another process writes to it,
    /// it cannot be read or written, or it was stopped.
    pub fn open(
        disk: Disk,
        folder: &Path,
        head: ManifestHead,
        go_on: &dyn Fn(usize) -> bool,
    ) -> DatasetResult<Dataset> {
        std::fs::create_dir_all(folder).map_err(DatasetError::file(folder))?;
        let lock = folder.join(LOCK);
        let lock = Lock::take(disk, &lock).map_err(DatasetError::file(&lock))?;
        let Some(lock) = lock else { return Err(DatasetError::Busy(folder.to_owned())) };
        let path = folder.join(MANIFEST);
        let manifest = match read(folder)? {
            None => new(folder, head)?,
            Some(found) => match found.head.difference(&head) {
                Some(what) => return Err(DatasetError::other(&path, what)),
                None => found,
            },
        };
        let mut dataset = Dataset { disk, folder: folder.to_owned(), manifest, _lock: lock };
        dataset.clean()?;
        dataset.keep_whole(go_on)?;
        dataset.save()?;
        Ok(dataset)
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether a block is there.
    pub fn has(&self, block: usize) -> bool {
        self.record(block).is_some()
    }

    fn record(&self, block: usize) -> Option<&BlockRecord> {
        let written = &self.manifest.written;
        written.binary_search_by_key(&block, |record| record.block).ok().map(|at| &written[at])
    }

    /// What writes its files.
    pub fn files(&self) -> BlockFiles {
        BlockFiles::new(self.disk, &self.folder)
    }

    /// Enters a block whose file [`BlockFiles`] have written.
    pub fn enter(&mut self, record: BlockRecord) -> DatasetResult<()> {
        self.manifest.add(record);
        self.save()
    }

    /// Checks that a block that is there has this `tally`; else the folder holds another product.
    pub fn agree(&self, block: RowBlock, tally: &CellTally) -> DatasetResult<()> {
        let same = |record: &BlockRecord| {
            let tally = CellTally { broken: 0, first_broken: None, ..*tally };
            record.first == block.first && record.tally() == Some(tally)
        };
        if self.record(block.number).is_some_and(same) {
            return Ok(());
        }
        Err(DatasetError::other(&self.folder.join(MANIFEST), "what a block comes to"))
    }

    /// Enters that every block of the product is there, where that was not known before.
    pub fn finish(&mut self) -> DatasetResult<()> {
        self.manifest.finish();
        self.save()
    }

    /// Removes what was half written by a run that was killed.
    fn clean(&self) -> DatasetResult<()> {
        let block = |path: PathBuf| {
            let name = path.file_name()?.to_str()?;
            block_of_draft(name).map(str::to_owned)
        };
        let blocks: BTreeSet<String> = files(&self.folder)?.into_iter().filter_map(block).collect();
        let names = [MANIFEST.to_owned()].into_iter().chain(blocks);
        for target in names.map(|name| self.folder.join(name)) {
            let found = leftovers(&target).map_err(DatasetError::file(&self.folder))?;
            for path in found {
                self.disk.remove(&path).map_err(DatasetError::file(&path))?;
            }
        }
        Ok(())
    }

    /// Forgets blocks that are not what was written.
    fn keep_whole(&mut self, go_on: &dyn Fn(usize) -> bool) -> DatasetResult<()> {
        let mut whole = Vec::new();
        for record in std::mem::take(&mut self.manifest.written) {
            match check(&self.folder, &record, go_on) {
                Ok(()) => whole.push(record),
                Err(DatasetError::Damaged(..)) => {}
                Err(error) => return Err(error),
            }
        }
        self.manifest.written = whole;
        self.manifest.settle();
        Ok(())
    }

    fn save(&self) -> DatasetResult<()> {
        let path = self.folder.join(MANIFEST);
        let fail = DatasetError::file(&path);
        let mut text = serde_json::to_vec_pretty(&self.manifest).map_err(|e| fail(e.into()))?;
        text.push(b'\n');
        let mut draft = Draft::beside(self.disk, &path).map_err(&fail)?;
        draft.write(&text).map_err(&fail)?;
        draft.keep().map(drop).map_err(&fail)
    }
}

/// Reads all of a dataset; gives its manifest if it is complete and every block is what was
/// written. `go_on` is asked now and then, with the number of a block, whether to go on.
///
/// # Errors
/// What is missing, damaged, or does not belong to it; or it was stopped.
pub fn verify(folder: &Path, go_on: &dyn Fn(usize) -> bool) -> DatasetResult<Manifest> {
    let manifest = read(folder)?.ok_or_else(|| {
        let why = format!("there is no {FORMAT} here, as {MANIFEST} is missing");
        DatasetError::unusable(folder, why)
    })?;
    manifest.written.iter().try_for_each(|record| check(folder, record, go_on))?;
    if !manifest.complete {
        let blocks = manifest.head.blocks.map_or("all".into(), |blocks| blocks.to_string());
        let why = format!("{} of {blocks} blocks are there", manifest.written.len());
        let fix = "run the composition again with this folder to go on";
        return Err(DatasetError::unusable(folder, format!("not complete: {why}; {fix}")));
    }
    for path in files(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let known = |record: &BlockRecord| record.file == name;
        if ![MANIFEST, LOCK].contains(&name) && !manifest.written.iter().any(known) {
            let why = "does not belong to the dataset; remove it";
            return Err(DatasetError::unusable(&path, why));
        }
    }
    Ok(manifest)
}

fn new(folder: &Path, head: ManifestHead) -> DatasetResult<Manifest> {
    // A draft of the manifest is all that a killed run may have left before it.
    let drafts = leftovers(&folder.join(MANIFEST)).map_err(DatasetError::file(folder))?;
    let other = |path: &PathBuf| !path.ends_with(LOCK) && !drafts.contains(path);
    if files(folder)?.iter().any(other) {
        let why =
            format!("the folder is not empty and has no {FORMAT}; choose a new or an empty one");
        return Err(DatasetError::unusable(folder, why));
    }
    Ok(Manifest::new(head))
}

/// All that is in a folder, in order.
fn files(folder: &Path) -> DatasetResult<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(DatasetError::file(folder))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<_>, _>>().map_err(DatasetError::file(folder))?;
    paths.sort();
    Ok(paths)
}

fn read(folder: &Path) -> DatasetResult<Option<Manifest>> {
    let path = folder.join(MANIFEST);
    let fail = DatasetError::file(&path);
    let mut text = String::new();
    match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
        Ok(file) => match file.take(LONGEST).read_to_string(&mut text) {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(DatasetError::manifest(&path, "it is no text"));
            }
            read => read.map_err(fail)?,
        },
    };
    Manifest::parse(&path, &text).map(Some)
}

/// Whether a block's file is what was written.
fn check(folder: &Path, record: &BlockRecord, go_on: &dyn Fn(usize) -> bool) -> DatasetResult<()> {
    let path = folder.join(&record.file);
    let damaged = |why: String| DatasetError::Damaged(path.clone(), why);
    let mut file = match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(damaged("the file is missing".into()));
        }
        opened => opened.map_err(DatasetError::file(&path))?,
    };
    let (mut crc, mut bytes, mut chunk) = (Crc::new(), 0, vec![0; CHUNK]);
    loop {
        if !go_on(record.block) {
            return Err(DatasetError::Stopped);
        }
        let count = file.read(&mut chunk).map_err(DatasetError::file(&path))?;
        if count == 0 {
            break;
        }
        crc.update(&chunk[..count]);
        bytes += count as u64;
    }
    if bytes != record.bytes {
        return Err(damaged(format!("{bytes} bytes, where {} were written", record.bytes)));
    }
    let (crc32, written) = (format!("{:08x}", crc.sum()), &record.crc32);
    if crc32 != *written {
        return Err(damaged(format!("its CRC-32 is {crc32}, where {written} was written")));
    }
    Ok(())
}
