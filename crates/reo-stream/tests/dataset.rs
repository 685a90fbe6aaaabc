use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use tickbound_os::output::Disk;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{BufferContent, fifo1};
use tickbound_reo::product::dense::{
    BlockColumns, CellData, CellTally, DensePlan, DenseStream, Matrix, plan,
};
use tickbound_reo::symbol::Symbols;
use tickbound_reo_stream::{Dataset, DatasetError, MANIFEST, Manifest, ManifestHead, verify};

/// The product of buffers that share nothing, or are in a row, not yet made.
fn buffers(n: usize, row: bool) -> DensePlan {
    let mut symbols = Symbols::new();
    let mut buffer = |i: usize| -> Automaton {
        let [a, b] = if row {
            [format!("c{i}"), format!("c{}", i + 1)]
        } else {
            [format!("a{i}"), format!("b{i}")]
        };
        let [a, b] = [a, b].map(|word| symbols.name(&word));
        fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty)
    };
    let limits = ProductLimits::memory(1 << 30);
    let parts: Vec<Automaton> = (0..n).map(&mut buffer).collect();
    let matrix = |part| Matrix::new(part, CellData::Ignore, &limits).unwrap();
    plan(&parts.iter().map(matrix).collect::<Vec<_>>(), &limits).unwrap()
}

fn head(stream: &DenseStream) -> ManifestHead {
    let names = (0..stream.plan().alphabet.len()).map(|bit| format!("name{bit}"));
    ManifestHead::dense("buffers", names.collect(), stream)
}

fn open(disk: Disk, folder: &Path, stream: &DenseStream) -> Result<Dataset, DatasetError> {
    Dataset::open(disk, folder, head(stream), &|_| true)
}

/// Writes what is missing.
fn write(disk: Disk, folder: &Path, stream: &DenseStream) -> Result<usize, DatasetError> {
    let mut dataset = open(disk, folder, stream)?;
    let mut files = dataset.files();
    let mut written = 0;
    for block in stream.blocks().filter(|block| !dataset.has(block.number)).collect::<Vec<_>>() {
        let see = |rows: tickbound_reo::product::dense::RowsOf| (rows.tally(None), rows.columns());
        let made = stream.each(block, &ProductLimits::memory(1 << 30), see).unwrap();
        let (tallies, columns): (Vec<CellTally>, Vec<BlockColumns>) = made.into_iter().unzip();
        let before = files.write(block, tallies.into_iter().sum(), columns)?;
        before.map_or(Ok(()), |record| dataset.enter(record))?;
        written += 1;
    }
    files.rest()?.map_or(Ok(()), |record| dataset.enter(record))?;
    Ok(written)
}

fn whole(folder: &Path, stream: &DenseStream) -> usize {
    write(Disk::real(), folder, stream).unwrap()
}

/// All files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
}

fn column<T: DataType>(file: &SerializedFileReader<fs::File>, column: usize) -> Vec<T::T> {
    let mut all = Vec::new();
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).unwrap();
        let rows = usize::try_from(group.metadata().num_rows()).unwrap();
        let reader = group.get_column_reader(column).unwrap();
        let mut reader = get_typed_column_reader::<T>(reader);
        while reader.read_records(rows, None, None, &mut all).unwrap().0 > 0 {}
    }
    all
}

/// What a dataset's files hold, read by what knows nothing of how they were written.
fn read(folder: &Path, manifest: &Manifest) -> BlockColumns {
    let mut all = BlockColumns::default();
    for record in &manifest.written {
        let file = fs::File::open(folder.join(&record.file)).unwrap();
        let file = SerializedFileReader::new(file).unwrap();
        assert_eq!(file.metadata().file_metadata().num_rows() as u64, record.steps);
        all.from.extend(column::<Int32Type>(&file, 0).into_iter().map(i32::cast_unsigned));
        all.to.extend(column::<Int32Type>(&file, 1).into_iter().map(i32::cast_unsigned));
        all.labels.extend(column::<Int64Type>(&file, 2).into_iter().map(i64::cast_unsigned));
    }
    all
}

#[test]
fn written_and_read() {
    for (n, row) in [(1, false), (3, true), (7, false), (9, true), (11, false)] {
        let plan = buffers(n, row);
        let mut expected: Option<(BlockColumns, CellTally)> = None;
        for rows in [(1 << n) / 8, (1 << n) / 3, 1 << n] {
            let bytes = (rows << n) * 8;
            let stream = DenseStream::new(&plan, bytes);
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(whole(folder.path(), &stream), stream.len());
            let manifest = verify(folder.path(), &|_| true).unwrap();
            assert!(manifest.complete);
            assert_eq!(manifest.tally().checksum, plan.checksum());
            let found = (read(folder.path(), &manifest), manifest.tally());
            assert_eq!(found.0.labels.len() as u64, plan.checksum().steps);
            assert_eq!(
                expected.get_or_insert(found.clone()),
                &found,
                "{n}, blocks of {bytes} bytes"
            );
        }
        let (columns, _) = expected.unwrap();
        let whole = plan.run(&ProductLimits::memory(1 << 30)).unwrap();
        let steps = whole.cells().iter().enumerate();
        let steps = steps.filter(|(_, label)| **label != tickbound_reo::product::dense::EMPTY);
        let steps: Vec<_> =
            steps.map(|(at, label)| (at / whole.states(), at % whole.states(), *label)).collect();
        let found = columns.from.iter().zip(&columns.to).zip(&columns.labels);
        let found: Vec<_> =
            found.map(|((p, q), label)| (*p as usize, *q as usize, *label)).collect();
        assert_eq!(found, steps);
    }
}

/// Each operation on files fails in turn, once half of what was to be written is there. Whatever
/// that leaves, the next run goes on with, and in the end all files are what one run leaves.
#[test]
fn every_operation_fails_once() {
    let plan = buffers(5, false);
    let stream = DenseStream::new(&plan, 8 * 256);
    let one = tempfile::tempdir().unwrap();
    assert_eq!(whole(one.path(), &stream), 4);
    let expected = files(one.path());
    let mut operations = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let count: &'static AtomicUsize = Box::leak(Box::default());
        let full = move |_| match count.fetch_add(1, Ordering::Relaxed) == operations {
            true => Err(io::Error::from_raw_os_error(28)),
            false => Ok(()),
        };
        match write(Disk::watched(Box::leak(Box::new(full))), &folder, &stream) {
            Ok(written) => {
                assert_eq!(written, 4);
                break;
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("No space left on device"), "{text}");
                assert!(
                    !text.contains('\n') && text.contains(&*folder.to_string_lossy()),
                    "{text}"
                );
            }
        }
        whole(&folder, &stream);
        assert_eq!(files(&folder), expected, "after a failure of operation {operations}");
        operations += 1;
    }
    // Each of four blocks has a file made, written, synced and renamed, and a manifest.
    assert!(operations > 40, "{operations}");
}

#[test]
fn what_a_killed_run_leaves_is_removed() {
    let plan = buffers(4, false);
    let stream = DenseStream::new(&plan, 1);
    let one = tempfile::tempdir().unwrap();
    whole(one.path(), &stream);
    let expected = files(one.path());
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["manifest.json.abc123.new", "lock"] {
        fs::write(folder.join(name), "half").unwrap();
    }
    drop(open(Disk::real(), folder, &stream).unwrap());
    for block in ["block-000000.parquet.abc123.new", "block-000001.parquet.xyz789.new"] {
        fs::write(folder.join(block), "half").unwrap();
    }
    fs::write(folder.join("block-000000.parquet"), "renamed, but the manifest was not").unwrap();
    whole(folder, &stream);
    assert_eq!(files(folder), expected);
}

/// A dataset of 16 blocks; what is done to it; what is then said of it.
#[test]
fn what_is_refused() {
    let plan = buffers(4, false);
    let stream = DenseStream::new(&plan, 1);
    type Change = fn(&Path);
    fn change(folder: &Path, from: &str, to: &str) {
        let path = folder.join(MANIFEST);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
    }
    fn block(folder: &Path) -> std::path::PathBuf {
        folder.join("block-000003.parquet")
    }
    // What is done, what `verify` says, and whether the same run may go on with it.
    let cases: &[(Change, &str, bool)] = &[
        (
            |f| fs::remove_file(block(f)).unwrap(),
            "block-000003.parquet: damaged: the file is missing",
            true,
        ),
        (
            |f| fs::write(block(f), "PAR1").unwrap(),
            "block-000003.parquet: damaged: 4 bytes, where",
            true,
        ),
        (
            |f| {
                let mut bytes = fs::read(block(f)).unwrap();
                bytes[40] ^= 4;
                fs::write(block(f), bytes).unwrap();
            },
            "block-000003.parquet: damaged: its CRC-32 is",
            true,
        ),
        (
            |f| fs::write(f.join("other.parquet"), "").unwrap(),
            "other.parquet: does not belong to the dataset",
            true,
        ),
        (
            |f| change(f, "\"version\": 2", "\"version\": 3"),
            "version 3 of a tickbound product",
            false,
        ),
        (|f| change(f, "\"version\": 2", "\"version\": \"x\""), "`version` is no number", false),
        (
            |f| change(f, "tickbound product", "another thing"),
            "`format` is not `tickbound product`",
            false,
        ),
        (|f| change(f, "\"steps\": 16,", "\"steps\": 17,"), "do not come to the product", false),
        (|f| change(f, "block-000003", "../secret"), "block 3 is not one of this dataset", false),
        (
            |f| change(f, "\"complete\": true", "\"complete\": false"),
            "does not follow from the blocks",
            false,
        ),
        (
            |f| fs::write(f.join(MANIFEST), "{").unwrap(),
            "not the manifest of a tickbound product",
            false,
        ),
        (|f| fs::write(f.join(MANIFEST), [255]).unwrap(), "it is no text", false),
        (
            |f| fs::remove_file(f.join(MANIFEST)).unwrap(),
            "there is no tickbound product here",
            false,
        ),
    ];
    for (change, said, goes_on) in cases {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        whole(folder, &stream);
        let expected = files(folder);
        verify(folder, &|_| true).unwrap();
        change(folder);
        let error = verify(folder, &|_| true).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{said}: {error}");
        match write(Disk::real(), folder, &stream) {
            Ok(written) => {
                assert!(*goes_on && written <= 1, "{said}");
                let mut found = files(folder);
                found.remove("other.parquet");
                assert_eq!(found, expected, "{said}");
            }
            Err(error) => assert!(!goes_on, "{said}: {error}"),
        }
    }
}

#[test]
fn others_and_stops() {
    let plan = buffers(4, false);
    let stream = DenseStream::new(&plan, 1);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = |error: DatasetError| error.to_string();
    let absent = text(verify(&folder.join("none"), &|_| true).unwrap_err());
    assert!(absent.contains("there is no tickbound product here"), "{absent}");
    fs::write(folder.join("letter.txt"), "").unwrap();
    let occupied = text(open(Disk::real(), folder, &stream).unwrap_err());
    assert!(occupied.contains("the folder is not empty"), "{occupied}");
    fs::remove_file(folder.join("letter.txt")).unwrap();
    let held = open(Disk::real(), folder, &stream).unwrap();
    assert!(matches!(open(Disk::real(), folder, &stream), Err(DatasetError::Busy { .. })));
    drop(held);
    let incomplete = text(verify(folder, &|_| true).unwrap_err());
    assert!(incomplete.contains("not complete: 0 of 16 blocks"), "{incomplete}");
    whole(folder, &stream);
    let stopped = verify(folder, &|block| block < 5).unwrap_err();
    assert!(matches!(stopped, DatasetError::Stopped));
    for (other, what) in [
        (DenseStream::new(&plan, 500), "the size of a block"),
        (DenseStream::new(&buffers(5, false), 1), "the names"),
        (DenseStream::new(&buffers(4, true), 1), "the names"),
    ] {
        let error = text(open(Disk::real(), folder, &other).unwrap_err());
        assert!(error.contains(&format!("another size ({what} differs)")), "{error}");
    }
    let mut same = head(&stream);
    same.sum = Some("0".into());
    let error = text(Dataset::open(Disk::real(), folder, same, &|_| true).unwrap_err());
    assert!(error.contains("what the product comes to"), "{error}");
}
