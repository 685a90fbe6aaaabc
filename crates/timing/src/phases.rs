//! The phases of a group under `opencl`, from one barrier to the next.

use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::kernel::{answered, barrier_condition, has_barrier};
use tickbound_model::{Program, Stmt, StmtKind};

use super::program::{differing, never_fails, refuse, size};
use super::sums::{either, is_nothing, product, sum, work};
use super::term::{Class, Items, LocatedExpr, Term};
use super::uncovered::{Uncovered, uncovered};

/// Most statements that phases may be made of; a loop around barriers doubles what is carried over.
const MAX_STATEMENTS: usize = 20_000;

/// The phases of a group under `opencl`.
pub(crate) struct Phases {
    /// Ticks of a barrier.
    pub price: i64,
    pub elements: i64,
    /// Items of a group.
    pub local: LocatedExpr,
    pub first_item: usize,
}

/// What came of some statements: the phases that ended, and what is carried over into the next.
struct Done {
    ended: Vec<Term>,
    open: Program,
}

impl Phases {
    /// The ticks of a group in which nothing waits for a mark.
    pub fn group(&self, kernel: &Program) -> Result<Term, Uncovered> {
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
    pub fn marked(&self, kernel: &Program) -> Result<(Term, bool), Uncovered> {
        refuse(kernel, self.first_item, "items that wait for marks differ")?;
        let alone = Expr::binary(BinaryOp::Le, self.local.expr.clone(), Expr::Int(self.elements));
        let alone = LocatedExpr { at: self.local.at.clone(), expr: alone };
        let one = Term::Run { program: Box::new(kernel.clone()), barrier: self.price };
        let several =
            sum(vec![product(vec![self.items_each(), work(kernel)]), self.barriers(kernel)]);
        Ok((either(&alone, one, several), false))
    }

    /// Items that the element with the most of them runs.
    fn items_each(&self) -> Term {
        let elements = Expr::Int(self.elements);
        let each = Expr::Call(Function::CeilDiv, vec![self.local.expr.clone(), elements]);
        Term::Count(LocatedExpr { at: self.local.at.clone(), expr: each })
    }

    fn barriers(&self, program: &[Stmt]) -> Term {
        if self.price == 0 {
            return Term::Number(0);
        }
        let one = |stmt: &Stmt| {
            let at = |expr: &Expr| LocatedExpr { at: stmt.at.clone(), expr: expr.clone() };
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
            let at = |expr: &Expr| LocatedExpr { at: stmt.at.clone(), expr: expr.clone() };
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
        // Any number of iterations carries over the same: what stands behind the last barrier.
        if next.open != first.open {
            return match barrier_condition(body).filter(|asked| never_fails(asked)) {
                Some(asked) => self.sequence(&forked(stmt, asked), before),
                None => uncovered(&stmt.at, "what hangs over differs between iterations"),
            };
        }
        let at = |expr: &Expr| LocatedExpr { at: stmt.at.clone(), expr: expr.clone() };
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
        // With as many items in each element, what is the same for all of them does not depend on
        // which is slowest.
        let at = |expr: Expr| LocatedExpr { at: self.local.at.clone(), expr };
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

/// A statement with a condition in it that is the same everywhere: for each answer by itself.
fn forked(stmt: &Stmt, asked: &Expr) -> Program {
    let side = |holds| answered(std::slice::from_ref(stmt), asked, holds);
    let kind = StmtKind::If { condition: asked.clone(), then: side(true), otherwise: side(false) };
    vec![stmt.with(kind)]
}

/// One of two programs that hang over. What either side does if the condition comes out otherwise
/// is never reached.
fn chosen(stmt: &Stmt, condition: &LocatedExpr, then: Program, otherwise: Program) -> Program {
    let (then, otherwise) =
        (answered(&then, &condition.expr, true), answered(&otherwise, &condition.expr, false));
    if then == otherwise {
        return then;
    }
    let kind = StmtKind::If { condition: condition.expr.clone(), then, otherwise };
    vec![stmt.with(kind)]
}
