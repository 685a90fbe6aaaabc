//! The platforms that come with tickbound, each number with its source.
//!
//! They are the files in `platforms/`, built into the program. Times are in ticks; on the devices a
//! tick is one clock cycle of a compute unit.
//!
//! ```
//! use tickbound_model::Platform;
//!
//! let json = tickbound_model::platforms::find("h200").unwrap();
//! let h200 = Platform::from_json("h200", &json).unwrap();
//! assert_eq!((h200.units(), h200.elements_per_unit()), (132, 128));
//! ```

use std::path::Path;

use itertools::Itertools;
use serde_json::Value;
use tickbound_input::message::suggest_or;

use crate::ModelError;

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../platforms/", $name, ".json")))),*]
    };
}

/// Name and file of every shipped platform, abstract ones first, then devices by age.
const SHIPPED: &[(&str, &str)] = shipped![
    "abstract-2023",
    "fermi-2021",
    "gtx-570",
    "gtx-680",
    "p104-100",
    "rtx-2080-ti",
    "titan-rtx",
    "a100",
    "rtx-3090",
    "rtx-a4000",
    "rtx-a6000",
    "radeon-w6600",
    "mi250x",
    "h100",
    "radeon-w7800",
    "h200",
    "pocl-xeon",
];

/// The names of the shipped platforms.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

/// Finds a platform: a shipped one by name, otherwise a JSON file if the text ends in `.json` or
/// contains a slash. A relative path starts at the current folder. The result is JSON that
/// [`Platform::from_json`](crate::Platform::from_json) can read.
///
/// # Errors
/// No such name (with the nearest one), or a file that cannot be read or is not JSON.
pub fn find(name_or_path: &str) -> Result<Value, ModelError> {
    if let Some((name, text)) = SHIPPED.iter().find(|(name, _)| *name == name_or_path) {
        return parse(name, text);
    }
    let json = Path::new(name_or_path).extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    if !json && !name_or_path.contains(['/', '\\']) {
        return Err(ModelError::new(
            "platform",
            format!("no platform is called `{name_or_path}`"),
            suggest_or(name_or_path, names(), || {
                format!("write one of {}, or the path of a platform file", names().join(", "))
            }),
        ));
    }
    let text = tickbound_input::text(name_or_path).map_err(|e| {
        let fix = "give an existing platform file, or one of the names of `tickbound platforms`";
        ModelError::new(name_or_path, format!("cannot be read: {e}"), fix)
    })?;
    parse(name_or_path, &text)
}

fn parse(at: &str, text: &str) -> Result<Value, ModelError> {
    tickbound_input::json(text).map_err(|e| {
        let what = if e.is_data() { e.to_string() } else { format!("not JSON: {e}") };
        ModelError::new(at, what, "fix the platform file")
    })
}
