//! The expanded text: what stands between the cursors.

use std::ops::Range;

use clang::Entity;
use clang::source::SourceLocation;

/// The text that libclang reads. It has no comments and no macros, but line markers.
#[derive(Clone, Copy, Default)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl<'a> Text<'a> {
    pub(super) fn span(self, entity: &Entity<'_>) -> Range<usize> {
        let offset = |at: SourceLocation<'_>| at.get_spelling_location().offset as usize;
        entity.get_range().map_or(0..0, |at| offset(at.get_start())..offset(at.get_end()))
    }

    pub(super) fn of(self, entity: &Entity<'_>) -> &'a str {
        let span = self.span(entity);
        self.slice(span.start, span.end)
    }

    /// The text between two places; nothing if they are not in order.
    pub(super) fn slice(self, start: usize, end: usize) -> &'a str {
        self.0.get(start..end).unwrap_or("")
    }

    /// What stands between two places, without white space, line markers and parentheses at either
    /// end: libclang ends `(float4)(x)` before its last one.
    pub(super) fn between(self, start: usize, end: usize) -> &'a str {
        let mut rest = self.slice(start, end);
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ')');
            if !rest.starts_with('#') {
                break;
            }
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
        let word = rest.split(char::is_whitespace).next().unwrap_or("");
        word.trim_end_matches('(')
    }

    /// Whether what stands before `end` ends with a character, white space and line markers aside.
    pub(super) fn ends_with(self, start: usize, end: usize, wanted: char) -> bool {
        let lines = self.slice(start, end).lines().filter(|line| !line.starts_with("# "));
        lines.rev().find_map(|line| line.trim_end().chars().next_back()) == Some(wanted)
    }

    /// The places of `;` in the parentheses that follow `start`, and of the closing one.
    pub(super) fn header(self, start: usize) -> Option<(Vec<usize>, usize)> {
        let (mut depth, mut semicolons, mut line_start) = (0_usize, Vec::new(), false);
        let mut inside: Option<u8> = None;
        let bytes = self.0.as_bytes();
        let mut at = start;
        while at < bytes.len() {
            let byte = bytes[at];
            match (inside, byte) {
                (Some(_), b'\\') => at += 1,
                (Some(quote), _) if byte == quote => inside = None,
                (Some(_), _) => {}
                (None, b'#') if line_start => {
                    at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at);
                }
                (None, b'"' | b'\'') => inside = Some(byte),
                (None, b'(' | b'[' | b'{') => depth += 1,
                (None, b')') if depth == 1 => return Some((semicolons, at)),
                (None, b')' | b']' | b'}') => depth = depth.checked_sub(1)?,
                (None, b';') if depth == 1 => semicolons.push(at),
                _ => {}
            }
            line_start = bytes.get(at) == Some(&b'\n');
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn between_operands() {
        let text = Text("a ) \n# 3 \"x.cl\"\n <<= (b");
        assert_eq!(text.between(1, text.0.len() - 1), "<<=");
        assert_eq!(Text("a+(").between(1, 3), "+");
        assert_eq!(Text("a").between(1, 0), "");
    }

    #[test]
    fn loop_headers() {
        let text = Text("for (i = f(';', \")\");\n# 2 \"a;b\"\n; (i)) ;");
        let (semicolons, end) = text.header(0).unwrap();
        assert_eq!(semicolons, [20, 32]);
        assert_eq!(&text.0[end..], ") ;");
        assert_eq!(Text("for ((;").header(0), None);
    }

    #[test]
    fn what_ends_before() {
        let text = Text("a[\n# 1 \"x\"\n  n");
        assert!(text.ends_with(0, 13, '['));
        assert!(!text.ends_with(0, 1, '['));
    }
}
