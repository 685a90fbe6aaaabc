//! Functions of OpenCL C's library.

mod atomic;
mod items;
mod numbers;
mod vectors;

use super::nodes::NodeKind;
use super::value::ReadValue;
use super::{Read, Reader};
use crate::ast::{CExpr, SourcePlace};
use crate::error::ReadError;
use crate::steps::{Assumed, Dependence};

/// Functions that are refused, by how their names begin: what they are, and what to write.
const REFUSED: [(&str, &str, &str); 11] = [
    ("async_work_group", "an asynchronous copy", "copy in a loop over local ids"),
    ("wait_group_events", "an asynchronous copy", "copy in a loop over local ids"),
    ("sub_group_", "a function of sub-groups", "use local memory and barriers"),
    ("intel_sub_group_", "a function of sub-groups", "use local memory and barriers"),
    ("get_sub_group_", "a function of sub-groups", "use local memory and barriers"),
    ("work_group_", "a collective function", "write it with local memory and barriers"),
    ("read_image", "an access to an image", "pass the data in a buffer"),
    ("write_image", "an access to an image", "pass the data in a buffer"),
    ("get_image_", "an access to an image", "pass the data in a buffer"),
    ("enqueue_", "a launch on the device", "launch from the host"),
    ("get_pipe_", "a pipe", "pass the data in a buffer"),
];

/// A call of a function.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Its name.
    pub name: &'a str,
    /// What is passed.
    pub arguments: &'a [CExpr],
    /// The expression.
    pub e: &'a CExpr,
}

/// Functions of one kind; `None` for any other function.
type Family<'a> = fn(&mut Reader<'a>, Call<'a>) -> Read<Option<ReadValue>>;

/// Whether a name is one of a list, which has spaces between them.
pub(super) fn lists(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

impl<'a> Reader<'a> {
    /// A call of a builtin function.
    pub fn builtin(&mut self, call: Call<'a>) -> Read<ReadValue> {
        let Call { name, arguments, e } = call;
        match name {
            "barrier" | "work_group_barrier" => {
                self.barriers += 1;
                self.emit(NodeKind::Barrier, &e.at);
                return Ok(ReadValue::other(Dependence::Uniform));
            }
            "mem_fence"
            | "read_mem_fence"
            | "write_mem_fence"
            | "atomic_work_item_fence"
            | "__builtin_assume" => {
                return Ok(ReadValue::other(Dependence::Uniform));
            }
            "prefetch" => {
                self.all(arguments)?;
                return Ok(ReadValue::other(Dependence::Uniform));
            }
            "printf" => {
                self.all(arguments)?;
                self.assume(Assumed::Printed { at: e.at.clone() });
                return Ok(self.unknown(&e.ty, Dependence::Data));
            }
            // What is expected of a value changes nothing of it.
            "__builtin_expect" => {
                if let [value, ..] = self.all(arguments)?.as_slice() {
                    return Ok(value.clone());
                }
            }
            _ => {}
        }
        let families: [Family<'a>; 5] = [
            Reader::item_function,
            Reader::atomic_function,
            Reader::vector_function,
            Reader::integer_function,
            Reader::math_function,
        ];
        for family in families {
            if let Some(value) = family(self, call)? {
                return Ok(value);
            }
        }
        Err(refusal(name, &e.at))
    }

    /// The values of arguments.
    fn all(&mut self, arguments: &'a [CExpr]) -> Read<Vec<ReadValue>> {
        arguments.iter().map(|argument| self.value(argument)).collect()
    }

    /// What all these depend on together.
    fn joint(&self, values: &[ReadValue]) -> Dependence {
        values.iter().map(|v| v.depends(&self.terms)).max().unwrap_or(Dependence::Uniform)
    }
}

fn refusal(name: &str, at: &SourcePlace) -> ReadError {
    for (start, what, fix) in REFUSED {
        if name.starts_with(start) {
            return ReadError::at(at, format!("{what} ({name}) is not read"), fix);
        }
    }
    ReadError::at(
        at,
        format!("the function '{name}' is not known and has no body"),
        "define it in the file",
    )
}
