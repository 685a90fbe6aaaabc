//! How many elements a group has in a dimension: a product of macros, found by giving each name a
//! value with its own prime.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_expr::Expr;
use tickbound_opencl::steps::{AddressSpace, Stride, SymbolExpr};

use crate::draft::Draft;
use crate::found::{Found, Seen, in_problem};

/// Two values for each name, each with a prime factor that no other number has: what
/// holds for one of them by chance does not hold for the other.
pub(crate) struct Samples {
    structural: Vec<String>,
    names: IndexMap<String, Sample>,
}

/// The values of a name, and their prime.
struct Sample {
    prime: i64,
    values: Pair,
    input: bool,
}

/// A number for each of the two values of names.
pub(crate) type Pair = [i64; 2];

/// What values are multiples of: so that quotients by small numbers are exact. Inputs are longer
/// than what groups have.
const EXACT: Pair = [840, 2520];
const LONGER: i64 = 8;
/// The primes of names.
const PRIMES: [i64; 32] = [
    29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127,
    131, 137, 139, 149, 151, 157, 163, 167, 173, 179,
];
/// Greatest numbers that what is known is divided by.
const DIVISORS: i64 = 16;

impl Samples {
    pub fn new(draft: &Draft, structural: &[String]) -> Samples {
        let open = draft.parameters.keys().filter(|name| !structural.contains(name));
        let inputs = draft.inputs.keys().map(|name| (name, true));
        let names = inputs.chain(open.map(|name| (name, false))).zip(PRIMES);
        let sample = |prime: i64, input: bool| {
            let values = EXACT.map(|exact| exact * prime * if input { LONGER } else { 1 });
            Sample { prime, values, input }
        };
        let names = names.map(|((name, input), prime)| (name.clone(), sample(prime, input)));
        Samples { structural: structural.to_vec(), names: names.collect() }
    }

    /// The values of a number, for these values of structural macros, for the ids `ids`.
    fn value(
        &self,
        draft: &Draft,
        number: &SymbolExpr,
        values: &[i64],
        ids: &dyn Fn(&str) -> Option<i64>,
    ) -> Option<Pair> {
        let known: SymbolExpr = number
            .replace(&mut |name: &String| {
                Ok::<_, ()>(ids(name).map_or_else(|| Expr::Name(name.clone()), Expr::Int))
            })
            .ok()?;
        let known = in_problem(&known, draft)?;
        let of = |k: usize| {
            let known: Result<Expr, ()> = known.replace(&mut |name: &String| {
                let place = self.structural.iter().position(|n| n == name);
                let of_text = place.and_then(|i| values.get(i)).copied();
                of_text
                    .or_else(|| self.names.get(name).map(|s| s.values[k]))
                    .map(Expr::Int)
                    .ok_or(())
            });
            known.ok()?.eval(&[]).ok()
        };
        Some([of(0)?, of(1)?])
    }

    /// How far neighbouring groups are apart in stores, else in loads.
    pub fn share(
        &self,
        draft: &Draft,
        found: &Found<'_>,
        (d, values): (usize, &[i64]),
    ) -> Option<Share> {
        let of = |store: bool| {
            let global = |s: &&Seen<'_>| {
                matches!(s.access.space, AddressSpace::Global | AddressSpace::Constant)
            };
            let some =
                found.accesses.iter().filter(global).filter(move |s| s.access.store == store);
            let distance = |s: &Seen<'_>| {
                let apart = match s.access.groups.get(d) {
                    Some(Stride::Elements(n) | Stride::Shifted(n)) => {
                        self.value(draft, n, values, &|_| None)?
                    }
                    _ => self.growth(
                        draft,
                        s.access.offset.as_ref()?,
                        &format!("$group_{d}"),
                        values,
                    )?,
                };
                let share = self.quotient(apart, [draft.lanes(s.access); 2])?;
                Some(self.repeated(draft, s, (d, values), share))
            };
            some.filter_map(distance).collect_vec()
        };
        let more = |share: &Share| share.constant != 1 || !share.factors.is_empty();
        // A store of one element for each group, or of a few, as reductions have it, shows nothing
        // of what the group reads.
        let named = |share: &Share| !share.factors.is_empty();
        of(true)
            .into_iter()
            .find(named)
            .or_else(|| of(false).into_iter().find(named))
            .or_else(|| of(true).into_iter().find(more))
            .or_else(|| of(false).into_iter().find(more))
            .or_else(|| of(true).pop())
    }

    /// The share of a group whose items go on by the width of the launch, as often as macros state.
    fn repeated(
        &self,
        draft: &Draft,
        seen: &Seen<'_>,
        (d, values): (usize, &[i64]),
        mut share: Share,
    ) -> Share {
        let Some(offset) = &seen.access.offset else { return share };
        let growth = |id: String| self.growth(draft, offset, &id, values);
        let number = |n: &SymbolExpr| self.value(draft, n, values, &|_| None);
        let groups = number(&Expr::Name(format!("$groups_{d}")));
        let Some((apart, groups)) = growth(format!("$group_{d}")).zip(groups) else { return share };
        let width = [0, 1].map(|k| apart[k].saturating_mul(groups[k]));
        // The width of the launch may also be a row, or a plane, of the next dimension.
        let higher = (d + 1..draft.asked).filter_map(|d| growth(format!("$group_{d}")));
        if higher.into_iter().any(|step| (0..2).all(|k| width[k] > 0 && step[k] % width[k] == 0)) {
            return share;
        }
        for (k, count) in seen.loops.iter().enumerate() {
            let times = number(count).and_then(|n| self.quotient(n, [1, 1]));
            if let Some(times) = times.filter(|times| times.row.is_none() && times.divisor == 1)
                && growth(format!("$turn_{k}")) == Some(width)
            {
                share.constant = share.constant.saturating_mul(times.constant);
                share.factors.extend(times.factors);
            }
        }
        share
    }

    /// An input by which the iterations of a loop are apart.
    pub fn row(&self, draft: &Draft, found: &Found<'_>, values: &[i64]) -> Option<String> {
        let rows = found.accesses.iter().flat_map(|seen| {
            let offset = seen.access.offset.as_ref();
            let turns = (0..seen.loops.len()).map(|k| format!("$turn_{k}"));
            turns.filter_map(move |turn| {
                let apart = self.growth(draft, offset?, &turn, values)?;
                self.quotient(apart, [draft.lanes(seen.access); 2])
            })
        });
        rows.filter(|share| share.is_one()).find_map(|share| share.row)
    }

    /// The inputs that one more group in a dimension multiplies in an address.
    pub fn inputs(
        &self,
        draft: &Draft,
        seen: &Seen<'_>,
        (d, values): (usize, &[i64]),
    ) -> Vec<String> {
        let offset = seen.access.offset.as_ref();
        let growth = offset.and_then(|n| self.growth(draft, n, &format!("$group_{d}"), values));
        let has = |s: &Sample| s.input && growth.is_some_and(|[n, _]| n % s.prime == 0);
        let names = self.names.iter().filter(|(_, sample)| has(sample));
        names.map(|(name, _)| name.clone()).collect()
    }

    /// How much one more of an id adds to a number, away from where ids begin.
    pub fn growth(
        &self,
        draft: &Draft,
        number: &SymbolExpr,
        id: &str,
        values: &[i64],
    ) -> Option<Pair> {
        let at = |value: i64| {
            let ids = |name: &str| {
                let is_id =
                    ["$group_", "$lid_", "$turn_"].iter().any(|start| name.starts_with(start));
                is_id.then_some(if name == id { value } else { 1 })
            };
            self.value(draft, number, values, &ids)
        };
        // Groups are as long as what is exact; an item may be less.
        let step = if id.starts_with("$group_") { 1 } else { EVEN };
        let (before, after) = (at(step)?, at(2 * step)?);
        let apart =
            |k: usize| after[k].checked_sub(before[k])?.checked_div(step).filter(|n| *n != 0);
        Some([apart(0)?.abs(), apart(1)?.abs()])
    }

    /// How much one more group in a dimension adds to a number with ids.
    pub fn step(
        &self,
        draft: &Draft,
        number: &SymbolExpr,
        (d, values): (usize, &[i64]),
    ) -> Option<Share> {
        self.quotient(self.growth(draft, number, &format!("$group_{d}"), values)?, [1, 1])
    }

    /// A quotient as a product of names and of a fraction; `None` if it is none.
    pub fn quotient(&self, a: Pair, b: Pair) -> Option<Share> {
        (1..=DIVISORS).find_map(|divisor| {
            let of = |k: usize| {
                let times = a[k].checked_mul(divisor)?;
                (times > 0 && b[k] > 0 && times % b[k] == 0).then(|| self.factors(times / b[k], k))
            };
            let share = of(0).filter(|share| Some(share) == of(1).as_ref())?;
            Some(Share { divisor, ..share })
        })
    }

    /// A number as a product of names.
    fn factors(&self, number: i64, k: usize) -> Share {
        let mut share = Share { constant: number, of_group: false, ..Share::of_group() };
        for (name, Sample { prime, values, input }) in &self.names {
            if number % prime != 0 || share.constant % values[k] != 0 {
                continue;
            }
            share.constant /= values[k];
            match input {
                true => share.row = Some(name.clone()),
                false => share.factors.push(name.clone()),
            }
        }
        // Rows may have a border.
        let near = |s: &Sample| s.input && (share.constant - s.values[k]).abs() <= BORDER;
        let bordered = self.names.iter().find(|(_, sample)| near(sample));
        if let (None, Some((name, _))) = (&share.row, bordered) {
            share.row = Some(name.clone());
            share.constant = 1;
        }
        share
    }
}

/// Steps of ids that small numbers divide.
const EVEN: i64 = 48;

/// Most elements around a row.
const BORDER: i64 = 64;

/// How many elements a group has in a dimension: a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Share {
    pub constant: i64,
    pub factors: Vec<String>,
    /// The input that is the length of a row, for dimensions above 0.
    pub row: Option<String>,
    /// What the product is divided by.
    pub divisor: i64,
    /// All items of a group have one element together.
    pub of_group: bool,
}

impl Share {
    /// One element for a group as a whole.
    pub fn of_group() -> Share {
        Share { constant: 1, factors: Vec::new(), row: None, divisor: 1, of_group: true }
    }

    /// Whether it is one element.
    pub fn is_one(&self) -> bool {
        self.constant == 1 && self.factors.is_empty() && self.divisor == 1
    }

    /// The share for all readings: where they differ, by values of macros that the text depends on.
    pub fn together(structural: &[String], shares: &[(&[i64], Share)]) -> Option<Share> {
        let (_, first) = shares.first()?;
        let differs = |s: &Share| (&s.factors, s.divisor) != (&first.factors, first.divisor);
        if shares.iter().any(|(_, share)| differs(share)) {
            return None;
        }
        let constants =
            shares.iter().map(|(values, share)| (*values, share.constant)).collect_vec();
        let (constant, names) = fit(structural, &constants)?;
        let mut share = first.clone();
        share.constant = constant;
        share.factors.extend(names);
        Some(share)
    }

    /// As an expression.
    pub fn text(&self) -> String {
        let product = product(self.constant, &self.factors);
        match self.divisor {
            1 => product,
            divisor => format!("{} / {divisor}", in_brackets(&product)),
        }
    }
}

pub(crate) fn product(constant: i64, factors: &[String]) -> String {
    let constant = (constant != 1 || factors.is_empty()).then(|| constant.to_string());
    constant.into_iter().chain(factors.iter().cloned()).join(" * ")
}

/// A constant, and names of macros that the text depends on, whose product is the number of each
/// reading.
pub(crate) fn fit(structural: &[String], numbers: &[(&[i64], i64)]) -> Option<(i64, Vec<String>)> {
    // One that has the same value everywhere explains nothing.
    let differs = |i: &usize| !numbers.iter().map(|(values, _)| values.get(*i)).all_equal();
    let names = (0..structural.len()).filter(differs).collect_vec();
    let mut some = (0..=3).flat_map(|n| names.iter().copied().combinations(n));
    some.find_map(|some| {
        let rest = numbers.iter().map(|(values, number)| {
            let mut each = some.iter().map(|i| values.get(*i).copied().unwrap_or(1));
            let product = each.try_fold(1_i64, i64::checked_mul)?;
            (product > 0 && number % product == 0).then(|| number / product)
        });
        let constant = rest.collect::<Option<Vec<i64>>>()?.into_iter().all_equal_value().ok()?;
        Some((constant, some.iter().map(|i| structural[*i].clone()).collect()))
    })
}

/// An expression as a factor.
pub(crate) fn in_brackets(text: &str) -> String {
    if text.contains(' ') { format!("({text})") } else { text.to_owned() }
}
