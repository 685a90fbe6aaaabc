//! Runs OpenCL kernels on the host and counts their accesses, independently of the reader.
//!
//! The reader takes a kernel's source and says how often each work item loads and stores. Here
//! the compiler says it: clang translates the kernel for the host, without optimisation and with
//! the address spaces kept apart (`-ffake-address-space-map`), so that every load and store of the
//! source is an instruction of its intermediate code whose pointer says `addrspace(1)` for global,
//! 2 for constant, 3 for local and none for private memory. [`instrument`] puts a call before each
//! that is not private; only then the code is optimised, which cannot remove calls. What is called
//! is in `runtime.c`: it counts, refuses accesses outside of all buffers, misaligned ones, races
//! and uninitialised loads in local memory, and barriers that only some items reach. Built-in
//! functions are in `builtins.cl`.
//!
//! ```ignore
//! let Some(clang) = instrumented::available() else { return };
//! let outcome = Instrument::new(&clang)?.run(&Run {
//!     source: Path::new("examples/kernels/minimum.cl"),
//!     entry: "minimum",
//!     standard: "CL1.2",
//!     defines: vec![("WG".into(), "4".into()), ("TS".into(), "2".into())],
//!     arguments: vec![input, minima, scratch],
//!     global: vec![8],
//!     local: vec![4],
//! })?;
//! assert_eq!(outcome.counts.global_loads, 16);
//! ```
//!
//! What it cannot know: a store to one component of a vector in memory (`v[i].x = 0`) is what clang
//! makes of it, a load and a store of the whole vector. A program-scope `constant` scalar with a
//! constant initialiser may be folded into the code. Private arrays have no bounds. Each item's
//! private memory is limited to 256 KiB, less a page.

#![allow(dead_code, reason = "no test uses everything")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

mod instrument;
mod operations;

pub use instrument::instrument;

/// A kernel and what it is called with.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// The source file.
    pub source: &'a Path,
    /// The kernel function.
    pub entry: &'a str,
    /// The language's version, `CL1.2` or `CL3.0`.
    pub standard: &'a str,
    /// Macros and their texts.
    pub defines: Vec<(String, String)>,
    /// The kernel's arguments, in order.
    pub arguments: Vec<Argument>,
    /// Work items of the launch, by dimension.
    pub global: Vec<usize>,
    /// Work items of a group, by dimension; they divide `global`.
    pub local: Vec<usize>,
}

/// An argument of the kernel.
#[derive(Debug, Clone)]
pub struct Argument {
    /// Its name, for messages.
    pub name: String,
    /// OpenCL's name of its type or of its elements' type, such as `uint`.
    pub element: &'static str,
    /// What is passed.
    pub content: Content,
}

/// What is passed as an argument.
#[derive(Debug, Clone)]
pub enum Content {
    /// A buffer in global or constant memory, with its first content.
    Buffer(Vec<u8>),
    /// So many bytes of local memory.
    Local(usize),
    /// A scalar by value.
    Scalar(Vec<u8>),
}

/// How often memory was accessed. A vector counts once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Loads from global memory.
    pub global_loads: u64,
    /// Stores to global memory.
    pub global_stores: u64,
    /// Loads from local memory.
    pub local_loads: u64,
    /// Stores to local memory.
    pub local_stores: u64,
    /// Loads from constant memory.
    pub constant_loads: u64,
    /// Atomic operations on global or local memory.
    pub atomics: u64,
    /// Operations on real numbers; these three are counted in optimised code only.
    pub real: u64,
    /// Roots, divisions and the like.
    pub special: u64,
    /// Conversions between kinds of numbers.
    pub conversions: u64,
}

impl Counts {
    /// From the runtime's record of one item.
    fn read(record: &[u8]) -> Counts {
        let mut numbers = record.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap()));
        let mut next = || numbers.next().unwrap();
        Counts {
            global_loads: next(),
            global_stores: next(),
            local_loads: next(),
            local_stores: next(),
            constant_loads: next(),
            atomics: next(),
            real: next(),
            special: next(),
            conversions: next(),
        }
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(items: I) -> Counts {
        items.fold(Counts::default(), |a, b| Counts {
            global_loads: a.global_loads + b.global_loads,
            global_stores: a.global_stores + b.global_stores,
            local_loads: a.local_loads + b.local_loads,
            local_stores: a.local_stores + b.local_stores,
            constant_loads: a.constant_loads + b.constant_loads,
            atomics: a.atomics + b.atomics,
            real: a.real + b.real,
            special: a.special + b.special,
            conversions: a.conversions + b.conversions,
        })
    }
}

/// One access of one item.
#[derive(Debug, Clone, Copy)]
pub struct Touch {
    /// Its first byte. Buffers begin at pages.
    pub at: u64,
    /// The item, with all items of the first group before those of the second.
    pub item: u32,
    /// Which access of the source it is.
    pub site: u32,
    /// How many bytes.
    pub bytes: u32,
    /// 1: global, 2: constant, 3: local memory.
    pub space: u32,
    /// Whether it stores.
    pub store: bool,
}

impl Touch {
    fn read(record: &[u8]) -> Touch {
        let word = |i: usize| u32::from_le_bytes(record[4 * i..4 * i + 4].try_into().unwrap());
        let at = u64::from(word(0)) | u64::from(word(1)) << 32;
        Touch {
            at,
            item: word(2),
            site: word(3),
            bytes: word(4),
            space: word(5) & 7,
            store: word(5) & 8 != 0,
        }
    }
}

/// What a run did.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Accesses of all items together.
    pub counts: Counts,
    /// Accesses of each item: all items of the first group by linear local id, then those of the
    /// second group, with the first dimension running fastest in both.
    pub items: Vec<Counts>,
    /// Content of each argument afterwards; empty for those that are no buffers.
    pub buffers: Vec<Vec<u8>>,
}

/// Oldest clang whose intermediate code has opaque pointers by default.
const OLDEST: u32 = 15;
/// Newest clang that is looked for by number.
const NEWEST: u32 = 30;
/// Longest time for one run, and for one call of the compiler, unless set otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A clang that can compile OpenCL C and is new enough, if there is one: `TICKBOUND_CLANG`, `clang`
/// with the highest number in its name, or `clang`.
pub fn available() -> Option<PathBuf> {
    let named = std::env::var_os("TICKBOUND_CLANG").map(PathBuf::from);
    let numbered = (OLDEST..=NEWEST).rev().map(|n| PathBuf::from(format!("clang-{n}")));
    let mut candidates = named.into_iter().chain(numbered).chain([PathBuf::from("clang")]);
    candidates.find(|clang| major_version(clang).is_some_and(|v| v >= OLDEST))
}

fn major_version(clang: &Path) -> Option<u32> {
    let output = Command::new(clang).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, version) = text.split_once("clang version ")?;
    version.split('.').next()?.trim().parse().ok()
}

/// Which code is executed, and what is kept of the execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    /// The accesses of the source, counted.
    Plain,
    /// The same, and each kept.
    Traced,
    /// What the compiler's -O3 leaves, with its operations, counted and kept.
    Optimised,
}

/// A compiler and a place to work in.
#[derive(Debug)]
pub struct Instrument {
    clang: PathBuf,
    folder: TempDir,
    time_limit: Duration,
}

impl Instrument {
    /// Compiles the runtime.
    ///
    /// # Errors
    /// No temporary folder, or a message of the compiler.
    pub fn new(clang: &Path) -> Result<Instrument, String> {
        let folder = TempDir::new().map_err(|e| format!("no temporary folder: {e}"))?;
        let made = Instrument { clang: clang.to_owned(), folder, time_limit: TIME_LIMIT };
        made.write("runtime.c", include_str!("runtime.c"))?;
        made.write("builtins.cl", include_str!("builtins.cl"))?;
        // Fortified jumps refuse to go from one stack to another.
        made.compile(&["-std=gnu11", "-O2", "-U_FORTIFY_SOURCE", "-c", "runtime.c"])?;
        Ok(made)
    }

    /// Sets the longest time for one run, and for one call of the compiler.
    pub fn set_time_limit(&mut self, limit: Duration) {
        self.time_limit = limit;
    }

    /// Compiles the kernel, runs it and reports. The runs of one instrument come one after another.
    ///
    /// # Errors
    /// What the compiler says, what is wrong with an access, or that the time is over.
    pub fn run(&mut self, run: &Run<'_>) -> Result<Outcome, String> {
        self.run_with(run, Code::Plain)?;
        self.collect(run)
    }

    /// The same, for all that it accesses, in order; without atomic operations.
    pub fn trace(&mut self, run: &Run<'_>) -> Result<Vec<Touch>, String> {
        self.run_with(run, Code::Traced)?;
        self.touches()
    }

    fn touches(&self) -> Result<Vec<Touch>, String> {
        let bytes =
            fs::read(self.folder.path().join("trace")).map_err(|e| format!("trace: {e}"))?;
        Ok(bytes.chunks_exact(24).map(Touch::read).collect())
    }

    /// Counts of each item and all accesses of the code that the compiler has optimised as far as
    /// it can; an access counts once for each 16 bytes, or as many as its alignment allows.
    pub fn optimised(&mut self, run: &Run<'_>) -> Result<(Vec<Counts>, Vec<Touch>), String> {
        self.run_with(run, Code::Optimised)?;
        let items = self.collect(run)?.items;
        Ok((items, self.touches()?))
    }

    fn run_with(&mut self, run: &Run<'_>, code: Code) -> Result<(), String> {
        self.build(run, code == Code::Optimised)?;
        for (i, argument) in run.arguments.iter().enumerate() {
            if let Content::Buffer(bytes) | Content::Scalar(bytes) = &argument.content {
                self.write(&i.to_string(), bytes)?;
            }
        }
        let mut program = Command::new(self.folder.path().join("kernel"));
        if code != Code::Plain {
            program.env("TICKBOUND_TRACE", "1");
        }
        if code == Code::Optimised {
            program.env("TICKBOUND_PIECES", "1");
        }
        self.finish(program, "the run")
    }

    /// From the source to a program `kernel`.
    fn build(&self, run: &Run<'_>, optimised: bool) -> Result<(), String> {
        let source = fs::canonicalize(run.source)
            .map_err(|e| format!("{}: cannot be read: {e}", run.source.display()))?;
        // Macros come after the built-in functions, which they must not change.
        let mut unit = String::new();
        for (name, text) in &run.defines {
            writeln!(unit, "#define {name} {text}").unwrap();
        }
        writeln!(unit, "#include \"{}\"", source.display()).unwrap();
        self.write("kernel.cl", unit)?;
        let (standard, level) = (run.standard, if optimised { "-O3" } else { "-O0" });
        let builtins = format!("builtins-{standard}{level}.pch");
        if !self.folder.path().join(&builtins).exists() {
            let header = ["-x", "cl-header", "builtins.cl", "-o", &builtins];
            self.compile_opencl(standard, level, &header)?;
        }
        let kernel = ["-x", "cl", "-include-pch", &builtins, "-S", "-emit-llvm", "kernel.cl"];
        self.compile_opencl(standard, level, &[&kernel[..], &["-o", "plain.ll"]].concat())?;
        self.write("kernel.ll", instrument(&self.read("plain.ll")?, optimised)?)?;
        self.compile(&["-O1", "-w", "-c", "kernel.ll"])?;
        // It starts in a third of clang's time.
        let cc = Path::new("cc");
        let call = call(run)?;
        if self.read("call.c").as_ref() != Ok(&call) {
            self.write("call.c", call)?;
            self.compile_with(cc, &["-O1", "-w", "-c", "call.c"])?;
        }
        self.compile_with(cc, &["kernel.o", "call.o", "runtime.o", "-lm", "-o", "kernel"])
    }

    /// The built-in functions and the kernel have the same options, else the one cannot be
    /// precompiled for the other.
    fn compile_opencl(&self, standard: &str, level: &str, more: &[&str]) -> Result<(), String> {
        let standard = format!("-cl-std={standard}");
        let space = ["-Xclang", "-disable-O0-optnone", "-Xclang", "-ffake-address-space-map"];
        self.compile(&[&[&standard, level, "-w"], &space[..], more].concat())
    }

    fn collect(&self, run: &Run<'_>) -> Result<Outcome, String> {
        let bytes = |name: &str| {
            fs::read(self.folder.path().join(name)).map_err(|e| format!("{name}: {e}"))
        };
        let items: Vec<Counts> = bytes("counts")?.chunks_exact(72).map(Counts::read).collect();
        let buffers = run.arguments.iter().enumerate().map(|(i, a)| match a.content {
            Content::Buffer(_) => bytes(&i.to_string()),
            Content::Local(_) | Content::Scalar(_) => Ok(Vec::new()),
        });
        Ok(Outcome {
            counts: items.iter().copied().sum(),
            buffers: buffers.collect::<Result<_, _>>()?,
            items,
        })
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
        fs::write(self.folder.path().join(name), content).map_err(|e| format!("{name}: {e}"))
    }

    fn read(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(self.folder.path().join(name)).map_err(|e| format!("{name}: {e}"))
    }

    fn compile(&self, arguments: &[&str]) -> Result<(), String> {
        self.compile_with(&self.clang, arguments)
    }

    fn compile_with(&self, compiler: &Path, arguments: &[&str]) -> Result<(), String> {
        let mut compiler = Command::new(compiler);
        compiler.args(arguments);
        self.finish(compiler, "the compiler")
    }

    /// Runs a program in the folder, with a limit on its time.
    fn finish(&self, mut command: Command, what: &str) -> Result<(), String> {
        let messages = fs::File::create(self.folder.path().join("messages"));
        command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(messages.map_err(|e| format!("messages: {e}"))?);
        let mut child = command.spawn().map_err(|e| format!("{what} cannot be started: {e}"))?;
        let start = Instant::now();
        let status = loop {
            match child.try_wait().map_err(|e| format!("{what}: {e}"))? {
                Some(status) => break status,
                None if start.elapsed() > self.time_limit => {
                    // It may have ended in the meantime; then there is nothing to kill.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("{what} took longer than {:?}", self.time_limit));
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        match status.success() {
            true => Ok(()),
            false => Err(format!("{what}: {status}: {}", self.read("messages")?.trim())),
        }
    }
}

/// The C file with the arguments, the sizes and the call.
fn call(run: &Run<'_>) -> Result<String, String> {
    let (mut records, mut types, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (i, argument) in run.arguments.iter().enumerate() {
        let (kind, bytes) = match &argument.content {
            Content::Buffer(content) => (0, content.len()),
            Content::Local(bytes) => (1, *bytes),
            Content::Scalar(content) => (2, content.len()),
        };
        records.push(format!("{{{kind}, {bytes}, \"{}\", \"{i}\"}}", argument.name));
        let element = c_type(argument.element)?;
        types.push(if kind == 2 { element.to_owned() } else { "void *".to_owned() });
        values.push(match kind {
            2 => format!("*({element} *)a[{i}]"),
            _ => format!("a[{i}]"),
        });
    }
    let sizes = |sizes: &[usize]| {
        let three = (0..3).map(|d| sizes.get(d).copied().unwrap_or(1).to_string());
        three.collect::<Vec<_>>().join(", ")
    };
    let divides = run.global.iter().zip(&run.local).all(|(g, l)| *l > 0 && g % l == 0);
    if run.global.len() != run.local.len() || run.global.is_empty() || !divides {
        return Err(format!("{:?} items cannot be cut into {:?}", run.global, run.local));
    }
    Ok(format!(
        "#include <stdint.h>
struct argument {{ int kind; uint64_t bytes; const char *name; const char *file; }};
const struct argument tickbound_arguments[] = {{ {records} }};
const unsigned tickbound_argument_count = {count};
const uint64_t tickbound_global[3] = {{ {global} }}, tickbound_local[3] = {{ {local} }};
const unsigned tickbound_dimensions = {dimensions};
void {entry}({types});
void tickbound_call(void **a) {{ {entry}({values}); }}
",
        records = records.join(", "),
        count = run.arguments.len(),
        global = sizes(&run.global),
        local = sizes(&run.local),
        dimensions = run.global.len(),
        entry = run.entry,
        types = types.join(", "),
        values = values.join(", "),
    ))
}

/// C's name for OpenCL's scalar type.
pub fn c_type(element: &str) -> Result<&'static str, String> {
    Ok(match element {
        "char" => "signed char",
        "uchar" => "unsigned char",
        "short" => "short",
        "ushort" => "unsigned short",
        "int" => "int",
        "uint" => "unsigned",
        "long" => "long",
        "ulong" => "unsigned long",
        "float" => "float",
        "double" => "double",
        other => return Err(format!("`{other}` is no scalar type")),
    })
}
