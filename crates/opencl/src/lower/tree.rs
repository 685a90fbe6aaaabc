//! Kernel programs while they are made: statements that still know their lines.

use std::sync::Arc;

use tickbound_expr::Expr;
use tickbound_model::{AccessKind, Program, Stmt, StmtKind};

use super::names::Names;
use crate::ast::{AddressSpace, SourcePlace};
use crate::error::Read;
use crate::steps::{Arithmetic, KernelStep, KernelStepKind, picks_one};

/// A statement of a kernel program, over the problem's names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// So many accesses or operations.
    Amount { access: AccessKind, amount: Expr, lines: Lines },
    /// A barrier.
    Barrier { lines: Lines },
    /// A loop.
    Repeat { count: Expr, body: Vec<Node>, lines: Lines },
    /// A branch; one that comes from merging has no lines.
    If { condition: Expr, then: Vec<Node>, otherwise: Vec<Node>, lines: Option<Lines> },
}

impl Node {
    /// The lines of the source that it comes from; `None` if it comes from merging.
    pub(super) fn lines(&self) -> Option<&Lines> {
        match self {
            Node::Amount { lines, .. } | Node::Barrier { lines } | Node::Repeat { lines, .. } => {
                Some(lines)
            }
            Node::If { lines, .. } => lines.as_ref(),
        }
    }

    /// The statement. [`Problem::set_kernel`](tickbound_model::Problem::set_kernel) says where it
    /// stands if it comes from no one file.
    fn statement(self) -> Stmt {
        let label = self.lines().map(Lines::text);
        let at = self.lines().and_then(Lines::place).unwrap_or_default();
        let kind = match self {
            Node::Amount { access, amount, .. } => StmtKind::Access { access, amount },
            Node::Barrier { .. } => StmtKind::Barrier,
            Node::Repeat { count, body, .. } => StmtKind::Repeat { count, body: statements(body) },
            Node::If { condition, then, otherwise, .. } => {
                let (then, otherwise) = (statements(then), statements(otherwise));
                StmtKind::If { condition, then, otherwise }
            }
        };
        let label = label.unwrap_or_else(|| kind.name().to_owned());
        Stmt { at, label, kind }
    }
}

/// The program as the model has it.
pub(super) fn statements(nodes: Vec<Node>) -> Program {
    nodes.into_iter().map(Node::statement).collect()
}

/// The lines that a statement comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Lines {
    /// Their file; `None` for lines of several.
    file: Option<Arc<str>>,
    pub(super) first: u32,
    last: u32,
}

impl Lines {
    fn at(at: &SourcePlace) -> Lines {
        Lines { file: Some(at.file.clone()), first: at.line, last: at.line }
    }

    /// Lines that cover both.
    fn with(&self, other: &Lines) -> Lines {
        Lines {
            file: self.file.clone().filter(|file| other.file.as_ref() == Some(file)),
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    /// The file and the lines, such as `minimum.cl, line 14`.
    fn place(&self) -> Option<String> {
        Some(format!("{}, {}", self.file.as_ref()?, self.text()))
    }

    fn text(&self) -> String {
        match self.first == self.last {
            true => format!("line {}", self.first),
            false => format!("lines {} to {}", self.first, self.last),
        }
    }
}

/// The program of some steps; neighbours of one kind become one statement.
pub(super) fn program(steps: &[KernelStep], names: &Names) -> Read<Vec<Node>> {
    part(steps, names, false)
}

/// What one atomic operation costs, on an address that all items use at once or not.
fn atomic(space: AddressSpace, shared: bool) -> AccessKind {
    match (space, shared) {
        (AddressSpace::Local, true) => AccessKind::SharedLocalAtomic,
        (AddressSpace::Local, false) => AccessKind::LocalAtomic,
        (_, true) => AccessKind::SharedAtomic,
        (_, false) => AccessKind::Atomic,
    }
}

/// The program of steps that all items come to, or `of_one` in a group.
fn part(steps: &[KernelStep], names: &Names, of_one: bool) -> Read<Vec<Node>> {
    let mut nodes = Vec::new();
    for step in steps {
        let lines = Lines::at(&step.at);
        let amount =
            |access, n| Node::Amount { access, amount: Expr::Int(n), lines: lines.clone() };
        let node = match &step.kind {
            KernelStepKind::Access(access) => priced(access.space).map(|access| amount(access, 1)),
            KernelStepKind::Atomic { space, shared, .. } => {
                Some(amount(atomic(*space, *shared && !of_one), 1))
            }
            KernelStepKind::Compute { kind: Arithmetic::Index, .. } => None,
            KernelStepKind::Compute { amount: n, .. } => {
                Some(amount(AccessKind::Compute, i64::from(*n)))
            }
            KernelStepKind::Barrier => Some(Node::Barrier { lines }),
            KernelStepKind::Repeat { count, body, .. } => {
                let body = part(body, names, of_one)?;
                let count = names.put_in(count, &step.at)?;
                (!body.is_empty()).then_some(Node::Repeat { count, body, lines })
            }
            KernelStepKind::If { condition, then, otherwise, .. } => {
                let side = |steps, holds| part(steps, names, of_one || picks_one(condition, holds));
                let (then, otherwise) = (side(then, true)?, side(otherwise, false)?);
                if then == otherwise {
                    then.into_iter().for_each(|node| push(&mut nodes, node));
                    continue;
                }
                let condition = names.put_in(condition, &step.at)?;
                Some(Node::If { condition, then, otherwise, lines: Some(lines) })
            }
        };
        if let Some(node) = node {
            push(&mut nodes, node);
        }
    }
    Ok(nodes)
}

/// What an access of an address space costs; `None`: nothing.
fn priced(space: AddressSpace) -> Option<AccessKind> {
    match space {
        AddressSpace::Private => None,
        AddressSpace::Local => Some(AccessKind::Local),
        AddressSpace::Constant => Some(AccessKind::Constant),
        AddressSpace::Global | AddressSpace::Generic => Some(AccessKind::Global),
    }
}

/// Appends a node, adding a plain amount to one of the same kind before it.
fn push(nodes: &mut Vec<Node>, node: Node) {
    if let (
        Some(Node::Amount { access, amount: Expr::Int(before), lines }),
        Node::Amount { access: new, amount: Expr::Int(more), lines: at },
    ) = (nodes.last_mut(), &node)
        && access == new
    {
        *before += more;
        *lines = lines.with(at);
        return;
    }
    nodes.push(node);
}
