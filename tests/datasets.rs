//! `tickbound reo compose --stream`, `--dataset` and `reo verify`: killed, stopped, without room,
//! and read by another tool.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};

use crate::compare::python_with;

/// `reo compose` of so many buffers into a folder, in blocks of so many bytes.
fn compose(folder: &Path, n: usize, block: &str) -> Command {
    let mut command = Command::new(cargo_bin("tickbound"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["reo", "compose", "examples/connectors/buffers.treo", "--no-data", "--json"]);
    command.args(["--mode", "dense", "--stream", "--set", &format!("n={n}"), "--block", block]);
    command.arg("--dataset").arg(folder);
    command
}

/// `reo compose --stream` of a chain of so many buffers, with so much memory.
fn chain(n: usize, memory: &str) -> Command {
    let mut command = Command::new(cargo_bin("tickbound"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["reo", "compose", "examples/connectors/chain.treo", "--no-data", "--json"]);
    command.args(["--stream", "--set", &format!("n={n}"), "--memory", memory]);
    command
}

fn verify(folder: &Path) -> Output {
    let mut command = Command::new(cargo_bin("tickbound"));
    command.args(["reo", "verify", "--json"]).arg(folder).output().expect("the program runs")
}

fn json_of(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {error}"))
}

/// All files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let read = |path| std::fs::read(path).expect("a file");
    entries.map(|e| (e.file_name().to_string_lossy().into_owned(), read(e.path()))).collect()
}

/// How many blocks are there.
fn blocks(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "parquet")).count()
}

/// Waits until a run has so many blocks.
fn until(child: &mut Child, folder: &Path, count: usize) {
    while blocks(folder) < count {
        let ended = child.try_wait().expect("a child");
        assert!(ended.is_none(), "it ended with {} blocks: {ended:?}", blocks(folder));
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn start(folder: &Path) -> Child {
    let mut command = compose(folder, 12, "1M");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

/// 128 blocks; killed after none, one or two more of them each time and a random moment besides.
#[test]
fn killed_at_random_moments() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, many) = (folder.path().join("one"), folder.path().join("many"));
    let whole = json_of(&compose(&one, 12, "1M").output().expect("the program runs"));
    assert_eq!((&whole["blocks"], &whole["blocks_done"]), (&json!(128), &json!(128)));
    let mut random = u64::from(std::process::id()) | 1;
    eprintln!("seed {random}");
    let mut draw = |below: u64| {
        // Marsaglia's xorshift.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for _ in 0..20 {
        let mut child = start(&many);
        until(&mut child, &many, blocks(&many) + draw(3) as usize);
        std::thread::sleep(Duration::from_micros(draw(4000)));
        child.kill().expect("it runs");
        let ended = child.wait().expect("a child");
        assert!(ended.code().is_none(), "it ended before it was killed");
    }
    assert!(blocks(&many) < 128);
    // Asked to stop, it says how far it came.
    let mut child = start(&many);
    until(&mut child, &many, blocks(&many) + 1);
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().expect("kill");
    let stopped = child.wait_with_output().expect("a child");
    let found = json_of(&stopped);
    assert_eq!(stopped.status.code(), Some(1), "{found}");
    assert_eq!(found["blocks_done"], blocks(&many), "{found}");
    let incomplete = String::from_utf8_lossy(&verify(&many).stderr).into_owned();
    assert!(incomplete.contains("not complete: "), "{incomplete}");
    let end = json_of(&compose(&many, 12, "1M").output().expect("the program runs"));
    for key in
        ["states", "transitions", "algebraic_transitions", "checksum", "blocks", "blocks_done"]
    {
        assert_eq!(end[key], whole[key], "{key}");
    }
    assert_eq!(json_of(&verify(&many))["checksum"], whole["checksum"]);
    assert!(files(&one) == files(&many), "the files differ");
}

#[test]
fn one_line_for_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().join("set");
    let refused = |output: &Output, part: &str| {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(part) && error.lines().count() == 1, "{part}: {error}");
    };
    refused(&verify(&at), "there is no tickbound product here");
    // No file may be longer than 100 KiB here; that is what a full disk looks like.
    let own = compose(&at, 9, "512K");
    let words = std::iter::once(own.get_program()).chain(own.get_args());
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$@\"", "sh"]).args(words);
    let limited = limited.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("a shell");
    refused(&limited, "block-000000.parquet: File too large");
    let whole = json_of(&compose(&at, 9, "512K").output().expect("the program runs"));
    assert_eq!(
        (&whole["blocks_done"], &whole["algebraic_transitions"]),
        (&json!(4), &json!(1 << 18))
    );
    assert_eq!(json_of(&verify(&at))["checksum"], whole["checksum"]);
    let other = compose(&at, 9, "1M").output().expect("the program runs");
    refused(&other, "the size of a block differs");
    std::fs::write(at.join("letter.txt"), "").expect("a file");
    refused(&verify(&at), "letter.txt: does not belong to the dataset");
    let block = at.join("block-000002.parquet");
    let mut bytes = std::fs::read(&block).expect("a block");
    bytes[1000] ^= 1;
    std::fs::write(&block, bytes).expect("a file");
    refused(&verify(&at), "block-000002.parquet: damaged: its CRC-32 is");
    refused(&verify(Path::new("src")), "there is no tickbound product here");
    let busy = compose(Path::new("src"), 3, "1M").output().expect("the program runs");
    refused(&busy, "the folder is not empty");
}

/// The same checksum and the same files whatever memory there is, killed or not, with states in
/// memory or on disk.
#[test]
fn the_reachable_product() {
    let folder = tempfile::tempdir().expect("a folder");
    let large = json_of(&chain(14, "1G").output().expect("the program runs"));
    let expected = json!([16384, 373_666, 15, true, 0]);
    let found = ["states", "transitions", "names", "complete", "stuck"].map(|key| &large[key]);
    assert_eq!(json!(found), expected);
    let small = json_of(&chain(14, "2M").output().expect("the program runs"));
    assert_eq!(small["checksum"], large["checksum"]);
    let write = |name: &str, memory: &str| {
        let mut command = chain(14, memory);
        command.args(["--block", "256K", "--dataset"]).arg(folder.path().join(name));
        command
    };
    // Two blocks and what is handed on take 17 MB.
    let whole = json_of(&write("one", "1G").output().expect("the program runs"));
    assert_eq!(whole["checksum"], large["checksum"]);
    let many = folder.path().join("many");
    for killed in 1..=4 {
        let mut small = write("many", "20M");
        let small = small.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = small.spawn().expect("the program runs");
        until(&mut child, &many, killed * 4);
        child.kill().expect("it runs");
        child.wait().expect("a child");
    }
    let incomplete = String::from_utf8_lossy(&verify(&many).stderr).into_owned();
    assert!(incomplete.contains("of all blocks are there"), "{incomplete}");
    let end = json_of(&write("many", "20M").output().expect("the program runs"));
    assert_eq!(end["checksum"], large["checksum"]);
    assert!(files(&folder.path().join("one")) == files(&many), "the files differ");
    let verified = json_of(&verify(&many));
    assert_eq!(verified["checksum"], large["checksum"]);
    assert_eq!((&verified["transitions"], &verified["blocks"]), (&json!(373_666), &json!(23)));
}

#[test]
fn one_line_for_what_is_wrong_with_the_reachable_product() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |mut command: Command, part: &str| {
        let output = command.output().expect("the program runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(part) && error.lines().count() == 1, "{part}: {error}");
    };
    // No file may be longer than 16 KiB here; that is what a full disk looks like.
    let own = chain(14, "2M");
    let words = std::iter::once(own.get_program()).chain(own.get_args());
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "sh"]).args(words);
    limited.current_dir(env!("CARGO_MANIFEST_DIR")).env("TMPDIR", folder.path());
    refused(limited, "temporary files of the product: File too large");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    let mut nowhere = chain(14, "2M");
    nowhere.env("TMPDIR", folder.path().join("none"));
    refused(nowhere, "temporary files of the product: No such file");
    refused(chain(14, "300K"), "the steps of one state of the product: ");
    let mut dataset = chain(14, "20M");
    dataset.arg("--dataset").arg(folder.path().join("set"));
    refused(dataset, "three blocks of the dataset: ");
    let mut implicit = chain(14, "2M");
    implicit.args(["--mode", "implicit"]);
    refused(implicit, "--mode implicit makes no product; leave --stream out");
    let mut hidden = chain(14, "2M");
    hidden.arg("--hide-inner");
    refused(hidden, "--stream keeps no product");
    let mut whole = chain(16, "2M");
    let words: Vec<_> =
        whole.get_args().filter(|word| *word != "--stream").map(Into::into).collect();
    let words: Vec<std::ffi::OsString> = words;
    whole = Command::new(cargo_bin("tickbound"));
    whole.current_dir(env!("CARGO_MANIFEST_DIR")).args(words);
    refused(whole, "--stream counts, checks and writes it in blocks");
    // Another connector with as many names, where the first blocks of this one are.
    let into = |mut command: Command| {
        command.args(["--block", "64K", "--dataset"]).arg(folder.path().join("chain"));
        command
    };
    json_of(&into(chain(12, "1G")).output().expect("the program runs"));
    refused(into(chain(11, "1G")), "the names differs");
}

const QUESTIONS: &str = r#"
import duckdb, json, sys
steps = f"'{sys.argv[1]}/block-*.parquet'"
def mixed(seed, number, mask=(1 << 64) - 1):
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
    return z ^ z >> 31
rows = duckdb.sql(f"select source, target, label from {steps}").fetchall()
names = json.load(open(f"{sys.argv[1]}/manifest.json"))["names"]
bit = names.index("in[1]")
print(json.dumps({
    "types": [str(kind) for kind in duckdb.sql(f"select * from {steps}").types],
    "rows": len(rows),
    "in_order": rows == sorted(rows),
    "checksum": f"{sum(mixed(label, p * 32 + q) for p, q, label in rows) % 2**64:016x}",
    "fires": duckdb.sql(f"select count(*) from {steps} where label >> {bit} & 1 = 1").fetchall()[0][0],
}))
"#;

/// DuckDB opens the files, and what it finds has the same checksum.
#[test]
fn another_tool_opens_it() {
    let Some(python) = python_with("duckdb", "duckdb") else {
        assert!(std::env::var_os("CI").is_none(), "DuckDB is to be there on CI: make tools");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().join("set");
    let whole = json_of(&compose(&at, 5, "2K").output().expect("the program runs"));
    assert_eq!(whole["blocks"], 4);
    let mut asked = Command::new(&python);
    let asked = asked.args(["-c", QUESTIONS]).arg(&at).output().expect("Python runs");
    // in[1] fires from half of the states, with whatever the other four do or do not.
    let expected = json!({
        "types": ["UINTEGER", "UINTEGER", "BIGINT"],
        "rows": 1024,
        "in_order": true,
        "checksum": whole["checksum"],
        "fires": 256,
    });
    assert_eq!(json_of(&asked), expected);
    // Only these are written, of the dense and of the reachable product; what the product comes to
    // stays.
    let some = folder.path().join("some");
    let mut filtered = compose(&some, 5, "2K");
    let filtered =
        json_of(&filtered.args(["--filter", "in[1]"]).output().expect("the program runs"));
    assert_eq!(filtered["checksum"], whole["checksum"]);
    let mut asked = Command::new(&python);
    let asked = asked.args(["-c", QUESTIONS]).arg(&some).output().expect("Python runs");
    let found = json_of(&asked);
    assert_eq!((&found["rows"], &found["fires"]), (&json!(256), &json!(256)));
    let verified = json_of(&verify(&some));
    let expected = json!({ "filter": "in[1]", "rows": 256, "algebraic_transitions": 1024 });
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&verified[key], value);
    }
    let reached = folder.path().join("reached");
    let mut counted = chain(10, "64M");
    let counted =
        json_of(&counted.args(["--invariant", "!x[0]"]).output().expect("the program runs"));
    let mut chained = chain(10, "64M");
    chained.args(["--block", "16K", "--filter", "x[0]", "--dataset"]).arg(&reached);
    assert_eq!(chained.output().expect("the program runs").status.code(), Some(0));
    let rows = json_of(&verify(&reached));
    assert_eq!(
        (&rows["transitions"], &rows["rows"]),
        (&counted["transitions"], &counted["broken"])
    );
    assert!(rows["rows"].as_u64() > Some(0));
}
