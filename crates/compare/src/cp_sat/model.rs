//! The graph that is handed to the script, as JSON.
//!
//! Nodes come in order, operands first; an operand is the index of its node. Every integer node
//! carries the bounds that interval arithmetic gives it - not those over all configurations, which
//! would be the answer.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tickbound_encodings::system::{Ex, System, SystemNode, SystemTable};

/// Bits of the largest value that is handed over; CP-SAT computes with sums of them in 64 bits.
const MAX_BITS: u32 = 60;

/// A graph of values over the parameters.
#[derive(Debug, Serialize)]
pub(super) struct Model {
    /// How many values each parameter has.
    pub parameters: Vec<usize>,
    /// The valid configurations, as indices into the parameters' values; none in a direct form.
    pub configurations: Vec<Vec<u32>>,
    /// Parameters are a truth value for each value, and all choices may be valid.
    pub direct: bool,
    /// The nodes.
    pub nodes: Vec<Entry>,
    /// The node that must be true.
    pub goal: usize,
    /// The node to minimise.
    pub cost: usize,
}

/// A node: what it is, what it is made of, and its bounds.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub op: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<Rows>,
    /// Integers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(i64, i64)>,
}

impl Entry {
    pub fn truth(op: &'static str, args: Vec<usize>) -> Entry {
        Entry { op, args, value: None, table: None, bounds: None }
    }

    pub fn integer(op: &'static str, args: Vec<usize>, bounds: (i64, i64)) -> Entry {
        Entry { bounds: Some(bounds), ..Entry::truth(op, args) }
    }
}

/// A table: parameters it depends on, and a value for each combination that is valid.
#[derive(Debug, Serialize)]
pub(super) struct Rows {
    pub support: Vec<usize>,
    pub rows: Vec<(Vec<u32>, i64)>,
}

impl Model {
    /// The graph of a system without states.
    ///
    /// # Errors
    /// The bits of a value that may be too large.
    pub fn new(flat: &System) -> Result<Model, u32> {
        let mut places: BTreeMap<Ex, usize> = BTreeMap::new();
        let mut nodes: Vec<Entry> = Vec::new();
        for e in flat.live() {
            let entry = entry(flat, flat.node(e), &places, &nodes)?;
            places.insert(e, nodes.len());
            nodes.push(entry);
        }
        Ok(Model {
            parameters: flat.parameters.iter().map(|p| p.values.len()).collect(),
            configurations: flat.configurations.clone(),
            direct: false,
            nodes,
            goal: places[&flat.goal],
            cost: places[&flat.cost],
        })
    }
}

fn entry(
    flat: &System,
    node: &SystemNode,
    places: &BTreeMap<Ex, usize>,
    nodes: &[Entry],
) -> Result<Entry, u32> {
    let (mut value, mut table) = (None, None);
    let mut args = Vec::new();
    tickbound_encodings::system::operands(node, &mut |e| args.push(places[&e]));
    let of = |i: usize| {
        let (lower, upper) = nodes[args[i]].bounds.unwrap_or((0, 1));
        (i128::from(lower), i128::from(upper))
    };
    let (op, bounds) = match node {
        SystemNode::Int(v) => {
            value = Some(*v);
            ("int", Some((i128::from(*v), i128::from(*v))))
        }
        SystemNode::Bool(v) => {
            value = Some(i64::from(*v));
            ("bool", None)
        }
        SystemNode::Table(t) => {
            let rows = completed(&flat.tables[t.index()], &flat.configurations);
            let values = || rows.rows.iter().map(|(_, v)| i128::from(*v));
            let bounds = (values().min().unwrap_or(0), values().max().unwrap_or(0));
            table = Some(rows);
            ("table", Some(bounds))
        }
        SystemNode::Add(..) => ("add", Some((of(0).0 + of(1).0, of(0).1 + of(1).1))),
        SystemNode::Mul(..) => ("mul", Some(product(of(0), of(1)))),
        SystemNode::Max(..) => ("max", Some((of(0).0.max(of(1).0), of(0).1.max(of(1).1)))),
        SystemNode::Ite(..) if nodes[args[1]].bounds.is_none() => ("ite-bool", None),
        SystemNode::Ite(..) => ("ite", Some((of(1).0.min(of(2).0), of(1).1.max(of(2).1)))),
        SystemNode::Eq(..) => ("eq", None),
        SystemNode::Le(..) => ("le", None),
        SystemNode::Not(_) => ("not", None),
        SystemNode::And(_) => ("and", None),
        SystemNode::Or(_) => ("or", None),
        // `flatten` leaves neither.
        SystemNode::State(_) | SystemNode::Choice(_) => ("bool", None),
        SystemNode::Unread => ("free", Some((0, 1))),
    };
    let bounds = match bounds {
        Some((lower, upper)) => Some((small(lower)?, small(upper)?)),
        None => None,
    };
    Ok(Entry { op, args, value, table, bounds })
}

pub(super) fn small(value: i128) -> Result<i64, u32> {
    let bits = i128::BITS - value.unsigned_abs().leading_zeros();
    i64::try_from(value).ok().filter(|_| bits <= MAX_BITS).ok_or(bits)
}

pub(super) fn product(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    // Each factor has passed `small`, so no product leaves 128 bits.
    let corners = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    corners.into_iter().fold((corners[0], corners[0]), |(l, u), c| (l.min(c), u.max(c)))
}

/// The table's rows, with one for each combination of valid configurations that is never read.
fn completed(table: &SystemTable, configurations: &[Vec<u32>]) -> Rows {
    let any = table.rows.values().next().copied().unwrap_or(0);
    let key = |c: &Vec<u32>| table.support.iter().map(|p| c[*p]).collect::<Vec<u32>>();
    let keys: BTreeSet<Vec<u32>> = configurations.iter().map(key).collect();
    let row = |key: Vec<u32>| {
        let value = table.rows.get(&key).copied().unwrap_or(any);
        (key, value)
    };
    Rows { support: table.support.clone(), rows: keys.into_iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickbound_encodings::system::{SystemBuilder, SystemParameter};

    #[test]
    fn bounds_are_intervals_and_not_answers() {
        let n = SystemParameter { name: "n".into(), values: vec![1, 2, 4] };
        let b = SystemBuilder::new(vec![n], vec![vec![0], vec![1], vec![2]]);
        let n = b.table("n", &[Some(1), Some(2), Some(4)]);
        let of_n = b.table("8/n", &[Some(8), Some(4), None]);
        let s = b.finish(b.bool(true), n * of_n, b.bool(true)).unwrap();
        let model = Model::new(&s).unwrap();
        // 8 everywhere; the intervals do not know it.
        assert_eq!(model.nodes[model.cost].bounds, Some((4, 32)));
        assert_eq!(model.nodes[model.goal].value, Some(1));
        let json = serde_json::to_value(&model.nodes).unwrap();
        let table = json.as_array().unwrap().iter().filter(|n| n["op"] == "table").nth(1).unwrap();
        // What is never read may be anything, but something it must be.
        assert_eq!(table["table"]["rows"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn large_values_are_refused() {
        let n = SystemParameter { name: "n".into(), values: vec![1, 2] };
        let b = SystemBuilder::new(vec![n], vec![vec![0], vec![1]]);
        let n = b.table("n", &[Some(1), Some(1 << 40)]);
        let s = b.finish(b.bool(true), n * n, b.bool(true)).unwrap();
        assert_eq!(Model::new(&s).unwrap_err(), 81);
    }

    #[test]
    fn corners_of_products() {
        assert_eq!(product((-2, 3), (-5, 7)), (-15, 21));
    }
}
