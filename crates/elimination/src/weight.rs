//! What the rows of a relation carry, and how it adds up.

use std::fmt;

use num_bigint::BigUint;

/// A commutative semiring: sums over rows, products over relations.
pub trait Weight: Clone + PartialEq + fmt::Debug {
    /// The weight of a row that costs this much.
    fn of(cost: i64) -> Self;

    /// Adds the weight of another row of the same message.
    fn plus(&mut self, other: &Self);

    /// The weight of a row that was joined with another.
    fn times(&self, other: &Self) -> Self;
}

/// How many solutions there are. Costs do not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SolutionCount {
    /// One that fits.
    Small(u128),
    /// One beyond 128 bits.
    Large(BigUint),
}

impl SolutionCount {
    fn big(&self) -> BigUint {
        match self {
            SolutionCount::Small(n) => BigUint::from(*n),
            SolutionCount::Large(n) => n.clone(),
        }
    }
}

impl From<SolutionCount> for BigUint {
    fn from(count: SolutionCount) -> BigUint {
        count.big()
    }
}

impl fmt::Display for SolutionCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.big())
    }
}

impl Weight for SolutionCount {
    fn of(_: i64) -> SolutionCount {
        SolutionCount::Small(1)
    }

    fn plus(&mut self, other: &SolutionCount) {
        *self = match (&*self, other) {
            (SolutionCount::Small(a), SolutionCount::Small(b)) if a.checked_add(*b).is_some() => {
                SolutionCount::Small(a + b)
            }
            (a, b) => SolutionCount::Large(a.big() + b.big()),
        };
    }

    fn times(&self, other: &SolutionCount) -> SolutionCount {
        match (self, other) {
            (SolutionCount::Small(a), SolutionCount::Small(b)) if a.checked_mul(*b).is_some() => {
                SolutionCount::Small(a * b)
            }
            (a, b) => SolutionCount::Large(a.big() * b.big()),
        }
    }
}

/// The least cost. [`Least::FAILS`] is below all others and stays so in every product; the greatest
/// number represents everything beyond 63 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Least(pub i64);

impl Least {
    /// The cost of a row that has none.
    pub const FAILS: Least = Least(i64::MIN);
}

impl Weight for Least {
    fn of(cost: i64) -> Least {
        Least(cost)
    }

    fn plus(&mut self, other: &Least) {
        *self = (*self).min(*other);
    }

    fn times(&self, other: &Least) -> Least {
        if *self == Least::FAILS || *other == Least::FAILS {
            return Least::FAILS;
        }
        Least(self.0.saturating_add(other.0))
    }
}

/// The least cost, how many solutions have it, and the next greater cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ties {
    /// The least cost.
    pub least: Least,
    /// How many solutions have it.
    pub count: SolutionCount,
    /// The least cost of all others.
    pub next: Option<Least>,
}

impl Weight for Ties {
    fn of(cost: i64) -> Ties {
        Ties { least: Least(cost), count: SolutionCount::of(cost), next: None }
    }

    fn plus(&mut self, other: &Ties) {
        if other.least < self.least {
            let worse = std::mem::replace(self, other.clone());
            self.plus(&worse);
            return;
        }
        let mut next = other.next;
        if other.least == self.least {
            self.count.plus(&other.count);
        } else {
            next = Some(other.least);
        }
        self.next = [self.next, next].into_iter().flatten().min();
    }

    fn times(&self, other: &Ties) -> Ties {
        let one = self.next.map(|n| n.times(&other.least));
        let two = other.next.map(|n| n.times(&self.least));
        Ties {
            least: self.least.times(&other.least),
            count: self.count.times(&other.count),
            next: [one, two].into_iter().flatten().min(),
        }
    }
}
