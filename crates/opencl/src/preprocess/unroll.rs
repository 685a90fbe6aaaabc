//! `#pragma unroll`, as the preprocessor leaves it.
//!
//! Preprocessors do not expand the macros in such a line, as it is none that they know; compilers
//! of OpenCL do. So a word takes the place of the directive before macros are expanded, and is
//! looked for afterwards.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_expr::parse;

use super::text::{Files, marker, name};
use crate::lines::{behind_directive, is_word};
use crate::steps::SymbolExpr;

/// What takes the place of `#pragma unroll`.
const WORD: &str = "tickbound_unroll_";

/// How far the source wants a loop to be unrolled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The file where the loop begins, as messages name it.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Iterations in one body; `None`: all.
    pub times: Option<SymbolExpr>,
}

/// The source with the word for each directive.
pub(super) fn marked(source: &str) -> String {
    let line = |line: &str| match directive(line) {
        Some(times) if !line.trim_end().ends_with('\\') => {
            let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
            format!("{WORD} {}{end}", times.trim())
        }
        _ => line.to_owned(),
    };
    source.split_inclusive('\n').map(line).collect()
}

/// What stands behind `#pragma unroll`; behind `#pragma nounroll` it is 1.
fn directive(line: &str) -> Option<&str> {
    let rest = behind_directive(line, "pragma")?;
    if rest == "nounroll" {
        return Some("1");
    }
    rest.strip_prefix("unroll").filter(|times| !times.starts_with(is_word))
}

/// An expanded text without the word and what stands behind it.
pub(super) fn unmarked(text: &str) -> String {
    let lines = text.lines().map(|line| if behind_word(line).is_some() { "" } else { line });
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn behind_word(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix(WORD)
}

/// What stands behind the word, or behind a directive that comes from elsewhere.
fn said(line: &str) -> Option<&str> {
    behind_word(line).or_else(|| directive(line))
}

/// The pragmas of the loops in an expanded text. Symbols have these values, or are open.
pub(super) fn all(
    text: &str,
    files: &Files,
    open: &[String],
    values: &IndexMap<String, i64>,
) -> Vec<Said> {
    let mut found = Vec::new();
    let (mut file, mut next) = ("", 0u32);
    let mut pending = None;
    for line in text.lines() {
        if let Some((number, name)) = marker(line) {
            (file, next) = (name, number);
            continue;
        }
        let at = next;
        next = next.saturating_add(1);
        if let Some(times) = said(line) {
            pending = Some(number(&name(times, open), open, values));
        } else if !line.trim().is_empty()
            && !line.trim_start().starts_with('#')
            && let Some(times) = pending.take()
        {
            found.push(Said { file: files.name(file).to_string(), line: at, times });
        }
    }
    found
}

/// A number of iterations, if it is one of constants and symbols.
fn number(text: &str, open: &[String], values: &IndexMap<String, i64>) -> Option<SymbolExpr> {
    let known = |name: &String| match open.contains(name) {
        true => Ok(SymbolExpr::Name(name.clone())),
        false => values.get(name).map(|value| SymbolExpr::Int(*value)).ok_or(()),
    };
    parse::parse(text.trim()).ok()?.replace(&mut { known }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_marked_and_found() {
        let source = "#pragma unroll\nfor (a)\n#pragma unroll 1\nfor (b)\n  # pragma unroll N / 2\n\n\
                      for (c)\nfor (d)\n\
                      #pragma OPENCL FP_CONTRACT ON\nfor (e)\n#pragma unroll(4)\r\nfor \
                      (f)\n#pragma nounroll\nfor (g)\n\
                      #pragma unrolled\nfor (h)\n#pragma unroll M + K\nfor (i)\n";
        let marked = marked(source);
        assert_eq!(marked.lines().count(), source.lines().count());
        assert_eq!(marked.matches("#pragma").count(), 2);
        let text = format!(
            "# 1 \"k.cl\"\n{marked}# 7 \"k.cl\"\n#pragma unroll 2\n# 9 \"k.cl\"\nfor (j)\n"
        );
        let values = IndexMap::from([("M".to_owned(), 3)]);
        let said = all(&text, &Files::new("k.cl"), &["N".to_owned()], &values);
        let said: Vec<(u32, String)> = (said.into_iter())
            .map(|s| (s.line, s.times.map_or("whole".to_owned(), |n| n.to_string())))
            .collect();
        assert_eq!(unmarked(&marked).lines().count(), source.lines().count());
        assert!(!unmarked(&marked).contains(WORD));
        let wanted =
            [(2, "whole"), (4, "1"), (7, "N / 2"), (12, "4"), (14, "1"), (18, "whole"), (9, "2")];
        assert_eq!(said, wanted.map(|(line, times)| (line, times.to_owned())));
    }
}
