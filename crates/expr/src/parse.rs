//! Reading expressions and parameter domains from text, with [`winnow`].
//!
//! Grammar, loosest first: `a if c else b`, `or`, `and`, `not`, comparisons (chained as in Python:
//! `1 < x <= 8`), `+ -`, `* / // %`, unary `-`, `**` (to the right), then integers (`_` may
//! separate digits), names, `True`, `False`, calls of the built-in functions and brackets.
//! Conditions of T1 files are in Python itself ([`parse_python`]): `in`, `not in`, `int`, `float`,
//! `bool`, `math.ceil`, `math.floor`, `min`, `max`, `sum`, `len`, `any` and `all` of a list, and
//! all notations of numbers are read as what they mean, exactly.
//! Text longer than [`MAX_LENGTH`] or nested deeper than [`MAX_DEPTH`] is refused, so that no input
//! can exhaust the stack.

use thiserror::Error;
use winnow::ascii::multispace0;
use winnow::combinator::{
    alt, cut_err, delimited, fail, not, opt, preceded, separated, terminated,
};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::stream::Stateful;
use winnow::token::{one_of, take_while};

use super::domain::Domain;
use super::expr::{BinaryOp, Expr, Function};
use super::hint::{fix, word_char};
use super::python;

/// Longest text of one expression, in bytes.
pub const MAX_LENGTH: usize = 2_000;
/// Deepest nesting of brackets, signs and conditionals in one expression.
pub const MAX_DEPTH: usize = 48;
/// Largest operand that is copied, such as one in the middle of a chain of comparisons, in
/// operators, numbers and names.
const MAX_COPIED: usize = 200;

/// Why a text is not an expression or a domain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseError {
    /// The text is no sentence of the grammar.
    #[error("`{text}` is not {expected}: stuck at `{rest}` (column \
        {column}){}", if fix.is_empty() { String::new() } else { format!("; {fix}") })]
    Syntax {
        /// What was read.
        text: String,
        /// What it should have been.
        expected: &'static str,
        /// The part that could not be read, shortened.
        rest: String,
        /// Where that part begins, counted in characters from 1.
        column: usize,
        /// What to write instead, where that part is of another language; may be empty.
        fix: &'static str,
    },
    /// The text is too long.
    #[error(
        "expression of {0} bytes; the longest allowed is {MAX_LENGTH}: split it with `definitions`"
    )]
    TooLong(usize),
    /// The text is nested too deeply.
    #[error("expression nested deeper than {MAX_DEPTH}: split it with `definitions`")]
    TooDeep,
}

/// What an expression is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// That of problem files.
    Problem,
    /// Python, as in the conditions of T1 files.
    Python,
}

type Input<'s> = Stateful<&'s str, Dialect>;
type PResult<T> = Result<T, ErrMode<ContextError>>;

/// Reads one expression.
///
/// # Errors
/// What is wrong with the text and where.
pub fn parse(text: &str) -> Result<Expr<String>, ParseError> {
    whole(text, Dialect::Problem, "an expression", conditional)
}

/// Reads one expression in Python, whose `/` is exact: what more it has than ours becomes what ours
/// has.
///
/// # Errors
/// What is wrong with the text and where.
pub fn parse_python(text: &str) -> Result<Expr<String>, ParseError> {
    whole(text, Dialect::Python, "an expression", conditional)
}

/// Reads one parameter domain: `powers_of_two(a, b)`, `range(a, b)`, `range(a, b, step)`,
/// `divisors(n)` or `[a, b, ...]`.
///
/// # Errors
/// What is wrong with the text and where.
pub fn parse_domain(text: &str) -> Result<Domain<String>, ParseError> {
    let expected = "a domain (a list, powers_of_two(a, b), range(a, b, step) or divisors(n))";
    whole(text, Dialect::Problem, expected, domain)
}

fn whole<T>(
    text: &str,
    dialect: Dialect,
    expected: &'static str,
    mut parser: impl FnMut(&mut Input<'_>) -> PResult<T>,
) -> Result<T, ParseError> {
    if text.len() > MAX_LENGTH {
        return Err(ParseError::TooLong(text.len()));
    }
    if nesting(text) > MAX_DEPTH {
        return Err(ParseError::TooDeep);
    }
    let mut input = Input { input: text, state: dialect };
    let read = preceded(multispace0, |i: &mut Input<'_>| parser(i)).parse_next(&mut input);
    let rest = input.input;
    match read {
        Ok(value) if rest.is_empty() => Ok(value),
        _ => Err(ParseError::Syntax {
            text: text.chars().take(80).collect(),
            expected,
            rest: if rest.is_empty() { "the end".into() } else { rest.chars().take(20).collect() },
            column: text[..text.len() - rest.len()].chars().count() + 1,
            fix: fix(&text[..text.len() - rest.len()], rest),
        }),
    }
}

/// An upper bound on how deep the parser will call itself: brackets that are open at once, and
/// every word or sign that makes it look one level down.
fn nesting(text: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0usize);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    let words = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|w| matches!(*w, "not" | "else"))
        .count();
    let signs = text
        .split(|c: char| c != '-' && c != '+' && !c.is_whitespace())
        .map(|run| run.matches(['-', '+']).count())
        .max()
        .unwrap_or(0);
    deepest + words + signs + text.matches("**").count()
}

fn token<'s, O>(
    inner: impl Parser<Input<'s>, O, ErrMode<ContextError>>,
) -> impl Parser<Input<'s>, O, ErrMode<ContextError>> {
    terminated(inner, multispace0)
}

/// A keyword: the word, and no longer name that begins with it.
fn keyword<'s>(word: &'static str) -> impl Parser<Input<'s>, (), ErrMode<ContextError>> {
    token((word, not(one_of(word_char))).void())
}

fn identifier(i: &mut Input<'_>) -> PResult<String> {
    let name = (one_of(|c: char| c.is_ascii_alphabetic() || c == '_'), take_while(0.., word_char))
        .take()
        .parse_next(i)?;
    if matches!(name, "if" | "else" | "and" | "or" | "not") {
        return fail.parse_next(i);
    }
    multispace0.parse_next(i)?;
    Ok(name.to_owned())
}

fn conditional(i: &mut Input<'_>) -> PResult<Expr<String>> {
    let value = disjunction(i)?;
    if opt(keyword("if")).parse_next(i)?.is_none() {
        return Ok(value);
    }
    let condition = cut_err(disjunction).parse_next(i)?;
    cut_err(keyword("else")).parse_next(i)?;
    let other = cut_err(conditional).parse_next(i)?;
    Ok(Expr::conditional(condition, value, other))
}

/// One or more of `operand`, joined by what `operator` reads, grouped to the left.
fn left_chain<'s>(
    i: &mut Input<'s>,
    mut operand: impl FnMut(&mut Input<'s>) -> PResult<Expr<String>>,
    mut operator: impl FnMut(&mut Input<'s>) -> PResult<BinaryOp>,
) -> PResult<Expr<String>> {
    let mut left = operand(i)?;
    while let Some(op) = opt(|i: &mut Input<'s>| operator(i)).parse_next(i)? {
        let right = cut_err(|i: &mut Input<'s>| operand(i)).parse_next(i)?;
        left = Expr::binary(op, left, right);
    }
    Ok(left)
}

fn disjunction(i: &mut Input<'_>) -> PResult<Expr<String>> {
    left_chain(i, conjunction, |i| keyword("or").value(BinaryOp::Or).parse_next(i))
}

fn conjunction(i: &mut Input<'_>) -> PResult<Expr<String>> {
    left_chain(i, negation, |i| keyword("and").value(BinaryOp::And).parse_next(i))
}

fn negation(i: &mut Input<'_>) -> PResult<Expr<String>> {
    if opt(keyword("not")).parse_next(i)?.is_some() {
        return Ok(Expr::Not(Box::new(cut_err(negation).parse_next(i)?)));
    }
    comparison(i)
}

/// `a < b <= c` means `a < b and b <= c`, as in Python. Operands in the middle are copied, and may
/// hold chains themselves, so they must be small.
fn comparison(i: &mut Input<'_>) -> PResult<Expr<String>> {
    let mut left = sum(i)?;
    let mut chain = None;
    loop {
        let start = *i;
        let (link, right) = if let Some(op) = opt(token(comparator)).parse_next(i)? {
            let right = cut_err(sum).parse_next(i)?;
            (Expr::binary(op, left.clone(), right.clone()), Some(right))
        } else if let Some(is_in) = opt(membership).parse_next(i)? {
            let among = cut_err(|i: &mut Input<'_>| among(i, &left)).parse_next(i)?;
            (if is_in { among } else { Expr::Not(Box::new(among)) }, None)
        } else {
            return Ok(chain.unwrap_or(left));
        };
        if chain.is_some() && left.size() > MAX_COPIED {
            return stuck(i, start);
        }
        chain = Some(match chain {
            None => link,
            Some(chain) => Expr::binary(BinaryOp::And, chain, link),
        });
        match right {
            Some(right) => left = right,
            // Nothing is compared with a list.
            None => return Ok(chain.unwrap_or(left)),
        }
    }
}

/// Python's `in` (true) or `not in` (false).
fn membership(i: &mut Input<'_>) -> PResult<bool> {
    if i.state != Dialect::Python {
        return fail.parse_next(i);
    }
    let is_in = opt(keyword("not")).parse_next(i)?.is_none();
    keyword("in").parse_next(i)?;
    Ok(is_in)
}

/// That `left` is among the numbers that follow: a list, a tuple, a set or a range.
fn among(i: &mut Input<'_>, left: &Expr<String>) -> PResult<Expr<String>> {
    if left.size() > MAX_COPIED {
        return fail.parse_next(i);
    }
    let wrapper = alt((keyword("list"), keyword("tuple"), keyword("set"), keyword("frozenset")));
    if opt((wrapper, token("("))).parse_next(i)?.is_some() {
        let among = among(i, left)?;
        return token(")").value(among).parse_next(i);
    }
    if opt(keyword("range")).parse_next(i)?.is_some() {
        return within_range(i, left);
    }
    let items = listed(i)?;
    let equal = |item| Expr::binary(BinaryOp::Eq, left.clone(), item);
    let any = items.into_iter().map(equal).reduce(|any, e| Expr::binary(BinaryOp::Or, any, e));
    Ok(any.unwrap_or(Expr::Int(0)))
}

/// The elements of a list, a tuple or a set of Python.
fn listed(i: &mut Input<'_>) -> PResult<Vec<Expr<String>>> {
    let close = match token(one_of(['[', '(', '{'])).parse_next(i)? {
        '[' => "]",
        '(' => ")",
        _ => "}",
    };
    let items: Vec<Expr<String>> = separated(0.., conditional, token(",")).parse_next(i)?;
    let last = opt(token(",")).parse_next(i)?;
    let is_number = close == ")" && items.len() == 1 && last.is_none();
    token(close).parse_next(i)?;
    match is_number || (items.is_empty() && (last.is_some() || close == "}")) {
        true => fail.parse_next(i),
        false => Ok(items),
    }
}

/// That `left` is in Python's `range(...)`, whose step must be a number above 0.
fn within_range(i: &mut Input<'_>, left: &Expr<String>) -> PResult<Expr<String>> {
    let bounds: Vec<Expr<String>> =
        delimited(token("("), separated(1..=3, conditional, token(",")), token(")"))
            .parse_next(i)?;
    let mut bounds = bounds.into_iter();
    let (first, end, step) = match (bounds.next(), bounds.next(), bounds.next()) {
        (Some(end), None, None) => (Expr::Int(0), end, Expr::Int(1)),
        (Some(first), Some(end), step) => (first, end, step.unwrap_or(Expr::Int(1))),
        _ => return fail.parse_next(i),
    };
    if !matches!(step, Expr::Int(1..)) || first.size() > MAX_COPIED {
        return fail.parse_next(i);
    }
    let at_least = Expr::binary(BinaryOp::Le, first.clone(), left.clone());
    let below = Expr::binary(BinaryOp::Lt, left.clone(), end);
    let beyond = Expr::binary(BinaryOp::Sub, left.clone(), first);
    let on_step =
        Expr::binary(BinaryOp::Eq, Expr::binary(BinaryOp::Rem, beyond, step), Expr::Int(0));
    let all = Expr::binary(BinaryOp::And, at_least, below);
    Ok(Expr::binary(BinaryOp::And, all, on_step))
}

fn comparator(i: &mut Input<'_>) -> PResult<BinaryOp> {
    alt((
        "==".value(BinaryOp::Eq),
        "!=".value(BinaryOp::Ne),
        "<=".value(BinaryOp::Le),
        ">=".value(BinaryOp::Ge),
        "<".value(BinaryOp::Lt),
        ">".value(BinaryOp::Gt),
    ))
    .parse_next(i)
}

fn sum(i: &mut Input<'_>) -> PResult<Expr<String>> {
    left_chain(i, product, |i| {
        token(alt(("+".value(BinaryOp::Add), "-".value(BinaryOp::Sub)))).parse_next(i)
    })
}

fn product(i: &mut Input<'_>) -> PResult<Expr<String>> {
    left_chain(i, signed, |i| {
        token(alt((
            "//".value(BinaryOp::FloorDiv),
            "/".value(BinaryOp::Div),
            "%".value(BinaryOp::Rem),
            ("*", not("*")).value(BinaryOp::Mul),
        )))
        .parse_next(i)
    })
}

fn signed(i: &mut Input<'_>) -> PResult<Expr<String>> {
    if opt(token("-")).parse_next(i)?.is_some() {
        return Ok(match cut_err(signed).parse_next(i)? {
            Expr::Int(v) => Expr::Int(-v),
            other => Expr::Neg(Box::new(other)),
        });
    }
    if i.state == Dialect::Python && opt(token("+")).parse_next(i)?.is_some() {
        return cut_err(signed).parse_next(i);
    }
    power(i)
}

fn power(i: &mut Input<'_>) -> PResult<Expr<String>> {
    let base = atom(i)?;
    if opt(token("**")).parse_next(i)?.is_some() {
        let exponent = cut_err(signed).parse_next(i)?;
        return Ok(Expr::binary(BinaryOp::Pow, base, exponent));
    }
    Ok(base)
}

fn integer(i: &mut Input<'_>) -> PResult<i64> {
    let digits = (one_of('0'..='9'), take_while(0.., word_char)).take();
    let whole = match i.state {
        Dialect::Problem => |text: &str| text.replace('_', "").parse().ok(),
        Dialect::Python => python::whole,
    };
    digits.verify_map(whole).parse_next(i)
}

/// A decimal of Python, as the fraction that it is.
fn decimal(i: &mut Input<'_>) -> PResult<Expr<String>> {
    let digits = |least: usize| take_while(least.., |c: char| c.is_ascii_digit());
    let exponent = preceded(one_of(['e', 'E']), (opt(one_of(['+', '-'])), digits(1)).take());
    let (whole, part, exponent, ()): (&str, Option<&str>, Option<&str>, _) =
        (digits(0), opt(preceded('.', digits(0))), opt(exponent), not(one_of(word_char)))
            .parse_next(i)?;
    let is_decimal = i.state == Dialect::Python && (part, exponent) != (None, None);
    let read = python::decimal(whole, part.unwrap_or_default(), exponent.unwrap_or("0"));
    read.filter(|_| is_decimal).map_or_else(|| fail.parse_next(i), Ok)
}

fn atom(i: &mut Input<'_>) -> PResult<Expr<String>> {
    alt((
        token(decimal),
        token(integer).map(Expr::Int),
        delimited(token("("), cut_err(conditional), cut_err(token(")"))),
        name_or_call,
    ))
    .parse_next(i)
}

fn name_or_call(i: &mut Input<'_>) -> PResult<Expr<String>> {
    let start = *i;
    let mut name = identifier(i)?;
    if i.state == Dialect::Python && name == "math" && opt(token(".")).parse_next(i)?.is_some() {
        name += ".";
        name += &identifier(i)?;
    }
    if opt(token("(")).parse_next(i)?.is_none() {
        return Ok(match name.as_str() {
            "True" => Expr::Int(1),
            "False" => Expr::Int(0),
            _ => Expr::Name(name),
        });
    }
    let mut elements = opt(terminated(listed, token(")")));
    let elements = if i.state == Dialect::Python { elements.parse_next(i)? } else { None };
    if let Some(read) = elements.map(|elements| python::folded(&name, elements)) {
        return read.ok_or(()).or_else(|()| stuck(i, start));
    }
    let args: Vec<Expr<String>> = cut_err(separated(0.., conditional, token(","))).parse_next(i)?;
    cut_err(token(")")).parse_next(i)?;
    match Function::by_name(&name) {
        Some(f) if (f.arity().0..=f.arity().1).contains(&args.len()) => Ok(Expr::Call(f, args)),
        _ => match <[Expr<String>; 1]>::try_from(args) {
            Ok([of]) if i.state == Dialect::Python && of.size() <= MAX_COPIED => {
                python::rounded(&name, of).ok_or(())
            }
            _ => Err(()),
        }
        .or_else(|()| stuck(i, start)),
    }
}

/// Goes back to `start`, and fails there.
fn stuck<'s, T>(i: &mut Input<'s>, start: Input<'s>) -> PResult<T> {
    *i = start;
    cut_err(fail).parse_next(i)
}

fn domain(i: &mut Input<'_>) -> PResult<Domain<String>> {
    let start = *i;
    if opt(token("[")).parse_next(i)?.is_some() {
        let items: Vec<_> = separated(0.., conditional, token(",")).parse_next(i)?;
        opt(token(",")).parse_next(i)?;
        cut_err(token("]")).parse_next(i)?;
        return Ok(Domain::List(items));
    }
    let name = identifier(i)?;
    token("(").parse_next(i)?;
    let args: Vec<Expr<String>> = cut_err(separated(1.., conditional, token(","))).parse_next(i)?;
    cut_err(token(")")).parse_next(i)?;
    let count = args.len();
    let mut args = args.into_iter();
    let mut next = || args.next().unwrap_or(Expr::Int(1));
    Ok(match (name.as_str(), count) {
        ("powers_of_two", 2) => Domain::PowersOfTwo(next(), next()),
        ("range", 2 | 3) => Domain::Range { first: next(), last: next(), step: next() },
        ("divisors", 1) => Domain::Divisors(next()),
        _ => return stuck(i, start),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> i64 {
        let e = parse(text).unwrap_or_else(|e| panic!("{e}"));
        e.resolve(&mut |n| (n == "x").then_some(0)).expect("only x").eval(&[10]).expect("a value")
    }

    #[test]
    fn values_follow_python() {
        for (text, expected) in [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("-7 // 2", -4),
            ("-7 % 3", 2),
            ("7 % -3", -2),
            ("2 ** 3 ** 2", 512),
            ("-2 ** 2", -4),
            ("2 ** -0", 1),
            ("1 if x > 3 else 2 if x > 1 else 3", 1),
            ("not x == 10 or x % 2 == 0 and 1", 1),
            ("1 < x <= 10", 1),
            ("1 < x < 10", 0),
            ("min(3, x, 5) + max(x, 11) - abs(-4)", 10),
            ("ceil_div(x, 3) * 100 + ceil_div(-x, 3)", 397),
            ("1_000 - -x", 1010),
            ("True + False", 1),
            ("0 and 1 // 0", 0),
            ("1 or 1 // 0", 1),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn pythons_own_notations() {
        for (text, expected) in [
            ("+x == +10 - -+0", 1),
            ("x == 0xA and x == 0b1010 and x == 0o12 and x == 0Xa and x == 1_0", 1),
            ("x == 1e1 and x / 4 == 25e-1 and x == .1e2 and x == 1.0e+1", 1),
            ("min([x, 3]) + max((x, 11)) + sum([x, 1, 2]) + len([x, x]) + sum([])", 29),
            ("any([x == 1, x]) + all((x, x > 3)) + any([]) + all([]) + bool(x)", 4),
            ("max((x), 3)", 10),
            ("x in list([1, 10]) and x not in set((1, 2)) and x in tuple(range(11))", 1),
            ("x ** -1 == 0.1 and 2 ** (x - 11) == 0.5 and (-2) ** -2 == 1 / 4", 1),
        ] {
            let e = parse_python(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            let e = e.resolve(&mut |n| (n == "x").then_some(0)).expect("only x");
            assert_eq!(e.eval_exact(&[10]).map(|r| r.to_integer()), Ok(expected), "{text}");
            assert_eq!(e.holds(&[10]), Ok(expected != 0), "{text}");
        }
        for text in ["+x", "0xA", "1e1", "max([x])", "1 in list([1])"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse_python(&"+".repeat(1_990)), Err(ParseError::TooDeep));
    }

    #[test]
    fn refused_texts_say_where() {
        for (text, column) in [
            ("", 1),
            ("1 +", 4),
            ("a b", 3),
            ("f(1)", 1),
            ("(1", 3),
            ("1 if 2", 7),
            ("min()", 1),
            ("9999999999999999999", 1),
            ("1 = 2", 3),
            ("12x", 1),
        ] {
            match parse(text) {
                Err(ParseError::Syntax { column: c, .. }) => assert_eq!(c, column, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert_eq!(parse(&"(".repeat(60)), Err(ParseError::TooDeep));
        assert_eq!(parse(&"- ".repeat(900)), Err(ParseError::TooDeep));
        assert_eq!(parse(&"1+".repeat(1500)), Err(ParseError::TooLong(3000)));
    }

    #[test]
    fn what_other_languages_have_is_answered() {
        for (text, fix) in [
            ("a > 1 && b", "write `and`"),
            ("a || b", "write `or`"),
            ("!a", "write `not`"),
            ("a = 2", "write `==`"),
            ("a ? 1 : 0", "write `a if condition else b`"),
            ("a << 2 > 1", "write a * 2 ** n instead of a << n"),
            ("a >> 2", "write a // 2 ** n instead of a >> n"),
            ("1.5 * a", "there are whole numbers only"),
            ("log2(a) < 3", "the functions are min and max of 1 to 64 numbers, abs and ceil_div"),
            ("a ^ 2", "write a ** n for a power"),
            ("a is not b", "write `==` for `is`, and `!=` for `is not`"),
            ("a is b", "write `==` for `is`, and `!=` for `is not`"),
            ("int(a / b) == 1", "write `a // b` for `int(a / b)`"),
            ("round(a / b) == 1", "write `(2 * a + b) // (2 * b)` for `round(a / b)`"),
            ("float(a) == 1", "leave `float` out, as `/` is exact in conditions"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.ends_with(&format!("); {fix}")), "{said}");
        }
        assert!(parse("1 +").unwrap_err().to_string().ends_with("(column 4)"));
    }

    #[test]
    fn python_is_read_as_what_it_means() {
        let holds = |text: &str, x: i64| {
            let e = parse_python(text).unwrap_or_else(|e| panic!("{e}"));
            let own = parse(&e.to_string()).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(own, e, "{text}");
            e.resolve(&mut |n| (n == "x").then_some(0))
                .expect("only x")
                .holds(&[x])
                .expect("a value")
        };
        // For each x from -5 to 5 whether the condition holds, as Python 3 evaluates it.
        for (text, expected) in [
            ("x in [1, 3]", "......1.1.."),
            ("x not in (1, -3,)", "11.111.1111"),
            ("x in {2}", ".......1..."),
            ("x in []", "..........."),
            ("x in ()", "..........."),
            ("x in range(-2, 3)", "...11111..."),
            ("x in range(3)", ".....111..."),
            ("x in range(-4, 4, 3)", ".1..1..1..."),
            ("x / 2 in range(3)", ".....1.1.1."),
            ("0 < x in [1, -1]", "......1...."),
            ("not x in [1] and x > 0", ".......1111"),
            ("int(x / 2) == -1", "..11......."),
            ("x // 2 == -1", "...11......"),
            ("x % 3 == 2", ".1..1..1..1"),
            ("x % -3 == -2", "1..1..1..1."),
            ("math.ceil(x / 2) == -1", "..11......."),
            ("math.floor(x / 2) == -1", "...11......"),
            ("float(x) / 2 >= 1.5", "........111"),
            ("x == 2.", ".......1..."),
            ("x * .5 == 0.50", "......1...."),
            ("-1 < x / 2 <= 1", "....1111..."),
            ("(x / 2) ** 2 <= 1", "...11111..."),
            ("(x / 2) ** 3 < -1", "111........"),
            ("(-2) ** abs(x) < 0 and x / 1 > 0", "......1.1.1"),
            ("x != 0 and (x / 2) ** -1 < -1", "....1......"),
        ] {
            let found: String = (-5..=5).map(|x| if holds(text, x) { '1' } else { '.' }).collect();
            assert_eq!(found, expected, "{text}");
        }
        for text in ["x in 3", "x in (3)", "x in {}", "x in range(1, 9, x)", "x in [1", "x is 1"] {
            assert!(parse_python(text).is_err(), "{text}");
        }
        for text in ["x in [1]", "x in range(1, 9)", "x not in [1]"] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains("write `a == 1 or a == 3` for"), "{said}");
        }
        let nested = |n: usize| "int(".repeat(n) + "x / 2" + &")".repeat(n);
        assert!(parse_python(&nested(40)).is_err(), "what is copied is small");
    }

    #[test]
    fn printed_expressions_read_back() {
        for text in [
            "a - (b - c) - d",
            "(a + b) * c // (d % e)",
            "-(a + b) ** 2",
            "(1 if a else 2) + 3",
            "not (a and (b or c))",
            "(a < b) == (c < d)",
            "1 if a else 2 if b else 3",
            "min(a, b + 1) - (-a)",
            "(a ** b) ** c",
        ] {
            let once = parse(text).unwrap_or_else(|e| panic!("{e}"));
            let again = parse(&once.to_string()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(once, again, "{text} printed as {once}");
        }
    }
}
