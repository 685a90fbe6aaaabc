//! A cache's text, whole or cut.
//!
//! A cache is one JSON object whose last field, `cache`, is an object of entries. While a program
//! measures, the two closing braces are missing; if it is killed, part of the last entry may be
//! missing as well. So the text is read entry by entry; what is no entry is left out, and reading
//! goes on at the next line that begins one.

use serde_json::{Deserializer, Map, Value};

/// A cache, taken apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// The fields before the entries.
    pub head: Map<String, Value>,
    /// Key, value, and the value's text, of each entry.
    pub entries: Vec<(String, Value, String)>,
    /// Lines, from 1, at which something was left out.
    pub broken: Vec<usize>,
}

/// Takes a text apart; nothing if it does not begin as a cache does.
#[must_use]
pub fn read(text: &str) -> Option<Parts> {
    let mut rest = Rest { text, at: 0 };
    let mut parts = Parts::default();
    rest.skip('{')?;
    loop {
        let name = rest.string()?;
        rest.skip(':')?;
        if name == "cache" {
            break;
        }
        parts.head.insert(name, rest.value()?.0);
        rest.skip(',')?;
    }
    rest.skip('{')?;
    rest.entries(&mut parts);
    Some(parts)
}

struct Rest<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    fn left(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Passes over blanks and one mark.
    fn skip(&mut self, mark: char) -> Option<()> {
        let left = self.left().trim_start();
        let after = left.strip_prefix(mark)?;
        self.at = self.text.len() - after.len();
        Some(())
    }

    /// The next value and its text.
    fn value(&mut self) -> Option<(Value, &'a str)> {
        let left = self.left();
        let mut values = Deserializer::from_str(left).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let end = values.byte_offset();
        self.at += end;
        Some((value, left[..end].trim()))
    }

    fn string(&mut self) -> Option<String> {
        match self.value()?.0 {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    fn entry(&mut self) -> Option<(String, Value, String)> {
        let key = self.string()?;
        self.skip(':')?;
        let (value, text) = self.value()?;
        // A number that is cut is a number.
        value.is_object().then(|| (key, value, text.to_owned()))
    }

    fn entries(&mut self, parts: &mut Parts) {
        loop {
            while self.skip(',').is_some() {}
            let left = self.left().trim_start();
            if left.is_empty() || left.starts_with('}') {
                return;
            }
            let start = self.text.len() - left.len();
            match self.entry() {
                Some(entry) => parts.entries.push(entry),
                None => {
                    parts.broken.push(self.text[..start].matches('\n').count() + 1);
                    // The next line that begins with a text may begin an entry.
                    let next =
                        left.match_indices('\n').find(|(at, _)| left[at + 1..].starts_with('"'));
                    self.at = next.map_or(self.text.len(), |(at, _)| start + at + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"device_name": "d", "tune_params_keys": ["a"], "cache": {"#;

    fn keys(tail: &str) -> (Vec<String>, Vec<usize>) {
        let parts = read(&format!("{HEAD}{tail}")).expect("a head");
        assert_eq!(parts.head["device_name"], "d");
        (parts.entries.into_iter().map(|(key, ..)| key).collect(), parts.broken)
    }

    #[test]
    fn whole_open_and_cut() {
        let table: [(&str, &[&str], &[usize]); 9] = [
            ("", &[], &[]),
            ("}\n}", &[], &[]),
            ("\n\"1\": {\"a\": 1},", &["1"], &[]),
            ("\n\"1\": {\"a\": 1}}\n}\n", &["1"], &[]),
            ("\n\"1\": {\"a\": 1},\n\"2\": {\"a\": 2, \"ti", &["1"], &[3]),
            ("\n\"1\": {\"a\": 1},\n\"2", &["1"], &[3]),
            ("\n\"1\": {\"a\": 1},\n\"2\": {\"a\":\n\"3\": {\"a\": 3},", &["1", "3"], &[3]),
            ("\n\"1\": {\"a\": 1},\n\"2\": 7", &["1"], &[3]),
            (" \"1\":{\"a\":[1,\n2]},\"2\":{} } }", &["1", "2"], &[]),
        ];
        for (tail, expected, broken) in table {
            let (found, lines) = keys(tail);
            assert_eq!(
                (&found[..], &lines[..]),
                (&expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..], broken),
                "{tail}"
            );
        }
    }

    #[test]
    fn what_is_no_cache() {
        for text in ["", "{", "[]", "{\"a\": 1}", "{\"cache\": [", "{\"device_name\": \"d", "null"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    /// Whatever is cut off, what is left is the entries that are whole.
    #[test]
    fn every_cut() {
        let entries: Vec<String> =
            (0..4).map(|i| format!("\n\"{i}\": {{\"a\": {i}, \"t\": [1.5, 2e-3]}},")).collect();
        let text = format!("{HEAD}{}", entries.concat());
        for cut in HEAD.len()..=text.len() {
            let parts = read(&text[..cut]).expect("a head");
            let whole = (0..4).take_while(|i| {
                let end = HEAD.len() + entries[..=*i].concat().len();
                // The comma at the end may be missing.
                end - 1 <= cut
            });
            assert_eq!(parts.entries.len(), whole.count(), "cut at {cut}");
        }
    }
}
