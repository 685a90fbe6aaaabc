//! The program of a plan: its operations, and their amounts.

use std::convert::Infallible;

use thiserror::Error;
use tickbound_expr::Expr;
use tickbound_model::error::ModelError;

use crate::system;

/// Index of an [`Amount`] in [`Plan::amounts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AmountId(pub(crate) usize);

/// One operation of a plan's program. What only the programs of one encoding do is of type `X`; a
/// plan as it is made from a problem has none of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op<X = Infallible> {
    /// Takes `amount * times` ticks.
    Work {
        /// Ticks for one item.
        amount: AmountId,
        /// How many equal items of the element this represents; `None`: one.
        times: Option<AmountId>,
    },
    /// Waits until the time is greater than the mark plus this many ticks.
    Until(AmountId),
    /// Remembers the present time.
    Mark,
    /// An operation of one encoding: a [`Jump`](super::Jump) of [`crate::summary`], or what a warp
    /// does beside its own work in the oracle for open schedules.
    Own(X),
    /// Waits for all threads, then takes `price` ticks.
    Barrier {
        /// Ticks from the last arrival to the release.
        price: i64,
        /// What follows is done once by each element, not once for each of its items.
        solo: bool,
    },
    /// The body, `count` times; not at all for a count below 1.
    Repeat {
        /// How often.
        count: AmountId,
        /// What is repeated.
        body: Vec<Op<X>>,
    },
    /// One of two branches.
    If {
        /// Not zero: the first branch.
        condition: AmountId,
        /// Taken if the condition is not zero.
        then: Vec<Op<X>>,
        /// Taken otherwise.
        otherwise: Vec<Op<X>>,
    },
}

/// A number of the program, for every configuration, thread and item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    /// Where it comes from: the statement's path, or the launch.
    pub name: String,
    /// The expression, if it is the same for all work items.
    pub expr: Option<Expr>,
    pub(crate) values: Values,
}

/// Values of an amount; `None` where no item reaches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Values {
    /// One per configuration.
    Uniform(Vec<Option<i64>>),
    /// `[(configuration * threads + thread) * items + item]`.
    PerItem(Vec<Option<i64>>),
}

/// The plan of a problem over its whole space.
#[derive(Debug, Clone)]
pub struct Plan<X = Infallible> {
    /// The frozen symbols.
    pub parameters: Vec<system::SystemParameter>,
    /// The valid configurations, as in [`tickbound_model::Space::bound`].
    pub configurations: Vec<Vec<u32>>,
    /// Threads; a configuration with fewer has copies of thread 0, which change nothing.
    pub threads: usize,
    /// Most items that one thread runs in a phase.
    pub items: usize,
    /// How many items each thread runs in a phase: `[configuration * threads + thread]`.
    pub(crate) item_counts: Vec<i64>,
    /// True if some operation waits for a remembered time.
    pub uses_marks: bool,
    /// The program; every thread begins it at time 0, as one element (not yet an item).
    pub code: Vec<Op<X>>,
    /// All amounts.
    pub amounts: Vec<Amount>,
    /// The groups of the launch, where they differ; the program is then what surrounds them.
    pub queue: Option<Box<Queue>>,
}

/// Groups that differ, which units take one by one.
#[derive(Debug, Clone)]
pub struct Queue {
    /// How many units take groups; each is free when the group that it has taken ends.
    pub units: i64,
    /// The plan of one group. Its configurations are the groups that differ, of all configurations
    /// of the launch: one parameter more distinguishes them.
    pub groups: Plan,
    /// For each configuration of the launch its groups in their order: which of the configurations
    /// of `groups`, and how many like it follow each other.
    pub order: Vec<Vec<(usize, i64)>>,
}

/// Why a problem has no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The problem itself is at fault.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The schedule is open (warps under the `opencl` profile).
    #[error(
        "platform.warps: open schedules are explored, not encoded; leave --encoding and \
         --strategy out"
    )]
    OpenSchedule,
    /// The profile `resources` runs no items.
    #[error(
        "profile resources: its time is one expression, which the encodings have no steps for; \
         leave --encoding out, or use --strategy enumerate"
    )]
    Resources,
    /// Sorting work items into classes would take too long.
    #[error(
        "more than {0} work items to sort into classes; narrow the space or use --strategy \
         enumerate"
    )]
    TooManyItems(u64),
    /// Too many different elements, items, rounds or groups.
    #[error("{what}: {count} of them, the encodings hold {limit}; use --strategy enumerate")]
    TooManyClasses {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
}

impl PlanError {
    /// Why there is no plan, without what to do about it.
    pub fn reason(&self) -> String {
        let text = self.to_string();
        text.rsplit_once("; ").map_or(text.as_str(), |(what, _)| what).to_owned()
    }
}

impl Plan {
    /// The plan with the same program, for an encoding with its own operations.
    pub(crate) fn lifted<X>(self) -> Plan<X> {
        let code = lifted(&self.code);
        self.with(code)
    }
}

impl<X> Plan<X> {
    /// The same threads and amounts with another program.
    pub(crate) fn with<Y>(self, code: Vec<Op<Y>>) -> Plan<Y> {
        Plan {
            parameters: self.parameters,
            configurations: self.configurations,
            threads: self.threads,
            items: self.items,
            item_counts: self.item_counts,
            uses_marks: self.uses_marks,
            code,
            amounts: self.amounts,
            queue: self.queue,
        }
    }

    /// An amount.
    pub fn amount(&self, id: AmountId) -> &Amount {
        &self.amounts[id.0]
    }

    /// The value of an amount; `None` if it is not reached there.
    pub fn value(
        &self,
        id: AmountId,
        configuration: usize,
        thread: usize,
        item: usize,
    ) -> Option<i64> {
        match &self.amounts[id.0].values {
            Values::Uniform(v) => v[configuration],
            Values::PerItem(v) => v[(configuration * self.threads + thread) * self.items + item],
        }
    }

    /// Changes the amounts of this name in one configuration, for all threads and items; how many
    /// values that were. The plan is then wrong for its problem, to test checks.
    pub fn change(
        &mut self,
        name: &str,
        configuration: usize,
        change: impl Fn(i64) -> i64,
    ) -> usize {
        let (all, mut changed) = (self.configurations.len(), 0);
        for amount in self.amounts.iter_mut().filter(|a| a.name == name) {
            let (Values::Uniform(values) | Values::PerItem(values)) = &mut amount.values;
            let own = values.len() / all;
            for value in values[own * configuration..own * (configuration + 1)].iter_mut().flatten()
            {
                *value = change(*value);
                changed += 1;
            }
        }
        changed
    }

    /// How many items a thread runs in a phase.
    pub fn items_of(&self, configuration: usize, thread: usize) -> i64 {
        self.item_counts[configuration * self.threads + thread]
    }

    /// True if the amount is the same for all threads and items.
    pub fn is_uniform(&self, id: AmountId) -> bool {
        matches!(self.amounts[id.0].values, Values::Uniform(_))
    }
}

/// A plan's program among those with operations `X`.
pub(crate) fn lifted<X>(code: &[Op]) -> Vec<Op<X>> {
    let one = |op: &Op| match op {
        Op::Work { amount, times } => Op::Work { amount: *amount, times: *times },
        Op::Until(amount) => Op::Until(*amount),
        Op::Mark => Op::Mark,
        Op::Own(never) => match *never {},
        Op::Barrier { price, solo } => Op::Barrier { price: *price, solo: *solo },
        Op::Repeat { count, body } => Op::Repeat { count: *count, body: lifted(body) },
        Op::If { condition, then, otherwise } => {
            Op::If { condition: *condition, then: lifted(then), otherwise: lifted(otherwise) }
        }
    };
    code.iter().map(one).collect()
}

/// True if `code` contains a barrier at any depth.
pub fn has_barrier<X>(code: &[Op<X>]) -> bool {
    code.iter().any(|op| match op {
        Op::Barrier { .. } => true,
        Op::Repeat { body, .. } => has_barrier(body),
        Op::If { then, otherwise, .. } => has_barrier(then) || has_barrier(otherwise),
        Op::Work { .. } | Op::Until(_) | Op::Mark | Op::Own(_) => false,
    })
}
