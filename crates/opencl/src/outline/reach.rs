//! What a function may depend on, by the names in a source.
//!
//! A source is cut into parts: functions, other declarations, and macros. Each names what it
//! declares and what it mentions, with the conditions (`#if`) around it and inside it. What is
//! mentioned by a part that is needed is needed.

use std::collections::BTreeSet;

use super::dimensions::dimensions;
use super::tokens::{Line, Token, lines};

/// A declaration or a macro of a source.
#[derive(Debug, Clone, Default, PartialEq)]
struct Part {
    declared: BTreeSet<String>,
    mentioned: BTreeSet<String>,
    /// It makes names out of others.
    pastes: bool,
    /// The dimensions of a launch that it uses.
    dimensions: usize,
}

/// The parts of a source; none if they cannot be separated.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts(Vec<Part>);

#[derive(Default)]
struct Cutter {
    done: Vec<Part>,
    /// Tokens of the declaration that has begun, each with the brackets around it.
    begun: Vec<(Token, usize)>,
    /// Names in conditions inside it.
    inside: BTreeSet<String>,
    depth: usize,
    /// For each `#if` around: names in its conditions, and brackets around it and its first branch.
    around: Vec<(BTreeSet<String>, usize, Option<usize>)>,
}

impl Parts {
    /// Cuts a source.
    pub fn new(text: &str) -> Parts {
        let mut cutter = Cutter::default();
        for line in lines(text) {
            let cut = match line {
                Line::Directive(name, tokens) => cutter.directive(&name, &tokens),
                Line::Code(tokens) => tokens.into_iter().try_for_each(|token| cutter.token(token)),
            };
            if cut.is_none() {
                return Parts::default();
            }
        }
        Parts(cutter.done)
    }

    /// All names that a function may depend on, with those of macros and in conditions of the
    /// preprocessor. `None` if that is not known.
    pub fn needed_by(&self, function: &str) -> Option<BTreeSet<String>> {
        let mut needed: BTreeSet<String> = BTreeSet::new();
        let mut open = vec![function];
        self.0.iter().find(|part| part.declared.contains(function))?;
        while let Some(name) = open.pop() {
            if !needed.insert(name.to_owned()) {
                continue;
            }
            for part in self.0.iter().filter(|part| part.declared.contains(name)) {
                if part.pastes {
                    return None;
                }
                open.extend(part.mentioned.iter().map(String::as_str));
            }
        }
        Some(needed)
    }

    /// The dimensions of a launch that a function and what it depends on use, from 1 to 3, or 0
    /// for none. `None` if that is not known.
    pub fn dimensions_of(&self, function: &str) -> Option<usize> {
        let needed = self.needed_by(function)?;
        let parts = self.0.iter().filter(|part| !part.declared.is_disjoint(&needed));
        parts.map(|part| part.dimensions).max()
    }
}

impl Cutter {
    /// Takes a directive. `None` if the branches of a condition end inside different brackets.
    fn directive(&mut self, name: &str, tokens: &[Token]) -> Option<()> {
        let names = || tokens.iter().filter_map(Token::name).map(str::to_owned);
        match name {
            "if" | "ifdef" | "ifndef" => self.around.push((names().collect(), self.depth, None)),
            "elif" | "else" => {
                let (conditions, depth, end) = self.around.last_mut()?;
                conditions.extend(names());
                if end.replace(self.depth).is_some_and(|end| end != self.depth) {
                    return None;
                }
                self.depth = *depth;
            }
            "endif" => {
                let (_, depth, end) = self.around.pop()?;
                if end.unwrap_or(depth) != self.depth {
                    return None;
                }
            }
            "define" => {
                let mentioned = names().skip(1).chain(self.conditions());
                let part = Part {
                    mentioned: mentioned.collect(),
                    declared: names().take(1).collect(),
                    pastes: tokens.iter().any(|token| token.is("##")),
                    dimensions: dimensions(&tokens.iter().collect::<Vec<_>>()),
                };
                self.done.push(part);
            }
            _ => {}
        }
        if !self.begun.is_empty() {
            self.inside.extend(self.around.last().iter().flat_map(|(names, ..)| names).cloned());
        }
        Some(())
    }

    /// The names in the conditions around.
    fn conditions(&self) -> impl Iterator<Item = String> {
        self.around.iter().flat_map(|(names, ..)| names).cloned()
    }

    /// Takes a token of the code. `None` if a bracket closes that has not been opened.
    fn token(&mut self, token: Token) -> Option<()> {
        let opens = ["(", "{", "["].iter().any(|bracket| token.is(bracket));
        if [")", "}", "]"].iter().any(|bracket| token.is(bracket)) {
            self.depth = self.depth.checked_sub(1)?;
        }
        let body = token.is("}") && is_function(&self.begun);
        let ends = self.depth == 0 && (token.is(";") || body);
        self.begun.push((token, self.depth));
        self.depth += usize::from(opens);
        if ends {
            let begun = std::mem::take(&mut self.begun);
            let names = begun.iter().filter_map(|(token, _)| token.name()).map(str::to_owned);
            let inside = std::mem::take(&mut self.inside);
            let mentioned = names.chain(inside).chain(self.conditions()).collect();
            let dimensions = dimensions(&begun.iter().map(|(token, _)| token).collect::<Vec<_>>());
            self.done.push(Part {
                declared: declared(&begun),
                mentioned,
                pastes: false,
                dimensions,
            });
        }
        Some(())
    }
}

/// Whether a declaration ends with a bracket that closes: it is neither a type nor a value.
fn is_function(tokens: &[(Token, usize)]) -> bool {
    let outer = |text: &str| tokens.iter().any(|(token, depth)| *depth == 0 && token.is(text));
    let ty = |(token, _): &(Token, usize)| {
        ["typedef", "struct", "union", "enum"].iter().any(|word| token.is(word))
    };
    !outer("=") && (outer("(") || !tokens.first().is_some_and(ty))
}

/// What a declaration declares: of a function its name, of others all names that may be it.
fn declared(tokens: &[(Token, usize)]) -> BTreeSet<String> {
    let outer: Vec<&Token> =
        tokens.iter().filter(|(_, depth)| *depth == 0).map(|(token, _)| token).collect();
    // The name before `(` of the last `) {`.
    let body = outer.windows(2).rposition(|pair| pair[0].is(")") && pair[1].is("{"));
    let names = |tokens: &[&Token]| {
        tokens.iter().filter_map(|token| token.name()).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let function = body.and_then(|at| outer[..at].iter().rposition(|token| token.is("(")));
    match (function, outer.as_slice()) {
        (Some(at), _) if at > 0 => names(&outer[at - 1..at]),
        (_, [first, .., last, _]) if first.is("typedef") && last.name().is_some() => names(&[last]),
        _ => names(&outer),
    }
}
