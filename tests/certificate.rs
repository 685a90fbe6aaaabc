//! `tune --certificate` and `check`: every example, what is said of programs that are not there,
//! and wrong input.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::tempdir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn tickbound(arguments: &[&str], path: &str) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tickbound"));
    command.args(arguments).current_dir(ROOT).env("PATH", path);
    let output = command.output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
}

/// Where `make tools` puts programs, then `PATH`.
fn path() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{ROOT}/.deps/yices/bin:{ROOT}/.deps/veripb/bin:{path}")
}

/// Writes a certificate for a problem, and checks it with the programs that are there, each so many
/// seconds a file.
fn certified(problem: &str, folder: &Path, seconds: &str) -> Value {
    let folder = folder.to_str().expect("UTF-8");
    let (_, complaints, status) = tickbound(&["tune", problem, "--certificate", folder], &path());
    assert_eq!(status, 0, "{problem}: {complaints}");
    let (said, complaints, status) = tickbound(
        &["check", folder, "--problem", problem, "--json", "--tool-timeout", seconds],
        &path(),
    );
    assert_eq!(status, 0, "{problem}: {said}{complaints}");
    let answer: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(answer["holds"], true, "{said}");
    answer
}

/// What was checked by whom: `question.smt2 by cvc5`.
fn by(answer: &Value, field: &str) -> Vec<String> {
    let all = answer[field].as_array().expect("a list").iter();
    let all = all.map(|what| what.as_str().expect("a text").to_owned());
    all.filter(|what| what.contains(" by ")).collect()
}

/// A program that does this when it is not asked for its version.
fn program(folder: &Path, name: &str, does: &str) {
    std::fs::create_dir_all(folder).expect("a folder");
    let file = folder.join(name);
    let text = format!("#!/bin/sh\n[ \"$1\" = --version ] || {{ {does}; }}\n");
    std::fs::write(&file, text).expect("written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&file, executable).expect("allowed");
}

fn examples(folder: &str) -> Vec<String> {
    let all = std::fs::read_dir(Path::new(ROOT).join(folder)).expect("the examples");
    let names = all.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    let mut names: Vec<String> =
        names.filter(|n| n.ends_with(".json")).map(|n| format!("{folder}/{n}")).collect();
    names.sort();
    names
}

/// What readers take differently is no certificate, and what `check` says is about files, not about
/// options of `tune`.
#[test]
fn files_that_readers_take_differently() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("c");
    certified("examples/problems/abstract.json", &path, "1");
    let rejected = |file: &str, change: &dyn Fn(&str) -> String| {
        let (file, here) = (path.join(file), path.to_str().expect("UTF-8"));
        let before = std::fs::read_to_string(&file).expect("a file");
        std::fs::write(&file, change(&before)).expect("written");
        let (said, complaints, status) = tickbound(&["check", here, "--no-tools"], "");
        std::fs::write(&file, before).expect("written");
        assert_eq!(status, 1, "{said}{complaints}");
        said
    };
    for file in ["claim.json", "problem.json", "question.smt2", "formula.opb"] {
        let said = rejected(file, &|text| format!("\u{feff}{text}"));
        assert!(said.contains(&format!("{file}: begins with a byte-order mark")), "{said}");
    }
    let said =
        rejected("claim.json", &|text| text.replacen("\"time\"", "\"time\": 1, \"time\"", 1));
    assert!(said.contains("claim.json: the key \"time\" is there twice"), "{said}");
    let said =
        rejected("problem.json", &|text| text.replacen("\"name\"", "\"name\": \"\", \"name\"", 1));
    assert!(said.contains("problem.json: the key \"name\" is there twice"), "{said}");
    let said = rejected("claim.json", &|text| text.replace("\"WG\"", "\"XX\""));
    assert!(said.contains("claim.json: configuration.XX: no parameter has this name"), "{said}");
    assert!(!said.contains("--set"), "{said}");
}

/// Parameters with names of SMT-LIB, and with names that the texts have for terms.
#[test]
fn parameters_with_names_of_others() {
    let folder = tempdir().expect("a folder");
    let names = ["t0", "T", "as", "ite", "true", "div", "xor", "let"];
    for (k, pair) in names.chunks(2).enumerate() {
        let [a, b] = pair else { unreachable!("an even number of names") };
        let problem = serde_json::json!({
            "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
            "parameters": { *a: [4, 8, 16], *b: [1, 2, 4] },
            "launch": { "global_size": format!("1024 / {b}"), "local_size": a },
            "kernel": [{ "global": format!("{b} + 2") }, { "compute": a }] });
        let file = folder.path().join(format!("{k}.json"));
        std::fs::write(&file, problem.to_string()).expect("written");
        let path = folder.path().join(format!("c{k}"));
        let answer = certified(file.to_str().expect("UTF-8"), &path, "60");
        assert_eq!(answer["time"], 896, "{answer}");
        let text = std::fs::read_to_string(path.join("question.smt2")).expect("a file");
        assert!(text.contains(&format!("(declare-fun p.{a} () Int)")), "{text}");
        let not = by(&answer, "not_checked");
        let missing = |what: &String| what.contains("which is not on PATH");
        assert!(not.iter().all(missing), "{a}, {b}: {not:?}");
    }
}

/// Every problem has a certificate that holds. Those whose time is a sum have texts for others: all
/// of them where items are alike, the formula alone where they differ.
#[test]
fn every_example_problem() {
    let with_texts = ["abstract.json", "matmul.json", "minimum.json"];
    let with_formula = [
        "abstract-opencl.json",
        "minimum-opencl.json",
        "reduction-h200.json",
        "convolution-resources.json",
        "coulomb-resources.json",
        "dedispersion-resources.json",
    ];
    let problems = examples("examples/problems");
    assert_eq!(problems.len(), 13);
    for problem in problems {
        let folder = tempdir().expect("a folder");
        let answer = certified(&problem, &folder.path().join("c"), "300");
        let checked = by(&answer, "checked").len();
        let is_among = |names: &[&str]| names.iter().any(|n| problem.ends_with(&format!("/{n}")));
        let expected = match (is_among(&with_texts), is_among(&with_formula)) {
            // cvc5 and Z3 two texts each, Yices and VeriPB one.
            (true, _) => 6,
            (_, true) => 1,
            _ => 0,
        };
        if expected == 0 || std::env::var_os("CI").is_some() {
            assert_eq!(checked, expected, "{problem}: {answer}");
        }
    }
}

/// The kind of proof that a certificate claims.
fn proof_in(folder: &Path) -> String {
    let claim = std::fs::read_to_string(folder.join("claim.json")).expect("a claim");
    let claim: Value = serde_json::from_str(&claim).expect("JSON");
    claim["proof"].as_str().expect("a text").to_owned()
}

/// Every kernel has one, too.
#[test]
fn every_example_kernel() {
    let (_, complaints, _) = tickbound(&["explain", "examples/kernels/gemm.json"], &path());
    if complaints.contains("libclang") {
        assert!(std::env::var_os("CI").is_none(), "{complaints}");
        return;
    }
    let kernels = examples("examples/kernels");
    assert_eq!(kernels.len(), 10);
    // Under the profile `opencl`, whose times are sums.
    let copies = tempdir().expect("a folder");
    for file in std::fs::read_dir("examples/kernels").expect("the kernels") {
        let file = file.expect("a file");
        let mut text = std::fs::read_to_string(file.path()).expect("a text");
        if file.path().extension().is_some_and(|end| end == "json") {
            let mut problem: Value = serde_json::from_str(&text).expect("JSON");
            problem["profile"] = "opencl".into();
            text = problem.to_string();
        }
        std::fs::write(copies.path().join(file.file_name()), text).expect("written");
    }
    let mut proofs = Vec::new();
    for kernel in kernels {
        let kernel = copies.path().join(Path::new(&kernel).file_name().expect("a name"));
        let kernel = kernel.display().to_string();
        let folder = tempdir().expect("a folder");
        let folder = folder.path().join("c");
        // Some of these questions are long; the small ones are answered at once.
        certified(&kernel, &folder, "1");
        let name = Path::new(&kernel).file_stem().expect("a name").to_string_lossy().into_owned();
        proofs.push(format!("{name} by {}", proof_in(&folder)));
    }
    let all = [
        "convolution by inequalities",
        "coulomb-column by inequalities",
        "coulomb by inequalities",
        "dedispersion by inequalities",
        "gemm by inequalities",
        "minimum by inequalities",
        "nbody by inequalities",
        "reduction by inequalities",
        "stencil by inequalities",
        "transpose by inequalities",
    ];
    assert_eq!(proofs, all);
    // Under the profile `resources`: usages whose variants are written as definitions.
    for (kernel, proof) in [
        ("convolution", "branches"),
        ("dedispersion", "branches"),
        ("gemm", "branches"),
        ("stencil", "inequalities"),
    ] {
        let folder = copies.path().join(format!("{kernel}-resources"));
        certified(&format!("examples/kernels/{kernel}.json"), &folder, "1");
        assert_eq!(proof_in(&folder), proof, "{kernel}");
    }
}

/// A program that is not there has checked nothing, and that is said.
#[test]
fn without_other_programs() {
    let folder = tempdir().expect("a folder");
    let folder = folder.path().join("c");
    certified("examples/problems/minimum.json", &folder, "300");
    let shown = folder.to_str().expect("UTF-8");
    let (said, _, status) = tickbound(&["check", shown], "/nowhere");
    assert_eq!(status, 0);
    for line in [
        "not checked: question.smt2 and induction.smt2 by cvc5, which is not on PATH\n",
        "not checked: question.smt2 and induction.smt2 by z3, which is not on PATH\n",
        "not checked: question.smt2 by yices-smt2, which is not on PATH\n",
        "not checked: formula.pbp by veripb, which is not on PATH\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let (said, _, status) = tickbound(&["check", shown, "--no-tools"], &path());
    assert_eq!((status, said.contains(" by ")), (0, false), "{said}");
}

/// What was checked before a stop is told; the claim does not hold for that.
#[test]
fn a_stop_keeps_what_was_checked() {
    let folder = tempdir().expect("a folder");
    let (own, programs) = (folder.path().join("c"), folder.path().join("bin"));
    certified("examples/problems/minimum.json", &own, "300");
    program(&programs, "cvc5", "exec sleep 1000");
    let path = format!("{}:/bin:/usr/bin", programs.display());
    let own = own.to_str().expect("UTF-8");
    let (out, complaints, code) =
        tickbound(&["check", own, "--tool-timeout", "900", "--timeout", "1"], &path);
    assert_eq!(code, 1, "{out}{complaints}");
    assert!(out.contains("checked:    nothing is faster: "), "{out}");
    assert!(out.ends_with("\nstopped before all was checked\n"), "{out}");
}

/// What a program answers is believed in one direction only: no answer is no check, `sat` is a
/// rejection.
#[test]
fn other_programs_that_say_something_else() {
    let folder = tempdir().expect("a folder");
    let (own, programs) = (folder.path().join("c"), folder.path().join("bin"));
    certified("examples/problems/minimum.json", &own, "300");
    for (said, status, words) in [
        ("echo sat", 1, "rejected:   question.smt2: z3 finds it satisfiable"),
        ("echo unknown", 0, "not checked: question.smt2 by z3: unknown"),
        ("echo unsat; echo unsat", 0, "not checked: question.smt2 by z3: unsat"),
        ("echo '(error)'; exit 1", 0, "not checked: question.smt2 by z3: (error)"),
        ("exit 3", 0, "not checked: question.smt2 by z3: no answer"),
    ] {
        program(&programs, "z3", said);
        let path = format!("{}:/bin:/usr/bin", programs.display());
        let (out, _, code) = tickbound(&["check", own.to_str().expect("UTF-8")], &path);
        assert_eq!((code, out.contains(words)), (status, true), "{said}: {out}");
    }
}
