//! What was measured is never lost: with every operation on files failing in turn, a kill before
//! each, and two at once.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

use tempfile::TempDir;
use tickbound_os::output::Operation;

use super::*;
use crate::outcome::{Outcome, Stages, Timed};

fn head() -> CacheHead {
    CacheHead {
        device: "d".into(),
        driver: "1".into(),
        kernel: "k".into(),
        size: vec![8],
        parameters: vec!["A".into()],
        values: vec![BTreeSet::new()],
    }
}

fn record(value: i64) -> CacheRecord {
    let runs = vec![1e-3 * (1 + value.abs()) as f64];
    let timed = Timed { runs, rounds: Vec::new(), steady: true, checked: true };
    CacheRecord {
        values: vec![value],
        outcome: Outcome::Timed(timed),
        stages: Stages::default(),
        timestamp: "now".into(),
        source: if value < 0 { "old" } else { "new" }.into(),
        rates: Vec::new(),
    }
}

fn keep(record: &CacheRecord) -> bool {
    record.source == "new"
}

fn open(disk: Disk, path: &Path) -> Result<(Cache, CacheContents), CacheError> {
    Cache::open_on(disk, path, head(), &keep)
}

fn values(found: &CacheContents) -> BTreeSet<i64> {
    found.records.iter().map(|record| record.values[0]).collect()
}

/// A cache with some entries, in its own folder.
fn cache(values: impl IntoIterator<Item = i64>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    let (mut cache, _) = open(Disk::real(), &path).unwrap();
    values.into_iter().for_each(|value| cache.append(&record(value)).unwrap());
    cache.close().unwrap();
    (folder, path)
}

/// The entries of all files beside a cache, whatever is kept.
fn everything(path: &Path) -> BTreeSet<i64> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|end| end == "new" || end == "lock") {
            continue;
        }
        let parts = text::read(&text::decoded(&std::fs::read(file).unwrap()));
        let entries = parts.into_iter().flat_map(|parts| parts.entries);
        all.extend(entries.filter_map(|e| key_of(&e)));
    }
    all
}

fn key_of(entry: &text::CacheLine) -> Option<i64> {
    CacheRecord::read(&entry.value, &["A".to_owned()]).map(|record| record.values[0])
}

/// A disk that asks this before each operation.
fn disk(gate: impl Fn(Operation) -> io::Result<()> + Sync + 'static) -> Disk {
    Disk::watched(Box::leak(Box::new(gate)))
}

/// A cache that has an old entry, a broken line, a whole entry, what a killed process left, and an
/// earlier copy.
fn worn() -> (TempDir, PathBuf) {
    let (folder, path) = cache([-1, 1, 2]);
    std::fs::write(folder.path().join("c.json.old"), everything_else()).unwrap();
    std::fs::write(folder.path().join("c.json.abcdef.new"), "half").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\n\"2\"", "\n\"\0\": {},\n\"2\"")).unwrap();
    (folder, path)
}

/// A cache with an entry that no other file has.
fn everything_else() -> Vec<u8> {
    let (_folder, path) = cache([-7]);
    std::fs::read(path).unwrap()
}

/// Opens the cache, adds two entries, closes it; `done` is called with what is said to be on the
/// disk. What failed, and what was noted.
fn session(disk: Disk, path: &Path, done: &dyn Fn(i64)) -> Vec<String> {
    let mut said = Vec::new();
    match open(disk, path) {
        Err(error) => said.push(error.to_string()),
        Ok((mut cache, found)) => {
            said.extend(found.notes);
            for value in [3, 4] {
                match cache.append(&record(value)) {
                    Ok(()) => done(value),
                    Err(error) => said.push(error.to_string()),
                }
            }
            said.extend(cache.close().err().map(|error| error.to_string()));
        }
    }
    said
}

#[test]
fn no_failure_loses_an_entry_and_each_is_seen() {
    // Whether one operation fails or all from there on.
    for lasting in [false, true] {
        let mut operations = 0;
        for number in 0.. {
            let (_folder, path) = worn();
            let count: &AtomicUsize = Box::leak(Box::default());
            let watched = disk(move |operation| {
                let now = count.fetch_add(1, Ordering::Relaxed);
                match now == number || (lasting && now > number) {
                    true => Err(io::Error::other(format!("{operation:?} fails"))),
                    false => Ok(()),
                }
            });
            let expected = Mutex::new(BTreeSet::from([-7, -1, 1, 2]));
            let said = session(watched, &path, &|value| {
                expected.lock().unwrap().insert(value);
            });
            operations = count.load(Ordering::Relaxed);
            if operations <= number {
                assert!(!said.iter().any(|line| line.contains(" fails")), "{said:?}");
                break;
            }
            let named = format!("operation {number}, lasting {lasting}: {said:?}");
            assert!(said.iter().any(|line| line.contains(" fails")), "{named}");
            let expected = expected.into_inner().unwrap();
            assert!(everything(&path).is_superset(&expected), "{named}: {:?}", everything(&path));
            // Measuring goes on as if nothing had been.
            let (mut again, found) = open(Disk::real(), &path).unwrap();
            let whole: BTreeSet<i64> = expected.iter().copied().filter(|v| *v > 0).collect();
            assert!(values(&found).is_superset(&whole), "{named}: {found:?}");
            again.append(&record(9)).unwrap();
            again.close().unwrap();
            assert!(everything(&path).is_superset(&(&expected | &BTreeSet::from([9]))), "{named}");
        }
        assert!(operations >= 20, "{operations}");
    }
}

#[test]
fn a_kill_before_any_operation_loses_nothing() {
    let (folder, path) = worn();
    let snapshots: &Mutex<Vec<(TempDir, BTreeSet<i64>)>> = Box::leak(Box::default());
    let done: &Mutex<BTreeSet<i64>> = Box::leak(Box::new(Mutex::new([-7, -1, 1, 2].into())));
    let from = folder.path().to_owned();
    let watched = disk(move |_| {
        let copy = tempfile::tempdir()?;
        for entry in std::fs::read_dir(&from)? {
            let entry = entry?;
            std::fs::copy(entry.path(), copy.path().join(entry.file_name()))?;
        }
        let until_now = done.lock().unwrap().clone();
        snapshots.lock().unwrap().push((copy, until_now));
        Ok(())
    });
    session(watched, &path, &|value| {
        done.lock().unwrap().insert(value);
    });
    let snapshots = std::mem::take(&mut *snapshots.lock().unwrap());
    assert!(snapshots.len() >= 20, "{}", snapshots.len());
    for (number, (folder, expected)) in snapshots.into_iter().enumerate() {
        let path = folder.path().join("c.json");
        assert!(everything(&path).is_superset(&expected), "before operation {number}");
        let (cache, found) = open(Disk::real(), &path).unwrap();
        let whole: BTreeSet<i64> = expected.iter().copied().filter(|v| *v > 0).collect();
        assert!(values(&found).is_superset(&whole), "before operation {number}: {found:?}");
        cache.close().unwrap();
        let left = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
        let left: Vec<String> = left.map(|name| name.into_string().unwrap()).collect();
        assert!(!left.iter().any(|n| n.ends_with(".new") || n.ends_with(".lock")), "{left:?}");
    }
}

#[test]
fn two_on_one_new_cache() {
    for round in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        let (start, refused) = (Barrier::new(2), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for first in [10, 20] {
                let (path, start, refused) = (&path, &start, &refused);
                scope.spawn(move || {
                    start.wait();
                    let (mut cache, _) = loop {
                        match open(Disk::real(), path) {
                            Err(CacheError::Locked { .. }) => {
                                refused.fetch_add(1, Ordering::Relaxed);
                                std::thread::yield_now();
                            }
                            opened => break opened.unwrap(),
                        }
                    };
                    // Whoever holds it holds it alone.
                    let other = open(Disk::real(), path).map(drop);
                    assert!(matches!(other, Err(CacheError::Locked { .. })), "{other:?}");
                    (first..first + 10).for_each(|v| cache.append(&record(v)).unwrap());
                    cache.close().unwrap();
                });
            }
        });
        let (_, found) = open(Disk::real(), &path).unwrap();
        assert_eq!(values(&found), (10..30).collect(), "round {round}, {refused:?} refusals");
    }
}

#[test]
fn links_stay_and_share_the_lock() {
    let (folder, path) = cache([1]);
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink("c.json", &link).unwrap();
    let (mut cache, found) = open(Disk::real(), &link).unwrap();
    assert_eq!(values(&found), [1].into());
    assert!(matches!(open(Disk::real(), &path), Err(CacheError::Locked { .. })));
    assert!(folder.path().join("c.json.lock").is_file());
    cache.append(&record(2)).unwrap();
    cache.close().unwrap();
    assert!(link.is_symlink() && !path.is_symlink());
    assert_eq!(values(&open(Disk::real(), &path).unwrap().1), [1, 2].into());
    // Nor is anything written through links that lie in the way.
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink("victim", folder.path().join("c.json.old")).unwrap();
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "x").unwrap();
    drop(open(Disk::real(), &path).unwrap());
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    std::os::unix::fs::symlink("victim", folder.path().join("c.json.lock")).unwrap();
    let refused = open(Disk::real(), &path).unwrap_err().to_string();
    assert!(refused.contains("c.json.lock"), "{refused}");
}

#[test]
fn what_is_left_out_is_said_and_kept() {
    let (folder, path) = cache([1, 2, 3, 4, 5, 6]);
    let text = std::fs::read_to_string(&path).unwrap();
    let line =
        |start: &str| 1 + text.lines().position(|line| line.starts_with(start)).expect("a line");
    let changed = text
        .replace("\"1\": {\"A\":1", "\"1\": {\"A\":7")
        .replace("\"time\":3.0", "\"time\":-3.0")
        .replace("\"times\":[4.0]", "\"times\":[0.0]")
        .replace("\n\"5\": {\"A\":5", "\n\"6\": {\"A\":6");
    let mut bytes = changed.into_bytes();
    let at = text.find("\n\"4\"").unwrap() + 20;
    bytes[at] = 0xff;
    std::fs::write(&path, &bytes).unwrap();
    let (cache, found) = open(Disk::real(), &path).unwrap();
    drop(cache);
    assert_eq!(values(&found), [6].into());
    let said = found.notes.join("\n");
    let (one, two, three, four, five) =
        (line("\"1\""), line("\"2\""), line("\"3\""), line("\"4\""), line("\"5\""));
    for part in [
        format!("c.json:{four}: cut short or broken; fixed, 1 entries are whole"),
        format!("c.json:{one}: 3 entries are no results"),
        format!("lines {one}, {two}, {three}"),
        format!("c.json:{five}: 1 entries come once more"),
    ] {
        assert!(said.contains(&part), "`{part}`: {said}");
    }
    assert_eq!(std::fs::read(folder.path().join("c.json.old")).unwrap(), bytes);
    // What was kept earlier stays, too, and one that is the same is not kept twice.
    let (cache, found) = open(Disk::real(), &path).unwrap();
    assert_eq!(found.notes, [""; 0]);
    cache.close().unwrap();
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap().replace("\"6\"", "\"5\""))
        .unwrap();
    for _ in 0..2 {
        drop(open(Disk::real(), &path).unwrap());
    }
    assert_eq!(std::fs::read(folder.path().join("c.json.old.1")).unwrap(), bytes);
    assert!(!folder.path().join("c.json.old.2").exists());
}

#[test]
fn what_may_not_be_written_to_is_not_replaced() {
    use std::os::unix::fs::PermissionsExt;

    let (_folder, path) = cache([1]);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o440)).unwrap();
    match open(Disk::real(), &path) {
        // Whoever may do everything may do this; the mode stays.
        Ok((cache, _)) => cache.close().unwrap(),
        Err(error) => assert!(error.to_string().contains("c.json: "), "{error}"),
    }
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o440);
}

/// The entry that is added last counts; the file has one for each key when it is closed, and both
/// if it is not.
#[test]
fn a_result_that_replaces_another() {
    let (_folder, path) = cache([1, 2, 3]);
    let again = |cache: &mut Cache, runs: &[f64]| {
        let mut record = record(2);
        let Outcome::Timed(timed) = &mut record.outcome else { panic!("{record:?}") };
        timed.rounds = runs.to_vec();
        cache.append(&record).unwrap();
    };
    let read = || {
        let text = std::fs::read_to_string(&path).unwrap();
        let (_, found) = open(Disk::real(), &path).unwrap();
        let rounds = |r: &CacheRecord| r.outcome.timed().unwrap().rounds.clone();
        let all: Vec<_> = found.records.iter().map(|r| (r.values[0], rounds(r))).collect();
        (all, text.matches("\n\"2\":").count(), found.notes.len())
    };
    let (mut opened, _) = open(Disk::real(), &path).unwrap();
    again(&mut opened, &[0.5, 0.25]);
    again(&mut opened, &[0.125]);
    opened.close().unwrap();
    let expected = |rounds: &[f64]| vec![(1, vec![]), (2, rounds.to_vec()), (3, vec![])];
    assert_eq!(read(), (expected(&[0.125]), 1, 0));
    let (mut opened, _) = open(Disk::real(), &path).unwrap();
    again(&mut opened, &[0.75]);
    drop(opened);
    let (found, entries, notes) = read();
    assert_eq!((found, entries), (expected(&[0.75]), 2));
    assert!(notes > 0, "what was left out is said");
}
