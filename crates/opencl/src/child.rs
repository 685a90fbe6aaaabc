//! How texts are read: in this process or in another one, what is kept, and what stops it.
//!
//! libclang may crash on a source, or grow without end. In a child go a request and its texts, on
//! standard input, and out come the readings, both as bytes of [`codec`], the latter in hexadecimal
//! digits. The program that is run must call [`serve`] and do nothing else: `tickbound` has a
//! hidden subcommand for it.

use std::io::{Read as _, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use tickbound_os::process::{Ended, Finished, ProcessLimits, ProcessStop};

use crate::ast::{CFunction, CVariable};
use crate::codec;
use crate::error::{Read, ReadError};
use crate::kept::Kept;
use crate::preprocess::Expanded;
use crate::reading::{KernelParameter, KernelSignature, One, ParameterType};
use crate::request::ReadRequest;
use crate::steps::KernelSteps;
use crate::{exact, parse, read};

/// How long all texts of a kernel may take.
const TIME: Duration = Duration::from_secs(300);
/// Bytes of memory that they may take.
const MEMORY: u64 = 4 << 30;
/// Bytes that the readings may be.
const OUTPUT: u64 = 32 << 20;
/// Readings beyond which conditions are structural.
const MAX_BY_VALUE: usize = 256;
/// Bytes of the stack of a thread that reads: the syntax tree is walked by recursion.
const STACK: usize = 256 << 20;

/// A program that calls [`serve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its path.
    pub program: PathBuf,
    /// What it is given.
    pub arguments: Vec<String>,
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// How a kernel is read. By default in this process, nothing is kept, and nothing stops it.
#[derive(Debug, Clone)]
pub struct ReaderSetup<'a> {
    /// Where readings are kept for the next time.
    pub kept: Kept,
    /// The process that calls libclang; `None`: this one.
    pub child: Option<Child>,
    /// Readings by values of macros beyond which conditions of `#if` are structural; their names
    /// are not names of the problem.
    pub max_by_value: usize,
    /// Ends the reading when it becomes true.
    pub interrupt: &'a AtomicBool,
}

impl Default for ReaderSetup<'_> {
    fn default() -> Self {
        ReaderSetup {
            kept: Kept::off(),
            child: None,
            max_by_value: MAX_BY_VALUE,
            interrupt: &NEVER,
        }
    }
}

impl ReaderSetup<'_> {
    /// An error if the reading is to end.
    ///
    /// # Errors
    /// `interrupt` is true.
    pub fn go_on(&self, name: &str) -> Read<()> {
        match self.interrupt.load(Ordering::Relaxed) {
            true => Err(ReadError::Stopped { name: name.to_owned() }),
            false => Ok(()),
        }
    }
}

/// A text, with the values of the structural symbols that it is for.
pub(crate) type Text = (Vec<i64>, Expanded);

/// What is asked of a child: the names of the structural symbols, and the texts; and whether only
/// the kernels that the texts declare are wanted.
type Question = (ReadRequest, Vec<String>, Vec<Text>, bool);
/// What it answers, for each text.
type Answer<T> = Vec<Read<T>>;

/// Reads texts in this process.
pub(crate) fn here(request: &ReadRequest, structural: &[String], texts: &[Text]) -> Answer<One> {
    let one = |(values, text): &Text| read_one(request, text, (structural, values));
    texts.par_iter().map(one).collect()
}

/// The kernels that a text declares, read in this process.
pub(crate) fn kernels_here(
    request: &ReadRequest,
    structural: &[String],
    (values, text): &Text,
) -> Read<Vec<KernelSignature>> {
    let read = parse::parse_with_host(request, text);
    let (unit, host) = read.map_err(|e| e.with_macros(structural, values))?;
    let kernels = unit.functions.values().filter(|function| function.kernel);
    let parameter =
        |p: &CVariable| KernelParameter { name: p.name.clone(), ty: ParameterType::of(&p.ty) };
    let kernel = |function: &CFunction| KernelSignature {
        name: function.name.clone(),
        parameters: function.parameters.iter().map(parameter).collect(),
        group: match function.name == request.entry {
            true => read::group(request, &unit),
            false => Vec::new(),
        },
        template: host.templates.get(&function.name).cloned().unwrap_or_default(),
        launches: host.launches.iter().filter(|l| l.kernel == function.name).cloned().collect(),
    };
    Ok(kernels.map(kernel).collect())
}

/// The parameters of the kernel function, and what it does.
fn read_one(
    request: &ReadRequest,
    text: &Expanded,
    (structural, values): (&[String], &[i64]),
) -> Read<One> {
    let unit = parse::parse(request, text).map_err(|e| e.with_macros(structural, values))?;
    let (steps, proof) = match request.for_proofs {
        true => (KernelSteps::default(), Some(exact::read(request, &unit)?)),
        false => (read::read(request, &text.open, &unit)?, None),
    };
    let kernel = unit.functions.get(&request.entry);
    let declared = kernel.map(|kernel| kernel.parameters.as_slice()).unwrap_or_default();
    let of = |p: &CVariable| (p.name.clone(), ParameterType::of(&p.ty));
    let (parameters, types) = declared.iter().map(of).unzip();
    let matched = read::matched(request, &unit);
    Ok(One { parameters, types, steps, proof, matched })
}

impl Child {
    /// Reads texts in a child, which `interrupt` stops.
    pub(crate) fn read(
        &self,
        request: &ReadRequest,
        (structural, texts): (&[String], Vec<Text>),
        interrupt: &AtomicBool,
    ) -> Read<Answer<One>> {
        self.ask(&(request.clone(), structural.to_vec(), texts, false), interrupt)
    }

    /// The kernels that a text declares, read in a child, which `interrupt` stops.
    pub(crate) fn kernels(
        &self,
        request: &ReadRequest,
        (structural, text): (&[String], Text),
        interrupt: &AtomicBool,
    ) -> Read<Vec<KernelSignature>> {
        let question = (request.clone(), structural.to_vec(), vec![text], true);
        let answer: Answer<Vec<KernelSignature>> = self.ask(&question, interrupt)?;
        answer.into_iter().next().unwrap_or_else(|| Ok(Vec::new()))
    }

    fn ask<T: DeserializeOwned>(
        &self,
        question: &Question,
        interrupt: &AtomicBool,
    ) -> Read<Answer<T>> {
        let request = &question.0;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        let limits = ProcessLimits {
            time: Some(TIME),
            memory: Some(MEMORY),
            output: Some(2 * OUTPUT),
            interrupt,
            grace: Duration::ZERO,
            ..ProcessLimits::default()
        };
        let finished = tickbound_os::process::run(&mut command, codec::write(question), limits);
        let name = self.program.display().to_string();
        let finished = finished.map_err(|error| {
            ReadError::file(name, error.to_string(), "install the program anew")
        })?;
        let fault = |what: String| {
            let fix = "take apart what is nested deeply, or install another version of libclang";
            ReadError::file(&request.name, what, fix)
        };
        match finished.ended {
            Ended::Stopped(ProcessStop::Interrupted) => {
                Err(ReadError::Stopped { name: request.name.clone() })
            }
            Ended::Stopped(why) => Err(fault(format!("reading it was stopped by its {why}"))),
            Ended::Signal(_) => {
                Err(fault(format!("libclang crashed while it read this: {}", finished.ended)))
            }
            Ended::Exit(_) => answer(&finished).ok_or_else(|| {
                let last = finished.last_error().unwrap_or("nothing more is known");
                fault(format!("libclang gave up while it read this: {last}"))
            }),
        }
    }
}

fn answer<T: DeserializeOwned>(finished: &Finished) -> Option<Answer<T>> {
    let digits = finished.stdout.trim().as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = digits.map(byte).collect::<Option<_>>()?;
    codec::read(&bytes).filter(|_| finished.ended == Ended::Exit(0))
}

/// Answers the question on standard input.
///
/// # Errors
/// The pipes fail, or what comes in is no question.
pub fn serve() -> std::io::Result<()> {
    tickbound_os::process::no_core_files();
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let question: Option<Question> = codec::read(&bytes);
    let (request, structural, texts, kernels) =
        question.ok_or_else(|| std::io::Error::other("this is run by tickbound, not by people"))?;
    let threads = rayon::ThreadPoolBuilder::new().stack_size(STACK).build();
    let threads = threads.map_err(std::io::Error::other)?;
    let answer = threads.install(|| {
        let kernels_of = |text| kernels_here(&request, &structural, text);
        match kernels {
            false => codec::write(&here(&request, &structural, &texts)),
            true => codec::write(&texts.iter().map(kernels_of).collect::<Answer<_>>()),
        }
    });
    let digits: String = answer.iter().map(|b| format!("{b:02x}")).collect();
    std::io::stdout().write_all(digits.as_bytes())
}
