//! The least cost of direct forms, against trying every assignment.

use std::ops::RangeInclusive;

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use tickbound_elimination::direct::{
    AccumulatorLimit, AccumulatorOp, CostPart, DirectForm, FORBIDDEN, FormTable, Sense, Solved,
};

/// Every assignment with its cost, the least first.
fn all(form: &DirectForm) -> Vec<(i64, Vec<u32>)> {
    let mut all = vec![Vec::new()];
    for size in &form.sizes {
        let with = |a: &Vec<u32>| {
            (0..*size as u32).map(|v| [a.clone(), vec![v]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    let mut costs: Vec<_> = all.into_iter().filter_map(|a| Some((form.cost(&a)?, a))).collect();
    costs.sort();
    costs
}

/// The least cost; every bound that is reported on the way must be one.
fn least(form: &DirectForm, right: Option<i64>) -> Option<Solved> {
    let mut last = None;
    let solved = form.least(&|| false, &mut |known| {
        last = known.best.map(|(assignment, cost)| (cost, assignment.to_vec()));
        assert!(right.is_none_or(|right| known.lower <= right), "a wrong bound: {}", known.lower);
        if let Some((assignment, cost)) = known.best {
            assert_eq!(form.cost(assignment), Some(cost));
        }
    })?;
    assert_eq!(solved.best, last, "the last report has what is best");
    Some(solved)
}

/// A table for an accumulator over up to three variables.
fn table(
    u: &mut Unstructured<'_>,
    form: &mut DirectForm,
    accumulator: usize,
    entries: RangeInclusive<i64>,
) -> Result<()> {
    let mut variables = Vec::new();
    for _ in 0..u.int_in_range(1..=3)? {
        variables.push(u.int_in_range(0..=form.sizes.len() - 1)?);
    }
    variables.sort_unstable();
    variables.dedup();
    let rows = variables.iter().map(|v| form.sizes[*v]).product();
    let mut all = Vec::new();
    for _ in 0..rows {
        let forbidden = u.ratio(1, 12)?;
        all.push(if forbidden { FORBIDDEN } else { u.int_in_range(entries.clone())? });
    }
    form.tables.push(FormTable { accumulator, variables, entries: all });
    Ok(())
}

/// Some tables for an accumulator.
fn tables(
    u: &mut Unstructured<'_>,
    form: &mut DirectForm,
    accumulator: usize,
    entries: RangeInclusive<i64>,
) -> Result<()> {
    (0..u.int_in_range(1..=3)?).try_for_each(|_| table(u, form, accumulator, entries.clone()))
}

/// Adds tables of the cost, a limit or a part.
fn extend(u: &mut Unstructured<'_>, form: &mut DirectForm) -> Result<()> {
    let sense = *u.choose(&[Sense::AtMost, Sense::AtLeast, Sense::Equal])?;
    match u.int_in_range(0..=3)? {
        0 => tables(u, form, 0, -20..=60),
        1 => {
            let accumulator = form.accumulator(AccumulatorOp::Sum, u.int_in_range(-2..=2)?);
            form.limits.push(AccumulatorLimit {
                accumulator,
                sense,
                bound: u.int_in_range(0..=20)?,
            });
            tables(u, form, accumulator, -3..=9)
        }
        2 => {
            let accumulator = form.accumulator(AccumulatorOp::Product, 1);
            form.limits.push(AccumulatorLimit {
                accumulator,
                sense,
                bound: u.int_in_range(0..=20)?,
            });
            tables(u, form, accumulator, 0..=4)
        }
        _ => part(u, form),
    }
}

fn part(u: &mut Unstructured<'_>, form: &mut DirectForm) -> Result<()> {
    let with_product = u.arbitrary()?;
    let low = if with_product { 0 } else { -10 };
    let product = with_product.then(|| form.accumulator(AccumulatorOp::Product, 2));
    product.map_or(Ok(()), |p| tables(u, form, p, 0..=4))?;
    let max = form.accumulator(AccumulatorOp::Max, low);
    if u.arbitrary()? {
        tables(u, form, max, low..=30)?;
    }
    let mut sums = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        sums.push(form.accumulator(AccumulatorOp::Sum, u.int_in_range(-2..=2)?));
        tables(u, form, sums[sums.len() - 1], -4..=20)?;
    }
    form.parts.push(CostPart { price: u.int_in_range(1..=5)?, product, max, sums });
    Ok(())
}

fn form(u: &mut Unstructured<'_>) -> Result<DirectForm> {
    let mut sizes = Vec::new();
    for _ in 0..u.int_in_range(1..=5)? {
        sizes.push(u.int_in_range(1..=4)?);
    }
    let mut form = DirectForm::new(sizes);
    (0..u.int_in_range(1..=4)?).try_for_each(|_| extend(u, &mut form))?;
    Ok(form)
}

#[test]
fn random_forms_have_the_least_cost_of_all_assignments() {
    let (mut shared, mut none, mut labelled) = (0, 0, 0);
    for number in 0..2000u64 {
        let test = |u: &mut Unstructured<'_>| {
            let form = form(u)?;
            let [is_shared, is_none, is_labelled] = agrees(&form);
            shared += u32::from(is_shared);
            none += u32::from(is_none);
            labelled += u32::from(is_labelled);
            Ok(())
        };
        // A seed of arbtest has the number of random bytes in its lower half.
        arbtest(test).seed(number << 32 | 2048).run();
    }
    assert!(shared > 500 && none > 100 && labelled > 100, "{shared} {none} {labelled}");
}

/// Holds a form against all assignments: whether something is shared, nothing allowed, and labels
/// were needed.
fn agrees(form: &DirectForm) -> [bool; 3] {
    let all = all(form);
    let right = all.first().map(|(cost, _)| *cost);
    let Some(solved) = least(form, right) else {
        // A table that allows nothing has no range.
        assert!(!form.is_small() && right.is_none(), "{form:?}");
        return [false, true, false];
    };
    assert!(solved.proved, "{form:?}");
    assert_eq!(solved.best.as_ref().map(|(cost, _)| *cost), right, "{form:?}");
    let Some(right) = right else { return [false, true, false] };
    let found = form.within(right + 5, (100_000, 1), &|| false).expect("small");
    let near = all.iter().filter(|(cost, _)| *cost <= right + 5).cloned().collect::<Vec<_>>();
    assert!(found.whole);
    assert_eq!(found.all, near, "{form:?}");
    let some = form.within(right + 5, (4, 2), &|| false).expect("small");
    assert!(some.all.iter().all(|one| near.contains(one)) && (some.whole || some.all.len() <= 2));
    assert!(!some.whole || some.all == near, "{form:?}");
    [!form.is_plain(), false, solved.steps > 0]
}

/// Seven variables of twelve values, a table for every pair: too wide for a sequence.
#[test]
fn cliques_of_pairs_are_as_branch_and_bound_by_hand_says() {
    let mut form = DirectForm::new(vec![12; 7]);
    let mut seed = 7u64;
    for v in 0..7 {
        for w in v + 1..7 {
            let mut entry = |_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((seed >> 40) % 100) as i64
            };
            let entries = (0..144).map(&mut entry).collect();
            form.tables.push(FormTable { accumulator: 0, variables: vec![v, w], entries });
        }
    }
    let solved = least(&form, None).unwrap();
    assert!(solved.proved);
    let (cost, assignment) = solved.best.unwrap();
    assert_eq!(form.cost(&assignment), Some(cost));
    assert_eq!(cost, by_hand(&form, &mut Vec::new(), i64::MAX));
}

/// Depth first, a partial assignment given up once what it costs with the least of each other table
/// is no better.
fn by_hand(form: &DirectForm, partial: &mut Vec<u32>, mut best: i64) -> i64 {
    let decided = |t: &&FormTable| t.variables.iter().all(|v| *v < partial.len());
    let entry = |t: &FormTable| {
        let place = t.variables.iter().fold(0, |p, v| p * form.sizes[*v] + partial[*v] as usize);
        t.entries[place]
    };
    let rest = |t: &FormTable| {
        // With its first variable decided, the least of the row.
        match t.variables[0] < partial.len() {
            true => {
                let row = partial[t.variables[0]] as usize * form.sizes[t.variables[1]];
                *t.entries[row..row + form.sizes[t.variables[1]]].iter().min().unwrap()
            }
            false => *t.entries.iter().min().unwrap(),
        }
    };
    let cost: i64 = form.tables.iter().map(|t| if decided(&t) { entry(t) } else { rest(t) }).sum();
    if cost >= best {
        return best;
    }
    if partial.len() == form.sizes.len() {
        return cost;
    }
    for value in 0..form.sizes[partial.len()] as u32 {
        partial.push(value);
        best = by_hand(form, partial, best);
        partial.pop();
    }
    best
}
