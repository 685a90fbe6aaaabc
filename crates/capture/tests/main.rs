//! The layer below a program whose launches are known (`program.c`), on a device such as PoCL.
//!
//! Where there is no device or no C compiler these tests are skipped with a message, except on CI,
//! where that is a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::ptr;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A program that was compiled.
struct Program {
    folder: TempDir,
}

/// Why something is left out, unless this is CI.
fn skip<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("CI").is_none(), "{why}");
    eprintln!("skipped: {why}");
    None
}

/// The layer, which cargo builds for these tests.
fn layer() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let mut folders = tests.ancestors().skip(1).take(2);
    let layer =
        |folder: &Path| Some(folder.join("libtickbound_capture.so")).filter(|p| p.is_file());
    folders.find_map(layer).expect("cargo builds the layer")
}

impl Program {
    fn new() -> Option<Program> {
        if let Some(why) = tickbound_device::list().absent() {
            return skip(&why);
        }
        let folder = TempDir::new().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program.c");
        let output = folder.path().join("program");
        let compiled =
            Command::new("cc").arg("-o").args([&output, &source]).arg("-l:libOpenCL.so.1").output();
        match compiled {
            Ok(done) if done.status.success() => Some(Program { folder }),
            Ok(done) => skip(&String::from_utf8_lossy(&done.stderr)),
            Err(error) => skip(&format!("cc: {error}")),
        }
    }

    fn run_into(&self, capture: &Path, steps: &[&str]) -> Output {
        Command::new(self.folder.path().join("program"))
            .args(steps)
            .current_dir(self.folder.path())
            .env("OPENCL_LAYERS", layer())
            .env("TICKBOUND_CAPTURE", capture)
            .output()
            .unwrap()
    }

    /// What is captured of a program that runs to its end.
    fn run(&self, steps: &[&str]) -> Vec<Vec<Value>> {
        let output = self.run_into(Path::new("capture"), steps);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            (output.status.code(), printed.lines().last()),
            (Some(7), Some("done")),
            "{errors}"
        );
        assert_eq!(errors, "");
        self.captured()
    }

    /// The lines of each process, without what differs between machines.
    fn captured(&self) -> Vec<Vec<Value>> {
        let process = |k: usize| {
            let path = self.file(&format!("process{k}/capture.jsonl"));
            let text = std::fs::read_to_string(path).ok()?;
            assert!(text.ends_with('\n'), "{text}");
            let lines = text.lines().map(|line| {
                let mut line: Value = serde_json::from_str(line).unwrap();
                if let Some(program) = line.as_object_mut().filter(|l| l.contains_key("source")) {
                    assert!(program.remove("device").is_some_and(|name| name != ""));
                    let folder = program.remove("folder").unwrap();
                    let own = self.folder.path().canonicalize().unwrap();
                    assert_eq!(Path::new(folder.as_str().unwrap()), own);
                }
                line
            });
            Some(lines.collect())
        };
        (0..).map_while(process).collect()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("capture").join(name)
    }
}

fn program(number: usize, options: &str) -> Value {
    let source = format!("program{number}.cl");
    json!({ "program": number, "source": source, "il": false, "options": options })
}

/// A launch of `scale` with this memory.
fn scale(launch: usize, local: Value, items: usize, (memory, n): (Value, &str)) -> Value {
    json!({ "launch": launch, "program": 0, "kernel": "scale", "global": [items], "local": local,
            "offset": null, "arguments": [memory, { "value": "0000003f" }, { "value": n }] })
}

fn buffer(bytes: usize) -> Value {
    json!({ "memory": 0, "bytes": bytes })
}

fn count(launch: usize, count: usize) -> Value {
    json!({ "launch": launch, "count": count })
}

const OPTIONS: &str = "-DWG=32 -D NAME=\"a b\" -cl-mad-enable";

#[test]
fn distinct_launches_are_written_once_and_counted() {
    let Some(tried) = Program::new() else { return };
    let lines = tried.run(&["scale", "rows", "many"]);
    let rows = json!({ "launch": 2, "program": 0, "kernel": "rows", "global": [32, 16],
        "local": [32, 1], "offset": null, "arguments": [
            { "memory": 0, "bytes": 12800 }, { "memory": 1, "bytes": 64 }, { "local": 128 },
            { "value": "c8000000" }] });
    let wanted = [
        program(0, OPTIONS),
        scale(0, json!(null), 3328, (buffer(12800), "800c0000")),
        scale(1, json!([64]), 3328, (buffer(12800), "800c0000")),
        rows,
        scale(3, json!([64]), 64, (buffer(12800), "00000000")),
        scale(4, json!([64]), 64, (buffer(12800), "01000000")),
        // After 16 and 32 launches, and at the end.
        count(1, 2),
        count(3, 6),
        count(4, 6),
        count(3, 14),
        count(4, 14),
        count(3, 19),
        count(4, 18),
        json!({ "end": 41 }),
    ];
    assert_eq!(lines, [wanted.to_vec()]);
    let source = std::fs::read_to_string(tried.file("process0/program0.cl")).unwrap();
    let own =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program.c"));
    let own = own.unwrap();
    let (_, text) = own.split_once("*source =\n").unwrap();
    let (text, _) = text.split_once(";\nstatic").unwrap();
    let text: String =
        text.lines().map(|l| l.trim().trim_matches('"').replace("\\n", "\n")).collect();
    assert_eq!(source, text);
}

#[test]
fn objects_are_told_apart() {
    let Some(tried) = Program::new() else { return };
    let all = tried.run(&["objects", "clone"]);
    let one = || json!([64]);
    let mut null = scale(3, one(), 64, (json!({ "value": "0000000000000000" }), "01000000"));
    null["offset"] = one();
    let shared = json!({ "memory": 0, "bytes": 768, "svm": true });
    let task = |launch, memory| scale(launch, json!([1]), 1, (memory, "01000000"));
    let image = json!({ "kind": 0x10f1, "format": [0x10b5, 0x10de], "sizes": [16, 8, 0, 0] });
    let pick = json!({ "launch": 5, "program": 0, "kernel": "pick", "global": [1], "local": [1],
        "offset": null, "arguments": [
            { "memory": 0, "bytes": 2048, "image": image }, { "sampler": [0, 0x1131, 0x1140] },
            { "memory": 2, "bytes": 25600 }] });
    let mut wanted = vec![
        program(0, OPTIONS),
        scale(0, one(), 64, (buffer(12800), "01000000")),
        scale(1, one(), 64, (buffer(25600), "01000000")),
        scale(2, one(), 64, (buffer(256), "01000000")),
        null,
        task(4, shared),
        pick,
    ];
    // Not all drivers copy kernels. A copy has the arguments; what it is given later is its own.
    if all[0].len() > 8 {
        wanted.extend([
            scale(6, one(), 64, (buffer(256), "02000000")),
            scale(7, one(), 64, (buffer(256), "03000000")),
            json!({ "end": 9 }),
        ]);
        wanted.insert(9, count(6, 2));
    } else {
        wanted.push(json!({ "end": 6 }));
    }
    assert_eq!(all, [wanted]);
}

#[test]
fn what_programs_were_made_of() {
    let Some(tried) = Program::new() else { return };
    let mut lines = tried.run(&["linked", "binary"]).remove(0);
    assert_eq!(lines.remove(0), program(0, "-DOF=2 -DPART"));
    assert_eq!(lines.remove(0)["kernel"], "g");
    let binary = json!({ "program": 1, "source": null, "il": false, "options": "" });
    assert_eq!(lines.remove(0), binary);
    let launch = scale(1, json!(null), 8, (buffer(12800), "08000000"));
    assert_eq!(lines.remove(0)["arguments"], launch["arguments"]);
    assert_eq!(lines, [json!({ "end": 2 })]);
    let source = std::fs::read_to_string(tried.file("process0/program0.cl")).unwrap();
    assert_eq!(source.matches("float f(float a)").count(), 2, "{source}");
    assert!(!tried.file("process0/program1.cl").exists());
}

#[test]
fn a_killed_program_leaves_a_capture() {
    let Some(tried) = Program::new() else { return };
    let output = tried.run_into(Path::new("capture"), &["many", "elsewhere", "scale", "killed"]);
    assert_eq!(output.status.code(), None);
    let wanted = [
        program(0, OPTIONS),
        scale(0, json!([64]), 64, (buffer(12800), "00000000")),
        scale(1, json!([64]), 64, (buffer(12800), "01000000")),
        count(0, 8),
        count(1, 8),
        count(0, 16),
        count(1, 16),
        scale(2, json!(null), 3328, (buffer(12800), "800c0000")),
        scale(3, json!([64]), 3328, (buffer(12800), "800c0000")),
    ];
    assert_eq!(tried.captured(), [wanted]);
}

#[test]
fn each_process_writes_its_own() {
    let Some(tried) = Program::new() else { return };
    let forked = tried.run(&["fork", "scale"]);
    let wanted = [
        program(0, OPTIONS),
        scale(0, json!(null), 3328, (buffer(12800), "800c0000")),
        scale(1, json!([64]), 3328, (buffer(12800), "800c0000")),
        count(1, 2),
        json!({ "end": 3 }),
    ];
    assert_eq!(forked, [wanted.clone(), wanted.clone()]);
    assert_eq!(tried.run(&["scale"]), [wanted.clone(), wanted.clone(), wanted]);
}

#[test]
fn a_process_that_forks_later_leaves_its_capture_to_itself() {
    let Some(tried) = Program::new() else { return };
    let all = tried.run(&["rows", "scale", "fork-later", "scale"]);
    let child = [program(0, OPTIONS), scale(0, json!([64]), 64, (buffer(12800), "05000000"))];
    assert_eq!(all[1], child);
    assert_eq!(all[0][4..], [count(1, 2), count(2, 4), json!({ "end": 7 })]);
    assert_eq!(all.len(), 2);
}

#[test]
fn launches_that_all_differ_have_an_end() {
    let Some(tried) = Program::new() else { return };
    let lines = tried.run(&["different"]).remove(0);
    let last = scale(9999, json!([64]), 64, (buffer(12800), "0f270000"));
    assert_eq!(lines[10_000..], [last, json!({ "end": 10_003 })]);
}

#[test]
fn what_cannot_be_written_does_not_disturb() {
    let Some(tried) = Program::new() else { return };
    std::fs::write(tried.folder.path().join("file"), "").unwrap();
    let output = tried.run_into(Path::new("file/capture"), &["scale", "many"]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(7), &b"done\n"[..]));
    let errors = String::from_utf8(output.stderr).unwrap();
    let wanted = format!("tickbound capture: {}/file/capture: ", tried.folder.path().display());
    assert!(errors.starts_with(&wanted), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    // The folder goes away while the program runs.
    let output = tried.run_into(Path::new("gone"), &["remove", "scale", "many"]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(7), &b"done\n"[..]));
    let errors = String::from_utf8(output.stderr).unwrap();
    let wanted = "gone/process0/program0.cl: No such file or directory (os error 2); nothing more \
                  of this process is captured\n";
    assert!(errors.ends_with(wanted), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

#[test]
fn what_the_layer_says_of_itself() {
    let ask = |what, size| {
        let (mut bytes, mut needed) = ([0_u8; 32], 0);
        // SAFETY: there are 32 bytes, and no size above is asked with.
        let status = unsafe {
            tickbound_capture::clGetLayerInfo(what, size, bytes.as_mut_ptr().cast(), &mut needed)
        };
        (status, bytes[..needed].to_vec())
    };
    assert_eq!(ask(0x4240, 4), (0, 100_u32.to_ne_bytes().to_vec()));
    assert_eq!(ask(0x4241, 32), (0, b"tickbound capture\0".to_vec()));
    assert_eq!(ask(0x4241, 3), (-30, vec![]));
    assert_eq!(ask(0x4242, 32), (-30, vec![]));
}

#[test]
fn short_tables_and_none() {
    use tickbound_capture::clInitLayerWithProperties;
    let (mut entries, mut own) = (0, ptr::null());
    let mut begin = |count, table: *const Option<unsafe extern "C" fn()>| {
        // SAFETY: the table is null or has that many entries.
        unsafe { clInitLayerWithProperties(count, table, &mut entries, &mut own, ptr::null()) }
    };
    assert_eq!(begin(4, ptr::null()), -30);
    // A loader that has nothing but the first functions: nothing of it is caught.
    let table = [None; 12];
    assert_eq!(begin(12, table.as_ptr()), 0);
    assert_eq!(entries, 12);
    // SAFETY: the layer has given a table of that many entries.
    let own = unsafe { std::slice::from_raw_parts(own, 12) };
    assert!(own.iter().all(Option::is_none));
}
