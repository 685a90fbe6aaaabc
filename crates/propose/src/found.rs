//! What the steps of a kernel have, and their numbers over the problem's names.

use tickbound_expr::{BinaryOp, Expr, parse};
use tickbound_opencl::extract::Variant;
use tickbound_opencl::reading::By;
use tickbound_opencl::steps::{AddressSpace, KernelStep, KernelStepKind, MemoryAccess, SymbolExpr};

use crate::draft::Draft;

/// An access, with how often each of the loops around it runs, inner ones first.
pub(crate) struct Seen<'s> {
    pub access: &'s MemoryAccess,
    pub loops: Vec<&'s SymbolExpr>,
}

/// What the steps of one reading have.
#[derive(Default)]
pub(crate) struct Found<'s> {
    pub accesses: Vec<Seen<'s>>,
    pub conditions: Vec<&'s SymbolExpr>,
    /// There are atomic operations on global memory.
    pub atomics: bool,
    pub counts: Vec<&'s SymbolExpr>,
}

impl<'s> Found<'s> {
    pub fn of(variant: &'s Variant) -> Found<'s> {
        let mut found = Found::default();
        found.walk(&variant.steps.body, &mut Vec::new());
        found.counts.extend(variant.steps.locals.iter().map(|array| &array.bytes));
        found
    }

    fn walk(&mut self, steps: &'s [KernelStep], loops: &mut Vec<&'s SymbolExpr>) {
        for step in steps.iter().filter(|step| !step.is_private()) {
            match &step.kind {
                KernelStepKind::Access(access) => {
                    let loops = loops.iter().rev().copied().collect();
                    self.accesses.push(Seen { access, loops });
                }
                KernelStepKind::Repeat { count, whole, body } => {
                    self.counts.push(count);
                    loops.push(whole.as_ref().unwrap_or(count));
                    self.walk(body, loops);
                    loops.pop();
                }
                KernelStepKind::Atomic { space: AddressSpace::Global, .. } => self.atomics = true,
                KernelStepKind::If { condition, then, otherwise, .. } => {
                    self.conditions.push(condition);
                    self.walk(then, loops);
                    self.walk(otherwise, loops);
                }
                _ => {}
            }
        }
    }
}

/// A number of the steps over the problem's names; `None` if it takes ids.
pub(crate) fn in_problem(number: &SymbolExpr, draft: &Draft) -> Option<SymbolExpr> {
    number.replace(&mut |name: &String| named(name, draft).ok_or(())).ok()
}

/// A name of the steps over those of the problem.
pub(crate) fn named(name: &str, draft: &Draft) -> Option<SymbolExpr> {
    let Some(plain) = name.strip_prefix('$') else { return Some(Expr::Name(name.to_owned())) };
    let expression = |text: &String| parse::parse(text).ok();
    if let Some((what, d)) = plain.rsplit_once('_')
        && let Ok(d) = d.parse::<usize>()
    {
        let (local, global) =
            (draft.locals.get(d).and_then(expression), draft.globals.get(d).and_then(expression));
        match what {
            "local" => return Some(local.unwrap_or(Expr::Int(1))),
            "global" => return Some(global.unwrap_or(Expr::Int(1))),
            "groups" => {
                return match global? {
                    // This many groups of a size.
                    Expr::Binary(BinaryOp::Mul, groups, size) if Some(&*size) == local.as_ref() => {
                        Some(*groups)
                    }
                    global => Some(Expr::binary(BinaryOp::FloorDiv, global, local?)),
                };
            }
            "lid" | "group" => return None,
            _ => {}
        }
    }
    let argument = draft.arguments.iter().find(|a| a.name == plain && a.by == By::Value)?;
    expression(&argument.value)
}
