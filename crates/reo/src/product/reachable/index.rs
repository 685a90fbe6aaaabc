//! Numbers for tuples: states of the product, and conditions.
//!
//! A tuple is packed into one or more words as the digits of a number with mixed radixes
//! ([`Digits`]); an [`Index`] gives each such key a number, 0, 1, 2 and so on, in the order in
//! which they come.

use std::ops::Range;

use crate::limits::{Limited, ProductLimits, Stopped};

/// The bytes that are taken, against the limit.
pub(super) struct Budget<'a> {
    limits: &'a ProductLimits<'a>,
    used: u128,
}

impl<'a> Budget<'a> {
    pub fn new(limits: &'a ProductLimits<'a>) -> Self {
        Budget { limits, used: 0 }
    }

    /// The same where only that many of the bytes are allowed.
    pub fn within(limits: &'a ProductLimits<'a>, bytes: u64) -> Self {
        Budget { limits, used: u128::from(limits.memory.saturating_sub(bytes)) }
    }

    pub fn left(&self) -> u128 {
        u128::from(self.limits.memory).saturating_sub(self.used)
    }

    pub fn used(&self) -> u128 {
        self.used
    }

    /// Counts bytes as taken, or fails, naming `what`.
    pub fn take(&mut self, what: &'static str, bytes: u128) -> Limited<()> {
        self.limits.fits(what, self.used.saturating_add(bytes))?;
        self.used += bytes;
        Ok(())
    }

    pub fn give(&mut self, bytes: u128) {
        self.used -= bytes;
    }

    /// Makes room for `more` elements: half as much again as before where that fits, else exactly
    /// enough. A large block is grown in place (`mremap`), so the old one is not counted beside it.
    pub fn room<T>(&mut self, what: &'static str, vec: &mut Vec<T>, more: usize) -> Limited<()> {
        let (len, old) = (vec.len(), vec.capacity());
        if old - len >= more {
            return Ok(());
        }
        let bytes = |capacity: usize| (capacity - old) as u128 * size_of::<T>() as u128;
        let generous = (len + more).max(old + old / 2).max(64);
        let wanted = if bytes(generous) <= self.left() { generous } else { len + more };
        self.take(what, bytes(wanted))?;
        vec.reserve_exact(wanted - len);
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Digit {
    word: usize,
    size: u64,
    /// What one more of it adds to its word.
    weight: u64,
    /// log2 of the size, where that is a whole number: faster than a division.
    shift: Option<u32>,
}

/// How tuples are packed: the first digit is the most significant one, words come one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Digits {
    digits: Vec<Digit>,
    /// Words of a key, at least 1.
    pub words: usize,
    /// How many keys there are, if they fit in one word of 64 bits less one.
    pub space: Option<u64>,
}

impl Digits {
    /// For tuples with these numbers of values at the places, none of them 0.
    pub fn new(sizes: &[u64]) -> Digits {
        let mut digits: Vec<Digit> = Vec::with_capacity(sizes.len());
        let (mut word, mut weight) = (0, 1_u64);
        for size in sizes.iter().rev() {
            // A word is full when its weight would not fit; keys of a word stay below 2^64.
            let next = weight.checked_mul(*size).unwrap_or_else(|| {
                (word, weight) = (word + 1, 1);
                *size
            });
            let shift = size.is_power_of_two().then(|| size.trailing_zeros());
            digits.push(Digit { word, size: *size, weight, shift });
            weight = next;
        }
        // The most significant word first, so that keys are in the order of their tuples.
        digits.iter_mut().for_each(|d| d.word = word - d.word);
        digits.reverse();
        Digits { digits, words: word + 1, space: (word == 0).then_some(weight) }
    }

    /// What the vector of a key gains when the digit at `place` goes from one value to another.
    pub fn delta(&self, place: usize, from: u64, to: u64) -> (usize, u64) {
        let digit = self.digits[place];
        (digit.word, to.wrapping_sub(from).wrapping_mul(digit.weight))
    }

    /// The tuple of a key, last place first: calls `each` with place and value.
    #[inline]
    pub fn unpack(&self, key: &[u64], mut each: impl FnMut(usize, u64)) {
        let (mut word, mut rest) = (usize::MAX, 0);
        for (place, digit) in self.digits.iter().enumerate().rev() {
            if digit.word != word {
                (word, rest) = (digit.word, key[digit.word]);
            }
            let (value, higher) = match digit.shift {
                Some(shift) => (rest & (digit.size - 1), rest >> shift),
                None => (rest % digit.size, rest / digit.size),
            };
            rest = higher;
            each(place, value);
        }
    }
}

/// Up to this number of keys there is a table with a place for each from the start.
const SMALL_SPACE: u64 = 1 << 20;
/// And later, when at least one key in this number has a number.
const SPARSE: u64 = 16;

pub(super) struct Index {
    words: usize,
    space: Option<u64>,
    keys: Vec<u64>,
    len: usize,
    what: &'static str,
    pub table: Table,
}

/// Where numbers are looked up; 0 is none and n + 1 is n.
pub(super) enum Table {
    /// At the key itself.
    Direct(Vec<u32>),
    /// At its hash or behind it: the number in the low half, hash bits in the high one.
    Hash(Vec<u64>),
}

impl Index {
    /// An index without keys; `what` names it if memory runs out.
    pub fn new(digits: &Digits, what: &'static str, budget: &mut Budget) -> Limited<Index> {
        let (words, space) = (digits.words, digits.space);
        let table = Table::Hash(Vec::new());
        let mut index = Index { words, space, keys: Vec::new(), len: 0, what, table };
        if !index.go_direct(SMALL_SPACE, budget)? {
            budget.take(what, 64 * 8)?;
            index.table = Table::Hash(vec![0; 64]);
        }
        Ok(index)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn key(&self, number: usize) -> &[u64] {
        &self.keys[number * self.words..(number + 1) * self.words]
    }

    pub fn keys(&self, numbers: Range<usize>) -> &[u64] {
        &self.keys[numbers.start * self.words..numbers.end * self.words]
    }

    /// Bytes that were taken for it.
    pub fn bytes(&self) -> u128 {
        let table = match &self.table {
            Table::Direct(numbers) => numbers.len() * 4,
            Table::Hash(slots) => slots.len() * 8,
        };
        (table + self.keys.capacity() * 8) as u128
    }

    /// Forgets all keys; what was taken for them stays.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.len = 0;
        match &mut self.table {
            Table::Direct(numbers) => numbers.fill(0),
            Table::Hash(slots) => slots.fill(0),
        }
    }

    pub fn into_keys(self) -> Vec<u64> {
        self.keys
    }

    /// One more than the number of a key, or 0.
    #[inline(always)]
    pub fn find(&self, key: &[u64]) -> u32 {
        match &self.table {
            Table::Direct(numbers) => numbers[key[0] as usize],
            Table::Hash(slots) => self.slot(slots, key).1,
        }
    }

    /// The number of a key, the next one if it has none.
    pub fn number(&mut self, key: &[u64], budget: &mut Budget) -> Limited<u32> {
        let found = self.find(key);
        if found != 0 {
            return Ok(found - 1);
        }
        let number = self.len as u32;
        if number == u32::MAX {
            return Err(Stopped::States(self.len as u128 + 1));
        }
        budget.room(self.what, &mut self.keys, self.words)?;
        self.grow(budget)?;
        self.keys.extend_from_slice(key);
        self.len += 1;
        self.enter(number);
        Ok(number)
    }

    /// Where a key is, or where it would go, and one more than its number or 0.
    #[inline]
    fn slot(&self, slots: &[u64], key: &[u64]) -> (usize, u32) {
        let (hash, mask) = (hash(key), slots.len() - 1);
        let mut at = hash as usize & mask;
        loop {
            let slot = slots[at];
            let found = slot as u32;
            let same = (slot ^ hash) >> 32 == 0;
            if found == 0 || (same && self.key(found as usize - 1) == key) {
                return (at, found);
            }
            at = (at + 1) & mask;
        }
    }

    /// Enters a number, whose key is known, into the table, which has room.
    fn enter(&mut self, number: u32) {
        let key = &self.keys[number as usize * self.words..][..self.words];
        let at = match &self.table {
            Table::Direct(_) => key[0] as usize,
            Table::Hash(slots) => self.slot(slots, key).0,
        };
        let high = hash(key) >> 32 << 32;
        match &mut self.table {
            Table::Direct(numbers) => numbers[at] = number + 1,
            Table::Hash(slots) => slots[at] = high | u64::from(number + 1),
        }
    }

    /// Makes room in the table for one more: at most half of a hash table is used.
    fn grow(&mut self, budget: &mut Budget) -> Limited<()> {
        let Table::Hash(slots) = &self.table else { return Ok(()) };
        let before = slots.len();
        if (self.len + 1) * 2 <= before || self.go_direct(self.len as u64 * SPARSE, budget)? {
            return Ok(());
        }
        budget.take(self.what, before as u128 * 2 * 8)?;
        self.table = Table::Hash(vec![0; before * 2]);
        (0..self.len as u32).for_each(|number| self.enter(number));
        budget.give(before as u128 * 8);
        Ok(())
    }

    /// Takes a table with a place for each key if there are at most `most` and it fits.
    fn go_direct(&mut self, most: u64, budget: &mut Budget) -> Limited<bool> {
        let Table::Hash(slots) = &self.table else { return Ok(true) };
        let before = slots.len() as u128 * 8;
        let Some(space) = self.space.filter(|space| *space <= most) else { return Ok(false) };
        let bytes = u128::from(space) * 4;
        if bytes > budget.left() / 4 {
            return Ok(false);
        }
        budget.take(self.what, bytes)?;
        self.table = Table::Direct(vec![0; space as usize]);
        (0..self.len as u32).for_each(|number| self.enter(number));
        budget.give(before);
        Ok(true)
    }
}

/// Mixes the words of a key; all bits of the result depend on all bits of it.
#[inline]
pub(super) fn hash(key: &[u64]) -> u64 {
    let mix = |h: u64, word: &u64| {
        let h = (h ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (h ^ h >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    };
    let h = key.iter().fold(0, mix);
    h ^ h >> 32
}
