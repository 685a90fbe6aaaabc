//! Bounds over boxes against the times of all configurations in them.

use indexmap::IndexMap;
use tickbound_elimination::TableLimits;
use tickbound_model::Problem;
use tickbound_model::random::SplitMix64;
use tickbound_timing::{Cost, ParameterBox, StepBounds};

use crate::chains::{self, Random};

/// How many boxes there were, by their bounds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Boxes without a valid configuration, and how many of them are known to be.
    empty: [usize; 2],
    /// Boxes with an expression without a value.
    at_fault: usize,
    /// Boxes without a fault whose bound is not known.
    unknown: usize,
    /// Configurations, each a box of its own: the bound is the time.
    single: usize,
    /// Boxes with a bound, and how many have the least time as theirs.
    bounded: [usize; 2],
}

fn random_box(r: &mut Random, values: &[Vec<i64>]) -> ParameterBox {
    let range = |v: &Vec<i64>| {
        let (a, b) = (r.below(v.len()) as u32, r.below(v.len()) as u32);
        // Half of the parameters are decided.
        if r.below(2) == 0 { (a, a) } else { (a.min(b), a.max(b)) }
    };
    values.iter().map(range).collect()
}

#[test]
fn no_configuration_takes_less_than_its_boxes() {
    let mut seen = Seen::default();
    for seed in 0..300 {
        let value = chains::problem(seed);
        let read = Problem::from_value(&value, &IndexMap::new(), &|_| unreachable!());
        let problem = read.unwrap_or_else(|e| panic!("seed {seed}: {e}: {value}"));
        let Ok(space) = problem.space() else { continue };
        let cost = Cost::new(&problem).unwrap();
        let configurations = problem.loose_configurations(&TableLimits::default()).unwrap();
        let values = configurations.sorted_values();
        let conditions = configurations.conditions();
        let bounds = StepBounds::new(&problem, values.clone(), conditions, cost.term()).unwrap();
        for bound in space.bound.iter().step_by(50) {
            let place = |(values, v): (&Vec<i64>, &i64)| values.binary_search(v).unwrap() as u32;
            let places = values.iter().zip(&bound.configuration.0).map(place);
            let single = bounds.least(&places.map(|place| (place, place)).collect());
            let time = cost.term().value(&bound.env).unwrap_or(i64::MIN);
            assert_eq!(single, Some(time), "seed {seed}: {:?}", bound.configuration);
            seen.single += 1;
        }
        let mut r = Random(SplitMix64(seed));
        for _ in 0..100 {
            let of = random_box(&mut r, &values);
            let is_in = |b: &&tickbound_model::Bound| {
                let ranges = of.iter().zip(&values).zip(&b.configuration.0);
                let mut ranges = ranges.map(|(((low, high), values), v)| {
                    (values[*low as usize]..=values[*high as usize]).contains(v)
                });
                ranges.all(|inside| inside)
            };
            let times = space.bound.iter().filter(is_in).map(|b| cost.term().value(&b.env).ok());
            let times: Vec<Option<i64>> = times.collect();
            let least = times.iter().flatten().min().copied();
            match (bounds.least(&of), least) {
                (bound, _) if times.is_empty() => {
                    seen.empty[0] += 1;
                    seen.empty[1] += usize::from(bound.is_none());
                }
                (bound, _) if times.contains(&None) => {
                    assert_eq!(bound, Some(i64::MIN), "seed {seed}: {of:?} hides a fault");
                    seen.at_fault += 1;
                }
                (Some(i64::MIN), _) => seen.unknown += 1,
                (Some(bound), Some(least)) if bound <= least => {
                    seen.bounded[0] += 1;
                    seen.bounded[1] += usize::from(bound == least);
                }
                (bound, least) => panic!("seed {seed}: {of:?}: {bound:?}, but {least:?}: {value}"),
            }
        }
    }
    let expected = Seen {
        empty: [5685, 4606],
        at_fault: 283,
        unknown: 147,
        single: 4966,
        bounded: [23_885, 3065],
    };
    assert_eq!(seen, expected);
}
