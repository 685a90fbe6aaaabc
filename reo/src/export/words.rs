//! Words as identifiers of other languages.

use indexmap::IndexMap;

/// Gives each word an identifier of letters, digits and `_` that no other word has.
pub(super) struct Identifiers {
    given: IndexMap<String, String>,
    taken: Vec<String>,
}

impl Identifiers {
    /// Identifiers that are none of `reserved`.
    pub(super) fn new(reserved: &[&str]) -> Self {
        let taken = reserved.iter().map(|w| (*w).to_owned()).collect();
        Identifiers { given: IndexMap::new(), taken }
    }

    /// The identifier of `word`, with `prefix` where a bare word is not wanted.
    pub(super) fn of(&mut self, prefix: &str, word: &str) -> String {
        let key = format!("{prefix} {word}");
        if let Some(known) = self.given.get(&key) {
            return known.clone();
        }
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let plain: String = word.chars().map(letter).collect();
        let mut plain = format!("{prefix}{}", plain.trim_matches('_'));
        if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
            plain = format!("n_{plain}");
        }
        let numbered = (2..).map(|k| format!("{plain}_{k}"));
        let free = |w: &String| !self.taken.contains(w);
        let chosen = std::iter::once(plain.clone()).chain(numbered).find(free).unwrap_or(plain);
        self.taken.push(chosen.clone());
        self.given.insert(key, chosen.clone());
        chosen
    }
}
