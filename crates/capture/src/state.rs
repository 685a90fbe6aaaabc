//! What is known of a process: its objects by their handles, and its launches.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::files::{Files, quoted};
use crate::queries::{self, Handle, ProgramText};

/// Distinct launches that are written; the others are counted together, in the last line.
const MAX_LAUNCHES: usize = 10_000;
/// Launches after which counts are written for the first time.
const INITIAL_COUNTS: u64 = 16;
const LINES: &str = "capture.jsonl";

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Global size, local size and offset of a launch, where they are given.
type Range<'a> = [Option<&'a [usize]>; 3];

/// What was set as an argument.
#[derive(Clone, Default)]
enum Argument {
    /// Nothing, or what a function has set that the layer does not catch.
    #[default]
    Unset,
    Value(Box<[u8]>),
    Local(usize),
    /// A text in JSON.
    Plain(Arc<str>),
    /// Memory: its number in the process, and the text after its number in the launch.
    Memory(u64, Arc<str>),
}

/// A kernel object.
#[derive(Clone, Default)]
pub struct Kernel {
    arguments: Vec<Argument>,
    /// `"program": 0, "kernel": "name"`, once it was launched.
    named: Option<Arc<str>>,
}

/// What is known of a process.
#[derive(Default)]
pub struct State {
    files: Files,
    process: u32,
    /// Memory objects and samplers.
    objects: HashMap<usize, Argument>,
    /// Shared virtual memory by its first address: bytes, number.
    shared: BTreeMap<usize, (usize, u64)>,
    /// Memory so far.
    memories: u64,
    kernels: HashMap<usize, Kernel>,
    /// What linked programs were made of.
    linked: HashMap<usize, ProgramText>,
    /// Numbers of programs, by handles and by what they were made of.
    programs: HashMap<usize, usize>,
    texts: HashMap<ProgramText, usize>,
    /// Launches by their lines without a number: the number, the count, and the count that is
    /// written.
    launches: HashMap<Box<str>, (usize, [u64; 2])>,
    total: u64,
    next_counts: u64,
    line: String,
}

/// Does something with the state, unless writing has failed. A panic does not reach the program.
pub fn guarded<T>(work: impl FnOnce(&mut State) -> T) -> Option<T> {
    let locked = || {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state.get_or_insert_default();
        (!state.files.failed).then(|| work(state))
    };
    catch_unwind(AssertUnwindSafe(locked)).ok().flatten()
}

/// A kernel was launched.
pub fn launched(queue: Handle, kernel: Handle, range: Range<'_>) {
    let counted = guarded(|state| {
        state.follow_fork();
        let named = state.kernel(kernel.addr()).named.clone();
        named.map(|named| state.count(kernel.addr(), &named, range)).is_some()
    });
    if counted != Some(false) {
        return;
    }
    let (name, program, device) = queries::kernel(queue, kernel);
    let number = guarded(|state| state.programs.get(&program.addr()).copied()).flatten();
    let text = number.is_none().then(|| made_of(program, Some(device)));
    guarded(|state| {
        let new = text.map(|text| state.program(program.addr(), text));
        let number = number.or(new).unwrap_or_default();
        let named: Arc<str> =
            format!("\"program\": {number}, \"kernel\": {}", quoted(&name)).into();
        state.count(kernel.addr(), &named, range);
        state.kernel(kernel.addr()).named = Some(named);
    });
}

/// What a program was made of. OpenCL does not tell it of a linked one.
fn made_of(program: Handle, device: Option<Handle>) -> ProgramText {
    let linked = guarded(|state| state.linked.get(&program.addr()).cloned()).flatten();
    linked.unwrap_or_else(|| queries::program(program, device))
}

/// A program was linked from others: its source and its options are all of theirs.
pub fn linked(program: Handle, inputs: &[Handle]) {
    let parts = inputs.iter().map(|input| made_of(*input, None));
    let whole = parts.reduce(|mut all, part| {
        let has_source = !all.source.is_empty() && !part.source.is_empty();
        all.source = if has_source { [all.source, part.source].join(&b'\n') } else { vec![] };
        if all.options != part.options {
            all.options = [all.options, part.options].join(&b' ');
        }
        ProgramText { il: all.il || part.il, ..all }
    });
    guarded(|state| {
        state.forget_program(program.addr());
        state.linked.extend(whole.map(|whole| (program.addr(), whole)));
    });
}

impl State {
    /// The layer was loaded.
    pub fn begin(&mut self) {
        self.process = std::process::id();
        self.files.append(LINES, b"");
    }

    /// A forked process has its own capture.
    fn follow_fork(&mut self) {
        let process = std::process::id();
        if process != self.process {
            let State { objects, shared, memories, mut kernels, linked, .. } = std::mem::take(self);
            kernels.values_mut().for_each(|kernel| kernel.named = None);
            *self =
                State { process, objects, shared, memories, kernels, linked, ..State::default() };
        }
    }

    pub fn add_memory(&mut self, handle: usize, rest: String) {
        self.memories += 1;
        self.objects.insert(handle, Argument::Memory(self.memories, rest.into()));
    }

    pub fn add_sampler(&mut self, handle: usize, text: String) {
        self.objects.insert(handle, Argument::Plain(text.into()));
    }

    /// Shared virtual memory is new; what was at its addresses is gone.
    pub fn add_shared(&mut self, address: usize, bytes: usize) {
        self.memories += 1;
        let end = address.saturating_add(bytes);
        self.shared.retain(|start, (bytes, _)| *start >= end || *start + *bytes <= address);
        self.shared.insert(address, (bytes, self.memories));
    }

    /// A program is new, or is compiled anew.
    pub fn forget_program(&mut self, handle: usize) {
        self.programs.remove(&handle);
        self.linked.remove(&handle);
    }

    pub fn kernel(&mut self, handle: usize) -> &mut Kernel {
        self.kernels.entry(handle).or_default()
    }

    /// Sets an argument: a handle that is known, bytes, or local memory of this size.
    pub fn set(&mut self, kernel: usize, at: u32, size: usize, bytes: Option<&[u8]>) {
        let handle = bytes.and_then(|bytes| Some(usize::from_ne_bytes(bytes.try_into().ok()?)));
        let known = handle.and_then(|handle| self.objects.get(&handle)).cloned();
        let own = || bytes.map_or(Argument::Local(size), |bytes| Argument::Value(bytes.into()));
        self.put(kernel, at, known.unwrap_or_else(own));
    }

    /// Sets an argument to an address, of shared virtual memory if that is known.
    pub fn set_shared(&mut self, kernel: usize, at: u32, address: usize) {
        let before = self.shared.range(..=address).next_back();
        let argument = match before.filter(|(start, (bytes, _))| address - **start < *bytes) {
            _ if address == 0 => return self.set(kernel, at, 8, Some(&[0; 8])),
            Some((start, (bytes, number))) => {
                let rest = format!("\"bytes\": {}, \"svm\": true}}", start + bytes - address);
                Argument::Memory(*number, rest.into())
            }
            None => Argument::Plain("{\"svm\": true}".into()),
        };
        self.put(kernel, at, argument);
    }

    fn put(&mut self, kernel: usize, at: u32, argument: Argument) {
        let (arguments, at) = (&mut self.kernel(kernel).arguments, at as usize);
        arguments.resize(arguments.len().max(at + 1), Argument::Unset);
        arguments[at] = argument;
    }

    /// The number of a program, which is written if it is new.
    fn program(&mut self, handle: usize, text: ProgramText) -> usize {
        let new = self.texts.len();
        let number = *self.texts.entry(text.clone()).or_insert(new);
        self.programs.insert(handle, number);
        if number == new {
            let name = format!("program{number}.cl");
            let mut file = "null".to_owned();
            if !text.source.is_empty() {
                self.files.append(&name, &text.source);
                file = quoted(name.as_bytes());
            }
            let folder = std::env::current_dir().unwrap_or_default();
            let folder = folder.as_os_str().as_encoded_bytes();
            let [options, device, folder] = [&text.options, &text.device, folder].map(quoted);
            let line = format!(
                "{{\"program\": {number}, \"source\": {file}, \"il\": {}, \"options\": {options}, \
                 \"device\": {device}, \"folder\": {folder}}}\n",
                text.il
            );
            self.files.append(LINES, line.as_bytes());
        }
        number
    }

    /// Counts a launch, which is written if it is new.
    fn count(&mut self, kernel: usize, named: &str, range: Range<'_>) {
        let mut line = std::mem::take(&mut self.line);
        write_launch(&mut line, named, &self.kernel(kernel).arguments, range);
        let number = self.launches.len();
        if let Some((_, [count, _])) = self.launches.get_mut(line.as_str()) {
            *count += 1;
        } else if number < MAX_LAUNCHES {
            self.files.append(LINES, format!("{{\"launch\": {number}, {line}\n").as_bytes());
            self.launches.insert(line.as_str().into(), (number, [1, 1]));
        }
        self.line = line;
        self.total += 1;
        if self.total >= self.next_counts.max(INITIAL_COUNTS) {
            self.next_counts = 2 * self.total;
            self.write_counts("");
        }
    }

    /// Writes the counts that have changed, and a last line.
    fn write_counts(&mut self, end: &str) {
        let changed = self.launches.values_mut().filter(|(_, [count, written])| count > written);
        let mut lines: Vec<_> = changed
            .map(|(number, [count, written])| {
                *written = *count;
                (*number, format!("{{\"launch\": {number}, \"count\": {count}}}\n"))
            })
            .collect();
        lines.sort();
        let lines: String = lines.into_iter().map(|(_, line)| line).collect();
        self.files.append(LINES, (lines + end).as_bytes());
    }

    /// Writes the last counts of a process that has launched something.
    pub fn finish(&mut self) {
        if self.total > 0 && self.process == std::process::id() {
            self.write_counts(&format!("{{\"end\": {}}}\n", self.total));
        }
    }
}

/// Writes a launch as JSON, without the bracket and its number in front.
fn write_launch(line: &mut String, named: &str, arguments: &[Argument], range: Range<'_>) {
    line.clear();
    line.push_str(named);
    for (name, sizes) in ["global", "local", "offset"].iter().zip(range) {
        let _ = match sizes {
            Some(sizes) => write!(line, ", \"{name}\": {sizes:?}"),
            None => write!(line, ", \"{name}\": null"),
        };
    }
    line.push_str(", \"arguments\": [");
    for (place, argument) in arguments.iter().enumerate() {
        line.push_str(if place > 0 { ", " } else { "" });
        match argument {
            Argument::Unset => line.push_str("null"),
            Argument::Plain(text) => line.push_str(text),
            Argument::Local(size) => _ = write!(line, "{{\"local\": {size}}}"),
            Argument::Value(bytes) => {
                line.push_str("{\"value\": \"");
                let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                line.extend(halves.map(|half| char::from(b"0123456789abcdef"[usize::from(half)])));
                line.push_str("\"}");
            }
            Argument::Memory(object, rest) => {
                let same = |a: &Argument| matches!(a, Argument::Memory(o, _) if o == object);
                let first = arguments.iter().position(same).unwrap_or(place);
                let _ = write!(line, "{{\"memory\": {first}, {rest}");
            }
        }
    }
    line.push_str("]}");
}
