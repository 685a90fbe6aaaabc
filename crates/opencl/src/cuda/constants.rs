//! Constants of a source: `constexpr int TILE = 16`, enumerators.

use crate::lines::is_word;

/// Where the value of a constant stands behind `NAME =`.
pub(super) fn initial_value(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let places = text.match_indices(name).map(|(at, _)| at);
    places.into_iter().find_map(|at| {
        let whole = !text[..at].ends_with(is_word);
        let head = text[..at].rsplit([';', '{', '}', '(']).next()?;
        let has = |word: &str| head.split(|c| !is_word(c)).any(|own| own == word);
        let listed = text[..at - head.len()].rsplit([';', '}']).next()?.contains("enum");
        let rest = text[at + name.len()..].strip_prefix(|c: char| !is_word(c)).map(|_| ());
        let after = &text[at + name.len()..];
        let value = after.trim_start().strip_prefix('=').filter(|rest| !rest.starts_with('='))?;
        let start = text.len() - value.len();
        let mut depth = 0_usize;
        let end = value.char_indices().find(|(_, c)| {
            depth += usize::from(matches!(c, '(' | '['));
            let ends = depth == 0 && matches!(c, ';' | ',' | '}');
            depth -= usize::from(matches!(c, ')' | ']') && depth > 0);
            ends
        })?;
        let plain = !value[..end.0].contains(char::is_alphabetic);
        let constant = has("constexpr") || listed || has("const") && plain;
        (whole && rest.is_some() && constant).then_some(start..start + end.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_take_values() {
        let text = "enum { BX = 32, BY = f(1, 2) }; constexpr int R=3; int Q = 4; const int S = n;";
        let take = |name: &str| initial_value(text, name).map(|span| &text[span]);
        assert_eq!(take("BX"), Some(" 32"));
        assert_eq!(take("BY"), Some(" f(1, 2) "));
        assert_eq!(take("R"), Some("3"));
        assert_eq!([take("Q"), take("S")], [None, None]);
    }
}
