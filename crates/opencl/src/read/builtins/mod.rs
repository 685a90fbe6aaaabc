//! Functions of OpenCL C's library.

mod atomic;
mod items;
mod numbers;
mod vectors;

use super::nodes::NodeKind;
use super::types::{is_real, width};
use super::value::ReadValue;
use super::{Read, Reader, range_of};
use crate::ast::CExpr;
use crate::error::ReadError;
use crate::steps::{Arithmetic, Assumed, Dependence};

/// Functions that are refused, by how their names begin: what they are, and what to write.
const REFUSED: [(&str, &str, &str); 2] = [
    ("enqueue_", "a launch on the device", "launch from the host"),
    ("get_pipe_", "a pipe", "pass the data in a buffer"),
];

#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub name: &'a str,
    pub arguments: &'a [CExpr],
    pub e: &'a CExpr,
}

/// Functions of one kind; `None` for any other function.
type Family<'a> = fn(&mut Reader<'a>, Call<'a>) -> Read<Option<ReadValue>>;

/// Whether a function of the library writes no memory that its last argument does not point to.
pub(crate) fn is_pure(name: &str) -> bool {
    numbers::is_known(name)
        || matches!(name, "shuffle" | "shuffle2")
        || ["work_group_", "sub_group_", "get_sub_group_", "get_image_", "is_valid_event"]
            .iter()
            .any(|start| name.starts_with(start))
            && !name.contains("_block_write")
}

/// Whether a function has a further result behind its last argument.
pub(crate) fn writes_last(name: &str) -> bool {
    numbers::has_two_results(name)
}

impl<'a> Reader<'a> {
    pub fn builtin(&mut self, call: Call<'a>) -> Read<ReadValue> {
        let Call { name, arguments, e } = call;
        match name {
            // What asynchronous copies bring is there for all items.
            "barrier" | "work_group_barrier" | "wait_group_events" => {
                self.barriers += 1;
                self.emit(NodeKind::Barrier, &e.at);
                return Ok(ReadValue::other(Dependence::Uniform));
            }
            "mem_fence"
            | "read_mem_fence"
            | "write_mem_fence"
            | "atomic_work_item_fence"
            | "__syncwarp"
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
        let families: [Family<'a>; 7] = [
            Reader::item_function,
            Reader::group_function,
            Reader::image_function,
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
        self.bodiless(call)
    }

    /// A sum of as many products as the argument states, by tensor cores.
    fn tensor_multiply(&mut self, Call { arguments, e, .. }: Call<'a>) -> Read<ReadValue> {
        if let [ReadValue::Int(products)] = self.all(arguments)?.as_slice()
            && let Some(amount) = products.constant().and_then(|n| u32::try_from(n).ok())
        {
            let kind = NodeKind::Compute { kind: Arithmetic::Tensor, amount, width: 1 };
            self.emit(kind, &e.at);
        }
        Ok(self.unknown(&e.ty, Dependence::Data))
    }

    /// A function without a body: operations as stated; what pointers reach may have changed.
    fn bodiless(&mut self, call: Call<'a>) -> Read<ReadValue> {
        let Call { name, arguments, e } = call;
        if name == "tb_multiply" {
            return self.tensor_multiply(call);
        }
        if let Some((_, what, fix)) = REFUSED.iter().find(|(start, ..)| name.starts_with(start)) {
            return Err(ReadError::at(&e.at, format!("{what} ({name}) is not read"), *fix));
        }
        let values = self.all(arguments)?;
        match self.price_of_call(name) {
            Some((bound, range)) => {
                let count = self.terms.uniform(&bound, range_of(range));
                let kind = if is_real(&e.ty) { Arithmetic::Real } else { Arithmetic::Integer };
                let ((), body) = self.capture(|r| {
                    r.compute(kind, width(&e.ty), &e.at);
                    Ok(())
                })?;
                self.emit(NodeKind::Repeat { count, whole: None, body }, &e.at);
            }
            None => self.ask(ReadError::Bodiless { at: e.at.clone(), name: name.to_owned() }),
        }
        for value in values.into_iter().filter(|value| matches!(value, ReadValue::Pointer(_))) {
            let place = self.pointee(value, &e.at)?;
            self.smudge_place(&place);
        }
        Ok(self.unknown(&e.ty, Dependence::Data))
    }

    fn all(&mut self, arguments: &'a [CExpr]) -> Read<Vec<ReadValue>> {
        arguments.iter().map(|argument| self.value(argument)).collect()
    }

    /// What all these depend on together.
    fn joint(&self, values: &[ReadValue]) -> Dependence {
        values.iter().map(|v| v.depends(&self.terms)).max().unwrap_or(Dependence::Uniform)
    }
}
