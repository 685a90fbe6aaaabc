//! A cache's text, whole or cut or with bytes that are wrong.
//!
//! A cache is one JSON object whose last field, `cache`, is an object of entries. While a program
//! measures, the two closing braces are missing; if it is killed, part of the last entry may be
//! missing as well. So the text is read field by field and entry by entry, and what is none is left
//! out up to the next line that begins with a quote: it begins a field or an entry, as we and
//! Kernel Tuner write them. So one byte costs one line.

use serde_json::{Deserializer, Map, Value};

/// A cache, taken apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CacheParts {
    /// The fields before the entries.
    pub head: Map<String, Value>,
    /// The entries, in order.
    pub entries: Vec<CacheLine>,
    /// Lines, from 1, at which something was left out.
    pub broken: Vec<usize>,
}

/// An entry's text, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheLine {
    /// The line, from 1.
    pub line: usize,
    /// Its key.
    pub key: String,
    /// Its value, an object.
    pub value: Value,
    /// The value's text.
    pub text: String,
}

/// Bytes as text, without a byte-order mark. What is no UTF-8 becomes a character that JSON nowhere
/// allows, so that it is left out with its line, and is not taken for another text.
pub fn decoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text += chunk.valid();
        if !chunk.invalid().is_empty() {
            text.push('\0');
        }
    }
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// Takes a text apart; nothing if it does not begin as a cache does.
pub fn read(text: &str) -> Option<CacheParts> {
    let mut rest = Rest { text, at: 0, counted: (0, 1), next: Some(0) };
    let mut parts = CacheParts::default();
    rest.skip('{')?;
    while rest.field(&mut parts)? {}
    rest.entries(&mut parts);
    Some(parts)
}

struct Rest<'a> {
    text: &'a str,
    at: usize,
    /// A place up to which lines were counted, and its line.
    counted: (usize, usize),
    /// What [`Rest::next`] found last: a file may be one long line, which is searched once.
    next: Option<usize>,
}

impl<'a> Rest<'a> {
    fn left(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.left().trim_start().len();
    }

    /// Passes over blanks and one mark.
    fn skip(&mut self, mark: char) -> Option<()> {
        let left = self.left().trim_start();
        let after = left.strip_prefix(mark)?;
        self.at = self.text.len() - after.len();
        Some(())
    }

    /// The line of where it is, from 1.
    fn line(&mut self) -> usize {
        let (from, line) = self.counted;
        let line = line + self.text[from..self.at].matches('\n').count();
        self.counted = (self.at, line);
        line
    }

    /// Where the next line begins that may begin a field or an entry.
    fn next(&mut self) -> Option<usize> {
        if self.next.is_some_and(|found| found <= self.at) {
            self.next = self.left().find("\n\"").map(|at| self.at + at + 1);
        }
        self.next
    }

    /// The next value and its text, which end before `end`.
    fn value(&mut self, end: usize) -> Option<(Value, &'a str)> {
        let left = &self.text[self.at..end];
        let mut values = Deserializer::from_str(left).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let end = values.byte_offset();
        // It is unknown which of two values for one key is meant.
        if value.is_object() {
            tickbound_input::json::<Value>(&left[..end]).ok()?;
        }
        self.at += end;
        Some((value, left[..end].trim()))
    }

    fn string(&mut self) -> Option<String> {
        match self.value(self.text.len())?.0 {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Reads a field before the entries; whether another may come; nothing where no cache follows.
    fn field(&mut self, parts: &mut CacheParts) -> Option<bool> {
        self.blanks();
        let (start, line) = (self.at, self.line());
        let name = self.string().filter(|_| self.skip(':').is_some());
        if name.as_deref() == Some("cache") {
            return self.skip('{').map(|()| false);
        }
        let value = name.and_then(|name| Some((name, self.value(self.text.len())?.0)));
        match value.filter(|_| self.skip(',').is_some()) {
            Some((name, value)) => {
                let twice = parts.head.insert(name, value).is_some();
                parts.broken.extend(twice.then_some(line));
            }
            None => {
                parts.broken.push(line);
                self.at = start;
                self.at = self.next()?;
            }
        }
        Some(true)
    }

    fn entry(&mut self, line: usize) -> Option<CacheLine> {
        let key = self.string()?;
        self.skip(':')?;
        let (from, end) = (self.at, self.next().unwrap_or(self.text.len()));
        let (value, text) = self.value(end).or_else(|| {
            self.at = from;
            // In a file that was written anew by another program an entry may have several lines.
            // One that has entries in it has lost its end.
            let flat = |value: &Value| {
                value.as_object().is_some_and(|o| !o.values().any(Value::is_object))
            };
            self.value(self.text.len()).filter(|(value, _)| flat(value))
        })?;
        // A number that is cut is a number.
        value.is_object().then(|| CacheLine { line, key, value, text: text.to_owned() })
    }

    fn entries(&mut self, parts: &mut CacheParts) {
        loop {
            while self.skip(',').is_some() {}
            self.blanks();
            let (start, left) = (self.at, self.left());
            // Braces end the cache, unless entries follow.
            if left.chars().all(|c| c == '}' || c.is_whitespace()) {
                return;
            }
            let line = self.line();
            match self.entry(line) {
                Some(entry) => parts.entries.push(entry),
                None => {
                    if parts.broken.last() != Some(&line) {
                        parts.broken.push(line);
                    }
                    self.at = start;
                    self.at = self.next().unwrap_or(self.text.len());
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
        (parts.entries.into_iter().map(|entry| entry.key).collect(), parts.broken)
    }

    #[test]
    fn whole_open_and_cut() {
        let table: [(&str, &[&str], &[usize]); 16] = [
            ("", &[], &[]),
            ("}\n}", &[], &[]),
            ("\n\"1\": {\"a\": 1},", &["1"], &[]),
            ("\n\"1\": {\"a\": 1}}\n}\n", &["1"], &[]),
            ("\n\"1\": {\"a\": 1},\n\"2\": {\"a\": 2, \"ti", &["1"], &[3]),
            ("\n\"1\": {\"a\": 1},\n\"2", &["1"], &[3]),
            ("\n\"1\": {\"a\": 1},\n\"2\": {\"a\":\n\"3\": {\"a\": 3},", &["1", "3"], &[3]),
            ("\n\"1\": {\"a\": 1},\n\"2\": 7", &["1"], &[3]),
            (" \"1\":{\"a\":[1,\n2]},\"2\":{} } }", &["1", "2"], &[]),
            (
                "\n\"1\": {\n\"a\": 1,\n\"b\": [\n2\n]\n},\n\"2\": {\"a\": 2}\n}\n}",
                &["1", "2"],
                &[],
            ),
            // One byte that is wrong costs one line: a brace in place of a comma, and the reverse;
            // a quote; a zero.
            ("\n\"1\": {\"a\": 1}}\n\"2\": {\"a\": 2},", &["1", "2"], &[2]),
            ("\n\"1\": {\"a\": 1,,\n\"2\": {\"a\": 2},", &["2"], &[2]),
            ("\n\"1\": {\"a\": \"x },\n\"2\": {\"a\": \"y\"}}\n}", &["2"], &[2]),
            ("\n\"1\": {\"a\": \"\0\"},\n\"2\": {\"a\": 2},", &["2"], &[2]),
            ("\n\"1\": {\"a\": 1} x,\n\"2\": {\"a\": 2},", &["1", "2"], &[2]),
            ("\n\"1\": {\"a\": 1}}\n}x", &["1"], &[2]),
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

    /// A line of the head that is broken costs that line.
    #[test]
    fn broken_heads() {
        let lines = [
            "{",
            "\"device_name\": \"d\",",
            "\"objective\": \"ti\0me\",",
            "\"cache\": {",
            "\"1\": {\"a\": 1}}",
            "}",
        ];
        let parts = read(&lines.join("\n")).expect("a cache");
        assert_eq!((parts.head.len(), parts.entries.len(), &parts.broken[..]), (1, 1, &[3][..]));
    }

    #[test]
    fn bytes_that_are_no_text() {
        assert_eq!(decoded(b"\xef\xbb\xbfa\xffb\n\xc3\n\xc3\xa9"), "a\0b\n\0\n\u{e9}");
    }

    /// If any byte of any line is lost or changed, all other lines stay.
    #[test]
    fn every_byte() {
        let entries: Vec<String> =
            (0..4).map(|i| format!("\"{i}\": {{\"a\": {i}, \"m\": \"x{i}\"}},\n")).collect();
        let head = format!("{HEAD}\n");
        for (line, entry) in entries.iter().enumerate() {
            // What ends the line belongs to two.
            for at in 0..entry.len() - 1 {
                for byte in *b"\0\xff\"\\{}[],: x1" {
                    let mut bytes = entry.clone().into_bytes();
                    bytes[at] = byte;
                    let before = entries[..line].concat();
                    let bytes = [
                        head.as_bytes(),
                        before.as_bytes(),
                        &bytes,
                        entries[line + 1..].concat().as_bytes(),
                    ]
                    .concat();
                    let parts = read(&decoded(&bytes)).expect("a head");
                    for other in (0..4).filter(|other| *other != line) {
                        let found = parts.entries.iter().find(|e| e.line == other + 2);
                        let found = found
                            .unwrap_or_else(|| panic!("{line}, {at}, {byte}: {other} is lost"));
                        assert_eq!(
                            (found.key.as_str(), &found.value["a"]),
                            (&*other.to_string(), &other.into())
                        );
                    }
                }
            }
        }
    }

    /// After any cut, exactly the whole entries are left.
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
