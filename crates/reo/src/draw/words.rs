//! Texts in drawings. The font is one in which all letters are equally wide, so that the size of a
//! text is known where it is laid out, for any font of the reader's machine.

/// Pixels of the font, of a letter's width (0.602 in the widest common fonts), of a line.
pub(super) const FONT: f64 = 12.0;
pub(super) const CELL: f64 = 7.3;
pub(super) const LINE: f64 = 15.0;

/// Most letters of a line, and most lines of a label.
const LONG: usize = 34;
const MANY: usize = 14;

/// How many letters wide a text is: those of East Asian scripts and pictures count twice.
pub(super) fn cells(text: &str) -> usize {
    text.chars().map(|c| if c as u32 >= 0x1100 { 2 } else { 1 }).sum()
}

/// The size of lines in pixels.
pub fn size(lines: &[String]) -> (f64, f64) {
    let widest = lines.iter().map(|l| cells(l)).max().unwrap_or(0);
    (widest as f64 * CELL, lines.len() as f64 * LINE)
}

/// A text cut in its middle where it is too long; what cannot be seen is a `?`.
pub(super) fn short(text: &str, most: usize) -> String {
    let seen: Vec<char> = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if cells(text) <= most {
        return seen.into_iter().collect();
    }
    let half = most.saturating_sub(1) / 2;
    let fit = |letters: &mut dyn Iterator<Item = &char>| {
        let mut wide = 0;
        let fits = |c: &&char| {
            wide += cells(&c.to_string());
            wide <= half
        };
        letters.take_while(fits).copied().collect::<Vec<char>>()
    };
    let (front, mut back) = (fit(&mut seen.iter()), fit(&mut seen.iter().rev()));
    back.reverse();
    front.into_iter().chain(['…']).chain(back).collect()
}

/// A list as lines: `{a, b,` and `c}`.
pub(super) fn wrapped(words: &[String], lines: &mut Vec<String>) {
    let mut row = "{".to_owned();
    for (k, word) in words.iter().enumerate() {
        let end = if k + 1 == words.len() { "" } else { "," };
        let word = format!("{}{end}", short(word, LONG - 2));
        if k > 0 && cells(&row) + 1 + cells(&word) >= LONG {
            lines.push(std::mem::take(&mut row));
        } else if k > 0 {
            row.push(' ');
        }
        row += &word;
    }
    lines.push(row + "}");
}

/// Names of things in components, by their last components alone: `b.2/m` for `a.1/b.2/m`, with
/// more of it where another name would look the same.
pub(super) struct Brief<'a>(pub Vec<&'a str>);

impl Brief<'_> {
    /// A text with such names. Constants in quotes stay.
    pub fn text(&self, text: &str) -> String {
        let mut out = String::new();
        for (k, part) in text.split('"').enumerate() {
            if k > 0 {
                out.push('"');
            }
            if k % 2 == 1 {
                out.push_str(part);
            } else {
                let words = part.split_inclusive([' ', '(', ')', ',', '=', '$', '!']);
                words.for_each(|word| out.push_str(self.word(word)));
            }
        }
        out
    }

    fn word<'w>(&self, word: &'w str) -> &'w str {
        let name = word.trim_end_matches([' ', '(', ')', ',', '=', '\'']);
        let starts = word.match_indices('/').map(|(at, _)| at + 1).rev().skip(1);
        let ends = |known: &str, end: &str| {
            known.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let alone = |from: &usize| {
            name.get(*from..).is_some_and(|end| self.0.iter().filter(|k| ends(k, end)).count() <= 1)
        };
        starts.into_iter().find(alone).map_or(word, |from| &word[from..])
    }
}

/// A label of lines that fits: long lines are cut, and of many the last ones left out.
pub(super) fn label(lines: Vec<String>) -> Vec<String> {
    let many = lines.len() > MANY;
    let mut label: Vec<String> =
        lines.iter().take(if many { MANY - 1 } else { MANY }).map(|l| short(l, LONG)).collect();
    if many {
        label.push("…".into());
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_in_their_middle() {
        assert_eq!(short("abc", 3), "abc");
        assert_eq!(short("abcdefgh", 5), "ab…gh");
        assert_eq!(short("a\nb", 5), "a?b");
        assert_eq!(short("界界界界", 5), "界…界");
    }

    #[test]
    fn names_inside_are_brief() {
        let brief = Brief(vec!["a/b/m", "c/b/m", "a.1/b.2/m", "a/b/c/x[1]", "a/m"]);
        assert_eq!(brief.text("$a.1/b.2/m' = in"), "$b.2/m' = in");
        assert_eq!(brief.text("f(a/b/c/x[1]) = \"a/b/c\""), "f(c/x[1]) = \"a/b/c\"");
        // Two that would look the same.
        assert_eq!(brief.text("$a/b/m = $c/b/m"), "$a/b/m = $c/b/m");
        assert_eq!(brief.text("a/m"), "a/m");
    }

    #[test]
    fn lists_are_broken_between_words() {
        let words: Vec<String> = (0..12).map(|k| format!("name{k}")).collect();
        let mut lines = Vec::new();
        wrapped(&words, &mut lines);
        let expected = [
            "{name0, name1, name2, name3,",
            "name4, name5, name6, name7,",
            "name8, name9, name10, name11}",
        ];
        assert_eq!(lines, expected);
        let mut none = Vec::new();
        wrapped(&[], &mut none);
        assert_eq!(none, ["{}"]);
    }
}
