//! Building a plan: classes of elements first, then one program over all configurations.

use super::classes::{Classifier, Layout, Stretches, few, runs, waves};
use super::frozen::frozen;
use super::program::{Amount, AmountId, Op, Plan, PlanError, Queue, Values};
use super::walk::{Numbered, Signature, Step, Walker};
use tickbound_expr::Expr;
use tickbound_model::kernel::{expressions, has_until};
use tickbound_model::{Bound, Problem, Profile, Space};

use crate::system::SystemParameter;

/// Most groups that differ, over all configurations.
const MAX_GROUPS: usize = 10_000;

pub(super) fn build(problem: &Problem, space: &Space) -> Result<Plan, PlanError> {
    refuse_uncovered(problem)?;
    let kernel = Numbered::new(problem, &problem.kernel);
    let differs = |e: &Expr| e.mentions(|s| problem.scope.is_item(s));
    let items_differ = kernel.expressions.iter().any(|(_, e)| differs(e));
    let mut classifier = Classifier::new(Walker { problem, kernel: &kernel }, items_differ);
    let cases = Cases::new(problem, space);
    let finish = Finish::new(problem, space)?;
    if !groups_differ(problem) {
        let layouts = space.bound.iter().map(|b| classifier.layout(b));
        let mut builder = Builder::new(problem, cases, layouts.collect::<Result<_, _>>()?);
        builder.launch();
        let waves = builder.uniform("waves", None, |b| Some(waves(problem, b)));
        builder.groups(&kernel, waves);
        builder.finish(&finish);
        return Ok(builder.done());
    }
    let (of_groups, layouts, order) = apart(&cases, &mut classifier)?;
    let mut builder = Builder::new(problem, of_groups, layouts);
    let once = builder.constant("groups", 1);
    builder.groups(&kernel, once);
    let groups = builder.done();
    // Before and after the groups there is one element that runs one program.
    let alone = Layout { threads: vec![vec![(Signature::new(), 1)]] };
    let mut builder = Builder::new(problem, cases, vec![alone; space.bound.len()]);
    builder.launch();
    builder.finish(&finish);
    let queue = Queue { units: problem.platform.units(), groups, order };
    Ok(Plan { queue: Some(Box::new(queue)), ..builder.done() })
}

fn refuse_uncovered(problem: &Problem) -> Result<(), PlanError> {
    if problem.has_open_schedule() {
        return Err(PlanError::OpenSchedule);
    }
    if problem.profile == Profile::Resources {
        return Err(PlanError::Resources);
    }
    Ok(())
}

/// True if the kernel mentions `gid` or `group`, which `published-2023` does not vary.
fn groups_differ(problem: &Problem) -> bool {
    let (group, mut found) = (problem.first_item_slot() + 1, false);
    expressions(&problem.kernel, &mut |_, e| found |= e.mentions(|slot| slot >= group));
    found && problem.profile != Profile::Published2023
}

/// What a plan is made over: the configurations of the space, or groups of theirs.
struct Cases<'a> {
    parameters: Vec<SystemParameter>,
    configurations: Vec<Vec<u32>>,
    bounds: Vec<&'a Bound>,
}

impl<'a> Cases<'a> {
    fn new(problem: &Problem, space: &'a Space) -> Cases<'a> {
        let (parameters, configurations) = frozen(problem, space);
        Cases { parameters, configurations, bounds: space.bound.iter().collect() }
    }
}

/// The groups that differ as cases, the layout of each, and their order by configuration.
fn apart<'a>(
    all: &Cases<'a>,
    classifier: &mut Classifier<'_>,
) -> Result<(Cases<'a>, Vec<Layout>, Vec<Stretches>), PlanError> {
    let (mut configurations, mut bounds) = (Vec::new(), Vec::new());
    let (mut layouts, mut order, mut most) = (Vec::new(), Vec::new(), 0);
    for (chosen, bound) in all.configurations.iter().zip(&all.bounds) {
        let (own, mut stretches) = classifier.groups(bound)?;
        stretches.iter_mut().for_each(|(layout, _)| *layout += layouts.len());
        few("groups that differ, over all configurations", layouts.len() + own.len(), MAX_GROUPS)?;
        most = most.max(own.len());
        for (number, layout) in (0..).zip(own) {
            configurations.push([chosen.as_slice(), &[number]].concat());
            bounds.push(*bound);
            layouts.push(layout);
        }
        order.push(stretches);
    }
    let mut parameters = all.parameters.clone();
    parameters.push(SystemParameter { name: "group".into(), values: (0..).take(most).collect() });
    Ok((Cases { parameters, configurations, bounds }, layouts, order))
}

/// The program `finish`, and its ticks in each configuration.
struct Finish {
    program: Numbered,
    signatures: Vec<Signature>,
}

impl Finish {
    fn new(problem: &Problem, space: &Space) -> Result<Finish, PlanError> {
        let program = Numbered::new(problem, &problem.finish);
        let walker = Walker { problem, kernel: &program };
        let one = |b: &Bound| walker.signature(std::slice::from_ref(&b.env));
        let signatures = space.bound.iter().map(one).collect::<Result<_, _>>()?;
        Ok(Finish { program, signatures })
    }
}

struct Builder<'a> {
    problem: &'a Problem,
    bounds: Vec<&'a Bound>,
    layouts: Vec<Layout>,
    plan: Plan,
}

impl<'a> Builder<'a> {
    fn new(problem: &'a Problem, cases: Cases<'a>, layouts: Vec<Layout>) -> Self {
        let Cases { parameters, configurations, bounds } = cases;
        let threads = layouts.iter().map(|l| l.threads.len()).max().unwrap_or(1);
        let most = layouts.iter().flat_map(|l| &l.threads).map(Vec::len).max().unwrap_or(1);
        let items = if problem.profile == Profile::OpenCl { most } else { 1 };
        let plan = Plan {
            parameters,
            configurations,
            threads,
            items,
            item_counts: layouts.iter().flat_map(|l| item_counts(l, threads)).collect(),
            uses_marks: has_until(&problem.kernel) || has_until(&problem.finish),
            code: Vec::new(),
            amounts: Vec::new(),
            queue: None,
        };
        Builder { problem, bounds, layouts, plan }
    }

    /// What comes before the groups.
    fn launch(&mut self) {
        if self.problem.profile == Profile::OpenCl {
            let amount = self.constant("kernel_launch", self.problem.platform.kernel_launch());
            self.plan.code.push(Op::Work { amount, times: None });
        }
    }

    /// Groups, `count` of them in sequence.
    fn groups(&mut self, kernel: &Numbered, count: AmountId) {
        let problem = self.problem;
        let mut body;
        match problem.profile {
            Profile::OpenCl => {
                let start = self.constant("group_start", problem.platform.group_start());
                let times = self.times();
                body = vec![
                    Op::Work { amount: start, times: None },
                    Op::Barrier { price: 0, solo: false },
                ];
                body.extend(self.mark());
                body.extend(self.kernel(kernel, 0, times));
            }
            Profile::Published2023 => {
                let count = self.uniform("runs", None, |b| Some(runs(problem, b)));
                let mut run: Vec<Op> = self.mark().into_iter().collect();
                run.extend(self.kernel(kernel, 0, None));
                body = vec![Op::Repeat { count, body: run }];
            }
            // Refused before.
            Profile::Resources => body = Vec::new(),
            Profile::Published2021 => {
                let most = self.layouts.iter().map(|l| l.threads[0].len()).max().unwrap_or(0);
                body = Vec::new();
                for round in 0..most {
                    let count = self.per_thread(&format!("rounds[{round}]"), |l, t| {
                        l.threads[t].get(round).map_or(0, |(_, count)| *count)
                    });
                    let mut run: Vec<Op> = self.mark().into_iter().collect();
                    run.extend(self.kernel(kernel, round, None));
                    body.push(Op::Repeat { count, body: run });
                }
            }
        }
        body.push(Op::Barrier { price: 0, solo: true });
        self.plan.code.push(Op::Repeat { count, body });
    }

    fn done(mut self) -> Plan {
        if self.plan.threads == 1 && self.plan.items == 1 {
            let code = std::mem::take(&mut self.plan.code);
            self.plan.code = self.without_barriers(code);
        }
        self.plan
    }

    fn mark(&self) -> Option<Op> {
        has_until(&self.problem.kernel).then_some(Op::Mark)
    }

    /// How many equal items each item of the plan represents, where that is ever more than one.
    fn times(&mut self) -> Option<AmountId> {
        let more = |l: &Layout| l.threads.iter().flatten().any(|(_, times)| *times != 1);
        if !self.layouts.iter().any(more) {
            return None;
        }
        Some(self.per_item("items_alike", |batch| Some(batch.1), 0))
    }

    fn kernel(&mut self, kernel: &Numbered, round: usize, times: Option<AmountId>) -> Vec<Op> {
        let amounts: Vec<AmountId> = kernel
            .expressions
            .iter()
            .enumerate()
            .map(|(n, (at, expr))| {
                let name = if round == 0 { at.clone() } else { format!("{at}[{round}]") };
                if expr.mentions(|s| self.problem.scope.is_item(s)) {
                    self.per_item(&name, |(signature, _)| signature[n], round)
                } else {
                    self.shared(&name, expr, n)
                }
            })
            .collect();
        let context = Context { problem: self.problem, kernel, amounts: &amounts, times };
        context.ops(&kernel.steps)
    }

    /// What comes after the groups.
    fn finish(&mut self, finish: &Finish) {
        let Finish { program, signatures } = finish;
        if program.steps.is_empty() {
            return;
        }
        let amounts: Vec<AmountId> = program
            .expressions
            .iter()
            .enumerate()
            .map(|(n, (at, expr))| {
                let values = signatures.iter().map(|s| s[n]).collect();
                // Item names are 0 here, so only an expression without them may stay symbolic.
                let plain = !expr.mentions(|s| self.problem.scope.is_item(s));
                self.push(at, plain.then(|| expr.clone()), Values::Uniform(values))
            })
            .collect();
        let context =
            Context { problem: self.problem, kernel: program, amounts: &amounts, times: None };
        let mut ops = vec![Op::Mark];
        ops.extend(context.ops(&program.steps));
        if self.plan.threads > 1 {
            let first = self.per_thread("is_element_0", |_, t| i64::from(t == 0));
            ops = vec![Op::If { condition: first, then: ops, otherwise: Vec::new() }];
        }
        self.plan.code.extend(ops);
    }

    /// A single thread with a single item waits for nothing.
    fn without_barriers(&mut self, code: Vec<Op>) -> Vec<Op> {
        let mut out = Vec::new();
        for op in code {
            match op {
                Op::Barrier { price: 0, .. } => {}
                Op::Barrier { price, .. } => {
                    let amount = self.constant("barrier", price);
                    out.push(Op::Work { amount, times: None });
                }
                Op::Repeat { count, body } => {
                    out.push(Op::Repeat { count, body: self.without_barriers(body) });
                }
                Op::If { condition, then, otherwise } => out.push(Op::If {
                    condition,
                    then: self.without_barriers(then),
                    otherwise: self.without_barriers(otherwise),
                }),
                other => out.push(other),
            }
        }
        out
    }

    fn push(&mut self, name: &str, expr: Option<Expr>, values: Values) -> AmountId {
        self.plan.amounts.push(Amount { name: name.to_owned(), expr, values });
        AmountId(self.plan.amounts.len() - 1)
    }

    fn constant(&mut self, name: &str, value: i64) -> AmountId {
        self.uniform(name, Some(Expr::Int(value)), |_| Some(value))
    }

    fn uniform(
        &mut self,
        name: &str,
        expr: Option<Expr>,
        value: impl Fn(&Bound) -> Option<i64>,
    ) -> AmountId {
        let values = self.bounds.iter().map(|b| value(b)).collect();
        self.push(name, expr, Values::Uniform(values))
    }

    /// An expression that is the same for all items: its value where any item reaches it.
    fn shared(&mut self, name: &str, expr: &Expr, n: usize) -> AmountId {
        let reached = |l: &Layout| l.threads.iter().flatten().find_map(|(s, _)| s[n]);
        let values = self.layouts.iter().map(reached).collect();
        self.push(name, Some(expr.clone()), Values::Uniform(values))
    }

    fn per_thread(&mut self, name: &str, value: impl Fn(&Layout, usize) -> i64) -> AmountId {
        self.spread(name, |layout, t, _| Some(value(layout, t)))
    }

    /// A value of each item; under `published-2021` that of the given round.
    fn per_item(
        &mut self,
        name: &str,
        value: impl Fn(&(Signature, i64)) -> Option<i64>,
        round: usize,
    ) -> AmountId {
        let by_round = self.problem.profile == Profile::Published2021;
        self.spread(name, |layout, t, item| {
            layout.threads[t].get(if by_round { round } else { item }).and_then(&value)
        })
    }

    fn spread(
        &mut self,
        name: &str,
        value: impl Fn(&Layout, usize, usize) -> Option<i64>,
    ) -> AmountId {
        let (threads, items) = (self.plan.threads, self.plan.items);
        let mut values = Vec::with_capacity(self.layouts.len() * threads * items);
        for layout in &self.layouts {
            for t in 0..threads {
                let t = if t < layout.threads.len() { t } else { 0 };
                values.extend((0..items).map(|item| value(layout, t, item)));
            }
        }
        let values =
            if threads * items == 1 { Values::Uniform(values) } else { Values::PerItem(values) };
        self.push(name, None, values)
    }
}

/// How many items each thread runs; threads that a configuration lacks are copies of thread 0.
fn item_counts(layout: &Layout, threads: usize) -> impl Iterator<Item = i64> + '_ {
    (0..threads).map(|t| layout.threads.get(t).unwrap_or(&layout.threads[0]).len() as i64)
}

/// Turning numbered steps into operations.
struct Context<'a> {
    problem: &'a Problem,
    kernel: &'a Numbered,
    amounts: &'a [AmountId],
    times: Option<AmountId>,
}

impl Context<'_> {
    fn ops(&self, steps: &[Step]) -> Vec<Op> {
        steps.iter().flat_map(|s| self.op(s)).collect()
    }

    fn op(&self, step: &Step) -> Vec<Op> {
        match step {
            Step::Work { number, .. } => {
                vec![Op::Work { amount: self.amounts[*number], times: self.times }]
            }
            Step::Until { number } => vec![Op::Until(self.amounts[*number])],
            Step::Mark => {
                if has_until(&self.problem.kernel) || has_until(&self.problem.finish) {
                    vec![Op::Mark]
                } else {
                    Vec::new()
                }
            }
            Step::Barrier => {
                let priced = self.problem.profile == Profile::OpenCl;
                let price = if priced { self.problem.platform.barrier() } else { 0 };
                vec![Op::Barrier { price, solo: false }]
            }
            Step::Repeat { number, body, .. } => {
                vec![Op::Repeat { count: self.amounts[*number], body: self.ops(body) }]
            }
            Step::If { number, other, then, otherwise, .. } => {
                let (then, otherwise) = (self.ops(then), self.ops(otherwise));
                let differs =
                    self.kernel.expressions[*number].1.mentions(|s| self.problem.scope.is_item(s));
                if self.problem.profile == Profile::Published2021 && differs {
                    // A warp runs each side that one of its items takes.
                    let one = |n: usize, side| Op::If {
                        condition: self.amounts[n],
                        then: side,
                        otherwise: Vec::new(),
                    };
                    vec![one(*number, then), one(*other, otherwise)]
                } else {
                    vec![Op::If { condition: self.amounts[*number], then, otherwise }]
                }
            }
        }
    }
}
