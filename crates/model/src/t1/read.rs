//! A T1 file as a problem.

use serde_json::{Map, Value, json};
use tickbound_input::message::suggest;

use super::arguments;
use super::python::from_python;
use super::text::{expression, size_name};
use crate::ModelError;
use crate::json::{Field, join};
use tickbound_expr::domain::Domain;
use tickbound_expr::parse::{parse_domain, parse_python};
use tickbound_expr::{BinaryOp, Expr, Function};

/// Name of the platform that a T1 file gets, as it has none.
pub const PLATFORM: &str = "none";

/// Whether a JSON file is a T1 file and not a problem file.
pub fn is_t1(file: &Value) -> bool {
    file.get("ConfigurationSpace").is_some()
}

/// Why a T1 file's kernel cannot be read, so that its program does nothing; `None` if it can.
pub fn without_program(file: &Value) -> Option<String> {
    let kernel = file.get("KernelSpecification").unwrap_or(&Value::Null);
    let text = |key: &str| kernel.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    match (text("KernelFile"), text("KernelName"), text("Language")) {
        (Some(_), Some(_), _) if arguments::is_opencl(kernel) => None,
        (Some(_), Some(_), Some(language)) => {
            Some(format!("its kernel is in {language}, not in OpenCL"))
        }
        (Some(_), Some(_), None) => Some("its kernel's Language is not said".to_owned()),
        _ => Some("it names no kernel (KernelFile and KernelName)".to_owned()),
    }
}

/// Turns a T1 file into a problem file.
///
/// # Errors
/// A part that is missing, or that our format cannot express: where, what, and the fix.
pub fn read(file: &Value) -> Result<Value, ModelError> {
    let space = part(file, "ConfigurationSpace")?;
    let kernel = file.get("KernelSpecification").unwrap_or(&Value::Null);
    spelt("", file)?;
    spelt("ConfigurationSpace", space)?;
    spelt("KernelSpecification", kernel)?;
    let program = without_program(file).is_none();
    let sizes = problem_size(kernel)?;
    let inputs: Map<String, Value> =
        sizes.iter().enumerate().map(|(d, n)| (size_name(d), (*n).into())).collect();
    let name = [file.pointer("/General/BenchmarkName"), kernel.get("KernelName")]
        .into_iter()
        .flatten()
        .find_map(Value::as_str)
        .unwrap_or("unnamed");
    let parameters = parameters(space)?;
    Ok(json!({
        "name": name,
        "inputs": inputs,
        "platform": platform(),
        "constraints": conditions(space)?,
        "launch": launch(kernel, sizes.len(), &parameters, program)?,
        "kernel": arguments::kernel(kernel, &parameters)?,
        "parameters": parameters,
    }))
}

/// The keys that are read, those of all objects.
const KEYS: &str = "ConfigurationSpace TuningParameters Name Values Conditions Expression \
    KernelSpecification Language KernelName KernelFile CompilerOptions ProblemSize GridDivX \
    GridDivY GridDivZ GlobalSize GlobalSizeType LocalSize Modifiers Arguments Type MemoryType \
    Size FillType FillValue DataSource Output";

/// Refuses keys of an object, or of objects in its lists, that are read if spelt otherwise. Keys
/// that are not known are those of other programs.
fn spelt(at: &str, object: &Value) -> Result<(), ModelError> {
    for (key, value) in object.as_object().into_iter().flatten() {
        let plain = key.replace('_', "");
        let meant =
            KEYS.split(' ').find(|known| known.eq_ignore_ascii_case(&plain) && *known != key);
        let at = join(at, key);
        if let Some(meant) = meant {
            return Err(ModelError::new(at, "unknown field", format!("write {meant}")));
        }
        for (i, element) in value.as_array().into_iter().flatten().enumerate() {
            spelt(&format!("{at}[{i}]"), element)?;
        }
    }
    Ok(())
}

/// Nothing costs anything, and nothing is limited.
fn platform() -> Value {
    json!({ "name": PLATFORM, "units_per_device": 1, "elements_per_unit": 1, "global_access": 0,
            "local_access": 0, "compute_op": 0 })
}

fn part<'v>(file: &'v Value, key: &str) -> Result<&'v Value, ModelError> {
    file.get(key).ok_or_else(|| ModelError::new(key, "is missing", "T1 files have this part"))
}

fn problem_size(kernel: &Value) -> Result<Vec<i64>, ModelError> {
    let size = kernel.get("ProblemSize").filter(|size| !size.is_null());
    let Some(size) = size else { return Ok(Vec::new()) };
    let field = Field::new("KernelSpecification.ProblemSize", size);
    match size {
        Value::Array(_) => field.array()?.iter().map(Field::integer).collect(),
        _ => Ok(vec![field.integer()?]),
    }
}

fn parameters(space: &Value) -> Result<Map<String, Value>, ModelError> {
    let path = "ConfigurationSpace.TuningParameters";
    let list = part(space, "TuningParameters")?;
    let mut parameters = Map::new();
    for (i, parameter) in Field::new(path, list).array()?.iter().enumerate() {
        let name = parameter.value.get("Name").and_then(Value::as_str);
        let name = name.ok_or_else(|| {
            ModelError::new(format!("{path}[{i}].Name"), "is missing", "add the parameter's name")
        })?;
        let at = format!("{path}[{i}] (`{name}`)");
        let values = parameter.value.get("Values").ok_or_else(|| {
            ModelError::new(&at, "has no Values", "add a list such as \"[16, 32]\"")
        })?;
        if parameters.insert(name.to_owned(), domain(&at, values)?).is_some() {
            return Err(ModelError::new(at, "is there twice", "remove one of them"));
        }
    }
    Ok(parameters)
}

/// Values are a list, or a text in Python.
fn domain(at: &str, values: &Value) -> Result<Value, ModelError> {
    let listed = match values {
        Value::Array(_) => values.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return Err(Field::new(at, values).expected("Values such as \"[16, 32]\"")),
    };
    let listed = listed.replace("true", "True").replace("false", "False");
    // A plain list may be longer than a text that is read as expressions.
    if let Ok(Value::Array(list)) = serde_json::from_str(&listed)
        && list.iter().all(Value::is_i64)
    {
        return Ok(list.into());
    }
    // A list of expressions may name earlier parameters.
    if let Ok(Domain::List(items)) = parse_domain(&listed) {
        let mut named = false;
        items.iter().for_each(|item| item.names(&mut |_| named = true));
        if named {
            return Ok(listed.into());
        }
    }
    let values = super::values::values(&listed);
    values.map(Value::from).map_err(|wrong| ModelError::new(at, wrong.what, wrong.fix))
}

fn conditions(space: &Value) -> Result<Vec<Value>, ModelError> {
    let Some(list) = space.get("Conditions") else { return Ok(Vec::new()) };
    let path = "ConfigurationSpace.Conditions";
    let text = |field: &Field<'_>| {
        let text = field.value.get("Expression").unwrap_or(field.value).as_str();
        let text = text.ok_or_else(|| field.expected("{ \"Expression\": \"...\" }"))?;
        let condition = parse_python(text.trim());
        let condition = condition.map_err(|e| ModelError::new(&field.path, e.to_string(), ""))?;
        Ok(from_python(&condition, true).to_string().into())
    };
    Field::new(path, list).array()?.iter().map(text).collect()
}

/// Items of the launch and of a group along each dimension. One item where there is no program to
/// run and no group, so that every configuration can be launched.
fn launch(
    kernel: &Value,
    dimensions: usize,
    parameters: &Map<String, Value>,
    program: bool,
) -> Result<Value, ModelError> {
    let mut local = sizes(kernel, "LocalSize")?;
    if local.is_empty() {
        local = usual_sizes(parameters);
    }
    let stated = sizes(kernel, "GlobalSize")?;
    let has_divisors = |axis: usize| !divisors(kernel, axis).is_empty();
    let divided = dimensions > 0 && (stated.is_empty() || (0..AXES.len()).any(has_divisors));
    let mut groups = if divided { grid(kernel, dimensions, &local)? } else { stated };
    modify(kernel, &mut groups, &mut local)?;
    if local.is_empty() && !program {
        return Ok(json!({ "global_size": 1, "local_size": 1 }));
    }
    let missing = |key: &str, fix| {
        Err(ModelError::new(format!("KernelSpecification.{key}"), "is missing", fix))
    };
    if groups.is_empty() && program {
        return missing("GlobalSize", "add it, or ProblemSize");
    }
    if local.is_empty() && !divided {
        return missing("LocalSize", "add it, such as { \"X\": \"64\" }");
    }
    let counts_groups = divided || counts_groups(kernel)?;
    let one = || Expr::Int(1);
    let mut global = Vec::new();
    let mut locals = Vec::new();
    for d in 0..local.len().max(groups.len()).clamp(1, 3) {
        let items = local.get(d).cloned().unwrap_or_else(one);
        let size = groups.get(d).cloned().unwrap_or_else(one);
        let size = match counts_groups {
            true => Expr::binary(BinaryOp::Mul, size, items.clone()),
            false => size,
        };
        global.push(size.to_string());
        locals.push(items.to_string());
    }
    Ok(json!({ "global_size": global, "local_size": locals }))
}

/// Whether the global size is in groups; by the kernel's language if not stated.
fn counts_groups(kernel: &Value) -> Result<bool, ModelError> {
    let Some(of) = kernel.get("GlobalSizeType").filter(|v| !v.is_null()) else {
        return Ok(!arguments::is_opencl(kernel));
    };
    let is = |name: &str| of.as_str().is_some_and(|of| of.eq_ignore_ascii_case(name));
    match is("OpenCL") {
        false if !is("CUDA") && !is("Vulkan") => {
            Err(Field::new("KernelSpecification.GlobalSizeType", of)
                .expected("\"OpenCL\" (items), \"CUDA\" or \"Vulkan\" (groups)"))
        }
        in_items => Ok(!in_items),
    }
}

/// The items of a group where the file omits them: the parameters that Kernel Tuner takes for them.
fn usual_sizes(parameters: &Map<String, Value>) -> Vec<Expr<String>> {
    let size = |axis: &str| {
        let name = format!("block_size_{axis}");
        parameters.contains_key(&name).then_some(name)
    };
    let names = ["x", "y", "z"].map(size);
    let axes = names.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    let names = names.into_iter().take(axes);
    names.map(|name| name.map_or(Expr::Int(1), Expr::Name)).collect()
}

/// Applies the modifiers of older files: each multiplies, divides, or adds a parameter to one size.
fn modify(
    kernel: &Value,
    global: &mut Vec<Expr<String>>,
    local: &mut Vec<Expr<String>>,
) -> Result<(), ModelError> {
    let Some(list) = kernel.get("Modifiers") else { return Ok(()) };
    for field in Field::new("KernelSpecification.Modifiers", list).array()? {
        let text = |key: &str| field.value.get(key).and_then(Value::as_str);
        let sizes = match text("Type") {
            Some("Global") => &mut *global,
            Some("Local") => &mut *local,
            _ => return Err(field.expected("a modifier of the Type Global or Local")),
        };
        let axis = AXES.iter().position(|axis| text("Dimension") == Some(axis));
        let axis = axis.ok_or_else(|| field.expected("a modifier with the Dimension X, Y or Z"))?;
        let op = match text("Action") {
            Some("Multiply") => BinaryOp::Mul,
            Some("Divide") => BinaryOp::FloorDiv,
            Some("Add") => BinaryOp::Add,
            Some("Subtract") => BinaryOp::Sub,
            _ => return Err(field.expected("an Action: Multiply, Divide, Add or Subtract")),
        };
        let by = text("Parameter").ok_or_else(|| field.expected("a modifier with a Parameter"))?;
        if sizes.len() <= axis {
            sizes.resize(axis + 1, Expr::Int(1));
        }
        let of = std::mem::replace(&mut sizes[axis], Expr::Int(1));
        sizes[axis] = Expr::binary(op, of, Expr::Name(by.to_owned()));
    }
    Ok(())
}

const AXES: [&str; 3] = ["X", "Y", "Z"];

/// An object with some of X, Y and Z, a list, or the size along X; empty if it is absent.
fn sizes(kernel: &Value, key: &str) -> Result<Vec<Expr<String>>, ModelError> {
    let at = format!("KernelSpecification.{key}");
    let of = |v: &Value| match v {
        Value::Null => Ok(Expr::Int(1)),
        Value::String(text) => expression(&at, text),
        v => Field::new(&at, v).integer().map(Expr::Int),
    };
    match kernel.get(key).unwrap_or(&Value::Null) {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => list.iter().map(of).collect(),
        Value::Object(axes) => {
            if let Some(other) = axes.keys().find(|axis| !AXES.contains(&axis.as_str())) {
                let at = format!("{at}.{other}");
                return Err(ModelError::new(at, "unknown field", suggest(other, AXES)));
            }
            let last = AXES.iter().rposition(|axis| axes.contains_key(*axis));
            let axes = AXES.iter().take(last.map_or(0, |last| last + 1));
            axes.map(|axis| of(kernel[key].get(*axis).unwrap_or(&Value::Null))).collect()
        }
        size => Ok(vec![of(size)?]),
    }
}

/// The divisors along an axis: absent, null and an empty list are none.
fn divisors(kernel: &Value, axis: usize) -> &[Value] {
    match kernel.get(format!("GridDiv{}", AXES[axis])) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(list)) => list,
        Some(one) => std::slice::from_ref(one),
    }
}

/// Groups along each dimension: the problem's size over the product of the divisors, rounded up.
/// Where there is no divisor, it is the items of a group, as Kernel Tuner has it.
fn grid(
    kernel: &Value,
    dimensions: usize,
    local: &[Expr<String>],
) -> Result<Vec<Expr<String>>, ModelError> {
    let groups = (0..dimensions.min(AXES.len())).map(|d| {
        let at = format!("KernelSpecification.GridDiv{}", AXES[d]);
        let mut by: Option<Expr<String>> = None;
        for divisor in divisors(kernel, d) {
            let text = divisor.as_str().map_or_else(|| divisor.to_string(), str::to_owned);
            let divisor = expression(&at, &text)?;
            by = Some(match by {
                None => divisor,
                Some(before) => Expr::binary(BinaryOp::Mul, before, divisor),
            });
        }
        let size = Expr::Name(size_name(d));
        Ok(match by.or_else(|| local.get(d).cloned()) {
            None => size,
            Some(by) => Expr::Call(Function::CeilDiv, vec![size, by]),
        })
    });
    groups.collect()
}
