//! Certificates of `tickbound verify`: other solvers agree, and faults are found.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tickbound_certificate::Refusal;
use tickbound_certificate::tools::{ProofTools, ToolReport, ask_questions};
use tickbound_safety::Verification;
use tickbound_safety::certificate::check::{CheckedSafety, check};
use tickbound_safety::certificate::format::CLAIMS;

use crate::safety::{compared, example};

/// The certificate of an answer in a folder of its own.
fn written(found: &Verification) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    found.certificate.as_ref().unwrap().write(folder.path()).unwrap();
    folder
}

fn checked(folder: &Path) -> Result<CheckedSafety, String> {
    check(folder, &|| false)
}

/// The solvers that were found, by their names, and the files that one gave no answer to within
/// `seconds`. An answer that a question is satisfiable is an error.
fn agreed(
    questions: &[(String, String)],
    seconds: u64,
) -> Result<(BTreeSet<String>, usize), Refusal> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let (interrupt, time) = (&AtomicBool::new(false), Duration::from_secs(seconds));
    let tools = ProofTools { path: &path, time, interrupt, show: &|_| {} };
    let (mut names, mut open) = (BTreeSet::new(), 0);
    ask_questions(questions, &tools, &mut |report| match report {
        ToolReport::Checked(what) => names.extend(what.split(' ').nth(3).map(str::to_owned)),
        ToolReport::NotChecked(what) => open += usize::from(!what.contains("not on PATH")),
    })?;
    assert!(!names.is_empty() || std::env::var_os("CI").is_none(), "no solver is on PATH");
    Ok((names, open))
}

fn examples() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels")
}

/// cvc5 and Z3 find every question of the examples unsatisfiable.
#[test]
fn other_solvers_agree() {
    for (name, cases, files) in [("minimum", 224, 9), ("transpose", 360, 15), ("nbody", 401, 19)] {
        let folder = written(&example(&examples(), name, ("", "")));
        let found = checked(folder.path()).unwrap();
        let said = format!("{cases} cases in {files} files are those of ");
        assert!(found.checked[0].starts_with(&said), "{name}: {:?}", found.checked);
        assert_eq!(agreed(&found.questions, 600).unwrap().1, 0, "{name}");
    }
}

/// They do not contradict what is proved of random kernels; few questions take them long.
#[test]
fn other_solvers_agree_on_random_kernels() {
    let (mut asked, mut open) = (0, 0);
    for seed in 1..=25 {
        let Some(safety) = compared(seed).1 else { continue };
        let found = checked(written(&safety).path());
        let found = found.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let agreed = agreed(&found.questions, 1);
        open += agreed.unwrap_or_else(|why| panic!("seed {seed}: {why}")).1;
        asked += found.questions.len();
    }
    assert!(asked > 50 && open * 5 < asked, "{open} of {asked}");
}

/// Replaces text in a file of a certificate.
fn change(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// A case, a file, or a configuration that is left out, and questions made easier.
#[test]
fn faults_are_found() {
    let safety = example(&examples(), "minimum", ("", ""));
    let refused = |file: &str, from: &str, to: &str, why: &str| {
        let folder = written(&safety);
        change(folder.path(), file, from, to);
        let found = checked(folder.path()).expect_err(why);
        assert!(found.contains(why), "{found}");
    };
    let of_case = "(push 1)\n(assert (fault 16 4))\n(check-sat)\n(pop 1)\n";
    refused("000.smt2", of_case, "", "000.smt2: fault has no question for N0=16, N1=4");
    refused("000.smt2", "(fault 16 4)", "(fault 16 0)", "000.smt2: fault has no question for");
    refused("000.smt2", "(fault 16 4)", "(fault 16 4) false", "000.smt2: fault has no question");
    refused("000.smt2", "(push 1)", "(assert false)\n(push 1)", "`(assert false)` is not expected");
    refused("000.smt2", "(define-fun fault", "(define-fun false", "is not expected");
    refused("000.smt2", "(check-sat)\n", "", "is not expected in a question");
    refused("000.smt2", "QF_NIA", "QF_BV", "does not begin with");
    refused("000.smt2", "(pop 1)", "", "instead of `(pop 1)`");
    refused(CLAIMS, "\"size\": 16777216", "\"size\": 1048576", "has no question for");
    refused(CLAIMS, "tickbound-safety-certificate", "tickbound-certificate", "is tickbound-cert");
    let folder = written(&safety);
    std::fs::remove_file(folder.path().join("001.smt2")).unwrap();
    assert!(checked(folder.path()).unwrap_err().starts_with("001.smt2: "));
    // A text that was not read.
    let folder = written(&example(&examples(), "reduction", ("", "")));
    let path = folder.path().join(CLAIMS);
    let mut claims: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    claims["texts"].as_array_mut().unwrap().pop();
    std::fs::write(&path, claims.to_string()).unwrap();
    assert!(checked(folder.path()).unwrap_err().starts_with("safety.json: no text is for N"));
    // Another file is not removed.
    std::fs::write(folder.path().join("mine.txt"), json!({}).to_string()).unwrap();
    let fault = safety.certificate.as_ref().unwrap().write(folder.path()).unwrap_err();
    assert_eq!(fault, "mine.txt: is no file of a certificate; remove it");
}

/// A condition that is left out of a definition is found by a solver.
#[test]
fn a_weaker_condition_is_satisfiable() {
    let folder = written(&example(&examples(), "minimum", ("", "")));
    // One element less fits the array.
    change(folder.path(), "000.smt2", "(* t87 1)", "(* t87 1) (- 4)");
    let found = checked(folder.path()).unwrap();
    match agreed(&found.questions, 600) {
        Err(why) => assert!(why.to_string().contains("finds it satisfiable"), "{why}"),
        Ok((names, _)) => assert!(names.is_empty()),
    }
}
