//! Random networks, held against listing every assignment.

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use num_bigint::BigUint;
use tickbound_elimination::{Least, Network, Relation, SolutionCount, TableLimits, Ties};

/// A network of at most 6 variables of at most 4 values.
fn network(u: &mut Unstructured<'_>) -> Result<Network> {
    let sizes: Vec<u32> =
        (0..u.int_in_range(0..=6)?).map(|_| u.int_in_range(1..=4)).collect::<Result<_>>()?;
    let mut network = Network::new(sizes.clone());
    if sizes.is_empty() {
        return Ok(network);
    }
    for _ in 0..u.int_in_range(0..=7)? {
        let mut scope = Vec::new();
        for _ in 0..u.int_in_range(0..=3)? {
            scope.push(u.int_in_range(0..=sizes.len() - 1)?);
        }
        let scope = network.scope(&scope).expect("few variables");
        let mut rows = Vec::new();
        for _ in 0..scope.sizes().iter().product::<u32>() {
            rows.push(if u.ratio(1, 5)? { None } else { Some(u.int_in_range(0..=6)?) });
        }
        let rows = std::cell::RefCell::new(rows.into_iter());
        network.add(Relation::of(&scope, |_| rows.borrow_mut().next().flatten()));
    }
    Ok(network)
}

/// Every solution with its cost, the least first.
fn listed(network: &Network) -> Vec<(i64, Vec<u32>)> {
    let mut all = vec![Vec::new()];
    for size in network.sizes() {
        all = all
            .iter()
            .flat_map(|a: &Vec<u32>| (0..*size).map(move |v| [a.as_slice(), &[v]].concat()))
            .collect();
    }
    let cost =
        |a: &Vec<u32>| network.relations().iter().map(|r| r.at(a).copied()).sum::<Option<i64>>();
    let mut solutions: Vec<(i64, Vec<u32>)> =
        all.into_iter().filter_map(|a| Some((cost(&a)?, a))).collect();
    solutions.sort();
    solutions
}

fn agrees(network: &Network) {
    let (all, limits) = (listed(network), TableLimits::default());
    let counted = network.eliminated::<SolutionCount>(&[], &limits).expect("small");
    let count = counted.total().map_or_else(BigUint::default, BigUint::from);
    assert_eq!(count, BigUint::from(all.len()));
    let mut numbered: Vec<Vec<u32>> =
        (0..all.len()).map(|k| counted.solution(&BigUint::from(k)).expect("a solution")).collect();
    assert_eq!(counted.solution(&count), None);
    numbered.sort();
    let mut configurations: Vec<Vec<u32>> = all.iter().map(|(_, a)| a.clone()).collect();
    configurations.sort();
    assert_eq!(numbered, configurations);
    let ties = network.eliminated::<Ties>(&[], &limits).expect("small").total();
    let least = all.first().map(|(cost, _)| *cost);
    assert_eq!(ties.as_ref().map(|t| t.least.0), least);
    if let Some(ties) = ties {
        let with = |cost| all.iter().filter(|(c, _)| Some(*c) == cost).count();
        assert_eq!(BigUint::from(ties.count), BigUint::from(with(least)));
        assert_eq!(ties.next.map(|n| n.0), all.iter().map(|(c, _)| *c).find(|c| Some(*c) > least));
    }
}

/// Costs ascend to the same list, whichever variables are kept and however small joins must be.
fn ascends(network: &Network, kept: &[usize], rows: usize) {
    let all = listed(network);
    let limits = TableLimits { rows, divide: true, ..TableLimits::default() };
    let Ok(tree) = network.eliminated::<Least>(kept, &limits) else { return };
    let wide = TableLimits::default();
    let found: Vec<(i64, Vec<u32>)> = tree
        .ascending(&wide, |_, cost| cost)
        .expect("small")
        .collect::<std::result::Result<_, _>>()
        .expect("small");
    assert!(found.is_sorted_by_key(|(cost, _)| *cost));
    let mut sorted = found;
    sorted.sort();
    assert_eq!(sorted, all);
}

/// What messages say of a beginning: the least that goes on from there, or less where joins were
/// divided; and it ends in the cost.
fn guides(network: &Network, kept: &[usize], rows: usize) {
    let all = listed(network);
    let limits = TableLimits { rows, divide: true, ..TableLimits::default() };
    let Ok(tree) = network.eliminated::<Least>(kept, &limits) else { return };
    let (root, order) = (tree.root(&TableLimits::default()).expect("small"), tree.order());
    assert_eq!(order.len(), network.sizes().len());
    for (cost, solution) in &all {
        for decided in kept.len()..=order.len() {
            let (known, next) = (&order[..decided], order.get(decided));
            let goes_on = |other: &&(i64, Vec<u32>)| {
                known.iter().chain(next).all(|v| other.1[*v] == solution[*v])
            };
            let least = all.iter().find(goes_on).map(|(cost, _)| *cost);
            let next = next.map_or(Vec::new(), |v| vec![solution[*v]]);
            let mut values = solution.clone();
            let said = tree.least_from(&root, &mut values, decided, &next).map(|l| l.0);
            assert!(said.is_some() && said <= least, "{said:?} {least:?}");
            if tree.is_exact() {
                assert_eq!(said, least);
            }
            if decided == order.len() {
                assert_eq!(said, Some(*cost));
            }
        }
    }
}

#[test]
fn as_listed() {
    arbtest(|u| {
        let network = network(u)?;
        agrees(&network);
        let kept: Vec<usize> =
            (0..network.sizes().len()).filter(|_| u.ratio(1, 3).unwrap_or(false)).collect();
        let rows = u.int_in_range(1..=200)?;
        ascends(&network, &kept, rows);
        guides(&network, &kept, rows);
        Ok(())
    })
    .budget_ms(4_000);
}

#[test]
fn beyond_128_bits() {
    let mut network = Network::new(vec![8; 60]);
    let equal = |v: &[u32]| (v[0] != v[1]).then_some(i64::from(v[0]));
    for v in 1..60 {
        network.add(Relation::of(&network.scope(&[v - 1, v]).expect("two"), equal));
    }
    let limits = TableLimits::default();
    let count =
        network.eliminated::<SolutionCount>(&[], &limits).expect("narrow").total().expect("some");
    assert_eq!(BigUint::from(count), BigUint::from(8u32) * BigUint::from(7u32).pow(59));
    let ties = network.eliminated::<Ties>(&[], &limits).expect("narrow").total().expect("some");
    // 0 and 1 in turns, 0 first; the last variable costs nothing, so it may be anything but 0.
    assert_eq!(
        (ties.least.0, ties.count.to_string().as_str(), ties.next.map(|n| n.0)),
        (29, "7", Some(30))
    );
}
