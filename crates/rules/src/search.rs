//! Finds a rule: a cover of some sizes, checked at all of them, until it holds.
//!
//! 1. At a few sizes the least time is found, and the configurations that are near it.
//! 2. The fewest of these that are good enough at those sizes are the variants ([`cover`]).
//! 3. The least time is proved at every size, and compared with the best variant there.
//! 4. Where the loss is too great, the worst sizes join those of step 1, and step 2 follows. A
//!    round adds a size, so this ends; in practice a tenth of the sizes is enough.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use tickbound_model::random::SplitMix64;
use tickbound_solver::SolveError;

use crate::closed_form::ClosedForm;
use crate::cover::{cover, least_loss};
use crate::request::{RuleError, RuleRequest};
use crate::sizes::RuleSizes;
use crate::times::{Times, Variant, longest, loss_between};
use crate::tree::{DecisionTree, TreePoint};

/// The size at which a rule loses most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worst {
    /// The number of the size.
    pub size: usize,
    /// Ticks of the variant that the rule picks.
    pub time: i64,
    /// The least ticks of all configurations.
    pub least: i64,
}

impl Worst {
    /// The loss in millionths, rounded up.
    pub fn loss(&self) -> u64 {
        loss_between(self.time, self.least)
    }

    /// The one with the greatest loss, the first of several.
    fn greatest(all: impl IntoIterator<Item = Worst>) -> Result<Worst, RuleError> {
        let all = all.into_iter();
        all.min_by_key(|w| (std::cmp::Reverse(w.loss()), w.size)).ok_or(RuleError::Nothing)
    }
}

/// Variants, of which the fastest at a size is picked, and what is proved of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The values of all parameters but the sizes, for each variant; those of most sizes first.
    pub variants: Vec<Variant>,
    /// At how many sizes each variant is picked.
    pub serves: Vec<usize>,
    /// The sizes with a valid configuration, and the least ticks at each.
    pub valid: Vec<(usize, i64)>,
    /// For each variant the ticks at these sizes; `None` where it is not valid.
    pub times: Vec<Vec<Option<i64>>>,
    /// The size with the greatest loss.
    pub worst: Worst,
    /// For one variant and more, the greatest loss in millionths; `None`: not valid everywhere.
    pub curve: Vec<Option<u64>>,
    /// Numbers of the sizes at which no configuration is valid.
    pub infeasible: Vec<usize>,
    /// Numbers of the sizes at which nothing is proved, because the search was stopped.
    pub open: Vec<usize>,
    /// The search was not stopped: no size is open, and the loss is as small as was wanted.
    pub is_whole: bool,
    /// How many sizes, drawn at random, the simulator has confirmed.
    pub simulated: usize,
    /// How many sizes the variants were chosen for; they were checked at all of them.
    pub examined: usize,
    /// What picks a variant; `None`: the least predicted time.
    pub tree: Option<DecisionTree>,
}

/// Sizes, drawn at random, at which the simulator runs the variant that is picked.
const SIMULATED: usize = 500;
/// Sizes that join in a round.
const JOINING: usize = 4;
/// The loss, in millionths, up to which configurations are collected at least.
const NEAR: u64 = 20_000;
/// Most numbers of variants in the curve.
const MAX_CURVE: usize = 12;

/// Finds the fewest variants within a loss, or the least loss of some variants.
///
/// # Errors
/// A fault of the problem at some size; no rule.
pub fn rule(request: &RuleRequest<'_>) -> Result<Rule, RuleError> {
    let goal = request.variants.map_or(Goal::Loss(request.loss), Goal::Variants);
    let mut search = RuleSearch::new(request);
    let valid = search.prove(goal)?;
    let Some(mut variants) = search.settle(&valid, goal)? else {
        let losses = search.losses();
        let needed = cover(&losses, search.sample.len(), u64::MAX).map_or(0, |taken| taken.len());
        return Err(RuleError::TooFew { most: request.variants.unwrap_or(0), needed });
    };
    // What was collected on the way may do with fewer.
    while let Goal::Loss(loss) = goal
        && variants.len() > 1
        && !request.stopped()
    {
        match search.settle(&valid, Goal::Variants(variants.len() - 1))? {
            Some(fewer) if search.over(&valid, &fewer, loss).is_empty() => variants = fewer,
            _ => break,
        }
    }
    search.finished(&valid, &variants)
}

impl Rule {
    /// The number of the variant that is picked at a size, and its ticks.
    fn picked(&self, sizes: &RuleSizes, place: usize) -> Option<(usize, i64)> {
        let (size, _) = self.valid[place];
        let time = |variant: usize| Some((variant, self.times[variant][place]?));
        match &self.tree {
            Some(tree) => time(tree.pick(&sizes.tree_arguments_at(size))?),
            None => (0..self.variants.len()).filter_map(time).min_by_key(|(_, time)| *time),
        }
    }

    /// What a decision tree may pick: at each size the variants that lose at most `loss`
    /// millionths, or what the rule loses if that is more.
    fn points(&self, sizes: &RuleSizes, loss: u64) -> Vec<TreePoint> {
        let loss = loss.max(self.worst.loss());
        let valid = self.valid.iter().enumerate().map(|(place, (size, least))| {
            let within = |times: &Vec<Option<i64>>| {
                times[place].is_some_and(|time| time <= longest(*least, loss))
            };
            (size, self.times.iter().map(within).chain([false]).collect())
        });
        let nothing = self.times.iter().map(|_| false).chain([true]);
        let infeasible = self.infeasible.iter().map(|size| (size, nothing.clone().collect()));
        let point = |(size, may): (&usize, Vec<bool>)| TreePoint {
            arguments: sizes.tree_arguments_at(*size),
            may,
        };
        valid.chain(infeasible).map(point).collect()
    }

    /// The rule with a decision tree, and without variants that this does not pick.
    fn with_tree(mut self, sizes: &RuleSizes, loss: u64) -> Result<Rule, RuleError> {
        loop {
            let values = self.variants.iter().flatten().copied();
            self.tree = Some(DecisionTree::grown(&mut self.points(sizes, loss), values)?);
            let mut serves = vec![0; self.variants.len()];
            let mut losses = Vec::new();
            for (place, (size, least)) in self.valid.iter().enumerate() {
                let Some((variant, time)) = self.picked(sizes, place) else {
                    let what = format!("nothing valid is picked at {}", sizes.name(*size));
                    return Err(RuleError::NoTree(what));
                };
                serves[variant] += 1;
                losses.push(Worst { size: *size, time, least: *least });
            }
            if serves.iter().all(|sizes| *sizes > 0) {
                self.worst = Worst::greatest(losses)?;
                return Ok(Rule { serves, ..self });
            }
            let is_used = |all: usize| serves[all] > 0;
            let mut numbers = 0..;
            self.variants.retain(|_| numbers.next().is_some_and(is_used));
            let mut numbers = 0..;
            self.times.retain(|_| numbers.next().is_some_and(is_used));
        }
    }

    /// The greatest loss if closed forms of the variants pick: where a kernel is read for all sizes
    /// at once, they may differ by some ticks from the times that were proved size by size.
    ///
    /// # Errors
    /// One of them has no value somewhere, or a variant is picked that is not valid.
    pub fn loss_of(&self, sizes: &RuleSizes, forms: &[ClosedForm]) -> Result<Worst, RuleError> {
        let all: Vec<usize> = self.valid.iter().map(|(size, _)| *size).collect();
        let times = forms.iter().map(|form| form.times(sizes, &all));
        let times = times.collect::<Result<Vec<_>, _>>().map_err(RuleError::NoForm)?;
        let mut losses = Vec::new();
        for (place, (size, least)) in self.valid.iter().enumerate() {
            let known = times.iter().enumerate().filter_map(|(v, t)| Some((t[place]?, v)));
            let picked = known.min().and_then(|(_, variant)| self.times[variant][place]);
            let Some(time) = picked else {
                let what = format!("as code nothing valid is picked at {}", sizes.name(*size));
                return Err(RuleError::NoForm(what));
            };
            losses.push(Worst { size: *size, time, least: *least });
        }
        Worst::greatest(losses)
    }
}

#[derive(Debug, Clone, Copy)]
enum Goal {
    /// At most this loss, in millionths, with as few as possible.
    Loss(u64),
    /// The least loss with at most this many.
    Variants(usize),
}

struct RuleSearch<'r> {
    request: &'r RuleRequest<'r>,
    times: Times<'r>,
    /// The sizes that variants are chosen for.
    sample: Vec<usize>,
    /// The configurations to choose from, with their losses at those sizes.
    pool: BTreeMap<Variant, Vec<Option<u64>>>,
}

impl<'r> RuleSearch<'r> {
    fn new(request: &'r RuleRequest<'r>) -> RuleSearch<'r> {
        let times = Times::new(request);
        RuleSearch { request, times, sample: Vec::new(), pool: BTreeMap::new() }
    }

    /// Proves the least times, after variants were chosen for a few sizes, which are good to begin
    /// with elsewhere. The sizes at which a configuration is valid.
    fn prove(&mut self, goal: Goal) -> Result<Vec<usize>, RuleError> {
        let count = self.request.sizes.count();
        let all: Vec<usize> = (0..count).collect();
        let mut first = [0, count / 4, count / 2, 3 * count / 4, count - 1].to_vec();
        first.dedup();
        self.join(&first)?;
        let known = self.cover(goal).map_or(Vec::new(), |(_, variants)| variants);
        self.times.find_least(&all, &known)?;
        if all.iter().all(|size| self.times.is_infeasible(*size)) {
            return Err(RuleError::Infeasible(self.request.sizes.to_string()));
        }
        let valid: Vec<usize> =
            all.into_iter().filter(|size| self.times.least(*size).is_some()).collect();
        match (valid.first(), self.sample.is_empty()) {
            (None, _) => return Err(RuleError::Nothing),
            (Some(first), true) => self.join(&[*first])?,
            _ => {}
        }
        Ok(valid)
    }

    /// The rule of variants that were settled on.
    fn finished(mut self, valid: &[usize], variants: &[Variant]) -> Result<Rule, RuleError> {
        let serves = self.serves(valid, variants);
        // Most sizes first; what serves none is a tie.
        let mut order: Vec<usize> = (0..variants.len()).filter(|v| serves[*v] > 0).collect();
        order.sort_by_key(|v| std::cmp::Reverse(serves[*v]));
        let variants: Vec<Variant> = order.iter().map(|v| variants[*v].clone()).collect();
        let all = 0..self.request.sizes.count();
        let open: Vec<usize> = all.clone().filter(|size| self.times.is_open(*size)).collect();
        let is_whole = open.is_empty() && !self.request.stopped();
        let column = |v: &Variant| valid.iter().map(|s| self.times.filled(*s, v)).collect();
        let times = variants.iter().map(column).collect();
        let least = |size: &usize| Some((*size, self.times.least(*size)?.time));
        let mut rule = Rule {
            serves: self.serves(valid, &variants),
            valid: valid.iter().filter_map(least).collect(),
            times,
            worst: self.worst(valid, &variants)?,
            infeasible: all.filter(|size| self.times.is_infeasible(*size)).collect(),
            open,
            is_whole,
            simulated: 0,
            examined: self.sample.len(),
            curve: self.curve(valid, variants.len())?,
            variants,
            tree: None,
        };
        if self.request.tree && is_whole {
            // With a number of variants the least loss is wanted.
            let loss = self.request.variants.map_or(self.request.loss, |_| 0);
            rule = rule.with_tree(self.request.sizes, loss)?;
        }
        rule.simulated = self.simulate(&rule)?;
        Ok(rule)
    }

    /// Adds sizes that variants are chosen for, and as variants what is near their least times.
    fn join(&mut self, sizes: &[usize]) -> Result<(), RuleError> {
        self.times.find_least(sizes, &[])?;
        let new: Vec<usize> = sizes
            .iter()
            .copied()
            .filter(|size| !self.sample.contains(size) && self.times.least(*size).is_some())
            .collect();
        let loss = self.request.loss.max(NEAR);
        let near: Vec<Result<Vec<Variant>, RuleError>> =
            new.par_iter().map(|size| self.times.near(*size, loss)).collect();
        for variants in near {
            variants?.into_iter().for_each(|variant| {
                self.pool.entry(variant).or_default();
            });
        }
        self.sample.extend(new);
        let (times, sample) = (&self.times, &self.sample);
        let all: Vec<(&Variant, usize)> = self.pool.iter().map(|(v, l)| (v, l.len())).collect();
        let more: Vec<Vec<Option<u64>>> = all
            .par_iter()
            .map(|(variant, known)| {
                let loss = |size: &usize| {
                    Some(loss_between(times.time(*size, variant)?, times.least(*size)?.time))
                };
                sample[*known..].iter().map(loss).collect()
            })
            .collect();
        self.pool.values_mut().zip(more).for_each(|(losses, more)| losses.extend(more));
        Ok(())
    }

    /// The losses of all that is chosen from.
    fn losses(&self) -> Vec<&[Option<u64>]> {
        self.pool.values().map(Vec::as_slice).collect()
    }

    /// Variants for the sizes that were examined, and the loss that they are to have.
    fn cover(&self, goal: Goal) -> Option<(u64, Vec<Variant>)> {
        let losses = self.losses();
        let all: Vec<&Variant> = self.pool.keys().collect();
        let (loss, taken) = match goal {
            Goal::Loss(loss) => (loss, cover(&losses, self.sample.len(), loss)?),
            Goal::Variants(most) => least_loss(&losses, self.sample.len(), most)?,
        };
        Some((loss, taken.into_iter().map(|v| all[v].clone()).collect()))
    }

    /// Variants that reach the goal at all sizes; `None` if those that are known do not.
    fn settle(&mut self, valid: &[usize], goal: Goal) -> Result<Option<Vec<Variant>>, RuleError> {
        loop {
            let Some((loss, variants)) = self.cover(goal) else { return Ok(None) };
            self.times.fill(&variants);
            let mut over = self.over(valid, &variants, loss);
            // After a stop the loss may be greater than was allowed; it is still known.
            if over.is_empty() || self.request.stopped() {
                return Ok(Some(variants));
            }
            (self.request.progress)(&format!(
                "{} configurations lose more at {} of {} sizes",
                variants.len(),
                over.len(),
                valid.len()
            ));
            // Sizes with the same best configuration say the same.
            let mut joining: Vec<usize> = Vec::new();
            let mut seen: Vec<&[i64]> = Vec::new();
            let first = self.request.sizes.names().count();
            over.sort_by_key(|(size, loss)| (std::cmp::Reverse(*loss), *size));
            for (size, _) in over {
                let Some(best) = self.times.least(size) else { continue };
                let variant = &best.configuration.0[first..];
                if joining.len() < JOINING && !seen.contains(&variant) {
                    seen.push(variant);
                    joining.push(size);
                }
            }
            self.join(&joining)?;
        }
    }

    /// The sizes at which variants lose more, with the losses.
    fn over(&self, valid: &[usize], variants: &[Variant], loss: u64) -> Vec<(usize, u64)> {
        let lost = |size: &usize| {
            let least = self.times.least(*size)?.time;
            let Some((_, time)) = self.times.choice(*size, variants) else {
                return Some((*size, u64::MAX));
            };
            (time > longest(least, loss)).then(|| (*size, loss_between(time, least)))
        };
        valid.iter().filter_map(lost).collect()
    }

    fn serves(&self, valid: &[usize], variants: &[Variant]) -> Vec<usize> {
        let mut serves = vec![0; variants.len()];
        let picked = valid.iter().filter_map(|size| self.times.choice(*size, variants));
        picked.for_each(|(place, _)| serves[place] += 1);
        serves
    }

    fn worst(&self, valid: &[usize], variants: &[Variant]) -> Result<Worst, RuleError> {
        let worst = |size: &usize| {
            let (_, time) = self.times.choice(*size, variants)?;
            Some(Worst { size: *size, time, least: self.times.least(*size)?.time })
        };
        Worst::greatest(valid.iter().filter_map(worst))
    }

    /// Runs the variant that is picked at some sizes in the simulator; at how many.
    fn simulate(&self, rule: &Rule) -> Result<usize, RuleError> {
        let mut random = SplitMix64(self.request.options.seed);
        let count = rule.valid.len();
        let places: Vec<usize> = match count <= SIMULATED {
            true => (0..count).collect(),
            false => (0..SIMULATED).map(|_| random.draw() as usize % count).collect(),
        };
        let mut confirmed = 0;
        for place in places {
            let (size, _) = rule.valid[place];
            // After a stop the variants may serve only some sizes.
            let Some((variant, time)) = rule.picked(self.request.sizes, place) else { continue };
            let simulated = self.times.simulated(size, &rule.variants[variant])?;
            if simulated != Some(time) {
                let what =
                    format!("a closed form is {time} ticks, and the simulator takes {simulated:?}");
                let error = SolveError::Disagreement(what);
                return Err(RuleError::at(self.request, size, error));
            }
            confirmed += 1;
        }
        Ok(confirmed)
    }

    /// The greatest losses of fewer variants than `count`.
    fn curve(&mut self, valid: &[usize], count: usize) -> Result<Vec<Option<u64>>, RuleError> {
        let mut curve = Vec::new();
        for most in 1..count.min(MAX_CURVE + 1) {
            if self.request.stopped() {
                break;
            }
            let variants = self.settle(valid, Goal::Variants(most))?;
            let lost = variants.map(|variants| {
                let losses = self.over(valid, &variants, 0).into_iter().map(|(_, loss)| loss);
                losses.max().unwrap_or(0)
            });
            // Fewer variants than allowed are allowed.
            let before = curve.last().copied().flatten();
            curve.push([lost, before].into_iter().flatten().min());
        }
        Ok(curve)
    }
}
