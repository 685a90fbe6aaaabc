//! Comments and string literals of a text, and the phrases in them.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

/// A comment, a string literal or a page.
pub struct Prose {
    /// The line of its first character, counted from 1.
    pub line: usize,
    /// Its text without comment markers and escapes, with all line ends.
    pub text: String,
}

/// Where comments are, and what comments and string literals contain.
pub fn extract(tokens: TokenStream, text: &str) -> (Vec<Range<usize>>, Vec<Prose>) {
    let (mut covered, mut strings) = (Vec::new(), Vec::new());
    walk(tokens, text, &mut covered, &mut strings);
    covered.push(text.len()..text.len());
    let (mut comments, mut end) = (Vec::new(), 0);
    for range in covered {
        let between = text.get(end..range.start).unwrap_or_default();
        let comment = between.trim_start();
        if !comment.is_empty() {
            comments.push(range.start - comment.len()..range.start);
        }
        end = range.end;
    }
    let mut prose: Vec<(usize, String)> = Vec::new();
    prose.extend(comments.iter().map(|r| (r.start, without_markers(&text[r.clone()]))));
    prose.extend(strings.iter().map(|r| (r.start, without_escapes(&text[r.clone()]))));
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |at: usize| ends.partition_point(|end| *end < at) + 1;
    let prose = prose.into_iter().map(|(at, text)| Prose { line: line(at), text }).collect();
    (comments, prose)
}

/// Collects the ranges of tokens, in order, and those of string literals. Doc comments are
/// tokens with the span of the comment; they are left out.
fn walk(
    tokens: TokenStream,
    text: &str,
    covered: &mut Vec<Range<usize>>,
    strings: &mut Vec<Range<usize>>,
) {
    for tree in tokens {
        let range = tree.span().byte_range();
        let written = &text[range.clone()];
        if written.starts_with("//") || written.starts_with("/*") {
            continue;
        }
        match tree {
            TokenTree::Group(group) => {
                covered.push(group.span_open().byte_range());
                walk(group.stream(), text, covered, strings);
                covered.push(group.span_close().byte_range());
            }
            TokenTree::Literal(_) => {
                let quoted = written.trim_start_matches(['b', 'c', 'r']).trim_start_matches('#');
                if quoted.starts_with('"') {
                    strings.push(range.clone());
                }
                covered.push(range);
            }
            _ => covered.push(range),
        }
    }
}

/// A comment's text, line by line, without `//`, `///`, `//!`, `/*` and `*`.
fn without_markers(comment: &str) -> String {
    let bare = |line: &str| {
        line.trim().trim_start_matches(['/', '!', '*']).trim_end_matches("*/").to_owned()
    };
    comment.split('\n').map(bare).collect::<Vec<_>>().join("\n")
}

/// A literal's text with a space for each character of an escape.
fn without_escapes(literal: &str) -> String {
    let (mut text, mut escaped) = (String::new(), false);
    for c in literal.chars() {
        let escape = c == '\\' || escaped;
        text.push(if escape && c != '\n' { ' ' } else { c });
        escaped = c == '\\' && !escaped;
    }
    text
}

/// The text with the given ranges as spaces; line ends stay.
pub fn blank(text: &str, ranges: &[Range<usize>]) -> String {
    let (mut result, mut end) = (String::new(), 0);
    for range in ranges {
        result.push_str(&text[end..range.start]);
        let spaces = text[range.clone()].chars().map(|c| if c == '\n' { c } else { ' ' });
        result.extend(spaces);
        end = range.end;
    }
    result + &text[end..]
}

/// A word in lower case and where it is in the text.
struct Word {
    text: String,
    range: Range<usize>,
}

/// The words of a text: runs of letters, digits and underscores.
fn words(text: &str) -> Vec<Word> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut words, mut start) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_word(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(Word { text: text[from..at].to_lowercase(), range: from..at });
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// Where each phrase is: the index of the phrase and the line. Case does not count; the words of
/// a phrase may be on two lines of a paragraph.
pub fn find(prose: &Prose, phrases: &[Vec<String>]) -> Vec<(usize, usize)> {
    let words = words(&prose.text);
    let near = |pair: &[Word]| {
        let between = &prose.text[pair[0].range.end..pair[1].range.start];
        between.chars().all(char::is_whitespace) && between.matches('\n').count() < 2
    };
    let mut found = Vec::new();
    for at in 0..words.len() {
        for (index, phrase) in phrases.iter().enumerate() {
            let Some(window) = words.get(at..at + phrase.len()) else { continue };
            let same = window.iter().zip(phrase).all(|(word, wanted)| word.text == *wanted);
            if same && window.windows(2).all(near) {
                let before = &prose.text[..words[at].range.start];
                found.push((index, prose.line + before.matches('\n').count()));
            }
        }
    }
    found
}
