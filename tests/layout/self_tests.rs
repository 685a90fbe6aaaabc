//! Each rule finds a violation in a made-up workspace, and none in a clean one.

use std::collections::{BTreeMap, BTreeSet};

use crate::ceilings::{Change, Offence, judge, listing, lowered};
use crate::rules::{RULES, banned, files_with, lines_outside_tests, rule};
use crate::workspace::{Package, Target, Workspace, files};
use crate::{arrow_faults, differences, test_flags};

/// A workspace of one package with the given files.
fn made_up(texts: &[(&str, &str)]) -> Workspace {
    let target = Target {
        kind: "lib".into(),
        name: "made_up".into(),
        path: "src/lib.rs".into(),
        tested: false,
    };
    let package = Package {
        name: "made-up".into(),
        manifest: "Cargo.toml".into(),
        arrows: BTreeSet::from(["base".to_owned()]),
        targets: vec![target],
    };
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    let (rust, pages) = texts.iter().map(owned).partition(|(path, _)| path.ends_with(".rs"));
    Workspace {
        packages: vec![package],
        files: files(rust),
        pages,
        entries: BTreeSet::from([".hidden/", "Cargo.toml", "src/"].map(str::to_owned)),
        changed: BTreeSet::new(),
    }
}

/// Where a rule finds violations: `file:line`.
fn found(key: &str, texts: &[(&str, &str)]) -> Vec<String> {
    let mut offences = rule(key).2(&made_up(texts));
    offences.sort_unstable();
    offences.iter().map(|offence| format!("{}:{}", offence.path, offence.line)).collect()
}

/// A text with lines that are too wide, too many, or in too long a function.
fn long(before: &str, line: &str, times: usize, after: &str) -> String {
    format!("{before}{}{after}", line.repeat(times))
}

const CLEAN: &str =
    "//! Adds numbers.\n\n/// A sum.\npub struct Sum;\n\n/// Adds.\npub fn add() {}\n";

/// For each rule about the text of one file: a text and the lines at fault.
fn faulty_texts() -> BTreeMap<&'static str, (String, Vec<usize>)> {
    let wide = format!("//! Short.\n// {}\n", "é".repeat(98));
    let thread = "//! Short.\nfn f() { std::thread::spawn(g!(rayon::join(1))); }\n";
    let of = "fn of() {}\nfn offer() {}\nstruct S;\nimpl S {\n    fn of_two() {}\n}\n";
    let constants = "const MOST_A: u8 = 0;\nconst ALMOST_B: u8 = 0;\nstruct S;\nimpl S {\n    \
         const FEW_C: u8 = 0;\n}\nfn f() {\n    static FIRST_D: u8 = 0;\n}\n";
    let shadows = "type Box = u8;\nmacro_rules! eprintln { () => {} }\nuse a::b as Vec;\n\
         struct Boxed;\nuse std::fmt::Result;\n";
    let tests = "#[cfg(test)]\nmod tests {\n    type Box = u8;\n}\n";
    BTreeMap::from([
        ("files_over_500_lines", (long("", "\n", 501, ""), vec![1])),
        (
            "functions_over_50_lines",
            (long("impl S {\n\npub fn f() {\n", "\n", 49, "}\n}\nfn g() {\n}\n"), vec![3]),
        ),
        ("functions_named_of", (of.into(), vec![1, 5])),
        ("constants_most_few_first", (constants.into(), vec![1, 5, 8])),
        ("items_that_shadow_std", (format!("{shadows}{tests}"), vec![1, 2, 3])),
        ("lines_over_100_columns", (wide, vec![2])),
        ("modules_without_first_doc_line", ("// Not one.\nfn f() {}\n".into(), vec![1])),
        (
            "module_summaries_over_100_characters",
            (format!("//! {0}\n//! {0}\n", "a".repeat(60)), vec![1]),
        ),
        ("command_files_over_200_lines", (long("", "\n", 201, ""), vec![1])),
        ("command_files_with_threads", (thread.into(), vec![2])),
    ])
}

#[test]
fn each_rule_about_a_file_finds_its_fault() {
    for (key, (text, lines)) in faulty_texts() {
        let expected: Vec<String> =
            lines.iter().map(|n| format!("src/commands/a.rs:{n}")).collect();
        assert_eq!(found(key, &[("src/commands/a.rs", &text)]), expected, "{key}");
        assert_eq!(found(key, &[("tests/a.rs", &text)]), [""; 0], "{key}, a test");
        assert_eq!(found(key, &[("src/commands/a.rs", CLEAN)]), [""; 0], "{key}, a clean file");
    }
}

#[test]
fn each_other_rule_finds_its_fault() {
    let wide = format!("// {}\n", "a".repeat(98));
    assert_eq!(found("test_lines_over_100_columns", &[("tests/a.rs", &wide)]), ["tests/a.rs:1"]);
    assert_eq!(found("top_folders", &[]), ["src/:1"]);
    let two = [
        ("src/a.rs", "pub struct One;\npub(crate) enum Two {}\n"),
        ("src/b.rs", "\npub trait One {}\npub enum Two {}\nfn f() { pub struct Two; }\n"),
    ];
    assert_eq!(found("repeated_public_types", &two), ["src/a.rs:1", "src/b.rs:2"]);
}

#[test]
fn each_rule_is_tested() {
    let others = [
        "files_in_import_cycles",
        "files_in_import_cycles_with_parents",
        "parents_that_define_for_children",
        "repeated_public_types",
        "root_modules_in_import_cycles",
        "test_lines_over_100_columns",
        "top_folders",
    ];
    let tested: BTreeSet<&str> = faulty_texts().into_keys().chain(others).collect();
    assert_eq!(tested, RULES.iter().map(|rule| rule.0).collect());
}

const PLAIN: &str = "files_in_import_cycles";
const WITH_PARENTS: &str = "files_in_import_cycles_with_parents";
const PARENTS: &str = "parents_that_define_for_children";

#[test]
fn cycles_are_found_through_reexports() {
    let mut texts = vec![
        ("src/lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Thing;\n"),
        ("src/a.rs", "use crate::b::{self, x::{Y, Z}};\n"),
        ("src/b.rs", "// use crate::a::No;\nfn f() -> crate::Thing { todo!() }\n"),
        ("src/c.rs", "pub struct Thing;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
    ];
    assert_eq!(found(PLAIN, &texts), [""; 0]);
    assert_eq!(found(WITH_PARENTS, &texts), [""; 0]);
    texts[3].1 = "use super::a::A;\npub struct Thing;\n";
    let cycle = ["src/a.rs:1", "src/b.rs:2", "src/c.rs:1"];
    assert_eq!(found(PLAIN, &texts), cycle);
    assert_eq!(found("root_modules_in_import_cycles", &texts), cycle);
    // The same through a macro's tokens, an alias of a module, and a glob.
    texts[3].1 = "pub struct Thing;\nfn f() { vec![crate::a::f()]; }\n";
    assert_eq!(found(PLAIN, &texts), ["src/a.rs:1", "src/b.rs:2", "src/c.rs:2"]);
    texts[0].1 = "mod a;\nmod b;\nmod c;\npub use c::*;\n";
    assert_eq!(found(PLAIN, &texts), ["src/a.rs:1", "src/b.rs:2", "src/c.rs:2"]);
    texts[3].1 = "pub struct Thing;\nmacro_rules! m { () => { $crate::a::f() } }\n";
    assert_eq!(found(PLAIN, &texts), [""; 0]);
}

#[test]
fn cycles_of_folders_are_found_where_files_have_none() {
    let texts = [
        ("src/lib.rs", "mod a;\nmod b;\n"),
        ("src/a/mod.rs", "mod one;\nmod two;\n"),
        ("src/a/one.rs", "use crate::b::three::U;\n"),
        ("src/a/two.rs", "pub struct T;\n"),
        ("src/b/mod.rs", "mod three;\n"),
        ("src/b/three.rs", "use crate::a::two::T;\npub struct U;\n"),
    ];
    assert_eq!(found(PLAIN, &texts), [""; 0]);
    assert_eq!(found("root_modules_in_import_cycles", &texts).len(), 2);
}

#[test]
fn parents_that_define_are_part_of_a_cycle() {
    let mut texts = vec![
        ("src/lib.rs", "mod a;\n"),
        ("src/a/mod.rs", "mod child;\npub use child::Made;\npub struct Given;\n"),
        ("src/a/child.rs", "use super::Given;\npub struct Made;\n"),
    ];
    assert_eq!(found(PLAIN, &texts), [""; 0]);
    assert_eq!(found(WITH_PARENTS, &texts), ["src/a/child.rs:1", "src/a/mod.rs:1"]);
    assert_eq!(found(PARENTS, &texts), ["src/a/mod.rs:1"]);
    // A name that the parent has from a sibling or from another crate is not defined there.
    texts[1].1 = "mod child;\nmod given;\npub use given::Given;\nuse std::fmt;\n";
    texts[2].1 = "use super::{fmt, Given};\n";
    texts.push(("src/a/given.rs", "pub struct Given;\n"));
    assert_eq!(found(PARENTS, &texts), [""; 0]);
    assert_eq!(found(WITH_PARENTS, &texts), [""; 0]);
    // A parent that calls a child by its name depends on it.
    texts[1].1 = "mod child;\nmod given;\npub use given::Given;\nuse std::fmt;\n\
                  fn f() { child::g(); }\n";
    assert_eq!(found(PLAIN, &texts), [""; 0]);
    assert_eq!(found(WITH_PARENTS, &texts), ["src/a/child.rs:1", "src/a/mod.rs:5"]);
}

#[test]
fn banned_phrases_are_found_in_prose_alone() {
    let text = "//! Nobody comes\n//! to this.\n\nfn told() {\n    // Is it told? untold\n    \
        f(\"a\\ntold {told}\"); /* comes, to */ g(r#\"\n told\"#);\n}\n\
        #[cfg(test)]\nmod tests {\n    // told\n}\n// told\n";
    let pages = "Comes to.\n\nComes\n\nto.";
    let workspace =
        made_up(&[("src/a.rs", text), ("docs/a.md", pages), ("tests/a.rs", "// told\n")]);
    let phrases = ["comes to", "nobody", "told"].map(str::to_owned);
    let places = |mut offences: Vec<Offence>| -> Vec<String> {
        offences.sort_unstable();
        offences.iter().map(|o| format!("{}:{}", o.path, o.line)).collect()
    };
    let found: Vec<_> = banned(&workspace, phrases.iter()).into_values().map(places).collect();
    assert_eq!(found[0], ["docs/a.md:1", "src/a.rs:1"]);
    assert_eq!(found[1], ["src/a.rs:1"]);
    assert_eq!(found[2], ["src/a.rs:5", "src/a.rs:6", "src/a.rs:6", "src/a.rs:7", "src/a.rs:13"]);
}

#[test]
fn lines_of_tests_are_not_counted() {
    let texts = [
        ("src/lib.rs", "fn f() {}\n\n#[cfg(test)]\nmod tests {\n}\n#[cfg(test)]\nmod b;\n"),
        ("src/b.rs", "fn g() {}\n"),
        ("src/tests.rs", "fn h() {}\n"),
        ("benches/a.rs", "fn h() {}\n"),
    ];
    let workspace = made_up(&texts);
    let lines: Vec<_> = workspace.sources().map(|(f, s)| lines_outside_tests(f, s)).collect();
    assert_eq!(lines, [2]);
}

#[test]
fn code_is_found_in_whole_words() {
    let text = "// A::Tick\nfn f() { A::Ticks; }\n";
    assert_eq!(files_with(&made_up(&[("src/a.rs", text)]), "A::Tick").len(), 0);
    let text = "fn f() { A::Tick; }\n";
    assert_eq!(files_with(&made_up(&[("src/a.rs", text)]), "A::Tick").len(), 1);
}

#[test]
fn arrows_are_exact() {
    let packages = made_up(&[]).packages;
    let allowed = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        BTreeMap::from([("made-up".to_owned(), names)])
    };
    assert_eq!(arrow_faults(&packages, &allowed(&["base"])), [""; 0]);
    assert!(arrow_faults(&packages, &allowed(&[]))[0].contains("made-up -> base is not allowed"));
    let faults = arrow_faults(&packages, &allowed(&["base", "old"]));
    assert!(faults[0].contains("does not depend on old"), "{faults:?}");
    assert!(arrow_faults(&packages, &BTreeMap::new())[0].contains("enter its arrows"));
}

#[test]
fn lists_are_exact() {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let faults = differences(&set(&["a", "b"]), &set(&["b", "c"]), |n, real| format!("{n}{real}"));
    assert_eq!(faults, ["atrue", "cfalse"]);
}

#[test]
fn test_flags_match_the_tests() {
    let flags = |text| test_flags(&made_up(&[("src/a.rs", text)]));
    assert_eq!(flags("#[test]\nfn f() {}\n").0, ["Cargo.toml:1: delete `test = false` in [lib]"]);
    assert_eq!(flags("fn f() {}\n"), (vec![], [1, 0]));
}

#[test]
fn ceilings_only_fall() {
    assert_eq!(judge(3, Some(3)), Ok(()));
    assert_eq!(judge(4, Some(3)), Err(Change::Repair(3)));
    assert_eq!(judge(2, Some(3)), Err(Change::Lower));
    assert_eq!(judge(2, None), Err(Change::Enter));
    let text = "[a]\n\"x y\" = 12 # why\n[b]\n# x = 3\nx = 9\n";
    let less = "[a]\n\"x y\" = 7 # why\n[b]\n# x = 3\nx = 9\n";
    assert_eq!(lowered(text, "a", "x y", 7).as_deref(), Some(less));
    assert_eq!(lowered(text, "a", "x y", 13), None);
    assert_eq!(lowered(text, "a", "x", 1), None);
}

#[test]
fn listings_begin_with_changed_files() {
    let offences = ["b.rs", "a.rs"].map(|path| Offence::new(path, 1, "wrong"));
    let text = listing(&offences, &BTreeSet::from(["b.rs".to_owned()]));
    let expected = " in files changed since the last commit:\n  b.rs:1: wrong\n elsewhere:\n  \
        a.rs:1: wrong\n";
    assert_eq!(text, expected);
}

#[test]
#[should_panic(expected = "files parse")]
fn a_file_that_is_not_rust_is_a_fault() {
    made_up(&[("src/a.rs", "fn f( {\n")]);
}
