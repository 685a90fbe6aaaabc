//! The published schema of `--json` is what the types generate.

use std::collections::BTreeSet;

use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

use crate::answer::comparison::Comparison;
use crate::answer::why::Why;
use crate::answer::{
    Answer, Checked, Explained, Raced, RuleMeasurement, Simulated, SizeMix, SizeRule, Verified,
};
use crate::answer::{Measurement, Scored};

const PUBLISHED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/answer.schema.json");

/// What the commands print.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is made")]
enum Printed {
    /// One engine: `tune`, `spin` or `cp-sat`.
    Answer(Box<Answer>),
    /// Several: `compare`.
    Comparison(Box<Comparison>),
    /// `why`.
    Why(Box<Why>),
    /// `check`.
    Checked(Box<Checked>),
    /// `simulate`.
    Simulated(Box<Simulated>),
    /// `explain`.
    Explained(Box<Explained>),
    /// `measure`.
    Measurement(Box<Measurement>),
    /// `score`.
    Scored(Box<Scored>),
    /// `verify`.
    Verified(Box<Verified>),
    /// `tune --over`.
    SizeRule(Box<SizeRule>),
    /// `tune --mix`.
    SizeMix(Box<SizeMix>),
    /// `race`.
    Raced(Box<Raced>),
    /// `measure --rule`.
    RuleMeasurement(Box<RuleMeasurement>),
}

/// The objects of [`Printed`] by type name: one with another's keys beside its own is not of it.
const OBJECTS: [&str; 13] = [
    "Answer",
    "Comparison",
    "Why",
    "Checked",
    "Simulated",
    "Explained",
    "Measurement",
    "Scored",
    "Verified",
    "SizeRule",
    "SizeMix",
    "Raced",
    "RuleMeasurement",
];

/// The schema, with the keys that each command prints.
fn generated() -> Value {
    let mut schema = json!(schema_for!(Printed));
    schema["title"] = json!("What tickbound prints with --json");
    let keys = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let commands =
        Answer::COMMANDS.map(|(command, line)| json!({ "title": command, "required": keys(line) }));
    let answer = &mut schema["$defs"]["Answer"];
    answer["anyOf"] = json!(commands);
    // The required keys are listed for each command.
    answer["required"] = json!(["status"]);
    for of_command in OBJECTS {
        schema["$defs"][of_command]["additionalProperties"] = json!(false);
    }
    schema
}

#[test]
fn the_published_schema_is_what_the_types_generate() {
    let text = format!("{:#}\n", generated());
    if std::env::var_os("WRITE_SCHEMA").is_some() {
        std::fs::write(PUBLISHED, &text).unwrap();
    }
    let published = std::fs::read_to_string(PUBLISHED).unwrap_or_default();
    assert!(published == text, "run `cargo xtask run schema`, which writes {PUBLISHED} again");
}

#[test]
fn every_field_is_a_key_of_some_command() {
    let keys: BTreeSet<&str> =
        Answer::COMMANDS.iter().flat_map(|(_, line)| line.split_whitespace()).collect();
    let all = json!(Answer::default());
    let fields: BTreeSet<&str> = all.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, fields);
}
