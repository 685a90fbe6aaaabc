//! What is promised of files, with every operation failing in turn.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::*;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn new_files_and_old_ones() {
    let folder = folder();
    let path = folder.path().join("a");
    write(&path, b"one").unwrap();
    assert_eq!((read(&path).as_str(), names(&folder).len()), ("one", 1));
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().mode();
    assert_eq!(mode(&path), mode(&plain), "as other new files");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    write(&path, b"two").unwrap();
    assert_eq!((read(&path).as_str(), mode(&path) & 0o7777), ("two", 0o640));
}

#[test]
fn links_stay() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("other")).unwrap();
    symlink("other/target", at("link")).unwrap();
    symlink("link", at("link2")).unwrap();
    for text in ["new", "again"] {
        write(at("link2"), text.as_bytes()).unwrap();
        assert_eq!(read(&at("other/target")), text);
    }
    assert!(at("link").is_symlink() && at("link2").is_symlink());
    symlink("round", at("round")).unwrap();
    assert!(write(at("round"), b"").unwrap_err().to_string().contains("one another"));
    // What lies in the way of the new file is not written through.
    assert_eq!(names(&folder), ["link", "link2", "other", "round"]);
}

#[test]
fn what_cannot_be_written() {
    let folder = folder();
    let kind = |path: PathBuf| {
        let early = OutputPlace::of(&path).and_then(|place| writable(&place));
        let late = write(&path, b"").unwrap_err().kind();
        assert_eq!(early.unwrap_err().kind(), late, "{}", path.display());
        late
    };
    assert_eq!(kind(folder.path().to_owned()), io::ErrorKind::IsADirectory);
    assert_eq!(kind(folder.path().join("new/")), io::ErrorKind::IsADirectory);
    assert_eq!(kind(folder.path().join("no/file")), io::ErrorKind::NotFound);
    assert_eq!(kind(PathBuf::new()), io::ErrorKind::NotFound);
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn devices_and_pipes_are_written_to_directly() {
    write("/dev/null", b"text").unwrap();
    assert!(Path::new("/dev/null").metadata().unwrap().rdev() != 0, "it is still a device");
    let full = write("/dev/full", b"text").unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = pipe.clone();
    let reader = std::thread::spawn(move || read(&reader));
    write(&pipe, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), "through");
    assert_eq!(names(&folder), ["pipe"]);
    for (name, place) in
        [("/dev/stdout", OutputPlace::Output), ("/proc/self/fd/2", OutputPlace::Error)]
    {
        if cfg!(target_os = "linux") {
            assert_eq!(OutputPlace::of(Path::new(name)).unwrap(), place);
        }
    }
}

#[test]
fn two_names_of_one_file() {
    let folder = folder();
    let place = |name: &str| OutputPlace::of(&folder.path().join(name)).unwrap();
    std::fs::create_dir(folder.path().join("d")).unwrap();
    // Not there yet.
    assert!(place("new").is(&place("d/../new")));
    assert!(!place("new").is(&place("d/new")));
    std::fs::write(folder.path().join("file"), "").unwrap();
    std::fs::hard_link(folder.path().join("file"), folder.path().join("hard")).unwrap();
    symlink("../file", folder.path().join("d/soft")).unwrap();
    assert!(place("file").is(&place("hard")) && place("d/soft").is(&place("hard")));
    assert!(!place("file").is(&place("new")));
    let null = OutputPlace::of(Path::new("/dev/null")).unwrap();
    assert!(!null.is(&null));
}

/// A disk whose operation of this number fails, and how many there were.
fn failing(number: usize) -> (Disk, &'static AtomicUsize) {
    let count: &AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
    let gate = Box::leak(Box::new(move |operation| {
        match count.fetch_add(1, Ordering::Relaxed) == number {
            true => Err(io::Error::other(format!("{operation:?} fails"))),
            false => Ok(()),
        }
    }));
    (Disk::watched(gate), count)
}

#[test]
fn whatever_fails_the_file_is_whole() {
    let folder = folder();
    let path = folder.path().join("file");
    let (disk, count) = failing(usize::MAX);
    std::fs::write(&path, "old").unwrap();
    write_on(disk, &path, b"new").unwrap();
    let operations = count.load(Ordering::Relaxed);
    assert_eq!(operations, 5, "create, write, sync, rename, sync the folder");
    for number in 0..operations {
        std::fs::write(&path, "old").unwrap();
        let error = write_on(failing(number).0, &path, b"new").unwrap_err();
        assert!(error.to_string().ends_with("fails"), "{error}");
        let whole = if number + 1 == operations { "new" } else { "old" };
        assert_eq!((read(&path).as_str(), names(&folder).len()), (whole, 1), "{error}");
    }
}

#[test]
fn what_is_left_behind_is_found() {
    let folder = folder();
    let target = folder.path().join("c.json");
    let mut draft = Draft::beside(Disk::real(), &target).unwrap();
    draft.write(b"half").unwrap();
    for other in ["c.json.old", "c.json.x.new", "c.json.abcde-.new", "d.json.abcdef.new"] {
        std::fs::write(folder.path().join(other), "").unwrap();
    }
    symlink("c.json.old", folder.path().join("c.json.abcdef.new")).unwrap();
    // As after a kill.
    std::mem::forget(draft);
    let found = leftovers(&target).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(read(&found[0]), "half");
}

/// Whole pages, then a part of one, from aligned memory and from other.
#[test]
fn pages_and_what_is_left() {
    let folder = folder();
    for shift in [0, 1] {
        let path = folder.path().join("large");
        let memory: Vec<u8> = (0..6 * crate::output::PAGE).map(|i| (i % 251) as u8).collect();
        let from = memory.as_ptr().align_offset(crate::output::PAGE) + shift;
        let bytes = &memory[from..][..4 * crate::output::PAGE + 100];
        let mut draft = Draft::beside(Disk::real(), &path).unwrap();
        draft.direct();
        for part in bytes.chunks(2 * crate::output::PAGE) {
            draft.write(part).unwrap();
        }
        draft.keep().unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes, "{shift}");
    }
}

#[test]
fn a_lock_is_held_by_one() {
    let folder = folder();
    let path = folder.path().join("lock");
    let take = || Lock::take(Disk::real(), &path).unwrap();
    let lock = take().unwrap();
    assert!(lock.is_real() && take().is_none());
    drop(lock);
    assert_eq!(names(&folder), [""; 0]);
    // One that a killed process left behind.
    std::fs::write(&path, "").unwrap();
    drop(take().unwrap());
    assert_eq!(names(&folder), [""; 0]);
    symlink("elsewhere", &path).unwrap();
    assert!(Lock::take(Disk::real(), &path).is_err());
    assert_eq!(names(&folder), ["lock"], "nothing was made through the link");
}

/// Many at once, each of which removes the file: never do two hold the lock.
#[test]
fn a_lock_among_many() {
    let folder = folder();
    let path = folder.path().join("lock");
    let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let Some(lock) = Lock::take(Disk::real(), &path).unwrap() else { continue };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold it");
                    taken.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lock);
                }
            });
        }
    });
    assert!(taken.into_inner() > 0);
}
