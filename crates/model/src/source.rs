//! A kernel in OpenCL C: where its source is, how it is compiled, and what it is called with.
//!
//! A problem whose `kernel` is an object instead of a list of statements names a source file. What
//! is said here is enough to read the source (the crate `tickbound-opencl` makes a kernel program
//! of it) and to run it on a device: macros, arguments with their first content, the host
//! reference that says what is right. Nothing here opens a file.

use std::fmt;

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_input::message::suggest;

use super::error::ModelError;
use super::json::{Field, Object};
use super::scope::{Scope, is_identifier};
use tickbound_expr::{EvalError, Expr};
use tickbound_input::named::Named;

/// A kernel in OpenCL C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSource {
    /// The source file, as the problem file gives it: relative to the problem file.
    pub path: String,
    /// Further source files, which follow the first one as if all were one file.
    pub more: Vec<String>,
    /// Folders for `#include`, relative to the problem file, besides that of the first source file.
    pub include: Vec<String>,
    /// The kernel function.
    pub entry: String,
    /// The language's version.
    pub standard: Standard,
    /// Macros given to the compiler, in order.
    pub defines: Vec<(String, Define)>,
    /// The kernel's arguments, in order.
    pub arguments: Vec<Argument>,
    /// The C file with the host reference, relative to the problem file.
    pub reference: Option<String>,
    /// What floating-point outputs may be wrong by.
    pub tolerance: Tolerance,
    /// Bytes that the kernel must at least move, for bytes a second in reports.
    pub bytes: Option<Expr>,
    /// Operations of the task, for operations a second in reports.
    pub operations: Option<Expr>,
    /// For loops that cannot be read: their most iterations.
    pub bounds: Vec<(Asked, Expr)>,
    /// For branches that depend on data: which side counts.
    pub branches: Vec<(Asked, Side)>,
}

/// Greatest allowed `|got - expected| / max(1, |expected|)` of floating-point outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tolerance {
    /// In units of 1e-12, for each term.
    pub units: u64,
    /// How many terms an output is the sum of, where the tolerance grows with them: the rounding
    /// error of a sum has a bound that is proportional to its length (Higham, Accuracy and
    /// Stability of Numerical Algorithms, section 4.2).
    pub terms: Option<Expr>,
}

impl Tolerance {
    /// The tolerance of a configuration, for the values of all names.
    ///
    /// # Errors
    /// The number of terms has no value.
    pub fn at(&self, env: &[i64]) -> Result<f64, EvalError> {
        let terms = self.terms.as_ref().map_or(Ok(1), |terms| terms.eval(env))?;
        Ok(self.units as f64 * 1e-12 * terms.max(0) as f64)
    }
}

/// Which loops or branches of the source an answer is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Those in a line of the kernel's file, written `line 14`.
    Line(u32),
    /// Those in a function, written `reduce`; or those with a condition, written `reduce: x > 0`;
    /// or the second of these, written `reduce: x > 0 #2`.
    Function {
        /// The function.
        name: String,
        /// The condition, as messages write it.
        condition: Option<String>,
        /// Which of several with this condition, from 1; absent: all of them.
        place: Option<u32>,
    },
}

impl Asked {
    /// Reads `line 14`, `reduce`, `reduce: x > 0` or `reduce: x > 0 #2`; `None` for anything else.
    pub fn read(text: &str) -> Option<Asked> {
        if let Some(line) = text.strip_prefix("line ") {
            return line.trim().parse().ok().map(Asked::Line);
        }
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest.trim())),
            None => (text, None),
        };
        let numbered = rest.and_then(|rest| rest.rsplit_once('#'));
        let (condition, place) = match numbered.map(|(c, n)| (c.trim(), n.trim().parse())) {
            Some((condition, Ok(place))) if place > 0 => (Some(condition), Some(place)),
            _ => (rest, None),
        };
        let known = is_identifier(name) && condition.is_none_or(|c| !c.is_empty());
        let (name, condition) = (name.to_owned(), condition.map(str::to_owned));
        known.then_some(Asked::Function { name, condition, place })
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Line(line) => write!(f, "line {line}"),
            Asked::Function { name, condition, place } => {
                write!(f, "{name}")?;
                condition.iter().try_for_each(|condition| write!(f, ": {condition}"))?;
                place.iter().try_for_each(|place| write!(f, " #{place}"))
            }
        }
    }
}

tickbound_input::named! {
    /// Version of OpenCL C, called as compilers call it after `-cl-std=`.
    pub enum Standard {
        /// OpenCL C 1.2.
        Cl12 = "CL1.2",
        /// OpenCL C 3.0.
        Cl30 = "CL3.0",
    }
}

/// The value of a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Define {
    /// A number, which may differ between configurations.
    Number(Expr),
    /// Text that is the same for all configurations.
    Text(String),
}

tickbound_input::named! {
    /// Which side of a branch counts.
    pub enum Side {
        /// The condition holds.
        Then = "then",
        /// The condition does not hold.
        Else = "else",
        /// Both, one after the other, as items in lockstep do that disagree.
        Both = "both",
    }
}

tickbound_input::named! {
    /// Element type of a buffer, or type of a scalar, called as in OpenCL C.
    pub enum ElementType {
        /// 8 bits, signed.
        Char = "char",
        /// 8 bits, unsigned.
        Uchar = "uchar",
        /// 16 bits, signed.
        Short = "short",
        /// 16 bits, unsigned.
        Ushort = "ushort",
        /// 32 bits, signed.
        Int = "int",
        /// 32 bits, unsigned.
        Uint = "uint",
        /// 64 bits, signed.
        Long = "long",
        /// 64 bits, unsigned.
        Ulong = "ulong",
        /// 32 bits, IEEE.
        Float = "float",
        /// 64 bits, IEEE.
        Double = "double",
    }
}

impl ElementType {
    /// Its size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            ElementType::Char | ElementType::Uchar => 1,
            ElementType::Short | ElementType::Ushort => 2,
            ElementType::Int | ElementType::Uint | ElementType::Float => 4,
            ElementType::Long | ElementType::Ulong | ElementType::Double => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_real(self) -> bool {
        matches!(self, ElementType::Float | ElementType::Double)
    }
}

/// An argument of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name, which need not be the parameter's name in the source.
    pub name: String,
    /// Its type, or that of its elements.
    pub element: ElementType,
    /// What is passed.
    pub kind: ArgumentKind,
}

/// What is passed as an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A buffer in global or constant memory.
    Buffer {
        /// Elements.
        length: Expr,
        /// First content.
        fill: Fill,
        /// Whether the kernel's result is in it.
        output: bool,
    },
    /// Local memory.
    Local {
        /// Elements.
        length: Expr,
    },
    /// A vector or a structure by value.
    Whole {
        /// Its elements.
        length: Expr,
        /// What they are.
        fill: Fill,
    },
    /// A whole number by value.
    Scalar(Expr),
    /// A real number by value, as it was written.
    Real(String),
}

/// First content of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fill {
    /// The same number everywhere.
    Constant(Expr),
    /// Element i is i.
    Index,
    /// Pseudo-random numbers, always the same ones for the same name and length: whole ones from
    /// `low` to `high`, or real ones from `low` to below `high`.
    Random {
        /// The least.
        low: Expr,
        /// The greatest.
        high: Expr,
    },
}

/// Default of [`KernelSource::tolerance`]: 1e-5.
const TOLERANCE: Tolerance = Tolerance { units: 10_000_000, terms: None };

impl KernelSource {
    /// Reads the object; `scope` has inputs, platform, parameters and definitions.
    ///
    /// # Errors
    /// An unknown, missing or impossible field.
    pub(crate) fn read(
        field: &Field<'_>,
        scope: &Scope,
        parameters: &[&str],
    ) -> Result<KernelSource, ModelError> {
        let mut object = field.clone().object()?;
        let text = |f: Field<'_>| f.text().map(str::to_owned);
        let expr = |f: Field<'_>| scope.expression(&f.path, &f.expression()?);
        let (path, more) = read_files(&object.need("opencl", "the path of the source file")?)?;
        let source = KernelSource {
            path,
            more,
            include: object.take("include").map_or(Ok(Vec::new()), |f| read_texts(&f))?,
            entry: read_entry(&object.need("entry", "the name of the kernel function")?)?,
            standard: object
                .take("standard")
                .map_or(Ok(Standard::Cl12), |f| one_of(&f, "standard"))?,
            defines: read_defines(object.take("defines"), scope, parameters)?,
            arguments: object
                .take("arguments")
                .map_or(Ok(Vec::new()), |f| read_arguments(&f, scope))?,
            reference: object.take("reference").map(text).transpose()?,
            tolerance: object
                .take("tolerance")
                .map_or(Ok(TOLERANCE), |f| read_tolerance(&f, scope))?,
            bytes: object.take("bytes").map(expr).transpose()?,
            operations: object.take("operations").map(expr).transpose()?,
            bounds: read_answers(object.take("bounds"), |f| expr(f.clone()))?,
            branches: read_answers(object.take("branches"), |f| one_of(f, "side"))?,
        };
        object.finish()?;
        Ok(source)
    }
}

/// One source file, or several in order.
fn read_files(field: &Field<'_>) -> Result<(String, Vec<String>), ModelError> {
    if field.value.is_string() {
        return Ok((field.text()?.to_owned(), Vec::new()));
    }
    let mut all = read_texts(field)?.into_iter();
    let first = all.next().ok_or_else(|| field.expected("at least one path of a source file"))?;
    Ok((first, all.collect()))
}

fn read_texts(field: &Field<'_>) -> Result<Vec<String>, ModelError> {
    field.array()?.iter().map(|f| f.text().map(str::to_owned)).collect()
}

/// The value that the field names.
fn one_of<T: Named>(field: &Field<'_>, what: &str) -> Result<T, ModelError> {
    let text = field.text()?;
    T::find(text).ok_or_else(|| unknown(field, what, text, T::VALUES.iter().map(|v| v.name())))
}

fn unknown<'k>(
    field: &Field<'_>,
    what: &str,
    text: &str,
    known: impl Iterator<Item = &'k str>,
) -> ModelError {
    ModelError::new(&field.path, format!("unknown {what} `{text}`"), suggest(text, known))
}

/// A number, or an object with a number for each term and how many terms there are.
fn read_tolerance(field: &Field<'_>, scope: &Scope) -> Result<Tolerance, ModelError> {
    if !field.value.is_object() {
        return Ok(Tolerance { units: read_part_of_one(field)?, terms: None });
    }
    let mut object = field.clone().object()?;
    let units = read_part_of_one(&object.need("per_term", "what each term may be wrong by")?)?;
    let terms = object.need("terms", "how many terms an output is the sum of")?;
    let terms = scope.expression(&terms.path, &terms.expression()?)?;
    object.finish()?;
    Ok(Tolerance { units, terms: Some(terms) })
}

/// A real number from 0 to 1, in units of 1e-12.
fn read_part_of_one(field: &Field<'_>) -> Result<u64, ModelError> {
    let value = field.value.as_f64().filter(|v| (0.0..=1.0).contains(v));
    value
        .map(|v| (v * 1e12).round() as u64)
        .ok_or_else(|| field.expected("a number from 0 to 1, such as 1e-5"))
}

fn read_defines(
    field: Option<Field<'_>>,
    scope: &Scope,
    parameters: &[&str],
) -> Result<Vec<(String, Define)>, ModelError> {
    let of_parameter = |name: &&str| {
        let value = scope.expression("kernel.defines", name)?;
        Ok(((*name).to_owned(), Define::Number(value)))
    };
    let mut defines: IndexMap<String, Define> =
        parameters.iter().map(of_parameter).collect::<Result<_, ModelError>>()?;
    let Some(field) = field else { return Ok(defines.into_iter().collect()) };
    let object = field.object()?;
    let read = |value: &Field<'_>| match value.value {
        Value::Object(_) => {
            let mut object = value.clone().object()?;
            let text = object.need("text", "the macro's text")?.text()?.to_owned();
            object.finish()?;
            Ok(Define::Text(text))
        }
        _ => Ok(Define::Number(scope.expression(&value.path, &value.expression()?)?)),
    };
    for (name, value) in object.entries() {
        check_identifier(&value.path, name)?;
        defines.insert(name.to_owned(), read(&value)?);
    }
    Ok(defines.into_iter().collect())
}

/// A name of C: file names and texts of C are made of it.
fn read_entry(field: &Field<'_>) -> Result<String, ModelError> {
    let name = field.text()?;
    check_identifier(&field.path, name)?;
    Ok(name.to_owned())
}

fn check_identifier(at: &str, name: &str) -> Result<(), ModelError> {
    if is_identifier(name) {
        return Ok(());
    }
    Err(ModelError::new(at, format!("`{name}` is no name in C"), "use letters, digits and `_`"))
}

fn read_arguments(field: &Field<'_>, scope: &Scope) -> Result<Vec<Argument>, ModelError> {
    let arguments = field.array()?;
    let arguments: Vec<Argument> =
        arguments.iter().map(|f| read_argument(f, scope)).collect::<Result<_, _>>()?;
    for (i, argument) in arguments.iter().enumerate() {
        if arguments[..i].iter().any(|other| other.name == argument.name) {
            return Err(ModelError::new(
                format!("{}[{i}].name", field.path),
                format!("`{}` is already the name of an argument", argument.name),
                "rename one of them",
            ));
        }
    }
    Ok(arguments)
}

fn read_argument(field: &Field<'_>, scope: &Scope) -> Result<Argument, ModelError> {
    let mut object = field.clone().object()?;
    let name = object.need("name", "the argument's name")?;
    check_identifier(&name.path, name.text()?)?;
    let element =
        one_of(&object.need("type", "the type of the argument or of its elements")?, "type")?;
    let kind = read_argument_kind(field, &mut object, element, scope)?;
    object.finish()?;
    Ok(Argument { name: name.text()?.to_owned(), element, kind })
}

fn read_argument_kind(
    field: &Field<'_>,
    object: &mut Object<'_>,
    element: ElementType,
    scope: &Scope,
) -> Result<ArgumentKind, ModelError> {
    let expr = |f: Field<'_>| scope.expression(&f.path, &f.expression()?);
    if let Some(value) = object.take("value") {
        return Ok(ArgumentKind::Scalar(expr(value)?));
    }
    if let Some(value) = object.take("real") {
        let number = value.value.as_number().filter(|_| element.is_real());
        return number
            .map(|n| ArgumentKind::Real(n.to_string()))
            .ok_or_else(|| value.expected("a number, for a float or a double"));
    }
    let Some(length) = object.take("length") else {
        return Err(ModelError::new(
            &field.path,
            "neither a buffer nor a scalar",
            "add \"length\" (elements of a buffer) or \"value\" (of a scalar)",
        ));
    };
    let length = expr(length)?;
    let space = object.take("space");
    let known = space.as_ref().map(|space| Ok((space, space.text()?))).transpose()?;
    match known {
        Some((_, "local")) => return Ok(ArgumentKind::Local { length }),
        None | Some((_, "private")) => {}
        Some((space, text)) => {
            return Err(unknown(space, "space", text, ["local", "private"].into_iter()));
        }
    }
    let fill = match object.take("fill") {
        Some(fill) => read_fill(&fill, scope)?,
        None => Fill::Constant(Expr::Int(0)),
    };
    if known.is_some() {
        return Ok(ArgumentKind::Whole { length, fill });
    }
    let output = match object.take("output") {
        Some(f) => f.value.as_bool().ok_or_else(|| f.expected("true or false"))?,
        None => false,
    };
    Ok(ArgumentKind::Buffer { length, fill, output })
}

fn read_fill(field: &Field<'_>, scope: &Scope) -> Result<Fill, ModelError> {
    if field.value.is_object() {
        let mut object = field.clone().object()?;
        let bounds = object.need("random", "the least and the greatest number, [low, high]")?;
        object.finish()?;
        let [low, high] = &bounds.array()?[..] else {
            return Err(bounds.expected("the least and the greatest number, [low, high]"));
        };
        let expr = |f: &Field<'_>| scope.expression(&f.path, &f.expression()?);
        return Ok(Fill::Random { low: expr(low)?, high: expr(high)? });
    }
    if field.value.as_str() == Some("index") {
        return Ok(Fill::Index);
    }
    Ok(Fill::Constant(scope.expression(&field.path, &field.expression()?)?))
}

/// Entries for loops or branches.
fn read_answers<T>(
    field: Option<Field<'_>>,
    read: impl Fn(&Field<'_>) -> Result<T, ModelError>,
) -> Result<Vec<(Asked, T)>, ModelError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    let object = field.object()?;
    object
        .entries()
        .map(|(key, value)| {
            let asked = Asked::read(key).ok_or_else(|| {
                ModelError::new(
                    &value.path,
                    format!("`{key}` is no place in the source"),
                    "write \"line N\", \"FUNCTION\" or \"FUNCTION: CONDITION\"",
                )
            })?;
            Ok((asked, read(&value)?))
        })
        .collect()
}
