//! Constants: how their words are spelled, and arithmetic on those that are integers.
//!
//! A number and a text of the same digits differ, as in Treo: the word of a text that looks like a
//! number or like a text in quotes keeps its quotes.

/// Signs of arithmetic: functions with these names stand between their arguments.
pub const OPERATORS: [&str; 5] = ["+", "-", "*", "/", "%"];

/// The predicate `<`: which of two data is less.
pub const LESS: &str = "<";

/// Relations of an order: all of them say that [`LESS`] holds or fails.
pub const RELATIONS: [&str; 4] = ["<=", ">=", "<", ">"];

/// The word of the constant that is written as `text` in quotes.
pub fn constant_word(text: &str) -> String {
    if is_number(text) || text.starts_with('"') { format!("\"{text}\"") } else { text.to_owned() }
}

/// How a constant is written: a number as it is, anything else in quotes.
pub fn constant_text(word: &str) -> String {
    let quoted = || word.strip_prefix('"')?.strip_suffix('"');
    match quoted() {
        Some(text) => format!("{text:?}"),
        None if is_number(word) => word.to_owned(),
        None => format!("{word:?}"),
    }
}

/// Whether a word is written without quotes: digits, perhaps with a point or a minus.
fn is_number(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let size = word.strip_prefix('-').unwrap_or(word);
    let (whole, rest) = size.split_once('.').unwrap_or((size, "0"));
    digits(whole) && digits(rest)
}

/// A predicate as a parameter names it: whether it has to hold (`P`, not `!P`), and its name.
pub fn predicate_word(word: &str) -> (bool, &str) {
    let (mut holds, mut rest) = (true, word.trim());
    while let Some(inner) = rest.strip_prefix('!') {
        (holds, rest) = (!holds, inner.trim_start());
    }
    (holds, rest)
}

/// The integer that a word is, if it is one of 64 bits.
pub fn integer(word: &str) -> Option<i64> {
    if is_number(word) { word.parse().ok() } else { None }
}

/// The value of `sign` with these integers, if there is one of 64 bits.
pub fn worked_out(sign: &str, integers: &[i64]) -> Option<i64> {
    match (sign, integers) {
        ("-", [a]) => a.checked_neg(),
        ("+", [a, b]) => a.checked_add(*b),
        ("-", [a, b]) => a.checked_sub(*b),
        ("*", [a, b]) => a.checked_mul(*b),
        ("/", [a, b]) => a.checked_div(*b),
        ("%", [a, b]) => a.checked_rem(*b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_written_as_they_were_read() {
        for text in ["1", "-1", "1.5", "", "a b", "\"1\"", "1.", "x\"y"] {
            let word = constant_word(text);
            assert_eq!(constant_text(&word), format!("{text:?}"), "{text}");
        }
        assert_eq!(
            ["12", "-3", "1.5", "+5", "\"1\""].map(integer),
            [Some(12), Some(-3), None, None, None]
        );
        for number in ["0", "12", "1.5", "-3"] {
            assert_eq!(constant_text(number), number);
            assert_ne!(constant_word(number), number);
        }
    }

    #[test]
    fn integers_are_worked_out() {
        assert_eq!(worked_out("+", &[1, 2]), Some(3));
        assert_eq!(worked_out("-", &[3]), Some(-3));
        assert_eq!(worked_out("/", &[-7, 2]), Some(-3));
        assert_eq!(worked_out("%", &[-7, 2]), Some(-1));
        assert_eq!(worked_out("/", &[1, 0]), None);
        assert_eq!(worked_out("+", &[i64::MAX, 1]), None);
        assert_eq!(worked_out("f", &[1, 1]), None);
    }
}
