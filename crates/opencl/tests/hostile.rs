//! Sources that would crash what reads them, or never let it end.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use tickbound_opencl::extract::{Extracted, extract_with};
use tickbound_opencl::preprocess::included;
use tickbound_opencl::{Child, ReadError, ReaderSetup};

use crate::parse::tree::ready;
use crate::read::support::case;

/// A child that does what `script` says with the question on its standard input.
fn shell(script: &str) -> Child {
    Child { program: "/bin/sh".into(), arguments: vec!["-c".to_owned(), script.to_owned()] }
}

fn read(text: &str, setup: &ReaderSetup<'_>) -> Result<Extracted, ReadError> {
    case(text).with_request(|request| {
        let one = |places: &[usize], _: &_| {
            Ok([(vec![64; places.len()], vec![64; request.symbols.len()])].into())
        };
        extract_with(request, &one, setup)
    })
}

fn through(child: Child) -> ReaderSetup<'static> {
    ReaderSetup { child: Some(child), ..ReaderSetup::default() }
}

const RIGHT: &str = "kernel void k(global int *a) { for (int i = 0; i < 7; i++) a[i] = a[i + 1]; }";

#[test]
fn a_crash_is_an_error() {
    if !ready() {
        return;
    }
    for (script, said) in [
        ("cat > /dev/null; echo 00ff", "gave up while it read this: nothing more is known"),
        ("cat > /dev/null; echo no >&2; exit 3", "gave up while it read this: no"),
        ("kill -11 $$", "crashed while it read this: signal 11 (invalid memory)"),
        ("kill -9 $$", "crashed while it read this: signal 9 (killed)"),
        ("yes $(seq 200)", "stopped by its output limit"),
    ] {
        let error = read(RIGHT, &through(shell(script))).unwrap_err().to_string();
        assert!(error.contains(said), "{script}: {error}");
    }
    let none = Child { program: "/no/such/program".into(), arguments: Vec::new() };
    let error = read(RIGHT, &through(none)).unwrap_err().to_string();
    assert!(error.starts_with("/no/such/program: "), "{error}");
}

#[test]
fn a_reading_is_stopped() {
    if !ready() {
        return;
    }
    let stop = AtomicBool::new(true);
    let setup = ReaderSetup { interrupt: &stop, ..through(shell("sleep 60")) };
    assert!(matches!(read(RIGHT, &setup).unwrap_err(), ReadError::Stopped { .. }));
}

#[test]
fn only_regular_files_are_included() {
    let folder = tempfile::tempdir().unwrap();
    let folders = [folder.path().to_owned()];
    let pipe = folder.path().join("pipe.h");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(folder.path().join("a.h"), "\n# include <pipe.h>\n").unwrap();
    std::fs::write(folder.path().join("b.h"), "int b;\n").unwrap();
    let said = |text: &str| included("k.cl", text, &folders).unwrap_err().to_string();
    let fix = "remove the line, or put what it gives into a file";
    assert_eq!(
        said("#include \"/dev/zero\"\n"),
        format!("k.cl:1: `/dev/zero` cannot be included: this is no regular file; {fix}")
    );
    assert_eq!(
        said("int a;\n#include \"a.h\"\n"),
        format!("a.h:2: `pipe.h` cannot be included: this is no regular file; {fix}")
    );
    let found = included("k.cl", "#include \"b.h\"\n#include \"none.h\"\n", &folders).unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [("b.h".to_owned(), "int b;\n".to_owned())]);
    // A loop of files ends.
    std::fs::write(folder.path().join("c.h"), "#include \"c.h\"\n").unwrap();
    assert_eq!(included("k.cl", "#include \"c.h\"", &folders).unwrap().len(), 1);
}

#[test]
fn macros_that_multiply_are_stopped() {
    if !ready() {
        return;
    }
    let doubled: String = (1..40).map(|i| format!("#define A{i} A{0} A{0}\n", i - 1)).collect();
    let text = format!("#define A0 a[0] = 1;\n{doubled}kernel void k(global int *a) {{ A39 }}");
    let error = read(&text, &ReaderSetup::default()).unwrap_err().to_string();
    assert!(error.contains("stopped by its ") && error.contains("while it expanded"), "{error}");
}

#[test]
fn no_file_is_found_where_none_is() {
    assert!(
        included("k.cl", "#include \"none\"\n#include x\n#include", &[Path::new("/").into()])
            .is_ok()
    );
}
