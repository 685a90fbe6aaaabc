//! From a problem to its cost.

use thiserror::Error;
use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::error::ModelError;
use tickbound_model::kernel::{
    Program, Stmt, StmtKind, answered, barrier_condition, expressions, has_barrier, has_until,
};
use tickbound_model::{Access, Launch, Problem, Profile};

use super::term::{At, Class, Items, Rounds, Term};

/// Most statements that phases may be made of; a loop around barriers doubles what hangs over.
const MAX_STATEMENTS: usize = 20_000;

/// What the cost of a problem does not cover.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Uncovered {
    /// The problem itself is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Something that the time cannot be written down for.
    #[error("{at}: {what}")]
    Statement {
        /// Where it stands.
        at: String,
        /// What it is.
        what: &'static str,
    },
}

fn uncovered<T>(at: &str, what: &'static str) -> Result<T, Uncovered> {
    Err(Uncovered::Statement { at: at.to_owned(), what })
}

/// The run time under all profiles but `resources`, and whether it is exact.
pub(crate) fn derive(problem: &Problem) -> Result<(Term, bool), Uncovered> {
    // Items of a warp that take different sides run both.
    let merges = problem.platform.warps().is_none();
    let kernel = priced(problem, &problem.kernel, merges)?;
    let finish = finish(problem)?;
    let (body, exact) = match (problem.profile, problem.platform.warps()) {
        (Profile::OpenCl, None) => groups(problem, &kernel)?,
        (Profile::Published2023, None) => (activations(problem, kernel)?, true),
        (Profile::Published2021, Some(warps)) => {
            let at_once = warps.width.saturating_mul(warps.dispatchers);
            (warps_in_turn(problem, kernel, at_once)?, true)
        }
        _ => return uncovered("platform.warps", "what warps do is not one expression"),
    };
    let mut parts = vec![body, finish];
    if problem.profile == Profile::OpenCl && problem.platform.kernel_launch() > 0 {
        parts.insert(0, Term::Number(problem.platform.kernel_launch()));
    }
    Ok((sum(parts), exact))
}

/// What element 0 does after the launch, alone; `lid` and the rest are 0 then, as they are in a
/// configuration's values.
pub(crate) fn finish(problem: &Problem) -> Result<Term, Uncovered> {
    let finish = priced(problem, &problem.finish, true)?;
    refuse(&finish, problem.first_item_slot(), "work differs between items")?;
    Ok(match has_until(&finish) {
        true => Term::Run { program: Box::new(finish), barrier: 0 },
        false => work(&finish),
    })
}

/// A lower bound for what [`derive`] does not cover.
pub(crate) fn bound(problem: &Problem) -> Result<Term, Uncovered> {
    if (problem.profile, problem.platform.warps()) != (Profile::OpenCl, None) {
        return uncovered("profile", "has no bound without a list");
    }
    let kernel = priced(problem, &problem.kernel, true)?;
    let item = problem.first_item_slot();
    // What differs between groups is left out, but for branches, which say which groups count; then
    // what differs between items.
    let alike = without(&kernel, &|stmt| mentions(stmt, item + 1) && !is_branch(stmt));
    let simple = without(&alike, &|stmt| {
        let waits = matches!(stmt.kind, StmtKind::Until(_) | StmtKind::Mark);
        let of_items = mentions(stmt, item) && !(is_branch(stmt) && mentions(stmt, item + 1));
        waits || of_items
    });
    let (group, _) = groups(problem, &alike).or_else(|_| groups(problem, &simple))?;
    let launch = Term::Number(problem.platform.kernel_launch());
    Ok(sum(vec![launch, group]))
}

fn is_branch(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::If { .. })
}

/// True if the statement's own expression names a slot from `first` on.
fn mentions(stmt: &Stmt, first: usize) -> bool {
    let of = |e: &Expr| e.mentions(|slot| slot >= first);
    match &stmt.kind {
        StmtKind::Access { amount: e, .. }
        | StmtKind::Until(e)
        | StmtKind::Repeat { count: e, .. }
        | StmtKind::If { condition: e, .. } => of(e),
        StmtKind::Mark | StmtKind::Barrier => false,
    }
}

/// The program without some statements and what is in them.
fn without(program: &[Stmt], drops: &dyn Fn(&Stmt) -> bool) -> Program {
    let left = program.iter().filter(|stmt| !drops(stmt));
    let within = |stmt: &Stmt| {
        let kind = match &stmt.kind {
            StmtKind::Repeat { count, body } => {
                StmtKind::Repeat { count: count.clone(), body: without(body, drops) }
            }
            StmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: condition.clone(),
                then: without(then, drops),
                otherwise: without(otherwise, drops),
            },
            other => other.clone(),
        };
        stmt.with(kind)
    };
    left.map(within).collect()
}

/// `opencl`: groups one after another on each unit, all alike.
fn groups(problem: &Problem, kernel: &Program) -> Result<(Term, bool), Uncovered> {
    let Launch::Range { global_size, local_size } = &problem.launch else {
        return uncovered("launch", "activations belong to another profile");
    };
    let local = problem.inlined("launch.local_size", local_size)?;
    let global = problem.inlined("launch.global_size", global_size)?;
    let units = problem.platform.units();
    let first_item = problem.first_item_slot();
    let mut guards = Vec::new();
    let inner = inside(kernel, first_item + 1, &mut guards);
    refuse(&inner, first_item + 1, "work differs between groups")?;
    let alike = guards.is_empty();
    let waves = if alike {
        let count = Expr::binary(BinaryOp::FloorDiv, global, local.clone());
        let waves = Expr::Call(Function::CeilDiv, vec![count, Expr::Int(units)]);
        Term::Count(At { at: "launch".into(), expr: waves })
    } else {
        let size = |at: &str, expr: &Expr| At { at: at.into(), expr: expr.clone() };
        let global = size("launch.global_size", &global);
        let local = size("launch.local_size", &local);
        Term::Rounds(Box::new(Rounds { guards, global, local, units, first_item }))
    };
    let elements = problem.platform.elements_per_unit();
    let local = At { at: "launch.local_size".into(), expr: local };
    let phases = Phases { price: problem.platform.barrier(), elements, local, first_item };
    let (group, exact) = match has_until(&inner) {
        true => phases.marked(&inner)?,
        false => (phases.group(&inner)?, true),
    };
    let start = Term::Number(problem.platform.group_start());
    Ok((Term::Product(vec![waves, sum(vec![start, group])]), exact && alike))
}

/// The program in groups whose guards all come out one way: that of the longer side, as it is work
/// that is guarded. `group` is the first slot that differs between groups.
fn inside(program: &[Stmt], group: usize, guards: &mut Vec<(At, bool)>) -> Program {
    let mut out = Program::new();
    for stmt in program {
        let kind = match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                if condition.mentions(|slot| slot >= group) {
                    let holds = size(then) > size(otherwise);
                    guards.push((At { at: stmt.at.clone(), expr: condition.clone() }, holds));
                    out.extend(inside(if holds { then } else { otherwise }, group, guards));
                    continue;
                }
                StmtKind::If {
                    condition: condition.clone(),
                    then: inside(then, group, guards),
                    otherwise: inside(otherwise, group, guards),
                }
            }
            StmtKind::Repeat { count, body } => {
                StmtKind::Repeat { count: count.clone(), body: inside(body, group, guards) }
            }
            other => other.clone(),
        };
        out.push(stmt.with(kind));
    }
    out
}

/// `published-2023`: activations one after another; in each every element runs the program some
/// times.
fn activations(problem: &Problem, kernel: Program) -> Result<Term, Uncovered> {
    let Launch::Activations { local_size, activations } = &problem.launch else {
        return uncovered("launch", "a range belongs to another profile");
    };
    refuse(&kernel, problem.first_item_slot(), "work differs between items")?;
    let count = |at: &str, expr: Expr| Term::Count(At { at: at.into(), expr });
    let activations = problem.inlined("launch.activations", activations)?;
    let local = problem.inlined("launch.local_size", local_size)?;
    let elements = Expr::Int(problem.platform.elements_per_unit());
    let share = Expr::binary(BinaryOp::FloorDiv, local, elements);
    let runs = Expr::Call(Function::Max, vec![Expr::Int(1), share]);
    Ok(Term::Product(vec![
        count("launch.activations", activations),
        count("launch.local_size", runs),
        Term::Run { program: Box::new(kernel), barrier: 0 },
    ]))
}

/// `published-2021`: groups one after another; in each every dispatcher runs the program for its
/// warps, `at_once` items at a time.
fn warps_in_turn(problem: &Problem, kernel: Program, at_once: i64) -> Result<Term, Uncovered> {
    let Launch::Range { global_size, local_size } = &problem.launch else {
        return uncovered("launch", "activations belong to another profile");
    };
    refuse(&kernel, problem.first_item_slot(), "work differs between items")?;
    let count = |at: &str, expr: Expr| Term::Count(At { at: at.into(), expr });
    let local = problem.inlined("launch.local_size", local_size)?;
    let global = problem.inlined("launch.global_size", global_size)?;
    let groups = Expr::binary(BinaryOp::FloorDiv, global, local.clone());
    let units = Expr::Int(problem.platform.units());
    let waves = Expr::Call(Function::CeilDiv, vec![groups, units]);
    let warps = Expr::binary(BinaryOp::FloorDiv, local, Expr::Int(at_once));
    Ok(Term::Product(vec![
        count("launch", waves),
        count("launch.local_size", warps),
        Term::Run { program: Box::new(kernel), barrier: 0 },
    ]))
}

/// The program with definitions put in, work in ticks, and, if `merges`, branches gone whose sides
/// are alike.
fn priced(problem: &Problem, program: &[Stmt], merges: bool) -> Result<Program, Uncovered> {
    let mut out = Program::new();
    for stmt in program {
        let of = |e: &Expr| problem.inlined(&stmt.at, e);
        let kind = match &stmt.kind {
            StmtKind::Access { access, amount } => {
                let price = problem.platform.price(*access);
                let ticks = match price {
                    1 => of(amount)?,
                    price => Expr::binary(BinaryOp::Mul, Expr::Int(price), of(amount)?),
                };
                StmtKind::Access { access: Access::Work, amount: ticks }
            }
            StmtKind::Until(ticks) => StmtKind::Until(of(ticks)?),
            StmtKind::Repeat { count, body } => {
                StmtKind::Repeat { count: of(count)?, body: priced(problem, body, merges)? }
            }
            StmtKind::If { condition, then, otherwise } => {
                let side = |program: &[Stmt]| priced(problem, program, merges);
                let (then, otherwise) = (side(then)?, side(otherwise)?);
                if merges && alike(&then, &otherwise) && never_fails(condition) {
                    out.extend(then);
                    continue;
                }
                StmtKind::If { condition: of(condition)?, then, otherwise }
            }
            StmtKind::Mark | StmtKind::Barrier => stmt.kind.clone(),
        };
        out.push(stmt.with(kind));
    }
    Ok(out)
}

/// True if the programs do the same, wherever they stand.
fn alike(a: &[Stmt], b: &[Stmt]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (&a.kind, &b.kind) {
            (StmtKind::Repeat { count: c, body: x }, StmtKind::Repeat { count: d, body: y }) => {
                c == d && alike(x, y)
            }
            (
                StmtKind::If { condition: c, then: t, otherwise: o },
                StmtKind::If { condition: d, then: u, otherwise: p },
            ) => c == d && alike(t, u) && alike(o, p),
            // Two barriers are two places to meet at.
            (StmtKind::Barrier, StmtKind::Barrier) => false,
            (x, y) => x == y,
        })
}

/// True for an expression that surely has a value: no division by what may be 0, nothing that
/// grows.
fn never_fails(e: &Expr) -> bool {
    let own = match e {
        Expr::Int(_) | Expr::Name(_) | Expr::Not(_) | Expr::Conditional(..) => true,
        Expr::Call(f, _) => matches!(f, Function::Min | Function::Max),
        Expr::Binary(op, _, b) => match op {
            BinaryOp::FloorDiv | BinaryOp::Div | BinaryOp::Rem => {
                matches!(**b, Expr::Int(n) if n > 0)
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Pow => false,
            _ => true,
        },
        Expr::Neg(_) => false,
    };
    own && e.parts().all(never_fails)
}

/// The first statement with an expression that names a slot from `first` on: what differs between
/// items, or from that of `gid` on between groups.
fn differing(program: &[Stmt], first: usize) -> Option<&Stmt> {
    let mut found = None;
    expressions(program, &mut |stmt, e| {
        if found.is_none() && e.mentions(|slot| slot >= first) {
            found = Some(stmt);
        }
    });
    found
}

/// Refuses a program that differs so.
fn refuse(program: &[Stmt], first: usize, what: &'static str) -> Result<(), Uncovered> {
    differing(program, first).map_or(Ok(()), |stmt| uncovered(&stmt.at, what))
}

/// What a program without barriers and marks takes where items do not differ.
fn work(program: &[Stmt]) -> Term {
    let one = |stmt: &Stmt| {
        let at = |expr: &Expr| At { at: stmt.at.clone(), expr: expr.clone() };
        match &stmt.kind {
            StmtKind::Access { amount, .. } => Term::Work(at(amount)),
            StmtKind::Repeat { count, body } => product(vec![Term::Count(at(count)), work(body)]),
            StmtKind::If { condition, then, otherwise } => {
                either(&at(condition), work(then), work(otherwise))
            }
            StmtKind::Mark | StmtKind::Barrier | StmtKind::Until(_) => Term::Number(0),
        }
    };
    sum(program.iter().map(one).collect())
}

fn either(condition: &At, then: Term, otherwise: Term) -> Term {
    let side =
        |holds, term| product(vec![Term::Guard { condition: condition.clone(), holds }, term]);
    sum(vec![side(true, then), side(false, otherwise)])
}

fn is_nothing(term: &Term) -> bool {
    matches!(term, Term::Number(0))
}

pub(crate) fn sum(parts: Vec<Term>) -> Term {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Term::Sum(more) => flat.extend(more),
            term if is_nothing(&term) => {}
            term => flat.push(term),
        }
    }
    match flat.len() {
        0 => Term::Number(0),
        1 => flat.swap_remove(0),
        _ => Term::Sum(flat),
    }
}

/// A product; where the last factor is nothing, so is the whole, but what leads there must still
/// have a value.
fn product(factors: Vec<Term>) -> Term {
    let mut flat = Vec::new();
    for factor in factors {
        match factor {
            Term::Product(more) => flat.extend(more),
            Term::Number(1) => {}
            term => flat.push(term),
        }
    }
    match flat.len() {
        0 => Term::Number(1),
        1 => flat.swap_remove(0),
        _ => Term::Product(flat),
    }
}

/// The phases of a group under `opencl`.
struct Phases {
    /// Ticks of a barrier.
    price: i64,
    elements: i64,
    /// Items of a group.
    local: At,
    first_item: usize,
}

/// What came of some statements: the phases that ended, and what hangs over into the next.
struct Done {
    ended: Vec<Term>,
    open: Program,
}

impl Phases {
    /// The ticks of a group in which nobody waits for a mark.
    fn group(&self, kernel: &Program) -> Result<Term, Uncovered> {
        if differing(kernel, self.first_item).is_none() {
            let work = product(vec![self.items_each(), work(kernel)]);
            return Ok(sum(vec![work, self.barriers(kernel)]));
        }
        let Done { mut ended, open } = self.sequence(kernel, Program::new())?;
        ended.push(self.phase(&open));
        Ok(sum(ended))
    }

    /// A group whose items wait for marks. Where each element has one item, and items do not
    /// differ, each waits for itself alone; elsewhere the work alone is a bound.
    fn marked(&self, kernel: &Program) -> Result<(Term, bool), Uncovered> {
        refuse(kernel, self.first_item, "items that wait for marks differ")?;
        let alone = Expr::binary(BinaryOp::Le, self.local.expr.clone(), Expr::Int(self.elements));
        let alone = At { at: self.local.at.clone(), expr: alone };
        let one = Term::Run { program: Box::new(kernel.clone()), barrier: self.price };
        let several =
            sum(vec![product(vec![self.items_each(), work(kernel)]), self.barriers(kernel)]);
        Ok((either(&alone, one, several), false))
    }

    /// Items that the element with the most of them runs.
    fn items_each(&self) -> Term {
        let elements = Expr::Int(self.elements);
        let each = Expr::Call(Function::CeilDiv, vec![self.local.expr.clone(), elements]);
        Term::Count(At { at: self.local.at.clone(), expr: each })
    }

    /// Ticks of all barriers.
    fn barriers(&self, program: &[Stmt]) -> Term {
        if self.price == 0 {
            return Term::Number(0);
        }
        let one = |stmt: &Stmt| {
            let at = |expr: &Expr| At { at: stmt.at.clone(), expr: expr.clone() };
            match &stmt.kind {
                StmtKind::Barrier => Term::Number(self.price),
                StmtKind::Repeat { count, body } if has_barrier(body) => {
                    product(vec![Term::Count(at(count)), self.barriers(body)])
                }
                StmtKind::If { condition, then, otherwise }
                    if has_barrier(then) || has_barrier(otherwise) =>
                {
                    either(&at(condition), self.barriers(then), self.barriers(otherwise))
                }
                _ => Term::Number(0),
            }
        };
        sum(program.iter().map(one).collect())
    }

    /// The statements, after `open`, which has not met its barrier yet.
    fn sequence(&self, program: &[Stmt], open: Program) -> Result<Done, Uncovered> {
        let mut done = Done { ended: Vec::new(), open };
        for stmt in program {
            if !has_barrier(std::slice::from_ref(stmt)) {
                done.open.push(stmt.clone());
                continue;
            }
            if size(&done.open) > MAX_STATEMENTS {
                return uncovered(&stmt.at, "too much hangs over from one phase to the next");
            }
            let at = |expr: &Expr| At { at: stmt.at.clone(), expr: expr.clone() };
            let same = |e: &Expr| match e.mentions(|s| s >= self.first_item) {
                true => uncovered(&stmt.at, "holds a barrier and differs between items"),
                false => Ok(()),
            };
            match &stmt.kind {
                StmtKind::Repeat { count, body } => {
                    same(count)?;
                    let before = std::mem::take(&mut done.open);
                    let Done { ended, open } = self.repeat(stmt, (count, body), before)?;
                    done.ended.extend(ended);
                    done.open = open;
                }
                StmtKind::If { condition, then, otherwise } => {
                    same(condition)?;
                    let before = std::mem::take(&mut done.open);
                    let (a, b) =
                        (self.sequence(then, before.clone())?, self.sequence(otherwise, before)?);
                    done.ended.push(either(&at(condition), sum(a.ended), sum(b.ended)));
                    done.open = chosen(stmt, &at(condition), a.open, b.open);
                }
                _ => {
                    let phase = self.phase(&std::mem::take(&mut done.open));
                    done.ended.extend([phase, Term::Number(self.price)]);
                }
            }
        }
        Ok(done)
    }

    /// A loop around barriers, after `before`, which has not met its barrier yet.
    fn repeat(
        &self,
        stmt: &Stmt,
        (count, body): (&Expr, &Program),
        before: Program,
    ) -> Result<Done, Uncovered> {
        // The first iteration ends the phase that was open, each other the one before it.
        let first = self.sequence(body, before.clone())?;
        let next = self.sequence(body, first.open.clone())?;
        // After one iteration or many the same hangs over: what stands behind the last barrier.
        if next.open != first.open {
            return match barrier_condition(body).filter(|asked| never_fails(asked)) {
                Some(asked) => self.sequence(&forked(stmt, asked), before),
                None => uncovered(&stmt.at, "what hangs over differs between iterations"),
            };
        }
        let at = |expr: &Expr| At { at: stmt.at.clone(), expr: expr.clone() };
        let some = at(&Expr::binary(BinaryOp::Ge, count.clone(), Expr::Int(1)));
        let more = at(&Expr::binary(BinaryOp::Sub, count.clone(), Expr::Int(1)));
        let others = product(vec![Term::Count(more), sum(next.ended)]);
        let all = sum(vec![sum(first.ended), others]);
        let ended = vec![either(&some, all, Term::Number(0))];
        Ok(Done { ended, open: chosen(stmt, &some, first.open, before) })
    }

    /// The ticks of one phase: those of the slowest element.
    fn phase(&self, program: &Program) -> Term {
        let differs =
            |stmt: &Stmt| differing(std::slice::from_ref(stmt), self.first_item).is_some();
        let (different, same): (Program, Program) = program.iter().cloned().partition(differs);
        let each = self.items_each();
        let same = work(&same);
        if different.is_empty() {
            return if is_nothing(&same) { same } else { product(vec![each, same]) };
        }
        let items = |class| {
            Term::Items(Box::new(Items {
                program: different.clone(),
                local: self.local.clone(),
                elements: self.elements,
                class,
                first_item: self.first_item,
            }))
        };
        if is_nothing(&same) {
            return items(Class::All);
        }
        // With as many items in each element, what is the same for all of them is no matter of
        // which is slowest.
        let at = |expr: Expr| At { at: self.local.at.clone(), expr };
        let (local, elements) = (&self.local.expr, Expr::Int(self.elements));
        let rest = Expr::binary(BinaryOp::Rem, local.clone(), elements.clone());
        let even = Expr::binary(
            BinaryOp::Or,
            Expr::binary(BinaryOp::Le, local.clone(), elements.clone()),
            Expr::binary(BinaryOp::Eq, rest, Expr::Int(0)),
        );
        let less = Expr::binary(BinaryOp::FloorDiv, local.clone(), elements);
        let less = Term::Count(at(less));
        let all = sum(vec![product(vec![each.clone(), same.clone()]), items(Class::All)]);
        let fuller = sum(vec![product(vec![each, same.clone()]), items(Class::Fuller)]);
        let emptier = sum(vec![product(vec![less, same]), items(Class::Emptier)]);
        either(&at(even), all, Term::Max(vec![fuller, emptier]))
    }
}

/// A statement under a condition in it that has the same value wherever it is asked: for each
/// answer by itself.
fn forked(stmt: &Stmt, asked: &Expr) -> Program {
    let side = |holds| answered(std::slice::from_ref(stmt), asked, holds);
    let kind = StmtKind::If { condition: asked.clone(), then: side(true), otherwise: side(false) };
    vec![stmt.with(kind)]
}

/// One of two programs that hang over. What either side does if the condition comes out otherwise
/// is never reached.
fn chosen(stmt: &Stmt, condition: &At, then: Program, otherwise: Program) -> Program {
    let (then, otherwise) =
        (answered(&then, &condition.expr, true), answered(&otherwise, &condition.expr, false));
    if then == otherwise {
        return then;
    }
    let kind = StmtKind::If { condition: condition.expr.clone(), then, otherwise };
    vec![stmt.with(kind)]
}

fn size(program: &[Stmt]) -> usize {
    let inside = |s: &Stmt| match &s.kind {
        StmtKind::Repeat { body, .. } => size(body),
        StmtKind::If { then, otherwise, .. } => size(then) + size(otherwise),
        _ => 0,
    };
    program.iter().map(|s| 1 + inside(s)).sum()
}
