//! Rules with a ceiling: each measures the workspace and lists the violations.

use std::collections::{BTreeMap, BTreeSet};

use crate::ceilings::Offence;
use crate::imports::{Edges, Imports, in_cycles};
use crate::prose::{self, Prose};
use crate::source::{Kind, Source};
use crate::workspace::{File, Workspace};

const MAX_FILE_LINES: usize = 500;
const MAX_FUNCTION_LINES: usize = 50;
const MAX_COLUMNS: usize = 100;
const MAX_COMMAND_LINES: usize = 200;

/// Folders whose files start jobs and print results, and do nothing else.
const COMMAND_FOLDERS: [&str; 1] = ["src/commands/"];

/// Prefixes of constants that have a plainer name.
const CONSTANT_PREFIXES: [&str; 3] = ["MOST_", "FEW_", "FIRST_"];

/// Types and traits in scope everywhere.
const STD_TYPES: &str = "AsMut AsRef Box Clone Copy Default DoubleEndedIterator Drop Eq \
    ExactSizeIterator Extend Fn FnMut FnOnce From FromIterator Future Into IntoFuture IntoIterator \
    Iterator Option Ord PartialEq PartialOrd Result Send Sized String Sync ToOwned ToString \
    TryFrom TryInto Unpin Vec";

/// Macros in scope everywhere.
const STD_MACROS: &str = "assert assert_eq assert_ne cfg column concat dbg debug_assert \
    debug_assert_eq debug_assert_ne env eprint eprintln file format format_args include \
    include_bytes include_str line matches module_path option_env panic print println stringify \
    thread_local todo unimplemented unreachable vec write writeln";

/// Name of the ceiling in `[ceilings]`, what to do about a violation, and the measure.
pub type Rule = (&'static str, &'static str, fn(&Workspace) -> Vec<Offence>);

/// The rule of a ceiling.
pub fn rule(key: &str) -> &'static Rule {
    RULES.iter().find(|rule| rule.0 == key).expect("a rule of that name")
}

const MOVE: &str = "Move what both need into a third file.";
const MOVE_UP: &str = "Move what the children import into a file beside them.";
const SPLIT: &str = "Split it into parts with names.";
const TYPE: &str = "Give each public type a name of its own, with a noun.";
const NEW: &str = "Name it `new`, `from_*`, `with_*` or `for_*`.";
const MAX: &str = "Name it `MAX_*`, `SMALL_*` or `INITIAL_*`.";
const PRELUDE: &str = "Choose a name that std's prelude does not have.";
const WRAP: &str = "Wrap the line.";
const BEGIN: &str = "Begin the file with one `//!` line of at most 100 characters.";
const LIBRARY: &str = "Move the logic into a library.";

pub const RULES: [Rule; 17] = [
    ("top_folders", "Put the folder into one that exists.", top_folders),
    ("files_in_import_cycles", MOVE, |w| cycles(w, |i| in_cycles(&i.plain))),
    ("files_in_import_cycles_with_parents", MOVE_UP, |w| {
        cycles(w, |i| in_cycles(&i.with_parents()))
    }),
    ("root_modules_in_import_cycles", MOVE, |w| {
        cycles(w, |i| in_cycles(&i.between_root_modules()))
    }),
    ("parents_that_define_for_children", MOVE_UP, parents),
    ("files_over_500_lines", SPLIT, |w| longer(w.sources(), MAX_FILE_LINES)),
    ("functions_over_50_lines", SPLIT, long_functions),
    ("repeated_public_types", TYPE, repeated_types),
    ("functions_named_of", NEW, functions_named_of),
    ("constants_most_few_first", MAX, constants),
    ("items_that_shadow_std", PRELUDE, shadows),
    ("lines_over_100_columns", WRAP, |w| wide(w, |file| file.source.is_some())),
    ("test_lines_over_100_columns", WRAP, |w| wide(w, |file| file.source.is_none())),
    ("modules_without_first_doc_line", BEGIN, first_doc_lines),
    ("module_summaries_over_100_characters", BEGIN, summaries),
    ("command_files_over_200_lines", LIBRARY, |w| longer(commands(w), MAX_COMMAND_LINES)),
    ("command_files_with_threads", LIBRARY, threads),
];

/// Folders at the top level that are not hidden.
fn top_folders(workspace: &Workspace) -> Vec<Offence> {
    let folders = workspace.entries.iter().filter(|e| e.ends_with('/') && !e.starts_with('.'));
    folders.map(|folder| Offence::new(folder, 1, "a folder of the top level")).collect()
}

/// The imports of each package.
fn imports(workspace: &Workspace) -> impl Iterator<Item = Imports<'_>> {
    workspace.packages.iter().map(|package| {
        let modules = workspace.modules(package).into_iter();
        Imports::new(modules.map(|(path, (file, source))| (path, &*file.path, source)).collect())
    })
}

/// Files with an import that is part of a cycle.
fn cycles(workspace: &Workspace, edges: fn(&Imports<'_>) -> Edges) -> Vec<Offence> {
    let mut offences = Vec::new();
    for imports in imports(workspace) {
        let mut targets: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for ((from, to), line) in edges(&imports) {
            targets.entry(from).or_default().push((line, to));
        }
        for (from, targets) in targets {
            let names: Vec<&str> = targets.iter().map(|(_, to)| imports.path(*to)).collect();
            let what = format!("imports in a cycle: {}", names.join(", "));
            let line = targets.iter().map(|(line, _)| *line).min().unwrap_or(1);
            offences.push(Offence::new(imports.path(from), line, what));
        }
    }
    offences
}

/// Files that define what their child modules import.
fn parents(workspace: &Workspace) -> Vec<Offence> {
    let mut offences = Vec::new();
    for imports in imports(workspace) {
        let mut children: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for ((parent, child), line) in imports.parents() {
            children.entry(parent).or_default().push(format!("{}:{line}", imports.path(child)));
        }
        for (parent, children) in children {
            let what = format!("defines what children import: {}", children.join(", "));
            offences.push(Offence::new(imports.path(parent), 1, what));
        }
    }
    offences
}

/// Lines of a file outside `#[cfg(test)]`.
pub fn lines_outside_tests(file: &File, source: &Source) -> usize {
    (1..=file.text.lines().count()).filter(|line| !source.is_test_line(*line)).count()
}

/// One violation for each file that has more lines than `limit`.
fn longer<'w>(files: impl Iterator<Item = (&'w File, &'w Source)>, limit: usize) -> Vec<Offence> {
    let lines = files.map(|(file, source)| (file, lines_outside_tests(file, source)));
    let long = lines.filter(|(_, lines)| *lines > limit);
    long.map(|(file, lines)| Offence::new(&file.path, 1, format!("{lines} lines"))).collect()
}

/// Violations that the facts of each file show, by line.
fn by_line<'w, T: 'w>(
    workspace: &'w Workspace,
    facts: impl Fn(&'w Source) -> &'w [T],
    fault: impl Fn(&T) -> Option<(usize, String)>,
) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (file, source) in workspace.sources() {
        let found = facts(source).iter().filter_map(&fault);
        offences.extend(found.map(|(line, what)| Offence::new(&file.path, line, what)));
    }
    offences
}

/// Functions that are too long.
fn long_functions(workspace: &Workspace) -> Vec<Offence> {
    by_line(
        workspace,
        |source| &source.functions,
        |f| {
            let what = || format!("`{}` has {} lines", f.name, f.lines);
            (f.lines > MAX_FUNCTION_LINES).then(|| (f.line, what()))
        },
    )
}

/// Public types whose name another public type has.
fn repeated_types(workspace: &Workspace) -> Vec<Offence> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (file, source) in workspace.sources() {
        let types = source.items.iter().filter(|item| item.kind == Kind::Type);
        for item in types.filter(|item| item.public && item.at_module_level) {
            places.entry(&item.name).or_default().push((&file.path, item.line));
        }
    }
    let mut offences = Vec::new();
    for (name, places) in places.into_iter().filter(|(_, places)| places.len() > 1) {
        let what = format!("`{name}` is the name of {} public types", places.len());
        let all = places.into_iter();
        offences.extend(all.map(|(path, line)| Offence::new(path, line, what.clone())));
    }
    offences
}

/// Functions called `of` or `of_*`.
fn functions_named_of(workspace: &Workspace) -> Vec<Offence> {
    by_line(
        workspace,
        |source| &source.functions,
        |f| {
            let wrong = f.name == "of" || f.name.starts_with("of_");
            wrong.then(|| (f.line, format!("`fn {}`", f.name)))
        },
    )
}

/// Constants with a prefix that says less than the usual one.
fn constants(workspace: &Workspace) -> Vec<Offence> {
    by_line(
        workspace,
        |source| &source.items,
        |item| {
            let wrong = CONSTANT_PREFIXES.iter().any(|prefix| item.name.starts_with(prefix));
            (item.kind == Kind::Constant && wrong).then(|| (item.line, format!("`{}`", item.name)))
        },
    )
}

/// Types, macros and renamed imports with a name of std's prelude.
fn shadows(workspace: &Workspace) -> Vec<Offence> {
    let has = |names: &str, name: &str| names.split_whitespace().any(|known| known == name);
    let mut offences = by_line(
        workspace,
        |source| &source.items,
        |item| {
            let names = match item.kind {
                Kind::Type => STD_TYPES,
                Kind::Macro | Kind::ExportedMacro => STD_MACROS,
                Kind::Constant | Kind::Function => "",
            };
            has(names, &item.name).then(|| (item.line, format!("`{}` shadows std", item.name)))
        },
    );
    offences.extend(by_line(
        workspace,
        |source| &source.uses,
        |import| {
            let name = import.name.as_ref().filter(|_| import.renamed)?;
            let shadows = has(STD_TYPES, name) || has(STD_MACROS, name);
            shadows.then(|| (import.line, format!("`{name}` shadows std")))
        },
    ));
    offences
}

/// Lines with too many characters in files that `filter` accepts.
fn wide(workspace: &Workspace, filter: fn(&File) -> bool) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in workspace.files.iter().filter(|file| filter(file)) {
        let columns = file.text.lines().map(|line| line.chars().count()).zip(1..);
        let wide = columns.filter(|(columns, _)| *columns > MAX_COLUMNS);
        offences.extend(
            wide.map(|(columns, line)| {
                Offence::new(&file.path, line, format!("{columns} columns"))
            }),
        );
    }
    offences
}

/// Modules whose documentation does not begin with a short line.
fn first_doc_lines(workspace: &Workspace) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (file, source) in workspace.sources() {
        match source.module_docs.first().map_or(0, |line| line.chars().count()) {
            0 => offences.push(Offence::new(&file.path, 1, "no `//!` line")),
            n if n > MAX_COLUMNS => {
                offences.push(Offence::new(&file.path, 1, format!("{n} characters")));
            }
            _ => {}
        }
    }
    offences
}

/// Modules whose first paragraph is too long for a summary.
fn summaries(workspace: &Workspace) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (file, source) in workspace.sources() {
        let lines = source.module_docs.iter().take_while(|line| !line.is_empty());
        let summary = lines.map(String::as_str).collect::<Vec<_>>().join(" ");
        let length = summary.chars().count();
        if length > MAX_COLUMNS {
            offences.push(Offence::new(&file.path, 1, format!("a summary of {length} characters")));
        }
    }
    offences
}

/// Files of commands.
fn commands(workspace: &Workspace) -> impl Iterator<Item = (&File, &Source)> {
    let is_command = |path: &str| COMMAND_FOLDERS.iter().any(|folder| path.starts_with(folder));
    workspace.sources().filter(move |(file, _)| is_command(&file.path))
}

/// True if a folder of commands has a file.
pub fn has_commands(workspace: &Workspace) -> bool {
    commands(workspace).next().is_some()
}

/// Files of commands that start threads.
fn threads(workspace: &Workspace) -> Vec<Offence> {
    let parallel = |path: &[String]| {
        path.first().is_some_and(|name| name == "rayon")
            || (path.len() > 1 && path[0] == "std" && path[1] == "thread")
    };
    let mut offences = Vec::new();
    for (file, source) in commands(workspace) {
        let imports = source.uses.iter().map(|import| (&import.path, import.line));
        let paths = source.paths.iter().map(|path| (&path.path, path.line));
        let first = imports.chain(paths).filter(|(path, _)| parallel(path)).min_by_key(|p| p.1);
        offences.extend(first.map(|(path, line)| Offence::new(&file.path, line, path.join("::"))));
    }
    offences
}

/// Where each phrase is, in comments and string literals outside tests and in pages.
pub fn banned<'p>(
    workspace: &Workspace,
    phrases: impl Iterator<Item = &'p String>,
) -> BTreeMap<&'p str, Vec<Offence>> {
    let phrases: Vec<&String> = phrases.collect();
    let split = |phrase: &&String| phrase.split_whitespace().map(str::to_lowercase).collect();
    let words: Vec<Vec<String>> = phrases.iter().map(split).collect();
    let mut found: BTreeMap<&str, Vec<Offence>> =
        phrases.iter().map(|phrase| (phrase.as_str(), Vec::new())).collect();
    let mut search = |path: &str, prose: &Prose| {
        for (index, line) in prose::find(prose, &words) {
            let phrase = phrases[index].as_str();
            let offence = Offence::new(path, line, format!("\"{phrase}\""));
            found.get_mut(phrase).expect("a list for each phrase").push(offence);
        }
    };
    for (file, source) in workspace.sources() {
        source.prose.iter().for_each(|prose| search(&file.path, prose));
    }
    for (path, text) in &workspace.pages {
        search(path, &Prose { line: 1, text: text.clone() });
    }
    found
}

/// Files outside tests whose code contains a text, not as part of a longer name.
pub fn files_with(workspace: &Workspace, wanted: &str) -> BTreeSet<String> {
    let is_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (first, last) = (wanted.chars().next(), wanted.chars().next_back());
    let whole = |text: &str, at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + wanted.len()..].chars().next();
        !(is_name(first) && is_name(before) || is_name(last) && is_name(after))
    };
    let contains = |source: &Source| {
        let lines = source.code.lines().zip(1..).filter(|(_, n)| !source.is_test_line(*n));
        lines.into_iter().any(|(line, _)| line.match_indices(wanted).any(|(at, _)| whole(line, at)))
    };
    let files = workspace.sources().filter(|(_, source)| contains(source));
    files.map(|(file, _)| file.path.clone()).collect()
}
