//! What was read: the steps of one work item, each with its place in the source.
//!
//! Steps say more than a kernel program of the problem format does: for each access also its
//! direction, vector width and strides, for arithmetic its kind. [`lower`](crate::lower) keeps what
//! has a price; `tickbound explain` shows all of it.
//!
//! Numbers are expressions in the language of problem files over these names: symbols of the
//! [request](crate::request::ReadRequest) (macros), the kernel's scalar arguments under their
//! parameters' names as `$NAME`, and for each dimension d `$lid_d` and `$group_d` (place of the
//! item in its group and of the group in the launch), `$local_d`, `$groups_d` and `$global_d`
//! (sizes), and `$line_N` for the bound of line N, `$bound_I` for that of another answer. None of
//! these but symbols can clash with names of a problem, as `$` is no part of one.

mod conditions;

pub(crate) use conditions::{
    TURN, above_zero, at_end_of_group, is_affine, mentions, opposite, with_names,
};
pub use conditions::{depends_on_item, has_name, picks_one};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tickbound_expr::Expr;

use crate::ast::SourcePlace;

pub use crate::ast::AddressSpace;

/// A number over names.
pub type SymbolExpr = Expr<String>;

/// The steps of a kernel for one choice of the macros that its syntax depends on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct KernelSteps {
    /// What a work item does, in order.
    pub body: Vec<KernelStep>,
    /// Its local arrays.
    pub locals: Vec<Array>,
    /// Its private arrays, vectors and structures.
    pub privates: Vec<Array>,
    /// Its pointer parameters to memory that is never written: `restrict`, and to a `const` type.
    pub read_only: Vec<String>,
    /// What `reqd_work_group_size` requires.
    pub required: Option<RequiredGroup>,
    /// What is taken for granted of it.
    pub assumed: Vec<Assumed>,
    /// Dimensions whose ids or sizes it asks for: 1 to 3.
    pub dimensions: usize,
    /// For dimensions whose local id is joined to other numbers by `|`, where larger groups may be
    /// launched: the most items of a group for which that is a sum.
    pub joined: BTreeMap<usize, i64>,
}

/// The group that `reqd_work_group_size` of a kernel requires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequiredGroup {
    /// Where the kernel is declared.
    pub at: SourcePlace,
    /// Work items in each of three dimensions.
    pub sizes: Vec<SymbolExpr>,
}

/// What is taken for granted where a kernel does something whose cost cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Assumed {
    /// A loop that tries an atomic exchange until it succeeds does so at once.
    Once {
        /// Where it begins.
        at: SourcePlace,
        /// What an answer in `kernel.bounds` is called that replaces this.
        key: String,
    },
    /// What `printf` prints costs nothing; its arguments cost what they do elsewhere.
    Printed {
        /// Where it stands.
        at: SourcePlace,
    },
}

/// A variable of several components.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: SymbolExpr,
    /// Where it is declared.
    pub at: SourcePlace,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelStep {
    /// What it is.
    pub kind: KernelStepKind,
    /// Where it is in the source; inlined functions keep their own lines.
    pub at: SourcePlace,
}

impl KernelStep {
    /// Whether it has no price: results, whose operations are steps too, and accesses of private
    /// arrays, which are registers, as a rule.
    pub fn is_private(&self) -> bool {
        match &self.kind {
            KernelStepKind::Access(access) => access.space == AddressSpace::Private,
            KernelStepKind::Value(_) => true,
            KernelStepKind::Repeat { .. } | KernelStepKind::If { .. } => {
                self.bodies().flatten().all(KernelStep::is_private)
            }
            _ => false,
        }
    }

    /// The steps inside it: the body of a loop, or both sides of a branch.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &[KernelStep]> {
        let (first, second) = match &self.kind {
            KernelStepKind::Repeat { body, .. } => (Some(body), None),
            KernelStepKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            _ => (None, None),
        };
        first.into_iter().chain(second).map(Vec::as_slice)
    }
}

/// What a step is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum KernelStepKind {
    /// One load or store of one scalar or vector.
    Access(MemoryAccess),
    /// One atomic operation.
    Atomic {
        /// Which memory.
        space: AddressSpace,
        /// The array or pointer parameter.
        array: String,
        /// As that of an [`MemoryAccess`].
        offset: Option<SymbolExpr>,
        /// Whether the address is the same for all items of the group, or of the launch.
        shared: bool,
    },
    /// Operations of one kind, each on `width` components.
    Compute {
        /// The kind.
        kind: Arithmetic,
        /// How many.
        amount: u32,
        /// Components of each: 1 for scalars.
        width: u8,
    },
    /// A result that each correct compilation computes: what least counts are made of.
    Value(RealValue),
    /// A barrier of the group.
    Barrier,
    /// The body, `count` times.
    Repeat {
        /// How often; not at all if negative.
        count: SymbolExpr,
        /// Of a part of a loop, that of one side of a condition: the iterations of the loop.
        whole: Option<SymbolExpr>,
        /// What is repeated.
        body: Vec<KernelStep>,
    },
    /// One of two.
    If {
        /// True if not zero.
        condition: SymbolExpr,
        /// What it depends on.
        depends: Dependence,
        /// Taken if true.
        then: Vec<KernelStep>,
        /// Taken if false.
        otherwise: Vec<KernelStep>,
    },
}

/// Real numbers that are computed, however a compiler does it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RealValue {
    /// What computes them.
    pub lanes: Lanes,
    /// How many differ in one execution.
    pub width: u8,
    /// Results with different numbers are different functions of the memory.
    pub key: u32,
    /// For each loop around, inner ones first, whether they differ in each iteration.
    pub differs: Vec<Differs>,
    /// For places that they are loaded from the distances between iterations of the loops around,
    /// inner ones first: different places make different results.
    pub places: Vec<Vec<Stride>>,
    /// In which executions it is needed.
    pub needed: Needed,
}

/// In which executions of a step its result is needed for something that is certainly stored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Needed {
    /// How many components at least; 0: it is not needed.
    pub components: u8,
    /// In which iterations of each loop around, inner ones first.
    pub iterations: Vec<NeededIterations>,
    /// What has to hold besides the conditions around.
    pub guards: Vec<NeedGuard>,
}

/// A condition under which a result is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeedGuard {
    /// The condition.
    pub holds: SymbolExpr,
    /// If it is one on `$turn`, the iteration of a loop around: how many that has.
    pub iterations: Option<SymbolExpr>,
}

/// Iterations of a loop in which a result is known to be needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NeededIterations {
    /// All.
    All,
    /// All but the last, or but the first.
    ButLast,
    /// One.
    One,
    /// One if there are two.
    OneOfTwo,
    /// It is not known in which.
    None,
}

/// Whether a result differs in each iteration of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Differs {
    /// As it is computed from that of the iteration before.
    InTurn,
    /// As it is computed from what local memory has then.
    Renewed,
    /// If its places differ.
    ByPlace,
}

/// What computes a real number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Lanes {
    /// The lanes for additions and products.
    Real,
    /// The lanes for roots and the like.
    Special,
    /// A conversion, on any lanes.
    Convert,
}

/// A load or a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryAccess {
    /// Which memory.
    pub space: AddressSpace,
    /// Store or load.
    pub store: bool,
    /// The array or pointer parameter.
    pub array: String,
    /// Bytes of one component.
    pub element: u8,
    /// Components at once: 1 for scalars.
    pub width: u8,
    /// How many elements (of one component each) behind the array's beginning, if that is known:
    /// over names, and `$turn_K` for the iteration of the loop around that has K others inside.
    pub offset: Option<SymbolExpr>,
    /// Between neighbouring work items (in dimension 0).
    pub items: Stride,
    /// Between the items of a group, counted with dimension 0 fastest: digits of that count, the
    /// fastest first; `None` where they are not the same everywhere.
    pub digits: Option<Vec<Digit>>,
    /// Between neighbouring groups, for each of three dimensions.
    pub groups: Vec<Stride>,
    /// Between iterations of the loops around it, inner ones first.
    pub iterations: Vec<Stride>,
    /// Whether it is certainly done, and the distances hold for all items, groups and iterations.
    pub exact: bool,
    /// Accesses of one array with different numbers differ: those of one item, and of any items.
    pub apart: [u32; 2],
    /// For places from which summands of its address are loaded, distances between iterations of
    /// the loops around, inner ones first.
    pub unknown: Vec<Vec<Stride>>,
    /// In which executions what it loads is needed.
    pub needed: Needed,
}

impl MemoryAccess {
    /// Bytes that it takes: of one component, or of all components of a vector.
    pub fn bytes(&self) -> i64 {
        i64::from(self.element) * i64::from(self.width)
    }
}

/// The accesses among steps, not those inside them, and where they stand.
pub fn accesses(steps: &[KernelStep]) -> impl Iterator<Item = (&MemoryAccess, &SourcePlace)> {
    steps.iter().filter_map(|step| match &step.kind {
        KernelStepKind::Access(access) => Some((access, &step.at)),
        _ => None,
    })
}

/// A digit of the count of items in a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Digit {
    /// Elements (of one component each) between items that differ by one here.
    pub stride: SymbolExpr,
    /// How many values it has.
    pub extent: SymbolExpr,
}

/// Distance between two accesses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Stride {
    /// Elements (of one component each); 0: the same address.
    Elements(SymbolExpr),
    /// Not the same everywhere, or not to be read.
    Irregular,
    /// Elements, and what data add to both.
    Shifted(SymbolExpr),
    /// Depends on data.
    Data,
}

/// Kinds of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Arithmetic {
    /// Addresses and loop counters: what only feeds an index, a pointer or a loop's condition.
    Index,
    /// Other integer addition, subtraction, comparison, logic, shifts, min, max.
    Integer,
    /// Integer multiplication.
    IntegerMultiply,
    /// Integer division and remainder.
    IntegerDivide,
    /// Real addition, subtraction, comparison, min, max, and products to which nothing is added.
    Real,
    /// Real multiplication to whose product something may be added.
    RealMultiply,
    /// Real multiplication and addition in one (`fma`, `mad`).
    RealMultiplyAdd,
    /// Real division.
    RealDivide,
    /// The reciprocal of a square root: `1 / sqrt(x)`.
    DivideByRoot,
    /// Square roots, exponentials, sines and the like.
    Special,
    /// Conversions between types.
    Convert,
    /// A value that one item of a sub-group gets from another, of `width` words.
    Shuffle,
    /// Multiplication and addition by tensor cores: what an item has of those of its warp.
    Tensor,
}

/// What a value depends on; the later includes the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Dependence {
    /// The same for all items of a group.
    Uniform,
    /// The item's place in its group or in the launch.
    Item,
    /// Data.
    Data,
}
