//! Loads and stores of vectors through pointers to scalars; conversions; shuffles.

use super::super::formulas::FormulaId;
use super::super::places::ObjectPlace;
use super::super::symbolic::Poly;
use super::super::types::{self, Integer, width};
use super::super::value::ReadValue;
use super::super::{Read, Reader};
use super::Call;
use crate::ast::CExpr;
use crate::steps::{Arithmetic, Dependence};

/// How the vectors of a `vload` or `vstore` lie in memory.
struct Layout {
    width: u8,
    /// Distance of vectors in components.
    pitch: i64,
}

impl<'a> Reader<'a> {
    /// `vload4`, `vstore_half2`, `convert_int4`, `as_float`, `shuffle`.
    pub fn vector_function(&mut self, call: Call<'a>) -> Read<Option<ReadValue>> {
        let Call { name, arguments, e } = call;
        if let (Some(layout), [index, pointer]) = (layout(name, "vload"), arguments) {
            let index = self.index(|r| r.whole(index))?;
            let formula = self.scattered(pointer, &index, &layout, None, e)?;
            return Ok(Some(self.made(&e.ty, Dependence::Data, formula)));
        }
        if let (Some(layout), [data, index, pointer]) = (layout(name, "vstore"), arguments) {
            let data = self.value(data)?;
            let index = self.index(|r| r.whole(index))?;
            let depends = data.depends(&self.terms);
            let formula = self.formula_of(&data);
            self.scattered(pointer, &index, &layout, Some((depends, formula)), e)?;
            return Ok(Some(ReadValue::other(depends)));
        }
        if let (true, [argument]) = (name.starts_with("convert_"), arguments) {
            return self.conversion(name, argument, e).map(Some);
        }
        if let (true, [argument]) = (name.starts_with("as_"), arguments) {
            let value = self.value(argument)?;
            return Ok(Some(match (Integer::of(&argument.ty), Integer::of(&e.ty)) {
                (Some(a), Some(b)) if a.bits == b.bits => {
                    self.convert(value, &argument.ty, &e.ty, &e.at)
                }
                _ if matches!(value, ReadValue::Pointer(_)) => value,
                _ => self.unknown(&e.ty, value.depends(&self.terms)),
            }));
        }
        if matches!(name, "shuffle" | "shuffle2") {
            let values = self.all(arguments)?;
            self.compute(Arithmetic::Integer, width(&e.ty), &e.at);
            return Ok(Some(ReadValue::Other(self.joint(&values), FormulaId::UNKNOWN)));
        }
        Ok(None)
    }

    fn conversion(&mut self, name: &str, argument: &'a CExpr, e: &'a CExpr) -> Read<ReadValue> {
        let value = self.value(argument)?;
        if !name.contains("_sat") && Integer::of(&argument.ty).is_some() {
            return Ok(self.convert(value, &argument.ty, &e.ty, &e.at));
        }
        if argument.ty != e.ty {
            self.compute(Arithmetic::Convert, width(&e.ty), &e.at);
        }
        Ok(self.unknown(&e.ty, value.depends(&self.terms)))
    }

    /// One access of a vector behind a pointer to its components.
    fn scattered(
        &mut self,
        pointer: &'a CExpr,
        index: &Poly,
        layout: &Layout,
        store: Option<(Dependence, FormulaId)>,
        e: &'a CExpr,
    ) -> Read<FormulaId> {
        let value = self.value(pointer)?;
        let element = pointer.ty.element().map_or(4, |ty| types::parts(ty).0);
        let pitch = Poly::int(layout.pitch * i64::from(element));
        match (self.pointee_at(value, (index, &pitch), &e.at)?, store) {
            (ObjectPlace::Memory(space, name, offset), store) => {
                let whole = (element, layout.width);
                let loaded = self.access(store.is_some(), (space, &name, &offset), whole, &e.at);
                if let Some((_, formula)) = store {
                    self.store_formula((space, &name, &offset), vec![formula], true);
                }
                Ok(loaded)
            }
            (place, store) => {
                if store.is_some() {
                    self.smudge_place(&place);
                }
                Ok(FormulaId::UNKNOWN)
            }
        }
    }
}

/// The layout in the function's name: `vload4`, `vloada_half3`, `vstore_half2_rte`.
fn layout(name: &str, verb: &str) -> Option<Layout> {
    let rest = name.strip_prefix(verb)?;
    let (rest, aligned, half) = match (rest.strip_prefix("a_half"), rest.strip_prefix("_half")) {
        (Some(rest), _) => (rest, true, true),
        (_, Some(rest)) => (rest, false, true),
        _ => (rest, false, false),
    };
    let digits = rest.split('_').next().unwrap_or_default();
    let width: u8 = match digits {
        "" if half => 1,
        digits => digits.parse().ok()?,
    };
    let pitch = if aligned && width == 3 { 4 } else { i64::from(width) };
    Some(Layout { width, pitch })
}
