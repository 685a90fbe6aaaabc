//! Numbers for a page.

use serde::{Serialize, Serializer};

/// A number of a configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureNumber {
    /// A whole one, such as ticks.
    Whole(i64),
    /// A measured one.
    Real(f64),
}

/// The greatest number up to which JavaScript represents all whole numbers.
const EXACT: u64 = 1 << 53;

impl Serialize for FigureNumber {
    /// As a number, or as text where a script would round it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FigureNumber::Whole(n) if n.unsigned_abs() > EXACT => serializer.collect_str(n),
            FigureNumber::Whole(n) => serializer.serialize_i64(*n),
            FigureNumber::Real(n) => serializer.serialize_f64(*n),
        }
    }
}

impl FigureNumber {
    /// For comparison.
    pub(super) fn real(self) -> f64 {
        match self {
            FigureNumber::Whole(n) => n as f64,
            FigureNumber::Real(n) => n,
        }
    }

    /// For people.
    pub(super) fn shown(self) -> String {
        match self {
            FigureNumber::Whole(n) => numbers_grouped(&n.to_string()),
            FigureNumber::Real(n) => numbers_grouped(&crate::measured::four_digits(n)),
        }
    }
}

/// A text with numbers of five digits or more in groups of three, except in names and fractions.
pub fn numbers_grouped(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let run = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let alone = !(before.is_alphanumeric() || "._-/,^".contains(before));
        let after = rest[run..].chars().next();
        let name = after.is_some_and(|c| c.is_alphabetic() || "_-/^".contains(c));
        if run >= 5 && alone && !name {
            for (i, digit) in rest[..run].chars().enumerate() {
                if i > 0 && (run - i).is_multiple_of(3) {
                    out.push(',');
                }
                out.push(digit);
            }
        } else {
            out.push_str(&rest[..run.max(c.len_utf8())]);
        }
        rest = &rest[run.max(c.len_utf8())..];
        before = out.chars().next_back().unwrap_or(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_in_numbers_only() {
        for (text, shown) in [
            ("226296 ticks, 27.49 % more", "226,296 ticks, 27.49 % more"),
            ("clocks of arithmetic 262144.0", "clocks of arithmetic 262,144.0"),
            ("241,600 rows", "241,600 rows"),
            ("minimum-65536-opencl.cache.json", "minimum-65536-opencl.cache.json"),
            ("0.0012345, 1024 and n65536", "0.0012345, 1024 and n65536"),
            ("size=1048576", "size=1,048,576"),
            ("größe 123456é", "größe 123456é"),
            ("", ""),
        ] {
            assert_eq!(numbers_grouped(text), shown);
        }
    }

    #[test]
    fn large_numbers_keep_their_digits() {
        let json = |n| serde_json::to_string(&n).unwrap();
        assert_eq!(json(FigureNumber::Whole(1 << 53)), "9007199254740992");
        assert_eq!(json(FigureNumber::Whole((1 << 53) + 1)), "\"9007199254740993\"");
        assert_eq!(json(FigureNumber::Real(0.5)), "0.5");
    }
}
