//! The text of conditions: read in three dialects, written in one.
//!
//! Claims `x = y`, `x != y`, `x < y`, `P(x, y)`, `true` and `false` are joined by `&`, `|`, `!` and
//! brackets. Values are names, constants (`"text"` or numbers), calls `f(x, y)`, arithmetic, `_1`
//! (some value) and cells before and after the step, which each [`Dialect`] writes in its own way.
//! A step has a conjunction: a condition is read as its cases, a step for each.
//!
//! ```
//! use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
//! use tickbound_reo::symbol::Symbols;
//! use tickbound_reo::syntax::condition;
//!
//! let mut symbols = Symbols::new();
//! let (a, m) = (symbols.name("a"), symbols.cell("m"));
//! let put = DataConstraint::new([Literal::Equal(DataTerm::Datum(a), DataTerm::After(m))]);
//! assert_eq!(condition::text(&put, &symbols), "a = $m'");
//! let cases = condition::parse("a = $m'").map_err(|e| e.to_string())?;
//! assert_eq!(condition::constraint(&cases[0], &mut symbols), put);
//! # Ok::<(), String>(())
//! ```

mod claim;
mod read;

pub use claim::{ClaimValue, Claimed, GuardClaim, constraint, text};
pub(crate) use claim::{constant_of, word_text};
pub(crate) use read::all_of;
pub use read::{Cases, Dialect, cases, parse, value};

#[cfg(test)]
mod tests {
    use itertools::Itertools;

    use super::*;
    use crate::constraint::{DataTerm, Literal, Spelling};
    use crate::symbol::Symbols;

    fn read(text: &str) -> Result<String, String> {
        let cases = parse(text).map_err(|e| e.to_string())?;
        Ok(cases.iter().map(|claims| claims_text(claims)).collect::<Vec<_>>().join(" | "))
    }

    fn claims_text(claims: &[Claimed]) -> String {
        let mut symbols = Symbols::new();
        let name = |word: &str, symbols: &mut Symbols| DataTerm::Datum(symbols.name(word));
        let cell = |word: &str, symbols: &mut Symbols| symbols.cell(word);
        let literals: Vec<Literal> =
            claims.iter().map(|(_, c)| c.literal(&mut symbols, &name, &cell)).collect();
        let spelling = Spelling { symbols: &symbols, word: word_text };
        let text = literals.iter().map(|l| spelling.literal(l)).join(" & ");
        if text.is_empty() { "true".into() } else { text }
    }

    #[test]
    fn conditions_read_back_as_written() {
        for text in [
            "true",
            "a = $m'",
            "$seqc.1/m = p[1] & _3 != \"x\\\"y\"",
            "!P(a, f(g(12), $m)) & Q()",
            "`a b` = `true`",
            "`f f`(a) = \"\"",
            "a = \"1\" & b = 1 & c = -1",
            "a = b + 1 & c = ((a * 2) - $m) / f(a - 1)",
            "a = (-(b + 1)) - (-c) & d = -f(b)",
            "a = b & P(c) | P(b)",
            "a < b + 1 & f(c) >= 3",
        ] {
            assert_eq!(read(text), Ok(text.into()));
        }
        assert_eq!(read("(a=b && !(P(x)))&(true)"), Ok("a = b & !P(x)".into()));
        assert_eq!(
            read("!(a = b) & !(a != c) & p(true)"),
            Ok("a != b & a = c & p(\"true\")".into())
        );
        assert_eq!(read("!(P(a) & (Q(a) | a = b))"), Ok("!P(a) | !Q(a) & a != b".into()),);
        assert_eq!(read("(P(a) | Q(a)) & (a = b || true)").map(|t| t.matches('|').count()), Ok(3));
        assert_eq!(read("a = b and P(c) or (P(b) and c = a)"), read("a=b & P(c) | P(b) & c=a"));
        assert_eq!(read("or = and & and = b or or = c"), Ok("or = and & and = b | or = c".into()));
        assert_eq!(read("false"), Ok(String::new()));
        assert_eq!(read("false | a = 1 + 2 * 3"), Ok("a = 7".into()));
        assert_eq!(read("(a) = (1 - 1)"), Ok("a = 0".into()));
        assert_eq!(read("a > b & a <= b"), Ok("b < a & b >= a".into()));
        assert_eq!(read("!(a < b) & 1 < 2 & 3 < 2"), Ok("a >= b & 1 = 1 & 3 != 3".into()));
    }

    #[test]
    fn refused_conditions_say_where() {
        for (text, error) in [
            (
                "",
                "1:1: the end of the text where a value (a name, a constant, `$cell` or `f(...)`) \
                 should stand",
            ),
            ("a", "1:2: the end of the text where `=`, `!=` or `<` should stand"),
            ("a = b c", "1:7: `c` where `&` or `|` should stand"),
            ("a = b, c = d", "1:6: `,` where `&` or `|` should stand"),
            (
                "a = null",
                "1:5: `null` stands for an empty cell in #RBA alone; write a constant in quotes",
            ),
            ("f(a = b", "1:5: `=` where `,` or `)` should stand"),
        ] {
            assert_eq!(read(text), Err(format!("condition:{error}")), "{text}");
        }
        let deep = format!("{}a = b", "(".repeat(65));
        assert_eq!(read(&deep).map_err(|e| e.contains("deeper than 64")), Err(true));
        let deep = format!("a = {}a", "f(".repeat(65));
        assert_eq!(read(&deep).map_err(|e| e.contains("deeper than 64")), Err(true));
        let many = ["(a = b | c = d)"; 9].join(" & ");
        assert_eq!(read(&many).map_err(|e| e.contains("more than 256 cases")), Err(true));
    }

    #[test]
    fn plain_words_are_written_as_constraints_are() {
        let mut symbols = Symbols::new();
        for text in ["a = $m'", "$m = b & P(f(a), 3)", "_0 != \"x\"", "true"] {
            let cases = parse(text).unwrap_or_else(|e| panic!("{e}"));
            let constraint = constraint(&cases[0], &mut symbols);
            assert_eq!(super::text(&constraint, &symbols), constraint.text(&symbols));
        }
    }
}
