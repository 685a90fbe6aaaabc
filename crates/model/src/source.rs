//! A kernel in OpenCL C, CUDA or HIP: its source, how it is compiled, what it is called with.
//!
//! A problem whose `kernel` is an object instead of a list of statements names a source file. What
//! is here is enough to read the source (the crate `tickbound-opencl` makes a kernel program
//! of it) and to run it on a device: macros, arguments with their first content, the host
//! reference that computes what is right. Nothing here opens a file.

use std::fmt;

use super::scope::is_identifier;
use tickbound_expr::{EvalError, Expr};

/// A kernel in OpenCL C, CUDA or HIP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSource {
    /// The source file, as the problem file gives it: relative to the problem file.
    pub path: String,
    /// Further source files, which follow the first one as if all were one file.
    pub more: Vec<String>,
    /// Folders for `#include`, relative to the problem file, besides that of the first source file.
    pub include: Vec<String>,
    /// The kernel function.
    pub entry: String,
    /// The language and its version.
    pub standard: Standard,
    /// Macros given to the compiler, in order.
    pub defines: Vec<(String, Define)>,
    /// The kernel's arguments, in order.
    pub arguments: Vec<KernelArgument>,
    /// The C file with the host reference, relative to the problem file.
    pub reference: Option<String>,
    /// What floating-point outputs may be wrong by.
    pub tolerance: Tolerance,
    /// Bytes that the kernel must at least move, for bytes a second in reports.
    pub bytes: Option<Expr>,
    /// Operations of the task, for operations a second in reports.
    pub operations: Option<Expr>,
    /// For loops that cannot be read: their most iterations.
    pub bounds: Vec<(QuestionKey, Expr)>,
    /// For branches that depend on data: which side counts.
    pub branches: Vec<(QuestionKey, Side)>,
}

/// Greatest allowed `|got - expected| / max(1, |expected|)` of floating-point outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tolerance {
    /// In units of 1e-12, for each term.
    pub units: u64,
    /// How many terms an output is the sum of, where the tolerance grows with them: the rounding
    /// error of a sum has a bound that is proportional to its length (Higham, Accuracy and
    /// Stability of Numerical Algorithms, section 4.2).
    pub terms: Option<Expr>,
}

impl Tolerance {
    /// The tolerance of a configuration, for the values of all names.
    ///
    /// # Errors
    /// The number of terms has no value.
    pub fn at(&self, env: &[i64]) -> Result<f64, EvalError> {
        let terms = self.terms.as_ref().map_or(Ok(1), |terms| terms.eval(env))?;
        Ok(self.units as f64 * 1e-12 * terms.max(0) as f64)
    }
}

/// Which loops or branches of the source an answer is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum QuestionKey {
    /// Those in a line of the kernel's file, written `line 14`.
    Line(u32),
    /// Those in a function, written `reduce`; or those with a condition, written `reduce: x > 0`;
    /// or the second of these, written `reduce: x > 0 #2`.
    Function {
        /// The function.
        name: String,
        /// The condition, as messages write it.
        condition: Option<String>,
        /// Which of several with this condition, from 1; absent: all of them.
        place: Option<u32>,
    },
}

impl QuestionKey {
    /// Reads `line 14`, `reduce`, `reduce: x > 0` or `reduce: x > 0 #2`; `None` for anything else.
    pub fn read(text: &str) -> Option<QuestionKey> {
        if let Some(line) = text.strip_prefix("line ") {
            return line.trim().parse().ok().map(QuestionKey::Line);
        }
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest.trim())),
            None => (text, None),
        };
        let numbered = rest.and_then(|rest| rest.rsplit_once('#'));
        let (condition, place) = match numbered.map(|(c, n)| (c.trim(), n.trim().parse())) {
            Some((condition, Ok(place))) if place > 0 => (Some(condition), Some(place)),
            _ => (rest, None),
        };
        let known = is_identifier(name) && condition.is_none_or(|c| !c.is_empty());
        let (name, condition) = (name.to_owned(), condition.map(str::to_owned));
        known.then_some(QuestionKey::Function { name, condition, place })
    }
}

impl fmt::Display for QuestionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuestionKey::Line(line) => write!(f, "line {line}"),
            QuestionKey::Function { name, condition, place } => {
                write!(f, "{name}")?;
                condition.iter().try_for_each(|condition| write!(f, ": {condition}"))?;
                place.iter().try_for_each(|place| write!(f, " #{place}"))
            }
        }
    }
}

tickbound_input::named! {
    /// The language of a source; of OpenCL C with its version, as after `-cl-std=`.
    #[derive(Default)]
    pub enum Standard {
        /// OpenCL C 1.2.
        #[default]
        Cl12 = "CL1.2",
        /// OpenCL C 3.0.
        Cl30 = "CL3.0",
        /// CUDA C++.
        Cuda = "cuda",
        /// HIP C++.
        Hip = "hip",
    }
}

impl Standard {
    /// Whether it is CUDA C++ or HIP C++.
    pub fn is_cuda(self) -> bool {
        matches!(self, Standard::Cuda | Standard::Hip)
    }

    /// What people call the language.
    pub fn language(self) -> &'static str {
        match self {
            Standard::Cl12 | Standard::Cl30 => "OpenCL",
            Standard::Cuda => "CUDA",
            Standard::Hip => "HIP",
        }
    }
}

/// The value of a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Define {
    /// A number, which may differ between configurations.
    Number(Expr),
    /// Text that is the same for all configurations.
    Text(String),
}

tickbound_input::named! {
    /// Which side of a branch counts.
    pub enum Side {
        /// The condition holds.
        Then = "then",
        /// The condition does not hold.
        Else = "else",
        /// Both, in sequence, as items in lockstep do that disagree.
        Both = "both",
    }
}

tickbound_input::named! {
    /// Element type of a buffer, or type of a scalar, called as in OpenCL C.
    pub enum ElementType {
        /// 8 bits, signed.
        Char = "char",
        /// 8 bits, unsigned.
        Uchar = "uchar",
        /// 16 bits, signed.
        Short = "short",
        /// 16 bits, unsigned.
        Ushort = "ushort",
        /// 32 bits, signed.
        Int = "int",
        /// 32 bits, unsigned.
        Uint = "uint",
        /// 64 bits, signed.
        Long = "long",
        /// 64 bits, unsigned.
        Ulong = "ulong",
        /// 32 bits, IEEE.
        Float = "float",
        /// 64 bits, IEEE.
        Double = "double",
    }
}

impl ElementType {
    /// Its size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            ElementType::Char | ElementType::Uchar => 1,
            ElementType::Short | ElementType::Ushort => 2,
            ElementType::Int | ElementType::Uint | ElementType::Float => 4,
            ElementType::Long | ElementType::Ulong | ElementType::Double => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub fn is_real(self) -> bool {
        matches!(self, ElementType::Float | ElementType::Double)
    }
}

/// An argument of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelArgument {
    /// Its name, which need not be the parameter's name in the source.
    pub name: String,
    /// Its type, or that of its elements.
    pub element: ElementType,
    /// What is passed.
    pub kind: ArgumentKind,
    /// Of an image, its texels in each dimension; the elements of the buffer are four for each.
    pub image: Vec<Expr>,
}

/// What is passed as an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A buffer in global or constant memory.
    Buffer {
        /// Elements; 0: the pointer is null.
        length: Expr,
        /// First content.
        fill: Fill,
        /// Whether the kernel's result is in it.
        output: bool,
    },
    /// Local memory.
    Local {
        /// Elements.
        length: Expr,
    },
    /// A vector or a structure by value.
    Whole {
        /// Its elements.
        length: Expr,
        /// What they are.
        fill: Fill,
    },
    /// A whole number by value.
    Scalar(Expr),
    /// A real number by value, as it was written.
    Real(String),
}

/// First content of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fill {
    /// The same number everywhere.
    Constant(Expr),
    /// Element i is i.
    Index,
    /// Pseudo-random numbers, always the same ones for the same name and length: whole ones from
    /// `low` to `high`, or real ones from `low` to below `high`.
    Random {
        /// The least.
        low: Expr,
        /// The greatest.
        high: Expr,
    },
}
