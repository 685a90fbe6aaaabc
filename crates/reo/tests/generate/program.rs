//! Programs around generated modules, compiled and run.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Made;

/// What a predicate says of a text such as `P(0)`: a bit of its FNV-1a hash.
pub fn holds(text: &str) -> bool {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step) >> 7 & 1 == 1
}

/// Compiles a program; nothing, with a line that says so, if there is no compiler.
pub fn compiled(text: &str, what: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, program) = (
        folder.join(format!("{what}.{}", if what == "c" { "c" } else { "rs" })),
        folder.join(what),
    );
    std::fs::write(&source, text).expect("a file");
    let mut command = if what == "c" {
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O0"]);
        cc
    } else {
        let beside =
            std::env::var_os("CARGO").map(|cargo| Path::new(&cargo).with_file_name("rustc"));
        let mut rustc = Command::new(beside.filter(|p| p.exists()).unwrap_or("rustc".into()));
        rustc.args(["--edition", "2021", "-D", "warnings", "-C", "debuginfo=0"]);
        rustc
    };
    let output = match command.arg(&source).arg("-o").arg(&program).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("skipped: no compiler for {what} is installed");
            return None;
        }
        output => output.expect("the compiler starts"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said:.8000}", source.display());
    Some(program)
}

/// What a program prints.
pub fn ran(command: &mut Command, input: &str) -> String {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || _ = stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().expect("the program ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said:.4000}");
        String::from_utf8(output.stdout).expect("UTF-8")
    })
}

/// A function, predicate or constant of a generated trait: how it is written, its identifier, its
/// arguments, and whether it is a predicate.
struct Word<'a> {
    text: &'a str,
    word: &'a str,
    arguments: usize,
    predicate: bool,
}

/// What a generated Rust module names, read from its text.
struct Names<'a> {
    words: Vec<Word<'a>>,
    /// How cells are written, and their identifiers.
    cells: Vec<(&'a str, &'a str)>,
    /// How many cells are arguments of `new`.
    given: usize,
}

fn names(rust: &str) -> Names<'_> {
    let (mut words, mut cells) = (Vec::new(), Vec::new());
    let lines: Vec<&str> = rust.lines().collect();
    for pair in lines.windows(2) {
        let text = pair[0].trim().trim_start_matches("/// ").trim_matches('`');
        if let Some(rest) = pair[1].strip_prefix("    fn ").filter(|r| r.ends_with(';')) {
            let (word, arguments) = rest.split_once('(').expect("arguments");
            let predicate = rest.ends_with("bool;");
            words.push(Word { text, word, arguments: arguments.matches(": &").count(), predicate });
        }
        if let Some(rest) = pair[1].strip_prefix("    pub cell_") {
            cells.push((text.trim_start_matches('$'), rest.split_once(':').expect("a type").0));
        }
    }
    let new = lines.iter().find(|l| l.contains("pub fn new(meaning")).expect("a constructor");
    Names { words, cells, given: new.matches(": M::Value").count() }
}

fn ports(made: &Made) -> Vec<(String, bool)> {
    let port =
        |n| (made.connector.symbols.word(n).to_owned(), made.inputs.iter().any(|i| i.0 == n));
    made.alphabet().iter().map(|n| port(n.0)).collect()
}

/// The main program in Rust.
const RUST: &str = r#"
use std::io::BufRead;
#[derive(Clone)]
struct Free;
fn holds(text: &str) -> bool {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step) >> 7 & 1 == 1
}
fn put(word: &str) -> Option<String> {
    (word != "-").then(|| word.to_owned())
}
fn list(all: &[(&str, &Option<String>)], sign: &str) -> Vec<String> {
    all.iter().filter_map(|(n, v)| Some(format!("{n}{sign}{}", v.as_ref()?))).collect()
}
fn main() {
    let mut lines = std::io::stdin().lock().lines().map(|l| l.unwrap());
    while let Some(name) = lines.next() {
        println!("{name}");
        play(&name, &mut lines);
    }
}
"#;

/// All connectors as one Rust program.
pub fn rust(all: &[Made]) -> String {
    let mut out = String::from(RUST);
    let mut arms = String::new();
    for made in all {
        let name = &made.connector.name;
        _ = writeln!(out, "mod {name} {{\n{}}}\n{}{}", made.rust, meaning(made), player(made));
        _ = writeln!(arms, "        {name:?} => play_{name}(lines),");
    }
    out + "fn play(name: &str, lines: &mut dyn Iterator<Item = String>) {\n    match name {\n"
        + &arms
        + "        _ => panic!(\"{name}\"),\n    }\n}\n"
}

/// What the words of a module mean in Rust.
fn meaning(made: &Made) -> String {
    let mut out =
        format!("impl {}::Meaning for Free {{\n    type Value = String;\n", made.connector.name);
    for Word { text, word, arguments, predicate } in names(&made.rust).words {
        let taken: String = (1..=arguments).map(|k| format!(", x{k}: &String")).collect();
        let shown: Vec<String> = (1..=arguments).map(|k| format!("x{k}.as_str()")).collect();
        let call =
            format!("format!(\"{{}}({{}})\", {text:?}, [{}].join(\", \"))", shown.join(", "));
        let (to, body) = match (predicate, arguments) {
            (true, _) => ("bool", format!("holds(&{call})")),
            (false, 0) => ("String", format!("{text:?}.to_string()")),
            (false, _) => ("String", call),
        };
        _ = writeln!(out, "    fn {word}(&self{taken}) -> {to} {{ {body} }}");
    }
    out + "}\n"
}

/// Plays a schedule in Rust.
fn player(made: &Made) -> String {
    let (name, names) = (&made.connector.name, names(&made.rust));
    let given: String =
        (1..=names.given).map(|k| format!(", \"\\\"d{k}\\\"\".to_string()")).collect();
    let (mut offers, mut fired) = (String::new(), String::new());
    for (k, (port, put)) in ports(made).iter().enumerate() {
        _ = match put {
            true => write!(offers, "put_{port}: put(t[{}]), ", k + 1),
            false => write!(offers, "take_{port}: t[{}] == \"!\", ", k + 1),
        };
        _ = write!(fired, "({port:?}, &fired.at_{port}), ");
    }
    let cell = |(text, c): &(&str, &str)| format!("({text:?}, &now.cell_{c}), ");
    let cells: String = names.cells.iter().map(cell).collect();
    let now = if cells.is_empty() { "" } else { "let now = next.memory();" };
    format!(
        "fn play_{name}(lines: &mut dyn Iterator<Item = String>) {{
    let mut at = {name}::Connector::new(Free{given});
    for line in lines.take_while(|l| l != \".\") {{
        let t: Vec<&str> = line.split('\\t').collect();
        let offers = {name}::Offers {{ {offers} }};
        let enabled = at.enabled(&offers);
        let last = at.clone().step(&offers, |count| {{
            assert_eq!(count, enabled.len());
            count - 1
        }});
        assert_eq!(last.map(|fired| fired.step), enabled.last().copied());
        let mut all = Vec::new();
        for step in enabled {{
            let mut next = at.clone();
            let fired = next.fire(step, &offers).unwrap();
            assert_eq!(fired.step, step);
            let text = list(&[{fired}], \" = \").join(\", \");
            {now}
            let cells: String = list(&[{cells}], \"=\").iter().map(|c| format!(\" \
            {{c}}\")).collect();
            let state = next.memory().state.map(|s| s.to_string()).join(\",\");
            all.push((format!(\"{{state}} {{{{{{text}}}}}}{{cells}}\"), next));
        }}
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.dedup_by(|a, b| a.0 == b.0);
        all.iter().for_each(|(text, _)| println!(\"{{text}}\"));
        if all.is_empty() {{
            println!(\"-> none\");
            continue;
        }}
        let chosen = t[0].parse::<usize>().unwrap() % all.len();
        println!(\"-> {{chosen}}\");
        at = all.swap_remove(chosen).1;
    }}
}}
"
    )
}

/// The main program in C.
const C: &str = r#"#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *text_of(const char *format, ...) {
    char *text = malloc(4096);
    va_list all;
    va_start(all, format);
    if (vsnprintf(text, 4096, format, all) >= 4096) exit(3);
    va_end(all);
    return text;
}
#include <stdbool.h>
#include <stdint.h>
static bool holds(const char *text) {
    uint64_t h = 0xcbf29ce484222325;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3;
    return h >> 7 & 1;
}
static bool same(void *context, const char *a, const char *b) {
    (void)context;
    return strcmp(a, b) == 0;
}
static size_t last(void *context, size_t count) {
    *(size_t *)context = count;
    return count - 1;
}
struct outcome { char *text; size_t step; };
static int by_text(const void *a, const void *b) {
    return strcmp(((const struct outcome *)a)->text, ((const struct outcome *)b)->text);
}
static char line[65536], *word[64];
static bool next_line(void) {
    if (!fgets(line, sizeof line, stdin)) exit(4);
    line[strcspn(line, "\n")] = 0;
    size_t count = 0;
    char *copy = text_of("%s", line);
    for (char *w = strtok(copy, "\t"); w && count < 64; w = strtok(NULL, "\t")) word[count++] = w;
    return strcmp(line, ".") != 0;
}
// Sorts, prints each text once, and gives the step that is taken; -1 if there is none.
static long told(struct outcome *all, size_t count) {
    size_t kept = 0;
    qsort(all, count, sizeof *all, by_text);
    for (size_t k = 0; k < count; k++)
        if (kept == 0 || strcmp(all[kept - 1].text, all[k].text)) all[kept++] = all[k];
    for (size_t k = 0; k < kept; k++) puts(all[k].text);
    if (kept == 0) { puts("-> none"); return -1; }
    size_t chosen = (size_t)atoi(word[0]) % kept;
    printf("-> %zu\n", chosen);
    return (long)all[chosen].step;
}
"#;

/// All connectors as one C program.
pub fn c(all: &[Made]) -> String {
    let mut out = String::from(C);
    let mut arms = String::new();
    for made in all {
        let name = &made.connector.name;
        _ = writeln!(out, "#define {name}_VALUE const char *\n{}{}", made.c, c_player(made));
        _ = writeln!(arms, "        if (!strcmp(name, {name:?})) play_{name}();");
    }
    out + "int main(void) {\n    static char name[64];\n    while (fgets(name, sizeof name, \
        stdin)) {\n        name[strcspn(name, \"\\n\")] = 0;\n        puts(name);\n"
        + &arms
        + "    }\n}\n"
}

/// What the words of a module mean in C, and the schedule played.
fn c_player(made: &Made) -> String {
    let (name, names) = (&made.connector.name, names(&made.rust));
    let (mut functions, mut fields) = (String::new(), String::new());
    for Word { text, word, arguments, predicate } in names.words {
        if arguments == 0 && !predicate {
            _ = write!(fields, ", .{word} = {text:?}");
            continue;
        }
        let taken: String = (1..=arguments).map(|k| format!(", const char *x{k}")).collect();
        let shown: String = (1..=arguments).map(|k| format!(", x{k}")).collect();
        let format = format!("{text}({})", vec!["%s"; arguments].join(", "));
        let call = format!("text_of(\"{format}\"{shown})");
        let (to, body) =
            if predicate { ("bool", format!("holds({call})")) } else { ("const char *", call) };
        _ = writeln!(
            functions,
            "static {to} {name}_{word}(void *c{taken}) {{ (void)c; return {body}; }}"
        );
        _ = write!(fields, ", .{word} = {name}_{word}");
    }
    let given: String = (1..=names.given).map(|k| format!(", \"\\\"d{k}\\\"\"")).collect();
    let (mut offers, mut shown) = (String::new(), String::new());
    for (k, (port, put)) in ports(made).iter().enumerate() {
        let token = format!("word[{}]", k + 1);
        _ = match put {
            true => writeln!(
                offers,
                "        o.has_{port} = strcmp({token}, \"-\"); o.put_{port} = {token};"
            ),
            false => {
                writeln!(offers, "        o.take_{port} = !strcmp({token}, \"-\") ? false : true;")
            }
        };
        _ = writeln!(
            shown,
            "            if (f.fired_{port}) {{ t = text_of(\"%s%s{port} = %s\", t, sign, \
             f.at_{port}); sign = \", \"; }}"
        );
    }
    shown += "            t = text_of(\"%s}\", t);\n";
    for (text, cell) in &names.cells {
        _ = writeln!(
            shown,
            "            if (n.cell_{cell}) t = text_of(\"%s {text}=%s\", t, n.cell_{cell});"
        );
    }
    format!(
        "{functions}static void play_{name}(void) {{
    struct {name}_meaning m = {{ .context = NULL, .equal = same{fields} }};
    struct {name} at;
    {name}_init(&at, &m{given});
    while (next_line()) {{
        struct {name}_offers o = {{0}};
{offers}        size_t steps[64], seen = 0;
        size_t count = {name}_enabled(&at, &o, steps, 64);
        struct outcome all[64];
        struct {name}_fired f;
        struct {name} n = at;
        if ({name}_step(&n, &o, last, &seen, &f) != (count > 0) || seen != count) exit(5);
        if (count && f.step != steps[count - 1]) exit(6);
        for (size_t k = 0; k < count; k++) {{
            n = at;
            if (!{name}_fire(&n, &o, steps[k], &f)) exit(7);
            const char *sign = \"\";
            char *t = text_of(\"%zu\", n.state[0]);
            for (size_t r = 1; r < sizeof n.state / sizeof *n.state; r++) t = \
         text_of(\"%s,%zu\", t, n.state[r]);
            t = text_of(\"%s {{\", t);
{shown}            all[k] = (struct outcome){{ t, steps[k] }};
        }}
        long step = told(all, count);
        if (step >= 0) {name}_fire(&at, &o, (size_t)step, &f);
    }}
}}
"
    )
}

/// Threads at the ports of a chain and of a merger with buffers.
pub fn threads(chain: &Made, merger: &Made, seed: u64) -> String {
    let mut out = String::new();
    for (name, made) in [("chain", chain), ("merger", merger)] {
        _ = writeln!(
            out,
            "mod {name} {{\n{}}}\nimpl {name}::Meaning for M {{ type Value = (u8, u32); }}",
            made.rust
        );
    }
    out + &format!(
        "struct M;
fn check(name: &str, taken: Vec<(u8, u32)>) {{
    for who in 0..4 {{
        let from: Vec<u32> = taken.iter().filter(|t| t.0 == who).map(|t| t.1).collect();
        assert_eq!(from, (0..1000).collect::<Vec<u32>>(), \"{{name}} {{who}}\");
    }}
    println!(\"{{name}} {{}}\", taken.len());
}}
fn main() {{
    // A datum that is lost would be waited for without end.
    std::thread::spawn(|| {{
        std::thread::sleep(std::time::Duration::from_secs(60));
        eprintln!(\"a thread still waits\");
        std::process::exit(1);
    }});
    let line = chain::Driver::new(chain::Connector::new(M), {seed});
    let taken = std::thread::scope(|scope| {{
        let line = &line;
        (0..4).for_each(|who| _ = scope.spawn(move || (0..1000).for_each(|k| line.put_a((who, \
        k)))));
        scope.spawn(|| (0..4000).map(|_| line.take_b()).collect()).join().unwrap()
    }});
    check(\"chain\", taken);
    let one = merger::Driver::new(merger::Connector::new(M), {seed});
    let taken = std::thread::scope(|scope| {{
        let one = &one;
        (0..2).for_each(|who| _ = scope.spawn(move || (0..1000).for_each(|k| one.put_a((who, k)))));
        (2..4).for_each(|who| _ = scope.spawn(move || (0..1000).for_each(|k| one.put_b((who, k)))));
        scope.spawn(|| (0..4000).map(|_| one.take_c()).collect()).join().unwrap()
    }});
    check(\"merger\", taken);
}}
"
    )
}
