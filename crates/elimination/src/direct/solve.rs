//! The least cost of a form: prices, then labels, beams first.

use itertools::Itertools;

use super::answer::{Known, LabelCover, Near, Solved};
use super::descend::Descent;
use super::form::{DirectForm, FORBIDDEN, FormTable};
use super::labels::{self, NodeLabel};
use super::pairs;
use super::path::{self, Stage};
use super::prices;
use super::relax::{Relaxation, whole_cost};

/// Labels of a place in each pass. Only the last pass cuts none.
const BEAMS: [usize; 4] = [200, 4_000, 80_000, usize::MAX];

impl DirectForm {
    /// The least cost; `None` if the form is too large for this. `report` gets what is known
    /// whenever that may have changed.
    pub fn least(
        &self,
        stop: &dyn Fn() -> bool,
        report: &mut dyn FnMut(Known<'_>),
    ) -> Option<Solved> {
        if !self.is_small() {
            return None;
        }
        let solved = match path::stages(self) {
            Some(stages) => along_path(self, stages, stop, report),
            None => pairs::least(self, stop, report)?,
        };
        // What was found after the last bound has not been reported.
        if let Some((cost, assignment)) = &solved.best {
            let lower = if solved.proved { *cost } else { i64::MIN };
            report(Known { lower, best: Some((assignment, *cost)) });
        }
        Some(solved)
    }

    /// A proof that nothing costs less than `cost`, which has at most `most` labels after each
    /// variable. `None` if there is none, at a stop, or where the form is too large.
    pub fn proof(&self, cost: i64, most: usize, stop: &dyn Fn() -> bool) -> Option<LabelCover> {
        let relaxation = self.relaxed(stop)?;
        let labels = labels::front(&relaxation, cost, most, stop)?;
        let stages = &relaxation.stages;
        let values = |at: usize, node| {
            stages.get(at).map_or(Vec::new(), |s| self.combination(&s.live, node))
        };
        let of = |(at, labels): (usize, Vec<NodeLabel>)| {
            labels.into_iter().map(|(node, own)| (values(at + 1, node), own)).collect::<Vec<_>>()
        };
        Some(LabelCover {
            order: stages.iter().map(|stage| stage.variable).collect(),
            prices: relaxation.prices.clone(),
            labels: labels.into_iter().enumerate().map(of).collect(),
        })
    }

    /// The assignments that cost at most `most`, which is the least cost or more, in the order of
    /// their costs. Where there are more than `count` partial ones on the way, some of them: `few`
    /// partial ones are kept from there on. `None` at a stop, or where the form is too large.
    pub fn within(
        &self,
        most: i64,
        (count, few): (usize, usize),
        stop: &dyn Fn() -> bool,
    ) -> Option<Near> {
        let mut relaxation = self.relaxed(stop)?;
        relaxation.remove(most.checked_add(1)?);
        let (all, whole) = labels::within(&relaxation, most, (count, few), stop)?;
        let mut all: Vec<(i64, Vec<u32>)> =
            all.into_iter().filter_map(|a| Some((self.cost(&a)?, a))).collect();
        all.sort();
        Some(Near { all, whole })
    }

    /// The relaxation with its prices; `None` if the form is too large for a sequence.
    fn relaxed(&self, stop: &dyn Fn() -> bool) -> Option<Relaxation<'_>> {
        let mut relaxation = Relaxation::new(self, path::stages(self)?);
        prices::find(&mut relaxation, &mut Descent::new(self), stop);
        Some(relaxation)
    }
}

/// A search along a sequence.
struct Search<'s, 'f> {
    form: &'f DirectForm,
    descent: Descent<'f>,
    steps: u64,
    stop: &'s dyn Fn() -> bool,
    report: &'s mut dyn FnMut(Known<'_>),
}

fn along_path(
    form: &DirectForm,
    stages: Vec<Stage>,
    stop: &dyn Fn() -> bool,
    report: &mut dyn FnMut(Known<'_>),
) -> Solved {
    let mut search = Search { form, descent: Descent::new(form), steps: 0, stop, report };
    let mut relaxation = Relaxation::new(form, stages);
    let lower = search.bound(&mut relaxation);
    search.tell(lower);
    let mut proved = lower >= search.best() || search.passes(&mut relaxation, &BEAMS[..1], lower);
    if let (false, Some(max)) = (proved, greatest_of_tables(form)) {
        proved = search.ranges(max, lower);
    }
    let proved = proved || search.passes(&mut relaxation, &BEAMS[1..], lower);
    Solved { proved, best: search.descent.best, steps: search.steps }
}

impl Search<'_, '_> {
    fn best(&self) -> i64 {
        self.descent.best.as_ref().map_or(i64::MAX, |(cost, _)| *cost)
    }

    fn tell(&mut self, lower: i64) {
        (self.report)(self.descent.known(lower));
    }

    /// Finds prices; the bound that they give.
    fn bound(&mut self, relaxation: &mut Relaxation<'_>) -> i64 {
        prices::find(relaxation, &mut self.descent, self.stop);
        whole_cost(relaxation.root())
    }

    /// Passes with limits on the labels at a place; true once one has cut none.
    fn passes(&mut self, relaxation: &mut Relaxation<'_>, beams: &[usize], lower: i64) -> bool {
        for most in beams {
            if (self.stop)() {
                return false;
            }
            if self.descent.best.is_some() {
                relaxation.remove(self.best());
            }
            let passed = labels::pass(relaxation, self.best(), *most, self.stop);
            let Some(passed) = passed else { return false };
            self.steps += passed.labels;
            if let Some(better) = passed.best {
                self.descent.offer(&better);
                if !passed.whole {
                    self.descent.from(better);
                }
                self.tell(lower);
            }
            if passed.whole {
                return true;
            }
        }
        false
    }

    /// Searches ranges of what a maximum of tables may be, each by prices and a few labels, else by
    /// its halves; false if some range is left open. In a range the tables' greater entries are
    /// forbidden, and the maximum is at least the range's least.
    fn ranges(&mut self, max: usize, lower: i64) -> bool {
        let form = self.form;
        let of_max = |t: &&FormTable| t.accumulator == max;
        let entries = form.tables.iter().filter(of_max).flat_map(|t| &t.entries).copied();
        let start = form.accumulators[max].start;
        let all = entries.filter(|e| *e != FORBIDDEN).map(|e| e.max(start)).chain([start]);
        let all: Vec<i64> = all.sorted_unstable().dedup().collect();
        let mut open = vec![(0, all.len() - 1)];
        while let Some((first, last)) = open.pop() {
            if (self.stop)() {
                return false;
            }
            let mut part = form.clone();
            part.accumulators[max].start = all[first];
            let tables = part.tables.iter_mut().filter(|t| t.accumulator == max);
            let greater = tables.flat_map(|t| &mut t.entries).filter(|e| **e > all[last]);
            greater.for_each(|e| *e = FORBIDDEN);
            let Some(stages) = path::stages(&part) else { return false };
            let mut relaxation = Relaxation::new(&part, stages);
            if self.bound(&mut relaxation) >= self.best() {
                continue;
            }
            let beams = if first == last { &BEAMS[..] } else { &BEAMS[..1] };
            if !self.passes(&mut relaxation, beams, lower) {
                if first == last {
                    return false;
                }
                let middle = first + (last - first) / 2;
                open.extend([(middle + 1, last), (first, middle)]);
            }
        }
        true
    }
}

/// The first maximum of several tables.
fn greatest_of_tables(form: &DirectForm) -> Option<usize> {
    let tables = |max: usize| form.tables.iter().filter(|t| t.accumulator == max).count();
    form.parts.iter().map(|part| part.max).find(|max| tables(*max) > 1)
}
