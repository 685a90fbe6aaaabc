//! Structure of the workspace: layout, arrows, cycles, sizes, names, wording.
//!
//! Each measure has a ceiling in `tests/layout.toml`. A measure above its ceiling fails; so does
//! one below it, until the ceiling is lowered: by hand, or by a run with `WRITE_LAYOUT=1`.
//! `LAYOUT_ROOT` names another checkout to measure.

mod ceilings;
mod imports;
mod prose;
mod rules;
mod self_tests;
mod source;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};

use ceilings::{compare, list, lists, numbers};
use rules::{RULES, banned, files_with, lines_outside_tests, rule};
use workspace::{Package, Workspace, run, workspace};

/// Fails with all faults.
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Measures the workspace by some rules and compares with their ceilings.
fn check(keys: &[&str]) {
    let (workspace, mut faults) = (workspace(), Vec::new());
    for (key, fix, measure) in keys.iter().map(|key| rule(key)) {
        let offences = measure(workspace);
        faults.extend(compare("ceilings", key, fix, &offences, &workspace.changed).err());
    }
    assert_none(&faults);
}

/// What two sets do not share, as faults.
fn differences(
    real: &BTreeSet<String>,
    listed: &BTreeSet<String>,
    fault: impl Fn(&str, bool) -> String,
) -> Vec<String> {
    let unlisted = real.difference(listed).map(|name| fault(name, true));
    let absent = listed.difference(real).map(|name| fault(name, false));
    unlisted.chain(absent).collect()
}

#[test]
fn entries_of_the_top_level_are_listed() {
    assert_none(&differences(&workspace().entries, &list("entries"), |entry, real| match real {
        true => format!("{entry}: put it into a folder, or list it in tests/layout.toml, entries"),
        false => format!("{entry} is not in git: delete it in tests/layout.toml, entries"),
    }));
    check(&["top_folders"]);
}

/// The line of a manifest that names a dependency.
fn manifest_line(package: &Package, dependency: &str) -> usize {
    let text = std::fs::read_to_string(workspace::root().join(&package.manifest));
    let text = text.expect("a manifest");
    let names = |line: &str| {
        line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    text.lines().position(names).map_or(1, |line| line + 1)
}

/// Arrows between packages that are not listed, and listed ones that do not exist.
fn arrow_faults(packages: &[Package], allowed: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let names = packages.iter().map(|package| package.name.clone()).collect();
    let mut faults =
        differences(&names, &allowed.keys().cloned().collect(), |name, real| match real {
            true => format!("{name}: enter its arrows in tests/layout.toml, [arrows]"),
            false => format!("{name} is no package: delete it in tests/layout.toml, [arrows]"),
        });
    for package in packages {
        let Some(allowed) = allowed.get(&package.name) else { continue };
        faults.extend(differences(&package.arrows, allowed, |to, real| match real {
            true => format!(
                "{}:{}: {} -> {to} is not allowed: remove the dependency, or move the code down",
                package.manifest,
                manifest_line(package, to),
                package.name
            ),
            false => format!(
                "{}:1: {} does not depend on {to}: delete it in tests/layout.toml, [arrows]",
                package.manifest, package.name
            ),
        }));
    }
    faults
}

#[test]
fn arrows_between_packages_are_listed() {
    assert_none(&arrow_faults(&workspace().packages, &lists("arrows")));
}

#[test]
fn files_do_not_import_each_other_in_cycles() {
    check(&["files_in_import_cycles", "root_modules_in_import_cycles"]);
}

#[test]
fn parents_do_not_define_what_children_import() {
    check(&["files_in_import_cycles_with_parents", "parents_that_define_for_children"]);
}

#[test]
fn files_and_functions_are_short() {
    check(&["files_over_500_lines", "functions_over_50_lines"]);
}

#[test]
fn public_types_have_names_of_their_own() {
    check(&["repeated_public_types"]);
}

#[test]
fn names_follow_the_glossary() {
    check(&["functions_named_of", "constants_most_few_first", "items_that_shadow_std"]);
}

#[test]
fn lines_fit_in_100_columns() {
    check(&["lines_over_100_columns", "test_lines_over_100_columns"]);
}

#[test]
fn modules_begin_with_a_summary() {
    check(&["modules_without_first_doc_line", "module_summaries_over_100_characters"]);
}

#[test]
fn banned_phrases_become_fewer() {
    let (workspace, phrases) = (workspace(), numbers("banned"));
    let fix = "Write the term of the glossary.";
    let compared = banned(workspace, phrases.keys()).into_iter().filter_map(|(phrase, found)| {
        compare("banned", phrase, fix, &found, &workspace.changed).err()
    });
    assert_none(&compared.collect::<Vec<_>>());
}

#[test]
fn lines_outside_tests_stay_within_the_budget() {
    let lines: usize = workspace().sources().map(|(f, s)| lines_outside_tests(f, s)).sum();
    let budget = numbers("budget")["lines_outside_tests"];
    assert!(lines <= budget, "{lines} lines outside tests, more than {budget}: remove some");
    println!("{lines} lines outside tests of {budget}");
}

#[test]
fn commands_have_no_logic() {
    assert!(rules::has_commands(workspace()), "no file of commands: rules.rs, COMMAND_FOLDERS");
    check(&["command_files_over_200_lines", "command_files_with_threads"]);
}

/// Pages name source files that exist, so that a reader finds them after a move.
#[test]
fn pages_name_files_that_exist() {
    let (mut faults, mut named) = (Vec::new(), 0);
    for (path, text) in &workspace().pages {
        let other = |c: char| !c.is_ascii_alphanumeric() && !"_-./".contains(c);
        for word in text.split(other).filter(|word| word.ends_with(".rs") && word.contains('/')) {
            named += 1;
            let word = word.trim_start_matches("../");
            let end = format!("/{word}");
            let is_it = |file: &str| file == word || file.ends_with(&end);
            if !workspace().files.iter().any(|file| is_it(&file.path)) {
                faults.push(format!("{path}: {word} does not exist: name the file it is in now"));
            }
        }
    }
    assert!(named > 20, "{named} files named");
    assert_none(&faults);
}

#[test]
fn each_ceiling_has_a_rule() {
    let real = RULES.iter().map(|rule| rule.0.to_owned()).collect();
    let listed = numbers("ceilings").into_keys().collect();
    assert_none(&differences(&real, &listed, |key, real| match real {
        true => format!("enter `{key}` in tests/layout.toml, [ceilings]"),
        false => format!("no rule measures `{key}`: delete it in tests/layout.toml, [ceilings]"),
    }));
}

/// What a package is built with, by name.
fn built_with(package: &str) -> BTreeSet<String> {
    let edges = ["--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
    let arguments = ["tree", "--offline", "--locked", "--package", package];
    let text = run(env!("CARGO"), &[&arguments[..], &edges].concat());
    text.lines().filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

#[test]
fn libraries_stay_light() {
    let (heavy, light, mut without) = (list("heavy"), lists("light"), lists("without"));
    for (package, allowed) in &light {
        let forbidden = heavy.difference(allowed).cloned();
        without.entry(package.clone()).or_default().extend(forbidden);
    }
    let mut faults = Vec::new();
    for (package, forbidden) in &without {
        let built_with = built_with(package);
        assert!(built_with.contains(package), "{package}: {built_with:?}");
        faults.extend(built_with.intersection(forbidden).map(|name| {
            format!("{package} is built with {name}: remove it (cargo tree -p {package} -i {name})")
        }));
    }
    assert_none(&faults);
}

/// Libraries whose `test` flag is wrong, and how many libraries have tests and have none.
fn test_flags(workspace: &Workspace) -> (Vec<String>, [usize; 2]) {
    let (mut faults, mut counts) = (Vec::new(), [0, 0]);
    for package in &workspace.packages {
        for target in package.targets.iter().filter(|target| target.kind == "lib") {
            let folder = target.path.trim_end_matches("lib.rs");
            let mut files = workspace.files.iter().filter(|file| file.path.starts_with(folder));
            let has_tests = files.any(|file| file.text.contains("#[test]"));
            counts[usize::from(has_tests)] += 1;
            if has_tests != target.tested {
                let flag = if has_tests { "delete `test = false`" } else { "add `test = false`" };
                faults.push(format!("{}:1: {flag} in [lib]", package.manifest));
            }
        }
    }
    (faults, counts)
}

/// A library is compiled once more for its own tests; one without tests has `test = false`.
#[test]
fn libraries_with_tests_run_them() {
    let (faults, counts) = test_flags(workspace());
    assert_none(&faults);
    assert!(!counts.contains(&0), "libraries without and with tests: {counts:?}");
}

#[test]
fn examples_need_the_solver_alone() {
    let mut examples = BTreeSet::new();
    for package in &workspace().packages {
        let targets = package.targets.iter().filter(|target| target.kind == "example");
        examples.extend(targets.map(|target| format!("{} {}", package.name, target.name)));
    }
    assert_none(&differences(&examples, &list("examples"), |name, real| match real {
        true => format!("{name}: move the example to the solver, or list it in tests/layout.toml"),
        false => format!("{name} is no example: delete it in tests/layout.toml, examples"),
    }));
}

/// An encoding or a strategy is one module and one line where all are registered.
#[test]
fn encodings_and_strategies_are_registered_in_one_place() {
    let (workspace, mut faults) = (workspace(), Vec::new());
    for (text, allowed) in lists("registered") {
        if !workspace.files.iter().any(|file| file.text.contains(&text)) {
            faults.push(format!("no file contains `{text}`: tests/layout.toml, [registered]"));
        }
        let files = files_with(workspace, &text);
        faults.extend(differences(&files, &allowed, |path, real| match real {
            true => format!("{path}:1: contains `{text}`: use what the registry lists"),
            false => format!("{path} does not contain `{text}`: tests/layout.toml, [registered]"),
        }));
    }
    assert_none(&faults);
}
