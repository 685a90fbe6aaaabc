//! An external visited set: the states that memory does not hold, on disk.
//!
//! The *queue* has the keys of all states in the order of their numbers; it is appended to, and
//! read once. A *run* has keys and numbers sorted by key. A batch of keys is sorted and read off
//! each run block by block; the first key of each block is in memory, so that blocks are skipped. A
//! run that is not at least twice as long as the next one is merged with it: there are at most
//! log2 n runs, and a state is written at most as often.
//!
//! Files come from a [`Store`]; nothing is opened here.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use rayon::prelude::*;
use thiserror::Error;

use crate::limits::Stopped;

/// A place for files that are needed while a product is made, and not after it.
pub trait Store: Sync {
    /// A new file, empty.
    fn create(&self) -> io::Result<Box<dyn Stored>>;
}

/// A file that is written and read again.
pub trait Stored: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Stored for T {}

/// States of a block of a run: 16 KiB for keys of one word.
const BLOCK: usize = 1 << 10;
/// Bytes that are read or written at once.
const CHUNK: usize = 1 << 16;

/// Bytes of memory for each state since it was last filed: its key, and a place in an order.
pub(super) fn bytes_each(words: usize) -> usize {
    8 * words + 4
}

/// Bytes that it always takes: both ends of the queue, and two runs merged into a third.
pub(super) const BYTES: usize = 5 * CHUNK;

/// All states, in the order of their numbers; the last ones in memory, the others on disk.
pub(super) struct ExternalVisited<'a> {
    store: Option<&'a dyn Store>,
    /// Words of a key.
    words: usize,
    /// The keys of the states from number `filed` on.
    recent: Vec<u64>,
    filed: usize,
    /// The state to be worked on next.
    next: usize,
    queue: Option<Box<dyn Stored>>,
    runs: Vec<Run>,
}

impl<'a> ExternalVisited<'a> {
    /// An empty one, for keys of that many words. Without a store it cannot file anything.
    pub fn new(words: usize, store: Option<&'a dyn Store>) -> Self {
        let (recent, runs) = (Vec::new(), Vec::new());
        ExternalVisited { store, words, recent, filed: 0, next: 0, queue: None, runs }
    }

    fn keys(&mut self, range: Range<usize>) -> io::Result<Vec<u64>> {
        let (words, split) = (self.words, range.end.min(self.filed).max(range.start));
        let mut keys = vec![0; (split - range.start) * words];
        if let Some(queue) = self.queue.as_mut().filter(|_| !keys.is_empty()) {
            queue.seek(SeekFrom::Start((range.start * words * 8) as u64))?;
            read(queue, &mut keys)?;
        }
        let recent = split.saturating_sub(self.filed)..range.end.saturating_sub(self.filed);
        keys.extend_from_slice(&self.recent[recent.start * words..recent.end * words]);
        Ok(keys)
    }

    /// Writes what is in memory to the disk.
    fn file(&mut self, store: &dyn Store) -> io::Result<()> {
        let words = self.words;
        let key = |at: u32| &self.recent[at as usize * words..][..words];
        let mut order: Vec<u32> = (0..(self.recent.len() / words) as u32).collect();
        order.par_sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
        let mut run = Writer::new(store, words)?;
        for at in &order {
            run.push(key(*at), (self.filed + *at as usize) as u64)?;
        }
        let run = run.finish()?;
        drop(order);
        let queue = match &mut self.queue {
            Some(queue) => queue,
            none => none.insert(store.create()?),
        };
        queue.seek(SeekFrom::End(0))?;
        let mut writer = BufWriter::with_capacity(CHUNK, queue);
        self.recent.iter().try_for_each(|word| writer.write_all(&word.to_le_bytes()))?;
        writer.flush()?;
        drop(writer);
        self.filed += self.recent.len() / words;
        self.recent.clear();
        self.runs.push(run);
        while let [.., before, last] = &mut self.runs[..]
            && before.len < 2 * last.len
        {
            let merged = merge(before, last, store)?;
            self.runs.truncate(self.runs.len() - 2);
            self.runs.push(merged);
        }
        Ok(())
    }

    fn look_up(&mut self, keys: &[u64], numbers: &mut [u32]) -> io::Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let words = self.words;
        let key = |at: u32| &keys[at as usize * words..][..words];
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.par_sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
        for run in &mut self.runs {
            run.look_up(keys, &order, numbers)?;
            order.retain(|at| numbers[*at as usize] == UNKNOWN);
        }
        Ok(())
    }
}

impl StateStore for ExternalVisited<'_> {
    fn next(&mut self, rows: usize) -> Result<Option<StateBlock>, StreamError> {
        let range = self.next..self.states().min(self.next.saturating_add(rows));
        if range.is_empty() {
            return Ok(None);
        }
        Ok(Some(StateBlock {
            first: range.start,
            keys: self.keys(range).map_err(StreamError::Store)?,
        }))
    }

    fn take(&mut self, fitting: usize, _: usize) -> usize {
        self.next += fitting;
        fitting
    }

    fn resolve(&mut self, keys: &[u64], numbers: &mut [u32]) -> Result<(), StreamError> {
        self.look_up(keys, numbers).map_err(StreamError::Store)?;
        for (key, number) in keys.chunks_exact(self.words).zip(numbers) {
            if *number == UNKNOWN {
                let next = self.states();
                if next >= UNKNOWN as usize {
                    return Err(Stopped::States(next as u128 + 1).into());
                }
                *number = next as u32;
                self.recent.extend_from_slice(key);
            }
        }
        Ok(())
    }

    fn forget(&mut self, full: Stopped) -> Result<(), StreamError> {
        let Some(store) = self.store else { return Err(full.into()) };
        self.file(store).map_err(StreamError::Store)
    }

    fn states(&self) -> usize {
        self.filed + self.recent.len() / self.words
    }

    fn is_whole(&self) -> bool {
        self.filed == 0
    }
}

/// States in the order of their keys, on disk: for each the words of its key and its number.
struct Run<F = Box<dyn Stored>> {
    file: F,
    words: usize,
    len: usize,
    /// The first key of each block.
    firsts: Vec<u64>,
}

impl Run {
    /// Enters the numbers of those keys that it has; `order` sorts the keys.
    fn look_up(&mut self, keys: &[u64], order: &[u32], numbers: &mut [u32]) -> io::Result<()> {
        let (words, entry) = (self.words, self.words + 1);
        let (mut loaded, mut block) = (usize::MAX, Vec::new());
        for at in order {
            let key = &keys[*at as usize * words..][..words];
            let Some(number) = self.block_of(key) else { continue };
            if number != loaded {
                loaded = number;
                block.resize(BLOCK.min(self.len - number * BLOCK) * entry, 0);
                self.file.seek(SeekFrom::Start((number * BLOCK * entry * 8) as u64))?;
                read(&mut self.file, &mut block)?;
            }
            if let Some(found) = find(&block, words, key) {
                numbers[*at as usize] = found as u32;
            }
        }
        Ok(())
    }

    fn block_of(&self, key: &[u64]) -> Option<usize> {
        last_up_to(&self.firsts, self.words, key)
    }
}

fn find(block: &[u64], words: usize, key: &[u64]) -> Option<u64> {
    let at = last_up_to(block, words + 1, key)?;
    let (found, number) = block[at * (words + 1)..].split_at(words);
    (found == key).then(|| number[0])
}

/// The last of some `width`-word entries in the order of their keys that is not behind `key`.
fn last_up_to(entries: &[u64], width: usize, key: &[u64]) -> Option<usize> {
    let (mut low, mut high) = (0, entries.len() / width);
    while low < high {
        let middle = usize::midpoint(low, high);
        if &entries[middle * width..][..key.len()] <= key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low.checked_sub(1)
}

/// One run of two, which have no key in common.
fn merge(one: &mut Run, other: &mut Run, store: &dyn Store) -> io::Result<Run> {
    let words = one.words;
    let mut merged = Writer::new(store, words)?;
    let (mut one, mut other) = (Reader::new(one)?, Reader::new(other)?);
    loop {
        let first = match (one.peek()?, other.peek()?) {
            (None, None) => return merged.finish(),
            (Some(a), Some(b)) => a[..words] < b[..words],
            (a, _) => a.is_some(),
        };
        let from = if first { &mut one } else { &mut other };
        if let Some(entry) = from.peek()? {
            merged.push(&entry[..words], entry[words])?;
        }
        from.at += words + 1;
    }
}

/// Reads a run front to back.
struct Reader<'r> {
    run: &'r mut Run,
    left: usize,
    chunk: Vec<u64>,
    at: usize,
}

impl<'r> Reader<'r> {
    fn new(run: &'r mut Run) -> io::Result<Self> {
        run.file.seek(SeekFrom::Start(0))?;
        Ok(Reader { left: run.len, run, chunk: Vec::new(), at: 0 })
    }

    fn peek(&mut self) -> io::Result<Option<&[u64]>> {
        let entry = self.run.words + 1;
        if self.at == self.chunk.len() {
            let more = self.left.min(CHUNK / 8 / entry);
            self.left -= more;
            self.at = 0;
            self.chunk.resize(more * entry, 0);
            read(&mut self.run.file, &mut self.chunk)?;
        }
        Ok(self.chunk.get(self.at..self.at + entry))
    }
}

/// A run that is written: states come in the order of their keys.
type Writer = Run<BufWriter<Box<dyn Stored>>>;

impl Writer {
    fn new(store: &dyn Store, words: usize) -> io::Result<Writer> {
        let file = BufWriter::with_capacity(CHUNK, store.create()?);
        Ok(Run { file, words, len: 0, firsts: Vec::new() })
    }

    fn push(&mut self, key: &[u64], number: u64) -> io::Result<()> {
        if self.len.is_multiple_of(BLOCK) {
            self.firsts.extend_from_slice(key);
        }
        self.len += 1;
        let words = key.iter().chain([&number]);
        words.into_iter().try_for_each(|word| self.file.write_all(&word.to_le_bytes()))
    }

    fn finish(self) -> io::Result<Run> {
        let Run { file, words, len, firsts } = self;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Run { file, words, len, firsts })
    }
}

/// Fills `words` from where a file stands.
fn read(file: &mut Box<dyn Stored>, words: &mut [u64]) -> io::Result<()> {
    let mut bytes = vec![0; (words.len() * 8).min(CHUNK)];
    for words in words.chunks_mut(CHUNK / 8) {
        let bytes = &mut bytes[..words.len() * 8];
        file.read_exact(bytes)?;
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    Ok(())
}

pub(super) const UNKNOWN: u32 = u32::MAX;

/// Why a product that is not kept was not made.
#[derive(Debug, Error)]
pub enum StreamError {
    /// It was stopped, or memory does not suffice.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// Files that it needs on its way cannot be written or read.
    #[error("temporary files of the product: {0}; make room, or set TMPDIR to a folder with more")]
    Store(io::Error),
    /// The other processes that make the product cannot be reached.
    #[error("the exchange between ranks: {0}")]
    Exchange(io::Error),
    /// What the steps say of data decides which of them there are.
    #[error(
        "which steps this product has depends on data that only the whole shows; leave data out \
         (--no-data), or make it whole"
    )]
    Data,
}

/// Some states that are to be worked on, with consecutive numbers.
pub(super) struct StateBlock {
    pub first: usize,
    pub keys: Vec<u64>,
}

/// All states, those that memory knows and those that it has forgotten.
pub(super) trait StateStore {
    /// The next states to be worked on, about that many; none if there are no more on any rank.
    fn next(&mut self, rows: usize) -> Result<Option<StateBlock>, StreamError>;

    /// How many of the offered states are worked on now, where `fitting` of `all` have so few steps
    /// that memory takes them at once. The others are offered again.
    fn take(&mut self, fitting: usize, all: usize) -> usize;

    /// Enters the numbers of `keys`, distinct states that memory does not know, into `numbers`, all
    /// of them [`UNKNOWN`]. New states get the next numbers, in this order.
    fn resolve(&mut self, keys: &[u64], numbers: &mut [u32]) -> Result<(), StreamError>;

    /// Memory forgets all states, which must stay known; if that cannot be, `full` is the reason.
    fn forget(&mut self, full: Stopped) -> Result<(), StreamError>;

    /// How many states have a number.
    fn states(&self) -> usize;

    /// Whether memory knows every state that has a number, in this order.
    fn is_whole(&self) -> bool;
}
