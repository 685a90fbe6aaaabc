//! Kernel programs while they are made: statements with expressions over the problem's names.

use serde_json::{Value, json};
use tickbound_model::Expr;

use super::Names;
use crate::FrontendError;
use crate::ast::{At, Space};
use crate::steps::{Arithmetic, Step, StepKind};

/// A statement of a kernel program.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// So many accesses or operations.
    Amount { keyword: &'static str, amount: Expr<String>, label: Label },
    /// A barrier.
    Barrier { label: Label },
    /// A loop.
    Repeat { count: Expr<String>, body: Vec<Node>, label: Label },
    /// A branch.
    If { condition: Expr<String>, then: Vec<Node>, otherwise: Vec<Node>, label: Option<Label> },
}

impl Node {
    /// The first line of the source that it comes from; `None` if it comes from merging.
    pub(super) fn line(&self) -> Option<u32> {
        match self {
            Node::Amount { label, .. } | Node::Barrier { label } | Node::Repeat { label, .. } => {
                Some(label.first)
            }
            Node::If { label, .. } => label.as_ref().map(|l| l.first),
        }
    }
}

/// The lines that a statement comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    first: u32,
    last: u32,
}

impl Label {
    fn at(at: &At) -> Label {
        Label { first: at.line, last: at.line }
    }

    /// One that covers both.
    pub(super) fn with(&self, other: &Label) -> Label {
        Label { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    fn text(&self) -> String {
        match self.first == self.last {
            true => format!("line {}", self.first),
            false => format!("lines {} to {}", self.first, self.last),
        }
    }
}

/// The program of some steps; neighbours of one kind become one statement.
pub(super) fn program(steps: &[Step], names: &Names) -> Result<Vec<Node>, FrontendError> {
    let mut nodes = Vec::new();
    for step in steps {
        let label = Label::at(&step.at);
        let node = match &step.kind {
            StepKind::Access(access) => amount(keyword(access.space), 1, label),
            StepKind::Atomic(_) => amount(Some("atomic"), 1, label),
            StepKind::Compute { kind: Arithmetic::Index, .. } => None,
            StepKind::Compute { amount: n, .. } => amount(Some("compute"), i64::from(*n), label),
            StepKind::Barrier => Some(Node::Barrier { label }),
            StepKind::Repeat { count, body } => {
                let body = program(body, names)?;
                let count = names.put_in(count, &step.at)?;
                (!body.is_empty()).then_some(Node::Repeat { count, body, label })
            }
            StepKind::If { condition, then, otherwise, .. } => {
                let (then, otherwise) = (program(then, names)?, program(otherwise, names)?);
                if then == otherwise {
                    then.into_iter().for_each(|node| push(&mut nodes, node));
                    continue;
                }
                let condition = names.put_in(condition, &step.at)?;
                Some(Node::If { condition, then, otherwise, label: Some(label) })
            }
        };
        if let Some(node) = node {
            push(&mut nodes, node);
        }
    }
    Ok(nodes)
}

fn keyword(space: Space) -> Option<&'static str> {
    match space {
        Space::Private => None,
        Space::Local => Some("local"),
        Space::Constant => Some("constant"),
        Space::Global | Space::Generic => Some("global"),
    }
}

fn amount(keyword: Option<&'static str>, amount: i64, label: Label) -> Option<Node> {
    keyword.map(|keyword| Node::Amount { keyword, amount: Expr::Int(amount), label })
}

/// Appends a node, adding a plain amount to one of the same kind before it.
fn push(nodes: &mut Vec<Node>, node: Node) {
    if let (
        Some(Node::Amount { keyword, amount: Expr::Int(before), label }),
        Node::Amount { keyword: new, amount: Expr::Int(more), label: at },
    ) = (nodes.last_mut(), &node)
        && keyword == new
    {
        *before += more;
        *label = label.with(at);
        return;
    }
    nodes.push(node);
}

/// The program in the problem format.
pub(super) fn json(nodes: &[Node]) -> Value {
    let statement = |node: &Node| match node {
        Node::Amount { keyword, amount, label } => {
            json!({ *keyword: number(amount), "name": label.text() })
        }
        Node::Barrier { label } => json!({ "barrier": true, "name": label.text() }),
        Node::Repeat { count, body, label } => {
            json!({ "repeat": number(count), "body": json(body), "name": label.text() })
        }
        Node::If { condition, then, otherwise, label } => {
            let mut statement = json!({ "if": number(condition), "then": json(then) });
            if !otherwise.is_empty() {
                statement["else"] = json(otherwise);
            }
            if let Some(label) = label {
                statement["name"] = label.text().into();
            }
            statement
        }
    };
    nodes.iter().map(statement).collect()
}

fn number(expr: &Expr<String>) -> Value {
    match expr {
        Expr::Int(n) => (*n).into(),
        _ => expr.to_string().into(),
    }
}
