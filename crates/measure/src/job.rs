//! What is run: source, macros, arguments and launch, worked out for one configuration.
//!
//! A [`Job`] is plain data that states everything a device needs, so that it can be sent to another
//! process, and equal jobs are the same measurement: a cache keeps [`Job::fingerprint`].

use std::fmt::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tickbound_expr::Expr;
use tickbound_model::source::{
    ArgumentKind, Define, ElementType, Fill, KernelArgument as Asked, Tolerance,
};
use tickbound_model::{Bound, Problem};

use super::data::{self, Content};
use super::error::MeasureError;
use super::files::{Code, SourceFiles, source_of};
use super::sample::SampleRule;

/// What is run, for one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The source.
    pub code: Code,
    /// Macros and their texts.
    pub defines: Vec<(String, String)>,
    /// The kernel's arguments, in order.
    pub arguments: Vec<JobArgument>,
    /// Global and local size of each dimension.
    pub grid: Vec<[usize; 2]>,
    /// Greatest allowed `|got - expected| / max(1, |expected|)` of floating-point outputs.
    pub tolerance: f64,
    /// A file with the bytes of all outputs as they should be, in sequence.
    pub expected: Option<PathBuf>,
    /// A file with the program as the device's driver has compiled it.
    pub binary: Option<PathBuf>,
    /// Seconds of the first run above which no other is made.
    pub cutoff: Option<f64>,
    /// Before each run caches are emptied, of this many bytes by the platform; 0 if it states none.
    pub flush: Option<u64>,
    /// When to stop repeating.
    pub rule: SampleRule,
}

/// An argument of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobArgument {
    /// A buffer.
    Buffer(BufferArgument),
    /// Local memory of this many bytes.
    Local(usize),
    /// A value, as the bytes that it has on this machine.
    Value(Vec<u8>),
}

/// A buffer in the device's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferArgument {
    /// Its name, which its random numbers depend on.
    pub name: String,
    /// The type of its elements.
    #[serde(with = "element")]
    pub element: ElementType,
    /// How many there are.
    pub length: usize,
    /// What is in it before each run.
    pub content: Content,
    /// Whether the kernel's result is in it.
    pub output: bool,
    /// Of an image, its texels in each dimension, four elements each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub image: Vec<usize>,
}

impl BufferArgument {
    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.length * self.element.bytes()
    }
}

/// Element types travel by their names.
mod element {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use tickbound_model::source::ElementType;

    pub fn serialize<S: Serializer>(element: &ElementType, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(element.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<ElementType, D::Error> {
        let name = String::deserialize(d)?;
        let found = ElementType::ALL.into_iter().find(|e| e.name() == name);
        found.ok_or_else(|| D::Error::custom(format!("no element type `{name}`")))
    }
}

impl Job {
    /// The job of one configuration.
    ///
    /// # Errors
    /// An expression without a value, a number that does not fit its type, a length below 0.
    pub fn new(problem: &Problem, files: &SourceFiles, bound: &Bound) -> Result<Job, MeasureError> {
        let source = source_of(problem)?;
        let scope = Values { env: &bound.env };
        let defines = source.defines.iter().map(|(name, define)| {
            let text = match define {
                Define::Number(e) => {
                    scope.number(&format!("kernel.defines.{name}"), e)?.to_string()
                }
                Define::Text(text) => text.clone(),
            };
            Ok((name.clone(), text))
        });
        let arguments = source.arguments.iter().enumerate();
        let grid = problem.grid_sizes(&bound.env)?;
        Ok(Job {
            code: files.code.clone(),
            defines: defines.collect::<Result<_, MeasureError>>()?,
            arguments: arguments.map(|(i, a)| scope.argument(i, a)).collect::<Result<_, _>>()?,
            // The space has only sizes of at least 1.
            grid: grid.iter().map(|d| d.map(|n| usize::try_from(n).unwrap_or(0))).collect(),
            tolerance: scope.tolerance(&source.tolerance)?,
            expected: None,
            binary: None,
            cutoff: None,
            flush: None,
            rule: SampleRule::default(),
        })
    }

    /// The program's text: macros, then the source from its line 1.
    ///
    /// The macros are lines of the text and no options `-D`, because drivers do not agree on how a
    /// value with blanks is written as an option.
    pub fn program(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.defines {
            let _ = writeln!(text, "#define {name} {}", value.replace(['\n', '\r'], " "));
        }
        text + "#line 1\n" + &self.code.text
    }

    /// The buffers, in order.
    pub fn buffers(&self) -> impl Iterator<Item = &BufferArgument> {
        self.arguments.iter().filter_map(|argument| match argument {
            JobArgument::Buffer(buffer) => Some(buffer),
            _ => None,
        })
    }

    /// Whether a buffer is an image.
    pub fn has_images(&self) -> bool {
        self.buffers().any(|buffer| !buffer.image.is_empty())
    }

    /// Options of the compiler: with images, the types of parameters are kept.
    pub fn options(&self) -> String {
        let types = if self.has_images() { " -cl-kernel-arg-info" } else { "" };
        format!("{}{types}", self.code.options)
    }

    /// The buffers with results, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &BufferArgument> {
        self.buffers().filter(|buffer| buffer.output)
    }

    /// A hash of all that decides what is measured: the source, what it includes, the reference,
    /// and all else about this configuration except the places of files. 32 hexadecimal digits,
    /// 128-bit FNV-1a; the same for all versions that measure the same way.
    pub fn fingerprint(&self, files: &SourceFiles) -> String {
        let reference = files.reference.as_ref().map(|(_, text)| text);
        let mut said = vec![serde_json::json!([
            self.code.text,
            self.code.entry,
            self.code.options,
            self.defines,
            self.arguments,
            self.grid,
            self.tolerance,
            files.included,
            reference,
        ])];
        said.extend(self.flush.map(|_| "empty caches".into()));
        let said = said.iter().map(serde_json::Value::to_string).collect::<String>();
        let prime: u128 = 0x0100_0000_0000_0000_0000_013b;
        let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(prime);
        let hash = said.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, step);
        format!("{hash:032x}")
    }
}

fn fits(at: &str, result: Result<(), data::DataError>) -> Result<(), MeasureError> {
    result.map_err(|why| MeasureError::Number(at.to_owned(), why.to_string()))
}

/// Where expressions get their values.
struct Values<'a> {
    env: &'a [i64],
}

/// What is passed for a buffer that is not there.
const NULL: [u8; size_of::<usize>()] = [0; size_of::<usize>()];

impl Values<'_> {
    fn number(&self, at: &str, expr: &Expr) -> Result<i64, MeasureError> {
        expr.eval(self.env).map_err(|e| MeasureError::Number(at.to_owned(), e.to_string()))
    }

    fn tolerance(&self, tolerance: &Tolerance) -> Result<f64, MeasureError> {
        let at = "kernel.tolerance.terms".to_owned();
        tolerance.at(self.env).map_err(|e| MeasureError::Number(at, e.to_string()))
    }

    fn argument(&self, index: usize, asked: &Asked) -> Result<JobArgument, MeasureError> {
        let at = |field: &str| format!("kernel.arguments[{index}].{field}");
        let element = asked.element;
        Ok(match &asked.kind {
            _ if !asked.image.is_empty() && element.bytes() > 4 => {
                let why = format!("no image has components of type {}", element.name());
                return Err(MeasureError::Number(at("type"), why));
            }
            ArgumentKind::Scalar(e) => {
                let value = self.number(&at("value"), e)?;
                fits(&at("value"), Content::Constant(value).check(element))?;
                JobArgument::Value(data::scalar(element, value))
            }
            ArgumentKind::Real(text) => {
                let fault = |_| MeasureError::Number(at("real"), format!("`{text}` is no number"));
                JobArgument::Value(data::real(element, text.parse().map_err(fault)?))
            }
            ArgumentKind::Local { length } => {
                JobArgument::Local(self.length(&at("length"), length, element)? * element.bytes())
            }
            ArgumentKind::Whole { length, fill } => {
                let length = self.length(&at("length"), length, element)?;
                let content = self.content(&at("fill"), fill, element)?;
                let bytes = content.bytes(&asked.name, element, length);
                let fault = |why: data::DataError| MeasureError::Number(at("length"), why.0);
                JobArgument::Value(bytes.map_err(fault)?)
            }
            ArgumentKind::Buffer { length, fill, output } => {
                let length = self.length(&at("length"), length, element)?;
                let content = self.content(&at("fill"), fill, element)?;
                let image = asked.image.iter().map(|e| self.length(&at("image"), e, element));
                let (name, image) = (asked.name.clone(), image.collect::<Result<_, _>>()?);
                let output = *output;
                match length == 0 && !output {
                    true => JobArgument::Value(NULL.to_vec()),
                    false => JobArgument::Buffer(BufferArgument {
                        name,
                        element,
                        length,
                        content,
                        output,
                        image,
                    }),
                }
            }
        })
    }

    /// What a buffer is filled with, if its elements can hold it.
    fn content(
        &self,
        at: &str,
        fill: &Fill,
        element: ElementType,
    ) -> Result<Content, MeasureError> {
        let number = |e| self.number(at, e);
        let content = match fill {
            Fill::Constant(e) => Content::Constant(number(e)?),
            Fill::Index => Content::Index,
            Fill::Random { low, high } => Content::Random(number(low)?, number(high)?),
        };
        fits(at, content.check(element)).map(|()| content)
    }

    fn length(&self, at: &str, e: &Expr, element: ElementType) -> Result<usize, MeasureError> {
        let length = self.number(at, e)?;
        let bytes = usize::try_from(length).ok().and_then(|n| n.checked_mul(element.bytes()));
        match bytes {
            Some(bytes) if bytes <= isize::MAX as usize => Ok(length as usize),
            _ => {
                let why = format!("{length} elements of type {}", element.name());
                Err(MeasureError::Number(at.to_owned(), why))
            }
        }
    }
}
