//! Commands as they would be typed.

use std::process::Command;

/// A word as a shell needs it: in quotes if it has more than letters, digits and `-_./=:,+@%`.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A command's program and arguments as a shell needs them.
pub fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_must_be() {
        for (word, expected) in [
            ("a/b.json", "a/b.json"),
            ("-DT=4", "-DT=4"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
        let mut command = Command::new("/bin/cc");
        command.args(["-DT=4", "a b"]);
        assert_eq!(command_line(&command), "/bin/cc -DT=4 'a b'");
    }
}
