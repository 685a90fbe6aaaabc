//! Conditions on which names fire together: `a & !b`, `a -> b | c`, `!(a & b)`.

use thiserror::Error;
use winnow::ascii::multispace0;
use winnow::combinator::{alt, cut_err, delimited, fail, opt, preceded, repeat};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::token::take_while;

use crate::symbol::{Name, Symbols};

/// Deepest nesting of brackets and signs.
const MAX_DEPTH: usize = 64;

/// A condition on one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// Always.
    True,
    /// Never.
    False,
    /// The name fires.
    Fires(Name),
    /// It does not hold.
    Not(Box<Formula>),
    /// Both hold.
    And(Box<Formula>, Box<Formula>),
    /// One or both hold.
    Or(Box<Formula>, Box<Formula>),
}

/// Why a text is not a formula.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormulaError {
    /// It is no sentence of the grammar.
    #[error(
        "`{text}`: stuck at column {column}; write names with ! & | -> and brackets, such as `a -> !b`"
    )]
    Syntax {
        /// The text.
        text: String,
        /// Where it could not be read on, counted in characters from 1.
        column: usize,
    },
    /// A name that the connector does not have.
    #[error("`{name}` is not a name of the connector; {known}")]
    Name {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Brackets or signs nested too deeply.
    #[error("nested deeper than {MAX_DEPTH}")]
    Deep,
}

type Input<'s> = &'s str;
type PResult<T> = Result<T, ErrMode<ContextError>>;

/// A formula over words.
#[derive(Debug, Clone)]
enum Text {
    Word(String),
    Not(Box<Text>),
    And(Box<Text>, Box<Text>),
    Or(Box<Text>, Box<Text>),
}

impl Formula {
    /// Reads a formula over `names`. Loosest first: `->` (to the right), `|`, `&`, `!`; `true` and
    /// `false` are what they say unless a name is called so. Names are letters, digits and `_`,
    /// with `.`, `/`, `~` and indices in square brackets.
    ///
    /// # Errors
    /// Where it could not be read, or which name is unknown.
    pub fn parse(text: &str, names: &[Name], symbols: &Symbols) -> Result<Formula, FormulaError> {
        if depth(text) > MAX_DEPTH {
            return Err(FormulaError::Deep);
        }
        let mut rest = text;
        let read = implication(&mut rest);
        match read {
            Ok(formula) if rest.trim().is_empty() => bind(formula, names, symbols),
            _ => {
                let read = &text[..text.len() - rest.trim_start().len()];
                let column = read.chars().count() + 1;
                Err(FormulaError::Syntax { text: text.chars().take(80).collect(), column })
            }
        }
    }

    /// Whether it holds in a step in which exactly the names fire of which `fires` says so.
    pub fn holds(&self, fires: &dyn Fn(Name) -> bool) -> bool {
        match self {
            Formula::True => true,
            Formula::False => false,
            Formula::Fires(name) => fires(*name),
            Formula::Not(inner) => !inner.holds(fires),
            Formula::And(a, b) => a.holds(fires) && b.holds(fires),
            Formula::Or(a, b) => a.holds(fires) || b.holds(fires),
        }
    }
}

fn token<'s>(text: &'static str) -> impl Parser<Input<'s>, &'s str, ErrMode<ContextError>> {
    preceded(multispace0, text)
}

/// How deep signs, brackets and arrows are nested, before anything is read.
fn depth(text: &str) -> usize {
    let (mut deepest, mut here, mut signs) = (0, 0, 0);
    // How deep it is before each open bracket and the signs in front of it.
    let mut outer = Vec::new();
    for letter in text.chars().filter(|c| !c.is_whitespace()) {
        match letter {
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

// What must follow a sign is cut, so that errors are told where they are.
fn implication(input: &mut Input<'_>) -> PResult<Text> {
    let left = chain(input, "|", |i| chain(i, "&", unary, Text::And), Text::Or)?;
    let right = opt(preceded(token("->"), cut_err(implication))).parse_next(input)?;
    Ok(match right {
        Some(right) => Text::Or(Box::new(Text::Not(Box::new(left))), Box::new(right)),
        None => left,
    })
}

fn chain(
    input: &mut Input<'_>,
    sign: &'static str,
    mut item: impl FnMut(&mut Input<'_>) -> PResult<Text>,
    make: fn(Box<Text>, Box<Text>) -> Text,
) -> PResult<Text> {
    let mut all = vec![item(input)?];
    let more: Vec<Text> = repeat(0.., preceded(token(sign), cut_err(item))).parse_next(input)?;
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

fn unary(input: &mut Input<'_>) -> PResult<Text> {
    let not = preceded(token("!"), cut_err(unary)).map(|inner| Text::Not(Box::new(inner)));
    let bracket = delimited(token("("), cut_err(implication), cut_err(token(")")));
    alt((not, bracket, word)).parse_next(input)
}

fn word(input: &mut Input<'_>) -> PResult<Text> {
    let letter = |c: char| c.is_alphanumeric() || "_./~[],".contains(c);
    let text = preceded(multispace0, take_while(1.., letter)).parse_next(input)?;
    if text.is_empty() { fail(input) } else { Ok(Text::Word(text.into())) }
}

fn bind(text: Text, names: &[Name], symbols: &Symbols) -> Result<Formula, FormulaError> {
    let both = |a: Text, b: Text| -> Result<_, FormulaError> {
        Ok((Box::new(bind(a, names, symbols)?), Box::new(bind(b, names, symbols)?)))
    };
    Ok(match text {
        Text::Word(word) => {
            let name = symbols.find(&word).map(Name).filter(|n| names.contains(n));
            match (name, word.as_str()) {
                (Some(name), _) => Formula::Fires(name),
                (None, "true") => Formula::True,
                (None, "false") => Formula::False,
                (None, _) => {
                    let known: Vec<&str> = names.iter().map(|n| symbols.word(n.0)).collect();
                    let known = format!("known here: {}", known.join(", "));
                    return Err(FormulaError::Name { name: word, known });
                }
            }
        }
        Text::Not(inner) => Formula::Not(Box::new(bind(*inner, names, symbols)?)),
        Text::And(a, b) => {
            let (a, b) = both(*a, *b)?;
            Formula::And(a, b)
        }
        Text::Or(a, b) => {
            let (a, b) = both(*a, *b)?;
            Formula::Or(a, b)
        }
    })
}
