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
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// How much, how often, or the condition; of a barrier 0.
    pub(super) number: Expr,
    /// The body of a loop; both sides of a branch.
    pub(super) bodies: [Vec<Node>; 2],
    /// The lines of the source that it comes from; `None` if it comes from merging.
    pub(super) lines: Option<Lines>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NodeKind {
    /// Accesses or operations.
    Amount(AccessKind),
    Barrier,
    Repeat,
    If,
}

impl Node {
    /// The statement, with its place.
    fn statement(self) -> Stmt {
        let [body, otherwise] = self.bodies.map(statements);
        let kind = match self.kind {
            NodeKind::Amount(access) => StmtKind::Access { access, amount: self.number },
            NodeKind::Barrier => StmtKind::Barrier,
            NodeKind::Repeat => StmtKind::Repeat { count: self.number, body },
            NodeKind::If => StmtKind::If { condition: self.number, then: body, otherwise },
        };
        let lines = self.lines.as_ref();
        let label = lines.map_or_else(|| kind.name().to_owned(), Lines::text);
        Stmt { at: lines.and_then(Lines::place).unwrap_or_default(), label, kind }
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

/// What one atomic operation costs, on an address that all items use at once or not.
fn atomic(space: AddressSpace, shared: bool) -> AccessKind {
    match (space, shared) {
        (AddressSpace::Local, true) => AccessKind::SharedLocalAtomic,
        (AddressSpace::Local, false) => AccessKind::LocalAtomic,
        (_, true) => AccessKind::SharedAtomic,
        (_, false) => AccessKind::Atomic,
    }
}

/// The program of steps of all items, or of one (`of_one`); neighbours of one kind are joined.
pub(super) fn program(steps: &[KernelStep], names: &Names, of_one: bool) -> Read<Vec<Node>> {
    let mut nodes = Vec::new();
    for step in steps {
        let (mut number, mut bodies) = (Expr::Int(1), [Vec::new(), Vec::new()]);
        let kind = match &step.kind {
            KernelStepKind::Access(access) => priced(access.space).map(NodeKind::Amount),
            KernelStepKind::Atomic { space, shared, .. } => {
                Some(NodeKind::Amount(atomic(*space, *shared && !of_one)))
            }
            KernelStepKind::Compute { kind: Arithmetic::Index, .. } | KernelStepKind::Value(_) => {
                None
            }
            KernelStepKind::Compute { amount, .. } => {
                number = Expr::Int(i64::from(*amount));
                Some(NodeKind::Amount(AccessKind::Compute))
            }
            KernelStepKind::Barrier => {
                number = Expr::Int(0);
                Some(NodeKind::Barrier)
            }
            KernelStepKind::Repeat { count, body, .. } => {
                bodies[0] = program(body, names, of_one)?;
                number = names.put_in(count, &step.at)?;
                (!bodies[0].is_empty()).then_some(NodeKind::Repeat)
            }
            KernelStepKind::If { condition, then, otherwise, .. } => {
                let side =
                    |steps, holds| program(steps, names, of_one || picks_one(condition, holds));
                bodies = [side(then, true)?, side(otherwise, false)?];
                if bodies[0] == bodies[1] {
                    let [both, _] = bodies;
                    both.into_iter().for_each(|node| push(&mut nodes, node));
                    continue;
                }
                number = names.put_in(condition, &step.at)?;
                Some(NodeKind::If)
            }
        };
        if let Some(kind) = kind {
            push(&mut nodes, Node { kind, number, bodies, lines: Some(Lines::at(&step.at)) });
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
    if let (Some(last), NodeKind::Amount(_)) = (nodes.last_mut(), node.kind)
        && last.kind == node.kind
        && let (Expr::Int(before), Expr::Int(more)) = (&mut last.number, &node.number)
        && let (Some(lines), Some(at)) = (&mut last.lines, &node.lines)
    {
        *before += more;
        *lines = lines.with(at);
        return;
    }
    nodes.push(node);
}
