//! The language and the rules that egg works with.
//!
//! Programs and numbers share one language. A program is `work`, `until`, `mark`, `skip`, `seq`,
//! `rep` (at least once), `join` (two threads that meet at a barrier with equal marks) and `meet`
//! (the same where no later wait asks for the mark). `keep` and `set` are the two closed shapes of
//! [`Jump`](crate::plan::Jump). Each rule is an identity of max-plus matrices; `docs/encodings.md`
//! derives them.
//!
//! ```
//! use tickbound_encodings::max_plus::rules::{closing, Numbers};
//! use egg::{AstSize, Extractor, Runner};
//! // Ten times: work 3, then wait for the mark plus 4. The mark was never set, the work dominates.
//! let program = "(rep 10 (seq (work 3) (until 4)))".parse().unwrap();
//! let runner = Runner::<_, Numbers>::default().with_expr(&program).run(&closing());
//! let (_, best) = Extractor::new(&runner.egraph, AstSize).find_best(runner.roots[0]);
//! assert_eq!(best.to_string(), "(keep 30 32)");
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use egg::{
    Analysis, DidMerge, EGraph, Id, Rewrite, Subst, Symbol, Var, define_language, rewrite as rw,
};

define_language! {
    /// Programs and numbers in max-plus arithmetic; the module's documentation names the operators.
    #[allow(missing_docs)]
    pub enum MaxPlus {
        Num(i64),
        "never" = Never,
        "+" = Add([Id; 2]),
        "*" = Mul([Id; 2]),
        "max" = Max([Id; 2]),
        "work" = Work([Id; 1]),
        "until" = Until([Id; 1]),
        "mark" = Mark,
        "skip" = Skip,
        "seq" = Seq([Id; 2]),
        "rep" = Rep([Id; 2]),
        "join" = Join([Id; 2]),
        "meet" = Meet([Id; 2]),
        "keep" = Keep([Id; 2]),
        "set" = Set([Id; 3]),
        Sym(Symbol),
    }
}

/// Most configurations for which the analysis keeps every value; beyond it keeps ranges only.
pub const MAX_VECTOR: usize = 4096;

/// What a symbol may be: its value in each configuration.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    /// Values of each symbol, in a common order of configurations.
    pub symbols: HashMap<Symbol, Arc<Vec<i64>>>,
}

/// What is known of a number; `None` for programs, for `never`, and where 128 bits overflow (times
/// may leave 64 bits in configurations that are far from the best).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownNumbers {
    /// Least and greatest value over all configurations.
    pub range: Option<(i128, i128)>,
    /// The value in each configuration.
    pub values: Option<Arc<Vec<i128>>>,
}

impl KnownNumbers {
    fn constant(v: i128) -> KnownNumbers {
        KnownNumbers { range: Some((v, v)), values: None }
    }

    fn of(values: Vec<i128>) -> KnownNumbers {
        let range = values.iter().copied().min().zip(values.iter().copied().max());
        match range {
            Some((low, high)) if low == high => KnownNumbers::constant(low),
            _ => KnownNumbers {
                range,
                values: (values.len() <= MAX_VECTOR).then(|| Arc::new(values)),
            },
        }
    }

    /// Applies an operation that is monotone in both operands over the ranges met here.
    fn combine(
        &self,
        other: &KnownNumbers,
        op: impl Fn(i128, i128) -> Option<i128>,
    ) -> KnownNumbers {
        let (Some(a), Some(b)) = (self.range, other.range) else { return KnownNumbers::default() };
        let width = self.values.as_ref().or(other.values.as_ref()).map(|v| v.len());
        let Some(width) = width else {
            if a.0 == a.1 && b.0 == b.1 {
                return op(a.0, b.0).map_or_else(KnownNumbers::default, KnownNumbers::constant);
            }
            let corners = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
            let corners: Option<Vec<i128>> = corners.iter().map(|(x, y)| op(*x, *y)).collect();
            let range = corners.and_then(|c| c.iter().copied().min().zip(c.into_iter().max()));
            return KnownNumbers { range, values: None };
        };
        let at = |k: &KnownNumbers, i: usize, low: i128| k.values.as_ref().map_or(low, |v| v[i]);
        // A range without values on one side cannot be combined point by point.
        if [(self, a), (other, b)].iter().any(|(k, r)| k.values.is_none() && r.0 != r.1) {
            return KnownNumbers::default();
        }
        let values: Option<Vec<i128>> =
            (0..width).map(|i| op(at(self, i, a.0), at(other, i, b.0))).collect();
        values.map_or_else(KnownNumbers::default, KnownNumbers::of)
    }

    /// True if this number is at least `other` in every configuration.
    fn dominates(&self, other: &KnownNumbers) -> bool {
        let (Some(a), Some(b)) = (self.range, other.range) else { return false };
        if a.0 >= b.1 {
            return true;
        }
        match (&self.values, &other.values) {
            (Some(x), Some(y)) => x.iter().zip(y.iter()).all(|(x, y)| x >= y),
            (Some(x), None) => x.iter().all(|x| *x >= b.1),
            (None, Some(y)) => y.iter().all(|y| a.0 >= *y),
            (None, None) => false,
        }
    }
}

impl Analysis<MaxPlus> for Numbers {
    type Data = KnownNumbers;

    fn make(egraph: &mut EGraph<MaxPlus, Self>, node: &MaxPlus, _id: Id) -> KnownNumbers {
        let known = |id: &Id| &egraph[*id].data;
        match node {
            MaxPlus::Num(v) => KnownNumbers::constant(i128::from(*v)),
            MaxPlus::Sym(s) => {
                egraph.analysis.symbols.get(s).map_or_else(KnownNumbers::default, |v| {
                    KnownNumbers::of(v.iter().map(|v| i128::from(*v)).collect())
                })
            }
            MaxPlus::Add([a, b]) => known(a).combine(known(b), i128::checked_add),
            MaxPlus::Mul([a, b]) => known(a).combine(known(b), i128::checked_mul),
            MaxPlus::Max([a, b]) => known(a).combine(known(b), |x, y| Some(x.max(y))),
            _ => KnownNumbers::default(),
        }
    }

    fn merge(&mut self, to: &mut KnownNumbers, from: KnownNumbers) -> DidMerge {
        if to.range.is_none() && from.range.is_some() {
            *to = from;
            return DidMerge(true, false);
        }
        DidMerge(false, *to != from)
    }

    fn modify(egraph: &mut EGraph<MaxPlus, Self>, id: Id) {
        let Some((low, high)) = egraph[id].data.range else { return };
        let Ok(value) = i64::try_from(low) else { return };
        if low != high || egraph[id].nodes.iter().any(|n| matches!(n, MaxPlus::Num(_))) {
            return;
        }
        let from = egraph[id].nodes[0].clone();
        let known = egraph.add(MaxPlus::Num(value));
        if egraph.are_explanations_enabled() {
            let from = egraph.lookup(from).unwrap_or(id);
            egraph.union_trusted(from, known, "same-in-every-configuration");
        } else {
            egraph.union(id, known);
        }
    }
}

type Rule = Rewrite<MaxPlus, Numbers>;

/// Rules that close programs: they make each one without a failed `join` a `keep` or a `set`.
pub fn closing() -> Vec<Rule> {
    let mut rules = vec![
        rw!("work"; "(work ?a)" => "(keep ?a never)"),
        rw!("until"; "(until ?a)" => "(keep 0 (+ ?a 1))"),
        rw!("mark"; "mark" => "(set 0 never 0)"),
        rw!("skip"; "skip" => "(keep 0 never)"),
        rw!("keep-keep"; "(seq (keep ?a ?b) (keep ?c ?d))"
            => "(keep (+ ?a ?c) (max (+ ?b ?c) ?d))"),
        rw!("keep-set"; "(seq (keep ?a ?b) (set ?c ?d ?e))"
            => "(set (+ ?a ?c) (max (+ ?b ?c) ?d) ?e)"),
        rw!("set-keep"; "(seq (set ?c ?d ?e) (keep ?a ?b))"
            => "(set ?c ?d (max (+ ?e ?a) ?b))"),
        rw!("set-set"; "(seq (set ?c ?d ?e) (set ?f ?g ?h))"
            => "(set (+ ?c (max (+ ?e ?f) ?g)) (+ ?d (max (+ ?e ?f) ?g)) ?h)"),
        rw!("rep-keep"; "(rep ?n (keep ?a ?b))"
            => "(keep (* ?n ?a) (+ ?b (* (+ ?n -1) ?a)))"
            if at_least("?a", 0) if at_least("?n", 1)),
        rw!("rep-set"; "(rep ?n (set ?c ?d ?e))"
            => "(set (+ ?c (* (+ ?n -1) (max (+ ?e ?c) ?d)))
                     (+ ?d (* (+ ?n -1) (max (+ ?e ?c) ?d))) ?e)"
            if at_least("?n", 1)),
        rw!("join-keep"; "(join (keep ?a ?b) (keep ?c ?d))" => "(keep (max ?a ?c) (max ?b ?d))"),
        rw!("join-set"; "(join (set ?c ?d ?e) (set ?c ?d ?f))" => "(set ?c ?d (max ?e ?f))"),
        rw!("meet-keep"; "(meet (keep ?a ?b) (keep ?c ?d))" => "(keep (max ?a ?c) (max ?b ?d))"),
        rw!("meet-set"; "(meet (set ?c ?d ?e) (set ?f ?g ?h))"
            => "(keep (max (+ ?c ?e) (+ ?f ?h)) (max (+ ?d ?e) (+ ?g ?h)))"),
        rw!("meet-keep-set"; "(meet (keep ?a ?b) (set ?c ?d ?e))"
            => "(keep (max ?a (+ ?c ?e)) (max ?b (+ ?d ?e)))"),
        rw!("meet-set-keep"; "(meet (set ?c ?d ?e) (keep ?a ?b))"
            => "(keep (max ?a (+ ?c ?e)) (max ?b (+ ?d ?e)))"),
    ];
    rules.extend(identities());
    rules
}

/// Identities that only ever shrink.
fn identities() -> Vec<Rule> {
    vec![
        rw!("add-never-left"; "(+ never ?a)" => "never"),
        rw!("add-never-right"; "(+ ?a never)" => "never"),
        rw!("max-never-left"; "(max never ?a)" => "?a"),
        rw!("max-never-right"; "(max ?a never)" => "?a"),
        rw!("add-0-left"; "(+ 0 ?a)" => "?a"),
        rw!("add-0-right"; "(+ ?a 0)" => "?a"),
        rw!("mul-1-left"; "(* 1 ?a)" => "?a"),
        rw!("mul-1-right"; "(* ?a 1)" => "?a"),
        rw!("max-same"; "(max ?a ?a)" => "?a"),
        rw!("max-left"; "(max ?a ?b)" => "?a" if dominates("?a", "?b")),
        rw!("max-right"; "(max ?a ?b)" => "?b" if dominates("?b", "?a")),
    ]
}

/// Rules that make closed numbers smaller: commutativity, associativity under the node limit of the
/// run, and distributivity towards fewer products.
pub fn shrinking() -> Vec<Rule> {
    let mut rules = identities();
    rules.extend(vec![
        rw!("add-commutes"; "(+ ?a ?b)" => "(+ ?b ?a)"),
        rw!("max-commutes"; "(max ?a ?b)" => "(max ?b ?a)"),
        rw!("mul-commutes"; "(* ?a ?b)" => "(* ?b ?a)"),
        rw!("add-associates"; "(+ (+ ?a ?b) ?c)" => "(+ ?a (+ ?b ?c))"),
        rw!("max-associates"; "(max (max ?a ?b) ?c)" => "(max ?a (max ?b ?c))"),
        rw!("factor"; "(+ (* ?a ?b) (* ?a ?c))" => "(* ?a (+ ?b ?c))"),
        rw!("factor-once"; "(+ (* ?a ?b) ?a)" => "(* ?a (+ ?b 1))"),
        rw!("less-one"; "(+ (* (+ ?n -1) ?a) ?a)" => "(* ?n ?a)"),
        rw!("max-of-sums"; "(max (+ ?a ?b) (+ ?a ?c))" => "(+ ?a (max ?b ?c))"),
    ]);
    rules
}

fn at_least(
    var: &str,
    least: i128,
) -> impl Fn(&mut EGraph<MaxPlus, Numbers>, Id, &Subst) -> bool + use<> {
    let var: Var = var.parse().unwrap_or_else(|_| Var::from_u32(0));
    move |egraph, _, subst| egraph[subst[var]].data.range.is_some_and(|(low, _)| low >= least)
}

fn dominates(
    a: &str,
    b: &str,
) -> impl Fn(&mut EGraph<MaxPlus, Numbers>, Id, &Subst) -> bool + use<> {
    let parse = |v: &str| v.parse().unwrap_or_else(|_| Var::from_u32(0));
    let (a, b): (Var, Var) = (parse(a), parse(b));
    move |egraph, _, subst| egraph[subst[a]].data.dominates(&egraph[subst[b]].data)
}
