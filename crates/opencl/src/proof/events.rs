//! What a work item does to memory, for proofs: accesses, barriers and loops with their conditions.

use serde::{Deserialize, Serialize};

use super::terms::{TermId, Terms, VariableIndex};
use crate::ast::{AddressSpace, SourcePlace};

/// What was read of a kernel for proofs, for one choice of the macros that its syntax depends on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ProofKernel {
    /// The numbers.
    pub terms: Terms,
    /// What is accessed.
    pub arrays: Vec<ProofArray>,
    /// What an item does, in order.
    pub events: Vec<ProofEvent>,
    /// What was not read and may change memory or values: nothing is proved beside it.
    pub unread: Vec<(SourcePlace, String)>,
    /// What is taken for granted.
    pub assumed: Vec<(SourcePlace, String)>,
}

/// An array, a variable in memory, or what a pointer parameter points to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofArray {
    /// Its name.
    pub name: String,
    /// In which memory it is.
    pub space: AddressSpace,
    /// Its size, if it is declared with one.
    pub bytes: Option<TermId>,
    /// Which parameter of the kernel it is, if it is one.
    pub parameter: Option<usize>,
    /// Bytes of a component, for messages.
    pub element: u32,
}

/// Something that an item does, under conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofEvent {
    /// Where it is in the source.
    pub at: SourcePlace,
    /// It is done if all of these hold, besides the conditions of the loops around.
    pub when: Vec<TermId>,
    /// What holds wherever it is done.
    pub given: Vec<TermId>,
    /// What it is.
    pub kind: ProofEventKind,
}

/// What an event is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ProofEventKind {
    /// A load, a store or an atomic operation.
    Access(ProofAccess),
    /// A barrier.
    Barrier(Fences),
    /// What all items of a group must agree on if `repeats` has barriers: whether the loop goes on.
    Agree(TermId),
    /// A loop.
    Repeat(ProofLoop),
    /// A division: by what.
    Divide(TermId),
    /// A signed number that may not fit its type, of this many bits; data do not decide it.
    Signed(TermId, u32),
    /// The end of the asynchronous copies with these events.
    Wait(Vec<TermId>),
}

/// Which memory a barrier orders; an asynchronous copy is ordered by none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fences {
    /// Local memory.
    pub local: bool,
    /// Global memory.
    pub global: bool,
}

/// An access.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofAccess {
    /// Which array, by its place in [`ProofKernel::arrays`].
    pub array: usize,
    /// How it is accessed.
    pub mode: AccessMode,
    /// Bytes behind the beginning of the array.
    pub offset: TermId,
    /// How many bytes.
    pub bytes: u32,
    /// The number that a store puts in, if it is one.
    pub value: Option<TermId>,
    /// The group does it as a whole, until it waits for this event.
    pub copy: Option<TermId>,
}

/// How memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessMode {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic operation.
    Atomic,
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProofLoop {
    /// The iteration.
    pub counter: VariableIndex,
    /// An iteration is begun if this holds and all before were; tests access once more.
    pub enters: TermId,
    /// An iteration that is left in its midst is the last one: whether it is not.
    pub stays: TermId,
    /// What an iteration does, the test included.
    pub body: Vec<ProofEvent>,
}
