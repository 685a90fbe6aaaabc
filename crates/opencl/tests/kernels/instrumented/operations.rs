//! Operations on real numbers in clang's intermediate code (LLVM IR, as text).

use std::collections::{BTreeMap, BTreeSet};

/// What is counted, numbered as in `runtime.c`.
const REAL: u32 = 0;
const SPECIAL: u32 = 1;
const CONVERSION: u32 = 2;

/// The operations of a module.
#[derive(Debug, Default)]
pub struct Operations {
    /// Lines that are counted.
    on: bool,
    /// Products that a sum takes, by their lines.
    taken: BTreeSet<String>,
}

impl Operations {
    /// Of a module. A product is part of a sum if all that uses it are sums, none of which takes
    /// another product.
    pub fn new(ir: &str) -> Operations {
        let mut taken = BTreeSet::new();
        for function in ir.split("\ndefine ") {
            taken.extend(products(function));
        }
        Operations { on: true, taken }
    }

    /// What an instruction counts, by kind.
    pub fn at(&self, line: &str) -> Vec<(u32, u64)> {
        let Some((_, instruction)) = assignment(line).filter(|_| self.on) else {
            return Vec::new();
        };
        if self.taken.contains(line) {
            return Vec::new();
        }
        let lanes = lanes(instruction);
        let call = instruction.split_once('@').map_or("", |(_, callee)| callee);
        let called = |names: &[&str]| names.iter().any(|name| call.contains(name));
        match instruction.split(' ').next().unwrap_or("") {
            "fadd" | "fsub" | "fmul" => vec![(REAL, lanes)],
            "fdiv" => vec![(SPECIAL, lanes), (REAL, lanes)],
            "uitofp" | "sitofp" | "fptoui" | "fptosi" | "fpext" | "fptrunc" => {
                vec![(CONVERSION, lanes)]
            }
            "call" | "tail" if called(&["llvm.fma", "llvm.fmuladd", "fmaf"]) => vec![(REAL, lanes)],
            "call" | "tail" if called(&["llvm.fabs", "llvm.m", "fminf", "fmaxf"]) => Vec::new(),
            "call" | "tail" if instruction.contains(" float ") || lanes > 1 => {
                vec![(SPECIAL, lanes)]
            }
            _ => Vec::new(),
        }
    }
}

/// The name and the instruction of an assignment.
fn assignment(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("  %")?.split_once(" = ")
}

/// How many elements a vector instruction has.
fn lanes(instruction: &str) -> u64 {
    let vector = instruction.split_once('<').and_then(|(_, rest)| rest.split_once(" x "));
    vector.and_then(|(count, _)| count.parse().ok()).unwrap_or(1)
}

/// The lines of a function's products that sums take.
fn products(function: &str) -> Vec<String> {
    let mut products: BTreeMap<&str, &str> = BTreeMap::new();
    let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in function.lines() {
        let (name, text) = match assignment(line) {
            Some((name, text)) => (Some(name), text),
            None => (None, line),
        };
        if let Some(name) = name.filter(|_| text.starts_with("fmul")) {
            products.insert(name, line);
        }
        let parts =
            text.split(|c: char| !(c.is_alphanumeric() || c == '%' || c == '.' || c == '_'));
        for operand in parts.filter_map(|part| part.strip_prefix('%')) {
            uses.entry(operand).or_default().push(line);
        }
    }
    let mut full = BTreeSet::new();
    let mut taken = Vec::new();
    for (name, line) in products {
        let own = uses.get(name).map_or(&[][..], Vec::as_slice);
        let sums = own.iter().all(|user| {
            let text = assignment(user).map_or("", |(_, text)| text);
            (text.starts_with("fadd") || text.starts_with("fsub")) && !full.contains(user)
        });
        let twice = own.iter().collect::<BTreeSet<_>>().len() < own.len();
        if sums && !twice {
            full.extend(own.iter().copied());
            taken.push(line.to_owned());
        }
    }
    taken
}
