//! Which loops a compiler unrolls, and how far.

use std::iter::repeat;

use tickbound_expr::Expr;

use super::number::{choice, less, max};
use crate::ast::{AddressSpace, SourcePlace};
use crate::error::Read;
use crate::lower::Names;
use crate::preprocess::Said;
use crate::steps::{
    Arithmetic, KernelStep, KernelStepKind, MemoryAccess, Stride, SymbolExpr, mentions,
};

/// The size of a body, in instructions, up to which a loop is unrolled by compilers that keep the
/// order of the source: LLVM, LoopUnrollPass.cpp, pragma-unroll-threshold, 16 * 1024.
const MAX_UNROLLED: i64 = 16 * 1024;

/// The same of a body with some of the iterations of a loop that is not
/// [wanted](Unroll::is_wanted) unrolled: LLVM, LoopUnrollPass.cpp, unroll-partial-threshold.
const MAX_SIZE_IN_PART: i64 = 150;

/// Instructions of an access in such a body, with those that make its address. Other whole numbers
/// are not counted, as most are constants once a loop is unrolled.
const ACCESS: i64 = 4;

/// Most iterations that are put into one body; keeps expressions small.
const MAX_IN_PART: i64 = 256;

/// What decides it.
pub(super) struct Unroll<'a> {
    pub names: &'a Names,
    /// The pragmas of the source.
    pub said: &'a [Said],
}

/// How far a loop is unrolled.
pub(super) struct Unrolling {
    /// 1 if as a whole, else 0.
    pub whole: Expr,
    /// Iterations of one body, if not, where the source requests it.
    pub body: Option<Expr>,
}

impl Unroll<'_> {
    /// How far a loop is unrolled that has `whole` iterations and this body.
    pub fn of(&self, whole: &SymbolExpr, at: &SourcePlace, body: &[KernelStep]) -> Read<Unrolling> {
        let known = match self.said(at) {
            None => macros_only(whole) && !self.keeps_rolled(body),
            Some(Said { times: None, .. }) => true,
            Some(Said { times: Some(times), .. }) => {
                let trips = self.names.put_in(whole, at)?.simplified();
                let times = max(1, self.names.put_in(times, at)?.simplified());
                let whole = less(trips, &times + 1);
                return Ok(Unrolling { whole, body: Some(times) });
            }
        };
        Ok(Unrolling { whole: Expr::Int(i64::from(known)), body: None })
    }

    /// Whether a loop is to be unrolled even if it is large: the source wants it, or private arrays
    /// become registers by it, for which targets of LLVM raise their limits.
    pub fn is_wanted(&self, at: &SourcePlace, body: &[KernelStep]) -> bool {
        self.said(at).is_some() || body.iter().any(has_private_arrays)
    }

    /// The pragma of the loop at this place. Compilers of CUDA ignore 0, for which Kernel Tuner
    /// leaves the pragma out.
    fn said(&self, at: &SourcePlace) -> Option<&Said> {
        let here = |said: &&Said| said.line == at.line && *said.file == *at.file;
        let said = self.said.iter().find(here)?;
        let times = said.times.as_ref().and_then(|times| self.names.put_in(times, at).ok());
        (times.map(Expr::simplified) != Some(Expr::Int(0))).then_some(said)
    }

    /// Of a loop that may be unrolled: whether all its iterations are few enough for compilers that
    /// keep the order of the source, and else how many there are in one body, the greatest divisor
    /// that is few enough (LLVM, LoopUnrollPass.cpp, computeUnrollCount: partial unrolling).
    /// `wanted`: it [is](Unroll::is_wanted).
    pub fn limited(
        &self,
        (trips, wanted): (&Expr, bool),
        known: Option<i64>,
        body: &[KernelStep],
    ) -> Read<(Expr, Expr)> {
        let size = self.size(body, &mut Vec::new())?;
        let in_part = if wanted { MAX_UNROLLED } else { MAX_SIZE_IN_PART };
        let fits = |n: Expr, most: i64| less(n * &size, most + 1);
        let known = known.unwrap_or(1);
        let divisors = (2..=known.min(MAX_IN_PART)).filter(|n| known % n == 0).map(Expr::Int);
        let in_part =
            divisors.fold(Expr::Int(1), |most, n| choice(fits(n.clone(), in_part), n, most));
        Ok((fits(trips.clone(), MAX_UNROLLED), in_part))
    }

    /// Instructions of an iteration, as a compiler counts them that asks whether to unroll it;
    /// `around`: iterations of the loops around it that are unrolled before, outer ones first.
    fn size(&self, body: &[KernelStep], around: &mut Vec<Expr>) -> Read<Expr> {
        let mut size = Expr::Int(0);
        let mut cut: Option<&SourcePlace> = None;
        for step in body {
            let own = match &step.kind {
                // Private arrays are registers where all is unrolled.
                KernelStepKind::Value(_)
                | KernelStepKind::Access(MemoryAccess { space: AddressSpace::Private, .. })
                | KernelStepKind::Compute {
                    kind: Arithmetic::Index | Arithmetic::Integer, ..
                } => Expr::Int(0),
                // What is loaded from the same place again is loaded once.
                KernelStepKind::Access(access) => {
                    let again = |stride: &Stride| {
                        !access.store && *stride == Stride::Elements(SymbolExpr::Int(0))
                    };
                    let strides = access.iterations.iter().map(again).chain(repeat(false));
                    let moving = around.iter().rev().zip(strides).filter(|(_, again)| !again);
                    ACCESS * moving.map(|(trips, _)| trips).product::<Expr>()
                }
                KernelStepKind::Compute { amount, .. } => {
                    i64::from(*amount) * around.iter().product::<Expr>()
                }
                KernelStepKind::Atomic { .. } | KernelStepKind::Barrier => around.iter().product(),
                // Of the parts of a loop the first represents all.
                KernelStepKind::Repeat { whole: Some(_), .. } if cut == Some(&step.at) => {
                    Expr::Int(0)
                }
                KernelStepKind::Repeat { count, whole, body } => {
                    cut = whole.as_ref().map(|_| &step.at);
                    let trips = self.names.put_in(whole.as_ref().unwrap_or(count), &step.at)?;
                    around.push(max(0, trips.simplified()));
                    let inside = self.size(body, around)?;
                    around.pop();
                    inside
                }
                KernelStepKind::If { then, otherwise, .. } => {
                    self.size(then, around)? + self.size(otherwise, around)?
                }
            };
            size += own;
        }
        Ok(size)
    }

    /// Whether a loop with this body stays one although the number of its iterations is known.
    fn keeps_rolled(&self, body: &[KernelStep]) -> bool {
        body.iter().any(|step| match &step.kind {
            KernelStepKind::Barrier => true,
            KernelStepKind::Repeat { count, whole, body } => {
                let known = macros_only(whole.as_ref().unwrap_or(count));
                !known || self.said(&step.at).is_some() || self.keeps_rolled(body)
            }
            _ => step.bodies().any(|body| self.keeps_rolled(body)),
        })
    }
}

/// Whether a step or one inside it accesses private memory.
fn has_private_arrays(step: &KernelStep) -> bool {
    match &step.kind {
        KernelStepKind::Access(access) => access.space == AddressSpace::Private,
        _ => step.bodies().flatten().any(has_private_arrays),
    }
}

/// Whether a number follows from macros and constants alone.
pub(super) fn macros_only(number: &SymbolExpr) -> bool {
    !mentions(number, "$")
}
