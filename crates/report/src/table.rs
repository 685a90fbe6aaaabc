//! Tables for a terminal and for a README.
//!
//! Columns whose cells are all numbers are aligned to the right, others to the left. Numbers are
//! written as they come, without separators, so that they can be copied and searched.
//!
//! ```
//! use tickbound_report::Table;
//!
//! let table = Table::new(["size", "T_min", "at"]).row(["8", "44", "WG=4"]);
//! let table = table.row(["1024", "533248", "WG=512"]);
//! assert_eq!(table.to_string(), "\
//! size   T_min  at
//! ----  ------  ------
//!    8      44  WG=4
//! 1024  533248  WG=512
//! ");
//! assert_eq!(table.to_markdown(), "\
//! | size |  T_min | at     |
//! | ---: | -----: | :----- |
//! |    8 |     44 | WG=4   |
//! | 1024 | 533248 | WG=512 |
//! ");
//! ```

use std::fmt;

use tickbound_input::message::one_line;
use unicode_width::UnicodeWidthStr;

/// Cells of text are not made narrower than this.
const NARROWEST: usize = 8;

/// Words up to this long stay within their column.
const WORD: usize = 24;

/// Blanks between columns.
const GAP: usize = 2;

/// How much further than its first line the other lines of a cell begin.
const HANGS: usize = 2;

/// Represents "no value" and fits into a column of numbers.
const NOTHING: [&str; 3] = ["", "-", "?"];

/// A table: a line of headers and any number of rows of the same length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headers.
    pub fn new<T: ToString>(headers: impl IntoIterator<Item = T>) -> Self {
        Table {
            headers: headers.into_iter().map(|h| one_line(&h.to_string())).collect(),
            rows: Vec::new(),
        }
    }

    /// The table with one more row. Missing cells are empty; cells beyond the headers get a column
    /// without a header. Line breaks become blanks.
    #[must_use]
    pub fn row<T: ToString>(mut self, cells: impl IntoIterator<Item = T>) -> Self {
        self.push(cells);
        self
    }

    /// Adds a row, as [`Table::row`] does.
    pub fn push<T: ToString>(&mut self, cells: impl IntoIterator<Item = T>) {
        let mut cells: Vec<String> = cells.into_iter().map(|c| one_line(&c.to_string())).collect();
        let columns = cells.len().max(self.headers.len());
        cells.resize(columns, String::new());
        for row in self.rows.iter_mut().chain([&mut self.headers]) {
            row.resize(columns, String::new());
        }
        self.rows.push(cells);
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in GitHub's Markdown, padded so that it reads well as text too.
    pub fn to_markdown(&self) -> String {
        let escape = |cells: &[String]| cells.iter().map(|c| c.replace('|', "\\|")).collect();
        let escaped = Table {
            headers: escape(&self.headers),
            rows: self.rows.iter().map(|r| escape(r)).collect(),
        };
        // A rule is at least `--:`, three characters.
        let columns = escaped.columns(3);
        let line = |cells: &[String]| {
            let padded: Vec<String> = columns.iter().zip(cells).map(|(c, t)| c.pad(t)).collect();
            format!("| {} |\n", padded.join(" | "))
        };
        let rule: Vec<String> = columns.iter().map(Column::markdown_rule).collect();
        let rows: String = escaped.rows.iter().map(|r| line(r)).collect();
        format!("{}| {} |\n{rows}", line(&escaped.headers), rule.join(" | "))
    }

    /// The table as text in lines of at most `width` columns, if that can be: cells of text are
    /// broken at blanks, and what follows is indented; columns that do not fit beside the others
    /// stand below, after the first one again. Numbers and words are never broken.
    pub fn fitted(&self, width: usize) -> String {
        let columns = self.columns(0);
        let Some(first) = columns.first() else { return self.to_string() };
        let mut blocks: Vec<Vec<usize>> = vec![vec![0]];
        let mut total = first.narrowest;
        for (number, column) in columns.iter().enumerate().skip(1) {
            total += GAP + column.narrowest;
            if let Some(block) = blocks.last_mut().filter(|b| total <= width || b.len() == 1) {
                block.push(number);
            } else {
                blocks.push(vec![0, number]);
                total = first.narrowest + GAP + column.narrowest;
            }
        }
        blocks.iter().map(|block| self.block(block, width)).collect::<Vec<_>>().join("\n")
    }

    /// Some of the columns, made narrow until they fit or cannot be narrower.
    fn block(&self, numbers: &[usize], width: usize) -> String {
        let part = |cells: &Vec<String>| {
            numbers.iter().filter_map(|i| cells.get(*i).cloned()).collect::<Vec<_>>()
        };
        let part =
            Table { headers: part(&self.headers), rows: self.rows.iter().map(part).collect() };
        let mut columns = part.columns(0);
        let gaps = GAP * columns.len().saturating_sub(1);
        let mut total = gaps + columns.iter().map(|c| c.width).sum::<usize>();
        // What is longer than its column moves the rest of the line, so no column gets that
        // while another has room.
        for least in [(|c| c.whole) as fn(&Column) -> usize, |c| c.narrowest] {
            while total > width {
                let texts = columns.iter_mut().filter(|c| c.width > least(c));
                let Some(widest) = texts.max_by_key(|c| c.width) else { break };
                widest.width -= 1;
                total -= 1;
            }
        }
        let mut out = String::new();
        let mut add = |cells: &[String]| {
            let cells: Vec<Vec<String>> =
                columns.iter().zip(cells).map(|(c, t)| c.broken(t)).collect();
            for i in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let line = columns
                    .iter()
                    .zip(&cells)
                    .map(|(c, lines)| c.pad(lines.get(i).map_or("", String::as_str)));
                out += line.collect::<Vec<_>>().join("  ").trim_end();
                out.push('\n');
            }
        };
        add(&part.headers);
        add(&columns.iter().map(|c| "-".repeat(c.width)).collect::<Vec<_>>());
        part.rows.iter().for_each(|row| add(row));
        out
    }

    fn columns(&self, least: usize) -> Vec<Column> {
        let column = |i: usize| {
            let cells = || self.rows.iter().filter_map(move |r| r.get(i));
            let all = || cells().chain(self.headers.get(i));
            let width = all().map(|c| c.width()).max().unwrap_or(0).max(least);
            let words = all().flat_map(|c| c.split_whitespace()).map(UnicodeWidthStr::width);
            let right = cells().any(|c| is_number(c))
                && cells().all(|c| is_number(c) || NOTHING.contains(&c.as_str()));
            let word = words.max().unwrap_or(0).min(WORD);
            let narrowest = if right { width } else { word.max(width.min(NARROWEST)) };
            let whole = all().map(|c| least_width(c)).max().unwrap_or(0).max(narrowest);
            Column { width, whole, narrowest, right }
        };
        (0..self.headers.len()).map(column).collect()
    }
}

impl fmt::Display for Table {
    /// Aligned columns, two blanks apart, under a line of headers; no blanks at line ends.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns(0);
        let rule: Vec<String> = columns.iter().map(|c| "-".repeat(c.width)).collect();
        for cells in [&self.headers, &rule].into_iter().chain(&self.rows) {
            let padded: Vec<String> = columns.iter().zip(cells).map(|(c, t)| c.pad(t)).collect();
            writeln!(f, "{}", padded.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A paragraph in lines of at most `width` columns, if no word is longer.
pub fn wrapped(text: &str, width: usize) -> String {
    broken(text, width, 0).join("\n")
}

/// The columns that the names of an answer's lines take at most, such as `proved:     `.
const NAME: usize = 16;

/// An answer in lines of at most `width` columns, if no word is longer. What a line with a name
/// states goes on below, what others say under two more blanks. Two blanks in a row are between
/// columns: rows of tables stay.
pub fn hanging(text: &str, width: usize) -> String {
    let line = |line: &str| {
        let (name, says) = line.split_at(name(line));
        if line.width() <= width || says.trim_start().contains("  ") {
            return line.to_owned();
        }
        if name.is_empty() {
            return broken(line, width, 2).join("\n");
        }
        let says = wrapped(says, width.saturating_sub(name.width()).max(NARROWEST));
        format!("{name}{}", says.replace('\n', &format!("\n{}", " ".repeat(name.width()))))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// How long the name of a line is, with its colon and the blanks behind it.
fn name(line: &str) -> usize {
    let Some((name, says)) = line.split_once(": ") else { return 0 };
    let length = line.len() - says.trim_start().len();
    if name.contains("  ") || length > NAME { 0 } else { length }
}

/// How narrow a cell can be so that no line of it is longer: its words stand below one another.
fn least_width(cell: &str) -> usize {
    let indent = cell.len() - cell.trim_start().len();
    let place = |number: usize| if number == 0 { indent } else { indent + HANGS };
    cell.split_whitespace().enumerate().map(|(i, word)| place(i) + word.width()).max().unwrap_or(0)
}

/// A text in lines of `width` columns: the first keeps its indentation, others have `more` more.
fn broken(text: &str, width: usize, more: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let indent = text.len() - text.trim_start().len();
    let mut lines = vec![" ".repeat(indent)];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { break };
        let empty = line.trim().is_empty();
        let blank = usize::from(!empty);
        if empty || line.width() + blank + word.width() <= width {
            *line += &format!("{}{word}", " ".repeat(blank));
        } else {
            lines.push(format!("{}{word}", " ".repeat((indent + more).min(width / 2))));
        }
    }
    lines
}

struct Column {
    width: usize,
    /// How narrow it can be so that no line of a cell is longer.
    whole: usize,
    /// How narrow it can be made.
    narrowest: usize,
    right: bool,
}

impl Column {
    /// A cell in lines of the column's width: the first as indented, others [`HANGS`] more.
    fn broken(&self, text: &str) -> Vec<String> {
        broken(text, self.width, HANGS)
    }

    fn pad(&self, text: &str) -> String {
        let blanks = " ".repeat(self.width.saturating_sub(text.width()));
        if self.right { blanks + text } else { text.to_owned() + &blanks }
    }

    fn markdown_rule(&self) -> String {
        let dashes = "-".repeat(self.width - 1);
        if self.right { dashes + ":" } else { format!(":{dashes}") }
    }
}

/// A number as in reports: digits, optionally a sign, a fraction, and a unit or percent.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let text = text.strip_suffix(['%', 'x', 's']).unwrap_or(text).trim_end();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction)
}

#[cfg(test)]
mod tests {
    use super::{Table, hanging};

    #[test]
    fn answers_fit() {
        let text = [
            "a heading that is longer than that",
            "ties:       A=1, B=2; A=3, B=4; A=5, B=6",
            "not confirmed: by a bound alone",
            "  ms  a row of a table is not broken",
            "    a note: with blanks before it",
            "the longest name of a line: text",
        ];
        let narrow = [
            "a heading that is longer",
            "  than that",
            "ties:       A=1, B=2; A=3,",
            "            B=4; A=5, B=6",
            "not confirmed: by a bound",
            "               alone",
            "  ms  a row of a table is not broken",
            "    a note: with blanks",
            "      before it",
            "the longest name of a line:",
            "  text",
        ];
        assert_eq!(hanging(&text.join("\n"), 27), narrow.join("\n"));
        assert_eq!(hanging(&text.join("\n"), 80), text.join("\n"));
    }

    #[test]
    fn tables_fit() {
        let table = Table::new(["n", "what there is", "more"]).row([
            "1024",
            "    global load a: 4 bytes, 1 between items",
            "x",
        ]);
        assert_eq!(table.fitted(80), table.to_string());
        let narrow = table.fitted(36);
        let expected = [
            "   n  what there is             more",
            "----  ------------------------  ----",
            "1024      global load a: 4      x",
            "            bytes, 1 between",
            "            items",
        ];
        assert_eq!(narrow.lines().collect::<Vec<_>>(), expected);
        assert!(narrow.lines().all(|line| line.len() <= 36));
        // What does not fit beside the first column stands below, and what cannot be narrower stays
        // whole.
        let two = table.fitted(18);
        assert!(two.starts_with("   n  what there\n        is\n----  ----"), "{two}");
        assert!(two.ends_with("\n\n   n  more\n----  ----\n1024  x\n"), "{two}");
        assert_eq!(table.fitted(1).matches("1024").count(), 2);
    }

    /// A word too long to hold its column's width open, beside a column that can be broken.
    #[test]
    fn columns_with_room_give_way_to_long_words() {
        let table = Table::new(["name", "platform", "units"]).row([
            "pthread-skylake-avx512-AMD EPYC",
            "Portable Computing Language",
            "2",
        ]);
        let expected = [
            "name                        platform     units",
            "--------------------------  -----------  -----",
            "pthread-skylake-avx512-AMD  Portable         2",
            "  EPYC                        Computing",
            "                              Language",
        ];
        let narrow = table.fitted(46);
        assert_eq!(narrow.lines().collect::<Vec<_>>(), expected);
        // Where no column has room left, the word stays whole all the same.
        assert!(table.fitted(42).contains("\npthread-skylake-avx512-AMD  Portable"));
    }
}
