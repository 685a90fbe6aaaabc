//! Readings that are kept from one start of the program to the next.
//!
//! The macros of a source are expanded each time. What comes out of that, with all else that the
//! reading asks for (arguments, answers, the launch, the versions of this program and of libclang),
//! is the key, so nothing has to be known of included files. An entry is a separate file, written
//! beside its place and renamed, so that processes do not disturb each other. A damaged one is
//! written anew. Where the folder cannot be written to, nothing is kept.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::codec;
use crate::libclang;
use crate::reading::One;
use crate::request::ReadRequest;

/// The environment variable for where readings are kept: a folder, or `off`.
pub const VARIABLE: &str = "TICKBOUND_CACHE";

/// First in each entry: what it is, and the version of the format.
const MAGIC: &[u8] = b"tickbound reading 9\n";
/// Bytes of a checksum.
const SUM: usize = 16;
/// Largest entry, in bytes.
const LARGEST: usize = 32 << 20;
/// Most bytes in the folder. Beyond it, those that were not used for longest go, down to half.
const MOST: u64 = 256 << 20;
/// Older files that were never renamed are of processes that were killed.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// Where readings are kept.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    folder: Option<PathBuf>,
    most: u64,
}

impl Kept {
    /// Nowhere: everything is read.
    pub fn off() -> Kept {
        Kept::default()
    }

    /// In a folder, which is made when it is needed.
    pub fn at(folder: impl Into<PathBuf>) -> Kept {
        Kept { folder: Some(folder.into()), most: MOST }
    }

    /// The same with room for `most` bytes.
    #[must_use]
    pub fn with_most(self, most: u64) -> Kept {
        Kept { most, ..self }
    }

    /// In the folder of [`VARIABLE`]; if that is not set, in the user's folder for caches.
    pub fn of_user() -> Kept {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        match variable(VARIABLE) {
            Some(value) if value == "off" => return Kept::off(),
            Some(folder) => return Kept::at(folder),
            None => {}
        }
        // A relative path in XDG_CACHE_HOME is to be ignored by its specification.
        let folder = (variable("XDG_CACHE_HOME").map(PathBuf::from))
            .filter(|folder| folder.is_absolute())
            .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")));
        folder.map_or_else(Kept::off, |folder| Kept::at(folder.join("tickbound").join("readings")))
    }

    /// The key of readings of these texts; `None` if nothing is kept.
    pub(crate) fn key<'t>(
        &self,
        request: &ReadRequest,
        texts: impl Iterator<Item = (&'t str, &'t [String])>,
    ) -> Option<u128> {
        self.folder.as_ref()?;
        let exe = std::env::current_exe().ok()?.metadata().ok()?;
        let mut request = request.clone();
        // The source is in the texts.
        request.path = PathBuf::new();
        let program = (MAGIC, env!("CARGO_PKG_VERSION"), exe.len(), exe.modified().ok());
        let texts: Vec<_> = texts.collect();
        Some(sum(&(program, libclang::version().ok()?, format!("{request:?}"), texts)))
    }

    /// The readings that were kept under a key.
    pub(crate) fn load(&self, key: u128) -> Option<Vec<One>> {
        let path = self.path(key)?;
        let bytes = tickbound_input::bytes(&path).ok()?;
        let (sum, payload) = bytes.strip_prefix(MAGIC)?.split_at_checked(SUM)?;
        let readings = (sum == checksum(key, payload)).then(|| codec::read(payload))??;
        // The time is that of the last use.
        let touched = std::fs::File::options().append(true).open(path);
        touched.and_then(|file| file.set_modified(SystemTime::now())).ok();
        Some(readings)
    }

    /// Keeps readings under a key, if that can be done.
    pub(crate) fn store(&self, key: u128, readings: &[One]) {
        let payload = codec::write(&readings);
        if let Some(path) = self.path(key)
            && payload.len() <= LARGEST.min(usize::try_from(self.most).unwrap_or(LARGEST))
        {
            // What is not kept is read again.
            self.write(&path, &[MAGIC, &checksum(key, &payload), &payload]).ok();
        }
    }

    fn path(&self, key: u128) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:032x}", key)))
    }

    fn write(&self, path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
        let Some(folder) = path.parent() else { return Ok(()) };
        std::fs::create_dir_all(folder)?;
        let beside = path.with_extension(format!("new-{}", std::process::id()));
        let mut file = std::fs::File::options().write(true).create_new(true).open(&beside)?;
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        let done = written.and_then(|()| std::fs::rename(&beside, path));
        if done.is_err() {
            std::fs::remove_file(&beside)?;
        }
        self.make_room(folder)
    }

    /// Removes what was not used for longest, if there is too much, and what was left behind.
    fn make_room(&self, folder: &Path) -> std::io::Result<()> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // Another process may have removed it.
            let Ok(data) = entry.metadata() else { continue };
            let age = data.modified()?.elapsed().unwrap_or_default();
            if entry.path().extension().is_some() && age > LEFT_BEHIND {
                std::fs::remove_file(entry.path()).ok();
            } else {
                entries.push((age, data.len(), entry.path()));
            }
        }
        let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        if total > self.most {
            entries.sort();
            while total > self.most / 2
                && let Some((_, bytes, path)) = entries.pop()
            {
                std::fs::remove_file(path).ok();
                total -= bytes;
            }
        }
        Ok(())
    }
}

fn checksum(key: u128, payload: &[u8]) -> [u8; SUM] {
    sum(&(key, payload)).to_le_bytes()
}

/// 128 bits out of a value.
fn sum(value: &impl Hash) -> u128 {
    let [a, b] = [0_u8, 1].map(|half| {
        let mut hasher = DefaultHasher::new();
        (half, value).hash(&mut hasher);
        u128::from(hasher.finish())
    });
    a << 64 | b
}
