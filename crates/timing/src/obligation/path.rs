//! The path of one element: what it does, one step after another, from the launch to the end.
//!
//! In goes a problem whose groups are alike, out comes the [`Path`] of an element of the busiest
//! unit. Where items are alike, all other elements do the same at the same ticks, or less of it, so
//! the time of the path is the time of the launch. Where they differ, it is at each barrier the
//! path of the element that is last there ([`crate::obligation::phase`]); that is for `opencl`
//! alone.
//!
//! Items are alike if no expression differs between them, but for the condition of an `if` whose
//! two sides do the same. Under `opencl` without warps nothing may wait for a mark: all items of an
//! element then stand at a statement together, which is one step for all of them. Under the
//! published profiles an element, or a dispatcher, runs the whole program once for each of its
//! items, or warps, and the mark is set at the beginning of each.

use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::kernel::{has_barrier, has_until};
use tickbound_model::{Launch, Problem, Profile, Stmt, StmtKind};

use crate::obligation::phases::Phases;
use crate::obligation::product::{ObligationError, uncovered};
use crate::obligation::step::{PathStep, PathStepKind, always_has_a_value};
use crate::resources;

/// What an element does.
#[derive(Debug, Clone)]
pub struct Path {
    /// Ticks before the first group starts.
    pub launch: i64,
    /// How many groups the busiest unit runs, in sequence.
    pub waves: Expr,
    /// Ticks to start a group.
    pub start: i64,
    /// What it does in each group, once it has started.
    pub group: Vec<PathStep>,
    /// What element 0 does after the last group.
    pub finish: Vec<PathStep>,
}

impl Path {
    /// The path of a problem's launch.
    ///
    /// # Errors
    /// Items differ, or the profile has no such path.
    pub fn new(problem: &Problem) -> Result<Path, ObligationError> {
        let p = &problem.platform;
        let inlined = |at: &str, e: &Expr| problem.inlined(at, e);
        let local = inlined("launch.local_size", problem.launch.local_size())?;
        let by = |op, a, b: i64| Expr::binary(op, a, Expr::Int(b));
        let up = |a, b: i64| Expr::Call(Function::CeilDiv, vec![a, Expr::Int(b)]);
        let elements = p.elements_per_unit();
        let groups = |global| -> Result<Expr, ObligationError> {
            let global = inlined("launch.global_size", global)?;
            Ok(up(Expr::binary(BinaryOp::FloorDiv, global, local.clone()), p.units()))
        };
        let kernel = &problem.kernel;
        let (prices, waves, group) = match (&problem.launch, problem.profile, p.warps()) {
            (Launch::Range { global_size, .. }, Profile::OpenCl, None) => {
                if has_until(kernel) {
                    return uncovered("kernel", "waits for a mark");
                }
                let prices = [p.kernel_launch(), p.group_start()];
                let group = together(problem, &local, up(local.clone(), elements));
                (prices, groups(global_size)?, group?)
            }
            // [2023], Section 5 and Listing 6: one unit, whose elements run the program again until
            // all items have run.
            (Launch::Activations { activations, .. }, Profile::Published2023, None) => {
                let share = by(BinaryOp::FloorDiv, local, elements);
                let runs = Expr::Call(Function::Max, vec![Expr::Int(1), share]);
                let of = Reader { problem, runs: Vec::new(), barrier: 0, merges: true };
                let waves = inlined("launch.activations", activations)?;
                ([0; 2], waves, vec![again(runs, of.steps(kernel)?)])
            }
            // [2021], Listing 5: a dispatcher runs its warps in sequence.
            (Launch::Range { global_size, .. }, Profile::Published2021, Some(warps)) => {
                let at_once = warps.width.saturating_mul(warps.dispatchers);
                let runs = by(BinaryOp::FloorDiv, local.clone(), at_once);
                // Both sides of an `if` are run where the items of a warp differ.
                let of = Reader { problem, runs: Vec::new(), barrier: 0, merges: false };
                ([0; 2], groups(global_size)?, vec![again(runs, of.steps(kernel)?)])
            }
            (_, Profile::Resources, _) => ([0; 2], Expr::Int(1), vec![chain(problem)?]),
            _ => return uncovered("profile", "what it does is no sum over the parameters"),
        };
        let of = Reader { problem, runs: Vec::new(), barrier: 0, merges: true };
        let [launch, start] = prices;
        let mut finish = vec![mark()];
        finish.extend(of.steps(&problem.finish)?);
        Ok(Path { launch, waves, start, group, finish })
    }
}

/// A group under `opencl`: `runs` items of an element together or, if they differ, phase by phase.
fn together(problem: &Problem, local: &Expr, runs: Expr) -> Result<Vec<PathStep>, ObligationError> {
    let barrier = problem.platform.barrier();
    let of = Reader { problem, runs: vec![runs], barrier, merges: true };
    match of.steps(&problem.kernel) {
        Err(ObligationError::Uncovered(..)) => {
            Phases::new(problem, local.clone()).steps(&problem.kernel)
        }
        steps => steps,
    }
}

/// The launch under the profile `resources`.
fn chain(problem: &Problem) -> Result<PathStep, ObligationError> {
    let kind = PathStepKind::Chain(Box::new(resources::time(problem)?));
    Ok(PathStep { at: "profile resources".into(), kind })
}

fn mark() -> PathStep {
    PathStep { at: "kernel".into(), kind: PathStepKind::Mark }
}

/// The whole program for one item or warp after another.
fn again(runs: Expr, program: Vec<PathStep>) -> PathStep {
    let body = std::iter::once(mark()).chain(program).collect();
    PathStep { at: "kernel".into(), kind: PathStepKind::Repeat { count: runs, body } }
}

/// Reads programs as steps.
struct Reader<'p> {
    problem: &'p Problem,
    /// What an access is multiplied by: items of an element, where that is part of each step.
    runs: Vec<Expr>,
    /// Ticks of a barrier.
    barrier: i64,
    /// True if an `if` whose sides do the same is as one of them, whichever items take it.
    merges: bool,
}

impl Reader<'_> {
    fn steps(&self, program: &[Stmt]) -> Result<Vec<PathStep>, ObligationError> {
        let mut all = Vec::new();
        for stmt in program {
            match &stmt.kind {
                StmtKind::If { condition, then, otherwise } if self.differs(condition) => {
                    let same = self.merges && same(then, otherwise) && !has_barrier(then);
                    if !same || !always_has_a_value(condition) {
                        return uncovered(&stmt.at, "differs between items");
                    }
                    all.extend(self.steps(then)?);
                }
                _ => all.push(PathStep { at: stmt.at.clone(), kind: self.kind(stmt)? }),
            }
        }
        Ok(all)
    }

    fn kind(&self, stmt: &Stmt) -> Result<PathStepKind, ObligationError> {
        let of = |e: &Expr| match self.differs(e) {
            true => uncovered(&stmt.at, "differs between items"),
            false => Ok(self.problem.inlined(&stmt.at, e)?),
        };
        Ok(match &stmt.kind {
            StmtKind::Access { access, amount } => {
                let price = Expr::Int(self.problem.platform.price(*access));
                let times = std::iter::once(price).chain(self.runs.iter().cloned()).collect();
                PathStepKind::Work { amount: of(amount)?, times }
            }
            StmtKind::Barrier => {
                PathStepKind::Work { amount: Expr::Int(self.barrier), times: Vec::new() }
            }
            StmtKind::Mark => PathStepKind::Mark,
            StmtKind::Until(ticks) => PathStepKind::Until(of(ticks)?),
            StmtKind::Repeat { count, body } => {
                PathStepKind::Repeat { count: of(count)?, body: self.steps(body)? }
            }
            StmtKind::If { condition, then, otherwise } => PathStepKind::If {
                condition: of(condition)?,
                then: self.steps(then)?,
                otherwise: self.steps(otherwise)?,
            },
        })
    }

    fn differs(&self, e: &Expr) -> bool {
        let items = self.problem.first_item_slot();
        e.mentions(|slot| slot >= items)
    }
}

/// True if two programs do the same; the places of statements do not count.
fn same(a: &[Stmt], b: &[Stmt]) -> bool {
    let same_kind = |a: &StmtKind, b: &StmtKind| match (a, b) {
        (StmtKind::Repeat { count: m, body: a }, StmtKind::Repeat { count: n, body: b }) => {
            m == n && same(a, b)
        }
        (
            StmtKind::If { condition: m, then: a, otherwise: c },
            StmtKind::If { condition: n, then: b, otherwise: d },
        ) => m == n && same(a, b) && same(c, d),
        _ => a == b,
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_kind(&a.kind, &b.kind))
}
