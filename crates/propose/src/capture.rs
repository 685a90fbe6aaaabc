//! Reads captures: what a program launched, how often, and with which arguments.
//!
//! Two formats are read: what `tickbound capture` writes (`docs/capture.md`), and the folder
//! `Replay` of Intel's Intercept Layer for OpenCL. What a capture does not have is an error, a note
//! or [`CapturedArgument::Other`]; nothing is supplied.

use std::collections::HashMap;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use itertools::Itertools;
use serde_json::Value;
use tickbound_input::message::excerpt;
use tickbound_model::source::ElementType;

use crate::error::ProposeError;

/// What a program launched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    /// Kernels, in the order of their first launches.
    pub kernels: Vec<CapturedKernel>,
    /// What is missing.
    pub notes: Vec<String>,
}

/// A kernel of one source and one set of options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedKernel {
    /// Its name.
    pub name: String,
    /// The source, or what the program was made of instead.
    pub source: Result<Arc<str>, &'static str>,
    /// Options of the compiler.
    pub options: String,
    /// The device's name, if that is known.
    pub device: String,
    /// The working directory of the program, if that is known.
    pub folder: PathBuf,
    /// Its distinct launches, the most frequent ones first.
    pub launches: Vec<CapturedLaunch>,
}

/// A distinct launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedLaunch {
    /// Where it is written.
    pub at: String,
    /// How often it was made.
    pub count: u64,
    /// Work items in each dimension, those of a group where the program gave them, and the first
    /// work item.
    pub range: [Option<Vec<i64>>; 3],
    /// Its arguments, in order.
    pub arguments: Vec<CapturedArgument>,
}

/// What an argument was set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapturedArgument {
    /// Bytes by value.
    Value(Vec<u8>),
    /// Bytes of local memory.
    Local(i64),
    /// Global memory: the first argument that is the same object, and its bytes.
    Memory(i64, i64),
    /// An image.
    Image(CapturedImage),
    /// A sampler, in the bits that constants of `sampler_t` have in OpenCL C.
    Sampler(i64),
    /// What a problem file has no place for.
    Other(&'static str),
}

/// An image as it was passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedImage {
    /// Texels along each dimension; of an array the last is how many images there are.
    pub sizes: Vec<i64>,
    /// What its components are read as.
    pub element: ElementType,
    /// It has four components of 32 bits, as images of problem files have.
    pub is_whole: bool,
}

impl CapturedImage {
    /// An image by its numbers in `cl.h`: its kind, the order and the type of its components, and
    /// its width, height, depth and number of layers. `None` if it is of no known kind.
    fn new(kind: i64, [order, components]: [i64; 2], sizes: [i64; 4]) -> Option<CapturedImage> {
        let [width, height, depth, layers] = sizes;
        let sizes = match kind {
            0x10f1 => vec![width, height],
            0x10f2 => vec![width, height, depth],
            0x10f3 => vec![width, height, layers],
            0x10f4 | 0x10f6 => vec![width],
            0x10f5 => vec![width, layers],
            _ => return None,
        };
        let element = match components {
            0x10d7..=0x10d9 => ElementType::Int,
            0x10da..=0x10dc => ElementType::Uint,
            _ => ElementType::Float,
        };
        // CL_RGBA of CL_SIGNED_INT32, CL_UNSIGNED_INT32 or CL_FLOAT.
        let is_whole = order == 0x10b5 && matches!(components, 0x10d9 | 0x10dc | 0x10de);
        Some(CapturedImage { sizes, element, is_whole })
    }
}

/// A sampler by its numbers in `cl.h`: normalised coordinates, addressing and filter.
fn sampler(numbers: &Value) -> Option<CapturedArgument> {
    let number = |place: usize| numbers[place].as_i64();
    let normalised = number(0).filter(|n| matches!(n, 0 | 1))?;
    let addressing = number(1).filter(|n| (0x1130..=0x1134).contains(n))? - 0x1130;
    let filter = number(2).filter(|n| matches!(n, 0x1140 | 0x1141))? - 0x1140;
    Some(CapturedArgument::Sampler(normalised | (2 * addressing) | (0x10 << filter)))
}

impl CapturedKernel {
    /// How often it was launched.
    pub fn count(&self) -> u64 {
        self.launches.iter().map(|launch| launch.count).fold(0, u64::saturating_add)
    }

    /// The work items of all launches.
    pub fn items(&self) -> u128 {
        self.launches.iter().map(CapturedLaunch::items).fold(0, u128::saturating_add)
    }

    /// The source.
    ///
    /// # Errors
    /// The program was made of something else, or the name is none of OpenCL C.
    pub fn text(&self) -> Result<&Arc<str>, ProposeError> {
        let at = Path::new(self.launches.first().map_or("", |launch| &launch.at));
        let is_word = self.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.name.is_empty() || !is_word {
            return Err(fault(at, format!("`{}` is no name of a kernel", excerpt(&self.name))));
        }
        self.source.as_ref().map_err(|instead| {
            let name = &self.name;
            let what = format!("the program of kernel `{name}` was made of {instead}");
            fault(at, what + ", not of source")
        })
    }
}

impl CapturedLaunch {
    /// The work items of all its repetitions.
    pub fn items(&self) -> u128 {
        let sizes = self.range[0].iter().flatten().map(|size| u128::from(size.unsigned_abs()));
        sizes.fold(u128::from(self.count), u128::saturating_mul)
    }

    /// Work items and those of a group, such as `1024x16 / 32x1`.
    pub fn size(&self) -> String {
        let [global, local, _] =
            self.range.each_ref().map(|sizes| sizes.iter().flatten().join("x"));
        format!("{global} / {}", if local.is_empty() { "chosen by the driver" } else { &local })
    }
}

fn fault(at: &Path, what: impl ToString) -> ProposeError {
    ProposeError::Captured { at: at.display().to_string(), what: what.to_string() }
}

/// Reads a capture: its folder, or that of one of its processes.
///
/// # Errors
/// There is none, or what there is cannot be read.
pub fn read(folder: &Path) -> Result<Capture, ProposeError> {
    let mut capture = Capture::default();
    for own in [folder.to_owned()].into_iter().chain(entries(folder)?) {
        let lines = own.join("capture.jsonl");
        if lines.is_file() {
            read_lines(&mut capture, &lines)?;
        }
    }
    let replay = folder.join("Replay");
    let replay = if replay.is_dir() { &replay } else { folder };
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_launch = |path: &PathBuf| name(path).starts_with("Enqueue_");
    let launches: Vec<PathBuf> = entries(replay)?.into_iter().filter(is_launch).collect();
    for (place, path) in launches.iter().enumerate() {
        match replayed(path) {
            Ok(launch) => add(&mut capture, launch),
            // The program was ended while it was written.
            Err(error) if place > 0 && place + 1 == launches.len() => {
                capture.notes.push(format!("{error}; this last launch is left out"));
            }
            Err(error) => return Err(error),
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

/// What is in a folder, by the first numbers in names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, ProposeError> {
    let entries = fs::read_dir(folder).and_then(|all| all.map(|e| Ok(e?.path())).collect());
    let mut entries: Vec<PathBuf> = entries.map_err(|error| fault(folder, error))?;
    entries.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
        (numbers.next().and_then(|n| n.parse::<u64>().ok()), name)
    });
    Ok(entries)
}

/// Adds launches of a kernel to those that are known.
fn add(capture: &mut Capture, new: CapturedKernel) {
    let same = |k: &&mut CapturedKernel| {
        (&k.name, &k.options, &k.source) == (&new.name, &new.options, &new.source)
    };
    let Some(known) = capture.kernels.iter_mut().find(same) else {
        return capture.kernels.push(new);
    };
    for launch in new.launches {
        let same = |l: &&mut CapturedLaunch| {
            (&l.range, &l.arguments) == (&launch.range, &launch.arguments)
        };
        match known.launches.iter_mut().find(same) {
            Some(known) => known.count = known.count.saturating_add(launch.count),
            None => known.launches.push(launch),
        }
    }
}

/// Reads the file of a process.
fn read_lines(capture: &mut Capture, path: &Path) -> Result<(), ProposeError> {
    let text = tickbound_input::text(path).map_err(|error| fault(path, error))?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let shown = path.display();
    if whole < text.len() {
        let line = text.lines().count();
        capture.notes.push(format!("{shown}:{line}: the line is cut; it is left out"));
    }
    let (mut programs, mut launches) = (HashMap::new(), Vec::<(CapturedKernel, bool)>::new());
    let mut total = None;
    for (place, line) in text[..whole].lines().enumerate() {
        let at = format!("{shown}:{}", place + 1);
        let bad =
            || fault(Path::new(&at), format!("this is no line of a capture: {}", excerpt(line)));
        let value: Value = serde_json::from_str(line).map_err(|_| bad())?;
        let number = |key: &str| value[key].as_u64();
        match (number("program"), number("launch"), number("count"), number("end")) {
            (Some(number), None, ..) => _ = programs.insert(number, program(path, &value)?),
            (Some(program), Some(_), ..) => {
                let program: &CapturedKernel = programs.get(&program).ok_or_else(bad)?;
                let launch = launch(&value, at.clone()).ok_or_else(bad)?;
                let name = value["kernel"].as_str().ok_or_else(bad)?.to_owned();
                launches.push((
                    CapturedKernel { name, launches: vec![launch], ..program.clone() },
                    false,
                ));
            }
            (None, Some(launch), Some(count), _) => {
                let place = usize::try_from(launch).ok();
                let known = place.and_then(|place| launches.get_mut(place)).ok_or_else(bad)?;
                known.0.launches[0].count = count;
                known.1 = true;
            }
            (None, None, None, Some(end)) => total = Some(end),
            _ => return Err(bad()),
        }
    }
    let sum: u64 = launches.iter().map(|(kernel, _)| kernel.count()).fold(0, u64::saturating_add);
    if total.is_none() && launches.iter().any(|(_, counted)| !counted) {
        let what = "the program was ended before it could write its last counts";
        capture.notes.push(format!("{shown}: {what}; they may be too small"));
    } else if let Some(left) = total.and_then(|total| total.checked_sub(sum)).filter(|n| *n > 0) {
        capture.notes.push(format!("{shown}: {left} more launches differ from all that it has"));
    }
    launches.into_iter().for_each(|(kernel, _)| add(capture, kernel));
    Ok(())
}

/// What a program was made of.
fn program(path: &Path, value: &Value) -> Result<CapturedKernel, ProposeError> {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let source = match value["source"].as_str() {
        None if value["il"] == true => Err("intermediate language (SPIR-V)"),
        None => Err("a binary"),
        Some(name) if name.contains(['/', '\\']) => {
            return Err(fault(path, format!("the source {} is not beside it", excerpt(name))));
        }
        Some(name) => Ok(text_of(&path.with_file_name(name))?.into()),
    };
    let (name, folder, launches) = (String::new(), text("folder").into(), Vec::new());
    let (options, device) = (text("options"), text("device"));
    Ok(CapturedKernel { name, source, options, device, folder, launches })
}

/// A launch; `None` if it is none.
fn launch(value: &Value, at: String) -> Option<CapturedLaunch> {
    let sizes = |key: &str| match &value[key] {
        Value::Null => Some(None),
        sizes => Some(Some(sizes.as_array()?.iter().map(Value::as_i64).collect::<Option<_>>()?)),
    };
    let range = [sizes("global")?, sizes("local")?, sizes("offset")?];
    let arguments = value["arguments"].as_array()?.iter().map(argument).collect::<Option<_>>()?;
    Some(CapturedLaunch { at, count: 1, range, arguments })
}

fn argument(value: &Value) -> Option<CapturedArgument> {
    let has = |key: &str| value.get(key).is_some();
    Some(match (value["memory"].as_i64(), value["local"].as_i64(), value["value"].as_str()) {
        _ if value.is_null() => CapturedArgument::Other(
            "set by a function that the capture does not have, or not at all",
        ),
        _ if has("image") => {
            let number = |of: &Value, place: usize| of[place].as_i64();
            let (image, format) = (&value["image"], &value["image"]["format"]);
            let sizes = [0, 1, 2, 3].map(|place| number(&image["sizes"], place).unwrap_or(0));
            let format = [number(format, 0)?, number(format, 1)?];
            let image = CapturedImage::new(image["kind"].as_i64()?, format, sizes);
            image.map_or(
                CapturedArgument::Other("an image of a kind that is not known"),
                CapturedArgument::Image,
            )
        }
        _ if has("sampler") => sampler(&value["sampler"])?,
        (Some(object), ..) => CapturedArgument::Memory(object, value["bytes"].as_i64()?),
        (_, Some(bytes), _) => CapturedArgument::Local(bytes),
        (.., Some(hexadecimal)) => {
            let pairs = hexadecimal.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
            let bytes = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok());
            CapturedArgument::Value(bytes.collect::<Option<_>>()?)
        }
        _ if has("svm") => CapturedArgument::Other("shared virtual memory of unknown length"),
        _ => return None,
    })
}

fn text_of(path: &Path) -> Result<String, ProposeError> {
    tickbound_input::text(path).map_err(|error| fault(path, error))
}

/// A launch of the Intercept Layer.
fn replayed(folder: &Path) -> Result<CapturedKernel, ProposeError> {
    let text = |name: &str| text_of(&folder.join(name));
    let line = |line: &str| line.split_whitespace().map(|n| n.parse().ok()).collect();
    let sizes: Option<Vec<Vec<i64>>> = text("worksizes.txt")?.lines().map(line).collect();
    let [global, local, offset] = sizes.and_then(|all| all.try_into().ok()).ok_or_else(|| {
        fault(&folder.join("worksizes.txt"), "there are not three lines of numbers in it")
    })?;
    let given = |sizes: Vec<i64>| sizes.iter().any(|size| *size != 0).then_some(sizes);
    let range = [Some(global), given(local), given(offset)];
    let source = match (folder.join("kernel.cl").exists(), folder.join("kernel.spv").exists()) {
        (true, _) => Ok(text("kernel.cl")?.trim_end_matches('\0').into()),
        (false, true) => Err("intermediate language (SPIR-V)"),
        (false, false) => Err("a binary"),
    };
    let arguments = (0..).map(|place| replayed_argument(folder, place).transpose());
    let arguments = arguments.while_some().try_collect()?;
    let launch = CapturedLaunch { at: folder.display().to_string(), count: 1, range, arguments };
    Ok(CapturedKernel {
        name: text("kernelName.txt")?.trim().to_owned(),
        source,
        options: text("buildOptions.txt")?.trim().to_owned(),
        device: String::new(),
        folder: PathBuf::new(),
        launches: vec![launch],
    })
}

/// An argument of a launch of the Intercept Layer; `None` behind the last one.
fn replayed_argument(
    folder: &Path,
    place: usize,
) -> Result<Option<CapturedArgument>, ProposeError> {
    let file = |name: &str, end: &str| folder.join(format!("{name}{place}.{end}"));
    let local = file("Local", "txt");
    let value = file("Argument", "bin");
    Ok(Some(if local.exists() {
        let bytes = text_of(&local)?.trim().parse();
        CapturedArgument::Local(bytes.map_err(|_| fault(&local, "there is no number in it"))?)
    } else if file("Image_MetaData_", "txt").exists() {
        let path = file("Image_MetaData_", "txt");
        let numbers = text_of(&path)?.lines().map(|line| line.trim().parse()).collect_vec();
        let [width, height, depth, _, _, _, components, order, kind] =
            <[Result<i64, _>; 9]>::try_from(numbers)
                .map_err(|_| fault(&path, "there are not nine lines in it"))?
                .map(|number| number.unwrap_or(0));
        // The length of an array is not among them.
        CapturedImage::new(kind, [order, components], [width, height, depth, 0])
            .filter(|image| !image.sizes.contains(&0))
            .map_or(
                CapturedArgument::Other("an image whose sizes the capture does not have"),
                CapturedArgument::Image,
            )
    } else if file("Sampler", "txt").exists() {
        CapturedArgument::Other("a sampler")
    } else if file("SVM_Arg_Offset_", "txt").exists() {
        replayed_buffer(&folder.join("Pre"), place)?
    } else {
        match tickbound_input::bytes(&value) {
            Ok(bytes) => CapturedArgument::Value(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(fault(&value, error)),
        }
    }))
}

/// A buffer of the Intercept Layer: as long as the file with its contents, whose name ends with
/// `Arg_<place>_Buffer_<object>.bin`.
fn replayed_buffer(folder: &Path, place: usize) -> Result<CapturedArgument, ProposeError> {
    let files = entries(folder)?;
    let named = files.iter().filter_map(|path| {
        let (place, object) = path.to_str()?.rsplit_once("_Arg_")?.1.split_once("_Buffer_")?;
        Some((place.parse::<usize>().ok()?, object, path))
    });
    let missing =
        || Error::other(format!("there is no file of the buffer that is argument {place}"));
    let own = named.clone().find(|(at, ..)| *at == place).ok_or_else(missing);
    let read = own.and_then(|(_, object, path)| Ok((object, fs::metadata(path)?.len())));
    let (object, bytes) = read.map_err(|error| fault(folder, error))?;
    let first = named.filter(|(_, other, _)| *other == object).map(|(at, ..)| at).min();
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    Ok(CapturedArgument::Memory(number(first.unwrap_or(place) as u64), number(bytes)))
}
