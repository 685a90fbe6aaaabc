//! The `summary` encoding: loops and lockstep phases closed, so that steps do not grow with data.
//!
//! Configurations are sorted into *shapes*: within a shape every branch takes one side and every
//! loop runs or does not. For each shape the program is one term, with phases as joins of threads
//! (`phases`), and [`crate::max_plus`] closes it in max-plus arithmetic, loop counts and amounts
//! still symbolic. A closed program is a single jump. Where the rules do not reach a closed form -
//! threads that keep different marks, items that wait for marks across a barrier - that part stays
//! a program whose phases are jumps, and the event encoding runs it.
//!
//! Nothing here knows a kernel: the terms come from the plan's program alone.

mod phases;
mod pieces;

use indexmap::IndexMap;

use crate::encoded::{EncodeError, Encoded, EncodingReport};
use crate::event::encode_jumps;
use crate::plan::{Amount, AmountId, Jump, Op, Plan, Values, has_barrier};
use crate::queue;
use crate::system::InternalError;

/// Most shapes that are closed separately; beyond it the event encoding takes over.
const MAX_SHAPES: usize = 24;

/// Most configurations for which the solver is done with the terms as they are sooner than egg has
/// made them smaller (`benches/encodings.rs`).
const FEW: usize = 128;

/// How the summary is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryOptions {
    /// Let egg make the closed arithmetic smaller than the closing rules leave it.
    pub shrink: bool,
}

impl SummaryOptions {
    /// What is fastest on the whole. Shrinking costs by the term, a few milliseconds for each
    /// shape; what it saves the solver grows with the configurations.
    pub fn suited(plan: &Plan) -> SummaryOptions {
        SummaryOptions { shrink: plan.configurations.len() > FEW }
    }
}

/// The summary encoding of a plan, and what became of its program.
///
/// # Errors
/// A group of a queue without ticks, or a fault of this program.
pub fn encode(plan: &Plan) -> Result<Encoded, EncodeError> {
    queue::encode(plan, &|plan| encode_alone(plan, SummaryOptions::suited(plan)))
}

/// As [`encode`], with options.
pub fn encode_with(plan: &Plan, options: SummaryOptions) -> Result<Encoded, EncodeError> {
    queue::encode(plan, &|plan| encode_alone(plan, options))
}

fn encode_alone(plan: &Plan, options: SummaryOptions) -> Result<Encoded, InternalError> {
    let mut plan = plan.clone();
    let shapes = shapes(&plan);
    if shapes.len() > MAX_SHAPES {
        let report = EncodingReport { shapes: shapes.len(), open: 1, ..EncodingReport::default() };
        let system = encode_jumps(&plan.lifted(), false)?;
        return Ok(Encoded { system, report: Some(report) });
    }
    let mut report = EncodingReport { shapes: shapes.len(), ..EncodingReport::default() };
    let mut programs = Vec::new();
    for members in shapes.values() {
        programs.push(phases::program(&mut plan, members, options, &mut report)?);
    }
    let alike = report.open == 0;
    let code = choice(&mut plan, &shapes.into_values().collect::<Vec<_>>(), programs);
    let system = encode_jumps(&plan.with(code), alike)?;
    Ok(Encoded { system, report: Some(report) })
}

/// What decides which path a configuration takes through the program: for each branch, thread and
/// item the side, for each loop whether it runs not at all, once, or more often.
type Shape = Vec<u8>;

fn shapes(plan: &Plan) -> IndexMap<Shape, Vec<usize>> {
    let mut shapes: IndexMap<Shape, Vec<usize>> = IndexMap::new();
    for c in 0..plan.configurations.len() {
        let mut shape = Shape::new();
        for t in 0..plan.threads {
            shape.push(plan.items_of(c, t).min(255) as u8);
            for item in 0..plan.items {
                note(plan, &plan.code, (c, t, item), &mut shape);
            }
        }
        shapes.entry(shape).or_default().push(c);
    }
    shapes
}

fn note(plan: &Plan, code: &[Op], at: (usize, usize, usize), shape: &mut Shape) {
    let value = |id: AmountId| plan.value(id, at.0, at.1, at.2);
    for op in code {
        match op {
            Op::Repeat { count, body } => {
                // Only loops with a barrier are ever unrolled once, and need to know one from more.
                let most = if has_barrier(body) { 2 } else { 1 };
                let often = value(*count).map_or(3, |v| v.clamp(0, most) as u8);
                shape.push(often);
                note(plan, body, at, shape);
            }
            Op::If { condition, then, otherwise } => {
                shape.push(value(*condition).map_or(3, |v| u8::from(v != 0)));
                note(plan, then, at, shape);
                note(plan, otherwise, at, shape);
            }
            Op::Own(never) => match *never {},
            Op::Work { .. } | Op::Until(_) | Op::Mark | Op::Barrier { .. } => {}
        }
    }
}

/// One program that does for each shape what its own does.
fn choice(plan: &mut Plan, shapes: &[Vec<usize>], programs: Vec<Vec<Op<Jump>>>) -> Vec<Op<Jump>> {
    let mut all = programs.into_iter().enumerate().rev();
    let Some((_, mut code)) = all.next() else { return Vec::new() };
    for (s, program) in all {
        let mut values = vec![Some(0); plan.configurations.len()];
        shapes[s].iter().for_each(|c| values[*c] = Some(1));
        let condition = push(plan, &format!("shape_{s}"), Values::Uniform(values));
        code = vec![Op::If { condition, then: program, otherwise: code }];
    }
    code
}

fn push(plan: &mut Plan, name: &str, values: Values) -> AmountId {
    plan.amounts.push(Amount { name: name.to_owned(), expr: None, values });
    AmountId(plan.amounts.len() - 1)
}
