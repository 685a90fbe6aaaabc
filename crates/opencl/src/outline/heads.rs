//! Names of C++ that a source gives a value: parameters of templates, constants, macros.

use super::Outline;
use super::tokens::Token;

/// The head of a kernel's template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateHead {
    /// The kernel.
    pub function: String,
    /// The names of the template's parameters.
    pub parameters: Vec<String>,
}

impl Outline {
    /// The templates of kernels in CUDA.
    pub fn heads(&self) -> Vec<TemplateHead> {
        let all = self.tokens();
        let starts = (0..all.len()).filter(|at| all[*at].is("template"));
        starts.filter_map(|at| head(&all[at + 1..])).collect()
    }

    /// Whole numbers that the source names by `#define NAME 16`, `constexpr int NAME = 16` or
    /// `enum { NAME = 16 }`.
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

/// What follows `template`, if it is the head of a kernel.
fn head(all: &[&Token]) -> Option<TemplateHead> {
    let mut depth = 0_usize;
    let mut parameters: Vec<Option<&str>> = vec![None];
    let mut default = false;
    let mut end = None;
    for (at, token) in all.iter().enumerate().take(super::FAR) {
        match token {
            Token::Symbol(sign) if matches!(sign.as_str(), "<" | "(") => depth += 1,
            Token::Symbol(sign) if matches!(sign.as_str(), ">" | ")") => depth -= 1,
            Token::Symbol(sign) if sign == ">>" => depth = depth.saturating_sub(2),
            Token::Symbol(sign) if sign == "," && depth == 1 => {
                parameters.push(None);
                default = false;
            }
            Token::Symbol(sign) if sign == "=" && depth == 1 => default = true,
            Token::Name(name) if depth == 1 && !default => *parameters.last_mut()? = Some(name),
            _ => {}
        }
        if depth == 0 {
            end = Some(at + 1);
            break;
        }
    }
    let rest = &all[end?..];
    let until = rest.iter().position(|t| ["{", ";", "template"].iter().any(|end| t.is(end)))?;
    let rest = &rest[..until];
    let kernel = rest.iter().any(|t| t.is("__global__"));
    let void = rest.iter().position(|t| t.is("void"))?;
    let named = |at: &usize| {
        let name = rest[*at].name().filter(|name| !name.starts_with("__"));
        name.is_some() && rest.get(at + 1).is_some_and(|t| t.is("("))
    };
    // In the brackets of `__launch_bounds__` other functions may be called.
    let mut depth = 0_usize;
    let outside = (void + 1..rest.len()).filter(|at| {
        let here = depth == 0;
        depth += usize::from(rest[*at].is("("));
        depth = depth.saturating_sub(usize::from(rest[*at].is(")")));
        here
    });
    let function = outside.into_iter().find(named)?;
    let function = rest[function].name()?.to_owned();
    let parameters = parameters.into_iter().flatten().map(str::to_owned).collect();
    kernel.then_some(TemplateHead { function, parameters })
}
