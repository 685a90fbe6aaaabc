//! Findings in a source as SARIF, which editors and code review show.
//!
//! OASIS, Static Analysis Results Interchange Format 2.1.0, sections 3.13 to 3.33.

use itertools::Itertools;
use serde_json::{Value, json};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SarifLevel {
    /// It is a fault.
    Error,
    /// It may be one.
    Warning,
    /// Information.
    Note,
}

/// Something about places in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SarifFinding {
    /// The kind of finding, such as `bounds`, and what it is called.
    pub rule: (String, String),
    /// How much it matters.
    pub level: SarifLevel,
    /// The text.
    pub message: String,
    /// Files, as paths that readers can resolve, and lines from 1; it is shown at the first.
    pub places: Vec<(String, u32)>,
}

/// A log with one run of this program.
pub fn sarif(findings: &[SarifFinding]) -> Value {
    let rule =
        |(id, name): &(String, String)| json!({ "id": id, "shortDescription": { "text": name } });
    let rules = findings.iter().map(|one| &one.rule).sorted().dedup();
    let rules: Vec<Value> = rules.map(rule).collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tickbound",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    })
}

fn result(finding: &SarifFinding) -> Value {
    let location = |(file, line): &(String, u32)| {
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": file },
            "region": { "startLine": line },
        } })
    };
    let mut places = finding.places.iter().map(location);
    let level = match finding.level {
        SarifLevel::Error => "error",
        SarifLevel::Warning => "warning",
        SarifLevel::Note => "note",
    };
    json!({
        "ruleId": finding.rule.0,
        "level": level,
        "message": { "text": finding.message },
        "locations": places.next().into_iter().collect::<Vec<Value>>(),
        "relatedLocations": places.collect::<Vec<Value>>(),
    })
}
