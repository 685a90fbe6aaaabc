//! Checking a certificate: whether it has a question for each case of all configurations.
//!
//! The problem's configurations are listed anew, and the numbers of each question computed from
//! their expressions. A file is read by its grammar, so that nothing in it can make a question
//! easier than its definitions are. Solvers then decide the questions; what the definitions state
//! of the kernel is taken for granted.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_elimination::TableLimits;
use tickbound_expr::Expr;
use tickbound_model::{ModelError, Problem};

use super::format::{CLAIMS, FORMAT, ProofEntry, ProofKind, SafetyCertificate, VERSION};
use super::format::{file_name, only_files};
use crate::classes::Classes;
use crate::options::StopCheck;
use crate::question_text::call;

/// What was checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CheckedSafety {
    /// The problem without the numbers that the certificate adds.
    pub problem: Value,
    /// What was checked, a sentence each.
    pub checked: Vec<String>,
    /// What was not, and why.
    pub not_checked: Vec<String>,
    /// What had to be trusted.
    pub trusted: Vec<String>,
    /// The questions that solvers are to find unsatisfiable, by the names of their files.
    pub questions: Vec<(String, String)>,
}

/// Checks the certificate in a folder.
///
/// # Errors
/// A file that is missing or is none of a certificate, or a configuration without a question.
pub fn check(folder: &Path, stop: StopCheck<'_>) -> Result<CheckedSafety, String> {
    only_files(folder)?;
    let certificate = read(folder)?;
    let problem = problem_with_numbers(&certificate)?;
    let limits = TableLimits { stop: &|| stop(), ..TableLimits::default() };
    let configurations = problem.configurations(&limits).map_err(|e| e.to_string())?;
    let number = |name: &String| -> Result<Expr, String> {
        let found = problem.definitions.iter().find(|(known, _)| known == name);
        let found = found.ok_or_else(|| format!("{CLAIMS}: there is no number {name}"))?;
        problem.inlined(name, &found.1).map_err(|e| e.to_string())
    };
    let text = certificate.text.iter().map(number).collect::<Result<_, _>>()?;
    let classes = Classes::new(&problem, &configurations, text, (stop, None));
    for text in classes.texts()? {
        if !certificate.texts.contains(&text) {
            let values = certificate.text.iter().zip(&text).map(|(n, v)| format!("{n}={v}"));
            let values: Vec<String> = values.collect();
            return Err(format!("{CLAIMS}: no text is for {}", values.join(", ")));
        }
    }
    let mut found = CheckedSafety { problem: certificate.problem.clone(), ..Default::default() };
    let mut asked = 0;
    for (place, proof) in certificate.proofs.iter().enumerate() {
        if stop() {
            return Err("stopped before the end".to_owned());
        }
        if proof.by == ProofKind::Questions {
            let name = file_name(place);
            let text = content(folder, &name)?;
            asked += covered(&certificate, (&classes, &number), proof, (&name, &text))?;
            found.questions.push((name, text));
        }
    }
    let (files, count) = (found.questions.len(), configurations.count());
    let count = count.map_or_else(|| "all".to_owned(), |n| format!("all {n}"));
    let cases = format!("{asked} cases in {files} files are those of {count} configurations");
    found.checked.push(cases);
    found.add_others(&certificate);
    Ok(found)
}

/// The problem, with the numbers as definitions.
fn problem_with_numbers(certificate: &SafetyCertificate) -> Result<Problem, String> {
    let mut value = certificate.problem.clone();
    if let Some(Value::Object(definitions)) = value.get_mut("definitions") {
        let numbers = certificate.numbers.iter().map(|(n, e)| (n.clone(), e.clone().into()));
        definitions.extend(numbers);
    }
    let elsewhere = |name: &str| {
        Err(ModelError::new("problem.platform", format!("names `{name}`"), "write it out"))
    };
    let problem = Problem::from_value(&value, &IndexMap::new(), &elsewhere);
    problem.map_err(|e| format!("{CLAIMS}: {e}"))
}

impl CheckedSafety {
    /// Notes what has no questions.
    fn add_others(&mut self, certificate: &SafetyCertificate) {
        for (kind, how) in [
            (ProofKind::Trial, "by trying one group in each case"),
            (ProofKind::Cases, "with the numbers of each case"),
        ] {
            let proofs = certificate.proofs.iter().filter(|proof| proof.by == kind).count();
            if proofs > 0 {
                self.not_checked
                    .push(format!("{proofs} proofs {how}; `tickbound verify` makes them"));
            }
        }
        self.trusted.push("the reading of the kernel: what has to hold, and its numbers".into());
    }
}

fn read(folder: &Path) -> Result<SafetyCertificate, String> {
    let fault = |e: String| format!("{CLAIMS}: {e}");
    let text = content(folder, CLAIMS)?;
    let certificate: SafetyCertificate =
        tickbound_input::json(&text).map_err(|e| fault(e.to_string()))?;
    let SafetyCertificate { format, version, .. } = &certificate;
    match format == FORMAT && *version == VERSION {
        true => Ok(certificate),
        false => Err(fault(format!("is {format} {version}, not {FORMAT} {VERSION}"))),
    }
}

/// The text of a file of the certificate.
fn content(folder: &Path, name: &str) -> Result<String, String> {
    tickbound_input::text(folder.join(name)).map_err(|e| format!("{name}: {e}"))
}

/// The expression of a number, by its name.
type NumberLookup<'n> = &'n dyn Fn(&String) -> Result<Expr, String>;

/// That a file has a question for every case of a proof; how many there are.
fn covered(
    certificate: &SafetyCertificate,
    (classes, number): (&Classes<'_>, NumberLookup<'_>),
    proof: &ProofEntry,
    (name, text): (&str, &str),
) -> Result<usize, String> {
    let asked = AskedCases::new(text).map_err(|why| format!("{name}: {why}"))?;
    let mut readings = IndexMap::<&Vec<String>, Vec<Vec<i64>>>::new();
    for member in &proof.of {
        let text = certificate.texts.get(member.text);
        let text = text.ok_or_else(|| format!("{CLAIMS}: there is no text {}", member.text))?;
        readings.entry(&member.numbers).or_default().push(text.clone());
    }
    let mut cases = HashSet::new();
    for (names, texts) in readings {
        let numbers = names.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let of = classes.cases(texts.into_iter().map(|text| (numbers.iter().collect(), text)))?;
        for values in of.values() {
            for function in &asked.functions {
                if !asked.calls.contains(&call(function, values)) {
                    let of = names.iter().zip(values).map(|(n, v)| format!("{n}={v}"));
                    let of = of.collect::<Vec<_>>().join(", ");
                    return Err(format!("{name}: {function} has no question for {of}"));
                }
            }
            cases.insert(values.clone());
        }
    }
    Ok(cases.len())
}

/// The functions that a file defines, and the cases of its questions.
#[derive(Debug, Default)]
struct AskedCases {
    functions: BTreeSet<String>,
    calls: HashSet<String>,
}

impl AskedCases {
    /// Reads a file: a logic, definitions, and questions between `push` and `pop`.
    fn new(text: &str) -> Result<AskedCases, String> {
        let mut asked = AskedCases::default();
        let expressions = expressions(text)?;
        let mut left = expressions.iter().map(String::as_str);
        if left.next() != Some("(set-logic QF_NIA)") {
            return Err("does not begin with (set-logic QF_NIA)".to_owned());
        }
        while let Some(next) = left.next() {
            let wrong = || Err(format!("`{next}` is not expected there"));
            if next == "(push 1)" {
                let call = left.next().unwrap_or_default().to_owned();
                question(&mut left)?;
                asked.calls.insert(call);
            } else if let Some(defined) = next.strip_prefix("(define-fun ") {
                let name = defined.split(' ').next().unwrap_or_default().to_owned();
                if !["fault", "wraps"].contains(&name.as_str()) || !asked.functions.insert(name) {
                    return wrong();
                }
            } else if !(next.starts_with("(declare-fun t") && next.ends_with(" () Int)")) {
                return wrong();
            }
        }
        match asked.functions.contains("fault") {
            true => Ok(asked),
            false => Err("does not define the fault".to_owned()),
        }
    }
}

/// Reads the rest of a question, which may be cut: by whether two digits are equal.
fn question<'t>(left: &mut impl Iterator<Item = &'t str>) -> Result<(), String> {
    loop {
        let next = left.next().unwrap_or_default();
        if next == "(check-sat)" {
            return expect(left, "(pop 1)");
        }
        let differ = left.next().unwrap_or_default();
        let equal = differ.strip_prefix("(assert (not (= t").and_then(|e| e.strip_suffix(")))"));
        let equal = equal.filter(|e| !e.contains(['(', ')']));
        let Some(equal) = equal.filter(|_| next == "(push 1)") else {
            return Err(format!("`{next} {differ}` is not expected in a question"));
        };
        expect(left, "(check-sat)")?;
        expect(left, "(pop 1)")?;
        expect(left, &format!("(assert (= t{equal}))"))?;
    }
}

fn expect<'t>(left: &mut impl Iterator<Item = &'t str>, what: &str) -> Result<(), String> {
    match left.next() {
        Some(next) if next == what => Ok(()),
        next => Err(format!("`{}` is there instead of `{what}`", next.unwrap_or("nothing"))),
    }
}

/// The expressions of a text, each with single spaces.
fn expressions(text: &str) -> Result<Vec<String>, String> {
    if text.contains(['|', '"']) {
        return Err("has quotes".to_owned());
    }
    let (mut all, mut depth) = (Vec::new(), 0_usize);
    let mut open = String::new();
    for line in text.lines() {
        for c in line.split(';').next().unwrap_or_default().chars() {
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => return Err("has a parenthesis too many".to_owned()),
                ')' => depth -= 1,
                _ => {}
            }
            let is_space = c.is_whitespace();
            if !is_space {
                open.push(c);
            } else if !open.is_empty() && !open.ends_with(' ') {
                open.push(' ');
            }
            if depth == 0 && !is_space {
                if c != ')' {
                    return Err(format!("`{open}` is not expected"));
                }
                all.push(std::mem::take(&mut open));
            }
        }
        if !open.is_empty() && !open.ends_with(' ') {
            open.push(' ');
        }
    }
    match depth {
        0 => Ok(all),
        _ => Err("lacks a parenthesis".to_owned()),
    }
}
