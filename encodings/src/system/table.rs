//! Tables: values that depend on the parameters alone.

use std::collections::BTreeMap;
use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// A function from the values of a few parameters to an integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemTable {
    /// What the value means, for people and exports.
    pub name: String,
    /// Indices of the parameters it depends on, in increasing order; none could be left out.
    pub support: Vec<usize>,
    /// For each valid combination: indices of the parameters' values, by `support`, and the value.
    pub rows: BTreeMap<Vec<u32>, i64>,
}

impl SystemTable {
    /// The value for a configuration, given as a value index per parameter; `None` if never read.
    pub fn value(&self, configuration: &[u32]) -> Option<i64> {
        let key: Vec<u32> = self.support.iter().map(|p| configuration[*p]).collect();
        self.rows.get(&key).copied()
    }
}

/// Drops parameters from the last to the first as long as the values stay a function of the rest.
/// Where a value is `None` the table may say anything.
pub(super) fn minimal_support(
    configurations: &[Vec<u32>],
    parameters: usize,
    values: &[Option<i64>],
) -> (Vec<usize>, BTreeMap<Vec<u32>, i64>) {
    let read = configurations.iter().zip(values).filter_map(|(c, v)| Some((c, (*v)?)));
    let mut rows: Vec<(&Vec<u32>, i64)> = read.collect();
    let mut support: Vec<usize> = (0..parameters).collect();
    for p in (0..parameters).rev() {
        let without: Vec<usize> = support.iter().copied().filter(|q| *q != p).collect();
        if let Some(fewer) = distinct(&rows, &without) {
            (support, rows) = (without, fewer);
        }
    }
    let key = |c: &Vec<u32>| support.iter().map(|p| c[*p]).collect::<Vec<u32>>();
    let rows = rows.into_iter().map(|(c, v)| (key(c), v)).collect();
    (support, rows)
}

/// One row for each combination of the parameters in `support`; `None` if it has several values.
fn distinct<'c>(
    rows: &[(&'c Vec<u32>, i64)],
    support: &[usize],
) -> Option<Vec<(&'c Vec<u32>, i64)>> {
    let hash = |c: &Vec<u32>| {
        let mut hasher = FxHasher::default();
        support.iter().for_each(|p| hasher.write_u32(c[*p]));
        hasher.finish()
    };
    // Configurations whose hashes collide are distinguished by what they are.
    let same = |a: &Vec<u32>, b: &Vec<u32>| support.iter().all(|p| a[*p] == b[*p]);
    let mut known: HashTable<(u64, usize)> = HashTable::new();
    let mut fewer: Vec<(&Vec<u32>, i64)> = Vec::new();
    for (c, v) in rows {
        let hash = hash(c);
        match known.find(hash, |(_, row)| same(fewer[*row].0, c)) {
            Some((_, row)) if fewer[*row].1 != *v => return None,
            Some(_) => {}
            None => {
                known.insert_unique(hash, (hash, fewer.len()), |(hash, _)| *hash);
                fewer.push((c, *v));
            }
        }
    }
    Some(fewer)
}
