//! Programs as terms: handing them to egg and reading the result.

use std::sync::Arc;
use std::time::Duration;

use egg::{CostFunction, Explanation, Extractor, Id, Language, RecExpr, Runner, Symbol};
use indexmap::IndexSet;

use super::rules::{MaxPlus, Numbers, closing, shrinking};
use crate::plan::{AmountOf, Jump, Scalar};
use crate::system::InternalError;

/// Most iterations of rewriting; programs nest less deeply than this.
const ITERATIONS: usize = 60;
/// Most nodes of an e-graph while a program is closed, per node of the program.
const NODES_PER_NODE: usize = 60;
/// Iterations and nodes spent on making the closed numbers smaller.
const SHRINK: (usize, usize) = (10, 1_200);
/// Largest closed form, written out as a tree; a program whose form is larger stays open.
const LARGEST: u64 = 100_000;
/// Never the reason to stop on any machine that can run this; results must not depend on speed.
const NO_TIME_LIMIT: Duration = Duration::from_secs(100_000);

/// A piece of program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaxPlusTerm {
    /// Takes this many ticks.
    Work(Scalar),
    /// Waits for the mark plus this many ticks.
    Until(Scalar),
    /// Sets the mark.
    Mark,
    /// In sequence.
    Seq(Vec<MaxPlusTerm>),
    /// At least once, this often.
    Rep(Scalar, Box<MaxPlusTerm>),
    /// Threads that start together and meet at a barrier; at least one.
    Join {
        /// What each thread does.
        threads: Vec<MaxPlusTerm>,
        /// Nothing after this waits for the mark before it is set anew.
        mark_is_dead: bool,
    },
}

/// A closed piece of program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// What it does.
    pub jump: Jump,
    /// Nodes of the term that went in.
    pub nodes_in: usize,
    /// Nodes of the arithmetic that came out.
    pub nodes_out: usize,
    /// Nodes of the e-graph when it was done.
    pub nodes_explored: usize,
}

/// Gives the values of an amount, one for each configuration.
pub type ValuesOf<'a> = dyn FnMut(AmountOf) -> Result<Arc<Vec<i64>>, InternalError> + 'a;

/// Closes a term, or returns `None` if the rules do not reach a closed form. Without `shrink` the
/// arithmetic stays as the closing rules leave it.
///
/// `values` gives an amount's value in each of the term's configurations, in a common order.
pub fn close(
    term: &MaxPlusTerm,
    shrink: bool,
    values: &mut ValuesOf<'_>,
) -> Result<Option<Closed>, InternalError> {
    let (program, names) = written(term);
    let numbers = known(&names, values)?;
    Ok(closed(&program, &names, &numbers, shrink))
}

fn closed(
    program: &RecExpr<MaxPlus>,
    names: &Names,
    numbers: &Numbers,
    shrink: bool,
) -> Option<Closed> {
    let nodes_in = program.as_ref().len();
    let runner = runner(numbers, closing_limits(program)).with_expr(program).run(&closing());
    let mut closed = extract(&runner)?;
    let mut explored = runner.egraph.total_size();
    if shrink {
        let limits = shrinking_limits(&closed);
        let runner = self::runner(numbers, limits).with_expr(&closed).run(&shrinking());
        closed = extract(&runner)?;
        explored += runner.egraph.total_size();
    }
    if tree_size(&closed) > LARGEST {
        return None;
    }
    Some(Closed {
        jump: read_jump(&closed, names)?,
        nodes_in,
        nodes_out: closed.as_ref().len(),
        nodes_explored: explored,
    })
}

/// egg's own account of what [`close`] does; see [`explain`].
pub struct Rewriting {
    /// The amount that each symbol represents: `x0` is the first.
    pub names: Vec<AmountOf>,
    /// From the term to a closed form, by the rules of [`closing`].
    pub closing: Explanation<MaxPlus>,
    /// From there to a smaller one, by the rules of [`shrinking`].
    pub shrinking: Explanation<MaxPlus>,
}

/// Closes a term as [`close`] does, and has egg explain each step. Explanations are slow to make:
/// this serves to check the rules.
pub fn explain(
    term: &MaxPlusTerm,
    values: &mut ValuesOf<'_>,
) -> Result<Option<Rewriting>, InternalError> {
    let (program, names) = written(term);
    let numbers = known(&names, values)?;
    Ok(explained(&program, names, &numbers))
}

fn explained(program: &RecExpr<MaxPlus>, names: Names, numbers: &Numbers) -> Option<Rewriting> {
    let explained = |expr: &RecExpr<MaxPlus>, limits, rules: &[egg::Rewrite<MaxPlus, Numbers>]| {
        let runner = runner(numbers, limits).with_explanations_enabled();
        let mut runner = runner.with_expr(expr).run(rules);
        let result = extract(&runner)?;
        let explanation = runner.explain_equivalence(expr, &result);
        Some((result, explanation))
    };
    let (closed, closing) = explained(program, closing_limits(program), &closing())?;
    let (_, shrinking) = explained(&closed, shrinking_limits(&closed), &shrinking())?;
    Some(Rewriting { names: names.into_iter().collect(), closing, shrinking })
}

type Names = IndexSet<AmountOf>;

fn symbol(index: usize) -> Symbol {
    Symbol::from(format!("x{index}"))
}

fn known(names: &Names, values: &mut ValuesOf<'_>) -> Result<Numbers, InternalError> {
    let named = names.iter().enumerate().map(|(i, of)| Ok((symbol(i), values(*of)?)));
    Ok(Numbers { symbols: named.collect::<Result<_, InternalError>>()? })
}

/// Iterations and nodes for a program that is to be closed.
fn closing_limits(program: &RecExpr<MaxPlus>) -> (usize, usize) {
    (ITERATIONS, 1_000 + NODES_PER_NODE * program.as_ref().len())
}

/// Iterations and nodes for a closed form that is to be made smaller.
fn shrinking_limits(closed: &RecExpr<MaxPlus>) -> (usize, usize) {
    (SHRINK.0, SHRINK.1 + closed.as_ref().len())
}

fn runner(numbers: &Numbers, (iterations, nodes): (usize, usize)) -> Runner<MaxPlus, Numbers> {
    Runner::new(numbers.clone())
        .with_iter_limit(iterations)
        .with_node_limit(nodes)
        .with_time_limit(NO_TIME_LIMIT)
}

/// The smallest closed form of the root, if there is one.
fn extract(runner: &Runner<MaxPlus, Numbers>) -> Option<RecExpr<MaxPlus>> {
    let (cost, best) = Extractor::new(&runner.egraph, ClosedOnly).find_best(runner.roots[0]);
    (cost < UNCLOSED).then_some(best)
}

/// Nodes of an expression, each as often as it is used; a loop around a loop may double them.
fn tree_size(expr: &RecExpr<MaxPlus>) -> u64 {
    let mut sizes: Vec<u64> = Vec::new();
    for node in expr.as_ref() {
        sizes.push(node.fold(1, |sum: u64, id| sum.saturating_add(sizes[usize::from(id)])));
    }
    sizes.last().copied().unwrap_or(0)
}

/// A cost no closed form reaches.
const UNCLOSED: u64 = 1 << 40;

/// Size, with products dearer than sums, and anything but a closed shape out of reach.
struct ClosedOnly;

impl CostFunction<MaxPlus> for ClosedOnly {
    type Cost = u64;

    fn cost<C>(&mut self, node: &MaxPlus, mut costs: C) -> u64
    where
        C: FnMut(Id) -> u64,
    {
        let own = match node {
            MaxPlus::Num(_) | MaxPlus::Sym(_) | MaxPlus::Never => 1,
            MaxPlus::Add(_) | MaxPlus::Keep(_) | MaxPlus::Set(_) => 1,
            MaxPlus::Max(_) => 2,
            MaxPlus::Mul(_) => 4,
            _ => UNCLOSED,
        };
        node.fold(own, |sum, id| sum.saturating_add(costs(id)))
    }
}

/// The term as egg's expression, and which amount each symbol represents.
pub(crate) fn written(term: &MaxPlusTerm) -> (RecExpr<MaxPlus>, Names) {
    let (mut out, mut names) = (RecExpr::default(), Names::new());
    write_term(term, &mut out, &mut names);
    (out, names)
}

fn write_term(term: &MaxPlusTerm, out: &mut RecExpr<MaxPlus>, names: &mut Names) -> Id {
    let node = match term {
        MaxPlusTerm::Work(s) => MaxPlus::Work([write_scalar(s, out, names)]),
        MaxPlusTerm::Until(s) => MaxPlus::Until([write_scalar(s, out, names)]),
        MaxPlusTerm::Mark => MaxPlus::Mark,
        MaxPlusTerm::Seq(parts) => {
            let ids: Vec<Id> = parts.iter().map(|t| write_term(t, out, names)).collect();
            return fold(ids, out, MaxPlus::Seq).unwrap_or_else(|| out.add(MaxPlus::Skip));
        }
        MaxPlusTerm::Rep(count, body) => {
            MaxPlus::Rep([write_scalar(count, out, names), write_term(body, out, names)])
        }
        MaxPlusTerm::Join { threads, mark_is_dead } => {
            let ids: Vec<Id> = threads.iter().map(|t| write_term(t, out, names)).collect();
            let node = if *mark_is_dead { MaxPlus::Meet } else { MaxPlus::Join };
            return fold(ids, out, node).unwrap_or_else(|| out.add(MaxPlus::Skip));
        }
    };
    out.add(node)
}

/// Combines neighbours pairwise until one is left, which keeps the tree flat.
fn fold(mut ids: Vec<Id>, out: &mut RecExpr<MaxPlus>, node: fn([Id; 2]) -> MaxPlus) -> Option<Id> {
    while ids.len() > 1 {
        ids = ids
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => out.add(node([*a, *b])),
                rest => rest[0],
            })
            .collect();
    }
    ids.pop()
}

fn write_scalar(scalar: &Scalar, out: &mut RecExpr<MaxPlus>, names: &mut Names) -> Id {
    let mut two =
        |a: &Scalar, b: &Scalar| [write_scalar(a, out, names), write_scalar(b, out, names)];
    let node = match scalar {
        Scalar::Never => MaxPlus::Never,
        Scalar::Int(v) => MaxPlus::Num(*v),
        Scalar::Add(a, b) => MaxPlus::Add(two(a, b)),
        Scalar::Mul(a, b) => MaxPlus::Mul(two(a, b)),
        Scalar::Max(a, b) => MaxPlus::Max(two(a, b)),
        Scalar::Amount(of) => MaxPlus::Sym(symbol(names.insert_full(*of).0)),
    };
    out.add(node)
}

fn read_jump(closed: &RecExpr<MaxPlus>, names: &Names) -> Option<Jump> {
    let scalar = |id: Id| read_scalar(closed, id, names);
    match closed.as_ref().last()? {
        MaxPlus::Keep([a, b]) => Some(Jump::Keep { now: scalar(*a)?, mark: scalar(*b)? }),
        MaxPlus::Set([c, d, e]) => {
            Some(Jump::Set { now: scalar(*c)?, mark: scalar(*d)?, after: scalar(*e)? })
        }
        _ => None,
    }
}

fn read_scalar(expr: &RecExpr<MaxPlus>, id: Id, names: &Names) -> Option<Scalar> {
    let two = |[a, b]: &[Id; 2]| {
        Some((Box::new(read_scalar(expr, *a, names)?), Box::new(read_scalar(expr, *b, names)?)))
    };
    Some(match &expr[id] {
        MaxPlus::Num(v) => Scalar::Int(*v),
        MaxPlus::Never => Scalar::Never,
        MaxPlus::Sym(s) => {
            let index: usize = s.as_str().strip_prefix('x')?.parse().ok()?;
            Scalar::Amount(*names.get_index(index)?)
        }
        MaxPlus::Add(ab) => two(ab).map(|(a, b)| Scalar::Add(a, b))?,
        MaxPlus::Mul(ab) => two(ab).map(|(a, b)| Scalar::Mul(a, b))?,
        MaxPlus::Max(ab) => two(ab).map(|(a, b)| Scalar::Max(a, b))?,
        _ => return None,
    })
}
