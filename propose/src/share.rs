//! How many elements a group has in a dimension: a product of macros, found by giving each name a value with a prime of its own.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::Expr;
use tickbound_opencl_c::steps::{Number, Space, Stride};

use crate::draft::Draft;
use crate::found::{Found, Seen, in_problem};

/// A value for each name, with a prime factor of its own that no other number has.
pub(crate) struct Samples {
    structural: Vec<String>,
    names: IndexMap<String, (i64, i64)>,
}

/// What values are multiples of: so that quotients by small numbers are exact.
const EXACT: i64 = 5040;
/// The primes of names.
const PRIMES: [i64; 32] = [
    29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127,
    131, 137, 139, 149, 151, 157, 163, 167, 173, 179,
];

impl Samples {
    pub fn new(draft: &Draft, structural: &[String]) -> Samples {
        let open = draft.parameters.keys().filter(|name| !structural.contains(name));
        let names = draft.inputs.keys().chain(open).zip(PRIMES);
        let names = names.map(|(name, prime)| (name.clone(), (prime, EXACT * prime))).collect();
        Samples { structural: structural.to_vec(), names }
    }

    /// The value of a number, for these values of structural macros.
    fn value(&self, draft: &Draft, number: &Number, values: &[i64]) -> Option<i64> {
        let known: Result<Expr, ()> = in_problem(number, draft)?.replace(&mut |name: &String| {
            let of_text =
                self.structural.iter().position(|n| n == name).and_then(|i| values.get(i));
            let value = of_text.copied().or_else(|| self.names.get(name).map(|(_, value)| *value));
            value.map(Expr::Int).ok_or(())
        });
        known.ok()?.eval(&[]).ok()
    }

    /// How far neighbouring groups are apart in stores, else in loads.
    pub fn share(
        &self,
        draft: &Draft,
        found: &Found<'_>,
        (d, values): (usize, &[i64]),
    ) -> Option<Share> {
        let of = |store: bool| {
            let global = |s: &&Seen<'_>| matches!(s.access.space, Space::Global | Space::Constant);
            let some =
                found.accesses.iter().filter(global).filter(move |s| s.access.store == store);
            let distance = |s: &Seen<'_>| match s.access.groups.get(d) {
                Some(Stride::Elements(n) | Stride::Shifted(n)) => self.value(draft, n, values),
                _ => None,
            };
            some.filter_map(distance)
                .filter(|n| *n > 0)
                .map(|n| self.factors(draft, n))
                .collect_vec()
        };
        let more = |share: &Share| share.constant != 1 || !share.factors.is_empty();
        // A store of one element for each group, or of a few, as reductions have it, says nothing of what the group reads.
        let named = |share: &Share| !share.factors.is_empty();
        of(true)
            .into_iter()
            .find(named)
            .or_else(|| of(false).into_iter().find(named))
            .or_else(|| of(true).into_iter().find(more))
            .or_else(|| of(false).into_iter().find(more))
            .or_else(|| of(true).pop())
    }

    /// How much one more group in a dimension adds to a number with ids.
    pub fn step(
        &self,
        draft: &Draft,
        number: &Number,
        (d, values): (usize, &[i64]),
    ) -> Option<Share> {
        let at = |group: i64| {
            let known: Result<Number, ()> = number.replace(&mut |name: &String| {
                let id = name.starts_with("$group_") || name.starts_with("$lid_");
                Ok(match id {
                    true => Expr::Int(if *name == format!("$group_{d}") { group } else { 0 }),
                    false => Expr::Name(name.clone()),
                })
            });
            self.value(draft, &known.ok()?, values)
        };
        let step = at(1)?.checked_sub(at(0)?)?.checked_abs().filter(|step| *step > 0)?;
        Some(self.factors(draft, step))
    }

    /// A number as a product of names.
    fn factors(&self, draft: &Draft, number: i64) -> Share {
        let mut share = Share { constant: number, factors: Vec::new(), row: None };
        for (name, (prime, value)) in &self.names {
            if number % prime != 0 || share.constant % value != 0 {
                continue;
            }
            share.constant /= value;
            match draft.inputs.contains_key(name) {
                true => share.row = Some(name.clone()),
                false => share.factors.push(name.clone()),
            }
        }
        // Rows may have a border.
        let near = |value: i64| (share.constant - value).abs() <= BORDER;
        let bordered =
            self.names.iter().find(|(name, (_, v))| draft.inputs.contains_key(*name) && near(*v));
        if let (None, Some((name, _))) = (&share.row, bordered) {
            share.row = Some(name.clone());
            share.constant = 1;
        }
        share
    }
}

/// Most elements around a row.
const BORDER: i64 = 64;

/// How many elements a group has in a dimension: a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Share {
    pub constant: i64,
    pub factors: Vec<String>,
    /// The input that is the length of a row, for dimensions above 0.
    pub row: Option<String>,
}

impl Share {
    /// The share for all readings: where they differ, by values of macros that the text depends on.
    pub fn together(structural: &[String], shares: &[(&[i64], Share)]) -> Option<Share> {
        let (_, first) = shares.first()?;
        let alike = shares.iter().filter(|(_, share)| share.factors == first.factors).collect_vec();
        if alike.len() < shares.len() {
            return None;
        }
        let constants = alike.iter().map(|(values, share)| (*values, share.constant)).collect_vec();
        let (constant, names) = fit(structural, &constants)?;
        let mut share = first.clone();
        share.constant = constant;
        share.factors.extend(names);
        Some(share)
    }

    /// As an expression.
    pub fn text(&self) -> String {
        product(self.constant, &self.factors)
    }
}

pub(crate) fn product(constant: i64, factors: &[String]) -> String {
    let constant = (constant != 1 || factors.is_empty()).then(|| constant.to_string());
    constant.into_iter().chain(factors.iter().cloned()).join(" * ")
}

/// A constant, and names of macros that the text depends on, whose product is the number of each reading.
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
