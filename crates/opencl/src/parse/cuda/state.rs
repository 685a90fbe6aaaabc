//! What is known while a source in CUDA is read.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use clang::Entity;

use crate::ast::{CExpr, CVariable, Unit, VariableId};
use crate::request::ReadRequest;

/// What is known in CUDA beside a [`Tree`].
#[derive(Default)]
pub(in crate::parse) struct CudaTree<'tu> {
    /// Whether it is CUDA.
    pub(in crate::parse) on: bool,
    /// Items of a warp.
    pub(super) warp: i64,
    pub(super) dimensions: usize,
    /// Parameters of the template whose instance is being read.
    pub(super) bound: HashMap<String, CExpr>,
    /// References and parameters that stand for a place.
    pub(super) places: HashMap<Entity<'tu>, CExpr>,
    /// Variables that hold lambdas, with what these see.
    pub(super) lambdas: HashMap<Entity<'tu>, Lambda<'tu>>,
    /// The object of the method that is being read.
    pub(super) this: Option<CExpr>,
    /// Whether the function that is being read returns a reference.
    pub(super) refers: bool,
    /// Structures that are read as their members, each with a list of these.
    pub(super) exploded: HashMap<VariableId, CExpr>,
    /// Names of functions by what they are made of.
    pub(super) known: HashMap<(Entity<'tu>, String), String>,
    /// What `__ldg` loads from, so that nothing writes it.
    pub(super) read_only: HashSet<VariableId>,
    /// Dynamic shared memory: a parameter of the kernel.
    pub(super) shared: Option<CVariable>,
    /// Texture references: parameters of the kernel behind its own.
    pub(super) added: Vec<CVariable>,
    /// What has been read.
    pub(super) unit: Unit,
    /// Where the text stands that has been read.
    pub(super) spans: Vec<Range<usize>>,
}

/// A lambda with what its body sees.
#[derive(Clone)]
pub(super) struct Lambda<'tu> {
    pub(super) entity: Entity<'tu>,
    pub(super) bound: HashMap<String, CExpr>,
    pub(super) this: Option<CExpr>,
}

impl CudaTree<'_> {
    /// For a request; off in OpenCL C.
    pub(in crate::parse) fn new(request: &ReadRequest) -> Self {
        CudaTree {
            on: request.standard.is_cuda(),
            warp: if request.warp > 0 { request.warp } else { 32 },
            dimensions: request.dimensions.clamp(1, 3),
            ..CudaTree::default()
        }
    }
}
