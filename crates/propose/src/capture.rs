//! Reads captures: what a program launched, how often, and with which arguments.
//!
//! Two formats are read: what `tickbound capture` writes (`docs/capture.md`), and the folder
//! `Replay` of Intel's Intercept Layer for OpenCL. Nothing is supplied: what a capture does not
//! have is an error with its place, a note, or [`CapturedArgument::Other`].

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use itertools::Itertools;
use serde::Deserialize;
use serde_json::Value;
use tickbound_input::message::excerpt;

/// Why a capture cannot be read: the file, what is wrong, and the fix.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what}")]
pub struct CaptureError {
    path: String,
    what: String,
}

fn fault(path: &Path, what: impl ToString) -> CaptureError {
    CaptureError { path: path.display().to_string(), what: what.to_string() }
}

/// What a program launched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    /// Kernels, in the order of their first launches.
    pub kernels: Vec<CapturedKernel>,
    /// What is missing.
    pub notes: Vec<String>,
}

/// A kernel with its launches: of one source, with one set of options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedKernel {
    /// Its name.
    pub name: String,
    /// The source, or what the program was made of instead.
    pub source: Result<String, String>,
    /// Options of the compiler.
    pub options: String,
    /// The device's name, if that is known.
    pub device: String,
    /// The working directory of the program, if that is known.
    pub folder: PathBuf,
    /// Its distinct launches, the most frequent ones first.
    pub launches: Vec<CapturedLaunch>,
    /// Launches of which nothing but the number is known.
    pub others: u64,
}

/// A distinct launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedLaunch {
    /// Where it is written.
    pub at: String,
    /// How often it was made.
    pub count: u64,
    /// Work items, in each dimension.
    pub global: Vec<i64>,
    /// Work items of a group; absent where the driver chose.
    pub local: Option<Vec<i64>>,
    /// The first work item.
    pub offset: Option<Vec<i64>>,
    /// Its arguments, in order.
    pub arguments: Vec<CapturedArgument>,
}

/// What an argument was set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapturedArgument {
    /// Bytes by value.
    Value(Vec<u8>),
    /// Local memory of so many bytes.
    Local(i64),
    /// Global memory.
    Memory {
        /// The first argument that is the same object.
        object: usize,
        /// Its bytes.
        bytes: i64,
    },
    /// What a problem file has no place for, by its name.
    Other(&'static str),
}

impl CapturedKernel {
    /// How often it was launched.
    pub fn count(&self) -> u64 {
        self.launches.iter().map(|launch| launch.count).sum::<u64>() + self.others
    }

    /// The work items of all launches whose sizes are known.
    pub fn items(&self) -> u128 {
        let items = |launch: &CapturedLaunch| {
            let global = launch.global.iter().map(|size| u128::from(size.unsigned_abs()));
            global.product::<u128>() * u128::from(launch.count)
        };
        self.launches.iter().map(items).sum()
    }

    /// The source.
    ///
    /// # Errors
    /// The program was made of something else, or the kernel's name is none of OpenCL C.
    pub fn text(&self) -> Result<&String, CaptureError> {
        let at = self.launches.first().map_or("", |launch| &launch.at);
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match &self.source {
            _ if self.name.is_empty() || !self.name.chars().all(word) => {
                let what = format!("`{}` is no name of a kernel", excerpt(&self.name));
                Err(fault(Path::new(at), what))
            }
            Ok(text) => Ok(text),
            Err(instead) => {
                let name = &self.name;
                let what =
                    format!("the program of kernel `{name}` was made of {instead}, not of source");
                Err(fault(Path::new(at), what))
            }
        }
    }
}

impl CapturedLaunch {
    /// Work items and those of a group, such as `1024x16 / 32x1`.
    pub fn size(&self) -> String {
        let local =
            self.local.as_ref().map_or("chosen by the driver".into(), |l| l.iter().join("x"));
        format!("{} / {local}", self.global.iter().join("x"))
    }
}

/// A line of a capture.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Launch {
        launch: usize,
        program: usize,
        kernel: String,
        global: Vec<i64>,
        local: Option<Vec<i64>>,
        offset: Option<Vec<i64>>,
        arguments: Vec<Option<Argument>>,
    },
    Others {
        launch: usize,
        program: usize,
        kernel: String,
        #[serde(rename = "others")]
        _others: bool,
    },
    Count {
        launch: usize,
        count: u64,
    },
    Program {
        program: usize,
        source: Option<String>,
        options: String,
        #[serde(default)]
        il: bool,
        #[serde(default)]
        device: String,
        #[serde(default)]
        folder: PathBuf,
    },
    End {
        #[serde(rename = "end")]
        _end: u64,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Argument {
    Memory {
        memory: usize,
        bytes: i64,
        image: Option<Value>,
    },
    Local {
        local: i64,
    },
    Value {
        value: String,
    },
    Sampler {
        #[serde(rename = "sampler")]
        _sampler: Value,
    },
    Shared {
        #[serde(rename = "svm")]
        _svm: bool,
    },
}

impl Argument {
    /// `None` for a value that is not hexadecimal.
    fn read(self) -> Option<CapturedArgument> {
        Some(match self {
            Argument::Memory { image: Some(_), .. } => CapturedArgument::Other("an image"),
            Argument::Memory { memory, bytes, .. } => {
                CapturedArgument::Memory { object: memory, bytes }
            }
            Argument::Local { local } => CapturedArgument::Local(local),
            Argument::Value { value } => {
                let pairs = value.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
                let bytes = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok());
                CapturedArgument::Value(bytes.collect::<Option<_>>()?)
            }
            Argument::Sampler { .. } => CapturedArgument::Other("a sampler"),
            Argument::Shared { .. } => {
                CapturedArgument::Other("shared virtual memory of which the length is not known")
            }
        })
    }
}

/// What was not set by a function that a layer sees.
const UNSET: CapturedArgument =
    CapturedArgument::Other("set by a function that the capture does not have, or not at all");

/// Reads a capture: its folder, or one of its processes.
///
/// # Errors
/// The folder has none, or what it has cannot be read.
pub fn read(folder: &Path) -> Result<Capture, CaptureError> {
    let mut names: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(error) => return Err(fault(folder, format!("{error}; give the folder of a capture"))),
    };
    names.sort_by_cached_key(|path| (number(path), path.clone()));
    let mut capture = Capture::default();
    let own = names.iter().map(|path| path.join("capture.jsonl"));
    let own = [folder.join("capture.jsonl")].into_iter().chain(own).filter(|path| path.is_file());
    for file in own {
        capture.read_lines(&file)?;
    }
    for replay in [folder.to_owned(), folder.join("Replay")] {
        let mut launches = Vec::new();
        for entry in fs::read_dir(&replay).into_iter().flatten().flatten() {
            launches.extend(
                entry.file_name().to_string_lossy().starts_with("Enqueue_").then(|| entry.path()),
            );
        }
        launches.sort_by_cached_key(|path| (number(path), path.clone()));
        for (place, path) in launches.iter().enumerate() {
            match replayed(path) {
                Ok(launch) => capture.add(launch),
                // The program ended while it was written.
                Err(error) if place + 1 == launches.len() && place > 0 => {
                    capture.notes.push(format!("{error}; this last launch is left out"));
                }
                Err(error) => return Err(error),
            }
        }
    }
    if capture.kernels.is_empty() {
        let what = "there is no launch in it; give a folder that `tickbound capture -o` wrote, or \
                    `Replay` of Intel's Intercept Layer";
        return Err(fault(folder, what));
    }
    for kernel in &mut capture.kernels {
        kernel.launches.sort_by_key(|launch| std::cmp::Reverse(launch.count));
    }
    Ok(capture)
}

/// The first number in the name of a file.
fn number(path: &Path) -> u64 {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or(u64::MAX)
}

impl Capture {
    /// Adds launches of a kernel to those that are known.
    fn add(&mut self, new: CapturedKernel) {
        let same = |k: &&mut CapturedKernel| {
            (&k.name, &k.source, &k.options) == (&new.name, &new.source, &new.options)
        };
        let Some(known) = self.kernels.iter_mut().find(same) else {
            return self.kernels.push(new);
        };
        known.others += new.others;
        for launch in new.launches {
            let same = |l: &&mut CapturedLaunch| {
                (&l.global, &l.local, &l.offset, &l.arguments)
                    == (&launch.global, &launch.local, &launch.offset, &launch.arguments)
            };
            match known.launches.iter_mut().find(same) {
                Some(known) => known.count += launch.count,
                None => known.launches.push(launch),
            }
        }
    }

    /// Reads the file of a process.
    fn read_lines(&mut self, path: &Path) -> Result<(), CaptureError> {
        let text = tickbound_input::text(path).map_err(|error| fault(path, error))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            let line = text.lines().count();
            self.notes.push(format!("{}:{line}: the line is cut; it is left out", path.display()));
        }
        let mut programs: IndexMap<usize, CapturedKernel> = IndexMap::new();
        let mut launches: IndexMap<usize, CapturedKernel> = IndexMap::new();
        // Without a last line counts may be too small, unless each launch has one.
        let (mut ended, mut counted) = (false, BTreeSet::new());
        for (place, line) in text[..whole].lines().enumerate() {
            let at = format!("{}:{}", path.display(), place + 1);
            let bad = |what: &str| fault(Path::new(&at), format!("{what}: {}", excerpt(line)));
            let of =
                |program: usize, kernel: String, programs: &IndexMap<usize, CapturedKernel>| {
                    let known = programs.get(&program).cloned();
                    let known = known.map(|program| CapturedKernel { name: kernel, ..program });
                    known.ok_or_else(|| bad("no line before has the program of this launch"))
                };
            match serde_json::from_str(line).map_err(|_| bad("this is no line of a capture"))? {
                Line::Program { program, source, options, il, device, folder } => {
                    let source = source_of(path, source.as_deref(), il)?;
                    let (name, launches) = (String::new(), Vec::new());
                    let made = CapturedKernel {
                        name,
                        source,
                        options,
                        device,
                        folder,
                        launches,
                        others: 0,
                    };
                    programs.insert(program, made);
                }
                Line::Launch { launch, program, kernel, global, local, offset, arguments } => {
                    let mut kernel = of(program, kernel, &programs)?;
                    let read = |a: Option<Argument>| a.map_or(Some(UNSET), Argument::read);
                    let arguments = arguments.into_iter().map(read).collect::<Option<Vec<_>>>();
                    let arguments = arguments.ok_or_else(|| bad("a value is not hexadecimal"))?;
                    let (at, count) = (at.clone(), 1);
                    kernel.launches =
                        vec![CapturedLaunch { at, count, global, local, offset, arguments }];
                    launches.insert(launch, kernel);
                }
                Line::Others { launch, program, kernel, .. } => {
                    let kernel = of(program, kernel, &programs)?;
                    launches.insert(launch, CapturedKernel { others: 1, ..kernel });
                }
                Line::Count { launch, count } => {
                    let kernel = launches.get_mut(&launch);
                    let kernel = kernel.ok_or_else(|| bad("no line before has this launch"))?;
                    kernel.launches.iter_mut().for_each(|launch| launch.count = count);
                    kernel.others = kernel.others.min(1) * count;
                    counted.insert(launch);
                }
                Line::End { .. } => ended = true,
            }
        }
        if !ended && counted.len() < launches.len() {
            let what = "the program was ended before it could write its last counts";
            self.notes.push(format!("{}: {what}; they may be too small", path.display()));
        }
        launches.into_values().for_each(|kernel| self.add(kernel));
        Ok(())
    }
}

/// The source of a program in the folder of a capture's file.
fn source_of(
    path: &Path,
    name: Option<&str>,
    il: bool,
) -> Result<Result<String, String>, CaptureError> {
    let instead = if il { "intermediate language (SPIR-V)" } else { "a binary" };
    let Some(name) = name else { return Ok(Err(instead.to_owned())) };
    let plain = Path::new(name).file_name() == Some(OsStr::new(name));
    let folder = path.parent().unwrap_or(Path::new(""));
    let source = folder.join(name);
    if !plain {
        return Err(fault(path, format!("the source {} is not beside it", excerpt(name))));
    }
    Ok(Ok(tickbound_input::text(&source).map_err(|error| fault(&source, error))?))
}

/// A launch of the Intercept Layer.
fn replayed(folder: &Path) -> Result<CapturedKernel, CaptureError> {
    let text = |name: &str| {
        let path = folder.join(name);
        tickbound_input::text(&path).map_err(|error| fault(&path, error))
    };
    let worksizes = folder.join("worksizes.txt");
    let sizes = text("worksizes.txt")?;
    let line = |line: &str| line.split_whitespace().map(|n| n.parse().ok()).collect();
    let sizes: Option<Vec<Vec<i64>>> = sizes.lines().map(line).collect();
    let Some([global, local, offset]) = sizes.and_then(|sizes| <[_; 3]>::try_from(sizes).ok())
    else {
        return Err(fault(&worksizes, "there are not three lines of numbers in it"));
    };
    let given = |sizes: Vec<i64>| sizes.iter().any(|size| *size != 0).then_some(sizes);
    let (local, offset) = (given(local), given(offset));
    let source = match folder.join("kernel.cl").exists() {
        true => Ok(text("kernel.cl")?.trim_end_matches('\0').to_owned()),
        false if folder.join("kernel.spv").exists() => Err("intermediate language (SPIR-V)".into()),
        false => Err("a binary".into()),
    };
    let arguments =
        (0..).map(|place| argument(folder, place)).take_while(|a| !matches!(a, Ok(None)));
    let arguments: Vec<_> = arguments.filter_map(Result::transpose).try_collect()?;
    let at = folder.display().to_string();
    Ok(CapturedKernel {
        name: text("kernelName.txt")?.trim().to_owned(),
        source,
        options: text("buildOptions.txt")?.trim().to_owned(),
        device: String::new(),
        folder: PathBuf::new(),
        launches: vec![CapturedLaunch { at, count: 1, global, local, offset, arguments }],
        others: 0,
    })
}

/// An argument of a launch of the Intercept Layer; `None` behind the last one.
fn argument(folder: &Path, place: usize) -> Result<Option<CapturedArgument>, CaptureError> {
    let file = |name: &str, end: &str| folder.join(format!("{name}{place}.{end}"));
    let local = file("Local", "txt");
    if local.exists() {
        let text = tickbound_input::text(&local).map_err(|error| fault(&local, error))?;
        let bytes = text.trim().parse().map_err(|_| fault(&local, "there is no number in it"))?;
        return Ok(Some(CapturedArgument::Local(bytes)));
    }
    for (name, what) in [("Image_MetaData_", "an image"), ("Sampler", "a sampler")] {
        if file(name, "txt").exists() {
            return Ok(Some(CapturedArgument::Other(what)));
        }
    }
    if file("SVM_Arg_Offset_", "txt").exists() {
        return buffer(folder, place).map(Some);
    }
    let value = file("Argument", "bin");
    match tickbound_input::bytes(&value) {
        Ok(bytes) => Ok(Some(CapturedArgument::Value(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fault(&value, error)),
    }
}

/// A buffer, as long as the file with its contents: the number behind its place is its own.
fn buffer(folder: &Path, place: usize) -> Result<CapturedArgument, CaptureError> {
    let pre = folder.join("Pre");
    let entries = fs::read_dir(&pre).map_err(|error| fault(&pre, error))?;
    let mut buffers = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((_, own)) = name.rsplit_once("_Arg_") else { continue };
        let Some((at, object)) = own.trim_end_matches(".bin").split_once("_Buffer_") else {
            continue;
        };
        let length = entry.metadata().map_err(|error| fault(&entry.path(), error))?.len();
        buffers.extend(at.parse::<usize>().ok().map(|at| (at, object.to_owned(), length)));
    }
    let own = buffers.iter().find(|(at, ..)| *at == place);
    let missing =
        || fault(&pre, format!("there is no file of the buffer that is argument {place}"));
    let (_, object, length) = own.ok_or_else(missing)?;
    let first = buffers.iter().filter(|(_, other, _)| other == object).map(|(at, ..)| *at).min();
    let bytes = i64::try_from(*length).unwrap_or(i64::MAX);
    Ok(CapturedArgument::Memory { object: first.unwrap_or(place), bytes })
}
