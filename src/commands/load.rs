//! Reading problem files, and the values of options that several commands have.

use super::exit::CliError;
use super::reader::setup;
use super::values::Seconds;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::problem::{SpaceConstraint, parse_json};
use tickbound_model::{Bound, Configuration, ModelError, Problem, t1};
use tickbound_opencl::{KernelReading, ReaderSetup, attach_with, inputs_as_macros};

use tickbound_measure::files::SourceFiles;
use tickbound_model::platforms;
use tickbound_opencl::compiler_log;
use tickbound_rules::RuleSizes;

/// A `NAME=VALUE` option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name.
    pub name: String,
    /// The value.
    pub value: i64,
}

impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fix = "write NAME=VALUE with a whole number, such as size=1024";
        let (name, value) = text.split_once('=').ok_or(fix)?;
        let value = value.trim().replace('_', "").parse().map_err(|_| fix)?;
        Ok(Setting { name: name.trim().to_owned(), value })
    }
}

/// A `[NAME=VALUE,...:]FILE` option: what a compiler printed, for all configurations or for those
/// with these values.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CompilerReport {
    at: Vec<Setting>,
    file: String,
}

impl std::str::FromStr for CompilerReport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((at, file)) = text.split_once(':').filter(|(at, _)| at.contains('=')) else {
            return Ok(CompilerReport { at: Vec::new(), file: text.to_owned() });
        };
        let at = at.split(',').map(str::parse).collect::<Result<_, _>>()?;
        Ok(CompilerReport { at, file: file.to_owned() })
    }
}

impl CompilerReport {
    /// Puts the registers of the problem's kernel in.
    fn put_into(&self, problem: &mut Problem) -> Result<(), CliError> {
        let file = &self.file;
        let fault = |why: String| CliError::Input(format!("--compiler-log {file}: {why}"));
        let text = tickbound_input::text(file)
            .map_err(|error| fault(format!("{error}; give a file with what a compiler printed")))?;
        let kernel = problem.source.as_ref().map(|source| source.entry.as_str());
        let registers = compiler_log::registers(&text, kernel).map_err(fault)?;
        let at = by_name("--compiler-log", &self.at)?;
        let place = |name: &str| place_of(problem, "--compiler-log", name);
        let at: Vec<(usize, i64)> = at
            .iter()
            .map(|(name, value)| Ok((place(name)?, *value)))
            .collect::<Result<_, ModelError>>()?;
        Ok(problem.set_registers(&at, registers.live())?)
    }
}

/// The place of a parameter that an option names.
fn place_of(problem: &Problem, option: &str, name: &str) -> Result<usize, ModelError> {
    let known: Vec<&str> = problem.parameters.iter().map(|p| p.name.as_str()).collect();
    known.iter().position(|known| *known == name).ok_or_else(|| {
        let fix = format!("known here: {}", known.join(", "));
        ModelError::new(format!("{option} {name}"), "no parameter has this name", fix)
    })
}

/// The configuration that an option such as `--set` gives, whole.
///
/// # Errors
/// A parameter that is not there, has no value or two, or a configuration that is not valid.
pub fn bound(problem: &Problem, option: &str, set: &[Setting]) -> Result<Bound, CliError> {
    let values = by_name(option, set)?;
    values.keys().try_for_each(|name| place_of(problem, option, name).map(|_| ()))?;
    if let Some(missing) = problem.parameters.iter().find(|p| !values.contains_key(&p.name)) {
        let (at, fix) = (
            format!("parameters.{}", missing.name),
            format!("add {option} {}=VALUE", missing.name),
        );
        return Err(ModelError::new(at, "has no value", fix).into());
    }
    Ok(problem.bind(&values)?)
}

/// A time that an option gives in seconds, above 0.
///
/// # Errors
/// If it is no such length of time.
pub fn positive_seconds(option: &str, Seconds(seconds): Seconds) -> Result<Duration, CliError> {
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|t| !t.is_zero());
    time.ok_or_else(|| {
        CliError::Input(format!("{option} {seconds}: write a positive number of seconds"))
    })
}

/// Whether a file that is no JSON is the source of a kernel.
fn is_source(path: &str, text: &str) -> bool {
    let endings = ["cl", "ocl", "cu", "c", "h", "cpp", "hip"];
    let ending = Path::new(path).extension().and_then(|e| e.to_str()).map(str::to_lowercase);
    let is_json = text.trim_start().starts_with(['{', '[']);
    !is_json && (ending.is_some_and(|e| endings.contains(&&*e)) || text.contains("kernel void"))
}

/// Settings by name.
///
/// # Errors
/// If one name is set twice.
pub fn by_name(option: &str, settings: &[Setting]) -> Result<IndexMap<String, i64>, CliError> {
    let mut map = IndexMap::new();
    for s in settings {
        if map.insert(s.name.clone(), s.value).is_some() {
            return Err(CliError::Input(format!(
                "{option} {}: given twice; keep one of them",
                s.name
            )));
        }
    }
    Ok(map)
}

/// The problem that a command is about: arguments that all such commands share.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Chosen {
    /// Problem file (JSON), or a T1 file; - is standard input
    pub problem: String,
    /// Replace an input or a platform number
    #[arg(long = "input", value_name = "NAME=VALUE", help_heading = "Problem")]
    pub input: Vec<Setting>,
    /// Take the inputs of this named size of the problem
    #[arg(long, value_name = "NAME", help_heading = "Problem")]
    pub size: Option<String>,
    /// Take another platform: the name of a shipped one, or the path of a file
    #[arg(long, value_name = "NAME", help_heading = "Problem")]
    pub platform: Option<String>,
    /// Take other semantics: opencl, published-2023, published-2021 or resources
    #[arg(long, value_name = "NAME", help_heading = "Problem")]
    pub profile: Option<String>,
    /// Leave out a part of the profile resources
    #[arg(long, value_name = "PART", help_heading = "Problem")]
    pub without: Vec<String>,
    /// Take registers and spills from what a compiler printed: ptxas -v, a build with
    /// -cl-nv-verbose, or AMD's metadata; with NAME=VALUE,...: where parameters have these values
    #[arg(
        long = "compiler-log",
        alias = "report",
        value_name = "[NAME=VALUE,...:]FILE",
        help_heading = "Problem"
    )]
    reports: Vec<CompilerReport>,
    /// Inputs that are parameters instead.
    #[arg(skip)]
    pub over: Option<RuleSizes>,
    /// The source of the kernel, instead of the one that the file names.
    #[arg(skip)]
    pub source: Option<PathBuf>,
    /// The files that were read.
    #[arg(skip)]
    files: RefCell<Vec<PathBuf>>,
    /// What standard input had, which can be read once only.
    #[arg(skip)]
    piped: RefCell<Option<String>>,
}

impl Chosen {
    /// A problem file with inputs replaced.
    pub fn new(problem: &str, input: &[Setting]) -> Chosen {
        Chosen { problem: problem.to_owned(), input: input.to_vec(), ..Chosen::default() }
    }

    /// The files that the problem was read from, once it is: its own, its platform's, and those of
    /// its kernel.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.borrow().clone()
    }

    /// The folder that paths in the problem file count from.
    pub fn folder(&self) -> PathBuf {
        Path::new(&self.problem).parent().map(Path::to_path_buf).unwrap_or_default()
    }

    /// Reads the problem, with its kernel program: out of the source, where it names one.
    pub fn model(&self) -> Result<Problem, CliError> {
        Ok(self.attached(self.with_kernel()?)?.0)
    }

    /// The problem of which a kernel is known, before the kernel is read.
    fn with_kernel(&self) -> Result<Problem, CliError> {
        let (problem, without_program) = self.loaded()?;
        if problem.platform.name == t1::PLATFORM {
            return Err(CliError::Input(format!(
                "{}: a T1 file has no platform; add --platform NAME (`tickbound platforms` lists \
                 them)",
                self.problem
            )));
        }
        if let Some(why) = without_program {
            return Err(CliError::Input(format!(
                "{}: nothing is known of the run time: {why}; write the kernel in OpenCL C, or as \
                 a program in a \
                 problem file (docs/problem-format.md)",
                self.problem
            )));
        }
        Ok(problem)
    }

    /// As [`Chosen::model`], with what was read out of the source, for any platform.
    pub fn explained(&self) -> Result<(Problem, Option<KernelReading>), CliError> {
        self.attached(self.read()?)
    }

    /// The problem with its kernel program, and what was read out of the source.
    fn attached(&self, mut problem: Problem) -> Result<(Problem, Option<KernelReading>), CliError> {
        let reading = self.attach(&mut problem)?;
        Ok((problem, reading))
    }

    /// Puts in the kernel program, where the problem names a source, and the registers that
    /// compilers have reported.
    ///
    /// # Errors
    /// The source cannot be read, or a report is none of this kernel.
    pub fn attach(&self, problem: &mut Problem) -> Result<Option<KernelReading>, CliError> {
        self.attacher(setup()?).attach(problem)
    }

    /// What reads the kernel, also in other threads.
    pub fn attacher<'s>(&self, setup: ReaderSetup<'s>) -> Attacher<'s> {
        Attacher { folder: self.folder(), reports: self.reports.clone(), setup }
    }

    /// Reads the problem; the kernel program is empty if the file names a source. Platforms that
    /// the file names are looked up among the shipped ones, then as paths from the file's own
    /// folder.
    ///
    /// # Errors
    /// If the file cannot be read or is no valid problem.
    pub fn read(&self) -> Result<Problem, CliError> {
        Ok(self.loaded()?.0)
    }

    /// What `init` has guessed for this problem file, as it states itself.
    pub fn guesses(&self) -> Option<String> {
        let file: Value = serde_json::from_str(&self.text().ok()?).ok()?;
        let notes = file.get("notes")?.as_array()?.iter().filter_map(Value::as_str);
        notes.filter(|note| note.starts_with(tickbound_propose::GUESSES)).map(str::to_owned).next()
    }

    /// The problem file as it is.
    ///
    /// # Errors
    /// It cannot be read, or is no JSON.
    pub fn value(&self) -> Result<Value, CliError> {
        Ok(parse_json(&self.text()?)?)
    }

    /// The text of the problem file.
    fn text(&self) -> Result<String, CliError> {
        if let Some(text) = &*self.piped.borrow() {
            return Ok(text.clone());
        }
        let path = &self.problem;
        let text = tickbound_input::text(path)
            .map_err(|error| CliError::Read { path: path.clone(), error })?;
        if path == "-" {
            self.piped.replace(Some(text.clone()));
        }
        Ok(text)
    }

    /// The problem, and why it has no program if it is a T1 file whose kernel cannot be read.
    fn loaded(&self) -> Result<(Problem, Option<String>), CliError> {
        let path = &self.problem;
        let text = self.text()?;
        let of_file = |mut e: ModelError| {
            if !e.at.starts_with("--") {
                e.at = format!("{path}: {}", e.at);
            }
            CliError::from(e)
        };
        let mut value = parse_json(&text).map_err(|e| match is_source(path, &text) {
            true => CliError::Input(format!(
                "{path}: is the source of a kernel; `tickbound init {path}` proposes a problem \
                 file for it"
            )),
            false => of_file(e),
        })?;
        let mut without_program = None;
        if t1::is_t1(&value) {
            without_program = t1::without_program(&value);
            value = t1::read(&value).map_err(of_file)?;
        }
        if let Some(object) = value.as_object_mut() {
            self.replace_in(object)?;
        }
        let inputs = self.inputs(&value)?;
        let folder = self.folder();
        let mut read = vec![PathBuf::from(path)];
        let find = |name: &str| {
            let beside = Some(folder.join(name)).filter(|p| self.platform.is_none() && p.is_file());
            match beside {
                Some(p) if name.ends_with(".json") => platforms::find(&p.to_string_lossy()),
                _ => platforms::find(name),
            }
        };
        let mut problem = Problem::from_value(&value, &inputs, &find).map_err(of_file)?;
        inputs_as_macros(&mut problem, &folder);
        if let Some(name) = value.get("platform").and_then(Value::as_str) {
            read.extend(
                [folder.join(name), PathBuf::from(name)].into_iter().filter(|p| p.is_file()),
            );
        }
        // Those that cannot be read are missed where they are needed.
        read.extend(
            SourceFiles::read(&problem, &folder).map(|files| files.paths).unwrap_or_default(),
        );
        self.files.replace(read);
        Ok((problem, without_program))
    }

    /// Replaces what options name in a problem file.
    fn replace_in(&self, file: &mut serde_json::Map<String, Value>) -> Result<(), CliError> {
        if let Some(platform) = &self.platform {
            file.insert("platform".into(), platform.clone().into());
        }
        if let Some(profile) = &self.profile {
            file.insert("profile".into(), profile.clone().into());
        }
        if !self.without.is_empty() {
            file.insert("without".into(), self.without.clone().into());
        }
        if let Some(sizes) = &self.over {
            sizes.into_parameters(file)?;
        }
        let kernel = file.get_mut("kernel").and_then(Value::as_object_mut);
        if let (Some(source), Some(kernel)) = (&self.source, kernel) {
            // Paths of the file count from its folder, this one from the present folder.
            let path = std::path::absolute(source).unwrap_or_else(|_| source.clone());
            kernel.insert("opencl".into(), path.to_string_lossy().into());
        }
        Ok(())
    }

    /// Values of inputs: those of the size, then those given one by one.
    fn inputs(&self, value: &Value) -> Result<IndexMap<String, i64>, CliError> {
        let given = by_name("--input", &self.input)?;
        let Some(size) = &self.size else { return Ok(given) };
        let sizes = value.get("sizes").and_then(Value::as_object);
        let Some(set) = sizes.and_then(|sizes| sizes.get(size)).and_then(Value::as_object) else {
            let known: Vec<&str> =
                sizes.into_iter().flat_map(|s| s.keys()).map(String::as_str).collect();
            let fix = match known.is_empty() {
                true => "the problem has no `sizes`; use --input".to_owned(),
                false => format!("known here: {}", known.join(", ")),
            };
            let what = format!("there is no size `{size}`");
            return Err(ModelError::new("--size", what, fix).into());
        };
        // What is no number is found where the problem is read.
        let of_size = set.iter().filter_map(|(name, v)| Some((name.clone(), v.as_i64()?)));
        Ok(of_size.chain(given).collect())
    }
}

/// Puts kernel programs into problems.
pub struct Attacher<'s> {
    folder: PathBuf,
    reports: Vec<CompilerReport>,
    setup: ReaderSetup<'s>,
}

impl Attacher<'_> {
    /// As [`Chosen::attach`].
    pub fn attach(&self, problem: &mut Problem) -> Result<Option<KernelReading>, CliError> {
        let reading = match problem.source {
            Some(_) => attach_with(problem, &self.folder, &self.setup)?,
            None => None,
        };
        self.reports.iter().try_for_each(|report| report.put_into(problem))?;
        Ok(reading)
    }
}

/// A problem of which parameters may be fixed.
#[derive(Debug, Clone, clap::Args)]
pub struct Question {
    #[command(flatten)]
    pub chosen: Chosen,
    /// Fix a parameter
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = "Problem")]
    set: Vec<Setting>,
}

impl Question {
    /// The problem as [`Chosen::model`] reads it, with the parameters fixed. They are fixed first,
    /// so that the kernel is read for fewer configurations.
    pub fn problem(&self) -> Result<Problem, CliError> {
        Ok(self.with_reading()?.0)
    }

    /// The same, with what was read out of the source.
    pub fn with_reading(&self) -> Result<(Problem, Option<KernelReading>), CliError> {
        self.chosen.attached(self.unread()?)
    }

    /// The problem with the parameters fixed, before its kernel is read.
    pub fn unread(&self) -> Result<Problem, CliError> {
        self.fixed(self.chosen.with_kernel()?)
    }

    /// Whether parameters are fixed.
    pub fn is_fixed(&self) -> bool {
        !self.set.is_empty()
    }

    /// The problem as [`Chosen::read`] reads it, with the parameters fixed.
    pub fn read(&self) -> Result<Problem, CliError> {
        self.fixed(self.chosen.read()?)
    }

    /// The problem with a configuration of it alone, which is read in a fraction of the time. A
    /// stop does not end this.
    pub fn only(&self, configuration: &Configuration) -> Result<Problem, CliError> {
        let mut problem = self.chosen.with_kernel()?;
        let values = problem.parameters.iter().map(|p| p.name.clone()).zip(&configuration.0);
        let all: Vec<_> = values.map(|(name, value)| Setting { name, value: *value }).collect();
        fix(&mut problem, &all)?;
        let ReaderSetup { kept, child, .. } = setup()?;
        let unstoppable = ReaderSetup { kept, child, ..ReaderSetup::default() };
        self.chosen.attacher(unstoppable).attach(&mut problem)?;
        Ok(problem)
    }

    /// How many parameters are fixed; the last this many constraints of the problem do that.
    pub fn fixed_parameters(&self) -> usize {
        self.set.len()
    }

    /// The same question with an input or a platform number replaced.
    pub fn with_input(&self, name: &str, value: i64) -> Question {
        let mut other = self.clone();
        other.chosen.input.retain(|setting| setting.name != name);
        other.chosen.input.push(Setting { name: name.to_owned(), value });
        other
    }

    fn fixed(&self, mut problem: Problem) -> Result<Problem, CliError> {
        fix(&mut problem, &self.set)?;
        Ok(problem)
    }
}

/// Fixes parameters by constraints.
fn fix(problem: &mut Problem, settings: &[Setting]) -> Result<(), CliError> {
    for (name, value) in by_name("--set", settings)? {
        let p = place_of(problem, "--set", &name)?;
        problem.check_value(p, value)?;
        let slot = Expr::Name(problem.first_parameter() + p);
        let expr = Expr::Binary(BinaryOp::Eq, Box::new(slot), Box::new(Expr::Int(value)));
        problem.constraints.push(SpaceConstraint { text: format!("{name} == {value}"), expr });
    }
    Ok(())
}
