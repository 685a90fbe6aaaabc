//! Lines of C: words, quoted names, `#include`.

/// Whether a character may stand in a name or a number.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a name is one of a list, which has spaces between them.
pub(crate) fn lists(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|known| known == name)
}

/// What stands behind the directive of this name, such as `if`, in a line.
pub(crate) fn behind_directive<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(name)?;
    Some(rest.trim()).filter(|_| !rest.starts_with(is_word))
}

/// A name in quotes, as line markers have it.
pub(crate) fn quote(name: &str) -> String {
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push('?'),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a header is one of CUB: megabytes of templates, which are not read.
pub(crate) fn is_library(wanted: &str) -> bool {
    wanted.ends_with(".cuh") && wanted.split('/').any(|part| matches!(part, "cub" | "cub.cuh"))
}

/// The name in `#include "name"` or `#include <name>`.
pub fn include_name(line: &str) -> Option<&str> {
    let (rest, end) = match behind_directive(line, "include")?.split_at_checked(1)? {
        ("\"", rest) => (rest, '"'),
        ("<", rest) => (rest, '>'),
        _ => return None,
    };
    Some(rest.split_once(end)?.0)
}
