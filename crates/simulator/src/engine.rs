//! What all parts of a simulation need: values of expressions, the count of events, the trace.

use super::trace::{Span, SpanKind, Trace, WarpTicks};
use super::{SimulateError, SimulateOptions, SimulatedRun};
use tickbound_expr::Expr;
use tickbound_model::{Bound, ModelError, Problem, Stmt};

/// Where an item runs, and the values that follow from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub unit: i64,
    pub element: i64,
    /// Number of the group or activation in the trace.
    pub serial: i64,
    /// What expressions see as `group`.
    pub group: i64,
    /// `gid` of the item with `lid` 0.
    pub first_gid: i64,
}

pub(super) struct Engine<'p> {
    pub problem: &'p Problem,
    pub bound: &'p Bound,
    options: &'p SimulateOptions,
    /// The bound values; the slots of `lid`, `gid` and `group` are set before each evaluation.
    env: Vec<i64>,
    events: u64,
    trace: Option<Trace>,
    /// Of warps that compete for dispatchers.
    warps: WarpTicks,
}

impl<'p> Engine<'p> {
    pub fn new(
        problem: &'p Problem,
        bound: &'p Bound,
        options: &'p SimulateOptions,
    ) -> Result<Self, SimulateError> {
        if bound.env.len() != problem.scope.len() {
            return Err(ModelError::new(
                "the configuration",
                "was bound for another problem",
                "bind it with this problem",
            )
            .into());
        }
        Ok(Engine {
            problem,
            bound,
            options,
            env: bound.env.clone(),
            events: 0,
            trace: options.trace.then(Trace::default),
            warps: WarpTicks::default(),
        })
    }

    /// The result, at the end.
    pub fn run(self, time: i64) -> SimulatedRun {
        let warps = self.problem.has_open_schedule().then_some(self.warps);
        SimulatedRun { time, trace: self.trace, events: self.events, warps }
    }

    /// The value of `expr` for the item `lid` at `place`.
    pub fn value(
        &mut self,
        stmt: &Stmt,
        expr: &Expr,
        place: &Place,
        lid: i64,
    ) -> Result<i64, SimulateError> {
        let first = self.problem.first_item_slot();
        self.env[first] = lid;
        self.env[first + 1] = place.first_gid + lid;
        self.env[first + 2] = place.group;
        expr.eval(&self.env).map_err(|e| {
            self.problem.fault(&stmt.at, &format_args!("{e} in item {lid}"), &self.env).into()
        })
    }

    /// Counts events, so that a simulation ends even if the program hardly does.
    pub fn count(&mut self, events: u64) -> Result<(), SimulateError> {
        self.events = self.events.saturating_add(events);
        if self.events > self.options.max_events {
            let limit = self.options.max_events;
            let configuration = self.configuration();
            return Err(SimulateError::TooManyEvents { limit, configuration });
        }
        Ok(())
    }

    /// `now + ticks * times`.
    pub fn later(&self, at: &str, now: i64, ticks: i64, times: i64) -> Result<i64, SimulateError> {
        let sum = ticks.checked_mul(times).and_then(|t| now.checked_add(t));
        sum.ok_or_else(|| self.overflow(at))
    }

    pub fn overflow(&self, at: &str) -> SimulateError {
        SimulateError::Overflow(at.to_owned(), self.configuration())
    }

    /// Two items that do not meet at a barrier, with where each is.
    pub fn divergence(
        &self,
        (first_lid, first): (i64, &str),
        (second_lid, second): (i64, &str),
    ) -> SimulateError {
        SimulateError::Program(format!(
            "barrier divergence: item {first_lid} {first} but item {second_lid} {second} for {}; \
             every item must take the barrier: move it out of the branch",
            self.configuration()
        ))
    }

    /// The configuration for messages.
    pub fn configuration(&self) -> String {
        let text = self.problem.name_values(&self.bound.configuration).to_string();
        if text.is_empty() { "this problem".into() } else { text }
    }

    /// True if iterations that take `ticks` each may be left out.
    pub fn may_skip(&self, ticks: i64) -> bool {
        self.options.skip_repetition && (ticks == 0 || !self.trace_has_room())
    }

    /// Notes that something that took `ticks` was left out.
    pub fn skipped(&mut self, ticks: i64) {
        if let Some(trace) = &mut self.trace {
            trace.truncated |= ticks > 0;
        }
    }

    fn trace_has_room(&self) -> bool {
        self.trace.as_ref().is_some_and(|t| t.spans.len() + t.waits.len() < self.options.max_spans)
    }

    /// Records what an item did from `start` to `end`.
    pub fn record(
        &mut self,
        stmt: &Stmt,
        kind: SpanKind,
        place: &Place,
        item: i64,
        (start, end): (i64, i64),
    ) {
        if let Some(trace) = self.room_for(start, end) {
            let label = stmt.label.clone();
            trace.spans.push(span(place, item, kind, label, (start, end)));
        }
    }

    /// Counts what a warp that competes for dispatchers did or waited for, and records waits: under
    /// their own names, those in an `until` and at a barrier too.
    pub fn record_warp(&mut self, kind: SpanKind, place: &Place, item: i64, time: (i64, i64)) {
        self.warps.add(kind, time.1 - time.0);
        if matches!(kind, SpanKind::Access(_)) {
            return;
        }
        if let Some(trace) = self.room_for(time.0, time.1) {
            trace.waits.push(span(place, item, kind, kind.name().to_owned(), time));
        }
    }

    /// The trace, if something from `start` to `end` belongs there and there is room.
    fn room_for(&mut self, start: i64, end: i64) -> Option<&mut Trace> {
        let room = self.trace_has_room();
        let trace = self.trace.as_mut().filter(|_| start < end)?;
        trace.truncated |= !room;
        Some(trace).filter(|_| room)
    }
}

fn span(place: &Place, item: i64, kind: SpanKind, label: String, time: (i64, i64)) -> Span {
    Span {
        unit: place.unit,
        element: place.element,
        group: place.serial,
        item,
        kind,
        label,
        start: time.0,
        end: time.1,
    }
}
