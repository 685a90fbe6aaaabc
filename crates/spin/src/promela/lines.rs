//! Lines of Promela, and comments in them.

use tickbound_model::Stmt;

/// Lines of a text, with the present indentation.
#[derive(Debug, Default)]
pub(crate) struct IndentedLines {
    done: Vec<String>,
    depth: usize,
}

impl IndentedLines {
    pub fn push(&mut self, text: impl AsRef<str>) {
        let text = text.as_ref();
        self.done.push(if text.is_empty() {
            String::new()
        } else {
            format!("{}{text}", "  ".repeat(self.depth))
        });
    }

    pub fn indent(&mut self) {
        self.depth += 1;
    }

    pub fn dedent(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Alternatives with their conditions; a single one without a condition needs no `if`.
    pub fn alternatives(&mut self, alternatives: Vec<(Option<String>, Vec<String>)>) {
        if let [(None, lines)] = alternatives.as_slice() {
            return lines.iter().for_each(|line| self.push(line));
        }
        self.push("if");
        for (condition, lines) in alternatives {
            self.push(format!(":: {} ->", condition.as_deref().unwrap_or("else")));
            self.indent();
            lines.iter().for_each(|line| self.push(line));
            self.dedent();
        }
        self.push("fi;");
    }

    pub fn take(self) -> Vec<String> {
        self.done
    }
}

/// Text that cannot end the comment it stands in.
pub(crate) fn in_comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r', '\\'], " ")
}

/// Where a statement comes from, and what people call it.
pub(crate) fn comment(stmt: &Stmt) -> String {
    let label = in_comment(&stmt.label);
    if label == stmt.kind.name() {
        format!("  /* {} */", stmt.at)
    } else {
        format!("  /* {}: {label} */", stmt.at)
    }
}

/// True if `word` occurs in `line` as a whole word.
pub(crate) fn mentions(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|w| w == word)
}
