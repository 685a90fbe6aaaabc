//! Calls of functions of the file and of builtins.

use tickbound_opencl::ast::{CExpr, CFunction};

use super::types::convert;
use super::{Flow, Machine, Run, Value};

impl<'u> Machine<'u> {
    pub(super) fn call(&mut self, name: &str, arguments: &'u [CExpr], e: &'u CExpr) -> Run<Value> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        if let Some(function) = self.unit.functions.get(name) {
            return self.function(function, values, e);
        }
        let int = |i: usize| match values.get(i) {
            Some(Value::Int(v)) => Some(*v),
            _ => None,
        };
        let d = usize::try_from(int(0).unwrap_or(0)).unwrap_or(9);
        let of =
            |values: [i64; 3], outside: i64| Value::Int(values.get(d).copied().unwrap_or(outside));
        let item = self.item;
        Ok(match (name, int(0), int(1)) {
            ("get_local_id", ..) => of(item.lid, 0),
            ("get_group_id", ..) => of(item.group, 0),
            ("get_local_size", ..) => of(item.local, 1),
            ("get_num_groups", ..) => of(item.groups, 1),
            ("get_global_id", ..) => {
                let ids = [0, 1, 2].map(|d| item.group[d] * item.local[d] + item.lid[d]);
                of(ids, 0)
            }
            ("get_global_size", ..) => of([0, 1, 2].map(|d| item.groups[d] * item.local[d]), 1),
            ("min", Some(a), Some(b)) => Value::Int(a.min(b)),
            ("max", Some(a), Some(b)) => Value::Int(a.max(b)),
            ("abs", Some(a), _) => Value::Int(a.abs()),
            ("mad24", Some(a), Some(b)) => match int(2) {
                Some(c) => convert(Value::Int(a * b + c), &e.ty)?,
                None => Value::Other,
            },
            ("barrier", ..) => {
                self.counts.barriers += 1;
                Value::Other
            }
            ("vload4" | "vload2", ..) => self.through(values[1], false),
            ("vstore4" | "vstore2", ..) => self.through(values[2], true),
            ("atomic_add" | "atomic_inc", ..) => {
                if let Value::Memory(space) = values[0] {
                    *self.counts.atomics.entry(space).or_default() += 1;
                }
                self.drawn(&e.ty)
            }
            _ => self.drawn(&e.ty),
        })
    }

    fn through(&mut self, pointer: Value, store: bool) -> Value {
        if let Value::Memory(space) = pointer {
            let of = if store { &mut self.counts.stores } else { &mut self.counts.loads };
            *of.entry(space).or_default() += 1;
        }
        Value::Other
    }

    fn function(&mut self, function: &'u CFunction, values: Vec<Value>, e: &CExpr) -> Run<Value> {
        for (parameter, value) in function.parameters.iter().zip(values) {
            let value = convert(value, &parameter.ty)?;
            self.fill(parameter.id, value);
        }
        match self.block(&function.body)? {
            Flow::Return(value) => convert(value, &function.result),
            _ => Ok(self.drawn(&e.ty)),
        }
    }
}
