//! "Nothing finishes earlier" by induction over the steps of the path, as small questions in
//! SMT-LIB 2.
//!
//! In goes a path, out comes an invariant for each of its points, and the questions that show it.
//! The state is the tick `t`, the ticks `s` since the mark, and a counter for each loop. At each
//! point the invariant states
//!
//! ```text
//! t + (what is still to come at least) >= T, and s <= (what it is at most)
//! ```
//!
//! where both bounds are terms over what the parameters alone decide: the ticks of a step, the
//! count of a loop, the side of an `if`. What comes after a sequence of steps is a symbol, `rest`,
//! which is 0 at the end. There is one question for each way to get from one point to the next:
//! whether the invariant can hold before and not after. None of them knows the parameters, nor how
//! often anything is repeated. The last question is the only one that does: whether the invariant
//! can be wrong at the beginning, for some valid configuration. All answers must be `unsat`; then
//! `t >= T` at the end.
//!
//! The first iteration of a loop that marks, and waits before it does, is its own copy: it is
//! the only one that can begin otherwise. A loop that waits and does not mark is not covered.

use std::collections::HashMap;
use std::fmt::Write;

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::Problem;

use super::question::{of_product, space};
use super::terms::{SmtTerms, number, of_all};
use crate::refusal::Refusal;
use tickbound_timing::obligation::Obligation;
use tickbound_timing::obligation::path::Path;
use tickbound_timing::obligation::product::{Factor, ObligationError, TimeProduct, uncovered};
use tickbound_timing::obligation::step::{PathStep, PathStepKind, waits};
use tickbound_timing::obligation::sum::marks;

/// Most questions of one proof.
const MAX_QUESTIONS: usize = 10_000;

/// The questions, in sequence in one text.
///
/// # Errors
/// There is no path, a loop waits and does not mark, the text would be too long, or a stop.
pub fn induction(
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<String, Refusal> {
    let path = whole(Path::new(obligation.problem)?, obligation.problem);
    let mut known = Known { since: waits(&path), ..Known::default() };
    let points = known.points(&path, "0".into())?;
    let mut questions = Questions { since: known.since, ..Questions::default() };
    questions.sequence(&points, &[])?;
    let mut terms = SmtTerms::new(obligation, stop);
    let valid = space(&mut terms, obligation)?;
    let mut meanings = String::new();
    for (meaning, symbol) in &known.meanings {
        let meaning = meaning.term(&mut terms)?;
        let _ = writeln!(meanings, "{}(assert (= {symbol} {meaning}))", terms.definitions());
    }
    let mut text = String::from(
        "; No step gets below the bound, and it is not below T at the beginning: each answer of a \
         true claim is unsat.\n\
         (set-logic QF_NIA)\n(declare-fun t () Int)\n(declare-fun s () Int)\n(declare-fun rest () \
         Int)\n",
    );
    let _ = writeln!(text, "(define-fun T () Int {})", number(i128::from(time)));
    text.push_str(&known.declarations);
    text.push_str(&questions.text);
    let first = format!("(assert (< {} T))\n", points.cost);
    let _ = write!(
        text,
        "; at the beginning, for some valid configuration\n(push \
         1)\n{valid}{meanings}{first}(check-sat)\n(pop 1)\n"
    );
    Ok(text)
}

/// Everything that happens, from the launch to the end.
fn whole(path: Path, problem: &Problem) -> Vec<PathStep> {
    let work = |at: &str, ticks: i64| {
        let kind = PathStepKind::Work { amount: Expr::Int(ticks), times: Vec::new() };
        PathStep { at: at.into(), kind }
    };
    let mark = PathStep { at: "kernel".into(), kind: PathStepKind::Mark };
    let mut group = vec![mark, work("platform.group_start", path.start)];
    group.extend(path.group);
    let at = format!("the groups of {}", problem.profile.name());
    let groups = PathStep { at, kind: PathStepKind::Repeat { count: path.waves, body: group } };
    let mut all = vec![work("platform.kernel_launch", path.launch), groups];
    all.extend(path.finish);
    all
}

/// What a symbol represents.
#[derive(PartialEq, Eq, Hash)]
enum Meaning {
    /// The ticks of a step.
    Work(TimeProduct),
    /// How many ticks since the mark are waited for.
    Until(Expr),
    /// A count, or 0.
    Count(Expr),
    /// Whether a condition holds.
    Truth(Expr),
    /// A count times what each iteration takes.
    Times(Expr, String),
}

impl Meaning {
    fn term(&self, terms: &mut SmtTerms<'_, '_>) -> Result<String, Refusal> {
        match self {
            Meaning::Work(product) => of_product(terms, product),
            Meaning::Until(e) => Ok(format!("(+ {} 1)", terms.int(e)?)),
            Meaning::Count(e) => {
                let count = terms.int(e)?;
                Ok(format!("(ite (>= {count} 0) {count} 0)"))
            }
            Meaning::Truth(e) => terms.truth(e),
            Meaning::Times(e, ticks) => terms.times(e, ticks),
        }
    }
}

/// A sequence of points, and what it takes altogether.
struct Points {
    all: Vec<Point>,
    /// A term for the ticks.
    cost: String,
    /// The most ticks since the mark before it, and after it.
    since: (String, String),
}

/// A point: a step, and what is known there.
struct Point {
    at: String,
    kind: PointKind,
    cost: String,
    since: (String, String),
}

enum PointKind {
    Work,
    Mark,
    /// The ticks since the mark that it waits for.
    Until(String),
    If {
        condition: String,
        then: Points,
        otherwise: Points,
    },
    Loop(Box<Loop>),
}

struct Loop {
    count: String,
    counter: String,
    body: Points,
    /// The most ticks since the mark at the head, before the iteration with this number.
    head: Head,
}

/// The most ticks since the mark at the head of a loop.
enum Head {
    /// This many, and with each iteration this many more.
    Grows(String, String),
    /// The first before the first iteration, the other before all others.
    First(String, String),
}

impl Head {
    fn at(&self, counter: &str) -> String {
        match self {
            Head::Grows(before, more) if more == "0" => before.clone(),
            Head::Grows(before, more) => format!("(+ {before} (* {counter} {more}))"),
            Head::First(before, after) if before == after => before.clone(),
            Head::First(before, after) => format!("(ite (= {counter} 0) {before} {after})"),
        }
    }
}

/// What is known of each point, forwards.
#[derive(Default)]
struct Known {
    /// True if somebody waits.
    since: bool,
    declarations: String,
    /// Names by what they represent: the same thing has one name, however often a body is looked
    /// at.
    meanings: IndexMap<Meaning, String>,
    terms: HashMap<String, String>,
    count: usize,
    /// Steps examined.
    looked_at: usize,
}

impl Known {
    fn fresh(&mut self, letter: &str, sort: &str, at: &str) -> String {
        self.count += 1;
        let name = format!("{letter}{}", self.count);
        let _ = writeln!(self.declarations, "(declare-fun {name} () {sort}) ; {at}");
        name
    }

    /// A name for what the parameters decide.
    fn meant(&mut self, (letter, sort): (&str, &str), at: &str, meaning: Meaning) -> String {
        if let Some(known) = self.meanings.get(&meaning) {
            return known.clone();
        }
        let name = self.fresh(letter, sort, at);
        self.meanings.insert(meaning, name.clone());
        name
    }

    /// A name for a term over such names.
    fn defined(&mut self, term: String) -> String {
        if !term.starts_with('(') {
            return term;
        }
        if let Some(known) = self.terms.get(&term) {
            return known.clone();
        }
        self.count += 1;
        let name = format!("e{}", self.count);
        let _ = writeln!(self.declarations, "(define-fun {name} () Int {term})");
        self.terms.insert(term, name.clone());
        name
    }

    /// A name for a bound of the ticks since the mark, where anybody waits.
    fn tracked(&mut self, term: String) -> String {
        if self.since { self.defined(term) } else { "0".to_owned() }
    }

    fn points(&mut self, steps: &[PathStep], before: String) -> Result<Points, ObligationError> {
        let mut since = before.clone();
        let mut all: Vec<Point> = Vec::new();
        for step in steps {
            self.looked_at += 1;
            if self.looked_at > MAX_QUESTIONS {
                return uncovered(&step.at, "too many statements");
            }
            let point = self.of_step(step, &since)?;
            since.clone_from(&point.since.1);
            all.push(point);
        }
        let costs = all.iter().map(|p| p.cost.as_str()).filter(|c| *c != "0").collect_vec();
        let cost = match costs.as_slice() {
            [] => "0".to_owned(),
            [one] => (*one).to_owned(),
            many => self.defined(format!("(+ {})", many.iter().format(" "))),
        };
        Ok(Points { all, cost, since: (before, since) })
    }

    fn of_step(&mut self, step: &PathStep, since: &str) -> Result<Point, ObligationError> {
        let at = &step.at;
        let point = |kind, cost: String, after: String| {
            let since = (since.to_owned(), after);
            Point { at: at.clone(), kind, cost, since }
        };
        let more = |ticks: &str| match since {
            "0" => ticks.to_owned(),
            since => format!("(+ {since} {ticks})"),
        };
        Ok(match &step.kind {
            PathStepKind::Work { amount, times } => {
                let mut factors = vec![Factor::Amount(amount.clone())];
                factors.extend(times.iter().cloned().map(Factor::Count));
                let product = TimeProduct { at: at.clone(), factors };
                let ticks = self.meant(("c", "Int"), at, Meaning::Work(product));
                let after = self.tracked(more(&ticks));
                point(PointKind::Work, ticks, after)
            }
            PathStepKind::Phase(_) => return uncovered(&step.at, "differs between items")?,
            PathStepKind::Chain(_) => return uncovered(&step.at, "a chain of steps")?,
            PathStepKind::Mark => point(PointKind::Mark, "0".into(), "0".into()),
            PathStepKind::Until(ticks) => {
                let end = self.meant(("u", "Int"), at, Meaning::Until(ticks.clone()));
                let cost = format!("(ite (> {end} {since}) (- {end} {since}) 0)");
                let after = self.tracked(format!("(ite (> {end} {since}) {end} {since})"));
                let cost = self.defined(cost);
                point(PointKind::Until(end), cost, after)
            }
            PathStepKind::If { condition, then, otherwise } => {
                let condition = self.meant(("b", "Bool"), at, Meaning::Truth(condition.clone()));
                let then = self.points(then, since.to_owned())?;
                let otherwise = self.points(otherwise, since.to_owned())?;
                let either = |a: &str, b: &str| match a == b {
                    true => a.to_owned(),
                    false => format!("(ite {condition} {a} {b})"),
                };
                let cost = either(&then.cost, &otherwise.cost);
                let after = either(&then.since.1, &otherwise.since.1);
                let (cost, after) = (self.defined(cost), self.tracked(after));
                point(PointKind::If { condition, then, otherwise }, cost, after)
            }
            PathStepKind::Repeat { count, body } => self.of_loop(step, (count, body), since)?,
        })
    }

    fn of_loop(
        &mut self,
        step: &PathStep,
        (count, body): (&Expr, &[PathStep]),
        since: &str,
    ) -> Result<Point, ObligationError> {
        let at = &step.at;
        let before = since.to_owned();
        let head = match (waits(body), marks(body)) {
            (true, Some(false) | None) => {
                return uncovered(at, "a loop that waits for a mark outside of it");
            }
            (false, None) if self.since => {
                return uncovered(at, "a loop that marks in one side of an `if` only");
            }
            (_, Some(true)) => {
                let after = self.points(body, before.clone())?.since.1;
                let begins =
                    matches!(body.first(), Some(PathStep { kind: PathStepKind::Mark, .. }));
                if waits(body) && !begins && after != before {
                    return self.first_apart(step, (count, body), since);
                }
                Head::First(before, after)
            }
            // What a body adds that does not mark is the same wherever it begins.
            (false, _) => Head::Grows(before, self.points(body, "0".into())?.since.1),
        };
        let counter = self.fresh("k", "Int", at);
        let n = self.meant(("n", "Int"), at, Meaning::Count(count.clone()));
        let begin = self.tracked(head.at(&counter));
        let body = self.points(body, begin)?;
        let cost = self.meant(("m", "Int"), at, Meaning::Times(count.clone(), body.cost.clone()));
        let after = self.tracked(head.at(&n));
        let kind = PointKind::Loop(Box::new(Loop { count: n, counter, body, head }));
        Ok(Point { at: at.clone(), kind, cost, since: (since.to_owned(), after) })
    }

    /// A loop as its first iteration, and then all others.
    fn first_apart(
        &mut self,
        step: &PathStep,
        (count, body): (&Expr, &[PathStep]),
        since: &str,
    ) -> Result<Point, ObligationError> {
        let rest = Expr::binary(BinaryOp::Sub, count.clone(), Expr::Int(1));
        let others = PathStepKind::Repeat { count: rest, body: body.to_vec() };
        let others = PathStep { at: step.at.clone(), kind: others };
        let condition = Expr::binary(BinaryOp::Ge, count.clone(), Expr::Int(1));
        let then = body.iter().cloned().chain([others]).collect();
        let kind = PathStepKind::If { condition, then, otherwise: Vec::new() };
        self.of_step(&PathStep { at: step.at.clone(), kind }, since)
    }
}

/// The questions, backwards from the end.
#[derive(Default)]
struct Questions {
    /// True if the ticks since the mark are part of the state.
    since: bool,
    text: String,
    count: usize,
}

impl Questions {
    /// Whether `given` can hold and one of `shown` not, where `facts` hold at both points.
    fn ask(&mut self, at: &str, facts: &[String], given: &[String], shown: &[String]) {
        let _ = writeln!(self.text, "; {at}\n(push 1)");
        for fact in facts.iter().chain(given) {
            let _ = writeln!(self.text, "(assert {fact})");
        }
        let shown = of_all("and", shown, "true");
        let _ = writeln!(self.text, "(assert (not {shown}))\n(check-sat)\n(pop 1)");
        self.count += 1;
    }

    /// The invariant where this much is still to come, and this many ticks at most have passed
    /// since the mark.
    fn invariant(&self, t: &str, to_come: &str, (s, since): (&str, &str)) -> Vec<String> {
        let mut all = vec![format!("(>= (+ {t} {to_come}) T)")];
        if self.since {
            all.push(format!("(<= {s} {since})"));
        }
        all
    }

    /// The questions of a sequence; after it, `rest` is still to come.
    fn sequence(&mut self, points: &Points, facts: &[String]) -> Result<(), ObligationError> {
        for (i, point) in points.all.iter().enumerate() {
            let later = points.all[i + 1..].iter().map(|p| p.cost.as_str());
            let later = later.filter(|c| *c != "0").chain(["rest"]).collect_vec();
            let after = match later.as_slice() {
                [one] => (*one).to_owned(),
                many => format!("(+ {})", many.iter().format(" ")),
            };
            if self.count > MAX_QUESTIONS {
                return uncovered(&point.at, "too many statements");
            }
            self.point(point, &after, facts)?;
        }
        Ok(())
    }

    fn point(
        &mut self,
        point: &Point,
        after: &str,
        facts: &[String],
    ) -> Result<(), ObligationError> {
        let Point { at, kind, cost, since: (before, later) } = point;
        let to_come = format!("(+ {cost} {after})");
        let given = self.invariant("t", &to_come, ("s", before));
        let with = |more: &[String]| [facts, more].concat();
        match kind {
            PointKind::Work => {
                let (t, s) = (format!("(+ t {cost})"), format!("(+ s {cost})"));
                let shown = self.invariant(&t, after, (&s, later));
                self.ask(at, facts, &given, &shown);
            }
            PointKind::Mark => {
                let shown = self.invariant("t", after, ("0", later));
                self.ask(at, facts, &given, &shown);
            }
            PointKind::Until(end) => {
                let waited = format!("(ite (> {end} s) (- {end} s) 0)");
                let (t, s) = (format!("(+ t {waited})"), format!("(+ s {waited})"));
                let shown = self.invariant(&t, after, (&s, later));
                self.ask(at, facts, &given, &shown);
            }
            PointKind::If { condition, then, otherwise } => {
                for (side, holds) in
                    [(then, condition.clone()), (otherwise, format!("(not {condition})"))]
                {
                    let facts = with(&[holds]);
                    let begin = format!("(+ {} {after})", side.cost);
                    let shown = self.invariant("t", &begin, ("s", &side.since.0));
                    self.ask(at, &facts, &given, &shown);
                    let end = self.invariant("t", after, ("s", &side.since.1));
                    let shown = self.invariant("t", after, ("s", later));
                    self.ask(&format!("{at}, after it"), &facts, &end, &shown);
                    self.sequence(side, &facts)?;
                }
            }
            PointKind::Loop(of) => self.of_loop(point, of, after, facts)?,
        }
        Ok(())
    }

    fn of_loop(
        &mut self,
        point: &Point,
        of: &Loop,
        after: &str,
        facts: &[String],
    ) -> Result<(), ObligationError> {
        let Point { at, cost, since: (before, later), .. } = point;
        let Loop { count: n, counter: k, body, head } = of;
        let (each, k1) = (body.cost.as_str(), format!("(+ {k} 1)"));
        let left = |k: &str| format!("(+ (* (- {n} {k}) {each}) {after})");
        let with = |more: &[String]| [facts, more].concat();
        let product = [format!("(= {cost} (* {n} {each}))"), format!("(>= {n} 0)")];
        let given = self.invariant("t", &format!("(+ {cost} {after})"), ("s", before));
        let shown = self.invariant("t", &left("0"), ("s", &head.at("0")));
        self.ask(&format!("{at}, before it"), &with(&product), &given, &shown);
        let at_head = self.invariant("t", &left(k), ("s", &head.at(k)));
        let ended = [format!("(= {k} {n})"), format!("(>= {n} 0)")];
        let shown = self.invariant("t", after, ("s", later));
        self.ask(&format!("{at}, after it"), &with(&ended), &at_head, &shown);
        let inside = with(&[format!("(<= 0 {k})"), format!("(< {k} {n})")]);
        let shown = self.invariant("t", &format!("(+ {each} {})", left(&k1)), ("s", &body.since.0));
        self.ask(&format!("{at}, into it"), &inside, &at_head, &shown);
        let end = self.invariant("t", &left(&k1), ("s", &body.since.1));
        let mut shown = self.invariant("t", &left(&k1), ("s", &head.at(&k1)));
        shown.push(format!("(<= {k1} {n})"));
        self.ask(&format!("{at}, once more"), &inside, &end, &shown);
        self.sequence(body, &inside)
    }
}
