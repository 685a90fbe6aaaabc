//! The C program around a reference.

use std::path::Path;

use minijinja::{Environment, context};
use tickbound_model::source::{Argument, ArgumentKind, ElementType};

use crate::measure::error::MeasureError;

/// Our exit status for a name that is none.
pub(super) const UNKNOWN_NAME: i32 = 77;

/// The type in C.
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

/// What our program says about the arguments.
pub(super) struct Parts {
    pub(super) prototype: String,
    arguments: Vec<minijinja::Value>,
}

impl Parts {
    pub(super) fn of(arguments: &[Argument]) -> Parts {
        let mut types = Vec::new();
        let mut parts = Vec::new();
        for argument in arguments {
            let element = c_type(argument.element);
            let (buffer, output) = match &argument.kind {
                ArgumentKind::Local { .. } => continue,
                ArgumentKind::Scalar(_) | ArgumentKind::Real(_) => (false, false),
                ArgumentKind::Whole { .. } => (true, false),
                ArgumentKind::Buffer { output, .. } => (true, *output),
            };
            types.push(match (buffer, output) {
                (false, _) => element.to_owned(),
                (true, false) => format!("const {element} *"),
                (true, true) => format!("{element} *"),
            });
            parts.push(context! { element, buffer, output });
        }
        let types = if types.is_empty() { "void".to_owned() } else { types.join(", ") };
        Parts { prototype: format!("void reference({types});"), arguments: parts }
    }

    pub(super) fn main(&self, path: &Path) -> Result<String, MeasureError> {
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        let context = context! { prototype => self.prototype, arguments => self.arguments, unknown => UNKNOWN_NAME };
        let text = environment.render_str(include_str!("main.c.j2"), context);
        text.map_err(|e| fault(path, None, e.to_string()))
    }
}

/// A fault of the reference in `path`.
pub(super) fn fault(path: &Path, line: Option<usize>, why: String) -> MeasureError {
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    MeasureError::Reference { at: format!("{}{line}", path.display()), why }
}
