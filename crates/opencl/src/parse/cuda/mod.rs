//! CUDA C++ and HIP C++: cursors of C++ to the same tree as OpenCL C.
//!
//! What these languages have beside C becomes what the tree has. Names of CUDA are the functions
//! of OpenCL C that do the same. Functions, methods and lambdas that a kernel calls become
//! functions of the unit, one for each way in which they are called: with the arguments of a
//! template, which stay open where they are tuning parameters, and with the places that references
//! and `this` are bound to. Structures that hold pointers become their members.

mod calls;
mod classes;
mod construct;
mod express;
mod functions;
mod groups;
mod kernels;
mod launch;
mod names;

use std::collections::HashMap;
use std::ops::Range;

use clang::{Entity, EntityKind};

use crate::ast::{CExpr, CVariable, ExprKind, Type, Unit, VariableId};
use crate::cuda::SHIM;
use crate::request::ReadRequest;

use super::state::Tree;
pub(super) use express::cuda_space;
pub(super) use kernels::{argument_texts, kernels, qualified, template_parameters, uses};

/// What is known in CUDA beside a [`Tree`].
#[derive(Default)]
pub(in crate::parse) struct CudaTree<'tu> {
    /// Whether it is CUDA.
    pub(in crate::parse) on: bool,
    /// Items of a warp.
    warp: i64,
    /// Dimensions of the launch.
    dimensions: usize,
    /// Parameters of the template whose instance is being read.
    bound: HashMap<String, CExpr>,
    /// References and parameters that stand for a place.
    places: HashMap<Entity<'tu>, CExpr>,
    /// Variables that hold lambdas, with what these see.
    lambdas: HashMap<Entity<'tu>, Lambda<'tu>>,
    /// The object of the method that is being read.
    this: Option<CExpr>,
    /// Whether the function that is being read returns a reference.
    refers: bool,
    /// Structures that are read as their members, each with a list of these.
    exploded: HashMap<VariableId, CExpr>,
    /// Names of functions by what they are made of.
    known: HashMap<(Entity<'tu>, String), String>,
    /// Dynamic shared memory: a parameter of the kernel.
    shared: Option<CVariable>,
    /// What has been read.
    unit: Unit,
    /// Where the text stands that has been read.
    spans: Vec<Range<usize>>,
}

/// A lambda with what its body sees.
#[derive(Clone)]
struct Lambda<'tu> {
    entity: Entity<'tu>,
    bound: HashMap<String, CExpr>,
    this: Option<CExpr>,
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

/// Whether a cursor lies in the declarations of the vendors' names.
fn is_vendors(entity: &Entity<'_>) -> bool {
    let file = entity.get_location().and_then(|at| at.get_file_location().file);
    file.is_some_and(|file| file.get_path().as_os_str() == SHIM)
}

/// The cursor without what is left out of expressions.
fn stripped<'tu>(entity: &Entity<'tu>) -> Entity<'tu> {
    let mut inner = *entity;
    while matches!(inner.get_kind(), EntityKind::ParenExpr | EntityKind::UnexposedExpr)
        && let [one] = super::state::operands(&inner).as_slice()
    {
        inner = *one;
    }
    inner
}

impl<'tu> Tree<'_, 'tu> {
    /// An expression of another kind in place of one that has been read.
    fn with_kind(&mut self, entity: &Entity<'tu>, kind: ExprKind, ty: Type) -> CExpr {
        CExpr { kind, ty, at: self.at(entity) }
    }

    /// A call of a function of OpenCL C, with the type of the cursor.
    fn plain_call(&mut self, entity: &Entity<'tu>, name: &str, arguments: Vec<CExpr>) -> CExpr {
        self.expr(entity, ExprKind::Call(name.to_owned(), arguments))
    }
}
