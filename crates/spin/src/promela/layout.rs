//! How a launch is laid out over units and elements, for every configuration.

use super::error::PromelaError;
use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::kernel::{expressions, has_barrier};
use tickbound_model::{Bound, Launch, LaunchSize, ModelError, Problem, Profile, Space};

/// How the workers of a unit - processing elements or dispatchers - share a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// The element runs the program `runs` times as the item of its own number (`published-2023`,
    /// and `opencl` where no group has more items than a unit has elements).
    Runs,
    /// The element runs items `me`, `me + elements`, ... of a program without barriers in turn.
    Strided,
    /// Every item is a process or its own row; an element runs one of its items at a time and
    /// turns to the next where a phase ends.
    Items,
    /// The dispatcher runs warps `me`, `me + dispatchers`, ... in turn (`published-2021`).
    Warps,
}

/// The layout of every configuration; vectors have one entry for each.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub sharing: Sharing,
    /// All groups take the same time, so that one unit represents all (seed 000, Section 5).
    pub groups_alike: bool,
    /// Units that the text has.
    pub units: i64,
    /// Items of a group that occur as `lid`.
    pub items: Vec<i64>,
    /// Groups that occur as `group`.
    pub groups: Vec<i64>,
    /// Workers of a unit: processing elements or dispatchers.
    pub workers: Vec<i64>,
    /// Workers as an expression of the problem (NWE, seed 000, Listing 3, line 20).
    pub workers_expr: Expr,
    /// How many groups (or activations) the text's units run together.
    pub rounds_expr: Expr,
    /// How many items, runs or warps a worker has in a group, rounded up.
    pub runs_expr: Expr,
    /// What expressions see as `gid`, and as `group`.
    pub gid: String,
    pub group: String,
    local: Vec<i64>,
    in_range: bool,
}

impl Layout {
    pub fn new(problem: &Problem, space: &Space) -> Result<Layout, PromelaError> {
        if problem.profile == Profile::Resources {
            let what = "resources runs no items, so there are no processes";
            return Err(ModelError::new("profile", what, "use `tickbound tune`").into());
        }
        let local: Vec<i64> = space.bound.iter().map(|b| b.launch.local()).collect();
        let elements = problem.platform.elements_per_unit();
        let sharing = sharing(problem, &local, elements);
        let groups_alike = problem.profile == Profile::Published2023 || groups_alike(problem);
        let groups: Vec<i64> = space.bound.iter().map(groups).collect();
        let units = if groups_alike {
            1
        } else {
            problem.platform.units().min(groups.iter().copied().max().unwrap_or(1))
        };
        let dispatchers = problem.platform.warps().map_or(1, |w| w.dispatchers);
        let workers =
            |l: &i64| if sharing == Sharing::Warps { dispatchers } else { elements.min(*l) };
        let in_range = problem.profile != Profile::Published2023;
        Ok(Layout {
            sharing,
            groups_alike,
            units,
            workers: local.iter().map(workers).collect(),
            items: match sharing {
                Sharing::Runs => local.iter().map(workers).collect(),
                _ => local.clone(),
            },
            groups: if in_range { groups } else { vec![1; local.len()] },
            workers_expr: workers_expr(problem, sharing),
            rounds_expr: rounds_expr(problem, groups_alike),
            runs_expr: runs_expr(problem, sharing),
            gid: "lid".into(),
            group: if in_range { "group".into() } else { "0".into() },
            local,
            in_range,
        })
    }

    /// `gid` of the first item of group 1 in configuration `c`.
    pub fn group_stride(&self, c: usize) -> i64 {
        if self.in_range { self.local[c] } else { 0 }
    }

    /// Most items, or workers where items are not distinguished, that one unit holds at once.
    pub fn slots(&self) -> i64 {
        let each = if self.sharing == Sharing::Items { &self.local } else { &self.workers };
        each.iter().copied().max().unwrap_or(1)
    }
}

/// The environment of a work item with these `lid`, `gid` and `group`.
pub(crate) fn lane(problem: &Problem, bound: &Bound, item: [i64; 3]) -> Vec<i64> {
    let first = problem.first_item_slot();
    let mut env = bound.env.clone();
    env[first..first + 3].copy_from_slice(&item);
    env
}

/// True if no expression of the kernel mentions `gid` or `group`.
pub(crate) fn groups_alike(problem: &Problem) -> bool {
    let first = problem.first_item_slot();
    let mut alike = true;
    expressions(&problem.kernel, &mut |_, e| alike &= !e.mentions(|s| s > first));
    alike
}

fn sharing(problem: &Problem, local: &[i64], elements: i64) -> Sharing {
    let more = local.iter().any(|l| *l > elements);
    match problem.profile {
        Profile::Published2023 => Sharing::Runs,
        Profile::Published2021 => Sharing::Warps,
        Profile::OpenCl if !more => Sharing::Runs,
        Profile::OpenCl if has_barrier(&problem.kernel) => Sharing::Items,
        Profile::OpenCl | Profile::Resources => Sharing::Strided,
    }
}

fn groups(bound: &Bound) -> i64 {
    match bound.launch {
        LaunchSize::Range { global, local } => global / local,
        LaunchSize::Activations { activations, .. } => activations,
    }
}

/// A number of the platform under its name; 1 if it has none.
pub(crate) fn platform(problem: &Problem, name: &str) -> Expr {
    problem.scope.slot(name).map_or(Expr::Int(1), Expr::Name)
}

pub(crate) fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// Seed 000, Listing 3, line 20; seed 001: the dispatchers.
fn workers_expr(problem: &Problem, sharing: Sharing) -> Expr {
    if sharing == Sharing::Warps {
        return platform(problem, "dispatchers");
    }
    let elements = platform(problem, "elements_per_unit");
    Expr::Call(Function::Min, vec![problem.launch.local_size().clone(), elements])
}

fn rounds_expr(problem: &Problem, groups_alike: bool) -> Expr {
    match &problem.launch {
        Launch::Activations { activations, .. } => activations.clone(),
        Launch::Range { global_size, local_size } => {
            let groups = binary(BinaryOp::FloorDiv, global_size.clone(), local_size.clone());
            if !groups_alike || problem.platform.units() == 1 {
                return groups;
            }
            // Equal groups fill the units again and again.
            let devices = platform(problem, "devices");
            let per_device = platform(problem, "units_per_device");
            let units = binary(BinaryOp::Mul, devices, per_device);
            Expr::Call(Function::CeilDiv, vec![groups, units])
        }
    }
}

fn runs_expr(problem: &Problem, sharing: Sharing) -> Expr {
    let local = problem.launch.local_size().clone();
    let elements = platform(problem, "elements_per_unit");
    match (sharing, problem.profile) {
        // Seed 000, Listing 6, lines 12 to 18.
        (Sharing::Runs, Profile::Published2023) => {
            let runs = binary(BinaryOp::FloorDiv, local, elements);
            Expr::Call(Function::Max, vec![Expr::Int(1), runs])
        }
        (Sharing::Runs, _) => Expr::Int(1),
        (Sharing::Strided | Sharing::Items, _) => {
            Expr::Call(Function::CeilDiv, vec![local, elements])
        }
        // Seed 001, Listing 5, line 6.
        (Sharing::Warps, _) => {
            let (width, dispatchers) =
                (platform(problem, "warp_width"), platform(problem, "dispatchers"));
            binary(BinaryOp::FloorDiv, local, binary(BinaryOp::Mul, width, dispatchers))
        }
    }
}
