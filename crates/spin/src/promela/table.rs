//! A value that depends on a few keys, as nested conditional expressions.
//!
//! Where the text of an expression cannot be carried over (C computes something else, or the value
//! belongs to a whole warp), its value is listed: `(WG == 4 -> 3 : (WG == 8 -> 5 : 9))`. A key
//! on which nothing depends does not appear.

use std::collections::HashMap;

use itertools::Itertools;

/// Most branches of one table.
pub(crate) const MAX_BRANCHES: usize = 256;

/// A key: the Promela name of a variable, and its value in every row.
pub(crate) type Key = (String, Vec<i64>);

/// The value of each row as one Promela expression; `None` beyond [`MAX_BRANCHES`] branches, or
/// where the keys do not decide it. Rows without a value are never looked up.
pub(crate) fn conditional(keys: &[Key], values: &[Option<i64>]) -> Option<String> {
    let rows: Vec<usize> = (0..values.len()).filter(|r| values[*r].is_some()).collect();
    let keys = relevant(keys, &rows, values)?;
    let mut branches = 0;
    expression(&keys, &rows, values, &mut branches)
}

/// The rows' classes, each with a condition over the keys that holds for its rows only; `None` as
/// for [`conditional`]. One class has no condition.
pub(crate) fn classes(keys: &[Key], class: &[Option<i64>]) -> Option<Vec<(Option<String>, i64)>> {
    let rows: Vec<usize> = (0..class.len()).filter(|r| class[*r].is_some()).collect();
    let all: Vec<i64> = rows.iter().filter_map(|r| class[*r]).unique().collect();
    if let [only] = all.as_slice() {
        return Some(vec![(None, *only)]);
    }
    let keys = relevant(keys, &rows, class)?;
    let condition = |wanted: i64| {
        let rows = rows.iter().filter(|r| class[**r] == Some(wanted));
        let tuples: Vec<Vec<i64>> =
            rows.map(|r| keys.iter().map(|k| k.1[*r]).collect()).unique().collect();
        let all = tuples.iter().map(|tuple| {
            let terms = keys.iter().zip(tuple).map(|((name, _), v)| format!("{name} == {v}"));
            let text = terms.collect::<Vec<_>>().join(" && ");
            if tuples.len() > 1 && keys.len() > 1 { format!("({text})") } else { text }
        });
        (tuples.len() <= MAX_BRANCHES).then(|| all.collect::<Vec<_>>().join(" || "))
    };
    all.into_iter().map(|c| Some((Some(condition(c)?), c))).collect()
}

/// The keys that are needed to tell the values apart.
fn relevant<'k>(keys: &'k [Key], rows: &[usize], values: &[Option<i64>]) -> Option<Vec<&'k Key>> {
    let decides = |keys: &[&Key]| {
        let mut seen: HashMap<Vec<i64>, Option<i64>> = HashMap::new();
        rows.iter().all(|r| {
            let tuple = keys.iter().map(|k| k.1[*r]).collect();
            *seen.entry(tuple).or_insert(values[*r]) == values[*r]
        })
    };
    let mut needed: Vec<&Key> = keys.iter().collect();
    if !decides(&needed) {
        return None;
    }
    // What was chosen last goes first: a table over the first parameters reads best.
    for i in (0..needed.len()).rev() {
        let mut fewer = needed.clone();
        fewer.remove(i);
        if decides(&fewer) {
            needed = fewer;
        }
    }
    Some(needed)
}

fn expression(
    keys: &[&Key],
    rows: &[usize],
    values: &[Option<i64>],
    branches: &mut usize,
) -> Option<String> {
    let first = rows.first().and_then(|r| values[*r]).unwrap_or(0);
    if rows.iter().all(|r| values[*r] == Some(first)) {
        return Some(if first < 0 { format!("({first})") } else { first.to_string() });
    }
    let ((name, column), rest) = keys.split_first()?;
    let groups = rows.iter().copied().into_group_map_by(|r| column[*r]);
    let mut by_text: Vec<(String, Vec<i64>)> = Vec::new();
    for (value, rows) in groups.into_iter().sorted_by_key(|(value, _)| *value) {
        let text = expression(rest, &rows, values, branches)?;
        match by_text.iter_mut().find(|(t, _)| *t == text) {
            Some((_, all)) => all.push(value),
            None => by_text.push((text, vec![value])),
        }
    }
    *branches += by_text.len();
    if *branches > MAX_BRANCHES {
        return None;
    }
    // The class with most values needs no condition.
    let most = by_text.iter().position_max_by_key(|(_, all)| all.len())?;
    let (last, _) = by_text.remove(most);
    Some(by_text.into_iter().rev().fold(last, |otherwise, (text, all)| {
        format!("({} -> {text} : {otherwise})", among(name, &all))
    }))
}

/// `name == 1 || name == 2`.
fn among(name: &str, values: &[i64]) -> String {
    values.iter().map(|v| format!("{name} == {v}")).collect::<Vec<_>>().join(" || ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<Key> {
        vec![("a".into(), vec![1, 1, 2, 2]), ("b".into(), vec![5, 6, 5, 6])]
    }

    #[test]
    fn a_table_mentions_only_what_matters() {
        let cases: [([Option<i64>; 4], &str); 5] = [
            ([Some(3), Some(3), Some(3), None], "3"),
            ([Some(3), Some(3), Some(4), Some(4)], "(a == 1 -> 3 : 4)"),
            ([Some(3), Some(4), Some(3), Some(4)], "(b == 5 -> 3 : 4)"),
            ([Some(-1), Some(4), Some(4), Some(4)], "(a == 1 -> (b == 5 -> (-1) : 4) : 4)"),
            ([Some(3), None, None, Some(4)], "(a == 1 -> 3 : 4)"),
        ];
        for (values, text) in cases {
            assert_eq!(conditional(&keys(), &values).as_deref(), Some(text), "{values:?}");
        }
        assert_eq!(conditional(&[("a".into(), vec![1, 1])], &[Some(1), Some(2)]), None);
    }

    #[test]
    fn classes_have_conditions() {
        let found = classes(&keys(), &[Some(0), Some(0), Some(1), Some(1)]).unwrap();
        assert_eq!(found, [(Some("a == 1".into()), 0), (Some("a == 2".into()), 1)]);
        let found = classes(&keys(), &[Some(0), Some(1), Some(1), Some(0)]).unwrap();
        assert_eq!(found[0].0.as_deref(), Some("(a == 1 && b == 5) || (a == 2 && b == 6)"));
        assert_eq!(classes(&keys(), &[Some(7); 4]).unwrap(), [(None, 7)]);
    }
}
