//! The answer of `verify` for people, and as SARIF.

use std::fmt::Write;
use std::path::Path;

use itertools::Itertools;
use tickbound_report::html::{ClaimRow, Page};
use tickbound_report::sarif::{SarifFinding, SarifLevel};
use tickbound_safety::answer::{CodePlace, Judged, Judgement, Safety, SafetyClaim, Witness};

/// The answer as text, what is wrong first. `configurations` states how many there are.
pub fn text(safety: &Safety, configurations: &str, all: bool) -> String {
    let counts = Judgement::ALL.map(|j| format!("{} {}", safety.count(j), j.name())).join(", ");
    let mut text = format!("{}: {configurations}; {counts}\n", outcome(safety));
    if safety.stopped {
        text += "stopped before the end\n";
    }
    for judgement in [Judgement::Refuted, Judgement::Undecided, Judgement::Proved] {
        let shown = judgement != Judgement::Proved || all;
        for judged in safety.judged.iter().filter(|j| shown && j.judgement == judgement) {
            text.push('\n');
            add_judged(&mut text, judged);
        }
    }
    for condition in &safety.kept {
        let _ = writeln!(text, "\nleft out unless {condition}");
    }
    for unread in &safety.unread {
        let _ = writeln!(text, "\nnot read: {unread}");
    }
    let _ = writeln!(
        text,
        "\n{} cases, {} questions to the solver\nassumed:",
        safety.cases, safety.questions
    );
    for assumed in &safety.assumed {
        let _ = writeln!(text, "  {assumed}");
    }
    text
}

/// The places and the fault of a claim.
pub fn fault_at(judged: &Judged) -> String {
    let places = judged.at.iter().map(|at| format!("{}:{}", at.file, at.line));
    let places: Vec<String> = places.collect();
    let array = judged.array.as_ref().map(|array| format!(" on {array}")).unwrap_or_default();
    let no = if judged.judgement == Judgement::Proved { "no " } else { "" };
    format!("{}: {no}{}{array}", places.join(" and "), judged.claim.fault())
}

fn add_judged(text: &mut String, judged: &Judged) {
    let _ = writeln!(text, "{}: {}", judged.judgement.name(), fault_at(judged));
    if let Some(reason) = &judged.reason {
        let _ = writeln!(text, "  {reason}");
    }
    if let Some(witness) = &judged.witness {
        add_witness(text, judged.claim, witness);
    }
}

fn add_witness(text: &mut String, claim: SafetyClaim, witness: &Witness) {
    let listed = |all: &mut dyn Iterator<Item = (&String, &i64)>| {
        let all: Vec<String> = all.map(|(name, value)| format!("{name}={value}")).collect();
        all.join(", ")
    };
    if !witness.configuration.is_empty() {
        let values = listed(&mut witness.configuration.iter());
        let _ = writeln!(text, "  configuration: {values}");
    }
    let others = |(name, _): &(&String, &i64)| !witness.configuration.contains_key(*name);
    let numbers = listed(&mut witness.numbers.iter().filter(others));
    if !numbers.is_empty() {
        let _ = writeln!(text, "  with: {numbers}");
    }
    for (i, item) in witness.items.iter().enumerate() {
        let bytes = witness.bytes.get(i).map_or_else(String::new, |(from, count)| {
            format!(": bytes {from} to {}", from + i64::from(*count) - 1)
        });
        let _ = writeln!(text, "  item {:?} of group {:?}{bytes}", item.local, item.group);
    }
    if let (Some(length), SafetyClaim::Bounds) = (witness.length, claim) {
        let _ = writeln!(text, "  the array has {length} bytes");
    }
    for (array, byte, value) in &witness.contents {
        let _ = writeln!(text, "  where byte {byte} of {array} begins {value}");
    }
    if witness.same_value {
        text.push_str("  both store the same number\n");
    }
}

/// The answer as a page.
pub fn page(safety: &Safety, title: &str, configurations: &str) -> Page {
    let all = safety.judged.iter().sorted_by_key(|judged| std::cmp::Reverse(judged.judgement));
    let claim = |judged: &Judged| {
        let (mut text, fault) = (String::new(), fault_at(judged));
        add_judged(&mut text, judged);
        let (at, claim) = fault.split_once(": ").unwrap_or(("", &fault));
        ClaimRow {
            status: judged.judgement.name(),
            class: match judged.judgement {
                Judgement::Proved => "proved",
                Judgement::Undecided => "open",
                Judgement::Refuted => "refuted",
            },
            at: at.to_owned(),
            claim: claim.to_owned(),
            detail: text.lines().skip(1).map(str::trim).join("\n"),
        }
    };
    let counts = Judgement::ALL.map(|j| format!("{} {}", safety.count(j), j.name()));
    let facts = [("not read", &safety.unread), ("assumed", &safety.assumed)];
    Page {
        title: format!("safety of {title}"),
        figure: outcome(safety).to_owned(),
        meaning: format!("{configurations}; {}", counts.join(", ")),
        facts: facts
            .into_iter()
            .filter(|(_, all)| !all.is_empty())
            .map(|(name, all)| (name.to_owned(), all.join("; ")))
            .collect(),
        claims: all.map(claim).collect(),
        ..Page::default()
    }
}

/// What came out, in words.
fn outcome(safety: &Safety) -> &'static str {
    match safety.is_proved() {
        true => "safe",
        false if safety.count(Judgement::Refuted) > 0 => "not safe",
        false => "not decided",
    }
}

/// What is refuted or not decided, and what was not read. Files count from `folder`.
pub fn findings(safety: &Safety, folder: &Path) -> Vec<SarifFinding> {
    let place = |at: &CodePlace| (folder.join(&at.file).to_string_lossy().into_owned(), at.line);
    let open = safety.judged.iter().filter(|judged| judged.judgement != Judgement::Proved);
    let judged = open.map(|judged| {
        let mut message = String::new();
        add_judged(&mut message, judged);
        // The word of the JSON answer.
        let rule = serde_json::json!(judged.claim).as_str().unwrap_or_default().to_owned();
        let level = match judged.judgement {
            Judgement::Refuted => SarifLevel::Error,
            _ => SarifLevel::Warning,
        };
        SarifFinding {
            rule: (rule, judged.claim.fault().to_owned()),
            level,
            message: message.trim_end().to_owned(),
            places: judged.at.iter().map(place).collect(),
        }
    });
    judged.collect()
}
