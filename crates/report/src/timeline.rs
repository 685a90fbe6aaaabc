//! A timeline of one run in the Trace Event format, which Perfetto and Chrome's tracing page open.
//!
//! Every unit is a process and every element of it a thread, so each element has a track of its
//! own; each span becomes a complete event (`"ph": "X"`). The format counts in microseconds: one
//! tick is written as one microsecond, and the file notes it. Spans are written as they come, so a
//! run of a million spans needs no memory for them.
//!
//! ```
//! use tickbound_report::{TimelineSpan, write_timeline};
//!
//! let span = TimelineSpan {
//!     process: "unit 0".into(),
//!     thread: "element 3".into(),
//!     name: "load tile".into(),
//!     category: "global".into(),
//!     start: 0,
//!     end: 8,
//!     args: vec![("group".into(), 0), ("item".into(), 3)],
//! };
//! let mut out = Vec::new();
//! assert_eq!(write_timeline(&mut out, "abstract kernel", [span]).unwrap(), 1);
//! let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
//! assert_eq!(json["traceEvents"].as_array().unwrap().len(), 5);
//! ```

use std::collections::HashMap;
use std::io::Write;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::error::ReportError;

/// Something that one element did for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineSpan {
    /// The group of tracks, for example `unit 0`.
    pub process: String,
    /// The track, for example `element 3`. The same name in two processes is two tracks.
    pub thread: String,
    /// What was done: the phase's name.
    pub name: String,
    /// The kind of work, for example `global`; spans can be filtered by it.
    pub category: String,
    /// First tick, at least 0.
    pub start: i64,
    /// The tick after the last one; not before `start`.
    pub end: i64,
    /// Numbers shown when the span is selected, for example the work item.
    pub args: Vec<(String, i64)>,
}

/// Writes the spans as Trace Event JSON and returns how many there were. `title` names the run.
///
/// Processes and threads get their numbers in the order in which they first appear, and sort by the
/// number at the end of their names, so that `element 10` comes after `element 9`. Spans of one
/// track should not overlap: viewers nest or drop overlapping ones.
///
/// # Errors
/// A span that ends before it starts or starts before 0, or a stream that cannot be written. What
/// was written before an error is incomplete.
pub fn write_timeline(
    out: impl Write,
    title: &str,
    spans: impl IntoIterator<Item = TimelineSpan>,
) -> Result<usize, ReportError> {
    let mut stream = Stream { out: std::io::BufWriter::new(out), first: true };
    let mut tracks = Tracks::default();
    let mut count = 0;
    stream.begin(title)?;
    for span in spans {
        check(&span)?;
        let (pid, tid) = tracks.find(&span, &mut stream)?;
        stream.event(&Event {
            name: &span.name,
            cat: Some(&span.category),
            ph: "X",
            ts: Some(span.start),
            dur: Some(span.end - span.start),
            pid,
            tid,
            args: Args::Numbers(&span.args),
        })?;
        count += 1;
    }
    stream.end()?;
    Ok(count)
}

fn check(span: &TimelineSpan) -> Result<(), ReportError> {
    if 0 <= span.start && span.start <= span.end {
        return Ok(());
    }
    let (start, end) = (span.start, span.end);
    let what = format!("span {:?} of {}, {}", span.name, span.process, span.thread);
    Err(ReportError::data(what, format!("it lasts from {start} to {end}")))
}

/// An event; its fields have the names that the format gives them.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    ph: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<i64>,
    pid: usize,
    tid: usize,
    args: Args<'a>,
}

enum Args<'a> {
    Numbers(&'a [(String, i64)]),
    Name(&'a str),
    SortIndex(usize),
}

impl Serialize for Args<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Args::Numbers(pairs) => {
                pairs.iter().try_for_each(|(k, v)| map.serialize_entry(k, v))?;
            }
            Args::Name(name) => map.serialize_entry("name", name)?,
            Args::SortIndex(index) => map.serialize_entry("sort_index", index)?,
        }
        map.end()
    }
}

/// The file so far.
struct Stream<W: Write> {
    out: W,
    first: bool,
}

impl<W: Write> Stream<W> {
    fn begin(&mut self, title: &str) -> Result<(), ReportError> {
        let about = serde_json::json!({
            "title": title,
            "time": "in ticks: 1 tick is written as 1 microsecond",
            "producer": concat!("tickbound ", env!("CARGO_PKG_VERSION")),
        });
        write!(
            self.out,
            "{{\"displayTimeUnit\":\"ms\",\n\"otherData\":{about},\n\"traceEvents\":["
        )?;
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), ReportError> {
        self.out.write_all(if self.first { b"\n" } else { b",\n" })?;
        self.first = false;
        serde_json::to_writer(&mut self.out, event).map_err(std::io::Error::from)?;
        Ok(())
    }

    fn end(&mut self) -> Result<(), ReportError> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(())
    }
}

/// The numbers of processes and threads. Thread numbers are unique in the whole file: viewers that
/// think of an operating system take equal ones for the same thread.
#[derive(Default)]
struct Tracks {
    processes: HashMap<String, (usize, HashMap<String, usize>)>,
    threads: usize,
}

impl Tracks {
    /// The numbers of a span's process and thread; announces them when they are new.
    fn find<W: Write>(
        &mut self,
        span: &TimelineSpan,
        stream: &mut Stream<W>,
    ) -> Result<(usize, usize), ReportError> {
        let next = self.processes.len() + 1;
        let new = || (next, HashMap::new());
        let (pid, threads) = self.processes.entry(span.process.clone()).or_insert_with(new);
        if let Some(tid) = threads.get(&span.thread) {
            return Ok((*pid, *tid));
        }
        if threads.is_empty() {
            announce(stream, "process", &span.process, (*pid, 0), *pid)?;
        }
        self.threads += 1;
        threads.insert(span.thread.clone(), self.threads);
        announce(stream, "thread", &span.thread, (*pid, self.threads), threads.len())?;
        Ok((*pid, self.threads))
    }
}

/// Names a process or a thread and gives its place: the number its name ends with, or `order`.
fn announce<W: Write>(
    stream: &mut Stream<W>,
    kind: &str,
    name: &str,
    (pid, tid): (usize, usize),
    order: usize,
) -> Result<(), ReportError> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let place = name[name.len() - digits..].parse().unwrap_or(order);
    for (what, args) in [("name", Args::Name(name)), ("sort_index", Args::SortIndex(place))] {
        let event = format!("{kind}_{what}");
        let metadata =
            Event { name: &event, cat: None, ph: "M", ts: None, dur: None, pid, tid, args };
        stream.event(&metadata)?;
    }
    Ok(())
}
