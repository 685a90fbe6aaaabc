//! Token scan of a source: its macros and names, without parsing.
//!
//! Nothing is expanded and nothing is parsed, so that this needs neither a compiler nor libclang,
//! and works on sources that do not compile yet. It serves those who propose a problem
//! file for a source, and decides which [inputs become macros](crate::inputs_as_macros).

mod dimensions;
mod reach;
mod tokens;

use std::collections::BTreeSet;

use dimensions::dimensions;
use indexmap::IndexMap;
pub use reach::Parts;
use tokens::{Line, lines};
pub(crate) use tokens::{Token, tokens, without_comments};

/// How a source uses a macro.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Macro {
    /// The text of a `#define` inside `#ifndef` of the macro: it holds unless one is before it.
    pub default: Option<String>,
    /// The source defines it in any case.
    pub defined: bool,
    /// Numbers that it is compared with in `#if`.
    pub compared: BTreeSet<i64>,
    /// It is compared by order with one of them.
    pub ordered: bool,
    /// Its value is used in `#if`.
    pub valued: bool,
    /// It is asked whether it is defined.
    pub asked: bool,
    /// It is part of what `#include` names.
    pub included: bool,
    /// The source defines it with one argument.
    pub with_number: bool,
}

/// The kind of an undeclared name, by where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// A value.
    Value,
    /// A type.
    Type,
    /// Nothing, or words before a type: `INLINE float f()`.
    Words,
}

/// A source at a glance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outline {
    /// Macros that directives mention, in the order in which they are met.
    pub macros: IndexMap<String, Macro>,
    /// The sizes of each `reqd_work_group_size`, with the function that follows.
    pub groups: Vec<(String, [String; 3])>,
    /// The size of sub-groups that an attribute requires, with the function that follows.
    pub sub_groups: Vec<(String, String)>,
    /// There is an `#error`.
    pub errors: bool,
    /// Lines without directives.
    code: Vec<Vec<Token>>,
    /// What macros of the source expand to.
    bodies: Vec<Vec<Token>>,
    /// Macros that the source defines as whole numbers.
    numbers: Vec<(String, i64)>,
}

/// Bytes of the largest text that is scanned. The outline of a larger one is empty.
const LARGEST: usize = 4 << 20;
/// How far back a declaration begins, and how far an attribute or the name after it goes, in
/// tokens. What is farther counts as a declaration.
const FAR: usize = 256;

impl Outline {
    /// That of a text.
    pub fn of(text: &str) -> Outline {
        let mut outline = Outline::default();
        // The names of the `#ifndef` lines around.
        let mut around: Vec<Option<String>> = Vec::new();
        if text.len() > LARGEST {
            return outline;
        }
        for line in lines(text) {
            match line {
                Line::Directive(name, tokens) => outline.directive(&name, &tokens, &mut around),
                Line::Code(tokens) => outline.code.push(tokens),
            }
        }
        outline.groups = outline.groups();
        outline.sub_groups = outline.sub_groups();
        outline
    }

    fn directive(&mut self, name: &str, tokens: &[Token], around: &mut Vec<Option<String>>) {
        let first = tokens.first().and_then(Token::name);
        match (name, first) {
            ("define", Some(defined)) => {
                let guarded = around.iter().flatten().any(|name| name == defined);
                let argument = tokens.len() > 4 && tokens[1].is("(") && tokens[3].is(")");
                self.bodies.push(tokens[1..].to_vec());
                if let [_, number] = tokens
                    && let Some(number) = number.number()
                {
                    self.numbers.push((defined.to_owned(), number));
                }
                let entry = self.macros.entry(defined.to_owned()).or_default();
                entry.with_number |= argument;
                if guarded {
                    let text: Vec<String> = tokens[1..].iter().map(Token::text).collect();
                    entry.default.get_or_insert(text.join(" "));
                } else {
                    entry.defined = true;
                }
            }
            ("ifdef" | "ifndef", Some(asked)) => {
                self.macros.entry(asked.to_owned()).or_default().asked = true;
                around.push((name == "ifndef").then(|| asked.to_owned()));
            }
            ("if" | "elif", _) => {
                self.condition(tokens);
                if name == "if" {
                    around.push(undefined(tokens));
                }
            }
            ("include", _) if first.is_some() => {
                for name in tokens.iter().filter_map(Token::name) {
                    self.macros.entry(name.to_owned()).or_default().included = true;
                }
            }
            ("error", _) => self.errors = true,
            ("endif", _) => {
                around.pop();
            }
            _ => {}
        }
    }

    /// The macros that a condition mentions.
    fn condition(&mut self, tokens: &[Token]) {
        for (i, token) in tokens.iter().enumerate() {
            let Some(name) = token.name().filter(|name| *name != "defined") else { continue };
            let before = |n: usize| i.checked_sub(n).and_then(|at| tokens.get(at));
            let of_defined = [before(1), before(2)].iter().flatten().any(|t| t.is("defined"));
            let entry = self.macros.entry(name.to_owned()).or_default();
            if of_defined {
                entry.asked = true;
                continue;
            }
            entry.valued = true;
            let after = (tokens.get(i + 1), tokens.get(i + 2).and_then(Token::number));
            let ahead = (before(1), before(2).and_then(Token::number));
            for (operator, number) in [after, ahead] {
                let (Some(Token::Symbol(operator)), Some(number)) = (operator, number) else {
                    continue;
                };
                let ordered = ["<", "<=", ">", ">="].contains(&operator.as_str());
                if ordered || ["==", "!="].contains(&operator.as_str()) {
                    entry.ordered |= ordered;
                    entry.compared.insert(number);
                }
            }
        }
    }

    fn tokens(&self) -> Vec<&Token> {
        self.code.iter().flatten().collect()
    }

    fn groups(&self) -> Vec<(String, [String; 3])> {
        let sizes = self.attributes(&["reqd_work_group_size"]).into_iter();
        sizes.filter_map(|(function, sizes)| Some((function, sizes.try_into().ok()?))).collect()
    }

    /// Waves of Qualcomm's processors are halves or whole ones, of 64 and of 128 items.
    fn sub_groups(&self) -> Vec<(String, String)> {
        const NAMES: [&str; 3] =
            ["intel_reqd_sub_group_size", "reqd_sub_group_size", "qcom_reqd_sub_group_size"];
        let sizes = self.attributes(&NAMES).into_iter();
        let size = |sizes: Vec<String>| match sizes.into_iter().next()?.as_str() {
            "\"half\"" => Some("64".to_owned()),
            "\"full\"" => Some("128".to_owned()),
            size => Some(format!("({size})")),
        };
        sizes.filter_map(|(function, sizes)| Some((function, size(sizes)?))).collect()
    }

    /// The arguments of attributes, each with the function that follows.
    fn attributes(&self, names: &[&str]) -> Vec<(String, Vec<String>)> {
        let all = self.tokens();
        let at = |i: usize| all.get(i).copied();
        let starts = (0..all.len()).filter(|i| names.iter().any(|name| all[*i].is(name)));
        let arguments = |i: usize| {
            let (mut parts, mut depth) = (vec![String::new()], 1);
            at(i + 1).filter(|t| t.is("("))?;
            for token in all.iter().skip(i + 2).take(FAR) {
                let text = match token {
                    Token::Quoted(text) => text.clone(),
                    token => token.text(),
                };
                match text.as_str() {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    "," if depth == 1 => {
                        parts.push(String::new());
                        continue;
                    }
                    _ => {}
                }
                if depth == 0 {
                    return Some(parts.iter().map(|part| part.trim().to_owned()).collect());
                }
                *parts.last_mut()? += &format!(" {text}");
            }
            None
        };
        let function = |i: usize| {
            let void = all[i..].iter().take(FAR).position(|t| t.is("void"))?;
            at(i + void + 1)?.name().map(str::to_owned)
        };
        starts.filter_map(|i| Some((function(i)?, arguments(i)?))).collect()
    }

    /// Dimensions of ids and sizes that the code asks for: 1 to 3, or 0 if it asks for none.
    pub fn dimensions(&self) -> usize {
        dimensions(&self.tokens())
    }

    /// Whether a name is used in code or in conditions of the preprocessor.
    pub fn uses(&self, name: &str) -> bool {
        self.macros.get(name).is_some_and(|m| m.valued || m.asked) || self.mentions(name)
    }

    /// Whether a name is used in code, also in that of macros.
    pub fn mentions(&self, name: &str) -> bool {
        self.code.iter().chain(&self.bodies).flatten().any(|token| token.is(name))
    }

    /// Whether the code calls a function of this name, or a macro with arguments.
    pub fn calls(&self, name: &str) -> bool {
        let called = |pair: (&Token, &Token)| pair.0.is(name) && pair.1.is("(");
        let in_code = self.tokens().windows(2).any(|pair| called((pair[0], pair[1])));
        let in_body = |body: &Vec<Token>| body.windows(2).any(|pair| called((&pair[0], &pair[1])));
        in_code || self.bodies.iter().any(in_body)
    }

    /// The kind of an undeclared name: a type is followed by a name, or is cast to.
    pub fn stands(&self, name: &str) -> Stands {
        let all = self.tokens();
        let mut stands = Stands::Value;
        for at in (0..all.len()).filter(|i| all[*i].is(name)) {
            let after = |n: usize| all.get(at + n);
            let word = |n: usize| after(n).is_some_and(|t| t.name().is_some());
            let is = |n: usize, text: &str| after(n).is_some_and(|t| t.is(text));
            let before = |text: &str| at.checked_sub(1).is_none_or(|i| all[i].is(text));
            let loops = ["inline", "static", "for", "while", "do"].iter().any(|s| is(1, s));
            // A name as a statement would be for nothing.
            let alone = [";", "{", "}"].iter().any(|s| before(s)) && is(1, ";");
            if alone || loops || after(1).is_some_and(|t| is_type(t) && !t.is("const")) {
                return Stands::Words;
            }
            // `GLOBAL_AS T *a`
            let qualified = ["const", "volatile", "restrict"].iter().any(|s| is(1, s));
            if word(1) && !qualified && (word(2) || is(2, "*")) {
                return Stands::Words;
            }
            let value = after(2).is_some_and(|t| !matches!(t, Token::Symbol(s) if s != "("));
            let cast = before("(") && is(1, ")") && value;
            // A product as a statement would be for nothing.
            let starts = [";", "{", "}"].iter().any(|s| before(s));
            let pointer = starts && is(1, "*") && word(2) && (is(3, "=") || is(3, ";"));
            if word(1) || cast || pointer {
                stands = Stands::Type;
            }
        }
        stands
    }

    /// Variables, and what pointers and references to them are called, that a type has.
    fn variables(&self, name: &str) -> BTreeSet<&str> {
        let all = self.tokens();
        let declared = all.windows(3).filter(|w| w[0].is(name));
        let behind = |token: &Token| token.is("*") || token.is("&");
        declared.filter_map(|w| if behind(w[1]) { w[2].name() } else { w[1].name() }).collect()
    }

    /// Whether variables of a type are called as functions are.
    pub fn is_functor(&self, name: &str) -> bool {
        self.variables(name).into_iter().any(|variable| self.calls(variable))
    }

    /// Single arguments of a class template of this name, in order: `traits<Q8>`.
    pub fn arguments_of(&self, template: &str) -> Vec<String> {
        let all = self.tokens();
        let used = all.windows(4).filter(|w| w[0].is(template) && w[1].is("<") && w[3].is(">"));
        used.map(|w| w[2].text()).collect()
    }

    /// Components of a type of this name, as `.x` or `.s0` of its variables say; 1 without any.
    pub fn lanes(&self, name: &str) -> usize {
        let all = self.tokens();
        let variables = self.variables(name);
        let mut depth = 0_usize;
        let mut lanes = 1;
        let mut base = None;
        for pair in all.windows(2) {
            match (pair[0], pair[1].name()) {
                (t, _) if t.is("[") => depth += 1,
                (t, _) if t.is("]") => depth = depth.saturating_sub(1),
                (t, Some(part)) if t.is(".") && base == Some(depth) => {
                    lanes = lanes.max(components(part))
                }
                (Token::Name(own), _) if variables.contains(own.as_str()) => base = Some(depth),
                (t, _) if base == Some(depth) && !t.is("(") && !t.is(")") => base = None,
                _ => {}
            }
        }
        lanes
    }

    /// Whether it is CUDA or HIP: neither compiles as OpenCL C.
    pub fn is_cuda(&self) -> bool {
        const WORDS: [&str; 6] =
            ["__global__", "__device__", "__shared__", "threadIdx", "blockIdx", "hipThreadIdx_x"];
        let has = |some: &[&str]| {
            self.code.iter().chain(&self.bodies).flatten().any(|t| some.iter().any(|s| t.is(s)))
        };
        has(&WORDS) && !has(&["__kernel", "kernel"])
    }

    /// Whether the source itself may give a name a meaning: a macro without `#ifndef` around it, a
    /// variable, a parameter, a member, a function, a type. True also where that is not sure.
    pub fn declares(&self, name: &str) -> bool {
        self.macros.get(name).is_some_and(|m| m.defined) || {
            let all = self.tokens();
            (0..all.len()).any(|i| all[i].is(name) && may_declare(&all, i))
        }
    }
}

impl Outline {
    /// Whole numbers of `#define NAME 16`, `constexpr int NAME = 16` or `enum { NAME = 16 }`.
    pub fn named_numbers(&self) -> Vec<(String, i64)> {
        let all = self.tokens();
        let mut found = self.numbers.clone();
        for (i, window) in all.windows(4).enumerate() {
            let [name, equals, number, end] = window else { continue };
            let (Some(name), Some(number)) = (name.name(), number.number()) else { continue };
            if !equals.is("=") || ![";", ",", "}"].iter().any(|sign| end.is(sign)) {
                continue;
            }
            let before = all[..i].iter().rev();
            let head = before.take_while(|t| ![";", "{", "}", "("].iter().any(|sign| t.is(sign)));
            let head: Vec<&&Token> = head.collect();
            let constant = head.iter().any(|t| t.is("constexpr"))
                || head.iter().any(|t| t.is("const")) && !head.iter().any(|t| t.is("__constant__"));
            let start = i - head.len();
            let enumerated = start.checked_sub(1).is_some_and(|at| {
                all[at].is("{") && all[at.saturating_sub(4)..at].iter().any(|t| t.is("enum"))
            });
            if constant || enumerated {
                found.push((name.to_owned(), number));
            }
        }
        found
    }
}

/// The name of `#if !defined(NAME)`.
fn undefined(tokens: &[Token]) -> Option<String> {
    let texts: Vec<String> = tokens.iter().map(Token::text).collect();
    match texts.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["!", "defined", "(", name, ")"] | ["!", "defined", name] => Some((*name).to_owned()),
        _ => None,
    }
}

/// Components of the vector that has these: `x`, `s3`, `xyz`, `hi`.
fn components(part: &str) -> usize {
    let digit = |c: char| c.to_digit(16).map(|d| d as usize + 1);
    let numbered = part.strip_prefix(['s', 'S']).filter(|rest| !rest.is_empty());
    let numbered = numbered.and_then(|rest| rest.chars().map(digit).collect::<Option<Vec<_>>>());
    let named: Option<Vec<usize>> =
        part.chars().map(|c| "xyzw".find(c).map(|place| place + 1)).collect();
    match (named, numbered) {
        (Some(all), _) | (None, Some(all)) => {
            all.into_iter().max().unwrap_or(1).max(2).next_power_of_two()
        }
        _ if ["lo", "hi", "even", "odd"].contains(&part) => 2,
        _ => 1,
    }
}

/// Words that may stand before a value.
const BEFORE_VALUES: [&str; 6] = ["return", "case", "else", "do", "sizeof", "goto"];

/// Whether the name at `i` may be declared there: after a word, after the `*` of a pointer, or
/// after the comma of a declaration; or it is a member, or a label.
fn may_declare(all: &[&Token], i: usize) -> bool {
    let named = |n: usize| all.get(i + n).is_some_and(|t| t.name().is_some());
    let starred = all.get(i + 1).is_some_and(|t| t.is("*"));
    // A type, which a name follows.
    if named(1) || starred && named(2) {
        return false;
    }
    let Some(before) = i.checked_sub(1).map(|at| all[at]) else { return true };
    if before.name().is_some() {
        return !BEFORE_VALUES.iter().any(|word| before.is(word));
    }
    if before.is(".") || before.is("->") {
        return true;
    }
    let Some(start) = start_of(all, i) else { return true };
    let words = all[start..i].iter().take_while(|t| t.name().is_some() || t.is("*"));
    let words: Vec<&&Token> = words.collect();
    // `a * n` alone is no statement, but `float * n` is one; in parentheses it may be a product.
    let in_parentheses = start.checked_sub(1).is_some_and(|at| all[at].is("("));
    let pointer = before.is("*") && words.len() == i - start && words.len() > 1;
    let before_stars = all[..i].iter().rev().find(|t| !t.is("*"));
    let list = before_stars.is_some_and(|t| t.is(",")) && words.len() > 1;
    let label = start == i && all.get(i + 1).is_some_and(|t| t.is(":"));
    let enumerated = start.checked_sub(1).is_some_and(|at| {
        let named = at.checked_sub(2).is_some_and(|two| all[two].is("enum"));
        all[at].is("{") && (named || all[..at].last().is_some_and(|t| t.is("enum")))
    });
    (pointer && (!in_parentheses || is_type(words[0]))) || list || label || enumerated
}

/// Where the statement, or the content of the parentheses, begins around a token; `None` if far.
fn start_of(all: &[&Token], i: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in (0..i).rev().take(FAR) {
        let token = all[at];
        // A list of first values ends with a comma.
        if token.is(")") || (token.is("}") && all[at + 1].is(",")) {
            depth += 1;
        } else if depth > 0 && (token.is("(") || token.is("{")) {
            depth -= 1;
        } else if depth == 0 && ["(", "{", "}", ";"].iter().any(|s| token.is(s)) {
            return Some(at + 1);
        }
    }
    (i <= FAR).then_some(0)
}

fn is_type(token: &Token) -> bool {
    const TYPES: [&str; 19] = [
        "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double",
        "half", "void", "unsigned", "signed", "const", "struct", "global", "local", "constant",
    ];
    let name = token.name().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit());
    const WORDS: &str =
        "global local constant private generic kernel attribute__ read_only write_only const";
    let reserved = |rest: &str| WORDS.split(' ').any(|word| word == rest);
    name.strip_prefix("__").is_some_and(reserved) || name.ends_with("_t") || TYPES.contains(&name)
}

#[cfg(test)]
mod tests;
