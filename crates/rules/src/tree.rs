//! A decision tree over the sizes, which picks a variant without its closed form.

use itertools::Itertools;
use tickbound_input::message::grouped;

use crate::request::RuleError;

/// Most leaves of a tree.
const MAX_LEAVES: usize = 1_000;

/// What is picked, by comparing arguments with numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionTree {
    /// The variant with this number; `None` where no configuration is valid.
    Leaf(Option<usize>),
    /// One tree where a feature of the size is at most a number, and another where it is more.
    Split {
        /// What is compared.
        feature: Feature,
        /// The number.
        most: i64,
        /// What is picked up to it.
        below: Box<DecisionTree>,
        /// What is picked above it.
        above: Box<DecisionTree>,
    },
}

/// An argument, or its remainder: sizes that tiles do not divide are padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Feature {
    /// The remainder after division by this number, at least 2; `None`: the argument itself.
    pub modulus: Option<i64>,
    /// The place of the argument among [`tree_arguments`](crate::RuleSizes::tree_arguments).
    pub argument: usize,
}

impl Feature {
    fn at(self, arguments: &[i64]) -> i64 {
        let value = arguments[self.argument];
        self.modulus.map_or(value, |modulus| value.rem_euclid(modulus))
    }
}

/// The greatest number that remainders are taken by.
const MAX_MODULUS: i64 = 1 << 12;

/// A size, and what may be picked there.
pub(crate) struct TreePoint {
    /// The values of [`tree_arguments`](crate::RuleSizes::tree_arguments).
    pub arguments: Vec<i64>,
    /// Which variants lose little enough, and last whether nothing is valid.
    pub may: Vec<bool>,
}

impl DecisionTree {
    /// A tree that picks at each point what may be picked there. It is grown greedily: a node is
    /// divided where most points on both sides agree on a variant. Remainders are those by `values`
    /// of the variants.
    ///
    /// # Errors
    /// It has more than 1,000 leaves, or nothing may be picked at a point.
    pub(crate) fn grown(
        points: &mut [TreePoint],
        values: impl Iterator<Item = i64>,
    ) -> Result<DecisionTree, RuleError> {
        let moduli = values.filter(|v| (2..=MAX_MODULUS).contains(v)).sorted().dedup().map(Some);
        let arguments = 0..points.first().map_or(0, |point| point.arguments.len());
        let features = std::iter::once(None)
            .chain(moduli)
            .cartesian_product(arguments)
            .map(|(modulus, argument)| Feature { modulus, argument });
        let mut leaves = MAX_LEAVES;
        grown(points, &features.collect::<Vec<_>>(), &mut leaves)
    }

    /// What is picked at a size.
    pub fn pick(&self, arguments: &[i64]) -> Option<usize> {
        match self {
            DecisionTree::Leaf(variant) => *variant,
            DecisionTree::Split { feature, most, below, above } => {
                let side = if feature.at(arguments) <= *most { below } else { above };
                side.pick(arguments)
            }
        }
    }

    /// How many leaves it has.
    pub fn leaves(&self) -> usize {
        match self {
            DecisionTree::Leaf(_) => 1,
            DecisionTree::Split { below, above, .. } => below.leaves() + above.leaves(),
        }
    }
}

/// The tree of some points, of which at least one choice may be picked at each.
fn grown(
    points: &mut [TreePoint],
    features: &[Feature],
    leaves: &mut usize,
) -> Result<DecisionTree, RuleError> {
    let counts = agreeing(points.iter());
    if let Some(choice) = counts.iter().position(|count| *count == points.len()) {
        *leaves = leaves.checked_sub(1).ok_or_else(|| {
            RuleError::NoTree(format!(
                "the rule as a decision tree has more than {} leaves; give a greater --loss",
                grouped(MAX_LEAVES as i64)
            ))
        })?;
        return Ok(DecisionTree::Leaf(Some(choice).filter(|choice| *choice + 1 < counts.len())));
    }
    let best = features.iter().filter_map(|feature| divided(points, *feature)).min();
    let Some(Division { feature, most, .. }) = best else {
        return Err(RuleError::NoTree("no variant may be picked at some size".into()));
    };
    points.sort_by_key(|point| feature.at(&point.arguments));
    let middle = points.partition_point(|point| feature.at(&point.arguments) <= most);
    let (below, above) = points.split_at_mut(middle);
    let (below, above) = (grown(below, features, leaves)?, grown(above, features, leaves)?);
    Ok(match below == above {
        true => below,
        false => DecisionTree::Split { feature, most, below: below.into(), above: above.into() },
    })
}

/// At how many points each choice may be picked.
fn agreeing<'p>(points: impl Iterator<Item = &'p TreePoint>) -> Vec<usize> {
    let mut counts: Vec<usize> = Vec::new();
    for point in points {
        counts.resize(point.may.len(), 0);
        counts.iter_mut().zip(&point.may).for_each(|(count, may)| *count += usize::from(*may));
    }
    counts
}

/// How points are divided in two; the least is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Division {
    /// How many points disagree with the choice of their side.
    disagree: usize,
    feature: Feature,
    /// How unequal the sides are.
    unequal: usize,
    most: i64,
}

/// The best division by a feature; `None` if it has one value.
fn divided(points: &mut [TreePoint], feature: Feature) -> Option<Division> {
    points.sort_by_key(|point| feature.at(&point.arguments));
    let all = agreeing(points.iter());
    let mut below = vec![0; all.len()];
    let mut best = None;
    for place in 1..points.len() {
        let may = &points[place - 1].may;
        below.iter_mut().zip(may).for_each(|(count, may)| *count += usize::from(*may));
        let most = feature.at(&points[place - 1].arguments);
        if most == feature.at(&points[place].arguments) {
            continue;
        }
        let agree = below.iter().max().copied().unwrap_or(0);
        let others = all.iter().zip(&below).map(|(all, below)| all - below).max().unwrap_or(0);
        let disagree = points.len() - agree - others;
        let unequal = points.len().abs_diff(2 * place);
        let division = Division { disagree, feature, unequal, most };
        best = Some(best.map_or(division, |best| division.min(best)));
    }
    best
}
