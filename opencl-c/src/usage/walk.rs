//! The walk over the steps of one variant.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::Expr;
use tickbound_model::expr::BinaryOp;

use super::footprint::{Axis, addresses};
use super::lanes::{Lane, lines, passes};
use super::number::{add, ceil_div, choice, is_zero, max, min, mul, remainder, sub};
use super::{Device, PLAIN_REGISTERS};
use crate::ast::{At, Space};
use crate::error::ReadError;
use crate::lower::Names;
use crate::steps::{Access, Arithmetic, Dependence, Number, Step, StepKind, Steps, Stride};

/// Instructions of one division of whole numbers and, beside one on the special lanes, of real ones: compilers make
/// sequences of them.
const INTEGER_DIVISION: i64 = 20;
const REAL_DIVISION: i64 = 8;

/// Instructions of one iteration of a loop: compare, add, jump.
const ITERATION: i64 = 3;

/// Iterations of a loop without real arithmetic whose loads are waited for together.
const COPIES_AT_ONCE: i64 = 4;

/// Most bytes that one instruction moves for a lane.
const WIDEST: i64 = 16;

/// Whether a loop at this place is said to be unrolled.
pub(super) type Unrolled<'a> = &'a dyn Fn(&At) -> bool;

/// Where a part of a usage comes from: what it is a part of, the line of the source, and the array.
pub(super) type Origin = (&'static str, u32, String);

/// The parts that the steps of one variant add to what is used.
pub(super) fn parts(
    steps: &Steps,
    names: &Names,
    device: Device,
    unrolled: Unrolled<'_>,
) -> Result<IndexMap<Origin, Expr>, ReadError> {
    let mut walk = Walk {
        names,
        device,
        unrolled,
        parts: IndexMap::new(),
        innermost: None,
        arrays: IndexMap::new(),
    };
    let around = Around { loops: Vec::new(), taken: Expr::Int(1), guarded: false };
    let mut batch = Batch::default();
    walk.steps(&steps.body, &around, &mut batch)?;
    walk.finish_batch(batch, 0, (Expr::Int(1), Expr::Int(1)));
    walk.finish(steps)
}

/// What stands around a step.
#[derive(Debug, Clone)]
struct Around {
    /// Loops, outer ones first.
    loops: Vec<Loop>,
    /// 1 if the item takes all branches around, else 0.
    taken: Expr,
    /// Whether one of them depends on the item.
    guarded: bool,
}

#[derive(Debug, Clone)]
struct Loop {
    trips: Expr,
    unrolled: bool,
}

impl Around {
    /// How often the steps are executed.
    fn executed(&self) -> Expr {
        self.loops.iter().fold(self.taken.clone(), |all, l| mul(all, l.trips.clone()))
    }

    /// How often, if those in unrolled loops are executed once.
    fn rolled(&self) -> Expr {
        let rolled = self.loops.iter().filter(|l| !l.unrolled);
        rolled.fold(self.taken.clone(), |all, l| mul(all, l.trips.clone()))
    }

    fn inside(&self, condition: Expr, holds: bool, depends: Dependence) -> Around {
        let (then, otherwise) = (self.taken.clone(), Expr::Int(0));
        let taken = match holds {
            true => choice(condition, then, otherwise),
            false => choice(condition, otherwise, then),
        };
        Around { taken, guarded: self.guarded || depends > Dependence::Uniform, ..self.clone() }
    }
}

/// Loads between two loops that are not unrolled: they are waited for together.
#[derive(Debug, Default)]
struct Batch {
    /// Whether there are loads from global memory, and how far these are from those of the iteration before: the
    /// greatest distance in bytes; `None`: anywhere.
    global: Option<Option<Expr>>,
    local: bool,
    /// Whether there is real arithmetic.
    real: bool,
    /// Whether a loop with real arithmetic that is not unrolled is inside.
    around_loop: bool,
}

/// How the lanes of one request are served.
struct Request<'l> {
    /// 4-byte words of a lane: 1, 2 or 4.
    words: i64,
    /// Bytes of a lane.
    bytes: i64,
    /// `None` where that cannot be said.
    lanes: Option<&'l [Lane]>,
    /// 1 if the first one is at the beginning of a line.
    aligned: Expr,
}

struct Walk<'a> {
    names: &'a Names,
    device: Device,
    unrolled: Unrolled<'a>,
    parts: IndexMap<Origin, Expr>,
    /// Iterations of the innermost loops with real arithmetic that are not unrolled.
    innermost: Option<Expr>,
    /// Different bytes of each array in global memory that are loaded or stored, of a group and of the launch.
    arrays: IndexMap<(String, bool), (Expr, Expr)>,
}

impl Walk<'_> {
    fn steps(
        &mut self,
        steps: &[Step],
        around: &Around,
        batch: &mut Batch,
    ) -> Result<(), ReadError> {
        batch.real |= self.arithmetic(steps, &around.executed());
        for step in steps {
            match &step.kind {
                StepKind::Access(access) => self.access(access, &step.at, around, batch)?,
                StepKind::Atomic(space) => self.atomic(*space, &step.at, around),
                StepKind::Compute { .. } => {}
                StepKind::Barrier => self.add("barriers", step.at.line, "", around.executed()),
                StepKind::Repeat { count, body } => {
                    self.repeat((count, &step.at), body, around, batch)?;
                }
                StepKind::If { condition, depends, then, otherwise } => {
                    let known = macros_only(condition);
                    let condition = self.names.put_in(condition, &step.at)?;
                    if !known {
                        self.add("branches", step.at.line, "", around.rolled());
                    }
                    self.steps(then, &around.inside(condition.clone(), true, *depends), batch)?;
                    self.steps(otherwise, &around.inside(condition, false, *depends), batch)?;
                }
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        (count, at): (&Number, &At),
        body: &[Step],
        around: &Around,
        batch: &mut Batch,
    ) -> Result<(), ReadError> {
        let trips = self.names.put_in(count, at)?.simplified();
        let trips = if never_negative(&trips) { trips } else { max(Expr::Int(0), trips) };
        let free = macros_only(count) && !self.keeps_rolled(body);
        let unrolled = free || (self.unrolled)(at);
        let mut inside = around.clone();
        inside.loops.push(Loop { trips, unrolled });
        if unrolled {
            return self.steps(body, &inside, batch);
        }
        let mut own = Batch::default();
        self.steps(body, &inside, &mut own)?;
        let iterations = inside.executed();
        self.add("integer", at.line, "", mul(Expr::Int(ITERATION), iterations.clone()));
        self.add("branches", at.line, "", iterations.clone());
        batch.around_loop |= own.around_loop || own.real;
        if own.real && !own.around_loop {
            let most = self.innermost.take();
            self.innermost = Some(most.map_or(iterations.clone(), |m| max(m, iterations.clone())));
        }
        // A loop that only copies is short, and compilers unroll it in part.
        let waits = match own.real {
            true => iterations.clone(),
            false => ceil_div(iterations.clone(), Expr::Int(COPIES_AT_ONCE)),
        };
        self.finish_batch(own, at.line, (iterations, waits));
        Ok(())
    }

    /// Whether a loop with this body stays one although the number of its iterations is known.
    fn keeps_rolled(&self, body: &[Step]) -> bool {
        body.iter().any(|step| match &step.kind {
            StepKind::Barrier => true,
            StepKind::Repeat { body, .. } => (self.unrolled)(&step.at) || self.keeps_rolled(body),
            StepKind::If { then, otherwise, .. } => {
                self.keeps_rolled(then) || self.keeps_rolled(otherwise)
            }
            _ => false,
        })
    }

    /// The loads of a loop with so many iterations are waited for so often.
    fn finish_batch(&mut self, batch: Batch, line: u32, (iterations, waits): (Expr, Expr)) {
        if let Some(distance) = batch.global {
            let far = match distance {
                Some(distance) => {
                    let moved = mul(iterations, distance);
                    min(waits.clone(), ceil_div(moved, Expr::Int(self.device.line)))
                }
                None => waits.clone(),
            };
            self.add("far_steps", line, "", far.clone());
            self.add("near_steps", line, "", sub(waits.clone(), far));
        }
        if batch.local {
            self.add("local_steps", line, "", waits);
        }
    }

    /// The arithmetic of one block; whether some of it is real.
    fn arithmetic(&mut self, steps: &[Step], executed: &Expr) -> bool {
        let (mut adds, mut multiplies) = (0i64, 0i64);
        let (mut integer, mut convert, mut special) = (0i64, 0i64, 0i64);
        for step in steps {
            let StepKind::Compute { kind, amount, width } = &step.kind else { continue };
            let n = i64::from(*amount).saturating_mul(i64::from(*width));
            match kind {
                Arithmetic::Index => {}
                Arithmetic::Integer | Arithmetic::IntegerMultiply => integer += n,
                Arithmetic::IntegerDivide => integer += INTEGER_DIVISION * n,
                Arithmetic::Real => adds += n,
                Arithmetic::RealMultiply => multiplies += n,
                Arithmetic::RealMultiplyAdd => (adds, multiplies) = (adds + n, multiplies + n),
                Arithmetic::RealDivide => {
                    (multiplies, special) = (multiplies + REAL_DIVISION * n, special + n);
                }
                Arithmetic::Special => special += n,
                Arithmetic::Convert => convert += n,
            }
        }
        // A multiplication takes an addition with it.
        let real = adds.max(multiplies);
        let line = steps.first().map_or(0, |step| step.at.line);
        for (what, n) in
            [("real", real), ("integer", integer), ("convert", convert), ("special", special)]
        {
            self.add(what, line, "", mul(Expr::Int(n), executed.clone()));
        }
        real > 0
    }

    /// An atomic operation: one request that all lanes pass one after the other.
    fn atomic(&mut self, space: Space, at: &At, around: &Around) {
        let executed = around.executed();
        let passes = mul(executed.clone(), Expr::Int(self.device.warp));
        let (requests, wavefronts) = of_memory(space);
        self.add(requests, at.line, "", executed);
        self.add(wavefronts, at.line, "", passes);
    }

    fn access(
        &mut self,
        access: &Access,
        at: &At,
        around: &Around,
        batch: &mut Batch,
    ) -> Result<(), ReadError> {
        if access.space == Space::Private {
            return Ok(());
        }
        let loops = self.loop_axes(access, at, around)?;
        let unrolled: Vec<Axis> =
            loops.iter().filter(|(l, _)| l.unrolled).map(|(_, axis)| axis.clone()).collect();
        let lanes = self.lanes(access, at)?;
        let same = lanes.as_ref().is_some_and(|l| l.iter().all(|l| l.distance == Expr::Int(0)));
        if access.space == Space::Constant && same && unrolled.len() == loops.len() {
            return Ok(());
        }
        let bytes = i64::from(access.element) * i64::from(access.width);
        let merged = match around.guarded {
            true => unrolled.iter().fold(Expr::Int(1), |all, axis| mul(all, axis.extent.clone())),
            false => addresses(&unrolled, bytes, self.device.parameters).count,
        };
        let instructions = (bytes + WIDEST - 1) / WIDEST;
        let words = match bytes {
            ..=4 => 1,
            5..=8 => 2,
            _ => 4,
        };
        let requests = mul(mul(around.rolled(), merged), Expr::Int(instructions));
        let aligned = self.aligned(access, at, &loops)?;
        let request = Request { words, bytes: bytes.min(WIDEST), lanes: lanes.as_deref(), aligned };
        self.request(access, at, &request, requests.clone());
        // An address that comes from data is computed for each request.
        let from_data = access.iterations.contains(&Stride::Data) || access.items == Stride::Data;
        let addresses = if from_data { mul(Expr::Int(2), requests) } else { around.rolled() };
        self.add("integer", at.line, &access.array, addresses);
        if !access.store {
            batch.load(access, loops.iter().find(|(l, _)| !l.unrolled).map(|(_, axis)| axis));
        }
        if access.space != Space::Local {
            self.touch(access, at, around, lanes, loops)?;
        }
        Ok(())
    }

    fn request(&mut self, access: &Access, at: &At, request: &Request<'_>, requests: Expr) {
        // What cannot be said: no conflicts among banks, and a line for each lane.
        let Request { words, bytes, lanes, aligned } = request;
        let (wavefronts, touched) = match lanes {
            Some(lanes) => {
                (passes(&self.device, lanes, *words), lines(&self.device, lanes, *bytes, aligned))
            }
            None => (Expr::Int(*words), Expr::Int(self.device.warp)),
        };
        let (count, passed) = of_memory(access.space);
        self.add(count, at.line, &access.array, requests.clone());
        self.add(passed, at.line, &access.array, mul(requests.clone(), wavefronts));
        if access.space != Space::Local {
            self.add("global_lines", at.line, &access.array, mul(requests, touched));
        }
    }

    /// Adds to a part.
    fn add(&mut self, what: &'static str, line: u32, array: &str, more: Expr) {
        if more != Expr::Int(0) {
            let part = self.parts.entry((what, line, array.to_owned())).or_insert(Expr::Int(0));
            *part = add(std::mem::replace(part, Expr::Int(0)), more);
        }
    }

    /// 1 if all that moves the first lane of an access moves it by whole lines.
    fn aligned(
        &self,
        access: &Access,
        at: &At,
        loops: &[(&Loop, Axis)],
    ) -> Result<Expr, ReadError> {
        let mut distances: Vec<Option<Expr>> =
            loops.iter().map(|(_, axis)| axis.distance.clone()).collect();
        for stride in &access.groups {
            distances.push(self.distance(stride, access, at)?);
        }
        let mut all = Expr::Int(1);
        for distance in distances.into_iter().unique() {
            let whole = match distance {
                Some(distance) => is_zero(remainder(distance, Expr::Int(self.device.line))),
                None => Expr::Int(0),
            };
            all = choice(whole, all, Expr::Int(0));
        }
        Ok(all)
    }

    /// The loops around an access, inner ones first, as repetitions of its address.
    fn loop_axes<'l>(
        &self,
        access: &Access,
        at: &At,
        around: &'l Around,
    ) -> Result<Vec<(&'l Loop, Axis)>, ReadError> {
        let mut strides = access.iterations.iter();
        let axis = |l: &'l Loop| {
            let distance = match strides.next() {
                Some(stride) => self.distance(stride, access, at)?,
                None => None,
            };
            Ok((l, Axis { distance, extent: l.trips.clone() }))
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
            Stride::Elements(n) => self.bytes(n, access, at).map(Some),
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

    /// Adds the bytes that differ to those of the array.
    fn touch(
        &mut self,
        access: &Access,
        at: &At,
        around: &Around,
        lanes: Option<Vec<Lane>>,
        loops: Vec<(&Loop, Axis)>,
    ) -> Result<(), ReadError> {
        let size =
            |d: usize, what: &str| self.names.put_in(&Number::Name(format!("${what}_{d}")), at);
        let mut axes: Vec<Axis> = match lanes {
            Some(lanes) => (lanes.into_iter())
                .map(|Lane { distance, extent }| Axis { distance: Some(distance), extent })
                .collect(),
            None => (0..3)
                .map(|d| Ok(Axis { distance: None, extent: size(d, "local")? }))
                .collect::<Result<_, ReadError>>()?,
        };
        axes.extend(loops.iter().map(|(_, axis)| axis.clone()));
        let bytes = i64::from(access.element) * i64::from(access.width);
        let aligned = self.aligned(access, at, &loops)?;
        // A piece that begins and ends in the midst of a line takes, on average, a line more but for one element.
        let margin = Expr::Int((self.device.line - bytes).max(0));
        let of_group = addresses(&axes, bytes, self.device.parameters);
        let margins = choice(aligned, Expr::Int(0), mul(of_group.pieces, margin));
        let group = add(mul(Expr::Int(bytes), of_group.count), margins);
        for (d, stride) in access.groups.iter().enumerate() {
            let distance = self.distance(stride, access, at)?;
            axes.push(Axis { distance, extent: size(d, "groups")? });
        }
        // Neighbouring groups share the lines at their margins.
        let launch = mul(Expr::Int(bytes), addresses(&axes, bytes, self.device.parameters).count);
        let (group, launch) = (mul(around.taken.clone(), group), mul(around.taken.clone(), launch));
        let key = (access.array.clone(), access.store);
        let known = match self.arrays.get(&key) {
            Some((least, most)) => (max(least.clone(), group), max(most.clone(), launch)),
            None => (group, launch),
        };
        self.arrays.insert(key, known);
        Ok(())
    }

    fn finish(mut self, steps: &Steps) -> Result<IndexMap<Origin, Expr>, ReadError> {
        for ((array, _), (group, launch)) in std::mem::take(&mut self.arrays) {
            self.add("l2_bytes", 0, &array, group);
            self.add("dram_bytes", 0, &array, launch);
        }
        for array in &steps.locals {
            let bytes = self.names.put_in(&array.bytes, &array.at)?;
            self.add("local_bytes", array.at.line, &array.name, bytes);
        }
        self.add("registers", 0, "", Expr::Int(PLAIN_REGISTERS));
        for array in &steps.privates {
            let bytes = self.names.put_in(&array.bytes, &array.at)?;
            self.add("registers", array.at.line, &array.name, ceil_div(bytes, Expr::Int(4)));
        }
        let innermost = self.innermost.take().unwrap_or(Expr::Int(1));
        self.add("spill_uses", 0, "", mul(Expr::Int(2), innermost));
        Ok(self.parts)
    }
}

impl Batch {
    /// A load, and the repetition of the innermost loop around it that is not unrolled.
    fn load(&mut self, access: &Access, axis: Option<&Axis>) {
        if access.space == Space::Local {
            self.local = true;
            return;
        }
        let distance = axis.and_then(|axis| axis.distance.clone());
        self.global = Some(match (self.global.take(), distance) {
            (None, distance) => distance,
            (Some(Some(before)), Some(distance)) => Some(max(before, distance)),
            _ => None,
        });
    }
}

/// What requests to a memory, and their passes, are parts of.
fn of_memory(space: Space) -> (&'static str, &'static str) {
    match space {
        Space::Local => ("local_requests", "local_wavefronts"),
        _ => ("global_requests", "global_wavefronts"),
    }
}

/// Whether a number follows from macros and constants alone.
fn macros_only(number: &Number) -> bool {
    let mut only = true;
    number.names(&mut |name: &String| only &= !name.starts_with('$'));
    only
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
