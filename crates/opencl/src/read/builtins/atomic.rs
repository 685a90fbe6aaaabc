//! Atomic operations: each counts once, in the memory it works on.

use super::super::nodes::{NodeKind, Reach};
use super::super::places::ObjectPlace;
use super::super::types::parts;
use super::super::value::ReadValue;
use super::super::{Read, Reader, counts, strides};
use super::Call;
use crate::ast::{AddressSpace, CExpr};
use crate::error::ReadError;
use crate::steps::Dependence;

impl<'a> Reader<'a> {
    /// `atomic_add` and the like.
    pub fn atomic_function(&mut self, call: Call<'a>) -> Read<Option<ReadValue>> {
        let Call { name, arguments, e } = call;
        if !name.starts_with("atomic_") && !name.starts_with("atom_") {
            return Ok(None);
        }
        let mut values = self.all(arguments)?.into_iter();
        let Some(object) = values.next() else { return Ok(None) };
        match self.pointee(object, &e.at)? {
            ObjectPlace::Memory(space, array, offset) => {
                let shared = strides::is_shared(&self.terms, space, &offset);
                let at = (space, &array, &offset);
                let reach = Reach::new(true, at, (parts(&e.ty).0, 1));
                let operands = values.as_slice().iter().map(|value| self.formula_of(value));
                let operands = operands.collect();
                self.store_formula(at, operands, false);
                self.emit(NodeKind::Atomic { shared, reach }, &e.at);
            }
            place => self.smudge_place(&place),
        }
        for value in values {
            if let ReadValue::Pointer(_) = value {
                self.expected(value, e)?;
            }
        }
        Ok(Some(self.unknown(&e.ty, Dependence::Data)))
    }

    /// The expected value of a compare-and-exchange is read and written through a pointer.
    fn expected(&mut self, pointer: ReadValue, e: &'a CExpr) -> Read<()> {
        match self.pointee(pointer, &e.at)? {
            ObjectPlace::Memory(space, ..) if counts(space) && space != AddressSpace::Private => {
                Err(ReadError::at(
                    &e.at,
                    "the expected value lies in memory that counts",
                    "keep it in a private variable",
                ))
            }
            place => {
                self.smudge_place(&place);
                Ok(())
            }
        }
    }

    /// Private variables that something was written into.
    pub fn smudge_place(&mut self, place: &ObjectPlace) {
        match place {
            ObjectPlace::Variable(id) => self.smudge(*id, Dependence::Data),
            ObjectPlace::Part(ids, _) => {
                ids.iter().for_each(|id| self.smudge(*id, Dependence::Data))
            }
            ObjectPlace::Lane(whole, ..) => self.smudge_place(whole),
            ObjectPlace::Memory(..) | ObjectPlace::Value(_) => {}
        }
    }
}
