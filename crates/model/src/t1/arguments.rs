//! The kernel of a T1 file.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::text::expression;
use crate::ModelError;
use crate::json::Field;
use crate::source::ElementType;

/// The `kernel` of the problem: its source if it is in OpenCL C, else a program without statements.
/// `parameters` are those of the space, which are macros in the source.
pub(super) fn kernel(kernel: &Value, parameters: &Map<String, Value>) -> Result<Value, ModelError> {
    let text = |key: &str| kernel.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (Some(file), Some(entry)) = (text("KernelFile"), text("KernelName")) else {
        return Ok(json!([]));
    };
    if !is_opencl(kernel) {
        return Ok(json!([]));
    }
    let mut arguments = Vec::new();
    if let Some(list) = kernel.get("Arguments") {
        let mut fields = Field::new("KernelSpecification.Arguments", list).array()?;
        fields.sort_by_key(|field| field.value.get("Order").and_then(Value::as_i64));
        for (place, field) in fields.iter().enumerate() {
            arguments.push(argument(place, field)?);
        }
    }
    let mut read = json!({ "opencl": file, "entry": entry, "arguments": arguments });
    compile(kernel, parameters, &mut read)?;
    Ok(read)
}

/// Takes version, folders and macros out of the compiler's options; no other changes what is read.
fn compile(
    kernel: &Value,
    parameters: &Map<String, Value>,
    read: &mut Value,
) -> Result<(), ModelError> {
    let words = words(kernel.get("CompilerOptions").unwrap_or(&Value::Null));
    let CompilerOptions { standard, defines, include, .. } =
        options(words, "KernelSpecification.CompilerOptions")?;
    if let Some(standard) = standard {
        read["standard"] = standard.into();
    }
    if !include.is_empty() {
        read["include"] = include.into();
    }
    if !defines.is_empty() {
        let own = parameters.keys().map(|name| (name.clone(), name.clone().into()));
        let macros = defines.into_iter().map(|(name, text)| (name, json!({ "text": text })));
        read["defines"] = own.chain(macros).collect::<Map<_, _>>().into();
    }
    Ok(())
}

/// What options of a compiler of OpenCL C say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompilerOptions {
    /// The language's version, as `-cl-std=` names it.
    pub standard: Option<String>,
    /// Macros and their text.
    pub defines: IndexMap<String, String>,
    /// Folders for `#include`.
    pub include: Vec<String>,
    /// All others.
    pub others: Vec<String>,
}

impl CompilerOptions {
    /// Reads options as a shell takes them; `at` is where they come from.
    ///
    /// # Errors
    /// Nothing follows `-D`, `-U` or `-I`.
    pub fn from_text(text: &str, at: &str) -> Result<CompilerOptions, ModelError> {
        options(shell_words(text), at)
    }
}

fn options(words: Vec<String>, at: &str) -> Result<CompilerOptions, ModelError> {
    let mut read = CompilerOptions::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if let Some(standard) = word.strip_prefix("-cl-std=") {
            read.standard = Some(standard.to_owned());
            continue;
        }
        if word == "-include" {
            let fix = "write `#include` into the source";
            return Err(ModelError::new(at, "-include is not read", fix));
        }
        let Some(option @ ("-D" | "-U" | "-I")) = word.get(..2) else {
            read.others.push(word);
            continue;
        };
        // What an option is about may be the next word.
        let own = word[2..].trim_start();
        let of = if own.is_empty() { words.next().unwrap_or_default() } else { own.to_owned() };
        if of.is_empty() {
            let what = format!("nothing follows {option}");
            return Err(ModelError::new(at, what, format!("write {option}NAME, or remove it")));
        }
        match option {
            "-D" => {
                let (name, text) = of.split_once('=').unwrap_or((&of, "1"));
                read.defines.insert(name.trim().to_owned(), text.to_owned());
            }
            "-U" => _ = read.defines.shift_remove(&of),
            _ => read.include.push(of),
        }
    }
    Ok(read)
}

/// The words of compiler options: of a text as in a shell, or of a list of such texts or words.
fn words(options: &Value) -> Vec<String> {
    match options {
        Value::String(text) => shell_words(text),
        Value::Array(list) => {
            let texts = list.iter().filter_map(Value::as_str);
            let several = |text: &str| text.split_whitespace().skip(1).any(|w| w.starts_with('-'));
            let words = texts.map(|text| match several(text) {
                true => shell_words(text),
                false => vec![text.trim().to_owned()],
            });
            words.flatten().collect()
        }
        _ => Vec::new(),
    }
}

/// Words between blanks, without quotes and with what a backslash protects.
fn shell_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

pub(super) fn is_opencl(kernel: &Value) -> bool {
    let language = kernel.get("Language").and_then(Value::as_str);
    language.is_some_and(|l| l.eq_ignore_ascii_case("opencl"))
}

/// Types that T1 calls otherwise than OpenCL C does: our name and T1's.
const TYPES: [(&str, &str); 8] = [
    ("char", "int8"),
    ("uchar", "uint8"),
    ("short", "int16"),
    ("ushort", "uint16"),
    ("int", "int32"),
    ("uint", "uint32"),
    ("long", "int64"),
    ("ulong", "uint64"),
];

pub(super) fn type_name(ty: ElementType) -> &'static str {
    let named = TYPES.iter().find(|(ours, _)| *ours == ty.name());
    named.map_or(ty.name(), |(_, theirs)| theirs)
}

/// The type of the elements as our format calls it, and how many of them one vector has.
fn element(ty: &str) -> (String, &str) {
    let lower = ty.to_ascii_lowercase();
    if let Some((ours, _)) = TYPES.iter().find(|(_, theirs)| *theirs == lower) {
        return ((*ours).to_owned(), "");
    }
    let ours = match lower.as_str() {
        "unsigned char" | "unsignedchar" => "uchar",
        "unsigned short" | "unsignedshort" => "ushort",
        "unsigned int" | "unsignedint" => "uint",
        "unsigned long" | "unsignedlong" => "ulong",
        "float32" => "float",
        "float64" => "double",
        _ => {
            let scalar = lower.trim_end_matches(|c: char| c.is_ascii_digit());
            return (scalar.to_owned(), &ty[scalar.len()..]);
        }
    };
    (ours.to_owned(), "")
}

/// An argument without a name is called by its place.
fn argument(place: usize, field: &Field<'_>) -> Result<Value, ModelError> {
    let text = |key: &str| field.value.get(key).and_then(Value::as_str);
    let missing =
        |key: &str| ModelError::new(format!("{}.{key}", field.path), "is missing", "add it");
    let name = text("Name").map_or_else(|| format!("argument_{place}"), str::to_owned);
    let (element, width) = element(text("Type").ok_or_else(|| missing("Type"))?);
    let filled = field.value.get("FillValue");
    if text("MemoryType") == Some("Scalar") {
        let is_real = matches!(element.as_str(), "float" | "double");
        let value = number(field, filled.ok_or_else(|| missing("FillValue"))?, is_real)?;
        let key = if is_real { "real" } else { "value" };
        return Ok(json!({ "name": name, "type": element, key: value }));
    }
    let size = match field.value.get("Size") {
        Some(Value::String(size)) => expression(&format!("{}.Size", field.path), size)?.to_string(),
        Some(size) => size.to_string(),
        None => "1".to_owned(),
    };
    // Vectors are buffers of their components.
    let size = match width {
        "" => size,
        // Vectors of three take the room of four.
        "3" => format!("4 * ({size})"),
        width => format!("{width} * ({size})"),
    };
    let mut argument = json!({ "name": name, "type": element, "length": size });
    if text("MemoryType") == Some("Local") {
        argument["space"] = "local".into();
        return Ok(argument);
    }
    argument["fill"] = fill(field)?;
    let written = field.value.get("Output").is_some_and(|o| o == &json!(1) || o == &json!(true));
    if written {
        argument["output"] = true.into();
    }
    Ok(argument)
}

/// The first content of a buffer; zeros if the file has none.
fn fill(field: &Field<'_>) -> Result<Value, ModelError> {
    let value = field.value.get("FillValue");
    let kind = field.value.get("FillType").and_then(Value::as_str);
    match kind {
        Some("Random") => {
            // No time depends on the bounds; ours are whole numbers.
            let high = value.and_then(Value::as_f64).filter(|high| (1.0..1e9).contains(high));
            Ok(json!({ "random": [0, high.map_or(1, |high| high as i64)] }))
        }
        Some("Generator")
            if [value, field.value.get("DataSource")].contains(&Some(&json!("i"))) =>
        {
            Ok(json!("index"))
        }
        None | Some("Constant") => value.map_or_else(|| Ok(json!(0)), |v| number(field, v, false)),
        Some(kind) => Err(ModelError::new(
            format!("{}.FillType", field.path),
            format!("`{kind}` with this content is not read"),
            "write Constant, Random, or Generator with the content `i`",
        )),
    }
}

/// A number as our format has it: whole where it must be.
fn number(field: &Field<'_>, number: &Value, is_real: bool) -> Result<Value, ModelError> {
    match number {
        Value::Number(_) if is_real => Ok(number.clone()),
        Value::Number(n) if n.as_f64().is_some_and(|x| x.fract() == 0.0 && x.abs() < 1e15) => {
            Ok(json!(n.as_f64().unwrap_or_default() as i64))
        }
        Value::String(text) if !is_real => {
            Ok(expression(&format!("{}.FillValue", field.path), text)?.to_string().into())
        }
        _ => Err(Field::new(format!("{}.FillValue", field.path), number).expected(if is_real {
            "a number"
        } else {
            "a whole number"
        })),
    }
}
