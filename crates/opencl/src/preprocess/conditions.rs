//! Conditions of `#if` whose truth is a symbol.
//!
//! `#if (N % (WG * TILE)) != 0` depends on three symbols, with a text for each of their values,
//! although only two texts differ. So a word and the condition stand in front of such a line when
//! macros are expanded ([`Conditions::marked`]). What the preprocessor makes of them is read as an
//! expression over open symbols ([`Conditions::learn`]), whose truth is a structural symbol. Then
//! the line is `#if if_line_N`, and the macros in the condition stay open.
//!
//! A condition is rejected, so that its symbols are structural, if it is not an expression over
//! symbols, or if it is not the same everywhere: where it mentions what is structural, or macros
//! that are defined differently.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use tickbound_expr::{BinaryOp, Expr};

use super::text;
use crate::lines::behind_directive;
use crate::outline::{Token, tokens, without_comments};
use crate::request::{ReadRequest, Symbol};
use crate::steps::SymbolExpr;

/// Written in front of a condition: this, the numbers of its file and line, and its text. Its
/// name is a macro.
const WORD: &str = "tickbound_if_ ";

/// Conditions under their names.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    known: IndexMap<String, Condition>,
    rejected: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    /// Its text once macros are expanded.
    text: String,
    value: SymbolExpr,
    /// The name of the first condition with this value.
    symbol: String,
}

impl Conditions {
    /// The source with the word in front of each `#if`, and names instead of known conditions.
    pub(super) fn marked(&self, source: &str) -> String {
        let plain = without_comments(source);
        let (mut file, mut line) = (0, 0_u32);
        let mut marked = String::with_capacity(source.len());
        let mut goes_on = false;
        for (own, plain) in source.split_inclusive('\n').zip(plain.lines()) {
            line += 1;
            let continued = std::mem::replace(&mut goes_on, plain.trim_end().ends_with('\\'));
            if let Some((number, _)) = text::marker(plain) {
                (file, line) = (file + 1, number.saturating_sub(1));
            }
            match behind_directive(plain, "if").filter(|_| !continued && !goes_on) {
                None => marked += own,
                Some(condition) => {
                    let name = name(file, line);
                    let asked = self.known.get(&name).map_or(condition, |known| &known.symbol);
                    marked += &format!("{WORD}{file} {line} {condition}\n# {line}\n#if {asked}\n");
                }
            }
        }
        marked
    }

    /// Takes up conditions that were [`found`]. Gives whether one is known now that was not before,
    /// or the other way round.
    pub(crate) fn learn(&mut self, found: &[(String, String)], request: &ReadRequest) -> bool {
        let mut changed = false;
        for (name, text) in found {
            if self.rejected.contains(name)
                || self.known.get(name).is_some_and(|known| known.text == *text)
            {
                continue;
            }
            let all = self.known.len();
            self.known.retain(|own, known| own != name && known.symbol != *name);
            let before = self.known.len() < all;
            let value = read(text).filter(|value| !before && saves(value, request));
            changed |= before || value.is_some();
            match value {
                Some(value) => {
                    let same = self.known.values().find(|known| known.value == value);
                    let symbol = same.map_or(name, |known| &known.symbol).clone();
                    let condition = Condition { text: text.clone(), value, symbol };
                    self.known.insert(name.clone(), condition);
                }
                None => _ = self.rejected.insert(name.clone()),
            }
        }
        changed
    }

    /// The conditions as expressions over symbols.
    pub(crate) fn values(&self) -> IndexMap<String, SymbolExpr> {
        let different = self.known.iter().filter(|(name, known)| **name == known.symbol);
        different.map(|(name, known)| (name.clone(), known.value.clone())).collect()
    }
}

/// The conditions in an expanded text: the name of each, and what stands behind it.
pub(super) fn found(text: &str, open: &[String]) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix(WORD));
    let condition = |line: &str| {
        let (file, rest) = line.split_once(' ')?;
        let (line, condition) = rest.split_once(' ')?;
        let name = name(file.parse().ok()?, line.parse().ok()?);
        Some((name, text::name(condition, open)))
    };
    let all: BTreeMap<_, _> = lines.filter_map(condition).collect();
    all.into_iter().collect()
}

/// An expanded text without the word and what stands behind it.
pub(super) fn unmarked(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with(WORD));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The name of the condition in a line, which is that of a macro too.
fn name(file: u32, line: u32) -> String {
    match file {
        0 => format!("if_line_{line}"),
        _ => format!("if_line_{line}_of_{file}"),
    }
}

/// Whether a condition is one of symbols, and has fewer values than they have.
fn saves(condition: &SymbolExpr, request: &ReadRequest) -> bool {
    let mut names = BTreeSet::new();
    condition.names(&mut |name| _ = names.insert(name.clone()));
    let values: Option<Vec<&Symbol>> = names.iter().map(|name| request.symbols.get(name)).collect();
    let many = |all: &Symbol| all.greatest.saturating_sub(all.least) > 1;
    values.is_some_and(|values| values.len() > 1 || values.into_iter().any(many))
}

/// The value of a condition that was [read] as the preprocessor computes it, if it has one.
pub(crate) fn c_value(condition: &SymbolExpr, value: &impl Fn(&str) -> Option<i64>) -> Option<i64> {
    let of = |part: &SymbolExpr| c_value(part, value);
    Some(match condition {
        Expr::Int(number) => *number,
        Expr::Name(name) => value(name)?,
        Expr::Neg(a) => of(a)?.checked_neg()?,
        Expr::Not(a) => i64::from(of(a)? == 0),
        Expr::Binary(BinaryOp::And, a, b) => i64::from(of(a)? != 0 && of(b)? != 0),
        Expr::Binary(BinaryOp::Or, a, b) => i64::from(of(a)? != 0 || of(b)? != 0),
        Expr::Binary(op, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            match op {
                BinaryOp::Add => a.checked_add(b)?,
                BinaryOp::Sub => a.checked_sub(b)?,
                BinaryOp::Mul => a.checked_mul(b)?,
                BinaryOp::FloorDiv => a.checked_div(b)?,
                BinaryOp::Rem => a.checked_rem(b)?,
                BinaryOp::Eq => i64::from(a == b),
                BinaryOp::Ne => i64::from(a != b),
                BinaryOp::Lt => i64::from(a < b),
                BinaryOp::Le => i64::from(a <= b),
                BinaryOp::Gt => i64::from(a > b),
                BinaryOp::Ge => i64::from(a >= b),
                _ => return None,
            }
        }
        Expr::Conditional(..) | Expr::Call(..) => return None,
    })
}

/// The truth of a condition, 0 or 1; `None` if it has operators other than those of [`LEVELS`].
fn read(text: &str) -> Option<SymbolExpr> {
    let tokens = tokens(text);
    let mut rest = tokens.as_slice();
    let condition = binary(&mut rest, 0)?;
    let truth = SymbolExpr::binary(BinaryOp::Ne, condition, SymbolExpr::Int(0));
    rest.is_empty().then_some(truth)
}

/// Operators of C, those that bind least first.
const LEVELS: [&[(&str, BinaryOp)]; 6] = [
    &[("||", BinaryOp::Or)],
    &[("&&", BinaryOp::And)],
    &[("==", BinaryOp::Eq), ("!=", BinaryOp::Ne)],
    &[("<", BinaryOp::Lt), ("<=", BinaryOp::Le), (">", BinaryOp::Gt), (">=", BinaryOp::Ge)],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Sub)],
    &[("*", BinaryOp::Mul), ("/", BinaryOp::FloorDiv), ("%", BinaryOp::Rem)],
];

fn binary(rest: &mut &[Token], level: usize) -> Option<SymbolExpr> {
    let Some(operators) = LEVELS.get(level) else { return unary(rest) };
    let mut left = binary(rest, level + 1)?;
    while let Some(token) = rest.first()
        && let Some((_, op)) = operators.iter().find(|(symbol, _)| token.is(symbol))
    {
        *rest = &rest[1..];
        left = SymbolExpr::binary(*op, left, binary(rest, level + 1)?);
    }
    Some(left)
}

fn unary(rest: &mut &[Token]) -> Option<SymbolExpr> {
    let (token, behind) = rest.split_first()?;
    *rest = behind;
    Some(match token {
        Token::Number(_) => SymbolExpr::Int(token.number()?),
        Token::Name(name) => SymbolExpr::Name(name.clone()),
        Token::Symbol(symbol) => match symbol.as_str() {
            "!" => SymbolExpr::Not(Box::new(unary(rest)?)),
            "-" => SymbolExpr::Neg(Box::new(unary(rest)?)),
            "+" => unary(rest)?,
            "(" => {
                let inside = binary(rest, 0)?;
                let (end, behind) = rest.split_first()?;
                *rest = behind;
                end.is(")").then_some(inside)?
            }
            _ => return None,
        },
        Token::Quoted(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ReadRequest {
        let symbols = [("N", 4), ("WG", 1024), ("flag", 1)];
        let symbol =
            |(name, greatest): (&str, i64)| (name.to_owned(), Symbol { least: 0, greatest });
        ReadRequest { symbols: symbols.map(symbol).into(), ..ReadRequest::default() }
    }

    #[test]
    fn operators_bind_as_in_c() {
        for (text, shown) in [
            ("((N%(WG*2)!=0) || !flag)", "(N % (WG * 2) != 0 or not flag) != 0"),
            ("N == 1 && WG > 2 || WG", "(N == 1 and WG > 2 or WG) != 0"),
            ("!N == WG - -1", "((not N) == WG - -1) != 0"),
            ("N < 1 == WG < 0x10u", "((N < 1) == (WG < 16)) != 0"),
        ] {
            assert_eq!(read(text).unwrap().to_string(), shown, "{text}");
        }
        for text in ["N & 1", "N ? 1 : 2", "f(N)", "N +", "(N", "1.5 < N", "N 2", "09 < N"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn divisions_round_to_zero() {
        let value = |text: &str| c_value(&read(text).unwrap(), &|_| Some(-7));
        assert_eq!(value("N / 2 == -3"), Some(1));
        assert_eq!(value("N % 4 == -3"), Some(1));
        assert_eq!(value("N != 0 || 1 % (N + 7)"), Some(1));
        assert_eq!(value("1 % (N + 7)"), None);
    }

    #[test]
    fn lines_are_marked() {
        let source = "#define N /* a\n#if b */ 3\n# if N > WG // c\n#if N \\\n > 1\n#ifdef WG\n\
                      # 1 \"b.cl\"\n#if !WG\r\nx\n";
        let mut conditions = Conditions::default();
        let found = [("if_line_3", "N > WG"), ("if_line_1_of_1", "2 > flag")];
        let found = found.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert!(conditions.learn(&found, &request()));
        assert_eq!(conditions.values().len(), 1);
        let marked = conditions.marked(source);
        let wanted = "#define N /* a\n#if b */ 3\ntickbound_if_ 0 3 N > WG\n# 3\n\
                      #if if_line_3\n#if N \\\n > 1\n#ifdef WG\n# 1 \"b.cl\"\n\
                      tickbound_if_ 1 1 !WG\n# 1\n#if !WG\nx\n";
        assert_eq!(marked, wanted);
        assert_eq!(unmarked(&marked).lines().count(), marked.lines().count() - 2);
    }

    #[test]
    fn equal_conditions_are_one() {
        let mut conditions = Conditions::default();
        let found = |line: u32, text: &str| [(format!("if_line_{line}"), text.to_owned())];
        assert!(conditions.learn(&found(1, "N % WG"), &request()));
        assert!(conditions.learn(&found(2, "(N % WG)"), &request()));
        assert_eq!(conditions.values().keys().collect::<Vec<_>>(), ["if_line_1"]);
        let marked = conditions.marked("#if N % WG\n#if (N % WG)\n");
        assert_eq!(marked.matches("#if if_line_1\n").count(), 2);
        // Without the first one, the second one has to be learned again.
        assert!(conditions.learn(&found(1, "N % 32"), &request()));
        assert!(conditions.values().is_empty());
        assert!(conditions.learn(&found(2, "(N % WG)"), &request()));
        assert_eq!(conditions.values().keys().collect::<Vec<_>>(), ["if_line_2"]);
    }

    #[test]
    fn what_differs_is_rejected() {
        let mut conditions = Conditions::default();
        let found = |text: &str| [("if_line_1".to_owned(), text.to_owned())];
        assert!(conditions.learn(&found("N % WG"), &request()));
        assert!(!conditions.learn(&found("N % WG"), &request()));
        assert!(!conditions.learn(&[("if_line_9".into(), "N % OTHER".into())], &request()));
        assert!(conditions.learn(&found("N % 32"), &request()));
        assert!(conditions.values().is_empty());
        assert!(!conditions.learn(&found("N % WG"), &request()));
    }
}
