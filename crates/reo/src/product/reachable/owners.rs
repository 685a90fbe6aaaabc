//! The states of a product that several processes make together, each owned by one of them.
//!
//! A hash of its key gives the owner of a state. A superstep takes the next states in the order of
//! their numbers, cut into one piece for each rank. Each rank asks the owners for the numbers of
//! states that its table does not know. Of a new state the lowest rank that asks is the *finder*;
//! finders number what they have found, offset by the counts of lower ranks, and report the numbers
//! to the owners, who answer the others. So numbers do not depend on the number of ranks. A rank
//! keeps the keys it has found until the state is worked on.

use std::collections::VecDeque;
use std::io;

use super::external::{StateBlock, StateStore, StreamError, UNKNOWN};
use super::index::{Budget, Digits, Index, hash};
use crate::limits::{Limited, ProductLimits, Stopped};

/// Processes, or threads, that make one product together. Each has a number, its rank, counted from
/// 0. They do the same in the same order: each call of one is answered only when the others make
/// theirs.
pub trait Exchange {
    /// The number of this one.
    fn rank(&self) -> usize;

    /// How many there are, at least 1.
    fn size(&self) -> usize;

    /// Gives words to each rank, in their order, and returns what each has given to this one.
    ///
    /// # Errors
    /// Another rank cannot be reached, as it has ended.
    fn all_to_all(&mut self, words: Vec<Vec<u64>>) -> io::Result<Vec<Vec<u64>>>;

    /// Gives words to one rank, which receives them.
    fn send(&mut self, to: usize, words: &[u64]) -> io::Result<()>;

    /// What a rank sends to this one, in the order in which it does.
    fn receive(&mut self, from: usize) -> io::Result<Vec<u64>>;
}

/// Answers of an owner other than a number: the asker has found it; another has, number later.
const FOUND: u64 = u64::MAX;
const LATER: u64 = u64::MAX - 1;

/// The states of all ranks, as one of them sees them.
pub(super) struct Owners<'a, 'e> {
    exchange: &'e mut dyn Exchange,
    words: usize,
    /// The states that this rank owns, and their numbers.
    owned: Index,
    numbers: Vec<u32>,
    budget: Budget<'a>,
    /// States that this rank has found and none has worked on: first number and keys of some.
    found: VecDeque<(usize, Vec<u64>)>,
    /// Of all ranks: the state to be worked on next, and how many states there are.
    next: usize,
    total: usize,
}

impl<'a, 'e> Owners<'a, 'e> {
    /// No state yet; of `limits` all memory is for states.
    pub fn new(
        digits: &Digits,
        limits: &'a ProductLimits<'a>,
        exchange: &'e mut dyn Exchange,
    ) -> Limited<Self> {
        let mut budget = Budget::new(limits);
        let owned = Index::new(digits, "the states of this rank", &mut budget)?;
        let (words, numbers, found) = (digits.words, Vec::new(), VecDeque::new());
        Ok(Owners { exchange, words, owned, numbers, budget, found, next: 0, total: 0 })
    }

    pub fn exchange(&mut self) -> &mut dyn Exchange {
        self.exchange
    }

    /// What each rank gives to this one, where this one gives the same to each.
    fn gather(&mut self, word: u64) -> Result<Vec<u64>, StreamError> {
        let size = self.exchange.size();
        let all = self.all_to_all(vec![vec![word]; size])?;
        Ok(all.iter().filter_map(|words| words.first().copied()).collect())
    }

    fn all_to_all(&mut self, words: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, StreamError> {
        self.exchange.all_to_all(words).map_err(StreamError::Exchange)
    }

    /// Takes what this rank has found of the states below `end`, and cuts it by the pieces that end
    /// at `ends`: the number of the first state of each part, how many, and their keys.
    fn hand_out(&mut self, ends: &[usize]) -> Vec<Vec<u64>> {
        let mut out = vec![Vec::new(); ends.len()];
        let mut piece = 0;
        while let Some((first, keys)) = self.found.front_mut() {
            while ends.get(piece).is_some_and(|end| end <= first) {
                piece += 1;
            }
            let Some(end) = ends.get(piece) else { break };
            let many = (end - *first).min(keys.len() / self.words);
            out[piece].extend([*first as u64, many as u64]);
            out[piece].extend(keys.drain(..many * self.words));
            *first += many;
            if keys.is_empty() {
                self.found.pop_front();
            }
        }
        out
    }

    /// The keys of a piece from the parts that the ranks had of it.
    fn put_together(&self, parts: &[Vec<u64>]) -> Vec<u64> {
        let mut all = Vec::new();
        for mut rest in parts.iter().map(Vec::as_slice) {
            while let [first, many, keys @ ..] = rest {
                let (keys, after) = keys.split_at((*many as usize * self.words).min(keys.len()));
                all.push((*first, keys));
                rest = after;
            }
        }
        all.sort_unstable_by_key(|(first, _)| *first);
        all.iter().flat_map(|(_, keys)| keys.iter().copied()).collect()
    }

    /// As an owner: the answers to what each rank asks, and for each rank the states of which it is
    /// the finder, and those of which it hears later.
    fn answer(&mut self, asked: &[Vec<u64>]) -> Result<Answers, StreamError> {
        let mut finder: Vec<usize> = Vec::new();
        let before = self.owned.len();
        let mut answers = Answers::default();
        for (rank, keys) in asked.iter().enumerate() {
            let (mut said, mut found, mut later) = (Vec::new(), Vec::new(), Vec::new());
            for key in keys.chunks_exact(self.words) {
                let own = self.owned.number(key, &mut self.budget)? as usize;
                let new = own.checked_sub(before);
                match new.map(|new| finder.get(new)) {
                    None => said.push(u64::from(self.numbers[own])),
                    Some(None) => {
                        finder.push(rank);
                        found.push(own);
                        said.push(FOUND);
                    }
                    Some(Some(_)) => {
                        later.push(own);
                        said.push(LATER);
                    }
                }
            }
            answers.said.push(said);
            answers.found.push(found);
            answers.later.push(later);
        }
        self.budget.room("the states of this rank", &mut self.numbers, finder.len())?;
        self.numbers.resize(self.owned.len(), UNKNOWN);
        Ok(answers)
    }

    fn by_owner(&self, keys: &[u64]) -> (Vec<Vec<u64>>, Vec<usize>) {
        let size = self.exchange.size();
        let mut of_owners = vec![Vec::new(); size];
        let mut owners = Vec::with_capacity(keys.len() / self.words);
        for key in keys.chunks_exact(self.words) {
            // The table of the owner uses the low half.
            let owner = (((hash(key) >> 32) * size as u64) >> 32) as usize;
            of_owners[owner].extend_from_slice(key);
            owners.push(owner);
        }
        (of_owners, owners)
    }
}

/// What an owner answers each rank, and the states whose numbers are still to be exchanged.
#[derive(Default)]
struct Answers {
    said: Vec<Vec<u64>>,
    found: Vec<Vec<usize>>,
    later: Vec<Vec<usize>>,
}

impl StateStore for Owners<'_, '_> {
    fn next(&mut self, rows: usize) -> Result<Option<StateBlock>, StreamError> {
        let (rank, size) = (self.exchange.rank(), self.exchange.size());
        let least = self.gather(rows as u64)?.into_iter().min().unwrap_or(1) as usize;
        let many = (self.total - self.next).min(least.saturating_mul(size));
        if many == 0 {
            return Ok(None);
        }
        let end = |rank: usize| self.next + many * rank / size;
        let ends: Vec<usize> = (1..=size).map(end).collect();
        let first = end(rank);
        let parts = self.hand_out(&ends);
        let parts = self.all_to_all(parts)?;
        self.next += many;
        Ok(Some(StateBlock { first, keys: self.put_together(&parts) }))
    }

    fn take(&mut self, _: usize, all: usize) -> usize {
        all
    }

    fn resolve(&mut self, keys: &[u64], numbers: &mut [u32]) -> Result<(), StreamError> {
        let (words, size) = (self.words, self.exchange.size());
        let (questions, owner_of) = self.by_owner(keys);
        let asked = self.all_to_all(questions)?;
        let answers = self.answer(&asked)?;
        let said = self.all_to_all(answers.said)?;
        let count = said.iter().flatten().filter(|word| **word == FOUND).count();
        let counts = self.gather(count as u64)?;
        let mut number = self.total + counts[..self.exchange.rank()].iter().sum::<u64>() as usize;
        let first = number;
        self.total += counts.iter().sum::<u64>() as usize;
        if self.total > UNKNOWN as usize {
            return Err(Stopped::States(self.total as u128).into());
        }
        let (mut new, mut found) = (vec![Vec::new(); size], Vec::new());
        let mut said: Vec<_> = said.into_iter().map(Vec::into_iter).collect();
        for ((key, owner), to) in keys.chunks_exact(words).zip(&owner_of).zip(&mut *numbers) {
            match said[*owner].next() {
                Some(FOUND) => {
                    *to = number as u32;
                    new[*owner].push(number as u64);
                    found.extend_from_slice(key);
                    number += 1;
                }
                Some(LATER) | None => {}
                Some(known) => *to = known as u32,
            }
        }
        if !found.is_empty() {
            self.found.push_back((first, found));
        }
        let told = self.all_to_all(new)?;
        for (found, numbers) in answers.found.iter().zip(&told) {
            found.iter().zip(numbers).for_each(|(own, n)| self.numbers[*own] = *n as u32);
        }
        let number = |own: &usize| u64::from(self.numbers[*own]);
        let later = answers.later.iter().map(|later| later.iter().map(number).collect()).collect();
        let later = self.all_to_all(later)?;
        let mut later: Vec<_> = later.into_iter().map(Vec::into_iter).collect();
        for (owner, to) in owner_of.iter().zip(numbers).filter(|(_, to)| **to == UNKNOWN) {
            *to = later[*owner].next().unwrap_or(u64::from(UNKNOWN)) as u32;
        }
        Ok(())
    }

    fn forget(&mut self, _: Stopped) -> Result<(), StreamError> {
        // The owners know them all.
        Ok(())
    }

    fn states(&self) -> usize {
        self.total
    }

    fn is_whole(&self) -> bool {
        false
    }
}
