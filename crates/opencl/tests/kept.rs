//! Readings that are kept: the same as those that are made, used again, never trusted when damaged,
//! bounded.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use indexmap::IndexMap;
use tickbound_model::source::{QuestionKey, Side};
use tickbound_opencl::extract::{Extracted, extract_with};
use tickbound_opencl::{Kept, ReadError, ReadRequest, ReaderSetup, attach_with};

use crate::kernels::KERNELS;
use crate::kernels::example::Kernel;
use crate::parse::tree::ready;
use crate::read::support::case;

const TEXT: &str = "kernel void k(global int *a) {\n#if N == 2\n    a[0] = a[1];\n#endif\n    \
                    for (int i = 0; i < WG; i++) { if (a[i] > 0) a[i] = N * 2; }\n}\n";

/// What is done to a request.
type Change = fn(&mut ReadRequest);

/// The readings of a text for three values of N, with a folder to keep them in.
fn read(
    text: &str,
    kept: Option<&Kept>,
    change: impl Fn(&mut ReadRequest),
) -> Result<Extracted, ReadError> {
    let mut case = case(text);
    case.branches = vec![("k: a[i] > 0", Side::Then)];
    case.with_request(|request| {
        let mut request = request.clone();
        change(&mut request);
        let values = |places: &[usize], _: &_| {
            let all = [1, 2, 3].map(|n| vec![n, 64]);
            let key = |all: &Vec<i64>| places.iter().map(|p| all[*p]).collect::<Vec<i64>>();
            Ok(all.iter().map(|all| (key(all), all.clone())).collect::<IndexMap<_, _>>())
        };
        let setup = kept.map_or_else(ReaderSetup::default, keeping);
        extract_with(&request, &values, &setup)
    })
}

fn keeping(kept: &Kept) -> ReaderSetup<'static> {
    ReaderSetup { kept: kept.clone(), ..ReaderSetup::default() }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Makes a file look as if it had not been used for a day.
fn age(path: &Path) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(86_400)).unwrap();
}

fn was_used(path: &Path) -> bool {
    path.metadata().unwrap().modified().unwrap().elapsed().unwrap() < Duration::from_secs(3600)
}

#[test]
fn what_was_kept_is_used() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::at(folder.path().join("new/one"));
    let alone = read(TEXT, None, |_| {}).unwrap();
    assert_eq!(alone.variants.len(), 3);
    assert_eq!(read(TEXT, Some(&kept), |_| {}).unwrap(), alone);
    let written = files(&folder.path().join("new/one"));
    assert_eq!(written.len(), 1);
    age(&written[0]);
    assert_eq!(read(TEXT, Some(&kept), |_| {}).unwrap(), alone);
    assert!(was_used(&written[0]));
}

#[test]
fn whatever_changes_is_read() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::at(folder.path());
    let changes: [(&str, Change); 6] = [
        (TEXT, |_| {}),
        (TEXT, |request| request.branches[0].1 = Side::Else),
        (TEXT, |request| request.symbols["WG"].greatest = 512),
        (TEXT, |request| request.dimensions = 2),
        (TEXT, |request| {
            request.bounds.push((QuestionKey::read("k").unwrap(), request.symbols["N"]))
        }),
        (
            "kernel void k(global int *a) \
             { a[N] = 1; for (int i = 0; i < 1; i++) if (a[i] > 0) a[1] = 2; }",
            |_| {},
        ),
    ];
    for (i, (text, change)) in changes.iter().enumerate() {
        assert_eq!(read(text, Some(&kept), change), read(text, None, change), "{i}");
        assert_eq!(files(folder.path()).len(), i + 1, "{i}");
    }
}

#[test]
fn damage_is_noticed() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::at(folder.path());
    let alone = read(TEXT, Some(&kept), |_| {}).unwrap();
    let path = files(folder.path()).remove(0);
    let whole = std::fs::read(&path).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let last = whole.len() - 1;
    let damaged = [Vec::new(), whole[..last].to_vec(), flipped(0), flipped(25), flipped(last), {
        let mut longer = whole.clone();
        longer.push(0);
        longer
    }];
    for bytes in damaged {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(read(TEXT, Some(&kept), |_| {}).unwrap(), alone);
        assert_eq!(std::fs::read(&path).unwrap(), whole, "it is written anew");
        assert_eq!(files(folder.path()).len(), 1);
    }
    // An entry in the place of another one.
    let other = read(TEXT, Some(&kept), |request| request.branches[0].1 = Side::Else).unwrap();
    let second = files(folder.path()).into_iter().find(|p| *p != path).unwrap();
    std::fs::copy(&path, &second).unwrap();
    let again = read(TEXT, Some(&kept), |request| request.branches[0].1 = Side::Else);
    assert_eq!(again.unwrap(), other);
}

#[test]
fn what_is_wrong_is_not_kept() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::at(folder.path());
    assert!(read(TEXT, Some(&kept), |request| request.branches.clear()).is_err());
    // An answer for nothing is refused again, also where the readings are known.
    let unused = |request: &mut ReadRequest| {
        request.branches.push((QuestionKey::read("k: a[i] > 1").unwrap(), Side::Both));
    };
    let first = read(TEXT, Some(&kept), unused).unwrap_err();
    assert_eq!(read(TEXT, Some(&kept), unused).unwrap_err(), first);
}

#[test]
fn the_folder_is_bounded() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    read(TEXT, Some(&Kept::at(folder.path())), |_| {}).unwrap();
    let first = files(folder.path()).remove(0);
    let size = first.metadata().unwrap().len();
    age(&first);
    let kept = Kept::at(folder.path()).with_most(2 * size + size / 2);
    for greatest in 300..320 {
        read(TEXT, Some(&kept), |request| request.symbols["WG"].greatest = greatest).unwrap();
        let total: u64 = files(folder.path()).iter().map(|p| p.metadata().unwrap().len()).sum();
        assert!(total <= 3 * size, "{total}");
    }
    assert!(!first.exists(), "what was not used for longest goes first");
    // Nothing fits in.
    let none = tempfile::tempdir().unwrap();
    read(TEXT, Some(&Kept::at(none.path()).with_most(10)), |_| {}).unwrap();
    assert_eq!(files(none.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_folder_that_cannot_be_written_to_does_not_matter() {
    if !ready() {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let kept = Kept::at(file.path().join("below"));
    assert_eq!(read(TEXT, Some(&kept), |_| {}), read(TEXT, None, |_| {}));
}

/// Readers that start at once find nothing, the whole, and nothing else.
#[test]
fn many_at_once() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::at(folder.path());
    let alone = read(TEXT, None, |_| {}).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(read(TEXT, Some(&kept), |_| {}).unwrap(), alone));
        }
    });
    assert_eq!(files(folder.path()).len(), 1);
}

/// All that a reading consists of comes back.
#[test]
fn examples_come_back_whole() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::at(folder.path());
    for (name, _) in KERNELS {
        let Kernel { problem, folder: beside } = Kernel::load(name, "small").unwrap();
        let (mut first, mut second) = (problem.clone(), problem);
        let made = attach_with(&mut first, &beside, &keeping(&kept)).unwrap();
        let before = files(folder.path()).len();
        assert_eq!(attach_with(&mut second, &beside, &keeping(&kept)).unwrap(), made, "{name}");
        assert_eq!(files(folder.path()).len(), before, "{name}");
        assert_eq!(first.kernel, second.kernel);
    }
}
