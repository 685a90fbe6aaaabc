//! A T1 file as a problem.

use serde_json::{Map, Value, json};

use super::python::from_python;
use super::text::{expression, size_name};
use super::{PLATFORM, arguments};
use crate::ModelError;
use crate::domain::Domain;
use crate::expr::{BinaryOp, Expr};
use crate::json::Field;
use crate::parse::{parse, parse_domain};

/// Whether a JSON file is a T1 file and not a problem file.
#[must_use]
pub fn is_t1(file: &Value) -> bool {
    file.get("ConfigurationSpace").is_some()
}

/// Why the kernel of a T1 file cannot be read, so that its problem has a program that does nothing; `None` if it
/// can.
#[must_use]
pub fn without_program(file: &Value) -> Option<String> {
    let kernel = file.get("KernelSpecification").unwrap_or(&Value::Null);
    let text = |key: &str| kernel.get(key).and_then(Value::as_str);
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
/// A part that is missing, or that says what our format cannot: where, what, and the fix.
pub fn read(file: &Value) -> Result<Value, ModelError> {
    let space = part(file, "ConfigurationSpace")?;
    let kernel = file.get("KernelSpecification").unwrap_or(&Value::Null);
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
        "launch": launch(kernel, sizes.len())?,
        "kernel": arguments::kernel(kernel, &parameters)?,
        "parameters": parameters,
    }))
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
    let Some(size) = kernel.get("ProblemSize") else { return Ok(Vec::new()) };
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
        text.map(|t| match parse(t.trim()) {
            Ok(condition) => Value::from(from_python(&condition, true).to_string()),
            // What is wrong with it is said where the problem is read.
            Err(_) => t.trim().into(),
        })
        .ok_or_else(|| field.expected("{ \"Expression\": \"...\" }"))
    };
    Field::new(path, list).array()?.iter().map(text).collect()
}

/// Items of the launch and of a group along each dimension.
fn launch(kernel: &Value, dimensions: usize) -> Result<Value, ModelError> {
    let mut local = sizes(kernel, "LocalSize")?;
    let mut groups = match grid(kernel, dimensions)? {
        Some(groups) => groups,
        None => sizes(kernel, "GlobalSize")?,
    };
    modify(kernel, &mut groups, &mut local)?;
    if local.is_empty() {
        // A space without a kernel: one item, so that every configuration can be launched.
        return Ok(json!({ "global_size": 1, "local_size": 1 }));
    }
    // Where nothing is said, sizes mean what they mean to the kernel's language.
    let counts_groups = match kernel.get("GlobalSizeType").and_then(Value::as_str) {
        Some(of) => of != "OpenCL",
        None => !arguments::is_opencl(kernel),
    };
    let divided = grid_divisors(kernel).is_some();
    let one = || Expr::Int(1);
    let mut global = Vec::new();
    let mut locals = Vec::new();
    for d in 0..local.len().max(groups.len()).clamp(1, 3) {
        let items = local.get(d).cloned().unwrap_or_else(one);
        let size = groups.get(d).cloned().unwrap_or_else(one);
        let size = match counts_groups || divided {
            true => Expr::binary(BinaryOp::Mul, size, items.clone()),
            false => size,
        };
        global.push(size.to_string());
        locals.push(items.to_string());
    }
    Ok(json!({ "global_size": global, "local_size": locals }))
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

/// An object with X, Y and Z, or a list; empty if it is absent.
fn sizes(kernel: &Value, key: &str) -> Result<Vec<Expr<String>>, ModelError> {
    let Some(value) = kernel.get(key) else { return Ok(Vec::new()) };
    let of = |v: &Value| match v {
        Value::String(text) => expression(&format!("KernelSpecification.{key}"), text),
        v => Field::new(format!("KernelSpecification.{key}"), v).integer().map(Expr::Int),
    };
    match value {
        Value::Array(list) => list.iter().map(of).collect(),
        _ => AXES.iter().map_while(|axis| value.get(axis)).map(of).collect(),
    }
}

fn grid_divisors(kernel: &Value) -> Option<[Option<&Vec<Value>>; 3]> {
    let list = |axis: &str| kernel.get(format!("GridDiv{axis}")).and_then(Value::as_array);
    let found = AXES.map(list);
    found.iter().any(Option::is_some).then_some(found)
}

/// Groups along each dimension: the problem's size over the product of the divisors, rounded up.
fn grid(kernel: &Value, dimensions: usize) -> Result<Option<Vec<Expr<String>>>, ModelError> {
    let Some(divisors) = grid_divisors(kernel) else { return Ok(None) };
    let groups = (0..dimensions.min(3)).map(|d| {
        let mut by: Option<Expr<String>> = None;
        for divisor in divisors[d].into_iter().flatten() {
            let text = divisor.as_str().map_or_else(|| divisor.to_string(), str::to_owned);
            let divisor = expression(&format!("KernelSpecification.GridDiv{}", AXES[d]), &text)?;
            by = Some(match by {
                None => divisor,
                Some(before) => Expr::Binary(BinaryOp::Mul, Box::new(before), Box::new(divisor)),
            });
        }
        let size = Expr::Name(size_name(d));
        Ok(match by {
            None => size,
            Some(by) => Expr::Call(crate::expr::Function::CeilDiv, vec![size, by]),
        })
    });
    groups.collect::<Result<_, _>>().map(Some)
}
