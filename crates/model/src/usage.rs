//! What a kernel uses of a device, as named whole-number expressions.
//!
//! The profile `resources` computes a run time from these (`docs/semantics.md` has the formulas). A
//! problem file states them in its field `usage`; the reader of a kernel's source adds those that
//! the file does not state ([`Problem::set_usage`](crate::Problem::set_usage)). They are over
//! inputs, platform numbers, parameters and definitions: nothing that differs between items.

use super::error::ModelError;
use super::json::Field;
use super::scope::{ITEM_NAMES, Scope};
use tickbound_expr::Expr;

macro_rules! usage {
    ($($(#[doc = $about:tt])+ $name:ident,)+) => {
        /// What a kernel uses; 0 where nothing was stated.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Usage {
            $($(#[doc = $about])+ pub $name: Expr,)+
        }

        impl Default for Usage {
            fn default() -> Usage {
                Usage { $($name: Expr::Int(0),)+ }
            }
        }

        impl Usage {
            /// The names, in the order of the fields.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// The expressions under their names, in the order of the fields.
            pub fn entries(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
                [$((stringify!($name), &self.$name)),+].into_iter()
            }

            /// As [`Usage::entries`], to be changed.
            pub fn entries_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut Expr)> {
                [$((stringify!($name), &mut self.$name)),+].into_iter()
            }
        }
    };
}

usage! {
    /// Of one warp: instructions on real numbers.
    real,
    /// Of one warp: instructions on whole numbers, addresses and loop counters.
    integer,
    /// Of one warp: conversions between kinds of numbers.
    convert,
    /// Of one warp: special functions such as roots and sines.
    special,
    /// Of one warp: multiplications and additions by tensor cores, of each item.
    tensor,
    /// Of one warp: branches.
    branches,
    /// Of one warp: requests to local memory.
    local_requests,
    /// Of one warp: passes of local memory that its requests take.
    local_wavefronts,
    /// Of one warp: requests to global memory.
    global_requests,
    /// Of one warp: passes of the L1 cache that its global requests take.
    global_wavefronts,
    /// Of one warp: lines that its global requests touch, each request for itself.
    global_lines,
    /// Of one warp: the global requests on the path for data that nothing writes.
    read_only_requests,
    /// Of one warp: barriers that it reaches.
    barriers,
    /// Of one group: bytes between L1 and L2.
    l2_bytes,
    /// Of one group: bytes of local memory.
    local_bytes,
    /// Of one group: steps that wait for global lines that are new, in sequence.
    far_steps,
    /// Of one group: steps that wait for lines that L1 has, in sequence.
    near_steps,
    /// Of one group: steps that wait for local memory, in sequence.
    local_steps,
    /// Of one item: 32-bit registers that are live at once.
    registers,
    /// Of one item: memory operations for each register above those it can have.
    spill_uses,
    /// Of the whole launch: bytes read that are not in L2, if more than `dram_bytes`.
    beyond_l2_bytes,
    /// Of the whole launch: bytes between L2 and the cache behind it, if more than `dram_bytes`.
    l3_bytes,
    /// Of the whole launch: bytes between the last cache and the device's memory.
    dram_bytes,
    /// Of the whole launch: atomic operations on one address of global memory, done in sequence.
    shared_atomics,
    /// Of the whole launch: clocks that it takes at least, also if it uses less.
    least_clocks,
}

/// What one line of a kernel's source adds to its usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineUsage {
    /// The file, as messages name it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What it adds.
    pub usage: Usage,
}

impl Usage {
    /// The fault that nothing is counted, if nothing is: a time of nothing would be invented.
    ///
    /// # Errors
    /// All of it is 0.
    pub fn is_counted(&self) -> Result<(), ModelError> {
        if self.entries().any(|(_, expr)| *expr != Expr::Int(0)) {
            return Ok(());
        }
        let what = "is empty, but the profile resources needs to know what the kernel uses";
        Err(ModelError::new("usage", what, "state it, or take a kernel in OpenCL C"))
    }

    /// Reads the field `usage` of a problem, and which names it states.
    pub(crate) fn read(
        field: Option<Field<'_>>,
        scope: &Scope,
    ) -> Result<(Usage, Vec<&'static str>), ModelError> {
        let (mut usage, mut stated) = (Usage::default(), Vec::new());
        let Some(field) = field else { return Ok((usage, stated)) };
        let mut object = field.object()?;
        for (name, expr) in usage.entries_mut() {
            if let Some(field) = object.take(name) {
                let parsed = scope.parsed(&field.path, &field.expression()?)?;
                *expr = parsed.resolve(&mut |n| scope.slot(n)).map_err(|n| {
                    match ITEM_NAMES.contains(&n.as_str()) {
                        true => of_items(&field.path, &n),
                        false => scope.unknown(&field.path, &n),
                    }
                })?;
                stated.push(name);
            }
        }
        object.finish()?;
        Ok((usage, stated))
    }
}

/// The fault that an expression names what differs between items.
pub(crate) fn of_items(at: &str, name: &str) -> ModelError {
    let fix =
        "it differs between items, and usage does not: state that of a warp, a group or the launch";
    ModelError::new(at, format!("unknown name `{name}`"), fix)
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use serde_json::{Value, json};

    use super::*;
    use crate::Problem;

    fn problem(usage: &Value) -> Result<Problem, ModelError> {
        let value = json!({
            "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
            "parameters": { "TS": [1, 2] }, "definitions": { "twice": "2 * TS" },
            "launch": { "global_size": 8, "local_size": 4 }, "kernel": [], "usage": usage
        });
        Problem::from_value(&value, &IndexMap::new(), &|_| unreachable!())
    }

    fn shown(problem: &Problem) -> Vec<String> {
        let used = problem.usage().entries().filter(|(_, e)| **e != Expr::Int(0));
        used.map(|(name, e)| format!("{name}: {}", problem.scope.show(e))).collect()
    }

    #[test]
    fn stated_and_counted() {
        let mut read =
            problem(&json!({ "real": "twice + units_per_device", "barriers": 3 })).unwrap();
        assert_eq!(shown(&read), ["real: twice + units_per_device", "barriers: 3"]);
        let counted = Usage { real: Expr::Int(7), integer: Expr::Int(8), ..Usage::default() };
        read.set_usage(counted, Vec::new()).unwrap();
        assert_eq!(shown(&read), ["real: twice + units_per_device", "integer: 8", "barriers: 3"]);
    }

    #[test]
    fn faults() {
        let refused = |usage: Value| problem(&usage).unwrap_err().to_string();
        assert_eq!(
            refused(json!({ "reel": 1 })),
            "usage.reel: unknown field; did you mean `real`?"
        );
        let item = "usage.real: unknown name `lid`; it differs between items, and usage does not: \
                    state that of a warp, a group or the launch";
        assert_eq!(refused(json!({ "real": "lid + 1" })), item);
        assert!(
            refused(json!({ "real": [1] }))
                .starts_with("usage.real: found [1]; write an expression")
        );

        let mut read = problem(&json!({})).unwrap();
        let before = read.clone();
        let of = |real| Usage { real, ..Usage::default() };
        let lid = read.first_item_slot();
        assert_eq!(read.set_usage(of(Expr::Name(lid)), Vec::new()).unwrap_err().to_string(), item);
        let nowhere = "usage.real: there is no name in slot 99; use another slot";
        assert_eq!(
            read.set_usage(of(Expr::Name(99)), Vec::new()).unwrap_err().to_string(),
            nowhere
        );
        assert_eq!(read, before);
    }
}
