//! The kernel of a T1 file.

use serde_json::{Value, json};

use super::text::expression;
use crate::ModelError;
use crate::json::Field;

/// The `kernel` of the problem: its source if it is in OpenCL C, else a program without statements.
pub(super) fn kernel(kernel: &Value) -> Result<Value, ModelError> {
    let text = |key: &str| kernel.get(key).and_then(Value::as_str);
    let (Some(file), Some(entry)) = (text("KernelFile"), text("KernelName")) else {
        return Ok(json!([]));
    };
    if !text("Language").is_some_and(|l| l.eq_ignore_ascii_case("opencl")) {
        return Ok(json!([]));
    }
    let mut arguments = Vec::new();
    if let Some(list) = kernel.get("Arguments") {
        for field in Field::new("KernelSpecification.Arguments", list).array()? {
            arguments.push(argument(&field)?);
        }
    }
    Ok(json!({ "opencl": file, "entry": entry, "arguments": arguments }))
}

fn argument(field: &Field<'_>) -> Result<Value, ModelError> {
    let text = |key: &str| field.value.get(key).and_then(Value::as_str);
    let need = |key: &str| {
        text(key)
            .ok_or_else(|| ModelError::new(format!("{}.{key}", field.path), "is missing", "add it"))
    };
    let (name, ty) = (need("Name")?, need("Type")?);
    let element = ty.trim_end_matches(|c: char| c.is_ascii_digit());
    let element = match ty {
        "uint8" | "unsigned char" => "uchar",
        "unsigned int" => "uint",
        _ => element,
    };
    let fill = field.value.get("FillValue").cloned().unwrap_or_else(|| json!(0));
    if text("MemoryType") == Some("Scalar") {
        let is_real = matches!(element, "float" | "double");
        let key = if is_real { "real" } else { "value" };
        return Ok(json!({ "name": name, "type": element, key: whole(&fill, is_real) }));
    }
    let size = match field.value.get("Size") {
        Some(Value::String(size)) => expression(&format!("{}.Size", field.path), size)?.to_string(),
        Some(size) => size.to_string(),
        None => "1".to_owned(),
    };
    // Vectors are buffers of their components.
    let size = match ty.strip_prefix(element).unwrap_or_default() {
        "" => size,
        width => format!("{width} * ({size})"),
    };
    let mut argument = json!({ "name": name, "type": element, "length": size });
    if text("MemoryType") == Some("Local") {
        argument["space"] = "local".into();
        return Ok(argument);
    }
    argument["fill"] = match text("FillType") {
        Some("Random") => json!({ "random": [0, 1] }),
        _ => whole(&fill, false),
    };
    let written = field.value.get("Output").is_some_and(|o| o == &json!(1) || o == &json!(true));
    if written {
        argument["output"] = true.into();
    }
    Ok(argument)
}

/// A number as our format has it: whole where it must be.
fn whole(number: &Value, is_real: bool) -> Value {
    match (number.as_f64(), is_real) {
        (Some(x), false) => json!(x as i64),
        (Some(_), true) => number.clone(),
        (None, _) => json!(0),
    }
}
