//! The symbolic walk: from a syntax tree to the steps of one work item.
//!
//! # What is promised
//!
//! For every configuration and every work item, the steps, executed, have exactly the loads and
//! stores in each memory that the kernel has on C's abstract machine; or reading ends with an error
//! with the place and what to write. Taken for granted is what a kernel relies on that has a
//! meaning at all: signed arithmetic does not overflow, loops end, pointers into different arrays
//! differ, launches have groups of one size. Unsigned numbers may wrap around below zero; that they
//! do so above is seen only if it could happen in a launch of 2^16 items in each dimension.
//!
//! # How
//!
//! A `Reader` walks the entry function's body as a machine would, with symbolic numbers in the
//! place of values: polynomials over ids, sizes, macros and arguments; what comes from memory or is
//! real is unknown. Functions are walked where they are called. Both sides of a *branch* are
//! walked, and variables come out as a choice; where the condition depends on data, both must do
//! the same to memory. *Loops* are walked with a placeholder for each variable they change
//! (`probe.rs`), then with the counters as `start + step * iteration`. Where the iterations differ,
//! the loop is cut (`split.rs`), or they are walked one by one, up to 64.
//!
//! # What counts as an access
//!
//! What clang generates without optimization for memory that is not private. A name of an array,
//! `&` and `sizeof` load nothing. A component of a vector in memory is loaded with its whole
//! vector; storing one loads the vector and stores it, and `p[i].x += y` has two loads and one
//! store. Members of structures are loaded by themselves, whole structures at once. A constant of
//! program scope is loaded wherever it is named.
//!
//! # Arithmetic
//!
//! Operations count as [`Arithmetic::Index`] inside subscripts, in arithmetic on pointers, in
//! conditions and steps of loops, and in what is assigned to an integer variable that is used in
//! one of these anywhere in the file. What consists of constants and macros alone costs nothing.

mod access;
mod branches;
mod builtins;
mod calls;
mod digits;
mod exits;
mod expressions;
mod formulas;
mod loops;
mod nodes;
mod numbering;
mod operators;
mod output;
mod places;
mod pointers;
mod probe;
mod questions;
mod results;
mod scan;
mod split;
mod statements;
mod stores;
mod strides;
mod sums;
mod symbolic;
mod trips;
mod types;
mod unroll;
mod value;

use std::collections::{HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use tickbound_expr::BinaryOp;

use crate::ast::{AddressSpace, CExpr, CFunction, CVariable, SourcePlace, Type, Unit, VariableId};
use crate::error::{Read, ReadError};
use crate::request::{Passed, ReadRequest, Symbol};
use crate::steps::{Arithmetic, Assumed, Dependence, KernelSteps, SymbolExpr};
use formulas::{FormulaId, Formulas, Needs};
use nodes::{KernelNode, NodeKind, Nodes};
use scan::Exits;
use symbolic::{Leaf, Poly, PolyTerms, WideInterval};
use value::{ElementNumber, Pointer, ReadState, ReadValue, Target};

pub(crate) use builtins::{is_pure, writes_last};
pub use questions::matched;
pub(crate) use scan::{assigned, assigned_by, declared, escapes, loop_parts, variables};
pub(crate) use types::{Integer, parts, width};

/// Most expressions that are walked before reading gives up.
const MAX_WORK: u64 = 5_000_000;
/// Most different terms of numbers before it does.
const MAX_TERMS: usize = 1 << 21;

/// Reads the entry function of a file, in whose text these symbols are open.
///
/// # Errors
/// What cannot be read exactly, with its place and what to write instead.
pub fn read(request: &ReadRequest, open: &[String], unit: &Unit) -> Result<KernelSteps, ReadError> {
    let Some(entry) = unit.functions.get(&request.entry) else {
        let known: Vec<&str> =
            unit.functions.values().filter(|f| f.kernel).map(|f| f.name.as_str()).collect();
        return Err(ReadError::file(
            &request.name,
            format!("there is no kernel '{}'", request.entry),
            match known.as_slice() {
                [] => "declare it with __kernel".to_owned(),
                known => format!("kernel.entry may be {}", known.join(" or ")),
            },
        ));
    };
    let mut reader = Reader::new(request, unit, entry);
    reader.know_sizes(open);
    reader.bind_arguments(entry)?;
    let walked = reader.run_function(entry);
    // What was met first is reported, and what else has to be answered with it.
    let mut questions = std::mem::take(&mut reader.questions);
    match walked {
        walked if questions.is_empty() => return walked.and_then(|()| reader.finish()),
        Ok(()) => {}
        Err(error) => questions.extend(error.is_question().then_some(error)),
    }
    Err(match questions.len() {
        1 => questions.remove(0),
        _ => ReadError::Questions(questions),
    })
}

/// The group that `reqd_work_group_size` of the entry function requires, over open symbols; empty
/// if it requires none, or not a number.
pub fn group(request: &ReadRequest, unit: &Unit) -> Vec<SymbolExpr> {
    let entry = unit.functions.get(&request.entry);
    let required = entry.map(|entry| Reader::new(request, unit, entry).required_group());
    required.and_then(|group| group.ok()?).map_or_else(Vec::new, |group| group.sizes)
}

struct Reader<'a> {
    request: &'a ReadRequest,
    unit: &'a Unit,
    /// The kernel. Lines of hints are those of its file.
    entry: &'a CFunction,
    terms: PolyTerms,
    state: ReadState,
    nodes: Nodes,
    variables: HashMap<VariableId, &'a CVariable>,
    /// Integer variables that feed addresses and loops.
    feeding: HashSet<VariableId>,
    /// Products to which nothing is added, and whether the one at hand is one.
    lone_products: HashSet<*const CExpr>,
    lone: bool,
    /// Whether the operation that comes next divides by a square root.
    by_root: bool,
    locals: IndexMap<VariableId, (&'a CVariable, Poly)>,
    /// Private variables that are no scalars.
    privates: IndexMap<VariableId, (&'a CVariable, Poly)>,
    /// Arrays of pointers.
    elements: HashMap<VariableId, ElementNumber>,
    /// Functions that are being walked, outer ones first.
    calls: Vec<&'a str>,
    /// Inside how many subscripts and the like the walk is.
    indexing: u32,
    /// Inside how many expressions of constants and macros alone.
    constant: u32,
    /// Inside how many walks that only look.
    probing: u32,
    /// The branch last found undecided depends on no data, but on the counters around.
    needs_counters: bool,
    /// Inside how many loops whose iterations the problem file gives.
    bounded: u32,
    /// Iterations of the loops around.
    iterations: Vec<Leaf>,
    /// Of the loops around that are left in the midst of an iteration, where.
    exits: Vec<Exits<'a>>,
    assumed: Vec<Assumed>,
    /// What the problem file has to answer. The walk goes on with defaults, to find all.
    questions: Vec<ReadError>,
    /// Loops that were cut, with what first depended on their counter; whether that is a branch.
    cuts: HashMap<SourcePlace, (SourcePlace, bool)>,
    dimensions: usize,
    work: u64,
    formulas: Formulas,
    /// In branches that data decide: what decides the outermost, and the loops and guards around.
    deciding: Option<(FormulaId, usize, usize)>,
    /// Numbers of the guards around.
    path: Vec<u32>,
    /// Those of the sides of the branch that was walked last.
    sides: [u32; 2],
    /// How many branches and barriers there were.
    forks: u32,
    barriers: u32,
    /// In which executions formulas are needed; known at the end.
    needs: Needs,
    /// Results that may be known in the first iteration of a loop, or before; known at the end.
    known_first: HashMap<FormulaId, Option<Leaf>>,
    /// Names of functions of real numbers.
    functions: IndexSet<String>,
    /// Numbers of formulas; known at the end.
    keys: HashMap<FormulaId, u32>,
}

impl<'a> Reader<'a> {
    fn new(request: &'a ReadRequest, unit: &'a Unit, entry: &'a CFunction) -> Reader<'a> {
        let variables = scan::variables(unit);
        Reader {
            request,
            unit,
            entry,
            terms: PolyTerms::new(),
            state: ReadState::default(),
            nodes: Vec::new(),
            feeding: scan::feeding(unit, &variables),
            lone_products: scan::lone_products(unit),
            lone: false,
            by_root: false,
            variables,
            locals: IndexMap::new(),
            privates: IndexMap::new(),
            elements: HashMap::new(),
            calls: Vec::new(),
            indexing: 0,
            constant: 0,
            probing: 0,
            needs_counters: false,
            bounded: 0,
            iterations: Vec::new(),
            exits: Vec::new(),
            assumed: Vec::new(),
            questions: Vec::new(),
            cuts: HashMap::new(),
            dimensions: 1,
            work: 0,
            formulas: Formulas::new(),
            deciding: None,
            path: Vec::new(),
            sides: [0; 2],
            forks: 0,
            barriers: 0,
            needs: Needs::new(),
            known_first: HashMap::new(),
            functions: IndexSet::new(),
            keys: HashMap::new(),
        }
    }

    fn ask(&mut self, question: ReadError) {
        if !self.questions.contains(&question) {
            self.questions.push(question);
        }
    }

    fn assume(&mut self, assumed: Assumed) {
        if !self.assumed.contains(&assumed) {
            self.assumed.push(assumed);
        }
    }

    /// Gives the entry's parameters their values.
    fn bind_arguments(&mut self, entry: &'a CFunction) -> Read<()> {
        for (i, parameter) in entry.parameters.iter().enumerate() {
            let value = match &parameter.ty {
                Type::Pointer(..) if self.request.arguments.get(i) == Some(&Passed::Null) => {
                    ReadValue::Int(Poly::int(0))
                }
                Type::Pointer(space, _) => {
                    let target = Target::Memory(*space, parameter.name.as_str().into());
                    ReadValue::Pointer(Pointer { target, offset: Poly::int(0) })
                }
                Type::Other(name) if name.contains("image") => {
                    let target =
                        Target::Memory(AddressSpace::Global, parameter.name.as_str().into());
                    ReadValue::Pointer(Pointer { target, offset: Poly::int(0) })
                }
                Type::Other(name) if !name.contains("sampler") => {
                    return Err(ReadError::at(
                        &parameter.at,
                        format!("'{}' is a {name}", parameter.name),
                        "pass the data in a buffer",
                    ));
                }
                Type::Other(_) => ReadValue::other(Dependence::Uniform),
                ty => match (Integer::of(ty), self.request.arguments.get(i)) {
                    (None, Some(Passed::Real(number))) => ReadValue::real(*number, ty)
                        .unwrap_or_else(|| self.unknown(ty, Dependence::Uniform)),
                    (Some(integer), passed) if !matches!(passed, Some(Passed::Memory)) => {
                        // One that the problem does not list keeps its name too: where it decides
                        // something, its value is required.
                        let range = match passed {
                            Some(Passed::Number(symbol)) => range_of(*symbol).meet(integer.range()),
                            _ => integer.range(),
                        };
                        let name = format!("${}", parameter.name);
                        ReadValue::Int(self.terms.uniform(&name, range))
                    }
                    _ => {
                        let formula = self.argument(&parameter.name);
                        self.made(ty, Dependence::Uniform, formula)
                    }
                },
            };
            self.state.values.insert(parameter.id, value);
        }
        Ok(())
    }

    /// Groups have the sizes that the launch has in symbols.
    fn know_sizes(&mut self, open: &[String]) {
        self.terms.launch.clone_from(&self.request.launch);
        for (d, size) in self.request.local.iter().enumerate() {
            let size = size.as_ref().and_then(|size| self.in_symbols(size, open));
            if let Some(size) = size.filter(|size| self.terms.interval(size).least >= 1) {
                self.terms.local_sizes.insert(d, size);
            }
        }
    }

    /// A number over open symbols.
    fn in_symbols(&mut self, number: &SymbolExpr, open: &[String]) -> Option<Poly> {
        Some(match number {
            SymbolExpr::Int(value) => Poly::int(*value),
            SymbolExpr::Name(name) if open.contains(name) => {
                let range = range_of(*self.request.symbols.get(name)?);
                self.terms.uniform(name, range)
            }
            SymbolExpr::Binary(op, a, b) => {
                let (a, b) = (self.in_symbols(a, open)?, self.in_symbols(b, open)?);
                match op {
                    BinaryOp::Mul => self.terms.mul(&a, &b),
                    BinaryOp::Div | BinaryOp::FloorDiv => self.terms.quotient(&a, &b),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// A value of a type of which nothing is known but what it depends on.
    fn unknown(&mut self, ty: &Type, depends: Dependence) -> ReadValue {
        match Integer::of(ty) {
            Some(integer) => ReadValue::Int(self.terms.leaf(integer.range(), depends)),
            None => ReadValue::other(depends),
        }
    }

    /// The same with the formula by which it is made.
    fn made(&mut self, ty: &Type, depends: Dependence, formula: FormulaId) -> ReadValue {
        let value = self.unknown(ty, depends);
        self.with_formula(value, formula)
    }

    fn type_of(&self, id: VariableId) -> Option<&'a Type> {
        self.variables.get(&id).map(|variable| &variable.ty)
    }

    /// A macro whose value is open.
    fn symbol(&mut self, name: &str, at: &SourcePlace) -> Read<Poly> {
        let Some(symbol) = self.request.symbols.get(name) else {
            return Err(ReadError::at(
                at,
                format!("the macro '{name}' has no value"),
                "name it in kernel.defines",
            ));
        };
        Ok(self.terms.uniform(name, range_of(*symbol)))
    }

    fn tick(&mut self, at: &SourcePlace) -> Read<()> {
        self.work += 1;
        if self.work <= MAX_WORK && self.terms.count() <= MAX_TERMS {
            return Ok(());
        }
        Err(ReadError::at(
            at,
            "the kernel is too large to be read",
            "make loops shorter whose iterations differ",
        ))
    }

    fn emit(&mut self, kind: NodeKind, at: &SourcePlace) {
        nodes::push(&mut self.nodes, KernelNode { kind, at: at.clone() });
    }

    /// Appends arithmetic, unless it is that of constants and macros alone.
    fn compute(&mut self, kind: Arithmetic, width: u8, at: &SourcePlace) {
        if self.constant > 0 {
            return;
        }
        let integer = matches!(
            kind,
            Arithmetic::Integer | Arithmetic::IntegerMultiply | Arithmetic::IntegerDivide
        );
        let kind = if integer && self.indexing > 0 { Arithmetic::Index } else { kind };
        self.emit(NodeKind::Compute { kind, amount: 1, width }, at);
    }

    /// Steps of a part of the walk, apart from the others.
    fn capture<T>(&mut self, part: impl FnOnce(&mut Self) -> Read<T>) -> Read<(T, Nodes)> {
        let before = std::mem::take(&mut self.nodes);
        let result = part(self);
        let nodes = std::mem::replace(&mut self.nodes, before);
        Ok((result?, nodes))
    }

    /// A part of the walk whose arithmetic only feeds addresses or loops.
    fn index<T>(&mut self, part: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.index_if(true, part)
    }

    /// The same for a part that may be of another kind.
    fn index_if<T>(&mut self, feeds: bool, part: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.indexing += u32::from(feeds);
        let result = part(self);
        self.indexing -= u32::from(feeds);
        result
    }

    /// A part of the walk for an expression, whose arithmetic is free if it is constant.
    fn of<T>(&mut self, e: &CExpr, part: impl FnOnce(&mut Self) -> T) -> T {
        let constant = u32::from(scan::is_constant(e));
        self.constant += constant;
        let result = part(self);
        self.constant -= constant;
        result
    }

    /// The value of an index or another number, as it is.
    fn whole(&mut self, e: &'a CExpr) -> Read<Poly> {
        self.integer_as(e, Integer::exact)
    }

    /// The value of an index, as what a pointer moves by.
    fn distance(&mut self, e: &'a CExpr) -> Read<Poly> {
        self.integer_as(e, Integer::distance)
    }

    fn integer_as(
        &mut self,
        e: &'a CExpr,
        known: fn(Integer, &mut PolyTerms, &Poly) -> Poly,
    ) -> Read<Poly> {
        match (self.value(e)?, Integer::of(&e.ty)) {
            (ReadValue::Int(poly), Some(integer)) => Ok(known(integer, &mut self.terms, &poly)),
            (value, _) => {
                let depends = value.depends(&self.terms);
                Ok(self.terms.unknown(depends))
            }
        }
    }
}

fn range_of(symbol: Symbol) -> WideInterval {
    WideInterval::new(symbol.least, symbol.greatest.max(symbol.least))
}

/// The memory where something is not private: global, local or constant.
fn counts(space: AddressSpace) -> bool {
    matches!(space, AddressSpace::Global | AddressSpace::Local | AddressSpace::Constant)
}
