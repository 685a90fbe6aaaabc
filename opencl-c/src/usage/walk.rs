//! The walk over the steps of one variant.

use std::sync::Arc;

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::Expr;
use tickbound_model::expr::BinaryOp;

use super::around::{Around, Loop};
use super::arrays::{self, Array, Arrays, Own, Room};
use super::batch::{Batch, Waits, is_from_data};
use super::footprint::{Addresses, Axis, addresses};
use super::guards::Ends;
use super::kept::{Kept, window};
use super::lanes::{Lane, lines, passes};
use super::number::{
    SHARES, add, all, ceil_div, choice, is_zero, less, max, min, mul, part_of, quotient, remainder,
    sub,
};
use super::traffic::{Moved, Traffic, at_work, held};
use super::unroll::{Unroll, Unrolling, macros_only};
use super::vectors::Unrolled;
use super::{Device, PLAIN_REGISTERS};
use crate::ast::{At, Space};
use crate::error::ReadError;
use crate::lower::{Item, Names};
use crate::preprocess::Said;
use crate::steps::{
    Access, Arithmetic, Dependence, Number, Step, StepKind, Steps, Stride, accesses, picks_one,
};

/// Instructions of one division of whole numbers: compilers make sequences of them.
const INTEGER_DIVISION: i64 = 20;

/// Instructions of one iteration of a loop: compare, add, jump.
const ITERATION: i64 = 3;

/// Iterations of a short loop whose loads are waited for together.
const SHORT_AT_ONCE: i64 = 4;

/// Where a part of a usage comes from: what it is a part of, the line of the source if it is of one, and the array.
pub(super) type Origin = (&'static str, Option<Line>, String);

/// A file as messages name it, and a line of it.
pub(super) type Line = (Arc<str>, u32);

/// The parts that the steps of one variant add to what is used.
pub(super) fn parts(
    steps: &Steps,
    names: &Names,
    device: &Device,
    said: &[Said],
) -> Result<IndexMap<Origin, Expr>, ReadError> {
    let item = names.of_item(Item::Middle);
    let product = |what: &str| match steps.body.first() {
        Some(step) => product(&item, what, &step.at),
        None => Ok(Expr::Int(1)),
    };
    let mut walk = Walk {
        names: &item,
        ends: Ends::new(names),
        at_work: at_work(device, product("local")?, product("groups")?),
        held: held(device, product("local")?, product("groups")?),
        device,
        unroll: Unroll { names: &item, said },
        read_only: &steps.read_only,
        stores_guarded: stores_guarded(&steps.body, false),
        parts: IndexMap::new(),
        innermost: None,
        kept: Kept::default(),
        privates: Arrays::default(),
        arrays: IndexMap::new(),
    };
    let mut batch = Batch::new();
    walk.steps(&steps.body, &Around::nothing(), &mut batch)?;
    walk.wait(batch.waits(device.line, Expr::Int(1), Expr::Int(1)), None);
    walk.finish(steps)
}

/// How the lanes of one request are served.
struct Request<'l> {
    /// Words of a lane, of 4 bytes or of a vector: 1, 2 or 4.
    words: i64,
    /// Bytes of a lane.
    bytes: i64,
    /// `None` where that cannot be said.
    lanes: Option<&'l [Lane]>,
    /// 1 if the first one is at the beginning of a line.
    aligned: &'l Expr,
}

struct Walk<'a> {
    /// Of the item in the middle, which stands for all.
    names: &'a Names,
    ends: Ends,
    /// Groups that are at work at once, and those of one unit.
    at_work: Expr,
    held: Expr,
    device: &'a Device,
    unroll: Unroll<'a>,
    /// Arrays that nobody writes.
    read_only: &'a [String],
    /// Whether something is stored by some items only.
    stores_guarded: bool,
    parts: IndexMap<Origin, Expr>,
    /// Iterations of the innermost loops with real arithmetic that are not unrolled.
    innermost: Option<Expr>,
    /// What compilers keep in registers that leave loads in the source's order.
    kept: Kept,
    /// What is done to private arrays.
    privates: Arrays,
    /// Different bytes of each array in global memory that are loaded or stored, of a group and of the launch, and where it is
    /// first done.
    arrays: IndexMap<(String, bool), (Expr, Expr, At)>,
}

impl Walk<'_> {
    fn steps(
        &mut self,
        steps: &[Step],
        around: &Around,
        batch: &mut Batch,
    ) -> Result<(), ReadError> {
        batch.real |= self.arithmetic(steps, around)?;
        let filled = arrays::filled(steps);
        for step in steps {
            match &step.kind {
                StepKind::Access(access) => {
                    let fills = filled.contains(&access.array.as_str());
                    self.access(access, (&step.at, around), fills, batch)?;
                }
                StepKind::Atomic { space, shared } => {
                    self.atomic((*space, *shared), &step.at, around)?;
                }
                StepKind::Compute { .. } => {}
                StepKind::Barrier => self.add("barriers", Some(&step.at), "", around.executed()),
                StepKind::Repeat { count, whole, body } => {
                    let whole = whole.as_ref().unwrap_or(count);
                    self.repeat((count, whole, &step.at), body, around, batch)?;
                }
                StepKind::If { condition, depends, then, otherwise } => {
                    if !macros_only(condition) && !step.is_private() {
                        self.add("branches", Some(&step.at), "", around.rolled());
                    }
                    for (side, holds) in [(then, true), (otherwise, false)] {
                        let inside = self.side((condition, *depends, &step.at), holds, around)?;
                        self.steps(side, &inside, batch)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What stands around one side of a branch.
    fn side(
        &self,
        (condition, depends, at): (&Number, Dependence, &At),
        holds: bool,
        around: &Around,
    ) -> Result<Around, ReadError> {
        let inside = match self.ends.of_side(condition, holds, at)? {
            Some(shares) => shares.into_iter().fold(around.clone(), |all, s| all.of_items(s)),
            None => around.on_side(self.names.put_in(condition, at)?, holds),
        };
        let inside = if picks_one(condition, holds) { inside.of_one(around) } else { inside };
        Ok(inside.guarded_if(depends > Dependence::Uniform))
    }

    fn repeat(
        &mut self,
        (count, whole, at): (&Number, &Number, &At),
        body: &[Step],
        around: &Around,
        batch: &mut Batch,
    ) -> Result<(), ReadError> {
        let (around, count) = match self.ends.of_loop(count, whole, at)? {
            Some(share) => (&around.of_items(share), whole),
            None => (around, count),
        };
        let trips = self.names.put_in(count, at)?.simplified();
        let trips = if never_negative(&trips) { trips } else { max(Expr::Int(0), trips) };
        batch.around_any |= !body.iter().all(Step::is_private);
        let known = macros_only(whole);
        let Unrolling { whole, body: said } = self.unroll.of(whole, at, body)?;
        let outermost = around.loops.iter().all(|l| !l.unrolled);
        let (whole, in_part) = match self.device.source_order && outermost && whole != Expr::Int(0)
        {
            true => {
                let (fits, in_part) = self.unroll.limited(&trips, self.known(&trips), body)?;
                (choice(whole, fits, Expr::Int(0)), in_part)
            }
            false => (whole, Expr::Int(1)),
        };
        if whole != Expr::Int(0) {
            let inside = around.on_side(whole.clone(), true).unrolled(trips.clone());
            self.steps(body, &inside, batch)?;
        }
        if whole == Expr::Int(1) {
            return Ok(());
        }
        let in_body = said.clone().unwrap_or(in_part);
        // A loop of one iteration is none, where compilers know it.
        let again = if known { less(Expr::Int(1), trips.clone()) } else { Expr::Int(1) };
        let inside = around.on_side(whole, false).in_loop(trips, in_body);
        self.rolled_loop((at, said.is_some(), again), body, &inside, batch)
    }

    /// A loop that is not unrolled as a whole, as the innermost one around; `said`: the source says how far it is; `again`: 1 if it
    /// has more than one iteration.
    fn rolled_loop(
        &mut self,
        (at, said, again): (&At, bool, Expr),
        body: &[Step],
        inside: &Around,
        batch: &mut Batch,
    ) -> Result<(), ReadError> {
        let mut own = Batch::new();
        self.steps(body, inside, &mut own)?;
        let iterations = inside.rolled();
        // Compilers unroll a loop in part that is short: one without a loop in it, or that only copies.
        let short = match said {
            true => iterations.clone(),
            false => ceil_div(iterations.clone(), Expr::Int(SHORT_AT_ONCE)),
        };
        let tests = if own.around_any { iterations.clone() } else { short.clone() };
        let tests = choice(again, tests, Expr::Int(0));
        self.add("integer", Some(at), "", mul(Expr::Int(ITERATION), tests.clone()));
        self.add("branches", Some(at), "", tests);
        batch.around_loop |= own.around_loop || own.real;
        if own.real && !own.around_loop {
            let most = self.innermost.take();
            self.innermost = Some(most.map_or(iterations.clone(), |m| max(m, iterations.clone())));
        }
        let waits = if own.real && own.around_any { iterations.clone() } else { short };
        self.wait(own.waits(self.device.line, iterations, waits), Some(at));
        Ok(())
    }

    fn wait(&mut self, Waits { far, near, local }: Waits, at: Option<&At>) {
        for (what, times) in [("far_steps", far), ("near_steps", near), ("local_steps", local)] {
            self.add(what, at, "", times);
        }
    }

    /// The arithmetic of one block; whether some of it is real.
    fn arithmetic(&mut self, steps: &[Step], around: &Around) -> Result<bool, ReadError> {
        let (mut adds, mut multiplies) = (0i64, 0i64);
        let (mut integer, mut convert, mut special) = (0i64, 0i64, 0i64);
        for step in steps {
            let StepKind::Compute { kind, amount, width } = &step.kind else { continue };
            let vector = self.device.vectors.instructions(4 * i64::from(*width));
            let n = i64::from(*amount).saturating_mul(vector);
            match kind {
                Arithmetic::Index => {}
                Arithmetic::Integer | Arithmetic::IntegerMultiply => integer += n,
                Arithmetic::IntegerDivide => integer += INTEGER_DIVISION * n,
                Arithmetic::Real => adds += n,
                Arithmetic::RealMultiply => multiplies += n,
                Arithmetic::RealMultiplyAdd => (adds, multiplies) = (adds + n, multiplies + n),
                Arithmetic::RealDivide => {
                    multiplies += self.device.real_division * n;
                    special += n;
                }
                Arithmetic::Special => special += n,
                Arithmetic::Convert => convert += n,
            }
        }
        // A multiplication takes an addition with it.
        let real = adds.max(multiplies);
        let at = steps.first().map(|step| &step.at);
        let executed = self.packed(steps, around)?;
        // Beside real numbers, whole ones are of places and conditions on them, which unrolled iterations have in common.
        let places = if real > 0 { around.rolled() } else { executed.clone() };
        for (what, n, executed) in [
            ("real", real, &executed),
            ("integer", integer, &places),
            ("convert", convert, &executed),
            ("special", special, &executed),
        ] {
            self.add(what, at, "", mul(Expr::Int(n), executed.clone()));
        }
        Ok(real > 0)
    }

    /// How often a block is executed, with iterations that vectors take together counted once.
    fn packed(&self, steps: &[Step], around: &Around) -> Result<Expr, ReadError> {
        let scalar =
            |step: &Step| !matches!(step.kind, StepKind::Compute { width, .. } if width > 1);
        if !self.device.vectors.are_wide() || around.guarded || !steps.iter().all(scalar) {
            return Ok(around.executed());
        }
        let unrolled = |(access, at): (&Access, &At)| {
            let (axes, _) = bodies(&self.loop_axes(access, at, around)?, around);
            Ok(Unrolled { store: access.store, bytes: access.bytes(), axes })
        };
        let accesses: Vec<Unrolled> =
            accesses(steps).map(unrolled).collect::<Result<_, ReadError>>()?;
        Ok(self.device.vectors.packed(around.executed(), &accesses))
    }

    /// An atomic operation: one request that all lanes pass one after the other. On one address of the launch L2 does
    /// those of all items one after the other.
    fn atomic(
        &mut self,
        (space, shared): (Space, bool),
        at: &At,
        around: &Around,
    ) -> Result<(), ReadError> {
        let executed = around.executed();
        let passes = mul(executed.clone(), Expr::Int(self.device.warp));
        let (requests, wavefronts) = of_memory(space);
        self.add(requests, Some(at), "", executed.clone());
        self.add(wavefronts, Some(at), "", passes);
        if shared && space != Space::Local {
            let groups = product(self.names, "groups", at)?;
            let of_group = match around.executed_alone() {
                Some(alone) => alone,
                None => mul(product(self.names, "local", at)?, executed),
            };
            self.add("shared_atomics", Some(at), "", mul(groups, of_group));
        }
        Ok(())
    }

    /// An access; `fills`: it is of a private array that global memory fills.
    fn access(
        &mut self,
        access: &Access,
        (at, around): (&At, &Around),
        fills: bool,
        batch: &mut Batch,
    ) -> Result<(), ReadError> {
        let loops = self.loop_axes(access, at, around)?;
        let (unrolled, rolled) = bodies(&loops, around);
        if access.space == Space::Private {
            let fills = fills && !self.device.source_order;
            self.private(access, (at, around), (&unrolled, &rolled), fills, batch);
            return Ok(());
        }
        let lanes = self.lanes(access, at)?;
        let same = lanes.as_ref().is_some_and(|l| l.iter().all(|l| l.distance == Expr::Int(0)));
        // From the cache for constants it is an operand.
        if access.space == Space::Constant && same {
            return Ok(());
        }
        let bytes = access.bytes();
        let merged = match around.guarded {
            true => unrolled.iter().fold(Expr::Int(1), |all, axis| mul(all, axis.extent.clone())),
            false => addresses(&unrolled, bytes, &self.device.inputs).count,
        };
        let vectors = &self.device.vectors;
        let requests = vectors.requests(bytes);
        let bytes_each = bytes.min(vectors.widest());
        let words = match vectors.instructions(bytes_each) {
            ..=2 => vectors.instructions(bytes_each),
            _ => 4,
        };
        let each = mul(merged, Expr::Int(requests));
        let requests = repeated(around, each.clone(), Expr::Int(requests));
        if !access.store {
            self.keep(access, (at, around), &unrolled, (words, &each));
        }
        let (aligned, row) = self.aligned(access, at, &loops, lanes.as_deref())?;
        let request =
            Request { words, bytes: bytes_each, lanes: lanes.as_deref(), aligned: &aligned };
        self.request(access, at, &request, requests.clone());
        // An address that comes from data is computed for each request.
        let from_data = is_from_data(access);
        let addresses = if from_data { mul(Expr::Int(2), requests) } else { around.rolled() };
        self.add("integer", Some(at), &access.array, addresses);
        if !access.store {
            let each = mul(around.taken.clone(), each);
            batch.load(access, rolled.first(), each);
        }
        if access.space != Space::Local {
            self.touch((access, at, around), lanes, loops, (aligned, row))?;
        }
        Ok(())
    }

    /// An access of a private array, which counts if the array lives in memory.
    fn private(
        &mut self,
        access: &Access,
        (at, around): (&At, &Around),
        (unrolled, rolled): (&[Axis], &[Axis]),
        fills: bool,
        batch: &mut Batch,
    ) {
        let bytes = access.bytes();
        let places = arrays::places(rolled);
        let indexed = arrays::indexed(access, places.clone(), self.device);
        let indexed = choice(around.taken.clone(), indexed, Expr::Int(0));
        let (requests, words) = arrays::in_body(bytes, unrolled, self.device);
        if !access.store && indexed != Expr::Int(0) {
            batch.load_own(choice(indexed.clone(), requests.clone(), Expr::Int(0)));
        }
        let words = repeated(around, words, Expr::Int((bytes + 3) / 4));
        let own = Own {
            at: at.clone(),
            store: access.store,
            bytes,
            copies: if fills { arrays::again(unrolled) } else { Expr::Int(1) },
            requests: repeated(around, requests, Expr::Int(self.device.vectors.requests(bytes))),
            choices: arrays::choices(places, words.clone()),
            words,
            addresses: around.rolled(),
        };
        self.privates.add(&access.array, indexed, own);
    }

    /// Private arrays take registers, or requests and room where they live in memory.
    fn finish_privates(&mut self, steps: &Steps) -> Result<(), ReadError> {
        let privates = std::mem::take(&mut self.privates);
        let mut live = Vec::new();
        for array in &steps.privates {
            let bytes = self.names.put_in(&array.bytes, &array.at)?.simplified();
            let words = ceil_div(bytes.clone(), Expr::Int(4));
            let known = privates.get(&array.name);
            let in_memory = known.map_or(Expr::Int(0), |known| known.in_memory.clone());
            let element = known.map_or(0, Array::element);
            let registers = self.device.vectors.registers(bytes, element);
            let registers = mul(registers, known.map_or(Expr::Int(1), Array::copies));
            let registers = choice(in_memory.clone(), Expr::Int(0), registers);
            self.add("registers", Some(&array.at), &array.name, registers);
            let Some(known) = known else { continue };
            for Own { at, choices, .. } in &known.accesses {
                let choices = choice(in_memory.clone(), Expr::Int(0), choices.clone());
                self.add("integer", Some(at), &array.name, choices);
            }
            if in_memory != Expr::Int(0) {
                let words = choice(in_memory, words, Expr::Int(0));
                live.push((array, known, words));
            }
        }
        let Some((first, ..)) = live.first() else { return Ok(()) };
        let groups = product(self.names, "groups", &first.at)?;
        let items = product(self.names, "local", &first.at)?;
        let warp = Expr::Int(self.device.warp);
        let words = live.iter().map(|(.., words)| words.clone()).fold(Expr::Int(0), add);
        let mut local = steps.locals.iter().map(|array| self.names.put_in(&array.bytes, &array.at));
        let room = Room {
            device: self.device,
            bytes: mul(Expr::Int(4), words),
            held: self.held.clone(),
            lanes: mul(ceil_div(items, warp.clone()), warp),
            at_work: self.at_work.clone(),
            local: local.fold_ok(Expr::Int(0), add)?,
        };
        for (array, known, _) in live {
            let (loaded, stored) = self.finish_array(&array.name, known);
            let moved = room.moved(loaded, stored);
            let dram = room.beyond_l2(mul(groups.clone(), moved.clone()));
            self.add("l2_bytes", Some(&array.at), &array.name, moved);
            self.add("dram_bytes", Some(&array.at), &array.name, dram);
        }
        Ok(())
    }

    /// The accesses of an array, if it lives in memory; words that are loaded and stored.
    fn finish_array(&mut self, name: &str, array: &Array) -> (Expr, Expr) {
        let (mut loaded, mut stored) = (Expr::Int(0), Expr::Int(0));
        let lines = Expr::Int((4 * self.device.warp + self.device.line - 1) / self.device.line);
        for Own { at, store, requests, words, addresses, .. } in array.accesses.iter().cloned() {
            let if_so = |count| choice(array.in_memory.clone(), count, Expr::Int(0));
            let words = if_so(words);
            let sum = if store { &mut stored } else { &mut loaded };
            *sum = add(sum.clone(), words.clone());
            self.add("global_requests", Some(&at), name, if_so(requests));
            self.add("global_lines", Some(&at), name, mul(lines.clone(), words.clone()));
            self.add("global_wavefronts", Some(&at), name, words);
            self.add("integer", Some(&at), name, if_so(addresses));
        }
        (loaded, stored)
    }

    /// Registers for elements of loads in unrolled loops.
    fn keep(
        &mut self,
        access: &Access,
        (at, around): (&At, &Around),
        unrolled: &[Axis],
        (words, each): (i64, &Expr),
    ) {
        let in_order = self.device.source_order || self.read_only.contains(&access.array);
        if unrolled.is_empty() || !in_order {
            return;
        }
        let registers = |elements: Expr| mul(around.taken.clone(), mul(Expr::Int(words), elements));
        let uses = unrolled.iter().fold(around.taken.clone(), |all, l| mul(all, l.extent.clone()));
        if !around.guarded {
            self.kept.window(at.line, registers(window(unrolled)), uses);
        }
        // Loads are moved before conditions: those of a condition around them, and, as what only some items store only they
        // compute, that of the store.
        let alone = around.rolled_loops() == 0;
        if self.device.source_order && (around.guarded || self.stores_guarded && alone) {
            self.kept.early(at.line, registers(each.clone()), around.rolled_for_one());
        }
    }

    fn request(&mut self, access: &Access, at: &At, request: &Request<'_>, requests: Expr) {
        // What cannot be said: no conflicts among banks, and a line for each lane.
        let Request { words, bytes, lanes, aligned } = request;
        let (wavefronts, touched) = match lanes {
            Some(lanes) => {
                (passes(self.device, lanes, *words), lines(self.device, lanes, *bytes, aligned))
            }
            None => (Expr::Int(SHARES * words), Expr::Int(SHARES * self.device.warp)),
        };
        let (count, passed) = of_memory(access.space);
        self.add(count, Some(at), &access.array, requests.clone());
        if !access.store && self.read_only.contains(&access.array) {
            self.add("read_only_requests", Some(at), &access.array, requests.clone());
        }
        self.add(passed, Some(at), &access.array, part_of(requests.clone(), wavefronts));
        if access.space != Space::Local {
            self.add("global_lines", Some(at), &access.array, part_of(requests, touched));
        }
    }

    /// Adds to a part.
    fn add(&mut self, what: &'static str, at: Option<&At>, array: &str, more: Expr) {
        if more != Expr::Int(0) {
            let line = at.map(|at| (Arc::clone(&at.file), at.line));
            let part = self.parts.entry((what, line, array.to_owned())).or_insert(Expr::Int(0));
            *part = add(std::mem::replace(part, Expr::Int(0)), more);
        }
    }

    /// 1 if all that moves the first lane of an access moves it by whole lines, or, where a row of lanes with what lies between
    /// them is a part of a line, by whole rows, which then lie in one line. Loops that go over what lies between two lanes move
    /// nothing into another line. Also the bytes of such a row, or of a line.
    fn aligned(
        &self,
        access: &Access,
        at: &At,
        loops: &[Axis],
        lanes: Option<&[Lane]>,
    ) -> Result<(Expr, Expr), ReadError> {
        let line = Expr::Int(self.device.line);
        let (row, apart) = lanes.map_or((line.clone(), Expr::Int(0)), |lanes| self.row(lanes));
        let mut distances: Vec<Option<Expr>> = Vec::new();
        if let Some([first, others @ ..]) = lanes {
            // Where neighbours share an address, the row is of the next ones.
            let of_second = is_zero(first.distance.clone());
            for (i, lane) in others.iter().enumerate() {
                let moves = lane.distance.clone();
                let still = Expr::Int(0);
                let distance = if i == 0 { choice(of_second.clone(), still, moves) } else { moves };
                distances.push(Some(distance));
            }
        }
        for stride in &access.groups {
            distances.push(self.distance(stride, access, at)?);
        }
        let fills = between(loops, access.bytes(), &apart);
        let whole = |distance: Option<Expr>| match distance {
            Some(distance) => is_zero(remainder(distance, row.clone())),
            None => Expr::Int(0),
        };
        let of_loop = |axis: &Axis| match &axis.distance {
            Some(distance) => {
                let inside =
                    choice(less(distance.clone(), apart.clone()), fills.clone(), Expr::Int(0));
                choice(inside, Expr::Int(1), whole(Some(distance.clone())))
            }
            None => Expr::Int(0),
        };
        let of_loops = loops.iter().map(of_loop).unique();
        Ok((all(of_loops.chain(distances.into_iter().unique().map(whole))), row))
    }

    /// Bytes of a row of lanes of a warp, with what lies between them, where it is a part of a line, and else of a line; and how far
    /// its lanes are apart.
    fn row(&self, lanes: &[Lane]) -> (Expr, Expr) {
        let (line, warp) = (Expr::Int(self.device.line), Expr::Int(self.device.warp));
        let mut apart = Expr::Int(0);
        let mut length = Expr::Int(0);
        let mut left = warp;
        for Lane { distance, extent } in lanes.iter().take(2) {
            let none = is_zero(apart.clone());
            let own = mul(distance.clone(), min(left.clone(), extent.clone()));
            length = choice(none.clone(), own, length);
            apart = choice(none, distance.clone(), apart);
            left = max(Expr::Int(1), quotient(left, extent.clone()));
        }
        let length = choice(is_zero(length.clone()), line.clone(), length);
        let part = is_zero(remainder(line.clone(), length.clone()));
        (choice(part, length, line), apart)
    }

    /// The loops around an access, inner ones first, as repetitions of its address.
    fn loop_axes(&self, access: &Access, at: &At, around: &Around) -> Result<Vec<Axis>, ReadError> {
        let mut strides = access.iterations.iter();
        let axis = |l: &Loop| {
            let distance = match strides.next() {
                Some(stride) => self.distance(stride, access, at)?,
                None => None,
            };
            Ok(Axis { distance, extent: l.trips.clone() })
        };
        around.loops.iter().rev().map(axis).collect()
    }

    /// Bytes, not negative.
    fn distance(
        &self,
        stride: &Stride,
        access: &Access,
        at: &At,
    ) -> Result<Option<Expr>, ReadError> {
        match stride {
            Stride::Elements(n) | Stride::Shifted(n) => self.bytes(n, access, at).map(Some),
            Stride::Irregular | Stride::Data => Ok(None),
        }
    }

    fn bytes(&self, elements: &Number, access: &Access, at: &At) -> Result<Expr, ReadError> {
        let elements = unsigned(self.names.put_in(elements, at)?.simplified());
        Ok(mul(Expr::Int(i64::from(access.element)), elements))
    }

    fn lanes(&self, access: &Access, at: &At) -> Result<Option<Vec<Lane>>, ReadError> {
        let Some(digits) = &access.digits else { return Ok(None) };
        let lane = |digit: &crate::steps::Digit| {
            let distance = self.bytes(&digit.stride, access, at)?;
            let extent = self.names.put_in(&digit.extent, at)?.simplified();
            Ok(Lane { distance, extent })
        };
        digits.iter().map(lane).collect::<Result<_, ReadError>>().map(Some)
    }

    /// Bytes that pieces of a sweep take more than they have: one that begins and ends in the midst of a line, on average, a line but
    /// for one element; one that is moved by whole lines, or by whole rows that divide a line, the rest of a sector.
    fn margin<'x>(
        &self,
        bytes: i64,
        sweep: &'x [Axis],
        others: impl Iterator<Item = &'x Axis>,
        (by_rows, row): (Expr, Expr),
    ) -> Expr {
        let Addresses { count, pieces } = addresses(sweep, bytes, &self.device.inputs);
        let piece = mul(Expr::Int(bytes), ceil_div(count, pieces));
        let whole = |axis: &Axis, inside: bool| {
            let Some(distance) = axis.distance.clone() else { return Expr::Int(0) };
            let whole = is_zero(remainder(distance.clone(), Expr::Int(self.device.line)));
            // What is less than a piece makes it up.
            if inside { choice(less(distance, piece.clone()), Expr::Int(1), whole) } else { whole }
        };
        let own = sweep.iter().map(|axis| whole(axis, true));
        let by_lines = all(own.chain(others.map(|axis| whole(axis, false))).unique());
        let anywhere = Expr::Int((self.device.line - bytes).max(0));
        let short = |row| max(Expr::Int(0), sub(Expr::Int(self.device.sector), row));
        choice(by_lines, short(piece), choice(by_rows, short(row), anywhere))
    }

    /// Adds the bytes that differ to those of the array.
    fn touch(
        &mut self,
        (access, at, around): (&Access, &At, &Around),
        lanes: Option<Vec<Lane>>,
        loops: Vec<Axis>,
        (aligned, row): (Expr, Expr),
    ) -> Result<(), ReadError> {
        let mut sweep: Vec<Axis> = match lanes {
            Some(lanes) => (lanes.into_iter())
                .map(|Lane { distance, extent }| Axis { distance: Some(distance), extent })
                .collect(),
            None => (sizes(self.names, "local", at)?.into_iter())
                .map(|extent| Axis { distance: None, extent })
                .collect(),
        };
        let outer = around.rolled_loops().saturating_sub(1);
        let mut axes = loops.into_iter();
        sweep.extend(axes.by_ref().take(around.loops.len() - outer));
        let outer: Vec<Axis> = axes.collect();
        let groups: Vec<Axis> = (access.groups.iter().zip(sizes(self.names, "groups", at)?))
            .map(|(stride, extent)| {
                Ok(Axis { distance: self.distance(stride, access, at)?, extent })
            })
            .collect::<Result<_, ReadError>>()?;
        let bytes = access.bytes();
        let others = outer.iter().chain(&groups);
        let margin = match is_from_data(access) {
            true => Expr::Int((self.device.line - bytes).max(0)),
            false => self.margin(bytes, &sweep, others, (aligned, row)),
        };
        let traffic = Traffic { device: self.device, bytes, margin, sweep, outer, groups };
        let held = if access.store { &Expr::Int(1) } else { &self.held };
        let Moved { group, launch, beyond_l2, l3 } = traffic.moved(&self.at_work, held);
        let taken = |bytes| mul(around.taken.clone(), bytes);
        if !access.store && !self.is_in_l2(&access.array) {
            self.add("beyond_l2_bytes", Some(at), &access.array, taken(beyond_l2));
            self.add("l3_bytes", Some(at), &access.array, taken(l3));
        }
        let (group, launch) = (taken(group), taken(launch));
        let key = (access.array.clone(), access.store);
        let known = match self.arrays.get(&key) {
            Some((least, most, first)) => {
                (max(least.clone(), group), max(most.clone(), launch), first.clone())
            }
            None => (group, launch, at.clone()),
        };
        self.arrays.insert(key, known);
        Ok(())
    }

    /// The value of a number that no parameter decides.
    fn known(&self, number: &Expr) -> Option<i64> {
        let values = &self.device.values;
        if number.mentions(|slot| slot >= values.len()) { None } else { number.eval(values).ok() }
    }

    /// Whether a whole array is in L2 once it was read, for any values of parameters.
    fn is_in_l2(&self, array: &str) -> bool {
        let bytes = self.names.bytes_of(array).and_then(|bytes| self.known(bytes));
        bytes.zip(self.device.l2).is_some_and(|(bytes, l2)| bytes <= l2)
    }

    fn finish(mut self, steps: &Steps) -> Result<IndexMap<Origin, Expr>, ReadError> {
        for ((array, _), (group, launch, at)) in std::mem::take(&mut self.arrays) {
            let whole = self.names.bytes_of(&array).cloned();
            let launch = whole.map_or(launch.clone(), |whole| min(launch, whole));
            self.add("l2_bytes", Some(&at), &array, group);
            self.add("dram_bytes", Some(&at), &array, launch);
        }
        for array in &steps.locals {
            let bytes = self.names.put_in(&array.bytes, &array.at)?;
            self.add("local_bytes", Some(&array.at), &array.name, bytes);
        }
        self.add("registers", None, "", Expr::Int(PLAIN_REGISTERS));
        self.finish_privates(steps)?;
        self.add("registers", None, "kept", self.kept.registers());
        let innermost = self.innermost.take().unwrap_or(Expr::Int(1));
        let uses = self.kept.spill_uses(mul(Expr::Int(2), innermost));
        self.add("spill_uses", None, "", uses);
        Ok(self.parts)
    }
}

/// 1 if the loops that move an access of so many bytes by less than lanes are apart go over no more than that.
fn between(loops: &[Axis], bytes: i64, apart: &Expr) -> Expr {
    let reach = |axis: &Axis| match &axis.distance {
        Some(distance) => {
            let far = mul(distance.clone(), sub(axis.extent.clone(), Expr::Int(1)));
            choice(less(distance.clone(), apart.clone()), far, Expr::Int(0))
        }
        None => Expr::Int(0),
    };
    let all = loops.iter().map(reach).fold(Expr::Int(bytes), add);
    less(all, add(apart.clone(), Expr::Int(1)))
}

/// Loops around an access, inner ones first, as repetitions in one body of the innermost one that is not unrolled as a whole, and of
/// such bodies.
fn bodies(loops: &[Axis], around: &Around) -> (Vec<Axis>, Vec<Axis>) {
    let (inside, rolled) = loops.split_at(loops.len() - around.rolled_loops());
    let (mut inside, mut rolled) = (inside.to_vec(), rolled.to_vec());
    let body = around.body();
    if let Some(Axis { distance, extent }) = rolled.first_mut().filter(|_| body != Expr::Int(1)) {
        inside.push(Axis { distance: distance.clone(), extent: min(body.clone(), extent.clone()) });
        *distance = distance.take().map(|distance| mul(distance, body.clone()));
        *extent = ceil_div(extent.clone(), body);
    }
    (inside, rolled)
}

/// So much in each body, of `one` in each iteration: where the last body of a loop that is unrolled in part is not whole, no more
/// than all iterations have.
fn repeated(around: &Around, each: Expr, one: Expr) -> Expr {
    let all = mul(around.rolled(), each);
    match around.body() {
        Expr::Int(1) => all,
        _ => min(all, mul(around.executed(), one)),
    }
}

/// Sizes of a group (`local`) or of the launch in groups (`groups`), by dimension.
fn sizes(names: &Names, what: &str, at: &At) -> Result<Vec<Expr>, ReadError> {
    let size = |d: usize| Ok(names.put_in(&Number::Name(format!("${what}_{d}")), at)?.simplified());
    (0..3).map(size).collect()
}

/// Items of a group (`local`) or groups of the launch (`groups`).
fn product(names: &Names, what: &str, at: &At) -> Result<Expr, ReadError> {
    Ok(sizes(names, what, at)?.into_iter().fold(Expr::Int(1), mul))
}

/// What requests to a memory, and their passes, are parts of.
fn of_memory(space: Space) -> (&'static str, &'static str) {
    match space {
        Space::Local => ("local_requests", "local_wavefronts"),
        _ => ("global_requests", "global_wavefronts"),
    }
}

/// Whether a number is built of names, which are sizes and tuning parameters, and of operators that make nothing negative.
fn never_negative(number: &Expr) -> bool {
    match number {
        Expr::Int(n) => *n >= 0,
        Expr::Name(_) => true,
        Expr::Binary(op, a, b) => *op != BinaryOp::Sub && never_negative(a) && never_negative(b),
        Expr::Call(_, parts) => parts.iter().all(never_negative),
        Expr::Conditional(_, a, b) => never_negative(a) && never_negative(b),
        Expr::Neg(_) | Expr::Not(_) => false,
    }
}

/// The number without its sign, if that stands in front. Sums have the sign that their names give them, and names are sizes.
fn unsigned(number: Expr) -> Expr {
    match number {
        Expr::Int(n) => Expr::Int(n.saturating_abs()),
        Expr::Neg(e) => *e,
        Expr::Binary(BinaryOp::Mul, a, b) => mul(unsigned(*a), unsigned(*b)),
        Expr::Binary(BinaryOp::Sub, a, b) if *a == Expr::Int(0) => *b,
        number => number,
    }
}

/// Whether something in global memory is stored behind a condition on the item.
fn stores_guarded(steps: &[Step], guarded: bool) -> bool {
    steps.iter().any(|step| match &step.kind {
        StepKind::Access(access) => guarded && access.store && access.space == Space::Global,
        StepKind::Repeat { whole, body, .. } => stores_guarded(body, guarded || whole.is_some()),
        StepKind::If { depends, then, otherwise, .. } => {
            let guarded = guarded || *depends > Dependence::Uniform;
            stores_guarded(then, guarded) || stores_guarded(otherwise, guarded)
        }
        _ => false,
    })
}
