//! Rows of a dense product counted and summed on a device, without a word of them kept.
//!
//! A launch gives eleven words, [`CellTally::to_words`]; a second kernel adds up those of the
//! workgroups, so that no atomic operation on 64 bits is needed. That no cell is left out follows
//! from the checksum ([`DensePlan::checksum`]) of all rows.

use std::collections::BTreeSet;

use tickbound_device::{Arg, Buffer, DeviceKind};
use tickbound_reo::check::LtlFormula;
use tickbound_reo::limits::{ProductLimits, ProductProgress};
use tickbound_reo::product::dense::{CellTally, DenseError, DensePlan, RowBlock};
use tickbound_reo::symbol::NameId;

use super::multiplier::{GROUP, Multiplier, MultiplierResult, fits32};

/// Words of what comes back of a launch.
const WORDS: usize = 11;
const MAX_GROUPS: usize = 1024;

/// Names that fire and names that do not, as bits over a product's alphabet.
pub type Clause = (u64, u64);

/// Most names of a condition that a device checks, in up to 2^8 clauses.
const MAX_CLAUSE_NAMES: usize = 8;

/// Formulas over the names of an alphabet as clauses, of which a label fulfils one if all formulas
/// hold; `None` if they depend on more than 8 names.
pub fn clauses(formulas: &[LtlFormula], alphabet: &[NameId]) -> Option<Vec<Clause>> {
    let mut names = BTreeSet::new();
    formulas.iter().for_each(|formula| formula.names(&mut names));
    let bit = |name: &NameId| alphabet.binary_search(name).ok();
    let bits: Vec<u64> = names.iter().filter_map(bit).map(|bit| 1 << bit).collect();
    let fires = |label: u64, name: NameId| bit(&name).is_some_and(|bit| label >> bit & 1 == 1);
    let holds = |label: u64| formulas.iter().all(|f| f.holds(&|name| fires(label, name)));
    (bits.len() <= MAX_CLAUSE_NAMES).then(|| clauses_of(&bits, (0, 0), &holds))
}

/// The clauses for labels in which some names are decided and those of `bits` are not.
fn clauses_of(bits: &[u64], (must, not): Clause, holds: &dyn Fn(u64) -> bool) -> Vec<Clause> {
    let Some((bit, rest)) = bits.split_first() else {
        return if holds(must) { vec![(must, not)] } else { Vec::new() };
    };
    let with = clauses_of(rest, (must | bit, not), holds);
    let without = clauses_of(rest, (must, not | bit), holds);
    // Where the name does not matter, neither mentions it.
    let same = with.iter().map(|(m, n)| (m & !bit, *n));
    if same.clone().eq(without.iter().map(|(m, n)| (*m, n & !bit))) {
        return same.collect();
    }
    with.into_iter().chain(without).collect()
}

/// A product whose factors are on a device, which counts rows of it.
pub struct TalliesIn<'a> {
    engine: &'a Multiplier,
    plan: &'a DensePlan,
    left: Buffer<u64>,
    right: Buffer<u64>,
    /// Pairs of words; at least one.
    clauses: Buffer<u64>,
    count: usize,
    checked: bool,
    groups: Buffer<u64>,
    total: Buffer<u64>,
    group: usize,
}

impl Multiplier {
    /// A product whose rows the device will count, by workgroups of `group` items; without one, as
    /// many as suit it. With `clauses`, steps that fulfil none of them are broken.
    pub fn tallies<'a>(
        &'a self,
        plan: &'a DensePlan,
        clauses: Option<&[Clause]>,
        group: Option<usize>,
    ) -> MultiplierResult<TalliesIn<'a>> {
        fits32("the left factor", plan.left.len() as u128)?;
        fits32("the right factor", plan.right.len() as u128)?;
        fits32("the states of the product", plan.sizes.states() as u128)?;
        let all = clauses.unwrap_or_default();
        let words: Vec<u64> = all.iter().flat_map(|(must, not)| [*must, *not]).collect();
        // A processor's compiler makes vectors of a loop, not of items with barriers.
        let usual = if self.device().kind == DeviceKind::Cpu { 1 } else { GROUP };
        let session = &self.session;
        Ok(TalliesIn {
            engine: self,
            plan,
            left: session.upload(&plan.left)?,
            right: session.upload(&plan.right)?,
            clauses: session.upload(if words.is_empty() { &[0] } else { &words })?,
            count: all.len(),
            checked: clauses.is_some(),
            groups: session.buffer(MAX_GROUPS * WORDS)?,
            total: session.buffer(WORDS)?,
            group: group.unwrap_or(usual).clamp(1, self.tally.max_group()),
        })
    }
}

impl TalliesIn<'_> {
    /// Totals of the rows of a block.
    ///
    /// # Errors
    /// The device failed, it was stopped, or the product has no such rows.
    pub fn count(&self, block: RowBlock, limits: &ProductLimits) -> MultiplierResult<CellTally> {
        let (sizes, RowBlock { first, rows, .. }) = (self.plan.sizes, block);
        let needed = sizes.states().saturating_sub(first);
        if rows > needed {
            return Err(DenseError::Cells { found: rows, needed }.into());
        }
        limits.go_on()?;
        let groups = rows.clamp(1, MAX_GROUPS);
        let number = |n: usize| Arg::U32(n as u32);
        let arguments = [
            Arg::buffer(&self.left),
            Arg::buffer(&self.right),
            Arg::buffer(&self.groups),
            number(sizes.left_states),
            number(sizes.left_slots),
            number(sizes.right_states),
            number(sizes.right_slots),
            Arg::U64(self.plan.mask),
            number(first),
            number(rows),
            Arg::buffer(&self.clauses),
            number(self.count),
            number(usize::from(self.checked)),
            Arg::Local(self.group * WORDS * 8),
        ];
        let (session, engine, group) = (&self.engine.session, self.engine, self.group);
        // SAFETY: items read the factors, whose sizes are those of the plan, in rows that it has,
        // and `count` pairs of clauses; each group writes eleven words, for which
        // `groups` has room for MAX_GROUPS groups, and local memory for each item.
        let launch = unsafe {
            session.enqueue(&engine.tally, &arguments, &[groups * group], Some(&[group]))?
        };
        launch.wait()?;
        let arguments = [Arg::buffer(&self.groups), number(groups), Arg::buffer(&self.total)];
        // SAFETY: one item reads the words that the groups have written, and writes eleven.
        let launch = unsafe { session.enqueue(&engine.total, &arguments, &[1], Some(&[1]))? };
        launch.wait()?;
        let mut words = [0; WORDS];
        session.read(&self.total, 0, &mut words)?;
        let states = (first + rows) as u64;
        (limits.progress)(ProductProgress { states, ..ProductProgress::default() });
        Ok(CellTally::from_words(words))
    }
}
