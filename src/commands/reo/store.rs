//! Temporary files of a product: in a locked folder that is removed with the process, or by the
//! next start.

use std::io;
use std::sync::{Mutex, PoisonError};

use tickbound_os::process::Scratch;
use tickbound_reo::product::reachable::{Store, Stored};

/// Files in a folder of the system's temporary folder, which is made with the first of them. They
/// have no names, so that what nobody has open any more takes no room.
#[derive(Default)]
pub(super) struct Files(Mutex<Option<Scratch>>);

impl Store for Files {
    fn create(&self) -> io::Result<Box<dyn Stored>> {
        let mut folder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = match &mut *folder {
            Some(folder) => folder,
            none => none.insert(Scratch::new("product")?),
        };
        Ok(Box::new(tempfile::tempfile_in(folder.path())?))
    }
}
