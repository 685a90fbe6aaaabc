//! One program out of the variants' programs.
//!
//! Symbol by symbol, the programs for its values are laid beside each other. Where their statements
//! have the same shape, numbers that differ are [made general](super::general), `n // S`, or become
//! `a if S == 1 else b`; where they do not, the statements in between become `if S == 1: ... else:
//! ...`. A combination of values that does not occur takes any side. Where more than [`CHAIN`]
//! values differ, halves of them are distinguished by `S < v` first.

use std::mem;

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_expr::{BinaryOp, Expr};

use super::general::{General, general};
use super::tree::{Node, NodeKind};

/// Most alternatives that are distinguished in sequence.
const CHAIN: usize = 32;

/// Something for some values of the structural symbols: of each symbol its value, and a list.
pub(crate) type Alternative<T> = (Vec<i64>, Vec<T>);

/// A list for each value of a symbol.
type Lists<T> = Vec<(i64, Vec<T>)>;

/// Merges the programs of all `alternatives`; `symbols` are the structural symbols as expressions.
pub(super) fn merge(symbols: &[Expr], alternatives: Vec<Alternative<Node>>) -> Vec<Node> {
    by_symbol(symbols, alternatives, &|merge, lists| merge.lists(lists))
}

/// One list of numbers out of those for some values of the structural symbols, place by place.
pub(crate) fn numbers(symbols: &[Expr], alternatives: Vec<Alternative<Expr>>) -> Vec<Expr> {
    by_symbol(symbols, alternatives, &|merge, lists| {
        let place =
            |i: usize| lists.iter().filter_map(move |(v, all)| Some((*v, all.get(i)?.clone())));
        let places = lists.first().map_or(0, |(_, list)| list.len());
        (0..places).map(|i| merge.numbers(place(i).collect())).collect()
    })
}

fn by_symbol<T>(
    symbols: &[Expr],
    alternatives: Vec<Alternative<T>>,
    join: &dyn Fn(Merge<'_>, Lists<T>) -> Vec<T>,
) -> Vec<T> {
    let Some((symbol, rest)) = symbols.split_first() else {
        return alternatives.into_iter().next().map_or_else(Vec::new, |(_, list)| list);
    };
    let mut by_value: IndexMap<i64, Vec<Alternative<T>>> = IndexMap::new();
    for (mut values, list) in alternatives {
        by_value.entry(values.remove(0)).or_default().push((values, list));
    }
    let lists = by_value.into_iter().map(|(value, some)| (value, by_symbol(rest, some, join)));
    join(Merge { symbol }, lists.collect())
}

/// What depends on one symbol.
struct Merge<'s> {
    symbol: &'s Expr,
}

impl Merge<'_> {
    /// Merges lists of statements: what all of them have, in the same order, is shared.
    fn lists(&self, mut lists: Lists<Node>) -> Vec<Node> {
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
        let numbers = nodes.iter().map(|(value, node)| (*value, node.number.clone())).collect();
        let bodies = [0, 1].map(|which| {
            let take = |(v, node): &mut (i64, Node)| (*v, mem::take(&mut node.bodies[which]));
            self.lists(nodes.iter_mut().map(take).collect())
        });
        // Alike nodes are of one kind, so the first one represents all.
        let (_, node) = nodes.swap_remove(0);
        Node { number: self.numbers(numbers), bodies, ..node }
    }

    /// A form for all values, such as `n // S`, or `a if S == 1 else b` with what no form covers.
    fn numbers(&self, numbers: Vec<(i64, Expr)>) -> Expr {
        let General { form, mut exceptions } = general(self.symbol, numbers);
        if exceptions.len() > CHAIN {
            exceptions.sort_by_key(|(value, _)| *value);
        }
        self.with_exceptions(&form, &exceptions)
    }

    /// The form, but for some values, which are in order if they are many.
    fn with_exceptions(&self, form: &Expr, exceptions: &[(i64, Expr)]) -> Expr {
        if exceptions.len() > CHAIN {
            let (low, high) = exceptions.split_at(exceptions.len() / 2);
            return Expr::conditional(
                self.compared(BinaryOp::Lt, high[0].0),
                self.with_exceptions(form, low),
                self.with_exceptions(form, high),
            );
        }
        exceptions.iter().rev().fold(form.clone(), |rest, (value, number)| {
            Expr::conditional(self.compared(BinaryOp::Eq, *value), number.clone(), rest)
        })
    }

    /// A branch for the values with the first list, and what the other lists have in common.
    fn branches(&self, mut lists: Lists<Node>) -> Vec<Node> {
        let Some((_, first)) = lists.first() else { return Vec::new() };
        if lists.iter().map(|(_, list)| list).unique().count() > CHAIN {
            lists.sort_by_key(|(value, _)| *value);
            let high = lists.split_off(lists.len() / 2);
            let condition = self.compared(BinaryOp::Lt, high[0].0);
            return vec![branch(condition, self.lists(lists), self.lists(high))];
        }
        let then = first.clone();
        let (same, others): (Vec<_>, Vec<_>) = lists.into_iter().partition(|(_, l)| *l == then);
        let otherwise = self.lists(others);
        let values = |op| same.iter().map(|(value, _)| self.compared(op, *value)).collect();
        vec![match then.is_empty() {
            true => branch(joined(BinaryOp::And, values(BinaryOp::Ne)), otherwise, Vec::new()),
            false => branch(joined(BinaryOp::Or, values(BinaryOp::Eq)), then, otherwise),
        }]
    }

    fn compared(&self, op: BinaryOp, value: i64) -> Expr {
        Expr::binary(op, self.symbol.clone(), Expr::Int(value))
    }
}

fn branch(condition: Expr, then: Vec<Node>, otherwise: Vec<Node>) -> Node {
    Node { kind: NodeKind::If, number: condition, bodies: [then, otherwise], lines: None }
}

/// Truth values joined in sequence, or by halves if they are many.
fn joined(op: BinaryOp, mut truths: Vec<Expr>) -> Expr {
    let pair = |a, b| Expr::binary(op, a, b);
    if truths.len() > CHAIN {
        let others = truths.split_off(truths.len() / 2);
        return pair(joined(op, truths), joined(op, others));
    }
    truths.into_iter().reduce(pair).unwrap_or(Expr::Int(1))
}

/// The places of the first statement of the first list that all lists have.
fn first_shared(lists: &[(i64, Vec<Node>)]) -> Option<Vec<usize>> {
    let (_, first) = lists.first()?;
    first.iter().find_map(|node| {
        let place = |(_, list): &(i64, Vec<Node>)| list.iter().position(|n| same_shape(node, n));
        lists.iter().map(place).collect()
    })
}

/// Whether two statements are readings of one statement, or branches on one condition.
fn same_shape(a: &Node, b: &Node) -> bool {
    let line = |node: &Node| node.lines.as_ref().map(|lines| lines.first);
    a.kind == b.kind && line(a) == line(b) && (a.lines.is_some() || a.number == b.number)
}
