//! Ids and sizes.

use super::super::symbolic::{Poly, WideInterval};
use super::super::value::ReadValue;
use super::super::{Read, Reader};
use super::Call;
use crate::ast::CExpr;
use crate::error::ReadError;
use crate::steps::Dependence;

/// Launches are taken to have less than this in each dimension.
const MAX_ITEMS: i64 = 1 << 31;
/// Groups are taken to have at most this in each dimension.
pub(super) const MAX_LOCAL: i64 = 1 << 16;

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
