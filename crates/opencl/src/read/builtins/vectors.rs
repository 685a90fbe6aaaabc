//! Loads and stores of vectors through pointers to scalars; conversions; shuffles; images.
//!
//! Images are buffers of texels in rows. A texel has four components of the type in which it is
//! read or written. How it is stored, that samplers move coordinates and that filters read
//! neighbours is left out: one request brings a texel.

use super::super::formulas::FormulaId;
use super::super::nodes::{NodeKind, Reach};
use super::super::places::ObjectPlace;
use super::super::symbolic::{Poly, WideInterval};
use super::super::types::{self, INT, Integer, parts, width};
use super::super::value::{Pointer, ReadValue, Target, VectorParts};
use super::super::{Read, Reader};
use super::Call;
use crate::ast::{CExpr, SourcePlace, Type};
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
            let index = self.index(|r| r.distance(index))?;
            let formula = self.scattered(pointer, &index, &layout, None, e)?;
            return Ok(Some(self.made(&e.ty, Dependence::Data, formula)));
        }
        if let (Some(layout), [data, index, pointer]) = (layout(name, "vstore"), arguments) {
            let data = self.value(data)?;
            let index = self.index(|r| r.distance(index))?;
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

/// Most texels in a row, and most rows.
const MOST: i64 = 1 << 16;

impl<'a> Reader<'a> {
    /// `read_imagef`, `write_imageui`, `get_image_width` and the like.
    pub fn image_function(&mut self, call: Call<'a>) -> Read<Option<ReadValue>> {
        let Call { name, arguments, e } = call;
        let [image, rest @ ..] = arguments else { return Ok(None) };
        if let Some(what) = name.strip_prefix("get_image_") {
            let image = self.value(image)?;
            return Ok(Some(self.image_number(what, &image, e)));
        }
        let store = name.starts_with("write_image");
        if !store && !name.starts_with("read_image") {
            return Ok(None);
        }
        let sampled = |e: &CExpr| matches!(&e.ty, Type::Other(ty) if ty.contains("sampler"));
        let rest = if rest.first().is_some_and(sampled) { &rest[1..] } else { rest };
        let data = rest.last().filter(|_| store);
        let [coordinates, ..] = rest else { return Ok(None) };
        let image = self.value(image)?;
        data.map(|data| self.value(data)).transpose()?;
        let whole = parts(data.map_or(&e.ty, |data| &data.ty));
        let place = self.coordinates(coordinates)?;
        // Of four components in OpenCL C, of those of the number that is read in CUDA.
        let place = self.texel(&image, place, i64::from(whole.0) * i64::from(whole.1));
        self.texel_access(store, &place, whole, &e.at);
        Ok(Some(self.unknown(&e.ty, Dependence::Data)))
    }

    /// Counts an access of an image. A coordinate may lie outside, where nothing is loaded or
    /// stored, so no least count may rest on it.
    pub fn texel_access(
        &mut self,
        store: bool,
        place: &ObjectPlace,
        whole: (u8, u8),
        at: &SourcePlace,
    ) {
        if let ObjectPlace::Memory(space, array, offset) = place {
            let reach = Reach::new(store, (*space, array, offset), whole);
            self.emit(NodeKind::Access(Reach { maybe: true, ..reach }), at);
        }
    }

    /// Where a texel of this many bytes lies.
    pub fn texel(&mut self, image: &ReadValue, [x, y, z]: [Poly; 3], bytes: i64) -> ObjectPlace {
        let ReadValue::Pointer(Pointer { target: Target::Memory(space, name), .. }) = image else {
            return ObjectPlace::Value(Dependence::Data);
        };
        let (width, height) = (self.image_size(name, "width"), self.image_size(name, "height"));
        let mut row = y;
        if z != Poly::int(0) {
            let rows = self.terms.mul(&z, &height);
            row = self.terms.add(&rows, &row);
        }
        let before = self.terms.mul(&row, &width);
        let texels = self.terms.add(&before, &x);
        let offset = self.terms.mul(&texels, &Poly::int(bytes));
        ObjectPlace::Memory(*space, name.clone(), offset)
    }

    fn image_size(&mut self, image: &str, what: &str) -> Poly {
        self.terms.uniform(&format!("${image}.{what}"), WideInterval::new(1, MOST))
    }

    /// The coordinates in an image. Real ones are taken to be those of the item in the launch, as
    /// images are sampled one texel after the other.
    pub fn coordinates(&mut self, e: &'a CExpr) -> Read<[Poly; 3]> {
        let value = self.index(|r| r.value(e))?;
        let depends = value.depends(&self.terms);
        let lanes = match &e.ty {
            Type::Vector(_, lanes) => usize::from(*lanes),
            _ => 1,
        };
        let whole = Integer::of(&e.ty).is_some()
            || matches!(&e.ty, Type::Vector(scalar, _)
                if Integer::of(&Type::Scalar(*scalar)).is_some());
        let mut all = [const { 0 }; 3].map(Poly::int);
        for (d, place) in all.iter_mut().enumerate().take(lanes) {
            let part = value.part(4 * i64::try_from(d).unwrap_or(0), INT);
            *place = match (&value, part) {
                _ if !whole && depends > Dependence::Uniform => match d < self.request.dimensions {
                    true => self.global_id(d),
                    false => self.terms.unknown(Dependence::Uniform),
                },
                (ReadValue::Int(number), _) => number.clone(),
                (_, Some(part)) => part,
                _ => self.terms.unknown(depends),
            };
        }
        Ok(all)
    }

    /// The number that a function gives of an image.
    fn image_number(&mut self, what: &str, image: &ReadValue, e: &CExpr) -> ReadValue {
        let ReadValue::Pointer(Pointer { target: Target::Memory(_, name), .. }) = image else {
            return self.unknown(&e.ty, Dependence::Uniform);
        };
        match what {
            "width" | "height" | "depth" => ReadValue::Int(self.image_size(name, what)),
            "array_size" => ReadValue::Int(self.image_size(name, "depth")),
            "dim" => {
                let sizes = ["width", "height", "depth"].map(|what| self.image_size(name, what));
                let parts = [0, 4, 8].into_iter().zip(sizes.map(|size| (INT, size)));
                let two = parts.take(if matches!(e.ty, Type::Vector(_, 2)) { 2 } else { 3 });
                ReadValue::with_parts(Dependence::Uniform, two.collect::<VectorParts>())
            }
            _ => self.unknown(&e.ty, Dependence::Uniform),
        }
    }
}
