//! Tables: values that depend on the parameters alone.

use std::collections::BTreeMap;

/// A function from the values of a few parameters to an integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What the value means, for people and exports.
    pub name: String,
    /// Indices of the parameters it depends on, in increasing order; none could be left out.
    pub support: Vec<usize>,
    /// For every combination that a valid configuration has: indices of the parameters' values, in
    /// the order of `support`, and the value.
    pub rows: BTreeMap<Vec<u32>, i64>,
}

impl Table {
    /// The value for a configuration, given as one value index per parameter of the system; `None`
    /// if the table is never read for it.
    #[must_use]
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
    let rows_over = |support: &[usize]| {
        let mut rows = BTreeMap::new();
        for (c, v) in configurations.iter().zip(values) {
            let Some(v) = v else { continue };
            let key: Vec<u32> = support.iter().map(|p| c[*p]).collect();
            if *rows.entry(key).or_insert(*v) != *v {
                return None;
            }
        }
        Some(rows)
    };
    let mut support: Vec<usize> = (0..parameters).collect();
    let mut rows = rows_over(&support).unwrap_or_default();
    for p in (0..parameters).rev() {
        let without: Vec<usize> = support.iter().copied().filter(|q| *q != p).collect();
        if let Some(smaller) = rows_over(&without) {
            support = without;
            rows = smaller;
        }
    }
    (support, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn support_is_least() {
        let configurations: Vec<Vec<u32>> = (0..3)
            .flat_map(|a| (0..2).flat_map(move |b| (0..2).map(move |c| vec![a, b, c])))
            .collect();
        let values: Vec<Option<i64>> =
            configurations.iter().map(|c| Some(i64::from(c[0] * 10 + c[2]))).collect();
        let (support, rows) = minimal_support(&configurations, 3, &values);
        assert_eq!(support, vec![0, 2]);
        assert_eq!(rows.len(), 6);
        assert_eq!(rows[&vec![2, 1]], 21);
        let constant = vec![Some(7); 12];
        assert_eq!(minimal_support(&configurations, 3, &constant).0, Vec::<usize>::new());
        let only_b0: Vec<Option<i64>> =
            configurations.iter().map(|c| (c[1] == 0).then_some(i64::from(c[0]))).collect();
        assert_eq!(minimal_support(&configurations, 3, &only_b0).0, vec![0]);
    }
}
