//! A shape's program as phases between barriers, and its closing.
//!
//! A barrier joins the threads: the clock after it is the maximum of theirs. A term can say so only
//! where all threads are together before, so loops are turned until their bodies end at a barrier:
//! with `Y` the part after the last barrier, `(X | Y)^n` is `X | (Y X |)^(n-1) Y`.

use std::collections::HashMap;
use std::sync::Arc;

use super::pieces::{Piece, State, add, needs_mark};
use super::{SummaryOptions, push};
use crate::encoded::EncodingReport;
use crate::max_plus::{Closed, MaxPlusTerm, close};
use crate::plan::{AmountId, AmountOf, Jump, Op, Plan, Scalar, Values, has_barrier, lifted};
use crate::system::InternalError;

/// Most pieces laid while the loops of a shape are turned; beyond it events take over.
const MAX_PIECES: usize = 2_000;

/// A shape's program, as short as it gets.
pub(super) fn program(
    plan: &mut Plan,
    members: &[usize],
    options: SummaryOptions,
    report: &mut EncodingReport,
) -> Result<Vec<Op<Jump>>, InternalError> {
    if plan.items > 1 && plan.uses_marks {
        // Each item has its own mark across barriers: left to events as it is.
        report.open += 1;
        return Ok(lifted(&plan.code));
    }
    let code = plan.code.clone();
    let (canonical, room) = (HashMap::new(), MAX_PIECES);
    let mut shaper = Shaper { plan, members, options, canonical, solo: true, room };
    let pieces = shaper.pieces(&code)?;
    let pieces =
        if shaper.plan.threads == 1 { pieces } else { shaper.rotated(pieces, State::EQUAL)? };
    if shaper.room == 0 {
        report.open += 1;
        return Ok(lifted(&code));
    }
    let open_before = report.open;
    let short = shaper.emit(&pieces, Marks { needed: false, equal: true }, report)?;
    // The machine would do a phase's jump once for each item, but the jump holds all items.
    Ok(if report.open > open_before && plan.items > 1 { lifted(&code) } else { short })
}

/// What is known of the threads' marks around some pieces.
#[derive(Debug, Clone, Copy)]
struct Marks {
    /// Something after the pieces waits for the mark before setting it.
    needed: bool,
    /// All threads have the same mark before the pieces.
    equal: bool,
}

struct Shaper<'p> {
    plan: &'p mut Plan,
    /// The configurations of the shape.
    members: &'p [usize],
    options: SummaryOptions,
    /// The first scalar with given values over the shape, so that equal numbers have one name.
    canonical: HashMap<Vec<i64>, AmountOf>,
    /// The code examined is done once by each element.
    solo: bool,
    /// How many more pieces may be laid while loops are turned; each turn repeats a body.
    room: usize,
}

impl Shaper<'_> {
    fn value(&self, id: AmountId, thread: usize, item: usize) -> Option<i64> {
        self.plan.value(id, self.members[0], thread, item)
    }

    /// An amount as a number of this shape; none where the shape does not reach it.
    fn scalar(
        &mut self,
        id: AmountId,
        thread: usize,
        item: usize,
    ) -> Result<Option<Scalar>, InternalError> {
        let reached: Vec<i64> =
            self.members.iter().filter_map(|c| self.plan.value(id, *c, thread, item)).collect();
        let name = self.plan.amount(id).name.clone();
        match reached.first() {
            None => return Ok(None),
            Some(_) if reached.len() < self.members.len() => {
                return Err(InternalError(format!(
                    "{name}: one shape both reaches it and does not"
                )));
            }
            Some(first) if reached.iter().all(|v| v == first) => {
                return Ok(Some(Scalar::Int(*first)));
            }
            Some(_) => {}
        }
        if let Some(known) = self.canonical.get(&reached) {
            return Ok(Some(Scalar::Amount(*known)));
        }
        let id = self.push_uniform(&name, &reached);
        let of = AmountOf { id, thread: 0, item: 0 };
        self.canonical.insert(reached, of);
        Ok(Some(Scalar::Amount(of)))
    }

    /// A number that every member reaches.
    fn reached(
        &mut self,
        id: AmountId,
        thread: usize,
        item: usize,
    ) -> Result<Scalar, InternalError> {
        let scalar = self.scalar(id, thread, item)?;
        scalar.ok_or_else(|| {
            InternalError(format!("{}: no item reaches it", self.plan.amount(id).name))
        })
    }

    /// Adds an amount. Values outside the shape stay open, which keeps the table small.
    fn push_uniform(&mut self, name: &str, of_members: &[i64]) -> AmountId {
        let mut all = vec![None; self.plan.configurations.len()];
        self.members.iter().zip(of_members).for_each(|(c, v)| all[*c] = Some(*v));
        push(self.plan, name, Values::Uniform(all))
    }

    /// Cuts a program at its barriers; branches and empty loops are decided by the shape.
    fn pieces(&mut self, code: &[Op]) -> Result<Vec<Piece>, InternalError> {
        let mut pieces = Vec::new();
        let mut run: Vec<Op> = Vec::new();
        for op in code {
            let barrier = has_barrier(std::slice::from_ref(op));
            if !barrier {
                run.push(op.clone());
                continue;
            }
            self.flush(&mut run, &mut pieces)?;
            match op {
                Op::Barrier { price, solo } => {
                    self.solo = *solo;
                    pieces.push(Piece::Barrier { price: *price, solo: *solo });
                }
                Op::Repeat { count, body } => match self.value(*count, 0, 0) {
                    None | Some(..=0) => {}
                    Some(1) => self.pieces(body)?.into_iter().for_each(|p| add(&mut pieces, p)),
                    Some(_) => {
                        let body = self.pieces(body)?;
                        self.push_loop(*count, body, &mut pieces)?;
                    }
                },
                Op::If { condition, then, otherwise } => {
                    let Some(condition) = self.value(*condition, 0, 0) else { continue };
                    let side = if condition == 0 { otherwise } else { then };
                    self.pieces(side)?.into_iter().for_each(|p| add(&mut pieces, p));
                }
                Op::Own(never) => match *never {},
                // Without a barrier: these are in `run`.
                Op::Work { .. } | Op::Until(_) | Op::Mark => {}
            }
        }
        self.flush(&mut run, &mut pieces)?;
        Ok(pieces)
    }

    /// Appends a loop; one for each thread where the shape reaches none of its barriers.
    fn push_loop(
        &mut self,
        count: AmountId,
        mut body: Vec<Piece>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), InternalError> {
        if !matches!(body.as_slice(), [] | [Piece::Segment(_)]) {
            pieces.push(Piece::Loop { count, body });
            return Ok(());
        }
        let Some(Piece::Segment(mut threads)) = body.pop() else { return Ok(()) };
        let count = self.reached(count, 0, 0)?;
        for terms in threads.iter_mut().filter(|terms| !terms.is_empty()) {
            let body = Box::new(MaxPlusTerm::Seq(std::mem::take(terms)));
            terms.push(MaxPlusTerm::Rep(count.clone(), body));
        }
        add(pieces, Piece::Segment(threads));
        Ok(())
    }

    fn flush(&mut self, run: &mut Vec<Op>, pieces: &mut Vec<Piece>) -> Result<(), InternalError> {
        if run.is_empty() {
            return Ok(());
        }
        let code = std::mem::take(run);
        let mut threads = Vec::new();
        for t in 0..self.plan.threads {
            let one = self.solo || self.plan.items == 1;
            let items = if one { 1 } else { self.plan.items_of(self.members[0], t) };
            let of_items = (0..items as usize).map(|item| self.terms(&code, t, item));
            threads.push(of_items.collect::<Result<Vec<_>, _>>()?.concat());
        }
        add(pieces, Piece::Segment(threads));
        Ok(())
    }

    /// What one thread does with one item, without barriers.
    fn terms(
        &mut self,
        code: &[Op],
        t: usize,
        item: usize,
    ) -> Result<Vec<MaxPlusTerm>, InternalError> {
        let mut terms = Vec::new();
        for op in code {
            match op {
                Op::Work { amount, times } => {
                    let Some(ticks) = self.scalar(*amount, t, item)? else { continue };
                    terms.push(MaxPlusTerm::Work(match times {
                        None => ticks,
                        Some(times) => {
                            let times = self.reached(*times, t, item)?;
                            Scalar::Mul(Box::new(times), Box::new(ticks))
                        }
                    }));
                }
                Op::Until(amount) => {
                    terms.extend(self.scalar(*amount, t, item)?.map(MaxPlusTerm::Until));
                }
                Op::Mark => terms.push(MaxPlusTerm::Mark),
                Op::Repeat { count, body } => {
                    if self.value(*count, t, item).is_some_and(|v| v > 0) {
                        let body = self.terms(body, t, item)?;
                        if !body.is_empty() {
                            let count = self.reached(*count, t, item)?;
                            terms.push(MaxPlusTerm::Rep(count, Box::new(MaxPlusTerm::Seq(body))));
                        }
                    }
                }
                Op::If { condition, then, otherwise } => match self.value(*condition, t, item) {
                    None => {}
                    Some(0) => terms.extend(self.terms(otherwise, t, item)?),
                    Some(_) => terms.extend(self.terms(then, t, item)?),
                },
                Op::Own(never) => match *never {},
                Op::Barrier { .. } => {
                    return Err(InternalError("a barrier between two barriers".into()));
                }
            }
        }
        Ok(terms)
    }

    /// Turns every loop until its body ends at a barrier and begins where all threads are together.
    fn rotated(&mut self, pieces: Vec<Piece>, start: State) -> Result<Vec<Piece>, InternalError> {
        let mut out: Vec<Piece> = Vec::new();
        pieces.into_iter().try_for_each(|piece| self.place(&mut out, piece, start))?;
        Ok(out)
    }

    /// Appends a piece to `out`, which began in state `start`. A loop whose threads are not
    /// together where it begins, or where its body ends, is turned; so are the loops at its seams.
    fn place(
        &mut self,
        out: &mut Vec<Piece>,
        piece: Piece,
        start: State,
    ) -> Result<(), InternalError> {
        self.room = self.room.saturating_sub(1);
        let Piece::Loop { count, body } = piece else {
            add(out, piece);
            return Ok(());
        };
        if self.room == 0 {
            return Ok(());
        }
        let before = start.after(out);
        let inside = State { apart: false, equal: before.in_loop(&body) };
        let body = self.rotated(body, inside)?;
        let synced = |p: &Piece| matches!(p, Piece::Barrier { .. } | Piece::Loop { .. });
        let split = body.iter().rposition(synced).map_or(0, |i| i + 1);
        let (head, tail) = body.split_at(split);
        if tail.is_empty() && !before.apart {
            out.push(Piece::Loop { count, body });
            return Ok(());
        }
        let fewer = self.one_less(count)?;
        head.iter().try_for_each(|p| self.place(out, p.clone(), start))?;
        let turned: Vec<Piece> = tail.iter().chain(head).cloned().collect();
        let inside = State { apart: false, equal: start.after(out).in_loop(&turned) };
        let again = self.rotated(turned, inside)?;
        out.push(Piece::Loop { count: fewer, body: again });
        out.extend(tail.iter().cloned());
        Ok(())
    }

    fn one_less(&mut self, count: AmountId) -> Result<AmountId, InternalError> {
        let name = format!("{} - 1", self.plan.amount(count).name);
        let less = self.members.iter().map(|c| self.plan.value(count, *c, 0, 0).map(|v| v - 1));
        let less: Option<Vec<i64>> = less.collect();
        let less =
            less.ok_or_else(|| InternalError(format!("{name}: a loop that no item reaches")))?;
        Ok(self.push_uniform(&name, &less))
    }

    /// The pieces as operations: one jump if they close, else as few as it takes.
    fn emit(
        &mut self,
        pieces: &[Piece],
        marks: Marks,
        report: &mut EncodingReport,
    ) -> Result<Vec<Op<Jump>>, InternalError> {
        if pieces.is_empty() {
            return Ok(Vec::new());
        }
        // A term has one mark for all threads, so they must agree on it if it is read.
        if marks.equal || !needs_mark(pieces, false) {
            let term = self.term(pieces, marks.needed)?;
            if let Some(closed) = self.close(&term)? {
                return Ok(vec![noted(closed, report)]);
            }
        }
        report.open += 1;
        let mut out = Vec::new();
        for (i, piece) in pieces.iter().enumerate() {
            let state = State { apart: false, equal: marks.equal }.after(&pieces[..i]);
            let needed = needs_mark(&pieces[i + 1..], marks.needed);
            match piece {
                Piece::Barrier { price, solo } => {
                    out.push(Op::Barrier { price: *price, solo: *solo });
                }
                Piece::Loop { count, body } => {
                    let inside = Marks {
                        needed: needs_mark(body, needed) || needed,
                        equal: state.in_loop(body),
                    };
                    out.push(Op::Repeat { count: *count, body: self.emit(body, inside, report)? });
                }
                Piece::Segment(threads) => out.extend(self.segment(threads, report)?),
            }
        }
        Ok(out)
    }

    /// What each thread does up to the next barrier, as its own jump.
    fn segment(
        &mut self,
        threads: &[Vec<MaxPlusTerm>],
        report: &mut EncodingReport,
    ) -> Result<Vec<Op<Jump>>, InternalError> {
        let mut code: Vec<Op<Jump>> = Vec::new();
        for (t, terms) in threads.iter().enumerate().rev() {
            let own = match self.close(&MaxPlusTerm::Seq(terms.clone()))? {
                Some(closed) => vec![noted(closed, report)],
                None => self.steps(terms)?,
            };
            if t + 1 == threads.len() {
                code = own;
                continue;
            }
            let (threads, items) = (self.plan.threads, self.plan.items);
            let mut values = vec![Some(0); self.plan.configurations.len() * threads * items];
            for c in 0..self.plan.configurations.len() {
                let first = (c * threads + t) * items;
                values[first..first + items].fill(Some(1));
            }
            let condition = push(self.plan, &format!("is_thread_{t}"), Values::PerItem(values));
            code = vec![Op::If { condition, then: own, otherwise: code }];
        }
        Ok(code)
    }

    /// Terms that do not close as plain operations. The terms of one thread hold no join.
    fn steps(&mut self, terms: &[MaxPlusTerm]) -> Result<Vec<Op<Jump>>, InternalError> {
        let mut steps = Vec::new();
        for term in terms {
            match term {
                MaxPlusTerm::Mark => steps.push(Op::Mark),
                MaxPlusTerm::Rep(count, body) => {
                    let values = self.values(count)?;
                    let count = self.push_uniform("count", &values);
                    let body = self.steps(std::slice::from_ref(body))?;
                    steps.push(Op::Repeat { count, body });
                }
                MaxPlusTerm::Seq(parts) | MaxPlusTerm::Join { threads: parts, .. } => {
                    steps.extend(self.steps(parts)?);
                }
                MaxPlusTerm::Work(ticks) => {
                    steps.push(Op::Own(Jump::Keep { now: ticks.clone(), mark: Scalar::Never }));
                }
                MaxPlusTerm::Until(ticks) => {
                    let after = Scalar::Add(Box::new(ticks.clone()), Box::new(Scalar::Int(1)));
                    steps.push(Op::Own(Jump::Keep { now: Scalar::Int(0), mark: after }));
                }
            }
        }
        Ok(steps)
    }

    fn close(&self, term: &MaxPlusTerm) -> Result<Option<Closed>, InternalError> {
        let mut values = |of| Ok(Arc::new(self.values(&Scalar::Amount(of))?));
        close(term, self.options.shrink, &mut values)
    }

    fn values(&self, scalar: &Scalar) -> Result<Vec<i64>, InternalError> {
        match scalar {
            Scalar::Amount(of) => {
                let value = |c: &usize| self.plan.value(of.id, *c, of.thread, of.item);
                let values: Option<Vec<i64>> = self.members.iter().map(value).collect();
                values.ok_or_else(|| {
                    InternalError(format!("{}: no item reaches it", self.plan.amount(of.id).name))
                })
            }
            Scalar::Int(v) => Ok(vec![*v; self.members.len()]),
            _ => Err(InternalError("a number that is neither an amount nor a constant".into())),
        }
    }

    /// The pieces as one term; all threads are together at its beginning and at its end.
    fn term(&mut self, pieces: &[Piece], mark_needed: bool) -> Result<MaxPlusTerm, InternalError> {
        let mut parts = Vec::new();
        let mut pending: Vec<Vec<MaxPlusTerm>> = vec![Vec::new(); self.plan.threads];
        for (i, piece) in pieces.iter().enumerate() {
            let needed = needs_mark(&pieces[i + 1..], mark_needed);
            match piece {
                Piece::Segment(threads) => {
                    for (all, own) in pending.iter_mut().zip(threads) {
                        all.extend(own.iter().cloned());
                    }
                }
                Piece::Barrier { price, .. } => {
                    parts.extend(joined(&mut pending, !needed));
                    if *price > 0 {
                        parts.push(MaxPlusTerm::Work(Scalar::Int(*price)));
                    }
                }
                Piece::Loop { count, body } => {
                    let inside = needs_mark(body, needed);
                    parts.extend(joined(&mut pending, !(inside || needed)));
                    let body = self.term(body, inside || needed)?;
                    let count = self.reached(*count, 0, 0)?;
                    parts.push(MaxPlusTerm::Rep(count, Box::new(body)));
                }
            }
        }
        parts.extend(joined(&mut pending, !mark_needed));
        Ok(MaxPlusTerm::Seq(parts))
    }
}

/// The closed piece as an operation, counted in the report.
fn noted(closed: Closed, report: &mut EncodingReport) -> Op<Jump> {
    report.closed += 1;
    report.nodes_in += closed.nodes_in;
    report.nodes_out += closed.nodes_out;
    report.nodes_explored += closed.nodes_explored;
    Op::Own(closed.jump)
}

/// What the threads did since they were together, as a join; takes it out of `pending`.
fn joined(pending: &mut [Vec<MaxPlusTerm>], mark_is_dead: bool) -> Option<MaxPlusTerm> {
    let mut threads: Vec<MaxPlusTerm> = Vec::new();
    for terms in pending {
        let own = MaxPlusTerm::Seq(std::mem::take(terms));
        if !threads.contains(&own) {
            threads.push(own);
        }
    }
    if threads.len() > 1 {
        return Some(MaxPlusTerm::Join { threads, mark_is_dead });
    }
    threads.pop().filter(|t| *t != MaxPlusTerm::Seq(Vec::new()))
}
