//! The host reference: what a kernel's outputs should be.
//!
//! The problem's C file is compiled with a small program of ours around it, `$CC` or `cc` with
//! `-O2 -std=c99 -lm`, and run as a process with limits of time and memory. Our program reads the
//! first contents of all buffers from a file, calls `reference`, and writes the outputs to another;
//! it provides `value`, and writes down which names were requested and what they were.
//!
//! A reference is a function of its arguments and of the values that it asks for, so outputs are
//! kept with these: for a later configuration with the same ones the reference is not run again. In
//! particular it runs once if it asks for nothing that configurations differ in.
//!
//! The declaration that the file should have is put before it, so that a file with other arguments
//! does not compile, instead of reading what is not there.

mod program;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tickbound_model::source::KernelArgument;
use tickbound_model::{Bound, Problem};
use tickbound_os::process::{Ended, Finished, ProcessLimits, ProcessStop, Scratch, run};

use super::error::MeasureError;
use super::job::{Job, JobArgument as Given};
use super::log;
use program::{Parts, UNKNOWN_NAME, declaration, fault};

/// How long compiling may take.
const COMPILING: Duration = Duration::from_secs(120);
/// Most bytes of outputs that are kept for other configurations.
const MAX_KEPT: u64 = 8 << 30;

/// What compiling and running may take.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    /// Most time of one run; compiling has two minutes.
    pub time: Duration,
    /// Most bytes of resident memory, of either.
    pub memory: u64,
}

/// A reference that is compiled.
#[derive(Debug)]
pub struct Reference {
    path: PathBuf,
    /// The line of the function.
    line: usize,
    folder: Scratch,
    allowed: Allowed,
    known: Vec<Known>,
    /// Arguments that lie in files.
    inputs: Vec<(Given, PathBuf)>,
    /// How many files with arguments there have been.
    numbered: usize,
}

#[derive(Debug)]
struct Known {
    arguments: Vec<Given>,
    asked: Vec<(String, i64)>,
    file: PathBuf,
    bytes: u64,
}

/// The C compiler's name and the command that compiles `main.c` and `declared.c` where it is run.
fn compiler() -> (String, Command) {
    let compiler = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty());
    let compiler = compiler.unwrap_or_else(|| "cc".to_owned());
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    let options = "-O2 -std=c99 -fsigned-char -o reference main.c declared.c -lm";
    command.args(words).args(options.split(' '));
    (compiler, command)
}

impl Reference {
    /// Compiles the reference in `path`, whose text is given, for a kernel with these arguments.
    ///
    /// # Errors
    /// No compiler, or the file does not compile within the limits.
    pub fn compile(
        path: &Path,
        text: &str,
        arguments: &[KernelArgument],
        allowed: Allowed,
        interrupt: &AtomicBool,
    ) -> Result<Reference, MeasureError> {
        let folder = Scratch::new("reference");
        let folder = folder.map_err(|e| fault(path, None, format!("no temporary folder: {e}")))?;
        let parts = Parts::of(arguments);
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let write = |name: &str, text: String| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).map_err(|e| fault(path, None, e.to_string()))
        };
        let quoted = whole.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        write("declared.c", format!("{}\n#include \"{quoted}\"\n", parts.prototype))?;
        write("main.c", parts.main(path)?)?;
        let (compiler, mut command) = compiler();
        command.current_dir(folder.path());
        let (time, memory) = (Some(COMPILING), Some(allowed.memory));
        let limits = ProcessLimits { time, memory, interrupt, ..ProcessLimits::default() };
        let finished = run(&mut command, "", limits).map_err(|e| {
            fault(
                path,
                None,
                format!(
                    "the C compiler `{compiler}` cannot be started: {e}; install one, or set CC"
                ),
            )
        })?;
        match finished.ended {
            Ended::Exit(0) => {}
            Ended::Stopped(ProcessStop::Interrupted) => return Err(MeasureError::Interrupted),
            Ended::Stopped(why) => {
                return Err(fault(path, None, format!("compiling it was stopped by its {why}")));
            }
            _ => return Err(not_compiled(path, &whole, &finished.stderr, &declaration(arguments))),
        }
        let line = text.lines().position(|l| l.contains("void reference")).map_or(1, |l| l + 1);
        Ok(Reference {
            path: path.to_owned(),
            line,
            folder,
            allowed,
            known: Vec::new(),
            inputs: Vec::new(),
            numbered: 0,
        })
    }

    /// The file with the outputs of a configuration, in sequence.
    ///
    /// # Errors
    /// The reference crashes, takes too long or too much memory, or asks for a name that is none.
    pub fn expected(
        &mut self,
        problem: &Problem,
        bound: &Bound,
        job: &Job,
        interrupt: &AtomicBool,
    ) -> Result<PathBuf, MeasureError> {
        let scope = &problem.scope;
        let slots = (0..scope.len()).filter(|slot| !scope.is_item(*slot));
        let names: Vec<(String, i64)> =
            slots.map(|slot| (scope.name(slot).to_owned(), bound.env[slot])).collect();
        let value = |name: &str| names.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
        let arguments: Vec<Given> =
            job.arguments.iter().filter(|a| !matches!(a, Given::Local(_))).cloned().collect();
        let same = |known: &&Known| {
            known.arguments == arguments && known.asked.iter().all(|(n, v)| value(n) == Some(*v))
        };
        if let Some(known) = self.known.iter().find(same) {
            return Ok(known.file.clone());
        }
        let file = self.folder.path().join(format!("outputs-{}", self.known.len()));
        let inputs = self.write_inputs(&arguments, &names)?;
        let asked = self.run(&file, &inputs, interrupt)?;
        let bytes = job.outputs().map(|o| o.bytes() as u64).sum();
        self.forget_to_make_room(bytes);
        self.known.push(Known { arguments, asked, file: file.clone(), bytes });
        Ok(file)
    }

    fn forget_to_make_room(&mut self, bytes: u64) {
        let mut kept = bytes + self.known.iter().map(|k| k.bytes).sum::<u64>();
        for known in self.known.iter_mut().filter(|k| k.bytes > 0) {
            if kept <= MAX_KEPT {
                break;
            }
            let _ = std::fs::remove_file(&known.file);
            // Cannot be requested; its place keeps the files' numbers apart.
            kept -= std::mem::take(&mut known.bytes);
            known.arguments = vec![Given::Local(0)];
        }
    }

    /// Writes the arguments that are not written yet; returns a file for each.
    fn write_inputs(
        &mut self,
        arguments: &[Given],
        names: &[(String, i64)],
    ) -> Result<Vec<PathBuf>, MeasureError> {
        let path = self.path.clone();
        let failed =
            |e: std::io::Error| fault(&path, None, format!("its inputs cannot be written: {e}"));
        self.inputs.retain(|(given, file)| {
            let used = arguments.contains(given);
            if !used {
                let _ = std::fs::remove_file(file);
            }
            used
        });
        let mut files = Vec::new();
        for argument in arguments {
            if let Some((_, file)) = self.inputs.iter().find(|(given, _)| given == argument) {
                files.push(file.clone());
                continue;
            }
            let bytes = match argument {
                Given::Value(bytes) => bytes.clone(),
                Given::Buffer(b) => b
                    .content
                    .bytes(&b.name, b.element, b.length)
                    .map_err(|e| fault(&path, None, e.to_string()))?,
                Given::Local(_) => continue,
            };
            let file = self.folder.path().join(format!("input-{}", self.numbered));
            self.numbered += 1;
            std::fs::write(&file, bytes).map_err(failed)?;
            self.inputs.push((argument.clone(), file.clone()));
            files.push(file);
        }
        let text: String = names.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
        std::fs::write(self.folder.path().join("values"), text).map_err(failed)?;
        Ok(files)
    }

    /// Runs the program; returns what it requested.
    fn run(
        &self,
        outputs: &Path,
        inputs: &[PathBuf],
        interrupt: &AtomicBool,
    ) -> Result<Vec<(String, i64)>, MeasureError> {
        let at = |why: String| fault(&self.path, Some(self.line), why);
        let mut command = Command::new(self.folder.path().join("reference"));
        command.current_dir(self.folder.path()).arg(outputs).args(inputs);
        let grace = Duration::from_millis(100);
        let Allowed { time, memory } = self.allowed;
        let (time, memory) = (Some(time), Some(memory));
        let limits = ProcessLimits { time, memory, interrupt, grace, ..ProcessLimits::default() };
        let finished =
            run(&mut command, "", limits).map_err(|e| at(format!("cannot be started: {e}")))?;
        match finished.ended {
            Ended::Exit(0) => {}
            Ended::Stopped(ProcessStop::Interrupted) => return Err(MeasureError::Interrupted),
            Ended::Stopped(why @ ProcessStop::Memory(_)) => {
                return Err(at(format!(
                    "`reference` was stopped by its {why}; --reference-memory gives it more, \
                     --size or --input less to do"
                )));
            }
            Ended::Stopped(_) => {
                let seconds = self.allowed.time.as_secs_f64();
                return Err(at(format!(
                    "`reference` has not ended after {seconds} s; --reference-limit gives it more \
                     time, --size or --input less to do"
                )));
            }
            Ended::Exit(UNKNOWN_NAME) => {
                return Err(self.unknown(finished.last_error().unwrap_or_default()));
            }
            _ => return Err(at(format!("`reference` crashed: {}", how(&finished)))),
        }
        let asked = std::fs::read_to_string(self.folder.path().join("asked"))
            .map_err(|e| at(format!("says nothing: {e}")))?;
        let pairs = asked.lines().filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        Ok(pairs.collect())
    }

    /// The error for a name that is none, with the line that asks for it.
    fn unknown(&self, name: &str) -> MeasureError {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let line = text.lines().position(|l| l.contains(&format!("\"{name}\"")));
        let why = format!(
            "`value` is asked for `{name}`, which is no input, platform number, parameter or \
             definition"
        );
        fault(&self.path, Some(line.map_or(self.line, |l| l + 1)), why)
    }
}

fn not_compiled(path: &Path, whole: &Path, errors: &str, declared: &str) -> MeasureError {
    // Another type of the function, or no such function.
    let other = ["conflicting types", "undefined"].iter().any(|said| errors.contains(said));
    let fix = if other { format!("; write `{declared}`") } else { String::new() };
    let fault = |path, line, why: String| fault(path, line, why + &fix);
    match log::first_error(errors) {
        Some(error) if Path::new(&error.file) == whole => {
            fault(path, Some(error.line as usize), error.text)
        }
        Some(error) => fault(path, None, format!("{}:{}: {}", error.file, error.line, error.text)),
        // The linker has no lines.
        None => {
            let undefined = errors.lines().find(|l| l.contains("undefined"));
            let said = undefined.unwrap_or_else(|| log::first_line(errors));
            let said = said.rsplit("): ").next().unwrap_or(said);
            fault(path, None, format!("does not compile: {said}"))
        }
    }
}

fn how(finished: &Finished) -> String {
    match (finished.ended, finished.last_error()) {
        (ended @ Ended::Exit(_), Some(last)) => format!("{ended} ({last})"),
        (ended, _) => ended.to_string(),
    }
}
