//! Labels of `.aut` files: the names that fire with `|` between, then the condition in brackets.
//!
//! `"` cannot stand in a label: texts in conditions have `'` around them, and within quotes of any
//! kind `\u{22}` and `\u{27}` stand for these two.

use crate::automaton::{Automaton, Transition};
use crate::symbol::Symbols;
use crate::syntax::condition::{self, Claimed, word_text};
use crate::syntax::lex::{self, OWN, TokenKind};
use crate::syntax::{Source, SyntaxFault};

/// Labels of silent steps: mCRL2's, and CADP's.
const SILENT: [&str; 2] = ["tau", "i"];

/// What a label means: the names that fire, and the cases of the condition.
pub(crate) struct Label {
    pub names: Vec<String>,
    pub cases: Vec<Vec<Claimed>>,
}

/// The label of a step of `automaton`.
pub(crate) fn text(automaton: &Automaton, step: &Transition, symbols: &Symbols) -> String {
    let word = |w: &str| if SILENT.contains(&w) { format!("`{w}`") } else { word_text(w) };
    let names: Vec<String> = automaton.words_of(step, symbols).into_iter().map(word).collect();
    let mut text = if names.is_empty() { SILENT[0].to_owned() } else { names.join("|") };
    let constraint = automaton.constraint(step);
    if !constraint.is_true() {
        text += &format!(" [{}]", condition::text(constraint, symbols));
    }
    requoted(&text, '"', '\'')
}

/// The label that `text` is; a text that is not built as above is one name.
///
/// # Errors
/// A name in back quotes that is too long.
pub(crate) fn read(text: &str) -> Result<Label, SyntaxFault> {
    let cut = cut(text, " [").and_then(|(fire, rest)| Some((fire, rest.strip_suffix(']')?)));
    if let Some((fire, when)) = cut
        && let Some(names) = names(fire)?
        && let Ok(cases) = condition::parse(&requoted(when, '\'', '"'))
    {
        let mut words = cases.iter().flatten().flat_map(|(_, claim)| claim.words());
        if words.all(|word| names.iter().any(|name| name == word)) {
            return Ok(Label { names, cases });
        }
    }
    let names = names(text)?.unwrap_or_else(|| vec![text.to_owned()]);
    Ok(Label { names, cases: vec![Vec::new()] })
}

/// The names of a list with `|` between; nothing if one is empty, has spaces around it or stands
/// there twice.
fn names(text: &str) -> Result<Option<Vec<String>>, SyntaxFault> {
    if SILENT.contains(&text) {
        return Ok(Some(Vec::new()));
    }
    let (mut all, mut rest) = (Vec::new(), Some(text));
    while let Some(list) = rest {
        let (piece, behind) = cut(list, "|").map_or((list, None), |(a, b)| (a, Some(b)));
        let name = name(piece)?;
        if piece.is_empty() || piece.trim() != piece || all.contains(&name) {
            return Ok(None);
        }
        all.push(name);
        rest = behind;
    }
    Ok(Some(all))
}

/// A name, without the back quotes around it.
fn name(piece: &str) -> Result<String, SyntaxFault> {
    if !piece.starts_with('`') {
        return Ok(piece.to_owned());
    }
    let tokens = match lex::tokens(&Source::new("label", piece), OWN) {
        Err(e) if matches!(*e.fault, SyntaxFault::Long(..)) => return Err(*e.fault),
        read => read.unwrap_or_default(),
    };
    match tokens.first().map(|token| &token.kind) {
        Some(TokenKind::Quoted(word)) if tokens.len() == 2 => Ok(word.clone()),
        _ => Ok(piece.to_owned()),
    }
}

/// What is before and behind the first `sign` outside brackets and back quotes.
fn cut<'t>(text: &'t str, sign: &str) -> Option<(&'t str, &'t str)> {
    let (mut open, mut quoted, mut escaped) = (0_u32, false, false);
    for (at, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '`';
            escaped = !escaped && c == '\\';
            continue;
        }
        if open == 0 && text[at..].starts_with(sign) {
            return Some((&text[..at], &text[at + sign.len()..]));
        }
        match c {
            '`' => quoted = true,
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// A condition with `to` around its texts in place of `from`: one of them is `"`, the other `'`.
fn requoted(text: &str, from: char, to: char) -> String {
    let mut out = String::with_capacity(text.len());
    // The quote that ends what is here, and whether this is a cell, behind which `'` is a prime.
    let (mut inside, mut cell) = (None, false);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let prime = cell && inside.is_none() && c == '\'';
        cell = c == '$' || cell && (inside.is_some() || c == '`' || OWN.goes_on(c));
        match inside {
            None if prime => out.push(c),
            None if c == from || c == '`' => {
                out.push(if c == from { to } else { c });
                inside = Some(c);
            }
            Some(quote) if c == quote => {
                out.push(if c == from { to } else { c });
                inside = None;
            }
            Some(_) if c == '\\' => match rest.next() {
                Some(quote @ ('"' | '\'')) => out.extend(quote.escape_unicode()),
                next => out.extend(std::iter::once(c).chain(next)),
            },
            Some(_) if c == '"' || c == '\'' => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}
