//! Max-plus maps of the pair (now, mark), with numbers.
//!
//! Without barriers a work item's program is such a map, and a loop is a power of it.

/// A map of (now, mark), with numbers.
#[derive(Debug, Clone, Copy)]
pub enum ClockMap {
    /// `now = max(now + a, mark + b)`; the mark stays.
    Keep(i64, i64),
    /// `mark = max(now + c, mark + d)`, `now = mark + e`.
    Set(i64, i64, i64),
}

/// Minus infinity, far from overflow.
const NEVER: i64 = i64::MIN / 4;

fn plus(a: i64, b: i64) -> i64 {
    if a <= NEVER || b <= NEVER { NEVER } else { a.saturating_add(b) }
}

impl ClockMap {
    /// Changes nothing.
    pub const IDENTITY: ClockMap = ClockMap::Keep(0, NEVER);
    /// Sets the mark to the clock.
    pub const MARK: ClockMap = ClockMap::Set(0, NEVER, 0);

    /// Takes this many ticks.
    pub fn wait(ticks: i64) -> ClockMap {
        ClockMap::Keep(ticks, NEVER)
    }

    /// Waits until the time is greater than the mark plus this many ticks.
    pub fn until(ticks: i64) -> ClockMap {
        ClockMap::Keep(0, ticks.saturating_add(1))
    }

    /// This map, then `next`.
    #[must_use]
    pub fn then(self, next: ClockMap) -> ClockMap {
        match (self, next) {
            (ClockMap::Keep(a, b), ClockMap::Keep(c, d)) => {
                ClockMap::Keep(plus(a, c), plus(b, c).max(d))
            }
            (ClockMap::Keep(a, b), ClockMap::Set(c, d, e)) => {
                ClockMap::Set(plus(a, c), plus(b, c).max(d), e)
            }
            (ClockMap::Set(c, d, e), ClockMap::Keep(a, b)) => {
                ClockMap::Set(c, d, plus(e, a).max(b))
            }
            (ClockMap::Set(c, d, e), ClockMap::Set(f, g, h)) => {
                let on = plus(e, f).max(g);
                ClockMap::Set(plus(c, on), plus(d, on), h)
            }
        }
    }

    /// This map, `n` times in sequence.
    #[must_use]
    pub fn times(self, n: i64) -> ClockMap {
        match self {
            _ if n < 1 => ClockMap::IDENTITY,
            ClockMap::Keep(a, b) => {
                ClockMap::Keep(a.saturating_mul(n), plus(b, a.saturating_mul(n - 1)))
            }
            ClockMap::Set(c, d, e) => {
                let on = plus(e, c).max(d).saturating_mul(n - 1);
                ClockMap::Set(plus(c, on), plus(d, on), e)
            }
        }
    }

    /// The clock afterwards, from clock and mark 0.
    pub fn time(self) -> i64 {
        match self {
            ClockMap::Keep(a, b) => a.max(b),
            ClockMap::Set(c, d, e) => plus(c.max(d), e),
        }
    }
}
