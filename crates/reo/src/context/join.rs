//! The joint steps of parts with reasons, part by part.
//!
//! At each moment every part takes a step or does nothing, with reasons at some of its names. A
//! name is *complete* once all parts that have it are joined: then steps without a reason for why
//! it does not fire go, and which part gave the reason is forgotten. More reasons never hurt, so of
//! steps alike but for them only those with the largest sets are kept. States are those that the
//! whole product reaches: rows of the first parts are made when a state asks for them, and kept.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap as HashMap};

use crate::automaton::{Automaton, AutomatonBuilder};
use crate::constraint::simplify::is_possible;
use crate::constraint::{ConstraintStore, DataConstraint};
use crate::label;
use crate::limits::{Limited, ProductLimits};
use crate::symbol::NameId;

/// A set of names, by their places in the sorted names of all parts.
pub(super) type Names = Box<[u64]>;

/// A step of a part, or a joint one of the first parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Joint {
    /// Names that fire; none of a silent step.
    pub fires: Names,
    /// Names that do not fire for a reason given.
    pub given: Names,
    /// Whether a part takes it alone, at no moment.
    pub alone: bool,
    /// The constraint's number in [`Joins::constraints`].
    pub condition: u32,
    pub to: u32,
}

/// A part: the names that it has, and its steps at each moment, state by state.
pub(super) struct Reasoned<'a> {
    pub automaton: &'a Automaton,
    pub names: Names,
    pub rows: Vec<Vec<Joint>>,
}

/// The first parts of a product, one more at each level.
struct Level {
    /// States as pairs of one of the level before and one of the part.
    states: IndexSet<(u32, u32), FxBuildHasher>,
    rows: Vec<Option<Vec<Joint>>>,
    /// Names that the levels before have as well.
    shared: Names,
    /// Names of which the part is the last owner.
    complete: Names,
}

/// All levels, and what they share.
pub(super) struct Joins<'a> {
    /// In the order in which they are joined.
    pub parts: Vec<Reasoned<'a>>,
    /// Names that may fail to fire for a reason of the environment.
    pub outer: Names,
    pub constraints: ConstraintStore,
    pub limits: &'a ProductLimits<'a>,
}

/// Joins in the making.
struct Work<'a> {
    joins: Joins<'a>,
    levels: Vec<Level>,
    conjunctions: HashMap<(u32, u32), Option<u32>>,
    bytes: u128,
}

impl<'a> Joins<'a> {
    /// The product over `names`, of which all sets of names are.
    pub fn product(self, names: &[NameId]) -> Limited<Automaton> {
        let mut work = Work::new(self);
        work.initial()?;
        let many = |work: &Work| work.levels.last().map_or(1, |level| level.states.len());
        let mut state = 0;
        let mut steps: Vec<(u32, Joint)> = Vec::new();
        let initial = many(&work);
        while state < many(&work) {
            work.joins.limits.go_on_from(None, many(&work) as u64, steps.len() as u64)?;
            let row = work.row(state as u32)?;
            // A moment at which nothing fires changes nothing.
            let seen = row.into_iter().filter(|step| step.alone || !label::is_silent(&step.fires));
            steps.extend(seen.map(|step| (state as u32, step)));
            state += 1;
        }
        let all = names.iter().copied();
        let mut builder = AutomatonBuilder::over(all, state, (0..initial as u32).collect());
        let parts = work.joins.parts.iter();
        builder.contents(parts.flat_map(|part| part.automaton.contents()).copied());
        for (from, step) in steps {
            let constraint = work.joins.constraints.get(step.condition).clone();
            builder.push(from, &step.fires, constraint, step.to);
        }
        Ok(builder.done().into_reachable())
    }
}

impl<'a> Work<'a> {
    fn new(joins: Joins<'a>) -> Self {
        let words = joins.outer.len();
        let mut before: Names = vec![0; words].into();
        let mut levels = Vec::with_capacity(joins.parts.len());
        for (at, part) in joins.parts.iter().enumerate() {
            let later = |word: usize| {
                joins.parts[at + 1..].iter().fold(0, |all, part| all | part.names[word])
            };
            levels.push(Level {
                states: IndexSet::default(),
                rows: Vec::new(),
                shared: (0..words).map(|w| part.names[w] & before[w]).collect(),
                complete: (0..words).map(|w| part.names[w] & !later(w)).collect(),
            });
            before.iter_mut().zip(&part.names).for_each(|(all, own)| *all |= own);
        }
        Work { joins, levels, conjunctions: HashMap::default(), bytes: 0 }
    }

    /// Enters the initial states: all combinations of those of the parts.
    fn initial(&mut self) -> Limited<()> {
        let mut before = 1;
        for (level, part) in self.levels.iter_mut().zip(&self.joins.parts) {
            let own = part.automaton.initial();
            self.joins
                .limits
                .fits("the initial states", before as u128 * own.len() as u128 * 32)?;
            let all = (0..before).flat_map(|first| own.iter().map(move |state| (first, *state)));
            level.states.extend(all);
            before = level.states.len() as u32;
        }
        Ok(())
    }

    /// The steps of a state of the last level, with the rows of the levels before that it needs.
    fn row(&mut self, state: u32) -> Limited<Vec<Joint>> {
        let mut path = vec![state; self.levels.len()];
        for at in (1..path.len()).rev() {
            let (before, _) = self.levels[at].states[path[at] as usize];
            path[at - 1] = before;
        }
        for (at, state) in path.iter().enumerate() {
            let known = self.levels[at].rows.get(*state as usize).is_some_and(Option::is_some);
            if !known {
                let row = self.joined(at, *state)?;
                let rows = &mut self.levels[at].rows;
                rows.resize(rows.len().max(*state as usize + 1), None);
                rows[*state as usize] = Some(row);
            }
        }
        let last = self.levels.last_mut().and_then(|level| level.rows.get_mut(state as usize));
        Ok(last.and_then(Option::take).unwrap_or_default())
    }

    /// The row of a state of one level.
    fn joined(&mut self, at: usize, state: u32) -> Limited<Vec<Joint>> {
        let (before, own) = self.levels[at].states[state as usize];
        let words = self.joins.outer.len();
        let none: Names = vec![0; words].into();
        let nothing =
            Joint { fires: none.clone(), given: none, alone: false, condition: 0, to: before };
        let first = match at.checked_sub(1) {
            Some(at) => self.levels[at].rows[before as usize].clone().unwrap_or_default(),
            None => vec![nothing],
        };
        let rows = self.joins.parts[at].rows[own as usize].clone();
        // Reasons of steps that are alike otherwise.
        let mut found: IndexMap<(Names, bool, u32, u32), Vec<Names>, FxBuildHasher> =
            IndexMap::default();
        for (count, one) in first.iter().enumerate() {
            if count % 1024 == 0 {
                self.joins.limits.go_on()?;
            }
            if one.alone {
                self.enter(at, one.clone(), (one.to, own), &mut found);
                continue;
            }
            for other in rows.iter().filter(|other| !other.alone) {
                if let Some(both) = self.both(at, one, other) {
                    self.enter(at, both, (one.to, other.to), &mut found);
                }
            }
        }
        for step in rows.into_iter().filter(|step| step.alone) {
            let to = (before, step.to);
            self.enter(at, step, to, &mut found);
        }
        let mut row = Vec::new();
        for ((fires, alone, condition, to), reasons) in found {
            let with = |given| Joint { fires: fires.clone(), given, alone, condition, to };
            row.extend(reasons.into_iter().map(with));
        }
        self.bytes += row.len() as u128 * (words as u128 * 16 + 56);
        self.joins.limits.fits("the steps in context", self.bytes)?;
        Ok(row)
    }

    /// Both steps at one moment, if they agree on the names that both have, data can fulfil them,
    /// and each complete name fires or has a reason.
    fn both(&mut self, at: usize, one: &Joint, other: &Joint) -> Option<Joint> {
        let Level { shared, complete, .. } = &self.levels[at];
        let differ = |w: usize| (one.fires[w] ^ other.fires[w]) & shared[w] != 0;
        if (0..shared.len()).any(differ) {
            return None;
        }
        let joined = |a: &Names, b: &Names| a.iter().zip(b).map(|(a, b)| a | b).collect::<Names>();
        let fires = joined(&one.fires, &other.fires);
        let mut given = joined(&one.given, &other.given);
        for (w, given) in given.iter_mut().enumerate() {
            if complete[w] & !(fires[w] | *given | self.joins.outer[w]) != 0 {
                return None;
            }
            *given &= !complete[w];
        }
        let condition = self.conjunction(one.condition, other.condition)?;
        Some(Joint { fires, given, alone: false, condition, to: 0 })
    }

    /// The number of both constraints; none if no data fulfil them.
    fn conjunction(&mut self, one: u32, other: u32) -> Option<u32> {
        if other == 0 {
            return Some(one);
        }
        let constraints = &mut self.joins.constraints;
        *self.conjunctions.entry((one, other)).or_insert_with(|| {
            let both: DataConstraint = constraints.get(one).and(constraints.get(other));
            is_possible(&both).then(|| constraints.intern(both))
        })
    }

    /// Enters a step to a pair of states, unless one with more reasons is there.
    fn enter(
        &mut self,
        at: usize,
        step: Joint,
        to: (u32, u32),
        found: &mut IndexMap<(Names, bool, u32, u32), Vec<Names>, FxBuildHasher>,
    ) {
        let to = self.levels[at].states.insert_full(to).0 as u32;
        let within = |a: &Names, b: &Names| a.iter().zip(b).all(|(a, b)| a & !b == 0);
        let all = found.entry((step.fires, step.alone, step.condition, to)).or_default();
        if !all.iter().any(|known| within(&step.given, known)) {
            all.retain(|known| !within(known, &step.given));
            all.push(step.given);
        }
    }
}
