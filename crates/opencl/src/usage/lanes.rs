//! What one request of a warp takes: passes of a banked memory, and lines of a cache.
//!
//! The lanes of a warp are neighbouring items. Their places are digits, the fastest first, each
//! with its distance; a distance of 0 means the same address, which is served once. Where rows of
//! lanes are no multiple of a warp, nor a warp of them, some warps begin in one row and end in the
//! next: the mean over all warps of a group counts, in 64ths.

use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::Part;

use super::Device;
use super::footprint::Axis;
use super::number::{
    SHARES, all, ceil_div, choice, is_zero, less, max, min, part_of, quotient, remainder,
};

/// One digit of a lane's place.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    /// Bytes between lanes that differ by one here, not negative.
    pub distance: Expr,
    /// How many values it has in the group.
    pub extent: Expr,
}

impl From<&Lane> for Axis {
    fn from(Lane { distance, extent }: &Lane) -> Axis {
        Axis { distance: Some(distance.clone()), extent: extent.clone() }
    }
}

/// The pieces of rows of the first digit with lanes that are served together, `warp` of them.
struct Pieces {
    /// 1 if some lie on two rows, but not on whole ones.
    torn: Expr,
    /// Lanes of a group.
    items: Expr,
    /// Pieces of all warps, and how many warps there are.
    all: Expr,
    warps: Expr,
}

impl Pieces {
    /// A piece begins with each row and with each warp, but for those that begin together. `most`:
    /// how many items there are, where the last row is not whole.
    fn of(warp: i64, lanes: &[Lane], most: Option<&Expr>) -> Pieces {
        let extent = lanes.first().map_or(Expr::Int(1), |lane| lane.extent.clone());
        let rows: Expr = lanes.iter().skip(1).map(|lane| &lane.extent).product();
        let warp_e = Expr::Int(warp);
        let items = &extent * &rows;
        let items = most.map_or(items.clone(), |most| min(items, most));
        let warps = ceil_div(&items, &warp_e);
        let common = power_in(extent.clone(), warp);
        let together = quotient(&extent, &common) * &warp_e;
        let begin = &rows + &warps;
        let all = begin - ceil_div(&items, together);
        // A row is whole warps, or a warp whole rows, if what they have in common is one of them.
        let whole = is_zero(&common - warp_e);
        let uneven = choice(whole, 0, less(common, extent));
        let torn = choice(less(1, rows), uneven, 0);
        Pieces { torn, items, all, warps }
    }

    /// Pieces of a warp, in 64ths, on average.
    fn each(&self) -> Expr {
        quotient(SHARES * &self.all, &self.warps)
    }
}

/// Passes, in 64ths, of a memory with banks of 4 bytes that a request of `words` words a lane
/// takes, in as many phases, each for half or a quarter of the lanes.
///
/// Within a phase, lanes at a distance of `s` words meet in the same bank as often as `s` has
/// powers of two with the number of banks. Rows (further digits) that meet are served in sequence.
pub(super) fn passes(device: &Device<'_>, lanes: &[Lane], most: Option<&Expr>, words: i64) -> Expr {
    let places = (device.banks / words).max(1);
    let rows = SHARES * passes_of_rows(device, lanes, words, words);
    let rows = match pairs(device, lanes, words) {
        Expr::Int(0) => rows,
        pairs => {
            // In half the phases, each for twice the lanes.
            let twice = passes_of_rows(device, lanes, words, words / 2);
            device.known.narrowed(choice(pairs, SHARES * twice, rows))
        }
    };
    let [first, second, ..] = lanes else { return rows };
    // A row without gaps that is longer than what is served at once: the piece of the next one
    // meets the first unless it goes on where that ends.
    let pieces = Pieces::of(places, lanes, most);
    let dense = is_zero(&first.distance - (4 * words));
    let long = less(places, &first.extent);
    let end = &first.extent * &first.distance;
    let gap = quotient(&second.distance - &end, 4);
    let goes_on = is_zero(remainder(gap, device.banks));
    let same = is_zero(&second.distance);
    let one = choice(&same, 1, goes_on);
    let each = choice(one, SHARES, pieces.each());
    let apart = less(end - 1, &second.distance);
    let clear = choice(&same, 1, apart);
    let torn = all([pieces.torn, dense, long, clear]);
    device.known.narrowed(choice(torn, words * each, rows))
}

/// 1 if neighbouring lanes have one address in pairs, which share a phase of a wide request.
fn pairs(device: &Device<'_>, lanes: &[Lane], words: i64) -> Expr {
    match lanes.first() {
        Some(first) if words > 1 && device.has(Part::Broadcast) => {
            let even = is_zero(remainder(&first.extent, 2));
            all([is_zero(&first.distance), even])
        }
        _ => Expr::Int(0),
    }
}

/// The same in whole passes, in `phases` phases, where a row is whole warps or a warp whole rows.
fn passes_of_rows(device: &Device<'_>, lanes: &[Lane], words: i64, phases: i64) -> Expr {
    let places = (device.banks / words).max(1);
    let mut left = Expr::Int((device.banks / phases).max(1));
    let mut all = Expr::Int(1);
    // Words that a row reaches over; 0 as long as all lanes have the same address.
    let mut span = Expr::Int(0);
    // Whether they leave no gaps.
    let mut dense = Expr::Int(1);
    for Lane { distance, extent } in lanes {
        let lanes = min(&left, extent);
        let step = max(1, quotient(distance, 4 * words));
        let common = power_in(step, places);
        let many = &lanes * common * words;
        let alone = max(1, ceil_div(many, device.banks));
        let first = is_zero(&span);
        let still = is_zero(distance);
        let offset = quotient(distance, 4);
        // Rows that do not meet their neighbours go round the banks.
        let period = max(&span, power_in(max(1, &offset), device.banks));
        let round = ceil_div(&lanes * period, device.banks);
        let row = choice(meet(device, distance.clone(), span.clone()), &lanes, round);
        // Rows that begin inside each other have words in common.
        let inside = less(&offset, &span);
        let longer = &span + (&lanes - 1) * &offset;
        let union = max(&all, ceil_div(&longer, device.banks));
        let union = choice(&dense, union, &all);
        let more = choice(&inside, union, &all * row);
        let more = choice(&first, alone, more);
        all = device.known.narrowed(choice(still, all, more));
        let close = less(distance, 4 * words + 1);
        dense = device.known.narrowed(choice(&first, close, dense));
        let reach = lanes * offset;
        span = device.known.narrowed(choice(first, reach, choice(inside, longer, span)));
        left = device.known.narrowed(rows(left, extent.clone()));
    }
    phases * all
}

/// Whether rows of `span` bytes meet in banks at this distance in bytes.
fn meet(device: &Device<'_>, distance: Expr, span: Expr) -> Expr {
    let banks = Expr::Int(device.banks);
    let offset = remainder(quotient(distance, 4), &banks);
    let span = min(span, &banks);
    let below = less(&offset, &span);
    Expr::binary(BinaryOp::Or, below, less(banks - offset, span))
}

/// On how many rows of `extent` lanes `lanes` lanes are; uneven ones begin inside of a row.
fn rows(lanes: Expr, extent: Expr) -> Expr {
    let divided = |a: &Expr, by: &Expr| is_zero(remainder(a, by));
    let whole = quotient(&lanes, &extent);
    let more = 1 + ceil_div(&lanes, &extent);
    let even = choice(divided(&lanes, &extent), whole, more);
    choice(divided(&extent, &lanes), 1, even)
}

/// The greatest power of two up to `most`, itself one, that divides a number of at least 1.
fn power_in(number: Expr, most: i64) -> Expr {
    let powers = (1..63).map(|bit| 1_i64 << bit).take_while(|power| *power <= most);
    powers.fold(Expr::Int(1), |less, power| choice(is_zero(remainder(&number, power)), power, less))
}

/// Lines, in 64ths, that a request of `bytes` bytes a lane touches. `aligned`: whether its rows
/// begin where they lie in as few as they can; if not, they begin at any element.
pub(super) fn lines(
    device: &Device<'_>,
    lanes: &[Lane],
    most: Option<&Expr>,
    bytes: i64,
    aligned: &Expr,
) -> Expr {
    let Some((first, others)) = lanes.split_first() else { return Expr::Int(SHARES) };
    let touched = |all: Expr| touched(device.line, all, bytes, aligned);
    let (warp, shares) = (Expr::Int(device.warp), Expr::Int(SHARES));
    let pieces = Pieces::of(device.warp, lanes, most);
    let row = min(warp, &first.extent);
    // From the first to the last lane of a piece.
    let piece = quotient(&first.distance * &pieces.items, &pieces.all);
    let length = max(0, piece - &first.distance);
    let own = min(&shares * row, touched(&length + bytes));
    let own = choice(is_zero(&first.distance), &shares, own);
    let mut apart = device.known.narrowed(own);
    let mut span = bytes + length;
    // On how many rows a warp lies, in 64ths.
    let mut left = pieces.each();
    for Lane { distance, extent } in others {
        let rows = min(&left, &shares * extent);
        let more = distance * (&rows - &shares);
        span = device.known.narrowed(span + quotient(more, &shares));
        let more = choice(is_zero(distance), &apart, part_of(&apart, rows));
        apart = device.known.narrowed(more);
        left = device.known.narrowed(max(&shares, quotient(left, extent)));
    }
    device.known.narrowed(min(apart, touched(span)))
}

/// Lines, in 64ths, that bytes in such elements touch: the mean over where they may begin.
fn touched(line: i64, bytes: Expr, element: i64, aligned: &Expr) -> Expr {
    let parts = |bytes: Expr| quotient(SHARES * bytes, line);
    let anywhere = SHARES + parts(&bytes - element);
    choice(aligned, SHARES * ceil_div(bytes, line), anywhere)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn device() -> Device<'static> {
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
        all_places(digits).into_iter().take(32).collect()
    }

    /// The same of all lanes of a group.
    fn all_places(digits: &[(i64, i64)]) -> Vec<i64> {
        let place = |mut lane: i64| {
            let mut at = 0;
            for (distance, extent) in digits {
                at += lane % extent * distance;
                lane /= extent;
            }
            at
        };
        let items = digits.iter().map(|(_, extent)| extent).product::<i64>();
        (0..items).map(place).collect()
    }

    /// Phase by phase, the most different words in one bank.
    fn counted(digits: &[(i64, i64)], words: usize) -> i64 {
        passes_of(&places(digits), words)
    }

    /// The same of these lanes.
    fn passes_of(places: &[i64], words: usize) -> i64 {
        let phase = |lanes: &[i64]| {
            let mut banks: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
            for at in lanes {
                for word in at / 4..at / 4 + words as i64 {
                    banks.entry(word % 32).or_default().insert(word);
                }
            }
            banks.values().map(BTreeSet::len).max().unwrap_or(0) as i64
        };
        places.chunks(32 / words).map(phase).sum()
    }

    #[test]
    fn passes_of_one_digit_are_those_of_the_banks() {
        for words in [1, 2, 4] {
            for step in 0..80 {
                let digits = [(4 * words * step, 32)];
                let own = value(&passes(&device(), &lanes(&digits), None, words));
                let wanted = match step {
                    // Each phase is served once, and two phases of pairs together.
                    0 => (words / 2).max(1),
                    _ => counted(&digits, words as usize),
                };
                assert_eq!(own, SHARES * wanted, "{words} words at {step} times their size");
            }
        }
    }

    #[test]
    fn passes_of_rows() {
        // A row of a matrix; its columns, which meet in one bank; and those of one with a column
        // more.
        let of =
            |digits: &[(i64, i64)]| value(&passes(&device(), &lanes(digits), None, 1)) / SHARES;
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
        // Rows of 16 bytes that go round the banks, as those of fragments.
        for pitch in (4..80).step_by(4) {
            let digits = [(4, 4), (4 * pitch, 8)];
            assert_eq!(of(&digits), counted(&digits, 1), "pitch {pitch} of rows of 4");
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
            let own = value(&lines(&device(), &lanes(&digits), None, bytes, &Expr::Int(1)));
            assert_eq!(own, SHARES * wanted.len() as i64, "{digits:?}");
        }
    }

    #[test]
    fn lines_of_a_request_that_begins_anywhere() {
        // A row of this length: the mean over all elements of a line with which it may begin.
        for (length, bytes) in itertools::iproduct!([1, 2, 8, 16, 31, 32], [1, 4, 8, 16]) {
            let own = lines(&device(), &lanes(&[(bytes, length)]), None, bytes, &Expr::Int(0));
            let of = |start: i64| (start * bytes + length * bytes - 1) / 128 + 1;
            let starts = 128 / bytes;
            let all: i64 = (0..starts).map(of).sum();
            assert_eq!(value(&own), SHARES * all / starts, "{length} times {bytes} bytes");
        }
    }

    #[test]
    fn warps_that_begin_in_one_row_and_end_in_the_next() {
        for (length, rows, gap) in
            itertools::iproduct!([34, 48, 80, 112, 176, 240], [1, 2, 3, 4, 8], [0, 14, 32, 50])
        {
            let digits = [(4, length), (4 * (length + gap), rows)];
            let own = value(&passes(&device(), &lanes(&digits), None, 1));
            let warps: Vec<Vec<i64>> =
                all_places(&digits).chunks(32).map(<[i64]>::to_vec).collect();
            let all: i64 = warps.iter().map(|warp| passes_of(warp, 1)).sum();
            assert_eq!(own, SHARES * all / warps.len() as i64, "{digits:?}");
        }
        // Lines of rows that begin anywhere, each for itself: within a fortieth, for roundings.
        for (length, rows) in itertools::iproduct!([12, 20, 24, 34, 48, 80, 176, 240], [2, 3, 4, 8])
        {
            let digits = [(4, length), (4 * 4110, rows)];
            let own = value(&lines(&device(), &lanes(&digits), None, 4, &Expr::Int(0))) as f64
                / SHARES as f64;
            let places = all_places(&digits);
            let touched = |warp: &[i64], start: i64| {
                warp.iter().map(|at| (at + 4 * start) / 128).collect::<BTreeSet<i64>>().len()
            };
            let warps = places.chunks(32).len();
            let all: usize = (0..32)
                .flat_map(|start| places.chunks(32).map(move |warp| touched(warp, start)))
                .sum();
            let wanted = all as f64 / 32.0 / warps as f64;
            assert!((own / wanted - 1.0).abs() < 0.025, "{digits:?}: {own}, {wanted}");
        }
    }
}
