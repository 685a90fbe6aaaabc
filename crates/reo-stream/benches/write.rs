//! How near a dataset comes to what the disk takes: `cargo bench -p tickbound-reo-stream --bench
//! write [BUFFERS [FOLDER]]`.
//!
//! The product of so many buffers (14: 4.3 GB) is counted, then written into a folder beside the
//! program's, in turns with as many bytes that nobody computes, past the system's cache both, and
//! synced.

use std::path::Path;
use std::time::Instant;

use tickbound_os::output::{Disk, Draft, PAGE};
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{BufferContent, fifo1};
use tickbound_reo::product::dense::{
    BlockColumns, CellData, CellTally, DensePlan, DenseStream, Matrix, RowBlock, RowsOf, in_turn,
    plan,
};
use tickbound_reo::symbol::Symbols;
use tickbound_reo_stream::{Dataset, DatasetError, ManifestHead};

const ROUNDS: usize = 3;

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let n = words.next().map_or(14, |word| word.parse().expect("a number of buffers"));
    let folder = words.next().unwrap_or_else(|| ".".into());
    let plan = buffers(n);
    let stream = DenseStream::new(&plan, 64 << 20);
    let steps = plan.checksum().steps as f64;
    println!("{n} buffers, {steps:.0} steps");
    for _ in 0..ROUNDS {
        let count = seconds(|| assert_eq!(count(&stream).checksum, plan.checksum()));
        let place = tempfile::tempdir_in(&folder).expect("a folder");
        let set = place.path().join("set");
        let written = seconds(|| write(&stream, &set).expect("a dataset"));
        let lengths = lengths(&set);
        drop(place);
        let place = tempfile::tempdir_in(&folder).expect("a folder");
        let plain = seconds(|| {
            lengths.iter().for_each(|length| fill(&place.path().join("plain"), *length))
        });
        let bytes = lengths.iter().sum::<usize>() as f64;
        println!(
            "counted {count:.2} s ({:.0} million a second); written {written:.2} s ({:.0} MB/s), \
             plain {plain:.2} s ({:.0} MB/s), ratio {:.2}",
            steps / count / 1e6,
            bytes / written / 1e6,
            bytes / plain / 1e6,
            plain / written
        );
    }
}

fn buffers(n: usize) -> DensePlan {
    let (mut symbols, limits) = (Symbols::new(), ProductLimits::memory(1 << 30));
    let mut buffer = |i: usize| {
        let (a, b) = (symbols.name(&format!("a{i}")), symbols.name(&format!("b{i}")));
        let automaton = fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty);
        Matrix::new(&automaton, CellData::Ignore, &limits).expect("a matrix")
    };
    plan(&(0..n).map(&mut buffer).collect::<Vec<_>>(), &limits).expect("a product")
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn count(stream: &DenseStream) -> CellTally {
    let limits = ProductLimits::memory(1 << 30);
    let block = |block| stream.each(block, &limits, |rows| rows.tally(None)).expect("a block");
    stream.blocks().flat_map(block).sum()
}

fn write(stream: &DenseStream, folder: &Path) -> Result<(), DatasetError> {
    let names = stream.plan().alphabet.iter().map(|name| format!("{name:?}")).collect();
    let mut dataset = Dataset::open(
        Disk::real(),
        folder,
        ManifestHead::dense("buffers", names, stream),
        &|_| true,
    )?;
    let limits = ProductLimits::memory(1 << 30);
    let see = |rows: RowsOf| (rows.tally(None), rows.columns());
    let make = |block: RowBlock| Ok(stream.each(block, &limits, see).expect("a block"));
    let mut files = dataset.files();
    in_turn(stream.blocks(), make, |block, seen| {
        let (tallies, columns): (Vec<CellTally>, Vec<BlockColumns>) = seen.into_iter().unzip();
        let record = files.write(block, tallies.into_iter().sum(), columns)?;
        record.map_or(Ok(()), |record| dataset.enter(record))
    })?;
    files.rest()?.map_or(Ok(()), |record| dataset.enter(record))
}

/// How long the blocks' files are.
fn lengths(folder: &Path) -> Vec<usize> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.metadata().expect("a file").len() as usize).collect()
}

/// Writes so many bytes to a file.
fn fill(path: &Path, bytes: usize) {
    let memory = vec![1; (8 << 20) + PAGE];
    let from = memory.as_ptr().align_offset(PAGE);
    let mut draft = Draft::beside(Disk::real(), path).expect("a draft");
    draft.direct();
    let mut left = bytes;
    while left > 0 {
        let here = left.min(8 << 20);
        draft.write(&memory[from..][..here]).expect("room");
        left -= here;
    }
    draft.keep().expect("room");
}
