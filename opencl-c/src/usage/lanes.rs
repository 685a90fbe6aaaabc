//! What one request of a warp takes: passes of a banked memory, and lines of a cache.
//!
//! The lanes of a warp are neighbouring items. Their places are digits, the fastest first, each with its distance;
//! a distance of 0 means the same address, which is served once.

use tickbound_model::Expr;
use tickbound_model::expr::BinaryOp;

use super::Device;
use super::number::{
    SHARES, add, ceil_div, choice, is_zero, less, max, min, mul, quotient, remainder, sub,
};

/// One digit of a lane's place.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    /// Bytes between lanes that differ by one here, not negative.
    pub distance: Expr,
    /// How many values it has in the group.
    pub extent: Expr,
}

/// Passes of a memory with banks of 4 bytes that a request of `words` words a lane takes.
///
/// A request of 2 or 4 words a lane is served in as many phases, each for half or a quarter of the lanes. Within a
/// phase, lanes at a distance of `s` words meet in the same bank as often as `s` has powers of two with the number of
/// banks. Rows (further digits) that meet in banks are served one after the other.
pub(super) fn passes(device: &Device, lanes: &[Lane], words: i64) -> Expr {
    let places = (device.banks / words).max(1);
    let mut left = Expr::Int(places);
    let mut all = Expr::Int(1);
    // Words that a row reaches over; 0 as long as all lanes have the same address.
    let mut span = Expr::Int(0);
    // Whether they leave no gaps.
    let mut dense = Expr::Int(1);
    for Lane { distance, extent } in lanes {
        let lanes = min(left.clone(), extent.clone());
        let step = max(Expr::Int(1), quotient(distance.clone(), Expr::Int(4 * words)));
        let common = power_in(step, places);
        let many = mul(mul(lanes.clone(), common), Expr::Int(words));
        let alone = max(Expr::Int(1), ceil_div(many, Expr::Int(device.banks)));
        let row = choice(meet(device, distance.clone(), span.clone()), lanes.clone(), Expr::Int(1));
        let first = is_zero(span.clone());
        let still = is_zero(distance.clone());
        let offset = quotient(distance.clone(), Expr::Int(4));
        // Rows that begin inside each other have words in common.
        let inside = less(offset.clone(), span.clone());
        let longer = add(span.clone(), mul(sub(lanes.clone(), Expr::Int(1)), offset.clone()));
        let union = max(all.clone(), ceil_div(longer.clone(), Expr::Int(device.banks)));
        let union = choice(dense.clone(), union, all.clone());
        let more = choice(inside.clone(), union, mul(all.clone(), row));
        let more = choice(first.clone(), alone, more);
        all = choice(still, all, more);
        let close = less(distance.clone(), Expr::Int(4 * words + 1));
        dense = choice(first.clone(), close, dense);
        let reach = mul(lanes, offset);
        span = choice(first, reach, choice(inside, longer, span));
        left = rows(left, extent.clone());
    }
    mul(Expr::Int(words), all)
}

/// Whether rows of so many words meet in banks at this distance in bytes.
fn meet(device: &Device, distance: Expr, span: Expr) -> Expr {
    let banks = Expr::Int(device.banks);
    let offset = remainder(quotient(distance, Expr::Int(4)), banks.clone());
    let span = min(span, banks.clone());
    let below = less(offset.clone(), span.clone());
    Expr::binary(BinaryOp::Or, below, less(sub(banks, offset), span))
}

/// On how many rows of `extent` lanes are so many lanes: where a row is no multiple of them and they are no multiple of a row, they
/// begin in the midst of one.
fn rows(lanes: Expr, extent: Expr) -> Expr {
    let divided = |a: &Expr, by: &Expr| is_zero(remainder(a.clone(), by.clone()));
    let whole = quotient(lanes.clone(), extent.clone());
    let more = add(Expr::Int(1), ceil_div(lanes.clone(), extent.clone()));
    let even = choice(divided(&lanes, &extent), whole, more);
    choice(divided(&extent, &lanes), Expr::Int(1), even)
}

/// The greatest power of two up to `most`, itself one, that divides a number of at least 1.
fn power_in(number: Expr, most: i64) -> Expr {
    let mut power = Expr::Int(1);
    let mut two = 2;
    while two <= most {
        let divides = is_zero(remainder(number.clone(), Expr::Int(two)));
        power = choice(divides, Expr::Int(two), power);
        two *= 2;
    }
    power
}

/// Lines, in 64ths, that a request of `bytes` bytes a lane touches. `aligned`: whether its rows begin where they lie in as few as they
/// can; if not, they begin at any element.
pub(super) fn lines(device: &Device, lanes: &[Lane], bytes: i64, aligned: &Expr) -> Expr {
    let touched = |all: Expr| touched(device.line, all, bytes, aligned);
    let mut left = Expr::Int(device.warp);
    let (mut apart, mut span) = (Expr::Int(SHARES), Expr::Int(bytes));
    for (d, Lane { distance, extent }) in lanes.iter().enumerate() {
        let lanes = min(left.clone(), extent.clone());
        left = rows(left, extent.clone());
        let length = mul(distance.clone(), sub(lanes.clone(), Expr::Int(1)));
        let still = is_zero(distance.clone());
        if d == 0 {
            let own = touched(add(length.clone(), Expr::Int(bytes)));
            let own = min(mul(Expr::Int(SHARES), lanes), own);
            apart = choice(still, apart, own);
        } else {
            apart = mul(apart, choice(still, Expr::Int(1), lanes));
        }
        span = add(span, length);
    }
    min(apart, touched(span))
}

/// Lines, in 64ths, that so many bytes touch, in elements of `element` bytes: the mean over where they may begin.
fn touched(line: i64, bytes: Expr, element: i64, aligned: &Expr) -> Expr {
    let parts = |bytes: Expr| quotient(mul(Expr::Int(SHARES), bytes), Expr::Int(line));
    let anywhere = add(Expr::Int(SHARES), parts(sub(bytes.clone(), Expr::Int(element))));
    choice(aligned.clone(), mul(Expr::Int(SHARES), ceil_div(bytes, Expr::Int(line))), anywhere)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn device() -> Device {
        Device { warp: 32, banks: 32, line: 128, units: 1, ..Device::default() }
    }

    fn lanes(digits: &[(i64, i64)]) -> Vec<Lane> {
        let lane = |(distance, extent): &(i64, i64)| Lane {
            distance: Expr::Int(*distance),
            extent: Expr::Int(*extent),
        };
        digits.iter().map(lane).collect()
    }

    fn value(number: &Expr) -> i64 {
        number.eval(&[]).unwrap()
    }

    /// Where the lanes of the first warp begin, in bytes.
    fn places(digits: &[(i64, i64)]) -> Vec<i64> {
        let place = |mut lane: i64| {
            let mut at = 0;
            for (distance, extent) in digits {
                at += lane % extent * distance;
                lane /= extent;
            }
            at
        };
        let items = digits.iter().map(|(_, extent)| extent).product::<i64>();
        (0..items.min(32)).map(place).collect()
    }

    /// Phase by phase, the most different words in one bank.
    fn counted(digits: &[(i64, i64)], words: usize) -> i64 {
        let phase = |lanes: &[i64]| {
            let mut banks: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
            for at in lanes {
                for word in at / 4..at / 4 + words as i64 {
                    banks.entry(word % 32).or_default().insert(word);
                }
            }
            banks.values().map(BTreeSet::len).max().unwrap_or(0) as i64
        };
        places(digits).chunks(32 / words).map(phase).sum()
    }

    #[test]
    fn passes_of_one_digit_are_those_of_the_banks() {
        for words in [1, 2, 4] {
            for step in 0..80 {
                let digits = [(4 * words * step, 32)];
                let own = value(&passes(&device(), &lanes(&digits), words));
                let wanted = match step {
                    // Each phase is served once.
                    0 => words,
                    _ => counted(&digits, words as usize),
                };
                assert_eq!(own, wanted, "{words} words at {step} times their size");
            }
        }
    }

    #[test]
    fn passes_of_rows() {
        // A row of a matrix; its columns, which meet in one bank; and those of one with a column more.
        let of = |digits: &[(i64, i64)]| value(&passes(&device(), &lanes(digits), 1));
        assert_eq!(of(&[(4, 32), (128, 8)]), 1);
        assert_eq!(of(&[(128, 32), (4, 8)]), 32);
        assert_eq!(of(&[(132, 32), (4, 8)]), 1);
        // Two rows of 16 that meet, and that do not.
        assert_eq!(of(&[(4, 16), (256, 16)]), 2);
        assert_eq!(of(&[(4, 16), (64, 16)]), 1);
        assert_eq!(of(&[(0, 8), (4, 8)]), 1);
        // Rows that overlap.
        for (length, apart) in itertools::iproduct!([2, 4, 8, 16], 1..20) {
            let digits = [(4, length), (4 * apart, 32 / length)];
            if apart < length {
                assert_eq!(of(&digits), counted(&digits, 1), "{length} words {apart} apart");
            }
        }
        for pitch in 16..80 {
            let digits = [(4, 16), (4 * pitch, 16)];
            assert_eq!(of(&digits), counted(&digits, 1), "pitch {pitch}");
        }
    }

    #[test]
    fn lines_of_an_aligned_request() {
        for (digits, bytes) in [
            (vec![(4, 32)], 4),
            (vec![(16, 32)], 16),
            (vec![(8, 64)], 4),
            (vec![(512, 32)], 4),
            (vec![(4, 8), (4096, 8)], 4),
            (vec![(4, 16), (64, 16)], 4),
            (vec![(0, 32)], 4),
        ] {
            let wanted: BTreeSet<i64> =
                places(&digits).iter().flat_map(|at| [at / 128, (at + bytes - 1) / 128]).collect();
            let own = value(&lines(&device(), &lanes(&digits), bytes, &Expr::Int(1)));
            assert_eq!(own, SHARES * wanted.len() as i64, "{digits:?}");
        }
    }

    #[test]
    fn lines_of_a_request_that_begins_anywhere() {
        // A row of so many bytes: the mean over all elements of a line with which it may begin.
        for (length, bytes) in itertools::iproduct!([1, 2, 8, 16, 31, 32], [1, 4, 8, 16]) {
            let own = lines(&device(), &lanes(&[(bytes, length)]), bytes, &Expr::Int(0));
            let of = |start: i64| (start * bytes + length * bytes - 1) / 128 + 1;
            let starts = 128 / bytes;
            let all: i64 = (0..starts).map(of).sum();
            assert_eq!(value(&own), SHARES * all / starts, "{length} times {bytes} bytes");
        }
    }
}
