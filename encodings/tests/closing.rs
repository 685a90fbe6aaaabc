//! The closing of programs: its rules one by one, its results against a literal interpreter, and
//! egg's own proofs step by step.

use std::collections::BTreeMap;
use std::sync::Arc;

use egg::{ENodeOrVar, FlatTerm, Id, Language, PatternAst, Rewrite, Var};
use indexmap::IndexMap;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use tickbound_encodings::max_plus::rules::{MaxPlus, Numbers, closing, shrinking};
use tickbound_encodings::max_plus::{MaxPlusTerm, close, explain};
use tickbound_encodings::plan::{AmountId, AmountOf, Jump, Op, Plan, Scalar};
use tickbound_encodings::system::InternalError;
use tickbound_model::Problem;

// ---- meaning
// --------------------------------------------------------------------------------------

/// Clock and mark.
type Clock = (i128, i128);

/// What an expression of the rules' language means.
#[derive(Clone)]
enum Meaning {
    /// A number; `None` is minus infinity.
    Number(Option<i128>),
    /// A map of clock and mark.
    Program(Arc<dyn Fn(Clock) -> Clock>),
}

use Meaning::{Number, Program};

impl Meaning {
    fn number(&self) -> Option<i128> {
        match self {
            Number(n) => *n,
            Program(_) => panic!("a program where a number belongs"),
        }
    }

    fn finite(&self) -> i128 {
        self.number().expect("a finite number")
    }

    fn program(&self) -> Arc<dyn Fn(Clock) -> Clock> {
        match self {
            Program(map) => map.clone(),
            Number(_) => panic!("a number where a program belongs"),
        }
    }
}

fn program(map: impl Fn(Clock) -> Clock + 'static) -> Meaning {
    Program(Arc::new(map))
}

/// The later of `clock + by` and `mark + after`, of which one may not count.
fn later((clock, mark): Clock, by: Option<i128>, after: Option<i128>) -> i128 {
    let both = (by.map(|b| clock + b), after.map(|a| mark + a));
    both.0.max(both.1).expect("one of both counts")
}

/// What a node means, given what its operands mean.
fn meaning(node: &MaxPlus, of: &[Meaning], symbol: &dyn Fn(&str) -> i128) -> Meaning {
    match node {
        MaxPlus::Num(v) => Number(Some(i128::from(*v))),
        MaxPlus::Sym(s) => Number(Some(symbol(s.as_str()))),
        MaxPlus::Never => Number(None),
        MaxPlus::Add(_) => Number(of[0].number().zip(of[1].number()).map(|(a, b)| a + b)),
        MaxPlus::Mul(_) => Number(Some(of[0].finite() * of[1].finite())),
        // `None` is the least of all options.
        MaxPlus::Max(_) => Number(of[0].number().max(of[1].number())),
        MaxPlus::Work(_) => {
            let ticks = of[0].finite();
            program(move |(clock, mark)| (clock + ticks, mark))
        }
        MaxPlus::Until(_) => {
            let ticks = of[0].finite();
            program(move |(clock, mark)| (clock.max(mark + ticks + 1), mark))
        }
        MaxPlus::Mark => program(|(clock, _)| (clock, clock)),
        MaxPlus::Skip => program(|at| at),
        MaxPlus::Seq(_) => {
            let (first, second) = (of[0].program(), of[1].program());
            program(move |at| second(first(at)))
        }
        MaxPlus::Rep(_) => {
            let (count, body) = (of[0].finite(), of[1].program());
            assert!(count >= 1, "a loop runs at least once");
            program(move |at| (0..count).fold(at, |at, _| body(at)))
        }
        MaxPlus::Join(_) => {
            let (one, other) = (of[0].program(), of[1].program());
            program(move |at| {
                let (one, other) = (one(at), other(at));
                assert_eq!(one.1, other.1, "threads that join have equal marks");
                (one.0.max(other.0), one.1)
            })
        }
        // No later wait asks for the mark; the closed forms keep the old one.
        MaxPlus::Meet(_) => {
            let (one, other) = (of[0].program(), of[1].program());
            program(move |at| (one(at).0.max(other(at).0), at.1))
        }
        MaxPlus::Keep(_) => {
            let (a, b) = (of[0].number(), of[1].number());
            program(move |at| (later(at, a, b), at.1))
        }
        MaxPlus::Set(_) => {
            let (c, d, e) = (of[0].number(), of[1].number(), of[2].finite());
            program(move |at| {
                let mark = later(at, c, d);
                (mark + e, mark)
            })
        }
    }
}

/// Clocks and marks to try a map on.
const STARTS: [Clock; 7] = [(0, 0), (0, 3), (5, 0), (2, 9), (9, 2), (40, 0), (0, 40)];

fn same(a: &Meaning, b: &Meaning) -> bool {
    match (a, b) {
        (Number(a), Number(b)) => a == b,
        (Program(a), Program(b)) => STARTS.iter().all(|at| a(*at) == b(*at)),
        _ => false,
    }
}

// ---- rules one by one
// -----------------------------------------------------------------------------

/// What a rule asks of its variables, by name.
type Asks = fn(&dyn Fn(&str) -> Option<i128>) -> bool;

/// Every rule, with its condition.
fn table() -> BTreeMap<&'static str, Asks> {
    let mut table: BTreeMap<&'static str, Asks> = BTreeMap::new();
    for name in [
        "work",
        "until",
        "mark",
        "skip",
        "keep-keep",
        "keep-set",
        "set-keep",
        "set-set",
        "join-keep",
        "join-set",
        "meet-keep",
        "meet-set",
        "meet-keep-set",
        "meet-set-keep",
        "add-never-left",
        "add-never-right",
        "max-never-left",
        "max-never-right",
        "add-0-left",
        "add-0-right",
        "mul-1-left",
        "mul-1-right",
        "max-same",
        "add-commutes",
        "max-commutes",
        "mul-commutes",
        "add-associates",
        "max-associates",
        "factor",
        "factor-once",
        "less-one",
        "max-of-sums",
    ] {
        table.insert(name, |_| true);
    }
    table.insert("rep-keep", |v| v("?a") >= Some(0) && v("?n") >= Some(1));
    table.insert("rep-set", |v| v("?n") >= Some(1));
    table.insert("max-left", |v| v("?b").is_some() && v("?a") >= v("?b"));
    table.insert("max-right", |v| v("?a").is_some() && v("?b") >= v("?a"));
    table
}

/// The variables of a pattern below `at`, and whether each may be `never`: not as a count, in a
/// product, or where a closed form wants a number.
fn variables(pattern: &PatternAst<MaxPlus>, at: Id, free: bool, found: &mut BTreeMap<Var, bool>) {
    match &pattern[at] {
        ENodeOrVar::Var(var) => *found.entry(*var).or_insert(true) &= free,
        ENodeOrVar::ENode(node) => {
            for (position, child) in node.children().iter().enumerate() {
                let free = match node {
                    MaxPlus::Keep(_) | MaxPlus::Set(_) => position == 1,
                    MaxPlus::Add(_) | MaxPlus::Max(_) => free,
                    _ => false,
                };
                variables(pattern, *child, free, found);
            }
        }
    }
}

fn of_pattern(pattern: &PatternAst<MaxPlus>, values: &BTreeMap<Var, Option<i128>>) -> Meaning {
    let mut all: Vec<Meaning> = Vec::new();
    for node in pattern.as_ref() {
        let value = match node {
            ENodeOrVar::Var(var) => Number(values[var]),
            ENodeOrVar::ENode(node) => {
                let of: Vec<Meaning> =
                    node.children().iter().map(|c| all[usize::from(*c)].clone()).collect();
                meaning(node, &of, &|name| panic!("the symbol {name} in a rule"))
            }
        };
        all.push(value);
    }
    all.pop().expect("a pattern is not empty")
}

/// Tries a rule on a grid of small numbers; returns on how many, or where it is wrong.
fn try_rule(rule: &Rewrite<MaxPlus, Numbers>, asks: Asks) -> Result<usize, String> {
    let left = rule.searcher.get_pattern_ast().expect("a pattern on the left");
    let right = rule.applier.get_pattern_ast().expect("a pattern on the right");
    let mut found = BTreeMap::new();
    variables(left, left.root(), true, &mut found);
    let variables: Vec<(Var, bool)> = found.into_iter().collect();
    let grid = [Some(0), Some(1), Some(3), Some(-2), None];
    let sizes: Vec<usize> = variables.iter().map(|(_, never)| if *never { 5 } else { 4 }).collect();
    let mut tried = 0;
    for number in 0..sizes.iter().product() {
        let (mut rest, mut values) = (number, BTreeMap::new());
        for ((var, _), size) in variables.iter().zip(&sizes) {
            values.insert(*var, grid[rest % size]);
            rest /= size;
        }
        if asks(&|name| values[&name.parse::<Var>().expect("a variable")]) {
            let (left, right) = (of_pattern(left, &values), of_pattern(right, &values));
            if !same(&left, &right) {
                return Err(format!("the rule {} is wrong for {values:?}", rule.name));
            }
            tried += 1;
        }
    }
    Ok(tried)
}

#[test]
fn every_rule_is_an_identity() {
    let mut table = table();
    let mut names = Vec::new();
    for rule in closing().iter().chain(&shrinking()) {
        let name = rule.name.to_string();
        let asks = *table.get(name.as_str()).unwrap_or_else(|| panic!("add {name} to the table"));
        let tried = try_rule(rule, asks).unwrap_or_else(|e| panic!("{e}"));
        assert!(tried > 0, "{name} was never tried");
        names.push(name);
    }
    table.retain(|name, _| !names.iter().any(|n| n == name));
    assert!(table.is_empty(), "no such rules: {:?}", table.keys());
}

#[test]
fn a_wrong_rule_is_found() {
    let wrong = |left: &str, right: &str| {
        let (left, right): (egg::Pattern<MaxPlus>, egg::Pattern<MaxPlus>) =
            (left.parse().expect("a pattern"), right.parse().expect("a pattern"));
        let rule = Rewrite::new("wrong", left, right).expect("a rule");
        try_rule(&rule, |_| true).is_err()
    };
    assert!(wrong("(until ?a)", "(keep 0 ?a)"));
    assert!(wrong("(rep 2 (keep ?a ?b))", "(keep (+ ?a ?a) (+ ?b ?a))"), "wrong for a negative ?a");
    assert!(wrong("(meet (set ?c ?d ?e) (set ?c ?d ?f))", "(set ?c ?d (max ?e ?f))"));
    assert!(wrong("(+ (* ?a ?b) ?a)", "(* ?a ?b)"));
}

// ---- random programs
// ------------------------------------------------------------------------------

/// Symbols: the first are numbers of ticks, the others counts of at least 1.
const SYMBOLS: usize = 6;

/// A term, and the values of its symbols in each configuration.
#[derive(Debug, Clone)]
struct Case {
    term: MaxPlusTerm,
    /// `values[symbol][configuration]`.
    values: Vec<Vec<i64>>,
    start: (i64, i64),
}

impl Case {
    fn values(&self) -> impl FnMut(AmountOf) -> Result<Arc<Vec<i64>>, InternalError> + '_ {
        |of| Ok(Arc::new(self.values[of.thread].clone()))
    }

    fn configurations(&self) -> usize {
        self.values[0].len()
    }

    fn number(&self, scalar: &Scalar, c: usize) -> Option<i128> {
        let two = |a: &Scalar, b: &Scalar| Some((self.number(a, c)?, self.number(b, c)?));
        match scalar {
            Scalar::Never => None,
            Scalar::Int(v) => Some(i128::from(*v)),
            Scalar::Amount(of) => Some(i128::from(self.values[of.thread][c])),
            Scalar::Add(a, b) => two(a, b).map(|(a, b)| a + b),
            Scalar::Mul(a, b) => two(a, b).map(|(a, b)| a * b),
            Scalar::Max(a, b) => self.number(a, c).max(self.number(b, c)),
        }
    }
}

/// Where a program got to: the clock, and the mark if it is one.
type Place = (i128, Option<i128>);

/// Runs a term literally. `Err` if it waits for a mark that threads do not agree on.
fn step(case: &Case, term: &MaxPlusTerm, c: usize, at: Place) -> Result<Place, ()> {
    let finite = |s: &Scalar| case.number(s, c).expect("a finite number");
    match term {
        MaxPlusTerm::Work(ticks) => Ok((at.0 + finite(ticks), at.1)),
        MaxPlusTerm::Until(ticks) => Ok((at.0.max(at.1.ok_or(())? + finite(ticks) + 1), at.1)),
        MaxPlusTerm::Mark => Ok((at.0, Some(at.0))),
        MaxPlusTerm::Seq(parts) => parts.iter().try_fold(at, |at, part| step(case, part, c, at)),
        MaxPlusTerm::Rep(count, body) => {
            (0..finite(count)).try_fold(at, |at, _| step(case, body, c, at))
        }
        MaxPlusTerm::Join { threads, mark_is_dead } => {
            let ends: Vec<Place> =
                threads.iter().map(|t| step(case, t, c, at)).collect::<Result<_, _>>()?;
            let clock = ends.iter().map(|e| e.0).max().expect("at least one thread");
            let agreed = !mark_is_dead && ends.iter().all(|e| e.1 == ends[0].1);
            Ok((clock, if agreed { ends[0].1 } else { None }))
        }
    }
}

/// What a jump does.
fn leap(case: &Case, jump: &Jump, c: usize, at: Clock) -> Clock {
    let n = |s: &Scalar| case.number(s, c);
    match jump {
        Jump::Keep { now, mark } => (later(at, n(now), n(mark)), at.1),
        Jump::Set { now, mark, after } => {
            let mark = later(at, n(now), n(mark));
            (mark + n(after).expect("a finite number"), mark)
        }
    }
}

/// Symbols are told apart by the field `thread`; any amount's identity serves.
fn some_amount() -> AmountId {
    let text = r#"{ "platform": { "units_per_device": 1, "elements_per_unit": 1,
        "global_access": 1 },
        "launch": { "global_size": 1, "local_size": 1 }, "kernel": [] }"#;
    let problem = Problem::from_json(text, &IndexMap::new(), &|_| unreachable!("no name"));
    let problem = problem.expect("a problem");
    let plan = Plan::new(&problem, &problem.space().expect("a space")).expect("a plan");
    let mut counts = plan.code.iter().filter_map(|op| match op {
        Op::Repeat { count, .. } => Some(*count),
        _ => None,
    });
    counts.next_back().expect("waves")
}

fn symbol(id: AmountId, symbols: std::ops::Range<usize>) -> BoxedStrategy<Scalar> {
    symbols.prop_map(move |thread| Scalar::Amount(AmountOf { id, thread, item: 0 })).boxed()
}

fn terms(id: AmountId) -> BoxedStrategy<MaxPlusTerm> {
    let ticks = prop_oneof![2 => (0..7_i64).prop_map(Scalar::Int), 3 => symbol(id, 0..4)];
    let count = prop_oneof![(1..4_i64).prop_map(Scalar::Int), symbol(id, 4..SYMBOLS)];
    let product = (count.clone(), ticks.clone())
        .prop_map(|(n, ticks)| Scalar::Mul(Box::new(n), Box::new(ticks)));
    let leaf = prop_oneof![
        4 => ticks.clone().prop_map(MaxPlusTerm::Work),
        1 => product.prop_map(MaxPlusTerm::Work),
        3 => ticks.prop_map(MaxPlusTerm::Until),
        1 => (-4..9_i64).prop_map(|n| MaxPlusTerm::Until(Scalar::Int(n))),
        2 => Just(MaxPlusTerm::Mark),
    ];
    leaf.prop_recursive(4, 20, 4, move |inner| {
        let thread = prop::collection::vec(inner.clone(), 0..3).prop_map(MaxPlusTerm::Seq);
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 0..4).prop_map(MaxPlusTerm::Seq),
            3 => (count.clone(), inner).prop_map(|(n, body)| MaxPlusTerm::Rep(n, Box::new(body))),
            2 => prop::collection::vec(thread, 1..4)
                .prop_map(|threads| MaxPlusTerm::Join { threads, mark_is_dead: false }),
        ]
    })
    .boxed()
}

/// Says of each join whether the mark is dead after it, and whether the term asks for the mark it
/// begins with; `needed`: something after the term does.
fn settle(term: &mut MaxPlusTerm, needed: bool) -> bool {
    match term {
        MaxPlusTerm::Work(_) => needed,
        MaxPlusTerm::Until(_) => true,
        MaxPlusTerm::Mark => false,
        MaxPlusTerm::Seq(parts) => {
            parts.iter_mut().rev().fold(needed, |needed, part| settle(part, needed))
        }
        MaxPlusTerm::Rep(_, body) => {
            let again = settle(body, needed);
            settle(body, needed || again)
        }
        MaxPlusTerm::Join { threads, mark_is_dead } => {
            *mark_is_dead = !needed;
            let asked: Vec<bool> = threads.iter_mut().map(|t| settle(t, needed)).collect();
            asked.contains(&true)
        }
    }
}

fn cases(needed: bool) -> impl Strategy<Value = Case> {
    let values = (1..4_usize).prop_flat_map(|configurations| {
        let of = |range| prop::collection::vec(range, configurations);
        (prop::collection::vec(of(0..7_i64), 4), prop::collection::vec(of(1..6_i64), SYMBOLS - 4))
    });
    (terms(some_amount()), values, (0..30_i64, 0..30_i64)).prop_map(
        move |(mut term, values, start)| {
            settle(&mut term, needed);
            Case { term, values: [values.0, values.1].concat(), start }
        },
    )
}

/// Runs `check` on random cases, with and without a need for the mark at the end; it returns
/// whether the term was closed. Returns how many of a hundred were.
fn each(number: u32, check: impl Fn(&Case) -> Result<bool, TestCaseError>) -> usize {
    let closed = std::cell::Cell::new(0);
    for needed in [false, true] {
        let rng_seed = RngSeed::Fixed(3);
        let config =
            Config { cases: number / 2, rng_seed, failure_persistence: None, ..Config::default() };
        let result = TestRunner::new(config).run(&cases(needed), |case| {
            closed.set(closed.get() + usize::from(check(&case)?));
            Ok(())
        });
        if let Err(e) = result {
            panic!("{e}");
        }
    }
    closed.get() * 100 / number as usize
}

#[test]
fn closed_terms_do_what_the_terms_do() {
    let share = each(10_000, |case| {
        let Some(closed) = close(&case.term, true, &mut case.values()).unwrap() else {
            return Ok(false);
        };
        for c in 0..case.configurations() {
            let at = (i128::from(case.start.0), i128::from(case.start.1));
            let literal = step(case, &case.term, c, (at.0, Some(at.1)));
            let (clock, mark) = leap(case, &closed.jump, c, at);
            let Ok((expected, agreed)) = literal else {
                return Err(TestCaseError::fail(format!("closed to {:?}", closed.jump)));
            };
            prop_assert_eq!(clock, expected, "the clock after {:?}", closed.jump);
            prop_assert!(agreed.is_none_or(|m| m == mark), "the mark after {:?}", closed.jump);
        }
        Ok(true)
    });
    assert!(share >= 60, "only {share} % were closed");
}

#[test]
fn terms_whose_threads_keep_different_marks_stay_open() {
    let work = |n| MaxPlusTerm::Work(Scalar::Int(n));
    let threads = vec![
        MaxPlusTerm::Seq(vec![MaxPlusTerm::Mark, work(2)]),
        MaxPlusTerm::Seq(vec![work(1), MaxPlusTerm::Mark]),
    ];
    let join = |mark_is_dead| MaxPlusTerm::Join { threads: threads.clone(), mark_is_dead };
    let none = &mut |_: AmountOf| unreachable!("no symbols");
    let until = MaxPlusTerm::Until(Scalar::Int(4));
    assert_eq!(close(&MaxPlusTerm::Seq(vec![join(false), until.clone()]), true, none), Ok(None));
    let closed = close(&MaxPlusTerm::Seq(vec![join(true), MaxPlusTerm::Mark, until]), true, none)
        .unwrap()
        .expect("closed");
    let number = |v| Scalar::Int(v);
    assert_eq!(closed.jump, Jump::Set { now: number(2), mark: Scalar::Never, after: number(5) });
}

// ---- egg's proofs
// ---------------------------------------------------------------------------------

fn of_flat(term: &FlatTerm<MaxPlus>, symbol: &dyn Fn(&str) -> i128) -> Meaning {
    let of: Vec<Meaning> = term.children.iter().map(|c| of_flat(c, symbol)).collect();
    meaning(&term.node, &of, symbol)
}

#[test]
fn each_step_of_a_proof_means_the_same() {
    let steps = std::cell::Cell::new(0);
    let share = each(800, |case| {
        let Some(mut proof) = explain(&case.term, &mut case.values()).unwrap() else {
            return Ok(false);
        };
        proof.closing.check_proof(&closing());
        proof.shrinking.check_proof(&shrinking());
        for explanation in [&mut proof.closing, &mut proof.shrinking] {
            let flat = explanation.make_flat_explanation();
            for c in 0..case.configurations() {
                let symbol = |name: &str| {
                    let index: usize = name[1..].parse().expect("a symbol");
                    case.number(&Scalar::Amount(proof.names[index]), c).expect("a finite number")
                };
                let first = of_flat(&flat[0], &symbol);
                for term in flat.iter() {
                    let equal = same(&of_flat(term, &symbol), &first);
                    prop_assert!(equal, "{} became {}", flat[0], term);
                }
            }
            steps.set(steps.get() + flat.len());
        }
        Ok(true)
    });
    assert!(share >= 60, "only {share} % were closed");
    assert!(steps.get() > 5_000, "only {} steps", steps.get());
}

#[test]
fn an_expression_of_the_rules_is_read_as_meant() {
    let of = |text: &str| {
        let expr: egg::RecExpr<MaxPlus> = text.parse().expect("an expression");
        let mut all: Vec<Meaning> = Vec::new();
        for node in expr.as_ref() {
            let at = |id: &Id| all[usize::from(*id)].clone();
            let of: Vec<Meaning> = node.children().iter().map(at).collect();
            all.push(meaning(node, &of, &|_| 3));
        }
        all.pop().expect("a node").program()
    };
    assert_eq!(of("(seq mark (seq (work x) (until 4)))")((10, 2)), (15, 10));
    assert_eq!(of("(rep x (seq (work 2) mark))")((1, 0)), (7, 7));
    assert_eq!(of("(meet (seq (work 2) mark) (work 5))")((1, 0)), (6, 0));
    assert_eq!(of("(join (work 2) (until 9))")((1, 0)), (10, 0));
}
