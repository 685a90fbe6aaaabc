//! Reading of a kernel in OpenCL C from JSON: its files, macros, arguments and answers.

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_input::message::suggest;
use tickbound_input::named::Named;

use crate::error::ModelError;
use crate::json::{Field, Object};
use crate::scope::{Scope, is_identifier};
use crate::source::{
    ArgumentKind, Define, ElementType, Fill, KernelArgument, KernelSource, QuestionKey, Standard,
    Tolerance,
};
use tickbound_expr::Expr;

/// The language of sources that name none.
const OPENCL: &str = "opencl";

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
            standard: read_standard(object.take("language"), object.take("standard"))?,
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

/// The language, and of OpenCL C its version.
fn read_standard(
    language: Option<Field<'_>>,
    version: Option<Field<'_>>,
) -> Result<Standard, ModelError> {
    let read = |field: Field<'_>, what, cuda: bool| {
        let text = field.text()?;
        let known = Standard::VALUES.iter().filter(|s| s.is_cuda() == cuda).map(|s| s.name());
        let found = Standard::find(text).filter(|standard| standard.is_cuda() == cuda);
        let known = known.chain(cuda.then_some(OPENCL));
        found.ok_or_else(|| unknown(&field, what, text, known))
    };
    match (language, version) {
        (Some(language), version) if language.value != OPENCL => {
            let what = "is for OpenCL C alone";
            let at = version.map(|version| ModelError::new(&version.path, what, "remove it"));
            at.map_or_else(|| read(language, "language", true), Err)
        }
        (_, version) => version.map_or(Ok(Standard::Cl12), |f| read(f, "standard", false)),
    }
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
        let define = read(&value)?;
        // A text may be of a macro with arguments: `MAX(a,b)`.
        let all = name.strip_suffix(')').filter(|_| matches!(define, Define::Text(_)));
        let parts = all.and_then(|all| all.split_once('(')).unwrap_or((name, ""));
        let arguments = parts.1.split(',').filter(|_| !parts.1.is_empty());
        for part in std::iter::once(parts.0).chain(arguments) {
            check_identifier(&value.path, part)?;
        }
        defines.insert(name.to_owned(), define);
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

fn read_arguments(field: &Field<'_>, scope: &Scope) -> Result<Vec<KernelArgument>, ModelError> {
    let arguments = field.array()?;
    let arguments: Vec<KernelArgument> =
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

fn read_argument(field: &Field<'_>, scope: &Scope) -> Result<KernelArgument, ModelError> {
    let mut object = field.clone().object()?;
    let name = object.need("name", "the argument's name")?;
    check_identifier(&name.path, name.text()?)?;
    let element =
        one_of(&object.need("type", "the type of the argument or of its elements")?, "type")?;
    let image = read_image(&mut object, scope)?;
    let kind = read_argument_kind(field, &mut object, (element, &image), scope)?;
    object.finish()?;
    Ok(KernelArgument { name: name.text()?.to_owned(), element, kind, image })
}

/// Components of a texel.
const COMPONENTS: i64 = 4;

/// The sizes of an image; none for any other argument.
fn read_image(object: &mut Object<'_>, scope: &Scope) -> Result<Vec<Expr>, ModelError> {
    let Some(field) = object.take("image") else { return Ok(Vec::new()) };
    let sizes = field.array()?;
    if !(1..=3).contains(&sizes.len()) {
        return Err(
            field.expected("the texels in each of one to three dimensions, [width, height]")
        );
    }
    sizes.iter().map(|f| scope.expression(&f.path, &f.expression()?)).collect()
}

fn read_argument_kind(
    field: &Field<'_>,
    object: &mut Object<'_>,
    (element, image): (ElementType, &[Expr]),
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
    let length = match object.take("length") {
        _ if !image.is_empty() => image.iter().fold(Expr::Int(COMPONENTS), |all, n| all * n),
        Some(length) => expr(length)?,
        None => {
            return Err(ModelError::new(
                &field.path,
                "neither a buffer nor a scalar",
                "add \"length\" (elements of a buffer) or \"value\" (of a scalar)",
            ));
        }
    };
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
) -> Result<Vec<(QuestionKey, T)>, ModelError> {
    let Some(field) = field else { return Ok(Vec::new()) };
    let object = field.object()?;
    object
        .entries()
        .map(|(key, value)| {
            let asked = QuestionKey::read(key).ok_or_else(|| {
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
