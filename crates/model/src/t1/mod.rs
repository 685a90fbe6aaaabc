//! T1: the files in which auto-tuners exchange tuning problems.
//!
//! A T1 file (FAIR autotuning formats, as written by Kernel Tuner, KTT and BAT) is JSON with a
//! `ConfigurationSpace` - parameters with the values they may take, and conditions in Python - and
//! a `KernelSpecification` - the source, its arguments, how it is launched. [`read`] turns one into
//! a problem of [our format](crate), [`write()`] turns a problem into one. What the two promise:
//! the configurations are the same ones.
//!
//! T1 has no platform and no timing model. A problem that was read from T1 has [`PLATFORM`] in its
//! place, under which nothing costs anything, until another is chosen; and it has a kernel only if
//! its language is OpenCL ([`without_program`] has the reason). Values are lists, ranges,
//! comprehensions and sums of them, as Python writes them. All numbers are whole numbers: a
//! parameter whose values are texts or fractions is refused by name.
//!
//! ```
//! use indexmap::IndexMap;
//! use tickbound_model::{Problem, t1};
//!
//! let file = serde_json::json!({
//!     "ConfigurationSpace": {
//!         "TuningParameters": [
//!             { "Name": "WG", "Type": "int", "Values": "[32, 64, 128]" },
//!             { "Name": "TS", "Type": "int", "Values": [1, 2, 4] } ],
//!         "Conditions": [ { "Expression": "WG * TS <= 128", "Parameters": ["WG", "TS"] } ] },
//!     "KernelSpecification": { "Language": "CUDA", "KernelName": "sum", "ProblemSize": [1024],
//!         "GlobalSizeType": "CUDA", "GridDivX": ["WG", "TS"], "LocalSize": { "X": "WG" } } });
//! let value = t1::read(&file).unwrap();
//! let problem = Problem::from_value(&value, &IndexMap::new(), &|_| unreachable!()).unwrap();
//! assert_eq!((problem.space().unwrap().bound.len(), problem.choices().unwrap()), (6, 9));
//!
//! let again = t1::read(&t1::write(&problem).unwrap()).unwrap();
//! let again = Problem::from_value(&again, &IndexMap::new(), &|_| unreachable!()).unwrap();
//! assert_eq!(again.space().unwrap().bound.len(), 6);
//! ```

mod arguments;
mod python;
mod read;
mod text;
mod values;
mod write;

pub use arguments::CompilerOptions;
pub use read::{PLATFORM, is_t1, read, without_program};
pub use write::write;
