//! The text of conditions: read in three dialects, written in one.
//!
//! A condition is a list of claims, all of which hold: `x = y`, `x != y`, `P(x, y)`, `!P(x)`,
//! `true`, with brackets around any. Values are names, constants (`"text"` or numbers), calls
//! `f(x, y)`, `_1` (some value) and the content of a cell before and after the step. How the last
//! is written, what separates claims, and whether there is `null` is the [`Dialect`].
//!
//! ```
//! use tickbound_reo::constraint::{Constraint, Literal, Term};
//! use tickbound_reo::symbol::Symbols;
//! use tickbound_reo::syntax::condition;
//!
//! let mut symbols = Symbols::new();
//! let (a, m) = (symbols.name("a"), symbols.cell("m"));
//! let put = Constraint::new([Literal::Equal(Term::Datum(a), Term::After(m))]);
//! assert_eq!(condition::text(&put, &symbols), "a = $m'");
//! let claims = condition::parse("a = $m'").map_err(|e| e.to_string())?;
//! assert_eq!(condition::constraint(&claims, &mut symbols), put);
//! # Ok::<(), String>(())
//! ```

mod claim;
mod read;
mod write;

pub use claim::{Claim, Claimed, Value, constraint};
pub use read::{Dialect, claims, parse, value};
pub(crate) use write::claims_text;
pub use write::text;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::Symbols;

    fn read(text: &str) -> Result<String, String> {
        let claims = parse(text).map_err(|e| e.to_string())?;
        Ok(claims_text(&claims, false))
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
        ] {
            assert_eq!(read(text), Ok(text.into()));
        }
        assert_eq!(read("(a=b && !(P(x)))&(true)"), Ok("a = b & !P(x)".into()));
        assert_eq!(
            read("!(a = b) & !(a != c) & p(true)"),
            Ok("a != b & a = c & p(\"true\")".into())
        );
    }

    #[test]
    fn refused_conditions_say_where() {
        for (text, error) in [
            (
                "",
                "1:1: the end of the text where a value (a name, a constant, `$cell` or `f(...)`) should stand",
            ),
            ("a", "1:2: the end of the text where `=` or `!=` should stand"),
            ("a = b c", "1:7: `c` where `&` should stand"),
            ("a = b, c = d", "1:6: `,` where `&` should stand"),
            ("P(a) | Q(a)", "1:6: a step has no `or`; write one step for each case"),
            ("!(P(a) & Q(a))", "1:15: a step has no `or`; write one step for each case"),
            ("false", "1:1: `false` never holds; leave the step out"),
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
    }

    #[test]
    fn plain_words_are_written_as_constraints_are() {
        let mut symbols = Symbols::new();
        for text in ["a = $m'", "$m = b & P(f(a), 3)", "_0 != \"x\"", "true"] {
            let claims = parse(text).unwrap_or_else(|e| panic!("{e}"));
            let constraint = constraint(&claims, &mut symbols);
            assert_eq!(super::text(&constraint, &symbols), constraint.text(&symbols));
        }
    }
}
