//! A problem file while it is being proposed.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::source::{ElementType, Standard};
use tickbound_opencl::outline::Outline;
use tickbound_opencl::reading::{By, KernelSignature, ParameterType};
use tickbound_opencl::steps::MemoryAccess;

use crate::error::ProposeError;
use crate::host::HostMacro;
use crate::init_request::InitRequest;
use crate::names::{Role, is_stride, role, small};

/// Begins the note with all that is a guess.
pub const GUESSES: &str = "guesses: ";

/// What is proposed so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// The source, in its folder.
    pub file: String,
    pub entry: String,
    pub request: InitRequest,
    /// What the host program states of macros.
    pub host: Rc<IndexMap<String, HostMacro>>,
    pub inputs: IndexMap<String, i64>,
    /// Those of the inputs whose values are guesses.
    pub guessed: Vec<String>,
    /// Whether the source does not say how many elements a group has.
    pub launch_is_guess: bool,
    /// Whether it was read with conditions of `#if` instead of values of macros.
    pub by_conditions: bool,
    pub parameters: IndexMap<String, Value>,
    /// Named sizes of a captured kernel.
    pub sizes: IndexMap<String, IndexMap<String, i64>>,
    /// How often the program has launched each of them.
    pub weights: IndexMap<String, u64>,
    pub constraints: Vec<String>,
    pub defines: IndexMap<String, Value>,
    pub arguments: Vec<Argument>,
    pub dimensions: usize,
    /// Dimensions whose ids or sizes the kernel asks for.
    pub asked: usize,
    pub locals: Vec<String>,
    pub globals: Vec<String>,
    pub bounds: IndexMap<String, Value>,
    /// The guess for loops on data; without it, the first input.
    pub iterations: Option<i64>,
    pub branches: IndexMap<String, Value>,
    /// Buffers that the kernel writes.
    pub outputs: Vec<String>,
    pub notes: Vec<String>,
    /// What is a guess, in a few words each.
    pub guesses: Vec<String>,
    /// Sizes of groups that the source requires, by kernel.
    pub required: IndexMap<String, Vec<String>>,
    /// Macros that were last defined because the source asks for them, and the draft before.
    pub switched: Option<(Box<Draft>, Vec<String>)>,
    /// Those with which the kernel is not there.
    pub without: BTreeSet<String>,
    /// Names that represent types, which are guesses.
    pub types: Vec<String>,
    /// Arguments that are the length of a row, or a small step, as the accesses say.
    pub strides: Vec<String>,
    /// The language and its version.
    pub standard: Standard,
    /// The argument that is the dynamic shared memory of a launch in the source.
    pub shared: Option<String>,
}

/// Elements of a row that an argument is the length of.
const ROW: i64 = 1024;

/// An argument of the kernel.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    pub name: String,
    pub element: ElementType,
    pub by: By,
    /// Bytes of an element of memory as the kernel declares it: 16 of `float4` and of `float3`.
    pub bytes: i64,
    /// Elements of memory, or the value of a number.
    pub value: String,
}

/// Refuses request that no problem file can have.
fn checked(path: &Path, request: &InitRequest, outline: &Outline) -> Result<(), ProposeError> {
    for (option, sizes) in [("--global-size", &request.global), ("--local-size", &request.local)] {
        if sizes.len() > 3 {
            let what = "a launch has at most three dimensions; remove the others".to_owned();
            return Err(ProposeError::Wish { option, text: sizes.join(","), what });
        }
    }
    let macros = request.parameters.keys().map(|name| ("--parameter", name));
    let mut macros = macros.chain(request.defines.keys().map(|name| ("--define", name)));
    let is_cuda = request.language.is_some_and(Standard::is_cuda);
    if let Some((option, name)) = macros.find(|(_, name)| !is_cuda && outline.declares(name)) {
        let what = match defined_at(path, request, name) {
            Some(place) => format!(
                "{place} defines it; put #ifndef {name} before that line and #endif behind it"
            ),
            None => {
                "the source gives that name a meaning of its own; take another name, or remove that"
                    .to_owned()
            }
        };
        return Err(ProposeError::Wish { option, text: name.clone(), what });
    }
    Ok(())
}

impl Draft {
    pub fn new(
        path: &Path,
        request: &InitRequest,
        outline: &Outline,
    ) -> Result<Draft, ProposeError> {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
            let text = path.display().to_string();
            ProposeError::Wish { option: "", text, what: "rename the file".to_owned() }
        })?;
        checked(path, request, outline)?;
        let mut draft = Draft {
            file: name.to_owned(),
            request: request.clone(),
            host: Rc::new(request.host.macros(name, request.entry.as_deref())),
            inputs: request.inputs.clone(),
            dimensions: outline.dimensions().max(1),
            asked: outline.dimensions().max(1),
            standard: request.language.unwrap_or_default(),
            ..Draft::default()
        };
        for (name, domain) in &request.parameters {
            draft.parameters.insert(name.clone(), domain_of(name, domain)?);
        }
        for (name, text) in &request.defines {
            draft.define(name, text);
        }
        Ok(draft)
    }

    /// Defines a macro.
    pub fn define(&mut self, name: &str, text: &str) {
        let number = text.parse::<i64>().map(Value::from);
        self.defines.insert(name.to_owned(), number.unwrap_or_else(|_| json!({ "text": text })));
    }

    /// The source files, as the problem file names them.
    pub fn files(&self) -> Vec<String> {
        self.request.before.iter().chain([&self.file]).cloned().collect()
    }

    /// Whether a macro is decided.
    pub fn knows(&self, name: &str) -> bool {
        self.inputs.contains_key(name)
            || self.parameters.contains_key(name)
            || self.defines.contains_key(name)
    }

    /// A guess without further remarks.
    pub fn guess(&mut self, text: impl Into<String>) {
        self.guesses.push(text.into());
    }

    /// All that is a guess, in one line.
    pub fn guessed_line(&self) -> Option<String> {
        let one = |name: &String| Some(format!("{name} = {}", self.inputs.get(name)?));
        let inputs = self.guessed.iter().filter_map(one);
        let count = |n: usize, what: &str| (n > 0).then(|| format!("{what} ({n})"));
        let bounds = count(self.bounds.len(), "iterations of loops on data");
        let branches = count(self.branches.len(), "both sides of branches on data");
        let all: Vec<String> =
            inputs.chain(bounds).chain(branches).chain(self.guesses.iter().cloned()).collect();
        (!all.is_empty()).then(|| format!("{GUESSES}{}", all.join("; ")))
    }

    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Takes the kernel: its arguments, with the numbers among them as inputs.
    pub fn take(&mut self, kernel: &KernelSignature) {
        self.entry.clone_from(&kernel.name);
        self.dimensions = self.dimensions.max(self.fixed_dimensions());
        for parameter in &kernel.parameters {
            let (Some(by), Some(element)) = (parameter.ty.by, element(&parameter.ty)) else {
                let (name, ty) = (&parameter.name, &parameter.ty.text);
                self.note(format!(
                    "arguments: none, as `{name}` is {ty}; the kernel can be tuned, not measured"
                ));
                self.arguments.clear();
                return;
            };
            let value = match by {
                // 0.5 as the bits of a `half`.
                By::Value if parameter.ty.text == "half" => "14336".to_owned(),
                By::Value if parameter.ty.text == "bool" => {
                    self.guess(format!("{} = 0", parameter.name));
                    "0".to_owned()
                }
                By::Value if parameter.ty.text.contains("sampler") => "0".to_owned(),
                By::Whole => {
                    let bytes = parameter.ty.bytes.unwrap_or(0);
                    (bytes / i64::try_from(element.bytes()).unwrap_or(1)).to_string()
                }
                By::Value if !element.is_real() => self.number(&parameter.name),
                By::Value => "0.5".to_owned(),
                By::Buffer => "1".to_owned(),
                By::Local => "1".to_owned(),
                By::Image(dimensions) => vec!["1"; dimensions].join(", "),
            };
            let (name, bytes) = (parameter.name.clone(), parameter.ty.bytes.unwrap_or(1));
            self.arguments.push(Argument { name, element, by, bytes, value });
        }
        let reals = self.arguments.iter().filter(|a| a.by == By::Value && a.element.is_real());
        let reals: Vec<String> = reals.map(|a| a.name.clone()).collect();
        if !reals.is_empty() {
            self.guess(format!("{} = 0.5", reals.join(" = ")));
        }
        let wholes = self.arguments.iter().filter(|a| a.by == By::Whole);
        let wholes: Vec<String> = wholes.map(|a| a.name.clone()).collect();
        if !wholes.is_empty() {
            self.guess(format!("what is in {}", wholes.join(", ")));
        }
    }

    /// The value of an argument that is a whole number: an input of its name, or a number.
    fn number(&mut self, name: &str) -> String {
        if self.asked > 1 && !self.inputs.contains_key(name) && is_stride(name) {
            self.strides.push(name.to_owned());
            self.inputs.insert(name.to_owned(), ROW);
            return name.to_owned();
        }
        // A small size is an input all the same: people change it.
        if let (false, Some(value @ 0..=1)) = (self.inputs.contains_key(name), small(name)) {
            self.guess(format!("{name} = {value}"));
            return value.to_string();
        }
        if !self.inputs.contains_key(name) {
            self.inputs.insert(name.to_owned(), 0);
        }
        name.to_owned()
    }

    /// The notes, guesses first.
    pub fn all_notes(&self) -> Vec<String> {
        self.guessed_line().into_iter().chain(self.notes.iter().cloned()).collect()
    }

    /// The problem file.
    pub fn value(&self) -> Value {
        let files = self.files();
        let opencl = if files.len() == 1 { json!(self.file) } else { json!(files) };
        let mut kernel = json!({ "opencl": opencl, "entry": self.entry });
        let mut add = |name: &str, value: Value| {
            let empty = value.as_object().is_some_and(|o| o.is_empty())
                || value.as_array().is_some_and(|a| a.is_empty());
            if !empty {
                kernel[name] = value;
            }
        };
        match self.standard {
            Standard::Cl12 => {}
            Standard::Cl30 => add("standard", self.standard.name().into()),
            Standard::Cuda | Standard::Hip => add("language", self.standard.name().into()),
        }
        add("include", self.request.include.clone().into());
        add("defines", self.defines.clone().into_iter().collect());
        add("arguments", self.arguments.iter().map(|a| self.argument(a)).collect());
        add("bounds", self.bounds.clone().into_iter().collect());
        add("branches", self.branches.clone().into_iter().collect());
        let stem = self.file.rsplit_once('.').map_or(self.file.as_str(), |(stem, _)| stem);
        let name =
            if stem == self.entry { stem.to_owned() } else { format!("{stem}: {}", self.entry) };
        let mut problem = json!({ "version": 1, "name": name, "notes": self.all_notes() });
        problem["inputs"] =
            self.inputs.iter().map(|(name, v)| (name.clone(), Value::from(*v))).collect();
        if !self.sizes.is_empty() {
            problem["sizes"] = json!(self.sizes);
            problem["weights"] = json!(self.weights);
        }
        problem["platform"] = self.request.platform.clone().into();
        problem["parameters"] = self.parameters.clone().into_iter().collect();
        problem["constraints"] = self.constraints.clone().into();
        problem["launch"] = json!({ "global_size": self.globals, "local_size": self.locals });
        problem["kernel"] = kernel;
        problem
    }

    fn argument(&self, argument: &Argument) -> Value {
        let Argument { name, element, by, value, .. } = argument;
        let number =
            |text: &str| text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from);
        let mut object = json!({ "name": name, "type": element.name() });
        match by {
            By::Value if element.is_real() => {
                object["real"] = json!(value.parse::<f64>().unwrap_or(0.5))
            }
            By::Value => object["value"] = number(value),
            By::Local => {
                object["length"] = number(value);
                object["space"] = "local".into();
            }
            By::Whole => {
                object["length"] = number(value);
                object["space"] = "private".into();
                // Bytes of ones would be huge numbers.
                object["fill"] = i32::from(*element != ElementType::Uchar).into();
            }
            By::Image(_) => object["image"] = value.split(", ").map(number).collect(),
            By::Buffer => {
                object["length"] = number(value);
                let range = if element.is_real() { json!([-1, 1]) } else { json!([0, 100]) };
                object["fill"] = json!({ "random": range });
                if self.outputs.contains(name) {
                    object["output"] = true.into();
                }
            }
        }
        object
    }

    /// Whether the size of a group is a parameter that the source has no name for.
    pub fn is_own(&self, local: &str) -> bool {
        let said = format!("parameters.{local}: a group's size; the source");
        local.starts_with("LOCAL_SIZE")
            && self.parameters.contains_key(local)
            && self.notes.iter().any(|note| note.starts_with(&said))
    }

    /// Numbers of an access's type in an element of its array, as the kernel declares that.
    pub fn lanes(&self, access: &MemoryAccess) -> i64 {
        let declared = self.arguments.iter().find(|a| a.name == access.array);
        declared.map_or(1, |a| (a.bytes / i64::from(access.element).max(1)).max(1))
    }

    /// Dimensions of the launch, independent of those the kernel uses.
    pub fn fixed_dimensions(&self) -> usize {
        let required = self
            .required
            .get(&self.entry)
            .map_or(0, |sizes| sizes.iter().rposition(|size| size != "1").map_or(0, |d| d + 1));
        required.max(self.request.local.len()).max(self.request.global.len())
    }

    /// The parameter that is a group's size in a dimension.
    pub fn group(&self, d: usize) -> Option<&String> {
        let one = self.dimensions == 1;
        let sized = |name: &&String| matches!(role(name), Some(Role::Group(of)) if of == d || one);
        self.parameters.keys().find(sized)
    }
}

/// The file and the line of a macro's `#define`.
fn defined_at(path: &Path, request: &InitRequest, name: &str) -> Option<String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = request.before.iter().map(|name| folder.join(name)).chain([path.to_owned()]);
    let defines = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        let rest = rest.trim_start().strip_prefix(name)?;
        (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(())
    };
    files.into_iter().find_map(|file| {
        let text = tickbound_input::source(&file).ok()?;
        let line = text.lines().position(|line| defines(line).is_some())? + 1;
        Some(format!("{}:{line}", file.file_name()?.to_string_lossy()))
    })
}

/// How the format has the elements of an argument: those of structures as bytes. `None` for what it
/// cannot have.
pub(crate) fn element(ty: &ParameterType) -> Option<ElementType> {
    match ty.by? {
        By::Buffer | By::Local => Some(ty.element.unwrap_or(ElementType::Uchar)),
        By::Whole => ty.bytes.map(|_| ty.element.unwrap_or(ElementType::Uchar)),
        By::Value | By::Image(_) => ty.element,
    }
}

/// A domain, as `--parameter` gives it.
fn domain_of(name: &str, text: &str) -> Result<Value, ProposeError> {
    let text = text.trim();
    let inner = text.strip_prefix('[').map(|rest| rest.strip_suffix(']').unwrap_or(""));
    let inner = inner.map(|inner| if inner.contains(['[', ']']) { "" } else { inner });
    let Some(inner) = inner else {
        return Ok(text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from));
    };
    let items = inner.split(',').map(str::trim);
    let items: Vec<Value> = items
        .filter(|item| !item.is_empty())
        .map(|item| {
            item.parse::<i64>().map_or_else(|_| Value::from(item.trim_matches('"')), Value::from)
        })
        .collect();
    if items.is_empty() {
        let what = "write a domain such as [1, 2, 4] or powers_of_two(1, 8)".to_owned();
        return Err(ProposeError::Wish {
            option: "--parameter",
            text: format!("{name}={text}"),
            what,
        });
    }
    Ok(items.into())
}
