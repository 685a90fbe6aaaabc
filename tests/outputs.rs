//! Files of results are whole or absent, and nothing that a command reads is written over.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with a problem of each kind, a connector and results.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let platform = json!({ "units_per_device": 1, "elements_per_unit": 2, "global_access": 3 });
    write("here.json", &platform.to_string());
    let problem = |kernel: serde_json::Value| {
        json!({
            "name": "small", "inputs": { "n": 8 }, "platform": "here.json",
            "parameters": { "WG": [1, 2] },
            "launch": { "global_size": "n", "local_size": "WG" }, "kernel": kernel
        })
    };
    write("p.json", &problem(json!([{ "global": 1 }])).to_string());
    write(
        "k.cl",
        "#include \"k.h\"\nkernel void twice(global int *y) { y[get_global_id(0)] *= TWO; }\n",
    );
    write("k.h", "#define TWO 2\n");
    write("k.ref.c", "void reference(int *y) { for (int i = 0; i < 8; i++) y[i] *= 2; }\n");
    let source = json!({
        "opencl": "k.cl", "entry": "twice", "reference": "k.ref.c",
        "arguments": [{ "name": "y", "type": "int", "length": "n", "output": true }]
    });
    write("k.json", &problem(source).to_string());
    write("f.treo", "main(a, b) { fifo1(a, b) }\n");
    write("steps", "");
    write(
        "r.svg",
        "{\"device_name\": \"d\", \"tune_params_keys\": [\"WG\"], \"cache\": {\n\"1\": \
         {\"WG\": 1, \"time\": 1.0}}}",
    );
    folder
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("tickbound"));
    command.current_dir(folder.path()).args(arguments).stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// The files of a folder with their contents.
fn contents(folder: &TempDir) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.map(|p| (p.clone(), std::fs::read(p).unwrap())).collect();
    files.sort();
    files
}

/// Names that act on a terminal: JSON stays JSON and says the same, no line of a text begins with a
/// part of a name, and pages have nothing that acts.
#[test]
fn names_that_act_on_a_terminal() {
    let folder = folder();
    let name = "a\u{1b}[31m\u{9b}b\u{202e}c\u{7f}\nZZ";
    let file = folder.path().join("p.json");
    let mut problem: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    problem["platform"] = json!({ "units_per_device": 1, "elements_per_unit": 2, "global_access": 3,
        "tick": name });
    std::fs::write(&file, problem.to_string()).unwrap();
    let output = command(&folder, &["tune", "p.json", "--json"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7f}']), "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["about"]["units"]["tick"], name);

    let (source, page) = (format!("{name}.cl"), folder.path().join("page.html"));
    std::fs::copy(folder.path().join("k.cl"), folder.path().join(&source)).unwrap();
    let output = command(&folder, &["init", &source]).output().unwrap();
    if !said(&output).contains("libclang") {
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("a\\u{1b}[31m\\u{9b}b\\u{202e}c\\u{7f} ZZ.cl: kernel"), "{text}");
        assert!(!text.contains("\nZZ"), "{text}");
    }
    std::fs::rename(&file, folder.path().join(name)).unwrap();
    let arguments = ["compare", name, "--engines", "enumerate", "--html", "page.html"];
    command(&folder, &arguments).output().unwrap();
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("tickbound tune &#x27;a\\u{1b}[31m"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7f}']));
}

/// The same for connectors, whose names are any text in XML.
#[test]
fn names_of_connectors_that_act_on_a_terminal() {
    let folder = folder();
    let name = |word: &str| format!("{word}&#10;ZZ&#13;&#9;&#x202e;&#155;");
    let end = |kind: &str, node: u8| format!("<{kind} node=\"//@connectors.0/@nodes.{node}\"/>");
    let text = format!(
        "<r:Module xmlns:r=\"r\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:channels=\"http://www.cwi.nl/reo/channels\"><connectors name=\"{}\"><nodes \
         name=\"{}\"/><nodes name=\"b\"/><primitives xsi:type=\"channels:FIFO\">{}{}</primitives>\
         </connectors></r:Module>",
        name("k"),
        name("a"),
        end("sourceEnds", 0),
        end("sinkEnds", 1)
    );
    std::fs::write(folder.path().join("k.reo"), text).unwrap();
    let output = command(&folder, &["reo", "check", "k.reo", "--ltl", "b"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("k ZZ  \\u{202e}\\u{9b}: `b` is broken by\n  1. {a ZZ  "), "{text}");
    for to in ["promela", "mcrl2", "dot", "aut", "treo", "json", "svg"] {
        let arguments = ["reo", "compose", "k.reo", "--to", to, "-o", "out"];
        let output = command(&folder, &arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{to}: {}", said(&output));
        let text = std::fs::read_to_string(folder.path().join("out")).unwrap();
        assert!(!text.contains(['\r', '\u{9b}', '\u{202e}']) && !text.contains("\nZZ"), "{text}");
    }
}

/// What comes into a folder of results is no exception: its files have the names of problem files.
#[test]
fn a_certificate_takes_no_place_of_another_file() {
    let folder = folder();
    let proof = folder.path().join("proof");
    std::fs::create_dir(&proof).unwrap();
    let text = std::fs::read_to_string(folder.path().join("p.json")).unwrap();
    let own = text.replace("here.json", "../here.json");
    std::fs::write(proof.join("problem.json"), &own).unwrap();
    for (arguments, option) in [
        (
            "tune proof/problem.json --certificate ./proof",
            "--certificate ./proof/problem.json: this command reads",
        ),
        (
            "tune p.json --html proof/claim.json --certificate proof",
            "--certificate proof/claim.json: --html names the same file",
        ),
    ] {
        let output = command(&folder, &arguments.split(' ').collect::<Vec<_>>()).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(option) && said.lines().count() == 1, "{arguments}: {said}");
        assert_eq!(std::fs::read_to_string(proof.join("problem.json")).unwrap(), own);
        assert_eq!(std::fs::read_dir(&proof).unwrap().count(), 1, "{arguments}");
    }
}

#[test]
fn inputs_and_other_outputs_are_not_written_over() {
    let folder = folder();
    std::fs::hard_link(folder.path().join("p.json"), folder.path().join("hard.json")).unwrap();
    let before = contents(&folder);
    for (arguments, option) in [
        ("export --to t1 p.json -o p.json", "--output p.json: this command reads"),
        ("export --to t1 p.json -o ./hard.json", "--output ./hard.json: this command reads"),
        ("export --to t1 p.json -o here.json", "--output here.json: this command reads"),
        ("export --to t1 k.json -o k.cl", "--output k.cl: this command reads"),
        ("export --to t1 k.json -o k.h", "--output k.h: this command reads"),
        ("simulate p.json --set WG=1 --trace p.json", "--trace p.json: this command reads"),
        ("tune p.json --trace x.svg --plot x.svg", "--plot x.svg: --trace names the same file"),
        ("tune p.json --trace x.png --plot x", "--plot x.png: --trace names the same file"),
        ("tune p.json --plot x --html x.png", "--html x.png: --plot names the same file"),
        ("tune p.json --html here.json", "--html here.json: this command reads"),
        ("measure k.json --html k.cl", "--html k.cl: this command reads"),
        ("score p.json --against r.svg --plot r.svg", "--plot r.svg: this command reads"),
        ("score p.json --against r.svg --html r.svg", "--html r.svg: this command reads"),
        ("report r.svg -o r.svg", "--output r.svg: this command reads"),
        ("compare p.json --html p.json", "--html p.json: this command reads"),
        ("reo compose f.treo --to treo -o f.treo", "--output f.treo: this command reads"),
        ("reo run f.treo --steps steps --save steps", "--save steps: this command reads"),
        ("measure k.json --cache c.json --t4 c.json", "--t4 c.json: --cache names the same file"),
        ("measure k.json --cache c --t4 c.old", "--t4 c.old: this command reads or keeps"),
        ("measure k.json --cache k.cl", "--cache k.cl: this command reads"),
        ("measure k.json --t4 k.ref.c", "--t4 k.ref.c: this command reads"),
        ("measure k.json --t4 k.json", "--t4 k.json: this command reads"),
        ("measure k.json --t4 no/t4.json", "no/t4.json: cannot be written: "),
    ] {
        let output = command(&folder, &arguments.split(' ').collect::<Vec<_>>()).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(option), "{arguments}: {said}");
        assert!(said.lines().count() == 1 && output.stdout.is_empty(), "{arguments}: {said}");
    }
    assert_eq!(contents(&folder), before);
}

#[cfg(unix)]
#[test]
fn modes_links_and_devices_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("out.json"), "before").unwrap();
    std::fs::set_permissions(at("out.json"), std::fs::Permissions::from_mode(0o604)).unwrap();
    symlink("out.json", at("link.json")).unwrap();
    let export = |to: &str| {
        let output = command(&folder, &["export", "--to", "t1", "k.json", "-o", to]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", said(&output));
        output.stdout
    };
    assert!(export("link.json").is_empty());
    let text = std::fs::read_to_string(at("out.json")).unwrap();
    assert!(text.contains("twice") && at("link.json").is_symlink());
    assert_eq!(at("out.json").metadata().unwrap().permissions().mode() & 0o7777, 0o604);
    if cfg!(target_os = "linux") {
        assert!(export("/dev/null").is_empty());
        assert_eq!(export("/dev/stdout"), text.as_bytes());
        let both = ["tune", "k.json", "--trace", "/dev/stdout", "--html", "/dev/stdout"];
        let refused = command(&folder, &both).output().unwrap();
        let why = "--html /dev/stdout: --trace names the same file";
        assert!(said(&refused).contains(why), "{}", said(&refused));
    }
    let beside = |path: &Path| path.extension().is_some_and(|end| end == "new");
    assert!(!contents(&folder).iter().any(|(path, _)| beside(path)), "nothing is left behind");
}

/// With standard output and error as a shell is told.
#[cfg(target_os = "linux")]
fn shell(folder: &TempDir, arguments: &str, streams: &str) -> Output {
    let program = cargo_bin("tickbound");
    let line = format!("'{}' {arguments} {streams}", program.display());
    Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_takes_nothing() {
    let folder = folder();
    for arguments in [
        "tune p.json",
        "tune p.json --json",
        "--help",
        "tune --help",
        "--version",
        "export --to t1 k.json",
    ] {
        for (streams, why) in [("> /dev/full", "No space left"), (">&-", "closed")] {
            let output = shell(&folder, arguments, streams);
            let said = said(&output);
            assert_eq!(output.status.code(), Some(2), "{arguments} {streams}: {said}");
            let told = said.contains("standard output: cannot be written: ") && said.contains(why);
            assert!(told, "{arguments} {streams}: {said}");
        }
        let output = shell(&folder, arguments, "> /dev/null");
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", said(&output));
    }
}

/// Neither what was found nor how the command ends depends on standard error.
#[cfg(target_os = "linux")]
#[test]
fn standard_error_that_takes_nothing() {
    let folder = folder();
    for streams in ["2> /dev/full", "2>&-"] {
        let output = shell(&folder, "tune p.json --plot x.svg", streams);
        assert_eq!(output.status.code(), Some(0), "{streams}");
        assert!(!output.stdout.is_empty() && folder.path().join("x.svg").is_file(), "{streams}");
        std::fs::remove_file(folder.path().join("x.svg")).unwrap();
        assert_eq!(shell(&folder, "tune none.json", streams).status.code(), Some(2), "{streams}");
    }
}

/// A reader that closes the pipe at once loses no file.
#[cfg(unix)]
#[test]
fn files_come_before_what_is_printed() {
    let folder = folder();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let arguments = ["tune", "p.json", "--plot", "x", "--trace", "t.json"];
    let output = command(&folder, &arguments).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for name in ["x.svg", "x.png", "t.json"] {
        assert!(folder.path().join(name).metadata().unwrap().len() > 0, "{name}");
    }
}
