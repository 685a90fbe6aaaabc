//! The grammar of formulas: `a & !b`, `G (a -> F b)`.

use thiserror::Error;
use winnow::ascii::multispace0;
use winnow::combinator::{alt, cut_err, delimited, fail, opt, preceded, repeat};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::token::take_while;

/// Deepest nesting of brackets and signs.
const MAX_DEPTH: usize = 64;

/// Why a text is not a formula.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct FormulaError(pub(super) String);

type Input<'s> = &'s str;
type PResult<T> = Result<T, ErrMode<ContextError>>;

#[derive(Debug, Clone)]
pub(super) enum Text {
    Word(String),
    Constant(bool),
    Not(Box<Text>),
    And(Box<Text>, Box<Text>),
    Or(Box<Text>, Box<Text>),
    Next(Box<Text>),
    Until(Box<Text>, Box<Text>),
    Release(Box<Text>, Box<Text>),
}

/// Reads a formula. Loosest first: `->` (to the right), `|`, `&`, `U` and `R`, the signs `! X F G`.
/// A letter is a sign only before something that it can speak of.
pub(super) fn parse(text: &str) -> Result<Text, FormulaError> {
    if depth(text) > MAX_DEPTH {
        return Err(FormulaError(format!("nested deeper than {MAX_DEPTH}")));
    }
    let mut rest = text;
    match implication(&mut rest) {
        Ok(formula) if rest.trim().is_empty() => Ok(formula),
        _ => {
            let read = &text[..text.len() - rest.trim_start().len()];
            let column = read.chars().count() + 1;
            let between = |c: char| c.is_whitespace() || "!(&|".contains(c);
            let word = read.trim_end().rsplit(between).next().unwrap_or_default();
            let fix = spelled(word).or_else(|| spelled(rest.trim_start()));
            let fix = fix.unwrap_or_else(|| GRAMMAR.to_owned());
            let text = shown(text);
            Err(FormulaError(format!("`{text}`: stuck at column {column}; {fix}")))
        }
    }
}

const GRAMMAR: &str = "write names with ! & | -> and brackets, such as `a -> !b`, and in --ltl \
    also X F G U R, such as `G (a -> F b)`";

/// Signs and words of other tools, and what is written here.
const ELSEWHERE: [(&str, &str); 24] = [
    ("[]", "G a"),
    ("<>", "F a"),
    ("<->", "(a -> b) & (b -> a)"),
    ("<=>", "(a -> b) & (b -> a)"),
    ("=>", "a -> b"),
    ("~", "!a"),
    ("()", "X a"),
    ("GF", "G F a"),
    ("FG", "F G a"),
    ("AG", "G a"),
    ("AF", "F a"),
    ("always", "G a"),
    ("globally", "G a"),
    ("eventually", "F a"),
    ("finally", "F a"),
    ("next", "X a"),
    ("until", "a U b"),
    ("V", "a R b"),
    ("release", "a R b"),
    ("W", "(a U b) | G a"),
    ("not", "!a"),
    ("and", "a & b"),
    ("or", "a | b"),
    ("implies", "a -> b"),
];

/// What to write instead of the sign or word of another tool with which `text` begins.
pub(super) fn spelled(text: &str) -> Option<String> {
    let is = |sign: &str| {
        let is_word = sign.starts_with(char::is_alphabetic);
        text.strip_prefix(sign).is_some_and(|rest| !is_word || !rest.starts_with(is_letter))
    };
    let (sign, ours) = ELSEWHERE.iter().find(|(sign, _)| is(sign))?;
    Some(format!("`{sign}` is written `{ours}` here; {GRAMMAR}"))
}

/// The beginning of a text, for messages.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

fn token<'s>(text: &'static str) -> impl Parser<Input<'s>, &'s str, ErrMode<ContextError>> {
    preceded(multispace0, text)
}

/// How deep signs, brackets and arrows are nested, before anything is read.
fn depth(text: &str) -> usize {
    let (mut deepest, mut here, mut signs) = (0, 0, 0);
    // How deep it is before each open bracket and the signs in front of it.
    let mut outer = Vec::new();
    let mut rest = text.trim_start();
    while let Some(letter) = rest.chars().next() {
        let word = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        let temporal = ["X", "F", "G"].contains(&&rest[..word]);
        rest = rest[word.max(letter.len_utf8())..].trim_start();
        match letter {
            _ if temporal => (here, signs) = (here + 1, signs + 1),
            '!' => (here, signs) = (here + 1, signs + 1),
            '(' => {
                outer.push(here - signs);
                (here, signs) = (here + 1, 0);
            }
            ')' => (here, signs) = (outer.pop().unwrap_or(0), 0),
            '>' => (here, signs) = (here + 1, 0),
            _ => (here, signs) = (here - signs, 0),
        }
        deepest = deepest.max(here);
    }
    deepest
}

// What must follow a sign is cut, so that errors are reported where they are.
fn implication(input: &mut Input) -> PResult<Text> {
    let all = |i: &mut Input<'_>| chain(i, ["&&", "&"], until, Text::And);
    let left = chain(input, ["||", "|"], all, Text::Or)?;
    let right = opt(preceded(token("->"), cut_err(implication))).parse_next(input)?;
    Ok(match right {
        Some(right) => Text::Or(Box::new(Text::Not(Box::new(left))), Box::new(right)),
        None => left,
    })
}

fn chain(
    input: &mut Input,
    [twice, sign]: [&'static str; 2],
    mut item: impl FnMut(&mut Input) -> PResult<Text>,
    make: fn(Box<Text>, Box<Text>) -> Text,
) -> PResult<Text> {
    let mut all = vec![item(input)?];
    let sign = alt((token(twice), token(sign)));
    let more: Vec<Text> = repeat(0.., preceded(sign, cut_err(item))).parse_next(input)?;
    all.extend(more);
    // In pairs, and pairs of pairs: long lists must not become deep trees.
    while all.len() > 1 {
        let (mut items, mut pairs) = (all.into_iter(), Vec::new());
        while let Some(one) = items.next() {
            pairs.push(match items.next() {
                Some(other) => make(Box::new(one), Box::new(other)),
                None => one,
            });
        }
        all = pairs;
    }
    all.pop().map_or_else(|| fail(input), Ok)
}

/// `U` and `R` have brackets around them where there are several.
fn until(input: &mut Input) -> PResult<Text> {
    let left = unary(input)?;
    Ok(match opt((operator(&["U", "R"]), unary)).parse_next(input)? {
        Some(("U", right)) => Text::Until(Box::new(left), Box::new(right)),
        Some((_, right)) => Text::Release(Box::new(left), Box::new(right)),
        None => left,
    })
}

fn unary(input: &mut Input) -> PResult<Text> {
    let not = preceded(token("!"), cut_err(unary)).map(|inner| Text::Not(Box::new(inner)));
    let bracket = delimited(token("("), cut_err(implication), cut_err(token(")")));
    alt((not, bracket, temporal, word)).parse_next(input)
}

/// `X`, `F` or `G` before what they speak of; alone they are names.
fn temporal(input: &mut Input) -> PResult<Text> {
    let (sign, inner) = (operator(&["X", "F", "G"]), unary).parse_next(input)?;
    let inner = Box::new(inner);
    Ok(match sign {
        "X" => Text::Next(inner),
        "F" => Text::Until(Box::new(Text::Constant(true)), inner),
        _ => Text::Release(Box::new(Text::Constant(false)), inner),
    })
}

fn operator<'s>(
    signs: &'static [&'static str],
) -> impl Parser<Input<'s>, &'s str, ErrMode<ContextError>> {
    letters.verify(|word: &str| signs.contains(&word))
}

fn word(input: &mut Input) -> PResult<Text> {
    letters.map(|word: &str| Text::Word(word.into())).parse_next(input)
}

fn letters<'s>(input: &mut Input<'s>) -> PResult<&'s str> {
    preceded(multispace0, take_while(1.., is_letter)).parse_next(input)
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || "_./~[],".contains(c)
}
