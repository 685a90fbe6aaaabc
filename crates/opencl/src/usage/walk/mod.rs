//! The walk over the steps of one variant.

mod places;
mod privates;
mod requests;

use std::sync::Arc;

use indexmap::IndexMap;
use tickbound_expr::Expr;
use tickbound_model::Part;

use super::active::MiddleGroup;
use super::around::{Around, Ends, Loop};
use super::arrays::Arrays;
use super::batch::{Batch, SHORT_AT_ONCE, Waits};
use super::footprint::Axis;
use super::kept::Kept;
use super::number::{SHARES, ceil_div, choice, less, max, min, quotient, sizes};
use super::repeated::Loaded;
use super::traffic::{at_work, most_held};
use super::unroll::{Unroll, Unrolling, macros_only};
use super::vectors::Unrolled;
use super::{Device, PLAIN_REGISTERS};
use crate::ast::{AddressSpace, SourcePlace};
use crate::error::{Read, ReadError};
use crate::lower::{Item, Names};
use crate::preprocess::Said;
use crate::steps::{
    Arithmetic, KernelStep, KernelStepKind, KernelSteps, MemoryAccess, SymbolExpr, accesses,
    depends_on_item,
};

/// Instructions of one division of whole numbers: compilers make sequences of them.
const INTEGER_DIVISION: i64 = 20;

/// Instructions of one iteration of a loop: compare, add, jump.
const ITERATION: i64 = 3;

/// Instructions on real numbers for each special function: NVIDIA's compiler scales denormal
/// numbers (SASS of NVRTC 12.9: a comparison and two predicated multiplications).
const DENORMALS: i64 = 3;

/// Fewest registers for loads in flight.
const LEAST_ROOM: i64 = 4;

/// Where a part of a usage comes from: what it is of, the line of the source, and the array.
pub(super) type Origin = (&'static str, Option<Line>, String);

/// A file as messages name it, and a line of it.
pub(super) type Line = (Arc<str>, u32);

/// The parts that the steps of one variant add to what is used.
pub(super) fn parts(
    steps: &KernelSteps,
    names: &Names,
    device: &Device<'_>,
    said: &[Said],
) -> Read<IndexMap<Origin, Expr>> {
    let item = names.of_item(Item::Middle);
    let product = |what: &str| match steps.body.first() {
        Some(step) => product(&item, what, &step.at),
        None => Ok(Expr::Int(1)),
    };
    let [at_work, held] = at_work(device, product("local")?, product("groups")?);
    let mut walk = Walk {
        names: &item,
        ends: Ends::new(names),
        group: MiddleGroup::new(names, device.warp),
        at_work,
        held,
        device,
        unroll: Unroll { names: &item, said },
        read_only: &steps.read_only,
        stores_guarded: stores_guarded(&steps.body, false),
        parts: IndexMap::new(),
        of_warps: IndexMap::new(),
        loaded: Loaded::default(),
        room: None,
        innermost: None,
        kept: Kept::default(),
        privates: Arrays::default(),
        arrays: IndexMap::new(),
    };
    walk.room = walk.room(steps, product("local")?)?;
    let mut batch = Batch::default();
    walk.steps(&steps.body, &Around::nothing(), &mut batch)?;
    let waits = batch.waits(device.line, walk.room.as_ref(), Expr::Int(1), Expr::Int(1));
    walk.wait(waits, None);
    walk.finish(steps)
}

struct Walk<'a> {
    /// Of the item in the middle, which represents all.
    names: &'a Names,
    ends: Ends,
    group: MiddleGroup,
    /// Groups that are at work at once, and those of one unit.
    at_work: Expr,
    held: Expr,
    device: &'a Device<'a>,
    unroll: Unroll<'a>,
    /// Arrays that are never written.
    read_only: &'a [String],
    /// Whether something is stored by some items only.
    stores_guarded: bool,
    parts: IndexMap<Origin, Expr>,
    /// In 64ths, what the active warps of a group issue.
    of_warps: IndexMap<Origin, Expr>,
    loaded: Loaded,
    /// Registers for loads in flight, where that is known.
    room: Option<Expr>,
    /// Iterations of the innermost loops with real arithmetic that are not unrolled.
    innermost: Option<Expr>,
    /// What compilers keep in registers that leave loads in the source's order.
    kept: Kept,
    privates: Arrays,
    /// Different bytes of each array in global memory that are loaded or stored, of a group and of
    /// the launch, and where it is first done.
    arrays: IndexMap<(String, bool), (Expr, Expr, SourcePlace)>,
}

/// An access, with its place in the source and what stands around it.
#[derive(Clone, Copy)]
struct Site<'s> {
    access: &'s MemoryAccess,
    at: &'s SourcePlace,
    around: &'s Around,
}

impl Walk<'_> {
    fn steps(&mut self, steps: &[KernelStep], around: &Around, batch: &mut Batch) -> Read<()> {
        batch.real |= self.arithmetic(steps, around)?;
        for step in steps {
            match &step.kind {
                // A load of a value that is known.
                KernelStepKind::Access(access)
                    if self.loaded.again(access, self.read_only)
                        && self.device.has(Part::RepeatedLoads) => {}
                KernelStepKind::Access(access) => {
                    self.access(Site { access, at: &step.at, around }, batch)?;
                }
                KernelStepKind::Atomic { space, shared, .. } => {
                    self.loaded.forget(*space, self.read_only);
                    self.atomic((*space, *shared), &step.at, around)?;
                }
                KernelStepKind::Compute { .. } | KernelStepKind::Value(_) => {}
                KernelStepKind::Barrier => {
                    self.loaded.barrier(self.read_only);
                    if self.device.has(Part::Barriers) {
                        batch.barrier();
                    }
                    self.add("barriers", Some(&step.at), "", around.executed())
                }
                KernelStepKind::Repeat { count, whole, body } => {
                    let whole = whole.as_ref().unwrap_or(count);
                    self.repeat((count, whole, &step.at), body, around, batch)?;
                }
                KernelStepKind::If { condition, then, otherwise, .. } => {
                    if !macros_only(condition) && !step.is_private() {
                        self.issue("branches", (&step.at, around), around.rolled());
                    }
                    for (side, holds) in [(then, true), (otherwise, false)] {
                        let inside = self.side((condition, &step.at), holds, around)?;
                        let after = self.loaded.around(side, self.read_only);
                        self.steps(side, &inside, batch)?;
                        self.loaded = after;
                    }
                }
            }
        }
        Ok(())
    }

    /// The steps of a loop, of whose iterations each may change what later ones load.
    fn body(&mut self, body: &[KernelStep], inside: &Around, batch: &mut Batch) -> Read<()> {
        self.loaded = self.loaded.around(body, self.read_only);
        let after = self.loaded.clone();
        self.steps(body, inside, batch)?;
        self.loaded = after;
        Ok(())
    }

    /// Registers for loads in flight: a compiler that moves loads keeps as many groups in a unit as
    /// live values allow, and gives the registers that are left to loads.
    fn room(&self, steps: &KernelSteps, items: Expr) -> Read<Option<Expr>> {
        let device = self.device;
        let known = device.registers_per_unit.filter(|_| device.warps_per_unit.is_some());
        let known = known.filter(|_| device.moves_loads_by(Part::LoadRegisters));
        let Some(all) = known else { return Ok(None) };
        let mut live = Expr::Int(PLAIN_REGISTERS);
        for array in &steps.privates {
            let bytes = self.names.put_in(&array.bytes, &array.at)?.simplified();
            live += ceil_div(bytes, 4);
        }
        let most = device.registers_per_item.unwrap_or(all);
        let granule = device.register_granule;
        let live = min(most, live);
        let own = ceil_div(items, device.warp);
        let full = max(1, most_held(device, own.clone()));
        let lanes = own * device.warp;
        let given = ceil_div(&live, granule) * granule;
        let held = min(full, max(1, quotient(all, given * &lanes)));
        let target = min(most, quotient(quotient(all, held * lanes), granule) * granule);
        Ok(Some(device.known.narrowed(max(LEAST_ROOM, target - live))))
    }

    /// What stands around one side of a branch.
    fn side(
        &self,
        (condition, at): (&SymbolExpr, &SourcePlace),
        holds: bool,
        around: &Around,
    ) -> Read<Around> {
        let inside = if let Some(shares) = self.ends.of_side(condition, holds, at)? {
            shares.into_iter().fold(around.clone(), |all, share| all.of_items(share))
        } else if let Some(active) = self.group.active(condition, holds, at)? {
            let inside = around.on_side(less(0, &active.items.0), true);
            Around { active: inside.active.and(active), ..inside }
        } else {
            around.on_side(self.names.put_in(condition, at)?, holds)
        };
        Ok(Around { guarded: inside.guarded || depends_on_item(condition), ..inside })
    }

    fn repeat(
        &mut self,
        (count, whole, at): (&SymbolExpr, &SymbolExpr, &SourcePlace),
        body: &[KernelStep],
        around: &Around,
        batch: &mut Batch,
    ) -> Read<()> {
        let (around, count) = match self.ends.of_loop(count, whole, at)? {
            Some(share) => (&around.of_items(share), whole),
            None => (around, count),
        };
        let trips = self.device.known.narrowed(self.names.put_in(count, at)?.simplified());
        let trips = self.at_least(0, trips);
        let around = &match self.is_at_least(1, &trips) {
            true => around.clone(),
            false => around.on_side(less(0, &trips), true),
        };
        batch.around_any |= !body.iter().all(KernelStep::is_private);
        let known = macros_only(whole);
        let Unrolling { whole, body: said } = self.unroll.of(whole, at, body)?;
        let outermost = around.loops.iter().all(|l| !l.unrolled);
        let wanted = self.unroll.is_wanted(at, body);
        let limits = self.device.source_order || !wanted;
        let (whole, in_part) = match limits && outermost && whole != Expr::Int(0) {
            true => {
                let (fits, in_part) =
                    self.unroll.limited((&trips, wanted), self.known(&trips), body)?;
                let in_part = if self.device.source_order { in_part } else { Expr::Int(1) };
                (choice(whole, fits, 0), in_part)
            }
            false => (whole, Expr::Int(1)),
        };
        if whole != Expr::Int(0) {
            let own = Loop { trips: trips.clone(), unrolled: true, body: Expr::Int(1) };
            let inside = around.on_side(whole.clone(), true).inside(own);
            self.body(body, &inside, batch)?;
        }
        if whole == Expr::Int(1) {
            return Ok(());
        }
        let decided = if said.is_some() { Expr::Int(1) } else { less(1, &in_part) };
        let own = Loop { trips: trips.clone(), unrolled: false, body: said.unwrap_or(in_part) };
        // A loop of one iteration is none, where compilers know it.
        let again = if known { less(1, &trips) } else { Expr::Int(1) };
        let inside = around.on_side(whole, false).inside(own);
        self.rolled_loop((at, decided, again), body, &inside, batch)
    }

    /// A loop that is not unrolled as a whole, as the innermost one around; `decided`: 1 if the
    /// iterations of its body are as many as are put into one; `again`: 1 if it has more than one
    /// iteration.
    fn rolled_loop(
        &mut self,
        (at, decided, again): (&SourcePlace, Expr, Expr),
        body: &[KernelStep],
        inside: &Around,
        batch: &mut Batch,
    ) -> Read<()> {
        let mut own = Batch::default();
        self.body(body, inside, &mut own)?;
        let iterations = inside.rolled();
        // Compilers unroll a loop in part that is short: one without a loop in it, or that only
        // copies.
        let short = choice(decided, &iterations, ceil_div(&iterations, SHORT_AT_ONCE));
        let tests = if own.around_any { iterations.clone() } else { short.clone() };
        let tests = choice(again, tests, 0);
        self.issue("integer", (at, inside), ITERATION * &tests);
        self.issue("branches", (at, inside), tests);
        batch.around_loop |= own.around_loop || own.real;
        if own.real && !own.around_loop {
            let most = self.innermost.take();
            self.innermost = Some(most.map_or(iterations.clone(), |m| max(m, &iterations)));
        }
        let waits = if own.real && own.around_any { iterations.clone() } else { short };
        let waits = own.waits(self.device.line, self.room.as_ref(), iterations, waits);
        self.wait(waits, Some(at));
        Ok(())
    }

    fn wait(&mut self, Waits { far, near, local }: Waits, at: Option<&SourcePlace>) {
        for (what, times) in [("far_steps", far), ("near_steps", near), ("local_steps", local)] {
            self.add(what, at, "", times);
        }
    }

    /// The arithmetic of one block; whether some of it is real.
    fn arithmetic(&mut self, steps: &[KernelStep], around: &Around) -> Read<bool> {
        let [mut adds, mut multiplies, mut integer, mut convert] = [0i64; 4];
        let [mut special, mut functions, mut shuffles, mut tensor] = [0i64; 4];
        for step in steps {
            let KernelStepKind::Compute { kind, amount, width } = &step.kind else { continue };
            let vector = self.device.vectors.instructions(4 * i64::from(*width));
            let n = i64::from(*amount).saturating_mul(vector);
            match kind {
                Arithmetic::Index => {}
                Arithmetic::Integer | Arithmetic::IntegerMultiply => integer += n,
                Arithmetic::IntegerDivide => integer += INTEGER_DIVISION * n,
                Arithmetic::Real => adds += n,
                Arithmetic::RealMultiply => multiplies += n,
                Arithmetic::RealMultiplyAdd => (adds, multiplies) = (adds + n, multiplies + n),
                // A reciprocal root takes no division.
                Arithmetic::DivideByRoot if self.device.has(Part::ReciprocalRoots) => {}
                Arithmetic::RealDivide | Arithmetic::DivideByRoot => {
                    multiplies += self.device.real_division * n;
                    special += n;
                }
                Arithmetic::Special => (special, functions) = (special + n, functions + n),
                Arithmetic::Convert => convert += n,
                Arithmetic::Shuffle => shuffles += n,
                Arithmetic::Tensor if self.device.tensor_cores => tensor += n,
                Arithmetic::Tensor => return Err(no_tensor_cores(&step.at)),
            }
        }
        // A multiplication takes an addition with it.
        let denormals = self.device.moves_loads_by(Part::Denormals);
        let real = adds.max(multiplies) + if denormals { DENORMALS * functions } else { 0 };
        let Some(KernelStep { at, .. }) = steps.first() else { return Ok(false) };
        let executed = self.packed(steps, around)?;
        // Beside real numbers, whole ones are of places and conditions on them, which unrolled
        // iterations have in common.
        let places = if real > 0 { around.rolled() } else { executed.clone() };
        for (what, n, executed) in [
            ("real", real, &executed),
            ("integer", integer, &places),
            ("convert", convert, &executed),
            ("special", special, &executed),
            ("tensor", tensor, &executed),
            // One pass of local memory, whose wires they take.
            ("local_requests", shuffles, &executed),
            ("local_wavefronts", shuffles, &executed),
        ] {
            self.issue(what, (at, around), n * executed);
        }
        Ok(real > 0 || tensor > 0)
    }

    /// How often a block is executed, with iterations that vectors take together counted once.
    fn packed(&self, steps: &[KernelStep], around: &Around) -> Read<Expr> {
        let wide =
            |kind: &KernelStepKind| matches!(kind, KernelStepKind::Compute { width: 2.., .. });
        let scalar = !steps.iter().any(|step| wide(&step.kind));
        if !self.device.vectors.are_wide() || around.guarded || !scalar {
            return Ok(around.executed());
        }
        let unrolled = |(access, at): (&MemoryAccess, &SourcePlace)| {
            let (axes, _) = bodies(&self.loop_axes(Site { access, at, around })?, around);
            Ok(Unrolled { store: access.store, bytes: access.bytes(), axes })
        };
        let accesses: Vec<Unrolled> = accesses(steps).map(unrolled).collect::<Read<_>>()?;
        Ok(self.device.vectors.packed(around.executed(), &accesses))
    }

    fn add(&mut self, what: &'static str, at: Option<&SourcePlace>, array: &str, more: Expr) {
        if more != Expr::Int(0) {
            *self.parts.entry(origin(what, at, array)).or_default() += more;
        }
    }

    /// Adds instructions of the active warps.
    fn issue(&mut self, what: &'static str, (at, around): (&SourcePlace, &Around), more: Expr) {
        self.add_of(origin(what, Some(at), ""), around, more);
    }

    /// The same of what an access has.
    fn add_of_warps(&mut self, what: &'static str, site: Site<'_>, more: Expr) {
        self.add_of(origin(what, Some(site.at), &site.access.array), site.around, more);
    }

    fn add_of(&mut self, origin: Origin, around: &Around, more: Expr) {
        let (some, all) = &around.active.warps;
        if more == Expr::Int(0) {
            return;
        }
        if (*some == Expr::Int(1) && *all == Expr::Int(1)) || !self.device.has(Part::Warps) {
            *self.parts.entry(origin).or_default() += more;
        } else {
            *self.of_warps.entry(origin).or_default() += quotient(SHARES * more * some, all);
        }
    }

    /// The value of a number that no parameter decides.
    fn known(&self, number: &Expr) -> Option<i64> {
        self.device.known.range(number).filter(|range| range.is_point()).map(|range| range.low)
    }

    /// Whether a number is never less.
    fn is_at_least(&self, least: i64, number: &Expr) -> bool {
        self.device.known.range(number).is_some_and(|range| range.low >= least)
    }

    /// The greater of the two.
    fn at_least(&self, least: i64, number: Expr) -> Expr {
        if self.is_at_least(least, &number) { number } else { max(least, number) }
    }

    fn finish(mut self, steps: &KernelSteps) -> Read<IndexMap<Origin, Expr>> {
        for (origin, shares) in std::mem::take(&mut self.of_warps) {
            *self.parts.entry(origin).or_default() += ceil_div(shares, SHARES);
        }
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
        let uses = self.kept.spill_uses(2 * innermost);
        self.add("spill_uses", None, "", uses);
        Ok(self.parts)
    }
}

fn no_tensor_cores(at: &SourcePlace) -> ReadError {
    let what = "mma_sync needs a rate of tensor cores, which the platform does not have";
    ReadError::at(at, what, "state platform.resources.tensor_lanes, or choose another platform")
}

fn origin(what: &'static str, at: Option<&SourcePlace>, array: &str) -> Origin {
    (what, at.map(|at| (Arc::clone(&at.file), at.line)), array.to_owned())
}

/// Loops around an access, inner ones first, as repetitions in one body of the innermost one that
/// is not unrolled as a whole, and of such bodies.
fn bodies(loops: &[Axis], around: &Around) -> (Vec<Axis>, Vec<Axis>) {
    let (inside, rolled) = loops.split_at(loops.len() - around.rolled_loops());
    let (mut inside, mut rolled) = (inside.to_vec(), rolled.to_vec());
    let body = around.body();
    if let Some(Axis { distance, extent }) = rolled.first_mut().filter(|_| body != Expr::Int(1)) {
        inside.push(Axis { distance: distance.clone(), extent: min(&body, &*extent) });
        *distance = distance.take().map(|distance| distance * &body);
        *extent = ceil_div(&*extent, body);
    }
    (inside, rolled)
}

/// Items of a group (`local`) or groups of the launch (`groups`).
fn product(names: &Names, what: &str, at: &SourcePlace) -> Read<Expr> {
    Ok(sizes(names, what, at)?.into_iter().product())
}

/// Whether something in global memory is stored behind a condition on the item.
fn stores_guarded(steps: &[KernelStep], guarded: bool) -> bool {
    steps.iter().any(|step| match &step.kind {
        KernelStepKind::Access(access) => {
            guarded && access.store && access.space == AddressSpace::Global
        }
        KernelStepKind::Repeat { whole, body, .. } => {
            stores_guarded(body, guarded || whole.is_some())
        }
        KernelStepKind::If { condition, then, otherwise, .. } => {
            let guarded = guarded || depends_on_item(condition);
            stores_guarded(then, guarded) || stores_guarded(otherwise, guarded)
        }
        _ => false,
    })
}
