//! What one unit of a platform's number is worth.
//!
//! A price is one tick less, a number of units, lanes or bytes in a clock one more. What the
//! device's structure hangs on (widths of warps and lines, banks), sizes of memory, of which one
//! byte is nothing, and the clock, whose length is the tick, are not asked about.

use tickbound_expr::Expr;
use tickbound_model::kernel::{expressions, has_barrier};
use tickbound_model::source::{ArgumentKind, Define};
use tickbound_model::{
    AccessKind, KernelSource, Launch, Platform, Problem, Profile, Program, Resources, StmtKind,
};
use tickbound_solver::SolveError;

use super::search::{Changed, WhyObserver, WhyRequest, refused};
use tickbound_report::answer::why::{Finding, Number, Why};

/// Prices and waits: better if less.
const LESS: [&str; 23] = [
    "global_access",
    "local_access",
    "constant_access",
    "compute_op",
    "atomic_access",
    "local_atomic_access",
    "shared_atomic_access",
    "shared_local_atomic_access",
    "barrier",
    "group_start",
    "kernel_launch",
    "global_issue",
    "global_latency",
    "read_only_percent",
    "l1_latency",
    "local_latency",
    "l2_latency",
    "l3_latency",
    "dram_latency",
    "barrier_latency",
    "shared_atomic_clocks",
    "group_picoseconds",
    "launch_nanoseconds",
];

/// Numbers of things that work at once, and rates: better if more.
const MORE: [&str; 23] = [
    "devices",
    "units_per_device",
    "elements_per_unit",
    "max_group_size",
    "dispatchers",
    "resident_groups",
    "memory_slots",
    "schedulers",
    "issue_rate",
    "real_lanes",
    "integer_lanes",
    "convert_lanes",
    "special_lanes",
    "tensor_lanes",
    "load_store_lanes",
    "local_bytes_per_clock",
    "l1_bytes_per_clock",
    "l1_lines_per_clock",
    "l2_bytes_per_clock",
    "dram_megabytes_per_second",
    "groups_per_unit",
    "barriers_per_unit",
    "warps_per_unit",
];

/// The numbers that are asked about, nothing found yet: those that the problem uses and that can be
/// better.
pub(super) fn asked(problem: &Problem) -> Vec<Number> {
    let better = |(name, from): (&'static str, i64)| {
        let by = if LESS.contains(&name) { -1 } else { i64::from(MORE.contains(&name)) };
        let to = from.checked_add(by).filter(|to| *to >= 0 && *to != from)?;
        let found = Finding::default();
        is_used(problem, name).then(|| Number { name: name.to_owned(), from, to, found })
    };
    problem.platform.numbers().filter_map(better).collect()
}

/// Searches with each number one unit better, and notes in `why` what is found.
pub(super) fn change(
    asked: &WhyRequest<'_>,
    observer: &WhyObserver<'_>,
    why: &mut Why,
) -> Result<(), SolveError> {
    let (mut places, mut all) = (Vec::new(), Vec::new());
    for (place, number) in why.platform.iter_mut().enumerate() {
        if asked.searches.is_over() {
            return Ok(());
        }
        match (asked.again)(&number.name, number.to) {
            Ok(problem) => {
                all.push(Changed { problem, how: format!("with {} {}", number.name, number.to) });
                places.push(place);
            }
            // What ends the reading may be the end of the time.
            Err(_) if asked.searches.is_over() => return Ok(()),
            Err(reason) => number.found = refused(&reason),
        }
    }
    asked.searches.all_changed(&all, why.time, observer.search, |one, found| {
        why.platform[places[one]].found = found;
        (observer.why)(why);
    })
}

/// False if no time and no condition of the problem can depend on the number.
fn is_used(problem: &Problem, name: &str) -> bool {
    is_named(problem, name)
        || problem.platform.followers(name).any(|other| is_used(problem, other))
        || match problem.profile {
            Profile::Resources => of_resources(problem, name),
            _ => of_statements(problem, name),
        }
}

/// Some expression of the problem names it.
fn is_named(problem: &Problem, name: &str) -> bool {
    let Some(place) = problem.platform.numbers().position(|(n, _)| n == name) else { return false };
    let slot = problem.inputs.len() + place;
    let mut named = false;
    let mut look = |e: &Expr| named |= e.mentions(|s| s == slot);
    problem.parameters.iter().flat_map(|p| p.domain.expressions()).for_each(&mut look);
    problem.definitions.iter().for_each(|(_, e)| look(e));
    problem.constraints.iter().for_each(|c| look(&c.expr));
    match &problem.launch {
        Launch::Range { global_size: a, local_size: b }
        | Launch::Activations { activations: a, local_size: b } => {
            look(a);
            look(b);
        }
    }
    problem.grid.iter().for_each(|d| {
        look(&d.global);
        look(&d.local);
    });
    problem.usage().entries().for_each(|(_, e)| look(e));
    expressions(&problem.kernel, &mut |_, e| look(e));
    expressions(&problem.finish, &mut |_, e| look(e));
    named || problem.source.as_ref().is_some_and(|source| of_source(source, slot))
}

/// What is put into a source's text, or passed to it, names it.
fn of_source(source: &KernelSource, slot: usize) -> bool {
    let defines = source.defines.iter().filter_map(|(_, define)| match define {
        Define::Number(e) => Some(e),
        Define::Text(_) => None,
    });
    let arguments = source.arguments.iter().filter_map(|argument| match &argument.kind {
        ArgumentKind::Buffer { length: e, .. }
        | ArgumentKind::Whole { length: e, .. }
        | ArgumentKind::Local { length: e } => Some(e),
        ArgumentKind::Scalar(e) => Some(e),
        ArgumentKind::Real(_) => None,
    });
    let bounds = source.bounds.iter().map(|(_, e)| e);
    defines.chain(arguments).chain(bounds).any(|e| e.mentions(|s| s == slot))
}

/// It prices a statement, or states how much runs at once.
fn of_statements(problem: &Problem, name: &str) -> bool {
    let priced = |access: AccessKind| {
        is_price(&problem.kernel, access, name) || is_price(&problem.finish, access, name)
    };
    match name {
        "devices" | "units_per_device" | "elements_per_unit" | "max_group_size" | "group_start"
        | "kernel_launch" => true,
        "barrier" => has_barrier(&problem.kernel),
        "dispatchers" | "resident_groups" | "memory_slots" => problem.platform.warps().is_some(),
        "global_issue" | "global_latency" => {
            problem.platform.warps().is_some() && accesses(&problem.kernel, AccessKind::Global)
        }
        _ => AccessKind::PRICED.into_iter().any(priced),
    }
}

/// It is the price of such an access, and the program has one.
fn is_price(program: &Program, access: AccessKind, name: &str) -> bool {
    Platform::price_name(access) == Some(name) && accesses(program, access)
}

fn accesses(program: &Program, which: AccessKind) -> bool {
    program.iter().any(|stmt| match &stmt.kind {
        StmtKind::Access { access, .. } => *access == which,
        StmtKind::Repeat { body, .. } => accesses(body, which),
        StmtKind::If { then, otherwise, .. } => accesses(then, which) || accesses(otherwise, which),
        StmtKind::Mark | StmtKind::Until(_) | StmtKind::Barrier => false,
    })
}

/// It is about something that the kernel uses. What a source uses may change with the number.
fn of_resources(problem: &Problem, name: &str) -> bool {
    let read = problem.source.is_some();
    let counted = |names: &[&str]| {
        read || problem.usage().entries().any(|(n, e)| names.contains(&n) && *e != Expr::Int(0))
    };
    match name {
        "convert_lanes" => counted(&["convert"]),
        "special_lanes" => counted(&["special"]),
        "tensor_lanes" => counted(&["tensor"]),
        "read_only_percent" => counted(&["read_only_requests"]),
        "barrier_latency" => counted(&["barriers"]),
        "shared_atomic_clocks" => counted(&["shared_atomics"]),
        "local_latency" => counted(&["local_steps"]),
        "l1_latency" => counted(&["near_steps"]),
        "l2_latency" | "l3_latency" | "dram_latency" => counted(&["far_steps"]),
        "local_bytes_per_clock" => counted(&["local_wavefronts", "local_requests"]),
        "l1_lines_per_clock" => counted(&["global_lines"]),
        "devices" | "units_per_device" | "max_group_size" => true,
        // The others price statements, of which the profile runs those of `finish`.
        _ => {
            let mut priced = AccessKind::PRICED.into_iter();
            priced.any(|access| is_price(&problem.finish, access, name))
                || Resources::FIELDS.iter().any(|(field, ..)| *field == name)
        }
    }
}
