//! `tickbound explain`, and what a person sees who gives it kernels that cannot be read.

use std::fs;
use std::path::Path;

use assert_cmd::cargo::cargo_bin_cmd;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs tickbound in the folder of the example kernels: what it prints, what it complains about,
/// and its exit status.
fn tickbound(folder: &Path, arguments: &[&str]) -> (String, String, i32) {
    let mut command = cargo_bin_cmd!("tickbound");
    let output = command.current_dir(folder).args(arguments).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
}

fn kernels() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels")
}

/// Without libclang kernels cannot be read; in CI that is a failure.
fn can_read() -> bool {
    let (_, errors, _) = tickbound(&kernels(), &["explain", "minimum.json"]);
    let missing = errors.contains("libclang");
    assert!(!missing || std::env::var_os("CI").is_none(), "{errors}");
    if missing {
        eprintln!("skipped: {errors}");
    }
    !missing
}

#[test]
fn minimum_beside_its_source() {
    if !can_read() {
        return;
    }
    let (text, errors, status) =
        tickbound(&kernels(), &["explain", "minimum.json", "--set", "WG=64", "--set", "TS=4"]);
    assert_eq!((errors.as_str(), status), ("", 0));
    assert_snapshot!(text);
    let (text, _, _) = tickbound(&kernels(), &["explain", "minimum.json", "--json"]);
    let object: Value = serde_json::from_str(&text).expect("JSON");
    assert_snapshot!(format!("{object:#}"));
}

#[test]
fn one_program_for_all_readings() {
    if !can_read() {
        return;
    }
    let (text, _, _) = tickbound(&kernels(), &["explain", "gemm.json", "--json"]);
    let object: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(object["configurations"], 241_600);
    assert_eq!(object["choices"], 1_327_104);
    assert_eq!(object["structural"], json!(["VWM", "VWN", "SA", "SB"]));
    assert_eq!(object["readings"], 64);
    assert_snapshot!(format!("{:#}", object["program"]));
}

/// Of a tile of 32 x 32 a warp copies 4 rows. Its columns lie in one bank; all else is a line, and
/// moved once. Each of the two loops is tested once in four iterations, and each of 16 addresses
/// takes an instruction.
#[test]
fn what_a_transpose_uses() {
    if !can_read() {
        return;
    }
    let chosen = ["--set", "TILE=32", "--set", "ROWS=8", "--set", "PAD=0"];
    let arguments = ["explain", "transpose.json", "--profile", "resources"];
    let (text, errors, status) = tickbound(&kernels(), &[&arguments[..], &chosen].concat());
    assert_eq!((errors.as_str(), status), ("", 0));
    let used = text.lines().find(|line| line.starts_with("it uses: "));
    assert_eq!(
        used,
        Some(
            "it uses: integer 22, branches 2, local_requests 8, local_wavefronts 132, \
             global_requests 8, \
             global_wavefronts 8, global_lines 8, barriers 1, l2_bytes 8192, local_bytes 4096, \
             far_steps 1, \
             local_steps 1, registers 20, spill_uses 2, dram_bytes 67108864"
        )
    );
    // Line 22 reads a column of the tile: 32 passes for each of 4 requests.
    let line = text.lines().find(|line| line.starts_with("transpose.cl:22: "));
    assert_eq!(
        line,
        Some(
            "transpose.cl:22: integer 8, local_requests 4, local_wavefronts 128, global_requests \
             4, global_wavefronts 4, \
             global_lines 4, l2_bytes 4096, dram_bytes 33554432"
        )
    );
    // L1 bounds it: 132 passes of conflicts in line 22 and 4 of the tile's rows, 1.1 clocks each; 8
    // requests to global memory, half of them in each line, are 4 passes there.
    let lines: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("bound by:")).map(str::trim).collect();
    assert_eq!(lines[0], "bound by:   L1");
    assert_eq!(
        lines[4..],
        [
            "hint:       transpose.cl:22: 32.0 passes of local memory for each request: banks \
             conflict; pad the rows of the array by one element",
            "by line:     94 % ############################   transpose.cl:22",
            "6 % ##                             transpose.cl:17",
        ]
    );
}

/// What compilers say takes the place of what was counted, where parameters have the values that
/// are named.
#[test]
fn registers_that_a_compiler_tells() {
    if !can_read() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("build.log").display().to_string();
    let text = "ptxas info    : Compiling entry function 'transpose' for 'sm_75'\n\
        ptxas info    : Function properties for transpose\n    \
        64 bytes stack frame, 64 bytes spill stores, 64 bytes spill loads\n\
        ptxas info    : Used 255 registers, 368 bytes cmem[0]\n";
    std::fs::write(&log, text).expect("written");
    let problem = ["transpose.json", "--profile", "resources", "--platform", "rtx-2080-ti"];
    let run = |report: &str, more: &[&str]| {
        tickbound(
            &kernels(),
            &[&["simulate"], &problem[..], &["--compiler-log", report], more].concat(),
        )
    };
    let at = ["--set", "TILE=32", "--set", "ROWS=8", "--set", "PAD=1"];
    let registers = |report: &str| {
        let (text, errors, status) = run(report, &at);
        assert_eq!((errors.as_str(), status), ("", 0));
        let line = text.lines().find(|line| line.starts_with("registers:")).map(str::to_owned);
        line.expect("registers")
    };
    // 256 are given to an item, 255 of them to use.
    let told = "registers:  255 of an item, 16 more are kept in memory";
    assert_eq!(registers(&log), told);
    assert_eq!(registers(&format!("ROWS=8,TILE=32:{log}")), told);
    assert_eq!(registers(&format!("TILE=64:{log}")), "registers:  24 of an item");
    for (report, why) in [
        (format!("TILES=64:{log}"), "--compiler-log TILES: no parameter has this name"),
        (format!("TILE=65:{log}"), "65"),
        (format!("TILE=x:{log}"), "NAME=VALUE"),
        (
            "none.log".to_owned(),
            "--compiler-log none.log: there is no such file; give a file with what a compiler",
        ),
        (
            "transpose.cl".to_owned(),
            "--compiler-log transpose.cl: no kernel with registers is in it",
        ),
    ] {
        let (_, errors, status) = run(&report, &at);
        assert!(status == 2 && errors.contains(why), "{report}: {errors}");
    }
    let other = ["simulate", "transpose.json", "--profile", "opencl", "--compiler-log", &log];
    let (_, errors, status) = tickbound(&kernels(), &[&other[..], &at].concat());
    assert!(status == 2 && errors.contains("the profile opencl does not ask for"), "{errors}");
}

#[test]
fn programs_written_by_hand() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/problems");
    let (text, _, status) = tickbound(&folder, &["explain", "abstract.json"]);
    assert_eq!(status, 0);
    assert_snapshot!(text);
}

/// Each source, with what `explain` says about it: one line, the file, the line, the fix.
#[test]
fn sources_that_cannot_be_read() {
    if !can_read() {
        return;
    }
    for (source, complaint) in [
        (
            "kernel void k(global int *x) {\n    x[0] = 1\n}\n",
            "k.cl:2: expected ';' after expression",
        ),
        (
            "kernel void k(global int *x) \
             {\n    for (int i = 0; i < x[0]; i++)\n        x[i] = 1;\n}\n",
            "k.cl:2: the loop's bound depends on data; add \"bounds\": { \"k: i < x[0]\": 1 } to \
             the kernel in the problem file, with the most iterations instead of 1",
        ),
        (
            "kernel void k(global int *x, int n) \
             {\n    for (int i = 0; i < n; i++)\n        x[i] = 1;\n}\n",
            "k.cl:2: the value of `n` is not known; add it to kernel.arguments",
        ),
        (
            "int f(int n) {\n    return n ? f(n - 1) : 0;\n}\nkernel void k(global int *x) {\n    \
             x[0] = f(3);\n}\n",
            "k.cl:2: functions call themselves: f -> f; write a loop",
        ),
        (
            "kernel void k(global int *x) {\n    x[0] = TS;\n}\n",
            "k.cl:2: use of undeclared identifier 'TS'",
        ),
        (
            "#include \"none.h\"\nkernel void k(global int *x) {}\n",
            "k.cl:1: cannot find none.h; put it beside the source, or name its folder with `init \
             --include` or kernel.include",
        ),
        (
            "kernel void other(global int *x) {}\n",
            "k.cl: there is no kernel 'k'; kernel.entry may be other",
        ),
        (
            "kernel void k(global int *x) {\n    if (x[0] > 3)\n        x[1] = 1;\n}\n",
            "k.cl:2: the branch depends on data and its sides access memory differently; add \
             \"branches\": { \"k: x[0] > 3\": \"both\" } to the kernel in the problem file, or \
             \"then\" or \"else\" instead of \"both\"; \"k\" answers for all of its branches",
        ),
    ] {
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("k.cl"), source).expect("written");
        let problem = json!({
            "platform": "h200", "parameters": { "WG": [32] },
            "launch": { "global_size": 64, "local_size": "WG" },
            "kernel": { "opencl": "k.cl", "entry": "k" }
        });
        fs::write(folder.path().join("k.json"), problem.to_string()).expect("written");
        for command in ["explain", "tune"] {
            let (text, errors, status) = tickbound(folder.path(), &[command, "k.json"]);
            assert_eq!((text.as_str(), status), ("", 2), "{source}{errors}");
            assert_eq!(errors.lines().count(), 1, "{errors}");
            let expected = format!("tickbound: {complaint}");
            assert!(errors.starts_with(&expected), "expected {expected}\nfound {errors}");
        }
    }
}

#[test]
fn t1_files() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("sum.T1.json");
    let (text, _, status) = tickbound(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/problems"),
        &["export", "matmul.json", "--to", "t1"],
    );
    assert_eq!(status, 0);
    fs::write(&file, text).expect("written");
    let (text, errors, status) = tickbound(folder.path(), &["explain", "sum.T1.json", "--json"]);
    assert_eq!((errors.as_str(), status), ("", 0));
    let object: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(object["configurations"], 231);
    let (_, errors, status) = tickbound(folder.path(), &["tune", "sum.T1.json"]);
    assert_eq!(status, 2);
    assert_eq!(
        errors,
        "tickbound: sum.T1.json: a T1 file has no platform; add --platform NAME (`tickbound \
         platforms` lists them)\n"
    );
    // Without a program every time would be 0.
    let tune = ["tune", "sum.T1.json", "--platform", "h200"];
    let (_, errors, status) = tickbound(folder.path(), &tune);
    assert_eq!(status, 2);
    assert_eq!(
        errors,
        "tickbound: sum.T1.json: nothing is known of the run time: it names no kernel (KernelFile \
         and \
         KernelName); write the kernel in OpenCL C, or as a program in a problem file \
         (docs/problem-format.md)\n"
    );
}

/// Kernels by other hands have a time under `resources`, in every configuration.
#[test]
fn kernels_by_other_hands_are_predicted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/kernels");
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("skipped: no {}", folder.display());
        return;
    };
    if !can_read() {
        return;
    }
    let names: std::collections::BTreeSet<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let problems = names.iter().filter(|name| name.ends_with(".json")).filter(|name| {
        // Where questions were asked, the file that answers them.
        !names.contains(&name.replace(".json", ".fixed.json"))
    });
    for name in problems {
        let arguments =
            ["tune", name, "--profile", "resources", "--platform", "rtx-2080-ti", "--json"];
        let (text, errors, status) = tickbound(&folder, &arguments);
        assert_eq!(status, 0, "{name}: {errors}");
        let object: Value = serde_json::from_str(&text).expect("JSON");
        assert!(object["upper"].as_u64() > Some(0), "{name}: {text}");
    }
}
