//! Captures: of programs on a device, and of both formats as files.
//!
//! Where there is no device or no C compiler the tests that need them are skipped with a message,
//! except on CI, where that is a failure.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use tempfile::TempDir;

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/propose/tests/captures");
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/capture/tests/program.c");

/// The program in a folder, with the layer that cargo builds for these tests.
fn tickbound(folder: &Path, arguments: &[&str]) -> Process {
    let tests = std::env::current_exe().unwrap();
    let layer =
        |folder: &Path| Some(folder.join("libtickbound_capture.so")).filter(|p| p.is_file());
    let layer = tests.ancestors().skip(1).take(2).find_map(layer).expect("cargo builds the layer");
    let mut command = Process::new(cargo_bin("tickbound"));
    command.current_dir(folder).env("TICKBOUND_LAYER", layer).args(arguments);
    command
}

/// Exit status, standard output, standard error.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = tickbound(folder, arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The known program, compiled, if there is a device.
fn program(folder: &Path) -> Option<String> {
    let path = folder.join("program");
    let mut cc = Process::new("cc");
    let compiled = cc.arg("-o").arg(&path).arg(PROGRAM).arg("-l:libOpenCL.so.1").output();
    let absent = tickbound_device::list().absent().or_else(|| match compiled {
        Ok(done) if done.status.success() => None,
        Ok(done) => Some(String::from_utf8_lossy(&done.stderr).into_owned()),
        Err(error) => Some(error.to_string()),
    });
    match absent {
        Some(why) if std::env::var_os("CI").is_none() => {
            eprintln!("skipped: {why}");
            None
        }
        Some(why) => panic!("{why}"),
        None => Some(path.to_string_lossy().into_owned()),
    }
}

/// What both captures of the same program say.
fn scale() -> Value {
    json!({
        "version": 1,
        "name": "program0: scale",
        "notes": [
            "options: without -cl-fast-relaxed-math, which a problem file has no place for",
            "captured: launches by size: 2 of 3328",
            "parameters.LOCAL_SIZE: a group's size, which the driver chose",
        ],
        "inputs": { "n": 3200 },
        "platform": "abstract-2023",
        "parameters": { "LOCAL_SIZE": "divisors(3328)" },
        "constraints": [],
        "launch": { "global_size": ["3328"], "local_size": ["LOCAL_SIZE"] },
        "kernel": {
            "opencl": "program0.cl",
            "entry": "scale",
            "defines": { "WG": 32 },
            "arguments": [
                { "name": "x", "type": "float", "length": 3200, "fill": { "random": [-1, 1] },
                  "output": true },
                { "name": "a", "type": "float", "real": 0.5 },
                { "name": "n", "type": "int", "value": "n" },
            ],
        },
    })
}

#[test]
fn both_formats_give_the_same_problem_files() {
    let folder = TempDir::new().unwrap();
    let from = |capture: &str, into: &str| {
        let capture = format!("{CAPTURES}/{capture}");
        let options =
            ["init", "--platform", "abstract-2023", "--from-capture", &capture, "-o", into];
        let (status, out, err) = run(folder.path(), &options);
        assert_eq!((status, &*err), (Some(0), ""), "{out}");
        ["scale", "rows"].map(|name| read(&folder.path().join(into).join(format!("{name}.json"))))
    };
    let [own, rows] = from("own", "a");
    assert_eq!(own, scale());
    assert_eq!(rows["inputs"], json!({ "width": 200, "height": 16 }));
    assert_eq!(rows["launch"], json!({ "global_size": ["32", "16"], "local_size": ["32", "1"] }));
    let part = json!({ "name": "part", "type": "float", "length": 32, "space": "local" });
    assert_eq!(rows["kernel"]["arguments"][2], part);
    assert_eq!(rows["kernel"]["arguments"][1]["length"], 16);
    assert_eq!(rows["kernel"]["arguments"][0]["length"], 3200);
    assert_eq!(rows["notes"].as_array().map(Vec::len), Some(2));
    assert_eq!(from("Replay", "b"), [own, rows.clone()]);
    let source = |name: &str| std::fs::read_to_string(folder.path().join(name).join("program0.cl"));
    assert_eq!(source("a").unwrap(), source("b").unwrap());
    // One kernel alone; what exists stays.
    let own = format!("{CAPTURES}/own");
    let options = ["init", "--from-capture", &own, "--kernel", "rows", "-o", "a"];
    let (status, _, err) = run(folder.path(), &options);
    let wanted = "tickbound: a/rows.json: it exists; add --force to replace it, or choose another \
                  name with --output\ntickbound: 1 of 1 kernels have no problem file\n";
    assert_eq!((status, &*err), (Some(1), wanted));
    let local = ["--force", "--parameter", "WG=[16, 32]", "--local-size", "WG,1"];
    let (status, ..) = run(folder.path(), &[&options[..], &local].concat());
    assert_eq!(status, Some(0));
    let open = read(&folder.path().join("a/rows.json"));
    assert_eq!(open["launch"], json!({ "global_size": ["32", "16"], "local_size": ["WG", "1"] }));
    let (parameters, defines) = (&open["parameters"], open["kernel"].get("defines"));
    assert_eq!((parameters, defines), (&json!({ "WG": [16, 32] }), None));
    let note = "arguments: local memory is as long as in the program, for all values of parameters";
    assert_eq!(open["notes"][2], note);
    let (status, _, err) = run(folder.path(), &["init", "--from-capture", &own, "-o", "-"]);
    assert_eq!((status, folder.path().join("-").exists()), (Some(2), false), "{err}");
    let (status, _, err) = run(folder.path(), &["init", "--from-capture", &own, "--kernel", "row"]);
    let wanted = "tickbound: --kernel row: not in the capture; did you mean `rows`?\n";
    assert_eq!((status, &*err), (Some(2), wanted));
}

/// A capture with these lines after that of its program, `k`.
fn capture(folder: &Path, program: &str, lines: &str) {
    let own = folder.join("c/process0");
    std::fs::create_dir_all(&own).unwrap();
    let source = "kernel void k(global int *x, long n) { if (n > 0) x[get_global_id(0)] = n; }\n";
    std::fs::write(own.join("program0.cl"), source).unwrap();
    std::fs::write(own.join("capture.jsonl"), format!("{program}\n{lines}")).unwrap();
}

const SOURCE: &str = r#"{"program": 0, "source": "program0.cl", "options": ""}"#;

fn launch(number: usize, range: &str, arguments: &str) -> String {
    format!(
        "{{\"launch\": {number}, \"program\": 0, \"kernel\": \"k\", {range}, \
         \"arguments\": [{arguments}]}}\n"
    )
}

const RANGE: &str = r#""global": [64], "local": [8], "offset": null"#;
const X: &str = r#"{"memory": 0, "bytes": 256}"#;

/// Sizes that follow from an argument in all launches are written so.
#[test]
fn sizes_follow_arguments() {
    let sized = |launches: [(u8, u8, usize); 2]| {
        let folder = TempDir::new().unwrap();
        let line = |(number, (n, items, bytes)): (usize, (u8, u8, usize))| {
            let x = X.replace("256", &bytes.to_string());
            let n = format!("{x}, {{\"value\": \"{n:02x}00000000000000\"}}");
            launch(number, &RANGE.replace("64", &items.to_string()), &n)
        };
        let lines: String = launches.into_iter().enumerate().map(line).collect();
        capture(folder.path(), SOURCE, &(lines + "{\"end\": 2}\n"));
        let options = ["init", "--platform", "abstract-2023", "--from-capture", "c"];
        let (status, out, err) = run(folder.path(), &options);
        assert_eq!((status, &*err), (Some(0), ""), "{out}");
        let problem = read(&folder.path().join("c/problems/k.json"));
        let length = problem["kernel"]["arguments"][0]["length"].clone();
        (problem["inputs"].clone(), problem["launch"]["global_size"][0].clone(), length)
    };
    let rounded = json!("ceil_div(n, 8) * 8");
    assert_eq!(sized([(60, 64, 240), (125, 128, 500)]), (json!({ "n": 60 }), rounded, json!("n")));
    let own = (json!({ "n": 8 }), json!("n"), json!("n"));
    assert_eq!(sized([(8, 8, 32), (16, 16, 64)]), own);
    let (_, global, length) = sized([(3, 64, 768), (5, 128, 2560)]);
    assert_eq!((global, length), (json!("global_size_x"), json!("n * global_size_x")));
    // One launch does not follow: it has one item more than whole groups need.
    let (inputs, global, _) = sized([(60, 64, 240), (120, 128, 480)]);
    assert_eq!((inputs, global), (json!({ "global_size_x": 64, "n": 60 }), json!("global_size_x")));
}

#[test]
fn launches_of_several_sizes_become_one_problem() {
    let folder = TempDir::new().unwrap();
    let n = |text: &str| format!("{X}, {{\"value\": \"{text}00000000000000\"}}");
    let large = RANGE.replace("64", "128");
    let lines = launch(0, RANGE, &n("05"))
        + &launch(1, &large, &n("07"))
        + &launch(2, RANGE, &n("06"))
        + "{\"launch\": 1, \"count\": 9}\n{\"end\": 11}\n";
    capture(folder.path(), SOURCE, &lines);
    let options = ["init", "--platform", "abstract-2023", "--from-capture", "c"];
    let (status, out, err) = run(folder.path(), &options);
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    let problem = read(&folder.path().join("c/problems/k.json"));
    assert_eq!(problem["inputs"], json!({ "global_size_x": 128, "n": 7 }));
    let sizes = json!({
        "128": { "global_size_x": 128, "n": 7 },
        "64": { "global_size_x": 64, "n": 5 },
        "64_2": { "global_size_x": 64, "n": 6 },
    });
    assert_eq!(problem["sizes"], sizes);
    assert_eq!(problem["weights"], json!({ "128": 9, "64": 1, "64_2": 1 }));
    assert_eq!(problem["launch"], json!({ "global_size": ["global_size_x"], "local_size": ["8"] }));
    let notes = ["captured: launches by size: 9 of 128, 1 of 64, 1 of 64_2"];
    assert_eq!(problem["notes"], json!(notes));
    let (_, out, _) = run(folder.path(), &["capture", "--list", "c"]);
    assert!(
        out.contains("\nk             11      3        1280         0.050  128 / 8\n"),
        "{out}"
    );
    for (size, groups) in [("128", 16), ("64", 8)] {
        let tune = ["tune", "c/problems/k.json", "--size", size, "--json"];
        let (status, out, err) = run(folder.path(), &tune);
        assert_eq!(status, Some(0), "{err}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        // One unit of four elements: each group takes two rounds of a store of 4 ticks and a
        // conversion.
        assert_eq!(answer["upper"], groups * 2 * 5, "{answer}");
    }
}

#[test]
fn what_a_problem_file_cannot_have_is_named() {
    let n = r#", {"value": "0500000000000000"}"#;
    let all = format!("{X}{n}");
    let with = |memory: &str| launch(0, RANGE, &format!("{memory}{n}"));
    let il = r#"{"program": 0, "source": null, "il": true, "options": ""}"#;
    let short = format!("{X}, {{\"value\": \"05\"}}");
    let unset = "argument `x` is set by a function that the capture does not have, or not at all";
    let kernel = |wanted: &str| format!("kernel `k`: {wanted}");
    for (program, lines, wanted) in [
        (
            SOURCE,
            with(r#"{"svm": true}"#),
            kernel("argument `x` is shared virtual memory of unknown length"),
        ),
        (SOURCE, with("null"), kernel(unset)),
        (SOURCE, launch(0, RANGE, X), kernel("1 arguments are set, the kernel takes 2")),
        (SOURCE, launch(0, RANGE, &short), kernel("argument `n` has 1 bytes, long has 8")),
        (
            SOURCE,
            launch(0, &RANGE.replace("null", "[8]"), &all),
            kernel("a problem file has no offset of the launch"),
        ),
        (
            SOURCE,
            launch(0, &RANGE.replace("[8]", "[7]"), &all),
            kernel("64 work items are no whole groups of 7"),
        ),
        (SOURCE, launch(0, &RANGE.replace("64", "0"), &all), kernel("it has no work items")),
        (
            SOURCE,
            launch(0, RANGE, &format!("{all}{n}")),
            kernel("3 arguments are set, the kernel takes 2"),
        ),
        (
            il,
            launch(0, RANGE, &all),
            "the program of kernel `k` was made of intermediate language (SPIR-V), not of source"
                .to_owned(),
        ),
    ] {
        let wanted = format!("c/process0/capture.jsonl:2: {wanted}");
        let folder = TempDir::new().unwrap();
        capture(folder.path(), program, &(lines + "{\"end\": 1}\n"));
        let (status, out, err) = run(folder.path(), &["init", "--from-capture", "c"]);
        let rest = "tickbound: 1 of 1 kernels have no problem file\n";
        assert_eq!((status, &*out, err), (Some(1), "", format!("tickbound: {wanted}\n{rest}")));
    }
}

const IMAGES: &str = "\
kernel void k(read_only image2d_t a, write_only image2d_array_t b, sampler_t s, global int *x,
              read_only image3d_t c)
{
    int4 at = {get_global_id(0), 0, 0, 0};
    if (x) x[at.x] = 1;
    write_imagef(b, at, read_imagef(a, s, at.xy) + read_imagef(c, s, at));
}
";

#[test]
fn images_samplers_and_null() {
    let folder = TempDir::new().unwrap();
    let image = |kind: u32, format: [u32; 2], sizes: [i64; 4]| {
        let image = json!({ "kind": kind, "format": format, "sizes": sizes });
        json!({ "memory": 0, "bytes": 9, "image": image }).to_string()
    };
    let bytes = image(0x10f1, [0x10b5, 0x10d2], [64, 32, 0, 0]);
    let array = image(0x10f3, [0x10b5, 0x10de], [64, 1, 0, 5]);
    let volume = image(0x10f2, [0x10b5, 0x10de], [64, 4, 3, 0]);
    let sampler = r#"{"sampler": [1, 4402, 4417]}"#;
    for null in [r#"{"value": "0000000000000000"}"#, r#"{"local": 8}"#] {
        let arguments = [&bytes, &array, sampler, null, &volume].join(", ");
        let lines = launch(0, RANGE, &arguments) + "{\"end\": 1}\n";
        capture(folder.path(), SOURCE, &lines);
        std::fs::write(folder.path().join("c/process0/program0.cl"), IMAGES).unwrap();
        let options = ["init", "--from-capture", "c", "-o", "p", "--force"];
        let (status, out, err) = run(folder.path(), &options);
        assert_eq!((status, &*err), (Some(0), ""), "{out}");
        let problem = read(&folder.path().join("p/k.json"));
        assert_eq!(problem["inputs"], json!({}));
        let arguments = problem["kernel"]["arguments"].as_array().unwrap();
        assert_eq!(arguments[0], json!({ "name": "a", "type": "float", "image": [64, 32] }));
        assert_eq!(arguments[1], json!({ "name": "b", "type": "float", "image": [64, 1, 5] }));
        // Normalised, clamped, linear.
        assert_eq!(arguments[2], json!({ "name": "s", "type": "uint", "value": 1 + 4 + 32 }));
        assert_eq!(arguments[3]["length"], 0);
        assert_eq!(arguments[4]["image"], json!([64, 4, 3]));
        let notes = problem["notes"].to_string();
        let note =
            "arguments.a: another format of images in the program; here four components of float";
        assert!(notes.contains(note) && !notes.contains("arguments.b:"), "{notes}");
        assert_eq!(run(folder.path(), &["tune", "p/k.json"]).0, Some(0));
    }
    // An image where the source has another.
    let arguments = [&array, &bytes, sampler, r#"{"local": 8}"#, &volume].join(", ");
    capture(folder.path(), SOURCE, &(launch(0, RANGE, &arguments) + "{\"end\": 1}\n"));
    std::fs::write(folder.path().join("c/process0/program0.cl"), IMAGES).unwrap();
    let (status, _, err) = run(folder.path(), &["init", "--from-capture", "c", "--force"]);
    assert!(status == Some(1) && err.contains("is set to another image"), "{err}");
}

#[test]
fn captures_that_are_damaged() {
    let n = r#", {"value": "0500000000000000"}"#;
    let whole = launch(0, RANGE, &format!("{X}{n}"));
    let lines = |text: &str| (SOURCE.to_owned(), text.to_owned());
    let list = |(program, lines): (String, String)| {
        let folder = TempDir::new().unwrap();
        capture(folder.path(), &program, &lines);
        run(folder.path(), &["capture", "--list", "c"])
    };
    // The last line is cut: what is before it counts.
    let (status, out, err) = list(lines(&(whole.clone() + "{\"launch\": 1, \"prog")));
    let wanted = "tickbound: c/process0/capture.jsonl:3: the line is cut; it is left out\n\
                  tickbound: c/process0/capture.jsonl: the program was ended before it could write \
                  its last counts; they may be too small\n";
    assert_eq!((status, &*err), (Some(0), wanted));
    assert!(out.contains("\nk              1      1          64         0.005  64 / 8\n"), "{out}");
    for (program, lines) in [
        (SOURCE, "x\n".to_owned()),
        (SOURCE, "{\"launch\": 4, \"count\": 2}\n".to_owned()),
        (SOURCE, whole.replace("05", "0x")),
        (SOURCE, whole.replace("\"k\"", "7")),
        ("{\"end\": 0}", whole.clone()),
    ] {
        let (status, _, err) = list((program.to_owned(), lines.clone()));
        let what = "c/process0/capture.jsonl:2: this is no line of a capture";
        assert_eq!((status, err), (Some(2), format!("tickbound: {what}: {lines}")));
    }
    // Launches beyond those that are written.
    let (_, _, err) = list(lines(&(whole.clone() + "{\"end\": 4}\n")));
    let wanted = "3 more launches differ from all that it has";
    assert_eq!(err, format!("tickbound: c/process0/capture.jsonl: {wanted}\n"));
    let (_, _, err) = list((SOURCE.replace("program0", "../../x"), whole.clone()));
    assert_eq!(
        err,
        "tickbound: c/process0/capture.jsonl: the source ../../x.cl is not beside it\n"
    );
    let (_, _, err) = list((SOURCE.replace("program0", "other"), whole));
    assert_eq!(err, "tickbound: c/process0/other.cl: there is no such file\n");
    let folder = TempDir::new().unwrap();
    let (status, _, err) = run(folder.path(), &["capture", "--list", "."]);
    let wanted = "tickbound: .: there is no launch in it; give a folder that `tickbound capture \
                  -o` wrote, or `Replay` of Intel's Intercept Layer\n";
    assert_eq!((status, &*err), (Some(2), wanted));
    // The Intercept Layer was ended while it wrote its last launch.
    let copy = |from: &str, into: &Path| {
        let from = PathBuf::from(CAPTURES).join("Replay").join(from);
        assert!(Process::new("cp").arg("-r").arg(from).arg(into).status().unwrap().success());
    };
    ["Enqueue_0_scale", "Enqueue_2_rows"].iter().for_each(|name| copy(name, folder.path()));
    std::fs::remove_file(folder.path().join("Enqueue_2_rows/worksizes.txt")).unwrap();
    let (status, out, err) = run(folder.path(), &["capture", "--list", "."]);
    let wanted = "tickbound: ./Enqueue_2_rows/worksizes.txt: there is no such file; this last \
                  launch is left out\n";
    assert_eq!((status, &*err), (Some(0), wanted));
    assert!(
        out.contains("\nscale          1      1        3328         0.005  3328 / 64\n"),
        "{out}"
    );
    std::fs::remove_dir_all(folder.path().join("Enqueue_2_rows")).unwrap();
    std::fs::remove_dir_all(folder.path().join("Enqueue_0_scale/Pre")).unwrap();
    let (status, _, err) = run(folder.path(), &["capture", "--list", "."]);
    let wanted = "tickbound: ./Enqueue_0_scale/Pre: No such file or directory (os error 2)\n";
    assert_eq!((status, &*err), (Some(2), wanted));
}

#[test]
fn captures_with_random_damage_are_read_or_refused() {
    let folder = TempDir::new().unwrap();
    let own = PathBuf::from(CAPTURES).join("own");
    let lines = std::fs::read(own.join("capture.jsonl")).unwrap();
    std::fs::copy(own.join("program0.cl"), folder.path().join("program0.cl")).unwrap();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut read, mut refused) = (0, 0);
    for _ in 0..1000 {
        let mut damaged = lines.clone();
        for _ in 0..=random(3) {
            let at = random(damaged.len());
            match random(4) {
                0 => damaged.truncate(at.max(1)),
                1 => damaged[at] = b"0129-\"[]{},:\n\\ean/"[random(18)],
                2 => drop(damaged.splice(at..at, *b"9999999999")),
                _ => drop(damaged.drain(at..damaged.len().min(at + 1 + random(20)))),
            }
        }
        std::fs::write(folder.path().join("capture.jsonl"), &damaged).unwrap();
        match tickbound_propose::capture::read(folder.path()) {
            Ok(capture) => {
                read += 1;
                for kernel in &capture.kernels {
                    assert!(kernel.count() > 0 || kernel.launches.iter().all(|l| l.count == 0));
                    let _ = (kernel.items(), kernel.text().is_ok());
                    kernel.launches.iter().for_each(|launch| assert!(!launch.size().is_empty()));
                }
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

#[test]
fn a_program_is_captured_and_its_kernels_tuned() {
    let folder = TempDir::new().unwrap();
    let Some(program) = program(folder.path()) else { return };
    let steps = ["scale", "rows", "many", "linked"];
    let (status, out, err) =
        run(folder.path(), &[&["capture", "-o", "c", "--", &program], &steps[..]].concat());
    assert_eq!((status, &*out), (Some(7), "done\n"));
    let path = folder.path().canonicalize().unwrap().join("c");
    let wanted = format!(
        "tickbound: 3 kernels, 42 launches; `tickbound init --from-capture {}`\n",
        path.display()
    );
    assert_eq!(err, wanted);
    let (_, out, _) = run(folder.path(), &["capture", "--list", "c"]);
    let wanted = "\
kernel  launches  sizes  work items  predicted ms  most frequent
------  --------  -----  ----------  ------------  -------------------------
scale         40      4       12352         0.185  64 / 64
rows           1      1         512         0.005  32x16 / 32x1
g              1      1          16         0.005  16 / chosen by the driver

sizes: distinct launches; predicted: all launches by the profile resources
";
    assert_eq!(out, wanted);
    let init = ["init", "--from-capture", "c", "-o", "p", "--platform", "abstract-2023"];
    let (status, out, err) = run(folder.path(), &init);
    assert_eq!((status, &*err), (Some(0), ""), "{out}");
    for name in ["scale", "rows", "g"] {
        let file = format!("p/{name}.json");
        let problem = read(&folder.path().join(&file));
        assert!(!problem["notes"].to_string().contains("guesses"), "{problem}");
        let (status, out, err) = run(folder.path(), &["tune", &file, "--json"]);
        assert_eq!(status, Some(0), "{out}{err}");
        let (status, out, err) = run(folder.path(), &["measure", &file, "--all"]);
        assert_eq!(status, Some(0), "{out}{err}");
    }
    let scale = read(&folder.path().join("p/scale.json"));
    assert_eq!(scale["kernel"]["defines"], json!({ "WG": 32, "NAME": { "text": "a b" } }));
    // A capture is not written over.
    let (status, _, err) = run(folder.path(), &["capture", "-o", "c", "--", &program]);
    let wanted = "tickbound: --output c: there is a capture in it; choose another folder\n";
    assert_eq!((status, &*err), (Some(2), wanted));
}

#[test]
fn a_program_that_is_killed_and_one_that_forks() {
    let folder = TempDir::new().unwrap();
    let Some(program) = program(folder.path()) else { return };
    let (status, ..) =
        run(folder.path(), &["capture", "-o", "a", "--", &program, "many", "scale", "killed"]);
    assert_eq!(status, Some(137));
    let (_, out, err) = run(folder.path(), &["capture", "--list", "a"]);
    // Of 37 launches the counts are those after 32.
    assert!(out.contains("\nscale         34      4"), "{out}");
    assert!(err.contains("a/process0/capture.jsonl: the program was ended before"), "{err}");
    let (status, ..) = run(folder.path(), &["capture", "-o", "b", "--", &program, "fork", "scale"]);
    assert_eq!(status, Some(7));
    let (_, out, err) = run(folder.path(), &["capture", "--list", "b"]);
    assert!(
        out.contains("\nscale          6      2       19968         0.028  3328 / 64\n"),
        "{out}"
    );
    assert_eq!(err, "");
}

#[test]
fn what_is_no_program_with_opencl() {
    let folder = TempDir::new().unwrap();
    let shell = |text: &str| run(folder.path(), &["capture", "-o", "c", "--", "sh", "-c", text]);
    let wanted = "tickbound: nothing is captured: no process loaded the layer; OpenCL is not used, \
                  or through a library without layers (ocl-icd has them from 2.3.0, Khronos's \
                  loader from 2021)\n";
    let said = shell("echo $OPENCL_LAYERS | grep -c libtickbound_capture.so; exit 5");
    assert_eq!(said, (Some(5), "1\n".to_owned(), wanted.to_owned()));
    std::fs::create_dir(folder.path().join("c")).unwrap();
    assert_eq!(shell("kill -9 $$"), (Some(137), String::new(), wanted.to_owned()));
    let (status, _, err) = run(folder.path(), &["capture", "-o", "c", "--", "./no-such-program"]);
    let wanted = "tickbound: ./no-such-program: No such file or directory (os error 2); name a \
                  program\n";
    assert_eq!((status, &*err), (Some(2), wanted));
    let mut layers =
        tickbound(folder.path(), &["capture", "-o", "c", "--", "printenv", "OPENCL_LAYERS"]);
    let out = layers.env("OPENCL_LAYERS", "/other.so").output().unwrap().stdout;
    assert!(String::from_utf8(out).unwrap().starts_with("/other.so:/"));
    let mut missing = tickbound(folder.path(), &["capture", "-o", "c", "--", "true"]);
    let err = missing.env("TICKBOUND_LAYER", "/nowhere").output().unwrap().stderr;
    let wanted = "tickbound: there is no layer /nowhere; `make install` installs it, and \
                  TICKBOUND_LAYER names another place\n";
    assert_eq!(String::from_utf8(err).unwrap(), wanted);
}

#[test]
fn signals_are_for_the_program() {
    use std::io::{BufRead, BufReader};

    let folder = TempDir::new().unwrap();
    let text = "trap 'echo term; exit 6' TERM; trap 'echo int' INT; echo ready; \
                while :; do sleep 0.05; done";
    let mut command = tickbound(folder.path(), &["capture", "-o", "c", "--", "sh", "-c", text]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let send = |name: &str| {
        let number = child.id().to_string();
        assert!(Process::new("kill").args([name, &number]).status().unwrap().success());
    };
    // As at a terminal, where the program gets its own: this process only goes on.
    send("-INT");
    send("-TERM");
    assert_eq!(lines.next().unwrap().unwrap(), "term");
    assert_eq!(child.wait().unwrap().code(), Some(6));
}

#[test]
fn a_program_in_python_is_captured() {
    let folder = TempDir::new().unwrap();
    let Some(python) = crate::compare::python_with("pyopencl", "pyopencl") else { return };
    if program(folder.path()).is_none() {
        return;
    }
    let text = "\
import numpy, pyopencl as cl
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
x = cl.Buffer(context, cl.mem_flags.READ_WRITE, 1024)
text = 'kernel void twice(global int *x, int n) { x[get_global_id(0)] *= n; }'
twice = cl.Kernel(cl.Program(context, text).build('-DA=1'), 'twice')
for i in range(3):
    twice(queue, (256,), (64,), x, numpy.int32(2))
queue.finish()
";
    let python = python.to_string_lossy();
    let capture = ["capture", "-o", "c", "--", &python, "-c", text];
    assert_eq!(run(folder.path(), &capture).0, Some(0));
    let (_, out, _) = run(folder.path(), &["capture", "--list", "c"]);
    assert!(
        out.contains("\ntwice          3      1         768         0.014  256 / 64\n"),
        "{out}"
    );
}
