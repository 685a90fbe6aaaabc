//! A source in CUDA as NVRTC compiles it: without the host's part, with a configuration's values.
//!
//! NVRTC takes no host code and knows no header. So the files that a source includes replace their
//! `#include` lines, as for reading; functions and variables of the host become blanks, so that
//! lines stay where they are. What decides is the text of a declaration: device code is
//! `__global__`, `__device__` or `constexpr`, also by a macro of the source.

use std::ops::Range;
use std::path::PathBuf;

use super::constants::initial_value;
use super::definitions::{definition, without_definitions};
use super::includes::flat;
use crate::lines::is_word;

/// What the vendor's and the language's headers would declare.
const DECLARATIONS: &str = include_str!("runtime.cuh");
/// Where the source begins behind them.
const BEGIN: &str = "#line 1\n";
/// Words that make a declaration one of the device.
const DEVICE: [&str; 6] =
    ["__global__", "__device__", "__constant__", "__shared__", "__managed__", "constexpr"];
/// Words that begin a declaration which both sides may need.
const NEUTRAL: [&str; 9] =
    ["using", "typedef", "struct", "class", "union", "enum", "namespace", "static_assert", "const"];

/// The device's part of a source: `name` is its path, `folders` are those for its `#include` lines,
/// and headers that only the vendor's `toolkit` folders have stay `#include` lines, in front.
pub fn device_part(name: &str, source: &str, folders: &[PathBuf], toolkit: &[PathBuf]) -> String {
    let (text, missing) = flat(name, source, folders);
    let mut bytes = text.clone().into_bytes();
    let device = device_words(&text);
    for declaration in declarations(&text) {
        if declaration.is_hosts(&text, &device) {
            blank(&text, declaration.range, &mut bytes);
        }
    }
    let begins = |name: &str, all: &[&str]| all.iter().any(|start| name.starts_with(start));
    let there = |name: &str| toolkit.iter().any(|folder| folder.join(name).is_file());
    // Without these NVRTC states that they are missing; all others are taken as empty.
    let needed = ["cooperative_groups", "cuda_fp", "cuda_bf16", "mma.h", "cub/", "cuda/"];
    // NVRTC has what these declare.
    let known = ["cuda_runtime", "device_launch_parameters", "builtin_types", "driver_types"];
    let wanted = missing.iter().filter(|name| begins(name, &needed) || there(name));
    let wanted = wanted.filter(|name| !begins(name, &known));
    let headers: String = wanted.map(|name| format!("#include <{name}>\n")).collect();
    // Blanks are one byte each, in the place of whole characters.
    format!("{headers}{DECLARATIONS}{BEGIN}{}", String::from_utf8_lossy(&bytes))
}

/// The text of a configuration, and the kernel's name for NVRTC, with the arguments of its
/// template: `a::tile<16, float>`.
///
/// # Errors
/// A message: the source has no such kernel, or a parameter of its template has no value.
pub fn instance(
    text: &str,
    entry: &str,
    defines: &[(String, String)],
) -> Result<(String, String), String> {
    let all = declarations(text);
    let kernel = all.iter().find(|d| d.has_body && d.names(text, entry));
    let kernel = kernel.ok_or_else(|| format!("there is no kernel `{entry}`"))?;
    // Other kernels need not compile with these values.
    let mut bytes = text.as_bytes().to_vec();
    let is_kernel = |d: &&Declaration| words(d.head(text)).any(|word| word == "__global__");
    for other in all.iter().filter(is_kernel).filter(|d| !d.names(text, entry)) {
        blank(text, other.range.clone(), &mut bytes);
    }
    let parameters = template_parameters(kernel.head(text));
    let is_argument = |name: &String| parameters.iter().any(|(own, _)| own == name);
    let others = defines.iter().filter(|(name, _)| !is_argument(name));
    let own = with_values(String::from_utf8_lossy(&bytes).into_owned(), others);
    let mut arguments = Vec::new();
    for (name, has_default) in &parameters {
        match defines.iter().find(|(own, _)| own == name) {
            Some((_, value)) => arguments.push(value.as_str()),
            // Those with a default are the last.
            None if *has_default => break,
            None => {
                let fix = format!("give its parameter `{name}` in kernel.defines");
                return Err(format!("`{entry}` is a template; {fix}"));
            }
        }
    }
    let names = kernel.scope.iter().filter(|name| !name.is_empty());
    let scope: String = names.map(|name| format!("{name}::")).collect();
    let list = arguments.join(", ");
    let list = if parameters.is_empty() { list } else { format!("<{list}>") };
    Ok((own, format!("{scope}{entry}{list}")))
}

/// A text in which constants and macros have these values.
fn with_values<'d>(
    mut text: String,
    defines: impl Iterator<Item = &'d (String, String)>,
) -> String {
    let mut macros = String::new();
    for (name, value) in defines {
        let value = value.replace(['\n', '\r'], " ");
        let undefined = without_definitions(&text, &[name]);
        match initial_value(&text, name).filter(|_| undefined == text) {
            Some(span) => text.replace_range(span, &format!(" {value}")),
            None => {
                text = undefined;
                macros += &format!("#define {name} {value}\n");
            }
        }
    }
    // Behind the declarations, in which such names may occur.
    let (ahead, rest) = text.split_once(BEGIN).unwrap_or(("", &text));
    format!("{ahead}{macros}{BEGIN}{rest}")
}

/// The parameters of `template <int N, typename T = float> ...`, and whether each has a default;
/// none of another head.
fn template_parameters(head: &str) -> Vec<(&str, bool)> {
    let (mut depth, list) = (0_usize, template_list(head).unwrap_or_default());
    let parts = list.split(|c| {
        depth =
            (depth + usize::from("<(".contains(c))).saturating_sub(usize::from(">)".contains(c)));
        c == ',' && depth == 0
    });
    let named = parts.map(|part| (part.split_once('=').map_or(part, |(own, _)| own), part));
    named.filter_map(|(own, part)| Some((words(own).last()?, part != own))).collect()
}

/// What is between `template <` and its `>`.
fn template_list(head: &str) -> Option<&str> {
    let rest = head.trim_start().strip_prefix("template")?.trim_start().strip_prefix('<')?;
    let mut depth = 1_usize;
    let end = rest.find(|c| {
        depth = depth + usize::from(c == '<') - usize::from(c == '>');
        depth == 0
    });
    Some(&rest[..end?])
}

/// A declaration without `template <...>`.
fn after_template(head: &str) -> &str {
    let end = |list: &str| list.as_ptr() as usize + list.len() + 1 - head.as_ptr() as usize;
    template_list(head).map_or(head, |list| &head[end(list)..])
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

/// [`DEVICE`], and macros of a text that stand for one of them.
fn device_words(text: &str) -> Vec<&str> {
    let mut all = DEVICE.to_vec();
    for line in text.lines() {
        let Some(mut parts) = definition(line).map(words) else { continue };
        if let Some(name) = parts.next()
            && parts.any(|word| all.contains(&word))
        {
            all.push(name);
        }
    }
    all
}

/// A declaration outside of functions and classes.
#[derive(Debug)]
struct Declaration {
    range: Range<usize>,
    /// Where its head ends: at the body, or at the end.
    head: usize,
    has_body: bool,
    /// The namespaces that it is in.
    scope: Vec<String>,
}

impl Declaration {
    fn head<'t>(&self, text: &'t str) -> &'t str {
        &text[self.range.start..self.head]
    }

    /// Whether it declares a function of this name.
    fn names(&self, text: &str, name: &str) -> bool {
        let head = self.head(text);
        head.match_indices(name).any(|(at, _)| {
            let after = head[at + name.len()..].trim_start();
            !head[..at].ends_with(is_word) && after.starts_with(['(', '<'])
        })
    }

    fn is_hosts(&self, text: &str, device: &[&str]) -> bool {
        let all = &text[self.range.start..if self.has_body { self.head } else { self.range.end }];
        let own = after_template(all);
        let first = words(own).find(|word| !["static", "inline", "extern"].contains(word));
        // What NVRTC has not of the language's library is the host's.
        let library = words(own).skip_while(|word| *word != "std").nth(1);
        let known = library.is_none_or(|name| ["size_t", "min", "max"].contains(&name));
        let neutral = !self.has_body && NEUTRAL.contains(&first.unwrap_or_default()) && known;
        !neutral && !words(all).any(|word| device.contains(&word))
    }
}

/// The declarations of a text, also those in namespaces.
fn declarations(text: &str) -> Vec<Declaration> {
    let (mut found, mut scope) = (Vec::new(), Vec::new());
    let (mut at, mut start) = (0, None);
    while at < text.len() {
        let Step { end, sign } = step(text, at);
        let Some(sign) = sign else {
            at = end;
            continue;
        };
        let own = *start.get_or_insert(at);
        let head = &text[own..at];
        let mut declared = |range, head, has_body| {
            found.push(Declaration { range, head, has_body, scope: scope.clone() });
        };
        match sign {
            b'(' | b'[' => at = closing(text, at),
            b';' => {
                declared(own..end, at, false);
                (at, start) = (end, None);
            }
            b'}' => {
                scope.pop();
                (at, start) = (end, None);
            }
            b'{' if is_scope(head) => {
                let name = words(head).filter(|word| *word != "inline").nth(1);
                let linkage = head.trim_start().starts_with("extern");
                scope.push(name.filter(|_| !linkage).unwrap_or_default().to_owned());
                (at, start) = (end, None);
            }
            b'{' => {
                at = closing(text, at);
                if is_function(head) {
                    declared(own..at, own + head.len(), true);
                    start = None;
                }
            }
            _ => at = end,
        }
    }
    found
}

/// Whether a head in front of `{` opens a namespace, or a part with the linkage of C.
fn is_scope(head: &str) -> bool {
    let first = words(head).find(|word| *word != "inline");
    let linkage = first == Some("extern") && head.trim_end().ends_with('"');
    first == Some("namespace") || linkage
}

/// Whether a head in front of `{` is that of a function: not that of a class, or of a value.
fn is_function(head: &str) -> bool {
    let own = after_template(head);
    let class =
        ["struct", "class", "union", "enum"].iter().any(|word| words(own).next() == Some(word));
    let closed = own.trim_end().ends_with(')');
    let before = own.split_once('(').map(|(before, _)| before);
    before.is_some_and(|name| name.contains("operator") || !name.contains('='))
        && (!class || closed)
}

/// A comment, a text, a directive, a name, or another sign; without `sign` nothing is declared.
struct Step {
    end: usize,
    sign: Option<u8>,
}

/// What begins at a place.
fn step(text: &str, at: usize) -> Step {
    let (rest, bytes) = (&text[at..], text.as_bytes());
    let until = |end: &str, from: usize| {
        rest[from..].find(end).map_or(text.len(), |found| at + from + found + end.len())
    };
    let line_begins = text[..at].rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
    match bytes[at] {
        b'/' if rest.starts_with("//") => Step { end: until("\n", 2), sign: None },
        b'/' if rest.starts_with("/*") => Step { end: until("*/", 2), sign: None },
        b'#' if line_begins => {
            let mut end = until("\n", 0);
            while end < text.len() && text[..end].ends_with("\\\n") {
                end = text[end..].find('\n').map_or(text.len(), |found| end + found + 1);
            }
            Step { end, sign: None }
        }
        quote @ (b'"' | b'\'') => {
            let mut end = at + 1;
            while end < text.len() && bytes[end] != quote && bytes[end] != b'\n' {
                end += 1 + usize::from(bytes[end] == b'\\');
            }
            end = (end + 1).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            Step { end, sign: Some(quote) }
        }
        byte if byte.is_ascii_whitespace() => Step { end: at + 1, sign: None },
        byte => {
            // Digits with `'` between them are one word, too.
            let inside = |c| is_word(c) || c == '\'' && byte.is_ascii_digit();
            let word = rest.len() - rest.trim_start_matches(inside).len();
            let width = rest.chars().next().map_or(1, char::len_utf8);
            Step { end: at + word.max(width), sign: Some(byte) }
        }
    }
}

/// Behind the bracket that closes the one at a place, or the end.
fn closing(text: &str, at: usize) -> usize {
    let (mut depth, mut at) = (0_usize, at);
    while at < text.len() {
        let Step { end, sign } = step(text, at);
        match sign {
            Some(b'(' | b'[' | b'{') => depth += 1,
            Some(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        at = end;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Makes a part blank, but for its ends of lines and its directives.
fn blank(text: &str, range: Range<usize>, bytes: &mut [u8]) {
    let mut at = range.start;
    while at < range.end {
        let Step { end, sign } = step(text, at);
        let end = end.min(range.end);
        if sign.is_some() || !text[at..end].starts_with('#') {
            bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        at = end;
    }
}

#[cfg(test)]
mod tests;
