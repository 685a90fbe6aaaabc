//! Formulas on infinite runs against two evaluators that share nothing with the search: every lasso
//! of small automata, on which a formula is a fixpoint, and the textbook's tableau of truth values,
//! in which fair paths are a fixpoint as well. `TICKBOUND_CASES` says how many cases there are.

use crate::check::{automaton, chosen, ends, words};
use crate::values;

use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::check::{Lasso, Ltl, counterexample};
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::limits::ProductLimits;

/// A formula over the names with numbers.
#[derive(Debug, Clone)]
enum F {
    Name(usize),
    Not(Box<F>),
    And(Box<F>, Box<F>),
    Implies(Box<F>, Box<F>),
    Next(Box<F>),
    Finally(Box<F>),
    Globally(Box<F>),
    Until(Box<F>, Box<F>),
    Release(Box<F>, Box<F>),
}
use F::{And, Finally, Globally, Implies, Name, Next, Not, Release, Until};

impl F {
    fn text(&self) -> String {
        match self {
            Name(k) => ["a", "b", "c"][*k].to_owned(),
            Not(f) => format!("!{}", f.text()),
            Next(f) => format!("X {}", f.text()),
            Finally(f) => format!("F {}", f.text()),
            Globally(f) => format!("G({})", f.text()),
            And(f, g) => format!("({} & {})", f.text(), g.text()),
            Implies(f, g) => format!("({} -> {})", f.text(), g.text()),
            Until(f, g) => format!("({} U {})", f.text(), g.text()),
            Release(f, g) => format!("({} R {})", f.text(), g.text()),
        }
    }

    /// At which moments of a lasso it holds: names that fire as bits, and to which moment the last
    /// one leads. `U` is the least, `R` the greatest solution of its equation.
    fn on(&self, fire: &[u8], back: usize) -> Vec<bool> {
        let next = |k: usize| if k + 1 == fire.len() { back } else { k + 1 };
        let each = |f: &dyn Fn(usize) -> bool| (0..fire.len()).map(f).collect::<Vec<bool>>();
        let settled = |start: bool, step: &dyn Fn(usize, bool) -> bool| {
            let mut now = vec![start; fire.len()];
            for _ in 0..=fire.len() {
                now = each(&|k| step(k, now[next(k)]));
            }
            now
        };
        let of = |f: &F| f.on(fire, back);
        match self {
            Name(name) => each(&|k| fire[k] >> name & 1 == 1),
            Not(f) => of(f).into_iter().map(|b| !b).collect(),
            And(f, g) => of(f).into_iter().zip(of(g)).map(|(f, g)| f && g).collect(),
            Implies(f, g) => of(f).into_iter().zip(of(g)).map(|(f, g)| !f || g).collect(),
            Next(f) => {
                let f = of(f);
                each(&|k| f[next(k)])
            }
            Finally(f) => {
                let f = of(f);
                settled(false, &|k, later| f[k] || later)
            }
            Globally(f) => {
                let f = of(f);
                settled(true, &|k, later| f[k] && later)
            }
            Until(f, g) => {
                let (f, g) = (of(f), of(g));
                settled(false, &|k, later| g[k] || f[k] && later)
            }
            Release(f, g) => {
                let (f, g) = (of(f), of(g));
                settled(true, &|k, later| g[k] && (f[k] || later))
            }
        }
    }
}

/// Some formula with at most so many signs.
fn formula(signs: u32) -> impl Strategy<Value = F> {
    let name = (0..3usize).prop_map(Name);
    name.prop_recursive(4, signs, 2, |inner| {
        let one = inner.clone().prop_map(Box::new);
        let two = (inner.clone().prop_map(Box::new), inner.prop_map(Box::new));
        prop_oneof![
            one.clone().prop_map(Not),
            one.clone().prop_map(Next),
            one.clone().prop_map(Finally),
            one.prop_map(Globally),
            two.clone().prop_map(|(f, g)| And(f, g)),
            two.clone().prop_map(|(f, g)| Implies(f, g)),
            two.clone().prop_map(|(f, g)| Until(f, g)),
            two.prop_map(|(f, g)| Release(f, g)),
        ]
    })
}

/// Steps (from, names as bits, to) without those that do nothing, and with one that fires nothing
/// where there is none.
fn steps(automaton: &Automaton) -> Vec<(u32, u8, u32)> {
    let (_, names) = words();
    let bit = |n| 1 << names.iter().position(|m| *m == n).expect("a name");
    let mut all = Vec::new();
    for state in 0..automaton.states() as u32 {
        let steps = automaton.steps(state).filter(|s| !automaton.is_idle(s));
        let before = all.len();
        all.extend(steps.map(|s| (state, automaton.fires(&s).map(bit).sum(), s.to)));
        if all.len() == before {
            all.push((state, 0, state));
        }
    }
    all
}

fn verdict(automaton: &Automaton, text: &str) -> Option<Lasso> {
    let (symbols, names) = words();
    let formula = Ltl::parse(text, &names, &symbols).unwrap_or_else(|e| panic!("{e}"));
    counterexample(automaton, &formula, &ProductLimits::memory(1 << 28)).expect("enough memory")
}

/// The names of a lasso's steps as bits, and where its cycle begins; stuck, it fires nothing for
/// ever.
fn fire(lasso: &Lasso) -> (Vec<u8>, usize) {
    let (_, names) = words();
    let bits =
        |fire: &Vec<_>| (0..3).filter(|k| fire.contains(&names[*k])).map(|k| 1 << k).sum::<u8>();
    let steps = lasso.run.steps.iter().chain(&lasso.cycle);
    let mut all: Vec<u8> = steps.map(|(fire, _)| bits(fire)).collect();
    if lasso.cycle.is_empty() {
        all.push(0);
    }
    (all, lasso.run.steps.len())
}

/// Whether a lasso is a run of the automaton whose cycle leads back, or which is stuck at its end.
fn is_run(automaton: &Automaton, lasso: &Lasso) -> bool {
    let here = |state| {
        let mut builder = AutomatonBuilder::over(words().1, automaton.states(), vec![state]);
        for step in automaton.all_steps() {
            let fire: Vec<_> = automaton.fires(&step).collect();
            builder.step(step.from, &fire, automaton.constraint(&step).clone(), step.to);
        }
        builder.finish().expect("an automaton")
    };
    let state = lasso.run.state;
    let stuck = automaton.steps(state).all(|s| automaton.is_idle(&s));
    ends(automaton, &lasso.run.steps).contains(&state)
        && match lasso.cycle.is_empty() {
            true => stuck,
            false => ends(&here(state), &lasso.cycle).contains(&state),
        }
}

/// A lasso of `automaton` that breaks the formula, among all up to a length that grows until there
/// are many.
fn broken(automaton: &Automaton, formula: &F) -> Option<(Vec<u8>, usize)> {
    let all = steps(automaton);
    let mut paths: Vec<(Vec<u32>, Vec<u8>)> =
        automaton.initial().iter().map(|s| (vec![*s], Vec::new())).collect();
    while paths.len() < 400 && paths[0].1.len() < 7 {
        let mut longer = Vec::new();
        for (states, fire) in paths {
            let at = states[states.len() - 1];
            for (_, bits, to) in all.iter().filter(|s| s.0 == at) {
                let fire = [&fire[..], &[*bits]].concat();
                for back in (0..states.len()).filter(|k| states[*k] == *to) {
                    if !formula.on(&fire, back)[0] {
                        return Some((fire, back));
                    }
                }
                longer.push(([&states[..], &[*to]].concat(), fire));
            }
        }
        paths = longer;
    }
    None
}

/// The parts of a formula whose truth at the next moment has to be guessed.
fn guessed<'f>(formula: &'f F, all: &mut Vec<&'f F>) {
    match formula {
        Name(_) => {}
        Not(f) => guessed(f, all),
        And(f, g) | Implies(f, g) => [f, g].into_iter().for_each(|f| guessed(f, all)),
        Next(f) | Finally(f) | Globally(f) => {
            guessed(f, all);
            all.push(formula);
        }
        Until(f, g) | Release(f, g) => {
            [f, g].into_iter().for_each(|f| guessed(f, all));
            all.push(formula);
        }
    }
}

/// Whether a formula holds now, if these names fire and what is guessed holds: of `X f` that it
/// does, of others that they do at the next moment.
fn now(formula: &F, fire: u8, guesses: u32, all: &[&F]) -> bool {
    let later = || {
        let at = all.iter().position(|g| std::ptr::eq(*g, formula)).expect("a guess");
        guesses >> at & 1 == 1
    };
    let now = |f: &F| self::now(f, fire, guesses, all);
    match formula {
        Name(k) => fire >> k & 1 == 1,
        Not(f) => !now(f),
        And(f, g) => now(f) && now(g),
        Implies(f, g) => !now(f) || now(g),
        Next(_) => later(),
        Finally(f) => now(f) || later(),
        Globally(f) => now(f) && later(),
        Until(f, g) => now(g) || now(f) && later(),
        Release(f, g) => now(g) && (now(f) || later()),
    }
}

/// Whether some infinite run breaks a formula; nothing if there are too many guesses.
fn breakable(automaton: &Automaton, formula: &F) -> Option<bool> {
    let mut all = Vec::new();
    guessed(formula, &mut all);
    if all.len() > 5 {
        return None;
    }
    let steps = steps(automaton);
    let guesses = 1u32 << all.len();
    let nodes: Vec<((u32, u8, u32), u32)> =
        steps.iter().flat_map(|s| (0..guesses).map(|g| (*s, g))).collect();
    let holds = |f: &F, ((_, fire, _), g): ((u32, u8, u32), u32)| now(f, fire, g, &all);
    // What is guessed is what holds behind.
    let leads = |a: usize, b: usize| {
        let (one, other) = (nodes[a], nodes[b]);
        one.0.2 == other.0.0
            && all.iter().enumerate().all(|(k, f)| {
                let inner = if let Next(inner) = f { inner } else { *f };
                (one.1 >> k & 1 == 1) == holds(inner, other)
            })
    };
    let onward: Vec<Vec<usize>> =
        (0..nodes.len()).map(|a| (0..nodes.len()).filter(|b| leads(a, *b)).collect()).collect();
    // What is promised is kept at some time; what does not always hold fails at some time.
    let kept = |f: &F, node: usize| match f {
        Finally(g) | Until(_, g) => holds(g, nodes[node]) || !holds(f, nodes[node]),
        Globally(g) | Release(_, g) => holds(f, nodes[node]) || !holds(g, nodes[node]),
        _ => true,
    };
    let mut fair = vec![true; nodes.len()];
    loop {
        let before = fair.clone();
        for f in &all {
            // Those that reach, in one step or more, a fair one at which the promise is kept.
            let mut reach = vec![false; nodes.len()];
            let mut changed = true;
            while changed {
                changed = false;
                for node in (0..nodes.len()).filter(|n| fair[*n]) {
                    let good = |to: &usize| fair[*to] && (kept(f, *to) || reach[*to]);
                    if !reach[node] && onward[node].iter().any(good) {
                        reach[node] = true;
                        changed = true;
                    }
                }
            }
            fair = reach;
        }
        fair = (0..nodes.len()).map(|n| fair[n] && onward[n].iter().any(|to| fair[*to])).collect();
        if fair == before {
            break;
        }
    }
    let begins = |node: &usize| automaton.initial().contains(&nodes[*node].0.0);
    Some((0..nodes.len()).any(|n| fair[n] && begins(&n) && !holds(formula, nodes[n])))
}

proptest! {
    #![proptest_config(values::cases(1500))]

    #[test]
    fn lassos_break_and_no_other_does(automaton in automaton(), formula in formula(12)) {
        let lasso = verdict(&automaton, &formula.text());
        if let Some(lasso) = &lasso {
            prop_assert!(is_run(&automaton, lasso), "{lasso:?}");
            let (fire, back) = fire(lasso);
            prop_assert!(!formula.on(&fire, back)[0], "{} {fire:?} {back}", formula.text());
        } else {
            prop_assert_eq!(broken(&automaton, &formula), None, "{}", formula.text());
        }
    }

    #[test]
    fn the_tableau_agrees(automaton in automaton(), formula in formula(8)) {
        if let Some(breakable) = breakable(&automaton, &formula) {
            let lasso = verdict(&automaton, &formula.text());
            prop_assert_eq!(lasso.is_some(), breakable, "{}", formula.text());
        }
    }
}

/// A buffer: `a` and `b` in turn. In the second one `c` may fire for ever in between.
fn buffer(busy: bool) -> Automaton {
    let (_, names) = words();
    let mut builder = AutomatonBuilder::over(names, 2, vec![0]);
    let mut step = |from, bits, to| {
        _ = builder.step(from, &chosen(&words().1, bits), DataConstraint::default(), to);
    };
    step(0, 1, 1);
    step(1, 2, 0);
    if busy {
        step(1, 4, 1);
    }
    builder.finish().expect("an automaton")
}

#[test]
fn something_good_happens() {
    let shown = |automaton: &Automaton, text: &str| verdict(automaton, text).map(|l| fire(&l));
    for text in ["G F a", "G (a -> X b)", "F b", "!b U a", "(a R !b) & X b", "F G c -> false"] {
        assert_eq!(shown(&buffer(false), text), None, "{text}");
    }
    assert_eq!(shown(&buffer(true), "G F b"), Some((vec![1, 4], 1)));
    assert_eq!(shown(&buffer(true), "G (a -> F b)"), Some((vec![1, 4], 1)));
    assert_eq!(shown(&buffer(true), "G F c -> G F b"), Some((vec![1, 4], 1)));
    assert_eq!(shown(&buffer(true), "G (b -> X a)"), None);
    assert_eq!(shown(&buffer(false), "F G a"), Some((vec![1, 2], 0)));
}

#[test]
fn runs_that_end_fire_nothing_for_ever() {
    let (_, names) = words();
    let mut builder = AutomatonBuilder::over(names.iter().copied(), 2, vec![0]);
    builder.step(0, &names[..1], DataConstraint::default(), 1);
    // A step that does nothing is none.
    builder.step(1, &[], DataConstraint::default(), 1);
    let once = builder.finish().expect("an automaton");
    let lasso = verdict(&once, "G F a").expect("it stops");
    assert_eq!((lasso.run.steps.len(), lasso.run.state, lasso.cycle.len()), (1, 1, 0));
    assert_eq!(verdict(&once, "a & X G !a"), None);
    let none = AutomatonBuilder::over(names, 0, vec![]).finish().expect("an automaton");
    assert_eq!(verdict(&none, "false"), None);
}

#[test]
fn letters_are_signs_where_something_follows() {
    let mut symbols = tickbound_reo::symbol::Symbols::new();
    let names = ["F", "U", "a", "X[1]"].map(|w| symbols.name(w));
    let parse = |text: &str| Ltl::parse(text, &names, &symbols).map_err(|e| e.to_string());
    for (text, same) in [
        ("F F", "true U (F)"),
        ("F & a", "a & F"),
        ("G F F", "false R (true U (F))"),
        ("(F) U U", "(F) U (U)"),
        ("!a U X[1]", "(!a) U X[1]"),
        ("a U X[1] & F a -> a", "((a U X[1]) & (F a)) -> a"),
        ("!X !a", "X a"),
        ("!(a U F)", "!a R !F"),
    ] {
        let (one, other) = (parse(text), parse(same));
        assert!(one.is_ok() && other.is_ok(), "{text}: {one:?} {other:?}");
        if text != "F & a" {
            assert_eq!(one, other, "{text}");
        }
    }
    assert!(parse("F & a").is_ok());
    for text in ["a U", "a U a U a", "G", "X[1] a", "a R R R a"] {
        assert!(parse(text).is_err(), "{text}");
    }
    for sign in ["F ", "G(", "!X "] {
        let text = format!("{}a{}", sign.repeat(100_000), ")".repeat(100_000));
        assert_eq!(parse(&text), Err("nested deeper than 64".into()), "{sign}");
    }
    let one = tickbound_reo::check::LtlFormula::parse("a -> F a", &names, &symbols);
    let error = "`a -> F a`: X, U, R, G and F speak of a whole run, this is a condition on each \
        step; use --ltl";
    assert_eq!(one.map_err(|e| e.to_string()), Err(error.into()));
}

#[test]
fn formulas_without_end_are_stopped() {
    let (symbols, names) = words();
    let many: String =
        (0..40).fold("true".into(), |all, k| format!("{all} & (F {}c | X G b)", "X ".repeat(k)));
    let formula = Ltl::parse(&many, &names, &symbols).expect("a formula");
    let found = counterexample(&buffer(true), &formula.negated(), &ProductLimits::memory(1 << 20));
    assert!(found.expect_err("too large").to_string().contains("over the limit"));
}
