//! The syntax tree of an OpenCL C file, as plain data; how its types lie in memory.
//!
//! [`parse`](crate::parse) makes it out of libclang's cursors; [`read`](crate::read) walks it. It
//! holds what a reader of memory accesses needs: types with their address spaces, names resolved to
//! declarations, places in the source as the user wrote it (macros are expanded, lines are those of
//! the original file). Implicit conversions and parentheses are left out.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A place in a source file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourcePlace {
    /// The file, as messages name it.
    #[serde(with = "crate::codec::file")]
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
}

/// What a file declares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unit {
    /// Functions with a body, by name.
    pub functions: IndexMap<String, CFunction>,
    /// Variables of program scope.
    pub globals: Vec<CVariable>,
}

/// A function with its body.
#[derive(Debug, Clone, PartialEq)]
pub struct CFunction {
    /// Its name.
    pub name: String,
    /// Whether it is a kernel.
    pub kernel: bool,
    /// Its parameters.
    pub parameters: Vec<CVariable>,
    /// What it returns.
    pub result: Type,
    /// Its statements.
    pub body: Vec<CStmt>,
    /// Where it is declared.
    pub at: SourcePlace,
}

/// Identity of a variable's declaration within a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// A declared variable or parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct CVariable {
    /// Which one it is: shadowed names have different ones.
    pub id: VariableId,
    /// Its name.
    pub name: String,
    /// Its type; that of an array has its lengths as expressions where they were written so.
    pub ty: Type,
    /// In which memory it is. Parameters are private, not depending on what they point to.
    pub space: AddressSpace,
    /// Whether it is a pointer to memory that is never written: `restrict`, and to a `const` type.
    pub read_only: bool,
    /// Its first value.
    pub init: Option<CExpr>,
    /// Where it is declared.
    pub at: SourcePlace,
}

/// Address spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AddressSpace {
    /// Memory of one work item.
    Private,
    /// Memory of a group.
    Local,
    /// Memory of the device.
    Global,
    /// Constant memory.
    Constant,
    /// A pointer of OpenCL 2 and later that may point to global, local or private memory.
    Generic,
}

impl AddressSpace {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            AddressSpace::Private => "private",
            AddressSpace::Local => "local",
            AddressSpace::Global => "global",
            AddressSpace::Constant => "constant",
            AddressSpace::Generic => "generic",
        }
    }
}

/// Scalar types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// `bool`.
    Bool,
    /// An integer.
    Int {
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A real number.
    Real {
        /// 2, 4 or 8.
        bytes: u8,
    },
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `void`.
    Void,
    /// A scalar; enumerations are `int`.
    Scalar(ScalarType),
    /// A vector of 2, 3, 4, 8 or 16.
    Vector(ScalarType, u8),
    /// A pointer.
    Pointer(AddressSpace, Box<Type>),
    /// An array, its length an expression over macros and constants; `None` if it was not given.
    Array(Box<Type>, Option<Box<CExpr>>),
    /// A structure with its fields in order; a structure or union without a name inside, whose
    /// members are those of this one, is a field with an empty name. Attributes are not known.
    Struct(String, Arc<Vec<(String, Type)>>),
    /// A union with its fields, all at its beginning.
    Union(String, Arc<Vec<(String, Type)>>),
    /// Any other, by name: images, samplers, events, pipes.
    Other(String),
}

impl Type {
    /// What a pointer or an array is made of.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::Pointer(_, element) | Type::Array(element, _) => Some(element),
            _ => None,
        }
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct CExpr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it begins.
    pub at: SourcePlace,
}

impl CExpr {
    /// The expressions that it is made of, in the order they are written.
    pub fn parts(&self) -> Vec<&CExpr> {
        match &self.kind {
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Member { base: a, .. } => vec![a],
            ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => {
                vec![a, b]
            }
            ExprKind::Conditional(a, b, c) => vec![a, b, c],
            ExprKind::Call(_, parts) | ExprKind::List(parts) => parts.iter().collect(),
            ExprKind::Int(_)
            | ExprKind::Real(_)
            | ExprKind::Text
            | ExprKind::Variable(..)
            | ExprKind::Symbol(_)
            | ExprKind::SizeOf(_)
            | ExprKind::Unread(_) => Vec::new(),
        }
    }
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A whole number, a character or a truth value.
    Int(i64),
    /// A real number, as written.
    Real(String),
    /// A text; for `printf` only.
    Text,
    /// A variable or parameter.
    Variable(VariableId, String),
    /// A symbol: a macro whose value is kept open (see [`Symbol`](crate::request::Symbol)).
    Symbol(String),
    /// A prefix or postfix operation.
    Unary(UnaryOp, Box<CExpr>),
    /// A binary operation without assignment, `&&`, `||` and `,` included.
    Binary(CBinaryOp, Box<CExpr>, Box<CExpr>),
    /// `left = right`, or `left op= right`.
    Assign(Option<CBinaryOp>, Box<CExpr>, Box<CExpr>),
    /// `c ? a : b`.
    Conditional(Box<CExpr>, Box<CExpr>, Box<CExpr>),
    /// A call of a function of the unit or of a built-in function.
    Call(String, Vec<CExpr>),
    /// `base[index]`.
    Index(Box<CExpr>, Box<CExpr>),
    /// `base.member` or, through a pointer, `base->member`; components of vectors, too.
    Member {
        /// The structure, the vector or the pointer.
        base: Box<CExpr>,
        /// `x`, `s0`, `lo`, or a field.
        member: String,
        /// Whether it was `->`.
        arrow: bool,
    },
    /// An explicit conversion, to the expression's type.
    Cast(Box<CExpr>),
    /// `(float4)(a, b)`, or a list of initial values.
    List(Vec<CExpr>),
    /// `sizeof`, evaluated.
    SizeOf(i64),
    /// Something that is not read; with a description (`block literal`, `asm`).
    Unread(String),
}

/// Unary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `+a`
    Plus,
    /// `-a`
    Minus,
    /// `!a`
    Not,
    /// `~a`
    Complement,
    /// `*a`
    Deref,
    /// `&a`
    Address,
    /// `++a`
    PreIncrement,
    /// `--a`
    PreDecrement,
    /// `a++`
    PostIncrement,
    /// `a--`
    PostDecrement,
}

/// Binary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // they are what they are called
pub enum CBinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Comma,
}

impl CBinaryOp {
    /// Whether the result is a truth value.
    pub(crate) fn is_truth(self) -> bool {
        use CBinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        matches!(self, And | Or | Eq | Ne | Lt | Le | Gt | Ge)
    }

    /// Whether it can stand in front of `=`.
    pub(crate) fn is_arithmetic(self) -> bool {
        !self.is_truth() && self != CBinaryOp::Comma
    }
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub struct CStmt {
    /// What it is.
    pub kind: CStmtKind,
    /// Where it begins.
    pub at: SourcePlace,
}

/// What a statement is.
#[derive(Debug, Clone, PartialEq)]
pub enum CStmtKind {
    /// `{ ... }`
    Block(Vec<CStmt>),
    /// Declarations.
    Declare(Vec<CVariable>),
    /// An expression, for its effects.
    Expr(CExpr),
    /// `if`
    If(CExpr, Vec<CStmt>, Vec<CStmt>),
    /// `for (init; condition; step) body`
    For {
        /// Run once before.
        init: Vec<CStmt>,
        /// Absent: true.
        condition: Option<CExpr>,
        /// Run after each iteration.
        step: Option<CExpr>,
        /// The body.
        body: Vec<CStmt>,
    },
    /// `while`
    While(CExpr, Vec<CStmt>),
    /// `do body while (condition)`
    DoWhile(Vec<CStmt>, CExpr),
    /// `switch (value) { body }`
    Switch(CExpr, Vec<Label>, Vec<CStmt>),
    /// `return`
    Return(Option<CExpr>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `;`
    Empty,
    /// Something that is not read: `goto`, `asm`.
    Unread(String),
}

/// `case value:` or `default:`
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The constant; `None`: any other value.
    pub value: Option<CExpr>,
    /// The statement of the body that it leads to; as many as there are: the end.
    pub place: usize,
}

/// Size of a scalar in bytes.
pub(crate) fn scalar_bytes(scalar: ScalarType) -> u8 {
    match scalar {
        ScalarType::Bool => 1,
        ScalarType::Int { bytes, .. } | ScalarType::Real { bytes } => bytes,
    }
}

/// Bytes of a vector in memory: three components take the room of four.
pub(crate) fn vector_bytes(scalar: ScalarType, width: u8) -> i64 {
    let width = if width == 3 { 4 } else { i64::from(width) };
    i64::from(scalar_bytes(scalar)) * width
}

/// Alignment in bytes.
pub(crate) fn alignment(ty: &Type) -> i64 {
    match ty {
        Type::Scalar(scalar) => i64::from(scalar_bytes(*scalar)),
        Type::Vector(scalar, width) => vector_bytes(*scalar, *width),
        Type::Array(element, _) => alignment(element),
        Type::Struct(_, fields) | Type::Union(_, fields) => {
            fields.iter().map(|(_, ty)| alignment(ty)).max().unwrap_or(1)
        }
        Type::Pointer(..) => 8,
        Type::Void | Type::Other(_) => 1,
    }
}

/// The size of a type in bytes, where no macro decides it.
pub(crate) fn bytes(ty: &Type) -> Option<i64> {
    match ty {
        Type::Scalar(scalar) => Some(i64::from(scalar_bytes(*scalar))),
        Type::Vector(scalar, width) => Some(vector_bytes(*scalar, *width)),
        Type::Array(element, Some(length)) => match length.kind {
            ExprKind::Int(length) => bytes(element)?.checked_mul(length),
            _ => None,
        },
        Type::Struct(_, fields) => {
            let mut size = 0_i64;
            for (_, field) in fields.iter() {
                size = raised(size, alignment(field))?.checked_add(bytes(field)?)?;
            }
            raised(size, alignment(ty))
        }
        Type::Union(_, fields) => {
            let all: Option<Vec<i64>> = fields.iter().map(|(_, field)| bytes(field)).collect();
            raised(all?.into_iter().max()?, alignment(ty))
        }
        Type::Pointer(..) | Type::Array(..) | Type::Void | Type::Other(_) => None,
    }
}

/// The least multiple of `to` that is not below `size`.
fn raised(size: i64, to: i64) -> Option<i64> {
    Some(size.checked_add(to - 1)? / to * to)
}

/// Most members of a structure that are loaded and stored one by one.
const MAX_MEMBERS: usize = 64;

/// The scalars and vectors of a structure, each with the byte where it begins; `None` of other
/// types, of what holds pointers, of sizes that macros decide, and of more than [`MAX_MEMBERS`].
pub(crate) fn members(ty: &Type) -> Option<Vec<(i64, &Type)>> {
    let mut all = Vec::new();
    if !matches!(ty, Type::Struct(..)) {
        return None;
    }
    add_members(ty, 0, &mut all)?;
    Some(all)
}

fn add_members<'t>(ty: &'t Type, start: i64, all: &mut Vec<(i64, &'t Type)>) -> Option<()> {
    match ty {
        Type::Scalar(_) | Type::Vector(..) if all.len() < MAX_MEMBERS => all.push((start, ty)),
        Type::Struct(_, fields) => {
            let mut at = start;
            for (_, field) in fields.iter() {
                at = raised(at, alignment(field))?;
                add_members(field, at, all)?;
                at = at.checked_add(bytes(field)?)?;
            }
        }
        Type::Array(element, Some(length)) => {
            let ExprKind::Int(length) = length.kind else { return None };
            for k in 0..length {
                add_members(element, start.checked_add(bytes(element)?.checked_mul(k)?)?, all)?;
            }
        }
        // Any other member has the same bytes.
        Type::Union(_, fields) => {
            let longest = fields.iter().map(|(_, field)| field).max_by_key(|field| bytes(field))?;
            add_members(longest, start, all)?;
        }
        _ => return None,
    }
    Some(())
}
