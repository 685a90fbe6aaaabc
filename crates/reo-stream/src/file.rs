//! A block as a Parquet file.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use flate2::Crc;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use tickbound_os::output::{Draft, PAGE};
use tickbound_reo::product::dense::BlockColumns;

/// The columns of a file, in order, with their types in the words of other tools.
pub const COLUMNS: [[&str; 2]; 3] =
    [["source", "uint32"], ["target", "uint32"], ["label", "int64"]];

/// Steps of a row group, or a little more: what readers take at once.
const GROUP: usize = 1 << 20;
/// Most steps of a page, the least that a reader can skip.
const SKIPPED: usize = 1 << 17;
/// Values that are encoded at once: they stay in the processor's cache.
const AT_ONCE: usize = 1 << 13;

/// What became of a block's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Its length.
    pub bytes: u64,
    /// Its CRC-32, that of gzip and zlib.
    pub crc32: u32,
}

/// Writes the steps of a block to the draft of its file; another thread writes what is encoded.
pub(crate) fn write(draft: &mut Draft, steps: &[BlockColumns]) -> io::Result<Written> {
    draft.direct();
    let (full, to_write) = sync_channel::<Pages>(0);
    let (written, empty) = sync_channel(2);
    thread::scope(|scope| {
        let writer = scope.spawn(move || {
            to_write.into_iter().try_for_each(|mut pages| {
                draft.write(pages.bytes())?;
                pages.filled = 0;
                // The other side is gone once all is encoded.
                let _ = written.send(pages);
                Ok::<(), io::Error>(())
            })
        });
        let mut sink =
            Sink { pages: Pages::new(), full, empty, spare: true, crc: Crc::new(), bytes: 0 };
        let encoded = encode(&mut sink, steps).map_err(io::Error::other);
        let encoded = encoded.and_then(|()| sink.pass());
        let written = Written { bytes: sink.bytes, crc32: sink.crc.sum() };
        drop(sink);
        // The writer's error is the reason of the encoder's.
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        encoded.map(|()| written)
    })
}

fn encode(sink: &mut Sink, steps: &[BlockColumns]) -> Result<(), ParquetError> {
    let mut file = SerializedFileWriter::new(sink, Arc::new(schema()?), Arc::new(properties()))?;
    let mut rest = steps;
    while !rest.is_empty() {
        let mut size = 0;
        let parts = rest.iter().take_while(|part| {
            let more = size < GROUP;
            size += part.labels.len();
            more
        });
        let (group, after) = rest.split_at(parts.count());
        rest = after;
        let mut groups = file.next_row_group()?;
        // In the order of COLUMNS.
        let columns: [fn(&BlockColumns) -> &[u32]; 2] = [|part| &part.from, |part| &part.to];
        for column in columns {
            let Some(mut writer) = groups.next_column()? else { continue };
            let mut values = Vec::with_capacity(AT_ONCE);
            for some in group.iter().flat_map(|part| column(part).chunks(AT_ONCE)) {
                values.clear();
                values.extend(some.iter().map(|n| n.cast_signed()));
                writer.typed::<Int32Type>().write_batch(&values, None, None)?;
            }
            writer.close()?;
        }
        if let Some(mut writer) = groups.next_column()? {
            let mut values = Vec::with_capacity(AT_ONCE);
            for some in group.iter().flat_map(|part| part.labels.chunks(AT_ONCE)) {
                values.clear();
                values.extend(some.iter().map(|n| n.cast_signed()));
                writer.typed::<Int64Type>().write_batch(&values, None, None)?;
            }
            writer.close()?;
        }
        groups.close()?;
    }
    file.close().map(drop)
}

fn schema() -> Result<Type, ParquetError> {
    let column = |[name, kind]: [&str; 2]| {
        let physical = if kind == "uint32" { Physical::INT32 } else { Physical::INT64 };
        let unsigned = LogicalType::integer(32, false);
        let logical = (kind == "uint32").then_some(unsigned);
        let builder = Type::primitive_type_builder(name, physical);
        let column = builder.with_repetition(Repetition::REQUIRED).with_logical_type(logical);
        column.build().map(Arc::new)
    };
    let columns = COLUMNS.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("steps").with_fields(columns).build()
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        // The same in all versions of the crate that writes it.
        .set_created_by("tickbound".into())
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_statistics_enabled(EnabledStatistics::None)
        // Readers that ask for the steps of some states skip the others.
        .set_column_statistics_enabled(ColumnPath::from(COLUMNS[0][0]), EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_data_page_size_limit(usize::MAX)
        .set_data_page_row_count_limit(SKIPPED)
        .set_write_batch_size(SKIPPED)
        .set_max_row_group_row_count(None)
        .build()
}

/// Bytes that are written at once.
const ROOM: usize = 8 << 20;

/// Memory from the start of a page on.
struct Pages {
    memory: Vec<u8>,
    /// Where its first page begins.
    from: usize,
    filled: usize,
}

impl Pages {
    fn new() -> Pages {
        let memory = vec![0; ROOM + PAGE];
        let from = memory.as_ptr().align_offset(PAGE).min(PAGE);
        Pages { memory, from, filled: 0 }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.from..][..self.filled]
    }

    /// Takes as many bytes as there is room for, and returns how many.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(ROOM - self.filled);
        self.memory[self.from + self.filled..][..count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        count
    }
}

/// Counts and sums what is encoded, and passes it on page by page.
struct Sink {
    pages: Pages,
    full: SyncSender<Pages>,
    empty: Receiver<Pages>,
    /// There are no second pages yet.
    spare: bool,
    crc: Crc,
    bytes: u64,
}

impl Sink {
    /// Passes on what is there, and takes other pages.
    fn pass(&mut self) -> io::Result<()> {
        let gone = || io::Error::other("the writer has stopped");
        let next = if std::mem::take(&mut self.spare) {
            Some(Pages::new())
        } else {
            self.empty.recv().ok()
        };
        let pages = std::mem::replace(&mut self.pages, next.ok_or_else(gone)?);
        self.full.send(pages).map_err(|_| gone())
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.pages.take(bytes);
        self.crc.update(&bytes[..count]);
        self.bytes += count as u64;
        if self.pages.filled == ROOM {
            self.pass()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
