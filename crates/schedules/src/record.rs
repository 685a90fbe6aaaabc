//! How the least and the greatest ticks were reached, level by level.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// A state with the positions of its groups: their number, and the state's.
pub(crate) type Key = (u32, u32);

/// The least and the greatest of some ticks; least above greatest if there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub least: i64,
    pub greatest: i64,
}

/// Most ticks of a launch. Between two levels far fewer can pass, so that no sum overflows.
const MOST: i64 = 1 << 60;

impl Range {
    /// What is added on the way through a level does not make least less than greatest.
    pub const NONE: Range = Range { least: 1 << 62, greatest: -(1 << 62) };

    pub fn at(tick: i64) -> Range {
        Range { least: tick, greatest: tick }
    }

    pub fn is_none(self) -> bool {
        self.least > self.greatest
    }

    pub fn join(&mut self, other: Range) {
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// `None` if that is too late.
    pub fn later(self, least: i64, greatest: i64) -> Option<Range> {
        let least = self.least.checked_add(least)?;
        let greatest = self.greatest.checked_add(greatest).filter(|tick| *tick < MOST)?;
        Some(Range { least, greatest })
    }
}

/// What enters a level: the positions of the groups (by number) and the state.
pub(crate) type Entries = IndexMap<Key, Range, FxBuildHasher>;

/// Where the least and the greatest ticks of a key come from.
#[derive(Debug, Clone, Copy)]
struct Origin {
    range: Range,
    least: Option<Key>,
    greatest: Option<Key>,
}

impl Origin {
    const NOWHERE: Origin = Origin { range: Range::NONE, least: None, greatest: None };

    fn join(&mut self, range: Range, from: Option<Key>) {
        if range.least < self.range.least {
            self.least = from;
        }
        if range.greatest > self.range.greatest {
            self.greatest = from;
        }
        self.range.join(range);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Best,
    Worst,
}

impl End {
    /// 1 if it is the least of all ticks, -1 if the greatest.
    pub fn sign(self) -> i64 {
        match self {
            End::Best => 1,
            End::Worst => -1,
        }
    }

    /// This end of some ticks.
    pub fn of(self, range: Range) -> i64 {
        match self {
            End::Best => range.least,
            End::Worst => range.greatest,
        }
    }
}

/// One level that was run.
struct Level {
    /// Groups that have been placed.
    placed: u64,
    /// If levels were skipped after this one, how many repeat themselves.
    period: Option<u64>,
    /// Where each key comes from; from nowhere if it enters the level.
    inside: FxHashMap<Key, Origin>,
    /// Where what enters the next level comes from.
    leaving: FxHashMap<Key, Origin>,
}

/// All levels that were run.
pub(crate) struct Record {
    levels: Vec<Level>,
    ended: Origin,
}

impl Record {
    pub fn new() -> Record {
        Record { levels: Vec::new(), ended: Origin::NOWHERE }
    }

    pub fn begin_level(&mut self, placed: u64) {
        let (inside, leaving) = (FxHashMap::default(), FxHashMap::default());
        self.levels.push(Level { placed, period: None, inside, leaving });
    }

    /// Levels are skipped that repeat the last ones, this many.
    pub fn skip(&mut self, period: u64) {
        if let Some(level) = self.levels.last_mut() {
            level.period = Some(period);
        }
    }

    /// `key` is reached from `from`, or enters the level.
    pub fn reach(&mut self, key: Key, range: Range, from: Option<Key>) {
        if let Some(level) = self.levels.last_mut() {
            level.inside.entry(key).or_insert(Origin::NOWHERE).join(range, from);
        }
    }

    /// `key` enters the next level from `from`.
    pub fn enter(&mut self, key: Key, range: Range, from: Key) {
        if let Some(level) = self.levels.last_mut() {
            level.leaving.entry(key).or_insert(Origin::NOWHERE).join(range, Some(from));
        }
    }

    /// The launch ends at `key`.
    pub fn end(&mut self, key: Key, range: Range) {
        self.ended.join(range, Some(key));
    }

    /// The keys on the way to one end, each with the groups placed; `None` is a fault.
    pub fn path(&self, end: End) -> Option<Vec<(u64, Key)>> {
        let pick = |origin: &Origin| match end {
            End::Best => origin.least,
            End::Worst => origin.greatest,
        };
        let mut key = pick(&self.ended)?;
        let mut placed = self.levels.last()?.placed;
        let mut path = vec![(placed, key)];
        loop {
            let level = self.level(placed)?;
            key = match pick(level.inside.get(&key)?) {
                Some(before) => before,
                None if placed == 0 => break,
                None => {
                    placed -= 1;
                    pick(self.level(placed)?.leaving.get(&key)?)?
                }
            };
            path.push((placed, key));
        }
        path.reverse();
        Some(path)
    }

    /// The level with this many groups placed, or the one of the period before that it repeats.
    fn level(&self, placed: u64) -> Option<&Level> {
        let after = self.levels.partition_point(|level| level.placed <= placed);
        let last = self.levels.get(after.checked_sub(1)?)?;
        if last.placed == placed {
            return Some(last);
        }
        let period = last.period?;
        let back = period - 1 - (placed - last.placed - 1) % period;
        let placed = last.placed.checked_sub(back)?;
        self.levels.iter().find(|level| level.placed == placed)
    }
}
