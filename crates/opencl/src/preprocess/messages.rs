//! What C compilers say about a source, as errors of ours.

use crate::ast::SourcePlace;
use crate::error::ReadError;

use super::text::Files;

/// The first error among a compiler's messages.
pub(super) fn error(messages: &str, files: &Files) -> ReadError {
    let lines: Vec<&str> = messages.lines().collect();
    let errors = lines.iter().enumerate().filter_map(|(i, line)| Some((i, split(line)?)));
    let mut placed = errors.filter_map(|(i, (place, message))| {
        let rest = &lines[i + 1..];
        Some((at(place, files).or_else(|| expansion(rest, files))?, message, rest))
    });
    match placed.next() {
        Some((at, message, rest)) => {
            let (what, fix) = explain(&with_directive(message, rest));
            ReadError::at(&at, what, fix)
        }
        None => {
            let first = lines.iter().find(|line| !line.trim().is_empty());
            let why = first.unwrap_or(&"no reason is given");
            let what = format!("its macros cannot be expanded: {why}");
            ReadError::file(&files.source, what, "set CC to gcc or clang")
        }
    }
}

/// The place and the text of an error.
fn split(line: &str) -> Option<(&str, &str)> {
    line.split_once(": fatal error: ").or_else(|| line.split_once(": error: "))
}

/// `file:line:column` or `file:line`, as gcc and clang write it.
fn at(place: &str, files: &Files) -> Option<SourcePlace> {
    let (rest, last) = place.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let (file, line, column) = match rest.rsplit_once(':').map(|(f, l)| (f, l.parse::<u32>())) {
        Some((file, Ok(line))) => (file, line, last),
        _ => (rest, last, 0),
    };
    (!file.starts_with('<')).then(|| SourcePlace { file: files.name(file), line, column })
}

/// Where the macro is used in whose text an error is: gcc's notes go outwards.
fn expansion(rest: &[&str], files: &Files) -> Option<SourcePlace> {
    let notes = rest.iter().take_while(|line| split(line).is_none());
    let places = notes.filter_map(|line| Some(line.split_once(": note: in expansion of")?.0));
    places.filter_map(|place| at(place, files)).last()
}

/// The message with `#error` in front, if it is one: clang leaves it out.
fn with_directive(message: &str, rest: &[&str]) -> String {
    let excerpt = rest.first().and_then(|line| line.trim_start().strip_prefix('#'));
    let is_error = excerpt.is_some_and(|line| line.trim_start().starts_with("error"));
    let message = message.trim();
    if is_error && !message.starts_with('#') {
        format!("#error {message}")
    } else {
        message.to_owned()
    }
}

/// What is wrong, in the same words for all compilers, and what to do.
fn explain(message: &str) -> (String, &'static str) {
    let file = (message.strip_suffix(": No such file or directory"))
        .or_else(|| message.strip_suffix(" file not found").map(|name| name.trim_matches('\'')));
    if let Some(file) = file {
        let fix =
            "put it beside the source, or name its folder with `init --include` or kernel.include";
        return (format!("cannot find {file}"), fix);
    }
    let what = match message {
        "unterminated /* comment" => "unterminated comment".to_owned(),
        "division by zero in preprocessor expression" => "division by zero in #if".to_owned(),
        "unterminated conditional directive" => "unterminated #if".to_owned(),
        _ => message.to_owned(),
    };
    if what.starts_with("#error") {
        return (what, "the source rejects these macros: check kernel.defines");
    }
    (what, "correct the source")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(messages: &str) -> String {
        error(messages, &Files::new("kernels/a.cl")).to_string()
    }

    #[test]
    fn gcc_and_clang_alike() {
        let missing = "kernels/a.cl:2: cannot find no.h; put it beside the source, or name its \
                       folder with `init --include` or kernel.include";
        let gcc = "In file included from <command-line>:\nx.h:1:2: warning: foo\n\
                   kernels/a.cl:2:10: fatal error: no.h: No such file or directory\n";
        assert_eq!(told(gcc), missing);
        let clang = "kernels/a.cl:2:10: fatal error: 'no.h' file not found\n";
        assert_eq!(told(clang), missing);
        let rejected = "kernels/a.cl:2: #error needs TS; the source rejects these macros: check \
                        kernel.defines";
        assert_eq!(told("kernels/a.cl:2:2: error: #error needs TS\n    2 | x\n"), rejected);
        assert_eq!(told("kernels/a.cl:2:2: error: needs TS\n # error needs TS\n ^"), rejected);
        assert_eq!(
            told("./b.h:7: error: unterminated #if\n"),
            "kernels/b.h:7: unterminated #if; correct the source"
        );
        assert_eq!(
            told("kernels/a.cl:1:2: error: unterminated /* comment"),
            "kernels/a.cl:1: unterminated comment; correct the source"
        );
    }

    #[test]
    fn no_known_form() {
        assert_eq!(
            told("\ncc: option -E?\n"),
            "kernels/a.cl: its macros cannot be expanded: cc: option -E?; set CC to gcc or clang"
        );
    }
}
