//! Words as identifiers of other languages.

use indexmap::IndexMap;
use tickbound_input::names::short;

use crate::syntax::lex::TREO;

/// Gives each word an identifier of letters, digits and `_` that no other word has.
pub(crate) struct Identifiers {
    given: IndexMap<String, String>,
    taken: Vec<String>,
}

impl Identifiers {
    pub fn new(reserved: impl IntoIterator<Item = &'static str>) -> Self {
        let taken = reserved.into_iter().map(str::to_owned).collect();
        Identifiers { given: IndexMap::new(), taken }
    }

    /// As [`Identifiers::of`], where a word with indices that are numbers, `p[1]`, stays as it is.
    pub fn node(&mut self, word: &str) -> String {
        let key = format!(" {word}");
        let base = word.split('[').next().unwrap_or_default();
        let index = |part: &str| {
            let digits = part.strip_suffix(']').unwrap_or_default();
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        };
        let plain = TREO.is_word(base) && word.split('[').skip(1).all(index);
        let free = !self.given.contains_key(&key) && !self.taken.iter().any(|t| t == word);
        if plain && free {
            self.taken.push(word.to_owned());
            self.given.insert(key, word.to_owned());
        }
        self.of("", word)
    }

    /// The name of a function, which may have those of folders before it: `Function.parse`.
    pub fn function(&mut self, word: &str) -> String {
        let plain = word.split('.').all(|part| TREO.is_word(part));
        if plain { word.to_owned() } else { self.of("f_", word) }
    }

    /// The identifier of `word`, with `prefix` where a bare word is not wanted.
    pub fn of(&mut self, prefix: &str, word: &str) -> String {
        let key = format!("{prefix} {word}");
        if let Some(known) = self.given.get(&key) {
            return known.clone();
        }
        let chosen = self.fresh(prefix, word);
        self.given.insert(key, chosen.clone());
        chosen
    }

    /// An identifier like `word` behind `prefix` that nothing else has, not even the same word.
    pub fn fresh(&mut self, prefix: &str, word: &str) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let plain: String = word.chars().map(letter).collect();
        let mut plain = format!("{prefix}{}", short(plain.trim_matches('_')));
        if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
            plain = format!("n_{plain}");
        }
        let numbered = (2..).map(|k| format!("{plain}_{k}"));
        let free = |w: &String| !self.taken.contains(w);
        let chosen = std::iter::once(plain.clone()).chain(numbered).find(free).unwrap_or(plain);
        self.taken.push(chosen.clone());
        chosen
    }
}
