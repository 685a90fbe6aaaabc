//! Loads of what was loaded before, which compilers leave out.
//!
//! A value that was loaded is known until a store, an atomic operation or a barrier may have
//! changed it. `a[i].x` and `a[i].y` load the same vector.

use super::batch::is_from_data;
use crate::ast::AddressSpace;
use crate::steps::{KernelStep, KernelStepKind, MemoryAccess, SymbolExpr, with_names};

/// What an array's place holds.
#[derive(Debug, Clone, PartialEq)]
struct Load {
    space: AddressSpace,
    array: String,
    /// Over `$loop_K` for the iteration of the loop with K others around it.
    place: SymbolExpr,
    bytes: i64,
}

/// The loads whose values are known.
#[derive(Debug, Clone, Default)]
pub(super) struct Loaded {
    known: Vec<Load>,
}

impl Loaded {
    /// Whether a load is of a value that is known; notes it for later ones. A store makes the
    /// values of its space unknown but for arrays that are `read_only`.
    pub fn again(&mut self, access: &MemoryAccess, read_only: &[String]) -> bool {
        if access.store {
            self.forget(access.space, read_only);
            return false;
        }
        let Some(place) = place(access).filter(|_| access.space != AddressSpace::Private) else {
            return false;
        };
        let (space, array) = (access.space, access.array.clone());
        let load = Load { space, array, place, bytes: access.bytes() };
        let again = self.known.contains(&load);
        if !again {
            self.known.push(load);
        }
        again
    }

    /// Nothing is known of what others may write.
    pub fn barrier(&mut self, read_only: &[String]) {
        self.forget(AddressSpace::Local, read_only);
        self.forget(AddressSpace::Global, read_only);
    }

    /// What is known before, in and after steps that may be executed: without what they change.
    pub fn around(&self, steps: &[KernelStep], read_only: &[String]) -> Loaded {
        let mut known = self.clone();
        for step in steps {
            match &step.kind {
                KernelStepKind::Access(access) if access.store => {
                    known.forget(access.space, read_only);
                }
                KernelStepKind::Atomic { space, .. } => known.forget(*space, read_only),
                KernelStepKind::Barrier => known.barrier(read_only),
                _ => step.bodies().for_each(|body| known = known.around(body, read_only)),
            }
        }
        known
    }

    /// What is loaded from a space is not known any more, but for arrays that are `read_only`.
    pub fn forget(&mut self, space: AddressSpace, read_only: &[String]) {
        self.known.retain(|load| load.space != space || read_only.contains(&load.array));
    }
}

/// The place of an access, if no data decide it, with names for iterations that loops inside keep.
fn place(access: &MemoryAccess) -> Option<SymbolExpr> {
    let loops = access.iterations.len();
    let offset = access.offset.as_ref().filter(|_| !is_from_data(access))?;
    Some(with_names(offset, |name| {
        let outer = loops.checked_sub(name.strip_prefix("$turn_")?.parse::<usize>().ok()? + 1)?;
        Some(SymbolExpr::Name(format!("$loop_{outer}")))
    }))
}
