//! The walk for proofs: from a syntax tree to what any work item may do to memory.
//!
//! The walk in [`read`](crate::read) counts: it takes for granted that numbers of usual launches do
//! not wrap around, lets answers decide what data decide, and repeats one iteration for many. None
//! of that may enter a proof. This walk keeps every address and condition as an exact
//! [term](crate::proof::terms): what data decide is a variable, both sides of each branch are
//! there, and a loop has a counter of any value for which its test holds.
//!
//! # What is promised
//!
//! For each execution of an item that the kernel can have there are values of the variables for
//! which the conditions of the executed events hold and their terms are the executed numbers; or
//! [`unread`](crate::proof::events::ProofKernel::unread) has what hides one. Taken for granted is
//! that signed arithmetic does not overflow, that arguments are different buffers, and that the
//! offset of the launch is 0.

mod builtins;
mod calls;
mod changes;
mod expressions;
mod loops;
mod memory;
mod sizes;
mod value;
mod walk;

use std::collections::BTreeSet;

use crate::ast::{CFunction, Unit};
use crate::error::{Read, ReadError};
use crate::proof::events::ProofKernel;
use crate::request::ReadRequest;
use walk::Walk;

/// Reads the entry function of a file for proofs.
pub(crate) fn read(request: &ReadRequest, unit: &Unit) -> Read<ProofKernel> {
    let Some(entry) = unit.functions.get(&request.entry) else {
        return Err(ReadError::file(
            &request.name,
            format!("there is no kernel '{}'", request.entry),
            "name one in kernel.entry",
        ));
    };
    // What is never stored to is known only at the end of a walk.
    let first = walked(request, unit, entry, None)?;
    let stored = first.1.clone();
    let second = walked(request, unit, entry, Some(stored.clone()))?;
    Ok(if second.1.is_subset(&stored) { second.0 } else { first.0 })
}

/// One walk, and the arrays that it stores to.
fn walked(
    request: &ReadRequest,
    unit: &Unit,
    entry: &CFunction,
    stored: Option<BTreeSet<usize>>,
) -> Read<(ProofKernel, BTreeSet<usize>)> {
    let mut walk = Walk::new(request, unit);
    walk.ever_stored = stored;
    walk.bind(entry);
    walk.function(entry)?;
    let Walk { terms, arrays, events, unread, assumed, stored, .. } = walk;
    Ok((ProofKernel { terms, arrays, events, unread, assumed }, stored))
}
