//! The C program around a reference.

use std::path::Path;

use minijinja::{Environment, context};
use tickbound_model::source::{ArgumentKind, ElementType, KernelArgument};

use crate::error::MeasureError;

/// Our exit status for a name that is none.
pub(super) const UNKNOWN_NAME: i32 = 77;

fn c_type(element: ElementType) -> &'static str {
    match element {
        ElementType::Char => "char",
        ElementType::Uchar => "unsigned char",
        ElementType::Short => "short",
        ElementType::Ushort => "unsigned short",
        ElementType::Int => "int",
        ElementType::Uint => "unsigned int",
        ElementType::Long => "long",
        ElementType::Ulong => "unsigned long",
        ElementType::Float => "float",
        ElementType::Double => "double",
    }
}

/// Whether an argument is passed as a pointer, and is an output; none in local memory is passed.
fn passed(argument: &KernelArgument) -> Option<(bool, bool)> {
    match &argument.kind {
        ArgumentKind::Local { .. } => None,
        ArgumentKind::Scalar(_) | ArgumentKind::Real(_) => Some((false, false)),
        ArgumentKind::Whole { .. } => Some((true, false)),
        ArgumentKind::Buffer { output, .. } => Some((true, *output)),
    }
}

/// The declaration that a reference should have, with the arguments' names.
pub(super) fn declaration(arguments: &[KernelArgument]) -> String {
    declared(arguments, |argument| &argument.name)
}

fn declared<'a>(
    arguments: &'a [KernelArgument],
    name: impl Fn(&'a KernelArgument) -> &'a str,
) -> String {
    let typed = arguments.iter().filter_map(|argument| {
        let (element, name) = (c_type(argument.element), name(argument));
        let text = match passed(argument)? {
            (false, _) => format!("{element} {name}"),
            (true, false) => format!("const {element} *{name}"),
            (true, true) => format!("{element} *{name}"),
        };
        Some(text.trim_end().to_owned())
    });
    let typed = typed.collect::<Vec<_>>().join(", ");
    format!("void reference({})", if typed.is_empty() { "void" } else { &typed })
}

/// What our program states about the arguments.
pub(super) struct Parts {
    pub(super) prototype: String,
    arguments: Vec<minijinja::Value>,
}

impl Parts {
    pub(super) fn of(arguments: &[KernelArgument]) -> Parts {
        let parts = arguments.iter().filter_map(|argument| {
            let element = c_type(argument.element);
            let (buffer, output) = passed(argument)?;
            Some(context! { element, buffer, output })
        });
        Parts { prototype: declared(arguments, |_| "") + ";", arguments: parts.collect() }
    }

    pub(super) fn main(&self, path: &Path) -> Result<String, MeasureError> {
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        let context = context! {
            prototype => self.prototype, arguments => self.arguments, unknown => UNKNOWN_NAME
        };
        let text = environment.render_str(include_str!("main.c.j2"), context);
        text.map_err(|e| fault(path, None, e.to_string()))
    }
}

pub(super) fn fault(path: &Path, line: Option<usize>, why: String) -> MeasureError {
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    MeasureError::Reference(format!("{}{line}", path.display()), why)
}
