//! The help on a terminal: what is said of an option or a command goes on below itself.
//!
//! Clap would do it with another dependency.

use tickbound_report::table::wrapped;

/// Lines are not longer than this on wider terminals.
const LONGEST: usize = 100;
/// What is said of an option is not made narrower than this.
const NARROWEST: usize = 24;

/// The help, with or without colour, in lines of at most `width` columns, if that can be.
pub(super) fn folded(text: &str, width: usize) -> String {
    let width = width.min(LONGEST);
    let line = |line: &str| {
        if columns(line) <= width {
            return line.to_owned();
        }
        let (name, says) = line.split_at(description(line));
        let before = columns(name);
        let says = wrapped(says, width.saturating_sub(before).max(NARROWEST));
        format!("{name}{}", says.replace('\n', &format!("\n{}", " ".repeat(before))))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Where a line begins to say something of an option: behind the first two blanks in it.
fn description(line: &str) -> usize {
    let name = line.trim_start();
    let indent = line.len() - name.len();
    match name.find("  ") {
        Some(gap) if indent > 0 => line.len() - name[gap..].trim_start().len(),
        _ => indent,
    }
}

/// The columns that a line takes: its characters, but for those of colours (from an escape
/// character to an `m`).
fn columns(line: &str) -> usize {
    let mut colour = false;
    line.chars()
        .filter(|c| {
            let shown = !colour && *c != '\u{1b}';
            colour = if colour { *c != 'm' } else { *c == '\u{1b}' };
            shown
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn descriptions_go_on_below_themselves() {
        let text = "Tells what it does to all of them at once\n\n  -q, --quiet  Print the answer and nothing beside it\n          A paragraph that stands alone on its line\n";
        let narrow = "Tells what it does to all of them at\nonce\n\n  -q, --quiet  Print the answer and\n               nothing beside it\n          A paragraph that stands alone\n          on its line\n";
        assert_eq!(folded(text, 39), narrow);
        assert_eq!(folded(text, 80), text);
        let coloured = text.replace("--quiet", "\u{1b}[1m--quiet\u{1b}[0m");
        assert_eq!(folded(&coloured, 39), narrow.replace("--quiet", "\u{1b}[1m--quiet\u{1b}[0m"));
        // Nothing is made narrower than words.
        assert!(folded(text, 1).contains("               nothing beside it\n"));
    }
}
