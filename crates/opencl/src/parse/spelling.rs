//! Operators and literals, as they are written, and the errors of libclang.

use std::collections::BTreeSet;
use std::sync::Arc;

use clang::SourceError;
use clang::diagnostic::Diagnostic;

use crate::ast::{CBinaryOp, SourcePlace, UnaryOp};
use crate::error::{Read, ReadError};
use crate::request::ReadRequest;
use crate::written::{BINARY, PREFIX};

/// A binary operator, or an assignment with what it does besides.
pub(super) enum Binary {
    Plain(CBinaryOp),
    Assign(Option<CBinaryOp>),
}

pub(super) fn binary(text: &str) -> Option<Binary> {
    let plain = |text: &str| BINARY.iter().find(|(_, spelling, _)| *spelling == text);
    if let Some((op, ..)) = plain(text) {
        return Some(Binary::Plain(*op));
    }
    match (text.strip_suffix('=')?, text.strip_suffix('=').and_then(plain)) {
        ("", _) => Some(Binary::Assign(None)),
        (_, Some((op, ..))) if op.is_arithmetic() => Some(Binary::Assign(Some(*op))),
        _ => None,
    }
}

/// The operator with which a text begins.
pub(super) fn prefix(text: &str) -> Option<UnaryOp> {
    PREFIX.iter().find(|(_, spelling)| text.starts_with(spelling)).map(|(op, _)| *op)
}

/// The operator that follows an operand.
pub(super) fn postfix(text: &str) -> Option<UnaryOp> {
    match text.get(..2)? {
        "++" => Some(UnaryOp::PostIncrement),
        "--" => Some(UnaryOp::PostDecrement),
        _ => None,
    }
}

/// The value of an integer literal; its 64 bits, if it does not fit into a signed number.
pub(super) fn integer(text: &str) -> Option<i64> {
    let text = text.replace('\'', "").to_ascii_lowercase();
    let digits = text.trim_end_matches(['u', 'l']);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    u64::from_str_radix(digits, radix).ok().map(u64::cast_signed)
}

/// The value of `'a'`.
pub(super) fn character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let value = match inner.strip_prefix('\\') {
        Some(escape) => escaped(escape)?,
        None if inner.len() == 1 => inner.bytes().next()?,
        None => return None,
    };
    Some(i64::from(value.cast_signed()))
}

fn escaped(escape: &str) -> Option<u8> {
    if let Some(hex) = escape.strip_prefix('x') {
        return u8::from_str_radix(hex, 16).ok();
    }
    Some(match escape {
        "a" => 7,
        "b" => 8,
        "t" => b'\t',
        "n" => b'\n',
        "v" => 11,
        "f" => 12,
        "r" => b'\r',
        "e" => 27,
        "\\" | "'" | "\"" | "?" => escape.bytes().next()?,
        octal => u8::from_str_radix(octal, 8).ok()?,
    })
}

/// The name without a meaning that a message is about, and whether it is that of a type.
fn unknown_name(text: &str) -> Option<(bool, &str)> {
    let is_type = text.starts_with("unknown type name");
    let values = ["use of undeclared identifier", "implicit declaration of function"];
    if !is_type && !values.iter().any(|words| text.starts_with(words)) {
        return None;
    }
    Some((is_type, text.split('\'').nth(1)?))
}

pub(super) fn gives_up(request: &ReadRequest, error: SourceError) -> ReadError {
    ReadError::file(
        &request.name,
        format!("libclang gives up: {error}"),
        "simplify the source, or install another version of libclang",
    )
}

/// The first of these errors, if there is one; those that follow from an unknown name are left out.
pub(super) fn rejected(errors: &[&Diagnostic<'_>]) -> Read<()> {
    let Some(first) = errors.first() else { return Ok(()) };
    let (file, line, column) = first.get_location().get_presumed_location();
    let (at, text) = (SourcePlace { file: Arc::from(file), line, column }, first.get_text());
    match unknown_name(&text) {
        None => return Err(ReadError::at(&at, text, "correct the source")),
        Some((_, "asm")) => {
            let fix = "write in OpenCL C what it does";
            return Err(ReadError::at(&at, "inline assembly cannot be read", fix));
        }
        Some(_) => {}
    }
    let (mut values, mut types) = (BTreeSet::new(), BTreeSet::new());
    for text in errors.iter().map(|d| d.get_text()) {
        match unknown_name(&text) {
            Some((true, name)) => types.insert(name.to_owned()),
            Some((false, name)) => values.insert(name.to_owned()),
            None => false,
        };
    }
    values.remove("asm");
    let (values, types) = (values.into_iter().collect(), types.into_iter().collect());
    Err(ReadError::Undeclared { at, what: text, values, types })
}

#[cfg(test)]
mod tests {
    use super::{character, integer};

    #[test]
    fn integers() {
        for (text, value) in [
            ("0", 0),
            ("017", 15),
            ("0xffffffff", 0xffff_ffff),
            ("0XFFul", 255),
            ("0b101u", 5),
            ("12LL", 12),
            ("0xffffffffffffffffUL", -1),
        ] {
            assert_eq!(integer(text), Some(value), "{text}");
        }
        assert_eq!(integer("18446744073709551616"), None);
        assert_eq!(integer("09"), None);
    }

    #[test]
    fn characters() {
        for (text, value) in [
            ("'a'", 97),
            (r"'\n'", 10),
            (r"'\0'", 0),
            (r"'\xff'", -1),
            (r"'\''", 39),
            (r"'\101'", 65),
        ] {
            assert_eq!(character(text), Some(value), "{text}");
        }
        assert_eq!(character("'ab'"), None);
        assert_eq!(character("'"), None);
    }
}
