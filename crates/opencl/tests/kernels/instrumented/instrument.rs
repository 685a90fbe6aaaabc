//! Puts a call before every access to memory in clang's intermediate code (LLVM IR, as text).

use std::fmt::Write as _;

use super::operations::Operations;

/// `ir` with a call of `tickbound_access_N` before each access to address space N > 0, and with
/// tables of the module's local arrays and constant tables. Each local array is followed by space
/// that no access may touch.
///
/// `operations`: also with a call before each operation on real numbers.
///
/// # Errors
/// An access that is not understood, so that nothing remains uncounted.
pub fn instrument(ir: &str, operations: bool) -> Result<String, String> {
    let mut text = String::with_capacity(2 * ir.len());
    let mut arrays = Vec::new();
    let mut tables = Vec::new();
    let mut sites = 0..;
    let counted = if operations { Operations::new(ir) } else { Operations::default() };
    for line in ir.lines() {
        // Calling conventions that only devices have.
        let line = line.replace("spir_kernel ", "").replace("spir_func ", "");
        if line.starts_with('@') {
            text += &global(&line, &mut arrays, &mut tables)?;
        } else {
            for access in accesses(&line).ok_or_else(|| format!("not understood: {line}"))? {
                text += &access.call(sites.next().unwrap_or(0));
            }
            for (kind, count) in counted.at(&line) {
                writeln!(text, "  call void @tickbound_operation(i32 {kind}, i32 {count})")
                    .unwrap();
            }
            text += &line;
        }
        text.push('\n');
    }
    for space in 1..=4 {
        writeln!(
            text,
            "declare void @tickbound_access_{space}(ptr addrspace({space}), i64, i64, i32, i32)"
        )
        .unwrap();
    }
    text += "declare void @tickbound_operation(i32, i32)\n";
    text += &table("local_array", 3, &arrays);
    text += &table("constant_table", 2, &tables);
    Ok(text)
}

/// Bytes after each local array.
const GAP: usize = 1 << 16;

/// A variable of the module: its name and its type.
type Variable = (String, String);

/// A module's variable; those in local and constant memory are remembered.
fn global(
    line: &str,
    arrays: &mut Vec<Variable>,
    tables: &mut Vec<Variable>,
) -> Result<String, String> {
    let wrong = || format!("not understood: {line}");
    let (name, rest) = line.split_once(" = ").ok_or_else(wrong)?;
    let after = |words: &str| rest.split_once(words).map(|(_, rest)| rest);
    let local = after("addrspace(3) global ");
    let constant = after("addrspace(2) constant ");
    if let Some(rest) = local {
        let (kind, rest) = split_type(rest).ok_or_else(wrong)?;
        let alignment = rest.split_once("align ").map_or("16", |(_, a)| a);
        arrays.push((name.to_owned(), kind.to_owned()));
        return Ok(format!(
            "{name} = internal addrspace(3) global {{ {kind}, [{GAP} x i8] }} zeroinitializer, \
             align {alignment}"
        ));
    }
    if let Some((kind, _)) = constant.and_then(split_type) {
        tables.push((name.to_owned(), kind.to_owned()));
    }
    Ok(line.to_owned())
}

/// Where the runtime finds the variables, their sizes and their names.
fn table(name: &str, space: u32, variables: &[Variable]) -> String {
    let count = variables.len();
    let (mut names, mut rows) = (String::new(), Vec::new());
    for (i, (variable, kind)) in variables.iter().enumerate() {
        let shown = variable.trim_matches(['@', '"']);
        let length = shown.len() + 1;
        writeln!(names, "@tickbound_{name}_{i} = constant [{length} x i8] c\"{shown}\\00\"")
            .unwrap();
        let address = format!("ptr addrspacecast (ptr addrspace({space}) {variable} to ptr)");
        let size = size_of(kind);
        rows.push(format!(
            "{{ ptr, i64, ptr }} {{ {address}, {size}, ptr @tickbound_{name}_{i} }}"
        ));
    }
    let rows = rows.join(", ");
    format!(
        "{names}@tickbound_{name}s = constant [{count} x {{ ptr, i64, ptr }}] [{rows}]\n\
         @tickbound_{name}_count = constant i64 {count}\n"
    )
}

/// The size of a type as a constant of the intermediate code.
fn size_of(kind: &str) -> String {
    format!("i64 ptrtoint (ptr getelementptr ({kind}, ptr null, i64 1) to i64)")
}

/// An access to memory that is not private.
struct Access {
    space: u32,
    /// The address, as an operand without its type.
    address: String,
    /// The size in bytes, as an operand with its type.
    size: String,
    alignment: u64,
    kind: Kind,
}

/// Numbered as in `runtime.c`.
#[derive(Clone, Copy)]
enum Kind {
    Load = 0,
    Store = 1,
    Atomic = 2,
}

impl Access {
    /// The call; `site` tells the accesses of the source apart.
    fn call(&self, site: u32) -> String {
        let Access { space, address, size, alignment, kind } = self;
        let kind = *kind as i32;
        format!(
            "  call void @tickbound_access_{space}(ptr addrspace({space}) {address}, {size}, \
             i64 {alignment}, i32 {kind}, i32 {site})\n"
        )
    }
}

/// The accesses of one instruction to memory that is not private, in order. `None` if it is an
/// access that cannot be read.
fn accesses(line: &str) -> Option<Vec<Access>> {
    let instruction = line.trim_start();
    if instruction.len() == line.len() {
        return Some(Vec::new()); // not within a function
    }
    let instruction = match instruction.split_once(" = ") {
        Some((result, rest)) if result.starts_with('%') => rest,
        _ => instruction,
    };
    let (word, rest) = instruction.split_once(' ').unwrap_or((instruction, ""));
    match word {
        "load" | "store" | "atomicrmw" | "cmpxchg" => {
            Some(direct(word, rest)?.into_iter().collect())
        }
        "call" | "tail" | "notail" | "musttail" if rest.contains("@llvm.mem") => copy(rest),
        _ => Some(Vec::new()),
    }
}

/// An instruction that is an access.
fn direct(word: &str, rest: &str) -> Option<Option<Access>> {
    let mut rest = rest;
    let mut atomic = matches!(word, "atomicrmw" | "cmpxchg");
    while let Some(after) = ["volatile ", "atomic ", "weak "].iter().find_map(|w| {
        atomic |= *w == "atomic " && rest.starts_with(w);
        rest.strip_prefix(w)
    }) {
        rest = after;
    }
    if word == "atomicrmw" {
        (_, rest) = rest.split_once(' ')?; // the operation
    }
    let parts = split_commas(rest);
    let (kind, pointer) = match word {
        "load" => (split_type(parts.first()?)?.0, parts.get(1)?),
        "store" => (split_type(parts.first()?)?.0, parts.get(1)?),
        _ => (split_type(parts.get(1)?)?.0, parts.first()?),
    };
    let (space, address) = split_pointer(pointer)?;
    if space == 0 {
        return Some(None);
    }
    let alignment = parts.iter().find_map(|p| p.strip_prefix("align "));
    Some(Some(Access {
        space,
        address: address.to_owned(),
        size: size_of(kind),
        alignment: alignment.map_or(Some(1), |a| a.parse().ok())?,
        kind: match word {
            _ if atomic => Kind::Atomic,
            "load" => Kind::Load,
            _ => Kind::Store,
        },
    }))
}

/// A copy of a structure or an array, which is one load and one store, or one that is filled.
fn copy(rest: &str) -> Option<Vec<Access>> {
    let (callee, arguments) = rest.split_once("@llvm.mem")?.1.split_once('(')?;
    let parts = split_commas(arguments.rsplit_once(')')?.0);
    let size = parts.get(2)?;
    let mut list = Vec::new();
    let mut add = |part: &str, kind: Kind| {
        let (space, operand) = split_pointer(part)?;
        let mut words: Vec<&str> = operand.split(' ').collect();
        let mut alignment = 1;
        while words.len() > 1 && !words[0].starts_with(['%', '@']) {
            let attribute = words.remove(0);
            if attribute == "align" {
                alignment = words.remove(0).parse().ok()?;
            } else if !matches!(attribute, "noundef" | "nonnull") {
                break;
            }
        }
        if space != 0 {
            let address = words.join(" ");
            list.push(Access { space, address, size: (*size).to_owned(), alignment, kind });
        }
        Some(())
    };
    if !callee.starts_with("set") {
        add(parts.get(1)?, Kind::Load)?;
    }
    add(parts.first()?, Kind::Store)?;
    Some(list)
}

/// The address space and the rest of an operand of pointer type.
fn split_pointer(operand: &str) -> Option<(u32, &str)> {
    let rest = operand.strip_prefix("ptr ")?;
    match rest.strip_prefix("addrspace(") {
        Some(rest) => {
            let (space, rest) = rest.split_once(')')?;
            let space = space.parse().ok()?;
            (space <= 4).then_some((space, rest.trim_start()))
        }
        None => Some((0, rest)),
    }
}

/// The type at the start of a text, and what follows.
fn split_type(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' | '<' | '{' => depth += 1,
            ')' | ']' | '>' | '}' => depth = depth.checked_sub(1)?,
            ' ' if depth == 0 && !text[i + 1..].starts_with("addrspace(") => {
                return Some((&text[..i], text[i + 1..].trim_start()));
            }
            _ => {}
        }
    }
    (depth == 0).then_some((text, ""))
}

/// The parts between commas that are in no brackets.
fn split_commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' | '<' | '{' => depth += 1,
            ')' | ']' | '>' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}
