//! JSON as people write problem files: what is short stands on one line.

use serde_json::Value;

/// Characters of the longest line that is not taken apart.
const WIDTH: usize = 96;

/// A value as text, ending with a line break.
pub fn print(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, 0, &mut text);
    text.push('\n');
    text
}

/// Writes a value that stands `column` characters into a line that is indented by `indent`.
fn write(value: &Value, indent: usize, column: usize, text: &mut String) {
    let short = on_one_line(value);
    let inner = indent + 2;
    let margin = " ".repeat(inner);
    match value {
        // The file as a whole is always taken apart.
        _ if column + short.len() <= WIDTH && indent > 0 => text.push_str(&short),
        Value::Object(object) if !object.is_empty() => {
            text.push_str("{\n");
            for (i, (key, value)) in object.iter().enumerate() {
                let key = format!("{}: ", Value::from(key.as_str()));
                text.push_str(&format!("{margin}{key}"));
                write(value, inner, inner + key.len() + 1, text);
                text.push_str(if i + 1 < object.len() { ",\n" } else { "\n" });
            }
            text.push_str(&format!("{}}}", " ".repeat(indent)));
        }
        Value::Array(array) if !array.is_empty() => {
            text.push_str("[\n");
            for (i, value) in array.iter().enumerate() {
                text.push_str(&margin);
                write(value, inner, inner + 1, text);
                text.push_str(if i + 1 < array.len() { ",\n" } else { "\n" });
            }
            text.push_str(&format!("{}]", " ".repeat(indent)));
        }
        _ => text.push_str(&short),
    }
}

fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(object) if !object.is_empty() => {
            let all = object
                .iter()
                .map(|(k, v)| format!("{}: {}", Value::from(k.as_str()), on_one_line(v)));
            format!("{{ {} }}", all.collect::<Vec<_>>().join(", "))
        }
        Value::Array(array) => {
            format!("[{}]", array.iter().map(on_one_line).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn short_values_stand_on_one_line() {
        let value =
            json!({ "a": [1, 2], "b": {}, "c": { "x": "y".repeat(60), "z": ["w".repeat(40)] } });
        let text = super::print(&value);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        let start = "{\n  \"a\": [1, 2],\n  \"b\": {},\n  \"c\": {\n    \"x\": \"yyy";
        assert!(text.starts_with(start) && text.ends_with("\n  }\n}\n"), "{text}");
    }
}
