//! Calls: functions of the file are walked where they are called.

use super::value::{Worth, is_aggregate};
use super::walk::Walk;
use crate::ast::{CExpr, CFunction, CVariable, SourcePlace, Type};
use crate::error::Read;
use crate::preprocess::DECLARED;
use crate::proof::terms::{TermId, VariableKind};
use crate::read::declared;

const MAX_DEPTH: usize = 48;
/// No launch has more items than this in a dimension.
const MAX_ITEMS: i128 = 1 << 40;

impl<'a> Walk<'a> {
    pub fn call(&mut self, name: &'a str, arguments: &'a [CExpr], e: &'a CExpr) -> Read<Worth> {
        let unit = self.unit;
        // Copies have a body that the other reader counts.
        let own = unit.functions.get(name).filter(|f| &*f.at.file != DECLARED);
        if own.is_none()
            // That of an overloaded function has its types behind it.
            && let Some(value) = self.builtin(plain_name(name), arguments, e)?
        {
            return Ok(value);
        }
        let Some(function) = own else {
            let mut pointers = false;
            for argument in arguments {
                pointers |= matches!(self.value(argument)?, Worth::Pointer(_));
                pointers |= is_aggregate(&argument.ty) && !matches!(argument.ty, Type::Vector(..));
            }
            let ours = unit.functions.contains_key(name);
            let name = plain_name(name);
            if pointers {
                let what = if ours { "is not modelled" } else { "has no body" };
                self.note(&e.at, format!("the function {name} {what}"));
            } else if self.probing == 0 {
                let what = format!("{name}, which has no body, has no barrier and changes nothing");
                let assumed = (e.at.clone(), what);
                if !self.assumed.contains(&assumed) {
                    self.assumed.push(assumed);
                }
            }
            return Ok(self.unknown(&e.ty));
        };
        if self.calls.contains(&function.name.as_str()) || self.calls.len() >= MAX_DEPTH {
            self.note(&e.at, format!("the function {name} calls itself"));
            return Ok(self.unknown(&e.ty));
        }
        let mut values = Vec::new();
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            values.push((parameter, self.value_as(argument, &parameter.ty)?));
        }
        for (parameter, value) in values {
            self.set(parameter.id, value);
        }
        let returned = self.function(function)?;
        self.forget(function);
        Ok(returned.unwrap_or_else(|| self.unknown(&function.result)))
    }

    /// Variables of a function are gone when it is left.
    fn forget(&mut self, function: &'a CFunction) {
        let mut gone: Vec<&CVariable> = Vec::new();
        declared(function, &mut |variable| gone.push(variable));
        for variable in gone.into_iter().chain(&function.parameters) {
            self.now.values.remove(&variable.id);
        }
    }

    /// Ids and sizes; `None` for other functions.
    pub fn id_function(
        &mut self,
        name: &str,
        arguments: &'a [CExpr],
        at: &SourcePlace,
    ) -> Read<Option<TermId>> {
        let number: fn(&mut Self, usize) -> TermId = match name {
            "get_work_dim" => |w, _| w.terms.int(w.request.dimensions.clamp(1, 3) as i128),
            "get_global_offset" => |w, _| w.terms.int(0),
            "get_global_linear_id" => |w, _| w.linear(Walk::global_id, Walk::global_size),
            "get_local_linear_id" => |w, _| w.linear(Walk::local_id, Walk::local_size),
            "get_global_id" => Walk::global_id,
            "get_local_id" => Walk::local_id,
            "get_group_id" => Walk::group_id,
            "get_global_size" => Walk::global_size,
            "get_num_groups" => Walk::groups,
            "get_local_size" | "get_enqueued_local_size" => Walk::local_size,
            _ => return Ok(None),
        };
        let d = match arguments {
            [argument] => {
                let d = self.whole(argument)?;
                match self.terms.constant(d) {
                    Some(d) => usize::try_from(d).unwrap_or(usize::MAX),
                    None => {
                        self.note(at, "the dimension is not a constant");
                        0
                    }
                }
            }
            _ => 0,
        };
        Ok(Some(number(self, d)))
    }

    fn linear(
        &mut self,
        id: fn(&mut Self, usize) -> TermId,
        size: fn(&mut Self, usize) -> TermId,
    ) -> TermId {
        let mut sum = self.terms.int(0);
        for d in (0..self.request.dimensions.clamp(1, 3)).rev() {
            let (id, size) = (id(self, d), size(self, d));
            let scaled = self.terms.mul(sum, size);
            sum = self.terms.add(scaled, id);
        }
        sum
    }

    /// A number of a dimension; what it is in those that the launch does not have.
    fn in_dimension(
        &mut self,
        d: usize,
        kind: fn(u8) -> VariableKind,
        range: (i128, i128),
        outside: i128,
    ) -> TermId {
        match u8::try_from(d) {
            Ok(place) if d < self.request.dimensions.clamp(1, 3) => {
                self.terms.named(kind(place), range)
            }
            _ => self.terms.int(outside),
        }
    }

    fn local_id(&mut self, d: usize) -> TermId {
        self.in_dimension(d, VariableKind::LocalId, (0, MAX_ITEMS - 1), 0)
    }

    fn group_id(&mut self, d: usize) -> TermId {
        self.in_dimension(d, VariableKind::GroupId, (0, MAX_ITEMS - 1), 0)
    }

    fn local_size(&mut self, d: usize) -> TermId {
        self.in_dimension(d, VariableKind::LocalSize, (1, MAX_ITEMS), 1)
    }

    fn groups(&mut self, d: usize) -> TermId {
        self.in_dimension(d, VariableKind::Groups, (1, MAX_ITEMS), 1)
    }

    fn global_id(&mut self, d: usize) -> TermId {
        let (group, size, id) = (self.group_id(d), self.local_size(d), self.local_id(d));
        let first = self.terms.mul(group, size);
        self.terms.add(first, id)
    }

    fn global_size(&mut self, d: usize) -> TermId {
        let (groups, size) = (self.groups(d), self.local_size(d));
        self.terms.mul(groups, size)
    }
}

fn plain_name(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}
