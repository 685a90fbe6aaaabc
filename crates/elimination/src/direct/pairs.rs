//! Tables over pairs of variables whose pathwidth is too large for a sequence.
//!
//! Costs move between the tables and the values of their variables until the least entries add up
//! to as much as possible (A. Globerson and T. Jaakkola, *Fixing max-product: convergent message
//! passing algorithms for MAP LP-relaxations*, NIPS 2007). The sum is a lower bound, and values
//! that it excludes are removed. What is left is divided, a value at a time, with the same bound in
//! each box.

use super::answer::{Known, Solved};
use super::descend::Descent;
use super::form::{DirectForm, FORBIDDEN};
use super::relax::{NEVER, SCALE, whole_cost};

/// Sweeps over all pairs at first, and in each box after.
const SWEEPS: [usize; 2] = [400, 24];
/// Descents from assignments drawn at random.
const DESCENTS: u32 = 50;

/// Variables, and tables over two of them.
struct Pairs<'f> {
    form: &'f DirectForm,
    /// What the values of each variable cost by themselves.
    single: Vec<Vec<i64>>,
    /// Two variables, and the costs of their combinations.
    pairs: Vec<(usize, usize, Vec<i64>)>,
    /// The pairs of each variable, and whether it is the second of them.
    of: Vec<Vec<(usize, bool)>>,
}

/// Values that are left, and the costs that pairs have given to their variables' values.
#[derive(Clone)]
struct ValueBox {
    alive: Vec<Vec<bool>>,
    given: Vec<[Vec<i64>; 2]>,
}

/// A sum that stays impossible once it is.
fn plus(a: i64, b: i64) -> i64 {
    if a >= NEVER || b >= NEVER { NEVER } else { a + b }
}

impl<'f> Pairs<'f> {
    /// `None` if there is more than tables over one and two variables.
    fn new(form: &'f DirectForm) -> Option<Pairs<'f>> {
        if !form.is_plain() {
            return None;
        }
        let scaled = |e: &i64| if *e == FORBIDDEN { NEVER } else { e * SCALE };
        let (mut single, mut pairs) = (Vec::new(), Vec::<(usize, usize, Vec<i64>)>::new());
        single.extend(form.sizes.iter().map(|size| vec![0; *size]));
        for table in &form.tables {
            let entries = || table.entries.iter().map(scaled);
            let known = match table.variables[..] {
                [v] => &mut single[v],
                [v, w] => match pairs.iter().position(|(a, b, _)| (*a, *b) == (v, w)) {
                    Some(known) => &mut pairs[known].2,
                    None => {
                        pairs.push((v, w, entries().collect()));
                        continue;
                    }
                },
                _ => return None,
            };
            known.iter_mut().zip(entries()).for_each(|(cost, more)| *cost = plus(*cost, more));
        }
        let mut of = vec![Vec::new(); form.sizes.len()];
        for (p, (a, b, _)) in pairs.iter().enumerate() {
            of[*a].push((p, false));
            of[*b].push((p, true));
        }
        Some(Pairs { form, single, pairs, of })
    }

    fn whole(&self) -> ValueBox {
        let given = |(a, b, _): &(usize, usize, Vec<i64>)| {
            [vec![0; self.form.sizes[*a]], vec![0; self.form.sizes[*b]]]
        };
        ValueBox {
            alive: self
                .single
                .iter()
                .map(|costs| costs.iter().map(|c| *c < NEVER).collect())
                .collect(),
            given: self.pairs.iter().map(given).collect(),
        }
    }

    /// What each value of a variable costs with all that pairs have given to it.
    fn costs(&self, of: &ValueBox, v: usize) -> Vec<i64> {
        let mut costs = self.single[v].clone();
        for (p, second) in &self.of[v] {
            let given = &of.given[*p][usize::from(*second)];
            costs.iter_mut().zip(given).for_each(|(cost, more)| *cost = plus(*cost, *more));
        }
        costs
            .iter_mut()
            .zip(&of.alive[v])
            .filter(|(_, alive)| !**alive)
            .for_each(|(c, _)| *c = NEVER);
        costs
    }

    /// The least of each row and of each column of a pair, with costs of the rows and the columns
    /// added.
    fn least(&self, p: usize, rows: &[i64], columns: &[i64]) -> [Vec<i64>; 2] {
        let mut least = [vec![NEVER; rows.len()], vec![NEVER; columns.len()]];
        for (i, row) in rows.iter().enumerate().filter(|(_, row)| **row < NEVER) {
            let entries = &self.pairs[p].2[i * columns.len()..][..columns.len()];
            for (j, (entry, column)) in entries.iter().zip(columns).enumerate() {
                if *entry < NEVER && *column < NEVER {
                    least[0][i] = least[0][i].min(entry + column);
                    least[1][j] = least[1][j].min(entry + row);
                }
            }
        }
        least
    }

    /// What nothing in a box undercuts, in units of a bound.
    fn bound(&self, of: &ValueBox) -> i64 {
        let least = |costs: Vec<i64>| costs.into_iter().min().unwrap_or(NEVER);
        let single = (0..self.single.len()).map(|v| least(self.costs(of, v)));
        let pair = (0..self.pairs.len()).map(|p| {
            let (a, b, _) = self.pairs[p];
            let rest = |v: usize, given: &[i64]| -> Vec<i64> {
                let each = given.iter().zip(&of.alive[v]);
                each.map(|(given, alive)| if *alive { -given } else { NEVER }).collect()
            };
            let (rows, columns) = (rest(a, &of.given[p][0]), rest(b, &of.given[p][1]));
            let [by_row, _] = self.least(p, &rows, &columns);
            by_row.iter().zip(&rows).map(|(least, row)| plus(*least, *row)).min().unwrap_or(NEVER)
        });
        single.chain(pair).fold(SCALE * self.form.accumulators[0].start, plus)
    }

    /// For each pair in turn: its costs and those of its variables' values are divided equally
    /// between the two.
    fn sweep(&self, of: &mut ValueBox) {
        for (p, (a, b, _)) in self.pairs.iter().enumerate() {
            let own = |v: usize, given: &[i64]| -> Vec<i64> {
                let costs = self.costs(of, v);
                costs
                    .iter()
                    .zip(given)
                    .map(|(c, g)| if *c >= NEVER { NEVER } else { c - g })
                    .collect()
            };
            let both = [own(*a, &of.given[p][0]), own(*b, &of.given[p][1])];
            let least = self.least(p, &both[0], &both[1]);
            for (side, v) in [*a, *b].into_iter().enumerate() {
                for (i, least) in least[side].iter().enumerate() {
                    let gone = *least >= NEVER || both[side][i] >= NEVER;
                    of.alive[v][i] &= !gone;
                    of.given[p][side][i] =
                        if gone { 0 } else { (least - both[side][i]).div_euclid(2) };
                }
            }
        }
    }

    /// Removes the values with which nothing is at most `most`.
    fn remove(&self, of: &mut ValueBox, bound: i64, most: i64) {
        for v in 0..self.single.len() {
            let costs = self.costs(of, v);
            let least = costs.iter().copied().min().unwrap_or(NEVER);
            let stays = |cost: &i64| plus(bound - least, *cost) <= most;
            of.alive[v] = costs.iter().map(|cost| *cost < NEVER && stays(cost)).collect();
        }
    }
}

/// The search for the least cost.
struct PairSearch<'s, 'f> {
    pairs: Pairs<'f>,
    descent: Descent<'f>,
    boxes: u64,
    stop: &'s dyn Fn() -> bool,
    report: &'s mut dyn FnMut(Known<'_>),
}

/// The least cost of a form of tables over at most two variables; `None` for others.
pub(super) fn least(
    form: &DirectForm,
    stop: &dyn Fn() -> bool,
    report: &mut dyn FnMut(Known<'_>),
) -> Option<Solved> {
    let pairs = Pairs::new(form)?;
    let mut descent = Descent::new(form);
    let mut seed = 1u64;
    for _ in 0..DESCENTS {
        if stop() {
            return None;
        }
        let mut draw = |size: &usize| {
            // Knuth's linear congruential generator, from MMIX.
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % *size as u64) as u32
        };
        descent.from(form.sizes.iter().map(&mut draw).collect());
    }
    let whole = pairs.whole();
    let mut search = PairSearch { pairs, descent, boxes: 0, stop, report };
    let proved = search.search(whole, SWEEPS[0]);
    Some(Solved { proved, best: search.descent.best, steps: search.boxes })
}

impl PairSearch<'_, '_> {
    /// The greatest bound of what would be better.
    fn most(&self) -> i64 {
        self.descent.best.as_ref().map_or(NEVER - 1, |(cost, _)| SCALE * (cost - 1))
    }

    /// Searches a box to the end; false at a stop.
    fn search(&mut self, mut of: ValueBox, sweeps: usize) -> bool {
        self.boxes += 1;
        let mut last = i64::MIN;
        for sweep in 1..=sweeps {
            self.pairs.sweep(&mut of);
            if sweep % 4 != 0 && sweep != sweeps {
                continue;
            }
            let bound = self.pairs.bound(&of);
            if sweeps == SWEEPS[0] {
                (self.report)(self.descent.known(whole_cost(bound)));
            }
            if bound > self.most() {
                return true;
            }
            if (self.stop)() {
                return false;
            }
            self.descent.from(self.rounded(&of));
            self.pairs.remove(&mut of, bound, self.most());
            if bound < last.saturating_add(SCALE / 50) {
                break;
            }
            last = bound;
        }
        self.divide(of)
    }

    /// Searches the values of the variable with the fewest left, the cheapest first.
    fn divide(&mut self, of: ValueBox) -> bool {
        let left = |v: &usize| of.alive[*v].iter().filter(|alive| **alive).count();
        let all = 0..of.alive.len();
        if all.clone().any(|v| left(&v) == 0) {
            return true;
        }
        let Some(v) = all.filter(|v| left(v) > 1).min_by_key(left) else {
            self.descent.offer(&self.rounded(&of));
            return true;
        };
        let costs = self.pairs.costs(&of, v);
        let mut values: Vec<usize> = (0..costs.len()).filter(|i| of.alive[v][*i]).collect();
        values.sort_by_key(|i| costs[*i]);
        values.into_iter().all(|value| {
            let mut part = of.clone();
            part.alive[v].iter_mut().enumerate().for_each(|(i, alive)| *alive = i == value);
            self.search(part, SWEEPS[1])
        })
    }

    /// The cheapest value of each variable.
    fn rounded(&self, of: &ValueBox) -> Vec<u32> {
        let cheapest = |v: usize| {
            let costs = self.pairs.costs(of, v);
            (0..costs.len()).min_by_key(|i| costs[*i]).unwrap_or_default() as u32
        };
        (0..of.alive.len()).map(cheapest).collect()
    }
}
