//! What is read out of one text, for one choice of the macros that the syntax depends on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tickbound_input::named::Named;
use tickbound_model::source::ElementType;

use crate::ast::{AddressSpace, ScalarType, Type, bytes};
use crate::proof::events::ProofKernel;
use crate::steps::{KernelSteps, SymbolExpr};
use crate::written::{scalar_name, type_name};

/// Most readings of one source.
pub(crate) const MAX_VARIANTS: usize = 8192;

/// What a parameter of the kernel function takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterType {
    /// As C writes it.
    pub text: String,
    /// How it is passed, if that is known.
    pub by: Option<By>,
    /// Its type, or that of its elements (of vectors, that of their components; of `half`, whole
    /// numbers of its size), if the problem format has it.
    pub element: Option<ElementType>,
    /// Bytes of a vector or a structure by value, or of an element of memory, if that is known.
    pub bytes: Option<i64>,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// A buffer in global or constant memory.
    Buffer,
    /// Local memory.
    Local,
    /// A number.
    Value,
    /// A vector or a structure by value.
    Whole,
    /// An image of as many dimensions.
    Image(usize),
}

impl By {
    /// What people call it.
    pub fn what(self) -> &'static str {
        match self {
            By::Buffer => "a buffer",
            By::Local => "local memory",
            By::Value => "a number",
            By::Whole => "a vector or a structure",
            By::Image(_) => "an image",
        }
    }
}

impl ParameterType {
    /// That of a declared parameter.
    pub fn of(ty: &Type) -> ParameterType {
        let by = match ty {
            Type::Pointer(AddressSpace::Global | AddressSpace::Constant, _) => Some(By::Buffer),
            Type::Pointer(AddressSpace::Local, _) => Some(By::Local),
            Type::Scalar(_) => Some(By::Value),
            Type::Vector(..) | Type::Struct(..) | Type::Union(..) => Some(By::Whole),
            // Its number means something to the host only.
            Type::Other(name) if name.contains("sampler") => Some(By::Value),
            Type::Other(name) => image_dimensions(name).map(By::Image),
            _ => None,
        };
        let element = match by {
            Some(By::Image(_)) => Some(ElementType::Float),
            Some(By::Value) if matches!(ty, Type::Other(_)) => Some(ElementType::Uint),
            _ => element(ty.element().unwrap_or(ty)),
        };
        let bytes = match ty {
            Type::Pointer(_, element) => bytes(element),
            ty => bytes(ty),
        };
        ParameterType { text: type_name(ty), by, element, bytes }
    }
}

/// Dimensions of a type of images; arrays of images have one more.
fn image_dimensions(name: &str) -> Option<usize> {
    let (_, rest) = name.split_once("image")?;
    let dimensions = rest.chars().next()?.to_digit(10)? as usize;
    Some(dimensions + usize::from(rest.contains("array")))
}

/// The elements of a type; of an array of arrays, those of the innermost.
fn element(ty: &Type) -> Option<ElementType> {
    match ty {
        Type::Scalar(ScalarType::Real { bytes: 2 })
        | Type::Vector(ScalarType::Real { bytes: 2 }, _) => Some(ElementType::Ushort),
        // An argument in CUDA alone.
        Type::Scalar(ScalarType::Bool) => Some(ElementType::Uchar),
        Type::Scalar(scalar) | Type::Vector(scalar, _) => {
            ElementType::VALUES.iter().find(|known| known.name() == scalar_name(*scalar)).copied()
        }
        Type::Array(inner, _) => element(inner),
        _ => None,
    }
}

/// A kernel function that a source declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSignature {
    /// Its name.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<KernelParameter>,
    /// Of the entry function, the size that `reqd_work_group_size` requires in each of three
    /// dimensions, over symbols that are open.
    pub group: Vec<SymbolExpr>,
    /// In CUDA, parameters of its template, and whether each is a type.
    pub template: Vec<(String, bool)>,
    /// In CUDA, its launches in the same file.
    pub launches: Vec<SourceLaunch>,
}

/// A launch in the source, in the names of the host's code; anything but such numbers is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLaunch {
    /// The kernel.
    pub kernel: String,
    /// The line, from 1.
    pub line: u32,
    /// Groups in each of three dimensions.
    pub grid: Vec<Option<SymbolExpr>>,
    /// Items of a group in each of three dimensions.
    pub block: Vec<Option<SymbolExpr>>,
    /// Bytes of dynamic shared memory of a group.
    pub shared: Option<SymbolExpr>,
    /// What is passed for each parameter; for those of structures their members.
    pub arguments: Vec<Option<SymbolExpr>>,
    /// Numbers among the arguments of the kernel's template that are written, in order.
    pub template: Vec<Option<SymbolExpr>>,
    /// All arguments of the kernel's template, as text.
    pub instance: Vec<String>,
}

/// A parameter of a kernel function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelParameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ParameterType,
}

/// One reading.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct One {
    pub(crate) parameters: Vec<String>,
    pub(crate) types: Vec<ParameterType>,
    pub(crate) steps: KernelSteps,
    /// The same for proofs, if it was read for these; `steps` is empty then.
    pub(crate) proof: Option<ProofKernel>,
    /// The answers for loops and for branches that are for something in the text.
    pub(crate) matched: (BTreeSet<usize>, BTreeSet<usize>),
}
