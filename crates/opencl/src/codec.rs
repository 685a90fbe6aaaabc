//! Requests, texts and readings as bytes.
//!
//! Whole numbers are of eight bytes, a list is its length and what is in it, one of several kinds
//! is its number and what belongs to it. Names of files are numbered, in front.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use tickbound_expr::{BinaryOp, Function};
use tickbound_model::ModelError;
use tickbound_model::source::{ElementType, QuestionKey, Side, Standard};

use crate::ast::{AddressSpace, SourcePlace};
use crate::error::ReadError;
use crate::preprocess::{Expanded, Said};
use crate::reading::{By, KernelParameter, KernelSignature, One, ParameterType};
use crate::request::{LaunchBound, Passed, ReadRequest, Symbol};
use crate::steps::{
    Arithmetic, Array, Assumed, Dependence, Digit, KernelStep, KernelStepKind, KernelSteps,
    MemoryAccess, RequiredGroup, Stride, SymbolExpr,
};

/// The bytes of a value.
pub(crate) fn write(value: &impl Stored) -> Vec<u8> {
    let mut body = Out::default();
    value.put(&mut body);
    let mut all = Out::default();
    let files: Vec<String> = body.files.iter().map(|file| file.to_string()).collect();
    files.put(&mut all);
    all.bytes.extend(body.bytes);
    all.bytes
}

/// The value that bytes are; `None` if they are none.
pub(crate) fn read<T: Stored>(bytes: &[u8]) -> Option<T> {
    let mut from = In { bytes, files: Vec::new() };
    let files: Vec<String> = Stored::take(&mut from)?;
    from.files = files.into_iter().map(Arc::from).collect();
    let value = Stored::take(&mut from)?;
    from.bytes.is_empty().then_some(value)
}

/// What has been written so far.
#[derive(Default)]
pub(crate) struct Out {
    bytes: Vec<u8>,
    files: IndexSet<Arc<str>>,
}

/// What is still to be read.
pub(crate) struct In<'b> {
    bytes: &'b [u8],
    files: Vec<Arc<str>>,
}

/// What is written and read back.
pub(crate) trait Stored: Sized {
    /// Adds its bytes.
    fn put(&self, to: &mut Out);
    /// Takes it from the front.
    fn take(from: &mut In<'_>) -> Option<Self>;
}

impl Stored for i64 {
    fn put(&self, to: &mut Out) {
        to.bytes.extend(self.to_le_bytes());
    }

    fn take(from: &mut In<'_>) -> Option<i64> {
        let (value, rest) = from.bytes.split_first_chunk()?;
        from.bytes = rest;
        Some(i64::from_le_bytes(*value))
    }
}

/// Whole numbers of another size.
macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Stored for $ty {
            fn put(&self, to: &mut Out) {
                i64::try_from(*self).unwrap_or(-1).put(to);
            }

            fn take(from: &mut In<'_>) -> Option<$ty> {
                i64::take(from)?.try_into().ok()
            }
        }
    )*};
}
numbers!(usize, u32, u8);

impl Stored for bool {
    fn put(&self, to: &mut Out) {
        u8::from(*self).put(to);
    }

    fn take(from: &mut In<'_>) -> Option<bool> {
        Some(u8::take(from)? != 0)
    }
}

impl Stored for String {
    fn put(&self, to: &mut Out) {
        self.len().put(to);
        to.bytes.extend(self.as_bytes());
    }

    fn take(from: &mut In<'_>) -> Option<String> {
        let length = usize::take(from)?;
        let (text, rest) = from.bytes.split_at_checked(length)?;
        from.bytes = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl Stored for f64 {
    fn put(&self, to: &mut Out) {
        self.to_bits().cast_signed().put(to);
    }

    fn take(from: &mut In<'_>) -> Option<f64> {
        i64::take(from).map(|bits| f64::from_bits(bits.cast_unsigned()))
    }
}

impl Stored for PathBuf {
    fn put(&self, to: &mut Out) {
        self.as_os_str().as_bytes().to_vec().put(to);
    }

    fn take(from: &mut In<'_>) -> Option<PathBuf> {
        Some(std::ffi::OsString::from_vec(Vec::take(from)?).into())
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, to: &mut Out) {
        self.len().put(to);
        self.iter().for_each(|item| item.put(to));
    }

    fn take(from: &mut In<'_>) -> Option<Vec<T>> {
        let length = usize::take(from)?;
        (0..length).map(|_| T::take(from)).collect()
    }
}

impl Stored for BTreeSet<usize> {
    fn put(&self, to: &mut Out) {
        self.iter().copied().collect::<Vec<usize>>().put(to);
    }

    fn take(from: &mut In<'_>) -> Option<BTreeSet<usize>> {
        Some(Vec::take(from)?.into_iter().collect())
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, to: &mut Out) {
        self.is_some().put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut In<'_>) -> Option<Option<T>> {
        Some(if bool::take(from)? { Some(T::take(from)?) } else { None })
    }
}

impl<T: Stored, E: Stored> Stored for Result<T, E> {
    fn put(&self, to: &mut Out) {
        self.is_ok().put(to);
        match self {
            Ok(value) => value.put(to),
            Err(error) => error.put(to),
        }
    }

    fn take(from: &mut In<'_>) -> Option<Result<T, E>> {
        Some(if bool::take(from)? { Ok(T::take(from)?) } else { Err(E::take(from)?) })
    }
}

impl<K: Stored + Clone + Hash + Eq, V: Stored + Clone> Stored for IndexMap<K, V> {
    fn put(&self, to: &mut Out) {
        self.len().put(to);
        for (key, value) in self {
            key.put(to);
            value.put(to);
        }
    }

    fn take(from: &mut In<'_>) -> Option<IndexMap<K, V>> {
        Some(Vec::<(K, V)>::take(from)?.into_iter().collect())
    }
}

impl<T: Stored> Stored for Box<T> {
    fn put(&self, to: &mut Out) {
        (**self).put(to);
    }

    fn take(from: &mut In<'_>) -> Option<Box<T>> {
        T::take(from).map(Box::new)
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn put(&self, to: &mut Out) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut In<'_>) -> Option<(A, B)> {
        Some((A::take(from)?, B::take(from)?))
    }
}

impl Stored for SourcePlace {
    fn put(&self, to: &mut Out) {
        let (file, _) = to.files.insert_full(Arc::clone(&self.file));
        file.put(to);
        self.line.put(to);
        self.column.put(to);
    }

    fn take(from: &mut In<'_>) -> Option<SourcePlace> {
        let file = usize::take(from)?;
        let file = Arc::clone(from.files.get(file)?);
        Some(SourcePlace { file, line: Stored::take(from)?, column: Stored::take(from)? })
    }
}

/// Structures, field by field.
macro_rules! fields {
    ($($ty:ident { $($field:ident),* })*) => {$(
        impl Stored for $ty {
            fn put(&self, to: &mut Out) {
                $(self.$field.put(to);)*
            }

            fn take(from: &mut In<'_>) -> Option<$ty> {
                Some($ty { $($field: Stored::take(from)?),* })
            }
        }
    )*};
}
fields! {
    ReadRequest {
        path, name, more, include, entry, standard, symbols, texts, arguments, dimensions, launch,
        local, bounds, branches
    }
    LaunchBound { items, groups, local }
    Symbol { least, greatest }
    Expanded { text, open, asked, unroll }
    Said { file, line, times }
    ModelError { at, what, fix }
    One { parameters, types, steps, matched }
    ParameterType { text, by, element, bytes }
    KernelSignature { name, parameters, group }
    KernelParameter { name, ty }
    RequiredGroup { at, sizes }
    KernelSteps { body, locals, privates, read_only, required, assumed, dimensions }
    Array { name, bytes, at }
    Digit { stride, extent }
    KernelStep { kind, at }
    MemoryAccess { space, store, array, element, width, offset, items, digits, groups, iterations }
}

/// One of several kinds, each with a number.
macro_rules! kinds {
    ($($ty:ident {
        $($number:literal $kind:ident $(($($part:ident),*))? $({$($field:ident),*})?),*
    })*) => {$(
        impl Stored for $ty {
            fn put(&self, to: &mut Out) {
                match self {
                    $(Self::$kind $(($($part),*))? $({$($field),*})? => {
                        to.bytes.push($number);
                        $($($part.put(to);)*)?
                        $($($field.put(to);)*)?
                    })*
                }
            }

            fn take(from: &mut In<'_>) -> Option<Self> {
                let (number, rest) = from.bytes.split_first()?;
                from.bytes = rest;
                Some(match number {
                    $($number => {
                        $($(let $part = Stored::take(from)?;)*)?
                        $($(let $field = Stored::take(from)?;)*)?
                        Self::$kind $(($($part),*))? $({$($field),*})?
                    })*
                    _ => return None,
                })
            }
        }
    )*};
}
kinds! {
    Passed { 0 Memory, 1 Number(a), 2 Real(a) }
    QuestionKey { 0 Line(a), 1 Function { name, condition, place } }
    Side { 0 Then, 1 Else, 2 Both }
    Standard { 0 Cl12, 1 Cl30 }
    ReadError {
        0 Source { at, what, fix }, 1 Unbounded { at, key, on_data }, 2 File { name, what, fix },
        3 Model(a), 4 Stopped { name }, 5 Undeclared { at, what, values, types },
        6 Unsided { at, key, function }, 7 ManyReadings { name, structural },
        8 Differing { at, line, branch, most }, 9 Questions(a)
    }
    KernelStepKind {
        0 Access(a), 1 Atomic { space, array, offset, shared }, 2 Compute { kind, amount, width },
        3 Barrier, 4 Repeat { count, whole, body }, 5 If { condition, depends, then, otherwise }
    }
    SymbolExpr {
        0 Int(a), 1 Name(a), 2 Neg(a), 3 Not(a), 4 Binary(a, b, c), 5 Conditional(a, b, c),
        6 Call(a, b)
    }
    Stride { 0 Elements(a), 1 Irregular, 2 Data, 3 Shifted(a) }
    AddressSpace { 0 Private, 1 Local, 2 Global, 3 Constant, 4 Generic }
    Dependence { 0 Uniform, 1 Item, 2 Data }
    Assumed { 0 Once { at, key }, 1 Printed { at } }
    Arithmetic {
        0 Index, 1 Integer, 2 IntegerMultiply, 3 IntegerDivide, 4 Real, 5 RealMultiply,
        6 RealMultiplyAdd, 7 RealDivide, 8 Special, 9 Convert
    }
    By { 0 Buffer, 1 Local, 2 Value, 3 Whole }
    ElementType {
        0 Char, 1 Uchar, 2 Short, 3 Ushort, 4 Int, 5 Uint, 6 Long, 7 Ulong, 8 Float, 9 Double
    }
    Function { 0 Min, 1 Max, 2 Abs, 3 CeilDiv }
    BinaryOp {
        0 Add, 1 Sub, 2 Mul, 3 Div, 4 FloorDiv, 5 Rem, 6 Pow, 7 Eq, 8 Ne, 9 Lt, 10 Le, 11 Gt,
        12 Ge, 13 And, 14 Or
    }
}
