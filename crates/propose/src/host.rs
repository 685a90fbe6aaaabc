//! Macros that the sources of a host program define for its kernels.
//!
//! Nothing is compiled or run. What is read are the ways in which hosts state macros:
//!
//! * the compiler's options in texts: `"-D WG=64"`, `"-D T=%s"`, `"-D N=" + to_string(n)`
//! * directives in texts: `"#define WG 64\n"`
//! * a call or a subscript of a word with `define` in it: `defines["WG"] = 64`, `define(WG, 64)`
//! * a name before a list of numbers, as tuners have them: `{"WG", {64, 128}}`
//!
//! Files that a list names before the kernel's source, `{ops_cl_src, sum_cl_src}`, `{"ops.cl",
//! "sum.cl"}` or lines of `#include "sum.cl"`, stand before it.
//!
//! A value that the host computes is a constant of the host if one has its name (`const int WG =
//! 64`), else it is unknown. Where files name the kernel's source or function, they come first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_opencl::ReaderSetup;

use crate::error::ProposeError;
use crate::names::reserved;

/// Most files of a host.
const MAX_FILES: usize = 20_000;
/// Most bytes of a host's file: larger ones are data.
const MAX_BYTES: usize = 4 << 20;
/// Most tokens between a name and its value: `"WG", std::vector<size_t>{`.
const MAX_BETWEEN: usize = 10;
/// Endings of sources of hosts.
const ENDINGS: &str = "c cc cpp cxx h hh hpp hxx inl m mm py java rs go js ts jl cs";

/// What a host states of a macro.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct HostMacro {
    /// Its numbers, in order.
    pub numbers: BTreeSet<i64>,
    /// Texts that are no numbers, as they come.
    pub texts: Vec<String>,
    /// It is a text that the host computes: `%s`.
    pub computed: bool,
    /// The file and the line where it is first stated.
    pub place: String,
}

/// What a host's files state.
#[derive(Debug, Clone, Default)]
pub struct HostSources {
    files: Vec<HostFile>,
}

#[derive(Debug, Clone, Default)]
struct HostFile {
    /// All names, and texts.
    words: BTreeSet<String>,
    macros: IndexMap<String, HostMacro>,
    /// Kernels' sources that a list has beside each other, without endings, and its place.
    lists: Vec<(Vec<String>, String)>,
}

/// A file's name, and its tokens with their lines.
type HostText = (String, Vec<(Token, usize)>);

/// A token of a host's source.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Text(String),
    Word(String),
    Number(i64),
    Sign(char),
}

impl HostSources {
    /// Reads the sources in a folder and its subfolders, and adds them.
    ///
    /// # Errors
    /// The folder is missing, cannot be read or has too many files, or the setup ends it.
    pub fn add(&mut self, folder: &Path, setup: &ReaderSetup<'_>) -> Result<(), ProposeError> {
        let refused = |what: String| ProposeError::Wish {
            option: "--host",
            text: folder.display().to_string(),
            what,
        };
        let mut paths = Vec::new();
        sources(folder, &mut paths).map_err(|error| {
            refused(format!("{error}; name a folder with the sources of the host program"))
        })?;
        if paths.is_empty() {
            return Err(refused("it has no sources of a host program; name another".to_owned()));
        }
        let mut read: Vec<HostText> = Vec::new();
        for path in paths {
            setup.go_on(&path.display().to_string())?;
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            // Neither data nor what is not text states anything.
            let text = tickbound_input::text(&path).ok().filter(|text| text.len() <= MAX_BYTES);
            let python = path.extension().is_some_and(|ending| ending == "py" || ending == "jl");
            read.push((name, tokens(&text.unwrap_or_default(), python)));
        }
        let constants = constants(&read);
        self.files
            .extend(read.iter().map(|(name, tokens)| HostFile::new(name, tokens, &constants)));
        Ok(())
    }

    /// Whether a file has a name, also as a text.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.words.contains(name) || file.macros.contains_key(name))
    }

    /// The names of the sources, without endings, that a host puts before this one; and where.
    pub(crate) fn before(&self, source: &str) -> Option<(&[String], &str)> {
        let stem = source.split('.').next()?;
        self.files.iter().flat_map(|file| &file.lists).find_map(|(names, place)| {
            let at = names.iter().position(|name| name == stem)?;
            (at > 0).then_some((&names[..at], place.as_str()))
        })
    }

    /// What is stated for a kernel: by files that name its source or its function, else by any.
    pub(crate) fn macros(&self, source: &str, entry: Option<&str>) -> IndexMap<String, HostMacro> {
        let stem = source.split('.').next().unwrap_or(source);
        let names = |word: &String| {
            let rest = word.rsplit('/').next().and_then(|word| word.strip_prefix(stem));
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
                || entry == Some(word.as_str())
        };
        let (near, far): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|file| file.words.iter().any(names));
        let mut all: IndexMap<String, HostMacro> = IndexMap::new();
        for files in [near, far] {
            let mut group: IndexMap<String, HostMacro> = IndexMap::new();
            for (name, stated) in files.iter().flat_map(|file| &file.macros) {
                group.entry(name.clone()).or_default().join(stated);
            }
            for (name, stated) in group {
                all.entry(name).or_insert(stated);
            }
        }
        all
    }
}

impl HostMacro {
    fn join(&mut self, other: &HostMacro) {
        if self.place.is_empty() {
            self.place.clone_from(&other.place);
        }
        self.numbers.extend(&other.numbers);
        let new = other.texts.iter().filter(|text| !self.texts.contains(text)).cloned();
        self.texts.extend(new.collect_vec());
        self.computed |= other.computed;
    }
}

/// The sources of a folder and its subfolders, sorted.
fn sources(folder: &Path, all: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    for path in entries.into_iter().sorted() {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        if path.is_dir() && !path.is_symlink() && !hidden {
            sources(&path, all)?;
        } else if ending.is_some_and(|ending| ENDINGS.split(' ').any(|known| known == ending)) {
            all.push(path);
        }
        if all.len() > MAX_FILES {
            return Err(std::io::Error::other(format!("it has more than {MAX_FILES} sources")));
        }
    }
    Ok(())
}

/// The tokens of a source with their lines. Texts beside each other are one.
fn tokens(text: &str, python: bool) -> Vec<(Token, usize)> {
    let mut all: Vec<(Token, usize)> = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(c) = rest.chars().next() {
        let word = |rest: &str| {
            rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len())
        };
        let to_end = |rest: &str, end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
        let taken = match c {
            '/' if rest.starts_with("//") => to_end(rest, "\n") - 1,
            '/' if rest.starts_with("/*") => to_end(rest, "*/"),
            '#' if python => to_end(rest, "\n") - 1,
            '"' | '\'' => {
                let (inner, taken) = quoted(rest, c);
                match all.last_mut() {
                    Some((Token::Text(before), _)) => before.push_str(&inner),
                    // A character, or an apostrophe in a comment.
                    _ if c == '\'' && !python => {}
                    _ => all.push((Token::Text(inner), line)),
                }
                taken
            }
            c if c.is_ascii_digit() => {
                let length = word(rest);
                let digits = rest[..length].trim_end_matches(['u', 'U', 'l', 'L']);
                let number = match digits.strip_prefix("0x") {
                    Some(hex) => i64::from_str_radix(hex, 16).ok(),
                    None => digits.parse().ok(),
                };
                all.push((number.map_or(Token::Sign('0'), Token::Number), line));
                length
            }
            c if c == '_' || c.is_alphabetic() => {
                all.push((Token::Word(rest[..word(rest)].to_owned()), line));
                word(rest)
            }
            c => {
                if !c.is_whitespace() {
                    all.push((Token::Sign(c), line));
                }
                c.len_utf8()
            }
        };
        let taken = taken.max(1);
        line += rest[..taken].matches('\n').count();
        rest = &rest[taken..];
    }
    all
}

/// What stands between quotes, without escapes, and the bytes with them. A line ends it.
fn quoted(text: &str, quote: char) -> (String, usize) {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, 'n' | 't' | '\n')) => inner.push(' '),
                Some((_, c)) => inner.push(c),
                None => {}
            },
            '\n' => return (inner, at),
            c if c == quote => return (inner, at + 1),
            c => inner.push(c),
        }
    }
    (inner, text.len())
}

/// Names that have one and the same number wherever it is given: `const int WG = 64`, `#define WG
/// 64`.
fn constants(read: &[HostText]) -> BTreeMap<&str, Option<i64>> {
    let mut all: BTreeMap<&str, Option<i64>> = BTreeMap::new();
    for four in read.iter().flat_map(|(_, tokens)| tokens.windows(4)) {
        let (name, number) = match [&four[0].0, &four[1].0, &four[2].0, &four[3].0] {
            [
                Token::Word(name),
                Token::Sign('='),
                Token::Number(n),
                Token::Sign(';' | ',' | '}'),
            ] => (name, n),
            [Token::Sign('#'), Token::Word(define), Token::Word(name), Token::Number(n)]
                if define == "define" =>
            {
                (name, n)
            }
            _ => continue,
        };
        let known = all.entry(name).or_insert(Some(*number));
        *known = known.filter(|known| known == number);
    }
    all
}

impl HostFile {
    fn new(
        file: &str,
        tokens: &[(Token, usize)],
        constants: &BTreeMap<&str, Option<i64>>,
    ) -> HostFile {
        let mut own = HostFile::default();
        for (i, (token, line)) in tokens.iter().enumerate() {
            let after = &tokens[i + 1..];
            let (Token::Text(word) | Token::Word(word)) = token else { continue };
            let mut stated = Vec::new();
            if let Token::Text(text) = token {
                stated.extend(options(text, after));
                stated.extend(listed(text, after));
            } else if word.to_lowercase().contains("define") {
                stated.extend(called(word, after));
            }
            for (name, value) in stated {
                let value = match value {
                    Token::Word(name) => {
                        constants.get(name.as_str()).copied().flatten().map(Token::Number)
                    }
                    value => Some(value),
                };
                own.state(name, value, format!("{file}:{line}"));
            }
            own.words.insert(word.clone());
            own.lists
                .extend(sources_after(&tokens[i..]).map(|list| (list, format!("{file}:{line}"))));
        }
        own
    }

    /// Adds what is stated of a macro; a value that is not given is a number that is computed.
    fn state(&mut self, name: &str, value: Option<Token>, place: String) {
        // `-D N%d=%d`: the first of several.
        let first = ["%zu", "%d", "%u"].iter().fold(name.to_owned(), |n, one| n.replace(one, "0"));
        let name = first.as_str();
        let bare = name.split('(').next().unwrap_or(name);
        let is_name = |text: &str| {
            text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
                && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        };
        if !is_name(bare) || reserved(bare) {
            return;
        }
        let mut stated = HostMacro { place, ..HostMacro::default() };
        match value {
            Some(Token::Number(number)) => _ = stated.numbers.insert(number),
            Some(Token::Text(text)) => match text.trim().parse() {
                Ok(number) => _ = stated.numbers.insert(number),
                // `-D WG=%d%s`: further options may follow a number.
                Err(_) if is_number_format(&text) => {}
                Err(_) if text.contains("%s") || text.contains('{') => stated.computed = true,
                Err(_) if text.trim().is_empty() || text.contains(['%', ' ', '"', '?']) => {}
                Err(_) => stated.texts.push(text),
            },
            _ => {}
        }
        self.macros.entry(name.to_owned()).or_default().join(&stated);
    }
}

/// Whether a format's first value is a whole number: `%d`, `%zu`.
fn is_number_format(text: &str) -> bool {
    let rest = text.trim().strip_prefix('%').unwrap_or("").trim_start_matches(['z', 'l', 'h']);
    rest.starts_with(['d', 'i', 'u', 'x'])
}

/// Options of the compiler and directives in a text. Where the text ends behind `=`, the value is
/// the word that follows it.
fn options<'t>(text: &'t str, after: &[(Token, usize)]) -> Vec<(&'t str, Token)> {
    let mut all = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if word == "#define" {
            let (name, value) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            all.push((name, Token::Text(value.to_owned())));
        } else if let Some(rest) = word.strip_prefix("-D") {
            let stated = if rest.is_empty() { words.next().unwrap_or("") } else { rest };
            all.push(match stated.split_once('=') {
                Some((name, "")) if words.peek().is_none() => (name, value_after(after)),
                Some((name, value)) => (name, Token::Text(value.to_owned())),
                None => (stated, Token::Number(1)),
            });
        }
    }
    all
}

/// What is joined to a text: `+ to_string(n)`, `<< n`.
fn value_after(after: &[(Token, usize)]) -> Token {
    let near = after.iter().take(MAX_BETWEEN).map(|(token, _)| token);
    let value = |token: &&Token| match token {
        Token::Number(_) => true,
        Token::Word(word) => word != "std" && word != "to_string",
        _ => false,
    };
    near.take_while(|token| !matches!(token, Token::Sign(';' | ',')))
        .find(value)
        .cloned()
        .unwrap_or(Token::Sign('='))
}

/// The numbers of a list behind a name: `"WG", {64, 128}`, `"WG"] = [64, 128]`.
fn listed<'t>(name: &'t str, after: &[(Token, usize)]) -> Vec<(&'t str, Token)> {
    let opens = |token: &Token| matches!(token, Token::Sign('{' | '['));
    let between = |(token, _): &&(Token, usize)| {
        matches!(token, Token::Word(_) | Token::Sign(',' | ']' | '=' | ':' | '<' | '>' | '('))
    };
    let start = after.iter().take(MAX_BETWEEN).take_while(between).count();
    if start == 0 || !after.get(start).is_some_and(|(token, _)| opens(token)) {
        return Vec::new();
    }
    let mut numbers = Vec::new();
    for (token, _) in &after[start + 1..] {
        match token {
            Token::Number(_) => numbers.push((name, token.clone())),
            Token::Sign(',') => {}
            Token::Sign('}' | ']') => return numbers,
            _ => break,
        }
    }
    Vec::new()
}

/// Two or more sources with commas or lines of `#include` between: names or texts that end with
/// `.cl`, `.opencl`, `_cl` or `_cl_src`.
fn sources_after(tokens: &[(Token, usize)]) -> Option<Vec<String>> {
    let source = |token: &Token| {
        let (Token::Word(name) | Token::Text(name)) = token else { return None };
        let name = name.rsplit('/').next()?;
        let name = name.strip_suffix("_src").unwrap_or(name);
        let endings = [".cl", ".opencl", "_cl"];
        endings.iter().find_map(|ending| name.strip_suffix(ending)).map(str::to_owned)
    };
    let between = |token: &Token| {
        matches!(token, Token::Sign(',' | '#')) || *token == Token::Word("include".to_owned())
    };
    let mut all: Vec<String> = Vec::new();
    let mut separated = true;
    for (token, _) in tokens {
        match source(token).filter(|_| separated) {
            Some(name) => all.push(name),
            None if !all.is_empty() && between(token) => {}
            None => break,
        }
        separated = between(token);
    }
    (all.len() > 1).then_some(all)
}

/// The name and the value of `(NAME, VALUE)` and `["NAME"] = VALUE`.
///
/// `DefineValue(NAME)` has the value of the host's own constant.
fn called<'t>(word: &str, after: &'t [(Token, usize)]) -> Option<(&'t str, Token)> {
    let token = |at: usize| after.get(at).map(|(token, _)| token);
    let (Token::Sign('(' | '['), Token::Word(name) | Token::Text(name)) = (token(0)?, token(1)?)
    else {
        return None;
    };
    let value = match (token(2)?, token(3)?) {
        (Token::Sign(','), value) => value.clone(),
        (Token::Sign(']'), Token::Sign('=')) => token(4)?.clone(),
        (Token::Sign(')'), _) if word.ends_with("Value") => Token::Word(name.clone()),
        (Token::Sign(')'), _) => Token::Number(1),
        _ => return None,
    };
    Some((name, value))
}
