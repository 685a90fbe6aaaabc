//! The confirming question in SMT-LIB, answered by another solver.

use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use crate::compare::python_with;

/// Runs every command of a file in cvc5 and prints what it answers.
const ASK: &str = "
import sys, cvc5
terms = cvc5.TermManager()
solver = cvc5.Solver(terms)
parser = cvc5.InputParser(solver)
parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.argv[1])
symbols = parser.getSymbolManager()
while not (command := parser.nextCommand()).isNull():
    print(command.invoke(solver, symbols), end='')
";

fn answer(python: &Path, file: &Path) -> String {
    let output = Command::new(python).args(["-c", ASK]).arg(file).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

/// The first lines and the objective of what optimisers read, and why another problem has none.
#[test]
fn texts_for_optimisers() {
    let exported = |problem: &str, to: &str| {
        let run = Command::new(env!("CARGO_BIN_EXE_tickbound"))
            .args(["export", &format!("examples/problems/{problem}"), "--to", to])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output();
        let run = run.expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (run.status.code(), text(run.stdout), text(run.stderr))
    };
    let about = "Minimum, as published: the objective is the run time in ticks";
    let texts = ["opb", "flatzinc", "smt2-minimize"].map(|to| exported("minimum.json", to));
    assert!(texts.iter().all(|(code, ..)| *code == Some(0)), "{texts:?}");
    let [opb, flatzinc, smt2] = texts.map(|(_, text, _)| text);
    assert!(opb.starts_with("* #variable= ") && opb.lines().nth(1) == Some(&format!("* {about}")));
    assert!(flatzinc.starts_with(&format!("% {about}\nvar 0..1: x1;\n")), "{flatzinc}");
    assert!(
        flatzinc.ends_with(",4,-1],[x7,x8,x9,x10,x11,x12,x1,time],0);\nsolve minimize time;\n"),
        "{flatzinc}"
    );
    assert!(smt2.starts_with(&format!("; {about}\n")) && smt2.contains("\n(minimize time)\n"));
    let (code, text, why) = exported("fermi.json", "opb");
    assert_eq!((code, text.as_str()), (Some(2), ""));
    assert!(why.contains("--to opb: kernel[0].body[2]: differs between items"), "{why}");
}

/// One tick less is unsatisfiable; with the bound at the least time itself there is a model.
#[test]
fn another_solver_confirms_the_least_time() {
    let Some(python) = python_with("cvc5", "cvc5") else { return };
    let folder = tempdir().expect("a folder");
    let file = folder.path().join("question.smt2");
    for (problem, least) in
        [("abstract.json", 156), ("matmul.json", 6_174_656), ("minimum-opencl.json", 10_995)]
    {
        let status = Command::new(env!("CARGO_BIN_EXE_tickbound"))
            .args(["export", &format!("examples/problems/{problem}"), "--to", "smt2", "-o"])
            .arg(&file)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(status.expect("it runs").success(), "{problem}");
        let question = std::fs::read_to_string(&file).expect("a question");
        assert!(question.contains(&format!("the least time is {least} ticks")), "{problem}");
        assert_eq!(answer(&python, &file), "unsat", "{problem}");
        let bound = |ticks: i64| format!("(<= time {ticks})");
        let weaker = question.replace(&bound(least - 1), &bound(least));
        assert_ne!(weaker, question, "{problem}");
        std::fs::write(&file, weaker).expect("written");
        assert_eq!(answer(&python, &file), "sat", "{problem}");
    }
}
