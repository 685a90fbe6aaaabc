//! Calls of functions of the file and of builtins.

use tickbound_opencl::ast::{AddressSpace, CExpr, CFunction};

use super::types::convert;
use super::{Flow, Machine, Run, Value};

const GLOBAL: AddressSpace = AddressSpace::Global;

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
            ("barrier" | "wait_group_events", ..) => {
                self.counts.barriers += 1;
                Value::Other
            }
            _ if name.contains("sub_group") || name.starts_with("work_group_") => {
                self.collective(name, values.first().copied(), e)
            }
            _ if name.starts_with("read_image") => self.through(Value::Memory(GLOBAL), false),
            _ if name.starts_with("write_image") => self.through(Value::Memory(GLOBAL), true),
            ("vload4" | "vload2" | "vload_half" | "vload_half4", ..) => {
                self.through(values[1], false)
            }
            ("vstore4" | "vstore2" | "vstore_half4", ..) => self.through(values[2], true),
            ("atomic_add" | "atomic_inc", ..) => {
                if let Value::Memory(space) = values[0] {
                    *self.counts.atomics.entry(space).or_default() += 1;
                }
                self.drawn(&e.ty)
            }
            _ => self.drawn(&e.ty),
        })
    }

    /// Sub-groups are of consecutive items in dimension 0.
    fn collective(&mut self, name: &str, first: Option<Value>, e: &CExpr) -> Value {
        let (place, items) = (self.item.lid[0], self.item.local[0]);
        let steps = match self.warp {
            1 => 0,
            2 => 1,
            4 => 2,
            8 => 3,
            32 => 5,
            other => panic!("sub-groups of {other}"),
        };
        let all = |name: &str, parts: &[&str]| parts.iter().any(|part| name.contains(part));
        match name {
            "get_sub_group_size" => return Value::Int(self.warp.min(items)),
            "get_max_sub_group_size" => return Value::Int(self.warp),
            "get_sub_group_id" => return Value::Int(place / self.warp),
            "get_sub_group_local_id" => return Value::Int(place % self.warp),
            "get_num_sub_groups" => return Value::Int((items + self.warp - 1) / self.warp),
            _ if name.contains("_block_") => {
                let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
                let pointer = first.unwrap_or(Value::Other);
                for _ in 0..digits.parse().unwrap_or(1) {
                    self.through(pointer, name.contains("_write"));
                }
            }
            _ => {
                let times = if name.starts_with("work_group_") { 2 } else { 1 };
                self.counts.barriers += times - 1;
                self.counts.shuffles += times
                    * match name {
                        _ if all(name, &["_exclusive_"]) => steps + 1,
                        _ if all(name, &["_reduce_", "_scan_"]) => steps,
                        _ if all(name, &["_broadcast", "_shuffle", "_rotate"]) => 1,
                        _ => 0,
                    };
            }
        }
        // What all items have. A program whose counts depend on what some have is refused.
        match first {
            Some(Value::Int(own)) if all(name, &["_any", "_all"]) => {
                Value::Int(i64::from(own != 0))
            }
            Some(own @ Value::Int(_)) if all(name, &["_broadcast", "_shuffle", "_max"]) => own,
            _ => self.drawn(&e.ty),
        }
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
