//! Lists and counts in messages.

use tickbound_input::message::excerpt;

/// Words in back quotes, with commas between, the first few of them.
pub(super) fn listed<T: ToString>(words: impl Iterator<Item = T>) -> String {
    let quote = |w: T| format!("`{}`", excerpt(&w.to_string()));
    let mut words = words.map(quote);
    let first: Vec<String> = words.by_ref().take(8).collect();
    first.join(", ") + if words.next().is_some() { ", ..." } else { "" }
}

/// `1 node`, `2 nodes`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
