//! One program out of the variants' programs.
//!
//! Symbol by symbol: the programs for the values of one symbol are laid beside each other. Where
//! their statements have the same shape, numbers that differ are [made general](super::general), `n // S`, or
//! become `a if S == 1 else b`; where they do not, the statements in between become `if S == 1: ... else:
//! ...`. A combination of values that does not occur takes any side.

use std::{iter, mem};

use tickbound_model::Expr;
use tickbound_model::expr::BinaryOp;

use super::general::{General, general};
use super::tree::Node;

/// The program for some values of the structural symbols.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    /// A value for each symbol.
    pub values: Vec<i64>,
    /// The program.
    pub program: Vec<Node>,
}

/// Merges the programs of all `alternatives`; `symbols` are the structural symbols as expressions.
pub(super) fn merge(symbols: &[Expr<String>], alternatives: Vec<Alternative>) -> Vec<Node> {
    let Some((symbol, rest)) = symbols.split_first() else {
        return alternatives.into_iter().next().map_or_else(Vec::new, |a| a.program);
    };
    let mut by_value: Vec<(i64, Vec<Alternative>)> = Vec::new();
    for mut alternative in alternatives {
        let value = alternative.values.remove(0);
        match by_value.iter_mut().find(|(v, _)| *v == value) {
            Some((_, same)) => same.push(alternative),
            None => by_value.push((value, vec![alternative])),
        }
    }
    let choices = by_value.into_iter().map(|(value, some)| (value, merge(rest, some))).collect();
    Choice { symbol }.lists(choices)
}

/// What depends on one symbol.
struct Choice<'s> {
    symbol: &'s Expr<String>,
}

impl Choice<'_> {
    /// Merges lists of statements: what all of them have, in the same order, is shared.
    fn lists(&self, mut lists: Vec<(i64, Vec<Node>)>) -> Vec<Node> {
        let mut merged = Vec::new();
        loop {
            if lists.windows(2).all(|pair| pair[0].1 == pair[1].1) {
                merged.extend(lists.pop().map_or_else(Vec::new, |(_, list)| list));
                return merged;
            }
            let Some(places) = first_shared(&lists) else {
                merged.extend(self.branches(lists));
                return merged;
            };
            let mut before = Vec::new();
            let mut shared = Vec::new();
            for ((value, list), place) in lists.iter_mut().zip(places) {
                let mut rest = list.split_off(place);
                shared.push((*value, rest.remove(0)));
                before.push((*value, mem::replace(list, rest)));
            }
            if before.iter().any(|(_, list)| !list.is_empty()) {
                merged.extend(self.branches(before));
            }
            merged.push(self.nodes(shared));
        }
    }

    /// Merges statements of the same shape.
    fn nodes(&self, mut nodes: Vec<(i64, Node)>) -> Node {
        let numbers: Vec<(i64, Expr<String>)> =
            nodes.iter().filter_map(|(v, node)| Some((*v, number(node)?.clone()))).collect();
        let bodies = |nodes: &mut Vec<(i64, Node)>, which: usize| {
            let bodies = nodes.iter_mut().filter_map(|(v, n)| Some((*v, body(n, which)?)));
            self.lists(bodies.collect())
        };
        let (first, second) = (bodies(&mut nodes, 0), bodies(&mut nodes, 1));
        // Alike nodes are of one kind, so the first one serves as the mould of all.
        let mut node = nodes.swap_remove(0).1;
        match &mut node {
            Node::Barrier { .. } => {}
            Node::Amount { amount, .. } => *amount = self.numbers(numbers),
            Node::Repeat { count, body, .. } => {
                *count = self.numbers(numbers);
                *body = first;
            }
            Node::If { condition, then, otherwise, .. } => {
                *condition = self.numbers(numbers);
                *then = first;
                *otherwise = second;
            }
        }
        node
    }

    /// A form for all values, such as `n // S`, or `a if S == 1 else b` with what no form covers.
    fn numbers(&self, numbers: Vec<(i64, Expr<String>)>) -> Expr<String> {
        let General { form, exceptions } = general(self.symbol, numbers);
        exceptions.into_iter().rev().fold(form, |rest, (value, number)| {
            Expr::Conditional(Box::new(self.is(value)), Box::new(number), Box::new(rest))
        })
    }

    /// A branch for the values with the first list, and what the other lists have in common.
    fn branches(&self, lists: Vec<(i64, Vec<Node>)>) -> Vec<Node> {
        let mut lists = lists.into_iter();
        let Some((value, then)) = lists.next() else { return Vec::new() };
        let (same, others): (Vec<_>, Vec<_>) = lists.partition(|(_, list)| *list == then);
        let values = || iter::once(value).chain(same.iter().map(|(v, _)| *v));
        let otherwise = self.lists(others);
        let (op, join) = match then.is_empty() {
            true => (BinaryOp::Ne, BinaryOp::And),
            false => (BinaryOp::Eq, BinaryOp::Or),
        };
        let condition = values()
            .map(|value| self.compared(op, value))
            .reduce(|a, b| Expr::Binary(join, Box::new(a), Box::new(b)))
            .unwrap_or(Expr::Int(1));
        vec![match then.is_empty() {
            true => Node::If { condition, then: otherwise, otherwise: Vec::new(), label: None },
            false => Node::If { condition, then, otherwise, label: None },
        }]
    }

    fn is(&self, value: i64) -> Expr<String> {
        self.compared(BinaryOp::Eq, value)
    }

    fn compared(&self, op: BinaryOp, value: i64) -> Expr<String> {
        Expr::Binary(op, Box::new(self.symbol.clone()), Box::new(Expr::Int(value)))
    }
}

/// The places of the first statement of the first list that all lists have.
fn first_shared(lists: &[(i64, Vec<Node>)]) -> Option<Vec<usize>> {
    let (_, first) = lists.first()?;
    first.iter().find_map(|node| {
        let place = |(_, list): &(i64, Vec<Node>)| list.iter().position(|n| same_shape(node, n));
        lists.iter().map(place).collect()
    })
}

/// Whether two statements are readings of one statement of the source.
fn same_shape(a: &Node, b: &Node) -> bool {
    let same_kind = match (a, b) {
        (Node::Amount { keyword: a, .. }, Node::Amount { keyword: b, .. }) => a == b,
        (
            Node::If { condition: a, label: None, .. },
            Node::If { condition: b, label: None, .. },
        ) => a == b,
        _ => mem::discriminant(a) == mem::discriminant(b),
    };
    same_kind && a.line() == b.line()
}

fn number(node: &Node) -> Option<&Expr<String>> {
    match node {
        Node::Amount { amount: number, .. }
        | Node::Repeat { count: number, .. }
        | Node::If { condition: number, .. } => Some(number),
        Node::Barrier { .. } => None,
    }
}

/// Takes the `which`th body out of a statement.
fn body(node: &mut Node, which: usize) -> Option<Vec<Node>> {
    match (node, which) {
        (Node::Repeat { body, .. }, 0) | (Node::If { then: body, .. }, 0) => Some(mem::take(body)),
        (Node::If { otherwise, .. }, 1) => Some(mem::take(otherwise)),
        _ => None,
    }
}
