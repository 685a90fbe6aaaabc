//! Ids and sizes; functions that the items of a sub-group, or of a group, call together.
//!
//! Names of Khronos, Intel and Qualcomm mean the same. What an item gets from others is not known,
//! unless all of them have it.

use super::super::nodes::{KernelNode, NodeKind};
use super::super::places::ObjectPlace;
use super::super::symbolic::{Poly, WideInterval};
use super::super::types::{is_real, parts, width};
use super::super::value::ReadValue;
use super::super::{Read, Reader};
use super::Call;
use crate::ast::{CExpr, SourcePlace, Type};
use crate::error::ReadError;
use crate::lines::lists;
use crate::preprocess::REQUIRED_SUB_GROUP;
use crate::steps::{Arithmetic, Dependence};

/// Launches are taken to have less than this in each dimension.
const MAX_ITEMS: i64 = 1 << 31;
/// Groups are taken to have at most this in each dimension.
const MAX_LOCAL: i64 = 1 << 16;

impl<'a> Reader<'a> {
    /// `get_local_id` and the like.
    pub fn item_function(&mut self, call: Call<'a>) -> Read<Option<ReadValue>> {
        let Call { name, arguments, .. } = call;
        let dimensions = self.request.dimensions;
        let value = match name {
            "get_work_dim" => Poly::int(i64::try_from(dimensions).unwrap_or(1)),
            "get_global_linear_id" => self.linear(Reader::global_id, Reader::global_size),
            "get_local_linear_id" => self.linear(Reader::local_id, Reader::local_size),
            _ => match id_function(name) {
                None => return Ok(None),
                Some((f, outside)) => {
                    let d = self.dimension(arguments)?;
                    if d < dimensions { f(self, d) } else { Poly::int(outside) }
                }
            },
        };
        Ok(Some(ReadValue::Int(value)))
    }

    fn dimension(&mut self, arguments: &'a [CExpr]) -> Read<usize> {
        let [argument] = arguments else { return Ok(0) };
        let value = self.whole(argument)?;
        match value.constant() {
            Some(d) => Ok(usize::try_from(d).unwrap_or(usize::MAX)),
            None if self.probing > 0 => Ok(0),
            None => Err(ReadError::at(
                &argument.at,
                "the dimension is not a constant",
                "write 0, 1 or 2",
            )),
        }
    }

    /// Ids of all dimensions in one number.
    pub fn linear(
        &mut self,
        id: fn(&mut Self, usize) -> Poly,
        size: fn(&mut Self, usize) -> Poly,
    ) -> Poly {
        let dimensions = self.request.dimensions.clamp(1, 3);
        (0..dimensions).rev().fold(Poly::int(0), |sum, d| {
            let (id, size) = (id(self, d), size(self, d));
            let scaled = self.terms.mul(&sum, &size);
            self.terms.add(&scaled, &id)
        })
    }

    fn named(&mut self, name: &str, d: usize, range: (i64, i64), of: Option<Poly>) -> Poly {
        self.dimensions = self.dimensions.max(d + 1);
        let range = WideInterval::new(range.0, range.1);
        let upper = of.and_then(|of| of.sub(&Poly::int(1)));
        let depends = if name == "lid" { Dependence::Item } else { Dependence::Uniform };
        self.terms.name(&format!("${name}_{d}"), range, depends, upper.into_iter().collect())
    }

    pub fn local_id(&mut self, d: usize) -> Poly {
        let size = self.local_size(d);
        if size == Poly::int(1) {
            return Poly::int(0);
        }
        self.named("lid", d, (0, MAX_LOCAL - 1), Some(size))
    }

    pub fn local_size(&mut self, d: usize) -> Poly {
        if let Some(size) = self.terms.local_sizes.get(&d).cloned() {
            self.dimensions = self.dimensions.max(d + 1);
            return size;
        }
        self.named("local", d, (1, MAX_LOCAL), None)
    }

    fn group_id(&mut self, d: usize) -> Poly {
        let groups = self.groups(d);
        self.named("group", d, (0, MAX_ITEMS - 1), Some(groups))
    }

    fn groups(&mut self, d: usize) -> Poly {
        self.named("groups", d, (1, MAX_ITEMS), None)
    }

    pub fn global_id(&mut self, d: usize) -> Poly {
        let (group, local, lid) = (self.group_id(d), self.local_size(d), self.local_id(d));
        let first = self.terms.mul(&group, &local);
        self.terms.add(&first, &lid)
    }

    fn global_size(&mut self, d: usize) -> Poly {
        let (groups, local) = (self.groups(d), self.local_size(d));
        self.terms.mul(&groups, &local)
    }
}

type Id = for<'r, 'a> fn(&'r mut Reader<'a>, usize) -> Poly;

/// The function of a dimension, and its value in dimensions that the launch does not have.
fn id_function(name: &str) -> Option<(Id, i64)> {
    Some(match name {
        "get_global_id" => (|r, d| r.global_id(d), 0),
        "get_local_id" => (|r, d| r.local_id(d), 0),
        "get_group_id" => (|r, d| r.group_id(d), 0),
        "get_global_offset" => (|_, _| Poly::int(0), 0),
        "get_global_size" => (|r, d| r.global_size(d), 1),
        "get_local_size" | "get_enqueued_local_size" => (|r, d| r.local_size(d), 1),
        "get_num_groups" => (|r, d| r.groups(d), 1),
        _ => return None,
    })
}

/// What a function does with the values of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collective {
    /// Each item gets the value of another one: one exchange.
    Move,
    /// Truth values of all items become one number: one operation.
    Vote,
    /// Halves are combined, halves of these, and so on: an exchange and an operation each time.
    Reduce,
    /// The same, and one exchange more.
    Exclusive,
}

/// By how names begin, without `sub_group_`, `non_uniform_` and the like.
const COLLECTIVES: [(&str, Collective); 10] = [
    ("broadcast", Collective::Move),
    ("shuffle", Collective::Move),
    ("rotate", Collective::Move),
    ("reduce_", Collective::Reduce),
    ("scan_inclusive_", Collective::Reduce),
    ("scan_exclusive_", Collective::Exclusive),
    ("ballot", Collective::Vote),
    ("all", Collective::Vote),
    ("any", Collective::Vote),
    ("elect", Collective::Vote),
];

/// Words in front of these.
const FORMS: [&str; 4] = ["non_uniform_", "clustered_", "inverse_", "logical_"];

/// Powers of two that the size of a sub-group may be.
const SIZES: std::ops::Range<u32> = 0..7;

/// Items of a sub-group where neither the kernel nor the platform states how many there are.
const SUB_GROUP: i64 = 32;

impl<'a> Reader<'a> {
    /// `sub_group_reduce_add`, `get_sub_group_local_id` and the like.
    pub fn group_function(&mut self, call: Call<'a>) -> Read<Option<ReadValue>> {
        let Call { name, arguments, e } = call;
        let plain = ["intel_", "qcom_"].iter().find_map(|p| name.strip_prefix(p)).unwrap_or(name);
        let whole = plain.starts_with("work_group_");
        let Some(mut what) =
            ["sub_group_", "work_group_"].iter().find_map(|p| plain.strip_prefix(p))
        else {
            return self.sub_group_number(name);
        };
        if what == "barrier" {
            return Ok(Some(ReadValue::other(Dependence::Uniform)));
        }
        if what.starts_with("block_") {
            return self.block(what.starts_with("block_write"), arguments, e).map(Some);
        }
        let clustered = what.starts_with("clustered_");
        while let Some(rest) = FORMS.iter().find_map(|form| what.strip_prefix(form)) {
            what = rest;
        }
        let Some((_, kind)) = COLLECTIVES.iter().find(|(start, _)| what.starts_with(start)) else {
            return Ok(None);
        };
        let values = self.all(arguments)?;
        let size = match (clustered, values.get(1)) {
            (true, Some(ReadValue::Int(size))) => size.clone(),
            _ => self.sub_group_size()?,
        };
        self.exchange(*kind, &size, &e.ty, &e.at);
        if whole {
            // Once in each sub-group, and once among these.
            self.barriers += 1;
            self.emit(NodeKind::Barrier, &e.at);
            self.exchange(*kind, &size, &e.ty, &e.at);
        }
        let own = values.into_iter().next().unwrap_or(ReadValue::other(Dependence::Uniform));
        let depends = own.depends(&self.terms);
        let extreme = what.ends_with("_min") || what.ends_with("_max");
        let all_alike = depends == Dependence::Uniform;
        Ok(Some(match (kind, own) {
            (Collective::Move, own) if all_alike => own,
            (Collective::Reduce, own) if all_alike && extreme => own,
            (Collective::Vote, ReadValue::Int(own)) if all_alike && lists("any all", what) => {
                ReadValue::Int(self.terms.truth(&own))
            }
            (Collective::Reduce, _) if what.starts_with("reduce_") && all_alike => {
                self.unknown(&e.ty, Dependence::Uniform)
            }
            _ => self.unknown(&e.ty, depends.max(Dependence::Item)),
        }))
    }

    /// Counts what exchanges cost among as many items.
    fn exchange(&mut self, kind: Collective, size: &Poly, ty: &Type, at: &SourcePlace) {
        let operation = if is_real(ty) { Arithmetic::Real } else { Arithmetic::Integer };
        let (bytes, lanes) = parts(ty);
        let words = (u32::from(bytes) * u32::from(lanes)).div_ceil(4).max(1);
        let words = u8::try_from(words).unwrap_or(u8::MAX);
        if matches!(kind, Collective::Move | Collective::Exclusive) {
            self.compute(Arithmetic::Shuffle, words, at);
        }
        if kind == Collective::Vote {
            self.compute(Arithmetic::Integer, 1, at);
        }
        if !matches!(kind, Collective::Reduce | Collective::Exclusive) || self.constant > 0 {
            return;
        }
        let times = SIZES.fold(Poly::int(0), |sum, k| {
            let larger = self.terms.less(&Poly::int(1 << k), size);
            self.terms.add(&sum, &larger)
        });
        let amount = times.constant().and_then(|n| u32::try_from(n).ok());
        let parts = [(Arithmetic::Shuffle, words), (operation, width(ty))];
        let body = parts.map(|(kind, width)| {
            let kind = NodeKind::Compute { kind, amount: amount.unwrap_or(1), width };
            KernelNode { kind, at: at.clone() }
        });
        match amount {
            Some(0) => {}
            Some(_) => self.append(body.into()),
            None => {
                self.emit(NodeKind::Repeat { count: times, whole: None, body: body.into() }, at)
            }
        }
    }

    /// Ids and sizes of sub-groups. Groups are taken to be whole sub-groups, or smaller than one.
    fn sub_group_number(&mut self, name: &str) -> Read<Option<ReadValue>> {
        let Some(what) = name.strip_prefix("get_") else { return Ok(None) };
        let (size, all) = (self.sub_group_size()?, self.items());
        let id = self.linear(Reader::local_id, Reader::local_size);
        Ok(Some(ReadValue::Int(match what {
            "sub_group_size" => self.terms.min(&size, &all),
            "max_sub_group_size" => size,
            "sub_group_id" => self.terms.quotient(&id, &size),
            "sub_group_local_id" => self.terms.remainder(&id, &size),
            "num_sub_groups" | "enqueued_num_sub_groups" => self.terms.ceil_quotient(&all, &size),
            _ if what.starts_with("sub_group_") && what.ends_with("_mask") => {
                return Ok(Some(ReadValue::other(Dependence::Item)));
            }
            _ => return Ok(None),
        })))
    }

    fn items(&mut self) -> Poly {
        let dimensions = self.request.dimensions.clamp(1, 3);
        (0..dimensions).fold(Poly::int(1), |all, d| {
            let size = self.local_size(d);
            self.terms.mul(&all, &size)
        })
    }

    /// Items of a sub-group: as an attribute of the kernel requires, else those of a warp.
    fn sub_group_size(&mut self) -> Read<Poly> {
        let unit = self.unit;
        let required = unit.globals.iter().find(|global| global.name == REQUIRED_SUB_GROUP);
        let size = match required.and_then(|size| size.init.as_ref()) {
            Some(size) => self.capture(|r| r.whole(size))?.0,
            None if self.request.warp > 0 => Poly::int(self.request.warp),
            None => Poly::int(SUB_GROUP),
        };
        let known = self.terms.interval(&size);
        let sane = known.least >= 1 && known.greatest <= MAX_LOCAL.into();
        Ok(if sane { size } else { Poly::int(SUB_GROUP) })
    }

    /// `intel_sub_group_block_read4` and the like: component k of an item is an element, k times
    /// the size of a sub-group behind; of an image it is in row k.
    fn block(&mut self, store: bool, arguments: &'a [CExpr], e: &'a CExpr) -> Read<ReadValue> {
        let [place, rest @ ..] = arguments else { return Ok(ReadValue::other(Dependence::Data)) };
        let (element, lanes) = parts(match rest.last() {
            Some(data) if store => &data.ty,
            _ => &e.ty,
        });
        let pointer = self.value(place)?;
        let data = if store { rest.last().map(|data| self.value(data)).transpose()? } else { None };
        let size = self.sub_group_size()?;
        let id = self.linear(Reader::local_id, Reader::local_size);
        let lane = self.terms.remainder(&id, &size);
        let first = match (&place.ty, rest) {
            (Type::Other(_), [coordinates, ..]) => Some(self.coordinates(coordinates)?),
            _ => None,
        };
        for k in 0..lanes {
            if let Some([x, y, _]) = &first {
                let y = self.terms.add(y, &Poly::int(k.into()));
                let inside = self.terms.mul(&lane, &Poly::int(element.into()));
                let x = self.terms.add(x, &inside);
                let place = self.texel(&pointer, [x, y, Poly::int(0)], 1);
                self.texel_access(store, &place, (element, 1), &e.at);
                continue;
            }
            let distance = self.terms.mul(&size, &Poly::int(k.into()));
            let index = self.terms.add(&distance, &lane);
            let element_bytes = Poly::int(element.into());
            let place = self.pointee_at(pointer.clone(), (&index, &element_bytes), &e.at)?;
            let ObjectPlace::Memory(space, name, offset) = place else { continue };
            self.access(store, (space, &name, &offset), (element, 1), &e.at);
            if let Some(data) = &data {
                let formula = self.formula_of(data);
                self.store_formula((space, &name, &offset), vec![formula], true);
            }
        }
        Ok(self.unknown(&e.ty, Dependence::Data))
    }
}
