//! Tokens of C, without comments.

use crate::lines::is_word;

/// A line, after lines that end in a backslash were joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// A directive: its name, and what follows.
    Directive(String, Vec<Token>),
    /// Anything else.
    Code(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Name(String),
    Number(String),
    /// A text or a character, with its quotes.
    Quoted(String),
    /// Anything else; comparisons, `->` and `##` are one token.
    Symbol(String),
}

impl Token {
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Token::Number(text) => {
                let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
                match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
                    Some(digits) => i64::from_str_radix(digits, 16).ok(),
                    None if text.starts_with('0') => i64::from_str_radix(text, 8).ok(),
                    None => text.parse().ok(),
                }
            }
            _ => None,
        }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self, Token::Name(own) | Token::Symbol(own) if own == text)
    }

    /// As it is written, but for texts.
    pub(super) fn text(&self) -> String {
        match self {
            Token::Name(text) | Token::Number(text) | Token::Symbol(text) => text.clone(),
            Token::Quoted(_) => "\"\"".to_owned(),
        }
    }
}

pub(super) fn lines(text: &str) -> Vec<Line> {
    let joined = text.replace("\r\n", "\n").replace("\\\n", " ");
    without_comments(&joined).lines().map(line).collect()
}

fn line(text: &str) -> Line {
    match text.trim_start().strip_prefix('#') {
        Some(rest) => {
            let rest = rest.trim_start();
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            Line::Directive(rest[..end].to_owned(), tokens(&rest[end..]))
        }
        None => Line::Code(tokens(text)),
    }
}

/// The text with a blank for each comment. Comments of several lines are as many blank lines.
pub(crate) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' | '\'' => quoted(rest, c),
            '/' if rest.starts_with("//") => {
                let end = rest.find('\n').unwrap_or(rest.len());
                rest = &rest[end..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                let end = rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                out.push(' ');
                out.extend(rest[..end].chars().filter(|c| *c == '\n'));
                rest = &rest[end..];
                continue;
            }
            c => c.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Bytes of the quoted text or character that a text begins with; it ends with its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The tokens of a line.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    const TOGETHER: [&str; 10] = ["==", "!=", "<=", ">=", "->", "##", "<<", ">>", "&&", "||"];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let length = if is_word(c) {
            let word = |c: char| {
                is_word(c) || (rest.starts_with(|c: char| c.is_ascii_digit()) && c == '.')
            };
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if c == '"' || c == '\'' {
            quoted(rest, c)
        } else {
            TOGETHER
                .iter()
                .find(|two| rest.starts_with(**two))
                .map_or(c.len_utf8(), |two| two.len())
        };
        let own = rest[..length].to_owned();
        tokens.push(match c {
            '"' | '\'' => Token::Quoted(own),
            c if c.is_ascii_digit() => Token::Number(own),
            c if is_word(c) => Token::Name(own),
            _ => Token::Symbol(own),
        });
        rest = rest[length..].trim_start();
    }
    tokens
}
