//! `tickbound reo` as a person or a script meets it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn reo(arguments: &[&str]) -> Command {
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).timeout(Duration::from_secs(120));
    command.arg("reo").args(arguments);
    command
}

/// States and transitions that `reo compose --json` reports.
fn sizes(arguments: &[&str]) -> (Value, Value) {
    let mut command = reo(&["compose", "--json"]);
    let output = command.args(arguments).output().expect("the program runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    for key in ["states", "transitions", "names", "seconds", "mode", "device"] {
        assert!(!value[key].is_null(), "{key} in {value}");
    }
    (value["states"].clone(), value["transitions"].clone())
}

const ALTERNATOR: &str = "examples/connectors/alternator.treo";

#[test]
fn the_alternator_in_every_mode() {
    for (n, transitions) in [(2, 2), (3, 4), (4, 10), (5, 26), (6, 68)] {
        let set = format!("n={n}");
        let base = [ALTERNATOR, "--set", &set];
        assert_eq!(sizes(&base), ((1 << (n - 1)).into(), transitions.into()), "{n}");
        let hidden = [&base[..], &["--hide-inner", "--minimize", "weak"]].concat();
        assert_eq!(sizes(&hidden), (n.into(), n.into()), "{n} hidden");
        if n < 5 {
            let dense = [&base[..], &["--mode", "dense"]].concat();
            let implicit = [&base[..], &["--mode", "implicit"]].concat();
            assert_eq!(sizes(&dense), sizes(&implicit), "{n}");
        }
    }
}

#[test]
fn large_ones() {
    let hidden = ["--set", "n=64", "--hide-inner", "--minimize", "weak"];
    let arguments = [&[ALTERNATOR][..], &hidden].concat();
    assert_eq!(sizes(&arguments), (64.into(), 64.into()));
    // Counts beyond 64 bits are texts, digit for digit.
    let (states, _) = sizes(&[ALTERNATOR, "--set", "n=70", "--mode", "implicit"]);
    assert_eq!(states, Value::from((1u128 << 69).to_string()));
}

/// What `reo compose --mode dense --stream --json` reports, and its exit status.
fn streamed(arguments: &[&str]) -> (Value, Option<i32>) {
    let mut command = reo(&["compose", "--mode", "dense", "--stream", "--json"]);
    let output = command.args(arguments).output().expect("the program runs");
    let value = serde_json::from_slice(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (value.unwrap_or_else(|e| panic!("{arguments:?}: {e}: {error}")), output.status.code())
}

const BUFFERS: &str = "examples/connectors/buffers.treo";

#[test]
fn a_dense_product_in_blocks() {
    for (n, checksum) in [(3, "d57e1c8a5849232f"), (10, "a0aa5bdaa6513d9f")] {
        let set = format!("n={n}");
        let (states, standard) = (1u64 << n, (1u64 << (2 * n)) - (1 << n));
        assert_eq!(
            sizes(&[BUFFERS, "--set", &set, "--mode", "dense"]),
            (states.into(), standard.into())
        );
        for block in ["1", "10K", "1G"] {
            let (found, status) = streamed(&[BUFFERS, "--set", &set, "--block", block]);
            assert_eq!(status, Some(0), "{found}");
            assert_eq!(
                (&found["states"], &found["transitions"]),
                (&states.into(), &standard.into())
            );
            assert_eq!(found["algebraic_transitions"], 1u64 << (2 * n));
            assert_eq!(
                (&found["checksum"], &found["stuck"]),
                (&checksum.into(), &0.into()),
                "{block}"
            );
            assert_eq!(found["blocks"], found["blocks_done"]);
            assert_eq!(
                found["blocks"],
                match block {
                    "1" => states,
                    "1G" => 1,
                    _ => states.div_ceil(10 * 1024 / 8 / states),
                }
            );
        }
    }
}

#[test]
fn more_than_memory_is_made_in_blocks() {
    let base = [BUFFERS, "--set", "n=11", "--mode", "dense", "--memory", "16M"];
    let kept = ["compose", "--to", "json", "--output", "/dev/null"];
    let refused = reo(&[&kept, &base[..]].concat()).assert().code(2);
    refused.stderr(contains("over the limit of 16777216").and(contains("--stream counts")));
    // Without an output no cell of it is kept.
    let counted = reo(&[&["compose"], &base[..]].concat()).assert().success();
    let line = "2048 states, 4192256 transitions";
    counted.stdout(contains(line).and(contains("checksum").not()));
    let with = |more: &[&'static str]| [&base[..], more].concat();
    reo(&[&["compose"], &with(&["--block", "1M"])[..]].concat()).assert().code(2);
    let small = [&["compose"], &with(&["--stream", "--block", "1M"])[..]].concat();
    let out = reo(&small).assert().success();
    out.stdout(
        contains("2048 states, 4192256 transitions").and(contains("with idle loops 4194304")),
    );
    // In memory threads have rows, and a dataset blocks.
    let rows = [&["compose"], &with(&["--stream"])[..]].concat();
    reo(&rows).assert().success().stdout(contains("2048 states, 4192256 transitions"));
    let less = [&["compose"], &base[..6], &["1M", "--stream"]].concat();
    let too_large = "the dense product in blocks: 1130496 bytes";
    reo(&less).env("RAYON_NUM_THREADS", "2").assert().code(2).stderr(contains(too_large));
    let folder = tempfile::tempdir().expect("a folder");
    let dataset = folder.path().join("set").display().to_string();
    let blocks = [&["compose"], &base[..], &["--stream", "--dataset", &dataset]].concat();
    reo(&blocks).assert().code(2).stderr(contains("--block makes the blocks smaller"));
    let large = [&kept, &[BUFFERS, "--set", "n=16", "--mode", "dense"][..]].concat();
    reo(&large)
        .assert()
        .code(2)
        .stderr(contains("51540393992 bytes").and(contains("--stream counts")));
}

#[test]
fn what_is_found_in_blocks() {
    let base = [BUFFERS, "--set", "n=3"];
    let ask = |formula: &'static str| streamed(&[&base[..], &["--invariant", formula]].concat());
    let (found, status) = ask("in[1] -> !out[1]");
    assert_eq!((&found["broken"], status), (&0.into(), Some(0)), "{found}");
    // in[1] fires in 16 of the 64 steps, with in[2] in 4 of these: where its buffer is empty, too,
    // and takes a datum.
    let (found, status) = ask("in[1] -> in[2]");
    assert_eq!((&found["broken"], status), (&12.into(), Some(1)), "{found}");
    assert_eq!(found["first_broken"]["names"], "{in[1]}");
    let out = reo(&[
        "compose",
        BUFFERS,
        "--set",
        "n=2",
        "--mode",
        "dense",
        "--stream",
        "--invariant",
        "in[1]",
    ]);
    let broken = "8 steps break the invariant, the first goes from state 0 to 1: {in[2]}";
    { out }.assert().code(1).stdout(contains(broken));
    // A sequencer without a token: nothing can happen in the state without one, nor in that with
    // all.
    let sequencer = ["examples/connectors/sequencer.treo", "--set", "n=4", "--set", "start=0"];
    let (found, status) = streamed(&sequencer);
    assert_eq!((&found["stuck"], &found["first_stuck"], status), (&2.into(), &0.into(), Some(0)));
    for (more, part) in [
        (&["--mode", "implicit"][..], "--mode implicit makes no product"),
        (&["--to", "dot", "--mode", "dense"], "--stream keeps no product"),
        (&["--hide-inner", "--mode", "dense"], "--stream keeps no product"),
        (&["--mode", "dense", "--invariant", "x"], "`x` is not a name of the connector"),
    ] {
        let all = [&["compose", "examples/connectors/lossy_fifo.treo", "--stream"], more].concat();
        reo(&all).assert().code(2).stderr(contains(part));
    }
}

#[test]
fn a_setting_given_twice() {
    let twice = ["compose", BUFFERS, "--set", "n=2", "--set", "n=3"];
    reo(&twice).assert().code(2).stderr(contains("--set n: given twice; keep one of them"));
}

/// Stopped long before its end, it says what it has counted.
#[test]
fn a_stream_that_is_stopped() {
    let (found, status) = streamed(&[BUFFERS, "--set", "n=20", "--timeout", "1", "--block", "8M"]);
    assert_eq!(status, Some(1), "{found}");
    let done = found["blocks_done"].as_u64().expect("a number");
    assert!(done < (1 << 20), "{found}");
    assert_eq!(found["blocks"], 1 << 20);
    // A row of 2^20 steps is a block.
    assert_eq!(found["algebraic_transitions"], done << 20);
    // As much of a product of which only the sizes were to be known.
    let whole = ["compose", BUFFERS, "--set", "n=20", "--mode", "dense", "--timeout", "1"];
    reo(&whole).assert().code(1).stdout(contains("stopped after"));
}

#[test]
fn written_and_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    for (target, end) in [("treo", "treo"), ("json", "json"), ("aut", "aut")] {
        let path = folder.path().join(format!("four.{end}"));
        let path = path.to_string_lossy();
        let arguments = [ALTERNATOR, "--set", "n=4", "--hide-inner", "--minimize", "weak"];
        let write = ["compose", "--to", target, "-o", &path];
        reo(&[&write[..], &arguments].concat()).assert().success();
        assert_eq!(sizes(&[&path]), (4.into(), 4.into()), "{target}");
    }
    for (target, part) in [
        ("dot", "digraph"),
        ("svg", "<svg"),
        ("aut", "des (0, 4, 4)"),
        ("mcrl2", "proc P0"),
        ("promela", "active proctype connector()"),
    ] {
        let arguments = ["compose", ALTERNATOR, "--set", "n=4", "--hide-inner", "--minimize"];
        let out = reo(&[&arguments[..], &["weak", "--to", target]].concat()).assert().success();
        out.stdout(contains(part)).stderr(contains("4 states, 4 transitions"));
    }
}

#[test]
fn networks_make_no_product() {
    let network = ["compose", ALTERNATOR, "--set", "n=64", "--to", "mcrl2", "--network"];
    let output = reo(&network).assert().success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("\ninit N253;\n"), "{text}");
}

#[test]
fn checks_with_a_run() {
    let base = ["check", ALTERNATOR, "--set", "n=3"];
    reo(&base).assert().success().stdout(contains("no deadlock"));
    let invariant = |text| reo(&[&base[..], &["--invariant", text]].concat());
    invariant("in[1] -> in[2] & out[1]")
        .assert()
        .success()
        .stdout(contains("every invariant holds"));
    let run = "  1. {in[1], out[1], in[2], in[3]}\n  2. {out[1]}\n";
    invariant("out[1] -> in[1]").assert().code(1).stdout(contains(run));
    invariant("out[1] -> q")
        .assert()
        .code(2)
        .stderr(contains("`q` is not a name of the connector"));
    let ltl = |text| reo(&[&base[..], &["--ltl", text]].concat());
    ltl("G (in[1] -> X out[1])").assert().success().stdout(contains("every formula holds"));
    let cycle = "`G !out[1]` is broken by\n  1. {in[1], out[1], in[2], in[3]}\n  then for ever\n";
    ltl("G !out[1]").assert().code(1).stdout(contains(cycle));
    let json = ["--json", "--invariant", "out[1] -> in[1]"];
    let out = reo(&[&base[..], &json].concat()).assert().code(1);
    out.stdout(contains("\"holds\":false"));
}

/// A file with a text, in a folder that goes with it.
fn written(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file");
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

#[test]
fn a_counterexample_shows_the_names_of_its_formula() {
    let (_folder, path) = written("g.treo", "g(a?, b!) { sync(a, x) fifo1(x, b) }");
    for (option, formula) in [("--ltl", "!x"), ("--ltl", "G !x"), ("--invariant", "!x")] {
        let check = ["check", &path, option, formula];
        reo(&check).assert().code(1).stdout(contains("1. {a, x}"));
    }
    reo(&["check", &path, "--ltl", "G !b"]).assert().code(1).stdout(contains("1. {a}"));
}

#[test]
fn generates_programs() {
    let base = ["generate", "examples/connectors/fifo1.cat", "--to"];
    let mut rust = reo(&[&base[..], &["rust"]].concat());
    rust.assert().success().stdout(contains("pub struct Driver<M: Meaning>"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("f.c");
    let path = path.to_string_lossy();
    reo(&[&base[..], &["c", "-o", &path]].concat()).assert().success().stdout("");
    let text = std::fs::read_to_string(&*path).expect("a file");
    assert!(text.contains("static inline bool"), "{text}");
    let open = ["generate", ALTERNATOR, "--set", "n=2", "--no-data", "--to", "c"];
    reo(&open).assert().code(2).stderr(contains("open: no equation gives it a value"));
}

#[test]
fn compares_two_connectors() {
    let base = ["equal", ALTERNATOR, ALTERNATOR, "--set", "n=3"];
    reo(&base).assert().success().stdout(contains("do the same"));
    let other = [&base[..], &["--set-right", "n=2"]].concat();
    let out = reo(&other).assert().code(1);
    out.stdout(contains("they differ").and(contains("  1. {")));
}

#[test]
fn a_difference_in_branching_is_no_run_of_one_side_only() {
    let step = |from: &str, to: &str, name: &str| format!("{from} -> {to} : {{{name}}} ");
    let branch = [step("q*", "r", "a"), step("r", "q", "b")].concat();
    let atom = |more: &str| format!("f(a?, b!, c!) {{ #WA {branch} {more} }}");
    let (_one, late) = written("late.treo", &atom(&step("r", "q", "c")));
    let early = [step("q", "s", "a"), step("s", "q", "c")].concat();
    let (_two, early) = written("early.treo", &atom(&early));
    for pair in [[&late, &early], [&early, &late]] {
        let said = reo(&["equal", pair[0], pair[1]]).assert().code(1);
        said.stdout(contains("both can take the steps below").and(contains("only").not()));
        let json = reo(&["equal", pair[0], pair[1], "--json"]).assert().code(1);
        json.stdout(contains("\"only\":null"));
    }
    let (_three, less) = written("less.treo", &atom(""));
    let said = reo(&["equal", &late, &less]).assert().code(1);
    said.stdout(contains("late.treo can take the last step of\n  1. {a}\n  2. {c}\n"));
}

#[test]
fn wrong_input() {
    let cases: &[(&[&str], &str)] = &[
        (&["compose", "none.treo"], "none.treo: there is no such file; give a"),
        (&["compose", "Cargo.toml"], "Cargo.toml: unknown kind of file; give a"),
        (&["compose", ALTERNATOR], "give --set n=VALUE"),
        (&["compose", ALTERNATOR, "--set", "n"], "--set n: write NAME=VALUE"),
        (&["compose", ALTERNATOR, "--set", "n=3", "--hide", "y"], "--hide y: the connector has no"),
        (&["compose", ALTERNATOR, "--set", "n=1000000000"], "alternator.treo:"),
        (
            &["compose", ALTERNATOR, "--set", "n=40", "--memory", "64M"],
            "over the limit of 67108864",
        ),
        (&["compose", ALTERNATOR, "--set", "n=9", "--mode", "dense", "--memory", "1M"], "over the"),
        (&["compose", ALTERNATOR, "--set", "n=40", "--mode", "dense"], "the dense product in"),
        (
            &["compose", ALTERNATOR, "--set", "n=3", "--mode", "implicit", "--hide", "out[1]"],
            "only counts",
        ),
        (
            &["compose", ALTERNATOR, "--set", "n=3", "--to", "dot", "--network"],
            "use it with --to mcrl2 alone",
        ),
        (
            &["compose", ALTERNATOR, "--set", "n=3", "--device", "opencl"],
            "--device is for --mode dense",
        ),
        (
            &["compose", ALTERNATOR, "--set", "n=3", "--device", "gpu"],
            "give cpu, opencl, opencl:N, opencl:all, cuda, or cuda:N (",
        ),
    ];
    for (arguments, part) in cases {
        let output = reo(arguments).output().expect("the program runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(part), "{arguments:?}: `{part}` is missing: {error}");
        assert!(!error.contains("panicked"), "{arguments:?}: {error}");
    }
}

#[test]
fn every_shipped_connector_composes() {
    let settings: &[(&str, &[&str], [u64; 2])] = &[
        ("alternator.treo", &["n=3"], [4, 4]),
        ("barrier.treo", &["n=3"], [1, 1]),
        ("buffers.treo", &["n=3"], [8, 56]),
        ("chain.treo", &["n=3"], [8, 16]),
        ("fifo1.cat", &[], [2, 2]),
        ("lossy_fifo.treo", &[], [2, 5]),
        ("producer_consumer.treo", &["k=2"], [3, 10]),
        ("router.treo", &["n=3"], [1, 3]),
        ("sequencer.treo", &["n=3", "start=go"], [3, 3]),
        ("token_ring.treo", &["n=3", "station=polite"], [3, 6]),
        ("turnstile.treo", &[], [2, 3]),
        ("two_places.json", &[], [4, 7]),
    ];
    let mut files: Vec<String> = std::fs::read_dir("examples/connectors")
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let known: Vec<&str> = settings.iter().map(|(file, _, _)| *file).collect();
    assert_eq!(files, known, "a connector without a row here, or a row without one");
    for (file, set, [states, transitions]) in settings {
        let path = format!("examples/connectors/{file}");
        let set = set.iter().flat_map(|s| ["--set", s]);
        let arguments: Vec<&str> = std::iter::once(path.as_str()).chain(set).collect();
        assert_eq!(sizes(&arguments), ((*states).into(), (*transitions).into()), "{file}");
    }
}

/// The connector files beside the project, where they are.
fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/connectors");
    folder.is_dir().then_some(folder)
}

#[test]
fn the_library_of_treo() {
    let Some(folder) = shared() else { return };
    let path = folder.join("library/reo/alternator.treo");
    let set = ["--set", "n=5"];
    let path = path.to_string_lossy();
    assert_eq!(sizes(&[&[&*path][..], &set].concat()), (16.into(), 26.into()));
    let other = folder.join("examples/slides/Nalternator/Nalternator.treo");
    let library = folder.join("library");
    let (other, library) = (other.to_string_lossy(), library.to_string_lossy());
    let same =
        ["equal", &path, &other, "--set", "n=5", "--set-right", "N=5", "--library", &library];
    reo(&same).assert().success().stdout(contains("do the same"));
}

#[test]
fn a_drawing_and_its_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (steps, svg, page) = (path("steps"), path("d.svg"), path("d.html"));
    std::fs::write(&steps, "{in[1], out[1], in[2]}\n{out[1]}\n").expect("written");
    let base = ["draw", ALTERNATOR, "--set", "n=2"];
    // The circuit and the automaton; with --circuit the first alone.
    let drawn = reo(&base).assert().success();
    drawn.stdout(contains("data-key=\"c0.1\"").and(contains("data-key=\"s1\"")));
    let drawn = reo(&[&base[..], &["--circuit"]].concat()).assert().success();
    drawn.stdout(contains("data-key=\"s1\"").not());
    let drawn = reo(&["draw", ALTERNATOR, "--set", "n=4", "--width", "600"]).assert().success();
    drawn.stdout(contains("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"592\""));
    let run = [&base[..], &["--steps", &steps, "-o", &svg, "--html", &page]].concat();
    reo(&run).assert().success();
    let text = std::fs::read_to_string(&svg).expect("written");
    assert_eq!(text.matches("class=\"cap\"").count(), 3, "{text}");
    assert!(text.contains("1. {in[1] = &quot;d1&quot;"), "{text}");
    let text = std::fs::read_to_string(&page).expect("written");
    let (_, rest) = text.split_once("id=\"data\">").expect("data");
    let data: Value =
        serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON");
    assert_eq!(data["frames"].as_array().map(Vec::len), Some(3));
    assert!(data["frames"][2]["on"].as_array().expect("keys").contains(&"n2".into()), "{data}");
    let plain = text.replace("http://www.w3.org/2000/svg", "");
    for banned in ["http://", "https://", "url(", "@import", "src="] {
        assert!(!plain.contains(banned), "{banned}");
    }
    // What it reads it does not write over.
    let over = [&base[..], &["--steps", &steps, "--html", &steps]].concat();
    reo(&over).assert().code(2).stderr(contains("this command reads"));
    let many = ["draw", "examples/connectors/chain.treo", "--set", "n=301"];
    reo(&many).assert().code(2).stderr(contains("301 channels"));
}

#[test]
fn names_in_a_drawing_are_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f.json");
    let name = "</script><script>alert(1)</script>";
    let text = format!(
        "{{ \"format\": \"tickbound-reo\", \"version\": 1, \"connector\": {{ \"name\": \"{name}\", \
         \"parts\": \
         [ {{ \"kind\": \"fifo1\", \"ends\": [\"{name}\", \"b\"] }} ] }} }}"
    );
    std::fs::write(&file, text).expect("written");
    let page = folder.path().join("p.html");
    let (file, page) = (file.to_string_lossy(), page.to_string_lossy());
    reo(&["draw", &file, "--html", &page]).assert().success();
    let text = std::fs::read_to_string(&*page).expect("written");
    assert!(!text.contains("<script>alert"), "{text}");
    reo(&["draw", &file]).assert().success().stdout(contains("<script>").not());
}

#[test]
fn context() {
    let file = "examples/connectors/lossy_fifo.treo";
    assert_eq!(sizes(&[file]), (2.into(), 5.into()));
    assert_eq!(sizes(&[file, "--context"]), (2.into(), 4.into()));
    // Nothing is lost while there is room.
    let lost = ["check", file, "--invariant", "kept | out | !in"];
    reo(&lost).assert().code(1);
    let run = ["run", file, "--context", "--random", "1"];
    reo(&run)
        .assert()
        .success()
        .stdout(contains("{in = \"d1\"}").and(contains("fifo1.1/m = \"d1\"")));
}

#[test]
fn files_of_the_reo_editor() {
    let file = "tests/corpus/reo/paths.reo";
    assert_eq!(sizes(&[file]).0, 4);
    assert_eq!(sizes(&[file, "--component", "shop"]).0, 4);
    let other = reo(&["compose", file, "--component", "none"]).assert().code(2);
    other.stderr(contains("the connectors `shop`"));
    reo(&["draw", file]).assert().success().stdout(contains("cheap"));
}

#[test]
fn a_wrong_line_on_a_pipe_ends_the_run_and_keeps_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept").to_string_lossy().into_owned();
    let run = ["run", "examples/connectors/fifo1.cat", "--save", &kept];
    let ended = reo(&run).write_stdin("1\n9\n1\n").assert().code(2);
    ended.stderr(contains("standard input, line 2: ").and(contains("there is no step 9")));
    assert_eq!(std::fs::read_to_string(&kept).expect("kept").lines().count(), 1);
}

#[test]
fn a_stop_keeps_the_steps_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept").to_string_lossy().into_owned();
    let run = ["run", "examples/connectors/fifo1.cat", "--save", &kept, "--timeout", "1"];
    // More random steps than there is time for.
    let random = reo(&run).args(["--random", "1000000000"]).assert().code(1);
    random.stderr(contains("time-out of 1 s; stopped after "));
    let steps = std::fs::read_to_string(&kept).expect("kept").lines().count();
    assert!(steps > 1, "{steps} steps");
    // It waits for a line that does not come.
    let mut command = std::process::Command::new(cargo_bin!("tickbound"));
    let command = command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("reo").args(run);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    // Kept open: at its end the run would end by itself.
    let mut lines = child.stdin.take().expect("a pipe");
    lines.write_all(b"1\n1\n").expect("written");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert_eq!(std::fs::read_to_string(&kept).expect("kept").lines().count(), 2);
}
